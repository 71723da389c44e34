//! Whether a value stands literally in a text: what a claim that "the user gave it" is measured by. Strict on purpose: what is
//! not surely the same is not there, because a value that is wrongly taken for the user's own lets an attacker's call pass.

use serde_json::Number;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Characters inside addresses, paths and names: with a letter or digit behind them the token goes on.
const CONNECTORS: &str = ".-@/+%&=?#~\\";

/// A text in the two forms that it is searched in: composed (NFC), runs of white space as one space, trimmed; and the same in
/// lower case. Letters of other scripts that look alike stay other letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    exact: String,
    folded: String,
}

impl Text {
    pub fn new(text: &str) -> Text {
        let composed: String = text.nfc().collect();
        let mut exact = String::with_capacity(composed.len());
        for word in composed.split_whitespace() {
            if !exact.is_empty() {
                exact.push(' ');
            }
            exact.push_str(word);
        }
        let folded = exact.chars().flat_map(lower).collect();
        Text { exact, folded }
    }

    /// Composed, with one blank between words.
    pub fn exact(&self) -> &str {
        &self.exact
    }

    /// In bytes, of one form.
    pub fn len(&self) -> usize {
        self.exact.len()
    }

    /// Whether the value is a whole token, or several, of this text. One with a slash in it is compared with its case: paths and
    /// links differ by it. `https://x` also counts when only `x` stands there.
    pub fn holds(&self, value: &Text) -> bool {
        let cased = value.exact.contains('/');
        let (hay, needle) = match cased {
            true => (&self.exact, value.exact.as_str()),
            false => (&self.folded, value.folded.as_str()),
        };
        let bare = needle.trim_end_matches('/');
        let without_scheme = ["https://", "http://"]
            .iter()
            .find_map(|scheme| bare.strip_prefix(scheme));
        [Some(needle), Some(bare), without_scheme]
            .into_iter()
            .flatten()
            .any(|needle| stands_in(hay, needle))
    }

    /// Whether the number is one of the number tokens of this text, whatever its zeros and thousands' commas.
    pub fn holds_number(&self, number: &Number) -> bool {
        let Some(wanted) = canonical(&number.to_string()) else {
            return false;
        };
        numbers(&self.exact).any(|found| canonical(found).as_deref() == Some(wanted.as_str()))
    }
}

/// Lower case; a letter whose small form is an ASCII one, though it is none itself (the capital i with a dot), stays what it is.
fn lower(c: char) -> impl Iterator<Item = char> {
    let foreign = !c.is_ascii() && c.to_lowercase().any(|small| small.is_ascii());
    let (kept, small) = match foreign {
        true => (Some(c), None),
        false => (None, Some(c.to_lowercase())),
    };
    kept.into_iter().chain(small.into_iter().flatten())
}

fn stands_in(hay: &str, needle: &str) -> bool {
    if !needle.chars().any(char::is_alphanumeric) {
        return false;
    }
    let mut from = 0;
    while let Some(at) = hay.get(from..).and_then(|rest| rest.find(needle)) {
        let start = from + at;
        let end = start + needle.len();
        if begins(hay, start) && ends(hay, end) {
            return true;
        }
        from = start + needle.chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// Part of a word, or something that changes what stands beside it without being seen.
fn in_word(c: char) -> bool {
    c.is_alphanumeric()
        || c == '_'
        || is_combining_mark(c)
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}')
}

fn begins(hay: &str, at: usize) -> bool {
    let before = hay.get(..at).unwrap_or_default();
    if let Some(scheme) = before.strip_suffix("://") {
        let scheme = scheme.to_ascii_lowercase();
        let cut = scheme
            .strip_suffix("https")
            .or_else(|| scheme.strip_suffix("http"));
        if cut.is_some_and(|rest| !rest.chars().next_back().is_some_and(in_word)) {
            return true;
        }
    }
    let mut chars = before.chars().rev().peekable();
    match chars.peek() {
        None => return true,
        Some(c) if in_word(*c) => return false,
        // The thousands' comma, and the apostrophe inside a word.
        Some(',' | '\'' | '’') => {
            let comma = chars.next() == Some(',');
            let next = hay.get(at..).and_then(|rest| rest.chars().next());
            let joined = |c: char| match comma {
                true => c.is_ascii_digit() && next.is_some_and(|n| n.is_ascii_digit()),
                false => in_word(c),
            };
            return !chars.next().is_some_and(joined);
        }
        _ => {}
    }
    let mut connected = false;
    while chars.next_if(|c| CONNECTORS.contains(*c)).is_some() {
        connected = true;
    }
    !(connected && chars.next().is_some_and(in_word))
}

fn ends(hay: &str, at: usize) -> bool {
    let mut chars = hay.get(at..).unwrap_or_default().chars().peekable();
    match chars.peek() {
        None => return true,
        Some(c) if in_word(*c) => return false,
        Some(':') => {
            chars.next();
            return !chars.next().is_some_and(|c| c.is_ascii_digit());
        }
        Some(',') => {
            chars.next();
            let last = hay.get(..at).and_then(|text| text.chars().next_back());
            let digits = last.is_some_and(|c| c.is_ascii_digit());
            return !(digits && chars.next().is_some_and(|c| c.is_ascii_digit()));
        }
        Some('\'' | '’') => {
            chars.next();
            // "Bob's" is Bob and an ending; "you're" is one word.
            chars.next_if(|c| matches!(c, 's' | 'S'));
            return !chars.next().is_some_and(in_word);
        }
        _ => {}
    }
    let mut connected = false;
    while chars.next_if(|c| CONNECTORS.contains(*c)).is_some() {
        connected = true;
    }
    !(connected && chars.next().is_some_and(in_word))
}

/// The number tokens of a text, with their sign.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            if !digit(at) {
                at += 1;
                continue;
            }
            let mut end = at;
            while digit(end) {
                end += 1;
            }
            while bytes.get(end) == Some(&b',')
                && (1..=3).all(|i| digit(end + i))
                && !digit(end + 4)
            {
                end += 4;
            }
            if bytes.get(end) == Some(&b'.') && digit(end + 1) {
                end += 1;
                while digit(end) {
                    end += 1;
                }
            }
            let signed = at > 0 && bytes.get(at - 1) == Some(&b'-') && begins(text, at - 1);
            let start = if signed { at - 1 } else { at };
            let whole = begins(text, start) && ends(text, end);
            at = end;
            if whole && let Some(token) = text.get(start..end) {
                return Some(token);
            }
        }
        None
    })
}

