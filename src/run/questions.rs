//! Answers to questions: from `--answers`, from a recommendation, from a person. Each is checked against the question's
//! schema before it becomes part of the run.

use super::{Answering, Asked, Asker};
use crate::{
    agent::Contract,
    store::{Question, event::AnsweredBy},
};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Got {
    Answer(Value, AnsweredBy),
    Nothing,
    Interrupted,
}

/// What fits the question, from the first source that has an answer. A given answer that does not fit is told in `notes`
/// and not taken.
pub(super) fn find(
    question: &Question,
    answering: &Answering,
    given_by: AnsweredBy,
    asker: Option<&mut (dyn Asker + '_)>,
    notes: &mut Vec<String>,
) -> Got {
    let given = [&question.id, &question.topic]
        .into_iter()
        .filter(|key| !key.is_empty())
        .find_map(|key| answering.answers.get(key));
    if let Some(value) = given {
        match fits(question, value) {
            Ok(()) => return Got::Answer(value.clone(), given_by),
            Err(why) => notes.push(format!(
                "the answer to {:?} does not fit: {why}",
                question.id
            )),
        }
    }
    // An approval is a person's word; no recommendation stands in for it.
    if answering.yes
        && question.approves.is_none()
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

/// Whether the value is an answer to the question; else what is wrong with it.
pub fn fits(question: &Question, value: &Value) -> Result<(), String> {
    let contract = Contract::compile(&question.schema).map_err(|e| e.to_string())?;
    match contract.faults(value).as_slice() {
        [] => Ok(()),
        faults => Err(faults.join("; ")),
    }
}
