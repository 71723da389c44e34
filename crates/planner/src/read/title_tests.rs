//! Names that a person would give.

use crate::read::{ReadContext, read};

fn name(request: &str) -> String {
    read(request, &ReadContext::default()).plan.name
}

#[test]
fn a_workflow_is_named_after_what_it_moves_and_where_to() {
    let cases = [
        (
            "When a webhook receives an order over 100 EUR, post it to Slack #sales and append it to the Google Sheet Orders",
            "Orders over 100 EUR to Slack and Google Sheets",
        ),
        (
            "Every day at 9:00 post the open Jira bugs to Slack #dev",
            "Open Jira bugs to Slack",
        ),
        (
            "When a new order is placed in Shopify, post it to Slack #orders",
            "Shopify orders to Slack",
        ),
        (
            "When another workflow fails, post to #alerts on Slack",
            "Workflow errors to Slack",
        ),
    ];
    for (request, expected) in cases {
        assert_eq!(name(request), expected, "{request}");
    }
}

#[test]
fn a_label_of_the_request_stays_the_name() {
    assert_eq!(
        name(
            "Invoice archive: when a mail with attachment arrives in Gmail, save the attachment to Dropbox"
        ),
        "Invoice archive"
    );
}
