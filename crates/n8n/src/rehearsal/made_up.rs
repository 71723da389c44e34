//! What of a run rests on items that the test itself made up in the place of a simulated node's. It says nothing about the workflow:
//! what was seen there may be other than expected because the item is. Found by which nodes hand items on and whose items they read;
//! a node that works on whole items reads all of what comes in.

use super::reads::{each_text, passes};
use super::{NodePart, Part, Trace};
use crate::edit::references::named_by;
use crate::workflow::short_type;
use crate::{Node, Workflow};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Nodes that decide where the items go, or how many go on.
const DECIDES: &[&str] = &[
    "compareDatasets",
    "filter",
    "if",
    "limit",
    "removeDuplicates",
    "splitInBatches",
    "splitOut",
    "switch",
];
/// Of these nodes expressions alone say what they do with an item.
const BY_EXPRESSIONS: &[&str] = &[
    "filter",
    "if",
    "respondToWebhook",
    "set",
    "stopAndError",
    "switch",
];
/// How an expression reads the item that comes in.
const INPUT: &[&str] = &["$json", "$input", "$binary", "$data", "$node", "$items"];

/// By a node's name the simulated one that this is of.
type Of = BTreeMap<String, String>;

#[derive(Debug, Default)]
pub(super) struct MadeUp {
    /// What it reads.
    read: Of,
    /// Whether the run comes to it.
    way: Of,
    /// What comes out of it.
    items: Of,
    /// How many come out of it.
    count: Of,
    /// How many come to it.
    calls: Of,
}

impl MadeUp {
    pub fn of(workflow: &Workflow, parts: &[NodePart], trace: &Trace) -> MadeUp {
        let parts: BTreeMap<&str, &Part> = parts
            .iter()
            .map(|part| (part.node.as_str(), &part.part))
            .collect();
        let mut made = MadeUp::default();
        for (name, part) in &parts {
            let is_made =
                matches!(part, Part::Simulated { hands_on: Some(item), .. } if item.is_object());
            if is_made && trace.ran(name) {
                for of in [&mut made.items, &mut made.count] {
                    of.insert((*name).to_owned(), (*name).to_owned());
                }
            }
        }
        if made.items.is_empty() {
            return made;
        }
        let steps = steps(workflow, &parts);
        let mut open: VecDeque<&str> = workflow.nodes.iter().map(Node::name).collect();
        let mut waits: BTreeSet<&str> = open.iter().copied().collect();
        while let Some(name) = open.pop_front() {
            waits.remove(name);
            let Some(step) = steps.get(name) else {
                continue;
            };
            // What is found of a node stays, so it is looked at again a handful of times for each node that it hangs on.
            if made.carry(name, step, &steps) {
                open.extend(
                    step.after
                        .iter()
                        .copied()
                        .filter(|next| waits.insert(*next)),
                );
            }
        }
        made
    }

    /// Whether anything was found of the node that was not known.
    fn carry(&mut self, name: &str, step: &Step<'_>, steps: &BTreeMap<&str, Step<'_>>) -> bool {
        let any = |of: &Of| step.before.iter().find_map(|from| of.get(*from)).cloned();
        let coming = any(&self.items);
        let named = step
            .names
            .iter()
            .find_map(|other| self.items.get(other))
            .cloned();
        let input = coming.clone().filter(|_| step.reads_input);
        let read = named.or(input);
        let decides = |from: &&&str| steps.get(**from).is_some_and(|before| before.decides);
        let decided = step.before.iter().filter(decides);
        let decided = decided
            .filter_map(|from| self.read.get(*from))
            .next()
            .cloned();
        let way = decided.or_else(|| any(&self.way));
        let count = any(&self.count).or_else(|| way.clone());
        let items = match step.passes {
            true => coming.or_else(|| read.clone()),
            false => read.clone(),
        };
        let mut found = note(&mut self.read, name, read) | note(&mut self.way, name, way);
        found |= note(&mut self.calls, name, count.clone());
        // What the test was given for a node is what it is.
        if !step.is_given {
            found |= note(&mut self.items, name, items) | note(&mut self.count, name, count);
        }
        found
    }

    /// The simulated node that what the node does with its items rests on: what it sends, and what goes wrong in it.
    pub fn work(&self, node: &str) -> Option<&str> {
        self.read.get(node).map(String::as_str)
    }

    /// The same of whether it is come to.
    pub fn way(&self, node: &str) -> Option<&str> {
        self.way.get(node).map(String::as_str)
    }

    /// The same of the items that it hands on.
    pub fn items(&self, node: &str) -> Option<&str> {
        let items = self.items.get(node).map(String::as_str);
        items.or_else(|| self.way(node))
    }

    /// The same of how many there are of them.
    pub fn count(&self, node: &str) -> Option<&str> {
        self.count.get(node).map(String::as_str)
    }

    /// The same of how often it is called.
    pub fn calls(&self, node: &str) -> Option<&str> {
        self.calls.get(node).map(String::as_str)
    }

    /// The same of what the one who called the workflow was answered.
    pub fn answer(&self, workflow: &Workflow, trace: &Trace) -> Option<&str> {
        let responds = |node: &&Node| short_type(node.node_type()) == "respondToWebhook";
        let answering: Vec<&Node> = workflow.nodes.iter().filter(responds).collect();
        if answering.is_empty() {
            return self.items(trace.last_node.as_deref()?);
        }
        let mut ran = answering.iter().filter(|node| trace.ran(node.name()));
        let rests = |node: &&Node| self.work(node.name()).or_else(|| self.way(node.name()));
        match ran.clone().next() {
            Some(_) => ran.find_map(rests),
            // That none of them ran may be due to the way that a made-up item took.
            None => answering.iter().find_map(|node| self.way(node.name())),
        }
    }
}

