//! What counts as lost, and when it is too much.

use super::*;
use agentctl_engine::policy::Facts;

/// No node can.
const NONE: Starts<'static> = &|_| Start::No;

#[test]
fn losing_more_than_half_is_asked_however_it_is_done() {
    let base = chain(4);
    let each = |op: &str, ids: &[usize]| -> Value {
        ids.iter()
            .map(|i| json!({"op": op, "node": format!("id-{i}")}))
            .collect()
    };
    let cut: Value = (0..3)
        .map(|i| json!({"op": "disconnect", "from": format!("id-{i}"), "to": format!("id-{}", i + 1)}))
        .collect();
    let emptied: Value = (0..3)
        .map(|i| json!({"op": "replace_parameters", "node": format!("id-{i}"), "parameters": {}}))
        .collect();
    let replaced: Value = (0..4)
        .flat_map(|i| {
            [
                json!({"op": "remove_node", "node": format!("id-{i}")}),
                add(&format!("Node {i}")),
            ]
        })
        .collect();
    for (list, lost) in [
        // the last one hangs on nothing then
        (each("remove_node", &[0, 1, 2]), 4),
        // every second one, so that nothing is connected any more
        (each("remove_node", &[1, 2]), 4),
        (each("remove_node", &[0, 1, 2, 3]), 4),
        // what a start that is switched off leads to does not run
        (each("disable_node", &[0, 1, 2]), 4),
        (cut, 4),
        (emptied, 3),
        (replaced, 4),
        (
            json!([{"op": "remove_node", "node": "id-3"}, {"op": "disable_node", "node": "id-0"}, {"op": "replace_parameters", "node": "id-1", "parameters": {}}]),
            4,
        ),
    ] {
        let after = edited(&base, list.clone());
        assert_eq!(loss(&base, &after, ANY).lost.len(), lost, "{list}");
        assert!(
            matches!(wipe(&base, &after, ANY), Decision::Ask { .. }),
            "{list}"
        );
    }
    for list in [
        each("remove_node", &[0, 1]),
        each("disable_node", &[2, 3]),
        json!([add("A"), add("B"), add("C"), add("D"), add("E")]),
        json!([]),
    ] {
        let after = edited(&base, list.clone());
        assert_eq!(wipe(&base, &after, ANY), allow(WIPE), "{list}");
    }
    let mut emptied = base.clone();
    emptied.nodes.clear();
    assert_eq!(
        reason(&wipe(&base, &emptied, ANY)),
        "this run would lose 4 of the 4 nodes it started from: Node 0, Node 1, Node 2, Node 3"
    );
}

/// An agent with a model and a memory: `Chat` → `Agent`, the sub-nodes on the agent.
fn agent(subs: &[(&str, &str, bool)]) -> Workflow {
    let mut workflow = Workflow::empty("Agent");
    for name in ["Chat", "Agent"]
        .into_iter()
        .chain(subs.iter().map(|s| s.0))
    {
        let id = NodeId(format!("id-{name}"));
        workflow
            .nodes
            .push(Node::new(id, name, "test.any", 1.0, Map::new()));
    }
    workflow.connect("Chat", "main", 0, "Agent", 0);
    for (name, kind, enabled) in subs {
        workflow.connect(name, kind, 0, "Agent", 0);
        if !enabled {
            workflow = edited(
                &workflow,
                json!([{"op": "disable_node", "node": format!("id-{name}")}]),
            );
        }
    }
    workflow
}

#[test]
fn a_sub_node_whose_place_is_taken_is_exchanged_and_not_lost() {
    const MODEL: &str = "ai_languageModel";
    const MEMORY: &str = "ai_memory";
    let base = agent(&[("GPT", MODEL, true), ("Buffer", MEMORY, true)]);
    let lost = |subs: &[(&str, &str, bool)]| loss(&base, &agent(subs), ANY).lost;
    assert_eq!(
        lost(&[("Claude", MODEL, true), ("Redis", MEMORY, true)]),
        [""; 0]
    );
    assert_eq!(
        lost(&[("Claude", MODEL, true)]),
        ["Buffer"],
        "one for one, by kind"
    );
    assert_eq!(
        lost(&[("Claude", MODEL, false), ("Buffer", MEMORY, true)]),
        ["GPT"],
        "a disabled heir serves nobody"
    );
    assert_eq!(
        lost(&[("Claude", "ai_tool", true), ("Buffer", MEMORY, true)]),
        ["GPT"],
        "another kind of place"
    );
    // With its parent gone, a sub-node has no place that somebody could take.
    let gone = edited(
        &agent(&[("Claude", MODEL, true), ("Redis", MEMORY, true)]),
        json!([{"op": "remove_node", "node": "id-Agent"}]),
    );
    assert_eq!(
        loss(&base, &gone, ANY).lost,
        ["Chat", "Agent", "GPT", "Buffer"]
    );
}

