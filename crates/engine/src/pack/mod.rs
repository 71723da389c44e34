//! A pack: agents, flow, policy and skills, read from the files that a program brings and, where they count, from the project. Every mistake in it is
//! reported in one pass, with file and line. Reads files below the project and nothing else; never writes; decides nothing.

mod agents;
mod built_in;
mod files;
mod frontmatter;
mod keys;
mod skills;
mod source;
#[cfg(test)]
mod vocabulary_tests;

pub use agents::{Agent, Tier};
pub use built_in::BuiltIn;
pub use files::{MAX_PACK_FILE, PackFiles, SKILL_FOLDERS, Use, is_agent_file, is_called_flow};
pub use skills::{SkillHead, SkillSource};

use crate::flow::{self, Flow, FlowFile, Known, StepKind};
use crate::policy::Policy;
use agentctl_base::canonical::hex;
use agentctl_base::foreign::split_foreign;
use agentctl_base::yaml::Problem;
use files::flow_name;
use indexmap::IndexMap;
use sha2::{Digest, Sha256};
use source::{Source, own_text, unreadable};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    /// By name, sorted.
    pub agents: IndexMap<String, Agent>,
    pub flow: Flow,
    pub policy: Policy,
    /// Sorted by name.
    pub skills: Vec<SkillHead>,
    /// sha-256 (hex) over agents, flow, policy and the skills' texts.
    pub hash: String,
    pub warnings: Vec<String>,
    /// The project's files that stand in place of built-in ones, or beside them, as paths below the project: agents, flow, policy,
    /// skills (by their SKILL.md). Sorted.
    pub overrides: Vec<String>,
}

/// A project's own flow and policy, as `Pack::overrides` names them.
pub const FLOW_FILE: &str = "agents/flow.yaml";
pub const POLICY_FILE: &str = "agents/policy.yaml";

/// How a pack is loaded. The default is the built-in pack alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Which of the project's files count, as `trust` decided.
    pub files: PackFiles,
    /// Let the project's policy allow more than the built-in one. What it loosens is in `policy.loosened()`.
    pub allow_loosen: bool,
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

