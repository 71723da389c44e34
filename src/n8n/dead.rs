//! Which ways out of a node no item can ever take, and which starts never begin: a filter over fixed values, a date that no
//! calendar has. By the parameters alone, and by literals only: whatever depends on an item, on the time or on what is not known
//! here counts as alive. Pure.

mod cron;

use super::Node;
use super::validate::conditions;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The outputs of a node that items can leave it by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ways {
    /// All of them, as far as is known.
    #[default]
    Open,
    /// None: a filter that nothing passes, a start that never begins.
    Shut,
    /// All but these, by index from 0.
    Except(BTreeSet<u32>),
    /// These only.
    Only(BTreeSet<u32>),
}

impl Ways {
    pub fn is_open(&self) -> bool {
        *self == Ways::Open
    }

    /// Whether an item can leave by this output of the kind `main`.
    pub fn leads(&self, output: u32) -> bool {
        match self {
            Ways::Open => true,
            Ways::Shut => false,
            Ways::Except(shut) => !shut.contains(&output),
            Ways::Only(open) => open.contains(&output),
        }
    }
}

/// The ways out of the node. A disabled node passes on what it gets, so it is open.
pub fn ways(node: &Node) -> Ways {
    let (Some(name), Some(given)) = (
        node.node_type().strip_prefix("n8n-nodes-base."),
        node.parameters(),
    ) else {
        return Ways::Open;
    };
    if node.disabled() {
        return Ways::Open;
    }
    let shut = |never: bool| if never { Ways::Shut } else { Ways::Open };
    match name {
        "filter" => shut(passes(given, "combineConditions") == Some(false)),
        "if" => match passes(given, "combineOperation") {
            Some(true) => Ways::Except(BTreeSet::from([1])),
            Some(false) => Ways::Except(BTreeSet::from([0])),
            None => Ways::Open,
        },
        "switch" => switch(given),
        "limit" => shut(
            given
                .get("maxItems")
                .and_then(number)
                .is_some_and(|n| n <= 0.0),
        ),
        "stopAndError" => Ways::Shut,
        "code" | "function" | "functionItem" => shut(returns_nothing(given)),
        "scheduleTrigger" => shut(schedule_never(given)),
        "cron" => shut(old_cron_never(given)),
        "interval" => shut(
            given
                .get("interval")
                .and_then(number)
                .is_some_and(|n| n <= 0.0),
        ),
        _ => Ways::Open,
    }
}

/// Whether every item passes the conditions (true) or none does (false). `combined`: where the first version says how they add up.
fn passes(given: &Map<String, Value>, combined: &str) -> Option<bool> {
    let conditions = given.get("conditions")?.as_object()?;
    if conditions.contains_key("conditions") {
        return filter(conditions);
    }
    first_version(conditions, given.get(combined))
}

/// The conditions as they have been written since version 2.
fn filter(filter: &Map<String, Value>) -> Option<bool> {
    let list = filter.get("conditions")?.as_array()?;
    if list.is_empty() {
        // "All of none" holds, "one of none" does not; n8n knows no third.
        return match filter.get("combinator").and_then(Value::as_str)? {
            "and" => Some(true),
            "or" => Some(false),
            _ => None,
        };
    }
    let mut plain = filter.clone();
    let list = list.iter().map(settled).collect();
    plain.insert("conditions".to_owned(), Value::Array(list));
    conditions::outcome(&plain)
}

/// The condition with what is a literal in other words put as one.
fn settled(condition: &Value) -> Value {
    let mut plain = condition.clone();
    let wanted = condition.pointer("/operator/type").and_then(Value::as_str);
    let wanted = wanted.unwrap_or_default().to_owned();
    for side in ["leftValue", "rightValue"] {
        if let Some(value) = plain.get_mut(side)
            && let Some(known) = literal(value)
        {
            *value = match (wanted.as_str(), known.as_str()) {
                ("number", Some(text)) => text.trim().parse::<f64>().map_or(known, |n| json!(n)),
                ("boolean", Some("true")) => json!(true),
                ("boolean", Some("false")) => json!(false),
                _ => known,
            };
        }
    }
    plain
}

