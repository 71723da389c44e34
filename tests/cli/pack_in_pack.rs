//! A tool that is a conversation with another pack: what that pack's turn asks stops the whole run, and the user's word goes on there.

use crate::support::{Project, Ran};
use serde_json::Value;

const TALK: &str = r#"tool_id: tell_desk
name: Tell the desk
description: Hands a wish to the desk. Use it when something is to be taken away.
category: domain-specific
keywords: [take, away]
parameters:
  message: {type: string, required: true, description: The wish}
bind: {tenant: "'t'", user: "'u'", conversation: session.id}
kind: pack
effect: changes
pack: {name: desk, message: "{message}", tenant: "{tenant}", user: "{user}", conversation: "{conversation}"}
limits: {timeout_s: 60}
"#;

const TAKE: &str = r#"tool_id: take_away
name: Take a thing away
description: Takes a thing away for good. Use it when the user wants it gone.
category: domain-specific
keywords: [take, away]
parameters:
  thing: {type: string, required: true, description: What}
kind: http
effect: changes
http: {method: POST, url: "${NO_SUCH_DESK}/take", body: {thing: "{thing}"}}
mock: mock.json
"#;

const LIMITS: &str = "limits: {max_turns: 10, max_model_calls: 5, max_tool_calls: 9, max_identical_calls: 3, max_tokens: 1000, max_cost_usd: 1, max_seconds: 60, max_approval_seconds: 600}\n";

fn office() -> Project {
    let project = Project::new();
    project.write(
        "packs/office/pack.yaml",
        "name: office\ntitle: Office\nentry: turn\n",
    );
    project.write(
        "packs/office/agents/turn.flow.yaml",
        "name: office\nsteps:\n  - {id: told, tool: tell_desk, role: program, args: {message: input.message}, on_failure: continue}\n  - {id: said, when: steps.told.status == 'done', say: {text: \"steps.told.output.output\"}}\n  - {id: not_said, when: steps.told.status != 'done', say: {text: \"'Not done: ' + steps.told.error\"}}\n",
    );
    project.write(
        "packs/office/agents/policy.yaml",
        &format!("roles:\n  program: {{can: [], tools: [tell_desk]}}\nrules: []\n{LIMITS}"),
    );
    project.write("packs/office/tools/tell_desk/tool.yaml", TALK);
    project.write(
        "packs/desk/pack.yaml",
        "name: desk\ntitle: Desk\nentry: turn\n",
    );
    project.write(
        "packs/desk/agents/turn.flow.yaml",
        "name: desk\nsteps:\n  - {id: first, tool: take_away, role: program, args: {thing: \"'the chair'\"}, on_failure: continue}\n  - {id: second, tool: take_away, role: program, args: {thing: input.message}, on_failure: continue}\n  - {id: said, say: {text: \"'First ' + steps.first.status + ', second ' + steps.second.status\"}}\n",
    );
    project.write(
        "packs/desk/agents/policy.yaml",
        &format!("roles:\n  program: {{can: [], tools: [take_away]}}\nrules:\n  - id: gone\n    effect: ask\n    tools: [take_away]\n    reason: what is taken away does not come back\n    match:\n      - {{role: program, tool: take_away, args: {{thing: chair}}}}\n    not_match: []\n{LIMITS}"),
    );
    project.write("packs/desk/tools/take_away/tool.yaml", TAKE);
    project.write("packs/desk/tools/take_away/mock.json", "{\"gone\": true}");
    let trusted = project.run(&["trust", "--yes"]);
    assert_eq!(trusted.code, 0, "{}", trusted.stderr);
    project
}

fn say(project: &Project, message: &str) -> Ran {
    project.run(&["chat", "office", message, "--output-format", "json"])
}

fn open(ran: &Ran) -> (String, String) {
    let result = ran.json();
    let question = match &result["question"] {
        Value::Null => &result["questions"][0],
        one => one,
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&result["run_id"]), text(&question["id"]))
}

/// Of the runs of a pack: what its tool's calls came to.
fn results(project: &Project, tool: &str) -> Vec<String> {
    let mut found = Vec::new();
    let runs = std::fs::read_dir(project.path().join("memory/runs")).unwrap();
    for run in runs {
        let journal = std::fs::read_to_string(run.unwrap().path().join("journal.jsonl")).unwrap();
        for line in journal.lines() {
            let event = serde_json::from_str::<Value>(line).unwrap()["event"].take();
            if event["type"] == "tool_finished" && event["result"]["name"] == tool {
                found.push(event["result"]["status"].as_str().unwrap().to_owned());
            }
        }
    }
    found
}

#[test]
fn an_approval_in_another_pack_stops_the_whole_run_and_it_goes_on_there() {
    let project = office();
    let stopped = say(&project, "the table");
    assert_eq!(stopped.code, 0, "{}{}", stopped.stdout, stopped.stderr);
    let (run, question) = open(&stopped);
    assert!(
        stopped
            .stdout
            .contains("What is taken away does not come back"),
        "{}",
        stopped.stdout
    );
    assert_eq!(results(&project, "tell_desk"), [""; 0]);
    assert_eq!(results(&project, "take_away"), [""; 0]);

    // Its second approval is another question.
    let again = project.run(&[
        "answer",
        &run,
        &format!("{question}=approve"),
        "--output-format",
        "json",
    ]);
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    assert_eq!(results(&project, "take_away"), ["ok"]);
    let (same, second) = open(&again);
    assert_eq!(same, run);
    assert_ne!(second, question);

    let done = project.run(&[
        "answer",
        &run,
        &format!("{second}=approve"),
        "--output-format",
        "json",
    ]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout.contains("First done, second done"),
        "{}",
        done.stdout
    );
    assert_eq!(results(&project, "take_away"), ["ok", "ok"]);
    assert_eq!(results(&project, "tell_desk"), ["ok"]);
}

#[test]
fn a_no_reaches_the_other_pack_and_its_conversation_goes_on() {
    let project = office();
    let stopped = say(&project, "the table");
    let (run, question) = open(&stopped);
    let refused = project.run(&[
        "answer",
        &run,
        &format!("{question}=refuse"),
        "--output-format",
        "json",
    ]);
    assert_eq!(refused.code, 0, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stdout.contains("Not done"), "{}", refused.stdout);
    assert_eq!(results(&project, "tell_desk"), ["refused"]);
    // The turn of the other pack asks for the second thing now, and nothing was taken.
    assert_eq!(results(&project, "take_away"), ["refused"]);
}
