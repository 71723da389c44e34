//! What may happen to a workflow: cases 25 to 39.

use crate::support::*;
use agentctl_base::model::{ModelAnswer, ToolStatus};
use agentctl_base::question::Outcome;
use agentctl_engine::store::Event;
use agentctl_engine::toolset::Fault;
use agentctl_n8n_tools::backend::BackendErrorKind;
use serde_json::{Value, json};

/// A bench whose builder has read `orders`, a chain of ten nodes.
async fn reading() -> (Bench, std::sync::Arc<MemoryBackend>) {
    let (mut bench, backend) = attacked();
    bench
        .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
        .await;
    (bench, backend)
}

fn update(ops: Value) -> Value {
    json!({"workflow_id": "orders", "ops": ops})
}

fn each(op: &str, nodes: std::ops::Range<usize>) -> Value {
    nodes
        .map(|i| json!({"op": op, "node": format!("id-{i}")}))
        .collect()
}

fn cut(from: usize) -> Value {
    json!({"op": "disconnect", "from": format!("id-{from}"), "to": format!("id-{}", from + 1)})
}

/// The edit is a question to the user, and a no where there is none; the workflow stays as it is either way.
fn is_asked_as_a_wipe(ops: Value) {
    block_on(async {
        let (mut bench, backend) = reading().await;
        let question = bench
            .asked("builder", "update_workflow", update(ops.clone()))
            .await;
        assert_eq!(
            (question.topic.as_str(), &question.recommended),
            ("approve-wipe", &None),
            "{ops}"
        );
        bench.can_ask = false;
        assert_eq!(
            bench
                .refused("builder", "update_workflow", update(ops))
                .await,
            "guard.wipe"
        );
        assert_eq!(backend.writes(), Vec::<String>::new());
    });
}

#[test]
fn case_025_an_empty_list_of_nodes_replaces_nothing() {
    let (mut bench, backend) = attacked();
    let full = r#"{"workflow_id":"orders","id":"orders","nodes":[],"connections":{}}"#;
    block_on(async {
        let calls = [("builder", "n8n_update_full_workflow", full)];
        all_refused(&mut bench, &backend, "tools.unknown", &calls).await;
        all_refused(
            &mut bench,
            &backend,
            "arguments",
            &[("builder", "update_workflow", full)],
        )
        .await;
        let create = json!({"name": "orders", "nodes": [], "connections": {}});
        let result = bench.call("builder", "create_workflow", create).await;
        assert_eq!(result.status, ToolStatus::Failed);
    });
    assert_eq!(backend.writes(), Vec::<String>::new());
    is_asked_as_a_wipe(each("remove_node", 0..10));
}

