use super::{
    Event, Journal, Loaded, Marks, Project, StoreError, Whose, adopt, event::JOURNAL_VERSION,
    marks::Foreign, read::Reading,
};
use crate::store::ResourceId;
use crate::store::ResourceMark;
use crate::store::chain::chain;
use agentctl_host::files::FileError;
use agentctl_host::key::Key;
use serde_json::{Map, Value};
use std::{fs, path::Path};

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn key(byte: u8) -> Option<Key> {
    Some(Key::fixed([byte; 32]))
}

fn marks() -> Marks {
    Marks::of(key(1), Path::new("/p"), "r1")
}

fn started() -> Event {
    Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "0.1.0".into(),
        run_id: "r1".into(),
        flow: "main".into(),
        pack_hash: "p".into(),
        input: Map::new(),
    }
}

fn step(name: &str) -> Event {
    Event::StepStarted { step: name.into() }
}

fn taken(sha256: Option<&str>) -> Event {
    Event::SnapshotTaken {
        resource: ResourceId::new("workflow", "w"),
        file: "001-w.json".into(),
        revision: "g".into(),
        size: 2,
        sha256: sha256.map(str::to_owned),
    }
}

/// A run of this user: three records.
fn write(path: &Path) -> Vec<u8> {
    let mut journal = Journal::create(path).unwrap().marked(marks());
    for (second, event) in [started(), step("ü"), taken(Some("s"))]
        .into_iter()
        .enumerate()
    {
        journal.append(at(second as i64), event, false).unwrap();
    }
    fs::read(path).unwrap()
}

/// The same by a program that knows no marks.
fn write_old(path: &Path) -> Vec<u8> {
    let mut journal = Journal::create(path).unwrap();
    for (second, event) in [started(), step("ü"), taken(None)].into_iter().enumerate() {
        journal.append(at(second as i64), event, false).unwrap();
    }
    fs::read(path).unwrap()
}

fn judged(bytes: &[u8], marks: &Marks) -> Option<Foreign> {
    let loaded = Loaded::judged(Path::new("journal.jsonl"), bytes, marks).unwrap();
    loaded.foreign
}

fn foreign(from: u64, why: Whose) -> Option<Foreign> {
    Some(Foreign { from, why })
}

fn opened(path: &Path) -> Result<(Journal, Loaded), StoreError> {
    let reading = Reading {
        marks: &marks(),
        checked: None,
        note: &[],
        each: &mut |_, _| (),
    };
    Journal::open_for(agentctl_host::files::real(), path, reading, &|_| Ok(()))
}

#[test]
fn a_mark_is_for_one_key_one_folder_one_run_and_one_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let bytes = write(&path);
    assert_eq!(judged(&bytes, &marks()), None);
    for other in [
        Marks::of(key(2), Path::new("/p"), "r1"),
        Marks::of(key(1), Path::new("/p2"), "r1"),
    ] {
        assert_eq!(judged(&bytes, &other), foreign(1, Whose::AnotherMark));
    }
    // In the folder of another run it is no journal of that run, whoever wrote it.
    let moved = Marks::of(key(1), Path::new("/p"), "r2");
    let broken = Loaded::judged(Path::new("journal.jsonl"), &bytes, &moved).unwrap_err();
    insta::assert_snapshot!(broken, @r#"journal.jsonl is broken at line 1: it is the journal of run "r1", and lies in the folder of run r2; nothing was changed, restore the file from a copy or start a new run"#);
    assert_eq!(judged(&bytes, &Marks::none()), foreign(1, Whose::NoKey));
    // A mark that was made, in the place of another; and what is no mark at all.
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mark = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["mark"].as_str().unwrap().to_owned()
    };
    for wrong in [
        mark(lines[1]),
        String::new(),
        "zz".to_owned(),
        "ab".repeat(32),
    ] {
        let moved = text.replace(&mark(lines[2]), &wrong);
        assert_eq!(
            judged(moved.as_bytes(), &marks()),
            foreign(3, Whose::AnotherMark),
            "{wrong}"
        );
    }
    // A key that readers could take in two ways is refused.
    let twice = text.replacen("\"mark\":", "\"mark\":\"x\",\"mark\":", 1);
    assert!(Loaded::judged(&path, twice.as_bytes(), &marks()).is_err());
}

