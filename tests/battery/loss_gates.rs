//! Gates: nodes that may let nothing through, before most of a workflow. Cases 346 to 348 and 353.

use crate::loss::{User, counted, is_refused, orders, removed, session, update};
use crate::loss_ways::{BASE, asked, before, condition, conditions, gate};
use crate::support::*;
use agentctl_n8n::Workflow;
use agentctl_n8n_tools::noted::BaseHow;
use serde_json::{Value, json};

/// Holds for some items.
fn over_5000() -> Value {
    conditions(json!([condition(
        "number",
        "={{ $json.budget }}",
        "gt",
        json!(5000)
    )]))
}

#[test]
fn case_346_most_of_a_workflow_is_put_behind_a_gate_with_the_users_word_only() {
    let never = || {
        conditions(json!([condition(
            "boolean",
            "={{ $json.__never }}",
            "true",
            json!("")
        )]))
    };
    let hidden = "const keep = items[0].json.keep;\nreturn keep ? items : [];";
    assert_eq!(
        asked(&orders(8), &gate("filter", 2.2, never())).unwrap(),
        "Allow to put something that may let nothing through before most of the nodes of the workflow \"orders\"? This run would put 7 of the 8 nodes that were there on 2026-01-02, when agentctl was about to change it for the first time behind Gate, which may let nothing through: Node 1, Node 2, Node 3, Node 4, Node 5, Node 6, Node 7."
    );
    let rules = json!({"rules": {"values": [over_5000()]}});
    for ops in [
        gate("if", 2.2, never()),
        gate("switch", 3.2, rules),
        gate("code", 2.0, json!({"jsCode": hidden})),
        gate("function", 1.0, json!({"functionCode": hidden})),
        gate("wait", 1.1, json!({"resume": "webhook"})),
        gate(
            "wait",
            1.1,
            json!({"amount": "={{ $json.days }}", "unit": "days"}),
        ),
        gate("limit", 1.0, json!({"maxItems": "={{ $json.n }}"})),
        gate("merge", 3.0, json!({"mode": "combine"})),
        gate(
            "slack",
            2.3,
            json!({"resource": "message", "operation": "sendAndWait"}),
        ),
    ] {
        let question = asked(&orders(8), &ops);
        assert!(
            question
                .as_ref()
                .is_some_and(|text| text.contains("behind Gate")),
            "{ops}: {question:?}"
        );
        is_refused(&orders(8), ops);
    }
    // The rule is more than half of what the user accepted.
    for (to, asks) in [(3, true), (4, false), (5, false), (7, false)] {
        let ops = before(to, "if", 2.2, over_5000());
        assert_eq!(asked(&orders(8), &ops).is_some(), asks, "{to}");
    }
    // Its other way out leads to a node of no use, or every way to a part of the workflow.
    let mut dummy = gate("if", 2.2, never());
    dummy.as_array_mut().unwrap().extend([
        json!({"op": "add_node", "node": {"name": "Else", "type": "n8n-nodes-base.noOp", "typeVersion": 1}}),
        json!({"op": "connect", "from": "Gate", "output": 1, "to": "Else"}),
        json!({"op": "connect", "from": "Gate", "output": 1, "to": "id-7"}),
    ]);
    assert!(asked(&orders(8), &dummy).is_some());
    let routed = json!([
        {"op": "add_node", "node": {"name": "Gate", "type": "n8n-nodes-base.if", "typeVersion": 2.2, "parameters": over_5000()}},
        {"op": "rewire", "from": "id-0", "to": "id-1", "new_to": "Gate"},
        {"op": "disconnect", "from": "id-4", "to": "id-5"},
        {"op": "connect", "from": "Gate", "to": "id-1"},
        {"op": "connect", "from": "Gate", "output": 1, "to": "id-5"}]);
    assert_eq!(asked(&orders(8), &routed), None);
    // Two side by side, and what is lost besides.
    let mut two = gate("filter", 2.2, never());
    two.as_array_mut().unwrap().extend([
        json!({"op": "add_node", "node": {"name": "Other", "type": "n8n-nodes-base.filter", "typeVersion": 2.2, "parameters": never()}}),
        json!({"op": "connect", "from": "id-0", "to": "Other"}),
        json!({"op": "connect", "from": "Other", "to": "id-1"}),
    ]);
    assert!(asked(&orders(8), &two).is_some());
    // A way round it from a start that nobody presses or calls.
    for node_type in ["manualTrigger", "webhook"] {
        let mut round = gate("filter", 2.2, never());
        round.as_array_mut().unwrap().extend([
            json!({"op": "add_node", "node": {"name": "Round", "type": format!("{BASE}{node_type}"), "typeVersion": 1, "parameters": {}}}),
            json!({"op": "connect", "from": "Round", "to": "id-1"}),
        ]);
        assert!(asked(&orders(8), &round).is_some(), "{node_type}");
    }
    let mut lost = before(5, "filter", 2.2, never());
    lost.as_array_mut().unwrap().extend([
        json!({"op": "disable_node", "node": "id-2"}),
        json!({"op": "disable_node", "node": "id-3"}),
    ]);
    assert!(
        asked(&orders(8), &lost)
            .unwrap()
            .contains("lose 2 and put 3 of the 8")
    );
}

