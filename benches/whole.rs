//! Whole processes: wall time (median of N) and the largest resident memory of the commands that people type.
//!
//! `cargo bench --bench whole` (N = 10), or `cargo bench --bench whole -- 30`.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::type_complexity,
    clippy::print_stdout,
    reason = "tests and measurements fail loudly"
)]

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const AGENTCTL: &str = env!("CARGO_BIN_EXE_agentctl");
const REQUEST: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales and append it to the Google Sheet Orders";
const FILE: &str = "workflows/parts.json";
const CHANGE: &str = "In \"Fetch part 7\" set the url to https://api.example.com/changed";

fn main() -> Result<(), Box<dyn Error>> {
    let runs = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .next()
        .unwrap_or(10);
    // From the smallest to the largest: getrusage tells the largest child so far.
    let change = || vec!["build", "--yes", "--quiet", "--workflow", FILE, CHANGE];
    for (name, args, nodes) in [
        ("agentctl --version", vec!["--version"], 0),
        (
            "agentctl catalog show slack",
            vec!["catalog", "show", "slack"],
            0,
        ),
        (
            "agentctl build --yes (offline, embedded, everything synced)",
            vec!["build", "--yes", "--quiet", REQUEST],
            0,
        ),
        ("agentctl build --workflow, one node of 20", change(), 20),
        ("agentctl build --workflow, one of 1,000", change(), 1_000),
        ("agentctl build --workflow, one of 10,000", change(), 10_000),
    ] {
        let document = serde_json::to_string_pretty(&agentctl_testkit::large::workflow(nodes))?;
        let mut times = Vec::with_capacity(runs);
        for counted in 0..=runs {
            let project = tempfile::tempdir()?;
            if nodes > 0 {
                std::fs::create_dir(project.path().join("workflows"))?;
                std::fs::write(project.path().join(FILE), &document)?;
            }
            let started = Instant::now();
            let status = Command::new(AGENTCTL)
                .args(&args)
                .current_dir(project.path())
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .status()?;
            let took = started.elapsed();
            if !status.success() {
                return Err(format!("{name}: {status}").into());
            }
            if counted > 0 {
                times.push(took);
            }
        }
        times.sort();
        println!(
            "{name}: median {} (min {}, max {}) of {runs}, largest so far {} MB",
            ms(median(&times)),
            ms(times[0]),
            ms(times[times.len() - 1]),
            peak_mb()?
        );
    }
    Ok(())
}

fn median(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// The largest resident set of a finished child, in MB.
fn peak_mb() -> Result<i64, Box<dyn Error>> {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)?;
    Ok(usage.max_rss() / 1024)
}