/// The value, when it is the same for every item: no expression, or one that holds nothing but a literal or a comparison of two.
fn literal(value: &Value) -> Option<Value> {
    let Some(text) = value.as_str() else {
        return Some(value.clone());
    };
    let Some(expression) = text.strip_prefix('=') else {
        return Some(value.clone());
    };
    let trimmed = expression.trim();
    match trimmed
        .strip_prefix("{{")
        .and_then(|t| t.strip_suffix("}}"))
    {
        Some(code) if !code.contains("{{") && !code.contains("}}") => evaluated(code.trim()),
        Some(_) => None,
        None if expression.contains("{{") => None,
        None => Some(Value::from(expression)),
    }
}

/// A JavaScript literal, or two of them compared.
fn evaluated(code: &str) -> Option<Value> {
    if let Some(value) = word(code) {
        return Some(value);
    }
    if let Some(inner) = code.strip_prefix('!') {
        return Some(json!(!word(inner.trim())?.as_bool()?));
    }
    for (sign, holds) in SIGNS {
        let Some((left, right)) = code.split_once(sign) else {
            continue;
        };
        let (left, right) = (word(left.trim())?, word(right.trim())?);
        let order = match (left.as_f64(), right.as_f64()) {
            (Some(a), Some(b)) => a.partial_cmp(&b)?,
            // Texts and truth values are told apart, not ordered.
            _ if left == right => std::cmp::Ordering::Equal,
            _ if std::mem::discriminant(&left) == std::mem::discriminant(&right)
                && (sign.contains("==") || sign.contains("!=")) =>
            {
                std::cmp::Ordering::Less
            }
            _ => return None,
        };
        return Some(json!(holds(order)));
    }
    None
}

type Holds = fn(std::cmp::Ordering) -> bool;
/// The longest first, so that none is taken for a part of another.
const SIGNS: [(&str, Holds); 8] = [
    ("===", |o| o.is_eq()),
    ("!==", |o| o.is_ne()),
    ("==", |o| o.is_eq()),
    ("!=", |o| o.is_ne()),
    ("<=", |o| o.is_le()),
    (">=", |o| o.is_ge()),
    ("<", |o| o.is_lt()),
    (">", |o| o.is_gt()),
];

fn word(code: &str) -> Option<Value> {
    match code {
        "true" => return Some(json!(true)),
        "false" => return Some(json!(false)),
        "null" => return Some(Value::Null),
        _ => {}
    }
    for quote in ['"', '\'', '`'] {
        let inner = code.strip_prefix(quote).and_then(|c| c.strip_suffix(quote));
        if let Some(text) = inner {
            let plain = !text.contains([quote, '\\', '$']);
            return plain.then(|| json!(text));
        }
    }
    let numeric = code
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.".contains(&b));
    code.parse::<f64>()
        .ok()
        .filter(|_| numeric)
        .map(|n| json!(n))
}

/// Version 1: lists by the type of what is compared.
fn first_version(given: &Map<String, Value>, combined: Option<&Value>) -> Option<bool> {
    let any = combined
        .and_then(Value::as_str)
        .is_some_and(|how| how.eq_ignore_ascii_case("any") || how.eq_ignore_ascii_case("or"));
    let known: Vec<Option<bool>> = given
        .iter()
        .flat_map(|(kind, list)| {
            let list = list.as_array().into_iter().flatten();
            list.map(move |condition| first_holds(kind, condition))
        })
        .collect();
    if known.contains(&Some(any)) {
        return Some(any);
    }
    (!known.is_empty() && known.iter().all(Option::is_some)).then_some(!any)
}

fn first_holds(kind: &str, condition: &Value) -> Option<bool> {
    let left = literal(condition.get("value1")?)?;
    let right = literal(condition.get("value2")?)?;
    let operation = condition.get("operation")?.as_str()?;
    match kind {
        "number" => {
            let (left, right) = (number(&left)?, number(&right)?);
            Some(match operation {
                "equal" => left == right,
                "notEqual" => left != right,
                "larger" => left > right,
                "largerEqual" => left >= right,
                "smaller" => left < right,
                "smallerEqual" => left <= right,
                _ => return None,
            })
        }
        "string" => {
            let (left, right) = (left.as_str()?, right.as_str()?);
            Some(match operation {
                "equal" => left == right,
                "notEqual" => left != right,
                "contains" => left.contains(right),
                "notContains" => !left.contains(right),
                _ => return None,
            })
        }
        "boolean" => {
            let (left, right) = (left.as_bool()?, right.as_bool()?);
            Some(match operation {
                "equal" => left == right,
                "notEqual" => left != right,
                _ => return None,
            })
        }
        _ => None,
    }
}

