//! What a piece of JavaScript gives whatever the item, the time and the rest of the workflow: literals, and what is reckoned from
//! literals alone. None: it depends on something, or is reckoned in a way that is not known here. Decided by the syntax tree.

use crate::validate::{number_text, text_number, with_stack};
use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, ArrayExpressionElement, ArrowFunctionBody, BinaryOperator, CallExpression,
    Expression, LogicalOperator, Statement, UnaryOperator,
};
use oxc_parser::Parser;
use oxc_span::SourceType;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Longer code was written by no hand.
pub(super) const LONGEST: usize = 200_000;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Js {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    /// With what is known of its elements.
    List(Vec<Option<Js>>),
    /// An empty list or an empty text, as `slice` gives of either.
    Nothing,
    /// An object or a function.
    Object,
}

/// Variables whose value is known.
pub(super) type Names = BTreeMap<String, Js>;

impl Js {
    /// None: one of what it may be counts as true, and one as false.
    fn truth(&self) -> Option<bool> {
        Some(match self {
            Js::Nothing => return None,
            Js::Undefined | Js::Null => false,
            Js::Bool(known) => *known,
            Js::Number(number) => *number != 0.0 && !number.is_nan(),
            Js::Text(text) => !text.is_empty(),
            Js::List(_) | Js::Object => true,
        })
    }

    /// Undefined is null there.
    fn json(&self) -> Option<Value> {
        Some(match self {
            Js::Undefined | Js::Null => Value::Null,
            Js::Bool(known) => Value::Bool(*known),
            Js::Number(number) => Value::Number(serde_json::Number::from_f64(*number)?),
            Js::Text(text) => Value::String(text.clone()),
            Js::List(items) => {
                let items = items.iter().map(|item| item.as_ref()?.json());
                Value::Array(items.collect::<Option<Vec<Value>>>()?)
            }
            Js::Nothing | Js::Object => return None,
        })
    }

    fn number(&self) -> Option<f64> {
        Some(match self {
            Js::Null => 0.0,
            Js::Bool(known) => f64::from(u8::from(*known)),
            Js::Number(number) => *number,
            Js::Text(text) => text_number(text)?,
            _ => return None,
        })
    }

    fn text(&self) -> Option<String> {
        Some(match self {
            Js::Undefined => "undefined".to_owned(),
            Js::Null => "null".to_owned(),
            Js::Bool(known) => known.to_string(),
            Js::Number(number) => number.is_finite().then(|| number_text(*number))?,
            Js::Text(text) => text.clone(),
            Js::List(_) | Js::Nothing | Js::Object => return None,
        })
    }
}

/// What stands between `{{` and `}}`: what it gives, and else whether that is true or false.
pub(super) fn expression(code: &str) -> (Option<Value>, Option<bool>) {
    if code.len() > LONGEST {
        return (None, None);
    }
    let source = format!("({code}\n)");
    let read = || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, &source, SourceType::mjs()).parse();
        if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
            return (None, None);
        }
        match parsed.program.body.as_slice() {
            [Statement::ExpressionStatement(it)] => {
                let none = Names::new();
                let given = value(&it.expression, &none);
                let json = given.as_ref().and_then(Js::json);
                (json, truth(&it.expression, &none))
            }
            _ => (None, None),
        }
    };
    with_stack(&source, read).unwrap_or((None, None))
}

