//! A text as a field's type has it: a number, a truth value, or the text; and numbers and truths that stand beside words of a label:
//! "120 patients a week", "the budget is approved".

use super::{Finds, Found};
use crate::fields::{Field, Kind};
use crate::phrases::PHRASES;
use crate::pieces::Piece;
use crate::reading::{Reading, What};
use crate::values;
use crate::words::{Text, folds};
use serde_json::Value;

/// A field's value as its type has it, with the words that say it.
pub(super) fn typed(reading: &Reading<'_>, field: usize, said: String) -> Option<Found> {
    let value = match reading.cx.fields.get(field)?.kind {
        Kind::Number => number(&said)?,
        Kind::Boolean => Value::from(truth(reading, &said)?),
        _ => Value::String(said.clone()),
    };
    Some(Found {
        field,
        value: Some(value),
        quote: said,
    })
}

/// What a text begins with, behind words that say nothing: a yes, or a no; of a short text the only one of them that it has.
fn truth(reading: &Reading<'_>, said: &str) -> Option<bool> {
    const SHORT: usize = 4;
    let text = Text::new(said);
    let languages = reading.cx.languages;
    let end = |class: &str, at: usize| PHRASES.at(class, &text.words, at, languages);
    let says_no = |at| {
        ["no", "not", "wait"]
            .iter()
            .filter_map(|c| end(c, at))
            .max()
    };
    let says_yes = |at| ["yes", "assent"].iter().filter_map(|c| end(c, at)).max();
    let says = |at: usize| match (says_yes(at), says_no(at)) {
        (Some(yes), Some(no)) if yes <= no => Some(false),
        // "Absolutely not".
        (Some(yes), _) => Some(says_no(yes).is_none()),
        (None, no) => no.map(|_| false),
    };
    let mut at = 0;
    while at < text.words.len() {
        if let Some(truth) = says(at) {
            return Some(truth);
        }
        match ["lead", "filler", "hedge"]
            .iter()
            .filter_map(|c| end(c, at))
            .max()
        {
            Some(next) => at = next,
            None => break,
        }
    }
    let mut all = (0..text.words.len()).filter_map(says);
    let first = all.next().filter(|_| text.words.len() <= SHORT)?;
    all.all(|other| other == first).then_some(first)
}

/// The one number of a text: its figure, or where it has none its one number in words.
fn number(said: &str) -> Option<Value> {
    let text = Text::new(said);
    let words = || text.words.iter().map(|word| word.fold.as_str());
    let mut figures = words().filter_map(figure);
    if let Some(one) = figures.next() {
        return one.filter(|_| figures.next().is_none());
    }
    let named: Vec<i64> = words().filter_map(crate::words::in_words).collect();
    // "One" is an article in most languages.
    let several = named.iter().any(|number| *number != 1);
    let mut named = named.into_iter().filter(|number| *number != 1 || !several);
    named
        .next()
        .filter(|_| named.next().is_none())
        .map(Value::from)
}

/// The value of a word with figures; None: it has none. Some(None): it is no number ("2024-05", "3rd").
fn figure(word: &str) -> Option<Option<Value>> {
    if !word.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    const MONEY: [char; 5] = ['$', '€', '£', '~', '%'];
    let bare = word.trim_matches(MONEY);
    let (bare, times) = match bare.strip_suffix('k') {
        Some(bare) => (bare, 1_000.0),
        None => (bare, 1.0),
    };
    Some(plain(bare).map(|value| {
        let value = value * times;
        match value.fract() == 0.0 && value.abs() < 1e15 {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it is whole, and small enough"
            )]
            true => Value::from(value as i64),
            false => Value::from(value),
        }
    }))
}

/// "1200", "1,200", "1.200", "1'200", "1,5", "1.200,50".
fn plain(figure: &str) -> Option<f64> {
    const GROUP: usize = 3;
    let signs = [',', '.', '\''];
    let last = figure.rfind(signs);
    let (whole, part) = match last {
        None => (figure, ""),
        Some(at) => {
            let (whole, part) = (figure.get(..at)?, figure.get(at + 1..)?);
            let same = figure.get(at..at + 1)?;
            let again = whole.contains(same);
            let other = whole.contains(signs) && !again;
            match part.len() == GROUP && !other || again {
                true => (figure, ""),
                false => (whole, part),
            }
        }
    };
    let digits: String = whole.chars().filter(|c| !signs.contains(c)).collect();
    match part {
        "" => digits.parse().ok(),
        part => format!("{digits}.{part}").parse().ok(),
    }
}

