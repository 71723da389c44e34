//! A run that does not get there: what it leaves for a post-mortem.

use crate::support::{House, Seen, good, request, says};
use agentctl_base::model::ModelAnswer;
use agentctl_base::question::Outcome;
use agentctl_engine::flow::Reading;
use agentctl_engine::store::{Event, Record};
use agentctl_engine::view::RunView;
use serde_json::json;

/// Mends nothing.
fn idle(seen: &Seen<'_>) -> ModelAnswer {
    let id = seen.input("list", "id");
    match seen.task() {
        "fix" => says(json!({"list": {"id": id}, "attempts": [{"change": "none"}]})),
        _ => good(seen),
    }
}

#[test]
fn a_blocked_run_leaves_its_cause_and_its_lessons_in_the_fields_that_say_so() {
    let mut house = House::new(idle);
    let report = house.start(request("the house"));
    assert_eq!((report.outcome, report.exit_code), (Outcome::Blocked, 3));
    assert_eq!(report.message, "1 item(s) that nobody does");
    assert_eq!(report.stage, "stuck");
    assert_eq!(report.cause.unwrap()["summary"], "nobody wants to cook");
    // What was made is still reported, with the verdict.
    assert_eq!(report.made["list"]["id"], "chores");
    assert_eq!(
        report.made["review"],
        json!({"status": "fail", "error_count": 1, "cycle": 2})
    );

    let flow = &house.pack.flow;
    let (cause, lessons) = (
        flow.read_field(Reading::Cause).unwrap(),
        flow.read_field(Reading::Learnings).unwrap(),
    );
    assert_eq!((cause, lessons), ("reason", "lessons"));
    let view = RunView::of(&house.records());
    let last = view.patches.last().unwrap();
    assert_eq!(last.patch[cause]["summary"], "nobody wants to cook");
    assert_eq!(last.patch[lessons][0]["title"], "Name an owner");
    let evidence = house.project.result_file("post_mortem", &report.run_id);
    let text = std::fs::read_to_string(evidence).unwrap();
    assert!(text.contains("nobody wants to cook"), "{text}");
}

/// The records as they stand in `blocked.jsonl`, which the post-mortem of the root package is tried with. What each build, folder, prompt
/// or look at the clock would change is left out.
fn written(records: Vec<Record>) -> String {
    let line = |mut record: Record| {
        (record.prev, record.hash) = (String::new(), String::new());
        record.at = format!(
            "2027-01-15T08:{:02}:{:02}Z",
            record.seq / 60,
            record.seq % 60
        );
        match &mut record.event {
            Event::RunStarted {
                agentctl_version,
                pack_hash,
                ..
            } => (*agentctl_version, *pack_hash) = ("0".to_owned(), String::new()),
            Event::ModelAsked { request_hash, .. } => request_hash.clear(),
            _ => {}
        }
        serde_json::to_string(&record).unwrap() + "\n"
    };
    records.into_iter().map(line).collect()
}

/// After a change on purpose `RENEW_JOURNALS=1` writes it anew.
#[test]
fn the_journal_of_a_blocked_run_is_the_one_that_the_post_mortem_is_tried_with() {
    let mut house = House::new(idle);
    house.start(request("the house"));
    let now = written(house.records());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/to_do/blocked.jsonl");
    if std::env::var_os("RENEW_JOURNALS").is_some() {
        std::fs::write(path, &now).unwrap();
    }
    assert_eq!(now, std::fs::read_to_string(path).unwrap());
}