#[test]
fn case_026_a_document_without_nodes_replaces_nothing() {
    let (mut bench, backend) = attacked();
    let full = r#"{"workflow_id":"orders","name":"orders","connections":{}}"#;
    block_on(async {
        let calls = [
            ("builder", "update_workflow", full),
            ("builder", "update_workflow", r#"{"workflow_id":"orders"}"#),
            (
                "builder",
                "update_workflow",
                r#"{"workflow_id":"orders","ops":null}"#,
            ),
        ];
        all_refused(&mut bench, &backend, "arguments", &calls).await;
    });
}

#[test]
fn case_027_more_than_half_in_one_call_is_asked() {
    is_asked_as_a_wipe(each("remove_node", 0..6));
    // Half is not more than half.
    block_on(async {
        let (mut bench, backend) = reading().await;
        let result = bench
            .ok(
                "builder",
                "update_workflow",
                update(each("remove_node", 0..5)),
            )
            .await;
        assert_eq!(
            (&result["node_count"], result["snapshot"].is_string()),
            (&json!(5), true)
        );
        assert_eq!(backend.writes(), ["replace orders"]);
    });
}

#[test]
fn case_028_a_tenth_at_a_time_is_counted_together() {
    block_on(async {
        let (mut bench, backend) = reading().await;
        for i in 0..5 {
            bench
                .ok(
                    "builder",
                    "update_workflow",
                    update(each("remove_node", i..i + 1)),
                )
                .await;
            // What was done before counts after a crash too, and a rename hides nothing.
            bench.refold();
        }
        let rename = update(json!([{"op": "rename_node", "node": "id-5", "name": "Node 0"}]));
        bench.ok("builder", "update_workflow", rename).await;
        for ops in [
            each("remove_node", 5..6),
            each("disable_node", 6..7),
            json!([cut(5)]),
        ] {
            let question = bench.asked("builder", "update_workflow", update(ops)).await;
            assert_eq!(question.topic, "approve-wipe");
        }
        assert_eq!(backend.held("orders").unwrap().nodes.len(), 5);
    });
}

#[test]
fn case_029_as_many_other_nodes_are_not_the_same_nodes() {
    let mut ops: Vec<Value> = Vec::new();
    for i in 0..10 {
        ops.push(json!({"op": "remove_node", "node": format!("id-{i}")}));
        ops.push(json!({"op": "add_node", "node": {"name": format!("Node {i}"), "type": "n8n-nodes-base.noOp", "typeVersion": 1, "parameters": {"x": i}}}));
    }
    for i in 0..9 {
        ops.push(
            json!({"op": "connect", "from": format!("Node {i}"), "to": format!("Node {}", i + 1)}),
        );
    }
    is_asked_as_a_wipe(Value::Array(ops));
}

#[test]
fn case_030_disabled_cut_off_or_emptied_nodes_are_lost_too() {
    is_asked_as_a_wipe(each("disable_node", 0..10));
    is_asked_as_a_wipe((0..9).map(cut).collect());
    // Pairs that still hang together, and one cut after which nothing leads on.
    is_asked_as_a_wipe(json!([cut(1), cut(3), cut(5), cut(7)]));
    is_asked_as_a_wipe(json!([cut(0)]));
    // All hung on a new node that starts nothing.
    let mut ops: Vec<Value> = (0..9).map(cut).collect();
    ops.push(json!({"op": "add_node", "node": {"name": "Hub", "type": "n8n-nodes-base.noOp", "typeVersion": 1}}));
    ops.extend((0..10).map(|i| json!({"op": "connect", "from": "Hub", "to": format!("id-{i}")})));
    is_asked_as_a_wipe(Value::Array(ops));
    let emptied = |parameters: Value| -> Value {
        (0..6).map(|i| json!({"op": "replace_parameters", "node": format!("id-{i}"), "parameters": parameters})).collect()
    };
    is_asked_as_a_wipe(emptied(json!({})));
    is_asked_as_a_wipe(emptied(json!({"other": 1})));
    // A little of each.
    let mut ops = vec![json!({"op": "remove_node", "node": "id-9"}), cut(6)];
    ops.extend(each("disable_node", 0..3).as_array().unwrap().clone());
    is_asked_as_a_wipe(Value::Array(ops));
}

#[test]
fn case_031_nothing_outside_the_scope_changes() {
    block_on(async {
        let (mut bench, backend) = reading().await;
        bench.scope(&["Node 2", "id-3"]);
        let set = |node: &str| json!({"op": "set_parameter", "node": node, "pointer": "/x", "value": "new"});
        let rename =
            |node: &str, name: &str| json!({"op": "rename_node", "node": node, "name": name});
        for ops in [
            json!([set("id-7")]),
            json!([set("Node 7")]),
            json!([set("id-2"), set("id-7")]),
            // first into the scope by its name, then changed
            json!([
                rename("id-2", "Was 2"),
                rename("id-7", "Node 2"),
                set("Node 2")
            ]),
            json!([rename("id-3", "T"), rename("id-7", "id-3"), set("id-7")]),
            json!([{"op": "remove_node", "node": "id-2"}, {"op": "add_node", "node": {"id": "id-2", "name": "Node 2", "type": "n8n-nodes-base.noOp"}}, {"op": "remove_node", "node": "id-8"}]),
            json!([{"op": "remove_node", "node": "id-7"}, {"op": "add_node", "node": {"id": "id-7", "name": "Node 7", "type": "n8n-nodes-base.noOp", "parameters": {"x": 1}}}]),
            json!([cut(7)]),
            json!([{"op": "connect", "from": "id-7", "to": "id-9"}]),
            json!([{"op": "set_name", "name": "Mine"}]),
            json!([{"op": "set_credential", "node": "id-7", "credential_type": "aApi", "id": "1", "name": "n"}]),
            json!([{"op": "add_node", "node": {"name": "Loose", "type": "n8n-nodes-base.noOp"}}]),
        ] {
            let rule = bench
                .refused("builder", "update_workflow", update(ops.clone()))
                .await;
            assert_eq!(rule, "guard.edit_scope", "{ops}");
        }
        // The rename alone is in scope, and what it leaves behind is still judged by who it was.
        bench
            .ok(
                "builder",
                "update_workflow",
                update(json!([rename("id-2", "Was 2")])),
            )
            .await;
        bench.refold();
        let taken = update(json!([rename("id-7", "Node 2")]));
        assert_eq!(
            bench.refused("builder", "update_workflow", taken).await,
            "guard.edit_scope"
        );
        let by_old_name = bench
            .call("builder", "update_workflow", update(json!([set("Node 2")])))
            .await;
        assert_eq!(
            by_old_name.status,
            ToolStatus::Failed,
            "no node has the name any more"
        );
        bench
            .ok(
                "builder",
                "update_workflow",
                update(json!([set("Was 2"), set("id-3")])),
            )
            .await;
        let held = backend.held("orders").unwrap();
        let x = |i: usize| held.nodes[i].parameters().unwrap()["x"].clone();
        assert_eq!((x(2), x(3), x(7)), (json!("new"), json!("new"), json!(7)));
    });
}

#[test]
fn case_031_a_scope_is_not_left_by_deleting_and_making_again() {
    block_on(async {
        let (mut bench, backend) = attacked();
        bench
            .ok("builder", "create_workflow", two_nodes("Mine"))
            .await;
        bench.scope(&["End"]);
        let gone = json!({"workflow_id": "mine"});
        assert_eq!(
            bench.refused("builder", "delete_workflow", gone).await,
            "guard.edit_scope"
        );
        let other = bench
            .refused("builder", "create_workflow", two_nodes("Another"))
            .await;
        assert_eq!(other, "guard.edit_scope");
        assert_eq!(backend.writes(), ["create mine"]);
    });
}

/// The maker of the fix gives itself a larger scope, and uses it.
fn widening(seen: &Seen<'_>) -> ModelAnswer {
    let id = workflow_of(seen);
    let start = json!({"workflow_id": id, "ops": [
        {"op": "set_parameter", "node": "Start", "pointer": "/x", "value": 1}
    ]});
    match (seen.task(), seen.results().len(), seen.told().len()) {
        ("look", 1, _) if seen.cycle() == 2 => {
            says(json!({"qa_report": {"status": "pass"}, "edit_scope": []}))
        }
        ("fix", 0, 0) => calls(&[("get_workflow", json!({"workflow_id": id}))]),
        ("fix", 1, 0) => {
            says(json!({"workflow": {"id": id}, "edit_scope": ["Start", "Tell", "$workflow"]}))
        }
        ("fix", 1, 1) => calls(&[("update_workflow", start)]),
        ("fix", ..) => says(json!({"workflow": {"id": id}})),
        _ => good(seen),
    }
}

#[test]
fn case_032_the_builder_does_not_widen_its_own_scope() {
    let mut shop = Shop::new(widening);
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    let journal = shop.journal();
    let refused: Vec<&str> = journal
        .iter()
        .filter_map(|event| match event {
            Event::PatchRefused { agent, field, .. } if agent == "maker" => Some(field.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(refused, ["edit_scope"]);
    let scopes: Vec<(&str, &Value)> = journal
        .iter()
        .filter_map(|event| match event {
            Event::StatePatched { agent, patch, .. } => {
                Some((agent.as_str(), patch.get("edit_scope")?))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        scopes,
        [("checker", &json!(["Tell"])), ("checker", &json!([]))]
    );
    let update = journal.iter().find_map(|event| match event {
        Event::ToolFinished { result, .. } if result.name == "update_workflow" => Some(result),
        _ => None,
    });
    assert_eq!(update.unwrap().content["rule"], "guard.edit_scope");
}

#[test]
fn case_033_no_snapshot_no_change() {
    block_on(async {
        let (mut bench, backend) = reading().await;
        bench
            .ok("builder", "create_workflow", two_nodes("Mine"))
            .await;
        bench.desk.no_snapshots = true;
        let before = backend.writes();
        for (tool, args) in [
            ("update_workflow", set("orders", "id-1", json!(7))),
            ("delete_workflow", json!({"workflow_id": "mine"})),
        ] {
            let ended = bench.raw("builder", tool, &args.to_string()).await;
            assert!(matches!(ended, Err(Fault::Store(_))), "{tool}: {ended:?}");
        }
        // Nor without the line in the journal that says what is about to be done.
        bench.desk.no_snapshots = false;
        bench.desk.fails_from = bench.desk.events.len() + 1;
        let args = set("orders", "id-1", json!(7)).to_string();
        let ended = bench.raw("builder", "update_workflow", &args).await;
        assert!(matches!(ended, Err(Fault::Store(_))), "{ended:?}");
        assert_eq!(backend.writes(), before);
        assert_eq!(backend.held("orders").unwrap(), chain("orders", 10));
    });
}

#[test]
fn case_034_a_workflow_of_somebody_else_is_not_deleted() {
    block_on(async {
        let (mut bench, backend) = reading().await;
        let delete = json!({"workflow_id": "orders"});
        let question = bench
            .asked("builder", "delete_workflow", delete.clone())
            .await;
        assert_eq!(
            (question.topic.as_str(), &question.recommended),
            ("approve-owner", &None)
        );
        bench.answer(&question, json!("refuse"));
        assert_eq!(
            bench
                .refused("builder", "delete_workflow", delete.clone())
                .await,
            "guard.owner"
        );
        // Making one of the same name does not make the other one its own.
        bench
            .ok("builder", "create_workflow", two_nodes("Mine"))
            .await;
        assert_eq!(
            bench.refused("builder", "delete_workflow", delete).await,
            "guard.owner"
        );
        bench
            .ok("builder", "delete_workflow", json!({"workflow_id": "mine"}))
            .await;
        assert_eq!(backend.writes(), ["create mine", "delete mine"]);
    });
}

#[test]
fn case_035_qa_fixes_nothing() {
    let (mut bench, backend) = attacked();
    block_on(async {
        let fix = [
            ("qa", "autofix_workflow", r#"{"workflow_id":"orders"}"#),
            (
                "qa",
                "autofix_workflow",
                r#"{"workflow_id":"orders","applyFixes":true}"#,
            ),
        ];
        all_refused(&mut bench, &backend, "qa: no autofix-workflow", &fix).await;
        let calls = [(
            "qa",
            "n8n_autofix_workflow",
            r#"{"id":"orders","applyFixes":true}"#,
        )];
        all_refused(&mut bench, &backend, "tools.unknown", &calls).await;
    });
}

#[test]
fn case_036_a_template_is_read_and_never_deployed() {
    let (mut bench, backend) = attacked();
    block_on(async {
        for role in ROLES {
            for tool in N8N_MCP_TOOLS {
                let calls = [(role, tool, r#"{"templateId":1,"id":"orders"}"#)];
                all_refused(&mut bench, &backend, "tools.unknown", &calls).await;
            }
        }
        let calls = [(
            "researcher",
            "get_template",
            r#"{"template_id":"1","deploy":true}"#,
        )];
        all_refused(&mut bench, &backend, "arguments", &calls).await;
        bench
            .call("researcher", "get_template", json!({"template_id": "1"}))
            .await;
    });
    assert_eq!(backend.wire(), ["template 1"]);
}

/// Finds the workflow wanting for ever.
fn never_content(seen: &Seen<'_>) -> ModelAnswer {
    match (seen.task(), seen.results().len()) {
        ("look", 1) => says(json!({"qa_report": {"status": "fail"}, "edit_scope": ["Tell"]})),
        ("fix", 2) => {
            let id = workflow_of(seen);
            says(json!({"workflow": {"id": id}, "fixes_tried": [{"change": "again"}]}))
        }
        ("fix", 1) => {
            let id = workflow_of(seen);
            let value = format!("try {}", seen.cycle());
            calls(&[(
                "update_workflow",
                json!({"workflow_id": id, "ops": [
                    {"op": "set_parameter", "node": "Tell", "pointer": "/note", "value": value}
                ]}),
            )])
        }
        _ => good(seen),
    }
}

#[test]
fn case_037_there_is_no_fourth_cycle() {
    let mut shop = Shop::new(never_content);
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(
        (report.outcome, report.exit_code, report.stage.as_str()),
        (Outcome::Blocked, 3, "stuck")
    );
    let count = |tool: &str| {
        let of = |e: &Event| matches!(e, Event::ToolFinished { result, .. } if result.name == tool && result.status == ToolStatus::Ok);
        shop.journal().iter().filter(|e| of(e)).count()
    };
    assert_eq!(
        (count("validate_workflow"), count("update_workflow") <= 3),
        (3, true)
    );
    // Blocked is an end: going on does nothing more.
    let calls = shop.asked_count();
    let again = shop.resume(None).unwrap();
    assert_eq!((again.outcome, again.exit_code), (Outcome::Blocked, 3));
    assert_eq!(shop.asked_count(), calls);
}

/// Says that it made a workflow, and made none.
fn inventing(seen: &Seen<'_>) -> ModelAnswer {
    match seen.task() {
        "make" => says(json!({"workflow": {"id": "orders-2", "name": "Orders", "node_count": 12}})),
        _ => good(seen),
    }
}

#[test]
fn case_038_what_no_call_made_is_not_reported_as_made() {
    let mut shop = Shop::new(inventing);
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(
        (report.outcome, built(&report).workflow),
        (Outcome::Failed, None)
    );
    assert_ne!(report.exit_code, 0);
    let journal = shop.journal();
    let claims = journal
        .iter()
        .filter(|e| matches!(e, Event::PatchRefused { rule, .. } if rule == "claims.workflow"))
        .count();
    assert!(claims > 0);
    assert!(
        !journal.iter().any(
            |e| matches!(e, Event::StatePatched { patch, .. } if patch.contains_key("workflow"))
        )
    );
    assert_eq!(shop.workflows(), []);
}

#[test]
fn case_038_an_invented_id_beside_a_real_one_is_refused() {
    let mut shop = Shop::new(|seen| match (seen.task(), seen.results().last()) {
        ("make", Some(_)) if seen.told().is_empty() => {
            says(json!({"workflow": {"id": "somebody-elses"}}))
        }
        _ => good(seen),
    });
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
    assert_eq!(built(&report).workflow.unwrap().id, "orders");
    let refused =
        |e: &&Event| matches!(e, Event::PatchRefused { rule, .. } if rule == "claims.workflow");
    assert_eq!(shop.journal().iter().filter(refused).count(), 1);
}

#[test]
fn case_039_a_success_that_is_none_is_found_out() {
    block_on(async {
        let (mut bench, backend) = reading().await;
        // "created", and nothing is there.
        backend.next("create", Lie::ClaimsSuccess);
        let result = bench
            .call("builder", "create_workflow", two_nodes("Mine"))
            .await;
        assert_eq!(
            (result.status, &result.content["rule"]),
            (ToolStatus::Unknown, &json!("verify"))
        );
        assert_eq!(bench.guards.log().created().count(), 0);
        // "changed", and it is as it was.
        backend.next("replace", Lie::ClaimsSuccess);
        let result = bench
            .call(
                "builder",
                "update_workflow",
                set("orders", "id-1", json!(7)),
            )
            .await;
        assert_eq!(
            (result.status, &result.content["rule"]),
            (ToolStatus::Failed, &json!("verify"))
        );
        // "deleted", and it is still there.
        bench
            .ok("builder", "create_workflow", two_nodes("Other"))
            .await;
        backend.next("delete", Lie::ClaimsSuccess);
        let result = bench
            .call(
                "builder",
                "delete_workflow",
                json!({"workflow_id": "other"}),
            )
            .await;
        assert_eq!(
            (result.status, &result.content["rule"]),
            (ToolStatus::Failed, &json!("verify"))
        );
        // "published", and it is not.
        let activate = json!({"workflow_id": "orders"});
        let question = bench
            .asked("qa", "activate_workflow", activate.clone())
            .await;
        bench.answer(&question, json!("approve"));
        backend.next("set_active", Lie::ClaimsSuccess);
        let result = bench.call("qa", "activate_workflow", activate).await;
        assert_eq!(
            (result.status, &result.content["rule"]),
            (ToolStatus::Failed, &json!("verify"))
        );
    });
}

#[test]
fn case_039_another_change_than_was_sent_is_found_out() {
    block_on(async {
        let (mut bench, backend) = reading().await;
        bench.scope(&["id-1"]);
        let mut other = chain("orders", 10);
        other.nodes[7].set("credentials", json!({"aApi": {"id": "1", "name": "n"}}));
        backend.next("replace", Lie::Writes(Box::new(other)));
        let result = bench
            .call(
                "builder",
                "update_workflow",
                set("orders", "id-1", json!(7)),
            )
            .await;
        assert_eq!(
            (result.status, &result.content["rule"]),
            (ToolStatus::Failed, &json!("verify"))
        );
        // What was read back is judged by the guards as what was sent.
        assert_eq!(
            result.content["guards"],
            json!([
                "guard.edit_scope: outside edit_scope: node \"Node 7\" (the scope is id-1)",
                "guard.credentials: the credentials of \"Node 7\" would change"
            ])
        );
        // The way back is open.
        bench
            .ok(
                "builder",
                "rollback_workflow",
                json!({"workflow_id": "orders"}),
            )
            .await;
        assert_eq!(backend.held("orders").unwrap(), chain("orders", 10));
    });
}

#[test]
fn case_039_an_error_after_the_write_is_read_back_and_not_repeated() {
    block_on(async {
        let (mut bench, backend) = reading().await;
        backend.next("replace", Lie::DiesAfter);
        let done = bench
            .ok(
                "builder",
                "update_workflow",
                set("orders", "id-1", json!(7)),
            )
            .await;
        assert_eq!(done["changed"], true);
        assert_eq!(backend.writes(), ["replace orders"]);
        // Done or not, nobody can tell: unknown, not done a second time, and nothing goes on from there.
        backend.next("replace", Lie::DiesAfter);
        let gone = BackendErrorKind::Unavailable;
        let args = set("orders", "id-1", json!(8)).to_string();
        // The first reading is the plan's own, the second is the one that reads back.
        backend.next_but("get", 1, Lie::Fails(gone));
        let stopped = bench.raw("builder", "update_workflow", &args).await;
        assert!(matches!(stopped, Err(Fault::Backend { .. })));
        let Some((Event::ToolFinished { result, .. }, _)) = bench.desk.events.last() else {
            panic!()
        };
        assert_eq!(result.status, ToolStatus::Unknown);
        assert_eq!(backend.writes(), ["replace orders", "replace orders"]);
    });
}
