//! Whether a tool of a server failed.

use super::super::tool_answer::{Refused, read};
use super::*;
use agentctl_mcp::fake::text;

fn said(text_of_it: &str, is_error: bool) -> Result<Value, Refused> {
    read(&text(text_of_it), is_error)
}

#[test]
fn whether_a_tool_failed_is_in_what_it_says() {
    assert_eq!(
        said(r#"{"success":true,"data":{"id":"a"}}"#, false),
        Ok(json!({"id": "a"}))
    );
    assert_eq!(
        said(r#"{"success":true,"data":{"valid":false}}"#, false),
        Ok(json!({"valid": false}))
    );
    assert_eq!(said(r#"{"items":[]}"#, false), Ok(json!({"items": []})));
    let kind = |answer: Result<Value, Refused>| match answer {
        Err(Refused::Failed(error)) => Some(error.kind),
        _ => None,
    };
    use BackendErrorKind::{NotFound, Rejected, Unavailable, Unsupported};
    for (text, is_error, expected) in [
        (
            r#"{"success":false,"error":"Not Found","code":"NOT_FOUND"}"#,
            false,
            NotFound,
        ),
        (
            r#"{"success":false,"error":"Workflow validation failed","details":{"errors":["x"]}}"#,
            false,
            Unsupported,
        ),
        (
            r#"{"success":false,"error":"no","code":"AUTHENTICATION_ERROR"}"#,
            false,
            Unavailable,
        ),
        (
            r#"{"success":false,"error":"SSRF protection: Localhost access is blocked"}"#,
            false,
            Unavailable,
        ),
        (
            r#"{"error":"TOOL_DISABLED","message":"off"}"#,
            true,
            Unsupported,
        ),
        (
            "Error executing tool: nodes must be an array",
            true,
            Rejected,
        ),
        (
            "Workflow is not available in MCP. Enable MCP access in workflow settings.",
            true,
            Unsupported,
        ),
        (
            "Workflow not found or you don't have permission to access it.",
            true,
            NotFound,
        ),
        ("plain words", false, Rejected),
    ] {
        assert_eq!(kind(said(text, is_error)), Some(expected), "{text}");
    }
    let long = format!("{{\"success\":true,\"data\":\"{}", "x".repeat(200_000));
    assert_eq!(said(&long, false), Err(Refused::Cut));
    assert_eq!(
        said("{\"a\":1 [Response truncated: 1 of 2]", false),
        Err(Refused::Cut)
    );
    assert!(matches!(said("HTTP 429", true), Err(Refused::Busy(_))));
    // The text is broken and the structure is whole.
    let both = json!({"content": [{"type": "text", "text": "{\"cut"}], "structuredContent": {"success": true, "data": {"id": "b"}}});
    assert_eq!(read(&both, false), Ok(json!({"id": "b"})));
}
