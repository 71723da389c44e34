//! The envelope of seed systems at its doors.

use super::agents::{HEADERS, message, rpc, state};
use super::support::{Desk, Got, LONG};
use agentctl_engine::flow::Schema;
use serde_json::{Value, json};

pub fn envelope(id: &str, query: &str) -> Value {
    json!({
        "type": "request:task", "version": "1.0", "id": id, "timestamp": "2026-01-31T12:00:00Z", "sender": "me", "receiver": "desk",
        "payload": {"query": query, "task_type": "technical"}, "metadata": {"priority": "normal"}
    })
}

pub async fn post(desk: &Desk, body: &Value) -> Got {
    desk.post_as(&HEADERS[..1], "/agents/desk/a2a/message", body)
        .await
}

/// The payload of an answer of this type, which fits the published schema.
pub async fn told(desk: &Desk, body: &Value, of: &str) -> Value {
    let got = post(desk, body).await;
    let answer = got.json();
    assert_eq!(answer["type"], of, "{answer}");
    let schema = desk
        .ask("GET", "/a2a/envelope.schema.json", &[], b"")
        .await
        .json();
    let faults = Schema::compile(schema).unwrap().faults(&answer);
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(
        (&answer["sender"], &answer["receiver"]),
        (&json!("desk"), &json!("me"))
    );
    assert_eq!(answer["payload"]["in_reply_to"], body["id"]);
    answer["payload"].clone()
}

#[tokio::test]
async fn a_task_is_answered_with_results_and_the_same_id_with_the_same() {
    let desk = Desk::open().await;
    let body = envelope("m-1", "hello");
    let payload = told(&desk, &body, "response:results").await;
    assert_eq!(payload["results"]["text"], "You said: hello");
    let (first, again) = (post(&desk, &body).await, post(&desk, &body).await);
    assert_eq!((first.status, &first.text), (200, &again.text));
    assert_eq!(first.header("x-run-id"), payload["task_id"].as_str());
    // It is a task as any other.
    let task = rpc(&desk, "GetTask", json!({"id": payload["task_id"]})).await;
    assert_eq!(task["result"]["contextId"], payload["context_id"]);
    // Whatever of it is other than before, it is another message.
    let mut kind = body.clone();
    kind["type"] = json!("request:orchestrator:task");
    let mut sender = body.clone();
    sender["sender"] = json!("somebody");
    for other in [envelope("m-1", "else"), kind, sender] {
        let got = post(&desk, &other).await.json();
        assert_eq!(got["payload"]["reason"], "invalid_message", "{got}");
    }
    let mut later = body.clone();
    later["timestamp"] = json!("2026-01-31T12:00:05Z");
    assert_eq!(post(&desk, &later).await.text, first.text);
    // A conversation is gone on with by its name.
    let mut next = envelope("m-2", "more");
    next["metadata"]["context_id"] = payload["context_id"].clone();
    let next = told(&desk, &next, "response:results").await;
    assert_eq!(next["context_id"], payload["context_id"]);
}

