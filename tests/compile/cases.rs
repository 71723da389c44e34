//! Plans of many kinds and the workflows they become.

use crate::plans::*;
use serde_json::json;

#[test]
fn a_webhook_with_two_ways() {
    let c = built(json!({
        "triggers": [{"kind": "webhook", "method": "POST", "path": "/signup", "fields": ["email", "plan", "seats"], "auth": null}],
        "steps": [step("s1", json!({"does": "if",
            "condition": compare(field("seats"), "ge", lit(50)),
            "then": [
                call("s2", "HubSpot", "hubspot", "create", "deal", vec![arg("title", json!({"val": "template", "parts": [field("email"), lit(" – "), field("plan")]})), arg("stage", lit("qualifiedtobuy"))]),
                slack("s3", "#big-deals", json!({"val": "template", "parts": [lit("New signup: "), field("email")]})),
            ],
            "otherwise": [call("s4", "Mailchimp", "mailchimp", "add", "audience", vec![arg("container", lit("Self service"))])],
        }))],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn a_schedule_reads_and_mails_one_list() {
    let c = built(json!({
        "triggers": [{"kind": "schedule", "rules": [{"every": "weeks", "n": 1, "weekdays": [1], "hour": 8, "minute": 30}]}],
        "timezone": "Europe/Berlin",
        "steps": [
            call("s1", "Google Sheets", "googleSheets", "get_many", "rows", vec![arg("container", lit("Stock")), arg("part", lit("Current")), named("Name", field("Name"))]),
            step("s2", json!({"does": "filter", "condition": compare(field("Quantity"), "lt", lit(5))})),
            step("s3", json!({"does": "aggregate", "format": "list"})),
            call("s4", "mail", "gmail", "send", "mail", vec![arg("to", lit("buying@example.org")), arg("subject", lit("Low stock"))]),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}
