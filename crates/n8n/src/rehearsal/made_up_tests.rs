use super::super::fixture::{chain, execution, node, run, seen, set, tried, webhook};
use super::super::{Case, CaseOutcome, CaseVerdict, Seen, judge_case};
use super::*;
use crate::catalog::Catalog;
use indexmap::IndexMap;
use serde_json::json;

/// Python is not run in a test.
fn python(name: &str) -> Value {
    node(
        name,
        "n8n-nodes-base.code",
        2.0,
        json!({"language": "pythonNative", "pythonCode": "return [{'json': {'x': 1}}]"}),
    )
}

fn judged(
    workflow: &Workflow,
    case: &Value,
    items: &[(&str, Value)],
    answer: Value,
) -> CaseVerdict {
    let runs: Vec<(String, Value)> = items
        .iter()
        .map(|(name, items)| run(name, None, items.clone(), Value::Null))
        .collect();
    let mut document = execution("success", runs);
    document["data"]["resultData"]["lastNodeExecuted"] = json!(items.last().unwrap().0);
    let trace = Trace::read(&document);
    let case: Case = serde_json::from_value(case.clone()).unwrap();
    let wishes = super::super::Wishes {
        path: "k3",
        mocks: case.mocks.clone(),
        ..super::super::Wishes::default()
    };
    let rehearsal = super::super::rehearse(workflow, Catalog::embedded(), &wishes).unwrap();
    let seen = Seen {
        trace: &trace,
        status: Some(200),
        answer: Some(&answer),
        sent: &IndexMap::new(),
        has_failed: false,
        stopped: None,
    };
    judge_case(&case.expect, workflow, &rehearsal, seen)
}

#[test]
fn what_rests_on_a_simulated_nodes_items_says_nothing_and_names_it() {
    let workflow = chain(vec![
        webhook("py"),
        python("Work"),
        set("Name", "y", "={{ $json.x }}"),
    ]);
    let ran = [
        ("Webhook", json!([{}])),
        ("Work", json!([{"x": "Sample"}])),
        ("Name", json!([{"y": "Sample"}])),
    ];
    for expect in [
        json!({"answer": {"y": 1}}),
        json!({"nodes": {"Work": {"items": [{"x": 1}]}}}),
        json!({"nodes": {"Name": {"items": [{"y": 1}]}}}),
        json!({"nodes": {"Name": {"count": 2}}}),
    ] {
        let verdict = judged(
            &workflow,
            &json!({"expect": expect}),
            &ran,
            json!({"y": "Sample"}),
        );
        assert_eq!(
            verdict.outcome,
            CaseOutcome::Inconclusive,
            "{expect}: {verdict:?}"
        );
        let why = &verdict.checks[0].why;
        assert!(
            why.contains("\"Work\"") && why.contains("language"),
            "{why}"
        );
    }
    // With items that the case gives for it the same is the workflow's own fault.
    let given = json!({"mocks": {"Work": [{"x": 2}]}, "expect": {"answer": {"y": 1}}});
    let verdict = judged(&workflow, &given, &ran, json!({"y": 2}));
    assert_eq!(verdict.outcome, CaseOutcome::Failed, "{verdict:?}");
}

#[test]
fn what_does_not_read_it_is_held_against_the_workflow() {
    let workflow = chain(vec![
        webhook("t"),
        python("Work"),
        set(
            "Total",
            "total",
            "={{ $('Webhook').first().json.body.amount * 3 }}",
        ),
    ]);
    let ran = [
        ("Webhook", json!([{}])),
        ("Work", json!([{}])),
        ("Total", json!([{"total": 15}])),
    ];
    let case = json!({"expect": {"answer": {"total": 10}}});
    let verdict = judged(&workflow, &case, &ran, json!({"total": 15}));
    assert_eq!(verdict.outcome, CaseOutcome::Failed, "{verdict:?}");
}

