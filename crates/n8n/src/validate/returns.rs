//! What the JavaScript of a Code node gives back: read off its `return` statements, of which those of functions within it are not its own.
//! Never runs anything.

use super::{binds::binds, expressions::shown, made::Fields};
use oxc_ast::ast::{
    Argument, ArrayExpressionElement, ArrowFunctionBody, Expression, FunctionBody,
    ObjectExpression, ObjectPropertyKind, Program, Statement, SwitchStatement, TryStatement,
};

/// What one `return` gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    Nothing,
    /// A text, a number, a truth value, or a list of them.
    Plain(String),
    /// An item that is written out; None: its fields are not known.
    Item(Option<Fields>),
    Items(Option<Fields>),
    /// What n8n handed over as the input: a list of items.
    Input,
    Unknown,
}

/// The ends of a body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Returns {
    pub given: Vec<Given>,
    /// The last statement can be passed, so that nothing is given back.
    pub falls_through: bool,
}

impl Returns {
    /// The fields of its items, where each end writes them out.
    pub fn fields(&self) -> Option<Fields> {
        let mut all = Fields::new();
        for given in &self.given {
            match given {
                Given::Item(fields) | Given::Items(fields) => all.extend(fields.clone()?),
                _ => return None,
            }
        }
        (!self.given.is_empty()).then_some(all)
    }
}

/// Of the one function that a body stands in; None: it is no function.
pub(super) fn of(program: &Program) -> Option<Returns> {
    let Some(Statement::FunctionDeclaration(function)) = program.body.first() else {
        return None;
    };
    let own_items = binds(program, &["items"]);
    let body = function.body.as_ref();
    body.map(|body| Reader::of_body(body, own_items))
}

/// What is read of one body.
struct Reader {
    /// The code gives `items` a meaning of its own.
    own_items: bool,
    given: Vec<Given>,
}

impl Reader {
    fn of_body(body: &FunctionBody, own_items: bool) -> Returns {
        let given = Vec::new();
        let mut reader = Reader { own_items, given };
        let falls_through = reader.all(&body.statements);
        Returns {
            given: reader.given,
            falls_through,
        }
    }

    /// Reads statements one after the other; whether what follows them is reached.
    fn all(&mut self, statements: &[Statement]) -> bool {
        let mut falls = true;
        for statement in statements {
            falls &= self.one(statement);
        }
        falls
    }

    /// Whether what follows the statement is reached; where it is not known, it is taken not to be.
    fn one(&mut self, statement: &Statement) -> bool {
        match statement {
            Statement::ReturnStatement(it) => {
                let argument = it.argument.as_ref();
                let given = argument.map_or(Given::Nothing, |it| self.of_expression(it));
                self.given.push(given);
                false
            }
            Statement::ThrowStatement(_)
            | Statement::BreakStatement(_)
            | Statement::ContinueStatement(_) => false,
            Statement::BlockStatement(it) => self.all(&it.body),
            Statement::LabeledStatement(it) => self.one(&it.body),
            Statement::IfStatement(it) => {
                let then = self.one(&it.consequent);
                let otherwise = it.alternate.as_ref().is_none_or(|other| self.one(other));
                then || otherwise
            }
            Statement::TryStatement(it) => self.of_try(it),
            Statement::SwitchStatement(it) => self.of_switch(it),
            // A loop that never ends by itself is left by what stands in it.
            Statement::WhileStatement(it) => {
                self.one(&it.body);
                !is_literal(&it.test)
            }
            Statement::DoWhileStatement(it) => {
                self.one(&it.body);
                !is_literal(&it.test)
            }
            Statement::ForStatement(it) => {
                self.one(&it.body);
                it.test.as_ref().is_some_and(|test| !is_literal(test))
            }
            Statement::ForOfStatement(it) => {
                self.one(&it.body);
                true
            }
            Statement::ForInStatement(it) => {
                self.one(&it.body);
                true
            }
            _ => true,
        }
    }

