"""What real clients make of `agentctl serve`. Each check ends the program with its words when it does not hold."""

import base64
import json
import os
import shutil
import subprocess
import sys

import httpx
import openai
from server import TOKEN, Server

SETTINGS = """
[serve.clients.demo]
basic = {user = "demo", password_env = "DEMO_PASSWORD"}
may = ["turn", "read", "admin"]
[serve.clients.other]
bearer_env = "OTHER_TOKEN"
"""
ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


def holds(what, is_so, shown=""):
    if not is_so:
        raise SystemExit(f"FAILED: {what}\n{shown}")
    print(f"ok  {what}")


def curl(server):
    example = os.path.join(ROOT, "examples", "webhook.json")
    ran = subprocess.run(
        ["curl", "-sS", "-u", "demo:demo", "-H", "content-type: application/json", f"{server.url}/hooks/assistant", "-d", f"@{example}"],
        capture_output=True, text=True, check=True)
    said = json.loads(ran.stdout)
    holds("curl with Basic posts examples/webhook.json", sorted(said) == ["attachment", "data", "output"] and said["output"], said)
    wrong = subprocess.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-u", "demo:nope", f"{server.url}/v1/models"], capture_output=True, text=True)
    holds("curl with a wrong password gets 401", wrong.stdout == "401", wrong.stdout)


def with_httpx(server):
    with httpx.Client(base_url=server.url, auth=("demo", "demo"), timeout=60) as client:
        body = {"from": {"id": "u"}, "conversation": {"id": "c"}, "text": "hello", "id": "m-1"}
        first = client.post("/hooks/front-door", json=body)
        again = client.post("/hooks/front-door", json=body)
        holds("httpx: the same message again is the same answer", (first.status_code, first.text, first.headers["x-run-id"])
              == (again.status_code, again.text, again.headers["x-run-id"]), again.text)
        other = client.post("/hooks/front-door", json={**body, "text": "bye"})
        holds("httpx: another body under its id is a 422", other.status_code == 422, other.text)
        run = client.get(f"/runs/{first.headers['x-run-id']}").json()
        holds("httpx: the run is at its end", (run["status"], run["outcome"]) == ("ended", "complete"), run)
        with client.stream("GET", f"/runs/{first.headers['x-run-id']}/events") as events:
            lines = [line for line in events.iter_lines() if line.startswith("event: ")]
        holds("httpx: the run's events are a stream that ends", lines[-1] == "event: done" and "event: message" in lines, lines)
        session = client.get(f"/sessions/{first.headers['x-session-id']}").json()
        holds("httpx: the conversation is kept once", [m["text"] for m in session["messages"]][0] == "hello" and len(session["messages"]) == 2, session)
        stranger = httpx.get(f"{server.url}/runs/{first.headers['x-run-id']}", headers={"authorization": f"Bearer {TOKEN[::-1]}"})
        holds("httpx: another client sees no such run", stranger.status_code == 404, stranger.text)
        gone = client.delete(f"/sessions/{first.headers['x-session-id']}")
        holds("httpx: the conversation is erased with its run", gone.status_code == 200 and gone.json()["runs"] == [first.headers["x-run-id"]], gone.text)
        holds("httpx: and is no more", client.get(f"/sessions/{first.headers['x-session-id']}").status_code == 404)


def with_openai(server):
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key=TOKEN[::-1], max_retries=0)
    holds("openai: the packs are models", [m.id for m in client.models.list()] == ["assistant", "front-door", "n8n-builder", "n8n-copilot", "research"])
    ask = {"model": "front-door", "messages": [{"role": "user", "content": "hello"}], "user": "helen"}
    whole = client.chat.completions.create(**ask)
    holds("openai: a completion", whole.choices[0].message.content and whole.choices[0].finish_reason == "stop", whole)
    parts = list(client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}))
    text = "".join(p.choices[0].delta.content or "" for p in parts if p.choices)
    holds("openai: a stream says the same, and its usage", text == whole.choices[0].message.content and parts[-1].usage is not None, text)
    try:
        client.chat.completions.create(**ask, tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}])
        holds("openai: tools are refused", False)
    except openai.BadRequestError as error:
        holds("openai: tools are refused", "a pack has its own tools" in error.message, error)
    try:
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="nope", max_retries=0).models.list()
        holds("openai: a wrong key is told", False)
    except openai.AuthenticationError:
        holds("openai: a wrong key is told", True)


