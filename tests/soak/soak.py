"""Long work, and what it leaves. Started by tests/soak/run."""

import concurrent.futures, http.client, json, os, pathlib, re, shutil, socket, statistics, subprocess, sys, tempfile

BINARY, BUILDS, CALLS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
REQUEST = "When a webhook receives an order over {} EUR, post it to Slack #sales"
TOKEN = "soak" * 16
# How much more memory may be in use at the end than after the first fifth, in MiB: what the allocator keeps for later differs from
# time to time, and what grows with each call shows above it.
SLACK = 8
# Calls of one client over HTTP before the next one comes.
EACH = 60
TEMPORARY = re.compile(r"\.tmp$")


class Place:
    """A project and the user's folder beside it."""

    def __init__(self, root):
        self.root, self.project = root, root / "project"
        self.project.mkdir(parents=True)
        (root / "home").mkdir()
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(root / "home"), "AGENTCTL_HOME": str(root / "home/agentctl"),
            "AGENTCTL_MCP_TOKEN": TOKEN, "NO_COLOR": "1",
        }

    def start(self, *args, **pipes):
        command = [BINARY, "--project", str(self.project), "--quiet", *args]
        return subprocess.Popen(command, cwd=self.project, env=self.environment, text=True, **pipes)

    def ok(self, *args):
        """Its peak of memory in MiB."""
        process = self.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, f"{args}: {process.returncode}\n{said}"
        return used.ru_maxrss / 1024

    def bytes(self, *below):
        files = (file for folder in below for file in (self.project / folder).rglob("*"))
        return sum(file.stat().st_size for file in files if file.is_file())

    def runs(self):
        return sorted((self.project / "memory/runs").iterdir())

    def temporary(self):
        return [str(path.relative_to(self.root)) for path in self.root.rglob("*") if TEMPORARY.search(path.name)]


