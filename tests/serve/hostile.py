"""What callers who mean no good cost the others: a well-behaved caller's turns alone, and beside each kind of them.

    python3 tests/serve/hostile.py target/release/agentctl --turns 300 --rounds 5 --callers 400

The hostile ones are a process that gets what nobody else wants of the cores (Linux: SCHED_IDLE), since they stand for other machines.
Beside each kind the caller is measured alone as well, in turn with it and in conversations of its own, so that neither what else the
machine does nor how long a conversation has become counts for one of the two.

`slow`: heads that come a byte a second, without a secret. `flood`: connections that are opened, ask with a wrong secret and come again.
`unread`: readers with a secret that open a run's events with all records, again and again, and read none; once of a client with the
default `per_minute`, once of one without a limit. Ends with a line for each.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import multiprocessing
import os
import time

from server import TOKEN, Server

SETTINGS = """
[serve.clients.good]
bearer_env = "OTHER_TOKEN"
per_minute = 100000000
[serve.clients.bad]
basic = {user = "demo", password_env = "DEMO_PASSWORD"}
per_minute = 100000000
tenants = ["bad"]
[serve.clients.limited]
basic = {user = "limited", password_env = "DEMO_PASSWORD"}
tenants = ["bad"]
"""
BASIC = "Basic ZGVtbzpkZW1v"
# Of a client whose settings say nothing of `per_minute`.
LIMITED = "Basic bGltaXRlZDpkZW1v"


def head(server, method, path, authorization, body=""):
    lines = [f"{method} {path} HTTP/1.1", f"host: 127.0.0.1:{server.port}", f"authorization: {authorization}"]
    if body:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


async def answered(reader):
    told = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next((int(line.split(":")[1]) for line in told.split("\r\n") if line.lower().startswith("content-length")), 0)
    return told, await reader.readexactly(length)


async def turn(server, reader, writer, conversation, authorization=f"Bearer {TOKEN[::-1]}", tenant=None):
    body = {"from": {"id": "u"}, "conversation": {"id": conversation, "tenantId": tenant}, "text": "hello"}
    if tenant is None:
        del body["conversation"]["tenantId"]
    writer.write(head(server, "POST", "/hooks/front-door", authorization, json.dumps(body)))
    told, got = await answered(reader)
    if " 200 " not in told.split("\r\n")[0]:
        raise SystemExit(f"{told}{got.decode()}")
    return told


async def good(server, name, turns):
    """One caller, one turn after the other, twenty in a conversation."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    times = []
    for number in range(turns):
        began = time.perf_counter()
        await turn(server, reader, writer, f"{name}-{number // 20}")
        times.append(time.perf_counter() - began)
    writer.close()
    return times


async def again(work):
    """What is cut off comes again, at once."""
    while True:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await work()
        await asyncio.sleep(0.01)


async def slow(server, _):
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    with contextlib.closing(writer):
        for byte in head(server, "GET", "/v1/models", "Bearer nobody"):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(1)


async def flood(server, _):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    with contextlib.closing(writer):
        writer.write(head(server, "GET", "/v1/models", "Bearer nobody"))
        await answered(reader)


async def unread(server, run, authorization=BASIC):
    _, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
    with contextlib.closing(writer):
        for _ in range(200):
            writer.write(head(server, "GET", f"/runs/{run}/events?view=all", authorization))
        await asyncio.sleep(5)


async def unread_at_the_default_limit(server, run):
    await unread(server, run, LIMITED)


async def attack(server, run, kind, callers):
    await asyncio.gather(*(again(lambda: kind(server, run)) for _ in range(callers)))


def make_way():
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)


def hostile(server, run, kind, callers):
    """In a process of its own, which makes way for the others: it stands for other machines."""
    make_way()
    # It is told of each connection that the server cut off.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    asyncio.new_event_loop().run_until_complete(attack(server, run, kind, callers))


@contextlib.contextmanager
def beside(server, run, kind, callers):
    others = multiprocessing.get_context("fork").Process(target=hostile, args=(server, run, kind, callers), daemon=True)
    others.start()
    time.sleep(2)
    try:
        yield
    finally:
        others.kill()
        others.join()
        time.sleep(2)


def at(times, part):
    """In ms."""
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] * 1000


async def measure(server, kind, args):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    authorization = LIMITED if kind is unread_at_the_default_limit else BASIC
    told = await turn(server, reader, writer, "bad", authorization, "bad")
    run = next(line.split(": ")[1] for line in told.split("\r\n") if line.lower().startswith("x-run-id"))
    writer.close()
    alone, among = [], []
    for number in range(args.rounds):
        alone += await good(server, f"alone-{number}", args.turns)
        with beside(server, run, kind, args.callers):
            among += await good(server, f"among-{number}", args.turns)
    both = [(at(times, 0.5), at(times, 0.99)) for times in (alone, among)]
    (p50, p99), (p50_among, p99_among) = both
    print(f"{args.callers} {kind.__name__}: p50 {p50_among:.1f} ms, p99 {p99_among:.1f} ms; alone {p50:.1f} ms, {p99:.1f} ms; "
          f"p99 {p99_among / p99:.2f} times, RSS {server.rss():.0f} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--callers", type=int, default=400)
    kinds = {kind.__name__: kind for kind in (slow, flood, unread_at_the_default_limit, unread)}
    parser.add_argument("--only", choices=kinds, help="measure this kind alone")
    args = parser.parse_args()
    for kind in [kinds[args.only]] if args.only else kinds.values():
        with Server(args.binary, SETTINGS) as server:
            asyncio.run(measure(server, kind, args))


main()
