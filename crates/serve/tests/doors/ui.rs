//! `GET /ui`, the page of runs, and a run's report. What a browser makes of the page is tried by tests/serve/ui.

use super::support::{Desk, MANIFEST, OTHER, TOKEN, client, may};
use agentctl_base::BoxFuture;
use agentctl_engine::pack::Pack;
use agentctl_mcp::serve::listen::Plain;
use agentctl_serve::{Client, How, May, Reports, ServedPack, Ui};
use serde_json::json;
use std::sync::Arc;

struct Shout;

impl Reports for Shout {
    fn page<'a>(
        &'a self,
        _: &'a ServedPack,
        pack: &'a Pack,
        run: &'a str,
    ) -> BoxFuture<'a, Result<String, String>> {
        let page = format!("<h1>{} of {}</h1>", run, pack.manifest.name);
        Box::pin(std::future::ready(Ok(page)))
    }
}

async fn desk() -> Desk {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let reads = |name: &str, how, what: &[May]| Client {
        may: may(what),
        ..client(name, how)
    };
    let clients = vec![
        reads("one", How::bearer(TOKEN), &[May::Turn, May::Read]),
        reads("two", How::bearer(OTHER), &[May::Turn, May::Read]),
        reads("deaf", How::basic("demo", "demo"), &[May::Turn]),
    ];
    let more = |server: agentctl_serve::Server| {
        server.with_ui(Ui {
            look: "main{color:red}".to_owned(),
            report_style: "'sha256-abc'".to_owned(),
            reports: Box::new(Shout),
        })
    };
    let pages = |limits: &mut agentctl_serve::Limits| {
        limits.pages = vec![format!("http://{}", limits.hosts[0])];
    };
    Desk::over(Plain, MANIFEST, folder, clients, pages, more).await
}

#[tokio::test]
async fn the_page_of_runs_is_there_for_whoever_comes_and_holds_nothing_of_a_run() {
    let desk = desk().await;
    let said = json!({"from": {"id": "a"}, "conversation": "c", "text": "a secret word"});
    assert_eq!(desk.post("/hooks/desk", &said).await.status, 200);
    let page = desk.ask("GET", "/ui", &[], b"").await;
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(
        page.header("content-security-policy").unwrap(),
        "default-src 'none'; script-src 'self'; style-src 'self' 'sha256-abc'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-src blob:"
    );
    for inline in [
        "<style",
        " style=",
        "<script>",
        " onclick",
        "javascript:",
        "secret word",
    ] {
        assert!(!page.text.contains(inline), "{inline}");
    }
    for (part, kind, holds) in [
        ("ui.js", "text/javascript", "use strict"),
        ("ui.css", "text/css", "main{color:red}"),
    ] {
        let got = desk.ask("GET", &format!("/page/{part}"), &[], b"").await;
        assert_eq!(got.status, 200, "{part}");
        assert!(got.header("content-type").unwrap().starts_with(kind));
        assert!(page.text.contains(&format!("/page/{part}")) && got.text.contains(holds));
        for markup in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "srcdoc",
            "eval(",
            "localStorage",
        ] {
            assert!(!got.text.contains(markup), "{part}: {markup}");
        }
    }
    // The pages to talk with packs are another setting.
    assert_eq!(desk.get("/chat/desk").await.status, 405);
    assert_eq!(desk.get("/page/chat.js").await.status, 404);
}

#[tokio::test]
async fn a_report_is_its_clients_alone_and_runs_nothing() {
    let desk = desk().await;
    let said = json!({"from": {"id": "a"}, "conversation": "c", "text": "hello"});
    let got = desk.post("/hooks/desk", &said).await;
    let run = got.header("x-run-id").unwrap();
    let path = format!("/runs/{run}/report");
    let report = desk.get(&path).await;
    assert_eq!(
        (report.status, report.text.as_str()),
        (200, format!("<h1>{run} of desk</h1>").as_str())
    );
    assert_eq!(
        report.header("content-security-policy"),
        Some("sandbox; frame-ancestors 'none'")
    );
    let other = format!("Bearer {OTHER}");
    for (secret, status) in [
        (other.as_str(), 404),
        ("Basic ZGVtbzpkZW1v", 403),
        ("Bearer x", 401),
    ] {
        let got = desk
            .ask("GET", &path, &[("authorization", secret)], b"")
            .await;
        assert_eq!(got.status, status, "{got:?}");
        assert!(!got.text.contains("<h1>"));
    }
    assert_eq!(desk.get("/runs/0198/report").await.status, 404);
    assert_eq!(desk.post(&path, &json!({})).await.status, 405);
}

#[tokio::test]
async fn without_the_setting_there_is_neither_page_nor_report() {
    let desk = Desk::open().await;
    let said = json!({"from": {"id": "a"}, "conversation": "c", "text": "hello"});
    let got = desk.post("/hooks/desk", &said).await;
    let run = got.header("x-run-id").unwrap();
    assert_eq!(desk.ask("GET", "/ui", &[], b"").await.status, 401);
    for path in ["/ui", "/page/ui.js", &format!("/runs/{run}/report")] {
        assert_eq!(desk.get(path).await.status, 404, "{path}");
    }
}
