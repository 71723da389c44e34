//! Names that are not quoted: "the Google Sheet Log, tab Sent". A capitalised word right behind a thing that has a name is one.

use crate::chart::{Item, chart};
use crate::spot::Kind;

/// What has a name: concepts of nouns, and tags of services.
const CONCEPTS: [&str; 8] = [
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
    for pair in chart.items.windows(2) {
        let [thing, name] = pair else { continue };
        let is_word = match name.shape() {
            Some(kind) => kind == Kind::Word,
            None => name.service().is_none(),
        };
        if has_name(thing) && name.capital && is_word && !has_name(name) {
            names.push(name.from..name.to);
        }
    }
    let mut marked = clause.to_owned();
    for name in names.iter().rev() {
        let text = clause.get(name.clone())?;
        marked.replace_range(name.clone(), &format!("\"{text}\""));
    }
    (!names.is_empty()).then_some(marked)
}
