//! `GET /chat/{pack}`: the page, and that no other page speaks in a client's name. What a browser makes of it is tried by hand.

use super::support::{Desk, TOKEN, client};
use agentctl_serve::How;
use serde_json::json;

async fn desk() -> Desk {
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let clients = vec![
        client("one", How::bearer(TOKEN)),
        client("two", How::basic("demo", "demo")),
    ];
    Desk::again(folder, clients, |limits| {
        limits.pages = vec![format!("http://{}", limits.hosts[0])];
        limits.chat_page = true;
    })
    .await
}

#[tokio::test]
async fn the_page_is_there_for_whoever_comes_and_brings_nothing_inline() {
    let desk = desk().await;
    let page = desk.ask("GET", "/chat/desk", &[], b"").await;
    assert_eq!(page.status, 200, "{page:?}");
    assert!(
        page.text.contains("<title>Repeats what is said</title>"),
        "{page:?}"
    );
    assert!(page.text.contains("data-pack=\"desk\""), "{page:?}");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(
        !policy.contains("unsafe") && !policy.contains('*'),
        "{policy}"
    );
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    for inline in ["<style", " style=", "<script>", " onclick", "javascript:"] {
        assert!(!page.text.contains(inline), "{inline}");
    }
    for (part, kind) in [("chat.js", "text/javascript"), ("chat.css", "text/css")] {
        let got = desk.ask("GET", &format!("/page/{part}"), &[], b"").await;
        assert_eq!(got.status, 200, "{part}");
        assert!(got.header("content-type").unwrap().starts_with(kind));
        assert!(page.text.contains(&format!("/page/{part}")));
        assert!(!got.text.contains("innerHTML"), "{part}");
    }
    assert_eq!(desk.ask("GET", "/chat/nobody", &[], b"").await.status, 404);
    assert_eq!(desk.ask("GET", "/page/other", &[], b"").await.status, 404);
    // A page is no way round a secret.
    let body = json!({"sessionId": "s", "chatInput": "hello"});
    assert_eq!(desk.post_as(&[], "/chat/desk", &body).await.status, 401);
}

#[tokio::test]
async fn without_the_setting_there_is_no_page() {
    let desk = Desk::open().await;
    assert_eq!(desk.ask("GET", "/chat/desk", &[], b"").await.status, 401);
    assert_eq!(desk.get("/chat/desk").await.status, 405);
    assert_eq!(desk.get("/page/chat.js").await.status, 404);
}

#[tokio::test]
async fn the_servers_own_page_speaks_for_a_client_and_another_page_does_not() {
    let desk = desk().await;
    let own = format!("http://{}", desk.address);
    let body = json!({"sessionId": "s", "chatInput": "hello"});
    // What a browser adds by itself: the password that it was told once.
    let basic = ("authorization", "Basic ZGVtbzpkZW1v");
    let from = |origin: &str| [basic, ("origin", origin)].map(|(n, v)| (n, v.to_owned()));
    for (origin, status) in [
        (own.as_str(), 200),
        ("https://evil.example", 403),
        ("null", 403),
        ("http://127.0.0.1:1", 403),
        (&own.replace("http:", "https:"), 403),
    ] {
        let headers = from(origin);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let got = desk.post_as(&headers, "/chat/desk", &body).await;
        assert_eq!(got.status, status, "{origin}: {got:?}");
    }
    // What a form of another page could send without being asked for leave: no JSON, so nothing is done.
    let form = [
        basic,
        ("content-type", "text/plain"),
        ("origin", own.as_str()),
    ];
    let got = desk
        .ask("POST", "/chat/desk", &form, body.to_string().as_bytes())
        .await;
    assert_eq!(got.status, 415);
}
