"""A scripted model behind the OpenAI chat wire. It does what its script says, whatever it reads: what a model would do that
believes every injection. Each run has a model name of its own."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Scripts:
    """`scripts[name]` is called with the request and returns a list of (tool, arguments), or the final text."""

    def __init__(self):
        self.scripts, self.asked = {}, {}
        scripts = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self._send("application/json", json.dumps({"object": "list", "data": []}).encode())

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                answer = scripts.scripts[request["model"]](request)
                scripts.asked[request["model"]] = scripts.asked.get(request["model"], 0) + 1
                self._answer(request, answer)

            def _send(self, kind, data):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _answer(self, request, answer):
                message, reason = {"role": "assistant", "content": answer}, "stop"
                if not isinstance(answer, str):
                    turn = len(request["messages"])
                    calls = [{"id": f"call_{turn}_{i}", "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
                             for i, (n, a) in enumerate(answer)]
                    message, reason = {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                whole = {"id": "dojo", "created": 0, "model": request["model"], "usage": usage}
                if not request.get("stream"):
                    choice = {"index": 0, "message": message, "finish_reason": reason}
                    return self._send("application/json", json.dumps(whole | {"object": "chat.completion", "choices": [choice]}).encode())
                delta = dict(message)
                if "tool_calls" in delta:
                    delta["tool_calls"] = [{"index": i} | c for i, c in enumerate(delta["tool_calls"])]
                chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                          {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, {"choices": []}]
                lines = [json.dumps(whole | {"object": "chat.completion.chunk"} | c) for c in chunks] + ["[DONE]"]
                self._send("text/event-stream", "".join(f"data: {line}\n\n" for line in lines).encode())

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
