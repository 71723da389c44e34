//! One request to n8n and its answer, bounded in time, size and tries. The key goes into its header and nowhere else: no error
//! names it, no redirect takes it elsewhere.

use crate::backend::{BackendError, BackendResult};
use agentctl_base::plain_http::{PlainHttp, is_loopback};
use agentctl_host::machine::is_short;
use agentctl_mcp::Secret;
use reqwest::header::{HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Method, Response, StatusCode, Url, redirect};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

const CONNECT: Duration = Duration::from_secs(5);
const READ_LIMIT: Duration = Duration::from_secs(30);
/// A write may have to register webhooks with other services.
const WRITE_LIMIT: Duration = Duration::from_secs(90);
/// A page of workflows can be long; n8n itself takes 16 MB for one of them.
const MAX_BODY: usize = 128 * 1024 * 1024;
const MAX_ERROR_BODY: usize = 64 * 1024;
/// What is quoted of n8n's own words.
const SHOWN: usize = 400;
/// How often a request is made at most, and how long is waited between tries in all.
const TRIES: u32 = 4;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    /// Repeated only when n8n said that it did nothing, or never got it.
    Writes,
}

/// An n8n's address and the key for it.
#[derive(Clone)]
pub(super) struct Http {
    client: Client,
    base: Url,
    key: Option<(HeaderName, HeaderValue)>,
    limits: (Duration, Duration),
}

/// An answer of n8n that was not taken for an error.
pub(super) struct Answer {
    pub body: Vec<u8>,
}

