//! A pack: agents, flow, policy and skills, read from the files that a program brings and, where they count, from the project. Every mistake in it is
//! reported in one pass, with file and line. Reads files below the project and nothing else; never writes; decides nothing.

mod agent_channel;
mod agents;
mod built_in;
pub mod channels;
mod delegates;
mod files;
mod flows;
mod frontmatter;
mod keys;
mod manifest;
#[cfg(test)]
mod named_tests;
mod orchestrators;
mod remotes;
mod root;
mod skills;
mod source;
mod tool;
mod tool_calls;
mod tool_checks;
mod tools;
#[cfg(test)]
mod tools_tests;
#[cfg(test)]
mod vocabulary_tests;

pub use agent_channel::{AgentChannel, Offer};
pub use agents::{Agent, Tier};
pub use built_in::{BuiltIn, PACKS};
pub use channels::{Channels, Fault, MAX_KEY_PART, Taken};
pub use files::{MAX_PACK_FILE, PackFiles, SKILL_FOLDERS, Use, is_agent_file, is_flow_file};
pub use manifest::{MAIN_FLOW, MANIFEST, Manifest, is_name};
pub use orchestrators::{InForce, Member, ORCHESTRATOR, Orchestrator, Orchestrators};
pub use skills::{SkillHead, SkillSource};
pub use tool::{DeclaredTool, Requires, ToolKind, ToolLimits};
pub use tools::{TOOL_FILES, TOOLS};

use crate::flow::{self, Flow};
use crate::policy::Policy;
use crate::vocabulary::Vocabulary;
use agentctl_base::canonical::hex;
use agentctl_base::foreign::split_foreign;
use agentctl_base::yaml::{self, Place, Problem};
use flows::{OfFlows, flow_path, flows};
use indexmap::IndexMap;
use root::Root;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use source::Source;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    pub manifest: Manifest,
    /// How a later resume names it: `NAME`, or `NAME/FLOW`; None: the pack whose folder is the project itself, with its own entry.
    pub named: Option<String>,
    /// By name, sorted.
    pub agents: IndexMap<String, Agent>,
    /// The flow that runs: the manifest's, or the one that was chosen by [`Pack::with_flow`].
    pub flow: Flow,
    /// How messages call the file of that flow.
    pub flow_file: String,
    /// All of them by name, which is that of the file: `turn` for `agents/turn.flow.yaml`.
    pub flows: IndexMap<String, LoadedFlow>,
    /// The names of its orchestrators, sorted.
    pub orchestrators: Vec<String>,
    /// The one in force.
    pub orchestrator: Option<InForce>,
    /// The data files by name, as conditions see them under `pack`.
    pub data: Arc<Map<String, Value>>,
    /// `agents/offline.yaml`: what a model that needs no network does for each task. None: the pack has none.
    pub offline: Option<Arc<Value>>,
    pub policy: Policy,
    /// The tools of the pack's own files, by id, sorted.
    pub tools: IndexMap<String, DeclaredTool>,
    /// Sorted by name.
    pub skills: Vec<SkillHead>,
    /// sha-256 (hex) over agents, flow, policy and the skills' texts.
    pub hash: String,
    pub warnings: Vec<String>,
    /// The project's files that stand in place of built-in ones, or beside them, as paths below the project: agents, flow, policy,
    /// skills (by their SKILL.md). Sorted.
    pub overrides: Vec<String>,
}

/// The paths of the main flow and the policy below a pack's folder.
pub const FLOW_FILE: &str = "agents/flow.yaml";
pub const POLICY_FILE: &str = "agents/policy.yaml";
/// What a model that needs no network does for each task of the pack.
const OFFLINE_FILE: &str = "agents/offline.yaml";
/// The folder of its dialogues.
const TESTS: &str = "tests";

/// How a pack is loaded. The default is the built-in pack alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Which of the project's files count, as `trust` decided.
    pub files: PackFiles,
    /// Let the project's policy allow more than the built-in one. What it loosens is in `policy.loosened()`.
    pub allow_loosen: bool,
    /// The orchestrator of a pack, by the pack's name; of one that is not named here its default.
    pub orchestrators: BTreeMap<String, Orchestrator>,
}

