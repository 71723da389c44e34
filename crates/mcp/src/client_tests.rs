use super::client::{CALL_LIMIT, Called, LIST_LIMIT, MAX_TOOLS};
use super::fake::{Act, answer, object, polite, server, text, tool};
use super::wire::{MAX_SKIPPED, MAX_UNASKED, Oddities};

use serde_json::{Value, json};

fn done() -> Called {
    Called::Answer {
        content: text("done"),
        is_error: false,
    }
}

#[tokio::test]
async fn tools_are_listed_page_by_page_and_called() {
    let (mut client, heard) = server("fake", |_, request| match request["method"].as_str() {
        Some("tools/list") => {
            let page = request["params"]["cursor"]
                .as_str()
                .unwrap_or("0")
                .to_owned();
            let next = (page == "0").then_some("1");
            let tools = json!([{"name": format!("t{page}"), "inputSchema": {"type": "object"}}]);
            answer(&request["id"], json!({"tools": tools, "nextCursor": next}))
        }
        _ => polite(request, &[]),
    });
    let names: Vec<String> = client
        .tools()
        .await
        .unwrap()
        .into_iter()
        .map(|t| t.name)
        .collect();
    assert_eq!(names, ["t0", "t1"]);
    assert_eq!(client.identity(), Some(("fake 1", "2025-06-18")));
    assert_eq!(client.call("t0", &object(json!({"a": 1}))).await, done());
    assert_eq!(heard.calls(), [json!({"a": 1})]);
    let hello = &heard.of("initialize")[0]["params"];
    assert_eq!(hello["clientInfo"]["name"], "agentctl");
    assert_eq!(hello["capabilities"], json!({}), "nothing is offered");
    assert_eq!(client.oddities(), Oddities::default());
    client.close().await;
}

#[tokio::test(start_paused = true)]
async fn pages_that_do_not_end_and_tools_without_number_are_refused() {
    let many: Vec<Value> = (0..=MAX_TOOLS)
        .map(|i| json!({"name": format!("t{i}"), "inputSchema": {}}))
        .collect();
    let twice = json!([{"name": "t", "inputSchema": {}}, {"name": "t", "inputSchema": {}}]);
    for (tools, next, expected) in [
        (json!([]), json!("again"), "its pages do not come to an end"),
        (json!(many), json!(null), "there are more than 1000 tools"),
        (twice, json!(null), "the tool \"t\" is listed twice"),
    ] {
        let (mut client, _) = server("fake", move |_, request| match request["method"].as_str() {
            Some("tools/list") => {
                answer(&request["id"], json!({"tools": tools, "nextCursor": next}))
            }
            _ => polite(request, &[]),
        });
        let error = client.tools().await.unwrap_err();
        assert!(error.reason.contains(expected), "{}", error.reason);
    }
    let mut page = 0;
    let (mut client, _) = server("fake", move |_, request| match request["method"].as_str() {
        Some("tools/list") => {
            page += 1;
            answer(
                &request["id"],
                json!({"tools": [], "nextCursor": page.to_string()}),
            )
        }
        _ => polite(request, &[]),
    });
    let error = client.tools().await.unwrap_err();
    assert!(error.reason.contains("pages do not come to an end"));
    let (mut client, _) = server("fake", |_, request| match request["method"].as_str() {
        Some("tools/list") => vec![Act::Nothing],
        _ => polite(request, &[]),
    });
    let before = tokio::time::Instant::now();
    assert!(client.tools().await.is_err());
    assert_eq!(before.elapsed().as_secs(), LIST_LIMIT.as_secs());
}

