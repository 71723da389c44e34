//! Sentences and tokens of a text, with their places.

use crate::numbers::{Amount, amount};
use crate::words::{is_abbreviation, is_german, month, stem};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Number,
    Mark,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// As it stands.
    pub text: String,
    /// In lower case.
    pub fold: String,
    pub stem: String,
    pub kind: Kind,
    /// It begins with a capital letter.
    pub capital: bool,
    /// Of a number: how much, as the language of the text writes it.
    pub amount: Option<Amount>,
}

/// The sentences of a text, each as it stands there.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.split(['\n', '\r']) {
        let mut from = 0;
        for (at, mark) in line.char_indices() {
            if !matches!(mark, '.' | '!' | '?') {
                continue;
            }
            let end = after_quotes(line, at + mark.len_utf8());
            if ends_here(line, from, at, end) {
                push(line, from, end, &mut found);
                from = end;
            }
        }
        push(line, from, line.len(), &mut found);
    }
    found
}

fn push<'a>(line: &'a str, from: usize, to: usize, found: &mut Vec<&'a str>) {
    let sentence = line.get(from..to).unwrap_or_default().trim();
    let sentence = sentence.trim_start_matches(['-', '*', '#', '>', '|', ' ']);
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence);
    }
}

fn after_quotes(line: &str, mut at: usize) -> usize {
    while let Some(next) = line.get(at..).and_then(|rest| rest.chars().next()) {
        if !matches!(next, '"' | '”' | '“' | '’' | ')' | '»') {
            break;
        }
        at += next.len_utf8();
    }
    at
}

/// Whether the mark at `at` ends a sentence: a blank and a capital, a figure or a quotation mark follow, and no abbreviation stands before.
fn ends_here(line: &str, from: usize, at: usize, end: usize) -> bool {
    let rest = line.get(end..).unwrap_or_default();
    let next = rest.trim_start();
    if next.is_empty() {
        return true;
    }
    let begins = next.starts_with(|c: char| {
        c.is_uppercase() || c.is_ascii_digit() || matches!(c, '"' | '“' | '„' | '«' | '(')
    });
    if rest.len() == next.len() || !begins {
        return false;
    }
    let before = line.get(from..at).unwrap_or_default();
    let word = before
        .rsplit(|c: char| c.is_whitespace())
        .next()
        .unwrap_or_default();
    let initial = word.chars().count() == 1 && word.starts_with(char::is_uppercase);
    let ordinal = (1..=2).contains(&word.len()) && word.chars().all(|c| c.is_ascii_digit());
    let first = next.split(|c: char| !c.is_alphabetic()).next();
    let dated = || first.is_some_and(|word| month(&word.to_lowercase()).is_some());
    // `am 3. Mai`, `der 12. Bezirk`
    !initial && !is_abbreviation(word, line) && !(ordinal && (dated() || is_german(line)))
}

/// The tokens of a sentence.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let german = is_german(text);
    let mut rest = text;
    let mut apart = true;
    while let Some(first) = rest.chars().next() {
        let begins = apart && tokens.last().is_none_or(|last| last.kind != Kind::Number);
        let minus = minus_length(rest).filter(|_| begins);
        let (kind, length) = if first.is_alphabetic() {
            (Kind::Word, word_length(rest))
        } else if first.is_ascii_digit() || minus.is_some() {
            let sign = minus.unwrap_or_default();
            let number = rest.get(sign..).unwrap_or_default();
            (Kind::Number, sign + number_length(number))
        } else {
            (Kind::Mark, first.len_utf8())
        };
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        rest = after;
        apart = first.is_whitespace() || first == '(';
        if !first.is_whitespace() {
            let fold = text.to_lowercase().replace('’', "'");
            tokens.push(Token {
                amount: (kind == Kind::Number)
                    .then(|| amount(text, german))
                    .flatten(),
                stem: stem(&fold),
                fold,
                capital: first.is_uppercase(),
                kind,
                text: text.to_owned(),
            });
        }
    }
    tokens
}

fn word_length(rest: &str) -> usize {
    let mut length = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = matches!(c, '-' | '\'' | '’')
            && chars.peek().is_some_and(|(_, next)| next.is_alphabetic());
        if !c.is_alphabetic() && !joins {
            break;
        }
        length = at + c.len_utf8();
    }
    length
}

/// A minus just before a figure: how long it is.
fn minus_length(rest: &str) -> Option<usize> {
    let mut chars = rest.chars();
    let sign = chars.next().filter(|c| matches!(c, '-' | '−'))?;
    chars.next().filter(char::is_ascii_digit)?;
    Some(sign.len_utf8())
}

/// Digits, with points, commas and colons between them, and in groups of three with a blank between: `12 000`.
fn number_length(rest: &str) -> usize {
    let mut length = 0;
    let mut grouped = !rest.starts_with('0');
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = matches!(c, '.' | ',' | ':')
            && chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        let group = grouped
            && matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}')
            && (1..=3).contains(&(at - length_before(rest, at)))
            && is_group(rest.get(at + c.len_utf8()..).unwrap_or_default());
        if !c.is_ascii_digit() && !joins && !group {
            break;
        }
        grouped &= c.is_ascii_digit() || group;
        length = at + c.len_utf8();
    }
    length
}

/// Where the digits that end here begin.
fn length_before(rest: &str, at: usize) -> usize {
    let before = rest.get(..at).unwrap_or_default();
    before.trim_end_matches(|c: char| c.is_ascii_digit()).len()
}

/// Three digits and no fourth.
fn is_group(rest: &str) -> bool {
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    digits == 3
}
