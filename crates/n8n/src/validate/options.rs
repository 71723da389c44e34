//! What n8n takes silently and then ignores or trips over: values that are no choice, parameters that do not exist, node
//! settings written among the parameters.

use super::{
    path::{below_parameters, joined},
    report::Report,
    rules,
    subject::NodeView,
};
use crate::{
    catalog::{NodeDescription, Property, PropertyGroup, PropertyKind, PropertyList, deep_equal},
    edit::EditOp,
    finding::{Confidence, Severity},
    workflow::RUN_SETTINGS,
};
use serde_json::{Map, Value};

/// Keys that n8n's editor writes though no parameter has the name: request options of declarative nodes, nameless notices.
const WRITTEN_BY_N8N: [&str; 3] = ["requestOptions", "httpVariantWarning", ""];
/// n8n's stand-in for "call the service's API by hand".
const CUSTOM_CALL: &str = "__CUSTOM_API_CALL__";

pub(super) fn check(node: &NodeView, report: &mut Report) {
    let Some(description) = node.description() else {
        return;
    };
    let walk = Walk { node, description };
    for (at, property) in description.properties.chosen() {
        let value = description.value_of(at, &node.filled);
        if let Some(value) = value.filter(|_| description.is_shown(at, &node.filled)) {
            let pointer = joined("/parameters", &property.name);
            walk.value(property, value, &pointer, report);
        }
    }
    walk.keys(
        node.parameters,
        &Level::Node(&description.properties),
        "/parameters",
        report,
    );
}

/// Parameters that stand on one level.
enum Level<'a> {
    Node(&'a PropertyList),
    /// Parts that share a name count together.
    Inside(Vec<&'a PropertyGroup>),
}

impl<'a> Level<'a> {
    fn named(&self, name: &str) -> impl Iterator<Item = &'a Property> {
        let (list, groups) = match self {
            Level::Node(list) => (Some(list.named(name)), &[][..]),
            Level::Inside(groups) => (None, groups.as_slice()),
        };
        let inside = groups.iter().flat_map(|group| group.named(name));
        let all = list.into_iter().flatten().chain(inside);
        all.map(|(_, property)| property)
    }

    fn properties(&self) -> impl Iterator<Item = &'a Property> {
        let (list, groups) = match self {
            Level::Node(list) => (&list[..], &[][..]),
            Level::Inside(groups) => (&[][..], groups.as_slice()),
        };
        list.iter().chain(groups.iter().flat_map(|g| &g.values))
    }
}

struct Walk<'a> {
    node: &'a NodeView<'a>,
    description: &'a NodeDescription,
}

impl<'a> Walk<'a> {
    fn level(
        &self,
        group: &PropertyGroup,
        values: &Map<String, Value>,
        at: &str,
        report: &mut Report,
    ) {
        for (_, property) in group.chosen() {
            let shown = |_: &&Value| {
                let filled = &self.node.filled;
                self.description.property_visible(property, values, filled)
            };
            if let Some(value) = values.get(&property.name).filter(shown) {
                self.value(property, value, &joined(at, &property.name), report);
            }
        }
    }

