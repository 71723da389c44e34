"""What the A2A client of Python's a2a-sdk makes of `agentctl serve`; then what those of npm and a2a-handler do. Each check ends the program with its words when it does not hold."""

import asyncio
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types.a2a_pb2 import (
    AuthenticationInfo, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest, Message, Part, Role,
    SendMessageConfiguration, SendMessageRequest, StreamResponse, SubscribeToTaskRequest, TaskPushNotificationConfig, TaskState,
)
from google.protobuf.json_format import ParseDict
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "serve"))
from server import TOKEN, Server  # noqa: E402

SETTINGS = """
[serve]
packs = ["colour", "front-door", "research"]
sign_cards = true
[serve.clients.one]
bearer_env = "AGENTCTL_SERVE_TOKEN"
may = ["turn", "read", "cancel", "approve"]
[serve.clients.two]
bearer_env = "OTHER_TOKEN"
"""
# Of the user's own file: receivers on this machine may be told.
OWN = '[serve]\npush_addresses = ["127.0.0.1"]\n'
# A pack of a project's own, which asks its user.
COLOUR = {
    "pack.yaml": "name: colour\ntitle: Asks for a colour\nchannels: {on_restart: finish}\n",
    "agents/flow.yaml": """name: colour
fields: {colour: {kind: value, writers: [program]}}
steps:
  - {id: which, ask: {from: "[{'id': 'colour', 'topic': 'colour', 'text': 'Which colour?', 'options': [{'value': 'red', 'label': 'Red'}, {'value': 'blue', 'label': 'Blue'}], 'schema': {'enum': ['red', 'blue']}}]"}}
  - {id: told, say: {text: "'For ' + input.message + ': ' + answers.colour"}}
""",
    "agents/policy.yaml": "roles: {program: []}\nrules: []\nlimits: {max_approval_seconds: 60}\n",
}


def holds(what, is_so, shown=""):
    if not is_so:
        raise SystemExit(f"FAILED: {what}\n{shown}")
    print(f"ok  {what}")


def said(text, task=None, context=None):
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)])
    if task:
        message.task_id = task
    if context:
        message.context_id = context
    return SendMessageRequest(message=message)


async def last(events):
    """The task as a client puts it together of its events."""
    task, told = None, []
    async for event in events:
        kind = event.WhichOneof("payload")
        told.append(kind)
        if kind == "task":
            task = event.task
        elif kind == "artifact_update":
            update = event.artifact_update
            known = [a for a in task.artifacts if a.artifact_id == update.artifact.artifact_id]
            if update.append and known:
                known[0].parts.extend(update.artifact.parts)
            else:
                task.artifacts.append(update.artifact)
        elif kind == "status_update":
            task.status.CopyFrom(event.status_update.status)
    return task, told


def text(task, artifact="reply"):
    parts = [p for a in task.artifacts if a.artifact_id == artifact for p in a.parts]
    return "\n".join(p.text for p in parts if p.HasField("text"))


async def client(url, agent, binding, streaming, token=TOKEN, polling=False):
    http = httpx.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60)
    card = await A2ACardResolver(http, f"{url}/agents/{agent}").get_agent_card()
    config = ClientConfig(httpx_client=http, streaming=streaming, polling=polling, supported_protocol_bindings=[binding])
    return card, ClientFactory(config).create(card)


async def refused(what, kind, call):
    try:
        await call
        holds(what, False)
    except kind:
        holds(what, True)


