//! Models of the providers: one attempt at one call, over the provider's own wire, streamed. Asking again is the run's
//! business: what may pass is told as such, with the time that the provider asks for.
//!
//! The wires are genai's. What it leaves to its caller is done here, in one file each: where the key comes from (`key`),
//! which kind of server wants what (`kind`), the request with its cache marks and its JSON Schema (`request`), the whole
//! answer with its token counts and why it ended (`answer`), and which faults may pass and when (`fault`, `Retry-After`).
//! Two gaps are filled beside it: Azure's key goes into its own header, and a server without a key gets none (`kind`).
//! Must never put a key into an error, a log or a journal.

mod answer;
mod fault;
mod key;
mod key_names;
mod kind;
mod request;

pub use key::{Key, KeyError, KeySource};
pub use key_names::unfit;
pub use kind::Kind;
pub use request::SchemaForm;

use super::{ModelName, Price, prices::Tokens};
use agentctl_base::plain_http::{PlainHttp, is_loopback};
use agentctl_base::{
    BoxFuture,
    model::{Cost, Model, ModelAnswer, ModelError, ModelRequest, Room},
};
use futures_util::StreamExt;
use genai::{
    Client, ModelIden, ServiceTarget, chat::ChatStreamEvent, resolver::ServiceTargetResolver,
};
use serde::Deserialize;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long one call of a model may take, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeLimits {
    pub connect: u64,
    /// From the request to the first word.
    pub first_token: u64,
    /// Between two signs of life.
    pub idle: u64,
    pub call: u64,
}

impl Default for TimeLimits {
    fn default() -> Self {
        TimeLimits {
            connect: 10,
            first_token: 120,
            idle: 60,
            call: 900,
        }
    }
}

/// An answer longer than this is no answer of a model.
const MAX_TEXT: usize = 4 << 20;

/// One model of one provider, ready to be asked.
pub struct Wire {
    name: ModelName,
    target: ModelIden,
    client: Client,
    kind: Kind,
    json_schema: Option<SchemaForm>,
    price: Option<Price>,
    room: u64,
    time: TimeLimits,
}

/// What is needed to ask a model.
#[derive(Debug, Clone)]
pub struct Access {
    pub name: ModelName,
    /// The model as the provider knows it.
    pub model: String,
    pub kind: Kind,
    /// None: the provider's own address.
    pub base_url: Option<url::Url>,
    pub key: Option<Key>,
    /// Whether and how the server takes a JSON Schema for its answer; None: by its kind.
    pub json_schema: Option<SchemaForm>,
    pub price: Option<Price>,
    /// A conversation of more tokens is shortened before the model is asked.
    pub room: u64,
    pub time: TimeLimits,
    /// Where the user lets a key go over plain http.
    pub plain_http: PlainHttp,
}

impl Wire {
    pub fn new(access: Access) -> Result<Self, ModelError> {
        let unavailable = |reason: String| ModelError::Unavailable {
            model: access.name.to_string(),
            reason,
        };
        let mut http = agentctl_host::http::client()
            .connect_timeout(Duration::from_secs(access.time.connect))
            // A key follows no redirect to another place.
            .redirect(reqwest::redirect::Policy::none());
        if access.base_url.as_ref().is_some_and(is_loopback) {
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|e| unavailable(format!("no HTTP client could be made: {e}")))?;
        let auth = access
            .kind
            .auth(
                access.base_url.as_ref(),
                access.key.as_ref(),
                &access.plain_http,
            )
            .map_err(&unavailable)?;
        let endpoint = access.base_url.as_ref().map(|url| url.to_string());
        let resolve = move |mut target: ServiceTarget| {
            if let Some(endpoint) = endpoint.clone() {
                target.endpoint = genai::resolver::Endpoint::from_owned(endpoint);
            }
            if let Some(auth) = auth.clone() {
                target.auth = auth;
            }
            Ok(target)
        };
        let client = Client::builder()
            .with_reqwest(http)
            .with_service_target_resolver(ServiceTargetResolver::from_resolver_fn(resolve))
            .build()
            .map_err(|e| unavailable(e.to_string()))?;
        Ok(Wire {
            target: ModelIden::new(access.kind.adapter(), access.model.as_str()),
            name: access.name,
            client,
            kind: access.kind,
            json_schema: access.json_schema,
            price: access.price,
            room: access.room,
            time: access.time,
        })
    }

