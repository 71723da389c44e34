//! What was not understood is told: a request with a part that cannot be built is never complete.

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::account::{Account, account_of_plan};
use agentctl_planner::compile::compile;
use agentctl_planner::read::{ReadContext, read};

fn account(request: &str) -> Account {
    let plan = read(request, &ReadContext::default()).plan;
    let built = compile(&plan, Catalog::embedded());
    account_of_plan(request, &plan, &built)
}

/// Requests, each with words that must stand in one of the phrases that were not understood.
#[test]
fn what_no_step_came_of_is_missing() {
    let cases = [
        // A command that no node obeys, though each of its words stands somewhere.
        (
            "When a webhook receives an order, post it to Slack #sales, then frobnicate the order.",
            "frobnicate",
        ),
        // A subject that is excluded, in the negative.
        (
            "When a webhook receives an order, post it to Slack #sales. Orders from abroad must not show up.",
            "must not show up",
        ),
        // A service that only stands in the words for a model.
        (
            "On demand: take the Google Sheet Leads and let Claude write a text about each with the help of Pinecone.",
            "Pinecone",
        ),
        // A day that a rhythm's own words do not answer for.
        (
            "Every morning at 8 read the Google Sheet Members. Everybody who celebrates today is named in Slack #all.",
            "celebrates",
        ),
        // Something that happens, where nothing starts the workflow.
        (
            "Mr Miller puts an order on my desk, and it is posted to Slack #sales.",
            "Mr Miller",
        ),
        // What is deleted lies in a list that no node holds.
        ("On demand: delete all Trello cards in list Done", "Done"),
        // An id that no node holds.
        (
            "When a webhook receives an order, create a Trello card; the thing is called a_b_c_77.",
            "a_b_c_77",
        ),
        // An address of mail in the place of a telephone number.
        (
            "Twilio: forward each incoming SMS to me@example.com",
            "me@example.com",
        ),
        // A condition on what comes, where nothing tests it.
        (
            "When an email arrives whose subject has the word invoice, post it to Slack #finance",
            "whose",
        ),
        // A total for each of several, where what is collected holds none.
        (
            "Every Friday at 17:00 send the sum of hours per person from the Google Sheet Timesheet to Slack #payroll",
            "sum of hours per person",
        ),
        // One mail for each customer, read from an item that has collected them all.
        (
            "Jeden Morgen um 8 Uhr die überfälligen Rechnungen aus Airtable lesen und jedem Kunden eine Erinnerung mailen",
            "mailen",
        ),
        // A name behind a noun of what holds things, which is another word too.
        (
            "Every night remove documents from the MongoDB collection logs that are older than 90 days",
            "logs",
        ),
        // A value behind the name of a state, which means nothing elsewhere.
        (
            "Every Friday at 16:00 read the Airtable base Work table Tasks for records with status Ready and send one digest to Slack #team",
            "Ready",
        ),
        // Something that is deleted, and nothing says which one.
        (
            "When a Calendly invitee cancels, delete the Google Calendar event and inform Slack #sales",
            "delete the Google Calendar event",
        ),
        // A message to a telephone number that would go to an address of mail.
        (
            "When a Stripe payment fails, send the customer an SMS with Twilio and create a Zendesk ticket",
            "SMS",
        ),
    ];
    for (request, words) in cases {
        let missing = account(request).missing;
        let named = missing.iter().any(|m| m.contains(words));
        assert!(named, "{request}\n    {missing:?}");
    }
}

/// Whole requests stay whole.
#[test]
fn plain_requests_are_complete() {
    let cases = [
        "When a webhook receives an order, post it to Slack #sales",
        "Every Friday at 16:00 read the Google Sheet Timesheet and mail it to payroll@acme.example",
        "Cada lunes a las 9 lee la hoja de Google Ventas y envíala por correo a jefe@acme.es",
    ];
    for request in cases {
        let missing = account(request).missing;
        assert!(missing.is_empty(), "{request}\n    {missing:?}");
    }
}

/// What is to be left out is never acted on.
#[test]
fn what_is_skipped_gets_no_mail() {
    let request = "When a new email lands in Gmail, save its attachment to the Google Drive folder Receipts. Skip emails from news@shop.example.";
    let plan = read(request, &ReadContext::default()).plan;
    let workflow = compile(&plan, Catalog::embedded()).workflow;
    let types: Vec<&str> = workflow.nodes.iter().map(|n| n.node_type()).collect();
    assert!(!types.contains(&"n8n-nodes-base.gmail"), "{types:?}");
    assert!(types.contains(&"n8n-nodes-base.filter"), "{types:?}");
}

