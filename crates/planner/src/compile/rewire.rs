//! What an inserted step may not break, and rewirings of what is there: nodes behind it go on reading what they read before;
//! a stretch of the flow becomes the body of a loop; a condition gets one more part.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::super::plan::{Cond, Does, Step};
use super::draft::{At, End};
use super::existing::{Patch, passes};
use super::place::object;
use super::service::short_of;
use super::words::js_string;
use agentctl_n8n::Node;

/// Types that only make data ready.
fn prepares(short: &str) -> bool {
    passes(short)
        || matches!(
            short,
            "set"
                | "aggregate"
                | "summarize"
                | "splitOut"
                | "code"
                | "dateTime"
                | "crypto"
                | "html"
                | "markdown"
                | "xml"
                | "itemLists"
                | "renameKeys"
                | "extractFromFile"
                | "convertToFile"
                | "stickyNote"
        )
}

/// A node that starts the workflow.
pub(crate) fn trigger(node: &Node) -> bool {
    let node_type = node.node_type();
    node_type.ends_with("Trigger")
        || node_type.ends_with(".webhook")
        || node_type.ends_with(".start")
}

/// A node that fetches something and changes nothing outside.
pub(crate) fn reads(node: &Node) -> bool {
    if trigger(node) || prepares(short_of(node.node_type())) {
        return false;
    }
    let text = |key: &str| {
        node.parameters()
            .and_then(|p| p.get(key))
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_lowercase()
    };
    if short_of(node.node_type()) == "httpRequest" {
        return matches!(text("method").as_str(), "" | "get" | "head");
    }
    if short_of(node.node_type()) == "rssFeedRead" {
        return true;
    }
    let operation = text("operation");
    let query = text("query");
    [
        "get",
        "read",
        "search",
        "select",
        "list",
        "find",
        "download",
        "count",
        "aggregate",
    ]
    .iter()
    .any(|p| operation.starts_with(p))
        || operation == "executequery"
            && query
                .trim_start_matches(['=', ' ', '\n'])
                .starts_with("select")
}

/// A node that does something outside: sends, writes, calls.
pub(crate) fn acts(node: &Node) -> bool {
    let short = short_of(node.node_type());
    node.node_type().starts_with("n8n-nodes-base.")
        && !trigger(node)
        && !prepares(short)
        && !reads(node)
        && !matches!(short, "noOp" | "stopAndError" | "executeWorkflow")
}

