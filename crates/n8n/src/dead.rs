//! Which ways out of a node no item can ever take, and which starts never begin: a filter over fixed values, code that gives
//! nothing, a date that no calendar has, a wait of more than a year. By the parameters alone: whatever depends on an item, on the
//! time or on what is not known here counts as alive. Pure. What only may hold everything back is `gate`'s.

mod code;
mod compare;
mod cron;
mod gate;
mod value;

pub use gate::{
    ASKS, About, Gate, about, early_exits, gate, is_answered, is_conditional, may_be_gate,
};

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
        "code" | "function" | "functionItem" => {
            shut(code::of(node).is_some_and(|code| code.gives_nothing()))
        }
        "wait" => shut(waits_for_ever(given)),
        "merge" => shut(gives_one_empty_item(given)),
        "scheduleTrigger" => shut(schedule_never(given)),
        "cron" => shut(old_cron_never(given)),
        "interval" => {
            let unit = given.get("unit").and_then(Value::as_str);
            let every = given.get("interval").and_then(number);
            let year = most(unit.unwrap_or("seconds")).unwrap_or(f64::INFINITY);
            shut(every.is_some_and(|n| n <= 0.0 || n > year))
        }
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
    let all = filter.get("combinator").and_then(Value::as_str) != Some("or");
    if all && compare::exclude_each_other(list) {
        return Some(false);
    }
    let list = list.iter().map(settled).collect();
    plain.insert("conditions".to_owned(), Value::Array(list));
    conditions::outcome(&plain)
}

/// The condition with what is a literal in other words put as one, or, when its outcome is known, as one that says so.
fn settled(condition: &Value) -> Value {
    let mut plain = condition.clone();
    let wanted = condition.pointer("/operator/type").and_then(Value::as_str);
    let wanted = wanted.unwrap_or_default().to_owned();
    for side in ["leftValue", "rightValue"] {
        let Some(value) = plain.get_mut(side) else {
            continue;
        };
        let is_true = truth(value).filter(|_| wanted == "boolean");
        if let Some(known) = literal(value) {
            *value = match (wanted.as_str(), known.as_str(), is_true) {
                ("number", Some(text), _) => text.trim().parse::<f64>().map_or(known, |n| json!(n)),
                ("boolean", Some("true"), _) => json!(true),
                ("boolean", Some("false"), _) => json!(false),
                (_, _, Some(is_true)) => json!(is_true),
                _ => known,
            };
        } else if let Some(is_true) = is_true {
            *value = json!(is_true);
        }
    }
    match compare::holds(condition, &plain) {
        Some(known) => {
            json!({"leftValue": known, "rightValue": "", "operator": {"type": "boolean", "operation": "true"}})
        }
        None => plain,
    }
}

/// The code of a text that is one expression and nothing besides.
fn code_of(value: &Value) -> Option<&str> {
    let inside = value.as_str()?.strip_prefix('=')?.trim();
    let code = inside.strip_prefix("{{")?.strip_suffix("}}")?;
    (!code.contains("{{") && !code.contains("}}")).then_some(code)
}

/// The value, when it is the same for every item: no expression, or one that is reckoned from literals.
fn literal(value: &Value) -> Option<Value> {
    if let Some(code) = code_of(value) {
        return value::expression(code).0;
    }
    match value.as_str().and_then(|text| text.strip_prefix('=')) {
        Some(text) if text.contains("{{") => None,
        Some(text) => Some(Value::from(text)),
        None => Some(value.clone()),
    }
}

/// Whether the expression counts as true for every item, or as false.
fn truth(value: &Value) -> Option<bool> {
    value::expression(code_of(value)?).1
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

/// A wait of more than a year, or until a year that nobody here will see.
fn waits_for_ever(given: &Map<String, Value>) -> bool {
    const FAR: i64 = 2100;
    let resume = given.get("resume").and_then(Value::as_str);
    match resume.unwrap_or("timeInterval") {
        "timeInterval" => {
            let unit = given.get("unit").and_then(Value::as_str);
            let amount = given.get("amount").and_then(number);
            // Left out, the unit is hours in the first version, and seconds since.
            let year = most(unit.unwrap_or("seconds")).unwrap_or(f64::INFINITY);
            amount.is_some_and(|n| n > year)
        }
        "specificTime" => {
            let time = given.get("dateTime").and_then(literal);
            let time = time.as_ref().and_then(Value::as_str);
            let year = time.and_then(|time| time.split('-').next()?.trim().parse().ok());
            year.is_some_and(|year: i64| year >= FAR)
        }
        _ => false,
    }
}

/// So much of a unit of time is a year.
fn most(unit: &str) -> Option<f64> {
    const DAYS: f64 = 366.0;
    Some(match unit.trim_end_matches('s') {
        "second" => DAYS * 86_400.0,
        "minute" => DAYS * 1_440.0,
        "hour" => DAYS * 24.0,
        "day" => DAYS,
        "week" => 53.0,
        "month" => 12.0,
        "year" => 1.0,
        _ => return None,
    })
}

/// A merge that throws away what it gets.
fn gives_one_empty_item(given: &Map<String, Value>) -> bool {
    let text = |key: &str| given.get(key).and_then(Value::as_str);
    text("mode") == Some("chooseBranch") && text("output") == Some("empty")
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
        return cron::never(expression.unwrap_or_default());
    }
    let key = format!("{field}Interval");
    let outside = |key: &str, from: f64, to: f64| {
        let value = rule.get(key).and_then(number);
        value.is_some_and(|n| n < from || n > to)
    };
    let year = most(field).unwrap_or(f64::INFINITY);
    outside(&key, f64::MIN_POSITIVE, year)
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
