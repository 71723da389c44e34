//! A run that ends `partial`: QA, a scripted model, says that one requirement is not in the workflow and cannot be built.

use crate::models::configured;
use crate::support::{Project, Ran};
use crate::wire::{Says, Server, openai};
use crate::wires::KEY;
use serde_json::{Value, json};

const REQUEST: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";

fn verdict(nodes: [&[&str]; 3]) -> String {
    let rows = nodes.iter().zip(1..).map(|(nodes, number)| match nodes {
        [] => json!({"requirement": number, "nodes": [], "missing": "n8n has no node that knows the rate of the euro"}),
        nodes => json!({"requirement": number, "nodes": nodes}),
    });
    let rows: Vec<Value> = rows.collect();
    json!({"qa_report": {"status": "pass"}, "coverage": rows, "edit_scope": []}).to_string()
}

/// Everybody is offline but QA, which says these things one after the other.
fn judged_by(says: &[&str]) -> (Server, Project) {
    let answers = says.iter().map(|said| {
        openai(Says {
            words: &[said],
            ..Says::default()
        })
    });
    let server = Server::new(answers.collect());
    let project = configured(&server);
    let settings = std::fs::read_to_string(project.file("agentctl.toml")).unwrap();
    let qa = settings.replace("default = \"mine::m\"", "[models.agents]\nqa = \"mine::m\"");
    project.write("agentctl.toml", &qa);
    (server, project)
}

fn build(project: &Project, format: &str) -> Ran {
    let args = [
        "build",
        "--yes",
        "--no-input",
        "--output-format",
        format,
        REQUEST,
    ];
    let mut command = project.command(&args);
    command.env("MINE_SECRET", KEY).output().unwrap().into()
}

#[test]
fn what_could_not_be_built_ends_a_run_as_partial_with_its_own_code() {
    let said = verdict([&["Webhook"], &[], &["Slack: Send message"]]);
    let (_server, project) = judged_by(&[&said]);
    let ran = build(&project, "json");
    assert_eq!(ran.code, 9, "{}\n{}", ran.stdout, ran.stderr);
    let told = ran.json();
    assert_eq!(
        (
            &told["outcome"],
            &told["exit_code"],
            &told["qa_report"]["not_covered"]
        ),
        (
            &json!("partial"),
            &json!(9),
            &json!([{"requirement": "When a webhook receives an order over 100 EUR", "missing": "n8n has no node that knows the rate of the euro"}])
        )
    );
    assert_eq!(told["workflow"]["draft"], false);
    assert_eq!(project.workflows().len(), 1, "what could be built is there");
    // Told again by those who look later.
    let status = project.run(&["status", "--output-format", "json"]);
    assert_eq!(status.json()["outcome"], "partial", "{}", status.stdout);
    let analysis = project.run(&["analyze"]);
    assert!(
        analysis
            .stdout
            .contains("not all of the request is in what was made"),
        "{}",
        analysis.stdout
    );
}

#[test]
fn the_first_line_of_a_partial_run_names_what_is_missing() {
    let said = verdict([&["Webhook"], &[], &["Slack: Send message"]]);
    let (_server, project) = judged_by(&[&said]);
    let ran = build(&project, "text");
    assert_eq!(ran.code, 9, "{}\n{}", ran.stdout, ran.stderr);
    let first = ran.stdout.lines().next().unwrap();
    assert!(
        first.contains("built 2 of 3")
            && first.contains("n8n has no node that knows the rate of the euro"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_verdict_that_leaves_a_requirement_out_or_names_a_node_that_is_not_there_is_asked_for_again() {
    let wrong = verdict([&["Webhook"], &["Only big ones"], &["Slack: Send message"]]);
    let right = verdict([
        &["Webhook"],
        &["Only amount > 100"],
        &["Slack: Send message"],
    ]);
    let (server, project) = judged_by(&[&wrong, &right]);
    let ran = build(&project, "json");
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["outcome"], "complete");
    let asked = server.seen();
    assert_eq!(asked.len(), 2);
    assert!(
        asked[1]
            .body
            .to_string()
            .contains("coverage names a node that the workflow does not have")
    );
}
