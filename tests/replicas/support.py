"""What the replicas need: a model that thinks as long as it is told, a way to the database that can be cut, and a pack."""

import http.server
import json
import os
import sys
import threading
import time

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, "..", "serve"), os.path.join(HERE, "..", "conformance")]
import database  # noqa: E402,F401
from server import TOKEN, Server  # noqa: E402,F401
from way import Way  # noqa: E402,F401

MANIFEST = """name: desk
title: Repeats what is said
channels:
  webhook:
    unwrap: body
    input: {chatInput: body.text, userId: body.user, sessionId: body.conversation}
    required: [userId]
    message: chatInput
    id: body.id
    session: {tenant: userId, user: userId, conversation: sessionId}
  on_restart: finish
"""
FLOW = """name: desk
fields:
  first: {kind: value, writers: [thinker]}
  plan: {kind: value, writers: [thinker]}
steps:
  - {id: begin, when: "input.message.startsWith('slow')", agent: thinker, task: begin, instructions: Begin., writes: [first], contract: {type: object, required: [first], properties: {first: {type: string}}}}
  - {id: think, when: "input.message.startsWith('slow')", agent: thinker, task: think, instructions: Think slowly., writes: [plan], contract: {type: object, required: [plan], properties: {plan: {type: string}}}}
  - {id: which, when: "input.message == 'which'", ask: {from: "[{'id': 'colour', 'topic': 'colour', 'text': 'Which colour?', 'options': [{'value': 'red', 'label': 'Red'}, {'value': 'blue', 'label': 'Blue'}], 'schema': {'enum': ['red', 'blue']}}]"}}
  - {id: told, say: {text: "'You said: ' + input.message", data: "{'before': size(session.messages)}"}}
"""
AGENT = "---\nname: thinker\ndescription: Thinks.\nmodel: haiku\n---\nThink.\n"
POLICY = "roles: {thinker: [], program: []}\nrules: []\n"
FILES = {"pack.yaml": MANIFEST, "agents/flow.yaml": FLOW, "agents/thinker.md": AGENT, "agents/policy.yaml": POLICY}


class Mind(http.server.ThreadingHTTPServer):
    """A model on this machine. What it is asked to think slowly takes as long as `slow` says."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Thought)
        self.slow, self.asked, self.lock = 0.0, [], threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def count(self, word):
        with self.lock:
            return sum(1 for what in self.asked if word in what)


class Thought(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = json.dumps(request["messages"])
        slowly = "Think slowly." in text
        with self.server.lock:
            self.server.asked.append(("plan: " if slowly else "first: ") + text)
        if slowly:
            time.sleep(self.server.slow)
        answer = json.dumps({"plan": "p"} if slowly else {"first": "f"})
        head = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": request["model"]}
        events = [
            {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": answer}, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {**head, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        ]
        body = ("".join(f"data: {json.dumps(e)}\n\n" for e in events) + "data: [DONE]\n\n").encode()
        try:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # Who asked was killed.


class Told(http.server.ThreadingHTTPServer):
    """A receiver of push notifications on this machine: what came, in its order."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Taken)
        self.came = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}/{path}"

    def of(self, path):
        return [body for at, body in list(self.came) if at == f"/{path}"]


class Taken(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.came.append((self.path, body))
        self.send_response(204)
        self.end_headers()
