"""What the live suite works with: the n8n's API, the built binary in a fresh project, a place that workflows call, and a
proxy in front of n8n that can end somebody in the middle of a write."""

import atexit, http.client, http.server, json, os, pathlib, shutil, signal, subprocess, tempfile, threading, time, urllib.error, urllib.parse, urllib.request
from contextlib import closing

BINARY = os.environ["LIVE_BINARY"]
DATA = os.environ["LIVE_DATA"]
N8N_MCP = pathlib.Path(os.environ["LIVE_N8N_MCP"])
BACKENDS = ["rest", "n8n-mcp", "instance-mcp"]
COPY = "agentctl-rehearsal"
# The folder of the suite's user: what is trusted and whose runs they are, apart from whoever runs the suite.
os.environ["AGENTCTL_HOME"] = tempfile.mkdtemp(prefix="agentctl-live-home-")
atexit.register(shutil.rmtree, os.environ["AGENTCTL_HOME"], ignore_errors=True)


def environment():
    """The variables of the development n8n, as its env file exports them."""
    lines = (pathlib.Path(DATA) / "env").read_text().splitlines()
    pairs = (line.removeprefix("export ").split("=", 1) for line in lines if line.startswith("export "))
    return {name: value.strip("'") for name, value in pairs}


def release():
    """Which n8n it is."""
    return json.loads((pathlib.Path(DATA) / "server.json").read_text())["version"]


