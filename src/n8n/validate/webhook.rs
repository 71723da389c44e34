//! A webhook that waits for a "respond" node needs one behind it, and a "respond" node needs such a webhook before it.

use super::{
    report::{Draft, Report},
    subject::{NodeView, Subject},
};
use crate::n8n::finding::Severity;

const RESPOND: &str = "n8n-nodes-base.respondToWebhook";
const WEBHOOK: &str = "n8n-nodes-base.webhook";
/// The values of `responseMode` that leave the answer to a node.
const BY_NODE: [&str; 2] = ["responseNode", "responseNodes"];

pub(super) fn check(subject: &Subject, node: &NodeView, report: &mut Report) {
    let mode = |n: &NodeView| {
        n.filled
            .get("responseMode")
            .and_then(|m| m.as_str())
            .map(str::to_owned)
    };
    let enabled_type = |at: &usize, wanted: &str| {
        subject
            .nodes
            .get(*at)
            .is_some_and(|n| n.node_type == wanted && !n.disabled)
    };
    if node.node_type == WEBHOOK && mode(node).is_some_and(|m| BY_NODE.contains(&m.as_str())) {
        let behind = subject.main_after.reached([node.index]);
        if !behind.iter().any(|at| enabled_type(at, RESPOND)) {
            let message = "answers by a \"Respond to Webhook\" node, but none is behind it; add one or set responseMode to \"onReceived\" or \"lastNode\"";
            report.node(
                node,
                Draft::new(
                    "agentctl/respond-node-missing",
                    Severity::Error,
                    "/parameters/responseMode",
                    message,
                ),
            );
        }
    }
    if node.node_type == RESPOND {
        let before = subject.main_before.reached([node.index]);
        let webhooks: Vec<&NodeView> = before
            .iter()
            .filter(|at| enabled_type(at, WEBHOOK))
            .filter_map(|at| subject.nodes.get(*at))
            .collect();
        let waits = |n: &&NodeView| {
            mode(n).is_none_or(|m| BY_NODE.contains(&m.as_str()) || m.starts_with('='))
        };
        if !webhooks.is_empty() && !webhooks.iter().any(waits) {
            let message = "the webhook before it does not wait for a \"Respond to Webhook\" node; set its responseMode to \"responseNode\"";
            report.node(
                node,
                Draft::new(
                    "agentctl/respond-node-unused",
                    Severity::Warning,
                    "/type",
                    message,
                ),
            );
        }
    }
}