/// Whether it counts as true in a condition. What it does besides is not looked at.
pub(super) fn truth(it: &Expression<'_>, names: &Names) -> Option<bool> {
    match it.without_parentheses() {
        Expression::LogicalExpression(it) => {
            let (left, right) = (truth(&it.left, names), truth(&it.right, names));
            let decides = match it.operator {
                LogicalOperator::And => false,
                LogicalOperator::Or => true,
                LogicalOperator::Coalesce => {
                    return match value(&it.left, names)? {
                        Js::Undefined | Js::Null => right,
                        left => left.truth(),
                    };
                }
            };
            match (left, right) {
                (Some(known), _) | (_, Some(known)) if known == decides => Some(decides),
                (Some(_), Some(_)) => Some(!decides),
                _ => None,
            }
        }
        Expression::UnaryExpression(it) if it.operator == UnaryOperator::LogicalNot => {
            truth(&it.argument, names).map(|known| !known)
        }
        Expression::ConditionalExpression(it) => match truth(&it.test, names) {
            Some(true) => truth(&it.consequent, names),
            Some(false) => truth(&it.alternate, names),
            None => {
                let either = truth(&it.consequent, names)?;
                (truth(&it.alternate, names)? == either).then_some(either)
            }
        },
        Expression::CallExpression(it) if is_named(&it.callee, "Boolean") => {
            match it.arguments.first() {
                Some(first) => truth(first.as_expression()?, names),
                None => Some(false),
            }
        }
        it => value(it, names).and_then(|value| value.truth()),
    }
}

pub(super) fn is_named(it: &Expression<'_>, name: &str) -> bool {
    matches!(it.without_parentheses(), Expression::Identifier(it) if it.name == name)
}

pub(super) fn value(it: &Expression<'_>, names: &Names) -> Option<Js> {
    Some(match it.without_parentheses() {
        Expression::NullLiteral(_) => Js::Null,
        Expression::BooleanLiteral(it) => Js::Bool(it.value),
        Expression::NumericLiteral(it) => Js::Number(it.value),
        Expression::StringLiteral(it) => Js::Text(it.value.to_string()),
        Expression::TemplateLiteral(it) if it.expressions.is_empty() => {
            let cooked = it.quasis.first()?.value.cooked.as_ref()?;
            Js::Text(cooked.to_string())
        }
        Expression::ObjectExpression(_)
        | Expression::ArrowFunctionExpression(_)
        | Expression::FunctionExpression(_) => Js::Object,
        Expression::Identifier(it) => match it.name.as_str() {
            "undefined" => Js::Undefined,
            "NaN" => Js::Number(f64::NAN),
            "Infinity" => Js::Number(f64::INFINITY),
            name => names.get(name)?.clone(),
        },
        Expression::AwaitExpression(it) => value(&it.argument, names)?,
        Expression::SequenceExpression(it) => value(it.expressions.last()?, names)?,
        Expression::ArrayExpression(it) => {
            let items = it.elements.iter().map(|it| match it {
                ArrayExpressionElement::SpreadElement(_) => None,
                ArrayExpressionElement::Elision(_) => Some(Some(Js::Undefined)),
                it => Some(it.as_expression().and_then(|it| value(it, names))),
            });
            Js::List(items.collect::<Option<Vec<Option<Js>>>>()?)
        }
        Expression::UnaryExpression(it) => match it.operator {
            UnaryOperator::LogicalNot => Js::Bool(!truth(&it.argument, names)?),
            UnaryOperator::UnaryNegation => Js::Number(-value(&it.argument, names)?.number()?),
            UnaryOperator::UnaryPlus => Js::Number(value(&it.argument, names)?.number()?),
            UnaryOperator::Void => Js::Undefined,
            _ => return None,
        },
        Expression::LogicalExpression(it) => {
            let first = match it.operator {
                LogicalOperator::And => truth(&it.left, names).map(|known| !known),
                LogicalOperator::Or => truth(&it.left, names),
                LogicalOperator::Coalesce => {
                    let left = value(&it.left, names);
                    left.map(|left| !matches!(left, Js::Undefined | Js::Null))
                }
            };
            match first? {
                true => value(&it.left, names)?,
                false => value(&it.right, names)?,
            }
        }
        Expression::ConditionalExpression(it) => match truth(&it.test, names)? {
            true => value(&it.consequent, names)?,
            false => value(&it.alternate, names)?,
        },
        Expression::BinaryExpression(it) => {
            let (left, right) = (value(&it.left, names)?, value(&it.right, names)?);
            binary(it.operator, &left, &right)?
        }
        Expression::StaticMemberExpression(it) if it.property.name == "length" => {
            match value(&it.object, names)? {
                Js::List(items) => Js::Number(items.len() as f64),
                Js::Nothing => Js::Number(0.0),
                Js::Text(text) => Js::Number(text.encode_utf16().count() as f64),
                _ => return None,
            }
        }
        Expression::NewExpression(it)
            if is_named(&it.callee, "Array") && it.arguments.is_empty() =>
        {
            Js::List(Vec::new())
        }
        Expression::CallExpression(it) => call(it, names)?,
        _ => return None,
    })
}

