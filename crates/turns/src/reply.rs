//! The reply of a turn: what every door makes its own answer of.

use agentctl_base::question::{Outcome, Question};
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{Left, Reply, RunReport};
use agentctl_engine::view::RunUsage;
use agentctl_sessions::Session;
use serde::Serialize;
use serde_json::{Map, Value};

/// What the conversation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expects {
    Nothing,
    /// The next message answers the question.
    Answer,
    /// The user's approval, which no message of a conversation is.
    Approval,
}

/// The JSON of `chat --output-format json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnReply {
    pub run_id: String,
    pub session_id: String,
    /// What a caller asks about later: the run that the task began with.
    pub task_id: String,
    pub pack: String,
    pub outcome: Outcome,
    /// Why it ended as it did, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The case that an agent chose first; null: none had to choose.
    pub route: Option<String>,
    pub messages: Vec<Reply>,
    /// The flow's own output, for machines.
    pub output: Value,
    /// The fields of the session after the turn.
    pub state: Map<String, Value>,
    pub expects: Expects,
    pub question: Option<Question>,
    /// The tools whose calls changed something, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub did: Vec<String>,
    pub usage: RunUsage,
    pub exit_code: u8,
}

impl TurnReply {
    pub(super) fn of(
        pack: &Pack,
        session: &str,
        report: &RunReport,
        left: &Left,
        reset: &[String],
    ) -> TurnReply {
        let question = report.questions.first().cloned();
        let expects = match &question {
            None => Expects::Nothing,
            Some(question) if question.approves.is_some() => Expects::Approval,
            Some(_) => Expects::Answer,
        };
        let mut messages: Vec<Reply> = Vec::new();
        if !reset.is_empty() {
            messages.push(Reply {
                text: format!(
                    "The rules of this conversation changed; set back: {}.",
                    reset.join(", ")
                ),
                data: Value::Null,
                attachment: None,
            });
        }
        messages.extend(left.said.iter().cloned());
        TurnReply {
            run_id: report.run_id.clone(),
            session_id: session.to_owned(),
            task_id: report.run_id.clone(),
            pack: pack.manifest.name.clone(),
            outcome: report.outcome,
            message: match report.outcome {
                Outcome::Complete => String::new(),
                _ => report.message.clone(),
            },
            route: left.route.clone(),
            messages,
            output: report.output.clone().unwrap_or_default(),
            state: left.fields.clone(),
            expects,
            question,
            did: left.did.clone(),
            usage: report.usage,
            // A turn that replied did what it is for, also where it asks something.
            exit_code: match report.outcome {
                Outcome::Waiting => 0,
                _ => report.exit_code,
            },
        }
    }

    /// Of a message that the program answered by itself.
    pub(super) fn of_command(
        pack: &Pack,
        session: &Session,
        report: &RunReport,
        state: Map<String, Value>,
    ) -> TurnReply {
        let answer = Reply {
            text: report.message.clone(),
            data: Value::Null,
            attachment: None,
        };
        TurnReply {
            run_id: report.run_id.clone(),
            session_id: session.id.clone(),
            task_id: report.run_id.clone(),
            pack: pack.manifest.name.clone(),
            outcome: report.outcome,
            message: String::new(),
            route: None,
            messages: vec![answer],
            output: Value::Null,
            state,
            expects: Expects::Nothing,
            question: None,
            did: Vec::new(),
            usage: report.usage,
            exit_code: report.exit_code,
        }
    }
}
