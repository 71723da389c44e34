//! Branches as whole runs: models are waited for at once, limits hold for all of them together, and nobody is held up by another one.
//! No test waits: a model answers when as many of its calls are under way as it wants to see.

use crate::support::{House, block_on, calls, flow_of, request, says};
use agentctl_base::BoxFuture;
use agentctl_base::model::{Model, ModelAnswer, ModelError, ModelRequest};
use agentctl_base::question::Outcome;
use agentctl_engine::flow::Flow;
use agentctl_engine::run::{
    ChosenModel, Counted, Effects, LimitOverrides, RunContext, RunOptions, RunReport, start,
};
use agentctl_engine::store::{Budgets, Event};
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::Barrier;

/// Answers once so many calls are under way; a task `never` is never answered, and `wrong` cannot be.
struct Together {
    barrier: Barrier,
    asked: AtomicUsize,
}

impl Model for Together {
    fn is_paid(&self) -> bool {
        true
    }
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        _: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let task = &request.task;
        Box::pin(async move {
            match task.task.as_str() {
                "never" => std::future::pending().await,
                "wrong" => return Ok(says(json!({"notes": 1}))),
                _ => {
                    self.barrier.wait().await;
                }
            }
            Ok(says(json!({"notes": [task.step]})))
        })
    }
}

fn together(n: usize) -> Arc<Together> {
    Arc::new(Together {
        barrier: Barrier::new(n),
        asked: AtomicUsize::new(0),
    })
}

/// One agent's step in each branch, with these tasks.
fn flow(how: &str, tasks: &[&str]) -> Flow {
    let mut text = format!(
        "name: t\nfields: {{notes: {{kind: append, writers: [planner]}}}}\nsteps:\n  - id: p\n    parallel: {how}\n    branches:\n"
    );
    for (n, task) in tasks.iter().enumerate() {
        let step = format!(
            "{{id: w{n}, agent: planner, task: {task}, instructions: i, writes: [notes], contract: {{type: object, properties: {{notes: {{type: array}}}}}}}}"
        );
        writeln!(text, "      - {{id: b{n}, steps: [{step}]}}").unwrap();
    }
    flow_of(&text)
}

fn run(flow: Flow, model: &Arc<Together>, options: RunOptions) -> (House, RunReport) {
    let mut house = House::running(flow, |_| says(json!({})));
    let models = ChosenModel {
        name: "test".into(),
        model: Arc::clone(model) as Arc<dyn Model>,
    };
    let mut context = house.context();
    context.models = &models;
    let report = block_on(start(context, options)).unwrap();
    (house, report)
}

#[test]
fn as_many_models_are_waited_for_at_once_as_the_flow_says() {
    let model = together(8);
    let (house, report) = run(
        flow("{max_at_once: 8}", &["work"; 8]),
        &model,
        request("go"),
    );
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    let notes: Vec<String> = (0..8).map(|n| format!("p/b{n}/w{n}")).collect();
    assert_eq!(report.state["notes"], json!(notes));
    assert_eq!(report.usage.model_calls, 8);
    // Three at once: four would have to be under way before one is answered, so the fourth must not have been asked.
    let asked_before_an_answer = |house: &House| {
        let events = house.events();
        let asked = events
            .iter()
            .take_while(|e| !matches!(e, Event::ModelAnswered { .. }));
        asked
            .filter(|e| matches!(e, Event::ModelAsked { .. }))
            .count()
    };
    assert_eq!(asked_before_an_answer(&house), 8);
    let (house, report) = run(
        flow("{max_at_once: 3}", &["work"; 6]),
        &together(3),
        request("go"),
    );
    assert_eq!(report.outcome, Outcome::Complete);
    assert_eq!(asked_before_an_answer(&house), 3);
}

#[test]
fn a_join_that_has_enough_and_a_branch_that_failed_wait_for_nobody() {
    let any = flow("{join: any}", &["never", "work", "never"]);
    let (_, report) = run(any, &together(1), request("go"));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(report.state["notes"], json!(["p/b1/w1"]));
    let failing = flow("{}", &["never", "wrong", "never"]);
    let (house, report) = run(failing, &together(1), request("go"));
    assert_eq!(report.outcome, Outcome::Failed);
    assert!(
        report.message.contains("the branch b1 failed"),
        "{}",
        report.message
    );
    let failed = house.events().into_iter().filter_map(|event| match event {
        Event::StepFailed { step, .. } => Some(step),
        _ => None,
    });
    assert_eq!(failed.collect::<Vec<_>>(), ["p/b1/w1", "p"]);
}

