//! A short account of what one operation of a node takes: for an agent's context (text) or a program (JSON).
//! Owns what is left out: hidden parameters, notices, long choices.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::description::NodeDescription;
use super::property::{Property, PropertyGroup, PropertyKind};

/// So many choices are written out.
const MAX_CHOICES: usize = 10;
/// So many parts of a collection are named.
const MAX_PARTS: usize = 12;

/// The parameters that one operation takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recipe {
    pub node_type: String,
    pub version: f64,
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    pub credentials: Vec<RecipeCredential>,
    pub parameters: Vec<RecipeParameter>,
}

/// A credential type that the operation can use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecipeCredential {
    pub name: String,
    pub required: bool,
    /// Asked for only then, e.g. `authentication=oAuth2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

/// One parameter of a recipe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecipeParameter {
    pub name: String,
    pub label: String,
    /// n8n's type name.
    #[serde(rename = "type")]
    pub kind: String,
    pub required: bool,
    /// Null when there is none, it is empty, or the catalog does not carry its text.
    pub default: Value,
    /// The first choices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Value>,
    /// Choices left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_options: usize,
    /// The service knows more choices.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
    /// A resource locator's modes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<String>,
    /// The parts of a collection: `name` or `group.name` (`group[].name` in a list).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub more_parts: usize,
    /// Shown only then, e.g. `select=channel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl NodeDescription {
    /// What this operation takes, other parameters at their defaults, and what one further choice would add.
    pub fn recipe(&self, resource: Option<&str>, operation: Option<&str>) -> Recipe {
        let mut params = Map::new();
        for (name, value) in [("resource", resource), ("operation", operation)] {
            if let Some(value) = value {
                params.insert(name.to_owned(), value.into());
            }
        }
        let start = self.state(&params);
        let mut when: Vec<Vec<(String, Vec<String>)>> = vec![Vec::new(); self.properties.len()];
        let mut slots_when: Vec<Vec<(String, Vec<String>)>> =
            vec![Vec::new(); self.credentials.len()];
        for (property, value) in self.choices(&start) {
            let mut params = params.clone();
            params.insert(property.name.clone(), value.clone());
            let state = self.state(&params);
            let choice = (property.name.as_str(), short(value));
            note_new(&mut when, &start.shown, &state.shown, &choice);
            note_new(&mut slots_when, &start.slots, &state.slots, &choice);
        }
        let chosen = |name: &str| {
            start
                .filled
                .get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let mut parameters: Vec<RecipeParameter> = Vec::new();
        let now_shown = |name: &str| {
            let mut pairs = self.properties.iter().zip(&start.shown);
            pairs.any(|(p, shown)| *shown && p.name == name)
        };
        for ((property, shown), when) in self.properties.iter().zip(&start.shown).zip(&when) {
            let worth = !property.kind.is_decoration()
                && property.kind != PropertyKind::Hidden
                && !["resource", "operation"].contains(&property.name.as_str());
            if !worth {
                continue;
            }
            if *shown {
                parameters.push(parameter(property, None));
            } else if !when.is_empty() && !now_shown(&property.name) {
                parameters.push(parameter(property, Some(told(when))));
            }
        }
        let credentials = self
            .credentials
            .iter()
            .zip(start.slots.iter().zip(&slots_when))
            .filter(|(_, (shown, when))| **shown || !when.is_empty())
            .map(|(slot, (shown, when))| RecipeCredential {
                name: slot.name.clone(),
                required: slot.required,
                when: (!shown).then(|| told(when)),
            })
            .collect();
        Recipe {
            node_type: self.node_type.clone(),
            version: self.version,
            label: self.label.clone(),
            resource: chosen("resource"),
            operation: chosen("operation"),
            credentials,
            parameters,
        }
    }

    /// Fills in defaults, and a stand-in for each empty resource locator, as parameters often appear only after one is set.
    fn state(&self, params: &Map<String, Value>) -> State {
        let mut params = params.clone();
        let mut filled = self.fill_defaults(&params);
        for _ in 0..4 {
            let empty: Vec<&str> = self
                .properties
                .iter()
                .filter(|p| {
                    use PropertyKind::{ResourceLocator, WorkflowSelector};
                    matches!(p.kind, ResourceLocator | WorkflowSelector)
                })
                .filter(|p| {
                    let value = filled.get(&p.name).and_then(|v| v.get("value"));
                    value.and_then(Value::as_str) == Some("")
                })
                .map(|p| p.name.as_str())
                .collect();
            if empty.is_empty() {
                break;
            }
            for name in empty {
                let stand_in = serde_json::json!({"__rl": true, "mode": "id", "value": "\u{1}"});
                params.insert(name.to_owned(), stand_in);
            }
            filled = self.fill_defaults(&params);
        }
        State {
            shown: self
                .properties
                .iter()
                .map(|p| self.property_visible(p, &filled, &filled))
                .collect(),
            slots: self
                .credentials
                .iter()
                .map(|slot| self.credential_visible(slot, &filled))
                .collect(),
            filled,
        }
    }

    /// Every other value of every shown switch and short choice.
    fn choices<'a>(&'a self, state: &'a State) -> impl Iterator<Item = (&'a Property, &'a Value)> {
        static SWITCHED: [Value; 2] = [Value::Bool(true), Value::Bool(false)];
        self.properties
            .iter()
            .zip(&state.shown)
            .filter(|(p, shown)| **shown && !["resource", "operation"].contains(&p.name.as_str()))
            .flat_map(move |(p, _)| {
                let current = state.filled.get(&p.name);
                let values: Vec<&Value> = match p.kind {
                    PropertyKind::Boolean => SWITCHED.iter().collect(),
                    PropertyKind::Options if p.options.len() <= MAX_CHOICES => {
                        p.options.iter().map(|o| &o.value).collect()
                    }
                    _ => Vec::new(),
                };
                values
                    .into_iter()
                    .filter(move |v| Some(*v) != current)
                    .map(move |v| (p, v))
            })
    }
}

