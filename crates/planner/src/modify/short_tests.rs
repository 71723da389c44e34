//! Messages as strangers type them: short, with typos, with words that mean a node by what it is or where it stands.

use super::asked_tests::orders;
use super::classes_tests::{all_ask, all_do, desk, does, leads, report};
use agentctl_n8n::Workflow;

#[test]
fn a_step_goes_by_what_it_is_or_where_it_stands() {
    all_do(
        &leads(),
        &["- Tell sales"],
        &[
            "kill the slack one",
            "Remove step 3.",
            "The last step can go.",
            "Stop telling sales.",
            "no more slack messages please",
            "Der letzte Schritt entfällt.",
            "Keine Nachricht mehr in Slack.",
            "schmeiß Slack wieder raus",
            "Quita lo de Slack.",
            "Elimina el paso 3.",
            "Plus besoin de Slack.",
            "Enlève la dernière étape.",
        ],
    );
}

#[test]
fn a_bound_is_raised_by_its_name_or_by_what_it_compares() {
    all_do(
        &orders(),
        &[
            "Over 100?/conditions/conditions = [{\"id\":\"c\",\"leftValue\":\"={{ $json.body.total }}\",\"rightValue\":400",
        ],
        &[
            "Raise the limit to 400.",
            "100 is too low, make it 400",
            "the total should be 400",
            "100 -> 400",
            "Die Grenze bitte auf 400 anheben.",
            "Heben Sie den Schwellenwert auf 400 an.",
            "Sube el límite a 400.",
            "Le seuil passe à 400 euros.",
        ],
    );
}

#[test]
fn a_wait_stands_at_any_place_that_is_said() {
    all_do(
        &report(),
        &[
            "+ Wait 10 minutes",
            "Load sales [0] ✂ Mail report",
            "Load sales [0] → Wait 10 minutes",
            "Wait 10 minutes [0] → Mail report",
        ],
        &[
            "Put a wait of 10 minutes between Load sales and Mail report.",
            "wait 10 minutes before mailing the report",
            "Insert a pause of 10 minutes before the mail.",
            "Füge vor der Mail eine Pause von 10 Minuten ein.",
            "Añade una pausa de 10 minutos antes del correo.",
            "Ajoute une attente de 10 minutes avant le mail.",
        ],
    );
}

#[test]
fn a_service_comes_for_another_in_few_words() {
    all_do(
        &report(),
        &["- Ping group", "+ Discord", "Mail report [0] → Discord"],
        &[
            "discord pls, not telegram",
            "I'd rather have it in Discord than in Telegram.",
            "move the ping to discord",
            "Pásalo de Telegram a Discord.",
        ],
    );
}

#[test]
fn steps_change_places() {
    all_do(
        &report(),
        &[
            "Load sales [0] ✂ Mail report",
            "Mail report [0] ✂ Ping group",
            "Load sales [0] → Ping group",
            "Ping group [0] → Mail report",
        ],
        &[
            "First ping the group, then mail the report.",
            "Ping group should come before Mail report.",
            "put telegram before the mail",
            "Zuerst Telegram, dann die Mail.",
            "primero el telegram y luego el correo",
        ],
    );
}

#[test]
fn a_part_takes_what_stands_behind_it_to_the_end() {
    all_do(
        &report(),
        &["Mail report/subject = \"Numbers of today\""],
        &[
            "The subject is now Numbers of today",
            "chnage the subject to 'Numbers of today'",
            "subject of that mail: 'Numbers of today'",
            "Der Betreff lautet jetzt Numbers of today",
            "Cambia el asunto del correo a 'Numbers of today'.",
            "Mets l'objet du mail à « Numbers of today ».",
        ],
    );
    all_do(
        &desk(),
        &["Confirm/fromEmail = \"help@x.com\""],
        &[
            "The sender is help@x.com now.",
            "Die Absenderadresse ist ab jetzt help@x.com.",
        ],
    );
}

#[test]
fn a_number_for_another_leaves_what_is_no_value_alone() {
    let mut two = orders();
    let check = two.node_by_name_mut("Over 100?").unwrap();
    check.edit_parameters(|params| {
        params["conditions"]["options"] = serde_json::json!({"version": 2});
        params["conditions"]["conditions"][0]["rightValue"] = 2.into();
    });
    all_do(&two, &["Over 100?/conditions/conditions = "], &["2 -> 5"]);
}

#[test]
fn what_would_do_something_else_is_asked_about() {
    all_ask(
        &report(),
        &[
            "Remove the Slack step and the Trello step.",
            "Drop the old numbers.",
            "Ping group should come before the weather.",
        ],
    );
    all_ask(&orders(), &["Remove the branch for small orders."]);
}

#[test]
fn what_is_to_stand_instead_of_a_channel_is_no_step_beside_it() {
    let text = orders().to_value().to_string();
    let renamed = serde_json::from_str(&text.replace("Over 100?", "Big order?")).unwrap();
    let orders = Workflow::from_value(renamed).unwrap();
    for message in [
        "Big orders should go to #key-accounts, not #sales.",
        "Big orders should go to #key-accounts instead of #sales.",
    ] {
        let done = does(&orders, message);
        assert!(
            !done.lines().any(|line| line.starts_with('+')),
            "# {message}\n{done}"
        );
    }
}
