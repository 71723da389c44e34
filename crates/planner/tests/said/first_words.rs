//! What people type into a tool for the first time: short, without commas, with the habits of speech around it.

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::account::account_of_plan;
use agentctl_planner::compile::compile;
use agentctl_planner::read::{ReadContext, read};

/// What was not understood, and each node as its type (without package) and its parameters.
fn built(request: &str) -> (Vec<String>, Vec<(String, String)>) {
    let plan = read(request, &ReadContext::default()).plan;
    let built = compile(&plan, Catalog::embedded());
    let missing = account_of_plan(request, &plan, &built).missing;
    let node = |n: &agentctl_n8n::Node| {
        let short = n.node_type().rsplit('.').next().unwrap_or_default();
        (short.to_owned(), format!("{:?}", n.parameters()))
    };
    (missing, built.workflow.nodes.iter().map(node).collect())
}

fn types(nodes: &[(String, String)]) -> Vec<&str> {
    nodes.iter().map(|(short, _)| short.as_str()).collect()
}

/// Each request makes these nodes, in this order, whose parameters hold these words; nothing of it is left over.
fn makes(request: &str, expected: &[(&str, &str)]) {
    let (missing, nodes) = built(request);
    let wanted: Vec<&str> = expected.iter().map(|(short, _)| *short).collect();
    assert_eq!(types(&nodes), wanted, "{request}\n{nodes:#?}");
    for ((_, parameters), (short, words)) in nodes.iter().zip(expected) {
        assert!(
            parameters.contains(words),
            "{request}: {short} {parameters}"
        );
    }
    assert_eq!(missing, Vec::<String>::new(), "{request}");
}

#[test]
fn a_command_follows_what_happened_without_a_comma() {
    makes(
        "when a Trello card is archived send a message to Slack #cards",
        &[
            ("trelloTrigger", ""),
            ("filter", "closed"),
            ("slack", "cards"),
        ],
    );
    makes(
        "once a Calendly call is cancelled add a row to the Google Sheet Cancelled",
        &[
            ("calendlyTrigger", "canceled"),
            ("googleSheets", "Cancelled"),
        ],
    );
}

#[test]
fn a_place_is_called_by_any_word() {
    makes(
        "When a form is submitted with name and email, insert it into the MongoDB collection signed",
        &[("formTrigger", ""), ("mongoDb", "\"signed\"")],
    );
    makes(
        "When a webhook receives an order, post it to the Mattermost channel approved",
        &[("webhook", ""), ("mattermost", "\"approved\"")],
    );
}

#[test]
fn an_order_about_each_of_what_comes_is_done_whenever_it_comes() {
    makes(
        "turn starred Gmail messages into Asana tasks",
        &[("gmailTrigger", "STARRED"), ("asana", "create")],
    );
    // Where it goes to watches nothing.
    let (missing, nodes) =
        built("upload the attachments of mails from ann@x.example to the Box folder Bills");
    assert_eq!(missing, Vec::<String>::new());
    assert_eq!(types(&nodes), ["emailReadImap", "code", "box"]);
    assert!(!nodes[0].1.contains("Bills"), "{nodes:#?}");
}

#[test]
fn what_one_service_has_is_made_in_another() {
    makes(
        "get new Jotform answers into the Google Sheet Answers",
        &[("jotFormTrigger", ""), ("googleSheets", "append")],
    );
}

#[test]
fn an_address_that_does_not_answer_as_it_should_is_tested_by_its_status() {
    makes(
        "Every 10 minutes call https://shop.x.example and tell Slack #web if it doesn't respond with 200",
        &[
            ("scheduleTrigger", ""),
            ("httpRequest", "neverError"),
            ("if", "notEquals"),
            ("aggregate", ""),
            ("slack", "web"),
        ],
    );
}

