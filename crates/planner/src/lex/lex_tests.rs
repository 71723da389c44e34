use super::{Class, Lexicon, tables};

#[test]
fn every_row_of_every_language_is_read() {
    for language in tables::LANGUAGES {
        let read = tables::lexicon(language);
        assert!(
            read.is_ok(),
            "{}",
            read.err().map_or_else(String::new, |e| e.to_string())
        );
    }
}

#[test]
fn forms_come_from_the_table_of_inflections() {
    let en = Lexicon::of("en");
    for (form, lemma) in [
        ("notifies", "notify"),
        ("posted", "post"),
        ("dropping", "drop"),
        ("fetches", "fetch"),
        ("sums up", "sum"),
        ("looked up", "look up"),
        ("blorped", ""),
    ] {
        let found = en.senses(form).iter().find(|s| s.class == Class::Verb);
        assert_eq!(found.map_or("", |s| s.concept.as_str()), lemma, "{form}");
    }
    assert!(en.senses("entries").iter().any(|s| s.concept == "row"));
}

#[test]
fn a_word_that_misses_one_letter_is_known() {
    let en = Lexicon::of("en");
    assert_eq!(en.spelled("custmer"), Some("customer"));
    assert_eq!(en.spelled("recieve"), Some("receive"));
    assert_eq!(en.spelled("zebra"), None);
}

#[test]
fn a_typo_is_looked_for_beside_letters_of_several_bytes() {
    for word in ["nœuds", "éèêëà", "œuvres"] {
        for language in ["de", "es", "fr"] {
            Lexicon::of(language).spelled(word);
        }
    }
}
