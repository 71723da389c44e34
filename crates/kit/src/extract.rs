//! The values of a message: of each field that it names or that was asked for, with the user's own words that say so.

use crate::fields::{Field, Kind};
use crate::naming::{How, Named};
use crate::phrases::PHRASES;
use crate::pieces::Piece;
use crate::reading::{Reading, What};
use crate::words::Gap;
use serde_json::Value;
use std::ops::Range;

mod right;
mod typed;

use typed::{beside_labels, typed};

/// What a message says of a field, and the words that say it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub field: usize,
    /// None: it is not known.
    pub value: Option<Value>,
    pub quote: String,
}

/// What is taken where.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted<'a> {
    /// What the reply before the last one asked for: "I meant …" puts it right.
    pub asked_before: &'a [usize],
    /// The names of fields that are marked unknown.
    pub unknown: &'a [&'a str],
    /// What is said freely stands for what was said freely before.
    pub anew: bool,
}

/// What was found, a field once: later words stand for earlier ones.
#[derive(Debug, Default)]
struct Finds(Vec<Found>);

impl Finds {
    fn add(&mut self, found: Found) {
        self.0.retain(|f| f.field != found.field);
        self.0.push(found);
    }
    fn has(&self, field: usize) -> bool {
        self.0.iter().any(|f| f.field == field)
    }
}

/// Free words that say less than this many things are no description; where a request is wanted in the same breath, two are enough.
const DESCRIBES: usize = 3;
const DESCRIBES_A_WISH: usize = 2;

pub(crate) fn extract(reading: &Reading<'_>, wanted: Wanted<'_>) -> Vec<Found> {
    let mut finds = Finds::default();
    if reading.orders {
        return finds.0;
    }
    let mut taken = vec![false; reading.pieces.len()];
    for at in 0..reading.pieces.len() {
        if taken.get(at) == Some(&true) {
            continue;
        }
        let Some((piece, what)) = reading.pieces.get(at) else {
            continue;
        };
        match what {
            What::Names(named) => name(reading, at, named, &mut finds, &mut taken),
            What::Lists(hits) => list(reading, piece, hits, &mut finds),
            What::Unknown(fields) => unknown(reading, piece, fields, &mut finds),
            _ => {}
        }
    }
    beside_labels(reading, &mut taken, &mut finds);
    freely(reading, wanted, &taken, &mut finds);
    finds.0
}

/// A named field takes what stands beside its name.
fn name(reading: &Reading<'_>, at: usize, named: &Named, finds: &mut Finds, taken: &mut [bool]) {
    let Some(field) = reading.cx.fields.get(named.field) else {
        return;
    };
    let last = reach(reading, at, named, field);
    let mut within = named.value.clone();
    if last > at {
        let behind = reading.pieces.get(at + 1).map(|(p, _)| p.words.start);
        let start = if within.is_empty() {
            behind
        } else {
            Some(within.start)
        };
        let end = reading.pieces.get(last).map(|(p, _)| p.words.end);
        if let (Some(start), Some(end)) = (start, end) {
            within = start..end;
        }
    }
    let quoted = reading
        .pieces
        .get(at)
        .map_or(within.start, |(p, _)| p.words.start);
    let quote = reading.text.said(quoted..within.end).to_owned();
    let says_unknown = PHRASES
        .find(
            "unknown",
            reading.words(),
            within.clone(),
            reading.cx.languages,
        )
        .filter(|(from, to)| {
            reading.content(within.clone(), std::slice::from_ref(&(*from..*to))) == 0
        });
    if let Some((from, to)) = says_unknown {
        let said = Said { quote, from, to };
        finds.add(not_known(reading, named.field, &said));
    } else if field.is_said() {
        let Some(found) = text(reading, field, within, named.how) else {
            return;
        };
        let found = typed(reading, named.field, found);
        let Some(found) = found else {
            return;
        };
        finds.add(found);
    } else if let Some(value) = listed(reading, named.field, quoted..within.end) {
        finds.add(Found {
            field: named.field,
            value: Some(value),
            quote,
        });
    } else {
        return;
    }
    for piece in taken.iter_mut().take(last + 1).skip(at) {
        *piece = true;
    }
}

