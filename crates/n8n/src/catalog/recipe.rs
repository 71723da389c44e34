//! A short account of what one operation of a node takes, as a program reads it (JSON); `recipe_text.rs` writes it for an agent.
//! Owns what is left out: hidden parameters, notices, long choices.

use serde::Serialize;
use serde_json::{Map, Value};

use super::description::{NodeDescription, Ports};
use super::property::{Property, PropertyKind};
use super::recipe_shapes::ports;

/// So many choices are written out.
pub(super) const MAX_CHOICES: usize = 10;
/// So many parts of a collection are named.
pub(super) const MAX_PARTS: usize = 12;

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
    /// Where it has others than one plain input: the main ones numbered, the others by their kind, `*` where one must be connected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// The same of its outputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<String>,
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
    /// They are those of the account, so none can be named here.
    #[serde(skip)]
    pub of_account: bool,
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
            let mut told = if *shown {
                parameter(property, None)
            } else if !when.is_empty() && !now_shown(&property.name) {
                parameter(property, Some(told(when)))
            } else {
                continue;
            };
            told.of_account &= !self.credentials.is_empty();
            parameters.push(told);
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
            inputs: ports(&self.inputs_for(&start.filled), false),
            outputs: self.told_outputs(&start.filled),
            credentials,
            parameters,
        }
    }

    /// Fills in defaults, and a stand-in for each empty resource locator, as parameters often appear only after one is set.
    pub(super) fn state(&self, params: &Map<String, Value>) -> State {
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

    fn told_outputs(&self, filled: &Map<String, Value>) -> Vec<String> {
        let now = self.outputs_for(filled, &Map::new());
        // One for each category, for each rule.
        match now.is_empty() && matches!(self.outputs, Ports::Rule(_)) {
            true => vec!["as many as its parameters say".to_owned()],
            false => ports(&now, true),
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
pub(super) struct State {
    filled: Map<String, Value>,
    /// By parameter.
    pub(super) shown: Vec<bool>,
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

pub(super) fn parameter(p: &Property, when: Option<String>) -> RecipeParameter {
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
        of_account: p.has_dynamic_options() && p.options.is_empty(),
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

pub(super) fn short(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}