def api(method, path, body=None, variables=None):
    variables = variables or environment()
    request = urllib.request.Request(
        f"{variables['N8N_API_URL']}/api/v1/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"X-N8N-API-KEY": variables["N8N_API_KEY"], "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{method} {path}: HTTP {error.code}: {error.read().decode()}") from None


def header_account(name):
    """A credential for requests; n8n 1.x lets none say to which hosts it may go."""
    data = {"name": "X-Secret", "value": "s3cret"}
    if not release().startswith("1."):
        data["allowedHttpRequestDomains"] = "all"
    return api("POST", "credentials", {"name": name, "type": "httpHeaderAuth", "data": data})


def catalog():
    """The node types of this very n8n, synced once: it may be older than what agentctl brings."""
    folder = pathlib.Path(DATA) / "catalog"
    made = folder / "n8n-catalog.bin"
    if not made.exists():
        folder.mkdir(exist_ok=True)
        variables = environment()
        owner = json.loads((pathlib.Path(DATA) / "owner.json").read_text())
        login = {"emailOrLdapLoginId": owner["email"], "password": owner["password"]}
        request = urllib.request.Request(f"{variables['N8N_API_URL']}/rest/login", json.dumps(login).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            cookie = next(c for c in answer.headers.get_all("Set-Cookie") if c.startswith("n8n-auth=")).split(";")[0]
        command = [BINARY, "--project", str(folder), "catalog", "sync", variables["N8N_API_URL"], "--auth-env", "LIVE_COOKIE"]
        subprocess.run(command, env=os.environ | {"LIVE_COOKIE": f"Cookie: {cookie}"}, check=True, stdout=subprocess.DEVNULL)
    return made


def workflows(archived=False):
    found, cursor = [], ""
    while True:
        page = api("GET", f"workflows?limit=100{cursor}")
        found += [w for w in page["data"] if archived or not w.get("isArchived")]
        if not page.get("nextCursor"):
            return found
        cursor = "&cursor=" + urllib.parse.quote(page["nextCursor"])


def patiently(done, patience=20):
    """What `done` gives, asked again for a while where it gives None: n8n 2.41 puts to work and takes away a moment after it said so."""
    until = time.monotonic() + patience
    while (given := done()) is None and time.monotonic() < until:
        time.sleep(0.5)
    return given


def call(method, path, body=None):
    """A published webhook of the n8n, as anybody would call it: status and text."""
    last = []

    def answered():
        last[:] = [called(method, path, body)]
        return None if last[0][0] == 404 and "not registered" in last[0][1] else last[0]

    return patiently(answered) or last[0]


def remove(workflow):
    """Whatever it is doing."""
    if workflow["active"]:
        api("POST", f"workflows/{workflow['id']}/deactivate", {})

    def gone():
        try:
            api("DELETE", f"workflows/{workflow['id']}")
            return True
        except AssertionError as refused:
            if "HTTP 409" not in str(refused):
                raise

    if patiently(gone) is None:
        raise AssertionError(f"{workflow['name']} stays")


def called(method, path, body):
    request = urllib.request.Request(
        f"{environment()['N8N_API_URL']}/webhook/{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Sink:
    """Keeps what workflows send to it."""

    def __init__(self):
        sink, self.paths, self.came = self, [], threading.Condition()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with sink.came:
                    sink.paths.append(self.path)
                    sink.came.notify_all()
                if self.path == "/moved":
                    self.send_response(302)
                    self.send_header("Location", sink.url + "/elsewhere")
                    self.end_headers()
                    return
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"{}")

            do_GET = do_DELETE = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait_for(self, path):
        with self.came:
            return self.came.wait_for(lambda: path in self.paths, timeout=60)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Proxy:
    """Between a client and n8n. `strike` is called once, at a write of this method: when n8n has answered and before the client
    hears of it, or (`early`) before n8n hears of it; either way nobody gets an answer. `spans` is when n8n was waited for."""

    def __init__(self, upstream):
        proxy, self.strike, self.struck, self.method, self.early, self.spans = self, None, threading.Event(), "POST", False, []
        host = urllib.parse.urlsplit(upstream)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Else the body waits 40 ms for the client to confirm the headers, which n8n's own answers do not.
            disable_nagle_algorithm = True

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                writes = self.command == proxy.method and "/api/v1/workflows" in self.path
                if writes and proxy.early and self.struck():
                    return
                try:
                    answer, data = self.forwarded(body)
                except OSError:
                    self.close_connection = True
                    return
                if writes and answer.status < 300 and self.struck():
                    return
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                try:
                    self.wfile.write(data)
                except OSError:
                    pass

            def struck(self):
                strike, proxy.strike = proxy.strike, None
                if not strike:
                    return False
                strike()
                proxy.struck.set()
                self.close_connection = True
                return True

            def forwarded(self, body):
                headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection", "accept-encoding")}
                began = time.monotonic()
                with closing(http.client.HTTPConnection(host.hostname, host.port, timeout=60)) as connection:
                    connection.request(self.command, self.path, body, headers)
                    answer = connection.getresponse()
                    data = answer.read()
                proxy.spans.append((began, time.monotonic()))
                return answer, data

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = serve

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Project:
    """A fresh folder in which the binary works on the n8n through one backend."""

    def __init__(self, backend, url=None):
        self.root, self.backend = pathlib.Path(tempfile.mkdtemp(prefix="agentctl-live-")), backend
        self.variables = environment()
        shutil.copy(catalog(), self.root)
        if url:
            self.variables["N8N_API_URL"] = url
        servers = {
            "n8n-mcp": {
                "n8n-mcp": {
                    "command": "node",
                    "args": [str(N8N_MCP / "node_modules/n8n-mcp/dist/mcp/index.js")],
                    "env": {"N8N_API_URL": "${N8N_API_URL}", "N8N_API_KEY": "${N8N_API_KEY}", "MCP_MODE": "stdio", "LOG_LEVEL": "error"},
                }
            },
            "instance-mcp": {
                "n8n": {"type": "http", "url": "${N8N_MCP_URL}", "headers": {"Authorization": "Bearer ${N8N_MCP_TOKEN}"}}
            },
        }
        if backend in servers:
            (self.root / ".mcp.json").write_text(json.dumps({"mcpServers": servers[backend]}))

    def start(self, *args):
        command = [BINARY, "--project", str(self.root), "--trust-once", "--backend", self.backend, *args]
        return subprocess.Popen(command, env=os.environ | self.variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *args, code=0):
        process = self.start(*args)
        try:
            out, err = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        if code is not None and process.returncode != code:
            raise AssertionError(f"{args}: exit code {process.returncode}, not {code}\n{out}\n{err}")
        return Ran(process.returncode, out, err)

    def build(self, request, *args, code=0):
        return self.run("build", "--yes", "--no-input", "--output-format", "json", *args, request, code=code)

    def runs(self):
        return self.run("runs", "list", "--output-format", "json").json()

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)


class Ran:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def json(self):
        return json.loads(self.out)


def n8n(*args):
    done = subprocess.run([BINARY, "n8n", *args, "--data", DATA], capture_output=True, text=True, timeout=600)
    return Ran(done.returncode, done.stdout, done.stderr)


def kill_n8n():
    pid = json.loads((pathlib.Path(DATA) / "server.json").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)


def servers():
    """The n8n-mcp processes that were started from the suite's installation."""
    table = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True).stdout
    return [int(line.split()[0]) for line in table.splitlines() if str(N8N_MCP) in line and "index.js" in line]


def children(pid, word):
    """The processes below `pid` whose command line holds the word."""
    table = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True).stdout
    rows = [(int(a), int(b), c) for a, b, c in (line.split(None, 2) for line in table.splitlines() if len(line.split(None, 2)) == 3)]
    below, found = {pid}, []
    for child, parent, args in sorted(rows):
        if parent in below:
            below.add(child)
            found += [child] if word in args else []
    return found
