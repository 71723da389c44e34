//! `kind: a2a`: another agent as a tool. A call is one message, and what comes of its task. The agent is one of the user's settings,
//! with a card that was approved; its words are a stranger's. A message is sent again only where it is certain that no task was made.

mod talk;

pub use talk::left;

use crate::answer::{FAILED, TELL, TIMEOUT, unknown};
use crate::call::{ADDRESS, Call, deny};
use crate::kind::{KindOfTool, Work};
use crate::places::{body, check_shape, check_text, filled, only};
use crate::toolset::Surroundings;
use agentctl_a2a::{Content, Message, Part, Role, SendMessage, StreamResponse, Task, TaskState};
use agentctl_a2a_client::{Agent, CardPin, Error, Reply};
use agentctl_base::BoxFuture;
use agentctl_base::shell;
use agentctl_base::yaml::Node;
use agentctl_engine::toolset::{Outcome, error_content};
use agentctl_engine::vocabulary::Faults;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use talk::{Talk, cancelled};
use tokio::time::Instant;

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: NAME,
    check,
    make: |section| Box::new(Spec::of(section)),
};
/// The kind, for who has to know which agents are needed.
pub const NAME: &str = "a2a";
const KEYS: [&str; 7] = [
    "agent", "text", "data", "task", "question", "context", "waits",
];
/// The rule of a refusal because of an agent's card.
pub(crate) const CARD: &str = "guard.card";
/// The rules of a task that waits for somebody.
pub(crate) const INPUT: &str = "a2a.input_required";
pub(crate) const APPROVAL: &str = "a2a.approval_required";
/// So many characters of a question are shown to whoever answers it.
const QUESTION: usize = 4000;
/// Waited before the first retry, and twice as long before each further one.
const WAIT: Duration = Duration::from_millis(250);

/// Another agent, as the user's settings describe it.
#[derive(Debug, Clone)]
pub struct Remote {
    pub agent: Agent,
    /// The card that the user approved; None: none was.
    pub pin: Option<CardPin>,
}

/// What the file says; it was checked when the pack was loaded.
struct Spec {
    agent: String,
    /// Each with places for values.
    text: Option<String>,
    data: Option<Value>,
    task: Option<String>,
    /// The question of the task that is answered. Where the task waits for no answer to it any more, the answer came before.
    question: Option<String>,
    context: Option<String>,
    /// A task that waits for an answer is a result, for whoever answers it.
    waits: bool,
}

/// The agent that a tool of this kind is, by its part of the file.
pub fn agent_of(section: &Value) -> Option<&str> {
    section.get("agent")?.as_str()
}

impl Spec {
    fn of(section: &Value) -> Spec {
        let text = |key: &str| section.get(key).and_then(Value::as_str).map(str::to_owned);
        Spec {
            agent: agent_of(section).unwrap_or_default().to_owned(),
            text: text("text"),
            data: section.get("data").cloned(),
            task: text("task"),
            question: text("question"),
            context: text("context"),
            waits: section.get("waits").is_some(),
        }
    }

    /// None: a call has nothing to say.
    fn saying(&self, values: &Map<String, Value>) -> Option<Saying> {
        let of = |shape: &Option<String>| {
            let text = shape.as_ref().and_then(|shape| filled(shape, values));
            text.filter(|text| !text.is_empty())
        };
        let text = of(&self.text).map(Part::text);
        let data = self.data.as_ref().and_then(|shape| body(shape, values));
        let parts: Vec<Part> = text.into_iter().chain(data.map(Part::data)).collect();
        if parts.is_empty() {
            return None;
        }
        let id = uuid::Uuid::new_v4().to_string();
        let mut message = Message::new(id, Role::User, parts);
        message.task_id = of(&self.task);
        message.context_id = of(&self.context);
        let message = SendMessage {
            message,
            configuration: None,
            tenant: None,
        };
        let answers = message.message.task_id.clone().zip(of(&self.question));
        Some(Saying { message, answers })
    }
}

/// What is said in a call.
struct Saying {
    message: SendMessage,
    /// The task and its question that this is an answer to, where the file names both.
    answers: Option<(String, String)>,
}

impl Work for Spec {
    fn lacks(&self, of: &Surroundings) -> Option<String> {
        let name = &self.agent;
        match of.agents.get(name) {
            None => Some(format!(
                "the settings do not describe the agent {name}: [a2a.agents.{name}] url = \"https://…\" in agentctl.toml or your own config.toml does"
            )),
            Some(Err(why)) => Some(why.clone()),
            Some(Ok(remote)) if remote.pin.is_none() => Some(format!(
                "the card of the agent {name} is not approved (agentctl a2a approve {})",
                shell::word(name)
            )),
            Some(Ok(_)) => None,
        }
    }

