"""Every place × every fault: a turn that is disturbed does what an undisturbed one on files did, as the journals tell, and what is outside
was asked and changed as often. Prints the table; exit code 1 where something was otherwise.

    tests/conformance/run [BINARY [--place WORD] [--fault WORD] [--figures TURNS]]
"""

import argparse
import concurrent.futures
import pathlib
import sys
import tempfile
import threading
import time
import traceback

from desk import CALLS, Outside, did
from places import Files, OnPostgres, OnRestate, OnRestateAndPostgres, Postgres

sys.path[:0] = ["tests/restate"]
from support import apart, until  # noqa: E402

PARTITION = 30


class Fault(Exception):
    """Something was otherwise than it must be."""


class Trial:
    """One place, and what an undisturbed run did."""

    def __init__(self, place, outside, plain, reply):
        self.place, self.outside, self.plain, self.reply = place, outside, plain, reply
        self.number = 0

    def key(self):
        self.number += 1
        return f"c{self.number}"

    def same(self, *reply, **more):
        """None where it is as it must be, else what is not."""
        try:
            self.whole(*reply, **more)
            return None
        except Fault as fault:
            return fault

    def whole(self, run, text, n=0, asked=False, under_way=None):
        """The turn came to its end, once, and its journal says what it would have said. A call that was under way when its answer could
        not be kept may have been made once more."""
        if run is None or text != self.reply[asked]:
            raise Fault(f"the reply is {text!r} and not {self.reply[asked]!r}")
        made = list(self.outside.did)
        if under_way and made.count(under_way) == 2:
            made.remove(under_way)
        if made != CALLS:
            raise Fault(f"{self.outside.did} was done and not {CALLS}")
        is_whole, told = self.place.verify(n, run)
        if not is_whole:
            raise Fault(f"runs verify: {told}")
        got = did(self.place.journal(n, run))
        if got != self.plain[asked]:
            other = next(((a, b) for a, b in zip(got, self.plain[asked]) if a != b), (len(got), len(self.plain[asked])))
            raise Fault(f"the journals differ: {other[0]}\n  undisturbed: {other[1]}")

    def disturbed(self, call, act, drop):
        """Does `act` when this call comes, once; `drop`: nothing is done for the call then."""
        begun, done = [], []

        def stop_at(came):
            if came != call or begun:
                return False
            begun.append(came)
            act()
            done.append(came)
            return drop

        self.outside.reset(stop_at)
        return done


def killed_workers(trial):
    """A worker is killed before each call of a turn; the next one, or the same one started again, goes on."""
    place = trial.place
    for call in CALLS:
        if call == "note":
            continue  # In the middle of a change: a fault of its own.
        key = trial.key()
        done = trial.disturbed(call, lambda: place.kill(0), True)
        got = apart(place.say, "order", key, key)
        until(lambda: done and place.all[0].child.poll() is not None)
        if place.workers == 1:
            place.start(0)
        n = place.workers - 1
        run, text = until(lambda: got, 120)[0]
        same = trial.same(run, text, n)
        if place.workers > 1:
            place.start(0)
        yield same


def killed_between_question_and_answer(trial):
    place = trial.place
    key = trial.key()
    trial.outside.reset()
    run, text = place.say("ask me", key, key + "q")
    if run is None:
        raise Fault(text)
    for n in range(place.workers):
        place.kill(n)
    for n in range(place.workers):
        place.start(n)
    run, text = place.say("red", key, key + "a", answers=True, first=place.workers - 1)
    yield trial.same(run, text, place.workers - 1, asked=True)


def killed_in_a_change(trial):
    """Whether the change was made nobody can know: it is told, and not made again."""
    place = trial.place
    key = trial.key()
    done = trial.disturbed("note", lambda: place.kill(0), True)
    got = apart(place.say, "order", key, key)
    until(lambda: done and place.all[0].child.poll() is not None)
    if place.workers == 1:
        place.start(0)
    run, text = until(lambda: got, 120)[0]
    if place.workers > 1:
        place.start(0)
    if trial.outside.came.count("note") != 1:
        raise Fault(f"the change was asked for {trial.outside.came.count('note')} times")
    if run is None or "noted: done" in text:
        raise Fault(f"the reply is {text!r}")
    yield


def killed_after_the_reply(trial):
    """What was replied is there, whatever is killed in this moment."""
    place = trial.place
    key = trial.key()
    trial.outside.reset()
    run, text = place.say("order", key, key)
    for n in range(place.workers):
        place.kill(n)
    if place.engine:
        place.kill_engine()
        place.start_engine()
    for n in range(place.workers):
        place.start(n)
    again, same = place.say("order", key, key, first=place.workers - 1)
    if (again, same) != (run, text):
        raise Fault(f"the reply was {text!r} of {run}, and is {same!r} of {again}")
    yield trial.same(run, text, place.workers - 1)


def killed_engine(trial):
    """The database or the server of Restate is killed while each call is under way, and comes back."""
    place = trial.place
    for call in CALLS:
        key = trial.key()
        done = trial.disturbed(call, place.kill_engine, False)
        got = apart(place.say, "order", key, key)
        until(lambda: done)
        time.sleep(0.5)
        place.start_engine()
        run, text = until(lambda: got, 120)[0]
        if call == "note" and place.engine == "Postgres":
            # The result of a change came when it could not be kept: it is told as not known, and the change is not made again.
            is_told = run is not None and text != trial.reply[False] and trial.outside.did.count("note") == 1
            yield None if is_told else Fault(f"{text!r}, {trial.outside.did}")
        else:
            yield trial.same(run, text, under_way=call if place.engine == "Postgres" else None)


