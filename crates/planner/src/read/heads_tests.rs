use super::{plain, spoken};
use crate::read::text::Masked;

fn said(request: &str, head: &str) -> Option<String> {
    let m = Masked::of(request);
    spoken(&m, &Masked::of(head).text)
}

#[test]
fn terse_heads_are_comparisons() {
    let request =
        "A form with name and rating. An LLM returns {score, urgency}. Search the contact.";
    for (head, want) in [
        ("Rating 1 or 2", "Rating is 1 or 2"),
        ("rating 0 to 6", "rating is between 0 and 6"),
        ("Rating 4+", "Rating is at least 4"),
        ("From 70 points", "rating is at least 70"),
        ("Ab 70 Punkten", "rating is at least 70"),
        ("Urgency high", "Urgency is high"),
        ("country DE or AT", "country is DE or AT"),
        ("currency = EUR", "currency is EUR"),
        ("Contact is there", "it exists"),
        ("Not there", "it does not exist"),
        ("not found", "it does not exist"),
    ] {
        assert_eq!(said(request, head).as_deref(), Some(want), "{head}");
    }
}

#[test]
fn labels_and_steps_are_no_heads() {
    let request = "When a mail arrives, classify it as billing or sales. Billing: Slack. Then do three things.";
    for head in [
        "Billing",
        "Then do three things",
        "Send a mail",
        "Every day",
        "If the total is high",
        "Two parts",
    ] {
        assert_eq!(said(request, head), None, "{head}");
    }
}

#[test]
fn running_heads_become_sentences() {
    let m =
        Masked::of("Form with rating. Rating 1 or 2: open a ticket. Rating 4 or 5: send a mail.");
    assert_eq!(
        plain(&m, &m.text),
        "Form with rating. If Rating is 1 or 2, open a ticket. If Rating is 4 or 5, send a mail."
    );
}
