use super::effect::{Effect, effect};
use super::faults::mended_json;
use super::*;
use crate::n8n::catalog::Catalog;
use crate::n8n::edit::apply;
use crate::n8n::validate::validate;
use crate::n8n::{Node, Severity, Workflow, arbitrary};
use proptest::prelude::*;
use serde_json::{Value, json};

fn node(name: &str, kind: &str, version: f64, parameters: Value) -> Value {
    json!({"id": format!("id-{name}"), "name": name, "type": kind, "typeVersion": version, "position": [0, 0], "parameters": parameters})
}

fn chain(nodes: Vec<Value>) -> Workflow {
    let mut workflow = Workflow::empty("Orders");
    for node in nodes {
        workflow
            .nodes
            .push(serde_json::from_value::<Node>(node).unwrap());
    }
    let names: Vec<String> = workflow.nodes.iter().map(|n| n.name().to_owned()).collect();
    for pair in names.windows(2) {
        workflow.connect(&pair[0], "main", 0, &pair[1], 0);
    }
    workflow
}

fn webhook(path: &str) -> Value {
    node(
        "Webhook",
        "n8n-nodes-base.webhook",
        2.0,
        json!({"httpMethod": "POST", "path": path, "responseMode": "lastNode", "options": {}}),
    )
}

fn set(name: &str, field: &str, value: &str) -> Value {
    node(
        name,
        "n8n-nodes-base.set",
        3.4,
        json!({"assignments": {"assignments": [
        {"id": "1", "name": field, "value": value, "type": "string"}]}, "options": {}}),
    )
}

fn slack() -> Value {
    node(
        "Tell sales",
        "n8n-nodes-base.slack",
        2.3,
        json!({"resource": "message", "operation": "post", "select": "channel",
        "channelId": {"__rl": true, "mode": "name", "value": "#sales"}, "text": "={{ $json.body.customer.name }}"}),
    )
}

fn tried(workflow: &Workflow) -> Rehearsal {
    rehearse(
        workflow,
        Catalog::embedded(),
        &Wishes {
            path: "k3",
            ..Wishes::default()
        },
    )
    .unwrap()
}

fn part<'r>(rehearsal: &'r Rehearsal, name: &str) -> &'r Part {
    &rehearsal
        .parts
        .iter()
        .find(|p| p.node == name)
        .unwrap()
        .part
}

fn does(kind: &str, version: f64, parameters: Value) -> Effect {
    let node: Node = serde_json::from_value(node("N", kind, version, parameters)).unwrap();
    effect(&node, Catalog::embedded())
}

#[test]
fn what_a_node_does_is_read_from_its_type_and_operation() {
    let acts = |what: &str| Effect::Acts(what.to_owned());
    let base = |name: &str, version: f64, parameters: Value| {
        does(&format!("n8n-nodes-base.{name}"), version, parameters)
    };
    assert_eq!(base("set", 3.4, json!({})), Effect::Inside);
    assert_eq!(
        base("httpRequest", 4.2, json!({"url": "https://example.com"})),
        Effect::Reads
    );
    assert_eq!(
        base("httpRequest", 4.2, json!({"method": "POST", "url": "x"})),
        acts("POST request")
    );
    assert_eq!(
        base("httpRequest", 4.2, json!({"method": "={{ $json.m }}"})),
        acts("a request of a computed method")
    );
    assert_eq!(
        base(
            "slack",
            2.3,
            json!({"resource": "message", "operation": "post"})
        ),
        acts("message post")
    );
    assert_eq!(
        base(
            "slack",
            2.3,
            json!({"resource": "channel", "operation": "getAll"})
        ),
        Effect::Reads
    );
    assert_eq!(
        base(
            "googleSheets",
            4.5,
            json!({"resource": "sheet", "operation": "read"})
        ),
        Effect::Reads
    );
    assert_eq!(
        base("mongoDb", 1.1, json!({"operation": "findOneAndUpdate"})),
        acts("document findOneAndUpdate")
    );
    // The operation that stands there when nothing is written.
    assert_eq!(base("gmail", 2.1, json!({})), acts("message send"));
    assert_eq!(base("emailSend", 2.1, json!({})), acts("email send"));
    assert_eq!(base("wait", 1.1, json!({})), Effect::Waits);
    assert_eq!(base("executeCommand", 1.0, json!({})), Effect::Unknown);
    assert_eq!(
        does("n8n-nodes-somebody.thing", 1.0, json!({"operation": "get"})),
        Effect::Unknown
    );
    assert_eq!(
        does("@n8n/n8n-nodes-langchain.agent", 2.0, json!({})),
        Effect::AsksModel
    );
    let sql = |query: &str| {
        base(
            "postgres",
            2.5,
            json!({"operation": "executeQuery", "query": query}),
        )
    };
    assert_eq!(sql("SELECT id FROM orders;"), Effect::Reads);
    for query in [
        "select 1; drop table orders",
        "with x as (delete from a returning 1) select 1",
        "={{ $json.sql }}",
        "select nextval('s')",
    ] {
        assert_eq!(
            sql(query),
            acts("a query that may change something"),
            "{query}"
        );
    }
}

