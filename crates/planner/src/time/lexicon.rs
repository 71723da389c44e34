//! The words of times of one language, from `knowledge/lang/*/time.tsv`, and the zones, from `knowledge/timezones.tsv`.
//! Reads rows into forms that are found by their first word; knows no word itself.

use super::kind::{KINDS, Kind, value};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// One way to write what a row says.
#[derive(Debug)]
pub(super) struct Form {
    pub kind: Kind,
    pub value: [i32; 2],
    /// All words but the first, folded.
    pub rest: Vec<String>,
    /// The row's line in its file, from 1.
    pub line: u32,
}

/// A zone's names.
#[derive(Debug)]
pub(super) struct Place {
    pub zone: &'static str,
    pub words: Vec<String>,
    pub line: u32,
}

/// The zones: abbreviations as written, places in words, regions of IANA names.
#[derive(Debug, Default)]
pub(super) struct Zones {
    pub codes: HashMap<&'static str, (&'static str, u32)>,
    pub places: Vec<Place>,
    pub regions: HashSet<&'static str>,
}

/// One language's words.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    pub language: &'static str,
    pub forms: HashMap<String, Vec<Form>>,
    /// Every word of every form: what may be part of a word with hyphens.
    pub words: HashSet<String>,
    /// Words that are near one of ours and mean something else.
    real: HashSet<String>,
    /// Long single words whose mistyped forms are read, by their first letter.
    fuzzy: HashMap<char, Vec<String>>,
    letters: Vec<(char, &'static str)>,
    /// `3/1/2026` is 1 March.
    pub month_first: bool,
    pub zones: Zones,
}

const TABLES: [(&str, &str); 4] = [
    ("en", include_str!("../../knowledge/lang/en/time.tsv")),
    ("de", include_str!("../../knowledge/lang/de/time.tsv")),
    ("es", include_str!("../../knowledge/lang/es/time.tsv")),
    ("fr", include_str!("../../knowledge/lang/fr/time.tsv")),
];
const ZONES: &str = include_str!("../../knowledge/timezones.tsv");

static LEXICONS: LazyLock<Vec<Lexicon>> = LazyLock::new(|| {
    TABLES
        .iter()
        .map(|(language, table)| load(language, table, ZONES).0)
        .collect()
});

/// The words of a language; of English for a language that has no table.
pub(super) fn of(language: &str) -> Option<&'static Lexicon> {
    LEXICONS
        .iter()
        .find(|l| l.language == language)
        .or(LEXICONS.first())
}

/// What is wrong with the tables, each with file and line.
#[cfg(test)]
pub(super) fn problems() -> Vec<String> {
    TABLES
        .iter()
        .flat_map(|(language, table)| load(language, table, ZONES).1)
        .collect()
}

type Row = (u32, &'static str, &'static str, &'static str);

/// The rows of a table: line, and its three columns.
fn rows(file: &str, table: &'static str, bad: &mut Vec<String>) -> Vec<Row> {
    let mut all = Vec::new();
    for (line, text) in (1u32..).zip(table.lines()) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match text.split('\t').collect::<Vec<_>>().as_slice() {
            [kind, value, forms] => all.push((line, *kind, *value, *forms)),
            other => bad.push(format!(
                "{file}:{line}: {} columns instead of 3 (kind, value, forms), parted by tabs",
                other.len()
            )),
        }
    }
    all
}

/// Reads the tables of a language; the second part lists the rows that cannot be read, with file and line.
pub(super) fn load(
    language: &'static str,
    table: &'static str,
    zones: &'static str,
) -> (Lexicon, Vec<String>) {
    let file = format!("knowledge/lang/{language}/time.tsv");
    let mut bad = Vec::new();
    let mut lexicon = Lexicon {
        language,
        ..Lexicon::default()
    };
    let rows = rows(&file, table, &mut bad);
    for (line, kind, to, forms) in &rows {
        if *kind != "letter" {
            continue;
        }
        for letter in forms.split('|') {
            let mut chars = letter.chars();
            match (chars.next(), chars.next()) {
                (Some(one), None) => lexicon.letters.push((one, *to)),
                _ => bad.push(format!("{file}:{line}: `{letter}` is not one letter")),
            }
        }
    }
    for (line, kind, said, forms) in rows {
        if let Err(why) = lexicon.row(line, kind, said, forms) {
            bad.push(format!("{file}:{line}: {why}"));
        }
    }
    lexicon.read_zones(zones, &mut bad);
    (lexicon, bad)
}

