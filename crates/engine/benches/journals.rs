//! Long journals and many runs: wall time and the largest resident memory of what reads them. A run of 100,000 records, and 2,000 runs
//! of 124 kB. Each figure is of a process of its own, behind one that was not counted.
//!
//! `cargo bench -p agentctl-engine --bench journals`, or with how many records and runs: `… -- 10000 200`.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    dead_code,
    reason = "a measurement"
)]

#[path = "../tests/to_do/guards.rs"]
mod guards;
#[path = "../tests/to_do/packs.rs"]
mod packs;
#[path = "../tests/to_do/resources.rs"]
mod resources;
#[path = "../tests/to_do/store.rs"]
mod store;
#[path = "../tests/to_do/support.rs"]
mod support;
#[path = "../tests/to_do/tools/mod.rs"]
mod tools;
#[path = "../tests/to_do/words.rs"]
mod words;

use agentctl_engine::redact::Redactor;
use agentctl_engine::run::{self, AllRuns, Compare, Undo};
use agentctl_engine::testkit::journals::{Of, processor, write_run};
use std::path::Path;
use std::process::{Command, exit};
use std::time::Instant;
use support::{House, block_on, good, request};

const LONG: &str = "20300101-000000-long";
const SMALL_TURNS: u64 = 60;

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    if let [what, dir] = args.as_slice()
        && what.parse::<u64>().is_err()
    {
        return measured(what, Path::new(dir));
    }
    let count = |at: usize, default| args.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (records, runs) = (count(0, 100_000), count(1, 2_000));
    let mut house = House::new(good);
    house.start(request("the house"));
    let told = house.records();
    let order = 10;
    write_run(&house.project, &told, LONG, order, records / 4);
    report(
        &house,
        &format!("a run of {records} records"),
        &["status", "show", "verify", "resume", "undo"],
    );

    let mut house = House::new(good);
    house.start(request("the house"));
    for n in 0..runs {
        write_run(
            &house.project,
            &told,
            &format!("20300101-000000-{n:06}"),
            order + n,
            SMALL_TURNS,
        );
    }
    report(
        &house,
        &format!("{runs} runs"),
        &[
            "list",
            "log --workflow",
            "diff --workflow",
            "undo --workflow",
            "verify",
        ],
    );
}

fn report(house: &House, of: &str, what: &[&str]) {
    for what in what {
        for counted in [false, true] {
            let mut command = Command::new(std::env::current_exe().unwrap());
            let output = command.arg(what).arg(house.dir.path()).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            if !output.status.success() {
                println!("{of}: {what}: {}", String::from_utf8_lossy(&output.stderr));
                exit(1);
            }
            if counted {
                println!("{of}: {what}: {}", text.trim_end());
            }
        }
    }
}

fn measured(what: &str, dir: &Path) {
    let place = tempfile::tempdir().unwrap();
    let mut house = House::at(place, good);
    house.project = agentctl_engine::store::Project::new(dir)
        .with_key(Some(agentctl_host::key::Key::fixed([7; 32])));
    house.gateway = support::gateway(dir, &house.pack);
    let began = Instant::now();
    let said = one(what, &mut house);
    let took = began.elapsed();
    println!(
        "{} ms, {} ms of processor time, {} MB ({said})",
        took.as_millis(),
        processor(Of::Own),
        largest() / 1024
    );
}

fn one(what: &str, house: &mut House) -> String {
    let project = house.project.clone();
    let runs = project.run_ids().unwrap();
    let last = runs.last().unwrap().clone();
    let named = || "chores".to_owned();
    let (id, redactor) = (named(), Redactor::default());
    match what {
        "status" => run::status(&project, &house.pack).unwrap().run_id,
        "show" => {
            run::show(&project, &house.pack, &last, &mut |_| ())
                .unwrap()
                .run_id
        }
        "verify" => {
            let all = run::verify_all(&project, &resources::parse, &runs).into_iter();
            all.map(|v| v.unwrap().records).sum::<u64>().to_string()
        }
        "resume" => house.resume(&last).unwrap().message,
        "undo" => {
            let done = run::undo(house.context(), Undo::Run(Some(last)), false);
            format!("{:?}", block_on(done).unwrap().resources[0].what)
        }
        "list" => run::list(&project).unwrap().len().to_string(),
        "log --workflow" => {
            let resources = house.gateway.resources();
            let runs = AllRuns::look(&project).unwrap();
            block_on(runs.changes(resources, &id))
                .unwrap()
                .1
                .len()
                .to_string()
        }
        "diff --workflow" => {
            let runs = AllRuns::look(&project).unwrap();
            let what = Compare::Resource {
                runs: &runs,
                named: named(),
                from: None,
                to: None,
            };
            let resources = house.gateway.resources();
            let made = run::compare(&project, resources, &redactor, what);
            block_on(made).unwrap().len().to_string()
        }
        "undo --workflow" => {
            let done = run::undo(house.context(), Undo::Resource(named()), true);
            format!("{:?}", block_on(done).unwrap().resources[0].what)
        }
        other => panic!("{other}?"),
    }
}

/// The largest resident memory of this process so far, in kB.
fn largest() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
