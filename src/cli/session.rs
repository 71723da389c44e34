//! What a run needs, put together from the project, the pack and the flags.

use super::args::{AnswerOptions, ModelNames, ModelOptions};
use super::catalog_file::{self, NodeFacts};
use super::connection::{Connected, backend_of, targeted};
use super::declared;
use super::error::{CliError, Exit};
use super::folder_trust;
use super::model_choice::{self, Chosen};
use super::other_packs::OtherPacks;
use super::output::Output;
use super::progress::plain_long;
use super::remote;
use super::settings;
use crate::config::targets::PushTarget;
use crate::config::{Config, User};
use crate::dialogues::Failing;
use crate::held::Held;
use crate::pack::{BUILDER, NoPack};
use crate::trust::{CATALOG, InForce};
use agentctl_base::foreign::split_foreign;
use agentctl_engine::flow::StepKind;
use agentctl_engine::gateway::{Gateway, HeldCalls};
use agentctl_engine::nearest::nearest;
use agentctl_engine::pack::{LoadOptions, Orchestrator, Pack};
use agentctl_engine::redact::Redactor;
use agentctl_engine::run::{
    self, Answering, Asker, Budgets, Cancel, Observer, RunContext, RunError, RunOptions, RunReport,
    System, Unobserved,
};
use agentctl_engine::store::{Means, Project, StoreError};
use agentctl_engine::toolset::Toolset;
use agentctl_engine::view::RunView;
use agentctl_host::files::read_given_text;
use agentctl_host::home::{NoHome, variable};
use agentctl_host::machine::is_at_fault;
use agentctl_knowledge::Knowledge;
use agentctl_mcp::Servers;
use agentctl_models::tape::Tape;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n_tools::accepted::{Accepted, HomeShelf, NoShelf, NotKept};
use agentctl_n8n_tools::backend::{self, Backend, Choice};
use agentctl_n8n_tools::library::Library;
use agentctl_n8n_tools::requests::Requests;
use agentctl_n8n_tools::sync::Names;
use agentctl_n8n_tools::{N8n, N8nTools};
use agentctl_tools::{MCP, N8N as TOOL_OF_N8N, PACK as TOOL_OF_PACK, Packs, Tools};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A project with its pack, backend and model: enough for any activation.
pub struct Session {
    pub project: Project,
    pub pack: Pack,
    pub gateway: Gateway,
    /// What the tools of n8n work on; None: the pack needs no n8n, so none was looked for.
    n8n: Option<(Arc<N8n>, Choice)>,
    pub models: Chosen,
    /// What is recorded or replayed.
    pub tape: Option<Arc<Tape>>,
    pub effects: System,
    pub cancel: Cancel,
    /// What of the project counts.
    pub in_force: Arc<InForce>,
    /// The limits of agentctl.toml.
    pub budgets: Budgets,
    pub user: User,
    /// The n8n that it describes for pushing to.
    targets: IndexMap<String, PushTarget>,
}

/// What a run is begun or gone on with besides its pack.
#[derive(Debug, Default)]
pub struct Given {
    /// The models that it has, by agent.
    pub models: BTreeMap<String, String>,
    pub orchestrator: Which,
    /// The folder of documents in place of the pack's own.
    pub folder: Option<PathBuf>,
    /// The n8n of this name in the settings, in the place of the connected one.
    pub target: Option<String>,
    /// No node is judged or built: a connected n8n need not be asked for its release.
    pub judges_no_node: bool,
    /// How many packs stand above it, where another pack talks with it.
    pub depth: u8,
}

impl Session {
    /// With the builder's pack, whatever pack is the default: for what works on n8n by itself and judges no node.
    pub fn open(root: &Path, model: &ModelOptions, out: &Output) -> Result<Session, CliError> {
        Self::at(root, None, model, out)
    }

    /// The same on a target of the settings; None: on the connected n8n.
    pub fn at(
        root: &Path,
        target: Option<&str>,
        model: &ModelOptions,
        out: &Output,
    ) -> Result<Session, CliError> {
        Self::with(root, BUILDER, model, &on_n8n(target), out)
    }