    async fn attempt(
        &self,
        request: &ModelRequest,
        sink: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<ModelAnswer, ModelError> {
        let asked = request::build(request, self.kind, self.json_schema);
        let begun = Instant::now();
        let response = self
            .client
            .exec_chat_stream(self.target.clone(), asked.chat, Some(&asked.options))
            .await
            .map_err(|e| self.fault(e))?;
        let mut stream = response.stream;
        let mut deadline = begun + Duration::from_secs(self.time.first_token);
        let mut spoken = false;
        let mut length = 0_usize;
        loop {
            let event = timeout_at(deadline, stream.next())
                .await
                .map_err(|_| self.silent(spoken))?;
            let Some(event) = event else {
                return Err(self.passing("the stream broke off before the answer was whole"));
            };
            match event.map_err(|e| self.fault(e))? {
                ChatStreamEvent::Start => continue,
                // A sign of life, but not yet of an answer.
                ChatStreamEvent::Heartbeat if !spoken => continue,
                ChatStreamEvent::Chunk(chunk) => {
                    length += chunk.content.len();
                    sink(&chunk.content);
                }
                ChatStreamEvent::End(end) => {
                    let (mut answer, tokens) = answer::of(end).ok_or_else(|| {
                        self.passing("the stream broke off before the answer was whole")
                    })?;
                    let tokens = tokens.unwrap_or_else(|| estimate(request, &answer));
                    self.settle(&mut answer, tokens);
                    return Ok(answer);
                }
                ChatStreamEvent::ToolCallChunk(_)
                | ChatStreamEvent::ReasoningChunk(_)
                | ChatStreamEvent::ThoughtSignatureChunk(_)
                | ChatStreamEvent::Heartbeat => {}
            }
            if length > MAX_TEXT {
                return Err(self.failed("the answer does not end"));
            }
            spoken = true;
            deadline = Instant::now() + Duration::from_secs(self.time.idle);
        }
    }

    fn settle(&self, answer: &mut ModelAnswer, tokens: Tokens) {
        answer.usage.input_tokens = tokens.input;
        answer.usage.output_tokens = tokens.output;
        answer.usage.cached_tokens = tokens.cached;
        answer.usage.cache_write_tokens = tokens.cache_write;
        answer.usage.cost_usd = self.price.map(|price| price.of(tokens));
    }

    fn silent(&self, spoken: bool) -> ModelError {
        self.passing(&if spoken {
            format!("no word more within {} s", self.time.idle)
        } else {
            format!("no word within {} s", self.time.first_token)
        })
    }

    fn passing(&self, reason: &str) -> ModelError {
        ModelError::Passing {
            model: self.name.to_string(),
            reason: reason.to_owned(),
            wait_ms: None,
        }
    }

    fn failed(&self, reason: &str) -> ModelError {
        ModelError::Failed {
            model: self.name.to_string(),
            reason: reason.to_owned(),
        }
    }

    fn fault(&self, error: genai::Error) -> ModelError {
        fault::of(&self.name.to_string(), &error, jiff::Timestamp::now())
    }
}

impl Model for Wire {
    fn is_paid(&self) -> bool {
        true
    }

    fn cost_of_input(&self, tokens: u64) -> Cost {
        // As if all of it came from the cache: a limit stops what is sure to break it.
        let cheapest = |price: Price| price.cached.unwrap_or(price.input).min(price.input);
        self.price.map_or(Cost::Unknown, |price| {
            Cost::Known(tokens as f64 * cheapest(price) / 1e6)
        })
    }

    fn room(&self, _: &ModelRequest) -> Room {
        Room::Tokens(self.room)
    }

    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        sink: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            let whole = Duration::from_secs(self.time.call);
            timeout(whole, self.attempt(request, sink))
                .await
                .unwrap_or_else(|_| {
                    Err(self.failed(&format!("no whole answer within {} s", whole.as_secs())))
                })
        })
    }
}

/// Tokens by the length of the text, where a server does not count them: four bytes each.
fn estimate(request: &ModelRequest, answer: &ModelAnswer) -> Tokens {
    let said: usize = answer
        .tool_calls
        .iter()
        .map(|call| call.name.len() + call.arguments.len())
        .sum();
    Tokens {
        input: request.estimated_tokens(),
        output: ((answer.text.len() + said) as u64).div_ceil(4),
        ..Tokens::default()
    }
}
