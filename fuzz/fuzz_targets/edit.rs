//! The edit engine and the diff: any workflow with unique ids and names, any list of operations. An edit is applied as a
//! whole or refused; ids and names stay unique; edges join nodes that are there; and the diff holds enough to go back.
#![no_main]

use agentctl_n8n::{
    EditOp, Node, NodeId, Workflow,
    diff::{NodeRef, WorkflowDiff, changes, text_diff},
    edit::apply,
    hash::graph_hash,
};
use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Names that meet: references in expressions, quotes, other scripts, names that look like ids.
const NAMES: &[&str] = &[
    "A",
    "B",
    "Fetch",
    "Fetch1",
    "id-0",
    "it's",
    "a\"b",
    "x`y",
    "Ü 日本",
    "$json",
    "",
    " ",
    "A.B",
    "~/1",
];
const KEYS: &[&str] = &["a", "b", "url", "x/y", "~", "", "0", "options"];
const TEXTS: &[&str] = &[
    "",
    "plain",
    "={{ $('A').item.json.x }}",
    "={{ $node[\"B\"].json }}",
    "={{ $('it\\'s').first() }}",
    "={{ $items(`Fetch`) }} $('A')",
    "={{ $node.Fetch.json.y + $(\"a\\\"b\").all() }}",
    "Fetch",
    "A",
];
const KINDS: &[&str] = &["main", "ai_tool", "ai_languageModel", "nonsense", ""];
const POINTERS: &[&str] = &[
    "",
    "/",
    "/a",
    "/a/0",
    "/a/-",
    "/x~1y/~0",
    "a",
    "/a/b/url",
    "/options/01",
    "/~2",
];

fn pick<'a>(u: &mut Unstructured<'_>, from: &'a [&'a str]) -> arbitrary::Result<String> {
    Ok((*u.choose(from)?).to_owned())
}

fn value(u: &mut Unstructured<'_>, depth: u32) -> arbitrary::Result<Value> {
    Ok(match u.int_in_range(0..=if depth > 3 { 4 } else { 6 })? {
        0 => Value::Null,
        1 => json!(bool::arbitrary(u)?),
        2 => json!(i64::arbitrary(u)?),
        3 => json!(f64::arbitrary(u)?),
        4 => json!(pick(u, TEXTS)?),
        5 => (0..u.int_in_range(0..=3)?)
            .map(|_| value(u, depth + 1))
            .collect::<arbitrary::Result<_>>()?,
        _ => Value::Object(map(u, depth + 1)?),
    })
}

fn map(u: &mut Unstructured<'_>, depth: u32) -> arbitrary::Result<Map<String, Value>> {
    (0..u.int_in_range(0..=3)?)
        .map(|_| Ok((pick(u, KEYS)?, value(u, depth)?)))
        .collect()
}

fn workflow(u: &mut Unstructured<'_>) -> arbitrary::Result<Workflow> {
    let mut workflow = Workflow::empty("Any");
    let count = u.int_in_range(0..=6)?;
    for i in 0..count {
        let name = match pick(u, NAMES)? {
            taken if workflow.node_by_name(&taken).is_some() || taken.trim().is_empty() => {
                format!("Node {i}")
            }
            free => free,
        };
        let mut node = Node::new(
            NodeId(format!("id-{i}")),
            name,
            "n8n-nodes-base.set",
            3.4,
            map(u, 0)?,
        );
        if bool::arbitrary(u)? {
            node.set_position(f64::from(u.int_in_range(-500..=500)?), 0.0);
        }
        if bool::arbitrary(u)? {
            node.set("disabled", value(u, 4)?);
        }
        if bool::arbitrary(u)? {
            node.set("credentials", value(u, 2)?);
        }
        workflow.nodes.push(node);
    }
    if count > 0 {
        let names: Vec<String> = workflow.nodes.iter().map(|n| n.name().to_owned()).collect();
        for _ in 0..u.int_in_range(0..=8)? {
            let (from, to) = (u.choose(&names)?.clone(), u.choose(&names)?.clone());
            let kind = pick(u, &KINDS[..3])?;
            workflow.connect(
                &from,
                &kind,
                u.int_in_range(0..=3)?,
                &to,
                u.int_in_range(0..=2)?,
            );
        }
    }
    if bool::arbitrary(u)? {
        workflow.head.insert("settings".into(), value(u, 1)?);
    }
    if bool::arbitrary(u)? {
        workflow
            .head
            .insert("pinData".into(), json!({pick(u, NAMES)?: value(u, 2)?}));
    }
    Ok(workflow)
}

/// A node by its id, by its name, or by neither.
fn address(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    Ok(match u.int_in_range(0..=2)? {
        0 => format!("id-{}", u.int_in_range(0..=6)?),
        1 => pick(u, NAMES)?,
        _ => format!("Node {}", u.int_in_range(0..=6)?),
    })
}

