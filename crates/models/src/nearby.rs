//! Models that are there although no setting names one: servers on this machine, and keys in the environment. What is looked for
//! stands in `places.toml`. It looks and tells; it never shows a key to anybody, and who uses what it found is decided elsewhere.

use crate::provider::Kind;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;
use url::{Host, Url};

/// A longer list of models is none.
const MAX_LIST: usize = 1024 * 1024;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    pub server: Vec<Server>,
    pub cloud: Vec<Cloud>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    pub provider: String,
    /// As people call it.
    pub name: String,
    pub kind: String,
    address: String,
    variable: Option<String>,
    path: String,
    list: String,
    id: String,
    base: String,
    not: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cloud {
    pub provider: String,
    pub model: String,
}

/// A model that could be used, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// As `--model` takes it.
    pub model: String,
    pub from: From,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// A server of this name runs here.
    Server(String),
    /// The environment has this variable.
    Key(&'static str),
}

impl Places {
    /// The program's own list.
    pub fn known() -> Places {
        // A broken list finds nothing; a test makes sure that it is none.
        toml::from_str(include_str!("places.toml")).unwrap_or_default()
    }

    /// The server that people mean by this provider.
    pub fn server(&self, provider: &str) -> Option<&Server> {
        self.server.iter().find(|s| s.provider == provider)
    }

    /// The keys that the environment has. Their values are not looked at.
    pub fn keys(&self, variable: impl Fn(&str) -> Option<String>) -> Vec<Offer> {
        let offer = |cloud: &Cloud| {
            let name = Kind::from_name(&cloud.provider)?.key_variable()?;
            let is_set = variable(name).is_some_and(|value| !value.trim().is_empty());
            is_set.then(|| Offer {
                model: format!("{}::{}", cloud.provider, cloud.model),
                from: From::Key(name),
            })
        };
        self.cloud.iter().filter_map(offer).collect()
    }

    /// The servers that answer within `limit`, each with its first model. All are asked at once; one that says something else, or
    /// nothing in time, is not there.
    pub async fn running(
        &self,
        limit: Duration,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Vec<Offer> {
        let asked = self.server.iter().map(|server| {
            let address = server.address(&variable);
            async move {
                tokio::time::timeout(limit, server.first_model(address?))
                    .await
                    .ok()?
            }
        });
        let found = futures_util::future::join_all(asked).await;
        found.into_iter().flatten().collect()
    }
}

impl Server {
    /// Where it is, if that is on this machine: its user's variable counts before its usual place.
    fn address(&self, variable: &impl Fn(&str) -> Option<String>) -> Option<Url> {
        let said = self.variable.as_deref().and_then(variable);
        let said = said.filter(|said| !said.trim().is_empty());
        let address = match said {
            None => self.usual()?,
            Some(said) => self.as_said(said.trim())?,
        };
        let is_here = match address.host()? {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.is_loopback(),
        };
        is_here.then_some(address)
    }

    fn usual(&self) -> Option<Url> {
        Url::parse(&self.address).ok()
    }

    /// `host`, `host:port` or an address; what listens everywhere listens here.
    fn as_said(&self, said: &str) -> Option<Url> {
        let whole = match said.contains("://") {
            true => said.to_owned(),
            false => format!("http://{said}"),
        };
        let mut url = Url::parse(&whole).ok()?;
        let has_port =
            whole.rsplit(']').next()?.matches(':').count() > usize::from(!whole.contains(']'));
        if !has_port {
            url.set_port(self.usual()?.port()).ok()?;
        }
        if matches!(url.host()?, Host::Ipv4(ip) if ip.is_unspecified()) {
            url.set_host(Some("127.0.0.1")).ok()?;
        }
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Some(url)
    }

    /// What its wire's paths are joined to.
    pub fn base_url(&self, variable: impl Fn(&str) -> Option<String>) -> Option<Url> {
        self.address(&variable)?.join(&self.base).ok()
    }

    async fn first_model(&self, address: Url) -> Option<Offer> {
        let place = (
            address.host_str()?.to_owned(),
            address.port_or_known_default()?,
        );
        // Nobody there: no client is made.
        drop(tokio::net::TcpStream::connect(place).await.ok()?);
        let client = agentctl_host::http::client()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .ok()?;
        let mut response = client
            .get(address.join(&self.path).ok()?)
            .send()
            .await
            .ok()?;
        if !response.status().is_success() {
            return None;
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_LIST {
                return None;
            }
        }
        let listed: Value = serde_json::from_slice(&bytes).ok()?;
        let names = listed.get(&self.list)?.as_array()?.iter();
        let mut names = names.filter_map(|model| model.get(&self.id)?.as_str());
        let model = names.find(|name| self.may_answer(name))?;
        Some(Offer {
            model: format!("{}::{model}", self.provider),
            from: From::Server(self.name.clone()),
        })
    }

    fn may_answer(&self, model: &str) -> bool {
        let plain = !model.is_empty() && !model.contains(char::is_whitespace);
        plain && !self.not.iter().any(|not| model.starts_with(not))
    }
}

#[cfg(test)]
#[path = "nearby_tests.rs"]
mod tests;
