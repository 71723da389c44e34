//! What calls do, as far as harm goes, and what roles are granted for them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// What a call does, as far as harm goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    /// It changes nothing, and carries nothing to a place that its arguments choose.
    Read,
    /// It changes nothing, but its arguments may carry data out: a GET does.
    Egress,
    #[default]
    Change,
}

impl Does {
    pub fn name(self) -> &'static str {
        match self {
            Does::Read => "read",
            Does::Egress => "egress",
            Does::Change => "change",
        }
    }
    pub fn from_name(name: &str) -> Option<Does> {
        [Does::Read, Does::Egress, Does::Change]
            .into_iter()
            .find(|does| does.name() == name)
    }
}

/// What a tool does, by name: `read-items`. Each tool has one; policy.yaml grants them to roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Capability(&'static str);

impl Capability {
    /// Only a toolset names one. What a file says is looked up with [`Vocabulary::capability`].
    pub const fn named(name: &'static str) -> Capability {
        Capability(name)
    }

    /// As written in policy.yaml.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What was decided about a call of another server's tool besides whether it may be made: kept with the call, because neither
/// the rule nor the approved schema need be the same later.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Carries {
    pub effect: Does,
    /// Keys in the arguments that the approved schema does not name: whoever made the call chose them, as he chose the values.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub keys: BTreeSet<String>,
}
