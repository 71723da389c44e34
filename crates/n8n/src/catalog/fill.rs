//! Fills in defaults and drops what is not shown, with the same outcome as n8n's own step before it judges parameters.
//! Owns the order in which parameters are resolved, oddities included: verdicts depend on them. Pure.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::display::Scope;
use super::from_ai::is_one_from_ai_call;
use super::property::{Plan, Property, PropertyKind};
use super::values::{Held, Slots, View};

/// n8n itself throws on such parameters (the editor shows nothing, publishing fails).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    #[error("the list `{0}` holds something that is not a list; give it an array")]
    NotAList(String),
    #[error("`{0}` has a default part that n8n cannot apply; set the parameter")]
    NoValueForPart(String),
    #[error("the display rules of the parameters depend on each other in a circle")]
    Circular,
}

/// Fixed for one node.
#[derive(Clone, Copy)]
pub struct Context {
    pub version: f64,
    pub is_tool: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Node,
    Collection,
    FixedCollection,
}

/// The parameters of a node with defaults filled in and hidden ones dropped.
pub(super) fn fill<'v>(
    properties: &'v [Property],
    plan: &'v Plan,
    values: View<'v>,
    context: Context,
) -> Result<Slots<'v>, FillError> {
    let level = Level::new(properties, plan)?;
    level.shown(Given::Object(values), None, Parent::Node, context)
}

static NO_VALUES: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));
static NO_ITEMS: LazyLock<Value> = LazyLock::new(|| Value::Array(Vec::new()));

/// The value that a level's parameters come from; anything but an object has no parameters, and nothing at all gives nothing.
#[derive(Clone, Copy)]
enum Given<'a> {
    Object(View<'a>),
    /// A text, a number, a list: no named values, but defaults apply.
    Other,
    /// Null, false, 0, "" or absent: nothing is filled.
    Nothing,
}

impl<'a> Given<'a> {
    fn from(value: Option<&'a Value>) -> Self {
        match value {
            None | Some(Value::Null | Value::Bool(false)) => Given::Nothing,
            Some(Value::Number(n)) if n.as_f64() == Some(0.0) => Given::Nothing,
            Some(Value::String(s)) if s.is_empty() => Given::Nothing,
            Some(Value::Object(map)) => Given::Object(map.into()),
            Some(_) => Given::Other,
        }
    }
}

/// A list of parameters with its plan.
struct Level<'p> {
    properties: &'p [Property],
    order: &'p [usize],
    plan: &'p Plan,
}

impl<'p> Level<'p> {
    fn new(properties: &'p [Property], plan: &'p Plan) -> Result<Self, FillError> {
        Ok(Level {
            properties,
            order: plan.order.as_deref().ok_or(FillError::Circular)?,
            plan,
        })
    }

    /// The parameters that are resolved, in the order of resolution, with their places and given values.
    fn ordered<'v>(
        &self,
        given: &[Option<&'v Value>],
        parent: Parent,
    ) -> impl Iterator<Item = (usize, &'p Property, Option<&'v Value>)> {
        let one = move |at: &usize| {
            let value = given.get(self.plan.slot_of(*at)).copied().flatten();
            // Of a collection only what is given counts.
            let skipped = parent == Parent::Collection && value.is_none();
            (!skipped).then_some((*at, self.properties.get(*at)?, value))
        };
        self.order.iter().filter_map(one)
    }

    /// Simple parameters only, hidden or not: what display rules are checked against.
    fn simple<'v>(
        &self,
        given: &[Option<&'v Value>],
        root: Option<View<'_>>,
        parent: Parent,
        context: Context,
    ) -> Slots<'v>
    where
        'p: 'v,
    {
        let mut out = Slots::new(self.properties, self.plan);
        for (at, property, value) in self.ordered(given, parent) {
            if !is_simple(property) {
                continue;
            }
            if self.plan.is_repeated(at) && !self.is_shown(at, &out, root, context) {
                continue;
            }
            out.set(at, simple(property, self.plan.empty_locator(at), value));
        }
        out
    }

