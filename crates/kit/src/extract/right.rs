//! Values that are put right without the field's name: "I meant …", "not Paul but Paula".

use super::{Found, Wanted, bounded, without_lead};
use crate::fields::{Field, Kind};
use crate::phrases::PHRASES;
use crate::reading::{Reading, What};
use crate::words::folds;
use serde_json::Value;
use std::ops::Range;

/// "Sorry, I meant …": the answer before is put right.
pub(super) fn meant(
    reading: &Reading<'_>,
    wanted: Wanted<'_>,
    runs: &[Range<usize>],
) -> Option<Found> {
    let [before] = wanted.asked_before else {
        return None;
    };
    let field = reading
        .cx
        .fields
        .get(*before)
        .filter(|f| f.kind == Kind::Text)?;
    let said = |run: &Range<usize>| {
        let find = PHRASES.find("meant", reading.words(), run.clone(), reading.cx.languages);
        find.filter(|(_, end)| *end < run.end)
            .map(|(_, end)| end..run.end)
    };
    let within = runs
        .iter()
        .find_map(said)
        .or_else(|| set(reading, field))
        .filter(|_| reading.is_known(*before))?;
    let value = bounded(reading.text.said(within), field.max)?;
    Some(Found {
        field: *before,
        quote: value.clone(),
        value: Some(Value::String(value)),
    })
}

/// "Scratch that. Put down Nora Bell.": a name that is set while something is put right.
fn set(reading: &Reading<'_>, field: &Field) -> Option<Range<usize>> {
    const LONGEST: usize = 4;
    let all = 0..reading.words().len();
    if !field.is_short() || !reading.says("correct") {
        return None;
    }
    let capital = |at: usize| reading.words().get(at).is_some_and(|w| w.capital);
    all.filter_map(|at| PHRASES.at("set", reading.words(), at, reading.cx.languages))
        .find_map(|from| {
            let names = (from..from + LONGEST).take_while(|at| capital(*at)).count();
            (names > 0).then_some(from..from + names)
        })
}

/// "Actually it's Sam Ito": a name alone, while something is put right. It is that of the short text that is answered already, or marked
/// unknown; of several the one whose old value has a word of it, else the one that was asked for before.
pub(super) fn renamed(reading: &Reading<'_>, wanted: Wanted<'_>) -> Option<Found> {
    if !reading.says("correct") {
        return None;
    }
    let (words, led) = reading
        .pieces
        .iter()
        .filter(|(_, what)| *what == What::Plain)
        .find_map(|(piece, _)| name_alone(reading, piece.words.clone()))?;
    let fields = reading.cx.fields.iter().enumerate();
    let answered: Vec<(usize, &Field)> = fields
        .filter(|(_, f)| f.is_short() && f.ask && f.kind == Kind::Text)
        .filter(|(at, f)| reading.is_known(*at) || wanted.unknown.contains(&f.name.as_str()))
        .collect();
    let said: Vec<String> = folds(reading.text.said(words.clone()));
    let shares = |(_, field): &&(usize, &Field)| {
        let old = reading
            .cx
            .collected
            .get(&field.name)
            .and_then(Value::as_str);
        old.is_some_and(|old| folds(old).iter().any(|word| said.contains(word)))
    };
    let asked = |(at, _): &&(usize, &Field)| wanted.asked_before == [*at];
    // Who is asked for another name answers that.
    let asks_another = reading.cx.asked.iter().any(|at| {
        let field = reading.cx.fields.get(*at);
        field.is_some_and(Field::is_short) && !answered.iter().any(|(known, _)| known == at)
    });
    // One word alone may be anything.
    let is_name = (led || words.len() > 1) && !asks_another;
    let (at, field) = match answered.iter().find(shares) {
        Some(one) => one,
        None if !is_name => return None,
        None => match answered.as_slice() {
            [one] => one,
            several => several.iter().find(asked)?,
        },
    };
    let value = bounded(reading.text.said(words), field.max)?;
    Some(Found {
        field: *at,
        quote: value.clone(),
        value: Some(Value::String(value)),
    })
}

/// The name that is all that a piece says behind "no, it's"; and whether that stands before it.
fn name_alone(reading: &Reading<'_>, piece: Range<usize>) -> Option<(Range<usize>, bool)> {
    const LONGEST: usize = 4;
    const BEFORE: [&str; 6] = ["correct", "lead", "no", "meant", "set", "filler"];
    let at = |from: usize| {
        let each = BEFORE.into_iter().filter_map(|class| {
            let end = PHRASES.at(class, reading.words(), from, reading.cx.languages)?;
            (end < piece.end).then_some((end, matches!(class, "lead" | "meant" | "set")))
        });
        each.max()
    };
    let (mut from, mut led) = (piece.start, false);
    while let Some((end, leads)) = at(from) {
        (from, led) = (end, leads);
    }
    let mut name = reading.words().iter().take(piece.end).skip(from);
    let count = piece.end - from;
    ((1..=LONGEST).contains(&count) && name.all(|w| w.capital)).then_some((from..piece.end, led))
}

/// "Not Paul but Paula", "Paula, not Paul": the old value is one that is known, so the field need not be named.
pub(super) fn swapped(reading: &Reading<'_>, nothing_else: bool) -> Option<Found> {
    if !nothing_else {
        return None;
    }
    let fields = reading.cx.fields.iter().enumerate();
    fields
        .filter(|(_, f)| f.is_short() && f.ask)
        .find_map(|(at, field)| swapped_in(reading, at, field))
}

fn swapped_in(reading: &Reading<'_>, at: usize, field: &Field) -> Option<Found> {
    let languages = reading.cx.languages;
    let known = reading.cx.collected.get(&field.name)?.as_str()?;
    let old = folds(known);
    let words = reading.words();
    let from = (0..words.len())
        .find(|from| crate::values::form_at(&reading.text, *from, &old).is_some())?;
    let to = from + old.len();
    const BETWEEN: usize = 3;
    let not = (from.saturating_sub(BETWEEN)..from).find(|not| {
        let end = PHRASES.at("notthis", words, *not, languages);
        end.is_some_and(|end| end <= from && reading.content(end..from, &[]) == 0)
    })?;
    let sentence = reading.sentences.iter().find(|s| s.words.contains(&from))?;
    let new = match PHRASES.at("instead", words, to, languages) {
        Some(instead) => instead..sentence.words.end,
        None => {
            let before = reading.pieces.iter().rev().map(|(p, _)| p.words.clone());
            before
                .filter(|p| p.end <= not && sentence.words.start <= p.start)
                .find(|p| reading.content(p.clone(), &[]) > 0)?
        }
    };
    let value = bounded(reading.text.said(without_lead(reading, new)), field.max)?;
    Some(Found {
        field: at,
        quote: value.clone(),
        value: Some(Value::String(value)),
    })
}
