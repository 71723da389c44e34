//! A workflow document, kept loss-free: every key, its order and every value that we do not know survive a round trip
//! (of a connection's end: its node, type and index, which is all that n8n writes).
//! A node is its JSON object with typed views on it; connections are typed and keyed by node name, as n8n keeps them.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// Parameters that hold code, by their names.
pub(crate) const CODE_KEYS: [&str; 4] = ["jsCode", "pythonCode", "functionCode", "code"];

/// A node's `id` (n8n: any string, usually a UUID; unique in the workflow).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub String);

/// A workflow's id: the server's id, or for the embedded backend the file's slug.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkflowId(pub String);

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::fmt::Display for WorkflowId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The end of a connection: the target node's name, the input's type (`main`, `ai_tool`, …) and the input's index.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Link {
    pub node: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub index: u32,
}

/// source node name → output type → output index → targets. A bucket may be null in files that n8n itself wrote.
pub type Connections = IndexMap<String, IndexMap<String, Vec<Option<Vec<Link>>>>>;

/// Node-level keys that say how a node runs.
pub const RUN_SETTINGS: [&str; 7] = [
    "onError",
    "retryOnFail",
    "maxTries",
    "waitBetweenTries",
    "executeOnce",
    "alwaysOutputData",
    "continueOnFail",
];

/// The name of a node's type without its package.
pub fn short_type(node_type: &str) -> &str {
    node_type.rsplit('.').next().unwrap_or(node_type)
}

/// One node: its JSON object as read, with typed views. Copies share it until one of them is changed, so that what looks at two
/// versions of a workflow looks at what differs.
#[derive(Debug, Clone)]
pub struct Node(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    map: Map<String, Value>,
    /// What the graph hash counts of it, once that was asked for.
    counted: OnceLock<Box<str>>,
}

/// What a copy is made for is its change.
impl Clone for Shared {
    fn clone(&self) -> Self {
        Shared::from(self.map.clone())
    }
}

impl From<Map<String, Value>> for Shared {
    fn from(map: Map<String, Value>) -> Self {
        Shared {
            map,
            counted: OnceLock::new(),
        }
    }
}

impl From<Map<String, Value>> for Node {
    fn from(map: Map<String, Value>) -> Self {
        Node(Arc::new(map.into()))
    }
}

impl Serialize for Node {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.map().serialize(s)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Map::deserialize(d).map(Node::from)
    }
}

/// A whole workflow. `head` is the document with `nodes` and `connections` replaced by null (so that key order survives).
#[derive(Debug, Clone, PartialEq)]
pub struct Workflow {
    pub head: Map<String, Value>,
    pub nodes: Vec<Node>,
    pub connections: Connections,
}

/// Why a JSON value is not a workflow; `pointer` is a JSON pointer to the place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("not a workflow: {message} (at {pointer:?})")]
pub struct ShapeError {
    pub pointer: String,
    pub message: String,
}

impl ShapeError {
    fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        ShapeError {
            pointer: pointer.into(),
            message: message.into(),
        }
    }
}

impl Node {
    /// A new node with the keys in n8n's own order.
    pub fn new(
        id: NodeId,
        name: impl Into<String>,
        node_type: impl Into<String>,
        type_version: f64,
        parameters: Map<String, Value>,
    ) -> Self {
        let mut map = Map::new();
        map.insert("id".into(), Value::String(id.0));
        map.insert("name".into(), Value::String(name.into()));
        map.insert("type".into(), Value::String(node_type.into()));
        map.insert("typeVersion".into(), number(type_version));
        map.insert("position".into(), Value::Array(vec![0.into(), 0.into()]));
        map.insert("parameters".into(), Value::Object(parameters));
        Node::from(map)
    }

    /// The node's JSON object.
    pub fn map(&self) -> &Map<String, Value> {
        &self.0.map
    }
    /// The same, to change it: from then on the node is no copy's.
    pub fn map_mut(&mut self) -> &mut Map<String, Value> {
        let own = Arc::make_mut(&mut self.0);
        own.counted = OnceLock::new();
        &mut own.map
    }
    pub fn into_map(self) -> Map<String, Value> {
        Arc::unwrap_or_clone(self.0).map
    }
    /// What the graph hash counts, written by `write` when it was not asked for before.
    pub(super) fn counted(&self, write: impl FnOnce(&Map<String, Value>) -> String) -> &str {
        self.0.counted.get_or_init(|| write(&self.0.map).into())
    }
    /// Equal, and with every key in the same place.
    pub(super) fn same_text(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || same_text(self.map(), other.map())
    }