    fn shown<'v>(
        &self,
        given: Given<'v>,
        root: Option<View<'_>>,
        parent: Parent,
        context: Context,
    ) -> Result<Slots<'v>, FillError>
    where
        'p: 'v,
    {
        let mut out = Slots::new(self.properties, self.plan);
        let given = match given {
            Given::Nothing => return Ok(out),
            Given::Other => vec![None; self.plan.slots()],
            Given::Object(values) => self.plan.by_slot(self.properties, values),
        };
        let check = self.simple(&given, root, parent, context);
        let mut verdicts = vec![None; self.plan.distinct_rules()];
        for (at, property, value) in self.ordered(&given, parent) {
            let judge = || self.is_shown(at, &check, root, context);
            // Many parameters share their display rules, and the values stay the same.
            let known = self
                .plan
                .rule_of(at)
                .and_then(|rule| verdicts.get_mut(rule));
            if !known.is_none_or(|known| *known.get_or_insert_with(judge)) {
                continue;
            }
            let root = root.unwrap_or(View::Slots(&check));
            let value = match property.kind {
                PropertyKind::Collection => collection(property, value, root, context)?,
                PropertyKind::FixedCollection => fixed_collection(property, value, root, context)?,
                _ => simple(property, self.plan.empty_locator(at), value),
            };
            let absent = matches!(value, Held::Absent);
            if is_simple(property) || !absent {
                out.set(at, value);
            }
        }
        Ok(out)
    }

    fn is_shown(
        &self,
        at: usize,
        level: &Slots<'_>,
        root: Option<View<'_>>,
        context: Context,
    ) -> bool {
        let scope = Scope {
            level: Some(View::Slots(level)),
            root: Some(root.unwrap_or(View::Slots(level))),
            version: context.version,
            is_tool: context.is_tool,
        };
        self.plan.is_shown(self.properties, at, scope)
    }

    /// The parameters inside a value: the value itself where nothing changes.
    fn inside<'v>(
        &self,
        value: Option<&'v Value>,
        root: View<'_>,
        parent: Parent,
        context: Context,
    ) -> Result<Held<'v>, FillError>
    where
        'p: 'v,
    {
        let filled = self.shown(Given::from(value), Some(root), parent, context)?;
        Ok(match value {
            Some(whole @ Value::Object(map)) if filled.are_all_of(map) => Held::Given(whole),
            _ if filled.is_empty() => Held::Given(&NO_VALUES),
            _ => made(Value::Object(filled.into_map())),
        })
    }
}

fn made<'v>(value: Value) -> Held<'v> {
    Held::Made(Box::new(value))
}

fn is_simple(property: &Property) -> bool {
    !matches!(
        property.kind,
        PropertyKind::Collection | PropertyKind::FixedCollection
    )
}

/// The given value or the default. A later twin of the same name overwrites, or removes by having no default.
fn simple<'v>(
    property: &'v Property,
    empty_locator: Option<&'v Value>,
    given: Option<&'v Value>,
) -> Held<'v> {
    let default = property.has_default.then_some(&property.default);
    let value = match property.kind {
        PropertyKind::Boolean | PropertyKind::Number | PropertyKind::Options => given.or(default),
        PropertyKind::ResourceLocator if empty_locator.is_some() => given.or(empty_locator),
        _ => given.filter(|value| !value.is_null()).or(default),
    };
    match value {
        None => Held::Absent,
        Some(Value::Object(filter))
            if property.kind == PropertyKind::Filter && given.is_some_and(Value::is_object) =>
        {
            match complete_filter(filter) {
                None => value.map_or(Held::Absent, Held::Given),
                Some(complete) => made(Value::Object(complete)),
            }
        }
        Some(Value::String(text)) if property.no_expression => match text.strip_prefix('=') {
            // One `$fromAI(…)` call stays, for the agent resolves it.
            Some(rest) if !is_one_from_ai_call(rest) => made(Value::String(rest.to_owned())),
            _ => value.map_or(Held::Absent, Held::Given),
        },
        Some(value) => Held::Given(value),
    }
}

/// A filter may lack its combinator or options and still be valid. None: it lacks nothing.
fn complete_filter(filter: &Map<String, Value>) -> Option<Map<String, Value>> {
    const OPTIONS: [&str; 4] = ["caseSensitive", "leftValue", "typeValidation", "version"];
    let combined = filter.get("combinator").is_some_and(|c| !c.is_null());
    if let (true, Some(Value::Object(options))) = (combined, filter.get("options"))
        && OPTIONS.iter().all(|name| options.contains_key(*name))
    {
        return None;
    }
    let mut filter = filter.clone();
    if !combined {
        filter.insert("combinator".into(), Value::String("and".into()));
    }
    let mut options = Map::new();
    options.insert("caseSensitive".into(), Value::Bool(true));
    options.insert("leftValue".into(), Value::String(String::new()));
    options.insert("typeValidation".into(), Value::String("strict".into()));
    options.insert("version".into(), Value::from(1));
    match filter.get("options") {
        Some(Value::Object(given)) => options.extend(given.clone()),
        // JavaScript spreads lists and texts into numbered keys, which stand before the others.
        Some(Value::Array(list)) => options = numbered(list.iter().cloned(), options),
        Some(Value::String(text)) => {
            let letters = text.chars().map(|c| Value::String(c.to_string()));
            options = numbered(letters, options);
        }
        _ => {}
    }
    filter.insert("options".into(), Value::Object(options));
    Some(filter)
}

