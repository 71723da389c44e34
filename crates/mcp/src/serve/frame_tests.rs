use super::frame::{Frame, MAX_MESSAGE, read};
use rmcp::model::RequestId;
use serde_json::json;

/// (id, code, is it answered) of a refusal.
fn refused(text: &str) -> (Option<RequestId>, i32, bool) {
    match read(text.as_bytes()) {
        Err(refusal) => (refusal.id, refusal.code, refusal.answered),
        Ok(frame) => panic!("{text} was read as {frame:?}"),
    }
}

#[test]
fn what_is_no_json_is_a_parse_error_without_an_id() {
    for text in [
        "",
        "{",
        "{\"id\":1,}",
        "hello",
        "{\"id\":NaN}",
        "\u{feff}{}",
    ] {
        assert_eq!(refused(text), (None, -32700, true), "{text}");
    }
    let not_utf8 = read(b"{\"a\":\"\xff\"}").unwrap_err();
    assert_eq!((not_utf8.code, not_utf8.answered), (-32700, true));
}

#[test]
fn what_is_json_and_no_request_is_an_invalid_request() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}{}}}}}"#,
        "[".repeat(110),
        "]".repeat(110)
    );
    for text in [
        "[]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        "null",
        "1",
        "\"ping\"",
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","method":7}"#,
        r#"{"jsonrpc":"2.0"}"#,
        "{}",
        deep.as_str(),
    ] {
        assert_eq!(refused(text), (None, -32600, true), "{text}");
    }
    for text in [
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":["tools/call"]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
    ] {
        assert_eq!(
            refused(text),
            (Some(RequestId::Number(1)), -32600, true),
            "{text}"
        );
    }
}

#[test]
fn parameters_have_the_types_of_their_method() {
    for (method, params) in [
        ("ping", json!([1])),
        ("ping", json!(null)),
        ("ping", json!("x")),
        ("ping", json!({"_meta": 5})),
        ("tools/list", json!({"cursor": 1})),
        ("tools/call", json!({})),
        ("tools/call", json!({"name": ["get_workflow"]})),
        (
            "tools/call",
            json!({"name": "get_workflow", "arguments": [1]}),
        ),
        (
            "tools/call",
            json!({"name": "get_workflow", "arguments": "{}"}),
        ),
        (
            "tools/call",
            json!({"name": "get_workflow", "arguments": null}),
        ),
        ("initialize", json!({})),
        (
            "initialize",
            json!({"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
        ),
        (
            "initialize",
            json!({"protocolVersion": "x", "capabilities": [], "clientInfo": {"name": "a", "version": "1"}}),
        ),
        (
            "initialize",
            json!({"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": "a"}}),
        ),
    ] {
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let expected = (Some(RequestId::Number(1)), -32602, true);
        assert_eq!(refused(&text.to_string()), expected, "{text}");
    }
}

#[test]
fn a_notification_is_never_answered() {
    for text in [
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_workflow"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":[1]}"#,
    ] {
        assert!(!refused(text).2, "{text}");
    }
    // With an id it is a request, for a method that there is not.
    let text = r#"{"jsonrpc":"2.0","id":"a","method":"notifications/initialized"}"#;
    assert_eq!(
        refused(text),
        (Some(RequestId::String("a".into())), -32601, true)
    );
}

#[test]
fn what_is_acceptable_is_told_apart() {
    let read = |text: &str| read(text.as_bytes()).unwrap();
    let text = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#;
    assert!(matches!(read(text), Frame::Request(RequestId::String(id), _) if &*id == "a"));
    let text = r#"{"jsonrpc":"2.0","id":-3,"method":"who/knows","params":{}}"#;
    assert!(matches!(
        read(text),
        Frame::Request(RequestId::Number(-3), _)
    ));
    let text = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert!(matches!(
        read(text),
        Frame::Notification(Some(RequestId::Number(7)), _)
    ));
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;
    assert!(matches!(
        read(text),
        Frame::Initialize(RequestId::Number(1), _)
    ));
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#,
    ] {
        assert!(matches!(read(text), Frame::Response), "{text}");
    }
}

#[test]
fn a_message_has_a_longest_length() {
    let padded = |n: usize| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}{}",
            " ".repeat(n)
        )
    };
    let empty = padded(0).len();
    assert!(read(padded(MAX_MESSAGE - empty).as_bytes()).is_ok());
    assert_eq!(
        read(padded(MAX_MESSAGE - empty + 1).as_bytes())
            .unwrap_err()
            .code,
        -32600
    );
}
