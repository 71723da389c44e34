use super::*;
use crate::{arbitrary, hash::graph_hash, workflow::Node};
use proptest::prelude::*;
use serde_json::json;

fn op(value: Value) -> EditOp {
    serde_json::from_value(value).unwrap()
}

fn run(workflow: &Workflow, ops: &[Value]) -> Result<Workflow, EditError> {
    let ops: Vec<EditOp> = ops.iter().cloned().map(op).collect();
    let mut next = 0;
    apply(workflow, &ops, &mut || {
        next += 1;
        format!("new-{next}")
    })
}

fn refused(workflow: &Workflow, value: Value) -> String {
    run(workflow, &[value]).unwrap_err().to_string()
}

fn sample() -> Workflow {
    Workflow::from_value(json!({
        "name": "Orders", "pinData": {"Hook": [{"json": {}}]},
        "nodes": [
            {"id": "a", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "orders"}},
            {"id": "b", "name": "Check", "type": "n8n-nodes-base.if", "typeVersion": 2.2, "position": [240, 0],
             "parameters": {"conditions": {"list": [{"left": "={{ $('Hook').item.json.total }}"}, {"left": "={{ $node.Hook.json.x }}"}]}}},
            {"id": "c", "name": "Post", "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "position": [480, 0], "parameters": {"text": "hello"}}
        ],
        "connections": {
            "Hook": {"main": [[{"node": "Check", "type": "main", "index": 0}]]},
            "Check": {"main": [[], [{"node": "Post", "type": "main", "index": 0}]]}
        },
        "settings": {"executionOrder": "v1"}
    }))
    .unwrap()
}

fn edges(workflow: &Workflow) -> Vec<String> {
    let edge = |(from, kind, output, link): (&str, &str, u32, &crate::Link)| {
        format!("{from}.{kind}[{output}]->{}[{}]", link.node, link.index)
    };
    let mut edges: Vec<String> = workflow.edges().map(edge).collect();
    edges.sort();
    edges
}

#[test]
fn adds_a_node_with_a_given_id_and_a_place() {
    let edited = run(
        &sample(),
        &[
            json!({"op": "add_node", "node": {"name": "Log", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "parameters": {"a": 1}, "settings": {"onError": "continueRegularOutput", "disabled": true}}}),
            json!({"op": "connect", "from": "Check", "to": "Log"}),
        ],
    )
    .unwrap();
    let mut added = edited.nodes[3].clone();
    assert!(added.position().is_some());
    added.map_mut().remove("position");
    assert_eq!(
        Value::Object(added.into_map()),
        json!({"id": "new-1", "name": "Log", "type": "n8n-nodes-base.set", "typeVersion": 3.4, "parameters": {"a": 1}, "disabled": true, "onError": "continueRegularOutput"})
    );
    assert_eq!(
        edges(&edited),
        [
            "Check.main[0]->Log[0]",
            "Check.main[1]->Post[0]",
            "Hook.main[0]->Check[0]"
        ]
    );
}

#[test]
fn removing_a_node_drops_its_edges_both_ways() {
    let edited = run(&sample(), &[json!({"op": "remove_node", "node": "b"})]).unwrap();
    assert_eq!(
        edited.nodes.iter().map(Node::name).collect::<Vec<_>>(),
        ["Hook", "Post"]
    );
    assert_eq!(
        serde_json::to_value(&edited.connections).unwrap(),
        json!({})
    );
}

#[test]
fn a_rename_follows_through_edges_expressions_and_pins() {
    let edited = run(
        &sample(),
        &[json!({"op": "rename_node", "node": "Hook", "name": "New 'order'"})],
    )
    .unwrap();
    assert_eq!(
        edges(&edited),
        ["Check.main[1]->Post[0]", "New 'order'.main[0]->Check[0]"]
    );
    assert_eq!(
        edited.nodes[1].map()["parameters"],
        json!({"conditions": {"list": [{"left": "={{ $('New \\'order\\'').item.json.total }}"}, {"left": "={{ $node[\"New 'order'\"].json.x }}"}]}})
    );
    assert_eq!(
        edited.head["pinData"],
        json!({"New 'order'": [{"json": {}}]})
    );
}

#[test]
fn a_rename_resolves_a_duplicate_name_without_taking_its_edges() {
    let mut twice = sample();
    twice.nodes[2].set("name", json!("Hook"));
    assert_eq!(
        refused(
            &twice,
            json!({"op": "rename_node", "node": "Hook", "name": "X"})
        ),
        "operation 0 (rename_node): 2 nodes are named \"Hook\"; address one of them by id: a, c"
    );
    let edited = run(
        &twice,
        &[json!({"op": "rename_node", "node": "c", "name": "X"})],
    )
    .unwrap();
    assert_eq!(edited.connections, twice.connections);
}

