"""A server of the built binary in a folder of its own, for as long as a test takes."""

import json
import os
import signal
import subprocess
import tempfile

TOKEN = "0123456789abcdef0123456789abcdef"


class Server:
    def __init__(self, binary, settings="", folder=None, more=(), home=None, env=None):
        self.kept = None if folder else tempfile.TemporaryDirectory()
        self.folder = folder or self.kept.name
        project, home = os.path.join(self.folder, "project"), home or os.path.join(self.folder, "home")
        os.makedirs(project, exist_ok=True)
        if settings:
            with open(os.path.join(project, "agentctl.toml"), "w") as file:
                file.write(settings)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "AGENTCTL_HOME": home,
            "AGENTCTL_LOOK": "no",
            "AGENTCTL_SERVE_TOKEN": TOKEN,
            "DEMO_PASSWORD": "demo",
            "OTHER_TOKEN": TOKEN[::-1],
            **(env or {}),
        }
        self.log = open(os.path.join(self.folder, "log"), "ab")
        command = [os.path.abspath(binary), "--trust-once", "serve", "--listen", "127.0.0.1:0", "--ready-json", *more]
        self.child = subprocess.Popen(command, cwd=project, env=self.env, stdout=subprocess.PIPE, stderr=self.log)
        ready = self.child.stdout.readline()
        if not ready:
            raise SystemExit(f"the server did not start: {open(self.log.name).read()}")
        self.url = json.loads(ready)["address"]
        self.port = int(self.url.rsplit(":", 1)[1])

    def said(self):
        with open(self.log.name) as file:
            return file.read()

    def rss(self):
        """Resident memory, in MiB."""
        with open(f"/proc/{self.child.pid}/status") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["VmRSS"].split()[0]) / 1024

    def kill(self):
        self.child.kill()
        self.child.wait()

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.kill()
