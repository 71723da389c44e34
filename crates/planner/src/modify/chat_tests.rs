//! What people type in a chat, by classes: each was read wrongly once.

use super::asked_tests::told;
use super::classes_tests::{all_ask, all_do, desk, does, report};
use super::modify;
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use serde_json::json;

pub(super) fn orders_by_size() -> Workflow {
    Workflow::from_value(json!({
        "name": "Orders",
        "nodes": [
            {"id": "a", "name": "Order in", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"httpMethod": "POST", "path": "orders", "options": {}}},
            {"id": "b", "name": "Big?", "type": "n8n-nodes-base.if", "typeVersion": 2.2, "position": [200, 0], "parameters": {"conditions": {"options": {"caseSensitive": true, "leftValue": "", "typeValidation": "loose", "version": 2}, "combinator": "and", "conditions": [{"id": "c", "leftValue": "={{ $json.body.total }}", "rightValue": 100, "operator": {"type": "number", "operation": "gt"}}]}, "options": {}}},
            {"id": "d", "name": "Tell sales", "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "position": [400, 0], "parameters": {"resource": "message", "operation": "post", "select": "channel", "channelId": {"__rl": true, "mode": "name", "value": "#sales"}, "text": "Big one", "otherOptions": {}}},
            {"id": "e", "name": "Keep small", "type": "n8n-nodes-base.postgres", "typeVersion": 2.6, "position": [400, 200], "parameters": {"resource": "database", "operation": "insert", "schema": {"__rl": true, "mode": "name", "value": "public"}, "table": {"__rl": true, "mode": "name", "value": "small"}, "columns": {"mappingMode": "autoMapInputData", "value": {}}, "options": {}}},
        ],
        "connections": {
            "Order in": {"main": [[{"node": "Big?", "type": "main", "index": 0}]]},
            "Big?": {"main": [[{"node": "Tell sales", "type": "main", "index": 0}], [{"node": "Keep small", "type": "main", "index": 0}]]},
        },
        "settings": {},
    }))
    .unwrap()
}

#[test]
fn a_condition_that_an_if_asks_already_is_asked_once() {
    all_do(
        &orders_by_size(),
        &["+ Send Email: Send", "Big? [0] → Send Email: Send"],
        &[
            "Also send a mail to a@b.com when the total is over 100",
            "mail a@b.com too if total > 100",
            "When the total is over 100, also mail a@b.com.",
        ],
    );
}

#[test]
fn what_comes_for_all_items_is_put_on_no_way_of_some() {
    all_do(
        &orders_by_size(),
        &[
            "+ Discord: Send message",
            "Order in [0] → Discord: Send message",
        ],
        &["post the orders to Discord too", "also post it to Discord"],
    );
}

#[test]
fn a_text_behind_the_name_of_its_part_loses_no_word() {
    for (message, subject) in [
        ("subject: Thanks for your order", "Thanks for your order"),
        ("Betreff: Danke für alles", "Danke für alles"),
        ("objet du mail : Merci beaucoup", "Merci beaucoup"),
        ("asunto: Gracias, por favor", "Gracias, por favor"),
    ] {
        let told = told(&desk(), message);
        assert!(told.contains(subject), "{message}\n{told}");
    }
}

