//! Two folders, as two replicas have them, and one ledger.

use super::{
    Copied, Event, Journal, Ledger, LedgerError, Project, ResourceId, ResourceMark, RunFile,
    StoreError,
};
use crate::testkit::journals;
use crate::testkit::ledger::MemoryLedger;
use agentctl_host::key::Key;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

const RUN: &str = "20260101-000000-shared";

struct Replicas {
    ledger: Arc<MemoryLedger>,
    one: Project,
    two: Project,
    _folders: [TempDir; 2],
}

fn replicas() -> Replicas {
    let ledger = Arc::new(MemoryLedger::default());
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let project = |folder: &TempDir| {
        let key = Some(Key::fixed([7; 32]));
        let project = Project::open(folder.path()).unwrap().with_key(key);
        project.with_ledger(Arc::clone(&ledger) as Arc<dyn Ledger>)
    };
    Replicas {
        one: project(&folders[0]),
        two: project(&folders[1]),
        ledger,
        _folders: folders,
    }
}

fn begun() -> Event {
    journals::begun(RUN)
}

fn step(n: usize) -> Event {
    Event::StepStarted {
        step: format!("s{n}"),
    }
}

fn write(journal: &mut Journal, event: Event) -> Result<(), StoreError> {
    let at = jiff::Timestamp::UNIX_EPOCH;
    journal.append(at, event, true).map(drop)
}

fn journal_of(project: &Project) -> String {
    fs::read_to_string(project.run(RUN).unwrap().journal()).unwrap()
}

fn open(project: &Project) -> Result<Journal, StoreError> {
    project
        .open_run(RUN, &mut |_, _| {})
        .map(|(journal, _)| journal)
}

/// A run of seven records that nobody holds.
fn written(replicas: &Replicas) {
    let mut journal = replicas.one.begin_run(RUN).unwrap();
    write(&mut journal, begun()).unwrap();
    for n in 1..7 {
        write(&mut journal, step(n)).unwrap();
    }
}

#[test]
fn another_folder_fetches_a_run_goes_on_with_it_and_it_stays_one_chain() {
    let replicas = replicas();
    written(&replicas);
    let loaded = replicas.two.read_run(RUN).unwrap();
    assert_eq!((loaded.head().0, loaded.foreign), (7, None));
    assert_eq!(journal_of(&replicas.two), journal_of(&replicas.one));
    let mut journal = open(&replicas.two).unwrap();
    write(&mut journal, step(7)).unwrap();
    drop(journal);
    // The first one's copy is behind now: it has what came when it reads.
    assert_ne!(journal_of(&replicas.two), journal_of(&replicas.one));
    assert_eq!(replicas.one.read_run(RUN).unwrap().head().0, 8);
    assert_eq!(journal_of(&replicas.two), journal_of(&replicas.one));
    let lines = replicas.ledger.lines(RUN).join("\n") + "\n";
    assert_eq!(journal_of(&replicas.one), lines);
    assert_eq!(replicas.two.fetch_run(RUN).unwrap(), Copied::Nothing);
}

#[test]
fn a_run_is_held_by_one_until_it_is_left() {
    let replicas = replicas();
    let mut journal = replicas.one.begin_run(RUN).unwrap();
    write(&mut journal, begun()).unwrap();
    for project in [&replicas.one, &replicas.two] {
        let refused = open(project).unwrap_err();
        assert!(
            matches!(refused, StoreError::Ledger(LedgerError::Held { .. })),
            "{refused}"
        );
        assert!(project.held_by(RUN).unwrap().is_some());
    }
    let twice = replicas.two.begin_run(RUN).unwrap_err();
    assert!(
        matches!(twice, StoreError::Ledger(LedgerError::Exists { .. })),
        "{twice}"
    );
    // Who reads meanwhile sees what is there.
    assert_eq!(replicas.two.read_run(RUN).unwrap().head().0, 1);
    drop(journal);
    assert!(replicas.two.held_by(RUN).unwrap().is_none());
    drop(open(&replicas.two).unwrap());
}

#[test]
fn who_lost_the_lease_writes_nothing_any_more_and_its_copy_is_the_others_beginning() {
    let replicas = replicas();
    let mut late = replicas.one.begin_run(RUN).unwrap();
    write(&mut late, begun()).unwrap();
    replicas.ledger.run_out(RUN);
    assert_eq!(replicas.ledger.abandoned().unwrap(), [RUN]);
    let mut journal = open(&replicas.two).unwrap();
    // Also before the other has written anything.
    let lost = write(&mut late, step(1)).unwrap_err();
    assert!(
        matches!(lost, StoreError::Ledger(LedgerError::Lost { .. })),
        "{lost}"
    );
    write(&mut journal, step(2)).unwrap();
    // What follows a lost write is not written either.
    assert!(write(&mut late, step(3)).is_err());
    drop(late);
    // Whoever lost it does not leave it for the other.
    assert!(open(&replicas.one).is_err());
    drop(journal);
    assert!(replicas.ledger.abandoned().unwrap().is_empty());
    assert_eq!(replicas.one.read_run(RUN).unwrap().head().0, 2);
    assert_eq!(journal_of(&replicas.one), journal_of(&replicas.two));
    assert!(!journal_of(&replicas.one).contains("\"s1\""));
}

