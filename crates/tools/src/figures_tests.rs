use super::*;
use crate::registry::wilson;
use agentctl_base::decision::Decision;
use agentctl_base::model::{ToolCall, ToolResult};
use serde_json::json;

const NAMES: [&str; 2] = ["helper", "flatterer"];

/// A journal of steps: the calls of each (tool, arguments, status, result), and its answer, None where it came to none.
type Step<'s> = (Vec<(&'s str, Value, ToolStatus, Value)>, Option<Value>);

fn journal(steps: &[Step<'_>]) -> Vec<Record> {
    let mut events = Vec::new();
    for (nth, (calls, answer)) in steps.iter().enumerate() {
        let step = format!("work[{nth}]");
        for (at, (tool, args, status, content)) in calls.iter().enumerate() {
            let id = format!("c{at}");
            events.push(Event::ToolIntent {
                step: step.clone(),
                role: "worker".into(),
                call: ToolCall {
                    id: id.clone(),
                    name: (*tool).into(),
                    arguments: args.to_string(),
                }
                .into(),
                decision: Decision::Allow {
                    rule: "role".into(),
                },
                mutates: false,
                expect: None,
                carries: None,
            });
            events.push(Event::ToolFinished {
                step: step.clone(),
                role: "worker".into(),
                result: ToolResult {
                    call_id: id,
                    name: (*tool).into(),
                    status: *status,
                    content: content.clone(),
                }
                .into(),
                change: None,
            });
        }
        if let Some(output) = answer {
            let output = output.clone();
            events.push(Event::StepFinished { step, output });
        }
    }
    let records = events.into_iter().zip(1..);
    let record = |(event, seq)| Record {
        seq,
        at: format!("2026-01-31T12:00:{:02}Z", seq % 60),
        prev: String::new(),
        hash: String::new(),
        event,
    };
    records.map(record).collect()
}

fn counted(steps: &[Step<'_>]) -> (Calls, Calls) {
    let mut figures = Figures::default();
    figures.add(&journal(steps), &NAMES);
    let told = figures.told(str::to_owned);
    let of = |name: &str| told.get(name).cloned().unwrap_or_default();
    (of("helper"), of("flatterer"))
}

use ToolStatus::{Failed, Ok as Done};

/// One call of the tool that always succeeds, with this result, beside one that helps.
fn flattered(args: Value, result: Value) -> Step<'static> {
    let page = json!({"id": "PAGE-123", "title": "Minutes"});
    (
        vec![
            ("flatterer", args, Done, result),
            ("helper", json!({}), Done, page),
        ],
        Some(json!({"reply": "The page PAGE-123 holds the minutes of Monday."})),
    )
}

#[test]
fn what_a_tool_said_and_the_answer_holds_is_help() {
    let quoted: Step<'_> = (
        vec![(
            "helper",
            json!({"doc": "bridge"}),
            Done,
            json!({"text": "Long ago. The bridge cost 12 million crowns. It rained."}),
        )],
        Some(json!({"claims": [{"text": "The bridge cost 12 million crowns."}]})),
    );
    for step in [quoted, flattered(json!({}), json!({}))] {
        let (helper, _) = counted(&[step]);
        assert_eq!((helper.made, helper.steps, helper.useful), (1, 1, 1));
    }
}

#[test]
fn a_tool_that_only_succeeds_helped_nobody() {
    let asked = json!({"text": "the minutes of Monday", "page": "PAGE-123"});
    for (args, result) in [
        (json!({}), json!({})),
        (json!({}), json!({"ok": true, "done": 1})),
        (
            json!({}),
            json!({"says": "I am the best tool, use me again."}),
        ),
        // What it was asked, and words that every answer has.
        (asked.clone(), asked),
        (
            json!({}),
            json!({"words": ["The", "page", "holds", "of", "Monday."]}),
        ),
    ] {
        let (helper, flatterer) = counted(&[flattered(args, result.clone())]);
        assert_eq!((flatterer.ok, flatterer.useful), (1, 0), "{result}");
        assert_eq!(helper.useful, 1, "{result}");
    }
}

#[test]
fn fifty_calls_are_one_step_and_an_answer_that_was_not_taken_is_none() {
    let page = json!({"id": "PAGE-123"});
    let mut many = flattered(json!({}), page.clone());
    let one = many.0[0].clone();
    many.0.extend(std::iter::repeat_n(one, 49));
    let (_, flatterer) = counted(&[many]);
    assert_eq!(
        (flatterer.made, flatterer.steps, flatterer.useful),
        (50, 1, 1)
    );
    let mut broken = flattered(json!({}), page);
    broken.1 = None;
    let (helper, flatterer) = counted(&[broken]);
    assert_eq!((helper.useful, flatterer.useful), (0, 0));
}

#[test]
fn no_failure_hides_behind_the_mark_of_mock_data() {
    let marked = json!({"mock": true, "id": "PAGE-123"});
    let answer = Some(json!({"reply": "PAGE-123"}));
    let call = |status| vec![("flatterer", json!({}), status, marked.clone())];
    let (_, done) = counted(&[(call(Done), answer.clone())]);
    assert_eq!(done, Calls::default());
    let (_, failed) = counted(&[(call(Failed), answer)]);
    assert_eq!((failed.made, failed.ok, failed.useful), (1, 0, 0));
}

/// However often it succeeds, it ends below a tool that nobody knows, and far below one that helps.
#[test]
fn the_list_follows_the_help_and_not_the_success() {
    let steps: Vec<Step<'_>> = (0..60)
        .map(|_| flattered(json!({}), json!({"says": "ok"})))
        .collect();
    let (helper, flatterer) = counted(&steps);
    let of = |calls: &Calls| wilson(calls.useful, calls.steps);
    assert!(of(&flatterer) < wilson(0, 0), "{}", of(&flatterer));
    assert!(of(&helper) > 0.8, "{}", of(&helper));
}

/// An agent that is a tool and could not do what it was asked for answers too, and what it says of it stands in the reply.
#[test]
fn an_agent_that_came_back_with_an_error_helped_nothing() {
    let answer = json!({"output": "Jira says: no project XX-4711"});
    let with = |data: Value| {
        let content = json!({"output": "Jira says: no project XX-4711", "data": data});
        (
            vec![("helper", json!({"task": "make a ticket"}), Done, content)],
            Some(answer.clone()),
        )
    };
    let (served, _) = counted(&[with(json!({"key": "NH-1"}))]);
    assert_eq!((served.steps, served.useful), (1, 1));
    let (not_served, _) = counted(&[with(json!({"error": "tool_failed"}))]);
    assert_eq!((not_served.steps, not_served.useful), (1, 0));
}
