"""Turns that a server of Restate hands out: a turn, a question answered, a refused word; workers and the server killed in the middle of
a turn. What a run did, as its journal tells it, is what an undisturbed run on files did, and nothing is paid or done twice.

    tests/restate/run [BINARY [-k WORD]]
"""

import argparse
import base64
import json
import os
import pathlib
import re
import sys
import tempfile
import threading
import unittest
import urllib.request

from support import Restate, Worker, apart, until

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "serve"))
from desk import CALLS, Outside, did, lay  # noqa: E402
from server import Server  # noqa: E402

BINARY = None


def said(reply):
    return [message["text"] for message in reply["messages"]]


class Turns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.outside = Outside()
        cls.restate = Restate(cls.root / "restate")
        cls.worker = Worker(BINARY, cls.root / "one", cls.restate, cls.outside)
        cls.plain = cls.undisturbed("order"), cls.undisturbed("ask me", "red")

    @classmethod
    def tearDownClass(cls):
        cls.worker.kill()
        cls.restate.kill()
        cls.folder.cleanup()

    @classmethod
    def undisturbed(cls, *messages):
        """What a run of `serve` on files does."""
        folder = cls.root / f"plain{len(messages)}"
        settings = lay(folder / "project", folder / "home", cls.outside.server_port)
        env = {k: v for k, v in cls.worker.env.items() if k not in ("PATH", "HOME", "AGENTCTL_HOME")}
        env["AGENTCTL_CONFIG"] = str(folder / "home/config.toml")
        with Server(BINARY, settings, str(folder), env=env) as server:
            for text in messages:
                body = json.dumps({"action": "sendMessage", "sessionId": "c", "chatInput": text}).encode()
                headers = {"authorization": f"Bearer {'t' * 32}", "content-type": "application/json"}
                with urllib.request.urlopen(urllib.request.Request(server.url + "/chat/desk", body, headers), timeout=60) as answer:
                    run = answer.headers["x-run-id"]
        return did((folder / "project/memory/runs" / run / "journal.jsonl").read_bytes())

    def setUp(self):
        self.outside.reset()

    def same(self, run, plain):
        self.worker.cli("runs", "verify", run)
        self.assertEqual(did(self.worker.journal(run)), plain)

    def once(self, *calls):
        self.assertEqual(self.outside.did, list(calls))

    def test_a_turn_and_the_next_one_of_its_conversation(self):
        status, reply = self.restate.call("Session/desk:turn/start", {"message": "order"})
        self.assertEqual((status, reply["outcome"]), (200, "complete"), reply)
        self.assertEqual(said(reply), ["Done: l, noted: done"])
        self.once(*CALLS)
        self.same(reply["run_id"], self.plain[0])
        status, second = self.restate.call("Session/desk:turn/start", {"message": "quick"})
        self.assertEqual((status, said(second)), (200, ["Quick."]))
        self.assertEqual(second["session_id"], reply["session_id"])
        self.assertNotEqual(second["run_id"], reply["run_id"])

    def test_a_question_waits_in_the_journal_and_nowhere_else_and_is_answered(self):
        status, asked = self.restate.call("Session/desk:ann:ask/start", {"message": "ask me"})
        self.assertEqual((status, asked["outcome"], asked["expects"]), (200, "waiting", "answer"), asked)
        self.assertEqual(self.restate.query("select id from sys_invocation where status != 'completed'"), [])
        status, refused = self.restate.call("Session/desk:ann:ask/start", {"message": "another"})
        self.assertEqual(status, 409, refused)
        self.assertIn("waits for an answer", refused["message"])
        status, wrong = self.restate.call("Session/desk:ann:ask/answer", {"question": "colour", "answer": "green"})
        self.assertEqual(status, 409, wrong)
        # A new worker, as after an update, knows of it what the journal says.
        self.worker.stop()
        self.worker.start()
        status, reply = self.restate.call("Session/desk:ann:ask/answer", {"question": "colour", "answer": "red"})
        self.assertEqual((status, reply["outcome"], reply["run_id"]), (200, "complete", asked["run_id"]), reply)
        self.once(*CALLS)
        status, asked = self.restate.call("Session/desk:ann:said/start", {"message": "ask me"})
        status, reply = self.restate.call("Session/desk:ann:said/answer", {"message": "red"})
        self.assertEqual((status, reply["outcome"], reply["run_id"]), (200, "complete", asked["run_id"]), reply)
        self.same(reply["run_id"], self.plain[1])

    def test_a_run_is_one_turn_and_is_advanced_and_cancelled(self):
        status, asked = self.restate.call("Run/desk:r1/start", {"message": "ask me"})
        self.assertEqual((status, asked["outcome"]), (200, "waiting"), asked)
        status, again = self.restate.call("Run/desk:r1/start", {"message": "ask me"})
        self.assertEqual(status, 409, again)
        self.assertIn(asked["run_id"], again["message"])
        status, same = self.restate.call("Run/desk:r1/advance")
        self.assertEqual((status, same["outcome"], same["run_id"]), (200, "waiting", asked["run_id"]), same)
        status, ended = self.restate.call("Run/desk:r1/cancel")
        self.assertEqual((status, ended["outcome"]), (200, "cancelled"), ended)
        status, none = self.restate.call("Run/desk:r1/advance")
        self.assertEqual(status, 409, none)

    def test_a_turn_under_way_is_cancelled_at_its_next_step(self):
        go = threading.Event()
        self.outside.reset(lambda call: call == "look" and not go.wait(20))
        got = apart(self.restate.call, "Session/desk:cancel/start", {"message": "order"})
        until(lambda: "look" in self.outside.came)
        status, told = self.restate.call("Session/desk:cancel/cancel")
        self.assertEqual((status, told["status"]), (200, "running"), told)
        go.set()
        status, ended = until(lambda: got)[0]
        self.assertEqual(status, 409, ended)
        until(lambda: self.outside.did == ["first", "look"])
        self.assertEqual(self.restate.call("Session/desk:cancel/start", {"message": "quick"})[0], 200)

    def test_what_is_asked_wrongly_is_told_and_not_tried_again(self):
        for path, body, status, word in (
            ("Session/nobody:c/start", {"message": "m"}, 404, "served: desk"),
            ("Session/desk/start", {"message": "m"}, 400, "PACK:CONVERSATION"),
            ("Session/desk:c/start", {"message": "m", "tenant": "t"}, 400, "tenant"),
            ("Session/desk:c/answer", {"question": "q", "approve": True}, 403, "may-approve"),
            ("Session/desk:c/advance", None, 409, "start begins a turn"),
        ):
            got, told = self.restate.call(path, body)
            self.assertEqual(got, status, told)
            self.assertIn(word, told["message"])

    def killed_at(self, call, kill, key):
        """A turn whose `kill` comes when this call does, before anything is done for it."""
        did = []

        def stop_at(came):
            if came != call or did:
                return False
            did.append(came)
            kill()
            return True

        self.outside.reset(stop_at)
        return apart(self.restate.call, f"Session/desk:{key}/start", {"message": "order"}, key=key), did

    def test_a_worker_that_is_killed_at_each_step_goes_on_from_the_journal(self):
        for call in ("first", "look", "plan", "last"):
            with self.subTest(call):
                got, killed = self.killed_at(call, self.worker.kill, f"kill-{call}")
                until(lambda: killed and self.worker.child.poll() is not None)
                self.worker.start()
                status, reply = until(lambda: got, 60)[0]
                self.assertEqual((status, reply["outcome"]), (200, "complete"), reply)
                self.once(*CALLS)
                self.same(reply["run_id"], self.plain[0])

    def test_a_change_that_a_kill_leaves_open_is_not_made_again(self):
        got, killed = self.killed_at("note", self.worker.kill, "kill-note")
        until(lambda: killed and self.worker.child.poll() is not None)
        self.worker.start()
        status, reply = until(lambda: got, 60)[0]
        # Whether it was made nobody saw: it is told, and not made again.
        self.assertEqual((status, self.outside.came.count("note")), (200, 1), reply)
        self.assertIn("note", reply["unsure"])

    def test_a_server_of_restate_that_is_killed_at_each_step_hands_the_turn_out_again(self):
        for call in ("first", "look", "note", "plan", "last"):
            with self.subTest(call):
                # The worker is there all the time: what it had begun it brings to the end of that step.
                def kill():
                    self.restate.kill()

                def stop_at(came, call=call, did=[]):  # noqa: B006
                    if came == call and not did:
                        did.append(came)
                        kill()
                    return False

                self.outside.reset(stop_at)
                got = apart(self.restate.call, f"Session/desk:down-{call}/start", {"message": "order"}, key=f"down-{call}")
                until(lambda: got)
                self.assertIsInstance(got[0], Exception)
                self.restate.start()
                # Who sends it again with its key gets the reply of the same turn.
                status, reply = self.restate.call(f"Session/desk:down-{call}/start", {"message": "order"}, key=f"down-{call}")
                self.assertEqual((status, reply["outcome"]), (200, "complete"), reply)
                self.once(*CALLS)
                self.same(reply["run_id"], self.plain[0])

    def test_a_worker_that_is_stopped_leaves_its_turn_to_the_next_one(self):
        go = threading.Event()
        self.outside.reset(lambda call: call == "look" and not go.wait(60))
        (self.worker.project / "agentctl.toml").write_text((self.worker.project / "agentctl.toml").read_text().replace("[serve]\n", "[serve]\ndrain = 1\n", 1))
        self.worker.stop()
        self.worker.start()
        got = apart(self.restate.call, "Session/desk:stop/start", {"message": "order"}, key="stop")
        until(lambda: "look" in self.outside.came)
        self.worker.child.terminate()
        threading.Timer(3, go.set).start()
        self.assertEqual(self.worker.child.wait(60), 143)
        self.worker.start()
        status, reply = until(lambda: got, 60)[0]
        self.assertEqual((status, reply["outcome"]), (200, "complete"), reply)
        self.once(*CALLS)
        self.same(reply["run_id"], self.plain[0])


