//! What the research team lends to other agents by the envelope: its tools, one by one, and its fact checker.

use super::serving::Served;
use super::support::Project;
use serde_json::{Value, json};

const AT: &str = "/agents/research/a2a/message";

fn told(served: &Served, message: (&str, &str), payload: &Value) -> Value {
    told_to("research", served, message, payload)
}

fn told_to(agent: &str, served: &Served, (of, id): (&str, &str), payload: &Value) -> Value {
    let body = json!({
        "type": of, "version": "1.0", "id": id, "timestamp": "2026-01-31T12:00:00Z", "sender": "me", "receiver": agent,
        "payload": payload, "metadata": {}
    });
    served
        .call(&AT.replace("research", agent), &body.to_string())
        .1
}

#[test]
fn a_front_door_that_asks_for_details_waits_for_them_in_one_task() {
    let project = Project::new();
    let served = Served::start(&project);
    let door = |id: &str, text: &str, metadata: &Value| {
        let body = json!({
            "type": "request:task", "version": "1.0", "id": id, "timestamp": "2026-01-31T12:00:00Z", "sender": "me",
            "receiver": "front-door", "payload": {"query": text}, "metadata": metadata
        });
        served
            .call("/agents/front-door/a2a/message", &body.to_string())
            .1
    };
    let asked = door(
        "m-1",
        "I need the monthly sales report automated",
        &json!({}),
    );
    assert_eq!(asked["type"], "response:input-required", "{asked}");
    assert_eq!(asked["payload"]["expects"], "answer");
    let task = &asked["payload"]["task_id"];
    let next = door(
        "m-2",
        "never mind, forget the request",
        &json!({"task_id": task}),
    );
    assert_eq!(next["type"], "response:results", "{next}");
    assert_eq!(&next["payload"]["task_id"], task);
}

#[test]
fn a_fact_checker_that_is_served_alone_checks_claims_and_lends_its_own_tools() {
    let project = Project::new();
    let mut command = Served::command(&project);
    command.args([
        "--agents",
        "fact-checking-agent,research-orchestrator-agent",
    ]);
    let served = Served::of(command);
    const FACTS: &str = "fact-checking-agent";
    let claims = json!({"claims": [
        {"id": "c1", "text": "The network is 184 kilometres long, our guide said, so we only walked a small part of it.", "sources": ["heat-10#2"]},
        {"id": "c2", "text": "The district heating network of Norrfeld is 148 kilometres long."},
        {"id": "c3", "text": "The moon is made of cheese."},
        {"id": "c4", "text": "It is 9 kilometres long.", "sources": ["nowhere#1"]},
        {"id": "c5", "text": "It is 9 kilometres long.", "sources": ["heat-01#1"]},
        {"id": "c6", "text": "The district heating network of Norrfeld is 300 kilometres long."}
    ]});
    let checked = told_to(FACTS, &served, ("request:factcheck:verify", "f"), &claims);
    assert_eq!(checked["type"], "response:factcheck:results", "{checked}");
    let verdicts = checked["payload"]["results"]["output"]["claims"]
        .as_array()
        .unwrap();
    let of = |id: &str| verdicts.iter().find(|one| one["id"] == id).unwrap();
    for (id, verdict, why) in [
        ("c1", "contradicted", "independent sources agree"),
        ("c2", "supported", "a second independent source"),
        ("c3", "unverified", "no document here says it"),
        ("c4", "unverified", "none of its sources is a document here"),
        ("c5", "unverified", "its own source does not say it"),
        ("c6", "contradicted", "independent sources agree"),
    ] {
        assert_eq!(of(id)["verdict"], verdict, "{checked}");
        assert!(of(id)["why"].as_str().unwrap().contains(why), "{checked}");
    }
    let text = checked["payload"]["results"]["text"].as_str().unwrap();
    assert!(text.contains("[c1]: contradicted"), "{text}");
    // Words alone are one claim.
    let plain =
        json!({"query": "The district heating network of Norrfeld is 148 kilometres long."});
    let plain = told_to(FACTS, &served, ("request:task", "t"), &plain);
    assert_eq!(
        plain["payload"]["results"]["output"]["claims"][0]["verdict"], "supported",
        "{plain}"
    );
    // Its tools are those that guests may use and it may use itself.
    let found = |agent: &str, id: &str| {
        let found = told_to(agent, &served, ("request:discover-tools", id), &json!({}));
        let tools = found["payload"]["tools"].as_array().unwrap().clone();
        let ids = tools
            .iter()
            .map(|tool| tool["tool_id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<String>>()
    };
    let mut own = found(FACTS, "d1");
    own.sort_unstable();
    assert_eq!(own, ["check_claims", "read_document", "web_search"]);
    assert_eq!(
        found("research-orchestrator-agent", "d2"),
        Vec::<String>::new()
    );
    let question = json!({"tool_id": "web_search", "parameters": {"query": "length of the heating network of Norrfeld", "limit": 1}});
    let searched = told_to(FACTS, &served, ("request:use-tool", "s"), &question);
    assert_eq!(searched["type"], "response:tool-result", "{searched}");
    let sums = json!({"tool_id": "statistics", "parameters": {"what": "describe", "x": [1, 2]}});
    let sums = told_to(FACTS, &served, ("request:use-tool", "u"), &sums);
    assert_eq!(sums["payload"]["reason"], "unknown_tool", "{sums}");
}

#[test]
fn tools_are_found_and_used_and_claims_get_their_verdicts() {
    let project = Project::new();
    let served = Served::start(&project);
    let found = told(
        &served,
        ("request:discover-tools", "d"),
        &json!({"capability_requirements": ["search"]}),
    );
    let ids: Vec<&str> = found["payload"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["tool_id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"web_search"), "{found}");
    let question = json!({"tool_id": "web_search", "parameters": {"query": "length of the heating network of Norrfeld", "limit": 3}});
    let searched = told(&served, ("request:use-tool", "s"), &question);
    assert_eq!(searched["type"], "response:tool-result", "{searched}");
    let first = searched["payload"]["result"]["results"][0].clone();
    assert!(
        first["quote"]
            .as_str()
            .is_some_and(|quote| !quote.is_empty()),
        "{searched}"
    );
    // What it may not do, and what its schema does not take.
    let wrong = told(
        &served,
        ("request:use-tool", "w"),
        &json!({"tool_id": "web_search", "parameters": {"folder": "/etc"}}),
    );
    assert_eq!(wrong["payload"]["reason"], "tool_refused", "{wrong}");
    let claims = json!({"claims": [
        {"id": "c1", "text": first["quote"], "sources": [first["id"]]},
        {"id": "c2", "text": "The moon is made of cheese."}
    ]});
    let checked = told(&served, ("request:factcheck:verify", "f"), &claims);
    assert_eq!(checked["type"], "response:factcheck:results", "{checked}");
    let verdicts = checked["payload"]["results"]["output"]["claims"]
        .as_array()
        .unwrap();
    let of = |id: &str| verdicts.iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(of("c1")["sources"][0]["id"], first["id"], "{checked}");
    assert_eq!(
        (&of("c2")["verdict"], &of("c2")["sources"]),
        (&json!("unverified"), &json!([]))
    );
    let runs = project.run(&["runs", "list"]);
    assert!(runs.stdout.lines().count() >= 2, "{}", runs.stdout);
    assert_eq!(served.stop().0, Some(143));
}
