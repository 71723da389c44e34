//! Where a drawing stops short: a trigger that starts nothing, a loop whose body never comes back, a branch that leaves a caller
//! without an answer, retries beyond what n8n makes of them.

use super::{
    connections::{NodePorts, count},
    report::Report,
    rules,
    subject::{NodeView, Subject},
};
use crate::catalog::NodeKind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const LOOP: &str = "n8n-nodes-base.splitInBatches";
const WEBHOOK: &str = "n8n-nodes-base.webhook";
const RESPOND: &str = "n8n-nodes-base.respondToWebhook";
/// What gives the caller something: an error is an answer, too.
const ANSWERS: [&str; 2] = [RESPOND, STOP];
const STOP: &str = "n8n-nodes-base.stopAndError";
const IF: &str = "n8n-nodes-base.if";
const SWITCH: &str = "n8n-nodes-base.switch";
/// n8n makes no more tries, the first one included, and waits no longer between two of them.
const MOST_TRIES: u64 = 5;
const LONGEST_WAIT_MS: u64 = 5_000;

pub(super) fn check(subject: &Subject, ports: &[NodePorts], report: &mut Report) {
    let stops = |n: &&NodeView| n.node_type == STOP && !n.disabled;
    let stops = subject.nodes.iter().filter(stops).map(|n| n.index);
    let stopping = subject.main_before.reached(stops);
    for (node, ports) in subject.nodes.iter().zip(ports) {
        if node.is_sticky() || node.disabled || node.description().is_none() {
            continue;
        }
        starts_nothing(subject, node, ports, report);
        never_comes_back(subject, node, &stopping, report);
        retries(node, report);
    }
    unanswered(subject, report);
}

/// A trigger with an output that leads nowhere, where there is something that it could start.
fn starts_nothing(subject: &Subject, node: &NodeView, ports: &NodePorts, report: &mut Report) {
    let is_trigger = |node: &NodeView| {
        let description = node.description();
        description.is_some_and(|d| matches!(d.kind, NodeKind::Trigger(_)))
    };
    let outputs = ports.outputs.as_deref().map_or(0, |o| count(o, "main"));
    if !is_trigger(node) || outputs == 0 || subject.leaving(node.index).next().is_some() {
        return;
    }
    let mut others = subject
        .nodes
        .iter()
        .filter(|n| !n.is_sticky() && !n.disabled);
    // Many a service's node has a webhook too, and starts nothing by it.
    if others.all(is_trigger) {
        return;
    }
    let message = "this trigger is connected to nothing, so what it starts ends with it";
    report.node(node, rules::TRIGGER_STARTS_NOTHING.at("", message));
}

/// From version 2 on a loop has an output for each round and one for the end.
fn never_comes_back(subject: &Subject, node: &NodeView, stopping: &[bool], report: &mut Report) {
    let version = node.description().map_or(0.0, |d| d.version);
    if node.node_type != LOOP || version < 2.0 {
        return;
    }
    let (body, done) = if version >= 3.0 { (1, 0) } else { (0, 1) };
    let body = subject
        .leaving(node.index)
        .find(|e| e.kind == "main" && e.output == body);
    let Some(first) = body.map(|e| e.to_name) else {
        return;
    };
    // What leads back from anywhere goes round; one that "done" leads back to is made to end after its first batch.
    if subject.reach.on_circle(node.index) {
        return ends_early(subject, node, done, stopping, report);
    }
    let message = format!(
        "the body that begins with {first:?} never leads back to the loop, so only the first batch is worked on; connect its last node with the loop"
    );
    report.node(node, rules::LOOP_BODY_OPEN.at("", message));
}

/// A way out of the body that does not come back: the first item that takes it ends the loop, and what hangs on "done" never runs. One that
/// goes on where "done" does, or that comes to an end with an error, is meant. `stopping`: the nodes from which one is come to.
fn ends_early(
    subject: &Subject,
    of: &NodeView,
    done: usize,
    stopping: &[bool],
    report: &mut Report,
) {
    let main = subject.leaving(of.index).filter(|e| e.kind == "main");
    let after: Vec<usize> = main
        .filter(|e| e.output == done)
        .filter_map(|e| e.to)
        .collect();
    let is_done = subject.main_after.reached(after.iter().copied());
    let body = |at: usize| at != of.index && subject.reach.same_circle(at, of.index);
    for node in subject.nodes.iter().filter(|n| body(n.index) && parts(n)) {
        for (output, way) in ways(subject, node) {
            let is = |list: &[bool], at: &usize| list.get(*at) == Some(&true);
            let meant = |at: &usize| {
                let comes_back = subject.reach.same_circle(*at, of.index);
                comes_back || is(&is_done, at) || is(stopping, at)
            };
            if way.iter().any(meant) || (!way.is_empty() && after.is_empty()) {
                continue;
            }
            let message = format!(
                "what takes output {output} of {:?} never comes back to the loop, so the first such item ends it and \"done\" never runs; connect it with the loop",
                node.name.unwrap_or_default()
            );
            let key = format!("{}/{output}", node.name.unwrap_or_default());
            report.node(of, rules::LOOP_BODY_OPEN.at("", message).key(key));
        }
    }
}