#[tokio::test]
async fn a_server_is_started_twice_and_not_a_third_time() {
    let (mut client, heard) = server("fake", |_, request| match request["method"].as_str() {
        Some("tools/call") => vec![Act::Die],
        _ => polite(request, &[]),
    });
    client.ready().await.unwrap();
    let closed = Called::Unknown("the server closed the connection".into());
    assert_eq!(client.call("t", &object(json!({}))).await, closed);
    assert!(client.died());
    let again = Called::Failed("the server closed the connection".into());
    assert_eq!(
        client.call("t", &object(json!({}))).await,
        again,
        "not on a dead connection"
    );
    client.ready().await.unwrap();
    assert!(!client.died());
    assert_eq!(client.call("t", &object(json!({}))).await, closed);
    let error = client.ready().await.unwrap_err();
    assert!(error.hint.contains("died twice"), "{error:?}");
    assert_eq!(heard.calls().len(), 2);
    assert_eq!(heard.of("initialize").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_has_a_time_limit_and_is_taken_back() {
    let (mut client, heard) = server("fake", |_, request| match request["method"].as_str() {
        Some("tools/call") => vec![Act::Nothing],
        _ => polite(request, &[]),
    });
    client.ready().await.unwrap();
    let before = tokio::time::Instant::now();
    let called = client.call("t", &object(json!({}))).await;
    assert_eq!(called, Called::Unknown("no answer in 120 s".into()));
    assert_eq!(before.elapsed(), CALL_LIMIT);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(heard.of("notifications/cancelled").len(), 1);
    client.close().await;
}

#[tokio::test]
async fn a_tool_that_fails_says_so_and_an_error_is_no_answer() {
    let (mut client, _) = server("fake", |_, request| {
        let id = &request["id"];
        match request["params"]["name"].as_str() {
            Some("fails") => answer(id, json!({"content": [], "isError": true})),
            Some("refuses") => vec![Act::Say(
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no\u{1b}[31m q"}}),
            )],
            Some("nonsense") => answer(id, json!([1])),
            Some("asks") => answer(
                id,
                json!({"resultType": "input_required", "inputRequests": {}}),
            ),
            _ => polite(request, &[]),
        }
    });
    client.ready().await.unwrap();
    let none = object(json!({}));
    let failed = Called::Answer {
        content: json!({"content": [], "isError": true}),
        is_error: true,
    };
    assert_eq!(client.call("fails", &none).await, failed);
    assert_eq!(
        client.call("refuses", &none).await,
        Called::Failed("the server refused it (-32602): no [31m q".into())
    );
    assert!(matches!(
        client.call("nonsense", &none).await,
        Called::Unknown(_)
    ));
    assert!(!matches!(
        client.call("asks", &none).await,
        Called::Answer { .. }
    ));
    client.close().await;
}

#[tokio::test]
async fn what_has_to_be_skipped_without_end_is_cut_off() {
    for (count, message, expected) in [
        (MAX_SKIPPED + 1, json!("noise"), "had to be skipped"),
        (
            MAX_SKIPPED + 1,
            json!({"jsonrpc": "2.0", "id": 999, "result": {}}),
            "had to be skipped",
        ),
        (
            MAX_UNASKED + 1,
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}),
            "nobody asked for",
        ),
    ] {
        let (mut client, _) = server("fake", move |_, request| match request["method"].as_str() {
            Some("tools/call") => {
                vec![Act::Bytes(
                    format!("{message}\n").repeat(count).into_bytes(),
                )]
            }
            _ => polite(request, &[]),
        });
        client.ready().await.unwrap();
        let Called::Unknown(why) = client.call("t", &object(json!({}))).await else {
            panic!()
        };
        assert!(why.contains(expected), "{why}");
    }
}

#[tokio::test]
async fn tools_that_the_file_leaves_out_are_left_out() {
    let (mut client, _) = server("fake", |_, request| {
        polite(request, &[tool("a", ""), tool("b", ""), tool("c", "")])
    });
    client.keep_tools(Some(vec!["a".into(), "b".into()]), vec!["b".into()]);
    let names: Vec<String> = client
        .tools()
        .await
        .unwrap()
        .into_iter()
        .map(|t| t.name)
        .collect();
    assert_eq!(names, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_slow_to_start_is_still_understood() {
    let mut first = Value::Null;
    let (mut client, _) = server("fake", move |_, request| {
        match request["method"].as_str() {
            // Still starting when the newer handshake is given up; then both are answered.
            Some("server/discover") => {
                first = request.clone();
                vec![Act::Nothing]
            }
            Some("initialize") => [polite(&first, &[]), polite(request, &[])].concat(),
            _ => polite(request, &[]),
        }
    });
    client.ready().await.unwrap();
    assert_eq!(client.identity(), Some(("fake 1", "2025-06-18")));
    assert_eq!(client.oddities(), Oddities::default());
    client.close().await;
}
