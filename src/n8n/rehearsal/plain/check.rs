//! The closed list of what code may consist of. Each kind of node is named here with what it may hold; everything else is an error
//! that says what was found.

use super::bound::Bound;
use super::names::{
    BY_NAME, CALLED, CALLED_BY_ITSELF, CALLING, CHANGEABLE, DATA, DATES, FORBIDDEN, HANDED, MADE,
    MADE_OF_INTL, METHODS, PATTERNS, VALUES, owned, reserved,
};
use super::{Kind, Plain};
use oxc_ast::ast::{
    Argument, ArrayExpressionElement, ArrowFunctionBody, AssignmentTarget, BinaryOperator,
    BindingPattern, CallExpression, ChainElement, Expression, ForStatementInit, ForStatementLeft,
    FormalParameters, Function, MemberExpression, NewExpression, ObjectExpression,
    ObjectPropertyKind, PropertyKey, PropertyKind, SimpleAssignmentTarget, Statement,
    UnaryOperator, VariableDeclaration, VariableDeclarationKind,
};
use std::cell::Cell;

/// One piece of code, with the names that it declares.
pub(super) struct Check<'b> {
    kind: Kind,
    bound: &'b Bound,
    /// A field was set somewhere.
    changes: Cell<bool>,
    /// An object is used that others in n8n's process may share: a date, a zone, a class.
    shares: Cell<bool>,
}

/// Longer than any text that is filled up by hand.
const WIDEST: f64 = 1_000.0;

fn not<T>(what: impl Into<String>) -> Result<T, String> {
    Err(what.into())
}

fn uses(name: &str) -> Plain {
    Err(format!("uses `{name}`"))
}

impl<'b> Check<'b> {
    pub(super) fn of(kind: Kind, bound: &'b Bound) -> Self {
        Check {
            kind,
            bound,
            changes: Cell::new(false),
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

    fn seen(&self, name: &str) {
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

    fn maybe(&self, it: Option<&Expression<'_>>) -> Plain {
        it.map_or(Ok(()), |it| self.expression(it))
    }

    pub(super) fn expression(&self, it: &Expression<'_>) -> Plain {
        match it {
            Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::StringLiteral(_) => Ok(()),
            Expression::RegExpLiteral(_) if self.kind == Kind::Code => Ok(()),
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
    fn value(&self, name: &str) -> Plain {
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

    fn name(&self, name: &str) -> Plain {
        match FORBIDDEN.contains(&name) {
            true => uses(name),
            false => Ok(()),
        }
    }

    fn member(&self, it: &MemberExpression<'_>) -> Plain {
        match it {
            MemberExpression::StaticMemberExpression(it) => {
                self.read(&it.object, it.property.name.as_str())
            }
            MemberExpression::ComputedMemberExpression(it) => {
                let owner = match it.object.without_parentheses() {
                    Expression::Identifier(owner) => owner.name.as_str(),
                    _ => "",
                };
                match owner {
                    "$node" => {}
                    owner if owned(owner).is_some() => return uses(owner),
                    _ => self.expression(&it.object)?,
                }
                match it.expression.without_parentheses() {
                    Expression::StringLiteral(key) => self.no_method(key.value.as_str()),
                    _ if owner == "$node" => not("names a node by something computed"),
                    key if self.bound.is_number(key) => self.expression(key),
                    _ => not("reads a field by a computed name"),
                }
            }
            MemberExpression::PrivateFieldExpression(_) => not("reads a private field"),
        }
    }

    /// A field that is read, not called. A method is no value: whoever gets it can call it on something else.
    fn read(&self, object: &Expression<'_>, name: &str) -> Plain {
        self.no_method(name)?;
        if let Expression::Identifier(owner) = object.without_parentheses() {
            let owner = owner.name.as_str();
            if owner == "$node" {
                return Ok(());
            }
            if let Some(names) = owned(owner) {
                let constant = name
                    .chars()
                    .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
                self.seen(owner);
                let is_value = owner.starts_with('$') && names.contains(&name);
                let known = is_value || (constant && !owner.starts_with('$'));
                return match known {
                    true => Ok(()),
                    false => uses(&format!("{owner}.{name}")),
                };
            }
        }
        self.expression(object)
    }

    /// A name that is read of something: it must not lead to a function.
    fn no_method(&self, name: &str) -> Plain {
        self.name(name)?;
        let is_method =
            METHODS.contains(&name) || CALLING.contains(&name) || BY_NAME.contains(&name);
        match is_method {
            true => Err(format!("reads `{name}` without calling it")),
            false => Ok(()),
        }
    }

    /// A field that is set, counted or deleted: of the code's own variables and of the items.
    fn change(&self, it: &MemberExpression<'_>) -> Plain {
        self.changes.set(true);
        let mut at = it.object();
        loop {
            at = match at.without_parentheses() {
                Expression::Identifier(root) => {
                    let name = root.name.as_str();
                    let own = self.bound.has(name) && !reserved(name);
                    if !own && !CHANGEABLE.contains(&name) {
                        return Err(format!("changes `{name}`, which is not its own"));
                    }
                    break;
                }
                Expression::StaticMemberExpression(it) => &it.object,
                Expression::ComputedMemberExpression(it) => &it.object,
                Expression::CallExpression(it) => &it.callee,
                _ => return not("changes what is not its own"),
            };
        }
        if let Some(name) = it.static_property_name()
            && CALLED_BY_ITSELF.contains(&name)
        {
            return uses(name);
        }
        self.member(it)
    }

    fn call(&self, it: &CallExpression<'_>) -> Plain {
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
                    && (PATTERNS.contains(&name) || !self.is_short(name, &it.arguments))
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

    fn made(&self, it: &NewExpression<'_>) -> Plain {
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

    fn object(&self, it: &ObjectExpression<'_>) -> Plain {
        it.properties.iter().try_for_each(|it| match it {
            ObjectPropertyKind::SpreadProperty(it) => self.expression(&it.argument),
            ObjectPropertyKind::ObjectProperty(it) => {
                if it.kind != PropertyKind::Init {
                    return not("declares a getter or a setter");
                }
                let key = self.key(&it.key, it.computed)?;
                if CALLED_BY_ITSELF.contains(&key.as_str()) {
                    return uses(&key);
                }
                self.expression(&it.value)
            }
        })
    }

    /// The name of a field that is spelled out.
    fn key(&self, key: &PropertyKey<'_>, computed: bool) -> Result<String, String> {
        let name = match key {
            PropertyKey::StaticIdentifier(name) if !computed => name.name.to_string(),
            PropertyKey::StringLiteral(name) => name.value.to_string(),
            PropertyKey::NumericLiteral(_) => String::new(),
            _ => return not("names a field by something computed"),
        };
        self.name(&name)?;
        Ok(name)
    }

    fn function(&self, it: &Function<'_>) -> Plain {
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