    /// The string at a node-level key; empty when it is absent or no string.
    fn string_at(&self, key: &str) -> &str {
        self.map().get(key).and_then(Value::as_str).unwrap_or("")
    }
    /// The node's id; empty when the file has none.
    pub fn id(&self) -> NodeId {
        NodeId(self.string_at("id").to_owned())
    }
    /// The same, borrowed.
    pub fn id_text(&self) -> &str {
        self.string_at("id")
    }
    pub fn name(&self) -> &str {
        self.string_at("name")
    }
    /// The full type name, e.g. `n8n-nodes-base.slack`.
    pub fn node_type(&self) -> &str {
        self.string_at("type")
    }
    /// None when the file has no numeric `typeVersion` (n8n then takes the type's default version).
    pub fn type_version(&self) -> Option<f64> {
        self.map().get("typeVersion").and_then(Value::as_f64)
    }
    pub fn disabled(&self) -> bool {
        self.map()
            .get("disabled")
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }
    pub fn parameters(&self) -> Option<&Map<String, Value>> {
        self.map().get("parameters").and_then(Value::as_object)
    }
    /// Runs `change` on the parameters, which are created empty when the node has none (or has a non-object there).
    pub fn edit_parameters<R>(&mut self, change: impl FnOnce(&mut Map<String, Value>) -> R) -> R {
        let slot = self.map_mut().entry("parameters").or_insert(Value::Null);
        let mut parameters = match slot.take() {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let result = change(&mut parameters);
        *slot = Value::Object(parameters);
        result
    }
    pub fn credentials(&self) -> Option<&Map<String, Value>> {
        self.map().get("credentials").and_then(Value::as_object)
    }
    /// Canvas position in pixels, x to the right and y down.
    pub fn position(&self) -> Option<(f64, f64)> {
        let array = self.map().get("position")?.as_array()?;
        Some((array.first()?.as_f64()?, array.get(1)?.as_f64()?))
    }
    pub fn set_position(&mut self, x: f64, y: f64) {
        self.map_mut()
            .insert("position".into(), Value::Array(vec![number(x), number(y)]));
    }
    pub fn set(&mut self, key: &str, value: Value) {
        self.map_mut().insert(key.to_owned(), value);
    }
    pub fn is_sticky(&self) -> bool {
        self.node_type() == "n8n-nodes-base.stickyNote"
    }
}

/// The order of keys does not count. It is mostly the same, and then no key has to be looked up.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.same_text(other) || self.map() == other.map()
    }
}

/// Equal, and with every key in the same place.
fn same_text(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    let mut pairs = a.iter().zip(b.iter());
    a.len() == b.len() && pairs.all(|((key, x), (other, y))| key == other && same_value_text(x, y))
}

pub(super) fn same_value_text(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => same_text(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value_text(a, b))
        }
        _ => a == b,
    }
}