impl Patch<'_> {
    pub(super) fn names(&self) -> HashSet<String> {
        let nodes = &self.draft.workflow.nodes;
        nodes.iter().map(|n| n.name().to_owned()).collect()
    }

    /// The nodes that lead straight to a node.
    pub(crate) fn leads_to(&self, name: &str) -> Vec<String> {
        self.sources(name)
            .into_iter()
            .map(|(from, _, _)| from)
            .collect()
    }

    /// Some node that was not known puts data of its own in the place of what came in.
    pub(super) fn gives_own_data(&self, known: &HashSet<String>) -> bool {
        let linked = |name: &str| !self.targets(name).is_empty() || !self.sources(name).is_empty();
        self.draft.workflow.nodes.iter().any(|n| {
            !known.contains(n.name()) && !passes(short_of(n.node_type())) && linked(n.name())
        })
    }

    /// Lets the expressions of a node read by name what they read as `$json` so far.
    pub(super) fn pin(&mut self, name: &str, source: &str) {
        let by_name = format!("$({}).item.json", js_string(source));
        let Some(node) = self.draft.workflow.node_by_name_mut(name) else {
            return;
        };
        node.edit_parameters(|params| {
            for value in params.values_mut() {
                rename_json(value, &by_name);
            }
        });
    }

    /// A node that gives out again what an earlier one gave, for a node that must not change.
    pub(super) fn as_before(&mut self, end: &At, source: &str) -> At {
        let item = format!("$({}).item.json", js_string(source));
        let node = self.draft.give(end, "Data as before", &item);
        end.from(&node, 0)
    }

    /// Puts the flow from `first` to its end into a loop over batches, with a pause at the end of each.
    /// False when the stretch branches: then it is not clear what one round is.
    pub(crate) fn batch(&mut self, first: &str, size: u32, pause_seconds: Option<u64>) -> bool {
        let mut last = first.to_owned();
        let mut seen = HashSet::from([last.clone()]);
        loop {
            match self.targets(&last).as_slice() {
                [] => break,
                [(0, next, 0)] if seen.insert(next.clone()) => last = next.clone(),
                _ => return false,
            }
        }
        let sources = self.sources(first);
        let Some((from, output, _)) = sources.first().cloned() else {
            return false;
        };
        let mut at = self.place(&from, output);
        at.ends.clear();
        for (from, output, input) in &sources {
            self.cut(from, *output, first, *input);
            at.ends.push(End {
                node: from.clone(),
                output: *output,
            });
        }
        let params = object(&[("batchSize", json!(size)), ("options", json!({}))]);
        let round = self.draft.node(
            &at,
            "Loop over batches",
            "n8n-nodes-base.splitInBatches",
            params,
        );
        self.draft.workflow.connect(&round, "main", 1, first, 0);
        let mut back = self.place(&last, 0);
        if let Some(seconds) = pause_seconds {
            let wait = Step {
                id: "pause".to_owned(),
                said: String::new(),
                does: Does::Wait { seconds },
                name: None,
            };
            back = self.draft.steps(&[wait], back);
        }
        self.draft.link(&back, &round, 0);
        true
    }

    /// The If behind a question to a person: output 0 is yes, output 1 is no.
    pub(crate) fn approval_check(&self) -> Option<String> {
        let nodes = &self.draft.workflow.nodes;
        let mut checks = nodes.iter().filter(|n| {
            let params = n.parameters().map(|p| Value::Object(p.clone()).to_string());
            short_of(n.node_type()) == "if" && params.is_some_and(|p| p.contains("approved"))
        });
        let one = checks.next()?.name().to_owned();
        checks.next().is_none().then_some(one)
    }

    /// One more part of a condition: what passed so far must meet this one too.
    pub(crate) fn require(&mut self, name: &str, cond: &Cond) -> bool {
        let sources = self.sources(name);
        let (Some((from, output, _)), Some(node)) = (
            sources.first().cloned(),
            self.draft.workflow.node_by_name(name).cloned(),
        ) else {
            return false;
        };
        let at = self.place(&from, output);
        let params = self.draft.condition_params(&at, node.node_type(), cond);
        let part = |params: &Map<String, Value>, key: &str| {
            params.get("conditions").and_then(|c| c.get(key)).cloned()
        };
        let (Some(Value::Array(more)), Some(Value::Array(have))) = (
            part(&params, "conditions"),
            node.parameters().and_then(|p| part(p, "conditions")),
        ) else {
            return false;
        };
        let all = |params: &Map<String, Value>, list: &[Value]| {
            list.len() < 2 || part(params, "combinator") == Some(json!("and"))
        };
        if !all(&params, &more) || !node.parameters().is_some_and(|p| all(p, &have)) {
            return false;
        }
        let Some(node) = self.draft.workflow.node_by_name_mut(name) else {
            return false;
        };
        node.edit_parameters(|params| {
            let Some(conditions) = params.get_mut("conditions").and_then(Value::as_object_mut)
            else {
                return false;
            };
            conditions.insert("combinator".into(), json!("and"));
            let list = have.into_iter().chain(more).collect();
            conditions.insert("conditions".into(), Value::Array(list));
            true
        })
    }
}

/// `$json` in expressions, as a word of its own.
fn rename_json(value: &mut Value, by_name: &str) {
    match value {
        Value::String(text) if text.starts_with('=') => {
            let mut out = String::with_capacity(text.len());
            let mut rest = text.as_str();
            while let Some(at) = rest.find("$json") {
                let (before, from) = rest.split_at(at);
                let after = from.get("$json".len()..).unwrap_or_default();
                out.push_str(before);
                let word = after.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
                    || before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
                out.push_str(if word { "$json" } else { by_name });
                rest = after;
            }
            out.push_str(rest);
            *text = out;
        }
        Value::Array(list) => list.iter_mut().for_each(|v| rename_json(v, by_name)),
        Value::Object(map) => map.values_mut().for_each(|v| rename_json(v, by_name)),
        _ => {}
    }
}
