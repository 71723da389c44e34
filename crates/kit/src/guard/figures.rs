//! The figures and ids of a text, held against those that results and people gave: a reply names none that nobody gave it.

use super::words::Words;
use crate::words::{fold, in_words};
use rustc_hash::FxHashSet;
use serde_json::Value;

/// More known numbers than this are not taken from each other to find what a reply has worked out.
const WORKED_OUT: usize = 60;

/// What somebody gave: numbers without marks and leading zeros, and ids in capital letters.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    known: FxHashSet<String>,
    /// Without those of ids: what can be taken from each other.
    amounts: FxHashSet<u64>,
}

impl Figures {
    /// The figures of a text, in digits and in words.
    pub fn add_text(&mut self, text: &str) {
        self.add(text, true);
    }

    /// `amounts`: its numbers count something, and can be taken from each other.
    fn add(&mut self, text: &str, amounts: bool) {
        for token in tokens(text) {
            match token {
                Token::Id(id) => {
                    self.known.extend(runs(&id));
                    self.known.insert(id);
                }
                Token::Number(number) => {
                    let amount = joined(&number).parse::<u64>().ok();
                    self.amounts.extend(amount.filter(|_| amounts));
                    self.add_number(&number);
                }
                Token::Moment(moment) => self.add_number(&moment),
                Token::Word(word) => self
                    .known
                    .extend(in_words(&fold(&word)).map(|n| n.to_string())),
            }
        }
    }

    fn add_number(&mut self, number: &str) {
        self.known.insert(joined(number));
        self.known.extend(runs(number));
    }

    /// Those of a value, how long each of its lists is, and how many items of a list say the same under a key.
    pub fn add_value(&mut self, value: &Value) {
        self.add_parts("", value);
        self.add_counts(value);
    }

    /// Text by text: as JSON, the end of a line would become a letter of the word behind it.
    fn add_parts(&mut self, key: &str, value: &Value) {
        match value {
            // A number that is written as a text names a thing (a room, a parcel), but under a key for amounts.
            Value::String(text) => {
                let digits = text.chars().all(|c| c.is_ascii_digit());
                let names = digits && !Words::in_any("amount", &key.to_lowercase());
                self.add(text, !names);
            }
            Value::Array(items) => items.iter().for_each(|item| self.add_parts(key, item)),
            Value::Object(map) => map.iter().for_each(|(key, of)| {
                self.add_text(key);
                self.add_parts(key, of);
            }),
            other => self.add_text(&other.to_string()),
        }
    }

    fn add_counts(&mut self, value: &Value) {
        match value {
            Value::Array(items) => {
                self.known.insert(items.len().to_string());
                let mut same: rustc_hash::FxHashMap<(&str, String), usize> = Default::default();
                for (key, of) in items.iter().filter_map(Value::as_object).flatten() {
                    *same.entry((key, of.to_string())).or_default() += 1;
                }
                self.known.extend(same.values().map(usize::to_string));
                items.iter().for_each(|item| self.add_counts(item));
            }
            Value::Object(map) => map.values().for_each(|of| self.add_counts(of)),
            _ => {}
        }
    }

    /// The figures and ids of a text that nobody gave.
    pub fn lacking(&self, text: &str) -> Vec<String> {
        let words: Vec<Token> = text
            .lines()
            .flat_map(|line| tokens(without_count(line)))
            .collect();
        let lacking = words.iter().enumerate().filter_map(|(at, token)| {
            let next = words.get(at + 1);
            match token {
                Token::Id(id) => (!self.known.contains(id)).then(|| id.clone()),
                Token::Number(number) | Token::Moment(number) => {
                    (!self.holds(number, next)).then(|| number.clone())
                }
                Token::Word(word) => {
                    let figure = in_words(&fold(word)).filter(|n| *n > 2)?;
                    let share = |next: &Token| matches!(next, Token::Word(of) if is_share(of));
                    let other = OTHER_WORDS.contains(&word.as_str()) || next.is_some_and(share);
                    (!other && !self.known.contains(&figure.to_string())).then(|| word.clone())
                }
            }
        });
        lacking.collect()
    }

