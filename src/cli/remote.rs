//! Other agents, as the command line and settings name them: where each is, and what of its card the user approved.

use super::error::{CliError, Exit};
use super::output::Output;
use super::project;
use crate::config::{Config, Origin, a2a};
use agentctl_a2a::CardKey;
use agentctl_a2a_client::{Agent, CardPin, Credentials, Error, Limits, PinError};
use agentctl_base::shell;
use agentctl_engine::pack::{Pack, ToolKind};
use agentctl_host::home::{self, Home};
use std::collections::BTreeMap;
use std::path::Path;

/// An agent that a command is about.
pub struct Remote {
    /// As it was named.
    pub name: String,
    pub agent: Agent,
    /// The card that the user approved; None: none was.
    pub pin: Option<CardPin>,
}

/// An address, or a name of `[a2a.agents]`. `token_env`: the variable with the token for an address. `keys`: a file of keys that have
/// to have signed the card, in the place of those of the settings.
pub fn named(
    root: &Path,
    config: &Config,
    target: &str,
    token_env: Option<&str>,
    keys: Option<&Path>,
    out: &Output,
) -> Result<Remote, CliError> {
    let mut agent = match config.agents.get(target) {
        Some(_) if token_env.is_some() => {
            return Err(CliError::usage(
                "--token-env is for an address; an agent's settings name its secret themselves",
            ));
        }
        Some(_) => of_settings(root, config, target)?,
        None if target.contains("://") => {
            let url = a2a::url(target).map_err(CliError::usage)?;
            let token = token_env.map(|name| {
                home::variable(name).ok_or_else(|| {
                    CliError::usage(format!("the variable {name} is not set"))
                        .hint("it holds the token that the agent wants")
                })
            });
            Agent {
                allow: config.tool_addresses.clone().and(&url),
                credentials: token.transpose()?.map(Credentials::Bearer),
                limits: Limits::default(),
                keys: None,
                url,
            }
        }
        None => {
            let known: Vec<&str> = config.agents.keys().map(String::as_str).collect();
            let hint = match known.is_empty() {
                true => "give an address, or describe it in agentctl.toml: [a2a.agents.NAME] url = \"https://…\"".to_owned(),
                false => format!("give an address, or one of {}", known.join(", ")),
            };
            return Err(CliError::usage(format!("there is no agent {target:?}")).hint(hint));
        }
    };
    if let Some(file) = keys {
        agent.keys = Some(a2a::keys(file).map_err(CliError::usage)?);
    }
    hide(&agent, out);
    let pin = pin(root, &agent)?;
    Ok(Remote {
        name: target.to_owned(),
        agent,
        pin,
    })
}

/// An agent of `[a2a.agents]`. Where the user's own settings lead is reached wherever it is; where a project's lead is judged.
fn of_settings(root: &Path, config: &Config, name: &str) -> Result<Agent, CliError> {
    let Some(described) = config.agents.get(name) else {
        return Err(CliError::usage(format!("there is no agent {name:?}")));
    };
    let allow = config.tool_addresses.clone();
    Ok(Agent {
        url: described.url.clone(),
        credentials: described.credentials(name, root).map_err(CliError::usage)?,
        allow: match described.origin {
            Origin::User => allow.and(&described.url),
            Origin::Project => allow,
        },
        limits: Limits::default(),
        keys: described.keys(root).map_err(CliError::usage)?,
    })
}

/// The other agents that the pack asks and the settings do not describe.
pub fn unknown<'p>(pack: &'p Pack, config: &Config) -> Vec<&'p str> {
    let unknown = elsewhere(pack).filter(|name| !config.agents.contains_key(*name));
    unknown.collect()
}

/// The other agents that tools of the pack are.
fn elsewhere(pack: &Pack) -> impl Iterator<Item = &str> {
    pack.tools.values().filter_map(|tool| match &tool.kind {
        ToolKind::Other { name, section } if *name == agentctl_tools::A2A => {
            agentctl_tools::agent_of(section)
        }
        _ => None,
    })
}

