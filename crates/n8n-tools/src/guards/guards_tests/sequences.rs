//! What must hold for every sequence of edits, however it is cut into calls.

use super::*;
use crate::fixture::{Bench, N8nBench as _};
use agentctl_base::model::ToolStatus;
use agentctl_engine::gateway::Settled;
use agentctl_engine::policy::Policy;
use agentctl_n8n::arbitrary;
use agentctl_n8n::diff::changes;
use agentctl_n8n::edit::NewNode;
use proptest::prelude::*;
use regex::Regex;
use std::sync::LazyLock;

/// Any operation on a workflow of up to `nodes` nodes, addressed by id or name; names that were given up are taken again, and so
/// are the ids of nodes that were removed. Other names are unique texts that nothing else contains.
fn any_op(nodes: usize) -> impl Strategy<Value = EditOp> {
    let node = move || {
        prop_oneof![
            3 => (0..nodes).prop_map(|i| format!("id-{i}")),
            1 => (0..nodes).prop_map(|i| format!("Node {i}")),
        ]
    };
    let fresh = |what: &'static str| (0u32..1000).prop_map(move |n| format!("{what}<{n}>"));
    let name = move |what| prop_oneof![2 => fresh(what), 1 => (0..nodes).prop_map(|i| format!("Node {i}"))];
    let id = prop_oneof![
        2 => (0u32..1000).prop_map(|n| format!("added-{n}")),
        1 => (0..nodes).prop_map(|i| format!("id-{i}")),
    ];
    let main = || "main".to_owned();
    prop_oneof![
        3 => (id, name("Added")).prop_map(|(id, name)| EditOp::AddNode {
            node: NewNode {
                id: Some(id),
                name,
                node_type: "test.any".into(),
                type_version: Some(1.0),
                position: None,
                parameters: Map::new(),
                settings: Map::new(),
            }
        }),
        2 => node().prop_map(|node| EditOp::RemoveNode { node }),
        2 => (node(), 0..9).prop_map(|(node, v)| EditOp::SetParameter {
            node,
            pointer: "/q".into(),
            value: json!(v)
        }),
        1 => (node(), 0..9).prop_map(|(node, v)| EditOp::ReplaceParameters {
            node,
            parameters: Map::from_iter([("q".to_owned(), json!(v))])
        }),
        3 => (node(), name("Renamed")).prop_map(|(node, name)| EditOp::RenameNode { node, name }),
        1 => node().prop_map(|node| EditOp::DisableNode { node }),
        1 => node().prop_map(|node| EditOp::EnableNode { node }),
        1 => node().prop_map(|node| EditOp::SetTypeVersion { node, type_version: 2.0 }),
        1 => node().prop_map(|node| EditOp::SetNodeSettings {
            node,
            settings: Map::from_iter([("notes".to_owned(), json!("n"))])
        }),
        1 => node().prop_map(|node| EditOp::SetCredential {
            node,
            credential_type: "aApi".into(),
            id: "1".into(),
            name: "n".into()
        }),
        1 => (node(), 0..50).prop_map(|(node, x)| EditOp::MoveNode {
            node,
            position: [f64::from(x), 0.0]
        }),
        2 => (node(), node(), 0u32..2).prop_map(move |(from, to, output)| EditOp::Connect {
            from,
            to,
            kind: main(),
            output,
            input: 0
        }),
        2 => (node(), node(), 0u32..2, 0u32..2).prop_map(move |(from, to, output, input)| {
            EditOp::Disconnect {
                from,
                to,
                kind: main(),
                output,
                input,
            }
        }),
        2 => (node(), node(), node(), 0u32..2).prop_map(move |(from, to, new_to, output)| {
            EditOp::Rewire {
                from,
                to,
                new_to,
                kind: main(),
                output,
                input: 0,
            }
        }),
        2 => (node(), 0u32..1000).prop_map(move |(from, n)| EditOp::Connect {
            from,
            to: format!("added-{n}"),
            kind: main(),
            output: 0,
            input: 0
        }),
        1 => (0..9).prop_map(|n| EditOp::SetName {
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
    let original_name = |name: &str| {
        let node = workflow.node_by_name(name);
        let id = node.map(Node::id).unwrap_or_else(|| NodeId(String::new()));
        match original.node(&id) {
            Some(was) => was.name().to_owned(),
            None => format!("new {id}"),
        }
    };
    let is_outside = |id: &str| !scope.iter().any(|s| s == id);
    let mut nodes = Vec::new();
    for node in original.nodes.iter().filter(|n| is_outside(&n.id().0)) {
        let text = workflow.node(&node.id()).map(|now| {
            let mut map = now.map().clone();
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
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_sequence_of_edits_changes_anything_out_of_scope(
        original in arbitrary::workflow(5),
        chosen in prop::collection::vec(any::<bool>(), 5),
        list in prop::collection::vec(any_op(5), 0..14),
        cuts in prop::collection::vec(any::<bool>(), 14),
    ) {
        let scope: Vec<String> = (0..5).filter(|i| chosen[*i]).map(|i| format!("id-{i}")).collect();
        // Any number of operations in one call; a call that the guard refuses, or the engine, does nothing.
        let mut now = original.clone();
        let mut call: Vec<EditOp> = Vec::new();
        for (i, op) in list.iter().enumerate() {
            call.push(op.clone());
            if !cuts[i] && i + 1 < list.len() {
                continue;
            }
            let possible: Vec<EditOp> = std::mem::take(&mut call);
            let after = possible.iter().fold(now.clone(), |w, op| step(&w, op).unwrap_or(w));
            if edit_scope(&scope, &original, &now, &after) == allow(EDIT_SCOPE) {
                now = after;
            }
        }
        prop_assert_eq!(outside(&now, &original, &scope), outside(&original, &original, &scope));
        prop_assert_eq!(&now.head, &original.head);
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
        let found = loss(&base, &after, ANY);
        for name in &lost {
            prop_assert!(found.lost.contains(name));
        }
        if lost.len() * 2 > base.nodes.len() {
            prop_assert!(matches!(wipe(&base, &after, ANY), Decision::Ask { .. }), "{:?}", found);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Through the whole gateway, with its snapshots: an edit that is cut into calls is asked at exactly the call with which the
    /// whole so far would have been asked, however it is cut, and also when the run was killed and folded again in between.
    #[test]
    fn an_edit_is_judged_alike_in_one_piece_and_in_many(
        base in arbitrary::workflow(6),
        list in prop::collection::vec(any_op(6), 1..12),
        cuts in prop::collection::vec(any::<bool>(), 12),
        folded in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let policy = Policy::load("roles: {w: [get-workflow, update-workflow]}", "p", crate::vocabulary::n8n()).unwrap();
        let (mut bench, backend) = Bench::in_memory(policy);
        backend.put("w", base.clone(), false);
        runtime.block_on(async {
            bench.ok("w", "get_workflow", json!({"workflow_id": "w"})).await;
            let mut now = base.clone();
            let mut piece: Vec<EditOp> = Vec::new();
            for (i, op) in list.iter().enumerate() {
                piece.push(op.clone());
                if !cuts[i] && i + 1 < list.len() {
                    continue;
                }
                let mut ids = || "generated".to_owned();
                let call = std::mem::take(&mut piece);
                let Ok(after) = apply(&now, &call, &mut ids) else { continue };
                if credentials(Some(&now), &after) != allow(CREDENTIALS) {
                    continue; // another guard's question
                }
                if folded {
                    bench.refold();
                }
                let args = json!({"workflow_id": "w", "ops": call});
                let settled = bench.raw("w", "update_workflow", &args.to_string()).await.unwrap();
                match wipe(&base, &after, ANY) {
                    Decision::Allow { .. } => {
                        let Settled::Done(result) = settled else { panic!("asks: {settled:?}") };
                        assert_eq!(result.status, ToolStatus::Ok, "{:#}", result.content);
                        now = after;
                    }
                    _ => {
                        let Settled::NeedsApproval(question) = settled else { panic!("{settled:?}") };
                        assert_eq!(question.topic, "approve-wipe");
                    }
                }
                assert_eq!(backend.held("w").unwrap().nodes, now.nodes);
            }
        });
    }
}

proptest! {
    /// What stands in its old place is judged without a look at the whole graph: the order of the nodes decides nothing.
    #[test]
    fn the_order_of_nodes_changes_no_decision(
        base in arbitrary::workflow(6),
        other in arbitrary::workflow(6),
        rewired in any::<bool>(),
        turned in 0usize..6,
    ) {
        let mut after = base.clone();
        for (node, other) in after.nodes.iter_mut().zip(other.nodes) {
            node.set("parameters", other.map()["parameters"].clone());
            node.set("disabled", json!(other.disabled()));
            node.set("credentials", json!({"a": {"id": other.parameters().map_or(0, Map::len).to_string()}}));
        }
        if rewired {
            after.connections = other.connections;
        }
        let mut shuffled = after.clone();
        let turned = turned % shuffled.nodes.len();
        shuffled.nodes.rotate_left(turned);
        let starts = |_: &str| Start::No;
        prop_assert_eq!(loss(&base, &after, &starts), loss(&base, &shuffled, &starts));
        let asks = |w: &Workflow| matches!(credentials(Some(&base), w), Decision::Ask { .. });
        prop_assert_eq!(asks(&after), asks(&shuffled));
        let (found, same) = (changes(&base, &after), changes(&base, &shuffled));
        prop_assert_eq!(found, same);
    }
}