async def round_trip(url, binding):
    card, colour = await client(url, "colour", binding, streaming=False)
    holds(f"{binding}: the card is read", (card.name, card.skills[0].id) == ("Asks for a colour", "colour"), card)
    extended = await colour.get_extended_agent_card(GetExtendedAgentCardRequest())
    holds(f"{binding}: the extended card says what this client may do",
          [dict(e.params)["client"] for e in extended.capabilities.extensions if e.uri == "urn:agentctl:a2a:client:v1"] == ["one"], extended)
    task, _ = await last(colour.send_message(said("the wall")))
    holds(f"{binding}: a question is INPUT_REQUIRED", task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, task)
    holds(f"{binding}: and is told", "Which colour?" in task.status.message.parts[0].text, task)
    answered, _ = await last(colour.send_message(said("Blue", task=task.id, context=task.context_id)))
    holds(f"{binding}: its answer ends the task", (answered.id, answered.status.state) == (task.id, TaskState.TASK_STATE_COMPLETED), answered)
    holds(f"{binding}: with what was said", text(answered) == "For the wall: blue", answered)
    got = await colour.get_task(GetTaskRequest(id=task.id))
    holds(f"{binding}: GetTask tells the same", got == answered, got)
    await refused(f"{binding}: a task at its end takes no message", UnsupportedOperationError,
                  last(colour.send_message(said("Red", task=task.id))))
    await refused(f"{binding}: nor can it be cancelled", TaskNotCancelableError, colour.cancel_task(CancelTaskRequest(id=task.id)))

    _, polling = await client(url, "colour", binding, streaming=False, polling=True)
    begun, _ = await last(polling.send_message(said("the door")))
    holds(f"{binding}: who does not wait gets the task at once", begun.id and begun.id != task.id, begun)
    while (stands := await polling.get_task(GetTaskRequest(id=begun.id))).status.state != TaskState.TASK_STATE_INPUT_REQUIRED:
        holds(f"{binding}: it is worked on", stands.status.state in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING), stands)
    cancelled = await polling.cancel_task(CancelTaskRequest(id=begun.id))
    again = await polling.cancel_task(CancelTaskRequest(id=begun.id))
    holds(f"{binding}: a cancelled task stays so", [cancelled.status.state, again.status.state] == [TaskState.TASK_STATE_CANCELED] * 2, again)
    page = await polling.list_tasks(ListTasksRequest(page_size=1, include_artifacts=True))
    rest = await polling.list_tasks(ListTasksRequest(page_size=100, page_token=page.next_page_token))
    holds(f"{binding}: tasks are listed, the last first", page.tasks[0].id == begun.id and task.id in [t.id for t in rest.tasks], page)
    _, other = await client(url, "colour", binding, streaming=False, token=TOKEN[::-1])
    await refused(f"{binding}: another client sees no such task", TaskNotFoundError, other.get_task(GetTaskRequest(id=task.id)))


async def streamed(url, binding):
    _, colour = await client(url, "colour", binding, streaming=True)
    task, told = await last(colour.send_message(said("the roof")))
    holds(f"{binding}: a stream begins with the task and closes where it waits",
          (told[0], task.status.state) == ("task", TaskState.TASK_STATE_INPUT_REQUIRED), told)
    watching = colour.subscribe(SubscribeToTaskRequest(id=task.id))
    first = await anext(watching)
    holds(f"{binding}: watched again it is told first", first.task.id == task.id, first)
    await watching.aclose()
    watched = asyncio.create_task(last(colour.subscribe(SubscribeToTaskRequest(id=task.id))))
    await asyncio.sleep(0)
    done, _ = await last(colour.send_message(said("Red", task=task.id)))
    holds(f"{binding}: the answer's stream ends with the task", text(done) == "For the roof: red", done)
    await refused(f"{binding}: a task at its end cannot be watched", UnsupportedOperationError,
                  last(colour.subscribe(SubscribeToTaskRequest(id=task.id))))
    try:
        seen, told = await watched
        holds(f"{binding}: who watches sees it go on to its end", seen.status.state == TaskState.TASK_STATE_COMPLETED, told)
    except UnsupportedOperationError:
        holds(f"{binding}: who comes too late to watch is told", True)