    fn work<'a>(
        &'a self,
        call: &'a Call,
        values: Map<String, Value>,
        changes: bool,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let Some(Ok(remote)) = call.shared.surroundings.agents.get(&self.agent) else {
                return Outcome::failed("the agent is not described", FAILED, TELL);
            };
            let Some(pin) = &remote.pin else {
                return Outcome::Refused(deny(CARD, "the agent's card was not approved"));
            };
            let Some(saying) = self.saying(&values) else {
                return Outcome::failed("there is nothing to say to the agent", FAILED, "name it");
            };
            let limits = call.made.tool.limits;
            let mut agent = remote.agent.clone();
            agent.limits.answer = Duration::from_secs(limits.timeout_s);
            agent.limits.max_bytes = limits.max_bytes;
            // A stream tells what a task gave more than once.
            agent.limits.max_stream_bytes = limits.max_bytes.saturating_mul(4);
            let until = Instant::now() + agent.limits.answer;
            let mut wait = WAIT;
            let mut tried = 0;
            loop {
                let ended = said(&agent, pin, &saying, until, changes).await;
                let ended = ended.map(|ended| match ended {
                    Outcome::Failed(content) if self.waits => waiting(content),
                    ended => ended,
                });
                match ended {
                    Err(error) if error.may_pass() && tried < limits.retries => {
                        tried += 1;
                        tokio::time::sleep(wait).await;
                        wait *= 2;
                    }
                    Ok(outcome) => return outcome,
                    Err(error) => return failed(&error, changes),
                }
            }
        })
    }
}

/// A question is a result, its words under `waits`.
fn waiting(mut content: Value) -> Outcome {
    if content.get("rule").and_then(Value::as_str) != Some(INPUT) {
        return Outcome::Failed(content);
    }
    let mut take = |key: &str| content.get_mut(key).map(Value::take).unwrap_or_default();
    let words = take("error");
    let mut words = words.as_str().unwrap_or_default().trim().chars();
    let mut shown: String = words.by_ref().take(QUESTION).collect();
    if words.next().is_some() {
        shown.push('…');
    }
    let (question, task, context) = (take("question"), take("task_id"), take("context_id"));
    Outcome::Ok(
        json!({"waits": shown, "question": question, "task_id": task, "context_id": context}),
    )
}

/// One message, until its task rests. Err: no task was made, as far as is known.
async fn said(
    agent: &Agent,
    pin: &CardPin,
    saying: &Saying,
    until: Instant,
    changes: bool,
) -> Result<Outcome, Error> {
    let client = Arc::new(agent.connect(Some(pin)).await?);
    let talk = Talk::new(Arc::clone(&client));
    let known = match &saying.answers {
        Some((task, question)) => {
            let task = client.get(task, None).await?;
            let waits = task.status.state == TaskState::InputRequired
                && question_of(&task) == question.as_str();
            (!waits).then_some(task.id)
        }
        None => None,
    };
    let mut told = |event: &StreamResponse| {
        let id = match event {
            StreamResponse::Task(task) => &task.id,
            StreamResponse::StatusUpdate(update) => &update.task_id,
            StreamResponse::ArtifactUpdate(update) => &update.task_id,
            StreamResponse::Message(_) => return,
        };
        talk.is_about(id);
    };
    let ended = match known {
        Some(task) => {
            let task = client.watch(&task, until, &mut told).await;
            task.map(|task| Reply::Task(Box::new(task)))
        }
        None => client.converse(&saying.message, until, &mut told).await,
    };
    match (ended, talk.ends()) {
        (Ok(Reply::Message(message)), _) => {
            Ok(Outcome::Ok(json!({"result": result(&message.parts)})))
        }
        (Ok(Reply::Task(task)), _) => Ok(of_task(&task, changes)),
        (Err(error), None) => Err(error),
        (Err(Error::Lost { late: true, .. }), Some(id)) => {
            let cancelled = cancelled(&client, &id).await;
            let stopped = |task: &Task| task.status.state == TaskState::Canceled;
            let why = match cancelled {
                Some(task) if stopped(&task) => {
                    "the task did not come to its end in time, and was cancelled"
                }
                _ => "the task did not come to its end in time, and may go on",
            };
            Ok(nothing(why.to_owned(), TIMEOUT, changes))
        }
        (Err(error), Some(_)) => Ok(nothing(account(&error), FAILED, changes)),
    }
}

/// A task that came to nothing. What it did before is not undone by that.
fn nothing(why: String, rule: &str, changes: bool) -> Outcome {
    match changes {
        true => unknown(&why, None),
        false => Outcome::failed(why, rule, TELL),
    }
}

fn failed(error: &Error, changes: bool) -> Outcome {
    match error {
        Error::Forbidden(why) => Outcome::Refused(deny(ADDRESS, why.as_str())),
        Error::Unapproved(why) => Outcome::Refused(deny(CARD, why.as_str())),
        Error::Unsigned(why) => Outcome::Refused(deny(CARD, why.to_string())),
        Error::Lost { late: true, .. } => nothing(account(error), TIMEOUT, changes),
        error => nothing(account(error), FAILED, changes && !error.is_unmade()),
    }
}