#[test]
fn code_runs_unless_it_could_reach_outside() {
    let js = |code: &str| does("n8n-nodes-base.code", 2.0, json!({"jsCode": code}));
    assert_eq!(
        js("return items.map(i => ({json: {open: i.json.status === 'open'}}))"),
        Effect::Inside
    );
    for code in [
        "await fetch('https://x')",
        "this.helpers.httpRequest({})",
        "require('fs')",
        "[].constructor.constructor('x')()",
        "this['hel' + 'pers']",
    ] {
        assert_eq!(
            js(code),
            Effect::Acts("code that may reach outside".into()),
            "{code}"
        );
    }
}

#[test]
fn what_acts_is_simulated_under_its_own_name_and_the_rest_runs() {
    let mut workflow = chain(vec![
        webhook("orders"),
        set("Shape", "total", "={{ $json.body.total }}"),
        slack(),
        set("After", "ts", "={{ $json.ts }}"),
    ]);
    workflow.head.insert(
        "settings".into(),
        json!({"executionOrder": "v1", "timezone": "Europe/Berlin", "errorWorkflow": "w9"}),
    );
    let rehearsal = tried(&workflow);
    assert_eq!(part(&rehearsal, "Webhook"), &Part::Start);
    assert_eq!(part(&rehearsal, "Shape"), &Part::Run);
    assert_eq!(part(&rehearsal, "After"), &Part::Run);
    assert_eq!(
        part(&rehearsal, "Tell sales"),
        &Part::Simulated {
            why: vec![
                Why::Acts("message post".into()),
                Why::NoCredential("slackApi".into())
            ],
            hands_on: Some(json!({"ts": "Sample ts"})),
        }
    );
    let stand_in = rehearsal.copy.node_by_name("Tell sales").unwrap();
    assert_eq!(stand_in.node_type(), "n8n-nodes-base.set");
    assert_eq!(stand_in.id().0, "id-Tell sales");
    assert_eq!(
        rehearsal.copy.node_by_name("Shape"),
        workflow.node_by_name("Shape")
    );
    assert_eq!(
        rehearsal.copy.head["settings"],
        json!({"executionOrder": "v1", "timezone": "Europe/Berlin",
        "saveDataSuccessExecution": "all", "saveDataErrorExecution": "all", "executionTimeout": 120})
    );
    assert!(
        rehearsal
            .changes
            .contains(&"the error workflow is not called".to_owned())
    );
    let entry = rehearsal.copy.node_by_name("Rehearsal start").unwrap();
    assert_eq!(entry.parameters().unwrap()["path"], json!("k3"));
    let edges: Vec<(String, String)> = rehearsal
        .copy
        .edges()
        .map(|(a, _, _, l)| (a.to_owned(), l.node.clone()))
        .collect();
    let wanted = [
        ("Webhook", "Shape"),
        ("Shape", "Tell sales"),
        ("Tell sales", "After"),
        ("Rehearsal start", "Webhook"),
    ];
    assert_eq!(edges, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert!(!rehearsal.fits_as_it_is(&workflow));
    let findings = validate(&rehearsal.copy, Catalog::embedded());
    assert!(
        findings.iter().all(|f| f.severity != Severity::Error),
        "{findings:?}"
    );
}

#[test]
fn a_node_that_the_user_allows_runs_when_its_account_is_there() {
    let mut workflow = chain(vec![webhook("orders"), slack()]);
    let mut wishes = Wishes {
        path: "k3",
        allowed: ["Tell sales".to_owned()].into(),
        ..Wishes::default()
    };
    let only_missing = Part::Simulated {
        why: vec![Why::NoCredential("slackApi".into())],
        hands_on: Some(json!({})),
    };
    assert_eq!(
        part(
            &rehearse(&workflow, Catalog::embedded(), &wishes).unwrap(),
            "Tell sales"
        ),
        &only_missing
    );
    workflow.node_by_name_mut("Tell sales").unwrap().set(
        "credentials",
        json!({"slackApi": {"id": "c1", "name": "Sales"}}),
    );
    assert_eq!(
        part(
            &rehearse(&workflow, Catalog::embedded(), &wishes).unwrap(),
            "Tell sales"
        ),
        &Part::Run
    );
    // It names one that this n8n does not have.
    wishes.credentials = Some([("slackApi".to_owned(), "c2".to_owned())].into());
    assert_eq!(
        part(
            &rehearse(&workflow, Catalog::embedded(), &wishes).unwrap(),
            "Tell sales"
        ),
        &only_missing
    );
    wishes.allowed = ["Tell everybody".to_owned()].into();
    let refused = rehearse(&workflow, Catalog::embedded(), &wishes).unwrap_err();
    assert_eq!(refused, NoRehearsal::NoSuchNode("Tell everybody".into()));
}

#[test]
fn an_agent_is_simulated_with_all_that_serves_it() {
    let mut workflow = chain(vec![
        webhook("ask"),
        node(
            "Agent",
            "@n8n/n8n-nodes-langchain.agent",
            2.0,
            json!({"promptType": "define", "text": "={{ $json.body.question }}"}),
        ),
        set("Answer", "text", "={{ $json.output }}"),
    ]);
    for (name, kind, port) in [
        (
            "Model",
            "@n8n/n8n-nodes-langchain.lmChatOpenAi",
            "ai_languageModel",
        ),
        ("Mail", "n8n-nodes-base.gmailTool", "ai_tool"),
    ] {
        workflow
            .nodes
            .push(serde_json::from_value(node(name, kind, 1.0, json!({}))).unwrap());
        workflow.connect(name, port, 0, "Agent", 0);
    }
    let rehearsal = tried(&workflow);
    let Part::Simulated { why, hands_on } = part(&rehearsal, "Agent") else {
        panic!("{:?}", rehearsal.parts)
    };
    assert_eq!(why[0], Why::AsksModel);
    assert!(
        why.contains(&Why::Through("Mail".into())) && why.contains(&Why::Through("Model".into())),
        "{why:?}"
    );
    assert_eq!(hands_on, &Some(json!({"output": "Sample output"})));
    let gone = Part::LeftOut {
        because: "a sub-node of a simulated node".into(),
    };
    assert_eq!(
        (part(&rehearsal, "Model"), part(&rehearsal, "Mail")),
        (&gone, &gone)
    );
    assert!(rehearsal.copy.edges().all(|(_, kind, _, _)| kind == "main"));
}

#[test]
fn the_trigger_that_reaches_most_is_tried_unless_another_is_named() {
    let mut workflow = chain(vec![
        node("Daily", "n8n-nodes-base.scheduleTrigger", 1.2, json!({})),
        set("A", "x", "1"),
        set("B", "x", "2"),
    ]);
    workflow
        .nodes
        .push(serde_json::from_value(webhook("late")).unwrap());
    workflow.connect("Webhook", "main", 0, "B", 0);
    let rehearsal = tried(&workflow);
    assert_eq!(rehearsal.start.node, "Daily");
    assert_eq!(rehearsal.start.method, None);
    assert!(matches!(part(&rehearsal, "Webhook"), Part::LeftOut { .. }));
    let named = |start| {
        rehearse(
            &workflow,
            Catalog::embedded(),
            &Wishes {
                path: "k",
                start: Some(start),
                ..Wishes::default()
            },
        )
    };
    assert_eq!(named("Webhook").unwrap().start.node, "Webhook");
    assert_eq!(
        named("B").unwrap_err(),
        NoRehearsal::NoSuchTrigger("B".into())
    );
    assert_eq!(
        rehearse(
            &Workflow::empty("x"),
            Catalog::embedded(),
            &Wishes::default()
        )
        .unwrap_err(),
        NoRehearsal::NothingStarts
    );
}

#[test]
fn a_workflow_of_its_own_webhook_that_only_computes_fits_as_it_is() {
    let workflow = chain(vec![
        webhook("sum"),
        set("Sum", "total", "={{ $json.body.a }}"),
    ]);
    assert!(tried(&workflow).fits_as_it_is(&workflow));
    let mut locked = workflow.clone();
    locked.nodes[0].edit_parameters(|p| p.insert("authentication".into(), json!("headerAuth")));
    assert!(!tried(&locked).fits_as_it_is(&locked));
}

#[test]
fn the_payload_has_what_the_workflow_reads_and_lets_conditions_hold() {
    let mut workflow = chain(vec![
        webhook("orders"),
        node(
            "Large?",
            "n8n-nodes-base.if",
            2.2,
            json!({"conditions": {"combinator": "and", "conditions": [
            {"leftValue": "={{ $json.body.order.total }}", "rightValue": 100, "operator": {"type": "number", "operation": "gt"}},
            {"leftValue": "={{ $json.body.country }}", "rightValue": "DE", "operator": {"type": "string", "operation": "equals"}}]}}),
        ),
        node(
            "Lines",
            "n8n-nodes-base.splitOut",
            1.0,
            json!({"fieldToSplitOut": "body.lines"}),
        ),
        set(
            "Line",
            "sku",
            "={{ $json.sku }} {{ $('Webhook').item.json.body.email }}",
        ),
    ]);
    workflow.nodes.push(serde_json::from_value(node("Code", "n8n-nodes-base.code", 2.0, json!({"jsCode":
        "const body = $input.first().json.body;\nreturn [{json: {tags: body.tags.map(t => t), when: body.createdAt, q: $input.first().json.query.page}}];"}))).unwrap());
    workflow.connect("Large?", "main", 1, "Code", 0);
    let rehearsal = tried(&workflow);
    assert_eq!(
        Value::Object(payload(&workflow, &rehearsal)),
        json!({
            "body": {
                "order": {"total": 101},
                "lines": [{"sku": "1001"}],
                "country": "DE",
                "email": "sample@example.com",
                "tags": [{"id": "1001", "name": "Sample"}],
                "createdAt": "2026-01-15T09:00:00.000Z",
            },
            "query": {"page": "Sample page"},
            "headers": {},
            "params": {},
        })
    );
}

#[test]
fn a_trigger_that_declares_its_fields_gets_them() {
    let workflow = chain(vec![
        node(
            "Sub",
            "n8n-nodes-base.executeWorkflowTrigger",
            1.1,
            json!({"workflowInputs": {"values": [{"name": "amount", "type": "number"}, {"name": "who"}]}}),
        ),
        set("Use", "x", "={{ $json.note }}"),
    ]);
    assert_eq!(
        Value::Object(payload(&workflow, &tried(&workflow))),
        json!({"amount": 42, "who": "Sample who", "note": "Sample note"})
    );
}

fn run(node: &str, from: Option<&str>, items: Value, error: Value) -> (String, Value) {
    let outputs: Vec<Value> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|i| json!({"json": i}))
        .collect();
    let source = from.map_or(json!([]), |from| json!([{"previousNode": from}]));
    let mut run = json!({"startTime": 1, "executionStatus": "success", "source": source, "data": {"main": [outputs]}});
    if !error.is_null() {
        run["error"] = error;
    }
    (node.to_owned(), json!([run]))
}

