//! The last fill: what n8n's own check would still miss gets a placeholder, and the user is told. A workflow that is blocked
//! by one empty field helps nobody.

use serde_json::{Value, json};

use super::draft::Draft;
use agentctl_n8n::catalog::{Property, PropertyKind};
use agentctl_n8n::validate::validate;

const EMPTY: &str = " is required and empty";

impl Draft<'_> {
    pub(super) fn fill_what_is_missing(&mut self) {
        // a value may show further parameters
        for _ in 0..3 {
            let open: Vec<(usize, String, String)> = validate(&self.workflow, self.catalog)
                .into_iter()
                .filter(|f| f.code == "n8n/parameter")
                .filter_map(|f| {
                    let label = f
                        .message
                        .split_once(EMPTY)?
                        .0
                        .split('"')
                        .nth(1)
                        .unwrap_or_default()
                        .to_owned();
                    let (node, place) = f
                        .pointer
                        .strip_prefix("/nodes/")?
                        .split_once("/parameters")?;
                    Some((node.parse().ok()?, place.to_owned(), label))
                })
                .collect();
            if open.is_empty() {
                return;
            }
            let mut changed = false;
            for (index, place, label) in open {
                changed |= self.fill_place(index, &place, &label);
            }
            if !changed {
                return;
            }
        }
    }

    fn fill_place(&mut self, index: usize, place: &str, label: &str) -> bool {
        let Some(node) = self.workflow.nodes.get(index) else {
            return false;
        };
        let name = node.name().to_owned();
        let Some(facts) = self.facts(node.node_type()) else {
            return false;
        };
        let tokens: Vec<String> = place
            .split('/')
            .skip(1)
            .map(|t| t.replace("~1", "/").replace("~0", "~"))
            .collect();
        let Some(last) = tokens.last().cloned() else {
            return false;
        };
        let Some(value) = facts
            .0
            .properties
            .iter()
            .find_map(|p| named(p, &last, label))
            .and_then(|p| placeholder(p, label))
        else {
            return false;
        };
        let Some(node) = self.workflow.nodes.get_mut(index) else {
            return false;
        };
        let set = node.edit_parameters(|params| {
            let mut root = Value::Object(std::mem::take(params));
            let done = put(&mut root, &tokens, value);
            if let Value::Object(map) = root {
                *params = map;
            }
            done
        });
        if set {
            self.todo("value", &name, format!("set {label}"));
        }
        set
    }
}

/// The property of this name, wherever it lies; the label decides between two.
fn named<'p>(property: &'p Property, name: &str, label: &str) -> Option<&'p Property> {
    if property.name == name
        && property.required
        && (property.label == label || property.label.is_empty())
    {
        return Some(property);
    }
    property
        .children()
        .iter()
        .chain(property.groups.iter().flat_map(|g| &g.values))
        .find_map(|p| named(p, name, label))
}

fn placeholder(property: &Property, label: &str) -> Option<Value> {
    let hint = format!(
        "<{}>",
        label
            .replace(" Name or ID", "")
            .replace(" Names or IDs", "")
    );
    Some(match property.kind {
        PropertyKind::String | PropertyKind::DateTime => json!(hint),
        PropertyKind::Json => json!("{}"),
        PropertyKind::Number => json!(1),
        PropertyKind::Options => property
            .options
            .first()
            .map_or_else(|| json!(hint), |o| o.value.clone()),
        PropertyKind::MultiOptions => property
            .options
            .first()
            .map_or_else(|| json!([hint]), |o| json!([o.value])),
        PropertyKind::ResourceLocator => {
            let mode = property.modes.first().map_or("id", |m| m.name.as_str());
            json!({"__rl": true, "mode": mode, "value": hint, "cachedResultName": hint})
        }
        _ => return None,
    })
}

/// Sets a value at a place; objects on the way are made, list positions must be there.
fn put(at: &mut Value, tokens: &[String], value: Value) -> bool {
    let Some((head, rest)) = tokens.split_first() else {
        *at = value;
        return true;
    };
    match at {
        Value::Array(list) => head
            .parse::<usize>()
            .ok()
            .and_then(|i| list.get_mut(i))
            .is_some_and(|slot| put(slot, rest, value)),
        Value::Object(map) => {
            let slot = map.entry(head.clone()).or_insert_with(|| {
                if rest.is_empty() {
                    Value::Null
                } else {
                    json!({})
                }
            });
            put(slot, rest, value)
        }
        _ => false,
    }
}
