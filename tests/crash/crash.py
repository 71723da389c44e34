"""Kills and failures at single file-system calls. Started by tests/crash/run."""

import collections, concurrent.futures, json, os, pathlib, random, re, shutil, subprocess, sys, tempfile

BINARY, *WANTED = sys.argv[1:]
ALL = WANTED[:1] == ["all"]
ONLY = WANTED[1:]
REQUEST = "When a webhook receives an order over 100 EUR, post it to Slack #sales and append it to the Google Sheet Orders"
CHANGE = "post it to #vip instead"
VAGUE = "Send me a reminder"
# What can leave something half done. A call counts when it is about the project or the user's folder.
CALLS = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,ftruncate,fchmod,flock"
READS = "read,pread64,statx,getdents64"
ERRORS = ["EIO", "ENOSPC", "EMFILE"]
# The short form takes so many places of a scenario for each fault, or a multiple of it.
SHORT = {"kill": 6, "EIO": 2, "ENOSPC": 2, "EMFILE": 1}
TIMES = int(os.environ.get("CRASH_TIMES", "1"))
TEMPORARY = re.compile(r"\.tmp$")


class Place:
    """A project and the user's folder beside it."""

    def __init__(self, root):
        self.root = root
        self.project, self.home = root / "project", root / "home"

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "AGENTCTL_HOME": str(self.home / "agentctl"), "NO_COLOR": "1"}

    def run(self, *args, strace=()):
        command = [*strace, BINARY, "--project", str(self.project), *args]
        return subprocess.run(command, cwd=self.project, env=self.environment(), capture_output=True, text=True, timeout=120)

    def ok(self, *args, ends=0):
        ran = self.run(*args)
        assert ran.returncode == ends, f"{args}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
        return ran

    def json(self, *args):
        return json.loads(self.ok(*args, "--output-format", "json").stdout)

    def runs(self):
        return [run["run_id"] for run in self.json("runs", "list")["runs"]]

    def workflows(self):
        """What they do: ids of nodes are drawn anew in each run."""
        found = {}
        for file in sorted((self.project / "workflows").glob("*.json")):
            document = json.loads(file.read_text())
            nodes = [[node["name"], node["type"], node.get("parameters")] for node in document["nodes"]]
            found[file.name] = json.dumps([nodes, document["connections"]], sort_keys=True)
        return found

    def files(self):
        """Files that are the user's to keep, as they are."""
        kept = [".gitignore", "agentctl.toml", "memory/README.md", ".mcp.json.example", ".mcp.json.full.example"]
        return {name: (self.project / name).read_text() for name in kept}

    def temporary(self):
        return [str(path.relative_to(self.root)) for path in self.root.rglob("*") if TEMPORARY.search(path.name)]


class Scenario:
    """One command that is disturbed. `again` takes up what it left."""

    command = ()
    # Whether threads beside the first one write: a call's number counts within its thread then.
    threads = False
    # How it ends where nothing is disturbed.
    ends = 0
    # What the machine lacks is code 1 and the reason (docs/exit-codes.md), whoever met it.
    codes = (0, 1)

    def before(self, place):
        place.ok("init")

    def again(self, place):
        place.ok(*(("resume", "--yes") if self.begun(place) else self.command))

    def begun(self, place):
        return len(place.runs()) > self.runs_before

    def seen(self, place):
        return place.workflows()

    def __init__(self, root):
        self.place, self.kept = Place(root / "place"), root / "kept"
        self.place.project.mkdir(parents=True)
        self.place.home.mkdir()
        self.before(self.place)
        self.runs_before = len(self.place.runs())
        shutil.copytree(self.place.root, self.kept, symlinks=True)

    def prepared(self):
        """As before the command, at the same path: a run belongs to its folder."""
        shutil.rmtree(self.place.root)
        shutil.copytree(self.kept, self.place.root, symlinks=True)
        return self.place


class Build(Scenario):
    command = ("build", "--yes", REQUEST)


class Modify(Scenario):
    def before(self, place):
        place.ok("init")
        place.ok("build", "--yes", REQUEST)
        (workflow,) = place.workflows()
        self.command = ("build", "--yes", "--workflow", workflow.removesuffix(".json"), CHANGE)