fn execution(status: &str, runs: Vec<(String, Value)>) -> Value {
    let runs: serde_json::Map<String, Value> = runs.into_iter().collect();
    json!({"id": "77", "status": status, "workflowId": "w1", "data": {"resultData": {"runData": runs}}})
}

fn judged(workflow: &Workflow, execution: &Value) -> Verdict {
    let checked = validate(workflow, Catalog::embedded());
    judge(
        workflow,
        &tried(workflow),
        &Trace::read(execution),
        &checked,
    )
}

/// Applies the first fix and gives the value at the pointer of the node.
fn mended(workflow: &Workflow, verdict: &Verdict, node: &str, pointer: &str) -> Value {
    let fix = verdict.findings[0]
        .fix
        .clone()
        .unwrap_or_else(|| panic!("no fix in {:?}", verdict.findings[0]));
    let after = apply(workflow, &fix.ops, &mut || "new".to_owned()).unwrap();
    Value::Object(
        after
            .node_by_name(node)
            .unwrap()
            .parameters()
            .unwrap()
            .clone(),
    )
    .pointer(pointer)
    .cloned()
    .unwrap()
}

#[test]
fn a_run_that_came_through_passes_and_says_what_ran() {
    let workflow = chain(vec![
        webhook("orders"),
        set("Shape", "total", "={{ $json.body.total }}"),
        slack(),
        set("After", "ts", "={{ $json.ts }}"),
    ]);
    let verdict = judged(
        &workflow,
        &execution(
            "success",
            vec![
                run(
                    "Webhook",
                    Some("Rehearsal start"),
                    json!([{"body": {"total": 42, "customer": {"name": "S"}}}]),
                    Value::Null,
                ),
                run(
                    "Shape",
                    Some("Webhook"),
                    json!([{"total": 42}]),
                    Value::Null,
                ),
                run(
                    "Tell sales",
                    Some("Shape"),
                    json!([{"ts": "1"}]),
                    Value::Null,
                ),
                run(
                    "After",
                    Some("Tell sales"),
                    json!([{"ts": "1"}]),
                    Value::Null,
                ),
            ],
        ),
    );
    assert_eq!(verdict.test_status, "pass");
    assert_eq!(verdict.findings, vec![]);
    assert!(verdict.nodes.iter().all(|n| n.reached));
}

