//! Who is told of a task without asking: named by its client, told in order, told again by the next process, and never by a way inside.

use super::agents::{HEADERS, message, rpc, sent, state};
use super::support::{Desk, MANIFEST, two};
use agentctl_host::key::Key;
use agentctl_host::reach::Addresses;
use agentctl_mcp::serve::listen::Plain;
use agentctl_sessions::{Marks, Pushes as _, SqliteSessions};
use agentctl_testkit::fake_http::{Asked, Request, response, serve};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::Runtime;

/// A desk that may tell what is on this machine.
async fn desk_in(folder: Arc<tempfile::TempDir>, allow: &[&str]) -> Desk {
    desk_of(MANIFEST, folder, allow).await
}

async fn desk_of(manifest: &'static str, folder: Arc<tempfile::TempDir>, allow: &[&str]) -> Desk {
    let allow = Addresses::of(allow.iter().copied()).unwrap();
    let key = Key::fixed([7; Key::BYTES]);
    let more = |server: agentctl_serve::Server| server.with_push(&key, allow);
    Desk::over(Plain, manifest, folder, two(), |_| {}, more).await
}

async fn desk() -> Desk {
    desk_in(Arc::new(tempfile::tempdir().unwrap()), &["127.0.0.1"]).await
}

/// A receiver that takes everything but the first so many.
async fn receiver(refuses: usize) -> (String, Asked) {
    let count = AtomicUsize::new(0);
    let answer = move |_: &Request| match count.fetch_add(1, Ordering::SeqCst) < refuses {
        true => response("503 Busy", "", b""),
        false => response("200 OK", "", b""),
    };
    serve(answer).await
}

/// What came, once it is as said.
async fn came(asked: &Asked, until: impl Fn(&[Value]) -> bool) -> Vec<Request> {
    loop {
        let all = asked.all();
        let bodies: Vec<Value> = all.iter().map(|request| request.body.clone()).collect();
        if until(&bodies) {
            return all;
        }
        tokio::task::yield_now().await;
    }
}

fn stands(body: &Value) -> Option<&str> {
    let state = body["statusUpdate"]["status"]["state"].as_str()?;
    state.strip_prefix("TASK_STATE_")
}

fn ends_with(state: &'static str) -> impl Fn(&[Value]) -> bool {
    move |bodies| {
        bodies
            .last()
            .is_some_and(|last| stands(last) == Some(state))
    }
}

#[tokio::test]
async fn a_receiver_named_with_a_message_is_told_of_its_task_in_order() {
    let desk = desk().await;
    let (url, asked) = receiver(0).await;
    let config = json!({
        "id": "mine", "url": format!("{url}/told?key=k"), "token": "shown-to-it", "authentication": {"scheme": "Bearer", "credentials": "s3cret-of-theirs"}
    });
    let params = json!({"message": message("m-1", "hello"), "configuration": {"taskPushNotificationConfig": config}});
    let task = rpc(&desk, "SendMessage", params.clone()).await["result"]["task"].clone();
    let all = came(&asked, ends_with("COMPLETED")).await;
    let said = all
        .iter()
        .find(|request| request.body["artifactUpdate"].is_object());
    let said = &said.unwrap().body["artifactUpdate"];
    assert_eq!(said["taskId"], task["id"]);
    assert_eq!(said["artifact"]["parts"][0]["text"], "You said: hello");
    assert_eq!(stands(&all[0].body), Some("WORKING"));
    for request in &all {
        assert_eq!(request.line, "POST /told?key=k");
        for header in [
            "content-type: application/a2a+json",
            "x-a2a-notification-token: shown-to-it",
            "authorization: bearer s3cret-of-theirs",
        ] {
            assert!(
                request.head.lines().any(|line| line == header),
                "{header}: {}",
                request.head
            );
        }
    }
    // Its secrets are told to nobody again, not even to who named it.
    let of = json!({"taskId": task["id"], "id": "mine"});
    let got = rpc(&desk, "GetTaskPushNotificationConfig", of).await;
    assert_eq!(
        got["result"],
        json!({"id": "mine", "taskId": task["id"], "url": format!("{url}/told?key=k"), "authentication": {"scheme": "Bearer"}})
    );
    // The same message again is told nobody a second time.
    rpc(&desk, "SendMessage", params).await;
    let log = desk.log.lock().unwrap().join("\n");
    assert!(!log.contains("s3cret") && !log.contains("key=k"), "{log}");
    assert_eq!(asked.all().len(), all.len());
}

