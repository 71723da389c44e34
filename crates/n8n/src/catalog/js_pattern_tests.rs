//! Patterns in JavaScript's syntax; the expected answers are JavaScript's.

use super::Catalog;
use super::js_pattern::found;

#[test]
fn the_answers_are_those_of_javascript() {
    let cases = [
        (r"^\d+$", "123", true),
        (r"^\d+$", "١٢٣", false),
        (r"^\w+$", "naïve", false),
        (r"^[\w-.]+$", "a-b.c", true),
        (r"^a$", "a\n", false),
        (r"^a.b$", "a\rb", false),
        (r"^{[a-z]{2,}}$", "{abc}", true),
        (r"^{[a-z]{2,}}$", "{a}", false),
        (r"^a{,2}$", "a{,2}", true),
        (r"^(?!.*opus).*", "claude-opus", false),
        (r"^(?!.*opus).*", "claude-sonnet", true),
        (r"^[^]x$", "\nx", true),
        (r"^[[]$", "[", true),
        (r"^a]$", "a]", true),
        (
            r"^https:\/\/[a-z]+\.example\_x$",
            "https://ab.example_x",
            true,
        ),
        (r"^\u00e9$", "é", true),
        (r"\bfoo\b", "a foo b", true),
        (r"^a|b$", "xb", true),
        (r"^(a)\1$", "aa", true),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(
            found(pattern, text),
            Some(expected),
            "/{pattern}/ on {text:?}"
        );
    }
    assert_eq!(found("(", "x"), None);
}

#[test]
fn every_pattern_of_the_catalog_runs() {
    let catalog = Catalog::embedded();
    let mut seen = std::collections::BTreeSet::new();
    for name in catalog.types() {
        let Some(d) = catalog.lookup(name, None).known() else {
            continue;
        };
        for mode in d.properties.iter().flat_map(|p| &p.modes) {
            seen.extend(mode.patterns.iter().cloned());
        }
    }
    assert!(seen.len() > 60, "{}", seen.len());
    for pattern in seen {
        assert!(found(&format!("^{pattern}$"), "x").is_some(), "{pattern}");
    }
}

#[test]
fn a_locator_mode_accepts_what_its_patterns_match() {
    let d = Catalog::embedded()
        .lookup("n8n-nodes-base.googleSheets", Some(4.7))
        .known()
        .expect("known");
    let document = d
        .properties
        .iter()
        .find(|p| p.name == "documentId")
        .expect("documentId");
    let of = |mode: &str, value: &str| {
        let mode = document
            .modes
            .iter()
            .find(|m| m.name == mode)
            .expect("mode");
        mode.accepts(value)
    };
    assert!(of("id", "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms"));
    assert!(!of("id", "not an id!"));
    assert!(of(
        "url",
        "https://docs.google.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZ/edit#gid=0"
    ));
    assert!(!of("url", "https://example.com/"));
    assert!(of("list", "anything"));
}
