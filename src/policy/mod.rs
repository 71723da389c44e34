//! Who may do what: capabilities per role, rules for foreign tools, approvals. A decision is a value from a pure function.
//! Must never do IO; must refuse what it cannot decide.

mod decide;
mod load;

pub use decide::*;
pub use load::*;

use serde::{Deserialize, Serialize};

/// What a native tool does, one each. The matrix in `policy.yaml` grants them to roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    ListWorkflows,
    GetWorkflow,
    CreateWorkflow,
    UpdateWorkflow,
    AutofixWorkflow,
    RollbackWorkflow,
    DeleteWorkflow,
    ValidateDraft,
    ValidateFinal,
    ActivateWorkflow,
    TriggerWorkflow,
    ReadExecutions,
    ReadVersions,
    SearchNodes,
    SearchTemplates,
    NodeSchema,
    Delegate,
    ReadSkills,
    ReadLearnings,
    WriteLearnings,
}

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
