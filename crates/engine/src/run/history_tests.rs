use super::history::{Made, before_last_run, changed, of_resource, of_run, only, state_hash};
use crate::store::ResourceId;
use crate::store::{Event, Record, event::Change};
use crate::view::{By, Changed, RunView};
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
        }
        .into(),
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

fn changes(records: &[Record]) -> Vec<Changed> {
    RunView::of(records).changes
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
    let made = of_run("r", &changes(&records));
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
    let (late, early) = (changes(&late), changes(&early));
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

fn turn(seq: u64, order: Option<u64>) -> Record {
    let event = Event::ActivationStarted {
        activation: 1,
        kind: "start".into(),
        pid: 1,
        means: None,
        order,
        heard: None,
    };
    record(seq, event)
}

fn at(mut record: Record, at: &str) -> Record {
    record.at = at.to_owned();
    record
}

/// Run r1 makes it, r2 changes it and takes that back, r1 is taken back; meanwhile the clock went back by years, and forth.
#[test]
fn changes_of_a_resource_stand_in_the_order_of_the_journals_whatever_the_clock_said() {
    let ok = ToolStatus::Ok;
    let first = [
        turn(1, Some(1)),
        at(
            did(2, ok, change("w", None, Some("a"))),
            "2026-01-01T00:00:00Z",
        ),
        turn(3, Some(3)),
        at(
            undid(4, Some(change("w", Some("a"), None))),
            "1999-01-01T00:00:00Z",
        ),
    ];
    let second = [
        turn(1, Some(2)),
        at(
            did(2, ok, change("w", Some("a"), Some("b"))),
            "1970-01-01T00:00:00Z",
        ),
        at(
            undid(3, Some(change("w", Some("b"), Some("a")))),
            "2030-01-01T00:00:00Z",
        ),
    ];
    let (first, second) = (changes(&first), changes(&second));
    let runs = [("r1", first.as_slice()), ("r2", second.as_slice())];
    let made = of_resource("w", runs);
    let by: Vec<_> = made.iter().map(|m| (m.run_id.as_str(), m.seq)).collect();
    assert_eq!(by, [("r1", 2), ("r2", 2), ("r2", 3), ("r1", 4)]);
    assert!(made.iter().all(|m| m.by != By::Outside), "{made:?}");
    assert_eq!(before_last_run(&made), 3);
    // Of journals that do not say it the clock does, but not against the order within a run; and they come first.
    let old = [
        turn(1, None),
        at(
            did(2, ok, change("w", None, Some("x"))),
            "2031-01-01T00:00:00Z",
        ),
        at(
            did(3, ok, change("w", Some("x"), None)),
            "2029-01-01T00:00:00Z",
        ),
    ];
    let old = changes(&old);
    let made = of_resource(
        "w",
        [
            ("r1", first.as_slice()),
            ("r0", old.as_slice()),
            ("r2", second.as_slice()),
        ],
    );
    let by: Vec<_> = made.iter().map(|m| (m.run_id.as_str(), m.seq)).collect();
    assert_eq!(by[..3], [("r0", 2), ("r0", 3), ("r1", 2)]);
    assert!(made.iter().all(|m| m.by != By::Outside), "{made:?}");
}
