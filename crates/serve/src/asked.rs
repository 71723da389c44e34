//! What is noted of each request: a line of the access log, and a span for who collects them. No body, no query, no secret.

use hyper::header::HeaderMap;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// The longest path that is noted, in characters.
const MAX_PATH: usize = 200;

/// A line of the log.
#[derive(Debug, Clone)]
pub enum Told {
    Asked(Asked),
    /// What happens without a request, as an object.
    Other(Value),
}

impl Told {
    /// One line of JSON.
    pub fn line(&self) -> String {
        match self {
            Told::Asked(asked) => asked.line(),
            Told::Other(line) => line.to_string(),
        }
    }
}

/// A request whose answer begins.
#[derive(Debug, Clone)]
pub struct Asked {
    pub begun: SystemTime,
    pub took: Duration,
    pub method: String,
    pub path: String,
    /// The client that it came from; None: it showed no secret, or needed none.
    pub client: Option<String>,
    pub status: u16,
    pub run: Option<String>,
    /// None: the caller named no span of its own, or none that can be read.
    pub parent: Option<Parent>,
}

impl Asked {
    /// A path as it is noted.
    pub(crate) fn path(path: &str) -> String {
        path.chars().take(MAX_PATH).collect()
    }

    /// The door, the same for each of its calls; None: there is none of such a path.
    pub fn route(&self) -> Option<&'static str> {
        let parts: Vec<&str> = self.path.split('/').skip(1).collect();
        Some(match parts.as_slice() {
            ["hooks", _] => "/hooks/{pack}",
            ["chat", _] => "/chat/{pack}",
            ["v1", "chat", "completions"] => "/v1/chat/completions",
            ["v1", "models"] => "/v1/models",
            ["runs"] => "/runs",
            ["runs", _] => "/runs/{id}",
            ["runs", _, "report"] => "/runs/{id}/report",
            ["runs", _, "events"] => "/runs/{id}/events",
            ["runs", _, "answers"] => "/runs/{id}/answers",
            ["runs", _, "cancel"] => "/runs/{id}/cancel",
            ["runs", _, "approvals", _] => "/runs/{id}/approvals/{question}",
            ["sessions", _] => "/sessions/{id}",
            ["files", _, _] => "/files/{run}/{name}",
            ["mcp"] => "/mcp",
            ["a2a", ..] => "/a2a",
            ["agents", _, ..] => "/agents/{pack}",
            ["page", _] => "/page/{part}",
            ["ui"] => "/ui",
            [".well-known", "agent-card.json"] => "/.well-known/agent-card.json",
            ["healthz"] => "/healthz",
            ["readyz"] => "/readyz",
            _ => return None,
        })
    }

    fn line(&self) -> String {
        let at = jiff::Timestamp::try_from(self.begun + self.took).unwrap_or_default();
        json!({
            "at": at.to_string(), "client": self.client, "method": self.method, "path": self.path, "status": self.status,
            "ms": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX), "run": self.run,
        })
        .to_string()
    }
}

/// The span that a request belongs to, as its caller says (W3C Trace Context). It decides nothing but under what a span is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parent {
    pub trace: u128,
    pub span: u64,
    /// The caller keeps its own spans of this trace.
    pub sampled: bool,
}

impl Parent {
    /// The header `traceparent`; None: it is not there, stands twice, or is no such header.
    pub fn of(headers: &HeaderMap) -> Option<Parent> {
        let mut all = headers.get_all("traceparent").iter();
        let (Some(one), None) = (all.next(), all.next()) else {
            return None;
        };
        let parts: Vec<&str> = one.to_str().ok()?.split('-').collect();
        let (version, trace, span, flags) = match parts.as_slice() {
            ["00", trace, span, flags] => (0, trace, span, flags),
            // A later version says more behind.
            [version, trace, span, flags, ..] => (hex(version, 2)?, trace, span, flags),
            _ => return None,
        };
        let (trace, span, flags) = (hex(trace, 32)?, hex(span, 16)?, hex(flags, 2)?);
        let span = u64::try_from(span).ok()?;
        let is_other = version == 0 && parts.len() > 4;
        let is_none = trace == 0 || span == 0 || version == 0xff;
        (!is_other && !is_none).then_some(Parent {
            trace,
            span,
            sampled: flags & 1 == 1,
        })
    }
}

/// So many lower-case digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let fits = text.len() == digits && text.bytes().all(is_hex);
    u128::from_str_radix(text, 16).ok().filter(|_| fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn of(all: &[&str]) -> Option<Parent> {
        let mut headers = HeaderMap::new();
        for one in all {
            headers.append("traceparent", HeaderValue::from_str(one).unwrap());
        }
        Parent::of(&headers)
    }

    #[test]
    fn a_callers_span_is_read_as_the_standard_has_it() {
        const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let parent = Parent {
            trace: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
            span: 0x00f0_67aa_0ba9_02b7,
            sampled: true,
        };
        assert_eq!(of(&[GOOD]), Some(parent));
        let unsampled = GOOD.replace("-01", "-00");
        assert!(of(&[&unsampled]).is_some_and(|p| !p.sampled));
        let later = GOOD.replacen("00-", "cc-", 1) + "-what-comes";
        assert_eq!(of(&[&later]), Some(parent));
        for wrong in [
            "",
            "00",
            "garbage",
            &GOOD.to_uppercase(),
            &format!("{GOOD}-more"),
            &GOOD.replacen("00-", "ff-", 1),
            &GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &GOOD.replace("00f067aa0ba902b7", "+0f067aa0ba902b7"),
            &GOOD.replace("-01", "-1"),
            &GOOD.replace("4bf9", "4bf"),
        ] {
            assert_eq!(of(&[wrong]), None, "{wrong:?}");
        }
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[GOOD, GOOD]), None);
    }

    #[test]
    fn a_route_is_the_same_for_every_call_of_a_door() {
        let of = |path: &str| {
            let asked = Asked {
                begun: SystemTime::UNIX_EPOCH,
                took: Duration::from_millis(7),
                method: "GET".to_owned(),
                path: Asked::path(path),
                client: None,
                status: 200,
                run: None,
                parent: None,
            };
            asked.route()
        };
        assert_eq!(of("/hooks/desk"), Some("/hooks/{pack}"));
        assert_eq!(of("/runs/0198/events"), Some("/runs/{id}/events"));
        assert_eq!(
            of("/runs/0198/approvals/a"),
            Some("/runs/{id}/approvals/{question}")
        );
        assert_eq!(of("/agents/desk/tasks/1:cancel"), Some("/agents/{pack}"));
        for none in [
            "",
            "/",
            "/hooks",
            "/hooks/a/b",
            "/wp-login.php",
            &"/x".repeat(400),
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
