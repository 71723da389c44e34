use super::effect::{Effect, effect};
use super::fixture::*;
use super::*;
use crate::n8n::catalog::Catalog;
use crate::n8n::validate::validate;
use crate::n8n::{Node, Severity, Workflow, arbitrary};
use proptest::prelude::*;
use serde_json::{Value, json};

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
            because: "it would act on the outside world (message post); its credential (slackApi) is not connected".into(),
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
        because: "its credential (slackApi) is not connected".into(),
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
    let Part::Simulated { why, hands_on, .. } = part(&rehearsal, "Agent") else {
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
}
