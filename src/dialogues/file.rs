//! A file of dialogues, read against the pack that it is about: what it expects of a field that the pack does not keep is a mistake with
//! its place, not an expectation that fails.

use super::expect::{Expectation, Known};
use agentctl_base::yaml::{self, Node, Place, Problem, Problems};
use agentctl_engine::pack::Pack;
use serde_json::{Map, Value};

/// A file of a pack's `tests/`.
#[derive(Debug, Clone)]
pub struct DialogueFile {
    /// What messages call it.
    pub file: String,
    pub dialogues: Vec<Dialogue>,
}

#[derive(Debug, Clone)]
pub struct Dialogue {
    pub name: String,
    pub place: Place,
    /// What was said and kept before the first turn.
    pub begins: Given,
    pub turns: Vec<TurnSpec>,
}

#[derive(Debug, Clone, Default)]
pub struct Given {
    pub state: Map<String, Value>,
    /// Oldest first; true: the user's.
    pub messages: Vec<(bool, String)>,
}

#[derive(Debug, Clone)]
pub struct TurnSpec {
    pub place: Place,
    pub say: Option<String>,
    /// What the flow sees as `input` besides the message.
    pub input: Map<String, Value>,
    /// Tools that fail in this turn.
    pub fails: Vec<String>,
    pub expect: Vec<Expectation>,
}

/// Reads a file; every mistake is told.
pub fn read(text: &str, file: &str, pack: &Pack) -> Result<DialogueFile, Vec<Problem>> {
    let node = yaml::read(text, file).map_err(|problem| vec![problem])?;
    let mut reader = Reader {
        known: Known::of(pack),
        pack,
        problems: Problems::new(file),
        given: Vec::new(),
    };
    let dialogues = reader.file(&node);
    let problems = reader.problems.into_sorted();
    match problems.is_empty() {
        true => Ok(DialogueFile {
            file: file.to_owned(),
            dialogues,
        }),
        false => Err(problems),
    }
}

struct Reader<'p> {
    known: Known<'p>,
    pack: &'p Pack,
    problems: Problems,
    given: Vec<(String, Given)>,
}

impl Reader<'_> {
    fn file(&mut self, node: &Node) -> Vec<Dialogue> {
        self.keys(
            node,
            "a file of dialogues",
            &["fields", "inferred", "given", "dialogues"],
        );
        if let Some(field) = node.get("fields") {
            match field.as_text() {
                Some(name) if self.known.is_field(name) => {
                    self.known.fields = Some(name.to_owned());
                }
                _ => self.problems.add(
                    field.place,
                    "`fields` must name a field that the pack's flow keeps for a session",
                ),
            }
        }
        self.known.inferred = node
            .get("inferred")
            .map_or_else(Vec::new, |n| self.texts(n));
        for entry in node.entries("given") {
            let given = self.given(&entry.value);
            self.given.push((entry.key.clone(), given));
        }
        let list = node.get("dialogues");
        let items = list.and_then(Node::as_list).unwrap_or_default();
        if items.is_empty() {
            let place = list.map_or(node.place, |list| list.place);
            self.problems
                .add(place, "`dialogues` must be a list of dialogues");
        }
        items.iter().map(|item| self.dialogue(item)).collect()
    }

    fn given(&mut self, node: &Node) -> Given {
        let mut given = Given::default();
        for entry in node.as_map().unwrap_or_default() {
            match entry.key.as_str() {
                "state" => {
                    for field in entry.value.as_map().unwrap_or_default() {
                        self.field(field.key_place, &field.key);
                        given.state.insert(field.key.clone(), field.value.to_json());
                    }
                }
                "messages" => {
                    for message in entry.value.as_list().unwrap_or_default() {
                        let role = message.get("role").and_then(Node::as_text);
                        let text = message.get("text").and_then(Node::as_text);
                        match (role, text) {
                            (Some(role @ ("user" | "assistant")), Some(text)) => {
                                given.messages.push((role == "user", text.to_owned()));
                            }
                            _ => self.problems.add(
                                message.place,
                                "a message is {role: user or assistant, text}",
                            ),
                        }
                    }
                }
                // A field by itself.
                field => {
                    self.field(entry.key_place, field);
                    given.state.insert(field.to_owned(), entry.value.to_json());
                }
            }
        }
        given
    }

    fn field(&mut self, place: Place, name: &str) {
        if !self.known.is_field(name) {
            let why = self.known.no_such(name);
            self.problems.add(place, why);
        }
    }

    fn dialogue(&mut self, node: &Node) -> Dialogue {
        self.keys(node, "a dialogue", &["name", "begins", "turns"]);
        let name = node.get("name").and_then(Node::as_text);
        if name.is_none() {
            self.problems.add(node.place, "a dialogue needs a `name`");
        }
        let begins = node.get("begins");
        let given = begins.and_then(|n| {
            let found = self
                .given
                .iter()
                .find(|(name, _)| n.as_text() == Some(name));
            found.map(|(_, given)| given.clone())
        });
        if let (Some(begins), None) = (begins, &given) {
            self.problems
                .add(begins.place, "`begins` names nothing that is `given`");
        }
        let turns = node.items("turns");
        if turns.is_empty() {
            self.problems.add(node.place, "a dialogue needs `turns`");
        }
        Dialogue {
            name: name.unwrap_or_default().to_owned(),
            place: node.place,
            begins: given.unwrap_or_default(),
            turns: turns.iter().map(|turn| self.turn(turn)).collect(),
        }
    }

    fn turn(&mut self, node: &Node) -> TurnSpec {
        self.keys(
            node,
            "a turn",
            &["say", "event", "input", "fails", "expect"],
        );
        let say = node.get("say").and_then(Node::as_text).map(str::to_owned);
        let mut input = match node.get("input").map(Node::to_json) {
            Some(Value::Object(input)) => input,
            _ => Map::new(),
        };
        if let Some(event) = node.get("event").and_then(Node::as_text) {
            input.insert("event".to_owned(), event.into());
        } else if say.is_none() {
            self.problems
                .add(node.place, "a turn needs `say` or `event`");
        }
        let fails = node.get("fails").map_or_else(Vec::new, |n| self.texts(n));
        for tool in &fails {
            if self.pack.policy.capability_of(tool).is_none() {
                let why = format!("`fails` names {tool:?}, and there is no such tool");
                self.problems.add(node.place, why);
            }
        }
        let expect = node.entries("expect");
        let read = expect
            .iter()
            .flat_map(|entry| Expectation::read(entry, &self.known, &mut self.problems));
        TurnSpec {
            place: node.place,
            say,
            input,
            fails,
            expect: read.collect(),
        }
    }

    fn texts(&mut self, node: &Node) -> Vec<String> {
        let items = match node.as_list() {
            Some(items) => items,
            None => std::slice::from_ref(node),
        };
        let texts = items.iter().filter_map(Node::as_text).map(str::to_owned);
        let texts: Vec<String> = texts.collect();
        if texts.len() != items.len() {
            self.problems
                .add(node.place, "this must be a list of names");
        }
        texts
    }

    fn keys(&mut self, node: &Node, what: &str, known: &[&str]) {
        let Some(entries) = node.as_map() else {
            self.problems
                .add(node.place, format!("{what} must be a map"));
            return;
        };
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let why = format!(
                    "{what} has the unknown key {:?}; known: {}",
                    entry.key,
                    known.join(", ")
                );
                self.problems.add(entry.key_place, why);
            }
        }
    }
}