/// `http://host:port` with what an address of n8n may have behind it taken away.
pub(super) fn base(address: &str) -> BackendResult<Url> {
    let wrong = |why: &str| {
        BackendError::rejected(format!("the address of n8n {why}"))
            .with_hint("set N8N_API_URL to e.g. http://localhost:5678")
    };
    let mut url = Url::parse(address.trim()).map_err(|e| wrong(&format!("cannot be read: {e}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("must not hold a name or a password"));
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    let path = path.strip_suffix("/api/v1").unwrap_or(&path);
    url.set_path(&format!("{path}/"));
    Ok(url)
}

impl Http {
    /// `key` is sent with every request; without one it is as anybody's. `plain_http`: where the user lets it go without https.
    pub fn new(base: Url, key: Option<&Secret>, plain_http: &PlainHttp) -> BackendResult<Self> {
        if key.is_some() {
            plain_http
                .check("the API key of n8n", &base)
                .map_err(|refused| {
                    BackendError::rejected(refused.to_string()).with_hint(refused.hint())
                })?;
        }
        let key = match key {
            None => None,
            Some(key) => {
                let mut value = HeaderValue::from_str(key.expose().trim()).map_err(|_| {
                    BackendError::rejected("the API key of n8n holds letters that no header can")
                        .with_hint("set N8N_API_KEY again, without line ends")
                })?;
                value.set_sensitive(true);
                Some((HeaderName::from_static("x-n8n-api-key"), value))
            }
        };
        let mut client = agentctl_host::http::client()
            .connect_timeout(CONNECT)
            .redirect(redirect::Policy::none())
            .user_agent(concat!("agentctl/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&base) {
            // What is meant for this machine is not taken to another one first.
            client = client.no_proxy();
        }
        let client = client
            .build()
            .map_err(|e| BackendError::unavailable(format!("cannot set up HTTP: {e}")))?;
        Ok(Http {
            client,
            base,
            key,
            limits: (READ_LIMIT, WRITE_LIMIT),
        })
    }

    pub fn base(&self) -> &Url {
        &self.base
    }

    /// The address below the base; each part is escaped, so that none can lead out of its place.
    pub fn url(&self, parts: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(parts);
        }
        url
    }

    /// The answer's JSON; Null when it has no body.
    pub async fn json(
        &self,
        effect: Effect,
        method: Method,
        url: Url,
        body: Option<&Value>,
    ) -> BackendResult<Value> {
        let answer = self.send(effect, method, url, body).await?;
        if answer.body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer.body).map_err(|_| {
            BackendError::unavailable(format!(
                "n8n at {} answered with something that is no JSON",
                self.base
            ))
            .with_hint("check N8N_API_URL: a login page or a proxy may stand there")
        })
    }

    /// One request, made again where that is safe: when n8n asks for patience, and a read also when the connection broke.
    pub async fn send(
        &self,
        effect: Effect,
        method: Method,
        url: Url,
        body: Option<&Value>,
    ) -> BackendResult<Answer> {
        let began = Instant::now();
        let mut tries = 0;
        loop {
            tries += 1;
            let (error, pause) = match self.once(effect, &method, &url, body).await {
                Once::Done(answer) => return Ok(answer),
                Once::Failed(error) => return Err(error),
                Once::Later(error, pause) => (error, pause),
            };
            let pause = pause.unwrap_or_else(|| Duration::from_millis(250) * 2u32.pow(tries));
            if tries >= TRIES || began.elapsed() + pause > PATIENCE {
                return Err(error);
            }
            tokio::time::sleep(pause).await;
        }
    }

    async fn once(&self, effect: Effect, method: &Method, url: &Url, body: Option<&Value>) -> Once {
        let (read, write) = self.limits;
        let limit = match effect {
            Effect::Reads => read,
            Effect::Writes => write,
        };
        let mut request = self.client.request(method.clone(), url.clone());
        if let Some((name, value)) = &self.key {
            request = request.header(name, value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let asked = async {
            let mut response = request.send().await?;
            let status = response.status();
            let pause = retry_after(&response);
            let most = match status.is_success() {
                true => MAX_BODY,
                false => MAX_ERROR_BODY,
            };
            let body = read_body(&mut response, most).await?;
            Ok::<_, reqwest::Error>((status, pause, body))
        };
        let (status, pause, body) = match tokio::time::timeout(limit, asked).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(e)) => {
                let unsent = e.is_connect();
                let error = self.unreachable(&e.without_url());
                return match effect {
                    Effect::Reads => Once::Later(error, None),
                    // It never got there: nothing was done, and the user should know at once.
                    Effect::Writes if unsent => Once::Failed(error),
                    Effect::Writes => Once::Failed(unsure(error)),
                };
            }
            Err(_) => {
                let error = BackendError::unavailable(format!(
                    "n8n at {} did not answer in {} s",
                    self.base,
                    limit.as_secs()
                ));
                return Once::Failed(match effect {
                    Effect::Reads => error.with_hint("see whether it is up: agentctl doctor"),
                    Effect::Writes => unsure(error),
                });
            }
        };
        let Some(body) = body else {
            return Once::Failed(BackendError::rejected(format!(
                "the answer of n8n at {} is longer than {} MiB",
                self.base,
                MAX_BODY / (1024 * 1024)
            )));
        };
        if status.is_success() {
            return Once::Done(Answer { body });
        }
        let error = self.refused(status, &body);
        match (status, effect) {
            (StatusCode::TOO_MANY_REQUESTS, _) => Once::Later(error, pause),
            // A workflow that was just deactivated is still being taken out of service.
            (StatusCode::CONFLICT, _) if method == Method::DELETE => Once::Later(error, pause),
            (
                StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT,
                Effect::Reads,
            ) => Once::Later(error, pause),
            _ => Once::Failed(error),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> BackendError {
        if is_short(error) {
            let base = &self.base;
            return BackendError::of_machine(format!(
                "n8n at {base} was not asked: {}",
                cause(error)
            ));
        }
        let why = if error.is_connect() {
            "cannot be reached".to_owned()
        } else {
            format!("did not answer: {}", cause(error))
        };
        BackendError::unavailable(format!("n8n at {} {why}", self.base))
            .with_hint("start it, or correct N8N_API_URL; agentctl doctor looks again")
    }

    /// What an error status means, with n8n's own words.
    fn refused(&self, status: StatusCode, body: &[u8]) -> BackendError {
        let said = said(body);
        let said = said
            .map(|said| format!(": {}", self.without_key(&said)))
            .unwrap_or_default();
        let code = status.as_u16();
        match code {
            401 | 403 => BackendError {
                forbidden: code == 403,
                ..BackendError::unavailable(format!(
                    "n8n at {} refuses the API key (HTTP {code}{said})",
                    self.base
                ))
            }
            .with_hint("make a key in n8n under Settings → n8n API, with the scopes of workflows, executions, tags and credentials, and set N8N_API_KEY"),
            404 => BackendError::not_found(format!("n8n has no such thing (HTTP 404{said})")),
            405 | 501 => BackendError::unsupported(format!("this n8n cannot do that (HTTP {code}{said})")),
            429 => BackendError::unavailable(format!("n8n at {} is asked too often (HTTP 429{said})", self.base))
                .with_hint("wait a minute and go on with agentctl resume"),
            400..=499 => BackendError::rejected(format!("n8n refused it (HTTP {code}{said})")),
            300..=399 => BackendError::unavailable(format!(
                "n8n at {} answers with a redirect (HTTP {code}), which is not followed: the key would go along",
                self.base
            ))
            .with_hint("set N8N_API_URL to the address that it leads to"),
            _ => BackendError::unavailable(format!("n8n at {} failed (HTTP {code}{said})", self.base))
                .with_hint("look at n8n's own log"),
        }
    }

    fn without_key(&self, text: &str) -> String {
        match self.key.as_ref().and_then(|(_, key)| key.to_str().ok()) {
            Some(key) if !key.is_empty() => text.replace(key, "(hidden)"),
            _ => text.to_owned(),
        }
    }

    #[cfg(test)]
    pub fn with_limits(mut self, limit: Duration) -> Self {
        self.limits = (limit, limit);
        self
    }
}

enum Once {
    Done(Answer),
    Failed(BackendError),
    /// Nothing was done, or nothing can have been: it may be asked again, after as long as n8n says.
    Later(BackendError, Option<Duration>),
}

/// reqwest's own words say little; the last cause says what happened.
fn cause(error: &reqwest::Error) -> &dyn std::error::Error {
    let mut cause: &dyn std::error::Error = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    cause
}

fn unsure(error: BackendError) -> BackendError {
    error.with_hint("it may have happened: read the workflow back before anything else")
}

/// In seconds; n8n sends no dates there.
fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

/// None: longer than it may be.
async fn read_body(response: &mut Response, most: usize) -> reqwest::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > most {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// The message of an error answer, shortened.
fn said(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let message = value.get("message").and_then(Value::as_str)?;
    let hint = value.get("hint").and_then(Value::as_str);
    let text = match hint {
        Some(hint) => format!("{message} ({hint})"),
        None => message.to_owned(),
    };
    let text: String = text
        .chars()
        .filter(|c| !c.is_control())
        .take(SHOWN)
        .collect();
    Some(text).filter(|text| !text.is_empty())
}
