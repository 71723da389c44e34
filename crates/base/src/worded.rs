//! Texts of a pack's data: a text, or a map from language to text.

use serde_json::Value;

/// The language that stands in for one that is not there.
const INSTEAD: &str = "en";

/// The text in a language; where it is not there in English, else in the first language that it has. None: it is no text.
pub fn in_language<'a>(text: &'a Value, language: &str) -> Option<&'a str> {
    match text {
        Value::String(text) => Some(text),
        Value::Object(map) => {
            let found = map.get(language).or_else(|| map.get(INSTEAD));
            found.or_else(|| map.values().next())?.as_str()
        }
        _ => None,
    }
}

/// The text in all its languages.
pub fn in_languages(text: &Value) -> impl Iterator<Item = &str> {
    let map = text.as_object().into_iter().flat_map(|map| map.values());
    text.as_str()
        .into_iter()
        .chain(map.filter_map(Value::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_language_that_is_not_there_is_english_or_the_first() {
        let both = json!({"de": "Ja", "en": "Yes"});
        let german = json!({"de": "Ja"});
        for (text, language, said) in [
            (&both, "de", Some("Ja")),
            (&both, "fr", Some("Yes")),
            (&german, "fr", Some("Ja")),
            (&json!("Ok"), "fr", Some("Ok")),
            (&json!({}), "fr", None),
            (&json!(7), "fr", None),
        ] {
            assert_eq!(in_language(text, language), said, "{text} {language}");
        }
        assert_eq!(in_languages(&both).collect::<Vec<_>>(), ["Ja", "Yes"]);
        assert_eq!(in_languages(&json!("Ok")).collect::<Vec<_>>(), ["Ok"]);
    }
}
