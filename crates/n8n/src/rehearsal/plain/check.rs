//! The closed list of what code may consist of. Each kind of node is named here with what it may hold; everything else is an error
//! that says what was found.

use super::bound::Bound;
use super::looked::Looked;
use super::names::{DATA, DATES, FORBIDDEN, MADE, VALUES, reserved};
use super::{Kind, Plain, patterns};
use oxc_ast::ast::{
    ArrayExpressionElement, ArrowFunctionBody, AssignmentTarget, BinaryOperator, BindingPattern,
    ChainElement, Expression, ForStatementInit, ForStatementLeft, FormalParameters, Function,
    SimpleAssignmentTarget, Statement, UnaryOperator, VariableDeclaration, VariableDeclarationKind,
};
use std::cell::{Cell, RefCell};

/// One piece of code, with the names that it declares.
pub(super) struct Check<'b> {
    pub(super) kind: Kind,
    pub(super) bound: &'b Bound,
    /// A field was set somewhere.
    pub(super) changes: Cell<bool>,
    /// Fields by computed names, which are looked at when it runs.
    pub(super) looked: RefCell<Vec<Looked>>,
    /// An object is used that others in n8n's process may share: a date, a zone, a class.
    shares: Cell<bool>,
}

pub(super) fn not<T>(what: impl Into<String>) -> Result<T, String> {
    Err(what.into())
}

pub(super) fn uses(name: &str) -> Plain {
    Err(format!("uses `{name}`"))
}

impl<'b> Check<'b> {
    pub(super) fn of(kind: Kind, bound: &'b Bound) -> Self {
        Check {
            kind,
            bound,
            changes: Cell::new(false),
            looked: RefCell::default(),
            shares: Cell::new(false),
        }
    }

    /// What holds of the code as a whole, when all of it was looked at: which object a variable stands for is not followed, so code
    /// that sets fields has no object at hand that is not its own.
    pub(super) fn whole(&self) -> Plain {
        match self.changes.get() && self.shares.get() {
            true => not("sets fields, and uses dates, which n8n may share"),
            false => Ok(()),
        }
    }

    pub(super) fn seen(&self, name: &str) {
        if DATES.contains(&name) {
            self.shares.set(true);
        }
    }

    pub(super) fn statements(&self, list: &[Statement<'_>]) -> Plain {
        list.iter().try_for_each(|it| self.statement(it))
    }

    fn statement(&self, it: &Statement<'_>) -> Plain {
        let loops = self.kind == Kind::Code;
        match it {
            Statement::BlockStatement(it) => self.statements(&it.body),
            Statement::EmptyStatement(_) => Ok(()),
            Statement::BreakStatement(it) if it.label.is_none() => Ok(()),
            Statement::ContinueStatement(it) if it.label.is_none() => Ok(()),
            Statement::ExpressionStatement(it) => self.expression(&it.expression),
            Statement::ReturnStatement(it) => self.maybe(it.argument.as_ref()),
            Statement::ThrowStatement(it) => self.expression(&it.argument),
            Statement::IfStatement(it) => {
                self.expression(&it.test)?;
                self.statement(&it.consequent)?;
                it.alternate
                    .as_ref()
                    .map_or(Ok(()), |it| self.statement(it))
            }
            Statement::SwitchStatement(it) => {
                self.expression(&it.discriminant)?;
                it.cases.iter().try_for_each(|case| {
                    self.maybe(case.test.as_ref())?;
                    self.statements(&case.consequent)
                })
            }
            Statement::TryStatement(it) => {
                self.statements(&it.block.body)?;
                if let Some(handler) = &it.handler {
                    if let Some(parameter) = &handler.param {
                        self.pattern(&parameter.pattern)?;
                    }
                    self.statements(&handler.body.body)?;
                }
                it.finalizer
                    .as_ref()
                    .map_or(Ok(()), |it| self.statements(&it.body))
            }
            Statement::VariableDeclaration(it) => self.variables(it),
            Statement::FunctionDeclaration(it) => self.function(it),
            Statement::ForStatement(it) if loops => {
                match &it.init {
                    None => {}
                    Some(ForStatementInit::VariableDeclaration(it)) => self.variables(it)?,
                    Some(init) => match init.as_expression() {
                        Some(init) => self.expression(init)?,
                        None => return not("begins a loop in a way that is not known"),
                    },
                }
                self.maybe(it.test.as_ref())?;
                self.maybe(it.update.as_ref())?;
                self.statement(&it.body)
            }
            Statement::ForOfStatement(it) if loops && !it.r#await => {
                self.over(&it.left, &it.right, &it.body)
            }
            Statement::ForInStatement(it) if loops => self.over(&it.left, &it.right, &it.body),
            Statement::WhileStatement(it) if loops => {
                self.expression(&it.test)?;
                self.statement(&it.body)
            }
            Statement::DoWhileStatement(it) if loops => {
                self.expression(&it.test)?;
                self.statement(&it.body)
            }
            Statement::ForStatement(_)
            | Statement::ForOfStatement(_)
            | Statement::ForInStatement(_)
            | Statement::WhileStatement(_)
            | Statement::DoWhileStatement(_) => not("loops"),
            Statement::ClassDeclaration(_) => not("declares a class"),
            Statement::LabeledStatement(_)
            | Statement::BreakStatement(_)
            | Statement::ContinueStatement(_) => not("uses a label"),
            _ => not("holds a statement that is not on the list"),
        }
    }

