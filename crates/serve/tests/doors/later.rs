//! Callers that need not wait: told where the reply will be, and given it there.

use super::ends::key;
use super::support::{Desk, Got, LONG, TOKEN};
use serde_json::{Value, json};

fn body(text: &str) -> Value {
    json!({"from": {"id": "u"}, "conversation": "c", "text": text})
}

async fn later(desk: &Desk, more: &[(&str, &str)], body: &Value) -> Got {
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("prefer", "respond-async"),
    ];
    desk.post_as(&[&headers[..], more].concat(), "/hooks/desk", body)
        .await
}

#[tokio::test]
async fn a_caller_that_need_not_wait_is_told_where_the_reply_will_be() {
    let desk = Desk::open().await;
    let got = later(&desk, &[], &body("slow work")).await;
    assert_eq!(got.status, 202, "{got:?}");
    let run = got.header("x-run-id").unwrap();
    let place = got.header("location").unwrap();
    assert_eq!(place, format!("/runs/{run}"));
    assert_eq!(got.json()["status"], "running");
    assert_eq!(desk.get(place).await.json()["status"], "running");
    desk.model.let_go.add_permits(1);
    let _over = desk.server.sessions.turn(&key("c"), LONG).await.unwrap();
    let shown = desk.get(place).await.json();
    assert_eq!(
        (&shown["status"], &shown["outcome"]),
        (&json!("ended"), &json!("complete"))
    );
    assert_eq!(shown["messages"][0]["text"], "You said: slow work");
}

#[tokio::test]
async fn sent_again_it_is_answered_with_what_came_of_it() {
    let desk = Desk::open().await;
    let name = [("idempotency-key", "k")];
    let got = later(&desk, &name, &body("slow work")).await;
    assert_eq!(got.status, 202, "{got:?}");
    desk.model.let_go.add_permits(1);
    let again = later(&desk, &name, &body("slow work")).await;
    assert_eq!(again.status, 200, "{again:?}");
    assert_eq!(again.header("x-run-id"), got.header("x-run-id"));
    assert_eq!(again.json()["output"], "You said: slow work");
}

#[tokio::test]
async fn what_is_refused_before_it_begins_is_the_answer() {
    let desk = Desk::open().await;
    let wrong = later(&desk, &[], &json!({})).await;
    assert_eq!(wrong.status, 422, "{wrong:?}");
}
