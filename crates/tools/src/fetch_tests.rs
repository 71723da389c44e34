use super::KIND;
use crate::call::Call;
use crate::search::search_tests::{called, surroundings, tool};
use crate::toolset::Tools;
use crate::web;
use agentctl_base::yaml;
use agentctl_engine::toolset::Outcome;
use agentctl_testkit::fake_http::{Request, response, serve};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn tools() -> Tools {
    let fetch = tool("fetch_url", "fetch", json!({"address": "url"}));
    Tools::new([&fetch], Arc::default(), surroundings())
}

fn page(request: &Request) -> Vec<u8> {
    let html = "content-type: text/html; charset=utf-8\r\n";
    match request.line.as_str() {
        "GET /bridge" => response(
            "200 OK",
            html,
            b"<title>Bridge</title><p>The Vell bridge is 310 metres long.</p><script>x()</script>",
        ),
        "GET /moved" => response("301 Moved Permanently", "location: /bridge\r\n", b""),
        "GET /round" => response("302 Found", "location: /round\r\n", b""),
        "GET /away" => response("302 Found", "location: http://10.0.0.1/\r\n", b""),
        "GET /file" => response("302 Found", "location: file:///etc/passwd\r\n", b""),
        "GET /a.csv" => response(
            "200 OK",
            "content-type: text/plain\r\n",
            b"year,cars\n2021,4100\n",
        ),
        "GET /a.bin" => response(
            "200 OK",
            "content-type: application/octet-stream\r\n",
            b"\0\0",
        ),
        "GET /a.pdf" => response("200 OK", "content-type: application/pdf\r\n", b"%PDF-1.5"),
        "GET /empty" => response("200 OK", html, b"<p> </p>"),
        _ => response("404 Not Found", html, b"<p>gone</p>"),
    }
}

#[tokio::test]
async fn a_page_is_told_sentence_by_sentence_and_claims_may_name_them() {
    let (address, _) = serve(page).await;
    let tools = tools();
    for (path, url) in [("/bridge#part", "/bridge"), ("/moved", "/bridge")] {
        let (status, content) = called(
            &tools,
            "fetch_url",
            json!({"url": format!("{address}{path}")}),
        )
        .await;
        assert_eq!(status, "ok", "{content}");
        assert_eq!(content["title"], "Bridge");
        assert_eq!(
            content["results"][0]["quote"],
            "The Vell bridge is 310 metres long."
        );
        assert_eq!(content["results"][0]["url"], format!("{address}{url}"));
        let found = web::documents_of(&content);
        assert_eq!(found.len(), 1);
        assert_eq!(format!("{}#1", found[0].doc), content["ids"][0]);
    }
    let (_, content) = called(
        &tools,
        "fetch_url",
        json!({"url": format!("{address}/a.csv")}),
    )
    .await;
    assert_eq!(content["results"][0]["quote"], "year: 2021, cars: 4100");
}

#[tokio::test]
async fn what_is_no_page_or_stands_elsewhere_is_not_read() {
    let (address, _) = serve(page).await;
    let tools = tools();
    for (path, came) in [
        ("/none", "failed: the server answered with status 404"),
        ("/round", "failed: it moved more than 4 times"),
        (
            "/away",
            "refused: 10.0.0.1 is an address of this machine or of a private network",
        ),
        (
            "/file",
            "refused: the address is not http or https but file",
        ),
        (
            "/a.bin",
            "failed: \"application/octet-stream\" is of no kind that is read",
        ),
        ("/a.pdf", "failed: nothing here reads pdf files"),
        ("/empty", "failed: it holds no text"),
    ] {
        let (status, content) = called(
            &tools,
            "fetch_url",
            json!({"url": format!("{address}{path}")}),
        )
        .await;
        assert_eq!(
            format!("{status}: {}", content["error"].as_str().unwrap()),
            came
        );
    }
    let (status, content) = called(&tools, "fetch_url", json!({"url": "not an address"})).await;
    assert_eq!(
        (status, &content["error"]),
        ("failed", &json!("the address is no URL"))
    );
}

/// A call within a run, which found so much before.
async fn in_a_run(tools: &Tools, url: &str, found: &[&str]) -> Outcome {
    let found = found
        .iter()
        .map(|url| web::document(url, "", "", "Text.").unwrap());
    let call = Call {
        made: Arc::clone(tools.made("fetch_url").unwrap()),
        shared: tools.shared(),
        args: Map::from_iter([("url".to_owned(), Value::from(url))]),
        found: Some(Arc::new(found.collect())),
        of: None,
    };
    call.made(&Map::new()).await
}

#[tokio::test]
async fn in_a_run_only_what_its_searches_gave_is_fetched() {
    let (address, asked) = serve(page).await;
    let tools = tools();
    let there = format!("{address}/bridge");
    assert!(matches!(
        in_a_run(&tools, &there, &[&there]).await,
        Outcome::Ok(_)
    ));
    // What carries something out of the run is no address that was given.
    for other in [
        format!("{there}?secret=1"),
        format!("{address}/"),
        there.replace("bridge", "bridge/"),
    ] {
        let Outcome::Refused(decision) = in_a_run(&tools, &other, &[&there]).await else {
            panic!("{other}");
        };
        assert!(
            format!("{decision:?}").contains("tools.requires"),
            "{decision:?}"
        );
    }
    assert!(matches!(
        in_a_run(&tools, &there, &[]).await,
        Outcome::Refused(_)
    ));
    assert_eq!(asked.lines(), ["GET /bridge"]);
}

#[test]
fn a_fetch_names_the_parameter_with_the_address() {
    let check = |text: &str| {
        let node = yaml::read(text, "tool.yaml").unwrap();
        (KIND.check)(&node, &["url".to_owned()]).len()
    };
    assert_eq!(
        (
            check("address: url\n"),
            check("address: to\n"),
            check("url: url\n")
        ),
        (0, 1, 2)
    );
}
