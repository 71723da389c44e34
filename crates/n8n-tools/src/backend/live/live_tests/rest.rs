//! n8n's REST API: what is sent, what is read, and what happens when it goes wrong.

use super::*;
use std::time::Duration;
use tokio::net::TcpListener;

#[tokio::test]
async fn a_document_is_read_without_what_belongs_to_the_instance() {
    let script = Script::default().on("GET /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))]);
    let (backend, _) = script.rest().await;
    let stored = backend.get(&id("w1")).await.unwrap();
    assert_eq!(
        stored.workflow.to_value(),
        json!({
            "name": "Orders",
            "nodes": given("w1", "x")["nodes"],
            "connections": {},
            "settings": {"executionOrder": "v1", "binaryMode": "separate"},
        })
    );
    assert_eq!(
        (stored.tags, stored.version_id, stored.active),
        (vec!["shop".to_owned()], Some("v-1".to_owned()), false)
    );
}

#[tokio::test]
async fn a_write_sends_what_n8n_takes_and_of_settings_what_differs() {
    let script = Script::default()
        .on("GET /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))])
        .on("PUT /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))])
        .on("POST /api/v1/workflows", vec![ok(given("w1", "Orders"))]);
    let (backend, asked) = script.rest().await;
    backend.create(None, &document("Orders")).await.unwrap();
    backend
        .replace(&id("w1"), &document("Orders"))
        .await
        .unwrap();
    let nodes = json!([{"id": "n1", "name": "Start", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "p"}}]);
    let bodies: Vec<Value> = asked
        .bodies()
        .into_iter()
        .filter(|b| !b.is_null())
        .collect();
    assert_eq!(
        bodies,
        [
            json!({"name": "Orders", "nodes": nodes, "connections": {}, "settings": {"executionOrder": "v1", "timezone": "Europe/Berlin"}}),
            json!({"name": "Orders", "nodes": nodes, "connections": {}, "settings": {"timezone": "Europe/Berlin"}}),
        ]
    );
    assert_eq!(
        asked.lines().last().unwrap(),
        "GET /api/v1/workflows/w1", // read back
    );
}

/// A creation with a description is refused, in words of its own by each release; an update takes it.
#[tokio::test]
async fn a_description_goes_in_by_an_update_where_a_creation_is_refused_with_it() {
    for refusal in [
        "request/body must NOT have additional properties",
        "request/body Unrecognized key(s) in object: 'description'",
    ] {
        let refused = http(400, &[], &json!({"message": refusal}));
        let script = Script::default()
            .on("GET /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))])
            .on("PUT /api/v1/workflows/w1", vec![ok(given("w1", "Orders"))])
            .on(
                "POST /api/v1/workflows",
                vec![refused, ok(given("w1", "Orders"))],
            );
        let (backend, asked) = script.rest().await;
        let mut described = document("Orders");
        described
            .head
            .insert("description".into(), json!("Says ok."));
        backend.create(None, &described).await.unwrap();
        let sent: Vec<Value> = (asked.bodies().iter())
            .filter(|body| !body.is_null())
            .map(|body| body["description"].clone())
            .collect();
        assert_eq!(
            sent,
            [json!("Says ok."), Value::Null, json!("Says ok.")],
            "{refusal}"
        );
    }
}

#[tokio::test]
async fn a_setting_that_goes_away_is_taken_back() {
    let mut now = given("w1", "Orders");
    now["settings"] = json!({"executionOrder": "v1", "timezone": "Asia/Tokyo", "errorWorkflow": "w9", "executionTimeout": 30});
    let script = Script::default()
        .on("GET /api/v1/workflows/w1", vec![ok(now.clone())])
        .on("PUT /api/v1/workflows/w1", vec![ok(now)]);
    let (backend, asked) = script.rest().await;
    let mut wanted = document("Orders");
    wanted.head["settings"] = json!({"executionOrder": "v1"});
    backend.replace(&id("w1"), &wanted).await.unwrap();
    let body = asked.bodies().into_iter().find(|b| !b.is_null()).unwrap();
    assert_eq!(
        body["settings"],
        json!({"timezone": "DEFAULT", "errorWorkflow": "DEFAULT", "executionTimeout": -1})
    );
}

#[tokio::test]
async fn a_listing_comes_in_pages_and_means_the_name_it_says() {
    let mut archived = given("w3", "Orders");
    archived["isArchived"] = json!(true);
    let script = Script::default()
        .on("GET /api/v1/workflows?", vec![ok(json!({"data": [given("w1", "Orders"), given("w2", "Orders 2")], "nextCursor": "c 1"}))])
        .on("GET /api/v1/workflows?limit=50&excludePinnedData=true&name=Orders&cursor=c+1", vec![ok(json!({"data": [archived, given("w4", "Orders")], "nextCursor": null}))]);
    let (backend, _) = script.rest().await;
    let found = crate::backend::list_all(&backend, &ListQuery::named("Orders"))
        .await
        .unwrap();
    let ids: Vec<&str> = found.workflows.iter().map(|w| w.id.0.as_str()).collect();
    assert_eq!(ids, ["w1", "w4"]);
}

#[tokio::test]
async fn an_error_says_what_to_do_and_never_the_key() {
    let told = json!({"message": format!("the key {KEY} is wrong")});
    for (status, kind) in [
        (401, BackendErrorKind::Unavailable),
        (403, BackendErrorKind::Unavailable),
        (404, BackendErrorKind::NotFound),
        (400, BackendErrorKind::Rejected),
        (405, BackendErrorKind::Unsupported),
        (500, BackendErrorKind::Unavailable),
        (302, BackendErrorKind::Unavailable),
    ] {
        let script = Script::default().on(
            "GET /api/v1/workflows/w1",
            vec![http(
                status,
                &["location: http://elsewhere.example/"],
                &told,
            )],
        );
        let (backend, asked) = script.rest().await;
        let error = backend.get(&id("w1")).await.unwrap_err();
        assert_eq!(error.kind, kind, "{status}");
        assert_eq!(error.forbidden, status == 403, "{status}");
        assert!(!format!("{error:?}").contains(KEY), "{status}");
        assert_eq!(asked.lines().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn n8n_that_asks_for_patience_is_asked_again_and_not_for_ever() {
    let busy = || http(429, &["retry-after: 0"], &json!({"message": "slow down"}));
    let script = Script::default().on(
        "POST /api/v1/workflows/w1/activate",
        vec![busy(), busy(), ok(given("w1", "Orders"))],
    );
    let (target, asked) = script.start().await;
    let rest = target.open().unwrap();
    rest.set_active(&id("w1"), true).await.unwrap();
    assert_eq!(asked.lines().len(), 3);

    let script = Script::default().on("POST /api/v1/workflows", vec![busy()]);
    let (backend, asked) = script.rest().await;
    let error = backend.create(None, &document("W")).await.unwrap_err();
    assert_eq!(error.kind, BackendErrorKind::Unavailable);
    assert_eq!(asked.lines().len(), 4);

    // Longer than anybody would wait: told at once.
    let script = Script::default().on(
        "GET /api/v1/workflows/w1",
        vec![http(429, &["retry-after: 3600"], &json!({}))],
    );
    let (backend, asked) = script.rest().await;
    assert!(backend.get(&id("w1")).await.is_err());
    assert_eq!(asked.lines().len(), 1);
}

#[tokio::test]
async fn a_read_survives_a_broken_connection_and_a_write_is_sent_once() {
    let script = Script::default()
        .on(
            "GET /api/v1/workflows/w1",
            vec![Vec::new(), ok(given("w1", "Orders"))],
        )
        .on("POST /api/v1/workflows", vec![Vec::new()]);
    let (backend, asked) = script.rest().await;
    assert!(backend.get(&id("w1")).await.is_ok());
    let error = backend.create(None, &document("W")).await.unwrap_err();
    assert_eq!(error.kind, BackendErrorKind::Unavailable);
    assert!(error.hint.unwrap().starts_with("it may have happened"));
    let posts = asked.lines().into_iter().filter(|l| l.starts_with("POST"));
    assert_eq!(posts.count(), 1);
}

#[tokio::test]
async fn n8n_that_does_not_answer_has_a_time_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = http::base(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let http = Http::new(url, None, &Default::default())
        .unwrap()
        .with_limits(Duration::from_millis(50));
    let error = Rest::new(http)
        .get(&id("w1"))
        .await
        .map(|_| ())
        .unwrap_err();
    assert!(error.message.contains("did not answer"), "{error}");
}

#[test]
fn an_id_cannot_lead_elsewhere() {
    for odd in ["", "..", "a/b", "a?b", "a%2fb", "a b", "ä"] {
        assert!(document::checked_id(odd).is_err(), "{odd}");
    }
    let http = Http::new(
        http::base("http://n8n.example/base/api/v1").unwrap(),
        None,
        &Default::default(),
    )
    .unwrap();
    assert_eq!(
        http.url(&["api", "v1", "a/../b"]).as_str(),
        "http://n8n.example/base/api/v1/a%2F..%2Fb"
    );
    for odd in ["ftp://x", "http://a:b@x/", "nonsense"] {
        assert!(http::base(odd).is_err(), "{odd}");
    }
}

/// A workflow that stands beside a note of two lines.
fn with_note() -> Value {
    let mut now = given("w1", "Orders");
    let note = json!({"id": "n9", "name": "To do (agentctl)", "type": "n8n-nodes-base.stickyNote", "typeVersion": 1, "position": [0, -176],
        "parameters": {"color": 1, "content": "## To do\n- **Start**: choose a path\n- ask Ann", "height": 128, "width": 320}});
    now["nodes"].as_array_mut().unwrap().push(note);
    now
}

fn item(node: &str, text: &str) -> Item {
    Item {
        node: node.to_owned(),
        text: text.to_owned(),
    }
}

fn put(asked: &Asked) -> Vec<Value> {
    let bodies = asked.bodies().into_iter();
    bodies.filter(|body| !body.is_null()).collect()
}

#[tokio::test]
async fn a_note_is_no_part_of_the_document_and_stays_at_a_change_as_far_as_it_holds() {
    let script = Script::default()
        .on("GET /api/v1/workflows/w1", vec![ok(with_note())])
        .on("PUT /api/v1/workflows/w1", vec![ok(with_note())]);
    let (backend, asked) = script.rest().await;
    let stored = backend.get(&id("w1")).await.unwrap();
    assert_eq!(json!(stored.workflow.nodes), given("w1", "x")["nodes"]);
    assert_eq!(
        stored.todo,
        [item("Start", "choose a path"), item("", "ask Ann")]
    );
    let mut wanted = stored.workflow;
    backend.replace(&id("w1"), &wanted).await.unwrap();
    wanted.nodes[0].edit_parameters(|p| p.insert("path".into(), "orders".into()));
    backend.replace(&id("w1"), &wanted).await.unwrap();
    let sent = put(&asked);
    assert_eq!(sent[0]["nodes"], with_note()["nodes"]);
    assert_eq!(
        (
            &sent[1]["nodes"][1]["id"],
            &sent[1]["nodes"][1]["parameters"]["content"]
        ),
        (&json!("n9"), &json!("## To do\n- ask Ann"))
    );
}

#[tokio::test]
async fn a_note_is_written_renewed_and_taken_away_beside_the_same_nodes() {
    let script = Script::default()
        .on(
            "GET /api/v1/workflows/w1",
            vec![ok(given("w1", "Orders")), ok(with_note())],
        )
        .on("PUT /api/v1/workflows/w1", vec![ok(with_note())]);
    let (backend, asked) = script.rest().await;
    let said = [item("Start", "choose a path"), item("", "ask Ann")];
    for todo in [&said[..], &said[..], &[]] {
        backend.note_todo(&id("w1"), todo, "n9").await.unwrap();
    }
    let sent = put(&asked);
    assert_eq!(sent.len(), 2, "what it says already is not written again");
    assert_eq!(sent[0]["nodes"], with_note()["nodes"]);
    assert_eq!(sent[1]["nodes"], given("w1", "x")["nodes"]);
}
