//! A finished workflow beside the request that it was made of: its nodes, what stands before and behind each, and the part of the
//! request that each was made of.

use super::super::evidence::Evidence;
use super::frames;
use crate::chart::{Chart, chart};
use crate::clause::{Clause, Intro, clauses};
use crate::compile::{Compiled, Made, reaches_out};
use crate::time::spans;
use agentctl_n8n::catalog::{Catalog, NodeKind};
use agentctl_n8n::{Node, short_type};
use serde_json::{Map, Value};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Nodes that hand on the items as they are.
const HANDS_ON: &[&str] = &[
    "filter",
    "if",
    "switch",
    "limit",
    "sort",
    "noOp",
    "removeDuplicates",
    "wait",
    "splitInBatches",
];

/// Nodes that start a workflow and bring no record.
const BRINGS_NOTHING: &[&str] = &["scheduleTrigger", "manualTrigger"];

pub(in crate::account) struct Finished<'a> {
    built: &'a Compiled,
    request: &'a str,
    pub language: &'a str,
    /// The whole request, read when it is asked for.
    whole: OnceCell<Part>,
    /// Of each clause, by its place, the nodes that were made of it, by their place in the workflow.
    made: OnceCell<HashMap<(usize, usize), Vec<usize>>>,
    /// Of each clause that was looked at, by its place, what those nodes show.
    shown: RefCell<HashMap<(usize, usize), Rc<Evidence>>>,
    /// The places of clauses that stand under a failure.
    pub(super) failures: OnceCell<Vec<Range<usize>>>,
    /// The names of the nodes that items come to where nothing fails.
    pub(super) mainly: OnceCell<Vec<String>>,
}

/// A part of the request, read alone.
pub(in crate::account) struct Part {
    pub chart: Chart,
    pub clauses: Vec<Clause>,
}

impl Part {
    /// The clause that tells of an event.
    pub fn event(&self) -> Option<&Clause> {
        let tells = |c: &&Clause| matches!(c.intro, Intro::When | Intro::If);
        self.clauses.iter().find(tells)
    }
}

impl<'a> Finished<'a> {
    pub fn of(request: &'a str, language: &'a str, built: &'a Compiled) -> Self {
        Finished {
            built,
            request,
            language,
            whole: OnceCell::new(),
            made: OnceCell::new(),
            shown: RefCell::default(),
            failures: OnceCell::new(),
            mainly: OnceCell::new(),
        }
    }

