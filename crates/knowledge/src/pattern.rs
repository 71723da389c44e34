//! Patterns: the entries of PATTERNS.md, shapes of workflows that have proved themselves. One that says what it fits (`match`)
//! is a plan: its nodes, their order and settings are offered to whoever plans a new workflow. A pattern is data that people
//! write; it grants nothing, and what of it is used is judged like any other draft.

use super::IndexLine;
use super::entry::{Fault, Section, fields, sections_of};
use super::index::short;
use super::quote::one_line;
use super::quote::{addresses_agent, quoted};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What the ids begin with.
pub const MARK: &str = "P-";
/// The fields in the order in which they are written.
pub const PATTERN_FIELDS: [&str; 9] = [
    "when",
    "shape",
    "match",
    "nodes",
    "settings",
    "plan",
    "watch",
    "learnings",
    "status",
];
/// Longer values are no plan any more.
const MAX_NODES: usize = 30;
const MAX_SETTINGS: usize = 8_000;
const MAX_PLAN: usize = 2_000;

/// One pattern, as far as it can be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pattern {
    /// `P-001`
    pub id: String,
    pub title: String,
    pub when: String,
    /// What a request must have for the pattern to be its plan; empty: it is only there to be read.
    pub needs: Vec<Need>,
    /// Nodes in order, by the short names of their types.
    pub nodes: Vec<String>,
    /// By the short name of a node type, or `workflow`: parameters and node settings.
    pub settings: Map<String, Value>,
    /// The workflow in plain words, for requests that name no steps of their own.
    pub plan: Option<String>,
    pub retired: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// A node of this type, by its short name in lower case.
    Node(String),
    /// A word of the request, or the beginning of one.
    Word(String),
}

