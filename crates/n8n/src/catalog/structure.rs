//! Which of a node's parameters belong to the structure of its workflow: they decide which connections the node has, which of them an
//! item takes, and which resource and operation it is. All others are values. Pure.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::description::{NodeDescription, Ports};
use super::property::PropertyKind;
use super::values::View;

/// What a node is about, for every type that has them.
pub const ABOUT: [&str; 2] = ["resource", "operation"];

/// So many choices of a node's parameters are tried at most.
const MOST_CHOICES: usize = 500;

impl NodeDescription {
    /// The paths below these parameters that make the structure, as they are now: what the ports follow from, what sorts the items
    /// onto them (a parameter of n8n's type `filter`), and [`ABOUT`]. A path stands for all that is below it.
    pub fn structural<'v>(&'v self, params: impl Into<View<'v>>) -> BTreeSet<&'v str> {
        let params = params.into();
        let mut paths = BTreeSet::from(ABOUT);
        let sorts = self.properties.iter();
        let sorts = sorts.filter(|property| property.kind == PropertyKind::Filter);
        paths.extend(sorts.map(|property| property.name.as_str()));
        paths.extend(self.port_parameters(params));
        paths
    }

    /// The paths below these parameters that the inputs and outputs follow from, as they are now; with those that say whether
    /// one of these is shown, for what is not shown takes its default.
    pub fn port_parameters<'v>(&'v self, params: impl Into<View<'v>>) -> BTreeSet<&'v str> {
        let params = params.into();
        let mut paths: BTreeSet<&str> = BTreeSet::new();
        for ports in [&self.inputs, &self.outputs] {
            if let Ports::Rule(rule) = ports {
                paths.extend(match self.filled(params) {
                    Ok(filled) => rule.reads(View::from(&filled), self.version),
                    Err(_) => rule.reads(params, self.version),
                });
            }
        }
        let mut last: Vec<&str> = paths.iter().copied().collect();
        while let Some(path) = last.pop() {
            for shows in self.shown_by(name_of(path)) {
                if paths.insert(shows) {
                    last.push(shows);
                }
            }
        }
        paths
    }

    /// The names of the parameters that the inputs and outputs can follow from: as these parameters are, and with each of the
    /// choices of those that are found so. At most [`MOST_CHOICES`] choices are tried.
    pub fn possible_port_parameters(&self, params: &Map<String, Value>) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let mut tried = 0;
        let mut open = vec![params.clone()];
        while let Some(set) = open.pop() {
            let paths = self.port_parameters(&set);
            let names = paths.into_iter().map(|path| name_of(path).to_owned());
            for name in names.collect::<BTreeSet<String>>() {
                if !all.insert(name.clone()) {
                    continue;
                }
                let properties = self.properties.named(&name).map(|(_, p)| p);
                for choice in properties.flat_map(|p| &p.options) {
                    if tried == MOST_CHOICES {
                        return all;
                    }
                    tried += 1;
                    let mut next = set.clone();
                    next.insert(name.clone(), choice.value.clone());
                    open.push(next);
                }
            }
        }
        all
    }

    /// The parameters that decide whether the one of this name is shown.
    fn shown_by<'v>(&'v self, name: &str) -> impl Iterator<Item = &'v str> + use<'v> {
        let named: Vec<_> = self.properties.named(name).map(|(_, p)| p).collect();
        let rules = named.into_iter().filter_map(|p| p.display.as_ref());
        let rules = rules.flat_map(|display| display.show.iter().chain(&display.hide));
        let names = rules.map(|(name, _)| name.trim_start_matches('/'));
        names.filter(|name| !name.starts_with('@'))
    }
}

/// The parameter that a path is in.
fn name_of(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// What of the parameters stands at these paths.
pub fn at(params: &Map<String, Value>, paths: &BTreeSet<&str>) -> Map<String, Value> {
    let mut kept = Map::new();
    for path in paths {
        take(params, path, &mut kept);
    }
    kept
}

fn take(from: &Map<String, Value>, path: &str, into: &mut Map<String, Value>) {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match (from.get(name), rest) {
        (None, _) => {}
        (Some(value), "") => {
            into.insert(name.to_owned(), value.clone());
        }
        (Some(Value::Object(inner)), rest) => {
            let mut below = Map::new();
            take(inner, rest, &mut below);
            if !below.is_empty()
                && let Value::Object(kept) = into.entry(name).or_insert_with(|| Map::new().into())
            {
                kept.extend(below);
            }
        }
        (Some(_), _) => {}
    }
}

/// The parameters without what stands at these paths; an object that is left empty by that is left out.
pub fn elsewhere(params: &Map<String, Value>, paths: &BTreeSet<&str>) -> Map<String, Value> {
    let mut left = params.clone();
    for path in paths {
        drop_at(&mut left, path);
    }
    left
}

fn drop_at(map: &mut Map<String, Value>, path: &str) {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    if rest.is_empty() {
        map.shift_remove(name);
        return;
    }
    let emptied = match map.get_mut(name) {
        Some(Value::Object(inner)) if !inner.is_empty() => {
            drop_at(inner, rest);
            inner.is_empty()
        }
        _ => false,
    };
    if emptied {
        map.shift_remove(name);
    }
}

#[cfg(test)]
#[path = "structure_tests.rs"]
mod structure_tests;
