//! Approvals: a question about one exact call, with what it would change. The answer counts for the hash that the question
//! carried, in this run, until the question's time is up, and for one call; no text that a model writes can be one.

use crate::guards::{GuardState, approval_hash};
use agentctl_base::decision::Decision;
use agentctl_base::question::{Glance, Proposal, Question, QuestionOption};
use jiff::Timestamp;
use serde_json::{Value, json};

/// What the answers so far make of a decision to ask.
pub(super) enum Asked {
    Allowed,
    Refused(Decision),
    Open(Box<Question>),
}

/// What a decision to ask is about.
pub(super) struct Ask<'a> {
    pub rule: &'a str,
    pub reason: &'a str,
    /// What is being done, in words: "delete the workflow "Orders"".
    pub what: &'a str,
    pub subject: &'a Value,
    /// What `--yes` may answer.
    pub recommended: Option<&'a Value>,
}

/// The call that is asked for, as the user is shown it.
pub(super) struct Shown {
    pub role: String,
    pub tool: String,
    pub arguments: Value,
    pub diff: Option<String>,
    pub after: Option<Value>,
    pub glance: Option<Glance>,
}

/// What was said so far; an open question is made only when there is somebody to ask. `unasked`: nobody is, and this is what the user
/// can do.
pub(super) fn settle_ask(
    state: &GuardState,
    unasked: Option<&str>,
    now: Timestamp,
    ask: &Ask<'_>,
    open: impl FnOnce() -> (Shown, Timestamp),
) -> Asked {
    let hash = approval_hash(ask.rule, ask.subject);
    let refused = |reason: String| {
        Asked::Refused(Decision::Deny {
            rule: ask.rule.to_owned(),
            reason,
        })
    };
    match state.answer(&hash, now) {
        Some(true) => Asked::Allowed,
        Some(false) => refused(format!("the user said no: {}", ask.reason)),
        None => {
            if let Some(way) = unasked {
                return refused(format!(
                    "{}; that needs the user's word, and nobody can be asked here: {way}",
                    ask.reason
                ));
            }
            let (shown, expires) = open();
            Asked::Open(Box::new(question(state, ask, hash, shown, expires)))
        }
    }
}

fn question(
    state: &GuardState,
    ask: &Ask<'_>,
    hash: String,
    shown: Shown,
    expires: Timestamp,
) -> Question {
    let topic = ask.rule.rsplit('.').next().unwrap_or(ask.rule);
    Question {
        id: state.next_question_id("approve"),
        topic: format!("approve-{topic}"),
        text: format!("Allow to {}? {}", ask.what, sentence(ask.reason)),
        options: vec![
            QuestionOption::new("approve", "Yes, this once"),
            QuestionOption::new("refuse", "No, leave it as it is"),
        ],
        recommended: ask.recommended.cloned(),
        required: true,
        schema: json!({"type": "string", "enum": ["approve", "refuse"]}),
        approves: Some(hash),
        proposal: Some(Box::new(Proposal {
            rule: ask.rule.to_owned(),
            role: shown.role,
            tool: shown.tool,
            arguments: shown.arguments,
            diff: shown.diff,
            after: shown.after,
            glance: shown.glance,
            expires_at: expires.to_string(),
            hidden: None,
        })),
        asked_by: None,
        asks_secret: false,
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => {
            let rest = chars.as_str();
            let end = if rest.ends_with(['.', '?', '!']) {
                ""
            } else {
                "."
            };
            format!("{}{rest}{end}", first.to_uppercase())
        }
        None => String::new(),
    }
}
