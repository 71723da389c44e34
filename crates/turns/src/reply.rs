//! The reply of a turn: what every door makes its own answer of.

use agentctl_base::question::{Outcome, Question};
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{Left, Reply, RunReport, Taken};
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
    /// The things that it made and that have a section of the report, by the section's name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub made: Map<String, Value>,
    /// What is left to the user, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todo: Vec<String>,
    /// The recommendations that were taken for answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Taken>,
    /// The fields of the session after the turn.
    pub state: Map<String, Value>,
    pub expects: Expects,
    pub question: Option<Question>,
    /// The tools whose calls changed something, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub did: Vec<String>,
    /// The tools whose calls were begun and may have changed something: what became of them was not seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<String>,
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
        messages.extend(said(pack, report, left));
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
            made: named(report)
                .map(|(section, made)| (section.clone(), made.clone()))
                .collect(),
            todo: to_do(report),
            taken: report.taken.clone(),
            state: left.fields.clone(),
            expects,
            question,
            did: left.did.clone(),
            unsure: left.unsure.clone(),
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
            made: Map::new(),
            todo: Vec::new(),
            taken: Vec::new(),
            state,
            expects: Expects::Nothing,
            question: None,
            did: Vec::new(),
            unsure: Vec::new(),
            usage: report.usage,
            exit_code: report.exit_code,
        }
    }
}

/// What the user is told: what the flow said; of one that says nothing of its own and is at its end, what it made and what it tells there.
pub(super) fn said(pack: &Pack, report: &RunReport, left: &Left) -> Vec<Reply> {
    let is_made = matches!(
        report.outcome,
        Outcome::Complete | Outcome::Draft | Outcome::Partial
    );
    if !left.said.is_empty() || pack.flow.finish.is_none() || !is_made {
        return left.said.clone();
    }
    let text = made(report);
    let text = match report.outcome {
        // Of another outcome the reply says why besides.
        Outcome::Complete => joined([text, report.message.clone()]),
        _ => text,
    };
    let open = to_do(report);
    let open = match open.is_empty() {
        true => String::new(),
        false => format!("still yours to do:\n- {}", open.join("\n- ")),
    };
    let text = joined([text, open]);
    let reply = Reply {
        text,
        data: Value::Null,
        attachment: None,
    };
    Some(reply)
        .filter(|reply| !reply.text.is_empty())
        .into_iter()
        .collect()
}

fn joined(parts: [String; 2]) -> String {
    let parts: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    parts.join("\n")
}

/// The things of the report that have a name, with their sections.
fn named(report: &RunReport) -> impl Iterator<Item = (&String, &Value)> {
    let made = report.made.iter();
    made.filter(|(_, made)| made.get("name").is_some_and(Value::is_string))
}

/// A line for each of them, with its file.
fn made(report: &RunReport) -> String {
    let lines = named(report).filter_map(|(section, made)| {
        let name = made.get("name")?.as_str()?;
        let file = made.get("file").and_then(Value::as_str);
        let place = file.or_else(|| made.get("id")?.as_str());
        let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
        Some(format!("{section} {name:?}{place}"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What the flow's fields leave to the user, a line each.
fn to_do(report: &RunReport) -> Vec<String> {
    let fields = report.sections.values();
    let open = fields.filter_map(|field| field.get("todo")?.as_array());
    let lines = open.flatten().filter_map(|one| {
        let text = one.as_str().or_else(|| one.get("text")?.as_str())?;
        let node = one.get("node").and_then(Value::as_str);
        let node = node.map(|node| format!("[{node}] ")).unwrap_or_default();
        Some(format!("{node}{text}"))
    });
    lines.collect()
}
