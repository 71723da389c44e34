//! Tests by a real run: on a backend that runs workflows by a script, and may fail at any of the steps.

use super::super::fixture::{Lie, MemoryBackend};
use super::*;
use crate::backend::BackendErrorKind;
use crate::noted::Noted;
use agentctl_engine::store::event::JOURNAL_VERSION;
use agentctl_n8n::Workflow;
use agentctl_n8n::rehearsal::fixture::{chain, execution, node, run, set};
use serde_json::Map;
use std::sync::Arc;

fn base(name: &str, kind: &str, version: f64, parameters: Value) -> Value {
    node(name, &format!("n8n-nodes-base.{kind}"), version, parameters)
}

/// Daily → Shape → Tell sales: no trigger that could be called, and a node that acts.
fn orders() -> Workflow {
    chain(vec![
        base("Daily", "scheduleTrigger", 1.2, json!({})),
        set("Shape", "who", "={{ $json.name }}"),
        base(
            "Tell sales",
            "slack",
            2.3,
            json!({"resource": "message", "operation": "post", "text": "x"}),
        ),
    ])
}

/// Runs each node once, what follows the upper output first; those of `failing` fail with their message and end it.
fn plays(
    failing: &'static [(&'static str, &'static str)],
) -> impl Fn(&Workflow, &Map<String, Value>) -> Value + Send {
    move |workflow, payload| {
        let mut runs = Vec::new();
        let mut status = "success";
        let start = workflow
            .nodes
            .iter()
            .find(|n| n.node_type().ends_with(".webhook"));
        let mut open: Vec<(Option<String>, String)> = Vec::new();
        open.extend(start.map(|node| (None, node.name().to_owned())));
        while let Some((before, name)) = open.pop() {
            let failed = failing.iter().find(|(node, _)| *node == name);
            let error = failed.map_or(Value::Null, |(_, message)| json!({"message": message}));
            let items = if failed.is_some() {
                json!([])
            } else {
                json!([payload])
            };
            runs.push(run(&name, before.as_deref(), items, error));
            if failed.is_some() {
                status = "error";
                break;
            }
            let next = workflow.edges().filter(|(from, ..)| *from == name);
            let next: Vec<String> = next.map(|(_, _, _, link)| link.node.clone()).collect();
            open.extend(next.into_iter().rev().map(|to| (Some(name.clone()), to)));
        }
        execution(status, runs)
    }
}

