//! The search engines of the pack research, as their files describe them, over servers that speak as the real ones do.

use super::KIND;
use crate::direct::Given;
use crate::mock::Mode;
use crate::toolset::{Surroundings, Tools};
use agentctl_base::yaml::{self, Place};
use agentctl_engine::pack::{DeclaredTool, ToolKind, ToolLimits};
use agentctl_host::reach::Addresses;
use agentctl_testkit::fake_http::{Request, response, serve};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;

/// The part of an engine's file that says how it is asked, with the server of the test in place of its own.
fn section(engine: &str, address: &str) -> Value {
    let file = format!("../../packs/research/tools/{engine}/tool.yaml");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let own = [
        "https://api.tavily.com",
        "https://www.googleapis.com",
        "https://api.duckduckgo.com",
        "${SEARXNG_URL}",
    ];
    let there = own.iter().filter(|own| text.contains(**own)).count();
    assert_eq!(there, 1, "{engine}");
    let text = own
        .iter()
        .fold(text, |text, own| text.replace(own, address));
    let node = yaml::read(&text, "tool.yaml").unwrap();
    let search = node.get("search").unwrap();
    let values = ["query".to_owned(), "limit".to_owned()];
    assert_eq!((KIND.check)(search, &values), Vec::new(), "{engine}");
    search.to_json()
}