#[test]
fn a_ledger_that_is_away_ends_the_writing_and_nothing_is_in_the_file_alone() {
    let replicas = replicas();
    let mut journal = replicas.one.begin_run(RUN).unwrap();
    write(&mut journal, begun()).unwrap();
    replicas.ledger.set_away(true);
    let away = write(&mut journal, step(1)).unwrap_err();
    assert!(
        matches!(away, StoreError::Ledger(LedgerError::Away { .. })),
        "{away}"
    );
    replicas.ledger.set_away(false);
    assert!(write(&mut journal, step(2)).is_err());
    assert_eq!(journal_of(&replicas.one).lines().count(), 1);
    // It is not left as if all were well: whoever looks after such runs finds it.
    drop(journal);
    assert_eq!(replicas.ledger.abandoned().unwrap(), [RUN]);
    replicas.ledger.set_away(true);
    assert!(replicas.two.begin_run("another").is_err());
    assert!(replicas.two.read_run(RUN).is_err());
}

#[test]
fn a_copy_that_was_cut_or_torn_is_made_whole_and_one_that_says_otherwise_is_refused() {
    let replicas = replicas();
    written(&replicas);
    let path = replicas.two.run(RUN).unwrap().journal();
    replicas.two.fetch_run(RUN).unwrap();
    let whole = journal_of(&replicas.two);
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let cuts = [0, 1, lines[0].len(), lines[0].len() + 9, whole.len() - 1];
    for cut in cuts {
        fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(replicas.two.fetch_run(RUN).unwrap(), Copied::Some, "{cut}");
        assert_eq!(journal_of(&replicas.two), whole, "{cut}");
    }
    // A record of another run's history, with a chain of its own.
    let other = Project::open(replicas._folders[1].path()).unwrap();
    fs::remove_file(&path).unwrap();
    let mut journal = Journal::create(&other.run(RUN).unwrap().journal()).unwrap();
    write(&mut journal, begun()).unwrap();
    write(&mut journal, step(99)).unwrap();
    let split = open(&replicas.two).unwrap_err();
    assert!(
        matches!(split, StoreError::Ledger(LedgerError::Split { .. })),
        "{split}"
    );
    assert!(replicas.two.read_run(RUN).is_err());
    fs::remove_dir_all(replicas.two.run(RUN).unwrap().dir()).unwrap();
    assert_eq!(replicas.two.read_run(RUN).unwrap().head().0, 7);
}

#[test]
fn a_run_that_is_in_the_folder_alone_is_read_and_not_gone_on_with() {
    let replicas = replicas();
    let alone = Project::open(replicas._folders[0].path()).unwrap();
    let alone = alone.with_key(Some(Key::fixed([7; 32])));
    let mut journal = alone.begin_run(RUN).unwrap();
    write(&mut journal, begun()).unwrap();
    drop(journal);
    let loaded = replicas.one.read_run(RUN).unwrap();
    assert_eq!((loaded.head().0, loaded.foreign), (1, None));
    let refused = open(&replicas.one).unwrap_err().to_string();
    assert!(
        refused.contains("in this folder alone") && refused.contains("runs import"),
        "{refused}"
    );
}

#[test]
fn a_line_that_does_not_follow_is_not_fetched() {
    let replicas = replicas();
    written(&replicas);
    let line = replicas.ledger.lines(RUN)[3].replace("s3", "s4");
    replicas.ledger.forge(RUN, 4, &line);
    let damaged = replicas.two.read_run(RUN).unwrap_err();
    assert!(
        matches!(damaged, StoreError::Ledger(LedgerError::Damaged { .. })),
        "{damaged}"
    );
}

#[test]
fn another_users_key_does_not_make_a_shared_run_its_own() {
    let replicas = replicas();
    written(&replicas);
    let stranger = replicas.two.clone().with_key(Some(Key::fixed([8; 32])));
    assert!(matches!(open(&stranger), Err(StoreError::Foreign { .. })));
    // It was left again.
    drop(open(&replicas.two).unwrap());
}

