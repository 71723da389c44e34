"""Many conversations at once, each turn a process of its own: no turn is lost, none is taken twice, no word crosses over.

    crowd.py BINARY [SESSIONS [TURNS [PROCESSES]]]

Each session gets its own words, and half of its turns come from two processes at the same moment. The store is the file in memory/, or
the Postgres of the variable AGENTCTL_TEST_POSTGRES."""

import collections, concurrent.futures, json, os, pathlib, random, subprocess, sys, tempfile, time

BINARY = os.path.realpath(sys.argv[1])
SESSIONS, TURNS, PROCESSES = [int(n) for n in (sys.argv[2:] + ["64", "20", "8"][len(sys.argv) - 2 :])]
URL = "AGENTCTL_TEST_POSTGRES"


def agentctl(root, *args):
    kept = {name: os.environ[name] for name in ("PATH", URL) if name in os.environ}
    environment = {**kept, "HOME": str(root / "home"), "AGENTCTL_HOME": str(root / "home/agentctl"), "NO_COLOR": "1"}
    command = [BINARY, "--project", str(root / "project"), *args, "--output-format", "json"]
    for _ in range(20):
        ran = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)
        # Busy: nothing was done, and it may be sent again.
        if ran.returncode != 7 or "busy" not in ran.stderr + ran.stdout:
            break
    if ran.returncode != 0:
        sys.exit(f"{args}: {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return json.loads(ran.stdout)


def turn(root, session, number):
    began = time.monotonic()
    reply = agentctl(root, "chat", "front-door", "--session", f"s{session}", "--quiet", f"what does word{session}x{number} mean?")
    return session, number, reply["run_id"], time.monotonic() - began


def main():
    with tempfile.TemporaryDirectory(prefix="agentctl-crowd-") as folder:
        root = pathlib.Path(folder)
        (root / "project").mkdir()
        (root / "home").mkdir()
        agentctl(root, "init")
        if URL in os.environ:
            settings = root / "project/agentctl.toml"
            settings.write_text(settings.read_text() + f'\n[sessions]\nurl_env = "{URL}"\n')
            agentctl(root, "trust", "--yes")
        order = [(session, number) for number in range(TURNS) for session in range(SESSIONS)]
        # Two neighbours of one session stand beside one another: they come at the same moment.
        random.Random(1).shuffle(order)
        order.sort(key=lambda place: (place[1] // 2, place[0]))
        with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
            turns = list(pool.map(lambda place: turn(root, *place), order))
        runs = collections.Counter(run for _, _, run, _ in turns)
        assert all(count == 1 for count in runs.values()), "two turns with one run"
        for session in range(SESSIONS):
            messages = agentctl(root, "sessions", "show", f"s{session}")["messages"]
            said = [m["text"] for m in messages if m["role"] == "user"]
            wanted = {f"what does word{session}x{number} mean?" for number in range(TURNS)}
            assert set(said) == wanted and len(said) == TURNS, f"s{session}: {said}"
            foreign = [m["text"] for m in messages if any(f"word{other}x" in m["text"] for other in range(SESSIONS) if other != session)]
            assert not foreign, f"s{session} holds {foreign}"
            by_run = collections.Counter(m["run"] for m in messages if m["role"] == "user")
            assert set(by_run.values()) == {1}, f"s{session}: a run with two messages"
            roles = [m["role"] for m in messages]
            assert roles[0] == "user" and all(a != "user" or b != "user" for a, b in zip(roles, roles[1:])), f"s{session}: a message without its reply"
        took = sorted(t for *_, t in turns)
        print(f"{SESSIONS} sessions, {TURNS} turns each, {PROCESSES} processes at once: {len(turns)} turns, none lost, none twice, none crossed; "
              f"median {took[len(took) // 2] * 1000:.0f} ms, p99 {took[int(len(took) * 0.99)] * 1000:.0f} ms a turn")


main()
