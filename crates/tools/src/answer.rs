//! What an answer comes to. What a call that changes something did is known only from an answer that was read whole: all else is
//! unknown, and is not sent again.

use crate::http::AnswerSpec;
use agentctl_engine::toolset::{Outcome, error_content};
use serde_json::{Map, Value, json};

/// What became of a request.
pub(crate) enum Sent {
    /// It never left this machine.
    Not(String),
    /// It was sent, and no whole answer came.
    Lost { why: String, late: bool },
    Answered {
        status: u16,
        body: Vec<u8>,
        /// What the server says of when it may be asked again: `Retry-After`.
        after: Option<String>,
    },
    /// An answer came that cannot be read: larger than allowed, or packed.
    Unreadable { status: u16, why: String },
}

/// The rules that results name.
pub(crate) const TIMEOUT: &str = "tools.timeout";
pub(crate) const FAILED: &str = "tools.failed";
pub(crate) const GONE: &str = "tools.gone";
pub(crate) const UNKNOWN: &str = "tools.unknown_outcome";

const AGAIN: &str = "it may have happened: do not make the call again, say that you do not know";
pub(crate) const TELL: &str = "say that it did not work";

/// The status of a server that takes no more for now. What it did not take was not done.
const TOO_MANY: u16 = 429;

/// Longer words of a server are cut, in characters.
const MAX_SAID: usize = 400;

/// Whether the same request may be sent again and may then succeed. One that changes something is sent again only where it never left.
pub(crate) fn may_retry(sent: &Sent, changes: bool) -> bool {
    match sent {
        Sent::Not(_) => true,
        Sent::Lost { late, .. } => !changes && !late,
        Sent::Answered { status, .. } => !changes && (*status == TOO_MANY || *status >= 500),
        Sent::Unreadable { .. } => false,
    }
}

pub(crate) fn outcome(sent: Sent, spec: &AnswerSpec, changes: bool, needs_list: bool) -> Outcome {
    match sent {
        Sent::Not(why) => Outcome::failed(why, FAILED, TELL),
        Sent::Lost { why, .. } if changes => unknown(&why, None),
        Sent::Lost { why, late: true } => Outcome::failed(why, TIMEOUT, TELL),
        Sent::Lost { why, late: false } => Outcome::failed(why, FAILED, TELL),
        Sent::Unreadable { status, why } if changes && status < 400 => unknown(&why, Some(status)),
        Sent::Unreadable { status, why } => failed(&why, FAILED, status),
        Sent::Answered {
            status,
            body,
            after,
        } => {
            let read = serde_json::from_slice::<Value>(&body);
            let came = answered(status, read, spec, changes, needs_list);
            if status == TOO_MANY {
                return later(came, after.as_deref());
            }
            came
        }
    }
}

/// A failure that says when the call may be made again.
fn later(came: Outcome, after: Option<&str>) -> Outcome {
    let Outcome::Failed(mut content) = came else {
        return came;
    };
    let when = match after.map(str::trim).filter(|after| !after.is_empty()) {
        Some(after) if after.bytes().all(|b| b.is_ascii_digit()) && after.len() <= 6 => {
            format!("in {after} s")
        }
        Some(date) => format!("after {}", date.chars().take(40).collect::<String>()),
        None => "later".to_owned(),
    };
    let why = content.get("error").and_then(Value::as_str);
    let why = why.unwrap_or_default().trim_end_matches('.').to_owned();
    if let Value::Object(map) = &mut content {
        map.insert(
            "error".into(),
            format!("{why}; too many calls: it may be asked for again {when}").into(),
        );
        let hint = format!("say that it did not work, and that it may be asked for again {when}");
        map.insert("hint".into(), hint.into());
    }
    Outcome::Failed(content)
}