fn live() -> (Bench, Arc<MemoryBackend>) {
    let (bench, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    backend.put("orders", orders(), false);
    backend.runs_by(plays(&[]));
    (bench, backend)
}

const TEST: &str = "rehearse_workflow";

fn of_orders() -> Value {
    json!({"workflow_id": "orders"})
}

#[tokio::test]
async fn each_case_is_a_run_of_its_own_and_the_worst_of_them_counts() {
    let (mut b, backend) = live();
    let case = |name: &str, count: usize| json!({"name": name, "input": {"name": "Ann"}, "expect": {"nodes": {"Shape": {"count": count}}}});
    let asked = json!({"workflow_id": "orders", "cases": [case("one", 1), case("two", 2)]});
    let said = b.ok("checker", TEST, asked).await;
    assert_eq!(said["test_status"], "fail");
    let outcomes: Vec<&Value> = ["/cases/0", "/cases/1"]
        .iter()
        .map(|at| &said.pointer(at).unwrap()["outcome"])
        .collect();
    assert_eq!(outcomes, ["passed", "failed"]);
    assert_eq!(said["findings"][0]["code"], "run/case");
    assert_eq!(
        said["findings"][0]["message"],
        "the case \"two\" expects otherwise of Shape: count: 1 items, not 2"
    );
    let created = backend
        .writes()
        .iter()
        .filter(|w| w.starts_with("create"))
        .count();
    assert_eq!((created, backend.ids()), (2, vec!["orders".to_owned()]));
}

/// Big? → Tell sales, or → Log: one test goes one way.
fn two_ways() -> Workflow {
    let mut workflow = chain(vec![
        base(
            "Order",
            "webhook",
            2.0,
            json!({"path": "o", "httpMethod": "POST", "options": {}}),
        ),
        base(
            "Big?",
            "if",
            2.2,
            json!({"conditions": {"combinator": "and", "options": {"version": 2}, "conditions": [
                {"leftValue": "={{ $json.body.total }}", "rightValue": 100, "operator": {"type": "number", "operation": "gt"}}]}, "options": {}}),
        ),
        base(
            "Tell sales",
            "slack",
            2.3,
            json!({"resource": "message", "operation": "post", "text": "x"}),
        ),
    ]);
    let log = base("Log", "googleSheets", 4.6, json!({"operation": "append"}));
    workflow.nodes.push(serde_json::from_value(log).unwrap());
    workflow.connect("Big?", "main", 1, "Log", 0);
    workflow
}

/// As n8n does with `two_ways`, whose border is 100.
fn decides(workflow: &Workflow, payload: &Map<String, Value>) -> Value {
    let big = payload["body"]["total"].as_f64().unwrap() > 100.0;
    let next = if big { "Tell sales" } else { "Log" };
    let start = workflow
        .nodes
        .iter()
        .find(|n| n.node_type().ends_with(".webhook"));
    let runs = [start.unwrap().name(), "Order", "Big?", next];
    let runs = runs.map(|name| run(name, None, json!([payload]), Value::Null));
    execution("success", runs.to_vec())
}

#[tokio::test]
async fn without_cases_each_branch_is_run_through_and_what_none_came_to_is_named() {
    let (mut b, backend) = live();
    backend.put("orders", two_ways(), false);
    backend.runs_by(decides);
    let said = b.ok("checker", TEST, of_orders()).await;
    assert_eq!(
        (&said["simulated"], &said["not_reached"], &said["untried"]),
        (&json!(["Tell sales", "Log"]), &json!([]), &json!([]))
    );
    assert_eq!(said["payload"]["body"], json!({"total": 101}));
    assert_eq!(said["test_status"], "pass");
    // A case says what it is about, and no more is made up.
    let case = json!({"name": "big", "input": {"body": {"total": 300}}, "expect": {"nodes": {"Tell sales": {"reached": true}}}});
    let asked = json!({"workflow_id": "orders", "cases": [case.clone()]});
    let said = b.ok("checker", TEST, asked).await;
    assert_eq!(
        (&said["untried"], &said["test_status"]),
        (&json!(["Log"]), &json!("pass"))
    );
    assert_eq!(said["cases"][0]["case"], case);
}

#[tokio::test]
async fn a_failed_execution_is_gone_through_again_and_a_case_of_before_with_it() {
    let (mut b, backend) = live();
    backend.put("orders", two_ways(), false);
    backend.runs_by(decides);
    let old = json!({"name": "small", "input": {"body": {"total": 3}}, "expect": {"nodes": {"Log": {"reached": true}}}});
    let lost = json!({"name": "lost", "expect": {"nodes": {"Gone": {"reached": true}}}});
    b.told(begun_with("cases", json!([old, lost])));
    let failed =
        json!({"body": {"total": 500}, "headers": {"x-key": "s3cret"}, "query": {}, "params": {}});
    let runs = vec![
        run("Order", None, json!([failed]), Value::Null),
        run(
            "Tell sales",
            Some("Order"),
            json!([]),
            json!({"message": "no"}),
        ),
    ];
    let mut document = execution("error", runs);
    document["workflowId"] = json!("orders");
    backend.has_run("77", document);
    let asked = json!({"workflow_id": "orders", "execution": "77"});
    let said = b.ok("checker", TEST, asked).await;
    let names: Vec<&Value> = (said["cases"].as_array().unwrap().iter())
        .map(|c| &c["name"])
        .collect();
    assert_eq!(names, ["small", "execution 77 again"]);
    // What failed is only simulated, so it shows nothing that the run comes to it.
    assert_eq!(said["cases"][1]["outcome"], "inconclusive");
    assert_eq!(said["cases"][1].get("case"), None);
    assert!(!said.to_string().contains("s3cret"), "{said}");
    assert!(
        said["changes"]
            .to_string()
            .contains("of before was not tried")
    );
    // Without cases the branches are tried as well.
    b.told(begun_with("cases", json!([])));
    let asked = json!({"workflow_id": "orders", "execution": "77"});
    let said = b.ok("checker", TEST, asked).await;
    assert_eq!(
        (&said["simulated"], &said["cases"][0]["name"]),
        (&json!(["Tell sales", "Log"]), &json!("execution 77 again"))
    );
    let asked = json!({"workflow_id": "orders", "execution": "78"});
    let refused = b.call("checker", TEST, asked).await;
    assert_eq!(refused.content["rule"], "rehearsal");
}

#[tokio::test]
async fn a_case_that_cannot_be_tried_executes_nothing() {
    let (mut b, backend) = live();
    for (case, why) in [
        (
            json!({"name": "x", "expect": {}}),
            "it expects nothing, so it could not fail",
        ),
        (
            json!({"name": "x", "expect": {"nodes": {"Shap": {"count": 1}}}}),
            "no node named \"Shap\"",
        ),
        (
            json!({"name": "x", "mocks": {"Daily": [{}]}, "expect": {"status": 200}}),
            "\"Daily\" hands nothing on",
        ),
    ] {
        let asked = json!({"workflow_id": "orders", "cases": [case]});
        let result = b.call("checker", TEST, asked).await;
        assert_eq!(result.status, ToolStatus::Failed);
        let said = result.content;
        assert!(said["error"].as_str().unwrap().contains(why), "{said}");
    }
    assert_eq!(backend.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_workflow_is_tried_on_a_copy_that_is_gone_afterwards() {
    let (mut b, backend) = live();
    let said = b.ok("checker", TEST, of_orders()).await;
    let told = json!([
        said["executed"],
        said["on"],
        said["execution"]["id"],
        said["test_status"],
        said["ran"],
        said["simulated"],
        said["not_reached"],
        said["findings"]
    ]);
    assert_eq!(
        told,
        json!([
            true,
            "copy",
            "1",
            "pass",
            ["Daily", "Shape"],
            ["Tell sales"],
            [],
            []
        ])
    );
    assert_eq!(said["payload"], json!({"name": "Sample name"}));
    assert_eq!(backend.ids(), ["orders"]);
    assert_eq!(backend.held("orders"), Some(orders()));
    let copy = "agentctl-rehearsal-new-1-orders";
    let writes = backend.writes();
    let verbs: Vec<&str> = writes
        .iter()
        .map(|w| w.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        verbs,
        [
            "create",
            "set_tags",
            "set_active",
            "trigger",
            "set_active",
            "delete"
        ]
    );
    assert!(writes.iter().all(|w| w.contains(copy)), "{writes:?}");
    assert_eq!(b.names(), ["tool_intent", "tool_finished"]);
}

#[tokio::test]
async fn what_failed_in_the_run_is_a_finding_with_its_fix() {
    let (mut b, backend) = live();
    backend.put(
        "orders",
        chain(vec![
            base("Daily", "scheduleTrigger", 1.2, json!({})),
            base(
                "Call",
                "httpRequest",
                4.2,
                json!({"url": "example.com/a", "options": {}}),
            ),
            set("Shape", "who", "x"),
        ]),
        false,
    );
    b.told(begun_with("let_act", json!(["Call"])));
    backend.runs_by(plays(&[(
        "Call",
        "Invalid URL: example.com/a. URL must start with \"http\" or \"https\".",
    )]));
    let said = b.ok("checker", TEST, of_orders()).await;
    assert_eq!(
        (&said["test_status"], &said["not_reached"]),
        (&json!("fail"), &json!(["Shape"]))
    );
    let finding = &said["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["node"]),
        (&json!("run/error"), &json!("Call"))
    );
    assert_eq!(
        finding["fix"]["ops"],
        json!([{"op": "set_parameter", "node": "id-Call", "pointer": "/url", "value": "https://example.com/a"}])
    );
    // The same when somebody reads that execution later, of the workflow itself.
    let read = b
        .ok(
            "checker",
            "get_execution",
            json!({"execution_id": said["execution"]["id"]}),
        )
        .await;
    assert_eq!(read["execution"]["faults"][0]["node"], json!("Call"));
    assert_eq!(read["execution"]["nodes"]["Daily"]["items"], json!([1]));
}

#[tokio::test]
async fn a_node_acts_only_with_the_users_word_and_its_account() {
    let (mut b, backend) = live();
    let act = json!({"workflow_id": "orders", "let_act": ["Tell sales"]});
    let question = b.asked("checker", TEST, act.clone()).await;
    assert_eq!(question.proposal.as_ref().unwrap().rule, guards::ACTS);
    assert!(
        question
            .text
            .contains("\"Tell sales\" would act on real accounts"),
        "{}",
        question.text
    );
    assert_eq!(backend.ids(), ["orders"]);
    b.answer(&question, json!("approve"));
    // It has no account there, so it is simulated all the same.
    let said = b.ok("checker", TEST, act).await;
    assert_eq!(
        said["nodes"][2]["because"],
        json!("its credential (slackApi) is not connected")
    );
    b.can_ask = false;
    let rule = b
        .refused(
            "checker",
            TEST,
            json!({"workflow_id": "orders", "let_act": ["Shape"]}),
        )
        .await;
    assert_eq!(rule, guards::ACTS);
}

fn begun_with(key: &str, named: Value) -> Event {
    Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: String::new(),
        run_id: "r".into(),
        flow: String::new(),
        pack_hash: String::new(),
        input: Map::from_iter([(key.to_owned(), named)]),
    }
}

/// Named on the command line, so by the user: no second question, and no other node.
#[tokio::test]
async fn a_node_that_the_user_named_when_the_run_began_acts_without_a_question() {
    let (mut b, backend) = live();
    let mut with_account = orders();
    with_account.nodes[2].map_mut().insert(
        "credentials".into(),
        json!({"slackApi": {"id": "c0", "name": "Sales"}}),
    );
    with_account.nodes[2]
        .map_mut()
        .insert("parameters".into(), json!({"resource": "message", "operation": "post", "authentication": "accessToken", "select": "channel", "channelId": {"__rl": true, "mode": "id", "value": "C1"}, "text": "x"}));
    backend.put("orders", with_account, false);
    backend.knows("c0", "Sales", "slackApi");
    let simulated = b.ok("checker", TEST, of_orders()).await;
    assert_eq!(simulated["simulated"], json!(["Tell sales"]));
    b.told(begun_with("let_act", json!(["Tell sales", "Nobody"])));
    b.can_ask = false;
    let said = b.ok("checker", TEST, of_orders()).await;
    assert_eq!(said["ran"], json!(["Daily", "Shape", "Tell sales"]));
    assert_eq!(said["simulated"], json!([]));
    let changes = said["changes"].to_string();
    assert!(changes.contains("no node of that name"), "{changes}");
    // What only the model names is still the user's to allow.
    let more = json!({"workflow_id": "orders", "let_act": ["Tell sales", "Shape"]});
    assert_eq!(b.refused("checker", TEST, more).await, guards::ACTS);
    // Interrupted, it may have acted: the test is not made again by itself.
    let intents = b.desk.events.iter().map(|(event, _)| event);
    let mut tests = intents.filter(
        |event| matches!(event, Event::ToolIntent { expect: Some(e), .. } if Noted::in_expectation(e).rehearsal.is_some()),
    );
    let intent = tests.next_back().unwrap().clone();
    let settled = b.settle("checker", &intent).await;
    assert_eq!(settled.unwrap().status, ToolStatus::Unknown);
}

fn shaped() -> Value {
    let other = json!({"op": "set_parameter", "node": "Shape", "pointer": "/options/dotNotation", "value": false});
    json!({"workflow_id": "orders", "ops": [other]})
}

/// Who looks before anything is written has nothing to look at in a test.
#[tokio::test]
async fn a_look_is_asked_for_at_what_is_written_and_not_at_a_test() {
    let (mut b, _backend) = live();
    b.told(begun_with("look_first", json!(true)));
    b.can_ask = false;
    b.ok("writer", "get_workflow", of_orders()).await;
    let refused = b.refused("writer", "update_workflow", shaped()).await;
    assert_eq!(refused, "guard.look");
    let said = b.ok("checker", TEST, of_orders()).await;
    assert_eq!(said["executed"], true);
}

#[tokio::test]
async fn of_a_change_it_is_told_to_what_no_case_came() {
    let (mut b, _backend) = live();
    let case = |node: &str| json!({"name": node, "input": {"name": "Ann"}, "expect": {"nodes": {node: {"reached": true}}}});
    let asked = |cases: Value| json!({"workflow_id": "orders", "cases": cases});
    // Nothing is changed yet.
    let said = b.ok("checker", TEST, of_orders()).await;
    assert_eq!(said.get("no_case_of"), None);
    b.ok("writer", "get_workflow", of_orders()).await;
    b.ok("writer", "update_workflow", shaped()).await;
    let said = b.ok("checker", TEST, of_orders()).await;
    assert_eq!(said["no_case_of"], json!(["Shape"]));
    let said = b.ok("checker", TEST, asked(json!([case("Shape")]))).await;
    assert_eq!(said["no_case_of"], json!([]));
}

#[tokio::test]
async fn a_workflow_of_this_run_that_only_computes_is_activated_for_the_one_call() {
    let (mut b, backend) = live();
    let args = json!({
        "name": "Sum",
        "nodes": [
            {"name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "parameters": {"httpMethod": "POST", "path": "sum", "responseMode": "lastNode", "options": {}}},
            {"name": "Shape", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "parameters": {"options": {}}},
        ],
        "connections": {"Hook": {"main": [[{"node": "Shape", "type": "main", "index": 0}]]}},
    });
    b.ok("writer", "create_workflow", args).await;
    let said = b.ok("checker", TEST, json!({"workflow_id": "sum"})).await;
    assert_eq!(
        (&said["on"], &said["executed"], &said["simulated"]),
        (&json!("as_it_is"), &json!(true), &json!([]))
    );
    let tail = |n: usize| {
        backend
            .writes()
            .into_iter()
            .rev()
            .take(n)
            .rev()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        tail(3),
        ["set_active sum", "trigger sum Hook", "set_active sum"]
    );
    let read = b
        .ok("checker", "get_workflow", json!({"workflow_id": "sum"}))
        .await;
    assert_eq!(read["active"], json!(false));
}

#[tokio::test]
async fn whatever_fails_on_the_way_nothing_stays_and_nothing_counts_as_executed() {
    for (method, kind) in [
        ("create", BackendErrorKind::Rejected),
        ("trigger", BackendErrorKind::Rejected),
        ("delete", BackendErrorKind::Rejected),
    ] {
        let (mut b, backend) = live();
        backend.next(method, Lie::Fails(kind));
        let result = b.call("checker", TEST, of_orders()).await;
        if method == "delete" {
            let left = result.content["left_behind"].as_str().unwrap();
            assert!(
                left.contains("could not be removed") && left.contains("delete it in n8n"),
                "{left}"
            );
            continue;
        }
        assert_eq!(result.status, ToolStatus::Failed, "{method}");
        assert_eq!(backend.ids(), ["orders"], "{method}");
        assert_ne!(result.content["executed"], json!(true));
    }
    // The copy was made, and the answer never came: it is found by its name.
    let (mut b, backend) = live();
    backend.next("create", Lie::DiesAfter);
    let dead = b.raw("checker", TEST, &of_orders().to_string()).await;
    assert!(matches!(
        dead,
        Err(agentctl_engine::toolset::Fault::Backend { .. })
    ));
    assert_eq!(backend.ids(), ["orders"]);
}

/// What the killed test had put on the n8n: a workflow of the name that its intent says.
fn left_as(name: &str, nodes: Vec<Value>) -> Workflow {
    Workflow {
        head: Workflow::empty(name).head,
        ..chain(nodes)
    }
}

/// Killed after any number of steps: settling takes the copy away, and the test is made anew.
#[tokio::test]
async fn a_killed_test_leaves_nothing_after_settling() {
    // Before the tag was set, and when it was active already.
    for (tagged, active) in [(false, false), (true, true)] {
        let (mut b, backend) = live();
        b.ok("checker", TEST, of_orders()).await;
        let _finished = b.desk.events.pop();
        let (intent, _) = b.desk.events.last().unwrap().clone();
        let Event::ToolIntent {
            expect: Some(expect),
            call,
            ..
        } = &intent
        else {
            panic!("{intent:?}")
        };
        let left = Noted::in_expectation(expect).rehearsal.unwrap();
        let (path, _) = left.copy.split_once(':').unwrap();
        let start = match tagged {
            true => base("Edited", "manualTrigger", 1.0, json!({})),
            false => base("Start", "webhook", 2.0, json!({"path": path})),
        };
        backend.put("left", left_as(&left.copy, vec![start]), active);
        if tagged {
            backend.tag("left", &["agentctl-rehearsal"]);
        }
        // Of the same name, with neither our tag nor the copy's start: somebody's own.
        let theirs = left_as(
            &left.copy,
            vec![base("Start", "webhook", 2.0, json!({"path": "mine"}))],
        );
        backend.put("theirs", theirs, active);
        b.refold();
        assert_eq!(b.settle("checker", &intent).await, None);
        assert_eq!(backend.ids(), ["orders", "theirs"]);
        // One in which something may have acted is not made again by itself.
        let mut acted = intent.clone();
        let Event::ToolIntent { call: made, .. } = &mut acted else {
            panic!()
        };
        **made = ToolCall {
            arguments: json!({"workflow_id": "orders", "let_act": ["Tell sales"]}).to_string(),
            ..ToolCall::clone(call)
        };
        let result = b.settle("checker", &acted).await.unwrap();
        assert_eq!(result.status, ToolStatus::Unknown);
    }
}

#[tokio::test]
async fn where_nothing_can_run_the_test_says_so() {
    let mut b = bench().with_file("old", 3, false);
    let result = b.call("checker", TEST, json!({"workflow_id": "old"})).await;
    assert_eq!(result.status, ToolStatus::Failed);
    assert_eq!(result.content["executed"], json!(false));
    let (mut b, backend) = live();
    backend.put("orders", chain(vec![set("Shape", "who", "x")]), false);
    let result = b.call("checker", TEST, of_orders()).await;
    assert_eq!(result.content["rule"], json!("rehearsal"));
    assert_eq!(backend.ids(), ["orders"]);
}
