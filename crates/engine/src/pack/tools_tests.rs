//! Tool files: what is read of them, what is refused with its line, and flows that are tools.

use super::{BuiltIn, LoadOptions, Pack, PackErrors, ToolKind, load};
use crate::vocabulary::{Kind, Vocabulary, Words};
use serde_json::json;
use std::borrow::Cow;
use std::path::Path;

const POST: &str = "tool_id: post\nname: Post\ndescription: Posts a text.\nkind: wire\nwire: {}\nparameters:\n  text: {type: string, required: true, description: What}\n  times: {type: integer}\nbind: {who: input.user}\n";
const ASK: &str = "tool_id: ask\nname: Ask\ndescription: Asks the helper.\nkind: flow\nflow: helper\nparameters: {task: {type: string, required: true, description: What}}\nbind: {who: input.user}\n";
const TURN: &str = "name: turn\nsteps:\n  - id: main\n    agent: boss\n    task: serve\n    instructions: Serve.\n    contract: {type: object}\n";
const HELPER: &str = "name: helper\ninput: {schema: {required: [task, who]}}\nsteps:\n  - id: work\n    agent: helper\n    task: work\n    instructions: Work.\n    contract: {type: object}\n";
const POLICY: &str = "roles:\n  boss: {can: [delegate], tools: [ask]}\n  helper: [post]\n";

fn agent(name: &str, tools: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: d\nmodel: haiku\ntools: [{tools}]\nmaxTurns: 3\n---\nYou are {name}.\n"
    )
}

fn pack(changed: &[(&str, &str)]) -> Result<Pack, PackErrors> {
    let (boss, helper) = (agent("boss", "ask"), agent("helper", "post"));
    let mut files: Vec<(&str, &str)> = vec![
        ("pack.yaml", "name: desk\nentry: turn\n"),
        ("agents/turn.flow.yaml", TURN),
        ("agents/helper.flow.yaml", HELPER),
        ("agents/policy.yaml", POLICY),
        ("agents/boss.md", &boss),
        ("agents/helper.md", &helper),
        ("tools/post/tool.yaml", POST),
        ("tools/ask/tool.yaml", ASK),
    ];
    for (path, text) in changed {
        files.retain(|(known, _)| known != path);
        files.push((path, text));
    }
    let files = files.into_iter().filter(|(_, text)| !text.is_empty());
    let files = files.map(|(path, text)| (path.to_owned(), Cow::Owned(text.as_bytes().to_vec())));
    let vocabulary = Vocabulary::new(Words::default()).unwrap();
    let vocabulary = vocabulary.with_kinds(&[Kind {
        name: "wire",
        check: |node, _| match node.get("bad") {
            Some(bad) => vec![(bad.place, "bad is bad".to_owned())],
            None => Vec::new(),
        },
    }]);
    let built_in = BuiltIn::named("desk", vocabulary, files);
    load(&built_in, None, Path::new(""), &LoadOptions::default())
}

fn told(changed: &[(&str, &str)]) -> String {
    pack(changed).map(|pack| pack.hash).unwrap_err().to_string()
}

#[test]
fn a_tool_file_is_read_and_granted_by_its_name() {
    let pack = pack(&[]).unwrap();
    let post = &pack.tools["post"];
    assert_eq!(
        *post.parameters,
        json!({"type": "object", "properties": {"text": {"type": "string", "description": "What"}, "times": {"type": "integer"}}, "required": ["text"], "additionalProperties": false})
    );
    assert!(post.changes, "what is not said changes something");
    assert_eq!(post.kind.name(), "wire");
    assert_eq!(pack.policy.allowed_tools("helper"), ["post"]);
    assert_eq!(pack.policy.allowed_tools("boss"), ["ask"]);
    assert_eq!(
        pack.tools["ask"].kind,
        ToolKind::Flow {
            flow: "helper".into()
        }
    );
    // The flow stands below the step of the agent that may call it, and nowhere else.
    let turn = &pack.flows["turn"].flow;
    assert!(turn.at("main/ask[1]/work").is_some());
    assert!(turn.at("main/post[1]/work").is_none());
    let with = |text: &str| self::pack(&[("tools/post/tool.yaml", text)]).unwrap().hash;
    assert_ne!(
        pack.hash,
        with(&POST.replace("Posts a text", "Posts texts"))
    );
}

