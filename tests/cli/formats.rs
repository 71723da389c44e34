//! Every form of file that a release wrote is read, and one of a version that is not known is refused by name (`tests/formats`).

use super::old_folder::{names, today};
use agentctl_engine::store::{Journal, StateFile, StoreError};
use agentctl_models::tape::Tape;
use agentctl_n8n::catalog::Catalog;
use agentctl_qa::baseline::Baseline;
use std::fs;
use std::path::{Path, PathBuf};

fn kept(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    folder.join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(kept(name)).unwrap()
}

/// The file with one word of it changed, in a place of its own.
fn changed(name: &str, from: &str, to: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    let after = text(name).replacen(from, to, 1);
    assert_ne!(after, text(name));
    fs::write(&path, after).unwrap();
    (dir, path)
}

#[test]
fn journals() {
    for (name, version) in [("journal-1.jsonl", 1), ("journal-2.jsonl", 2)] {
        let said = format!("\"journal_version\":{version}");
        assert!(text(name).contains(&said), "{name}");
        let read = Journal::read(&kept(name)).unwrap();
        assert_eq!(read.records.len(), text(name).lines().count(), "{name}");
        assert_eq!((read.unknown, &read.torn), (0, &None), "{name}");
        let (_dir, newer) = changed(name, &said, "\"journal_version\":3");
        // Before the hash of the record, which a newer version may reckon otherwise.
        let refused = Journal::read(&newer).unwrap_err();
        let by_name = matches!(refused, StoreError::NewerVersion { found: 3, .. });
        assert!(by_name, "{refused}");
    }
}

/// It has no version that could be too new: a key's meaning never changes, and keys of a newer writer are kept.
#[test]
fn run_states() {
    let StateFile::Good(state) = StateFile::read(&kept("run_state-1.json")).unwrap() else {
        panic!("it is not read")
    };
    assert_eq!((state.schema_version, state.questions.len()), (1, 2));
}

#[test]
fn recordings() {
    let hide = || Box::new(str::to_owned) as Box<dyn Fn(&str) -> String + Send + Sync>;
    for (name, said) in [("recording-2.json", "2"), ("recording-3.json", "3")] {
        Tape::replay(&kept(name), hide()).unwrap();
        let from = format!("\"version\": {said}");
        let (_dir, newer) = changed(name, &from, "\"version\": 4");
        let refused = Tape::replay(&newer, hide()).err().unwrap().to_string();
        assert!(refused.contains("version 4"), "{refused}");
    }
}

#[test]
fn baselines() {
    let name = "baseline-1.json";
    assert_eq!(Baseline::read(&text(name)).unwrap().to_text(), text(name));
    let newer = text(name).replacen("\"version\": 1", "\"version\": 2", 1);
    let refused = Baseline::read(&newer).unwrap_err().to_string();
    assert!(refused.contains("version 2"), "{refused}");
}

#[test]
fn pins() {
    let project = today();
    let tools = ["mcp", "tools", "docs"];
    assert_eq!(project.run(&tools).code, 0);
    let folder = project.home().join("pins");
    let file = folder.join(names(&folder).first().unwrap());
    let text = fs::read_to_string(&file).unwrap();
    let newer = text.replacen("\"version\":1", "\"version\":2", 1);
    let newer = newer.replacen("\"version\": 1", "\"version\": 2", 1);
    assert_ne!(newer, text);
    fs::write(&file, newer).unwrap();
    let refused = project.run(&tools);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("version 2"), "{}", refused.stderr);
}

#[test]
fn catalogs() {
    let bytes = fs::read(kept("catalog-1.bin")).unwrap();
    Catalog::from_bytes(&bytes).unwrap();
    let mut newer = bytes;
    newer[7] = 2;
    let refused = Catalog::from_bytes(&newer).err().unwrap().to_string();
    assert!(refused.contains("version 2"), "{refused}");
}
