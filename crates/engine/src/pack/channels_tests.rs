use super::*;
use agentctl_base::yaml;
use serde_json::json;

/// A chat platform's form of a message, as many send it.
const PLATFORM: &str = r#"
webhook:
  unwrap: body
  input:
    userId: "has(body.from.aadObjectId) ? body.from.aadObjectId : body.from.id"
    userName: body.from.name
    chatInput: body.text
    sessionId: body.conversation.id
    tenantId: body.conversation.tenantId
    locale: "has(body.locale) ? body.locale : 'en-US'"
  required: [userId, tenantId, chatInput]
  session: {tenant: tenantId, user: userId, conversation: sessionId}
  message: chatInput
  id: body.id
  reply: {output: reply.text, data: reply.data, attachment: reply.attachment}
"#;

fn channels(text: &str) -> (Channels, Vec<String>) {
    let node = yaml::read(text, "pack.yaml").unwrap();
    let mut problems = Problems::new("pack.yaml");
    let channels = read(Some(&node), &mut problems);
    let told = problems.into_sorted();
    (channels, told.iter().map(ToString::to_string).collect())
}

fn platform() -> Webhook {
    let (channels, problems) = channels(PLATFORM);
    assert_eq!(problems, Vec::<String>::new());
    channels.webhook.unwrap()
}

fn message() -> Value {
    json!({
        "from": {"id": "u-1", "name": "Test User", "aadObjectId": "aad-1"},
        "conversation": {"id": "c-1", "tenantId": "t-1"},
        "text": "Show me my open tickets", "locale": "de-DE", "id": 17
    })
}

#[test]
fn a_body_says_the_same_wrapped_and_bare() {
    let taken = platform().take(&message()).unwrap();
    assert_eq!(
        Value::Object(taken.input.clone()),
        json!({
            "userId": "aad-1", "userName": "Test User", "chatInput": "Show me my open tickets",
            "sessionId": "c-1", "tenantId": "t-1", "locale": "de-DE"
        })
    );
    assert_eq!(taken.message.as_deref(), Some("Show me my open tickets"));
    let key = [&taken.tenant, &taken.user, &taken.conversation, &taken.id];
    assert_eq!(
        key.map(|part| part.as_deref().unwrap_or_default()),
        ["t-1", "aad-1", "c-1", "17"]
    );
    let wrapped = json!({"headers": {"x": "y"}, "body": message()});
    assert_eq!(platform().take(&wrapped), Ok(taken));
}

#[test]
fn what_is_optional_may_be_missing_and_what_is_required_is_named_all_at_once() {
    let webhook = platform();
    let mut bare = message();
    let body = bare.as_object_mut().unwrap();
    body.insert("from".into(), json!({"id": "u-1"}));
    body.insert("conversation".into(), json!({"tenantId": "t-1"}));
    body.remove("locale");
    body.remove("id");
    let taken = webhook.take(&bare).unwrap();
    assert_eq!(taken.user.as_deref(), Some("u-1"));
    assert_eq!((taken.conversation, taken.id), (None, None));
    assert_eq!(taken.input.get("locale"), Some(&json!("en-US")));
    assert!(!taken.input.contains_key("userName"));

    let empty = json!({"text": " ", "from": {"id": null}});
    let faults = webhook.take(&empty).unwrap_err();
    let fields: Vec<&str> = faults.iter().map(|f| f.field.as_str()).collect();
    assert_eq!(fields, ["userId", "chatInput", "tenantId"]);
    assert_eq!(faults[1].message, "is required; it is read as `body.text`");
    for no_object in [
        json!(null),
        json!([]),
        json!("text"),
        json!({"body": "text"}),
    ] {
        assert_eq!(
            webhook.take(&no_object).unwrap_err().len(),
            3,
            "{no_object}"
        );
    }
}

#[test]
fn an_empty_object_or_list_names_no_conversation() {
    for empty in [json!({}), json!([]), json!([null])] {
        let mut body = message();
        body["conversation"]["id"] = empty.clone();
        let faults = platform().take(&body).unwrap_err();
        assert_eq!(faults.len(), 1, "{empty}");
        assert_eq!(faults[0].field, "sessionId");
    }
    let mut blank = message();
    blank["conversation"]["id"] = json!(" ");
    assert_eq!(platform().take(&blank).unwrap().conversation, None);
}

#[test]
fn parts_of_a_key_are_short_texts_and_a_message_is_text() {
    let mut body = message();
    body["text"] = json!({"a": 1});
    body["conversation"]["id"] = json!("x".repeat(201));
    body["from"]["aadObjectId"] = json!(["u"]);
    let faults = platform().take(&body).unwrap_err();
    let told: Vec<String> = faults
        .iter()
        .map(|f| format!("{} {}", f.field, f.message))
        .collect();
    assert_eq!(
        told,
        [
            "userId must be text or a number, it is a list",
            "sessionId has 201 characters; at most 200 are taken",
            "chatInput must be text, it is an object"
        ]
    );
}

#[test]
fn a_reply_is_what_the_pack_says_or_its_output_or_what_it_said() {
    let reply = json!({"text": "Done.", "data": {"n": 1}, "attachment": null, "output": null});
    let said = json!({"output": "Done.", "data": {"n": 1}, "attachment": null});
    assert_eq!(platform().reply(&reply).unwrap(), said);
    let plain = channels("webhook: {input: {message: body.text}, message: message}").0;
    let plain = plain.webhook.unwrap();
    assert_eq!(plain.reply(&reply).unwrap(), said);
    let machine = json!({"text": "Done.", "output": {"answer": 42}});
    assert_eq!(plain.reply(&machine).unwrap(), json!({"answer": 42}));
    let wrong = "webhook: {input: {message: body.text}, reply: {x: reply.nothing.there}}";
    assert!(channels(wrong).0.webhook.unwrap().reply(&reply).is_err());
}

#[test]
fn every_mistake_has_its_line() {
    let (_, problems) = channels(
        "mail: {}\nwebhook:\n  input: {message: boddy.text, other: 7}\n  message: msg\n  required: [nobody]\n  session: {team: message}\n  replies: {}\n",
    );
    let expected = [
        "pack.yaml:1:1: channels has no \"mail\"; it has webhook, a2a, later, on_restart",
        "pack.yaml:3:3: a webhook needs input: name → expression over body",
        "pack.yaml:3:20: the expression `boddy.text` uses the unknown variable `boddy`; it may use body",
        "pack.yaml:3:39: an expression is text, not a number",
        "pack.yaml:4:12: \"msg\" is none of the webhook's input",
        "pack.yaml:5:14: \"nobody\" is none of the webhook's input",
        "pack.yaml:6:13: session has no \"team\"; it has tenant, user, conversation",
        "pack.yaml:7:3: webhook has no \"replies\"; it has unwrap, input, required, session, message, id, reply",
    ];
    assert_eq!(problems, expected);
}
