//! What a rule says of a call.

use serde::{Deserialize, Serialize};

/// deny > ask > allow. `rule` names what decided (a line of policy.yaml or a guard), `reason` says why in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "lowercase")]
pub enum Decision {
    Allow { rule: String },
    Ask { rule: String, reason: String },
    Deny { rule: String, reason: String },
}

impl Decision {
    pub fn rule(&self) -> &str {
        match self {
            Decision::Allow { rule } | Decision::Ask { rule, .. } | Decision::Deny { rule, .. } => {
                rule
            }
        }
    }
    /// The stricter of two: deny > ask > allow.
    pub fn and(self, other: Decision) -> Decision {
        let rank = |d: &Decision| match d {
            Decision::Allow { .. } => 0,
            Decision::Ask { .. } => 1,
            Decision::Deny { .. } => 2,
        };
        if rank(&other) > rank(&self) {
            other
        } else {
            self
        }
    }
}
