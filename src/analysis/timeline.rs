//! What happened, in order: the events that say something to a person.

use agentctl_base::model::ToolStatus;
use agentctl_engine::store::{Event, Record};
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moment {
    pub event: u64,
    /// UTC, RFC 3339.
    pub at: String,
    pub text: String,
}

pub(super) fn of(records: &[Record]) -> Vec<Moment> {
    records
        .iter()
        .filter_map(|record| {
            Some(Moment {
                event: record.seq,
                at: record.at.clone(),
                text: text(&record.event)?,
            })
        })
        .collect()
}

fn text(event: &Event) -> Option<String> {
    Some(match event {
        Event::RunStarted { .. } => "the run began".to_owned(),
        Event::ActivationStarted {
            activation, kind, ..
        } if *activation > 1 => format!("went on ({kind})"),
        Event::StageChanged { to, .. } => format!("stage {to}"),
        Event::QuestionAsked { question, .. } => format!("asked: {}", question.text),
        Event::AnswerGiven {
            question_id, value, ..
        } => format!("answered {question_id}: {value}"),
        Event::ToolFinished { result, change, .. } => match (result.status, change) {
            (ToolStatus::Refused, _) => format!(
                "{} refused by {}",
                result.name,
                result
                    .content
                    .get("rule")
                    .and_then(Value::as_str)
                    .unwrap_or("a rule")
            ),
            (ToolStatus::Ok, Some(change)) => {
                format!("{} changed {}", result.name, change.workflow_id)
            }
            (ToolStatus::Ok, None) if result.name == "validate_workflow" => format!(
                "check: {} errors",
                result
                    .content
                    .get("error_count")
                    .and_then(Value::as_u64)
                    .unwrap_or(0)
            ),
            (ToolStatus::Failed | ToolStatus::Unknown, _) => format!("{} failed", result.name),
            _ => return None,
        },
        Event::PatchRefused { field, rule, .. } => format!("answer refused: {field} ({rule})"),
        Event::StepFailed { step, error } => format!("{step} failed: {error}"),
        Event::GrantsPinned { by, .. } => {
            format!("the tools of other servers were settled by the {by}")
        }
        Event::Undone { workflow_id, .. } => format!("{workflow_id} was put back"),
        Event::RunEnded { message, .. } => format!("the run ended: {message}"),
        _ => return None,
    })
}
