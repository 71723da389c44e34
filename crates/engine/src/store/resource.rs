//! Which thing outside a record is about, and in which state it is. What the thing is, is its toolset's.

use serde::{Deserialize, Serialize};

/// Which thing outside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceId {
    /// What it is: `document`. One word, as the toolset calls it.
    pub kind: String,
    /// Its id among those of its kind.
    pub id: String,
}

impl ResourceId {
    pub fn new(kind: impl Into<String>, id: impl Into<String>) -> Self {
        ResourceId {
            kind: kind.into(),
            id: id.into(),
        }
    }
}

/// A state of a resource, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceMark {
    pub resource: ResourceId,
    /// Two states with the same revision mean the same.
    pub revision: String,
    /// In parts, whatever the toolset counts.
    pub size: usize,
}
