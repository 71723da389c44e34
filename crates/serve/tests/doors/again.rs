//! Requests that are sent again, and what is asked of a turn after its reply.

use super::ends::key;
use super::letters::LOST;
use super::support::{Desk, Got, MANIFEST, OTHER, TOKEN, client, may, two};
use agentctl_base::question::Outcome;
use agentctl_engine::run::{Cancel, Unobserved};
use agentctl_serve::{How, May, Settled};
use agentctl_turns::{self as turns, Host, Submit};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

fn body(text: &str) -> Value {
    json!({"from": {"id": "u"}, "conversation": "c", "text": text})
}

async fn with_key(desk: &Desk, key: &str, body: &Value) -> Got {
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("authorization", bearer.as_str()), ("idempotency-key", key)];
    desk.post_as(&headers, "/hooks/desk", body).await
}

/// What tells one answer from another.
fn of(got: &Got) -> (u16, &str, Option<&str>) {
    (got.status, &got.text, got.header("x-run-id"))
}

#[tokio::test]
async fn the_same_request_again_is_the_same_answer_and_another_is_refused() {
    let desk = Desk::open().await;
    let first = with_key(&desk, "k", &body("hello")).await;
    let again = with_key(&desk, "k", &body("hello")).await;
    assert_eq!(first.status, 200);
    assert_eq!(of(&first), of(&again));
    let other = with_key(&desk, "k", &body("bye")).await;
    assert_eq!(other.status, 422, "{other:?}");
    let next = with_key(&desk, "k2", &body("hello")).await;
    assert_eq!(next.json()["data"]["before"], 2);
    // What a caller's own id is worth: the same.
    let named = json!({"from": {"id": "u"}, "conversation": "c2", "text": "hello", "id": 7});
    let (one, two) = (
        desk.post("/hooks/desk", &named).await,
        desk.post("/hooks/desk", &named).await,
    );
    assert_eq!(of(&one), of(&two));
    // A request that did nothing may come again.
    let wrong = with_key(&desk, "k3", &json!({})).await;
    assert_eq!(wrong.status, 422);
    assert_eq!(with_key(&desk, "k3", &body("hello")).await.status, 200);
}

#[tokio::test]
async fn an_answer_that_comes_again_is_taken_once_wherever_its_process_ended() {
    let desk = Desk::open().await;
    let asked = desk.post("/hooks/desk", &body("which")).await;
    let run = asked.header("x-run-id").unwrap();
    let (pack, sessions, cancel) = (
        &desk.server.packs["desk"],
        &desk.server.sessions,
        Cancel::default(),
    );
    let host = Host {
        project: &pack.project,
        pack: &pack.pack,
        gateway: &pack.gateway,
        models: &*pack.models,
        effects: &*pack.effects,
        cancel: &cancel,
        sessions: &**sessions,
        limits: pack.limits.clone(),
        wait: Duration::from_secs(5),
    };
    let submit = Submit {
        message: Some("red".to_owned()),
        request: Some("r".to_owned()),
        ..Submit::default()
    };
    let now = pack.effects.now().as_millisecond();
    sessions.claim("r", "b", now).await.unwrap();
    // Before the run had the answer: it is given now. After that: it is told as it came out.
    sessions.goes_on_with("r", run).await.unwrap();
    for _ in 0..2 {
        let reply = turns::again(&host, &key("c"), run, &submit, &mut Unobserved).await;
        assert_eq!(reply.unwrap().unwrap().outcome, Outcome::Complete);
    }
    // By a process that waited for the conversation meanwhile, too.
    let reply = turns::turn(&host, &key("c"), &submit, &mut Unobserved).await;
    assert_eq!(reply.unwrap().run_id, run);
    // One that takes an answer notes it itself.
    let asked = desk.post("/hooks/desk", &body("which")).await;
    let run = asked.header("x-run-id").unwrap();
    let submit = Submit {
        request: Some("s".to_owned()),
        ..submit
    };
    sessions.claim("s", "b", now).await.unwrap();
    for _ in 0..2 {
        let reply = turns::turn(&host, &key("c"), &submit, &mut Unobserved).await;
        assert_eq!(reply.unwrap().run_id, run);
    }
    let kept = sessions.messages(&key("c"), 20).await.unwrap();
    let kept: Vec<&str> = kept.iter().map(|m| m.said.text.as_str()).collect();
    let once = ["which", "Which colour?", "red", "You said: which"];
    assert_eq!(kept, [once, once].concat());
}

#[tokio::test]
async fn another_callers_key_is_another_request() {
    let desk = Desk::open().await;
    let first = with_key(&desk, "k", &body("hello")).await;
    let basic = [
        ("authorization", "Basic ZGVtbzpkZW1v"),
        ("idempotency-key", "k"),
    ];
    let other = desk.post_as(&basic, "/hooks/desk", &body("bye")).await;
    assert_eq!(other.json()["output"], "You said: bye");
    assert_ne!(first.header("x-run-id"), other.header("x-run-id"));
}