#[test]
fn a_broken_tool_file_is_told_with_its_line() {
    let post = |from: &str, to: &str| told(&[("tools/post/tool.yaml", &POST.replace(from, to))]);
    for (from, to, said) in [
        (
            "tool_id: post",
            "tool_id: mail",
            "tool.yaml:1:10: tool_id is \"mail\"",
        ),
        (
            "kind: wire",
            "kind: wires",
            "tool.yaml:4:7: \"wires\" is no kind of tool; there are flow, wire",
        ),
        ("wire: {}", "wire: {bad: 1}", "tool.yaml:5:13: bad is bad"),
        (
            "type: integer",
            "type: whole",
            "the type of a parameter is one of",
        ),
        (
            "who: input.user",
            "text: input.user",
            "\"text\" is bound by the program",
        ),
        (
            "who: input.user",
            "who: state.user",
            "unknown variable `state`",
        ),
        ("name: Post", "nme: Post", "a tool has no \"nme\""),
        (
            "kind: wire",
            "kind: wire\nrequires: list",
            "requires the tool \"list\", which the pack does not have",
        ),
        (
            "kind: wire",
            "kind: wire\ncache: {seconds: 5}",
            "only a tool with effect: reads may have a cache",
        ),
        (
            "kind: wire",
            "effect: changes\nkind: wire\ncache: {seconds: 5}",
            "tool.yaml:6:8: only a tool with effect: reads",
        ),
        (
            "kind: wire",
            "kind: wire\nrequires: post",
            "tool.yaml:5:11: it requires itself",
        ),
        (
            "kind: wire",
            "kind: wire\nrequires: list",
            "tool.yaml:5:11: it requires the tool",
        ),
        (
            "kind: wire",
            "kind: wire\nmock: nope.json",
            "tool.yaml:5:7: there is no tools/post/nope.json",
        ),
        (
            "kind: wire",
            "kind: wire\nlimits: {timeout_s: 0}",
            "tool.yaml:5:21: timeout_s must be a whole number from 1",
        ),
        (
            "kind: wire",
            "kind: wire\nreads_when: args.txt == 'a'",
            "tool.yaml:5:13: the tool has no parameter \"txt\"; did you mean \"text\"?",
        ),
        (
            "kind: wire",
            "kind: wire\ncategory: validaton",
            "tool.yaml:5:11: there is no category \"validaton\"; did you mean \"validation\"?",
        ),
        (
            "kind: wire",
            "kind: wire\noutput_schema: {result: {type: strng}}",
            "tool.yaml:5:32: there is no type \"strng\"; did you mean \"string\"?",
        ),
        (
            "kind: wire",
            "kind: wire\nkeywords: post",
            "tool.yaml:5:11: keywords is a list",
        ),
        (
            "kind: wire",
            "kind: wire\nusage_examples: [{scenario: a, parameters: {txt: hi}}]",
            "tool.yaml:5:45: the tool has no parameter \"txt\"",
        ),
        (
            "description: What",
            "description: What, pattern: \"[\"",
            "tool.yaml:7:9: the parameter is not a JSON Schema",
        ),
        (
            "bind: {who: input.user}",
            "bind: [who]",
            "tool.yaml:9:7: bind is a map",
        ),
    ] {
        let told = post(from, to);
        assert!(told.contains(said), "{to}: {told}");
    }
}

#[test]
fn a_broken_mock_or_test_of_a_tool_is_told_with_its_line() {
    for (mock, said) in [
        (
            r#"{"cases": [{"when": "argz.text == 1", "answer": 1}]}"#,
            "mock.json:1:21: the expression `argz.text == 1` uses the unknown variable",
        ),
        (
            r#"{"cases": [{"answer": 1}]}"#,
            "mock.json:1:12: a case says `when`",
        ),
        (
            r#"{"cases": [{"when": "true", "answr": 1}]}"#,
            "a mock has no \"answr\" here; did you mean \"answer\"?",
        ),
        (
            r#"{"cases": {"when": "true"}}"#,
            "mock.json:1:11: cases is a list",
        ),
    ] {
        let told = told(&[("tools/post/mock.json", mock)]);
        assert!(told.contains(said), "{mock}: {told}");
    }
    let tests = "- {name: a, args: {text: hi}, expect: {status: okk}}\n";
    let told = told(&[("tools/post/tests.yaml", tests)]);
    assert!(
        told.contains("tests.yaml:1:48: status is one of ok, failed"),
        "{told}"
    );
}

