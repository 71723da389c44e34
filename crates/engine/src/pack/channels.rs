//! `channels` of pack.yaml: how what comes in at a door becomes a turn's input, and a turn's reply the answer of that door. Pure: who
//! came in, and whether they may, is the door's to know.

use super::agent_channel::{self, AgentChannel};
use crate::condition::{Condition, ConditionError, is_blank};
use agentctl_base::yaml::{Entry, Node, Place, Problems};
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};

/// The doors that a pack says something about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Channels {
    /// The pack speaks of its doors at all: a server serves it unless told otherwise.
    pub is_served: bool,
    /// None: the pack takes no requests whose form it did not describe.
    pub webhook: Option<Webhook>,
    /// What other agents are told of the pack, and what it sees of their messages.
    pub a2a: AgentChannel,
    /// A caller that asks for it is told where the turn's reply will be, and need not wait for it.
    pub later: bool,
    /// A turn that was cut off with its server is gone on with at the next start; else it is cancelled then.
    pub finishes: bool,
}

/// A JSON body of the sender's own form.
#[derive(Debug, Clone, PartialEq)]
pub struct Webhook {
    /// A body that has an object under this key is that object; any other is taken as it is.
    unwrap: Option<String>,
    /// What the flow sees as `input`: name → expression over `body`.
    input: IndexMap<String, Condition>,
    /// Those of `input` that have to be there and not blank.
    required: Vec<String>,
    /// Which of `input` says whose conversation it is, and which one.
    session: SessionNames,
    /// Which of `input` is what the user said; None: nothing is.
    message: Option<String>,
    /// The sender's own id of this request; sent twice, it is one request.
    id: Option<Condition>,
    /// The answer: name → expression over `reply`. Empty: [`Webhook::reply`] says what then.
    reply: IndexMap<String, Condition>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct SessionNames {
    tenant: Option<String>,
    user: Option<String>,
    conversation: Option<String>,
}

/// What a body says.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    pub input: Map<String, Value>,
    /// What the user said; None: something happened instead, which `input` tells.
    pub message: Option<String>,
    /// The three parts of the conversation's key, as the body says them; None: it does not.
    pub tenant: Option<String>,
    pub user: Option<String>,
    pub conversation: Option<String>,
    pub id: Option<String>,
}

/// One thing that is wrong with a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The name in `input`, or `id`.
    pub field: String,
    pub message: String,
}

impl Fault {
    /// A field whose value is of another kind.
    pub fn of_kind(name: &str, expected: &str, got: &Value) -> Fault {
        let kind = match got {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        Fault {
            field: name.to_owned(),
            message: format!("must be {expected}, it is {kind}"),
        }
    }
}

/// The longest part of a conversation's key, in characters.
pub const MAX_KEY_PART: usize = 200;

const BODY: &str = "body";
const REPLY: &str = "reply";

impl Webhook {
    /// What the flow sees as `input`, by name.
    pub fn inputs(&self) -> impl Iterator<Item = &str> {
        self.input.keys().map(String::as_str)
    }

