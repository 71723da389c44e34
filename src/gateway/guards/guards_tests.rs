use super::*;
use crate::n8n::edit::{EditOp, NewNode, apply};
use crate::n8n::{Node, NodeId, Workflow, arbitrary};
use proptest::prelude::*;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// A chain `Node 0` → `Node 1` → …, ids `id-0`, `id-1`, …
fn chain(count: usize) -> Workflow {
    let mut workflow = Workflow::empty("Chain");
    for i in 0..count {
        let mut parameters = Map::new();
        parameters.insert("x".into(), json!(i));
        let mut node = Node::new(
            NodeId(format!("id-{i}")),
            format!("Node {i}"),
            "test.any",
            1.0,
            parameters,
        );
        node.set_position(i as f64 * 200.0, 0.0);
        workflow.nodes.push(node);
        if i > 0 {
            workflow.connect(
                &format!("Node {}", i - 1),
                "main",
                0,
                &format!("Node {i}"),
                0,
            );
        }
    }
    workflow
}

fn ops(value: Value) -> Vec<EditOp> {
    serde_json::from_value(value).unwrap()
}

fn edited(workflow: &Workflow, list: Value) -> Workflow {
    let mut n = 0;
    apply(workflow, &ops(list), &mut || {
        n += 1;
        format!("new-{n}")
    })
    .unwrap()
}

fn scoped(entries: &[&str], list: Value) -> Decision {
    let before = chain(5);
    let entries: Vec<String> = entries.iter().map(|e| (*e).to_owned()).collect();
    edit_scope(&entries, &before, &before, &edited(&before, list))
}

fn reason(decision: &Decision) -> &str {
    match decision {
        Decision::Allow { .. } => "",
        Decision::Ask { reason, .. } | Decision::Deny { reason, .. } => reason,
    }
}

fn add(name: &str) -> Value {
    json!({"op": "add_node", "node": {"name": name, "type": "test.any"}})
}

#[test]
fn in_scope_passes() {
    for (scope, list) in [
        // by id, by name
        (
            vec!["id-2"],
            json!([{"op": "set_parameter", "node": "id-2", "pointer": "/x", "value": 9}]),
        ),
        (
            vec!["Node 2"],
            json!([{"op": "set_parameter", "node": "id-2", "pointer": "/x", "value": 9}]),
        ),
        // a rename, and what follows it
        (
            vec!["id-2"],
            json!([{"op": "rename_node", "node": "id-2", "name": "Other"}]),
        ),
        // moving is free
        (
            vec![],
            json!([{"op": "move_node", "node": "id-4", "position": [7, 7]}]),
        ),
        // one end in scope
        (
            vec!["id-2"],
            json!([{"op": "disconnect", "from": "id-1", "to": "id-2"}]),
        ),
        (
            vec!["id-2"],
            json!([{"op": "connect", "from": "id-2", "to": "id-4"}]),
        ),
        (vec!["id-2"], json!([{"op": "remove_node", "node": "id-2"}])),
        // a new node between a node in scope and one that is not
        (
            vec!["id-2"],
            json!([add("New"), {"op": "rewire", "from": "id-2", "to": "id-3", "new_to": "New"}, {"op": "connect", "from": "New", "to": "id-3"}]),
        ),
        // two new ones in a row
        (
            vec!["id-4"],
            json!([add("A"), add("B"), {"op": "connect", "from": "id-4", "to": "A"}, {"op": "connect", "from": "A", "to": "B"}]),
        ),
        // one in place of another
        (
            vec!["id-2"],
            json!([{"op": "remove_node", "node": "id-2"}, add("New"), {"op": "connect", "from": "id-1", "to": "New"}, {"op": "connect", "from": "New", "to": "id-3"}]),
        ),
        // the document itself
        (
            vec!["$workflow"],
            json!([{"op": "set_settings", "settings": {"timezone": "UTC"}}, {"op": "set_name", "name": "N"}, add("Loose")]),
        ),
    ] {
        let decision = scoped(&scope, list.clone());
        assert_eq!(decision, allow(EDIT_SCOPE), "{scope:?} {list}");
    }
}

