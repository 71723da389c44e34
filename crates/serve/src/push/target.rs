//! Where a receiver is, and what it wants to be shown. Judged when it is named; the address again before each request, since a name
//! may change its mind.

use crate::a2a::To;
use agentctl_a2a::PushConfig;
use agentctl_host::reach::{Addresses, way};
use hyper::header::HeaderValue;
use serde::{Deserialize, Serialize};
use url::Url;

const MAX_URL: usize = 2048;
const MAX_SECRET: usize = 4096;

/// What is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Each event, as streams have it.
    Events,
    /// An answer of the envelope to this, when the run is at its end or waits.
    Envelope(To),
}

/// It is never shown: nothing of it stands in a message.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    #[serde(with = "as_text")]
    pub url: Url,
    pub token: Option<String>,
    /// Scheme and credentials.
    pub authentication: Option<(String, String)>,
    pub form: Form,
}

mod as_text {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use url::Url;

    pub fn serialize<S: Serializer>(url: &Url, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(url.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Url, D::Error> {
        let text = String::deserialize(from)?;
        Url::parse(&text).map_err(D::Error::custom)
    }
}

/// A field of what a client named, and what is wrong with it.
pub type Wrong = (&'static str, String);

impl Target {
    /// As a client of A2A names it.
    pub async fn of(config: &PushConfig, allow: &Addresses) -> Result<Target, Wrong> {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let token = filled(&config.token);
        secret("token", token.as_deref())?;
        let authentication = match &config.authentication {
            None => None,
            Some(shown) => {
                let credentials = filled(&shown.credentials);
                secret("authentication.credentials", credentials.as_deref())?;
                let is_scheme = |c: char| c.is_ascii_alphanumeric() || "-_.+~".contains(c);
                let scheme = &shown.scheme;
                if scheme.is_empty() || scheme.len() > 64 || !scheme.chars().all(is_scheme) {
                    let why = "is the name of a way to authenticate, like Bearer";
                    return Err(("authentication.scheme", why.to_owned()));
                }
                credentials.map(|credentials| (scheme.clone(), credentials))
            }
        };
        let url = reached("url", &config.url, allow).await?;
        Ok(Target {
            url,
            token,
            authentication,
            form: Form::Events,
        })
    }

    /// An address that is called back with an answer of the envelope.
    pub async fn callback(url: &str, to: To, allow: &Addresses) -> Result<Target, Wrong> {
        Ok(Target {
            url: reached("metadata.callback_url", url, allow).await?,
            token: None,
            authentication: None,
            form: Form::Envelope(to),
        })
    }

    /// What may be said of it in a log.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }
}

fn secret(field: &'static str, text: Option<&str>) -> Result<(), Wrong> {
    let Some(text) = text else { return Ok(()) };
    let fits = text.len() <= MAX_SECRET
        && HeaderValue::from_str(text).is_ok_and(|value| value.to_str().is_ok());
    match fits {
        true => Ok(()),
        false => Err((
            field,
            format!("is sent in a header: up to {MAX_SECRET} visible ASCII characters"),
        )),
    }
}

async fn reached(field: &'static str, text: &str, allow: &Addresses) -> Result<Url, Wrong> {
    if text.len() > MAX_URL {
        return Err((field, format!("has more than {MAX_URL} characters")));
    }
    let url = Url::parse(text);
    let url = url.map_err(|_| {
        (
            field,
            "is no address like https://example.com/told".to_owned(),
        )
    })?;
    // A conversation is a secret: over plain http it goes to listed addresses alone.
    match way(&url, allow, true).await {
        Ok(_) => Ok(url),
        Err(no) => Err((
            field,
            format!(
                "is not told: {no}. The server's `[serve] push_addresses` lists what else may be"
            ),
        )),
    }
}
