//! What a folder would override, and whether its user has said that it may. An inventory names each thing with a hash; what was
//! approved is kept in the user's home by the folder's real path; the comparison of both is `InForce`, a value that whoever reads
//! project files must be handed. Must never take the word of a file in the folder, and never starts or sends anything.

mod book;
mod in_force;
mod inventory;
mod item;
mod servers;
mod settings;
mod tree;

#[cfg(test)]
mod later_tests;
#[cfg(test)]
mod trust_tests;

pub use book::{Book, Folder, TrustError, folder_key};
pub use in_force::{Basis, InForce, Judged, NotTrusted, Since, Standing, Verdict};
pub use inventory::{BuiltIn, Inventory, MAX_CATALOG, MAX_SETTINGS, N8N_DATA, n8n_item};
pub use item::{CATALOG, Item, Kind, SETTINGS};

/// Trusts exactly one inventory, wherever the folder lies: for CI.
pub const VARIABLE: &str = "AGENTCTL_TRUST";
