//! Connections against the ports that the nodes have under their parameters; what hangs loose or is never reached.

use super::{
    path::joined,
    report::{Draft, Report},
    subject::{Edge, NodeView, Subject},
};
use crate::n8n::{
    catalog::{Port, Ports},
    edit::{CONNECTION_KINDS, EditOp},
    finding::{Confidence, Severity},
};
use std::collections::BTreeSet;

/// Parameters that open an AI input when they are true.
const INPUT_SWITCHES: [&str; 3] = ["hasOutputParser", "needsFallback", "useReranker"];

pub(super) fn check(subject: &Subject, report: &mut Report) {
    let ports: Vec<NodePorts> = subject.nodes.iter().map(NodePorts::of).collect();
    for edge in &subject.edges {
        ends(subject, edge, &ports, report);
    }
    for (i, node) in subject.nodes.iter().enumerate() {
        if node.disabled || node.is_sticky() {
            continue;
        }
        if let Some(ports) = ports.get(i) {
            missing_inputs(subject, i, node, ports, report);
        }
        loose_sub_node(subject, i, node, report);
    }
    unreached(subject, report);
}

/// None where they are not known.
struct NodePorts {
    inputs: Option<Vec<Port>>,
    outputs: Option<Vec<Port>>,
}

impl NodePorts {
    fn of(node: &NodeView) -> Self {
        let Some(description) = node.description() else {
            return NodePorts {
                inputs: None,
                outputs: None,
            };
        };
        let known = |ports: &Ports| *ports != Ports::Dynamic;
        NodePorts {
            inputs: known(&description.inputs).then(|| description.inputs_for(&node.filled)),
            outputs: known(&description.outputs)
                .then(|| description.outputs_for(&node.filled, node.raw)),
        }
    }
}

fn count(ports: &[Port], kind: &str) -> usize {
    ports.iter().filter(|p| p.kind == kind).count()
}

fn kinds(ports: &[Port]) -> String {
    let kinds: BTreeSet<&str> = ports.iter().map(|p| p.kind.as_str()).collect();
    if kinds.is_empty() {
        return "none".to_owned();
    }
    kinds.into_iter().collect::<Vec<_>>().join(", ")
}

fn ends(subject: &Subject, edge: &Edge, ports: &[NodePorts], report: &mut Report) {
    let (Some(from), Some(to)) = (edge.from, edge.to) else {
        return; // said by the structure rules
    };
    let (Some(source), Some(target)) = (subject.nodes.get(from), subject.nodes.get(to)) else {
        return;
    };
    let kind_at = joined(&joined("/connections", edge.from_name), edge.kind);
    let place = format!("{kind_at}/{}/{}", edge.output, edge.place);
    let wrong_type = |message: String| {
        Draft::new(
            "agentctl/invalid-connection-type",
            Severity::Error,
            place.as_str(),
            message,
        )
    };
    if !CONNECTION_KINDS.contains(&edge.kind) {
        let message = format!(
            "{:?} is no connection type of n8n; failed items leave by the last main output when the node's onError is \"continueErrorOutput\"",
            edge.kind
        );
        return report.node(source, wrong_type(message));
    }
    if edge.kind != edge.input_kind {
        let message = format!(
            "leaves {:?} as {} and enters {:?} as {}; both ends have one type",
            edge.from_name, edge.kind, edge.to_name, edge.input_kind
        );
        return report.node(source, wrong_type(message));
    }
    if source.disabled || target.disabled {
        return;
    }
    let outputs = ports.get(from).and_then(|p| p.outputs.as_deref());
    if let Some(outputs) = outputs {
        let has = count(outputs, edge.kind);
        if has == 0 {
            let message = format!(
                "{:?} has no {} output (its outputs: {}){}",
                edge.from_name,
                edge.kind,
                kinds(outputs),
                turned(edge, ports)
            );
            return report.node(source, wrong_type(message));
        }
        // An output of its own for errors comes last and only when the node's onError asks for it.
        if edge.output >= has {
            report.node(
                source,
                out_of_range(&place, "output", edge.output as u64, has),
            );
        }
    }
    let inputs = ports.get(to).and_then(|p| p.inputs.as_deref());
    if let Some(inputs) = inputs {
        let has = count(inputs, edge.kind);
        if let Some(switch) = (has == 0).then(|| switched_on(target, edge.kind)).flatten() {
            let message = format!(
                "{:?} takes no {} while its parameter {switch:?} is off, so the connection does nothing",
                edge.to_name, edge.kind
            );
            let operation = EditOp::SetParameter {
                node: target.address(),
                pointer: format!("/{switch}"),
                value: true.into(),
            };
            let draft = Draft::new(
                "agentctl/input-switched-off",
                Severity::Warning,
                place.as_str(),
                message,
            );
            return report.node(
                target,
                draft.fix(
                    Confidence::Likely,
                    format!("turn {switch} on"),
                    vec![operation],
                ),
            );
        }
        if has == 0 {
            let message = format!(
                "{:?} has no {} input (its inputs: {})",
                edge.to_name,
                edge.kind,
                kinds(inputs)
            );
            return report.node(source, wrong_type(message));
        }
        // Sub-node inputs of one type are one socket or several of one connection each; their index is not used.
        if edge.kind == "main" && edge.input >= has as u64 {
            report.node(source, out_of_range(&place, "input", edge.input, has));
        }
    }
}

