//! Where a value that the workflow reads was not there: of nodes that ran, and of simulated ones by what their parameters came to.

use super::made_up::MadeUp;
use super::reads::{Read, each_text, is_code, named_reads, own_reads};
use super::sample::{Path, Step};
use super::trace::Trace;
use super::verdict::{RUN_NOT_GIVEN, RUN_VALUE, finding};
use crate::edit::references::references;
use crate::finding::{Confidence, Fix};
use crate::workflow::short_type;
use crate::{EditOp, Finding, Node, Severity};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What of a test its nodes' values rest on; of somebody's own execution nothing is made up.
#[derive(Default)]
pub(super) struct Grounds<'a> {
    pub made_up: Option<&'a MadeUp>,
    /// The trigger whose item a case gives: what is not in it may be what the case left out.
    pub given: Option<&'a str>,
}

/// Texts that take care of a value that is not there.
fn tolerant(text: &str) -> bool {
    [
        "??",
        "||",
        "?.",
        "? ",
        "isEmpty",
        "ifEmpty",
        "$if(",
        "isNotEmpty",
        "!$json",
        "=== undefined",
        "== null",
    ]
    .iter()
    .any(|sign| text.contains(sign))
}

/// One value that an expression reads, and the node whose item it is of.
struct Source<'a> {
    read: Read,
    item: Option<&'a Value>,
    of: Option<&'a str>,
}

fn sources<'a>(node: &Node, key: &str, text: &str, trace: &'a Trace) -> Vec<Source<'a>> {
    let run = trace.nodes.get(node.name());
    let before = run
        .and_then(|run| run.from.as_ref())
        .map(|(name, _)| name.as_str());
    let own = own_reads(key, text).into_iter().map(|read| Source {
        read,
        item: trace.input_of(node.name()),
        of: before,
    });
    let mut sources: Vec<Source> = own.collect();
    let named: BTreeSet<String> = (references(text, false).into_iter())
        .map(|reference| reference.node)
        .collect();
    for name in named {
        let run = trace.nodes.get_key_value(&name);
        sources.extend(named_reads(text, &name).into_iter().map(|read| Source {
            read,
            item: run.and_then(|(_, run)| run.first.as_ref()),
            of: run.map(|(name, _)| name.as_str()),
        }));
    }
    sources
}

/// Of a node that ran, or that something stood in for. `calls`: what a simulated one would have sent.
pub(super) fn values(
    at: usize,
    node: &Node,
    trace: &Trace,
    grounds: &Grounds<'_>,
    calls: Option<&[Value]>,
) -> Vec<Finding> {
    let decides = matches!(short_type(node.node_type()), "if" | "filter" | "switch");
    let mut findings = Vec::new();
    each_text(node, &mut |pointer, key, text| {
        if is_code(key) || !text.starts_with('=') || tolerant(text) {
            return;
        }
        let sources = sources(node, key, text, trace);
        let known = findings.len();
        for source in &sources {
            let Some(item) = source.item.filter(|item| item.is_object()) else {
                continue;
            };
            let path = &source.read.path;
            if path.is_empty() || found_at(item, path) {
                continue;
            }
            let meant = elsewhere(item, path);
            let why = match meant {
                Some(meant) => NotThere::Elsewhere(meant),
                // What the test itself put there says nothing of the workflow.
                None if decides || source.is_made_up(grounds) => continue,
                None if source.is_given(grounds) => NotThere::NotGiven,
                None => NotThere::Nowhere,
            };
            findings.push(not_there((at, node), pointer, text, source, why));
        }
        let open = |source: &Source<'_>| source.is_made_up(grounds) || source.is_given(grounds);
        if findings.len() == known && !sources.iter().any(open) {
            findings.extend(came_to_nothing((at, node), pointer, text, &sources, calls));
        }
    });
    findings
}

/// Where else the field is, that an item does not have.
enum NotThere {
    Elsewhere(Path),
    Nowhere,
    /// A case says what the trigger hands on, and not this.
    NotGiven,
}

fn not_there(
    place: (usize, &Node),
    pointer: &str,
    text: &str,
    source: &Source<'_>,
    why: NotThere,
) -> Finding {
    let field = written(&source.read.path);
    let (code, severity, message) = match &why {
        NotThere::Elsewhere(path) => {
            let has = written(path);
            let message = format!(
                "reads the field {field}, which its item does not have; the item has {has}"
            );
            (RUN_VALUE, Severity::Error, message)
        }
        NotThere::Nowhere => {
            let message = format!("reads the field {field}, which its item does not have");
            (RUN_VALUE, Severity::Warning, message)
        }
        NotThere::NotGiven => {
            let message = format!("reads the field {field}, which the case's input does not have");
            (RUN_NOT_GIVEN, Severity::Info, message)
        }
    };
    let mut found = finding(code, severity, Some(place), pointer, &field, &message);
    if let NotThere::Elsewhere(path) = why {
        found.fix = read_there(place.1, pointer, text, &source.read, &path);
    }
    found
}

