use super::*;
use crate::{
    arbitrary,
    workflow::{Node, NodeId},
};
use proptest::prelude::*;
use serde_json::{Map, json};
use std::collections::HashSet;

fn built(names: &[&str], edges: &[(&str, &str, u32, &str)]) -> Workflow {
    let mut workflow = Workflow::empty("Any");
    for name in names {
        let id = NodeId((*name).to_owned());
        workflow
            .nodes
            .push(Node::new(id, *name, "t.any", 1.0, Map::new()));
    }
    for (from, kind, output, to) in edges {
        workflow.connect(from, kind, *output, to, 0);
    }
    workflow
}

fn positions(workflow: &Workflow) -> Vec<(&str, i64, i64)> {
    let place = |n: &'_ Node| n.position().map(|(x, y)| (x as i64, y as i64)).unwrap();
    workflow
        .nodes
        .iter()
        .map(|n| (n.name(), place(n).0, place(n).1))
        .collect()
}

/// What is drawn: the square or the wide root, and the label below.
fn drawn(workflow: &Workflow, node: &Node) -> (f64, f64, f64, f64) {
    let (x, y) = node.position().unwrap();
    let is_root = workflow
        .edges()
        .any(|(_, kind, _, link)| kind != "main" && link.node == node.name());
    let width = if is_root { 256.0 } else { 96.0 };
    (x - 24.0, y, width + 48.0, 130.0)
}

fn overlaps(workflow: &Workflow) -> Vec<String> {
    let nodes: Vec<&Node> = workflow.nodes.iter().filter(|n| !n.is_sticky()).collect();
    let mut found = Vec::new();
    for (i, a) in nodes.iter().enumerate() {
        for b in nodes.iter().skip(i + 1) {
            let ((ax, ay, aw, ah), (bx, by, bw, bh)) = (drawn(workflow, a), drawn(workflow, b));
            if ax < bx + bw && bx < ax + aw && ay < by + bh && by < ay + ah {
                found.push(format!("{} {}", a.name(), b.name()));
            }
        }
    }
    found
}

#[test]
fn branches_stand_in_output_order_and_the_merge_between_them() {
    let mut w = built(
        &["Hook", "If", "Yes", "No", "Merge"],
        &[
            ("Hook", "main", 0, "If"),
            ("If", "main", 0, "Yes"),
            ("If", "main", 1, "No"),
            ("Yes", "main", 0, "Merge"),
            ("No", "main", 0, "Merge"),
        ],
    );
    layout(&mut w);
    assert_eq!(
        positions(&w),
        [
            ("Hook", 0, 96),
            ("If", 240, 96),
            ("Yes", 480, 0),
            ("No", 480, 176),
            ("Merge", 720, 96)
        ]
    );
}

#[test]
fn a_loop_goes_right_and_comes_back() {
    let mut w = built(
        &["Start", "Loop", "Body", "Done"],
        &[
            ("Start", "main", 0, "Loop"),
            ("Loop", "main", 0, "Done"),
            ("Loop", "main", 1, "Body"),
            ("Body", "main", 0, "Loop"),
        ],
    );
    layout(&mut w);
    assert_eq!(
        positions(&w),
        [
            ("Start", 0, 96),
            ("Loop", 240, 96),
            ("Body", 480, 176),
            ("Done", 480, 0)
        ]
    );
}

#[test]
fn sub_nodes_stand_below_their_root_and_leave_room() {
    let mut w = built(
        &[
            "Chat",
            "Agent",
            "After",
            "Model",
            "Memory",
            "Store",
            "Embedding",
        ],
        &[
            ("Chat", "main", 0, "Agent"),
            ("Agent", "main", 0, "After"),
            ("Model", "ai_languageModel", 0, "Agent"),
            ("Memory", "ai_memory", 0, "Agent"),
            ("Store", "ai_tool", 0, "Agent"),
            ("Embedding", "ai_embedding", 0, "Store"),
        ],
    );
    layout(&mut w);
    assert_eq!(
        positions(&w),
        [
            ("Chat", 0, 0),
            ("Agent", 432, 0),
            ("After", 1024, 0),
            ("Model", 272, 192),
            ("Memory", 432, 192),
            ("Store", 592, 192),
            ("Embedding", 672, 384)
        ]
    );
    assert_eq!(overlaps(&w), Vec::<String>::new());
}

#[test]
fn sticky_notes_stay_and_the_corner_too() {
    let mut w = built(&["A", "B"], &[("A", "main", 0, "B")]);
    let mut note = Node::new(
        NodeId("s".into()),
        "Note",
        "n8n-nodes-base.stickyNote",
        1.0,
        Map::new(),
    );
    note.set_position(-7.0, 13.0);
    w.nodes.push(note);
    w.nodes[0].set_position(500.0, 300.0);
    w.nodes[1].set_position(480.0, 304.0);
    layout(&mut w);
    assert_eq!(
        positions(&w),
        [("A", 480, 304), ("B", 720, 304), ("Note", -7, 13)]
    );
}

