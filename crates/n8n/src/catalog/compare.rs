//! What changed for the node types that somebody uses, from one catalog to another. Pure; knows no workflow and no file.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::{Catalog, Lookup, NodeDescription, Property};

/// One difference that concerns a type in a version.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    pub node_type: String,
    /// The version in use; None: the type as a whole.
    pub version: Option<f64>,
    pub what: ChangeKind,
    /// The parameter (`options.timeout`, `fields.values.name`), credential or port side; empty for the node itself.
    pub place: String,
    pub before: String,
    pub after: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// What is in use is gone: workflows break.
    TypeRemoved,
    VersionRemoved,
    ParameterRemoved,
    ChoicesRemoved,
    CredentialRemoved,
    /// What was optional is required now.
    Required,
    ParameterType,
    Ports,
    Conditions,
    Default,
    /// New, and nothing breaks.
    TypeAdded,
    VersionsAdded,
    DefaultVersion,
    ParameterAdded,
    ChoicesAdded,
    CredentialAdded,
    Optional,
}

impl ChangeKind {
    /// A workflow that uses it may fail or need a hand.
    pub fn breaks(self) -> bool {
        self <= ChangeKind::Conditions
    }
    pub fn words(self) -> &'static str {
        match self {
            Self::TypeRemoved => "type removed",
            Self::VersionRemoved => "version removed",
            Self::ParameterRemoved => "parameter removed",
            Self::ChoicesRemoved => "choices removed",
            Self::CredentialRemoved => "credential removed",
            Self::Required => "now required",
            Self::ParameterType => "other type",
            Self::Ports => "other inputs or outputs",
            Self::Conditions => "shown under other conditions",
            Self::Default => "other default",
            Self::TypeAdded => "type added",
            Self::VersionsAdded => "versions added",
            Self::DefaultVersion => "other default version",
            Self::ParameterAdded => "parameter added",
            Self::ChoicesAdded => "choices added",
            Self::CredentialAdded => "credential added",
            Self::Optional => "no longer required",
        }
    }
}

/// What changed from `old` to `new` for the types and versions in use (no version: the default one), worst first per type.
pub fn changes(old: &Catalog, new: &Catalog, used: &[(String, Option<f64>)]) -> Vec<Change> {
    let mut found = Vec::new();
    let mut told = BTreeSet::new();
    for (node_type, version) in used {
        if told.insert(node_type) {
            of_type(old, new, node_type, &mut found);
        }
        of_version(old, new, node_type, *version, &mut found);
    }
    found.dedup();
    found.sort_by(|a, b| {
        let key = |c: &Change| (c.node_type.clone(), c.what, c.place.clone());
        key(a).cmp(&key(b)).then_with(|| {
            a.version
                .unwrap_or(0.0)
                .total_cmp(&b.version.unwrap_or(0.0))
        })
    });
    found
}

fn of_type(old: &Catalog, new: &Catalog, node_type: &str, found: &mut Vec<Change>) {
    let mut add = |what, before: String, after: String| {
        found.push(Change {
            node_type: node_type.to_owned(),
            version: None,
            what,
            place: String::new(),
            before,
            after,
        });
    };
    let (a, b) = (old.lookup(node_type, None), new.lookup(node_type, None));
    match (a.known(), b.known()) {
        (Some(a), None) => add(ChangeKind::TypeRemoved, a.label.clone(), String::new()),
        (None, Some(b)) => add(ChangeKind::TypeAdded, String::new(), b.label.clone()),
        (Some(a), Some(b)) => {
            let more = without(&b.versions, &a.versions);
            if !more.is_empty() {
                add(ChangeKind::VersionsAdded, String::new(), listed(&more));
            }
            if a.default_version != b.default_version {
                let text = |v: f64| v.to_string();
                add(
                    ChangeKind::DefaultVersion,
                    text(a.default_version),
                    text(b.default_version),
                );
            }
        }
        (None, None) => {}
    }
}

fn without(list: &[f64], other: &[f64]) -> Vec<f64> {
    list.iter()
        .copied()
        .filter(|v| !other.contains(v))
        .collect()
}

fn listed(list: &[f64]) -> String {
    let list: Vec<String> = list.iter().map(ToString::to_string).collect();
    list.join(", ")
}

