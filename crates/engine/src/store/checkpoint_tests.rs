//! A checkpoint is a cache: with it, without it and with any other one the same is read.

use super::{Event, Journal, Loaded, Project, Record, StoreError};
use agentctl_base::question::Outcome;
use agentctl_host::key::Key;
use proptest::prelude::*;
use serde_json::{Map, json};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

const RUN: &str = "r1";

struct Place {
    _dir: tempfile::TempDir,
    project: Project,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = Project::new(dir.path()).with_key(Some(Key::fixed([7; 32])));
        Place { _dir: dir, project }
    }

    fn journal(&self) -> PathBuf {
        self.project.run(RUN).unwrap().journal()
    }

    fn checkpoint(&self) -> PathBuf {
        self.project.run(RUN).unwrap().checkpoint()
    }

    /// Appends records from number `from` on; the first begins the run.
    fn append(&self, from: u64, to: u64) {
        let mut journal = match from {
            1 => {
                let made = Journal::create(&self.journal()).unwrap();
                made.marked(self.project.marks(RUN))
            }
            _ => self.project.open_run(RUN, &mut |_, _| ()).unwrap().0,
        };
        for n in from..=to {
            let at = "2026-01-01T00:00:00Z".parse().unwrap();
            journal.append(at, event(n), false).unwrap();
        }
    }

    fn keep(&self) {
        let (_, checked) = self.project.read_run_each(RUN, &mut |_, _| ()).unwrap();
        self.project
            .keep_told(RUN, checked.unwrap(), &json!({"is": "told"}));
    }

    /// As it is read with what is kept, and without.
    fn both(&self) -> [Result<Loaded, StoreError>; 2] {
        let mut records: Vec<Record> = Vec::new();
        let whole = self
            .project
            .verify_run(RUN, &mut |record, _| records.push(record.clone()));
        let whole = whole.map(|(loaded, _)| Loaded { records, ..loaded });
        [self.project.read_run(RUN), whole]
    }

    fn made_long_ago(&self) {
        let file = fs::File::options()
            .write(true)
            .open(self.journal())
            .unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000))
            .unwrap();
    }
}

