//! The workflows of a document: one, or several of an export.

use serde_json::Value;

/// The document itself, or each entry of an export of several workflows, with the pointer to it.
pub(super) fn workflows(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let several = document
        .as_array()
        .filter(|list| !list.is_empty() && list.iter().all(|w| w.get("nodes").is_some()));
    let one = several.is_none().then(|| (String::new(), document));
    let entries = several.into_iter().flatten().enumerate();
    one.into_iter()
        .chain(entries.map(|(i, workflow)| (format!("/{i}"), workflow)))
}
