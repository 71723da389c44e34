//! Answers to questions: from `--answers`, from a recommendation, from a person. Each is checked against the question's
//! schema before it becomes part of the run.

use super::{Asked, Asker};
use crate::{
    agent::Contract,
    store::{Question, event::AnsweredBy},
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
