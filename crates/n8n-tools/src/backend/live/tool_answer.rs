//! What a tool of an MCP server answered, as far as it can be believed: whether it failed is in what it says, not in `isError`;
//! an answer that was cut is no answer.

use crate::backend::{BackendError, BackendErrorKind};
use serde_json::Value;

/// What is quoted of a server's words.
const SHOWN: usize = 400;

/// Why there is no answer to use.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Refused {
    /// The server, or n8n behind it, said no, or could not.
    Failed(BackendError),
    /// n8n is asked too often: nothing was done.
    Busy(BackendError),
    /// It was done, and the answer is too long to be whole.
    Cut,
}

/// The JSON of a tool's answer; of n8n-mcp's `{success, data}` the data.
pub(super) fn read(content: &Value, is_error: bool) -> Result<Value, Refused> {
    let text = text(content);
    let value: Option<Value> = serde_json::from_str(&text).ok();
    let value = value.filter(|value| value.is_object() || value.is_array());
    // Some servers put the whole into the text, others beside it; where both are there, they say the same.
    let value = value.or_else(|| {
        let own = content.get("structuredContent")?;
        own.is_object().then(|| own.clone())
    });
    let Some(value) = value else {
        let cut = text.len() > 100_000 || text.contains("[Response truncated");
        return Err(match (cut, is_error) {
            (true, false) => Refused::Cut,
            _ => prose(&text),
        });
    };
    match value.get("success").and_then(Value::as_bool) {
        Some(true) => Ok(value.get("data").cloned().unwrap_or(value)),
        Some(false) => Err(failure(&value)),
        None if is_error => Err(failure(&value)),
        None => Ok(value),
    }
}

fn text(content: &Value) -> String {
    let parts = content.get("content").and_then(Value::as_array);
    parts
        .into_iter()
        .flatten()
        .filter_map(|part| part.get("text").and_then(Value::as_str))
        .collect()
}

fn shown(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars()
        .filter(|c| !c.is_control())
        .take(SHOWN)
        .collect()
}

fn failure(value: &Value) -> Refused {
    let word = |key: &str| value.get(key).and_then(Value::as_str);
    let code = word("code").or(word("error")).unwrap_or_default();
    let said = match (word("error"), word("message")) {
        (Some(error), Some(message)) if error != message => format!("{error}: {message}"),
        (Some(said), _) | (None, Some(said)) => said.to_owned(),
        (None, None) => "no reason given".to_owned(),
    };
    let details = value.get("details").and_then(|d| d.get("errors"));
    let details = details.and_then(Value::as_array).into_iter().flatten();
    let mut said = shown(&said);
    for detail in details.take(3) {
        let text = detail.as_str().or_else(|| detail.get("message")?.as_str());
        said.extend(text.map(|text| format!("; {}", shown(text))));
    }
    kind(code, said)
}

fn prose(text: &str) -> Refused {
    kind("", shown(text))
}

/// What kind of failure it is, from the server's code and words.
fn kind(code: &str, said: String) -> Refused {
    let lower = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let error = |kind, what: &str| BackendError::new(kind, format!("{what}: {said}"));
    use BackendErrorKind::{NotFound, Rejected, Unavailable, Unsupported};
    if has(&["ssrf protection", "localhost access is blocked"]) {
        return Refused::Failed(
            error(Unavailable, "the server will not reach n8n")
                .with_hint("set WEBHOOK_SECURITY_MODE to moderate (n8n on this machine) or permissive (in your network) in .mcp.json"),
        );
    }
    match code {
        "RATE_LIMIT_ERROR" | "RATE_LIMIT" => {
            return Refused::Busy(
                error(Unavailable, "n8n is asked too often")
                    .with_hint("wait a minute and go on with agentctl resume"),
            );
        }
        "TOOL_DISABLED" | "OPERATION_DISABLED" => {
            return Refused::Failed(
                error(Unsupported, "the server has it switched off")
                    .with_hint("take it out of DISABLED_TOOLS in .mcp.json"),
            );
        }
        "NOT_FOUND" => return Refused::Failed(error(NotFound, "n8n has no such thing")),
        "AUTHENTICATION_ERROR" => {
            return Refused::Failed(
                error(Unavailable, "n8n refuses the API key")
                    .with_hint("make a key in n8n under Settings → n8n API, and set N8N_API_KEY"),
            );
        }
        "NO_RESPONSE" | "SERVER_ERROR" | "REQUEST_ERROR" | "NETWORK_ERROR" | "TIMEOUT" => {
            return Refused::Failed(
                error(Unavailable, "n8n did not answer the server")
                    .with_hint("start n8n, or correct N8N_API_URL in .mcp.json"),
            );
        }
        _ => {}
    }
    // Rules of the server's own, looked at before n8n was asked: n8n itself may well take it.
    if code.starts_with("Workflow validation failed") {
        return Refused::Failed(error(Unsupported, "the server's own rules refuse it"));
    }
    if has(&["rate limit", "too many requests", "429"]) {
        return Refused::Busy(error(Unavailable, "n8n is asked too often"));
    }
    if has(&[
        "not found or you don't have permission",
        "workflow not found",
    ]) {
        return Refused::Failed(error(NotFound, "n8n has no such thing"));
    }
    if has(&["not available in mcp", "not_available_in_mcp"]) {
        return Refused::Failed(
            error(Unsupported, "this workflow is closed to n8n's MCP server").with_hint(
                "switch on \"Available in MCP\" in the workflow's settings, or give N8N_API_URL and N8N_API_KEY",
            ),
        );
    }
    if has(&[
        "econnrefused",
        "econnreset",
        "fetch failed",
        "socket hang up",
    ]) {
        return Refused::Failed(error(Unavailable, "n8n did not answer the server"));
    }
    Refused::Failed(error(Rejected, "refused"))
}