#[test]
fn who_calls_another_agent_needs_the_right_to_delegate() {
    let told = told(&[(
        "agents/policy.yaml",
        &POLICY.replace("can: [delegate], ", ""),
    )]);
    assert!(told.contains("policy.yaml:2:9: the role \"boss\" has the tool ask, which calls another agent: it needs delegate too"), "{told}");
}

#[test]
fn a_flow_that_is_a_tool_asks_nobody_and_does_not_call_itself() {
    let asks = HELPER.replace(
        "steps:",
        "steps:\n  - {id: q, ask: {questions: [{id: a, text: \"'?'\"}]}}",
    );
    let asked = told(&[("agents/helper.flow.yaml", &asks)]);
    assert!(
        asked.contains("the flow helper asks the user in its step \"q\""),
        "{asked}"
    );
    let policy = POLICY.replace("helper: [post]", "helper: [ask, delegate]");
    let itself = told(&[
        ("agents/policy.yaml", &policy),
        ("agents/helper.md", &agent("helper", "ask")),
    ]);
    assert!(
        itself.contains("the flow helper would call itself: turn → helper → helper"),
        "{itself}"
    );
    let missing = told(&[(
        "tools/ask/tool.yaml",
        &ASK.replace("flow: helper", "flow: nobody"),
    )]);
    assert!(missing.contains("there is no flow \"nobody\""), "{missing}");
}

#[test]
fn an_agent_has_its_flows_wherever_its_step_stands() {
    let agent =
        "{id: main, agent: boss, task: serve, instructions: Serve., contract: {type: object}}";
    for around in [
        format!(
            "  - id: p\n    parallel: {{}}\n    branches:\n      - {{id: one, steps: [{agent}]}}\n"
        ),
        format!("  - id: e\n    for_each: {{of: '[1]', as: one}}\n    steps: [{agent}]\n"),
        format!("  - id: l\n    loop: [{agent}]\n    max: 2\n"),
        format!(
            "  - id: r\n    route: {{by: \"'a'\"}}\n    cases:\n      - {{case: a, steps: [{agent}]}}\n"
        ),
    ] {
        let turn = format!("name: turn\nsteps:\n{around}");
        let pack = pack(&[("agents/turn.flow.yaml", &turn)]);
        let pack = pack.unwrap_or_else(|wrong| panic!("{turn}{wrong}"));
        let steps = pack.flow.steps_of_all();
        let main = steps.iter().find(|step| step.id == "main").unwrap();
        let crate::flow::StepKind::Agent(spec) = &main.kind else {
            panic!("{turn}");
        };
        let called: Vec<&str> = spec.calls.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(called, ["ask"], "{turn}");
    }
}

#[test]
fn one_pattern_makes_several_flows() {
    let manifest = "name: desk\nentry: turn\nflows:\n  one: {from: helper, who: One}\n  two: {from: helper, who: Two}\n";
    let helper = HELPER
        .replace("Work.", "Work as ${who}.")
        .replace("name: helper\n", "name: ${who}\n");
    let ask = ASK.replace("flow: helper", "flow: two");
    let made = pack(&[
        ("pack.yaml", manifest),
        ("agents/helper.flow.yaml", &helper),
        ("tools/ask/tool.yaml", &ask),
    ])
    .unwrap();
    assert_eq!(
        made.flows.keys().collect::<Vec<_>>(),
        ["turn", "one", "two"]
    );
    assert_eq!(made.flows["two"].flow.name, "Two");
    let bad = manifest.replace("who: One", "who: \"a: b\"");
    let told = told(&[
        ("pack.yaml", &bad),
        ("agents/helper.flow.yaml", &helper),
        ("tools/ask/tool.yaml", &ask),
    ]);
    assert!(
        told.contains("a value of a pattern is a text of letters"),
        "{told}"
    );
}

#[test]
fn a_flow_by_a_name_may_call_another_one_of_its_pack() {
    let call = "  - id: sub\n    call: helper\n    with: {task: \"'x'\", who: \"'y'\"}\n";
    let pack = pack(&[("agents/turn.flow.yaml", &format!("{TURN}{call}"))]).unwrap();
    assert!(pack.flows["turn"].flow.at("sub/work").is_some());
    let circle = format!("{HELPER}  - {{id: up, call: turn, with: {{}}}}\n");
    let told = told(&[
        ("agents/turn.flow.yaml", &format!("{TURN}{call}")),
        ("agents/helper.flow.yaml", &circle),
    ]);
    assert!(
        told.contains("would call itself") || told.contains("there is no flow"),
        "{told}"
    );
}
