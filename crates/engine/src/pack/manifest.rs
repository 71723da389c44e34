//! `pack.yaml`: what a pack is called, which flow begins, what it needs, and which data its flows read.

use super::channels::{self, Channels};
use super::orchestrators::{self, Orchestrators};
use super::root::Root;
use super::source::{BUILT_IN, Source};
use agentctl_base::yaml::{self, Node, Place, Problem, Problems};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The file, below the pack's folder.
pub const MANIFEST: &str = "pack.yaml";

/// What a pack says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Manifest {
    pub name: String,
    /// One line for lists.
    pub title: String,
    pub description: String,
    /// The flow that begins: `turn` for `agents/turn.flow.yaml`; `flow` for `agents/flow.yaml`.
    pub entry: String,
    /// The pack to talk with where this one is chosen; "": itself.
    pub chat: String,
    /// What has to be there before a run begins. The words are the program's, not the engine's.
    pub requires: Vec<String>,
    /// Name → path below the pack's folder.
    pub data: BTreeMap<String, String>,
    /// Messages that a flow of the pack answers by itself, for `/help`: the word, which begins with a slash, and what it does.
    pub commands: BTreeMap<String, String>,
    /// How requests from outside are read and answered.
    pub channels: Channels,
    /// Flows that are made of another one's file, by name.
    pub flows: BTreeMap<String, Instance>,
    /// Who may work in an orchestrator, where the pack has some.
    pub orchestrators: Option<Orchestrators>,
}

/// A flow that is made of a pattern: `${NAME}` in that file becomes the value of the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The name of the pattern: `sub` for `agents/sub.flow.yaml`. A pattern is no flow itself.
    pub from: String,
    pub values: BTreeMap<String, String>,
    place: Place,
}

const KEYS: &[&str] = &[
    "name",
    "title",
    "description",
    "entry",
    "chat",
    "requires",
    "data",
    "commands",
    "channels",
    "flows",
    "orchestrators",
];

/// The flow of `agents/flow.yaml`.
pub const MAIN_FLOW: &str = "flow";