    /// The same for taking back what a run did (None: the active one): with the pack and the orchestrator that the run was begun with.
    pub fn to_undo(
        root: &Path,
        run: Option<&str>,
        target: Option<&str>,
        model: &ModelOptions,
        out: &Output,
    ) -> Result<Session, CliError> {
        let project = super::project::open(root, out)?;
        let kept = run::means(&project, run).ok().flatten();
        match kept.and_then(|kept| Some((kept.pack?, kept.orchestrator))) {
            Some((pack, orchestrator)) => {
                let given = Given {
                    orchestrator: Which::of_run(orchestrator),
                    ..on_n8n(target)
                };
                Self::with(root, &pack, model, &given, out)
            }
            None => Self::at(root, target, model, out),
        }
    }

    /// With the pack of this name (`NAME` or `NAME/FLOW`).
    pub fn of_pack(
        root: &Path,
        pack: &str,
        model: &ModelOptions,
        out: &Output,
    ) -> Result<Session, CliError> {
        Self::with(root, pack, model, &Given::default(), out)
    }

    /// The same, with what the user's command gives besides.
    pub fn given(
        root: &Path,
        pack: &str,
        given: &Given,
        model: &ModelOptions,
        out: &Output,
    ) -> Result<Session, CliError> {
        Self::with(root, pack, model, given, out)
    }

    /// For going on with a run (None: the active one), with the pack and the models that it has.
    pub fn reopen(
        root: &Path,
        run: Option<&str>,
        model: &ModelOptions,
        out: &Output,
    ) -> Result<Session, CliError> {
        let project = super::project::open(root, out)?;
        let kept = match run::means(&project, run) {
            Ok(Some(kept)) => kept,
            Ok(None) => Means {
                pack: pack_of_begun(root, &project, run, out)?,
                ..Means::default()
            },
            // Before anything is chosen or started by what it says.
            Err(e @ RunError::Store(StoreError::Foreign { .. })) => return Err(run_error(&e)),
            // What else is wrong with the run is told when it is taken up.
            Err(_) => Means::default(),
        };
        let pack = kept.pack.as_deref().unwrap_or(BUILDER);
        let given = Given {
            models: kept.models,
            orchestrator: Which::of_run(kept.orchestrator),
            ..Given::default()
        };
        Self::with(root, pack, model, &given, out)
    }

    fn with(
        root: &Path,
        pack: &str,
        model: &ModelOptions,
        given: &Given,
        out: &Output,
    ) -> Result<Session, CliError> {
        let project = super::project::open_to_work(root, out)?;
        let mut pack = pack_with(root, pack, &given.orchestrator, out)?;
        let config = settings::of_project(root, out)?;
        let project = super::project::shared(project, config.journal.as_ref(), out)?;
        if catalog_file::is_own(catalog_file::of(root, out)?) {
            pack.overrides.push(CATALOG.to_owned());
        }
        tell_overrides(&pack, out);
        let connected = match &given.target {
            Some(name) => Some(targeted(root, &config, name, out)?),
            None => connected(root, &pack, &config, out)?,
        };
        let place = connected.as_ref().and_then(|(_, n8n)| n8n.place());
        let place = place.filter(|_| !given.judges_no_node);
        let facts = catalog_file::of_n8n(root, place, out)?;
        facts.warn(out);
        let catalog = facts.catalog;
        let models = live(&pack, model, &given.models, &config, catalog, out)?;
        let agents = remote::of_tools(root, &pack, &config, out);
        // With the models' keys and the agents' secrets, which were just read.
        let redactor = (*out.redactor()).clone();
        let (models, tape) = taped(&pack, models, model, &redactor)?;
        let called = connected.as_ref().map(|(_, backend)| Arc::clone(backend));
        let n8n = match requires_n8n(&pack)? {
            true => {
                connected.map(|(choice, backend)| (n8n_of(root, backend, &config, facts), choice))
            }
            false => None,
        };
        let (n8n, choice) = n8n.unzip();
        let servers = foreign_tools(root, &pack, &config, out)?.map(Arc::new);
        let means = declared::Means {
            servers: servers.clone(),
            n8n: called,
            agents,
            packs: talks_with_packs(&pack).then(|| {
                let of = (pack.manifest.name.as_str(), given.depth);
                OtherPacks::new(of, root, model, out) as Arc<dyn Packs>
            }),
            root: Some(root),
            folder: given.folder.as_deref(),
        };
        let tools = declared::tools(&pack, &config, means, out)?;
        let (gateway, n8n) = gateway(&pack, n8n, tools, root, redactor);
        let n8n = n8n.zip(choice);
        let gateway = gateway.with_held(held_for(root));
        let gateway = match servers {
            Some(servers) => gateway.with_foreign(servers),
            None => gateway,
        };
        Ok(Session {
            project,
            pack,
            gateway,
            n8n,
            models,
            tape,
            effects: System::default(),
            cancel: Cancel::default(),
            in_force: folder_trust::in_force(root, out)?,
            budgets: config.limits,
            user: config.user,
            targets: config.targets,
        })
    }

