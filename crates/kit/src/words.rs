//! The words of a text as they are compared (lower case, without accents), with their places, and what stands between them.

use crate::cut;
use crate::spot::{Kind, tokens};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// A word, a figure or a name, from byte to byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub from: usize,
    pub to: usize,
    /// As compared.
    pub fold: String,
    pub capital: bool,
}

/// A text with its words.
#[derive(Debug, Clone)]
pub struct Text<'a> {
    pub text: &'a str,
    pub words: Vec<Word>,
}

/// What lies between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// Spaces, hyphens, quotation marks.
    None,
    /// A comma, a semicolon, a dash, a bracket.
    Pause,
    Colon,
    /// The end of a sentence.
    End,
    /// The end of a line.
    Line,
    /// An empty line.
    Paragraph,
}

impl<'a> Text<'a> {
    pub fn new(text: &'a str) -> Text<'a> {
        let mut words = Vec::new();
        read(text, 0, &mut words);
        Text { text, words }
    }

    /// The text from the first word of a range to its last.
    pub fn said(&self, words: std::ops::Range<usize>) -> &'a str {
        let found = cut::between(&self.words, words.start, words.end);
        match (found.first(), found.last()) {
            (Some(first), Some(last)) => cut::text(self.text, first.from, last.to),
            _ => "",
        }
    }

    /// What stands before a word: after the word before it, or from the beginning.
    pub fn before(&self, at: usize) -> &'a str {
        let from = at.checked_sub(1).and_then(|i| self.words.get(i));
        let to = self.words.get(at).map_or(self.text.len(), |w| w.from);
        cut::text(self.text, from.map_or(0, |w| w.to), to)
    }

    /// What lies between a word and the one before it.
    pub fn gap(&self, at: usize) -> Gap {
        let between = self.before(at);
        let lines = between.matches('\n').count();
        let has = |marks: &[char]| between.contains(marks);
        if lines > 1 {
            Gap::Paragraph
        } else if lines == 1 {
            Gap::Line
        } else if has(&['?', '!', '\u{2026}']) || has(&['.']) && !self.abbreviates(at) {
            Gap::End
        } else if has(&[':', '=']) {
            Gap::Colon
        } else if has(&[
            ',', ';', '(', ')', '\u{2013}', '\u{2014}', '\u{2022}', '\u{bf}',
        ]) || between.contains(" - ")
        {
            Gap::Pause
        } else {
            Gap::None
        }
    }

    /// Whether the word before a full stop is an initial or an abbreviation.
    fn abbreviates(&self, at: usize) -> bool {
        let Some(word) = at.checked_sub(1).and_then(|i| self.words.get(i)) else {
            return false;
        };
        let initial = word.capital && word.fold.chars().count() == 1;
        initial || abbreviation(&word.fold)
    }
}

fn abbreviation(word: &str) -> bool {
    let all = include_str!("../words/abbreviations.txt");
    all.lines().any(|known| fold(known) == word)
}

/// The words of a text alone.
pub fn folds(text: &str) -> Vec<String> {
    // What has nothing but letters and spaces needs no tokens.
    if text.chars().all(|c| c.is_alphabetic() || c == ' ') {
        return text.split_whitespace().map(fold).collect();
    }
    Text::new(text).words.into_iter().map(|w| w.fold).collect()
}

/// Lower case, without accents, with one kind of apostrophe.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase().replace('`', "'");
    }
    let lower = text.to_lowercase();
    let plain = lower.nfd().filter(|c| !is_combining_mark(*c));
    let mut folded = String::with_capacity(lower.len());
    for c in plain {
        match c {
            'ß' => folded.push_str("ss"),
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            '\u{2019}' | '\u{2018}' | '\u{b4}' | '`' => folded.push('\''),
            c => folded.push(c),
        }
    }
    folded
}

/// Reads the words of a text that stands at `base` of the whole.
fn read(text: &str, base: usize, words: &mut Vec<Word>) {
    for token in tokens(text) {
        let said = cut::text(text, token.from, token.to);
        match token.kind {
            Kind::End | Kind::Mark | Kind::Sign => {}
            Kind::Quote | Kind::Hole => inside(said, base + token.from, words),
            Kind::Word => {
                let mut at = token.from;
                for part in said.split('-') {
                    push(part, base + at, words);
                    at += part.len() + 1;
                }
            }
            _ => push(said, base + token.from, words),
        }
    }
}

/// The words within quotation marks; a text that has none is a word as it stands.
fn inside(said: &str, base: usize, words: &mut Vec<Word>) {
    let first = said.chars().next().map_or(0, char::len_utf8);
    let last = said.chars().next_back().map_or(0, char::len_utf8);
    let marked = said.chars().next().is_some_and(|c| !c.is_alphanumeric());
    let inner = cut::text(said, first, said.len().saturating_sub(last));
    if marked && !inner.is_empty() {
        read(inner, base + first, words);
    } else {
        push(said, base, words);
    }
}

fn push(said: &str, from: usize, words: &mut Vec<Word>) {
    if !said.is_empty() {
        words.push(Word {
            from,
            to: from + said.len(),
            fold: fold(said),
            capital: said.chars().next().is_some_and(char::is_uppercase),
        });
    }
}

/// The number that a word means in any of the languages; the word as it is compared.
pub(crate) fn in_words(word: &str) -> Option<i64> {
    static WORDS: LazyLock<FxHashMap<String, i64>> = LazyLock::new(|| {
        let rows = include_str!("../words/numbers.tsv").lines();
        let cells = rows.filter_map(|row| row.split_once('\t'));
        let each = cells.flat_map(|(figure, words)| {
            let value = figure.parse().ok();
            words
                .split('|')
                .filter_map(move |word| Some((fold(word), value?)))
        });
        each.collect()
    });
    WORDS.get(word).copied()
}