#[test]
fn an_inserted_node_moves_no_other() {
    let mut w = built(
        &["A", "B", "New", "Tool"],
        &[
            ("A", "main", 0, "B"),
            ("A", "main", 0, "New"),
            ("Tool", "ai_tool", 0, "B"),
        ],
    );
    w.nodes[1].set_position(240.0, 0.0);
    w.nodes[2].map_mut().remove("position");
    w.nodes[3].map_mut().insert("position".into(), json!(null));
    place_new(&mut w, &[NodeId("New".into()), NodeId("Tool".into())]);
    assert_eq!(
        positions(&w),
        [
            ("A", 0, 0),
            ("B", 240, 0),
            ("New", 240, 176),
            ("Tool", 400, 192)
        ]
    );
}

#[test]
fn a_node_between_two_stands_between_them_or_below() {
    let ends = |to: f64| {
        let edges = [("A", "main", 0, "New"), ("New", "main", 0, "B")];
        let mut w = built(&["A", "B", "New"], &edges);
        w.nodes[1].set_position(to, 0.0);
        w.nodes[2].map_mut().remove("position");
        place_new(&mut w, &[NodeId("New".into())]);
        let (name, x, y) = positions(&w)[2];
        (name == "New", x, y)
    };
    // Room for it in the row.
    assert_eq!(ends(480.0), (true, 240, 0));
    assert_eq!(ends(960.0), (true, 240, 0));
    // None: below, with both connections to the right.
    assert_eq!(ends(240.0), (true, 128, 176));
    // Nothing can run forward between what stands the other way round.
    assert_eq!(ends(-240.0), (true, 240, 0));
}

#[test]
fn several_between_two_have_a_column_each() {
    let mut w = built(
        &["A", "B", "Second", "First"],
        &[
            ("A", "main", 0, "First"),
            ("First", "main", 0, "Second"),
            ("Second", "main", 0, "B"),
        ],
    );
    w.nodes[1].set_position(240.0, 0.0);
    for at in [2, 3] {
        w.nodes[at].map_mut().remove("position");
    }
    place_new(&mut w, &[NodeId("First".into()), NodeId("Second".into())]);
    let row = [
        ("A", 0, 0),
        ("B", 720, 0),
        ("Second", 480, 0),
        ("First", 240, 0),
    ];
    assert_eq!(positions(&w), row);
}

#[test]
fn what_stands_behind_makes_room_where_there_is_none() {
    // A (0), the inserted one below (128), B with its tool (240), After (480): and one more between the inserted one and B.
    let mut w = built(
        &["A", "Inserted", "B", "Tool", "After", "Aside", "New"],
        &[
            ("A", "main", 0, "Inserted"),
            ("Inserted", "main", 0, "New"),
            ("New", "main", 0, "B"),
            ("Tool", "ai_tool", 0, "B"),
            ("B", "main", 0, "After"),
            ("A", "main", 0, "Aside"),
        ],
    );
    for (node, (x, y)) in w.nodes.iter_mut().zip([
        (0.0, 0.0),
        (128.0, 176.0),
        (240.0, 0.0),
        (208.0, 192.0),
        (640.0, 0.0),
        (128.0, 352.0),
    ]) {
        node.set_position(x, y);
    }
    w.nodes[6].map_mut().remove("position");
    place_new(&mut w, &[NodeId("New".into())]);
    // All that stands from B on moved by the same, the tool with it; what stands left of it stayed.
    assert_eq!(
        positions(&w),
        [
            ("A", 0, 0),
            ("Inserted", 128, 176),
            ("B", 608, 0),
            ("Tool", 576, 192),
            ("After", 1008, 0),
            ("Aside", 128, 352),
            ("New", 368, 176),
        ]
    );
}

/// The workflow after its nodes A (0), B (240), C (480) and D (720), one after the other, were connected otherwise.
fn reconnected(edges: &[(&str, &str, u32, &str)], fixed: &[&str]) -> Vec<(String, i64, i64)> {
    let names = ["A", "B", "C", "D"];
    let mut before = built(
        &names,
        &[
            ("A", "main", 0, "B"),
            ("B", "main", 0, "C"),
            ("C", "main", 0, "D"),
        ],
    );
    layout(&mut before);
    let mut after = built(&names, edges);
    for (node, was) in after.nodes.iter_mut().zip(&before.nodes) {
        let (x, y) = was.position().unwrap();
        node.set_position(x, y);
    }
    let fixed = fixed.iter().map(|id| NodeId((*id).to_owned())).collect();
    turn(&before, &mut after, &fixed);
    assert_eq!(overlaps(&after), Vec::<String>::new());
    let all = positions(&after).into_iter();
    all.map(|(name, x, y)| (name.to_owned(), x, y)).collect()
}