fn event(n: u64) -> Event {
    match n {
        1 => Event::RunStarted {
            journal_version: 2,
            agentctl_version: "1".into(),
            run_id: RUN.into(),
            flow: "f".into(),
            pack_hash: "p".into(),
            input: Map::from_iter([
                ("z".to_owned(), json!(1.5)),
                ("a".to_owned(), json!([null])),
            ]),
        },
        n if n % 3 == 0 => Event::ActivationEnded {
            activation: 1,
            outcome: Outcome::Waiting,
            reason: None,
        },
        n => Event::StepFinished {
            step: format!("step \u{1b}[{n}]"),
            output: json!({"z": n, "a": {"y": -1, "b": 1e300}, "text": "two\nlines \u{202e}"}),
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_checkpoint_of_any_prefix_reads_as_the_whole_journal(prefix in 1u64..20, more in 0u64..20) {
        let place = Place::new();
        place.append(1, prefix);
        place.keep();
        if more > 0 {
            place.append(prefix + 1, prefix + more);
        }
        let [kept, whole] = place.both().map(Result::unwrap);
        prop_assert_eq!(kept.head().0, prefix + more);
        prop_assert_eq!(kept, whole);
    }

    #[test]
    fn a_change_of_a_checked_journal_is_told_as_without_a_checkpoint(at in 0usize..4000, bit in 0u8..8) {
        let place = Place::new();
        place.append(1, 9);
        place.keep();
        let mut bytes = fs::read(place.journal()).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        fs::write(place.journal(), bytes).unwrap();
        let [kept, whole] = place.both();
        match (kept, whole) {
            (Ok(kept), Ok(whole)) => prop_assert_eq!(kept, whole),
            (kept, whole) => prop_assert_eq!(
                kept.map_err(|e| e.to_string()).err(), whole.map_err(|e| e.to_string()).err()
            ),
        }
    }

    #[test]
    fn a_damaged_checkpoint_is_not_believed(at in 0usize..4000, bit in 0u8..8) {
        let place = Place::new();
        place.append(1, 6);
        place.keep();
        prop_assert!(place.project.told(RUN).is_some());
        let mut bytes = fs::read(place.checkpoint()).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        fs::write(place.checkpoint(), bytes).unwrap();
        // Only the newline at its end says nothing.
        let told = place.project.told(RUN).unwrap_or_else(|| json!({"is": "told"}));
        prop_assert_eq!(told, json!({"is": "told"}));
        let [kept, whole] = place.both().map(Result::unwrap);
        prop_assert_eq!(kept, whole);
    }
}

#[test]
fn a_checkpoint_of_another_user_run_or_folder_is_not_believed() {
    let place = Place::new();
    place.append(1, 6);
    place.keep();
    let kept = fs::read(place.checkpoint()).unwrap();
    let theirs = place.project.clone().with_key(Some(Key::fixed([8; 32])));
    assert_eq!(theirs.told(RUN), None);
    assert_eq!(theirs.clone().with_key(None).told(RUN), None);
    // What somebody else says of a journal that is this user's.
    let (_, checked) = place.project.read_run_each(RUN, &mut |_, _| ()).unwrap();
    theirs.keep_told(RUN, checked.unwrap(), &json!("forged"));
    assert_eq!(place.project.told(RUN), None);
    let other = Place::new();
    other.append(1, 6);
    fs::write(other.checkpoint(), kept).unwrap();
    assert_eq!(other.project.told(RUN), None);
}

#[test]
fn what_was_told_holds_until_the_journal_is_another() {
    let place = Place::new();
    assert_eq!(place.project.told(RUN), None);
    place.append(1, 6);
    assert_eq!(place.project.told(RUN), None);
    place.made_long_ago();
    place.keep();
    assert_eq!(place.project.told(RUN), Some(json!({"is": "told"})));
    // Touched only: it is the same to the byte, which is looked at once.
    let file = fs::File::options().write(true).open(place.journal());
    file.unwrap().set_modified(SystemTime::now()).unwrap();
    assert_eq!(place.project.told(RUN), Some(json!({"is": "told"})));
    place.append(7, 7);
    assert_eq!(place.project.told(RUN), None);
    place.keep();
    fs::remove_file(place.journal()).unwrap();
    assert_eq!(place.project.told(RUN), None);
}

/// Of the same length, written in the very moment of the checkpoint: the time says nothing then.
#[test]
fn a_change_in_the_same_moment_is_seen() {
    let place = Place::new();
    place.append(1, 6);
    place.keep();
    let time = fs::metadata(place.checkpoint())
        .unwrap()
        .modified()
        .unwrap();
    let journal = |time| {
        let file = fs::File::options().write(true).open(place.journal());
        file.unwrap().set_modified(time).unwrap();
    };
    journal(time);
    place.keep();
    let checkpoint = fs::File::options().write(true).open(place.checkpoint());
    checkpoint.unwrap().set_modified(time).unwrap();
    let mut bytes = fs::read(place.journal()).unwrap();
    let last = bytes.len() - 10;
    bytes[last] ^= 1;
    fs::write(place.journal(), bytes).unwrap();
    journal(time);
    assert_eq!(place.project.told(RUN), None);
}

/// A journal of another user's, or one that a newer agentctl appended to, is checked at each time.
#[test]
fn only_what_was_understood_and_is_this_users_is_kept() {
    let place = Place::new();
    place.append(1, 6);
    let none = place.project.clone().with_key(None);
    let (_, checked) = none.read_run_each(RUN, &mut |_, _| ()).unwrap();
    assert_eq!(checked, None);
    let torn = [fs::read(place.journal()).unwrap(), b"{\"seq\":7".to_vec()].concat();
    fs::write(place.journal(), torn).unwrap();
    let (loaded, checked) = place.project.read_run_each(RUN, &mut |_, _| ()).unwrap();
    assert_eq!((loaded.head().0, checked), (6, None));
}
