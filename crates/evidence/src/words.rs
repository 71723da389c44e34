//! The words that the mechanisms know, out of `words/`: units, numbers, irregular forms, words that say the same or the opposite.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// A unit: what it measures, and how many of that dimension's base unit it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    pub dimension: String,
    pub factor: f64,
}

fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table
        .lines()
        .map(str::trim_end)
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
}

fn forms(cell: &'static str) -> impl Iterator<Item = &'static str> {
    cell.split('|').map(str::trim).filter(|f| !f.is_empty())
}

/// The unit of these words (one or two, in the singular or the plural).
pub(crate) fn unit(words: &str) -> Option<&'static Unit> {
    static UNITS: LazyLock<HashMap<&'static str, Unit>> = LazyLock::new(|| {
        let mut units = HashMap::new();
        for row in rows(include_str!("../words/units.tsv")) {
            let mut cells = row.split('\t');
            let (Some(dimension), Some(factor), Some(cell)) =
                (cells.next(), cells.next(), cells.next())
            else {
                continue;
            };
            let Ok(factor) = factor.parse() else { continue };
            for form in forms(cell) {
                units.insert(
                    form,
                    Unit {
                        dimension: dimension.to_owned(),
                        factor,
                    },
                );
            }
        }
        units
    });
    UNITS
        .get(words)
        .or_else(|| UNITS.get(words.strip_suffix('s')?))
}

/// What a word of a number stands for.
pub(crate) fn number(word: &str) -> Option<f64> {
    static NUMBERS: LazyLock<HashMap<&'static str, f64>> =
        LazyLock::new(|| numbered(include_str!("../words/numbers.tsv")));
    NUMBERS.get(word).copied()
}

/// What the words of a table stand for: a number, and the words between bars.
fn numbered(table: &'static str) -> HashMap<&'static str, f64> {
    let mut words = HashMap::new();
    for row in rows(table) {
        if let Some((value, cell)) = row.split_once('\t')
            && let Ok(value) = value.parse()
        {
            words.extend(forms(cell).map(|form| (form, value)));
        }
    }
    words
}

/// What a word multiplies a number by.
pub(crate) fn scale(word: &str) -> Option<f64> {
    static SCALES: LazyLock<HashMap<&'static str, f64>> =
        LazyLock::new(|| numbered(include_str!("../words/scales.tsv")));
    SCALES.get(word).copied()
}

/// The number of a month, by its name or the first letters of it.
pub(crate) fn month(word: &str) -> Option<u32> {
    static MONTHS: LazyLock<HashMap<&'static str, f64>> =
        LazyLock::new(|| numbered(include_str!("../words/months.tsv")));
    let month = MONTHS.get(word)?;
    (1..=12).find(|n| (f64::from(*n) - month).abs() < 0.5)
}

/// So many words of German tell that a text is.
const GERMAN: usize = 2;

/// Whether a text is in German.
pub(crate) fn is_german(text: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/german.txt")));
    let words = text.split(|c: char| !c.is_alphabetic());
    let words = words.map(str::to_lowercase);
    let german: BTreeSet<String> = words.filter(|word| WORDS.contains(word.as_str())).collect();
    german.len() >= GERMAN
}

/// Whether a point behind a word only says that it is short, in this line of text.
pub(crate) fn is_abbreviation(word: &str, line: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/abbreviations.txt")));
    static GERMAN: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/abbreviations.de.txt")));
    WORDS.contains(word) || GERMAN.contains(word) && is_german(line)
}

/// Words each of which has to stand in whoever says the same: ordinals and parts. The first of its forms.
pub(crate) fn ordinal(word: &str) -> Option<&'static str> {
    static WORDS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
        let mut words = HashMap::new();
        for row in rows(include_str!("../words/ordinals.tsv")) {
            if let Some(first) = forms(row).next() {
                words.extend(forms(row).map(|form| (form, first)));
            }
        }
        words
    });
    WORDS.get(word).copied()
}

