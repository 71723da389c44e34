//! What a simulated node would have sent: beside it on the copy stands a node, its shadow, that works out the same expressions on the
//! same items and hands them on to nobody. Only expressions that are work on data are worked out (`plain`).

use super::trace::{NodeRun, Trace};
use super::{Rehearsal, inside};
use crate::{Node, NodeId};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// More expressions than these are not worked out.
const MOST: usize = 64;

/// One shadow on the copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Shadow {
    /// Whose it is.
    pub of: String,
    /// What it is called on the copy.
    pub name: String,
    /// The node's parameters, and JSON pointers to the expressions in them.
    parameters: Map<String, Value>,
    computed: Vec<String>,
}

impl Shadow {
    /// With the node that it is on the copy; None: an expression does more than work on data, or there are too many.
    pub(super) fn of(node: &Node, name: String) -> Option<(Shadow, Node)> {
        let parameters = node.parameters().cloned().unwrap_or_default();
        let whole = Value::Object(parameters.clone());
        inside::data("parameters", &whole).ok()?;
        let mut computed = Vec::new();
        expressions(&whole, &mut String::new(), &mut computed);
        if computed.len() > MOST {
            return None;
        }
        let assignment = |(at, pointer): (usize, &String)| {
            let value = whole.pointer(pointer)?;
            Some(
                json!({"id": format!("e{at}"), "name": format!("e{at}"), "type": "string", "value": value}),
            )
        };
        let assignments = computed.iter().enumerate().filter_map(assignment);
        let assignments: Vec<Value> = assignments.collect();
        let set = json!({
            "mode": "manual",
            "includeOtherFields": false,
            "assignments": {"assignments": assignments},
            "options": {"ignoreConversionErrors": true, "dotNotation": false},
        });
        let set = set.as_object().cloned().unwrap_or_default();
        let id = NodeId(format!("{}-shadow", node.id().0));
        let (kind, version) = super::copy::SET;
        let mut drawn = Node::new(id, &name, kind, version, set);
        // Of two that follow the same node n8n takes the upper one first.
        let (x, y) = node.position().unwrap_or((0.0, 0.0));
        drawn.set_position(x, y - 1.0);
        for key in ["executeOnce", "onError"] {
            if let Some(value) = node.map().get(key) {
                drawn.set(key, value.clone());
            }
        }
        let shadow = Shadow {
            of: node.name().to_owned(),
            name,
            parameters,
            computed,
        };
        Some((shadow, drawn))
    }

    /// The parameters with what the expressions came to.
    fn sent(&self, worked_out: &Value) -> Value {
        let mut sent = Value::Object(self.parameters.clone());
        for (at, pointer) in self.computed.iter().enumerate() {
            if let Some(place) = sent.pointer_mut(pointer) {
                let value = worked_out.get(format!("e{at}"));
                *place = value.cloned().unwrap_or_default();
            }
        }
        sent
    }
}

fn expressions(value: &Value, place: &mut String, found: &mut Vec<String>) {
    let length = place.len();
    match value {
        Value::String(text) if inside::is_expression(text) => found.push(place.clone()),
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                place.push_str(&format!("/{at}"));
                expressions(value, place, found);
                place.truncate(length);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                place.push_str(&format!("/{}", key.replace('~', "~0").replace('/', "~1")));
                expressions(value, place, found);
                place.truncate(length);
            }
        }
        _ => {}
    }
}

/// Takes the shadows and the helpers out of what a run showed, and says what each of the shadows' nodes would have sent, call by call. An
/// expression that could not be worked out is its node's failure. What came to a helper came to its node.
pub fn sent(rehearsal: &Rehearsal, trace: &mut Trace) -> IndexMap<String, Vec<Value>> {
    for (node, helper) in &rehearsal.helpers {
        let run = trace.nodes.shift_remove(helper);
        if let (Some(run), Some(of)) = (run, trace.nodes.get_mut(node)) {
            of.from = run.from;
        }
    }
    let mut sent = IndexMap::new();
    for shadow in &rehearsal.shadows {
        let Some(run) = trace.nodes.shift_remove(&shadow.name) else {
            continue;
        };
        if trace.last_node.as_deref() == Some(&shadow.name) {
            trace.last_node = Some(shadow.of.clone());
        }
        if let Some(error) = trace.error.as_mut()
            && error.node.as_deref() == Some(&shadow.name)
        {
            error.node = Some(shadow.of.clone());
        }
        if let Some(mut error) = run.error {
            error.node = Some(shadow.of.clone());
            let of = trace.nodes.entry(shadow.of.clone());
            let of = of.or_insert_with(|| NodeRun {
                runs: 1,
                ..NodeRun::default()
            });
            of.error.get_or_insert(error);
            continue;
        }
        let calls = run.kept.iter().flatten().map(|item| shadow.sent(item));
        sent.insert(shadow.of.clone(), calls.collect());
    }
    sent
}
