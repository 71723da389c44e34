//! `n8n/credential`: a required credential that the node asks for under its parameters is absent or has no id.
//! A warning, though n8n refuses to publish: see the module above.

use super::{
    js::is_truthy,
    path::joined,
    report::{Draft, Report},
    subject::NodeView,
};
use crate::finding::Severity;

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
}