/// An answer that only hands back what was sent is no answer to a question about it.
#[test]
fn what_is_handed_back_unchanged_answers_nothing() {
    let cases = [
        "A webhook /upper takes a text and returns it in upper case",
        "When someone calls the webhook /weekday with a date, answer which day of the week it is",
        "Webhook POST /cheapest receives items and returns the cheapest one",
        "A webhook gets a long article and responds with a summary",
        "Webhook /age receives a birthday, return the age",
        "When a POST webhook /lang gets a text, respond with its language",
        "Ein Webhook /quersumme bekommt eine Zahl und antwortet mit der Quersumme",
        "Un webhook /iva recibe un importe y responde con el precio final",
    ];
    let silent = cases.map(|request| (request, account(request).missing));
    let silent: Vec<&str> = silent
        .iter()
        .filter(|(_, missing)| missing.is_empty())
        .map(|(request, _)| *request)
        .collect();
    assert_eq!(silent, Vec::<&str>::new());
    for request in [
        "When a webhook POST /orders is called, respond with the received data",
        "A webhook /echo that returns the request body",
        "Wenn ein Webhook POST /bestellung aufgerufen wird, antworte mit den empfangenen Daten",
        "Cuando llega un webhook a /pedido, responde con los datos recibidos",
        "Un webhook /devis qui renvoie les données reçues",
    ] {
        let missing = account(request).missing;
        assert!(missing.is_empty(), "{request}\n    {missing:?}");
    }
}
/// What would be sent, made or deleted without being said is no whole workflow.
#[test]
fn what_nobody_said_is_not_built_as_if_it_was() {
    let cases = [
        // A figure that no record of the service has.
        (
            "On the first of each month send the sum of all Stripe charges of the last month to cfo@acme.com",
            "sum",
        ),
        // A form of which no field is said.
        (
            "When someone fills the contact form, save it to Airtable and reply with a thank-you mail",
            "contact form",
        ),
        // What a model is to do is no operation that only sounds like it.
        (
            "When a file is uploaded to the Dropbox folder /scans, extract the text with OpenAI and store it in Notion",
            "extract the text",
        ),
        // No node writes a PDF.
        (
            "When a Shopify order is paid, generate a PDF invoice and email it to the customer",
            "PDF",
        ),
        // Nothing says which record is deleted.
        (
            "Every night delete Airtable records whose status is archived",
            "delete",
        ),
    ];
    for (request, words) in cases {
        let missing = account(request).missing;
        let named = missing.iter().any(|m| m.contains(words));
        assert!(named, "{request}\n    {missing:?}");
    }
}

/// A message that is known by its name says what its name says, to whom it is meant for.
#[test]
fn a_welcome_mail_is_no_dump_of_data() {
    let request = "When the form with name, email and message is submitted, send a thank-you mail";
    let plan = read(request, &ReadContext::default()).plan;
    let workflow = compile(&plan, Catalog::embedded()).workflow;
    let mail = workflow
        .nodes
        .iter()
        .find(|n| n.node_type().ends_with("emailSend"))
        .unwrap();
    let said = mail.parameters().unwrap();
    assert_eq!(said["subject"], "Thank you");
    assert_eq!(said["toEmail"], "={{ $json.Email }}");
    assert!(said["text"].as_str().unwrap().starts_with("Thank you!"));
}

/// Rows are deleted by what is known of them; where nothing is known, the step is not told and nothing stands for "all of them".
#[test]
fn no_table_is_emptied() {
    let deleted = |request: &str| {
        let plan = read(request, &ReadContext::default()).plan;
        let built = compile(&plan, Catalog::embedded());
        let deletes = |p: &serde_json::Map<String, serde_json::Value>| {
            let operation = p.get("operation").and_then(|o| o.as_str());
            operation.is_some_and(|o| o.starts_with("delete"))
        };
        let nodes = built.workflow.nodes.iter().filter_map(|n| n.parameters());
        let conditions = nodes.filter(|p| deletes(p)).map(|p| {
            let by = p.get("where").or(p.get("query"));
            by.map(ToString::to_string).unwrap_or_default()
        });
        (
            conditions.collect::<Vec<_>>(),
            account_of_plan(request, &plan, &built),
        )
    };
    for (request, by) in [
        (
            "Once a week delete rows in Postgres table sessions older than 30 days",
            "{{ $json.id }}",
        ),
        (
            "Once a week delete rows in the MySQL table sessions older than 30 days",
            "{{ $json.id }}",
        ),
        (
            "Every night delete documents older than 90 days from MongoDB",
            "{{ $json._id }}",
        ),
        (
            "When a webhook sends us a user_id, delete the user with this user_id from the Postgres table users",
            "user_id",
        ),
    ] {
        let (conditions, account) = deleted(request);
        let known = conditions.iter().all(|c| c.contains(by));
        assert!(
            known && (!conditions.is_empty() || !account.complete()),
            "{request}: {conditions:?}"
        );
    }
}

/// What a step was to be done on, or with, and is not.
#[test]
fn what_stands_at_another_place_is_told() {
    let cases = [
        // A lookup that looks for nothing.
        (
            "When a form with email and name is submitted, look up the email in the Google Sheet Members. If it is there, post the name to Slack #door.",
            "look up the email",
        ),
        // What a message is to say, and what is no attempt of a step.
        (
            "When a payment fails in Stripe, send a confirmation to the customer by email that we are going to try again.",
            "we are going to try again",
        ),
        // A restriction in the words of a command.
        (
            "À chaque nouvelle réponse Typeform, ajouter un commentaire à la carte Trello existante qui a le même e-mail dans son titre.",
            "qui a le même e-mail",
        ),
        // A service of another one's event.
        (
            "Cuando entre un ticket en Zendesk se busque al cliente en Salesforce por correo, después avisar en Slack #soporte con el enlace del ticket.",
            "Salesforce",
        ),
        // A file that is sent as its name.
        (
            "Whenever a file shows up in the Dropbox folder /scans, download it and send it to https://ocr.example.com/read, then post the answer to Slack #ops.",
            "send it to https://ocr.example.com/read",
        ),
    ];
    for (request, said) in cases {
        let missing = account(request).missing;
        assert!(
            missing.iter().any(|m| m.contains(said)),
            "{request}: {missing:?}"
        );
    }
}
