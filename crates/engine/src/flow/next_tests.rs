//! The step kinds, on small flows of their own.

use super::fixture::*;
use super::{Action, Flow, FlowError, Known, RunLog, load, next};
use crate::store::event::Event;
use agentctl_base::question::Outcome;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn flow(steps: &str) -> Flow {
    let head = "\
name: t
stages: [one, two, three, four]
blocked: stuck
fields:
  n: {kind: scalar, writers: [program, a]}
  o: {kind: object, writers: [program, a]}
steps:
";
    load(&format!("{head}{steps}"), "f", Known::default()).unwrap_or_else(|p| panic!("{p:?}"))
}

fn agent(id: &str, rest: &str) -> String {
    format!(
        "{{id: {id}, agent: a, task: {id}, instructions: i, contract: {{type: object}}{rest}}}\n"
    )
}

fn plain(_: &str, _: &str, _: &Map<String, Value>) -> Play {
    say(json!({}))
}

fn nobody(_: &str) -> Option<Value> {
    None
}

fn whole(flow: &Flow, input: Value) -> Run {
    drive(flow, &[started(input)], &plain, &nobody, 300)
}

fn decisions(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|e| match e {
            Event::FlowDecided { step, decision } => Some(format!("{step}: {decision}")),
            _ => None,
        })
        .collect()
}

#[test]
fn every_stage_on_the_way_is_passed() {
    let flow = flow(&format!("  - {}", agent("a1", ", stage: three")));
    let run = whole(&flow, json!({}));
    assert_eq!(stages(&run.events), ["two", "three", "four"]);
    assert_eq!(run.end, Some((Outcome::Complete, String::new())));
}

#[test]
fn a_route_takes_the_first_case_that_holds() {
    let steps = format!(
        "  - id: way\n    route:\n      - {{case: big, when: 'input.n > 10', steps: [{}]}}\n      - {{case: mid, when: 'input.n > 5', steps: [{}]}}\n",
        agent("b", "").trim(),
        agent("m", "").trim()
    );
    let flow = flow(&steps);
    for (n, expected, decision) in [
        (20, vec!["way/b"], "way: case big"),
        (7, vec!["way/m"], "way: case mid"),
        (1, vec![], "way: case -"),
    ] {
        let run = whole(&flow, json!({"n": n}));
        assert_eq!(paths(&run.events), expected);
        assert_eq!(decisions(&run.events), [decision]);
    }
}

#[test]
fn a_draft_ends_where_a_complete_run_does() {
    let steps = "  - id: whole\n    gate: 'input.n == 3'\n    otherwise: {end: {outcome: draft, message: \"'in part'\"}}\n";
    let flow = flow(steps);
    let (whole_run, part) = (whole(&flow, json!({"n": 3})), whole(&flow, json!({"n": 2})));
    assert_eq!(part.end, Some((Outcome::Draft, "in part".into())));
    assert_eq!(stages(&part.events), stages(&whole_run.events));
}

#[test]
fn a_route_by_an_answer_takes_only_a_listed_case() {
    let steps = |other: &str| {
        format!(
            "  - id: way\n    by: input.to\n    route:\n      - {{case: x, steps: [{}]}}\n{other}",
            agent("sx", "").trim()
        )
    };
    let strict = flow(&steps(""));
    assert_eq!(
        paths(&whole(&strict, json!({"to": "x"})).events),
        ["way/sx"]
    );
    let log = RunLog::fold(&strict, &[started(json!({"to": "y"}))]).unwrap();
    assert!(
        matches!(next(&strict, &log), Err(FlowError::Step { message, .. }) if message.contains("no case \"y\""))
    );
    let open = flow(&steps("      - {case: rest, else: true}\n"));
    assert_eq!(
        decisions(&whole(&open, json!({"to": "y"})).events),
        ["way: case rest"]
    );
}

