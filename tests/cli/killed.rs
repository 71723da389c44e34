//! kill -9 of a whole process, at a named event of a build: the lock is free again, and the resume ends with the workflow of an
//! undisturbed run, once. What a journal cut at any place leaves is tried in `tests/run/crash.rs` and `tests/battery/crash.rs`.

use super::support::Project;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const REQUEST: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales and append it to the Google Sheet Orders";

/// The events at which a build is killed: before anything is made, with the change asked for, with it done, at the end.
const MOMENTS: [(&str, fn(&Value) -> bool); 4] = [
    ("the run started", |event| event["type"] == "run.started"),
    ("a change is about to be made", |event| {
        event["type"] == "tool.intent" && event["mutates"] == true
    }),
    ("a change was made", |event| {
        event["type"] == "tool.finished" && event["change"].is_object()
    }),
    ("the test", |event| {
        event["type"] == "stage.changed" && event["to"] == "test"
    }),
];

#[test]
fn a_killed_build_resumes_to_the_same_workflow() {
    let undisturbed = Project::new();
    let ran = undisturbed.run(&["build", "--yes", "--output-format", "json", REQUEST]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let expected = ran.json()["workflow"]["graph_hash"].clone();
    assert!(expected.is_string());

    for (moment, is_now) in MOMENTS {
        let project = Project::new();
        let mut child = project
            .command(&["build", "--yes", "--output-format", "stream-json", REQUEST])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut events = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap());
        assert!(events.any(|event| is_now(&event)), "never: {moment}");
        child.kill().unwrap();
        child.wait().unwrap();

        let resumed = project.run(&["resume", "--yes", "--output-format", "json"]);
        assert_eq!(resumed.code, 0, "{moment}: {}", resumed.stderr);
        assert_eq!(
            resumed.json()["workflow"]["graph_hash"],
            expected,
            "{moment}"
        );
        assert_eq!(project.workflows().len(), 1, "{moment}");
        let verified = project.run(&["runs", "verify"]);
        assert_eq!(verified.code, 0, "{moment}: {}", verified.stdout);
    }
}

/// A killed `init` leaves what it was writing beside the file that it wrote, in whatever folder that is.
#[test]
fn what_a_killed_init_left_is_removed_by_the_next() {
    let project = Project::new();
    let left = ["memory/.README.md.1-0.tmp", ".agentctl.toml.1-1.tmp"];
    for name in left {
        project.write(name, "a part");
    }
    assert_eq!(project.run(&["init"]).code, 0);
    for name in left {
        assert!(!project.file(name).exists(), "{name}");
    }
}

/// One that was killed before it wrote what a file is to hold left it empty; what the user wrote stays as it is.
#[test]
fn what_a_killed_init_left_empty_is_filled_by_the_next() {
    let whole = Project::new();
    assert_eq!(whole.run(&["init"]).code, 0);
    let names = [
        "agentctl.toml",
        ".gitignore",
        "memory/README.md",
        "memory/.gitignore",
        ".mcp.json.example",
        ".mcp.json.full.example",
    ];
    let project = Project::new();
    for name in names {
        project.write(name, "");
    }
    assert_eq!(project.run(&["init"]).code, 0);
    let text = |project: &Project, name: &str| std::fs::read_to_string(project.file(name)).unwrap();
    for name in names {
        assert!(!text(&project, name).is_empty(), "{name}");
        assert_eq!(text(&project, name), text(&whole, name), "{name}");
    }
    project.write("agentctl.toml", "# mine\n");
    assert_eq!(project.run(&["init"]).code, 0);
    assert_eq!(text(&project, "agentctl.toml"), "# mine\n");
}
