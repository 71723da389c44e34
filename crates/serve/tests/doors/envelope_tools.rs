//! Single calls of tools by the envelope, and the types that an agent does not take.

use super::agents::HEADERS;
use super::envelope::{envelope, post, told};
use super::support::{Desk, OTHER, client};
use agentctl_serve::{How, May};
use serde_json::{Value, json};

fn use_tool(id: &str, tool: &str, parameters: Value) -> Value {
    let mut body = envelope(id, "");
    body["type"] = json!("request:use-tool");
    body["payload"] = json!({"tool_id": tool, "parameters": parameters});
    body
}

#[tokio::test]
async fn a_tool_is_called_once_for_each_message() {
    let desk = Desk::open().await;
    let ring = use_tool("u-1", "bell", json!({}));
    let first = told(&desk, &ring, "response:tool-result").await;
    assert_eq!(
        (&first["tool_id"], &first["status"], &first["result"]),
        (&json!("bell"), &json!("ok"), &json!({"rung": 1}))
    );
    let all = tokio::join!(post(&desk, &ring), post(&desk, &ring));
    assert_eq!(
        (&all.0.json()["payload"], &all.1.json()["payload"]),
        (&first, &first)
    );
    let next = told(
        &desk,
        &use_tool("u-2", "bell", json!({})),
        "response:tool-result",
    )
    .await;
    assert_eq!(next["result"]["rung"], 2);
    // Another one under its id is refused, whatever it is.
    for other in [
        use_tool("u-1", "bell", json!({"how": "x"})),
        envelope("u-1", "hello"),
    ] {
        let other = told(&desk, &other, "response:error").await;
        assert_eq!(other["reason"], "invalid_message");
    }
}

#[tokio::test]
async fn what_did_not_come_about_says_why_and_what_may_have_is_not_done_again() {
    let desk = Desk::open().await;
    let reason = async |body: &Value| told(&desk, body, "response:error").await;
    let refused = reason(&use_tool("r-1", "bell", json!({"how": "refused"}))).await;
    assert_eq!(
        (&refused["reason"], &refused["errors"], &refused["message"]),
        (
            &json!("tool_refused"),
            &json!(["rule: role"]),
            &json!("bell: no; do not")
        )
    );
    let cut = use_tool("r-2", "bell", json!({"how": "unknown"}));
    for _ in 0..2 {
        assert_eq!(reason(&cut).await["reason"], "outcome_unknown");
    }
    let rung = told(
        &desk,
        &use_tool("r-3", "bell", json!({})),
        "response:tool-result",
    )
    .await;
    assert_eq!(rung["result"]["rung"], 3, "refused, cut off once, and this");
    let unknown = reason(&use_tool("r-4", "gong", json!({}))).await;
    assert_eq!(unknown["reason"], "unknown_tool");
    let mut late = use_tool("r-5", "bell", json!({"how": "slow"}));
    let deadline = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(2);
    late["payload"]["deadline"] = json!(deadline.to_string());
    assert_eq!(reason(&late).await["reason"], "deadline_passed");
    // It is no run: it waits for nothing, and calls nobody back.
    for (key, value) in [
        ("dependencies", json!(["r-1"])),
        ("callback_url", json!("https://x.example")),
    ] {
        let mut body = use_tool("r-6", "bell", json!({}));
        body["metadata"][key] = value;
        assert_eq!(reason(&body).await["reason"], "invalid_message", "{key}");
    }
}

#[tokio::test]
async fn who_may_not_send_messages_uses_no_tool() {
    let mut reader = client("one", How::bearer(OTHER));
    reader.may = [May::Read].into();
    let desk = Desk::with(vec![reader], |_| {}).await;
    let bearer = format!("Bearer {OTHER}");
    let headers = [("authorization", bearer.as_str())];
    let body = use_tool("u-1", "bell", json!({}));
    let got = desk.post_as(&headers, "/a2a/message", &body).await;
    assert_eq!(got.json()["payload"]["reason"], "forbidden", "{}", got.text);
}

#[tokio::test]
async fn a_type_that_an_agent_does_not_take_is_refused_and_not_among_its_capabilities() {
    let desk = Desk::open().await;
    let mut facts = envelope("f-1", "");
    facts["type"] = json!("request:factcheck:verify");
    facts["payload"] = json!({"claims": [{"id": "c", "text": "It rained."}]});
    let refused = told(&desk, &facts, "response:error").await;
    assert_eq!(refused["reason"], "unsupported_type");
    let got = desk
        .ask("GET", "/a2a/capabilities", &HEADERS[..1], b"")
        .await;
    let types = got.json()["supportedMessageTypes"].clone();
    let has = |of: &str| {
        types
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["type"] == of)
    };
    assert!(
        has("request:use-tool") && has("response:tool-result"),
        "{types}"
    );
    assert!(!has("request:factcheck:verify"), "{types}");
}
