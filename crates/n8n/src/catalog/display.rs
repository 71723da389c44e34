//! When a parameter or credential is shown: n8n's rules for `displayOptions`, evaluated on plain values. Pure.
//! An expression counts as a match, a hidden rule wins over nothing, and JavaScript's loose comparisons are kept.

use std::cmp::Ordering;

use serde_json::Value;

use super::js_pattern;
use super::property::{Condition, DisplayOptions};
use super::values::View;

/// What display rules may look at.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The values on the parameter's own level. None: n8n has no object there.
    pub level: Option<View<'a>>,
    /// The node's parameters, for rules such as `/resource`.
    pub root: Option<View<'a>>,
    pub version: f64,
    /// The node type's name ends in `Tool`.
    pub is_tool: bool,
}

impl DisplayOptions {
    /// n8n's verdict: all `show` rules match (or one of them meets an expression first), and no `hide` rule does.
    pub fn matches(&self, scope: Scope<'_>) -> bool {
        self.holds(|_, name| scope.read(name))
    }

    /// The same with the values from `read`, which is told a rule's number (`show` first, then `hide`) and its name.
    pub(super) fn holds<'a>(&self, read: impl Fn(usize, &str) -> Seen<'a>) -> bool {
        for (i, (name, conditions)) in self.show.iter().enumerate() {
            let seen = read(i, name);
            if seen.values().any(|value| is_expression(&value)) {
                return true;
            }
            if !any_matches(conditions, &seen) {
                return false;
            }
        }
        let hide = (self.show.len()..).zip(&self.hide);
        !hide.into_iter().any(|(i, (name, conditions))| {
            let seen = read(i, name);
            !seen.is_empty() && any_matches(conditions, &seen)
        })
    }
}

/// A value, borrowed where it can be; `Undefined` is not null.
#[derive(Clone, Copy)]
enum Actual<'a> {
    Undefined,
    Number(f64),
    Bool(bool),
    Json(&'a Value),
}

/// The values that a rule looks at: those of a list, or the one.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    one: Option<Actual<'a>>,
    list: &'a [Value],
}

impl<'a> Seen<'a> {
    const NOTHING: Seen<'static> = Seen {
        one: None,
        list: &[],
    };

    fn one(value: Actual<'a>) -> Self {
        Seen {
            one: Some(value),
            list: &[],
        }
    }

    /// What stands behind a name.
    pub(super) fn of(value: Option<&'a Value>) -> Self {
        let value = match value {
            Some(Value::Object(map)) if map.get("__rl").is_some_and(is_truthy) => map.get("value"),
            other => other,
        };
        match value {
            None => Seen::one(Actual::Undefined),
            Some(Value::Array(list)) => Seen { one: None, list },
            Some(one) => Seen::one(Actual::Json(one)),
        }
    }

    fn is_empty(&self) -> bool {
        self.one.is_none() && self.list.is_empty()
    }

    fn values(self) -> impl Iterator<Item = Actual<'a>> {
        self.one
            .into_iter()
            .chain(self.list.iter().map(Actual::Json))
    }
}

impl<'a> Scope<'a> {
    pub(super) fn read(&self, name: &str) -> Seen<'a> {
        let value = match name {
            "@version" => return Seen::one(Actual::Number(self.version)),
            "@tool" => return Seen::one(Actual::Bool(self.is_tool)),
            "@feature" => return Seen::NOTHING,
            _ => match name.strip_prefix('/') {
                Some(path) => self.root.and_then(|r| r.at_path(path)),
                None => self.level.and_then(|l| l.at_path(name)),
            },
        };
        Seen::of(value)
    }
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(s) => !s.is_empty(),
        _ => true,
    }
}

fn is_expression(actual: &Actual<'_>) -> bool {
    matches!(actual, Actual::Json(Value::String(s)) if s.starts_with('='))
}