fn operation(u: &mut Unstructured<'_>) -> arbitrary::Result<EditOp> {
    let port = |u: &mut Unstructured<'_>| -> arbitrary::Result<u32> {
        // A far index would be a list of so many ports: allowed to be refused, never to be built.
        if u.ratio(1, 40)? {
            u32::arbitrary(u)
        } else {
            u.int_in_range(0..=3)
        }
    };
    let node = address(u)?;
    Ok(match u.int_in_range(0..=16)? {
        0 => {
            let node = json!({
                "id": if bool::arbitrary(u)? { json!(address(u)?) } else { Value::Null },
                "name": pick(u, NAMES)?, "type": pick(u, &["n8n-nodes-base.noOp", ""])?,
                "typeVersion": value(u, 4)?, "parameters": map(u, 0)?, "settings": map(u, 2)?,
                "position": if bool::arbitrary(u)? { json!([0, i16::arbitrary(u)?]) } else { Value::Null },
            });
            match serde_json::from_value(node) {
                Ok(node) => EditOp::AddNode { node },
                Err(_) => EditOp::SetName {
                    name: pick(u, NAMES)?,
                },
            }
        }
        1 => EditOp::RemoveNode { node },
        2 => EditOp::SetParameter {
            node,
            pointer: pick(u, POINTERS)?,
            value: value(u, 0)?,
        },
        3 => EditOp::ReplaceParameters {
            node,
            parameters: map(u, 0)?,
        },
        4 => EditOp::ReplaceText {
            node,
            pointer: pick(u, POINTERS)?,
            find: pick(u, TEXTS)?,
            replace: pick(u, TEXTS)?,
        },
        5 => EditOp::RenameNode {
            node,
            name: pick(u, NAMES)?,
        },
        6 => EditOp::MoveNode {
            node,
            position: [f64::arbitrary(u)?, f64::arbitrary(u)?],
        },
        7 => EditOp::EnableNode { node },
        8 => EditOp::DisableNode { node },
        9 => EditOp::SetNodeSettings {
            node,
            settings: json_map(u)?,
        },
        10 => EditOp::SetCredential {
            node,
            credential_type: pick(u, KEYS)?,
            id: pick(u, KEYS)?,
            name: pick(u, NAMES)?,
        },
        11 => EditOp::SetTypeVersion {
            node,
            type_version: f64::arbitrary(u)?,
        },
        12 => EditOp::Connect {
            from: node,
            to: address(u)?,
            kind: pick(u, KINDS)?,
            output: port(u)?,
            input: port(u)?,
        },
        13 => EditOp::Disconnect {
            from: node,
            to: address(u)?,
            kind: pick(u, KINDS)?,
            output: port(u)?,
            input: port(u)?,
        },
        14 => EditOp::Rewire {
            from: node,
            to: address(u)?,
            new_to: address(u)?,
            kind: pick(u, KINDS)?,
            output: port(u)?,
            input: port(u)?,
        },
        15 => EditOp::SetSettings {
            settings: map(u, 0)?,
        },
        _ => EditOp::SetName {
            name: pick(u, NAMES)?,
        },
    })
}

/// Node-level keys, the ones that an edit must not reach among them.
fn json_map(u: &mut Unstructured<'_>) -> arbitrary::Result<Map<String, Value>> {
    let keys = [
        "onError",
        "notes",
        "id",
        "name",
        "type",
        "parameters",
        "position",
        "webhookId",
        "disabled",
        "retryOnFail",
    ];
    (0..u.int_in_range(0..=3)?)
        .map(|_| Ok((pick(u, &keys)?, value(u, 2)?)))
        .collect()
}

fn well_formed(workflow: &Workflow) -> Result<(), String> {
    let ids: BTreeSet<String> = workflow.nodes.iter().map(|n| n.id().0).collect();
    let names: BTreeSet<&str> = workflow.nodes.iter().map(Node::name).collect();
    if ids.len() != workflow.nodes.len() || ids.contains("") {
        return Err(format!("ids are not unique: {ids:?}"));
    }
    if names.len() != workflow.nodes.len() || names.contains("") {
        return Err(format!("names are not unique: {names:?}"));
    }
    for (from, _, _, link) in workflow.edges() {
        if !names.contains(from) || !names.contains(link.node.as_str()) {
            return Err(format!("an edge from {from:?} to {:?}", link.node));
        }
    }
    Ok(())
}

