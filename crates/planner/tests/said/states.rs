//! States and kinds of what is read ("open", "overdue", "bugs") become what the service itself knows them by, and only that.

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::account::account_of_plan;
use agentctl_planner::compile::compile;
use agentctl_planner::read::{ReadContext, read};

/// The words that were not understood, and the parameters of all nodes as one text.
fn built(request: &str) -> (Vec<String>, String) {
    let plan = read(request, &ReadContext::default()).plan;
    let built = compile(&plan, Catalog::embedded());
    let missing = account_of_plan(request, &plan, &built).missing;
    let nodes = built.workflow.nodes.iter();
    let parameters = nodes.map(|n| format!("{} {:?}\n", n.node_type(), n.parameters()));
    (missing, parameters.collect())
}

#[test]
fn a_service_is_asked_for_the_state_in_its_own_words() {
    let cases = [
        (
            "Every day at 9:00 post the open Jira bugs to Slack #dev",
            r#""statusCategory != Done AND issuetype = Bug""#,
        ),
        (
            "Jeden Tag um 9 Uhr die offenen Jira-Bugs an Slack #dev senden",
            r#""statusCategory != Done AND issuetype = Bug""#,
        ),
        (
            "Every Friday mail the overdue Jira tasks to ops@acme.com",
            r#""due < now() AND statusCategory != Done""#,
        ),
        (
            "Every Monday at 8:30 mail the open Xero invoices to finance@acme.com as one list",
            r#"Array [String("AUTHORISED")]"#,
        ),
        (
            "Chaque lundi à 8h poste les commandes payées de Shopify sur Slack #ventes",
            r#""financialStatus": String("paid")"#,
        ),
        (
            "Cada lunes a las 8 publica los tickets abiertos de Zendesk en Slack #ventas",
            r#""status": String("open")"#,
        ),
        (
            "Every hour post the unassigned Zendesk tickets to Slack #support",
            "$json.assignee_id",
        ),
        (
            "Every day at 7 post the overdue Freshdesk tickets to Slack #support",
            "$json.due_by",
        ),
    ];
    for (request, asked) in cases {
        let (missing, parameters) = built(request);
        assert_eq!(missing, Vec::<String>::new(), "{request}");
        assert!(parameters.contains(asked), "{request}\n{parameters}");
        // Nothing tests the state a second time, as a word that no record holds.
        let twice = r#"rightValue": String("o"#;
        assert!(!parameters.contains(twice), "{request}\n{parameters}");
    }
}

#[test]
fn a_state_that_the_service_does_not_show_is_not_understood() {
    let cases = [
        (
            "Each morning send the active HubSpot contacts to Telegram chat 4455",
            "active",
        ),
        (
            "Every day at 7 post the overdue Xero invoices to Slack #finance",
            "overdue",
        ),
        (
            "Cada lunes a las 8 publica los pedidos vencidos de Shopify en Slack #ventas",
            "vencidos",
        ),
    ];
    for (request, word) in cases {
        let (missing, _) = built(request);
        let named = missing.iter().any(|m| m.contains(word));
        assert!(named, "{request}\n    {missing:?}");
    }
}

/// The columns of a sheet or a base are its user's own.
#[test]
fn a_state_may_be_the_value_of_a_column() {
    let request =
        "Every day at 9 read the open rows of the Google Sheet \"Tasks\" and mail them to a@b.com";
    let (missing, parameters) = built(request);
    assert_eq!(missing, Vec::<String>::new());
    assert!(
        parameters.contains(r#""rightValue": String("open")"#),
        "{parameters}"
    );
}

#[test]
fn what_a_schedule_reads_again_goes_on_once_where_only_the_new_is_asked_for() {
    let seen = "removeItemsSeenInPreviousExecutions";
    let cases = [
        (
            "Every hour post the new Shopify orders to Slack #sales",
            true,
        ),
        ("Every hour post the Shopify orders to Slack #sales", false),
        (
            "Every morning list the new HubSpot contacts in the Google Sheet \"Contacts\"",
            true,
        ),
    ];
    for (request, once) in cases {
        let (_, parameters) = built(request);
        assert_eq!(parameters.contains(seen), once, "{request}\n{parameters}");
    }
}

#[test]
fn what_one_service_has_is_listed_in_another() {
    for request in [
        "Every day at 9 list the failed Stripe charges in Google Sheets \"Failed\"",
        "Every Monday list the closed Jira issues in the Google Sheet \"Done\"",
    ] {
        let (missing, parameters) = built(request);
        assert_eq!(missing, Vec::<String>::new(), "{request}");
        assert!(
            parameters.contains(r#""operation": String("append")"#),
            "{request}\n{parameters}"
        );
    }
}

/// A trigger that tells of all that happens to a thing is followed by a test for the event that was said.
#[test]
fn only_the_event_that_was_said_goes_on() {
    let cases = [
        (
            "When a GitHub pull request is merged, post its title to Discord",
            "$json.body.pull_request.merged",
        ),
        (
            "When an issue is opened in GitHub repo acme/app, post it to Discord",
            "$json.body.action",
        ),
        (
            "Wenn ein Deal in Pipedrive gewonnen wird, sag es #wins in Slack",
            "$json.data.status",
        ),
        (
            "When an invoice is paid in Xero, post it to Slack #finance",
            r#"String("PAID")"#,
        ),
    ];
    for (request, tested) in cases {
        let (_, parameters) = built(request);
        assert!(parameters.contains(tested), "{request}\n{parameters}");
    }
}

/// "For each new ticket" tells what starts the workflow, wherever it stands; nothing is made there.
#[test]
fn what_brings_the_event_is_not_written_to() {
    let request = "Add a row to Google Sheets for each new Zendesk ticket with subject, priority and requester email";
    let (missing, parameters) = built(request);
    assert_eq!(missing, Vec::<String>::new());
    assert!(
        parameters.starts_with("n8n-nodes-base.zendeskTrigger"),
        "{parameters}"
    );
    assert_eq!(parameters.lines().count(), 2, "{parameters}");
    let column = r#""priority": String("={{ $json.priority }}")"#;
    assert!(parameters.contains(column), "{parameters}");
}
