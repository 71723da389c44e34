//! Requests of one's own, run and scored.

use crate::models;
use crate::support::{Project, Ran};
use crate::wire::{Reply, Server};
use crate::wires::KEY;
use serde_json::json;

/// One request that the offline model builds whole, one that it asks about, and a change.
pub const REQUESTS: &str = r##"[
  {"id": "r01", "kind": "build", "lang": "en",
   "request": "When a webhook receives an order over 100 EUR, post it to Slack #sales",
   "expect": {
     "trigger": {"any_of": ["n8n-nodes-base.webhook"]},
     "nodes": [{"any_of": ["n8n-nodes-base.slack"], "contains": ["sales"]}],
     "conditions": [{"node": {"any_of": ["n8n-nodes-base.if", "n8n-nodes-base.filter"]}, "must_contain": ["100"]}]}},
  {"id": "r02", "kind": "build", "lang": "en",
   "request": "When a webhook receives an order, post it to Slack #sales",
   "expect": {
     "trigger": {"any_of": ["n8n-nodes-base.webhook"]},
     "nodes": [{"any_of": ["n8n-nodes-base.telegram"]}],
     "values": ["sales"]}},
  {"id": "r03", "kind": "modify", "lang": "de",
   "request": "run it at 8:30 instead of 9:00",
   "existing": {"name": "Morning", "settings": {}, "nodes": [
     {"id": "a", "name": "Every day", "type": "n8n-nodes-base.scheduleTrigger", "typeVersion": 1.2, "position": [0, 0],
      "parameters": {"rule": {"interval": [{"triggerAtHour": 9}]}}},
     {"id": "b", "name": "Tell", "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "position": [220, 0],
      "parameters": {"select": "channel", "channelId": {"__rl": true, "mode": "name", "value": "#sales"}, "text": "Good morning"}}],
     "connections": {"Every day": {"main": [[{"node": "Tell", "type": "main", "index": 0}]]}}},
   "expect": {"schedule": {"cron": "30 8 * * *", "only": true}, "untouched_nodes": ["Tell"]}}
]"##;

#[test]
fn it_says_what_each_request_came_to_and_leaves_the_project_alone() {
    let project = Project::new();
    project.write("requests.json", REQUESTS);
    let ran = project.run(&[
        "bench",
        "requests.json",
        "--keep",
        "answers",
        "--jobs",
        "2",
        "--output-format",
        "json",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = ran.json();
    assert_eq!(told["model"], "offline");
    let all = json!({"requests": 3, "whole": 2, "items_passed": 16, "items_total": 17});
    assert_eq!(told["summary"]["all"], all);
    let requests = told["requests"].as_array().unwrap();
    let ids: Vec<&str> = requests.iter().map(|r| r["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["r01", "r02", "r03"]);
    let missed: Vec<&serde_json::Value> = requests
        .iter()
        .flat_map(|r| r["items"].as_array().unwrap())
        .filter(|item| item["pass"] == false)
        .collect();
    assert_eq!(
        missed,
        [&json!({"item": "nodes[0]", "pass": false, "detail": "0 of telegram"})]
    );

    let kept = project.read_json("answers/r01.json");
    assert!(kept["workflow"]["nodes"].as_array().unwrap().len() >= 3);
    let mut there: Vec<String> = std::fs::read_dir(project.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(there, ["answers", "requests.json"]);
    let kept = std::fs::read_dir(project.home()).unwrap().count();
    assert_eq!(kept, 0, "the user's own folder is as it was");
}

#[test]
fn some_of_them_in_other_words_and_a_least_score() {
    let project = Project::new();
    project.write("requests.json", REQUESTS);
    project.write(
        "again.json",
        r##"[{"id": "r02-b", "of": "r02", "request": "Post every order that a webhook receives to Slack #sales"}]"##,
    );
    let again = ["bench", "again.json", "--of", "requests.json"];
    let ran = project.run(&[&again[..], &["--min", "100", "--output-format", "json"]].concat());
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(ran.json()["requests"][0]["id"], "r02-b");
    assert_eq!(ran.json()["exit_code"], 1);

    let ran = project.run(&["bench", "requests.json", "--ids", "r01", "--min", "100"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = project.run(&["bench", "requests.json", "--ids", "r09"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains(r#"requests.json has no request "r09""#));
}

#[test]
fn a_model_that_cannot_be_asked_is_told_after_the_table_and_is_the_exit_code() {
    let server = Server::new(vec![Reply::error(401, "who are you?")]);
    let project = models::configured(&server);
    project.write("requests.json", REQUESTS);
    let mut command = project.command(&["bench", "requests.json", "--ids", "r01"]);
    let ran: Ran = command.env("MINE_SECRET", KEY).output().unwrap().into();
    assert_eq!(ran.code, 6, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("model mine::m"), "{}", ran.stdout);
    assert!(ran.stdout.contains("0 of 6"), "{}", ran.stdout);
}

#[test]
fn what_is_spent_begins_nothing_more() {
    let project = Project::new();
    project.write("requests.json", REQUESTS);
    let ran = project.run(&["bench", "requests.json", "--total-cost", "0"]);
    assert_eq!(ran.code, 8, "{}{}", ran.stdout, ran.stderr);
    let ran_out = "not begun: --total-cost is spent";
    assert_eq!(ran.stdout.matches(ran_out).count(), 3, "{}", ran.stdout);
}
