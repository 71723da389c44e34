//! The flows of a pack: those of its files, and those that are made of a pattern.

use super::agents::Agent;
use super::files::flow_name;
use super::manifest::{self, Instance, MAIN_FLOW};
use super::orchestrators::{Made, ORCHESTRATOR};
use super::remotes;
use super::root::Root;
use super::source::Source;
use super::{FLOW_FILE, LoadedFlow};
use crate::flow::{self, Flow, FlowFile, Known, RemoteAgent, Written};
use crate::vocabulary::Vocabulary;
use agentctl_base::yaml::{self, Node, Problem};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The path of a flow's file below the pack's folder.
pub(super) fn flow_path(name: &str) -> String {
    match name {
        MAIN_FLOW => FLOW_FILE.to_owned(),
        name => format!("agents/{name}.flow.yaml"),
    }
}

/// What the flows of a pack are read with.
pub(super) struct OfFlows<'a> {
    pub agents: &'a IndexMap<String, Agent>,
    pub vocabulary: &'a Vocabulary,
    pub data: Option<&'a Arc<Map<String, Value>>>,
    /// The other agents that steps call.
    pub remotes: &'a BTreeSet<RemoteAgent>,
    /// Steps may call the flow that the one in force is.
    pub has_orchestrators: bool,
}

/// What the flows of a pack are read from, by name.
pub(super) struct Sources {
    of: IndexMap<String, FlowSource>,
    /// The compiled-in ones under those of the project.
    bases: IndexMap<String, Source>,
}

/// A flow's text, and what was read of it.
struct FlowSource {
    source: Source,
    /// None: it cannot be read.
    root: Option<Node>,
}

impl FlowSource {
    fn of(source: Source) -> FlowSource {
        let root = yaml::read(&source.text, &source.file).ok();
        FlowSource { source, root }
    }

    /// Of one that cannot be read the text, whose reader says why.
    fn written(&self) -> Written<'_> {
        let tree = self.root.as_ref().map(Written::Tree);
        tree.unwrap_or(Written::Text(&self.source.text))
    }
}

impl Sources {
    /// The flows that the steps of each call.
    pub fn calls(&self) -> impl Iterator<Item = Vec<String>> {
        let read = self.of.values();
        read.map(|flow| flow::called_by(flow.written(), &flow.source.file))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.of.keys().map(String::as_str)
    }

    pub fn has(&self, flow: &str) -> bool {
        self.of.contains_key(flow)
    }

    /// The JSON Schema of what a flow gives; None: it says none, or cannot be read, which is told elsewhere.
    pub fn output(&self, flow: &str) -> Option<Value> {
        let root = self.of.get(flow)?.root.as_ref()?;
        Some(root.get("output")?.get("schema")?.to_json())
    }

    /// Each with its path below the pack's folder.
    pub fn texts(&self) -> impl Iterator<Item = (String, &Source)> {
        self.of
            .iter()
            .map(|(name, flow)| (flow_path(name), &flow.source))
    }
}

/// The files of a pack's flows, and those that are made of a pattern.
pub(super) fn sources(
    root: Root<'_>,
    instances: &BTreeMap<String, Instance>,
    problems: &mut Vec<Problem>,
) -> Sources {
    let mut of = IndexMap::new();
    let mut bases = IndexMap::new();
    for file in root.names("agents", problems) {
        let Some(name) = flow_name(&file) else {
            continue;
        };
        let path = flow_path(name);
        if let Some(source) = root.source(&path, problems) {
            if !source.is_built_in()
                && let Some(base) = root.built_in(&path)
            {
                bases.insert(name.to_owned(), base);
            }
            of.insert(name.to_owned(), source);
        }
    }
    manifest::instantiate(instances, &mut of, problems);
    let of = of.into_iter();
    let of = of.map(|(name, source)| (name, FlowSource::of(source)));
    Sources {
        of: of.collect(),
        bases,
    }
}

/// The flows by name: those of the files, the orchestrator in force, and those that other agents are called by.
pub(super) fn flows(
    sources: &Sources,
    of: &OfFlows<'_>,
    made: Option<&Made>,
    problems: &mut Vec<Problem>,
) -> IndexMap<String, LoadedFlow> {
    let names: Vec<String> = of.agents.keys().cloned().collect();
    let known = Known {
        agents: Some(&names),
        vocabulary: Some(of.vocabulary),
        data: of.data,
    };
    let remotes = of.remotes.iter();
    let remotes: Vec<(String, String)> = remotes
        .map(|remote| (remote.flow(), remotes::flow_of(remote, sources)))
        .collect();
    let mut files: Vec<FlowFile<'_>> = Vec::new();
    files.extend(sources.of.iter().map(|(name, flow)| FlowFile {
        name,
        file: &flow.source.file,
        of: flow.written(),
    }));
    files.extend(remotes.iter().map(|(name, text)| FlowFile {
        name,
        file: name,
        of: Written::Text(text),
    }));
    files.extend(made.map(|made| FlowFile {
        name: ORCHESTRATOR,
        file: &made.source.file,
        of: Written::Tree(&made.root),
    }));
    // One that is wrong itself was told; that others call it is no mistake of theirs.
    if made.is_none() && of.has_orchestrators {
        files.push(FlowFile {
            name: ORCHESTRATOR,
            file: ORCHESTRATOR,
            of: Written::Text("name: orchestrator\nsteps: [{id: none, end: true}]\n"),
        });
    }
    let (read, found) = flow::load_all(files.iter().copied(), known);
    problems.extend(found);
    let mut flows = IndexMap::new();
    for FlowFile { name, file, .. } in files {
        let Some(flow) = read.get(name) else { continue };
        let mut flow = Flow::clone(flow);
        if let Some(base) = sources.bases.get(name) {
            // Its agents are not asked for: the project's may be others.
            let known = Known {
                agents: None,
                ..known
            };
            match flow::load_beside(Written::Text(&base.text), &base.file, known, &read) {
                Ok(base) => flow.inherit(&base),
                // Without it the guards of its fields would be gone.
                Err(found) => problems.extend(found),
            }
        }
        let file = file.to_owned();
        flows.insert(name.to_owned(), LoadedFlow { flow, file });
    }
    flows
}
