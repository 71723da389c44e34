//! The workflows of a document: one, or several of an export.

use serde_json::Value;

/// Where n8n's API puts what it answers with.
const WRAPPED: &str = "data";

/// The document itself, or each entry of an export of several workflows, with the pointer to it. An answer of n8n's API holds them
/// one level deeper.
pub fn workflows(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let wrapped = document
        .get(WRAPPED)
        .filter(|_| document.get("nodes").is_none())
        .filter(|inner| inner.get("nodes").is_some() || several(inner).is_some());
    let (at, document) = match wrapped {
        Some(inner) => (format!("/{WRAPPED}"), inner),
        None => (String::new(), document),
    };
    let list = several(document);
    let one = list.is_none().then(|| (at.clone(), document));
    let entries = list.into_iter().flatten().enumerate();
    one.into_iter()
        .chain(entries.map(move |(i, workflow)| (format!("{at}/{i}"), workflow)))
}

fn several(document: &Value) -> Option<&Vec<Value>> {
    document
        .as_array()
        .filter(|list| !list.is_empty() && list.iter().all(|w| w.get("nodes").is_some()))
}
