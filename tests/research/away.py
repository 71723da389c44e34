#!/usr/bin/env python3
"""How long a research takes whose three analysts think for two seconds each, and what becomes of it when one never answers.

    python3 tests/research/away.py target/release/agentctl

Starts a model server on this machine that speaks OpenAI's wire: the model `slow` searches, waits two seconds, then claims the first
sentence that it found; `hang` never answers. Orchestrator and fact checker are the offline model. Prints what is documented in
docs/research.md; ends with 1 where the three take longer than 2.4 s, or the report does not name who is away.
"""
import http.server, json, os, pathlib, re, subprocess, sys, tempfile, threading, time

THINKS = 2.0
QUESTION = "What does the heating network of Norrfeld cost, how long is it, and what do residents say?"


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if request["model"] == "hang":
            time.sleep(3600)
        found = next((m for m in reversed(request["messages"]) if m["role"] == "tool"), None)
        if found is None:
            call = {"name": "web_search", "arguments": json.dumps({"query": QUESTION, "limit": 3})}
            delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}
            end = "tool_calls"
        else:
            time.sleep(THINKS)
            first = re.search(r'"id":\s*"([^"]+#\d+)"', found["content"]).group(1)
            quote = re.search(r'"quote":\s*"([^"]+)"', found["content"]).group(1)
            answer = {"claims": [{"id": first, "text": quote, "sources": [first]}]}
            delta, end = {"role": "assistant", "content": json.dumps(answer)}, "stop"
        head = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": request["model"]}
        events = [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
            {**head, "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
        ]
        body = "".join(f"data: {json.dumps(e)}\n\n" for e in events) + "data: [DONE]\n\n"
        body = body.encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def run(program, home, models, orchestrator):
    args = [program, "run", "research", QUESTION, "--output-format", "json", "--orchestrator", orchestrator]
    for agent, model in models.items():
        args += ["--model-for", f"{agent}=mine::{model}"]
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "AGENTCTL_CONFIG": str(home / "config.toml"), "MINE_KEY": "k" * 24}
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        ran = subprocess.run(args, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
        took = time.monotonic() - begun
    if ran.returncode != 0:
        sys.exit(f"exit code {ran.returncode}\n{ran.stdout}\n{ran.stderr}")
    return took, json.loads(ran.stdout)["output"]


def main():
    program = os.path.abspath(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    analysts = ["technology-agent", "economic-agent", "social-cultural-agent"]
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "config.toml").write_text(
            f'[providers.mine]\nkind = "openai"\nbase_url = "http://127.0.0.1:{server.server_port}/v1/"\napi_key_env = "MINE_KEY"\n'
            '[prices."mine::slow"]\ninput = 0\noutput = 0\n[prices."mine::hang"]\ninput = 0\noutput = 0\n')
        team = home / "five-seconds.json"
        team.write_text(json.dumps({
            "id": "five-seconds", "timeout_s": 5, "on_failure": "continue",
            "steps": [{"id": "analyse", "pattern": "parallel", "agents": analysts},
                         {"id": "facts", "pattern": "sequential", "agents": ["fact-checking-agent"]}]}))
        alone, _ = run(program, home, {}, "advanced")
        took, output = run(program, home, {name: "slow" for name in analysts}, "advanced")
        print(f"offline: {alone:.2f} s; three analysts of {THINKS:.0f} s each: {took:.2f} s, {len(output['claims'])} claims")
        late, output = run(program, home, {analysts[0]: "slow", analysts[1]: "hang", analysts[2]: "slow"}, str(team))
        status = {name: output["agents"][name]["status"] for name in analysts}
        told = [line for line in output["report_markdown"].splitlines() if line.startswith("- economic-agent:")]
        print(f"one that never answers, with a time of 5 s: {late:.2f} s; {status}; {told}")
        good = took <= 2.4 and late < 8 and status[analysts[1]] == "failed" and told and status[analysts[0]] == "completed"
        sys.exit(0 if good else 1)


main()
