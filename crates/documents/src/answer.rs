//! The child's side: bytes on stdin, one line of JSON on stdout. The parent's side starts it, confined, and reads the line.

use crate::{Form, Text, Unread, text};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What one process says to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Text(Text),
    /// Why there is none, as a sentence without its end.
    Refused(String),
}

impl Answer {
    pub fn to_json(&self) -> Value {
        match self {
            Answer::Text(text) => json!({"title": text.title, "text": text.text}),
            Answer::Refused(why) => json!({"refused": why}),
        }
    }

    /// None: it is no answer.
    pub fn of_json(value: &Value) -> Option<Answer> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some(why) = text("refused") {
            return Some(Answer::Refused(why));
        }
        Some(Answer::Text(Text {
            title: text("title")?,
            text: text("text")?,
        }))
    }
}

/// Reads a file. A crate that a file breaks is a file that is refused.
pub fn answer(form: &str, bytes: &[u8]) -> Answer {
    let Some(form) = Form::named(form) else {
        return Answer::Refused(format!("there is no form {form:?}"));
    };
    let read = catch_unwind(AssertUnwindSafe(|| text(form, bytes)));
    let read = read.unwrap_or_else(|_| {
        let why = "what it holds breaks the rules of its form";
        Err(Unread::Damaged(why.to_owned()))
    });
    match read {
        Ok(text) => Answer::Text(text),
        Err(why) => Answer::Refused(why.to_string()),
    }
}