/// Of words of which one alone holds at a time (`always`, `rarely`): which of them it is, and the first of its forms.
pub(crate) fn degree(word: &str) -> Option<(&'static str, &'static str)> {
    static WORDS: LazyLock<HashMap<&'static str, (&'static str, &'static str)>> =
        LazyLock::new(|| {
            let mut words = HashMap::new();
            for row in rows(include_str!("../words/degrees.tsv")) {
                if let Some((of, cell)) = row.split_once('\t')
                    && let Some(first) = forms(cell).next()
                {
                    words.extend(forms(cell).map(|form| (form, (of, first))));
                }
            }
            words
        });
    WORDS.get(word).copied()
}

/// Whether a word stands before what takes part in a deed and says how: `to`, `by`, `than`.
pub(crate) fn is_preposition(word: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/prepositions.txt")));
    WORDS.contains(word)
}

/// Whether a word says that sides are taken: only near one is `against` a word of its own.
pub(crate) fn takes_sides(word: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/sides.txt")));
    WORDS.contains(word)
}

fn set(table: &'static str) -> BTreeSet<&'static str> {
    table.split_whitespace().collect()
}

/// Whether a word says nothing of what a sentence is about.
pub(crate) fn is_small(word: &str) -> bool {
    static SMALL: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/small.txt")));
    SMALL.contains(word) || denies(word)
}

/// Whether a word says that something is planned, expected or possible and not that it is so.
pub(crate) fn is_tentative(word: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/tentative.txt")));
    WORDS.contains(word)
}

fn irregular(word: &str) -> Option<&'static str> {
    static IRREGULAR: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
        let mut bases = HashMap::new();
        for row in rows(include_str!("../words/irregular.tsv")) {
            if let Some((base, cell)) = row.split_once('\t') {
                bases.extend(forms(cell).map(|form| (form, base)));
            }
        }
        bases
    });
    IRREGULAR.get(word).copied()
}

/// Whether a word is another form of an irregular one.
pub(crate) fn is_irregular(word: &str) -> bool {
    irregular(word).is_some()
}

/// The bare form of a word in lower case: without plural, past and participle.
pub(crate) fn stem(word: &str) -> String {
    let word = word
        .strip_suffix("'s")
        .or_else(|| word.strip_suffix("’s"))
        .unwrap_or(word);
    let word = word.trim_end_matches(['\'', '’']);
    cut(irregular(word).unwrap_or(word))
}

/// Endings off, as far as a word of three letters is left.
fn cut(word: &str) -> String {
    let long = |stem: &&str| stem.chars().count() >= 3;
    let without = |ending: &str| word.strip_suffix(ending).filter(long);
    if let Some(stem) = without("ies").or_else(|| without("ied")) {
        return format!("{stem}y");
    }
    let stem = if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        word
    } else if let Some(stem) = without("ing")
        .filter(|s| s.chars().count() >= 4)
        .or_else(|| without("ed"))
    {
        undoubled(stem)
    } else if let Some(stem) = without("es")
        .filter(|s| s.ends_with("ch") || s.ends_with("sh") || s.ends_with('x') || s.ends_with("ss"))
    {
        stem
    } else {
        without("s").unwrap_or(word)
    };
    stem.strip_suffix('e')
        .filter(long)
        .unwrap_or(stem)
        .to_owned()
}

/// `stopp` is `stop`.
fn undoubled(stem: &str) -> &str {
    let mut ends = stem.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(a), Some(b)) if a == b && !matches!(a, 'l' | 's' | 'e' | 'o') => {
            stem.get(..stem.len() - a.len_utf8()).unwrap_or(stem)
        }
        _ => stem,
    }
}

/// What a stem stands for: the first of its group where several say the same.
pub(crate) fn sense(stem: &str) -> String {
    static SAME: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
        let mut senses = HashMap::new();
        for row in rows(include_str!("../words/same.tsv")) {
            let first = forms(row).next().map(stem_of).unwrap_or_default();
            for form in forms(row) {
                senses.insert(stem_of(form), first.clone());
            }
        }
        senses
    });
    SAME.get(stem).cloned().unwrap_or_else(|| stem.to_owned())
}

/// Of several words, each by itself.
fn stem_of(words: &str) -> String {
    let stems: Vec<String> = words.split(' ').map(stem).collect();
    stems.join(" ")
}

/// What answers have where a question has this stem; as senses.
pub(crate) fn related(stem: &str) -> Vec<String> {
    let mut found = Vec::new();
    for row in rows(include_str!("../words/related.tsv")) {
        let Some((asked, answers)) = row.split_once('\t') else {
            continue;
        };
        if forms(asked).any(|form| stem_of(form) == stem) {
            found.extend(forms(answers).map(|form| sense(&stem_of(form))));
        }
    }
    found
}

