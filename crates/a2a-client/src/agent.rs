//! One other agent: where its card is, how one comes in there, and the card as it was fetched.

use crate::client::Client;
use crate::error::Error;
use crate::pins::CardPin;
use crate::wire::{self, Binding};
use agentctl_a2a::{AgentCard, AgentInterface, CARD_PATH, CardKeys, VERSION};
use agentctl_host::reach::{self, Addresses, NoWay};
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// How one comes in. The values are secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    Bearer(String),
    Basic { user: String, password: String },
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Credentials::Bearer(_) => "Bearer",
            Credentials::Basic { .. } => "Basic",
        })
    }
}

/// What an exchange may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For one answer. For a stream: so long may nothing come.
    pub answer: Duration,
    /// Of one answer, or of one event of a stream.
    pub max_bytes: u64,
    /// Of all that a stream tells.
    pub max_stream_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            answer: Duration::from_secs(60),
            max_bytes: 4 * 1024 * 1024,
            max_stream_bytes: 64 * 1024 * 1024,
        }
    }
}

/// No card is larger.
const MAX_CARD: u64 = 256 * 1024;
/// So long a card may take.
const CARD_TIME: Duration = Duration::from_secs(20);

/// Another agent, as the user names it.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The agent's address, or its card's.
    pub url: Url,
    pub credentials: Option<Credentials>,
    /// What of this machine and of private networks may be reached.
    pub allow: Addresses,
    pub limits: Limits,
    /// One of them has to have signed the card; None: a signature is not looked at.
    pub keys: Option<CardKeys>,
}

/// A card as its server told it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    pub card: AgentCard,
    /// All of it, what is not known here too.
    pub whole: Value,
    /// The key that signed it, where the agent's keys are known.
    pub signed_by: Option<String>,
}

impl Fetched {
    /// `keys`: one of them has to have signed it.
    pub(crate) fn read(whole: Value, keys: Option<&CardKeys>) -> Result<Fetched, Error> {
        let card = serde_json::from_value(whole.clone());
        let card = card.map_err(|e| {
            Error::Unreadable(format!("what the agent shows is no card of A2A 1.0: {e}"))
        })?;
        let signer = keys.map(|keys| keys.signer(&whole));
        let signed_by = signer.transpose().map_err(Error::Unsigned)?;
        Ok(Fetched {
            card,
            whole,
            signed_by,
        })
    }
}

impl Agent {
    /// Where the card is.
    ///
    /// # Errors
    /// When the address can have nothing below it.
    pub fn card_url(&self) -> Result<Url, Error> {
        if self.url.path().ends_with(".json") {
            return Ok(self.url.clone());
        }
        let mut base = self.url.clone();
        base.set_query(None);
        base.set_fragment(None);
        let path = format!("{}/{CARD_PATH}", base.path().trim_end_matches('/'));
        base.set_path(&path);
        Ok(base)
    }

    /// Fetches the card. No credentials go along: a card is public.
    ///
    /// # Errors
    /// It cannot be had, is larger than 256 KiB, is no card, or none of the agent's keys signed it.
    pub async fn card(&self) -> Result<Fetched, Error> {
        let url = self.card_url()?;
        let at = reach::way(&url, &self.allow, false).await.map_err(no_way)?;
        let client = reach::client(&url, at).timeout(CARD_TIME).build();
        let client = client.map_err(|e| Error::of(&e))?;
        let request = client.get(url.clone()).header("accept", "application/json");
        let answer = request.send().await.map_err(|e| Error::of(&e))?;
        let status = answer.status().as_u16();
        if status != 200 {
            return Err(Error::Unreadable(format!(
                "there is no card at {url}: its server answered with status {status}"
            )));
        }
        let body = wire::whole(answer, MAX_CARD).await?;
        let whole: Value = serde_json::from_slice(&body)
            .map_err(|_| Error::Unreadable(format!("what stands at {url} is not JSON")))?;
        Fetched::read(whole, self.keys.as_ref())
    }

