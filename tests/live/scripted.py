"""A model that plays the one agent of the pack by a script: it builds a workflow that it was given, says that all of the request is in it,
tries it with the case that it was given, and mends nothing. Speaks OpenAI's protocol on this machine."""

import http.server, json, threading


class Mind:
    def __init__(self):
        mind, self.script = self, None

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                delta = mind.says(body)
                finish = "tool_calls" if "tool_calls" in delta else "stop"
                chunk = lambda delta, finish: {"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
                usage = {"id": "c", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
                lines = [json.dumps(line) for line in (chunk(delta, None), chunk({}, finish), usage)] + ["[DONE]"]
                data = "".join(f"data: {line}\n\n" for line in lines).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def plays(self, request, document, case):
        """What the next build is to make of the request, and what it is tried with."""
        self.script, self.id = (request, document, case), None

    def says(self, asked):
        tools = {tool["function"]["name"] for tool in asked.get("tools", [])}
        last = asked["messages"][-1]
        answered = text(last["content"]) if last["role"] == "tool" else None
        if "create_workflow" in tools:
            return self.work(answered)
        if "rehearse_workflow" in tools:
            return self.test(answered)
        if "update_workflow" in tools:
            return said({"workflow": {"id": self.id, "todo": []}, "coverage": self.rows(), "fixes_tried": []})
        return said({"root_cause": {"summary": "the script mends nothing", "evidence": []}, "proposed_learnings": []})

    def work(self, answered):
        request, document, case = self.script
        if answered is None:
            nodes = [{key: value for key, value in node.items() if key not in ("id", "position")} for node in document["nodes"]]
            return called("create_workflow", {"name": document["name"], "nodes": nodes, "connections": document["connections"], "todo": []})
        self.id = first_object(answered)["id"]
        told = {"name": case["name"], "input": case["input"], "expect": case["expect"]}
        requirements = {"goal": request, "trigger": "a webhook", "steps": [request], "constraints": [], "questions": [], "cases": [told]}
        return said({"requirements": requirements, "workflow": {"id": self.id, "todo": []}, "coverage": self.rows()})

    def test(self, answered):
        if answered is None:
            return called("rehearse_workflow", {"workflow_id": self.id, "cases": [self.script[2]]})
        told = first_object(answered)
        keep = ("id", "code", "severity", "node", "message")
        findings = [{key: finding[key] for key in keep if key in finding} for finding in told.get("findings", [])]
        report = {"executed": True, "test_status": told["test_status"], "execution": told.get("execution")}
        scope = sorted({finding["node"] for finding in findings if finding.get("node")})
        return said({"qa_report": report, "findings": findings, "edit_scope": scope})

    def rows(self):
        trigger, *rest = [node["name"] for node in self.script[1]["nodes"]]
        return [{"requirement": 1, "nodes": [trigger]}, {"requirement": 2, "nodes": rest}]


def text(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def said(answer):
    return {"role": "assistant", "content": json.dumps(answer)}


def called(tool, arguments):
    return {"role": "assistant", "tool_calls": [{"index": 0, "id": "call", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}]}


def first_object(answer):
    """The JSON object in a tool's answer, whatever stands around it."""
    return json.JSONDecoder().raw_decode(answer[answer.index("{"):])[0]