impl LoadOptions {
    /// With every file of the project, whoever wrote it: for tests, and for who decided it otherwise.
    pub fn all() -> LoadOptions {
        LoadOptions {
            files: PackFiles::all(),
            ..LoadOptions::default()
        }
    }
}

/// Every mistake of a pack, in the order of its files.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PackErrors {
    pub problems: Vec<Problem>,
}

impl fmt::Display for PackErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

/// One flow of a pack.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedFlow {
    pub flow: Flow,
    /// How messages call its file.
    pub file: String,
}

/// The compiled-in pack with those of the project's own files over it that count. `shared`: the pack whose skills every pack may use.
pub fn load(
    built_in: &BuiltIn,
    shared: Option<&BuiltIn>,
    project: &Path,
    options: &LoadOptions,
) -> Result<Pack, PackErrors> {
    let mut problems = Vec::new();
    let mut warnings = Vec::new();
    if is_left_out(built_in, options) {
        let folder = built_in.path("");
        warnings.push(format!("{folder}: left out, it cannot be trusted"));
    }
    let root = root(built_in, project, options);
    let loaded = read(root, shared, options, &mut problems, &mut warnings);
    match loaded {
        Some(pack) if problems.is_empty() => Ok(Pack { warnings, ..pack }),
        _ => {
            problems.sort();
            problems.dedup();
            Err(PackErrors { problems })
        }
    }
}

/// A file of a pack's `tests/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFile {
    /// In that folder.
    pub name: String,
    /// What messages call it.
    pub file: String,
    pub text: String,
}

/// The files of a pack's `tests/`, the project's over those that are compiled in; a run reads none of them.
pub fn tests(
    built_in: &BuiltIn,
    project: &Path,
    options: &LoadOptions,
) -> Result<Vec<TestFile>, PackErrors> {
    let root = root(built_in, project, options);
    let mut problems = Vec::new();
    let names = root.names(TESTS, &mut problems);
    let mut files = Vec::new();
    for name in names.into_iter().filter(|name| name.ends_with(".yaml")) {
        if let Some(Source { file, text }) = root.source(&format!("{TESTS}/{name}"), &mut problems)
        {
            files.push(TestFile { name, file, text });
        }
    }
    match problems.is_empty() {
        true => Ok(files),
        false => Err(PackErrors { problems }),
    }
}

/// Where its texts are looked for.
fn root<'a>(built_in: &'a BuiltIn, project: &'a Path, options: &LoadOptions) -> Root<'a> {
    let left_out = is_left_out(built_in, options);
    Root {
        built_in,
        project: match options.files.own {
            Use::Project if !left_out => Some(project),
            Use::Project | Use::BuiltIn => None,
        },
    }
}

fn is_left_out(built_in: &BuiltIn, options: &LoadOptions) -> bool {
    let folder = built_in.path("");
    let left_out = &options.files.left_out;
    left_out.contains(folder.trim_end_matches('/'))
}

