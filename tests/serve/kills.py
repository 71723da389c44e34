"""kill -9 again and again while conversations go on: no answered turn is lost, none is done twice, no conversation is torn.

    python3 tests/serve/kills.py target/debug/agentctl [--kills 20] [--callers 8]
    python3 tests/serve/kills.py target/debug/agentctl --seconds 300 --every 0.2

Each caller sends its messages one after the other, each under a name of its own (Idempotency-Key), and sends it again until it is
answered: with the reply, or with 409 for a turn that was cut off and settled as cancelled at the next start.
"""

import argparse
import json
import os
import random
import subprocess
import threading
import time
import urllib.error
import urllib.request

from server import TOKEN, Server

SETTINGS = """
[serve.clients.load]
bearer_env = "OTHER_TOKEN"
per_minute = 100000000
"""
# A conversation has so many turns, then the caller begins another one.
TURNS = 20


class Place:
    """Where the server is now."""

    def __init__(self):
        self.url = None
        self.over = False


def send(url, path, body=None, key=None):
    headers = {"authorization": f"Bearer {TOKEN[::-1]}", "content-type": "application/json"}
    if key:
        headers["idempotency-key"] = key
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url + path, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


def caller(place, number, answered):
    count = 0
    while not place.over:
        name = f"{number}-{count}"
        conversation = f"c{number}-{count // TURNS}"
        body = {"from": {"id": "u"}, "conversation": {"id": conversation}, "text": f"hello {name}"}
        while True:
            url = place.url
            try:
                status, headers, said = send(url, "/hooks/front-door", body, name)
            except (OSError, ValueError):
                # Killed in the middle; the next one answers.
                time.sleep(0.02)
                if place.over and place.url is None:
                    return
                continue
            if status in (200, 409):
                answered[name] = (conversation, body, status, headers["x-run-id"], headers["x-session-id"], said)
                break
            if status not in (429, 503):
                raise SystemExit(f"{name}: {status} {said}")
        count += 1


def check(url, answered):
    """What is kept against what was answered."""
    sessions = {}
    for name, (conversation, body, status, run, session, said) in answered.items():
        again = send(url, "/hooks/front-door", body, name)
        assert (again[0], again[1]["x-run-id"], again[2]) == (status, run, said), f"{name} is answered otherwise: {again} {said}"
        shown = send(url, f"/runs/{run}")
        assert (shown[0], shown[2]["status"]) == (200, "ended"), f"{name}: {shown}"
        assert shown[2]["outcome"] == ("complete" if status == 200 else "cancelled"), f"{name}: {shown}"
        sessions.setdefault(conversation, (session, []))
        if status == 200:
            sessions[conversation][1].append((body["text"], said["output"]))
    for conversation, (session, turns) in sessions.items():
        status, _, kept = send(url, f"/sessions/{session}")
        if not turns and status == 404:
            continue
        assert (status, kept["open_run"]) == (200, None), f"{conversation}: {status} {kept}"
        said = [(m["role"], m["text"]) for m in kept["messages"]]
        told = [part for user, reply in turns for part in (("user", user), ("assistant", reply))]
        assert said == told, f"{conversation} is torn: {said} != {told}"
    return len(sessions)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seconds", type=float, help="go on for so long, however many kills that are")
    parser.add_argument("--every", type=float, help="so long each server lives; else 0.05 to 1 s, by chance")
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    chance = random.Random(args.seed)
    place, answered = Place(), {}
    server = Server(binary, SETTINGS)
    kept, folder = server.kept, server.folder
    place.url = server.url
    callers = [threading.Thread(target=caller, args=(place, n, answered), daemon=True) for n in range(args.callers)]
    for one in callers:
        one.start()
    began, kills = time.monotonic(), 0
    while time.monotonic() - began < args.seconds if args.seconds else kills < args.kills:
        time.sleep(args.every or chance.uniform(0.05, 1.0))
        server.kill()
        kills += 1
        server = Server(binary, SETTINGS, folder)
        place.url = server.url
    place.over = True
    for one in callers:
        one.join(120)
        assert not one.is_alive(), "a caller waits for ever"
    cancelled = sum(1 for one in answered.values() if one[2] == 409)
    sessions = check(server.url, answered)
    runs = [one[3] for one in answered.values()]
    assert len(set(runs)) == len(runs), "a run answers two requests"
    sound = [subprocess.run([binary, "--trust-once", "runs", "verify", run], cwd=f"{folder}/project", capture_output=True,
                            env=server.env) for run in chance.sample(runs, min(20, len(runs)))]
    assert all(ran.returncode == 0 for ran in sound), [ran.stderr for ran in sound]
    print(f"{kills} kills, {len(answered)} requests answered ({cancelled} cut off and told so) in {sessions} conversations: all are kept once")
    server.kill()
    kept.cleanup()


main()
