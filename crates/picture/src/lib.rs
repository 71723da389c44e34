//! Workflows as pictures, and the pages that hold them. Pure: no IO, no clock. Everything that is drawn comes from outside, so nothing is
//! written but through `escape`: no name can leave its place, and a page's policy (CSP) lets neither a script of a name nor a request
//! to a network through.

mod escape;
mod icons;
mod mermaid;
pub mod page;
mod scene;
mod svg;
mod wires;
mod words;
mod workflow_page;

use agentctl_n8n::{Finding, Node, Workflow, catalog::Catalog};

pub use mermaid::mermaid;
pub use svg::{Style, svg};
pub use words::heading;
pub use workflow_page::{severity, workflow_page};

/// More nodes than these make no picture that anybody could read.
pub const MOST_NODES: usize = 1_000;

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub workflow: &'a Workflow,
    /// Names the outputs as n8n does, and tells the kinds of nodes.
    pub catalog: &'a Catalog,
    /// Marked on their nodes.
    pub findings: &'a [Finding],
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{nodes} nodes are too many for a picture (at most {MOST_NODES})")]
pub struct TooLarge {
    pub nodes: usize,
}

/// Whether a finding is of this node.
fn is_of(finding: &Finding, node: &Node) -> bool {
    match finding.node_id.as_deref() {
        Some(id) if !id.is_empty() => id == node.id_text(),
        _ => finding.node.as_deref() == Some(node.name()),
    }
}
