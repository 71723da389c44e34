use super::*;
use crate::{
    arbitrary,
    edit::{EditOp, apply},
};
use proptest::prelude::*;
use serde_json::json;

/// What the tests ask of a difference.
impl WorkflowDiff {
    /// Nodes were renamed, expressions and pinned data followed, and nothing else changed but positions.
    fn is_rename_only(&self) -> bool {
        let edges = self.edges_added.len() + self.edges_removed.len();
        let nodes = self.nodes_added.len() + self.nodes_removed.len();
        let renamed = |c: &NodeChange| c.aspects.contains(&Aspect::Name);
        edges + nodes + self.settings.len() == 0
            && self
                .document
                .iter()
                .all(|c| c.pointer.starts_with("/pinData/"))
            && self.nodes_changed.iter().any(renamed)
            && self.nodes_changed.iter().all(|change| {
                change.aspects.iter().all(|aspect| match aspect {
                    Aspect::Name | Aspect::Position => true,
                    Aspect::Parameters => change.follows_rename,
                    _ => false,
                })
            })
    }

    /// Ids of nodes whose change goes beyond their position, added and removed ones included. Nodes whose parameters only
    /// follow a rename are not counted: the renamed node is.
    fn touched_nodes(&self) -> BTreeSet<NodeId> {
        let changed = self
            .nodes_changed
            .iter()
            .filter(|c| c.is_beyond_position() && !c.only_follows_rename())
            .flat_map(|c| [c.before.id.clone(), c.after.id.clone()]);
        let whole = self.nodes_added.iter().chain(&self.nodes_removed);
        changed.chain(whole.map(|n| n.id.clone())).collect()
    }

    /// Ids of the nodes that are gone.
    fn lost_nodes(&self) -> BTreeSet<NodeId> {
        self.nodes_removed.iter().map(|n| n.id.clone()).collect()
    }

    /// Ids of the nodes that ran before and are disabled now.
    fn disabled_nodes(&self) -> BTreeSet<NodeId> {
        let now_disabled = |change: &&NodeChange| {
            let switched = |v: &&ValueChange| v.pointer == "/disabled";
            let value = change.values.iter().find(switched);
            value.is_some_and(|v| v.new == Some(Value::Bool(true)))
        };
        let disabled = self.nodes_changed.iter().filter(now_disabled);
        disabled.map(|c| c.before.id.clone()).collect()
    }

    /// Edges that are gone though both of their nodes are still there.
    fn cut_edges(&self) -> impl Iterator<Item = &EdgeRef> {
        let is_lost = |end: &NodeRef| self.nodes_removed.contains(end);
        let removed = self.edges_removed.iter();
        removed.filter(move |edge| !is_lost(&edge.from) && !is_lost(&edge.to))
    }

    /// Nodes whose credentials changed, with the changes.
    fn credential_changes(&self) -> impl Iterator<Item = &NodeChange> {
        let changed = |c: &&NodeChange| c.aspects.contains(&Aspect::Credentials);
        self.nodes_changed.iter().filter(changed)
    }
}

fn edited(workflow: &Workflow, ops: &[Value]) -> Workflow {
    let op = |v: &Value| serde_json::from_value::<EditOp>(v.clone()).unwrap();
    let ops: Vec<EditOp> = ops.iter().map(op).collect();
    apply(workflow, &ops, &mut || "new".to_owned()).unwrap()
}

fn sample() -> Workflow {
    Workflow::from_value(json!({
        "name": "Orders",
        "nodes": [
            {"id": "a", "name": "Hook", "type": "t.hook", "typeVersion": 1, "position": [0, 0], "parameters": {"path": "orders"}},
            {"id": "b", "name": "Check", "type": "t.if", "typeVersion": 1, "position": [240, 0], "parameters": {"left": "={{ $('Hook').item.json.x }}", "list": [1, 2]}},
            {"id": "c", "name": "Post", "type": "t.post", "typeVersion": 1, "position": [480, 0], "parameters": {"text": "hello"}, "credentials": {"slackApi": {"id": "1", "name": "S"}}}
        ],
        "connections": {
            "Hook": {"main": [[{"node": "Check", "type": "main", "index": 0}]]},
            "Check": {"main": [[], [{"node": "Post", "type": "main", "index": 0}]]}
        },
        "settings": {"executionOrder": "v1"}
    }))
    .unwrap()
}

