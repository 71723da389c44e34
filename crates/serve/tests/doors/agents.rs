//! Other agents at the doors of A2A 1.0: cards, messages, tasks, and what is refused.

use super::support::{Desk, Got, LONG, MANIFEST, OTHER, TOKEN, client, may, two};
use agentctl_serve::{How, May};
use serde_json::{Value, json};

pub const HEADERS: [(&str, &str); 2] = [
    ("authorization", "Bearer 0123456789abcdef0123456789abcdef"),
    ("a2a-version", "1.0"),
];

/// A call of JSON-RPC, as the client with the token.
pub async fn rpc(desk: &Desk, method: &str, params: Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let got = desk.post_as(&HEADERS, "/a2a", &call).await;
    assert_eq!(got.status, 200, "{got:?}");
    let answer = got.json();
    assert_eq!(
        (&answer["jsonrpc"], &answer["id"]),
        (&json!("2.0"), &json!(7))
    );
    answer
}

pub fn message(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]})
}

/// The task that a message comes to.
pub async fn sent(desk: &Desk, message: &Value) -> Value {
    let answer = rpc(desk, "SendMessage", json!({"message": message})).await;
    answer["result"]["task"].clone()
}

pub fn state(task: &Value) -> &str {
    let state = task["status"]["state"].as_str().unwrap();
    state.strip_prefix("TASK_STATE_").unwrap()
}

fn code(answer: &Value) -> (i64, &str) {
    let error = &answer["error"];
    let reason = error["data"][0]["reason"].as_str();
    (error["code"].as_i64().unwrap(), reason.unwrap_or_default())
}

async fn rest(desk: &Desk, method: &str, path: &str, body: &[u8]) -> Got {
    let mut headers = HEADERS.to_vec();
    if !body.is_empty() {
        headers.push(("content-type", "application/a2a+json"));
    }
    desk.ask(
        method,
        &format!("/agents/desk/a2a/v1/{path}"),
        &headers,
        body,
    )
    .await
}