    /// The run's surroundings, with these eyes and this mouth.
    pub fn context<'a>(
        &'a self,
        observer: &'a mut dyn Observer,
        asker: Option<&'a mut dyn Asker>,
    ) -> RunContext<'a> {
        RunContext {
            project: &self.project,
            pack: &self.pack,
            gateway: &self.gateway,
            models: &self.models,
            effects: &self.effects,
            cancel: &self.cancel,
            observer,
            asker,
        }
    }

    /// What the tools of n8n work on, for commands of the user's. Error: the pack works without one.
    pub fn n8n(&self) -> Result<&Arc<N8n>, CliError> {
        let n8n = self.n8n.as_ref().map(|(n8n, _)| n8n);
        n8n.ok_or_else(|| {
            let name = &self.pack.manifest.name;
            CliError::usage(format!("the pack {name} works without n8n"))
                .hint("--pack n8n-builder names the one that builds workflows")
        })
    }

    /// How credentials are called on a target of the settings.
    pub fn names(&self, target: Option<&str>) -> Names {
        let target = target.and_then(|name| self.targets.get(name));
        target
            .map(|target| target.credentials.clone())
            .unwrap_or_default()
    }

    /// The same, where one is needed only if there is one.
    pub fn any_n8n(&self) -> Option<&Arc<N8n>> {
        self.n8n.as_ref().map(|(n8n, _)| n8n)
    }

    /// The first line of `stream-json`.
    pub fn init(&self, command: &str, out: &Output) -> Result<(), CliError> {
        out.stream(&json!({
            "type": "init",
            "agentctl": env!("CARGO_PKG_VERSION"),
            "command": command,
            "pack": self.pack.manifest.name,
            "flow": self.pack.flow.name,
            "model": self.models.names().join(", "),
            "backend": self.n8n.as_ref().map(|(n8n, _)| n8n.backend().name()),
            "backend_why": self.n8n.as_ref().map(|(_, choice)| &choice.why),
            "overrides": self.pack.overrides,
            "capabilities": ["questions", "resume", "undo"],
        }))
    }
}

/// The door to what the project learned, and to the tools of n8n where the pack needs them.
fn gateway(
    pack: &Pack,
    n8n: Option<N8n>,
    declared: Option<Tools>,
    root: &Path,
    redactor: Redactor,
) -> (Gateway, Option<Arc<N8n>>) {
    let (toolsets, n8n) = toolsets(pack, n8n, declared, root);
    let gateway = Gateway::new(pack, toolsets);
    (gateway.with_redactor(redactor), n8n)
}