/// The chain with a filter on the way, from the beginning.
fn filtered(to: usize, text: &str) -> Workflow {
    let mut workflow = orders(8);
    let list = json!([condition("number", text, "gt", json!(5000))]);
    if let Some(node) = workflow.nodes.get_mut(to) {
        node.set("type", json!("n8n-nodes-base.filter"));
        node.set("typeVersion", json!(2.2));
        node.edit_parameters(|p| *p = conditions(list).as_object().unwrap().clone());
    }
    workflow
}

#[test]
fn case_347_a_gate_that_was_there_may_be_tuned_and_not_exchanged_or_moved() {
    let base = filtered(1, "={{ $json.budget }}");
    let set = |pointer: &str, value: Value| json!([{"op": "set_parameter", "node": "id-1", "pointer": pointer, "value": value}]);
    let at = "/conditions/conditions/0";
    // The same question with another number.
    assert_eq!(
        asked(&base, &set(&format!("{at}/rightValue"), json!(9000))),
        None
    );
    assert_eq!(
        asked(
            &base,
            &set(&format!("{at}/operator/operation"), json!("gte"))
        ),
        None
    );
    // Another question, and one more.
    assert!(
        asked(
            &base,
            &set(&format!("{at}/leftValue"), json!("={{ $json.none }}"))
        )
        .is_some()
    );
    let more = condition("number", "={{ $json.none }}", "gt", json!(1));
    assert!(asked(&base, &set("/conditions/conditions/1", more)).is_some());
    // One that stood before the last node alone is moved before all.
    let base = filtered(6, "={{ $json.budget }}");
    let moved = json!([
        {"op": "rewire", "from": "id-0", "to": "id-1", "new_to": "id-6"},
        {"op": "disconnect", "from": "id-5", "to": "id-6"},
        {"op": "disconnect", "from": "id-6", "to": "id-7"},
        {"op": "connect", "from": "id-6", "to": "id-1"},
        {"op": "connect", "from": "id-5", "to": "id-7"}]);
    assert!(asked(&base, &moved).is_some());
    // Code: another way out before its end, and an ordinary change of a line.
    let mut base = orders(8);
    if let Some(node) = base.nodes.get_mut(1) {
        node.set("type", json!("n8n-nodes-base.code"));
        let text = "const out = [];\nfor (const item of $input.all()) {\n  out.push({json: {net: item.json.net}});\n}\nreturn out;";
        node.edit_parameters(|p| *p = json!({"jsCode": text}).as_object().unwrap().clone());
    }
    let edit = |old: &str, new: &str| json!([{"op": "replace_text", "node": "id-1", "pointer": "/jsCode", "find": old, "replace": new}]);
    assert_eq!(
        asked(
            &base,
            &edit("net: item.json.net", "net: item.json.gross / 1.2")
        ),
        None
    );
    assert!(
        asked(
            &base,
            &edit(
                "const out = [];",
                "const out = [];\nif (!$input.first().json.keep) return [];"
            )
        )
        .is_some()
    );
}

