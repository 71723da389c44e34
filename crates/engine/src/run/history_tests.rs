use super::history::{Made, before_last_run, changed, of_resource, of_run, only, state_hash};
use crate::store::ResourceId;
use crate::store::{Event, Record, event::Change};
use crate::view::By;
use agentctl_base::model::{ToolResult, ToolStatus};
use serde_json::json;

fn change(id: &str, before: Option<&str>, after: Option<&str>) -> Change {
    Change {
        resource: ResourceId::new("workflow", id),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        size: 2,
        snapshot: before.map(|b| format!("{b}.json")),
    }
}

fn record(seq: u64, event: Event) -> Record {
    Record {
        seq,
        at: format!("2026-01-01T00:00:{seq:02}Z"),
        prev: String::new(),
        hash: String::new(),
        event,
    }
}

fn did(seq: u64, status: ToolStatus, change: Change) -> Record {
    let event = Event::ToolFinished {
        step: "make".into(),
        role: "maker".into(),
        result: ToolResult {
            call_id: "c".into(),
            name: "update_workflow".into(),
            status,
            content: json!({}),
        },
        change: Some(change),
    };
    record(seq, event)
}

fn undid(seq: u64, change: Option<Change>) -> Record {
    let event = Event::Undone {
        resource: ResourceId::new("workflow", "w"),
        to_snapshot: String::new(),
        to: Some(0),
        change,
    };
    record(seq, event)
}

fn told(made: &[Made]) -> Vec<(u32, &str, Option<&str>)> {
    let by = |m: &Made| match m.by {
        By::Tool { .. } => "tool",
        By::Undo => "undo",
        By::Outside => "outside",
    };
    let told = made
        .iter()
        .map(|m| (m.number, by(m), m.change.after.as_deref()));
    told.collect()
}

#[test]
fn every_change_has_a_number_and_those_of_somebody_else_too() {
    let records = [
        did(1, ToolStatus::Ok, change("w", None, Some("a"))),
        did(2, ToolStatus::Failed, change("w", Some("a"), Some("b"))),
        undid(3, None),
        did(4, ToolStatus::Ok, change("v", Some("x"), Some("y"))),
        did(5, ToolStatus::Ok, change("w", Some("hand"), Some("c"))),
        undid(6, Some(change("w", Some("c"), None))),
    ];
    let made = of_run("r", &records);
    assert_eq!(
        told(&made),
        [
            (1, "tool", Some("a")),
            (2, "tool", Some("b")),
            (3, "tool", Some("y")),
            (4, "outside", Some("hand")),
            (5, "tool", Some("c")),
            (6, "undo", None),
        ]
    );
    assert_eq!(changed(&made), ["w", "v"]);
    let w = only(&made, "w");
    let states: Vec<_> = (0..=6).map(|n| state_hash(&w, n)).collect();
    assert_eq!(
        states,
        [
            None,
            Some("a"),
            Some("b"),
            Some("b"),
            Some("hand"),
            Some("c"),
            None
        ]
    );
}

#[test]
fn a_workflows_history_is_in_the_order_of_time_whatever_the_runs_are_called() {
    let late = [
        did(3, ToolStatus::Ok, change("w", Some("b"), Some("c"))),
        did(9, ToolStatus::Ok, change("v", None, Some("x"))),
    ];
    let early = [
        did(1, ToolStatus::Ok, change("w", None, Some("a"))),
        undid(7, Some(change("w", Some("c"), Some("a")))),
    ];
    let runs = [("a-late", late.as_slice()), ("z-early", early.as_slice())];
    let made = of_resource("w", runs);
    assert_eq!(
        told(&made),
        [
            (1, "tool", Some("a")),
            (2, "outside", Some("b")),
            (3, "tool", Some("c")),
            (4, "undo", Some("a")),
        ]
    );
    let runs: Vec<&str> = made.iter().map(|m| m.run_id.as_str()).collect();
    assert_eq!(runs, ["z-early", "a-late", "a-late", "z-early"]);
    assert_eq!(before_last_run(&made), 3);
    // What somebody did before the run is no part of it.
    assert_eq!(before_last_run(&made[..3]), 2);
    assert_eq!((before_last_run(&made[..1]), before_last_run(&[])), (0, 0));
}