/// The last piece that belongs to a named field.
fn reach(reading: &Reading<'_>, at: usize, named: &Named, field: &Field) -> usize {
    let Some((first, _)) = reading.pieces.get(at) else {
        return at;
    };
    let mut last = at;
    for (piece, what) in reading.pieces.iter().skip(at + 1) {
        let begins = named.value.is_empty() && last == at;
        let same = piece.sentence == first.sentence;
        let goes_on = match named.how {
            How::Pointed => false,
            _ if begins => same && !matches!(what, What::Names(_) | What::GivesUp | What::Wish),
            How::Line | How::Colon if field.is_short() => {
                same && *what == What::Plain && is_name(reading, piece)
            }
            _ if field.is_short() => false,
            How::Line => line_goes_on(piece, what, same, field),
            _ if !field.is_said() => same && lists_only(reading, what, named.field),
            _ => same && matches!(what, What::Plain | What::Nothing),
        };
        if !goes_on {
            break;
        }
        last += 1;
    }
    last
}

/// Whether a piece is a name: "her boss, Ana Duarte".
fn is_name(reading: &Reading<'_>, piece: &Piece) -> bool {
    const LONGEST: usize = 3;
    let mut words = reading
        .words()
        .iter()
        .take(piece.words.end)
        .skip(piece.words.start);
    (2..=LONGEST).contains(&piece.words.len()) && words.all(|w| w.capital)
}

/// Whether a piece lists values of a field, and of no other.
fn lists_only(reading: &Reading<'_>, what: &What, field: usize) -> bool {
    let of = |at: &usize| reading.hits.get(*at).is_some_and(|h| h.field == field);
    matches!(what, What::Lists(hits) if hits.iter().all(of))
}

/// What stands below a name at the beginning of a line, up to the next name or an empty line.
fn line_goes_on(piece: &Piece, what: &What, same: bool, field: &Field) -> bool {
    if piece.opens >= Gap::Paragraph || piece.opens == Gap::Line && !field.is_said() {
        return false;
    }
    match what {
        What::Names(named) => same && matches!(named.how, How::Is | How::Beside),
        What::GivesUp | What::Wish => false,
        What::Unknown(_) | What::Lists(_) => same,
        _ => same || field.is_said(),
    }
}

/// The words of a text's value, without what stands around them.
fn text(reading: &Reading<'_>, field: &Field, within: Range<usize>, how: How) -> Option<String> {
    let languages = reading.cx.languages;
    let mut within = within;
    // "… instead of Paul".
    const OLD: usize = 2;
    let old = (within.start + 1..within.end).find(|at| {
        let end = PHRASES.at("notthis", reading.words(), *at, languages);
        end.is_some_and(|end| end - at >= OLD && end < within.end)
    });
    if let Some(old) = old.filter(|_| field.is_short()) {
        within.end = old;
    }
    if field.is_short() {
        within = without_lead(reading, within);
        let named = |at: usize| reading.words().get(at).is_some_and(|w| w.capital);
        let small = |at: usize| {
            let word = reading.words().get(at);
            word.is_some_and(|w| crate::language::is_small(&w.fold))
        };
        const NAME: usize = 4;
        let says_so = matches!(how, How::Line | How::Colon)
            || within.clone().any(named)
            || within.len() <= NAME && !within.clone().any(small);
        if !says_so {
            return None;
        }
    }
    bounded(reading.text.said(within), field.max)
}

/// Without "it's", "that would be".
fn without_lead(reading: &Reading<'_>, within: Range<usize>) -> Range<usize> {
    let mut within = within;
    while let Some(end) = PHRASES.at("lead", reading.words(), within.start, reading.cx.languages) {
        if end >= within.end {
            break;
        }
        within.start = end;
    }
    within
}

/// A text of at most so many characters, cut between words.
pub(crate) fn bounded(text: &str, max: usize) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let Some((cut, _)) = text.char_indices().nth(max) else {
        return Some(text.to_owned());
    };
    let short = crate::cut::text(text, 0, cut);
    let whole = short.rfind(char::is_whitespace).filter(|at| *at > 0);
    Some(
        crate::cut::text(short, 0, whole.unwrap_or(cut))
            .trim()
            .to_owned(),
    )
}

