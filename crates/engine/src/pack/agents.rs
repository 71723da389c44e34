//! Agents: one Markdown file each, with the head that Claude Code's agent files have.

use super::frontmatter::{self, Frontmatter};
use super::is_agent_file;
use super::root::Root;
use super::source::{Source, unreadable};
use agentctl_base::yaml::{Entry, Node, Place, Problem, Problems};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// How strong a model an agent wants; the configuration maps tiers to models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    Opus,
    Sonnet,
    Haiku,
}

impl Tier {
    pub fn name(self) -> &'static str {
        match self {
            Tier::Opus => "opus",
            Tier::Sonnet => "sonnet",
            Tier::Haiku => "haiku",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    pub name: String,
    pub description: String,
    pub tier: Tier,
    /// What it asks for and the policy grants, sorted.
    pub tools: Vec<String>,
    pub skills: Vec<String>,
    /// Model calls in one step, at most.
    pub max_turns: u32,
    /// The system prompt.
    pub prompt: String,
    /// `agents/x.md` of the project, or `built-in agents/x.md`.
    pub source: String,
    /// None: the file names no tools, so it wants all that the policy grants.
    pub(super) wanted_tools: Option<Vec<(Place, String)>>,
    pub(super) wanted_skills: Vec<(Place, String)>,
}

const KEYS: &[&str] = &[
    "name",
    "description",
    "model",
    "tools",
    "skills",
    "maxTurns",
];
const DEFAULT_MAX_TURNS: u32 = 20;

/// File name → text, sorted; the file of a project that counts stands for the built-in one of the same name.
pub(super) fn sources(root: Root<'_>, problems: &mut Vec<Problem>) -> IndexMap<String, Source> {
    let mut sources = IndexMap::new();
    let names = root.names("agents", problems);
    for name in names.into_iter().filter(|name| is_agent_file(name)) {
        let before = problems.len();
        let path = format!("agents/{name}");
        match root.source(&path, problems) {
            Some(source) => {
                sources.insert(name, source);
            }
            // Gone since.
            None if problems.len() == before => problems.push(unreadable(
                &root.path(&path),
                &std::io::ErrorKind::NotFound.into(),
            )),
            None => {}
        }
    }
    sources
}

pub(super) fn load(
    sources: &IndexMap<String, Source>,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<String>,
) -> IndexMap<String, Agent> {
    let mut agents: IndexMap<String, Agent> = IndexMap::new();
    for (file_name, source) in sources {
        let mut reader = Reader {
            problems: Problems::new(&source.file),
            warnings,
            file: &source.file,
        };
        let agent = match frontmatter::split(&source.text, &source.file) {
            Ok(front) => reader.agent(front),
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        problems.extend(reader.problems.into_sorted());
        let Some(agent) = agent else { continue };
        let stem = file_name.trim_end_matches(".md");
        if agent.name != stem {
            warnings.push(format!(
                "{}: the agent is named {:?}, its file {stem:?}",
                source.file, agent.name
            ));
        }
        if let Some(other) = agents.get(&agent.name) {
            problems.push(Problem {
                file: source.file.clone(),
                place: Place::default(),
                message: format!("the agent {:?} is already in {}", agent.name, other.source),
            });
            continue;
        }
        agents.insert(agent.name.clone(), agent);
    }
    agents.sort_keys();
    agents
}

struct Reader<'a> {
    problems: Problems,
    warnings: &'a mut Vec<String>,
    file: &'a str,
}

impl Reader<'_> {
    fn warn(&mut self, place: Place, message: &str) {
        self.warnings
            .push(format!("{}:{}: {message}", self.file, place.line));
    }

