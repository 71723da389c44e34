//! Runs that are taken from one folder to another, and journals in a database that is not there. With one that is: tests/replicas/run.

use super::support::{Project, Ran};
use serde_json::Value;
use std::fs;
use std::process::Command;

const BUILD: [&str; 3] = [
    "build",
    "--yes",
    "Every day at 9:00 post \"hello\" to Slack #dev",
];

fn ran(command: &mut Command) -> Ran {
    command.output().unwrap().into()
}

/// The journal's lines without their marks, and the marks.
fn journal(project: &Project, run: &str) -> (Vec<Value>, Vec<Value>) {
    let text =
        fs::read_to_string(project.file(&format!("memory/runs/{run}/journal.jsonl"))).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let marks = lines
        .iter_mut()
        .map(|line| line.as_object_mut().unwrap().remove("mark").unwrap());
    let marks = marks.collect();
    (lines, marks)
}

#[test]
fn a_run_goes_to_another_folder_with_its_chain_and_is_its_users_there_and_nobody_elses() {
    let (from, to, other) = (Project::new(), Project::new(), Project::new());
    let built = from.run(&BUILD);
    assert!(matches!(built.code, 0 | 9), "{}", built.stderr);
    let run = fs::read_dir(from.file("memory/runs"))
        .unwrap()
        .next()
        .unwrap();
    let run = run.unwrap().file_name().into_string().unwrap();
    let file = from.file("run.jsonl");
    let file = file.to_str().unwrap();
    let out = from.run(&["runs", "export", &run, file, "--output-format", "json"]);
    assert_eq!(out.code, 0, "{}", out.stderr);
    assert_eq!(out.json()["exported"][0]["run"], *run);
    // What is there is not written over.
    assert_eq!(from.run(&["runs", "export", &run, file]).code, 1);

    // Another folder of the same user.
    let mine = |args: &[&str]| ran(to.command(args).env("AGENTCTL_HOME", from.home()));
    let came = mine(&["runs", "import", file, "--output-format", "json"]);
    assert_eq!(
        (came.code, &came.json()["imported"][0]["yours"]),
        (0, &Value::Bool(true)),
        "{}",
        came.stderr
    );
    let verified = mine(&["runs", "verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    let ((lines, marks), (were, marked)) = (journal(&to, &run), journal(&from, &run));
    assert_eq!(lines, were);
    assert_ne!(marks, marked);
    let again = mine(&["runs", "import", file]);
    assert!(again.stdout.contains("1 here already"), "{}", again.stdout);

    // Another user.
    let came = other.run(&["runs", "import", file, "--output-format", "json"]);
    assert_eq!(
        (came.code, &came.json()["imported"][0]["yours"]),
        (0, &Value::Bool(false)),
        "{}",
        came.stderr
    );
    assert!(came.stderr.contains("runs adopt"), "{}", came.stderr);
    assert_eq!(other.run(&["runs", "verify"]).code, 5);
    assert_eq!(journal(&other, &run), (were, marked));

    // A file that was changed on its way brings nothing.
    let text = fs::read_to_string(file).unwrap();
    let fresh = Project::new();
    let changed = fresh.write("changed.jsonl", &text.replace("#dev", "#all"));
    let refused = fresh.run(&["runs", "import", changed.to_str().unwrap()]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("changed.jsonl"),
        "{}",
        refused.stderr
    );
    assert!(!fresh.file("memory/runs").exists());
}

#[test]
fn a_database_for_journals_that_is_not_there_is_said_before_anything_is_done() {
    let project = Project::new();
    project.write("agentctl.toml", "[journal]\nurl_env = \"STORE\"\n");
    for args in [&BUILD[..], &["runs", "list"], &["undo"]] {
        let unset = project.run(args);
        assert_eq!(unset.code, 2, "{}", unset.stderr);
        assert!(
            unset.stderr.contains("STORE, which is not set"),
            "{}",
            unset.stderr
        );
        let mut command = project.command(args);
        command.env("STORE", "postgres://me:hidden-word@127.0.0.1:1/none");
        let away = ran(&mut command);
        assert_eq!(away.code, 7, "{}", away.stderr);
        assert!(
            away.stderr
                .contains("the journals in postgres://127.0.0.1:1/none cannot be reached"),
            "{}",
            away.stderr
        );
        assert!(!away.stderr.contains("hidden-word"), "{}", away.stderr);
    }
    assert!(!project.file("memory/runs").exists());
}

#[test]
fn settings_that_cannot_work_are_told_with_their_line() {
    let project = Project::new();
    for (settings, part) in [
        (
            "[journal]\nurl_env = \"STORE\"\nlease = 0\n",
            "agentctl.toml:3: `lease` is a number of seconds from 1 to 300",
        ),
        ("[journal]\nlease = 5\n", "url_env"),
        ("[journal]\nurl = \"postgres://x\"\n", "docs/scale.md"),
        ("[journal]\nurl_env = \"STORE\"\n", "[sessions] url_env"),
    ] {
        project.write("agentctl.toml", settings);
        let refused = project.run(&["serve", "--check"]);
        assert_eq!(refused.code, 2, "{settings}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(part),
            "{settings}: {}",
            refused.stderr
        );
    }
}
