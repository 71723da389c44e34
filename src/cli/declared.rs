//! The tools of a pack's own files: which are real here, and what the environment says of it.

use super::error::CliError;
use super::output::Output;
use crate::config::Config;
use agentctl_engine::gateway::ForeignTools;
use agentctl_engine::pack::Pack;
use agentctl_host::home;
use agentctl_host::reach::Addresses;
use agentctl_mcp::Servers;
use agentctl_n8n_tools::Callable;
use agentctl_n8n_tools::backend::Backend;
use agentctl_tools::{Mode, Remote, Surroundings, Tools, Workflows};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The variable that says which tools are real.
pub const TOOLS: &str = "AGENTCTL_TOOLS";

/// What a pack's own tools may work with, besides the environment.
#[derive(Default)]
pub struct Means<'a> {
    /// The servers of `.mcp.json`, where a tool needs them.
    pub servers: Option<Arc<Servers>>,
    /// The n8n that is connected, where a tool needs one.
    pub n8n: Option<Arc<dyn Backend>>,
    /// Other agents, where a tool is one.
    pub agents: BTreeMap<String, Result<Remote, String>>,
    /// The project's folder, where a run's files are made.
    pub root: Option<&'a Path>,
    /// Documents of the user's own, in place of the pack's.
    pub folder: Option<&'a Path>,
}

/// None: the pack has no tools of its own. What is not the real tool is told.
pub fn tools(
    pack: &Pack,
    config: &Config,
    means: Means<'_>,
    out: &Output,
) -> Result<Option<Tools>, CliError> {
    if pack.tools.is_empty() {
        return Ok(None);
    }
    let tools = made(pack, config, means)?;
    let mocked = tools.mocked();
    if let Some(first) = mocked.first() {
        let names: Vec<&str> = mocked.iter().map(|mocked| mocked.tool).collect();
        let why = match &first.lacks {
            Some(why) => why.clone(),
            None => format!("{TOOLS}=mock"),
        };
        out.note(&format!(
            "tools: {} answer from mock data ({why})",
            names.join(", ")
        ));
    }
    Ok(Some(tools))
}

/// The same from mock data alone, whatever the environment says; None: the pack has no tools of its own.
pub fn mocks(pack: &Pack) -> Option<Tools> {
    let surroundings = Surroundings {
        mode: Mode::Mock,
        variable: |_| None,
        allow: Addresses::default(),
        servers: None,
        workflows: None,
        agents: BTreeMap::new(),
        root: None,
        folder: None,
    };
    let data = || Arc::clone(&pack.data);
    (!pack.tools.is_empty()).then(|| Tools::new(pack.tools.values(), data(), surroundings))
}

/// The same without a word.
pub fn made(pack: &Pack, config: &Config, means: Means<'_>) -> Result<Tools, CliError> {
    let named = home::variable(TOOLS).unwrap_or_default();
    let mode = Mode::from_name(&named).ok_or_else(|| {
        CliError::usage(format!("{TOOLS} is {named:?}")).hint("it is auto, real or mock")
    })?;
    let surroundings = Surroundings {
        mode,
        variable: |name| home::variable(name).filter(|value| !value.is_empty()),
        allow: config.tool_addresses.clone(),
        servers: means
            .servers
            .map(|servers| servers as Arc<dyn ForeignTools>),
        workflows: means
            .n8n
            .map(|n8n| Arc::new(Callable(n8n)) as Arc<dyn Workflows>),
        agents: means.agents,
        root: means.root.map(Path::to_owned),
        folder: means.folder.map(Path::to_owned),
    };
    let data = Arc::clone(&pack.data);
    Ok(Tools::new(pack.tools.values(), data, surroundings))
}
