//! How a server is reached: in which folder its process starts, and whether a key of it may go to its address. Decided once, when
//! the file is read; nothing is started or reached here.

use super::config::{McpConfig, McpServer, McpTransport};
use super::ground::{Ground, Start};
use super::runner::Line;
use super::secret::Secret;
use super::variables::{ADDRESSES_OF_N8N, variables_in};
use agentctl_base::plain_http::{PlainHttp, Readable};
use agentctl_host::files::plain_path as plain;
use serde_json::{Map, Value};
use std::path::Path;

impl McpServer {
    /// With the places to which the user lets a key go over plain http.
    pub fn with_plain_http(mut self, plain_http: &PlainHttp) -> Self {
        self.plain_http = plain_http.clone();
        self
    }

    /// Err: a key of it would be readable on its way to another machine. Then it is neither reached nor started.
    pub fn may_be_reached(&self) -> Result<(), Readable> {
        let Some(key) = &self.key else {
            return Ok(());
        };
        let addresses: Vec<&Secret> = match &self.transport {
            McpTransport::Http { url, .. } => vec![url],
            McpTransport::Stdio { env, .. } => env
                .iter()
                .filter(|(name, _)| ADDRESSES_OF_N8N.contains(&name.to_ascii_uppercase().as_str()))
                .map(|(_, value)| value)
                .collect(),
        };
        for address in addresses {
            // What is no address is refused by whoever would use it.
            if let Ok(url) = url::Url::parse(address.expose().trim()) {
                self.plain_http.check(key, &url)?;
            }
        }
        Ok(())
    }
}

impl McpConfig {
    /// With the places to which the user lets a key go over plain http.
    pub fn with_plain_http(mut self, plain_http: &PlainHttp) -> Self {
        for server in &mut self.servers {
            server.plain_http = plain_http.clone();
        }
        self
    }

    /// Says where each program starts: by the same rules as what is shown of it.
    pub(super) fn started_in(&mut self, project: &Path, variable: &dyn Fn(&str) -> Option<String>) {
        let ground = Ground::of(project, variable);
        let neutral = ground.neutral(variable);
        for server in &mut self.servers {
            let McpTransport::Stdio { args, env, .. } = &mut server.transport else {
                continue;
            };
            let plan = server.written.plan(&ground, neutral.as_deref());
            let folder = match &server.cwd {
                Some(folder) => plain(&ground.project.join(folder)),
                None => plan.folder,
            };
            if let (true, Line::Fetches { rest, .. }) = (plan.is_neutral, plan.line) {
                let words = args.iter_mut().skip(rest).chain(env.values_mut());
                for word in words {
                    if let Some(path) = ground.absolute(word.expose()) {
                        *word = Secret::new(path);
                    }
                }
            }
            server.start = Some(Start {
                folder,
                is_neutral: plan.is_neutral,
                ground: ground.clone(),
            });
        }
    }
}

/// What of a server would be a key on its way. `filled`: values that variables gave.
pub(super) fn key_of(
    map: &Map<String, Value>,
    transport: &McpTransport,
    filled: &[String],
) -> Option<String> {
    match transport {
        McpTransport::Stdio { env, .. } => env
            .keys()
            .any(|name| name.eq_ignore_ascii_case("N8N_API_KEY"))
            .then(|| "the n8n API key".to_owned()),
        McpTransport::Http { url, headers } => {
            let written = map.get("headers").and_then(Value::as_object);
            let from_variable = |name: &str| {
                let text = written.and_then(|headers| headers.get(name));
                text.and_then(Value::as_str)
                    .is_some_and(|text| !variables_in(text).is_empty())
            };
            let secret = |(name, value): &(&String, &Secret)| {
                let words = name.replace('-', "_");
                from_variable(name)
                    || agentctl_base::secrets::names_a_secret(&words)
                    || ["authorization", "cookie", "proxy_authorization"]
                        .contains(&words.to_ascii_lowercase().as_str())
                    || agentctl_base::secrets::mask(value.expose()) != value.expose()
            };
            if let Some((name, _)) = headers.iter().find(secret) {
                return Some(format!("the header {name}"));
            }
            let parsed = url::Url::parse(url.expose()).ok()?;
            let place = [
                parsed.host_str().map(str::to_owned),
                parsed
                    .host_str()
                    .zip(parsed.port_or_known_default())
                    .map(|(host, port)| format!("{host}:{port}")),
            ];
            // A variable that is the address, or its host, is no key.
            let hidden = filled.iter().any(|value| {
                let is_address = url::Url::parse(value).is_ok_and(|url| {
                    url.has_host()
                        && url.username().is_empty()
                        && url.password().is_none()
                        && url.query().is_none()
                });
                !value.is_empty()
                    && !is_address
                    && url.expose().contains(value.as_str())
                    && !place.iter().flatten().any(|place| place == value)
            });
            let user = !parsed.username().is_empty() || parsed.password().is_some();
            (hidden || user || parsed.query().is_some())
                .then(|| "its address, which holds more than a place,".to_owned())
        }
    }
}