/// The parameter that would open an input of this kind.
fn switched_on(target: &NodeView, kind: &str) -> Option<&'static str> {
    let description = target.description()?;
    INPUT_SWITCHES.into_iter().find(|switch| {
        let mut parameters = target.filled.clone();
        parameters.insert((*switch).to_owned(), true.into());
        count(&description.inputs_for(&parameters), kind) > 0
    })
}

fn turned(edge: &Edge, ports: &[NodePorts]) -> &'static str {
    let offers = |at: Option<usize>| {
        let outputs = at.and_then(|at| ports.get(at)?.outputs.as_deref());
        outputs.is_some_and(|o| count(o, edge.kind) > 0)
    };
    if edge.kind != "main" && offers(edge.to) {
        "; connect it the other way round: the sub-node is the source"
    } else {
        ""
    }
}

fn out_of_range(place: &str, what: &str, index: u64, has: usize) -> Draft {
    let range = match has {
        1 => "its only index is 0".to_owned(),
        _ => format!("indexes are 0 to {}", has.saturating_sub(1)),
    };
    let message = format!("there is no {what} {index}; {range}");
    Draft::new(
        "agentctl/connection-index-out-of-range",
        Severity::Error,
        place,
        message,
    )
    .key(what)
}

fn missing_inputs(
    subject: &Subject,
    at: usize,
    node: &NodeView,
    ports: &NodePorts,
    report: &mut Report,
) {
    let required = ports
        .inputs
        .iter()
        .flatten()
        .filter(|p| p.required && p.kind != "main");
    let mut seen = BTreeSet::new();
    for port in required.filter(|p| seen.insert(p.kind.clone())) {
        let fed = subject
            .edges
            .iter()
            .any(|edge| edge.to == Some(at) && edge.input_kind == port.kind && edge.from.is_some());
        if !fed {
            let label = port.label.as_deref().unwrap_or(&port.kind);
            let message = format!(
                "needs a node connected to its input {label:?} ({})",
                port.kind
            );
            report.node(
                node,
                Draft::new("agentctl/missing-ai-input", Severity::Error, "", message)
                    .key(port.kind.as_str()),
            );
        }
    }
}

fn loose_sub_node(subject: &Subject, at: usize, node: &NodeView, report: &mut Report) {
    let outgoing = || {
        subject
            .edges
            .iter()
            .filter(|e| e.from == Some(at) && e.to.is_some())
    };
    let incoming_main = subject
        .edges
        .iter()
        .any(|e| e.to == Some(at) && e.kind == "main");
    if node.is_sub_node() && outgoing().next().is_none() && !incoming_main {
        let message = "serves other nodes but is connected to none; connect it to the node that uses it, or remove it";
        report.node(
            node,
            Draft::new(
                "agentctl/subnode-not-connected",
                Severity::Warning,
                "",
                message,
            ),
        );
    }
}

fn unreached(subject: &Subject, report: &mut Report) {
    let nodes = || subject.nodes.iter().enumerate();
    let starts: Vec<usize> = nodes()
        .filter(|(_, n)| n.trigger_like() && !n.disabled)
        .map(|(i, _)| i)
        .collect();
    if starts.is_empty() {
        return; // nothing starts at all, which is said once
    }
    let mut reached = subject.main_after.reached(starts.iter().copied());
    reached.extend(starts);
    for (i, node) in nodes() {
        let judged = !node.disabled && !node.is_sticky() && node.description().is_some();
        // What serves another node is reached with it.
        let serves = node.is_sub_node()
            || subject
                .edges
                .iter()
                .any(|e| e.from == Some(i) && e.kind != "main");
        if judged && !serves && !reached.contains(&i) {
            let message = "no trigger leads to this node, so it never runs";
            report.node(
                node,
                Draft::new("agentctl/unreachable-node", Severity::Warning, "", message),
            );
        }
    }
}