/// What of a node decides what it carries on.
struct Step<'w> {
    before: Vec<&'w str>,
    /// Those that come next, and those that name it.
    after: Vec<&'w str>,
    names: BTreeSet<String>,
    reads_input: bool,
    decides: bool,
    passes: bool,
    is_given: bool,
}

fn steps<'w>(workflow: &'w Workflow, parts: &BTreeMap<&str, &Part>) -> BTreeMap<&'w str, Step<'w>> {
    let mut steps = BTreeMap::new();
    let mut after: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut before: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in handed_on(workflow) {
        before.entry(to).or_default().push(from);
        after.entry(from).or_default().push(to);
    }
    for node in &workflow.nodes {
        let part = parts.get(node.name()).copied();
        let is_given = matches!(part, Some(Part::Simulated { hands_on, .. }) if hands_on.is_some());
        let step = Step {
            before: before.get(node.name()).cloned().unwrap_or_default(),
            after: after.get(node.name()).cloned().unwrap_or_default(),
            names: named_by(node).nodes.into_iter().collect(),
            reads_input: reads_input(node, part),
            decides: DECIDES.contains(&short_type(node.node_type())),
            passes: passes(node),
            is_given,
        };
        steps.insert(node.name(), step);
    }
    for node in &workflow.nodes {
        let named = steps.get(node.name()).map(|step| step.names.clone());
        for other in named.into_iter().flatten() {
            if let Some(other) = steps.get_mut(other.as_str()) {
                other.after.push(node.name());
            }
        }
    }
    steps
}

/// Which nodes hand items on to which: as they are connected, but of a loop over items, which gives the body of what came to it from
/// outside alone. What comes back from the body leaves where the loop is done.
fn handed_on(workflow: &Workflow) -> Vec<(&str, &str)> {
    let mains: Vec<(&str, u32, &str)> = { workflow.edges() }
        .filter(|(_, kind, ..)| *kind == "main")
        .map(|(from, _, output, link)| (from, output, link.node.as_str()))
        .collect();
    let mut handed: Vec<(&str, &str)> = mains.iter().map(|(from, _, to)| (*from, *to)).collect();
    // The inner ones first: what comes back to one may come back to the outer one behind it.
    let mut loops: Vec<Loop> = { workflow.nodes.iter() }
        .filter(|node| short_type(node.node_type()) == "splitInBatches")
        .map(|node| Loop::of(node, &mains))
        .collect();
    loops.sort_by_key(|of| of.inside.len());
    for Loop { name, done, inside } in &loops {
        let comes_back = |(from, to): &(&str, &str)| to == name && inside.contains(from);
        let back: Vec<&str> = { handed.iter() }
            .filter(|edge| comes_back(edge))
            .map(|(from, _)| *from)
            .collect();
        handed.retain(|edge| !comes_back(edge));
        let on = done.iter();
        handed.extend(on.flat_map(|to| back.iter().map(move |from| (*from, *to))));
    }
    handed
}

/// A loop over items: what stands behind it, and what in its body.
struct Loop<'w> {
    name: &'w str,
    done: Vec<&'w str>,
    inside: BTreeSet<&'w str>,
}

impl<'w> Loop<'w> {
    fn of(node: &'w Node, mains: &[(&'w str, u32, &'w str)]) -> Loop<'w> {
        let name = node.name();
        // The outputs changed places with version 3.
        let (done, body) = match node.type_version().is_some_and(|version| version < 3.0) {
            true => (1, 0),
            false => (0, 1),
        };
        let of = |output: u32| {
            let out = mains.iter();
            out.filter(move |(from, at, _)| *from == name && *at == output)
                .map(|(_, _, to)| *to)
        };
        let mut inside: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = of(body).collect();
        while let Some(at) = open.pop() {
            if at != name && inside.insert(at) {
                let next = mains.iter().filter(|(from, ..)| *from == at);
                open.extend(next.map(|(_, _, to)| *to));
            }
        }
        Loop {
            name,
            done: of(done).collect(),
            inside,
        }
    }
}

/// Whether it was not known.
fn note(of: &mut Of, name: &str, found: Option<String>) -> bool {
    match found {
        Some(found) if !of.contains_key(name) => {
            of.insert(name.to_owned(), found);
            true
        }
        _ => false,
    }
}

fn reads_input(node: &Node, part: Option<&Part>) -> bool {
    let short = short_type(node.node_type());
    let parameter = |key: &str| node.parameters().and_then(|p| p.get(key));
    let is_whole = match short {
        // Older ones keep what comes in unless told otherwise.
        "set" => node.type_version().is_none_or(|version| version < 3.3),
        "respondToWebhook" => !matches!(
            parameter("respondWith").and_then(Value::as_str),
            Some("json" | "text" | "noData" | "redirect" | "jwt")
        ),
        _ => !matches!(part, Some(Part::Simulated { .. })) && !BY_EXPRESSIONS.contains(&short),
    };
    let mut reads = is_whole;
    each_text(node, &mut |_, _, text| {
        reads |= text.starts_with('=') && INPUT.iter().any(|sign| text.contains(sign));
    });
    reads
}

#[cfg(test)]
#[path = "made_up_tests.rs"]
mod made_up_tests;
