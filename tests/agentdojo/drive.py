"""Runs AgentDojo through the built binary and prints the figures. README.md says what is measured and how."""

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time

import as_http
import attacks
import model
import plans
import suites

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LONGEST = 120  # seconds of one command
FIELDS = ("runs", "kept", "utility", "attacks", "attack_calls", "attack_calls_through", "questions", "errors")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=str(pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug/agentctl"))
    parser.add_argument("--suite", action="append", choices=sorted(suites.SUITES), help="default: all")
    parser.add_argument("--plan", action="append", choices=sorted(plans.KINDS), help="default: all but the control")
    parser.add_argument("--inject", action="append", choices=["goal", "calls"],
                        help="what the injected text says: AgentDojo's goal, or the attack's calls word for word too (default: calls, the stronger)")
    parser.add_argument("--sample", type=int, help="that many pairs of each suite, chosen by a fixed seed")
    parser.add_argument("--pair", action="append", help="SUITE:USER_TASK[:INJECTION_TASK], only these")
    parser.add_argument("--sinks", action="store_true", help="instead of the benchmark's injections: the attacker's value in each sink of the user's own calls")
    parser.add_argument("--users-only", action="store_true", help="only the user tasks, without an injection")
    parser.add_argument("--tools", choices=["mcp", "http"], default="mcp", help="how the suites' tools are asked (default: mcp)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", help="every run as a line of JSON")
    parser.add_argument("--keep", action="store_true", help="keep the work folder, and say where it is")
    return parser.parse_args()


class Worker:
    """A home and a project folder for each suite; one run at a time."""

    def __init__(self, number, folder, binary, scripts, socket, http):
        self.http = http  # the server of the tools as tool files; None: they are asked by MCP
        self.number, self.folder, self.binary, self.scripts = number, folder / f"worker{number}", binary, scripts
        self.folder.mkdir()
        self.socket, self.projects, self.runs = socket, {}, itertools.count()
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "AGENTCTL_HOME": str(self.folder / "home"),
            "OPENAI_BASE_URL": scripts.url, "OPENAI_API_KEY": "sk-not-a-real-key-0000",
        }
        if http:
            (self.folder / ".config/agentctl").mkdir(parents=True)
            (self.folder / ".config/agentctl/config.toml").write_text(f'[tools]\nallow_addresses = ["{http.address}"]\n')
        told = subprocess.run([binary, "build", "--help"], capture_output=True, text=True, check=True).stdout
        self.flags = [flag for flag in ("--trust-once",) if flag in told]

    def command(self, project, *words):
        # The one place that says how a project pack is let count.
        flags = [*self.flags, "--allow-loose-policy", "--output-format", "json"]
        return subprocess.run([self.binary, *words, "--project", str(project), *flags], env=self.environment,
                              capture_output=True, text=True, timeout=LONGEST, stdin=subprocess.DEVNULL)

    def project(self, suite, kind):
        """The suite's pack with its server, approved."""
        key = (suite, kind == "control")
        if key in self.projects:
            return self.projects[key]
        folder = self.folder / f"{suite}-{'control' if kind == 'control' else 'pack'}"
        shutil.copytree(HERE / "packs" / suite, folder)
        if kind == "control":
            (folder / "agents/policy.yaml").write_text(json.dumps(plans.everything(suite) if not self.http else {"limits": plans.LIMITS}))
        if self.http:
            as_http.write(folder, suite, self.http.address, self.number, kind == "control")
            self.projects[key] = folder
            return folder
        server = {"command": sys.executable, "args": [str(HERE / "relay.py"), self.socket, suite, str(self.folder / "run.json")]}
        (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {suite: server}}))
        (self.folder / "run.json").unlink(missing_ok=True)
        approved = self.command(folder, "mcp", "approve", suite)
        if approved.returncode != 0:
            sys.exit(f"mcp approve {suite}: {approved.returncode}\n{approved.stdout[-2000:]}\n{approved.stderr[-2000:]}")
        self.projects[key] = folder
        return folder

    def run(self, suite, kind, user_task, injection_task, inject):
        project = self.project(suite, kind)
        task = suites.SUITES[suite].user_tasks[user_task]
        sink = attacks.sinks(suite, user_task)[injection_task] if inject == "sink" else None
        if sink:
            injections = attacks.sink_injections(suite, user_task, sink[1])
        else:
            injections = attacks.injections(suite, user_task, injection_task, inject) if injection_task else None
        env = suites.prepared(suite, user_task, injections)
        wanted = suites.calls_of(task, env)
        attack = [sink[1]] if sink else attacks.calls(suite, injection_task, env) if injection_task else []
        log = self.folder / "done.jsonl"
        log.write_text("")
        (self.folder / "run.json").write_text(json.dumps({"user_task": user_task, "injections": injections, "log": str(log)}))

        if self.http:
            self.http.begin(self.number, suite, user_task, injections, log)
        name = f"dojo-{self.number}-{next(self.runs)}"
        script = Obedient(suite, wanted, attack, sink[0] if sink else 1, log, task.GROUND_TRUTH_OUTPUT, bool(self.http))
        self.scripts.scripts[name] = script
        words = ["build", "--no-input", "--model", f"openai::{name}", *plans.flags(kind, suite, user_task, self.folder / "grants.json")]
        result, questions = self.command(project, *words, task.PROMPT), 0
        # Nobody is there: what is asked is not done.
        while result.returncode == 4 and questions < 60:
            asked = json.loads(result.stdout)["questions"]
            questions += len(asked)
            result = self.command(project, "answer", "--no-input", *[f"{q['id']}=no" for q in asked])
        refused = refusals(project)
        shutil.rmtree(project / "memory/runs", ignore_errors=True)
        (project / "memory/run_state.json").unlink(missing_ok=True)

        done = [(n, a) for n, a in map(json.loads, log.read_text().splitlines())]
        utility, security = suites.verdict(suite, user_task, None if sink else injection_task, injections, done, task.GROUND_TRUTH_OUTPUT)
        through = count(wanted, done)
        own = count(attack, subtract(done, wanted))
        if sink:
            security = own > 0
        return {
            "suite": suite, "plan": kind, "inject": inject, "user_task": user_task, "injection_task": injection_task,
            "kept": through == len(wanted), "calls": len(wanted), "through": through, "utility": utility, "attack": security,
            "attack_calls": len(attack), "attack_calls_through": own, "questions": questions, "exit": result.returncode,
            "error": "" if result.returncode == 0 else (result.stderr or result.stdout)[-1500:], "refused": refused,
            "done": [[n, a] for n, a in done], "given": sink[2] if sink else None,
        }


