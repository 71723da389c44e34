//! What code may call and make: functions that stand in it, harmless ones by their name, and methods of a closed list.

use super::check::{Check, not};
use super::names::{
    BY_NAME, CALLED, CALLING, HANDED, MADE, MADE_OF_INTL, METHODS, PATTERNS, owned,
};
use super::{Kind, Plain};
use oxc_ast::ast::{Argument, CallExpression, Expression, NewExpression};

/// Whether a method that searches by a pattern does so by one that is written out, which was looked at; a text would become one.
fn searches_quickly(name: &str, object: &Expression<'_>, list: &[Argument<'_>]) -> bool {
    let pattern = match name {
        "exec" | "test" => Some(object),
        name if PATTERNS.contains(&name) => list.first().and_then(Argument::as_expression),
        _ => return true,
    };
    let pattern = pattern.map(Expression::without_parentheses);
    matches!(pattern, Some(Expression::RegExpLiteral(_)))
}

/// Longer than any text that is filled up by hand.
const WIDEST: f64 = 1_000.0;

impl Check<'_> {
    pub(super) fn call(&self, it: &CallExpression<'_>) -> Plain {
        let handed = self.called(it)?;
        self.arguments(&it.arguments, handed)
    }

    /// What is called; and which of its arguments it calls in turn, which was looked at.
    fn called(&self, it: &CallExpression<'_>) -> Result<Option<usize>, String> {
        match it.callee.without_parentheses() {
            Expression::Identifier(callee) => {
                let name = callee.name.as_str();
                let own = self.bound.is_function(name) && self.kind == Kind::Code;
                let given = CALLED.contains(&name) && !self.bound.has(name);
                match own || given {
                    true => Ok(None),
                    false => Err(format!("calls `{name}`")),
                }
            }
            Expression::StaticMemberExpression(callee) => {
                let name = callee.property.name.as_str();
                if let Expression::Identifier(owner) = callee.object.without_parentheses()
                    && let Some(names) = owned(owner.name.as_str())
                {
                    self.seen(owner.name.as_str());
                    return match names.contains(&name) {
                        true => self.given(owner.name.as_str(), name, &it.arguments),
                        false => Err(format!("calls `{}.{name}`", owner.name)),
                    };
                }
                self.name(name)?;
                self.seen(name);
                self.expression(&callee.object)?;
                if CALLING.contains(&name) {
                    let starts = matches!(name, "reduce" | "reduceRight");
                    if it.arguments.len() > 1 + usize::from(starts) {
                        return not("hands on what a function is called on");
                    }
                    return self.handed(&it.arguments, 0);
                } else if BY_NAME.contains(&name) {
                    self.by_name(name, &it.arguments)?;
                } else if self.kind == Kind::Expression
                    && (!searches_quickly(name, &callee.object, &it.arguments)
                        || !self.is_short(name, &it.arguments))
                {
                    return Err(format!(
                        "calls `{name}`, which may take n8n as long as it likes"
                    ));
                } else if !METHODS.contains(&name) {
                    return Err(format!("calls `{name}`"));
                }
                Ok(None)
            }
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                self.expression(&it.callee).map(|()| None)
            }
            Expression::ComputedMemberExpression(_) => not("calls a method by a computed name"),
            Expression::Super(_) => not("uses `super`"),
            _ => not("calls something that is no method"),
        }
    }

    /// What the functions of an owner may be given: those that call something call what stands in the code, and nothing that is
    /// not the code's own is changed.
    fn given(
        &self,
        owner: &str,
        name: &str,
        list: &[Argument<'_>],
    ) -> Result<Option<usize>, String> {
        match (owner, name) {
            ("Array", "from") if self.kind == Kind::Expression => not("makes a list of any length"),
            ("Array", "from") | ("Object", "groupBy") if list.len() > 2 => {
                not("hands on what a function is called on")
            }
            ("Array", "from") | ("Object", "groupBy") => self.handed(list, 1),
            ("JSON", "parse") if list.len() > 1 => not("has each value of a text handed on"),
            ("JSON", "stringify") => match list.get(1).and_then(Argument::as_expression) {
                Some(Expression::NullLiteral(_) | Expression::ArrayExpression(_)) | None => {
                    Ok(None)
                }
                Some(_) => self.handed(list, 1),
            },
            ("Object", "assign") => match list.first().and_then(Argument::as_expression) {
                Some(Expression::ObjectExpression(_)) => Ok(None),
                _ => not("sets the fields of an object that is not a new one"),
            },
            _ => Ok(None),
        }
    }

    /// A method that reads a field by its name: the name is spelled out, and leads to no function.
    fn by_name(&self, name: &str, list: &[Argument<'_>]) -> Plain {
        match list.first().and_then(Argument::as_expression) {
            Some(Expression::StringLiteral(key)) => self.no_method(key.value.as_str()),
            _ => Err(format!("calls `{name}` with a computed name")),
        }
    }

    /// Whether a method that fills up a text is given a width that a person would write.
    fn is_short(&self, name: &str, list: &[Argument<'_>]) -> bool {
        match name {
            "repeat" => false,
            "padEnd" | "padStart" => matches!(
                list.first().and_then(Argument::as_expression),
                Some(Expression::NumericLiteral(width)) if width.value <= WIDEST
            ),
            _ => true,
        }
    }

    /// `handed`: the place of the argument that is called, which was looked at; it may be a function's name. At every other place
    /// such a name is a value like any other, and whoever gets it could call it on something else.
    fn arguments(&self, list: &[Argument<'_>], handed: Option<usize>) -> Plain {
        list.iter()
            .enumerate()
            .try_for_each(|(place, it)| match it {
                Argument::SpreadElement(it) => self.expression(&it.argument),
                it => match it.as_expression().map(Expression::without_parentheses) {
                    Some(Expression::Identifier(_)) if handed == Some(place) => Ok(()),
                    Some(it) => self.expression(it),
                    None => not("hands on something that is not on the list"),
                },
            })
    }

    /// What a method calls of its arguments: a function that stands in the code, or one of the harmless ones.
    fn handed(&self, list: &[Argument<'_>], place: usize) -> Result<Option<usize>, String> {
        // With a list spread before it, another argument would stand in its place.
        let spread = |it: &Argument<'_>| matches!(it, Argument::SpreadElement(_));
        if list.iter().take(place).any(spread) {
            return not("hands on what a function is called on");
        }
        let Some(called) = list.get(place) else {
            return Ok(None);
        };
        match called.as_expression().map(Expression::without_parentheses) {
            Some(Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)) => {
                Ok(Some(place))
            }
            Some(Expression::Identifier(it))
                if self.bound.is_function(it.name.as_str())
                    || (HANDED.contains(&it.name.as_str())
                        && !self.bound.has(it.name.as_str())) =>
            {
                Ok(Some(place))
            }
            _ => not("has a function called that does not stand in it"),
        }
    }

    pub(super) fn made(&self, it: &NewExpression<'_>) -> Plain {
        self.arguments(&it.arguments, None)?;
        let class = match it.callee.without_parentheses() {
            Expression::Identifier(class) => {
                MADE.contains(&class.name.as_str()) && !self.bound.has(class.name.as_str())
            }
            Expression::StaticMemberExpression(class) => {
                matches!(class.object.without_parentheses(), Expression::Identifier(owner) if owner.name == "Intl")
                    && MADE_OF_INTL.contains(&class.property.name.as_str())
            }
            _ => false,
        };
        match class {
            true => Ok(()),
            false => not("makes an object (`new`) that is not on the list"),
        }
    }
}
