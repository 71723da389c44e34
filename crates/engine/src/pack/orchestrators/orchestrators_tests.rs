//! Orchestrators: what a file is made into, which one is taken, and that every mistake has its line.

use super::super::{BuiltIn, LoadOptions, Pack, PackErrors, load};
use super::{ORCHESTRATOR, Orchestrator};
use crate::flow::{A2A, StepKind, mermaid};
use crate::vocabulary::{Faults, Kind, Vocabulary};
use std::borrow::Cow;
use std::path::Path;

const MANIFEST: &str = "name: desk
entry: turn
orchestrators:
  default: first
  input: [question]
  agents:
    planner: {flow: plan, always: true}
    worker: {flow: work}
";
const TURN: &str = "name: desk
steps:
  - {id: team, call: orchestrator, with: {question: input.message, agents: '[]'}}
";
const WORK: &str = "name: work
input: {schema: {type: object, required: [question, results]}}
steps: [{id: done, when: 'false', end: true}]
output: {value: '{}'}
";
const PLAN: &str = "name: plan
steps: [{id: done, when: 'false', end: true}]
output: {value: '{}'}
";
const FIRST: &str =
    r#"{"id": "first", "steps": [{"id": "plan", "pattern": "sequential", "agents": ["planner"]}]}"#;

fn desk() -> BuiltIn {
    of(Vocabulary::default())
}

fn of(vocabulary: Vocabulary) -> BuiltIn {
    let files = [
        ("pack.yaml", MANIFEST),
        ("agents/turn.flow.yaml", TURN),
        ("agents/plan.flow.yaml", PLAN),
        ("agents/work.flow.yaml", WORK),
        ("agents/policy.yaml", "roles: {}\n"),
        ("orchestrators/first.json", FIRST),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), Cow::Borrowed(text.as_bytes())));
    BuiltIn::named("desk", vocabulary, files)
}

fn with(chosen: Option<Orchestrator>) -> Result<Pack, PackErrors> {
    let chosen = chosen.map(|chosen| ("desk".to_owned(), chosen));
    let options = LoadOptions {
        orchestrators: chosen.into_iter().collect(),
        ..LoadOptions::default()
    };
    load(&desk(), None, Path::new(""), &options)
}

fn given(text: &str) -> Result<Pack, PackErrors> {
    let file = "mine.json".to_owned();
    let text = text.to_owned();
    with(Some(Orchestrator::Given { file, text }))
}

fn told(text: &str) -> String {
    given(text).map(|pack| pack.hash).unwrap_err().to_string()
}

#[test]
fn the_default_works_unless_another_is_chosen_and_a_resume_finds_the_chosen_one() {
    let pack = with(None).unwrap();
    assert_eq!(pack.orchestrators, ["first"]);
    let in_force = pack.orchestrator.unwrap();
    assert_eq!((in_force.chosen, in_force.text.as_str()), (None, FIRST));
    assert_eq!(in_force.agents, ["planner", "worker"]);
    let mine = given(&FIRST.replace("first", "mine")).unwrap();
    assert_ne!(mine.hash, pack.hash);
    assert_eq!(
        mine.orchestrator.unwrap().chosen.as_deref(),
        Some("mine.json")
    );
    let unknown = with(Some(Orchestrator::Named("frist".into())));
    let unknown = unknown.map(|pack| pack.hash).unwrap_err().to_string();
    assert!(
        unknown.contains("no orchestrator \"frist\"; did you mean \"first\"?"),
        "{unknown}"
    );
}

#[test]
fn every_pattern_is_a_flow_of_the_engine() {
    let pack = given(
        r#"{
  "id": "mine",
  "agents": {"second": {"as": "worker", "with": {"question": "input.question + ' again'"}, "timeout_s": 5, "on_failure": "stop"}},
  "timeout_s": 30,
  "on_failure": "continue",
  "retry": {"attempts": 3, "delay_s": 1, "backoff": 2.5},
  "steps": [
    {"id": "plan", "pattern": "sequential", "agents": ["planner"], "on_failure": "stop"},
    {"id": "both", "pattern": "parallel", "max_at_once": 2, "agents": ["worker", {"agent": "second", "if": "true || false"}]},
    {"id": "more", "pattern": "conditional", "if": "size(state.away) > 0",
     "then": [{"id": "late", "pattern": "sequential", "agents": ["worker"]}]}
  ]
}"#,
    )
    .unwrap();
    let flow = &pack.flows[ORCHESTRATOR].flow;
    insta::assert_snapshot!(mermaid(flow));
    let step = |id: &str| flow.step(id).unwrap();
    // The nearest word counts: the agent's, the item's, the file's.
    assert_eq!(step("both-second").timeout_ms, Some(5000));
    assert_eq!(step("both-worker").timeout_ms, Some(30_000));
    assert!(!step("plan-planner").continue_on_failure);
    assert!(step("late-worker").continue_on_failure);
    assert!(step("both-worker").continue_on_failure);
    assert!(!step("both-second").continue_on_failure);
    let retry = step("late-worker").retry.unwrap();
    let waits = [1, 2, 3].map(|failed| retry.wait_ms(failed));
    assert_eq!(waits, [1000, 2500, 6250]);
    // Who was not asked for does not work; a planner always does.
    let asked = step("both-second").when.as_ref().unwrap().source();
    assert!(asked.contains("'second' in input.agents") && asked.contains("(true || false"));
    assert!(step("plan-planner").when.is_none());
}

