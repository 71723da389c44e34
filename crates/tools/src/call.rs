//! One call of a declared tool that the gateway let pass: what it requires, where it goes, what comes back.

use crate::address::{is_listed, judged, resolved};
use crate::answer::{FAILED, GONE, Sent, may_retry, outcome};
use crate::builtin;
use crate::http::{Auth, Spec};
use crate::mock;
use crate::places::{Piece, as_text, body, filled, pieces};
use crate::seen::Seen;
use crate::toolset::{How, Made, Shared};
use agentctl_base::BoxFuture;
use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_base::decision::Decision;
use agentctl_engine::flow::Schema;
use agentctl_engine::pack::Requires;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::toolset::{
    Act, Answer, Change, Cx, Keep, Outcome, Performed, Plan, Planning, Read, Touches,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// The rule of a refusal because of where a request would go.
pub(crate) const ADDRESS: &str = "guard.address";
/// The rule of a refusal because of what did not happen before.
pub(crate) const REQUIRES: &str = "tools.requires";
/// Waited before the first retry, and twice as long before each further one.
const WAIT: Duration = Duration::from_millis(250);
const CONNECT: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub(crate) struct Call {
    pub made: Arc<Made>,
    pub shared: Arc<Shared>,
    pub args: Map<String, Value>,
}

fn deny(rule: &str, reason: impl Into<String>) -> Decision {
    Decision::Deny {
        rule: rule.to_owned(),
        reason: reason.into(),
    }
}

impl Read for Call {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let bound = cx.bound.cloned().unwrap_or_default();
        let required = self.required(cx);
        Box::pin(async move {
            if let Err(decision) = required {
                return Ok(Outcome::Refused(decision));
            }
            Ok(self.made(&bound).await)
        })
    }
}

impl Change for Call {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Value) -> BoxFuture<'a, Planning> {
        let planned = self.required(cx).map_err(Outcome::Refused).map(|()| {
            let performing = Performing {
                call: self.clone(),
                bound: cx.bound.cloned().unwrap_or_default(),
            };
            Plan::unguarded(Box::new(performing))
        });
        Box::pin(std::future::ready(Ok(planned)))
    }
}

struct Performing {
    call: Call,
    bound: Map<String, Value>,
}

impl Act for Performing {
    fn touches(&self) -> Touches {
        Touches::Nothing
    }
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(async move { (Ok(self.call.made(&self.bound).await), None) })
    }
}

impl Call {
    /// What has to have happened before did.
    fn required(&self, cx: &Cx<'_>) -> Result<(), Decision> {
        let Some(requires) = &self.made.tool.requires else {
            return Ok(());
        };
        let listed = cx
            .memory::<Seen>()
            .and_then(|seen| seen.listed(cx.step, &requires.tool));
        self.fits(requires, listed)
    }

    /// The call is one of those that were listed. `listed`: id → schema; None: nothing was.
    pub(crate) fn fits(
        &self,
        requires: &Requires,
        listed: Option<&BTreeMap<String, Value>>,
    ) -> Result<(), Decision> {
        let tool = &requires.tool;
        let Some(listed) = listed else {
            return Err(deny(REQUIRES, format!("{tool} was not called here before")));
        };
        let Some(id) = &requires.id else {
            return Ok(());
        };
        let named = self
            .args
            .get(id)
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some(schema) = listed.get(named) else {
            return Err(deny(
                REQUIRES,
                format!("{id} {named:?} is none of those that {tool} listed for this user"),
            ));
        };
        let Some(parameters) = &requires.parameters else {
            return Ok(());
        };
        let empty = json!({});
        let given = self.args.get(parameters).unwrap_or(&empty);
        let faults = match Schema::compile(schema.clone()) {
            Ok(schema) => schema.faults(given),
            Err(why) => vec![why],
        };
        match faults.is_empty() {
            true => Ok(()),
            false => Err(deny(
                REQUIRES,
                format!("the parameters do not fit {named}: {}", faults.join("; ")),
            )),
        }
    }

    pub(crate) fn changes(&self) -> bool {
        let reads = self.made.tool.reads_when.as_ref().is_some_and(|when| {
            let mut variables = Map::new();
            variables.insert("args".into(), Value::Object(self.args.clone()));
            when.holds(&variables).unwrap_or(false)
        });
        self.made.tool.changes && !reads
    }