/// What went wrong, and what whoever reads it can do.
fn account(error: &Error) -> String {
    let next = match error {
        Error::Unreachable(_) => "see whether its server runs, and its address in [a2a.agents]",
        Error::Lost { late: true, .. } => "see whether it hangs, or give it more time (timeout_s)",
        Error::Lost { .. } => "see in its server's log what became of it",
        Error::Fault(fault) if matches!(fault.kind.status(), 401 | 403) => {
            "see whether [a2a.agents] names the right secret for it"
        }
        Error::Unreadable(_) => "ask whoever runs it",
        _ => return error.to_string(),
    };
    format!("{error}; {next}")
}

/// What a task's question is called, so that an answer to it is no answer to the next one. Empty: the agent called it nothing.
fn question_of(task: &Task) -> &str {
    let said = task.status.message.as_ref();
    said.map_or("", |message| message.message_id.as_str())
}

/// What a task that rests comes to.
fn of_task(task: &Task, changes: bool) -> Outcome {
    let said = task.status.message.as_ref();
    let words = said.map(Message::text).unwrap_or_default();
    let or = |text: &str| match words.is_empty() {
        true => text.to_owned(),
        false => words.clone(),
    };
    let waits = |why: String, rule: &str, hint: &str| {
        let mut content = error_content(&why, rule, hint);
        if let Value::Object(map) = &mut content {
            map.insert("task_id".into(), task.id.clone().into());
            map.insert("context_id".into(), task.context_id.clone().into());
            map.insert("question".into(), question_of(task).into());
        }
        Outcome::Failed(content)
    };
    match task.status.state {
        TaskState::Completed => {
            let given = task.artifacts.iter().flat_map(|given| &given.parts);
            let parts: Vec<Part> = given.cloned().collect();
            let parts = match (parts.is_empty(), said) {
                (true, Some(message)) => message.parts.clone(),
                _ => parts,
            };
            Outcome::Ok(json!({
                "result": result(&parts), "task_id": task.id, "context_id": task.context_id
            }))
        }
        TaskState::InputRequired => waits(
            or("the agent asks something"),
            INPUT,
            "ask the user what the agent asks, and answer its task where the tool takes a task",
        ),
        TaskState::AuthRequired => waits(
            or("the agent waits for an approval"),
            APPROVAL,
            "tell the user: no message approves it",
        ),
        TaskState::Rejected => Outcome::failed(or("the agent rejected the task"), FAILED, TELL),
        TaskState::Canceled => nothing(or("the task was cancelled"), FAILED, changes),
        TaskState::Failed | TaskState::Submitted | TaskState::Working => {
            nothing(or("the task failed"), FAILED, changes)
        }
    }
}

/// The text of all parts, and their data. Files are named, not fetched.
fn result(parts: &[Part]) -> Value {
    let mut texts = Vec::new();
    let mut data = Vec::new();
    let mut files = Vec::new();
    for part in parts {
        match &part.content {
            Content::Text(text) => texts.push(text.as_str()),
            Content::Data(value) => data.push(value.clone()),
            Content::Url(url) => files.push(json!({"url": url, "filename": part.filename})),
            Content::Raw(_) => files.push(json!({"filename": part.filename})),
        }
    }
    let mut result = Map::new();
    result.insert("text".into(), texts.join("\n").into());
    for (key, values) in [("data", data), ("files", files)] {
        if !values.is_empty() {
            result.insert(key.into(), values.into());
        }
    }
    Value::Object(result)
}

fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    if node.as_map().is_none() {
        let form = "a2a is a map of agent, text, data, task, question and context";
        faults.push((node.place, form.to_owned()));
        return faults;
    }
    only(node, &KEYS, &mut faults);
    let named = node
        .get("agent")
        .map(|agent| (agent.place, agent.as_text()));
    match named {
        Some((_, Some(name))) if !name.is_empty() && !name.contains(['{', '}', '$']) => {}
        Some((place, _)) => faults.push((
            place,
            "agent is a name of [a2a.agents]; no value of a call names it".to_owned(),
        )),
        None => faults.push((node.place, "a2a needs an agent".to_owned())),
    }
    if let Some(waits) = node
        .get("waits")
        .filter(|waits| waits.as_text() != Some("result"))
    {
        faults.push((waits.place, "waits can be result".to_owned()));
    }
    for key in ["text", "task", "question", "context"] {
        if let Some(text) = node.get(key) {
            check_text(text, values, &mut faults);
        }
    }
    if let Some(data) = node.get("data") {
        check_shape(data, values, &mut faults);
    }
    if node.get("text").is_none() && node.get("data").is_none() {
        faults.push((node.place, "a2a needs text, data or both".to_owned()));
    }
    faults
}

#[cfg(test)]
#[path = "a2a_tests.rs"]
mod a2a_tests;