/// The sides of the pairs of opposites on which a stem stands: the pair, and which side.
pub(crate) fn sides(stem: &str) -> &'static [(usize, bool)] {
    static SIDES: LazyLock<HashMap<String, Vec<(usize, bool)>>> = LazyLock::new(|| {
        let mut sides: HashMap<String, Vec<(usize, bool)>> = HashMap::new();
        for (pair, row) in rows(include_str!("../words/opposite.tsv")).enumerate() {
            let mut cells = row.split('\t');
            for (cell, side) in [(cells.next(), false), (cells.next(), true)] {
                for form in cell.into_iter().flat_map(forms) {
                    sides.entry(stem_of(form)).or_default().push((pair, side));
                }
            }
        }
        sides
    });
    SIDES.get(stem).map_or(&[], Vec::as_slice)
}

/// Whether a word denies what comes after it.
pub(crate) fn denies(word: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/denial.txt")));
    WORDS.contains(word) || word.ends_with("n't") || word.ends_with("n’t")
}

/// Whether a word denies the deed behind it: of `it does not stop at the museum` that it stops there, and not that there is a museum.
pub(crate) fn denies_deed(word: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/denial_of_deeds.txt")));
    WORDS.contains(word) || word.ends_with("n't") || word.ends_with("n’t")
}

/// What a verb and the small word behind it are together, where that stands on a side of two opposites: `vote for`.
pub(crate) fn stance(verb: &str, behind: &str) -> Option<String> {
    let both = format!("{verb} {behind}");
    (!sides(&both).is_empty()).then_some(both)
}

/// How many such parts make a whole: `third` is one of three.
pub(crate) fn fraction(word: &str) -> Option<f64> {
    static WORDS: LazyLock<HashMap<&'static str, f64>> = LazyLock::new(|| {
        let mut words = HashMap::new();
        for row in rows(include_str!("../words/fractions.tsv")) {
            if let Some((of, cell)) = row.split_once('\t')
                && let Ok(of) = of.parse()
            {
                words.extend(forms(cell).map(|form| (form, of)));
            }
        }
        words
    });
    WORDS.get(word).copied()
}

/// Whether a sense says what anything is counted as: `animals` may be beavers.
pub(crate) fn is_general(of: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let words = set(include_str!("../words/general.txt"));
        words.into_iter().map(|word| sense(&stem(word))).collect()
    });
    WORDS.contains(of)
}

/// Whether a verb only says that there is what it is told of: a fine is imposed, a report is made.
pub(crate) fn is_light(stem_of: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        set(include_str!("../words/light.txt"))
            .into_iter()
            .map(stem)
            .collect()
    });
    WORDS.contains(stem_of)
}

/// Whether a word of a name only says how somebody is addressed.
pub(crate) fn is_title(word: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<&'static str>> =
        LazyLock::new(|| set(include_str!("../words/titles.txt")));
    WORDS.contains(word)
}

/// Whether a sense says which extent of a thing is measured.
pub(crate) fn is_extent(of: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let words = set(include_str!("../words/extent.txt"));
        words.into_iter().map(|word| sense(&stem(word))).collect()
    });
    WORDS.contains(of)
}

/// Whether a sense is what people are called by what they do or are.
pub(crate) fn is_person(sense_of: &str) -> bool {
    static WORDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let words = set(include_str!("../words/person.txt"));
        words.into_iter().map(|word| sense(&stem(word))).collect()
    });
    WORDS.contains(sense_of)
}

/// What two words say together: the first and the second as they stand, and the word that says the same.
pub(crate) fn phrases() -> &'static [(String, &'static str, String)] {
    static PHRASES: LazyLock<Vec<(String, &'static str, String)>> = LazyLock::new(|| {
        let rows = rows(include_str!("../words/phrases.tsv"));
        let mut phrases = Vec::new();
        for row in rows {
            let mut cells = row.split('\t');
            if let (Some(says), Some(first), Some(second)) =
                (cells.next(), cells.next(), cells.next())
            {
                phrases.push((stem(first), second, stem(says)));
            }
        }
        phrases
    });
    &PHRASES
}