#[tokio::test]
async fn the_same_request_at_once_is_one() {
    let desk = Desk::open().await;
    desk.model.let_go.add_permits(5);
    let body = body("slow hello");
    let all = (0..5).map(|_| with_key(&desk, "k", &body));
    let [a, b, c, d, e] = <[_; 5]>::try_from(all.collect::<Vec<_>>()).ok().unwrap();
    let got = tokio::join!(a, b, c, d, e);
    for other in [&got.1, &got.2, &got.3, &got.4] {
        assert_eq!(of(&got.0), of(other));
    }
    assert_eq!(got.0.status, 200);
    assert_eq!(desk.model.asked.available_permits(), 1);
}

/// A server that is gone at once in the middle of a turn, and the one after it in the same folder.
fn killed(manifest: &'static str, settle: bool) -> (Runtime, Desk, Vec<(String, Settled)>) {
    killed_in("slow hello", manifest, settle)
}

/// The same of a turn with this message: killed while the model is asked, or a letter sent.
fn killed_in(
    message: &'static str,
    manifest: &'static str,
    settle: bool,
) -> (Runtime, Desk, Vec<(String, Settled)>) {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let first = Runtime::new().unwrap();
    first.block_on(async {
        let desk = Desk::of(manifest, Arc::clone(&folder), two(), |_| {}).await;
        let bearer = format!("Bearer {TOKEN}");
        let text = body(message).to_string();
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", "k"),
        ];
        let caller = desk
            .begin("POST", "/hooks/desk", &headers, text.as_bytes())
            .await;
        match message {
            LOST => {
                while desk.sent.lock().unwrap().is_empty() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            _ => desk.model.asked.acquire().await.unwrap().forget(),
        }
        drop(caller);
    });
    // Every task ends where it waits, as with the process.
    first.shutdown_background();
    let second = Runtime::new().unwrap();
    let (desk, settled) = second.block_on(async {
        let desk = Desk::of(manifest, folder, two(), |_| {}).await;
        // Who goes on with a turn asks the model again.
        desk.model
            .let_go
            .add_permits(usize::from(manifest != MANIFEST));
        let settled = match settle {
            true => desk.server.settle().await.unwrap(),
            false => Vec::new(),
        };
        (desk, settled)
    });
    (second, desk, settled)
}

#[test]
fn a_change_of_which_nobody_saw_what_became_is_told_and_not_called_nothing() {
    let (runtime, desk, _) = killed_in(LOST, MANIFEST, true);
    runtime.block_on(async {
        let got = with_key(&desk, "k", &body(LOST)).await;
        assert_eq!(got.status, 409, "{got:?}");
        let told = got.json();
        assert_eq!(
            told["detail"],
            "the server ended before the turn did; whether send_letter took effect was not seen: look there before you send it again"
        );
        assert_eq!(
            (&told["done"], &told["unsure"]),
            (&json!([]), &json!(["send_letter"]))
        );
        let run = format!("/runs/{}", told["run_id"].as_str().unwrap());
        let shown = desk.get(&run).await;
        assert_eq!(shown.json()["unsure"], json!(["send_letter"]), "{shown:?}");
        assert_eq!(shown.header("x-run-id"), told["run_id"].as_str());
        // It is not sent again by itself.
        assert_eq!(*desk.sent.lock().unwrap(), [""; 0]);
    });
}

#[test]
fn a_turn_that_was_cut_off_is_finished_when_it_is_sent_again() {
    let (runtime, desk, _) = killed(MANIFEST, false);
    runtime.block_on(async {
        desk.model.let_go.add_permits(1);
        let got = with_key(&desk, "k", &body("slow hello")).await;
        assert_eq!(got.json()["output"], "You said: slow hello");
        assert_eq!(
            of(&with_key(&desk, "k", &body("slow hello")).await),
            of(&got)
        );
        let next = with_key(&desk, "k2", &body("hello")).await;
        assert_eq!(next.json()["data"]["before"], 2);
    });
}

#[test]
fn a_turn_that_was_cut_off_is_settled_and_then_answered_as_cancelled() {
    let (runtime, desk, settled) = killed(MANIFEST, true);
    let [(_, Settled::Ended(reply))] = settled.as_slice() else {
        panic!("{settled:?}");
    };
    assert_eq!(reply.outcome.name(), "cancelled");
    runtime.block_on(async {
        let got = with_key(&desk, "k", &body("slow hello")).await;
        assert_eq!(got.status, 409, "{got:?}");
        assert_eq!(got.header("x-run-id"), Some(reply.run_id.as_str()));
        assert_eq!(got.json()["done"], json!([]));
        let next = with_key(&desk, "k2", &body("hello")).await;
        assert_eq!(next.json()["data"]["before"], 0);
        assert_eq!(desk.server.settle().await.unwrap(), Vec::new());
    });
}

