//! What a text must hold: a part of it in any case, a whole number, an expression (`re:…`), or one of several of these.

use fancy_regex::Regex;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

#[derive(Debug, Clone)]
pub enum Pattern {
    Text(String),
    Expression { shown: String, regex: Box<Regex> },
    AnyOf(Vec<Pattern>),
}

impl Pattern {
    pub fn of(text: &str) -> Result<Pattern, String> {
        if let Some(source) = text.strip_prefix("re:") {
            return Ok(Pattern::Expression {
                shown: text.to_owned(),
                regex: Box::new(regex(source)?),
            });
        }
        match whole_number(text) {
            Some(source) => Ok(Pattern::Expression {
                shown: text.to_owned(),
                regex: Box::new(regex(&source)?),
            }),
            None => Ok(Pattern::Text(text.to_owned())),
        }
    }

    /// Whether it stands in the text.
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Pattern::Text(part) => folded(text).contains(&folded(part)),
            Pattern::Expression { regex, .. } => found(regex, text),
            Pattern::AnyOf(some) => some.iter().any(|one| one.is_in(text)),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Text(shown) | Pattern::Expression { shown, .. } => f.write_str(shown),
            Pattern::AnyOf(some) => {
                for (i, one) in some.iter().enumerate() {
                    let between = if i == 0 { "" } else { "|" };
                    write!(f, "{between}{one}")?;
                }
                Ok(())
            }
        }
    }
}

/// In any case, each line by itself, with look-around.
pub fn regex(source: &str) -> Result<Regex, String> {
    Regex::new(&format!("(?im){source}")).map_err(|e| format!("not an expression: {e}"))
}

/// An expression that takes too long to match does not match.
pub fn found(regex: &Regex, text: &str) -> bool {
    regex.is_match(text).unwrap_or(false)
}

/// Text as it is compared where case does not matter.
pub fn folded(text: &str) -> String {
    text.to_lowercase().replace('ß', "ss")
}

/// The expression that finds a number where it stands for itself: 500 in `500`, `500.00` and `= 500`, not in `1500` or `5000`.
fn whole_number(text: &str) -> Option<String> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !fraction.is_none_or(digits) {
        return None;
    }
    let places: Vec<char> = whole.chars().collect();
    let mut body = String::new();
    for (i, digit) in places.iter().enumerate() {
        if i > 0 && (places.len() - i).is_multiple_of(3) {
            body.push_str("[,_. ']?");
        }
        body.push(*digit);
    }
    let tail = match fraction {
        Some(fraction) => format!("[.,]{fraction}0*"),
        None => r"(?:[.,]0+(?!\d))?".to_owned(),
    };
    Some(format!(r"(?<![\d.,]){body}{tail}(?!\d|[.,]\d)"))
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;
impl<'de> Visitor<'de> for Reader {
    type Value = Pattern;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a list of texts of which one must be there")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Pattern, E> {
        Pattern::of(text).map_err(E::custom)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Pattern, E> {
        Pattern::of(&number.to_string()).map_err(E::custom)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Pattern, A::Error> {
        let mut some = Vec::new();
        while let Some(one) = list.next_element()? {
            some.push(one);
        }
        Ok(Pattern::AnyOf(some))
    }
}

/// An expression alone, as `matches` takes it.
#[derive(Debug, Clone)]
pub struct Expression(pub Regex);

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let source = String::deserialize(from)?;
        regex(&source).map(Expression).map_err(D::Error::custom)
    }
}
