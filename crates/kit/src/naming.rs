//! Fields that a message names: "Sponsor: Paula", "the benefit is that …", "Paula is the sponsor".

use crate::fields::{Cue, Field, Fields, Sure};
use crate::phrases::PHRASES;
use crate::pieces::Piece;
use crate::reading::Reading;
use crate::values::{Hit, form_at};
use crate::words::{Gap, Text};
use std::ops::Range;

/// How a field's value stands beside its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// `Sponsor: Paula`, at the beginning of a line.
    Line,
    /// The same within a line.
    Colon,
    /// "the sponsor is Paula".
    Is,
    /// "Paula is the sponsor", "sponsor Paula".
    Beside,
    /// "…, that's the benefit": the name stands in the piece behind.
    Pointed,
}

/// A field that a piece names, with the words that may be its value: more pieces can follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub field: usize,
    pub how: How,
    pub value: Range<usize>,
}

/// The names of fields in a range of words, the longest at each place; a name within a value of another field is none.
pub(crate) fn cues(
    text: &Text<'_>,
    within: &Range<usize>,
    fields: &Fields,
    hits: &[Hit],
) -> Vec<(usize, Range<usize>)> {
    let mut found: Vec<(usize, Range<usize>)> = Vec::new();
    let mut at = within.start;
    while at < within.end {
        let word = text.words.get(at).into_iter();
        let known = word.flat_map(|w| fields.cues(&w.fold));
        let here = known.filter_map(|(f, cue)| {
            let end = form_at(text, at, &cue.words)?;
            // "Importante" is a value, and no other way to write "importance".
            let same = text
                .words
                .iter()
                .skip(at)
                .zip(&cue.words)
                .all(|(word, cue)| word.fold == *cue);
            let value = || hits.iter().any(|h| h.field == f && h.words.contains(&at));
            let names = end <= within.end && counts(text, cue, end) && (same || !value());
            names.then_some((end, cue.sure, f))
        });
        let inside = |f: usize| {
            let other = |h: &&Hit| h.field != f && h.words.contains(&at) && h.words.len() > 1;
            hits.iter().find(other).is_some()
        };
        let best = here
            .filter(|(_, _, f)| !inside(*f))
            .max_by_key(|(end, sure, f)| (*end, *sure, std::cmp::Reverse(*f)));
        match best {
            Some((end, _, field)) => {
                found.push((field, at..end));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

fn counts(text: &Text<'_>, cue: &Cue, end: usize) -> bool {
    cue.sure > Sure::Colon || text.gap(end) == Gap::Colon
}

/// The field that a piece names with a value beside it.
pub(crate) fn named(
    reading: &Reading<'_>,
    piece: &Piece,
    cues: &[(usize, Range<usize>)],
) -> Option<Named> {
    let within = &piece.words;
    if let Some((field, _)) = label(reading, piece, cues) {
        let line = piece.opens >= Gap::Line;
        return Some(Named {
            field,
            how: if line { How::Line } else { How::Colon },
            value: within.end..within.end,
        });
    }
    cues.iter().find_map(|(field, cue)| {
        let named = |how: How, value: Range<usize>| {
            Some(Named {
                field: *field,
                how,
                value,
            })
        };
        if let Some(value) = behind(reading, within, cue).or_else(|| short_is(reading, within, cue))
        {
            return named(How::Is, value);
        }
        if let Some(value) = ahead(reading, within, cue) {
            return named(How::Beside, value);
        }
        named(How::Beside, adjacent(reading, *field, within, cue)?)
    })
}

/// A name at the end of a piece that a colon closes.
fn label<'c>(
    reading: &Reading<'_>,
    piece: &Piece,
    cues: &'c [(usize, Range<usize>)],
) -> Option<(usize, &'c Range<usize>)> {
    const LONGEST: usize = 6;
    const BESIDE: usize = 2;
    if piece.closes != Gap::Colon {
        return None;
    }
    let (field, cue) = cues.last()?;
    let others = reading.content(piece.words.clone(), std::slice::from_ref(cue));
    let behind = piece.words.end - cue.end;
    (piece.words.len() <= LONGEST && others <= BESIDE && behind <= 3).then_some((*field, cue))
}

/// The words after "… is": "the sponsor of it is Paula".
fn behind(
    reading: &Reading<'_>,
    within: &Range<usize>,
    cue: &Range<usize>,
) -> Option<Range<usize>> {
    const BETWEEN: usize = 3;
    // "important is that …" names nothing; a name stands near the beginning.
    const BEFORE: usize = 3;
    let words = reading.words();
    let languages = reading.cx.languages;
    if reading.content(within.start..cue.start, &[]) > BEFORE {
        return None;
    }
    let find = |class: &str| {
        let mut near = cue.end..within.end.min(cue.end + BETWEEN + 1);
        near.find_map(|at| PHRASES.at(class, words, at, languages))
    };
    let sets = PHRASES.find("set", words, within.start..cue.start, languages);
    let is = find("is").or_else(|| sets.and_then(|_| find("to")))?;
    let mut from = is;
    // "is not Paul but Paula".
    if PHRASES.at("not", words, from, languages).is_some()
        && PHRASES.at("unknown", words, from, languages).is_none()
        && !reading
            .hits
            .iter()
            .any(|h| h.words.start == from && !h.negated)
    {
        let (_, but) = PHRASES.find("instead", words, from..within.end, languages)?;
        from = but;
    }
    // "the benefit is, that …": what follows the pause.
    (from <= within.end).then_some(from..within.end)
}

/// The names after "sponsor's".
fn short_is(
    reading: &Reading<'_>,
    within: &Range<usize>,
    cue: &Range<usize>,
) -> Option<Range<usize>> {
    let words = reading.words();
    let last = words.get(cue.end.checked_sub(1)?)?;
    let names = words.get(cue.end).is_some_and(|w| w.capital);
    (last.fold.ends_with("'s") && names && cue.end < within.end).then_some(cue.end..within.end)
}

/// The words before "is the …": "Paula is the sponsor".
fn ahead(reading: &Reading<'_>, within: &Range<usize>, cue: &Range<usize>) -> Option<Range<usize>> {
    const BETWEEN: usize = 3;
    const BEHIND: usize = 0;
    if reading.content(cue.end..within.end, &[]) > BEHIND {
        return None;
    }
    let words = reading.words();
    let from = cue.start.saturating_sub(BETWEEN).max(within.start);
    let is = (from..cue.start).find(|at| {
        let end = PHRASES.at("is", words, *at, reading.cx.languages);
        end.is_some_and(|end| end <= cue.start && reading.content(end..cue.start, &[]) == 0)
    });
    match is {
        Some(is) => (within.start < is).then_some(within.start..is),
        None => set(reading, within, cue),
    }
}

/// The names in "make Paula the sponsor".
fn set(reading: &Reading<'_>, within: &Range<usize>, cue: &Range<usize>) -> Option<Range<usize>> {
    let words = reading.words();
    let before = within.start..cue.start;
    let (_, from) = PHRASES.find("set", words, before, reading.cx.languages)?;
    let named = |at: &usize| words.get(*at).is_some_and(|w| w.capital);
    let names = (from..cue.start).take_while(named).count();
    (names > 0).then_some(from..from + names)
}

/// Names right behind the field's: "sponsor Ivo Dahl".
fn adjacent(
    reading: &Reading<'_>,
    field: usize,
    within: &Range<usize>,
    cue: &Range<usize>,
) -> Option<Range<usize>> {
    const LONGEST: usize = 4;
    let is_short = reading.cx.fields.get(field).is_some_and(Field::is_short);
    let names = (cue.end..within.end)
        .take_while(|at| reading.words().get(*at).is_some_and(|w| w.capital))
        .count();
    let fits = is_short && (1..=LONGEST).contains(&names);
    (fits && cue.end + names == within.end).then_some(cue.end..within.end)
}
