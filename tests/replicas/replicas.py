"""Two replicas of `agentctl serve`, each with a project folder of its own, on one Postgres: a conversation goes on at either; events of
a run are told by either; a killed, stopped or cut off replica's turn is taken over when its lease ran out, and its late writes count for
nothing; the chain of every journal holds, and both folders have the same bytes.

    tests/replicas/run [BINARY [-k WORD] [--figures TURNS]]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from support import FILES, Mind, Server, TOKEN, Told, Way, database

LEASE = 2
ADDRESS = os.environ["AGENTCTL_TEST_POSTGRES"]
SETTINGS = """
[sessions]
url_env = "STORE"
[journal]
url_env = "STORE"
lease = {lease}
"""
MODELS = """
[serve]
packs = ["desk"]
[serve.clients.load]
bearer_env = "OTHER_TOKEN"
per_minute = 1000000
tenants = ["*"]
may = ["turn", "read", "approve", "cancel", "admin"]
[models]
default = "mine::m"
[providers.mine]
kind = "openai"
base_url = "http://127.0.0.1:{port}/v1/"
api_key_env = "MINE_KEY"
[prices."mine::m"]
input = 0
output = 0
"""
A2A = {"a2a-version": "1.0", "x-tenant-id": "ann", "x-user-id": "ann"}
BINARY = None


def send(server, path, body=None, key=None, timeout=60, more=None):
    headers = {"authorization": f"Bearer {TOKEN[::-1]}", "content-type": "application/json", **(more or {})}
    if key:
        headers["idempotency-key"] = key
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(server.url + path, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


class House:
    """A database of its own, a user's home, and replicas in folders of their own."""

    number = 0

    def __init__(self, mind, shared=True, direct=False):
        House.number += 1
        self.shared, self.mind, self.folder = shared, mind, tempfile.TemporaryDirectory()
        self.root, self.ways, self.all = pathlib.Path(self.folder.name), {}, []
        self.direct = direct
        self.database = f"replicas{os.getpid()}_{House.number}"
        query("postgres", f"CREATE DATABASE {self.database}")

    def way(self, name):
        return self.ways.setdefault(name, Way(ADDRESS))

    def env(self, name):
        if self.direct:
            # No way that could be cut, and that would cost time of its own.
            address = urllib.parse.urlsplit(ADDRESS)
            store = address._replace(path=f"/{self.database}").geturl()
        else:
            store = self.way(name).url(self.database)
        # The last two as the compose file calls them.
        return {"STORE": store, "MINE_KEY": "k" * 24, "AGENTCTL_STORE": store, "CALLER_TOKEN": TOKEN[::-1]}

    def replica(self, name, more=(), settings=None):
        if settings is None:
            settings = MODELS.format(port=self.mind.server_port) + (SETTINGS.format(lease=LEASE) if self.shared else "")
        folder = self.root / name
        for path, text in FILES.items():
            file = folder / "project/packs/desk" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        server = Server(BINARY, settings, str(folder), more, home=str(self.root / "home"), env=self.env(name))
        self.all.append(server)
        return server

    def cli(self, name, *args, code=0, env=None):
        environment = {**self.all[0].env, **self.env(name), **(env or {})}
        command = [os.path.abspath(BINARY), "--trust-once", *args]
        ran = subprocess.run(command, cwd=self.root / name / "project", env=environment, capture_output=True, text=True, timeout=120)
        assert ran.returncode == code, f"{args}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
        return ran.stdout + ran.stderr

    def close(self):
        for server in self.all:
            if server.child.poll() is None:
                server.child.send_signal(signal.SIGCONT)
                server.kill()
            server.log.close()
            server.child.stdout.close()
        self.folder.cleanup()


def query(name, statement):
    return database.query(ADDRESS, name, statement)


def said(text, conversation="c", user="ann"):
    return {"text": text, "user": user, "conversation": conversation}


def turn(server, text, conversation="c", key=None, timeout=60):
    return send(server, "/hooks/desk", said(text, conversation), key, timeout)


def later(work, *args, **more):
    pool = concurrent.futures.ThreadPoolExecutor(1)
    return pool.submit(work, *args, **more)


