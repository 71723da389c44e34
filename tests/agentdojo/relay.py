"""What agentctl starts as the MCP server: hands stdin and stdout to the zygote and stays until the server there has ended.

    relay.py SOCKET SUITE RUN_FILE
"""

import json
import os
import socket
import sys

connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
socket.send_fds(connection, [json.dumps({"suite": sys.argv[2], "run": sys.argv[3]}).encode()], [0, 1])
os.close(0)
os.close(1)
connection.recv(1)  # the child holds the other end
