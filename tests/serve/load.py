"""Turns of the front door at once, over HTTP, each synced to the disk: what they take, and what the server holds.

    python3 tests/serve/load.py target/release/agentctl --turns 5000 --at-once 32
    python3 tests/serve/load.py target/release/agentctl --turns 5000 --per-second 150
    python3 tests/serve/load.py target/release/agentctl --turns 0 --readers 1000

Callers who send the next message when they have their reply ask as fast as the server answers, so with 32 of them a turn takes 32 times
what the server needs for one. With `--per-second` turns come by chance (Poisson), so many a second, over as many connections as
`--at-once` says; then a turn's time begins when it was due, also where no connection was free.
"""

import argparse
import asyncio
import json
import random
import time

from server import TOKEN, Server

SETTINGS = """
[serve.clients.load]
bearer_env = "OTHER_TOKEN"
per_minute = 100000000
"""


def request(method, path, body=""):
    head = f"{method} {path} HTTP/1.1\r\nhost: HOST\r\nauthorization: Bearer {TOKEN[::-1]}\r\n"
    if body:
        head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return head + "\r\n" + body


async def answered(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length"))
    return head, await reader.readexactly(length)


async def caller(server, number, turns, times):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    said = 0
    while turns:
        due = turns.pop()
        if due is not None:
            await asyncio.sleep(due - time.perf_counter())
        said += 1
        # A conversation has twenty turns, as one that people have.
        body = json.dumps({"from": {"id": f"u{number}"}, "conversation": {"id": f"c{said // 20}"}, "text": "hello"})
        text = request("POST", "/hooks/front-door", body).replace("HOST", f"127.0.0.1:{server.port}")
        began = due or time.perf_counter()
        writer.write(text.encode())
        head, got = await answered(reader)
        times.append(time.perf_counter() - began)
        if " 200 " not in head.split("\r\n")[0]:
            raise SystemExit(f"{head}{got.decode()}")
    writer.close()


async def readers(server, count):
    body = json.dumps({"sessionId": "r", "chatInput": "I want to submit a request"})
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    host = f"127.0.0.1:{server.port}"
    writer.write(request("POST", "/chat/front-door", body).replace("HOST", host).encode())
    head, _ = await answered(reader)
    run = next(line.split(": ")[1] for line in head.split("\r\n") if line.startswith("x-run-id"))
    before, held = server.rss(), []
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(request("GET", f"/runs/{run}/events").replace("HOST", host).encode())
        await reader.readuntil(b"\r\n\r\n")
        held.append((reader, writer))
    print(f"{count} readers: {server.rss() - before:.1f} MiB more")
    for _, writer in held:
        writer.close()


def dues(turns, per_second):
    """When each turn is due, the first one last."""
    chance, at, all_of_them = random.Random(1), time.perf_counter() + 0.5, []
    for _ in range(turns):
        at += chance.expovariate(per_second)
        all_of_them.append(at)
    return all_of_them[::-1]


async def load(server, args):
    times = []
    turns = dues(args.turns, args.per_second) if args.per_second else [None] * args.turns
    began, before = time.perf_counter(), server.rss()
    await asyncio.gather(*(caller(server, n, turns, times) for n in range(args.at_once)))
    took = time.perf_counter() - began
    times.sort()
    at = lambda part: times[min(len(times) - 1, int(len(times) * part))] * 1000
    how = f", {args.per_second:g} a second by chance" if args.per_second else ""
    print(f"{len(times)} turns, {args.at_once} at once{how}: p50 {at(0.5):.1f} ms, p99 {at(0.99):.1f} ms, {len(times) / took:.0f} turns/s, "
          f"RSS {before:.0f} -> {server.rss():.0f} MiB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--per-second", type=float, help="turns come by chance; else each as soon as there is the last one's reply")
    parser.add_argument("--readers", type=int, default=0)
    args = parser.parse_args()
    with Server(args.binary, SETTINGS) as server:
        if args.turns:
            asyncio.run(load(server, args))
        if args.readers:
            asyncio.run(readers(server, args.readers))


main()