fn toolsets(
    pack: &Pack,
    n8n: Option<N8n>,
    declared: Option<Tools>,
    root: &Path,
) -> (Vec<Arc<dyn Toolset>>, Option<Arc<N8n>>) {
    let skills = pack.skills.iter().map(agentctl_knowledge::Skill::from);
    let skills: Vec<agentctl_knowledge::Skill> = skills.collect();
    let library = Library::new(Knowledge::new(root, skills));
    let tools = n8n.map(N8nTools::new);
    let n8n = tools.as_ref().map(|tools| Arc::clone(tools.n8n()));
    let mut toolsets: Vec<Arc<dyn Toolset>> = Vec::new();
    if let Some(tools) = tools {
        toolsets.push(Arc::new(tools));
    }
    toolsets.push(Arc::new(library));
    toolsets.push(Arc::new(Requests::new(root)));
    if let Some(declared) = declared {
        toolsets.push(Arc::new(declared));
    }
    (toolsets, n8n)
}

/// What many runs in folders of their own share: the pack and the models that a project would be worked on with.
pub struct Elsewhere {
    pub pack: Pack,
    pub models: Chosen,
    /// What is recorded or replayed.
    pub tape: Option<Arc<Tape>>,
    /// The limits of agentctl.toml.
    pub budgets: Budgets,
    catalog: &'static Catalog,
    redactor: Redactor,
}

impl Elsewhere {
    pub fn open(root: &Path, model: &ModelNames, out: &Output) -> Result<Elsewhere, CliError> {
        let model = ModelOptions {
            names: model.clone(),
            ..ModelOptions::default()
        };
        Self::of(root, load_pack(root, out)?, &model, out)
    }

    pub fn of(
        root: &Path,
        mut pack: Pack,
        model: &ModelOptions,
        out: &Output,
    ) -> Result<Elsewhere, CliError> {
        let config = settings::of_project(root, out)?;
        let catalog = catalog_file::of(root, out)?;
        if catalog_file::is_own(catalog) {
            pack.overrides.push(CATALOG.to_owned());
        }
        tell_overrides(&pack, out);
        let models = live(&pack, model, &BTreeMap::new(), &config, catalog, out)?;
        let redactor = (*out.redactor()).clone();
        let (models, tape) = taped(&pack, models, model, &redactor)?;
        Ok(Elsewhere {
            pack,
            models,
            tape,
            budgets: config.limits,
            catalog,
            redactor,
        })
    }

    pub fn catalog(&self) -> &'static Catalog {
        self.catalog
    }

    /// A run in this empty folder, of which nothing is kept elsewhere: files, no n8n, no server, no learnings, nobody to ask.
    pub async fn run(
        &self,
        folder: &Path,
        cancel: &Cancel,
        options: RunOptions,
    ) -> Result<RunReport, CliError> {
        let project = Project::open(folder).map_err(|e| CliError::failed(e.to_string()))?;
        let gateway = self.gateway(folder, &[])?;
        let context = RunContext {
            project: &project,
            pack: &self.pack,
            gateway: &gateway,
            models: &self.models,
            effects: &System::default(),
            cancel,
            observer: &mut Unobserved,
            asker: None,
        };
        run::start(context, options)
            .await
            .map_err(|e| run_error(&e))
    }
}

impl Elsewhere {
    /// The door to tools that work in a folder; calls of these tools fail.
    pub fn gateway(&self, folder: &Path, failing: &[String]) -> Result<Gateway, CliError> {
        let n8n = match requires_n8n(&self.pack)? {
            true => {
                let backend = backend::Target::Embedded.open(folder);
                let backend = backend.map_err(|e| CliError::failed(e.to_string()))?;
                Some(N8n::new(backend, self.catalog))
            }
            false => None,
        };
        let declared = declared::mocks(&self.pack);
        let (mut toolsets, _) = toolsets(&self.pack, n8n, declared, folder);
        if !failing.is_empty() {
            let fails = |of| Arc::new(Failing::new(of, failing)) as Arc<dyn Toolset>;
            toolsets = toolsets.into_iter().map(fails).collect();
        }
        Ok(Gateway::new(&self.pack, toolsets).with_redactor(self.redactor.clone()))
    }
}

/// What a pack may say that it requires.
const N8N: &str = "n8n";

