//! The offline model: a deterministic planner that fills the agents' roles without a key and without a network.
//! It reads a request into a [`plan::Plan`], compiles a plan into a workflow and edits an existing workflow; it never
//! invents a node type or a parameter (both come from the catalog) and asks about what it cannot read.

pub mod compile;
pub mod lexicon;
pub mod modify;
pub mod plan;
pub mod read;