    fn of_try(&mut self, it: &TryStatement) -> bool {
        let tried = self.all(&it.block.body);
        let handled = it.handler.as_ref().map(|h| self.all(&h.body.body));
        let last = it.finalizer.as_ref().map(|f| self.all(&f.body));
        (tried || handled == Some(true)) && last != Some(false)
    }

    fn of_switch(&mut self, it: &SwitchStatement) -> bool {
        for case in &it.cases {
            self.all(&case.consequent);
        }
        !it.cases.iter().any(|case| case.test.is_none())
    }

    fn of_expression(&self, expression: &Expression) -> Given {
        match expression.get_inner_expression() {
            Expression::Identifier(it) if it.name == "undefined" => Given::Nothing,
            Expression::Identifier(it) if it.name == "items" && !self.own_items => Given::Input,
            Expression::StringLiteral(it) => {
                Given::Plain(format!("the text {:?}", shown(&it.value)))
            }
            Expression::TemplateLiteral(_) => Given::Plain("a text".to_owned()),
            Expression::NumericLiteral(it) => Given::Plain(format!("the number {}", it.value)),
            Expression::BooleanLiteral(it) => Given::Plain(it.value.to_string()),
            Expression::ObjectExpression(it) => Given::Item(fields_of(it)),
            Expression::ArrayExpression(it) => self.of_list(&it.elements),
            Expression::CallExpression(it) => {
                let Expression::StaticMemberExpression(member) = it.callee.get_inner_expression()
                else {
                    return Given::Unknown;
                };
                let name = member.property.name.as_str();
                let of_input = matches!(member.object.get_inner_expression(), Expression::Identifier(i) if i.name == "$input");
                match name {
                    "all" if of_input => Given::Input,
                    "map" => self.of_map(it.arguments.first()),
                    _ => Given::Unknown,
                }
            }
            _ => Given::Unknown,
        }
    }

    fn of_list(&self, elements: &[ArrayExpressionElement]) -> Given {
        let mut all = Some(Fields::new());
        for element in elements {
            match element.as_expression().map(|it| self.of_expression(it)) {
                Some(Given::Plain(what)) => return Given::Plain(format!("a list with {what}")),
                Some(Given::Item(Some(fields))) => {
                    if let Some(all) = &mut all {
                        all.extend(fields);
                    }
                }
                _ => all = None,
            }
        }
        Given::Items(all.filter(|_| !elements.is_empty()))
    }

    /// `.map(item => ({json: {…}}))`: what the function gives for each.
    fn of_map(&self, function: Option<&Argument>) -> Given {
        let Some(function) = function.and_then(Argument::as_expression) else {
            return Given::Unknown;
        };
        let given = match function.get_inner_expression() {
            Expression::ArrowFunctionExpression(it) => match &it.body {
                ArrowFunctionBody::FunctionBody(body) => {
                    Reader::of_body(body, self.own_items).given
                }
                body => match body.as_expression() {
                    Some(expression) => vec![self.of_expression(expression)],
                    None => return Given::Unknown,
                },
            },
            Expression::FunctionExpression(it) => match &it.body {
                Some(body) => Reader::of_body(body, self.own_items).given,
                None => return Given::Unknown,
            },
            _ => return Given::Unknown,
        };
        match given.as_slice() {
            [Given::Item(fields)] => Given::Items(fields.clone()),
            _ => Given::Unknown,
        }
    }
}

/// A condition that always holds, or never: `true`, `1`.
fn is_literal(test: &Expression) -> bool {
    test.get_inner_expression().is_literal()
}

/// An object is an item with `json`, or its fields themselves.
fn fields_of(object: &ObjectExpression) -> Option<Fields> {
    let mut own = Fields::new();
    for property in &object.properties {
        let ObjectPropertyKind::ObjectProperty(property) = property else {
            return None;
        };
        let name = property.key.static_name()?;
        if name == "json" {
            let Expression::ObjectExpression(json) = property.value.get_inner_expression() else {
                return None;
            };
            return keys_of(json);
        }
        own.insert(name.into_owned());
    }
    (!own.contains("binary") && !own.contains("pairedItem")).then_some(own)
}

