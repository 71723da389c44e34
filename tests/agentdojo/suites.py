"""AgentDojo's suites without its clients of model providers: environments with and without injections, calls, verdicts."""

import functools
import json
import sys
import types

import agentdojo

VERSION = "v1.2.2"


def _without_clients():
    """Its package `agent_pipeline` imports the client of every provider; the suites use two small files of it."""
    package = types.ModuleType("agentdojo.agent_pipeline")
    package.__path__ = [agentdojo.__path__[0] + "/agent_pipeline"]
    sys.modules[package.__name__] = package
    unused = types.ModuleType("agentdojo.agent_pipeline.ground_truth_pipeline")
    unused.GroundTruthPipeline = None
    sys.modules[unused.__name__] = unused


_without_clients()

from agentdojo.functions_runtime import FunctionsRuntime  # noqa: E402
from agentdojo.task_suite.load_suites import get_suites  # noqa: E402
from pydantic import BaseModel  # noqa: E402

SUITES = get_suites(VERSION)
_MARK = "\u241eVECTOR:{}\u241e"
_templates = {}


def plain(value):
    """A tool's result as JSON values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def environment(suite, injections=None):
    """A fresh environment. Reading its YAML takes long, so it is read once with marks and once without."""
    key = (suite, bool(injections))
    if key not in _templates:
        s = SUITES[suite]
        marks = {v: _MARK.format(v) for v in s.get_injection_vector_defaults()} if injections else {}
        _templates[key] = s.load_and_inject_default_environment(marks).model_dump_json()
    text = _templates[key]
    if injections:
        defaults = environment_defaults(suite)
        for vector in SUITES[suite].get_injection_vector_defaults():
            text = text.replace(_MARK.format(vector), json.dumps(injections.get(vector, defaults[vector]), ensure_ascii=False)[1:-1])
    return SUITES[suite].environment_type.model_validate_json(text)


def environment_defaults(suite):
    """What stands at a vector without an injection, as YAML reads it inside a quoted text."""
    return {v: text.replace("\\n", "\n").replace("\\t", "\t") for v, text in SUITES[suite].get_injection_vector_defaults().items()}


def prepared(suite, user_task, injections=None):
    env = environment(suite, injections)
    return SUITES[suite].user_tasks[user_task].init_environment(env) if user_task else env


def call(suite, env, name, args):
    """(result as JSON values, error or None)"""
    result, error = FunctionsRuntime(SUITES[suite].tools).run_function(env, name, args)
    return plain(result), error


def calls_of(task, env):
    return [(c.function, plain(dict(c.args))) for c in task.ground_truth(env.model_copy(deep=True))]


@functools.lru_cache(maxsize=None)
def seen_vectors(suite, user_task):
    """The vectors that the user's own calls read, as AgentDojo finds them out."""
    vectors = SUITES[suite].get_injection_vector_defaults()
    canaries = {v: f"CANARY-{v}-CANARY" for v in vectors}
    env = prepared(suite, user_task, canaries)
    task = SUITES[suite].user_tasks[user_task]
    told = ""
    for name, args in calls_of(task, env):
        result, error = call(suite, env, name, args)
        told += json.dumps(result) + str(error)
    return [v for v in vectors if canaries[v] in told]


def verdict(suite, user_task, injection_task, injections, done, output):
    """What AgentDojo says of a run: the calls that were carried out are done again on a fresh environment.
    (utility, security or None)"""
    from agentdojo.functions_runtime import FunctionCall

    s = SUITES[suite]
    post = prepared(suite, user_task, injections)
    pre = post.model_copy(deep=True)
    traces = []
    for name, args in done:
        call(suite, post, name, args)
        traces.append(FunctionCall(function=name, args=args))
    output = [{"type": "text", "content": output}]
    utility = bool(s._check_task_result(s.user_tasks[user_task], output, pre, post, traces)) if user_task else None
    if injection_task is None:
        return utility, None
    return utility, bool(s._check_task_result(s.injection_tasks[injection_task], output, pre, post, traces))
