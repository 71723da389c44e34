//! How the tools of what is known answer: a page of a text, or why there is none.

use agentctl_engine::toolset::{Outcome, text_page};
use agentctl_knowledge::KnowledgeError;
use serde_json::{Value, json};

pub(super) fn knowledge_failure(error: &KnowledgeError) -> Outcome {
    let (rule, hint) = match error {
        KnowledgeError::NotFound { known, .. } => (
            "knowledge.not_found",
            format!("there are: {}", known.join(", ")),
        ),
        KnowledgeError::Outside { .. } => (
            "knowledge.outside",
            "name a file as load_skill lists it".to_owned(),
        ),
        KnowledgeError::Unreadable { .. } | KnowledgeError::Unwritable { .. } => {
            ("knowledge.io", "go on without it".to_owned())
        }
        KnowledgeError::Invalid(_) => ("arguments", "shorten or complete it".to_owned()),
    };
    Outcome::failed(error.to_string(), rule, &hint)
}

/// A page of a text, with what else is told.
pub(super) fn paged(content: Value, text: &str, cursor: Option<&str>) -> Outcome {
    let (text, next) = match text_page(text, cursor) {
        Ok(page) => page,
        Err(why) => {
            let hint = "use `next_cursor` as the answer before gave it";
            return Outcome::failed(why, "arguments", hint);
        }
    };
    let Value::Object(mut map) = content else {
        return Outcome::Ok(content);
    };
    map.insert("text".into(), Value::String(text));
    if let Some(next) = next {
        map.insert("next_cursor".into(), json!(next));
    }
    Outcome::Ok(Value::Object(map))
}
