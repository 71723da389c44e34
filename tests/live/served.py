"""n8n as a client of `agentctl serve`: a workflow asks a pack and answers its own caller with what the pack says; and as what a pack
calls meanwhile."""

import json, pathlib, shutil, signal, unittest
from support import Project, api, call, workflows

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
SETTINGS = '[serve.clients.n8n]\nbasic = {user = "n8n", password_env = "LIVE_PASSWORD"}\npacks = ["%s"]\n'
PASSWORD = "a password of this test alone"


class FromN8n:
    """A server of one pack, and the workflow that asks it."""

    backend, pack = None, None

    def setUp(self):
        self.assertEqual(workflows(archived=True), [], "an earlier test left something behind")
        self.project = Project(self.backend)
        self.addCleanup(self.project.close)
        (self.project.root / "agentctl.toml").write_text(SETTINGS % self.pack)
        self.prepare()
        self.project.variables["LIVE_PASSWORD"] = PASSWORD
        self.server = self.project.start("serve", "--listen", "127.0.0.1:0", "--ready-json")
        self.addCleanup(self.ended)
        self.url = json.loads(self.server.stdout.readline())["address"]

    def prepare(self):
        pass

    def ended(self):
        self.server.send_signal(signal.SIGTERM)
        _, said = self.server.communicate(timeout=60)
        self.assertEqual(self.server.returncode, 143, said)
        self.assertNotIn(PASSWORD, said)

    def imported(self, user, password):
        """The example's workflow, as somebody who imports it sets it up: the address of this server, a credential of n8n's."""
        data = {"user": user, "password": password, "allowedHttpRequestDomains": "all"}
        credential = api("POST", "credentials", {"name": "agentctl", "type": "httpBasicAuth", "data": data})
        self.addCleanup(api, "DELETE", f"credentials/{credential['id']}")
        workflow = json.loads((EXAMPLES / "n8n-calls-agentctl.json").read_text())
        [asks] = [node for node in workflow["nodes"] if node["type"] == "n8n-nodes-base.httpRequest"]
        self.assertEqual(asks["parameters"]["url"], "http://127.0.0.1:8137/hooks/assistant")
        asks["parameters"]["url"] = f"{self.url}/hooks/{self.pack}"
        asks["credentials"] = {"httpBasicAuth": {"id": credential["id"], "name": "agentctl"}}
        self.published(workflow)

    def published(self, workflow):
        made = api("POST", "workflows", workflow)
        self.addCleanup(api, "DELETE", f"workflows/{made['id']}")
        api("POST", f"workflows/{made['id']}/activate", {})
        self.addCleanup(api, "POST", f"workflows/{made['id']}/deactivate", {})
        return made["id"]


class Served(FromN8n, unittest.TestCase):
    backend, pack = "embedded", "assistant"

    def test_a_workflow_asks_a_pack_and_gets_the_finished_answer(self):
        self.imported("n8n", PASSWORD)
        status, text = call("POST", "ask-agentctl", json.loads((EXAMPLES / "webhook.json").read_text())["body"])
        self.assertEqual(status, 200, text)
        self.assertEqual(sorted(json.loads(text)), ["attachment", "data", "output"], text)
        self.assertIn("12 entries", json.loads(text)["output"])

    def test_a_wrong_password_reaches_nobody(self):
        self.imported("n8n", PASSWORD + "x")
        status, text = call("POST", "ask-agentctl", json.loads((EXAMPLES / "webhook.json").read_text())["body"])
        self.assertEqual(status, 502, text)
        self.assertIn("401", json.loads(text)["error"])
        self.assertEqual(self.project.runs()["runs"], [])


TAKES = {
    "name": "Take a request",
    "nodes": [
        {"id": "hook", "name": "Webhook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "webhookId": "w-take-a-request",
         "parameters": {"path": "take-a-request", "httpMethod": "POST", "responseMode": "responseNode", "options": {}}},
        {"id": "answer", "name": "Respond", "type": "n8n-nodes-base.respondToWebhook", "typeVersion": 1.1, "position": [200, 0],
         "parameters": {"respondWith": "json", "responseBody": "={{ JSON.stringify({url: 'https://tickets.example/' + $json.body.team}) }}", "options": {}}},
    ],
    "connections": {"Webhook": {"main": [[{"node": "Respond", "type": "main", "index": 0}]]}},
    "settings": {"executionOrder": "v1"},
}
TOOL = """tool_id: take_request
name: Hand over
description: Hands a request over to the team that takes it.
category: domain-specific
keywords: [submit]
parameters:
  team_id: {type: string, required: true, description: Who takes it}
  fields: {type: object, required: true, description: What is wanted}
  reference: {type: string, required: true, description: What it is called}
kind: n8n
effect: changes
n8n: {workflow: Take a request, payload: {team: "{team_id}", fields: "{fields}", reference: "{reference}"}}
mock: mock.json
"""
REQUEST = (
    "I want to raise a change request: unit prices of the bond funds should be checked against a second source of market data before they are "
    "published. It's mission-critical, it serves risk and compliance, the benefit is that wrong prices are caught before clients see them, the "
    "sponsor is Marta Lindqvist, and if it goes wrong the whole organisation is affected."
)


class BothWays(FromN8n, unittest.TestCase):
    """A front door that hands requests over to a workflow, asked by a workflow."""

    backend, pack = "rest", "office"

    def prepare(self):
        self.takes = self.published(TAKES)
        pack = self.project.root / "packs" / self.pack
        shutil.copytree(ROOT / "packs" / "front-door", pack, ignore=shutil.ignore_patterns("tests"))
        self.changed(pack / "pack.yaml", "name: front-door", f"name: {self.pack}")
        self.changed(pack / "agents" / "policy.yaml", "tools: [hand_over]}", "tools: [take_request, hand_over]}")
        self.changed(pack / "agents" / "turn.flow.yaml", "tool: submit_request", "tool: take_request")
        self.changed(pack / "agents" / "turn.flow.yaml", "steps.submit.output.url", "steps.submit.output.result.url")
        tool = pack / "tools" / "take_request"
        tool.mkdir(parents=True)
        (tool / "tool.yaml").write_text(TOOL)
        (tool / "mock.json").write_text('{"result": {"result": {"url": "https://mock.example"}}}')

    def changed(self, file, before, after):
        text = file.read_text()
        self.assertIn(before, text)
        file.write_text(text.replace(before, after))

    def test_a_workflow_asks_a_pack_that_calls_a_workflow_in_one_run(self):
        self.imported("n8n", PASSWORD)
        said = {"from": {"id": "u"}, "conversation": {"id": "c", "tenantId": "t"}}
        for text in [REQUEST, "Correct, go ahead."]:
            status, answer = call("POST", "ask-agentctl", said | {"text": text})
            self.assertEqual(status, 200, answer)
        self.assertIn("https://tickets.example/", json.loads(answer)["output"])
        done = api("GET", f"executions?workflowId={self.takes}")["data"]
        self.assertEqual([execution["status"] for execution in done], ["success"])
        self.assertEqual(len(self.project.runs()["runs"]), 2)
