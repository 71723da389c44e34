"""A pack whose turn is made of every kind of step, and what lies outside of it: a model that counts what is asked of it, and a service
that is looked at and changed. What comes to it can be stopped at any call, before anything is done for it."""

import http.server
import json
import re
import threading

MANIFEST = """name: desk
title: Takes orders
channels:
  a2a: {}
  on_restart: finish
"""
FLOW = """name: desk
fields:
  first: {kind: value, writers: [thinker]}
  plan: {kind: value, writers: [thinker]}
  last: {kind: value, writers: [thinker]}
steps:
  - id: quick
    when: "input.message == 'quick'"
    say: {text: "'Quick.'"}
    end: true
  - {id: begin, agent: thinker, task: begin, instructions: Begin now., writes: [first], contract: {type: object, required: [first], properties: {first: {type: string}}}}
  - {id: look, tool: look, role: program, args: {what: state.first}}
  - {id: note, tool: note, role: program, on_failure: continue, args: {what: state.first}}
  - {id: think, agent: thinker, task: think, instructions: Plan now., reads: [first], writes: [plan], contract: {type: object, required: [plan], properties: {plan: {type: string}}}}
  - id: which
    when: "input.message.startsWith('ask')"
    ask:
      from: "[{'id': 'colour', 'topic': 'colour', 'text': 'Which colour?', 'options': [{'value': 'red', 'label': 'Red'}, {'value': 'blue', 'label': 'Blue'}], 'schema': {'enum': ['red', 'blue']}}]"
  - {id: end, agent: thinker, task: end, instructions: End now., reads: [plan], writes: [last], contract: {type: object, required: [last], properties: {last: {type: string}}}}
  - {id: told, say: {text: "'Done: ' + state.last + ', noted: ' + steps.note.status"}}
"""
AGENT = "---\nname: thinker\ndescription: Thinks.\nmodel: haiku\n---\nThink.\n"
POLICY = """roles: {thinker: [], program: [look, note]}
rules: []
"""
TOOL = """tool_id: %(name)s
name: %(name)s
description: %(what)s
category: domain-specific
parameters: {what: {type: string, required: true, description: What}}
kind: http
effect: %(effect)s
http: {method: POST, url: "${DESK_URL}/%(name)s", body: {what: "{what}"}}
limits: {timeout_s: 30, retries: 0}
"""
FILES = {
    "pack.yaml": MANIFEST,
    "agents/flow.yaml": FLOW,
    "agents/thinker.md": AGENT,
    "agents/policy.yaml": POLICY,
    "tools/look/tool.yaml": TOOL % {"name": "look", "what": "Looks at the orders", "effect": "reads"},
    "tools/note/tool.yaml": TOOL % {"name": "note", "what": "Notes an order", "effect": "changes"},
}
MODELS = """
[serve]
packs = ["desk"]
[serve.clients.load]
bearer_env = "OTHER_TOKEN"
per_minute = 1000000
may = ["turn", "read", "approve", "cancel", "admin"]
[models]
default = "mine::m"
[providers.mine]
kind = "openai"
base_url = "http://127.0.0.1:{port}/v1/"
api_key_env = "MINE_KEY"
[prices."mine::m"]
input = 0
output = 0
"""
USER = '[tools]\nallow_addresses = ["127.0.0.1"]\n'
# Calls of a turn, in order.
CALLS = ["first", "look", "note", "plan", "last"]


class Outside(http.server.ThreadingHTTPServer):
    """What was done for the desk, in order; `stop_at` is called with the call at hand before anything is done for it, and where it says
    so, nothing is, as if the call had never come."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Call)
        self.did, self.came, self.lock = [], [], threading.Lock()
        self.stop_at = lambda call: False
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def reset(self, stop_at=lambda call: False):
        with self.lock:
            self.did, self.came = [], []
        self.stop_at = stop_at

    def handle_error(self, *_):
        pass  # Who asked was killed.


class Call(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.startswith("/v1/"):
            text = json.dumps(request["messages"])
            call = next(name for name, said in (("first", "Begin now."), ("plan", "Plan now."), ("last", "End now.")) if said in text)
        else:
            call = self.path.strip("/")
        with self.server.lock:
            self.server.came.append(call)
        if self.server.stop_at(call):
            self.close_connection = True
            return
        with self.server.lock:
            self.server.did.append(call)
        if call in ("look", "note"):
            self.answer("application/json", json.dumps({"ok": True, "about": request["what"]}).encode())
            return
        head = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": request["model"]}
        events = [
            {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": json.dumps({call: call[0]})}, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {**head, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        ]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.answer("text/event-stream", body.encode())

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def lay(project, home, port):
    """The pack and its settings into a folder, and what the user allows into the user's own."""
    for path, text in FILES.items():
        file = project / "packs/desk" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(USER)
    return MODELS.format(port=port)


# What tells of an interruption, and of nothing that the run did.
TOLD_OF_IT = ("activation_started", "activation_ended")
RUN = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]+\b")
UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\b")


def did(journal):
    """What a run did, as its journal (bytes) says it, but for times and ids. Records of an interruption are left out: that it was gone on
    with, and a call that was begun, came to no result, and was made again."""
    events = [json.loads(line)["event"] for line in journal.splitlines()]
    kept = []
    for event in events:
        if event["type"] in TOLD_OF_IT:
            continue
        name = begun(event)
        if name:
            kept = [other for other in kept if begun(other) != name]
        kept.append(event)
    return [plain(event) for event in kept]


def begun(event):
    """A call's name, where the record says that it is begun."""
    if event["type"] == "model_asked":
        return ("model", event["step"], event["turn"])
    if event["type"] == "tool_intent":
        return ("tool", event["step"], event["call"]["id"])
    return None


def plain(event):
    text = json.dumps(event, sort_keys=True)
    for pattern, word in ((TIME, "TIME"), (UUID, "ID"), (RUN, "RUN")):
        text = pattern.sub(word, text)
    return re.sub(r'"(latency_ms|took_ms|duration_ms|ms)": \d+', r'"\1": 0', text)
