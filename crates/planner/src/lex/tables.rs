//! Reads the tables of a language. A row that does not fit names its file and line.

use super::inflect::Inflection;
use super::{Class, Lexicon, Sense};
use agentctl_kit::language::function_table;
use std::fmt;

/// The tables of a language, as they stand in `knowledge/lang`.
pub(super) struct Language {
    pub name: &'static str,
    inflect: &'static str,
    verbs: &'static str,
    nouns: &'static str,
    adjectives: &'static str,
}

macro_rules! language {
    ($name:literal) => {
        Language {
            name: $name,
            inflect: include_str!(concat!("../../knowledge/lang/", $name, "/inflect.tsv")),
            verbs: include_str!(concat!("../../knowledge/lang/", $name, "/verbs.tsv")),
            nouns: include_str!(concat!("../../knowledge/lang/", $name, "/nouns.tsv")),
            adjectives: include_str!(concat!("../../knowledge/lang/", $name, "/adjectives.tsv")),
        }
    };
}

pub(super) const LANGUAGES: &[Language] = &[
    language!("en"),
    language!("de"),
    language!("es"),
    language!("fr"),
];

/// A row of a table that can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// `en/verbs.tsv:12`.
    pub row: String,
    pub why: String,
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.row, self.why)
    }
}

/// The cells of a row; those that it has not are empty.
#[derive(Debug, Clone)]
pub(crate) struct Cells<'a>(Vec<&'a str>);

impl<'a> Cells<'a> {
    pub fn at(&self, column: usize) -> &'a str {
        self.0.get(column).copied().unwrap_or("")
    }
    /// All of them, as many as the row has.
    pub fn as_slice(&self) -> &[&'a str] {
        &self.0
    }
}

/// The table of this name of each language.
macro_rules! by_language {
    ($file:literal, $columns:literal, $up:literal) => {
        [
            $crate::lex::by_language!(one "en", $file, $columns, $up),
            $crate::lex::by_language!(one "de", $file, $columns, $up),
            $crate::lex::by_language!(one "es", $file, $columns, $up),
            $crate::lex::by_language!(one "fr", $file, $columns, $up),
        ]
    };
    (one $language:literal, $file:literal, $columns:literal, $up:literal) => {
        (
            $language,
            $crate::lex::Table {
                file: concat!("lang/", $language, "/", $file),
                text: include_str!(concat!($up, "knowledge/lang/", $language, "/", $file)),
                columns: $columns,
            },
        )
    };
}
pub(crate) use by_language;

/// A table that is compiled in. That each row has its columns is tested (`tables_tests.rs`), so nobody who reads it has to ask.
pub(crate) struct Table {
    pub file: &'static str,
    pub text: &'static str,
    /// At least so many in each row.
    pub columns: usize,
}

impl Table {
    pub fn rows(&self) -> impl Iterator<Item = Cells<'static>> + '_ {
        let whole = rows(self.file, self.text, self.columns).flatten();
        whole.map(|(_, cells)| cells)
    }

    #[cfg(test)]
    pub fn check(&self) -> Result<(), BadRow> {
        rows(self.file, self.text, self.columns).try_for_each(|row| row.map(|_| ()))
    }
}

/// The rows of a table with where they stand: neither empty lines nor comments, each with at least so many columns.
pub(crate) fn rows<'a>(
    file: &'a str,
    text: &'a str,
    columns: usize,
) -> impl Iterator<Item = Result<(String, Cells<'a>), BadRow>> + 'a {
    let numbered = text.lines().enumerate();
    let rows = numbered.filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
    rows.map(move |(i, line)| {
        let row = format!("{file}:{}", i + 1);
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        if cells.len() < columns {
            let why = format!("{columns} columns are wanted, {} are there", cells.len());
            return Err(BadRow { row, why });
        }
        Ok((row, Cells(cells)))
    })
}

/// The parts of a cell between bars.
fn forms(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('|').map(str::trim).filter(|f| !f.is_empty())
}

pub(super) fn lexicon(of: &Language) -> Result<Lexicon, BadRow> {
    let mut lexicon = Lexicon {
        language: of.name,
        ..Lexicon::default()
    };
    let file = |name: &str| format!("{}/{name}.tsv", of.name);
    let inflection = Inflection::read(&file("inflect"), of.inflect)?;
    for row in rows(&file("function"), function_table(of.name), 2) {
        let (row, cells) = row?;
        let (class, says) = cells.at(0).split_once('.').unwrap_or((cells.at(0), ""));
        let says: Vec<&str> = says.split('.').filter(|s| !s.is_empty()).collect();
        for form in forms(cells.at(1)) {
            let sense = sense(Class::Function, class, &says, "", &row);
            lexicon.add(form, sense);
        }
    }
    for row in rows(&file("verbs"), of.verbs, 2) {
        let (row, cells) = row?;
        let frames: Vec<&str> = cells.at(1).split_whitespace().collect();
        for (form, tag) in inflection.forms("verb", cells.at(0)) {
            lexicon.add(&form, sense(Class::Verb, cells.at(0), &frames, &tag, &row));
        }
        for form in forms(cells.at(2)) {
            let listed = match form.split_once('=') {
                Some((form, tag)) => vec![(form.to_owned(), tag.to_owned())],
                None => inflection.forms("verb", form),
            };
            for (form, tag) in listed {
                lexicon.add(&form, sense(Class::Verb, cells.at(0), &frames, &tag, &row));
            }
        }
    }
    for (name, text, class) in [
        ("nouns", of.nouns, Class::Noun),
        ("adjectives", of.adjectives, Class::Adjective),
    ] {
        for row in rows(&file(name), text, 2) {
            let (row, cells) = row?;
            let own = std::iter::once(cells.at(0)).filter(|c| !c.starts_with('='));
            let listed = forms(cells.at(2));
            let concept = cells.at(0).trim_start_matches('=');
            for lemma in own.chain(listed) {
                let inflected = match class {
                    Class::Noun => inflection.forms("noun", lemma),
                    _ => inflection.forms("adjective", lemma),
                };
                for (form, tag) in inflected {
                    lexicon.add(&form, sense(class, concept, &[cells.at(1)], &tag, &row));
                }
            }
        }
    }
    lexicon.index();
    Ok(lexicon)
}

fn sense(class: Class, concept: &str, says: &[&str], form: &str, row: &str) -> Sense {
    Sense {
        class,
        concept: concept.to_owned(),
        says: says.iter().map(|s| (*s).to_owned()).collect(),
        form: form.to_owned(),
        row: row.to_owned(),
    }
}