#[test]
fn what_is_appended_by_somebody_else_is_foreign_and_is_neither_opened_nor_healed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    write(&path);
    let (mut old, _) = Journal::open(&path).unwrap();
    old.append(at(9), step("theirs"), true).unwrap();
    let torn = [fs::read(&path).unwrap(), b"{\"seq\":5".to_vec()].concat();
    fs::write(&path, &torn).unwrap();

    let loaded = Journal::read_for(&path, &marks()).unwrap();
    assert_eq!(loaded.foreign, foreign(4, Whose::Unmarked));
    assert_eq!((loaded.records.len(), loaded.own().len()), (4, 3));
    let opened = opened(&path);
    let Err(StoreError::Foreign { run_id, foreign }) = opened else {
        panic!("{opened:?}")
    };
    assert_eq!((run_id.as_str(), foreign.from), ("r1", 4));
    assert_eq!(fs::read(&path).unwrap(), torn);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_torn_last_line_of_ones_own_run_is_healed_and_what_follows_is_marked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let bytes = write(&path);
    fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();
    let (mut journal, loaded) = opened(&path).unwrap();
    assert_eq!((loaded.head().0, loaded.torn.is_some()), (2, true));
    journal.append(at(2), taken(Some("s")), true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

/// The three cases that a change of the format is judged by.
mod compatibility {
    use super::*;

    /// As the reader of before marks takes a line: other keys are passed over.
    #[derive(serde::Deserialize)]
    struct OldLine {
        seq: u64,
        at: String,
        prev: String,
        hash: String,
        event: Value,
    }

    /// As it takes the event whose fields grew.
    #[derive(serde::Deserialize)]
    #[expect(dead_code, reason = "it is only read into")]
    struct OldSnapshot {
        workflow_id: String,
        file: String,
        graph_hash: String,
        node_count: usize,
    }

    #[test]
    fn an_old_reader_follows_the_chain_of_a_marked_journal() {
        let dir = tempfile::tempdir().unwrap();
        let text = String::from_utf8(write(&dir.path().join("journal.jsonl"))).unwrap();
        let mut prev = "0".repeat(64);
        let mut last = Value::Null;
        for (line, seq) in text.lines().zip(1..) {
            let line: OldLine = serde_json::from_str(line).unwrap();
            let hash = chain(&prev, seq, &line.at, &line.event.to_string());
            assert_eq!((line.seq, &line.prev, &line.hash), (seq, &prev, &hash));
            (prev, last) = (line.hash, line.event);
        }
        // It refuses the journal by its version, and could not take the event for another.
        assert!(serde_json::from_value::<OldSnapshot>(last).is_err());
        assert_eq!(JOURNAL_VERSION, 2);
    }

    #[test]
    fn a_new_reader_reads_an_old_journal_as_foreign() {
        let dir = tempfile::tempdir().unwrap();
        let bytes = write_old(&dir.path().join("journal.jsonl"));
        assert!(!String::from_utf8_lossy(&bytes).contains("mark"));
        let loaded = Loaded::judged(Path::new("j"), &bytes, &marks()).unwrap();
        assert_eq!(
            (loaded.records.len(), loaded.foreign.clone()),
            (3, foreign(1, Whose::Unmarked))
        );
        assert_eq!(loaded.records[2].event, taken(None));
    }

    #[test]
    fn what_an_old_writer_appends_is_kept_foreign_and_adopted_with_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.jsonl");
        let before = write(&path);
        let (mut old, _) = Journal::open(&path).unwrap();
        old.append(at(9), step("later"), true).unwrap();
        let both = fs::read(&path).unwrap();
        assert!(both.starts_with(&before), "it rewrites no line of ours");
        let head = Loaded::of(&path, &both).unwrap().head().1.to_owned();
        let said = Event::Adopted {
            from: 4,
            snapshots: [].into(),
        };
        let disk = agentctl_host::files::real();
        let adopted = adopt(disk.as_ref(), &path, &marks(), &head, (at(10), &said)).unwrap();
        assert_eq!(adopted, foreign(4, Whose::Unmarked));
        let loaded = Journal::read_for(&path, &marks()).unwrap();
        assert_eq!((loaded.records.len(), loaded.foreign), (5, None));
    }
}

