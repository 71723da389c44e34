"""What the command `handler` of PyPI's a2a-handler makes of `agentctl serve`: each call a process of its own, with the agents of
clients.py. Each check ends the program with its words when it does not hold."""

import json
import os
import subprocess
import sys

program, url, folder = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
ENV = {"PATH": os.environ["PATH"], "HOME": folder, "TOKEN": os.environ["TOKEN"], "NO_COLOR": "1"}


def ran(*words, agent="colour", fails=False, output="json"):
    """What the command printed, as JSON; as text where it fails or tells events line by line."""
    command = [program, "--output", output, *words, "--url", f"{url}/agents/{agent}", "--bearer-env", "TOKEN"]
    done = subprocess.run(command, env=ENV, cwd=folder, capture_output=True, text=True, timeout=120)
    if fails != (done.returncode != 0):
        raise SystemExit(f"FAILED: handler {' '.join(words)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout) if output == "json" and not fails else done.stdout + done.stderr


def holds(what, is_so, shown=""):
    if not is_so:
        raise SystemExit(f"FAILED: handler: {what}\n{json.dumps(shown, indent=1)}")
    print(f"ok  handler: {what}")


def main():
    card = ran("card", "get")
    holds("the card is read", (card["name"], card["skills"][0]["id"]) == ("Asks for a colour", "colour"), card)
    extended = ran("card", "get", "--extended")
    clients = [e["params"]["client"] for e in extended["capabilities"]["extensions"] if e["uri"] == "urn:agentctl:a2a:client:v1"]
    holds("the extended card says who the client is", clients == ["one"], extended)

    asked = ran("message", "send", "--text", "the wall")
    words = asked["status"]["message"]["parts"][0]["text"]
    holds("a question is told", asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED" and words.startswith("Which colour?"), asked)
    answered = ran("message", "send", "--text", "Blue", "--task-id", asked["id"], "--context-id", asked["contextId"])
    said = answered["artifacts"][0]["parts"][0]["text"]
    holds("its answer ends the task", (answered["id"], said) == (asked["id"], "For the wall: blue"), answered)
    got = ran("task", "get", asked["id"])
    holds("task get tells the same", got == answered, got)

    begun = ran("message", "send", "--text", "the door", "--no-wait")
    holds("who does not wait gets the task at once", begun["id"] != asked["id"], begun)
    cancelled = ran("task", "cancel", begun["id"])
    holds("a task is cancelled", cancelled["status"]["state"] == "TASK_STATE_CANCELED", cancelled)
    listed = ran("task", "list", "--page-size", "1")
    tasks = listed if isinstance(listed, list) else listed["tasks"]
    holds("tasks are listed over pages", {asked["id"], begun["id"]} <= {task["id"] for task in tasks}, listed)
    missing = ran("task", "get", "nobody", fails=True)
    holds("a task that is not there is told", "no such task" in missing, missing)

    streamed = ran("message", "stream", "--text", "How long is the heating network of Norrfeld?", agent="research", output="ndjson")
    holds("research is streamed to its end", "TASK_STATE_COMPLETED" in streamed and "148 kilometres" in streamed, streamed[-2000:])


main()
