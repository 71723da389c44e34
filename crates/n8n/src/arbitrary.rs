//! Random workflows for property tests: unique names and ids, parameters with references, edges between existing nodes.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "for tests only"
)]

use super::workflow::{Node, NodeId, Workflow};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn parameter_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-50i64..50).prop_map(Value::from),
        "[a-z ]{0,8}".prop_map(Value::from),
        (0usize..6).prop_map(|i| json!(format!("={{{{ $('Node {i}').item.json.x }}}}"))),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-d]", inner), 0..3)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

pub fn parameters() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(("[a-f]", parameter_value()), 0..4)
        .prop_map(|pairs| pairs.into_iter().collect())
}

/// A workflow of 1 to `most` nodes named `Node 0`, `Node 1`, … with ids `id-0`, `id-1`, …
pub fn workflow(most: usize) -> impl Strategy<Value = Workflow> {
    let nodes = prop::collection::vec((parameters(), any::<bool>()), 1..=most);
    let edges = prop::collection::vec((0..most, 0u32..3, 0..most, 0u32..2), 0..=2 * most);
    (nodes, edges).prop_map(|(nodes, edges)| {
        let mut workflow = Workflow::empty("Any");
        let count = nodes.len();
        for (i, (parameters, disabled)) in nodes.into_iter().enumerate() {
            let id = NodeId(format!("id-{i}"));
            let mut node = Node::new(id, format!("Node {i}"), "test.any", 1.0, parameters);
            node.set_position(i as f64 * 240.0, 0.0);
            if disabled {
                node.set("disabled", Value::Bool(true));
            }
            workflow.nodes.push(node);
        }
        for (from, output, to, input) in edges {
            let (from, to) = (from % count, to % count);
            workflow.connect(
                &format!("Node {from}"),
                "main",
                output,
                &format!("Node {to}"),
                input,
            );
        }
        workflow
    })
}
