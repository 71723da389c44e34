//! Files that runs made, and the links to them.

use super::support::{Desk, Got, TOKEN, two};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tempfile::TempDir;

/// Repeats what is said, with what the body names beside it.
const MANIFEST: &str = "name: desk
channels:
  webhook:
    input: {text: body.text, user: body.user, place: body.place}
    required: [text]
    message: text
    session: {user: user}
  a2a:
    input: {place: message.data.place}
";

struct Made {
    desk: Desk,
    folder: Arc<TempDir>,
    /// The run that made it.
    run: String,
}

impl Made {
    /// A conversation whose run made a page.
    async fn open() -> Made {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let desk = Desk::of(MANIFEST, Arc::clone(&folder), two(), |_| {}).await;
        let said = desk.post("/hooks/desk", &json!({"text": "a report"})).await;
        let run = said.header("x-run-id").unwrap().to_owned();
        let made = Made { desk, folder, run };
        let files = made.folder.path().join("memory/files").join(&made.run);
        std::fs::create_dir_all(&files).unwrap();
        std::fs::write(files.join("Report.html"), "<script>1</script>").unwrap();
        made
    }

    fn place(&self) -> String {
        format!("memory/files/{}/Report.html", self.run)
    }

    fn body(&self) -> Value {
        json!({"text": "again", "place": self.place()})
    }

    async fn attachment(&self) -> Value {
        let said = self.desk.post("/hooks/desk", &self.body()).await;
        said.json()["attachment"].clone()
    }

    /// The link, without the server's address.
    async fn link(&self) -> String {
        let attachment = self.attachment().await;
        let url = attachment["url"].as_str().unwrap();
        let address = format!("http://{}", self.desk.address);
        url.strip_prefix(&address).unwrap().to_owned()
    }
}

async fn anybody(desk: &Desk, path: &str) -> Got {
    desk.ask("GET", path, &[], b"").await
}

#[tokio::test]
async fn a_reply_has_a_link_and_the_link_gives_the_file_to_be_saved() {
    let made = Made::open().await;
    let mut attachment = made.attachment().await;
    attachment.as_object_mut().unwrap().remove("url");
    assert_eq!(
        attachment,
        json!({"name": "Report.html", "mime": "text/html; charset=utf-8", "size": 18})
    );
    let link = made.link().await;
    let got = anybody(&made.desk, &link).await;
    assert_eq!((got.status, got.text.as_str()), (200, "<script>1</script>"));
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("content-length", "18"),
        (
            "content-disposition",
            "attachment; filename=\"report.html\"",
        ),
        (
            "content-security-policy",
            "default-src 'none'; sandbox; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(got.header(name), Some(value), "{name}");
    }
    // The log has the way, and not what opens it.
    let log = made.desk.log.lock().unwrap().join("\n");
    assert!(
        log.contains("/Report.html") && !log.contains("mark="),
        "{log}"
    );
}

#[tokio::test]
async fn a_link_counts_for_one_file_and_one_day() {
    let made = Made::open().await;
    let link = made.link().await;
    let files = made.folder.path().join("memory/files").join(&made.run);
    std::fs::write(files.join("Other.html"), "other").unwrap();
    let (path, query) = link.split_once('?').unwrap();
    let (until, mark) = query.split_once('&').unwrap();
    let seconds: i64 = until["until=".len()..].parse().unwrap();
    let other = if mark.ends_with('0') { '1' } else { '0' };
    for other in [
        path.to_owned(),
        format!("{path}?"),
        format!("{path}?{until}"),
        format!("{path}?{mark}&{until}"),
        format!("{path}?{until}&mark="),
        format!("{path}?until={}&{mark}", seconds + 1),
        format!("{path}?{until}&{mark}&{mark}"),
        format!("{path}?{until}&{}{other}", &mark[..mark.len() - 1]),
        link.replace("Report.html", "Other.html"),
        link.replace("Report.html", "../Report.html"),
        link.replace("Report.html", "%2e%2e%2fReport.html"),
        link.replace("Report.html", "Report.html/x"),
        format!("/files/../runs/{}/journal.json?{query}", made.run),
    ] {
        let got = anybody(&made.desk, &other).await;
        // What is no way to a file at all is asked for a secret first.
        assert!(matches!(got.status, 401 | 404), "{other}: {got:?}");
        assert!(!got.text.contains("script"), "{other}");
    }
    let got = made.desk.ask("DELETE", &link, &[], b"").await;
    assert_eq!(got.status, 405);
    let got = made.desk.post(&link, &json!({})).await;
    assert_eq!((got.status, got.header("allow")), (405, Some("get, head")));
    assert_eq!(anybody(&made.desk, &link).await.status, 200);
    made.desk.later.store(24 * 60 * 60 + 5, Ordering::Relaxed);
    let got = anybody(&made.desk, &link).await;
    assert_eq!(got.status, 404);
    assert_eq!(got.json()["detail"], "the time of this link is over");
    assert_eq!(anybody(&made.desk, &made.link().await).await.status, 200);
}