const FINISHES: &str = "name: desk
title: Repeats what is said
channels:
  webhook:
    input: {chatInput: body.text, userId: body.from.id, sessionId: body.conversation}
    message: chatInput
    session: {user: userId, conversation: sessionId}
  on_restart: finish
";

#[test]
fn a_turn_that_was_cut_off_is_finished_at_the_start_where_its_pack_says_so() {
    let (runtime, desk, settled) = killed(FINISHES, true);
    let [(_, Settled::Ended(reply))] = settled.as_slice() else {
        panic!("{settled:?}");
    };
    assert_eq!(reply.outcome.name(), "complete");
    assert_eq!(reply.messages[0].text, "You said: slow hello");
    runtime.block_on(async {
        let got = with_key(&desk, "k", &body("slow hello")).await;
        assert_eq!(got.json()["output"], "You said: slow hello");
        assert_eq!(got.header("x-run-id"), Some(reply.run_id.as_str()));
        let next = with_key(&desk, "k2", &body("hello")).await;
        assert_eq!(next.json()["data"]["before"], 2);
    });
}

#[tokio::test]
async fn a_run_is_seen_by_its_client_alone() {
    let mut clients = two();
    clients.push(client("three", How::bearer(OTHER)));
    let desk = Desk::with(clients, |_| {}).await;
    let got = desk.post("/hooks/desk", &body("hello")).await;
    let run = got.header("x-run-id").unwrap();
    let shown = desk.get(&format!("/runs/{run}")).await.json();
    assert_eq!(
        (&shown["status"], &shown["outcome"]),
        (&json!("ended"), &json!("complete"))
    );
    assert_eq!(shown["session_id"].as_str(), got.header("x-session-id"));
    let session = got.header("x-session-id").unwrap();
    let other = format!("Bearer {OTHER}");
    let auth = [("authorization", other.as_str())];
    let none = desk.get("/runs/20260101-000000-none").await;
    for path in [
        format!("/runs/{run}"),
        format!("/runs/{run}/events"),
        format!("/sessions/{session}"),
    ] {
        let got = desk.ask("GET", &path, &auth, b"").await;
        assert_eq!(got.status, 404, "{path}");
        assert_eq!(got.header("content-type"), none.header("content-type"));
    }
    for path in [
        format!("/runs/{run}/cancel"),
        format!("/runs/{run}/answers"),
    ] {
        assert_eq!(
            desk.post_as(&auth, &path, &json!({"a": 1})).await.status,
            404,
            "{path}"
        );
    }
    let gone = desk
        .ask("DELETE", &format!("/sessions/{session}"), &auth, b"")
        .await;
    assert_eq!(gone.status, 404);
    let foreign = desk.ask("GET", &format!("/runs/{run}"), &auth, b"").await;
    assert_eq!(foreign.text, none.text.replace("20260101-000000-none", run));
}

#[tokio::test]
async fn the_events_of_a_run_go_on_from_where_a_reader_was() {
    let desk = Desk::open().await;
    let run = desk.post("/hooks/desk", &body("hello")).await;
    let run = run.header("x-run-id").unwrap().to_owned();
    let all = desk.get(&format!("/runs/{run}/events?view=all")).await;
    let ids = |got: &Got| -> Vec<u64> {
        let lines = got.text.lines();
        lines
            .filter_map(|l| l.strip_prefix("id: ")?.parse().ok())
            .collect()
    };
    let seen = ids(&all);
    assert!(
        seen.len() > 4 && seen.windows(2).all(|w| w[0] + 1 == w[1]),
        "{seen:?}"
    );
    let bearer = format!("Bearer {TOKEN}");
    let after = ("last-event-id", "3");
    let path = format!("/runs/{run}/events?view=all");
    let rest = desk
        .ask("GET", &path, &[("authorization", &bearer), after], b"")
        .await;
    assert_eq!(ids(&rest), seen[3..]);
    let user = desk.get(&format!("/runs/{run}/events")).await;
    let events: Vec<Value> = user
        .events()
        .iter()
        .map(|e| serde_json::from_str(e).unwrap())
        .collect();
    assert_eq!(
        events[0],
        json!({"text": "You said: hello", "data": {"before": 0}})
    );
    assert_eq!(events[1], json!({"outcome": "complete", "message": ""}));
    assert_eq!(
        desk.get(&format!("/runs/{run}/events?view=none"))
            .await
            .status,
        400
    );
}