fn of_version(
    old: &Catalog,
    new: &Catalog,
    node_type: &str,
    version: Option<f64>,
    found: &mut Vec<Change>,
) {
    let Some(a) = old.lookup(node_type, version).known() else {
        return;
    };
    let mut add = |what, place: &str, before: String, after: String| {
        found.push(Change {
            node_type: node_type.to_owned(),
            version: Some(a.version),
            what,
            place: place.to_owned(),
            before,
            after,
        });
    };
    let b = match new.lookup(node_type, Some(a.version)) {
        Lookup::Known(b) => b,
        Lookup::UnknownVersion { known, .. } => {
            return add(
                ChangeKind::VersionRemoved,
                "",
                a.version.to_string(),
                listed(&known),
            );
        }
        Lookup::UnknownType => return,
    };
    of_parameters(&a, &b, &mut add);
    let slots = |d: &NodeDescription| -> BTreeMap<String, bool> {
        d.credentials
            .iter()
            .map(|slot| (slot.name.clone(), slot.required))
            .collect()
    };
    let (a_slots, b_slots) = (slots(&a), slots(&b));
    for name in a_slots.keys().filter(|name| !b_slots.contains_key(*name)) {
        add(
            ChangeKind::CredentialRemoved,
            name,
            String::new(),
            String::new(),
        );
    }
    for (name, required) in &b_slots {
        match a_slots.get(name) {
            None => add(
                ChangeKind::CredentialAdded,
                name,
                String::new(),
                String::new(),
            ),
            Some(before) if before != required => {
                add(requirement(*required), name, String::new(), String::new());
            }
            Some(_) => {}
        }
    }
    for (side, a, b) in [
        ("inputs", &a.inputs, &b.inputs),
        ("outputs", &a.outputs, &b.outputs),
    ] {
        if a != b {
            add(
                ChangeKind::Ports,
                side,
                format!("{a:?}").chars().take(80).collect(),
                format!("{b:?}").chars().take(80).collect(),
            );
        }
    }
}

fn requirement(required: bool) -> ChangeKind {
    if required {
        ChangeKind::Required
    } else {
        ChangeKind::Optional
    }
}

/// The parameters that share a name on one level, taken together.
#[derive(Default, PartialEq)]
struct Twins {
    kinds: BTreeSet<String>,
    required: bool,
    choices: BTreeSet<String>,
    defaults: Vec<String>,
    conditions: Vec<String>,
}

fn of_parameters(
    a: &NodeDescription,
    b: &NodeDescription,
    add: &mut impl FnMut(ChangeKind, &str, String, String),
) {
    let collected = |d: &NodeDescription| {
        let mut all = BTreeMap::new();
        collect(&d.properties, "", &mut all);
        all
    };
    let (old, new) = (collected(a), collected(b));
    for (place, before) in &old {
        let Some(after) = new.get(place) else {
            // What stood in a part that is gone goes with it.
            let parent = place.rsplit_once('.').map(|(parent, _)| parent);
            if parent.is_none_or(|parent| !old.contains_key(parent) || new.contains_key(parent)) {
                add(
                    ChangeKind::ParameterRemoved,
                    place,
                    String::new(),
                    String::new(),
                );
            }
            continue;
        };
        let joined = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join("|");
        if before.kinds != after.kinds {
            add(
                ChangeKind::ParameterType,
                place,
                joined(&before.kinds),
                joined(&after.kinds),
            );
        }
        if before.required != after.required {
            add(
                requirement(after.required),
                place,
                String::new(),
                String::new(),
            );
        }
        let gone: BTreeSet<String> = before.choices.difference(&after.choices).cloned().collect();
        let come: BTreeSet<String> = after.choices.difference(&before.choices).cloned().collect();
        if !gone.is_empty() {
            add(
                ChangeKind::ChoicesRemoved,
                place,
                joined(&gone),
                String::new(),
            );
        }
        if !come.is_empty() {
            add(
                ChangeKind::ChoicesAdded,
                place,
                String::new(),
                joined(&come),
            );
        }
        if before.defaults != after.defaults {
            add(
                ChangeKind::Default,
                place,
                before.defaults.join(" or "),
                after.defaults.join(" or "),
            );
        }
        if before.conditions != after.conditions {
            add(ChangeKind::Conditions, place, String::new(), String::new());
        }
    }
    for place in new.keys().filter(|place| !old.contains_key(*place)) {
        let parent = place.rsplit_once('.').map(|(parent, _)| parent);
        if parent.is_none_or(|parent| !new.contains_key(parent) || old.contains_key(parent)) {
            add(
                ChangeKind::ParameterAdded,
                place,
                String::new(),
                String::new(),
            );
        }
    }
}

fn collect(list: &[Property], base: &str, all: &mut BTreeMap<String, Twins>) {
    for property in list.iter().filter(|p| !p.kind.is_decoration()) {
        let place = format!("{base}{}", property.name);
        let twins = all.entry(place.clone()).or_default();
        twins.kinds.insert(property.kind.name().to_owned());
        twins.required |= property.required;
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        twins
            .choices
            .extend(property.options.iter().map(|o| text(&o.value)));
        let default = text(&property.default);
        if !twins.defaults.contains(&default) {
            twins.defaults.push(default);
        }
        let condition = serde_json::to_string(&property.display).unwrap_or_default();
        if !twins.conditions.contains(&condition) {
            twins.conditions.push(condition);
        }
        for group in &property.groups {
            let base = if group.name.is_empty() {
                format!("{place}.")
            } else {
                all.entry(format!("{place}.{}", group.name)).or_default();
                format!("{place}.{}.", group.name)
            };
            collect(&group.values, &base, all);
        }
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod compare_tests;
