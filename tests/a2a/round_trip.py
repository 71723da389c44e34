#!/usr/bin/env python3
"""How long a SendMessage takes from the request to its answer, offline, over one connection that stays open.

    python3 tests/a2a/round_trip.py target/release/agentctl

Two packs of the program are asked, each time in a context of its own: `front-door` 200 times with a request that it takes up, and
`research` 40 times with a question about its documents. Prints the median and the 95th percentile in milliseconds; ends with 1 where the median
of the front door is above 25 ms.
"""

import http.client
import json
import os
import statistics
import sys
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "serve"))
from server import TOKEN, Server  # noqa: E402

SETTINGS = """
[serve]
packs = ["front-door", "research"]
[serve.clients.one]
bearer_env = "AGENTCTL_SERVE_TOKEN"
may = ["turn", "read"]
per_minute = 100000
"""
SAID = {
    "front-door": (200, "I want to submit a request: the monthly sales report should be made automatically"),
    "research": (40, "How long is the heating network of Norrfeld?"),
}
WANTED = 25.0


def main(binary):
    slow = False
    with Server(binary, SETTINGS) as server:
        line = http.client.HTTPConnection("127.0.0.1", server.port)
        headers = {"authorization": f"Bearer {TOKEN}", "a2a-version": "1.0", "content-type": "application/json"}
        for agent, (times, text) in SAID.items():
            took = []
            for _ in range(times):
                message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"text": text}]}
                body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}})
                begun = time.monotonic()
                line.request("POST", f"/agents/{agent}/a2a", body, headers)
                answer = json.loads(line.getresponse().read())
                took.append((time.monotonic() - begun) * 1000)
                if answer["result"]["task"]["status"]["state"] not in ("TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED"):
                    raise SystemExit(f"{agent}: {answer}")
            p50, p95 = statistics.median(took), statistics.quantiles(took, n=20)[18]
            print(f"{agent}: {times} messages, p50 {p50:.1f} ms, p95 {p95:.1f} ms")
            slow |= agent == "front-door" and p50 > WANTED
    sys.exit(1 if slow else 0)


main(sys.argv[1])
