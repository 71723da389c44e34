//! The credentials guard: which credential a node uses is the user's choice. n8n may bind another credential of the same
//! name when an id is unknown, so an invented id is not harmless.

use super::change::{key_texts, same_nodes};
use super::{CREDENTIALS, allow, ask};
use agentctl_base::decision::Decision;
use agentctl_n8n::{Node, Workflow};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// credential type → id (or name, for the old form without ids).
type Bound = BTreeMap<String, String>;

fn bound(node: &Node) -> Bound {
    node.credentials()
        .into_iter()
        .flatten()
        .filter_map(|(kind, value)| {
            let id = value
                .get("id")
                .and_then(|id| id.as_str())
                .map(str::to_owned)
                .or_else(|| {
                    value
                        .get("id")
                        .filter(|id| !id.is_null())
                        .map(ToString::to_string)
                })
                .or_else(|| {
                    value
                        .get("name")
                        .and_then(|n| n.as_str())
                        .map(str::to_owned)
                })
                .or_else(|| value.as_str().map(str::to_owned))?;
            Some((kind.clone(), id))
        })
        .collect()
}

/// Nodes that stay keep their credentials; a new node may take one that the workflow already used. Everything else is asked.
pub fn credentials(before: Option<&Workflow>, after: &Workflow) -> Decision {
    let empty = Workflow::empty("");
    let before = before.unwrap_or(&empty);
    let changes = if same_nodes(before, after) {
        let pairs = before.nodes.iter().zip(&after.nodes);
        let changed = pairs.filter(|(was, node)| bound(was) != bound(node));
        changed
            .map(|(_, node)| format!("{:?}", node.name()))
            .collect()
    } else {
        by_key(before, after)
    };
    if changes.is_empty() {
        allow(CREDENTIALS)
    } else {
        ask(
            CREDENTIALS,
            format!("the credentials of {} would change", changes.join(", ")),
        )
    }
}

/// The nodes whose credentials are others, by the nodes' keys.
fn by_key(before: &Workflow, after: &Workflow) -> Vec<String> {
    let known: BTreeSet<(String, String)> = before.nodes.iter().flat_map(bound).collect();
    let old: HashMap<Cow<'_, str>, &Node> =
        key_texts(before).into_iter().zip(&before.nodes).collect();
    let mut changes = Vec::new();
    for (key, node) in key_texts(after).iter().zip(&after.nodes) {
        let now = bound(node);
        match old.get(key) {
            Some(was) if bound(was) == now => {}
            Some(_) => changes.push(format!("{:?}", node.name())),
            None if now
                .into_iter()
                .all(|credential| known.contains(&credential)) => {}
            None => changes.push(format!("{:?} (new)", node.name())),
        }
    }
    changes
}
