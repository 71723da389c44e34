"""Replicas of `agentctl serve` on one Postgres for as long as is wanted, while callers talk to any of them and one after the other is killed,
stopped, cut off from its database or started anew. At the end every message stands in its conversation once, in the order in which it was
sent, with its reply; every journal verifies in every folder; and the memory that each replica had is told.

    tests/replicas/run BINARY --soak SECONDS [--from OLDER_BINARY]

With `--from` all replicas begin as another version of agentctl, and each start anew changes the version of one: old and new ones work side
by side.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import signal
import threading
import time

import replicas
from support import Mind

REPLICAS = 3
CALLERS = 6
TROUBLES = ("kill", "stand still", "cut off", "start anew")


class Soak:
    def __init__(self, binary, older, seconds, seed):
        self.binaries = [older or binary, binary]
        self.mind = Mind()
        self.mind.slow = 0.3
        replicas.BINARY = self.binaries[0]
        self.house = replicas.House(self.mind)
        self.names = [f"r{n}" for n in range(REPLICAS)]
        self.version = dict.fromkeys(self.names, 0)
        self.servers = {name: self.house.replica(name) for name in self.names}
        self.seconds, self.random = seconds, random.Random(seed)
        self.end = time.monotonic() + seconds
        self.counts, self.lock = collections.Counter(), threading.Lock()
        self.sizes = collections.defaultdict(list)

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def ask(self, rolls, path, body=None, key=None):
        """The answer of any replica; whom nobody answers, asks again."""
        for attempt in range(600):
            server = self.servers[rolls.choice(self.names)]
            try:
                status, headers, told = replicas.send(server, path, body, key, timeout=30)
            except (OSError, ValueError) as error:
                status, told = 0, error
            if status == 200:
                return headers, told
            self.count(f"answered {status}" if status else "no answer")
            assert status in (0, 429, 503), (path, status, told)
            time.sleep(min(0.05 * (attempt + 1), 1))
        raise AssertionError(f"{path} {body}: never answered, at last {told}")

    def caller(self, number):
        """One conversation after the other, each of some messages; gives what each of them was told."""
        rolls, said = random.Random(number), {}
        place = 0
        while time.monotonic() < self.end:
            place += 1
            name, sent = f"c{number}-{place}", []
            session = None
            for n in range(rolls.randint(3, 12)):
                word = f"{name}-{n}"
                text = rolls.choice([f"word {word}", f"word {word}", f"slow {word}", "which"])
                for message in (["which", "red"] if text == "which" else [text]):
                    headers, told = self.ask(rolls, "/hooks/desk", replicas.said(message, name), f"{word}-{message}")
                    self.count("turns")
                    session = headers["x-session-id"]
                    sent.append(message)
                    if rolls.random() < 0.2:
                        _, run = self.ask(rolls, f"/runs/{headers['x-run-id']}")
                        assert run["status"] in ("ended", "waiting"), run
            said[name] = (session, sent)
        return said

    def trouble(self):
        """What befalls one replica, and its end."""
        name, what = self.random.choice(self.names), self.random.choice(TROUBLES)
        server = self.servers[name]
        self.count(what)
        if what == "stand still":
            server.child.send_signal(signal.SIGSTOP)
            time.sleep(self.random.uniform(1, 3 * replicas.LEASE))
            server.child.send_signal(signal.SIGCONT)
        elif what == "cut off":
            self.house.way(name).cut()
            time.sleep(self.random.uniform(1, 3 * replicas.LEASE))
            self.house.way(name).mend()
        else:
            if what == "kill":
                server.kill()
                time.sleep(self.random.uniform(0, 2 * replicas.LEASE))
            else:
                assert server.stop() in (0, 143), server.said()[-2000:]
                self.version[name] = 1 - self.version[name]
            replicas.BINARY = self.binaries[self.version[name]]
            self.servers[name] = self.house.replica(name)

    def troubles(self):
        while time.monotonic() < self.end:
            time.sleep(self.random.uniform(1, 6))
            self.trouble()
            for name, server in self.servers.items():
                self.sizes[name].append(server.rss())

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(CALLERS + 1) as pool:
            troubles = pool.submit(self.troubles)
            callers = [pool.submit(self.caller, number) for number in range(CALLERS)]
            said = {}
            for caller in callers:
                said.update(caller.result())
            troubles.result()
        self.judge(said)

    def judge(self, said):
        for name, (session, sent) in said.items():
            shown = [replicas.send(server, f"/sessions/{session}")[2]["messages"] for server in self.servers.values()]
            for messages in shown:
                assert messages == shown[0], name
            told = [message["text"] for message in shown[0] if message["role"] == "user"]
            assert told == sent, f"{name}: sent {sent}, kept {told}"
            roles = [message["role"] for message in shown[0]]
            assert roles == ["user", "assistant"] * len(sent), f"{name}: {roles}"
        replicas.BINARY = self.binaries[1]
        for name in self.names:
            self.house.cli(name, "runs", "verify")
        told = ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))
        print(f"{self.seconds} s, {REPLICAS} replicas, {CALLERS} callers, {len(said)} conversations: {told}")
        for name, sizes in sorted(self.sizes.items()):
            print(f"{name}: resident {sizes[0]:.0f} MiB at first, {sizes[-1]:.0f} at last, {max(sizes):.0f} at most")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("binary")
    options.add_argument("--soak", type=int, required=True, metavar="SECONDS")
    options.add_argument("--from", dest="older", metavar="OLDER_BINARY")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    soak = Soak(os.path.abspath(given.binary), given.older and os.path.abspath(given.older), given.soak, given.seed)
    try:
        soak.run()
    finally:
        soak.house.close()