/// Numbers and truths beside words of a label, of fields that nothing else was found of.
pub(super) fn beside_labels(reading: &Reading<'_>, taken: &mut [bool], finds: &mut Finds) {
    for (at, (piece, what)) in reading.pieces.iter().enumerate() {
        let says = matches!(
            what,
            What::Plain | What::Nothing | What::NotThis | What::Names(_)
        );
        if !says || taken.get(at) == Some(&true) {
            continue;
        }
        let said = reading.text.said(piece.words.clone());
        let fields = reading.cx.fields.iter().enumerate();
        let open = fields.filter(|(field, of)| of.ask && !finds.has(*field));
        let mut best: Option<(usize, Found)> = None;
        let mut tied = false;
        for (field, of) in open {
            let (shared, value) = match of.kind {
                Kind::Number => (shares(reading, piece, of, 1), number(said)),
                Kind::Boolean => {
                    let not = |class| {
                        let words = reading.words();
                        PHRASES.find(class, words, piece.words.clone(), reading.cx.languages)
                    };
                    let denied = not("not").or_else(|| not("no")).is_some();
                    (
                        shares(reading, piece, of, usize::MAX),
                        Some(Value::from(!denied)),
                    )
                }
                Kind::Text if of.is_short() => {
                    let name = named_beside(reading, piece, of);
                    (name.as_ref().map(|_| 1), name)
                }
                _ => continue,
            };
            let (Some(shared), Some(value)) = (shared, value) else {
                continue;
            };
            let before = best.as_ref().map_or(0, |(shared, _)| *shared);
            tied = shared == before;
            if shared > before {
                let quote = said.to_owned();
                best = Some((
                    shared,
                    Found {
                        field,
                        value: Some(value),
                        quote,
                    },
                ));
            }
        }
        if let Some((_, found)) = best.filter(|_| !tied) {
            finds.add(found);
            if let Some(taken) = taken.get_mut(at) {
                *taken = true;
            }
        }
    }
}

/// How many words of one of a field's labels stand in a piece, when it is `least` of them or, of a label with at least two, all.
fn shares(reading: &Reading<'_>, piece: &Piece, field: &Field, least: usize) -> Option<usize> {
    const TELLS: usize = 3;
    const TWO: usize = 2;
    let here = crate::cut::between(reading.words(), piece.words.start, piece.words.end);
    // Of a question that a yes answers, its words say the yes.
    let asked = field.questions().filter(|_| field.kind == Kind::Boolean);
    let shared = field.labels().chain(asked).filter_map(|label| {
        let words: Vec<String> = folds(label)
            .into_iter()
            .filter(|w| w.chars().count() >= TELLS && !crate::language::is_small(w))
            .collect();
        let stands = |word: &&String| here.iter().any(|w| values::is(&w.fold, word));
        let count = words.iter().filter(stands).count();
        let all = words.len() >= TWO && count == words.len();
        (count >= least || all).then_some(count)
    });
    shared.max().filter(|count| *count > 0)
}

/// A name of at least two words beside a word of the question that asks for it: "call Omar Said", where one asks "whom may we call?"
fn named_beside(reading: &Reading<'_>, piece: &Piece, field: &Field) -> Option<Value> {
    const SHORTEST: usize = 2;
    const LONGEST: usize = 4;
    let words = reading.words();
    let capital = |at: &usize| words.get(*at).is_some_and(|w| w.capital);
    let begins = |at: &usize| {
        let before = at.checked_sub(1).filter(|b| piece.words.contains(b));
        capital(at) && before.is_none_or(|b| !capital(&b))
    };
    let runs = piece.words.clone().filter(begins).map(|from| {
        let names = (from..piece.words.end).take_while(capital).count();
        from..from + names
    });
    let mut runs = runs.filter(|run| (SHORTEST..=LONGEST).contains(&run.len()));
    let run = runs.next().filter(|_| runs.next().is_none())?;
    let beside = piece.words.clone().filter(|at| !run.contains(at));
    let asks = field.questions().flat_map(folds).collect::<Vec<_>>();
    let shares = beside.filter_map(|at| words.get(at)).any(|word| {
        let small = crate::language::is_small(&word.fold);
        !small && asks.iter().any(|asked| begins_alike(&word.fold, asked))
    });
    let said = reading.text.said(run);
    shares.then(|| Value::from(said))
}

/// Whether two words are forms of one: "encarga" and "encargaría", "call" and "call".
fn begins_alike(a: &str, b: &str) -> bool {
    const STEM: usize = 5;
    let same = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    same >= STEM || a == b && same + 1 >= STEM
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_is_read_as_people_write_it() {
        for (said, value) in [
            ("roughly 35", json!(35)),
            ("about 2500 euros", json!(2500)),
            ("unos 7.000 euros", json!(7000)),
            ("1,200", json!(1200)),
            ("1.200,50", json!(1200.5)),
            ("1,5", json!(1.5)),
            ("2.5", json!(2.5)),
            ("€40k", json!(40000)),
            ("ok say fifteen", json!(15)),
            ("une trentaine", json!(30)),
        ] {
            assert_eq!(number(said), Some(value), "{said}");
        }
        for said in [
            "between 10 and 20",
            "many",
            "3rd",
            "2024-05",
            "two or three",
        ] {
            assert_eq!(number(said), None, "{said}");
        }
    }
}
