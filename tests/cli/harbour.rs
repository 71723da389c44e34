//! `examples/harbour`: another company on the built-in packs, by its data alone.

use crate::support::Project;
use serde_json::Value;
use std::path::Path;

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let at = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &at),
            false => drop(std::fs::copy(entry.path(), at).unwrap()),
        }
    }
}

fn harbour() -> Project {
    let project = Project::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/harbour");
    copied(Path::new(example), project.path());
    let trusted = project.run(&["trust", "--yes"]);
    assert_eq!(trusted.code, 0, "{}", trusted.stderr);
    for pack in ["front-door", "research"] {
        let checked = project.run(&["packs", "check", pack]);
        assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    }
    project
}

/// The wish is said, the quay, how urgent it is, and who knows more; then the reply to the yes.
fn handed_in(project: &Project, wish: &str, urgency: &str) -> Value {
    let mut reply = Value::Null;
    for message in [
        "I want to submit a request",
        wish,
        "north quay",
        urgency,
        "Ada Berg",
        "yes",
    ] {
        let ran = project.run(&["chat", "front-door", message, "--output-format", "json"]);
        assert_eq!(ran.code, 0, "{message}: {}{}", ran.stdout, ran.stderr);
        reply = ran.json();
    }
    reply
}

fn said(reply: &Value) -> String {
    let messages = reply["messages"].as_array().unwrap();
    let texts = messages.iter().map(|m| m["text"].as_str().unwrap());
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_harbours_wish_is_assessed_and_drafted_by_data_alone() {
    let project = harbour();
    let wish =
        "When a webhook says that an order is paid in Navio, post it to the Slack channel #orders";
    let told = said(&handed_in(&project, wish, "this week"));
    assert!(
        told.contains("Handed in: memory/requests/port-it/"),
        "{told}"
    );
    assert!(
        told.contains("Port IT has a first draft: workflows/"),
        "{told}"
    );
    // Two documents of theirs agree on it, and speak against the wish.
    assert!(
        told.contains("“The orders of Navio come as one CSV file every night at 2:00.”")
            && told.contains("supported"),
        "{told}"
    );
    assert!(told.contains("Navio sends no webhook."), "{told}");
    assert_eq!(project.workflows().len(), 1);
}

#[test]
fn what_concerns_the_gates_waits_for_a_yes_and_the_crew_has_no_draft() {
    let project = harbour();
    let wish = "When a webhook names a lorry at the gate, post its number plate to the Slack channel #gates";
    let asks = handed_in(&project, wish, "this week");
    assert_eq!(asks["expects"], "approval", "{asks:#}");
    assert!(said(&asks).contains("Handed in: memory/requests/gates/"));
    assert!(project.workflows().is_empty());
    let run = asks["run_id"].as_str().unwrap();
    let answer = format!("{}=approve", asks["question"]["id"].as_str().unwrap());
    let done = project.run(&["answer", run, &answer, "--output-format", "json"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(
        said(&done.json()).contains("has a first draft: workflows/"),
        "{}",
        done.stdout
    );
    assert_eq!(project.workflows().len(), 1);

    let told = said(&handed_in(
        &project,
        "The lamps on the ladder of bollard 7 are broken, the crew should repair them",
        "today",
    ));
    assert!(
        told.contains("Handed in: memory/requests/quay-crew/"),
        "{told}"
    );
    assert_eq!(project.workflows().len(), 1);
}
