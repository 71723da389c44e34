//! Which model plays which agent: flags before `agentctl.toml` before `offline`; and how each one is reached.

use super::args::ModelNames;
use super::error::{CliError, Exit};
use super::output::Output;
use super::runtime::block_on;
use crate::config::{Config, ProviderSettings};
use crate::offline::PackModel;
use agentctl_base::model::{Model, ModelError};
use agentctl_engine::pack::{Pack, Tier};
use agentctl_engine::run::{ChosenModel, Models};
use agentctl_host::home::variable;
use agentctl_models::nearby::Places;
use agentctl_models::provider::{Access, KeySource, Kind, Wire};
use agentctl_models::tape::{Tape, Taped};
use agentctl_models::{ModelName, Prices};
use agentctl_n8n::catalog::Catalog;
use agentctl_planner::OfflineModel;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a model was chosen: the run has it.
const KEPT: &str = "the run";

/// The model of each agent of a pack.
pub struct Chosen {
    agents: BTreeMap<String, ChosenModel>,
}

impl Models for Chosen {
    fn for_agent(&self, agent: &str, _: Tier) -> Result<ChosenModel, ModelError> {
        self.agents
            .get(agent)
            .cloned()
            .ok_or_else(|| ModelError::Unavailable {
                model: "(none)".to_owned(),
                reason: format!("no model was chosen for the agent {agent:?}"),
            })
    }
    fn can_be_named(&self, name: &str) -> bool {
        name.parse::<ModelName>().is_ok()
    }
}

impl Chosen {
    /// The models in use, each once, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.agents.values().map(|m| m.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Each agent played from a recording.
    pub fn replaying(pack: &Pack, tape: &Arc<Tape>) -> Chosen {
        let player = ChosenModel {
            name: "replay".to_owned(),
            model: Arc::new(Taped::replaying(Arc::clone(tape))),
        };
        let agents = pack.agents.keys().map(|a| (a.clone(), player.clone()));
        Chosen {
            agents: agents.collect(),
        }
    }

    /// The same, with everything kept on the tape.
    pub fn recording(mut self, tape: &Arc<Tape>) -> Chosen {
        for chosen in self.agents.values_mut() {
            let inner = Arc::clone(&chosen.model);
            chosen.model = Arc::new(Taped::recording(Arc::clone(tape), inner));
        }
        self
    }

    pub fn is_offline(&self) -> bool {
        self.names() == ["offline"]
    }
}

/// Which model each agent gets, and why; nothing is reached for yet. `kept`: what a run has that is gone on with.
pub fn plan(
    pack: &Pack,
    options: &ModelNames,
    kept: &BTreeMap<String, String>,
    config: &Config,
) -> Result<BTreeMap<String, (ModelName, &'static str)>, CliError> {
    let typed = |text: &str| {
        text.parse::<ModelName>()
            .map_err(|e| CliError::usage(e.to_string()))
    };
    let all = options.model.as_deref().map(typed).transpose()?;
    let mut named = BTreeMap::new();
    for pair in &options.model_for {
        let (agent, model) = pair.split_once('=').ok_or_else(|| {
            CliError::usage(format!("{pair:?} names no agent"))
                .hint("write --model-for AGENT=MODEL, e.g. qa=openai::gpt-4.1-mini")
        })?;
        if !pack.agents.contains_key(agent) {
            return Err(no_agent(pack, agent, "--model-for"));
        }
        named.insert(agent.to_owned(), typed(model)?);
    }
    known_agents(
        pack,
        config.models.agents.keys(),
        "[models.agents] in agentctl.toml",
    )?;
    known_agents(
        pack,
        config.limits.agents.keys(),
        "[limits.agents] in agentctl.toml",
    )?;
    let planned = pack.agents.values().map(|agent| {
        let of_agent = config.models.agents.get(&agent.name);
        let (model, why) = if let Some(model) = named.get(&agent.name) {
            (model.clone(), "--model-for")
        } else if let Some(model) = &all {
            (model.clone(), "--model")
        } else if let Some(model) = kept.get(&agent.name).and_then(|m| m.parse().ok()) {
            (model, KEPT)
        } else if let Some(model) = of_agent {
            (model.clone(), "[models.agents]")
        } else if let Some(model) = config.models.of_tier(agent.tier) {
            (model.clone(), "[models]")
        } else {
            (ModelName::Offline, "default")
        };
        (agent.name.clone(), (model, why))
    });
    Ok(planned.collect())
}