#[test]
fn branches_together_do_not_go_beyond_a_limit() {
    let model = together(3);
    let options = RunOptions {
        limits: Budgets {
            run: LimitOverrides {
                max_model_calls: Some(3),
                ..LimitOverrides::default()
            },
            ..Budgets::default()
        },
        ..request("go")
    };
    let (house, report) = run(flow("{max_at_once: 8}", &["work"; 8]), &model, options);
    assert_eq!(report.outcome, Outcome::Budget, "{}", report.message);
    assert_eq!(model.asked.load(Ordering::Relaxed), 3);
    // What was paid for is kept, although the limit had stopped the run by then.
    assert_eq!(report.usage.model_calls, 3);
    let answered = |e: &Event| matches!(e, Event::ModelAnswered { .. });
    assert_eq!(house.events().iter().filter(|e| answered(e)).count(), 3);
}

/// The time of the branches: a model that is asked second is not answered before it is over.
#[test]
fn branches_have_a_time_and_what_is_done_by_then_counts() {
    let how = "{timeout_s: 5, on_branch_failure: continue}";
    let (house, report) = late(flow(how, &["work", "never", "work"]));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(report.state["notes"], json!(["p/b0/w0", "p/b2/w2"]));
    let joined = house.events().into_iter().find_map(|event| match event {
        Event::BranchesJoined { output, .. } => Some(output["failed"].clone()),
        _ => None,
    });
    assert_eq!(joined, Some(json!({"b1": "it took longer than 5 s"})));
    let (_, report) = late(flow("{timeout_s: 5}", &["work", "never", "work"]));
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.message, "step p failed: it took longer than 5 s");
}

fn late(flow: Flow) -> (House, RunReport) {
    let mut house = House::running(flow, |_| says(json!({})));
    let models = ChosenModel {
        name: "test".into(),
        model: together(1),
    };
    let context = RunContext {
        models: &models,
        effects: &Passing(Counted::from(1_800_000_000), Arc::default()),
        ..house.context()
    };
    let report = block_on(start(context, request("go"))).unwrap();
    (house, report)
}

/// Time goes on by so much as somebody waits for its end.
struct Passing(Counted, Arc<AtomicU64>);

impl Effects for Passing {
    fn now(&self) -> jiff::Timestamp {
        self.0.now()
    }
    fn new_id(&self) -> String {
        self.0.new_id()
    }
    fn pid(&self) -> u32 {
        1
    }
    fn elapsed_ms(&self) -> u64 {
        self.1.load(Ordering::Relaxed)
    }
    fn over(&self, ms: u64) -> BoxFuture<'static, ()> {
        let clock = Arc::clone(&self.1);
        let end = self.elapsed_ms() + ms;
        Box::pin(async move {
            // Whatever can be answered is answered first.
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            clock.fetch_max(end, Ordering::Relaxed);
        })
    }
}

const ASKS: &str = "\
name: t
fields: {said: {kind: set, writers: [program]}, notes: {kind: append, writers: [planner]}}
steps:
  - id: p
    parallel: {}
    branches:
      - id: asks
        steps:
          - {id: ask, ask: {questions: [{id: colour, topic: colour, text: \"'Which?'\", required: true}]}}
          - {id: took, set: {said: '[answers.colour]'}}
      - id: works
        steps:
          - {id: work, agent: planner, task: work, instructions: i, writes: [notes], contract: {type: object, properties: {notes: {type: array}}}}
          - {id: did, set: {said: \"['worked']\"}}
  - {id: both, say: {text: \"join(state.said, ' ')\"}}
";

#[test]
fn a_branch_that_asks_holds_up_no_other() {
    let mut house = House::running(flow_of(ASKS), |_| says(json!({"notes": ["n"]})));
    let report = house.start(request("go"));
    assert_eq!(report.outcome, Outcome::Waiting);
    let finished = |step: &str| {
        house.events().iter().any(
            |event| matches!(event, Event::StatePatched { step: done, .. } if done.ends_with(step)),
        )
    };
    assert!(finished("works/did"));
    let report = house.answer(json!({"colour": "red"}));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(report.messages[0].text, "red worked");
    assert_eq!(house.asked_count(), 1);
}

#[test]
fn a_branch_may_what_its_agents_may() {
    let text = "\
name: t
steps:
  - id: p
    parallel: {on_branch_failure: continue}
    branches:
      - {id: mine, steps: [{id: make, tool: create_list, role: keeper, args: {name: \"'A'\", items: '[]'}}]}
      - {id: not_mine, steps: [{id: sneak, tool: create_list, role: planner, args: {name: \"'B'\", items: '[]'}}]}
      - {id: archived, steps: [{id: touch, tool: delete_list, role: keeper, args: {list_id: \"'archive-1'\"}}]}
";
    let mut house = House::running(flow_of(text), |_| calls("x", json!({})));
    let report = house.start(request("go"));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert!(house.list("a").is_some() && house.list("b").is_none());
    assert_eq!(house.refusals(), ["planner: no create-lists", "archive"]);
}