/// A node under certain parameters.
struct State {
    filled: Map<String, Value>,
    /// By parameter.
    shown: Vec<bool>,
    /// By credential slot.
    slots: Vec<bool>,
}

fn note_new(
    notes: &mut [Vec<(String, Vec<String>)>],
    before: &[bool],
    after: &[bool],
    (name, value): &(&str, String),
) {
    for ((list, before), after) in notes.iter_mut().zip(before).zip(after) {
        if *before || !*after {
            continue;
        }
        match list.iter_mut().find(|(n, _)| n == name) {
            Some((_, values)) => values.push(value.clone()),
            None => list.push(((*name).to_owned(), vec![value.clone()])),
        }
    }
}

/// The first choice that shows something: `select=channel`, `mode=a|b`.
fn told(when: &[(String, Vec<String>)]) -> String {
    when.first()
        .map(|(name, values)| format!("{name}={}", values.join("|")))
        .unwrap_or_default()
}

fn parameter(p: &Property, when: Option<String>) -> RecipeParameter {
    let parts = parts(p);
    RecipeParameter {
        name: p.name.clone(),
        label: p.label.clone(),
        kind: p.kind.name().to_owned(),
        required: p.required,
        default: telling_default(p),
        options: p
            .options
            .iter()
            .take(MAX_CHOICES)
            .map(|o| o.value.clone())
            .collect(),
        more_options: p.options.len().saturating_sub(MAX_CHOICES),
        dynamic: p.has_dynamic_options() || p.modes.iter().any(|m| m.kind == "list"),
        modes: p.modes.iter().map(|m| m.name.clone()).collect(),
        more_parts: parts.len().saturating_sub(MAX_PARTS),
        parts: parts.into_iter().take(MAX_PARTS).collect(),
        when,
    }
}