/// A JSON number without a needless `.0`.
pub fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        Value::from(value as i64)
    } else {
        serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

impl Workflow {
    pub fn empty(name: &str) -> Self {
        let mut head = Map::new();
        head.insert("name".into(), Value::String(name.to_owned()));
        head.insert("nodes".into(), Value::Null);
        head.insert("connections".into(), Value::Null);
        head.insert(
            "settings".into(),
            serde_json::json!({"executionOrder": "v1"}),
        );
        Workflow {
            head,
            nodes: Vec::new(),
            connections: Connections::new(),
        }
    }

    /// Reads a workflow document: an object with `nodes` (array of objects) and `connections` (object, or absent).
    pub fn from_value(value: Value) -> Result<Self, ShapeError> {
        let Value::Object(mut head) = value else {
            return Err(ShapeError::new("", "expected a JSON object"));
        };
        let nodes = match head.get_mut("nodes").map(Value::take) {
            Some(Value::Array(list)) => list,
            Some(_) => return Err(ShapeError::new("/nodes", "expected an array of nodes")),
            None => return Err(ShapeError::new("/nodes", "the key is missing")),
        };
        let mut typed = Vec::with_capacity(nodes.len());
        for (i, node) in nodes.into_iter().enumerate() {
            match node {
                Value::Object(map) => typed.push(Node::from(map)),
                _ => return Err(ShapeError::new(format!("/nodes/{i}"), "expected an object")),
            }
        }
        let connections = match head.get_mut("connections").map(Value::take) {
            None | Some(Value::Null) => Connections::new(),
            Some(value) => serde_json::from_value(value)
                .map_err(|e| ShapeError::new("/connections", e.to_string()))?,
        };
        head.entry("connections").or_insert(Value::Null);
        Ok(Workflow {
            head,
            nodes: typed,
            connections,
        })
    }

    /// The document as n8n imports it.
    pub fn to_value(&self) -> Value {
        let nodes = self.nodes.iter().map(|n| Value::Object(n.map().clone()));
        document(self.head.clone(), nodes.collect(), &self.connections)
    }

    /// The same, without a copy.
    pub fn into_value(self) -> Value {
        let nodes = self.nodes.into_iter().map(|n| Value::Object(n.into_map()));
        document(self.head, nodes.collect(), &self.connections)
    }

    /// Pretty JSON with a final newline: what we write to files.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    pub fn name(&self) -> &str {
        self.head.get("name").and_then(Value::as_str).unwrap_or("")
    }
    pub fn set_name(&mut self, name: &str) {
        self.head
            .insert("name".into(), Value::String(name.to_owned()));
    }
    pub fn active(&self) -> bool {
        self.head
            .get("active")
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }
    pub fn node(&self, id: &NodeId) -> Option<&Node> {
        self.nodes.iter().find(|n| n.string_at("id") == id.0)
    }
    pub fn node_by_name(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|n| n.name() == name)
    }
    pub fn node_by_name_mut(&mut self, name: &str) -> Option<&mut Node> {
        self.nodes.iter_mut().find(|n| n.name() == name)
    }

    /// Adds the edge unless it is there already. Buckets below `output` are created empty.
    pub fn connect(&mut self, from: &str, kind: &str, output: u32, to: &str, input: u32) {
        let buckets = self
            .connections
            .entry(from.to_owned())
            .or_default()
            .entry(kind.to_owned())
            .or_default();
        let at = output as usize;
        if buckets.len() <= at {
            buckets.resize(at + 1, Some(Vec::new()));
        }
        if let Some(slot) = buckets.get_mut(at) {
            let links = slot.get_or_insert_with(Vec::new);
            let link = Link {
                node: to.to_owned(),
                kind: kind.to_owned(),
                index: input,
            };
            if !links.contains(&link) {
                links.push(link);
            }
        }
    }

    /// Every edge as (source name, output type, output index, link).
    pub fn edges(&self) -> impl Iterator<Item = (&str, &str, u32, &Link)> {
        self.connections.iter().flat_map(|(from, kinds)| {
            kinds.iter().flat_map(move |(kind, buckets)| {
                buckets.iter().enumerate().flat_map(move |(i, links)| {
                    links
                        .iter()
                        .flatten()
                        .map(move |link| (from.as_str(), kind.as_str(), i as u32, link))
                })
            })
        })
    }
}

fn document(mut head: Map<String, Value>, nodes: Value, connections: &Connections) -> Value {
    head.insert("nodes".into(), nodes);
    head.insert(
        "connections".into(),
        serde_json::to_value(connections).unwrap_or(Value::Null),
    );
    Value::Object(head)
}

impl Serialize for Workflow {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = s.serialize_map(None)?;
        for (key, value) in &self.head {
            match key.as_str() {
                "nodes" => map.serialize_entry(key, &self.nodes)?,
                "connections" => map.serialize_entry(key, &self.connections)?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        // A document whose head was made without their places.
        if !self.head.contains_key("nodes") {
            map.serialize_entry("nodes", &self.nodes)?;
        }
        if !self.head.contains_key("connections") {
            map.serialize_entry("connections", &self.connections)?;
        }
        map.end()
    }
}
impl<'de> Deserialize<'de> for Workflow {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Workflow::from_value(Value::deserialize(d)?).map_err(serde::de::Error::custom)
    }
}