def as_the_widget(server):
    """The calls that @n8n/chat makes, as its own source has them: POST with action, sessionId and chatInput or metadata."""
    with httpx.Client(base_url=server.url, auth=("demo", "demo"), timeout=60) as client:
        new = client.post("/chat/front-door", json={"action": "loadPreviousSession", "sessionId": "w-1", "metadata": {}})
        holds("widget: a new conversation has no messages", new.json() == {"data": []}, new.text)
        said = client.post("/chat/front-door", json={"action": "sendMessage", "sessionId": "w-1", "chatInput": "hello", "metadata": {"page": "home"}})
        holds("widget: a message is answered with output", list(said.json()) == ["output"], said.text)
        old = client.post("/chat/front-door", json={"action": "loadPreviousSession", "sessionId": "w-1"}).json()["data"]
        kinds = [(m["id"][-1].startswith("Human"), m["kwargs"]["content"]) for m in old]
        holds("widget: and is there again later", kinds == [(True, "hello"), (False, said.json()["output"])], old)


def with_ag_ui(server, cache):
    """A run's events, read by @ag-ui/client, which ends with an error at the first that is not as the protocol wants it."""
    # Modules are looked for beside the script, so it is copied to where they are.
    script = os.path.join(cache, "ag_ui.mjs")
    shutil.copy(os.path.join(os.path.dirname(__file__), "ag_ui.mjs"), script)
    body = {"from": {"id": "u"}, "conversation": {"id": "ag"}, "text": "hello"}
    said = httpx.post(f"{server.url}/hooks/front-door", json=body, auth=("demo", "demo"), timeout=60)
    basic = "Basic " + base64.b64encode(b"demo:demo").decode()
    ran = subprocess.run(["node", script, server.url, basic, said.headers["x-run-id"]], capture_output=True, text=True, timeout=60)
    holds("ag-ui: the client takes the events", ran.returncode == 0, ran.stderr)
    read = json.loads(ran.stdout)
    holds("ag-ui: and has the message", [m["content"] for m in read["messages"] if m["role"] == "assistant"] == [said.json()["output"]], read)
    holds("ag-ui: the run began, and is at its end", (read["events"][0], read["events"][-1], read["result"]["outcome"]) == ("RUN_STARTED", "RUN_FINISHED", "complete"), read)


def killed(binary):
    """kill -9 between two turns and in the middle of some: nothing that was answered is lost, nothing is done twice."""
    with Server(binary, SETTINGS) as server:
        folder = server.folder
        body = {"from": {"id": "u"}, "conversation": {"id": "k"}, "text": "hello", "id": "k-1"}
        first = httpx.post(f"{server.url}/hooks/front-door", json=body, auth=("demo", "demo"), timeout=60)
        server.kill()
        with Server(binary, SETTINGS, folder) as server:
            again = httpx.post(f"{server.url}/hooks/front-door", json=body, auth=("demo", "demo"), timeout=60)
            holds("killed: the same message after it is the same answer", (first.text, first.headers["x-run-id"]) == (again.text, again.headers["x-run-id"]))
            holds("killed: SIGTERM ends it with 143", server.stop() == 143, server.said())


def main():
    binary = sys.argv[1]
    with Server(binary, SETTINGS) as server:
        curl(server)
        with_httpx(server)
        with_openai(server)
        as_the_widget(server)
        with_ag_ui(server, sys.argv[2])
        holds("no body and no secret stands in the log", "hello" not in server.said() and TOKEN not in server.said())
    killed(binary)


main()
