//! What a catalog was made from, and why one cannot be made or read.

use serde::{Deserialize, Serialize};

/// What a catalog was made from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogSource {
    /// The n8n release, where the build was told.
    pub n8n_version: Option<String>,
    pub packages: Vec<PackageVersion>,
    /// Node types as n8n publishes them, without the tool variants it makes.
    pub types: usize,
    /// Pairs of a type and a version.
    pub type_versions: usize,
    /// SHA-256 of the facts, in hex.
    pub sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageVersion {
    pub name: String,
    pub version: Option<String>,
}

/// Why a catalog cannot be built or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    #[error("cannot read {file} as node facts: {message}")]
    Input { file: String, message: String },
    #[error("no node types in the files given; expected a package's dist/types/nodes.json")]
    Empty,
    #[error("not a catalog file; build one with `agentctl catalog build`")]
    NotACatalog,
    #[error(
        "the catalog file is of version {0}, this agentctl reads version 1; update agentctl, or build it again with `agentctl catalog build`"
    )]
    Version(u8),
    #[error("the catalog file is damaged ({0}); build it again with `agentctl catalog build`")]
    Damaged(&'static str),
    #[error("the facts are too large for the catalog format (4 GiB)")]
    TooLarge,
    #[error("cannot encode the facts: {0}")]
    Encode(String),
}

impl CatalogError {
    pub(super) fn encode(error: serde_json::Error) -> Self {
        CatalogError::Encode(error.to_string())
    }
}
