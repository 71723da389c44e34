"""What the test kit does not do by itself, added to the requests of httpx: the client's token (`TCK_TOKEN`), and an ending of its own to
each `messageId`, since a message is taken once. Python loads it where this folder is in PYTHONPATH.
"""
import os
import uuid

import httpx

TOKEN = os.environ["TCK_TOKEN"]
made = httpx.Request.__init__


def once(value):
    if isinstance(value, list):
        return [once(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: f"{item}-{uuid.uuid4().hex[:8]}" if key == "messageId" and isinstance(item, str) else once(item) for key, item in value.items()}


def request(self, method, url, *args, **named):
    named["headers"] = httpx.Headers(named.get("headers"))
    named["headers"].setdefault("Authorization", f"Bearer {TOKEN}")
    if named.get("json") is not None:
        named["json"] = once(named["json"])
    made(self, method, url, *args, **named)


httpx.Request.__init__ = request