/// The agents that tools of the pack are, with what keeps one from being asked. Their secrets are hidden from here on.
pub fn of_tools(
    root: &Path,
    pack: &Pack,
    config: &Config,
    out: &Output,
) -> BTreeMap<String, Result<agentctl_tools::Remote, String>> {
    let described = elsewhere(pack).filter(|name| config.agents.contains_key(*name));
    let found = |name: &str| {
        let agent = of_settings(root, config, name)?;
        hide(&agent, out);
        let pin = pin(root, &agent)?;
        Ok(agentctl_tools::Remote { agent, pin })
    };
    described
        .map(|name| {
            let found = found(name).map_err(|e: CliError| e.message);
            (name.to_owned(), found)
        })
        .collect()
}

fn hide(agent: &Agent, out: &Output) {
    out.hide(agent.credentials.iter().map(|secret| match secret {
        Credentials::Bearer(token) => token.clone(),
        Credentials::Basic { password, .. } => password.clone(),
    }));
}

fn pin(root: &Path, agent: &Agent) -> Result<Option<CardPin>, CliError> {
    // Without a folder of the user's own nothing was ever approved.
    let Ok(home) = project::home(root) else {
        return Ok(None);
    };
    read_pin(&home, agent)
}

/// What is approved of the agent's card.
pub fn read_pin(home: &Home, agent: &Agent) -> Result<Option<CardPin>, CliError> {
    let url = agent.card_url().map_err(|e| failed(&e, ""))?;
    CardPin::read(home, &url).map_err(|e| no_pin(&e))
}

/// The file of the user's own folder with the seed of the key that signs their agents' cards.
pub const CARD_KEY: &str = "card-key";

/// The key that signs the cards of the user's agents; None: none was made.
pub fn card_key(home: &Home) -> Result<Option<CardKey>, CliError> {
    let seed = home.read(CARD_KEY);
    let seed = seed.map_err(|e| CliError::failed(e.to_string()))?;
    let broken = || {
        CliError::failed(format!(
            "{} holds no key for cards",
            home.dir().join(CARD_KEY).display()
        ))
        .hint("make a new one: agentctl a2a keygen --renew")
    };
    seed.map(|seed| CardKey::of(&seed).ok_or_else(broken))
        .transpose()
}

/// What to do where a card is to be signed and there is no key.
pub fn no_card_key() -> CliError {
    CliError::usage("there is no key that signs cards").hint("make one: agentctl a2a keygen")
}

pub fn no_pin(error: &PinError) -> CliError {
    CliError::failed(format!(
        "what you approved of agents cannot be kept: {error}"
    ))
}

/// An exchange that did not come about, as a command's end. `target`: how the agent was named.
pub fn failed(error: &Error, target: &str) -> CliError {
    let message = super::progress::plain_long(&error.to_string());
    match error {
        Error::Forbidden(_) => CliError::new(Exit::Refused, message).hint(
            "only your own settings allow such an address: [tools] allow_addresses in config.toml",
        ),
        Error::Unapproved(_) => CliError::new(Exit::Refused, message).hint(format!(
            "look at what changed, and approve it again: agentctl a2a approve {}",
            shell::word(target)
        )),
        Error::Unsigned(_) => CliError::new(Exit::Refused, message)
            .hint("ask whoever runs the agent for its keys, over a way that you trust"),
        Error::Unreachable(_) => CliError::new(Exit::Backend, message).hint(format!(
            "see whether its server runs, and the address of {target}"
        )),
        Error::Lost { .. } => CliError::new(Exit::Backend, message)
            .hint("what was sent may have arrived; look before you send it again"),
        Error::Unreadable(_) => CliError::failed(message),
        Error::Fault(fault) => {
            let error = CliError::failed(message);
            match fault.kind.status() {
                401 | 403 => error.hint(
                    "name the secret: --token-env VARIABLE, or token_env in [a2a.agents.NAME]",
                ),
                _ => error,
            }
        }
    }
}