    fn over(
        &self,
        left: &ForStatementLeft<'_>,
        right: &Expression<'_>,
        body: &Statement<'_>,
    ) -> Plain {
        match left {
            ForStatementLeft::VariableDeclaration(it) => self.variables(it)?,
            _ => return not("loops with a variable of outside"),
        }
        self.expression(right)?;
        self.statement(body)
    }

    fn variables(&self, it: &VariableDeclaration<'_>) -> Plain {
        use VariableDeclarationKind::{Const, Let, Var};
        if !matches!(it.kind, Const | Let | Var) {
            return not("declares a resource");
        }
        it.declarations.iter().try_for_each(|it| {
            self.pattern(&it.id)?;
            self.maybe(it.init.as_ref())
        })
    }

    pub(super) fn maybe(&self, it: Option<&Expression<'_>>) -> Plain {
        it.map_or(Ok(()), |it| self.expression(it))
    }

    pub(super) fn expression(&self, it: &Expression<'_>) -> Plain {
        match it {
            Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::StringLiteral(_) => Ok(()),
            Expression::RegExpLiteral(it) if self.kind == Kind::Code || patterns::is_quick(it) => {
                Ok(())
            }
            // n8n's own process would search for as long as the pattern likes.
            Expression::RegExpLiteral(_) => not("searches by a pattern"),
            Expression::TemplateLiteral(it) => {
                it.expressions.iter().try_for_each(|it| self.expression(it))
            }
            Expression::Identifier(it) => self.value(it.name.as_str()),
            Expression::ParenthesizedExpression(it) => self.expression(&it.expression),
            Expression::ArrayExpression(it) => it.elements.iter().try_for_each(|it| match it {
                ArrayExpressionElement::SpreadElement(it) => self.expression(&it.argument),
                ArrayExpressionElement::Elision(_) => Ok(()),
                it => match it.as_expression() {
                    Some(it) => self.expression(it),
                    None => not("holds a list that is not on the list"),
                },
            }),
            Expression::ObjectExpression(it) => self.object(it),
            Expression::ArrowFunctionExpression(it) => {
                if it.r#async {
                    return not("waits for something (`async`)");
                }
                self.parameters(&it.params)?;
                match &it.body {
                    ArrowFunctionBody::FunctionBody(body) => self.statements(&body.statements),
                    body => match body.as_expression() {
                        Some(body) => self.expression(body),
                        None => not("holds a function that is not on the list"),
                    },
                }
            }
            Expression::FunctionExpression(it) => self.function(it),
            Expression::AssignmentExpression(_) | Expression::UpdateExpression(_)
                if self.kind == Kind::Expression =>
            {
                not("sets something")
            }
            Expression::AssignmentExpression(it) => {
                match &it.left {
                    AssignmentTarget::AssignmentTargetIdentifier(target) => {
                        self.local(target.name.as_str())?;
                    }
                    left => match left.as_member_expression() {
                        Some(member) => self.change(member)?,
                        None => return not("assigns to a pattern"),
                    },
                }
                self.expression(&it.right)
            }
            Expression::UpdateExpression(it) => match &it.argument {
                SimpleAssignmentTarget::AssignmentTargetIdentifier(target) => {
                    self.local(target.name.as_str())
                }
                argument => match argument.as_member_expression() {
                    Some(member) => self.change(member),
                    None => not("counts something that is no variable"),
                },
            },
            Expression::BinaryExpression(it) => {
                self.expression(&it.left)?;
                match (it.operator, it.right.without_parentheses()) {
                    (BinaryOperator::Instanceof, Expression::Identifier(class))
                        if MADE.contains(&class.name.as_str())
                            || matches!(class.name.as_str(), "Array" | "DateTime") =>
                    {
                        Ok(())
                    }
                    (BinaryOperator::Instanceof, _) => not("asks for a class of its own"),
                    (_, right) => self.expression(right),
                }
            }
            Expression::LogicalExpression(it) => {
                self.expression(&it.left)?;
                self.expression(&it.right)
            }
            Expression::ConditionalExpression(it) => {
                self.expression(&it.test)?;
                self.expression(&it.consequent)?;
                self.expression(&it.alternate)
            }
            Expression::UnaryExpression(it) => match it.operator {
                UnaryOperator::Delete if self.kind == Kind::Expression => not("deletes something"),
                UnaryOperator::Delete => match it.argument.without_parentheses() {
                    Expression::ChainExpression(_) => not("deletes along an optional chain"),
                    argument => match argument.as_member_expression() {
                        Some(member) => self.change(member),
                        None => not("deletes something that is no field"),
                    },
                },
                _ => self.expression(&it.argument),
            },
            Expression::CallExpression(it) => self.call(it),
            Expression::NewExpression(it) => self.made(it),
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::CallExpression(it) => self.call(it),
                element => match element.as_member_expression() {
                    Some(member) => self.member(member),
                    None => not("holds a chain that is not on the list"),
                },
            },
            Expression::ComputedMemberExpression(_) | Expression::StaticMemberExpression(_) => {
                self.member(it.to_member_expression())
            }
            Expression::ThisExpression(_) => uses("this"),
            Expression::AwaitExpression(_) => not("waits for something (`await`)"),
            Expression::ImportExpression(_) => uses("import"),
            Expression::TaggedTemplateExpression(_) => not("calls a function by a template"),
            Expression::ClassExpression(_) => not("declares a class"),
            Expression::SequenceExpression(_) => not("puts several expressions into one"),
            Expression::YieldExpression(_) => uses("yield"),
            _ => not("holds an expression that is not on the list"),
        }
    }

    /// A name that stands for a value.
    pub(super) fn value(&self, name: &str) -> Plain {
        self.seen(name);
        let known = self.bound.has(name) || DATA.contains(&name) || VALUES.contains(&name);
        match known && !FORBIDDEN.contains(&name) {
            true => Ok(()),
            false => uses(name),
        }
    }

    /// A variable of this code.
    fn local(&self, name: &str) -> Plain {
        match self.bound.has(name) && !reserved(name) {
            true => Ok(()),
            false => Err(format!("changes `{name}`, which is not its own")),
        }
    }

    pub(super) fn name(&self, name: &str) -> Plain {
        match FORBIDDEN.contains(&name) {
            true => uses(name),
            false => Ok(()),
        }
    }

    pub(super) fn function(&self, it: &Function<'_>) -> Plain {
        if it.r#async || it.generator {
            return not("waits for something (`async`) or yields");
        }
        if let Some(id) = &it.id {
            self.declared(id.name.as_str())?;
        }
        if it.this_param.is_some() {
            return uses("this");
        }
        self.parameters(&it.params)?;
        match &it.body {
            Some(body) => self.statements(&body.statements),
            None => not("holds a function without a body"),
        }
    }

    fn parameters(&self, it: &FormalParameters<'_>) -> Plain {
        it.items.iter().try_for_each(|it| {
            self.pattern(&it.pattern)?;
            self.maybe(it.initializer.as_deref())
        })?;
        it.rest
            .as_ref()
            .map_or(Ok(()), |it| self.pattern(&it.rest.argument))
    }

    fn pattern(&self, it: &BindingPattern<'_>) -> Plain {
        match it {
            BindingPattern::BindingIdentifier(it) => self.declared(it.name.as_str()),
            BindingPattern::ObjectPattern(it) => {
                it.properties.iter().try_for_each(|it| {
                    let key = self.key(&it.key, it.computed)?;
                    self.no_method(&key)?;
                    self.pattern(&it.value)
                })?;
                it.rest
                    .as_ref()
                    .map_or(Ok(()), |it| self.pattern(&it.argument))
            }
            BindingPattern::ArrayPattern(it) => {
                it.elements
                    .iter()
                    .flatten()
                    .try_for_each(|it| self.pattern(it))?;
                it.rest
                    .as_ref()
                    .map_or(Ok(()), |it| self.pattern(&it.argument))
            }
            BindingPattern::AssignmentPattern(it) => {
                self.pattern(&it.left)?;
                self.expression(&it.right)
            }
        }
    }

    fn declared(&self, name: &str) -> Plain {
        match reserved(name) {
            true => Err(format!("gives `{name}` a meaning of its own")),
            false => Ok(()),
        }
    }
}