#[test]
fn out_of_scope_is_refused_by_name() {
    for (scope, list, says) in [
        (
            vec!["id-2"],
            json!([{"op": "set_parameter", "node": "id-3", "pointer": "/x", "value": 9}]),
            "node \"Node 3\"",
        ),
        (
            vec![],
            json!([{"op": "set_parameter", "node": "id-3", "pointer": "/x", "value": 9}]),
            "the scope is empty",
        ),
        (
            vec!["id-2"],
            json!([{"op": "remove_node", "node": "id-3"}]),
            "node \"Node 3\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "disable_node", "node": "id-3"}]),
            "node \"Node 3\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "rename_node", "node": "id-3", "name": "Other"}]),
            "node \"Node 3\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "disconnect", "from": "id-3", "to": "id-4"}]),
            "connection \"Node 3\" → \"Node 4\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "connect", "from": "id-0", "to": "id-4"}]),
            "connection \"Node 0\" → \"Node 4\"",
        ),
        (
            vec!["id-2"],
            json!([add("Loose")]),
            "new node \"Loose\", connected to nothing in scope",
        ),
        (
            vec!["id-2"],
            json!([add("New"), {"op": "connect", "from": "id-4", "to": "New"}]),
            "new node \"New\"",
        ),
        (
            vec!["id-2"],
            json!([{"op": "set_settings", "settings": {"timezone": "UTC"}}]),
            "the workflow's settings",
        ),
        (
            vec!["id-2"],
            json!([{"op": "set_name", "name": "N"}]),
            "the workflow's name",
        ),
        (
            vec!["id-2"],
            json!([{"op": "set_credential", "node": "id-3", "credential_type": "a", "id": "1", "name": "n"}]),
            "node \"Node 3\"",
        ),
        // a swap of names moves nothing into the scope
        (
            vec!["Node 2"],
            json!([{"op": "rename_node", "node": "id-2", "name": "T"}, {"op": "rename_node", "node": "id-3", "name": "Node 2"}]),
            "node \"Node 3\"",
        ),
        // an entry that names nothing allows nothing
        (
            vec!["nobody"],
            json!([{"op": "set_parameter", "node": "id-3", "pointer": "/x", "value": 9}]),
            "node \"Node 3\"",
        ),
    ] {
        let decision = scoped(&scope, list.clone());
        assert!(
            matches!(&decision, Decision::Deny { reason, .. } if reason.contains(says)),
            "{list}: {decision:?}"
        );
    }
}

