//! What comes in over the network: cases 94 to 104.

use crate::wire_server::{Behind, Server, TOKEN, call, initialize, limits};
use agentctl_mcp::serve::http::{self, HttpLimits};
use agentctl_mcp::serve::{Token, stream};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A message that parsers read differently, and the code that it gets here.
const CONFUSING: &[(&str, i64)] = &[
    (
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete"}}]"#,
        -32600,
    ),
    ("[]", -32600),
    (
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"delete"}}"#,
        -32600,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"delete"}}"#,
        -32600,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"delete"}}"#,
        -32600,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","name":"delete"}}"#,
        -32600,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["delete",{}]}"#,
        -32602,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["delete"]}}"#,
        -32602,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete","arguments":"{}"}}"#,
        -32602,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"delete"}}"#,
        -32601,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call ","params":{"name":"delete"}}"#,
        -32601,
    ),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call""#, -32700),
];

#[tokio::test]
async fn case_094_a_confusing_message_over_stdio_has_one_answer_and_reaches_nobody() {
    let (hosts, reached) = Behind::new();
    let (ours, theirs) = tokio::io::duplex(1024 * 1024);
    let (input, output) = tokio::io::split(theirs);
    let served = tokio::spawn(stream::serve(hosts, input, output, std::future::pending()));
    let (mut answers, mut requests) = tokio::io::split(ours);
    let mut text = initialize() + "\n";
    for (n, (message, _)) in CONFUSING.iter().enumerate() {
        // Each under an id of its own: they are all under way at once.
        text.push_str(&message.replace("\"id\":1", &format!("\"id\":{}", n + 1)));
        text.push('\n');
    }
    text.push_str("{\"jsonrpc\":\"2.0\",\"id\":99,\"method\":\"ping\"}\n");
    requests.write_all(text.as_bytes()).await.unwrap();
    requests.shutdown().await.unwrap();
    let mut out = String::new();
    answers.read_to_string(&mut out).await.unwrap();
    served.await.unwrap().unwrap();

    let answers: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut codes: Vec<i64> = answers
        .iter()
        .filter_map(|answer| answer["error"]["code"].as_i64())
        .collect();
    let mut expected: Vec<i64> = CONFUSING.iter().map(|(_, code)| *code).collect();
    codes.sort_unstable();
    expected.sort_unstable();
    assert_eq!(codes, expected);
    assert!(answers.iter().any(|answer| answer["id"] == 99));
    assert_eq!(reached.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn case_094_a_confusing_message_over_http_has_one_answer_and_reaches_nobody() {
    let server = Server::start(limits()).await;
    let session = server.session().await;
    for (message, code) in CONFUSING {
        let reply = server.post(message, &[&session]).await;
        assert_eq!(reply.json()["error"]["code"], *code, "{message}");
    }
    let reply = server.post(&call(2, "read"), &[&session]).await;
    assert_eq!(reply.json()["result"]["isError"], false);
    assert_eq!(server.reached.calls(), ["read"]);
}

#[tokio::test]
async fn case_095_what_is_too_large_or_too_slow_is_cut_off() {
    let server = Server::start(limits()).await;
    let session = server.session().await;
    let json_type = "content-type: application/json";

    // A body over the limit, announced or not.
    let huge = "x".repeat(5 * 1024 * 1024);
    assert_eq!(server.post(&huge, &[&session]).await.status, 413);
    let mut chunked = server
        .head("POST", &[json_type, &session, "transfer-encoding: chunked"])
        .into_bytes();
    chunked.extend_from_slice(b"\r\n");
    for _ in 0..5 {
        chunked.extend_from_slice(b"100000\r\n");
        chunked.extend_from_slice("x".repeat(0x10_0000).as_bytes());
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    assert_eq!(server.raw(&chunked).await.status, 413);

    // A bomb is not unpacked.
    for encoding in ["gzip", "deflate", "br", "identity, gzip"] {
        let line = format!("content-encoding: {encoding}");
        let reply = server.post(&call(1, "read"), &[&session, &line]).await;
        assert_eq!(reply.status, 415, "{encoding}");
    }

    // A head that never ends, and one that is too long.
    let slow = server.head("POST", &[]);
    assert_ne!(server.raw(slow.as_bytes()).await.status, 200);
    let many: Vec<String> = (0..200).map(|n| format!("x-{n}: y")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(server.post(&call(2, "read"), &many).await.status, 431);
    let long = format!("x-long: {}", "y".repeat(200_000));
    assert_eq!(server.post(&call(3, "read"), &[&long]).await.status, 431);

    // A body that never ends.
    let slow = server.head("POST", &[json_type, &session, "content-length: 100"]);
    let slow = format!("{slow}\r\n{{\"jsonrpc\":");
    assert_eq!(server.raw(slow.as_bytes()).await.status, 408);

    // Two lengths, or a length and chunks: a front end and this server could differ on where the request ends.
    let two = server.head(
        "POST",
        &[
            json_type,
            &session,
            "content-length: 5",
            "content-length: 6",
        ],
    );
    assert_eq!(
        server
            .raw(format!("{two}\r\nhello!").as_bytes())
            .await
            .status,
        400
    );

    assert_eq!(server.reached.calls(), Vec::<String>::new());
    assert_eq!(server.post(&call(4, "read"), &[&session]).await.status, 200);
}

#[tokio::test]
async fn case_095_there_are_only_so_many_sessions_and_an_idle_one_makes_room() {
    let few = |idle| HttpLimits {
        sessions: 2,
        idle,
        ..limits()
    };
    let server = Server::start(few(Duration::from_secs(3600))).await;
    let (first, _) = (server.session().await, server.session().await);
    let full = server.post(&initialize(), &[]).await;
    assert_eq!((full.status, full.header("mcp-session-id")), (503, None));
    assert_eq!(
        server
            .raw((server.head("DELETE", &[&first]) + "\r\n").as_bytes())
            .await
            .status,
        204
    );
    server.session().await;

    let server = Server::start(few(Duration::ZERO)).await;
    for _ in 0..5 {
        server.session().await;
    }
}

#[tokio::test]
async fn case_096_a_session_cannot_cancel_what_another_asked() {
    let server = Server::start(limits()).await;
    let (one, two) = (server.session().await, server.session().await);
    let asked = call(7, "wait");
    let of_one = [one.as_str()];
    let asking = server.post(&asked, &of_one);
    let meddling = async {
        server.reached.begun.notified().await;
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(server.post(cancel, &[&two]).await.status, 202);
        // A session that there is not is not told from one that is somebody else's: neither can be guessed.
        let nobody = "mcp-session-id: 00000000000000000000000000000000";
        assert_eq!(server.post(cancel, &[nobody]).await.status, 404);
        server.reached.go.notify_one();
    };
    let (reply, ()) = tokio::join!(asking, meddling);
    assert_eq!(
        reply.json()["result"]["structuredContent"],
        json!({"waited": true})
    );

    // Its own it can; the request then ends without an answer.
    let asking = server.post(&asked, &of_one);
    let cancelling = async {
        server.reached.begun.notified().await;
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(server.post(cancel, &[&one]).await.status, 202);
    };
    let (reply, ()) = tokio::join!(asking, cancelling);
    assert_eq!((reply.status, reply.body.as_str()), (202, ""));
}

#[tokio::test]
async fn case_098_a_page_with_a_rebound_name_and_a_redirect_come_to_nothing() {
    let server = Server::start(limits()).await;
    let body = initialize();
    let port = server.address.port();
    let request = |host: &str, more: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\ncontent-type: application/json\r\n{more}content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    for host in [
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("169.254.169.254:{port}"),
        format!("0.0.0.0:{port}"),
    ] {
        let reply = server.raw(request(&host, "").as_bytes()).await;
        assert_eq!(reply.status, 421, "{host}");
    }
    let ours = format!("localhost:{port}");
    for origin in ["http://evil.example", "null", &format!("http://{ours}")] {
        let reply = server
            .raw(request(&ours, &format!("origin: {origin}\r\n")).as_bytes())
            .await;
        assert_eq!(reply.status, 403, "{origin}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    // What a page could send without asking first (a plain form) is no message.
    let form = request(&ours, "").replace("application/json", "text/plain");
    assert_eq!(server.raw(form.as_bytes()).await.status, 415);
    let preflight = server.head("OPTIONS", &[]) + "\r\n";
    assert_eq!(server.raw(preflight.as_bytes()).await.status, 405);
    // Nothing leads anywhere else.
    for path in ["/", "/mcp/", "/mcp/../mcp", "//evil.example/mcp", "/sse"] {
        let text = request(&ours, "").replacen("/mcp", path, 1);
        let reply = server.raw(text.as_bytes()).await;
        assert_eq!(
            (reply.status, reply.header("location")),
            (404, None),
            "{path}"
        );
    }
    assert_eq!(server.raw(request(&ours, "").as_bytes()).await.status, 200);
}

#[tokio::test]
async fn case_098_the_server_listens_on_the_loopback_interface_only() {
    let (hosts, _) = Behind::new();
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let token = Token::new(TOKEN).unwrap();
    let refused = http::serve(listener, hosts, token, limits(), std::future::pending()).await;
    assert_eq!(
        refused.unwrap_err().kind(),
        std::io::ErrorKind::InvalidInput
    );
}

#[tokio::test]
async fn case_102_a_session_id_without_the_token_is_worth_nothing() {
    let server = Server::start(limits()).await;
    let session = server.session().await;
    let body = call(1, "read");
    let right = format!("authorization: Bearer {TOKEN}\r\n");
    let head = server.head("POST", &["content-type: application/json", &session]);
    for wrong in [
        String::new(),
        format!("authorization: Bearer {}\r\n", "0".repeat(64)),
        format!("authorization: Basic {TOKEN}\r\n"),
        format!("authorization: Bearer {TOKEN}0\r\n"),
        format!("authorization: Bearer {}\r\n", &TOKEN[..63]),
        format!("{right}{right}"),
    ] {
        let head = head.replacen(&right, &wrong, 1);
        let text = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        let reply = server.raw(text.as_bytes()).await;
        assert_eq!(reply.status, 401, "{wrong}");
        assert_eq!(
            reply.header("www-authenticate"),
            Some("bearer realm=\"agentctl\"")
        );
    }
    for unknown in [
        "mcp-session-id: x",
        "mcp-session-id: 00000000000000000000000000000000",
    ] {
        assert_eq!(server.post(&body, &[unknown]).await.status, 404);
    }
    assert_eq!(server.post(&body, &[]).await.status, 400);
    let twice = [session.as_str(), session.as_str()];
    assert_eq!(server.post(&body, &twice).await.status, 400);
    assert_eq!(server.reached.calls(), Vec::<String>::new());
    assert_eq!(server.post(&body, &[&session]).await.status, 200);
}

#[tokio::test]
async fn case_104_there_is_no_stream_to_leave_unread_and_an_unread_answer_is_given_up() {
    // One place only: as long as the first caller has it, nobody else is served.
    let server = Server::start(HttpLimits {
        connections: 1,
        ..limits()
    })
    .await;
    let session = server.session().await;
    let listen = server.head("GET", &["accept: text/event-stream", &session]) + "\r\n";
    let reply = server.raw(listen.as_bytes()).await;
    assert_eq!(
        (reply.status, reply.header("allow")),
        (405, Some("post, delete"))
    );

    let body = call(1, "big");
    let head = server.head("POST", &["content-type: application/json", &session]);
    let text = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let mut never_reads = server.connect().await;
    never_reads.write_all(text.as_bytes()).await.unwrap();
    assert_eq!(server.post(&call(2, "read"), &[&session]).await.status, 200);
    assert_eq!(server.reached.calls(), ["big", "read"]);
    drop(never_reads);
}

/// A call that runs when the server is stopped is answered; who asks after that, or waits too long, is told.
#[tokio::test]
async fn a_stopped_server_answers_what_was_asked() {
    for released in [true, false] {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stopped = async {
            let _ = stopped.await;
        };
        // Whoever is released needs no time; whoever is not is given up after it.
        let drain = Duration::from_millis(if released { 60_000 } else { 50 });
        let (server, served) = Server::until(HttpLimits { drain, ..limits() }, stopped).await;
        let session = server.session().await;
        let waits = {
            let (server, session) = (server.clone(), session.clone());
            tokio::spawn(async move { server.post(&call(1, "wait"), &[&session]).await })
        };
        server.reached.begun.notified().await;
        stop.send(()).unwrap();
        if released {
            server.reached.go.notify_one();
        }
        let reply = waits.await.unwrap();
        if released {
            assert_eq!(reply.status, 200, "{reply:?}");
            assert_eq!(reply.json()["result"]["structuredContent"]["waited"], true);
        } else {
            assert_eq!(reply.status, 503, "{reply:?}");
            assert!(reply.body.contains("the server ends"), "{reply:?}");
        }
        served.await.unwrap().unwrap();
        // Another test's server may have got the port meanwhile, and knows neither token nor session.
        if tokio::net::TcpStream::connect(server.address).await.is_ok() {
            let reply = server.post(&call(2, "read"), &[&session]).await;
            assert_ne!(reply.status, 200, "{reply:?}");
        }
    }
}