#[test]
fn only_what_a_new_connection_leads_backwards_to_moves() {
    let at = |name: &str, x: i64, y: i64| (name.to_owned(), x, y);
    let as_it_was = [
        at("A", 0, 0),
        at("B", 240, 0),
        at("C", 480, 0),
        at("D", 720, 0),
    ];
    // A → C → D → B: B is led to from D now.
    let last = [
        ("A", "main", 0, "C"),
        ("C", "main", 0, "D"),
        ("D", "main", 0, "B"),
    ];
    let moved = [
        at("A", 0, 0),
        at("B", 960, 0),
        at("C", 480, 0),
        at("D", 720, 0),
    ];
    assert_eq!(reconnected(&last, &[]), moved);
    // The user said where it stands.
    assert_eq!(reconnected(&last, &["B"]), as_it_was);
    // A → C → B → D: between the two, below, as there is no room in the row.
    let between = [
        ("A", "main", 0, "C"),
        ("C", "main", 0, "B"),
        ("B", "main", 0, "D"),
    ];
    let moved = [
        at("A", 0, 0),
        at("B", 608, 176),
        at("C", 480, 0),
        at("D", 720, 0),
    ];
    assert_eq!(reconnected(&between, &[]), moved);
    // A loop that is closed goes back on purpose.
    let closed = [
        ("A", "main", 0, "B"),
        ("B", "main", 0, "C"),
        ("C", "main", 0, "D"),
        ("D", "main", 0, "B"),
    ];
    assert_eq!(reconnected(&closed, &[]), as_it_was);
    // Below one another: the connection would come out on the right and go in on the left.
    let mut before = built(&["A", "B"], &[]);
    before.nodes[1].set_position(0.0, 176.0);
    let mut after = built(&["A", "B"], &[("A", "main", 0, "B")]);
    after.nodes[1].set_position(0.0, 176.0);
    turn(&before, &mut after, &HashSet::new());
    assert_eq!(positions(&after), [("A", 0, 0), ("B", 240, 176)]);
    // What runs to the right already moves nothing.
    let skipped = [("A", "main", 0, "C"), ("C", "main", 0, "D")];
    assert_eq!(reconnected(&skipped, &[]), as_it_was);
}

fn with_sub_nodes() -> impl Strategy<Value = Workflow> {
    let subs = prop::collection::vec((0usize..14, 0usize..14), 0..6);
    (arbitrary::workflow(14), subs).prop_map(|(mut workflow, subs)| {
        let count = workflow.nodes.len();
        for (from, to) in subs {
            let (from, to) = (
                format!("Node {}", from % count),
                format!("Node {}", to % count),
            );
            workflow.connect(&from, "ai_tool", 0, &to, 0);
        }
        workflow
    })
}

proptest! {
    #[test]
    fn nothing_overlaps_and_edges_go_right(workflow in with_sub_nodes()) {
        let mut w = workflow;
        layout(&mut w);
        prop_assert_eq!(overlaps(&w), Vec::<String>::new());
        let flow = Flow::of(&w);
        for at in flow.placeable() {
            let (x, y) = w.nodes[at].position().unwrap();
            prop_assert_eq!((x % GRID, y % GRID), (0.0, 0.0));
            for &parent in flow.parents(at) {
                prop_assert!(w.nodes[parent].position().unwrap().0 < x);
            }
        }
        let mut again = w.clone();
        layout(&mut again);
        prop_assert_eq!(again, w);
    }

    #[test]
    fn without_loops_every_main_edge_goes_right(count in 2usize..14, edges in prop::collection::vec((0usize..14, 0usize..14, 0u32..3), 0..24)) {
        let mut w = Workflow::empty("Any");
        for i in 0..count {
            w.nodes.push(Node::new(NodeId(format!("{i}")), format!("{i}"), "t.any", 1.0, Map::new()));
        }
        for (a, b, output) in edges {
            let (a, b) = (a % count, b % count);
            if a != b {
                w.connect(&a.min(b).to_string(), "main", output, &a.max(b).to_string(), 0);
            }
        }
        layout(&mut w);
        for (from, _, _, link) in w.edges() {
            let x = |name: &str| w.node_by_name(name).unwrap().position().unwrap().0;
            prop_assert!(x(from) < x(&link.node));
        }
    }

    #[test]
    fn added_nodes_overlap_nothing_and_move_nothing(workflow in with_sub_nodes(), new in prop::collection::hash_set(0usize..14, 0..5)) {
        let mut w = workflow;
        layout(&mut w);
        let before = w.clone();
        let is_new = |i: usize| new.contains(&i);
        for (i, node) in w.nodes.iter_mut().enumerate() {
            if is_new(i) { node.map_mut().remove("position"); }
        }
        let ids: Vec<NodeId> = new.iter().map(|i| NodeId(format!("id-{i}"))).collect();
        place_new(&mut w, &ids);
        for (i, (a, b)) in w.nodes.iter().zip(&before.nodes).enumerate() {
            if !is_new(i) { prop_assert_eq!(a, b); }
        }
        prop_assert_eq!(overlaps(&w), Vec::<String>::new());
        // The others stand so that it is possible: so the connections of the new ones run forward.
        let flow = Flow::of(&w);
        for at in flow.placeable() {
            for &parent in flow.parents(at) {
                let x = |at: usize| w.nodes[at].position().unwrap().0;
                prop_assert!(x(parent) < x(at), "{} → {}", w.nodes[parent].name(), w.nodes[at].name());
            }
        }
    }
}