    /// Fetches the card and takes the way that it offers. Without an approved card that way stays on the card's own server.
    ///
    /// # Errors
    /// The card cannot be had, is another one than the approved one, or offers no way that is spoken here.
    pub async fn connect(&self, approved: Option<&CardPin>) -> Result<Client, Error> {
        let fetched = self.card().await?;
        if let Some(pin) = approved
            && !pin.is_of(&fetched.whole)
        {
            return Err(Error::Unapproved(
                "the agent's card is not the one that was approved".to_owned(),
            ));
        }
        let card_url = self.card_url()?;
        let (interface, binding) = chosen(&fetched.card)?;
        let url = Url::parse(&interface.url).map_err(|e| {
            Error::Unreadable(format!("the card's address {:?}: {e}", interface.url))
        })?;
        if approved.is_none() && url.origin() != card_url.origin() {
            return Err(Error::Forbidden(format!(
                "the card of {} sends its callers to another server, {}; approve the card first",
                card_url.origin().ascii_serialization(),
                url.origin().ascii_serialization()
            )));
        }
        let secret = self.credentials.is_some();
        let at = reach::way(&url, &self.allow, secret)
            .await
            .map_err(no_way)?;
        let http = reach::client(&url, at)
            .read_timeout(self.limits.answer)
            .build();
        Ok(Client {
            http: http.map_err(|e| Error::of(&e))?,
            binding,
            url,
            tenant: interface.tenant.clone(),
            streams: fetched.card.capabilities.streaming,
            credentials: self.credentials.clone(),
            limits: self.limits,
            keys: self.keys.clone(),
        })
    }
}

fn no_way(no: NoWay) -> Error {
    match no {
        NoWay::Unknown(why) => Error::Unreachable(why),
        NoWay::Forbidden(why) => Error::Forbidden(why),
    }
}

/// The first way of the card that is spoken here.
fn chosen(card: &AgentCard) -> Result<(&AgentInterface, Binding), Error> {
    let spoken = |one: &AgentInterface| match one.protocol_version.as_str() {
        version if version == VERSION || version.starts_with("1.0.") => {
            Binding::of(&one.protocol_binding)
        }
        _ => None,
    };
    let mut ways = card.supported_interfaces.iter();
    let found = ways.find_map(|one| Some((one, spoken(one)?)));
    found.ok_or_else(|| {
        let offered = card.supported_interfaces.iter();
        let offered: Vec<String> = offered
            .map(|one| format!("{} {}", one.protocol_binding, one.protocol_version))
            .collect();
        Error::Unreadable(format!(
            "the agent offers {}; here A2A {VERSION} is spoken, over JSONRPC and HTTP+JSON",
            match offered.is_empty() {
                true => "no way to reach it".to_owned(),
                false => offered.join(", "),
            }
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(url: &str) -> Agent {
        Agent {
            url: Url::parse(url).unwrap(),
            credentials: None,
            allow: Addresses::default(),
            limits: Limits::default(),
            keys: None,
        }
    }

    #[test]
    fn a_card_is_below_the_agents_address_or_where_its_own_is() {
        for (url, card) in [
            (
                "https://a.example",
                "https://a.example/.well-known/agent-card.json",
            ),
            (
                "https://a.example/agents/desk/?x=1",
                "https://a.example/agents/desk/.well-known/agent-card.json",
            ),
            (
                "https://a.example/my/card.json",
                "https://a.example/my/card.json",
            ),
        ] {
            assert_eq!(agent(url).card_url().unwrap().as_str(), card);
        }
    }

    #[test]
    fn credentials_are_not_shown() {
        let secret = Credentials::Basic {
            user: "u".to_owned(),
            password: "hidden".to_owned(),
        };
        assert_eq!(format!("{secret:?}"), "Basic");
    }
}