/// Values of a piece that names no field.
fn list(reading: &Reading<'_>, piece: &Piece, hits: &[usize], finds: &mut Finds) {
    let mut fields: Vec<usize> = hits
        .iter()
        .filter_map(|at| reading.hits.get(*at))
        .map(|h| h.field)
        .collect();
    fields.sort_unstable();
    fields.dedup();
    for field in fields {
        let sentence = reading.sentences.get(piece.sentence);
        let whole = sentence.map_or(piece.words.clone(), |s| s.words.clone());
        let several = reading
            .cx
            .fields
            .get(field)
            .is_some_and(|f| f.kind == Kind::Choices);
        // Where one is allowed, another one in the same sentence makes it unclear.
        let within = if several { piece.words.clone() } else { whole };
        let Some(value) = listed(reading, field, within) else {
            continue;
        };
        let value = match finds.0.iter().find(|f| f.field == field) {
            Some(Found {
                value: Some(before),
                ..
            }) if several => joined(before, &value),
            _ => value,
        };
        finds.add(Found {
            field,
            value: Some(value),
            quote: reading.text.said(piece.words.clone()).to_owned(),
        });
    }
}

fn joined(before: &Value, more: &Value) -> Value {
    let mut all: Vec<Value> = before.as_array().cloned().unwrap_or_default();
    for value in more.as_array().into_iter().flatten() {
        if !all.contains(value) {
            all.push(value.clone());
        }
    }
    Value::Array(all)
}

/// The values of a choice that stand in a range: one where one is allowed, else it is not clear which.
fn listed(reading: &Reading<'_>, field: usize, within: Range<usize>) -> Option<Value> {
    let of = reading.cx.fields.get(field)?;
    let mut values: Vec<&str> = Vec::new();
    for hit in reading
        .hits
        .iter()
        .filter(|h| h.field == field && !h.negated)
    {
        let inside = within.start <= hit.words.start && hit.words.end <= within.end;
        let value = of.values.get(hit.value).map(|v| v.value.as_str());
        if let Some(value) = value.filter(|_| inside) {
            values.retain(|v| *v != value);
            values.push(value);
        }
    }
    if of.kind == Kind::Choice {
        // "from nice to have to mission-critical": the last one is meant.
        let puts_right = || {
            let whole = within.start.saturating_sub(3)..within.end;
            let find = |class: &str| {
                PHRASES.find(class, reading.words(), whole.clone(), reading.cx.languages)
            };
            find("change").is_some() || find("correct").is_some()
        };
        let value = match values.as_slice() {
            [one] => one,
            [.., last] if puts_right() || concludes(reading, &within) => last,
            _ => return None,
        };
        return Some(Value::String((*value).to_owned()));
    }
    if values.is_empty() {
        return None;
    }
    let mut said: Vec<Value> = values.into_iter().map(Value::from).collect();
    let before = reading.cx.collected.get(&of.name);
    if let Some(Value::Array(before)) = before.filter(|_| adds(reading, within)) {
        let new = std::mem::take(&mut said);
        said = before.clone();
        said.extend(new.into_iter().filter(|v| !before.contains(v)));
    }
    Some(Value::Array(said))
}

/// Whether the last value of a range follows from what was said before it: "before the harvest, so spring".
fn concludes(reading: &Reading<'_>, within: &Range<usize>) -> bool {
    let inside =
        |h: &&crate::values::Hit| within.start <= h.words.start && h.words.end <= within.end;
    let last = reading.hits.iter().rfind(|h| inside(h) && !h.negated);
    last.is_some_and(|last| {
        const NEAR: usize = 4;
        let near = last.words.start.saturating_sub(NEAR).max(within.start)..last.words.start;
        let found = PHRASES.find("thus", reading.words(), near, reading.cx.languages);
        found.is_some_and(|(_, end)| reading.content(end..last.words.start, &[]) == 0)
    })
}

/// Whether what is said in a range comes on top: "also growth", "growth is a goal too", "and growth as well".
fn adds(reading: &Reading<'_>, within: Range<usize>) -> bool {
    let also = |at: Range<usize>| PHRASES.find("also", reading.words(), at, reading.cx.languages);
    let sentence = reading
        .sentences
        .iter()
        .find(|s| s.words.contains(&within.start));
    let end = sentence.map_or(within.end, |s| s.words.end);
    let ends = |(_, to): (usize, usize)| reading.content(to..end, &[]) == 0;
    also(within.clone()).is_some() || also(within.end..end).is_some_and(ends)
}

/// Where it is said that something is not known.
struct Said {
    quote: String,
    from: usize,
    to: usize,
}

