//! Names that are not quoted: "the Google Sheet Log, tab Sent". A capitalised word right behind a thing that has a name is one.

use super::{slot, words};
use crate::chart::{Item, chart};
use crate::spot::Kind;
use std::ops::Range;

/// What has a name: concepts of nouns, and tags of services.
const CONCEPTS: [&str; 9] = [
    "project",
    "tab",
    "table",
    "spreadsheet",
    "folder",
    "board",
    "list",
    "calendar",
    "database",
];
const TAGS: [&str; 4] = ["sheet", "db", "base", "files"];

/// The clause with marks around its bare names; None: it has none.
pub(super) fn quoted(clause: &str, language: &str) -> Option<String> {
    let chart = chart(clause, language);
    let has_name = |item: &Item| {
        let noun = item.noun().map(|noun| noun.concept.as_str());
        let service = item.service();
        noun.is_some_and(|concept| CONCEPTS.contains(&concept))
            || service.is_some_and(|service| TAGS.iter().any(|tag| service.is(tag)))
    };
    let mut names = Vec::new();
    for (at, pair) in chart.items.windows(2).enumerate() {
        let [thing, name] = pair else { continue };
        let is_word = match name.shape() {
            Some(kind) => kind == Kind::Word,
            None => name.service().is_none(),
        };
        let written = clause.get(name.from..name.to).unwrap_or_default();
        let underlined = written.contains('_');
        let is_name = name.capital || underlined;
        if has_name(thing) && is_name && (is_word || underlined) && !has_name(name) {
            // "Cold 2", "Open Orders": the name goes on.
            let more = chart.items.iter().skip(at + 2).scan(name.to, |end, item| {
                let near = clause.get(*end..item.from).is_some_and(|gap| gap == " ");
                let named = item.capital && !has_name(item) && item.service().is_none();
                let goes_on = near && (named || item.shape() == Some(Kind::Number));
                *end = item.to;
                goes_on.then_some(item.to)
            });
            names.push(name.from..more.last().unwrap_or(name.to));
        }
    }
    let mut marked = clause.to_owned();
    for name in names.iter().rev() {
        let text = clause.get(name.clone())?;
        marked.replace_range(name.clone(), &format!("\"{text}\""));
    }
    (!names.is_empty()).then_some(marked)
}

/// Whether a marked name has a number in it ("Cold 2"), which means nothing alone.
pub(super) fn runs_on(marked: &str) -> bool {
    let quoted = marked.split('"').skip(1).step_by(2);
    { quoted }.any(|name| name.contains(' ') && name.chars().any(|c| c.is_ascii_digit()))
}

/// "Set the subject to Hello there": the clause with marks around what stands behind "to", to the end, where a part of a node is named
/// before it; None: it says no such thing.
pub(super) fn ending(clause: &str, language: &str) -> Option<String> {
    let chart = chart(clause, language);
    let mut signs = words::places(clause, language, "to");
    signs.extend(words::places(clause, language, "called"));
    let part = |to: usize| {
        let nouns = chart
            .items
            .iter()
            .filter(|item| item.to <= to)
            .filter_map(Item::noun);
        { nouns }.any(|noun| slot::is_part(&noun.concept))
    };
    let sign = signs
        .iter()
        .filter(|sign| part(sign.start))
        .min_by_key(|sign| sign.start)?;
    let now: Vec<_> = ["now", "filler", "to", "called", "meanwhile"]
        .iter()
        .flat_map(|class| words::places(clause, language, class))
        .collect();
    let is_now = |item: &&&Item| {
        item.stops() || now.iter().any(|n| n.start <= item.from && item.to <= n.end)
    };
    let behind = chart.items.iter().filter(|item| item.from >= sign.end);
    let behind: Vec<&Item> = behind.collect();
    let leading = behind.iter().take_while(|item| is_now(item)).count();
    let trailing = behind.iter().rev().take_while(|item| is_now(item)).count();
    let behind = behind.get(leading..behind.len().saturating_sub(trailing))?;
    let (first, last) = (
        behind.first()?,
        behind.iter().rev().find(|item| !item.stops())?,
    );
    let said = clause.get(first.from..last.to)?;
    let is_word = !said.contains(' ');
    let plain = |item: &&Item| {
        let address = said.contains("://") || said.contains('@') || said.starts_with('#');
        item.service().is_none() && (!item.literal() || is_word && !address)
    };
    // "The table is called incidents", "the path is orders/new".
    let called = words::places(clause, language, "called");
    let called = called
        .iter()
        .any(|c| c.start <= sign.end && sign.start <= c.end);
    let is_name =
        first.capital || said.contains('_') || (is_word && (called || said.contains('/')));
    let mut marked = clause.to_owned();
    marked.replace_range(first.from..last.to, &format!("\"{said}\""));
    (is_name && behind.iter().all(plain)).then_some(marked)
}

/// "Subject: Thanks for your order": the clause with marks around what a part of a node is to hold, to the end; None: it says no such
/// thing.
pub(super) fn labelled(clause: &str, language: &str) -> Option<String> {
    let value = value_of_part(clause, language)?;
    let said = clause.get(value.clone())?.trim();
    let items = chart(said, language).items;
    let literal = items.iter().any(Item::literal);
    let head = clause.get(..value.start - 1)?.trim_end();
    let plain = !said.is_empty() && !literal && !said.contains('"');
    plain.then(|| format!("{head} \"{said}\""))
}

/// What stands behind the colon that ends the name of a part.
pub(super) fn value_of_part(text: &str, language: &str) -> Option<Range<usize>> {
    let colon = text.find(':')?;
    let value = text.get(colon + 1..)?.starts_with(char::is_whitespace);
    let items = chart(text.get(..colon)?, language).items;
    let last = items.iter().rfind(|item| !item.stops())?.noun()?;
    (value && slot::is_part(&last.concept)).then_some(colon + 1..text.len())
}