#[tokio::test]
async fn a_link_outlives_the_server_and_not_the_conversation() {
    let mut made = Made::open().await;
    let link = made.link().await;
    let said = made.desk.post("/hooks/desk", &json!({"text": "x"})).await;
    let session = said.header("x-session-id").unwrap().to_owned();
    made.desk.stop().await.unwrap().unwrap();
    let desk = Desk::of(MANIFEST, Arc::clone(&made.folder), two(), |_| {}).await;
    let host = made.desk.address.to_string();
    // The server has another port now.
    assert_ne!(host, desk.address.to_string());
    assert_eq!(anybody(&desk, &link).await.text, "<script>1</script>");
    let header = format!("Bearer {TOKEN}");
    let gone = desk
        .ask(
            "DELETE",
            &format!("/sessions/{session}"),
            &[("authorization", &header)],
            b"",
        )
        .await;
    assert_eq!((gone.status, &gone.json()["left"]), (200, &json!([])));
    assert_eq!(anybody(&desk, &link).await.status, 404);
    let files = made.folder.path().join("memory/files").join(&made.run);
    assert!(!files.exists());
}

#[tokio::test]
async fn nobody_is_given_a_link_to_what_another_conversation_made() {
    let made = Made::open().await;
    let none = json!({"name": "Report.html", "mime": "text/html; charset=utf-8", "size": null, "url": null});
    let told = |got: Got| got.json()["attachment"].clone();
    let desk = &made.desk;
    let basic = [("authorization", "Basic ZGVtbzpkZW1v")];
    let theirs = desk.post_as(&basic, "/hooks/desk", &made.body()).await;
    assert_eq!(told(theirs), none);
    let body = json!({"text": "x", "user": "another", "place": made.place()});
    assert_eq!(told(desk.post("/hooks/desk", &body).await), none);
    // What is not there looks the same, and what is no file of a run is as the flow said it.
    for (place, expected) in [
        (
            format!("memory/files/{}/None.html", made.run),
            json!({"name": "None.html", "mime": "text/html; charset=utf-8", "size": null, "url": null}),
        ),
        (
            "memory/runs/x/journal.jsonl".to_owned(),
            json!("memory/runs/x/journal.jsonl"),
        ),
        (
            format!("memory/files/{}/../x.md", made.run),
            json!(format!("memory/files/{}/../x.md", made.run)),
        ),
        (
            "https://example.com/page".to_owned(),
            json!("https://example.com/page"),
        ),
    ] {
        let got = desk
            .post("/hooks/desk", &json!({"text": "x", "place": place}))
            .await;
        assert_eq!(told(got), expected, "{place}");
    }
}