class Answer(Scenario):
    """A run that waits is answered, and ends as a draft: nobody says what is to be reminded of."""

    ends = 9
    codes = (9, 1)

    def before(self, place):
        place.ok("init")
        answers = place.project / "answers.json"
        waiting = place.run("build", VAGUE)
        assert waiting.returncode == 4, f"{waiting.returncode}: {waiting.stderr}"
        self.command = ("resume", "--answers", str(answers))
        answers.write_text(json.dumps({"timing": "every day at 9:00", "recipient": "Slack #team", "action": "post a reminder"}))

    def again(self, place):
        place.ok(*self.command, ends=self.ends)


class Undo(Scenario):
    def before(self, place):
        place.ok("init")
        place.ok("build", "--yes", REQUEST)
        self.command = ("undo", place.runs()[0])

    def again(self, place):
        place.ok(*self.command)


class Redo(Undo):
    def before(self, place):
        super().before(place)
        run = self.command[1]
        made = len(place.json("log", run)["changes"])
        place.ok(*self.command)
        self.command = ("undo", run, "--to", str(made))


class Init(Scenario):
    command = ("init",)

    def before(self, place):
        pass

    def again(self, place):
        place.ok("init")

    def seen(self, place):
        return place.files()


class Turn(Scenario):
    """The turn of a conversation that hands a request over. Sent again, it is the same turn until it was answered."""

    threads = True
    # A store of sessions that cannot be opened may be somebody else's as well.
    codes = (0, 1, 7)
    command = ("chat", "front-door", "--session", "ann", "--quiet", "yes")
    said = (
        "I would like to open a change request: the hold music of the contact centre should stop after a minute",
        "nice to have, customer experience, my sponsor is Pia Kern",
        "fewer annoyed callers",
        "a single team",
    )

    def before(self, place):
        place.ok("init")
        for message in self.said:
            place.ok("chat", "front-door", "--session", "ann", "--quiet", message)
        mode = place.json("sessions", "show", "ann")["state"]["mode"]
        assert mode == "REVIEW", f"{mode} before the request is confirmed"

    def conversation(self, place):
        return place.json("sessions", "show", "ann")

    def again(self, place):
        """A person who got no answer, or was told that it failed, says it again."""
        if self.conversation(place)["state"]["mode"] == "REVIEW":
            place.ok(*self.command)
        # A turn does not take the project's lock; whoever takes it next removes what a killed one left, here to find no run to resume.
        place.run("resume")

    def seen(self, place):
        kept = self.conversation(place)
        messages = [(m["role"], without_ids(m["text"])) for m in kept["messages"]]
        confirmed = [at for at, message in enumerate(messages) if message == ("user", "yes")]
        # An attempt that failed was answered too.
        messages = messages[: confirmed[0]] + messages[confirmed[-1] :] if confirmed else messages
        requests = sorted((place.project / "memory/requests").rglob("*.json"))
        requests = [json.loads(file.read_text()) for file in requests]
        # `told` counts messages, also those of an attempt that failed.
        state = {name: without_ids(value) for name, value in kept["state"].items() if name != "told"}
        return json.dumps([state, messages, [[r["team_id"], r["fields"]] for r in requests], kept["open_run"]], sort_keys=True)


class Branches(Scenario):
    """A flow with three branches, two called flows and a list: the same comes out, and each thing is said once."""

    threads = True
    # A file of its pack that cannot be read is a broken one.
    codes = (0, 1, 2)
    command = ("run", "parts", "--quiet", "--input", 'items=["hello", "what is new"]')

    def before(self, place):
        place.ok("init")
        shutil.copytree(pathlib.Path(__file__).parent / "parts", place.project / "packs/parts")
        place.ok("trust", "--yes")
        # The user's key is made by the first run, whatever runs.
        place.ok(*self.command)

    def again(self, place):
        super().again(place)
        # Whoever takes the lock next removes what a killed one left.
        place.run("resume")

    def seen(self, place):
        report = place.json("runs", "show", place.runs()[0])["report"]
        return json.dumps([report["outcome"], report["output"], [m["text"] for m in report["messages"]]], sort_keys=True)


class Learn(Scenario):
    command = ("learnings", "add", "--problem", "a tab was not found", "--cause", "the tab is a locator", "--solution", "use its id", "Sheets need ids")

    def entries(self, place):
        file = place.project / "docs/learning/LEARNINGS.md"
        return len(re.findall(r"^## ", file.read_text(), re.M)) if file.exists() else 0

    def again(self, place):
        if self.entries(place) == 0:
            place.ok(*self.command)
        place.ok("learnings", "index")
        place.ok("learnings", "check")

    def seen(self, place):
        return self.entries(place)


