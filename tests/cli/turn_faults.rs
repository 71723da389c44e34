//! Turns that come to nothing, each through the built program: which exit code says so, and that nothing was lost or half done.

use crate::models::configured;
use crate::support::{Project, Ran};
use crate::wire::{Reply, Server};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WISH: &str = "I want to submit a request: the form for new customers is too long";

fn chat<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let args = ["chat", "front-door", "--session", "ann"];
    let rest = ["--output-format", "json", WISH];
    [&args[..], more, &rest[..]].concat()
}

fn ran(command: &mut Command) -> Ran {
    command.env("MINE_SECRET", "s").output().unwrap().into()
}

fn runs(project: &Project) -> usize {
    let runs = std::fs::read_dir(project.file("memory/runs"));
    runs.map_or(0, Iterator::count)
}

#[test]
fn a_model_that_is_gone_leaves_a_turn_that_the_same_message_goes_on_with() {
    let server = Server::new(vec![Reply::error(401, "no such key")]);
    let project = configured(&server);
    let failed = ran(&mut project.command(&chat(&[])));
    assert_eq!(failed.code, 6, "{}", failed.stderr);
    assert!(
        failed.stderr.contains("send the same message again"),
        "{}",
        failed.stderr
    );
    let (first, _) = failed.stderr.split_once(" (front-door)").unwrap();
    let first = first.rsplit(' ').next().unwrap();
    let again = ran(&mut project.command(&chat(&["--model", "offline"])));
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(again.json()["run_id"], first);
    assert_eq!(runs(&project), 1);
    let kept = project.run(&["sessions", "show", "ann", "--output-format", "json"]);
    assert_eq!(kept.json()["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn a_turn_that_another_process_holds_is_busy_and_nothing_is_done() {
    let server = Server::new(vec![Reply::text("").hanging()]);
    let project = configured(&server);
    let mut holder = project
        .command(&chat(&[]))
        .env("MINE_SECRET", "s")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while server.seen().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let began = Instant::now();
    let busy = ran(&mut project.command(&chat(&["--model", "offline"])));
    let waited = began.elapsed();
    let told: Value = busy.json();
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(busy.code, 7, "{}", busy.stderr);
    let why = told["error"]["message"].as_str().unwrap();
    assert!(
        why.starts_with("busy: ") && why.contains("nothing was done"),
        "{why}"
    );
    assert!(waited >= Duration::from_secs(10), "{waited:?}");
    assert_eq!(runs(&project), 1);
    let kept = project.run(&["sessions", "show", "ann", "--output-format", "json"]);
    assert_eq!(kept.json()["messages"], Value::Array(Vec::new()));
}

#[test]
fn a_store_that_cannot_be_reached_is_said_before_anything_is_done() {
    let project = Project::new();
    project.write("agentctl.toml", "[sessions]\nurl_env = \"STORE\"\n");
    for args in [&chat(&[])[..], &["sessions", "list"]] {
        let mut command = project.command(args);
        command.env("STORE", "postgres://me:hidden-word@127.0.0.1:1/none");
        let failed = ran(&mut command);
        assert_eq!(failed.code, 7, "{}", failed.stderr);
        assert!(
            failed.stderr.contains("cannot be reached"),
            "{}",
            failed.stderr
        );
        assert!(!failed.stderr.contains("hidden-word"), "{}", failed.stderr);
    }
    assert_eq!(runs(&project), 0);
}

#[test]
fn a_name_that_nobody_has_is_told_with_the_nearest_one() {
    let project = Project::new();
    let begun = ["chat", "front-door", "--session", "helen", "hello"];
    assert_eq!(project.run(&begun).code, 0);
    for (args, near) in [
        (&["chat", "front-dor", "hello"][..], "front-door"),
        (&["run", "front-dor", "hello"], "front-door"),
        (&["run", "front-door/turm", "hello"], "turn"),
        (&["sessions", "show", "hellen"], "helen"),
        (&["sessions", "delete", "hellen"], "helen"),
    ] {
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        let told = format!("did you mean {near:?}?");
        assert!(ran.stderr.contains(&told), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_mistake_in_a_file_of_data_is_told_with_its_file_and_line() {
    for (file, text, at) in [
        (
            "fields",
            "- name: title\n  label: Title\n  type: textt\n",
            "3:9",
        ),
        ("fields", "- name: title\n  label: [\n", "2:10"),
        ("fields", "- name: title\n- label: No name\n", "2:3"),
        (
            "fields",
            "- name: title\n- {name: risk, type: choice}\n",
            "2:3",
        ),
        ("fields", "- name: title\n  required: maybe\n", "2:13"),
        ("teams", "- id: ops\n  name: Ops\n- id: io\n", "3:3"),
        ("texts", "happy: Fine?\nreview:\n  en: [Here]\n", "3:3"),
    ] {
        let project = Project::new();
        let path = format!("packs/front-door/data/{file}.yaml");
        project.write(&path, text);
        let place = format!("{path}:{at}: ");
        for args in [&chat(&[])[..], &["packs", "check", "front-door"]] {
            let ran = project.run(args);
            assert_eq!(ran.code, 2, "{text}: {}", ran.stderr);
            let told = ran.stderr + &ran.stdout;
            assert!(told.contains(&place), "{text}: {told}");
            assert!(!told.contains("turn.flow.yaml"), "{text}: {told}");
        }
        assert_eq!(runs(&project), 0);
    }
}
