//! How a run goes through the nodes: what it never reaches, branches that are none, loops that never end, joins that wait
//! for nothing.

use super::{
    connections::{NodePorts, count},
    report::Report,
    rules,
    subject::{Edge, NodeView, Subject},
};
use crate::{
    edit::EditOp,
    finding::{Confidence, Severity},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Nodes that send an item one way or the other.
const BRANCHING: [&str; 2] = ["n8n-nodes-base.if", "n8n-nodes-base.switch"];
const JOINS: [&str; 2] = ["n8n-nodes-base.merge", "n8n-nodes-base.compareDatasets"];
const LOOP: &str = "n8n-nodes-base.splitInBatches";
/// Nodes with one output that may let nothing through, so that a loop through them can end.
const MAY_STOP: [&str; 11] = [
    "n8n-nodes-base.filter",
    "n8n-nodes-base.code",
    "n8n-nodes-base.function",
    "n8n-nodes-base.functionItem",
    "n8n-nodes-base.removeDuplicates",
    "n8n-nodes-base.stopAndError",
    "n8n-nodes-base.executeWorkflow",
    "n8n-nodes-base.form",
    "n8n-nodes-base.limit",
    "n8n-nodes-base.splitOut",
    LOOP,
];
/// Nodes that give out at least one item for items that come in.
const ALWAYS_PASS: [&str; 10] = [
    "n8n-nodes-base.set",
    "n8n-nodes-base.noOp",
    "n8n-nodes-base.dateTime",
    "n8n-nodes-base.crypto",
    "n8n-nodes-base.renameKeys",
    "n8n-nodes-base.markdown",
    "n8n-nodes-base.html",
    "n8n-nodes-base.sort",
    "n8n-nodes-base.aggregate",
    "n8n-nodes-base.wait",
];

pub(super) fn check(subject: &Subject, ports: &[NodePorts], report: &mut Report) {
    for (node, ports) in subject.nodes.iter().zip(ports) {
        if node.is_sticky() || node.description().is_none() {
            continue;
        }
        if node.disabled {
            disabled(subject, node, report);
            continue;
        }
        unreached(subject, node, report);
        branches(subject, node, ports, report);
        joins(subject, node, ports, report);
        swapped(subject, node, report);
    }
    for circle in subject.reach.circles() {
        endless(subject, circle, ports, report);
    }
}

fn main_out<'s, 'a>(subject: &'s Subject<'a>, node: usize) -> impl Iterator<Item = &'s Edge<'a>> {
    subject.leaving(node).filter(|e| e.kind == "main")
}

fn unreached(subject: &Subject, node: &NodeView, report: &mut Report) {
    // A sub-node is reached with what it serves; one that serves nothing has a finding of its own.
    let serves = node.is_sub_node() || subject.leaving(node.index).any(|e| e.kind != "main");
    if node.idle && !serves {
        let message = "no trigger leads to this node, so it never runs";
        report.node(node, rules::UNREACHABLE_NODE.at("", message));
    }
}

fn disabled(subject: &Subject, node: &NodeView, report: &mut Report) {
    let inputs: BTreeSet<u64> = subject
        .entering(node.index)
        .filter(|e| e.kind == "main")
        .map(|e| e.input)
        .collect();
    let outputs: BTreeSet<usize> = main_out(subject, node.index).map(|e| e.output).collect();
    if inputs.is_empty() || outputs.is_empty() {
        return;
    }
    let (message, severity) = if outputs.iter().any(|o| *o > 0) || inputs.len() > 1 {
        (
            "is disabled: n8n passes the items of its first input to its first output, and nothing anywhere else",
            Severity::Warning,
        )
    } else {
        (
            "is disabled: n8n passes its items on unchanged",
            Severity::Info,
        )
    };
    let mut draft = rules::DISABLED_IN_PATH.at("/disabled", message);
    draft.severity = severity;
    report.node(node, draft);
}

fn branches(subject: &Subject, node: &NodeView, ports: &NodePorts, report: &mut Report) {
    if !BRANCHING.contains(&node.node_type) {
        return;
    }
    let outputs = ports.outputs.as_deref().map_or(0, |o| count(o, "main"));
    let targets: BTreeSet<&str> = main_out(subject, node.index).map(|e| e.to_name).collect();
    let others = main_out(subject, node.index).any(|e| e.output > 0);
    if outputs < 2 || targets.len() < 2 || others {
        return;
    }
    let names: Vec<String> = targets.iter().map(|t| format!("{t:?}")).collect();
    let message = format!(
        "all of {} hang on the first of {outputs} outputs, so they run together and the other outputs lead nowhere",
        names.join(", ")
    );
    report.node(node, rules::BRANCHES_MERGED.at("", message));
}

fn joins(subject: &Subject, node: &NodeView, ports: &NodePorts, report: &mut Report) {
    if !JOINS.contains(&node.node_type) {
        return;
    }
    let inputs = ports.inputs.as_deref().map_or(0, |i| count(i, "main"));
    let fed: BTreeSet<u64> = subject
        .entering(node.index)
        .filter(|e| e.kind == "main")
        .map(|e| e.input)
        .collect();
    if fed.is_empty() {
        return; // said by the rule on nodes that nothing leads to
    }
    let missing: Vec<String> = (0..inputs as u64)
        .filter(|i| !fed.contains(i))
        .map(|i| (i + 1).to_string())
        .collect();
    if missing.is_empty() {
        return;
    }
    let message = format!(
        "nothing is connected to input {} of {inputs}",
        missing.join(", ")
    );
    report.node(node, rules::MERGE_MISSING_INPUT.at("", message));
}

/// A loop whose body comes from the output for the end: the first round goes to the other output, where nothing is.
fn swapped(subject: &Subject, node: &NodeView, report: &mut Report) {
    if node.node_type != LOOP {
        return;
    }
    let (body, done) = match node.description().map(|d| d.version) {
        Some(version) if version >= 3.0 => (1, 0),
        Some(version) if version >= 2.0 => (0, 1),
        _ => return,
    };
    let has_body = main_out(subject, node.index).any(|e| e.output == body);
    let back = |e: &&Edge| {
        let returns =
            e.to.is_some_and(|to| subject.reach.same_circle(to, node.index));
        e.output == done && returns
    };
    let wrong: Vec<&Edge> = main_out(subject, node.index).filter(back).collect();
    if has_body || wrong.is_empty() {
        return;
    }
    let ops = wrong.iter().flat_map(|edge| {
        let end = |output: usize| u32::try_from(output).unwrap_or(0);
        let (from, to) = (node.address(), edge.to_name.to_owned());
        let input = u32::try_from(edge.input).unwrap_or(0);
        let kind = "main".to_owned();
        [
            EditOp::Disconnect {
                from: from.clone(),
                to: to.clone(),
                kind: kind.clone(),
                output: end(done),
                input,
            },
            EditOp::Connect {
                from,
                to,
                kind,
                output: end(body),
                input,
            },
        ]
    });
    let message = format!(
        "{:?} leads back to the loop but hangs on output {done} (\"done\"); output {body} (\"loop\") has nothing, so the body never runs",
        wrong.first().map_or("", |e| e.to_name)
    );
    report.node(
        node,
        rules::LOOP_OUTPUTS_SWAPPED.at("", message).fix(
            Confidence::Sure,
            "move the body to the output \"loop\"",
            ops.collect(),
        ),
    );
}

fn endless(subject: &Subject, circle: &[usize], ports: &[NodePorts], report: &mut Report) {
    let nodes = || circle.iter().filter_map(|at| subject.nodes.get(*at));
    let outputs = |node: &NodeView| {
        let ports = ports.get(node.index);
        let known = ports.and_then(|p| p.outputs.as_deref());
        known.map(|o| count(o, "main"))
    };
    let waits_for_somebody = |node: &NodeView| {
        let text = |key: &str| node.filled.get(key).and_then(Value::as_str);
        text("operation").is_some_and(|o| o.starts_with("sendAndWait"))
            || text("resume").is_some_and(|r| ["webhook", "form"].contains(&r))
    };
    let may_end = |node: &NodeView| {
        !node.disabled
            && (MAY_STOP.contains(&node.node_type)
                || outputs(node).is_none_or(|o| o != 1)
                || waits_for_somebody(node))
    };
    if nodes().any(may_end) {
        return;
    }
    let Some(first) = nodes().min_by_key(|n| n.at) else {
        return;
    };
    let sure = nodes().all(|n| n.disabled || ALWAYS_PASS.contains(&n.node_type));
    let mut names: Vec<(usize, &str)> = nodes()
        .map(|n| (n.at, n.name.unwrap_or_default()))
        .collect();
    names.sort_unstable();
    let shown: Vec<String> = names
        .iter()
        .take(6)
        .map(|(_, n)| format!("{n:?}"))
        .collect();
    let more = if names.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    let message = format!(
        "the loop through {}{more} has no condition, so it goes round until n8n stops it; put an IF into it",
        shown.join(", ")
    );
    let mut draft = rules::LOOP_WITHOUT_EXIT.at("", message);
    if !sure {
        draft = draft.at_most(Severity::Warning);
    }
    report.node(first, draft);
}
