"""The promises of agentctl on a real n8n, through each backend. Started by tests/live/run."""

import datetime, json, os, pathlib, signal, time, unittest
from exported import Called, Exported  # noqa: F401 # the tests of these are found here
from memory import Memory  # noqa: F401
from served import BothWays, Served  # noqa: F401
from talked import Talked  # noqa: F401
from there import There  # noqa: F401
from verdicts import Built, Verdicts  # noqa: F401
from support import COPY, Project, Proxy, Sink, api, call, children, environment, header_account, kill_n8n, n8n, release, remove, servers, workflows


def webhook(path, text="ok"):
    """A workflow as a file: a webhook that answers with a text."""
    return {
        "name": f"Answer {path}",
        "nodes": [
            {"id": "hook", "name": "Webhook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "webhookId": f"w-{path}",
             "parameters": {"path": path, "httpMethod": "POST", "responseMode": "responseNode", "options": {}}},
            {"id": "set", "name": "Edit Fields", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": [200, 0],
             "parameters": {"assignments": {"assignments": [{"id": "a", "name": "x", "value": "1", "type": "string"}]}, "options": {}}},
            {"id": "wait", "name": "No Operation", "type": "n8n-nodes-base.noOp", "typeVersion": 1, "position": [400, 0], "parameters": {}},
            {"id": "answer", "name": "Respond", "type": "n8n-nodes-base.respondToWebhook", "typeVersion": 1.1, "position": [600, 0],
             "parameters": {"respondWith": "text", "responseBody": text, "options": {}}},
        ],
        "connections": {
            "Webhook": {"main": [[{"node": "Edit Fields", "type": "main", "index": 0}]]},
            "Edit Fields": {"main": [[{"node": "No Operation", "type": "main", "index": 0}]]},
            "No Operation": {"main": [[{"node": "Respond", "type": "main", "index": 0}]]},
        },
        "settings": {"executionOrder": "v1"},
    }


