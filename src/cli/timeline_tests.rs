use super::timeline::{Detail, Timeline};
use agentctl_base::decision::Decision;
use agentctl_base::model::{ModelAnswer, ToolCall, ToolResult, ToolStatus, Usage};
use agentctl_engine::store::ResourceId;
use agentctl_engine::store::{Event, Record, event::Change};
use serde_json::json;

fn record(seq: u64, event: Event) -> Record {
    Record {
        seq,
        at: format!("2026-11-21T10:00:{seq:02}.5Z"),
        prev: String::new(),
        hash: String::new(),
        event,
    }
}

fn asked(name: &str, decision: Decision) -> Event {
    Event::ToolIntent {
        step: "build".into(),
        role: "qa".into(),
        call: ToolCall {
            id: "c1".into(),
            name: name.into(),
            arguments: json!({"workflow_id": "orders\u{1b}[2J"}).to_string(),
        }
        .into(),
        decision,
        mutates: true,
        expect: None,
        carries: None,
    }
}

fn came(status: ToolStatus, content: serde_json::Value, change: Option<Change>) -> Event {
    Event::ToolFinished {
        step: "build".into(),
        role: "qa".into(),
        result: ToolResult {
            call_id: "c1".into(),
            name: "delete_workflow".into(),
            status,
            content,
        }
        .into(),
        change,
    }
}

fn change(before: Option<&str>, after: Option<&str>) -> Option<Change> {
    Some(Change {
        resource: ResourceId::new("workflow", "orders"),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        size: 3,
        snapshot: None,
    })
}

fn records() -> Vec<Record> {
    let deny = Decision::Deny {
        rule: "matrix".into(),
        reason: "qa may not delete".into(),
    };
    let allow = Decision::Allow {
        rule: "builder: delete-workflow".into(),
    };
    let answer = ModelAnswer {
        finish: agentctl_base::model::Finish::Done,
        text: String::new(),
        tool_calls: vec![],
        usage: Usage {
            input_tokens: 1200,
            output_tokens: 30,
            cached_tokens: 1000,
            cache_write_tokens: 0,
            cost_usd: Some(0.0125),
        },
    };
    let answered = Event::ModelAnswered {
        step: "build".into(),
        turn: 1,
        answer: answer.into(),
    };
    let done = |change| came(ToolStatus::Ok, json!({"id": "orders"}), change);
    let refused = came(
        ToolStatus::Refused,
        json!({"error": "qa may not delete"}),
        None,
    );
    let events = [
        answered,
        asked("delete_workflow", deny),
        refused,
        asked("delete_workflow", allow),
        done(change(None, Some("a"))),
        done(change(Some("b"), None)),
    ];
    let numbered = events.into_iter().enumerate();
    numbered.map(|(i, e)| record(i as u64 + 1, e)).collect()
}

fn told(detail: Detail, since: u64) -> String {
    console::set_colors_enabled(false);
    let mut timeline = Timeline::new(detail).since(since);
    records().iter().map(|r| timeline.lines(r)).collect()
}

#[test]
fn a_log_tells_who_did_what_when_by_which_rule_and_at_what_cost() {
    let text = told(Detail::Whole, 1);
    insta::assert_snapshot!(text.trim_end().replace(" \n", "\n"), @r#"
    2026-11-21 UTC
       1  10:00:01     answered, 1200 tokens in (1000 cached), 30 out, $0.0125
       2  10:00:02     qa → delete_workflow workflow_id=orders�[2J
                         denied by matrix: qa may not delete
       3  10:00:03     refused delete_workflow qa may not delete
       4  10:00:04     qa → delete_workflow workflow_id=orders�[2J
                         allowed by builder: delete-workflow
       5  10:00:05     ✓ delete_workflow id: orders
                         change 1: orders created, 3 nodes
       6  10:00:06       change 2: orders was changed by somebody else
                       ✓ delete_workflow id: orders
                         change 3: orders deleted
    "#);
}

#[test]
fn a_part_of_a_log_has_the_numbers_of_the_whole() {
    let text = told(Detail::Progress, 6);
    insta::assert_snapshot!(text.trim_end(), @"
    10:00:06       change 2: orders was changed by somebody else
                 ✓ delete_workflow id: orders
                   change 3: orders deleted
    ");
}
