//! A run that another replica took and let go of without an end: nobody but the one that lost it knows of it.

use super::ends::key;
use super::support::{Desk, LONG, MANIFEST, TOKEN, two};
use agentctl_engine::store::{Ledger as _, Project};
use agentctl_engine::testkit::ledger::MemoryLedger;
use agentctl_host::key::Key;
use agentctl_mcp::serve::listen::Plain;
use agentctl_serve::Server;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::time::{sleep, timeout};

/// The pack's turns are gone on with after their server was killed.
fn finishes() -> &'static str {
    let text = MANIFEST.replace("  later: true\n", "  later: true\n  on_restart: finish\n");
    Box::leak(text.into_boxed_str())
}

#[tokio::test]
async fn a_run_that_was_lost_to_nobody_is_settled_and_the_same_request_gets_its_reply() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let ledger = Arc::new(MemoryLedger::default());
    let (shared, root) = (Arc::clone(&ledger), folder.path().canonicalize().unwrap());
    let share = move |mut server: Server| {
        let pack = server.packs.get_mut("desk").and_then(Arc::get_mut).unwrap();
        let project = Project::open(&root).unwrap();
        let project = project.with_key(Some(Key::fixed([7; Key::BYTES])));
        pack.project = Arc::new(project.with_ledger(shared));
        server
    };
    let desk = Desk::over(Plain, finishes(), folder, two(), |_| {}, share).await;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    let body = json!({"from": {"id": "u"}, "conversation": "c", "text": "slow work"}).to_string();
    let mut caller = desk
        .begin("POST", "/hooks/desk", &headers, body.as_bytes())
        .await;
    desk.model.asked.acquire().await.unwrap().forget();
    let run = ledger.runs().unwrap().remove(0).0;
    // Another one takes it, and finds nothing to do.
    ledger.run_out(&run);
    let held = ledger.take(&run, false).unwrap();
    ledger.leave(&held);
    desk.model.let_go.add_permits(1);
    let mut answer = String::new();
    caller.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    // What was answered to the model's question was not kept, so it is asked once more.
    desk.model.let_go.add_permits(1);
    let settled = async {
        let sessions = &desk.server.sessions;
        while sessions.load(&key("c")).await.unwrap().open_run.is_some() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LONG, settled).await.unwrap();
    let got = desk
        .ask("POST", "/hooks/desk", &headers, body.as_bytes())
        .await;
    assert_eq!(
        (got.status, got.header("x-run-id")),
        (200, Some(&*run)),
        "{got:?}"
    );
    assert!(got.text.contains("You said: slow work"), "{got:?}");
}
