"""What a run is granted before it reads anything: `agentctl build --grants FILE`. A plan only narrows what the pack's policy allows.

control  everything is allowed; shows that the attacks work
none     the pack's policy alone
oracle   a planner that never errs: the tools of the benchmark's ground truth, and of their arguments those that stand word for word in the
         prompt (also as a quoted template, 'Dinner at {restaurant_name}'). It flatters: no real planner knows the ground truth.
blind    a planner that knows the prompt and the names of the tools, by word lists. Every reading tool is in its plan, and it pins no argument.
"""

import json
import pathlib
import re

import yaml

import suites

KINDS = ["control", "none", "oracle", "blind"]
LIMITS = {"max_identical_calls": 6}

# Tasks that say no more than "do what is written there": their plan is in data. They have no plan, the policy alone decides.
# (attacks.md of the measurement before counted them as lost; the figures are given both ways.)
PLAN_IN_DATA = {("workspace", "user_task_13"), ("workspace", "user_task_19"), ("banking", "user_task_12"), ("slack", "user_task_18"), ("slack", "user_task_19")}


def everything(suite):
    tools = [f"mcp__{suite}__{f.name}" for f in suites.SUITES[suite].tools]
    rule = {"id": "everything", "effect": "allow", "roles": ["assistant"], "tools": tools, "when": "true", "reason": "the control",
            "match": [{"role": "assistant", "tool": tools[0], "args": {}}], "not_match": [{"role": "nobody", "tool": tools[0], "args": {}}]}
    return {"roles": {"assistant": []}, "rules": [rule], "limits": LIMITS}


def flags(kind, suite, user_task, file):
    plan = {"oracle": oracle, "blind": blind}.get(kind, lambda *_: None)(suite, user_task)
    if plan is None:
        return []
    file.write_text(json.dumps({"outside": "deny", "tools": plan}))
    return ["--grants", str(file)]


def oracle(suite, user_task):
    if (suite, user_task) in PLAN_IN_DATA:
        return None
    task = suites.SUITES[suite].user_tasks[user_task]
    entries = []
    for name, args in suites.calls_of(task, suites.prepared(suite, user_task)):
        entry = {"tool": f"mcp__{suite}__{name}", "args": {k: pin(v, task.PROMPT) for k, v in args.items() if v is not None}}
        if entry not in entries:
            entries.append(entry)
    return entries


def pin(value, prompt):
    if isinstance(value, list) and value and all(isinstance(pin(v, prompt), dict) for v in value):
        return {"equals": value}
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return "any"
    if isinstance(value, str):
        if len(value) >= 3 and stands(re.escape(value), prompt):
            return {"equals": value}
        # Quoted only as far as it has a part of its own: '{hotel_name}' alone pins nothing.
        for template in re.findall(r"['\"“]([^'\"“”]*\{\w+\}[^'\"“”]*)['\"”]", prompt):
            parts = re.split(r"\{\w+\}", template)
            pattern = ".+".join(map(re.escape, parts))
            if sum(map(len, parts)) >= 5 and re.fullmatch(pattern, value):
                return {"matches": pattern}
        return "any"
    forms = {str(value), f"{value:.2f}"} | ({str(int(value))} if value == int(value) else set())
    return {"equals": value} if any(stands(re.escape(f), prompt) for f in forms) else "any"


def stands(pattern, text):
    return re.search(rf"(?<![\w@.]){pattern}(?!\w)", text) is not None


# ---- blind ----------------------------------------------------------------------------------------------

READS = re.compile(r"^(get|search|read|list|check)_")
# get_webpage reads, and sends its address out: it is planned like what changes something.
NO_READ = {"get_webpage"}
VERBS = {
    "send": r"send|sent|email|e-mail|mail|message|write|reply|tell|pay|refund|transfer|give|return|post|ask",
    "create": r"create|add|make|book|set up|schedule|new|write|put",
    "add": r"add|invite|include|put",
    "append": r"add|append|put|write|extend",
    "delete": r"delete|remove|erase|get rid",
    "remove": r"remove|delete|kick",
    "cancel": r"cancel|call off",
    "reschedule": r"reschedule|move|postpone|shift",
    "share": r"share|give access",
    "schedule": r"schedule|set up|standing order|recurring|every month",
    "update": r"update|change|adjust|correct|set|raise|lower",
    "reserve": r"reserve|reservation|book",
    "invite": r"invite|invitation",
    "post": r"post|publish|upload",
    "get": r"read|visit|open|look|website|webpage|page|article|site|find|summar\w*",
}
THINGS = {
    "email": r"e-?mails?|mail|message",
    "calendar_event": r"events?|calendar|appointments?|meetings?|reminders?|remind",
    "calendar_event_participants": r"participants?|attendees?|guests?",
    "to_file": r"files?|documents?|drive|list|\w+\.(?:docx|xlsx|txt|pptx)",
    "file": r"files?|documents?|drive|list|\w+\.(?:docx|xlsx|txt|pptx)",
    "money": r"pay|refund|money|bill|send (?:them|him|her|it)|send back|difference|transfer|amount",
    "transaction": r"recurring|scheduled|standing order|subscription|transaction",
    "scheduled_transaction": r"scheduled|standing orders?|rent|recurring|payment",
    "password": r"passwords?",
    "user_info": r"address|street|city|account information|my name|last name|first name",
    "hotel": r"hotel|room|stay",
    "restaurant": r"restaurant|table|dinner|lunch",
    "car_rental": r"car|rental",
    "direct_message": r"direct message|dm|message|send|tell|write",
    "channel_message": r"channels?",
    "user_to_channel": r"channels?",
    "user_to_slack": r"slack",
    "user_from_slack": r"slack",
    "webpage": r"www\.\S+|webpages?|websites?|pages?|articles?|site|blog|restaurant",
}
DELEGATES = r"actions? specified|follow the instructions|do all the tasks|to-?do list at|instructions precisely"


def possible(suite):
    """The tools that the pack allows at all: a plan that names another one is refused as a mistake."""
    policy = yaml.safe_load((pathlib.Path(__file__).parent / "packs" / suite / "agents/policy.yaml").read_text())
    return {tool for rule in policy["rules"] for tool in rule["tools"]}


def blind(suite, user_task):
    prompt = suites.SUITES[suite].user_tasks[user_task].PROMPT
    if re.search(DELEGATES, prompt, re.IGNORECASE):
        return None
    entries = []
    for function in suites.SUITES[suite].tools:
        name = function.name
        if not (READS.match(name) and name not in NO_READ):
            verb, _, thing = name.partition("_")
            # "Reschedule" says enough; the other verbs fit several tools.
            named = verb == "reschedule" or word(THINGS.get(thing, thing.replace("_", " ")), prompt)
            if not (named and word(VERBS.get(verb, verb), prompt)):
                continue
        if f"mcp__{suite}__{name}" in possible(suite):
            entries.append({"tool": f"mcp__{suite}__{name}", "args": {k: "any" for k in function.parameters.model_fields}})
    return entries


def word(pattern, text):
    return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE) is not None
