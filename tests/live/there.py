"""The n8n that is there decides: its versions, its credentials. Over REST alone; found by suite.py."""

import json, pathlib, unittest
from support import Project, api, call, environment, header_account, patiently, release, remove, workflows

EVERY_HOUR = "Every hour get https://api.example.com/items, keep only the items whose price is over 10 and set the field seen to yes"


class There(unittest.TestCase):
    def setUp(self):
        self.project = Project("rest")
        self.addCleanup(self.project.close)
        self.addCleanup(self.clear)

    def clear(self):
        for workflow in workflows(archived=True):
            remove(workflow)

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
        self.assertIn(f"the connected n8n is {release()}", told.json()["node_facts"])
        self.assertIn(f"the connected n8n is {release()}", told.err)
        # By the two packages that it is made of, without a login.
        said = self.project.run("catalog", "sync", "--data", str(self.project.root / "none"))
        self.assertIn(f"n8n {release()}", said.out)
        packaged, told = self.built()
        self.assertEqual(packaged, synced)
        self.assertNotIn("node_facts", told.json())

    def test_a_version_that_it_lacks_is_an_error(self):
        # One that agentctl knows from later releases, or one that none has.
        major, minor = (int(part) for part in release().split(".")[:2])
        version = 1.4 if (major, minor) < (2, 37) else 99
        newer = {
            "name": "Newer",
            "nodes": [{"id": "a", "name": "Daily", "type": "n8n-nodes-base.scheduleTrigger", "typeVersion": version, "position": [0, 0], "parameters": {}}],
            "connections": {},
            "settings": {},
        }
        made = api("POST", "workflows", newer)
        (self.project.root / "n8n-catalog.bin").unlink()
        self.project.variables["AGENTCTL_CACHE"] = str(self.project.root / "no-cache")
        found = self.project.run("qa", "--workflow", made["id"], "--output-format", "json", code=1).json()
        self.assertEqual([(f["code"], f["severity"]) for f in found["files"][0]["findings"]], [("n8n/unknown-version", "error")])
        # The same of a file, which is not pushed without a word.
        file = self.project.root / "newer.json"
        file.write_text(json.dumps(newer | {"name": "Newer in a file"}))
        self.assertIn("n8n/unknown-version", self.project.run("qa", str(file), code=1).out)
        self.assertIn("--allow versions", self.project.run("push", str(file), code=5).err)
        self.assertEqual(len(workflows()), 1)
        self.project.run("push", str(file), "--allow", "versions")
        self.assertEqual(len(workflows()), 2)

    def test_a_chat_without_an_address_in_its_file_keeps_the_one_that_it_was_given(self):
        chat = {"id": "c", "name": "Chat", "type": "@n8n/n8n-nodes-langchain.chatTrigger", "typeVersion": 1.1, "position": [0, 0], "parameters": {"public": True, "options": {}}}
        say = {"id": "s", "name": "Say", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": [200, 0],
               "parameters": {"assignments": {"assignments": [{"id": "1", "name": "output", "value": "hi", "type": "string"}]}, "options": {}}}
        file = self.project.root / "chat.json"
        file.write_text(json.dumps({"name": "Chatter", "nodes": [chat, say], "connections": {"Chat": {"main": [[{"node": "Say", "type": "main", "index": 0}]]}}, "settings": {}}))
        address = lambda: api("GET", f"workflows/{workflows()[0]['id']}")["nodes"][0]["webhookId"]
        self.project.run("push", str(file))
        first = address()
        self.assertIn("unchanged", self.project.run("push", str(file)).out)
        self.assertEqual(address(), first)

    def test_what_a_request_says_comes_out_is_tried_on_both_sides_and_what_is_worked_out_does_not_pass(self):
        self.project.variables["TZ"] = "Europe/Vienna"
        report = lambda request, *args: self.project.build(request, *args).json()["qa_report"]
        other = report('When a webhook POST /there-a arrives, if amount is over 100 send an email to a@b.example, otherwise answer {"ok":true}')
        self.assertEqual((other["test_status"], [case["outcome"] for case in other["cases"]]), ("pass", ["passed", "passed"]), other)
        shown = report("When a webhook POST /there-b arrives, answer the name in upper case")
        self.assertEqual((shown["test_status"], shown["no_case"]), ("inconclusive", "answer the name in upper case"), shown)
        daily = self.project.build("Every day at 9:00 post hello to Slack channel #dev").json()
        self.assertEqual(api("GET", f"workflows/{daily['workflow']['id']}")["settings"]["timezone"], "Europe/Vienna")
        self.assertNotIn("stopped", daily["message"])
        # A change of the border takes the case of before over.
        border = self.project.build('When a webhook POST /there-c arrives, if amount is over 100, answer {"big": true}, otherwise answer {"big": false}').json()
        changed = report("use field total instead of amount", "--workflow", border["workflow"]["id"])
        self.assertNotIn("failed", [case["outcome"] for case in changed["cases"]])

    def test_a_repair_is_tried_on_what_failed_and_a_simulated_node_proves_nothing(self):
        hook = {"id": "h", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "webhookId": "repair", "parameters": {"path": "repair", "httpMethod": "POST", "options": {}}}
        ask = {"id": "a", "name": "Ask", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [200, 0], "parameters": {"url": "={{ $json.url }}", "options": {}}}
        made = api("POST", "workflows", {"name": "Repair", "nodes": [hook, ask], "connections": {"Hook": {"main": [[{"node": "Ask", "type": "main", "index": 0}]]}}, "settings": {"executionOrder": "v1"}})
        api("POST", f"workflows/{made['id']}/activate", {})
        call("POST", "repair", {"url": "http://127.0.0.1:9/none"})
        failed = lambda: [e["id"] for e in api("GET", f"executions?workflowId={made['id']}&status=error")["data"]] or None
        execution = patiently(failed)[0]
        api("POST", f"workflows/{made['id']}/deactivate", {})
        report = self.project.build("fix: it fails", "--workflow", made["id"]).json()["qa_report"]
        mended = api("GET", f"workflows/{made['id']}")["nodes"][1]["parameters"]["url"]
        self.assertEqual(mended, "={{ $json.body.url }}")
        case = report["cases"][0]
        self.assertEqual((case["name"], case["outcome"], report["test_status"]), (f"execution {execution} again", "inconclusive", "inconclusive"), report)

    def test_executions_of_no_workflow_are_an_error(self):
        self.assertIn("no workflow `nonesuch`", self.project.run("executions", "list", "nonesuch", code=1).err)

    def test_an_account_that_it_lacks_and_an_address_that_is_taken_are_findings(self):
        hook = lambda: {"id": "h", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "webhookId": "taken",
                        "parameters": {"path": "taken", "httpMethod": "POST", "options": {}}}
        call_it = {"id": "c", "name": "Call", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [200, 0],
                   "parameters": {"url": "https://api.example.com", "authentication": "genericCredentialType", "genericAuthType": "httpHeaderAuth", "options": {}},
                   "credentials": {"httpHeaderAuth": {"id": "ofElsewhere", "name": "Sales"}}}
        end = {"id": "e", "name": "End", "type": "n8n-nodes-base.noOp", "typeVersion": 1, "position": [200, 0], "parameters": {}}
        wired = lambda name: {"Hook": {"main": [[{"node": name, "type": "main", "index": 0}]]}}
        put = lambda name, node: api("POST", "workflows", {"name": name, "nodes": [hook(), node], "connections": wired(node["name"]), "settings": {}})
        holder, rival = put("Holder", end), put("Rival", call_it)
        found = lambda: [(f["code"], f["severity"]) for f in self.project.run("qa", "--workflow", rival["id"], "--output-format", "json", code=None).json()["files"][0]["findings"]]
        lacks = ("agentctl/credential-not-connected", "warning")
        self.assertEqual(found(), [lacks])
        api("POST", f"workflows/{holder['id']}/activate", {})
        # A draft of what is published is no fault as long as it is one.
        self.assertEqual(found(), [("agentctl/webhook-path-conflict", "warning"), lacks])
        told = self.project.run("qa", "--workflow", rival["id"]).out
        self.assertIn(f'belongs to the active workflow "Holder" ({holder["id"]})', told)
        self.assertIn('names the httpHeaderAuth credential "Sales" (ofElsewhere), which this n8n does not have', told)
        # n8n itself does not publish the second one.
        with self.assertRaises(AssertionError):
            api("POST", f"workflows/{rival['id']}/activate", {})
        # The holder keeps what is its own.
        self.assertEqual(self.project.run("qa", "--workflow", holder["id"], "--output-format", "json").json()["files"][0]["findings"], [])
        # With the account there, and the address free, nothing is left.
        account = header_account("Sales")
        self.addCleanup(api, "DELETE", f"credentials/{account['id']}")
        api("POST", f"workflows/{holder['id']}/deactivate", {})
        call_it["credentials"]["httpHeaderAuth"]["id"] = account["id"]
        api("PUT", f"workflows/{rival['id']}", {"name": "Rival", "nodes": [hook(), call_it], "connections": wired("Call"), "settings": {}})
        self.assertEqual(found(), [])

    def test_a_computed_name_that_leads_to_what_objects_are_made_of_ends_a_test(self):
        node = lambda name, kind, version, parameters: {"id": name, "name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion": version, "position": [0, 0], "parameters": parameters}
        sums = "const sums = {};\nfor (const item of items) {\n  const row = item.json.body;\n  sums[row.kind] = (sums[row.kind] || 0) + row.amount;\n}\nreturn [{json: sums}];"
        made = api("POST", "workflows", {
            "name": "Sums",
            "nodes": [
                node("Hook", "webhook", 2, {"path": "sums", "httpMethod": "POST", "responseMode": "responseNode", "options": {}}),
                node("Sum", "code", 2, {"jsCode": sums}),
                node("Answer", "respondToWebhook", 1.1, {"respondWith": "json", "responseBody": "={{ $json }}", "options": {}}),
            ],
            "connections": {"Hook": {"main": [[{"node": "Sum", "type": "main", "index": 0}]]}, "Sum": {"main": [[{"node": "Answer", "type": "main", "index": 0}]]}},
            "settings": {"executionOrder": "v1"},
        })
        case = lambda kind, expect: {"name": kind, "input": {"body": {"kind": kind, "amount": 2}}, "expect": expect}
        files = []
        for name, given in {"own": case("x", {"answer": {"x": 2}}), "made_of": case("constructor", {"nodes": {"Answer": {"count": 1}}})}.items():
            file = self.project.root / f"{name}.yaml"
            file.write_text(json.dumps(given))
            files.append(str(file))
        told = self.project.run("test", made["id"], *files, "--output-format", "json", code=1).json()
        own, made_of = told["cases"]
        # It ran for real, and what it came to was compared.
        self.assertEqual((own["outcome"], "Sum" in own["ran"]), ("passed", True), told)
        self.assertEqual((made_of["outcome"], made_of["test_status"], made_of["ran"]), ("not_reached", "inconclusive", ["Hook", "Sum"]), told)
        self.assertIn("not its item's own", json.dumps(told))
        # The workflow itself has no look in it.
        self.assertEqual(api("GET", f"workflows/{made['id']}")["nodes"], made["nodes"])

    def test_files_move_to_another_n8n(self):
        account = header_account("Sales")
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
