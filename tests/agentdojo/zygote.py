"""The MCP server of all suites (the official SDK's lowlevel server over stdio). Importing the benchmark takes seconds, so one
process does it once and forks for each start; relay.py, which agentctl starts, hands its stdin and stdout over.

    zygote.py SOCKET        serve until stdin ends
"""

import io
import json
import os
import socket
import sys

import anyio
import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

import suites


def tools_of(suite):
    return [types.Tool(name=f.name, description=f.description, input_schema=f.parameters.model_json_schema())
            for f in suites.SUITES[suite].tools]


async def serve(suite, run, stdin, stdout):
    env = suites.prepared(suite, run.get("user_task"), run.get("injections"))
    log = open(run["log"], "a", encoding="utf-8") if run.get("log") else None

    async def list_tools(_, __):
        return types.ListToolsResult(tools=tools_of(suite))

    async def call_tool(_, params):
        args = dict(params.arguments or {})
        result, error = suites.call(suite, env, params.name, args)
        if log:
            log.write(json.dumps([params.name, args]) + "\n")
            log.flush()
        # A text is a text, anything else is JSON.
        text = error or (result if isinstance(result, str) else json.dumps(result, ensure_ascii=False))
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=bool(error))

    server = Server(suite, version=suites.VERSION, on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def child(request, fds):
    suite = request["suite"]
    try:
        with open(request["run"], encoding="utf-8") as file:
            run = json.load(file)
    except FileNotFoundError:
        run = {}  # somebody only looks at the tools
    stdin = io.TextIOWrapper(os.fdopen(fds[0], "rb"), encoding="utf-8")
    stdout = io.TextIOWrapper(os.fdopen(fds[1], "wb"), encoding="utf-8")
    anyio.run(serve, suite, run, stdin, stdout)


def main():
    for name in suites.SUITES:  # what every child needs is made before the fork
        suites.environment(name)
        suites.environment(name, {"": ""})
        tools_of(name)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen(16)
    print("ready", flush=True)
    import select
    import signal

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        connection, _ = listener.accept()
        message, fds, _, _ = socket.recv_fds(connection, 65536, 2)
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            try:
                child(json.loads(message), fds)
            finally:
                os._exit(0)
        for fd in fds:
            os.close(fd)
        connection.close()


main()
