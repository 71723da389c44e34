//! Values for which a condition holds, and values right beside its border for which it does not.

use crate::plan::{Cmp, Cond, Val};
use serde_json::{Map, Number, Value, json};

/// More fields than these, or more values, are looked through by nobody.
const MOST_FIELDS: usize = 3;
/// A text that no condition is likely to ask for.
const OTHER: &str = "other";

/// The fields that conditions ask for, each with the values that are worth trying, and null for its absence.
pub(super) struct Asked {
    fields: Vec<(String, Vec<Value>)>,
}

impl Asked {
    /// None: a condition is about something that no value can be given for.
    pub fn of<'c>(request: &str, conditions: impl Iterator<Item = &'c Cond>) -> Option<Asked> {
        let mut asked = Asked { fields: Vec::new() };
        for cond in conditions {
            asked.note(request, cond)?;
        }
        (asked.fields.len() <= MOST_FIELDS).then_some(asked)
    }

    fn note(&mut self, request: &str, cond: &Cond) -> Option<()> {
        match cond {
            Cond::All { of } | Cond::Any { of } => {
                of.iter().try_for_each(|cond| self.note(request, cond))
            }
            Cond::Not { of } => self.note(request, of),
            Cond::Compare { left, op, right } => {
                let name = name(left)?;
                let values = tried(request, *op, right)?;
                match self.fields.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) => known.extend(values),
                    None => self.fields.push((name, values)),
                }
                Some(())
            }
            Cond::Age { .. } => None,
        }
    }

    /// The first values for which this holds and none of those does.
    pub fn input(&self, holds: Option<&Cond>, not: &[&Cond]) -> Option<Map<String, Value>> {
        let mut chosen = vec![0; self.fields.len()];
        loop {
            let values = self.fields.iter().zip(&chosen);
            let input: Map<String, Value> = values
                .filter_map(|((name, values), at)| Some((name.clone(), values.get(*at)?.clone())))
                .filter(|(_, value)| !value.is_null())
                .collect();
            let fits = holds.is_none_or(|cond| is_met(cond, &input))
                && not.iter().all(|cond| !is_met(cond, &input));
            if fits {
                return Some(input);
            }
            // The next choice, as one counts.
            let mut place = 0;
            loop {
                let (at, values) = (chosen.get_mut(place)?, &self.fields.get(place)?.1);
                *at += 1;
                if *at < values.len() {
                    break;
                }
                *at = 0;
                place += 1;
            }
        }
    }
}

/// A field by its name in the data: what is said with several words may be called anything.
fn name(of: &Val) -> Option<String> {
    match of {
        Val::Field { name, .. } => {
            let name = name.trim();
            let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            (!name.is_empty() && name.chars().all(plain)).then(|| name.to_owned())
        }
        _ => None,
    }
}

/// Values on both sides of the border, and on it.
fn tried(request: &str, op: Cmp, right: &Val) -> Option<Vec<Value>> {
    let Val::Lit { value } = right else {
        return None;
    };
    let number = value.as_f64();
    Some(match (op, number) {
        (Cmp::Gt | Cmp::Ge | Cmp::Lt | Cmp::Le | Cmp::Eq | Cmp::Ne, Some(n)) => {
            [n, n + 1.0, n - 1.0].into_iter().map(whole).collect()
        }
        (
            Cmp::Eq | Cmp::Ne | Cmp::Contains | Cmp::NotContains | Cmp::StartsWith | Cmp::EndsWith,
            None,
        ) if value.as_str().is_some_and(|text| is_quoted(request, text)) => {
            vec![value.clone(), json!(OTHER)]
        }
        (Cmp::Eq | Cmp::Ne, None) if value.is_boolean() => vec![json!(true), json!(false)],
        (Cmp::IsTrue | Cmp::IsFalse, _) => vec![json!(true), json!(false)],
        (Cmp::Exists | Cmp::Missing, _) => vec![json!("something"), Value::Null],
        _ => return None,
    })
}

/// Only in quotes is a text certainly what is compared: "is new" may mean anything.
fn is_quoted(request: &str, text: &str) -> bool {
    let pairs = [
        ("\"", "\""),
        ("'", "'"),
        ("“", "”"),
        ("„", "“"),
        ("«", "»"),
        ("`", "`"),
    ];
    let mut pairs = pairs.iter();
    pairs.any(|(open, close)| request.contains(&format!("{open}{text}{close}")))
}

fn whole(n: f64) -> Value {
    match n.fract() == 0.0 && n.abs() < 1e15 {
        true => json!(n as i64),
        false => Number::from_f64(n).map_or(Value::Null, Value::Number),
    }
}

fn is_met(cond: &Cond, input: &Map<String, Value>) -> bool {
    match cond {
        Cond::All { of } => of.iter().all(|cond| is_met(cond, input)),
        Cond::Any { of } => of.iter().any(|cond| is_met(cond, input)),
        Cond::Not { of } => !is_met(of, input),
        Cond::Age { .. } => false,
        Cond::Compare { left, op, right } => {
            let (Some(name), Val::Lit { value: right }) = (name(left), right) else {
                return false;
            };
            compares(*op, input.get(&name), right)
        }
    }
}

fn compares(op: Cmp, left: Option<&Value>, right: &Value) -> bool {
    let numbers = || Some((left?.as_f64()?, right.as_f64()?));
    let texts = || Some((left?.as_str()?, right.as_str()?));
    let same = || match numbers() {
        Some((left, right)) => left == right,
        None => left == Some(right),
    };
    match op {
        Cmp::Eq => same(),
        Cmp::Ne => !same(),
        Cmp::Gt => numbers().is_some_and(|(l, r)| l > r),
        Cmp::Ge => numbers().is_some_and(|(l, r)| l >= r),
        Cmp::Lt => numbers().is_some_and(|(l, r)| l < r),
        Cmp::Le => numbers().is_some_and(|(l, r)| l <= r),
        Cmp::Contains => texts().is_some_and(|(l, r)| l.contains(r)),
        Cmp::NotContains => texts().is_none_or(|(l, r)| !l.contains(r)),
        Cmp::StartsWith => texts().is_some_and(|(l, r)| l.starts_with(r)),
        Cmp::EndsWith => texts().is_some_and(|(l, r)| l.ends_with(r)),
        Cmp::Exists => left.is_some(),
        Cmp::Missing => left.is_none(),
        Cmp::IsTrue => left == Some(&Value::Bool(true)),
        Cmp::IsFalse => left == Some(&Value::Bool(false)),
        Cmp::Matches | Cmp::OneOf => false,
    }
}

/// What goes in, in words.
pub(super) fn told(input: &Map<String, Value>) -> String {
    let all = input.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name} {text:?}"),
        other => format!("{name} {other}"),
    });
    all.collect::<Vec<_>>().join(", ")
}