class Receiver(http.server.ThreadingHTTPServer):
    """Takes what is pushed; the first event of each path only when it comes again."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Taken)
        self.came, self.heard = [], threading.Condition()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}/{path}"

    def until(self, path, is_so):
        with self.heard:
            of_path = lambda: [(headers, event) for at, headers, event in self.came if at == "/" + path]
            self.heard.wait_for(lambda: is_so([event for _, event in of_path()]), timeout=60)
            return of_path()


class Taken(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.heard:
            is_first = all(at != self.path for at, _, _ in self.server.came)
            self.server.came.append((self.path, self.headers, ParseDict(body, StreamResponse())))
            self.server.heard.notify_all()
        self.send_response(503 if is_first else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


def completed(events):
    return bool(events) and events[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED


async def pushed(url, binding, receiver):
    _, colour = await client(url, "colour", binding, streaming=False)
    path = f"python-{binding[:4]}"
    request = said("the wall")
    request.configuration.CopyFrom(SendMessageConfiguration(task_push_notification_config=TaskPushNotificationConfig(
        id="mine", url=receiver.url(path), token="shown", authentication=AuthenticationInfo(scheme="Bearer", credentials="theirs"))))
    task, _ = await last(colour.send_message(request))
    named = await colour.get_task_push_notification_config(GetTaskPushNotificationConfigRequest(task_id=task.id, id="mine"))
    holds(f"{binding}: a receiver named with a message is kept", (named.id, named.url) == ("mine", receiver.url(path)), named)
    second = await colour.create_task_push_notification_config(TaskPushNotificationConfig(task_id=task.id, url=receiver.url(path + "-2")))
    listed = await colour.list_task_push_notification_configs(ListTaskPushNotificationConfigsRequest(task_id=task.id))
    holds(f"{binding}: receivers are listed", sorted(c.id for c in listed.configs) == sorted(["mine", second.id]), listed)
    await colour.delete_task_push_notification_config(DeleteTaskPushNotificationConfigRequest(task_id=task.id, id=second.id))
    asks = lambda events: any(e.status_update.status.state == TaskState.TASK_STATE_INPUT_REQUIRED for e in events)
    await asyncio.to_thread(receiver.until, path, asks)
    done, _ = await last(colour.send_message(said("Blue", task=task.id)))
    came = await asyncio.to_thread(receiver.until, path, completed)
    events = [event for _, event in came]
    holds(f"{binding}: what was not taken is pushed again", events[0] == events[1], events)
    holds(f"{binding}: then the question, what was said and the end",
          [e.status_update.status.state for e in events if e.HasField("status_update")][-3:].count(TaskState.TASK_STATE_INPUT_REQUIRED) == 1
          and [e.artifact_update.artifact.parts[0].text for e in events if e.HasField("artifact_update")] == [text(done)], events)
    holds(f"{binding}: with its token and its credentials",
          all((h["x-a2a-notification-token"], h["authorization"]) == ("shown", "Bearer theirs") for h, _ in came), came)
    holds(f"{binding}: one that was deleted is told nothing", not receiver.until(path + "-2", lambda _: True), receiver.came)


async def packs(url, binding):
    _, door = await client(url, "front-door", binding, streaming=True)
    hello, _ = await last(door.send_message(said("I want to submit a request: the monthly sales report should be made automatically")))
    holds(f"{binding}: the front door takes a request", text(hello), hello)
    more, _ = await last(door.send_message(said("The sponsor is Ann Lee", context=hello.context_id)))
    holds(f"{binding}: and goes on with it in its context and task", text(more) and more.context_id == hello.context_id and more.id == hello.id, more)
    _, research = await client(url, "research", binding, streaming=False)
    found, _ = await last(research.send_message(said("How long is the heating network of Norrfeld?")))
    output = [p.data for a in found.artifacts if a.artifact_id == "output" for p in a.parts]
    holds(f"{binding}: the research team answers with a report", found.status.state == TaskState.TASK_STATE_COMPLETED and "Norrfeld" in text(found), found)
    claims = output[0].struct_value.fields["claims"].list_value.values
    holds(f"{binding}: and with claims that have sources",
          len(claims) > 0 and all(len(c.struct_value.fields["sources"].list_value.values) > 0 for c in claims), output)


def made_key(binary, folder):
    """The public half of a key for cards, as agentctl makes it."""
    home = os.path.join(folder, "home")
    env = {"PATH": os.environ["PATH"], "HOME": home, "AGENTCTL_HOME": home, "AGENTCTL_LOOK": "no"}
    # From inside the project: a folder that holds agentctl's own is not one that it trusts with a key.
    made = subprocess.run([os.path.abspath(binary), "a2a", "keygen"], cwd=os.path.join(folder, "project"), env=env, check=True, stdout=subprocess.PIPE, text=True)
    return made.stdout


def envelope(url):
    message = {
        "type": "request:task", "version": "1.0", "id": "e-1", "timestamp": "2026-01-31T12:00:00Z", "sender": "a-seed-system",
        "receiver": "research", "payload": {"query": "How long is the heating network of Norrfeld?", "task_type": "technical"},
    }
    with httpx.Client(base_url=url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
        first = http.post("/agents/research/a2a/message", json=message)
        payload = first.json()["payload"]
        asked = payload["results"]["output"]["agents"]
        holds("envelope: research answers with results", first.json()["type"] == "response:results" and "Norrfeld" in payload["results"]["text"], first.text)
        holds("envelope: by the agent of the task's type alone",
              (asked["technology-agent"]["status"], asked["economic-agent"]["status"]) == ("completed", "not asked"), asked)
        holds("envelope: the same id is the same answer", http.post("/agents/research/a2a/message", json=message).text == first.text)
        wrong = http.post("/a2a", json=message)
        holds("envelope: astray it is told the way", wrong.status_code == 400 and "/a2a/message" in wrong.text, wrong.text)


async def old(url):
    """The same package as a client of 0.3: it is given the card's address of that version alone."""
    http = httpx.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}, timeout=60)
    card = await A2ACardResolver(http, f"{url}/agents/colour").get_agent_card()
    of_old = [i for i in card.supported_interfaces if i.protocol_version.startswith("0.3")]
    holds("0.3: the card names its address", len(of_old) > 0, card)
    del card.supported_interfaces[:]
    card.supported_interfaces.append(of_old[0])
    colour = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
    task, _ = await last(colour.send_message(said("the wall")))
    holds("0.3: a question is input-required", task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, task)
    done, _ = await last(colour.send_message(said("Blue", task=task.id, context=task.context_id)))
    holds("0.3: its answer ends the task", (done.id, text(done)) == (task.id, "For the wall: blue"), done)
    streaming = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
    watched, told = await last(streaming.send_message(said("the roof")))
    holds("0.3: a stream closes where the task waits", watched.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, told)
    cancelled = await colour.cancel_task(CancelTaskRequest(id=watched.id))
    holds("0.3: a task is cancelled", cancelled.status.state == TaskState.TASK_STATE_CANCELED, cancelled)


