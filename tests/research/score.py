#!/usr/bin/env python3
"""Scores whole research reports: what `agentctl run research` says of corpora with planted falsehoods.

    python3 tests/research/score.py target/debug/agentctl                 every corpus of this folder, and the pack's documents
    python3 tests/research/score.py target/debug/agentctl dam cable       these
    python3 tests/research/score.py target/debug/agentctl --questions FILE
    python3 tests/research/score.py --selftest                            that each fault of a report is seen

A spec is {corpus: folder beside it, or "shipped", questions: [{id, question, falsehoods: [id], must: [{id, match: [word or [any of]],
docs}]}], falsehoods: [{id, doc, sentence}]}. Counted are, over all reports:

    found       planted falsehoods of a question that stand in its report as contradicted
    wrong       contradicted claims that are no planted falsehood: true ones
    believed    planted falsehoods that are called supported, or stand in the short answer
    wanted      what a good report holds, not contradicted, out of a document that says it
    quotes      quotes that stand word for word in their document
    untraced    sentences of the report that are neither a claim of that id, nor a quote of it, nor the program's own words

Ends with 1 where something is wrong, believed, misquoted, without a source or untraced, or a question has no report. Standard library
alone.
"""
import argparse
import concurrent.futures
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PACK = HERE.parent.parent / "packs/research/data"
SAID = re.compile(r"“([^”]*)” \[([^\]]+)\]")


def plain(text):
    """Spaces and the kinds of quotation marks do not matter."""
    return " ".join(re.sub("[“”„\"]", '"', re.sub("[’‘]", "'", text)).split())