/// `1,100.50` → `1100.5`; None: not written as a plain decimal number.
fn canonical(number: &str) -> Option<String> {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let digits = digits.replace(',', "");
    if !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.trim_end_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = if whole == "0" && fraction.is_empty() {
        ""
    } else {
        sign
    };
    Some(match fraction {
        "" => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, value: &str) -> bool {
        Text::new(text).holds(&Text::new(value))
    }

    #[test]
    fn a_value_is_there_as_a_whole_token_or_not_at_all() {
        for (text, value, there) in [
            ("Mail Bob@X.com, please", "bob@x.com", true),
            ("Mail bob@x.com.", "bob@x.com", true),
            ("Mail <bob@x.com>", "bob@x.com", true),
            ("mailto bob@x.com.evil.org", "bob@x.com", false),
            ("jim-bob@x.com", "bob@x.com", false),
            ("bob@x.com", "x.com", false),
            ("bob@x.com", "bob", false),
            ("a cat", "a", true),
            ("cat", "a", false),
            ("you're", "re", false),
            ("Bob's house", "bob", true),
            ("Send it to  the\n team", "to the team", true),
            ("see https://x.com/a.", "https://x.com/a", true),
            ("see https://x.com/a/b", "https://x.com/a", false),
            ("see https://x.com/A", "https://x.com/a", false),
            ("open www.x.com", "https://www.x.com", true),
            ("open https://www.x.com", "www.x.com", true),
            ("open https://evil.com/www.x.com", "www.x.com", false),
            ("open https://www.x.com/", "https://www.x.com", true),
            ("open https://www.x.com", "https://www.x.com/", true),
            ("open www.x.com@evil.com", "www.x.com", false),
            ("pаypal", "paypal", false), // the second letter is Cyrillic
            ("\u{130}stanbul", "istanbul", false), // the capital with a dot
            ("\u{17f}end", "send", false), // the long s
            ("ｐaypal", "paypal", false), // a wide letter
            ("bob\u{200b}@x.com", "bob@x.com", false),
            ("bob@x.com\u{200b}", "bob@x.com", false),
            ("cafe\u{301}", "café", true),
            ("cafe\u{301}", "cafe", false),
            ("host x:8080", "x", false),
            ("to: x", "to", true),
            ("...", ".", false),
            ("file report.pdf", "report", false),
            ("1,100", "1", false),
        ] {
            assert_eq!(holds(text, value), there, "{value:?} in {text:?}");
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        for (text, value, there) in [
            ("pay $1,100.50 now", "1100.5", true),
            ("pay 98.70", "98.7", true),
            ("pay 98.70.", "98.7", true),
            ("pay 1100", "1100.0", true),
            ("pay 11000", "1100", false),
            ("in 2012", "12", false),
            ("on 2022-04-12", "12", false),
            ("12.5", "12", false),
            ("12,5", "12", false),
            ("v12", "12", false),
            ("12k", "12", false),
            ("minus -5", "-5", true),
            ("minus -5", "5", false),
            ("010", "10", true),
            ("x", "0", false),
        ] {
            let number: Number = serde_json::from_str(value).unwrap();
            assert_eq!(
                Text::new(text).holds_number(&number),
                there,
                "{value} in {text:?}"
            );
        }
    }
}
