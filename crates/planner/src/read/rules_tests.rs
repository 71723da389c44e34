use super::{Masked, plain};

fn rewritten(request: &str) -> String {
    let m = Masked::of(request);
    m.plain(&plain(&m, &m.text).replace('\n', " | "))
}

#[test]
fn bulleted_rules_become_a_chain() {
    assert_eq!(
        rewritten(
            "Orders come in:\n- amount above 300 → post to Slack #big\n- between 50 and 300 and country is DE or AT → create a Trello card\n- everything else → append to Google Sheets"
        ),
        ". | If amount above 300, post to Slack #big. | Otherwise if between 50 and 300 and country is DE or AT, create a Trello card. | Otherwise, append to Google Sheets."
    );
}

#[test]
fn german_questions_become_conditions() {
    assert_eq!(
        rewritten("Ist die Priorität hoch, schick eine SMS. Ist sie niedrig, lösche es."),
        "Wenn die Priorität ist hoch, schick eine SMS. Wenn die Priorität ist niedrig, lösche es."
    );
    assert_eq!(
        rewritten("Fehlt die E-Mail, antworte mit 400."),
        "Wenn die E-Mail fehlt, antworte mit 400."
    );
}

#[test]
fn steps_and_labels_stay_as_they_are() {
    for request in [
        "Webhook → Slack → Google Sheets",
        "Classify mails: sales → forward to a@b.io, spam → delete",
        "Do this:\n- get the rows\n- post them to Slack",
    ] {
        let m = Masked::of(request);
        assert_eq!(plain(&m, &m.text), m.text);
    }
}
