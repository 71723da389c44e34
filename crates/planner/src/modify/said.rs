//! What a message says besides a change: that it asks, thanks, takes something back, and which nodes it is about.

use super::{mention, wire, words};
use agentctl_n8n::Workflow;

/// The language of a message: as its function words say, where they leave several its words of changes ("Trenne Archive").
pub(crate) fn spoken(message: &str) -> &'static str {
    let likely = agentctl_kit::language::likeliest(message);
    match likely.as_slice() {
        [] => {
            let all: Vec<&str> = agentctl_kit::language::languages().collect();
            words::most_of(message, &all)
        }
        several => words::most_of(message, several),
    }
    .unwrap_or("en")
}

/// Whether a class of words (`knowledge/lang/*/change.tsv`) stands anywhere in a message.
pub(crate) fn is_said(message: &str, language: &str, class: &str) -> bool {
    words::has(message, language, class)
}

/// Whether a message begins with a class of words.
pub(crate) fn begins(message: &str, language: &str, class: &str) -> bool {
    words::begins(message, language, class)
}

/// The nodes that a message names by their whole names, in its order.
fn said(workflow: &Workflow, message: &str) -> Vec<String> {
    wire::all_named(workflow, message)
}

/// The nodes that a message means: by their names, else by their kind.
pub(crate) fn meant(workflow: &Workflow, message: &str) -> Vec<String> {
    let named = said(workflow, message);
    match named.is_empty() {
        true => mention::all(workflow, message),
        false => named,
    }
}
