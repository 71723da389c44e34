//! What a sentence means for the graph: what is tested before it is touched, which way a case takes, what a file needs.

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::compile::compile;
use agentctl_planner::read::{ReadContext, read};
use serde_json::{Value, json};

/// The workflow of a request, as JSON.
fn built(request: &str) -> Value {
    let plan = read(request, &ReadContext::default()).plan;
    compile(&plan, Catalog::embedded()).workflow.to_value()
}

fn nodes(workflow: &Value) -> &[Value] {
    let nodes = workflow.get("nodes").and_then(Value::as_array);
    nodes.map_or(&[], Vec::as_slice)
}

fn said<'a>(node: &'a Value, key: &str) -> &'a str {
    node.get(key).and_then(Value::as_str).unwrap_or("")
}

/// The short types of the nodes in the order in which they hang on each other from the first one, first outputs first.
fn chain(workflow: &Value) -> Vec<String> {
    let first = nodes(workflow).first().map(|n| said(n, "name").to_owned());
    let mut names: Vec<String> = first.into_iter().collect();
    let mut at = 0;
    while let Some(name) = names.get(at).cloned() {
        let outputs = workflow.pointer(&format!("/connections/{}/main", name.replace('/', "~1")));
        let outputs = outputs.and_then(Value::as_array).into_iter().flatten();
        for target in outputs.filter_map(Value::as_array).flatten() {
            let target = said(target, "node").to_owned();
            if !names.contains(&target) {
                names.push(target);
            }
        }
        at += 1;
    }
    let kind = |name: &String| {
        let node = nodes(workflow).iter().find(|n| said(n, "name") == name)?;
        said(node, "type").rsplit('.').next().map(str::to_owned)
    };
    names.iter().filter_map(kind).collect()
}

/// The parameters of the nodes of a type.
fn text(workflow: &Value, kind: &str) -> String {
    let of = |n: &&Value| said(n, "type").ends_with(&format!(".{kind}"));
    let found = nodes(workflow).iter().filter(of);
    let found: Vec<String> = found
        .filter_map(|n| n.get("parameters").map(Value::to_string))
        .collect();
    found.join("\n")
}

#[test]
fn what_is_deleted_is_tested_first() {
    let workflow = built(
        "Every Sunday at 4 am delete the rows in the Postgres table sessions whose last_seen is older than 90 days.",
    );
    assert_eq!(
        chain(&workflow),
        ["scheduleTrigger", "postgres", "filter", "postgres"]
    );
    assert!(text(&workflow, "filter").contains("last_seen"));
}

#[test]
fn what_is_done_otherwise_stays_beside_what_is_done_when_it_fails() {
    let workflow = built(
        "Nightly at 03:15 run `pg_dumpall` over SSH. When the command fails, open a PagerDuty incident, otherwise leave a note in Discord #backups.",
    );
    let types = chain(&workflow);
    assert!(types.contains(&"pagerDuty".to_owned()), "{types:?}");
    assert!(types.contains(&"discord".to_owned()), "{types:?}");
}

