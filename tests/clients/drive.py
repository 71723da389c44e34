"""Drives real MCP clients against the built binary: each client, over stdio, over HTTP and at `/mcp` of `agentctl serve`, in a fresh project.

drive.py BINARY CACHE: BINARY is agentctl, CACHE the folder with the installed clients. Ends with a line that counts.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

BINARY, CACHE = (Path(arg).resolve() for arg in sys.argv[1:3])
HERE = Path(__file__).resolve().parent
PATIENCE = 120
DRAFT = "When a webhook receives an order over 100 EUR, post it to Slack #sales"
NODES = [
    {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "parameters": {}},
    *({"name": f"Step {n}", "type": "n8n-nodes-base.noOp", "parameters": {}} for n in range(1, 6)),
]


def agentctl(project, *args):
    command = [BINARY, "--project", project, "--output-format", "json", *args]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    return ran.returncode, json.loads(ran.stdout) if ran.stdout.strip() else None, ran.stderr


def run_client(command, **options):
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, **options)
    assert ran.returncode == 0, f"{command[:2]} ended with {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    return ran.stdout


def python(target, requests):
    return json.loads(run_client([CACHE / "venv/bin/python", HERE / "client.py", json.dumps(target), json.dumps(requests)]))


def typescript(target, requests):
    # Modules are looked for beside the script, so it is copied to where they are.
    script = CACHE / "client.mjs"
    script.write_text((HERE / "client.mjs").read_text())
    return json.loads(run_client(["node", script, json.dumps(target), json.dumps(requests)]))


def inspector(target, requests):
    """One process, and so one session, for each request."""
    results = []
    for request in requests:
        options = ["--cli"]
        if "command" in target:
            options += [str(word) for word in target["command"]]
        else:
            options += [target["url"], "--transport", "http", "--header", f"Authorization: Bearer {target['token']}"]
        if "list" in request:
            options += ["--method", "tools/list"]
        else:
            options += ["--method", "tools/call", "--tool-name", request["call"]]
            for key, value in request["args"].items():
                options += ["--tool-arg", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
        ran = subprocess.run([CACHE / "node_modules/.bin/mcp-inspector", *options], capture_output=True, text=True,
                             timeout=PATIENCE, stdin=subprocess.DEVNULL, cwd=CACHE)
        # A result with isError ends the inspector with an exit code of its own; what counts is the result.
        start = ran.stdout.find("{")
        if "tool_not_found" in ran.stderr:
            # It looks at the list first, and does not even ask for what is not in it.
            results.append({"isError": True, "content": [{"type": "text", "text": "refused by the client: validate"}]})
            continue
        assert start >= 0, f"the inspector said nothing: {ran.stdout}\n{ran.stderr}"
        results.append(json.loads(ran.stdout[start:]))
    return results


class Stdio:
    name = "stdio"

    def __init__(self, project, role):
        self.target = {"command": [str(BINARY), "--project", str(project), "mcp", "serve", "--role", role]}

    def __enter__(self):
        return self.target

    def __exit__(self, *_):
        pass


class Http:
    name = "http"

    def __init__(self, project, role):
        self.token = secrets.token_hex(32)
        self.server = subprocess.Popen(
            [BINARY, "--project", project, "mcp", "serve", "--role", role, "--http"],
            env={**os.environ, "AGENTCTL_MCP_TOKEN": self.token}, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        url = next(word for line in self.server.stderr for word in line.split() if word.startswith("http://"))
        return {"url": url, "token": self.token}

    def __exit__(self, *_):
        self.server.terminate()
        out, _ = self.server.communicate(timeout=PATIENCE)
        assert self.server.returncode == 143, f"the server ended with {self.server.returncode}"
        assert out == "", f"the server wrote to stdout: {out!r}"


class Served:
    """`/mcp` of `agentctl serve`."""

    name = "serve"

    def __init__(self, project, role):
        self.token = secrets.token_hex(32)
        (Path(project) / "agentctl.toml").write_text(f'[serve.mcp]\nrole = "{role}"\n')
        self.server = subprocess.Popen(
            [BINARY, "--project", project, "--trust-once", "serve", "--listen", "127.0.0.1:0", "--ready-json"],
            env={**os.environ, "AGENTCTL_SERVE_TOKEN": self.token}, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return {"url": json.loads(self.server.stdout.readline())["address"] + "/mcp", "token": self.token}

    def __exit__(self, *_):
        self.server.terminate()
        self.server.communicate(timeout=PATIENCE)
        assert self.server.returncode == 143, f"the server ended with {self.server.returncode}"


def said(result):
    return " ".join(part.get("text", "") for part in result["content"])


def check(client, transport, project):
    """What any client must see: its role's tools, its work done, what is refused, and all of it taken back."""
    with transport(project, "architect") as target:
        [listed] = client(target, [{"list": True}])
        tools = listed["tools"]
        names = [tool["name"] for tool in tools]
        assert names == sorted(names) and "load_skill" in names and "create_workflow" not in names, names
        assert all(tool["annotations"]["readOnlyHint"] for tool in tools), tools
        assert all(tool["inputSchema"]["type"] == "object" for tool in tools), tools

    with transport(project, "builder") as target:
        listed, drafted, checked, made, foreign = client(target, [
            {"list": True},
            {"call": "draft_workflow", "args": {"request": DRAFT}},
            {"call": "qa_workflows", "args": {}},
            {"call": "create_workflow", "args": {"name": "Orders", "nodes": NODES}},
            {"call": "validate_workflow", "args": {"workflow_id": "orders"}},
        ])
        names = [tool["name"] for tool in listed["tools"]]
        assert "create_workflow" in names and "validate_workflow" not in names, names
        # A client of the SDKs holds what comes against the promised schema by itself.
        promised = {tool["name"] for tool in listed["tools"] if tool.get("outputSchema")}
        assert promised == {"draft_workflow", "qa_workflows"}, promised
        assert drafted["structuredContent"]["complete"] and drafted["structuredContent"]["create"]["nodes"], drafted
        assert checked["structuredContent"]["passed"] and checked["structuredContent"]["total"] == 0, checked
        assert not made.get("isError"), made
        assert made["structuredContent"]["id"] == "orders" and made["structuredContent"]["node_count"] == 6, made
        assert json.loads(said(made)) == made["structuredContent"], made
        assert foreign["isError"] and "refused" in said(foreign) and "validate" in said(foreign), foreign

    file = project / "workflows/orders.json"
    before = file.read_bytes()
    with transport(project, "builder") as target:
        [read] = client(target, [{"call": "get_workflow", "args": {"workflow_id": "orders"}}])
        wipe = [{"op": "remove_node", "node": f"Step {n}"} for n in range(1, 6)]
        [wiped] = client(target, [{"call": "update_workflow", "args": {
            "workflow_id": "orders", "ops": wipe, "expect_hash": read["structuredContent"]["graph_hash"]}}])
        assert wiped["isError"] and wiped["structuredContent"]["rule"] == "guard.wipe", wiped
        assert "nobody can be asked" in said(wiped), wiped
    assert file.read_bytes() == before, "a refused wipe changed the workflow"

    code, listed, _ = agentctl(project, "runs", "list")
    runs = listed["runs"]
    assert code == 0 and all(run["session"]["client"] and run["outcome"] == "complete" for run in runs), runs
    [maker] = [run for run in runs if run["workflows"]]
    assert maker["session"]["role"] == "builder", maker
    code, undone, errors = agentctl(project, "undo", maker["run_id"])
    assert code == 0 and not file.exists(), (undone, errors)
    code, verified, errors = agentctl(project, "runs", "verify")
    assert code == 0, (verified, errors)


def main():
    passed, failed = 0, 0
    for client in (python, typescript, inspector):
        for transport in (Stdio, Http, Served):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(client, transport, Path(folder))
                    passed += 1
                    print(f"ok   {client.__name__} over {transport.name}", flush=True)
                except (AssertionError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
                    failed += 1
                    print(f"FAIL {client.__name__} over {transport.name}: {type(error).__name__}: {error}", flush=True)
    print(f"clients: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