fn answered(
    status: u16,
    read: Result<Value, serde_json::Error>,
    spec: &AnswerSpec,
    changes: bool,
    needs_list: bool,
) -> Outcome {
    // Where a change is answered with another address, it may have been made.
    if (status >= 500 || (300..400).contains(&status)) && changes {
        return unknown(
            &format!("the server answered with status {status}"),
            Some(status),
        );
    }
    if !(200..300).contains(&status) {
        let body = read.unwrap_or_default();
        let why = said(&body, spec)
            .unwrap_or_else(|| format!("the server answered with status {status}"));
        let told = texts(&body, spec).any(is_about_the_tool);
        let rule = match (needs_list, status) {
            (true, 410) => GONE,
            (true, 404) if told => GONE,
            _ => FAILED,
        };
        return failed(&why, rule, status);
    }
    let body = match read {
        Ok(body) => body,
        Err(_) if changes => return unknown("the answer is not JSON", Some(status)),
        Err(_) => return failed("the answer is not JSON", FAILED, status),
    };
    let fails = |(key, value): &(String, Value)| body.get(key) == Some(value);
    if !spec.failed_when.is_empty() && spec.failed_when.iter().any(fails) {
        let why =
            said(&body, spec).unwrap_or_else(|| "the server says that it did not work".to_owned());
        return failed(&why, FAILED, status);
    }
    if spec.lists_tools {
        return match listed(&body) {
            Some(tools) => Outcome::Ok(json!({"tools": tools})),
            None => failed("the answer is no list of tools", FAILED, status),
        };
    }
    let value = match &spec.value {
        None => body,
        Some(key) => match body.get(key) {
            Some(value) => value.clone(),
            None if changes => return unknown(&format!("the answer has no {key:?}"), Some(status)),
            None => return failed(&format!("the answer has no {key:?}"), FAILED, status),
        },
    };
    Outcome::Ok(json!({"result": value}))
}

/// A server that no longer has a tool says so; one that has no such issue says something else.
fn is_about_the_tool(why: &str) -> bool {
    let why = why.to_lowercase().replace('_', " ");
    let gone = [
        "not found",
        "gone",
        "no longer",
        "unknown",
        "no such",
        "not exist",
        "removed",
    ];
    why.contains("tool") && gone.iter().any(|word| why.contains(word))
}

pub(crate) fn unknown(why: &str, status: Option<u16>) -> Outcome {
    let mut content = error_content(why, UNKNOWN, AGAIN);
    if let (Value::Object(map), Some(status)) = (&mut content, status) {
        map.insert("status".into(), status.into());
    }
    Outcome::Unknown(content)
}

/// No answer came in the time that the tool's file gives a call.
pub(crate) fn late(changes: bool, rule: &str) -> Outcome {
    match changes {
        true => unknown("no answer came in time", None),
        false => Outcome::failed("no answer came in time", rule, TELL),
    }
}

fn failed(why: &str, rule: &str, status: u16) -> Outcome {
    let mut content = error_content(why, rule, TELL);
    if let Value::Object(map) = &mut content {
        map.insert("status".into(), status.into());
    }
    Outcome::Failed(content)
}

/// What the body says of the reason, cut.
fn said(body: &Value, spec: &AnswerSpec) -> Option<String> {
    let text = texts(body, spec).find(|text| !text.trim().is_empty())?;
    Some(text.chars().take(MAX_SAID).collect())
}

/// The keys that say why.
fn texts<'b>(body: &'b Value, spec: &AnswerSpec) -> impl Iterator<Item = &'b str> {
    let keys = spec.error.iter();
    let texts: Vec<&str> = keys.filter_map(|key| body.get(key)?.as_str()).collect();
    texts.into_iter()
}

/// A list of tools in either of the forms that are in use: `[{id, name, description, parameters}]`, bare or under `tools`, and
/// `{type: function, function: {name, description, parameters}}`. None: it is none of them.
fn listed(body: &Value) -> Option<Vec<Value>> {
    let items = body.as_array().or_else(|| body.get("tools")?.as_array())?;
    // An entry that is no tool loses no other one.
    let tools: Vec<Value> = items.iter().filter_map(one).collect();
    (!tools.is_empty() || items.is_empty()).then_some(tools)
}

fn one(item: &Value) -> Option<Value> {
    let of = item.get("function").unwrap_or(item);
    let text = |key: &str| of.get(key).and_then(Value::as_str);
    let id = text("id").or_else(|| text("name"))?;
    let mut tool = Map::new();
    tool.insert("id".into(), id.into());
    tool.insert("name".into(), text("name").unwrap_or(id).into());
    tool.insert(
        "description".into(),
        text("description").unwrap_or_default().into(),
    );
    let parameters = of.get("parameters").filter(|p| p.is_object()).cloned();
    tool.insert(
        "parameters".into(),
        parameters.unwrap_or_else(|| json!({"type": "object"})),
    );
    Some(Value::Object(tool))
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod answer_tests;