#[test]
fn a_loop_ends_by_until_by_a_gate_or_by_its_limit() {
    let until = flow(
        "  - id: l\n    max: 5\n    until: state.n == 3\n    loop:\n      - {id: s, set: {n: run.cycle}}\n",
    );
    assert_eq!(
        decisions(&whole(&until, json!({})).events),
        ["l: cycle 1", "l: cycle 2", "l: cycle 3", "l: left"]
    );

    let limit = flow(
        "  - id: l\n    max: 2\n    loop:\n      - {id: s, set: {n: run.cycle}}\n    exhausted:\n      end: {outcome: blocked, message: \"'n is ' + string(state.n)\"}\n",
    );
    let run = whole(&limit, json!({}));
    assert_eq!(run.end, Some((Outcome::Blocked, "n is 2".into())));
    assert_eq!(stages(&run.events), ["stuck"]);

    let nested = flow(
        "  - id: outer\n    max: 2\n    loop:\n      - id: inner\n        max: 3\n        loop:\n          - {id: g, gate: 'run.cycle < 2', otherwise: {leave: outer}}\n",
    );
    let run = whole(&nested, json!({}));
    assert_eq!(
        decisions(&run.events),
        [
            "outer: cycle 1",
            "outer[1]/inner: cycle 1",
            "outer[1]/inner[1]/g: passed",
            "outer[1]/inner: cycle 2",
            "outer[1]/inner[2]/g: stopped",
            "outer: left"
        ]
    );
}

#[test]
fn a_condition_is_not_asked_again_on_a_later_state() {
    let flow = flow(&format!(
        "  - {{id: s, set: {{n: '1'}}}}\n  - {}  - {{id: t, set: {{n: '2'}}}}\n  - {}",
        agent("w", ", when: 'state.n == 1'"),
        agent("v", "")
    ));
    let run = whole(&flow, json!({}));
    assert_eq!(paths(&run.events), ["w", "v"]);
    for cut in 1..run.events.len() {
        assert_eq!(
            drive(&flow, &run.events[..cut], &plain, &nobody, 300).events,
            run.events
        );
    }
}

