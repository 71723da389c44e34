use super::{Event, Journal, ResourceId, StoreError, event::JOURNAL_VERSION, read::Loaded};
use agentctl_base::model::{ModelAnswer, Usage};
use agentctl_base::question::AnsweredBy;
use serde_json::{Map, json};
use std::{fs, path::Path};

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_800_000_000 + second).unwrap()
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

fn events() -> Vec<Event> {
    vec![
        started(),
        Event::StepStarted {
            step: "a/b[2]".into(),
        },
        Event::ModelAnswered {
            step: "a/b[2]".into(),
            turn: 1,
            answer: ModelAnswer {
                text: "zeile\nzwei — ü \u{2028}".into(),
                tool_calls: vec![],
                finish: Default::default(),
                usage: Usage {
                    cost_usd: Some(0.1 + 0.2),
                    ..Usage::default()
                },
            }
            .into(),
        },
        Event::AnswerGiven {
            step: "ask".into(),
            question_id: "q1".into(),
            value: json!({"z": 1.1e-7, "a": [null, 3]}),
            by: AnsweredBy::File,
        },
    ]
}

fn write(path: &Path) -> Loaded {
    let mut journal = Journal::create(path).unwrap();
    for (i, event) in events().into_iter().enumerate() {
        journal.append(at(i as i64), event, i % 2 == 0).unwrap();
    }
    journal.sync().unwrap();
    Journal::read(path).unwrap()
}

#[test]
fn what_was_appended_is_read_back_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run/journal.jsonl");
    let loaded = write(&path);
    let read: Vec<Event> = loaded.records.iter().map(|r| r.event.clone()).collect();
    assert_eq!(read, events());
    assert_eq!(
        loaded.records.iter().map(|r| r.seq).collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert_eq!((loaded.unknown, &loaded.torn), (0, &None));
}

#[test]
fn an_opened_journal_goes_on_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run/journal.jsonl");
    write(&path);
    let (mut journal, before) = Journal::open(&path).unwrap();
    let record = journal.append(at(9), started(), true).unwrap();
    assert_eq!((record.seq, record.prev.as_str()), (5, before.head().1));
    assert_eq!(Journal::read(&path).unwrap().records.len(), 5);
}

/// Cut at every byte: every record that was whole is still there, and the journal can be written on.
#[test]
fn a_cut_at_any_byte_is_healed_and_loses_no_whole_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run/journal.jsonl");
    write(&path);
    let bytes = fs::read(&path).unwrap();
    for cut in 0..=bytes.len() {
        let path = dir.path().join(format!("cut-{cut}/journal.jsonl"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &bytes[..cut]).unwrap();
        // A record is whole when all of it but its newline is there.
        let whole = (0..cut)
            .filter(|i| bytes.get(i + 1) == Some(&b'\n'))
            .count();
        let read = Journal::read(&path).unwrap();
        assert_eq!(read.records.len(), whole, "cut at {cut}");
        // Healing syncs, so it is tried around the ends of lines and at some places inside of them.
        let near_an_end = (cut.saturating_sub(2)..cut + 3).any(|i| bytes.get(i) == Some(&b'\n'));
        if !near_an_end && cut % 29 != 0 {
            continue;
        }
        let (mut journal, loaded) = Journal::open(&path).unwrap();
        assert_eq!(loaded.records.len(), whole, "cut at {cut}");
        let clean = cut == 0 || bytes[cut - 1] == b'\n' || bytes.get(cut) == Some(&b'\n');
        assert_eq!(loaded.torn.is_none(), clean, "cut at {cut}");
        if let Some(torn) = &loaded.torn {
            let kept = fs::read(torn.kept_as.as_ref().unwrap()).unwrap();
            assert!(bytes[..cut].ends_with(&kept));
            assert_eq!(kept.len(), torn.bytes);
        }
        journal.append(at(7), started(), false).unwrap();
        let healed = Journal::read(&path).unwrap();
        assert_eq!(healed.records.len(), whole + 1, "cut at {cut}");
        assert_eq!(healed.torn, None);
    }
}

fn change_line(path: &Path, line: usize, change: impl Fn(&str) -> Option<String>) -> StoreError {
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .filter_map(|(i, l)| {
            if i + 1 == line {
                change(l)
            } else {
                Some(l.to_owned())
            }
        })
        .collect();
    fs::write(path, lines.join("\n") + "\n").unwrap();
    let before = fs::read(path).unwrap();
    let error = Journal::open(path).unwrap_err();
    assert_eq!(
        fs::read(path).unwrap(),
        before,
        "a refused journal is not touched"
    );
    error
}

