//! `channels.a2a` of pack.yaml: what a pack tells other agents of itself, and what of their messages its flow sees.

use super::channels::{Fault, expression, expressions, given, only};
use crate::condition::Condition;
use agentctl_base::yaml::{Node, Place, Problems};
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// What a pack says of itself to other agents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentChannel {
    /// What it can do; empty: one skill, told by the pack's title and description.
    pub skills: Vec<Offer>,
    /// The role of the policy as which other agents may use single tools of the pack; None: they may use none.
    pub tools: Option<Guest>,
    /// Other names by which messages of the envelope may call the pack.
    pub receivers: Vec<String>,
    /// The kinds of work that messages of the envelope may name as `task_type`; empty: any.
    pub task_types: Vec<String>,
    /// Whether the pack waits for the next message when a turn is at its end, over `state`; None: it never does.
    waits: Option<Condition>,
    /// What the flow sees as `input`: name → expression over `message` (`text`, `data`, `metadata`).
    input: IndexMap<String, Condition>,
    /// The same of an agent of the pack's orchestrators that is served by itself.
    agents: IndexMap<String, Condition>,
}

/// One thing that a pack can do for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub id: String,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub examples: Vec<String>,
    /// The agents of the pack's orchestrators that can do it where they are served by themselves.
    pub agents: Vec<String>,
}

/// A role, and where it is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub role: String,
    pub place: Place,
}

const MESSAGE: &str = "message";
const STATE: &str = "state";

impl AgentChannel {
    /// That of an agent that is served by itself: of the pack's skills its own, else one of its name.
    pub(super) fn of_agent(self, name: &str) -> AgentChannel {
        let own = |offer: &Offer| offer.agents.iter().any(|agent| agent == name);
        AgentChannel {
            skills: self.skills.into_iter().filter(own).collect(),
            tools: self.tools,
            receivers: Vec::new(),
            task_types: self.task_types,
            waits: None,
            input: self.agents,
            agents: IndexMap::new(),
        }
    }

    /// Whether the pack may wait for the next message at all.
    pub fn may_wait(&self) -> bool {
        self.waits.is_some()
    }

    /// Whether the pack waits for the next message, the fields of its turn standing like this at the end. What cannot be reckoned is no yes.
    pub fn waits(&self, state: &Map<String, Value>) -> bool {
        let variables = Map::from_iter([(STATE.to_owned(), Value::Object(state.clone()))]);
        let waits = self.waits.as_ref();
        let waits = waits.and_then(|waits| given(waits, &variables).ok().flatten());
        waits == Some(Value::Bool(true))
    }

    /// What the flow sees of a message. What an expression does not find is not there.
    ///
    /// Errors: each expression that the program cannot reckon with this message.
    pub fn take(&self, message: &Value) -> Result<Map<String, Value>, Vec<Fault>> {
        let variables = Map::from_iter([(MESSAGE.to_owned(), message.clone())]);
        let (mut input, mut faults) = (Map::new(), Vec::new());
        for (name, expression) in &self.input {
            match given(expression, &variables) {
                Ok(Some(value)) => {
                    input.insert(name.clone(), value);
                }
                Ok(None) => {}
                Err(why) => faults.push(Fault {
                    field: name.clone(),
                    message: why.to_string(),
                }),
            }
        }
        match faults.is_empty() {
            true => Ok(input),
            false => Err(faults),
        }
    }
}