/// Refuses what is said about an agent that the pack does not have.
pub fn known_agents<'a>(
    pack: &Pack,
    mut agents: impl Iterator<Item = &'a String>,
    place: &str,
) -> Result<(), CliError> {
    match agents.find(|agent| !pack.agents.contains_key(*agent)) {
        Some(agent) => Err(no_agent(pack, agent, place)),
        None => Ok(()),
    }
}

fn no_agent(pack: &Pack, agent: &str, place: &str) -> CliError {
    let known: Vec<&str> = pack.agents.keys().map(String::as_str).collect();
    CliError::usage(format!("{place}: the pack has no agent {agent:?}"))
        .hint(format!("its agents are {}", known.join(", ")))
}

/// The models of a run, with their keys. What cannot be reached is told before anything is paid or written.
pub fn choose(
    pack: &Pack,
    options: &ModelNames,
    kept: &BTreeMap<String, String>,
    config: &Config,
    catalog: &'static Catalog,
    out: &Output,
) -> Result<Chosen, CliError> {
    let plan = plan(pack, options, kept, config)?;
    if !kept.is_empty() {
        tell_kept(
            &plan,
            &self::plan(pack, options, &BTreeMap::new(), config)?,
            out,
        );
    }
    let mut made: BTreeMap<ModelName, ChosenModel> = BTreeMap::new();
    let mut agents = BTreeMap::new();
    for (agent, (name, why)) in plan {
        if !made.contains_key(&name) {
            let reached = access(&name, config, out).map_err(|error| match why {
                KEPT => error.hint("the run keeps the model that it was started with; --model MODEL goes on with another"),
                _ => error,
            })?;
            let model: Arc<dyn Model> = match reached {
                None => match &pack.offline {
                    Some(offline) => {
                        Arc::new(PackModel::new(Arc::clone(offline), Arc::clone(&pack.data)))
                    }
                    None => Arc::new(OfflineModel::with(catalog)),
                },
                Some(access) => Arc::new(Wire::new(access).map_err(unavailable)?),
            };
            let chosen = ChosenModel {
                name: name.to_string(),
                model,
            };
            made.insert(name.clone(), chosen);
        }
        if let Some(chosen) = made.get(&name) {
            agents.insert(agent, chosen.clone());
        }
    }
    Ok(Chosen { agents })
}

