//! Fills in defaults and drops what is not shown, with the same outcome as n8n's own step before it judges parameters.
//! Owns the order in which parameters are resolved, oddities included: verdicts depend on them. Pure.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::description::{DisplayOptions, Property, PropertyKind};
use super::display::Scope;

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
pub fn fill(
    properties: &[Property],
    plan: &Plan,
    values: &Map<String, Value>,
    context: Context,
) -> Result<Map<String, Value>, FillError> {
    let level = Level::new(properties, plan)?;
    level.shown(Given::Object(values), None, Parent::Node, context)
}

/// The value that a level's parameters come from; anything but an object has no parameters, and nothing at all gives nothing.
#[derive(Clone, Copy)]
enum Given<'a> {
    Object(&'a Map<String, Value>),
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
            Some(Value::Object(map)) => Given::Object(map),
            Some(_) => Given::Other,
        }
    }
    fn get(&self, name: &str) -> Option<&'a Value> {
        match self {
            Given::Object(map) => map.get(name),
            _ => None,
        }
    }
}

/// What is known of a list of parameters before any value is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Indices in the order of resolution, some of them twice. None: the rules depend on each other in a circle.
    order: Option<Vec<usize>>,
    /// Per parameter: another one has the same name.
    repeated: Vec<bool>,
    /// Per parameter: which of the list's distinct display rules it has.
    rules: Vec<Option<usize>>,
    /// How many distinct display rules there are.
    distinct_rules: usize,
    /// The parameters at which a check of values can find something, here or below.
    checked: Vec<usize>,
}

impl Plan {
    pub fn new(properties: &[Property]) -> Self {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for property in properties {
            *count.entry(&property.name).or_default() += 1;
        }
        let repeated = |p: &Property| count.get(p.name.as_str()).is_some_and(|n| *n > 1);
        let (rules, distinct_rules) = numbered_rules(properties);
        let checked = properties.iter().enumerate();
        Plan {
            order: resolve_order(properties),
            repeated: properties.iter().map(repeated).collect(),
            rules,
            distinct_rules,
            checked: checked
                .filter(|(_, p)| is_checked(p))
                .map(|(at, _)| at)
                .collect(),
        }
    }

    /// The parameters at which n8n's check of values can find something, here or below.
    pub fn checked<'p>(
        &self,
        properties: &'p [Property],
    ) -> impl Iterator<Item = (usize, &'p Property)> {
        self.checked
            .iter()
            .filter_map(|at| Some((*at, properties.get(*at)?)))
    }
    /// Remembers verdicts of display rules on one set of values.
    pub fn verdicts(&self) -> Verdicts<'_> {
        Verdicts {
            rules: &self.rules,
            known: vec![None; self.distinct_rules],
        }
    }
}

/// Many parameters of a level share their display rules: each is judged once for values that stay the same.
pub struct Verdicts<'p> {
    rules: &'p [Option<usize>],
    known: Vec<Option<bool>>,
}

impl Verdicts<'_> {
    /// The verdict on the rules of the parameter at that place.
    pub fn of(&mut self, at: usize, judge: impl FnOnce() -> bool) -> bool {
        let Some(Some(rule)) = self.rules.get(at) else {
            return judge();
        };
        let Some(known) = self.known.get_mut(*rule) else {
            return judge();
        };
        *known.get_or_insert_with(judge)
    }
}

fn numbered_rules(properties: &[Property]) -> (Vec<Option<usize>>, usize) {
    let mut distinct: HashMap<&DisplayOptions, usize> = HashMap::new();
    let rules = properties
        .iter()
        .map(|property| {
            let display = property.display.as_ref()?;
            let next = distinct.len();
            Some(*distinct.entry(display).or_insert(next))
        })
        .collect();
    (rules, distinct.len())
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

    /// The parameters and their places in the order of resolution.
    fn ordered(&self) -> impl Iterator<Item = (usize, &'p Property)> {
        self.order
            .iter()
            .filter_map(|at| Some((*at, self.properties.get(*at)?)))
    }
    /// Another parameter has the same name.
    fn is_repeated(&self, at: usize) -> bool {
        self.plan.repeated.get(at).copied().unwrap_or(false)
    }

    /// Simple parameters only, hidden or not: what display rules are checked against.
    fn simple(
        &self,
        given: Given<'_>,
        root: Option<&Map<String, Value>>,
        parent: Parent,
        context: Context,
    ) -> Map<String, Value> {
        let mut out = Map::new();
        for (at, property) in self.ordered() {
            if !is_simple(property) || skipped(property, given, parent) {
                continue;
            }
            if self.is_repeated(at) && !shown(property, &out, root.unwrap_or(&out), context) {
                continue;
            }
            set_simple(&mut out, property, given.get(&property.name));
        }
        out
    }

    fn shown(
        &self,
        given: Given<'_>,
        root: Option<&Map<String, Value>>,
        parent: Parent,
        context: Context,
    ) -> Result<Map<String, Value>, FillError> {
        let check = self.simple(given, root, parent, context);
        let root = root.unwrap_or(&check);
        let mut out = Map::new();
        let mut verdicts = self.plan.verdicts();
        for (at, property) in self.ordered() {
            if skipped(property, given, parent)
                || !verdicts.of(at, || shown(property, &check, root, context))
            {
                continue;
            }
            let value = given.get(&property.name);
            match property.kind {
                PropertyKind::Collection => {
                    if let Some(filled) = collection(property, value, root, context)? {
                        out.insert(property.name.clone(), filled);
                    }
                }
                PropertyKind::FixedCollection => {
                    let filled = fixed_collection(property, value, root, context)?;
                    out.insert(property.name.clone(), Value::Object(filled));
                }
                _ => set_simple(&mut out, property, value),
            }
        }
        Ok(out)
    }
}

