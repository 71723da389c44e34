//! What was done, told and taken back through the built binary: `log`, `diff`, `undo --to`.

use super::support::Project;
use agentctl_base::question::Outcome;
use agentctl_engine::store::{
    Event, Holder, Journal, Project as Store, ProjectLock, event::JOURNAL_VERSION,
};
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

const ORDERS: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";

/// A project where one run built a workflow and another changed it; its file.
fn changed() -> (Project, String) {
    let project = Project::new();
    let built = project.run(&["build", "--yes", ORDERS]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    let file = format!("workflows/{}", project.workflows()[0]);
    let ran = project.run(&[
        "build",
        "--yes",
        "--workflow",
        &file,
        "post to #orders instead of #sales",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    (project, file)
}

#[test]
fn the_numbers_of_the_log_are_those_that_undo_and_diff_take() {
    let (project, file) = changed();
    let after = project.read_json(&file);
    let log = project.run(&["log"]);
    assert_eq!(log.code, 0, "{}", log.stderr);
    for said in [
        "request: post to #orders instead of #sales",
        "builder → update_workflow",
        "allowed by builder: update-workflow",
        "change 1: ",
        "activation 1 ended: complete",
        "agentctl undo ",
    ] {
        assert!(log.stdout.contains(said), "{said:?} in\n{}", log.stdout);
    }
    assert!(
        !log.stdout.contains('\u{1b}'),
        "no colour without a terminal"
    );
    let shown = project.run(&[
        "runs",
        "show",
        log.stdout.split_whitespace().nth(5).unwrap(),
    ]);
    assert!(shown.stdout.contains("change 1: "), "{}", shown.stdout);

    let diff = project.run(&["diff"]);
    assert_eq!(diff.code, 0, "{}", diff.stderr);
    assert!(
        diff.stdout.contains("\"#sales\" → \"#orders\""),
        "{}",
        diff.stdout
    );

    let undone = project.run(&["undo"]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
    assert!(
        undone.stdout.contains("\"#orders\" → \"#sales\""),
        "{}",
        undone.stdout
    );
    assert!(
        undone.stdout.contains("--to 1 takes this undo back"),
        "{}",
        undone.stdout
    );
    assert_ne!(project.read_json(&file), after);
    let again = project.run(&["undo", "--to", "1", "--output-format", "json"]);
    assert_eq!(
        (again.code, again.json()["workflows"][0]["what"].clone()),
        (0, json!("put_back"))
    );
    assert_eq!(
        again.json()["workflows"][0]["changes"]["nodes_changed"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(project.read_json(&file), after);
    assert_eq!(project.run(&["undo", "--to", "9"]).code, 2);

    let history = project
        .run(&["log", "--workflow", &file, "--output-format", "json"])
        .json();
    let by: Vec<&Value> = history["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["by"])
        .collect();
    assert_eq!(
        by,
        [
            &json!({"tool": {"role": "builder", "tool": "create_workflow"}}),
            &json!({"tool": {"role": "builder", "tool": "update_workflow"}}),
            &json!("undo"),
            &json!("undo"),
        ]
    );
}

#[test]
fn an_edit_by_hand_is_refused_with_the_command_that_shows_it() {
    let (project, file) = changed();
    let text = std::fs::read_to_string(project.file(&file)).unwrap();
    project.write(&file, &text.replace("#orders", "#by-hand"));
    let refused = project.run(&["undo"]);
    assert_eq!(refused.code, 5, "{}", refused.stderr);
    let command = refused.stderr.split('`').nth(1).unwrap();
    let args: Vec<&str> = command.split_whitespace().skip(1).collect();
    let shown = project.run(&args);
    assert!(
        shown.stdout.contains("\"#sales\" → \"#by-hand\""),
        "{command}: {}",
        shown.stdout
    );
    let forced = project.run(&["undo", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    // What was there is a change with a number, and comes back.
    assert_eq!(project.run(&["undo", "--to", "2"]).code, 0);
    let back = std::fs::read_to_string(project.file(&file)).unwrap();
    assert!(back.contains("#by-hand"));
}

#[test]
fn the_log_in_json_has_every_record_from_the_number_on() {
    let (project, _) = changed();
    let whole = project.run(&["log", "--output-format", "json"]).json();
    let records = whole["records"].as_array().unwrap();
    let last = records.len() as u64;
    assert_eq!(records[0]["event"]["type"], "run_started");
    assert_eq!(
        (
            whole["outcome"].clone(),
            whole["changes"][0]["number"].clone()
        ),
        (json!("complete"), json!(1))
    );
    let since = (last - 1).to_string();
    let stream = project.run(&["log", "--since", &since, "--output-format", "stream-json"]);
    let lines: Vec<Value> = stream
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let types: Vec<&str> = lines.iter().map(|l| l["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["init", "run.ended", "activation.ended", "result"]);
    assert_eq!(lines[1]["seq"], last - 1);
    // The number of a change does not depend on where the log begins.
    let text = project.run(&["log", "--since", &since]).stdout;
    assert!(text.contains("(1 to 1; 0: as before the run)"), "{text}");
}

fn workflow(password: &str, text: &str) -> String {
    let node = json!({
        "id": "1", "name": "Call", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2,
        "position": [0, 0], "parameters": {"password": password, "body": text}
    });
    json!({"name": "Orders", "nodes": [node], "connections": {}}).to_string()
}

#[test]
fn two_files_are_compared_without_secrets_and_without_steering_the_terminal() {
    let project = Project::new();
    project.write("old.json", &workflow("first-secret-1", "plain"));
    project.write(
        "new.json",
        &workflow(
            "other-secret-2",
            "\u{9b}31mred \u{202e}turned canary-in-env-77",
        ),
    );
    let diff = |args: &[&str]| {
        let mut command = project.command(args);
        command.env("SHOP_API_KEY", "canary-in-env-77");
        super::support::Ran::from(command.output().unwrap())
    };
    for args in [
        &["diff", "old.json", "new.json"][..],
        &["diff", "old.json", "new.json", "--color", "always"],
        &["diff", "old.json", "new.json", "--output-format", "json"],
    ] {
        let ran = diff(args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for never in ["secret-1", "secret-2", "canary-in-env-77"] {
            assert!(!ran.stdout.contains(never), "{never} in {}", ran.stdout);
        }
        assert!(ran.stdout.contains("password"), "{}", ran.stdout);
    }
    let text = diff(&["diff", "old.json", "new.json"]).stdout;
    assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{1b}']), "{text:?}");
    assert_eq!(
        diff(&["diff", "old.json", "old.json"]).stdout,
        "no difference\n"
    );
    for wrong in [
        &["diff", "old.json"][..],
        &["diff", "old.json", "gone.json"],
        &["diff", "old.json", "new.json", "--to", "1"],
        &["diff", "--workflow", "nothing"],
    ] {
        assert_eq!(diff(wrong).code, 2, "{wrong:?}");
    }
}

/// A run of this process: its journal, open.
fn running(project: &Project, pid: u32) -> Journal {
    let store = Store::open(project.path()).unwrap();
    let mut journal =
        Journal::create(&store.run("20260101-000000-abcdef").unwrap().journal()).unwrap();
    let started = Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "0.1.0".into(),
        run_id: "20260101-000000-abcdef".into(),
        flow: "n8n-builder".into(),
        pack_hash: String::new(),
        input: Map::from_iter([("request".to_owned(), json!("tidy up"))]),
    };
    for event in [
        started,
        Event::ActivationStarted {
            activation: 1,
            kind: "start".into(),
            pid,
            means: None,
            order: None,
            heard: None,
        },
    ] {
        journal
            .append(jiff::Timestamp::UNIX_EPOCH, event, true)
            .unwrap();
    }
    journal
}

#[test]
fn a_follower_tells_what_another_process_does_until_that_ends() {
    let project = Project::new();
    let mut journal = running(&project, std::process::id());
    let store = Store::open(project.path()).unwrap();
    let holder = Holder {
        pid: std::process::id(),
        run_id: Some("20260101-000000-abcdef".into()),
        since: String::new(),
        host: None,
    };
    let _lock = ProjectLock::take(&store.lock_file(), &holder).unwrap();
    let mut child = project
        .command(&["log", "--follow"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("activation 1: start") {
        assert_ne!(told.read_line(&mut text).unwrap(), 0, "{text}");
    }
    assert!(text.contains("request: tidy up"), "{text}");
    for event in [
        Event::StepStarted {
            step: "clarify".into(),
        },
        Event::ActivationEnded {
            activation: 1,
            outcome: Outcome::Waiting,
            reason: None,
        },
    ] {
        journal
            .append(jiff::Timestamp::UNIX_EPOCH, event, true)
            .unwrap();
    }
    told.read_to_string(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        text.contains("clarify\n") && text.contains("activation 1 ended: waiting"),
        "{text}"
    );
}

#[test]
fn a_follower_of_a_killed_run_says_so_and_ends() {
    let project = Project::new();
    // No process has this number.
    drop(running(&project, u32::MAX));
    let ran = project.run(&["log", "--follow"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("it was killed") && ran.stdout.contains("agentctl resume"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_journal_that_was_tampered_with_is_told_up_to_there() {
    let (project, _) = changed();
    let store = Store::open(project.path()).unwrap();
    let run = store.run_ids().unwrap().pop().unwrap();
    let path = store.run(&run).unwrap().journal();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replacen("\"step\":\"clarify\"", "\"step\":\"skipped\"", 1),
    )
    .unwrap();
    let ran = project.run(&["log", &run]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("request: post to #orders"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("changed after it was written"),
        "{}",
        ran.stderr
    );
}

/// A journal whose end is lost tells what is left of it, and that it is.
#[test]
fn who_reads_a_journal_that_was_cut_off_is_told() {
    let (project, _) = changed();
    let list = project.run(&["runs", "list", "--output-format", "json"]);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let run = list["runs"][0]["run_id"].as_str().unwrap();
    let journal = format!("memory/runs/{run}/journal.jsonl");
    let text = std::fs::read_to_string(project.path().join(&journal)).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    project.write(&journal, &lines[..lines.len() - 5].concat());
    for command in ["log", "analyze", "status"] {
        let ran = project.run(&[command, run][..if command == "status" { 1 } else { 2 }]);
        let told = format!("records of run {run} are lost");
        assert!(ran.stderr.contains(&told), "{command}: {}", ran.stderr);
    }
}