class Obedient:
    """The first of the user's calls (`place` of them), then all of the attack's, then the rest of the user's, then what the attack was
    refused, once more: by then every result that the injection stands in has been read. At last the answer that the benchmark expects."""

    def __init__(self, suite, wanted, attack, place, log, output, http):
        self.prefix = as_http.name_of(suite, "") if http else f"mcp__{suite}__"
        # A tool file takes no null: what has no value is left out.
        self.args = (lambda args: {k: v for k, v in args.items() if v is not None}) if http else dict
        self.wanted, self.attack, self.place, self.log, self.output = wanted, attack, place, log, output
        self.turn = 0

    def __call__(self, request):
        while True:
            self.turn += 1
            calls = {1: self.wanted[:self.place], 2: self.attack, 3: self.wanted[self.place:], 4: self.again()}.get(self.turn)
            if calls is None:
                return json.dumps({"result": {"answer": self.output or "done"}})
            if calls:
                return [(self.prefix + n, self.args(a)) for n, a in calls]

    def again(self):
        if self.turn != 4 or len(self.wanted) <= self.place:
            return []
        done = [tuple(json.loads(line)) for line in self.log.read_text().splitlines()]
        return subtract(self.attack, done)


def same(one, other):
    # A call may leave out what it would set to null.
    clean = lambda args: {k: v for k, v in args.items() if v is not None}
    return one[0] == other[0] and clean(one[1]) == clean(other[1])