fn binary(operator: BinaryOperator, left: &Js, right: &Js) -> Option<Js> {
    use BinaryOperator as Op;
    let reckoned = |with: fn(f64, f64) -> f64| {
        let (left, right) = (left.number()?, right.number()?);
        Some(Js::Number(with(left, right)))
    };
    let ordered = |holds: fn(Ordering) -> bool| {
        // Texts are not ordered here: an engine does it by their code units.
        let (Js::Number(left), Js::Number(right)) = (left, right) else {
            return None;
        };
        Some(Js::Bool(left.partial_cmp(right).is_some_and(holds)))
    };
    let scalar = |it: &Js| !matches!(it, Js::List(_) | Js::Nothing | Js::Object);
    let strict = || (scalar(left) && scalar(right)).then(|| left == right);
    let loose = || {
        let alike = std::mem::discriminant(left) == std::mem::discriminant(right);
        match (left, right) {
            (Js::Undefined | Js::Null, Js::Undefined | Js::Null) => Some(true),
            _ if alike => strict(),
            (Js::Undefined | Js::Null, other) | (other, Js::Undefined | Js::Null) => {
                scalar(other).then_some(false)
            }
            _ => Some(left.number()? == right.number()?),
        }
    };
    match operator {
        Op::Addition if matches!(left, Js::Text(_)) || matches!(right, Js::Text(_)) => {
            Some(Js::Text(left.text()? + &right.text()?))
        }
        Op::Addition => reckoned(|a, b| a + b),
        Op::Subtraction => reckoned(|a, b| a - b),
        Op::Multiplication => reckoned(|a, b| a * b),
        Op::Division => reckoned(|a, b| a / b),
        Op::Remainder => reckoned(|a, b| a % b),
        Op::Exponential => reckoned(f64::powf),
        Op::LessThan => ordered(Ordering::is_lt),
        Op::LessEqualThan => ordered(Ordering::is_le),
        Op::GreaterThan => ordered(Ordering::is_gt),
        Op::GreaterEqualThan => ordered(Ordering::is_ge),
        Op::StrictEquality => strict().map(Js::Bool),
        Op::StrictInequality => strict().map(|same| Js::Bool(!same)),
        Op::Equality => loose().map(Js::Bool),
        Op::Inequality => loose().map(|same| Js::Bool(!same)),
        _ => None,
    }
}

