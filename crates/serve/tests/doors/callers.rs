//! Who may come in, for whom, and how often.

use super::support::{Desk, OTHER, TOKEN, client, may, two};
use agentctl_serve::{How, May, Rate};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn body() -> Value {
    json!({"from": {"id": "u"}, "conversation": "c", "tenant": "t", "text": "hello"})
}

#[tokio::test]
async fn without_a_secret_nobody_comes_in_and_is_told_how_to() {
    let desk = Desk::open().await;
    let none = desk.post_as(&[], "/hooks/desk", &body()).await;
    assert_eq!(none.status, 401);
    let ways: Vec<&str> = none
        .head
        .lines()
        .filter(|line| line.starts_with("www-authenticate"))
        .collect();
    assert_eq!(
        ways,
        [
            "www-authenticate: basic realm=\"agentctl\", charset=\"utf-8\"",
            "www-authenticate: bearer realm=\"agentctl\""
        ]
    );
    let basic = ("authorization", "Basic ZGVtbzpkZW1v");
    assert_eq!(
        desk.post_as(&[basic], "/hooks/desk", &body()).await.status,
        200
    );
    let wrong = ("authorization", "Basic ZGVtbzpkZW1p");
    assert_eq!(
        desk.post_as(&[wrong], "/hooks/desk", &body()).await.status,
        401
    );
    let bearer = format!("Bearer {TOKEN}");
    let both = [basic, ("authorization", bearer.as_str())];
    assert_eq!(
        desk.post_as(&both, "/hooks/desk", &body()).await.status,
        401
    );
    // Who comes in learns no more of what is not there than who may not.
    assert_eq!(desk.post_as(&[], "/hooks/none", &body()).await.status, 401);
}

#[tokio::test]
async fn a_page_calls_only_where_a_client_names_it() {
    let mut clients = two();
    clients[0].origins = vec!["https://chat.example".to_owned()];
    let desk = Desk::with(clients, |_| {}).await;
    let bearer = format!("Bearer {TOKEN}");
    let auth = ("authorization", bearer.as_str());
    let named = [auth, ("origin", "https://chat.example")];
    let got = desk.post_as(&named, "/hooks/desk", &body()).await;
    let allowed = "access-control-allow-origin";
    assert_eq!(
        (got.status, got.header(allowed)),
        (200, Some("https://chat.example"))
    );
    for origin in [
        "https://evil.example",
        "null",
        "https://chat.example.evil",
        "http://chat.example",
    ] {
        let other = [auth, ("origin", origin)];
        let got = desk.post_as(&other, "/hooks/desk", &body()).await;
        assert_eq!((got.status, got.header(allowed)), (403, None), "{origin}");
        let before = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
        ];
        let got = desk.ask("OPTIONS", "/hooks/desk", &before, b"").await;
        assert_eq!((got.status, got.header(allowed)), (405, None), "{origin}");
    }
    // Another client's page is not this client's.
    let basic = ("authorization", "Basic ZGVtbzpkZW1v");
    let got = desk
        .post_as(&[basic, named[1]], "/hooks/desk", &body())
        .await;
    assert_eq!(got.status, 403);
    let got = desk.ask("OPTIONS", "/hooks/desk", &[named[1]], b"").await;
    assert_eq!(
        (got.status, got.header(allowed)),
        (204, Some("https://chat.example"))
    );
    let headers = got.header("access-control-allow-headers").unwrap();
    for header in [
        "authorization",
        "idempotency-key",
        "prefer",
        "traceparent",
        "x-session-id",
    ] {
        assert!(headers.contains(header), "{header}: {headers}");
    }
    let shown = got.header("access-control-expose-headers").unwrap();
    assert!(
        shown.contains("location") && shown.contains("x-run-id"),
        "{shown}"
    );
}

#[tokio::test]
async fn only_a_request_for_this_server_is_taken() {
    let desk = Desk::open().await;
    let port = desk.address.port();
    let bearer = format!("Bearer {TOKEN}");
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        String::new(),
    ] {
        let headers = [("host", host.as_str()), ("authorization", bearer.as_str())];
        assert_eq!(
            desk.post_as(&headers, "/hooks/desk", &body()).await.status,
            421,
            "{host}"
        );
    }
}

#[tokio::test]
async fn two_clients_with_one_tenant_user_and_conversation_share_nothing() {
    let desk = Desk::open().await;
    let one = desk.post("/hooks/desk", &body()).await;
    let basic = [("authorization", "Basic ZGVtbzpkZW1v")];
    let two = desk.post_as(&basic, "/hooks/desk", &body()).await;
    assert_ne!(one.header("x-session-id"), two.header("x-session-id"));
    assert_eq!(two.json()["data"]["before"], 0);
}

#[tokio::test]
async fn clients_of_one_tenant_share_its_conversations_and_reach_no_others() {
    let mut clients = two();
    for client in &mut clients {
        client.tenants = Some(vec!["t".to_owned()]);
    }
    let desk = Desk::with(clients, |_| {}).await;
    let one = desk.post("/hooks/desk", &body()).await;
    let basic = [("authorization", "Basic ZGVtbzpkZW1v")];
    let two = desk.post_as(&basic, "/hooks/desk", &body()).await;
    assert_eq!(one.header("x-session-id"), two.header("x-session-id"));
    for tenant in ["t2", "client:two", "client:one:t"] {
        let mut other = body();
        other["tenant"] = json!(tenant);
        let got = desk.post("/hooks/desk", &other).await;
        assert_eq!(got.status, 403, "{tenant}");
        assert_eq!(got.json()["client"], Value::Null);
    }
}

#[tokio::test]
async fn a_client_does_what_it_may_with_the_packs_it_reaches() {
    let mut reader = client("reader", How::bearer(TOKEN));
    reader.may = may(&[May::Read]);
    let mut stranger = client("stranger", How::bearer(OTHER));
    stranger.packs = Some(BTreeSet::new());
    let desk = Desk::with(vec![reader, stranger], |_| {}).await;
    let got = desk.post("/hooks/desk", &body()).await;
    assert_eq!(got.status, 403);
    assert_eq!(got.json()["detail"], "the client \"reader\" may not turn");
    let other = format!("Bearer {OTHER}");
    let auth = [("authorization", other.as_str())];
    assert_eq!(
        desk.post_as(&auth, "/hooks/desk", &body()).await.status,
        404
    );
    let models = desk.ask("GET", "/v1/models", &auth, b"").await;
    assert_eq!(models.json()["data"], json!([]));
}

#[tokio::test]
async fn who_asks_too_often_waits_and_the_others_do_not() {
    let mut clients = two();
    clients[0].rate = Rate::new(2);
    let desk = Desk::with(clients, |_| {}).await;
    assert_eq!(desk.get("/v1/models").await.status, 200);
    assert_eq!(desk.get("/v1/models").await.status, 200);
    let third = desk.get("/v1/models").await;
    assert_eq!(third.status, 429);
    assert!(third.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    let basic = [("authorization", "Basic ZGVtbzpkZW1v")];
    assert_eq!(desk.ask("GET", "/v1/models", &basic, b"").await.status, 200);
}