#[test]
fn what_is_not_done_has_failed() {
    let request = "A webhook (POST, path /meter) delivers meter_id and value. Insert them into the Postgres table meters. If the insert does not succeed, warn Slack #meters.";
    let workflow = built(request);
    assert_eq!(chain(&workflow), ["webhook", "set", "postgres", "slack"]);
    let node = workflow["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|n| n["type"] == "n8n-nodes-base.postgres")
        .unwrap();
    assert_eq!(node["onError"], "continueErrorOutput");
}

#[test]
fn cases_without_a_field_sort_by_the_field_that_came() {
    let workflow = built(
        "Webhook POST /alarm, body {host, severity, text}.\n- critical -> PagerDuty incident\n- warning -> Slack #warn\n- info -> row in the Postgres table alarm_log",
    );
    let switch = text(&workflow, "switch");
    assert!(switch.contains("body.severity"), "{switch}");
    for value in ["critical", "warning", "info"] {
        assert!(switch.contains(value), "{value}: {switch}");
    }
}

#[test]
fn a_country_is_the_value_of_a_country() {
    let workflow = built(
        "New WooCommerce order: if it ships to France, mail paris@shop.example; otherwise mail world@shop.example.",
    );
    let test = text(&workflow, "if");
    assert!(
        test.contains("country") && test.contains("France"),
        "{test}"
    );
}

#[test]
fn how_a_text_begins_is_tested() {
    let workflow = built(
        "Telegram bot: messages that begin with /note are stored in the Notion database \"Notes\"; to all others reply \"Use /note\".",
    );
    let test = text(&workflow, "if");
    assert!(
        test.contains("startsWith") && test.contains("/note"),
        "{test}"
    );
}

#[test]
fn a_file_that_is_only_named_is_downloaded() {
    let workflow = built(
        "When a new file appears in the Google Drive folder Scans, upload it to the S3 bucket scans.",
    );
    assert_eq!(
        chain(&workflow),
        ["googleDriveTrigger", "googleDrive", "awsS3"]
    );
}

#[test]
fn an_option_that_says_more_than_its_object_is_the_event() {
    let workflow =
        built("When an order is fulfilled in Shopify, post the order number to Slack #shop");
    assert_eq!(
        workflow["nodes"][0]["parameters"]["topic"],
        "orders/fulfilled"
    );
}

#[test]
fn a_plural_at_the_beginning_is_no_verb() {
    let workflow = built(
        "When an order is paid in Shopify: orders above 500 euros go to Slack #big, the rest to Slack #small.",
    );
    assert_eq!(chain(&workflow), ["shopifyTrigger", "if", "slack", "slack"]);
}

/// A parameter of the first node of a type; null where there is none.
fn parameter(workflow: &Value, short: &str, pointer: &str) -> Value {
    let of_type = |n: &&Value| said(n, "type").ends_with(&format!(".{short}"));
    let node = nodes(workflow).iter().find(of_type);
    let found = node.and_then(|n| n.pointer(&format!("/parameters{pointer}")));
    found.cloned().unwrap_or_default()
}

#[test]
fn a_greeting_is_what_a_message_says_and_an_order_is_no_text() {
    for (request, text) in [
        ("Every day at 9:00 post hello to Slack #dev", "hello"),
        (
            "Every weekday at 8:30 post good morning team to Slack #dev",
            "good morning team",
        ),
        (
            "Every day at 9:00 post lunch menu to Slack #dev",
            "<message>",
        ),
        ("Every day at 9:00 post hello2 to Slack #dev", "hello2"),
        (
            "Every day at 9:00 post Hello World! to Slack #dev",
            "Hello World!",
        ),
        (
            "When a webhook receives an order, post Well done, team! to Slack #sales",
            "Well done, team!",
        ),
        (
            "Jeden Freitag um 16 Uhr sende Endlich Wochenende! an Slack #team",
            "Endlich Wochenende!",
        ),
    ] {
        let plan = read(request, &ReadContext::default()).plan;
        let made = compile(&plan, Catalog::embedded());
        let workflow = made.workflow.to_value();
        assert_eq!(parameter(&workflow, "slack", "/text"), text, "{request}");
        // What is said needs no words of the user's, and leaves no part open.
        let open = made.gaps.len() + made.todo.iter().filter(|t| t.kind == "value").count();
        assert_eq!(open > 0, text == "<message>", "{request}: {:?}", made.todo);
    }
}

#[test]
fn an_exclamation_mark_that_ends_a_sentence_quotes_nothing() {
    let workflow = built("When a webhook receives an order, post it! To Slack #sales it must go.");
    assert_ne!(parameter(&workflow, "slack", "/text"), "it!");
}

#[test]
fn a_post_on_instagram_is_made_and_then_published_and_one_of_facebook_goes_to_the_feed_of_a_page() {
    let feed = "When a new item appears in my RSS feed https://example.com/feed, post it to";
    let post = |network: &str| {
        let plan = read(&format!("{feed} {network}"), &ReadContext::default()).plan;
        let made = compile(&plan, Catalog::embedded());
        let calls: Vec<Value> = nodes(&made.workflow.to_value())
            .iter()
            .filter(|n| said(n, "type").ends_with(".facebookGraphApi"))
            .filter_map(|n| {
                let of = |key: &str| n.pointer(&format!("/parameters/{key}")).cloned();
                assert_eq!(of("httpRequestMethod")?, "POST");
                assert!(of("graphApiVersion").is_some(), "{n}");
                Some(json!([
                    of("node"),
                    of("edge"),
                    of("options/queryParameters/parameter")
                ]))
            })
            .collect();
        let left: Vec<String> = made.todo.into_iter().map(|t| t.text).collect();
        (Value::from(calls), left)
    };
    let text = [
        "=Title: {{ $json.title }}",
        "Link: {{ $json.link }}",
        "Text: {{ $json.contentSnippet }}",
        "Date: {{ $json.isoDate }}",
        "Author: {{ $json.creator }}",
    ];
    let text = text.join("\n");
    let (calls, left) = post("Instagram");
    let account = "<id of the Instagram account>";
    assert_eq!(
        calls,
        json!([
            [account, "media", [
                {"name": "caption", "value": text},
                {"name": "image_url", "value": "<address of the picture>"},
            ]],
            [account, "media_publish", [{"name": "creation_id", "value": "={{ $json.id }}"}]],
        ])
    );
    let picture = "set the address of the picture: Instagram takes no post without one";
    assert!(left.iter().any(|todo| todo == picture), "{left:?}");
    assert!(
        left.iter()
            .any(|todo| todo == "set the id of the Instagram account")
    );
    let (calls, left) = post("our Facebook page");
    assert_eq!(
        calls,
        json!([["<id of the Facebook page>", "feed", [{"name": "message", "value": text}]]])
    );
    assert!(
        left.iter()
            .any(|todo| todo == "set the id of the Facebook page"),
        "{left:?}"
    );
}

#[test]
fn a_bound_on_a_sum_is_read_in_each_language() {
    for request in [
        "Quand un webhook reçoit une commande de plus de 100 EUR, envoie-la dans Slack #ventes",
        "Wenn ein Webhook eine Bestellung über 100 EUR empfängt, sende sie an Slack #vertrieb",
        "Cuando un webhook recibe un pedido de más de 100 EUR, envíalo a Slack #ventas",
        "Cuando llegue un pedido por webhook de más de 100 EUR, avisa en Slack #ventas",
    ] {
        let workflow = built(request);
        assert_eq!(
            chain(&workflow),
            ["webhook", "filter", "slack"],
            "{request}"
        );
        let condition = |end: &str| {
            parameter(
                &workflow,
                "filter",
                &format!("/conditions/conditions/0/{end}"),
            )
        };
        assert_eq!(condition("operator/operation"), "gt", "{request}");
        assert_eq!(condition("rightValue"), 100, "{request}");
        let left = condition("leftValue").to_string();
        assert!(!left.contains("webhook"), "{request}: {left}");
    }
}

#[test]
fn a_date_that_a_service_counts_in_seconds_is_made_a_date_before_it_is_compared() {
    let workflow = built("Every day at 8:00 post yesterday's Stripe payments to Slack #finance");
    let left = parameter(&workflow, "filter", "/conditions/conditions/0/leftValue");
    assert_eq!(left, "={{ DateTime.fromSeconds($json.created).toISO() }}");
}

#[test]
fn a_heading_and_a_goal_before_numbered_steps_are_no_steps() {
    let steps =
        "1. Every Monday at 9:00 read the Google Sheet Members\n2. Mail the list to a@x.example";
    let alone = chain(&built(steps));
    for preface in [
        "# Weekly list\n\nWe want everybody to know who is there.\n\n",
        "Weekly list\n===========\n\nGoal: tell people who is there.\n\n## Steps\n",
    ] {
        let workflow = built(&format!("{preface}{steps}"));
        assert_eq!(chain(&workflow), alone, "{preface}");
        assert_eq!(said(&workflow, "name"), "Weekly list");
    }
    // A goal may name what the steps name again; what only it names is a step of its own.
    let goal = "# Order intake\n\n## Goal\nWe want every web order in our books and in Slack.\n\n";
    let list = "## Steps\n1. A webhook receives the order.\n2. Post it to Slack #sales.\n3. Append it to the Google Sheet Orders.";
    let alone = chain(&built(list));
    assert_eq!(alone, ["webhook", "slack", "set", "googleSheets"]);
    assert_eq!(chain(&built(&format!("{goal}{list}"))), alone);
    let other = goal.replace("Slack", "Discord");
    assert!(chain(&built(&format!("{other}{list}"))).contains(&"discord".to_owned()));
    // What starts it may stand before the list.
    let started = built(
        "When a webhook receives an order:\n1. post it to Slack #sales\n2. mail it to a@x.example",
    );
    assert_eq!(chain(&started), ["webhook", "slack", "emailSend"]);
}

#[test]
fn a_sentence_that_is_said_again_at_once_is_read_once() {
    let once = "When a webhook receives an order, post it to Slack #sales. ";
    assert_eq!(chain(&built(&once.repeat(280))), chain(&built(once)));
}

#[test]
fn the_answers_to_a_vague_request_make_one_post_of_each_new_entry() {
    let answers = [
        ("social", "LinkedIn"),
        ("source", "our blog's RSS feed"),
        ("timing", "hourly"),
    ];
    let answers = answers.map(|(topic, answer)| (topic.to_owned(), answer.to_owned()));
    let known = ReadContext {
        answers: answers.into_iter().collect(),
    };
    let request = "post our new stuff on social media automatically";
    let asked = read(request, &ReadContext::default()).questions;
    let required: Vec<&str> = asked
        .iter()
        .filter(|q| q.required)
        .map(|q| q.topic.as_str())
        .collect();
    assert_eq!(required, ["social", "source", "timing"]);
    let plan = read(request, &known).plan;
    let workflow = compile(&plan, Catalog::embedded()).workflow.to_value();
    let wanted = [
        "scheduleTrigger",
        "rssFeedRead",
        "removeDuplicates",
        "linkedIn",
    ];
    assert_eq!(chain(&workflow), wanted);
}

/// The node of a type, whole.
fn node<'a>(workflow: &'a Value, kind: &str) -> &'a Value {
    let of = |n: &&Value| said(n, "type").ends_with(&format!(".{kind}"));
    nodes(workflow).iter().find(of).unwrap_or(&Value::Null)
}

