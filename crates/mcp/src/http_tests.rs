use super::client::Called;
use super::fake::{object, polite, text};
use super::*;
use agentctl_testkit::fake_http::{self, Asked, Request, response};
use serde_json::{Value, json};

/// The server's address, and what it was asked.
async fn serve(script: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> (String, Asked) {
    let (address, asked) = fake_http::serve(script).await;
    (format!("{address}/mcp"), asked)
}

fn json_response(message: &Value) -> Vec<u8> {
    response(
        "200 OK",
        "content-type: application/json\r\nmcp-session-id: s-1\r\n",
        message.to_string().as_bytes(),
    )
}

/// What a server that means well answers.
fn good(request: &Request) -> Vec<u8> {
    match polite(&request.body, &[]).first() {
        Some(super::fake::Act::Say(message)) => json_response(message),
        _ => response("202 Accepted", "", b""),
    }
}

fn client(url: &str) -> McpClient {
    let text = json!({"mcpServers": {"web": {
        "type": "http", "url": url, "headers": {"Authorization": "Bearer very-secret-token"},
    }}});
    let config = parse(
        &text.to_string(),
        std::path::Path::new(".mcp.json"),
        &|_| None,
    )
    .unwrap();
    McpClient::new(&config.servers[0])
}

#[tokio::test]
async fn a_session_is_kept_and_ended() {
    let (url, seen) = serve(|asked| match asked.body["method"].as_str() {
        // An answer as a stream, with something that nobody asked for in front.
        Some("tools/call") => {
            let answer = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": text("done")});
            let note = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}});
            let events =
                format!(": hi\n\nevent: message\ndata: {note}\n\nid: 4\ndata: {answer}\n\n");
            response(
                "200 OK",
                "content-type: text/event-stream\r\n",
                events.as_bytes(),
            )
        }
        _ => good(asked),
    })
    .await;
    let mut client = client(&url);
    assert_eq!(client.tools().await.unwrap(), []);
    assert_eq!(
        client.call("t", &object(json!({}))).await,
        Called::Answer {
            content: text("done"),
            is_error: false
        }
    );
    client.close().await;
    let seen = seen.all();
    let of = |method: &str| -> &str {
        let found = seen.iter().find(|asked| asked.body["method"] == method);
        found.map_or("", |asked| &asked.head)
    };
    assert!(of("initialize").contains("authorization: bearer very-secret-token"));
    assert!(!of("initialize").contains("mcp-session-id"));
    let call = of("tools/call");
    for header in [
        "mcp-session-id: s-1",
        "mcp-protocol-version: 2025-06-18",
        "mcp-method: tools/call",
        "mcp-name: t",
        "accept: application/json, text/event-stream",
    ] {
        assert!(call.contains(header), "{header} is not in {call}");
    }
    assert_eq!(seen.last().unwrap().line, "DELETE /mcp");
}

#[tokio::test]
async fn what_comes_instead_of_an_answer_is_told_for_what_it_is() {
    let big = vec![b' '; MAX_MESSAGE + 1];
    for (answer, expected) in [
        (response("400 Bad Request", "", b"no"), "failed: HTTP 400"),
        (
            response("500 Internal Server Error", "", b"no"),
            "unknown: HTTP 500",
        ),
        (
            response("202 Accepted", "", b""),
            "unknown: the server accepted the request and did not answer it",
        ),
        (
            response("200 OK", "content-type: text/html\r\n", b"<p>"),
            "unknown: the answer is neither JSON nor an event stream",
        ),
        (
            response("200 OK", "content-type: application/json\r\n", b"{}"),
            "unknown: the response ended without an answer to the request",
        ),
        (
            response(
                "200 OK",
                "content-type: text/event-stream\r\n",
                b"data: x\n\n",
            ),
            "unknown: the response ended without an answer to the request",
        ),
        (
            response("200 OK", "content-type: application/json\r\n", &big),
            "unknown: the answer has more than 16777216 bytes",
        ),
        (
            response(
                "200 OK",
                "content-type: application/json\r\n",
                br#"{"jsonrpc":"2.0","id":1,"id":2}"#,
            ),
            "unknown: the server sent a message that is not acceptable: the key \"id\" stands twice at line 1 column 28",
        ),
    ] {
        let (url, seen) = serve(move |asked| match asked.body["method"].as_str() {
            Some("tools/call") => answer.clone(),
            _ => good(asked),
        })
        .await;
        let mut client = client(&url);
        client.ready().await.unwrap();
        let told = match client.call("t", &object(json!({}))).await {
            Called::Failed(why) => format!("failed: {why}"),
            Called::Unknown(why) => format!("unknown: {why}"),
            other => panic!("{other:?}"),
        };
        assert_eq!(told, expected);
        let calls = seen
            .bodies()
            .iter()
            .filter(|body| body["method"] == "tools/call")
            .count();
        assert_eq!(calls, 1, "{expected}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_session_that_is_over_is_begun_again_and_the_call_is_not_repeated() {
    let (url, seen) = serve(|asked| match asked.body["method"].as_str() {
        Some("tools/call") => response("404 Not Found", "", b""),
        _ => good(asked),
    })
    .await;
    let mut client = client(&url);
    client.ready().await.unwrap();
    let called = client.call("t", &object(json!({}))).await;
    assert_eq!(called, Called::Failed("HTTP 404".into()));
    client.ready().await.unwrap();
    let of = |method: &str| {
        let bodies = seen.bodies().into_iter();
        bodies.filter(|body| body["method"] == method).count()
    };
    assert_eq!((of("initialize"), of("tools/call")), (2, 1));
    client.close().await;
}

#[tokio::test]
async fn a_redirect_stays_where_the_user_sent_us() {
    let (other, other_seen) = serve(good).await;
    let (url, _) = serve(move |_| {
        response(
            "307 Temporary Redirect",
            &format!("location: {other}\r\n"),
            b"",
        )
    })
    .await;
    let error = client(&url).ready().await.unwrap_err();
    assert!(
        error
            .reason
            .contains("redirects to 127.0.0.1, which is not followed"),
        "{}",
        error.reason
    );
    assert!(other_seen.all().is_empty());

    let (url, _) = serve(|asked| {
        if asked.line == "POST /mcp/" {
            good(asked)
        } else {
            response("308 Permanent Redirect", "location: /mcp/\r\n", b"")
        }
    })
    .await;
    client(&url).ready().await.unwrap();
}

#[tokio::test]
async fn a_server_that_wants_other_credentials_is_told_so_without_them() {
    let (url, _) = serve(|_| response("401 Unauthorized", "", b"very-secret-token is wrong")).await;
    let error = client(&url).ready().await.unwrap_err();
    assert!(error.hint.contains("check `headers`"), "{error:?}");
    assert!(error.reason.contains("HTTP 401"), "{error:?}");
    assert!(!format!("{error:?}").contains("very-secret"), "{error:?}");
}
