use super::{Event, Journal, Record, StoreError, Tail};
use agentctl_host::files::FileError;
use std::{fs, path::Path};

fn at() -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_800_000_000).unwrap()
}

fn event(n: u32) -> Event {
    Event::ActivationStarted {
        activation: n,
        kind: "start".into(),
        pid: 1,
        means: None,
        order: None,
        heard: None,
    }
}

/// A journal of one start and `n` more events, and its lines.
fn journal(path: &Path, n: u32) -> Vec<String> {
    let mut journal = Journal::create(path).unwrap();
    let start = Event::RunStarted {
        journal_version: super::event::JOURNAL_VERSION,
        agentctl_version: "0.1.0".into(),
        run_id: "r".into(),
        flow: "f".into(),
        pack_hash: "p".into(),
        input: serde_json::Map::new(),
    };
    journal.append(at(), start, false).unwrap();
    for i in 1..=n {
        journal.append(at(), event(i), false).unwrap();
    }
    let text = fs::read_to_string(path).unwrap();
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn seqs(read: (Vec<Record>, Result<(), StoreError>)) -> Vec<u64> {
    read.1.unwrap();
    read.0.iter().map(|r| r.seq).collect()
}

#[test]
fn records_come_once_and_whole_however_the_writes_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let text = journal(&dir.path().join("whole.jsonl"), 3).concat();
    let path = dir.path().join("journal.jsonl");
    let mut tail = Tail::new(&path);
    assert_eq!(seqs(tail.more()), [0u64; 0], "it is not there yet");
    let mut seen = Vec::new();
    for end in 0..=text.len() {
        fs::write(&path, &text[..end]).unwrap();
        seen.extend(seqs(tail.more()));
    }
    assert_eq!(seen, [1, 2, 3, 4]);
    assert_eq!(seqs(tail.more()), [0u64; 0]);
}

#[test]
fn a_journal_that_is_gone_for_a_while_is_read_on_when_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let lines = journal(&path, 3);
    fs::write(&path, lines[..2].concat()).unwrap();
    let mut tail = Tail::new(&path);
    assert_eq!(seqs(tail.more()), [1, 2]);
    fs::remove_file(&path).unwrap();
    assert_eq!(seqs(tail.more()), [0u64; 0]);
    fs::write(&path, &lines[0]).unwrap();
    assert_eq!(seqs(tail.more()), [0u64; 0]);
    fs::write(&path, lines.concat()).unwrap();
    assert_eq!(seqs(tail.more()), [3, 4]);
}

#[test]
fn what_was_read_before_a_broken_line_is_given_with_the_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let mut lines = journal(&path, 3);
    lines[2] = lines[2].replace("start", "stop");
    fs::write(&path, lines.concat()).unwrap();
    let (records, read) = Tail::new(&path).more();
    assert_eq!(records.len(), 2);
    assert!(
        matches!(read, Err(StoreError::Broken { line: 3, .. })),
        "{read:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_in_its_place_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().join("elsewhere.jsonl");
    journal(&real, 0);
    let path = dir.path().join("journal.jsonl");
    std::os::unix::fs::symlink(&real, &path).unwrap();
    let (records, read) = Tail::new(&path).more();
    assert!(records.is_empty() && matches!(read, Err(StoreError::File(FileError::Linked { .. }))));
}
