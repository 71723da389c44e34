//! The same wish in the wordings that people choose: the order of the clauses, the passive, what a thing is said behind its name.
//! Each must give the same graph, and the same values, as the plain sentence.

use crate::same::shape;
use agentctl_n8n::catalog::Catalog;
use agentctl_planner::account::account_of_plan;
use agentctl_planner::compile::compile;
use agentctl_planner::read::{ReadContext, read};

/// Requests that must come to the same as the first of them, with values that the workflow must hold, and nothing missing.
fn alike(plain: &str, values: &[&str], others: &[&str]) {
    for request in std::iter::once(&plain).chain(others) {
        assert_eq!(shape(plain), shape(request), "\n{plain}\n{request}");
        let plan = read(request, &ReadContext::default()).plan;
        let compiled = compile(&plan, Catalog::embedded());
        let account = account_of_plan(request, &plan, &compiled);
        assert!(
            account.missing.is_empty(),
            "{request}\n    {:?}",
            account.missing
        );
        let whole = compiled.workflow.to_value().to_string();
        for value in values {
            assert!(whole.contains(value), "{value}: {request}\n{whole}");
        }
    }
}

#[test]
fn a_list_ends_where_the_next_clause_is_introduced() {
    alike(
        "When an order is paid in Stripe, send a message with customer and amount to Slack #sales.",
        &["#sales", "customer: ", "amount: "],
        &[
            "Send a message with customer and amount to Slack #sales when an order is paid in Stripe.",
            "Slack #sales should get a message with customer and amount whenever an order is paid in Stripe.",
            "Slack #sales should receive a message with customer and amount as soon as an order is paid in Stripe.",
            "I want a message in Slack #sales with customer and amount once an order is paid in Stripe.",
        ],
    );
    alike(
        "When a form with name and date is submitted, send a mail with name and date to a@b.example.",
        &["a@b.example", "name: ", "date: "],
        &[
            "Send a mail with name and date to a@b.example when a form with name and date is submitted.",
        ],
    );
}

#[test]
fn what_is_done_with_something_new_may_be_said_in_the_passive() {
    alike(
        "When a new lead is created in HubSpot, add it to the Google Sheet Leads.",
        &["Leads"],
        &[
            "Every new lead in HubSpot should be added to the Google Sheet Leads.",
            "Each new lead in HubSpot gets added to the Google Sheet Leads.",
            "New leads in HubSpot are to be added to the Google Sheet Leads.",
            "New leads in HubSpot are added to the Google Sheet Leads.",
        ],
    );
    alike(
        "When a new row is added to the Google Sheet Leads, post a message with name and phone to Slack #leads.",
        &["#leads", "name: ", "phone: "],
        &[
            "New rows in the Google Sheet Leads are to be posted to Slack #leads with name and phone.",
        ],
    );
}

#[test]
fn what_a_name_is_may_stand_around_it() {
    alike(
        "When a webhook receives an order, add a row to the Google Sheet Orders.",
        &["Orders"],
        &[
            "When a webhook receives an order, add a row to 'Orders', a Google Sheet.",
            "When a webhook receives an order, add a row to 'Orders' (a Google Sheet).",
            "When a webhook receives an order, add a row to the Orders sheet in Google Sheets.",
        ],
    );
    alike(
        "When a webhook receives an event, insert it into the Postgres table customers.",
        &["customers"],
        &[
            "When a webhook receives an event, insert it into customers, a Postgres table.",
            "When a webhook receives an event, insert it into the customers table in Postgres.",
        ],
    );
    alike(
        "When a webhook receives an order, post it to Slack #big-orders.",
        &["#big-orders"],
        &["When a webhook receives an order, post it to the big-orders channel on Slack."],
    );
    alike(
        "When a webhook receives a file, upload it to the Google Drive folder invoices.",
        &["invoices"],
        &["When a webhook receives a file, upload it to the invoices folder on Google Drive."],
    );
}

