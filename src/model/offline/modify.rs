//! (in work)
use super::plan::{Refusal, Todo};
use crate::n8n::catalog::Catalog;
use crate::n8n::{EditOp, Workflow};
use crate::store::Question;
use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub struct Modification {
    pub ops: Vec<EditOp>,
    pub questions: Vec<Question>,
    pub refusal: Option<Refusal>,
    pub todo: Vec<Todo>,
    pub notes: Vec<String>,
}

pub fn modify(
    _existing: &Workflow,
    _request: &str,
    _answers: &Map<String, Value>,
    _catalog: &Catalog,
) -> Modification {
    Modification::default()
}
pub fn extend(_existing: &Workflow, _wanted: &Workflow) -> Modification {
    Modification::default()
}
