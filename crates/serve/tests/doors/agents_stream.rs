//! A task's events as other agents read them.

use super::agents::{HEADERS, message, rpc, sent, state, waiting_desk};
use super::support::{Desk, Got};
use agentctl_sessions::Finish;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

fn events(got: &Got) -> Vec<Value> {
    let events = got.events();
    events
        .iter()
        .map(|e| serde_json::from_str(e).unwrap())
        .collect()
}

/// What each event is, in short.
fn told(events: &[Value]) -> Vec<String> {
    let one = |event: &Value| {
        let (kind, told) = event.as_object().unwrap().iter().next().unwrap();
        match kind.as_str() {
            "artifactUpdate" => format!(
                "artifact {}",
                told["artifact"]["artifactId"].as_str().unwrap()
            ),
            kind => format!("{kind} {}", state(told)),
        }
    };
    events.iter().map(one).collect()
}

async fn stream(desk: &Desk, path: &str, body: &Value) -> Got {
    let got = desk.post_as(&HEADERS, path, body).await;
    assert_eq!(
        got.header("content-type"),
        Some("text/event-stream"),
        "{got:?}"
    );
    got
}

#[tokio::test]
async fn a_message_is_told_on_until_its_task_ends_or_waits() {
    let desk = Desk::open().await;
    // Its end may be there before the first event is written; what is told is the same.
    let got = stream(
        &desk,
        "/a2a/v1/message:stream",
        &json!({"message": message("m-1", "hello")}),
    )
    .await;
    let all = events(&got);
    assert!(all[0]["task"]["id"].is_string(), "{all:?}");
    let id = all[0]["task"]["id"].as_str().unwrap();
    assert_eq!(got.header("x-run-id"), Some(id));
    let last = told(&all).pop().unwrap();
    assert!(last.ends_with(" COMPLETED"), "{last}");

    let call = json!({"jsonrpc": "2.0", "id": "s", "method": "SendStreamingMessage", "params": {"message": message("m-2", "which")}});
    let all = events(&stream(&desk, "/a2a/", &call).await);
    assert!(
        all.iter().all(|e| e["id"] == "s" && e["jsonrpc"] == "2.0"),
        "{all:?}"
    );
    let results: Vec<Value> = all.iter().map(|e| e["result"].clone()).collect();
    assert!(told(&results).pop().unwrap().ends_with(" INPUT_REQUIRED"));
}

#[tokio::test]
async fn every_reader_is_told_the_same_in_order_and_a_gone_one_ends_nothing() {
    let desk = Desk::open().await;
    let start = json!({"message": message("m-1", "slow one"), "configuration": {"returnImmediately": true}});
    let task = rpc(&desk, "SendMessage", start).await["result"]["task"].clone();
    desk.model.asked.acquire().await.unwrap().forget();
    let path = format!("/a2a/v1/tasks/{}:subscribe", task["id"].as_str().unwrap());
    let mut gone = desk.begin("GET", &path, &HEADERS, b"").await;
    let mut head = [0; 12];
    gone.read_exact(&mut head).await.unwrap();
    drop(gone);
    let mut one = desk.begin("GET", &path, &HEADERS, b"").await;
    let mut two = desk.begin("POST", &path, &HEADERS, b"").await;
    let mut read = (Vec::new(), Vec::new());
    // Both have their first event before the task goes on.
    for (stream, all) in [(&mut one, &mut read.0), (&mut two, &mut read.1)] {
        while !String::from_utf8_lossy(all).contains("\"task\"") {
            all.push(stream.read_u8().await.unwrap());
        }
    }
    desk.model.let_go.add_permits(1);
    one.read_to_end(&mut read.0).await.unwrap();
    two.read_to_end(&mut read.1).await.unwrap();
    let (one, two) = (Got::read(&read.0), Got::read(&read.1));
    let told = told(&events(&one));
    assert_eq!(
        told,
        ["task WORKING", "artifact reply", "statusUpdate COMPLETED"],
    );
    assert_eq!(events(&one), events(&two));
}