    /// The choices in the value of a parameter that is shown.
    fn value(&self, property: &Property, value: &Value, pointer: &str, report: &mut Report) {
        match (&property.kind, value) {
            (PropertyKind::Options | PropertyKind::MultiOptions, _) => {
                self.choice(property, value, pointer, report);
            }
            (PropertyKind::ResourceLocator, _) => {
                if let Some(name) = property.name_for_id(value) {
                    let label = &property.label;
                    let message = format!(
                        "{label}: {name:?} is a name, and what is chosen from this list is kept by its id; choose it from the list in n8n"
                    );
                    let place = joined(pointer, "value");
                    report.node(self.node, rules::NAME_FOR_ID.at(place, message).key(name));
                }
            }
            (PropertyKind::Collection, Value::Object(map)) => {
                if let Some(group) = property.groups.first() {
                    self.level(group, map, pointer, report);
                }
            }
            (PropertyKind::FixedCollection, Value::Object(map)) => {
                for group in &property.groups {
                    let place = joined(pointer, &group.name);
                    match map.get(&group.name) {
                        Some(Value::Array(items)) => {
                            for (i, item) in items.iter().enumerate() {
                                if let Value::Object(item) = item {
                                    self.level(group, item, &format!("{place}/{i}"), report);
                                }
                            }
                        }
                        Some(Value::Object(one)) => self.level(group, one, &place, report),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn choice(&self, property: &Property, value: &Value, pointer: &str, report: &mut Report) {
        let given = match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        for (i, one) in given.iter().enumerate() {
            let open = match one {
                Value::Null => true,
                Value::String(text) => {
                    text.is_empty() || text.starts_with('=') || text == CUSTOM_CALL
                }
                _ => false,
            };
            if open || property.options.iter().any(|o| deep_equal(&o.value, one)) {
                continue;
            }
            let place = if value.is_array() {
                format!("{pointer}/{i}")
            } else {
                pointer.to_owned()
            };
            // Without a valid resource or operation nothing runs; another option may be tolerated by the node.
            let decisive = ["resource", "operation"].contains(&property.name.as_str());
            let severity = if decisive {
                Severity::Error
            } else {
                Severity::Warning
            };
            let allowed: Vec<String> = property
                .options
                .iter()
                .map(|o| o.value.to_string())
                .collect();
            let mut shown: Vec<String> = allowed.iter().take(12).cloned().collect();
            if allowed.len() > shown.len() {
                shown.push(format!("… ({} in all)", allowed.len()));
            }
            let message = format!(
                "{one} is no choice for {:?}; choices are {}",
                property.name,
                shown.join(", ")
            );
            let mut draft = rules::OPTION_VALUE
                .at(place, message)
                .at_most(severity)
                .key(one.to_string());
            if let Some(nearest) = self.nearest(one, property) {
                let operation = EditOp::SetParameter {
                    node: self.node.address(),
                    pointer: below_parameters(&draft.pointer),
                    value: nearest.clone(),
                };
                draft = draft.fix(
                    Confidence::Likely,
                    format!("use {nearest}"),
                    vec![operation],
                );
            }
            report.node(self.node, draft);
        }
    }

    fn nearest<'p>(&self, given: &Value, property: &'p Property) -> Option<&'p Value> {
        let plain = |v: &Value| {
            v.as_str()
                .map(|s| s.to_lowercase().replace(['_', '-', ' '], ""))
        };
        let wanted = plain(given)?;
        let likeness = |v: &Value| plain(v).map(|text| strsim::jaro_winkler(&wanted, &text));
        let scored = property
            .options
            .iter()
            .filter_map(|o| Some((likeness(&o.value)?, &o.value)));
        let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (best.0 > 0.85).then_some(best.1)
    }

    /// Keys that no parameter of this level has, whatever is shown.
    fn keys(&self, values: &Map<String, Value>, level: &Level<'a>, at: &str, report: &mut Report) {
        for (key, value) in values {
            if WRITTEN_BY_N8N.contains(&key.as_str()) {
                continue;
            }
            if level.named(key).next().is_none() {
                self.unknown_key(key, value, level, at, report);
                continue;
            }
            let Value::Object(map) = value else { continue };
            // Several parameters may share the name; a key below is known if any of them has it.
            let all = |kind| level.named(key).all(|p| p.kind == kind);
            if all(PropertyKind::Collection) {
                let groups = level.named(key).filter_map(|p| p.groups.first());
                let below = Level::Inside(groups.collect());
                self.keys(map, &below, &joined(at, key), report);
            } else if all(PropertyKind::FixedCollection) {
                let all: Vec<&Property> = level.named(key).collect();
                self.group_keys(map, &all, &joined(at, key), report);
            }
        }
    }

    fn group_keys(
        &self,
        map: &Map<String, Value>,
        all: &[&'a Property],
        at: &str,
        report: &mut Report,
    ) {
        for (name, part) in map {
            let groups: Vec<&PropertyGroup> = all.iter().filter_map(|p| p.group(name)).collect();
            let place = joined(at, name);
            if groups.is_empty() {
                let groups: Vec<&str> = all
                    .iter()
                    .flat_map(|p| p.groups.iter().map(|g| g.name.as_str()))
                    .collect();
                let message = format!(
                    "{name:?} is no part of this parameter; its parts are {}",
                    groups.join(", ")
                );
                report.node(self.node, rules::UNKNOWN_PARAMETER_KEY.at(place, message));
                continue;
            }
            let level = Level::Inside(groups);
            match part {
                Value::Array(items) => {
                    for (i, item) in items.iter().enumerate() {
                        if let Value::Object(item) = item {
                            self.keys(item, &level, &format!("{place}/{i}"), report);
                        }
                    }
                }
                Value::Object(item) => self.keys(item, &level, &place, report),
                _ => {}
            }
        }
    }

    fn unknown_key(
        &self,
        key: &str,
        value: &Value,
        level: &Level<'a>,
        at: &str,
        report: &mut Report,
    ) {
        let pointer = joined(at, key);
        let top = at == "/parameters";
        if top && RUN_SETTINGS.contains(&key) {
            let message =
                format!("{key:?} is a setting of the node, not a parameter; here n8n ignores it");
            let ops = vec![
                EditOp::SetParameter {
                    node: self.node.address(),
                    pointer: format!("/{key}"),
                    value: Value::Null,
                },
                EditOp::SetNodeSettings {
                    node: self.node.address(),
                    settings: Map::from_iter([(key.to_owned(), value.clone())]),
                },
            ];
            report.node(
                self.node,
                rules::NODE_SETTING_INSIDE_PARAMETERS
                    .at(pointer, message)
                    .fix(Confidence::Sure, "move it beside the parameters", ops),
            );
            return;
        }
        let likeness =
            |p: &Property| strsim::jaro_winkler(&key.to_lowercase(), &p.name.to_lowercase());
        let closest = level
            .properties()
            .map(|p| (likeness(p), p.name.as_str()))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(likeness, _)| *likeness > 0.85);
        let hint = closest.map_or(String::new(), |(_, name)| {
            format!("; did you mean {name:?}?")
        });
        let message = format!("no parameter is named {key:?}; n8n ignores it{hint}");
        report.node(self.node, rules::UNKNOWN_PARAMETER_KEY.at(pointer, message));
    }
}