# The longest first, so that none is left alone at the end.
SCENARIOS = {cls.__name__.lower(): cls for cls in (Turn, Branches, Modify, Build, Redo, Answer, Undo, Learn, Init)}


def without_ids(value):
    """Where something was handed over is drawn anew in each run."""
    return re.sub(r"[^\s/]+\.json", "[FILE]", value) if isinstance(value, str) else value


def follow(scenario):
    return ("-f",) if scenario.threads else ()


def calls(scenario):
    """The calls of an undisturbed run that are about its folders, those that write, those that read and those that open, each as
    (call, how many of its name came before and with it); and what is seen afterwards."""
    place = scenario.prepared()
    trace = place.root.parent / "trace"
    ran = place.run(*scenario.command, strace=("strace", *follow(scenario), "-y", "-o", str(trace), "-e", f"trace={CALLS},{READS}"))
    assert ran.returncode == scenario.ends, f"{scenario.command}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
    counts, writes, reads, opens = collections.Counter(), {}, {}, {}
    for line in trace.read_text(errors="replace").splitlines():
        thread, call = re.match(r"(\d* *)(?:([a-z0-9_]+)\()?", line).groups()
        if not call:
            continue
        counts[thread, call] += 1
        about = str(place.project) in line or str(place.home) in line
        if not about:
            continue
        found = (call, counts[thread, call])
        only_reads = call == "openat" and "O_CREAT" not in line and "O_WRONLY" not in line and "O_RDWR" not in line
        if call == "openat":
            opens[found] = None
        if call in READS.split(","):
            reads[found] = None
        elif not only_reads:
            writes[found] = None
    return list(writes), list(reads), list(opens), scenario.seen(place)


def tried(scenario, fault, call, number, expected):
    """None: it survived; else what did not hold."""
    place = scenario.prepared()
    how = "signal=KILL" if fault == "kill" else f"error={fault}"
    inject = ("strace", *follow(scenario), "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{how}:when={number}")
    try:
        disturbed = place.run(*scenario.command, strace=inject)
        if disturbed.returncode == 101 or "panicked" in disturbed.stderr:
            return f"it panicked: {disturbed.stderr}"
        if fault != "kill" and disturbed.returncode not in scenario.codes:
            return f"code {disturbed.returncode}: {disturbed.stderr}"
        place.ok("runs", "verify")
        scenario.again(place)
        if (seen := scenario.seen(place)) != expected:
            return f"another result: {seen}"
        place.ok("runs", "verify")
        if left := place.temporary():
            return f"left behind: {left}"
        return None
    except (AssertionError, subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return str(error)


def trial(name):
    """All that is tried of one scenario; how much of it did not survive."""
    drawn = random.Random(f"{os.environ.get('CRASH_SEED', '1')} {name}")
    root = pathlib.Path(tempfile.mkdtemp(prefix="agentctl-crash-", dir=PARENT))
    failed = 0
    try:
        scenario = SCENARIOS[name](root)
        writes, reads, opens, expected = calls(scenario)
        for fault in ["kill", *ERRORS]:
            places = {"kill": writes, "ENOSPC": writes, "EIO": writes + reads, "EMFILE": opens}[fault]
            if scenario.threads and fault != "kill":
                # The number may fit another thread's call, which wakes a thread and is about no file.
                places = [place for place in places if place[0] not in ("read", "write")]
            if not ALL:
                places = sorted(drawn.sample(places, min(len(places), TIMES * SHORT[fault])))
            survived = 0
            for call, number in places:
                why = tried(scenario, fault, call, number, expected)
                survived += why is None
                if why is not None:
                    print(f"  {name}: {fault} at {call} {number}: {why.strip()[:1000]}", file=sys.stderr)
            failed += len(places) - survived
            print(f"{name:<10} {fault:<7} {len(places):>6} {survived:>9}", flush=True)
    finally:
        shutil.rmtree(root)
    return failed


def main():
    print(f"{'scenario':<10} {'fault':<7} {'tried':>6} {'survived':>9}")
    wanted = [name for name in SCENARIOS if not ONLY or name in ONLY]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = sum(pool.map(trial, wanted))
    sys.exit(1 if failed else 0)


# In memory where that is at hand: what is tried is what survives the process, not the disk.
PARENT = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
if __name__ == "__main__":
    main()
