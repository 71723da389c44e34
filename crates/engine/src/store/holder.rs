//! Who has the project, as its lock file says.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Who has the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    #[serde(default)]
    pub run_id: Option<String>,
    /// UTC, RFC 3339.
    pub since: String,
    #[serde(default)]
    pub host: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        if let Some(run) = &self.run_id {
            write!(f, " (run {run})")?;
        }
        if let Some(host) = &self.host {
            write!(f, " on {host}")?;
        }
        write!(f, " since {}", self.since)
    }
}