def documents(spec, beside):
    """Every document's text by its name."""
    if spec["corpus"] == "shipped":
        texts = (PACK / "documents.yaml").read_text(encoding="utf-8")
        pairs = re.findall(r'^- doc: (\S+)$.*?^  text: ("[^\n]*")$', texts, re.M | re.S)
        return {doc: plain(json.loads(text)) for doc, text in pairs}
    folder = beside / spec["corpus"]
    return {path.stem: plain(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md"))}


def own_words():
    """What the program says itself, the longest first."""
    lines = (PACK / "texts.yaml").read_text(encoding="utf-8").splitlines()
    texts = [line.split(": ", 1)[1].strip().strip("'\"") for line in lines if re.match(r"\w+: \S", line)]
    return sorted((plain(text) for text in texts), key=len, reverse=True)


def holds(text, pattern):
    """A pattern that begins or ends with a digit is a whole number there."""
    if isinstance(pattern, list):
        return any(holds(text, one) for one in pattern)
    left = r"(?<![\d.,])" if pattern[0].isdigit() else ""
    right = r"(?!\d|[.,]\d)" if pattern[-1].isdigit() else ""
    return re.search(left + re.escape(plain(pattern).lower()) + right, plain(text).lower()) is not None


def untraced(report, words):
    """The lines of a report of which something is left when claims, quotes and the program's words are taken away."""
    known, about, left = set(), [], []
    for claim in report["claims"]:
        known.add((claim["id"], plain(claim["text"])))
        about.append(claim.get("why", ""))
        for source in claim["sources"]:
            known.add((source["id"], plain(source["quote"])))
            about.append(source["source"])
    for one in report.get("refused", []):
        about += [one["why"], *one["sources"]]
    about += report.get("silent", []) + [part for one in report.get("unread", []) for part in (one["file"], one["why"])]
    about = sorted({plain(text) for text in about if text}, key=len, reverse=True)
    for line in report["report_markdown"].splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        rest = SAID.sub(lambda m: "" if (m[2], plain(m[1])) in known else m[0], line.removeprefix("- "))
        told = re.match(r"(.*?) \[([^\]]+)\]", rest)
        if told and (told[2], plain(told[1])) in known:
            rest = rest[told.end():]
        rest = plain(rest)
        for text in [*about, *words]:
            rest = rest.replace(text, "")
        # Of an id alone nothing is told.
        if re.search(r"\w", re.sub(r"\[[\w#./-]+\]", "", rest)):
            left.append(line)
    return left


def judge(spec, docs, question, report, words):
    """What is right and wrong about one report."""
    lies = {plain(lie["sentence"]): lie["id"] for lie in spec["falsehoods"]}
    claims = report["claims"]

    def lie_of(claim):
        own = [source["quote"] for source in claim["sources"] if source["says"] == "claims"]
        return next((lies[plain(text)] for text in [claim["text"], *own] if plain(text) in lies), None)

    quotes = [(source["doc"], plain(source["quote"])) for claim in claims for source in claim["sources"]]
    contradicted = [claim for claim in claims if claim["verdict"] == "contradicted"]
    short = report["report_markdown"].partition("\n## ")[2].partition("\n## ")[0]
    # What is only near the question is told there with that, as unverified.
    short = plain("\n".join(line for line in short.splitlines() if not SAID.search(line)))
    found = {lie_of(claim) for claim in contradicted} & set(question["falsehoods"])

    def has(must):
        for claim in claims:
            of = {source["doc"] for source in claim["sources"] if source["says"] in ("claims", "same")}
            if claim["verdict"] != "contradicted" and of & set(must["docs"]) and all(holds(claim["text"], p) for p in must["match"]):
                return True
        return False

    missing = [must["id"] for must in question["must"] if not has(must)]
    return {
        "planted": len(question["falsehoods"]), "found": len(found), "not_found": sorted(set(question["falsehoods"]) - found),
        "wrong": [claim["text"] for claim in contradicted if lie_of(claim) is None],
        "believed": [claim["text"] for claim in claims if claim["verdict"] == "supported" and lie_of(claim)]
        + [lie for lie in lies if lie in short],
        "wanted": len(question["must"]), "missing": missing,
        "quotes": len(quotes), "misquoted": [f"{doc}: {quote}" for doc, quote in quotes if quote not in docs.get(doc, "")],
        "sourceless": [claim["text"] for claim in claims if not claim["sources"]],
        "untraced": untraced(report, words),
    }


FAULTS = ("wrong", "believed", "misquoted", "sourceless", "untraced")


def ran(program, question, folder, seconds=300):
    command = [program, "run", "research", question, "--output-format", "json"]
    if folder:
        command += ["--corpus", str(folder)]
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ["PATH"], "HOME": home}
        try:
            done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return {"failed": f"it took more than {seconds} s"}
    try:
        return json.loads(done.stdout)["output"]
    except (ValueError, KeyError, TypeError):
        return {"failed": (done.stderr or done.stdout).strip()[-300:]}


def score(program, path, words, verbose, seconds=300):
    spec = json.loads(path.read_text(encoding="utf-8"))
    docs = documents(spec, path.parent)
    folder = None if spec["corpus"] == "shipped" else path.parent / spec["corpus"]
    total = dict.fromkeys(("reports", "planted", "found", "wanted", "held", "quotes", *FAULTS, "failed"), 0)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda q: ran(program, q["question"], folder, seconds), spec["questions"]))
    for question, report in zip(spec["questions"], reports):
        total["reports"] += 1
        if not report or "failed" in report:
            # Nothing was found, so nothing that was wanted, either.
            total["failed"] += 1
            total["planted"] += len(question["falsehoods"])
            total["wanted"] += len(question["must"])
            print(f"  {question['id']}: no report: {(report or {}).get('failed')}")
            continue
        one = judge(spec, docs, question, report, words)
        for key in ("planted", "found", "wanted", "quotes"):
            total[key] += one[key]
        total["held"] += one["wanted"] - len(one["missing"])
        for key in FAULTS:
            total[key] += len(one[key])
            for what in one[key]:
                print(f"  {question['id']} {key}: {what}")
        if verbose and (one["not_found"] or one["missing"]):
            print(f"  {question['id']} not found {one['not_found']}, missing {one['missing']}")
    return total


def is_faulty(sums):
    """A report that did not come about is no good one."""
    return any(sums[key] for key in (*FAULTS, "failed"))


def named(paths):
    """Each spec by its folder; one more of the same folder by its file as well."""
    specs = {}
    for path in paths:
        name = path.resolve().parent.name
        specs[f"{name}/{path.name}" if name in specs else name] = path
    return specs


def told(name, t):
    return (f"{name:12} {t['reports']} reports ({t['failed']} failed), planted {t['found']}/{t['planted']}, wrong {t['wrong']}, "
            f"believed {t['believed']}, wanted {t['held']}/{t['wanted']}, quotes {t['quotes'] - t['misquoted']}/{t['quotes']}, "
            f"without a source {t['sourceless']}, untraced {t['untraced']}")


