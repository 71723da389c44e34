//! kill -9 at random moments of a build: every resume ends with the workflow of an undisturbed run, once.

use super::support::Project;
use std::time::Instant;

const REQUEST: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales and append it to the Google Sheet Orders";

/// How often to kill; more with AGENTCTL_KILLS=50.
fn kills() -> u64 {
    std::env::var("AGENTCTL_KILLS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(8)
}

#[test]
fn a_killed_build_resumes_to_the_same_workflow() {
    let undisturbed = Project::new();
    let started = Instant::now();
    let ran = undisturbed.run(&["build", "--yes", "--output-format", "json", REQUEST]);
    let whole = started.elapsed();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let expected = ran.json()["workflow"]["graph_hash"].clone();
    assert!(expected.is_string());

    // A fixed linear congruential sequence: the moments differ, the test does not.
    let mut seed = 0x5eed_u64;
    let (mut hit, mut late) = (0, 0);
    for round in 0..kills() {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let moment = whole.mul_f64((seed >> 33) as f64 / f64::from(u32::MAX >> 1));
        let project = Project::new();
        let mut child = project
            .command(&["build", "--yes", "--quiet", REQUEST])
            .spawn()
            .unwrap();
        std::thread::sleep(moment);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        if status.success() {
            late += 1
        } else {
            hit += 1
        }

        let runs = project.run(&["runs", "list", "--output-format", "json"]);
        assert_eq!(runs.code, 0, "round {round}: {}", runs.stderr);
        let resumed = if runs.json()["runs"].as_array().is_some_and(Vec::is_empty) {
            // Killed before the run's first record was on disk: nothing was promised, a new build starts clean.
            project.run(&["build", "--yes", "--output-format", "json", REQUEST])
        } else {
            project.run(&["resume", "--yes", "--output-format", "json"])
        };
        assert_eq!(
            resumed.code, 0,
            "round {round} at {moment:?}: {}\n{}",
            resumed.stderr, resumed.stdout
        );
        assert_eq!(
            resumed.json()["workflow"]["graph_hash"],
            expected,
            "round {round} at {moment:?}"
        );
        assert_eq!(
            project.workflows().len(),
            1,
            "round {round} at {moment:?}: {:?}",
            project.workflows()
        );
        let verified = project.run(&["runs", "verify"]);
        assert_eq!(
            verified.code, 0,
            "round {round}: {}{}",
            verified.stdout, verified.stderr
        );
    }
    assert!(
        hit > 0,
        "no kill came before the end of a build ({late} came after it)"
    );
}
