//! A driver without IO: it plays agents, tools and the user from a script, and keeps the journal.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a script of a test"
)]

use super::{Action, Flow, RunLog, Schema, StepKind, check_patch, next, patch_of, verify_output};
use crate::store::ResourceId;
use crate::store::event::{Change, Event, JOURNAL_VERSION};
use agentctl_base::decision::Decision;
use agentctl_base::model::{ToolCall, ToolResult, ToolStatus};
use agentctl_base::question::{AnsweredBy, Outcome};
use serde_json::{Map, Value, json};

/// What an agent does in one step.
#[derive(Debug, Clone, Default)]
pub struct Play {
    /// (tool, content, what it changed)
    pub calls: Vec<(&'static str, Value, Option<Change>)>,
    pub output: Value,
    /// The step fails with this instead.
    pub error: Option<&'static str>,
}

pub fn say(output: Value) -> Play {
    Play {
        output,
        ..Play::default()
    }
}

pub type Script<'a> = dyn Fn(&str, &str, &Map<String, Value>) -> Play + 'a;

pub struct Run {
    pub events: Vec<Event>,
    pub end: Option<(Outcome, String)>,
}

pub fn started(input: Value) -> Event {
    Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "0".into(),
        run_id: "r".into(),
        flow: "f".into(),
        pack_hash: "h".into(),
        input: input.as_object().cloned().unwrap_or_default(),
    }
}

/// Continues from a journal until the run ends, waits for an answer that nobody gives, or `limit` events were added.
/// `script(path, task, input)` plays agents and tools, `answer(id)` the user.
pub fn drive(
    flow: &Flow,
    events: &[Event],
    script: &Script<'_>,
    answer: &dyn Fn(&str) -> Option<Value>,
    limit: usize,
) -> Run {
    let mut log = RunLog::fold(flow, events).unwrap();
    let mut run = Run {
        events: events.to_vec(),
        end: None,
    };
    let full = events.len() + limit;
    while run.events.len() < full {
        let action = next(flow, &log).unwrap();
        let mut put = |event: Event| {
            if run.events.len() < full {
                log.apply(flow, &event)
                    .unwrap_or_else(|e| panic!("{e}: {event:?}"));
                run.events.push(event);
            }
        };
        match action {
            Action::Record(event) => put(event),
            Action::Again { path, decision, .. } => put(Event::FlowDecided {
                step: path,
                decision,
            }),
            Action::End { outcome, message } => {
                run.end = Some((outcome, message));
                return run;
            }
            Action::Ask { path, questions } => {
                assert!(!questions.is_empty());
                let mut waiting = false;
                for question in questions {
                    let (id, required) = (question.id.clone(), question.required);
                    put(Event::QuestionAsked {
                        step: path.clone(),
                        question,
                    });
                    match answer(&id) {
                        Some(value) => put(Event::AnswerGiven {
                            step: path.clone(),
                            question_id: id,
                            value,
                            by: AnsweredBy::File,
                        }),
                        None => waiting |= required,
                    }
                }
                if waiting {
                    run.end = Some((Outcome::Waiting, String::new()));
                    return run;
                }
            }
            Action::Tool {
                path, tool, args, ..
            } => {
                let play = script(&path, &tool, &args);
                let (_, content, _) = play.calls.first().cloned().unwrap();
                let done = log_calls(&run.events, &path);
                if done.0 == 0 {
                    let event = intent(&path, 0, &tool);
                    put_to(&mut log, flow, &mut run.events, full, event);
                }
                if done.1 == 0 {
                    let event = finished(&path, 0, &tool, content.clone(), None);
                    put_to(&mut log, flow, &mut run.events, full, event);
                }
                let event = Event::StepFinished {
                    step: path,
                    output: content,
                };
                put_to(&mut log, flow, &mut run.events, full, event);
            }
            Action::Agent(step) => {
                let play = script(&step.path, &step.task, &step.input);
                // As a driver that resumes: what is in the journal is not done again.
                let done = log_calls(&run.events, &step.path);
                for (i, (tool, content, change)) in play.calls.iter().enumerate() {
                    if done.0 <= i {
                        put_to(
                            &mut log,
                            flow,
                            &mut run.events,
                            full,
                            intent(&step.path, i, tool),
                        );
                    }
                    if done.1 <= i {
                        let event = finished(&step.path, i, tool, content.clone(), change.clone());
                        put_to(&mut log, flow, &mut run.events, full, event);
                    }
                }
                if let Some(error) = play.error {
                    let event = Event::StepFailed {
                        step: step.path,
                        error: error.into(),
                    };
                    put_to(&mut log, flow, &mut run.events, full, event);
                    continue;
                }
                if run.events.len() >= full {
                    continue;
                }
                let contract = Schema::compile(step.contract.clone()).unwrap();
                let faults = contract.faults(&play.output);
                assert_eq!(faults, Vec::<String>::new(), "{}", step.path);
                assert_eq!(
                    verify_output(flow, &log, &step.path, &play.output).unwrap(),
                    vec![],
                    "{}",
                    step.path
                );
                let patch = patch_of(flow, &log, &step.path, &play.output).unwrap();
                let writes = matches!(
                    flow.step_at(&step.path).map(|s| &s.kind),
                    Some(StepKind::Agent(_))
                );
                if writes && !log.patched(&step.path) {
                    let (of, state) = (flow.flow_at(&step.path), log.state_at(&step.path));
                    assert_eq!(check_patch(of, &step.agent, state, &patch), vec![]);
                    let event = Event::StatePatched {
                        step: step.path.clone(),
                        agent: step.agent.clone(),
                        patch,
                    };
                    put_to(&mut log, flow, &mut run.events, full, event);
                }
                let event = Event::StepFinished {
                    step: step.path,
                    output: play.output,
                };
                put_to(&mut log, flow, &mut run.events, full, event);
            }
        }
    }
    run
}

