//! What a running run shows of its phases: one line each, with what came of it.

use crate::support::Project;

const SALES: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";

/// The lines of the phases on stderr, marks and names apart.
fn phases(stderr: &str) -> Vec<String> {
    let lines = stderr
        .lines()
        .filter(|line| line.starts_with(['✓', '✗', '•']));
    lines.map(str::to_owned).collect()
}

#[test]
fn each_phase_is_one_line_with_what_came_of_it() {
    let project = Project::new();
    let told = |args: &[&str]| {
        let mut command = project.command(args);
        command.env("TERM", "dumb").env("CI", "true");
        let ran = command.output().unwrap();
        phases(&String::from_utf8(ran.stderr).unwrap())
    };
    assert_eq!(
        told(&["build", "--yes", SALES]),
        [
            "✓ clarification  no questions",
            "✓ research  1 node type: Slack",
            "✓ decision  a new workflow",
            "✓ build  orders-over-100-eur-to-slack: made, 3 nodes",
            "✓ validate  0 errors, 1 warning",
            "✓ test  not executed: the embedded backend cannot execute workflows",
        ]
    );
    let change = "post to #orders instead of #sales";
    let file = "workflows/orders-over-100-eur-to-slack.json";
    assert_eq!(
        told(&["build", "--yes", "--workflow", file, change]),
        [
            "✓ clarification  no questions",
            "✓ research  1 workflow that could be changed",
            "✓ decision  change workflows/orders-over-100-eur-to-slack.json",
            "✓ build  orders-over-100-eur-to-slack: written, 3 nodes",
            "✓ validate  0 errors, 1 warning",
            "✓ test  not executed: the embedded backend cannot execute workflows",
        ]
    );
    // What waits says in which phase.
    let waits = told(&[
        "build",
        "--plan",
        "--workflow",
        file,
        "post to #x instead of #orders",
    ]);
    assert_eq!(waits.last().unwrap(), "• build  waits for your answer");
    assert_eq!(told(&["build", "-q", "--yes", SALES]), [""; 0]);
}

/// What a pack says stands in its answer, and nowhere beside it.
#[test]
fn what_a_pack_says_is_told_once() {
    let wish = "I want to submit a request";
    for args in [
        &["chat", "front-door", wish][..],
        &["chat", "--session", "other", "hello"],
        &["run", "front-door", wish],
    ] {
        let ran = Project::new().run(args);
        assert!([0, 4].contains(&ran.code), "{args:?}: {}", ran.stderr);
        let mut said = ran.stdout.lines().filter(|line| !line.is_empty());
        let first = said.next().unwrap();
        let beside = ran.stderr.lines().find(|line| line.contains(first));
        assert_eq!(beside, None, "{args:?}: {first:?} again in {}", ran.stderr);
    }
}
