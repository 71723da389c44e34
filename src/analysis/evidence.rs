//! What a statement about a run rests on. Without evidence nothing is said.

use serde::Serialize;
use std::collections::BTreeSet;

/// What a statement rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Numbers of journal records.
    pub events: Vec<u64>,
    /// Ids of findings.
    pub findings: Vec<String>,
    /// Ids of executions in n8n.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<String>,
}

/// One sentence with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Claim {
    pub text: String,
    pub evidence: Evidence,
}

/// The evidence that a journal has: what else is named was made up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Records are numbered from 1 to this.
    pub last_event: u64,
    pub findings: BTreeSet<String>,
    pub executions: BTreeSet<String>,
}