/// The lines without their marks.
fn unmarked(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    text.lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().shift_remove("mark");
            line
        })
        .collect()
}

#[test]
fn adopting_marks_every_record_leaves_the_chain_and_says_so_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let old = write_old(&path);
    let torn = [old.clone(), b"{\"seq\":4,\"at".to_vec()].concat();
    fs::write(&path, &torn).unwrap();
    let head = Loaded::of(&path, &torn).unwrap().head().1.to_owned();
    let said = Event::Adopted {
        from: 1,
        snapshots: [("001-w.json".to_owned(), "s".to_owned())].into(),
    };
    let disk = agentctl_host::files::real();
    let adopt =
        |marks: &Marks, head: &str| adopt(disk.as_ref(), &path, marks, head, (at(5), &said));

    // Not another state than was looked at, and not without a key: then nothing is written.
    assert!(matches!(
        adopt(&marks(), &"0".repeat(64)),
        Err(StoreError::Broken { .. })
    ));
    assert!(matches!(
        adopt(&Marks::none(), &head),
        Err(StoreError::Foreign { .. })
    ));
    assert_eq!(fs::read(&path).unwrap(), torn);

    assert_eq!(adopt(&marks(), &head).unwrap(), foreign(1, Whose::Unmarked));
    let new = fs::read(&path).unwrap();
    let (lines, before) = (unmarked(&new), unmarked(&old));
    assert_eq!((lines.len(), &lines[..3]), (4, before.as_slice()));
    assert_eq!(lines[3]["prev"], head.as_str());
    let loaded = Journal::read_for(&path, &marks()).unwrap();
    assert_eq!((loaded.foreign.clone(), loaded.torn.clone()), (None, None));
    assert_eq!(loaded.records[3].event, said);
    let aside = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path());
    let aside: Vec<Vec<u8>> = aside
        .filter(|file| *file != path)
        .map(|file| fs::read(file).unwrap())
        .collect();
    assert_eq!(aside, [b"{\"seq\":4,\"at".to_vec()]);

    // It is the user's now: nothing is left to do.
    assert_eq!(adopt(&marks(), "another head").unwrap(), None);
    assert_eq!(fs::read(&path).unwrap(), new);
    let broken = String::from_utf8(new).unwrap().replace("ü", "u");
    fs::write(&path, &broken).unwrap();
    assert!(matches!(
        adopt(&marks(), &head),
        Err(StoreError::Broken { line: 2, .. })
    ));
}

#[test]
fn a_projects_marks_are_those_of_its_real_path() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    fs::create_dir(&one).unwrap();
    fs::create_dir(&other).unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&one, &link).unwrap();
    let mark = |root: &Path| Project::new(root).with_key(key(1)).marks("r1").active();
    assert_eq!(mark(&one), mark(&link));
    assert_ne!(mark(&one), mark(&other));
    assert_eq!(Project::new(&one).marks("r1").active(), None);
}

#[test]
fn a_snapshot_is_taken_only_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let snapshots = super::Snapshots::new(dir.path().join("snapshots"));
    let kept = snapshots
        .save(&state("w", "abcdef0123", 1), "{\"nodes\": []}")
        .unwrap();
    let sha256 = kept.sha256.as_deref();
    assert_eq!(
        snapshots.read_taken(&kept.file, sha256).unwrap(),
        "{\"nodes\": []}"
    );
    let path = dir.path().join("snapshots").join(&kept.file);
    fs::write(&path, "{\"nodes\":  []}").unwrap();
    for told in [sha256, None] {
        let read = snapshots.read_taken(&kept.file, told);
        assert!(matches!(read, Err(StoreError::Changed { .. })), "{read:?}");
    }
    fs::remove_file(&path).unwrap();
    let gone = snapshots.read_taken(&kept.file, sha256);
    assert!(
        matches!(gone, Err(StoreError::File(FileError::Io { .. }))),
        "{gone:?}"
    );
}

fn state(id: &str, revision: &str, size: usize) -> ResourceMark {
    ResourceMark {
        resource: ResourceId::new("workflow", id),
        revision: revision.to_owned(),
        size,
    }
}
