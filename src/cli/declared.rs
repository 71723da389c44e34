//! The tools of a pack's own files: which are real here, and what the environment says of it.

use super::error::CliError;
use super::output::Output;
use super::{project, reading, session};
use crate::config::Config;
use agentctl_engine::flow::{Flow, StepKind};
use agentctl_engine::gateway::ForeignTools;
use agentctl_engine::pack::Pack;
use agentctl_engine::run;
use agentctl_host::home;
use agentctl_host::reach::Addresses;
use agentctl_mcp::Servers;
use agentctl_n8n_tools::Callable;
use agentctl_n8n_tools::backend::Backend;
use agentctl_tools::{Calls, Figures, Mode, Packs, Remote, SEARCH, Surroundings, Tools, Workflows};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The variable that says which tools are real.
pub const TOOLS: &str = "AGENTCTL_TOOLS";

/// Older runs tell less of how a tool does now.
const NEWEST: usize = 200;
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
    /// Other packs, where a tool talks with one.
    pub packs: Option<Arc<dyn Packs>>,
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
    let root = means.root.map(Path::to_owned);
    // A folder that was named is what is searched, whatever engine there is; and mocks may be asked for.
    let mocks =
        home::variable(TOOLS).is_some_and(|mode| Mode::from_name(&mode) == Some(Mode::Mock));
    let searches = means.folder.is_none() && !mocks;
    let mut tools = made(pack, config, means)?;
    if let Some(root) = root {
        let (names, tasks) = (names_of(pack), tasks_of(pack));
        // Figures that cannot be read speak for no tool and against none.
        tools = tools.counting(move || counted(&root, &names, &tasks).unwrap_or_default());
    }
    let mut answered = tools.mocked();
    answered.retain(|mocked| !tools.is_spare(mocked.tool));
    let chosen = engine(pack)?;
    let lacking = answered
        .iter()
        .filter(|m| searches && chosen.as_deref() == Some(m.tool));
    if let Some((tool, lacks)) = lacking
        .filter_map(|m| Some((m.tool, m.lacks.as_ref()?)))
        .next()
    {
        let told = format!("{WEB_SEARCH} is {tool}, which cannot search here: {lacks}");
        let hint = "set it, name another engine, or unset the variable to search the documents; AGENTCTL_TOOLS=mock answers from mock data";
        return Err(CliError::usage(told).hint(hint));
    }
    if let Some(engine) = chosen.filter(|engine| answered.iter().all(|m| m.tool != engine)) {
        out.note(&format!("tools: searches go to {engine} ({WEB_SEARCH})"));
    }
    // Those that are mocked for the same reason are told together.
    let mut mocked: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for one in answered {
        let why = one.lacks.unwrap_or_else(|| format!("{TOOLS}=mock"));
        mocked.entry(why).or_default().push(one.tool);
    }
    for (why, names) in mocked {
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
        packs: None,
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
        packs: means.packs,
        root: means.root.map(Path::to_owned),
        folder: means.folder.map(Path::to_owned),
        engine: engine(pack)?,
        reader: reading::reader(),
    };
    let data = Arc::clone(&pack.data);
    Ok(Tools::new(pack.tools.values(), data, surroundings))
}

/// By tool, over the newest runs that this user's agentctl wrote. Mock answers do not count.
pub fn calls_of(root: &Path, pack: &Pack) -> Result<BTreeMap<String, Calls>, CliError> {
    counted(root, &names_of(pack), &tasks_of(pack))
}

fn names_of(pack: &Pack) -> Vec<&'static str> {
    pack.tools.values().map(|tool| tool.id).collect()
}

/// The tasks of the agents' steps, by the names of the steps.
fn tasks_of(pack: &Pack) -> BTreeMap<String, String> {
    let flows = std::iter::once(&pack.flow).chain(pack.flows.values().map(|of| &of.flow));
    let mut tasks = BTreeMap::new();
    for step in flows.flat_map(Flow::all_steps) {
        if let StepKind::Agent(agent) = &step.kind {
            tasks
                .entry(step.id.clone())
                .or_insert_with(|| agent.task.clone());
        }
    }
    tasks
}

fn counted(
    root: &Path,
    names: &[&str],
    tasks: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Calls>, CliError> {
    // A step that is no agent's has its own name.
    let task_of = |path: &str| {
        let last = path.rsplit('/').next().unwrap_or_default();
        tasks.get(last).map_or(last, String::as_str).to_owned()
    };
    Ok(figures_of(root, names)?.told(task_of))
}

fn figures_of(root: &Path, names: &[&str]) -> Result<Figures, CliError> {
    let project = project::open_here(root)?;
    let mut runs = run::list(&project).map_err(|e| session::run_error(&e))?;
    runs.sort_by(|a, b| b.started_at.cmp(&a.started_at));
    let mut figures = Figures::default();
    for summary in runs.iter().take(NEWEST) {
        // A journal that cannot be read, or that somebody else wrote, says nothing of the tools.
        let Ok(loaded) = run::read(&project, &summary.run_id) else {
            continue;
        };
        if loaded.foreign.is_none() {
            figures.add(&loaded.records, names);
        }
    }
    Ok(figures)
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
