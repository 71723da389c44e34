//! A message of another agent, read as what is said in a conversation.

use super::refused::Refused;
use super::task;
use super::{chain, find, task::Seen};
use crate::ask::Ask;
use crate::once::Once;
use crate::places::Priority;
use crate::problem::Problem;
use crate::runs::Found;
use crate::server::{ServedPack, Server};
use agentctl_a2a::{Content, Fault, Kind, Message, Role, SendMessage};
use agentctl_sessions::SessionKey;
use agentctl_turns::Submit;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What can be sent, and what comes back.
pub const MODES: [&str; 2] = ["text/plain", "application/json"];
/// The longest id of a message, in characters.
const MAX_ID: usize = 200;

/// What a message does.
pub struct Said {
    pub key: SessionKey,
    pub submit: Submit,
    pub once: Once,
    pub priority: Priority,
    /// An answer for machines to the question of this run: the question, and the answer.
    pub answers: Option<(Found, String, Value)>,
    /// The last record of the task that it is for; 0: it is for a new one.
    pub last: u64,
}

/// Reads a request. `tenant`: as it says; None: it does not.
pub async fn read(
    server: &Server,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    (request, once): (&SendMessage, &Once),
    tenant: Option<&str>,
) -> Result<Said, Refused> {
    let message = &request.message;
    fits_modes(request)?;
    let name = &pack.pack.manifest.name;
    let (text, data) = contents(message)?;
    let to = match filled(message.task_id.as_ref()) {
        Some(id) => Some(open(server, ask, pack, id, message).await?),
        None => None,
    };
    let context = filled(message.context_id.as_ref());
    let key = match &to {
        Some((found, _)) => found.key.clone(),
        None => {
            let new = uuid::Uuid::new_v4().to_string();
            ask.key(name, tenant, None, context.unwrap_or(&new))?
        }
    };
    // A message for a task that waits for one, or for its conversation, goes on with it.
    let goes_on = match (&to, context) {
        (Some((found, seen)), _) => chain::going_on(found, seen),
        (None, Some(_)) => chain::waiting(server, pack, &key).await?,
        (None, None) => None,
    };
    let question = |(_, seen): &(Found, Seen)| seen.question.clone();
    let asked = to.as_ref().and_then(question);
    // A message that goes on with a task that waits is a run of its own, told from its first record on.
    let last = to.as_ref().filter(|_| goes_on.is_none());
    let last = last.map_or(0, |(_, seen)| seen.last);
    // Text answers as in every conversation; data alone is the answer itself.
    let answers = match (to, asked, text.is_empty(), data.as_slice()) {
        (Some((found, _)), Some(question), true, [only]) => {
            let named = only.get(&question).filter(|_| is_one(only));
            Some((found, question.clone(), named.unwrap_or(only).clone()))
        }
        _ => None,
    };
    let mut input = input(pack, message, &text, data)?;
    if let Some(goes_on) = &goes_on {
        input.insert(chain::GOES_ON.to_owned(), goes_on.told());
    }
    let open = filled(message.task_id.as_ref()).filter(|_| goes_on.is_none());
    let submit = Submit {
        input,
        message: Some(text),
        request: Some(once.id.clone()),
        to: open.map(str::to_owned),
        heard: Some(message.message_id.clone()),
        ..Submit::default()
    };
    Ok(Said {
        key,
        submit,
        once: once.clone(),
        priority: Priority::of(message.metadata.as_ref()),
        answers,
        last,
    })
}

/// How often a message is taken: once.
pub fn once(ask: &Ask, pack: &ServedPack, message: &Message) -> Result<Once, Fault> {
    fits(message)?;
    let raw = serde_json::to_vec(message)
        .map_err(|e| Fault::new(Kind::Internal, format!("a message cannot be written: {e}")))?;
    Ok(Once::named(ask, &door(pack), &message.message_id, &raw))
}

/// The same of a message of another form: its id, and all that it says.
pub fn once_of(ask: &Ask, pack: &ServedPack, id: &str, said: &str) -> Once {
    Once::named(ask, &door(pack), id, said.as_bytes())
}

/// What a message of this client with this id is kept under.
pub fn id_of(ask: &Ask, pack: &ServedPack, message: &str) -> String {
    Once::named(ask, &door(pack), message, b"").id
}

fn door(pack: &ServedPack) -> String {
    format!("a2a/{}", pack.pack.manifest.name)
}

fn is_one(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.len() == 1)
}

fn filled(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

pub fn fits(message: &Message) -> Result<(), Fault> {
    let length = message.message_id.chars().count();
    if length == 0 || length > MAX_ID {
        let why = format!("has 1 to {MAX_ID} characters, and names this message alone");
        return Err(Fault::field("message.messageId", why));
    }
    if message.role != Role::User {
        return Err(Fault::field(
            "message.role",
            "a client's messages are of ROLE_USER",
        ));
    }
    match message.parts.is_empty() {
        false => Ok(()),
        true => Err(Fault::field("message.parts", "at least one part is needed")),
    }
}

/// Some of what comes back has to be taken.
fn fits_modes(request: &SendMessage) -> Result<(), Fault> {
    let Some(configuration) = &request.configuration else {
        return Ok(());
    };
    let modes = configuration.accepted_output_modes.as_deref();
    let takes = |mode: &String| {
        let known = |ours: &&str| mode == ours || mode == "*/*" || mode == "text/*";
        MODES.iter().any(known)
    };
    match modes.unwrap_or_default() {
        [] => Ok(()),
        modes if modes.iter().any(takes) => Ok(()),
        modes => Err(Fault::new(
            Kind::ContentTypeNotSupported,
            format!(
                "answers are {}, none of which is among {}",
                MODES.join(" and "),
                modes.join(", ")
            ),
        )),
    }
}

/// The text, and each part of data.
fn contents(message: &Message) -> Result<(String, Vec<Value>), Fault> {
    let mut data = Vec::new();
    for part in &message.parts {
        match &part.content {
            Content::Text(_) => {}
            Content::Data(value) => data.push(value.clone()),
            Content::Raw(_) | Content::Url(_) => {
                return Err(Fault::new(
                    Kind::ContentTypeNotSupported,
                    "files are not taken: send text and data parts",
                ));
            }
        }
    }
    Ok((message.text(), data))
}

/// The task that a message is for: one that waits.
async fn open(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    id: &str,
    message: &Message,
) -> Result<(Found, Seen), Refused> {
    let found = find(server, ask, pack, id).await?;
    if filled(message.context_id.as_ref()).is_some_and(|named| named != found.key.conversation) {
        let why = "is another one than the task's: leave it out, or send the task's own";
        return Err(Fault::field("message.contextId", why).into());
    }
    let seen = task::look(server, &found).await?;
    Ok((found, seen))
}

/// What the flow sees as `input` besides the message.
fn input(
    pack: &ServedPack,
    message: &Message,
    text: &str,
    mut data: Vec<Value>,
) -> Result<Map<String, Value>, Refused> {
    let data = match data.len() {
        0 => Value::Null,
        1 => data.remove(0),
        _ => Value::Array(data),
    };
    let metadata = message.metadata.clone().unwrap_or_default();
    let id = &message.message_id;
    let seen = json!({"id": id, "text": text, "data": data, "metadata": metadata});
    let channel = &pack.pack.manifest.channels.a2a;
    let mut input = channel.take(&seen).map_err(Problem::fields)?;
    if !data.is_null() {
        input.insert("data".to_owned(), data);
    }
    if !metadata.is_empty() {
        input.insert("metadata".to_owned(), metadata.into());
    }
    Ok(input)
}
