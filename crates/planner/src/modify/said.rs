//! What a message says besides a change: that it asks, thanks, takes something back, and which nodes it is about.

use super::{mention, wire, words};
use agentctl_n8n::Workflow;

/// The language of a message: as its function words say; where they are few, the one whose tables of changes know most of its words
/// besides ("Trenne Archive", "no wait, undo").
pub(crate) fn spoken(message: &str) -> &'static str {
    const FEW: usize = 6;
    let likely = agentctl_kit::language::likeliest(message);
    match likely.as_slice() {
        [one] if words::words(message).len() > FEW => one,
        _ => {
            let all = agentctl_kit::language::languages().rev();
            let small = agentctl_kit::language::counted(message);
            let most = |language: &&str| {
                let own = small.iter().find(|(_, name)| name == language);
                own.map_or(0, |(count, _)| *count) + words::known(message, language)
            };
            { all }.max_by_key(most).unwrap_or("en")
        }
    }
}

/// Whether a class of words (`knowledge/lang/*/change.tsv`) stands anywhere in a message.
pub(crate) fn is_said(message: &str, language: &str, class: &str) -> bool {
    words::has(message, language, class)
}

/// Whether a message says a class of words, and besides nothing that means anything.
pub(crate) fn says_only(message: &str, language: &str, class: &str) -> bool {
    const SMALL: [&str; 6] = [
        "filler",
        "please",
        "correct",
        "pronoun",
        "meanwhile",
        "lead",
    ];
    let said = words::places(message, language, class);
    let small = SMALL
        .iter()
        .flat_map(|small| words::places(message, language, small));
    let known: Vec<_> = said.iter().cloned().chain(small).collect();
    let told = words::words(message).iter().all(|(word, _)| {
        known
            .iter()
            .any(|place| place.start <= word.start && word.end <= place.end)
    });
    !said.is_empty() && told
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
