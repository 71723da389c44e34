//! What a failed call means: something that may pass (and when to ask again), or something that asking again cannot mend.
//! Messages are one line, cut, and without secrets.

use agentctl_base::{model::ModelError, secrets};
use genai::{Error, webc};
use jiff::Timestamp;
use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

const MAX_REASON: usize = 300;

pub(super) fn of(model: &str, error: &Error, now: Timestamp) -> ModelError {
    let model = model.to_owned();
    match look(error) {
        Seen::Status {
            status,
            body,
            headers,
        } => by_status(model, status, body, headers, now),
        Seen::Lost(reason) => ModelError::Passing {
            model,
            reason: tidy(&reason),
            wait_ms: None,
        },
        Seen::Said(body) => {
            let reason = tidy(&format!(
                "the provider broke off: {}",
                said(&body.to_string())
            ));
            if is_our_fault(&body.to_string()) {
                ModelError::Failed { model, reason }
            } else {
                ModelError::Passing {
                    model,
                    reason,
                    wait_ms: None,
                }
            }
        }
        Seen::Other(reason) => ModelError::Failed {
            model,
            reason: tidy(&reason),
        },
    }
}

enum Seen<'a> {
    Status {
        status: StatusCode,
        body: &'a str,
        headers: &'a HeaderMap,
    },
    /// Nothing came, or not all of it.
    Lost(String),
    /// An error inside the stream.
    Said(&'a Value),
    Other(String),
}

fn look(error: &Error) -> Seen<'_> {
    match error {
        Error::HttpError {
            status,
            body,
            headers,
            ..
        } => Seen::Status {
            status: *status,
            body,
            headers,
        },
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
            match webc_error {
                webc::Error::ResponseFailedStatus {
                    status,
                    body,
                    headers,
                } => Seen::Status {
                    status: *status,
                    body,
                    headers,
                },
                webc::Error::Reqwest(error) => Seen::Lost(lost(error)),
                other => Seen::Other(other.to_string()),
            }
        }
        Error::WebStream { error, cause, .. } => {
            if let Some(inner) = error.downcast_ref::<Error>() {
                look(inner)
            } else if let Some(error) = error.downcast_ref::<reqwest::Error>() {
                Seen::Lost(lost(error))
            } else {
                Seen::Lost(cause.clone())
            }
        }
        Error::StreamParse { serde_error, .. } => {
            Seen::Lost(format!("the stream is not what was agreed: {serde_error}"))
        }
        Error::ChatResponse { body, .. } => Seen::Said(body),
        other => Seen::Other(other.to_string()),
    }
}

/// A connection's fault with its causes: the outermost one says nothing.
fn lost(error: &reqwest::Error) -> String {
    let what = if error.is_connect() {
        "no connection"
    } else if error.is_timeout() {
        "no answer in time"
    } else {
        "the connection was lost"
    };
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    match error.url().and_then(|url| url.host_str()) {
        Some(host) => format!("{what} ({host}: {deepest})"),
        None => format!("{what} ({deepest})"),
    }
}

fn by_status(
    model: String,
    status: StatusCode,
    body: &str,
    headers: &HeaderMap,
    now: Timestamp,
) -> ModelError {
    let reason = tidy(&format!("{status}: {}", said(body)));
    let told = headers.get("x-should-retry").and_then(|v| v.to_str().ok());
    let empty_purse = body.contains("insufficient_quota") || body.contains("billing");
    let passes = match status.as_u16() {
        429 => !empty_purse,
        408 | 409 | 425 | 500 | 502 | 503 | 504 | 520..=524 | 529 => true,
        _ => false,
    };
    match (status.as_u16(), told) {
        (401 | 403, _) => ModelError::Unavailable {
            model,
            reason: format!("the key was not accepted ({reason})"),
        },
        (404, _) => ModelError::Unavailable {
            model,
            reason: format!("the provider knows no such model or address ({reason})"),
        },
        (300..=399, _) => ModelError::Unavailable {
            model,
            reason: format!("the address leads elsewhere ({reason}); correct `base_url`"),
        },
        (_, Some("false")) => ModelError::Failed { model, reason },
        (_, told) if passes || told == Some("true") => ModelError::Passing {
            model,
            reason,
            wait_ms: wait_ms(headers, now),
        },
        _ if body.contains("response_format") => ModelError::Failed {
            model,
            reason: format!(
                "{reason}; if the server cannot be told the form of its answer, set `json_schema` under [providers.NAME] to false or \"json_object\""
            ),
        },
        _ => ModelError::Failed { model, reason },
    }
}