fn keys_of(object: &ObjectExpression) -> Option<Fields> {
    let names = object.properties.iter().map(|property| match property {
        ObjectPropertyKind::ObjectProperty(property) => {
            property.key.static_name().map(|name| name.into_owned())
        }
        ObjectPropertyKind::SpreadProperty(_) => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::super::javascript::JavaScript;
    use super::{Given, Returns};

    fn of(code: &str) -> Option<Returns> {
        JavaScript::default().body(code).returns
    }

    fn read(code: &str) -> Returns {
        of(code).unwrap()
    }

    #[test]
    fn only_the_bodys_own_returns_count() {
        assert!(read("items.map(i => { return i; });").falls_through);
        assert_eq!(read("function f() { return 1; }\nf();").given, []);
        assert_eq!(read("return;").given, [Given::Nothing]);
        assert_eq!(of("return ("), None);
    }

    #[test]
    fn an_end_that_can_be_passed_is_seen() {
        for code in [
            "if ($json.a) { return []; }",
            "for (const i of items) { return i; }",
            "try { return []; } catch (e) { log(e); }",
            "switch ($json.a) { case 1: return []; }",
            "const a = 1;",
        ] {
            assert!(read(code).falls_through, "{code}");
        }
        for code in [
            "if ($json.a) { return []; } else { return items; }",
            "if ($json.a) return []; throw new Error('no');",
            "try { return []; } catch (e) { return [{json: {e}}]; }",
            "switch ($json.a) { case 1: return []; default: return items; }",
            "while (true) { if (next()) return []; }",
            "while (1) { if (next()) return []; }",
            "for (;1;) { if (next()) return []; }",
            "{ return []; }",
        ] {
            assert!(!read(code).falls_through, "{code}");
        }
    }

    #[test]
    fn what_is_written_out_is_known() {
        let fields = |code: &str| -> Option<String> {
            let fields = read(code).fields()?;
            Some(fields.into_iter().collect::<Vec<_>>().join(","))
        };
        for (code, known) in [
            ("return [{json: {a: 1, 'b c': 2}}];", Some("a,b c")),
            ("return {a: 1};", Some("a")),
            ("return {json: {a}};", Some("a")),
            (
                "return items.map(i => ({json: {total: i.json.n * 2}}));",
                Some("total"),
            ),
            (
                "return items.map(function (i) { return {json: {t: 1}}; });",
                Some("t"),
            ),
            (
                "if (x) return [{json: {a: 1}}]; return [{json: {b: 1}}];",
                Some("a,b"),
            ),
            ("return [{json: {...i.json, a: 1}}];", None),
            ("return [{json: {[k]: 1}}];", None),
            ("return out;", None),
            ("return [];", None),
            ("return items;", None),
            ("return [{binary: {data}}];", None),
        ] {
            assert_eq!(fields(code).as_deref(), known, "{code}");
        }
        assert_eq!(
            read("return [1, 2];").given,
            [Given::Plain("a list with the number 1".into())]
        );
        assert_eq!(read("return $input.all();").given, [Given::Input]);
        assert_eq!(read("return items;").given, [Given::Input]);
    }

    #[test]
    fn items_of_the_codes_own_are_not_the_input() {
        for code in [
            "const items = {}; items.count = 3; return items;",
            "items = f(); return items;",
            "const { items } = f(); return items;",
        ] {
            assert_eq!(read(code).given, [Given::Unknown], "{code}");
        }
    }

    #[test]
    fn of_a_text_only_the_beginning_is_told() {
        let code = format!("return 'AKIAIOSFODNN7EXAMPLE {}';", "x".repeat(18_000));
        let [Given::Plain(what)] = &read(&code).given[..] else {
            panic!("{code}")
        };
        assert!(
            what.len() < 80 && !what.contains("AKIAIOSFODNN7EXAMPLE"),
            "{what}"
        );
    }
}