#[test]
fn mistakes_are_told_with_their_line_before_anything_starts() {
    let sequential = |agents: &str| {
        format!(
            "{{\"id\": \"mine\",\n \"steps\": [\n  {{\"id\": \"a\", \"pattern\": \"sequential\", \"agents\": {agents}}}]}}"
        )
    };
    for (text, expected) in [
        ("{\"id\": \"mine\",\n \"steps\": }".to_owned(), "mine.json:2:11: not valid JSON: expected value"),
        ("id: mine\nsteps: []\n".to_owned(), "mine.json:1:1: not valid JSON"),
        (sequential("[\"wroker\"]"), "mine.json:3:51: there is no agent \"wroker\"; did you mean \"worker\"?; the pack has planner, worker"),
        (sequential("[{\"agent\": \"worker\", \"if\": \"size(\"}]"), "mine.json:3:77: the expression `size(` is not valid"),
        (sequential("[{\"agent\": \"worker\", \"if\": \"state.nothing == 1\"}]"), "mine.json:3:77: the expression `state.nothing == 1` reads the unknown field \"nothing\""),
        (sequential("[{\"agent\": \"worker\", \"if\": \"inptu == 1\"}]"), "mine.json:3:77: the expression `inptu == 1` uses the unknown variable `inptu`"),
        (sequential("[]"), "mine.json:3:50: "),
        (sequential("[\"worker\"], \"timeout\": 3"), "mine.json:3:62: "),
        ("{\"id\": \"mine\", \"steps\": [{\"id\": \"a\", \"pattern\": \"in turn\", \"agents\": [\"worker\"]}]}".to_owned(), "mine.json:1:"),
        (sequential("[\"worker\", \"worker\"]"), "mine.json:3:61: the agent \"worker\" stands twice in \"a\""),
    ] {
        let told = told(&text);
        assert!(told.contains(expected), "{text}\n{told}");
        for made in ["input.agents", "a-worker"] {
            assert!(!told.contains(made), "{text}\n{told}");
        }
    }
    // One whose expression is wrong is given all the same.
    let told = told(&sequential(
        "[{\"agent\": \"worker\", \"with\": {\"question\": \"nope\"}}]",
    ));
    assert!(!told.contains("does not give"), "{told}");
}

