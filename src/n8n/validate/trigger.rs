//! `n8n/no-trigger`: nothing can start the workflow by itself, so n8n refuses to publish it.

use super::{
    report::{Draft, Report},
    subject::{NodeView, Subject},
};
use crate::n8n::finding::Severity;

/// Start nodes that n8n does not count for publishing: somebody has to click.
const MANUAL: [&str; 2] = [
    "n8n-nodes-base.manualTrigger",
    "@n8n/n8n-nodes-langchain.manualChatTrigger",
];

pub(super) fn check(subject: &Subject, report: &mut Report) {
    // Only the last of several nodes with one name exists for n8n.
    let exists =
        |(i, n): (usize, &NodeView)| n.name.is_none_or(|name| subject.named(name) == Some(i));
    let enabled = || {
        let nodes = subject.nodes.iter().enumerate();
        nodes
            .filter(move |(i, n)| exists((*i, n)) && !n.disabled)
            .map(|(_, n)| n)
    };
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
