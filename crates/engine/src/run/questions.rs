//! Answers to questions: from `--answers`, from a recommendation, from a person. Each is checked against the question's
//! schema before it becomes part of the run.

use super::{Asked, Asker};
use crate::{
    agent::Contract,
    flow::{AskSpec, RemoteAgent, StepKind},
    pack::Pack,
};
use agentctl_base::{
    question::{AnsweredBy, Question},
    secrets::asked_for,
};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Got {
    Answer(Value, AnsweredBy),
    Nothing,
    Interrupted,
}

/// What fits the question, from the first source that has an answer: `given` (by id or topic), the recommendation if `yes`,
/// a person. A given answer that does not fit is told in `notes` and not taken.
pub(super) fn find(
    question: &Question,
    given: Option<&Map<String, Value>>,
    yes: bool,
    asker: Option<&mut (dyn Asker + '_)>,
    notes: &mut Vec<String>,
) -> Got {
    let answer = [&question.id, &question.topic]
        .into_iter()
        .filter(|key| !key.is_empty())
        .find_map(|key| given?.get(key));
    if let Some(value) = answer {
        match fits(question, value) {
            Ok(()) => return Got::Answer(value.clone(), AnsweredBy::File),
            Err(why) => notes.push(format!(
                "the answer to {:?} does not fit: {why}",
                question.id
            )),
        }
    }
    // What may not be taken without a person's word has no recommendation.
    if yes
        && let Some(value) = &question.recommended
        && fits(question, value).is_ok()
    {
        return Got::Answer(value.clone(), AnsweredBy::Recommended);
    }
    match asker {
        Some(asker) => ask(question, asker, notes),
        None => Got::Nothing,
    }
}

fn ask(question: &Question, asker: &mut dyn Asker, notes: &mut Vec<String>) -> Got {
    loop {
        match asker.ask(question) {
            Ok(Asked::Answer(value)) => match fits(question, &value) {
                Ok(()) => return Got::Answer(value, AnsweredBy::Terminal),
                Err(why) => asker.refuse(question, &why),
            },
            Ok(Asked::Later) => return Got::Nothing,
            Ok(Asked::Interrupted) => return Got::Interrupted,
            Err(why) => {
                notes.push(why);
                return Got::Nothing;
            }
        }
    }
}

/// An answer as the journal, and with it the run, keeps it: what is typed where a project's question asks for a secret goes
/// nowhere. A choice among options is none.
pub(super) fn kept(question: &Question, value: Value) -> Value {
    let typed = value.is_string() && !question.options.iter().any(|o| o.value == value);
    if question.asks_secret && question.asked_by.is_some() && typed {
        return Value::String(agentctl_base::secrets::mark("answer"));
    }
    value
}

/// The answers that lie ready, without those to a project's questions that ask for a secret.
pub(super) fn without_secrets(pack: &Pack, answers: &Map<String, Value>) -> Map<String, Value> {
    let mut answers = answers.clone();
    if pack.asked_by(true).is_none() {
        return answers;
    }
    for step in pack.flow.steps_of_all() {
        let StepKind::Ask(AskSpec::Questions(specs)) = &step.kind else {
            continue;
        };
        for spec in specs {
            let names = [spec.id.as_str(), spec.topic.as_str()];
            let asks = names.into_iter().chain([spec.text.source()]).any(asked_for);
            if asks && spec.options.is_none() {
                for (_, value) in answers
                    .iter_mut()
                    .filter(|(key, value)| names.contains(&key.as_str()) && value.is_string())
                {
                    *value = Value::String(agentctl_base::secrets::mark("answer"));
                }
            }
        }
    }
    answers
}

/// A question of the flow with what its reader has to know: whose words it is, and that it asks for a secret.
pub(super) fn marked(pack: &Pack, step: &str, mut question: Question) -> Question {
    let (flow, asks) = pack.flow.at(step).unzip();
    let remote = flow.and_then(|flow| RemoteAgent::of_flow(&flow.name));
    let own = remote.is_none()
        && asks.is_some_and(|step| matches!(step.kind, StepKind::Ask(AskSpec::Questions(_))));
    question.asked_by = match remote {
        // Its words are a stranger's.
        Some(remote) => Some(format!("the agent {}", remote.name)),
        None => pack.asked_by(own),
    };
    question.asks_secret = (!own || question.asked_by.is_some())
        && [&question.text, &question.id, &question.topic]
            .into_iter()
            .any(|text| asked_for(text));
    question
}

/// Whether the time for an approval is over; other questions stay open for good.
pub(super) fn is_too_late(question: &Question, now: jiff::Timestamp) -> bool {
    let Some(proposal) = &question.proposal else {
        return question.approves.is_some();
    };
    let expires = proposal.expires_at.parse::<jiff::Timestamp>();
    !expires.is_ok_and(|expires| now < expires)
}

/// Whether the value is an answer to the question; else what is wrong with it.
pub fn fits(question: &Question, value: &Value) -> Result<(), String> {
    let contract = Contract::compile(&question.schema).map_err(|e| e.to_string())?;
    match contract.faults(value).as_slice() {
        [] => Ok(()),
        faults => Err(faults.join("; ")),
    }
}