/// Whether the pack works on n8n. Error: it requires what this program cannot give.
fn requires_n8n(pack: &Pack) -> Result<bool, CliError> {
    let manifest = &pack.manifest;
    match manifest.requires.iter().find(|word| *word != N8N) {
        None => Ok(!manifest.requires.is_empty()),
        Some(word) => Err(CliError::usage(format!(
            "the pack {} requires {word:?}, which this agentctl does not have",
            manifest.name
        ))
        .hint(format!("what a pack may require: {N8N}"))),
    }
}

/// The n8n that the pack works on, or that a tool of its files calls; None: neither.
pub fn connected(
    root: &Path,
    pack: &Pack,
    config: &Config,
    out: &Output,
) -> Result<Option<Connected>, CliError> {
    let by_tools = pack
        .tools
        .values()
        .any(|tool| tool.kind.name() == TOOL_OF_N8N);
    match requires_n8n(pack)? || by_tools {
        true => backend_of(root, out, config).map(Some),
        false => Ok(None),
    }
}

/// Whether a tool of the pack is a conversation with another one.
pub fn talks_with_packs(pack: &Pack) -> bool {
    pack.tools
        .values()
        .any(|tool| tool.kind.name() == TOOL_OF_PACK)
}

/// What the tools of n8n work on.
fn n8n_of(root: &Path, backend: Arc<dyn Backend>, config: &Config, facts: NodeFacts) -> N8n {
    let shelf = accepted(root, backend.as_ref());
    let n8n = N8n::new(backend, facts.catalog)
        .with_test_hosts(config.test_hosts.clone())
        .with_waivers(config.waivers.clone(), root)
        .with_unsure_facts(facts.unsure);
    match shelf {
        Some(shelf) => n8n.with_accepted(shelf),
        None => n8n,
    }
}

/// Where calls with hidden values wait for an approval: the user's home.
fn held_for(root: &Path) -> Result<Arc<dyn HeldCalls>, String> {
    held_calls(root).map(|held| Arc::new(held) as Arc<dyn HeldCalls>)
}

/// The same, to look at them.
pub fn held_calls(root: &Path) -> Result<Held, String> {
    super::project::home(root)
        .map(|home| Held::new(home, root, jiff::Timestamp::now))
        .map_err(|why| why.to_string())
}

/// Where the states that the user accepted are kept. None: there is no folder of the user's, so each run counts for itself. A folder that is there and cannot be used stops what it would have to count.
fn accepted(root: &Path, backend: &dyn Backend) -> Option<Arc<dyn Accepted>> {
    let real = match root.canonicalize() {
        Ok(real) => real,
        Err(error) => {
            let machine = is_at_fault(&error);
            let why = format!("{}: {error}", root.display());
            return Some(Arc::new(NoShelf(NotKept { why, machine })));
        }
    };
    let place = match backend.place() {
        Some(address) => format!("n8n {address}"),
        None => format!("project {}", real.display()),
    };
    match super::project::home(&real) {
        Ok(home) => Some(Arc::new(HomeShelf::new(home, place))),
        // `open_to_work` has said it.
        Err(NoHome::Unnamed) => None,
        Err(error) => Some(Arc::new(NoShelf(NotKept {
            machine: matches!(error, NoHome::Fault { .. }),
            why: error.to_string(),
        }))),
    }
}

/// The models that are asked; None: a recording answers.
fn live(
    pack: &Pack,
    model: &ModelOptions,
    kept: &BTreeMap<String, String>,
    config: &Config,
    catalog: &'static Catalog,
    out: &Output,
) -> Result<Option<Chosen>, CliError> {
    match &model.replay {
        Some(_) => Ok(None),
        None => model_choice::choose(pack, &model.names, kept, config, catalog, out).map(Some),
    }
}

