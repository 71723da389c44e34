//! What the catalog says about a node type, as the compiler asks for it. The only door to `n8n::catalog` here.

use agentctl_n8n::short_type;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::draft::Draft;
use agentctl_n8n::catalog::{NodeDescription, Property, PropertyKind};

/// A node type in its newest version.
#[derive(Debug, Clone)]
pub(super) struct Facts(pub Arc<NodeDescription>);

impl Facts {
    /// The top-level parameter of this name that is shown under these parameters.
    pub(super) fn property(&self, params: &Map<String, Value>, name: &str) -> Option<&Property> {
        shown(self, params).into_iter().find(|p| p.name == name)
    }
    /// The filter version that the node writes into its conditions.
    pub(super) fn filter_version(&self) -> u32 {
        fn of(property: &Property) -> Option<u32> {
            property
                .type_options
                .filter_version
                .or_else(|| property.groups.iter().flat_map(|g| &g.values).find_map(of))
        }
        self.0
            .properties
            .iter()
            .filter(|p| p.name == "conditions" || p.name == "rules")
            .find_map(of)
            .unwrap_or(2)
    }
    /// The children of a collection that are shown under these parameters.
    pub(super) fn children<'f>(
        &'f self,
        collection: &'f Property,
        params: &Map<String, Value>,
    ) -> Vec<&'f Property> {
        let filled = self.0.fill_defaults(params);
        let none = Map::new();
        let level = params
            .get(&collection.name)
            .and_then(Value::as_object)
            .unwrap_or(&none);
        collection
            .children()
            .iter()
            .filter(|child| self.0.property_visible(child, level, &filled))
            .collect()
    }
}

/// The top-level parameters shown under these parameters, decoration left out.
pub(super) fn shown<'f>(facts: &'f Facts, params: &Map<String, Value>) -> Vec<&'f Property> {
    facts
        .0
        .visible_properties(params)
        .into_iter()
        .filter(|p| !p.kind.is_decoration())
        .collect()
}

impl Draft<'_> {
    pub(super) fn facts(&self, node_type: &str) -> Option<Facts> {
        self.catalog.lookup(node_type, None).known().map(Facts)
    }
    pub(super) fn exists(&self, node_type: &str) -> bool {
        self.facts(node_type).is_some()
    }
    pub(super) fn version(&self, node_type: &str) -> f64 {
        self.facts(node_type).map_or(1.0, |f| f.0.version)
    }
    /// The node type's label without "Trigger" and "Tool".
    pub(super) fn label(&self, node_type: &str) -> String {
        self.facts(node_type)
            .map(|f| f.0.label.clone())
            .unwrap_or_else(|| short_type(node_type).to_owned())
            .trim_end_matches(" Trigger")
            .trim_end_matches(" Tool")
            .to_owned()
    }
}

/// Drops what the node does not show under its own parameters. What is left is what n8n would keep.
pub(super) fn prune(facts: &Facts, params: &mut Map<String, Value>) -> Vec<String> {
    let filled = facts.0.fill_defaults(params);
    let mut dropped = Vec::new();
    params.retain(|name, _| {
        let keep = filled.contains_key(name);
        if !keep {
            dropped.push(name.clone());
        }
        keep
    });
    for property in shown(facts, params) {
        if property.kind != PropertyKind::Collection {
            continue;
        }
        let allowed: Vec<String> = facts
            .children(property, params)
            .iter()
            .map(|c| c.name.clone())
            .collect();
        if let Some(map) = params
            .get_mut(&property.name)
            .and_then(Value::as_object_mut)
        {
            map.retain(|name, _| {
                let keep = allowed.contains(name);
                if !keep {
                    dropped.push(format!("{}.{name}", property.name));
                }
                keep
            });
        }
    }
    dropped
}