#[tokio::test]
async fn a_card_says_what_the_pack_can_and_how_to_come_in() {
    let desk = Desk::open().await;
    let got = desk
        .ask("GET", "/.well-known/agent-card.json", &[], b"")
        .await;
    assert_eq!(got.status, 200, "{got:?}");
    assert_eq!(got.header("cache-control"), Some("public, max-age=300"));
    let card = got.json();
    assert_eq!(card["name"], "Repeats what is said");
    assert_eq!(
        card["skills"],
        json!([{"id": "repeat", "name": "Repeat", "description": "Says again what was said.", "tags": ["echo"]}])
    );
    let url = format!("http://{}", desk.address);
    assert_eq!(
        card["supportedInterfaces"],
        json!([
            {"url": format!("{url}/a2a"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": format!("{url}/a2a/v1"), "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
        ])
    );
    assert_eq!(
        card["securitySchemes"]["basic"],
        json!({"httpAuthSecurityScheme": {"scheme": "Basic"}})
    );
    assert_eq!(card["capabilities"]["streaming"], true);
    let tag = got.header("etag").unwrap().to_owned();
    let path = "/.well-known/agent-card.json";
    let known = desk.ask("GET", path, &[("if-none-match", &tag)], b"").await;
    assert_eq!((known.status, known.text.as_str()), (304, ""));
    let named = "/agents/desk/.well-known/agent-card.json";
    let named = desk.ask("GET", named, &[], b"").await.json();
    let at = format!("{url}/agents/desk/a2a");
    assert_eq!(named["supportedInterfaces"][0]["url"], json!(at));
    let unknown = "/agents/nobody/.well-known/agent-card.json";
    assert_eq!(desk.ask("GET", unknown, &[], b"").await.status, 404);
    assert_eq!(desk.ask("POST", path, &[], b"").await.status, 405);
}

#[tokio::test]
async fn a_message_becomes_a_task_that_is_at_its_end_with_what_was_said() {
    let desk = Desk::open().await;
    let task = sent(&desk, &message("m-1", "hello")).await;
    assert_eq!(state(&task), "COMPLETED");
    assert_eq!(
        task["artifacts"],
        json!([{"artifactId": "reply", "name": "reply", "description": "what the agent said",
            "parts": [{"text": "You said: hello"}, {"data": {"before": 0}, "mediaType": "application/json"}]}])
    );
    assert_eq!(task["history"][0]["parts"], json!([{"text": "hello"}]));
    assert_eq!(task["history"][0]["messageId"], "m-1");
    let again = rpc(&desk, "GetTask", json!({"id": task["id"]})).await;
    assert_eq!(again["result"], task);
    // The context is the conversation: what comes next in it knows what was said.
    let mut next = message("m-2", "more");
    next["contextId"] = task["contextId"].clone();
    let next = sent(&desk, &next).await;
    assert_ne!(next["id"], task["id"]);
    assert_eq!(next["contextId"], task["contextId"]);
    assert_eq!(
        next["artifacts"][0]["parts"][1]["data"],
        json!({"before": 2})
    );
    let short = json!({"id": task["id"], "historyLength": 0});
    let short = rpc(&desk, "GetTask", short).await;
    assert_eq!(short["result"]["history"], Value::Null);
    // The same message sent again is the same task, and nothing is done twice.
    assert_eq!(sent(&desk, &message("m-1", "hello")).await, task);
    let other = rpc(
        &desk,
        "SendMessage",
        json!({"message": message("m-1", "else")}),
    )
    .await;
    assert_eq!(code(&other).0, -32602, "{other}");
}

#[tokio::test]
async fn a_question_is_answered_in_its_task() {
    let desk = Desk::open().await;
    let task = sent(&desk, &message("m-1", "which")).await;
    assert_eq!(state(&task), "INPUT_REQUIRED");
    let asked = &task["status"]["message"];
    assert_eq!(asked["parts"][0]["text"], "Which colour?\n- Red\n- Blue");
    assert_eq!(asked["parts"][1]["data"]["question"]["id"], "colour");
    let answer = |id: &str, part: Value| json!({"messageId": id, "role": "ROLE_USER", "parts": [part], "taskId": task["id"]});
    // What does not fit is asked again.
    let again = sent(&desk, &answer("m-2", json!({"text": "green"}))).await;
    assert_eq!(
        (state(&again), &again["id"]),
        ("INPUT_REQUIRED", &task["id"])
    );
    let wrong = json!({"message": answer("m-3", json!({"data": "green"}))});
    let wrong = rpc(&desk, "SendMessage", wrong).await;
    assert_eq!(code(&wrong).0, -32004, "{wrong}");
    let mut elsewhere = answer("m-4", json!({"text": "blue"}));
    elsewhere["contextId"] = json!("another");
    let elsewhere = rpc(&desk, "SendMessage", json!({"message": elsewhere})).await;
    assert_eq!(
        elsewhere["error"]["data"][0]["fieldViolations"][0]["field"],
        "message.contextId"
    );
    let done = sent(&desk, &answer("m-5", json!({"data": {"colour": "blue"}}))).await;
    assert_eq!((state(&done), &done["id"]), ("COMPLETED", &task["id"]));
    let history = done["history"].as_array().unwrap();
    assert_eq!(history.len(), 3, "{done}");
    assert_eq!(
        (&history[0]["messageId"], &history[2]["messageId"]),
        (&json!("m-1"), &json!("m-5"))
    );
    // At its end it takes no more.
    let late = rpc(
        &desk,
        "SendMessage",
        json!({"message": answer("m-6", json!({"text": "red"}))}),
    );
    assert_eq!(code(&late.await), (-32004, "UNSUPPORTED_OPERATION"));
}

/// Its pack waits for the next message after each order.
pub async fn waiting_desk() -> Desk {
    let waits = "  a2a:\n    waits: state.mode == 'ASKS'\n";
    let manifest = MANIFEST.replace("  a2a:\n", waits);
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    Desk::of(Box::leak(manifest.into_boxed_str()), folder, two(), |_| {}).await
}

#[tokio::test]
async fn a_task_that_waits_for_a_message_is_cancelled_and_the_next_one_begins_anew() {
    let desk = waiting_desk().await;
    let first = sent(&desk, &message("m-1", "order tea")).await;
    assert_eq!(state(&first), "INPUT_REQUIRED", "{first}");
    let (id, context) = (first["id"].clone(), first["contextId"].clone());
    for _ in 0..2 {
        let cancelled = rpc(&desk, "CancelTask", json!({"id": id})).await["result"].clone();
        assert_eq!(
            (state(&cancelled), &cancelled["id"]),
            ("CANCELED", &id),
            "{cancelled}"
        );
        assert_eq!(cancelled["history"].as_array().unwrap().len(), 1);
    }
    let listed = rpc(&desk, "ListTasks", json!({})).await["result"]["tasks"].clone();
    assert_eq!(
        (listed.as_array().unwrap().len(), state(&listed[0])),
        (1, "CANCELED")
    );
    let mut late = message("m-2", "order cake");
    late["taskId"] = id.clone();
    let late = rpc(&desk, "SendMessage", json!({"message": late})).await;
    assert_eq!(code(&late), (-32004, "UNSUPPORTED_OPERATION"));
    // What comes to its conversation is another task, and nothing is left of what was asked for.
    let mut next = message("m-3", "hello");
    next["contextId"] = context;
    let next = sent(&desk, &next).await;
    assert_eq!(state(&next), "COMPLETED", "{next}");
    assert_ne!(next["id"], id);
}

#[tokio::test]
async fn a_task_goes_on_with_each_message_while_its_pack_waits_for_one() {
    let desk = waiting_desk().await;
    let first = sent(&desk, &message("m-1", "order tea")).await;
    assert_eq!(state(&first), "INPUT_REQUIRED", "{first}");
    let asked = &first["status"]["message"]["parts"];
    assert_eq!(asked[0]["text"], "You said: order tea");
    let (id, context) = (first["id"].clone(), first["contextId"].clone());
    let mut next = message("m-2", "order cake");
    next["taskId"] = id.clone();
    let second = sent(&desk, &next).await;
    assert_eq!((state(&second), &second["id"]), ("INPUT_REQUIRED", &id));
    // What comes to its conversation alone is for it, too.
    let mut last = message("m-3", "that is all");
    last["contextId"] = context;
    let done = sent(&desk, &last).await;
    assert_eq!((state(&done), &done["id"]), ("COMPLETED", &id));
    let said = done["history"].as_array().unwrap().iter();
    let said: Vec<&str> = said.map(|m| m["messageId"].as_str().unwrap()).collect();
    assert_eq!(said, ["m-1", "m-2", "m-3"]);
    assert_eq!(
        rpc(&desk, "GetTask", json!({"id": id})).await["result"],
        done
    );
    let listed = rpc(&desk, "ListTasks", json!({})).await["result"].clone();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["totalSize"], 1);
    let mut late = message("m-4", "order more");
    late["taskId"] = id;
    let late = rpc(&desk, "SendMessage", json!({"message": late})).await;
    assert_eq!(code(&late), (-32004, "UNSUPPORTED_OPERATION"));
}

#[tokio::test]
async fn an_approval_is_no_message() {
    let desk = Desk::open().await;
    let task = sent(&desk, &message("m-1", "letter to Ann")).await;
    assert_eq!(state(&task), "AUTH_REQUIRED");
    let asked = &task["status"]["message"]["parts"];
    let question = asked[1]["data"]["question"]["id"].as_str().unwrap();
    for (id, part) in [
        ("m-2", json!({"text": "approve"})),
        ("m-3", json!({"data": "approve"})),
    ] {
        let said =
            json!({"messageId": id, "role": "ROLE_USER", "parts": [part], "taskId": task["id"]});
        rpc(&desk, "SendMessage", json!({"message": said})).await;
        let stands = rpc(&desk, "GetTask", json!({"id": task["id"]})).await;
        assert_eq!(state(&stands["result"]), "AUTH_REQUIRED");
    }
    assert_eq!(desk.sent.lock().unwrap().len(), 0);
    let run = task["id"].as_str().unwrap();
    let path = format!("/runs/{run}/approvals/{question}");
    assert_eq!(
        desk.post(&path, &json!({"approve": true})).await.status,
        200
    );
    assert_eq!(desk.sent.lock().unwrap().len(), 1);
    let done = rpc(&desk, "GetTask", json!({"id": run})).await;
    assert_eq!(state(&done["result"]), "COMPLETED");
}

#[tokio::test]
async fn a_cancelled_task_stays_cancelled_and_an_ended_one_cannot_be() {
    let desk = Desk::open().await;
    let task = sent(&desk, &message("m-1", "which")).await;
    for _ in 0..2 {
        let cancelled = rpc(&desk, "CancelTask", json!({"id": task["id"]})).await;
        assert_eq!(state(&cancelled["result"]), "CANCELED");
    }
    let done = sent(&desk, &message("m-2", "hello")).await;
    let late = rpc(&desk, "CancelTask", json!({"id": done["id"]})).await;
    assert_eq!(code(&late), (-32002, "TASK_NOT_CANCELABLE"));
    // One that is worked on ends at its next step.
    let now = json!({"message": message("m-3", "slow one"), "configuration": {"returnImmediately": true}});
    let working = rpc(&desk, "SendMessage", now).await["result"]["task"].clone();
    assert!(
        ["SUBMITTED", "WORKING"].contains(&state(&working)),
        "{working}"
    );
    desk.model.asked.acquire().await.unwrap().forget();
    let cancelled = rpc(&desk, "CancelTask", json!({"id": working["id"]})).await;
    assert_eq!(state(&cancelled["result"]), "CANCELED");
}

#[tokio::test]
async fn a_task_is_cancelled_in_the_middle_of_a_call_that_never_answers() {
    let desk = Desk::open().await;
    let now =
        json!({"message": message("m-1", "mail"), "configuration": {"returnImmediately": true}});
    let working = rpc(&desk, "SendMessage", now).await["result"]["task"].clone();
    while desk.sent.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let cancel = rpc(&desk, "CancelTask", json!({"id": working["id"]}));
    let cancelled = tokio::time::timeout(LONG, cancel).await.unwrap();
    assert_eq!(state(&cancelled["result"]), "CANCELED");
}

#[tokio::test]
async fn where_the_server_keeps_things_is_told_to_nobody() {
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let desk = Desk::again(std::sync::Arc::clone(&folder), two(), |_| {}).await;
    let real = folder.path().canonicalize().unwrap();
    let runs = real.join("memory/runs");
    // No run can be kept any more.
    if runs.exists() {
        std::fs::remove_dir_all(&runs).unwrap();
    }
    std::fs::write(&runs, "").unwrap();
    let call = json!({"message": message("m-1", "hello")});
    let faulty = rpc(&desk, "SendMessage", call).await.to_string();
    let body = json!({"message": message("m-2", "hello")}).to_string();
    let rest = rest(&desk, "POST", "message:send", body.as_bytes()).await;
    let hook = json!({"from": {"id": "u"}, "conversation": "c", "text": "hello"});
    let hook = desk.post("/hooks/desk", &hook).await;
    let envelope = super::envelope::post(&desk, &super::envelope::envelope("m-3", "hello")).await;
    for told in [&faulty, &rest.text, &hook.text, &envelope.text] {
        assert!(told.contains("memory/runs"), "{told}");
        assert!(!told.contains(real.to_str().unwrap()), "{told}");
    }
}

#[tokio::test]
async fn the_tasks_of_others_do_not_exist() {
    let clients = || {
        let mut all = two();
        all.push(agentctl_serve::Client {
            may: may(&[May::Turn]),
            ..client("sends", How::bearer(OTHER))
        });
        all
    };
    let desk = Desk::with(clients(), |_| {}).await;
    let task = sent(&desk, &message("m-1", "which")).await;
    let as_other = [
        ("authorization", "Basic ZGVtbzpkZW1v"),
        ("a2a-version", "1.0"),
    ];
    for (method, params) in [
        ("GetTask", json!({"id": task["id"]})),
        ("CancelTask", json!({"id": task["id"]})),
        ("SubscribeToTask", json!({"id": task["id"]})),
        (
            "SendMessage",
            json!({"message": {"messageId": "x", "role": "ROLE_USER", "parts": [{"text": "red"}], "taskId": task["id"]}}),
        ),
    ] {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let theirs = desk.post_as(&as_other, "/a2a", &call).await.json();
        assert_eq!(code(&theirs), (-32001, "TASK_NOT_FOUND"), "{method}");
    }
    // A context of the same name is another one.
    let mut same = message("x-2", "hello");
    same["contextId"] = task["contextId"].clone();
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": same}});
    let theirs = desk.post_as(&as_other, "/a2a", &call).await.json();
    assert_eq!(state(&theirs["result"]["task"]), "COMPLETED");
    let sends = format!("Bearer {OTHER}");
    let sends = [("authorization", sends.as_str()), ("a2a-version", "1.0")];
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task["id"]}});
    let may_not = desk.post_as(&sends, "/a2a", &call).await;
    assert_eq!((may_not.status, code(&may_not.json()).0), (403, -32000));
    let nobody = desk.post_as(&[("a2a-version", "1.0")], "/a2a", &call).await;
    assert_eq!(nobody.status, 401);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_as_the_protocol_has_it() {
    let desk = Desk::open().await;
    let call = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let post = async |path: &str, headers: &[(&str, &str)], body: &Value| {
        desk.post_as(headers, path, body).await.json()
    };
    let send = call("SendMessage", json!({"message": message("m", "hi")}));
    let bare = [HEADERS[0]];
    let none = post("/a2a", &bare, &send).await;
    assert_eq!(code(&none), (-32009, "VERSION_NOT_SUPPORTED"));
    assert!(
        none["error"]["message"]
            .as_str()
            .unwrap()
            .contains("A2A-Version: 1.0"),
        "{none}"
    );
    let old = [HEADERS[0], ("a2a-version", "0.3")];
    assert_eq!(code(&post("/a2a", &old, &send).await).0, -32009);
    assert_eq!(
        post("/a2a/?A2A-Version=1.0", &bare, &send).await["error"],
        Value::Null
    );
    for (method, params, expected) in [
        ("message/send", json!({}), -32601),
        ("SendMessage", json!({}), -32602),
        (
            "SendMessage",
            json!({"message": {"messageId": "a", "role": "ROLE_USER", "parts": []}}),
            -32602,
        ),
        (
            "SendMessage",
            json!({"message": {"messageId": "a", "role": "ROLE_AGENT", "parts": [{"text": "a"}]}}),
            -32602,
        ),
        (
            "SendMessage",
            json!({"message": {"messageId": "a", "role": "ROLE_USER", "parts": [{"url": "http://a/"}]}}),
            -32005,
        ),
        (
            "SendMessage",
            json!({"message": message("a", "a"), "configuration": {"acceptedOutputModes": ["image/png"]}}),
            -32005,
        ),
        (
            "SendMessage",
            json!({"message": message("a", "a"), "configuration": {"taskPushNotificationConfig": {"url": "http://a/"}}}),
            -32003,
        ),
        ("GetTask", json!({"id": "../../etc/passwd"}), -32001),
        ("GetTask", json!({"id": "a", "historyLength": -1}), -32602),
        ("CreateTaskPushNotificationConfig", json!({}), -32003),
    ] {
        let answer = post("/a2a", &HEADERS, &call(method, params)).await;
        assert_eq!(code(&answer).0, expected, "{method}: {answer}");
    }
    let broken = desk
        .ask(
            "POST",
            "/a2a",
            &[HEADERS[0], HEADERS[1], ("content-type", "application/json")],
            b"{",
        )
        .await;
    assert_eq!((broken.status, code(&broken.json()).0), (200, -32700));
    assert_eq!(
        code(&post("/a2a", &HEADERS, &json!([send])).await).0,
        -32600
    );
    assert_eq!(
        code(&post("/a2a", &HEADERS, &json!({"id": 1})).await).0,
        -32600
    );
    assert_eq!(desk.get("/a2a").await.status, 405);
    let other = post("/agents/other/a2a", &HEADERS, &send).await;
    assert_eq!(other["status"], 404, "{other}");
}

