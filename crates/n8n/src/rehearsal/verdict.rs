//! What a run showed: each node as run, simulated or not reached, what failed and why, and where a value that the workflow
//! reads was not there. Findings have the same ids each time, so that one cycle can be compared with the next.

use super::case::{CaseOutcome, CaseVerdict};
use super::faults::{self, Kind};
use super::made_up::MadeUp;
use super::reads::{Read, each_text, is_code, named_reads, own_reads};
use super::sample::{Path, Step};
use super::trace::{Fault, Trace};
use super::{NodePart, Part, Rehearsal};
use crate::edit::references::references;
use crate::finding::{Confidence, Fix};
use crate::workflow::short_type;
use crate::{EditOp, Finding, Node, Severity, Workflow};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

pub const RUN_ERROR: &str = "run/error";
pub const RUN_OUTSIDE: &str = "run/outside";
pub const RUN_VALUE: &str = "run/missing-value";
pub const RUN_EMPTY: &str = "run/no-items";
pub const RUN_UNFINISHED: &str = "run/unfinished";
pub const RUN_CASE: &str = "run/case";

/// So much of an error's text is kept.
const MESSAGE: usize = 400;

/// One node after the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeVerdict {
    #[serde(flatten)]
    pub part: NodePart,
    /// It was started: as itself, or what stands in for it.
    pub reached: bool,
    /// Items by output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
}

/// What the run came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// `pass`: what ran came through; `fail`; or `inconclusive`: it stopped for a reason outside the workflow, or nothing of it ran
    /// but the start.
    pub test_status: &'static str,
    pub nodes: Vec<NodeVerdict>,
    pub findings: Vec<Finding>,
}

/// The run of a rehearsal, or of the workflow itself, against the workflow. `checked`: what the checker says of it.
pub fn judge(
    workflow: &Workflow,
    rehearsal: &Rehearsal,
    trace: &Trace,
    checked: &[Finding],
) -> Verdict {
    let findings = evidence(workflow, trace, checked, Some(&rehearsal.parts));
    let nodes = rehearsal
        .parts
        .iter()
        .map(|part| {
            let run = trace.nodes.get(&part.node);
            let there = !matches!(part.part, Part::LeftOut { .. });
            NodeVerdict {
                part: part.clone(),
                reached: there && trace.ran(&part.node),
                items: run.map(|r| r.items.clone()).unwrap_or_default(),
                error: run.and_then(|r| r.error.clone()),
            }
        })
        .collect();
    let has = |severity, code: Option<&str>| {
        findings
            .iter()
            .any(|f| f.severity == severity && code.is_none_or(|code| f.code == code))
    };
    let test_status = if has(Severity::Error, None) {
        "fail"
    } else if has(Severity::Warning, Some(RUN_OUTSIDE))
        || has(Severity::Warning, Some(RUN_UNFINISHED))
        || only_simulated(workflow, rehearsal, trace)
    {
        "inconclusive"
    } else {
        "pass"
    };
    Verdict {
        test_status,
        nodes,
        findings,
    }
}

impl Verdict {
    /// What ended the run for a reason outside the workflow, in words.
    pub fn stopped(&self) -> Option<&str> {
        let outside = |f: &&Finding| f.code == RUN_OUTSIDE || f.code == RUN_UNFINISHED;
        self.findings
            .iter()
            .find(outside)
            .map(|f| f.message.as_str())
    }

    /// With what a case expected of the run. What it expected and what did not come about is a finding; where all of it did, it is no
    /// matter that the nodes that it looked at were simulated.
    pub fn with_case(&mut self, workflow: &Workflow, name: &str, case: &CaseVerdict) {
        for check in &case.checks {
            let severity = match check.outcome {
                CaseOutcome::Passed => continue,
                CaseOutcome::NotReached | CaseOutcome::Inconclusive => Severity::Warning,
                CaseOutcome::Failed => Severity::Error,
            };
            let of = |node: &Node| {
                let rest = check.what.strip_prefix(node.name());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
            };
            let place = workflow.nodes.iter().enumerate().find(|(_, n)| of(n));
            let key = format!("{name}\n{}", check.what);
            let message = format!(
                "the case {name:?} expects otherwise of {}: {}",
                check.what, check.why
            );
            self.findings
                .push(finding(RUN_CASE, severity, place, "", &key, &message));
        }
        self.findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
        self.test_status = match (case.outcome, self.test_status) {
            (CaseOutcome::Failed, _) => "fail",
            (CaseOutcome::NotReached | CaseOutcome::Inconclusive, "pass") => "inconclusive",
            (CaseOutcome::Passed, "inconclusive") if self.stopped().is_none() => "pass",
            (_, status) => status,
        };
    }
}

