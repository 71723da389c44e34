//! A bot that is called by its name: "whenever someone mentions our bot in #help". The mention is the event, not a chat window.

use super::event::event_trigger;
use super::*;

const CALLED: &str =
    r"\b(?:mention(?:s|ed)?|@-?mention\w*|tags?|tagged|erwähn\w*|menciona\w*|mentionn\w*)\b";

/// True: the mention starts the flow; its clause keeps what else it says.
pub(super) fn mentioned(
    mem: &mut Memory<'_>,
    clauses: &mut Vec<Clause>,
    whole: &str,
    found: &mut Found,
) -> bool {
    let m = mem.m;
    let Some(at) = clauses.iter().position(|c| {
        has(CALLED, &c.text)
            && has(r"\b(?:bot|chat ?bot|assistant|agent|app|us)\b", &c.text)
            && has(r"^(?:(?:and|hey|hi),?\s+)?{if}\b", &c.text)
    }) else {
        return false;
    };
    let text = clauses.get(at).map(|c| c.text.clone()).unwrap_or_default();
    let host = services_in(m, &text)
        .into_iter()
        .chain(services_in(m, whole))
        .find(|e| {
            e.service
                .is_some_and(|s| s.is("chat") && !s.triggers.is_empty())
        });
    let Some((e, entry)) = host.and_then(|e| Some((e, e.service?))) else {
        return false;
    };
    mem.trigger = Some(entry);
    let (event, rest) = split_event(&text);
    let mut trigger = event_trigger(m, entry, e, "mention", &event);
    if let Trigger::Service { event: said, .. } = &mut trigger {
        "someone mentions the bot".clone_into(said);
    }
    found.triggers.push(trigger);
    if let Some(c) = clauses.get_mut(at) {
        c.text = rest.unwrap_or_default();
    }
    // "Data assistant in Slack:" names the thing, it does nothing.
    for c in clauses.iter_mut().take(at) {
        if crate::read::act::verb_in(&c.text).is_none() {
            c.text.clear();
        }
    }
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
    true
}
