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
async fn a_turn_over_its_time_does_not_wait_for_a_call_that_never_answers() {
    let desk = Desk::with(two(), |limits| limits.turn_timeout = Duration::from_secs(1)).await;
    let mut body = slow("c");
    body["text"] = json!("mail");
    let got = tokio::time::timeout(LONG, desk.post("/hooks/desk", &body)).await;
    let got = got.unwrap();
    assert_eq!(got.status, 504, "{got:?}");
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

fn bearing(bearer: &str) -> [(&str, &str); 2] {
    [
        ("authorization", bearer),
        ("content-type", "application/json"),
    ]
}

#[tokio::test]
async fn what_waits_is_not_begun_any_more_and_who_comes_while_the_server_ends_is_told() {
    let mut desk = Desk::open().await;
    let bearer = format!("Bearer {TOKEN}");
    let text = slow("c").to_string();
    let headers = bearing(&bearer);
    let mut first = desk
        .begin("POST", "/hooks/desk", &headers, text.as_bytes())
        .await;
    desk.model.asked.acquire().await.unwrap().forget();
    let mut waits = desk
        .begin("POST", "/hooks/desk", &headers, text.as_bytes())
        .await;
    while desk.server.turns_under_way() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let ended = desk.stop();
    let mut answer = String::new();
    waits.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("nothing was done"), "{answer}");
    let late = desk.post("/hooks/desk", &slow("d")).await;
    assert_eq!(late.status, 503, "{late:?}");
    assert_eq!(late.header("retry-after"), Some("5"));
    assert_eq!(desk.get("/readyz").await.status, 503);
    desk.model.let_go.add_permits(9);
    let mut answer = String::new();
    first.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    ended.await.unwrap().unwrap();
    // The model was asked for the first alone.
    assert_eq!(desk.model.asked.available_permits(), 0);
    let kept = desk.server.sessions.messages(&key("c"), 10).await.unwrap();
    assert_eq!(kept.len(), 2);
}

#[tokio::test]
async fn a_reader_of_a_run_that_rests_does_not_hold_the_end_up() {
    let mut desk = Desk::open().await;
    let asked = desk
        .post(
            "/hooks/desk",
            &json!({"from": {"id": "u"}, "conversation": "c", "text": "which"}),
        )
        .await;
    assert_eq!(asked.json()["expects"], "answer", "{asked:?}");
    let run = asked.header("x-run-id").unwrap();
    let bearer = format!("Bearer {TOKEN}");
    let path = format!("/runs/{run}/events");
    let mut reader = desk
        .begin("GET", &path, &[("authorization", &bearer)], b"")
        .await;
    let mut some = [0; 16];
    reader.read_exact(&mut some).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(5), desk.stop()).await;
    ended.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn messages_of_one_conversation_are_taken_in_the_order_in_which_they_came() {
    let desk = Desk::open().await;
    let bearer = format!("Bearer {TOKEN}");
    let mut callers = Vec::new();
    for number in 0..9 {
        let text =
            json!({"from": {"id": "u"}, "conversation": "c", "text": format!("slow {number}")});
        let headers = bearing(&bearer);
        callers.push(
            desk.begin("POST", "/hooks/desk", &headers, text.to_string().as_bytes())
                .await,
        );
        while desk.server.turns_under_way() < callers.len() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    desk.model.let_go.add_permits(9);
    for mut caller in callers {
        let mut answer = String::new();
        caller.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    let kept = desk.server.sessions.messages(&key("c"), 20).await.unwrap();
    let said: Vec<String> = kept
        .iter()
        .filter_map(|m| m.said.text.strip_prefix("slow ").map(str::to_owned))
        .collect();
    assert_eq!(said, (0..9).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_stream_names_its_run_and_what_does_not_begin_is_no_stream() {
    let desk = Desk::open().await;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("accept", "text/event-stream"),
    ];
    let said = |text: &str| json!({"sessionId": "s", "chatInput": text});
    let got = desk.post_as(&headers, "/chat/desk", &said("hello")).await;
    let run = got.header("x-run-id").unwrap().to_owned();
    assert!(got.text.contains(&run), "{got:?}");
    assert!(got.header("x-session-id").is_some());
    let long = desk
        .post_as(&headers, "/chat/desk", &said(&"x".repeat(20_001)))
        .await;
    assert_eq!(long.status, 413, "{long:?}");
    let body = json!({"model": "desk", "stream": true, "messages": [{"role": "user", "content": "hello"}]});
    let got = desk.post("/v1/chat/completions", &body).await;
    let run = got.header("x-run-id").unwrap().to_owned();
    assert!(got.text.contains(&run), "{got:?}");
}

#[tokio::test]
async fn a_caller_that_leaves_stands_in_the_log_and_so_does_its_turns_end() {
    let desk = Desk::open().await;
    let bearer = format!("Bearer {TOKEN}");
    let text = slow("c").to_string();
    let caller = desk
        .begin("POST", "/hooks/desk", &bearing(&bearer), text.as_bytes())
        .await;
    desk.model.asked.acquire().await.unwrap().forget();
    drop(caller);
    let line = |part: &str| {
        let log = desk.log.lock().unwrap();
        log.iter().find(|line| line.contains(part)).cloned()
    };
    while line("499").is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(line("499").unwrap().contains("\"client\":\"one\""));
    desk.model.let_go.add_permits(1);
    while line("unheard").is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let told = line("unheard").unwrap();
    assert!(told.contains("\"outcome\":\"complete\""), "{told}");
}

#[tokio::test]
async fn a_widget_that_is_opened_again_is_shown_what_waits_for_its_user() {
    let desk = Desk::open().await;
    let said = json!({"sessionId": "s", "chatInput": "which"});
    let got = desk.post("/chat/desk", &said).await.json();
    assert_eq!(got["expects"], "answer", "{got}");
    let previous = json!({"sessionId": "s", "action": "loadPreviousSession"});
    let shown = desk.post("/chat/desk", &previous).await.json();
    let texts: Vec<&str> = (shown["data"].as_array().unwrap().iter())
        .map(|one| one["kwargs"]["content"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["which", "Which colour?\n- Red\n- Blue"]);
    let answer = json!({"sessionId": "s", "chatInput": "Red"});
    desk.post("/chat/desk", &answer).await;
    let shown = desk.post("/chat/desk", &previous).await.json();
    let texts: Vec<&str> = (shown["data"].as_array().unwrap().iter())
        .map(|one| one["kwargs"]["content"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["which", "Which colour?", "red", "You said: which"]);
}