fn ids(set: BTreeSet<NodeId>) -> Vec<String> {
    set.into_iter().map(|id| id.0).collect()
}

#[test]
fn a_summary_names_every_change() {
    let before = sample();
    let after = edited(
        &before,
        &[
            json!({"op": "set_parameter", "node": "Post", "pointer": "/text", "value": "bye"}),
            json!({"op": "set_parameter", "node": "Check", "pointer": "/list/2", "value": 3}),
            json!({"op": "set_credential", "node": "Post", "credential_type": "slackApi", "id": "2", "name": "S"}),
            json!({"op": "disable_node", "node": "Hook"}),
            json!({"op": "set_settings", "settings": {"timezone": "UTC"}}),
            json!({"op": "set_name", "name": "Sales"}),
            json!({"op": "add_node", "node": {"name": "Log", "type": "t.log"}}),
            json!({"op": "rewire", "from": "Check", "to": "Post", "new_to": "Log", "output": 1}),
        ],
    );
    let diff = changes(&before, &after);
    insta::assert_snapshot!(diff.to_string(), @r#"
    + node "Log"
    ~ "Hook" disabled: true
    ~ "Check" list 2: 3
    ~ "Post" text: "hello" → "bye"
    ~ "Post" credentials slackApi id: "1" → "2"
    - "Check" → "Post" (output 1)
    + "Check" → "Log" (output 1)
    ~ settings timezone: "UTC"
    ~ workflow name: "Orders" → "Sales"
    "#);
    assert_eq!(ids(diff.touched_nodes()), ["a", "b", "c", "new"]);
    assert_eq!(ids(diff.disabled_nodes()), ["a"]);
    assert_eq!(ids(diff.lost_nodes()), Vec::<String>::new());
    assert_eq!(diff.credential_changes().count(), 1);
    assert!(!diff.is_rename_only() && !diff.is_move_only());
}

#[test]
fn a_rename_changes_no_edge_and_touches_one_node() {
    let before = sample();
    let after = edited(
        &before,
        &[json!({"op": "rename_node", "node": "a", "name": "Order"})],
    );
    let diff = changes(&before, &after);
    assert!(diff.is_rename_only());
    assert_eq!(ids(diff.touched_nodes()), ["a"]);
    assert_eq!((diff.edges_added.len(), diff.edges_removed.len()), (0, 0));
    insta::assert_snapshot!(diff.to_string(), @r#"
    ~ node "Hook" renamed "Order"
    ~ "Check": its expressions follow the rename
    "#);
    let more = edited(
        &after,
        &[json!({"op": "set_parameter", "node": "b", "pointer": "/left", "value": "x"})],
    );
    let diff = changes(&before, &more);
    assert!(!diff.is_rename_only());
    assert_eq!(ids(diff.touched_nodes()), ["a", "b"]);
}

#[test]
fn same_names_with_other_ids_are_other_nodes() {
    let before = sample();
    let mut after = before.clone();
    for (i, node) in after.nodes.iter_mut().enumerate() {
        node.set("id", json!(format!("other-{i}")));
    }
    let diff = changes(&before, &after);
    assert_eq!(ids(diff.lost_nodes()), ["a", "b", "c"]);
    assert_eq!(diff.nodes_added.len(), 3);
    assert_eq!(diff.edges_removed.len(), 2);
    assert_eq!(diff.cut_edges().count(), 0);
    let cut = edited(
        &before,
        &[
            json!({"op": "disconnect", "from": "Hook", "to": "Check"}),
            json!({"op": "remove_node", "node": "Post"}),
        ],
    );
    let diff = changes(&before, &cut);
    assert_eq!(ids(diff.lost_nodes()), ["c"]);
    let cut: Vec<&str> = diff.cut_edges().map(|e| e.to.name.as_str()).collect();
    assert_eq!((cut, diff.edges_removed.len()), (vec!["Check"], 2));
}

#[test]
fn an_id_that_was_filled_in_is_the_same_node() {
    let mut before = sample();
    before.nodes[1].map_mut().remove("id");
    let diff = changes(&before, &sample());
    assert_eq!(diff.nodes_changed.len(), 1);
    assert_eq!(diff.nodes_changed[0].aspects, BTreeSet::from([Aspect::Id]));
    assert_eq!(diff.lost_nodes().len(), 0);
}

#[test]
fn a_text_diff_is_unified_and_empty_for_equals() {
    let before = sample();
    assert_eq!(text_diff(&before, &before), "");
    let after = edited(
        &before,
        &[json!({"op": "set_parameter", "node": "Post", "pointer": "/text", "value": "bye"})],
    );
    insta::assert_snapshot!(text_diff(&before, &after), @r#"
    --- before
    +++ after
    @@ -41,7 +41,7 @@
             0
           ],
           "parameters": {
    -        "text": "hello"
    +        "text": "bye"
           },
           "credentials": {
             "slackApi": {
    "#);
}

proptest! {
    #[test]
    fn order_is_no_change(workflow in arbitrary::workflow(6)) {
        let mut shuffled = workflow.clone();
        shuffled.nodes.reverse();
        shuffled.connections.reverse();
        prop_assert_eq!(changes(&workflow, &shuffled), WorkflowDiff::default());
    }

    #[test]
    fn a_diff_is_empty_exactly_when_the_graph_is_the_same(a in arbitrary::workflow(4), b in arbitrary::workflow(4)) {
        let same = crate::hash::graph_hash(&a) == crate::hash::graph_hash(&b);
        let diff = changes(&a, &b);
        prop_assert_eq!(diff.is_empty(), same, "{}", diff);
        let back = changes(&b, &a);
        prop_assert_eq!(diff.edges_added, back.edges_removed);
        prop_assert_eq!(diff.nodes_added, back.nodes_removed);
    }

    #[test]
    fn one_changed_node_is_the_only_one_named(workflow in arbitrary::workflow(6), at in 0usize..6) {
        let at = at % workflow.nodes.len();
        let mut after = workflow.clone();
        after.nodes[at].edit_parameters(|p| p.insert("changed".into(), json!(1)));
        let diff = changes(&workflow, &after);
        prop_assert_eq!(ids(diff.touched_nodes()), vec![format!("id-{at}")]);
        prop_assert_eq!(&diff.nodes_changed[0].values, &vec![ValueChange { pointer: "/parameters/changed".into(), old: None, new: Some(json!(1)) }]);
    }
}

proptest! {
    /// Writing out only what changed gives what writing out everything gives.
    #[test]
    fn a_diff_of_the_changed_part_is_the_diff_of_the_whole(a in arbitrary::workflow(5), b in arbitrary::workflow(5), keep in 0usize..5) {
        let mut b = b;
        let kept = a.nodes.iter().take(keep).cloned();
        b.nodes = kept.chain(b.nodes.into_iter().skip(keep)).collect();
        let (old, new) = (a.to_text(), b.to_text());
        let found = text_diff(&a, &b);
        prop_assert_eq!(found.is_empty(), old == new);
        prop_assert_eq!(patched(&old, &found), new);
    }
}

/// The text after the diff: each hunk is taken at the line that it names, and must fit there.
fn patched(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.lines().collect();
    let mut out: Vec<&str> = Vec::new();
    let mut at = 0;
    for line in diff.lines().skip(2) {
        if let Some(place) = line.strip_prefix("@@ -") {
            let from = place.split(' ').next().unwrap();
            let (start, length) = from.split_once(',').unwrap_or((from, "1"));
            let start: usize = start.parse().unwrap();
            let start = if length == "0" { start } else { start - 1 };
            out.extend(&old[at..start]);
            at = start;
            continue;
        }
        let (side, text) = line.split_at(1);
        if side != "+" {
            assert_eq!(old[at], text);
            at += 1;
        }
        if side != "-" {
            out.push(text);
        }
    }
    out.extend(&old[at..]);
    out.iter().map(|line| format!("{line}\n")).collect()
}