    fn holds(&self, number: &str, next: Option<&Token>) -> bool {
        let whole = joined(number);
        let parts: Vec<String> = runs(number).collect();
        if self.known.contains(&whole) || parts.iter().all(|part| self.known.contains(part)) {
            return true;
        }
        let Ok(figure) = whole.parse::<u64>() else {
            return false;
        };
        let is = |word: &[&str]| matches!(next, Some(Token::Word(next)) if word.contains(&&**next));
        if is(&["pm"]) && figure < 12 && self.known.contains(&(figure + 12).to_string()) {
            return true;
        }
        self.is_worked_out(
            figure,
            number.ends_with('%') || is(&["%", "percent", "prozent"]),
        )
    }

    /// A difference of two known numbers; with `share`, one as so many hundredths of another.
    fn is_worked_out(&self, figure: u64, share: bool) -> bool {
        if self.amounts.len() > WORKED_OUT {
            return false;
        }
        let fits = |a: &u64, b: &u64| match share {
            true => {
                *b > 0 && a.saturating_mul(100) / b == figure
                    || a.saturating_mul(100).div_ceil((*b).max(1)) == figure
            }
            false => *b > 0 && a.checked_sub(*b) == Some(figure) && figure > 9,
        };
        (self.amounts.iter()).any(|a| self.amounts.iter().any(|b| fits(a, b)))
    }
}

/// Words that are numbers in one language and something else in another.
const OTHER_WORDS: [&str; 3] = ["once", "neuf", "neufs"];

/// "Three quarters": beginnings of what parts of a whole are called.
fn is_share(word: &str) -> bool {
    const SHARES: [&str; 9] = [
        "quarter", "third", "fifth", "viertel", "drittel", "quarts", "tiers", "cuarto", "tercio",
    ];
    SHARES.iter().any(|share| word.starts_with(share))
}

/// A line of a list without the number that counts it.
fn without_count(line: &str) -> &str {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']) {
        Some(behind) if rest.len() < line.len() && behind.starts_with(' ') => behind,
        _ => line,
    }
}

enum Token {
    Id(String),
    Number(String),
    /// A day with its time, which can be taken from nothing.
    Moment(String),
    /// In lower case.
    Word(String),
}

/// Words and figures; a figure keeps the marks within it, and the sign for hundredths behind it.
fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '-' | ':' | '%');
    let words = text.split(move |c: char| !inner(c));
    words.filter_map(|word| {
        let word = word.trim_matches(['.', ',', '-', ':']);
        if !word.contains(|c: char| c.is_ascii_digit()) {
            let lower = word.to_lowercase();
            return (!lower.is_empty()).then_some(Token::Word(lower));
        }
        let id = word.rsplit_once('-').filter(|(name, number)| {
            name.starts_with(|c: char| c.is_ascii_uppercase())
                && number.chars().all(|c| c.is_ascii_digit())
        });
        match id {
            Some(_) => Some(Token::Id(word.to_uppercase())),
            None if is_moment(word) => {
                Some(Token::Moment(word.trim_end_matches('Z').replace('T', "-")))
            }
            None if word.contains(char::is_alphabetic) => {
                // A name with a figure in it is no figure.
                Some(Token::Word(word.to_lowercase()))
            }
            None => Some(Token::Number(word.to_owned())),
        }
    })
}

/// `2026-12-09T08:20`, `2026-12-09T08:20:00Z`: a day with its time.
fn is_moment(word: &str) -> bool {
    let digits = |text: &str, also: &[char]| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text
                .chars()
                .all(|c| c.is_ascii_digit() || also.contains(&c))
    };
    let of_no_zone = word.strip_suffix('Z').unwrap_or(word);
    of_no_zone
        .split_once('T')
        .is_some_and(|(day, time)| digits(day, &['-']) && digits(time, &[':', '.', '-']))
}

/// `12.500` → `12500`; what is behind a decimal mark stays behind nothing.
fn joined(number: &str) -> String {
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    plain(&digits)
}

fn runs(number: &str) -> impl Iterator<Item = String> {
    let runs = number.split(|c: char| !c.is_ascii_digit());
    runs.filter(|run| !run.is_empty()).map(plain)
}

fn plain(digits: &str) -> String {
    let plain = digits.trim_start_matches('0');
    if plain.is_empty() { "0" } else { plain }.to_owned()
}
