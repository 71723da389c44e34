//! Texts of a pack: a string, or a map from language to string, with places in curly brackets.

use serde_json::{Map, Value};

/// A text in a language; `en` stands in for a language that is not there, and the first one for `en`.
pub(crate) fn in_language<'a>(text: &'a Value, language: &str) -> Option<&'a str> {
    match text {
        Value::String(text) => Some(text),
        Value::Object(map) => {
            let found = map.get(language).or_else(|| map.get("en"));
            found.or_else(|| map.values().next())?.as_str()
        }
        _ => None,
    }
}

/// A text in all its languages.
pub(crate) fn in_languages(text: &Value) -> impl Iterator<Item = &str> {
    let one = text.as_str();
    let map = text.as_object();
    let many = map
        .into_iter()
        .flat_map(Map::values)
        .filter_map(Value::as_str);
    one.into_iter().chain(many)
}

/// Fills the places of a text: `{name}` becomes the value, a place that nobody knows stays as it is.
pub(crate) fn filled(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after
            .split_once('}')
            .map(|(name, rest)| (value(name), name, rest))
        {
            Some((Some(said), _, behind)) => {
                out.push_str(&said);
                rest = behind;
            }
            _ => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}
