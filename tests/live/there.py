"""The n8n that is there decides: its versions, its credentials. Over REST alone; found by suite.py."""

import json, pathlib, unittest
from support import Project, api, environment, workflows

EVERY_HOUR = "Every hour get https://api.example.com/items, keep only the items whose price is over 10 and set the field seen to yes"


class There(unittest.TestCase):
    def setUp(self):
        self.project = Project("rest")
        self.addCleanup(self.project.close)
        self.addCleanup(self.clear)

    def clear(self):
        for workflow in workflows(archived=True):
            api("DELETE", f"workflows/{workflow['id']}")

    def built(self):
        """The node versions of a workflow built by the offline model, and the answer."""
        told = self.project.build(EVERY_HOUR, code=None)
        self.assertIn(told.code, (0, 9), told.err)
        made = api("GET", f"workflows/{told.json()['workflow']['id']}")
        return {node["type"].split(".")[-1]: node["typeVersion"] for node in made["nodes"]}, told

    def test_versions_are_those_that_it_has(self):
        # As `catalog sync` took them over.
        synced, told = self.built()
        self.assertNotIn("node_facts", told.json())
        # Nobody asked it: by the table, which says so.
        (self.project.root / "n8n-catalog.bin").unlink()
        self.project.variables["AGENTCTL_CACHE"] = str(self.project.root / "no-cache")
        narrowed, told = self.built()
        self.assertEqual(narrowed, synced)
        self.assertIn("the connected n8n is 2.22.6", told.json()["node_facts"])
        self.assertIn("the connected n8n is 2.22.6", told.err)
        # By the two packages that it is made of, without a login.
        said = self.project.run("catalog", "sync", "--data", str(self.project.root / "none"))
        self.assertIn("n8n 2.22.6", said.out)
        packaged, told = self.built()
        self.assertEqual(packaged, synced)
        self.assertNotIn("node_facts", told.json())

    def test_a_version_that_it_lacks_is_an_error(self):
        newer = {
            "name": "Newer",
            "nodes": [{"id": "a", "name": "Daily", "type": "n8n-nodes-base.scheduleTrigger", "typeVersion": 1.4, "position": [0, 0], "parameters": {}}],
            "connections": {},
            "settings": {},
        }
        made = api("POST", "workflows", newer)
        (self.project.root / "n8n-catalog.bin").unlink()
        self.project.variables["AGENTCTL_CACHE"] = str(self.project.root / "no-cache")
        found = self.project.run("qa", "--workflow", made["id"], "--output-format", "json", code=1).json()
        self.assertEqual([(f["code"], f["severity"]) for f in found["files"][0]["findings"]], [("n8n/unknown-version", "error")])

    def test_files_move_to_another_n8n(self):
        account = api("POST", "credentials", {"name": "Sales", "type": "httpHeaderAuth", "data": {"name": "X-Key", "value": "x", "allowedHttpRequestDomains": "all"}})
        self.addCleanup(api, "DELETE", f"credentials/{account['id']}")
        call = {"id": "c", "name": "Call", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [200, 0],
                "parameters": {"url": "https://api.example.com", "authentication": "genericCredentialType", "genericAuthType": "httpHeaderAuth"},
                "credentials": {"httpHeaderAuth": {"id": "ofElsewhere", "name": "Sales (dev)"}}}
        start = {"id": "s", "name": "Click", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}}
        wired = {"Click": {"main": [[{"node": "Call", "type": "main", "index": 0}]]}}
        folder = self.project.root / "files"
        folder.mkdir()
        (folder / "moved.json").write_text(json.dumps({"nodes": [start, call], "connections": wired}))
        (folder / "plain.json").write_text(json.dumps({"name": "Plain", "nodes": [start], "connections": {}}))
        (folder / "other.json").write_text("{}")
        self.project.variables |= {"PROD_N8N_URL": environment()["N8N_API_URL"], "PROD_N8N_API_KEY": environment()["N8N_API_KEY"]}
        target = '[targets.prod]\nurl_env = "PROD_N8N_URL"\nkey_env = "PROD_N8N_API_KEY"\n'
        settings = self.project.root / "agentctl.toml"
        settings.write_text(target)
        refused = self.project.run("push", str(folder), "--target", "prod", code=5)
        self.assertIn("Sales (dev)", refused.out)
        self.assertEqual([w["name"] for w in workflows()], ["Plain"])
        settings.write_text(target + '[targets.prod.credentials.httpHeaderAuth]\n"Sales (dev)" = "Sales"\n')
        self.project.run("push", str(folder), "--target", "prod")
        held = {w["name"]: w["id"] for w in workflows()}
        self.assertEqual(sorted(held), ["Plain", "moved"])
        moved = api("GET", f"workflows/{held['moved']}")
        self.assertEqual(moved["nodes"][1]["credentials"], {"httpHeaderAuth": {"id": account["id"], "name": "Sales"}})
        # The file keeps its own credential, and knows what it is there.
        file = json.loads((folder / "moved.json").read_text())
        self.assertEqual(file["nodes"][1]["credentials"]["httpHeaderAuth"]["id"], "ofElsewhere")
        self.assertEqual(file["meta"]["agentctl"]["targets"]["prod"]["id"], held["moved"])
        again = self.project.run("push", str(folder), "--target", "prod", "--output-format", "json").json()
        self.assertEqual([f["what"] for f in again["files"]], ["unchanged", "unchanged"])
        # All that it holds, into files.
        self.project.run("pull", "--all")
        files = sorted(f.name for f in pathlib.Path(self.project.root, "workflows").glob("*.json"))
        self.assertEqual(files, ["moved.json", "plain.json"])
