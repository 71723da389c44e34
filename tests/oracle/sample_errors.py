#!/usr/bin/env python3
"""Draws findings at random, for judging by hand: sample_errors.py QA.json [COUNT] [SEED] [SEVERITY] [CODE ...]

QA.json is the output of `agentctl qa FOLDER --output-format json`. Prints one line each: file, node, type, code, pointer,
message and the value at the pointer, of `agentctl/*` findings of the severity (error; `any`: of each), with codes of these alone.
"""
import json
import random
import sys

path, count, seed, severity = (sys.argv[1:] + ["60", "2026", "error"][len(sys.argv) - 2 :])[:4]
codes = {f"agentctl/{code}" for code in sys.argv[5:]}
found = [
    (file["path"], finding)
    for file in json.load(open(path))["files"]
    for finding in file["findings"]
    if finding["code"].startswith("agentctl/") and severity in (finding["severity"], "any")
    and (not codes or finding["code"] in codes)
]
found.sort(key=lambda pair: (pair[0].rsplit("/", 1)[-1], pair[1]["id"]))
print(f"{len(found)} findings, {count} drawn with seed {seed}")
for file, finding in random.Random(int(seed)).sample(found, min(int(count), len(found))):
    workflow = json.load(open(file))
    value = workflow
    try:
        for token in finding["pointer"].split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            value = value[int(token)] if isinstance(value, list) else value[token]
    except (KeyError, IndexError, ValueError, TypeError):
        value = None
    node = next((n for n in workflow["nodes"] if n.get("name") == finding["node"]), {})
    line = [file.rsplit("/", 1)[-1][:8], finding["code"][9:], f"{node.get('type', '').rsplit('.', 1)[-1]} {node.get('typeVersion')}"]
    print(" | ".join(line + [str(finding["node"]), finding["pointer"], finding["message"], json.dumps(value, ensure_ascii=False)[:400]]))