fn is_simple(property: &Property) -> bool {
    !matches!(
        property.kind,
        PropertyKind::Collection | PropertyKind::FixedCollection
    )
}

fn skipped(property: &Property, given: Given<'_>, parent: Parent) -> bool {
    match given {
        Given::Nothing => true,
        given => parent == Parent::Collection && given.get(&property.name).is_none(),
    }
}

fn shown(
    property: &Property,
    level: &Map<String, Value>,
    root: &Map<String, Value>,
    context: Context,
) -> bool {
    property.display.as_ref().is_none_or(|display| {
        display.matches(Scope {
            level: Some(level),
            root: Some(root),
            version: context.version,
            is_tool: context.is_tool,
        })
    })
}

/// Sets the given value or the default. A later twin of the same name overwrites, or removes by having no default.
fn set_simple(out: &mut Map<String, Value>, property: &Property, given: Option<&Value>) {
    let default = property.has_default.then_some(&property.default);
    let value = match property.kind {
        PropertyKind::Boolean | PropertyKind::Number | PropertyKind::Options => {
            given.or(default).cloned()
        }
        PropertyKind::ResourceLocator
            if property.has_default
                && matches!(
                    property.default,
                    Value::Object(_) | Value::Null | Value::Array(_)
                ) =>
        {
            match (given, default) {
                (Some(value), _) => Some(value.clone()),
                (None, Some(Value::Object(parts))) => {
                    let mut locator = Map::new();
                    locator.insert("__rl".into(), Value::Bool(true));
                    locator.extend(parts.clone());
                    Some(Value::Object(locator))
                }
                (None, _) => Some(serde_json::json!({"__rl": true})),
            }
        }
        PropertyKind::Filter => match given {
            Some(Value::Object(filter)) => Some(Value::Object(complete_filter(filter))),
            Some(Value::Null) | None => default.cloned(),
            Some(other) => Some(other.clone()),
        },
        _ => match given {
            Some(Value::Null) | None => default.cloned(),
            Some(other) => Some(other.clone()),
        },
    };
    let value = match value {
        Some(Value::String(text)) if property.no_expression => {
            Some(Value::String(without_expression_mark(text)))
        }
        other => other,
    };
    match value {
        Some(value) => {
            out.insert(property.name.clone(), value);
        }
        None => {
            out.shift_remove(&property.name);
        }
    }
}