#[test]
fn a_figure_that_sinks_is_less() {
    let (_, nodes) = built(
        "Every day at 7 get https://api.x.example/rates. If the rate drops under 2, post to Slack #rates.",
    );
    let test = nodes.iter().find(|(short, _)| short == "if");
    assert!(
        test.is_some_and(|(_, p)| p.contains(r#""operation": String("lt")"#)),
        "{nodes:#?}"
    );
}

#[test]
fn how_things_are_is_no_step() {
    makes(
        "We keep our contacts in HubSpot. When a Typeform is submitted, post the answers to Slack #leads.",
        &[("typeformTrigger", ""), ("slack", "leads")],
    );
}

#[test]
fn what_is_read_is_narrowed_after_it_is_read() {
    let (missing, nodes) = built(
        "Every Monday at 9 read all rows of the Google Sheet \"Clients\" where the plan is gold. Post them to Slack #gold.",
    );
    assert_eq!(missing, Vec::<String>::new());
    assert_eq!(
        types(&nodes),
        [
            "scheduleTrigger",
            "googleSheets",
            "filter",
            "aggregate",
            "slack"
        ]
    );
}

#[test]
fn what_is_left_out_at_the_end_is_left_out_before_anything_is_done() {
    let (_, nodes) = built(
        "When a new GitLab issue is opened in acme/web, post it to Slack #dev. Ignore issues that have \"wip\" in the title.",
    );
    let filter = nodes
        .iter()
        .rposition(|(short, p)| short == "filter" && p.contains("notContains"));
    let slack = nodes.iter().position(|(short, _)| short == "slack");
    assert!(filter.is_some() && filter < slack, "{nodes:#?}");
}

#[test]
fn mails_are_forwarded_one_by_one_and_the_mail_at_hand_is_marked() {
    let (_, nodes) = built(
        "Every 15 minutes get the unread Gmail messages, forward them to ann@x.example and mark them as read.",
    );
    assert_eq!(
        types(&nodes),
        ["scheduleTrigger", "gmail", "gmail", "gmail"]
    );
    assert!(
        nodes[3].1.contains("$('Gmail: Get many').item.json.id"),
        "{nodes:#?}"
    );
}

#[test]
fn a_state_in_a_table_of_ones_own_stands_as_it_is_written() {
    let (missing, nodes) = built(
        "Cada martes a las 8 lee las filas de la hoja de Google \"Facturas\" con estado pendiente y mándalas en un solo mensaje a Slack #caja.",
    );
    assert_eq!(missing, Vec::<String>::new());
    assert!(nodes[2].1.contains("\"pendiente\""), "{nodes:#?}");
}

#[test]
fn how_many_there_are_is_counted() {
    let (missing, nodes) = built(
        "Every Friday at 16:00 post the number of rows in the Postgres table visits to Slack #web",
    );
    assert_eq!(missing, Vec::<String>::new());
    assert_eq!(
        types(&nodes),
        ["scheduleTrigger", "postgres", "aggregate", "slack"]
    );
    assert!(nodes[3].1.contains("data.length"), "{nodes:#?}");
}

#[test]
fn a_total_of_nobody_knows_which_column_is_not_understood() {
    let (missing, _) = built(
        "Every day at 18:00 read the Google Sheet Takings and mail the total to ann@x.example",
    );
    assert_eq!(missing, ["total"]);
}

#[test]
fn the_one_who_writes_says_which_column_holds_the_address() {
    let (_, nodes) = built(
        "When a row is added to the Google Sheet Guests, send an email to the address in column Mail saying \"See you soon\"",
    );
    assert!(nodes[1].1.contains("{{ $json.Mail }}"), "{nodes:#?}");
}

#[test]
fn what_comes_is_of_the_service_that_brings_it() {
    let (_, nodes) =
        built("I'd like a Trello card in list Ideas for each message that arrives on Telegram");
    assert_eq!(types(&nodes), ["telegramTrigger", "trello"]);
}

#[test]
fn a_model_is_asked_a_question_and_its_answer_is_a_choice() {
    let (_, nodes) = built(
        "When a Typeform is submitted, ask OpenAI whether the message is rude. If yes, post it to Slack #rude, otherwise add it to the Google Sheet Polite.",
    );
    assert!(types(&nodes).contains(&"textClassifier"), "{nodes:#?}");
}

#[test]
fn a_calendar_is_read_for_the_day_on_weekdays_too() {
    let (_, nodes) =
        built("Every weekday at 8 post my Google Calendar events of today to Slack #day");
    assert!(nodes[1].1.contains("endOf('day')"), "{nodes:#?}");
}
