"""The official Python SDK as a client: one connection, the requests of argv, their results as JSON.

client.py '{"command": [...], "env": {...}} | {"url": ..., "token": ...}' '[{"list": true}, {"call": NAME, "args": {...}}]'
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def main(target, requests):
    if "command" in target:
        command, *args = target["command"]
        return await ask(Client(StdioServerParameters(command=command, args=args)), requests)
    headers = {"Authorization": f"Bearer {target['token']}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        return await ask(Client(streamable_http_client(target["url"], http_client=http)), requests)


async def ask(connecting, requests):
    results = []
    async with connecting as client:
        for request in requests:
            if "list" in request:
                answer = await client.list_tools()
            else:
                answer = await client.call_tool(request["call"], request["args"])
            results.append(answer.model_dump(mode="json", by_alias=True, exclude_none=True))
    return results


print(json.dumps(asyncio.run(main(*map(json.loads, sys.argv[1:])))))
