//! `channels.a2a` of pack.yaml: what a pack tells other agents of itself, and what of their messages its flow sees.

use super::channels::{Fault, expressions, given, only};
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
}

/// A role, and where it is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    pub role: String,
    pub place: Place,
}

const MESSAGE: &str = "message";

impl AgentChannel {
    /// That of an agent that is served by itself: a skill of its own name, and no tools.
    pub(super) fn of_agent(self) -> AgentChannel {
        AgentChannel {
            input: self.agents,
            ..AgentChannel::default()
        }
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
    let keys = ["skills", "tools", "input", "agents"];
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
        input: expressions(node.get("input"), "input", MESSAGE, problems),
        agents: expressions(node.get("agents"), "agents", MESSAGE, problems),
    }
}

fn offer(node: &Node, problems: &mut Problems) -> Option<Offer> {
    let keys = ["id", "name", "description", "tags", "examples"];
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
    let mut texts = |key: &str| {
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
    };
    let (tags, examples) = (texts("tags"), texts("examples"));
    Some(Offer {
        id: id?,
        name: name?,
        description: description?,
        tags,
        examples,
    })
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
    }

    #[test]
    fn a_skill_is_whole_and_every_key_is_known() {
        let (_, problems) = told("skills: [{id: a, nam: A}]\ninputs: {}\n");
        assert_eq!(
            problems,
            [
                "a skill needs description, as text",
                "a skill needs name, as text",
                "a skill has no \"nam\"; it has id, name, description, tags, examples",
                "a2a has no \"inputs\"; it has skills, tools, input, agents",
            ]
        );
    }
}
