"""n8n's own Postgres Chat Memory and agentctl's conversations: what an assistant of n8n wrote goes on as a session here, and what was said
here is remembered by an assistant of n8n."""

import http.server, json, os, threading, unittest, urllib.parse
from support import Project, api, call, workflows

TABLE = "n8n_chat_histories"


class Mind:
    """The model of n8n's agent: a server that speaks OpenAI's protocol, says back what it was told last, and keeps what it was asked."""

    def __init__(self):
        mind, self.asked = self, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                said = [(m["role"], text(m["content"])) for m in body["messages"] if m["role"] != "system"]
                mind.asked.append(said)
                message = {"role": "assistant", "content": f"You said: {said[-1][1]}"}
                whole = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"],
                         "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                         "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
                data, kind = json.dumps(whole), "application/json"
                if body.get("stream"):
                    choice = {"index": 0, "delta": message, "finish_reason": None}
                    chunks = [choice, choice | {"delta": {}, "finish_reason": "stop"}]
                    lines = [json.dumps(whole | {"object": "chat.completion.chunk", "choices": [c]}) for c in chunks] + ["[DONE]"]
                    data, kind = "".join(f"data: {line}\n\n" for line in lines), "text/event-stream"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data.encode())))
                self.end_headers()
                self.wfile.write(data.encode())

            def log_message(self, *_):
                pass

        def text(content):
            return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def assistant(postgres, openai):
    """A webhook, an agent behind it, and the agent's model and memory."""
    langchain = "@n8n/n8n-nodes-langchain."
    to = lambda name, kind: {kind: [[{"node": name, "type": kind, "index": 0}]]}
    return {
        "name": "Remembers",
        "nodes": [
            {"id": "hook", "name": "Webhook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "webhookId": "w-remembers",
             "parameters": {"path": "remembers", "httpMethod": "POST", "responseMode": "lastNode", "options": {}}},
            {"id": "agent", "name": "Agent", "type": langchain + "agent", "typeVersion": 2, "position": [200, 0],
             "parameters": {"promptType": "define", "text": "={{ $json.body.chatInput }}", "options": {}}},
            {"id": "model", "name": "Model", "type": langchain + "lmChatOpenAi", "typeVersion": 1.2, "position": [200, 200],
             "parameters": {"model": {"__rl": True, "mode": "id", "value": "mind"}, "options": {}}, "credentials": {"openAiApi": openai}},
            {"id": "memory", "name": "Memory", "type": langchain + "memoryPostgresChat", "typeVersion": 1.3, "position": [400, 200],
             "parameters": {"sessionIdType": "customKey", "sessionKey": "={{ $json.body.sessionId }}", "tableName": TABLE, "contextWindowLength": 50},
             "credentials": {"postgres": postgres}},
        ],
        "connections": {"Webhook": to("Agent", "main"), "Model": to("Agent", "ai_languageModel"), "Memory": to("Agent", "ai_memory")},
        "settings": {"executionOrder": "v1"},
    }


class Memory(unittest.TestCase):
    def setUp(self):
        self.assertEqual(workflows(archived=True), [], "an earlier test left something behind")
        self.mind = Mind()
        self.addCleanup(self.mind.close)
        self.project = Project("embedded")
        self.addCleanup(self.project.close)
        (self.project.root / "agentctl.toml").write_text('[sessions]\nurl_env = "LIVE_SESSIONS_URL"\n')
        address = os.environ["AGENTCTL_TEST_POSTGRES"]
        self.project.variables["LIVE_SESSIONS_URL"] = address
        url = urllib.parse.urlsplit(address)
        host = urllib.parse.parse_qs(url.query).get("host", [url.hostname])[0]
        postgres = {"host": host, "port": url.port or 5432, "database": url.path[1:], "user": url.username, "password": url.password or "",
                    "ssl": "disable", "maxConnections": 5, "allowUnauthorizedCerts": False, "sshTunnel": False}
        made = assistant(self.credential("postgres", postgres), self.credential("openAiApi", {"apiKey": "k", "url": self.mind.url, "header": False, "allowedHttpRequestDomains": "all"}))
        self.workflow = api("POST", "workflows", made)["id"]
        self.addCleanup(api, "DELETE", f"workflows/{self.workflow}")
        api("POST", f"workflows/{self.workflow}/activate", {})
        self.addCleanup(api, "POST", f"workflows/{self.workflow}/deactivate", {})

    def credential(self, kind, data):
        made = api("POST", "credentials", {"name": kind, "type": kind, "data": data})
        self.addCleanup(api, "DELETE", f"credentials/{made['id']}")
        return {"id": made["id"], "name": kind}

    def tells(self, session, message):
        status, text = call("POST", "remembers", {"sessionId": session, "chatInput": message})
        self.assertEqual(status, 200, text)
        answer = json.loads(text)
        [answer] = answer if isinstance(answer, list) else [answer]
        self.assertEqual(answer["output"], f"You said: {message}")
        return answer["output"]

    def messages(self, name):
        shown = self.project.run("sessions", "show", name, "--output-format", "json").json()
        return [(message["role"], message["text"]) for message in shown["messages"]]

    def says(self, name, message):
        return self.project.run("chat", "front-door", "--session", name, "--output-format", "json", message).json()

    def test_what_n8ns_memory_holds_goes_on_as_a_conversation_here(self):
        said = ["Bonjour, « ça va » ?", 'He said "no" and left\nfor good', "The invoices are typed by hand every day."]
        wanted = [one for message in said for one in [("user", message), ("assistant", self.tells("user-7", message))]]
        self.tells("somebody-else", "nothing of this")
        imported = self.project.run("sessions", "import", "front-door", "helen", "--n8n-session", "user-7", "--output-format", "json").json()
        self.assertEqual((imported["messages"], imported["left_out"]), (6, 0), imported)
        self.assertEqual(self.messages("helen"), wanted)
        reply = self.says("helen", "I'd like to submit a request")
        self.assertIn("typed by hand", reply["state"]["collected"]["detailed_description"], reply)
        self.assertEqual(len(self.messages("helen")), 8)

    def test_what_was_said_here_is_remembered_by_n8n(self):
        for message in ["I want to submit a request: a robot should type the invoices", 'It is "important"; sponsor: Zoë O\'Neill']:
            self.says("ann", message)
        history = self.messages("ann")
        self.assertEqual(len(history), 4)
        export = ["sessions", "export", "ann", "--n8n-session", "user-8"]
        self.project.run(*export)
        self.tells("user-8", "What did I want?")
        self.assertEqual(self.mind.asked[-1], history + [("user", "What did I want?")])
        # What n8n added there comes back with the rest, and is not written over.
        self.project.run(*export, code=2)
        self.project.run("sessions", "import", "front-door", "back", "--n8n-session", "user-8")
        self.assertEqual(self.messages("back"), history + [("user", "What did I want?"), ("assistant", "You said: What did I want?")])
