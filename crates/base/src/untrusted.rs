//! Text from outside (workflow names, parameters, server answers, what a model wrote) made harmless to look at: what would
//! steer a terminal, hide text or turn it round becomes a visible mark. The words stay: what they say is data, and never
//! decides anything. Pure; lossless where the text is JSON.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// Control characters other than line feed and tab, direction overrides, and characters that nobody sees.
#[inline]
fn is_unsafe(c: char) -> bool {
    !matches!(c, ' '..='~') && steers_or_hides(c)
}

fn steers_or_hides(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Joiners and variation selectors: letters of some languages and emoji need one of them, a row of them carries hidden text.
fn is_joint(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// The text with each unsafe character as U+FFFD; a carriage return before a line feed is dropped.
pub fn text(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut joints = 0;
    while let Some(c) = chars.next() {
        if c == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        joints = if is_joint(c) { joints + 1 } else { 0 };
        // An emoji may have a selector and a joiner one after the other; a third has no meaning that anybody sees.
        let hidden = is_unsafe(c) || joints > 2;
        out.push(if hidden { '\u{fffd}' } else { c });
    }
    if out == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(out)
    }
}

/// Where characters stand that `text` may change; without one it changes nothing.
pub fn suspects(text: &str) -> Vec<std::ops::Range<usize>> {
    // Looks at every byte, many at a time: most texts have none.
    let odd = |odd, b| odd | !matches!(b, b'\n' | b'\t' | b' '..=b'~');
    if !text.bytes().fold(false, odd) {
        return Vec::new();
    }
    let found = text
        .char_indices()
        .filter(|(_, c)| is_unsafe(*c) || is_joint(*c));
    found.map(|(at, c)| at..at + c.len_utf8()).collect()
}

/// The same on one line: line breaks and tabs become spaces.
pub fn line(of: &str) -> String {
    text(of).replace(['\n', '\t'], " ")
}

/// One line that no Markdown reader turns into a picture, a link or a tag: a picture's address is fetched without a click, and
/// can carry away what the text knows.
pub fn prose(text: &str) -> String {
    let line = line(text);
    let mut out = String::with_capacity(line.len());
    let mut before = ' ';
    for c in line.chars() {
        let opens = match before {
            ']' => matches!(c, '(' | '[' | ':'),
            '!' => c == '[',
            '<' => c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'),
            _ => false,
        };
        if opens {
            out.push(' ');
        }
        out.push(c);
        before = c;
    }
    out
}

/// JSON text in which every unsafe character is escaped: the same value to every reader, and harmless on a terminal.
pub fn json(text: &str) -> Cow<'_, str> {
    // Looks at every byte, many at a time: most texts have none.
    let odd = |odd, b| odd | !matches!(b, b' '..=b'~' | b'\n' | b'\r');
    if !text.bytes().fold(false, odd)
        || !text.contains(|c| is_unsafe(c) && !matches!(c, '\n' | '\r'))
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) && !matches!(c, '\n' | '\r') {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// What goes to a terminal as a whole: unsafe characters marked, and no escape sequence but the colours that the program
/// itself sets (`styled`); without colours none at all.
pub fn terminal(text: &str, styled: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (plain, tail) = rest.split_at(at);
        out.push_str(&self::text(plain));
        let colour = if styled { colour_at(tail) } else { 0 };
        if colour > 0 {
            out.push_str(tail.get(..colour).unwrap_or_default());
            rest = tail.get(colour..).unwrap_or_default();
        } else {
            out.push('\u{fffd}');
            rest = tail.get(1..).unwrap_or_default();
        }
    }
    out.push_str(&self::text(rest));
    out
}

/// Length of the colour sequence at the start: `ESC [` numbers `m`, none of them one that hides text.
fn colour_at(text: &str) -> usize {
    let Some(body) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let Some(end) = body.find(|c: char| !c.is_ascii_digit() && c != ';') else {
        return 0;
    };
    let numbers = body.get(..end).unwrap_or_default();
    let shown = numbers.split(';').all(|n| {
        matches!(n, "" | "0" | "1" | "2" | "3" | "4" | "22")
            || n.len() == 2 && n.starts_with('3') && n != "30"
    });
    if body.get(end..).is_some_and(|tail| tail.starts_with('m')) && shown && end <= 12 {
        2 + end + 1
    } else {
        0
    }
}

/// Every string and key of a value.
pub fn value(value: Value) -> Value {
    map_strings(value, &|s| match text(&s) {
        Cow::Borrowed(_) => s,
        Cow::Owned(clean) => clean,
    })
}

/// Applies `f` to every string of a value, keys included.
pub fn map_strings(value: Value, f: &dyn Fn(String) -> String) -> Value {
    match value {
        Value::String(s) => Value::String(f(s)),
        Value::Array(items) => items.into_iter().map(|item| map_strings(item, f)).collect(),
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, item)| (f(key), map_strings(item, f)))
                .collect::<Map<_, _>>(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn marks_what_hides_or_steers_and_keeps_the_rest() {
        for (from, want) in [
            ("a\u{1b}[31mred\u{1b}[0m", "a\u{fffd}[31mred\u{fffd}[0m"),
            ("safe\u{202e}txt\u{200b}", "safe\u{fffd}txt\u{fffd}"),
            ("Grüße\r\n\tNaïve 👩‍🚀 ❤️ 👁️‍🗨️", "Grüße\n\tNaïve 👩‍🚀 ❤️ 👁️‍🗨️"),
            ("می‌خواهم", "می‌خواهم"),
            (
                "a\u{fe01}\u{fe02}\u{fe03}\u{fe04}b",
                "a\u{fe01}\u{fe02}\u{fffd}\u{fffd}b",
            ),
            ("a\u{e0041}\u{e0101}b", "a\u{fffd}\u{fffd}b"),
        ] {
            assert_eq!(text(from), want);
        }
        assert_eq!(
            value(json!({"a\u{7}": ["\u{9b}", 1, null]})),
            json!({"a\u{fffd}": ["\u{fffd}", 1, null]})
        );
    }

    #[test]
    fn prose_holds_no_picture_link_or_tag() {
        for (from, want) in [
            (
                "see ![x](https://e.test/?q=1)",
                "see ! [x] (https://e.test/?q=1)",
            ),
            (
                "[a][b] and [b]: https://e.test",
                "[a] [b] and [b] : https://e.test",
            ),
            (
                "<img src=https://e.test>\n</a>",
                "< img src=https://e.test> < /a>",
            ),
            ("if a < b, then [x]", "if a < b, then [x]"),
        ] {
            assert_eq!(prose(from), want);
        }
    }

    #[test]
    fn json_is_escaped_without_a_change_of_its_value() {
        let value = json!({"a\u{9b}": "\u{202e}x\u{e0041}\u{7f}\n", "b": "ü"});
        let text = value.to_string();
        let safe = json(&text);
        assert!(!safe.contains(is_unsafe), "{safe}");
        assert_eq!(serde_json::from_str::<Value>(&safe).unwrap(), value);
    }

    #[test]
    fn a_terminal_gets_colours_and_nothing_else() {
        let shown =
            "\u{1b}[1m\u{1b}[32mok\u{1b}[0m \u{1b}]0;title\u{7} \u{1b}[2J\u{1b}[8mx\u{1b}[38;5;1m";
        assert_eq!(
            terminal(shown, true),
            "\u{1b}[1m\u{1b}[32mok\u{1b}[0m \u{fffd}]0;title\u{fffd} \u{fffd}[2J\u{fffd}[8mx\u{fffd}[38;5;1m"
        );
        assert!(!terminal(shown, false).contains('\u{1b}'));
    }
}