/// All that can be read of it; None where too little can to be a pack. Each mistake is among the problems.
fn read(
    root: Root<'_>,
    shared: Option<&BuiltIn>,
    options: &LoadOptions,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<String>,
) -> Option<Pack> {
    let (manifest, manifest_source) = manifest::load(root, problems)?;
    let before = problems.len();
    let (data, data_sources) = manifest::data(root, &manifest, &manifest_source.file, problems);
    let is_whole = problems.len() == before;
    let data = Arc::new(data);
    let left_out = &options.files.left_out;
    let skills = skills::load(root, shared, left_out, problems, warnings);
    let made = orchestrators::made(root, &manifest, options, problems);
    let sources = flows::sources(root, &manifest.flows, problems);
    let remotes = remotes::of(&sources, made.as_ref());
    let known = root.built_in.vocabulary();
    let (mut tools, tool_sources) = tools::load(root, known, problems);
    let called = remotes::tools(&remotes, known, problems);
    let called_ids: Vec<&str> = called.values().map(|tool| tool.id).collect();
    tools.extend(called);
    let vocabulary = tools::named(&tools, root.built_in.vocabulary(), problems);
    let agent_sources = agents::sources(root, problems);
    let mut agents = agents::load(&agent_sources, problems, warnings);
    let (mut policy, policy_sources) = policy(root, options, &vocabulary, problems);
    // Flows call other agents as the program; the policy's rules may still refuse a call, or ask.
    if let Some(policy) = &mut policy {
        policy.grant_program(&called_ids);
    }
    if let Some(policy) = &policy {
        warnings.extend_from_slice(policy.notes());
        grants(&mut agents, policy, warnings);
        guest(&manifest, policy, root.path(MANIFEST), problems);
    }
    for agent in agents.values() {
        for (place, skill) in &agent.wanted_skills {
            if !skills.iter().any(|s| s.name == *skill) {
                problems.push(Problem {
                    file: agent.source.clone(),
                    place: *place,
                    message: format!("there is no skill {skill:?}"),
                });
            }
        }
    }
    // A file of data that cannot be read is one mistake: what the flows say of it is none.
    let known_data = is_whole.then_some(&data);
    let of_flows = OfFlows {
        agents: &agents,
        vocabulary: &vocabulary,
        data: known_data,
        remotes: &remotes,
        has_orchestrators: manifest.orchestrators.is_some(),
    };
    let before = problems.len();
    let mut flows = flows(&sources, &of_flows, made.as_ref(), problems);
    if let Some(made) = &made {
        made.in_its_words(problems.get_mut(before..).unwrap_or_default());
    }
    if let Some(team) = &manifest.orchestrators {
        orchestrators::flows_are_there(team, &sources, &manifest_source.file, problems);
    }
    if let Some(policy) = &policy {
        delegates::attach(&mut flows, &tools, &agents, policy, problems);
        for loaded in flows.values() {
            tool_steps(&loaded.flow, policy, &loaded.file, problems);
        }
    }
    let offline_source = root.source(OFFLINE_FILE, problems);
    let offline = offline_source.as_ref().and_then(|source| {
        let read = yaml::read(&source.text, &source.file);
        read.map_err(|problem| problems.push(problem)).ok()
    });
    let entry = flows.get(&manifest.entry).cloned();
    // Of one that is to be made of another flow it is told where that says so.
    let is_made = manifest.flows.contains_key(&manifest.entry);
    if entry.is_none() && !is_made && !sources.has(&manifest.entry) {
        problems.push(Problem {
            file: manifest_source.file.clone(),
            place: Place::default(),
            message: format!(
                "the pack begins with the flow {:?}, and there is no {}",
                manifest.entry,
                root.path(&flow_path(&manifest.entry))
            ),
        });
    }

    let mut texts: Vec<(String, &Source)> = Vec::new();
    let named = |(name, source)| (format!("agents/{name}"), source);
    texts.extend(agent_sources.iter().map(named));
    texts.extend(sources.texts());
    texts.extend(
        policy_sources
            .iter()
            .map(|(name, source)| ((*name).to_owned(), source)),
    );
    if !manifest_source.text.is_empty() {
        texts.push((MANIFEST.to_owned(), &manifest_source));
    }
    texts.extend(
        data_sources
            .iter()
            .map(|(path, source)| (path.clone(), source)),
    );
    texts.extend(
        offline_source
            .iter()
            .map(|source| (OFFLINE_FILE.to_owned(), source)),
    );
    texts.extend(
        tool_sources
            .iter()
            .map(|(path, source)| (path.clone(), source)),
    );
    let beside = made.as_ref().filter(|made| !made.given);
    texts.extend(beside.map(|made| (orchestrators::FOLDER.to_owned(), &made.source)));
    let own = texts.iter().filter(|(_, source)| !source.is_built_in());
    let mut overrides: Vec<String> = own.clone().map(|(_, source)| source.file.clone()).collect();
    for (_, source) in own {
        keys::in_text(&source.file, &source.text, problems);
    }
    for skill in &skills {
        if let SkillSource::Project(folder) = &skill.source {
            overrides.push(format!("{folder}/{}/SKILL.md", skill.name));
            let folder = format!("{folder}/{}", skill.name);
            keys::in_skill(&folder, &skill.place, problems);
        }
    }
    // A file that the user named is none of the folder's.
    if let Some(made) = made.as_ref().filter(|made| made.given) {
        keys::in_text(&made.source.file, &made.source.text, problems);
        texts.push((orchestrators::FOLDER.to_owned(), &made.source));
    }
    overrides.sort();
    // One file may be several flows.
    overrides.dedup();
    let hash = hash(&texts, &skills);
    let LoadedFlow { flow, file } = entry?;
    let named = Some(root.built_in.name()).filter(|name| !name.is_empty());
    let known = orchestrators::names(root, problems);
    Some(Pack {
        orchestrators: known,
        orchestrator: made.map(orchestrators::in_force),
        named: named.map(str::to_owned),
        manifest,
        agents,
        flow,
        flow_file: file,
        flows,
        data,
        offline: offline.map(|node| Arc::new(node.to_json())),
        policy: policy?,
        tools,
        skills,
        hash,
        warnings: Vec::new(),
        overrides,
    })
}

