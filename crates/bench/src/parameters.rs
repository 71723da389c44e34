//! What stands in a node's parameters: its values as text, the value at a path, and whether a parameter is as expected.

use crate::expect::Param;
use crate::graph::Node;
use crate::pattern::{folded, found};
use serde_json::Value;

/// The values of a node as lines of text, without n8n's bookkeeping. Keys count only as column names of a resource mapper.
pub fn text(node: Node) -> String {
    let mut lines = Vec::new();
    if let Some(parameters) = node.whole.get("parameters") {
        leaves(parameters, None, &mut lines);
    }
    lines.join("\n")
}

fn leaves(value: &Value, key: Option<&str>, lines: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let is_mapper = map.contains_key("mappingMode");
            let is_locator = map.contains_key("__rl");
            for (k, inner) in map {
                match (k.as_str(), inner) {
                    ("__rl" | "mode", _) if is_locator => {}
                    ("schema", _) if is_mapper => {}
                    ("value", Value::Object(columns)) if is_mapper => {
                        for (column, inner) in columns {
                            lines.push(column.clone());
                            leaves(inner, Some(column), lines);
                        }
                    }
                    // Of a filter's operator only what it does.
                    ("operator", Value::Object(operator)) => {
                        lines.push(operator.get("operation").map(shown).unwrap_or_default());
                    }
                    _ => leaves(inner, Some(k), lines),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| leaves(inner, key, lines)),
        Value::Null => {}
        other => {
            let text = shown(other);
            if !(key == Some("id") && is_uuid(&text)) {
                lines.push(text);
            }
        }
    }
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|p| p.len()).collect();
    let hex = |c: char| c.is_ascii_hexdigit() || c == '-';
    lengths == [8, 4, 4, 4, 12] && text.chars().all(hex)
}

/// A value as text.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// All values at a path, in each of its alternatives; a resource locator gives its value and its remembered name.
fn at_path(node: Node, path: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for one in path.split('|') {
        let (start, keys) = match one {
            "$wait_seconds" => {
                found.extend(wait_seconds(node).map(Value::from));
                continue;
            }
            "$limit_wait_seconds" => {
                found.extend(limit_wait_seconds(node).map(Value::from));
                continue;
            }
            beside if beside.starts_with('@') => (Some(node.whole), beside.trim_start_matches('@')),
            inside => (node.whole.get("parameters"), inside),
        };
        for value in walk(start, keys) {
            locator_or_value(value, &mut found);
        }
    }
    found.retain(|value| !value.is_null() && value.as_str() != Some(""));
    found
}

fn walk<'v>(start: Option<&'v Value>, keys: &str) -> Vec<&'v Value> {
    let mut now: Vec<&Value> = start.into_iter().collect();
    for key in keys.split('.') {
        let key = key.replace("[]", "");
        now = now
            .into_iter()
            .flat_map(each)
            .filter_map(|value| value.get(&key))
            .collect();
    }
    now.into_iter().flat_map(each).collect()
}

/// The items of a list, or the one value.
fn each(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().collect(),
        one => vec![one],
    }
}

fn locator_or_value(value: &Value, found: &mut Vec<Value>) {
    let locator = value.as_object().filter(|map| {
        let is_named = map.contains_key("cachedResultName") && map.contains_key("value");
        map.contains_key("__rl") || is_named
    });
    match locator {
        Some(map) => found.extend(
            ["value", "cachedResultName"]
                .iter()
                .filter_map(|key| map.get(*key).cloned()),
        ),
        None => found.push(value.clone()),
    }
}

/// A default inside a collection counts only where that collection is there at all.
fn has_parent(node: Node, path: &str) -> bool {
    path.split('|').any(|one| {
        let Some((parent, _)) = one
            .rsplit_once('.')
            .filter(|_| !one.starts_with(['@', '$']))
        else {
            return true;
        };
        let parents = walk(node.whole.get("parameters"), parent);
        parents.iter().any(|value| value.is_object())
    })
}