fn retries(node: &NodeView, report: &mut Report) {
    if node.raw.get("retryOnFail") != Some(&Value::Bool(true)) {
        return;
    }
    let caps = [
        ("maxTries", MOST_TRIES, "tries, the first one counted"),
        ("waitBetweenTries", LONGEST_WAIT_MS, "ms between two tries"),
    ];
    for (key, most, what) in caps {
        let Some(set) = node.raw.get(key).and_then(Value::as_u64) else {
            continue;
        };
        if set > most {
            let message = format!("{set} {what}: n8n takes no more than {most}");
            report.node(node, rules::RETRIES_CAPPED.at(format!("/{key}"), message));
        }
    }
}

/// A webhook that waits for "Respond to Webhook": each way of an IF or a Switch behind it, and of a node with an output for errors, has to
/// come to one.
fn unanswered(subject: &Subject, report: &mut Report) {
    let is_hook = |n: &&NodeView| {
        let mode = n.filled.get("responseMode").and_then(Value::as_str);
        let known = n.node_type == WEBHOOK && n.description().is_some();
        known && !n.disabled && mode == Some("responseNode")
    };
    let hooks: Vec<&NodeView> = subject.nodes.iter().filter(is_hook).collect();
    if hooks.is_empty() {
        return;
    }
    // Where another trigger leads, too, a way may be that one's.
    let others = subject
        .nodes
        .iter()
        .filter(|n| n.trigger_like() && !is_hook(n));
    let others = subject.main_after.reached(others.map(|n| n.index));
    let ends = subject.nodes.iter().filter(|n| {
        let unknown = n.description().is_none() && !n.is_sticky();
        unknown || (!n.disabled && ANSWERS.contains(&n.node_type))
    });
    let answered = subject.main_before.reached(ends.map(|n| n.index));
    let is = |list: &[bool], at: usize| list.get(at) == Some(&true);
    let mut said = BTreeSet::new();
    for hook in hooks {
        let behind = subject.main_after.reached([hook.index]);
        // What is answered beside the branches is answered for all of them.
        if !is(&answered, hook.index) || surely(subject, hook.index) {
            continue;
        }
        for node in &subject.nodes {
            if !parts(node) || !is(&behind, node.index) || is(&others, node.index) {
                continue;
            }
            let ways = ways(subject, node);
            let is_open = |way: &&(usize, Vec<usize>)| !way.1.iter().any(|at| is(&answered, *at));
            if ways.iter().all(|way| is_open(&way)) {
                continue;
            }
            for (output, _) in ways.iter().filter(is_open) {
                if !said.insert((node.index, *output)) {
                    continue;
                }
                let message = format!(
                    "what takes output {output} never comes to a \"Respond to Webhook\" node, so the webhook {:?} does not answer its caller there",
                    hook.name.unwrap_or_default()
                );
                let draft = rules::BRANCH_WITHOUT_ANSWER.at("", message);
                report.node(node, draft.key(output.to_string()));
            }
        }
    }
}

/// An item takes one of its outputs.
fn parts(node: &NodeView) -> bool {
    !node.disabled && ([IF, SWITCH].contains(&node.node_type) || fails_over(node))
}

/// An item that fails takes the second of two outputs.
fn fails_over(node: &NodeView) -> bool {
    if node.raw.get("onError").and_then(Value::as_str) != Some("continueErrorOutput") {
        return false;
    }
    let outputs = node
        .description()
        .map(|d| d.outputs_for(&node.filled, node.raw));
    outputs.is_some_and(|o| count(&o, "main") == 2 && o.iter().any(|port| port.error))
}

/// The nodes that come next, way by way: of an IF, and of a node with an output for errors, an item takes one of two; of a Switch one of
/// those that are connected (which of the others a rule sends it to is not known here); of any other node all.
fn ways(subject: &Subject, node: &NodeView) -> Vec<(usize, Vec<usize>)> {
    let mut outputs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    if node.node_type == IF || fails_over(node) {
        outputs.extend([(0, Vec::new()), (1, Vec::new())]);
    }
    for edge in subject.leaving(node.index).filter(|e| e.kind == "main") {
        outputs.entry(edge.output).or_default().extend(edge.to);
    }
    outputs.into_iter().collect()
}

/// Whether a "Respond to Webhook" stands on the way before any branch.
fn surely(subject: &Subject, hook: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![hook];
    while let Some(at) = open.pop() {
        let Some(node) = subject.nodes.get(at).filter(|_| seen.insert(at)) else {
            continue;
        };
        if node.node_type == RESPOND && !node.disabled {
            return true;
        }
        if !parts(node) {
            open.extend(subject.main_after.of_node(at));
        }
    }
    false
}