/// The rules of version 3, in their order; or the output by its number.
fn switch(given: &Map<String, Value>) -> Ways {
    if given.get("mode").and_then(Value::as_str) == Some("expression") {
        let output = given.get("output").and_then(literal);
        let index = output.as_ref().and_then(number);
        return match index {
            Some(index) if index >= 0.0 && index.fract() == 0.0 && index < 1000.0 => {
                Ways::Only(BTreeSet::from([index as u32]))
            }
            _ => Ways::Open,
        };
    }
    let rules = given.get("rules").and_then(|rules| rules.get("values"));
    let Some(rules) = rules.and_then(Value::as_array) else {
        return Ways::Open;
    };
    let decided: Vec<Option<bool>> = rules
        .iter()
        .map(|rule| filter(rule.get("conditions")?.as_object()?))
        .collect();
    let at = |wanted: Option<bool>| {
        let places = decided.iter().zip(0u32..);
        places
            .filter(move |(known, _)| **known == wanted)
            .map(|(_, at)| at)
    };
    let all = given
        .get("options")
        .and_then(|o| o.get("allMatchingOutputs"));
    let all = all.is_some_and(|all| *all != Value::Bool(false));
    match at(Some(true)).next() {
        // The first rule that holds takes every item that none before it took.
        Some(first) if !all => {
            let before = at(None).filter(|at| *at < first);
            Ways::Only(before.chain([first]).collect())
        }
        _ => {
            let shut: BTreeSet<u32> = at(Some(false)).collect();
            match shut.is_empty() {
                true => Ways::Open,
                false => Ways::Except(shut),
            }
        }
    }
}

/// Code that is a bare return.
fn returns_nothing(given: &Map<String, Value>) -> bool {
    let code = ["jsCode", "functionCode", "pythonCode"]
        .into_iter()
        .filter_map(|key| given.get(key)?.as_str());
    let mut codes = code.map(|code| code.trim().trim_end_matches(';').trim_end());
    match (codes.next(), codes.next()) {
        (Some(code), None) => matches!(code, "return" | "return []" | "return null"),
        _ => false,
    }
}

/// A schedule with rules none of which ever comes due. No rule given is n8n's own: every day.
fn schedule_never(given: &Map<String, Value>) -> bool {
    let rules = given.get("rule").and_then(|rule| rule.get("interval"));
    let Some(rules) = rules.and_then(Value::as_array) else {
        return false;
    };
    rules.iter().all(rule_never)
}

fn rule_never(rule: &Value) -> bool {
    let field = rule.get("field").and_then(Value::as_str).unwrap_or("days");
    let expression = rule.get("expression").and_then(Value::as_str);
    if field == "cronExpression" {
        return expression.is_some_and(cron::never);
    }
    let key = format!("{field}Interval");
    let outside = |key: &str, from: f64, to: f64| {
        let value = rule.get(key).and_then(number);
        value.is_some_and(|n| n < from || n > to)
    };
    rule.get(&key).and_then(number).is_some_and(|n| n <= 0.0)
        || (["days", "weeks", "months"].contains(&field) && outside("triggerAtHour", 0.0, 23.0))
        || (field == "months" && outside("triggerAtDayOfMonth", 1.0, 31.0))
        || (!["minutes", "seconds"].contains(&field) && outside("triggerAtMinute", 0.0, 59.0))
}

/// The trigger before there was the schedule.
fn old_cron_never(given: &Map<String, Value>) -> bool {
    let times = given
        .get("triggerTimes")
        .and_then(|times| times.get("item"));
    let Some(times) = times.and_then(Value::as_array) else {
        return false;
    };
    times.iter().all(|time| {
        let custom = time.get("mode").and_then(Value::as_str) == Some("custom");
        let expression = time.get("cronExpression").and_then(Value::as_str);
        custom && expression.is_some_and(cron::never)
    })
}

/// A number, or a text that is one.
fn number(value: &Value) -> Option<f64> {
    match literal(value)? {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    }
}

#[cfg(test)]
#[path = "dead_tests.rs"]
mod dead_tests;