fn read_there(node: &Node, pointer: &str, text: &str, read: &Read, there: &[Step]) -> Option<Fix> {
    let (before, after) = (text.get(..read.begins)?, text.get(read.span.end..)?);
    Some(Fix {
        confidence: Confidence::Likely,
        title: format!("read {} instead", written(there)),
        ops: vec![EditOp::SetParameter {
            node: node.id().0,
            pointer: pointer.to_owned(),
            value: json!(format!("{before}{}{after}", accessed(there))),
        }],
    })
}

/// A parameter that is one expression, of which nothing came although what it reads is there.
fn came_to_nothing(
    place: (usize, &Node),
    pointer: &str,
    text: &str,
    sources: &[Source<'_>],
    calls: Option<&[Value]>,
) -> Option<Finding> {
    let inner = text.strip_prefix("={{")?.trim_end().strip_suffix("}}")?;
    if inner.contains("{{") {
        return None;
    }
    let is_nothing = |call: &Value| call.pointer(pointer).is_some_and(Value::is_null);
    if !calls?.iter().any(is_nothing) || sources.iter().any(|source| source.is_nothing()) {
        return None;
    }
    let message = "its expression came to nothing, so nothing would have been sent for it";
    let severity = Severity::Warning;
    Some(finding(
        RUN_VALUE,
        severity,
        Some(place),
        pointer,
        "",
        message,
    ))
}

impl Source<'_> {
    /// It is of a node for which the test made something up.
    fn is_made_up(&self, grounds: &Grounds<'_>) -> bool {
        let (of, made) = (self.of, grounds.made_up);
        made.is_some_and(|made| of.is_some_and(|of| made.items(of).is_some()))
    }

    fn is_given(&self, grounds: &Grounds<'_>) -> bool {
        self.of.is_some() && self.of == grounds.given
    }

    /// What it reads is there, and is nothing.
    fn is_nothing(&self) -> bool {
        let end = self.read.path.iter().try_fold(self.item, |at, step| {
            let next = match (step, at?) {
                (Step::Key(key), Value::Object(map)) => map.get(key)?,
                (Step::Element, Value::Array(list)) => list.first()?,
                _ => return None,
            };
            Some(Some(next))
        });
        end.flatten().is_some_and(Value::is_null)
    }
}

fn found_at(item: &Value, path: &[Step]) -> bool {
    let mut at = item;
    for step in path {
        let next = match (step, at) {
            (Step::Key(key), Value::Object(map)) => map.get(key),
            (Step::Element, Value::Array(list)) => list.first(),
            // A property of a text, a number or a list: not an item's field.
            (Step::Key(_), Value::String(_) | Value::Array(_) | Value::Number(_)) => return true,
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => return false,
        }
    }
    true
}

/// The one other place of the item where the same path, or its last field, is found.
fn elsewhere(item: &Value, path: &[Step]) -> Option<Path> {
    fn search(at: &Value, here: &mut Path, path: &[Step], found: &mut Vec<Path>) {
        const DEPTH: usize = 4;
        let Value::Object(map) = at else {
            return;
        };
        for (key, value) in map {
            here.push(Step::Key(key.clone()));
            if found_at(value, path) && value.is_object() {
                found.push(here.iter().chain(path).cloned().collect());
            } else if here.len() < DEPTH {
                search(value, here, path, found);
            }
            here.pop();
        }
    }
    let mut found = Vec::new();
    search(item, &mut Path::new(), path, &mut found);
    if found.is_empty() && path.len() > 1 {
        // `$json.body.email` where the item has `email` itself.
        let (last, _) = path.split_last()?;
        if let Step::Key(_) = last {
            let leaf = std::slice::from_ref(last);
            if found_at(item, leaf) {
                found.push(leaf.to_vec());
            } else {
                search(item, &mut Path::new(), leaf, &mut found);
            }
        }
    }
    match found.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}

fn is_name(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// As it follows `$json` in an expression.
fn accessed(path: &[Step]) -> String {
    path.iter()
        .map(|step| match step {
            Step::Key(key) if is_name(key) => format!(".{key}"),
            Step::Key(key) => format!("[{}]", json!(key)),
            Step::Element => "[0]".to_owned(),
        })
        .collect()
}

fn written(path: &[Step]) -> String {
    format!("{:?}", accessed(path).trim_start_matches('.'))
}
