//! Words of changes ("instead", "also", "off", "gone"): the classes of `knowledge/lang/*/change.tsv`, found in a clause; and those of
//! how a clause is made (`clause.tsv` beside them).

use crate::compile::words::fold;
use crate::lex::{Table, by_language};
use agentctl_n8n::Workflow;
use std::ops::Range;
use std::sync::LazyLock;

/// The most words that stand for a `~` of a form.
const LONGEST_GAP: usize = 6;
/// A shorter form has too many neighbours.
const SHORTEST: usize = 5;

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

/// The form of a class that its row names first.
pub(super) fn first_form(language: &str, class: &str) -> Option<String> {
    let mut all = classes(language).iter().chain(of_clauses(language));
    let (_, forms) = all.find(|(name, _)| *name == class)?;
    Some(forms.first()?.join(" "))
}

/// The words of a form, folded.
pub(super) fn parts(form: &str) -> Vec<String> {
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

/// The same text with blanks where something is given word for word: a quote, an address.
pub(super) fn without_literals(text: &str, language: &str) -> String {
    let mut plain = text.to_owned();
    for item in crate::chart::chart(text, language)
        .items
        .iter()
        .filter(|i| i.literal())
    {
        plain.replace_range(item.from..item.to, &" ".repeat(item.to - item.from));
    }
    plain
}

/// Where any word of changes stands in a text: each place, in bytes. Of a change after which a condition compares with something else
/// the words for what it compares with are among them ("the threshold", "the limit").
pub(crate) fn of_changes(text: &str, language: &str, workflows: &[&Workflow]) -> Vec<Range<usize>> {
    let all = classes(language).iter();
    let mut found: Vec<Range<usize>> = all
        .flat_map(|(class, _)| places(text, language, class))
        .collect();
    if let [before, after] = workflows
        && super::slot::bounds(before, &[]) != super::slot::bounds(after, &[])
    {
        found.extend(places(text, language, "bound"));
    }
    found
}

/// The forms of one word, stems with their mark.
fn single(language: &str) -> impl Iterator<Item = &'static str> {
    let all = classes(language).iter().chain(of_clauses(language));
    let forms = all.flat_map(|(_, forms)| forms);
    forms.filter_map(|form| match form.as_slice() {
        [one] => Some(one.as_str()),
        _ => None,
    })
}

/// Whether a folded word is one of a class.
pub(super) fn is_known(word: &str, language: &str) -> bool {
    single(language).any(|form| match form.strip_suffix('*') {
        Some(stem) => word.starts_with(stem),
        None => word == form,
    })
}

/// The word of a class that a folded word misses by one letter, or by two that changed places.
pub(super) fn nearest(word: &str, language: &str) -> Option<String> {
    let near = |a: &str, b: &str| strsim::osa_distance(a, b) <= 1;
    single(language).find_map(|form| {
        let stem = form.trim_end_matches('*');
        let length = stem.chars().count();
        if length < SHORTEST {
            return None;
        }
        let ending: String = word.chars().skip(length).collect();
        let begin: String = word.chars().take(length).collect();
        match stem.len() == form.len() {
            true => near(stem, word).then(|| stem.to_owned()),
            false => near(stem, &begin).then(|| format!("{stem}{ending}")),
        }
    })
}

/// How many words of a text stand in a language's tables of changes.
pub(super) fn known(text: &str, language: &str) -> usize {
    let all = classes(language).iter().chain(of_clauses(language));
    let said: Vec<Range<usize>> = all
        .flat_map(|(name, _)| places(text, language, name))
        .collect();
    let covered = |(at, _): &&(Range<usize>, String)| {
        let mut said = said.iter();
        said.any(|place| place.start <= at.start && at.end <= place.end)
    };
    words(text).iter().filter(covered).count()
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
