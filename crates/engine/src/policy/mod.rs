//! Who may do what: capabilities per role, rules for foreign tools, approvals. A decision is a value from a pure function.
//! Must never do IO; must refuse what it cannot decide.

mod decide;
mod examples;
mod explain;
mod facts;
mod grants;
mod literal;
mod load;
mod load_limits;
mod loosening;
mod origin;
mod tools;

#[cfg(test)]
mod decide_tests;
#[cfg(test)]
mod facts_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod loosening_tests;

pub use decide::{Effect, Policy, Rule};
pub use explain::Explanation;
pub use facts::{Carries, Does, Facts, PastCall, keys_of, read_text};
pub use grants::{Grants, Outside, RULE as PLAN_RULE};
pub use tools::{NATIVE_TOOLS, capability_of};

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

/// Every capability, in the order of the matrix.
pub const CAPABILITIES: &[Capability] = &[
    Capability::ListWorkflows,
    Capability::GetWorkflow,
    Capability::CreateWorkflow,
    Capability::UpdateWorkflow,
    Capability::AutofixWorkflow,
    Capability::RollbackWorkflow,
    Capability::DeleteWorkflow,
    Capability::ValidateDraft,
    Capability::ValidateFinal,
    Capability::ActivateWorkflow,
    Capability::TriggerWorkflow,
    Capability::ReadExecutions,
    Capability::ReadVersions,
    Capability::SearchNodes,
    Capability::SearchTemplates,
    Capability::NodeSchema,
    Capability::Delegate,
    Capability::ReadSkills,
    Capability::ReadLearnings,
    Capability::WriteLearnings,
];

impl Capability {
    /// As written in policy.yaml.
    pub fn name(self) -> &'static str {
        match self {
            Capability::ListWorkflows => "list-workflows",
            Capability::GetWorkflow => "get-workflow",
            Capability::CreateWorkflow => "create-workflow",
            Capability::UpdateWorkflow => "update-workflow",
            Capability::AutofixWorkflow => "autofix-workflow",
            Capability::RollbackWorkflow => "rollback-workflow",
            Capability::DeleteWorkflow => "delete-workflow",
            Capability::ValidateDraft => "validate-draft",
            Capability::ValidateFinal => "validate-final",
            Capability::ActivateWorkflow => "activate-workflow",
            Capability::TriggerWorkflow => "trigger-workflow",
            Capability::ReadExecutions => "read-executions",
            Capability::ReadVersions => "read-versions",
            Capability::SearchNodes => "search-nodes",
            Capability::SearchTemplates => "search-templates",
            Capability::NodeSchema => "node-schema",
            Capability::Delegate => "delegate",
            Capability::ReadSkills => "read-skills",
            Capability::ReadLearnings => "read-learnings",
            Capability::WriteLearnings => "write-learnings",
        }
    }

    /// How far the harm of a call goes.
    pub fn does(self) -> Does {
        match self {
            Capability::CreateWorkflow
            | Capability::UpdateWorkflow
            | Capability::AutofixWorkflow
            | Capability::RollbackWorkflow
            | Capability::DeleteWorkflow
            | Capability::ActivateWorkflow
            | Capability::TriggerWorkflow
            | Capability::WriteLearnings => Does::Change,
            // A search goes to n8n's own library.
            Capability::SearchTemplates => Does::Egress,
            Capability::ListWorkflows
            | Capability::GetWorkflow
            | Capability::ValidateDraft
            | Capability::ValidateFinal
            | Capability::ReadExecutions
            | Capability::ReadVersions
            | Capability::SearchNodes
            | Capability::NodeSchema
            | Capability::Delegate
            | Capability::ReadSkills
            | Capability::ReadLearnings => Does::Read,
        }
    }

    pub fn from_name(name: &str) -> Option<Capability> {
        CAPABILITIES.iter().copied().find(|c| c.name() == name)
    }
}

/// What a run may use. All finite: a limit that is not written has its default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Model calls in one step.
    pub max_turns: u64,
    /// Model calls in one run.
    pub max_model_calls: u64,
    /// Tool calls in one run.
    pub max_tool_calls: u64,
    /// The same call (tool and arguments) in one step.
    pub max_identical_calls: u64,
    /// Input and output tokens in one run.
    pub max_tokens: u64,
    pub max_cost_usd: f64,
    /// Work in one run, in seconds; waiting for the user does not count.
    pub max_seconds: u64,
    /// How long an approval counts, in seconds from the question on.
    pub max_approval_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_turns: 30,
            max_model_calls: 200,
            max_tool_calls: 400,
            max_identical_calls: 3,
            max_tokens: 2_000_000,
            max_cost_usd: 10.0,
            max_seconds: 3_600,
            max_approval_seconds: 86_400,
        }
    }
}
