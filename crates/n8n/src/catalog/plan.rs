//! What is known of a list of parameters before any value is: the order in which they are resolved, where each one's value
//! stands in a table, where display rules read, and which parameters a check has to look at. Worked out once for a type. Pure.

use std::collections::VecDeque;
use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde_json::{Map, Value};

use super::display::{Scope, Seen};
use super::property::{DisplayOptions, Plan, Property, PropertyKind, Rule, Source};
use super::values::View;

/// No slot, no further parameter.
const NONE: u32 = u32::MAX;
/// Up to so many names are looked for one by one.
const FEW: usize = 4;

impl Plan {
    /// `is_node`: the list is the node's own, so that `/name` means a name of the same list.
    pub fn new(properties: &[Property], is_node: bool) -> Self {
        let mut plan = Plan {
            order: resolve_order(properties),
            next: vec![NONE; properties.len()],
            ..Plan::default()
        };
        plan.number_names(properties);
        plan.number_rules(properties, is_node);
        let locator = |(at, p): (usize, &Property)| Some((at, empty_locator(p)?));
        let properties = || properties.iter().enumerate();
        plan.locators = properties().filter_map(locator).collect();
        let places = |wanted: fn(&Property) -> bool| {
            let wanted = properties().filter(|(_, p)| wanted(p));
            wanted.map(|(at, _)| at).collect()
        };
        plan.checked = places(is_checked);
        plan.chosen = places(is_chosen);
        plan
    }

    fn number_names(&mut self, properties: &[Property]) {
        let mut known: FxHashMap<&str, (u32, u32)> = FxHashMap::default();
        for (at, property) in (0..).zip(properties) {
            let fresh = u32::try_from(self.first.len()).unwrap_or(NONE);
            match known.get_mut(property.name.as_str()) {
                Some((slot, last)) => {
                    self.slots.push(*slot);
                    if let Some(next) = self.next.get_mut(*last as usize) {
                        *next = at;
                    }
                    *last = at;
                }
                None => {
                    known.insert(&property.name, (fresh, at));
                    self.slots.push(fresh);
                    self.first.push(at);
                }
            }
        }
        if self.first.len() <= FEW {
            return;
        }
        self.buckets = vec![NONE; (self.first.len() * 2).next_power_of_two()];
        for (slot, at) in (0..).zip(&self.first) {
            let name = properties.get(*at as usize).map_or("", |p| &p.name);
            let mut bucket = hash(name);
            while let Some(taken) = self.bucket(bucket)
                && *taken != NONE
            {
                bucket += 1;
            }
            let mask = self.buckets.len() - 1;
            if let Some(free) = self.buckets.get_mut(bucket & mask) {
                *free = slot;
            }
        }
    }

    fn bucket(&self, bucket: usize) -> Option<&u32> {
        self.buckets
            .get(bucket & (self.buckets.len().wrapping_sub(1)))
    }

    fn number_rules(&mut self, properties: &[Property], is_node: bool) {
        let mut known: FxHashMap<&DisplayOptions, u32> = FxHashMap::default();
        for (of, property) in properties.iter().enumerate() {
            let Some(display) = &property.display else {
                self.rules.push(NONE);
                continue;
            };
            let fresh = u32::try_from(known.len()).unwrap_or(NONE);
            let rule = *known.entry(display).or_insert(fresh);
            self.rules.push(rule);
            if rule == fresh {
                let names = display.show.iter().chain(&display.hide);
                let source = |(name, _): &(String, _)| self.source(properties, name, is_node);
                let sources = names.map(source).collect();
                self.distinct.push(Rule { of, sources });
            }
        }
    }

    fn source(&self, properties: &[Property], name: &str, is_node: bool) -> Source {
        if name.starts_with('@') {
            return Source::Named;
        }
        let own = name.strip_prefix('/').filter(|_| is_node).unwrap_or(name);
        // A path may also be a name, but a plain name is no path.
        match self.slot(properties, own) {
            Some(slot) if !own.contains(['.', '[', ']']) => Source::Slot(slot),
            _ => Source::Named,
        }
    }

