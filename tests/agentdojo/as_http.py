"""The same suites as tool files of kind http: one server for all of them, a project whose tools/ asks it, and a policy of deny rules.

A declared tool is granted by its name, and rules narrow it. So each tool that a pack's rules let pass is granted, and denied where none of
these rules holds; the conditions are the pack's own, word for word but for the tools' names.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import yaml

import suites

READS = re.compile(r"^(get|search|read|list|check)_")
TYPES = {"string", "integer", "number", "boolean", "object", "array"}


class Tools:
    """Answers calls of all workers; a run of a worker begins with a fresh environment."""

    def __init__(self):
        self.runs = {}
        tools = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                args = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
                _, worker, suite, name = self.path.split("/")
                data = json.dumps(tools.call(worker, suite, name, args), ensure_ascii=False).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def begin(self, worker, suite, user_task, injections, log):
        self.runs[str(worker)] = (suites.prepared(suite, user_task, injections), log)

    def call(self, worker, suite, name, args):
        env, log = self.runs[worker]
        result, error = suites.call(suite, env, name, args)
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps([name, args]) + "\n")
        return {"failed": True, "error": error} if error else {"result": result}


def name_of(suite, name):
    return f"{suite}_{name}"


def parameter(schema, defs, required):
    """A JSON Schema of pydantic's as a parameter of a tool file: without null, references and titles."""
    if "$ref" in schema:
        schema = defs[schema["$ref"].rsplit("/", 1)[1]]
    options = [s for s in schema.get("anyOf", []) if s.get("type") != "null"]
    # Of several types the widest, which is the one that holds a list.
    one = next((s for s in options if s.get("type") == "array"), options[0]) if options else schema
    kind = one.get("type", "string")
    assert kind in TYPES, schema
    out = {"type": kind, "required": required, "description": schema.get("description", "as the name says")}
    if kind == "array":
        inner = parameter(one.get("items", {"type": "string"}), defs, True)
        out["items"] = {"type": inner["type"]}
    return out


def example(of, tool):
    """An example of a rule, of this tool: what calls before it gave stands in `result`."""
    made = {k: v for k, v in of.items() if k != "does"} | {"tool": tool}
    if "calls" in made:
        made["calls"] = [c | ({"result": {"result": c["result"]}} if "result" in c else {}) for c in made["calls"]]
    return made


def made_up(function):
    """Arguments that nobody said."""
    values = {"integer": 977, "number": 977.5, "boolean": True, "object": {}, "array": ["nobody@example.org"]}
    schema = function.parameters.model_json_schema()
    kinds = {n: parameter(s, schema.get("$defs", {}), True)["type"] for n, s in schema.get("properties", {}).items()}
    return {n: values.get(kind, "nobody@example.org") for n, kind in kinds.items()}


def write(folder, suite, address, worker, control):
    """Makes a copy of a pack that asks its tools by MCP one that asks them by http."""
    for file in (folder / "agents").iterdir():
        file.write_text(file.read_text().replace(f"mcp__{suite}__", f"{suite}_"))
    policy = yaml.safe_load((folder / "agents/policy.yaml").read_text().replace("c.result", "c.result.result"))
    functions = {name_of(suite, f.name): f for f in suites.SUITES[suite].tools}
    whens, examples = {}, {}
    for rule in policy.get("rules", []):
        assert rule["effect"] == "allow", rule
        for tool in rule["tools"]:
            whens.setdefault(tool, []).append(rule["when"])
            named = lambda e: e.get("tool", rule["tools"][0]) == tool and e["role"] == "assistant"
            for key in ("match", "not_match"):
                of = [example(e, tool) for e in rule.get(key, []) if named(e)]
                examples.setdefault((tool, key), []).extend(of)
    granted = sorted(functions if control else whens)
    rules = []
    for tool in granted:
        if control or any(when.strip() == "true" for when in whens[tool]):
            continue
        rules.append({
            "id": f"{tool.replace('_', '-')}-unless", "effect": "deny", "roles": ["assistant"], "tools": [tool],
            "when": "!(" + " || ".join(f"({when.strip()})" for when in whens[tool]) + ")",
            "reason": "none of the pack's rules lets it pass",
            "match": examples[tool, "not_match"] or [{"role": "assistant", "tool": tool, "args": made_up(functions[tool])}],
            "not_match": examples[tool, "match"] or [{"role": "nobody", "tool": tool, "args": {}}],
        })
    made = {"roles": {"assistant": {"can": [], "tools": granted}}, "rules": rules} | {k: v for k, v in policy.items() if k not in ("roles", "rules")}
    made["limits"] = made.get("limits", {}) | {"max_offered_tools": 64}
    (folder / "agents/policy.yaml").write_text(yaml.safe_dump(made, sort_keys=False, allow_unicode=True, width=1000))
    for tool, function in functions.items():
        schema = function.parameters.model_json_schema()
        defs, needed = schema.get("$defs", {}), schema.get("required", [])
        parameters = {n: parameter(s, defs, n in needed) for n, s in schema.get("properties", {}).items()}
        file = {
            "tool_id": tool, "name": function.name, "description": function.description, "category": "domain-specific",
            "parameters": parameters, "kind": "http", "effect": "reads" if READS.match(function.name) else "changes",
            "http": {"method": "POST", "url": f"http://{address}/{worker}/{suite}/{function.name}", "body": {n: "{%s}" % n for n in parameters},
                     "answer": {"value": "result", "failed_when": {"failed": True}, "error": ["error"]}},
        }
        place = folder / "tools" / tool
        place.mkdir(parents=True)
        (place / "tool.yaml").write_text(yaml.safe_dump(file, sort_keys=False, allow_unicode=True, width=1000))
