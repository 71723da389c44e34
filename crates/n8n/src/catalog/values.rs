//! A node's parameters with defaults filled in, as one table that borrows what stands in the workflow and in the catalog; only
//! what filling in changes is made anew. Owns the table and how it is read by name, by place and by path. Pure.

use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Map, Value};

use super::property::{Plan, Property};

/// Named values, wherever they stand.
#[derive(Clone, Copy)]
pub enum View<'a> {
    Map(&'a Map<String, Value>),
    Slots(&'a Slots<'a>),
}

impl<'a> From<&'a Map<String, Value>> for View<'a> {
    fn from(map: &'a Map<String, Value>) -> Self {
        View::Map(map)
    }
}
impl<'a> From<&'a Slots<'_>> for View<'a> {
    fn from(slots: &'a Slots<'_>) -> Self {
        View::Slots(slots)
    }
}
impl<'a> From<&'a Filled<'_>> for View<'a> {
    fn from(filled: &'a Filled<'_>) -> Self {
        match &filled.content {
            Content::Slots(slots) => View::Slots(slots),
            Content::AsWritten(map) => View::Map(map),
        }
    }
}

impl<'a> View<'a> {
    pub fn get(self, name: &str) -> Option<&'a Value> {
        match self {
            View::Map(map) => map.get(name),
            View::Slots(slots) => slots.get(name),
        }
    }

    pub(super) fn each(self, visit: &mut dyn FnMut(&str, &'a Value)) {
        match self {
            View::Map(map) => map.iter().for_each(|(name, value)| visit(name, value)),
            View::Slots(slots) => slots.iter().for_each(|(name, value)| visit(name, value)),
        }
    }

    /// The value at a path such as `options.response.values[0].name`. A key that is spelled like the whole path wins, as in n8n.
    pub fn at_path(self, path: &str) -> Option<&'a Value> {
        if let Some(value) = self.get(path) {
            return Some(value);
        }
        let mut parts = path.split(['.', '[', ']']).filter(|part| !part.is_empty());
        let mut value = self.get(parts.next()?)?;
        for part in parts {
            value = match value {
                Value::Object(map) => map.get(part)?,
                Value::Array(list) => list.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

/// A value in the table.
pub(super) enum Held<'v> {
    Absent,
    /// As it stands in the workflow or in the catalog.
    Given(&'v Value),
    Made(Box<Value>),
}

impl Held<'_> {
    pub(super) fn get(&self) -> Option<&Value> {
        match self {
            Held::Absent => None,
            Held::Given(value) => Some(value),
            Held::Made(value) => Some(value),
        }
    }
    pub(super) fn into_value(self) -> Option<Value> {
        match self {
            Held::Absent => None,
            Held::Given(value) => Some(value.clone()),
            Held::Made(value) => Some(*value),
        }
    }
    pub(super) fn is(&self, other: &Value) -> bool {
        matches!(self, Held::Given(value) if std::ptr::eq(*value, other))
    }
}

/// Values by the distinct names of a list of parameters.
pub struct Slots<'v> {
    properties: &'v [Property],
    plan: &'v Plan,
    values: Vec<Held<'v>>,
    /// In the order in which they were set, as keys of a JavaScript object.
    order: Vec<usize>,
}

impl<'v> Slots<'v> {
    pub(super) fn new(properties: &'v [Property], plan: &'v Plan) -> Self {
        Slots {
            properties,
            plan,
            values: (0..plan.slots()).map(|_| Held::Absent).collect(),
            order: Vec::with_capacity(plan.slots()),
        }
    }

    /// Sets the value of the parameter at that place; nothing to set removes it.
    pub(super) fn set(&mut self, at: usize, value: Held<'v>) {
        let slot = self.plan.slot_of(at);
        let Some(held) = self.values.get_mut(slot) else {
            return;
        };
        let is_there = !matches!(held, Held::Absent);
        match (is_there, matches!(value, Held::Absent)) {
            (true, true) => self.order.retain(|other| *other != slot),
            (false, false) => self.order.push(slot),
            _ => {}
        }
        *held = value;
    }

    pub(super) fn by_slot(&self, slot: usize) -> Option<&Value> {
        self.values.get(slot)?.get()
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.by_slot(self.plan.slot(self.properties, name)?)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The map's own values, all of them and in its order, so that the map itself can stand for this.
    pub(super) fn are_all_of(&self, map: &Map<String, Value>) -> bool {
        let same = |(slot, (name, value)): (&usize, (&String, &Value))| {
            self.values.get(*slot).is_some_and(|held| held.is(value))
                && self.plan.name(self.properties, *slot) == name
        };
        self.order.len() == map.len() && self.order.iter().zip(map).all(same)
    }

    fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.order.iter().filter_map(|slot| {
            let name = self.plan.name(self.properties, *slot);
            Some((name, self.by_slot(*slot)?))
        })
    }

    pub(super) fn into_map(mut self) -> Map<String, Value> {
        let mut map = Map::with_capacity(self.order.len());
        for slot in self.order {
            let held = self.values.get_mut(slot);
            let held = held.map_or(Held::Absent, |held| std::mem::replace(held, Held::Absent));
            if let Some(value) = held.into_value() {
                map.insert(self.plan.name(self.properties, slot).to_owned(), value);
            }
        }
        map
    }
}

/// A node's parameters as n8n judges them. Remembers what is shown under them.
pub struct Filled<'v> {
    content: Content<'v>,
    /// By the distinct display rules of the parameters.
    shown: Vec<Verdict>,
}