#[test]
fn names_in_expressions_are_checked_before_anything_starts() {
    let mine = |agent: &str, rule: &str| {
        format!(
            "{{\"id\": \"mine\",\n \"steps\": [\n  {{\"id\": \"a\", \"pattern\": \"parallel\", \"agents\": [\"planner\",\n   {agent}]}},\n  {{\"id\": \"b\", \"pattern\": \"conditional\", \"if\": \"{rule}\",\n   \"then\": [{{\"id\": \"c\", \"pattern\": \"sequential\", \"agents\": [\"worker\"]}}]}}]}}"
        )
    };
    let worker = r#"{"agent": "worker", "if": "size(input.questio) > 20"}"#;
    for (text, said) in [
        (
            mine(worker, "true"),
            "mine.json:4:30: input has no \"questio\"; did you mean \"question\"?",
        ),
        (
            mine(r#""worker""#, "state.results.nobody.x == 1"),
            "mine.json:5:47: state.results has no \"nobody\"; there are planner, worker",
        ),
        (
            mine(r#""worker""#, "size(state.awy) > 1"),
            "reads the unknown field \"awy\"",
        ),
        (
            mine(r#""worker""#, "input.question"),
            "mine.json:5:47: `input.question` is not true or false",
        ),
        (
            mine(r#""worker""#, "size(state.away)"),
            "mine.json:5:47: `size(state.away)` is not true or false",
        ),
        (
            mine(
                r#"{"agent": "worker", "with": {"questionn": "input.question"}}"#,
                "true",
            ),
            "takes no \"questionn\"; did you mean \"question\"?",
        ),
        (
            FIRST.replace("\"id\": \"first\"", "\"id\": \"mine\",\n \"idd\": 1"),
            "mine.json:2:2: ",
        ),
    ] {
        let told = told(&text);
        assert!(told.contains(said), "{text}: {told}");
    }
    assert!(given(&mine(r#""worker""#, "size(state.results.planner) > 1")).is_ok());
}

#[test]
fn one_try_is_a_number_of_tries() {
    let once = FIRST.replace("first", "mine").replace(
        "[\"planner\"]",
        "[\"planner\"], \"retry\": {\"attempts\": 1}",
    );
    let pack = given(&once).unwrap();
    let step = pack.flows[ORCHESTRATOR].flow.step("plan-planner").unwrap();
    assert_eq!(step.retry.map(|retry| retry.attempts), Some(1));
    let none = once.replace("\"attempts\": 1", "\"attempts\": 0");
    assert!(told(&none).contains("mine.json:1:"), "{none}");
}

#[test]
fn what_a_pack_says_of_its_orchestrators_is_checked() {
    let of = |manifest: String| {
        let files = [
            ("pack.yaml".to_owned(), Cow::Owned(manifest.into_bytes())),
            (
                "agents/turn.flow.yaml".to_owned(),
                Cow::Borrowed(TURN.as_bytes()),
            ),
            (
                "agents/plan.flow.yaml".to_owned(),
                Cow::Borrowed(PLAN.as_bytes()),
            ),
            (
                "agents/policy.yaml".to_owned(),
                Cow::Borrowed(b"roles: {}\n".as_slice()),
            ),
            (
                "orchestrators/first.json".to_owned(),
                Cow::Borrowed(FIRST.as_bytes()),
            ),
        ];
        let desk = BuiltIn::named("desk", Vocabulary::default(), files);
        let loaded = load(&desk, None, Path::new(""), &LoadOptions::default());
        loaded.map(|pack| pack.hash).unwrap_err().to_string()
    };
    let told = of(MANIFEST.to_owned());
    assert!(
        told.contains("pack.yaml:8:5: worker works by the flow \"work\", which there is not"),
        "{told}"
    );
    let told = of(MANIFEST.replace("default: first", "first: true"));
    assert!(told.contains("orchestrators have no \"first\""), "{told}");
    assert!(told.contains("orchestrators need `default`"), "{told}");
}

/// `call: {a2a: …}` of the file, in a program that reaches other agents.
fn apart(agents: &str) -> Result<Pack, PackErrors> {
    let kinds = [Kind {
        name: A2A,
        check: |_, _| Faults::new(),
    }];
    let steps = r#"[{"id": "a", "pattern": "sequential", "agents": ["worker"]}]"#;
    let mine = Orchestrator::Given {
        file: "mine.json".to_owned(),
        text: format!("{{\"id\": \"mine\", \"agents\": {agents}, \"steps\": {steps}}}"),
    };
    let options = LoadOptions {
        orchestrators: [("desk".to_owned(), mine)].into(),
        ..LoadOptions::default()
    };
    let desk = of(Vocabulary::default().with_kinds(&kinds));
    load(&desk, None, Path::new(""), &options)
}

#[test]
fn another_agent_in_the_place_of_one_of_the_packs_is_a_tool_that_only_the_program_calls() {
    let pack = apart(r#"{"worker": {"a2a": "Desk", "effect": "reads"}}"#).unwrap();
    let tool = &pack.tools["a2a_Desk_reads"];
    assert!(!tool.changes && tool.kind.name() == A2A);
    let may = |role: &str| pack.policy.allowed_tools(role);
    assert_eq!(may("program"), ["a2a_Desk_reads"]);
    assert_eq!(may("worker"), Vec::<String>::new());
    // What it is given: the question in words, and all that an agent of the pack would be given.
    let step = pack.flows[ORCHESTRATOR].flow.step("a-worker").unwrap();
    let StepKind::Call(call) = &step.kind else {
        panic!("{step:?}");
    };
    assert_eq!(call.name, "a2a:Desk:reads:work");
    let mut given: Vec<&str> = call.with.keys().map(String::as_str).collect();
    given.sort_unstable();
    assert_eq!(given, ["away", "question", "results", "text"]);
    let other = apart(r#"{"worker": {"a2a": "Desk"}}"#).unwrap();
    assert!(other.tools["a2a_Desk"].changes);
    assert_ne!(other.hash, pack.hash);
}

#[test]
fn what_names_another_agent_is_checked() {
    for agents in [
        r#"{"worker": {"a2a": "http://desk"}}"#,
        r#"{"worker": {"a2a": "desk", "as": "planner"}}"#,
        r#"{"worker": {"effect": "reads"}}"#,
        r#"{"worker": {"a2a": "desk", "effect": "none"}}"#,
    ] {
        let told = apart(agents).map(|pack| pack.hash).unwrap_err().to_string();
        assert!(told.contains("mine.json:1:"), "{agents}: {told}");
    }
    let unreached = r#"{"id": "mine", "agents": {"worker": {"a2a": "desk"}}, "steps": [{"id": "a", "pattern": "sequential", "agents": ["worker"]}]}"#;
    let told = told(unreached);
    assert!(told.contains("no other agents are reached"), "{told}");
}
