//! Conditions: a plan's `Cond` as n8n's filter value (If, Filter, Switch), or as JavaScript where a tree is too deep
//! for one list of comparisons.

use serde_json::{Value, json};

use super::super::plan::{Cmp, Cond, Does, Val, Verb};
use super::draft::{At, Draft};
use super::expr::{expression, now};
use super::words;

/// n8n's operator: type, operation, and whether it takes a right side.
struct Operator(&'static str, &'static str, bool);

fn flat<'c>(cond: &'c Cond, all: bool, out: &mut Vec<&'c Cond>) -> bool {
    match cond {
        Cond::All { of } if all || of.len() == 1 => of.iter().all(|c| flat(c, all, out)),
        Cond::Any { of } if !all || of.len() == 1 => of.iter().all(|c| flat(c, all, out)),
        Cond::All { .. } | Cond::Any { .. } => false,
        Cond::Not { of } => match of.as_ref() {
            Cond::Compare { .. } | Cond::Age { .. } => {
                out.push(cond);
                true
            }
            _ => false,
        },
        other => {
            out.push(other);
            true
        }
    }
}

fn as_number(val: &Val) -> Option<Value> {
    match val {
        Val::Lit {
            value: Value::Number(n),
        } => Some(Value::Number(n.clone())),
        Val::Lit {
            value: Value::String(s),
        } => {
            let n: f64 = s.trim().parse().ok()?;
            Some(agentctl_n8n::workflow::number(n))
        }
        _ => None,
    }
}

