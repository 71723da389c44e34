//! Connections against the ports that the nodes have under their parameters; sub-nodes that are missing or hang loose.

use super::{
    path::joined,
    report::{Draft, Report},
    rules,
    subject::{Edge, NodeView, Subject},
};
use crate::{
    catalog::{Port, Ports},
    edit::{CONNECTION_KINDS, EditOp},
    finding::Confidence,
};
use serde_json::Value;
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeSet;

/// Parameters that open an AI input when they are true.
const INPUT_SWITCHES: [&str; 4] = ["hasOutputParser", "needsFallback", "useReranker", "autoFix"];
/// Parameters whose value decides on the inputs.
const INPUT_CHOICES: [&str; 8] = [
    "mode",
    "operation",
    "resource",
    "agent",
    "operationMode",
    "textSplittingMode",
    "chunkingMode",
    "memory",
];

pub(super) fn check(subject: &Subject, ports: &[NodePorts], report: &mut Report) {
    for edge in &subject.edges {
        ends(subject, edge, ports, report);
    }
    for (node, ports) in subject.nodes.iter().zip(ports) {
        if node.disabled || node.is_sticky() {
            continue;
        }
        missing_inputs(subject, node, ports, report);
        loose_sub_node(subject, node, report);
    }
}

/// The ports of every node, in the order of the nodes.
pub(super) fn ports<'a>(subject: &'a Subject) -> Vec<NodePorts<'a>> {
    subject.nodes.iter().map(NodePorts::of).collect()
}

/// None where they are not known.
pub(super) struct NodePorts<'a> {
    pub inputs: Option<Cow<'a, [Port]>>,
    pub outputs: Option<Cow<'a, [Port]>>,
}

impl<'a> NodePorts<'a> {
    fn of(node: &'a NodeView) -> Self {
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

pub(super) fn count(ports: &[Port], kind: &str) -> usize {
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
    let place = LazyCell::new(|| {
        let kind_at = joined(&joined("/connections", edge.from_name), edge.kind);
        format!("{kind_at}/{}/{}", edge.output, edge.place)
    });
    let wrong_type = |message: String| rules::INVALID_CONNECTION_TYPE.at(place.as_str(), message);
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
        if has == 0
            && let Some(draft) = switched_off(target, edge, &place)
        {
            return report.node(target, draft);
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

/// What to say when another value of a parameter would open an input of this kind.
fn switched_off(target: &NodeView, edge: &Edge, place: &str) -> Option<Draft> {
    let description = target.description()?;
    let opens = |name: &str, value: &Value| {
        let mut parameters = target.filled.to_map();
        parameters.insert(name.to_owned(), value.clone());
        count(&description.inputs_for(&parameters), edge.kind) > 0
    };
    let said = |what: String| {
        let message = format!(
            "{:?} takes no {} while its parameter {what}, so the connection does nothing",
            edge.to_name, edge.kind
        );
        rules::INPUT_SWITCHED_OFF.at(place, message)
    };
    for switch in INPUT_SWITCHES {
        if opens(switch, &Value::Bool(true)) {
            let operation = EditOp::SetParameter {
                node: target.address(),
                pointer: format!("/{switch}"),
                value: true.into(),
            };
            let draft = said(format!("{switch:?} is off"));
            return Some(draft.fix(
                Confidence::Likely,
                format!("turn {switch} on"),
                vec![operation],
            ));
        }
    }
    if !matches!(description.inputs, Ports::Rule(_)) {
        return None;
    }
    let choices = description.properties.iter();
    choices
        .filter(|p| INPUT_CHOICES.contains(&p.name.as_str()))
        .find(|p| p.options.iter().any(|o| opens(&p.name, &o.value)))
        .map(|p| {
            let value = target.filled.get(&p.name).unwrap_or(&Value::Null);
            said(format!("{:?} is {value}", p.name))
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
    rules::CONNECTION_INDEX.at(place, message).key(what)
}

fn missing_inputs(subject: &Subject, node: &NodeView, ports: &NodePorts, report: &mut Report) {
    let required = || {
        let inputs = ports.inputs.iter().flat_map(|ports| ports.iter());
        inputs.filter(|p| p.required && p.kind != "main")
    };
    let mut seen = BTreeSet::new();
    for port in required().filter(|p| seen.insert(p.kind.as_str())) {
        let needed = required().filter(|p| p.kind == port.kind).count();
        // n8n looks at enabled sub-nodes only.
        let enabled = |edge: &&Edge| {
            let source = edge.from.and_then(|at| subject.nodes.get(at));
            source.is_some_and(|n| !n.disabled)
        };
        let connected = || {
            subject
                .entering(node.index)
                .filter(|e| e.input_kind == port.kind)
        };
        let fed = connected().filter(enabled).count();
        if fed >= needed {
            continue;
        }
        let missing = required().filter(|p| p.kind == port.kind).nth(fed);
        let label = missing
            .and_then(|p| p.label.as_deref())
            .unwrap_or(&port.kind);
        let message = if connected().count() > fed {
            format!(
                "needs an enabled node on its input {label:?} ({}); the one that is connected is disabled",
                port.kind
            )
        } else {
            format!(
                "needs a node connected to its input {label:?} ({})",
                port.kind
            )
        };
        report.node(
            node,
            rules::MISSING_AI_INPUT
                .at("", message)
                .key(port.kind.as_str()),
        );
    }
}

fn loose_sub_node(subject: &Subject, node: &NodeView, report: &mut Report) {
    let used = subject.leaving(node.index).next().is_some()
        || subject.entering(node.index).any(|e| e.kind == "main");
    if node.is_sub_node() && !used {
        let message = "serves other nodes but is connected to none; connect it to the node that uses it, or remove it";
        report.node(node, rules::SUBNODE_NOT_CONNECTED.at("", message));
    }
}
