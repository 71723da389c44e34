//! Runs that nothing needs go; what stays can be taken back.

use crate::support::{House, Seen, block_on, calls, good, list_of, request, request_on, says};
use agentctl_base::model::ModelAnswer;
use agentctl_engine::run::{
    Kept, PruneTerms, Pruned, RunError, Undo, list, prunable, prune, undo, undo_to,
};
use agentctl_engine::testkit::journals::write_run;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;

/// Sets the first item to done that is not.
fn ticking(seen: &Seen<'_>) -> ModelAnswer {
    match (seen.task(), seen.results().len()) {
        ("write", 0) => calls("read_list", json!({"list_id": "old"})),
        ("write", 1) => {
            let items = seen.results()[0]["items"].as_array().unwrap();
            let open = items.iter().position(|item| item["done"] != true).unwrap();
            let item = format!("i{}", open + 1);
            calls(
                "edit_list",
                json!({"list_id": "old", "ops": [{"op": "set", "item": item, "done": true}]}),
            )
        }
        ("write", _) => says(json!({"list": {"id": "old"}})),
        _ => good(seen),
    }
}

fn pruned(house: &House, terms: PruneTerms, really: bool) -> Result<Pruned, RunError> {
    let resources = house.gateway.resources();
    match really {
        true => block_on(prune(&house.project, resources, &house.effects, terms)),
        false => block_on(prunable(&house.project, resources, terms)),
    }
}

/// Twenty runs that told the same, and the one that is active.
fn many() -> House {
    let mut house = House::new(good);
    house.start(request("the house"));
    let told = house.records();
    for n in 0..20 {
        write_run(&house.project, &told, &format!("2020-{n:02}"), n + 1, 1);
    }
    house
}

#[test]
fn what_would_go_is_told_and_then_goes() {
    let house = many();
    let before = list(&house.project).unwrap();
    let terms = PruneTerms {
        keep: 5,
        ..PruneTerms::default()
    };
    let told = pruned(&house, terms, false).unwrap();
    assert_eq!(list(&house.project).unwrap(), before);
    let names: Vec<String> = (0..16).map(|n| format!("2020-{n:02}")).collect();
    assert_eq!(told.runs, names);
    assert!(told.bytes > 16 * 1000, "{told:?}");
    let done = pruned(&house, terms, true).unwrap();
    assert_eq!(done.runs, told.runs);
    let left = list(&house.project).unwrap();
    assert_eq!(left, before[16..]);
    // Nothing is left of them, and nothing more would go.
    let folders = fs::read_dir(house.project.runs()).unwrap().count();
    assert_eq!(folders, 5);
    assert_eq!(pruned(&house, terms, true).unwrap().runs, [""; 0]);
}

/// By age alone nothing recent goes, and never the active run, an open one, or the last that changed a list.
#[test]
fn what_is_needed_stays() {
    let house = many();
    let before = |at: &str| PruneTerms {
        before: Some(at.parse().unwrap()),
        keep: 0,
    };
    let told = pruned(&house, before("2000-01-01T00:00:00Z"), false).unwrap();
    assert_eq!(told.kept[&Kept::Recent], 20);
    assert_eq!(told.runs, [""; 0]);
    // An open one: its end is cut off.
    let journal = house.project.run("2020-07").unwrap().journal();
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&journal, lines[..lines.len() - 4].concat()).unwrap();
    let told = pruned(&house, before("2100-01-01T00:00:00Z"), false).unwrap();
    assert_eq!(told.runs.len(), 18, "{told:?}");
    assert!(!told.runs.contains(&"2020-07".to_owned()));
    let kept = [
        (Kept::Active, 1),
        (Kept::Unfinished, 1),
        (Kept::LastChange, 1),
    ];
    assert_eq!(told.kept, BTreeMap::from(kept));
    // Of another user all are foreign.
    let (theirs, resources) = (
        house.project.clone().with_key(None),
        house.gateway.resources(),
    );
    let terms = before("2100-01-01T00:00:00Z");
    let told = block_on(prunable(&theirs, resources, terms)).unwrap();
    assert_eq!(told.kept, BTreeMap::from([(Kept::Foreign, 21)]));
    assert_eq!(told.runs, [""; 0]);
}

#[test]
fn undo_works_for_what_is_kept() {
    let mut house = House::new(ticking);
    house.put("old", &list_of("Old", &["a", "b", "c"]));
    let mut runs = Vec::new();
    let mut states = Vec::new();
    for _ in 0..3 {
        runs.push(house.start(request_on("old")).run_id);
        states.push(house.list("old"));
    }
    let terms = PruneTerms {
        keep: 2,
        ..PruneTerms::default()
    };
    assert_eq!(pruned(&house, terms, true).unwrap().runs, runs[..1]);
    // The newest, then the one before it, and both again.
    let run = |n: usize| Undo::Run(Some(runs[n].clone()));
    block_on(undo(house.context(), run(2), false)).unwrap();
    assert_eq!(house.list("old"), states[1]);
    let undone = block_on(undo(house.context(), run(1), false)).unwrap();
    assert_eq!(house.list("old"), states[0]);
    block_on(undo_to(house.context(), run(1), undone.redo, false)).unwrap();
    assert_eq!(house.list("old"), states[1]);
}

/// What a run that stays left is kept by the next one's snapshot only, which goes back no further: it stays for that.
#[test]
fn a_run_with_the_only_snapshot_of_a_needed_state_stays() {
    let mut house = House::new(ticking);
    house.put("old", &list_of("Old", &["a", "b", "c", "d"]));
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.push(house.start(request_on("old")).run_id);
    }
    // The first can go on, so it stays: its end is cut off.
    let paths = house.project.run(&runs[0]).unwrap();
    let text = fs::read_to_string(paths.journal()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(paths.journal(), lines[..lines.len() - 2].concat()).unwrap();
    fs::remove_file(paths.archived_state()).unwrap();
    let told = pruned(&house, PruneTerms::default(), false).unwrap();
    let kept = [(Kept::Active, 1), (Kept::Unfinished, 1), (Kept::Needed, 1)];
    assert_eq!(told.kept, BTreeMap::from(kept));
    assert_eq!(told.runs, runs[2..3]);
}