#[tokio::test]
async fn a_question_and_an_approval_are_input_that_is_required() {
    let desk = Desk::open().await;
    let asked = told(&desk, &envelope("m-1", "which"), "response:input-required").await;
    assert_eq!(
        (&asked["expects"], &asked["question"]["id"]),
        (&json!("answer"), &json!("colour"))
    );
    let mut answer = envelope("m-2", "blue");
    answer["metadata"]["task_id"] = asked["task_id"].clone();
    let done = told(&desk, &answer, "response:results").await;
    assert_eq!(done["task_id"], asked["task_id"]);
    // What was answered to the first message stays its answer.
    told(&desk, &envelope("m-1", "which"), "response:input-required").await;
    let approval = told(
        &desk,
        &envelope("m-3", "letter to Ann"),
        "response:input-required",
    )
    .await;
    assert_eq!(approval["expects"], "approval");
    let mut yes = envelope("m-4", "approve");
    yes["metadata"]["task_id"] = approval["task_id"].clone();
    told(&desk, &yes, "response:input-required").await;
    assert_eq!(desk.sent.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_message_waits_for_those_that_it_depends_on() {
    let desk = Desk::open().await;
    told(&desk, &envelope("m-1", "hello"), "response:results").await;
    let after = |id: &str, on: &str| {
        let mut body = envelope(id, "after");
        body["metadata"]["dependencies"] = json!([on]);
        body
    };
    told(&desk, &after("m-2", "m-1"), "response:results").await;
    let reason = async |body: Value| {
        let payload = told(&desk, &body, "response:error").await;
        payload["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(after("m-3", "m-9")).await, "unknown_dependency");
    assert_eq!(reason(after("m-4", "m-4")).await, "cyclic_dependency");
    told(&desk, &envelope("m-5", "which"), "response:input-required").await;
    assert_eq!(reason(after("m-6", "m-5")).await, "dependency_failed");
    // What was refused can be sent again when it can be done.
    told(&desk, &envelope("m-9", "hello"), "response:results").await;
    told(&desk, &after("m-3", "m-9"), "response:results").await;
    // Two that want each other are both refused, whichever comes first.
    let (one, two) = (after("x-1", "x-2"), after("x-2", "x-1"));
    let both = tokio::join!(post(&desk, &one), post(&desk, &two));
    let reasons = [both.0.json(), both.1.json()].map(|told| told["payload"]["reason"].clone());
    assert_eq!(
        reasons,
        [json!("unknown_dependency"), json!("unknown_dependency")]
    );
    // Of another client there is no such message.
    let theirs = [("authorization", "Basic ZGVtbzpkZW1v")];
    let theirs = desk
        .post_as(&theirs, "/a2a/message", &after("m-7", "m-1"))
        .await;
    assert_eq!(theirs.json()["payload"]["reason"], "unknown_dependency");
}

#[tokio::test]
async fn what_is_refused_says_why_and_the_right_place() {
    let desk = Desk::open().await;
    let with = |pointer: &str, value: Value| {
        let mut body = envelope("m", "hello");
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    let mut late = envelope("m", "hello");
    late["payload"]["deadline"] = json!("2020-01-01T00:00:00Z");
    for (body, status, reason) in [
        (with("/receiver", json!("nobody")), 404, "unknown_receiver"),
        (
            with("/type", json!("request:dance")),
            422,
            "unsupported_type",
        ),
        (with("/payload", json!({})), 422, "invalid_message"),
        (late, 200, "deadline_passed"),
    ] {
        let got = post(&desk, &body).await;
        let payload = got.json()["payload"].clone();
        assert_eq!(
            (got.status, &payload["reason"]),
            (status, &json!(reason)),
            "{payload}"
        );
    }
    // What belongs to another door of the same agent is told which.
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message("a", "a")}});
    for (door, body, right) in [
        ("/a2a/message", &call, " /a2a\""),
        ("/agents/desk/a2a/message", &call, " /agents/desk/a2a\""),
        ("/a2a", &envelope("m", "hello"), " /a2a/message\""),
        (
            "/agents/desk/a2a",
            &envelope("m", "hello"),
            " /agents/desk/a2a/message\"",
        ),
        (
            "/agents/desk/a2a/v1/message:send",
            &envelope("m", "hello"),
            " /agents/desk/a2a/message\"",
        ),
        (
            "/agents/desk/a2a/v1/message:send",
            &call,
            " /agents/desk/a2a\"",
        ),
    ] {
        let astray = desk.post_as(&HEADERS, door, body).await;
        assert_eq!(astray.status, 400, "{door}");
        assert!(astray.text.contains(right), "{door}: {astray:?}");
    }
    let signed = [HEADERS[0], ("x-jws-signature", "e30..x")];
    let signed = desk
        .post_as(&signed, "/a2a/message", &envelope("m", "hello"))
        .await;
    assert_eq!(
        signed.json()["payload"]["reason"],
        "signature_not_supported"
    );
    assert_eq!(
        desk.post_as(&[], "/a2a/message", &envelope("m", "hello"))
            .await
            .status,
        401
    );
    assert_eq!(desk.get("/a2a/message").await.status, 405);
}

#[tokio::test]
async fn an_agent_is_called_by_its_other_names_and_about_tools_as_their_registry() {
    let desk = Desk::open().await;
    let to = |receiver: &str, id: &str| {
        let mut body = envelope(id, "hello");
        body["receiver"] = json!(receiver);
        body
    };
    told(&desk, &to("desk-agent", "m-1"), "response:results").await;
    let mut tools = to("tool-registry-id", "t-1");
    tools["type"] = json!("request:discover-tools");
    tools["payload"] = json!({});
    told(&desk, &tools, "response:available-tools").await;
    // A registry works on nothing.
    let registry = told(&desk, &to("tool-registry-id", "m-2"), "response:error").await;
    assert_eq!(registry["reason"], "unknown_receiver");
    let near = told(&desk, &to("dsk", "m-3"), "response:error").await;
    let message = near["message"].as_str().unwrap();
    assert!(message.ends_with("; did you mean \"desk\"?"), "{message}");
}

#[tokio::test]
async fn a_kind_of_work_that_the_agent_does_not_know_is_refused_with_the_nearest() {
    let desk = Desk::open().await;
    let mut body = envelope("m-1", "hello");
    body["payload"]["task_type"] = json!("tecnical");
    let refused = told(&desk, &body, "response:error").await;
    assert_eq!(
        (&refused["reason"], &refused["message"]),
        (
            &json!("invalid_message"),
            &json!(
                "payload.task_type: \"tecnical\" is no kind of work here; there are technical, support; did you mean \"technical\"?"
            )
        )
    );
    body["payload"]["task_type"] = json!("support");
    told(&desk, &body, "response:results").await;
}

#[tokio::test]
async fn a_deadline_ends_a_call_that_never_answers() {
    let desk = Desk::open().await;
    for (id, text) in [("m-1", "mail"), ("m-2", "slow one")] {
        let mut body = envelope(id, text);
        let deadline = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(2);
        body["payload"]["deadline"] = json!(deadline.to_string());
        let late = tokio::time::timeout(LONG, told(&desk, &body, "response:error")).await;
        let late = late.unwrap();
        assert_eq!(late["reason"], "deadline_passed", "{text}");
        let task = rpc(&desk, "GetTask", json!({"id": late["task_id"]})).await;
        assert_eq!(state(&task["result"]), "CANCELED", "{text}");
    }
}

#[tokio::test]
async fn an_agent_says_what_it_takes_and_how_it_stands() {
    let desk = Desk::open().await;
    let got = desk
        .ask("GET", "/agents/desk/a2a/capabilities", &[], b"")
        .await;
    let told = got.json();
    assert_eq!(told["@context"], "https://a2a-protocol.org/context.jsonld");
    assert_eq!(
        (&told["id"], &told["name"]),
        (&json!("desk"), &json!("Repeats what is said"))
    );
    assert_eq!(told["endpoints"]["message"], "/agents/desk/a2a/message");
    assert_eq!(
        told["supportedMessageTypes"][0],
        json!({"type": "request:task", "direction": "incoming", "schema": "/agents/desk/a2a/envelope.schema.json#/$defs/request:task"})
    );
    let card = desk
        .ask("GET", "/.well-known/agent-card.json", &[], b"")
        .await
        .json();
    assert_eq!(
        card["capabilities"]["extensions"][0]["params"]["message"],
        "/a2a/message"
    );
    let status = desk.get("/a2a/status").await.json();
    assert_eq!(
        (&status["id"], &status["status"]),
        (&json!("desk"), &json!("ready"))
    );
    assert_eq!(desk.ask("GET", "/a2a/status", &[], b"").await.status, 401);
    let mut tools = envelope("t-1", "");
    tools["type"] = json!("request:discover-tools");
    tools["payload"] = json!({"category_filter": null, "capability_requirements": ["letters"]});
    let payload = super::envelope::told(&desk, &tools, "response:available-tools").await;
    assert_eq!(payload["tools"], json!([]));
}