#[test]
fn a_field_that_is_not_there_is_an_error_when_it_stands_elsewhere() {
    let workflow = chain(vec![
        webhook("orders"),
        set("Shape", "mail", "=Dear {{ $json.email }}"),
    ]);
    let sent = payload(&workflow, &tried(&workflow));
    let verdict = judged(
        &workflow,
        &execution(
            "success",
            vec![
                run(
                    "Webhook",
                    Some("Rehearsal start"),
                    json!([sent]),
                    Value::Null,
                ),
                run(
                    "Shape",
                    Some("Webhook"),
                    json!([{"mail": "Dear "}]),
                    Value::Null,
                ),
            ],
        ),
    );
    assert_eq!(verdict.test_status, "fail");
    assert_eq!(verdict.findings[0].code, "run/missing-value");
    assert_eq!(
        mended(
            &workflow,
            &verdict,
            "Shape",
            "/assignments/assignments/0/value"
        ),
        json!("=Dear {{ $json.body.email }}")
    );
}

#[test]
fn errors_that_n8n_reports_become_findings_with_the_smallest_fix() {
    let http = |parameters: Value| {
        chain(vec![
            webhook("x"),
            node("Call", "n8n-nodes-base.httpRequest", 4.2, parameters),
        ])
    };
    let failing = |workflow: &Workflow, node: &str, message: &str| {
        judged(
            workflow,
            &execution(
                "error",
                vec![
                    run("Webhook", None, json!([{"body": {}}]), Value::Null),
                    run(
                        node,
                        Some("Webhook"),
                        json!([]),
                        json!({"message": message}),
                    ),
                ],
            ),
        )
    };
    let workflow = http(json!({"url": "example.com/api?x=1"}));
    let verdict = failing(
        &workflow,
        "Call",
        "Invalid URL: example.com/api?x=1. URL must start with \"http\" or \"https\".",
    );
    assert_eq!(
        (verdict.test_status, verdict.findings[0].code.as_str()),
        ("fail", "run/error")
    );
    assert_eq!(
        mended(&workflow, &verdict, "Call", "/url"),
        json!("https://example.com/api?x=1")
    );

    let workflow = http(json!({"url": "htps://example.com"}));
    assert_eq!(
        mended(
            &workflow,
            &failing(&workflow, "Call", "Invalid URL"),
            "Call",
            "/url"
        ),
        json!("https://example.com")
    );

    let workflow = http(
        json!({"method": "POST", "url": "https://example.com", "sendBody": true, "specifyBody": "json", "jsonBody": "={\"name\": {{ $json.body.name }},}"}),
    );
    let verdict = failing(&workflow, "Call", "JSON parameter needs to be valid JSON");
    assert_eq!(
        mended(&workflow, &verdict, "Call", "/jsonBody"),
        json!("={\"name\": {{ JSON.stringify($json.body.name) }}}")
    );

    let workflow = chain(vec![
        webhook("x"),
        set("Shape", "who", "={{ $('Web hook').item.json.body.who }}"),
    ]);
    let verdict = failing(&workflow, "Shape", "Referenced node doesn't exist");
    assert_eq!(
        mended(
            &workflow,
            &verdict,
            "Shape",
            "/assignments/assignments/0/value"
        ),
        json!("={{ $('Webhook').item.json.body.who }}")
    );

    let workflow = chain(vec![
        webhook("x"),
        node(
            "Big?",
            "n8n-nodes-base.if",
            2.2,
            json!({"conditions": {"options": {"typeValidation": "strict"}, "conditions": []}}),
        ),
    ]);
    let verdict = failing(
        &workflow,
        "Big?",
        "Wrong type: '5' is a string but was expecting a number [condition 0, item 0]",
    );
    assert_eq!(
        mended(
            &workflow,
            &verdict,
            "Big?",
            "/conditions/options/typeValidation"
        ),
        json!("loose")
    );
}