#[test]
fn a_name_means_the_node_that_had_it_when_the_scope_was_given() {
    let given_on = chain(4);
    let entries = vec!["Node 1".to_owned()];
    let renamed = edited(
        &given_on,
        json!([{"op": "rename_node", "node": "id-1", "name": "T"}]),
    );
    assert_eq!(
        edit_scope(&entries, &given_on, &given_on, &renamed),
        allow(EDIT_SCOPE)
    );
    let own = edited(
        &renamed,
        json!([{"op": "set_parameter", "node": "T", "pointer": "/x", "value": 5}]),
    );
    assert_eq!(
        edit_scope(&entries, &given_on, &renamed, &own),
        allow(EDIT_SCOPE)
    );
    let other = edited(
        &renamed,
        json!([{"op": "rename_node", "node": "id-3", "name": "Node 1"}]),
    );
    assert!(matches!(
        edit_scope(&entries, &given_on, &renamed, &other),
        Decision::Deny { .. }
    ));
    // What was added since stays in scope.
    let grown = edited(
        &renamed,
        json!([add("New"), {"op": "connect", "from": "T", "to": "New"}]),
    );
    let tuned = edited(
        &grown,
        json!([{"op": "set_parameter", "node": "New", "pointer": "/y", "value": 1}]),
    );
    assert_eq!(
        edit_scope(&entries, &given_on, &grown, &tuned),
        allow(EDIT_SCOPE)
    );
}

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
        (each("disable_node", &[0, 1, 2]), 3),
        (cut, 4),
        (emptied, 3),
        (replaced, 4),
        (
            json!([{"op": "remove_node", "node": "id-3"}, {"op": "disable_node", "node": "id-0"}, {"op": "replace_parameters", "node": "id-1", "parameters": {}}]),
            3,
        ),
    ] {
        let after = edited(&base, list.clone());
        assert_eq!(loss(&base, &after).lost.len(), lost, "{list}");
        assert!(
            matches!(wipe(&base, &after), Decision::Ask { .. }),
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
        assert_eq!(wipe(&base, &after), allow(WIPE), "{list}");
    }
    let mut emptied = base.clone();
    emptied.nodes.clear();
    assert_eq!(
        reason(&wipe(&base, &emptied)),
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
    let lost = |subs: &[(&str, &str, bool)]| loss(&base, &agent(subs)).lost;
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
    assert_eq!(loss(&base, &gone).lost, ["Chat", "Agent", "GPT", "Buffer"]);
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
    assert_eq!(loss(&base, &after).total, 2);
    assert!(matches!(wipe(&base, &after), Decision::Ask { .. }));
    let mut after = base.clone();
    after.nodes.retain(|n| n.id().0.starts_with("id"));
    assert_eq!(wipe(&base, &after), allow(WIPE));
}

#[test]
fn credentials_stay_or_are_asked() {
    let bind = |node: &str, kind: &str, id: &str| json!({"op": "set_credential", "node": node, "credential_type": kind, "id": id, "name": "n"});
    let before = edited(&chain(3), json!([bind("id-0", "slackApi", "1")]));
    for (list, allowed) in [
        (
            json!([{"op": "set_parameter", "node": "id-0", "pointer": "/x", "value": 2}]),
            true,
        ),
        (json!([bind("id-0", "slackApi", "1")]), true),
        (json!([{"op": "remove_node", "node": "id-0"}]), true),
        (json!([bind("id-0", "slackApi", "2")]), false),
        (json!([bind("id-0", "notionApi", "1")]), false),
        (json!([bind("id-1", "slackApi", "1")]), false),
        (json!([add("New"), bind("New", "slackApi", "1")]), true),
        (json!([add("New"), bind("New", "slackApi", "9")]), false),
    ] {
        let after = edited(&before, list.clone());
        let decision = credentials(Some(&before), &after);
        assert_eq!(
            decision == allow(CREDENTIALS),
            allowed,
            "{list}: {decision:?}"
        );
    }
    let bound = edited(&chain(1), json!([bind("id-0", "slackApi", "1")]));
    assert_eq!(
        reason(&credentials(None, &bound)),
        "the credentials of \"Node 0\" (new) would change"
    );
    assert_eq!(credentials(None, &chain(2)), allow(CREDENTIALS));
}

#[test]
fn stale_publish_owner_and_budget() {
    assert_eq!(stale("h1", Some("h1"), None), allow(STALE));
    assert_eq!(stale("h1", None, Some("h1")), allow(STALE));
    for (seen, expected) in [(None, None), (Some("h0"), None), (Some("h1"), Some("h0"))] {
        assert!(matches!(stale("h1", seen, expected), Decision::Deny { .. }));
    }
    assert_eq!(publish(false, false, "w"), allow(PUBLISH));
    assert!(matches!(publish(true, false, "w"), Decision::Ask { .. }));
    assert_eq!(owner(true, "w"), allow(OWNER));
    assert!(matches!(owner(false, "w"), Decision::Ask { .. }));
    assert_eq!(budget(9, 10, 2, 3), allow(TOOL_CALLS));
    assert_eq!(budget(10, 10, 0, 3).rule(), TOOL_CALLS);
    assert_eq!(budget(0, 10, 3, 3).rule(), IDENTICAL_CALLS);
}

/// Any operation on a workflow of up to `nodes` nodes; names are unique texts that nothing else contains.
fn any_op(nodes: usize) -> impl Strategy<Value = EditOp> {
    let node = move || (0..nodes).prop_map(|i| format!("id-{i}"));
    prop_oneof![
        (0u32..1000).prop_map(|n| EditOp::AddNode {
            node: NewNode {
                id: Some(format!("added-{n}")),
                name: format!("Added<{n}>"),
                node_type: "test.any".into(),
                type_version: Some(1.0),
                position: None,
                parameters: Map::new(),
                settings: Map::new(),
            }
        }),
        node().prop_map(|node| EditOp::RemoveNode { node }),
        (node(), 0..9).prop_map(|(node, v)| EditOp::SetParameter {
            node,
            pointer: "/q".into(),
            value: json!(v)
        }),
        (node(), 0u32..1000).prop_map(|(node, n)| EditOp::RenameNode {
            node,
            name: format!("Renamed<{n}>")
        }),
        node().prop_map(|node| EditOp::DisableNode { node }),
        (node(), 0..50).prop_map(|(node, x)| EditOp::MoveNode {
            node,
            position: [f64::from(x), 0.0]
        }),
        (node(), node(), 0u32..2).prop_map(|(from, to, output)| EditOp::Connect {
            from,
            to,
            kind: "main".into(),
            output,
            input: 0
        }),
        (node(), node(), 0u32..2, 0u32..2).prop_map(|(from, to, output, input)| {
            EditOp::Disconnect {
                from,
                to,
                kind: "main".into(),
                output,
                input,
            }
        }),
        (node(), 0u32..1000).prop_map(|(from, n)| EditOp::Connect {
            from,
            to: format!("added-{n}"),
            kind: "main".into(),
            output: 0,
            input: 0
        }),
        (0..9).prop_map(|n| EditOp::SetName {
            name: format!("Name {n}")
        }),
    ]
}

fn step(workflow: &Workflow, op: &EditOp) -> Option<Workflow> {
    apply(workflow, std::slice::from_ref(op), &mut || {
        "generated".to_owned()
    })
    .ok()
}

static REFERENCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\$\('[^']*'\)").unwrap());

/// What nobody may touch: the nodes out of scope (names undone, positions left out) and the edges between two of them.
fn outside(
    workflow: &Workflow,
    original: &Workflow,
    scope: &[String],
) -> (Vec<String>, Vec<String>) {
    let mut undo: Vec<(String, String)> = Vec::new();
    for node in &original.nodes {
        if let Some(now) = workflow.node(&node.id()) {
            undo.push((now.name().to_owned(), node.name().to_owned()));
        }
    }
    let original_name = |name: &str| {
        undo.iter()
            .find(|(now, _)| now == name)
            .map_or(name, |(_, was)| was.as_str())
            .to_owned()
    };
    let is_outside = |id: &str| !scope.iter().any(|s| s == id);
    let mut nodes = Vec::new();
    for node in original.nodes.iter().filter(|n| is_outside(&n.id().0)) {
        let text = workflow.node(&node.id()).map(|now| {
            let mut map = now.0.clone();
            map.remove("position");
            // Which name an expression uses follows renames; that is judged by the diff's own tests.
            REFERENCE
                .replace_all(&Value::Object(map).to_string(), "$$()")
                .into_owned()
        });
        nodes.push(format!("{} {text:?}", node.id()));
    }
    let ids: Vec<String> = original
        .nodes
        .iter()
        .filter(|n| is_outside(&n.id().0))
        .map(|n| n.name().to_owned())
        .collect();
    let mut edges: Vec<String> = workflow
        .edges()
        .map(|(from, kind, output, link)| {
            (
                original_name(from),
                kind,
                output,
                original_name(&link.node),
                link.index,
            )
        })
        .filter(|(from, _, _, to, _)| ids.contains(from) && ids.contains(to))
        .map(|edge| format!("{edge:?}"))
        .collect();
    edges.sort();
    edges.dedup();
    (nodes, edges)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_sequence_of_edits_changes_anything_out_of_scope(
        original in arbitrary::workflow(5),
        chosen in prop::collection::vec(any::<bool>(), 5),
        list in prop::collection::vec(any_op(5), 0..14),
    ) {
        let scope: Vec<String> = (0..5).filter(|i| chosen[*i]).map(|i| format!("id-{i}")).collect();
        let mut now = original.clone();
        for op in &list {
            if let Some(after) = step(&now, op)
                && edit_scope(&scope, &original, &now, &after) == allow(EDIT_SCOPE)
            {
                now = after;
            }
        }
        prop_assert_eq!(outside(&now, &original, &scope), outside(&original, &original, &scope));
        prop_assert_eq!(&now.head, &original.head);
    }

    #[test]
    fn an_edit_is_judged_alike_in_one_piece_and_in_many(
        base in arbitrary::workflow(6),
        list in prop::collection::vec(any_op(6), 0..12),
        cuts in prop::collection::vec(any::<bool>(), 12),
    ) {
        let possible: Vec<EditOp> = {
            let mut now = base.clone();
            let mut kept = Vec::new();
            for op in list {
                if let Some(after) = step(&now, &op) {
                    now = after;
                    kept.push(op);
                }
            }
            kept
        };
        let whole = apply(&base, &possible, &mut || "generated".to_owned()).unwrap();
        let mut now = base.clone();
        let mut piece = Vec::new();
        for (i, op) in possible.iter().enumerate() {
            piece.push(op.clone());
            if cuts[i] {
                now = apply(&now, &piece, &mut || "generated".to_owned()).unwrap();
                piece.clear();
            }
        }
        now = apply(&now, &piece, &mut || "generated".to_owned()).unwrap();
        prop_assert_eq!(wipe(&base, &now), wipe(&base, &whole));
    }

    #[test]
    fn a_loss_is_counted_by_id(base in arbitrary::workflow(6), gone in prop::collection::vec(any::<bool>(), 6)) {
        let mut after = base.clone();
        let mut lost = Vec::new();
        for (i, gone) in gone.iter().enumerate() {
            if *gone && after.node(&NodeId(format!("id-{i}"))).is_some() {
                lost.push(format!("Node {i}"));
                after.nodes.retain(|n| n.id().0 != format!("id-{i}"));
            }
        }
        let found = loss(&base, &after);
        for name in &lost {
            prop_assert!(found.lost.contains(name));
        }
        if lost.len() * 2 > base.nodes.len() {
            prop_assert!(matches!(wipe(&base, &after), Decision::Ask { .. }), "{:?}", found);
        }
    }
}

#[test]
fn one_workflow_is_the_only_one_and_stays() {
    let denied =
        |decision: Decision| matches!(decision, Decision::Deny { rule, .. } if rule == WORKFLOW);
    assert_eq!(workflow(None, None, false), allow(WORKFLOW));
    assert_eq!(workflow(None, Some("a"), true), allow(WORKFLOW));
    assert_eq!(workflow(Some("a"), Some("a"), false), allow(WORKFLOW));
    assert!(denied(workflow(Some("a"), Some("a"), true)));
    assert!(denied(workflow(Some("a"), Some("b"), false)));
    assert!(denied(workflow(Some("a"), None, false)));
}
