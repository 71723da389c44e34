//! What people say to go on, to agree, to give up: `words/<language>/phrases.tsv`. A class and its forms; words/README.md says
//! what each class is for.

#[cfg(test)]
#[path = "phrases_tests.rs"]
mod phrases_tests;

use crate::words::{Text, Word, fold, folds};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// A language and its table, which is read when it is first asked for.
struct Table {
    language: &'static str,
    text: &'static str,
    read: OnceLock<Classes>,
}

macro_rules! table {
    ($language:literal) => {
        Table {
            language: $language,
            text: include_str!(concat!("../words/", $language, "/phrases.tsv")),
            read: OnceLock::new(),
        }
    };
}

static TABLES: [Table; 4] = [table!("en"), table!("de"), table!("es"), table!("fr")];

pub(crate) static PHRASES: Phrases = Phrases;

/// A part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Word(String),
    /// A word that begins so.
    Begins(String),
    /// Up to two words.
    Any,
}

/// Forms by their first word; those that begin with the beginning of a word stand under the empty one.
type Forms = FxHashMap<String, Vec<Vec<Part>>>;
type Classes = FxHashMap<&'static str, Forms>;

/// All phrases.
#[derive(Debug)]
pub(crate) struct Phrases;

/// The languages in which a message is read.
pub(crate) type Languages<'a> = &'a [&'static str];

fn classes(language: &str) -> Option<&'static Classes> {
    let table = TABLES.iter().find(|t| t.language == language)?;
    Some(table.read.get_or_init(|| read(table.text)))
}

fn read(table: &'static str) -> Classes {
    let mut classes = Classes::default();
    let rows = table.lines().filter(|l| !l.starts_with('#'));
    for (class, cell) in rows.filter_map(|l| l.split_once('\t')) {
        let forms = classes.entry(class).or_default();
        for form in cell.split('|') {
            let parts = parts(form);
            let first = match parts.first() {
                Some(Part::Word(word)) => word.clone(),
                Some(Part::Begins(_)) => String::new(),
                _ => continue,
            };
            forms.entry(first).or_default().push(parts);
        }
    }
    classes
}

impl Phrases {
    /// The end of the longest form of a class that begins at a word.
    pub fn at(
        &self,
        class: &str,
        words: &[Word],
        at: usize,
        languages: Languages<'_>,
    ) -> Option<usize> {
        let first = words.get(at)?;
        let of = |language: &&'static str| classes(language)?.get(class);
        let lists = languages
            .iter()
            .filter_map(of)
            .flat_map(|forms| [forms.get(&first.fold), forms.get("")]);
        lists
            .flatten()
            .flatten()
            .filter_map(|form| fits(form, words, at))
            .max()
    }

    /// The first place of a class within a range of words.
    pub fn find(
        &self,
        class: &str,
        words: &[Word],
        within: std::ops::Range<usize>,
        languages: Languages<'_>,
    ) -> Option<(usize, usize)> {
        let within_end = within.end;
        within
            .filter_map(|at| Some((at, self.at(class, words, at, languages)?)))
            .find(|(_, end)| *end <= within_end)
    }
}

/// The classes that a language has.
#[cfg(test)]
pub(crate) fn classes_of(language: &str) -> std::collections::BTreeSet<&'static str> {
    let classes = classes(language).into_iter();
    classes.flat_map(|c| c.keys().copied()).collect()
}

/// Where a form ends that begins at a word.
fn fits(parts: &[Part], words: &[Word], at: usize) -> Option<usize> {
    let Some((first, rest)) = parts.split_first() else {
        return Some(at);
    };
    let here = words.get(at);
    match first {
        Part::Word(word) => fits(
            rest,
            words,
            here.filter(|w| w.fold == *word).map(|_| at + 1)?,
        ),
        Part::Begins(with) => {
            let begins = here.filter(|w| w.fold.starts_with(with.as_str()));
            fits(rest, words, begins.map(|_| at + 1)?)
        }
        Part::Any => (at..=at + 2).find_map(|at| fits(rest, words, at)),
    }
}

fn parts(form: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for word in form.split_whitespace() {
        if word == "_" {
            parts.push(Part::Any);
        } else if let Some(with) = word.strip_suffix('*') {
            parts.push(Part::Begins(fold(with)));
        } else {
            parts.extend(folds(word).into_iter().map(Part::Word));
        }
    }
    parts
}

/// Which words of a range are covered by forms of these classes, each place by the longest; the classes that were used.
pub(crate) fn covered(
    text: &Text<'_>,
    within: std::ops::Range<usize>,
    classes: &[&'static str],
    languages: Languages<'_>,
) -> (usize, Vec<&'static str>) {
    let (mut used, mut open, mut at) = (Vec::new(), 0, within.start);
    while at < within.end {
        let longest = classes
            .iter()
            .filter_map(|class| Some((PHRASES.at(class, &text.words, at, languages)?, *class)))
            .filter(|(end, _)| *end <= within.end)
            // Of forms of the same length the class that is named first counts.
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        match longest {
            Some((end, class)) => {
                used.push(class);
                at = end;
            }
            None => {
                open += 1;
                at += 1;
            }
        }
    }
    (open, used)
}
