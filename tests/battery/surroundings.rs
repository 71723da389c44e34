//! Cases 83, 86–89, 91, 92: two processes, a disk that is full or read-only, a lock without its holder, a clock that jumps, floods
//! of calls, signals.

use crate::attack::*;
use crate::support::*;
use agentctl_base::model::ToolStatus;
use agentctl_base::question::Outcome;
use agentctl_engine::run::{self, Cancel, Cause, Counted, LimitOverrides, RunError, RunOptions};
use agentctl_engine::store::{Holder, Journal, Project, ProjectLock, StoreError};
use agentctl_host::files::{Disk, FileError};
use agentctl_n8n_tools::resources::parse;
use serde_json::{Value, json};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn holder(pid: u32) -> Holder {
    Holder {
        pid,
        run_id: Some("r1".into()),
        since: "2026-01-02T03:04:05Z".into(),
        host: None,
    }
}

#[test]
fn case_083_a_second_process_is_turned_away_with_the_first_ones_name() {
    let mut shop = Shop::new(good);
    let report = shop.start(request("orders")).unwrap();
    let before = files_below(&shop.project.memory());
    let lock = ProjectLock::take(&shop.project.lock_file(), &holder(4711)).unwrap();
    for args in [
        vec!["build", "--yes", "Every day at 9 post hello to Slack #dev"],
        vec!["resume"],
        vec!["undo"],
    ] {
        let (code, _, stderr) = ran(agentctl(shop.dir.path(), &args));
        assert_eq!(code, 1, "{args:?}: {stderr}");
        assert!(
            stderr.contains("in use by process 4711 (run r1)"),
            "{args:?}: {stderr}"
        );
    }
    // Looking is allowed.
    assert_eq!(run::status(&shop.project, &shop.pack).unwrap(), report);
    let now = files_below(&shop.project.memory());
    let names =
        |files: &[(String, Vec<u8>)]| files.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>();
    assert_eq!(names(&now), names(&before));
    drop(lock);
    assert_eq!(shop.resume(None).unwrap(), report);
}

/// A disk on which the n-th write, sync (of a file or a folder) or rename fails, and all that follow: half of a write is on it then.
#[derive(Debug)]
struct Failing {
    at: usize,
    count: AtomicUsize,
    code: i32,
    /// Only the one call fails.
    once: bool,
}

impl Failing {
    fn on(at: usize, code: i32, once: bool) -> Arc<Failing> {
        Arc::new(Failing {
            at,
            count: AtomicUsize::new(0),
            code,
            once,
        })
    }
    fn fails(&self) -> Option<io::Error> {
        let now = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let hit = if self.once {
            now == self.at
        } else {
            now >= self.at
        };
        hit.then(|| io::Error::from_raw_os_error(self.code))
    }
}