/// The models with the recording that is to be made or followed.
fn taped(
    pack: &Pack,
    models: Option<Chosen>,
    options: &ModelOptions,
    redactor: &Redactor,
) -> Result<(Chosen, Option<Arc<Tape>>), CliError> {
    let tape = tape(options, redactor)?;
    let models = match (models, &tape) {
        (Some(models), Some(tape)) => models.recording(tape),
        (Some(models), None) => models,
        (None, Some(tape)) => Chosen::replaying(pack, tape),
        (None, None) => return Err(CliError::new(Exit::Internal, "no model was chosen")),
    };
    Ok((models, tape))
}

/// The recording that is to be made or followed.
fn tape(options: &ModelOptions, redactor: &Redactor) -> Result<Option<Arc<Tape>>, CliError> {
    let redactor = redactor.clone();
    let hide = Box::new(move |text: &str| redactor.text(text));
    let opened = match (&options.record, &options.replay) {
        (Some(new), Some(old)) => Tape::renew(old, new, hide),
        (Some(path), None) => Tape::record(path, hide),
        (None, Some(path)) => Tape::replay(path, hide),
        (None, None) => return Ok(None),
    };
    opened.map(Some).map_err(|e| CliError::usage(e.to_string()))
}

/// The servers of `.mcp.json`, when some agent may call a tool of theirs, by its own name or by one of the pack's; each is started at its
/// first call.
pub fn foreign_tools(
    root: &Path,
    pack: &Pack,
    settings: &Config,
    out: &Output,
) -> Result<Option<Servers>, CliError> {
    let steps = pack.flow.steps_of_all();
    let by_flow = steps.iter().filter_map(|step| match &step.kind {
        StepKind::Tool(called) => Some(&called.tool),
        _ => None,
    });
    let by_agents = pack.agents.values().flat_map(|agent| &agent.tools);
    let by_files = pack.tools.values();
    if !by_agents
        .chain(by_flow)
        .any(|tool| split_foreign(tool).is_some())
        && !by_files.into_iter().any(|tool| tool.kind.name() == MCP)
    {
        return Ok(None);
    }
    let may = folder_trust::in_force(root, out)?.servers_or_none();
    let may = may.map_err(folder_trust::refused)?;
    let config = agentctl_mcp::read(root, &may, &variable).map_err(|e| CliError::of_servers(&e))?;
    let pins = super::project::pins(root, out)?;
    let config = config.map(|config| config.with_plain_http(&settings.plain_http));
    Ok(config.map(|config| Servers::new(&config, pins)))
}

/// Which pack was asked for: by the command line, the settings, or nobody.
pub fn chosen_pack(root: &Path, out: &Output) -> Result<String, CliError> {
    if let Some(named) = &out.pack {
        return Ok(named.clone());
    }
    let config = settings::of_project(root, out)?;
    Ok(config.pack.unwrap_or_else(|| BUILDER.to_owned()))
}

/// The pack to talk with where none is named: the chosen one, or the one that it names for conversations.
pub fn talking_pack(root: &Path, out: &Output) -> Result<String, CliError> {
    let chosen = chosen_pack(root, out)?;
    let options = load_options(root, out)?;
    let pack = crate::pack::named(&chosen, root, &options).map_err(|e| no_pack(&e))?;
    match pack.manifest.chat {
        chat if chat.is_empty() => Ok(chosen),
        chat => Ok(chat),
    }
}

/// The pack that was asked for; all of its mistakes at once, its warnings on stderr.
pub fn load_pack(root: &Path, out: &Output) -> Result<Pack, CliError> {
    named_pack(root, &chosen_pack(root, out)?, out)
}

/// How packs of a project are loaded: which files count, whether the policy may be loosened, and which orchestrators the settings name.
pub fn load_options(root: &Path, out: &Output) -> Result<LoadOptions, CliError> {
    let named = settings::of_project(root, out)?.orchestrators.into_iter();
    let named = named.map(|(pack, name)| (pack, Orchestrator::Named(name)));
    Ok(LoadOptions {
        orchestrators: named.collect(),
        ..load_options_unset(root, out)?
    })
}

