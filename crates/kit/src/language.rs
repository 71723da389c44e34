//! Which language a text is in, by its small words: `words/<language>/function.tsv`. The planner reads the same tables as
//! function words of its lexicon.

#[cfg(test)]
#[path = "language_tests.rs"]
mod language_tests;

use crate::spot::{Kind, tokens};
use rustc_hash::FxHashSet;
use std::sync::LazyLock;

/// The languages that are read, each with its table of function words: a class, a tab, forms between bars. English comes first.
const TABLES: [(&str, &str); 4] = [
    ("en", include_str!("../words/en/function.tsv")),
    ("de", include_str!("../words/de/function.tsv")),
    ("es", include_str!("../words/es/function.tsv")),
    ("fr", include_str!("../words/fr/function.tsv")),
];

/// The languages that are read.
pub fn languages() -> impl DoubleEndedIterator<Item = &'static str> + ExactSizeIterator {
    TABLES.iter().map(|(name, _)| *name)
}

/// The table of a language's function words; empty for a language that is not read.
pub fn function_table(language: &str) -> &'static str {
    let table = TABLES.iter().find(|(name, _)| *name == language);
    table.map_or("", |(_, table)| table)
}

fn forms(table: &'static str) -> FxHashSet<&'static str> {
    let rows = table.lines().filter(|l| !l.starts_with('#'));
    let cells = rows.filter_map(|l| l.split_once('\t'));
    let forms = cells.flat_map(|(_, cell)| cell.split('|').map(str::trim));
    forms.filter(|f| !f.is_empty()).collect()
}

/// How many of these words are function words of a language.
fn familiar<'a>(language: usize, words: impl Iterator<Item = &'a str>) -> usize {
    static FORMS: LazyLock<Vec<FxHashSet<&'static str>>> =
        LazyLock::new(|| TABLES.iter().map(|(_, table)| forms(table)).collect());
    let forms = FORMS.get(language);
    forms.map_or(0, |forms| words.filter(|w| forms.contains(w)).count())
}

/// Whether a word, as it is compared, is a small word of any language.
pub(crate) fn is_small(fold: &str) -> bool {
    static SMALL: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
        let forms = TABLES.iter().flat_map(|(_, table)| forms(table));
        forms.map(crate::words::fold).collect()
    });
    SMALL.contains(fold)
}

/// How many small words of each language a text has.
pub fn counted(text: &str) -> [(usize, &'static str); 4] {
    let tokens = tokens(text);
    let words = || {
        let words = tokens.iter().filter(|t| t.kind == Kind::Word);
        words.map(|t| t.text.as_str())
    };
    std::array::from_fn(|at| {
        let name = TABLES.get(at).map_or("en", |(name, _)| name);
        (familiar(at, words()), name)
    })
}

/// The language whose function words a text has most of, if it has one; of several the first of [`languages`].
pub fn detected(text: &str) -> Option<&'static str> {
    let best = counted(text).into_iter().rev().max_by_key(|(n, _)| *n);
    best.filter(|(n, _)| *n > 0).map(|(_, name)| name)
}

/// The languages that share the most function words of a text, in their order; none where it has no such word.
pub fn likeliest(text: &str) -> Vec<&'static str> {
    let counted = counted(text);
    let most = counted.iter().map(|(n, _)| *n).max().unwrap_or(0);
    let best = counted.into_iter().filter(|(n, _)| *n > 0 && *n == most);
    best.map(|(_, name)| name).collect()
}

/// The one of [`detected`]; English in doubt.
pub fn language(text: &str) -> &'static str {
    detected(text).unwrap_or("en")
}