impl Disk for Failing {
    fn write(&self, file: &mut File, bytes: &[u8], _: &Path) -> io::Result<()> {
        use std::io::Write as _;
        if let Some(error) = self.fails() {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        file.write_all(bytes)
    }
    fn sync(&self, file: &File, _: &Path) -> io::Result<()> {
        self.fails().map_or_else(|| file.sync_all(), Err)
    }
    fn rename(&self, from: tempfile::NamedTempFile, path: &Path) -> io::Result<()> {
        match self.fails() {
            Some(error) => Err(error),
            None => from.persist(path).map(|_| ()).map_err(|e| e.error),
        }
    }
    fn sync_folder(&self, dir: &Path) -> io::Result<()> {
        self.fails()
            .map_or_else(|| File::open(dir)?.sync_all(), Err)
    }
}

const ENOSPC: i32 = 28;
const EIO: i32 = 5;
const EROFS: i32 = 30;
const EDQUOT: i32 = if cfg!(target_os = "linux") { 122 } else { 69 };

#[test]
fn case_086_a_disk_that_fails_anywhere_stops_the_run_and_costs_nothing() {
    let mut whole = Shop::new(good);
    let counting = Failing::on(usize::MAX, EIO, false);
    whole.project = Project::on(counting.clone(), whole.dir.path()).with_key(Some(key()));
    let expected = whole.start(request("orders")).unwrap();
    let calls = counting.count.load(Ordering::Relaxed);
    let done = changes(&whole.journal()).len();
    assert!(calls > 60, "{calls}");
    for at in 1..=calls {
        let code = [ENOSPC, EIO, EDQUOT, EROFS][at % 4];
        let mut shop = Shop::new(good);
        shop.project =
            Project::on(Failing::on(at, code, at % 3 == 0), shop.dir.path()).with_key(Some(key()));
        let stopped = shop.start(request("orders"));
        let Err(RunError::Store(StoreError::File(FileError::Io { source, .. }))) = &stopped else {
            panic!("call {at} failed and the run came to {stopped:?}");
        };
        assert_eq!(source.raw_os_error(), Some(code), "call {at}");
        assert_eq!(stopped.unwrap_err().exit_code(), 1);
        // The disk is mended: the run goes on, and makes each change once.
        shop.project = project(shop.dir.path());
        let ended = if shop.project.run_ids().unwrap().is_empty() {
            shop.start(request("orders"))
        } else {
            shop.resume(None)
        };
        let ended = ended.unwrap_or_else(|e| panic!("call {at}: {e}"));
        assert_eq!(ended.outcome, Outcome::Complete, "call {at}");
        assert_eq!(shop.workflows().len(), 1, "call {at}");
        assert_eq!(changes(&shop.journal()).len(), done, "call {at}");
        assert_eq!(
            built(&ended).workflow.unwrap().name,
            built(&expected).workflow.unwrap().name
        );
        run::verify(&shop.project, &parse, &ended.run_id).unwrap();
    }
}

/// The real thing: a process that may not write a file of more than a few blocks.
#[cfg(unix)]
#[test]
fn case_086_a_real_limit_of_the_system_is_told_and_the_run_goes_on_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let request = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
    let mut hit = 0;
    for blocks in [1, 8, 24] {
        let mut command = std::process::Command::new("/bin/sh");
        // A write over the limit then fails as on a full disk, and does not kill.
        let script =
            format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" build --yes --quiet \"$1\"");
        command
            .current_dir(dir.path())
            .env("AGENTCTL_HOME", own_folder());
        command.args(["-c", &script, env!("CARGO_BIN_EXE_agentctl"), request]);
        let (code, _, stderr) = ran(command);
        assert!([0, 1].contains(&code), "{blocks}: {code} {stderr}");
        if code != 0 {
            hit += 1;
            assert!(
                stderr.contains("error: cannot") && stderr.to_lowercase().contains("too large"),
                "{blocks}: {stderr}"
            );
        }
        let (verified, told, _) = ran(agentctl(dir.path(), &["runs", "verify"]));
        assert_eq!(verified, 0, "{blocks}: {told}");
    }
    assert!(hit > 0, "no limit was met");
    let (code, _, stderr) = ran(agentctl(dir.path(), &["resume", "--yes"]));
    assert!(
        code == 0 || stderr.contains("no run yet"),
        "{code} {stderr}"
    );
}

