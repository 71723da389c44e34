//! Undo and compare: the engine takes lists back by their documents alone.

use crate::support::{House, Seen, block_on, calls, good, list_of, request, request_on, says};
use agentctl_base::model::ModelAnswer;
use agentctl_base::question::Outcome;
use agentctl_engine::redact::Redactor;
use agentctl_engine::run::{
    AllRuns, Compare, Undo, UndoReport, UndoneHow, changes, compare, status, undo, undo_to, verify,
};
use serde_json::json;

/// Sets both items of a list to done.
fn ticking(seen: &Seen<'_>) -> ModelAnswer {
    match (seen.task(), seen.results().len()) {
        ("write", 0) => calls("read_list", json!({"list_id": "old"})),
        ("write", 1) => calls(
            "edit_list",
            json!({"list_id": "old", "ops": [
                {"op": "set", "item": "i1", "done": true},
                {"op": "set", "item": "i2", "done": true},
            ]}),
        ),
        ("write", _) => says(json!({"list": {"id": "old"}})),
        _ => good(seen),
    }
}

fn how(report: &UndoReport) -> Vec<(&str, &str, UndoneHow)> {
    let of = report.resources.iter();
    of.map(|w| (w.resource.kind.as_str(), w.resource.id.as_str(), w.what))
        .collect()
}

#[test]
fn a_run_that_made_a_list_is_taken_back_and_the_undo_too() {
    let mut house = House::new(good);
    let report = house.start(request("the house"));
    let made = house.list("chores");
    let run = || Undo::Run(Some(report.run_id.clone()));
    let undone = block_on(undo(house.context(), run(), false)).unwrap();
    assert_eq!(how(&undone), [("list", "chores", UndoneHow::Removed)]);
    assert_eq!(house.list("chores"), None);
    // The report tells of no list any more.
    let now = status(&house.project, &house.pack).unwrap();
    assert_eq!(
        (now.outcome, &now.made["list"]),
        (Outcome::Complete, &json!(null))
    );

    let redo = undone.redo.unwrap();
    let redone = block_on(undo_to(house.context(), run(), Some(redo), false)).unwrap();
    assert_eq!(how(&redone), [("list", "chores", UndoneHow::Restored)]);
    assert_eq!(house.list("chores"), made);
    assert_eq!(changes(&house.project, &report.run_id).unwrap().len(), 4);
    let whole = verify(&house.project, &crate::resources::parse, &report.run_id).unwrap();
    assert!(whole.is_whole(), "{whole:?}");
}

#[test]
fn a_list_that_was_there_is_put_back_unless_somebody_worked_on_it_since() {
    let old = list_of("Old", &["a", "b"]);
    let mut house = House::new(ticking);
    house.put("old", &old);
    let report = house.start(request_on("old"));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    let ticked = house.list("old").unwrap();
    assert!(ticked.items[0].done);

    // Named as a person would.
    let named = || Undo::Resource("lists/old.json".into());
    let mut edited = ticked.clone();
    edited.add("by hand", None);
    house.put("old", &edited);
    let refused = block_on(undo(house.context(), named(), false)).unwrap_err();
    assert_eq!(refused.exit_code(), 5, "{refused}");
    assert_eq!(house.list("old"), Some(edited));

    house.put("old", &ticked);
    let undone = block_on(undo(house.context(), named(), false)).unwrap();
    assert_eq!(how(&undone), [("list", "old", UndoneHow::PutBack)]);
    assert_eq!(
        undone.resources[0].difference.lines,
        [
            "- [x] i1 a (ann)",
            "- [x] i2 b (ann)",
            "+ [ ] i1 a (ann)",
            "+ [ ] i2 b (ann)"
        ]
    );
    assert_eq!(house.list("old"), Some(old));
}

#[test]
fn two_states_of_a_list_are_compared_in_its_own_words_with_secrets_hidden() {
    let mut house = House::new(ticking);
    house.put("old", &list_of("Old", &["a", "opaque-secret-value"]));
    let before = house.list("old").unwrap().revision();
    house.start(request_on("old"));
    let redactor = Redactor::new(["opaque-secret-value".to_owned()]);
    let runs = AllRuns::look(&house.project).unwrap();
    let what = Compare::Resource {
        runs: &runs,
        named: "old".into(),
        from: None,
        to: Some(1),
    };
    let resources = house.gateway.resources();
    let compared = block_on(compare(&house.project, resources, &redactor, what)).unwrap();
    let json = serde_json::to_value(&compared).unwrap();
    assert_eq!(json[0]["list_id"], "old");
    assert_eq!(json[0]["from"], json!({"change": 0, "revision": before}));
    let after = house.list("old").unwrap().revision();
    assert_eq!(json[0]["to"], json!({"change": 1, "revision": after}));
    let lines = &compared[0].difference.lines;
    assert_eq!((lines.len(), lines[0].as_str()), (4, "- [ ] i1 a (ann)"));
    assert!(!lines.join("").contains("opaque"), "{lines:?}");
}

#[test]
fn a_list_that_a_later_run_changed_goes_back_run_by_run() {
    let mut house = House::new(good);
    house.start(request("the house"));
    let first = house.list("chores");
    let mut house = house.later(|seen| match (seen.task(), seen.results().len()) {
        ("write", 0) => calls("read_list", json!({"list_id": "chores"})),
        ("write", 1) => calls(
            "edit_list",
            json!({"list_id": "chores", "ops": [{"op": "add", "text": "iron", "owner": "eve"}]}),
        ),
        ("write", _) => says(json!({"list": {"id": "chores"}})),
        _ => good(seen),
    });
    let report = house.start(request_on("chores"));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    let what = || Undo::Resource("chores".into());
    let undone = block_on(undo(house.context(), what(), false)).unwrap();
    assert_eq!(how(&undone), [("list", "chores", UndoneHow::PutBack)]);
    assert_eq!(house.list("chores"), first);
    let undone = block_on(undo_to(house.context(), what(), Some(0), false)).unwrap();
    assert_eq!(how(&undone), [("list", "chores", UndoneHow::Removed)]);
}
