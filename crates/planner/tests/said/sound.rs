//! What is built can be right: rows are changed by what says which, people are looked up by what says whom, what is read is read
//! before it is told, and nothing is done that only tells of what starts it.

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::account::account_of_plan;
use agentctl_planner::compile::{Compiled, compile};
use agentctl_planner::read::{ReadContext, read};

/// What was built of a request, and the words that were not understood.
fn built(request: &str) -> (Compiled, Vec<String>) {
    let plan = read(request, &ReadContext::default()).plan;
    let built = compile(&plan, Catalog::embedded());
    let missing = account_of_plan(request, &plan, &built).missing;
    (built, missing)
}

/// The parameters of all nodes of a type, as JSON; empty where there is none.
fn of(built: &Compiled, short: &str) -> String {
    let nodes = built.workflow.nodes.iter();
    let own = nodes.filter(|n| n.node_type().ends_with(&format!(".{short}")));
    let texts = own.map(|n| serde_json::to_string(&n.parameters()).unwrap_or_default());
    texts.collect::<Vec<_>>().join("\n")
}

/// Requests; a type of node that is built of each, with what its parameters must hold. Nothing of them is not understood.
#[test]
fn what_is_built_says_which_and_by_what() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "Every hour get the rows of the Postgres table products, update existing rows in the Google Sheet 'Products' by sku, otherwise append.",
            "googleSheets",
            &[
                r#""operation":"appendOrUpdate""#,
                r#""matchingColumns":["sku"]"#,
            ],
        ),
        (
            "When a Typeform is submitted, look up the contact in HubSpot by email and create a Zendesk ticket.",
            "hubspot",
            &[r#""operation":"search""#, r#""propertyName":"email""#],
        ),
        (
            "Every day at 7 read the Google Sheet Invoices where paid = false and post each to Slack #money.",
            "if",
            &["$json.paid", r#""type":"boolean","operation":"false""#],
        ),
        (
            "Every night at 3 get all rows from the Airtable table Parts and send one email to a@b.test listing them",
            "emailSend",
            &["Object.entries(item)"],
        ),
        (
            "Every night at 3 get all rows from the Airtable table Parts, find the ones where Stock is below 5 and send one email to a@b.test listing them",
            "if",
            &["$json.Stock"],
        ),
        (
            "Actualizar en Airtable el estado a 'Pagado' de todos los registros de la tabla Facturas que tengan fecha de ayer, todos los días a las 7 de la mañana",
            "airtable",
            &[r#""value":{"id":"={{ $json.id }}","estado":"Pagado"}"#],
        ),
        (
            "Gmail: any mail from a@b.test with an attachment gets its attachment uploaded to the Google Drive folder Bills",
            "googleDrive",
            &[r#""operation":"upload""#],
        ),
        (
            "webhook con nombre y edad: guardar en mysql tabla altas. responder con ok",
            "respondToWebhook",
            &[r#""respondWith":"text","responseBody":"ok""#],
        ),
        (
            "dès qu'un fichier est déposé dans le dossier Google Drive « Devis », l'envoyer par mail à a@b.test",
            "emailSend",
            &["attachments"],
        ),
        (
            "If a workflow fails, send me a Telegram message to chat 12345678 with the error message and the name of the node that failed.",
            "telegram",
            &["lastNodeExecuted"],
        ),
        (
            "When a webhook receives an order, POST it to https://api.example.com/orders. Retry 3 times if it fails.",
            "httpRequest",
            &["https://api.example.com/orders"],
        ),
        (
            "Classify incoming emails from my IMAP inbox with an AI into 'sales' or 'spam'. sales goes to HubSpot as a new contact, spam is ignored.",
            "textClassifier",
            &["sales", "spam"],
        ),
        (
            "When a GitHub issue is opened, add a line to the Google Doc 'Log' (title, number)",
            "googleDocs",
            &[r#""operation":"update""#, "Log", "issue.title"],
        ),
    ];
    for (request, node, holds) in cases {
        let (built, missing) = built(request);
        assert_eq!(missing, Vec::<String>::new(), "{request}");
        let parameters = of(&built, node);
        for text in *holds {
            assert!(
                parameters.contains(text),
                "{request}: {text} in {parameters}"
            );
        }
    }
}

/// Requests, with a type of node that none of them asks for.
#[test]
fn what_only_tells_of_the_start_is_not_done() {
    let cases = [
        (
            "Mailchimp subscriber unsubscribes → post the email to Slack #list",
            "mailchimp",
        ),
        (
            "Our shop is WooCommerce. For each new order post the number to Slack #orders.",
            "wooCommerce",
        ),
        (
            "Wenn über das Kontaktformular (Felder: Name, E-Mail) eine Anfrage reinkommt, soll ein Kontakt in HubSpot angelegt werden.",
            "emailSend",
        ),
    ];
    for (request, node) in cases {
        let (built, _) = built(request);
        assert_eq!(of(&built, node), "", "{request}");
    }
}

/// A deletion of a record, where a field of it was to go.
#[test]
fn a_record_stays_whose_field_is_to_go() {
    let request = "When a webhook is called, remove the contact's marketing flag in Salesforce.";
    let (built, missing) = built(request);
    assert!(!of(&built, "salesforce").contains("delete"));
    assert_eq!(
        missing,
        ["remove the contact's marketing flag in Salesforce"]
    );
}

/// What lies in the place that is spoken of is read before somebody is reminded of it.
#[test]
fn what_is_due_is_read_before_it_is_told() {
    let request = "Every morning at 8 remind me on Slack (DM @ada) two days before any task in the Notion database Plans is due.";
    let (built, _) = built(request);
    let kinds: Vec<&str> = built
        .workflow
        .nodes
        .iter()
        .map(|n| agentctl_n8n::short_type(n.node_type()))
        .collect();
    assert_eq!(kinds, ["scheduleTrigger", "notion", "filter", "slack"]);
    assert!(of(&built, "filter").contains("days: 2"));
}

#[test]
fn an_event_is_the_one_that_was_told_of() {
    let request = "Si un événement Google Agenda est annulé, préviens Slack #equipe";
    let (built, _) = built(request);
    assert!(of(&built, "googleCalendarTrigger").contains("eventCancelled"));
}

/// Where something went to is tested, or told to be missing.
#[test]
fn a_branch_that_is_not_tested_is_missing() {
    let request = "GitHub: when a pull request is merged to main, announce it in Discord.";
    let (_, missing) = built(request);
    assert_eq!(missing, ["main"]);
}

/// A name that stands where n8n wants an id is to be chosen.
#[test]
fn a_name_in_the_place_of_an_id_is_to_be_chosen() {
    let request =
        "Every Monday at 9 get all Asana tasks in project Website and post them to Slack #web.";
    let (built, _) = built(request);
    let mut texts = built.todo.iter().map(|t| t.text.as_str());
    assert!(texts.any(|t| t.contains("\"Website\"")), "{:?}", built.todo);
}
