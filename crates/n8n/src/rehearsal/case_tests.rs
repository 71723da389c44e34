use super::super::fixture::{execution, run as run_of};
use super::super::{Tried, Wishes, differences, judge, rehearse, sent};
use super::*;
use crate::catalog::Catalog;
use serde_json::json;

fn workflow() -> Workflow {
    let node = |name: &str, kind: &str, version: f64, parameters: Value| json!({"id": name, "name": name, "type": kind, "typeVersion": version, "position": [0, 0], "parameters": parameters});
    let to = |names: &[&str]| json!({"main": [names.iter().map(|n| json!({"node": n, "type": "main", "index": 0})).collect::<Vec<_>>()]});
    let document = json!({
        "name": "Orders",
        "nodes": [
            node("Order", "n8n-nodes-base.webhook", 2.0, json!({"path": "orders", "httpMethod": "POST"})),
            node("Customer", "n8n-nodes-base.httpRequest", 4.2, json!({"url": "=https://crm.test/{{ $json.body.id }}"})),
            node("Tell", "n8n-nodes-base.slack", 2.2, json!({"select": "channel", "text": "=New order of {{ $json.name }}", "otherOptions": {"note": "plain"}})),
        ],
        "connections": {"Order": to(&["Customer"]), "Customer": to(&["Tell"])}
    });
    Workflow::from_value(document).unwrap()
}

fn rehearsal(mocks: Value) -> Rehearsal {
    let wishes = Wishes {
        path: "p",
        mocks: serde_json::from_value(mocks).unwrap(),
        ..Wishes::default()
    };
    rehearse(&workflow(), Catalog::embedded(), &wishes).unwrap()
}

