//! A request that was let in: its one headers, its JSON body, and the conversation that it belongs to.

use crate::clients::{Client, May};
use crate::problem::Problem;
use agentctl_base::strict_json;
use agentctl_engine::pack::MAX_KEY_PART;
use agentctl_sessions::SessionKey;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::StatusCode;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The longest body, in bytes.
pub const MAX_BODY: usize = 4 * 1024 * 1024;
/// For all of a body.
pub const BODY_TIME: Duration = Duration::from_secs(20);
const JSON: &str = "application/json";
/// Objects and lists in each other.
const MAX_DEPTH: u32 = 64;

pub struct Ask {
    pub client: Arc<Client>,
    pub headers: HeaderMap,
}

impl Ask {
    /// Whether the client may do this at a door that knows no signatures of messages.
    pub fn may(&self, what: May) -> Result<(), Problem> {
        if !matches!(what, May::Read | May::Oversee) && self.client.must_sign() {
            let told = format!(
                "the client {:?} signs what it sends, and here no signature is checked",
                self.client.name
            );
            return Err(Problem::new(StatusCode::FORBIDDEN, told)
                .hint("POST an envelope with X-JWS-Signature to /agents/PACK/a2a/message"));
        }
        self.may_signed(what)
    }

    /// The same where the message's signature was checked.
    pub fn may_signed(&self, what: May) -> Result<(), Problem> {
        match self.client.may.contains(&what) {
            true => Ok(()),
            false => Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!("the client {:?} may not {}", self.client.name, what.name()),
            )
            .hint(format!(
                "add {:?} to `may` of [serve.clients.{}]",
                what.name(),
                self.client.settings()
            ))),
        }
    }

    /// The one value of a header; two are refused, since readers differ on which counts.
    pub fn header(&self, name: &str) -> Result<Option<&str>, Problem> {
        let mut all = self.headers.get_all(name).iter();
        match (all.next(), all.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => match value.to_str() {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(Problem::bad(format!(
                    "the header {name} is not visible ASCII"
                ))),
            },
            _ => Err(Problem::bad(format!("the header {name} stands twice"))),
        }
    }

    /// Whether the caller wants events.
    pub fn wants_events(&self) -> bool {
        let mut all = self.headers.get_all(ACCEPT).iter();
        all.any(|value| {
            value
                .to_str()
                .is_ok_and(|v| v.contains("text/event-stream"))
        })
    }

    /// Whether the caller would rather be told where the reply will be than wait for it (RFC 7240).
    pub fn prefers_later(&self) -> bool {
        let all = self.headers.get_all("prefer").iter();
        let mut words = all.filter_map(|value| value.to_str().ok());
        words.any(|text| {
            let mut each = text.split([',', ';']).map(str::trim);
            each.any(|word| word.eq_ignore_ascii_case("respond-async"))
        })
    }

    /// Whose conversation a request speaks of. `user`: as the request says; None: it does not.
    pub fn key(
        &self,
        pack: &str,
        tenant: Option<&str>,
        user: Option<&str>,
        conversation: &str,
    ) -> Result<SessionKey, Problem> {
        let named = match tenant {
            Some(tenant) => Some(tenant),
            None => self.header("x-tenant-id")?,
        };
        let tenant = self.client.tenant(named).ok_or_else(|| match named {
            Some(named) => Problem::new(
                StatusCode::FORBIDDEN,
                format!(
                    "the client {:?} does not speak for the tenant {named:?}",
                    self.client.name
                ),
            ),
            None => Problem::new(StatusCode::FORBIDDEN, "the request names no tenant")
                .hint("send X-Tenant-Id"),
        })?;
        for part in [conversation, user.unwrap_or_default()] {
            if part.chars().count() > MAX_KEY_PART {
                return Err(Problem::bad(format!(
                    "the name of a conversation or a user has at most {MAX_KEY_PART} characters"
                )));
            }
        }
        Ok(SessionKey {
            pack: pack.to_owned(),
            tenant,
            user: user.unwrap_or_default().to_owned(),
            conversation: conversation.to_owned(),
        })
    }

    /// The body as JSON, read strictly: a key stands once.
    pub async fn json(&self, body: Incoming) -> Result<Map<String, Value>, Problem> {
        Ok(self.object(body).await?.1)
    }

    /// The same with the bytes that it was read from.
    pub async fn object(&self, body: Incoming) -> Result<(Bytes, Map<String, Value>), Problem> {
        match self.value(body).await? {
            (bytes, Value::Object(map)) => Ok((bytes, map)),
            _ => Err(Problem::bad("the body must be a JSON object")),
        }
    }

    /// Any JSON.
    pub async fn value(&self, body: Incoming) -> Result<(Bytes, Value), Problem> {
        self.value_of(body, &[JSON]).await
    }

    /// The same of a door that takes these media types.
    pub async fn value_of(
        &self,
        body: Incoming,
        kinds: &[&str],
    ) -> Result<(Bytes, Value), Problem> {
        self.is_one_of(kinds)?;
        let bytes = read(body).await?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Problem::bad("the body is not UTF-8, so it is no JSON"))?;
        let value = strict_json::value(text, MAX_DEPTH)
            .map_err(|why| Problem::bad(format!("the body is no JSON: {why}")))?;
        Ok((bytes, value))
    }

    fn is_one_of(&self, kinds: &[&str]) -> Result<(), Problem> {
        let not = |why: String| Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        let kind = self.header(CONTENT_TYPE.as_str())?.unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kinds.iter().any(|known| kind.eq_ignore_ascii_case(known)) {
            return not(format!("the body must be {}", kinds.join(" or ")));
        }
        // Nothing is unpacked, so nothing can be packed to be large.
        if self.headers.contains_key(CONTENT_ENCODING) {
            return not("the body must not be compressed".to_owned());
        }
        Ok(())
    }
}

async fn read(body: Incoming) -> Result<Bytes, Problem> {
    let too_long = || {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("a body has at most {} MiB", MAX_BODY / 1024 / 1024),
        )
    };
    if hyper::body::Body::size_hint(&body).lower() > MAX_BODY as u64 {
        return Err(too_long());
    }
    match tokio::time::timeout(BODY_TIME, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long()),
        Ok(Err(_)) => Err(Problem::bad("the body broke off")),
        Err(_) => Err(Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "the body took too long",
        )),
    }
}