impl Pattern {
    /// The pattern of a section, and what is wrong with its form.
    pub fn read(section: &Section<'_>) -> (Pattern, Vec<Fault>) {
        let mut faults = Vec::new();
        let mut fault = |below: usize, message: String| {
            faults.push(Fault {
                line: section.line + below,
                id: Some(section.id.to_owned()),
                message,
            });
        };
        let mut pattern = Pattern {
            id: section.id.to_owned(),
            title: one_line(section.title),
            ..Pattern::default()
        };
        if pattern.title.is_empty() {
            fault(0, "the pattern has no title".to_owned());
        }
        for (below, name, value) in whole_fields(section.body) {
            if let Err(message) = pattern.set(&name.to_lowercase(), &value) {
                fault(below, message);
            }
        }
        if pattern.needs.is_empty()
            && (!pattern.nodes.is_empty() || !pattern.settings.is_empty() || pattern.plan.is_some())
        {
            fault(
                0,
                "it has nodes, settings or a plan, and no `match` that says for which requests"
                    .to_owned(),
            );
        }
        (pattern, faults)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let value = if value == "-" { "" } else { value };
        match name {
            "when" => self.when = one_line(value),
            "match" => {
                for part in value.split([',', '\n']).map(str::trim) {
                    let lower = part.to_lowercase();
                    self.needs.extend(match lower.strip_prefix("word:") {
                        _ if lower.is_empty() => None,
                        Some(word) => Some(Need::Word(word.trim().to_owned())),
                        None => Some(Need::Node(short(&lower).to_owned())),
                    });
                }
                self.needs.retain(|need| {
                    let (Need::Node(name) | Need::Word(name)) = need;
                    !name.is_empty()
                });
            }
            "nodes" => {
                let names = value.replace("->", "→");
                let names = names.split(['→', ',', '\n']).map(str::trim);
                self.nodes = names
                    .filter(|name| !name.is_empty())
                    .map(|name| short(name).to_owned())
                    .collect();
                if self.nodes.len() > MAX_NODES {
                    self.nodes.clear();
                    return Err(format!("more than {MAX_NODES} nodes are no pattern"));
                }
                let odd = self
                    .nodes
                    .iter()
                    .find(|name| !name.chars().all(|c| c.is_ascii_alphanumeric()));
                if let Some(odd) = odd {
                    let message = format!(
                        "{odd:?} is no node type; write names as in n8n-nodes-base.slack: slack"
                    );
                    self.nodes.clear();
                    return Err(message);
                }
            }
            "settings" if value.is_empty() => {}
            "settings" if value.len() > MAX_SETTINGS => {
                return Err(format!("the settings have more than {MAX_SETTINGS} bytes"));
            }
            "settings" if addresses_agent(value) => {
                return Err("the settings address an agent".to_owned());
            }
            "settings" => match serde_json::from_str::<Map<String, Value>>(value) {
                Ok(map) if map.values().all(Value::is_object) => {
                    self.settings = map
                        .into_iter()
                        .map(|(name, of)| (short(&name).to_owned(), of))
                        .collect();
                }
                Ok(_) => {
                    return Err("each of the settings is an object: {\"slack\": {…}}".to_owned());
                }
                Err(error) => return Err(format!("the settings are no JSON object: {error}")),
            },
            "plan" if value.is_empty() => {}
            "plan" if value.len() > MAX_PLAN => {
                return Err(format!("the plan has more than {MAX_PLAN} bytes"));
            }
            "plan" if addresses_agent(value) => {
                return Err("the plan addresses an agent: say what the workflow does".to_owned());
            }
            "plan" => self.plan = Some(one_line(value)),
            "status" => self.retired = value.to_lowercase().starts_with("retired"),
            // For people; links are checked with those of the entries.
            "shape" | "watch" | "learnings" => {}
            other => {
                return Err(format!(
                    "there is no field `{other}`; the fields are {}",
                    PATTERN_FIELDS.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// It can be a plan at all.
    pub fn is_plan(&self) -> bool {
        !self.retired && !self.needs.is_empty()
    }

    /// How much of a request it asks for; None when something of it is missing there. A request that names the id wants it.
    fn fits(&self, words: &BTreeSet<String>, node_types: &BTreeSet<String>) -> Option<usize> {
        if !self.is_plan() {
            return None;
        }
        if words.contains(&self.id.to_lowercase()) {
            return Some(usize::MAX);
        }
        let has = |need: &Need| match need {
            Need::Node(name) => node_types.contains(name),
            Need::Word(word) => {
                let begins = word.chars().count() >= 4;
                words
                    .iter()
                    .any(|w| w == word || (begins && w.starts_with(word.as_str())))
            }
        };
        self.needs.iter().all(has).then_some(self.needs.len())
    }

    /// For the model that plans: the parts that it can use, and the text with what addresses an agent as a quote.
    pub fn shown(&self) -> Value {
        json!({
            "id": self.id,
            "title": quoted(&self.title),
            "when": quoted(&self.when),
            "nodes": self.nodes,
            "settings": self.settings,
            "plan": self.plan,
        })
    }

    pub fn line(&self) -> IndexLine {
        let needs: Vec<String> = self
            .needs
            .iter()
            .map(|need| match need {
                Need::Node(name) => name.clone(),
                Need::Word(word) => format!("word:{word}"),
            })
            .collect();
        IndexLine {
            id: self.id.clone(),
            text: format!("{} · {}", quoted(&self.title), needs.join(", ")),
        }
    }
}

/// Every pattern of the text, and what is wrong with the form of some.
pub fn patterns(text: &str) -> (Vec<Pattern>, Vec<Fault>) {
    let mut all = Vec::new();
    let mut faults = Vec::new();
    for section in sections_of(text, MARK) {
        let (pattern, wrong) = Pattern::read(&section);
        all.push(pattern);
        faults.extend(wrong);
    }
    (all, faults)
}

/// The plans that fit a request, those that ask for most first; equal ones in the order of the file.
pub fn plans_for<'p>(
    patterns: &'p [Pattern],
    request: &str,
    node_types: &[String],
    limit: usize,
) -> Vec<&'p Pattern> {
    let words: BTreeSet<String> = request
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .flat_map(|word| word.split('-').chain([word]))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let types = node_types.iter().map(|t| short(t).to_lowercase()).collect();
    let mut fitting: Vec<(usize, &Pattern)> = patterns
        .iter()
        .filter_map(|p| Some((p.fits(&words, &types)?, p)))
        .collect();
    fitting.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    fitting.into_iter().take(limit).map(|(_, p)| p).collect()
}

/// The fields of a pattern with their further lines, which are indented.
fn whole_fields(body: &str) -> Vec<(usize, String, String)> {
    let starts: Vec<(usize, &str, &str)> = fields(body).collect();
    let lines: Vec<&str> = body.lines().collect();
    let ends = starts
        .iter()
        .skip(1)
        .map(|(line, ..)| *line)
        .chain([lines.len() + 1]);
    starts
        .iter()
        .zip(ends)
        .map(|((line, name, value), end)| {
            let more = lines.get(*line..end.saturating_sub(1)).unwrap_or_default();
            let mut whole = (*value).to_owned();
            for next in more.iter().filter(|l| l.starts_with("  ")) {
                whole.push('\n');
                whole.push_str(next.trim());
            }
            (*line, (*name).to_owned(), whole.trim().to_owned())
        })
        .collect()
}
