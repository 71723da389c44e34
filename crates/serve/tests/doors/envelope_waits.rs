//! Messages of the envelope that wait for others: how many, for how long, and what it costs the others.

use super::agents::HEADERS;
use super::envelope::{envelope, told};
use super::support::{Desk, Got, two};
use agentctl_serve::Limits;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// `turn_timeout` where a test waits for it.
const SHORT: Duration = Duration::from_millis(600);

fn after(id: &str, on: &[&str]) -> Value {
    let mut body = envelope(id, "after");
    body["metadata"]["dependencies"] = json!(on);
    body
}

/// What came of a message that another task sends.
fn sent(desk: &Arc<Desk>, body: Value) -> JoinHandle<Got> {
    let desk = Arc::clone(desk);
    tokio::spawn(async move { super::envelope::post(&desk, &body).await })
}

/// Until so many do.
async fn stands(desk: &Desk, what: &str, count: usize) {
    loop {
        let status = desk.get("/a2a/status").await.json();
        if status[what] == count {
            return;
        }
    }
}

/// A desk with a message under way that ends when the test lets it.
async fn busy() -> (Arc<Desk>, JoinHandle<Got>) {
    let desk = Arc::new(Desk::open().await);
    let slow = sent(&desk, envelope("m-0", "slow"));
    desk.model.asked.acquire().await.unwrap().forget();
    (desk, slow)
}

fn reason(got: &Got) -> Value {
    got.json()["payload"]["reason"].clone()
}

#[tokio::test]
async fn a_chain_that_is_sent_at_once_comes_to_its_end_one_after_the_other() {
    let (desk, slow) = busy().await;
    let mut chain = Vec::new();
    for n in 1..=5 {
        let on = format!("m-{}", n - 1);
        chain.push(sent(&desk, after(&format!("m-{n}"), &[&on])));
        stands(&desk, "waiting", n).await;
    }
    desk.model.let_go.add_permits(1);
    assert_eq!(slow.await.unwrap().json()["type"], "response:results");
    let mut last = Value::Null;
    for one in chain {
        last = one.await.unwrap().json();
        assert_eq!(last["type"], "response:results", "{last}");
    }
    stands(&desk, "waiting", 0).await;
    let again = told(&desk, &after("m-5", &["m-4"]), "response:results").await;
    assert_eq!(last["payload"], again);
}

#[tokio::test]
async fn those_that_wait_for_ever_are_so_many_and_the_others_are_served() {
    let (desk, slow) = busy().await;
    let mut all = Vec::new();
    for n in 0..32 {
        all.push(sent(&desk, after(&format!("w-{n}"), &["m-0"])));
    }
    stands(&desk, "waiting", 32).await;
    let refused = sent(&desk, after("w-32", &["m-0"])).await.unwrap();
    assert_eq!((refused.status, reason(&refused)), (503, json!("busy")));
    assert_eq!(refused.json()["payload"]["retryable"], true);
    assert_eq!(refused.header("retry-after"), Some("5"));
    // What depends on nothing, and another client's that does, have places of their own.
    told(&desk, &envelope("m-1", "hello"), "response:results").await;
    let theirs = [("authorization", "Basic ZGVtbzpkZW1v")];
    for body in [envelope("t-1", "hello"), after("t-2", &["t-1"])] {
        let got = desk.post_as(&theirs, "/a2a/message", &body).await;
        assert_eq!(got.json()["type"], "response:results", "{}", got.text);
    }
    desk.model.let_go.add_permits(1);
    for one in all {
        let got = one.await.unwrap();
        assert_eq!(got.json()["type"], "response:results", "{}", got.text);
    }
    slow.await.unwrap();
    told(&desk, &after("w-32", &["m-0"]), "response:results").await;
}

#[tokio::test]
async fn nothing_waits_longer_than_a_turn_may_take() {
    let limits = |limits: &mut Limits| (limits.turns, limits.turn_timeout) = (1, SHORT);
    let desk = Arc::new(Desk::with(two(), limits).await);
    // One place: the third begins when the two before it were cut off.
    let turns = ["m-0", "m-1", "m-2"].map(|id| sent(&desk, envelope(id, "slow")));
    stands(&desk, "under_way", 3).await;
    let late = sent(&desk, after("d-1", &["m-2"])).await.unwrap();
    assert_eq!((late.status, reason(&late)), (503, json!("busy")));
    assert!(late.text.contains("nothing was done"), "{}", late.text);
    for turn in turns {
        assert_eq!(reason(&turn.await.unwrap()), "canceled");
    }
    stands(&desk, "waiting", 0).await;
}

#[tokio::test]
async fn a_deadline_counts_while_a_message_waits() {
    let (desk, slow) = busy().await;
    let mut soon = after("d-1", &["m-0"]);
    let deadline = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(2);
    soon["payload"]["deadline"] = json!(deadline.to_string());
    let told = sent(&desk, soon).await.unwrap();
    assert_eq!(reason(&told), "deadline_passed", "{}", told.text);
    assert!(told.text.contains("nothing was done"), "{}", told.text);
    stands(&desk, "waiting", 0).await;
    desk.model.let_go.add_permits(1);
    slow.await.unwrap();
}

#[tokio::test]
async fn who_hangs_up_takes_a_waiting_message_back() {
    let (desk, slow) = busy().await;
    let body = after("h-1", &["m-0"]).to_string();
    let headers = [HEADERS[0], ("content-type", "application/json")];
    let stream = desk
        .begin("POST", "/a2a/message", &headers, body.as_bytes())
        .await;
    stands(&desk, "waiting", 1).await;
    drop(stream);
    stands(&desk, "waiting", 0).await;
    desk.model.let_go.add_permits(1);
    slow.await.unwrap();
    let other = told(&desk, &after("h-2", &["h-1"]), "response:error").await;
    assert_eq!(other["reason"], "unknown_dependency");
}

#[tokio::test]
async fn what_goes_along_with_a_message_has_an_end() {
    let desk = Desk::open().await;
    let twice = told(&desk, &after("m-1", &["m-0", "m-0"]), "response:error").await;
    assert_eq!(twice["reason"], "invalid_message");
    // Each as long as a message may be, in letters of four bytes.
    let large = "\u{1f98a}".repeat(19_000);
    let all: Vec<String> = (0..15).map(|n| format!("l-{n}")).collect();
    for id in &all {
        told(&desk, &envelope(id, &large), "response:results").await;
    }
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    told(&desk, &after("m-2", &all[..12]), "response:results").await;
    let more = told(&desk, &after("m-3", &all), "response:error").await;
    assert_eq!(more["reason"], "too_large", "{more}");
}
