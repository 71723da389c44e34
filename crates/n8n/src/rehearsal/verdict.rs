//! What a run showed: each node as run, simulated or not reached, what failed and why, and where a value that the workflow
//! reads was not there. Findings have the same ids each time, so that one cycle can be compared with the next.

use super::case::{CaseOutcome, CaseVerdict};
use super::faults::{self, Kind};
use super::made_up::MadeUp;
use super::missing::{self, Grounds};
use super::trace::{Fault, Trace};
use super::{NodePart, Part, Rehearsal};
use crate::workflow::short_type;
use crate::{Finding, Node, Severity, Workflow};
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

pub const RUN_ERROR: &str = "run/error";
pub const RUN_OUTSIDE: &str = "run/outside";
pub const RUN_VALUE: &str = "run/missing-value";
pub const RUN_NOT_LOADED: &str = "run/not-loaded";
pub const RUN_NOT_GIVEN: &str = "run/not-given";
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
    /// `pass`: what ran came through; `fail`; or `inconclusive`: it stopped for a reason outside the workflow, a value that it reads
    /// was not there, or nothing of it ran but the start.
    pub test_status: &'static str,
    pub nodes: Vec<NodeVerdict>,
    pub findings: Vec<Finding>,
    /// It shows the order of the nodes, and nothing that they do.
    #[serde(skip)]
    only_simulated: bool,
}

/// What a test ran on and showed, besides its trace.
#[derive(Debug, Clone, Copy)]
pub struct Tried<'a> {
    pub rehearsal: &'a Rehearsal,
    /// What simulated nodes would have sent, call by call.
    pub sent: &'a IndexMap<String, Vec<Value>>,
    /// The trigger's item is a case's own.
    pub is_given: bool,
}

/// The run of a rehearsal, or of the workflow itself, against the workflow. `checked`: what the checker says of it.
pub fn judge(workflow: &Workflow, tried: Tried<'_>, trace: &Trace, checked: &[Finding]) -> Verdict {
    let rehearsal = tried.rehearsal;
    let findings = shown(workflow, trace, checked, Some(tried));
    let only_simulated = only_simulated(workflow, rehearsal, trace);
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
    let open = [RUN_OUTSIDE, RUN_UNFINISHED, RUN_VALUE];
    let test_status = if has(Severity::Error, None) {
        "fail"
    } else if only_simulated || open.iter().any(|code| has(Severity::Warning, Some(code))) {
        "inconclusive"
    } else {
        "pass"
    };
    Verdict {
        test_status,
        nodes,
        findings,
        only_simulated,
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

    /// Something of the run itself leaves open what the workflow does.
    fn is_open(&self) -> bool {
        self.stopped().is_some() || self.findings.iter().any(|f| f.code == RUN_VALUE)
    }

    /// Why it is inconclusive, in words; None: it is not.
    pub fn because(&self) -> Option<&'static str> {
        if self.test_status != "inconclusive" {
            return None;
        }
        let has = |code: &str| self.findings.iter().any(|f| f.code == code);
        Some(if self.stopped().is_some() {
            "it stopped for a reason outside the workflow"
        } else if has(RUN_CASE) {
            "not all of its cases could be told"
        } else if has(RUN_VALUE) {
            "a value that it reads was not there"
        } else {
            "nothing but the start ran for real, so it shows the order of the nodes alone"
        })
    }

    /// Whether a value that the node reads was not there.
    pub fn misses_value(&self, node: &str) -> bool {
        let of = |f: &Finding| f.code == RUN_VALUE && f.node.as_deref() == Some(node);
        self.findings.iter().any(of)
    }

    /// With what a case expected of the run. What it expected and what did not come about is a finding; where all of it did and some of
    /// it was compared with what came, it is no matter that the nodes that it looked at were simulated.
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
            (CaseOutcome::Passed, "inconclusive")
                if self.only_simulated && case.compares() && !self.is_open() =>
            {
                "pass"
            }
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

/// What n8n says when it does not take the workflow to be run at all.
pub fn not_loaded(said: &str) -> Finding {
    let said: String = said.chars().take(MESSAGE).collect();
    let message = format!("n8n could not load the workflow to run it: {said}");
    finding(RUN_NOT_LOADED, Severity::Error, None, "", "", &message)
}

/// The findings of an execution in which nothing was simulated, worst first.
pub fn evidence(workflow: &Workflow, trace: &Trace, checked: &[Finding]) -> Vec<Finding> {
    shown(workflow, trace, checked, None)
}

fn shown(
    workflow: &Workflow,
    trace: &Trace,
    checked: &[Finding],
    tried: Option<Tried<'_>>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let made_up = tried.map(|tried| MadeUp::of(workflow, &tried.rehearsal.parts, trace));
    for fault in trace.faults() {
        findings.push(failed(workflow, &fault, trace, checked, made_up.as_ref()));
    }
    let given = tried.filter(|tried| tried.is_given);
    let grounds = Grounds {
        made_up: made_up.as_ref(),
        given: given.map(|tried| tried.rehearsal.start.node.as_str()),
    };
    let part = |node: &Node| {
        let mut parts = tried?.rehearsal.parts.iter();
        parts.find(|part| part.node == node.name())
    };
    for (at, node) in workflow.nodes.iter().enumerate() {
        if node.disabled() || !trace.ran(node.name()) {
            continue;
        }
        let part = part(node).map(|part| &part.part);
        if let (Some(Part::Simulated { .. }), Some(tried)) = (part, tried) {
            let calls = tried.sent.get(node.name()).map_or(&[][..], Vec::as_slice);
            findings.extend(missing::values(at, node, trace, &grounds, Some(calls)));
            continue;
        }
        if part.is_some_and(|part| *part != Part::Run) {
            continue;
        }
        findings.extend(missing::values(at, node, trace, &grounds, None));
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

pub(super) fn finding(
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