/// What was found once; several threads may look at one node, and then find the same.
#[derive(Default)]
struct Verdict(AtomicU8);

impl Verdict {
    const NO: u8 = 1;
    const YES: u8 = 2;

    fn get_or(&self, judge: impl FnOnce() -> bool) -> bool {
        match self.0.load(Ordering::Relaxed) {
            Self::NO => false,
            Self::YES => true,
            _ => {
                let verdict = judge();
                let known = if verdict { Self::YES } else { Self::NO };
                self.0.store(known, Ordering::Relaxed);
                verdict
            }
        }
    }
}

enum Content<'v> {
    Slots(Slots<'v>),
    AsWritten(&'v Map<String, Value>),
}

impl<'v> Filled<'v> {
    pub(super) fn new(slots: Slots<'v>) -> Self {
        Filled {
            shown: (0..slots.plan.distinct_rules())
                .map(|_| Verdict::default())
                .collect(),
            content: Content::Slots(slots),
        }
    }

    /// Where nothing can be filled in: for a type that is not known, or values that n8n itself fails on.
    pub fn as_written(map: &'v Map<String, Value>) -> Self {
        Filled {
            content: Content::AsWritten(map),
            shown: Vec::new(),
        }
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        View::from(self).get(name)
    }

    /// The value of the parameter at that place of the type's list.
    pub(super) fn of_property(&self, at: usize, property: &Property) -> Option<&Value> {
        match &self.content {
            Content::Slots(slots) => slots.by_slot(slots.plan.slot_of(at)),
            Content::AsWritten(map) => map.get(&property.name),
        }
    }

    /// The verdict on a display rule, by its number: judged once.
    pub(super) fn remembered(&self, rule: Option<usize>, judge: impl FnOnce() -> bool) -> bool {
        match rule.and_then(|rule| self.shown.get(rule)) {
            Some(known) => known.get_or(judge),
            None => judge(),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let (slots, map) = match &self.content {
            Content::Slots(slots) => (Some(slots), None),
            Content::AsWritten(map) => (None, Some(*map)),
        };
        let written = map.into_iter().flatten().map(|(k, v)| (k.as_str(), v));
        slots.into_iter().flat_map(Slots::iter).chain(written)
    }

    pub fn to_map(&self) -> Map<String, Value> {
        self.iter()
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect()
    }

    pub(super) fn into_map(self) -> Map<String, Value> {
        match self.content {
            Content::Slots(slots) => slots.into_map(),
            Content::AsWritten(map) => map.clone(),
        }
    }
}