/// The same with every pack's default orchestrator: for a look at packs where the settings may be what is broken.
pub fn load_options_unset(root: &Path, out: &Output) -> Result<LoadOptions, CliError> {
    let files = folder_trust::in_force(root, out)?.pack();
    Ok(LoadOptions {
        files: files.map_err(folder_trust::refused)?,
        allow_loosen: out.allow_loose_policy,
        ..LoadOptions::default()
    })
}

/// No file of an orchestrator is larger.
const MAX_ORCHESTRATOR: u64 = 1024 * 1024;

/// The orchestrator that was typed: a file where it is the path of one (it ends in .json or has a slash), else a name.
pub fn orchestrator(typed: &str) -> Result<Orchestrator, CliError> {
    let path = Path::new(typed);
    let is_file = path.extension().is_some_and(|end| end == "json") || typed.contains('/');
    if !is_file {
        return Ok(Orchestrator::Named(typed.to_owned()));
    }
    let cannot =
        |why: String| CliError::usage(format!("cannot read the orchestrator {typed}: {why}"));
    let text = read_given_text(path, MAX_ORCHESTRATOR).map_err(|e| cannot(e.to_string()))?;
    // A later command that goes on with the run may stand elsewhere.
    let real = path.canonicalize().map_err(|e| cannot(e.to_string()))?;
    let file = real.display().to_string();
    Ok(Orchestrator::Given { file, text })
}

/// The pack of this name (`NAME` or `NAME/FLOW`); all of its mistakes at once, its warnings on stderr.
pub fn named_pack(root: &Path, name: &str, out: &Output) -> Result<Pack, CliError> {
    pack_with(root, name, &Which::AsSet, out)
}

/// The pack of a run that was killed before its journal said which: the one that has the hash with which it began.
fn pack_of_begun(
    root: &Path,
    project: &Project,
    run: Option<&str>,
    out: &Output,
) -> Result<Option<String>, CliError> {
    let id = match run {
        Some(given) => Some(project.find_run(given).map_err(|e| run_error(&e.into()))?),
        None => {
            let runs = run::list(project).map_err(|e| run_error(&e))?;
            let active = runs.into_iter().find(|run| run.active);
            active.map(|run| run.run_id)
        }
    };
    let Some(id) = id else { return Ok(None) };
    let loaded = run::read(project, &id).map_err(|e| run_error(&e.into()))?;
    let view = RunView::of(&loaded.records);
    if view.activation > 0 {
        return Ok(None);
    }
    for name in crate::pack::names(root, &load_options(root, out)?) {
        let Ok(pack) = named_pack(root, &name, out) else {
            continue;
        };
        if pack.hash != view.pack_hash {
            continue;
        }
        let mut others = pack.flows.iter();
        let other = others.find(|(_, loaded)| loaded.flow.name == view.flow);
        return Ok(Some(match other {
            Some((flow, _)) if pack.flow.name != view.flow => format!("{name}/{flow}"),
            _ => name,
        }));
    }
    Ok(None)
}

/// What is done on n8n by itself.
fn on_n8n(target: Option<&str>) -> Given {
    Given {
        target: target.map(str::to_owned),
        judges_no_node: true,
        ..Given::default()
    }
}

/// The orchestrator that a pack is to have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Which {
    /// The one of the settings, else the pack's default.
    #[default]
    AsSet,
    /// The pack's default, whatever the settings say by now.
    Default,
    /// A name, or the path of a file.
    Named(String),
}

impl Which {
    /// The one that a run was begun with, as its journal says.
    pub fn of_run(kept: Option<String>) -> Which {
        kept.map_or(Which::Default, Which::Named)
    }
}