#[test]
fn the_input_of_a_step_is_frozen_when_it_starts() {
    let flow = flow(&format!(
        "  - {{id: s, set: {{n: '1'}}}}\n  - {}",
        agent(
            "w",
            ", reads: [n, input], with: {twice: 'state.n + state.n'}, writes: [n]"
        )
        .replace("{type: object}", "{type: object, properties: {n: {}}}")
    ));
    let mut log = RunLog::fold(&flow, &[started(json!({"x": 1}))]).unwrap();
    loop {
        match next(&flow, &log).unwrap() {
            Action::Record(event) => log.apply(&flow, &event).unwrap(),
            Action::Agent(step) => {
                let expected = json!({"n": 1, "input": {"x": 1}, "twice": 2});
                assert_eq!(Value::Object(step.input.clone()), expected);
                if log.patched("w") {
                    break;
                }
                log.apply(
                    &flow,
                    &Event::StatePatched {
                        step: step.path,
                        agent: "a".into(),
                        patch: Map::from_iter([("n".to_owned(), json!(9))]),
                    },
                )
                .unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_mistake_shows_before_anything_is_journaled() {
    let missing = flow(&format!("  - {}", agent("w", ", with: {x: input.nothing}")));
    let log = RunLog::fold(&missing, &[started(json!({}))]).unwrap();
    assert!(matches!(next(&missing, &log), Err(FlowError::Condition { step, .. }) if step == "w"));
    let foreign = flow("  - {id: s, set: {o: '1'}}\n");
    let log = RunLog::fold(&foreign, &[started(json!({}))]).unwrap();
    assert!(matches!(next(&foreign, &log), Err(FlowError::Step { step, .. }) if step == "s"));
}

#[test]
fn a_question_id_that_is_taken_gets_the_step_before_it() {
    let flow = flow(
        "  - {id: q1, ask: {from: input.list}}\n  - {id: q2, ask: {from: input.list}}\n  - {id: own, ask: {questions: [{id: x, text: \"'?'\"}]}}\n",
    );
    let input = json!({"list": [{"id": "x", "text": "?"}, {"id": "x", "text": "again?"}]});
    let run = drive(&flow, &[started(input)], &plain, &|id| Some(json!(id)), 300);
    let asked: Vec<&str> = run
        .events
        .iter()
        .filter_map(|e| match e {
            Event::QuestionAsked { question, .. } => Some(question.id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(asked, ["q1/x", "q1/x-2", "q2/x", "q2/x-2", "x"]);
    assert_eq!(run.end.map(|(o, _)| o), Some(Outcome::Complete));
}

/// A step of a random flow.
fn any_steps(depth: u32) -> BoxedStrategy<Vec<Value>> {
    let leaf = prop_oneof![
        3 => Just(json!({"agent": "a"})),
        1 => Just(json!({"agent": "a", "when": "input.n > 2"})),
        1 => Just(json!({"set": {"n": "state.n == null ? 1 : state.n + 1"}})),
        1 => Just(json!({"gate": "input.n != 3", "otherwise": {"end": {"outcome": "refused", "message": "'three'"}}})),
        1 => Just(json!({"ask": {"from": "input.ask"}})),
    ];
    if depth == 0 {
        return prop::collection::vec(leaf, 1..4).boxed();
    }
    let inner = any_steps(depth - 1);
    let nested = prop_oneof![
        (inner.clone(), 1u32..4, any::<bool>()).prop_map(|(steps, max, until)| {
            let mut step = json!({"loop": steps, "max": max});
            if until {
                step["until"] = json!("run.cycle >= input.n");
            }
            step
        }),
        (inner.clone(), inner).prop_map(|(a, b)| json!({"route": [
            {"case": "low", "when": "input.n < 2", "steps": a}, {"case": "rest", "else": true, "steps": b}]})),
    ];
    prop::collection::vec(prop_oneof![2 => leaf, 1 => nested], 1..4).boxed()
}

/// Ids, tasks and contracts for steps that have none yet.
fn named(steps: &mut [Value], n: &mut u32) {
    for step in steps {
        *n += 1;
        step["id"] = json!(format!("s{n}"));
        if step.get("agent").is_some() {
            step["task"] = json!("t");
            step["instructions"] = json!("i");
            step["contract"] = json!({"type": "object"});
        }
        if let Some(Value::Array(inner)) = step.get_mut("loop") {
            named(inner, n);
        }
        if let Some(Value::Array(cases)) = step.get_mut("route") {
            for case in cases {
                if let Some(Value::Array(inner)) = case.get_mut("steps") {
                    named(inner, n);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any flow, any input: the run ends, and cut off after any event it goes on to the same journal.
    #[test]
    fn any_flow_ends_and_resumes_to_the_same_journal(steps in any_steps(2), n in 0i64..5, cut in any::<prop::sample::Index>()) {
        let mut steps = steps;
        named(&mut steps, &mut 0);
        let text = serde_json::to_string(&steps).unwrap();
        let flow = flow(&format!("  {text}\n"));
        let input = json!({"n": n, "ask": [{"id": "q", "text": "?"}]});
        let answer = |_: &str| Some(json!("yes"));
        let run = drive(&flow, &[started(input)], &plain, &answer, 2000);
        prop_assert!(run.end.is_some());
        let cut = 1 + cut.index(run.events.len());
        let again = drive(&flow, &run.events[..cut], &plain, &answer, 2000);
        prop_assert_eq!(&again.end, &run.end);
        let rest = |events: &[Event]| events.iter().filter(|e| !matches!(e, Event::QuestionAsked { .. })).cloned().collect::<Vec<_>>();
        prop_assert_eq!(rest(&again.events), rest(&run.events));
    }

    /// Any flow, answers that come or do not, steps that fail: wherever the journal is cut it is a state, and from it the run goes
    /// on, waits for somebody, or is at its end. Folded record by record it is the state that the whole folds to.
    #[test]
    fn any_beginning_of_a_journal_is_a_state_with_a_next_action(
        steps in any_steps(1), n in 0i64..5, answered in any::<bool>(), fails in any::<bool>()
    ) {
        let mut steps = steps;
        named(&mut steps, &mut 0);
        let text = serde_json::to_string(&steps).unwrap();
        let flow = flow(&format!("  {text}\n"));
        let input = json!({"n": n, "ask": [{"id": "q", "text": "?"}]});
        let answer = |_: &str| answered.then(|| json!("yes"));
        let play = |path: &str, task: &str, input: &Map<String, Value>| {
            let error = fails.then_some("it could not be done");
            Play { error, ..plain(path, task, input) }
        };
        let run = drive(&flow, &[started(input)], &play, &answer, 2000);
        let (outcome, _) = run.end.unwrap();
        let mut log = RunLog::new(&flow);
        for (i, event) in run.events.iter().enumerate() {
            prop_assert!(log.apply(&flow, event).is_ok());
            prop_assert_eq!(&log, &RunLog::fold(&flow, &run.events[..=i]).unwrap());
            let action = next(&flow, &log);
            prop_assert!(action.is_ok(), "after {:?}: {:?}", event, action.err());
            if let Ok(Action::Ask { questions, .. }) = action {
                prop_assert!(!questions.is_empty());
            }
        }
        match next(&flow, &log).unwrap() {
            Action::End { outcome: ended, .. } => prop_assert_eq!(ended, outcome),
            Action::Ask { .. } => prop_assert_eq!(outcome, Outcome::Waiting),
            other => prop_assert!(false, "the run stopped before {:?}", other),
        }
    }
}
