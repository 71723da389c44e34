//! Is an n8n there? One request to its health address, with a short wait.

use super::config::{McpConfig, McpTransport};
use std::time::Duration;

const WAIT: Duration = Duration::from_secs(3);

/// What the health address said. `url` is the address without user, password and query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct N8nHealth {
    pub url: String,
    pub healthy: bool,
    /// HTTP status, or why there is none; in words.
    pub detail: String,
}

/// Asks `<base>/healthz`. Redirects are not followed: an answer counts only from the address that was asked.
pub async fn n8n_health(base: &str) -> N8nHealth {
    let Ok(mut url) = reqwest::Url::parse(base) else {
        return N8nHealth {
            url: "(not an address)".to_owned(),
            healthy: false,
            detail: "the address cannot be read; expected http://host:port".to_owned(),
        };
    };
    // What was stripped could be a secret, and the health address needs none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/api/v1").unwrap_or(path).to_owned();
    url.set_path(&format!("{path}/healthz"));
    let (healthy, detail) = ask(url.clone()).await;
    N8nHealth {
        url: url.to_string(),
        healthy,
        detail,
    }
}

async fn ask(url: reqwest::Url) -> (bool, String) {
    let client = agentctl_host::http::client()
        .timeout(WAIT)
        .connect_timeout(WAIT)
        .redirect(reqwest::redirect::Policy::none())
        .build();
    let response = match client {
        Ok(client) => client.get(url).send().await,
        Err(e) => Err(e),
    };
    match response {
        Ok(response) => (
            response.status().is_success(),
            format!("HTTP {}", response.status().as_u16()),
        ),
        Err(e) if e.is_timeout() => (false, format!("no answer in {} s", WAIT.as_secs())),
        Err(e) if e.is_connect() => (false, "cannot connect".to_owned()),
        Err(e) => (false, e.without_url().to_string()),
    }
}

/// The n8n addresses that the servers of the file are given: (server, address).
pub fn n8n_urls(config: &McpConfig) -> Vec<(String, String)> {
    const NAMES: [&str; 3] = ["N8N_API_URL", "N8N_BASE_URL", "N8N_URL"];
    config
        .servers
        .iter()
        .filter_map(|server| match &server.transport {
            McpTransport::Stdio { env, .. } => NAMES
                .iter()
                .find_map(|name| env.get(*name))
                .map(|url| (server.name.clone(), url.expose().to_owned())),
            McpTransport::Http { .. } => None,
        })
        .collect()
}