#[test]
fn case_348_a_gate_that_the_user_allowed_is_not_asked_for_again() {
    block_on(async {
        let user = User::new();
        let (bench, backend) = attacked();
        backend.put("orders", orders(8), false);
        let mut bench = session(bench, &user).await;
        bench.can_ask = true;
        let ops = update(gate("filter", 2.2, over_5000()));
        let question = bench.asked("builder", "update_workflow", ops.clone()).await;
        bench.answer(&question, json!("approve"));
        bench.ok("builder", "update_workflow", ops).await;
        let mut bench = session(bench, &user).await;
        let rename = json!([{"op": "rename_node", "node": "id-1", "name": "First"}]);
        bench.ok("builder", "update_workflow", update(rename)).await;
        let counted = counted(&bench);
        assert_eq!((counted.how, counted.total), (BaseHow::Approved, 9));
    });
}

/// A run whose user wrote this.
async fn asked_by(words: &str, user: &User, bench: Bench) -> Bench {
    let mut bench = session(bench, user).await;
    bench.told(begun(words));
    bench
}

#[test]
fn case_353_a_gate_counts_as_asked_for_only_when_the_users_words_name_what_it_asks() {
    let exists = conditions(json!([{
        "leftValue": "={{ $json.customer.email }}", "rightValue": "",
        "operator": {"type": "string", "operation": "exists", "singleValue": true}}]));
    let person = json!({"resource": "message", "operation": "sendAndWait"});
    let code =
        json!({"jsCode": "const keep = items[0].json.total > 5000;\nreturn keep ? items : [];"});
    let two = conditions(json!([
        condition("number", "={{ $json.total }}", "gt", json!(5000)),
        condition("string", "={{ $json.never }}", "equals", json!("x1"))
    ]));
    let filter = |parameters: Value| gate("filter", 2.2, parameters);
    for (words, ops, asks) in [
        ("only if the total is over 5000", filter(over_5000()), false),
        ("nur wenn es mehr als 5k ist", filter(over_5000()), false),
        (
            "Skip orders without an email",
            filter(exists.clone()),
            false,
        ),
        (
            "let Ann approve it first",
            gate("slack", 2.3, person.clone()),
            false,
        ),
        // Not this value, no condition at all, not all of it, code that cannot be told, another word for another gate.
        ("only if the total is over 500", filter(over_5000()), true),
        ("post 5000 to #sales", filter(over_5000()), true),
        ("only if the total is over 5000", filter(two), true),
        (
            "only if the total is over 5000",
            gate("code", 2.0, code),
            true,
        ),
        ("only if there is a name", filter(exists), true),
        (
            "only if the total is over 5000",
            gate("slack", 2.3, person),
            true,
        ),
        ("rename a node", filter(over_5000()), true),
    ] {
        block_on(async {
            let user = User::new();
            let (bench, backend) = attacked();
            backend.put("orders", orders(8), false);
            let mut bench = asked_by(words, &user, bench).await;
            if asks {
                let rule = bench
                    .refused("builder", "update_workflow", update(ops))
                    .await;
                assert_eq!(rule, "guard.wipe", "{words}");
                return;
            }
            bench.ok("builder", "update_workflow", update(ops)).await;
            // It is what the user wanted: the next run counts from it, and what is lost then is lost of this.
            let mut bench = session(bench, &user).await;
            let rename = json!([{"op": "rename_node", "node": "id-1", "name": "First"}]);
            bench.ok("builder", "update_workflow", update(rename)).await;
            let counted = counted(&bench);
            assert_eq!(
                (counted.how, counted.total),
                (BaseHow::Requested, 9),
                "{words}"
            );
        });
    }
    // A gate that was asked for hides no loss.
    block_on(async {
        let user = User::new();
        let (bench, backend) = attacked();
        backend.put("orders", orders(8), false);
        let words = "only if the total is over 5000";
        let mut bench = asked_by(words, &user, bench).await;
        bench.ok("builder", "update_workflow", removed(6..8)).await;
        let ops = update(filter(over_5000()));
        let rule = bench.refused("builder", "update_workflow", ops).await;
        assert_eq!(rule, "guard.wipe");
    });
}