/// "I don't know": the named fields, else those that were asked for.
fn unknown(reading: &Reading<'_>, piece: &Piece, fields: &[usize], finds: &mut Finds) {
    let find = PHRASES.find(
        "unknown",
        reading.words(),
        piece.words.clone(),
        reading.cx.languages,
    );
    let Some((from, to)) = find else {
        return;
    };
    let fields = if fields.is_empty() {
        reading.cx.asked
    } else {
        fields
    };
    for field in fields {
        // A name with a sure value beside it was read before.
        if finds.has(*field) {
            continue;
        }
        let quote = reading.text.said(piece.words.clone()).to_owned();
        let said = Said { quote, from, to };
        finds.add(not_known(reading, *field, &said));
    }
}

/// The list's own value for "not sure" where there is one, else unknown.
fn not_known(reading: &Reading<'_>, field: usize, said: &Said) -> Found {
    let own = reading.cx.fields.get(field).and_then(Field::not_sure);
    let value = own.map(|v| v.value.clone());
    let several = reading
        .cx
        .fields
        .get(field)
        .is_some_and(|f| f.kind == Kind::Choices);
    let quote = match said.quote.is_empty() {
        true => reading.text.said(said.from..said.to).to_owned(),
        false => said.quote.clone(),
    };
    Found {
        field,
        value: value.map(|v| {
            if several {
                Value::from(vec![v])
            } else {
                Value::from(v)
            }
        }),
        quote,
    }
}

/// What is said without a name: the answer to the one text that was asked for, else the description.
fn freely(reading: &Reading<'_>, wanted: Wanted<'_>, taken: &[bool], finds: &mut Finds) {
    let runs = reading.plain_but(taken);
    let nothing_else = finds.0.is_empty();
    let right = right::swapped(reading, nothing_else)
        .or_else(|| right::meant(reading, wanted, &runs))
        .or_else(|| right::renamed(reading, wanted).filter(|_| nothing_else));
    if let Some(found) = right {
        finds.add(found);
        return;
    }
    if let [asked] = reading.cx.asked
        && let Some(field) = reading.cx.fields.get(*asked).filter(|f| f.is_said())
    {
        // Who asks to submit names nobody beside it.
        let submits = field.is_short() && reading.says("submit");
        if finds.has(*asked) || submits {
            return;
        }
        let whole = finds.0.is_empty();
        let found = runs.first().zip(runs.last()).and_then(|(first, last)| {
            let end = if whole { last.end } else { first.end };
            let within = if field.is_short() {
                without_lead(reading, first.start..end)
            } else {
                first.start..end
            };
            bounded(reading.text.said(within), field.max)
        });
        let said = || bounded(reading.text.said(0..reading.words().len()), field.max);
        let found = match field.kind {
            // "yes" says nothing, but to this question.
            Kind::Boolean => said(),
            _ => found,
        };
        if let Some(found) = found.and_then(|found| typed(reading, *asked, found)) {
            finds.add(found);
        }
        return;
    }
    let Some(at) = crate::fields::free(reading.cx.fields) else {
        return;
    };
    let known = reading.is_known(at) && !(wanted.anew && finds.0.is_empty());
    if known || finds.has(at) {
        return;
    }
    if let Some(found) = described(reading, at, &runs) {
        finds.add(found);
    }
}

/// The longest of the runs that describes something.
pub(crate) fn described(
    reading: &Reading<'_>,
    field: usize,
    runs: &[Range<usize>],
) -> Option<Found> {
    let max = reading.cx.fields.get(field)?.max;
    let least = match reading.has(&What::Wish) {
        true => DESCRIBES_A_WISH,
        false => DESCRIBES,
    };
    // A long word, as in German, says what is two elsewhere.
    const LONG: usize = 12;
    let long = |i: usize| reading.words().get(i).is_some_and(|w| w.fold.len() >= LONG);
    let says = |run: &&Range<usize>| {
        let longs = (*run).clone().filter(|i| long(*i)).count();
        reading.content((*run).clone(), &[]) + longs >= least
    };
    let run = runs.iter().filter(says).max_by_key(|run| run.len())?;
    let value = bounded(reading.text.said(run.clone()), max)?;
    Some(Found {
        field,
        quote: value.clone(),
        value: Some(Value::String(value)),
    })
}
