//! What must be asked.

use crate::model::offline::plan::Plan;
use crate::model::offline::read::text::Masked;
use crate::store::event::Question;
use indexmap::IndexMap;

/// The request with the answers that belong to it.
pub fn with_answers(request: &str, answers: &IndexMap<String, String>) -> String {
    let mut out = request.to_owned();
    for answer in answers.values() {
        out.push('\n');
        out.push_str(answer);
    }
    out
}

pub fn questions(
    _m: &Masked,
    _plan: &Plan,
    _guessed: bool,
    _language: &str,
    _answers: &IndexMap<String, String>,
) -> Vec<Question> {
    Vec::new()
}
