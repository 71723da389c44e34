use super::plain;
use crate::read::text::Masked;

fn said(request: &str) -> String {
    let m = Masked::of(request);
    m.plain(&plain(&m, &m.text))
}

#[test]
fn models_that_return_something_get_an_order() {
    for (request, want) in [
        (
            "Get the mail. An LLM returns name, email and score (0 to 100) as JSON. Post it.",
            "Get the mail. let an LLM extract name, email and score. Post it.",
        ),
        (
            "ein LLM liefert daraus name und score als JSON",
            "let ein LLM extract daraus name und score",
        ),
        (
            "Alle Tickets holen, ChatGPT daraus kurze Notizen schreiben lassen und alles posten",
            "Alle Tickets holen, let ChatGPT write kurze Notizen und alles posten",
        ),
        (
            "Then let Claude write a summary",
            "Then let Claude write a summary",
        ),
        (
            "When an issue is opened an agent returns a verdict",
            "When an issue is opened, let an agent return a verdict",
        ),
    ] {
        assert_eq!(said(request), want);
    }
}