async def main(binary, of_node):
    with tempfile.TemporaryDirectory() as folder:
        for path, content in COLOUR.items():
            path = os.path.join(folder, "project", "packs", "colour", path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(content)
        own = os.path.join(folder, "home", ".config", "agentctl")
        os.makedirs(own)
        with open(os.path.join(own, "config.toml"), "w") as file:
            file.write(OWN)
        receiver = Receiver()
        keys = made_key(binary, folder)
        with Server(binary, SETTINGS, folder) as server:
            for binding in ("JSONRPC", "HTTP+JSON"):
                await round_trip(server.url, binding)
                await streamed(server.url, binding)
                await pushed(server.url, binding, receiver)
                await packs(server.url, binding)
            envelope(server.url)
            subprocess.run(["node", of_node, server.url, TOKEN, TOKEN[::-1], keys], check=True)
            # Beside the Python that runs this.
            handler = [sys.executable, os.path.join(os.path.dirname(__file__), "handler.py"), os.path.join(os.path.dirname(sys.executable), "handler")]
            subprocess.run([*handler, server.url, folder], env={**os.environ, "TOKEN": TOKEN}, check=True)
        with Server(binary, SETTINGS.replace("sign_cards = true", "") + "[a2a]\nv0_3 = true\n", folder) as server:
            await old(server.url)


asyncio.run(main(*sys.argv[1:]))