fn numbered(values: impl Iterator<Item = Value>, rest: Map<String, Value>) -> Map<String, Value> {
    let mut out: Map<String, Value> = values
        .enumerate()
        .map(|(i, value)| (i.to_string(), value))
        .collect();
    out.extend(rest);
    out
}

fn collection<'v>(
    property: &'v Property,
    value: Option<&'v Value>,
    root: View<'_>,
    context: Context,
) -> Result<Held<'v>, FillError> {
    if property.is_list() {
        return Ok(match (value, &property.default) {
            (Some(value), _) | (None, value @ Value::Array(_)) => Held::Given(value),
            (None, _) => Held::Given(&NO_ITEMS),
        });
    }
    if value.is_none() {
        return Ok(match property.has_default {
            true => Held::Given(&property.default),
            false => Held::Absent,
        });
    }
    let Some(group) = property.groups.first() else {
        return Ok(Held::Given(&NO_VALUES));
    };
    let level = Level::new(&group.values, &group.plan)?;
    level.inside(value, root, Parent::Collection, context)
}

fn fixed_collection<'v>(
    property: &'v Property,
    value: Option<&'v Value>,
    root: View<'_>,
    context: Context,
) -> Result<Held<'v>, FillError> {
    let whole = match value {
        Some(value) => value,
        None if property.has_default => &property.default,
        None => &NO_VALUES,
    };
    let Value::Object(parts) = whole else {
        return Ok(Held::Given(&NO_VALUES));
    };
    let mut same = true;
    let mut out: Vec<(&str, Held<'v>)> = Vec::with_capacity(parts.len());
    for (name, part) in parts {
        let Some(group) = property.group(name) else {
            same = false;
            continue;
        };
        let level = Level::new(&group.values, &group.plan)?;
        let filled = if property.is_list() {
            items(&level, part, root, context)?
                .ok_or_else(|| FillError::NotAList(format!("{}.{name}", property.name)))?
        } else {
            // n8n reads the item from the given value even when the parts come from the default.
            let item = match value {
                None | Some(Value::Null) => {
                    return Err(FillError::NoValueForPart(property.name.clone()));
                }
                Some(value) => value.get(name),
            };
            let filled = level.inside(item, root, Parent::FixedCollection, context)?;
            if filled
                .get()
                .and_then(Value::as_object)
                .is_none_or(Map::is_empty)
            {
                same = false;
                continue;
            }
            filled
        };
        same &= filled.is(part);
        out.push((name, filled));
    }
    if same {
        return Ok(Held::Given(whole));
    }
    let entries = out.into_iter();
    let entries = entries.filter_map(|(name, held)| Some((name.to_owned(), held.into_value()?)));
    Ok(made(Value::Object(entries.collect())))
}

/// The items of a list; None for a value that n8n cannot walk.
fn items<'v>(
    level: &Level<'v>,
    list: &'v Value,
    root: View<'_>,
    context: Context,
) -> Result<Option<Held<'v>>, FillError> {
    let one = |item| level.inside(item, root, Parent::FixedCollection, context);
    match list {
        Value::Array(items) => {
            let mut filled = Vec::with_capacity(items.len());
            for item in items {
                filled.push(one(Some(item))?);
            }
            if filled.iter().zip(items).all(|(held, item)| held.is(item)) {
                return Ok(Some(Held::Given(list)));
            }
            let values = filled.into_iter().filter_map(Held::into_value);
            Ok(Some(made(values.collect())))
        }
        // JavaScript walks a text by its characters, none of which has named values.
        Value::String(text) => {
            let mut values = Vec::new();
            for c in text.chars() {
                let letter = Value::String(c.to_string());
                let filled = level.inside(Some(&letter), root, Parent::FixedCollection, context)?;
                values.extend(filled.into_value());
            }
            Ok(Some(made(values.into())))
        }
        _ => Ok(None),
    }
}
