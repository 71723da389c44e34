//! Words of changes ("instead", "also", "off", "gone"): the classes of `knowledge/lang/*/change.tsv`, found in a clause.

use crate::compile::words::fold;
use crate::lex::{Table, by_language};
use std::ops::Range;
use std::sync::LazyLock;

/// The most words that stand for a `~` of a form.
const LONGEST_GAP: usize = 4;

pub(super) const TABLES: [(&str, Table); 4] = by_language!("change.tsv", 2, "../../");

type Class = (&'static str, Vec<Vec<String>>);

fn classes(language: &str) -> &'static [Class] {
    static ALL: LazyLock<Vec<Vec<Class>>> = LazyLock::new(|| {
        let read = |(_, table): &(&str, Table)| {
            let classes = table.rows().filter_map(|cells| match cells.as_slice() {
                [class, forms, ..] => Some((*class, forms.split('|').map(parts).collect())),
                _ => None,
            });
            classes.collect()
        };
        TABLES.iter().map(read).collect()
    });
    let at = TABLES.iter().position(|(l, _)| *l == language);
    ALL.get(at.unwrap_or(0)).map_or(&[], Vec::as_slice)
}

fn parts(form: &str) -> Vec<String> {
    form.split_whitespace().map(fold).collect()
}

/// The words of a text, folded, with where they stand.
pub(super) fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    let mut from = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric(), from) {
            (true, None) => from = Some(at),
            (false, Some(begun)) => {
                let word = text.get(begun..at).unwrap_or_default();
                found.push((begun..at, fold(word)));
                from = None;
            }
            _ => {}
        }
    }
    found
}

/// Where a class of words stands in a text: each place, in bytes.
pub(super) fn places(text: &str, language: &str, class: &str) -> Vec<Range<usize>> {
    let words = words(text);
    let forms = classes(language).iter().filter(|(name, _)| *name == class);
    let mut found = Vec::new();
    for form in forms.flat_map(|(_, forms)| forms) {
        for at in 0..words.len() {
            let Some(end) = ends(form, words.get(at..).unwrap_or_default()) else {
                continue;
            };
            if let (Some((from, _)), Some((to, _))) = (words.get(at), words.get(at + end - 1)) {
                found.push(from.start..to.end);
            }
        }
    }
    found
}

/// Where any word of changes stands in a text: each place, in bytes.
pub(crate) fn of_changes(text: &str, language: &str) -> Vec<Range<usize>> {
    let all = classes(language).iter();
    all.flat_map(|(class, _)| places(text, language, class))
        .collect()
}

pub(super) fn has(text: &str, language: &str, class: &str) -> bool {
    !places(text, language, class).is_empty()
}

/// The language whose words of changes a text has most of; English where none has more.
pub(super) fn most_of(text: &str) -> &'static str {
    let count = |language: &str| {
        let classes = classes(language).iter();
        classes
            .map(|(class, _)| places(text, language, class).len())
            .sum::<usize>()
    };
    let mut most = ("en", count("en"));
    for (language, _) in TABLES {
        let found = count(language);
        if found > most.1 {
            most = (language, found);
        }
    }
    most.0
}

/// Whether a text is nothing but one form of a class.
pub(super) fn is_all(text: &str, language: &str, class: &str) -> bool {
    let text = text.trim();
    places(text, language, class).contains(&(0..text.len()))
}

/// How many of the words the form takes, if they begin with it.
fn ends(form: &[String], words: &[(Range<usize>, String)]) -> Option<usize> {
    let Some((part, rest)) = form.split_first() else {
        return Some(0);
    };
    if part == "~" {
        return (0..=LONGEST_GAP.min(words.len())).find_map(|gap| {
            let taken = ends(rest, words.get(gap..)?)?;
            Some(gap + taken)
        });
    }
    let (_, word) = words.first()?;
    let fits = match part.strip_suffix('*') {
        Some(stem) => word.starts_with(stem),
        None => word == part,
    };
    let taken = ends(rest, words.get(1..).filter(|_| fits)?)?;
    Some(taken + 1)
}
