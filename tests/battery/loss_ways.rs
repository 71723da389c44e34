//! Ways to make a workflow do nothing that take no node out of it, and ways to have a loss taken for a person's doing: cases 341
//! to 345 and 349 to 352. What is counted, and over what, is in `loss`; gates are in `loss_gates`.

use crate::loss::{User, held, is_refused, orders, removed, session, update};
use crate::support::*;
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::accepted::Step;
use agentctl_n8n_tools::backend::BackendErrorKind;
use agentctl_n8n_tools::noted::BaseHow;
use serde_json::{Value, json};

pub const BASE: &str = "n8n-nodes-base.";

/// A new node between two that follow each other in the chain.
pub fn before(to: usize, node_type: &str, version: f64, parameters: Value) -> Value {
    let (from, to) = (format!("id-{}", to - 1), format!("id-{to}"));
    json!([
        {"op": "add_node", "node": {"name": "Gate", "type": format!("{BASE}{node_type}"), "typeVersion": version, "parameters": parameters}},
        {"op": "rewire", "from": from, "to": to, "new_to": "Gate"},
        {"op": "connect", "from": "Gate", "to": to}])
}

/// In front of all but the start.
pub fn gate(node_type: &str, version: f64, parameters: Value) -> Value {
    before(1, node_type, version, parameters)
}

fn code(text: &str) -> Value {
    gate("code", 2.0, json!({"jsCode": text}))
}

pub fn condition(kind: &str, left: &str, operation: &str, right: Value) -> Value {
    json!({"leftValue": left, "rightValue": right, "operator": {"type": kind, "operation": operation}})
}

pub fn conditions(list: Value) -> Value {
    json!({"conditions": {"options": {}, "combinator": "and", "conditions": list}})
}

/// What the first answer to the change is, where a person can be asked: the text of the wipe guard's question; None: it is done.
pub fn asked(workflow: &Workflow, ops: &Value) -> Option<String> {
    block_on(async {
        let (bench, backend) = attacked();
        backend.put("orders", workflow.clone(), false);
        let mut bench = session(bench, &User::new()).await;
        bench.can_ask = true;
        let args = update(ops.clone()).to_string();
        match bench
            .raw("builder", "update_workflow", &args)
            .await
            .unwrap()
        {
            agentctl_engine::gateway::Settled::NeedsApproval(question) => {
                assert_eq!(question.topic, "approve-wipe", "{ops}");
                assert_eq!(backend.held("orders").as_ref(), Some(workflow));
                Some(question.text)
            }
            agentctl_engine::gateway::Settled::Done(result) => {
                assert_eq!(
                    result.status,
                    agentctl_base::model::ToolStatus::Ok,
                    "{ops}: {:#}",
                    result.content
                );
                None
            }
            agentctl_engine::gateway::Settled::Begun => panic!("{ops}: began a flow"),
        }
    })
}

/// Lost, and not only behind something that may let nothing through.
fn is_lost(workflow: &Workflow, ops: Value) {
    let question = asked(workflow, &ops);
    assert!(
        question
            .as_ref()
            .is_some_and(|text| text.contains("would lose")),
        "{ops}: {question:?}"
    );
    is_refused(workflow, ops);
}

#[test]
fn case_341_thousands_of_writes_that_fail_make_no_state_an_accepted_one() {
    block_on(async {
        let user = User::new();
        let (bench, backend) = attacked();
        let mut bench = session(bench, &user).await;
        bench.ok("builder", "update_workflow", removed(5..10)).await;
        // What each write notes before n8n refuses it; the last of them through the gateway.
        let id = WorkflowId("orders".into());
        let there = graph_hash(&backend.held("orders").unwrap());
        let shelf = user.shelf();
        for n in 0..4_090 {
            let step = Step {
                before: &there,
                after: &format!("{n:064}"),
                lossy: false,
            };
            shelf.leave(&id, &step).unwrap();
        }
        for n in 0..12 {
            backend.next("replace", Lie::Fails(BackendErrorKind::Rejected));
            bench
                .call(
                    "builder",
                    "update_workflow",
                    set("orders", "id-1", json!(n + 100)),
                )
                .await;
        }
        assert_eq!(graph_hash(&backend.held("orders").unwrap()), there);
        for _ in 0..2 {
            bench = session(bench, &user).await;
            let refused = bench
                .refused("builder", "update_workflow", removed(4..5))
                .await;
            assert_eq!((refused.as_str(), held(&backend)), ("guard.wipe", 5));
            let base = user.shelf().known(&id).unwrap().unwrap();
            assert_eq!((base.how, base.outline.total()), (BaseHow::FirstSeen, 10));
        }
        // Not even a state that agentctl left so long ago that it was forgotten.
        backend.put("orders", chain("orders", 4), false);
        let mut bench = session(bench, &user).await;
        assert_eq!(
            bench
                .refused("builder", "update_workflow", removed(3..4))
                .await,
            "guard.wipe"
        );
    });
}