#[test]
fn a_new_name_is_no_text_of_a_node() {
    all_do(
        &orders_by_size(),
        &[r#"{"op":"rename_node","node":"Tell sales","name":"Ping team"}"#],
        &[
            "rename Tell sales to Ping team",
            "please rename the Slack step to Ping team",
            "renomme Tell sales en Ping team",
        ],
    );
}

#[test]
fn how_long_a_request_waits_is_said_in_any_unit() {
    for message in [
        "set the timeout of the request to 20s",
        "timeout 20 seconds",
        "Timeout auf 20 Sekunden",
    ] {
        let done = does(&report(), message);
        assert!(
            done.contains("/options/timeout = 20000"),
            "{message}\n{done}"
        );
    }
}

#[test]
fn a_service_that_is_not_there_and_the_start_are_told() {
    for (message, said) in [
        ("Use Teams instead of Telegram", "no step of Telegram"),
        ("remove the Discord message", "no step of Discord"),
        ("Entferne Telegram", "keinen Schritt mit Telegram"),
        ("remove the trigger", "Order in starts the workflow"),
        ("delete the webhook", "Order in starts the workflow"),
        ("lösch den Webhook", "Order in startet den Workflow"),
    ] {
        let told = told(&orders_by_size(), message);
        assert!(told.contains(said), "{message}\n{told}");
    }
    all_ask(
        &orders_by_size(),
        &["remove the trigger", "delete the webhook"],
    );
}

#[test]
fn what_sorts_items_for_nothing_any_more_is_told() {
    let mut workflow = orders_by_size();
    workflow = removed(&workflow, "Keep small");
    let change = modify(&workflow, "remove Tell sales", Catalog::embedded());
    assert_eq!(change.notes, ["Big? leads to nothing now"]);
}

fn removed(workflow: &Workflow, node: &str) -> Workflow {
    let op = agentctl_n8n::EditOp::RemoveNode {
        node: node.to_owned(),
    };
    agentctl_n8n::edit::apply(workflow, &[op], &mut || "new".to_owned()).unwrap()
}

#[test]
fn in_the_case_that_an_if_tells_is_behind_it() {
    let text = orders_by_size()
        .to_value()
        .to_string()
        .replace("\"Big?\"", "\"Delayed?\"");
    let workflow = Workflow::from_value(serde_json::from_str(&text).unwrap()).unwrap();
    all_do(
        &workflow,
        &["+ Twilio: Send sms", "Delayed? [0] → Twilio: Send sms"],
        &["in case of delay also text +4915112345678 via Twilio"],
    );
}

#[test]
fn what_goes_may_be_said_by_its_kind() {
    let wanted = [
        "- Ping group",
        "+ Slack: Send message",
        "Mail report [0] → Slack: Send message",
    ];
    let done = does(&report(), "slack instead of the ping group");
    assert!(wanted.iter().all(|w| done.contains(w)), "{done}");
    for message in [
        "discord instead of mail",
        "discord statt der Mail",
        "statt der Mail Discord",
    ] {
        let done = does(&report(), message);
        assert!(
            done.contains("- Mail report") && done.contains("+ Discord"),
            "{message}\n{done}"
        );
    }
}

#[test]
fn one_more_day_of_the_week_leaves_the_others() {
    let text = report().to_value().to_string().replace(
        r#"{"field":"cronExpression","expression":"0 6 * * *"}"#,
        r#"{"field":"weeks","triggerAtDay":[1],"triggerAtHour":7}"#,
    );
    let weekly = Workflow::from_value(serde_json::from_str(&text).unwrap()).unwrap();
    for message in ["also on Thursdays", "on Thursdays too", "auch donnerstags"] {
        let done = does(&weekly, message);
        let days =
            done.contains(r#""triggerAtDay":[1,4]"#) && done.contains(r#""triggerAtHour":7"#);
        assert!(
            days || done.contains("triggerAtDay = [1,4]"),
            "{message}\n{done}"
        );
    }
    // Every second week stays every second week.
    let text = text.replace(
        r#""triggerAtDay":[1]"#,
        r#""weeksInterval":2,"triggerAtDay":[1]"#,
    );
    let fortnightly = Workflow::from_value(serde_json::from_str(&text).unwrap()).unwrap();
    let done = does(&fortnightly, "also on Thursdays");
    assert!(done.contains("[1,4]"), "{done}");
    assert!(!done.contains(r#""weeksInterval":1"#), "{done}");
}

#[test]
fn a_part_with_its_new_name_needs_no_verb() {
    for (message, told) in [
        (
            "mets l'objet : Devoir bien reçu, merci",
            "Devoir bien reçu, merci",
        ),
        ("l'objet : bien reçu", "bien reçu"),
    ] {
        let done = does(&desk(), message);
        assert!(
            done.contains(told) && !done.contains('?'),
            "{message}\n{done}"
        );
    }
    let done = does(&super::classes_tests::leads(), "table leads_raw");
    assert!(done.contains("leads_raw") && !done.contains('?'), "{done}");
}
