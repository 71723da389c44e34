"""Between agentctl and an MCP server on stdin and stdout: hands every line on and notes in a file, one JSON line each, from when
to when the server had at least one request to answer, its start included. `tee.py FILE COMMAND…`"""

import json, subprocess, sys, threading, time

noted, command = open(sys.argv[1], "a"), sys.argv[2:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
open_since, lock = {}, threading.Lock()


def requests():
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            with lock:
                open_since[message["id"]] = time.monotonic()
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()


threading.Thread(target=requests, daemon=True).start()
for line in server.stdout:
    with lock:
        began = open_since.pop(json.loads(line).get("id"), None)
    if began is not None:
        print(json.dumps([began, time.monotonic()]), file=noted, flush=True)
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
sys.exit(server.wait())