    pub(crate) async fn made(&self, bound: &Map<String, Value>) -> Outcome {
        let changes = self.changes();
        let (shared, tool) = (&self.shared, &self.made.tool);
        let outcome = match (&self.made.how, &tool.mock) {
            (_, Some(mock)) if self.made.is_mock(&shared.surroundings) => {
                mock::answer(mock, &self.args, bound)
            }
            (How::Http(spec), _) => self.real(spec, bound, changes).await,
            (How::Builtin(spec), _) => self.reckoned(spec, bound),
            (How::Flow, _) => Outcome::failed("this tool is a flow", FAILED, ""),
        };
        match outcome {
            Outcome::Ok(Value::Object(mut content)) => {
                content.insert(
                    "effect".into(),
                    if changes { "changes" } else { "reads" }.into(),
                );
                Outcome::Ok(Value::Object(content))
            }
            other => other,
        }
    }

    /// What a function of the program answers, if it is not more than the tool may answer.
    fn reckoned(&self, spec: &builtin::Spec, bound: &Map<String, Value>) -> Outcome {
        let limits = self.made.tool.limits;
        if limits.per_minute.is_some_and(|most| self.is_over(most)) {
            return Outcome::failed(
                "too many calls in a minute",
                "tools.rate",
                "try again later",
            );
        }
        let mut values = self.args.clone();
        values.extend(bound.clone());
        let outcome = spec.call(&values, &self.shared.library);
        let bytes = match &outcome {
            Outcome::Ok(content) => content.to_string().len(),
            _ => 0,
        };
        if u64::try_from(bytes).is_ok_and(|bytes| bytes <= limits.max_bytes) {
            return outcome;
        }
        let why = format!("the answer is larger than {} bytes", limits.max_bytes);
        Outcome::failed(why, FAILED, "ask for less")
    }

    async fn real(&self, spec: &Spec, bound: &Map<String, Value>, changes: bool) -> Outcome {
        if let Some(name) = self.made.lacks(&self.shared.surroundings) {
            let why = format!("the variable {name} is not set, so the real tool cannot be called");
            return Outcome::failed(why, "tools.environment", "tell the user");
        }
        let key = self.key(bound);
        if let Some(kept) = self.kept(&key) {
            return Outcome::Ok(kept);
        }
        if let Some(most) = self.made.tool.limits.per_minute
            && self.is_over(most)
        {
            let why = format!("more than {most} calls in a minute");
            return Outcome::failed(why, "tools.rate", "try again later");
        }
        let mut values = self.args.clone();
        values.extend(bound.clone());
        let outcome = match self.request(spec, &values).await {
            Ok((request, url)) => self.sent(spec, (request, url), changes).await,
            Err(refused) => return refused,
        };
        match &outcome {
            Outcome::Ok(content) => self.keep(key, content),
            Outcome::Failed(content)
                if content.get("rule").and_then(Value::as_str) == Some(GONE) =>
            {
                self.forget()
            }
            _ => {}
        }
        outcome
    }