#[track_caller]
fn assert_broken(error: StoreError, at_line: u64, because: &str) {
    match error {
        StoreError::Broken { line, reason, .. } => {
            assert_eq!(line, at_line, "{reason}");
            assert!(reason.contains(because), "{reason}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn anything_but_a_torn_end_is_refused_by_line_and_reason() {
    let dir = tempfile::tempdir().unwrap();
    let fresh = |name: &str| {
        let path = dir.path().join(name).join("journal.jsonl");
        write(&path);
        path
    };
    let path = fresh("edited");
    let error = change_line(&path, 2, |l| Some(l.replace("a/b[2]", "a/b[3]")));
    assert_broken(error, 2, "changed after it was written");

    let path = fresh("removed");
    assert_broken(
        change_line(&path, 3, |_| None),
        3,
        "record 4 follows record 2",
    );

    let path = fresh("garbage");
    assert_broken(
        change_line(&path, 4, |_| Some("{".into())),
        4,
        "not a record",
    );

    let path = fresh("headless");
    assert_broken(
        change_line(&path, 1, |_| None),
        1,
        "record 2 follows record 0",
    );

    let path = fresh("spliced");
    let error = change_line(&path, 3, |l| {
        let mut record: serde_json::Value = serde_json::from_str(l).unwrap();
        record["prev"] = json!("00");
        Some(record.to_string())
    });
    assert_broken(error, 3, "another hash");
}

/// Writes lines as another version would: any event value, chained.
fn write_values(path: &Path, values: &[serde_json::Value]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut prev = "0".repeat(64);
    let mut text = String::new();
    for (i, event) in values.iter().enumerate() {
        let seq = i as u64 + 1;
        let hash =
            crate::store::chain::chain(&prev, seq, "2027-01-01T00:00:00Z", &event.to_string());
        let line = json!({"seq": seq, "at": "2027-01-01T00:00:00Z", "prev": prev, "hash": hash, "event": event});
        text += &format!("{line}\n");
        prev = hash;
    }
    fs::write(path, text).unwrap();
}

#[test]
fn an_old_reader_takes_what_a_newer_writer_added() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run/journal.jsonl");
    let mut start = serde_json::to_value(started()).unwrap();
    start["colour"] = json!("a new optional field");
    write_values(
        &path,
        &[
            start,
            json!({"type": "moon_phase_seen", "phase": 3}),
            json!({"type": "step_started", "step": "a"}),
        ],
    );
    let (mut journal, loaded) = Journal::open(&path).unwrap();
    assert_eq!(loaded.unknown, 1);
    assert_eq!(
        loaded.records.iter().map(|r| r.seq).collect::<Vec<_>>(),
        [1, 3]
    );
    // An old writer appends to it, and the newer lines are still as they were.
    journal.append(at(1), started(), true).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("moon_phase_seen") && text.contains("a new optional field"));
    assert_eq!(Journal::read(&path).unwrap().head().0, 4);
}

#[test]
fn a_journal_of_version_1_is_gone_on_with_and_its_lines_stay() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run/journal.jsonl");
    let mut start = serde_json::to_value(started()).unwrap();
    start["journal_version"] = json!(1);
    write_values(
        &path,
        &[
            start,
            json!({"type": "snapshot_taken", "workflow_id": "orders", "file": "f", "graph_hash": "g", "node_count": 2}),
        ],
    );
    let before = fs::read_to_string(&path).unwrap();
    let taken = Event::SnapshotTaken {
        resource: ResourceId::new("workflow", "orders"),
        file: "f".into(),
        revision: "g".into(),
        size: 2,
        sha256: None,
    };
    let (mut journal, loaded) = Journal::open(&path).unwrap();
    assert_eq!(loaded.records[1].event, taken);
    journal.append(at(1), taken.clone(), true).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let added = text.strip_prefix(&before).unwrap();
    assert!(added.contains(r#""resource":{"kind":"workflow","id":"orders"}"#));
    let whole = Journal::read(&path).unwrap();
    assert_eq!(whole.head(), journal.head());
    assert_eq!(whole.records[2].event, taken);
}

#[test]
fn a_newer_journal_version_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run/journal.jsonl");
    // Nothing else in it may be looked at: its meaning may have changed.
    write_values(&path, &[json!({"type": "begun", "journal_version": 7})]);
    let error = Journal::open(&path).unwrap_err();
    assert!(matches!(
        error,
        StoreError::NewerVersion {
            found: 7,
            known: JOURNAL_VERSION,
            ..
        }
    ));
    assert!(error.to_string().contains("update agentctl"), "{error}");
}

#[test]
fn a_known_event_that_cannot_be_read_is_a_fault() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run/journal.jsonl");
    write_values(
        &path,
        &[
            serde_json::to_value(started()).unwrap(),
            json!({"type": "step_started", "step": 4}),
        ],
    );
    assert_broken(Journal::open(&path).unwrap_err(), 2, "cannot be read");
}

#[test]
fn an_open_journal_knows_when_it_is_no_longer_the_newest() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let mut first = Journal::create(&path).unwrap();
    first.append(at(0), started(), true).unwrap();
    assert!(first.is_current().unwrap());
    let step = || Event::StepStarted { step: "a".into() };
    let (mut second, _) = Journal::open(&path).unwrap();
    assert!(second.is_current().unwrap());
    second.append(at(1), step(), false).unwrap();
    assert!(second.is_current().unwrap());
    assert!(!first.is_current().unwrap());
    // The same bytes in another file are not this file.
    let copy = dir.path().join("copy");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    assert!(!second.is_current().unwrap());
    fs::remove_file(&path).unwrap();
    assert!(!second.is_current().unwrap());
}

/// Cannot make new names of folders last.
#[derive(Debug)]
struct NoNames;

impl agentctl_host::files::Disk for NoNames {
    fn sync_folder(&self, _: &Path) -> std::io::Result<()> {
        Err(std::io::Error::other("the disk is broken"))
    }
}

#[test]
fn a_new_journal_whose_name_cannot_be_made_last_is_not_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let mut journal = Journal::create_on(std::sync::Arc::new(NoNames), &path).unwrap();
    let error = journal.append(at(0), started(), true).unwrap_err();
    let named = format!(
        "cannot sync the folder {}: the disk is broken",
        dir.path().display()
    );
    assert_eq!(error.to_string(), named);
    // What may not be there tomorrow is not written behind.
    assert!(journal.append(at(1), started(), false).is_err());
}