/// `retry-after-ms`, or `Retry-After` in seconds or as a date.
fn wait_ms(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| {
        text.parse::<f64>()
            .ok()
            .filter(|n| n.is_finite() && *n >= 0.0)
    };
    if let Some(ms) = text("retry-after-ms").and_then(number) {
        return Some(ms.ceil() as u64);
    }
    let after = text("retry-after")?;
    if let Some(seconds) = number(after) {
        return Some((seconds * 1000.0).ceil() as u64);
    }
    let at = jiff::fmt::rfc2822::parse(after).ok()?.timestamp();
    let wait = at.as_millisecond().saturating_sub(now.as_millisecond());
    Some(u64::try_from(wait).unwrap_or(0))
}

/// What the provider says in words, out of its JSON.
fn said(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return body.to_owned();
    };
    let places = [
        "/error/message",
        "/message",
        "/error",
        "/detail",
        "/0/error/message",
    ];
    let words = places.iter().find_map(|p| value.pointer(p)?.as_str());
    words.map_or_else(|| value.to_string(), str::to_owned)
}

/// Errors inside a stream that the same request would meet again.
fn is_our_fault(body: &str) -> bool {
    [
        "invalid_request",
        "authentication",
        "permission",
        "not_found",
        "context_length",
    ]
    .iter()
    .any(|sign| body.contains(sign))
}

fn tidy(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = secrets::mask(&line).chars().take(MAX_REASON).collect();
    if short.is_empty() {
        short.push_str("no reason was given");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn fault(status: u16, body: &str, header: Option<(&'static str, &str)>) -> ModelError {
        let headers = header.map(|(name, value)| {
            let value = HeaderValue::from_str(value).unwrap();
            (HeaderName::from_static(name), value)
        });
        let error = Error::HttpError {
            status: StatusCode::from_u16(status).unwrap(),
            canonical_reason: String::new(),
            body: body.to_owned(),
            headers: Box::new(headers.into_iter().collect()),
        };
        of("m", &error, "2026-01-01T00:00:00Z".parse().unwrap())
    }

    fn wait(error: ModelError) -> Option<u64> {
        match error {
            ModelError::Passing { wait_ms, .. } => wait_ms,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_time_that_the_provider_asks_for_is_read() {
        for (header, expected) in [
            (("retry-after", "2"), Some(2000)),
            (("retry-after", "0.5"), Some(500)),
            (("retry-after-ms", "1500"), Some(1500)),
            (
                ("retry-after", "Thu, 01 Jan 2026 00:00:30 GMT"),
                Some(30_000),
            ),
            (("retry-after", "Wed, 31 Dec 2025 00:00:00 GMT"), Some(0)),
            (("retry-after", "soon"), None),
            (("retry-after", "-1"), None),
        ] {
            assert_eq!(wait(fault(429, "{}", Some(header))), expected, "{header:?}");
        }
        assert_eq!(wait(fault(503, "", None)), None);
    }

    #[test]
    fn what_asking_again_cannot_mend_is_told_as_such() {
        let body = r#"{"error": {"message": "no\nsuch thing"}}"#;
        for (status, body, header, expected) in [
            (
                401,
                body,
                None,
                "model m is not available: the key was not accepted (401 Unauthorized: no such thing)",
            ),
            (
                404,
                body,
                None,
                "model m is not available: the provider knows no such model or address (404 Not Found: no such thing)",
            ),
            (
                400,
                body,
                None,
                "model m failed: 400 Bad Request: no such thing",
            ),
            (
                500,
                "x",
                None,
                "model m failed for now: 500 Internal Server Error: x",
            ),
            (
                500,
                "x",
                Some(("x-should-retry", "false")),
                "model m failed: 500 Internal Server Error: x",
            ),
            (
                400,
                "x",
                Some(("x-should-retry", "true")),
                "model m failed for now: 400 Bad Request: x",
            ),
            (
                429,
                r#"{"error": {"message": "pay", "code": "insufficient_quota"}}"#,
                None,
                "model m failed: 429 Too Many Requests: pay",
            ),
        ] {
            assert_eq!(fault(status, body, header).to_string(), expected);
        }
    }

    #[test]
    fn a_secret_in_a_body_is_not_repeated() {
        let error = fault(400, "bad key sk-abcdefghijklmnopqrstuvwx!", None).to_string();
        assert!(!error.contains("abcdefgh"), "{error}");
    }
}
