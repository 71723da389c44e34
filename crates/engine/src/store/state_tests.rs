use super::{RunState, STATE_SCHEMA_VERSION, StateFile, state::JournalHead};
use agentctl_base::canonical::{canonical, sha256_hex};
use serde_json::{Map, Value, json};
use std::{fs, path::Path};

fn state(run_id: &str) -> RunState {
    RunState {
        schema_version: STATE_SCHEMA_VERSION,
        run_id: run_id.into(),
        flow: "main".into(),
        stage: "first".into(),
        outcome: None,
        message: String::new(),
        updated_at: "2027-01-01T00:00:00Z".into(),
        journal: JournalHead {
            seq: 3,
            hash: "ab".into(),
        },
        questions: vec![],
        state: Map::from_iter([("cost".to_owned(), json!(0.1 + 0.2))]),
        more: Map::new(),
    }
}

fn write_as_newer(path: &Path, change: impl Fn(&mut Map<String, Value>)) {
    let Value::Object(mut map) = serde_json::to_value(state("r1")).unwrap() else {
        panic!()
    };
    change(&mut map);
    let sum = sha256_hex(canonical(&Value::Object(map.clone())).as_bytes());
    map.insert("checksum".into(), json!(sum));
    fs::write(path, serde_json::to_vec(&map).unwrap()).unwrap();
}

#[test]
fn what_was_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run_state.json");
    assert_eq!(StateFile::read(&path).unwrap(), StateFile::Missing);
    assert_eq!(StateFile::write(&path, &state("r1")).unwrap(), None);
    assert_eq!(
        StateFile::read(&path).unwrap(),
        StateFile::Good(Box::new(state("r1")))
    );
}

#[test]
fn a_newer_writers_keys_survive_an_old_writer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run_state.json");
    write_as_newer(&path, |map| {
        map.insert("schema_version".into(), json!(2));
        map.insert("mood".into(), json!({"deep": [1]}));
    });
    let mut next = state("r1");
    next.stage = "second".into();
    StateFile::write(&path, &next).unwrap();
    let StateFile::Good(read) = StateFile::read(&path).unwrap() else {
        panic!()
    };
    assert_eq!(read.stage, "second");
    assert_eq!(read.schema_version, 2);
    assert_eq!(
        read.more,
        Map::from_iter([("mood".to_owned(), json!({"deep": [1]}))])
    );
    // Another run's file leaves nothing behind.
    StateFile::write(&path, &state("r2")).unwrap();
    assert_eq!(
        StateFile::read(&path).unwrap(),
        StateFile::Good(Box::new(state("r2")))
    );
}

#[test]
fn a_new_reader_takes_an_old_file_without_the_later_keys() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run_state.json");
    write_as_newer(&path, |map| {
        for key in ["questions", "state", "outcome", "message"] {
            map.shift_remove(key);
        }
    });
    let mut expected = state("r1");
    expected.state = Map::new();
    assert_eq!(
        StateFile::read(&path).unwrap(),
        StateFile::Good(Box::new(expected))
    );
}

#[test]
fn a_file_changed_by_hand_is_kept_aside_and_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run_state.json");
    StateFile::write(&path, &state("r1")).unwrap();
    let edited = fs::read_to_string(&path).unwrap().replace("first", "last");
    for text in [
        edited.as_str(),
        "",
        "{\"run_id\": \"r1\"}",
        "[]",
        "\u{0}\u{0}",
    ] {
        fs::write(&path, text).unwrap();
        assert!(matches!(
            StateFile::read(&path).unwrap(),
            StateFile::Corrupt { .. }
        ));
        let aside = StateFile::write(&path, &state("r1")).unwrap().unwrap();
        assert!(
            aside
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("run_state.json.corrupt-")
        );
        assert_eq!(fs::read_to_string(aside).unwrap(), text);
        assert_eq!(
            StateFile::read(&path).unwrap(),
            StateFile::Good(Box::new(state("r1")))
        );
    }
}