/// Something stood in for each node that the run came to: it shows the order of the nodes, and nothing that they do.
fn only_simulated(workflow: &Workflow, rehearsal: &Rehearsal, trace: &Trace) -> bool {
    let off = |name: &str| workflow.node_by_name(name).is_some_and(Node::disabled);
    let mut reached = rehearsal.parts.iter().filter(|part| trace.ran(&part.node));
    let ran = |part: &NodePart| part.part == Part::Run && !off(&part.node);
    !reached.clone().any(ran) && reached.any(|part| matches!(part.part, Part::Simulated { .. }))
}

/// The findings of one execution, worst first. `parts`: what was simulated in it; None: nothing.
pub fn evidence(
    workflow: &Workflow,
    trace: &Trace,
    checked: &[Finding],
    parts: Option<&[NodePart]>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let faults = trace.faults();
    let asked = parts.filter(|_| !faults.is_empty());
    let made_up = asked.map(|parts| MadeUp::of(workflow, parts, trace));
    for fault in faults {
        findings.push(failed(workflow, &fault, trace, checked, made_up.as_ref()));
    }
    let own = |node: &Node| {
        parts.is_none_or(|parts| {
            parts
                .iter()
                .any(|p| p.node == node.name() && p.part == Part::Run)
        })
    };
    for (at, node) in workflow.nodes.iter().enumerate() {
        if node.disabled() || !own(node) || !trace.ran(node.name()) {
            continue;
        }
        missing_values(at, node, trace, &mut findings);
        let failed = trace
            .nodes
            .get(node.name())
            .is_some_and(|run| run.error.is_some());
        if !failed && came_to_nothing(workflow, node, trace) {
            let message = "nothing came out of this node, so nothing behind it ran";
            findings.push(finding(
                RUN_EMPTY,
                Severity::Warning,
                Some((at, node)),
                "",
                "",
                message,
            ));
        }
    }
    if findings.iter().all(|f| f.severity != Severity::Error)
        && !matches!(trace.status.as_str(), "success" | "error")
    {
        let message = format!(
            "the execution did not come to its end; n8n says {:?}",
            trace.status
        );
        findings.push(finding(
            RUN_UNFINISHED,
            Severity::Warning,
            None,
            "",
            "",
            &message,
        ));
    }
    findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    let mut seen = BTreeSet::new();
    findings.retain(|f| seen.insert(f.id.clone()));
    findings
}

/// The simulated node that a failure rests on, where it may be one of the items that the test made up for it.
fn made_up_for<'m>(
    kind: Kind,
    node: Option<&Node>,
    made_up: Option<&'m MadeUp>,
) -> Option<&'m str> {
    let (name, made_up) = (node?.name(), made_up?);
    match kind {
        Kind::Stopped => made_up.way(name),
        Kind::WrongType | Kind::InvalidJson | Kind::InvalidUrl | Kind::Expression | Kind::Other => {
            made_up.work(name)
        }
        Kind::UnknownNode
        | Kind::NotRunYet
        | Kind::MissingParameter
        | Kind::Outside
        | Kind::Looked => None,
    }
}

fn failed(
    workflow: &Workflow,
    fault: &Fault,
    trace: &Trace,
    checked: &[Finding],
    made_up: Option<&MadeUp>,
) -> Finding {
    let named = fault.node.as_deref();
    let place = workflow
        .nodes
        .iter()
        .enumerate()
        .find(|(_, node)| Some(node.name()) == named);
    let kind = Kind::of(fault, place.map(|(_, node)| node));
    let made_up = made_up_for(kind, place.map(|(_, node)| node), made_up);
    let (code, severity) = match (kind, made_up) {
        (Kind::Outside | Kind::Looked, _) | (_, Some(_)) => (RUN_OUTSIDE, Severity::Warning),
        _ => (RUN_ERROR, Severity::Error),
    };
    let mut said: String = fault.message.chars().take(MESSAGE).collect();
    if let Some(more) = fault
        .description
        .as_ref()
        .filter(|d| !d.is_empty() && **d != fault.message)
    {
        said.push_str(": ");
        said.extend(more.chars().take(MESSAGE));
    }
    let advice = match made_up {
        Some(simulated) => format!(
            "it worked on what the test made up for {simulated:?}, which is only simulated; a case with its items in `mocks` tells"
        ),
        None => kind.advice().to_owned(),
    };
    let message = format!("failed when it ran: {said} ({advice})");
    let mut found = finding(code, severity, place, "", kind.word(), &message);
    if place.is_none() {
        found.node = named.map(str::to_owned);
    }
    if let (Some((_, node)), None) = (place, made_up) {
        let about: Vec<&Finding> = checked
            .iter()
            .filter(|f| {
                f.node_id.as_deref() == Some(&node.id().0) || f.node.as_deref() == Some(node.name())
            })
            .collect();
        found.fix = faults::fix(kind, node, &about, trace);
    }
    found
}