#[test]
fn snapshots_and_files_of_a_run_come_with_it() {
    let replicas = replicas();
    let mut journal = replicas.one.begin_run(RUN).unwrap();
    write(&mut journal, begun()).unwrap();
    let paths = replicas.one.run(RUN).unwrap();
    let text = "x".repeat(100_000);
    let mark = ResourceMark {
        resource: ResourceId::new("list", "a"),
        revision: "0123456789".into(),
        size: 1,
    };
    let taken = replicas.one.snapshots(&paths).save(&mark, &text).unwrap();
    let (file, sha256) = (taken.file.clone(), taken.sha256.clone());
    write(&mut journal, taken.into()).unwrap();
    let made = RunFile::of(RUN, "report.md").unwrap();
    let path = replicas.one.root().join(made.place());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "# Report").unwrap();
    replicas.one.keep_file(&made).unwrap();
    drop(journal);

    replicas.two.fetch_run(RUN).unwrap();
    let snapshots = replicas.two.snapshots(&replicas.two.run(RUN).unwrap());
    assert_eq!(
        snapshots.read_taken(&file, sha256.as_deref()).unwrap(),
        text
    );
    assert_eq!(replicas.two.run_file_size(&made).unwrap(), Some(8));
    assert_eq!(
        replicas.two.run_file(&made).unwrap().as_deref(),
        Some(&b"# Report"[..])
    );
    // A link that one gave is good at the other's door.
    let mark = replicas.one.link_mark(&made, 9).unwrap();
    assert!(replicas.two.is_link_mark(&made, 9, &mark));
}

/// Takes no line after the first.
#[derive(Debug, Default)]
struct Full(std::sync::atomic::AtomicBool);

impl agentctl_host::files::Disk for Full {
    fn write(&self, file: &mut fs::File, bytes: &[u8], _: &Path) -> std::io::Result<()> {
        use std::io::Write as _;
        match self.0.swap(true, std::sync::atomic::Ordering::Relaxed) {
            false => file.write_all(bytes),
            true => Err(std::io::ErrorKind::StorageFull.into()),
        }
    }
}

#[test]
fn a_run_whose_folder_took_no_more_is_found_as_abandoned() {
    let replicas = replicas();
    let full = Project::on(Arc::new(Full::default()), replicas.one.root());
    let full = full.with_ledger(Arc::clone(&replicas.ledger) as Arc<dyn Ledger>);
    let mut journal = full.begin_run(RUN).unwrap();
    write(&mut journal, begun()).unwrap();
    assert!(write(&mut journal, step(1)).is_err());
    drop(journal);
    replicas.ledger.run_out(RUN);
    assert_eq!(replicas.ledger.abandoned().unwrap(), [RUN]);
    // The line that the folder could not take is there for whoever goes on.
    assert_eq!(replicas.two.read_run(RUN).unwrap().head().0, 2);
}

#[test]
fn what_is_removed_is_removed_for_all() {
    let replicas = replicas();
    written(&replicas);
    replicas.two.fetch_run(RUN).unwrap();
    let held = open(&replicas.two).unwrap();
    assert!(replicas.one.remove_run(RUN).is_err());
    drop(held);
    assert!(replicas.one.remove_run(RUN).unwrap());
    assert!(replicas.ledger.lines(RUN).is_empty());
    let there = |project: &Project| Path::exists(project.run(RUN).unwrap().dir());
    assert!(!there(&replicas.one) && there(&replicas.two));
    assert_eq!(replicas.two.remove_what_is_gone().unwrap().0, [RUN]);
    assert!(!there(&replicas.two));
    assert!(open(&replicas.two).is_err());
    assert!(replicas.two.begin_run(RUN).is_err());
    assert!(!replicas.one.remove_run(RUN).unwrap());
}

#[test]
fn a_run_that_only_the_ledger_has_is_removed_too_and_that_is_told() {
    let replicas = replicas();
    written(&replicas);
    assert!(!Path::exists(replicas.two.run(RUN).unwrap().dir()));
    assert!(replicas.two.remove_run(RUN).unwrap());
}

#[test]
#[cfg(unix)]
fn what_cannot_be_removed_here_is_told_and_the_rest_is_removed() {
    let replicas = replicas();
    let later = "20260101-000001-shared";
    written(&replicas);
    let mut journal = replicas.one.begin_run(later).unwrap();
    write(&mut journal, journals::begun(later)).unwrap();
    drop(journal);
    for run in [RUN, later] {
        replicas.two.fetch_run(run).unwrap();
        assert!(replicas.one.remove_run(run).unwrap());
    }
    let dir = replicas.two.run(RUN).unwrap().dir().to_owned();
    fs::remove_dir_all(&dir).unwrap();
    std::os::unix::fs::symlink("/nowhere", &dir).unwrap();
    let (removed, left) = replicas.two.remove_what_is_gone().unwrap();
    assert_eq!(removed, [later]);
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn only_runs_of_which_something_is_missing_are_fetched() {
    let replicas = replicas();
    written(&replicas);
    replicas.two.fetch_all().unwrap();
    let asked = replicas.ledger.fetches();
    replicas.two.fetch_all().unwrap();
    assert_eq!(replicas.ledger.fetches(), asked);
    write(&mut open(&replicas.one).unwrap(), step(7)).unwrap();
    replicas.two.fetch_all().unwrap();
    assert!(replicas.ledger.fetches() > asked);
    assert_eq!(journal_of(&replicas.two), journal_of(&replicas.one));
}

#[test]
fn a_run_is_named_by_its_beginning_also_where_it_was_never_seen() {
    let replicas = replicas();
    written(&replicas);
    assert_eq!(replicas.two.find_run("20260101").unwrap(), RUN);
    assert_eq!(replicas.two.run_ids().unwrap(), [RUN]);
}
