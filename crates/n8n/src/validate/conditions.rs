//! IF, Filter and Switch nodes: comparisons that n8n does not have, and those of fixed values only, where every item goes the same
//! way, so one way is dead.

use super::{report::Report, rules, subject::NodeView};
use crate::catalog::comparisons::{ANY, OF_ANY_TYPE, OPERATIONS};
use serde_json::{Map, Value};

const IF: &str = "n8n-nodes-base.if";
const FILTER: &str = "n8n-nodes-base.filter";

const SWITCH: &str = "n8n-nodes-base.switch";

/// Comparisons that n8n does not have.
fn operators(node: &NodeView, report: &mut Report) {
    if ![IF, FILTER, SWITCH].contains(&node.node_type) {
        return;
    }
    let mut filters = vec![(
        "/parameters/conditions".to_owned(),
        node.filled.get("conditions"),
    )];
    let rules_of = node
        .filled
        .get("rules")
        .and_then(|rules| rules.get("values"));
    for (i, rule) in rules_of
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let place = format!("/parameters/rules/values/{i}/conditions");
        filters.push((place, rule.get("conditions")));
    }
    for (place, filter) in filters {
        let list = filter
            .and_then(|f| f.get("conditions"))
            .and_then(Value::as_array);
        for (i, condition) in list.into_iter().flatten().enumerate() {
            let Some(operator) = condition.get("operator") else {
                continue;
            };
            let text = |key: &str| operator.get(key).and_then(Value::as_str);
            let (Some(kind), Some(operation)) = (text("type"), text("operation")) else {
                continue;
            };
            let place = format!("{place}/conditions/{i}/operator");
            let Some((_, known)) = OPERATIONS.iter().find(|(name, _)| *name == kind) else {
                if kind != ANY && !kind.starts_with('=') {
                    let types: Vec<&str> = OPERATIONS.iter().map(|(name, _)| *name).collect();
                    let message = format!(
                        "n8n compares nothing as {kind:?}, so the condition never holds; it has {}",
                        types.join(", ")
                    );
                    report.node(node, rules::UNKNOWN_OPERATOR.at(place, message));
                }
                continue;
            };
            if known.contains(&operation)
                || OF_ANY_TYPE.contains(&operation)
                || operation.starts_with('=')
            {
                continue;
            }
            let message = format!(
                "{operation:?} is no comparison of the type {kind}, so the condition never holds; n8n has {}",
                known.join(", ")
            );
            report.node(node, rules::UNKNOWN_OPERATOR.at(place, message));
        }
    }
}

pub(super) fn check(node: &NodeView, report: &mut Report) {
    operators(node, report);
    let is_if = node.node_type == IF;
    if !is_if && node.node_type != FILTER {
        return;
    }
    // Before version 2 the conditions have another form.
    let Some(filter) = node.filled.get("conditions").and_then(Value::as_object) else {
        return;
    };
    let Some(passes) = outcome(filter) else {
        return;
    };
    let effect = match (is_if, passes) {
        (true, true) => "every item takes the output \"true\", and nothing the output \"false\"",
        (true, false) => "every item takes the output \"false\", and nothing the output \"true\"",
        (false, true) => "every item passes",
        (false, false) => "no item passes, so nothing behind this node runs",
    };
    let message = format!(
        "compares fixed values only: {effect}; compare a value of the item, like ={{{{ $json.field }}}}"
    );
    report.node(
        node,
        rules::CONSTANT_CONDITION.at("/parameters/conditions", message),
    );
}

/// The outcome that no item changes; None: it depends on the item, or is not known here.
pub(crate) fn outcome(filter: &Map<String, Value>) -> Option<bool> {
    let list = filter.get("conditions")?.as_array()?;
    if list.is_empty() {
        return None;
    }
    let exact =
        filter.get("options").and_then(|o| o.get("caseSensitive")) != Some(&Value::Bool(false));
    let known: Vec<Option<bool>> = list.iter().map(|c| holds(c, exact)).collect();
    // One true condition decides an "or", one false condition anything else.
    let decides = filter.get("combinator").and_then(Value::as_str) == Some("or");
    if known.contains(&Some(decides)) {
        return Some(decides);
    }
    known.iter().all(Option::is_some).then_some(!decides)
}

/// None: it depends on the item, or the comparison is one that is not known here.
fn holds(condition: &Value, exact: bool) -> Option<bool> {
    let operator = condition.get("operator")?;
    let operation = operator.get("operation")?.as_str()?;
    let left = fixed(condition.get("leftValue")?)?;
    match operator.get("type")?.as_str()? {
        "string" => {
            let right = fixed(condition.get("rightValue").unwrap_or(&Value::Null))?;
            let (left, right) = (plain(left, exact)?, plain(right, exact)?);
            Some(match operation {
                "equals" => left == right,
                "notEquals" => left != right,
                "contains" => left.contains(&right),
                "notContains" => !left.contains(&right),
                "startsWith" => left.starts_with(&right),
                "endsWith" => left.ends_with(&right),
                _ => return None,
            })
        }
        "number" => {
            let right = fixed(condition.get("rightValue")?)?;
            let (left, right) = (left.as_f64()?, right.as_f64()?);
            Some(match operation {
                "equals" => left == right,
                "notEquals" => left != right,
                "gt" => left > right,
                "lt" => left < right,
                "gte" => left >= right,
                "lte" => left <= right,
                _ => return None,
            })
        }
        "boolean" => match operation {
            "true" => left.as_bool(),
            "false" => left.as_bool().map(|b| !b),
            "equals" | "notEquals" => {
                let right = fixed(condition.get("rightValue")?)?;
                Some((left.as_bool()? == right.as_bool()?) == (operation == "equals"))
            }
            _ => None,
        },
        _ => None,
    }
}

/// A value that is no expression and was not meant as one.
fn fixed(value: &Value) -> Option<&Value> {
    let is_code = |text: &str| text.starts_with('=') || text.contains("{{");
    (!value.as_str().is_some_and(is_code)).then_some(value)
}

fn plain(value: &Value, exact: bool) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        _ => return None,
    };
    Some(if exact { text } else { text.to_lowercase() })
}