    pub fn nodes(&self) -> impl Iterator<Item = &'a Node> {
        let nodes = self.built.workflow.nodes.iter();
        nodes.filter(|node| !node.disabled() && !node.is_sticky())
    }

    /// The part of the request that a node was made of; of a trigger the clause that tells of an event.
    pub fn said(&self, node: &Node) -> Option<&'a str> {
        let name = node.name();
        let mut made = self.built.made.iter();
        let made = made.find(|m| !m.said.is_empty() && m.nodes.iter().any(|n| n == name));
        let starts = short_type(node.node_type()).ends_with("Trigger");
        match made {
            Some(made) => Some(&made.said),
            None if starts => {
                let whole = self.whole();
                let event = whole.event()?;
                Some(event.said(self.request, &whole.chart)).filter(|said| !said.is_empty())
            }
            None => None,
        }
    }

    /// The words of a clause of the whole request.
    pub fn words_of(&self, clause: &Clause) -> &'a str {
        clause.said(self.request, &self.whole().chart)
    }

    /// The nodes that were made of a clause of the whole request.
    pub fn made_of(&self, clause: &Clause) -> Vec<&'a Node> {
        let all = self.made.get_or_init(|| self.made_by_clause());
        let found = all.get(&(clause.from, clause.to)).into_iter().flatten();
        let nodes = &self.built.workflow.nodes;
        found.filter_map(|at| nodes.get(*at)).collect()
    }

    /// Where the same words stand several times, each step belongs to its own.
    fn made_by_clause(&self) -> HashMap<(usize, usize), Vec<usize>> {
        let whole = self.whole();
        let mut last: HashMap<&str, Range<usize>> = HashMap::new();
        let mut placed: Vec<(Range<usize>, &Made)> = Vec::new();
        let by_name: HashMap<&str, usize> = {
            let nodes = self.built.workflow.nodes.iter().enumerate();
            let nodes = nodes.filter(|(_, node)| !node.disabled());
            nodes.map(|(at, node)| (node.name(), at)).collect()
        };
        for made in self.built.made.iter().filter(|m| !m.said.is_empty()) {
            let before = last.get(made.said.as_str()).cloned();
            let from = before.as_ref().map_or(0, |at| at.end);
            let rest = self.request.get(from..).unwrap_or_default();
            let next = rest.find(&made.said).map(|at| from + at);
            // The last place has all that is left.
            let at = next.map(|at| at..at + made.said.len()).or(before);
            let Some(at) = at else { continue };
            last.insert(&made.said, at.clone());
            placed.push((at, made));
        }
        let of = |clause: &Clause| -> Vec<usize> {
            let end = clause.to.checked_sub(1).filter(|l| *l >= clause.from);
            let Some(end) = end else { return Vec::new() };
            let (from, to) = (whole.chart.item(clause.from).from, whole.chart.item(end).to);
            let near = placed
                .iter()
                .filter(|(at, _)| at.start < to && from < at.end);
            let nodes = near.flat_map(|(_, made)| &made.nodes);
            let nodes = nodes.filter_map(|name| by_name.get(name.as_str()));
            nodes.copied().collect()
        };
        let clauses = whole.clauses.iter();
        clauses.map(|c| ((c.from, c.to), of(c))).collect()
    }

    /// What some of the nodes show of what they do.
    pub fn evidence_of(&self, nodes: &[&Node]) -> Evidence {
        let mut own = self.built.workflow.clone();
        own.nodes
            .retain(|n| nodes.iter().any(|o| o.name() == n.name()));
        Evidence::of(&[&own], self.request, false)
    }

    /// What the nodes that were made of a clause show of what they do.
    pub fn evidence_of_clause(&self, clause: &Clause) -> Rc<Evidence> {
        let mut shown = self.shown.borrow_mut();
        let known = shown.entry((clause.from, clause.to));
        let known = known.or_insert_with(|| Rc::new(self.evidence_of(&self.made_of(clause))));
        Rc::clone(known)
    }

    /// The fields that a node reads by expressions of one field alone, with the node that gave each.
    pub fn fields_read(&self, node: &'a Node) -> Vec<(&'a Node, String)> {
        let mut found = Vec::new();
        for expression in all_texts(node).into_iter().filter(|t| t.starts_with('=')) {
            for (n, part) in expression.split("$('").enumerate() {
                let (named, rest) = match n {
                    0 => (None, part),
                    _ => match part.split_once("')") {
                        Some((name, rest)) => (self.node(name), rest),
                        None => continue,
                    },
                };
                if let Some(source) = named {
                    let own = rest.split("$json").next().unwrap_or_default();
                    let fields = super::hand::fields(own);
                    found.extend(fields.into_iter().take(1).map(|f| (source, f)));
                }
                let of_item = rest
                    .split_once("$json")
                    .map(|(_, rest)| format!("$json{rest}"));
                if let (Some(text), Some(source)) = (of_item, self.source(node)) {
                    let fields = super::hand::fields(&text);
                    found.extend(fields.into_iter().map(|f| (source, f)));
                }
            }
        }
        found
    }

    /// The links between nodes: from which one, by which output, to which one.
    pub fn links(&self) -> impl Iterator<Item = (&'a Node, u32, &'a Node)> {
        let edges = self.built.workflow.edges();
        let main = edges.filter(|(_, kind, ..)| *kind == "main");
        main.filter_map(|(from, _, output, link)| {
            Some((self.node(from)?, output, self.node(&link.node)?))
        })
    }

    /// The nodes that the items of some come to, they themselves left out, by the links that are followed.
    pub fn reached<'n>(
        &self,
        from: impl IntoIterator<Item = &'n Node>,
        follows: impl Fn(&Node, u32) -> bool,
    ) -> Vec<&'a str> {
        let mut open: Vec<String> = from.into_iter().map(|n| n.name().to_owned()).collect();
        let mut seen: Vec<&str> = Vec::new();
        let links: Vec<_> = self.links().collect();
        while let Some(name) = open.pop() {
            for (source, output, target) in &links {
                let next = target.name();
                if source.name() == name && follows(source, *output) && !seen.contains(&next) {
                    seen.push(next);
                    open.push(next.to_owned());
                }
            }
        }
        seen
    }

    /// The nodes whose items come to one, on any way.
    pub fn ancestors(&self, node: &'a Node) -> Vec<&'a Node> {
        let mut open = vec![node];
        let mut seen: Vec<&Node> = Vec::new();
        while let Some(next) = open.pop() {
            for before in self.before(next) {
                if !seen.iter().any(|n| n.name() == before.name()) {
                    seen.push(before);
                    open.push(before);
                }
            }
        }
        seen
    }

    /// That part, read alone.
    pub fn part(&self, node: &Node) -> Option<Part> {
        self.said(node).map(|said| self.read(said))
    }

    /// The whole request.
    pub fn whole(&self) -> &Part {
        self.whole.get_or_init(|| self.read(self.request))
    }

    fn read(&self, text: &str) -> Part {
        let chart = chart(text, self.language);
        let clauses = clauses(&chart, &spans(text, self.language));
        Part { chart, clauses }
    }

    fn node(&self, name: &str) -> Option<&'a Node> {
        self.built.workflow.node_by_name(name)
    }

    /// The nodes whose items arrive.
    pub fn before(&self, node: &'a Node) -> impl Iterator<Item = &'a Node> {
        let edges = self.built.workflow.edges();
        let arriving =
            edges.filter(|(_, kind, _, link)| *kind == "main" && link.node == node.name());
        arriving.filter_map(|(from, ..)| self.node(from))
    }

    /// The nodes that get its items.
    pub fn behind(&self, node: &'a Node) -> impl Iterator<Item = &'a Node> {
        let edges = self.built.workflow.edges();
        let leaving = edges.filter(|(from, kind, ..)| *kind == "main" && *from == node.name());
        leaving.filter_map(|(_, _, _, link)| self.node(&link.node))
    }

    /// The node that gave the items that arrive, past those that only hand them on.
    pub fn source(&self, node: &'a Node) -> Option<&'a Node> {
        let mut at = self.before(node).next()?;
        for _ in 0..self.built.workflow.nodes.len() {
            if !HANDS_ON.contains(&short_type(at.node_type())) {
                return Some(at);
            }
            at = self.before(at).next()?;
        }
        None
    }

    /// The nodes that get its items as they are, past those that only hand them on; of what `keeps` them in what it makes, also what is
    /// behind.
    pub fn readers(&self, node: &'a Node, keeps: &[&str]) -> Vec<&'a Node> {
        let mut open: Vec<&Node> = self.behind(node).collect();
        let mut seen: Vec<&Node> = Vec::new();
        while let Some(next) = open.pop() {
            if seen.iter().any(|n| n.name() == next.name()) {
                continue;
            }
            seen.push(next);
            let short = short_type(next.node_type());
            if HANDS_ON.contains(&short) || keeps.contains(&short) {
                open.extend(self.behind(next));
            }
        }
        seen
    }

    /// Whether a node starts the workflow without a record.
    pub fn brings_nothing(&self, node: &Node) -> bool {
        BRINGS_NOTHING.contains(&short_type(node.node_type()))
    }
}

pub(super) fn parameters(node: &Node) -> &Map<String, Value> {
    static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    node.parameters().unwrap_or(&NONE)
}

pub(super) fn values(node: &Node) -> impl Iterator<Item = &Value> {
    parameters(node).values()
}

/// A parameter of the node itself that is a text.
pub(super) fn text<'n>(node: &'n Node, name: &str) -> &'n str {
    let value = parameters(node).get(name);
    value.and_then(Value::as_str).unwrap_or_default()
}

/// How a node fills its columns, whatever the parameter is called.
pub(super) fn mapping(node: &Node) -> &str {
    let columns = parameters(node).get("columns");
    let mode = columns.and_then(|c| c.get("mappingMode")?.as_str());
    mode.unwrap_or_else(|| text(node, "dataMode"))
}

/// All texts that a value holds.
pub(super) fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(map) => map.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// All texts of a node's parameters.
pub(crate) fn all_texts(node: &Node) -> Vec<&str> {
    values(node).flat_map(texts).collect()
}

/// Nodes that take items out of what flows, and nothing out of anything that is kept.
const TAKES_ITEMS_OUT: &[&str] = &["removeDuplicates", "itemLists"];

pub(super) fn destroys(node: &Node) -> bool {
    let in_flow = TAKES_ITEMS_OUT.contains(&short_type(node.node_type()));
    !in_flow && frames::destroys(text(node, "operation"))
}

/// How the operations begin that read several records.
pub(super) const READS: &[&str] = &[
    "getall", "getmany", "search", "select", "read", "list", "find",
];

/// Whether a node only reads.
pub(super) fn reads(node: &Node) -> bool {
    let operation = text(node, "operation").to_lowercase();
    let one = operation == "get" || operation == "download";
    one || READS.iter().any(|word| operation.starts_with(word))
        || short_type(node.node_type()) == "rssFeedRead"
}

/// Whether a node does something outside of the workflow: it starts nothing, and works with more than the items that come.
pub(super) fn is_outside(node: &Node) -> bool {
    let node_type = node.node_type();
    let known = Catalog::embedded().lookup(node_type, node.type_version());
    let acts = known.known().is_some_and(|k| k.kind == NodeKind::Action);
    acts && !node_type.contains("langchain") && reaches_out(node_type)
}
