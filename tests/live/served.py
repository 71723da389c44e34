"""n8n as a client of `agentctl serve`: a workflow asks a pack and answers its own caller with what the pack says."""

import json, pathlib, signal, unittest
from support import Project, api, call, workflows

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
SETTINGS = '[serve.clients.n8n]\nbasic = {user = "n8n", password_env = "LIVE_PASSWORD"}\npacks = ["assistant"]\n'
PASSWORD = "a password of this test alone"


class Served(unittest.TestCase):
    def setUp(self):
        self.assertEqual(workflows(archived=True), [], "an earlier test left something behind")
        self.project = Project("embedded")
        self.addCleanup(self.project.close)
        (self.project.root / "agentctl.toml").write_text(SETTINGS)
        self.project.variables["LIVE_PASSWORD"] = PASSWORD
        self.server = self.project.start("serve", "--listen", "127.0.0.1:0", "--ready-json")
        self.addCleanup(self.ended)
        self.url = json.loads(self.server.stdout.readline())["address"]

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
        asks["parameters"]["url"] = asks["parameters"]["url"].replace("http://127.0.0.1:8137", self.url)
        asks["credentials"] = {"httpBasicAuth": {"id": credential["id"], "name": "agentctl"}}
        made = api("POST", "workflows", workflow)
        self.addCleanup(api, "DELETE", f"workflows/{made['id']}")
        api("POST", f"workflows/{made['id']}/activate", {})
        self.addCleanup(api, "POST", f"workflows/{made['id']}/deactivate", {})

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