fn any_matches(conditions: &[Condition], seen: &Seen<'_>) -> bool {
    conditions.iter().any(|condition| match condition {
        Condition::Is(wanted) => seen.values().any(|a| same(a, wanted)),
        Condition::Not(_) if seen.is_empty() => true,
        _ if seen.is_empty() => false,
        condition => seen.values().all(|a| holds(condition, a)),
    })
}

fn holds(condition: &Condition, actual: Actual<'_>) -> bool {
    let text = match actual {
        Actual::Json(Value::String(s)) => Some(s.as_str()),
        _ => None,
    };
    let ordered = |target: &Value, wanted: fn(Ordering) -> bool| {
        compare(actual, Actual::Json(target)).is_some_and(wanted)
    };
    match condition {
        Condition::Is(wanted) => same(actual, wanted),
        Condition::Eq(target) => equal(actual, target),
        Condition::Not(target) => !equal(actual, target),
        Condition::Gte(target) => ordered(target, Ordering::is_ge),
        Condition::Lte(target) => ordered(target, Ordering::is_le),
        Condition::Gt(target) => ordered(target, Ordering::is_gt),
        Condition::Lt(target) => ordered(target, Ordering::is_lt),
        Condition::Between(range) => {
            ordered(&range.0, Ordering::is_ge) && ordered(&range.1, Ordering::is_le)
        }
        Condition::Includes(part) => text.is_some_and(|t| t.contains(part.as_str())),
        Condition::StartsWith(part) => text.is_some_and(|t| t.starts_with(part.as_str())),
        Condition::EndsWith(part) => text.is_some_and(|t| t.ends_with(part.as_str())),
        Condition::Regex(pattern) => {
            text.is_some_and(|t| js_pattern::found(pattern, t).unwrap_or(false))
        }
        Condition::Exists => match actual {
            Actual::Undefined | Actual::Json(Value::Null) => false,
            _ => text != Some(""),
        },
        Condition::Unknown => false,
    }
}

/// JavaScript's `===`: objects and arrays are never the same as a rule's value.
fn same(actual: Actual<'_>, wanted: &Value) -> bool {
    match (actual, wanted) {
        // By far the most rules are about texts.
        (Actual::Json(Value::String(a)), Value::String(b)) => a == b,
        (_, Value::Object(_) | Value::Array(_)) => false,
        (actual, wanted) => equal(actual, wanted),
    }
}

/// Deep equality; numbers by value.
fn equal(actual: Actual<'_>, wanted: &Value) -> bool {
    match actual {
        Actual::Undefined => false,
        Actual::Number(n) => wanted.as_f64() == Some(n),
        Actual::Bool(b) => wanted.as_bool() == Some(b),
        Actual::Json(value) => deep_equal(value, wanted),
    }
}

/// Equality of JSON values where 1 and 1.0 are the same and key order does not matter.
pub fn deep_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| deep_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(k, v)| b.get(k).is_some_and(|w| deep_equal(v, w)))
        }
        (a, b) => a == b,
    }
}

/// JavaScript's relational comparison: two texts by code units, anything else as numbers; None when one is not a number.
fn compare(a: Actual<'_>, b: Actual<'_>) -> Option<Ordering> {
    if let (Actual::Json(Value::String(a)), Actual::Json(Value::String(b))) = (a, b) {
        return Some(a.encode_utf16().cmp(b.encode_utf16()));
    }
    as_number(a)?.partial_cmp(&as_number(b)?)
}

fn as_number(actual: Actual<'_>) -> Option<f64> {
    match actual {
        Actual::Number(n) => Some(n),
        Actual::Bool(b) | Actual::Json(&Value::Bool(b)) => Some(f64::from(u8::from(b))),
        Actual::Json(Value::Number(n)) => n.as_f64(),
        Actual::Json(Value::Null) => Some(0.0),
        Actual::Json(Value::String(s)) if s.trim().is_empty() => Some(0.0),
        Actual::Json(Value::String(s)) => s.trim().parse().ok(),
        Actual::Undefined | Actual::Json(_) => None,
    }
}
