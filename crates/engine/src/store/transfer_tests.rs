//! Runs as files: from a folder to a ledger and back, the chain and whose it is kept.

use super::{Event, Ledger, Project, ResourceId, ResourceMark, RunFile, StoreError};
use crate::testkit::journals::begun;
use crate::testkit::ledger::MemoryLedger;
use agentctl_host::key::Key;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const RUN: &str = "20260101-000000-taken";

fn project(dir: &Path, key: u8) -> Project {
    let key = Some(Key::fixed([key; 32]));
    Project::open(dir).unwrap().with_key(key)
}

/// A run with a snapshot and a file of its own.
fn written(project: &Project) {
    let mut journal = project.begin_run(RUN).unwrap();
    let at = jiff::Timestamp::UNIX_EPOCH;
    journal.append(at, begun(RUN), true).unwrap();
    let mark = ResourceMark {
        resource: ResourceId::new("list", "a"),
        revision: "0123456789".into(),
        size: 1,
    };
    let snapshots = project.snapshots(&project.run(RUN).unwrap());
    let taken = snapshots.save(&mark, &"long ".repeat(20_000)).unwrap();
    journal.append(at, taken.into(), true).unwrap();
    let file = RunFile::of(RUN, "a.pdf").unwrap();
    let path = project.root().join(file.place());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, [0, 159, 146, 150]).unwrap();
    project.keep_file(&file).unwrap();
}

/// What is read of the run there: its head, whether it is this user's, its snapshot's length and its file.
fn seen(project: &Project) -> (u64, String, bool, usize, Vec<u8>) {
    let loaded = project.verify_run(RUN, &mut |_, _| {}).unwrap().0;
    let (seq, hash) = loaded.head();
    let paths = project.run(RUN).unwrap();
    let name = fs::read_dir(paths.snapshots())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let text = project
        .snapshots(&paths)
        .read(name.file_name().to_str().unwrap())
        .unwrap();
    let file = RunFile::of(RUN, "a.pdf").unwrap();
    let own = loaded.foreign.is_none();
    (
        seq,
        hash.to_owned(),
        own,
        text.len(),
        project.run_file(&file).unwrap().unwrap(),
    )
}

#[test]
fn a_run_goes_from_a_folder_to_a_ledger_and_back_and_stays_the_same_and_its_users() {
    let dirs = [(); 4].map(|()| tempfile::tempdir().unwrap());
    let file = Path::new("run.jsonl");
    let from = project(dirs[0].path(), 7);
    written(&from);
    let was = seen(&from);
    assert!(was.2);
    let out = from.export_run(RUN).unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
    let one = project(dirs[1].path(), 7).with_ledger(Arc::clone(&ledger));
    let came = one.import_run(file, &out.text).unwrap();
    assert_eq!(
        (came.records, came.was_here, came.foreign),
        (2, false, None)
    );
    assert!(one.import_run(file, &out.text).unwrap().was_here);
    // Another replica has it whole, and goes on with it.
    let two = project(dirs[2].path(), 7).with_ledger(ledger);
    two.fetch_run(RUN).unwrap();
    assert_eq!(seen(&two), was);
    let (mut journal, _) = two.open_run(RUN, &mut |_, _| {}).unwrap();
    let step = Event::StepStarted { step: "a".into() };
    journal
        .append(jiff::Timestamp::UNIX_EPOCH, step, true)
        .unwrap();
    drop(journal);
    // One that has gone on is not what was taken out.
    let other = one.import_run(file, &out.text).unwrap_err().to_string();
    assert!(other.contains("has gone on"), "{other}");
    let back = project(dirs[3].path(), 7);
    let out = two.export_run(RUN).unwrap();
    assert_eq!(back.import_run(file, &out.text).unwrap().records, 3);
    let now = seen(&back);
    assert_eq!((now.0, now.2, now.3, &now.4), (3, true, was.3, &was.4));
    assert_eq!(now.1, two.read_run(RUN).unwrap().head().1);
    drop(back.open_run(RUN, &mut |_, _| {}).unwrap());
}

#[test]
fn a_run_of_the_folder_alone_is_brought_to_the_ledger_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let alone = project(dir.path(), 7);
    written(&alone);
    let shared = alone.clone().with_ledger(Arc::new(MemoryLedger::default()));
    assert!(shared.open_run(RUN, &mut |_, _| {}).is_err());
    let out = shared.export_run(RUN).unwrap();
    let came = shared.import_run(Path::new("f"), &out.text).unwrap();
    assert_eq!((came.was_here, came.foreign), (false, None));
    drop(shared.open_run(RUN, &mut |_, _| {}).unwrap());
}

#[test]
fn another_users_run_stays_another_users_and_a_changed_file_is_refused() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let from = project(dirs[0].path(), 7);
    written(&from);
    let out = from.export_run(RUN).unwrap();
    let stranger = project(dirs[1].path(), 8);
    assert!(
        stranger
            .import_run(Path::new("f"), &out.text)
            .unwrap()
            .foreign
            .is_some()
    );
    assert!(matches!(
        stranger.open_run(RUN, &mut |_, _| {}),
        Err(StoreError::Foreign { .. })
    ));
    let fresh = project(dirs[2].path(), 7);
    let lines: Vec<&str> = out.text.split_inclusive('\n').collect();
    let changed = [
        out.text.replace("\"flow\":\"f\"", "\"flow\":\"g\""),
        lines[..2].concat(),
        lines[0].to_owned() + lines[2],
        out.text.replace("\"agentctl_run\":1", "\"agentctl_run\":2"),
        "{}".to_owned(),
        String::new(),
    ];
    for text in changed {
        let refused = fresh.import_run(Path::new("f"), &text);
        assert!(
            matches!(refused, Err(StoreError::Broken { .. })),
            "{refused:?}"
        );
        assert!(!fresh.run(RUN).unwrap().journal().exists());
    }
}

#[test]
fn a_file_that_names_what_is_no_part_of_its_run_brings_nothing_of_it() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let from = project(dirs[0].path(), 7);
    written(&from);
    let mut text = from.export_run(RUN).unwrap().text;
    let other = RunFile::of("20260101-000000-other", "b.pdf").unwrap();
    text += &format!("{{\"kept\":\"{}\",\"base64\":\"QQ==\"}}\n", other.place());
    let ledger: Arc<dyn Ledger> = Arc::new(MemoryLedger::default());
    let to = project(dirs[1].path(), 7).with_ledger(Arc::clone(&ledger));
    to.import_run(Path::new("f"), &text).unwrap();
    assert!(!to.root().join(other.place()).exists());
    let names = ledger.names(RUN).unwrap();
    assert_eq!(names.len(), 2, "{names:?}");
}