/// May a word of this kind be mistyped?
fn forgiving(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Unit
            | Kind::Day
            | Kind::Days
            | Kind::Set
            | Kind::Sets
            | Kind::Freq
            | Kind::Each
            | Kind::Month
            | Kind::RelDay
            | Kind::Daytime
    )
}

impl Lexicon {
    fn row(
        &mut self,
        line: u32,
        kind: &str,
        said: &str,
        forms: &'static str,
    ) -> Result<(), String> {
        match kind {
            "letter" => return Ok(()),
            "order" => {
                self.month_first = match said {
                    "mdy" => true,
                    "dmy" => false,
                    other => return Err(format!("`{other}` is neither `mdy` nor `dmy`")),
                };
                return Ok(());
            }
            "real" => {
                self.real
                    .extend(forms.split('|').map(|f| fold(&self.letters, f)));
                return Ok(());
            }
            _ => {}
        }
        let Some((_, kind, shape)) = KINDS.iter().find(|(name, ..)| *name == kind) else {
            return Err(format!(
                "`{kind}` is no kind of word; src/time/kind.rs lists them"
            ));
        };
        let value = value(*shape, said)?;
        for form in forms.split('|') {
            let mut words: Vec<String> = form.split(' ').map(|w| fold(&self.letters, w)).collect();
            if words.iter().any(String::is_empty) {
                return Err(format!("the form `{form}` has an empty word"));
            }
            self.words.extend(words.iter().cloned());
            let first = words.remove(0);
            if words.is_empty() && forgiving(*kind) && first.chars().count() >= 5 {
                let initial = first.chars().next().unwrap_or_default();
                self.fuzzy.entry(initial).or_default().push(first.clone());
            }
            self.forms.entry(first).or_default().push(Form {
                kind: *kind,
                value,
                rest: words,
                line,
            });
        }
        Ok(())
    }

    fn read_zones(&mut self, table: &'static str, bad: &mut Vec<String>) {
        let file = "knowledge/timezones.tsv";
        for (line, kind, zone, forms) in rows(file, table, bad) {
            if kind != "region" && zone != "UTC" && !zone.contains('/') {
                bad.push(format!("{file}:{line}: `{zone}` is no IANA name"));
            }
            for form in forms.split('|') {
                match kind {
                    "code" => {
                        self.zones.codes.insert(form, (zone, line));
                    }
                    "region" => {
                        self.zones.regions.insert(form);
                    }
                    "place" => {
                        let words: Vec<String> =
                            form.split(' ').map(|w| fold(&self.letters, w)).collect();
                        self.words.extend(words.iter().cloned());
                        self.zones.places.push(Place { zone, words, line });
                    }
                    other => bad.push(format!(
                        "{file}:{line}: `{other}` is none of code, place, region"
                    )),
                }
            }
        }
    }

    /// A word as the tables are keyed: lower case, and from three letters on without accents.
    pub(super) fn key(&self, word: &str) -> String {
        fold(&self.letters, word)
    }

    /// The word of ours that this one mistypes by one letter.
    pub(super) fn near(&self, key: &str) -> Option<&str> {
        let length = key.chars().count();
        if length < 4 || self.real.contains(key) || self.words.contains(key) {
            return None;
        }
        let all = self.fuzzy.get(&key.chars().next()?)?;
        all.iter()
            .find(|word| {
                word.chars().count().abs_diff(length) <= 1 && strsim::osa_distance(word, key) == 1
            })
            .map(String::as_str)
    }

    /// A weekday and a part of the day written as one word: where the second begins, in bytes of the key.
    pub(super) fn compound(&self, key: &str) -> Option<(String, String)> {
        let is = |word: &str, kinds: &[Kind]| {
            self.forms.get(word).is_some_and(|all| {
                all.iter()
                    .any(|f| f.rest.is_empty() && kinds.contains(&f.kind))
            })
        };
        key.char_indices().skip(4).find_map(|(i, _)| {
            let (day, part) = (key.get(..i)?, key.get(i..)?);
            (is(day, &[Kind::Day]) && is(part, &[Kind::Daytime, Kind::Parts]))
                .then(|| (day.to_owned(), part.to_owned()))
        })
    }
}

fn fold(letters: &[(char, &str)], word: &str) -> String {
    let lower = word.to_lowercase();
    if lower.chars().count() < 3 {
        return lower;
    }
    let mut out = String::with_capacity(lower.len());
    for c in lower.chars() {
        match letters.iter().find(|(l, _)| *l == c) {
            Some((_, plain)) => out.push_str(plain),
            None => out.push(c),
        }
    }
    out
}
