//! Agents that speak A2A 0.3, where the settings let them.

use super::agents::HEADERS;
use super::support::{Desk, two};
use serde_json::{Value, json};

async fn called(desk: &Desk, version: Option<&str>, method: &str, params: Value) -> Value {
    let mut headers = HEADERS[..1].to_vec();
    headers.extend(version.map(|version| ("a2a-version", version)));
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let got = desk.post_as(&headers, "/a2a", &call).await;
    assert_eq!(got.status, 200, "{got:?}");
    got.json()
}

fn said(id: &str, text: &str, task: Option<&Value>) -> Value {
    json!({"message": {
        "kind": "message", "messageId": id, "role": "user", "taskId": task, "parts": [{"kind": "text", "text": text}]
    }})
}

#[tokio::test]
async fn a_client_of_0_3_is_spoken_to_in_its_words_where_the_settings_say_so() {
    let closed = Desk::open().await;
    for version in [None, Some("0.3")] {
        let refused = called(&closed, version, "message/send", said("m", "hello", None)).await;
        assert_eq!(refused["error"]["code"], -32009, "{refused}");
    }

    let desk = Desk::with(two(), |limits| limits.v0_3 = true).await;
    let card = desk.get("/.well-known/agent-card.json").await.json();
    assert_eq!(
        (
            &card["protocolVersion"],
            &card["preferredTransport"],
            &card["url"]
        ),
        (
            &json!("0.3.0"),
            &json!("JSONRPC"),
            &card["supportedInterfaces"][0]["url"]
        )
    );
    let schemes = card["securitySchemes"].as_object().unwrap();
    assert!(
        schemes.values().all(|scheme| scheme["type"] == "http"),
        "{schemes:?}"
    );

    let waits = called(&desk, None, "message/send", said("m-1", "which", None)).await;
    let task = &waits["result"];
    assert_eq!(
        (
            &task["kind"],
            &task["status"]["state"],
            &task["status"]["message"]["parts"][0]["kind"]
        ),
        (&json!("task"), &json!("input-required"), &json!("text"))
    );
    let done = called(
        &desk,
        Some("0.3"),
        "message/send",
        said("m-2", "red", Some(&task["id"])),
    )
    .await;
    let done = &done["result"];
    assert_eq!(
        (
            &done["id"],
            &done["status"]["state"],
            &done["artifacts"][0]["parts"][0]["kind"]
        ),
        (&task["id"], &json!("completed"), &json!("text"))
    );
    let got = called(&desk, None, "tasks/get", json!({"id": task["id"]})).await;
    assert_eq!(got["result"], *done);
    // The same in 1.0, of which nothing is another.
    let new = called(&desk, Some("1.0"), "GetTask", json!({"id": task["id"]})).await;
    assert_eq!(new["result"]["status"]["state"], "TASK_STATE_COMPLETED");

    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "message/stream", "params": said("m-3", "hello", None)});
    let got = desk.post_as(&HEADERS[..1], "/a2a", &call).await;
    let body = got.text;
    let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let events: Vec<Value> = events
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    let (first, last) = (&events[0]["result"], &events[events.len() - 1]["result"]);
    assert_eq!(first["kind"], "task", "{body}");
    assert_eq!(
        (&last["kind"], &last["final"], &last["status"]["state"]),
        (&json!("status-update"), &json!(true), &json!("completed")),
        "{body}"
    );
    for (method, params, code) in [
        ("tasks/get", json!({"id": "nobody"}), -32001),
        ("tasks/pushNotificationConfig/set", json!({}), -32003),
        ("tasks/list", json!({}), -32601),
    ] {
        let refused = called(&desk, None, method, params).await;
        assert_eq!(refused["error"]["code"], code, "{method}: {refused}");
    }
}
