//! Builds by one agent instead of five (`multi_agent: false`), a scripted model: the same questions, refusals, outcomes, cycles and
//! guards as with five. What it does when all goes well is recorded (`conversations.rs`).

use crate::models::configured;
use crate::support::{Project, Ran};
use crate::wire::{Reply, Says, Server, openai};
use crate::wires::KEY;
use serde_json::{Value, json};

const REQUEST: &str =
    "When a webhook gets a sensor reading, insert it into the MongoDB collection readings";

fn said(answer: &Value) -> Reply {
    let words = answer.to_string();
    openai(Says {
        words: &[&words],
        ..Says::default()
    })
}

fn called(tool: &str, args: &Value) -> Reply {
    let args = args.to_string();
    openai(Says {
        calls: &[(tool, &args)],
        ..Says::default()
    })
}

/// One agent that says these things one after the other.
fn build(says: Vec<Reply>, more: &[&str]) -> (Server, Project, Ran) {
    let server = Server::new(says);
    let project = configured(&server);
    project.write("agents/settings.yaml", "multi_agent: false\n");
    let ran = again(
        &project,
        &[&["build", "--no-input", REQUEST], more].concat(),
    );
    (server, project, ran)
}

fn again(project: &Project, args: &[&str]) -> Ran {
    let mut command = project.command(&[args, &["--output-format", "json"]].concat());
    command.env("MINE_SECRET", KEY).output().unwrap().into()
}

fn requirements() -> Value {
    json!({"goal": "store readings", "trigger": "a webhook", "steps": ["insert into readings"], "constraints": [], "questions": []})
}

fn create(collection: &str) -> Reply {
    called(
        "create_workflow",
        &json!({"name": "Readings", "nodes": [
            {"name": "Reading", "type": "n8n-nodes-base.webhook", "typeVersion": 2.1, "parameters": {"httpMethod": "POST", "path": "reading"}},
            {"name": "Insert", "type": "n8n-nodes-base.mongoDb", "typeVersion": 1.2, "parameters": {"operation": "insert", "collection": collection, "fields": "temp"}},
        ], "connections": {"Reading": {"main": [[{"node": "Insert", "type": "main", "index": 0}]]}}, "todo": []}),
    )
}

fn rows(second: &Value) -> Value {
    json!([{"requirement": 1, "nodes": ["Reading"]}, second])
}

fn done(second: &Value, more: &Value) -> Reply {
    let mut workflow = json!({"id": "readings", "todo": ["Attach a MongoDB credential."]});
    let more = more.as_object().unwrap().clone();
    workflow.as_object_mut().unwrap().extend(more);
    said(&json!({"requirements": requirements(), "workflow": workflow, "coverage": rows(second)}))
}

fn inserts() -> Value {
    json!({"requirement": 2, "nodes": ["Insert"]})
}

fn set(collection: &str) -> Reply {
    called(
        "update_workflow",
        &json!({"workflow_id": "readings", "why": "it has to be set", "ops": [
            {"op": "set_parameter", "node": "Insert", "pointer": "/collection", "value": collection}]}),
    )
}

fn mended(fixes: &Value) -> Reply {
    said(
        &json!({"workflow": {"id": "readings", "todo": []}, "coverage": rows(&inserts()), "fixes_tried": fixes}),
    )
}

#[test]
fn what_it_cannot_know_it_asks_before_it_builds() {
    let mut asks = requirements();
    asks["questions"] = json!([{"id": "q1", "topic": "collection", "text": "Which collection?"}]);
    let asks = said(&json!({"requirements": asks}));
    let (server, project, ran) = build(
        vec![asks, create("readings"), done(&inserts(), &json!({}))],
        &[],
    );
    assert_eq!(ran.code, 4, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["questions"][0]["topic"], "collection");
    assert_eq!(project.workflows(), Vec::<String>::new());
    let run = ran.json()["run_id"].as_str().unwrap().to_owned();
    let ran = again(&project, &["answer", &run, "collection=readings"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(project.workflows().len(), 1);
    let asked = server.seen();
    assert!(asked[1].body.to_string().contains("Which collection?"));
    // Taken back as any other run.
    let undone = project.run(&["undo"]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
    assert_eq!(project.workflows(), Vec::<String>::new());
}

#[test]
fn its_builds_end_as_those_of_five_do() {
    let refuses = json!({"goal": "x", "questions": [], "refusal": {"reason": "a key would stand in the workflow"}});
    let missing = json!({"requirement": 2, "nodes": [], "missing": "n8n has no such node"});
    let ghost = json!({"requirement": 2, "nodes": ["Nobody"]});
    let part = json!({"not_understood": ["sensor reading"]});
    let none = json!({});
    for (says, outcome, code) in [
        (
            vec![create("readings"), done(&inserts(), &none)],
            "complete",
            0,
        ),
        (vec![said(&json!({"requirements": refuses}))], "refused", 5),
        (
            vec![create("readings"), done(&missing, &none)],
            "partial",
            9,
        ),
        (vec![create("readings"), done(&ghost, &none)], "partial", 9),
        (
            vec![create("readings"), done(&inserts(), &part)],
            "draft",
            9,
        ),
    ] {
        let (_, _, ran) = build(says, &["--yes"]);
        let told = ran.json();
        assert_eq!(
            (&told["outcome"], ran.code),
            (&json!(outcome), code),
            "{}\n{}",
            ran.stdout,
            ran.stderr
        );
    }
}

#[test]
fn it_mends_inside_the_scope_and_is_blocked_after_three_cycles() {
    let outside = called(
        "update_workflow",
        &json!({"workflow_id": "readings", "ops": [
            {"op": "set_parameter", "node": "Reading", "pointer": "/path", "value": "other"}]}),
    );
    let fixes = json!([{"change": "the collection is set"}]);
    let says = vec![
        create(""),
        done(&inserts(), &json!({})),
        outside,
        set("readings"),
        mended(&fixes),
    ];
    let (server, project, ran) = build(says, &["--yes"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let refused = server.seen()[3].body.to_string();
    assert!(refused.contains("guard.edit_scope"), "{refused}");
    let workflow = project.read_json("workflows/readings.json");
    assert_eq!(workflow["nodes"][0]["parameters"]["path"], "reading");
    assert_eq!(workflow["nodes"][1]["parameters"]["collection"], "readings");

    let nothing = json!([]);
    let says = vec![
        create(""),
        done(&inserts(), &json!({})),
        mended(&nothing),
        mended(&nothing),
        said(
            &json!({"root_cause": {"summary": "no collection", "evidence": []}, "proposed_learnings": []}),
        ),
    ];
    let (_, _, ran) = build(says, &["--yes"]);
    assert_eq!(ran.code, 3, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["qa_report"]["cycle"], 3);
}

#[test]
fn what_it_says_is_held_against_what_it_did() {
    // Nothing was written; then a row for each requirement is missing; then a workflow that was there before is changed.
    let nothing = done(&inserts(), &json!({}));
    let short = said(
        &json!({"requirements": requirements(), "workflow": {"id": "readings"}, "coverage": [{"requirement": 1, "nodes": ["Reading"]}]}),
    );
    let says = vec![
        nothing,
        create("readings"),
        short,
        done(&inserts(), &json!({})),
    ];
    let (server, _, ran) = build(says, &["--yes"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let asked = server.seen();
    let heard =
        |at: usize, what: &str| assert!(asked[at].body.to_string().contains(what), "{what}");
    heard(1, "nothing was created or changed in this run");
    heard(3, "coverage must have one row for each of the requirements");
}
