//! Workflow files that follow a workflow on an n8n, so that workflows live in git: what a file holds, and whether the workflow
//! was changed on the n8n since the file was pulled. Pure.
//!
//! A file is what n8n imports: id, name, nodes, connections, settings. What n8n alone decides stays there: whether it is
//! active, tags, sharing, versions, timestamps, static data. Pinned data comes along only when it is asked for, since it is
//! often somebody's real data. `meta.agentctl` says which state was pulled, and for each other n8n that the file is pushed to
//! (a target of the settings) which workflow it is there, in which state.

mod moved;

pub use moved::{Found, Missing, Moved, Names, moved, without};

use crate::backend::Stored;
use agentctl_n8n::WorkflowId;
use agentctl_n8n::hash::{graph_hash, is_servers_default};
use agentctl_n8n::workflow::{Connections, Node, ShapeError, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The keys of a node that come first, so that a diff begins with what identifies it.
const FIRST: [&str; 5] = ["id", "name", "type", "typeVersion", "position"];
/// Those that come last, being long.
const LAST: [&str; 2] = ["parameters", "credentials"];
/// The parts of a document that belong to the workflow and not to the n8n that keeps it, besides nodes and connections.
const CARRIED: [&str; 4] = ["name", "description", "settings", "pinData"];

/// The state of the workflow on the n8n that a file was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    pub graph_hash: String,
    /// n8n's own word for the state, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Base {
    pub fn of(stored: &Stored) -> Self {
        Base {
            graph_hash: stored.graph_hash.clone(),
            version: stored.version_id.clone(),
        }
    }
}

/// What the workflow is on one n8n.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct There {
    pub id: WorkflowId,
    #[serde(flatten)]
    pub base: Base,
}

/// What `meta.agentctl` holds.
#[derive(Default, Serialize, Deserialize)]
struct Followed {
    #[serde(flatten)]
    base: Option<Base>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    targets: BTreeMap<String, There>,
}

/// A workflow file.
#[derive(Debug, Clone, PartialEq)]
pub struct Local {
    /// The workflow that it follows; None: it was never on an n8n.
    pub id: Option<WorkflowId>,
    pub base: Option<Base>,
    /// What it is on other n8n, by the target's name.
    pub targets: BTreeMap<String, There>,
    pub workflow: Workflow,
}

impl Local {
    pub fn read(value: Value) -> Result<Self, ShapeError> {
        let workflow = Workflow::from_value(value)?;
        let text = |key: &str| {
            workflow
                .head
                .get(key)
                .and_then(Value::as_str)
                .filter(|t| !t.is_empty())
        };
        let base = workflow
            .head
            .get("meta")
            .and_then(|meta| meta.get("agentctl"))
            .cloned();
        let followed = base.and_then(|base| serde_json::from_value(base).ok());
        let Followed { base, targets } = followed.unwrap_or_default();
        Ok(Local {
            id: text("id").map(|id| WorkflowId(id.to_owned())),
            base,
            targets,
            workflow,
        })
    }

    /// The workflow that it is on this target (None: the n8n that it follows), and the state of it that was pushed or pulled last.
    pub fn place(&self, target: Option<&str>) -> (Option<&WorkflowId>, Option<&Base>) {
        match target {
            None => (self.id.as_ref(), self.base.as_ref()),
            Some(target) => {
                let there = self.targets.get(target);
                (there.map(|there| &there.id), there.map(|there| &there.base))
            }
        }
    }

    /// Whether the graph is another one than was pulled; None: nothing says what was pulled.
    pub fn is_changed(&self) -> Option<bool> {
        let base = self.base.as_ref()?;
        Some(graph_hash(&self.workflow) != base.graph_hash)
    }
}

/// Whether the workflow on the n8n is still what the file was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    Same,
    Changed,
    /// The file does not say what it was made from.
    Unknown,
}

/// n8n's word for the state settles it; where that moved, an equal graph does (somebody saved without a change).
pub fn freshness(base: Option<&Base>, now: &Stored) -> Freshness {
    match base {
        None => Freshness::Unknown,
        Some(base) if base.version.is_some() && base.version == now.version_id => Freshness::Same,
        Some(base) if base.graph_hash == now.graph_hash => Freshness::Same,
        Some(_) => Freshness::Changed,
    }
}

