//! `[targets.NAME]`: other n8n that workflow files are pushed to, and how credentials are called there. A project's own file can name
//! them once its user trusts it; the key that it names is a variable that was meant for n8n.

use super::{ConfigError, Lines, Origin, holds_secret};
use agentctl_n8n_tools::sync::Names;
use indexmap::IndexMap;
use serde::Deserialize;
use toml::Spanned;

/// What stands in the name of a variable that a project may name for a key, as for servers of `.mcp.json`.
const OF_N8N: &str = "N8N";

/// Another n8n, as settings describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushTarget {
    pub address: Address,
    /// The variable with the API key.
    pub key_env: String,
    /// Where a credential has another name there.
    pub credentials: Names,
}

/// Where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Url(String),
    /// The variable that holds it.
    Variable(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    url: Option<String>,
    url_env: Option<String>,
    key_env: Spanned<String>,
    #[serde(default)]
    credentials: Names,
}

pub(super) fn targets(
    lines: &Lines<'_>,
    written: IndexMap<String, Spanned<Written>>,
    origin: Origin,
) -> Result<IndexMap<String, PushTarget>, ConfigError> {
    let mut targets = IndexMap::new();
    for (name, spanned) in written {
        let at = spanned.span().start;
        let written = spanned.into_inner();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(fits) {
            let message = format!("{name:?} is no name of a target: letters, digits, - and _");
            return Err(lines.error(at, message));
        }
        let address = match (written.url, written.url_env) {
            (Some(url), None) => Address::Url(url),
            (None, Some(variable)) => Address::Variable(variable),
            _ => return Err(lines.error(at, "give `url` or `url_env`, the address of the n8n")),
        };
        let key = written.key_env;
        if holds_secret(key.get_ref()) {
            let message = "`key_env` is the name of a variable; the key itself does not belong into this file";
            return Err(lines.error(key.span().start, message));
        }
        if origin == Origin::Project && !key.get_ref().contains(OF_N8N) {
            let message = format!(
                "a project can only name variables with {OF_N8N} in their name for a key, not {}; describe the target in your own config.toml",
                key.get_ref()
            );
            return Err(lines.error(key.span().start, message));
        }
        let target = PushTarget {
            address,
            key_env: key.into_inner(),
            credentials: written.credentials,
        };
        targets.insert(name, target);
    }
    Ok(targets)
}