    fn agent(&mut self, front: Frontmatter) -> Option<Agent> {
        let Frontmatter { head, body } = front;
        let unknown: Vec<&Entry> = head
            .as_map()
            .unwrap_or_default()
            .iter()
            .filter(|e| !KEYS.contains(&e.key.as_str()))
            .collect();
        for entry in unknown {
            self.warn(
                entry.key_place,
                &format!("the key {:?} is not known and has no effect", entry.key),
            );
        }
        let name = self.required(&head, "name").and_then(|(place, name)| {
            let good = name.chars().next().is_some_and(|c| c.is_ascii_lowercase())
                && name.len() <= 64
                && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_');
            if !good {
                let message = format!("{name:?} is no name for an agent: use a-z, 0-9, - and _, a letter first, at most 64");
                self.problems.add(place, message);
            }
            good.then_some(name)
        });
        let description = self.required(&head, "description").map(|(_, text)| text);
        let tier = match head.get("model") {
            None => Some(Tier::Sonnet),
            Some(node) => match node.as_text() {
                Some("opus") => Some(Tier::Opus),
                Some("sonnet") => Some(Tier::Sonnet),
                Some("haiku") => Some(Tier::Haiku),
                Some("inherit") => {
                    self.warn(
                        node.place,
                        "`model: inherit` has nothing to inherit from here; sonnet is taken",
                    );
                    Some(Tier::Sonnet)
                }
                _ => {
                    let message = format!(
                        "model must be opus, sonnet or haiku, not {}",
                        node.to_json()
                    );
                    self.problems.add(node.place, message);
                    None
                }
            },
        };
        let wanted_tools = head.get("tools").map(|node| self.names(node, "tools"));
        let wanted_skills = head
            .get("skills")
            .map(|node| self.names(node, "skills"))
            .unwrap_or_default();
        let max_turns = match head.get("maxTurns") {
            None => Some(DEFAULT_MAX_TURNS),
            Some(node) => {
                let turns = node.as_u64().and_then(|n| u32::try_from(n).ok());
                let turns = turns.filter(|n| (1..=1000).contains(n));
                if turns.is_none() {
                    self.problems
                        .add(node.place, "maxTurns must be a whole number from 1 to 1000");
                }
                turns
            }
        };
        if body.is_empty() {
            self.problems
                .add(Place::default(), "there is no prompt below the head");
        }
        Some(Agent {
            name: name?,
            description: description?,
            tier: tier?,
            tools: Vec::new(),
            skills: wanted_skills
                .iter()
                .map(|(_, skill)| skill.clone())
                .collect(),
            max_turns: max_turns?,
            prompt: body,
            source: self.file.to_owned(),
            wanted_tools,
            wanted_skills,
        })
    }

    fn required(&mut self, head: &Node, key: &str) -> Option<(Place, String)> {
        let found = head.get(key);
        let text = found
            .and_then(Node::as_text)
            .filter(|s| !s.trim().is_empty());
        if text.is_none() {
            let message = match found {
                Some(node) => format!("{key} must be text, not {}", node.kind_name()),
                None => format!("the head has no {key:?}"),
            };
            self.problems.add(
                found.map_or(Place { line: 1, column: 1 }, |n| n.place),
                message,
            );
        }
        Some((found?.place, text?.trim().to_owned()))
    }

    /// Comma-separated text, or a list.
    fn names(&mut self, node: &Node, key: &str) -> Vec<(Place, String)> {
        if let Some(text) = node.as_text() {
            return text
                .split(',')
                .map(str::trim)
                .filter(|s| !s.is_empty())
                .map(|s| (node.place, s.to_owned()))
                .collect();
        }
        let Some(items) = node.as_list() else {
            if node.kind_name() != "nothing" {
                self.problems.add(
                    node.place,
                    format!("{key} must be a list or comma-separated text"),
                );
            }
            return Vec::new();
        };
        let mut names = Vec::new();
        for item in items {
            match item.as_text() {
                Some(text) => names.push((item.place, text.trim().to_owned())),
                None => self.problems.add(
                    item.place,
                    format!("{key} must hold names, not {}", item.kind_name()),
                ),
            }
        }
        names
    }
}