    /// Takes a body apart. What an optional expression does not find is not there.
    ///
    /// Errors: every field that is missing or does not fit.
    pub fn take(&self, body: &Value) -> Result<Taken, Vec<Fault>> {
        let inner = self
            .unwrap
            .as_ref()
            .and_then(|key| body.get(key))
            .filter(|inner| inner.is_object());
        let variables = Map::from_iter([(BODY.to_owned(), inner.unwrap_or(body).clone())]);
        let mut faults = Vec::new();
        let mut input = Map::new();
        for (name, expression) in &self.input {
            match given(expression, &variables) {
                Ok(Some(value)) if !(self.is_required(name) && is_blank(&value)) => {
                    input.insert(name.clone(), value);
                }
                Ok(_) if self.is_required(name) => faults.push(Fault {
                    field: name.clone(),
                    message: format!("is required; it is read as `{}`", expression.source()),
                }),
                Ok(_) => {}
                Err(why) => faults.push(Fault {
                    field: name.clone(),
                    message: why.to_string(),
                }),
            }
        }
        let mut part = |named: &Option<String>| {
            let name = named.as_ref()?;
            // An empty object or list is no name that was left out.
            let is_text = |value: &Value| !(value.is_object() || value.is_array());
            let given = input.get(name);
            let value = given.filter(|value| !(is_text(value) && is_blank(value)))?;
            key_part(name, value).map_err(|f| faults.push(f)).ok()
        };
        let session = &self.session;
        let (tenant, user) = (part(&session.tenant), part(&session.user));
        let conversation = part(&session.conversation);
        let message = match self
            .message
            .as_ref()
            .and_then(|name| input.get_key_value(name))
        {
            None => None,
            Some((_, Value::String(said))) => Some(said.clone()),
            Some((name, other)) => {
                faults.push(Fault::of_kind(name, "text", other));
                None
            }
        };
        let id = match self.id.as_ref().map(|id| given(id, &variables)) {
            None | Some(Ok(None)) => None,
            Some(Ok(Some(value))) => key_part("id", &value).map_err(|f| faults.push(f)).ok(),
            Some(Err(why)) => {
                faults.push(Fault {
                    field: "id".to_owned(),
                    message: why.to_string(),
                });
                None
            }
        };
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Taken {
            input,
            message,
            tenant,
            user,
            conversation,
            id,
        })
    }

    /// The answer for a turn's reply (`text`, `data`, `attachment`, `output`, `outcome`, `message`, `question`, `messages`, `state`).
    /// A pack that says nothing of it answers with its output where that is an object, else with `{output, data, attachment}`.
    pub fn reply(&self, reply: &Value) -> Result<Value, ConditionError> {
        let of = |key: &str| reply.get(key).cloned().unwrap_or_default();
        if self.reply.is_empty() {
            if let output @ Value::Object(_) = of("output") {
                return Ok(output);
            }
            return Ok(serde_json::json!({
                "output": of("text"), "data": of("data"), "attachment": of("attachment")
            }));
        }
        let variables = Map::from_iter([(REPLY.to_owned(), reply.clone())]);
        let fields = self.reply.iter();
        let fields = fields.map(|(name, expr)| Ok((name.clone(), expr.value(&variables)?)));
        fields.collect::<Result<Map<_, _>, _>>().map(Value::Object)
    }

    fn is_required(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }
}

/// The value of an expression; None: it gives null, or reads what is not there.
pub(super) fn given(
    expression: &Condition,
    variables: &Map<String, Value>,
) -> Result<Option<Value>, ConditionError> {
    match expression.value(variables) {
        Ok(Value::Null) | Err(ConditionError::Evaluation { .. }) => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(why) => Err(why),
    }
}

fn key_part(name: &str, value: &Value) -> Result<String, Fault> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        other => return Err(Fault::of_kind(name, "text or a number", other)),
    };
    match text.chars().count() {
        0..=MAX_KEY_PART => Ok(text),
        length => Err(Fault {
            field: name.to_owned(),
            message: format!("has {length} characters; at most {MAX_KEY_PART} are taken"),
        }),
    }
}

const WEBHOOK_KEYS: &[&str] = &[
    "unwrap", "input", "required", "session", "message", "id", "reply",
];

/// Reads `channels`.
pub(super) fn read(node: Option<&Node>, problems: &mut Problems) -> Channels {
    let Some(node) = node else {
        return Channels::default();
    };
    only(
        node,
        "channels",
        &["webhook", "a2a", "later", "on_restart"],
        problems,
    );
    Channels {
        is_served: true,
        webhook: node.get("webhook").map(|node| webhook(node, problems)),
        a2a: node.get("a2a").map_or_else(AgentChannel::default, |node| {
            agent_channel::read(node, problems)
        }),
        later: node.get("later").is_some_and(|node| {
            node.as_bool().unwrap_or_else(|| {
                problems.add(node.place, "later is true or false");
                false
            })
        }),
        finishes: node.get("on_restart").is_some_and(|node| {
            let word = node.as_text().unwrap_or_default();
            if !["finish", "cancel"].contains(&word) {
                problems.add(node.place, "on_restart is finish or cancel");
            }
            word == "finish"
        }),
    }
}

