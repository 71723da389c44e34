//! The phases of a turn of the pack n8n-copilot: flows of their own, one agent instead of them, what a person sees of them, and a
//! kill between them.

use crate::models::fits_the_schema;
use crate::support::{Project, Ran};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const FORM: &str =
    "When a form comes in, store it in the Postgres table leads and tell #sales on Slack.";
const TEAMS: &str = "Use Microsoft Teams instead of Slack.";

fn chat<'a>(format: &'a str, more: &[&'a str], message: &'a str) -> Vec<&'a str> {
    let mut args = vec!["chat", "--session", "s", "--output-format", format];
    args.extend(more);
    args.push(message);
    args
}

fn lines(ran: &Ran) -> Vec<Value> {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines = ran.stdout.lines();
    lines.map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn say(project: &Project, message: &str) -> Value {
    let ran = project.run(&chat("json", &[], message));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json()
}

fn hash(project: &Project, reply: &Value) -> Value {
    assert_eq!(project.workflows().len(), 1);
    let hash = reply["output"]["workflow"]["graph_hash"].clone();
    assert!(hash.is_string(), "{reply:#}");
    hash
}

#[test]
fn each_phase_is_a_flow_of_its_own_with_what_it_was_given() {
    let project = Project::new();
    let events = lines(&project.run(&chat("stream-json", &["--events", "all"], FORM)));
    fits_the_schema(&events);
    let started = events.iter().filter(|e| e["type"] == "step.started");
    let steps: Vec<&str> = started.map(|e| e["step"].as_str().unwrap()).collect();
    let phases = [
        "phases[1]/discovering/discovery/for_new",
        "phases[2]/building/builder/make",
        "phases[3]/configuring/configurator/configure",
    ];
    for phase in phases {
        assert!(steps.contains(&phase), "{phase}: {steps:?}");
    }
    let result = events.last().unwrap();
    assert_eq!(result["type"], "result");
    let log = result["state"]["coordination"].as_array().unwrap();
    let found = log[0]["output"].as_array().unwrap();
    let named: Vec<&str> = found
        .iter()
        .map(|f| f["nodeName"].as_str().unwrap())
        .collect();
    assert_eq!(
        named,
        [
            "n8n-nodes-base.formTrigger",
            "n8n-nodes-base.postgres",
            "n8n-nodes-base.slack"
        ]
    );
}

#[test]
fn a_person_sees_of_a_turn_what_is_said_done_and_changed_and_no_inner_words() {
    let project = Project::new();
    let made = lines(&project.run(&chat("stream-json", &[], FORM)));
    let exchanged = lines(&project.run(&chat("stream-json", &[], TEAMS)));
    for events in [&made, &exchanged] {
        fits_the_schema(events);
        let kinds: BTreeSet<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
        let seen = ["done", "init", "message", "tool", "workflow-updated"];
        assert_eq!(kinds, BTreeSet::from(seen));
        assert_eq!(events[0]["type"], "init");
        let done = events.last().unwrap();
        assert_eq!(
            (&done["type"], &done["outcome"], &done["exit_code"]),
            (&"done".into(), &"complete".into(), &0.into())
        );
        let messages = events.iter().filter(|e| e["type"] == "message");
        assert_eq!(messages.count(), 1);
        let whole = serde_json::to_string(events).unwrap();
        for inner in ["reasoning", "nodes_found", "summary", "coordination"] {
            assert!(!whole.contains(inner), "{inner}: {whole}");
        }
    }
    let updated = exchanged.iter().find(|e| e["type"] == "workflow-updated");
    let diff = updated.unwrap()["diff"].as_array().unwrap();
    let diff: Vec<&str> = diff.iter().map(|l| l.as_str().unwrap()).collect();
    assert!(
        diff.iter()
            .any(|line| line.starts_with("+ node \"Microsoft Teams")),
        "{diff:?}"
    );
    let last = exchanged.iter().rev();
    let last = last.clone().find(|e| e["type"] == "workflow-updated");
    assert_eq!(
        last.unwrap()["graph_hash"],
        exchanged.last().unwrap()["workflow"]["graph_hash"]
    );
    let titles: Vec<&str> = exchanged
        .iter()
        .filter(|e| e["type"] == "tool" && e["status"] == "running")
        .map(|e| e["title"].as_str().unwrap())
        .collect();
    assert!(titles.contains(&"Edit structure"), "{titles:?}");
}

#[test]
fn one_agent_does_the_same_where_the_settings_say_so() {
    let (many, one) = (Project::new(), Project::new());
    one.write(
        "packs/n8n-copilot/data/settings.yaml",
        "multi_agent: false\n",
    );
    let messages = [
        FORM,
        TEAMS,
        "Where does the form's data get stored?",
        "Undo that, please.",
    ];
    for message in messages {
        let (of_many, of_one) = (say(&many, message), say(&one, message));
        assert_eq!(of_one["route"], Value::Null, "{message}: {of_one:#}");
        assert_eq!(
            of_one["state"]["coordination"],
            serde_json::json!([]),
            "{message}"
        );
        assert_eq!(
            hash(&one, &of_one),
            hash(&many, &of_many),
            "{message}: {of_one:#}"
        );
        assert_eq!(
            of_one["messages"][0]["text"], of_many["messages"][0]["text"],
            "{message}"
        );
    }
    // The same guards hold: the one agent's calls are the same tools.
    let broken = Project::new();
    broken.write(
        "packs/n8n-copilot/data/settings.yaml",
        "multi_agent: perhaps\n",
    );
    let ran = broken.run(&chat("json", &[], FORM));
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("packs/n8n-copilot/data/settings.yaml:1:14"),
        "{}",
        ran.stderr
    );
}

/// The ends of the phases, as the journal has them.
const MOMENTS: [&str; 4] = [
    "supervise",
    "phases[1]/discovering/discovered",
    "phases[2]/building/built",
    "phases[3]/configuring/configured",
];

#[test]
fn a_turn_that_was_killed_between_two_phases_ends_with_the_same_workflow() {
    let undisturbed = Project::new();
    let expected = hash(&undisturbed, &say(&undisturbed, FORM));
    for moment in MOMENTS {
        let project = Project::new();
        let mut child = project
            .command(&chat("stream-json", &["--events", "all"], FORM))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut events = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let is_now = |event: Value| event["step"] == moment && event["type"] != "step.started";
        assert!(events.any(is_now), "never: {moment}");
        child.kill().unwrap();
        child.wait().unwrap();
        // Sent again, it is the same turn.
        let again = say(&project, FORM);
        assert_eq!(hash(&project, &again), expected, "{moment}");
        let phases = again["state"]["coordination"].as_array().unwrap().iter();
        let phases: Vec<&str> = phases.map(|e| e["phase"].as_str().unwrap()).collect();
        assert_eq!(phases, ["discovery", "builder", "configurator"], "{moment}");
        let verified = project.run(&["runs", "verify"]);
        assert_eq!(verified.code, 0, "{moment}: {}", verified.stdout);
        // And the conversation goes on.
        assert_eq!(say(&project, TEAMS)["route"], "discovery", "{moment}");
    }
}
