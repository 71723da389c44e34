//! Values of choices that a text names, only as the data lists them.

use crate::fields::Fields;
use crate::phrases::{Languages, PHRASES};
use crate::words::{Gap, Text, Word};
use std::ops::Range;

/// A value of a field that is named in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub field: usize,
    pub value: usize,
    pub words: Range<usize>,
    /// "not this one".
    pub negated: bool,
}

/// Words of a value, at most.
const LONGEST: usize = 12;
/// Words of at least so many letters may have another ending.
const INFLECTED: usize = 5;

/// Whether a word is a form's word, perhaps with another ending.
pub(crate) fn is(word: &str, form: &str) -> bool {
    if word == form {
        return true;
    }
    let longer = |long: &str, short: &str, by: usize| {
        short.len() >= INFLECTED && long.strip_prefix(short).is_some_and(|e| e.len() <= by)
    };
    // "nichts" is no form of "nicht".
    let small = || [word, form].into_iter().any(crate::language::is_small);
    (longer(word, form, 2) || longer(form, word, 1) || is_mistyped(word, form)) && !small()
}

/// Whether a long word is a form but for one letter, after the same beginning.
fn is_mistyped(word: &str, form: &str) -> bool {
    const LONG: usize = 8;
    let close = word.len().abs_diff(form.len()) <= 1 && word.len().min(form.len()) >= LONG;
    close && key(word) == key(form) && strsim::osa_distance(word, form) <= 1
}

/// Where a form ends that begins at a word. A form is not read across the end of a sentence.
pub(crate) fn form_at(text: &Text<'_>, at: usize, form: &[String]) -> Option<usize> {
    let mut end = at;
    for part in form {
        let word: &Word = text.words.get(end)?;
        let torn = end > at && text.gap(end) > Gap::Pause;
        if torn || !is(&word.fold, part) {
            return None;
        }
        end += 1;
    }
    (end > at).then_some(end)
}

/// The beginning by which forms are found.
pub(crate) fn key(word: &str) -> String {
    word.chars().take(INFLECTED - 1).collect()
}

/// All values that a text names: of overlapping ones the longer.
pub(crate) fn hits(text: &Text<'_>, fields: &Fields, languages: Languages<'_>) -> Vec<Hit> {
    let mut found: Vec<Hit> = Vec::new();
    for (at, word) in text.words.iter().enumerate() {
        for (field, value, form) in fields.forms(&word.fold) {
            if let Some(end) = form_at(text, at, form) {
                found.push(Hit {
                    field,
                    value,
                    words: at..end,
                    negated: false,
                });
            }
        }
    }
    let all = found.clone();
    let near = |hit: &Hit| {
        let from = all.partition_point(|o| o.words.start + LONGEST < hit.words.start);
        let to = all.partition_point(|o| o.words.start <= hit.words.start);
        crate::cut::between(&all, from, to)
    };
    found.retain(|hit| {
        !near(hit)
            .iter()
            .any(|other| covers(&other.words, &hit.words))
    });
    found.dedup();
    for hit in &mut found {
        hit.negated = negated(text, hit, languages);
    }
    found
}

fn covers(long: &Range<usize>, short: &Range<usize>) -> bool {
    long.start <= short.start && short.end <= long.end && long.len() > short.len()
}

/// Whether what follows a hit takes it back, at the end of its clause: "geschäftskritisch ist es nicht", "critical it is not".
fn denied(text: &Text<'_>, hit: &Hit, languages: Languages<'_>) -> bool {
    const REACH: usize = 3;
    let small = |i: usize| {
        let word = text.words.get(i);
        word.is_some_and(|w| crate::language::is_small(&w.fold)) && text.gap(i) == Gap::None
    };
    (hit.words.end..hit.words.end + REACH).any(|at| {
        let Some(end) = PHRASES.at("not", &text.words, at, languages) else {
            return false;
        };
        let ends = end >= text.words.len() || text.gap(end) >= Gap::Pause;
        at > hit.words.end && ends && text.gap(at) == Gap::None && (hit.words.end..at).all(small)
    })
}

/// Whether a hit is what is *not* meant: "not", "instead of" stand before it, with small words between at most.
fn negated(text: &Text<'_>, hit: &Hit, languages: Languages<'_>) -> bool {
    const REACH: usize = 4;
    if denied(text, hit, languages) {
        return true;
    }
    let from = hit.words.start.saturating_sub(REACH);
    (from..hit.words.start).any(|at| {
        let Some(end) = PHRASES.at("notthis", &text.words, at, languages) else {
            return false;
        };
        let small = |i: usize| {
            let word = text.words.get(i);
            word.is_some_and(|w| crate::language::is_small(&w.fold)) && text.gap(i) == Gap::None
        };
        end <= hit.words.start
            && (end..hit.words.start).all(small)
            && text.gap(hit.words.start) == Gap::None
    })
}
