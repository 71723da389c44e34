//! What a request says of where a step stands, what is tested and what is written, against finished workflows that do it and that do not.

use super::unsound;
use crate::compile::{Compiled, Made};
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use serde_json::{Value, json};

/// A node: its type, its parameters, what of the node itself is set, and the part of the request that it was made of.
struct Made1 {
    kind: &'static str,
    parameters: Value,
    set: Value,
    said: &'static str,
}

fn node(kind: &'static str, parameters: Value, said: &'static str) -> Made1 {
    Made1 {
        kind,
        parameters,
        set: json!({}),
        said,
    }
}

impl Made1 {
    fn fails(mut self, way: &str) -> Self {
        self.set = json!({"onError": way});
        self
    }
}

/// A workflow of nodes and of links: from which, by which output, to which.
fn flow(nodes: Vec<Made1>, links: &[(usize, usize, usize)]) -> Compiled {
    let mut list = Vec::new();
    let mut made = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let name = format!("N{at}");
        let kind = format!("n8n-nodes-base.{}", node.kind);
        let known = Catalog::embedded().lookup(&kind, None).known().unwrap();
        let mut document = json!({"name": name, "type": kind, "typeVersion": known.version, "position": [0, 0], "parameters": node.parameters});
        let set = node.set.as_object().unwrap().clone();
        document.as_object_mut().unwrap().extend(set);
        list.push(document);
        made.push(Made {
            said: node.said.to_owned(),
            nodes: vec![name],
        });
    }
    let mut connections = serde_json::Map::new();
    for (from, output, to) in links {
        let of = connections
            .entry(format!("N{from}"))
            .or_insert(json!({"main": []}));
        let outputs = of["main"].as_array_mut().unwrap();
        while outputs.len() <= *output {
            outputs.push(json!([]));
        }
        let target = json!({"node": format!("N{to}"), "type": "main", "index": 0});
        outputs[*output].as_array_mut().unwrap().push(target);
    }
    let document = json!({"name": "W", "nodes": list, "connections": connections});
    Compiled {
        workflow: Workflow::from_value(document).unwrap(),
        todo: Vec::new(),
        notes: Vec::new(),
        gaps: Vec::new(),
        made,
    }
}

fn found(request: &str, nodes: Vec<Made1>, links: &[(usize, usize, usize)]) -> Vec<String> {
    unsound(request, "en", &flow(nodes, links))
}

const NONE: [&str; 0] = [];

fn hook() -> Made1 {
    node("webhook", json!({"path": "a", "httpMethod": "POST"}), "")
}

fn daily() -> Made1 {
    node("scheduleTrigger", json!({"rule": {"interval": [{}]}}), "")
}

fn slack(said: &'static str) -> Made1 {
    let to = json!({"__rl": true, "mode": "name", "value": "#ops"});
    node(
        "slack",
        json!({"resource": "message", "operation": "post", "select": "channel", "channelId": to, "text": "=x {{ $now }}"}),
        said,
    )
}

fn select(said: &'static str) -> Made1 {
    let table = json!({"__rl": true, "mode": "name", "value": "orders"});
    node(
        "postgres",
        json!({"operation": "select", "table": table, "returnAll": true}),
        said,
    )
}

fn call(said: &'static str) -> Made1 {
    node(
        "httpRequest",
        json!({"method": "GET", "url": "https://x.example/a"}),
        said,
    )
}

fn test(
    field: &str,
    operation: &str,
    right: &str,
    kind: &'static str,
    said: &'static str,
) -> Made1 {
    let condition = json!({"leftValue": format!("={{{{ $json.{field} }}}}"), "rightValue": right, "operator": {"type": "string", "operation": operation}});
    node(
        kind,
        json!({"conditions": {"conditions": [condition], "combinator": "and"}}),
        said,
    )
}

const READ: &str = "Every day read the orders from the Postgres table orders,";
const CALL: &str = "call https://x.example/a for each";