#[test]
fn pointers_create_replace_append_and_remove() {
    let set = |pointer: &str, value: Value| json!({"op": "set_parameter", "node": "Check", "pointer": pointer, "value": value});
    let edited = run(
        &sample(),
        &[
            set("/options/deep/x", json!(1)),
            set("/rules/0/a", json!("first")),
            set("/rules/-", json!({"a": "second"})),
            set("/conditions/list/1", json!("two")),
            set("/conditions/list/0", Value::Null),
            set("/options/never/there", Value::Null),
            set("/a~1b", json!(true)),
        ],
    )
    .unwrap();
    assert_eq!(
        edited.nodes[1].map()["parameters"],
        json!({"conditions": {"list": ["two"]}, "options": {"deep": {"x": 1}}, "rules": [{"a": "first"}, {"a": "second"}], "a/b": true})
    );
}

#[test]
fn refusals_say_what_to_do() {
    let w = sample();
    let cases = [
        (
            json!({"op": "set_parameter", "node": "Check", "pointer": "/conditions/list/5", "value": 1}),
            "operation 0 (set_parameter): \"/conditions/list\" is an array and has no place \"5\"; its indexes are 0 to 1, and '-' appends",
        ),
        (
            json!({"op": "set_parameter", "node": "Post", "pointer": "/text/x", "value": 1}),
            "operation 0 (set_parameter): \"/text\" holds a text, so nothing can be set below it; set \"/text\" itself",
        ),
        (
            json!({"op": "set_parameter", "node": "Post", "pointer": "text", "value": 1}),
            "operation 0 (set_parameter): \"text\" is no JSON pointer; it starts with '/' and is relative to the parameters, like \"/options/timeout\"",
        ),
        (
            json!({"op": "rename_node", "node": "Post", "name": "x".repeat(513)}),
            "operation 0 (rename_node): the node's name has 513 bytes, and 512 are enough; shorten it",
        ),
        (
            json!({"op": "rename_node", "node": "Post", "name": "__proto__"}),
            "operation 0 (rename_node): n8n keeps connections in JavaScript objects by name, and \"__proto__\" is every object's own; use another name",
        ),
        (
            json!({"op": "add_node", "node": {"name": "constructor", "type": "n8n-nodes-base.noOp"}}),
            "operation 0 (add_node): n8n keeps connections in JavaScript objects by name, and \"constructor\" is every object's own; use another name",
        ),
        (
            json!({"op": "connect", "from": "Hok", "to": "Post"}),
            "operation 0 (connect): no node has the id or the name \"Hok\"; did you mean \"Hook\"?",
        ),
        (
            json!({"op": "connect", "from": "Hook", "to": "Check"}),
            "operation 0 (connect): \"Hook\" is already connected to \"Check\" (main, output 0, input 0); leave this operation out",
        ),
        (
            json!({"op": "connect", "from": "Hook", "to": "Check", "kind": "ai_model"}),
            "operation 0 (connect): \"ai_model\" is no connection type; use one of main, ai_agent, ai_chain, ai_document, ai_embedding, ai_languageModel, ai_memory, ai_outputParser, ai_reranker, ai_retriever, ai_textSplitter, ai_tool, ai_vectorStore",
        ),
        (
            json!({"op": "connect", "from": "Hook", "to": "Check", "output": 4294967295u32}),
            "operation 0 (connect): output 4294967295 / input 0 is out of range; indexes start at 0 and no node has 256 of them",
        ),
        (
            json!({"op": "disconnect", "from": "Check", "to": "Post"}),
            "operation 0 (disconnect): \"Check\" has no connection to \"Post\" (main, output 0, input 0); it has: main output 1 to \"Post\" input 0",
        ),
        (
            json!({"op": "add_node", "node": {"name": "Post", "type": "n8n-nodes-base.set"}}),
            "operation 0 (add_node): a node named \"Post\" exists already; use another name, like \"Post1\"",
        ),
        (
            json!({"op": "add_node", "node": {"name": "X", "type": "slack"}}),
            "operation 0 (add_node): \"slack\" is no full node type; write it with its package, like \"n8n-nodes-base.slack\"",
        ),
        (
            json!({"op": "set_node_settings", "node": "Post", "settings": {"disabled": true}}),
            "operation 0 (set_node_settings): \"disabled\" is no node setting; use disable_node or enable_node",
        ),
        (
            json!({"op": "set_node_settings", "node": "Post", "settings": {"onError": "continue"}}),
            "operation 0 (set_node_settings): onError \"continue\" is unknown; use one of stopWorkflow, continueRegularOutput, continueErrorOutput",
        ),
        (
            json!({"op": "replace_text", "node": "Post", "pointer": "/text", "find": "bye", "replace": "x"}),
            "operation 0 (replace_text): the text \"bye\" is not in \"/text\"; read the node again and copy the text exactly",
        ),
    ];
    for (value, expected) in cases {
        assert_eq!(refused(&w, value), expected);
    }
}