#[tokio::test]
async fn a_client_that_is_let_in_is_shown_the_extended_card() {
    let mut all = two();
    all.push(agentctl_serve::Client {
        may: may(&[May::Turn]),
        ..client("sends", How::bearer(OTHER))
    });
    let desk = Desk::with(all, |_| {}).await;
    let public = desk
        .ask("GET", "/agents/desk/.well-known/agent-card.json", &[], b"")
        .await
        .json();
    assert_eq!(public["capabilities"]["extendedAgentCard"], true);
    let card = rpc(&desk, "GetExtendedAgentCard", json!({})).await["result"].clone();
    let by_rest = rest(&desk, "GET", "extendedAgentCard", b"").await.json();
    assert_eq!(by_rest, card);
    let own = &card["capabilities"]["extensions"][1];
    assert_eq!(
        own,
        &json!({"uri": "urn:agentctl:a2a:client:v1", "description": "what this client may do here", "params": {
            "client": "one", "may": ["turn", "read", "approve", "cancel", "admin", "oversee"], "turn_timeout_seconds": 110,
            "message_signature": "none"
        }})
    );
    // Besides that it says what the public one says.
    let mut same = card.clone();
    let all = same["capabilities"]["extensions"].as_array_mut().unwrap();
    all.truncate(1);
    assert_eq!(same, public);
    // Nobody sees it without a secret, nor who may not read.
    let path = "/agents/desk/a2a/v1/extendedAgentCard";
    assert_eq!(desk.ask("GET", path, &HEADERS[1..], b"").await.status, 401);
    let bearer = format!("Bearer {OTHER}");
    let sends = [("authorization", bearer.as_str()), HEADERS[1]];
    assert_eq!(desk.ask("GET", path, &sends, b"").await.status, 403);
}

