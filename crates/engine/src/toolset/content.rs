//! How results look to a model: an answer, or `{"error", "rule", "hint"}`; long answers in pages with a cursor.

use super::error::{BackendError, BackendErrorKind};
use agentctl_base::decision::Decision;
use agentctl_base::length::{longest_length, written_length};
use agentctl_base::model::{ToolResult, ToolStatus};
use serde_json::{Value, json};

/// A page's size in bytes of JSON: about 25,000 tokens.
pub const PAGE_BYTES: usize = 100_000;

/// What a tool came to, before it is redacted and journaled.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Ok(Value),
    Failed(Value),
    /// The call may have happened, or only in part.
    Unknown(Value),
    /// It was made, and what it left cannot be read now. The run stops here, and looks again when it is taken up.
    Unread(BackendError),
    Refused(Decision),
}

impl Outcome {
    pub fn failed(error: impl Into<String>, rule: &str, hint: &str) -> Self {
        Outcome::Failed(error_content(&error.into(), rule, hint))
    }
}

pub fn error_content(error: &str, rule: &str, hint: &str) -> Value {
    json!({"error": error, "rule": rule, "hint": hint})
}

const UNAVAILABLE: &str = "backend.unavailable";

/// Whether a result only says that nobody could be reached: what became of the call is found out when the run is taken up.
pub fn is_unreachable(result: &ToolResult) -> bool {
    matches!(result.status, ToolStatus::Failed | ToolStatus::Unknown)
        && result.content.get("rule").and_then(Value::as_str) == Some(UNAVAILABLE)
}

pub fn backend_failure(error: &BackendError) -> Value {
    let rule = match error.kind {
        BackendErrorKind::NotFound => "backend.not_found",
        BackendErrorKind::Unavailable => UNAVAILABLE,
        BackendErrorKind::Rejected => "backend.rejected",
        BackendErrorKind::Unsupported => "backend.unsupported",
    };
    let mut content = error_content(&error.message, rule, error.hint.as_deref().unwrap_or(""));
    if error.kind == BackendErrorKind::Unsupported
        && let Value::Object(map) = &mut content
    {
        map.insert("executed".into(), Value::Bool(false));
    }
    content
}

/// A page of a list: as many items from the cursor on as fit, and the cursor of the rest.
pub fn page(items: Vec<Value>, cursor: Option<&str>) -> Result<Page, String> {
    let start: usize = match cursor {
        None => 0,
        Some(text) => text
            .parse()
            .ok()
            .filter(|at| *at <= items.len())
            .ok_or_else(|| format!("{text:?} is no cursor of this answer"))?,
    };
    let total = items.len();
    let rest = items.get(start..).unwrap_or_default();
    let all_fit = rest.iter().map(longest_length).sum::<usize>() <= PAGE_BYTES;
    let mut size = 0;
    let mut taken = Vec::with_capacity(rest.len());
    for item in items.into_iter().skip(start) {
        if !all_fit {
            size += written_length(&item);
        }
        if size > PAGE_BYTES && !taken.is_empty() {
            break;
        }
        taken.push(item);
    }
    let end = start + taken.len();
    Ok(Page {
        items: taken,
        next: (end < total).then(|| end.to_string()),
        total,
    })
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub items: Vec<Value>,
    pub next: Option<String>,
    pub total: usize,
}

/// A page of a text; cuts between characters, after a line where there is one.
pub fn text_page(text: &str, cursor: Option<&str>) -> Result<(String, Option<String>), String> {
    let start: usize = match cursor {
        None => 0,
        Some(at) => at
            .parse()
            .ok()
            .filter(|at| text.is_char_boundary(*at))
            .ok_or_else(|| format!("{at:?} is no cursor of this answer"))?,
    };
    let rest = text.get(start..).unwrap_or("");
    if rest.len() <= PAGE_BYTES {
        return Ok((rest.to_owned(), None));
    }
    let mut end = PAGE_BYTES;
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    let head = rest.get(..end).unwrap_or(rest);
    let head = head
        .rfind('\n')
        .and_then(|at| head.get(..=at))
        .unwrap_or(head);
    Ok((head.to_owned(), Some((start + head.len()).to_string())))
}
