//! Branches: whatever the order in which they get on, they come to the same; and what joins, fails, and is refused when it is read.

use super::fixture::{Play, change, drive, say, started};
use super::{Action, Flow, Known, RunLog, load, next, patch_of, ready};
use crate::store::event::Event;
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_base::question::Outcome;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const THREE: &str = "\
name: three
fields:
  notes: {kind: append, writers: [a]}
  facts: {kind: object, writers: [a]}
  seen: {kind: set, writers: [program]}
  last: {kind: value, writers: [program], default: none}
  troubles: {kind: append, writers: [program]}
failures: troubles
steps:
  - {id: before, agent: a, task: t, instructions: i, writes: [notes], contract: &c {type: object, properties: {notes: {}, facts: {}}}}
  - id: both
    parallel: {max_at_once: 2, join: all, on_branch_failure: continue}
    branches:
      - id: two
        steps:
          - {id: a2, agent: a, task: t, instructions: i, reads: [notes], writes: [notes, facts], contract: *c}
          - {id: b2, agent: a, task: t, instructions: i, reads: [notes], with: {made: size(changes)}, writes: [notes, facts], contract: *c}
      - id: one
        steps:
          - {id: a1, agent: a, task: t, instructions: i, reads: [notes], writes: [notes, facts], contract: *c}
          - {id: s1, set: {seen: \"[string(size(state.notes)), string(size(changes)), steps.before.status]\", last: \"'one'\"}}
      - {id: not_now, when: 'false', steps: [{id: n, set: {seen: \"['n']\"}}]}
      - id: three
        steps: [{id: a3, agent: a, task: fails, instructions: i, reads: [notes], writes: [notes], contract: *c}]
  - {id: after, when: \"steps.a2.status == 'done' && steps.both.output.failed.three != ''\", set: {seen: \"[string(size(state.notes)), string(size(changes))]\"}}
";

fn read(text: &str) -> Result<Flow, Vec<String>> {
    load(text, "f", Known::default()).map_err(|all| all.iter().map(ToString::to_string).collect())
}

fn play(path: &str, task: &str, input: &Map<String, Value>) -> Play {
    if task == "fails" {
        return Play {
            error: Some("no"),
            ..Play::default()
        };
    }
    let had = input
        .get("notes")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let id = path.rsplit('/').next().unwrap().to_owned();
    let made = input.get("made").cloned().unwrap_or_default();
    let wrote = match path {
        "before" => json!({"notes": ["n"]}),
        _ => json!({"notes": [id], "facts": {id: [had, made]}}),
    };
    Play {
        calls: vec![("look", json!({}), Some(change(path, None, "r")))],
        ..say(wrote)
    }
}

/// What a step's work writes into the journal, in its order.
fn work(flow: &Flow, log: &RunLog, action: &Action) -> (String, Vec<Event>) {
    let Action::Agent(step) = action else {
        panic!("{action:?}")
    };
    let play = play(&step.path, &step.task, &step.input);
    let path = step.path.clone();
    if let Some(error) = play.error {
        let step = path.clone();
        return (
            path,
            vec![Event::StepFailed {
                step,
                error: error.into(),
            }],
        );
    }
    let call = |(tool, content, change): &(&str, Value, _)| Event::ToolFinished {
        step: path.clone(),
        role: "a".into(),
        result: ToolResult {
            call_id: "c".into(),
            name: (*tool).to_owned(),
            status: ToolStatus::Ok,
            content: content.clone(),
        }
        .into(),
        change: Option::clone(change),
    };
    let mut events: Vec<Event> = play.calls.iter().map(call).collect();
    events.push(Event::StatePatched {
        step: path.clone(),
        agent: "a".into(),
        patch: patch_of(flow, log, &path, &play.output).unwrap(),
    });
    events.push(Event::StepFinished {
        step: path.clone(),
        output: play.output,
    });
    (path, events)
}

/// Goes on until the end; where several things can be written next, `choose` says which.
fn interleaved(flow: &Flow, mut choose: impl FnMut(usize) -> usize) -> (Vec<Event>, RunLog) {
    let mut events = vec![started(json!({}))];
    let mut log = RunLog::fold(flow, &events).unwrap();
    let mut under_way: BTreeMap<String, Vec<Event>> = BTreeMap::new();
    loop {
        let mut can: Vec<(Option<String>, Event)> = Vec::new();
        for action in ready(flow, &log).unwrap() {
            match action {
                Action::Record(event) => can.push((None, event)),
                Action::End { .. } => return (events, log),
                work_of => {
                    let Action::Agent(step) = &work_of else {
                        panic!()
                    };
                    if !under_way.contains_key(&step.path) {
                        let (path, events) = work(flow, &log, &work_of);
                        under_way.insert(path, events);
                    }
                }
            }
        }
        assert!(under_way.len() <= 2, "more at once than may be");
        can.extend(
            under_way
                .iter()
                .map(|(path, events)| (Some(path.clone()), events[0].clone())),
        );
        let (of, event) = can.swap_remove(choose(can.len()) % can.len());
        if let Some(path) = of {
            let left = under_way.get_mut(&path).unwrap();
            left.remove(0);
            if left.is_empty() {
                under_way.remove(&path);
            }
        }
        log.apply(flow, &event)
            .unwrap_or_else(|e| panic!("{e}: {event:?}"));
        events.push(event);
    }
}

#[test]
fn branches_are_merged_in_the_order_of_the_file_and_see_the_state_at_the_fork() {
    let flow = read(THREE).unwrap();
    let (_, log) = interleaved(&flow, |_| 0);
    assert_eq!(
        Value::Object(log.state().clone()),
        json!({
            "last": "one",
            "notes": ["n", "a2", "b2", "a1"],
            // b2 saw a2's note and change, and neither saw a1's.
            "facts": {"a2": [1, null], "b2": [2, 2], "a1": [1, null]},
            "seen": ["2", "done", "4"],
            "troubles": [{"step": "both/three/a3", "error": "no"}],
        })
    );
    let output = log.output("both").unwrap();
    assert_eq!(
        output["failed"],
        json!({"three": "step both/three/a3 failed: no"})
    );
    assert_eq!(output["done"]["two"]["notes"], json!(["b2"]));
}

proptest! {
    #[test]
    fn every_interleaving_of_three_branches_folds_to_the_same(order in proptest::collection::vec(any::<u8>(), 0..60)) {
        let flow = read(THREE).unwrap();
        let (_, whole) = interleaved(&flow, |_| 0);
        let mut order = order.into_iter();
        let (events, log) = interleaved(&flow, |n| order.next().map_or(n - 1, usize::from));
        prop_assert_eq!(&log.own, &whole.own);
        prop_assert!(log.frames.is_empty());
        prop_assert_eq!(RunLog::fold(&flow, &events).unwrap(), log);
    }
}

/// One thing at a time, cut off anywhere.
#[test]
fn branches_that_are_cut_off_go_on_as_they_were() {
    let flow = read(THREE).unwrap();
    let run = |events: &[Event]| drive(&flow, events, &play, &|_| None, 200);
    let whole = run(&[started(json!({}))]);
    assert_eq!(whole.end, Some((Outcome::Complete, String::new())));
    let (_, concurrent) = interleaved(&flow, |_| 0);
    let log = RunLog::fold(&flow, &whole.events).unwrap();
    assert_eq!(log.state(), concurrent.state());
    for cut in 1..whole.events.len() {
        assert_eq!(
            run(&whole.events[..cut]).events,
            whole.events,
            "cut after {cut}"
        );
    }
}

fn joined(
    how: &str,
    fails: &'static [&'static str],
) -> (Option<(Outcome, String)>, Vec<String>, Value) {
    let branch = |id: &str| {
        format!(
            "      - {{id: {id}, steps: [{{id: w{id}, agent: a, task: t, instructions: i, contract: {{type: object}}}}]}}\n"
        )
    };
    let text = format!(
        "name: j\nsteps:\n  - id: p\n    parallel: {how}\n    branches:\n{}{}{}",
        branch("x"),
        branch("y"),
        branch("z")
    );
    let flow = read(&text).unwrap();
    let plays =
        |path: &str, _: &str, _: &Map<String, Value>| match fails.iter().any(|f| path.ends_with(f))
        {
            true => Play {
                error: Some("no"),
                ..Play::default()
            },
            false => say(json!({"of": path})),
        };
    let run = drive(&flow, &[started(json!({}))], &plays, &|_| None, 100);
    let done = run.events.iter().find_map(|event| match event {
        Event::BranchesJoined { done, output, .. } => {
            Some((done.clone(), output["failed"].clone()))
        }
        _ => None,
    });
    let (done, failed) = done.unwrap_or_default();
    (run.end, done, failed)
}

#[test]
fn a_join_waits_for_as_many_branches_as_it_says() {
    let complete = Some((Outcome::Complete, String::new()));
    let (end, done, _) = joined("{}", &[]);
    assert_eq!(
        (end, done.join(" ")),
        (complete.clone(), "x y z".to_owned())
    );
    let (end, done, failed) = joined("{join: any, on_branch_failure: continue}", &["wx"]);
    assert_eq!((end, done.join(" ")), (complete.clone(), "y".to_owned()));
    assert_eq!(failed, json!({"x": "step p/x/wx failed: no"}));
    let (end, done, _) = joined(
        "{join: {at_least: 2}, on_branch_failure: continue}",
        &["wy"],
    );
    assert_eq!((end, done.join(" ")), (complete, "x z".to_owned()));
    let (end, ..) = joined(
        "{join: {at_least: 2}, on_branch_failure: continue}",
        &["wy", "wz"],
    );
    let why = "step p failed: 1 of 3 branches came to their end, 2 must";
    assert_eq!(end, Some((Outcome::Failed, why.to_owned())));
    let (end, ..) = joined("{}", &["wy"]);
    let why = "step p failed: the branch y failed: step p/y/wy failed: no";
    assert_eq!(end, Some((Outcome::Failed, why.to_owned())));
}

const EACH: &str = "\
name: each
fields: {found: {kind: append, writers: [a]}, n: {kind: set, writers: [program]}}
steps:
  - id: check
    for_each: {of: input.claims, as: claim, max: 3, on_item_failure: continue}
    steps:
      - {id: one, when: claim != 'skip', agent: a, task: t, instructions: i, with: {claim: claim, index: index}, writes: [found], contract: {type: object, properties: {found: {}}}}
      - {id: n, set: {n: \"[claim + string(index)]\"}}
";

#[test]
fn a_loop_over_a_list_does_its_steps_for_each_item() {
    let flow = read(EACH).unwrap();
    let plays = |path: &str, _: &str, input: &Map<String, Value>| match input["claim"].as_str() {
        Some("bad") => Play {
            error: Some("no"),
            ..Play::default()
        },
        claim => say(json!({"found": [format!("{path} {claim:?} {}", input["index"])]})),
    };
    let begun = [started(json!({"claims": ["a", "skip", "bad"]}))];
    let run = drive(&flow, &begun, &plays, &|_| None, 100);
    let log = RunLog::fold(&flow, &run.events).unwrap();
    assert_eq!(
        Value::Object(log.state().clone()),
        json!({"found": ["check[1]/one Some(\"a\") 1"], "n": ["a1", "skip2"]})
    );
    assert_eq!(
        log.output("check").unwrap(),
        &json!({
            "done": [{"index": 1, "output": {"n": ["a1"]}}, {"index": 2, "output": {"n": ["skip2"]}}],
            "failed": {"3": "step check[3]/one failed: no"},
        })
    );
    let log = RunLog::fold(&flow, &[started(json!({"claims": [1, 2, 3, 4]}))]).unwrap();
    let error = next(&flow, &log).unwrap_err().to_string();
    assert!(
        error.contains("the list has 4 items, at most 3 are allowed"),
        "{error}"
    );
}

#[test]
fn what_branches_cannot_do_is_a_mistake_of_the_file() {
    let text = "\
name: t
stages: [one]
fields:
  v: {kind: value, writers: [a, program]}
  o: {kind: object, writers: [program]}
steps:
  - id: p
    parallel: {join: {at_least: 3}, on_branch_failure: maybe, colour: red}
    branches:
      - {id: x, steps: [{id: x1, set: {v: '1', o: '{}'}}, {id: x2, say: {text: \"''\"}}]}
      - {id: x, steps: [{id: y1, steps: [{id: y2, set: {v: '2', o: '{}'}}]}, {id: y3, stage: one, end: true}]}
  - id: around
    max: 2
    loop:
      - id: e
        for_each: {of: '[1]', as: state}
        steps: [{id: e1, set: {v: '1'}}, {id: e0, set: {o: item}}, {id: e2, gate: 'true', otherwise: {leave: around}}]
  - {id: out, set: {v: index}}
";
    let found = read(text).unwrap_err().join("\n");
    for part in [
        "`parallel` has the unknown key \"colour\"",
        "`on_branch_failure` must be continue or stop",
        "the branch \"x\" stands twice",
        "both write \"v\", and one would be lost",
        "3 branches can never come to their end: there are 2",
        "nothing is said in a branch; do it behind the join",
        "a stage is not entered in a branch",
        "the flow is not ended in a branch",
        "\"state\" is no name for an item",
        "each item of the step \"e\" would write \"v\"",
        "unknown variable `item`",
        "\"around\" is no loop around this gate",
        "unknown variable `index`",
    ] {
        assert!(found.contains(part), "{part} in\n{found}");
    }
    assert!(!found.contains("both write \"o\""), "{found}");
}