#[test]
fn case_342_a_start_that_a_person_presses_is_none_for_what_began_by_itself() {
    let start = |node_type: &str, parameters: Value| {
        json!([
            {"op": "remove_node", "node": "id-0"},
            {"op": "add_node", "node": {"name": "New", "type": node_type, "typeVersion": 1, "parameters": parameters}},
            {"op": "connect", "from": "New", "to": "id-1"}])
    };
    for node_type in [
        "n8n-nodes-base.manualTrigger",
        "@n8n/n8n-nodes-langchain.manualChatTrigger",
        // Nobody calls it; a node that waits for answers; a type that nobody knows.
        "n8n-nodes-base.executeWorkflowTrigger",
        "n8n-nodes-base.slack",
        "n8n-nodes-nobody.nothingTrigger",
    ] {
        is_lost(&orders(8), start(node_type, json!({})));
    }
    // The old one stays, and does not begin any more, or leads nowhere.
    for off in [
        json!({"op": "disable_node", "node": "id-0"}),
        json!({"op": "disconnect", "from": "id-0", "to": "id-1"}),
    ] {
        let manual = json!({"op": "add_node", "node": {"name": "New", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1}});
        let connect = json!({"op": "connect", "from": "New", "to": "id-1"});
        is_lost(&orders(8), json!([off, manual, connect]));
    }
    // Another start that begins by itself, and one by hand besides.
    let hook = json!({"httpMethod": "POST", "path": "orders"});
    assert_eq!(
        asked(&orders(8), &start("n8n-nodes-base.webhook", hook)),
        None
    );
    let besides = json!([
        {"op": "add_node", "node": {"name": "New", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1}},
        {"op": "connect", "from": "New", "to": "id-1"}]);
    assert_eq!(asked(&orders(8), &besides), None);
    // What a person pressed before may be pressed still.
    let mut pressed = orders(8);
    if let Some(node) = pressed.nodes.first_mut() {
        node.set("type", json!("n8n-nodes-base.manualTrigger"));
    }
    let manual = start("n8n-nodes-base.manualTrigger", json!({}));
    assert_eq!(asked(&pressed, &manual), None);
}

#[test]
fn case_343_code_that_gives_nothing_is_told_by_its_syntax_tree() {
    for text in [
        "return [ ];",
        "// only the new ones\nreturn [] // none",
        "/* all */ return ([]);",
        "return [].slice(0, 0);",
        "return $input.all().slice(0,0);",
        "return items.filter(() => false);",
        "return items.filter(i => { return 1 > 2 });",
        "const out = [];\nreturn out;",
        "if (items.length) { return []; }\nreturn null;",
        "throw new Error('later');",
        "const a = 1;\nthrow a; return items;",
        "{ throw new Error('later') }",
        "if (true) return [];\nreturn items;",
        "return items.length && false ? items : [];",
        "return new Array();",
        "const n = 1;",
    ] {
        is_lost(&orders(8), code(text));
    }
    let python = |text: &str| {
        gate(
            "code",
            2.0,
            json!({"language": "python", "pythonCode": text}),
        )
    };
    for text in [
        "return []",
        "# later\nreturn [ ]",
        "import json\nraise ValueError('x')",
    ] {
        is_lost(&orders(8), python(text));
    }
    // Code that gives on what it gets is an edit; so is code that may.
    for text in [
        "return items;",
        "return $input.all().map(i => ({json: {...i.json, total: 1}}));",
        "const items = $input.all();\nfor (const item of items) { item.json.vat = item.json.net * 0.2; }\nreturn items;",
        "return [{json: {day: 1}}];",
    ] {
        assert_eq!(asked(&orders(8), &code(text)), None, "{text}");
    }
    for text in [
        "const out = [];\nfor (const item of items) { out.push(item); }\nreturn out;",
        "if (!items.length) return [];\nreturn items;",
    ] {
        let ops = before(5, "code", 2.0, json!({"jsCode": text}));
        assert_eq!(asked(&orders(8), &ops), None, "{text}");
    }
}

