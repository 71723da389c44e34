//! The compiled-in catalog: counts, lookups, variants, operations, recipes, search.

use serde_json::{Map, Value, json};

use super::*;

fn node(node_type: &str, version: Option<f64>) -> std::sync::Arc<NodeDescription> {
    match Catalog::embedded().lookup(node_type, version) {
        Lookup::Known(description) => description,
        other => panic!("{node_type} {version:?}: {other:?}"),
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn names(list: &[&Property]) -> Vec<String> {
    list.iter().map(|p| p.name.clone()).collect()
}

#[test]
fn counts_are_those_of_the_published_packages() {
    let catalog = Catalog::embedded();
    let source = catalog.source();
    assert_eq!((source.types, source.type_versions), (565, 1001));
    assert_eq!(source.n8n_version.as_deref(), Some("2.39.4"));
    let mut plain = (0, 0);
    let mut tools = (0, 0);
    let mut hitl = (0, 0);
    for name in catalog.types() {
        let d = node(name, None);
        let count = match (&d.made_from, name.ends_with("HitlTool")) {
            (None, _) => &mut plain,
            (Some(_), false) => &mut tools,
            (Some(_), true) => &mut hitl,
        };
        count.0 += 1;
        count.1 += d.versions.len();
    }
    assert_eq!(plain, (565, 1001));
    assert_eq!((tools, hitl), ((268, 381), (10, 26)));
}

#[test]
fn every_pair_of_type_and_version_decodes() {
    let catalog = Catalog::embedded();
    for name in catalog.types() {
        for version in node(name, None).versions.clone() {
            let d = node(name, Some(version));
            assert_eq!((d.node_type.as_str(), d.version), (name, version));
            assert!(
                d.inputs != Ports::Dynamic && d.outputs != Ports::Dynamic,
                "{name} {version} has ports without a rule"
            );
            d.try_fill_defaults(&Map::new())
                .unwrap_or_else(|e| panic!("{name} {version}: {e}"));
        }
    }
}

#[test]
fn default_versions_are_those_that_n8n_declares() {
    let of = |name: &str| node(name, None).version;
    assert_eq!(of("n8n-nodes-base.slack"), 2.7);
    assert_eq!(
        of("n8n-nodes-base.airtop"),
        1.0,
        "declared below the newest"
    );
    assert_eq!(
        of("n8n-nodes-base.kafkaTrigger"),
        1.3,
        "declared below the newest"
    );
    assert_eq!(
        of("n8n-nodes-base.splitInBatches"),
        3.0,
        "not declared: the newest"
    );
}

#[test]
fn kinds_tell_what_starts_a_workflow() {
    let of = |name: &str| (node(name, None).kind, node(name, None).trigger_like);
    use NodeKind::{Action, SubNode, Tool, Trigger};
    assert_eq!(
        of("n8n-nodes-base.webhook"),
        (Trigger(TriggerKind::Webhook), true)
    );
    assert_eq!(
        of("n8n-nodes-base.gmailTrigger"),
        (Trigger(TriggerKind::Poll), true)
    );
    assert_eq!(
        of("n8n-nodes-base.scheduleTrigger"),
        (Trigger(TriggerKind::Event), true)
    );
    assert_eq!(
        of("n8n-nodes-base.manualTrigger"),
        (Trigger(TriggerKind::Manual), true)
    );
    assert_eq!(
        of("n8n-nodes-base.evaluationTrigger"),
        (Trigger(TriggerKind::Manual), false)
    );
    assert_eq!(of("n8n-nodes-base.httpRequest"), (Action, false));
    assert_eq!(of("n8n-nodes-base.slack"), (Action, true), "send and wait");
    assert_eq!(
        of("@n8n/n8n-nodes-langchain.lmChatOpenAi"),
        (SubNode, false)
    );
    assert_eq!(of("@n8n/n8n-nodes-langchain.toolCalculator"), (Tool, false));
    assert!(node("n8n-nodes-base.slack", None).versioned);
    assert!(node("n8n-nodes-base.mattermost", None).versioned);
    assert!(!node("n8n-nodes-base.code", None).versioned);
}

#[test]
fn a_tool_variant_is_described_to_the_model() {
    let d = node("n8n-nodes-base.googleSheetsTool", None);
    assert_eq!(d.made_from.as_deref(), Some("n8n-nodes-base.googleSheets"));
    assert_eq!(
        (d.label.as_str(), d.kind),
        ("Google Sheets Tool", NodeKind::Tool)
    );
    assert_eq!(d.inputs, Ports::Fixed(vec![]));
    assert_eq!(d.outputs, Ports::Fixed(vec![Port::new("ai_tool")]));
    let head: Vec<&str> = d
        .properties
        .iter()
        .take(3)
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(
        head,
        ["descriptionType", "toolDescription", "authentication"]
    );
    let auto = d.fill_defaults(&Map::new());
    assert_eq!(auto.get("descriptionType"), Some(&json!("auto")));
    assert!(!auto.contains_key("toolDescription"));
    let manual = d.fill_defaults(&object(json!({"descriptionType": "manual"})));
    assert_eq!(manual.get("toolDescription"), Some(&json!(OMITTED_TEXT)));
}

#[test]
fn an_approval_tool_is_fixed_on_send_and_wait() {
    let d = node("n8n-nodes-base.slackHitlTool", None);
    assert_eq!(d.label, "Slack");
    let told = d.fill_defaults(&Map::new());
    assert_eq!(told.get("resource"), Some(&json!("message")));
    assert_eq!(told.get("operation"), Some(&json!("sendAndWait")));
    assert_eq!(told.get("responseType"), Some(&json!("approval")));
    assert_eq!(told.get("message"), Some(&json!(OMITTED_EXPRESSION)));
    assert!(matches!(
        Catalog::embedded().lookup("n8n-nodes-base.slackHitlTool", Some(1.0)),
        Lookup::UnknownVersion { .. }
    ));
}

#[test]
fn operations_are_listed_by_resource() {
    let d = node("n8n-nodes-base.slack", None);
    let operations = d.operations();
    let resources: Vec<&str> = operations
        .iter()
        .filter_map(|(r, _)| r.as_deref())
        .collect();
    assert_eq!(
        resources,
        [
            "channel",
            "file",
            "message",
            "reaction",
            "star",
            "user",
            "userGroup"
        ]
    );
    let reactions = &operations[3].1;
    let expected = [("add", "Add"), ("get", "Get"), ("remove", "Remove")];
    assert_eq!(
        *reactions,
        expected.map(|(v, l)| (v.to_owned(), l.to_owned()))
    );
    let crypto = node("n8n-nodes-base.dateTime", None).operations();
    assert_eq!(crypto.len(), 1);
    assert_eq!(crypto[0].0, None);
    assert!(node("n8n-nodes-base.noOp", None).operations().is_empty());
}

#[test]
fn visible_parameters_follow_the_choices() {
    let d = node("n8n-nodes-base.slack", Some(2.3));
    let shown = d.visible_properties(&object(json!({"select": "channel"})));
    let shown: Vec<String> = names(&shown)
        .into_iter()
        .filter(|name| !name.to_lowercase().contains("notice"))
        .collect();
    assert_eq!(
        shown,
        [
            "authentication",
            "resource",
            "operation",
            "select",
            "channelId",
            "messageType",
            "text",
            "otherOptions"
        ]
    );
    let credentials: Vec<&str> = d
        .visible_credentials(&object(json!({"authentication": "oAuth2"})))
        .into_iter()
        .map(|slot| slot.name.as_str())
        .collect();
    assert_eq!(credentials, ["slackOAuth2Api"]);
    assert_eq!(
        d.credentials[1].type_label.as_deref(),
        Some("Slack OAuth2 API")
    );
}

const SHEETS: &str = "\
n8n-nodes-base.googleSheets v4.7 (Google Sheets) resource=sheet operation=append
credentials: googleApi* [if authentication=serviceAccount], googleSheetsOAuth2Api*
- authentication options serviceAccount|oAuth2 = oAuth2
- documentId* resourceLocator mode list|url|id
- sheetName* resourceLocator mode list|url|id|name
- columns* resourceMapper = {\"mappingMode\":\"defineBelow\",\"value\":null}
- options collection {cellFormat, locationDefine, handlingExtraData, useAppend}
";

const SLACK: &str = "\
n8n-nodes-base.slack v2.3 (Slack) resource=message operation=post
credentials: slackApi*, slackOAuth2Api* [if authentication=oAuth2]
- authentication options accessToken|oAuth2 = accessToken
- select* options channel|user
- channelId* resourceLocator mode list|id|name|url [if select=channel]
- user resourceLocator mode list|id|username [if select=user]
- messageType options text|block|attachment = text
- text* string
- blocksUi* string [if messageType=block]
- attachments collection {fallback, text, title, title_link, color, pretext, author_name, author_link, author_icon, image_url, thumb_url, footer, +3} [if messageType=attachment]
- otherOptions collection {includeLinkToWorkflow, botProfile, link_names, thread_ts, mrkdwn, unfurl_links, unfurl_media, ephemeral, sendAsUser}
";

#[test]
fn a_recipe_holds_what_the_operation_takes() {
    let recipe =
        node("n8n-nodes-base.googleSheets", Some(4.7)).recipe(Some("sheet"), Some("append"));
    assert_eq!(recipe.to_string(), SHEETS);
    let recipe = node("n8n-nodes-base.slack", Some(2.3)).recipe(Some("message"), Some("post"));
    assert_eq!(recipe.to_string(), SLACK);
}

#[test]
fn recipes_of_common_nodes_are_short() {
    for name in [
        "slack",
        "gmail",
        "httpRequest",
        "googleSheets",
        "if",
        "set",
        "switch",
        "scheduleTrigger",
        "webhook",
        "postgres",
        "notion",
        "airtable",
        "telegram",
        "hubspot",
        "merge",
        "code",
    ] {
        let d = node(&format!("n8n-nodes-base.{name}"), None);
        let text = d.recipe(None, None).to_string();
        assert!(
            text.len() < 1700,
            "{name} takes {} characters:\n{text}",
            text.len()
        );
    }
}

#[test]
fn people_find_services_by_their_words() {
    let cases = [
        ("google sheet", "n8n-nodes-base.googleSheets"),
        ("Slack", "n8n-nodes-base.slack"),
        ("X/Twitter", "n8n-nodes-base.twitter"),
        ("S3 bucket", "n8n-nodes-base.awsS3"),
        ("postgres", "n8n-nodes-base.postgres"),
        ("openai", "@n8n/n8n-nodes-langchain.openAi"),
        ("HubSpot", "n8n-nodes-base.hubspot"),
        ("MS Teams", "n8n-nodes-base.microsoftTeams"),
        ("gcal", "n8n-nodes-base.googleCalendar"),
        ("send a slack message", "n8n-nodes-base.slack"),
        ("append row to google sheets", "n8n-nodes-base.googleSheets"),
        (
            "new row in google sheet trigger",
            "n8n-nodes-base.googleSheetsTrigger",
        ),
        (
            "when an email arrives in gmail",
            "n8n-nodes-base.gmailTrigger",
        ),
        ("gmial", "n8n-nodes-base.gmail"),
        ("postgress", "n8n-nodes-base.postgres"),
        ("rocket chat", "n8n-nodes-base.rocketchat"),
        ("git lab issue", "n8n-nodes-base.gitlab"),
        ("notion database page", "n8n-nodes-base.notion"),
        ("call an API", "n8n-nodes-base.httpRequest"),
        ("run every day at 9", "n8n-nodes-base.scheduleTrigger"),
        ("webhook", "n8n-nodes-base.webhook"),
        ("respond to webhook", "n8n-nodes-base.respondToWebhook"),
        ("loop over items", "n8n-nodes-base.splitInBatches"),
        ("remove duplicates", "n8n-nodes-base.removeDuplicates"),
        ("edit fields", "n8n-nodes-base.set"),
        ("stripe payment trigger", "n8n-nodes-base.stripeTrigger"),
        ("typeform response", "n8n-nodes-base.typeformTrigger"),
        ("ai agent", "@n8n/n8n-nodes-langchain.agent"),
        ("chat model openai", "@n8n/n8n-nodes-langchain.lmChatOpenAi"),
        ("outlook email", "n8n-nodes-base.microsoftOutlook"),
        ("n8n-nodes-base.cron", "n8n-nodes-base.cron"),
    ];
    let found: Vec<(&str, String)> = cases
        .iter()
        .map(|(query, _)| {
            let hits = Catalog::embedded().search(query, 3);
            (
                *query,
                hits.first()
                    .map(|h| h.node_type.clone())
                    .unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        found,
        cases.map(|(query, node_type)| (query, node_type.to_owned()))
    );
}

#[test]
fn search_says_why_and_knows_when_it_does_not_know() {
    let catalog = Catalog::embedded();
    let hit = catalog.search("gcal", 1).remove(0);
    assert_eq!(
        hit,
        SearchHit {
            node_type: "n8n-nodes-base.googleCalendar".into(),
            label: "Google Calendar".into(),
            score: 97,
            why: "\"gcal\" means Google Calendar".into(),
            is_trigger: false,
        }
    );
    assert_eq!(catalog.search("", 5), []);
    assert_eq!(catalog.search("?!", 5), []);
    let best = catalog
        .search("blorbification", 1)
        .first()
        .map_or(0, |h| h.score);
    assert!(best < 45, "{best}");
    assert_eq!(catalog.search("slack", 2).len(), 2);
}

#[test]
fn every_synonym_names_a_type() {
    let catalog = Catalog::embedded();
    for (phrase, targets) in synonyms::SYNONYMS {
        for target in *targets {
            let name = match target.strip_prefix('@') {
                Some(name) => format!("@n8n/n8n-nodes-langchain.{name}"),
                None => format!("n8n-nodes-base.{target}"),
            };
            assert!(
                !matches!(catalog.lookup(&name, None), Lookup::UnknownType),
                "\"{phrase}\" names {name}"
            );
        }
        assert_eq!(*phrase, phrase.to_lowercase());
    }
    for name in synonyms::SUPERSEDED {
        assert!(
            !matches!(catalog.lookup(name, None), Lookup::UnknownType),
            "{name}"
        );
    }
}
