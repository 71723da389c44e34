//! Words of changes ("instead", "also", "off", "gone"): the classes of `knowledge/lang/*/change.tsv`, found in a clause; and those of
//! how a clause is made (`clause.tsv` beside them).

use crate::compile::words::fold;
use crate::lex::{Table, by_language};
use std::ops::Range;
use std::sync::LazyLock;

/// The most words that stand for a `~` of a form.
const LONGEST_GAP: usize = 4;

pub(super) const TABLES: [(&str, Table); 4] = by_language!("change.tsv", 2, "../../");
/// What is no change by itself, but says how a clause is made.
pub(super) const CLAUSES: [(&str, Table); 4] = by_language!("clause.tsv", 2, "../../");

type Class = (&'static str, Vec<Vec<String>>);
type Tables = LazyLock<Vec<Vec<Class>>>;

fn read(tables: &'static [(&'static str, Table); 4]) -> Vec<Vec<Class>> {
    let read = |(_, table): &'static (&str, Table)| {
        let classes = table.rows().filter_map(|cells| match cells.as_slice() {
            [class, forms, ..] => Some((*class, forms.split('|').map(parts).collect())),
            _ => None,
        });
        classes.collect()
    };
    tables.iter().map(read).collect()
}

fn of_language(all: &'static Tables, language: &str) -> &'static [Class] {
    let at = TABLES.iter().position(|(l, _)| *l == language);
    all.get(at.unwrap_or(0)).map_or(&[], Vec::as_slice)
}

/// The classes of words of changes.
fn classes(language: &str) -> &'static [Class] {
    static ALL: Tables = LazyLock::new(|| read(&TABLES));
    of_language(&ALL, language)
}

fn of_clauses(language: &str) -> &'static [Class] {
    static ALL: Tables = LazyLock::new(|| read(&CLAUSES));
    of_language(&ALL, language)
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
    let all = classes(language).iter().chain(of_clauses(language));
    let forms = all.filter(|(name, _)| *name == class);
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

/// Whether a text begins with a class of words.
pub(super) fn begins(text: &str, language: &str, class: &str) -> bool {
    let first = words(text).first().map(|(range, _)| range.start);
    let places = places(text, language, class);
    places.iter().any(|place| Some(place.start) == first)
}

/// Of these languages the one whose words of changes a text has most of, else of whose clauses; the first where none has more.
pub(super) fn most_of(text: &str, among: &[&'static str]) -> Option<&'static str> {
    let count = |language: &str, of: &'static [Class]| {
        let found = of
            .iter()
            .map(|(class, _)| places(text, language, class).len());
        found.sum::<usize>()
    };
    let most = |of: fn(&str) -> &'static [Class]| {
        let counted = among.iter().rev().map(|l| (count(l, of(l)), *l));
        let (found, language) = counted.max_by_key(|(found, _)| *found)?;
        (found > 0).then_some(language)
    };
    most(classes)
        .or_else(|| most(of_clauses))
        .or_else(|| among.first().copied())
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