class Live:
    """The same for each backend."""

    backend = None

    def setUp(self):
        self.assertEqual(workflows(archived=True), [], "an earlier test left something behind")
        self.project = Project(self.backend)
        self.addCleanup(self.project.close)
        self.addCleanup(self.clear)
        self.addCleanup(self.nothing_is_left)

    def nothing_is_left(self):
        """No copy of a test, in the archive neither, and no server that outlives the agentctl that started it."""
        self.assertEqual([w["name"] for w in workflows(archived=True) if COPY in w["name"]], [])
        self.assertNotIn(COPY, [tag["name"] for tag in api("GET", "tags")["data"]])
        patience = time.monotonic() + 30
        while servers() and time.monotonic() < patience:
            time.sleep(0.1)
        self.assertEqual(servers(), [])

    def clear(self):
        for workflow in workflows(archived=True):
            remove(workflow)

    def put(self, path, text="ok"):
        return api("POST", "workflows", webhook(path, text))

    def write(self, name, document):
        file = self.project.root / name
        file.write_text(json.dumps(document, indent=2))
        return str(file)

    def test_five_built_workflows_do_what_was_asked(self):
        sink = Sink()
        self.addCleanup(sink.close)
        p = f"{self.backend}-"
        requests = [
            f'Receive a webhook POST /{p}ok and respond with "ok"',
            f"GET webhook /{p}health that answers with JSON {{status, time}} and status 200",
            f"When a webhook on /{p}forward is called, call {sink.url}/hook with POST",
            f"When a webhook on /{p}orders receives an order over 100 EUR, call {sink.url}/big with POST",
            f"When a webhook on /{p}signup receives a signup whose country is Germany, call {sink.url}/de with POST, otherwise call {sink.url}/other with POST",
        ]
        for request in requests:
            built = self.project.build(request).json()
            self.assertEqual(built["outcome"], "complete", built)
            # Of the one that only forwards nothing ran but the start: its request is simulated.
            forwards = "forward" in request
            self.assertEqual(built["qa_report"]["test_status"], "inconclusive" if forwards else "pass", built)
            self.assertEqual(built["qa_report"]["egress"], [], built)
            self.assertTrue(built["qa_report"]["execution_id"], built)
            self.assertFalse(api("GET", f"workflows/{built['workflow']['id']}")["active"], "nobody asked for an active workflow")
            api("POST", f"workflows/{built['workflow']['id']}/activate", {})
        self.assertEqual(len(workflows()), 5)
        self.assertEqual(call("POST", p + "ok", {}), (200, "ok"))
        status, text = call("GET", p + "health")
        answer = json.loads(text)
        self.assertEqual((status, answer["status"], sorted(answer)), (200, "ok", ["status", "time"]))
        said = datetime.datetime.fromisoformat(answer["time"].replace("Z", "+00:00"))
        self.assertLess(abs(said - datetime.datetime.now(datetime.timezone.utc)), datetime.timedelta(minutes=1))
        call("POST", p + "forward", {})
        self.assertTrue(sink.wait_for("/hook"))
        call("POST", p + "orders", {"amount": 50})
        call("POST", p + "orders", {"amount": 150})
        self.assertTrue(sink.wait_for("/big"))
        call("POST", p + "signup", {"country": "France"})
        self.assertTrue(sink.wait_for("/other"))
        call("POST", p + "signup", {"country": "Germany"})
        self.assertTrue(sink.wait_for("/de"))
        self.assertEqual(sorted(sink.paths), ["/big", "/de", "/hook", "/other"])

    def reaching(self, path, nodes):
        """A workflow that answers, with these nodes in between."""
        document = webhook(path)
        document["nodes"][2:3] = [{"id": f"n{i}", "typeVersion": 1, "position": [300 + i * 10, 0], **node} for i, node in enumerate(nodes)]
        names = [node["name"] for node in document["nodes"]]
        document["connections"] = {a: {"main": [[{"node": b, "type": "main", "index": 0}]]} for a, b in zip(names, names[1:])}
        return api("POST", "workflows", document)

    def tried(self, made, *args):
        """The report of a change that has nothing to do with those nodes, and of its test."""
        built = self.project.build('respond with "done" instead of "ok"', "--workflow", made["id"], *args)
        return built.json()["qa_report"]

    def test_a_test_lets_nothing_out_that_was_not_allowed(self):
        sink = Sink()
        self.addCleanup(sink.close)
        account = header_account(f"Header {self.backend}")
        self.addCleanup(lambda: api("DELETE", f"credentials/{account['id']}"))
        code = lambda js: {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": js}, "onError": "continueRegularOutput"}
        post = "({method: 'POST', url: '%s/code'})" % sink.url
        attacks = {
            "Alias": code(f"const t = this; await t['help' + 'ers'].httpRequest{post}; return items;"),
            "Escape": code(f"await this.\\u0068elpers.httpRequest{post}; return items;"),
            "Computed": code(f"await (this)['h' + 'elpers'].httpRequest{post}; return items;"),
            "Reflected": code(f"await Reflect.get(this, 'help' + 'ers').httpRequest{post}; return items;"),
            "Built": code("return [].constructor.constructor('return 1')()"),
            "Account": {
                "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "credentials": {"httpHeaderAuth": {"id": account["id"], "name": account["name"]}},
                "parameters": {"url": f"{sink.url}/account", "authentication": "genericCredentialType", "genericAuthType": "httpHeaderAuth", "options": {}},
            },
            "Get": {"type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "parameters": {"url": f"{sink.url}/get", "options": {}}},
            "Own": {"type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "parameters": {"url": f"{environment()['N8N_API_URL']}/healthz", "options": {}}},
            "Feed": {"type": "n8n-nodes-base.rssFeedRead", "typeVersion": 1.1, "parameters": {"url": f"={sink.url}/{{{{ 'feed' }}}}"}},
            "Older": {"type": "n8n-nodes-base.httpRequest", "typeVersion": 2, "parameters": {"url": f"{sink.url}/older", "method": "GET", "requestMethod": "DELETE"}},
        }
        made = self.reaching("harm", [{"name": name, **node} for name, node in attacks.items()])
        qa = self.tried(made)
        self.assertEqual(qa["simulated"], list(attacks), qa)
        self.assertEqual((qa["ran"], qa["egress"], qa["test_status"]), (["Webhook", "Edit Fields", "Respond"], [], "pass"), qa)
        self.assertEqual(sorted(qa["simulated_because"]), sorted(attacks))
        self.assertTrue(qa["copy"].startswith(COPY), qa)
        self.assertEqual(sink.paths, [])

    def test_a_listed_host_is_asked_and_no_other_one_behind_it(self):
        sink = Sink()
        self.addCleanup(sink.close)
        host = sink.url.removeprefix("http://")
        get = lambda name, path: {"name": name, "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "parameters": {"url": sink.url + path, "options": {}}}
        code = {"name": "Code", "type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": "return items.map(i => ({json: {n: 1 + 1}}));"}}
        made = self.reaching("listed", [get("Get", "/get"), code, get("Moved", "/moved")])
        qa = self.tried(made, "--test-host", host)
        self.assertNotIn("simulated", qa)
        # A redirect is an answer that the test does not follow, and no fault of the workflow.
        self.assertEqual((qa["ran"], qa["test_status"]), (["Webhook", "Edit Fields", "Get", "Code", "Moved"], "inconclusive"), qa)
        self.assertEqual(qa["egress"], [{"node": name, "by": "host", "host": host} for name in ("Get", "Moved")])
        self.assertEqual(sorted(sink.paths), ["/get", "/moved"])

    def test_cases_say_what_must_come_out(self):
        sink = Sink()
        self.addCleanup(sink.close)
        edge = lambda *names: {"main": [[{"node": name, "type": "main", "index": 0}] for name in names]}
        rule = {"id": "r", "leftValue": "={{ $('Order').item.json.body.amount }}", "rightValue": 100, "operator": {"type": "number", "operation": "gt"}}
        options = {"caseSensitive": True, "leftValue": "", "typeValidation": "loose", "version": 2}
        node = lambda name, kind, version, parameters, x: {"id": name, "name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion": version, "position": [x, 0], "parameters": parameters}
        made = api("POST", "workflows", {
            "name": "Order desk",
            "nodes": [
                node("Order", "webhook", 2, {"path": f"desk-{self.backend}", "httpMethod": "POST", "responseMode": "responseNode", "options": {}}, 0),
                node("Customer", "httpRequest", 4.2, {"url": f"={sink.url}/customers/{{{{ $json.body.customer }}}}", "options": {}}, 200),
                node("Big?", "if", 2.2, {"conditions": {"options": options, "combinator": "and", "conditions": [rule]}, "options": {}}, 400),
                node("Tell", "slack", 2.3, {"select": "channel", "channelId": {"__rl": True, "mode": "name", "value": "#sales"}, "text": "={{ $json.name }} ordered for {{ $('Order').item.json.body.amount }}", "otherOptions": {}}, 600),
                node("Yes", "respondToWebhook", 1.1, {"respondWith": "json", "responseBody": "={{ { big: true, who: $('Customer').item.json.name } }}", "options": {}}, 800),
                node("No", "respondToWebhook", 1.1, {"respondWith": "json", "responseBody": "={{ { big: false } }}", "options": {"responseCode": 202}}, 600),
            ],
            "connections": {"Order": edge("Customer"), "Customer": edge("Big?"), "Big?": edge("Tell", "No"), "Tell": edge("Yes")},
            "settings": {"executionOrder": "v1"},
        })
        big = {
            "workflow": "Order desk", "name": "a big order is told", "input": {"body": {"amount": 300, "customer": 7}, "query": {}, "headers": {}, "params": {}},
            "mocks": {"Customer": [{"name": "Ann"}]},
            "expect": {"status": 200, "answer": {"big": True, "who": "Ann"}, "nodes": {
                "Customer": {"sent": [{"url": f"{sink.url}/customers/7"}], "count": 1}, "Tell": {"sent": [{"text": "Ann ordered for 300"}]}, "No": {"reached": False}}},
        }
        small = {**big, "name": "a small one is not", "input": {"body": {"amount": 30, "customer": 8}}, "expect": {"status": 202, "answer": {"big": False}, "nodes": {"Tell": {"reached": False}}}}
        folder = self.project.root / "tests"
        folder.mkdir()
        for name, case in {"big": big, "small": small}.items():
            (folder / f"{name}.case.yaml").write_text(json.dumps(case))
        told = self.project.run("test", "Order desk", "--output-format", "json").json()
        self.assertEqual((told["passed"], told["of"]), (2, 2), told)
        wrong = {**big, "name": "another text", "expect": {"nodes": {"Tell": {"sent": [{"text": "Bob ordered for 300"}]}}}}
        nowhere = {**small, "name": "not reached", "expect": {"nodes": {"Tell": {"count": 1}}}}
        given = [str(self.write(f"{name}.yaml", case)) for name, case in {"wrong": wrong, "nowhere": nowhere}.items()]
        ran = self.project.run("test", made["id"], *given, "--output-format", "json", code=1)
        told = ran.json()
        self.assertEqual([case["outcome"] for case in told["cases"]], ["failed", "not_reached"], told)
        self.assertEqual((ran.code, told["passed"], told["of"]), (1, 0, 2), told)
        self.assertIn('not "Bob ordered for 300"', told["cases"][0]["checks"][0]["why"])
        self.assertEqual(sink.paths, [])
        self.assertEqual(api("GET", f"workflows/{made['id']}")["updatedAt"], made["updatedAt"])

    def test_a_case_is_held_against_what_ran_and_never_against_what_the_test_made_up(self):
        node = lambda name, kind, version, parameters, x, **more: {"id": name, "name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion": version, "position": [x, 0], "parameters": parameters, **more}
        edge = lambda *ways: {"main": [[{"node": name, "type": "main", "index": 0}] for name in ways]}
        start = lambda mode: node("Call", "webhook", 2, {"path": f"{mode}-{self.backend}", "httpMethod": "POST", "responseMode": mode, "options": {}}, 0)
        give = lambda name, text, x: node(name, "respondToWebhook", 1.1, {"respondWith": "text", "responseBody": text, "options": {}}, x)
        code = lambda text: node("Work", "code", 2, {"jsCode": text}, 200)
        slug = {"id": "s", "name": "slug", "type": "string", "value": "={{ $json.body.title.toLowerCase().replace(/ /g, '-') }}"}
        sums = "const by = {}; for (const r of $input.first().json.body.rows) { by[r.k] = (by[r.k] || 0) + r.v; } return [{json: by}];"
        rows = {"rows": [{"k": "a", "v": 1}, {"k": "a", "v": 2}]}
        reached = {"rows": [{"k": "constructor", "v": 1}]}
        python = node("Work", "code", 2, {"language": "pythonNative", "pythonCode": "return [{'json': {'x': 1}}]"}, 200)
        asked = node("Work", "httpRequest", 4.2, {"url": "http://127.0.0.1:9/x", "options": {}}, 200, onError="continueErrorOutput")
        set_slug = node("Work", "set", 3.4, {"assignments": {"assignments": [slug]}, "includeOtherFields": False, "options": {}}, 200)
        tried = [
            # the nodes, what goes in, what the services give, what must come out, and what is said
            ([start("lastNode"), set_slug], {"title": "Hello My World"}, {}, {"slug": "hello-my-world"}, "passed"),
            ([start("lastNode"), set_slug], {"title": "Hello My World"}, {}, {"slug": "other"}, "failed"),
            ([start("lastNode"), code(sums)], rows, {}, {"a": 3}, "passed"),
            ([start("lastNode"), code(sums)], rows, {}, {"a": 4}, "failed"),
            ([start("lastNode"), code(sums)], reached, {}, {"constructor": 1}, "inconclusive"),
            ([start("lastNode"), python], {}, {}, {"x": 1}, "inconclusive"),
            ([start("responseNode"), asked, give("Ok", "ok", 400), give("Bad", "bad", 400)], {}, {"Work": [{"error": "boom"}]}, "bad", "passed"),
            ([start("responseNode"), asked, give("Ok", "ok", 400), give("Bad", "bad", 400)], {}, {"Work": [{"a": 1}]}, "ok", "passed"),
        ]
        for nodes, body, mocks, answer, outcome in tried:
            with self.subTest(nodes=nodes[1]["type"], answer=answer):
                ways = {"Call": edge("Work"), **({"Work": edge("Ok", "Bad")} if len(nodes) > 2 else {})}
                made = api("POST", "workflows", {"name": "Work desk", "nodes": nodes, "connections": ways, "settings": {"executionOrder": "v1"}})
                case = self.write("work.yaml", {"name": "work", "input": {"body": body}, "mocks": mocks, "expect": {"answer": answer}})
                ran = self.project.run("test", made["id"], str(case), "--output-format", "json", code=0 if outcome == "passed" else 1)
                told = ran.json()["cases"][0]
                self.assertEqual(told["outcome"], outcome, told)
                if nodes[1] is python:
                    self.assertIn("Work", told["checks"][0]["why"])
                    self.assertEqual(told["simulated"], ["Work"], told)
                api("DELETE", f"workflows/{made['id']}")

    def test_a_change_touches_what_it_names_and_is_undone(self):
        made = self.put("change", "ok")
        before = api("GET", f"workflows/{made['id']}")
        self.project.build('respond with "done" instead of "ok"', "--workflow", made["id"])
        after = api("GET", f"workflows/{made['id']}")
        differ = [a["name"] for a, b in zip(before["nodes"], after["nodes"]) if a != b]
        self.assertEqual(differ, ["Respond"])
        self.assertEqual(after["nodes"][3]["parameters"]["responseBody"], "done")
        self.assertEqual(before["connections"], after["connections"])
        self.project.run("undo")
        again = api("GET", f"workflows/{made['id']}")
        self.assertEqual(again["nodes"], before["nodes"])
        self.assertEqual([w["id"] for w in workflows(archived=True)], [made["id"]])

    def test_a_built_workflow_is_undone(self):
        self.project.build('Receive a webhook POST /undone and respond with "ok"')
        self.assertEqual(len(workflows()), 1)
        self.project.run("undo")
        self.assertEqual(workflows(archived=True), [])

    def test_three_failed_cycles_block_and_are_analysed(self):
        document = webhook("blocked")
        document["nodes"][1] |= {
            "name": "Post", "type": "n8n-nodes-base.slack", "typeVersion": 2.95,
            "parameters": {"resource": "message", "operation": "post", "select": "channel", "text": "new order", "otherOptions": {},
                           "channelId": {"__rl": True, "mode": "name", "value": "#sales"}},
        }
        document["connections"] = {"Webhook": {"main": [[{"node": "Post", "type": "main", "index": 0}]]}}
        document["nodes"] = document["nodes"][:2]
        document["nodes"][0]["parameters"]["responseMode"] = "onReceived"
        made = api("POST", "workflows", document)
        blocked = self.project.build("post to #orders instead of #sales", "--workflow", made["id"], code=3).json()
        self.assertEqual((blocked["stage"], blocked["qa_report"]["cycle"]), ("blocked", 3))
        written = self.project.root / "memory/agent_results" / f"post_mortem_{blocked['run_id']}.json"
        self.assertIn("n8n/unknown-version", written.read_text())
        analysis = self.project.run("analyze", "--output-format", "json").json()
        self.assertEqual(analysis["outcome"], "blocked")
        self.assertIn("n8n/unknown-version", json.dumps(analysis))
        self.assertEqual(len(workflows()), 1)

    def test_a_wipe_is_refused(self):
        made = self.put("wipe")
        file = self.project.root / "wipe.json"
        self.project.run("pull", made["id"], str(file))
        document = json.loads(file.read_text())
        document["nodes"], document["connections"] = document["nodes"][:1], {}
        file.write_text(json.dumps(document))
        refused = self.project.run("push", str(file), code=5)
        self.assertIn("wipe", refused.err)
        self.assertEqual(len(api("GET", f"workflows/{made['id']}")["nodes"]), 4)
        self.project.run("push", str(file), "--allow", "wipe")
        self.assertEqual(len(api("GET", f"workflows/{made['id']}")["nodes"]), 1)
        run = self.project.runs()
        self.project.run("undo", "--workflow", made["id"])
        self.assertEqual(len(api("GET", f"workflows/{made['id']}")["nodes"]), 4, run)

    def test_an_active_workflow_is_not_changed_without_a_word(self):
        made = self.put("live")
        api("POST", f"workflows/{made['id']}/activate", {})
        self.project.build('respond with "done" instead of "ok"', "--workflow", made["id"], code=4)
        self.assertEqual(call("POST", "live", {}), (200, "ok"))
        file = self.write("live.json", webhook("live", "pushed"))
        refused = self.project.run("push", file, "--id", made["id"], "--force", code=5)
        self.assertIn("--allow publish", refused.err)
        self.assertEqual(call("POST", "live", {}), (200, "ok"))

    def test_a_person_publishes_and_takes_back_by_hand(self):
        made = self.put("byhand", "ok")
        self.project.run("workflows", "activate", made["id"], code=5)
        self.assertFalse(api("GET", f"workflows/{made['id']}")["active"], "nobody could be asked")
        self.project.run("workflows", "activate", made["id"], "--yes")
        self.assertEqual(call("POST", "byhand", {}), (200, "ok"))
        listed = self.project.run("workflows", "list", "--active", "--output-format", "json").json()
        self.assertEqual([w["id"] for w in listed["workflows"]], [made["id"]])
        ran = self.project.run("executions", "list", made["id"], "--output-format", "json").json()
        self.assertEqual([e["status"] for e in ran["executions"]], ["success"])
        self.project.run("workflows", "deactivate", made["id"], "--yes")
        self.assertFalse(api("GET", f"workflows/{made['id']}")["active"])

    def test_files_go_to_n8n_and_back(self):
        file = self.write("flow.json", webhook("git"))
        self.project.run("push", file)
        file = pathlib.Path(file)
        created = json.loads(file.read_text())
        self.assertEqual([w["id"] for w in workflows()], [created["id"]])
        self.assertIn("unchanged", self.project.run("push", str(file)).out)
        # Somebody else saves in between.
        now = api("GET", f"workflows/{created['id']}")
        now["nodes"][3]["parameters"]["responseBody"] = "theirs"
        api("PUT", f"workflows/{created['id']}", {k: now[k] for k in ("name", "nodes", "connections", "settings")})
        created["nodes"][3]["parameters"]["responseBody"] = "mine"
        file.write_text(json.dumps(created))
        stale = self.project.run("push", str(file), code=5)
        self.assertIn("was changed on n8n", stale.err)
        self.assertIn("pull would lose", self.project.run("pull", created["id"], str(file), code=5).err)
        self.project.run("pull", created["id"], str(file), "--force")
        self.assertEqual(json.loads(file.read_text())["nodes"][3]["parameters"]["responseBody"], "theirs")

    def test_what_the_instance_holds_is_checked(self):
        good = self.put("good")
        bad = webhook("bad")
        bad["nodes"][1]["type"] = "n8n-nodes-base.doesNotExist"
        bad = api("POST", "workflows", bad)
        self.project.run("qa", "--workflow", good["id"])
        found = self.project.run("qa", "--all", "--output-format", "json", code=1).json()
        codes = {file["path"]: [f["code"] for f in file["findings"]] for file in found["files"]}
        self.assertEqual(codes[f"n8n/{good['id']}"], [])
        self.assertIn("n8n/unknown-type", codes[f"n8n/{bad['id']}"])

    def test_a_description_goes_along_and_a_key_that_n8n_refuses_is_named(self):
        file = pathlib.Path(self.write("flow.json", webhook("described") | {"description": "Says ok."}))
        self.project.run("push", str(file))
        pushed = json.loads(file.read_text())
        # n8n 1.x takes it and keeps none.
        kept = None if release().startswith("1.") else "Says ok."
        self.assertEqual(api("GET", f"workflows/{pushed['id']}")["description"], kept)
        pushed["nodes"][2]["colour"] = "red"
        file.write_text(json.dumps(pushed))
        refused = self.project.run("push", str(file), code=1)
        self.assertIn('/nodes/2/colour: n8n\'s API knows no key "colour"', refused.out + refused.err)
        self.assertNotIn("colour", json.dumps(api("GET", f"workflows/{pushed['id']}")))

    def struck(self, strike, *args, method="POST", early=False):
        """Runs a build through the proxy; `strike` gets the process in the middle of its first write of this method."""
        proxy = Proxy(environment()["N8N_API_URL"])
        self.addCleanup(proxy.close)
        self.project = Project(self.backend, proxy.url if self.backend != "instance-mcp" else None)
        self.addCleanup(self.project.close)
        if self.backend == "instance-mcp":
            # REST goes along only when it is the same n8n, so both go through the proxy.
            self.project.variables["N8N_API_URL"] = proxy.url
            self.project.variables["N8N_MCP_URL"] = proxy.url + "/mcp-server/http"
        started = {}
        proxy.method, proxy.early, proxy.strike = method, early, lambda: strike(started["process"])
        request = args or ('Receive a webhook POST /struck and respond with "ok"',)
        started["process"] = process = self.project.start("build", "--yes", "--no-input", *request)
        out, err = process.communicate(timeout=300)
        self.assertTrue(proxy.struck.is_set(), f"nothing was written\n{out}\n{err}")
        return process.returncode, out + err

    def one_whole_workflow(self):
        found = workflows(archived=True)
        self.assertEqual(len(found), 1, [w["name"] for w in found])
        self.assertEqual(len(found[0]["nodes"]), 2)
        api("POST", f"workflows/{found[0]['id']}/activate", {})
        self.assertEqual(call("POST", "struck", {}), (200, "ok"))

    def goes_on(self, code, said):
        """Either it noticed and came to its end, or it says that n8n is gone and goes on from there."""
        if code != 0:
            self.assertEqual(code, 7, said)
            self.project.run("resume", "--yes", "--no-input")

    def test_agentctl_killed_in_a_write_loses_and_doubles_nothing(self):
        code, _ = self.struck(lambda process: process.send_signal(signal.SIGKILL))
        self.assertEqual(code, -signal.SIGKILL)
        self.project.run("resume", "--yes", "--no-input")
        self.one_whole_workflow()

    def test_agentctl_killed_in_a_change_is_resumed_and_undone(self):
        made = self.put("changed", "ok")
        request = ("--workflow", made["id"], 'respond with "done" instead of "ok"')
        code, _ = self.struck(lambda process: process.send_signal(signal.SIGKILL), *request, method="PUT")
        self.assertEqual(code, -signal.SIGKILL)
        self.project.run("resume", "--yes", "--no-input")
        self.assertEqual([w["id"] for w in workflows(archived=True)], [made["id"]])
        after = api("GET", f"workflows/{made['id']}")
        self.assertEqual([n["name"] for n, old in zip(after["nodes"], made["nodes"]) if n != old], ["Respond"])
        self.assertEqual(after["nodes"][3]["parameters"]["responseBody"], "done")
        self.project.run("undo")
        self.assertEqual(api("GET", f"workflows/{made['id']}")["nodes"], made["nodes"])

    def test_n8n_killed_in_a_write_loses_and_doubles_nothing(self):
        code, said = self.struck(lambda _: kill_n8n())
        self.assertEqual(n8n("up").code, 0)
        self.goes_on(code, said)
        self.one_whole_workflow()

    def test_n8n_killed_before_a_write_reaches_it_loses_nothing(self):
        code, said = self.struck(lambda _: kill_n8n(), early=True)
        self.assertEqual(n8n("up").code, 0)
        self.goes_on(code, said)
        self.one_whole_workflow()


class Rest(Live, unittest.TestCase):
    backend = "rest"


class N8nMcp(Live, unittest.TestCase):
    backend = "n8n-mcp"

    def test_n8n_mcp_killed_in_a_write_loses_and_doubles_nothing(self):
        def strike(process):
            for server in children(process.pid, "n8n-mcp"):
                os.kill(server, signal.SIGKILL)

        self.goes_on(*self.struck(strike))
        self.one_whole_workflow()


class InstanceMcp(Live, unittest.TestCase):
    backend = "instance-mcp"


if __name__ == "__main__":
    unittest.main(verbosity=2)
