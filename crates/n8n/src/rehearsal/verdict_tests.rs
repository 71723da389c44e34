use super::faults::mended_json;
use super::fixture::*;
use super::*;
use crate::catalog::Catalog;
use crate::edit::apply;
use crate::validate::validate;
use crate::{Workflow, arbitrary};
use proptest::prelude::*;
use serde_json::{Value, json};

fn judged(workflow: &Workflow, execution: &Value) -> Verdict {
    let checked = validate(workflow, Catalog::embedded());
    seen(workflow, &Trace::read(execution), &checked)
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
                    json!([{"total": 42, "body": {"customer": {"name": "S"}}}]),
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
    let sent = payload(&workflow, &tried(&workflow), 0);
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

/// Hook → Tell sales, which is simulated; with what it would have sent.
fn tells(text: &str, item: Value, sent: Value, is_given: bool) -> Verdict {
    let mut tell = slack();
    tell["parameters"]["text"] = json!(text);
    let workflow = chain(vec![webhook("w"), set("Keep", "a", "1"), tell]);
    let runs = vec![
        run("Webhook", None, json!([item]), Value::Null),
        run("Keep", Some("Webhook"), json!([item]), Value::Null),
        run("Tell sales", Some("Keep"), json!([{}]), Value::Null),
    ];
    let trace = Trace::read(&execution("success", runs));
    let tried = Tried {
        rehearsal: &tried(&workflow),
        sent: &IndexMap::from([("Tell sales".to_owned(), vec![json!({"text": sent})])]),
        is_given,
    };
    judge(&workflow, tried, &trace, &[])
}

#[test]
fn what_a_simulated_node_would_send_has_all_that_it_reads() {
    let of = |verdict: &Verdict| {
        let found = verdict.findings.iter();
        let found: Vec<String> = found.map(|f| format!("{} {}", f.code, f.pointer)).collect();
        (verdict.test_status, found.join("; "))
    };
    let item = json!({"body": {"url": "https://a.example", "list": []}});
    // The field stands elsewhere, is nowhere, and is there.
    let elsewhere = tells("={{ $json.url }}", item.clone(), Value::Null, false);
    let missing = "run/missing-value /nodes/2/parameters/text".to_owned();
    assert_eq!(of(&elsewhere), ("fail", missing.clone()));
    let nowhere = tells("={{ $json.nobody }}", item.clone(), Value::Null, false);
    assert_eq!(of(&nowhere), ("inconclusive", missing.clone()));
    let there = tells(
        "={{ $json.body.url }}",
        item.clone(),
        json!("https://a.example"),
        false,
    );
    assert_eq!(of(&there), ("pass", String::new()));
    // What it reads is there, and nothing comes of it; but where nothing is there already, it is as it is.
    let found = "={{ $json.body.list.find(x => x.id == 1) }}";
    let none = tells(found, item.clone(), Value::Null, false);
    assert_eq!(of(&none), ("inconclusive", missing));
    let null = json!({"body": {"note": null}});
    let as_it_is = tells("={{ $json.body.note }}", null, Value::Null, false);
    assert_eq!(of(&as_it_is), ("pass", String::new()));
    // What a case did not give it was not asked about.
    let workflow_reads = "={{ $('Webhook').item.json.body.id }}";
    let not_given = tells(workflow_reads, item, Value::Null, true);
    let told = "run/not-given /nodes/2/parameters/text".to_owned();
    assert_eq!(of(&not_given), ("pass", told));
}

proptest! {
    /// No execution document, however broken, makes the reader fail or two findings share an id.
    #[test]
    fn any_execution_can_be_read(workflow in arbitrary::workflow(5), runs in prop::collection::vec((0usize..5, any::<bool>(), 0usize..3), 0..6)) {
        let runs = runs.into_iter().map(|(at, fails, items)| {
            let items: Vec<Value> = (0..items).map(|i| json!({"x": i})).collect();
            let error = if fails { json!({"message": "Invalid URL"}) } else { Value::Null };
            run(&format!("Node {at}"), Some("Node 0"), json!(items), error)
        }).collect();
        let findings = evidence(&workflow, &Trace::read(&execution("error", runs)), &[]);
        let ids: std::collections::BTreeSet<&str> = findings.iter().map(|f| f.id.as_str()).collect();
        prop_assert_eq!(ids.len(), findings.len());
    }
}
