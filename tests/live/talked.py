"""The copilot on a real n8n: five conversations, each message a process of its own. What a message does not name stays as n8n keeps it."""

import json, unittest
from support import Project, api, workflows

# What n8n itself changes when it keeps a workflow.
OF_N8N = ("updatedAt", "versionId", "versionCounter", "activeVersionId", "activeVersion")


class Talked(unittest.TestCase):
    backend = "rest"

    def setUp(self):
        self.assertEqual(workflows(archived=True), [], "an earlier test left something behind")
        self.project = Project(self.backend)
        self.addCleanup(self.project.close)
        self.addCleanup(self.clear)

    def clear(self):
        for workflow in workflows(archived=True):
            api("DELETE", f"workflows/{workflow['id']}")

    def say(self, message, *more):
        return self.project.run("chat", "n8n-copilot", "--session", "live", "--output-format", "json", *more, "--", message).json()

    def there(self):
        """The one workflow as n8n has it."""
        [workflow] = workflows()
        return api("GET", f"workflows/{workflow['id']}")

    def types(self, workflow):
        return sorted(node["type"].split(".")[-1] for node in workflow["nodes"])

    def node(self, workflow, kind):
        [node] = [node for node in workflow["nodes"] if node["type"].endswith("." + kind)]
        return node

    def same(self, before, after):
        strip = lambda workflow: {key: value for key, value in workflow.items() if key not in OF_N8N}
        self.assertEqual(strip(after), strip(before))

    def test_a_copilot_talks_a_workflow_into_being_and_each_message_changes_what_it_names(self):
        made = self.say("When a form comes in, store it in the Postgres table leads and tell #sales on Slack.")
        first = self.there()
        self.assertEqual(made["state"]["workflow_id"], first["id"], made)
        self.assertEqual(self.types(first), ["formTrigger", "postgres", "slack"])
        self.say("only if the budget is over 5k")
        second = self.there()
        self.assertEqual(self.types(second), ["filter", "formTrigger", "postgres", "slack"])
        for kind in ["formTrigger", "postgres", "slack"]:
            self.assertEqual(self.node(second, kind), self.node(first, kind))
        self.say("use Teams instead of Slack")
        third = self.there()
        self.assertEqual(self.types(third), ["filter", "formTrigger", "microsoftTeams", "postgres"])
        asked = self.say("what does the third node do?")
        self.assertEqual(asked["route"], "responder", asked)
        self.same(third, self.there())

    def test_a_copilot_takes_changes_back_and_brings_them_again(self):
        self.say("Every day at 7:30 get https://api.example.com/today and send it to me on Telegram, chat 4711.")
        first = self.there()
        self.say("Make it 6:45.")
        second = self.there()
        self.assertNotEqual(second["nodes"], first["nodes"])
        self.say("Only ping me when the total is below 100.")
        third = self.there()
        for command, wanted in [("/undo", second), ("/undo", first), ("/redo", second), ("/redo", third)]:
            reply = self.say(command)
            self.assertEqual(reply["usage"]["model_calls"], 0, reply)
            now = self.there()
            self.assertEqual((now["nodes"], now["connections"]), (wanted["nodes"], wanted["connections"]), command)

    def test_a_copilot_begins_with_a_workflow_that_n8n_has(self):
        self.say("Every day at 7:30 get https://api.example.com/today and send it to me on Telegram, chat 4711.")
        before = self.there()
        reply = self.project.run(
            "chat", "--session", "other", "--workflow", before["id"], "--output-format", "json", "Schick es an den Chat 99 statt an 4711."
        ).json()
        self.assertEqual(reply["route"], "configurator", reply)
        after = self.there()
        self.assertEqual(self.node(after, "telegram")["parameters"]["chatId"], "99")
        for kind in ["scheduleTrigger", "httpRequest"]:
            self.assertEqual(self.node(after, kind), self.node(before, kind))

    def test_a_copilot_changes_nothing_for_a_question_or_a_vague_wish_and_sees_what_somebody_else_changed(self):
        self.say("When a webhook is called at /orders, append it to the Google Sheet Orders.")
        before = self.there()
        for message in ["Make it better.", "Which sheet does it write to?", "Thanks!", "Activate the workflow now."]:
            self.say(message)
            self.same(before, self.there())
        # In n8n's own editor the sheet's node is renamed meanwhile.
        node = self.node(before, "googleSheets")
        renamed = json.loads(json.dumps({key: before[key] for key in ["name", "nodes", "connections", "settings"]}).replace(json.dumps(node["name"])[1:-1], "Ledger"))
        api("PUT", f"workflows/{before['id']}", renamed)
        said = self.say("/workflow")["messages"][0]["text"]
        self.assertIn("Ledger", said)

    def test_one_agent_instead_of_five_does_the_same_on_n8n(self):
        settings = self.project.root / "packs/n8n-copilot/data/settings.yaml"
        settings.parent.mkdir(parents=True)
        settings.write_text("multi_agent: false\n")
        made = self.say("When a form comes in, store it in the Postgres table leads and tell #sales on Slack.")
        self.assertEqual((made["route"], made["state"]["coordination"]), (None, []), made)
        first = self.there()
        self.assertEqual(self.types(first), ["formTrigger", "postgres", "slack"])
        self.say("Use Microsoft Teams instead of Slack.")
        second = self.there()
        self.assertEqual(self.types(second), ["formTrigger", "microsoftTeams", "postgres"])
        self.assertEqual(self.node(second, "postgres"), self.node(first, "postgres"))