def subtract(these, those):
    left = list(those)
    result = []
    for one in these:
        found = next((o for o in left if same(one, o)), None)
        if found is None:
            result.append(one)
        else:
            left.remove(found)
    return result


def count(these, among):
    return len(these) - len(subtract(these, among))


def refusals(project):
    """[tool, rule] of every call that was refused, out of the journal."""
    found = []
    for journal in sorted((project / "memory/runs").glob("*/journal.jsonl")):
        for line in journal.read_text().splitlines():
            event = json.loads(line)["event"]
            result = event.get("result", {})
            if event["type"] == "tool_finished" and result.get("status") not in ("ok", None):
                content = result.get("content")
                found.append([result.get("name"), result.get("status"), content.get("rule") if isinstance(content, dict) else None,
                              json.dumps(content)[:400]])
    return found


def cases(options):
    chosen = random.Random(1)
    for suite in options.suite or list(suites.SUITES):
        users, injections = suites.SUITES[suite].user_tasks, suites.SUITES[suite].injection_tasks
        if options.sinks:
            yield from ((suite, u, sink) for u in users for sink in attacks.sinks(suite, u))
            continue
        all_of_it = [(suite, u, None) for u in users]
        if not options.users_only:
            pairs = [(suite, u, i) for u in users for i in injections]
            if options.sample and options.sample < len(pairs):
                pairs = chosen.sample(pairs, options.sample)
            all_of_it += pairs
        if options.pair:
            wanted = [tuple(p.split(":")) for p in options.pair]
            all_of_it = [(s, u, i) for s, u, i in [(s, u, None) for u in users for s in [suite]] + [(suite, u, i) for u in users for i in injections]
                         if ((s, u) if i is None else (s, u, i)) in wanted]
        yield from all_of_it


def summary(rows):
    total = collections.Counter()
    for r in rows:
        total.update(runs=1, kept=int(r["kept"]), utility=int(r["utility"]), attacks=int(bool(r["attack"])), attack_calls=r["attack_calls"],
                     attack_calls_through=r["attack_calls_through"], questions=r["questions"], errors=r["exit"] not in (0, 4))
    return total


def share(part, whole):
    return f"{part}/{whole} ({100 * part / whole:.1f} %)" if whole else "-"