#[test]
fn the_step_that_may_fail_is_the_one_that_is_spoken_of() {
    let workflow = built(
        "Every day at 7 read the rows of the Postgres table orders and call https://api.example.com/status for each one. If a call fails, tell Slack #ops.",
    );
    assert_eq!(
        said(node(&workflow, "httpRequest"), "onError"),
        "continueErrorOutput"
    );
    assert_eq!(said(node(&workflow, "postgres"), "onError"), "");
    let any = built(
        "Every day at 7 read the rows of the Postgres table orders and call https://api.example.com/status for each one. If anything fails, tell Slack #ops.",
    );
    assert_eq!(
        said(node(&any, "postgres"), "onError"),
        "continueErrorOutput"
    );
}

#[test]
fn a_form_has_its_choices_and_asks_for_what_must_be_filled_in() {
    let workflow = built(
        "When someone fills in our contact form (name, email, topic [sales, support, other], message - email is required), post it to Slack #sales.",
    );
    let fields = node(&workflow, "formTrigger")
        .pointer("/parameters/formFields/values")
        .and_then(Value::as_array)
        .unwrap();
    let told: Vec<(&str, &str, bool)> = fields
        .iter()
        .map(|f| {
            let required = f.get("requiredField") == Some(&Value::Bool(true));
            (said(f, "fieldLabel"), said(f, "fieldType"), required)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("Name", "text", false),
            ("Email", "email", true),
            ("Topic", "dropdown", false),
            ("Message", "textarea", false)
        ]
    );
    let choices = fields[2].to_string();
    assert!(
        ["sales", "support", "other"]
            .iter()
            .all(|c| choices.contains(c)),
        "{choices}"
    );
}

