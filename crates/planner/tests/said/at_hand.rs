//! What a node takes from the items at hand is theirs: no id of another service, no field that a record lacks, no file that was
//! left out before.

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::account::account_of_plan;
use agentctl_planner::compile::compile;
use agentctl_planner::read::{ReadContext, read};

/// The words that were not understood, and each node's type with its parameters as JSON.
fn built(request: &str) -> (Vec<String>, Vec<(String, String)>) {
    let plan = read(request, &ReadContext::default()).plan;
    let built = compile(&plan, Catalog::embedded());
    let missing = account_of_plan(request, &plan, &built).missing;
    let nodes = built.workflow.nodes.iter();
    let nodes = nodes.map(|n| {
        let parameters = serde_json::to_string(&n.parameters()).unwrap_or_default();
        (n.node_type().to_owned(), parameters)
    });
    (missing, nodes.collect())
}

/// The parameters of the nodes of a type that hold an operation.
fn of<'a>(nodes: &'a [(String, String)], short: &str, operation: &str) -> &'a str {
    let wanted = format!(r#""operation":"{operation}""#);
    let found = nodes
        .iter()
        .find(|(t, p)| t.ends_with(&format!(".{short}")) && p.contains(&wanted));
    found.map_or("", |(_, p)| p.as_str())
}

#[test]
fn a_moved_file_is_stored_there_and_deleted_here_and_no_other_is() {
    let request =
        "When a new file lands on the FTP server in /incoming, move it to Dropbox folder /archive";
    let (missing, nodes) = built(request);
    assert_eq!(missing, Vec::<String>::new());
    assert!(of(&nodes, "dropbox", "upload").contains("/archive/"));
    assert!(of(&nodes, "ftp", "delete").contains("$json.path"));
    // What FTP lists has no id; and what had been seen before is not deleted.
    let code = nodes.iter().find(|(t, _)| t.ends_with(".code"));
    assert!(
        code.is_some_and(|(_, p)| p.contains("$('Only new items').all()")),
        "{nodes:?}"
    );
    let seen = of(
        &nodes,
        "removeDuplicates",
        "removeItemsSeenInPreviousExecutions",
    );
    assert!(seen.contains("$json.path"), "{seen}");
}

