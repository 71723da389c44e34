//! Text from outside (workflow names, parameters, server answers) made harmless to look at: what would steer a terminal, hide
//! text or turn it round becomes a visible mark. The words stay: what they say is data, and never decides anything.

use serde_json::{Map, Value};
use std::borrow::Cow;

/// Control characters other than line feed and tab, direction overrides, zero-width characters, tag characters.
fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text with each unsafe character as U+FFFD; a carriage return before a line feed is dropped.
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.replace("\r\n", "\n")
            .chars()
            .map(|c| if is_unsafe(c) { '\u{fffd}' } else { c })
            .collect(),
    )
}

/// Every string and key of a value.
pub fn value(value: Value) -> Value {
    map_strings(value, &|s| match text(&s) {
        Cow::Borrowed(_) => s,
        Cow::Owned(clean) => clean,
    })
}

/// Applies `f` to every string of a value, keys included.
pub(super) fn map_strings(value: Value, f: &dyn Fn(String) -> String) -> Value {
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
        assert_eq!(
            text("a\u{1b}[31mred\u{1b}[0m"),
            "a\u{fffd}[31mred\u{fffd}[0m"
        );
        assert_eq!(text("safe\u{202e}txt\u{200b}"), "safe\u{fffd}txt\u{fffd}");
        assert_eq!(text("Grüße\r\n\tNaïve 👩‍🚀"), "Grüße\n\tNaïve 👩‍🚀");
        assert_eq!(
            value(json!({"a\u{7}": ["\u{9b}", 1, null]})),
            json!({"a\u{fffd}": ["\u{fffd}", 1, null]})
        );
    }
}
