use super::{Action, Flow, FlowError, Known, RunLog, StepStatus, load, next};
use crate::store::event::Event;
use agentctl_base::question::Outcome;
use serde_json::{Map, json};

fn flow() -> Flow {
    let text = "\
name: t
stages: [one, two, three]
blocked: stuck
failures: errors
fields:
  errors: {kind: append, writers: [program]}
  n: {kind: scalar, writers: [program, a]}
steps:
  - {id: s, set: {n: 'state.n == null ? 1 : state.n + 1'}}
  - {id: work, agent: a, task: t, instructions: i, writes: [n], contract: {type: object, properties: {n: {}}}}
";
    load(text, "f", Known::default()).unwrap()
}

fn stage(from: &str, to: &str) -> Event {
    Event::StageChanged {
        from: from.into(),
        to: to.into(),
    }
}

#[test]
fn a_stage_moves_forward_one_by_one_or_to_the_blocked_one() {
    let flow = flow();
    let folded = |events: &[Event]| RunLog::fold(&flow, events).map(|log| log.stage().to_owned());
    assert_eq!(folded(&[]), Ok("one".into()));
    assert_eq!(
        folded(&[stage("one", "two"), stage("two", "three")]),
        Ok("three".into())
    );
    assert_eq!(folded(&[stage("one", "stuck")]), Ok("stuck".into()));
    for wrong in [
        vec![stage("one", "three")],
        vec![stage("one", "one")],
        vec![stage("two", "three")],
        vec![stage("one", "two"), stage("two", "one")],
        vec![stage("one", "nowhere")],
        vec![stage("one", "stuck"), stage("stuck", "two")],
    ] {
        assert!(
            matches!(folded(&wrong), Err(FlowError::Stage { .. })),
            "{wrong:?}"
        );
    }
}

#[test]
fn a_patch_is_merged_once() {
    let flow = flow();
    let mut log = RunLog::new(&flow);
    let patch = Event::StatePatched {
        step: "work".into(),
        agent: "a".into(),
        patch: Map::from_iter([("n".to_owned(), json!(5))]),
    };
    log.apply(&flow, &patch).unwrap();
    assert!(log.patched("work"));
    assert_eq!(log.status("work"), Some(StepStatus::Running));
    assert_eq!(
        log.apply(&flow, &patch),
        Err(FlowError::PatchedTwice {
            step: "work".into()
        })
    );
}

#[test]
fn a_journal_of_another_pack_is_refused_by_name() {
    let flow = flow();
    let event = Event::StepStarted {
        step: "loop[1]/gone".into(),
    };
    assert_eq!(
        RunLog::new(&flow).apply(&flow, &event),
        Err(FlowError::UnknownStep("loop[1]/gone".into()))
    );
}

/// Whatever kind of step it was: what it wrote is in the state, and what comes next is what the flow of today says.
#[test]
fn a_step_that_is_retired_is_folded_and_never_run() {
    let text = "\
name: t
fields:
  n: {kind: scalar, writers: [program]}
retired: [gone, spoke]
steps:
  - {id: s, set: {n: 'state.n == null ? 1 : state.n + 1'}}
";
    let flow = load(text, "f", Known::default()).unwrap();
    let step = || "loop[1]/gone".to_owned();
    let patch = |n: u64| Map::from_iter([("n".to_owned(), json!(n))]);
    let log = RunLog::fold(
        &flow,
        &[
            Event::FlowDecided {
                step: "loop[1]/spoke".into(),
                decision: "skipped".into(),
            },
            Event::StepStarted { step: step() },
            Event::StatePatched {
                step: step(),
                agent: "a".into(),
                patch: patch(7),
            },
            Event::StepFinished {
                step: step(),
                output: json!({"n": 7}),
            },
        ],
    )
    .unwrap();
    assert_eq!(log.state().get("n"), Some(&json!(7)));
    assert_eq!(log.status("loop[1]/gone"), Some(StepStatus::Done));
    assert_eq!(log.status("loop[1]/spoke"), Some(StepStatus::Skipped));
    let set = Event::StatePatched {
        step: "s".into(),
        agent: "program".into(),
        patch: patch(8),
    };
    assert_eq!(next(&flow, &log), Ok(Action::Record(set)));
    assert_eq!(flow.all_steps().len(), 1, "it is none of the flow's steps");
}

#[test]
fn failed_steps_are_kept_in_the_named_field_and_the_end_is_final() {
    let flow = flow();
    let events = [
        Event::StepFailed {
            step: "work".into(),
            error: "no answer".into(),
        },
        Event::RunEnded {
            outcome: Outcome::Failed,
            exit_code: 1,
            message: "m".into(),
        },
    ];
    let log = RunLog::fold(&flow, &events).unwrap();
    assert_eq!(
        log.state().get("errors"),
        Some(&json!([{"step": "work", "error": "no answer"}]))
    );
    assert_eq!(log.ended(), Some((Outcome::Failed, 1, "m")));
}