#[test]
fn sticky_notes_neither_save_nor_count() {
    let mut base = chain(2);
    for i in 0..6 {
        base.nodes.push(Node::new(
            NodeId(format!("note-{i}")),
            format!("Note {i}"),
            "n8n-nodes-base.stickyNote",
            1.0,
            Map::new(),
        ));
    }
    let mut after = base.clone();
    after.nodes.retain(|n| n.id().0.starts_with("note"));
    assert_eq!(loss(&base, &after, ANY).total, 2);
    assert!(matches!(wipe(&base, &after, ANY), Decision::Ask { .. }));
    let mut after = base.clone();
    after.nodes.retain(|n| n.id().0.starts_with("id"));
    assert_eq!(wipe(&base, &after, ANY), allow(WIPE));
}

#[test]
fn what_is_cut_off_is_lost_though_it_still_hangs_on_something() {
    let base = chain(10);
    let cut = |from: usize| json!({"op": "disconnect", "from": format!("id-{from}"), "to": format!("id-{}", from + 1)});
    let lost =
        |list: Value, starts: Starts<'_>| loss(&base, &edited(&base, list), starts).lost.len();
    // One connection cut at the front: nine nodes never run again.
    assert_eq!(
        lost(json!([cut(0)]), ANY),
        10,
        "the first one hangs on nothing"
    );
    assert_eq!(lost(json!([cut(1)]), ANY), 8);
    // Pairs that still hang together.
    assert_eq!(lost(json!([cut(1), cut(3), cut(5), cut(7)]), ANY), 8);
    // A connection that moves over a new node cuts nothing.
    let over = json!([add("New"), {"op": "rewire", "from": "id-0", "to": "id-1", "new_to": "New"}, {"op": "connect", "from": "New", "to": "id-1"}]);
    assert_eq!(lost(over, NONE), 0);
    // Another start in place of the old one; but only what can be a start is one.
    let other = json!([add("Start"), {"op": "remove_node", "node": "id-0"}, {"op": "connect", "from": "Start", "to": "id-1"}]);
    assert_eq!(lost(other.clone(), ANY), 1);
    assert_eq!(lost(other, NONE), 10);
    let dummy = json!([cut(0), add("Dummy"), {"op": "connect", "from": "Dummy", "to": "id-1"}, {"op": "connect", "from": "Dummy", "to": "id-0"}]);
    assert_eq!(lost(dummy, NONE), 10);
    // What follows a node that is gone is not counted with it: the node counts itself.
    assert_eq!(lost(json!([{"op": "remove_node", "node": "id-0"}]), ANY), 1);
    // Hung on a circle of their own.
    let circle = json!([cut(1), {"op": "connect", "from": "id-9", "to": "id-2"}]);
    assert_eq!(lost(circle, ANY), 8);
}

#[test]
fn a_sub_node_runs_when_its_parent_does() {
    let base = agent(&[
        ("GPT", "ai_languageModel", true),
        ("Buffer", "ai_memory", true),
    ]);
    let cut = edited(
        &base,
        json!([{"op": "disconnect", "from": "id-Chat", "to": "id-Agent"}]),
    );
    assert_eq!(
        loss(&base, &cut, ANY).lost,
        ["Chat", "Agent", "GPT", "Buffer"]
    );
}

#[test]
fn a_node_whose_parameters_are_all_others_is_emptied() {
    let base = chain(4);
    let replaced = |parameters: Value| -> Value {
        (0..3).map(|i| json!({"op": "replace_parameters", "node": format!("id-{i}"), "parameters": parameters})).collect()
    };
    for (parameters, lost) in [
        (json!({}), 3),
        (json!({"y": 1}), 3),
        // Nothing of what three of the four said is left, though they say something.
        (json!({"x": "new", "y": 1}), 3),
        (json!({"x": " "}), 3),
        (json!({"x": {"a": [null, ""]}, "y": 1}), 3),
    ] {
        assert_eq!(
            loss(&base, &edited(&base, replaced(parameters)), ANY)
                .lost
                .len(),
            lost
        );
    }
}