    pub(super) fn slots(&self) -> usize {
        self.first.len()
    }
    pub(super) fn distinct_rules(&self) -> usize {
        self.distinct.len()
    }

    /// The slot of the parameter at that place.
    pub(super) fn slot_of(&self, at: usize) -> usize {
        self.slots.get(at).map_or(usize::MAX, |slot| *slot as usize)
    }

    pub(super) fn name<'p>(&self, properties: &'p [Property], slot: usize) -> &'p str {
        let first = self.first.get(slot);
        let property = first.and_then(|at| properties.get(*at as usize));
        property.map_or("", |p| &p.name)
    }

    pub(super) fn slot(&self, properties: &[Property], name: &str) -> Option<usize> {
        let is = |slot: &usize| self.name(properties, *slot) == name;
        if self.first.len() <= FEW {
            return (0..self.first.len()).find(is);
        }
        let mut bucket = hash(name);
        loop {
            let slot = *self.bucket(bucket)?;
            if slot == NONE {
                return None;
            }
            if is(&(slot as usize)) {
                return Some(slot as usize);
            }
            bucket += 1;
        }
    }

    /// The named values by their slots.
    pub(super) fn by_slot<'v>(
        &self,
        properties: &[Property],
        values: View<'v>,
    ) -> Vec<Option<&'v Value>> {
        let mut table = vec![None; self.slots()];
        values.each(&mut |name, value| {
            let slot = self.slot(properties, name);
            if let Some(place) = slot.and_then(|slot| table.get_mut(slot)) {
                *place = Some(value);
            }
        });
        table
    }

    /// The parameters of this name, with their places.
    pub(super) fn named<'p>(
        &'p self,
        properties: &'p [Property],
        name: &str,
    ) -> impl Iterator<Item = (usize, &'p Property)> + use<'p> {
        let first = self.slot(properties, name).and_then(|s| self.first.get(s));
        let next = |at: &u32| {
            self.next
                .get(*at as usize)
                .copied()
                .filter(|at| *at != NONE)
        };
        std::iter::successors(first.copied(), next)
            .filter_map(|at| Some((at as usize, properties.get(at as usize)?)))
    }

    /// Another parameter has the same name.
    pub(super) fn is_repeated(&self, at: usize) -> bool {
        let is_first = self.first.get(self.slot_of(at)) == u32::try_from(at).ok().as_ref();
        !is_first || self.next.get(at).is_some_and(|next| *next != NONE)
    }

    /// The number of the display rule that the parameter has.
    pub(super) fn rule_of(&self, at: usize) -> Option<usize> {
        let rule = self.rules.get(at).filter(|rule| **rule != NONE);
        rule.map(|rule| *rule as usize)
    }

    /// Whether the parameter is shown under values of this very list.
    pub(super) fn is_shown(&self, properties: &[Property], at: usize, scope: Scope<'_>) -> bool {
        let Some(rule) = self.rule_of(at).and_then(|rule| self.distinct.get(rule)) else {
            return true;
        };
        let Some(display) = properties.get(rule.of).and_then(|p| p.display.as_ref()) else {
            return true;
        };
        let Some(View::Slots(level)) = scope.level else {
            return display.matches(scope);
        };
        display.holds(|i, name| match rule.sources.get(i) {
            Some(Source::Slot(slot)) => Seen::of(level.by_slot(*slot)),
            _ => scope.read(name),
        })
    }

    /// What stands for the resource locator at that place when none is given.
    pub(super) fn empty_locator(&self, at: usize) -> Option<&Value> {
        let known = self.locators.binary_search_by_key(&at, |(at, _)| *at);
        known.ok().and_then(|i| self.locators.get(i)).map(|l| &l.1)
    }

    /// The parameters at which n8n's check of values can find something, here or below.
    pub fn checked<'p>(
        &self,
        properties: &'p [Property],
    ) -> impl Iterator<Item = (usize, &'p Property)> {
        places(&self.checked, properties)
    }
    /// The parameters with a closed list of choices, or with a list that gives ids, here or below.
    pub fn chosen<'p>(
        &self,
        properties: &'p [Property],
    ) -> impl Iterator<Item = (usize, &'p Property)> {
        places(&self.chosen, properties)
    }
}

