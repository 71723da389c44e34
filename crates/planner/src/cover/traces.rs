//! What a workflow holds, folded so that a thing said in a request is found in whatever form it took there.

use super::figures::Figure;
use crate::lexicon::{ServiceEntry, rx};
use crate::read::text::{Entity, Kind};
use agentctl_n8n::Workflow;
use serde_json::Value;

/// All texts of the workflow's nodes.
pub(super) struct Traces {
    /// Addresses that triggers listen on: they hold paths, not names.
    paths: String,
    /// Lower case, as it stands.
    plain: String,
    /// Letters and digits only.
    bare: String,
    numbers: Vec<f64>,
    /// The nodes' types, without their package, lower case.
    types: Vec<String>,
    /// A trigger that keeps a rhythm.
    rhythm: bool,
}

impl Traces {
    pub(super) fn of(workflows: &[&Workflow]) -> Self {
        let mut plain = String::new();
        let mut types = Vec::new();
        let mut paths = String::new();
        for workflow in workflows {
            for node in workflow.nodes.iter().filter(|n| !n.is_sticky()) {
                let kind = node.node_type().to_lowercase();
                let mut value = serde_json::to_value(node).unwrap_or_default();
                if let Value::Object(map) = &mut value {
                    for key in ["id", "position", "typeVersion"] {
                        map.remove(key);
                    }
                    // A node's name repeats the request; only where the node has no type of its own does it say what it is for.
                    if !stands_in(&kind) {
                        map.remove("name");
                    }
                }
                if (kind.ends_with("webhook") || kind.ends_with("trigger"))
                    && let Some(path) = value
                        .pointer_mut("/parameters")
                        .and_then(Value::as_object_mut)
                        .and_then(|p| p.remove("path"))
                {
                    collect(&path, &mut paths);
                }
                collect(&value, &mut plain);
                types.push(kind.rsplit('.').next().unwrap_or_default().to_owned());
            }
            if let Some(settings) = workflow.head.get("settings") {
                collect(settings, &mut plain);
            }
        }
        let plain = plain.to_lowercase();
        let numbers = rx(r"\d+(?:\.\d+)?")
            .find_iter(&plain)
            .filter_map(|n| n.as_str().parse().ok())
            .collect();
        Traces {
            bare: bare(&plain),
            paths: bare(&paths.to_lowercase()),
            numbers,
            rhythm: types
                .iter()
                .any(|t| t.ends_with("trigger") && t != "manualtrigger"),
            types,
            plain,
        }
    }

    pub(super) fn holds(&self, e: &Entity) -> bool {
        match e.kind {
            Kind::Service => e.service.is_none_or(|s| self.serves(s, &e.value)),
            Kind::Path | Kind::Url if self.paths.contains(&bare(&e.value.to_lowercase())) => true,
            Kind::Phone | Kind::Number => {
                let digits: String = e.value.chars().filter(char::is_ascii_digit).collect();
                self.bare.contains(&digits)
            }
            Kind::Url => e.value.split('?').next().is_none_or(|u| {
                let u = rx(r"^https?://(?:www\.)?").replace(u, "").into_owned();
                self.pieces(&u)
            }),
            Kind::Dotted => {
                self.pieces(&e.value)
                    || e.value
                        .rsplit('.')
                        .next()
                        .is_some_and(|last| self.pieces(last))
            }
            Kind::File => {
                let stem = e.value.rsplit_once('.').map_or(e.value.as_str(), |p| p.0);
                self.pieces(stem)
            }
            _ => self.pieces(&e.value),
        }
    }

    /// Every literal piece of a text with holes stands somewhere; of a long text, most of its words.
    fn pieces(&self, said: &str) -> bool {
        let said = said.to_lowercase();
        let fixed =
            rx(r"\{\{.*?\}\}|\{[^{}]*\}|<[^<>]*>|\*|\byyyy\S*|\$\w+").replace_all(&said, "\u{0}");
        let parts: Vec<&str> = fixed.split('\u{0}').collect();
        if parts
            .iter()
            .all(|p| bare(p).is_empty() || self.bare.contains(&bare(p)))
        {
            return true;
        }
        let words: Vec<String> = fixed
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| w.chars().count() > 2)
            .map(stem)
            .collect();
        let there = words
            .iter()
            .filter(|w| self.plain.contains(w.as_str()))
            .count();
        words.len() > 2 && there * 10 >= words.len() * 7 || words.len() == 1 && there == 1
    }

    /// A node of the service, or a stand-in that speaks of it.
    fn serves(&self, service: &ServiceEntry, said: &str) -> bool {
        let typed = service
            .actions
            .iter()
            .chain(&service.triggers)
            .filter_map(|t| t.rsplit('.').next())
            .any(|t| {
                let root = root(&t.to_lowercase());
                self.types.iter().any(|have| root_matches(have, &root))
            });
        let key = bare(&service.key.to_lowercase());
        typed
            || self.types.iter().any(|t| key.len() > 3 && t.contains(&key))
            || self.bare.contains(&bare(&said.to_lowercase()))
            || self.bare.contains(&bare(&service.label.to_lowercase()))
    }

    pub(super) fn counts(&self, figure: &Figure) -> bool {
        figure
            .forms
            .iter()
            .any(|f| self.numbers.iter().any(|n| (n - f).abs() < 0.001))
            || figure.time && self.rhythm && self.types.iter().any(|t| t.contains("schedule"))
    }
}

/// Node types that do what other services' nodes would.
fn stands_in(kind: &str) -> bool {
    [
        "httprequest",
        ".code",
        "toolhttp",
        "toolworkflow",
        "executeworkflow",
    ]
    .iter()
    .any(|k| kind.contains(k))
}

fn root(kind: &str) -> String {
    kind.trim_end_matches("trigger")
        .trim_end_matches("tool")
        .trim_start_matches("lmchat")
        .trim_start_matches("vectorstore")
        .trim_start_matches("memory")
        .trim_start_matches("embeddings")
        .to_owned()
}

/// `gmail` is there as `gmailTrigger` or `gmailTool`, `openAi` as `lmChatOpenAi`.
fn root_matches(have: &str, root: &str) -> bool {
    !root.is_empty() && (self::root(have) == *root || root.len() > 3 && have.contains(root))
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Without the ending that number and case change.
fn stem(word: &str) -> String {
    let cut = word.trim_end_matches(['s', 'e', 'n']);
    if cut.chars().count() > 2 { cut } else { word }.to_owned()
}

/// Every text and number of a value; keys too (columns are keys).
fn collect(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                out.push_str(key);
                out.push('\n');
                collect(inner, out);
            }
        }
        Value::Array(list) => list.iter().for_each(|v| collect(v, out)),
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        other => {
            out.push_str(&other.to_string());
            out.push('\n');
        }
    }
}