#[test]
fn made_again_under_its_old_id_a_node_counts_as_what_it_is_now() {
    let base = chain(4);
    let again = |node_type: &str, parameters: Value| -> Value {
        (0..4)
            .flat_map(|i| {
                [
                    json!({"op": "remove_node", "node": format!("id-{i}")}),
                    json!({"op": "add_node", "node": {"id": format!("id-{i}"), "name": format!("Node {i}"), "type": node_type, "parameters": parameters}}),
                ]
            })
            .collect()
    };
    // All connections are gone with the nodes.
    assert_eq!(
        loss(
            &base,
            &edited(&base, again("n8n-nodes-base.noOp", json!({"x": 1}))),
            ANY
        )
        .lost
        .len(),
        4
    );
    let mut list = again("n8n-nodes-base.set", json!({"x": 1}));
    let connect = (0..3).map(
        |i| json!({"op": "connect", "from": format!("id-{i}"), "to": format!("id-{}", i + 1)}),
    );
    list.as_array_mut().unwrap().extend(connect);
    assert_eq!(
        loss(&base, &edited(&base, list.clone()), ANY).lost.len(),
        4,
        "another type"
    );
    for op in list.as_array_mut().unwrap() {
        if op["op"] == "add_node" {
            let number = op["node"]["id"].as_str().unwrap()["id-".len()..].parse::<u32>();
            op["node"]["type"] = json!("n8n-nodes-base.noOp");
            op["node"]["parameters"] = json!({"x": number.unwrap()});
        }
    }
    assert_eq!(
        loss(&base, &edited(&base, list), ANY).lost,
        Vec::<String>::new(),
        "an edit in place, in other words"
    );
}

/// A chain of a trigger and nodes with several parameters.
fn messages(count: usize) -> Workflow {
    let mut workflow = chain(count);
    for (i, node) in workflow.nodes.iter_mut().enumerate() {
        let parameters = json!({"resource": "message", "operation": "post", "channel": format!("#c{i}"), "text": format!("=Hello {{{{ $('Node 0').item.json.n{i} }}}}")});
        node.edit_parameters(|p| *p = parameters.as_object().unwrap().clone());
    }
    workflow
}

#[test]
fn replaced_parameters_count_when_several_nodes_say_something_else_altogether() {
    let base = messages(8);
    let replaced = |count: usize, parameters: Value| -> Value {
        (0..count).map(|i| json!({"op": "replace_parameters", "node": format!("id-{i}"), "parameters": parameters})).collect()
    };
    let lost = |list: Value| loss(&base, &edited(&base, list), ANY).lost.len();
    let junk = json!({"resource": "x", "operation": "x", "channel": "x", "text": "x"});
    assert_eq!(lost(replaced(8, junk.clone())), 8);
    assert_eq!(lost(replaced(3, junk.clone())), 3);
    assert_eq!(lost(replaced(2, junk)), 0, "two are an edit");
    // One or two values are changed in all of them.
    let edits =
        json!({"resource": "message", "operation": "post", "channel": "#other", "text": "Bye"});
    assert_eq!(lost(replaced(8, edits)), 0);
    // References follow a rename; they say what they said.
    let only_text: Value = (0..8).map(|i| json!({"op": "replace_parameters", "node": format!("id-{i}"), "parameters": {"text": format!("=Hello {{{{ $('Node 0').item.json.n{i} }}}}")}})).collect();
    let base = edited(&base, only_text);
    let renamed = edited(
        &base,
        json!([{"op": "rename_node", "node": "id-0", "name": "Orders"}]),
    );
    assert_eq!(loss(&base, &renamed, ANY).lost, [""; 0]);
}

/// A trigger before a chain of seven.
fn triggered(node_type: &str, parameters: Value) -> Workflow {
    let mut workflow = chain(8);
    let node = json!({"id": "id-0", "name": "Node 0", "type": node_type, "typeVersion": 1.2, "parameters": parameters});
    workflow.nodes[0] = Node::from(node.as_object().unwrap().clone());
    workflow
}