#[test]
fn case_087_a_folder_that_cannot_be_written_is_said_before_anything_is_asked() {
    // As the owner of the project sees it: permissions, or for root, whom they do not bind, a file system that refuses all.
    let root = nix::unistd::geteuid().is_root();
    let dir = tempfile::tempdir().unwrap();
    let project = if root {
        Path::new("/sys/kernel").to_owned()
    } else {
        dir.path().to_owned()
    };
    if root {
        assert!(
            project.is_dir(),
            "root needs a file system that refuses it: there is no /sys here"
        );
    } else {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    }
    let (code, stdout, stderr) = ran(agentctl(
        &project,
        &["build", "--yes", "Every day at 9 post hello to Slack #dev"],
    ));
    assert_eq!(code, 1, "{stdout}{stderr}");
    assert!(
        stderr.contains("error: cannot create the folder"),
        "{stderr}"
    );
    let mut shop = Shop::new(good);
    shop.project = Project::new(&project);
    assert!(matches!(
        shop.start(request("orders")),
        Err(RunError::Store(StoreError::File(FileError::Io { .. })))
    ));
    assert_eq!(shop.asked_count(), 0);
    if !root {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // And a file where the folder should be.
    let mut shop = Shop::new(good);
    std::fs::write(shop.project.memory(), "").unwrap();
    assert!(matches!(
        shop.start(request("orders")),
        Err(RunError::Store(StoreError::File(FileError::Io { .. })))
    ));
    assert_eq!(shop.asked_count(), 0);
}

#[test]
fn case_088_a_dead_holders_lock_holds_nobody_up() {
    let mut shop = Shop::new(good);
    let file = shop.project.lock_file();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    // A process that is gone, one that has its number now (this one), and what is no name at all.
    let texts = [
        serde_json::to_string(&holder(u32::MAX - 1)).unwrap(),
        serde_json::to_string(&holder(std::process::id())).unwrap(),
        "\0\0garbage".to_owned(),
        String::new(),
        "x".repeat(100_000),
    ];
    for text in texts {
        std::fs::write(&file, &text).unwrap();
        let lock = ProjectLock::take(&file, &holder(7)).unwrap();
        let named: Holder = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(named, holder(7), "the whole file is the new holder's name");
        assert!(lock.after_a_crash() && lock.turn().is_none());
    }
    // What counts is the lock itself, and it goes with its holder, also when nobody wrote a name.
    let held = ProjectLock::take(&file, &holder(7)).unwrap();
    std::fs::write(&file, "").unwrap();
    assert!(matches!(
        ProjectLock::take(&file, &holder(8)),
        Err(StoreError::Locked { holder: None })
    ));
    drop(held);
    assert_eq!(
        shop.start(request("orders")).unwrap().outcome,
        Outcome::Complete
    );
}

#[test]
fn case_089_a_clock_set_back_or_forward_changes_no_order_and_spends_nothing() {
    const YEAR: i64 = 366 * 86_400;
    let mut shop = Shop::new(good);
    let first = shop.start(request("orders")).unwrap();
    // A year back, and once more within a second: the new run is still the newest, and the active one.
    for _ in 0..2 {
        shop.effects = Counted::from(1_800_000_000 - YEAR);
        let second = shop.start(request("bills")).unwrap();
        let ids = shop.project.run_ids().unwrap();
        assert!(
            second.run_id > first.run_id && ids.last() == Some(&second.run_id),
            "{ids:?}"
        );
        assert_eq!(
            run::status(&shop.project, &shop.pack).unwrap().run_id,
            second.run_id
        );
        run::verify(&shop.project, &parse, &second.run_id).unwrap();
    }
    // Forward by a year between two activations and within one: the run's time is not spent by it.
    let mut shop = Shop::new(|seen| match seen.task() {
        "think" => says(
            json!({"plan": {"name": "Orders", "questions": [{"id": "q1", "topic": "t", "text": "which?"}]}}),
        ),
        _ => good(seen),
    });
    assert_eq!(
        shop.start(request("orders")).unwrap().outcome,
        Outcome::Waiting
    );
    shop.effects = Counted::from(1_800_000_000 + YEAR);
    let ended = shop.answer(json!({"q1": "this"})).unwrap();
    assert_eq!(ended.outcome, Outcome::Complete, "{}", ended.message);
    // Times are written as UTC: no change of summer time, no zone.
    let path = shop.project.run(&ended.run_id).unwrap().journal();
    let records = Journal::read(&path).unwrap().records;
    assert!(records.iter().all(|r| r.at.ends_with('Z')));
}

#[test]
fn case_091_loops_floods_and_self_delegation_end_at_a_limit() {
    // A model that never stops calling.
    let mut shop = Shop::new(|seen| match seen.task() {
        "make" => calls(&[(
            "get_workflow",
            json!({"workflow_id": format!("q{}", seen.request.messages.len())}),
        )]),
        _ => good(seen),
    });
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(report.outcome, Outcome::Failed);
    assert!(text_of(&report.errors[0]["error"]).contains("no final answer within 12 turns"));
    // Ten thousand calls in one answer, all different: a few are made, the rest is dropped and said to be.
    let mut shop = Shop::new(|seen| match (seen.task(), seen.results().len()) {
        ("make", 0) => {
            let many: Vec<(&str, Value)> = (0..10_000)
                .map(|n| ("get_workflow", json!({"workflow_id": format!("q{n}")})))
                .collect();
            calls(&many)
        }
        ("make", 64) => {
            assert!(
                seen.told()[0].contains("9936 were dropped"),
                "{:?}",
                seen.told()
            );
            calls(&[("create_workflow", creation("Orders"))])
        }
        _ => good(seen),
    });
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(report.outcome, Outcome::Complete, "{:?}", report.errors);
    assert!(report.usage.tool_calls < 100, "{}", report.usage.tool_calls);
    // The same call over and over.
    let mut shop = Shop::new(|seen| match (seen.task(), seen.results().len()) {
        ("make", 0) => calls(&vec![("get_workflow", json!({"workflow_id": "none"})); 50]),
        ("make", 50) => {
            let refused = seen
                .results()
                .iter()
                .filter(|(_, status, _)| *status == ToolStatus::Refused)
                .count();
            assert_eq!(refused, 47);
            calls(&[("create_workflow", creation("Orders"))])
        }
        _ => good(seen),
    });
    assert_eq!(
        shop.start(request("orders")).unwrap().outcome,
        Outcome::Complete
    );
    // An agent that starts itself: there is no such call.
    let mut shop = Shop::new(|seen| match (seen.task(), seen.results().len()) {
        ("make", 0) => calls(&[
            ("delegate", json!({"agent": "maker"})),
            ("Task", json!({"agent": "maker", "prompt": "again"})),
        ]),
        ("make", 2) => {
            assert!(
                seen.results()
                    .iter()
                    .all(|(_, status, _)| *status == ToolStatus::Refused)
            );
            calls(&[("create_workflow", creation("Orders"))])
        }
        _ => good(seen),
    });
    assert_eq!(
        shop.start(request("orders")).unwrap().outcome,
        Outcome::Complete
    );
    // Budgets of the command line, which a resume without more does not get around.
    let mut shop = Shop::new(good);
    let options = RunOptions {
        limits: LimitOverrides {
            max_model_calls: Some(3),
            ..LimitOverrides::default()
        }
        .into(),
        ..request("orders")
    };
    let report = shop.start(options).unwrap();
    assert_eq!(
        (report.outcome, report.exit_code, report.usage.model_calls),
        (Outcome::Budget, 8, 3)
    );
    let report = shop.resume(None).unwrap();
    assert_eq!(
        (report.outcome, report.usage.model_calls),
        (Outcome::Budget, 3)
    );
}

#[test]
fn case_092_a_second_interrupt_is_told_from_the_first() {
    let cancel = Cancel::default();
    assert!(cancel.request(Cause::Interrupt));
    assert!(!cancel.request(Cause::Interrupt) && !cancel.request(Cause::Terminate));
    assert_eq!(cancel.cause(), Some(Cause::Interrupt));
    // One that comes while a run works: saved, and gone on with later.
    let mut shop = Shop::new(good).stopped_at(4, good);
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(
        (report.outcome, report.exit_code),
        (Outcome::Interrupted, 130)
    );
    shop.cancel = Cancel::default();
    assert_eq!(shop.resume(None).unwrap().outcome, Outcome::Complete);
}

/// A program whose output nobody takes is stuck in a write. It still hears signals, and the second one ends it.
#[cfg(unix)]
#[test]
fn case_092_two_interrupts_end_a_program_that_is_stuck() {
    use nix::sys::signal::{Signal, kill};
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;
    let dir = tempfile::tempdir().unwrap();
    let mut command = agentctl(
        dir.path(),
        &[
            "build",
            "--yes",
            "--output-format",
            "stream-json",
            "When a webhook receives an order, post it to Slack #sales",
        ],
    );
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    let mut out = BufReader::with_capacity(64, child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("activation") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the run began");
    }
    kill(pid, Signal::SIGINT).unwrap();
    // The first was heard once it is said so; only then is the second one a second one.
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("again to stop at once") {
        said.clear();
        if told.read_line(&mut said).unwrap() == 0 {
            break;
        }
    }
    // It may have ended by itself meanwhile: then there is nobody to signal.
    let _ = kill(pid, Signal::SIGINT);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{status:?}");
    drop(out);
    let (code, _, stderr) = ran(agentctl(dir.path(), &["resume", "--yes"]));
    assert_eq!(code, 0, "{stderr}");
}