#[test]
fn a_failure_is_that_of_the_step_that_is_spoken_of() {
    let request = "Every day read the orders from the Postgres table orders, call https://x.example/a for each. If a call fails, tell Slack #ops.";
    let tells = "tell Slack #ops";
    let way = "continueErrorOutput";
    let right = vec![daily(), select(READ), call(CALL).fails(way), slack(tells)];
    assert_eq!(
        found(request, right, &[(0, 0, 1), (1, 0, 2), (2, 1, 3)]),
        NONE
    );
    let on_the_read = vec![daily(), select(READ).fails(way), call(CALL), slack(tells)];
    let named = found(request, on_the_read, &[(0, 0, 1), (1, 0, 2), (1, 1, 3)]);
    assert_eq!(named, ["If a call fails"]);
    let without_failure = vec![daily(), select(READ), call(CALL).fails(way), slack(tells)];
    let links = [(0, 0, 1), (1, 0, 2), (2, 0, 3)];
    assert_eq!(found(request, without_failure, &links), [tells]);
}

#[test]
fn what_comes_at_the_end_hangs_on_no_failure_and_in_no_loop() {
    let request = "Every day read the orders from the Postgres table orders, call https://x.example/a for each. At the end tell Slack #ops.";
    let end = "At the end tell Slack #ops";
    let failing = vec![
        daily(),
        select(READ),
        call(CALL).fails("continueErrorOutput"),
        slack(end),
    ];
    let links = [(0, 0, 1), (1, 0, 2), (2, 1, 3)];
    assert_eq!(found(request, failing, &links), [end]);
    let looping = || {
        vec![
            daily(),
            select(READ),
            node("splitInBatches", json!({"batchSize": 10}), ""),
            call(CALL),
            slack(end),
        ]
    };
    let links = [(0, 0, 1), (1, 0, 2), (2, 1, 3), (3, 0, 4), (4, 0, 2)];
    assert_eq!(found(request, looping(), &links), [end]);
    let after = [(0, 0, 1), (1, 0, 2), (2, 1, 3), (3, 0, 2), (2, 0, 4)];
    assert_eq!(found(request, looping(), &after), NONE);
}

#[test]
fn what_is_done_otherwise_is_not_done_behind_the_other_way() {
    let request = "When a webhook receives an order, if the status is new, call https://x.example/a with it, otherwise tell Slack #ops.";
    let (first, other) = (
        "call https://x.example/a with it",
        "otherwise tell Slack #ops",
    );
    let nodes = || {
        vec![
            hook(),
            test("body.status", "equals", "new", "if", "if the status is new"),
            call(first),
            slack(other),
        ]
    };
    let apart = [(0, 0, 1), (1, 0, 2), (1, 1, 3)];
    assert_eq!(found(request, nodes(), &apart), NONE);
    let in_a_row = [(0, 0, 1), (1, 0, 2), (2, 0, 3)];
    assert_eq!(found(request, nodes(), &in_a_row), [other]);
}

#[test]
fn the_field_before_a_value_is_the_one_that_is_tested() {
    let said = "read the orders where status = 'open' from the Postgres table orders";
    let request = "Every day read the orders where status = 'open' from the Postgres table orders and tell Slack #ops.";
    let nodes = |field: &str| {
        vec![
            daily(),
            select("Every day"),
            test(field, "equals", "open", "filter", said),
            slack("tell Slack #ops"),
        ]
    };
    let links = [(0, 0, 1), (1, 0, 2), (2, 0, 3)];
    assert_eq!(found(request, nodes("status"), &links), NONE);
    assert_eq!(found(request, nodes("amount"), &links), [said]);
}

#[test]
fn what_something_contains_is_not_all_of_it() {
    let request =
        "For each new email whose subject contains 'overdue' or 'reminder' tell Slack #ops.";
    let said = "subject contains 'overdue' or 'reminder'";
    let mail = || node("emailReadImap", json!({}), "");
    let nodes = |operation: &str| {
        vec![
            mail(),
            test("subject", operation, "overdue", "filter", said),
            slack("tell Slack #ops"),
        ]
    };
    let links = [(0, 0, 1), (1, 0, 2)];
    assert_eq!(found(request, nodes("contains"), &links), NONE);
    let named = found(request, nodes("equals"), &links);
    assert!(named.iter().any(|n| n.contains("overdue")), "{named:?}");
}

