//! What the toolset's guards, its claims and the pack's policy stop, in whole runs.

use crate::store::Store;
use crate::support::{House, Seen, calls, good, list_of, request, request_on, says};
use agentctl_base::model::ModelAnswer;
use agentctl_base::question::Outcome;
use serde_json::{Value, json};

/// Changes a list that is there, by these calls one after the other, and says that it did.
pub fn changing(
    id: &'static str,
    made: &'static [(&'static str, &'static str)],
) -> impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static {
    move |seen| match seen.task() {
        "write" => match made.get(seen.results().len()) {
            Some((tool, ops)) if *tool == "edit_list" => {
                let ops: Value = serde_json::from_str(ops).unwrap();
                calls(tool, json!({"list_id": id, "ops": ops}))
            }
            Some((tool, _)) => calls(tool, json!({"list_id": id})),
            None => says(json!({"list": {"id": id}})),
        },
        _ => good(seen),
    }
}

pub const REMOVES_ONE: (&str, &str) = ("edit_list", r#"[{"op": "remove", "item": "a"}]"#);
pub const REMOVES_TWO: (&str, &str) = (
    "edit_list",
    r#"[{"op": "remove", "item": "b"}, {"op": "remove", "item": "c"}]"#,
);
pub const READS: (&str, &str) = ("read_list", "");

/// A house with a list of four items that another run did not make.
fn house(script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static) -> House {
    let house = House::new(script);
    house.put("old", &list_of("Old", &["a", "b", "c", "d"]));
    house
}

#[test]
fn losing_most_of_a_list_is_asked_also_in_two_steps_and_done_with_a_yes() {
    let mut house = house(changing("old", &[READS, REMOVES_ONE, REMOVES_TWO]));
    let report = house.start(request_on("old"));
    assert_eq!(report.outcome, Outcome::Waiting, "{}", report.message);
    let [question] = report.questions.as_slice() else {
        panic!("{:?}", report.questions)
    };
    let proposal = question.proposal.as_ref().unwrap();
    assert_eq!(
        (proposal.rule.as_str(), proposal.tool.as_str()),
        ("guard.loss", "edit_list")
    );
    assert_eq!(
        proposal.diff.as_deref(),
        Some("- [ ] i2 b (ann)\n- [ ] i3 c (ann)")
    );
    assert_eq!(house.list("old").unwrap().items.len(), 3);
    let report = house.answer(json!({(question.id.as_str()): "approve"}));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(house.list("old").unwrap().lines(), ["[ ] i4 d (ann)"]);
    assert_eq!(house.refusals(), Vec::<String>::new());
}

#[test]
fn a_no_leaves_the_list_and_is_told_to_the_agent() {
    let mut house = house(changing("old", &[READS, REMOVES_ONE, REMOVES_TWO]));
    let asked = house.start(request_on("old")).questions.remove(0);
    let report = house.answer(json!({(asked.id.as_str()): "refuse"}));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(house.list("old").unwrap().items.len(), 3);
    assert_eq!(house.refusals(), ["guard.loss"]);
}

#[test]
fn after_a_yes_losses_are_counted_anew() {
    const REMOVES_THREE: (&str, &str) = (
        "edit_list",
        r#"[{"op": "remove", "item": "a"}, {"op": "remove", "item": "b"}, {"op": "remove", "item": "c"}]"#,
    );
    const ADDS: (&str, &str) = (
        "edit_list",
        r#"[{"op": "add", "text": "e", "owner": "ann"}, {"op": "add", "text": "f", "owner": "ann"}]"#,
    );
    const REMOVES_ADDED: (&str, &str) = ("edit_list", r#"[{"op": "remove", "item": "e"}]"#);
    let mut house = house(changing(
        "old",
        &[READS, REMOVES_THREE, ADDS, REMOVES_ADDED],
    ));
    let asked = house.start(request_on("old")).questions.remove(0);
    let report = house.answer(json!({(asked.id.as_str()): "approve"}));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(
        house.list("old").unwrap().lines(),
        ["[ ] i4 d (ann)", "[ ] i6 f (ann)"]
    );
}

#[test]
fn what_was_not_read_is_not_changed() {
    let mut house = house(changing("old", &[REMOVES_ONE, READS, REMOVES_ONE]));
    // Nothing was named, so the flow did not read it either.
    assert_eq!(house.start(request("old")).outcome, Outcome::Complete);
    assert_eq!(house.refusals(), ["guard.stale"]);
    assert_eq!(house.list("old").unwrap().items.len(), 3);
}

#[test]
fn what_somebody_changed_since_it_was_read_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let lists = Store::new(dir.path());
    lists
        .put("old", Some(&list_of("Old", &["a", "b"])))
        .unwrap();
    let by_hand = list_of("Old", &["a", "b", "by hand"]);
    let agent = changing("old", &[REMOVES_ONE, READS, REMOVES_ONE]);
    let hand = by_hand.clone();
    let mut house = House::at(dir, move |seen| {
        if seen.task() == "write" && seen.results().is_empty() {
            lists.put("old", Some(&hand)).unwrap();
        }
        agent(seen)
    });
    let report = house.start(request_on("old"));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(house.refusals(), ["guard.stale"]);
    assert_eq!(house.list("old").unwrap().items, by_hand.items[1..]);
}

#[test]
fn a_list_of_somebody_elses_is_deleted_with_the_users_word_only() {
    let mut house = house(changing("old", &[READS, ("delete_list", "")]));
    let report = house.start(request_on("old"));
    let [question] = report.questions.as_slice() else {
        panic!("{:?}", report.questions)
    };
    assert_eq!(question.proposal.as_ref().unwrap().rule, "guard.owner");
    assert!(house.list("old").is_some());
}

/// In the fix cycle touches an item beside the scope, then another list, then what it may.
fn straying(seen: &Seen<'_>) -> ModelAnswer {
    let set = |item: &str| {
        let ops = json!([{"op": "set", "item": item, "owner": "bob"}]);
        calls("edit_list", json!({"list_id": "chores", "ops": ops}))
    };
    match (seen.task(), seen.results().len()) {
        ("fix", 1) => set("sweep"),
        ("fix", 2) => calls("create_list", json!({"name": "Other", "items": []})),
        ("fix", 3) => calls("delete_list", json!({"list_id": "chores"})),
        ("fix", 4) => set("cook"),
        _ => good(seen),
    }
}

#[test]
fn a_fix_cycle_changes_what_is_in_scope_only() {
    let mut house = House::new(straying);
    let report = house.start(request("the house"));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(
        house.refusals(),
        ["guard.items", "guard.items", "guard.items"]
    );
    let list = house.list("chores").unwrap();
    assert_eq!(list.lines(), ["[ ] i1 sweep (ann)", "[ ] i2 cook (bob)"]);
    assert_eq!(house.list("other"), None);
}

/// Claims another list, another count, and a pass that is none, before the truth.
fn boasting(seen: &Seen<'_>) -> ModelAnswer {
    match (seen.task(), seen.results().len(), seen.told()) {
        ("write", 1, 0) => says(json!({"list": {"id": "palace"}})),
        ("review", 1, 0) if seen.results()[0]["error_count"] == 1 => {
            says(json!({"verdict": {"status": "pass", "error_count": 0}, "may_change": []}))
        }
        _ => good(seen),
    }
}

#[test]
fn a_claim_that_the_calls_do_not_bear_is_refused() {
    let mut house = House::new(boasting);
    let report = house.start(request("the house"));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    let refusals = house.refusals();
    assert_eq!(
        refusals,
        ["claims.list", "claims.verdict", "claims.verdict"]
    );
    assert_eq!(report.state["verdict"]["error_count"], 0);
}

#[test]
fn the_packs_policy_decides_with_the_toolsets_arguments() {
    let mut house = House::new(changing("archive-2025", &[READS, REMOVES_ONE]));
    house.put("archive-2025", &list_of("Archive", &["a", "b", "c"]));
    let report = house.start(request_on("archive-2025"));
    assert_eq!(house.refusals()[0], "archive");
    assert_ne!(report.outcome, Outcome::Complete);
    assert_eq!(house.list("archive-2025").unwrap().items.len(), 3);
}
