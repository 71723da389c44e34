//! What is not built.

use crate::model::offline::plan::Refusal;

pub fn refusal(_request: &str, _language: &str) -> Option<Refusal> {
    None
}

pub fn without_secrets(request: &str, _refusal: Option<&Refusal>) -> String {
    request.to_owned()
}
