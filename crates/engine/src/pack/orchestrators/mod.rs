//! Orchestrators: JSON files of a pack, or of a user, that say which of the pack's agents work on a request and in which order. Each is
//! checked against its published schema and made into a flow, which the pack's own flows call; the engine knows no second way to run one.

mod compile;
mod names;
#[cfg(test)]
mod orchestrators_tests;

use super::LoadOptions;
use super::flows::Sources;
use super::manifest::{MANIFEST, Manifest, at, is_name};
use super::root::Root;
use super::source::Source;
use crate::flow::Schema;
use crate::nearest::nearest;
use agentctl_base::yaml::{self, Node, Place, Problem, Problems};
use indexmap::IndexMap;
use std::sync::LazyLock;

/// The flow that the chosen orchestrator is, for the steps of others to call.
pub const ORCHESTRATOR: &str = "orchestrator";
/// The folder, below the pack's.
pub(super) const FOLDER: &str = "orchestrators";

/// What a file must be, as it is published.
const FORM: &str = include_str!("../../../../../docs/schemas/orchestrator.schema.json");

static SCHEMA: LazyLock<Result<Schema, String>> = LazyLock::new(|| {
    let value = serde_json::from_str(FORM).map_err(|e| e.to_string())?;
    Schema::compile(value)
});

/// What a pack says of its orchestrators: `orchestrators` of pack.yaml.
#[derive(Debug, Clone, PartialEq)]
pub struct Orchestrators {
    /// The one that works where none is named.
    pub default: String,
    /// What of the orchestrator's own input every agent is given, by name.
    pub input: Vec<String>,
    /// Who may work in one, by name.
    pub agents: IndexMap<String, Member>,
}

/// An agent of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The flow of its work.
    pub flow: String,
    /// It works whichever agents were asked for.
    pub always: bool,
    place: Place,
}

/// Which orchestrator was chosen for a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Orchestrator {
    /// `orchestrators/NAME.json` of the pack.
    Named(String),
    /// A file of the user's own.
    Given { file: String, text: String },
}

/// What is known of the orchestrator that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    /// How a later resume finds it: a name, or the path of a file; None: it is the pack's default.
    pub chosen: Option<String>,
    /// Who may be asked for, sorted.
    pub agents: Vec<String>,
    /// Its file, as it is.
    pub text: String,
}

pub(super) fn in_force(made: Made) -> InForce {
    InForce {
        chosen: made.chosen,
        agents: made.agents,
        text: made.source.text,
    }
}

/// The one in force, as it was read.
pub(super) struct Made {
    pub source: Source,
    pub root: Node,
    /// What was made of the file, as mistakes name it, each with the file's own words.
    words: Vec<(String, String)>,
    /// How a later resume finds it; None: it is the pack's default.
    pub chosen: Option<String>,
    /// It is no file of the pack or the project.
    pub given: bool,
    /// Who may be asked for.
    pub agents: Vec<String>,
}

impl Made {
    /// Tells what is wrong with the file in its own words.
    pub fn in_its_words(&self, problems: &mut [Problem]) {
        let of_file = problems.iter_mut().filter(|p| p.file == self.source.file);
        for problem in of_file {
            for (made, said) in &self.words {
                problem.message = problem.message.replace(made.as_str(), said);
            }
        }
    }
}

const KEYS: [&str; 3] = ["default", "input", "agents"];
const MEMBER_KEYS: [&str; 2] = ["flow", "always"];

/// `orchestrators` of pack.yaml.
pub(super) fn section(node: Option<&Node>, problems: &mut Problems) -> Option<Orchestrators> {
    let node = node?;
    unknown(node, "orchestrators", &KEYS, problems);
    let default = node.get("default").and_then(Node::as_text);
    if !default.is_some_and(is_name) {
        problems.add(
            node.place,
            "orchestrators need `default`: the name of a file in orchestrators/",
        );
    }
    let mut input = Vec::new();
    for item in node.items("input") {
        match item.as_text().filter(|name| is_name(name)) {
            Some(name) => input.push(name.to_owned()),
            None => problems.add(
                item.place,
                "input lists names of what an orchestrator is given",
            ),
        }
    }
    let mut agents = IndexMap::new();
    for entry in node.entries("agents") {
        unknown(
            &entry.value,
            "agents of orchestrators",
            &MEMBER_KEYS,
            problems,
        );
        let flow = entry.value.get("flow").and_then(Node::as_text);
        let Some(flow) = flow.filter(|_| is_name(&entry.key)) else {
            problems.add(
                entry.key_place,
                "an agent of an orchestrator has a name and a `flow`",
            );
            continue;
        };
        let always = entry.value.get("always").and_then(Node::as_bool);
        let member = Member {
            flow: flow.to_owned(),
            always: always.unwrap_or(false),
            place: entry.key_place,
        };
        agents.insert(entry.key.clone(), member);
    }
    if agents.is_empty() {
        problems.add(
            node.place,
            "orchestrators need `agents`: who may work in one",
        );
    }
    Some(Orchestrators {
        default: default.unwrap_or_default().to_owned(),
        input,
        agents,
    })
}

fn unknown(node: &Node, what: &str, keys: &[&str], problems: &mut Problems) {
    for entry in node.as_map().unwrap_or_default() {
        if !keys.contains(&entry.key.as_str()) {
            problems.add(
                entry.key_place,
                format!(
                    "{what} have no {:?}; there are {}",
                    entry.key,
                    keys.join(", ")
                ),
            );
        }
    }
    if node.as_map().is_none() {
        problems.add(
            node.place,
            format!("{what} must be a map of {}", keys.join(", ")),
        );
    }
}

