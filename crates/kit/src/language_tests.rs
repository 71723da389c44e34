use super::{detected, language};

#[test]
fn a_language_is_told_by_its_small_words() {
    for (text, wanted) in [
        ("Who wrote that book for us?", "en"),
        ("Das soll der Roboter von heute an machen", "de"),
        ("Quiero que la solicitud sea para el equipo", "es"),
        ("Je voudrais que le formulaire soit plus court", "fr"),
    ] {
        assert_eq!((detected(text), language(text)), (Some(wanted), wanted));
    }
}

#[test]
fn a_text_without_small_words_is_in_no_language() {
    assert_eq!(
        (detected("Grace Mbeki"), language("Grace Mbeki")),
        (None, "en")
    );
}