fn parts(p: &Property) -> Vec<String> {
    let list = if p.is_list() { "[]" } else { "" };
    let mut names = Vec::new();
    for group in &p.groups {
        let prefix = if group.name.is_empty() {
            String::new()
        } else {
            format!("{}{list}.", group.name)
        };
        for value in &group.values {
            let name = format!("{prefix}{}", value.name);
            if !value.kind.is_decoration() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// A default worth showing: not empty, and carried by the catalog.
fn telling_default(p: &Property) -> Value {
    if p.default_omitted {
        return Value::Null;
    }
    match &p.default {
        Value::String(s) if s.is_empty() => Value::Null,
        Value::Object(map) if map.is_empty() => Value::Null,
        Value::Array(list) if list.is_empty() => Value::Null,
        Value::Object(map) if p.kind == PropertyKind::ResourceLocator => {
            match map.get("value").and_then(Value::as_str) {
                Some("") | None => Value::Null,
                Some(_) => p.default.clone(),
            }
        }
        other => other.clone(),
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

/// More choices than these are a list that nobody reads.
const ALL_CHOICES: usize = 200;

impl NodeDescription {
    /// One parameter, or a part of one (`options.timeout`, `values[].column`), with all choices and all parts, a line each. Those that this
    /// operation shows, else whichever has the name. None: there is none.
    pub fn parameter_in_full(
        &self,
        path: &str,
        resource: Option<&str>,
        operation: Option<&str>,
    ) -> Option<String> {
        let path = path.trim_start_matches('/').replace("[]", "");
        let mut names = path.split(['.', '/']);
        let first = names.next()?;
        let mut params = Map::new();
        for (name, value) in [("resource", resource), ("operation", operation)] {
            if let Some(value) = value {
                params.insert(name.to_owned(), value.into());
            }
        }
        let state = self.state(&params);
        let named = || {
            let all = self.properties.iter().zip(&state.shown);
            all.filter(|(p, _)| p.name == first)
        };
        let mut found: Vec<&Property> = named().filter(|(_, shown)| **shown).map(|n| n.0).collect();
        if found.is_empty() {
            found = named().map(|(property, _)| property).collect();
        }
        for name in names {
            let parts = found.iter().flat_map(|p| &p.groups);
            let of_group = |g: &&PropertyGroup| g.name == name;
            found = match parts.clone().find(of_group) {
                Some(group) => group.values.iter().collect(),
                None => {
                    let values = parts.flat_map(|g| &g.values);
                    values.filter(|p| p.name == name).collect()
                }
            };
        }
        let lines: Vec<String> = found.iter().flat_map(|p| in_full(p)).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

fn in_full(p: &Property) -> Vec<String> {
    let all = Detail::new(ALL_CHOICES, ALL_CHOICES, true);
    let told = |p: &Property| {
        let mut told = parameter(p, None);
        let choices = p.options.iter().take(ALL_CHOICES);
        told.options = choices.map(|o| o.value.clone()).collect();
        told.more_options = p.options.len().saturating_sub(ALL_CHOICES);
        told
    };
    let mut lines = vec![
        RecipeParameter {
            parts: Vec::new(),
            more_parts: 0,
            ..told(p)
        }
        .text(all),
    ];
    let list = if p.is_list() { "[]" } else { "" };
    for group in &p.groups {
        let prefix = match group.name.as_str() {
            "" => String::new(),
            name => format!("{name}{list}."),
        };
        let worth = group.values.iter().filter(|v| !v.kind.is_decoration());
        lines.extend(worth.map(|part| format!("- {prefix}{}", told(part).text(all))));
    }
    lines
}

/// How much of a recipe is written out, from everything to the least.
const DETAILS: [Detail; 4] = [
    Detail::new(MAX_CHOICES, MAX_PARTS, true),
    Detail::new(6, 6, true),
    Detail::new(5, 3, true),
    Detail::new(4, 2, false),
];
/// A recipe must fit beside others in an agent's context.
const MOST_TOKENS: usize = 400;

#[derive(Clone, Copy)]
struct Detail {
    choices: usize,
    parts: usize,
    /// Parameters that only a further choice shows have lines of their own; else they are named together.
    further: bool,
}

impl Detail {
    const fn new(choices: usize, parts: usize, further: bool) -> Self {
        Detail {
            choices,
            parts,
            further,
        }
    }
}

/// As tokenizers cut such text, on the safe side: a word is a token per six letters, every other character is one.
fn tokens(text: &str) -> usize {
    let mut count = 0;
    let mut letters = 0;
    for c in text.chars() {
        if c.is_alphanumeric() {
            count += usize::from(letters % 6 == 0);
            letters += 1;
        } else {
            letters = 0;
            count += usize::from(c != ' ');
        }
    }
    count
}

/// The most that fits into the budget.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = DETAILS.iter().map(|detail| self.text(*detail));
        let mut shortest = String::new();
        for text in texts {
            shortest = text;
            if tokens(&shortest) <= MOST_TOKENS {
                break;
            }
        }
        f.write_str(&shortest)
    }
}

impl Recipe {
    fn text(&self, detail: Detail) -> String {
        let mut out = format!("{} v{} ({})", self.node_type, self.version, self.label);
        for (name, value) in [("resource", &self.resource), ("operation", &self.operation)] {
            if let Some(value) = value {
                out.push_str(&format!(" {name}={value}"));
            }
        }
        out.push('\n');
        let shown = |c: &&RecipeCredential| detail.further || c.when.is_none();
        let list: Vec<String> = self
            .credentials
            .iter()
            .filter(shown)
            .map(ToString::to_string)
            .collect();
        if !list.is_empty() {
            out.push_str(&format!("credentials: {}\n", list.join(", ")));
        }
        let (lines, named): (Vec<_>, Vec<_>) = self
            .parameters
            .iter()
            .partition(|p| detail.further || p.when.is_none() || p.required);
        for p in lines {
            out.push_str(&format!("- {}\n", p.text(detail)));
        }
        if !named.is_empty() {
            let names: Vec<&str> = named.iter().map(|p| p.name.as_str()).collect();
            out.push_str(&format!("other choices show: {}\n", names.join(", ")));
        }
        out
    }
}

/// The first few, and how many more.
fn first(list: Vec<String>, most: usize, more: usize, between: &str) -> String {
    let more = more + list.len().saturating_sub(most);
    let mut text = list
        .into_iter()
        .take(most)
        .collect::<Vec<_>>()
        .join(between);
    if more > 0 {
        text.push_str(&format!("{between}+{more}"));
    }
    text
}

impl fmt::Display for RecipeCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.required { "*" } else { "" };
        write!(f, "{}{mark}", self.name)?;
        match &self.when {
            Some(when) => write!(f, " [if {when}]"),
            None => Ok(()),
        }
    }
}

impl RecipeParameter {
    fn text(&self, detail: Detail) -> String {
        let mark = if self.required { "*" } else { "" };
        let mut out = format!("{}{mark} {}", self.name, self.kind);
        if !self.options.is_empty() {
            let list = self.options.iter().map(short).collect();
            let list = first(list, detail.choices, self.more_options, "|");
            out.push_str(&format!(" {list}"));
        }
        if !self.modes.is_empty() {
            out.push_str(&format!(" mode {}", self.modes.join("|")));
        }
        if !self.parts.is_empty() {
            let list = first(self.parts.clone(), detail.parts, self.more_parts, ", ");
            out.push_str(&format!(" {{{list}}}"));
        }
        match &self.default {
            Value::Null => {}
            Value::Object(_) | Value::Array(_) => {
                let text = self.default.to_string();
                if text.len() <= 60 {
                    out.push_str(&format!(" = {text}"));
                }
            }
            other => out.push_str(&format!(" = {}", short(other))),
        }
        if let Some(when) = &self.when {
            out.push_str(&format!(" [if {when}]"));
        }
        out
    }
}

#[cfg(test)]
#[path = "recipe_tests.rs"]
mod recipe_tests;
