//! `n8n/no-trigger`: nothing can start the workflow by itself, so n8n refuses to publish it.

use super::{
    js,
    report::{Draft, Report},
    subject::{NodeView, Subject},
};
use crate::finding::Severity;
use std::borrow::Cow;
use std::collections::HashSet;

/// Start nodes that n8n does not count for publishing: somebody has to click.
const MANUAL: [&str; 2] = [
    "n8n-nodes-base.manualTrigger",
    "@n8n/n8n-nodes-langchain.manualChatTrigger",
];

pub(super) fn check(subject: &Subject, report: &mut Report) {
    // n8n looks at an object keyed by names: of namesakes only the last exists, and `__proto__` is no key of its own.
    let mut taken = HashSet::from([Cow::Borrowed("__proto__")]);
    let existing: Vec<&NodeView> = subject
        .nodes
        .iter()
        .rev()
        .filter(|node| taken.insert(key(node)))
        .collect();
    let enabled = || existing.iter().filter(|n| !n.disabled);
    if enabled().any(|n| n.trigger_like() && !MANUAL.contains(&n.node_type)) {
        return;
    }
    // By hand is a way to start: it runs, but n8n will not publish it.
    let (severity, message) = if enabled().any(|n| MANUAL.contains(&n.node_type)) {
        (
            Severity::Warning,
            "the workflow starts by hand only; n8n publishes it once it has a trigger such as a schedule or a webhook",
        )
    } else {
        (
            Severity::Error,
            "no enabled node can start the workflow; add a trigger such as a schedule or a webhook",
        )
    };
    report.document(Draft::new("n8n/no-trigger", severity, "/nodes", message));
}

/// What JavaScript makes of the name as a key.
fn key<'a>(node: &NodeView<'a>) -> Cow<'a, str> {
    match node.name {
        Some(name) => Cow::Borrowed(name),
        None => Cow::Owned(
            node.raw
                .get("name")
                .map_or("undefined".to_owned(), js::text),
        ),
    }
}