#[test]
fn case_344_conditions_that_can_be_reckoned_are() {
    let expression = |text: &str| json!([condition("boolean", text, "true", json!(""))]);
    for list in [
        json!([condition("number", "={{ 1 + 1 }}", "equals", json!(3))]),
        expression("={{ false && $json.paid }}"),
        expression("={{ $json.paid && false }}"),
        expression("={{ [].length }}"),
        expression("={{ [].length > 0 }}"),
        expression("={{ !!'' || null }}"),
        expression("={{ 'yes' === 'no' }}"),
        expression("={{ ['a'].includes('b') }}"),
        json!([condition("string", "new", "equals", json!("old"))]),
        json!([condition(
            "string",
            "={{ 'a' + 'b' }}",
            "equals",
            json!("b")
        )]),
        json!([condition("string", "={{ '' }}", "notEmpty", json!(""))]),
        json!([condition("string", "={{ null }}", "exists", json!(""))]),
        json!([condition(
            "string",
            "={{ $json.a }}",
            "notEquals",
            json!("={{ $json.a }}")
        )]),
        json!([
            condition("string", "={{ $json.a }}", "equals", json!("x")),
            condition("string", "={{ $json.a }}", "equals", json!("y"))
        ]),
        json!([
            condition("number", "={{ $json.n }}", "gt", json!(5)),
            condition("number", "={{ $json.n }}", "lt", json!(3))
        ]),
    ] {
        for kind in ["filter", "if"] {
            is_lost(&orders(8), gate(kind, 2.2, conditions(list.clone())));
        }
    }
    // What some item may meet is an edit where it stands before a few.
    for list in [
        expression("={{ $json.paid || false }}"),
        expression("={{ [$json.a].length > 0 }}"),
        json!([condition(
            "string",
            "={{ $json.a }}",
            "notEquals",
            json!("={{ $json.b }}")
        )]),
        json!([
            condition("number", "={{ $json.n }}", "gt", json!(3)),
            condition("number", "={{ $json.n }}", "lt", json!(5))
        ]),
    ] {
        let ops = before(5, "filter", 2.2, conditions(list));
        assert_eq!(asked(&orders(8), &ops), None, "{ops}");
    }
}

#[test]
fn case_345_schedules_waits_and_merges_that_come_to_nothing_are_known() {
    let rule = |rule: Value| json!([{"op": "replace_parameters", "node": "id-0", "parameters": {"rule": {"interval": [rule]}}}]);
    let cron = |text: &str| rule(json!({"field": "cronExpression", "expression": text}));
    for ops in [
        cron("never"),
        cron("0 0 30 2 *"),
        cron("0 0 31 4,6 *"),
        cron("a b c d e"),
        cron("* * *"),
        cron(""),
        cron("@never"),
        rule(json!({"field": "days", "daysInterval": 400})),
        rule(json!({"field": "hours", "hoursInterval": 99_999})),
        rule(json!({"field": "months", "monthsInterval": 24})),
        rule(json!({"field": "minutes", "minutesInterval": 1_000_000})),
        gate("wait", 1.1, json!({"amount": 1000, "unit": "days"})),
        gate("wait", 1.1, json!({"amount": 99_999_999})),
        gate(
            "wait",
            1.1,
            json!({"amount": "={{ 24 * 1000 }}", "unit": "hours"}),
        ),
        gate(
            "wait",
            1.1,
            json!({"resume": "specificTime", "dateTime": "2999-01-01T00:00:00"}),
        ),
        gate(
            "merge",
            3.0,
            json!({"mode": "chooseBranch", "output": "empty"}),
        ),
    ] {
        is_lost(&orders(8), ops);
    }
    for ops in [
        cron("@daily"),
        cron("0 9 * * 1-5"),
        cron("0 9 * * MON"),
        cron("0 0 L * *"),
        cron("={{ $vars.cron }}"),
        rule(json!({"field": "months", "monthsInterval": 12})),
        rule(json!({"field": "days", "daysInterval": 30})),
        gate("wait", 1.1, json!({"amount": 5, "unit": "minutes"})),
        gate("limit", 1.0, json!({"maxItems": 10})),
        gate("merge", 3.0, json!({})),
    ] {
        assert_eq!(asked(&orders(8), &ops), None, "{ops}");
    }
}

