//! One request of `kind: http`: put together, sent to the one address that was judged, tried again where that can help.

use super::{Auth, Spec};
use crate::answer::{FAILED, Sent, may_retry, outcome};
use crate::call::{ADDRESS, Call, deny};
use crate::kind::Work;
use crate::places::{Piece, as_text, body, filled_with, pieces};
use crate::toolset::Surroundings;
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::Outcome;
use agentctl_host::reach::{self, NoWay};
use serde_json::{Map, Value};
use std::time::Duration;
use url::Url;

/// Waited before the first retry, and twice as long before each further one.
const WAIT: Duration = Duration::from_millis(250);

impl Work for Spec {
    /// The variables that are not set.
    fn lacks(&self, of: &Surroundings) -> Option<String> {
        let mut missing = self.variables();
        missing.retain(|name| (of.variable)(name).is_none());
        let mut told: Vec<&str> = Vec::new();
        for name in missing {
            if !told.contains(&name) {
                told.push(name);
            }
        }
        match told.as_slice() {
            [] => None,
            [one] => Some(format!("{one} is not set")),
            [all @ .., last] => Some(format!("{} and {last} are not set", all.join(", "))),
        }
    }

    fn refused(&self, of: &Surroundings) -> Option<String> {
        let begin = match pieces(&self.url)?.into_iter().next()? {
            Piece::Text(text) => text.to_owned(),
            Piece::Variable(name) => (of.variable)(name)?,
            Piece::Value(_) => return None,
        };
        let url = Url::parse(&begin).ok()?;
        Some(format!(
            "{}; {}",
            reach::refused(&url, &of.allow)?,
            listed(&url)
        ))
    }

    fn work<'a>(
        &'a self,
        call: &'a Call,
        values: Map<String, Value>,
        changes: bool,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match request(self, call, &values).await {
                Ok(request) => sent(self, call, request, changes).await,
                Err(refused) => refused,
            }
        })
    }
}

/// The request, and where it goes. Err: it may not be made.
async fn request(
    spec: &Spec,
    call: &Call,
    values: &Map<String, Value>,
) -> Result<reqwest::RequestBuilder, Outcome> {
    let variable = call.shared.surroundings.variable;
    let refused = |why: String| Outcome::Refused(deny(ADDRESS, why));
    let lacking = || {
        Outcome::failed(
            "a value that the request needs is not there",
            FAILED,
            "name it",
        )
    };
    let mut url = address(spec, values, variable).map_err(|e| e.map_or_else(lacking, refused))?;
    let query: Vec<(&String, String)> = (spec.query.iter())
        .filter_map(|(key, text)| Some((key, filled_with(text, values, variable)?)))
        .collect();
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(&query);
    }
    let allow = &call.shared.surroundings.allow;
    let at = reach::way(&url, allow, spec.auth.is_some()).await;
    let at = at.map_err(|no| match no {
        NoWay::Unknown(why) => Outcome::failed(why, FAILED, "say that it did not work"),
        NoWay::Forbidden(why) if reach::refused(&url, allow).is_some() => {
            refused(format!("{why}; {}", listed(&url)))
        }
        NoWay::Forbidden(why) => refused(why),
    })?;
    let timeout = Duration::from_secs(call.made.tool.limits.timeout_s);
    let client = reach::client(&url, at).timeout(timeout).build();
    let client = client.map_err(|e| Outcome::failed(e.to_string(), FAILED, ""))?;
    let method =
        reqwest::Method::from_bytes(spec.method.as_bytes()).unwrap_or(reqwest::Method::GET);
    let mut request = client.request(method, url.clone());
    if let Some(shape) = &spec.body {
        request = request.json(&body(shape, values).unwrap_or_default());
    }
    let of = |name: &str| variable(name).unwrap_or_default();
    request = match &spec.auth {
        None => request,
        Some(Auth::Basic { user, password }) => request.basic_auth(of(user), Some(of(password))),
        Some(Auth::Bearer(name)) => request.bearer_auth(of(name)),
        Some(Auth::Header { name, value }) => request.header(name, of(value)),
    };
    Ok(request)
}

async fn sent(
    spec: &Spec,
    call: &Call,
    request: reqwest::RequestBuilder,
    changes: bool,
) -> Outcome {
    let limits = call.made.tool.limits;
    let mut wait = WAIT;
    let mut tried = 0;
    loop {
        let Some(again) = request.try_clone() else {
            return Outcome::failed("the request cannot be made", FAILED, "");
        };
        let sent = send(again, limits.max_bytes).await;
        if tried >= limits.retries || !may_retry(&sent, changes) {
            let listed = call.made.tool.requires.is_some();
            return outcome(sent, &spec.answer, changes, listed);
        }
        tried += 1;
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
}

/// What lets a request go to an address of this machine or of a private network.
fn listed(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    format!("your own config.toml may list it: [tools] allow_addresses = [\"{host}:{port}\"]")
}

/// The URL without its query. Err: it is none that a request may go to (None: a value is missing).
fn address(
    spec: &Spec,
    values: &Map<String, Value>,
    variable: fn(&str) -> Option<String>,
) -> Result<Url, Option<String>> {
    let mut text = String::new();
    for piece in pieces(&spec.url).unwrap_or_default() {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Variable(name) => {
                text.push_str(variable(name).unwrap_or_default().trim_end_matches('/'))
            }
            Piece::Value(name) => {
                let value = as_text(values.get(name)).ok_or(None)?;
                if value.is_empty() || value == "." || value == ".." {
                    return Err(Some(format!("{name} is no part of a path")));
                }
                text.push_str(&segment(&value));
            }
        }
    }
    Url::parse(&text).map_err(|e| Some(format!("the address is no URL: {e}")))
}

/// A value as one segment of a path: every byte that means something there is written as %XX.
fn segment(value: &str) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

async fn send(request: reqwest::RequestBuilder, max_bytes: u64) -> Sent {
    let response = match request.send().await {
        Ok(response) => response,
        Err(e) if e.is_connect() || e.is_builder() => {
            return Sent::Not("the server cannot be reached".to_owned());
        }
        Err(e) => return lost(&e),
    };
    let status = response.status().as_u16();
    let after = response.headers().get(reqwest::header::RETRY_AFTER);
    let after = after.and_then(|after| after.to_str().ok().map(str::to_owned));
    match reach::body(response, max_bytes).await {
        reach::Body::Whole(body) => Sent::Answered {
            status,
            body,
            after,
        },
        reach::Body::Unreadable(why) => Sent::Unreadable { status, why },
        reach::Body::Lost(e) => lost(&e),
    }
}

fn lost(error: &reqwest::Error) -> Sent {
    let late = error.is_timeout();
    let why = if late {
        "no answer came in time"
    } else {
        "the connection was cut before an answer came"
    };
    Sent::Lost {
        why: why.to_owned(),
        late,
    }
}
