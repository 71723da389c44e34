//! Turns of kept conversations, each through the built program: what a script gets, and what stays.

use crate::support::Project;
use serde_json::{Value, json};

fn turn(project: &Project, session: &str, message: &str) -> Value {
    let args = [
        "chat",
        "front-door",
        "--session",
        session,
        "--output-format",
        "json",
    ];
    let ran = project.run(&[&args[..], &[message]].concat());
    assert_eq!(ran.code, 0, "{message}: {}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

fn said(reply: &Value) -> Vec<&str> {
    let messages = reply["messages"].as_array().unwrap();
    messages
        .iter()
        .map(|m| m["text"].as_str().unwrap())
        .collect()
}

#[test]
fn a_reply_has_each_key_that_scripts_read() {
    let project = Project::new();
    let reply = turn(
        &project,
        "ann",
        "I want to submit a request: the form for new customers is too long",
    );
    let keys: Vec<&String> = reply.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "run_id",
            "session_id",
            "task_id",
            "pack",
            "outcome",
            "route",
            "messages",
            "output",
            "state",
            "expects",
            "question",
            "usage",
            "exit_code"
        ]
    );
    assert_eq!(reply["route"], "elicitation");
    assert_eq!(reply["state"]["mode"], "ELICITATION");
    assert_eq!(reply["expects"], "nothing");
}

#[test]
fn a_command_is_a_turn_without_a_model_and_changes_only_what_it_says() {
    let project = Project::new();
    let first = turn(
        &project,
        "ann",
        "I want to submit a request: the form for new customers is too long",
    );
    let mut runs = vec![first["run_id"].clone()];
    for command in ["/help", "/log", "/usage", "/compact", " /HELP "] {
        let reply = turn(&project, "ann", command);
        assert_eq!(reply["usage"]["model_calls"], 0, "{command}");
        assert_eq!(reply["route"], Value::Null, "{command}");
        assert_eq!(reply["state"], first["state"], "{command}");
        assert!(!runs.contains(&reply["run_id"]), "{command}");
        runs.push(reply["run_id"].clone());
    }
    let shown = project.run(&["sessions", "show", "ann", "--output-format", "json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["messages"].as_array().unwrap().len(), 2);
    let cleared = turn(&project, "ann", "/clear");
    assert_eq!(cleared["state"], json!({}));
    assert_eq!(said(&cleared), ["The conversation has been cleared."]);
}

#[test]
fn a_request_of_another_session_is_not_seen() {
    let project = Project::new();
    turn(
        &project,
        "ann",
        "I want to submit a request: the form for new customers is too long",
    );
    let other = turn(&project, "bob", "hello");
    assert_eq!(other["state"]["mode"], "CHAT");
    assert_eq!(other["state"].get("collected"), None);
}

#[test]
fn an_empty_message_changes_nothing_and_a_long_one_is_refused() {
    let project = Project::new();
    let first = turn(
        &project,
        "ann",
        "I want to submit a request: the form for new customers is too long",
    );
    let empty = turn(&project, "ann", "  ");
    assert_eq!(empty["state"], first["state"]);
    assert_eq!(empty["usage"]["model_calls"], 0);
    let shown = project.run(&["sessions", "show", "ann", "--output-format", "json"]);
    assert_eq!(shown.json()["messages"].as_array().unwrap().len(), 2);
    let long = "x".repeat(20_001);
    let ran = project.run(&["chat", "front-door", "--session", "ann", &long]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("20001 characters"), "{}", ran.stderr);
}

#[test]
fn a_conversation_is_imported_only_for_a_pack_that_there_is() {
    let project = Project::new();
    turn(&project, "ann", "hello");
    let file = project.file("ann.json");
    let file = file.to_str().unwrap();
    let ran = project.run(&["sessions", "export", "ann", "--to", file]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let import = |pack: &str| project.run(&["sessions", "import", pack, "bob", "--from", file]);
    let ran = import("frontdoor");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    insta::assert_snapshot!(ran.stderr, @r#"
    error: there is no pack "frontdoor"
    hint: packs: assistant, front-door, n8n-builder, n8n-copilot, research; did you mean "front-door"?
    "#);
    assert_eq!(import("front-door").code, 0);
}

#[test]
fn a_key_that_somebody_types_is_kept_nowhere() {
    let project = Project::new();
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    turn(&project, "ann", &format!("my key is {secret}"));
    let found = std::process::Command::new("grep")
        .args(["-rl", secret])
        .arg(project.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn a_field_that_no_longer_fits_is_set_back_and_said() {
    let project = Project::new();
    turn(
        &project,
        "ann",
        "I want to submit a request: the form for new customers is too long, it is nice to have",
    );
    let fields = "- {name: title, label: Title, type: text, required: true, ask: false}\n- {name: place, label: Place, type: text, required: true, question: Where?}\n";
    project.write("packs/front-door/data/fields.yaml", fields);
    let trusted = project.run(&["trust", "--yes"]);
    assert_eq!(trusted.code, 0, "{}", trusted.stderr);
    let reply = turn(&project, "ann", "hello");
    assert!(said(&reply)[0].contains("collected"), "{reply}");
    assert_eq!(reply["state"].get("collected"), None);
}
