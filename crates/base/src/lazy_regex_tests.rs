use super::*;
use proptest::prelude::*;

#[test]
fn of_each_list_one_word_is_needed() {
    for (source, lists) in [
        (
            r"\b(?:send|mail)\w* to\b",
            vec![vec!["mail", "send"], vec![" to"]],
        ),
        (r"^(?:post|PUT)?\s*orders?$", vec![vec!["order"]]),
        (r"(?:über)+ \d+", vec![vec!["über"], vec![" "]]),
        (r"(?:a.*bc|d)e*", vec![vec!["bc", "d"]]),
        (r"(?:a|b*)c?", vec![]),
        (r"\w+@\w+", vec![vec!["@"]]),
        (r"[a-z]+", vec![]),
    ] {
        assert_eq!(Pattern::new(source).needs, lists, "{source}");
    }
}

#[test]
fn it_matches_in_any_case_and_beyond_ascii() {
    let pattern = Pattern::new(r"\b(?:über|más de)\s+(\d+)\b");
    let found = pattern.captures("Betrag ÜBER 100 EUR").unwrap();
    assert_eq!(found.get(1).unwrap().as_str(), "100");
    assert_eq!(pattern.replace_all("Más de 5", "x"), "x");
    assert!(!pattern.is_match("unter 100"));
    assert!(Pattern::new(r"^[\w-]+$").is_match("größe-ñandú"));
    assert!(!Pattern::new(r"[^\w\s]").is_match("größe ñandú"));
    assert_eq!(
        Pattern::new(r"\p{L}+|[\p{L}\d]{2}")
            .find("1ß")
            .unwrap()
            .as_str(),
        "1ß"
    );
    assert_eq!(Pattern::new(r"d(ü)").captures_iter("die Tür").count(), 0);
}

proptest! {
    /// The quick check never hides a match.
    #[test]
    fn what_the_plain_pattern_finds_is_found(
        text in "(?:[a-dA-DäÄ1 ]|send|Mail|ORDERS|to){0,12}",
        which in 0_usize..6,
        long: bool,
    ) {
        let text = if long { format!("{}{text}", "-".repeat(SHORT)) } else { text };
        let source = [
            r"\b(?:send|mail)\w*\s+to\b", r"orders?|\d\s?a", r"(?:ä|b)+c?", r"^(?:to|send)?\s*m", r"(?:da){2,}|1$", r"([ab])\s(?:c|(d))",
        ][which];
        let plain = regex::Regex::new(&format!("(?i){source}")).unwrap();
        let ours = Pattern::new(source);
        prop_assert_eq!(ours.find(&text).map(|m| m.range()), plain.find(&text).map(|m| m.range()));
        prop_assert_eq!(ours.is_match(&text), plain.is_match(&text));
        prop_assert_eq!(ours.replace_all(&text, "<$0|$1>"), plain.replace_all(&text, "<$0|$1>"));
        prop_assert_eq!(ours.replace(&text, "-"), plain.replace(&text, "-"));
        prop_assert_eq!(ours.split(&text).collect::<Vec<_>>(), plain.split(&text).collect::<Vec<_>>());
    }
}