/// Two operations of a megabyte must not make a text of a terabyte.
#[test]
fn a_replacement_cannot_blow_a_text_up() {
    let many = "a".repeat(100_000);
    let ops = [
        json!({"op": "set_parameter", "node": "Post", "pointer": "/text", "value": many}),
        json!({"op": "replace_text", "node": "Post", "pointer": "/text", "find": "a", "replace": many}),
    ];
    assert_eq!(
        run(&sample(), &ops).unwrap_err().to_string(),
        "operation 1 (replace_text): \"a\" is 100000 times in \"/text\", which would grow too much; use set_parameter"
    );
    // One place may become long, and many may become a little longer.
    for (find, replace) in [
        (many.as_str(), "b".repeat(200_000)),
        ("aaaa", "aaaab".to_owned()),
    ] {
        let replaced = json!({"op": "replace_text", "node": "Post", "pointer": "/text", "find": find, "replace": replace});
        assert!(run(&sample(), &[ops[0].clone(), replaced]).is_ok());
    }
}

#[test]
fn settings_credentials_version_and_switch() {
    let edited = run(
        &sample(),
        &[
            json!({"op": "set_settings", "settings": {"timezone": "Europe/Berlin", "executionOrder": null}}),
            json!({"op": "set_name", "name": "New"}),
            json!({"op": "set_credential", "node": "Post", "credential_type": "slackApi", "id": "7", "name": "Team"}),
            json!({"op": "set_type_version", "node": "Post", "type_version": 2}),
            json!({"op": "disable_node", "node": "Post"}),
            json!({"op": "set_node_settings", "node": "Post", "settings": {"retryOnFail": true}}),
            json!({"op": "move_node", "node": "Post", "position": [16, 32.5]}),
            json!({"op": "replace_text", "node": "Post", "pointer": "/text", "find": "l", "replace": "L"}),
            json!({"op": "rewire", "from": "Hook", "to": "Check", "new_to": "Post"}),
        ],
    )
    .unwrap();
    assert_eq!(edited.name(), "New");
    assert_eq!(
        edited.head["settings"],
        json!({"timezone": "Europe/Berlin"})
    );
    assert_eq!(
        Value::Object(edited.nodes[2].map().clone()),
        json!({"id": "c", "name": "Post", "type": "n8n-nodes-base.slack", "typeVersion": 2, "position": [16, 32.5], "parameters": {"text": "heLLo"},
               "credentials": {"slackApi": {"id": "7", "name": "Team"}}, "disabled": true, "retryOnFail": true})
    );
    assert_eq!(
        edges(&edited),
        ["Check.main[1]->Post[0]", "Hook.main[0]->Post[0]"]
    );
    let enabled = run(&edited, &[json!({"op": "enable_node", "node": "c"})]).unwrap();
    assert!(!enabled.nodes[2].map().contains_key("disabled"));
}

#[test]
fn ids_and_names_address_the_same_node_and_ids_win() {
    let mut w = sample();
    w.nodes[2].set("name", json!("a"));
    let edited = run(&w, &[json!({"op": "disable_node", "node": "a"})]).unwrap();
    assert_eq!(
        edited.nodes.iter().map(Node::disabled).collect::<Vec<_>>(),
        [true, false, false]
    );
}