def until(what, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come within {seconds} s")


def records(server, run):
    headers = {"authorization": f"Bearer {TOKEN[::-1]}"}
    request = urllib.request.Request(f"{server.url}/runs/{run}/events?view=all", headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


class Replicas(unittest.TestCase):
    def setUp(self):
        self.mind = Mind()
        self.house = House(self.mind)
        self.addCleanup(self.house.close)
        self.one, self.two = self.house.replica("one"), self.house.replica("two")

    def journal(self, name, run):
        return (self.house.root / name / "project/memory/runs" / run / "journal.jsonl").read_bytes()

    def whole(self, *runs):
        """Both folders verify every journal, and have these runs to the byte."""
        for name in ("one", "two"):
            self.house.cli(name, "runs", "verify")
        for run in runs:
            self.assertEqual(self.journal("one", run), self.journal("two", run))

    def messages(self, server, session):
        return [(m["role"], m["text"]) for m in send(server, f"/sessions/{session}")[2]["messages"]]

    def begun(self, server, text, conversation):
        """A slow turn that has asked its model, and its run."""
        asked = self.mind.count("plan: ")
        going = later(turn, server, text, conversation, key=conversation)
        until(lambda: self.mind.count("plan: ") > asked)
        runs = until(lambda: [r for r in send(server, "/runs")[2]["runs"] if r["said"] == text])
        return going, runs[0]["run_id"], runs[0]["session_id"]

    def test_a_question_that_one_asked_is_answered_at_the_other(self):
        status, headers, asked = turn(self.one, "which")
        self.assertEqual(status, 200, asked)
        run, session = headers["x-run-id"], headers["x-session-id"]
        shown = send(self.two, f"/runs/{run}")[2]
        self.assertEqual((shown["status"], shown["question"]["id"]), ("waiting", "colour"))
        status, headers, told = turn(self.two, "red")
        self.assertEqual((status, headers["x-run-id"]), (200, run), told)
        self.assertEqual(send(self.one, f"/runs/{run}")[2]["status"], "ended")
        self.assertEqual(self.messages(self.one, session), self.messages(self.two, session))
        # And by its id, at the door of answers, asked on the second one and answered on the first.
        run = turn(self.two, "which", "d")[1]["x-run-id"]
        status, _, told = send(self.one, f"/runs/{run}/answers", {"colour": "blue"})
        self.assertEqual(status, 200, told)
        self.assertEqual(send(self.two, f"/runs/{run}")[2]["outcome"], "complete")
        self.whole(run)

    def test_events_of_a_run_are_told_by_the_other_as_they_come(self):
        self.mind.slow = 3
        going, run, _ = self.begun(self.one, "slow events", "e")
        began, came = time.monotonic(), []
        headers = {"authorization": f"Bearer {TOKEN[::-1]}"}
        request = urllib.request.Request(f"{self.two.url}/runs/{run}/events?view=all", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    came.append((time.monotonic() - began, json.loads(line[6:])))
        self.assertEqual(going.result()[0], 200)
        # The first ones at once, the last ones when they were written, and the same as where it was written.
        self.assertLess(came[0][0], 1.5)
        self.assertGreater(came[-1][0], 1.5)
        self.assertEqual([event for _, event in came], records(self.one, run))
        self.whole(run)

    def test_turns_of_one_conversation_keep_one_order_at_both_doors(self):
        def ask(n):
            for _ in range(60):
                status, _, body = turn(self.one if n % 2 else self.two, f"word{n}", "order", key=f"k{n}")
                if status == 200:
                    return body
                assert status in (429, 503), body
                time.sleep(0.1)
            raise AssertionError("never answered")

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            list(pool.map(ask, range(30)))
        session = turn(self.one, "last", "order")[1]["x-session-id"]
        for server in (self.one, self.two):
            messages = self.messages(server, session)
            self.assertEqual([role for role, _ in messages], ["user", "assistant"] * 31)
            words = [text for role, text in messages if role == "user"]
            self.assertEqual(sorted(words), sorted([f"word{n}" for n in range(30)] + ["last"]))
            replies = [text for role, text in messages if role == "assistant"]
            self.assertEqual(replies, [f"You said: {word}" for word in words])
        self.whole()

    def test_requests_of_a_client_are_counted_at_both(self):
        settings = MODELS.format(port=self.mind.server_port) + SETTINGS.format(lease=LEASE)
        settings = settings.replace("per_minute = 1000000", "per_minute = 6")
        three, four = (self.house.replica(name, settings=settings) for name in ("three", "four"))
        asked = [send(server, "/runs") for server in (three, four) * 4]
        self.assertEqual([status for status, _, _ in asked[:6]], [200] * 6)
        for status, headers, _ in asked[6:]:
            self.assertEqual(status, 429)
            self.assertTrue(1 <= int(headers["retry-after"]) <= 10, headers["retry-after"])
        # Where they cannot be counted, nobody is let in.
        self.house.way("three").cut()
        self.assertEqual(send(three, "/runs")[0], 503)

    def asked(self, server, receiver, path):
        """A task that waits for an answer, whose events are told to a receiver."""
        message = {"messageId": path, "role": "ROLE_USER", "parts": [{"text": "which"}]}
        told = {"message": message, "configuration": {"taskPushNotificationConfig": {"url": receiver.url(path)}}}
        status, _, answer = send(server, "/agents/desk/a2a/v1/message:send", told, more=A2A)
        self.assertEqual(status, 200, answer)
        self.assertEqual(answer["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", answer)
        states = lambda: [e["statusUpdate"]["status"]["state"] for e in receiver.of(path) if "statusUpdate" in e]  # noqa: E731
        until(lambda: "TASK_STATE_INPUT_REQUIRED" in states())
        return answer["task"], states

    def answered(self, server, task):
        message = {"messageId": task["id"], "taskId": task["id"], "role": "ROLE_USER", "parts": [{"text": "red"}]}
        status, _, answer = send(server, "/agents/desk/a2a/v1/message:send", {"message": message}, more=A2A)
        self.assertEqual((status, answer["task"]["status"]["state"]), (200, "TASK_STATE_COMPLETED"), answer)

    def test_a_receiver_is_told_each_thing_once_and_goes_on_being_told_when_its_replica_is_gone(self):
        # Those that may not tell this machine anything are none of them.
        self.one.stop()
        self.two.stop()
        own = self.house.root / "home/.config/agentctl/config.toml"
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text('[serve]\npush_addresses = ["127.0.0.1"]\n')
        receiver = Told()
        one, two = self.house.replica("four"), self.house.replica("five")
        first, of_first = self.asked(one, receiver, "first")
        # Who starts later finds what is still to be told, and that it is told.
        three = self.house.replica("six")
        self.answered(two, first)
        until(lambda: of_first()[-1:] == ["TASK_STATE_COMPLETED"], 40)
        killed, of_killed = self.asked(one, receiver, "killed")
        stopped, of_stopped = self.asked(two, receiver, "stopped")
        one.kill()
        # What it had is free when its time is over; here it is over now.
        query(self.house.database, "UPDATE agentctl_tellers SET until = clock_timestamp() WHERE until > clock_timestamp()")
        two.stop()
        for task in (killed, stopped):
            self.answered(three, task)
        for states in (of_killed, of_stopped):
            until(lambda states=states: states()[-1:] == ["TASK_STATE_COMPLETED"], 60)
        time.sleep(3)
        for path in ("first", "killed", "stopped"):
            told = [json.dumps(event, sort_keys=True) for event in receiver.of(path)]
            self.assertEqual(len(set(told)), len(told), told)
        for states in (of_first, of_killed, of_stopped):
            self.assertEqual(states().count("TASK_STATE_COMPLETED"), 1)

    def test_a_turn_is_cancelled_at_the_other(self):
        self.mind.slow = 8
        going, run, session = self.begun(self.one, "slow cancel", "x")
        began = time.monotonic()
        status, _, told = send(self.two, f"/runs/{run}/cancel", {})
        self.assertEqual((status, told["status"]), (202, "running"), told)
        status, _, told = going.result()
        self.assertEqual(status, 409, told)
        self.assertLess(time.monotonic() - began, 6)
        # It is at its end for both, and the conversation goes on.
        self.mind.slow = 0
        for server in (self.one, self.two):
            self.assertEqual(send(server, f"/runs/{run}")[2]["outcome"], "cancelled")
        self.assertEqual(turn(self.two, "more", "x")[0], 200)
        self.whole(run)

    def taken_over(self, run, session, text):
        """The other one brings the turn to its end, once."""
        until(lambda: send(self.two, f"/runs/{run}")[2].get("status") == "ended")
        self.assertEqual(send(self.two, f"/runs/{run}")[2]["outcome"], "complete")
        until(lambda: self.messages(self.two, session) == [("user", text), ("assistant", f"You said: {text}")])
        # What was answered before is not asked again; what was under way is, once.
        self.assertEqual((self.mind.count("first: "), self.mind.count("plan: ")), (1, 2))

    def test_a_killed_replicas_turn_is_taken_over_when_its_lease_ran_out(self):
        self.mind.slow = 4
        going, run, session = self.begun(self.one, "slow kill", "k")
        self.mind.slow = 0
        self.one.kill()
        killed = time.monotonic()
        with self.assertRaises(Exception):
            going.result()
        self.taken_over(run, session, "slow kill")
        took = time.monotonic() - killed
        print(f"killed: taken over and at its end {took:.1f} s after the kill, with a lease of {LEASE} s")
        self.assertGreater(took, LEASE / 2)
        # Sent again, it is answered as it came out.
        status, headers, told = turn(self.two, "slow kill", "k", key="k")
        self.assertEqual((status, headers["x-run-id"]), (200, run), told)
        self.one = self.house.replica("one")
        self.assertEqual(send(self.one, f"/runs/{run}")[2]["outcome"], "complete")
        self.whole(run)

    def test_who_sends_the_message_again_to_the_other_waits_for_the_lease_and_gets_the_reply(self):
        self.mind.slow = 4
        going, run, session = self.begun(self.one, "slow again", "a")
        self.mind.slow = 0
        self.one.kill()
        with self.assertRaises(Exception):
            going.result()
        status, headers, told = turn(self.two, "slow again", "a", key="a")
        self.assertEqual((status, headers["x-run-id"]), (200, run), told)
        self.taken_over(run, session, "slow again")

    def test_a_replica_that_was_stopped_too_long_has_lost_and_its_late_writes_count_for_nothing(self):
        self.mind.slow = 3
        going, run, session = self.begun(self.one, "slow stop", "s")
        self.mind.slow = 0
        self.one.child.send_signal(signal.SIGSTOP)
        # Its connections stay open, and with them the conversation is its own, until the other one takes that, too.
        self.taken_over(run, session, "slow stop")
        before = self.journal("two", run)
        self.one.child.send_signal(signal.SIGCONT)
        status, _, told = going.result()
        self.assertEqual(status, 503, told)
        self.assertIn("taken over by another", told["detail"])
        self.assertEqual(self.messages(self.one, session), [("user", "slow stop"), ("assistant", "You said: slow stop")])
        # Sent again, it is answered as it came out, by either.
        for server in (self.one, self.two):
            status, headers, told = turn(server, "slow stop", "s", key="s")
            self.assertEqual((status, headers["x-run-id"]), (200, run), told)
        self.assertEqual(send(self.one, f"/runs/{run}")[2]["outcome"], "complete")
        self.assertEqual(self.journal("two", run), before)
        self.whole(run)

    def test_a_replica_without_its_database_answers_503_and_the_turn_is_settled_by_the_other(self):
        self.mind.slow = 2
        going, run, session = self.begun(self.one, "slow cut", "n")
        self.mind.slow = 0
        self.house.way("one").cut()
        status, _, told = going.result()
        self.assertEqual(status, 503, told)
        self.assertIn("cannot be reached", told["detail"])
        self.taken_over(run, session, "slow cut")
        self.assertEqual(turn(self.one, "hello", "n2")[0], 503)
        self.house.way("one").mend()
        status, _, told = until(lambda: (lambda got: got if got[0] == 200 else None)(turn(self.one, "hello", "n2")))
        self.assertEqual(turn(self.one, "more", "n")[0], 200)
        self.whole(run)

    def test_a_database_that_is_away_at_the_start_is_exit_code_7_and_names_no_password(self):
        url = "postgres://ann:hunter2@127.0.0.1:1/x"
        told = self.house.cli("one", "serve", "--listen", "127.0.0.1:0", code=7, env={"STORE": url})
        self.assertIn("127.0.0.1:1/x", told)
        self.assertNotIn("hunter2", told)
        for args in (["runs", "list"], ["runs", "verify"]):
            self.assertIn("cannot be reached", self.house.cli("one", *args, code=7, env={"STORE": url}))

    def test_two_replicas_serve_with_the_settings_of_the_compose_file(self):
        folder = pathlib.Path(__file__).resolve().parents[2] / "packaging/compose"
        # What the file itself gives the replicas, by the names that the settings ask for.
        told = (folder / "compose.yaml").read_text()
        for name in ("AGENTCTL_STORE", "CALLER_TOKEN", "agentctl.toml:/work/agentctl.toml:ro", "--trust-once, serve"):
            self.assertIn(name, told)
        house = House(self.mind)
        self.addCleanup(house.close)
        settings = (folder / "agentctl.toml").read_text()
        both = [house.replica(name, settings=settings) for name in ("a", "b")]
        body = {"text": "I need a report of open invoices every Monday", "from": {"id": "ann"}, "conversation": {"id": "c", "tenantId": "acme"}}
        status, _, told = send(both[0], "/hooks/front-door", body)
        self.assertEqual(status, 200, told)
        status, headers, told = send(both[1], "/hooks/front-door", {**body, "text": "Nadia is the sponsor"})
        self.assertEqual(status, 200, told)
        messages = send(both[0], f"/sessions/{headers['x-session-id']}")[2]["messages"]
        self.assertEqual([m["role"] for m in messages], ["user", "assistant"] * 2)

    def test_tables_of_an_older_agentctl_are_refused_until_serve_is_told_to_change_them(self):
        run = turn(self.one, "hello")[1]["x-run-id"]
        self.one.stop()
        self.two.stop()
        query(self.house.database, "DROP TABLE agentctl_pushes; DELETE FROM agentctl_migrations WHERE version = 3")
        told = self.house.cli("one", "serve", "--listen", "127.0.0.1:0", code=1)
        self.assertIn("serve --migrate", told)
        self.one = self.house.replica("one", ("--migrate",))
        self.two = self.house.replica("two")
        self.assertEqual(send(self.two, f"/runs/{run}")[2]["outcome"], "complete")
        self.assertEqual(turn(self.two, "more")[0], 200)

    def test_the_address_stands_nowhere(self):
        run = turn(self.one, "hello")[1]["x-run-id"]
        way = self.house.way("one")
        for file in (self.house.root / "one").rglob("*"):
            if file.is_file():
                self.assertNotIn(f"127.0.0.1:{way.port}".encode(), file.read_bytes(), file)
        self.assertTrue(run)

    def test_runs_move_between_the_database_and_folders_both_ways(self):
        runs = [turn(self.one, f"word{n}", f"m{n}")[1]["x-run-id"] for n in range(3)]
        out = self.house.root / "out"
        out.mkdir()
        self.house.cli("two", "runs", "export", "--all", str(out))
        self.assertEqual(sorted(f.name for f in out.iterdir()), sorted(f"{run}.run.jsonl" for run in runs))
        # Into a folder that shares nothing.
        (self.house.root / "alone/project").mkdir(parents=True)
        self.house.cli("alone", "runs", "import", str(out))
        self.assertIn(runs[0], self.house.cli("alone", "runs", "verify", "--output-format", "json"))
        for run in runs:
            shared, alone = self.journal("two", run).splitlines(), self.journal("alone", run).splitlines()
            without = lambda lines: [{k: v for k, v in json.loads(line).items() if k != "mark"} for line in lines]
            self.assertEqual(without(shared), without(alone))
        # And into another database.
        other = House(self.mind)
        self.addCleanup(other.close)
        three = other.replica("three")
        back = self.house.root / "back"
        back.mkdir()
        self.house.cli("alone", "runs", "export", "--all", str(back))
        other.all[0].env.update({k: self.one.env[k] for k in ("HOME", "AGENTCTL_HOME")})
        other.cli("three", "runs", "import", str(back))
        (other.root / "four/project").mkdir(parents=True)
        (other.root / "four/project/agentctl.toml").write_text(SETTINGS.format(lease=LEASE))
        other.cli("four", "runs", "verify", runs[0])
        again = other.cli("four", "runs", "import", str(back))
        self.assertIn("3 here already", again)
        self.assertTrue(three)

    def test_a_conversation_that_is_erased_at_one_is_gone_at_both(self):
        status, headers, _ = turn(self.one, "secret word", "g")
        run, session = headers["x-run-id"], headers["x-session-id"]
        send(self.two, f"/runs/{run}")
        self.assertTrue(self.journal("two", run))
        request = urllib.request.Request(f"{self.one.url}/sessions/{session}", method="DELETE", headers={"authorization": f"Bearer {TOKEN[::-1]}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                self.assertEqual(answer.status, 200)
        except urllib.error.HTTPError as error:
            self.fail(error.read())
        self.assertEqual(send(self.two, f"/runs/{run}")[0], 404)
        self.two.stop()
        self.two = self.house.replica("two")
        until(lambda: not (self.house.root / "two/project/memory/runs" / run).exists(), 10)


def spent(pid):
    """Processor time of a process and of those children that it waited for, in seconds; of one that is gone its parent knows."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def below(pid):
    """A process and all that it began, which live."""
    try:
        file = open(f"/proc/{pid}/task/{pid}/children")
    except FileNotFoundError:
        return []
    with file:
        return [pid, *(one for child in file.read().split() for one in below(int(child)))]


def by_database():
    """Processor time of the database, of its processes that live and of those that it saw end."""
    # The postmaster is the parent of whoever answers.
    backend = int(query("postgres", "SELECT pg_backend_pid()")[0])
    with open(os.path.join(query("postgres", "SHOW data_directory")[0], "postmaster.pid")) as file:
        postmaster = int(file.readline())
    return sum(spent(pid) for pid in below(postmaster) if pid != backend)


def written():
    """What the database wrote to its log of changes, in bytes."""
    return int(float(query("postgres", "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")[0]))


def figures(turns):
    """What a turn costs: journals in files and conversations in SQLite, against both in Postgres, with one, two and four replicas.
    Times on the clock are the machine's and its other work's; processor time, bytes and statements are the turn's."""
    mind = Mind()

    def measure(name, shared, count):
        house = House(mind, shared, direct=True)
        try:
            servers = [house.replica(f"r{n}") for n in range(count)]
            for server in servers:
                turn(server, "warm", "warm" + server.url[-4:])

            size = lambda: int(query("postgres", f"SELECT pg_database_size('{house.database}')")[0])  # noqa: E731
            calls = lambda: int(query(house.database, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")[0])  # noqa: E731
            held, asked = (size(), calls()) if shared else (0, 0)

            def cost():
                of_servers = sum(spent(server.child.pid) for server in servers)
                return (of_servers, by_database(), written()) if shared else (of_servers, 0, 0)

            before, alone = cost(), []
            for n in range(turns):
                began = time.monotonic()
                assert turn(servers[n % count], f"w{n}", f"a{n % 20}")[0] == 200
                alone.append(time.monotonic() - began)
            alone.sort()
            between = cost()
            began = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                done = list(pool.map(lambda n: turn(servers[n % count], f"w{n}", f"b{n % 64}-{n % count}")[0], range(turns)))
            took = time.monotonic() - began
            assert set(done) == {200}, set(done)
            after = cost()

            def each(of, until):
                server, base, bytes_ = ((late - early) / turns for early, late in zip(of, until))
                return f"{server * 1000:.1f} ms of the servers' processor time, {base * 1000:.1f} ms of the database's, {bytes_ / 1024:.1f} KiB of its log"

            print(
                f"{name}: one at a time p50 {alone[len(alone) // 2] * 1000:.1f} ms, p99 {alone[int(len(alone) * 0.99)] * 1000:.1f} ms "
                f"({each(before, between)}); 16 at once {turns / took:.0f} turns a second ({each(between, after)})",
                flush=True,
            )
            if shared:
                print(f"    {(size() - held) / 2 / turns / 1024:.1f} KiB a turn are kept in the database; {(calls() - asked) / 2 / turns:.1f} transactions a turn", flush=True)
        finally:
            house.close()

    measure("files, one server", False, 1)
    measure("Postgres, one replica", True, 1)
    measure("Postgres, two replicas", True, 2)
    measure("Postgres, four replicas", True, 4)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("binary")
    options.add_argument("-k", default=None)
    options.add_argument("--figures", type=int, default=0)
    given = options.parse_args()
    BINARY = given.binary
    if given.figures:
        figures(given.figures)
    else:
        unittest.main(argv=["replicas", "-v", *(["-k", given.k] if given.k else [])], warnings="ignore")