/// The file of a workflow: keys in one order, so that two pulls differ only where the workflow does. `before`: the file in whose
/// place it stands, which knows what the workflow is on other n8n.
pub fn file(stored: &Stored, pinned: bool, before: Option<&Local>) -> String {
    let workflow = &stored.workflow;
    let mut whole = Map::new();
    whole.insert("id".into(), json!(stored.id));
    let carried = CARRIED.iter().filter(|key| pinned || **key != "pinData");
    for key in carried {
        if let Some(value) = workflow.head.get(*key).filter(|value| !is_empty(value)) {
            whole.insert((*key).to_owned(), value.clone());
        }
    }
    whole.insert("nodes".into(), workflow.nodes.iter().map(node).collect());
    whole.insert("connections".into(), json!(connections(workflow)));
    whole.entry("settings").or_insert_with(|| json!({}));
    let followed = Followed {
        base: Some(Base::of(stored)),
        targets: before
            .map(|before| before.targets.clone())
            .unwrap_or_default(),
    };
    whole.insert("meta".into(), json!({"agentctl": followed}));
    text(&Value::Object(whole))
}

/// A file after it was pushed, to the n8n that it follows or to a target: as it was, now following what that n8n holds.
pub fn followed(local: &Local, target: Option<&str>, stored: &Stored) -> String {
    let mut followed = Followed {
        base: local.base.clone(),
        targets: local.targets.clone(),
    };
    let base = Base::of(stored);
    let id = match target {
        None => {
            followed.base = Some(base);
            Some(&stored.id)
        }
        Some(target) => {
            let id = stored.id.clone();
            followed
                .targets
                .insert(target.to_owned(), There { id, base });
            local.id.as_ref()
        }
    };
    let mut whole = Map::new();
    whole.extend(id.map(|id| ("id".to_owned(), json!(id))));
    if let Value::Object(before) = local.workflow.to_value() {
        whole.extend(before.into_iter().filter(|(key, _)| key != "id"));
    }
    let meta = whole.entry("meta").or_insert_with(|| json!({}));
    if !meta.is_object() {
        *meta = json!({});
    }
    if let Value::Object(meta) = meta {
        meta.insert("agentctl".into(), json!(followed));
    }
    text(&Value::Object(whole))
}

/// The workflow as a push would leave it: the file's graph, settings and name; the n8n's own where the file has none.
pub fn pushed(local: &Workflow, now: Option<&Workflow>) -> Workflow {
    let mut head = now.map(|now| now.head.clone()).unwrap_or_default();
    for key in ["id", "meta"] {
        head.shift_remove(key);
    }
    for key in CARRIED {
        if let Some(value) = local.head.get(key) {
            head.insert(key.to_owned(), value.clone());
        }
    }
    let settings = head.entry("settings").or_insert_with(|| json!({}));
    // What the n8n has written by itself and means nothing is no difference to a file without it.
    let theirs = now.and_then(|now| now.head.get("settings")?.as_object());
    if let Value::Object(settings) = settings {
        for (key, value) in theirs.into_iter().flatten() {
            if is_servers_default(key, value) {
                settings.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    Workflow {
        head,
        nodes: local
            .nodes
            .iter()
            .map(|node| addressed(node, now))
            .collect(),
        connections: local.connections.clone(),
    }
}

/// The address that n8n gave a node of the file without one stays: it is known to whoever calls it.
fn addressed(node: &Node, now: Option<&Workflow>) -> Node {
    const ADDRESS: &str = "webhookId";
    let mut node = node.clone();
    let mut theirs = now.into_iter().flat_map(|now| &now.nodes);
    let same = |there: &&Node| there.id() == node.id() && there.node_type() == node.node_type();
    if !node.map().contains_key(ADDRESS)
        && !node.id().0.is_empty()
        && let Some(given) = theirs.find(same).and_then(|there| there.map().get(ADDRESS))
    {
        node.set(ADDRESS, given.clone());
    }
    node
}

fn node(node: &Node) -> Value {
    let mut rest: Vec<&String> = node.map().keys().collect();
    rest.retain(|key| !FIRST.contains(&key.as_str()) && !LAST.contains(&key.as_str()));
    rest.sort_unstable();
    let keys = FIRST
        .into_iter()
        .chain(rest.into_iter().map(String::as_str))
        .chain(LAST);
    let kept = keys.filter_map(|key| Some((key.to_owned(), node.map().get(key)?.clone())));
    Value::Object(kept.collect())
}

/// Sources in the order of the nodes; those that name no node come last, as they are.
fn connections(workflow: &Workflow) -> Connections {
    let mut sorted = workflow.connections.clone();
    let place = |name: &String| {
        workflow
            .nodes
            .iter()
            .position(|node| node.name() == name)
            .unwrap_or(usize::MAX)
    };
    sorted.sort_by(|a, _, b, _| place(a).cmp(&place(b)));
    sorted
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

fn text(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
#[path = "sync_tests.rs"]
mod sync_tests;
