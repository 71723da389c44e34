//! Many runs: what lists them reads what is kept of each, and comes to the same as if it read their journals.

use crate::resources::parse;
use crate::support::{House, block_on, good, request};
use agentctl_engine::redact::Redactor;
use agentctl_engine::run::{
    Compare, RunSummary, Undo, UndoneHow, compare, list, resource_changes, undo, unreadable, verify,
};
use agentctl_engine::testkit::journals::write_run;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Runs that tell the same of one list, one after the other.
fn many(count: u64) -> House {
    let mut house = House::new(good);
    house.start(request("the house"));
    let told = house.records();
    for n in 0..count {
        let run = format!("20300101-000000-{n:04}");
        write_run(&house.project, &told, &run, 10 + n, 3);
    }
    house
}

fn journals(house: &House) -> Vec<PathBuf> {
    let runs = house.project.run_ids().unwrap().into_iter();
    runs.map(|run| house.project.run(&run).unwrap().journal())
        .collect()
}

fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

fn changed_at(path: &PathBuf, time: SystemTime) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

fn forget(house: &House) {
    for run in house.project.run_ids().unwrap() {
        let kept = house.project.run(&run).unwrap().checkpoint();
        if kept.exists() {
            fs::remove_file(kept).unwrap();
        }
    }
}

fn numbers(house: &House) -> Vec<(u32, String, u64)> {
    let resources = house.gateway.resources();
    let made = block_on(resource_changes(&house.project, resources, "chores"));
    let (_, made) = made.unwrap();
    made.into_iter()
        .map(|m| (m.number, m.run_id, m.seq))
        .collect()
}

#[test]
fn what_is_kept_of_runs_tells_what_their_journals_tell() {
    let house = many(20);
    let read = (list(&house.project).unwrap(), numbers(&house));
    let kept = (list(&house.project).unwrap(), numbers(&house));
    assert_eq!(read, kept);
    forget(&house);
    assert_eq!((list(&house.project).unwrap(), numbers(&house)), kept);
    assert_eq!(kept.0.len(), 21);
    assert!(kept.0.iter().all(|run| run.resources == ["chores"]));
    // Two by each run; between two runs the list was another.
    assert_eq!(kept.1.len(), 2 * 21 + 20);
}

/// Each journal is broken in a way that cannot be seen without reading it: who lists runs does not see it, and `verify` does.
#[test]
fn runs_are_listed_without_their_journals_and_verified_with_them() {
    let house = many(20);
    let journals = journals(&house);
    for journal in &journals {
        changed_at(journal, long_ago());
    }
    let told = (list(&house.project).unwrap(), numbers(&house));
    for journal in &journals {
        let text = fs::read_to_string(journal).unwrap();
        fs::write(journal, text.replacen("Chores", "Choser", 1)).unwrap();
        changed_at(journal, long_ago());
    }
    assert_eq!((list(&house.project).unwrap(), numbers(&house)), told);
    assert_eq!(unreadable(&house.project).unwrap(), []);
    let what = Compare::Resource {
        named: "chores".into(),
        from: Some(1),
        to: None,
    };
    let (resources, redactor) = (house.gateway.resources(), Redactor::default());
    let compared = compare(&house.project, resources, &redactor, what);
    assert_eq!(block_on(compared).unwrap().len(), 1);
    for run in house.project.run_ids().unwrap() {
        verify(&house.project, &parse, &run).unwrap_err();
    }
    // Somebody changed them now: they are read, and each is told as broken.
    for journal in &journals {
        changed_at(journal, SystemTime::now());
    }
    let broken = |run: &RunSummary| run.broken.is_some();
    assert!(list(&house.project).unwrap().iter().all(broken));
    assert_eq!(unreadable(&house.project).unwrap().len(), 21);
}

#[test]
fn a_list_is_taken_back_over_many_runs() {
    let mut house = many(20);
    let named = || Undo::Resource("chores".into());
    let undone = block_on(undo(house.context(), named(), false)).unwrap();
    assert_eq!(undone.resources[0].what, UndoneHow::Removed);
    assert_eq!(house.list("chores"), None);
    let last = house.project.run_ids().unwrap().pop().unwrap();
    assert_eq!(undone.run_id, last);
}