#[tokio::test]
async fn a_reader_sees_a_turn_as_it_goes_and_may_leave() {
    let desk = Desk::open().await;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let text = body("slow hello").to_string();
    let caller = desk
        .begin("POST", "/hooks/desk", &headers, text.as_bytes())
        .await;
    desk.model.asked.acquire().await.unwrap().forget();
    let session = super::ends::key("c");
    let run = desk
        .server
        .sessions
        .load(&session)
        .await
        .unwrap()
        .open_run
        .unwrap();
    let shown = desk.get(&format!("/runs/{run}")).await.json();
    assert_eq!(shown["status"], "running");
    let never = desk
        .begin("GET", &format!("/runs/{run}/events"), &headers, b"")
        .await;
    let path = format!("/runs/{run}/events");
    let auth = [headers[0]];
    let reader = desk.ask("GET", &path, &auth, b"");
    desk.model.let_go.add_permits(1);
    let told = reader.await;
    assert!(told.text.contains("You said: slow hello"), "{told:?}");
    drop((caller, never));
}

#[tokio::test]
async fn a_waiting_question_is_answered_at_its_own_door() {
    let desk = Desk::open().await;
    let asked = desk.post("/hooks/desk", &body("which")).await;
    let run = asked.header("x-run-id").unwrap().to_owned();
    let shown = desk.get(&format!("/runs/{run}")).await.json();
    assert_eq!(
        (&shown["status"], &shown["expects"]),
        (&json!("waiting"), &json!("answer"))
    );
    let path = format!("/runs/{run}/answers");
    assert_eq!(desk.post(&path, &json!({"size": "red"})).await.status, 409);
    assert_eq!(
        desk.post(&path, &json!({"colour": "green"})).await.status,
        409
    );
    assert_eq!(desk.post(&path, &json!({})).await.status, 400);
    // A question is no approval.
    let approval = desk
        .post(
            &format!("/runs/{run}/approvals/colour"),
            &json!({"approve": true}),
        )
        .await;
    assert_eq!(approval.status, 403);
    let got = desk.post(&path, &json!({"colour": "red"})).await;
    assert_eq!(got.json()["output"], "You said: which");
    assert_eq!(
        desk.post(&path, &json!({"colour": "red"})).await.status,
        409
    );
}

#[tokio::test]
async fn a_run_is_cancelled_by_who_may() {
    let mut weak = client("weak", How::basic("demo", "demo"));
    weak.may = may(&[May::Turn, May::Read]);
    weak.tenants = Some(vec!["t".to_owned()]);
    let mut strong = client("strong", How::bearer(TOKEN));
    strong.tenants = Some(vec!["t".to_owned()]);
    let desk = Desk::with(vec![strong, weak], |_| {}).await;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let text = json!({"from": {"id": "u"}, "tenant": "t", "conversation": "c", "text": "slow"})
        .to_string();
    let mut caller = desk
        .begin("POST", "/hooks/desk", &headers, text.as_bytes())
        .await;
    desk.model.asked.acquire().await.unwrap().forget();
    let key = agentctl_sessions::SessionKey {
        tenant: "t".to_owned(),
        ..super::ends::key("c")
    };
    let run = desk
        .server
        .sessions
        .load(&key)
        .await
        .unwrap()
        .open_run
        .unwrap();
    let path = format!("/runs/{run}/cancel");
    let basic = [("authorization", "Basic ZGVtbzpkZW1v")];
    assert_eq!(desk.post_as(&basic, &path, &json!({})).await.status, 403);
    assert_eq!(desk.post(&path, &json!({})).await.status, 202);
    let mut answer = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut caller, &mut answer)
        .await
        .unwrap();
    assert!(answer.starts_with("HTTP/1.1 409 "), "{answer}");
    assert!(
        answer.contains("a client cancelled it; nothing was changed"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_conversation_is_shown_and_erased_with_its_runs() {
    let desk = Desk::open().await;
    let got = with_key(&desk, "k", &body("hello")).await;
    let id = got.header("x-session-id").unwrap();
    let run = got.header("x-run-id").unwrap();
    let path = format!("/sessions/{id}");
    let shown = desk.get(&path).await.json();
    assert_eq!(shown["messages"][1]["text"], "You said: hello");
    assert_eq!(shown["conversation"], "c");
    let bearer = format!("Bearer {TOKEN}");
    let auth = [("authorization", bearer.as_str())];
    let gone = desk.ask("DELETE", &path, &auth, b"").await;
    assert_eq!(
        gone.json(),
        json!({"session_id": id, "messages": 2, "runs": [run], "left": []})
    );
    assert_eq!(desk.get(&path).await.status, 404);
    assert_eq!(desk.get(&format!("/runs/{run}")).await.status, 404);
    // Its answer is forgotten with it.
    let again = with_key(&desk, "k", &body("hello")).await;
    assert_ne!(again.header("x-run-id"), Some(run));
}
