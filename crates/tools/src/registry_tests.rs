use super::*;

#[test]
fn a_share_is_bounded_from_below_and_grows_with_what_is_known() {
    let none = wilson(0, 0);
    assert!(none > 0.15 && none < 0.35, "{none}");
    assert!(wilson(90, 100) > wilson(9, 10), "more calls, more trust");
    assert!(
        wilson(1, 10) < none,
        "known to be bad is worse than unknown"
    );
    assert!(wilson(1_000_000, 1_000_000) > 0.99);
}

#[test]
fn words_lose_their_endings() {
    assert_eq!(
        words("Reads the tickets, of a user"),
        ["read", "the", "ticket", "user"]
    );
}

#[test]
fn a_rare_word_counts_more_and_a_missing_one_nothing() {
    let text = |words: &[&str]| {
        words
            .iter()
            .map(|w| ((*w).to_owned(), 1.0))
            .collect::<Vec<_>>()
    };
    let all = [
        text(&["rate", "list"]),
        text(&["list", "card"]),
        text(&["list"]),
    ];
    let need = |word: &str| vec![word.to_owned()];
    assert!(matches(&need("rate"), &all[0], &all) > matches(&need("list"), &all[0], &all));
    assert_eq!(matches(&need("card"), &all[0], &all), 0.0);
}
