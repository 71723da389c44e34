//! How a turn ends: by its reply, by the limit of time, with the server; and that it does not end with its caller.

use super::support::{Desk, LONG, TOKEN, two};
use agentctl_sessions::SessionKey;
use serde_json::json;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;

fn slow(conversation: &str) -> serde_json::Value {
    json!({"from": {"id": "u"}, "conversation": conversation, "text": "slow work"})
}

pub fn key(conversation: &str) -> SessionKey {
    SessionKey {
        pack: "desk".to_owned(),
        tenant: "client:one".to_owned(),
        user: "u".to_owned(),
        conversation: conversation.to_owned(),
    }
}

#[tokio::test]
async fn a_turn_goes_on_when_its_caller_leaves() {
    let desk = Desk::open().await;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let text = slow("c").to_string();
    let caller = desk
        .begin("POST", "/hooks/desk", &headers, text.as_bytes())
        .await;
    desk.model.asked.acquire().await.unwrap().forget();
    drop(caller);
    desk.model.let_go.add_permits(1);
    // The turn has the conversation until it is at its end.
    let _over = desk.server.sessions.turn(&key("c"), LONG).await.unwrap();
    let kept = desk.server.sessions.messages(&key("c"), 10).await.unwrap();
    assert_eq!(kept.last().unwrap().said.text, "You said: slow work");
}

#[tokio::test]
async fn a_turn_over_its_time_is_cancelled_and_the_conversation_goes_on() {
    let desk = Desk::with(two(), |limits| limits.turn_timeout = Duration::ZERO).await;
    let got = desk.post("/hooks/desk", &slow("c")).await;
    assert_eq!(got.status, 504, "{got:?}");
    let told = got.json();
    assert_eq!(
        told["detail"],
        "the turn was cancelled: it took longer than 0 s; nothing was changed"
    );
    assert_eq!(told["done"], json!([]));
    assert_eq!(told["run_id"].as_str(), got.header("x-run-id"));
    let session = desk.server.sessions.load(&key("c")).await.unwrap();
    assert_eq!((&session.open_run, session.message_count()), (&None, 0));
    assert_eq!(session.last_run.as_deref(), got.header("x-run-id"));
}

#[tokio::test]
async fn a_server_that_ends_answers_what_is_under_way_and_takes_nothing_new() {
    let mut desk = Desk::open().await;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let text = slow("c").to_string();
    let mut caller = desk
        .begin("POST", "/hooks/desk", &headers, text.as_bytes())
        .await;
    desk.model.asked.acquire().await.unwrap().forget();
    let ended = desk.stop();
    desk.model.let_go.add_permits(1);
    let mut answer = String::new();
    caller.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    ended.await.unwrap().unwrap();
    let kept = desk.server.sessions.messages(&key("c"), 10).await.unwrap();
    assert_eq!(kept.len(), 2);
    assert!(tokio::net::TcpStream::connect(desk.address).await.is_err());
}

#[tokio::test]
async fn what_takes_longer_than_the_drain_is_cancelled() {
    let mut desk = Desk::with(two(), |limits| limits.drain = Duration::ZERO).await;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let text = slow("c").to_string();
    let caller = desk
        .begin("POST", "/hooks/desk", &headers, text.as_bytes())
        .await;
    desk.model.asked.acquire().await.unwrap().forget();
    desk.stop().await.unwrap().unwrap();
    drop(caller);
    let session = desk.server.sessions.load(&key("c")).await.unwrap();
    assert_eq!((&session.open_run, session.message_count()), (&None, 0));
    assert!(session.last_run.is_some());
}

#[tokio::test]
async fn two_turns_of_one_conversation_come_one_after_the_other() {
    let desk = Desk::open().await;
    let body = slow("c");
    let (first, second) = (
        desk.post("/hooks/desk", &body),
        desk.post("/hooks/desk", &body),
    );
    desk.model.let_go.add_permits(2);
    let (first, second) = tokio::join!(first, second);
    let mut before = [first, second].map(|got| got.json()["data"]["before"].as_u64());
    before.sort_unstable();
    assert_eq!(before, [Some(0), Some(2)]);
}

#[tokio::test]
async fn the_ninth_that_waits_for_a_conversation_is_sent_away() {
    let desk = Desk::open().await;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let text = slow("c").to_string();
    let mut callers = Vec::new();
    for _ in 0..10 {
        callers.push(
            desk.begin("POST", "/hooks/desk", &headers, text.as_bytes())
                .await,
        );
    }
    // One is under way and eight wait; the tenth is answered while they do.
    let mut answers = tokio::task::JoinSet::new();
    for mut caller in callers {
        answers.spawn(async move {
            let mut answer = String::new();
            tokio::io::AsyncReadExt::read_to_string(&mut caller, &mut answer)
                .await
                .unwrap();
            answer
        });
    }
    let refused = answers.join_next().await.unwrap().unwrap();
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    assert!(
        refused.to_lowercase().contains("retry-after: 2"),
        "{refused}"
    );
    desk.model.let_go.add_permits(9);
    while let Some(answer) = answers.join_next().await {
        let answer = answer.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}