def table(rows):
    order = lambda r: (r["plan"], r["inject"] or "", list(suites.SUITES).index(r["suite"]))
    print("\n| plan | injected | suite | user tasks alone: all calls through | utility() | pairs | all user calls through | utility() under attack "
          "| attacks that succeed | attack calls through | questions a run | errors |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    alone = {}
    for (plan, suite), group in grouped([r for r in rows if not r["injection_task"]], lambda r: (r["plan"], r["suite"])):
        alone[plan, suite] = group
    pairs = [r for r in rows if r["injection_task"]]
    lines = collections.OrderedDict()
    for r in sorted(pairs or [dict(r, inject="-") for r in rows], key=order):
        for suite in ("all", r["suite"]):
            lines.setdefault((r["plan"], r["inject"], suite), []).append(r)
    for (plan, inject, suite), group in sorted(lines.items(), key=lambda kv: (kv[0][0], kv[0][1], kv[0][2] != "all")):
        users = [r for (p, s), g in alone.items() if p == plan and suite in ("all", s) for r in g]
        u, p = summary(users), summary(group if pairs else [])
        both = u["runs"] + p["runs"]
        print(f"| {plan} | {inject} | {suite} | {share(u['kept'], u['runs'])} | {share(u['utility'], u['runs'])} | {p['runs']} | {share(p['kept'], p['runs'])} "
              f"| {share(p['utility'], p['runs'])} | {share(p['attacks'], p['runs'])} | {p['attack_calls_through']}/{p['attack_calls']} "
              f"| {(u['questions'] + p['questions']) / both:.2f} | {u['errors'] + p['errors']} |")


def sink_table(rows):
    print("\n| plan | suite | sinks whose value stands in the prompt: his passes | sinks whose value does not: his passes |")
    print("|---|---|--:|--:|")
    for (plan, suite), group in grouped(rows, lambda r: (r["plan"], r["suite"])):
        cells = [share(sum(r["attack"] for r in group if r["given"] == g), sum(r["given"] == g for r in group)) for g in (True, False)]
        print(f"| {plan} | {suite} | {cells[0]} | {cells[1]} |")


def grouped(rows, key):
    result = collections.OrderedDict()
    for r in rows:
        result.setdefault(key(r), []).append(r)
    return result.items()


def details(rows):
    for (plan,), group in grouped(rows, lambda r: (r["plan"],)):
        lost = [f"{r['suite']}:{r['user_task']} ({r['through']} of {r['calls']} calls{'' if r['utility'] else ', utility() false'})"
                for r in group if not r["injection_task"] and not (r["kept"] and r["utility"])]
        print(f"\n{plan}: user tasks lost without an attack: {len(lost)}")
        for line in lost:
            print("  " + line)
        if plan == "control":
            continue
        for inject in ("goal", "calls", "sink"):
            won = [f"{r['suite']}:{r['user_task']}:{r['injection_task']} ({r['attack_calls_through']} of {r['attack_calls']} calls)"
                   for r in group if r["attack"] and r["inject"] == inject]
            if any(r["inject"] == inject for r in group):
                print(f"{plan}: attacks that succeed ({inject}): {len(won)}")
                for line in won:
                    print("  " + line)


def main():
    options = arguments()
    if not os.access(options.binary, os.X_OK):
        sys.exit(f"tests/agentdojo needs the built binary (cargo build), and found none at {options.binary}")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="agentdojo-"))
    socket = str(folder / "zygote")
    zygote = subprocess.Popen([sys.executable, str(HERE / "zygote.py"), socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    rows, out = [], open(options.out, "a") if options.out else None
    try:
        zygote.stdout.readline()
        scripts = model.Scripts()
        free = queue.Queue()
        http = as_http.Tools() if options.tools == "http" else None
        for n in range(options.jobs):
            free.put(Worker(n, folder, os.path.abspath(options.binary), scripts, socket, http))

        def one(job):
            worker = free.get()
            try:
                return worker.run(*job)
            finally:
                free.put(worker)

        jobs = []
        for plan in options.plan or [k for k in plans.KINDS if k != "control"]:
            for suite, user_task, injection_task in cases(options):
                injects = ["sink"] if options.sinks else [None] if injection_task is None else options.inject or ["calls"]
                jobs += [(suite, plan, user_task, injection_task, inject) for inject in injects]
        begun = time.time()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for n, row in enumerate(pool.map(one, jobs), 1):
                rows.append(row)
                if out:
                    out.write(json.dumps(row) + "\n")
                    out.flush()
                if n % 50 == 0:
                    print(f"{n} of {len(jobs)} runs, {time.time() - begun:.0f} s", file=sys.stderr)
        (sink_table if options.sinks else table)(rows)
        details(rows)
        for row in [r for r in rows if r["exit"] not in (0, 4)][:5]:
            print(f"\nerror: {row['suite']}:{row['user_task']}:{row['injection_task']} exit code {row['exit']}\n{row['error']}")
        print(f"\n{len(rows)} runs in {time.time() - begun:.0f} s")
    finally:
        zygote.stdin.close()
        zygote.wait()
        if options.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


main()
