"""The pack of agents, exported to n8n and run there: a scripted model behind its chat-model nodes, a small platform with users and their
tools, and the three conversations that such a system has to hold, by webhook."""

import base64, http.server, json, os, re, threading, unittest, urllib.error, urllib.parse, urllib.request
from support import Project, api, environment, workflows

TENANT, USER, OTHER = "t-harbour", "u-mira", "u-without"
SPRINT = {"sprintId": 42, "name": "Sprint 42", "ticketCount": 23, "completedPoints": 75, "totalPoints": 87}
SECRET = ("platform", "a password of this test")
DOOR = ("teams", "another password of this test")


class Server:
    """Answers on a loopback port until it is closed."""

    def __init__(self):
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, value = server.answers(self.command, self.path, self.headers, json.loads(body or b"null"))
                text = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def schema(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


TEXT = {"type": "string"}
TOOLS = {
    "jira": [("jira_search_9", "Search issues", schema(status=TEXT)), ("jira_get_sprint_9", "The current sprint", schema())],
    "confluence": [("confluence_create_page_9", "Create a page", schema(title=TEXT, body=TEXT))],
}


class Platform(Server):
    """Which tools a user has, and what they do. Notes every call: kind, tenant, user, and the type or the tool."""

    def __init__(self):
        self.calls, self.pages = [], []
        super().__init__()

    def answers(self, method, path, headers, body):
        wanted = "Basic " + base64.b64encode(":".join(SECRET).encode()).decode()
        if headers.get("Authorization") != wanted:
            return 401, {"success": False, "message": "who are you?"}
        split = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(split.query))
        _, _, _, tenant, what = split.path.split("/")
        user = query["workflow_user_id"]
        if method == "GET" and what == "":
            kind = query["tool_type"]
            self.calls.append(("tools", tenant, user, kind))
            has = TOOLS.get(kind, []) if user == USER else []
            return 200, [{"id": id, "name": name, "description": name, "parameters": fits} for id, name, fits in has]
        tool, given = body["tool_id"], body["parameters"]
        self.calls.append(("execute", tenant, user, tool))
        if tool == "jira_search_9":
            issues = [{"key": f"HB-{n}", "summary": f"Issue {n}"} for n in range(1, 13)]
            return 200, {"success": True, "result": {"total": 12, "issues": issues}}
        if tool == "jira_get_sprint_9":
            return 200, {"success": True, "result": SPRINT}
        if tool == "confluence_create_page_9":
            self.pages.append(given)
            return 200, {"success": True, "result": {"pageId": "12345", "url": f"{self.url}/wiki/12345"}}
        return 404, {"success": False, "message": "no such tool"}


def said(message):
    """The text of a message, whether it comes as text or in parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def inside(text):
    """The JSON of a tool's result, however n8n wraps it; a text that is none as it is."""
    value = text
    while True:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                return value
        elif isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict) and set(value) == {"response"}:
            value = value["response"]
        elif isinstance(value, dict) and set(value) == {"json"}:
            value = value["json"]
        else:
            return value