#[tokio::test]
async fn who_watches_a_task_that_waits_sees_it_go_on() {
    let desk = Desk::open().await;
    let task = sent(&desk, &message("m-1", "which")).await;
    let id = task["id"].as_str().unwrap();
    let path = format!("/a2a/v1/tasks/{id}:subscribe");
    let mut watching = desk.begin("GET", &path, &HEADERS, b"").await;
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("INPUT_REQUIRED") {
        read.push(watching.read_u8().await.unwrap());
    }
    let mut answer = message("m-2", "red");
    answer["taskId"] = json!(id);
    let got = stream(&desk, "/a2a/v1/message:stream", &json!({"message": answer})).await;
    assert!(
        told(&events(&got)).pop().unwrap().ends_with(" COMPLETED"),
        "{got:?}"
    );
    watching.read_to_end(&mut read).await.unwrap();
    let all = told(&events(&Got::read(&read)));
    assert_eq!(
        all,
        [
            "task INPUT_REQUIRED",
            "statusUpdate WORKING",
            "artifact reply",
            "statusUpdate COMPLETED"
        ]
    );
    let ended = rpc(&desk, "SubscribeToTask", json!({"id": id})).await;
    assert_eq!(ended["error"]["code"], -32004);
}

#[tokio::test]
async fn who_watches_a_task_that_waits_for_a_message_is_told_what_comes_of_it() {
    let desk = waiting_desk().await;
    let task = sent(&desk, &message("m-1", "order tea")).await;
    let id = task["id"].as_str().unwrap();
    let path = format!("/a2a/v1/tasks/{id}:subscribe");
    let mut watching = desk.begin("GET", &path, &HEADERS, b"").await;
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("INPUT_REQUIRED") {
        read.push(watching.read_u8().await.unwrap());
    }
    let mut next = message("m-2", "that is all");
    next["taskId"] = json!(id);
    assert_eq!(state(&sent(&desk, &next).await), "COMPLETED");
    watching.read_to_end(&mut read).await.unwrap();
    let all = events(&Got::read(&read));
    assert_eq!(
        told(&all),
        [
            "task INPUT_REQUIRED",
            "statusUpdate WORKING",
            "artifact reply",
            "statusUpdate COMPLETED"
        ]
    );
    assert!(all.iter().skip(1).all(|event| {
        let told = event.as_object().unwrap().values().next().unwrap();
        told["taskId"] == id
    }));
    // Cancelled while it waits, it is told so.
    let task = sent(&desk, &message("m-3", "order cake")).await;
    let id = task["id"].as_str().unwrap();
    let path = format!("/a2a/v1/tasks/{id}:subscribe");
    let mut watching = desk.begin("GET", &path, &HEADERS, b"").await;
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("INPUT_REQUIRED") {
        read.push(watching.read_u8().await.unwrap());
    }
    rpc(&desk, "CancelTask", json!({"id": id})).await;
    watching.read_to_end(&mut read).await.unwrap();
    let all = told(&events(&Got::read(&read)));
    assert_eq!(all.last().unwrap(), "statusUpdate CANCELED", "{all:?}");
}

#[tokio::test]
async fn a_task_is_not_complete_before_the_conversation_holds_that_it_waits() {
    let desk = waiting_desk().await;
    let earlier = sent(&desk, &message("m-0", "hello")).await;
    let before = earlier["id"].as_str().unwrap();
    let mut order = message("m-1", "order tea");
    order["contextId"] = earlier["contextId"].clone();
    let task = sent(&desk, &order).await;
    let id = task["id"].as_str().unwrap();
    let now = async || rpc(&desk, "GetTask", json!({"id": id})).await["result"].clone();
    // As it is between the last record of its journal and the end of its turn.
    let sessions = &desk.server.sessions;
    let key = sessions.of_run(id).await.unwrap().unwrap();
    let kept = sessions.load(&key).await.unwrap();
    let turn = |run: &str, version, open: Option<&str>| Finish {
        run: Some(run.to_owned()),
        open_run: open.map(str::to_owned),
        version,
        state: kept.state.clone(),
        clear: false,
        add: Vec::new(),
        now: kept.updated,
    };
    let open = turn(before, kept.version, Some(id));
    sessions.finish(&key, &open).await.unwrap();
    let seen = now().await;
    assert_eq!(state(&seen), "WORKING", "{seen}");
    let version = sessions.load(&key).await.unwrap().version;
    sessions
        .finish(&key, &turn(id, version, None))
        .await
        .unwrap();
    assert_eq!(state(&now().await), "INPUT_REQUIRED");
    // Who cancels it just then cancels it.
    let version = sessions.load(&key).await.unwrap().version;
    let open = turn(before, version, Some(id));
    sessions.finish(&key, &open).await.unwrap();
    let cancelled = rpc(&desk, "CancelTask", json!({"id": id})).await["result"].clone();
    assert_eq!(state(&cancelled), "CANCELED", "{cancelled}");
}