#[test]
fn the_columns_that_are_listed_are_those_that_are_written() {
    let request = "When a webhook receives an order, insert it into the Postgres table orders, columns name, email and total.";
    let said = "insert it into the Postgres table orders, columns name, email and total";
    let table = json!({"__rl": true, "mode": "name", "value": "orders"});
    let nodes = |columns: Value| {
        let parameters = json!({"operation": "insert", "table": table, "columns": columns});
        vec![hook(), node("postgres", parameters, said)]
    };
    let given = json!({"mappingMode": "defineBelow", "matchingColumns": [], "schema": [], "value": {"name": "a", "email": "b", "total": "c"}});
    assert_eq!(found(request, nodes(given), &[(0, 0, 1)]), NONE);
    for other in [
        json!({"mappingMode": "autoMapInputData", "matchingColumns": [], "schema": []}),
        json!({"mappingMode": "defineBelow", "matchingColumns": [], "schema": [], "value": {"columns_name": "a", "email": "b"}}),
    ] {
        assert_eq!(found(request, nodes(other), &[(0, 0, 1)]), [said]);
    }
}

#[test]
fn a_command_is_obeyed_by_what_was_made_of_it() {
    let request = "When a webhook receives an order, add a comment to the Jira issue.";
    let said = "add a comment to the Jira issue";
    assert_eq!(
        found(request, vec![hook(), slack(said)], &[(0, 0, 1)]),
        [said]
    );
    let comment = json!({"resource": "issueComment", "operation": "add", "issueKey": "={{ $json.body.key }}", "comment": "hello"});
    let nodes = vec![hook(), node("jira", comment, said)];
    assert_eq!(found(request, nodes, &[(0, 0, 1)]), NONE);
}

#[test]
fn nothing_is_read_for_nobody_and_nothing_tested_for_nothing() {
    let links = [(0, 0, 1), (1, 0, 2)];
    let read_last = vec![hook(), slack("tell Slack"), select("read the orders")];
    assert_eq!(found("", read_last, &links), ["read the orders"]);
    let tested_last = vec![
        hook(),
        slack("tell Slack"),
        test("body.a", "equals", "b", "filter", "only the big ones"),
    ];
    assert_eq!(found("", tested_last, &links), ["only the big ones"]);
    let told_first = vec![
        daily(),
        slack("tell Slack"),
        select("read the orders"),
        call("call it"),
    ];
    let links = [(0, 0, 1), (1, 0, 2), (2, 0, 3)];
    assert_eq!(found("", told_first, &links), ["tell Slack"]);
}

#[test]
fn a_call_sends_what_was_to_be_sent() {
    let said = "send it to https://x.example/{id}";
    let sends = |parameters: Value| {
        let found = found(
            "",
            vec![hook(), node("httpRequest", parameters, said)],
            &[(0, 0, 1)],
        );
        found.is_empty()
    };
    let url = "=https://x.example/{{ $json.body.id }}";
    let body = "={{ JSON.stringify($json.body) }}";
    assert!(sends(
        json!({"method": "POST", "url": url, "sendBody": true, "specifyBody": "json", "jsonBody": body})
    ));
    assert!(!sends(json!({"method": "POST", "url": url})));
    let how = node(
        "httpRequest",
        json!({"method": "POST", "url": "https://x.example/a"}),
        "call https://x.example/a with POST",
    );
    assert!(found("", vec![hook(), how], &[(0, 0, 1)]).is_empty());
    assert!(!sends(
        json!({"method": "POST", "url": "https://x.example/", "sendBody": true, "specifyBody": "json", "jsonBody": body})
    ));
}

#[test]
fn a_row_is_changed_by_what_was_read_and_not_by_what_was_answered() {
    let said = "write the date back to the row";
    let place = json!({"__rl": true, "mode": "name", "value": "Domains"});
    let sheet = |operation: &str, columns: Value, said| {
        node(
            "googleSheets",
            json!({"resource": "sheet", "operation": operation, "documentId": place, "sheetName": place, "columns": columns}),
            said,
        )
    };
    let written = |key: &str| {
        let value = json!({"row_number": key, "expiry": "={{ $json.expiry }}"});
        let columns = json!({"mappingMode": "defineBelow", "matchingColumns": ["row_number"], "schema": [], "value": value});
        let nodes = vec![
            daily(),
            sheet("read", Value::Null, "read the sheet"),
            call("call it"),
            sheet("update", columns, said),
        ];
        found("", nodes, &[(0, 0, 1), (1, 0, 2), (2, 0, 3)])
    };
    assert_eq!(written("={{ $('N1').item.json.row_number }}"), NONE);
    assert_eq!(written("={{ $json.row_number }}"), [said]);
}
