//! Nodes whose items come out as they went in, whatever their parameters say: the list for checks and tests.

use crate::workflow::short_type;

/// Their names in n8n's own package; whether the items are quite the same ones, of the one input, or may have more fields, be joined, or
/// be others after a pause.
const PASSING: [(&str, bool); 12] = [
    ("executionData", false),
    ("filter", true),
    ("if", true),
    ("limit", true),
    ("merge", false),
    ("noOp", true),
    ("removeDuplicates", false),
    ("respondToWebhook", false),
    ("sort", true),
    ("splitInBatches", false),
    ("switch", true),
    ("wait", false),
];

/// Whether a node of this type, of whatever package, hands on the items that it gets.
pub(crate) fn hands_on(node_type: &str) -> bool {
    let short = short_type(node_type);
    PASSING.iter().any(|(name, _)| *name == short)
}

/// Whether it does so with exactly the fields that they have.
pub(crate) fn hands_on_the_same(node_type: &str) -> bool {
    let own = node_type.strip_prefix("n8n-nodes-base.");
    PASSING
        .iter()
        .any(|(name, same)| *same && Some(*name) == own)
}
