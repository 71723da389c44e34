//! The n8n domain: workflow documents, the node catalog, edits, diffs, layout, hashes, findings.
//! Pure: no IO, no clock, no randomness.

#[cfg(any(test, feature = "testkit"))]
pub mod arbitrary;
pub mod autofix;
mod branches;
pub mod catalog;
pub mod dead;
pub mod diff;
pub mod edit;
pub mod finding;
pub mod fit;
pub mod hash;
pub mod layout;
pub mod needs;
pub mod part;
mod passing;
pub mod rehearsal;
pub mod todo_note;
pub mod tree;
mod trigger;
pub mod validate;
pub mod workflow;

pub use branches::Branches;
pub use edit::EditOp;
pub use finding::{Finding, Severity};
pub use trigger::{TriggerKind, TriggerPoint, trigger_points};
pub use workflow::{Connections, Link, Node, NodeId, Workflow, WorkflowId, short_type};
