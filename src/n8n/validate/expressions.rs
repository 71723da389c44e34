//! Expressions: references to nodes that are not there or run later, a forgotten `=`, braces that do not close, `$fromAI`
//! where no agent fills it.

use super::{
    leaves::{Leaf, leaves},
    path,
    report::{Draft, Report},
    subject::{NodeView, Subject},
};
use crate::n8n::{
    edit::{
        EditOp,
        references::{self, is_python},
    },
    finding::{Confidence, Severity},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Variables that only n8n's expressions know: with one of them inside, `{{ … }}` was meant as an expression.
const VARIABLES: [&str; 14] = [
    "$json",
    "$(",
    "$node[",
    "$node.",
    "$input",
    "$now",
    "$today",
    "$item",
    "$env.",
    "$vars.",
    "$execution.",
    "$workflow.",
    "$fromAI(",
    "$binary",
];

pub(super) fn check(subject: &Subject, node: &NodeView, report: &mut Report) {
    let mut upstream = None;
    for leaf in leaves(node) {
        if leaf.is_expression() || leaf.is_code() {
            for name in referenced(&leaf) {
                reference(subject, node, &leaf, &name, &mut upstream, report);
            }
        }
        if leaf.is_expression() {
            braces(node, &leaf, report);
            from_ai(subject, node, &leaf, report);
        } else {
            prefix(node, &leaf, report);
        }
    }
}

/// Names that the text refers to, once each: in the whole of a code text, in the `{{ }}` parts of an expression.
fn referenced(leaf: &Leaf) -> BTreeSet<String> {
    let parts: Vec<&str> = if leaf.is_code() && !leaf.is_expression() {
        // Whole comment lines often show references as examples.
        let comment = |line: &&str| line.trim_start().starts_with(['/', '*', '#']);
        leaf.text.lines().filter(|line| !comment(line)).collect()
    } else {
        expression_parts(leaf.text).parts
    };
    let python = is_python(leaf.key);
    let found = parts
        .iter()
        .flat_map(|part| references::references(part, python));
    found.map(|reference| reference.node).collect()
}

struct Parts<'a> {
    parts: Vec<&'a str>,
    /// A `{{` has no `}}`.
    open: bool,
}

fn expression_parts(text: &str) -> Parts<'_> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once("{{") {
        let Some((part, after)) = inside.split_once("}}") else {
            return Parts { parts, open: true };
        };
        parts.push(part);
        rest = after;
    }
    Parts { parts, open: false }
}

fn reference(
    subject: &Subject,
    node: &NodeView,
    leaf: &Leaf,
    name: &str,
    upstream: &mut Option<BTreeSet<usize>>,
    report: &mut Report,
) {
    let Some(target) = subject.named(name) else {
        // Code may name a node in a comment or in a branch that never runs.
        let severity = if leaf.is_code() {
            Severity::Warning
        } else {
            Severity::Error
        };
        let closest = closest(name, subject.names());
        let hint = closest.map_or(String::new(), |c| format!("; did you mean {c:?}?"));
        let message = format!("refers to the node {name:?}, which does not exist{hint}");
        let mut draft = Draft::new(
            "agentctl/unknown-reference",
            severity,
            leaf.pointer.as_str(),
            message,
        )
        .key(name);
        let renamed =
            closest.and_then(|c| references::rename(leaf.text, is_python(leaf.key), name, c));
        if let (Some(text), Some(closest)) = (renamed, closest) {
            draft = draft.fix(
                Confidence::Likely,
                format!("refer to {closest:?}"),
                vec![set(node, leaf, text)],
            );
        }
        return report.node(node, draft);
    };
    let upstream = upstream.get_or_insert_with(|| before(subject, node));
    if !upstream.contains(&target) {
        let message = format!(
            "refers to {name:?}, which does not run before this node; its data may be missing"
        );
        report.node(
            node,
            Draft::new(
                "agentctl/reference-not-upstream",
                Severity::Warning,
                leaf.pointer.as_str(),
                message,
            )
            .key(name),
        );
    }
}

fn closest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let scored = names.map(|n| (strsim::jaro_winkler(&wanted, &n.to_lowercase()), n));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.85).then_some(best.1)
}

fn set(node: &NodeView, leaf: &Leaf, text: String) -> EditOp {
    EditOp::SetParameter {
        node: node.address(),
        pointer: path::below_parameters(&leaf.pointer),
        value: Value::String(text),
    }
}

/// Every node that can have run before this one. A sub-node runs when the node it serves does, with that node's items.
fn before(subject: &Subject, node: &NodeView) -> BTreeSet<usize> {
    let roots = subject
        .served
        .reached([node.index])
        .into_iter()
        .chain([node.index]);
    subject.main_before.reached(roots)
}

fn braces(node: &NodeView, leaf: &Leaf, report: &mut Report) {
    if expression_parts(leaf.text).open {
        let message =
            "an expression starts with {{ and has no closing }}; it would be taken as text";
        report.node(
            node,
            Draft::new(
                "agentctl/unbalanced-expression",
                Severity::Error,
                leaf.pointer.as_str(),
                message,
            ),
        );
    }
}

fn prefix(node: &NodeView, leaf: &Leaf, report: &mut Report) {
    // Editors of code, SQL and HTML read `{{ }}` themselves or not at all; where no expression is allowed there is nothing to add.
    let own_syntax = leaf.is_code()
        || leaf.editor().is_some()
        || leaf
            .property
            .is_none_or(|p| p.no_expression || p.data_path.is_some());
    if own_syntax || leaf.text.starts_with('=') {
        return;
    }
    let parts = expression_parts(leaf.text).parts;
    let meant = |part: &&str| VARIABLES.iter().any(|variable| part.contains(variable));
    if parts.iter().any(meant) {
        let message = "holds {{ … }} but does not start with \"=\", so n8n takes it as plain text";
        let fix = set(node, leaf, format!("={}", leaf.text));
        report.node(
            node,
            Draft::new(
                "agentctl/missing-expression-prefix",
                Severity::Error,
                leaf.pointer.as_str(),
                message,
            )
            .fix(Confidence::Sure, "put \"=\" in front", vec![fix]),
        );
    }
}

fn from_ai(subject: &Subject, node: &NodeView, leaf: &Leaf, report: &mut Report) {
    let calls = |part: &&str| part.contains("$fromAI(") || part.contains("$fromai(");
    if !expression_parts(leaf.text).parts.iter().any(calls) || node.node_type.ends_with("Tool") {
        return;
    }
    let own = Some(node.index);
    let serves_agent = subject
        .edges
        .iter()
        .any(|e| e.from == own && e.kind == "ai_tool");
    if !serves_agent && !node.is_sub_node() {
        let message = "$fromAI is filled in by an agent that calls the node as a tool; this node is none, so it fails";
        report.node(
            node,
            Draft::new(
                "agentctl/fromai-outside-tool",
                Severity::Error,
                leaf.pointer.as_str(),
                message,
            ),
        );
    }
}
