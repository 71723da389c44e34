//! The list commands in a project of many entries: wall time and processor time of whole processes, medians of 5.
//!
//! `cargo bench --bench lists` (10,000 runs and 10,000 learnings), `cargo bench --bench lists -- 2000`; with a folder behind the number
//! the project is made there and stays, and one that was made there is measured again.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "tests and measurements fail loudly"
)]

use agentctl_engine::store::Project;
use agentctl_engine::testkit::journals::{Of, processor, write_run};
use agentctl_host::key::Key;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const AGENTCTL: &str = env!("CARGO_BIN_EXE_agentctl");
const REQUEST: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
const TIMES: usize = 5;
const LISTS: &[&[&str]] = &[
    &["runs", "list"],
    &["runs", "list", "--limit", "20"],
    &["runs", "list", "--status", "waiting"],
    &["status"],
    &["log"],
    &["log", "--workflow", "orders-to-slack"],
    &["approvals", "show"],
    &["usage"],
    &["learnings", "index"],
    &["learnings", "stats"],
    &["learnings", "search", "slack"],
    &["sessions", "list"],
];

fn main() {
    let mut given = std::env::args().skip(1).filter(|a| a != "--bench");
    let count: u64 = given.next().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let kept = given.next().map(PathBuf::from);
    let passing = tempfile::tempdir().unwrap();
    let root = kept.unwrap_or_else(|| passing.path().join("project"));
    if !root.join("memory/runs").exists() {
        std::fs::create_dir_all(&root).unwrap();
        made(&root, count);
    }
    for list in LISTS {
        let mut clock = Vec::new();
        let mut used = Vec::new();
        let mut failed = false;
        for _ in 0..=TIMES {
            let before = processor(Of::Children);
            let began = Instant::now();
            failed |= !command(&root, list).status().unwrap().success();
            clock.push(began.elapsed().as_millis());
            used.push(processor(Of::Children) - before);
        }
        let told = if failed { " (not exit code 0)" } else { "" };
        println!(
            "agentctl {}: {} ms, {} ms of processor time{told}",
            list.join(" "),
            median(clock.split_off(1)),
            median(used.split_off(1).into_iter().map(u128::from).collect()),
        );
    }
}

/// The user's own folder: it may not lie in the project.
fn home(root: &Path) -> PathBuf {
    root.with_extension("home")
}

fn command(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(AGENTCTL);
    command
        .args(args)
        .current_dir(root)
        .env("AGENTCTL_HOME", home(root))
        .env("AGENTCTL_LOOK", "no")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// One build, so many runs like it before it, and as many learnings.
fn made(root: &Path, count: u64) {
    let built = command(root, &["build", "--yes", REQUEST])
        .status()
        .unwrap();
    assert!(built.success());
    let key = std::fs::read(home(root).join("key")).unwrap();
    let project = Project::new(root).with_key(Some(Key::fixed(key.try_into().unwrap())));
    let [first] = project.run_ids().unwrap().try_into().unwrap();
    let records = project.read_run(&first).unwrap().records;
    for n in 0..count {
        write_run(
            &project,
            &records,
            &format!("20200101-000000-{n:06x}"),
            n,
            0,
        );
    }
    let entry = |n: u64| {
        format!(
            "## L-{n}: setting {n} of slack takes a value\n- date: 2026-01-02\n- tags: slack\n- problem: case {n} is reported as missing\n- cause: the label stands there\n- solution: set value {n}\n- evidence: run {n}\n- status: active\n\n"
        )
    };
    let learnings: String = (1..=count).map(entry).collect();
    std::fs::write(root.join("many.md"), learnings).unwrap();
    let imported = command(root, &["learnings", "import", "many.md"])
        .status()
        .unwrap();
    assert!(imported.success());
}

fn median(mut all: Vec<u128>) -> u128 {
    all.sort_unstable();
    all[all.len() / 2]
}