fn places<'p>(
    places: &[usize],
    properties: &'p [Property],
) -> impl Iterator<Item = (usize, &'p Property)> {
    places
        .iter()
        .filter_map(|at| Some((*at, properties.get(*at)?)))
}

fn hash(name: &str) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    usize::try_from(hasher.finish()).unwrap_or(0)
}

fn is_checked(property: &Property) -> bool {
    let options = &property.type_options;
    property.required
        || property.validate_type.is_some()
        || match property.kind {
            PropertyKind::ResourceLocator
            | PropertyKind::WorkflowSelector
            | PropertyKind::AgentSelector
            | PropertyKind::ResourceMapper
            | PropertyKind::Filter => true,
            PropertyKind::FixedCollection
                if options.min_required_fields.is_some()
                    || options.max_allowed_fields.is_some() =>
            {
                true
            }
            _ => property.groups.iter().any(|g| !g.plan.checked.is_empty()),
        }
}

fn is_chosen(property: &Property) -> bool {
    match property.kind {
        PropertyKind::Options | PropertyKind::MultiOptions => property.has_closed_choices(),
        PropertyKind::ResourceLocator => property.id_mode().is_some(),
        PropertyKind::Collection | PropertyKind::FixedCollection => {
            property.groups.iter().any(|g| !g.plan.chosen.is_empty())
        }
        _ => false,
    }
}

/// n8n marks a locator that it makes up from the default.
fn empty_locator(property: &Property) -> Option<Value> {
    if property.kind != PropertyKind::ResourceLocator || !property.has_default {
        return None;
    }
    let mut locator = Map::new();
    locator.insert("__rl".into(), Value::Bool(true));
    match &property.default {
        Value::Object(parts) => locator.extend(parts.clone()),
        Value::Null | Value::Array(_) => {}
        _ => return None,
    }
    Some(Value::Object(locator))
}

/// The order in which parameters are resolved. One whose rules name a parameter that comes later is resolved at once and
/// again at the end (n8n does both), so an index may come several times.
fn resolve_order(properties: &[Property]) -> Option<Vec<usize>> {
    let mut dependencies: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for property in properties {
        let list = dependencies.entry(property.name.as_str()).or_default();
        let Some(display) = &property.display else {
            continue;
        };
        for (name, _) in display.show.iter().chain(&display.hide) {
            if !name.starts_with('@') && !list.contains(&name.as_str()) {
                list.push(name);
            }
        }
    }
    let is_here = |name: &&str| dependencies.contains_key(name);
    if !dependencies.values().flatten().any(is_here) {
        return Some((0..properties.len()).collect());
    }
    let mut queue: VecDeque<(usize, &Property)> = properties.iter().enumerate().collect();
    let mut resolved: FxHashSet<&str> = FxHashSet::default();
    let mut order = Vec::with_capacity(properties.len());
    let mut last_length = queue.len();
    let mut last_shrunk: i64 = -1;
    let mut rounds: i64 = 0;
    let limit = i64::try_from(properties.len()).unwrap_or(i64::MAX);
    while let Some((at, property)) = queue.pop_front() {
        rounds += 1;
        let needs = dependencies
            .get(property.name.as_str())
            .map(Vec::as_slice)
            .unwrap_or_default();
        order.push(at);
        for need in needs {
            if !resolved.contains(need) && dependencies.contains_key(need) {
                queue.push_back((at, property));
            }
        }
        resolved.insert(&property.name);
        if needs.is_empty() {
            continue;
        }
        if queue.len() < last_length {
            last_shrunk = rounds;
        }
        if rounds > last_shrunk.saturating_add(limit) {
            return None;
        }
        last_length = queue.len();
    }
    Some(order)
}