    /// The request, and where it goes. Err: it may not be made.
    async fn request(
        &self,
        spec: &Spec,
        values: &Map<String, Value>,
    ) -> Result<(reqwest::RequestBuilder, Url), Outcome> {
        let variable = self.shared.surroundings.variable;
        let refused = |why: String| Outcome::Refused(deny(ADDRESS, why));
        let lacking = || {
            Outcome::failed(
                "a value that the request needs is not there",
                FAILED,
                "name it",
            )
        };
        let mut url =
            address(spec, values, variable).map_err(|e| e.map_or_else(lacking, refused))?;
        let query: Vec<(&String, String)> = (spec.query.iter())
            .filter_map(|(key, text)| Some((key, filled(text, values)?)))
            .collect();
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(&query);
        }
        let allow = &self.shared.surroundings.allow;
        let found = resolved(&url)
            .await
            .map_err(|why| Outcome::failed(why, FAILED, "say that it did not work"))?;
        let at = judged(&url, &found, allow).map_err(refused)?;
        if url.scheme() != "https" && spec.auth.is_some() && !is_listed(&url, at, allow) {
            return Err(refused(format!(
                "credentials would go to {} without https",
                url.host_str().unwrap_or_default()
            )));
        }
        let client = client(&url, at, self.made.tool.limits.timeout_s);
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
            Some(Auth::Basic { user, password }) => {
                request.basic_auth(of(user), Some(of(password)))
            }
            Some(Auth::Bearer(name)) => request.bearer_auth(of(name)),
            Some(Auth::Header { name, value }) => request.header(name, of(value)),
        };
        Ok((request, url))
    }

    async fn sent(
        &self,
        spec: &Spec,
        (request, _): (reqwest::RequestBuilder, Url),
        changes: bool,
    ) -> Outcome {
        let limits = self.made.tool.limits;
        let mut wait = WAIT;
        let mut tried = 0;
        loop {
            let Some(again) = request.try_clone() else {
                return Outcome::failed("the request cannot be made", FAILED, "");
            };
            let sent = send(again, limits.max_bytes).await;
            if tried >= limits.retries || !may_retry(&sent, changes) {
                let listed = self.made.tool.requires.is_some();
                return outcome(sent, &spec.answer, changes, listed);
            }
            tried += 1;
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
    }

    fn key(&self, bound: &Map<String, Value>) -> String {
        let key = json!({"tool": self.made.tool.id, "args": self.args, "bound": bound});
        sha256_hex(canonical(&key).as_bytes())
    }

    fn kept(&self, key: &str) -> Option<Value> {
        let seconds = self.made.tool.cache_s?;
        let cache = self.shared.cache.lock().ok()?;
        let (since, value) = cache.get(key)?;
        (since.elapsed() < Duration::from_secs(seconds)).then(|| value.clone())
    }

    fn keep(&self, key: String, content: &Value) {
        if self.made.tool.cache_s.is_some()
            && let Ok(mut cache) = self.shared.cache.lock()
        {
            // It is a cache: when it is full, it begins anew.
            if cache.len() >= 1024 {
                cache.clear();
            }
            cache.insert(key, (Instant::now(), content.clone()));
        }
    }

    /// What was listed is out of date.
    fn forget(&self) {
        if let Ok(mut cache) = self.shared.cache.lock() {
            cache.clear();
        }
    }

    /// One more call in the last minute; true: it is one too many.
    fn is_over(&self, most: u64) -> bool {
        let Ok(mut calls) = self.shared.calls.lock() else {
            return true;
        };
        let made = calls.entry(self.made.tool.id).or_default();
        while made
            .front()
            .is_some_and(|at| at.elapsed() > Duration::from_secs(60))
        {
            made.pop_front();
        }
        let over = u64::try_from(made.len()).unwrap_or(u64::MAX) >= most;
        if !over {
            made.push_back(Instant::now());
        }
        over
    }
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
    let url = Url::parse(&text).map_err(|e| Some(format!("the address is no URL: {e}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Some(format!(
            "the address is not http or https but {}",
            url.scheme()
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Some(
            "the address holds a user's name; credentials come from variables of their own"
                .to_owned(),
        ));
    }
    Ok(url)
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

/// A client that reaches this one address, follows nothing and asks no proxy.
fn client(url: &Url, at: SocketAddr, timeout_s: u64) -> reqwest::Result<reqwest::Client> {
    agentctl_host::http::client()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .resolve(url.host_str().unwrap_or_default(), at)
        .connect_timeout(CONNECT)
        .timeout(Duration::from_secs(timeout_s))
        .build()
}

async fn send(request: reqwest::RequestBuilder, max_bytes: u64) -> Sent {
    let mut response = match request.send().await {
        Ok(response) => response,
        Err(e) if e.is_connect() || e.is_builder() => {
            return Sent::Not("the server cannot be reached".to_owned());
        }
        Err(e) => return lost(&e),
    };
    let status = response.status().as_u16();
    let packed = response.headers().get(reqwest::header::CONTENT_ENCODING);
    if packed.is_some_and(|how| how != "identity") {
        let why = "the answer is packed, which was not asked for".to_owned();
        return Sent::Unreadable { status, why };
    }
    let mut body: Vec<u8> = Vec::new();
    loop {
        match response.chunk().await {
            Ok(None) => return Sent::Answered { status, body },
            Ok(Some(chunk)) => {
                let length =
                    u64::try_from(body.len().saturating_add(chunk.len())).unwrap_or(u64::MAX);
                if length > max_bytes {
                    let why = format!("the answer is larger than {max_bytes} bytes");
                    return Sent::Unreadable { status, why };
                }
                body.extend_from_slice(&chunk);
            }
            Err(e) => return lost(&e),
        }
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
