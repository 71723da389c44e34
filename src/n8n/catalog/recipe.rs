//! A short account of what one operation of a node takes: for an agent's context (text) or a program (JSON).
//! Owns what is left out: hidden parameters, notices, long choices.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::description::{Condition, NodeDescription, Property, PropertyKind};

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
    /// Credential types, any one of them, when all defaults are kept.
    pub credentials: Vec<String>,
    pub parameters: Vec<RecipeParameter>,
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
    /// What this operation takes, other parameters at their defaults; one step of "shown only when" included.
    pub fn recipe(&self, resource: Option<&str>, operation: Option<&str>) -> Recipe {
        let mut params = Map::new();
        for (name, value) in [("resource", resource), ("operation", operation)] {
            if let Some(value) = value {
                params.insert(name.to_owned(), value.into());
            }
        }
        let filled = self.fill_defaults(&params);
        let chosen = |name: &str| filled.get(name).and_then(Value::as_str).map(str::to_owned);
        let shown = |p: &Property| self.property_visible(p, &filled, &filled);
        let worth = |p: &&Property| {
            !p.kind.is_decoration()
                && p.kind != PropertyKind::Hidden
                && !["resource", "operation"].contains(&p.name.as_str())
        };
        let mut parameters: Vec<RecipeParameter> = Vec::new();
        for property in self.properties.iter().filter(worth) {
            if shown(property) {
                parameters.push(parameter(property, None));
            } else if let Some(when) = self.shown_when(property, &filled) {
                let twin = parameters
                    .iter()
                    .any(|p| p.name == property.name && p.when.is_none());
                if !twin {
                    parameters.push(parameter(property, Some(when)));
                }
            }
        }
        let conditional_twin = |p: &RecipeParameter, all: &[RecipeParameter]| {
            p.when.is_some() && all.iter().any(|q| q.name == p.name && q.when.is_none())
        };
        let kept = parameters.clone();
        parameters.retain(|p| !conditional_twin(p, &kept));
        Recipe {
            node_type: self.node_type.clone(),
            version: self.version,
            label: self.label.clone(),
            resource: chosen("resource"),
            operation: chosen("operation"),
            credentials: self
                .visible_credentials(&params)
                .into_iter()
                .map(|slot| slot.name.clone())
                .collect(),
            parameters,
        }
    }

    /// The one choice that would show the parameter, if it is a single one away.
    fn shown_when(&self, property: &Property, filled: &Map<String, Value>) -> Option<String> {
        let display = property.display.as_ref()?;
        let mut missing = None;
        for (name, conditions) in &display.show {
            let mut alone = display.clone();
            alone.show.retain(|(n, _)| n == name);
            alone.hide.clear();
            if self.displayed(Some(&alone), Some(filled), filled) {
                continue;
            }
            if missing.is_some()
                || name.starts_with(['@', '/'])
                || ["resource", "operation"].contains(&name.as_str())
            {
                return None;
            }
            let asked = self
                .properties
                .iter()
                .any(|p| p.name == *name && self.property_visible(p, filled, filled));
            let values: Vec<String> = conditions
                .iter()
                .filter_map(|c| match c {
                    Condition::Is(value) | Condition::Eq(value) => Some(short(value)),
                    _ => None,
                })
                .take(3)
                .collect();
            if !asked || values.is_empty() {
                return None;
            }
            missing = Some(format!("{name}={}", values.join("|")));
        }
        missing
    }
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

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} v{} ({})", self.node_type, self.version, self.label)?;
        for (name, value) in [("resource", &self.resource), ("operation", &self.operation)] {
            if let Some(value) = value {
                write!(f, " {name}={value}")?;
            }
        }
        writeln!(f)?;
        if !self.credentials.is_empty() {
            writeln!(f, "credentials: {}", self.credentials.join(" | "))?;
        }
        for p in &self.parameters {
            writeln!(f, "- {p}")?;
        }
        Ok(())
    }
}

impl fmt::Display for RecipeParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.required { "*" } else { "" };
        write!(f, "{}{mark} {}", self.name, self.kind)?;
        if !self.options.is_empty() {
            let list: Vec<String> = self.options.iter().map(short).collect();
            write!(f, " {}", list.join("|"))?;
            if self.more_options > 0 {
                write!(f, "|+{}", self.more_options)?;
            }
        }
        if !self.modes.is_empty() {
            write!(f, " mode {}", self.modes.join("|"))?;
        }
        if !self.parts.is_empty() {
            write!(f, " {{{}", self.parts.join(", "))?;
            if self.more_parts > 0 {
                write!(f, ", +{}", self.more_parts)?;
            }
            f.write_str("}")?;
        }
        match &self.default {
            Value::Null => {}
            Value::Object(_) | Value::Array(_) => {
                let text = self.default.to_string();
                if text.len() <= 60 {
                    write!(f, " = {text}")?;
                }
            }
            other => write!(f, " = {}", short(other))?,
        }
        if let Some(when) = &self.when {
            write!(f, " [if {when}]")?;
        }
        Ok(())
    }
}