#[test]
fn the_word_for_columns_is_no_part_of_a_column() {
    let workflow = built(
        "When a webhook receives an order, insert it into the MySQL table leads, columns name, email and total.",
    );
    let written = text(&workflow, "mySql");
    assert!(
        !written.contains("columns name") && !written.contains("columns_name"),
        "{written}"
    );
    assert!(written.contains(r#""column":"name""#), "{written}");
}

#[test]
fn what_contains_one_of_several_is_tested_for_each() {
    let workflow = built(
        "When a new email in Gmail arrives whose subject contains 'overdue' or 'reminder', post it to Slack #finance.",
    );
    let tests = text(&workflow, "filter") + &text(&workflow, "if");
    assert!(
        tests.contains("overdue") && tests.contains("reminder"),
        "{tests}"
    );
    assert!(tests.contains(r#""combinator":"or""#), "{tests}");
}

#[test]
fn the_last_day_of_a_month_is_looked_for() {
    let workflow = built(
        "On the last day of each month at 20:00 read the Google Sheet Hours and post the rows as one message to Slack #payroll.",
    );
    assert!(
        text(&workflow, "filter").contains("endOf('month')"),
        "{workflow}"
    );
}

#[test]
fn a_confirmation_that_is_sent_waits_for_nobody() {
    let workflow = built(
        "Dès qu'une réservation arrive par le webhook /resa (nom, email), envoie un mail de confirmation au client et préviens Slack #direction.",
    );
    assert!(!workflow.to_string().contains("sendAndWait"), "{workflow}");
}

/// Where a sentence of its own says which repository it is, that is where the steps and the trigger work, and it is no step.
#[test]
fn a_repository_that_a_sentence_defines_is_where_the_work_is_done() {
    let asked = "When an issue is opened on GitHub, post it to Slack #dev.";
    for said in [
        "Our GitHub repository is acme/shop.",
        "The repository is acme/shop.",
        "Our GitHub repository is called acme/shop.",
        "Repository: acme/shop.",
        "The repository is \"acme/shop\".",
    ] {
        for request in [format!("{asked} {said}"), format!("{said} {asked}")] {
            let workflow = built(&request);
            let trigger = text(&workflow, "githubTrigger");
            assert!(
                trigger.contains(r#""value":"acme""#),
                "{request}: {trigger}"
            );
            assert!(
                trigger.contains(r#""value":"shop""#),
                "{request}: {trigger}"
            );
            assert!(
                trigger.contains(r#""events":["issues"]"#),
                "{request}: {trigger}"
            );
            assert!(text(&workflow, "github").is_empty(), "{request}");
        }
    }
    let own = built(
        "Our GitHub repository is acme/shop. When an issue is opened in acme/app on GitHub, post it to Slack #dev.",
    );
    assert!(
        text(&own, "githubTrigger").contains(r#""value":"app""#),
        "{own}"
    );
    let two = built(&format!(
        "{asked} The repository is acme/shop. The repository is acme/app."
    ));
    assert!(
        text(&two, "githubTrigger").contains("<repository>"),
        "{two}"
    );
}