/// A run goes on with the models that it was started with; when the settings name others by now, that is said.
fn tell_kept(
    kept: &BTreeMap<String, (ModelName, &'static str)>,
    now: &BTreeMap<String, (ModelName, &'static str)>,
    out: &Output,
) {
    let mut told: Vec<(&ModelName, &ModelName)> = kept
        .iter()
        .filter_map(|(agent, (model, _))| Some((model, &now.get(agent)?.0)))
        .filter(|(model, other)| model != other)
        .collect();
    told.sort_unstable();
    told.dedup();
    for (model, other) in told {
        out.note(&format!(
            "model: {model}, as the run was started; the settings say {other} now (--model {other} takes it)"
        ));
    }
}

pub fn unavailable(error: ModelError) -> CliError {
    CliError::new(Exit::Model, error.to_string())
}

/// How a model is reached; None: it is the offline one. Its key is hidden from here on.
pub fn access(name: &ModelName, config: &Config, out: &Output) -> Result<Option<Access>, CliError> {
    let ModelName::At { provider, model } = name else {
        return Ok(None);
    };
    let settings = config.providers.get(provider);
    // A server whose usual place is known needs no section.
    let places = Places::known();
    let here = places.server(provider).filter(|_| settings.is_none());
    let kind_name = settings
        .and_then(|s| s.kind.as_deref())
        .or(here.map(|server| server.kind.as_str()))
        .unwrap_or(provider.as_str());
    let Some(kind) = Kind::from_name(kind_name) else {
        return Err(CliError::new(
            Exit::Model,
            format!("the model {name} is not available: there is no provider {kind_name:?}"),
        )
        .hint(format!("providers: {}", Kind::names().join(", ")))
        .hint(format!(
            "for a server of your own: [providers.{provider}] with kind = \"openai\" and base_url in agentctl.toml"
        )));
    };
    let (base_url, from_environment) = match settings.and_then(|s| s.base_url.clone()) {
        Some(url) => (Some(url), false),
        None => (base_url_variable(provider)?, true),
    };
    let base_url = base_url.or_else(|| here?.base_url(variable));
    if let Some(settings) = settings {
        fits(provider, settings)?;
    }
    let source = key_source(kind, settings, base_url.is_none() || from_environment);
    if let (Some(_), Some(url)) = (&source, &base_url) {
        let what = format!("the key of the provider {provider:?}");
        config.plain_http.check(&what, url).map_err(|refused| {
            CliError::new(Exit::Refused, refused.to_string()).hint(refused.hint())
        })?;
    }
    let key = match source {
        None => None,
        Some(source) => {
            let found = block_on(async { source.key(&agentctl_host::home::variable).await })?;
            Some(found.map_err(|why| {
                let error = CliError::new(
                    Exit::Model,
                    format!("the model {name} is not available: {why}"),
                );
                match &source {
                    KeySource::Variable(variable) => error.hint(format!(
                        "export {variable}=…, or name another variable or a command under [providers.{provider}] in agentctl.toml"
                    )),
                    KeySource::Command(_) => error.hint("its output must be the key and nothing else"),
                }
                .hint("--model offline needs no key")
            })?)
        }
    };
    if let Some(key) = &key {
        out.hide([key.expose().to_owned()]);
    }
    let listed_as = kind.listed_as().filter(|_| base_url.is_none());
    let price = Prices::with(config.prices.clone()).of(name, listed_as);
    Ok(Some(Access {
        name: name.clone(),
        model: model.clone(),
        kind,
        base_url,
        key,
        json_schema: settings.and_then(|s| s.json_schema),
        price,
        room: config.models.context.room(name),
        time: config.models.time,
        plain_http: config.plain_http.clone(),
    }))
}

/// A provider's own key goes to the provider, or where the same environment says; an address from a file gets only the key
/// that is named beside it.
fn key_source(
    kind: Kind,
    settings: Option<&ProviderSettings>,
    is_providers_own: bool,
) -> Option<KeySource> {
    if let Some(settings) = settings {
        if let Some(variable) = &settings.api_key_env {
            return Some(KeySource::Variable(variable.clone()));
        }
        if let Some(command) = &settings.key_command {
            return Some(KeySource::Command(command.clone()));
        }
    }
    let variable = kind.key_variable().filter(|_| is_providers_own)?;
    Some(KeySource::Variable(variable.to_owned()))
}

/// `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL`, …: set by the user, so it is the user's word.
fn base_url_variable(provider: &str) -> Result<Option<url::Url>, CliError> {
    let variable = format!(
        "{}_BASE_URL",
        provider.to_uppercase().replace(['-', '.'], "_")
    );
    match std::env::var(&variable) {
        Ok(text) if !text.is_empty() => crate::config::base_url(&text)
            .map(Some)
            .map_err(|why| CliError::usage(format!("${variable}: {why}"))),
        _ => Ok(None),
    }
}

/// A file that came with a project cannot say that any variable is a model's key; trust in the project changes nothing about it.
fn fits(provider: &str, settings: &ProviderSettings) -> Result<(), CliError> {
    let Some(why) = settings.refused(provider) else {
        return Ok(());
    };
    Err(CliError::new(
        Exit::Refused,
        format!(
            "{}: the provider {provider:?} would send away a variable that is no key of a model: {why}",
            settings.place
        ),
    )
    .hint(format!(
        "name the key after its provider (e.g. {}_API_KEY), or put the section into your own settings: agentctl/config.toml in ~/.config (or $AGENTCTL_CONFIG)",
        provider.to_uppercase().replace(['-', '.'], "_")
    )))
}
