use super::event::JOURNAL_VERSION;
use super::{Event, Holder, Journal, Project, ProjectLock, Snapshots, StoreError};
use crate::store::ResourceId;
use crate::store::ResourceMark;
use agentctl_base::canonical::canonical;
use agentctl_host::files::{file_part, write_atomic};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;

fn holder(pid: u32) -> Holder {
    Holder {
        pid,
        run_id: Some("r1".into()),
        since: "2027-01-01T00:00:00Z".into(),
        host: Some("box".into()),
    }
}

#[test]
fn a_second_taker_is_refused_and_told_the_holder() {
    let dir = tempfile::tempdir().unwrap();
    let path = Project::new(dir.path()).lock_file();
    let held = ProjectLock::take(&path, &holder(11)).unwrap();
    let refused = ProjectLock::take(&path, &holder(12)).unwrap_err();
    insta::assert_snapshot!(refused, @"this project is in use by process 11 (run r1) on box since 2027-01-01T00:00:00Z; wait for it, or stop it and run `agentctl resume`");
    drop(held);
    // What the first holder left in the file is stale now and does not matter.
    let held = ProjectLock::take(&path, &holder(13)).unwrap();
    let refused = ProjectLock::take(&path, &holder(14)).unwrap_err();
    assert!(matches!(refused, StoreError::Locked { holder: Some(h) } if h == holder(13)));
    drop(held);
}

#[test]
fn a_file_is_replaced_whole_and_nothing_is_left_behind() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/file.json");
    write_atomic(&path, b"one").unwrap();
    write_atomic(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn snapshots_are_numbered_and_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let snapshots = Snapshots::new(dir.path().join("snapshots"));
    let first = snapshots
        .save(&state("my/flow", "0123456789abcdef", 3), "{}")
        .unwrap();
    let second = Snapshots::new(dir.path().join("snapshots"))
        .save(&state("plain", "fedcba9876543210", 4), "[]")
        .unwrap();
    assert_eq!(second.file, "002-plain-fedcba98.json");
    assert!(first.file.starts_with("001-my_flow-") && first.file.ends_with("-01234567.json"));
    assert_eq!(snapshots.read(&first.file).unwrap(), "{}");
    assert!(matches!(
        snapshots.read("../001.json"),
        Err(StoreError::BadId { .. })
    ));
}

#[test]
fn run_ids_cannot_leave_the_runs_folder() {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path());
    for id in ["", "..", "a/b", "a\\b", "a\0b", "run 1"] {
        assert!(
            matches!(project.run(id), Err(StoreError::BadId { .. })),
            "{id:?}"
        );
    }
    assert_eq!(project.run_ids().unwrap(), Vec::<String>::new());
    for id in ["20270101-b", "20270101-a"] {
        write_atomic(&project.run(id).unwrap().journal(), b"{}\n").unwrap();
    }
    // Killed before its first whole line: it never began.
    write_atomic(&project.run("20270101-c").unwrap().journal(), b"{\"seq\":").unwrap();
    assert_eq!(project.run_ids().unwrap(), ["20270101-a", "20270101-b"]);
    assert_eq!(project.find_run("20270101-b").unwrap(), "20270101-b");
    assert!(project.find_run("20270101").is_err(), "two runs begin so");
    assert!(project.find_run("").is_err());
}

#[test]
fn runs_that_are_not_asked_for_are_not_named_and_the_first_record_is_read_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path());
    let (one, other) = ("20270101-a", "20270102-b");
    let start = |id: &str| Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "0.1.0".into(),
        run_id: id.into(),
        flow: "f".into(),
        pack_hash: "p".into(),
        input: serde_json::Map::new(),
    };
    for id in [one, other] {
        let paths = project.run(id).unwrap();
        let mut journal = Journal::create(&paths.journal()).unwrap();
        journal
            .append(jiff::Timestamp::UNIX_EPOCH, start(id), false)
            .unwrap();
        drop(journal);
        let mut bytes = fs::read(paths.journal()).unwrap();
        bytes.extend_from_slice(b"no record\n");
        fs::write(paths.journal(), bytes).unwrap();
    }
    assert_eq!(project.run_ids().unwrap(), [one, other]);
    assert_eq!(project.run_ids_of(&|id| id > one).unwrap(), [other]);
    let first = project.first_record(one).unwrap().unwrap();
    assert_eq!((first.seq, first.event), (1, start(one)));
    assert!(project.read_run(one).is_err());
    assert!(project.first_record("20270103-c").unwrap().is_none());
}

