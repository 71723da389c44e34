//! The runs that commands began: who may look at them, and that nobody touches them from here.

use super::support::{Desk, OTHER, TOKEN, client, may};
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{self, Cancel, RunContext, RunOptions, Unobserved};
use agentctl_serve::{Client, How, May, MessageKeys};
use serde_json::{Value, json};
use std::sync::Arc;

const OWNER: &str = "aaaabbbbccccddddeeeeffff00001111";
const NARROW: &str = "11112222333344445555666677778888";

/// As a command begins one in the server's folder.
async fn begun(desk: &Desk, message: &str) -> String {
    let served = &desk.server.packs.get("desk").unwrap().pack;
    begun_of(desk, served, message).await
}

async fn begun_of(desk: &Desk, of: &Pack, message: &str) -> String {
    let pack = desk.server.packs.get("desk").unwrap();
    let cx = RunContext {
        project: &pack.project,
        pack: of,
        gateway: &pack.gateway,
        models: &*pack.models,
        effects: &*pack.effects,
        cancel: &Cancel::default(),
        observer: &mut Unobserved,
        asker: None,
    };
    let options = RunOptions {
        request: format!("by hand: {message}"),
        input: [("message".to_owned(), json!(message))]
            .into_iter()
            .collect(),
        ..RunOptions::default()
    };
    run::start(cx, options).await.unwrap().run_id
}

async fn desk() -> Desk {
    let of = |name: &str, token: &str, what: &[May]| Client {
        may: may(what),
        ..client(name, How::bearer(token))
    };
    let all = [May::Turn, May::Read, May::Approve, May::Cancel, May::Admin];
    let clients = vec![
        of("one", TOKEN, &all),
        of(
            "owner",
            OWNER,
            &[
                May::Turn,
                May::Read,
                May::Approve,
                May::Cancel,
                May::Oversee,
            ],
        ),
        of("writes", OTHER, &[May::Turn, May::Oversee]),
        Client {
            packs: Some(["other".to_owned()].into()),
            ..of("narrow", NARROW, &[May::Read, May::Oversee])
        },
    ];
    Desk::with(clients, |_| {}).await
}

async fn asked(desk: &Desk, secret: &str, path: &str) -> (u16, Value) {
    let secret = format!("Bearer {secret}");
    let got = desk
        .ask("GET", path, &[("authorization", &secret)], b"")
        .await;
    let told = got.text.starts_with('{').then(|| got.json());
    (got.status, told.unwrap_or_default())
}

#[tokio::test]
async fn who_oversees_looks_at_the_runs_of_commands_and_at_no_conversation_that_is_not_its_own() {
    let desk = desk().await;
    let said = json!({"from": {"id": "a"}, "conversation": "c", "text": "which"});
    let turn = desk.post("/hooks/desk", &said).await;
    let turn = turn.header("x-run-id").unwrap().to_owned();
    let ended = begun(&desk, "hello").await;
    let waits = begun(&desk, "which").await;

    let (_, told) = asked(&desk, OWNER, "/runs?by=commands").await;
    let rows = told["runs"].as_array().unwrap();
    let rows: Vec<[&Value; 5]> = rows
        .iter()
        .map(|run| ["run_id", "said", "status", "outcome", "by"].map(|key| &run[key]))
        .collect();
    let wanted = [
        json!([waits, "by hand: which", "waiting", null, "command"]),
        json!([ended, "by hand: hello", "ended", "complete", "command"]),
    ];
    assert_eq!(json!(rows), json!(wanted));
    assert_eq!(asked(&desk, OWNER, "/runs").await.1["runs"], json!([]));
    assert_eq!(asked(&desk, OWNER, &format!("/runs/{turn}")).await.0, 404);

    let (status, one) = asked(&desk, OWNER, &format!("/runs/{waits}")).await;
    assert_eq!(status, 200, "{one}");
    assert_eq!(one["questions"][0]["text"], "Which colour?");
    assert_eq!(one["next"], format!("agentctl answer {waits} colour=…"));
    let (status, one) = asked(&desk, OWNER, &format!("/runs/{ended}")).await;
    assert_eq!((status, &one["next"]), (200, &Value::Null), "{one}");
    assert_eq!(one["messages"], json!(["You said: hello"]));
    let secret = format!("Bearer {OWNER}");
    let path = format!("/runs/{ended}/events?view=all");
    let events = desk
        .ask("GET", &path, &[("authorization", &secret)], b"")
        .await;
    assert!(events.text.contains("event: run.ended"), "{events:?}");
}

#[tokio::test]
async fn pages_of_commands_runs_come_to_each_once() {
    let desk = desk().await;
    let mut all = Vec::new();
    for n in 0..3 {
        all.insert(0, begun(&desk, &format!("no {n}")).await);
    }
    let (_, first) = asked(&desk, OWNER, "/runs?by=commands&limit=2").await;
    let next = first["next"].as_str().unwrap();
    let path = format!("/runs?by=commands&limit=2&after={next}");
    let (_, second) = asked(&desk, OWNER, &path).await;
    let runs = [&first["runs"], &second["runs"]].map(|runs| runs.as_array().unwrap());
    let ids: Vec<&str> = runs
        .into_iter()
        .flatten()
        .map(|run| run["run_id"].as_str().unwrap())
        .collect();
    assert_eq!(
        (ids, &second["next"]),
        (all.iter().map(String::as_str).collect(), &Value::Null)
    );
    for wrong in ["by=", "by=others", "by=commands&after="] {
        assert_eq!(
            asked(&desk, OWNER, &format!("/runs?{wrong}")).await.0,
            400,
            "{wrong}"
        );
    }
}