fn webhook(node: &Node, problems: &mut Problems) -> Webhook {
    only(node, "webhook", WEBHOOK_KEYS, problems);
    let input = expressions(node.get("input"), "input", BODY, problems);
    if input.is_empty() {
        problems.add(
            node.place,
            "a webhook needs input: name → expression over body",
        );
    }
    let mut known = |place: Place, name: &str| {
        if !input.contains_key(name) {
            problems.add(place, format!("{name:?} is none of the webhook's input"));
        }
        name.to_owned()
    };
    let mut named = |of: Option<&Node>| of.and_then(|n| Some(known(n.place, n.as_text()?)));
    let message = named(node.get("message"));
    let session = node.get("session");
    let part = |key: &str| session.and_then(|session| session.get(key));
    let names = SessionNames {
        tenant: named(part("tenant")),
        user: named(part("user")),
        conversation: named(part("conversation")),
    };
    let required = node.get("required").and_then(Node::as_list).unwrap_or(&[]);
    let required = required.iter().filter_map(|n| named(Some(n))).collect();
    if let Some(session) = session {
        only(
            session,
            "session",
            &["tenant", "user", "conversation"],
            problems,
        );
    }
    Webhook {
        unwrap: text(node, "unwrap", problems),
        required,
        session: names,
        message,
        id: node
            .get("id")
            .and_then(|node| expression(node, BODY, problems)),
        reply: expressions(node.get("reply"), "reply", REPLY, problems),
        input,
    }
}

/// Every key is known; what is no map is told once.
pub(super) fn only(node: &Node, what: &str, keys: &[&str], problems: &mut Problems) {
    let Some(entries) = node.as_map() else {
        problems.add(
            node.place,
            format!("{what} is a map of {}", keys.join(", ")),
        );
        return;
    };
    for Entry { key, key_place, .. } in entries {
        if !keys.contains(&key.as_str()) {
            let known = keys.join(", ");
            problems.add(*key_place, format!("{what} has no {key:?}; it has {known}"));
        }
    }
}

fn text(node: &Node, key: &str, problems: &mut Problems) -> Option<String> {
    let value = node.get(key)?;
    let text = value.as_text().map(str::to_owned);
    if text.is_none() {
        problems.add(
            value.place,
            format!("{key} is {}, not text", value.kind_name()),
        );
    }
    text
}

pub(super) fn expressions(
    node: Option<&Node>,
    what: &str,
    variable: &str,
    problems: &mut Problems,
) -> IndexMap<String, Condition> {
    let Some(node) = node else {
        return IndexMap::new();
    };
    let Some(entries) = node.as_map() else {
        problems.add(
            node.place,
            format!("{what} is a map: a name, and an expression over {variable}"),
        );
        return IndexMap::new();
    };
    let compiled = entries.iter().filter_map(|entry| {
        let compiled = expression(&entry.value, variable, problems)?;
        Some((entry.key.clone(), compiled))
    });
    compiled.collect()
}

pub(super) fn expression(
    node: &Node,
    variable: &str,
    problems: &mut Problems,
) -> Option<Condition> {
    let Some(source) = node.as_text() else {
        problems.add(
            node.place,
            format!("an expression is text, not {}", node.kind_name()),
        );
        return None;
    };
    let compiled = Condition::compile(source, &[variable]);
    compiled
        .map_err(|e| problems.add(node.place, e.to_string()))
        .ok()
}

#[cfg(test)]
#[path = "channels_tests.rs"]
mod tests;