#[test]
fn what_the_workflow_is_not_to_blame_for_is_inconclusive() {
    let workflow = chain(vec![
        webhook("x"),
        node(
            "Call",
            "n8n-nodes-base.httpRequest",
            4.2,
            json!({"url": "https://example.com"}),
        ),
        set("After", "x", "1"),
    ]);
    let verdict = judged(
        &workflow,
        &execution(
            "error",
            vec![
                run("Webhook", None, json!([{"body": {}}]), Value::Null),
                run(
                    "Call",
                    Some("Webhook"),
                    json!([]),
                    json!({"message": "The connection was refused", "description": "getaddrinfo ENOTFOUND example.com", "httpCode": "ENOTFOUND"}),
                ),
            ],
        ),
    );
    assert_eq!(verdict.test_status, "inconclusive");
    assert_eq!(verdict.findings[0].code, "run/outside");
    assert_eq!(verdict.findings[0].fix, None);
    let reached: Vec<bool> = verdict.nodes.iter().map(|n| n.reached).collect();
    assert_eq!(reached, [true, true, false]);
    assert_eq!(
        judged(&workflow, &execution("canceled", vec![])).test_status,
        "inconclusive"
    );
}

#[test]
fn json_is_mended_or_left_alone() {
    for (text, wanted) in [
        (
            "={\"a\": \"{{ $json.x }}\"}",
            Some("={\"a\": {{ JSON.stringify($json.x) }}}"),
        ),
        (
            "={\"a\": \"Hi {{ $json.x }}\"}",
            Some("={\"a\": \"Hi {{ $json.x }}\"}"),
        ),
        ("{'a': 'b', c: 1,}", Some("{\"a\": \"b\", \"c\": 1}")),
        ("={{ $json }}", None),
        ("no json at all", None),
    ] {
        assert_eq!(mended_json(text).as_deref(), wanted, "{text}");
    }
}