#[test]
fn a_way_that_a_made_up_item_took_says_nothing() {
    let decides = node(
        "Large?",
        "n8n-nodes-base.if",
        2.2,
        json!({"conditions": {"conditions": [{"leftValue": "={{ $json.x }}", "rightValue": 3, "operator": {"type": "number", "operation": "gt"}}]}}),
    );
    let workflow = chain(vec![
        webhook("w"),
        python("Work"),
        decides,
        set("Large", "l", "yes"),
    ]);
    let ran = [
        ("Webhook", json!([{}])),
        ("Work", json!([{"x": 4}])),
        ("Large?", json!([{"x": 4}])),
        ("Large", json!([{"l": "yes"}])),
    ];
    for expect in [
        json!({"nodes": {"Large": {"reached": false}}}),
        json!({"answer": {"l": "no"}}),
    ] {
        let verdict = judged(
            &workflow,
            &json!({"expect": expect}),
            &ran,
            json!({"l": "yes"}),
        );
        assert_eq!(
            verdict.outcome,
            CaseOutcome::Inconclusive,
            "{expect}: {verdict:?}"
        );
    }
}

/// Of several nodes that could answer, the one that did.
#[test]
fn only_a_node_that_answered_tells_what_the_answer_rests_on() {
    let decides = node(
        "Large?",
        "n8n-nodes-base.if",
        2.2,
        json!({"conditions": {"conditions": [{"leftValue": "={{ $('Webhook').first().json.body.n }}", "rightValue": 3, "operator": {"type": "number", "operation": "gt"}}]}}),
    );
    let answers = |name: &str, body: &str| {
        let parameters = json!({"respondWith": "json", "responseBody": body});
        node(name, "n8n-nodes-base.respondToWebhook", 1.1, parameters)
    };
    let whole = chain(vec![
        webhook("w"),
        python("Work"),
        decides,
        answers("Fixed", "{\"l\": 1}"),
        answers("Theirs", "={{ $json.x }}"),
    ]);
    let mut document = whole.to_value();
    let to = |name: &str| json!({"node": name, "type": "main", "index": 0});
    document["connections"]["Large?"] = json!({"main": [[to("Fixed")], [to("Theirs")]]});
    document["connections"]["Fixed"] = json!({});
    let workflow = Workflow::from_value(document).unwrap();
    let outcome = |last: &str| {
        let ran = [
            ("Webhook", json!([{}])),
            ("Work", json!([{"x": 4}])),
            ("Large?", json!([{"x": 4}])),
            (last, json!([{"x": 4}])),
        ];
        let case = json!({"expect": {"answer": {"l": 2}}});
        judged(&workflow, &case, &ran, json!({"l": 1})).outcome
    };
    assert_eq!(outcome("Fixed"), CaseOutcome::Failed);
    assert_eq!(outcome("Theirs"), CaseOutcome::Inconclusive);
}

/// What a node in the body of a loop was made up to hand on comes back to the loop, and not to the node again.
#[test]
fn the_body_of_a_loop_rests_on_what_entered_it() {
    for (version, done, body) in [(3.0, 0, 1), (2.0, 1, 0)] {
        let mut document = chain(vec![
            webhook("w"),
            node(
                "Loop",
                "n8n-nodes-base.splitInBatches",
                version,
                json!({"batchSize": 2}),
            ),
            python("Work"),
            set("After", "x", "={{ $json.x }}"),
            set("Done", "x", "={{ $json.x }}"),
        ])
        .to_value();
        let to = |name: &str| json!({"node": name, "type": "main", "index": 0});
        let mut outputs = vec![json!([]), json!([])];
        outputs[done] = json!([to("Done")]);
        outputs[body] = json!([to("Work")]);
        document["connections"]["Loop"] = json!({"main": outputs});
        document["connections"]["After"] = json!({"main": [[to("Loop")]]});
        let workflow = Workflow::from_value(document).unwrap();
        let ran = ["Webhook", "Loop", "Work", "After", "Done"]
            .map(|name| run(name, None, json!([{"x": 1}]), Value::Null));
        let trace = Trace::read(&execution("success", ran.to_vec()));
        let made = MadeUp::of(&workflow, &tried(&workflow).parts, &trace);
        let read = ["Loop", "Work", "After", "Done"].map(|name| made.work(name));
        let after = [None, None, Some("Work"), Some("Work")];
        assert_eq!(read, after, "{version}");
        assert_eq!(made.calls("Work"), None);
        assert_eq!(made.way("Done"), None);
    }
}