fn put_to(log: &mut RunLog, flow: &Flow, events: &mut Vec<Event>, full: usize, event: Event) {
    if events.len() < full {
        log.apply(flow, &event)
            .unwrap_or_else(|e| panic!("{e}: {event:?}"));
        events.push(event);
    }
}

fn log_calls(events: &[Event], path: &str) -> (usize, usize) {
    let intents = events
        .iter()
        .filter(|e| matches!(e, Event::ToolIntent { step, .. } if step == path))
        .count();
    let results = events
        .iter()
        .filter(|e| matches!(e, Event::ToolFinished { step, .. } if step == path))
        .count();
    (intents, results)
}

fn intent(path: &str, i: usize, tool: &str) -> Event {
    Event::ToolIntent {
        step: path.into(),
        role: "r".into(),
        call: ToolCall {
            id: format!("{path}-{i}"),
            name: tool.into(),
            arguments: "{}".into(),
        }
        .into(),
        decision: Decision::Allow { rule: "t".into() },
        mutates: false,
        expect: None,
        carries: None,
    }
}

fn finished(path: &str, i: usize, tool: &str, content: Value, change: Option<Change>) -> Event {
    Event::ToolFinished {
        step: path.into(),
        role: "r".into(),
        result: ToolResult {
            call_id: format!("{path}-{i}"),
            name: tool.into(),
            status: ToolStatus::Ok,
            content,
        }
        .into(),
        change,
    }
}

pub fn change(id: &str, before: Option<&str>, after: &str) -> Change {
    Change {
        resource: ResourceId::new("workflow", id),
        before: before.map(str::to_owned),
        after: Some(after.into()),
        size: 3,
        snapshot: None,
    }
}

/// Paths of the work that began, in order.
pub fn paths(events: &[Event]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|e| match e {
            Event::StepStarted { step } => Some(step.as_str()),
            _ => None,
        })
        .collect()
}

pub fn stages(events: &[Event]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|e| match e {
            Event::StageChanged { to, .. } => Some(to.as_str()),
            _ => None,
        })
        .collect()
}

/// What a validation tool answers with these errors: (id, has a known fix).
pub fn validated(errors: &[(&str, bool)]) -> Value {
    let findings: Vec<Value> = errors
        .iter()
        .map(|(id, fix)| {
            let mut finding =
                json!({"id": id, "code": "n8n/parameter", "severity": "error", "message": "m"});
            if *fix {
                finding["fix"] = json!({"confidence": "sure", "title": "t", "ops": []});
            }
            finding
        })
        .collect();
    json!({"error_count": errors.len(), "warning_count": 0, "findings": findings})
}
