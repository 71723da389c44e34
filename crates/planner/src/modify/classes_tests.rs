//! Classes of messages: what one says in many ways, in four languages, does the same.

use super::asked_tests::{chain, orders, told};
use agentctl_n8n::Workflow;
use serde_json::json;

/// What a message does, without the message.
pub(super) fn does(workflow: &Workflow, message: &str) -> String {
    let told = told(workflow, message);
    told.split_once('\n')
        .map_or(String::new(), |(_, rest)| rest.trim().to_owned())
}

/// Each message does something, and all of them the same; each line that is wanted begins a line of it.
pub(super) fn all_do(workflow: &Workflow, wanted: &[&str], messages: &[&str]) {
    let wrong: Vec<String> = messages
        .iter()
        .filter_map(|message| {
            let done = does(workflow, message);
            let lines: Vec<&str> = done.lines().collect();
            let whole = lines.len() == wanted.len()
                && wanted
                    .iter()
                    .all(|w| lines.iter().any(|l| l.starts_with(w)));
            (!whole).then(|| format!("# {message}\n{done}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        messages.len(),
        wrong.join("\n")
    );
}

/// Each message changes nothing, and something is asked.
pub(super) fn all_ask(workflow: &Workflow, messages: &[&str]) {
    for message in messages {
        let done = does(workflow, message);
        let asks = done.lines().all(|line| line.starts_with("? "));
        assert!(asks && !done.is_empty(), "# {message}\n{done}");
    }
}

pub(super) fn leads() -> Workflow {
    chain(
        "Leads",
        &[
            (
                "Form",
                "n8n-nodes-base.formTrigger",
                2.2,
                json!({"formTitle": "Lead", "formFields": {"values": [{"fieldLabel": "name"}, {"fieldLabel": "budget"}]}, "options": {}}),
            ),
            (
                "Keep lead",
                "n8n-nodes-base.postgres",
                2.6,
                json!({"resource": "database", "operation": "insert", "schema": {"__rl": true, "mode": "name", "value": "public"}, "table": {"__rl": true, "mode": "name", "value": "leads"}, "columns": {"mappingMode": "autoMapInputData", "value": {}}, "options": {}}),
            ),
            (
                "Tell sales",
                "n8n-nodes-base.slack",
                2.3,
                json!({"resource": "message", "operation": "post", "select": "channel", "channelId": {"__rl": true, "mode": "name", "value": "#sales"}, "text": "New lead", "otherOptions": {}}),
            ),
        ],
    )
}

pub(super) fn desk() -> Workflow {
    chain(
        "Desk",
        &[
            (
                "Ticket in",
                "n8n-nodes-base.webhook",
                2.0,
                json!({"httpMethod": "POST", "path": "tickets", "options": {}}),
            ),
            (
                "Shape",
                "n8n-nodes-base.set",
                3.4,
                json!({"assignments": {"assignments": [{"id": "a", "name": "priority", "value": "={{ $json.body.priority }}", "type": "string"}]}, "options": {}}),
            ),
            (
                "Confirm",
                "n8n-nodes-base.emailSend",
                2.1,
                json!({"fromEmail": "desk@x.com", "toEmail": "team@x.com", "subject": "Ticket", "emailFormat": "text", "text": "Thanks", "options": {}}),
            ),
        ],
    )
}

pub(super) fn report() -> Workflow {
    chain(
        "Report",
        &[
            (
                "Daily",
                "n8n-nodes-base.scheduleTrigger",
                1.2,
                json!({"rule": {"interval": [{"field": "cronExpression", "expression": "0 6 * * *"}]}}),
            ),
            (
                "Load sales",
                "n8n-nodes-base.httpRequest",
                4.2,
                json!({"url": "https://api.x.com/day", "options": {}}),
            ),
            (
                "Mail report",
                "n8n-nodes-base.gmail",
                2.1,
                json!({"resource": "message", "operation": "send", "sendTo": "boss@x.com", "subject": "Sales", "emailType": "text", "message": "=Sales: {{ $json.total }}", "options": {}}),
            ),
            (
                "Ping group",
                "n8n-nodes-base.telegram",
                1.2,
                json!({"resource": "message", "operation": "sendMessage", "chatId": "4242", "text": "Sales", "additionalFields": {}}),
            ),
        ],
    )
}

fn shop() -> Workflow {
    let mut workflow = chain(
        "Shop",
        &[
            (
                "Chat",
                "@n8n/n8n-nodes-langchain.chatTrigger",
                1.1,
                json!({"options": {}}),
            ),
            (
                "Helper",
                "@n8n/n8n-nodes-langchain.agent",
                2.0,
                json!({"promptType": "auto", "options": {"systemMessage": "You help."}}),
            ),
        ],
    );
    let parts = json!([
        {"id": "m", "name": "GPT", "type": "@n8n/n8n-nodes-langchain.lmChatOpenAi", "typeVersion": 1.2, "position": [200, 200], "parameters": {"model": {"__rl": true, "mode": "list", "value": "gpt-4o"}, "options": {}}},
        {"id": "w", "name": "Window", "type": "@n8n/n8n-nodes-langchain.memoryBufferWindow", "typeVersion": 1.3, "position": [300, 200], "parameters": {"contextWindowLength": 6}},
    ]);
    workflow
        .nodes
        .extend(serde_json::from_value::<Vec<agentctl_n8n::Node>>(parts).unwrap());
    workflow.connect("GPT", "ai_languageModel", 0, "Helper", 0);
    workflow.connect("Window", "ai_memory", 0, "Helper", 0);
    workflow
}

#[test]
fn a_condition_on_a_number_stands_before_the_step_that_is_named() {
    all_do(
        &leads(),
        &[
            "+ Budget > 5000? ",
            "Keep lead [0] ✂ Tell sales",
            "Keep lead [0] → Budget > 5000?",
            "Budget > 5000? [0] → Tell sales",
        ],
        &[
            "Tell Slack only if the budget exceeds 5000.",
            "Only post to Slack when the budget is above 5000.",
            "Slack only when budget is over 5000, please.",
            "Only if the budget is over 5000, tell Slack.",
            "Nur wenn das Budget höher als 5000 ist, soll Slack benachrichtigt werden.",
            "Slack nur, wenn das Budget 5000 übersteigt.",
            "Die Nachricht in Slack nur schicken, wenn das Budget über 5000 liegt.",
            "Avisa en Slack solo cuando budget supera 5000.",
            "Solo si budget es mayor que 5000, avisa en Slack.",
            "Ne préviens Slack que si budget dépasse 5000.",
            "Préviens Slack seulement si budget est supérieur à 5000.",
        ],
    );
}

#[test]
fn a_condition_alone_stands_before_the_first_step_that_acts() {
    all_do(
        &leads(),
        &[
            "+ Budget > 5000? ",
            "Form [0] ✂ Keep lead",
            "Form [0] → Budget > 5000?",
            "Budget > 5000? [0] → Keep lead",
        ],
        &[
            "Only if the budget is over 5000.",
            "only if the budget is over 5k",
            "Only when budget > 5000.",
            "But only if the budget exceeds 5000, please.",
            "Nur wenn das Budget über 5000 ist.",
            "Nur wenn das Budget größer als 5000 ist.",
            "Aber nur, wenn das Budget über 5000 liegt.",
            "Nur falls das Budget 5000 übersteigt.",
            "Solo si budget es mayor que 5000.",
            "Pero solo cuando budget supera 5000.",
            "Seulement si budget est supérieur à 5000.",
            "Uniquement quand budget dépasse 5000.",
        ],
    );
}

#[test]
fn a_condition_on_a_word_stands_before_the_step_that_is_meant() {
    all_do(
        &desk(),
        &[
            "+ ",
            "Shape [0] ✂ Confirm",
            "Shape [0] → ",
            "Priority = high? [0] → Confirm",
        ],
        &[
            "Only if priority is high, send the mail.",
            "Send the mail only when priority equals high.",
            "Only if the priority is high.",
            "The mail should only go out if priority is high.",
            "Nur wenn priority gleich high ist, soll die Mail rausgehen.",
            "Nur wenn priority high ist, soll die E-Mail verschickt werden.",
            "Die Mail soll nur rausgehen, wenn priority gleich high ist.",
            "Schick die Mail nur, wenn priority high ist.",
            "Solo si priority es igual a high, manda el correo.",
            "Manda el correo solo si priority es high.",
            "Seulement si priority est égal à high, envoie le mail.",
            "Envoie le mail seulement si priority vaut high.",
        ],
    );
}

#[test]
fn one_service_comes_in_the_place_of_another() {
    all_do(
        &report(),
        &["- Ping group", "+ Discord", "Mail report [0] → Discord"],
        &[
            "And Discord instead of Telegram.",
            "Discord instead of Telegram.",
            "Discord rather than Telegram, please.",
            "Instead of Telegram, Discord.",
            "Swap Telegram for Discord.",
            "Move from Telegram to Discord.",
            "We use Discord now, not Telegram.",
            "Und Discord statt Telegram.",
            "Statt Telegram lieber Discord.",
            "Ersetze Telegram durch Discord.",
            "Telegram bitte durch Discord ersetzen.",
            "Tausche Telegram gegen Discord.",
            "Discord en lugar de Telegram.",
            "En vez de Telegram, Discord.",
            "Cambia Telegram por Discord.",
            "Discord à la place de Telegram.",
            "Remplace Telegram par Discord.",
            "Et Discord au lieu de Telegram.",
        ],
    );
}

#[test]
fn one_database_comes_in_the_place_of_another_with_its_table() {
    all_do(
        &leads(),
        &[
            "- Keep lead",
            "+ MySQL: Insert {\"operation\":\"insert\",\"table\":{\"__rl\":true,\"mode\":\"name\",\"value\":\"leads\"}",
            "Form [0] → MySQL",
            "MySQL: Insert [0] → Tell sales",
        ],
        &[
            "Use MySQL instead of Postgres, same table.",
            "Use MySQL instead of Postgres.",
            "MySQL instead of Postgres, keep the table.",
            "Replace Postgres with MySQL.",
            "Store it in MySQL instead of Postgres, the table stays the same.",
            "Nimm MySQL statt Postgres, gleiche Tabelle.",
            "MySQL statt Postgres, dieselbe Tabelle.",
            "Ersetze Postgres durch MySQL.",
            "Usa MySQL en lugar de Postgres, misma tabla.",
            "Utilise MySQL au lieu de Postgres, même table.",
        ],
    );
}

#[test]
fn a_row_goes_to_a_tab_of_a_sheet_behind_a_named_step() {
    all_do(
        &report(),
        &["+ Google Sheets", "Mail report [0] → Google Sheets"],
        &[
            "After Mail report append a row to the Google Sheet Log, tab Sent.",
            "After Mail report, append a row to the tab Sent of the Google Sheet Log.",
            "Append a row to the Google Sheet Log, tab Sent, after Mail report.",
            "After Mail report add a row to the Google Sheet \"Log\", tab \"Sent\".",
            "Nach Mail report schreib eine Zeile in das Google Sheet Log, Tab Sent.",
            "Después de Mail report añade una fila a Google Sheets Log, pestaña Sent.",
            "Après Mail report ajoute une ligne au Google Sheet Log, onglet Sent.",
        ],
    );
}

#[test]
fn a_part_is_taken_from_its_agent_by_what_it_is() {
    all_do(
        &shop(),
        &["Window [0] ✂ Helper", "note: Window"],
        &[
            "Disconnect the memory.",
            "Please disconnect the memory from the agent.",
            "Unplug the memory.",
            "Detach the memory.",
            "Trenn das Gedächtnis.",
            "Trenne das Gedächtnis vom Agenten.",
            "Häng das Gedächtnis ab.",
            "Desconecta la memoria.",
            "Desconecta la memoria del agente.",
            "Déconnecte la mémoire.",
        ],
    );
}

#[test]
fn a_bare_number_is_the_only_one_that_there_is() {
    all_do(
        &orders(),
        &[
            "Over 100?/conditions/conditions = [{\"id\":\"c\",\"leftValue\":\"={{ $json.body.total }}\",\"rightValue\":400",
        ],
        &[
            "Make it 400.",
            "Make that 400, please.",
            "Set it to 400.",
            "Let's say 400.",
            "400 instead.",
            "Mach 400 draus.",
            "Lieber 400.",
            "Setz es auf 400.",
            "Sagen wir 400.",
            "Mejor 400.",
            "Ponlo en 400.",
            "Que sea 400.",
            "Plutôt 400.",
            "Mets 400.",
            "Disons 400.",
        ],
    );
}

#[test]
fn a_bare_number_is_none_where_nothing_has_one() {
    all_ask(
        &report(),
        &["Make it 400.", "Lieber 400.", "Mejor 400.", "Plutôt 400."],
    );
}

#[test]
fn what_is_small_goes_the_other_way_of_what_is_over() {
    all_do(
        &orders(),
        &["+ Send Email", "Over 100? [1] → Send Email"],
        &[
            "Small orders should also be mailed to archive@x.com.",
            "Mail the small orders to archive@x.com.",
            "Small ones go to archive@x.com by mail.",
            "Kleine Bestellungen sollen auch per Mail an archive@x.com gehen.",
            "Schick die kleinen Bestellungen per Mail an archive@x.com.",
            "Los pedidos pequeños deben ir también por correo a archive@x.com.",
            "Manda los pedidos pequeños por correo a archive@x.com.",
            "Les petites commandes doivent aussi aller par mail à archive@x.com.",
            "Envoie les petites commandes par mail à archive@x.com.",
        ],
    );
}