/// It ran, it has successors, and no output gave an item.
fn came_to_nothing(workflow: &Workflow, node: &Node, trace: &Trace) -> bool {
    let none = trace
        .nodes
        .get(node.name())
        .is_some_and(|run| run.items.iter().sum::<usize>() == 0);
    let leads = workflow.edges().any(|(from, kind, _, link)| {
        from == node.name() && kind == "main" && !trace.ran(&link.node)
    });
    // A filter may well let nothing through.
    none && leads && !matches!(short_type(node.node_type()), "filter" | "if" | "switch")
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

fn missing_values(at: usize, node: &Node, trace: &Trace, findings: &mut Vec<Finding>) {
    let decides = matches!(short_type(node.node_type()), "if" | "filter" | "switch");
    each_text(node, &mut |pointer, key, text| {
        if is_code(key) || !text.starts_with('=') || tolerant(text) {
            return;
        }
        let mut reads: Vec<(Read, Option<&Value>)> = own_reads(key, text)
            .into_iter()
            .map(|read| (read, trace.input_of(node.name())))
            .collect();
        let named: BTreeSet<String> = references(text, false)
            .into_iter()
            .map(|r| r.node)
            .collect();
        for name in named {
            let item = trace.nodes.get(&name).and_then(|run| run.first.as_ref());
            reads.extend(
                named_reads(text, &name)
                    .into_iter()
                    .map(|read| (read, item)),
            );
        }
        for (read, item) in reads {
            let Some(item) = item.filter(|item| item.is_object()) else {
                continue;
            };
            if read.path.is_empty() || found_at(item, &read.path) {
                continue;
            }
            let meant = elsewhere(item, &read.path);
            let severity = match &meant {
                Some(_) => Severity::Error,
                None if decides => continue,
                None => Severity::Warning,
            };
            let field = written(&read.path);
            let message = match &meant {
                Some(path) => format!(
                    "reads the field {field}, which its item does not have; the item has {}",
                    written(path)
                ),
                None => format!("reads the field {field}, which its item does not have"),
            };
            let mut found = finding(
                RUN_VALUE,
                severity,
                Some((at, node)),
                pointer,
                &field,
                &message,
            );
            found.fix = meant.and_then(|path| {
                let (before, after) = (text.get(..read.begins)?, text.get(read.span.end..)?);
                Some(Fix {
                    confidence: Confidence::Likely,
                    title: format!("read {} instead", written(&path)),
                    ops: vec![EditOp::SetParameter {
                        node: node.id().0,
                        pointer: pointer.to_owned(),
                        value: json!(format!("{before}{}{after}", accessed(&path))),
                    }],
                })
            });
            findings.push(found);
        }
    });
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

fn finding(
    code: &str,
    severity: Severity,
    place: Option<(usize, &Node)>,
    below: &str,
    key: &str,
    message: &str,
) -> Finding {
    let id = place
        .map(|(_, node)| node.id().0)
        .filter(|id| !id.is_empty());
    let name = place.map(|(_, node)| node.name().to_owned());
    let whose = id.clone().or_else(|| name.clone()).unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [code, &whose, below, key] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let digest: String = hash
        .finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let pointer = match place {
        Some((at, _)) if below.is_empty() => format!("/nodes/{at}"),
        Some((at, _)) => format!("/nodes/{at}/parameters{below}"),
        None => String::new(),
    };
    Finding {
        id: digest,
        code: code.to_owned(),
        severity,
        node: name,
        node_id: id,
        pointer,
        place: None,
        message: message.to_owned(),
        fix: None,
    }
}
