//! The address and the body of a trigger's call, made from the document.

use super::super::call::request;
use super::*;

#[test]
fn a_call_goes_where_the_document_says() {
    let base = http::base("http://n8n.example/").unwrap();
    let made = |call: &TriggerCall| {
        let request = request(&base, call).unwrap();
        let body = request
            .body()
            .and_then(|b| b.as_bytes())
            .unwrap_or_default();
        (
            format!("{} {}", request.method(), request.url()),
            String::from_utf8_lossy(body).into_owned(),
        )
    };
    let posted = call(
        TriggerKind::Webhook,
        "POST",
        "orders",
        &[],
        json!({"total": 3}),
    );
    assert_eq!(
        made(&posted),
        (
            "POST http://n8n.example/webhook/orders".into(),
            "{\"total\":3}".into()
        )
    );
    let asked = call(
        TriggerKind::Webhook,
        "GET",
        "orders",
        &[],
        json!({"q": "a&b", "n": 1}),
    );
    assert_eq!(
        made(&asked),
        (
            "GET http://n8n.example/webhook/orders?q=a%26b&n=1".into(),
            String::new()
        )
    );
    let varying = call(
        TriggerKind::Webhook,
        "GET",
        "w/users/:id",
        &[],
        json!({"id": "../7"}),
    );
    assert_eq!(
        made(&varying).0,
        "GET http://n8n.example/webhook/w/users/..%2F7"
    );
    let (to, body) = made(&call(
        TriggerKind::Form,
        "POST",
        "f",
        &["Name", "Age"],
        json!({"Age": 7}),
    ));
    assert_eq!(to, "POST http://n8n.example/form/f");
    assert!(body.contains("name=\"field-1\"\r\n\r\n7\r\n"), "{body}");
    let (to, body) = made(&call(
        TriggerKind::Chat,
        "POST",
        "c/chat",
        &[],
        json!({"chatInput": "hi", "sessionId": "s"}),
    ));
    assert_eq!(
        (to.as_str(), body.as_str()),
        (
            "POST http://n8n.example/webhook/c/chat",
            r#"{"action":"sendMessage","chatInput":"hi","sessionId":"s"}"#
        )
    );
    let unknown = call(
        TriggerKind::Form,
        "POST",
        "f",
        &["Name"],
        json!({"Other": 7}),
    );
    assert!(request(&base, &unknown).is_err());
    let missing = call(
        TriggerKind::Webhook,
        "GET",
        "w/users/:id",
        &[],
        json!({"id": ".."}),
    );
    assert!(request(&base, &missing).is_err());
}
