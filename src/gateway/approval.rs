//! Approvals: a question about one exact call, with what it would change. The answer counts for the hash that the question
//! carried, in this run, until the question's time is up, and for one call; no text that a model writes can be one.

use super::GuardState;
use super::guard_state::next_question_id;
use super::guards;
use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_base::decision::Decision;
use agentctl_base::question::{Proposal, Question, QuestionOption};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The sha-256 of what is approved. For a call: rule, role, tool, arguments, and the workflow's hash, so that an answer for one
/// state of the workflow does not count for another.
pub fn approval_hash(rule: &str, subject: &Value) -> String {
    sha256_hex(canonical(&json!({"rule": rule, "subject": subject})).as_bytes())
}

const APPROVED: &str = "approved:";

/// The rule that the journal shows for a call that the user allowed: `approved:guard.wipe`, several joined by commas.
pub(super) fn approved(rules: &[String]) -> String {
    format!("{APPROVED}{}", rules.join(","))
}

/// The rules whose question the user answered with yes, as the journaled decision says it.
pub(super) fn approved_rules(decision: &Decision) -> impl Iterator<Item = &str> {
    let rules = match decision {
        Decision::Allow { rule } => rule.strip_prefix(APPROVED),
        _ => None,
    };
    rules.into_iter().flat_map(|rules| rules.split(','))
}

pub(super) fn is_yes(value: &Value) -> bool {
    match value {
        Value::Bool(yes) => *yes,
        Value::String(text) => matches!(
            text.trim().to_ascii_lowercase().as_str(),
            "approve" | "approved" | "yes" | "y" | "allow" | "true"
        ),
        _ => false,
    }
}

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
}

/// What was said so far; an open question is made only when there is somebody to ask.
pub(super) fn settle_ask(
    state: &GuardState,
    can_ask: bool,
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
        None if !can_ask => refused(format!(
            "{}; that needs the user's word, and nobody can be asked here: the user can do it in n8n, or with `agentctl build --workflow ID \"…\"`, which asks",
            ask.reason
        )),
        None => {
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
        id: next_question_id(state, "approve"),
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
            expires_at: expires.to_string(),
            hidden: None,
        })),
        asked_by: None,
        asks_secret: false,
    }
}

/// Which credential of one type is meant, if any.
pub(super) struct Accounts<'a> {
    pub label: &'a str,
    pub credential_type: &'a str,
    /// The nodes that need it.
    pub nodes: &'a [String],
    /// Where the node would send it, as " (which sends it to …)", where the node and not the service says it; else empty.
    pub to: &'a str,
    /// Id and name of each.
    pub fitting: Vec<(&'a str, &'a str)>,
}

/// The answer that takes none of them.
pub(super) const NO_ACCOUNT: &str = "none";

/// Asks for one of the accounts by its id. `hash`: of the call and of what there is to choose from.
pub(super) fn account_question(
    state: &GuardState,
    accounts: &Accounts<'_>,
    hash: String,
    (role, tool): (&str, &str),
    expires: Timestamp,
) -> Question {
    let mut options: Vec<QuestionOption> = accounts
        .fitting
        .iter()
        .map(|(id, name)| QuestionOption::new(*id, *name))
        .collect();
    options.push(QuestionOption::new(
        NO_ACCOUNT,
        "None of these; I choose it in n8n later",
    ));
    let ids: Vec<&Value> = options.iter().map(|option| &option.value).collect();
    let schema = json!({"type": "string", "enum": ids});
    let names: Vec<String> = accounts.nodes.iter().map(|n| format!("{n:?}")).collect();
    Question {
        id: next_question_id(state, "credential"),
        topic: "credential".to_owned(),
        text: {
            let (label, to, names) = (accounts.label, accounts.to, names.join(", "));
            match accounts.fitting.as_slice() {
                [(_, name)] => format!(
                    "Shall {names}{to} use the credential {name:?} ({label})? It is the only one of its type on the n8n."
                ),
                _ => format!(
                    "Which credential ({label}) shall {names}{to} use? Several of this type are on the n8n."
                ),
            }
        },
        options,
        // No account is better than a wrong one.
        recommended: Some(json!(NO_ACCOUNT)),
        required: true,
        schema,
        approves: Some(hash),
        proposal: Some(Box::new(Proposal {
            rule: guards::ACCOUNT.to_owned(),
            role: role.to_owned(),
            tool: tool.to_owned(),
            arguments: json!({"credential_type": accounts.credential_type, "nodes": accounts.nodes}),
            diff: None,
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
        Some(first) => format!("{}{}.", first.to_uppercase(), chars.as_str()),
        None => String::new(),
    }
}