/// The names of a pack's orchestrators, sorted.
pub(super) fn names(root: Root<'_>, problems: &mut Vec<Problem>) -> Vec<String> {
    let files = root.names(FOLDER, problems);
    let names = files.iter().filter_map(|file| file.strip_suffix(".json"));
    names
        .filter(|name| is_name(name))
        .map(str::to_owned)
        .collect()
}

/// Reads and compiles the chosen one. None: the pack has none, or it has mistakes, which are told.
pub(super) fn made(
    root: Root<'_>,
    manifest: &Manifest,
    options: &LoadOptions,
    problems: &mut Vec<Problem>,
) -> Option<Made> {
    let chosen = options.orchestrators.get(&manifest.name);
    let mut wrong = |file: String, message: String| {
        problems.push(Problem {
            file,
            place: Place::default(),
            message,
        });
    };
    let Some(team) = &manifest.orchestrators else {
        if chosen.is_some() {
            let message = format!(
                "the pack {} has no orchestrators to choose from",
                manifest.name
            );
            wrong(root.path(MANIFEST), message);
        }
        return None;
    };
    let file_name = match chosen {
        Some(Orchestrator::Named(name)) => name.as_str(),
        _ => team.default.as_str(),
    };
    let (source, named, given) = match chosen {
        Some(Orchestrator::Given { file, text }) => {
            let source = Source {
                file: file.clone(),
                text: text.clone(),
            };
            (source, Some(file.clone()), true)
        }
        named => {
            let name = file_name;
            let path = format!("{FOLDER}/{name}.json");
            let source = is_name(name)
                .then(|| root.source(&path, problems))
                .flatten();
            let Some(source) = source else {
                let known = names(root, problems);
                let near = nearest(name, known.iter().map(String::as_str));
                let message = format!(
                    "there is no orchestrator {name:?}{near}; there are {}, and a file of your own is named by its path",
                    known.join(", ")
                );
                problems.push(Problem {
                    file: root.path(FOLDER),
                    place: Place::default(),
                    message,
                });
                return None;
            };
            (source, named.map(|_| name.to_owned()), false)
        }
    };
    let read = read(&source, problems)?;
    let mut found = Problems::new(&source.file);
    if let Some(id) = read
        .get("id")
        .filter(|id| !given && id.as_text() != Some(file_name))
    {
        let message = format!("the id of an orchestrator is the name of its file: {file_name:?}");
        found.add(id.place, message);
    }
    let (root, words) = compile::compile(&read, team, &mut found);
    let whole = found.is_empty();
    problems.extend(found.into_sorted());
    let agents = compile::agents(&read, team);
    whole.then_some(Made {
        agents,
        source,
        root,
        words,
        chosen: named,
        given,
    })
}

/// The file as a tree, when it has the form of one.
fn read(source: &Source, problems: &mut Vec<Problem>) -> Option<Node> {
    let mut wrong = |place: Place, message: String| {
        problems.push(Problem {
            file: source.file.clone(),
            place,
            message,
        });
    };
    // Read as JSON first: what YAML has besides is not for these files.
    let value: serde_json::Value = match serde_json::from_str(&source.text) {
        Ok(value) => value,
        Err(e) => {
            let place = Place {
                line: e.line() as u64,
                column: e.column() as u64,
            };
            let said = e.to_string();
            let said = said.split(" at line ").next().unwrap_or_default();
            wrong(place, format!("not valid JSON: {said}"));
            return None;
        }
    };
    let node = match yaml::read(&source.text, &source.file) {
        Ok(node) => node,
        Err(problem) => {
            problems.push(problem);
            return None;
        }
    };
    let faults = match &*SCHEMA {
        Ok(schema) => schema.places(&value),
        Err(why) => vec![(String::new(), why.clone())],
    };
    let whole = faults.is_empty();
    for (pointer, what) in faults {
        let place = at(&node, &pointer);
        wrong(unexpected(&node, place, &what).unwrap_or(place), what);
    }
    whole.then_some(node)
}

/// The place of a key that a map must not have, of which the message names it and the place is the map's.
fn unexpected(node: &Node, place: Place, what: &str) -> Option<Place> {
    let entries = node.as_map().unwrap_or_default();
    if node.place == place {
        let named = |key: &str| what.contains(&format!("'{key}' was unexpected"));
        let found = entries.iter().find(|entry| named(&entry.key));
        if let Some(entry) = found {
            return Some(entry.key_place);
        }
    }
    let inside = entries.iter().map(|entry| &entry.value);
    let mut all = inside.chain(node.as_list().unwrap_or_default());
    all.find_map(|node| unexpected(node, place, what))
}

/// Each agent's flow has to be one of the pack's.
pub(super) fn flows_are_there(
    team: &Orchestrators,
    flows: &Sources,
    file: &str,
    problems: &mut Vec<Problem>,
) {
    for (name, member) in &team.agents {
        if !flows.has(&member.flow) {
            let near = nearest(&member.flow, flows.names());
            problems.push(Problem {
                file: file.to_owned(),
                place: member.place,
                message: format!(
                    "{name} works by the flow {:?}, which there is not{near}",
                    member.flow
                ),
            });
        }
    }
}
