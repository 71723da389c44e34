//! The flows of a pack that call one another: every file is read, callees first, and every mistake of all of them is told in one pass.

use super::load::one;
use super::model::Flow;
use super::reader::{Callees, Known};
use super::remote::RemoteAgent;
use crate::nearest::nearest;
use agentctl_base::yaml::{self, Node, Place, Problem};
use indexmap::IndexMap;
use std::borrow::Cow;
use std::sync::Arc;

/// Flows below one another, at most.
pub const MAX_DEPTH: usize = 4;

/// A flow that others may call, under the name by which they do.
#[derive(Debug, Clone, Copy)]
pub struct FlowFile<'a> {
    pub name: &'a str,
    /// For messages.
    pub file: &'a str,
    pub of: Written<'a>,
}

/// What a flow is read from: the text of a file, or a tree that was made of one.
#[derive(Debug, Clone, Copy)]
pub enum Written<'a> {
    Text(&'a str),
    Tree(&'a Node),
}

impl<'a> Written<'a> {
    fn root(self, file: &str) -> Result<Cow<'a, Node>, Problem> {
        match self {
            Written::Text(text) => yaml::read(text, file).map(Cow::Owned),
            Written::Tree(root) => Ok(Cow::Borrowed(root)),
        }
    }
}

struct Parsed<'a> {
    of: FlowFile<'a>,
    root: Cow<'a, Node>,
    /// The flows that it calls, where.
    calls: Vec<(Place, String)>,
}

/// The flows that the steps of a file call, in its order; none where it cannot be read.
pub fn called_by(of: Written<'_>, file: &str) -> Vec<String> {
    let mut calls = Vec::new();
    if let Ok(root) = of.root(file) {
        find_calls(root.get("steps"), &mut calls);
    }
    calls.into_iter().map(|(_, name)| name).collect()
}

/// Reads a flow with those that it may call. On mistakes: all of them, file by file.
pub fn load_with(
    of: Written<'_>,
    file: &str,
    known: Known<'_>,
    others: &[FlowFile<'_>],
) -> Result<Flow, Vec<Problem>> {
    // No file has this name: nothing calls the flow that a run starts with.
    let entry = FlowFile { name: "", file, of };
    let files = others.iter().copied().chain([entry]);
    let (mut read, problems) = load_all(files, known);
    match read.shift_remove(entry.name) {
        Some(flow) if problems.is_empty() => Ok(Arc::unwrap_or_clone(flow)),
        _ => Err(problems),
    }
}

/// Reads flows that may call one another, each once. Those without a mistake, by name, and every mistake of all of them, file by file.
pub fn load_all<'a>(
    files: impl IntoIterator<Item = FlowFile<'a>>,
    known: Known<'_>,
) -> (IndexMap<String, Arc<Flow>>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut parsed: IndexMap<&str, Parsed<'_>> = IndexMap::new();
    let mut callees = Callees::new();
    for of in files {
        match of.of.root(of.file) {
            Ok(root) => {
                let mut calls = Vec::new();
                find_calls(root.get("steps"), &mut calls);
                parsed.insert(of.name, Parsed { of, root, calls });
            }
            Err(problem) => {
                problems.push(problem);
                callees.insert(of.name.to_owned(), None);
            }
        }
    }
    for name in order(&parsed, &mut callees, &mut problems) {
        let Some(Parsed { of, root, .. }) = parsed.get(name.as_str()) else {
            continue;
        };
        let (read, found) = one(root, of.file, known, &callees);
        let good = found.is_empty();
        problems.extend(found);
        callees.insert(name, good.then(|| Arc::new(read)));
    }
    let read = callees.into_iter();
    let read = read.filter_map(|(name, flow)| Some((name, flow?)));
    (read.collect(), problems)
}

/// Reads a flow whose callees were read before: `read`, by name. A step that calls another one is left out.
pub fn load_beside(
    of: Written<'_>,
    file: &str,
    known: Known<'_>,
    read: &IndexMap<String, Arc<Flow>>,
) -> Result<Flow, Vec<Problem>> {
    let root = of.root(file).map_err(|problem| vec![problem])?;
    let callees = read.iter();
    let callees = callees.map(|(name, flow)| (name.clone(), Some(Arc::clone(flow))));
    let (flow, found) = one(&root, file, known, &callees.collect());
    match found.is_empty() {
        true => Ok(flow),
        false => Err(found),
    }
}

/// Callees before callers. A flow that calls itself, directly or not, is a mistake, told at the call that closes the circle.
fn order(
    parsed: &IndexMap<&str, Parsed<'_>>,
    callees: &mut Callees,
    problems: &mut Vec<Problem>,
) -> Vec<String> {
    let mut done: Vec<String> = Vec::new();
    for name in parsed.keys() {
        visit(name, parsed, &mut Vec::new(), &mut done, callees, problems);
    }
    done
}

fn visit(
    name: &str,
    parsed: &IndexMap<&str, Parsed<'_>>,
    open: &mut Vec<String>,
    done: &mut Vec<String>,
    callees: &mut Callees,
    problems: &mut Vec<Problem>,
) {
    let Some(flow) = parsed.get(name).filter(|_| !done.iter().any(|d| d == name)) else {
        return;
    };
    open.push(name.to_owned());
    for (place, called) in &flow.calls {
        let mut wrong = |message: String| {
            problems.push(Problem {
                file: flow.of.file.to_owned(),
                place: *place,
                message,
            });
        };
        if let Some(from) = open.iter().position(|o| o == called) {
            let circle: Vec<&str> = open.iter().skip(from).map(String::as_str).collect();
            wrong(format!(
                "the flow {called} would call itself: {} → {called}",
                circle.join(" → ")
            ));
            callees.insert(called.clone(), None);
        } else if parsed.contains_key(called.as_str()) && !called.is_empty() {
            visit(called, parsed, open, done, callees, problems);
        } else if !callees.contains_key(called) {
            let names = parsed.keys().filter(|name| !name.is_empty()).copied();
            let hint = nearest(called, names);
            wrong(format!("there is no flow {called:?}{hint}"));
            callees.insert(called.clone(), None);
        }
    }
    open.pop();
    done.push(name.to_owned());
}

/// Wherever a step may stand.
fn find_calls(node: Option<&Node>, calls: &mut Vec<(Place, String)>) {
    let Some(node) = node else { return };
    if let Some(items) = node.as_list() {
        for item in items {
            find_calls(Some(item), calls);
        }
    }
    if node.as_map().is_none() {
        return;
    }
    if let Some(call) = node.get("call") {
        let remote = RemoteAgent::of(call).and_then(Result::ok);
        let name = remote.map_or_else(|| call.as_text().map(str::to_owned), |r| Some(r.flow()));
        calls.extend(name.map(|name| (call.place, name)));
    }
    for key in ["steps", "loop", "route", "cases", "exhausted", "branches"] {
        find_calls(node.get(key), calls);
    }
}
