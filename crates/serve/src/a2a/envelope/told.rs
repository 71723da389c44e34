//! Answers in the envelope's form. Their ids and times are those of what they tell, so that the same is told the same again.

use super::read::Envelope;
use crate::a2a::refused::Refused;
use crate::a2a::task::{REPLY, Seen};
use crate::answer::{Answer, json};
use crate::runs::Found;
use crate::server::ServedPack;
use agentctl_a2a::{Artifact, Content, Kind, Part, TaskState};
use agentctl_sessions::Answered;
use hyper::StatusCode;
use hyper::header::{HeaderValue, RETRY_AFTER};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json as value};

/// Why a message has no result.
#[derive(Debug)]
pub struct Reason {
    pub reason: &'static str,
    pub message: String,
    /// Sent again later, it may be done.
    pub retryable: bool,
    pub status: StatusCode,
    /// Seconds.
    pub retry_after: Option<u64>,
    pub errors: Vec<String>,
    pub task: Option<String>,
}

impl Reason {
    pub fn new(reason: &'static str, message: impl Into<String>, status: StatusCode) -> Reason {
        Reason {
            reason,
            message: message.into(),
            retryable: false,
            status,
            retry_after: None,
            errors: Vec::new(),
            task: None,
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: &str) -> Reason {
        self.message = format!("{}; {hint}", self.message);
        self
    }

    pub fn of(refused: &Refused) -> Reason {
        let (reason, retryable) = match refused.fault.kind {
            Kind::TaskNotFound => ("task_not_found", false),
            Kind::UnsupportedOperation => ("unsupported_operation", false),
            Kind::Internal => ("internal", true),
            Kind::Http(403) => ("forbidden", false),
            Kind::Http(413) => ("too_large", false),
            Kind::Http(429) => ("too_often", true),
            Kind::Http(503 | 504) => ("busy", true),
            _ => ("invalid_message", false),
        };
        let status = StatusCode::from_u16(refused.fault.kind.status());
        let mut told = Reason::new(
            reason,
            refused.fault.message.clone(),
            status.unwrap_or(StatusCode::BAD_REQUEST),
        );
        told.retryable = retryable;
        told.retry_after = refused.retry_after;
        let fields = refused.fault.fields.iter();
        told.errors = fields
            .map(|(field, why)| format!("{field}: {why}"))
            .collect();
        told
    }
}

/// What an answer needs to know of the message that it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct To {
    id: String,
    sender: String,
    /// The type of its answer.
    answer: String,
}

impl To {
    pub fn of(envelope: &Envelope) -> To {
        To {
            id: envelope.id.clone(),
            sender: envelope.sender.clone(),
            answer: envelope.of.answer().to_owned(),
        }
    }
}

/// An answer to a message.
pub struct Reply {
    pub text: Value,
    pub run: Option<String>,
}

/// What is told to whom.
fn envelope(
    (of, id, at): (&str, &str, &str),
    agent: &str,
    receiver: &str,
    payload: &Value,
) -> Value {
    value!({
        "type": of, "version": "1.0", "id": id, "timestamp": at, "sender": agent, "receiver": receiver, "payload": payload,
        "metadata": {}
    })
}

impl Reply {
    /// What was answered before.
    pub fn again(answered: &Answered) -> Reply {
        Reply {
            text: serde_json::from_str(&answered.body).unwrap_or_default(),
            run: answered.run.clone(),
        }
    }

    /// How a run stands.
    pub fn of(pack: &ServedPack, to: &To, found: &Found, seen: &Seen) -> Reply {
        let task = &seen.task;
        let said = task.status.message.as_ref();
        let text = said.map(agentctl_a2a::Message::text).unwrap_or_default();
        let mut payload = value!({
            "in_reply_to": to.id, "task_id": task.id, "context_id": task.context_id,
        });
        let error = |reason: &str, retryable: bool| value!({"reason": reason, "message": text, "retryable": retryable});
        let (of, more) = match task.status.state {
            TaskState::Completed => (
                to.answer.as_str(),
                value!({"status": "completed", "results": results(seen)}),
            ),
            TaskState::InputRequired | TaskState::AuthRequired => {
                let asked = said.and_then(|m| m.parts.iter().find_map(data));
                let asked = asked.unwrap_or_default();
                let of = |key: &str| asked.get(key).cloned().unwrap_or_default();
                (
                    "response:input-required",
                    value!({"text": text, "question": of("question"), "expects": of("expects")}),
                )
            }
            TaskState::Failed => ("response:error", error("failed", false)),
            TaskState::Canceled => ("response:error", error("canceled", false)),
            TaskState::Rejected => ("response:error", error("rejected", false)),
            TaskState::Submitted | TaskState::Working => ("response:error", error("working", true)),
        };
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        let id = format!("{}-{}", task.id, seen.last);
        let agent = &pack.pack.manifest.name;
        let at = (of, id.as_str(), task.status.timestamp.as_str());
        Reply {
            text: envelope(at, agent, &to.sender, &payload),
            run: Some(found.run.clone()),
        }
    }

    /// An answer that is no run's.
    pub fn plain(agent: &str, to: &Envelope, payload: &Value) -> Reply {
        let at = jiff::Timestamp::now().to_string();
        let id = format!("{}-answer", to.id);
        Reply {
            text: envelope((to.of.answer(), &id, &at), agent, &to.sender, payload),
            run: None,
        }
    }
}

fn data(part: &Part) -> Option<Value> {
    match &part.content {
        Content::Data(value) => Some(value.clone()),
        _ => None,
    }
}

/// What a task gave: what was said, and the output for machines.
pub fn results(seen: &Seen) -> Value {
    let of = |id: &'static str| {
        let all = seen.task.artifacts.iter();
        let parts = |artifact: &Artifact| artifact.parts.clone();
        let mut found = all.filter(move |a| a.artifact_id == id);
        found.next().map(parts).unwrap_or_default()
    };
    let texts = of(REPLY).into_iter().filter_map(|part| match part.content {
        Content::Text(text) => Some(text),
        _ => None,
    });
    let output = of("output").iter().find_map(data);
    value!({"text": texts.collect::<Vec<_>>().join("\n\n"), "output": output})
}

/// `to`: what came, as far as it could be read.
pub fn error(agent: &str, to: Option<&Value>, reason: &Reason) -> Answer {
    let of = |key: &str| to.and_then(|to| to.get(key)).and_then(Value::as_str);
    let mut payload = value!({
        "reason": reason.reason, "message": reason.message, "retryable": reason.retryable, "in_reply_to": of("id")
    });
    if let Value::Object(map) = &mut payload {
        if !reason.errors.is_empty() {
            map.insert("errors".to_owned(), value!(reason.errors));
        }
        if let Some(task) = &reason.task {
            map.insert("task_id".to_owned(), value!(task));
        }
    }
    let at = jiff::Timestamp::now().to_string();
    let id = uuid::Uuid::new_v4().to_string();
    let receiver = of("sender").unwrap_or("unknown");
    let text = envelope(("response:error", &id, &at), agent, receiver, &payload);
    let mut answer = json(reason.status, &text);
    if let Some(seconds) = reason.retry_after {
        let headers = answer.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}