/// The built-in pack with those of the project's own files over it that count.
pub fn load(built_in: &BuiltIn, project: &Path, options: &LoadOptions) -> Result<Pack, PackErrors> {
    let own = match options.files.own {
        Use::Project => Some(project),
        Use::BuiltIn => None,
    };
    let mut problems = Vec::new();
    let mut warnings = Vec::new();

    let vocabulary = built_in.vocabulary();
    let left_out = &options.files.left_out;
    let skills = skills::load(built_in, own, left_out, &mut problems, &mut warnings);
    let sources = agents::sources(built_in, own, is_agent_file, &mut problems);
    let called = agents::sources(built_in, own, is_called_flow, &mut problems);
    let mut agents = agents::load(&sources, &mut problems, &mut warnings);

    let policy_text = built_in.agent_file("policy.yaml");
    let project_policy = read_project(own, POLICY_FILE, &mut problems);
    let policy = match Policy::load(&policy_text, &format!("built-in {POLICY_FILE}"), vocabulary) {
        Ok(base) => match &project_policy {
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
    if let Some(policy) = &policy {
        warnings.extend_from_slice(policy.notes());
        grants(&mut agents, policy, &mut warnings);
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

    let flow_source = read_project(own, FLOW_FILE, &mut problems).unwrap_or_else(|| Source {
        file: format!("built-in {FLOW_FILE}"),
        text: built_in.agent_file("flow.yaml"),
    });
    // No pack brings data files yet: a flow that reads one is told so.
    let data = Arc::default();
    let names: Vec<String> = agents.keys().cloned().collect();
    let known = Known {
        agents: Some(&names),
        vocabulary: Some(vocabulary),
        data: Some(&data),
    };
    let others = flow_files(&called);
    let flow = match flow::load_with(&flow_source.text, &flow_source.file, known, &others) {
        Ok(mut flow) => {
            if flow_source.file == FLOW_FILE {
                let base = built_in.agent_file("flow.yaml");
                let file = format!("built-in {FLOW_FILE}");
                // Its agents are not asked for: the project's may be others.
                let known = Known {
                    agents: None,
                    vocabulary: Some(vocabulary),
                    data: Some(&data),
                };
                let called = agents::sources(built_in, None, is_called_flow, &mut problems);
                match flow::load_with(&base, &file, known, &flow_files(&called)) {
                    Ok(base) => flow.inherit(&base),
                    // Without it the guards of its fields would be gone.
                    Err(found) => problems.extend(found),
                }
            }
            Some(flow)
        }
        Err(found) => {
            problems.extend(found);
            None
        }
    };
    if let (Some(flow), Some(policy)) = (&flow, &policy) {
        for called_or_own in flow.flows() {
            let file = file_of(called_or_own, flow, &called).unwrap_or(&flow_source.file);
            tool_steps(called_or_own, policy, file, &mut problems);
        }
    }

    let mut overrides: Vec<String> = sources
        .values()
        .chain(called.values())
        .chain(project_policy.as_ref())
        .chain([&flow_source])
        .filter(|source| !source.file.starts_with("built-in"))
        .map(|source| source.file.clone())
        .collect();
    for skill in &skills {
        if let SkillSource::Project(folder) = &skill.source {
            overrides.push(format!("{folder}/{}/SKILL.md", skill.name));
        }
    }
    overrides.sort();
    let project_texts = sources
        .values()
        .chain(called.values())
        .chain(project_policy.as_ref())
        .chain([&flow_source])
        .filter(|source| !source.file.starts_with("built-in"));
    for source in project_texts {
        keys::in_text(&source.file, &source.text, &mut problems);
    }
    for skill in &skills {
        if let SkillSource::Project(folder) = &skill.source {
            keys::in_skill(
                &format!("{folder}/{}", skill.name),
                &skill.place,
                &mut problems,
            );
        }
    }

    let mut hash = Sha256::new();
    let mut part = |name: &str, text: &str| {
        hash.update(format!("{name}\0{}\0", text.len()));
        hash.update(text);
    };
    for (name, source) in &sources {
        part(&format!("agents/{name}"), &source.text);
    }
    part(FLOW_FILE, &flow_source.text);
    for (name, source) in &called {
        part(&format!("agents/{name}"), &source.text);
    }
    part(POLICY_FILE, &policy_text);
    part(
        "project policy",
        project_policy.as_ref().map_or("", |s| &s.text),
    );
    for skill in &skills {
        part(&format!("skills/{}", skill.name), &skill.body);
    }
    let hash = hex(&hash.finalize());

    match (flow, policy) {
        (Some(flow), Some(policy)) if problems.is_empty() => Ok(Pack {
            agents,
            flow,
            policy,
            skills,
            hash,
            warnings,
            overrides,
        }),
        _ => {
            problems.sort();
            problems.dedup();
            Err(PackErrors { problems })
        }
    }
}

impl Pack {
    /// Whose words the questions of the flow are; None: the built-in pack's. `own`: the flow words them itself, else an agent did.
    pub fn asked_by(&self, own: bool) -> Option<String> {
        let of = |files: &[&str]| (!files.is_empty()).then(|| files.join(", "));
        let is_flow = |file: &&String| *file == FLOW_FILE || is_called_flow(file);
        let flows: Vec<&str> = (self.overrides.iter().filter(is_flow))
            .map(String::as_str)
            .collect();
        if !flows.is_empty() {
            return Some(format!("{} of this folder", flows.join(", ")));
        }
        let agents: Vec<&str> = self
            .agents
            .values()
            .map(|agent| agent.source.as_str())
            .collect();
        let agents: Vec<&str> = agents
            .into_iter()
            .filter(|file| !file.starts_with("built-in"))
            .collect();
        of(&agents)
            .filter(|_| !own)
            .map(|files| format!("an agent of this folder ({files})"))
    }

    pub fn skill(&self, name: &str) -> Option<&SkillHead> {
        self.skills.iter().find(|s| s.name == name)
    }
}

/// The flows that others call, as they are read.
fn flow_files(called: &IndexMap<String, Source>) -> Vec<FlowFile<'_>> {
    let files = called.iter().filter_map(|(name, source)| {
        Some(FlowFile {
            name: flow_name(name)?,
            file: &source.file,
            text: &source.text,
        })
    });
    files.collect()
}

/// The file of a flow that others call; None: it is the pack's own.
fn file_of<'s>(
    of: &Flow,
    whole: &Flow,
    called: &'s IndexMap<String, Source>,
) -> Option<&'s String> {
    let name = whole
        .steps_of_all()
        .into_iter()
        .find_map(|step| match &step.kind {
            StepKind::Call(call) if std::ptr::eq(&*call.flow, of) => Some(call.name.as_str()),
            _ => None,
        })?;
    let source = called
        .iter()
        .find(|(file, _)| flow_name(file) == Some(name));
    source.map(|(_, source)| &source.file)
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

/// A file of the project; None: there is none, or the project does not count. One that cannot be read is a problem, never a silent default.
fn read_project(
    project: Option<&Path>,
    relative: &str,
    problems: &mut Vec<Problem>,
) -> Option<Source> {
    let project = project?;
    match own_text(project, Path::new(relative)) {
        Ok(Some(text)) => Some(Source {
            file: relative.to_owned(),
            text,
        }),
        // A link to nothing is no file that was left out.
        Ok(None) if project.join(relative).is_symlink() => {
            problems.push(unreadable(relative, &std::io::ErrorKind::NotFound.into()));
            None
        }
        Ok(None) => None,
        Err(error) => {
            problems.push(unreadable(relative, &error));
            None
        }
    }
}