#[test]
fn canonical_json_does_not_depend_on_the_order_of_keys() {
    let a: Value = serde_json::from_str(r#"{"b": [1, {"d": 1, "c": "\n"}], "a": 1.50}"#).unwrap();
    assert_eq!(canonical(&a), r#"{"a":1.5,"b":[1,{"c":"\n","d":1}]}"#);
    assert_eq!(
        canonical(&json!({"a": 1.5, "b": [1, {"c": "\n", "d": 1}]})),
        canonical(&a)
    );
}

/// Any value, with keys and texts that have to be escaped.
fn any_json() -> impl Strategy<Value = Value> {
    let text = || r#"[ab"\\\n\{\},:é\[\]]{0,4}"#;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// The value with its keys put in order one by one.
fn in_order(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.as_bytes().cmp(b.as_bytes()));
            let entries = entries.into_iter().map(|(key, item)| (key, in_order(item)));
            Value::Object(entries.collect())
        }
        Value::Array(items) => items.into_iter().map(in_order).collect(),
        other => other,
    }
}

proptest! {
    #[test]
    fn canonical_json_is_the_value_with_its_keys_in_order(value in any_json()) {
        prop_assert_eq!(canonical(&value), in_order(value).to_string());
    }

    #[test]
    fn different_ids_give_different_safe_file_parts(a in "\\PC{0,80}", b in "\\PC{0,80}") {
        let (x, y) = (file_part(&a), file_part(&b));
        prop_assert!(x.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_'));
        prop_assert!(!x.is_empty() && x.len() <= 128);
        prop_assert_eq!(a == b, x == y);
    }

    /// The journal's hashes are taken before writing and checked after reading.
    #[test]
    fn numbers_survive_the_way_through_text(n in any::<f64>().prop_filter("JSON has no such numbers", |n| n.is_finite())) {
        let value = json!(n);
        let back: Value = serde_json::from_str(&value.to_string()).unwrap();
        prop_assert_eq!(canonical(&back), canonical(&value));
    }
}

fn state(id: &str, revision: &str, size: usize) -> ResourceMark {
    ResourceMark {
        resource: ResourceId::new("workflow", id),
        revision: revision.to_owned(),
        size,
    }
}

/// What a killed holder left of its writes goes with the next one; who let go left nothing, so that nothing is looked for.
#[test]
fn what_a_killed_holder_left_of_its_writes_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path());
    let left = project.memory().join("runs/r/snapshots/.agentctl-a1.tmp");
    let leave = || {
        std::fs::create_dir_all(left.parent().unwrap()).unwrap();
        std::fs::write(&left, "half").unwrap();
    };
    leave();
    let lock = project.lock(&holder(1)).unwrap();
    assert_eq!((lock.turn(), left.exists()), (Some(1), false));
    leave();
    drop(lock);
    let lock = project.lock(&holder(2)).unwrap();
    assert_eq!((lock.turn(), left.exists()), (Some(2), true));
    // Killed: its name stays in the file.
    let killed = std::fs::read(project.lock_file()).unwrap();
    drop(lock);
    std::fs::write(project.lock_file(), killed).unwrap();
    let lock = project.lock(&holder(3)).unwrap();
    assert_eq!((lock.turn(), left.exists()), (Some(3), false));
    drop(lock);
    // As an agentctl of before there were turns leaves it.
    let old = serde_json::to_vec(&holder(4)).unwrap();
    std::fs::write(project.lock_file(), old).unwrap();
    leave();
    let lock = project.lock(&holder(5)).unwrap();
    assert_eq!((lock.turn(), left.exists()), (Some(1), false));
}