#[test]
fn a_case_is_told_on_one_line() {
    let words = |case: Value| Case::deserialize(case).unwrap().in_words();
    let full = json!({
        "name": "a big order is told",
        "input": {"body": {"amount": 300}, "query": {}, "headers": {}},
        "mocks": {"Customer": [{"name": "Ann"}]},
        "expect": {"status": 200, "answer": {"big": true}, "nodes": {
            "Tell": {"sent": [{"text": "Ann ordered"}]}, "Log": {"count": 1}, "Refuse": {"reached": false}}},
    });
    assert_eq!(
        words(full),
        r#"{"amount":300}, Customer answers [{"name":"Ann"}] → status 200, answer {"big":true}, Tell sends [{"text":"Ann ordered"}], Log hands on 1 item, Refuse is not reached"#
    );
    let bare = json!({"input": {"body": {}}, "expect": {"answer": "ok"}});
    assert_eq!(words(bare), r#"whatever it reads → answer "ok""#);
    let two = json!({"input": {"body": {"a": 1}, "query": {"b": 2}}, "expect": {"nodes": {"Log": {"items": [{"a": 1}]}}}});
    assert_eq!(
        words(two),
        r#"{"body":{"a":1},"query":{"b":2}} → Log hands on [{"a":1}]"#
    );
}

/// A run in which each of these nodes handed on these items.
fn run(nodes: &[(&str, Value)]) -> Trace {
    let items = |list: &Value| -> Vec<Value> {
        let list = list.as_array().unwrap();
        list.iter().map(|item| json!({"json": item})).collect()
    };
    let data: serde_json::Map<String, Value> = nodes
        .iter()
        .map(|(name, list)| {
            (
                (*name).to_owned(),
                json!([{"data": {"main": [items(list)]}}]),
            )
        })
        .collect();
    Trace::read(&json!({"id": "1", "status": "success", "data": {"resultData": {"runData": data}}}))
}

fn judged(expect: Value, trace: &mut Trace, has_failed: bool) -> CaseVerdict {
    judged_with(json!({"Customer": [{}]}), expect, trace, has_failed)
}

fn judged_with(mocks: Value, expect: Value, trace: &mut Trace, has_failed: bool) -> CaseVerdict {
    let rehearsal = rehearsal(mocks);
    let sent = sent(&rehearsal, trace);
    let seen = Seen {
        trace,
        status: Some(200),
        answer: Some(&json!({"ok": true, "id": 7})),
        sent: &sent,
        has_failed,
        stopped: None,
    };
    judge_case(
        &serde_json::from_value(expect).unwrap(),
        &workflow(),
        &rehearsal,
        seen,
    )
}

#[test]
fn given_items_stand_in_for_a_service_once() {
    let rehearsal = rehearsal(json!({"Customer": [{"name": "Ann"}, {"name": "={{ 1 }}"}]}));
    let copy = &rehearsal.copy;
    let kind = |name: &str| copy.node_by_name(name).unwrap().node_type().to_owned();
    assert_eq!(kind("Customer"), "n8n-nodes-base.splitOut");
    assert_eq!(kind("Customer is given"), "n8n-nodes-base.set");
    let edges: Vec<(&str, &str)> = copy
        .edges()
        .map(|(from, _, _, link)| (from, link.node.as_str()))
        .collect();
    assert_eq!(
        edges,
        [
            ("Order", "Customer would send"),
            ("Order", "Customer is given"),
            ("Customer", "Tell would send"),
            ("Customer", "Tell"),
            ("Customer is given", "Customer"),
            ("Rehearsal start", "Order"),
        ]
    );
    let given = copy.node_by_name("Customer is given").unwrap();
    let text = given.parameters().unwrap()["jsonOutput"].as_str().unwrap();
    assert!(!text.starts_with('=') && !text.contains("{{"), "{text}");
}

/// n8n itself hands an item that is an error alone on by the output for errors.
#[test]
fn a_service_that_is_given_as_failing_leaves_by_its_output_for_errors() {
    let mut workflow = workflow();
    let customer = workflow.nodes.iter_mut().find(|n| n.name() == "Customer");
    customer
        .unwrap()
        .set("onError", json!("continueErrorOutput"));
    workflow
        .connections
        .get_mut("Customer")
        .unwrap()
        .get_mut("main")
        .unwrap()
        .insert(0, None);
    let copy = |mocks: Value| {
        let wishes = Wishes {
            path: "p",
            mocks: serde_json::from_value(mocks).unwrap(),
            ..Wishes::default()
        };
        rehearse(&workflow, Catalog::embedded(), &wishes)
            .unwrap()
            .copy
    };
    let given = copy(json!({"Customer": [{"error": "boom"}]}));
    let customer = given.node_by_name("Customer").unwrap();
    assert_eq!(customer.map()["onError"], json!("continueErrorOutput"));
    let by_errors = |copy: &Workflow| {
        copy.edges().any(|(from, _, output, link)| {
            (from, output, link.node.as_str()) == ("Customer", 1, "Tell")
        })
    };
    assert!(by_errors(&given));
    // What the test makes up is no failure.
    let made_up = copy(json!({}));
    assert!(
        !by_errors(&made_up)
            && made_up
                .node_by_name("Customer")
                .unwrap()
                .map()
                .get("onError")
                .is_none()
    );
}

#[test]
fn items_cannot_be_given_for_what_starts_the_run() {
    let wishes = Wishes {
        path: "p",
        mocks: serde_json::from_value(json!({"Order": [{}]})).unwrap(),
        ..Wishes::default()
    };
    let why = rehearse(&workflow(), Catalog::embedded(), &wishes).unwrap_err();
    assert!(why.to_string().contains("\"Order\""), "{why}");
}

#[test]
fn what_a_simulated_node_would_send_is_worked_out_beside_it() {
    let mut trace = run(&[
        ("Order", json!([{}])),
        ("Customer would send", json!([{"e0": "https://crm.test/7"}])),
        ("Customer", json!([{"name": "Ann"}])),
        ("Tell would send", json!([{"e0": "New order of Ann"}])),
        ("Tell", json!([{}])),
    ]);
    let text = |text: &str| json!({"nodes": {"Tell": {"sent": [{"text": text, "otherOptions": {"note": "plain"}}]}}});
    let good = judged(text("New order of Ann"), &mut trace.clone(), false);
    assert_eq!(good.outcome, CaseOutcome::Passed, "{good:?}");
    let bad = judged(text("New order of Bob"), &mut trace, false);
    assert_eq!(bad.outcome, CaseOutcome::Failed);
    assert_eq!(
        bad.checks[0].why,
        "at /0/text: \"New order of Ann\", not \"New order of Bob\""
    );
}

#[test]
fn an_expression_that_cannot_be_worked_out_is_its_nodes_failure() {
    let mut trace = Trace::read(
        &json!({"id": "1", "status": "error", "data": {"resultData": {
            "lastNodeExecuted": "Tell would send",
            "runData": {"Tell would send": [{"error": {"message": "Cannot read properties of undefined"}}]}
        }}}),
    );
    let sent = sent(&rehearsal(json!({})), &mut trace);
    assert!(sent.is_empty());
    let faults = trace.faults();
    assert_eq!(faults[0].node.as_deref(), Some("Tell"));
    assert_eq!(trace.last_node.as_deref(), Some("Tell"));
}

#[test]
fn an_expression_that_is_more_than_work_on_data_is_not_worked_out() {
    let mut workflow = workflow();
    let tell = workflow
        .nodes
        .iter_mut()
        .find(|n| n.name() == "Tell")
        .unwrap();
    tell.set("parameters", json!({"text": "={{ $env.SECRET }}"}));
    let wishes = Wishes {
        path: "p",
        ..Wishes::default()
    };
    let rehearsal = rehearse(&workflow, Catalog::embedded(), &wishes).unwrap();
    assert!(rehearsal.shadows.iter().all(|shadow| shadow.of != "Tell"));
    assert!(rehearsal.copy.node_by_name("Tell would send").is_none());
}

#[test]
fn a_case_passes_only_if_all_of_it_was_seen() {
    let trace = || {
        run(&[
            ("Order", json!([{}])),
            ("Customer", json!([{"name": "Ann"}, {"name": "Bob"}])),
        ])
    };
    let outcome =
        |expect: Value, has_failed: bool| judged(expect, &mut trace(), has_failed).outcome;
    let all = json!({"status": 200, "answer": {"ok": true}, "nodes": {"Customer": {"items": [{"name": "Ann"}, {"name": "Bob"}], "count": 2}, "Tell": {"reached": false}}});
    assert_eq!(outcome(all.clone(), false), CaseOutcome::Passed);
    assert_eq!(outcome(all, true), CaseOutcome::Failed);
    for expect in [
        json!({"status": 404}),
        json!({"answer": {"ok": false}}),
        json!({"answer": {"other": 1}}),
        json!({"nodes": {"Customer": {"count": 1}}}),
        json!({"nodes": {"Customer": {"items": [{"name": "Ann"}]}}}),
        json!({"nodes": {"Customer": {"reached": false}}}),
    ] {
        assert_eq!(
            outcome(expect.clone(), false),
            CaseOutcome::Failed,
            "{expect}"
        );
    }
    for expect in [
        json!({"nodes": {"Tell": {"reached": true}}}),
        json!({"nodes": {"Tell": {"count": 1}}}),
    ] {
        assert_eq!(
            outcome(expect.clone(), false),
            CaseOutcome::NotReached,
            "{expect}"
        );
    }
}

#[test]
fn nothing_comes_out_of_a_node_that_is_not_reached() {
    let mut trace = run(&[
        ("Order", json!([{}])),
        ("Customer", json!([{"name": "Ann"}])),
    ]);
    for none in [
        json!({"count": 0}),
        json!({"items": []}),
        json!({"sent": []}),
    ] {
        let verdict = judged(json!({"nodes": {"Tell": none}}), &mut trace, false);
        assert_eq!(verdict.outcome, CaseOutcome::Passed, "{verdict:?}");
    }
}

/// With another answer of the service than the one that the test made up it might have come.
#[test]
fn nothing_that_came_on_a_made_up_items_way_says_nothing() {
    let large = json!({"id": "L", "name": "Large?", "type": "n8n-nodes-base.if", "typeVersion": 2.2, "position": [0, 0], "parameters": {"conditions": {"conditions": [{"leftValue": "={{ $json.name }}", "rightValue": "x", "operator": {"type": "string", "operation": "equals"}}]}}});
    let mut document = workflow().to_value();
    document["nodes"].as_array_mut().unwrap().push(large);
    let to = |name: &str| json!({"main": [[{"node": name, "type": "main", "index": 0}]]});
    document["connections"] =
        json!({"Order": to("Customer"), "Customer": to("Large?"), "Large?": to("Tell")});
    let workflow = Workflow::from_value(document).unwrap();
    let ran = [
        ("Order", json!([{}])),
        ("Customer", json!([{"name": "Sample"}])),
        ("Large?", json!([])),
    ];
    let outcome = |mocks: Value, expect: Value| {
        let wishes = Wishes {
            path: "p",
            mocks: serde_json::from_value(mocks).unwrap(),
            ..Wishes::default()
        };
        let rehearsal = rehearse(&workflow, Catalog::embedded(), &wishes).unwrap();
        let seen = Seen {
            trace: &run(&ran),
            status: Some(200),
            answer: None,
            sent: &IndexMap::new(),
            has_failed: false,
            stopped: None,
        };
        let expect = serde_json::from_value(expect).unwrap();
        judge_case(&expect, &workflow, &rehearsal, seen)
    };
    for expect in [
        json!({"nodes": {"Tell": {"reached": false}}}),
        json!({"nodes": {"Tell": {"sent": []}}}),
        json!({"nodes": {"Large?": {"count": 0}}}),
        json!({"nodes": {"Large?": {"items": []}}}),
    ] {
        let verdict = outcome(json!({}), expect.clone());
        assert_eq!(
            verdict.outcome,
            CaseOutcome::Inconclusive,
            "{expect}: {verdict:?}"
        );
        let why = &verdict.checks[0].why;
        assert!(
            why.contains("\"Customer\"") && why.contains("mocks"),
            "{why}"
        );
        let given = outcome(json!({"Customer": [{"name": "Sample"}]}), expect.clone());
        assert_eq!(given.outcome, CaseOutcome::Passed, "{expect}: {given:?}");
    }
}

/// An account that is not there, or a look in the code that ended it.
#[test]
fn a_run_that_stopped_for_a_reason_outside_says_nothing_of_what_did_not_come() {
    let rehearsal = rehearsal(json!({"Customer": [{}]}));
    let trace = run(&[("Order", json!([{}])), ("Customer", json!([{}]))]);
    let outcome = |expect: Value| {
        let seen = Seen {
            trace: &trace,
            status: Some(500),
            answer: None,
            sent: &IndexMap::new(),
            has_failed: false,
            stopped: Some("no answer"),
        };
        judge_case(
            &serde_json::from_value(expect).unwrap(),
            &workflow(),
            &rehearsal,
            seen,
        )
        .outcome
    };
    assert_eq!(
        outcome(json!({"answer": {"ok": true}})),
        CaseOutcome::Inconclusive
    );
    assert_eq!(
        outcome(json!({"nodes": {"Customer": {"reached": false}}})),
        CaseOutcome::Failed
    );
    for none in [
        json!({"reached": false}),
        json!({"count": 0}),
        json!({"sent": []}),
    ] {
        let expect = json!({"nodes": {"Tell": none}});
        assert_eq!(outcome(expect), CaseOutcome::Inconclusive, "{none}");
    }
}

/// Whoever reads why a check failed need not see who called.
#[test]
fn headers_are_not_told() {
    let item = json!({"headers": {"authorization": "Bearer s3cret"}, "params": {}, "query": {}, "body": {"a": 1}});
    let why = super::differs(&json!({"ok": true}), &json!({"got": [item]})).unwrap();
    assert!(!why.contains("s3cret"), "{why}");
    let why = super::differs(&json!("x"), &item).unwrap();
    assert!(why.contains("1 header") && !why.contains("s3cret"), "{why}");
    // Wherever they were put, whole or one of them.
    let headers = json!({"host": "n8n.test", "User-Agent": "curl", "x-shop-key": "s3cret"});
    for item in [
        json!({"h": headers}),
        json!({"headers": headers, "body": {"a": 1}}),
        json!({"list": [{"Authorization": "Bearer s3cret"}]}),
        json!({"cookie": "sid=s3cret", "a": 1}),
    ] {
        let told = without_headers(&item).to_string();
        assert!(!told.contains("s3cret"), "{told}");
    }
    let own = json!({"accept": true, "headers": {"a": 1}, "host": {"name": "Ann"}});
    assert_eq!(
        without_headers(&json!([{"x": own["headers"]}])),
        json!([{"x": {"a": 1}}])
    );
}

#[test]
fn a_case_that_could_not_fail_or_names_no_node_is_none() {
    let case = |expect: Value| -> Vec<String> {
        let case: Case = serde_json::from_value(json!({"expect": expect})).unwrap();
        case.wrong(&workflow())
    };
    assert_eq!(
        case(json!({})),
        ["it expects nothing, so it could not fail"]
    );
    assert_eq!(
        case(json!({"nodes": {"Tell": {}}})),
        ["it expects nothing, so it could not fail"]
    );
    assert_eq!(
        case(json!({"nodes": {"Tel": {"count": 1}}})),
        ["the workflow has no node named \"Tel\""]
    );
    assert!(case(json!({"status": 200})).is_empty());
    for empty in [
        json!({"answer": {}}),
        json!({"nodes": {"Tell": {"sent": [{}]}}}),
        json!({"nodes": {"Tell": {"items": [{}, {}]}}}),
    ] {
        let wrong = case(empty.clone());
        assert!(
            wrong.iter().any(|why| why.contains("{}")),
            "{empty}: {wrong:?}"
        );
    }
    assert!(case(json!({"nodes": {"Tell": {"sent": []}}})).is_empty());
}

#[test]
fn a_body_as_a_text_is_compared_as_what_it_is() {
    let differs = |expected: &str, seen: &str| super::differs(&json!(expected), &json!(seen));
    assert_eq!(differs(r#"{"who": "Ann"}"#, r#"{"who":"Ann","n":1}"#), None);
    assert_eq!(
        differs(r#"{"who": "Ann"}"#, r#"{"who":"Bo"}"#).as_deref(),
        Some("at /who: \"Bo\", not \"Ann\"")
    );
    assert!(differs("12", "012").is_some(), "a plain text is one");
}

/// n8n tells that the node's items came from the helper.
#[test]
fn what_came_to_given_items_came_to_their_node() {
    let rehearsal = rehearsal(json!({"Customer": [{"name": "Ann"}]}));
    let order = json!([{"body": {"id": 7}}]);
    let ran = |name: &str, from: &str, items: Value| run_of(name, Some(from), items, Value::Null);
    let runs = vec![
        ran("Order", "Rehearsal start", order),
        ran(
            "Customer would send",
            "Order",
            json!([{"e0": "https://crm.test/7"}]),
        ),
        ran(
            "Customer is given",
            "Order",
            json!([{"items": [{"name": "Ann"}]}]),
        ),
        ran("Customer", "Customer is given", json!([{"name": "Ann"}])),
        ran(
            "Tell would send",
            "Customer",
            json!([{"e0": "New order of Ann"}]),
        ),
        ran("Tell", "Customer", json!([{}])),
    ];
    let mut trace = Trace::read(&execution("success", runs));
    let sent = sent(&rehearsal, &mut trace);
    assert!(!trace.ran("Customer is given"));
    let tried = Tried {
        rehearsal: &rehearsal,
        sent: &sent,
        is_given: true,
    };
    let verdict = judge(&workflow(), tried, &trace, &[]);
    assert_eq!(verdict.findings, vec![]);
}

#[test]
fn an_answer_has_a_value_under_each_key_that_is_expected() {
    let expect = |keys: Value| json!({"answer_has": keys});
    let mut trace = run(&[("Order", json!([{}])), ("Customer", json!([{}]))]);
    let has = judged(expect(json!(["ok", "id"])), &mut trace, false);
    assert_eq!(has.outcome, CaseOutcome::Passed);
    let lacks = judged(expect(json!(["ok", "time", "by"])), &mut trace, false);
    assert_eq!(lacks.outcome, CaseOutcome::Failed);
    assert_eq!(lacks.checks[0].why, r#"{"ok":true,"id":7} has no time, by"#);
    let said = |answer: Value| differences::lacks(&["a".to_owned()], &answer);
    assert_eq!(said(json!("{\"a\": 1}")), None);
    for without in [json!({"a": null}), json!("a"), json!([{"a": 1}])] {
        assert!(said(without.clone()).is_some(), "{without}");
    }
    let words = Case::deserialize(json!({"expect": {"status": 200, "answer_has": ["ok", "id"]}}));
    assert_eq!(
        words.unwrap().in_words(),
        "whatever it reads → status 200, an answer with ok, id"
    );
}
