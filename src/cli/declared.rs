//! The tools of a pack's own files: which are real here, and what the environment says of it.

use super::error::CliError;
use super::output::Output;
use super::reading;
use crate::config::Config;
use agentctl_engine::gateway::ForeignTools;
use agentctl_engine::pack::Pack;
use agentctl_host::home;
use agentctl_host::reach::Addresses;
use agentctl_mcp::Servers;
use agentctl_n8n_tools::Callable;
use agentctl_n8n_tools::backend::Backend;
use agentctl_tools::{Mode, Remote, SEARCH, Surroundings, Tools, Workflows};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The variable that says which tools are real.
pub const TOOLS: &str = "AGENTCTL_TOOLS";

/// The variable that names the search engine of the web: a tool of kind `search`.
pub const WEB_SEARCH: &str = "AGENTCTL_WEB_SEARCH";

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
    let mut mocked = tools.mocked();
    mocked.retain(|mocked| !tools.is_spare(mocked.tool));
    if let Some(engine) = engine(pack)?.filter(|engine| mocked.iter().all(|m| m.tool != engine)) {
        out.note(&format!("tools: searches go to {engine} ({WEB_SEARCH})"));
    }
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
        engine: None,
        reader: None,
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
        engine: engine(pack)?,
        reader: reading::reader(),
    };
    let data = Arc::clone(&pack.data);
    Ok(Tools::new(pack.tools.values(), data, surroundings))
}

/// The search engine that the user chose; None: none, or the pack has none.
pub fn engine(pack: &Pack) -> Result<Option<String>, CliError> {
    let named = home::variable(WEB_SEARCH).filter(|named| !named.is_empty());
    let engines = pack
        .tools
        .values()
        .filter(|tool| tool.kind.name() == SEARCH);
    let engines: Vec<&str> = engines.map(|tool| tool.id).collect();
    match named {
        Some(named) if !engines.is_empty() && !engines.contains(&named.as_str()) => {
            Err(CliError::usage(format!("{WEB_SEARCH} is {named:?}"))
                .hint(format!("it is one of {}", engines.join(", "))))
        }
        named => Ok(named.filter(|_| !engines.is_empty())),
    }
}
