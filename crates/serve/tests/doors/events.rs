//! `GET /runs/{id}/events`: when it tells, and as AG-UI.

use super::support::{Desk, Got, TOKEN, two};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

fn body(text: &str) -> Value {
    json!({"from": {"id": "u"}, "conversation": "c", "text": text})
}

/// Events of AG-UI, without what differs from run to run.
fn ag_ui(got: &Got, run: &str) -> Vec<String> {
    let events = got.events().into_iter().map(|text| {
        let mut event: Value = serde_json::from_str(&text.replace(run, "RUN")).unwrap();
        let event_of = event.as_object_mut().unwrap();
        assert!(
            event_of.remove("timestamp").is_none_or(|at| at.is_i64()),
            "{text}"
        );
        if let Some(thread) = event_of.get_mut("threadId") {
            *thread = "THREAD".into();
        }
        event.to_string()
    });
    events.collect()
}

async fn read(desk: &Desk, run: &str, query: &str, after: Option<&str>) -> Got {
    let bearer = format!("Bearer {TOKEN}");
    let mut headers = vec![("authorization", bearer.as_str())];
    headers.extend(after.map(|id| ("last-event-id", id)));
    let path = format!("/runs/{run}/events?{query}");
    desk.ask("GET", &path, &headers, b"").await
}

#[tokio::test]
async fn a_reader_of_a_run_that_rests_is_told_at_once_when_it_goes_on() {
    let desk = Desk::open().await;
    let asked = desk.post("/hooks/desk", &body("which")).await;
    let run = asked.header("x-run-id").unwrap().to_owned();
    let begun = Instant::now();
    let answers = async {
        // The reader has read all that is there by then; were it later, the test would see no difference.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let path = format!("/runs/{run}/answers");
        desk.post(&path, &json!({"colour": "red"})).await
    };
    let (told, answered) = tokio::join!(read(&desk, &run, "view=user", None), answers);
    assert_eq!(answered.status, 200);
    assert!(told.text.contains("You said: which"), "{told:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn a_run_is_told_as_ag_ui_and_a_reader_that_comes_back_is_told_the_rest() {
    let desk = Desk::open().await;
    let run = desk.post("/hooks/desk", &body("letter to Ann")).await;
    let run = run.header("x-run-id").unwrap().to_owned();
    let waits = desk.get(&format!("/runs/{run}")).await.json();
    let question = waits["question"]["id"].as_str().unwrap();
    let path = format!("/runs/{run}/approvals/{question}");
    assert_eq!(
        desk.post(&path, &json!({"approve": true})).await.status,
        200
    );
    let told = read(&desk, &run, "format=ag-ui", None).await;
    insta::assert_snapshot!(ag_ui(&told, &run).join("\n"));
    let ids: Vec<&str> = told
        .text
        .lines()
        .filter_map(|l| l.strip_prefix("id: "))
        .collect();
    let middle = ids[ids.len() / 2];
    let rest = ag_ui(&read(&desk, &run, "format=ag-ui", Some(middle)).await, &run);
    let all = ag_ui(&told, &run);
    assert!(rest[0].contains("RUN_STARTED"), "{rest:?}");
    assert!(all.ends_with(&rest[rest.len() - 3..]), "{rest:?}");
    assert!(rest.len() < all.len() + 2, "{rest:?}");
    // All was seen: the stream ends at once, and tells nothing.
    let last = ids.last().copied();
    let none = read(&desk, &run, "format=ag-ui", last).await;
    assert_eq!(none.events(), [] as [&str; 0]);
    let full = read(&desk, &run, "format=ag-ui&view=all", None).await;
    assert!(full.text.contains("TOOL_CALL_ARGS") && !told.text.contains("TOOL_CALL_ARGS"));
}

#[tokio::test]
async fn what_a_run_waits_for_is_an_interrupt_of_ag_ui_and_going_on_is_a_run_again() {
    let desk = Desk::open().await;
    let asked = desk.post("/hooks/desk", &body("which")).await;
    let run = asked.header("x-run-id").unwrap().to_owned();
    let waits = ag_ui(&read(&desk, &run, "format=ag-ui", None).await, &run);
    let last: Value = serde_json::from_str(waits.last().unwrap()).unwrap();
    assert_eq!(last["type"], "RUN_FINISHED");
    assert_eq!(
        last["outcome"],
        json!({"type": "interrupt", "interrupts": [{
            "id": "colour", "reason": "question", "message": "Which colour?", "responseSchema": {"enum": ["red", "blue"]}}]})
    );
    let path = format!("/runs/{run}/answers");
    assert_eq!(
        desk.post(&path, &json!({"colour": "red"})).await.status,
        200
    );
    let all = ag_ui(&read(&desk, &run, "format=ag-ui", None).await, &run);
    let kinds = |kind: &str| all.iter().filter(|event| event.contains(kind)).count();
    assert_eq!(
        (kinds("\"RUN_STARTED\""), kinds("\"RUN_FINISHED\"")),
        (2, 2)
    );
    assert_eq!(kinds("\"STEP_STARTED\""), kinds("\"STEP_FINISHED\""));
    let last: Value = serde_json::from_str(all.last().unwrap()).unwrap();
    assert_eq!(last["outcome"], json!({"type": "success"}));
}

#[tokio::test]
async fn a_reader_that_takes_nothing_is_dropped_and_its_place_is_anothers() {
    let desk = Desk::with(two(), |limits| {
        limits.connections = 1;
        limits.of_connections.write = Duration::from_millis(300);
    })
    .await;
    let run = desk.post("/hooks/desk", &body(&"long ".repeat(3000))).await;
    let run = run.header("x-run-id").unwrap().to_owned();
    let mut never = TcpStream::connect(desk.address).await.unwrap();
    let one = format!(
        "GET /runs/{run}/events?view=all HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {TOKEN}\r\n\r\n",
        desk.address
    );
    // Their answers are many times what the two ends of a connection keep for a reader.
    never.write_all(one.repeat(1000).as_bytes()).await.unwrap();
    // It has the one place by then.
    never.readable().await.unwrap();
    let path = format!("/runs/{run}");
    let other = tokio::time::timeout(Duration::from_secs(60), desk.get(&path));
    assert_eq!(other.await.unwrap().status, 200);
}
