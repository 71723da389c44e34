//! What the research team lends to other agents by the envelope: its tools, one by one, and its fact checker.

use super::serving::Served;
use super::support::Project;
use serde_json::{Value, json};

const AT: &str = "/agents/research/a2a/message";

fn told(served: &Served, (of, id): (&str, &str), payload: &Value) -> Value {
    let body = json!({
        "type": of, "version": "1.0", "id": id, "timestamp": "2026-01-31T12:00:00Z", "sender": "me", "receiver": "research",
        "payload": payload, "metadata": {}
    });
    served.call(AT, &body.to_string()).1
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
