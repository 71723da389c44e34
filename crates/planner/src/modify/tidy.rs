//! A message as it is read: without what only leads in ("no wait, …") or asks kindly, and with typos of one letter mended where a
//! word of changes or of a node's name was meant.

use super::words::{self, words};
use crate::chart::{What, chart};
use crate::compile::words::fold;
use crate::lexicon::{Alias, services};
use agentctl_n8n::{Node, Workflow};
use std::ops::Range;

/// A shorter word is no typo of another one.
const SHORTEST: usize = 5;

pub(crate) fn tidy(message: &str, workflow: Option<&Workflow>, language: &str) -> String {
    let spelled = respelled(&named(message, language), workflow, language);
    let mut text = spelled.as_str();
    while let Some(rest) = without_lead(text, language) {
        text = rest;
    }
    let kept = |text: &str| -> Vec<Range<usize>> {
        let nodes = workflow.into_iter().flat_map(|w| &w.nodes);
        let names = nodes.flat_map(|node| super::wire::places(text, node.name()));
        let literals = literals(text, language).into_iter();
        // "Subject: Thanks for your order" thanks nobody here.
        let value = super::bare::value_of_part(text, language);
        literals.chain(names).chain(value).collect()
    };
    let first = kept(text);
    let plain = super::idiom::plainly(text, language, &first);
    let kept = if plain == text { first } else { kept(&plain) };
    let text = plain.as_str();
    let mut kind = words::places(text, language, "please");
    kind.retain(|place| {
        !kept
            .iter()
            .any(|k| k.start <= place.start && place.end <= k.end)
    });
    kind.sort_by_key(|place| (std::cmp::Reverse(place.end), place.start));
    // Of forms within one another ("thank you", "thank you very much") the longest goes.
    let mut free = text.len();
    kind.retain(|place| {
        let apart = place.end <= free;
        free = if apart { place.start } else { free };
        apart
    });
    let mut tidy = text.to_owned();
    for place in kind {
        let behind = tidy.get(place.end..).unwrap_or_default();
        let blank = behind.len() - behind.trim_start_matches([',', ' ']).len();
        let comma = behind.get(..blank).is_some_and(|blank| blank.contains(','));
        let ahead = tidy.get(..place.start).unwrap_or_default();
        let from = ahead.trim_end_matches([',', ' ']).len();
        let joint = match (from == 0 || blank == 0, comma) {
            (true, _) => "",
            (false, true) => ", ",
            (false, false) => " ",
        };
        tidy.replace_range(from..place.end + blank, joint);
    }
    match words(&tidy).is_empty() && literals(&tidy, language).is_empty() {
        true => message.to_owned(),
        false => tidy,
    }
}

/// "teams instead of slack": where one thing comes for another, a name that is an ordinary word too is a name, though all is written
/// small or it stands first.
fn named(message: &str, language: &str) -> String {
    let signs = ["of", "instead", "exchange", "better"];
    if !signs.iter().any(|sign| words::has(message, language, sign)) {
        return message.to_owned();
    }
    let small = !message.chars().any(char::is_uppercase);
    let mut text = message.to_owned();
    for (at, (place, word)) in words(message).into_iter().enumerate().rev() {
        let is_name = |alias: &Alias| alias.capitalised && alias.text.to_lowercase() == word;
        let service = services()
            .iter()
            .find(|service| service.aliases.iter().any(is_name));
        if let Some(service) = service.filter(|_| small || at == 0) {
            text.replace_range(place, &service.label);
        }
    }
    text
}

/// What stands behind words that only lead in; None: there are none, or nothing stands behind them.
fn without_lead<'t>(text: &'t str, language: &str) -> Option<&'t str> {
    let first = words(text).first()?.0.start;
    let places = words::places(text, language, "lead");
    // "Instead, log it": where a comma stands behind it only.
    let parted = words::places(text, language, "lead-comma").into_iter();
    let parted = parted.filter(|place| text.get(place.end..).is_some_and(|t| t.starts_with(',')));
    let lead = places.into_iter().chain(parted);
    let lead = lead.filter(|place| place.start == first);
    let end = lead.map(|place| place.end).max()?;
    let rest = text.get(end..)?;
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ",.:;!…–-".contains(c));
    (!rest.is_empty() && rest.chars().any(char::is_alphanumeric)).then_some(rest)
}

/// What is given word for word.
fn literals(text: &str, language: &str) -> Vec<Range<usize>> {
    let items = chart(text, language).items.into_iter();
    let literal = items.filter(crate::chart::Item::literal);
    literal.map(|item| item.from..item.to).collect()
}

fn respelled(message: &str, workflow: Option<&Workflow>, language: &str) -> String {
    let nodes = workflow.into_iter().flat_map(|w| &w.nodes);
    let names: Vec<String> = nodes
        .map(Node::name)
        .flat_map(words)
        .map(|(_, word)| word)
        .collect();
    let mut mended = message.to_owned();
    for item in chart(message, language).items.iter().rev() {
        if item.what != What::Unknown && !item.spelled {
            continue;
        }
        let word = fold(message.get(item.from..item.to).unwrap_or_default());
        let plain = word.chars().count() >= SHORTEST && word.chars().all(char::is_alphabetic);
        let known = names.iter().any(|name| super::named::alike(name, &word))
            || words::is_known(&word, language);
        if !plain || known {
            continue;
        }
        let near = words::nearest(&word, language).or_else(|| {
            let near = |name: &&String| {
                name.chars().count() >= SHORTEST && strsim::osa_distance(name, &word) <= 1
            };
            names.iter().find(near).cloned()
        });
        if let Some(near) = near {
            mended.replace_range(item.from..item.to, &near);
        }
    }
    mended
}
