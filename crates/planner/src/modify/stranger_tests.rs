//! What strangers wrote in the middle of a conversation, by classes: each was asked about once, or read wrongly.

use super::chat_tests::orders_by_size;
use super::classes_tests::{all_do, desk, does, leads, report};
use agentctl_n8n::Workflow;

/// The same with a node that is called by a plain verb at its end.
fn waiting() -> Workflow {
    let wait = serde_json::json!([{"id": "w", "name": "Wait", "type": "n8n-nodes-base.wait", "typeVersion": 1.1, "position": [900, 0], "parameters": {"amount": 10, "unit": "minutes"}}]);
    let mut workflow = leads();
    workflow
        .nodes
        .extend(serde_json::from_value::<Vec<agentctl_n8n::Node>>(wait).unwrap());
    workflow.connect("Tell sales", "main", 0, "Wait", 0);
    workflow
}

#[test]
fn what_is_out_makes_room_for_what_comes() {
    all_do(
        &report(),
        &["- Ping group", "+ Discord", "Mail report [0] → Discord"],
        &[
            "Telegram is out, we use Discord",
            "Telegram out, Discord in",
            "Telegram raus, wir nehmen jetzt Discord",
            "Telegram fuera, usamos Discord",
            "on n'utilise plus Telegram mais Discord",
        ],
    );
}

#[test]
fn what_people_say_for_a_plain_order_is_that_order() {
    all_do(
        &report(),
        &[
            "+ Convert to CSV",
            "+ Dropbox: Upload file",
            "Ping group [0] → Convert to CSV",
            "Convert to CSV [0] → Dropbox",
        ],
        &[
            "and drop a copy in Dropbox",
            "leave a copy in Dropbox",
            "deja una copia en Dropbox",
        ],
    );
    all_do(
        &report(),
        &["+ Discord: Send message", "Ping group [0] → Discord"],
        &["drop a note in Discord", "deja una nota en Discord"],
    );
    // What is given word for word stays so.
    let done = does(&report(), "subject: please drop a note to us");
    assert!(done.contains("please drop a note to us"), "{done}");
}

#[test]
fn only_those_items_go_to_the_step_that_is_named() {
    all_do(
        &leads(),
        &[
            "+ Value > 5000?",
            "Keep lead [0] ✂ Tell sales",
            "Keep lead [0] → Value > 5000?",
            "Value > 5000? [0] → Tell sales",
        ],
        &[
            "Only leads over 5000 should go to sales",
            "Nur Leads über 5000 sollen an sales gehen",
        ],
    );
}

#[test]
fn a_part_of_a_text_is_exchanged_and_its_expression_stays() {
    let text = report().to_value().to_string();
    let text = text.replace("=Sales: {{", "=Sales of today: {{");
    let today = Workflow::from_value(serde_json::from_str(&text).unwrap()).unwrap();
    for message in [
        "Schreib statt \"Sales of today\" lieber \"Umsatz\" in die Nachricht",
        "write \"Umsatz\" instead of \"Sales of today\"",
    ] {
        let done = does(&today, message);
        assert!(
            done.contains("=Umsatz: {{ $json.total }}"),
            "{message}\n{done}"
        );
    }
}

#[test]
fn one_more_word_is_asked_of_the_field_that_is_asked_about() {
    let text = orders_by_size().to_value().to_string();
    let text = text.replace("$json.body.total", "$json.subject");
    let text = text
        .replace("\"rightValue\":100", "\"rightValue\":\"invoice\"")
        .replace(
            r#"{"operation":"gt","type":"number"}"#,
            r#"{"operation":"contains","type":"string"}"#,
        )
        .replace(
            r#"{"type":"number","operation":"gt"}"#,
            r#"{"type":"string","operation":"contains"}"#,
        );
    let asks = Workflow::from_value(serde_json::from_str(&text).unwrap()).unwrap();
    for message in [
        "the subject must also contain receipt",
        "que el asunto contenga también la palabra receipt",
    ] {
        let done = does(&asks, message);
        let both = done.contains("receipt") && !done.contains("asunto");
        assert!(both, "{message}\n{done}");
    }
}

#[test]
fn a_node_that_is_called_by_a_verb_is_not_every_such_verb() {
    all_do(
        &waiting(),
        &[
            "+ Wait 5 minutes",
            "Keep lead [0] ✂ Tell sales",
            "Keep lead [0] → Wait 5 minutes",
            "Wait 5 minutes [0] → Tell sales",
        ],
        &[
            "after Keep lead wait 5 minutes",
            "wait 5 minutes after Keep lead",
        ],
    );
    // Where the name is meant, it is.
    let done = does(&waiting(), "remove wait");
    assert!(done.contains("- Wait"), "{done}");
    let done = does(&waiting(), "make it 5");
    assert!(done.contains('5') && !done.contains('?'), "{done}");
}

#[test]
fn one_more_day_is_read_in_every_language() {
    let text = report().to_value().to_string().replace(
        r#"{"field":"cronExpression","expression":"0 6 * * *"}"#,
        r#"{"field":"weeks","triggerAtDay":[1],"triggerAtHour":7}"#,
    );
    let weekly = Workflow::from_value(serde_json::from_str(&text).unwrap()).unwrap();
    for message in ["también los jueves", "aussi le jeudi"] {
        let done = does(&weekly, message);
        assert!(done.contains("[1,4]"), "{message}\n{done}");
    }
}

#[test]
fn where_a_message_goes_is_not_what_it_says() {
    all_do(
        &desk(),
        &["+ Slack: Send message", "Confirm [0] → Slack"],
        &["envoie un message sur Slack", "laisse un message sur Slack"],
    );
}
