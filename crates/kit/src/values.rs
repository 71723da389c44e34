//! Values of choices that a text names, only as the data lists them.

use crate::fields::Fields;
use crate::phrases::{Languages, PHRASES};
use crate::words::{Gap, Text, Word};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::LazyLock;

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

/// Whether a long word is a form but for one letter, or a very long one but for two, after the same beginning.
fn is_mistyped(word: &str, form: &str) -> bool {
    const LONG: usize = 8;
    const VERY_LONG: usize = 10;
    let wrong = if form.len() >= VERY_LONG { 2 } else { 1 };
    let close = word.len().abs_diff(form.len()) <= wrong && word.len().min(form.len()) >= LONG;
    close && key(word) == key(form) && strsim::osa_distance(word, form) <= wrong
}

/// Where a form ends that begins at a word. A form is not read across the end of a sentence.
pub(crate) fn form_at(text: &Text<'_>, at: usize, form: &[String]) -> Option<usize> {
    let mut end = at;
    for part in form {
        let torn = |end: usize| end > at && text.gap(end) > Gap::Pause;
        // "risks and the compliance", "our people and our culture": articles between the words are not part of it.
        let article = |end: usize| {
            let word = text.words.get(end);
            end > at && word.is_some_and(|w| is_determiner(&w.fold) && w.fold != *part)
        };
        for _ in 0..ARTICLES {
            if article(end) && !torn(end) {
                end += 1;
            }
        }
        let word: &Word = text.words.get(end)?;
        if torn(end) || !is(&word.fold, part) {
            return None;
        }
        end += 1;
    }
    (end > at).then_some(end)
}

/// So many articles may stand before a word of a form.
const ARTICLES: usize = 2;

/// Whether a word is an article, or says whose something is: `words/determiners.txt`.
fn is_determiner(word: &str) -> bool {
    static ALL: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
        let all = include_str!("../words/determiners.txt").lines();
        all.map(crate::words::fold).collect()
    });
    ALL.contains(word)
}

/// The beginning by which forms are found.
pub(crate) fn key(word: &str) -> String {
    const BEGINS: usize = 3;
    word.chars().take(BEGINS).collect()
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
    // "Growth, not so much."
    let end = hit.words.end;
    let behind = PHRASES.at("deny", &text.words, end, languages);
    let nothing_else = |from: usize| {
        let mut at = from;
        while at < text.words.len() && text.gap(at) == Gap::None {
            let word = text.words.get(at);
            if !word.is_some_and(|w| crate::language::is_small(&w.fold)) {
                return false;
            }
            at += 1;
        }
        true
    };
    if text.gap(end) == Gap::Pause && behind.is_some_and(nothing_else) {
        return true;
    }
    (hit.words.end..hit.words.end + REACH).any(|at| {
        let Some(end) = PHRASES.at("not", &text.words, at, languages) else {
            return false;
        };
        let ends = end >= text.words.len() || text.gap(end) >= Gap::Pause;
        at > hit.words.end && ends && text.gap(at) == Gap::None && (hit.words.end..at).all(small)
    })
}

/// Whether something else is meant rather than a hit: "rather useful than essential".
fn outweighed(text: &Text<'_>, hit: &Hit, languages: Languages<'_>) -> bool {
    const REACH: usize = 8;
    let at = |class: &str, at: usize| PHRASES.at(class, &text.words, at, languages);
    let whole = |from: usize| (from + 1..=hit.words.start).all(|i| text.gap(i) < Gap::End);
    let Some(than) = hit.words.start.checked_sub(1) else {
        return false;
    };
    let from = than.saturating_sub(REACH);
    at("than", than) == Some(hit.words.start)
        && (from..than).any(|i| at("rather", i).is_some() && whole(i))
}

/// Whether the clause says before a hit that it is not so: "I shouldn't call it mission-critical", "I don't think it is necessary".
fn doubted(text: &Text<'_>, hit: &Hit, languages: Languages<'_>) -> bool {
    const REACH: usize = 5;
    let at = |class: &str, at: usize| PHRASES.at(class, &text.words, at, languages);
    let mut from = hit.words.start;
    while from > 0
        && hit.words.start - from < REACH
        && text.gap(from) == Gap::None
        && at("and", from - 1).is_none()
        && at("but", from - 1).is_none()
        && at("instead", from - 1).is_none()
    {
        from -= 1;
    }
    (from..hit.words.start).any(|i| at("deny", i).is_some_and(|end| end <= hit.words.start))
}

/// Whether a hit is what is *not* meant: "not", "instead of" stand before it, with small words between at most.
fn negated(text: &Text<'_>, hit: &Hit, languages: Languages<'_>) -> bool {
    const REACH: usize = 4;
    if denied(text, hit, languages)
        || doubted(text, hit, languages)
        || outweighed(text, hit, languages)
    {
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