/// What the body of an inner loop was made up to hand on leaves the inner and the outer loop, and enters neither again.
#[test]
fn the_body_of_an_outer_loop_rests_on_nothing_that_the_inner_one_made() {
    for reversed in [false, true] {
        let looped = |name: &str| {
            let size = json!({"batchSize": 2});
            node(name, "n8n-nodes-base.splitInBatches", 3.0, size)
        };
        let mut document = chain(vec![
            webhook("w"),
            looped("Outer"),
            set("Before", "x", "={{ $json.x }}"),
            looped("Inner"),
            python("Work"),
            set("Done", "x", "={{ $json.x }}"),
        ])
        .to_value();
        let to = |name: &str| json!({"node": name, "type": "main", "index": 0});
        for (from, outputs) in [
            ("Outer", json!([[to("Done")], [to("Before")]])),
            ("Inner", json!([[to("Outer")], [to("Work")]])),
            ("Work", json!([[to("Inner")]])),
        ] {
            document["connections"][from] = json!({"main": outputs});
        }
        if reversed {
            document["nodes"].as_array_mut().unwrap().reverse();
        }
        let workflow = Workflow::from_value(document).unwrap();
        let ran = ["Webhook", "Outer", "Before", "Inner", "Work", "Done"]
            .map(|name| run(name, None, json!([{"x": 1}]), Value::Null));
        let trace = Trace::read(&execution("success", ran.to_vec()));
        let made = MadeUp::of(&workflow, &tried(&workflow).parts, &trace);
        let read = ["Outer", "Before", "Inner", "Work", "Done"].map(|name| made.work(name));
        let only_behind = [None, None, None, None, Some("Work")];
        assert_eq!(read, only_behind, "reversed: {reversed}");
    }
}

/// However the nodes are written down.
#[test]
fn what_a_long_way_rests_on_is_found_in_any_order() {
    let mut nodes = vec![webhook("w"), python("Work")];
    nodes.extend((0..1_000).map(|at| set(&format!("S{at}"), "x", "={{ $json.x }}")));
    let mut document = chain(nodes).to_value();
    document["nodes"].as_array_mut().unwrap().reverse();
    let workflow = Workflow::from_value(document).unwrap();
    let ran = [
        run("Webhook", None, json!([{}]), Value::Null),
        run("Work", None, json!([{"x": 1}]), Value::Null),
    ];
    let trace = Trace::read(&execution("success", ran.to_vec()));
    let made = MadeUp::of(&workflow, &tried(&workflow).parts, &trace);
    assert_eq!(made.items("S999"), Some("Work"));
}

#[test]
fn a_failure_on_made_up_items_is_no_error_of_the_workflow() {
    let workflow = |before: Value| {
        chain(vec![
            webhook("w"),
            before,
            set("Name", "y", "={{ $json.x.trim() }}"),
        ])
    };
    let status = |workflow: &Workflow, of: &str| {
        let failed = run(
            "Name",
            Some(of),
            json!([]),
            json!({"message": "trim is not a function"}),
        );
        let runs = vec![
            run("Webhook", None, json!([{}]), Value::Null),
            run(of, Some("Webhook"), json!([{"x": 1}]), Value::Null),
            failed,
        ];
        let trace = Trace::read(&execution("error", runs));
        seen(workflow, &trace, &[])
    };
    let made_up = status(&workflow(python("Work")), "Work");
    assert_eq!(
        made_up.test_status, "inconclusive",
        "{:?}",
        made_up.findings
    );
    assert!(
        made_up.findings[0].message.contains("\"Work\""),
        "{:?}",
        made_up.findings
    );
    let own = status(&workflow(set("Work", "x", "={{ 1 }}")), "Work");
    assert_eq!(own.test_status, "fail", "{:?}", own.findings);
}

/// As n8n tells it: cut in two, and with the line.
#[test]
fn a_look_at_a_field_that_ends_the_run_is_no_error_of_the_workflow() {
    let workflow = chain(vec![webhook("w"), set("Name", "y", "={{ $json.x }}")]);
    let error =
        json!({"message": "constructor [line 2]", "description": super::super::plain::SAYS});
    let runs = vec![
        run("Webhook", None, json!([{}]), Value::Null),
        run("Name", Some("Webhook"), json!([]), error),
    ];
    let trace = Trace::read(&execution("error", runs));
    let verdict = seen(&workflow, &trace, &[]);
    assert_eq!(
        verdict.test_status, "inconclusive",
        "{:?}",
        verdict.findings
    );
    // Neither an account nor an address would help.
    let told = &verdict.findings[0].message;
    assert!(told.contains("the test ended itself here"), "{told}");
}