#[test]
fn what_lies_behind_a_start_that_never_begins_or_a_filter_that_nothing_passes_is_cut_off() {
    const SCHEDULE: &str = "n8n-nodes-base.scheduleTrigger";
    let starts: Starts<'_> = &|node_type| match node_type {
        "n8n-nodes-base.manualTrigger" => Start::Known(Begins::ByHand),
        "n8n-nodes-base.executeWorkflowTrigger" => Start::Known(Begins::Called),
        "community.mayStart" => Start::Unknown,
        _ if node_type.ends_with("rigger") => Start::Known(Begins::ByItself),
        _ => Start::No,
    };
    let cron = |text: &str| json!({"rule": {"interval": [{"field": "cronExpression", "expression": text}]}});
    let base = triggered(SCHEDULE, cron("0 9 * * *"));
    let lost = |list: Value| loss(&base, &edited(&base, list), starts).lost.len();
    let set = |text: &str| json!([{"op": "replace_parameters", "node": "id-0", "parameters": cron(text)}]);
    assert_eq!(lost(set("0 0 30 2 *")), 7);
    assert_eq!(lost(set("0 8 * * *")), 0);
    assert_eq!(lost(json!([{"op": "disable_node", "node": "id-0"}])), 8);
    // The trigger is gone, and nothing starts the rest; another trigger does.
    assert_eq!(lost(json!([{"op": "remove_node", "node": "id-0"}])), 8);
    let other = |parameters: Value| json!([{"op": "remove_node", "node": "id-0"}, {"op": "add_node", "node": {"name": "New", "type": SCHEDULE, "parameters": parameters}}, {"op": "connect", "from": "New", "to": "id-1"}]);
    assert_eq!(lost(other(cron("0 8 * * *"))), 1);
    assert_eq!(lost(other(cron("0 0 31 6 *"))), 8);
    // What began by itself is now called, pressed, or begun by nobody knows what.
    let by = |node_type: &str| json!([{"op": "remove_node", "node": "id-0"}, {"op": "add_node", "node": {"name": "New", "type": node_type}}, {"op": "connect", "from": "New", "to": "id-1"}]);
    assert_eq!(lost(by("n8n-nodes-base.webhookTrigger")), 1);
    for node_type in [
        "n8n-nodes-base.manualTrigger",
        "n8n-nodes-base.executeWorkflowTrigger",
        "community.mayStart",
        "n8n-nodes-base.slack",
    ] {
        assert_eq!(lost(by(node_type)), 8, "{node_type}");
    }
    let pressed = triggered("n8n-nodes-base.manualTrigger", json!({}));
    let found = |base: &Workflow, list: Value| loss(base, &edited(base, list), starts).lost.len();
    assert_eq!(found(&pressed, by("n8n-nodes-base.manualTrigger")), 1);
    assert_eq!(found(&pressed, by("community.mayStart")), 1);
    let unknown = triggered("community.mayStart", json!({"a": 1}));
    assert_eq!(found(&unknown, by("n8n-nodes-base.manualTrigger")), 8);
    assert_eq!(
        found(
            &unknown,
            json!([{"op": "set_parameter", "node": "id-0", "pointer": "/b", "value": 2}])
        ),
        0
    );
    // In front of everything but the trigger.
    let gate = |left: Value, right: Value| {
        let conditions = json!({"options": {}, "combinator": "and", "conditions": [{"leftValue": left, "rightValue": right, "operator": {"type": "number", "operation": "equals"}}]});
        json!([
            {"op": "add_node", "node": {"name": "Gate", "type": "n8n-nodes-base.filter", "typeVersion": 2.2, "parameters": {"conditions": conditions}}},
            {"op": "rewire", "from": "id-0", "to": "id-1", "new_to": "Gate"},
            {"op": "connect", "from": "Gate", "to": "id-1"}])
    };
    assert_eq!(lost(gate(json!(1), json!(2))), 7);
    assert_eq!(lost(gate(json!("={{ $json.n }}"), json!(2))), 0);
    // What never ran is no loss.
    let base = triggered(SCHEDULE, cron("0 0 30 2 *"));
    assert_eq!(
        loss(
            &base,
            &edited(&base, json!([{"op": "disable_node", "node": "id-0"}])),
            starts
        )
        .lost,
        ["Node 0"]
    );
}

