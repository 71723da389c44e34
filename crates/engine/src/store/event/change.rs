//! What the journal says of a change of a resource: what it was about to do, and what it did.

use crate::store::ResourceId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a mutation is about to do, so that a crash between intent and result can be settled by reading back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MutationExpectation {
    /// None: a new one, whose id is not known yet.
    pub resource: Option<ResourceId>,
    /// Revision before; None: the resource does not exist yet.
    pub before: Option<String>,
    /// Revision after, when it can be computed beforehand; None for a deletion.
    pub after: Option<String>,
    /// For a change of an existing resource: the unified diff that the user is shown before it is written, secrets hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What its toolset needs to settle it and to report of it, in the toolset's own words.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl MutationExpectation {
    /// The id of the resource, where it is known.
    pub fn id(&self) -> Option<&str> {
        self.resource.as_ref().map(|of| of.id.as_str())
    }
}

/// What a mutation did, as read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub resource: ResourceId,
    pub before: Option<String>,
    pub after: Option<String>,
    /// Of what is there now, in parts, whatever the toolset counts.
    pub size: usize,
    /// The snapshot that puts it back; None when the resource was created by this call.
    pub snapshot: Option<String>,
}

impl Change {
    /// The id of the resource.
    pub fn id(&self) -> &str {
        &self.resource.id
    }
}