#[test]
fn a_file_that_came_is_sent_as_a_file() {
    let request =
        r#"Watch the folder "Invoices" in Google Drive and email each new file to a@acme.com"#;
    let (missing, nodes) = built(request);
    assert_eq!(missing, Vec::<String>::new());
    let types: Vec<&str> = nodes
        .iter()
        .filter_map(|(t, _)| t.split('.').nth(1))
        .collect();
    assert_eq!(types, ["googleDriveTrigger", "googleDrive", "emailSend"]);
    assert!(of(&nodes, "emailSend", "send").contains(r#""attachments":"data""#));
}

#[test]
fn what_came_is_posted_to_an_address_and_mailed_to_nobody() {
    for request in [
        "When a webhook POST /orders arrives, post it to https://api.example.com/orders",
        "When a webhook comes in, send it to https://api.example.com/orders",
        "When a new row is added to the Google Sheet Leads, forward it to https://api.example.com/leads",
    ] {
        let (_, nodes) = built(request);
        let types: Vec<&str> = nodes.iter().map(|(t, _)| t.as_str()).collect();
        assert!(
            types.iter().all(|t| !t.contains("mail")),
            "{request}: {types:?}"
        );
        let posted = |(t, p): &&(String, String)| t.ends_with(".httpRequest") && p.contains("POST");
        let call = nodes.iter().find(posted).map(|(_, p)| p.as_str());
        let address = call.is_some_and(|p| p.contains("https://api.example.com/"));
        assert!(address, "{request}: {call:?}");
    }
}

#[test]
fn what_one_gets_gotten_is_read_once() {
    let request =
        "When an email arrives in Gmail, each mail gets its attachment gotten from Dropbox";
    let (missing, nodes) = built(request);
    assert!(!nodes.is_empty(), "{missing:?}");
}

#[test]
fn the_id_of_another_service_s_record_is_taken_for_nothing() {
    let (_, nodes) = built("When a row is added to the Google Sheet Orders, send it to Telegram");
    let sent = of(&nodes, "telegram", "sendMessage");
    assert!(sent.contains("<Chat ID>"), "{sent}");
    let (_, nodes) = built("Every day delete the Google Drive files older than 30 days");
    let deleted = of(&nodes, "googleDrive", "deleteFile");
    assert!(deleted.contains("$json.id"), "{deleted}");
}

#[test]
fn the_age_of_a_record_is_told_by_the_date_that_its_service_keeps() {
    for (service, field) in [
        ("Airtable records", "$json.createdTime"),
        ("Google Drive files", "$json.createdTime"),
    ] {
        let (missing, nodes) = built(&format!(
            "Every day delete the {service} older than 90 days"
        ));
        assert_eq!(missing, Vec::<String>::new(), "{service}");
        let tested = nodes.iter().find(|(t, _)| t.ends_with(".filter"));
        assert!(
            tested.is_some_and(|(_, p)| p.contains(field)),
            "{service} {nodes:?}"
        );
    }
}

#[test]
fn what_a_ticket_has_no_field_for_stands_in_its_text() {
    let (_, nodes) = built(
        "If a Stripe payment fails, open a Zendesk ticket with the customer's email and the amount",
    );
    let ticket = of(&nodes, "zendesk", "create");
    assert!(
        ticket.contains("Customer email: {{") && ticket.contains("Amount: {{"),
        "{ticket}"
    );
    assert!(!ticket.contains("customFields"), "{ticket}");
}

#[test]
fn what_a_model_wrote_goes_back_to_what_came() {
    let (missing, nodes) = built(
        "When a Notion page is created, summarise it with OpenAI and update the page with the summary",
    );
    assert_eq!(missing, Vec::<String>::new());
    let page = of(&nodes, "notion", "update");
    assert!(
        page.contains("Summary|rich_text") && page.contains("$json.text"),
        "{page}"
    );
    // Into which field, nobody says: a draft.
    let request = "When a HubSpot deal is created, ask Claude for a short summary and write it back to the deal";
    assert_eq!(built(request).0, ["write it back to the deal"]);
}

#[test]
fn a_name_is_answered_for_by_its_own_part() {
    let request = "New GitHub issue with label bug -> create a Jira ticket in project CORE";
    assert_eq!(built(request).0, ["bug"]);
}

#[test]
fn what_is_read_first_is_what_a_condition_at_the_end_tests() {
    for said in ["isn't \"ok\"", "is not ok"] {
        let request = format!(
            "Every hour check https://status.example.com/api and alert #ops on Slack if the status {said}"
        );
        let (missing, nodes) = built(&request);
        assert_eq!(missing, Vec::<String>::new(), "{request}");
        let types: Vec<&str> = nodes
            .iter()
            .filter_map(|(t, _)| t.split('.').nth(1))
            .collect();
        let read = types.iter().position(|t| *t == "httpRequest");
        let tested = types.iter().position(|t| *t == "if");
        assert!(read < tested && tested.is_some(), "{request} {types:?}");
        let tested = nodes.iter().find(|(t, _)| t.ends_with(".if"));
        let not = |p: &String| p.contains("$json.status") && p.contains("notEquals");
        assert!(tested.is_some_and(|(_, p)| not(p)), "{request} {nodes:?}");
    }
}

#[test]
fn everybody_in_a_table_is_written_to_at_the_address_of_the_row() {
    let request = "Every Monday at 9 send everybody in the Google Sheet Members a mail with the subject \"Club news\".";
    let plan =
        agentctl_planner::read::read(request, &agentctl_planner::read::ReadContext::default()).plan;
    let catalog = agentctl_n8n::catalog::Catalog::embedded();
    let built = agentctl_planner::compile::compile(&plan, catalog);
    let whole = built.workflow.to_value().to_string();
    assert!(whole.contains("{{ $json.email }}"), "{whole}");
    assert!(!whole.contains("everybody email"), "{whole}");
}
