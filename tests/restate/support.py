"""A server of Restate, and workers of the built binary, for as long as a test takes."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, "..", "conformance")]
from desk import lay  # noqa: E402
from way import Way  # noqa: E402

SETTINGS = """node-name = "one"
cluster-name = "test"
disable-telemetry = true
default-num-partitions = 2
rocksdb-total-memory-size = "256.0 MiB"
listen-mode = "tcp"
bind-ip = "127.0.0.1"
bind-port = {node}
{more}
[ingress]
bind-port = {ingress}
[admin]
bind-port = {admin}
disable-web-ui = true
"""


def free_ports(count):
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


def until(what, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come within {seconds} s")


class Restate:
    def __init__(self, folder, more=""):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        node, self.ingress, self.admin = free_ports(3)
        (self.folder / "restate.toml").write_text(SETTINGS.format(node=node, ingress=self.ingress, admin=self.admin, more=more))
        self.start()

    def start(self):
        command = [os.environ["RESTATE_SERVER"], "--no-logo", "-c", str(self.folder / "restate.toml"), "--base-dir", str(self.folder / "data")]
        self.log = open(self.folder / "log", "ab")
        self.child = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        until(lambda: self.is_up() or self.child.poll() is not None, 60)
        if self.child.poll() is not None:
            raise SystemExit(f"the server of Restate did not start: {(self.folder / 'log').read_text()[-2000:]}")

    def is_up(self):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/health", timeout=2).close()
            return True
        except OSError:
            return False

    def kill(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.log.close()

    @property
    def admin_url(self):
        return f"http://127.0.0.1:{self.admin}"

    def call(self, path, body=None, key=None, timeout=120):
        """Status and JSON of what the ingress answers."""
        headers = {"content-type": "application/json"} if body is not None else {}
        if key:
            headers["idempotency-key"] = key
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.ingress}/{path}", data=data, headers=headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def query(self, statement):
        request = urllib.request.Request(self.admin_url + "/query", json.dumps({"query": statement}).encode(), {"content-type": "application/json", "accept": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["rows"]


class Switch(Way):
    """The one address of several workers: a connection goes to the first of them that is there."""

    def __init__(self, *ports):
        self.ports = list(ports)
        super().__init__("tcp://127.0.0.1:1")

    def connect(self):
        for port in self.ports:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=5)
            except OSError:
                continue
        raise OSError("no worker is there")


class Worker:
    """A worker in a project folder of its own, or in one that is there already."""

    def __init__(self, binary, folder, restate, outside, home=None, settings="", env=None, more=(), url=None, port=0):
        self.folder = pathlib.Path(folder)
        self.project, self.home = self.folder / "project", pathlib.Path(home or self.folder / "home")
        text = lay(self.project, self.home, outside.server_port)
        (self.project / "agentctl.toml").write_text(text + settings)
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(self.home), "AGENTCTL_HOME": str(self.home), "AGENTCTL_LOOK": "no",
            "AGENTCTL_CONFIG": str(self.home / "config.toml"), "OTHER_TOKEN": "t" * 32, "MINE_KEY": "k" * 24,
            "DESK_URL": f"http://127.0.0.1:{outside.server_port}", **(env or {}),
        }
        self.binary = os.path.abspath(binary)
        self.command = [self.binary, "--trust-once", "worker", "--restate", restate.admin_url, "--ready-json", *more]
        self.command += ["--url", url] if url else []
        self.port = port or free_ports(1)[0]
        self.start()

    def start(self, env=None):
        self.log = open(self.folder / "log", "ab")
        command = [*self.command, "--listen", f"127.0.0.1:{self.port}"]
        self.child = subprocess.Popen(command, cwd=self.project, env={**self.env, **(env or {})}, stdout=subprocess.PIPE, stderr=self.log)
        ready = self.child.stdout.readline()
        if not ready:
            raise SystemExit(f"the worker did not start: {self.said()}")
        self.ready = json.loads(ready)

    def said(self):
        return (self.folder / "log").read_text()

    def kill(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGCONT)
            self.child.kill()
        self.child.wait()
        self.child.stdout.close()
        self.log.close()

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(90)

    def cli(self, *args, code=0, env=None):
        ran = subprocess.run([self.binary, "--trust-once", *args], cwd=self.project, env={**self.env, **(env or {})}, capture_output=True, text=True, timeout=120)
        assert ran.returncode == code, f"{args}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
        return ran.stdout + ran.stderr

    def journal(self, run):
        return (self.project / "memory/runs" / run / "journal.jsonl").read_bytes()

    def runs(self):
        return sorted(place.name for place in (self.project / "memory/runs").iterdir()) if (self.project / "memory/runs").exists() else []


def apart(work, *args, **more):
    """Does something beside; what came of it is in the list that is returned, once it is there."""
    got = []

    def do():
        try:
            got.append(work(*args, **more))
        except Exception as error:  # What became of it is looked at by who asked.
            got.append(error)

    threading.Thread(target=do, daemon=True).start()
    return got
