use super::{Kind, tokens};
use proptest::prelude::*;

fn shapes(text: &str) -> Vec<(Kind, String)> {
    tokens(text).into_iter().map(|t| (t.kind, t.text)).collect()
}

#[test]
fn literal_things_are_told_by_their_shape() {
    for (text, kind) in [
        ("https://api.acme.dev/v1/x?y=1", Kind::Url),
        ("ops@acme.io", Kind::Mail),
        ("#sales-team", Kind::Channel),
        ("@maria", Kind::Handle),
        ("/orders/new", Kind::Path),
        ("+49 151", Kind::Mark),
        ("+4915112345", Kind::Phone),
        ("9:00", Kind::Clock),
        ("7pm", Kind::Clock),
        ("18h30", Kind::Clock),
        ("5,000", Kind::Number),
        ("$5k", Kind::Number),
        ("20%", Kind::Number),
        ("order_id", Kind::Id),
        ("crm.customers", Kind::Id),
        ("report.csv", Kind::File),
        ("<invitee name>", Kind::Hole),
        ("'Orders 2025'", Kind::Quote),
        ("e-mail", Kind::Word),
        ("don't", Kind::Word),
        ("firstName", Kind::Id),
    ] {
        let found = tokens(text);
        assert_eq!(
            found.first().map(|t| t.kind),
            Some(kind),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn sentences_end_and_signs_compare() {
    assert_eq!(
        shapes("If total >= 100, stop. Else go"),
        [
            (Kind::Word, "if".into()),
            (Kind::Word, "total".into()),
            (Kind::Sign, ">=".into()),
            (Kind::Number, "100".into()),
            (Kind::Mark, ",".into()),
            (Kind::Word, "stop".into()),
            (Kind::End, ".".into()),
            (Kind::Word, "else".into()),
            (Kind::Word, "go".into()),
        ]
    );
}

#[test]
fn an_apostrophe_within_a_word_opens_no_quote() {
    assert_eq!(shapes("the customer's name and l'adresse").len(), 6);
    assert_eq!(
        tokens("'it's here'").first().map(|t| t.text.clone()),
        Some("it's here".into())
    );
}

proptest! {
    #[test]
    fn tokens_stand_in_order_within_the_text(text in "\\PC{0,80}") {
        let mut end = 0;
        for token in tokens(&text) {
            prop_assert!(token.from >= end && token.to > token.from);
            prop_assert!(text.get(token.from..token.to).is_some());
            end = token.to;
        }
    }
}