/// Reads the manifest. None: there is none, or it cannot be read.
pub(super) fn load(root: Root<'_>, problems: &mut Vec<Problem>) -> Option<(Manifest, Source)> {
    let name = root.built_in.name();
    let source = match name {
        // A file of that name in a project's own folder may be anything.
        "" => root.built_in(MANIFEST),
        _ => root.source(MANIFEST, problems),
    };
    let Some(source) = source else {
        // The pack whose folder is the project itself may be told by its flow alone.
        if name.is_empty() {
            let manifest = Manifest {
                entry: MAIN_FLOW.to_owned(),
                ..Manifest::default()
            };
            let source = Source {
                file: format!("{BUILT_IN}{MANIFEST}"),
                text: String::new(),
            };
            return Some((manifest, source));
        }
        problems.push(Problem {
            file: root.path(MANIFEST),
            place: yaml::Place::default(),
            message: format!("there is no such file, so there is no pack {name:?}"),
        });
        return None;
    };
    match yaml::read(&source.text, &source.file) {
        Ok(node) => {
            let mut found = Problems::new(&source.file);
            let manifest = read(&node, root.built_in.name(), &mut found);
            problems.extend(found.into_sorted());
            Some((manifest, source))
        }
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

fn read(node: &Node, folder: &str, problems: &mut Problems) -> Manifest {
    let Some(entries) = node.as_map() else {
        problems.add(node.place, "a pack is a map of name, title, entry and more");
        return Manifest::default();
    };
    for entry in entries {
        if !KEYS.contains(&entry.key.as_str()) {
            problems.add(
                entry.key_place,
                format!("a pack has no {:?}; it has {}", entry.key, KEYS.join(", ")),
            );
        }
    }
    let mut text = |key: &str| match node.get(key) {
        None => String::new(),
        Some(value) => value.as_text().map_or_else(
            || {
                problems.add(
                    value.place,
                    format!("{key} is {}, not text", value.kind_name()),
                );
                String::new()
            },
            |text| text.trim().to_owned(),
        ),
    };
    let (name, title, description) = (text("name"), text("title"), text("description"));
    let (mut entry, chat) = (text("entry"), text("chat"));
    if entry.is_empty() {
        entry = MAIN_FLOW.to_owned();
    }
    let name_place = node.get("name").map_or(node.place, |n| n.place);
    if !is_name(&name) {
        problems.add(
            name_place,
            format!("a pack needs a name of at most 64 of a-z, 0-9 and -, not {name:?}"),
        );
    } else if !folder.is_empty() && name != folder {
        problems.add(
            name_place,
            format!("the pack is named {name:?}, its folder {folder:?}; they must be the same"),
        );
    }
    if let Some(place) = node.get("entry").map(|n| n.place)
        && !is_name(&entry)
    {
        problems.add(place, format!("{entry:?} is no name of a flow"));
    }
    if let Some(place) = node.get("chat").map(|n| n.place)
        && !is_name(&chat)
    {
        problems.add(place, format!("{chat:?} is no name of a pack"));
    }
    let mut requires = Vec::new();
    if let Some(list) = node.get("requires") {
        match list.as_list() {
            Some(items) => requires.extend(items.iter().filter_map(|item| {
                let text = item.as_text().map(str::to_owned);
                if text.is_none() {
                    problems.add(item.place, "what a pack requires is a word");
                }
                text
            })),
            None => problems.add(list.place, "requires is a list of words"),
        }
    }
    let mut data = BTreeMap::new();
    if let Some(map) = node.get("data") {
        match map.as_map() {
            Some(files) => {
                for file in files {
                    match file.value.as_text() {
                        Some(path) if is_below(path) => {
                            data.insert(file.key.clone(), path.to_owned());
                        }
                        _ => problems.add(
                            file.value.place,
                            "the path of a file of data is one like data/teams.yaml, below the pack's folder",
                        ),
                    }
                }
            }
            None => problems.add(map.place, "data is a map: a name, and the path of the file"),
        }
    }
    Manifest {
        name,
        title,
        description,
        entry,
        chat,
        requires,
        data,
        commands: commands(node.get("commands"), problems),
        channels: channels::read(node.get("channels"), problems),
        flows: instances(node.get("flows"), problems),
        orchestrators: orchestrators::section(node.get("orchestrators"), problems),
    }
}

fn commands(node: Option<&Node>, problems: &mut Problems) -> BTreeMap<String, String> {
    let mut commands = BTreeMap::new();
    let Some(node) = node else { return commands };
    let Some(entries) = node.as_map() else {
        problems.add(
            node.place,
            "commands is a map: a word that begins with a slash, and what it does",
        );
        return commands;
    };
    for entry in entries {
        let word = entry.key.strip_prefix('/').is_some_and(is_name);
        match entry.value.as_text() {
            Some(does) if word => {
                commands.insert(entry.key.clone(), does.trim().to_owned());
            }
            _ => problems.add(
                entry.key_place,
                "a command is a word like /undo, with what it does in one line",
            ),
        }
    }
    commands
}

fn instances(node: Option<&Node>, problems: &mut Problems) -> BTreeMap<String, Instance> {
    let mut instances = BTreeMap::new();
    let Some(node) = node else { return instances };
    if node.as_map().is_none() {
        problems.add(
            node.place,
            "flows is a map: a name, and {from: PATTERN, NAME: value}",
        );
    }
    for entry in node.as_map().unwrap_or_default() {
        let mut values = BTreeMap::new();
        for value in entry.value.as_map().unwrap_or_default() {
            match value.value.as_text() {
                Some(text) if is_value(text) => {
                    values.insert(value.key.clone(), text.to_owned());
                }
                _ => problems.add(
                    value.value.place,
                    "a value of a pattern is a text of letters, digits, blanks, _ and -",
                ),
            }
        }
        let Some(from) = values.remove("from").filter(|_| is_name(&entry.key)) else {
            problems.add(
                entry.key_place,
                "a flow that is made of a pattern needs a name and `from`",
            );
            continue;
        };
        let instance = Instance {
            from,
            values,
            place: entry.key_place,
        };
        instances.insert(entry.key.clone(), instance);
    }
    instances
}

/// What cannot end a text or an expression that it is put into.
fn is_value(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-');
    !text.is_empty() && text.len() <= 64 && text.chars().all(plain)
}

/// Puts the flows that are made of patterns among the sources, and takes the patterns out.
pub(super) fn instantiate(
    instances: &BTreeMap<String, Instance>,
    sources: &mut IndexMap<String, Source>,
    problems: &mut Vec<Problem>,
) {
    for (name, instance) in instances {
        let Some(pattern) = sources.get(&instance.from).cloned() else {
            problems.push(Problem {
                file: MANIFEST.to_owned(),
                place: instance.place,
                message: format!("there is no flow {:?} to make {name:?} of", instance.from),
            });
            continue;
        };
        let text = instance
            .values
            .iter()
            .fold(pattern.text, |text, (key, value)| {
                text.replace(&format!("${{{key}}}"), value)
            });
        let source = Source {
            file: pattern.file,
            text,
        };
        sources.insert(name.clone(), source);
    }
    for instance in instances.values() {
        sources.shift_remove(&instance.from);
    }
}

/// Whether a word can be the name of a pack or a flow.
pub fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word.len() <= 64
        && !word.starts_with('-')
        && (word.chars())
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'))
}

fn is_below(path: &str) -> bool {
    let parts = path.split('/');
    (path.ends_with(".yaml") || path.ends_with(".json"))
        && parts.clone().count() >= 2
        && parts
            .into_iter()
            .all(|part| !part.is_empty() && !part.starts_with('.') && !part.contains('\\'))
}

/// The files of data: name → content, with the sources for the pack's hash. A file with a JSON Schema beside it
/// (`teams.schema.json` for `teams.yaml`) is checked against it, each fault at its own line.
pub(super) fn data(
    root: Root<'_>,
    manifest: &Manifest,
    manifest_file: &str,
    problems: &mut Vec<Problem>,
) -> (Map<String, Value>, Vec<(String, Source)>) {
    let mut values = Map::new();
    let mut sources = Vec::new();
    for (name, path) in &manifest.data {
        let Some(source) = root.source(path, problems) else {
            problems.push(Problem {
                file: manifest_file.to_owned(),
                place: yaml::Place::default(),
                message: format!(
                    "the data {name:?} is in {}, and there is no such file",
                    root.path(path)
                ),
            });
            continue;
        };
        // JSON is YAML.
        match yaml::read(&source.text, &source.file) {
            Ok(node) => {
                let value = node.to_json();
                fits(root, path, &source.file, &node, &value, problems);
                values.insert(name.clone(), value);
            }
            Err(problem) => problems.push(problem),
        }
        sources.push((path.clone(), source));
    }
    (values, sources)
}

fn fits(
    root: Root<'_>,
    path: &str,
    file: &str,
    node: &Node,
    value: &Value,
    problems: &mut Vec<Problem>,
) {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    // The shape is the pack's own: a folder that brings other data does not bring another shape for a pack that it did not write.
    let relative = format!("{stem}.schema.json");
    let schema = root
        .built_in(&relative)
        .or_else(|| root.own(&relative, problems));
    let Some(schema) = schema else { return };
    let compiled = serde_json::from_str(&schema.text)
        .map_err(|e| e.to_string())
        .and_then(crate::flow::Schema::of_data);
    match compiled {
        Ok(compiled) => {
            for (pointer, what) in compiled.places(value) {
                problems.push(Problem {
                    file: file.to_owned(),
                    place: at(node, &pointer),
                    message: what,
                });
            }
        }
        Err(why) => problems.push(Problem {
            file: schema.file,
            place: yaml::Place::default(),
            message: why,
        }),
    }
}

/// Where a JSON pointer leads to; of what is not there, the place that it would be in.
pub(super) fn at(node: &Node, pointer: &str) -> yaml::Place {
    let mut here = node;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let next = match here.as_list() {
            Some(items) => part.parse::<usize>().ok().and_then(|n| items.get(n)),
            None => here.get(&part),
        };
        match next {
            Some(next) => here = next,
            None => break,
        }
    }
    here.place
}