class Watched:
    """What a process holds, looked at while it works."""

    def __init__(self, process):
        self.folder = pathlib.Path(f"/proc/{process.pid}")
        self.seen = []

    def look(self):
        status = dict(line.split(":", 1) for line in (self.folder / "status").read_text().splitlines())
        children = "".join((task / "children").read_text() for task in (self.folder / "task").iterdir()).split()
        self.seen.append({
            "MiB": int(status["VmRSS"].split()[0]) / 1024, "handles": len(os.listdir(self.folder / "fd")),
            "threads": int(status["Threads"]), "children": len(children),
        })

    def held(self, what):
        """From the first fifth on, when everything has been used once."""
        return [seen[what] for seen in self.seen[len(self.seen) // 5 :]]


class Verdict:
    def __init__(self):
        self.failed = 0

    def says(self, what, figures, holds):
        self.failed += not holds
        print(f"{what:<34} {figures:<58} {'ok' if holds else 'GROWS'}", flush=True)

    def held(self, what, watched):
        memory = watched.held("MiB")
        grown = max(memory) - memory[0]
        self.says(f"{what}: memory", f"{memory[0]:.0f} → {memory[-1]:.0f} MiB, at most {max(memory):.0f}", grown <= SLACK)
        for kind in ("handles", "threads", "children"):
            held = watched.held(kind)
            # A connection that is just ending may still be counted.
            self.says(f"{what}: {kind}", f"{held[0]} → {held[-1]}, at most {max(held)}", max(held) <= held[0] + 4)

    def tidy(self, what, place):
        left = place.temporary()
        self.says(f"{what}: temporary files", f"{len(left)} {' '.join(left[:3])}", not left)


def builds(place, verdict):
    """One after the other, each a process and a run of its own."""
    peaks = [place.ok("build", "--yes", REQUEST.format(number)) for number in range(100, 100 + BUILDS)]
    tenth = max(1, BUILDS // 10)
    first, last = (statistics.median(part) for part in (peaks[:tenth], peaks[-tenth:]))
    verdict.says(f"{BUILDS} builds: peak of memory", f"{first:.0f} → {last:.0f} MiB", last - first <= SLACK)
    sizes = [sum(file.stat().st_size for file in run.rglob("*") if file.is_file()) for run in place.runs()]
    first, last = (statistics.median(part) / 1024 for part in (sizes[:tenth], sizes[-tenth:]))
    verdict.says(f"{BUILDS} builds: a run's folder", f"{first:.0f} → {last:.0f} KiB", last <= 1.25 * first)
    kept = place.bytes("memory") / 1024 / BUILDS
    verdict.says(f"{BUILDS} builds: memory/ by run", f"{kept:.0f} KiB", True)
    verdict.tidy(f"{BUILDS} builds", place)


def initialize(number):
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}}


def call(number):
    """Reads mostly; one of another role's tools, one that is no tool, one with wrong arguments."""
    name, arguments = (
        ("list_workflows", {}), ("get_workflow", {"id": "none"}), ("search_nodes", {"query": f"slack {number}"}),
        ("no_such_tool", {"n": number}), ("get_workflow", {"n": number}), ("load_skill", {"name": "n8n-workflow-patterns"}),
    )[number % 6]
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def one_session(place, verdict, calls):
    """A client that does not stop when its calls are used up."""
    before = set(place.runs())
    server = place.start("mcp", "serve", "--role", "builder", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    watched = Watched(server)

    def ask(message):
        print(json.dumps(message), file=server.stdin, flush=True)
        return json.loads(server.stdout.readline())

    ask(initialize(0))
    # From here on the session's calls are used up: what is refused then is counted, and not kept one by one.
    used_up, begun = min(500, calls), 0
    for number in range(1, calls + 1):
        assert "result" in ask(call(number)), number
        if number % max(1, calls // 50) == 0:
            watched.look()
        if number == used_up:
            begun = place.bytes("memory")
    server.stdin.close()
    assert server.wait(60) == 0
    what = f"{calls} calls, one session"
    verdict.held(what, watched)
    grown = (place.bytes("memory") - begun) / 1024
    verdict.says(f"{what}: memory/", f"{grown:.0f} KiB for the calls after the first {used_up}", grown <= 16)
    verdict.says(f"{what}: runs", str(len(set(place.runs()) - before)), len(set(place.runs()) - before) == 1)
    verdict.tidy(what, place)


def many_clients(place, verdict, calls):
    """Over HTTP: clients that come and go, every second one without a word; and strangers who never show the token."""
    before, bytes_before = len(place.runs()), place.bytes("memory")
    server = place.start("mcp", "serve", "--role", "builder", "--http", "127.0.0.1:0", stderr=subprocess.PIPE)
    port = int(re.search(r":(\d+)/mcp", server.stderr.readline())[1])
    watched, strangers, clients = Watched(server), [], 0

    def ask(connection, message, session=None):
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"} | ({"Mcp-Session-Id": session} if session else {})
        connection.request("POST", "/mcp", json.dumps(message), headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, f"{answer.status} {text}"
        return answer.getheader("Mcp-Session-Id")

    for first in range(0, calls, EACH):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        session = ask(connection, initialize(0))
        for number in range(first, min(calls, first + EACH)):
            ask(connection, call(number), session)
        connection.request("DELETE", "/mcp", headers={"Authorization": f"Bearer {TOKEN}", "Mcp-Session-Id": session})
        assert connection.getresponse().status == 204
        connection.close()
        clients += 1
        strangers.append(socket.create_connection(("127.0.0.1", port)))
        if len(strangers) > 100:
            strangers.pop(0).close()
        watched.look()
    for stranger in strangers:
        stranger.close()
    server.terminate()
    assert server.wait(60) == 143
    what = f"{calls} calls, {clients} clients"
    memory = watched.held("MiB")
    verdict.says(f"{what}: memory", f"{memory[0]:.0f} → {memory[-1]:.0f} MiB, at most {max(memory):.0f}", max(memory) - memory[0] <= SLACK)
    handles, threads = watched.held("handles"), watched.held("threads")
    # The strangers whose two seconds have not passed hold a handle each, 64 at most.
    verdict.says(f"{what}: handles", f"at most {max(handles)}", max(handles) < 100)
    verdict.says(f"{what}: threads", f"{threads[0]} → {threads[-1]}, at most {max(threads)}", max(threads) <= threads[0] + 4)
    runs = len(place.runs()) - before
    kept = (place.bytes("memory") - bytes_before) / 1024 / clients
    verdict.says(f"{what}: runs", f"{runs}, {kept:.0f} KiB each", runs == clients)
    verdict.tidy(what, place)


def worked(root, work, *much):
    """In a project of its own, in which something was built."""
    place = Place(root / work.__name__)
    place.ok("init")
    place.ok("build", "--yes", REQUEST.format(50))
    work(place, *much)
    place.ok("runs", "verify")


def main():
    root = pathlib.Path(tempfile.mkdtemp(prefix="agentctl-soak-", dir=PARENT))
    verdict = Verdict()
    parts = [(one_session, verdict, CALLS // 2), (many_clients, verdict, CALLS // 2)] if CALLS else []
    parts += [(builds, verdict)] if BUILDS else []
    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for part in [pool.submit(worked, root, *part) for part in parts]:
                part.result()
    finally:
        shutil.rmtree(root)
    sys.exit(1 if verdict.failed else 0)


# In memory where that is at hand, so that a disk is not worn out by it.
PARENT = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
if __name__ == "__main__":
    main()
