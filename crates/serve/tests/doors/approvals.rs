//! What needs an approval over HTTP: who gives it, for what, and until when.

use super::support::{Desk, Got, OTHER, TOKEN, client, may};
use agentctl_serve::{Client, How, May};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

/// Of one tenant: one talks, one may approve, and a third of another tenant may as well.
fn three() -> Vec<Client> {
    let of = |name: &str, how, tenant: &str, what: &[May]| Client {
        tenants: Some(vec![tenant.to_owned()]),
        may: may(what),
        ..client(name, how)
    };
    vec![
        of("talks", How::bearer(TOKEN), "acme", &[May::Turn, May::Read]),
        of("boss", How::bearer(OTHER), "acme", &[May::Approve]),
        of(
            "else",
            How::basic("demo", "demo"),
            "globex",
            &[May::Approve, May::Read],
        ),
    ]
}

fn body(text: &str) -> Value {
    json!({"from": {"id": "u"}, "tenant": "acme", "conversation": "c", "text": text})
}

/// The question that a letter waits for, with the path at which it is approved.
async fn waiting(desk: &Desk) -> (String, String) {
    let got = desk.post("/hooks/desk", &body("letter to Ann")).await;
    assert_eq!(got.status, 200, "{got:?}");
    let said = got.json()["output"].as_str().unwrap().to_owned();
    assert!(
        said.contains("letter") && said.contains("A message does not approve it"),
        "{said}"
    );
    let run = got.header("x-run-id").unwrap().to_owned();
    let shown = desk.get(&format!("/runs/{run}")).await.json();
    assert_eq!(
        (&shown["status"], &shown["expects"]),
        (&json!("waiting"), &json!("approval"))
    );
    let question = shown["question"]["id"].as_str().unwrap().to_owned();
    (run, question)
}

async fn approve(desk: &Desk, secret: &str, run: &str, question: &str, yes: bool) -> Got {
    let path = format!("/runs/{run}/approvals/{question}");
    let headers = [("authorization", secret)];
    desk.post_as(&headers, &path, &json!({"approve": yes}))
        .await
}

fn sent(desk: &Desk) -> Vec<String> {
    desk.sent.lock().unwrap().clone()
}

#[tokio::test]
async fn only_a_client_that_may_gives_an_approval_and_only_once() {
    let desk = Desk::with(three(), |_| {}).await;
    let (run, question) = waiting(&desk).await;
    let talks = format!("Bearer {TOKEN}");
    let boss = format!("Bearer {OTHER}");
    // No message is one, whatever it says.
    for word in ["approve", "yes", question.as_str()] {
        let got = desk.post("/hooks/desk", &body(word)).await;
        assert_eq!(got.header("x-run-id"), Some(run.as_str()), "{got:?}");
    }
    let answers = format!("/runs/{run}/answers");
    let as_answer = json!({question.as_str(): "approve"});
    assert_eq!(desk.post(&answers, &as_answer).await.status, 403);
    assert_eq!(
        approve(&desk, &talks, &run, &question, true).await.status,
        403
    );
    let other = approve(&desk, "Basic ZGVtbzpkZW1v", &run, &question, true).await;
    assert_eq!(other.status, 404, "of another tenant");
    let wrong = approve(&desk, &boss, &run, "another-question", true).await;
    assert_eq!(wrong.status, 409, "{wrong:?}");
    assert_eq!(sent(&desk), Vec::<String>::new());

    let given = approve(&desk, &boss, &run, &question, true).await;
    assert_eq!(given.status, 200, "{given:?}");
    assert_eq!(given.json()["outcome"], "complete");
    assert_eq!(sent(&desk), ["letter to Ann"]);
    let again = approve(&desk, &boss, &run, &question, true).await;
    assert_eq!(again.status, 409, "{again:?}");
    assert_eq!(sent(&desk).len(), 1);
    // Another letter is another call: it is asked for anew, and what was approved before is not it.
    let (next, _) = waiting(&desk).await;
    assert_ne!(next, run);
    let old = approve(&desk, &boss, &run, &question, true).await;
    assert_eq!(old.status, 409, "{old:?}");
    assert_eq!(sent(&desk).len(), 1);
}

#[tokio::test]
async fn a_refused_call_is_not_made_and_the_turn_ends() {
    let desk = Desk::with(three(), |_| {}).await;
    let (run, question) = waiting(&desk).await;
    let boss = format!("Bearer {OTHER}");
    let given = approve(&desk, &boss, &run, &question, false).await;
    assert_eq!(given.status, 200, "{given:?}");
    assert_eq!(sent(&desk), Vec::<String>::new());
    let shown = desk.get(&format!("/runs/{run}")).await.json();
    assert_eq!(shown["status"], "ended");
    let next = desk.post("/hooks/desk", &body("hello")).await;
    assert!(next.json()["output"].as_str().unwrap().contains("hello"));
}

#[tokio::test]
async fn an_approval_that_comes_too_late_is_none() {
    let desk = Desk::with(three(), |_| {}).await;
    let (run, question) = waiting(&desk).await;
    desk.later.store(61, Ordering::SeqCst);
    let boss = format!("Bearer {OTHER}");
    let late = approve(&desk, &boss, &run, &question, true).await;
    assert_eq!(late.status, 409, "{late:?}");
    assert!(
        late.json()["detail"]
            .as_str()
            .unwrap()
            .contains("too long ago")
    );
    assert_eq!(sent(&desk), Vec::<String>::new());
}
