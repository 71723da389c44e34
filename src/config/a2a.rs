//! `[a2a.agents.NAME]`: other agents, and what holds the secret by which one comes in there. A project's own file can name them once
//! its user trusts it; a secret that it names is a variable that was meant for agents.

use super::serve::{Basic, secret};
use super::{ConfigError, Lines, Origin};
use agentctl_a2a::CardKeys;
use agentctl_a2a_client::Credentials;
use agentctl_host::files::read_given_text;
use indexmap::IndexMap;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Spanned;
use url::Url;

/// What a variable's name begins with that a project may name.
const OF_AGENTS: &str = "A2A_";

/// Another agent, as settings describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteAgent {
    pub origin: Origin,
    pub url: Url,
    token_env: Option<String>,
    token_file: Option<PathBuf>,
    basic: Option<Basic>,
    keys: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    /// `agentctl serve` speaks A2A 0.3, too.
    #[serde(default)]
    pub(super) v0_3: bool,
    #[serde(default)]
    agents: IndexMap<String, Spanned<WrittenAgent>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAgent {
    url: Spanned<String>,
    token_env: Option<String>,
    token_file: Option<PathBuf>,
    basic: Option<Basic>,
    keys: Option<PathBuf>,
}

pub(super) fn agents(
    lines: &Lines<'_>,
    written: Written,
    origin: Origin,
) -> Result<IndexMap<String, RemoteAgent>, ConfigError> {
    let mut agents = IndexMap::new();
    for (name, spanned) in written.agents {
        let at = spanned.span().start;
        let agent = spanned.into_inner();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(fits) {
            let message = format!("{name:?} is no name of an agent: letters, digits, - and _");
            return Err(lines.error(at, message));
        }
        let url = url(agent.url.get_ref())
            .map_err(|message| lines.error(agent.url.span().start, message))?;
        let secrets = [
            agent.token_env.is_some(),
            agent.token_file.is_some(),
            agent.basic.is_some(),
        ];
        if secrets.iter().filter(|named| **named).count() > 1 {
            return Err(lines.error(at, "give one of `token_env`, `token_file` and `basic`"));
        }
        if let (Origin::Project, Some(message)) = (origin, astray(&agent)) {
            return Err(lines.error(at, message));
        }
        let agent = RemoteAgent {
            origin,
            url,
            token_env: agent.token_env,
            token_file: agent.token_file,
            basic: agent.basic,
            keys: agent.keys,
        };
        agents.insert(name, agent);
    }
    Ok(agents)
}

/// What a project may not send to an agent of its own choice.
fn astray(agent: &WrittenAgent) -> Option<String> {
    let password = agent.basic.as_ref().map(|basic| &basic.password_env);
    let file = agent.basic.as_ref().and_then(|b| b.password_file.as_ref());
    if agent.token_file.is_some() || file.is_some() {
        return Some("a project cannot name a file whose content is sent away; name a variable, or describe the agent in your own config.toml".to_owned());
    }
    let mut named = agent.token_env.iter().chain(password.into_iter().flatten());
    let other = named.find(|name| !name.starts_with(OF_AGENTS))?;
    Some(format!(
        "a project can only name variables that begin with {OF_AGENTS}, not {other}; describe the agent in your own config.toml"
    ))
}

/// An agent's address.
///
/// # Errors
/// Why it is none, in words.
pub fn url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|e| {
        format!("{text:?} is no address ({e}); write e.g. https://agents.example.com")
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("an agent's address begins with http:// or https://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an agent's address must not hold a name or a password".to_owned());
    }
    Ok(url)
}

/// A set of keys is no larger.
const MAX_KEYS: u64 = 256 * 1024;

/// The keys that sign an agent's card, out of a file (a JSON Web Key Set).
///
/// # Errors
/// It cannot be read, or is none, in words.
pub fn keys(file: &Path) -> Result<CardKeys, String> {
    let failed = |why: String| format!("the keys of the agent's card, {}: {why}", file.display());
    let text = read_given_text(file, MAX_KEYS).map_err(|e| failed(e.to_string()))?;
    CardKeys::read(&text).map_err(|e| failed(e.to_string()))
}

impl RemoteAgent {
    /// Reads the names of files as those of a folder, where they are not whole.
    pub(super) fn files_of(&mut self, folder: &Path) {
        let basic = self.basic.as_mut();
        let files = [
            self.token_file.as_mut(),
            basic.and_then(|basic| basic.password_file.as_mut()),
            self.keys.as_mut(),
        ];
        for file in files.into_iter().flatten() {
            *file = folder.join(&file);
        }
    }

    /// The keys that have to have signed its card; None: the settings name none.
    ///
    /// # Errors
    /// As for [`keys`].
    pub fn keys(&self, root: &Path) -> Result<Option<CardKeys>, String> {
        let file = self.keys.as_ref();
        file.map(|file| keys(&root.join(file))).transpose()
    }

    /// The secret where the settings say it is; None: they name none.
    ///
    /// # Errors
    /// It is not there, in words.
    pub fn credentials(&self, name: &str, root: &Path) -> Result<Option<Credentials>, String> {
        if let Some(basic) = &self.basic {
            let what = format!("the password for the agent {name}");
            let (env, file) = (
                basic.password_env.as_deref(),
                basic.password_file.as_deref(),
            );
            return Ok(Some(Credentials::Basic {
                user: basic.user.clone(),
                password: secret(&what, env, file, root)?,
            }));
        }
        if self.token_env.is_none() && self.token_file.is_none() {
            return Ok(None);
        }
        let what = format!("the token for the agent {name}");
        let (env, file) = (self.token_env.as_deref(), self.token_file.as_deref());
        secret(&what, env, file, root).map(|token| Some(Credentials::Bearer(token)))
    }
}
