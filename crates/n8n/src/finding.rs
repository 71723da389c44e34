//! Findings: what a check says about a workflow. `n8n/*` is what n8n itself enforces, `agentctl/*` what a run would hit.

use super::edit::EditOp;
use serde::{Deserialize, Serialize};

/// error: it will fail. warning: it probably does the wrong thing. info: worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// How sure a fix is: `sure` ones are applied by `qa --fix` and `autofix_workflow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    Likely,
    Sure,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    pub confidence: Confidence,
    pub title: String,
    pub ops: Vec<EditOp>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable over runs and over unrelated edits: a hash of code, node id (or name), pointer below the node and the value's key.
    pub id: String,
    /// e.g. `n8n/parameter`, `agentctl/unknown-reference`.
    pub code: String,
    pub severity: Severity,
    /// The node's name, when the finding belongs to one.
    pub node: Option<String>,
    pub node_id: Option<String>,
    /// JSON pointer into the workflow document, e.g. `/nodes/3/parameters/channelId`.
    pub pointer: String,
    /// Where the value itself stands, when the pointer names it as n8n does: by the parameter alone, however deep it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<String>,
    /// What was seen, what is allowed.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fix: Option<Fix>,
}

impl Finding {
    /// The same with every text that may hold the workflow's own words written anew: by who hides secrets in it.
    #[must_use]
    pub fn rewritten(self, write: impl Fn(&str) -> String) -> Finding {
        Finding {
            node: self.node.map(|name| write(&name)),
            message: write(&self.message),
            fix: self.fix.map(|fix| Fix {
                title: write(&fix.title),
                ..fix
            }),
            ..self
        }
    }
}
