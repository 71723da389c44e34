"""Turns of the front door at once, over HTTP, each synced to the disk: what they take, and what the server holds.

    python3 tests/serve/load.py target/release/agentctl --turns 5000 --at-once 32
    python3 tests/serve/load.py target/release/agentctl --turns 0 --readers 1000
"""

import argparse
import asyncio
import json
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
        turns.pop()
        said += 1
        # A conversation has twenty turns, as one that people have.
        body = json.dumps({"from": {"id": f"u{number}"}, "conversation": {"id": f"c{said // 20}"}, "text": "hello"})
        text = request("POST", "/hooks/front-door", body).replace("HOST", f"127.0.0.1:{server.port}")
        began = time.perf_counter()
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


async def load(server, args):
    turns, times = [None] * args.turns, []
    began, before = time.perf_counter(), server.rss()
    await asyncio.gather(*(caller(server, n, turns, times) for n in range(args.at_once)))
    took = time.perf_counter() - began
    times.sort()
    at = lambda part: times[min(len(times) - 1, int(len(times) * part))] * 1000
    print(f"{len(times)} turns, {args.at_once} at once: p50 {at(0.5):.1f} ms, p99 {at(0.99):.1f} ms, {len(times) / took:.0f} turns/s, "
          f"RSS {before:.0f} -> {server.rss():.0f} MiB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--readers", type=int, default=0)
    args = parser.parse_args()
    with Server(args.binary, SETTINGS) as server:
        if args.turns:
            asyncio.run(load(server, args))
        if args.readers:
            asyncio.run(readers(server, args.readers))


main()
