//! Text in a learning that addresses an agent is shown as a quote: what stands there is data, and looks like it.

use std::borrow::Cow;

const MARK: &str = "quoted, addresses an agent: \"";

/// Beginnings and phrases with which a text turns to its reader instead of speaking of workflows. Lower case.
const ADDRESSES: &[&str] = &[
    "ignore previous",
    "ignore all",
    "ignore any",
    "ignore the above",
    "ignore your",
    "ignore every",
    "disregard ",
    "forget your",
    "forget all",
    "forget previous",
    "you are now",
    "you are a ",
    "you are an ",
    "you are the ",
    "you are allowed",
    "you must",
    "you can now",
    "you have permission",
    "your instructions",
    "your rules",
    "your task",
    "your role",
    "as an agent",
    "as an ai",
    "system prompt",
    "system:",
    "assistant:",
    "user:",
    "developer:",
    "dear agent",
    "dear model",
    "agent:",
    "agents must",
    "agents should",
    "agents may",
    "the agent must",
    "the agent may",
    "the builder must",
    "the builder may",
    "tell the user",
    "do not tell",
    "don't tell",
    "without asking",
    "without approval",
    "no approval",
    "skip validation",
    "skip the validation",
    "skip qa",
    "skip the check",
    "always approve",
    "always skip",
    "never ask",
    "never validate",
    "call the tool",
    "use the tool",
    "run the tool",
    "reveal ",
    "override ",
    "<system",
    "</",
    "<|",
    "[inst",
];

/// The text itself, or, when it addresses an agent, the text as a quote. Quoting twice changes nothing.
pub fn quoted(text: &str) -> Cow<'_, str> {
    if text.starts_with(MARK) || !addresses_agent(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{MARK}{}\"", text.replace('"', "'")))
}

pub fn addresses_agent(text: &str) -> bool {
    let flat = one_line(text).to_lowercase();
    // At the start of a word: `reuser:` is no address.
    let at_word = |at: usize| {
        flat.get(..at)
            .and_then(|before| before.chars().next_back())
            .is_none_or(|c| !c.is_alphanumeric())
    };
    ADDRESSES
        .iter()
        .any(|phrase| flat.match_indices(phrase).any(|(at, _)| at_word(at)))
        || names_native_call(&flat)
}

/// `call update_workflow`, `use delete_workflow`: an order to use a tool of ours.
fn names_native_call(flat: &str) -> bool {
    [
        "create_",
        "update_",
        "delete_",
        "activate_",
        "trigger_",
        "write_",
    ]
    .iter()
    .any(|verb| {
        flat.match_indices(verb).any(|(at, _)| {
            let tool = ["workflow", "learning"].iter().any(|noun| {
                flat.get(at + verb.len()..)
                    .is_some_and(|r| r.starts_with(noun))
            });
            let before = flat.get(..at).unwrap_or("").trim_end();
            tool && ["call", "use", "run", "invoke"]
                .iter()
                .any(|order| before.ends_with(order))
        })
    })
}
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