def racing(trial):
    """The same message comes to all doors at once."""
    place = trial.place
    for _ in range(3):
        key = trial.key()
        trial.outside.reset()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            all_of = list(pool.map(lambda n: place.say("order", key, key, first=n), range(4)))
        if len(set(all_of)) != 1:
            raise Fault(f"there are {len(set(all_of))} replies: {set(all_of)}")
        yield trial.same(*all_of[0])


def clock_ahead(trial):
    """A worker whose clock is an hour ahead takes over from one that was killed, and the other way round."""
    place = trial.place
    last = place.workers - 1
    try:
        for ahead, of in ((last, 0), (0, last)) if place.workers > 1 else ((0, 0),):
            if place.workers > 1:
                place.ahead = {ahead}
                for n in range(place.workers):
                    place.kill(n)
                    place.start(n)
            key = trial.key()
            done = trial.disturbed("plan", lambda: place.kill(0), True)
            got = apart(place.say, "order", key, key)
            until(lambda: done and place.all[0].child.poll() is not None)
            if place.workers == 1:
                place.ahead = {0}
                place.start(0)
            run, text = until(lambda: got, 120)[0]
            same = trial.same(run, text, last)
            if place.workers > 1:
                place.start(0)
            yield same
    finally:
        place.ahead = set()
        for n in range(place.workers):
            place.kill(n)
            place.start(n)


def partition(trial):
    """Nothing comes through between a worker and the database, or the server of Restate, for half a minute in the middle of a turn."""
    place = trial.place
    for call in ("look", "plan"):
        key = trial.key()
        timer = threading.Timer(PARTITION, lambda: place.mend(0))

        def stand(timer=timer):
            place.stall(0)
            timer.start()

        done = trial.disturbed(call, stand, False)
        got = apart(place.say, "order", key, key)
        until(lambda: done)
        timer.join(PARTITION + 5)
        run, text = until(lambda: got, 180)[0]
        # What came to a replica that could not reach the database is nowhere: whoever takes over asks once more.
        under_way = call if place.engine == "Postgres" else None
        yield trial.same(run, text, place.workers - 1, under_way=under_way)


FAULTS = [
    ("worker killed before each call", killed_workers, False),
    ("killed between question and answer", killed_between_question_and_answer, False),
    ("worker killed in a change", killed_in_a_change, False),
    ("all killed after the reply", killed_after_the_reply, False),
    ("database or server killed in each call", killed_engine, True),
    ("four callers race for one turn", racing, False),
    ("a clock an hour ahead", clock_ahead, False),
    ("30 s without a network", partition, True),
]


def undisturbed(binary, root, outside):
    """What the turns do and reply where nothing is in their way."""
    place = Files(binary, root, outside)
    place.start(0)
    try:
        run, text = place.say("order", "c", "c")
        place.say("ask me", "d", "d1")
        asked, answer = place.say("red", "d", "d2", answers=True)
        return {False: did(place.journal(0, run)), True: did(place.journal(0, asked))}, {False: text, True: answer}
    finally:
        place.close()


def figures(place, outside, turns):
    """What a turn costs: one that says a word, and one of three questions to a model that answers at once and two calls of tools."""
    for message in ("quick", "order"):
        outside.reset()

        def turn(n, where, message=message):
            began = time.monotonic()
            run, text = place.say(message, f"{message}{where}{n % 20}", f"{message}{where}{n}", first=n)
            assert run, text
            return time.monotonic() - began

        for n in range(place.workers):
            turn(n, "warm")
        alone = sorted(turn(n, "a") for n in range(turns))
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: turn(n, f"b{n}"), range(turns)))
        took = time.monotonic() - began
        p50, p99 = (alone[int(len(alone) * part)] * 1000 for part in (0.5, 0.99))
        print(f"| {place.name} | {message} | {p50:.0f} ms, {p99:.0f} ms | {turns / took:.0f} |", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("binary")
    options.add_argument("--place", default="")
    options.add_argument("--fault", default="")
    options.add_argument("--figures", type=int, default=0)
    given = options.parse_args()
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        root, outside = pathlib.Path(folder), Outside()
        root.chmod(0o755)
        plain, reply = undisturbed(given.binary, root / "plain", outside)
        postgres = Postgres(root / "postgres")
        kinds = [(Files, ()), (OnPostgres, (postgres,)), (OnRestate, ()), (OnRestateAndPostgres, (postgres,))]
        try:
            for number, (kind, more) in enumerate(kinds):
                if not kind.name.startswith(given.place):
                    continue
                place = kind(given.binary, root / f"place{number}", outside, *more)
                try:
                    for n in range(place.workers):
                        place.start(n)
                    if given.figures:
                        figures(place, outside, given.figures)
                        continue
                    trial = Trial(place, outside, plain, reply)
                    for name, fault, needs_engine in FAULTS:
                        if given.fault not in name or (needs_engine and not place.engine):
                            continue
                        began, tried, equal = time.monotonic(), 0, 0
                        try:
                            for other in fault(trial):
                                tried, equal = tried + 1, equal + (other is None)
                                if other:
                                    failed += 1
                                    print(f"{place.name}, {name}: {other}", flush=True)
                        except (Exception, SystemExit) as error:
                            tried, failed = tried + 1, failed + 1
                            print(f"{place.name}, {name}: {error}", flush=True)
                            if not isinstance(error, Fault):
                                traceback.print_exc()
                        took = time.monotonic() - began
                        rows.append(f"| {place.name} | {name} | {tried} | {equal} |")
                        print(f"{rows[-1]} {took:.0f} s", flush=True)
                finally:
                    place.close()
        finally:
            postgres.close()
    if given.figures:
        return
    print("\n| place | fault | tried | equal |\n|---|---|--:|--:|")
    print("\n".join(rows))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
