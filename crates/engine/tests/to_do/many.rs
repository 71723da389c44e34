//! Many runs: what lists them reads what is kept of each, and comes to the same as if it read their journals.

use crate::resources::parse;
use crate::support::{House, block_on, good, request};
use agentctl_base::question::Outcome;
use agentctl_engine::pack::Pack;
use agentctl_engine::redact::Redactor;
use agentctl_engine::run::{
    AllRuns, Compare, RunSummary, Undo, UndoneHow, compare, list, means, report, show, undo,
    verify, verify_all,
};
use agentctl_engine::store::{RunPaths, StateFile};
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

fn unread(house: &House) -> usize {
    let runs = AllRuns::look(&house.project).unwrap();
    runs.unreadable(&house.project).len()
}

fn numbers(house: &House) -> Vec<(u32, String, u64)> {
    let resources = house.gateway.resources();
    let runs = AllRuns::look(&house.project).unwrap();
    let (_, made) = block_on(runs.changes(resources, "chores")).unwrap();
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

/// With what a run goes on is not taken from one whose journal was changed, though it is as long as it was and of the same time.
#[test]
fn limits_and_models_are_kept_and_not_believed_of_another_journal() {
    let house = many(1);
    let run = "20300101-000000-0000";
    let of_run = || means(&house.project, Some(run));
    let read = of_run().unwrap();
    assert!(read.is_some());
    list(&house.project).unwrap();
    assert!(house.project.run(run).unwrap().checkpoint().exists());
    assert_eq!(of_run().unwrap(), read);
    let journal = house.project.run(run).unwrap().journal();
    let time = fs::metadata(&journal).unwrap().modified().unwrap();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("Chores", "Choser", 1)).unwrap();
    changed_at(&journal, time);
    assert_eq!(list(&house.project).unwrap().len(), 2);
    of_run().unwrap_err();
}

#[test]
fn many_runs_are_verified_together_and_each_is_told_in_its_place() {
    let house = many(40);
    let runs = house.project.run_ids().unwrap();
    let journal = house.project.run(&runs[30]).unwrap().journal();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("Chores", "Choser", 1)).unwrap();
    let verified = verify_all(&house.project, &parse, &runs).into_iter();
    let told: Vec<Option<String>> = verified.map(|v| Some(v.ok()?.run_id)).collect();
    let mut expected: Vec<Option<String>> = runs.into_iter().map(Some).collect();
    expected[30] = None;
    assert_eq!(told, expected);
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
    assert_eq!(unread(&house), 0);
    let runs = AllRuns::look(&house.project).unwrap();
    let what = Compare::Resource {
        runs: &runs,
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
    assert_eq!(unread(&house), 21);
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

fn snapshots_of(paths: &RunPaths) -> Vec<PathBuf> {
    let taken = fs::read_dir(paths.snapshots()).unwrap();
    taken.map(|entry| entry.unwrap().path()).collect()
}

/// A run whose journal is long, and a pack of the same hash that no journal fits: with it only what was kept can be shown.
fn long() -> (House, String, Pack) {
    let mut house = House::new(good);
    let first = house.start(request("the house")).run_id;
    let run = "20300101-000000-long".to_owned();
    write_run(&house.project, &house.records(), &run, 10, 600);
    let snapshots = |run: &str| house.project.run(run).unwrap().snapshots();
    fs::create_dir(snapshots(&run)).unwrap();
    for taken in snapshots_of(&house.project.run(&first).unwrap()) {
        let name = taken.file_name().unwrap();
        fs::copy(&taken, snapshots(&run).join(name)).unwrap();
    }
    let mut empty = house.pack.clone();
    empty.flow.steps.clear();
    (house, run, empty)
}

#[test]
fn what_was_shown_of_a_long_run_is_shown_again_without_folding_it() {
    let (house, run, empty) = long();
    let kept = house.project.run(&run).unwrap().report();
    report(&house.project, &empty, &run).unwrap_err();
    assert!(!kept.exists());
    let folded = report(&house.project, &house.pack, &run).unwrap();
    assert!(kept.exists());
    assert_eq!(report(&house.project, &empty, &run).unwrap(), folded);
    let mut records = 0;
    let shown = show(&house.project, &empty, &run, &mut |_| records += 1);
    assert_eq!((shown.unwrap(), records > 2400), (folded.clone(), true));
    // Of another pack it tells nothing.
    let other = Pack {
        hash: "another".into(),
        ..empty
    };
    report(&house.project, &other, &run).unwrap_err();
    fs::remove_file(kept).unwrap();
    assert_eq!(report(&house.project, &house.pack, &run).unwrap(), folded);
}

#[test]
fn what_was_shown_does_not_hide_what_was_damaged_since() {
    let (house, run, _) = long();
    let paths = house.project.run(&run).unwrap();
    let whole = report(&house.project, &house.pack, &run).unwrap();
    assert_eq!(whole.damage, [""; 0]);
    // A summary that was made from other records than these, of which the last is the one that it names.
    let StateFile::Good(mut state) = StateFile::read(&house.project.state_file()).unwrap() else {
        panic!("the first run wrote its summary");
    };
    state.run_id.clone_from(&run);
    for (seq, says) in [(7, "holds another one"), (1_000_000, "ends with record")] {
        state.journal.seq = seq;
        StateFile::write(&paths.archived_state(), &state).unwrap();
        let damage = report(&house.project, &house.pack, &run).unwrap().damage;
        assert!(damage.len() == 1 && damage[0].contains(says), "{damage:?}");
    }
    fs::remove_file(paths.archived_state()).unwrap();
    for taken in snapshots_of(&paths) {
        let text = fs::read(&taken).unwrap();
        fs::remove_file(&taken).unwrap();
        let damage = report(&house.project, &house.pack, &run).unwrap().damage;
        assert!(damage.len() == 1 && damage[0].contains("the snapshot"));
        fs::write(taken, text).unwrap();
    }
    assert_eq!(report(&house.project, &house.pack, &run).unwrap(), whole);
    // Of the same length and time, which is seen all the same.
    let (journal, text) = (
        paths.journal(),
        fs::read_to_string(paths.journal()).unwrap(),
    );
    let time = fs::metadata(&journal).unwrap().modified().unwrap();
    fs::write(&journal, text.replacen("Chores", "Choser", 1)).unwrap();
    changed_at(&journal, time);
    report(&house.project, &house.pack, &run).unwrap_err();
    // Before its end, and behind it again.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let end = lines.iter().position(|line| line.contains("\"run_ended\""));
    fs::write(&journal, lines[..end.unwrap()].concat()).unwrap();
    let shorter = report(&house.project, &house.pack, &run).unwrap();
    assert_eq!(shorter.outcome, Outcome::Interrupted);
    fs::write(&journal, text).unwrap();
    assert_eq!(report(&house.project, &house.pack, &run).unwrap(), whole);
}
