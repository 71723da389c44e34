//! A text as a field's type has it: a number, a truth value, or the text.

use super::Found;
use crate::fields::Kind;
use crate::phrases::PHRASES;
use crate::reading::Reading;
use crate::words::Text;
use serde_json::Value;

/// A field's value as its type has it, with the words that say it.
pub(super) fn typed(reading: &Reading<'_>, field: usize, said: String) -> Option<Found> {
    let value = match reading.cx.fields.get(field)?.kind {
        Kind::Number => number(&said)?,
        Kind::Boolean => {
            let text = Text::new(&said);
            let says = |class: &str| {
                let at = PHRASES.at(class, &text.words, 0, reading.cx.languages);
                at.is_some()
            };
            Value::from(match (says("yes"), says("no")) {
                (true, false) => true,
                (false, true) => false,
                _ => return None,
            })
        }
        _ => Value::String(said.clone()),
    };
    Some(Found {
        field,
        value: Some(value),
        quote: said,
    })
}

/// The one number of a text.
fn number(said: &str) -> Option<Value> {
    let digits = |c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '-');
    let figures = said.split(digits).map(|f| f.trim_matches(['.', ',', '-']));
    let mut figures = figures.filter(|f| !f.is_empty());
    let (one, more) = (figures.next()?, figures.next());
    let plain = one.replace(',', "");
    let whole = plain.parse::<i64>().ok().map(Value::from);
    let value = whole.or_else(|| plain.parse::<f64>().ok().map(Value::from));
    value.filter(|_| more.is_none())
}