impl Draft<'_> {
    /// The value of a `filter` parameter.
    pub(super) fn filter(&mut self, at: &At, cond: &Cond, version: u32) -> Value {
        let mut parts = Vec::new();
        let (list, combinator) = if flat(cond, true, &mut parts) {
            (parts, "and")
        } else {
            let mut parts = Vec::new();
            if flat(cond, false, &mut parts) {
                (parts, "or")
            } else {
                (Vec::new(), "and")
            }
        };
        let conditions: Vec<Value> = if list.is_empty() {
            let js = self.cond_js(at, cond);
            vec![self.line(
                expression(&js),
                Operator("boolean", "true", false),
                Value::from(""),
            )]
        } else {
            list.into_iter().map(|c| self.comparison(at, c)).collect()
        };
        json!({
            "options": {"caseSensitive": false, "leftValue": "", "typeValidation": "loose", "version": version},
            "conditions": conditions,
            "combinator": combinator,
        })
    }

    fn line(&mut self, left: Value, operator: Operator, right: Value) -> Value {
        let Operator(kind, operation, binary) = operator;
        let mut op = json!({"type": kind, "operation": operation});
        if !binary && let Some(map) = op.as_object_mut() {
            map.insert("singleValue".into(), Value::Bool(true));
        }
        json!({"id": self.part_id(), "leftValue": left, "rightValue": right, "operator": op})
    }

    fn comparison(&mut self, at: &At, cond: &Cond) -> Value {
        match cond {
            Cond::Not { of } => match of.as_ref() {
                Cond::Compare { left, op, right } if op.opposite().is_some() => {
                    let op = op.opposite().unwrap_or(*op);
                    self.compare(at, left, op, right)
                }
                Cond::Age {
                    field,
                    older,
                    seconds,
                } => self.age(at, field, !older, *seconds),
                _ => {
                    let js = self.cond_js(at, cond);
                    self.line(
                        expression(&js),
                        Operator("boolean", "true", false),
                        Value::from(""),
                    )
                }
            },
            Cond::Compare { left, op, right } => self.compare(at, left, *op, right),
            Cond::Age {
                field,
                older,
                seconds,
            } => self.age(at, field, *older, *seconds),
            Cond::All { .. } | Cond::Any { .. } => {
                let js = self.cond_js(at, cond);
                self.line(
                    expression(&js),
                    Operator("boolean", "true", false),
                    Value::from(""),
                )
            }
        }
    }

    fn age(&mut self, at: &At, field: &Val, older: bool, seconds: u64) -> Value {
        // Which date is meant was not said: when the record came about, else when it changed.
        const USUAL: &[&str] = &["created", "modified"];
        let left = match self.instant(at, field, USUAL) {
            Some(js) => expression(&js),
            None => {
                // By which date something is deleted, nobody guesses.
                let unsaid = matches!(field, Val::Field { name, .. } if name == "date");
                let value = self.value_or(at, field, "date", USUAL);
                let guessed = value.as_str().is_some_and(|js| js.contains("json.date "));
                if unsaid && guessed && self.deletes() {
                    self.gap("date");
                }
                value
            }
        };
        let right = expression(&format!(
            "{}.toISO()",
            now(-i64::try_from(seconds).unwrap_or(i64::MAX))
        ));
        let operation = if older { "before" } else { "after" };
        self.line(left, Operator("dateTime", operation, true), right)
    }

    /// Whether the plan deletes something.
    fn deletes(&self) -> bool {
        let mut steps = super::trigger::every(&self.plan.steps).into_iter();
        steps.any(|s| {
            matches!(
                s.does,
                Does::Service {
                    verb: Verb::Delete,
                    ..
                }
            )
        })
    }

    fn compare(&mut self, at: &At, left: &Val, op: Cmp, right: &Val) -> Value {
        let number = as_number(right);
        let left_value = match right {
            Val::Now { .. } => self.instant(at, left, &[]),
            _ => None,
        };
        let left_value = left_value.map_or_else(|| self.value(at, left), |js| expression(&js));
        let boolean = match right {
            Val::Lit {
                value: Value::Bool(b),
            } => Some(*b),
            _ => None,
        };
        // Of several joined names one is meant.
        let listed = left_value.as_str().is_some_and(|js| js.contains(".join("));
        let op = match op {
            Cmp::Eq if listed => Cmp::Contains,
            Cmp::Ne if listed => Cmp::NotContains,
            other => other,
        };
        match op {
            Cmp::IsTrue | Cmp::IsFalse => {
                let name = if op == Cmp::IsTrue { "true" } else { "false" };
                self.line(
                    left_value,
                    Operator("boolean", name, false),
                    Value::from(""),
                )
            }
            Cmp::Exists => self.line(
                left_value,
                Operator("string", "notEmpty", false),
                Value::from(""),
            ),
            Cmp::Missing => self.line(
                left_value,
                Operator("string", "empty", false),
                Value::from(""),
            ),
            Cmp::Eq | Cmp::Ne if boolean.is_some() => {
                let truth = boolean.unwrap_or(true) == (op == Cmp::Eq);
                let name = if truth { "true" } else { "false" };
                self.line(
                    left_value,
                    Operator("boolean", name, false),
                    Value::from(""),
                )
            }
            Cmp::Gt | Cmp::Ge | Cmp::Lt | Cmp::Le => {
                let dates = matches!(right, Val::Now { .. }) || matches!(left, Val::Now { .. });
                let right_value = match number {
                    Some(n) => n,
                    None => self.value(at, right),
                };
                if dates {
                    let name = match op {
                        Cmp::Gt => "after",
                        Cmp::Ge => "afterOrEquals",
                        Cmp::Lt => "before",
                        _ => "beforeOrEquals",
                    };
                    return self.line(left_value, Operator("dateTime", name, true), right_value);
                }
                let name = match op {
                    Cmp::Gt => "gt",
                    Cmp::Ge => "gte",
                    Cmp::Lt => "lt",
                    _ => "lte",
                };
                self.line(left_value, Operator("number", name, true), right_value)
            }
            Cmp::Eq | Cmp::Ne => {
                let name = if op == Cmp::Eq { "equals" } else { "notEquals" };
                if let (
                    Some(n),
                    Val::Lit {
                        value: Value::Number(_),
                    },
                ) = (number, right)
                {
                    return self.line(left_value, Operator("number", name, true), n);
                }
                let right = self.value(at, right);
                self.line(left_value, Operator("string", name, true), right)
            }
            Cmp::Contains | Cmp::NotContains | Cmp::StartsWith | Cmp::EndsWith | Cmp::Matches => {
                let name = match op {
                    Cmp::Contains => "contains",
                    Cmp::NotContains => "notContains",
                    Cmp::StartsWith => "startsWith",
                    Cmp::EndsWith => "endsWith",
                    _ => "regex",
                };
                let right = self.value(at, right);
                self.line(left_value, Operator("string", name, true), right)
            }
            Cmp::OneOf => {
                let list = self.list_js(at, right);
                let left = self.js(at, left);
                self.line(
                    expression(&format!("{list}.includes({left})")),
                    Operator("boolean", "true", false),
                    Value::from(""),
                )
            }
        }
    }

    fn list_js(&self, at: &At, right: &Val) -> String {
        match right {
            Val::Lit {
                value: Value::Array(list),
            } => {
                let parts: Vec<String> = list
                    .iter()
                    .map(|v| match v {
                        Value::String(s) => words::js_string(s),
                        other => other.to_string(),
                    })
                    .collect();
                format!("[{}]", parts.join(", "))
            }
            Val::Lit {
                value: Value::String(s),
            } => {
                let parts: Vec<String> = s.split(',').map(|p| words::js_string(p.trim())).collect();
                format!("[{}]", parts.join(", "))
            }
            other => self.js(at, other),
        }
    }

    /// The condition as a JavaScript expression.
    pub(super) fn cond_js(&self, at: &At, cond: &Cond) -> String {
        match cond {
            Cond::All { of } => self.many_js(at, of, " && "),
            Cond::Any { of } => self.many_js(at, of, " || "),
            Cond::Not { of } => format!("!({})", self.cond_js(at, of)),
            Cond::Age {
                field,
                older,
                seconds,
            } => {
                let field = self
                    .instant(at, field, &[])
                    .unwrap_or_else(|| self.js(at, field));
                let limit = now(-i64::try_from(*seconds).unwrap_or(i64::MAX));
                let sign = if *older { "<" } else { ">" };
                format!("DateTime.fromISO({field}) {sign} {limit}")
            }
            Cond::Compare { left, op, right } => {
                let l = match right {
                    Val::Now { .. } => self.instant(at, left, &[]),
                    _ => None,
                };
                let l = l.unwrap_or_else(|| self.js(at, left));
                let r = match as_number(right) {
                    Some(n) if matches!(op, Cmp::Gt | Cmp::Ge | Cmp::Lt | Cmp::Le) => n.to_string(),
                    _ => self.js(at, right),
                };
                match op {
                    Cmp::Eq => format!("{l} === {r}"),
                    Cmp::Ne => format!("{l} !== {r}"),
                    Cmp::Gt => format!("Number({l}) > {r}"),
                    Cmp::Ge => format!("Number({l}) >= {r}"),
                    Cmp::Lt => format!("Number({l}) < {r}"),
                    Cmp::Le => format!("Number({l}) <= {r}"),
                    Cmp::Contains => format!("String({l} ?? '').includes({r})"),
                    Cmp::NotContains => format!("!String({l} ?? '').includes({r})"),
                    Cmp::StartsWith => format!("String({l} ?? '').startsWith({r})"),
                    Cmp::EndsWith => format!("String({l} ?? '').endsWith({r})"),
                    Cmp::Matches => format!("new RegExp({r}).test({l})"),
                    Cmp::Exists => format!("Boolean({l})"),
                    Cmp::Missing => format!("!{l}"),
                    Cmp::IsTrue => format!("{l} === true"),
                    Cmp::IsFalse => format!("{l} === false"),
                    Cmp::OneOf => format!("{}.includes({l})", self.list_js(at, right)),
                }
            }
        }
    }

    fn many_js(&self, at: &At, of: &[Cond], sign: &str) -> String {
        let parts: Vec<String> = of
            .iter()
            .map(|c| match c {
                Cond::All { of } | Cond::Any { of } if of.len() > 1 => {
                    format!("({})", self.cond_js(at, c))
                }
                _ => self.cond_js(at, c),
            })
            .collect();
        if parts.is_empty() {
            "true".to_owned()
        } else {
            parts.join(sign)
        }
    }
}