/// How the builder's change is settled in a run whose user wrote this, and whom nobody can ask: the rule that refuses it; None: done.
fn refused_by(words: &str, ops: Value) -> Option<String> {
    block_on(async {
        let user = User::new();
        let (bench, backend) = attacked();
        backend.put("orders", orders(8), false);
        let mut bench = asked_by(words, &user, bench).await;
        let result = bench.call("builder", "update_workflow", update(ops)).await;
        result.content["rule"].as_str().map(str::to_owned)
    })
}

#[test]
fn case_353_what_only_looks_like_what_was_asked_for_is_asked() {
    let total = "only if the total is over 5000";
    let wipe = Some("guard.wipe".to_owned());
    // An operator says of itself that it compares with nothing, so that the name of the field would do.
    let alone = |operation: &str| {
        conditions(json!([{
            "leftValue": "={{ $json.total }}", "rightValue": 999_999,
            "operator": {"type": "number", "operation": operation, "singleValue": true}}]))
    };
    let words = "only if there is a total";
    assert_eq!(refused_by(words, gate("if", 2.2, alone("gt"))), wipe);
    assert_eq!(refused_by(words, gate("filter", 2.2, alone("gt"))), wipe);
    assert_eq!(
        refused_by(words, gate("filter", 2.2, alone("exists"))),
        None
    );
    // A field that is named last in an expression that looks at something else.
    let other = conditions(json!([{
        "leftValue": "={{ $json.never && $json.total }}", "rightValue": "",
        "operator": {"type": "string", "operation": "exists"}}]));
    assert_eq!(refused_by(words, gate("filter", 2.2, other)), wipe);
    // A parameter that an If does not have.
    let mut stray = over_5000();
    stray["operation"] = json!("sendAndWait");
    let words = "let Ann approve it first";
    assert_eq!(refused_by(words, gate("if", 2.2, stray.clone())), wipe);
    assert_eq!(refused_by(total, gate("if", 2.2, stray)), None);
    // Rules that a Switch does not go by.
    let mut switch =
        json!({"rules": {"values": [over_5000()]}, "options": {"fallbackOutput": "extra"}});
    assert_eq!(refused_by(total, gate("switch", 3.2, switch.clone())), None);
    switch["mode"] = json!("expression");
    switch["output"] = json!("={{ $json.never }}");
    assert_eq!(refused_by(total, gate("switch", 3.2, switch)), wipe);
    // Code that its type does not run.
    let hidden = "const keep = items[0].json.keep;\nreturn keep ? items : [];";
    for (kind, ran, stray) in [
        ("function", "functionCode", "jsCode"),
        ("functionItem", "functionCode", "jsCode"),
        ("code", "jsCode", "functionCode"),
    ] {
        let given = json!({ran: hidden, stray: "return items;"});
        assert_eq!(refused_by("rename a node", gate(kind, 1.0, given)), wipe);
        let given = json!({ran: "return items;", stray: hidden});
        assert_eq!(refused_by("rename a node", gate(kind, 1.0, given)), None);
    }
    // Two nodes that say something else altogether, beside a gate that was asked for.
    let mut beside = gate("filter", 2.2, over_5000());
    assert_eq!(refused_by(total, beside.clone()), None);
    beside.as_array_mut().unwrap().extend((1..3).map(|i| {
        json!({"op": "set_node_settings", "node": format!("id-{i}"), "settings": {"onError": "continueRegularOutput"}})
    }));
    assert_eq!(refused_by(total, beside), wipe);
    // A piece of a text is no list, so it need not count as true; and a variable that is counted up is no constant.
    let nothing = json!([condition(
        "boolean",
        "={{ $json.name.slice(0, 0) }}",
        "true",
        json!("")
    )]);
    let ops = gate("if", 2.2, conditions(nothing));
    assert_eq!(refused_by("rename a node", ops), wipe);
    let counted =
        "let n = 0;\nfor (const item of items) { n++; }\nif (n === 0) return [];\nreturn items;";
    let question = asked(&orders(8), &gate("code", 2.0, json!({"jsCode": counted})));
    assert!(question.unwrap().contains("behind Gate"));
}