def selftest(words):
    lie, truth = "The wall is 9 m high.", "The wall is 7 m high."
    docs = {"a": lie, "b": truth, "c": f"{truth} It is old."}
    spec = {"falsehoods": [{"id": "L", "doc": "a", "sentence": lie}]}
    question = {"falsehoods": ["L"], "must": [{"id": "height", "match": ["7"], "docs": ["b", "c"]}]}

    def source(doc, says, quote):
        return {"id": f"{doc}#1", "doc": doc, "says": says, "quote": quote, "source": f"Paper {doc}"}

    good = {"claims": [
        {"id": "a#1", "text": lie, "verdict": "contradicted", "why": "", "sources":
            [source("a", "claims", lie), source("b", "otherwise", truth), source("c", "otherwise", truth)]},
        {"id": "b#1", "text": truth, "verdict": "supported", "why": "", "sources":
            [source("b", "claims", truth), source("c", "same", truth)]},
    ], "report_markdown": f"# How high?\n\n## In short\n\n- {truth} [b#1]\n\n## No\n\n- “{lie}” [a#1] (Paper a)\n"}
    right = judge(spec, docs, question, good, words)
    assert right["found"] == 1 and not right["missing"] and not any(right[key] for key in FAULTS), right

    def fault(key, change):
        report = copy.deepcopy(good)
        change(report)
        assert judge(spec, docs, question, report, words)[key], f"not seen: {key}"

    fault("wrong", lambda r: r["claims"][1].update(verdict="contradicted"))
    fault("missing", lambda r: r["claims"][1].update(verdict="contradicted"))
    fault("not_found", lambda r: r["claims"][0].update(verdict="unverified"))
    fault("believed", lambda r: r["claims"][0].update(verdict="supported"))
    fault("believed", lambda r: r.update(report_markdown=r["report_markdown"].replace(f"- {truth}", f"- {lie}")))
    fault("misquoted", lambda r: r["claims"][1]["sources"][0].update(quote="The wall is seven m high."))
    fault("misquoted", lambda r: r["claims"][1]["sources"][0].update(doc="a"))
    fault("sourceless", lambda r: r["claims"][1].update(sources=[]))
    fault("untraced", lambda r: r.update(report_markdown=r["report_markdown"] + "\n- The wall was built by giants. [b#1]\n"))
    fault("untraced", lambda r: r.update(report_markdown=r["report_markdown"].replace("[a#1] (Paper a)", "[a#1] (Paper a) It leans.")))
    # A program that gives no report, and one that does not end.
    with tempfile.TemporaryDirectory() as beside:
        path = pathlib.Path(beside, "questions.json")
        asked = [{"id": "q", "question": "How high?", **question}]
        path.write_text(json.dumps({**spec, "corpus": "texts", "questions": asked}), encoding="utf-8")
        for does, seconds in [("exit 2", 60), ("exec sleep 60", 0.2)]:
            program = pathlib.Path(beside, "program")
            program.write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
            program.chmod(0o755)
            total = score(str(program), path, words, False, seconds)
            assert total["failed"] == 1 and is_faulty(total), total
    assert not is_faulty(dict.fromkeys((*FAULTS, "failed"), 0))
    assert len(named([pathlib.Path("a/one.json"), pathlib.Path("a/two.json")])) == 2
    print("the scorer sees each fault")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("corpora", nargs="*", help="names of folders here, or shipped")
    parser.add_argument("--questions", type=pathlib.Path, action="append", default=[], help="a spec of another place")
    parser.add_argument("--selftest", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true", help="also what was not found, and what is missing")
    given = parser.parse_args()
    words = own_words()
    if given.selftest:
        return selftest(words)
    if not given.program:
        parser.error("name the built program")
    specs = {path.parent.name: path for path in sorted(HERE.glob("*/questions.json"))} | {"shipped": HERE / "shipped.json"}
    specs = {name: path for name, path in specs.items() if json.loads(path.read_text(encoding="utf-8")).get("questions")}
    if given.corpora or given.questions:
        specs = {name: specs[name] for name in given.corpora} | named(given.questions)
    program, sums = os.path.abspath(given.program), {}
    for name, path in specs.items():
        total = score(program, path, words, given.verbose)
        print(told(name, total), flush=True)
        sums = {key: sums.get(key, 0) + total[key] for key in total}
    print(told("all", sums))
    sys.exit(is_faulty(sums))


if __name__ == "__main__":
    main()
