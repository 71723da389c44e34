//! Names that the request gives where n8n wants an id: each is said, so that it is chosen in n8n.

use super::super::plan::Todo;
use super::draft::Draft;
use super::facts::{Facts, shown};
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::{Catalog, Property, PropertyKind, is_name};
use serde_json::{Map, Value, json};

impl Draft<'_> {
    /// Says of each name that stands where an id belongs that it must be chosen, unless that was said.
    pub(super) fn names_for_ids(&mut self) {
        let mut found: Vec<(String, String, String)> = Vec::new();
        let steps = super::trigger::every(&self.plan.steps);
        let triggers = json!(self.plan.triggers).to_string();
        for node in &self.workflow.nodes {
            let (Some(facts), Some(params)) = (self.facts(node.node_type()), node.parameters())
            else {
                continue;
            };
            for (label, name) in named(&facts, params) {
                let told = self.todo.iter().any(|t| t.text.contains(&name));
                let asked =
                    steps.iter().any(|s| s.said.contains(&name)) || triggers.contains(&name);
                if asked && !told {
                    found.push((node.name().to_owned(), label, name));
                }
            }
        }
        for (node, label, name) in found {
            self.todo("id", &node, chosen(&label, &name));
        }
    }
}

/// What a workflow holds by its name alone where a list in n8n gives an id: the node, what is to be chosen, and its name. It is read from
/// the document, whoever wrote it: what n8n chose itself has an id beside the name.
pub(crate) fn bare_names(workflow: &Workflow, catalog: &Catalog) -> Vec<Todo> {
    let mut found = Vec::new();
    for node in &workflow.nodes {
        let known = catalog.lookup(node.node_type(), node.type_version());
        let (Some(facts), Some(params)) = (known.known().map(Facts), node.parameters()) else {
            continue;
        };
        let listed = shown(&facts, params).into_iter().filter_map(|property| {
            let name = property.name_for_id(params.get(&property.name)?)?;
            Some((label(property), name.to_owned()))
        });
        found.extend(listed.map(|(label, name)| Todo {
            kind: "id".to_owned(),
            node: node.name().to_owned(),
            text: chosen(&label, &name),
        }));
    }
    found
}

fn chosen(label: &str, name: &str) -> String {
    format!("choose {label}: {name:?} is its name, and n8n wants its id")
}

/// The labels and the names of what stands in a node's parameters where an id belongs.
fn named(facts: &Facts, params: &Map<String, Value>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for property in shown(facts, params) {
        if property.kind == PropertyKind::Collection {
            let held = params.get(&property.name).and_then(Value::as_object);
            let children = facts.children(property, params);
            for child in children {
                let value = held.and_then(|held| held.get(&child.name));
                found.extend(value.and_then(|value| name_in(child, value)));
            }
        } else if let Some(value) = params.get(&property.name) {
            found.extend(name_in(property, value));
        }
    }
    found
}

fn name_in(property: &Property, value: &Value) -> Option<(String, String)> {
    let by_name = |mode: &str| mode == "name" || mode == "url";
    let text = match property.kind {
        PropertyKind::ResourceLocator => {
            let mode = value.get("mode").and_then(Value::as_str);
            value.get("value").filter(|_| !mode.is_some_and(by_name))?
        }
        PropertyKind::Options if property.has_dynamic_options() => value,
        PropertyKind::String if property.label.split(' ').any(|w| w == "ID") => value,
        _ => return None,
    };
    let text = text.as_str().filter(|text| is_name(text))?;
    Some((label(property), text.to_owned()))
}

fn label(property: &Property) -> String {
    property.label.trim_end_matches(" Name or ID").to_owned()
}
