//! What a message is for, and what is not done for it.

use super::*;

fn workflow(team: &str) -> Workflow {
    Workflow::from_value(json!({
        "name": "Leads",
        "nodes": [
            {"id": "a", "name": "Form", "type": "n8n-nodes-base.formTrigger", "typeVersion": 2.2, "position": [0, 0], "parameters": {"formTitle": "Lead", "formFields": {"values": [{"fieldLabel": "name"}]}, "options": {}}},
            {"id": "b", "name": "Tell team", "type": "n8n-nodes-base.microsoftTeams", "typeVersion": 2, "position": [200, 0], "parameters": {"resource": "channelMessage", "operation": "create", "teamId": {"__rl": true, "mode": "id", "value": team}, "channelId": {"__rl": true, "mode": "id", "value": "19:abc"}, "contentType": "text", "message": "New", "options": {}}},
        ],
        "connections": {"Form": {"main": [[{"node": "Tell team", "type": "main", "index": 0}]]}},
        "settings": {},
    }))
    .unwrap()
}

const TEAM: &str = "11111111-1111-4111-8111-111111111111";

fn case(message: &str, workflow: Option<Workflow>) -> String {
    let document = workflow.map(|w| w.to_value()).unwrap_or_default();
    let input = json!({"message": message, "undo": true, "redo": false, "workflow": document});
    let Move::Done(chosen) = supervise(input.as_object().unwrap(), Catalog::embedded()).unwrap()
    else {
        panic!("the supervisor calls no tool");
    };
    chosen["case"].as_str().unwrap().to_owned()
}

#[test]
fn what_tells_when_is_no_question() {
    for message in [
        "Quand un formulaire est envoyé, ajoute une ligne dans Google Sheets et préviens #bureau sur Slack.",
        "Cuando entre un pedido por webhook, guárdalo en Google Sheets y mándame un Telegram.",
        "Cuando llegue un correo a Gmail, guárdalo en Notion y avisa en Slack #soporte.",
    ] {
        assert_eq!(case(message, None), "discovery", "{message}");
    }
    for message in [
        "¿Cuándo se ejecuta?",
        "Quand est-ce que ça tourne ?",
        "when does it run",
        "Can you tell me what the team gets to read?",
    ] {
        assert_eq!(
            case(message, Some(workflow(TEAM))),
            "responder",
            "{message}"
        );
    }
}

#[test]
fn it_is_taken_back_in_ones_own_words() {
    for message in [
        "no wait, undo",
        "put it back",
        "hmm, go back to Google Sheets",
        "revert",
        "oops bring the ticket back",
        "Nehmen Sie die letzte Änderung bitte zurück.",
        "Doch, zurück damit.",
        "No, déjalo como estaba.",
        "Finalement si, annule.",
    ] {
        assert_eq!(case(message, Some(workflow(TEAM))), "undo", "{message}");
    }
    let long = "Schick die Antwort an den Absender zurück, wenn das Feld name nicht leer ist.";
    assert_ne!(case(long, Some(workflow(TEAM))), "undo");
}

#[test]
fn only_an_error_that_was_not_there_before_stands_against_a_change() {
    let errors =
        |before: &Workflow, after: &Workflow| new_errors(before, after, Catalog::embedded());
    let (whole, broken) = (workflow(TEAM), workflow("T1"));
    assert_eq!(errors(&whole, &broken).len(), 1);
    assert!(errors(&broken, &broken).is_empty());
    let ops = [EditOp::RenameNode {
        node: "Tell team".to_owned(),
        name: "Team".to_owned(),
    }];
    let renamed = edit::apply(&broken, &ops, &mut || "n".to_owned()).unwrap();
    assert!(errors(&broken, &renamed).is_empty());
}