class Errors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.outside = pathlib.Path(folder.name), Outside()

    def test_without_a_server_it_is_exit_code_7_and_beyond_the_loopback_a_key_is_needed(self):
        restate = Restate(self.root / "restate")
        worker = Worker(BINARY, self.root / "one", restate, self.outside)
        worker.kill()
        restate.kill()
        told = worker.cli("worker", "--restate", restate.admin_url, "--listen", "127.0.0.1:0", code=7)
        self.assertIn("cannot be reached", told)
        told = worker.cli("worker", "--restate", restate.admin_url, "--listen", "0.0.0.0:0", code=2)
        self.assertIn("--identity-key", told)
        told = worker.cli("worker", "--restate", restate.admin_url, "--listen", "127.0.0.1:0", "--identity-key", "nonsense", code=2)
        self.assertIn("publickeyv1_", told)
        self.assertIn("no address", worker.cli("worker", "--restate", "restate", code=2))

    def test_one_server_with_its_key_may_call_and_no_other(self):
        def key(number):
            # Ed25519, PKCS #8.
            der = bytes.fromhex("302e020100300506032b657004220420") + bytes([number]) * 32
            file = self.root / f"key{number}.pem"
            file.write_text(f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END PRIVATE KEY-----\n")
            return f'[worker.invoker]\nrequest-identity-private-key-pem-file = "{file}"'

        restate, other = Restate(self.root / "restate", key(1)), Restate(self.root / "other", key(2))
        self.addCleanup(restate.kill)
        self.addCleanup(other.kill)
        kid = lambda server: re.search(r"publickeyv1_\w+", (server.folder / "log").read_text())[0]
        own = Worker(BINARY, self.root / "one", restate, self.outside, more=("--identity-key", kid(restate)))
        self.addCleanup(own.kill)
        self.assertEqual(restate.call("Session/desk:c/start", {"message": "quick"})[0], 200)
        told = own.cli("worker", "--restate", other.admin_url, "--listen", "127.0.0.1:0", "--identity-key", kid(restate), code=7)
        self.assertIn("401", told)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("binary")
    options.add_argument("-k", default=None)
    given = options.parse_args()
    BINARY = given.binary
    unittest.main(argv=["restate", "-v", *(["-k", given.k] if given.k else [])], warnings="ignore")
