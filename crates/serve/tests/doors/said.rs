//! What each door takes, and what it answers.

use super::support::{Desk, Got};
use serde_json::{Value, json};

fn detail(got: &Got) -> String {
    assert_eq!(
        got.header("content-type"),
        Some("application/problem+json"),
        "{got:?}"
    );
    let body = got.json();
    assert_eq!(body["status"], got.status);
    assert!(
        body["type"]
            .as_str()
            .unwrap()
            .starts_with("urn:agentctl:problem:")
    );
    body["detail"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_webhook_is_answered_wrapped_and_bare_in_one_conversation() {
    let desk = Desk::open().await;
    let body = json!({"from": {"id": "u"}, "conversation": "c", "text": "hello"});
    let first = desk.post("/hooks/desk", &body).await;
    assert_eq!(first.status, 200, "{first:?}");
    let told = |before: u64| json!({"output": "You said: hello", "data": {"before": before}, "attachment": null});
    assert_eq!(first.json(), told(0));
    let second = desk.post("/hooks/desk", &json!({"body": body})).await;
    assert_eq!(second.json(), told(2));
    assert_ne!(first.header("x-run-id"), second.header("x-run-id"));
    assert_eq!(first.header("x-session-id"), second.header("x-session-id"));
    let line: Value = serde_json::from_str(&desk.log.lock().unwrap()[0]).unwrap();
    assert_eq!(line["client"], "one");
    assert_eq!(line["run"].as_str(), first.header("x-run-id"));
    assert!(!line.to_string().contains("hello"));
}

#[tokio::test]
async fn what_is_wrong_with_a_webhook_is_told_field_by_field() {
    let desk = Desk::open().await;
    let got = desk.post("/hooks/desk", &json!({"text": 7})).await;
    assert_eq!(got.status, 422);
    assert_eq!(detail(&got), "2 fields of the body do not fit");
    assert_eq!(
        got.json()["errors"],
        json!([
            {"field": "userId", "message": "is required; it is read as `body.from.id`"},
            {"field": "chatInput", "message": "must be text, it is a number"}
        ])
    );
    let got = desk.post("/hooks/dsk", &json!({})).await;
    assert_eq!(got.status, 404);
    assert_eq!(got.json()["hint"], "packs: desk; did you mean \"desk\"?");
}

#[tokio::test]
async fn chat_speaks_as_the_widget_expects() {
    let desk = Desk::open().await;
    let send = |text: &str| json!({"action": "sendMessage", "sessionId": "s", "chatInput": text, "metadata": {"a": 1}});
    let got = desk.post("/chat/desk", &send("hello")).await;
    assert_eq!(got.json(), json!({"output": "You said: hello"}));
    let load = json!({"action": "loadPreviousSession", "sessionId": "s"});
    let data = desk.post("/chat/desk", &load).await.json();
    let kept: Vec<(&Value, &Value)> = data["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (&m["id"][2], &m["kwargs"]["content"]))
        .collect();
    let (human, ai) = (json!("HumanMessage"), json!("AIMessage"));
    let said = [json!("hello"), json!("You said: hello")];
    assert_eq!(kept, [(&human, &said[0]), (&ai, &said[1])]);

    let missing = desk.post("/chat/desk", &json!({"chatInput": "x"})).await;
    assert_eq!(missing.json()["errors"][0]["field"], "sessionId");
    let odd = json!({"action": "delete", "sessionId": "s"});
    assert_eq!(desk.post("/chat/desk", &odd).await.status, 400);

    let token = format!("Bearer {}", super::support::TOKEN);
    let headers = [
        ("authorization", token.as_str()),
        ("accept", "text/event-stream"),
    ];
    let told = desk.post_as(&headers, "/chat/desk", &send("again")).await;
    assert_eq!(told.header("content-type"), Some("text/event-stream"));
    let events = told.events();
    let parsed: Vec<Value> = events
        .iter()
        .map(|e| serde_json::from_str(e).unwrap())
        .collect();
    assert_eq!(
        parsed[0],
        json!({"type": "item", "content": "You said: again"})
    );
    assert_eq!(parsed[1]["type"], "end");
    assert_eq!(parsed[1]["output"], "You said: again");
}

#[tokio::test]
async fn a_question_is_the_reply_and_the_next_message_answers_it() {
    let desk = Desk::open().await;
    let send = |text: &str| json!({"sessionId": "s", "chatInput": text});
    let asked = desk.post("/chat/desk", &send("which")).await;
    assert_eq!(asked.json()["output"], "Which colour?\n- Red\n- Blue");
    let again = desk.post("/chat/desk", &send("green")).await;
    assert_eq!(again.json()["output"], "Which colour?\n- Red\n- Blue");
    let got = desk.post("/chat/desk", &send("red")).await;
    assert_eq!(got.json()["output"], "You said: which");
    assert_eq!(asked.header("x-run-id"), got.header("x-run-id"));
}

#[tokio::test]
async fn a_pack_answers_as_a_model() {
    let desk = Desk::open().await;
    let models = desk.get("/v1/models").await.json();
    assert_eq!(models["data"][0]["id"], "desk");
    let ask = |more: Value| {
        let mut body = json!({"model": "desk", "messages": [
            {"role": "system", "content": "You are somebody else."}, {"role": "user", "content": [{"type": "text", "text": "hello"}]}]});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    let path = "/v1/chat/completions";
    let got = desk.post(path, &ask(json!({"user": "helen"}))).await;
    let choice = &got.json()["choices"][0];
    assert_eq!(choice["message"]["content"], "You said: hello");
    assert_eq!(choice["finish_reason"], "stop");
    assert_eq!(got.json()["usage"]["total_tokens"], 0);
    let other = desk.post(path, &ask(json!({}))).await;
    assert_ne!(got.header("x-session-id"), other.header("x-session-id"));

    let stream =
        json!({"stream": true, "stream_options": {"include_usage": true}, "user": "helen"});
    let told = desk.post(path, &ask(stream)).await.events();
    assert_eq!(told.last().unwrap(), "[DONE]");
    let parts: Vec<Value> = told
        .iter()
        .filter_map(|e| serde_json::from_str(e).ok())
        .collect();
    let content = parts
        .iter()
        .filter_map(|p| p["choices"][0]["delta"]["content"].as_str());
    assert_eq!(content.collect::<String>(), "You said: hello");
    assert_eq!(parts.last().unwrap()["usage"]["total_tokens"], 0);

    let tools = desk
        .post(path, &ask(json!({"tools": [{"type": "function"}]})))
        .await;
    assert_eq!(tools.status, 400);
    assert!(detail(&tools).contains("a pack has its own tools"));
    // OpenAI clients show this and nothing else.
    let shown = tools.json()["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(shown.contains("a pack has its own tools") && shown.contains("policy.yaml"));
    for wrong in [
        json!({"messages": []}),
        json!({"messages": [{"role": "assistant", "content": "x"}]}),
        json!({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
        json!({"n": 2}),
    ] {
        assert_eq!(
            desk.post(path, &ask(wrong.clone())).await.status,
            400,
            "{wrong}"
        );
    }
    assert_eq!(
        desk.post(path, &ask(json!({"model": "gpt"}))).await.status,
        404
    );
}

#[tokio::test]
async fn what_is_no_json_and_no_door_is_told_so() {
    let desk = Desk::open().await;
    let token = format!("Bearer {}", super::support::TOKEN);
    let auth = ("authorization", token.as_str());
    let json = ("content-type", "application/json; charset=utf-8");
    let post = async |headers: &[(&str, &str)], body: &[u8]| {
        desk.ask("POST", "/hooks/desk", headers, body).await
    };
    assert_eq!(post(&[auth, json], b"{").await.status, 400);
    assert_eq!(post(&[auth, json], b"").await.status, 400);
    assert_eq!(post(&[auth, json], b"\xff").await.status, 400);
    let twice = post(&[auth, json], b"{\"from\": {}, \"from\": {\"id\": \"u\"}}").await;
    assert_eq!(twice.status, 400, "{twice:?}");
    let deep = [&b"[".repeat(80)[..], &b"]".repeat(80)].concat();
    assert_eq!(post(&[auth, json], &deep).await.status, 400);
    assert_eq!(post(&[auth], b"{}").await.status, 415);
    assert_eq!(
        post(&[auth, ("content-type", "text/plain")], b"{}")
            .await
            .status,
        415
    );
    assert_eq!(
        post(&[auth, json, ("content-encoding", "gzip")], b"{}")
            .await
            .status,
        415
    );
    let announced = ("content-length", "99999999");
    assert_eq!(post(&[auth, json, announced], b"").await.status, 413);

    let get = desk.get("/hooks/desk").await;
    assert_eq!((get.status, get.header("allow")), (405, Some("post")));
    for nothing in [
        "/",
        "/hooks",
        "/hooks/desk/more",
        "/v2/models",
        "/hooks/desk/../desk",
        "/a/b/c/d/e",
    ] {
        assert_eq!(desk.get(nothing).await.status, 404, "{nothing}");
    }
    for (path, status) in [("/healthz", "ok"), ("/readyz", "ready")] {
        let got = desk.ask("GET", path, &[], b"").await;
        assert_eq!(
            (got.status, got.json()["status"].as_str()),
            (200, Some(status))
        );
    }
}
