//! Tokens of a request with their places: words, numbers, and the literal things that stand between them (quoted texts,
//! addresses, channels, paths, ids). It knows no language and no service.

mod literal;
#[cfg(test)]
mod spot_tests;

/// What a token is by its shape alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    /// A figure: `5`, `1,200`, `5k`, `20%`, `€100`, `3rd`.
    Number,
    /// A time of day: `9:00`, `7pm`.
    Clock,
    /// A text in quotation marks or backticks.
    Quote,
    Url,
    Mail,
    Phone,
    /// `#sales`.
    Channel,
    /// `@maria`.
    Handle,
    /// `<name>`, `{{ $json.x }}`: a place to be filled.
    Hole,
    /// `/orders/new`.
    Path,
    /// `report.csv`.
    File,
    /// A name of a machine: `order_id`, `d-7f3campaign`, `crm.customers`.
    Id,
    /// A comparison sign: `>`, `>=`, `=`, `!=`.
    Sign,
    /// A comma, a semicolon, a bracket, a dash, an arrow.
    Mark,
    /// The end of a sentence, or of a line.
    End,
}

/// One token. `from` and `to` are byte offsets into the request.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
    /// As compared: lower case, without the quotation marks of a quote.
    pub text: String,
    /// The first letter was a capital one.
    pub capital: bool,
}

/// Signs that compare, longest first; those beyond ASCII are "greater or equal", "less or equal" and "not equal".
const SIGNS: &[&str] = &[
    "!==", "===", ">=", "<=", "!=", "==", "<>", "\u{2265}", "\u{2264}", "\u{2260}", ">", "<", "=",
];
/// Arrows, which say "then".
const ARROWS: &[&str] = &[
    "-->", "==>", "->", "=>", "\u{2192}", "\u{21d2}", "\u{27a1}", ">>",
];
/// Opening quotation marks with those that close them.
const QUOTES: &[(char, &[char])] = &[
    ('"', &['"', '\u{201d}']),
    ('`', &['`']),
    ('\'', &['\'', '\u{2019}']),
    ('\u{201c}', &['\u{201d}', '\u{201c}', '"']),
    ('\u{201e}', &['\u{201c}', '\u{201d}', '"']),
    ('\u{ab}', &['\u{bb}']),
    ('\u{bb}', &['\u{ab}']),
    ('\u{2018}', &['\u{2019}', '\'']),
    ('\u{201a}', &['\u{2018}', '\'']),
];
/// The longest quoted text, in bytes.
const LONGEST_QUOTE: usize = 2_000;

/// The tokens of a text, in order.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(first) = rest.chars().next() else {
            break;
        };
        if first == '\n' {
            push(&mut found, text, at, at + 1, Kind::End);
            at += 1;
        } else if first.is_whitespace() {
            at += first.len_utf8();
        } else {
            at = one(text, at, first, &mut found);
        }
    }
    found
}

/// Reads the token that begins at `at`; where the next one begins.
fn one(text: &str, at: usize, first: char, found: &mut Vec<Token>) -> usize {
    let rest = &text[at..];
    if let Some((inner, end)) = quoted(text, at, first) {
        let mut token = token(text, at, end, Kind::Quote);
        token.text = text[inner].trim().to_owned();
        found.push(token);
        return end;
    }
    if let Some(end) = literal::code(rest).filter(|_| begins_word(text, at)) {
        push(found, text, at, at + end, Kind::Quote);
        if let Some(last) = found.last_mut() {
            last.text = text[at..at + end].to_owned();
        }
        return at + end;
    }
    if let Some(end) = literal::hole(rest) {
        push(found, text, at, at + end, Kind::Hole);
        return at + end;
    }
    if let Some(arrow) = ARROWS.iter().find(|a| rest.starts_with(**a)) {
        push(found, text, at, at + arrow.len(), Kind::Mark);
        return at + arrow.len();
    }
    if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
        push(found, text, at, at + sign.len(), Kind::Sign);
        return at + sign.len();
    }
    if let Some((kind, len)) = literal::literal(rest) {
        push(found, text, at, at + len, kind);
        return at + len;
    }
    let len = word(rest);
    if len == 0 {
        let end = at + first.len_utf8();
        let kind = if first == '.' && ordinal(found.last(), at, &text[end..]) {
            Kind::Mark
        } else if matches!(first, '.' | '!' | '?' | '\u{2026}') {
            Kind::End
        } else {
            Kind::Mark
        };
        push(found, text, at, end, kind);
        return end;
    }
    push(found, text, at, at + len, Kind::Word);
    at + len
}

fn push(found: &mut Vec<Token>, text: &str, from: usize, to: usize, kind: Kind) {
    found.push(token(text, from, to, kind));
}

fn token(text: &str, from: usize, to: usize, kind: Kind) -> Token {
    let said = &text[from..to];
    Token {
        from,
        to,
        kind,
        text: said.to_lowercase().replace('\u{2019}', "'"),
        capital: said.chars().next().is_some_and(char::is_uppercase),
    }
}

/// A quoted text that begins here: its inner range, and where it ends. An apostrophe within a word opens none, and a quote
/// ends before a letter only where it began with another sign than an apostrophe.
fn quoted(text: &str, at: usize, first: char) -> Option<(std::ops::Range<usize>, usize)> {
    let (_, closing) = QUOTES.iter().find(|(open, _)| *open == first)?;
    let before = text[..at].chars().next_back();
    if before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let start = at + first.len_utf8();
    let mut last = first;
    for (i, c) in text[start..].char_indices() {
        let here = start + i;
        if here - start > LONGEST_QUOTE || (c == '\n' && first == '\'') {
            return None;
        }
        if closing.contains(&c) {
            let next = text[here + c.len_utf8()..].chars().next();
            let inside = next.is_some_and(char::is_alphanumeric) && last.is_alphanumeric();
            let apostrophe = matches!(c, '\'' | '\u{2019}');
            if here > start && !(inside && apostrophe) {
                return Some((start..here, here + c.len_utf8()));
            }
            if here == start {
                return None;
            }
        }
        last = c;
    }
    None
}

/// The length of the word at the start: letters and digits, joined by a hyphen, an apostrophe or a full stop inside.
fn word(rest: &str) -> usize {
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let joins = matches!(c, '-' | '\'' | '\u{2019}' | '&')
            && i > 0
            && next.is_some_and(char::is_alphanumeric);
        if c.is_alphanumeric() {
            end = i + c.len_utf8();
        } else if !joins {
            break;
        } else if matches!(c, '\'' | '\u{2019}') && elided(crate::cut::text(rest, 0, i)) {
            return i + c.len_utf8();
        }
    }
    end
}

/// Whether a full stop here makes an ordinal of the number before it, and ends no sentence: "am 20. um halb neun".
fn ordinal(before: Option<&Token>, at: usize, after: &str) -> bool {
    let number = before.is_some_and(|b| b.kind == Kind::Number && b.to == at && b.text.len() <= 2);
    let next = after.strip_prefix(' ').and_then(|a| a.chars().next());
    number && next.is_some_and(char::is_lowercase)
}

/// Whether an apostrophe after this ends a word of its own: "l'", "d'", "qu'", "lorsqu'".
fn elided(before: &str) -> bool {
    let letters = before.chars().count();
    let lower = before.to_lowercase();
    lower.ends_with("qu") || letters == 1 && !matches!(lower.as_str(), "i" | "o")
}

fn begins_word(text: &str, at: usize) -> bool {
    !text[..at]
        .chars()
        .next_back()
        .is_some_and(char::is_alphanumeric)
}