class Model(Server):
    """Speaks as a chat model of Azure does, and decides by what it is given: who it is, what was said, and what its tools answered. It
    knows no number of its own: all that it says came from a tool."""

    def __init__(self):
        self.asked = []
        super().__init__()

    def answers(self, method, path, headers, body):
        assert path.startswith("/openai/deployments/scripted/chat/completions"), path
        self.asked.append(body)
        tools = {tool["function"]["name"]: tool["function"] for tool in body.get("tools", [])}
        messages = body["messages"]
        last = max(at for at, message in enumerate(messages) if message["role"] == "user")
        results = [said(message) for message in messages[last:] if message["role"] == "tool"]
        message = self.turn(tools, said(messages[last]), results)
        finish = "tool_calls" if "tool_calls" in message else "stop"
        return 200, {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": None} | message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    def turn(self, tools, text, results):
        def call(word, **arguments):
            [name] = [name for name in tools if word in name]
            return {"tool_calls": [{"id": f"call_{len(self.asked)}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]}

        def end(output, data=None, attachment=None):
            return {"content": json.dumps({"output": output, "data": data, "attachment": attachment})}

        if any("CURRENT_USER" in name for name in tools):
            return self.of_system(text, results, call, end)
        found = [inside(result) for result in results]
        if not found:
            task = "Get the current sprint with its points" if "sprint" in text else "Search for open issues of the user"
            return call("Jira", taskDescription=task)
        if "sprint" in text and len(found) == 1 and not found[0]["data"].get("error"):
            sprint = found[0]["data"]
            numbers = f"{sprint['ticketCount']} tickets, {sprint['completedPoints']}/{sprint['totalPoints']} points"
            return call("Confluence", taskDescription=f"Create a page titled '{sprint['name']} summary' with: {numbers}")
        outputs = " ".join(one["output"] for one in found)
        return end(outputs, found[-1]["data"])

    def of_system(self, text, results, call, end):
        if not results:
            return call("CURRENT_USER_TOOLS")
        listed = inside(results[0])
        listed = [listed] if isinstance(listed, dict) and listed else listed
        # Of an empty list n8n's tool says an empty text.
        listed = listed if isinstance(listed, list) else []
        if not listed:
            return end("I have no access to Jira yet. Please set up a Jira integration.", {"error": "no_tools"})
        if len(results) == 1:
            title = re.search(r"titled '(.*?)' with: (.*)", text)
            word, given = ("sprint", {}) if "current sprint" in text else ("search", {"status": "open"})
            if title:
                word, given = "page", {"title": title[1], "body": title[2]}
            [tool] = [tool["id"] for tool in listed if word in tool["id"]]
            return call("EXECUTE", tool_id=tool, parameters=given)
        result = inside(results[1])["result"]
        if "total" in result:
            return end(f"I found {result['total']} open tickets.", {"count": result["total"]})
        if "url" in result:
            return end(f"I created the page with {text.split('with: ')[1].splitlines()[0]}: {result['url']}", result)
        return end(f"I read {result['name']}.", result)


def credential(test, kind, **data):
    made = api("POST", "credentials", {"name": f"{kind} of this test", "type": kind, "data": data})
    test.addCleanup(api, "DELETE", f"credentials/{made['id']}")
    return {"id": made["id"], "name": made["name"]}


class Exported(unittest.TestCase):
    """What a person does: export and push, choose credentials, publish, call."""

    def setUp(self):
        self.assertEqual(workflows(archived=True), [], "an earlier test left something behind")
        self.project = Project("rest")
        self.addCleanup(self.project.close)
        self.platform, self.model = Platform(), Model()
        self.addCleanup(self.platform.close)
        self.addCleanup(self.model.close)
        self.addCleanup(self.forgotten)

    def forgotten(self):
        for workflow in workflows(archived=True):
            api("DELETE", f"workflows/{workflow['id']}")

    def export(self, *more, code=0):
        set = ["--set", f"INTEGRATION_URL={self.platform.url}", "--set", "ASSISTANT_MODEL=scripted"]
        folder = str(self.project.root / "exported")
        ran = self.project.run("packs", "export", "assistant", "--to", "n8n", folder, "--push", *set, *more, "--output-format", "json", code=code)
        return ran.json() if code == 0 else ran

    def chosen(self, made):
        """Each node that needs an account gets it, as somebody does in n8n's editor."""
        address = urllib.parse.urlsplit(os.environ["AGENTCTL_TEST_POSTGRES"])
        host = dict(urllib.parse.parse_qsl(address.query)).get("host") or address.hostname
        free = {"allowedHttpRequestDomains": "all"}
        door = credential(self, "httpBasicAuth", user=DOOR[0], password=DOOR[1], **free)
        platform = credential(self, "httpBasicAuth", user=SECRET[0], password=SECRET[1], **free)
        model = credential(self, "azureOpenAiApi", apiKey="scripted", resourceName="scripted", apiVersion="2025-03-01-preview", endpoint=self.model.url, **free)
        memory = credential(self, "postgres", host=host, port=address.port or 5432, database=address.path.strip("/"), user=address.username, password=address.password or "x",
                            maxConnections=5, ssl="disable", allowUnauthorizedCerts=False, sshTunnel=False)
        of = {"webhook": ("httpBasicAuth", door), "httpRequestTool": ("httpBasicAuth", platform),
              "lmChatAzureOpenAi": ("azureOpenAiApi", model), "memoryPostgresChat": ("postgres", memory)}
        for one in made:
            workflow = api("GET", f"workflows/{one['id']}")
            for node in workflow["nodes"]:
                kind, account = of.get(node["type"].split(".")[-1], (None, None))
                if kind:
                    node["credentials"] = {kind: account}
            kept = {key: workflow[key] for key in ("name", "nodes", "connections")} | {"settings": {"executionOrder": "v1"}}
            api("PUT", f"workflows/{one['id']}", kept)

    def asked(self, text, user=USER, conversation="c-1"):
        body = {"from": {"id": "29:x", "name": "Mira", "aadObjectId": user}, "conversation": {"id": conversation, "tenantId": TENANT}, "text": text, "locale": "en-US"}
        request = urllib.request.Request(f"{environment()['N8N_API_URL']}/webhook/assistant", json.dumps({"body": body}).encode(), {"Content-Type": "application/json"})
        request.add_header("Authorization", "Basic " + base64.b64encode(":".join(DOOR).encode()).decode())
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            newest = api("GET", "executions?limit=5&includeData=true")["data"]
            faults = [json.dumps(run.get("data", {}).get("resultData", {}).get("error"))[:1500] for run in newest]
            raise AssertionError(f"HTTP {error.code}: {error.read().decode()}\n" + "\n".join(faults)) from None

    def test_a_real_n8n_runs_it_and_keeps_who_asks_apart(self):
        made = self.export()["pushed"]
        self.assertEqual([one["what"] for one in made], ["created"] * 7)
        self.chosen(made)
        for one in made:
            self.project.run("workflows", "activate", one["id"], "--yes")

        # One system.
        answer = self.asked("Show me my open Jira tickets")
        self.assertEqual(answer, {"output": "I found 12 open tickets.", "data": {"count": 12}, "attachment": None})
        self.assertEqual(self.platform.calls, [("tools", TENANT, USER, "jira"), ("execute", TENANT, USER, "jira_search_9")])

        # Two in sequence: what the first found goes into the second's task.
        self.platform.calls.clear()
        answer = self.asked("Create a Confluence page from my current Jira sprint")
        for part in ["23 tickets", "75/87 points", f"{self.platform.url}/wiki/12345"]:
            self.assertIn(part, answer["output"])
        self.assertEqual(self.platform.pages, [{"title": "Sprint 42 summary", "body": "23 tickets, 75/87 points"}])
        self.assertEqual([call[3] for call in self.platform.calls], ["jira", "jira_get_sprint_9", "confluence", "confluence_create_page_9"])

        # None that is set up: said so, nothing executed, not tried again.
        self.platform.calls.clear()
        answer = self.asked("Show me my open Jira tickets", OTHER, "c-2")
        self.assertEqual(answer["data"], {"error": "no_tools"})
        self.assertIn("set up a Jira integration", answer["output"])
        self.assertEqual(self.platform.calls, [("tools", TENANT, OTHER, "jira")])

        # Only the main agent remembers, and only this user's conversation.
        self.asked("Show me my open Jira tickets")
        main = [asked for asked in self.model.asked if any("Jira" in tool["function"]["name"] for tool in asked["tools"])]
        before = [said(message) for message in main[-2]["messages"] if message["role"] == "user"]
        self.assertEqual(len(before), 3, before)

        self.again(made)

    def again(self, made):
        """Pulled, the files keep the accounts; what somebody changed on n8n since is not lost."""
        refused = self.export(code=5)
        self.assertIn("was changed on n8n", refused.err)
        for one in made:
            os.remove(one["file"])
            self.project.run("pull", one["id"], one["file"])
        once_more = self.export()["pushed"]
        self.assertEqual([(one["what"], one["id"]) for one in once_more], [("unchanged", one["id"]) for one in made])


CALLED = {
    "name": "Count tickets",
    "nodes": [
        {"id": "start", "name": "Start", "type": "n8n-nodes-base.executeWorkflowTrigger", "typeVersion": 1.1, "position": [0, 0],
         "parameters": {"workflowInputs": {"values": [{"name": "project"}, {"name": "limit", "type": "number"}]}}},
        {"id": "count", "name": "Count", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": [200, 0],
         "parameters": {"mode": "raw", "jsonOutput": "={{ { of: $json.project, n: $json.limit + 1 } }}", "options": {}}},
    ],
    "connections": {"Start": {"main": [[{"node": "Count", "type": "main", "index": 0}]]}},
    "settings": {"executionOrder": "v1"},
}
TOOL = """tool_id: count_tickets
name: Count tickets
description: Counts the tickets of a project. Use it when the user asks how many there are.
category: domain-specific
keywords: [count]
parameters:
  project: {type: string, required: true, description: The project's key}
  limit: {type: number, required: true, description: At most so many}
kind: n8n
effect: reads
n8n: {workflow: Count tickets}
"""


class Called(unittest.TestCase):
    """A workflow that only other workflows call, as a tool of a pack."""

    def test_its_declared_inputs_reach_it_and_its_own_execution_is_the_evidence(self):
        self.assertEqual(workflows(archived=True), [], "an earlier test left something behind")
        project = Project("rest")
        self.addCleanup(project.close)
        made = api("POST", "workflows", CALLED)
        self.addCleanup(api, "DELETE", f"workflows/{made['id']}")
        api("POST", f"workflows/{made['id']}/activate", {})
        self.addCleanup(api, "POST", f"workflows/{made['id']}/deactivate", {})
        project.run("packs", "new", "desk")
        tool = project.root / "packs" / "desk" / "tools" / "count_tickets"
        tool.mkdir(parents=True)
        (tool / "tool.yaml").write_text(TOOL)
        called = project.run("tools", "call", "count_tickets", "--pack", "desk", "--arg", "project=HB", "--arg", "limit=41", "--output-format", "json").json()
        self.assertEqual(called["content"]["result"], [{"of": "HB", "n": 42}], called)
        execution = called["content"]["execution"]
        self.assertEqual((execution["workflow"], execution["status"]), (made["id"], "success"))
        own = api("GET", f"executions/{execution['id']}")
        self.assertEqual(own["workflowId"], made["id"])
        self.assertEqual([workflow["id"] for workflow in workflows(archived=True)], [made["id"]], "the helper is gone")