#[tokio::test]
async fn every_door_tells_where_a_file_is() {
    let made = Made::open().await;
    let desk = &made.desk;
    let said = desk.post("/hooks/desk", &made.body()).await;
    let run = said.header("x-run-id").unwrap().to_owned();
    let session = said.header("x-session-id").unwrap().to_owned();
    let is_link = |value: &Value| {
        let link = format!(
            "http://{}/files/{}/Report.html?until=",
            desk.address, made.run
        );
        value.as_str().unwrap_or_default().contains(&link)
    };
    let shown = desk.get(&format!("/runs/{run}")).await.json();
    assert!(
        is_link(&shown["messages"][0]["attachment"]["url"]),
        "{shown}"
    );
    let kept = desk.get(&format!("/sessions/{session}")).await.json();
    let last = kept["messages"].as_array().unwrap().last().unwrap();
    assert!(is_link(&last["attachment"]["url"]), "{kept}");
    let events = desk.get(&format!("/runs/{run}/events")).await.events();
    let events: Vec<Value> = events
        .iter()
        .map(|e| serde_json::from_str(e).unwrap())
        .collect();
    assert!(
        events.iter().any(|e| is_link(&e["attachment"]["url"])),
        "{events:?}"
    );
    let events = desk
        .get(&format!("/runs/{run}/events?format=ag-ui"))
        .await
        .events();
    let events: Vec<Value> = events
        .iter()
        .map(|e| serde_json::from_str(e).unwrap())
        .collect();
    let with = events
        .iter()
        .find(|e| e["name"] == "agentctl.with")
        .unwrap();
    assert!(is_link(&with["value"]["attachment"]["url"]), "{with}");
    // What only text is read of has it in its text.
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hi"}, {"data": {"place": made.place()}}]});
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let version = [
        ("authorization", &*format!("Bearer {TOKEN}")),
        ("a2a-version", "1.0"),
    ];
    let task = desk
        .post_as(&version, "/agents/desk/a2a", &call)
        .await
        .json();
    // The conversation of another door is another one.
    let parts = task["result"]["task"]["artifacts"][0]["parts"].clone();
    assert_eq!(parts[2]["data"]["attachment"]["url"], Value::Null, "{task}");
}

#[tokio::test]
async fn who_reads_text_alone_finds_the_link_below_the_message() {
    let desk = Desk::of(
        MANIFEST,
        Arc::new(tempfile::tempdir().unwrap()),
        two(),
        |_| {},
    )
    .await;
    let chat = |metadata: Value| json!({"sessionId": "s", "chatInput": "hi", "metadata": metadata});
    let place = json!({"place": "memory/files/none/x.md"});
    let said = desk.post("/chat/desk", &chat(place)).await;
    let run = said.header("x-run-id").unwrap();
    // Nothing is there to be had.
    assert_eq!(said.json()["output"], "You said: hi");
    let project = desk.server.packs["desk"].project.root().to_owned();
    let folder = project.join("memory/files").join(run);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("notes.md"), "notes").unwrap();
    let body = chat(json!({"place": format!("memory/files/{run}/notes.md")}));
    let told = format!(
        "You said: hi\n\nnotes.md: http://{}/files/{run}/notes.md?until=",
        desk.address
    );
    let whole = desk.post("/chat/desk", &body).await.json();
    let output = whole["output"].as_str().unwrap();
    assert!(output.starts_with(&told), "{output}");
    let path = output.split_once(&desk.address.to_string()).unwrap().1;
    assert_eq!(anybody(&desk, path).await.text, "notes");
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("accept", "text/event-stream"),
    ];
    let events = desk.post_as(&headers, "/chat/desk", &body).await.events();
    let events: Vec<Value> = events
        .iter()
        .map(|e| serde_json::from_str(e).unwrap())
        .collect();
    let [item, end] = &events[..] else {
        panic!("{events:?}")
    };
    assert!(
        item["content"].as_str().unwrap().starts_with(&told),
        "{item}"
    );
    assert!(end["output"].as_str().unwrap().starts_with(&told), "{end}");
    let before = json!({"action": "loadPreviousSession", "sessionId": "s"});
    let before = desk.post("/chat/desk", &before).await.json();
    let last = before["data"].as_array().unwrap().last().unwrap();
    assert!(
        last["kwargs"]["content"]
            .as_str()
            .unwrap()
            .starts_with(&told),
        "{before}"
    );
}