pub(super) fn read(node: &Node, problems: &mut Problems) -> AgentChannel {
    let keys = [
        "skills",
        "tools",
        "receivers",
        "task_types",
        "waits",
        "input",
        "agents",
    ];
    only(node, "a2a", &keys, problems);
    let mut skills = Vec::new();
    if let Some(list) = node.get("skills") {
        match list.as_list() {
            Some(items) => skills.extend(items.iter().filter_map(|item| offer(item, problems))),
            None => problems.add(list.place, "skills is a list of {id, name, description}"),
        }
    }
    let tools = node.get("tools").and_then(|tools| {
        let role = tools.as_text().filter(|role| !role.is_empty());
        if role.is_none() {
            problems.add(tools.place, "tools names a role of the policy");
        }
        let role = role?.to_owned();
        let place = tools.place;
        Some(Guest { role, place })
    });
    AgentChannel {
        skills,
        tools,
        receivers: texts(node, "receivers", problems),
        task_types: texts(node, "task_types", problems),
        waits: node
            .get("waits")
            .and_then(|waits| expression(waits, STATE, problems)),
        input: expressions(node.get("input"), "input", MESSAGE, problems),
        agents: expressions(node.get("agents"), "agents", MESSAGE, problems),
    }
}

fn offer(node: &Node, problems: &mut Problems) -> Option<Offer> {
    let keys = ["id", "name", "description", "tags", "examples", "agents"];
    only(node, "a skill", &keys, problems);
    let mut needed = |key: &str| {
        let text = node.get(key).and_then(Node::as_text).map(str::trim);
        let text = text.filter(|text| !text.is_empty());
        if text.is_none() {
            problems.add(node.place, format!("a skill needs {key}, as text"));
        }
        text.map(str::to_owned)
    };
    let (id, name, description) = (needed("id"), needed("name"), needed("description"));
    let (tags, examples) = (
        texts(node, "tags", problems),
        texts(node, "examples", problems),
    );
    let agents = texts(node, "agents", problems);
    Some(Offer {
        id: id?,
        name: name?,
        description: description?,
        tags,
        examples,
        agents,
    })
}

fn texts(node: &Node, key: &str, problems: &mut Problems) -> Vec<String> {
    let Some(list) = node.get(key) else {
        return Vec::new();
    };
    let items = list.as_list().unwrap_or(&[]);
    let texts: Vec<String> = items
        .iter()
        .filter_map(|item| item.as_text().map(str::to_owned))
        .collect();
    if list.as_list().is_none() || texts.len() != items.len() {
        problems.add(list.place, format!("{key} is a list of texts"));
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentctl_base::yaml;
    use serde_json::json;

    fn told(text: &str) -> (AgentChannel, Vec<String>) {
        let node = yaml::read(text, "pack.yaml").unwrap();
        let mut problems = Problems::new("pack.yaml");
        let channel = read(&node, &mut problems);
        let told = problems.into_sorted().into_iter().map(|p| p.message);
        (channel, told.collect())
    }

    #[test]
    fn a_message_is_read_by_the_packs_own_expressions() {
        let (channel, problems) = told(
            "skills: [{id: a, name: A, description: Does a., tags: [x]}]\ninput: {agents: message.data.agents, again: message.metadata.again}\n",
        );
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(channel.skills[0].tags, ["x"]);
        let message =
            json!({"text": "t", "data": {"agents": ["b"], "corpus": "/etc"}, "metadata": {}});
        let taken = channel.take(&message).unwrap();
        assert_eq!(json!(taken), json!({"agents": ["b"]}));
        assert!(!channel.may_wait());
    }

    #[test]
    fn a_pack_waits_where_its_own_expression_says_so() {
        let (channel, problems) = told("waits: state.mode == 'ASKS'\n");
        assert_eq!(problems, Vec::<String>::new());
        let waits = |state: Value| channel.waits(state.as_object().unwrap());
        assert!(waits(json!({"mode": "ASKS"})));
        assert!(!waits(json!({"mode": "CHAT"})) && !waits(json!({})));
    }

    #[test]
    fn a_skill_is_whole_and_every_key_is_known() {
        let (_, problems) = told("skills: [{id: a, nam: A}]\ninputs: {}\n");
        assert_eq!(
            problems,
            [
                "a skill needs description, as text",
                "a skill needs name, as text",
                "a skill has no \"nam\"; it has id, name, description, tags, examples, agents",
                "a2a has no \"inputs\"; it has skills, tools, receivers, task_types, waits, input, agents",
            ]
        );
    }
}
