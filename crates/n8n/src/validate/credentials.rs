//! `n8n/credential`: a required credential that the node asks for under its parameters is absent or has no id.
//! A warning, though n8n refuses to publish: see the module above. What a request's parameters choose n8n itself does not look at, nor at an
//! account that it does not call required although the node's authentication is by it.

use super::{
    js::is_truthy,
    path::joined,
    report::{Draft, Report},
    rules,
    subject::NodeView,
};
use crate::finding::Severity;
use crate::needs;
use serde_json::Value;

pub(super) fn check(node: &NodeView, report: &mut Report) {
    let Some(description) = node.description() else {
        return;
    };
    let set = node.raw.get("credentials");
    for slot in description.credentials.iter().filter(|slot| slot.required) {
        if !description.credential_visible(slot, &node.filled) {
            continue;
        }
        let label = slot
            .label
            .as_deref()
            .or(slot.type_label.as_deref())
            .unwrap_or(&slot.name);
        let message = match set.and_then(|s| s.get(&slot.name)).filter(|c| is_truthy(c)) {
            None => format!("still to connect: {label}"),
            Some(credential) => {
                let has = |key: &str| credential.get(key).is_some_and(is_truthy);
                if has("id") || has("__aiGatewayManaged") {
                    continue;
                }
                format!("still to connect: {label} is named but has no id")
            }
        };
        report.node(
            node,
            Draft::new(
                "n8n/credential",
                Severity::Warning,
                joined("/credentials", &slot.name),
                message,
            ),
        );
    }
    for slot in &description.credentials {
        let asked =
            needs::is_by_authentication(slot) && description.credential_visible(slot, &node.filled);
        let id = set
            .and_then(|s| s.get(&slot.name))
            .and_then(|c| c.get("id"));
        if asked && !id.is_some_and(is_truthy) {
            not_connected(node, &slot.name, report);
        }
    }
    chosen(node, set, report);
}

/// The account that a request's own parameters choose. n8n publishes without it, and the run ends with "Credentials not found".
fn chosen(node: &NodeView, set: Option<&Value>, report: &mut Report) {
    let Some(chosen) = needs::chosen(|key| node.filled.get(key)) else {
        return;
    };
    let slots = node.description().map(|d| d.credentials.as_slice());
    let listed = slots
        .unwrap_or_default()
        .iter()
        .any(|s| s.required && s.name == chosen);
    let id = set.and_then(|s| s.get(chosen)).and_then(|c| c.get("id"));
    if listed || id.is_some_and(is_truthy) {
        return;
    }
    not_connected(node, chosen, report);
}

fn not_connected(node: &NodeView, kind: &str, report: &mut Report) {
    let message = format!("its authentication is by {kind}, and no such credential is connected");
    report.node(
        node,
        rules::CREDENTIAL_NOT_CONNECTED.at(joined("/credentials", kind), message),
    );
}
