use super::{PHRASES, classes_of};
use crate::words::Text;
use std::collections::BTreeSet;

/// The classes that words/README.md explains.
fn explained() -> BTreeSet<&'static str> {
    let page = include_str!("../words/README.md");
    let rows = page.lines().filter_map(|l| l.strip_prefix("| `"));
    rows.filter_map(|row| row.split('|').next())
        .flat_map(|cell| cell.split('`'))
        .filter(|name| !name.trim_matches([',', ' ']).is_empty())
        .collect()
}

#[test]
fn every_language_has_the_classes_that_are_explained() {
    for language in crate::language::languages() {
        assert_eq!(classes_of(language), explained(), "{language}");
    }
}

#[test]
fn a_form_is_found_whatever_its_accents_and_with_words_between() {
    let at = |class: &str, text: &str, language: &'static str| {
        let text = Text::new(text);
        PHRASES.at(class, &text.words, 0, &[language])
    };
    assert_eq!(at("unknown", "Weiss ich leider nicht", "de"), Some(4));
    assert_eq!(at("yes", "Sí, vale", "es"), Some(1));
    assert_eq!(at("submit", "envoyez-la", "fr"), Some(2));
    assert_eq!(at("abandon.any", "Laissez tomber !", "fr"), Some(2));
    assert_eq!(at("trouble", "Beschwerden", "de"), Some(1));
    assert_eq!(at("yes", "no", "en"), None);
}