#[test]
fn case_349_what_a_run_made_is_its_own_until_somebody_else_works_on_it() {
    for kept in [true, false] {
        block_on(async {
            let user = User::new();
            let (bench, backend) = attacked();
            let mut bench = match kept {
                true => bench.again(user.shelf()),
                false => bench,
            };
            bench.can_ask = false;
            let create = json!({"name": "bills", "nodes": [{"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}}]});
            let made = bench.ok("builder", "create_workflow", create).await;
            let id = made["id"].as_str().unwrap().to_owned();
            let less = |nodes: std::ops::Range<usize>| {
                let mut args = removed(nodes);
                args["workflow_id"] = json!(id);
                args
            };
            // A change of its own first, then the user's work of an afternoon.
            bench
                .ok("builder", "update_workflow", set(&id, "Start", json!(1)))
                .await;
            backend.put(&id, chain("bills", 20), false);
            bench
                .ok("builder", "get_workflow", json!({"workflow_id": id}))
                .await;
            let delete = json!({"workflow_id": id});
            assert_eq!(
                bench
                    .refused("builder", "delete_workflow", delete.clone())
                    .await,
                "guard.owner"
            );
            assert_eq!(
                bench
                    .refused("builder", "update_workflow", less(5..20))
                    .await,
                "guard.wipe"
            );
            // Little by little, also after the run was folded again.
            bench.ok("builder", "update_workflow", less(12..20)).await;
            bench.refold();
            assert_eq!(
                bench
                    .refused("builder", "update_workflow", less(5..12))
                    .await,
                "guard.wipe"
            );
            assert_eq!(
                bench.refused("builder", "delete_workflow", delete).await,
                "guard.owner"
            );
            assert_eq!(backend.held(&id).unwrap().nodes.len(), 12);
        });
    }
}

#[test]
fn case_350_a_limit_of_a_second_stops_every_run() {
    let limit =
        |seconds: i64| json!([{"op": "set_settings", "settings": {"executionTimeout": seconds}}]);
    let question = asked(&orders(8), &limit(1)).unwrap();
    assert_eq!(
        question,
        "Allow to stop every run after a short time in the workflow \"orders\"? This run would have every execution stopped after 1 s."
    );
    is_refused(&orders(8), limit(1));
    assert_eq!(asked(&orders(8), &limit(3600)), None);
    assert_eq!(asked(&orders(8), &limit(-1)), None);
    // One that was there may be longer, not shorter.
    let mut short = orders(8);
    short
        .head
        .insert("settings".to_owned(), json!({"executionTimeout": 30}));
    assert_eq!(asked(&short, &limit(40)), None);
    assert!(asked(&short, &limit(2)).is_some());
}

#[test]
fn case_351_errors_that_are_passed_over_in_most_nodes_are_asked() {
    let silent = |nodes: std::ops::Range<usize>, how: &str| -> Value {
        nodes
            .map(|i| json!({"op": "set_node_settings", "node": format!("id-{i}"), "settings": {"onError": how}}))
            .collect()
    };
    is_lost(&orders(8), silent(0..8, "continueRegularOutput"));
    is_lost(&orders(8), silent(1..8, "continueErrorOutput"));
    assert_eq!(
        asked(&orders(8), &silent(4..8, "continueRegularOutput")),
        None
    );
    assert_eq!(asked(&orders(8), &silent(0..8, "stopWorkflow")), None);
}

#[test]
fn case_352_addresses_bodies_and_code_that_are_all_others_are_replaced() {
    let calls = |parameters: &dyn Fn(usize) -> Value, node_type: &str| {
        let mut workflow = orders(8);
        for (i, node) in workflow.nodes.iter_mut().enumerate().skip(1) {
            node.set("type", json!(format!("{BASE}{node_type}")));
            node.edit_parameters(|p| *p = parameters(i).as_object().unwrap().clone());
        }
        workflow
    };
    let http = calls(
        &|i| json!({"method": "POST", "url": format!("https://api.example.com/{i}"), "sendBody": true, "specifyBody": "json", "jsonBody": format!("={{\n\"n\": {i}\n}}"), "options": {"timeout": 5000}}),
        "httpRequest",
    );
    let each = |pointer: &str, value: Value| -> Value {
        (1..8)
            .map(|i| json!({"op": "set_parameter", "node": format!("id-{i}"), "pointer": pointer, "value": value}))
            .collect()
    };
    is_lost(&http, each("/url", json!("https://elsewhere.example.org/")));
    is_lost(&http, each("/jsonBody", json!("[]")));
    assert_eq!(asked(&http, &each("/options/timeout", json!(9000))), None);
    assert_eq!(asked(&http, &each("/method", json!("PUT"))), None);
    let code = calls(
        &|i| json!({"mode": "runOnceForAllItems", "language": "javaScript", "jsCode": format!("return items.map(i => ({{json: {{n: {i}}}}}));")}),
        "code",
    );
    is_lost(&code, each("/jsCode", json!("return items;")));
}