pub(crate) fn tool(id: &'static str, name: &'static str, section: Value) -> DeclaredTool {
    DeclaredTool {
        id,
        name: id.into(),
        description: id.into(),
        category: String::new(),
        keywords: Vec::new(),
        parameters: Arc::new(
            json!({"type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}, "doc": {"type": "string"}, "claims": {"type": "array"}, "url": {"type": "string"}}, "additionalProperties": false}),
        ),
        output_schema: None,
        examples: Vec::new(),
        kind: ToolKind::Other { name, section },
        bind: Default::default(),
        changes: false,
        reads_when: None,
        requires: None,
        limits: ToolLimits {
            timeout_s: 5,
            max_bytes: 65_536,
            retries: 0,
            ..ToolLimits::default()
        },
        cache_s: None,
        mock: Some(json!({"results": [], "ids": []})),
        acts: Vec::new(),
        readme: None,
        tests: Vec::new(),
        file: "tool.yaml".into(),
        place: Place::default(),
    }
}

pub(crate) fn surroundings() -> Surroundings {
    Surroundings {
        mode: Mode::Auto,
        variable: |name| Some(format!("value of {name}")),
        allow: Addresses::of(["127.0.0.1"]).unwrap(),
        servers: None,
        workflows: None,
        agents: Default::default(),
        packs: None,
        root: None,
        folder: None,
        engine: None,
        reader: None,
    }
}

pub(crate) async fn called(tools: &Tools, tool: &str, args: Value) -> (&'static str, Value) {
    let given = Given {
        args: args.as_object().cloned().unwrap(),
        ..Given::default()
    };
    let came = tools.directly(tool, &given).await.unwrap();
    (came.status, came.content)
}

/// What an engine makes of an answer of its server: how it was asked, and `url | source | title | date | quote` of each result.
async fn asked(engine: &'static str, answer: Value) -> (Request, Vec<String>) {
    let (address, asked) = serve(move |_| {
        // As DuckDuckGo calls its JSON.
        let kind = "content-type: application/x-javascript\r\n";
        response("200 OK", kind, answer.to_string().as_bytes())
    })
    .await;
    let tools = Tools::new(
        [&tool(engine, "search", section(engine, &address))],
        Arc::default(),
        surroundings(),
    );
    let (status, content) = called(
        &tools,
        engine,
        json!({"query": "Vell & bridge", "limit": 40}),
    )
    .await;
    assert_eq!(status, "ok", "{content}");
    let results = content["results"].as_array().unwrap();
    let ids: Vec<&Value> = results.iter().map(|result| &result["id"]).collect();
    assert_eq!(json!(ids), content["ids"]);
    let told = results.iter().map(|result| {
        let keys = ["url", "source", "title", "date", "quote"];
        keys.map(|key| result[key].as_str().unwrap()).join(" | ")
    });
    (asked.all().remove(0), told.collect())
}

#[tokio::test]
async fn tavily_is_asked_with_its_key_and_gives_text_of_pages() {
    let (request, results) = asked(
        "tavily",
        json!({
            "query": "Vell & bridge", "answer": null, "images": [], "response_time": 1.2, "request_id": "r",
            "results": [
                {"title": "The bridge", "url": "https://www.city.example/bridge#x", "content": "The Vell bridge is 310 metres long. It is green.", "score": 0.99, "raw_content": null},
                {"title": "News", "url": "https://news.example/1", "content": "A bridge.", "score": 0.5, "published_date": "2024-05-06"},
                {"title": "No address", "url": "javascript:alert(1)", "content": "A bridge.", "score": 0.4}
            ]
        }),
    )
    .await;
    assert_eq!(request.line, "POST /search");
    assert!(
        request
            .head
            .contains("authorization: bearer value of tavily_api_key")
    );
    assert_eq!(
        request.body,
        json!({"query": "Vell & bridge", "max_results": 20, "search_depth": "basic", "include_answer": false})
    );
    assert_eq!(
        results,
        [
            "https://www.city.example/bridge | city.example | The bridge |  | The Vell bridge is 310 metres long.",
            "https://www.city.example/bridge | city.example | The bridge |  | It is green.",
            "https://news.example/1 | news.example | News | 2024-05-06 | A bridge.",
        ]
    );
}

#[tokio::test]
async fn google_gets_its_key_in_a_header_and_ten_results_are_asked_for() {
    let answer = json!({"kind": "customsearch#search", "searchInformation": {"totalResults": "1"}, "items": [
        {"kind": "customsearch#result", "title": "Bridge", "htmlTitle": "<b>Bridge</b>", "link": "https://city.example/b", "displayLink": "city.example", "snippet": "The Vell bridge is 310 metres long."}
    ]});
    let (request, results) = asked("google_cse", answer).await;
    assert_eq!(
        request.line,
        "GET /customsearch/v1?q=Vell+%26+bridge&num=10&cx=value+of+GOOGLE_CSE_ID"
    );
    assert!(
        request
            .head
            .contains("x-goog-api-key: value of google_api_key")
    );
    assert_eq!(
        results,
        ["https://city.example/b | city.example | Bridge |  | The Vell bridge is 310 metres long."]
    );
    // It leaves the list out where it finds nothing.
    let (_, none) = asked("google_cse", json!({"kind": "customsearch#search"})).await;
    assert!(none.is_empty());
}

#[tokio::test]
async fn duckduckgo_gives_what_a_thing_is_and_topics_around_it() {
    let answer = json!({
        "Abstract": "", "AbstractText": "The Vell bridge crosses the Vell.", "AbstractSource": "Wikipedia", "AbstractURL": "https://en.wikipedia.org/wiki/Vell_bridge",
        "Heading": "Vell bridge", "Results": [], "Type": "A",
        "RelatedTopics": [
            {"FirstURL": "https://duckduckgo.com/Vell", "Icon": {"URL": ""}, "Result": "<a>Vell</a>", "Text": "Vell A river."},
            {"Name": "Other", "Topics": [{"FirstURL": "https://duckduckgo.com/Bridge", "Text": "Bridge A way over something."}]}
        ]
    });
    let (request, results) = asked("duckduckgo", answer).await;
    assert_eq!(
        request.line,
        "GET /?q=Vell+%26+bridge&format=json&no_html=1&skip_disambig=1&no_redirect=1"
    );
    assert!(!request.head.contains("authorization"));
    let mut results = results;
    results.sort();
    assert_eq!(
        results,
        [
            "https://duckduckgo.com/Bridge | duckduckgo.com |  |  | Bridge A way over something.",
            "https://duckduckgo.com/Vell | duckduckgo.com |  |  | Vell A river.",
            "https://en.wikipedia.org/wiki/Vell_bridge | en.wikipedia.org | Vell bridge |  | The Vell bridge crosses the Vell.",
        ]
    );
}

#[tokio::test]
async fn searxng_is_asked_for_json() {
    let answer = json!({"query": "q", "number_of_results": 0, "answers": [], "infoboxes": [], "unresponsive_engines": [["google", "timeout"]], "results": [
        {"url": "https://city.example/b", "title": "Bridge", "content": "The Vell bridge is 310 metres long.", "engine": "brave", "engines": ["brave"], "score": 1.0, "publishedDate": "2024-05-06T00:00:00"},
        {"url": "https://city.example/empty", "title": "Empty", "content": ""}
    ]});
    let (request, results) = asked("searxng", answer).await;
    assert_eq!(request.line, "GET /search?q=Vell+%26+bridge&format=json");
    assert_eq!(
        results,
        [
            "https://city.example/b | city.example | Bridge | 2024-05-06T00:00:00 | The Vell bridge is 310 metres long."
        ]
    );
}

#[tokio::test]
async fn an_engine_that_refuses_or_says_something_else_has_failed() {
    let json = "content-type: application/json\r\n";
    let key =
        "it wants another key, or refuses who asks: what searxng needs stands in its README.md";
    let settings = "check its address and settings: what searxng needs stands in its README.md";
    let often = "wait, or name another engine in AGENTCTL_WEB_SEARCH";
    let trouble = "it is in trouble: try later, or name another engine in AGENTCTL_WEB_SEARCH";
    for (answer, why, advice) in [
        (
            response("403 Forbidden", "", b"<html>"),
            "the server answered with status 403",
            key,
        ),
        (
            response("401 Unauthorized", json, br#"{"error": "no API key"}"#),
            "the server answered with status 401",
            key,
        ),
        (
            response("429 Too Many Requests", "", b"slowly"),
            "the server answered with status 429; too many calls: it may be asked for again later",
            often,
        ),
        (
            response("502 Bad Gateway", "", b"<html>"),
            "the server answered with status 502",
            trouble,
        ),
        (
            response("200 OK", "", b"<html>"),
            "the answer is not JSON",
            settings,
        ),
        (
            response("302 Found", "location: http://127.0.0.1:1/\r\n", b""),
            "the server answered with status 302",
            settings,
        ),
        (
            response("200 OK", "", &[b' '; 70_000]),
            "the answer is larger than 65536 bytes",
            settings,
        ),
        (
            response("200 OK", "", b"[]"),
            "the answer is no list of results",
            settings,
        ),
    ] {
        let (address, _) = serve(move |_| answer.clone()).await;
        let one = tool("searxng", "search", section("searxng", &address));
        let tools = Tools::new([&one], Arc::default(), surroundings());
        let (status, content) = called(&tools, "searxng", json!({"query": "x"})).await;
        assert_eq!(
            (status, &content["error"]),
            ("failed", &json!(format!("searxng: {why}; {advice}")))
        );
    }
    // What the user's own settings do not list is not reached.
    let one = tool(
        "searxng",
        "search",
        section("searxng", "http://127.0.0.1:9"),
    );
    let nowhere = Surroundings {
        allow: Addresses::default(),
        ..surroundings()
    };
    let tools = Tools::new([&one], Arc::default(), nowhere);
    let (status, content) = called(&tools, "searxng", json!({"query": "x"})).await;
    assert_eq!(
        (status, &content["rule"]),
        ("refused", &json!("guard.address"))
    );
}

#[tokio::test]
async fn the_engine_that_was_chosen_stands_in_the_place_of_the_documents() {
    let (address, _) = serve(|_| {
        let answer = json!({"results": [{"url": "https://city.example/b", "title": "Bridge", "content": "The Vell bridge is long."}]});
        response("200 OK", "", answer.to_string().as_bytes())
    })
    .await;
    let documents = json!({"function": "web_search", "documents": "texts"});
    let all = [
        tool("web_search", "builtin", documents),
        tool("searxng", "search", section("searxng", &address)),
        tool("tavily", "search", section("tavily", &address)),
    ];
    let data = json!([{"doc": "a", "title": "Bridges", "source": "City", "date": "", "text": "The Vell bridge is 310 metres long."}]);
    let data = Arc::new(Map::from_iter([("texts".to_owned(), data)]));
    let with = |engine: Option<&str>| {
        let surroundings = Surroundings {
            engine: engine.map(str::to_owned),
            ..surroundings()
        };
        Tools::new(&all, Arc::clone(&data), surroundings)
    };
    let query = || json!({"query": "Vell bridge"});
    let (_, content) = called(&with(None), "web_search", query()).await;
    assert_eq!(content["ids"], json!(["a#1"]));
    let web = with(Some("searxng"));
    let (_, content) = called(&web, "web_search", query()).await;
    assert_eq!(content["results"][0]["url"], "https://city.example/b");
    assert_eq!(
        (
            web.is_spare("searxng"),
            web.is_spare("tavily"),
            web.is_spare("web_search")
        ),
        (false, true, false)
    );
}

#[test]
fn a_file_that_describes_no_engine_is_told() {
    let told = |text: &str, values: &[&str]| {
        let node = yaml::read(text, "tool.yaml").unwrap();
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let faults = (KIND.check)(&node, &values).into_iter();
        faults
            .map(|(place, why)| format!("{}: {why}\n", place.line))
            .collect::<String>()
    };
    assert_eq!(
        told("found: {list: a, url: u, text: [a, b]}\n", &["query"]),
        "1: search needs http: the request\n"
    );
    assert_eq!(
        told(
            "http: {url: \"https://a.example/\"}\nfound: {url: u, most: 40, top: 1}\n",
            &[]
        ),
        "1: a search needs the parameter \"query\", which the tool does not have\n\
         2: there is no \"top\" here; there are list, within, url, title, text, date, first, most\n\
         2: found needs list: the key of the list of results\n\
         2: a result has its url under one key, and its text under one or more\n\
         2: most is how many results there are at once, from 1 to 20\n"
    );
}