/// A filter may lack its combinator or options and still be valid.
fn complete_filter(filter: &Map<String, Value>) -> Map<String, Value> {
    let mut filter = filter.clone();
    if filter.get("combinator").is_none_or(Value::is_null) {
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
    filter
}

fn numbered(values: impl Iterator<Item = Value>, rest: Map<String, Value>) -> Map<String, Value> {
    let mut out: Map<String, Value> = values
        .enumerate()
        .map(|(i, value)| (i.to_string(), value))
        .collect();
    out.extend(rest);
    out
}

/// A literal parameter loses the `=`, unless the whole text is one `$fromAI(…)` call, which the agent resolves.
fn without_expression_mark(text: String) -> String {
    match text.strip_prefix('=') {
        Some(rest) if !is_one_from_ai_call(rest) => rest.to_owned(),
        _ => text,
    }
}

/// `{{ $fromAI('name', …) }}` or the bare call, with nothing around it and no call within it.
pub fn is_one_from_ai_call(text: &str) -> bool {
    const MARKER: &str = "/*n8n-auto-generated-fromAI-override*/";
    let mut text = text.trim();
    if let Some(inner) = text.strip_prefix("{{").and_then(|t| t.strip_suffix("}}")) {
        text = inner.trim();
    }
    text = text.strip_prefix(MARKER).map_or(text, str::trim);
    let name = "$fromai";
    let Some(head) = text.get(..name.len()) else {
        return false;
    };
    if !head.eq_ignore_ascii_case(name) {
        return false;
    }
    let rest = text.get(name.len()..).unwrap_or_default().trim_start();
    let Some(arguments) = rest.strip_prefix('(') else {
        return false;
    };
    is_plain_argument_list(arguments)
}

/// Literals up to the closing parenthesis that ends the text: no calls, operators, variables or interpolation.
fn is_plain_argument_list(text: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            Some(_) if c == '\\' => {
                chars.next();
            }
            Some('`') if c == '$' && chars.peek() == Some(&'{') => return false,
            Some(q) => {
                if c == q {
                    quote = None;
                }
            }
            None if c == ')' => return chars.all(char::is_whitespace),
            None => {
                if matches!(c, '\'' | '"' | '`') {
                    if c == '`' && (before.is_ascii_alphanumeric() || before == '_') {
                        return false;
                    }
                    quote = Some(c);
                } else if !(c.is_ascii_alphanumeric() || c.is_whitespace() || ".,-".contains(c)) {
                    return false;
                }
                if !c.is_whitespace() {
                    before = c;
                }
            }
        }
    }
    false
}

fn collection(
    property: &Property,
    value: Option<&Value>,
    root: &Map<String, Value>,
    context: Context,
) -> Result<Option<Value>, FillError> {
    if property.is_list() {
        return Ok(Some(match (value, &property.default) {
            (Some(value), _) => value.clone(),
            (None, Value::Array(list)) => Value::Array(list.clone()),
            (None, _) => Value::Array(Vec::new()),
        }));
    }
    match value {
        Some(value) => {
            let no_parts = Plan::new(&[]);
            let plan = property.groups.first().map_or(&no_parts, |g| &g.plan);
            let level = Level::new(property.children(), plan)?;
            let filled = level.shown(
                Given::from(Some(value)),
                Some(root),
                Parent::Collection,
                context,
            )?;
            Ok(Some(Value::Object(filled)))
        }
        None => Ok(property.has_default.then(|| property.default.clone())),
    }
}

fn fixed_collection(
    property: &Property,
    value: Option<&Value>,
    root: &Map<String, Value>,
    context: Context,
) -> Result<Map<String, Value>, FillError> {
    let parts = match value {
        Some(value) => Some(value),
        None => property.has_default.then_some(&property.default),
    };
    let mut out = Map::new();
    let Some(Value::Object(parts)) = parts else {
        return Ok(out);
    };
    for (name, part) in parts {
        let Some(group) = property.group(name) else {
            continue;
        };
        let level = Level::new(&group.values, &group.plan)?;
        let one = |item: Option<&Value>| {
            level.shown(
                Given::from(item),
                Some(root),
                Parent::FixedCollection,
                context,
            )
        };
        if property.is_list() {
            let items = match part {
                Value::Array(items) => items
                    .iter()
                    .map(|item| one(Some(item)).map(Value::Object))
                    .collect::<Result<Vec<_>, _>>()?,
                // JavaScript walks a text by its characters.
                Value::String(text) => text
                    .chars()
                    .map(|c| one(Some(&Value::String(c.to_string()))).map(Value::Object))
                    .collect::<Result<Vec<_>, _>>()?,
                _ => return Err(FillError::NotAList(format!("{}.{name}", property.name))),
            };
            out.insert(name.clone(), Value::Array(items));
            continue;
        }
        // n8n reads the item from the given value even when the parts come from the default.
        let item = match value {
            None | Some(Value::Null) => {
                return Err(FillError::NoValueForPart(property.name.clone()));
            }
            Some(value) => value.get(name),
        };
        let filled = one(item)?;
        if !filled.is_empty() {
            out.insert(name.clone(), Value::Object(filled));
        }
    }
    Ok(out)
}

/// The order in which parameters are resolved. One whose rules name a parameter that comes later is resolved at once and
/// again at the end (n8n does both), so an index may come several times.
fn resolve_order(properties: &[Property]) -> Option<Vec<usize>> {
    let mut dependencies: HashMap<&str, Vec<&str>> = HashMap::new();
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
    let mut queue: VecDeque<(usize, &Property)> = properties.iter().enumerate().collect();
    let mut resolved: HashSet<&str> = HashSet::new();
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
