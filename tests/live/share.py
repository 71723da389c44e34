"""How long live builds take and where the time goes. Started by `tests/live/run [BINARY] share`. Three builds through each backend,
by the offline model: from the start of the program to its end, with the test run on n8n.

A proxy stands in front of n8n, and one in front of n8n-mcp's stdin and stdout; both note when an answer was waited for. Of what
happened at the same time only the longest counts: time in n8n is when n8n had a request; in n8n-mcp when only it had one;
the rest is agentctl's own, its start and the pauses between two looks at an execution included."""

import json, os, statistics, sys, tempfile, time
from support import BACKENDS, Project, Proxy, api, environment, workflows

REQUESTS = [
    'Receive a webhook POST /share-ok and respond with "ok"',
    "GET webhook /share-health that answers with JSON {status, time} and status 200",
    "When a webhook on /share-orders receives an order over 100 EUR, respond with \"big\", otherwise respond with \"small\"",
]
TEE = os.path.join(os.path.dirname(__file__), "tee.py")


def union(spans):
    """Seconds that at least one of the spans covers."""
    total, end = 0.0, 0.0
    for begin, stop in sorted(spans):
        total += max(0.0, stop - max(begin, end))
        end = max(end, stop)
    return total


def built(backend, request):
    proxy = Proxy(environment()["N8N_API_URL"])
    project = Project(backend, proxy.url)
    project.variables["N8N_MCP_URL"] = proxy.url + "/mcp-server/http"
    file = project.root / ".mcp.json"
    noted = project.root / "noted"
    if backend == "n8n-mcp":
        servers = json.loads(file.read_text())
        entry = servers["mcpServers"]["n8n-mcp"]
        entry["args"] = [TEE, str(noted), entry["command"], *entry["args"]]
        entry["command"] = sys.executable
        file.write_text(json.dumps(servers))
    began = time.monotonic()
    report = project.build(request).json()
    wall = time.monotonic() - began
    assert report["qa_report"]["test_status"] == "pass", report
    in_n8n = union(proxy.spans)
    server = [tuple(json.loads(line)) for line in noted.read_text().splitlines()] if noted.exists() else []
    waited = union(proxy.spans + server)
    for workflow in workflows():
        api("DELETE", f"workflows/{workflow['id']}")
    calls = len(proxy.spans)
    proxy.close()
    project.close()
    return wall, in_n8n, waited - in_n8n, wall - waited, calls


print("| backend | build | calls to n8n | whole, s | in n8n, s | in n8n-mcp, s | agentctl's own, s | own share |\n|---|---|--:|--:|--:|--:|--:|--:|")
for backend in BACKENDS:
    for request in REQUESTS:
        rows = [built(backend, request) for _ in range(3)]
        wall, in_n8n, in_server, own, calls = (statistics.median(column) for column in zip(*rows))
        print(f"| {backend} | {request.split(' /')[1].split()[0]} | {calls} | {wall:.2f} | {in_n8n:.2f} | {in_server:.2f} | {own:.2f} | {own / wall:.1%} |", flush=True)