#[tokio::test]
async fn receivers_are_named_listed_and_taken_away_over_both_bindings() {
    let desk = desk().await;
    let (url, asked) = receiver(0).await;
    let task = sent(&desk, &message("m-1", "which")).await;
    let id = task["id"].as_str().unwrap();
    let path = format!("/a2a/v1/tasks/{id}/pushNotificationConfigs");
    let body = json!({"url": url}).to_string();
    let headers = [&HEADERS[..], &[("content-type", "application/json")]].concat();
    let made = desk.ask("POST", &path, &headers, body.as_bytes()).await;
    assert_eq!(made.status, 200, "{made:?}");
    let named = made.json()["id"].as_str().unwrap().to_owned();
    let second = json!({"taskId": id, "id": "b b", "url": url});
    rpc(&desk, "CreateTaskPushNotificationConfig", second).await;
    let names = |list: &Value| {
        let all = list["configs"].as_array().unwrap().iter();
        let mut names: Vec<String> = all.map(|c| c["id"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let listed = rpc(
        &desk,
        "ListTaskPushNotificationConfigs",
        json!({"taskId": id}),
    )
    .await;
    let mut both = vec!["b b".to_owned(), named.clone()];
    both.sort();
    assert_eq!(names(&listed["result"]), both);
    // Page by page, over both bindings.
    let first = json!({"taskId": id, "pageSize": 1});
    let first = rpc(&desk, "ListTaskPushNotificationConfigs", first).await["result"].clone();
    assert_eq!(names(&first), both[..1]);
    let token = first["nextPageToken"].as_str().unwrap();
    let next: String = url::form_urlencoded::byte_serialize(token.as_bytes()).collect();
    let rest = format!("{path}?pageSize=1&pageToken={next}");
    let rest = desk.ask("GET", &rest, &HEADERS, b"").await.json();
    assert_eq!(names(&rest), both[1..]);
    assert_eq!(rest["nextPageToken"].as_str().unwrap_or_default(), "");
    let many = json!({"taskId": id, "pageSize": 1000});
    let many = rpc(&desk, "ListTaskPushNotificationConfigs", many).await;
    assert_eq!(many["error"]["code"], -32602, "{many}");
    let one = desk
        .ask("GET", &format!("{path}/b%20b"), &HEADERS, b"")
        .await;
    assert_eq!(one.json()["url"], format!("{url}/"), "{one:?}");
    for _ in 0..2 {
        let gone = desk
            .ask("DELETE", &format!("{path}/b%20b"), &HEADERS, b"")
            .await;
        assert_eq!((gone.status, gone.text.as_str()), (200, "{}"));
    }
    let none = desk
        .ask("GET", &format!("{path}/b%20b"), &HEADERS, b"")
        .await;
    assert_eq!(none.status, 404, "{none:?}");
    let listed = desk.ask("GET", &path, &HEADERS, b"").await.json();
    assert_eq!(names(&listed), [named]);
    // Told is what comes from now on: that the task waits was before.
    let mut answer = message("m-2", "Blue");
    answer["taskId"] = json!(id);
    assert_eq!(state(&sent(&desk, &answer).await), "COMPLETED");
    let all = came(&asked, ends_with("COMPLETED")).await;
    assert!(
        all.iter()
            .all(|r| stands(&r.body) != Some("INPUT_REQUIRED"))
    );
    // Another client's task has no receivers.
    let other = [("authorization", "Basic ZGVtbzpkZW1v"), HEADERS[1]];
    let other = desk.ask("GET", &path, &other, b"").await;
    assert_eq!(other.status, 404, "{other:?}");
    assert_eq!(
        desk.get("/.well-known/agent-card.json").await.json()["capabilities"]["pushNotifications"],
        true
    );
}

#[tokio::test]
async fn no_address_inside_is_told_and_none_without_https() {
    let desk = desk_in(Arc::new(tempfile::tempdir().unwrap()), &[]).await;
    let (url, asked) = receiver(0).await;
    let task = sent(&desk, &message("m-1", "which")).await;
    let port = url.rsplit(':').next().unwrap();
    for (address, why) in [
        (url.clone(), "an address of this machine"),
        (
            format!("http://localhost:{port}"),
            "an address of this machine",
        ),
        (
            format!("http://[::ffff:127.0.0.1]:{port}"),
            "an address of this machine",
        ),
        (
            "http://169.254.169.254/latest".to_owned(),
            "a private network",
        ),
        ("https://10.0.0.1/".to_owned(), "a private network"),
        ("http://93.184.216.34/".to_owned(), "without https"),
        (
            "https://user:pw@93.184.216.34/".to_owned(),
            "holds a user's name",
        ),
        ("file:///etc/passwd".to_owned(), "not http or https"),
        ("somewhere".to_owned(), "is no address"),
        (
            format!("https://93.184.216.34/{}", "a".repeat(2048)),
            "more than 2048",
        ),
    ] {
        let config = json!({"taskId": task["id"], "url": address});
        let refused = rpc(&desk, "CreateTaskPushNotificationConfig", config).await;
        assert_eq!(refused["error"]["code"], -32602, "{address}: {refused}");
        let told = refused["error"]["message"].as_str().unwrap();
        assert!(
            told.starts_with("url: ") && told.contains(why),
            "{address}: {told}"
        );
        // With a message nothing is done.
        let inline = json!({"message": message(&address, "hello"), "configuration": {"taskPushNotificationConfig": {"url": address}}});
        assert_eq!(
            rpc(&desk, "SendMessage", inline).await["error"]["code"],
            -32602
        );
    }
    for wrong in [
        json!({"token": "a\nb"}),
        json!({"authentication": {"scheme": "Be arer", "credentials": "c"}}),
        json!({"authentication": {"scheme": "Bearer", "credentials": "c\r\nx: y"}}),
        json!({"id": "a/b"}),
    ] {
        let mut config = json!({"taskId": task["id"], "url": "https://93.184.216.34/"});
        config
            .as_object_mut()
            .unwrap()
            .extend(wrong.as_object().unwrap().clone());
        let refused = rpc(&desk, "CreateTaskPushNotificationConfig", config).await;
        assert_eq!(refused["error"]["code"], -32602, "{wrong}: {refused}");
    }
    let listed = rpc(&desk, "ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 1);
    assert!(asked.all().is_empty());
}

#[tokio::test]
async fn a_ninth_receiver_of_a_task_is_refused() {
    let desk = desk().await;
    let (url, _) = receiver(0).await;
    let task = sent(&desk, &message("m-1", "which")).await;
    let named = |name: String| json!({"taskId": task["id"], "id": name, "url": url});
    for n in 0..8 {
        let made = rpc(
            &desk,
            "CreateTaskPushNotificationConfig",
            named(n.to_string()),
        )
        .await;
        assert!(made["result"].is_object(), "{made}");
    }
    let ninth = rpc(&desk, "CreateTaskPushNotificationConfig", named("8".into())).await;
    assert_eq!(ninth["error"]["code"], -32602, "{ninth}");
    // One that is there is named anew.
    let again = rpc(&desk, "CreateTaskPushNotificationConfig", named("7".into())).await;
    assert!(again["result"].is_object(), "{again}");
}

#[test]
fn what_was_not_taken_is_told_again_by_the_next_process() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let outside = Runtime::new().unwrap();
    let (url, asked) = outside.block_on(receiver(1));
    let first = Runtime::new().unwrap();
    let task = first.block_on(async {
        let desk = desk_in(Arc::clone(&folder), &["127.0.0.1"]).await;
        let params = json!({"message": message("m-1", "hello"), "configuration": {"taskPushNotificationConfig": {"url": url}}});
        let task = rpc(&desk, "SendMessage", params).await["result"]["task"].clone();
        came(&asked, |bodies| bodies.len() == 1).await;
        task
    });
    // Gone in the middle of telling, as by a kill.
    first.shutdown_background();
    let second = Runtime::new().unwrap();
    second.block_on(async {
        let desk = desk_in(folder, &["127.0.0.1"]).await;
        let all = came(&asked, ends_with("COMPLETED")).await;
        assert_eq!(all[0].body, all[1].body);
        let texts = all.iter().filter_map(|request| {
            request.body["artifactUpdate"]["artifact"]["parts"][0]["text"].as_str()
        });
        assert_eq!(texts.collect::<Vec<_>>(), ["You said: hello"]);
        for request in &all {
            let update = ["statusUpdate", "artifactUpdate"].map(|of| &request.body[of]["taskId"]);
            assert!(update.contains(&&task["id"]), "{request:?}");
        }
        drop(desk);
    });
}

#[tokio::test]
async fn a_receiver_that_is_behind_is_not_told_that_an_overtaken_task_is_complete() {
    let manifest = MANIFEST.replace("  a2a:\n", "  a2a:\n    waits: state.mode == 'ASKS'\n");
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let desk = desk_of(Box::leak(manifest.into_boxed_str()), folder, &["127.0.0.1"]).await;
    let (slow, told_slow) = receiver(1).await;
    let (quick, told_quick) = receiver(0).await;
    let to = |url: &str| json!({"taskPushNotificationConfig": {"url": url, "id": "mine"}});
    let params = json!({"message": message("m-1", "order tea"), "configuration": to(&slow)});
    let first = rpc(&desk, "SendMessage", params).await["result"]["task"].clone();
    assert_eq!(state(&first), "INPUT_REQUIRED", "{first}");
    // The first event was not taken, so the receiver is behind; the next message comes meanwhile.
    came(&told_slow, |bodies| bodies.len() == 1).await;
    let mut next = message("m-2", "order cake");
    next["taskId"] = first["id"].clone();
    let params = json!({"message": next, "configuration": to(&quick)});
    let second = rpc(&desk, "SendMessage", params).await["result"]["task"].clone();
    assert_eq!(state(&second), "INPUT_REQUIRED", "{second}");
    came(&told_quick, ends_with("INPUT_REQUIRED")).await;
    let run = first["id"].as_str().unwrap();
    while !desk.server.sessions.pushes_of(run).await.unwrap()[0].ended {
        tokio::task::yield_now().await;
    }
    let all = told_slow.all();
    let told: Vec<_> = all.iter().filter_map(|r| stands(&r.body)).collect();
    assert_eq!(told, ["WORKING", "WORKING"], "the first was told again");
    // Asked for, it is as the last message left it.
    let now = rpc(&desk, "GetTask", json!({"id": run})).await["result"].clone();
    assert_eq!(state(&now), "INPUT_REQUIRED", "{now}");
}

#[tokio::test]
async fn a_receiver_that_is_behind_is_told_how_a_task_stands_that_nobody_else_is_told_of() {
    let manifest = MANIFEST.replace("  a2a:\n", "  a2a:\n    waits: state.mode == 'ASKS'\n");
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let desk = desk_of(Box::leak(manifest.into_boxed_str()), folder, &["127.0.0.1"]).await;
    for (name, stands_then) in [("a", "CANCELED"), ("b", "COMPLETED")] {
        let (url, asked) = receiver(1).await;
        let config = json!({"taskPushNotificationConfig": {"url": url}});
        let params = json!({"message": message(name, "order tea"), "configuration": config});
        let task = rpc(&desk, "SendMessage", params).await["result"]["task"].clone();
        came(&asked, |bodies| bodies.len() == 1).await;
        // It waits to be told again, and meanwhile the task goes on.
        if stands_then == "CANCELED" {
            rpc(&desk, "CancelTask", json!({"id": task["id"]})).await;
        } else {
            let mut next = message("next", "that is all");
            next["taskId"] = task["id"].clone();
            assert_eq!(state(&sent(&desk, &next).await), stands_then);
        }
        let all = came(&asked, ends_with(stands_then)).await;
        let told: Vec<_> = all.iter().filter_map(|r| stands(&r.body)).collect();
        assert_eq!(told, ["WORKING", "WORKING", stands_then]);
        let last = &all.last().unwrap().body["statusUpdate"];
        assert_eq!(last["taskId"], task["id"]);
    }
}

/// How often what its receiver did not take was tried.
async fn tries(sessions: &SqliteSessions, task: &Value) -> i64 {
    let pushes = sessions.pushes_of(task.as_str().unwrap()).await.unwrap();
    pushes[0].tries
}

#[test]
fn an_address_that_may_not_be_told_any_more_is_told_nothing() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let outside = Runtime::new().unwrap();
    let (url, asked) = outside.block_on(receiver(usize::MAX));
    let real = folder.path().canonicalize().unwrap();
    let marks = Marks::of(Some(Key::fixed([7; Key::BYTES])), &real);
    let first = Runtime::new().unwrap();
    let task = first.block_on(async {
        let desk = desk_in(Arc::clone(&folder), &["127.0.0.1"]).await;
        let params = json!({"message": message("m-1", "hello"), "configuration": {"taskPushNotificationConfig": {"url": url}}});
        let task = rpc(&desk, "SendMessage", params).await["result"]["task"]["id"].clone();
        came(&asked, |bodies| bodies.len() == 1).await;
        task
    });
    first.shutdown_background();
    // What was listed when the address was named is listed no more.
    outside.block_on(async {
        let memory = real.join("memory");
        let sessions = SqliteSessions::open(&memory, marks).await.unwrap();
        let (before, told) = (tries(&sessions, &task).await, asked.all().len());
        let desk = desk_in(folder, &[]).await;
        while tries(&sessions, &task).await <= before {
            tokio::task::yield_now().await;
        }
        assert_eq!(asked.all().len(), told);
        drop(desk);
    });
}

#[tokio::test]
async fn an_envelope_is_answered_and_called_back_with_the_same() {
    let desk = desk().await;
    let (url, asked) = receiver(0).await;
    let mut body = json!({
        "type": "request:task", "version": "1.0", "id": "e-1", "timestamp": "2026-01-31T12:00:00Z", "sender": "me", "receiver": "desk",
        "payload": {"query": "which"}, "metadata": {"callback_url": format!("{url}/back?key=k")}
    });
    let post = async |body: &Value| {
        let got = desk
            .post_as(&HEADERS[..1], "/agents/desk/a2a/message", body)
            .await;
        got.json()
    };
    let question = post(&body).await;
    assert_eq!(question["type"], "response:input-required");
    let all = came(&asked, |bodies| !bodies.is_empty()).await;
    assert_eq!(
        (&all[0].line, &all[0].body),
        (&"POST /back?key=k".to_owned(), &question)
    );
    let answer = json!({"task_id": question["payload"]["task_id"]});
    body["id"] = json!("e-2");
    body["payload"]["query"] = json!("Blue");
    body["metadata"] = answer;
    let done = post(&body).await;
    assert_eq!(done["type"], "response:results");
    let all = came(&asked, |bodies| bodies.len() == 2).await;
    let back = &all[1].body;
    assert_eq!(
        (
            &back["type"],
            &back["payload"]["in_reply_to"],
            &back["payload"]["results"]
        ),
        (
            &json!("response:results"),
            &json!("e-1"),
            &done["payload"]["results"]
        )
    );
    let seen = desk
        .get(&format!(
            "/runs/{}",
            done["payload"]["task_id"].as_str().unwrap()
        ))
        .await;
    assert!(!seen.text.contains("key=k"), "{seen:?}");
    body["id"] = json!("e-3");
    body["metadata"] = json!({"callback_url": "http://169.254.169.254/latest"});
    let refused = post(&body).await;
    assert_eq!(
        refused["payload"]["reason"], "callback_refused",
        "{refused}"
    );
}