#[tokio::test]
async fn http_and_json_say_the_same() {
    let desk = Desk::open().await;
    let body = json!({"message": message("m-1", "which")}).to_string();
    let got = rest(&desk, "POST", "message:send", body.as_bytes()).await;
    assert_eq!(
        (got.status, got.header("content-type")),
        (200, Some("application/a2a+json"))
    );
    let task = got.json()["task"].clone();
    assert_eq!(state(&task), "INPUT_REQUIRED");
    let id = task["id"].as_str().unwrap();
    let by_rpc = rpc(&desk, "GetTask", json!({"id": id})).await;
    assert_eq!(
        rest(&desk, "GET", &format!("tasks/{id}"), b"").await.json(),
        by_rpc["result"]
    );
    let short = rest(&desk, "GET", &format!("tasks/{id}?historyLength=1"), b"").await;
    assert_eq!(short.json()["history"].as_array().unwrap().len(), 1);
    let cancelled = rest(&desk, "POST", &format!("tasks/{id}:cancel"), b"").await;
    assert_eq!(state(&cancelled.json()), "CANCELED");
    for (method, path, status, reason) in [
        ("GET", "tasks/none", 404, "TASK_NOT_FOUND"),
        (
            "GET",
            &format!("tasks/{id}:subscribe"),
            400,
            "UNSUPPORTED_OPERATION",
        ),
        (
            "GET",
            &format!("tasks/{id}/pushNotificationConfigs"),
            400,
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
    ] {
        let got = rest(&desk, method, path, b"").await;
        let told = got.json();
        assert_eq!(got.status, status, "{path}: {told}");
        assert_eq!(told["error"]["code"], status);
        assert_eq!(told["error"]["details"][0]["reason"], reason, "{path}");
    }
    let nothing = rest(&desk, "GET", "nothing", b"").await;
    assert_eq!(
        (nothing.status, &nothing.json()["error"]["status"]),
        (404, &json!("UNIMPLEMENTED"))
    );
    let bare = desk
        .ask(
            "GET",
            "/a2a/v1/tasks",
            &[("authorization", &format!("Bearer {TOKEN}"))],
            b"",
        )
        .await;
    assert_eq!(
        bare.json()["error"]["details"][0]["reason"],
        "VERSION_NOT_SUPPORTED"
    );
}