/// `after` with every change of the diff taken back; removed nodes come from `before`, the diff only names them.
fn taken_back(before: &Workflow, after: &Workflow, diff: &WorkflowDiff) -> Workflow {
    let mut back = after.clone();
    back.nodes
        .retain(|node| !diff.nodes_added.iter().any(|added| added.id == node.id()));
    for change in &diff.nodes_changed {
        let node = back
            .nodes
            .iter_mut()
            .find(|n| n.id() == change.after.id)
            .expect("a changed node is there");
        let mut document = Value::Object(node.map().clone());
        for value in change.values.iter().rev() {
            put(&mut document, &value.pointer, value.old.clone());
        }
        if let Value::Object(map) = document {
            *node.map_mut() = map;
        }
    }
    for removed in &diff.nodes_removed {
        back.nodes.push(
            before
                .node(&removed.id)
                .expect("a removed node was there")
                .clone(),
        );
    }
    // Edges are compared between paired nodes; by the names of before they are those kept and those removed.
    let name_before =
        |end: &NodeRef| -> Option<String> { before.node(&end.id).map(|n| n.name().to_owned()) };
    let mut edges: Vec<(String, String, u32, String, u32)> = Vec::new();
    for (from, kind, output, link) in after.edges() {
        let ends =
            [from, &link.node].map(|name| after.node_by_name(name).expect("an edge between nodes"));
        let added = diff.edges_added.iter().any(|e| {
            (
                e.from.name.as_str(),
                e.kind.as_str(),
                e.output,
                e.to.name.as_str(),
                e.input,
            ) == (from, kind, output, link.node.as_str(), link.index)
        });
        let end = |i: usize| NodeRef {
            id: ends[i].id(),
            name: String::new(),
        };
        if let (false, Some(a), Some(b)) = (added, name_before(&end(0)), name_before(&end(1))) {
            edges.push((a, kind.to_owned(), output, b, link.index));
        }
    }
    for e in &diff.edges_removed {
        edges.push((
            e.from.name.clone(),
            e.kind.clone(),
            e.output,
            e.to.name.clone(),
            e.input,
        ));
    }
    back.connections.clear();
    for (from, kind, output, to, input) in edges {
        back.connect(&from, &kind, output, &to, input);
    }
    back.head = before.head.clone();
    back
}

fn put(document: &mut Value, pointer: &str, value: Option<Value>) {
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        return;
    };
    let key = key.replace("~1", "/").replace("~0", "~");
    match document.pointer_mut(parent) {
        Some(Value::Object(map)) => match value {
            Some(value) => drop(map.insert(key, value)),
            None => drop(map.shift_remove(&key)),
        },
        Some(Value::Array(list)) => match (key.parse::<usize>(), value) {
            (Ok(i), Some(value)) if i < list.len() => list[i] = value,
            // Values are put back from the last to the first: what was cut off the end comes in from the end.
            (Ok(i), Some(value)) => {
                while list.len() < i {
                    list.push(Value::Null);
                }
                list.push(value);
            }
            (Ok(i), None) if i < list.len() => drop(list.remove(i)),
            _ => {}
        },
        _ => {}
    }
}

fuzz_target!(|data: &[u8]| {
    let mut u = Unstructured::new(data);
    let Ok(before) = workflow(&mut u) else { return };
    well_formed(&before).expect("the test makes well-formed workflows");
    let mut ops = Vec::new();
    while ops.len() < 12 && !u.is_empty() {
        match operation(&mut u) {
            Ok(op) => ops.push(op),
            Err(_) => break,
        }
    }
    let mut number = 0;
    let mut ids = || {
        number += 1;
        format!("new-{number}")
    };
    let kept = before.clone();
    let edited = apply(&before, &ops, &mut ids);
    assert_eq!(before, kept, "the original was changed");
    let Ok(after) = edited else { return };
    if let Err(why) = well_formed(&after) {
        panic!("{why}\nafter {ops:#?}");
    }
    let text = after.to_text();
    assert!(
        text.len() < 4 * 1024 * 1024,
        "{} bytes came of {ops:#?}",
        text.len()
    );
    let again =
        Workflow::from_value(serde_json::from_str(&text).expect("JSON")).expect("a workflow");
    assert!(
        changes(&after, &again).is_empty(),
        "it reads back otherwise"
    );
    let diff = changes(&before, &after);
    assert!(changes(&after, &after).is_empty());
    if diff.is_empty() {
        assert_eq!(
            graph_hash(&before),
            graph_hash(&after),
            "no diff, another graph: {ops:#?}"
        );
    } else {
        assert!(!text_diff(&before, &after).is_empty() || diff.nodes_changed.is_empty());
        assert_ne!(
            diff.to_string(),
            "",
            "a change that nobody is told of: {diff:#?}"
        );
    }
    let back = taken_back(&before, &after, &diff);
    let left = changes(&before, &back);
    assert!(
        left.is_empty(),
        "going back by the diff leaves {left:#?}\nof {diff:#?}\nby {ops:#?}"
    );
    assert_eq!(graph_hash(&before), graph_hash(&back));
});
