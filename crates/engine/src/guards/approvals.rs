//! What an approval is bound to, and how the journal says that one was given.

use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_base::decision::Decision;
use serde_json::{Value, json};

/// The sha-256 of what is approved. For a call: rule, role, tool, arguments, and the state of what it is about, so that an answer
/// for one state does not count for another.
pub fn approval_hash(rule: &str, subject: &Value) -> String {
    sha256_hex(canonical(&json!({"rule": rule, "subject": subject})).as_bytes())
}

const APPROVED: &str = "approved:";

/// The rule that the journal shows for a call that the user allowed: `approved:guard.wipe`, several joined by commas.
pub(crate) fn approved(rules: &[String]) -> String {
    format!("{APPROVED}{}", rules.join(","))
}

/// The rules whose question the user answered with yes, as the journaled decision says it.
pub fn approved_rules(decision: &Decision) -> impl Iterator<Item = &str> {
    let rules = match decision {
        Decision::Allow { rule } => rule.strip_prefix(APPROVED),
        _ => None,
    };
    rules.into_iter().flat_map(|rules| rules.split(','))
}

pub(super) fn is_yes(value: &Value) -> bool {
    match value {
        Value::Bool(yes) => *yes,
        Value::String(text) => matches!(
            text.trim().to_ascii_lowercase().as_str(),
            "approve" | "approved" | "yes" | "y" | "allow" | "true"
        ),
        _ => false,
    }
}