/// The same with one of its orchestrators, or one of a file.
pub fn pack_with(root: &Path, name: &str, chosen: &Which, out: &Output) -> Result<Pack, CliError> {
    let mut options = load_options(root, out)?;
    let of = name.split('/').next().unwrap_or_default();
    match chosen {
        Which::AsSet => {}
        Which::Default => {
            options.orchestrators.remove(of);
        }
        Which::Named(typed) => {
            let named = orchestrator(typed)?;
            options.orchestrators.insert(of.to_owned(), named);
        }
    }
    let pack = crate::pack::named(name, root, &options).map_err(|error| {
        let told = no_pack(&error);
        // Where the pack is sound without the orchestrator, the orchestrator is what is wrong.
        let of_pack = options.orchestrators.remove(of).is_none()
            || crate::pack::named(name, root, &options).is_err();
        match of_pack {
            true => told,
            false => CliError::usage(error.to_string()).hint("agentctl orchestrators list names those that there are, agentctl orchestrators new FILE.json begins one of your own"),
        }
    })?;
    for loosened in pack.policy.loosened() {
        out.note(&format!(
            "warning: the project loosens the policy: {loosened}"
        ));
    }
    for warning in &pack.warnings {
        out.note(&format!("warning: {warning}"));
    }
    Ok(pack)
}

/// Why there is no such pack, with the nearest name.
pub fn no_pack(error: &NoPack) -> CliError {
    let told = CliError::usage(error.to_string());
    match error {
        NoPack::Unknown { name, known } => told.hint(listed("packs", name, known)),
        NoPack::Flow { name, known, .. } => told.hint(listed("its flows", name, known)),
        NoPack::Errors { pack, .. } => told.hint(format!("agentctl packs check {pack} lists the same; a project file overrides the built-in one of the same name")),
    }
}

pub(super) fn listed(what: &str, name: &str, known: &[String]) -> String {
    let near = nearest(name, known.iter().map(String::as_str));
    format!("{what}: {}{near}", known.join(", "))
}

/// No file of answers is larger.
const MAX_ANSWERS: u64 = 16 * 1024 * 1024;

/// What of the project stands over the built-in pack, or that the pack is the folder's own: who works in a folder that another one
/// made has to know.
pub fn tell_overrides(pack: &Pack, out: &Output) {
    if pack.overrides.is_empty() {
        return;
    }
    let files: Vec<String> = pack.overrides.iter().map(|file| plain_long(file)).collect();
    let named = pack.named.as_deref().unwrap_or_default();
    let name = named.split('/').next().unwrap_or_default();
    let what = match name.is_empty() || crate::pack::is_shipped(name) {
        true => "this folder overrides the built-in pack",
        false => "the pack is this folder's own",
    };
    out.note(&format!("{what}: {}", files.join(", ")));
}

/// Answers given ahead: a JSON object, question id or topic → answer.
pub fn read_answers(path: Option<&Path>) -> Result<Map<String, Value>, CliError> {
    let Some(path) = path else {
        return Ok(Map::new());
    };
    let shown = path.display();
    let text = if path == Path::new("-") {
        read_stdin()?
    } else {
        read_given_text(path, MAX_ANSWERS)
            .map_err(|e| CliError::usage(format!("cannot read the answers {shown}: {e}")))?
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(CliError::usage(format!(
            "{shown}: expected a JSON object, question id or topic → answer"
        ))),
        Err(e) => Err(CliError::usage(format!(
            "{shown}:{}:{}: not valid JSON: {e}",
            e.line(),
            e.column()
        ))
        .hint("an answers file looks like {\"channel\": \"#sales\"}")),
    }
}

pub fn read_stdin() -> Result<String, CliError> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|e| CliError::failed(format!("cannot read stdin: {e}")))?;
    Ok(text)
}

pub fn answering(options: &AnswerOptions) -> Result<Answering, CliError> {
    Ok(Answering {
        answers: read_answers(options.answers.as_deref())?,
        yes: options.yes,
    })
}

/// How a run that could not be carried through is told.
pub fn run_error(error: &RunError) -> CliError {
    let exit = Exit::from_code(error.exit_code());
    let mut told = CliError::new(exit, error.to_string());
    if let Some(hint) = error.hint() {
        told = told.hint(hint);
    }
    if exit == Exit::Internal {
        told = told.hint("this is a bug in agentctl; the run is saved, `agentctl runs show` tells how far it came");
    }
    told
}

/// The exit of a run that came to an end, good or not.
pub fn exit_of(report: &RunReport) -> Exit {
    Exit::from_code(report.exit_code)
}