pub fn fits(node: Node, param: &Param) -> bool {
    if let Some(types) = &param.types
        && !types.iter().any(|t| t == node.node_type)
    {
        return true;
    }
    let mut values = at_path(node, &param.path);
    if values.is_empty()
        && has_parent(node, &param.path)
        && let Some(means) = param.absent_means.get(node.node_type)
    {
        values.clone_from(&means.all);
    }
    if let Some(other) = &param.not_equals {
        return values.iter().all(|value| !same(value, other));
    }
    if param.absent {
        return values.is_empty();
    }
    if values.is_empty() {
        return false;
    }
    let any = |test: &dyn Fn(&Value) -> bool| values.iter().any(test);
    let is = |wanted: &Value| any(&|value| same(value, wanted));
    let number = |test: &dyn Fn(f64) -> bool| any(&|value| number_of(value).is_some_and(test));
    param.equals.as_ref().is_none_or(is)
        && (param.any_of.as_ref()).is_none_or(|some| some.iter().any(is))
        && (param.matches.as_ref()).is_none_or(|m| any(&|value| found(&m.0, &shown(value))))
        && (param.contains.as_ref())
            .is_none_or(|all| all.iter().all(|p| any(&|value| p.is_in(&shown(value)))))
        && param.lte.is_none_or(|most| number(&|n| n <= most))
        && param.gte.is_none_or(|least| number(&|n| n >= least))
}

pub fn same(a: &Value, b: &Value) -> bool {
    normal(a) == normal(b)
}

/// As values are compared: in any case, an expression without its `=`, 5.0 as 5.
pub fn normal(value: &Value) -> String {
    let text = match value.as_f64() {
        Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        _ => shown(value),
    };
    let text = text.trim();
    let text = text.strip_prefix('=').map_or(text, str::trim);
    folded(text)
}

fn number_of(value: &Value) -> Option<f64> {
    let text = shown(value);
    let text = text.trim_start_matches('=').trim();
    text.trim_matches(['{', '}']).trim().parse().ok()
}

fn seconds(
    amount: Option<&Value>,
    default: f64,
    unit: Option<&Value>,
    or_unit: &str,
) -> Option<f64> {
    let amount = match amount {
        None => default,
        Some(value) => shown(value).trim().parse().ok()?,
    };
    let of_unit = match unit.and_then(Value::as_str).unwrap_or(or_unit) {
        "seconds" => 1.0,
        "minutes" => 60.0,
        "hours" => 3600.0,
        "days" => 86_400.0,
        "weeks" => 604_800.0,
        _ => return None,
    };
    Some(amount * of_unit)
}

/// How long a Wait node waits; None: not a fixed time.
fn wait_seconds(node: Node) -> Option<f64> {
    let of = |key: &str| node.parameters().and_then(|p| p.get(key));
    if of("resume").is_some_and(|how| how.as_str() != Some("timeInterval")) {
        return None;
    }
    let (amount, unit) = match node.version() < 1.1 {
        true => (1.0, "hours"),
        false => (5.0, "seconds"),
    };
    seconds(of("amount"), amount, of("unit"), unit)
}

/// How long an answer is waited for, by a node that sends and waits or by a Wait for a webhook or a form.
fn limit_wait_seconds(node: Node) -> Option<f64> {
    let parameters = node.whole.get("parameters")?;
    let inside = parameters
        .pointer("/options/limitWaitTime/values")
        .filter(|v| v.is_object());
    let beside = Some(parameters).filter(|p| p.get("limitWaitTime") == Some(&Value::Bool(true)));
    let mut limits = inside.into_iter().chain(beside).filter_map(|limit| {
        let unit = limit.get("resumeUnit");
        seconds(limit.get("resumeAmount"), 1.0, unit, "hours")
    });
    limits.next()
}