#[test]
fn a_condition_may_follow_what_is_done() {
    alike(
        "When a webhook receives an order, if the total is above 50 tell Slack #sales.",
        &["#sales", "total", "50"],
        &[
            "When a webhook receives an order, tell Slack #sales, but only if the total is above 50.",
            "When a webhook receives an order, tell Slack #sales only when the total is above 50.",
            "When a webhook receives an order, tell Slack #sales as long as the total is above 50.",
        ],
    );
    alike(
        "When a webhook receives an order, if the status equals 'paid' tell Slack #sales.",
        &["#sales", "status", "paid"],
        &["When a webhook receives an order, tell Slack #sales provided that the status is paid."],
    );
}

#[test]
fn where_it_belongs_may_be_said_later() {
    alike(
        "When a form with name and topic is submitted, create a card in the Trello list 5f1c0a9be2d34c0012ab77ce.",
        &["5f1c0a9be2d34c0012ab77ce"],
        &[
            "When a form with name and topic is submitted, create a Trello card. It should go into list 5f1c0a9be2d34c0012ab77ce.",
            "When a form with name and topic is submitted, create a Trello card. The card belongs in list 5f1c0a9be2d34c0012ab77ce.",
        ],
    );
}

#[test]
fn what_is_done_first_may_be_said_last() {
    alike(
        "When a form with name and topic is submitted, wait 2 hours, then create a card in the Trello list 5f1c0a9be2d34c0012ab77ce.",
        &["5f1c0a9be2d34c0012ab77ce"],
        &[
            "When a form with name and topic is submitted: before a card is created in the Trello list 5f1c0a9be2d34c0012ab77ce, wait 2 hours.",
            "When a form with name and topic is submitted, create a card in the Trello list 5f1c0a9be2d34c0012ab77ce after waiting 2 hours.",
        ],
    );
}

#[test]
fn parts_of_a_message_have_their_own_values() {
    alike(
        "When a webhook receives an alert, send a Gotify message with title 'Alarm' and priority 8.",
        &["\"title\":\"Alarm\"", "\"priority\":8"],
        &[
            "When a webhook receives an alert, send a Gotify message: title 'Alarm', priority 8.",
            "When a webhook receives an alert, send it to Gotify with 'Alarm' as the title and 8 as the priority.",
        ],
    );
}

#[test]
fn a_german_condition_may_begin_with_its_verb() {
    alike(
        "Wenn in HubSpot ein neuer Kontakt angelegt wird, trag ihn in die Google-Tabelle \"Kontakte\" ein.",
        &["Kontakte"],
        &[
            "Wird in HubSpot ein neuer Kontakt angelegt, trag ihn in die Google-Tabelle \"Kontakte\" ein.",
        ],
    );
}

#[test]
fn a_time_of_day_may_stand_apart_from_the_day() {
    alike(
        "Every day at 7:00 read the Google Sheet Stock and post it to Slack #stock.",
        &["#stock", "\"triggerAtHour\":7"],
        &["At 7 every morning, read the Google Sheet Stock and post it to Slack #stock."],
    );
}

#[test]
fn an_interval_may_stand_before_or_behind_its_length() {
    alike(
        "Every 5 minutes get https://api.example.org/v2 and post it to Slack #buying.",
        &["#buying", "\"minutesInterval\":5"],
        &[
            "At intervals of 5 minutes get https://api.example.org/v2 and post it to Slack #buying.",
            "At 5-minute intervals get https://api.example.org/v2 and post it to Slack #buying.",
        ],
    );
}

#[test]
fn the_columns_of_a_thing_are_named_behind_it_or_before_an_arrow() {
    alike(
        "Webhook, POST, path label-printed. From the body: order_no, tracking_no → new row, n8n data table 'labels'.",
        &["order_no", "tracking_no"],
        &[],
    );
    alike(
        "Whenever a release event comes out of the GitHub repo acme/edge, I'd like #releases on Discord to get a message giving that release's tag_name along with its html_url.",
        &["tag_name", "html_url"],
        &[],
    );
}