#[test]
fn what_newly_stands_behind_a_gate_is_held_and_a_gate_that_says_the_same_is_not_new() {
    let asks = |text: &str| json!({"conditions": {"options": {}, "combinator": "and", "conditions": [{"leftValue": text, "rightValue": 5, "operator": {"type": "number", "operation": "gt"}}]}});
    let with = |text: &str| {
        let mut base = chain(8);
        let node = json!({"id": "id-1", "name": "Node 1", "type": "n8n-nodes-base.if", "typeVersion": 2.2, "parameters": asks(text)});
        base.nodes[1] = Node::from(node.as_object().unwrap().clone());
        base
    };
    let held = |base: &Workflow, list: Value| loss(base, &edited(base, list), ANY);
    let base = with("={{ $('Node 0').item.json.n }}");
    let other = json!([{"op": "set_parameter", "node": "id-1", "pointer": "/conditions/conditions/0/leftValue", "value": "={{ $json.m }}"}]);
    let found = held(&base, other);
    assert_eq!(
        (found.held.len(), found.gates),
        (6, vec!["Node 1".to_owned()])
    );
    assert!(found.lost.is_empty());
    // Its reference follows a rename; another node is added behind it; it is switched off, and so no gate.
    for list in [
        json!([{"op": "rename_node", "node": "id-0", "name": "Orders"}]),
        json!([add("New"), {"op": "connect", "from": "id-1", "to": "New"}]),
        json!([{"op": "disable_node", "node": "id-1"}]),
        json!([{"op": "set_parameter", "node": "id-1", "pointer": "/conditions/conditions/0/rightValue", "value": 9}]),
        // The nodes behind it trade places.
        json!([{"op": "disconnect", "from": "id-6", "to": "id-7"}, {"op": "rewire", "from": "id-1", "to": "id-2", "new_to": "id-7"}, {"op": "connect", "from": "id-7", "to": "id-2"}]),
    ] {
        assert_eq!(held(&base, list.clone()).held, [""; 0], "{list}");
    }
    // An expression that only lacked its mark.
    let base = with("{{ $json.n }}");
    let marked = json!([{"op": "set_parameter", "node": "id-1", "pointer": "/conditions/conditions/0/leftValue", "value": "={{ $json.n }}"}]);
    assert_eq!(held(&base, marked).held, [""; 0]);
    // One that was switched off and is not any more is new.
    let base = edited(
        &with("={{ $json.n }}"),
        json!([{"op": "disable_node", "node": "id-1"}]),
    );
    let woken = json!([{"op": "enable_node", "node": "id-1"}]);
    assert_eq!(held(&base, woken).held.len(), 6);
}

#[test]
fn what_the_users_words_name_may_go() {
    let base = chain(4);
    let name = |i: usize| base.nodes[i].name().to_owned();
    let gone = |ids: &[usize]| -> Workflow {
        let ops: Value = ids
            .iter()
            .map(|i| json!({"op": "remove_node", "node": format!("id-{i}")}))
            .collect();
        edited(&base, ops)
    };
    let (last, before_it, first) = (name(3), name(2), name(0));
    let asked_for = |words: &str, after: &Workflow| {
        let mut said = Facts::default();
        said.add_words(words);
        let loss = loss(&base, after, ANY);
        let change = Asked {
            before: &base,
            after,
            loss: &loss,
        };
        is_asked_for(&change, &said)
    };
    let two = gone(&[2, 3]);
    for (words, wanted) in [
        (format!("Remove {before_it} and {last}."), true),
        (format!("entferne {before_it} und {last}"), true),
        (
            format!("{before_it} raus, {last} brauchen wir nicht mehr"),
            true,
        ),
        (format!("à la place d'{before_it}, supprime {last}"), true),
        // one of them was never named
        (format!("Remove {last}."), false),
        // nothing was to go
        (format!("Rename {before_it} and {last}."), false),
        (format!("Tell {before_it} and {last} right away."), false),
        (format!("Do not remove {before_it} or {last}."), false),
        (
            format!("I do not want you to delete {before_it} and {last}"),
            false,
        ),
        (format!("Lösche {before_it} und {last} nicht"), false),
        (format!("N'enlève pas {before_it} et {last}"), false),
        (
            format!("In {before_it} and {last} write \"we no longer need you, remove me\""),
            false,
        ),
        // another one is named too, and nobody can tell which of them was to go
        (
            format!("Behind {first} remove {before_it} and {last}."),
            false,
        ),
        // a text that is quoted is a value
        (
            format!("Remove the words \"see {before_it} and {last} for all the rest of it\""),
            false,
        ),
    ] {
        assert_eq!(asked_for(&words, &two), wanted, "{words}");
    }
    // What hangs on what was named goes with it unasked for.
    let cut = gone(&[1]);
    assert!(!asked_for(&format!("Remove {}.", name(1)), &cut));
    assert!(!asked_for("Remove it all.", &gone(&[0, 1, 2, 3])));
}

/// Nodes that are called as one says in any sentence.
#[test]
fn an_ordinary_word_names_no_node_to_go() {
    let mut base = chain(3);
    for (id, name) in [("id-1", "If"), ("id-2", "Wait")] {
        base = edited(
            &base,
            json!([{"op": "rename_node", "node": id, "name": name}]),
        );
    }
    let after = edited(
        &base,
        json!([{"op": "remove_node", "node": "id-1"}, {"op": "remove_node", "node": "id-2"}]),
    );
    let loss = loss(&base, &after, ANY);
    let change = Asked {
        before: &base,
        after: &after,
        loss: &loss,
    };
    let mut said = Facts::default();
    said.add_words("remove duplicates, if there are none wait a minute and remove wait");
    assert!(!is_asked_for(&change, &said));
}
