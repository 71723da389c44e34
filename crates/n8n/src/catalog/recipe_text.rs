//! Recipes as text for an agent's context: as much as fits into its budget; and one parameter in full.

use super::description::NodeDescription;
use super::property::{Property, PropertyGroup};
use super::recipe::{
    MAX_CHOICES, MAX_PARTS, Recipe, RecipeCredential, RecipeParameter, parameter, short,
};
use super::recipe_shapes::{shape, shown_if};
use serde_json::{Map, Value};
use std::fmt;

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
        let has_account = !self.credentials.is_empty();
        let lines: Vec<String> = found.iter().flat_map(|p| in_full(p, has_account)).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// With all its own choices; of a part the first ones, since the part may be asked for in full.
fn in_full(p: &Property, has_account: bool) -> Vec<String> {
    let all = Detail::new(ALL_CHOICES, ALL_CHOICES, true);
    let told = |p: &Property, most: usize, when: Option<String>| {
        let mut told = parameter(p, when);
        let choices = p.options.iter().take(most);
        told.options = choices.map(|o| o.value.clone()).collect();
        told.more_options = p.options.len().saturating_sub(most);
        told.of_account &= has_account;
        told
    };
    let mut lines = vec![
        RecipeParameter {
            parts: Vec::new(),
            more_parts: 0,
            ..told(p, ALL_CHOICES, None)
        }
        .text(all),
    ];
    lines.extend(shape(&p.kind).into_iter().map(|line| format!("- {line}")));
    let list = if p.is_list() { "[]" } else { "" };
    for group in &p.groups {
        let prefix = match group.name.as_str() {
            "" => String::new(),
            name => format!("{name}{list}."),
        };
        let worth = group.values.iter().filter(|v| !v.kind.is_decoration());
        lines.extend(worth.map(|part| {
            let told = told(part, MAX_CHOICES, shown_if(part.display.as_ref()));
            format!("- {prefix}{}", told.text(all))
        }));
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
        for (side, ports) in [("inputs", &self.inputs), ("outputs", &self.outputs)] {
            if !ports.is_empty() {
                out.push_str(&format!("{side}: {}\n", ports.join(", ")));
            }
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
        if self.of_account {
            out.push_str(" from the account");
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