/// What is called is a method of a list or of a text, or a function that makes one of a literal.
fn call(it: &CallExpression<'_>, names: &Names) -> Option<Js> {
    let empty = || Some(Js::List(Vec::new()));
    let given = |at: usize| {
        let it = it.arguments.get(at).and_then(Argument::as_expression);
        it.and_then(|it| value(it, names))
    };
    let number = |at: usize| given(at).and_then(|it| it.number());
    let callee = match it.callee.without_parentheses() {
        Expression::Identifier(callee) => {
            return match callee.name.as_str() {
                "Array" if it.arguments.is_empty() || given(0) == Some(Js::Number(0.0)) => empty(),
                "Boolean" => truth(it.arguments.first()?.as_expression()?, names).map(Js::Bool),
                "Number" => given(0)?.number().map(Js::Number),
                "String" => given(0)?.text().map(Js::Text),
                _ => None,
            };
        }
        Expression::StaticMemberExpression(callee) => callee,
        _ => return None,
    };
    let method = callee.property.name.as_str();
    if is_named(&callee.object, "Array") {
        return match method {
            "of" if it.arguments.is_empty() => empty(),
            "from" if given(0) == Some(Js::List(Vec::new())) => empty(),
            _ => None,
        };
    }
    let object = value(&callee.object, names);
    match (method, &object) {
        (
            "concat" | "filter" | "flat" | "flatMap" | "map" | "reverse" | "slice" | "sort"
            | "toReversed" | "toSorted",
            Some(Js::List(items)),
        ) if items.is_empty() && (method != "concat" || it.arguments.is_empty()) => empty(),
        // No text has these.
        (
            "filter" | "flat" | "flatMap" | "map" | "reverse" | "sort" | "toReversed" | "toSorted",
            Some(Js::Nothing),
        ) => empty(),
        ("slice", Some(Js::Nothing)) => object,
        ("concat", Some(Js::Nothing)) if it.arguments.is_empty() => object,
        // From one place to the same, or to one before it.
        ("slice", None | Some(Js::List(_))) => {
            let (from, to) = (number(0), number(1));
            let nothing = match (from, to) {
                (_, Some(0.0)) => true,
                (Some(from), Some(to)) => to <= from && (from >= 0.0) == (to >= 0.0),
                (Some(from), None) => from == f64::INFINITY,
                _ => false,
            };
            match object {
                None => nothing.then_some(Js::Nothing),
                Some(_) => nothing.then(empty)?,
            }
        }
        ("splice", None) if number(1) == Some(0.0) => empty(),
        ("filter", None | Some(Js::List(_))) => match gives(it.arguments.first()?, names)? {
            (_, Some(false)) => empty(),
            _ => None,
        },
        ("flatMap", None | Some(Js::List(_))) => match gives(it.arguments.first()?, names)? {
            (Some(Js::List(items)), _) if items.is_empty() => empty(),
            _ => None,
        },
        ("includes", Some(Js::List(items))) => {
            let wanted = given(0)?;
            let items: Vec<&Js> = items.iter().map(Option::as_ref).collect::<Option<_>>()?;
            Some(Js::Bool(items.contains(&&wanted)))
        }
        ("includes" | "startsWith" | "endsWith", Some(Js::Text(text))) => {
            let part = given(0)?.text()?;
            Some(Js::Bool(match method {
                "includes" => text.contains(&part),
                "startsWith" => text.starts_with(&part),
                _ => text.ends_with(&part),
            }))
        }
        ("toLowerCase", Some(Js::Text(text))) => Some(Js::Text(text.to_lowercase())),
        ("toUpperCase", Some(Js::Text(text))) => Some(Js::Text(text.to_uppercase())),
        ("trim", Some(Js::Text(text))) => Some(Js::Text(text.trim().to_owned())),
        ("toString", Some(it)) => it.text().map(Js::Text),
        _ => None,
    }
}

/// What a function that is written out gives, and whether that counts as true.
fn gives(it: &Argument<'_>, names: &Names) -> Option<(Option<Js>, Option<bool>)> {
    let both = |it: &Expression<'_>| (value(it, names), truth(it, names));
    let body = match it.as_expression()?.without_parentheses() {
        Expression::ArrowFunctionExpression(it) => match &it.body {
            ArrowFunctionBody::FunctionBody(body) => &body.statements,
            body => return body.as_expression().map(both),
        },
        Expression::FunctionExpression(it) => &it.body.as_deref()?.statements,
        _ => return None,
    };
    match body.as_slice() {
        [] => Some((Some(Js::Undefined), Some(false))),
        [Statement::ReturnStatement(it)] => match &it.argument {
            Some(it) => Some(both(it)),
            None => Some((Some(Js::Undefined), Some(false))),
        },
        _ => None,
    }
}
