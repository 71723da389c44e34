//! One text of a JSON answer, read while the answer still comes. It shows a preview and decides nothing: the answer is read whole, by
//! its contract, when it is there. Never gives a character that is not in that text.

/// Reads the text under one key of the answer's outermost object, wherever the deltas are cut.
#[derive(Debug, Default)]
pub struct SpokenText {
    key: String,
    at: At,
    /// Objects and lists around.
    depth: usize,
    /// The text that is read now: a key of the outermost object, or the one that is wanted.
    text: String,
    /// `\\`, or the digits of `\\u` so far.
    escape: Option<String>,
    /// The first half of a character that is written as two escapes.
    high: Option<u32>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before the answer's object; words before it are no part of it.
    #[default]
    Before,
    /// Between values.
    Between,
    /// In a text that is not wanted.
    Other,
    /// In a key of the outermost object.
    Key,
    /// Behind the key that is wanted, before its value.
    Wanted,
    Speaking,
    Over,
}

impl SpokenText {
    pub fn new(key: &str) -> Self {
        SpokenText {
            key: key.to_owned(),
            ..SpokenText::default()
        }
    }

    /// What came of the text with this piece of the answer.
    pub fn take(&mut self, delta: &str) -> String {
        let mut out = String::new();
        for c in delta.chars() {
            self.next(c, &mut out);
        }
        out
    }

    /// The text is at its end.
    pub fn is_over(&self) -> bool {
        self.at == At::Over
    }

    fn next(&mut self, c: char, out: &mut String) {
        match self.at {
            At::Over => {}
            At::Before => {
                if c == '{' {
                    self.at = At::Between;
                    self.depth = 1;
                }
            }
            At::Between | At::Wanted => self.between(c),
            At::Other | At::Key | At::Speaking => self.inside(c, out),
        }
    }

    fn between(&mut self, c: char) {
        match c {
            '"' if self.at == At::Wanted => self.at = At::Speaking,
            '"' if self.depth == 1 => {
                self.at = At::Key;
                self.text.clear();
            }
            '"' => self.at = At::Other,
            '{' | '[' => {
                self.depth += 1;
                self.at = At::Between;
            }
            '}' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                self.at = if self.depth == 0 {
                    At::Over
                } else {
                    At::Between
                };
            }
            // A value that is no text: there is nothing to say.
            ',' => self.at = At::Between,
            _ => {}
        }
    }

    fn inside(&mut self, c: char, out: &mut String) {
        let read = match self.escape.take() {
            Some(digits) => self.escaped(digits, c),
            None if c == '\\' => {
                self.escape = Some(String::new());
                None
            }
            None if c == '"' => {
                self.end();
                None
            }
            None => Some(c),
        };
        let Some(c) = read else { return };
        match self.at {
            At::Speaking => out.push(c),
            At::Key => self.text.push(c),
            _ => {}
        }
    }

    fn end(&mut self) {
        self.at = match self.at {
            At::Speaking => At::Over,
            // A text that is a value and reads like the key is none: the comma behind it tells.
            At::Key if self.text == self.key => At::Wanted,
            _ => At::Between,
        };
    }

    fn escaped(&mut self, mut digits: String, c: char) -> Option<char> {
        if digits.is_empty() && c != 'u' {
            return Some(match c {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                c => c,
            });
        }
        digits.push(c);
        if digits.len() < 5 {
            self.escape = Some(digits);
            return None;
        }
        let code = u32::from_str_radix(digits.get(1..).unwrap_or_default(), 16).unwrap_or(0xFFFD);
        match (self.high.take(), code) {
            (_, 0xD800..=0xDBFF) => {
                self.high = Some(code);
                None
            }
            (Some(high), 0xDC00..=0xDFFF) => {
                char::from_u32(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00))
            }
            (_, code) => Some(char::from_u32(code).unwrap_or('\u{fffd}')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn spoken(answer: &str, cut: usize) -> (String, bool) {
        let mut spoken = SpokenText::new("reply");
        let chars: Vec<char> = answer.chars().collect();
        let pieces = chars.chunks(cut).map(String::from_iter);
        let text = pieces.map(|piece: String| spoken.take(&piece)).collect();
        (text, spoken.is_over())
    }

    #[test]
    fn only_the_wanted_text_of_the_outermost_object_is_read() {
        for (answer, text, over) in [
            (r#"{"reply": "hi", "x": 1}"#, "hi", true),
            (
                r#"Well: ```json {"x": {"reply": "no"}, "y": ["reply", "no"], "reply": "yes"}"#,
                "yes",
                true,
            ),
            (r#"{"x": "reply", "y": "no", "reply": "yes"}"#, "yes", true),
            (r#"{"reply": null, "x": "no"}"#, "", true),
            (r#"{"reply": ["no"], "x": "no"}"#, "", true),
            (r#"{"reply": "not at its e"#, "not at its e", false),
            ("no object", "", false),
        ] {
            for cut in [1, 2, 7, 100] {
                assert_eq!(
                    spoken(answer, cut),
                    (text.to_owned(), over),
                    "{answer} cut by {cut}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_the_answer_says(text: String, other: String, cut in 1usize..9) {
            let answer = json!({"a": other, "b": {"reply": other}, "reply": text, "z": other}).to_string();
            prop_assert_eq!(spoken(&answer, cut), (text, true));
        }

        #[test]
        fn escapes_are_read_wherever_they_are_cut(text: String, cut in 1usize..9) {
            let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            let answer = format!("{{\"reply\": \"{escaped}\"}}");
            prop_assert_eq!(spoken(&answer, cut).0, text);
        }
    }
}
