//! `GET /runs`: a client's own runs, and what it may do with them.

use super::support::{Desk, OTHER, TOKEN, client, may, two};
use agentctl_serve::{Client, How, May};
use serde_json::{Value, json};

fn hook(user: &str, text: &str) -> Value {
    json!({"from": {"id": user}, "conversation": "c", "text": text})
}

#[tokio::test]
async fn a_clients_runs_are_listed_with_how_they_stand_the_newest_first() {
    let desk = Desk::open().await;
    for (user, text) in [("a", "hello"), ("b", "which"), ("c", "letter to Ann")] {
        let got = desk.post("/hooks/desk", &hook(user, text)).await;
        assert_eq!(got.status, 200, "{got:?}");
    }
    let told = desk.get("/runs").await.json();
    assert_eq!(
        (&told["client"], &told["packs"], &told["next"]),
        (&json!("one"), &json!(["desk"]), &Value::Null)
    );
    assert_eq!(
        told["may"],
        json!(["turn", "read", "approve", "cancel", "admin", "oversee"])
    );
    let stands: Vec<[&Value; 4]> = told["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| ["said", "status", "outcome", "expects"].map(|key| &run[key]))
        .collect();
    let wanted = [
        json!(["letter to Ann", "waiting", null, "approval"]),
        json!(["which", "waiting", null, "answer"]),
        json!(["hello", "ended", "complete", null]),
    ];
    assert_eq!(json!(stands), json!(wanted));
    // The same that the run itself says.
    for run in told["runs"].as_array().unwrap() {
        let id = run["run_id"].as_str().unwrap();
        let one = desk.get(&format!("/runs/{id}")).await.json();
        assert_eq!(
            (&one["status"], &one["session_id"], &one["pack"]),
            (&run["status"], &run["session_id"], &run["pack"])
        );
    }
}

#[tokio::test]
async fn pages_of_the_list_come_to_all_runs_and_each_once() {
    let desk = Desk::open().await;
    for n in 0..7 {
        let got = desk
            .post("/hooks/desk", &hook("a", &format!("no {n}")))
            .await;
        assert_eq!(got.status, 200, "{got:?}");
    }
    let (mut said, mut query) = (Vec::new(), "limit=3".to_owned());
    loop {
        let told = desk.get(&format!("/runs?{query}")).await.json();
        let runs = told["runs"].as_array().unwrap();
        said.push(
            runs.iter()
                .map(|run| run["said"].clone())
                .collect::<Vec<_>>(),
        );
        match told["next"].as_str() {
            Some(next) => query = format!("limit=3&after={next}"),
            None => break,
        }
    }
    assert_eq!(
        json!(said),
        json!([["no 6", "no 5", "no 4"], ["no 3", "no 2", "no 1"], ["no 0"]])
    );
    for wrong in [
        "limit=0",
        "limit=101",
        "limit=many",
        "after=x",
        "after=1",
        "sort=up",
        "limit",
    ] {
        assert_eq!(
            desk.get(&format!("/runs?{wrong}")).await.status,
            400,
            "{wrong}"
        );
    }
}

#[tokio::test]
async fn nobody_elses_runs_are_listed_and_who_may_not_read_gets_none() {
    let of = |name: &str, how, what: &[May]| Client {
        may: may(what),
        ..client(name, how)
    };
    let clients = vec![
        of("one", How::bearer(TOKEN), &[May::Turn, May::Read]),
        of("one-more", How::bearer(OTHER), &[May::Turn, May::Read]),
        of("deaf", How::basic("demo", "demo"), &[May::Turn]),
    ];
    let desk = Desk::with(clients, |_| {}).await;
    assert_eq!(
        desk.post("/hooks/desk", &hook("a", "mine")).await.status,
        200
    );
    let other = format!("Bearer {OTHER}");
    for (secret, status, runs) in [
        (other.as_str(), 200, json!([])),
        ("Basic ZGVtbzpkZW1v", 403, Value::Null),
        ("Bearer nobody", 401, Value::Null),
    ] {
        let got = desk
            .ask("GET", "/runs", &[("authorization", secret)], b"")
            .await;
        assert_eq!(
            (got.status, &got.json()["runs"]),
            (status, &runs),
            "{got:?}"
        );
    }
    assert_eq!(desk.get("/runs").await.json()["runs"][0]["said"], "mine");
    assert_eq!(desk.post("/runs", &json!({})).await.status, 405);
    let none = Desk::with(two(), |_| {}).await;
    assert_eq!(none.get("/runs").await.json()["runs"], json!([]));
}