/// The policy in force. A project's own tightens the compiled-in one; a pack that is the project's alone has only its own.
fn policy(
    root: Root<'_>,
    options: &LoadOptions,
    vocabulary: &Vocabulary,
    problems: &mut Vec<Problem>,
) -> (Option<Policy>, Vec<(&'static str, Source)>) {
    let own = root.own(POLICY_FILE, problems);
    let Some(base_source) = root.built_in(POLICY_FILE) else {
        let Some(own) = own else {
            problems.push(Problem {
                file: root.path(POLICY_FILE),
                place: Place::default(),
                message: "there is no such file: a pack says who may do what".to_owned(),
            });
            return (None, Vec::new());
        };
        let policy = match Policy::load(&own.text, &own.file, vocabulary) {
            Ok(policy) => Some(policy),
            Err(found) => {
                problems.extend(found);
                None
            }
        };
        return (policy, vec![(POLICY_FILE, own)]);
    };
    let policy = match Policy::load(&base_source.text, &base_source.file, vocabulary) {
        Ok(base) => match &own {
            Some(own) => match base.with_project(&own.text, &own.file, options.allow_loosen) {
                Ok(policy) => Some(policy),
                Err(found) => {
                    problems.extend(found);
                    Some(base)
                }
            },
            None => Some(base),
        },
        Err(found) => {
            problems.extend(found);
            None
        }
    };
    let mut sources = vec![(POLICY_FILE, base_source)];
    sources.extend(own.map(|own| ("project policy", own)));
    (policy, sources)
}

/// sha-256 over every text that a run of the pack follows.
fn hash(texts: &[(String, &Source)], skills: &[SkillHead]) -> String {
    let mut hash = Sha256::new();
    let mut part = |name: &str, text: &str| {
        hash.update(format!("{name}\0{}\0", text.len()));
        hash.update(text);
    };
    for (name, source) in texts {
        part(name, &source.text);
    }
    for skill in skills {
        part(&format!("skills/{}", skill.name), &skill.body);
    }
    hex(&hash.finalize())
}

impl Pack {
    /// Whose words the questions of the flow are; None: the built-in pack's. `own`: the flow words them itself, else an agent did.
    pub fn asked_by(&self, own: bool) -> Option<String> {
        let of = |files: &[&str]| (!files.is_empty()).then(|| files.join(", "));
        if !self.flow_file.starts_with(source::BUILT_IN) {
            return Some(format!("{} of this folder", self.flow_file));
        }
        let agents: Vec<&str> = self
            .agents
            .values()
            .map(|agent| agent.source.as_str())
            .collect();
        let agents: Vec<&str> = agents
            .into_iter()
            .filter(|file| !file.starts_with(source::BUILT_IN))
            .collect();
        of(&agents)
            .filter(|_| !own)
            .map(|files| format!("an agent of this folder ({files})"))
    }

    /// The same pack with another of its flows to run; None: it has no flow of that name.
    pub fn with_flow(mut self, name: &str) -> Option<Pack> {
        let chosen = self.flows.get(name)?.clone();
        self.flow = chosen.flow;
        self.flow_file = chosen.file;
        if self.manifest.entry != name {
            self.named = Some(format!("{}/{name}", self.manifest.name));
            self.manifest.entry = name.to_owned();
        }
        Some(self)
    }

    /// An agent of the pack's orchestrators as a pack of its own, under the agent's name: its flow runs, and no door is described but that
    /// for other agents. None: there is no such agent, or its flow is not there.
    pub fn with_agent(self, name: &str) -> Option<Pack> {
        let member = self.manifest.orchestrators.as_ref()?.agents.get(name)?;
        let flow = member.flow.clone();
        let mut pack = self.with_flow(&flow)?;
        let told = pack.agents.get(name).map(|agent| &agent.description);
        let manifest = &mut pack.manifest;
        manifest.description = told.cloned().unwrap_or_default();
        manifest.title = name.to_owned();
        manifest.name = name.to_owned();
        manifest.channels = Channels {
            is_served: true,
            a2a: std::mem::take(&mut manifest.channels.a2a).of_agent(name),
            finishes: manifest.channels.finishes,
            ..Channels::default()
        };
        Some(pack)
    }

    pub fn skill(&self, name: &str) -> Option<&SkillHead> {
        self.skills.iter().find(|s| s.name == name)
    }
}

/// The role as which other agents use tools is one of the policy's.
fn guest(manifest: &Manifest, policy: &Policy, file: String, problems: &mut Vec<Problem>) {
    let Some(guest) = &manifest.channels.a2a.tools else {
        return;
    };
    let roles: Vec<&str> = policy.roles().map(|(role, _)| role).collect();
    if !roles.contains(&guest.role.as_str()) {
        problems.push(Problem {
            file,
            place: guest.place,
            message: format!(
                "channels.a2a.tools: the policy has no role {:?}; it has {}",
                guest.role,
                roles.join(", ")
            ),
        });
    }
}

/// What an agent gets is what it wants and the policy grants; what it wants in vain is said once, here.
fn grants(agents: &mut IndexMap<String, Agent>, policy: &Policy, warnings: &mut Vec<String>) {
    for (name, agent) in agents {
        let granted = policy.allowed_tools(name);
        match &agent.wanted_tools {
            None => agent.tools = granted,
            Some(wanted) => {
                for (place, tool) in wanted {
                    if granted.contains(tool) {
                        continue;
                    }
                    let line = place.line;
                    let source = &agent.source;
                    let why = if policy.vocabulary().is_tool(tool) || split_foreign(tool).is_some()
                    {
                        format!(
                            "the policy does not grant {tool} to {name}; the agent will not see it"
                        )
                    } else {
                        format!("there is no tool {tool:?}; the agent will not see it")
                    };
                    warnings.push(format!("{source}:{line}: {why}"));
                }
                agent.tools = wanted
                    .iter()
                    .map(|(_, tool)| tool.clone())
                    .filter(|tool| granted.contains(tool))
                    .collect();
                agent.tools.sort();
                agent.tools.dedup();
            }
        }
    }
}

/// A tool step that its role may never take would fail every run: it is a mistake of the pack.
fn tool_steps(flow: &Flow, policy: &Policy, file: &str, problems: &mut Vec<Problem>) {
    for step in flow.all_steps() {
        if let flow::StepKind::Tool(spec) = &step.kind
            && !policy.allowed_tools(&spec.role).contains(&spec.tool)
        {
            problems.push(Problem {
                file: file.to_owned(),
                place: step.place,
                message: format!(
                    "the step {:?} calls {} as {}, which the policy denies",
                    step.id, spec.tool, spec.role
                ),
            });
        }
    }
}