#[tokio::test]
async fn without_the_right_or_the_pack_a_commands_run_is_not_there() {
    let desk = desk().await;
    let run = begun(&desk, "which").await;
    for (who, list, one) in [(TOKEN, 403, 404), (OTHER, 403, 403), ("x", 401, 401)] {
        assert_eq!(
            asked(&desk, who, "/runs?by=commands").await.0,
            list,
            "{who}"
        );
        for path in ["", "/events", "/report"] {
            let got = asked(&desk, who, &format!("/runs/{run}{path}")).await;
            assert_eq!(got.0, one, "{who} {path}: {}", got.1);
        }
    }
    let (status, told) = asked(&desk, NARROW, "/runs?by=commands").await;
    assert_eq!((status, &told["runs"]), (200, &json!([])));
    assert_eq!(asked(&desk, NARROW, &format!("/runs/{run}")).await.0, 404);
    for odd in ["..", "%2e%2e", "20260101-000000-abcdef"] {
        assert_eq!(
            asked(&desk, OWNER, &format!("/runs/{odd}")).await.0,
            404,
            "{odd}"
        );
    }
}

#[tokio::test]
async fn nobody_answers_or_cancels_a_commands_run_from_here() {
    let desk = desk().await;
    let run = begun(&desk, "which").await;
    for (path, body) in [
        ("answers", json!({"colour": "red"})),
        ("approvals/colour", json!({"approve": true})),
        ("cancel", json!({})),
    ] {
        for (who, status) in [(OWNER, 409), (TOKEN, 404)] {
            let secret = format!("Bearer {who}");
            let path = format!("/runs/{run}/{path}");
            let got = desk
                .post_as(&[("authorization", &secret)], &path, &body)
                .await;
            assert_eq!(got.status, status, "{path}: {got:?}");
            let hint = format!("agentctl answer {run} colour=…");
            assert_eq!(got.json()["hint"] == hint, status == 409, "{got:?}");
        }
    }
    let (_, one) = asked(&desk, OWNER, &format!("/runs/{run}")).await;
    assert_eq!(one["status"], "waiting");
}

#[tokio::test]
async fn a_run_of_another_flow_of_the_pack_is_told_by_that_flow() {
    let desk = desk().await;
    let served = &desk.server.packs.get("desk").unwrap().pack;
    let other = served.clone().with_flow("other").unwrap();
    let run = begun_of(&desk, &other, "shoes").await;
    let (status, one) = asked(&desk, OWNER, &format!("/runs/{run}")).await;
    assert_eq!(status, 200, "{one}");
    assert_eq!(one["messages"], json!(["Another flow, asked for shoes"]));
    assert_eq!(one["questions"][0]["text"], "Which size?");
    assert_eq!(one["next"], format!("agentctl answer {run} size=…"));
}

#[tokio::test]
async fn a_run_whose_flow_is_not_here_is_shown_with_what_can_be_told_of_it() {
    let desk = desk().await;
    let mut before = desk.server.packs.get("desk").unwrap().pack.clone();
    for step in &mut before.flow.steps {
        step.id = format!("{}_before", step.id);
    }
    let run = begun_of(&desk, &before, "which").await;
    let (_, listed) = asked(&desk, OWNER, "/runs?by=commands").await;
    let next = format!("agentctl answer {run}");
    let (status, one) = asked(&desk, OWNER, &format!("/runs/{run}")).await;
    assert_eq!((status, &one["next"]), (200, &json!(next)), "{one}");
    let why = one["unread"].as_str().unwrap();
    assert!(why.contains("does not fit the flow"), "{why}");
    let row = listed["runs"][0].as_object().unwrap();
    assert!(
        row.iter().all(|(key, value)| one[key] == *value),
        "{row:?} {one}"
    );
    let secret = format!("Bearer {OWNER}");
    let headers = [("authorization", secret.as_str())];
    let path = format!("/runs/{run}/answers");
    let got = desk
        .post_as(&headers, &path, &json!({"colour": "red"}))
        .await;
    assert_eq!((got.status, &got.json()["hint"]), (409, &json!(next)));
}

#[tokio::test]
async fn a_client_that_signs_what_it_sends_oversees_without_sending_anything() {
    let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    let keys = json!({"keys": [{"kty": "oct", "k": secret, "kid": "k", "alg": "HS256"}]});
    let keys = MessageKeys::new(&keys.to_string(), true).unwrap();
    let signs = Client {
        keys: Some(Arc::new(keys)),
        ..client("owner", How::bearer(OWNER))
    };
    let desk = Desk::with(vec![signs], |_| {}).await;
    let run = begun(&desk, "which").await;
    let (status, told) = asked(&desk, OWNER, "/runs?by=commands").await;
    assert_eq!((status, &told["runs"][0]["run_id"]), (200, &json!(run)));
    assert_eq!(asked(&desk, OWNER, &format!("/runs/{run}")).await.0, 200);
    // What is sent still wants a signature.
    let secret = format!("Bearer {OWNER}");
    let body = json!({"from": {"id": "a"}, "conversation": "c", "text": "hello"});
    let got = desk
        .post_as(&[("authorization", &secret)], "/hooks/desk", &body)
        .await;
    assert_eq!(got.status, 403, "{got:?}");
}