fn any_op() -> impl Strategy<Value = EditOp> {
    let node = || {
        prop_oneof![
            (0usize..8).prop_map(|i| format!("id-{i}")),
            (0usize..8).prop_map(|i| format!("Node {i}"))
        ]
    };
    let port = || {
        (
            prop::sample::select(vec!["main", "ai_tool"]),
            0u32..3,
            0u32..2,
        )
    };
    prop_oneof![
        (0usize..12).prop_map(|i| op(
            json!({"op": "add_node", "node": {"name": format!("Node {i}"), "type": "t.x"}})
        )),
        node().prop_map(|n| op(json!({"op": "remove_node", "node": n}))),
        (node(), 0usize..12).prop_map(|(n, i)| op(
            json!({"op": "rename_node", "node": n, "name": format!("Node {i}")})
        )),
        (
            node(),
            "(/[a-d0-]){1,3}",
            prop_oneof![Just(Value::Null), Just(json!("v"))]
        )
            .prop_map(|(n, p, v)| op(
                json!({"op": "set_parameter", "node": n, "pointer": p, "value": v})
            )),
        (node(), node(), port()).prop_map(|(f, t, (k, o, i))| op(
            json!({"op": "connect", "from": f, "to": t, "kind": k, "output": o, "input": i})
        )),
        (node(), node(), port()).prop_map(|(f, t, (k, o, i))| op(
            json!({"op": "disconnect", "from": f, "to": t, "kind": k, "output": o, "input": i})
        )),
    ]
}

proptest! {
    #[test]
    fn a_list_is_the_same_as_its_operations_one_by_one(workflow in arbitrary::workflow(6), ops in prop::collection::vec(any_op(), 0..6)) {
        let before = workflow.clone();
        let mut next = 0;
        let mut ids = || { next += 1; format!("new-{next}") };
        let whole = apply(&workflow, &ops, &mut ids);
        prop_assert_eq!(&workflow, &before);
        next = 0;
        let mut ids = || { next += 1; format!("new-{next}") };
        let mut single = Ok(workflow);
        for (index, op) in ops.iter().enumerate() {
            single = single.and_then(|w| apply(&w, std::slice::from_ref(op), &mut ids).map_err(|e| EditError { index, ..e }));
        }
        prop_assert_eq!(whole.map(|w| graph_hash(&w)), single.map(|w| graph_hash(&w)));
    }

    #[test]
    fn names_ids_and_edges_stay_sound(workflow in arbitrary::workflow(6), ops in prop::collection::vec(any_op(), 0..6)) {
        let mut next = 0;
        if let Ok(edited) = apply(&workflow, &ops, &mut || { next += 1; format!("new-{next}") }) {
            let names: std::collections::HashSet<&str> = edited.nodes.iter().map(Node::name).collect();
            let ids: std::collections::HashSet<String> = edited.nodes.iter().map(|n| n.id().0).collect();
            prop_assert_eq!((names.len(), ids.len()), (edited.nodes.len(), edited.nodes.len()));
            prop_assert!(edited.edges().all(|(from, _, _, link)| names.contains(from) && names.contains(link.node.as_str())));
            prop_assert!(edited.nodes.iter().all(|n| n.position().is_some()));
        }
    }

    #[test]
    fn renaming_back_is_the_same_workflow(workflow in arbitrary::workflow(6), at in 0usize..6, name in "[A-Z'\"`$\\\\ ]{1,8}") {
        let at = at % workflow.nodes.len();
        prop_assume!(!name.trim().is_empty());
        let (id, old) = (workflow.nodes[at].id().0, workflow.nodes[at].name().to_owned());
        let there = run(&workflow, &[json!({"op": "rename_node", "node": &id, "name": &name})]).unwrap();
        let old_reference = format!("$('{old}')");
        prop_assert!(!there.to_text().contains(&old_reference));
        let back = run(&there, &[json!({"op": "rename_node", "node": id, "name": old})]).unwrap();
        prop_assert_eq!(back, workflow);
    }

    #[test]
    fn disconnect_undoes_connect(workflow in arbitrary::workflow(6), from in 0usize..6, to in 0usize..6, output in 0u32..4, input in 0u32..3) {
        let count = workflow.nodes.len();
        let edge = |op: &str| json!({"op": op, "from": format!("id-{}", from % count), "to": format!("id-{}", to % count), "output": output, "input": input});
        if let Ok(connected) = run(&workflow, &[edge("connect")]) {
            prop_assert_eq!(connected.edges().count(), workflow.edges().count() + 1);
            let back = run(&connected, &[edge("disconnect")]).unwrap();
            prop_assert_eq!(edges(&back), edges(&workflow));
            prop_assert_eq!(graph_hash(&back), graph_hash(&workflow));
        }
    }
}

#[test]
fn a_setting_taken_away_where_none_are_leaves_the_document_as_it_is() {
    let mut workflow = Workflow::empty("Any");
    workflow.head.shift_remove("settings");
    let op = EditOp::SetSettings {
        settings: serde_json::Map::from_iter([("timezone".to_owned(), serde_json::Value::Null)]),
    };
    let edited = apply(&workflow, &[op], &mut || unreachable!("no node is made")).unwrap();
    assert_eq!(edited, workflow);
}
