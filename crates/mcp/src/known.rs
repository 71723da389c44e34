//! What `.mcp.json` makes known to be secret, so that no output repeats it: whatever is wrong with the rest of the file.

use super::config::{self, FILE};
use super::in_force::ServersInForce;
use serde_json::Value;
use std::path::Path;

/// The secret values of the servers that are in force, variables filled in, and what stands in the file under their `env` and
/// `headers`. A file that nobody trusted decides nothing about what is shown: it could hide what its user has to read.
pub fn secrets(
    project: &Path,
    in_force: &ServersInForce,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    if in_force.is_none() {
        return Vec::new();
    }
    // No server is started from a file that cannot be read, and every command that needs one says so.
    let Ok(text) = agentctl_host::files::read_regular_text(&project.join(FILE), super::MAX_BYTES)
    else {
        return Vec::new();
    };
    let config = config::parse_in_force(&text, Path::new(FILE), in_force, variable);
    let mut all = config.map_or_else(|_| Vec::new(), |config| config.secrets());
    if let Some(written) = json_of(&text) {
        for (_, server) in servers(&written).filter(|(name, _)| in_force.has(name)) {
            all.extend(given(server).map(str::to_owned));
        }
    }
    all.retain(|value| !is_reference(value));
    all
}

/// Whether the text of a `.mcp.json` itself holds what may be secret, so that it must not be shown to others. One that cannot be read
/// may.
pub fn holds_a_secret(text: &str) -> bool {
    let Some(written) = json_of(text) else {
        return true;
    };
    let mut given = servers(&written).flat_map(|(_, server)| given(server));
    given.any(|value| !is_reference(value)) || agentctl_base::secrets::mask(text) != text
}

fn json_of(text: &str) -> Option<Value> {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()
}

fn servers(written: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let servers = written.get("mcpServers").and_then(Value::as_object);
    servers.into_iter().flatten()
}

/// What a server is given under `env` and `headers`, as it stands there, where it may be secret.
fn given(server: &Value) -> impl Iterator<Item = &str> {
    ["env", "headers"].into_iter().flat_map(move |key| {
        let values = server.get(key).and_then(Value::as_object);
        let secret = values.into_iter().flatten().filter(move |(name, value)| {
            key == "headers"
                || value
                    .as_str()
                    .is_some_and(|text| text.len() >= 16 && !is_plain_address(text))
                || agentctl_base::secrets::names_a_secret(name)
        });
        secret.filter_map(|(_, value)| value.as_str())
    })
}

/// `Bearer ${TOKEN}` is no secret; what the variable holds is.
fn is_reference(value: &str) -> bool {
    value.contains("${")
}

/// An address with nothing behind its host: whoever is asked to trust a server has to see where it leads.
fn is_plain_address(text: &str) -> bool {
    reqwest::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.path() == "/"
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}