proptest! {
    /// Whatever the workflow: what runs on the copy does not act, and every node is accounted for under its own name.
    #[test]
    fn nothing_acts_on_a_copy(mut workflow in arbitrary::workflow(7), kinds in prop::collection::vec(0usize..9, 8)) {
        let types = [
            ("n8n-nodes-base.set", 3.4), ("n8n-nodes-base.slack", 2.3), ("n8n-nodes-base.httpRequest", 4.2),
            ("n8n-nodes-base.if", 2.2), ("n8n-nodes-base.scheduleTrigger", 1.2), ("n8n-nodes-base.postgres", 2.5),
            ("n8n-nodes-base.code", 2.0), ("community.unheardOf", 1.0), ("n8n-nodes-base.wait", 1.1),
        ];
        for (node, kind) in workflow.nodes.iter_mut().zip(&kinds) {
            node.set("type", json!(types[*kind].0));
            node.set("typeVersion", json!(types[*kind].1));
        }
        let catalog = Catalog::embedded();
        match rehearse(&workflow, catalog, &Wishes { path: "p", ..Wishes::default() }) {
            Err(why) => prop_assert_eq!(why, NoRehearsal::NothingStarts),
            Ok(rehearsal) => {
                prop_assert_eq!(rehearsal.parts.len(), workflow.nodes.len());
                for node in rehearsal.copy.nodes.iter().filter(|n| !n.disabled() && n.name() != "Rehearsal start") {
                    prop_assert!(matches!(effect(node, catalog), Effect::Inside | Effect::Reads), "{:?}", node);
                    prop_assert_eq!(workflow.node_by_name(node.name()).map(Node::id), Some(node.id()));
                }
                for (from, _, _, link) in rehearsal.copy.edges() {
                    prop_assert!(rehearsal.copy.node_by_name(from).is_some());
                    prop_assert!(rehearsal.copy.node_by_name(&link.node).is_some());
                }
                let again = rehearse(&workflow, catalog, &Wishes { path: "p", ..Wishes::default() }).unwrap();
                prop_assert_eq!(again, rehearsal);
            }
        }
    }

    /// No execution document, however broken, makes the reader fail or two findings share an id.
    #[test]
    fn any_execution_can_be_read(workflow in arbitrary::workflow(5), runs in prop::collection::vec((0usize..5, any::<bool>(), 0usize..3), 0..6)) {
        let runs = runs.into_iter().map(|(at, fails, items)| {
            let items: Vec<Value> = (0..items).map(|i| json!({"x": i})).collect();
            let error = if fails { json!({"message": "Invalid URL"}) } else { Value::Null };
            run(&format!("Node {at}"), Some("Node 0"), json!(items), error)
        }).collect();
        let findings = evidence(&workflow, &Trace::read(&execution("error", runs)), &[], None);
        let ids: std::collections::BTreeSet<&str> = findings.iter().map(|f| f.id.as_str()).collect();
        prop_assert_eq!(ids.len(), findings.len());
    }
}
