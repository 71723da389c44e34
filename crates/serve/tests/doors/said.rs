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

/// The fields that were wrong.
fn wrong(got: &Got) -> Value {
    let told = got.json();
    let all = told["errors"].as_array().unwrap();
    all.iter().map(|fault| fault["field"].clone()).collect()
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

    for (body, fields) in [
        (json!({"chatInput": "x"}), vec!["sessionId"]),
        (json!({}), vec!["sessionId", "chatInput"]),
        (
            json!({"sessionId": " ", "chatInput": "x"}),
            vec!["sessionId"],
        ),
        (
            json!({"action": "sendMessage", "sessionId": 5, "chatInput": 7, "metadata": "x"}),
            vec!["sessionId", "metadata", "chatInput"],
        ),
        (
            json!({"action": 1, "sessionId": "s"}),
            vec!["action", "chatInput"],
        ),
    ] {
        let got = desk.post("/chat/desk", &body).await;
        assert_eq!((got.status, wrong(&got)), (422, json!(fields)), "{body}");
    }
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
    for other in [
        json!({"messages": []}),
        json!({"messages": "hello"}),
        json!({"messages": [{"role": "assistant", "content": "x"}]}),
        json!({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
    ] {
        let got = desk.post(path, &ask(other.clone())).await;
        assert_eq!(
            (got.status, wrong(&got)),
            (422, json!(["messages"])),
            "{other}"
        );
    }
    let got = desk.post(path, &json!({})).await;
    assert_eq!(
        (got.status, wrong(&got)),
        (422, json!(["model", "messages"]))
    );
    let odd = json!({"model": 1, "user": 2, "stream": "yes", "messages": null});
    let got = desk.post(path, &odd).await;
    let all = json!(["model", "user", "stream", "messages"]);
    assert_eq!((got.status, wrong(&got)), (422, all));
    let shown = got.json()["error"]["message"].clone();
    let shown = shown.as_str().unwrap();
    assert!(shown.contains("; model must be text, it is a number; user "));
    let several = ask(json!({"n": 2}));
    assert_eq!(desk.post(path, &several).await.status, 400);
    assert_eq!(
        desk.post(path, &ask(json!({"model": "gpt"}))).await.status,
        404
    );
}

#[tokio::test]
async fn a_model_goes_on_with_the_conversation_that_a_reply_named() {
    let desk = Desk::open().await;
    let path = "/v1/chat/completions";
    let body = json!({"model": "desk", "messages": [{"role": "user", "content": "hello"}]});
    let token = format!("Bearer {}", super::support::TOKEN);
    let say = async |session: &str, auth: &str| {
        let headers = [("authorization", auth), ("x-session-id", session)];
        desk.post_as(&headers, path, &body).await
    };
    let first = desk.post(path, &body).await;
    let id = first.header("x-session-id").unwrap();
    let again = say(id, &token).await;
    assert_eq!(again.header("x-session-id"), Some(id));
    // A webhook's conversation, too, which has a user besides.
    let hook = json!({"from": {"id": "u"}, "conversation": "c", "text": "hello"});
    let hook = desk.post("/hooks/desk", &hook).await;
    let of_hook = hook.header("x-session-id").unwrap();
    assert_eq!(
        say(of_hook, &token).await.header("x-session-id"),
        Some(of_hook)
    );
    // What is no id of the client's own is a name that it gives.
    let other = say(id, "Basic ZGVtbzpkZW1v").await;
    assert_eq!(other.status, 200);
    assert_ne!(other.header("x-session-id"), Some(id));
    let named = say("mine", &token).await;
    let known = named.header("x-session-id");
    assert_ne!(known, Some("mine"));
    assert_eq!(say("mine", &token).await.header("x-session-id"), known);
}

#[tokio::test]
async fn each_door_takes_its_methods_and_tells_them() {
    let desk = Desk::open().await;
    let token = format!("Bearer {}", super::support::TOKEN);
    let auth = [("authorization", token.as_str())];
    // What is open to all is so for every method, and HEAD is GET without its body.
    for path in ["/healthz", "/readyz"] {
        let head = desk.ask("HEAD", path, &[], b"").await;
        let get = desk.ask("GET", path, &[], b"").await;
        assert_eq!((head.status, head.text.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("content-length"), get.header("content-length"));
        let post = desk.ask("POST", path, &[], b"").await;
        assert_eq!(
            (post.status, post.header("allow")),
            (405, Some("get, head"))
        );
    }
    let file = "/files/r/a.csv?until=1&mark=00";
    assert_eq!(desk.ask("POST", file, &[], b"").await.status, 405);
    assert_eq!(desk.ask("HEAD", file, &[], b"").await.status, 404);
    let models = desk.ask("HEAD", "/v1/models", &auth, b"").await;
    assert_eq!((models.status, models.text.as_str()), (200, ""));
    assert_eq!(desk.ask("HEAD", "/v1/models", &[], b"").await.status, 401);
    for (path, methods) in [
        ("/hooks/desk", "post"),
        ("/chat/desk", "post"),
        ("/v1/chat/completions", "post"),
        ("/v1/models", "get, head"),
        ("/runs", "get, head"),
        ("/runs/r/answers", "post"),
        ("/sessions/s", "get, head, delete"),
        ("/a2a", "get, post, delete"),
    ] {
        let asked = desk.ask("OPTIONS", path, &[], b"").await;
        assert_eq!(
            (asked.status, asked.header("allow")),
            (405, Some(methods)),
            "{path}"
        );
        if !path.starts_with("/a2a") {
            let put = desk.ask("PUT", path, &auth, b"").await;
            assert_eq!(
                (put.status, put.header("allow")),
                (405, Some(methods)),
                "{path}"
            );
        }
    }
    assert_eq!(desk.ask("OPTIONS", "/none", &[], b"").await.status, 404);
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

    let one = desk.get("/v1/models/desk").await;
    assert_eq!(one.json(), desk.get("/v1/models").await.json()["data"][0]);
    assert_eq!(desk.get("/v1/models/gpt").await.status, 404);
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
