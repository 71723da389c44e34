//! Names that say what a node asks ("Amount > 100?") follow what it asks. Names of any other kind stay.

use crate::compile::words::capital;
use agentctl_n8n::{EditOp, Node, Workflow};
use serde_json::Value;

/// A new name for each node that is called by a condition which is another one now, where nobody gave it a name or has the new one.
pub(super) fn renamed(before: &Workflow, after: &Workflow, given: &[EditOp]) -> Vec<EditOp> {
    let mut taken: Vec<String> = after.nodes.iter().map(|n| n.name().to_owned()).collect();
    let mut found = Vec::new();
    for was in &before.nodes {
        let Some((old, new)) = after
            .node(&was.id())
            .and_then(|now| asks_otherwise(was, now))
        else {
            continue;
        };
        let is_given =
            |op: &EditOp| matches!(op, EditOp::RenameNode { node, .. } if node == was.name());
        let Some(rest) = was.name().strip_prefix(&old).filter(|rest| is_number(rest)) else {
            continue;
        };
        let name = format!("{new}{rest}");
        if given.iter().any(is_given) || taken.contains(&name) {
            continue;
        }
        taken.push(name.clone());
        found.push(EditOp::RenameNode {
            node: was.name().to_owned(),
            name,
        });
    }
    found
}

/// What tells two nodes of one name apart.
fn is_number(rest: &str) -> bool {
    rest.chars().all(|c| c == ' ' || c.is_ascii_digit())
}

/// What a node asked and what it asks now, as names of nodes say it; None: the same, or nothing that a name says.
fn asks_otherwise(was: &Node, now: &Node) -> Option<(String, String)> {
    let (old, new) = (question(was)?, question(now)?);
    (old != new).then_some((old, new))
}

/// The one condition of a node in a few words, as it is named by when it is built.
fn question(node: &Node) -> Option<String> {
    let conditions = node.parameters()?.get("conditions")?.get("conditions")?;
    let [only] = conditions.as_array()?.as_slice() else {
        return None;
    };
    let left = only.get("leftValue")?.as_str()?;
    let left = left.trim_start_matches("={{").trim_end_matches("}}").trim();
    let field = left
        .rsplit(['.', '"', '\''])
        .find(|part| !part.trim_matches(']').is_empty())?;
    let right = match only.get("rightValue")? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let sign = match only.get("operator")?.get("operation")?.as_str()? {
        "equals" => "=",
        "notEquals" => "≠",
        "gt" => ">",
        "gte" => "≥",
        "lt" => "<",
        "lte" => "≤",
        "contains" => "contains",
        "notContains" => "without",
        "startsWith" => "starts with",
        "endsWith" => "ends with",
        _ => return None,
    };
    let asked: String = capital(&format!("{field} {sign} {right}"))
        .chars()
        .take(40)
        .collect();
    Some(format!("{}?", asked.trim()))
}
