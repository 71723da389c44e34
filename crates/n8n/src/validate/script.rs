//! What was read in one piece of code, by the parser or without it.

use super::{field_reads::FieldRead, returns::Returns};

/// What was read in one piece of code.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Script {
    /// Why it does not run at all.
    pub problem: Option<Problem>,
    pub references: Vec<NodeReference>,
    pub calls_from_ai: bool,
    /// What a body gives back; None: it is an expression, or does not run at all.
    pub returns: Option<Returns>,
    /// Fields that a body reads of items and does not reckon with, where they were asked for.
    pub field_reads: Vec<FieldRead>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Problem {
    pub message: String,
    /// Byte offset in the code as given.
    pub at: usize,
}

/// `$('A').item`, `$node["A"].json`, `$items("A")`: a node named in code.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeReference {
    pub node: String,
    /// What is read of it: `item`, `isExecuted`, `json`, …
    pub property: Option<String>,
    /// Inside a `try` block: a failure is handled.
    pub caught: bool,
}
