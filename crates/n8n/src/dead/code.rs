//! Code that gives nothing on, whatever it gets: every return that can be reached gives an empty list, or none can be. And, where
//! that is not so, whether it surely gives on as much as it gets. Decided by the syntax tree; Python by its first statement.

use super::value::{Js, LONGEST, Names, is_named, truth, value};
use crate::Node;
use crate::validate::{BODY_START, Language, PROGRAMS, with_stack};
use oxc_allocator::Allocator;
use oxc_ast::ast::{
    AssignmentTargetPropertyIdentifier, BindingIdentifier, BindingPattern, Expression,
    FunctionBody, IdentifierReference, ReturnStatement, SimpleAssignmentTarget, Statement,
    StaticMemberExpression, ThrowStatement, VariableDeclaration, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_parser::Parser;
use oxc_span::{GetSpan, SourceType};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a program asks for what its node got.
const INPUT: &str = "$input";
/// So many variables and calls are followed back to what a node got.
const DEEPEST: usize = 16;

/// What a node's code is written in.
pub(super) enum Code<'n> {
    JavaScript(&'n str),
    Python(&'n str),
}

/// The code that the node runs.
pub(super) fn of(node: &Node) -> Option<Code<'_>> {
    let given = node.parameters()?;
    let text = |key: &str| given.get(key).and_then(Value::as_str);
    let language = text("language").unwrap_or_default();
    let wanted = match language.to_lowercase().starts_with("python") {
        true => Language::Python,
        false => Language::JavaScript,
    };
    let of_type = |(node_type, ..): &&(&str, &str, Language)| *node_type == node.node_type();
    let mut programs = PROGRAMS.iter().filter(of_type).peekable();
    // A type with one language pays no heed to what is said of it.
    let only = programs.peek().copied();
    let (_, parameter, language) = programs.find(|(.., it)| *it == wanted).or(only)?;
    text(parameter).map(match language {
        Language::JavaScript => Code::JavaScript,
        Language::Python => Code::Python,
    })
}

impl Code<'_> {
    /// Whether nothing comes of it: no item, or an error.
    pub(super) fn gives_nothing(&self) -> bool {
        match self {
            Code::JavaScript(code) => body(code, |list, _| {
                let names = known(list);
                !flow(list, &names).gives
            })
            .unwrap_or(false),
            Code::Python(code) => python_gives_nothing(code),
        }
    }

    /// Whether as many items leave it as it gets: it ends in a return of what it got, each item changed at most, or of items that
    /// are written out, and there is no other way out of it.
    pub(super) fn passes_on(&self) -> bool {
        let Code::JavaScript(code) = self else {
            return false;
        };
        let read = |list: &[Statement<'_>], _: &str| {
            let (Some(Statement::ReturnStatement(last)), true) =
                (list.last(), exits(list).len() == 1)
            else {
                return false;
            };
            let seen = Seen::of(list);
            let what_it_got =
                |name: &String| *name == INPUT || is_input_by_name(name, list, &seen, DEEPEST);
            if seen.shrunk.iter().any(what_it_got) {
                return false;
            }
            let last = last.argument.as_ref();
            last.is_some_and(|it| match it.without_parentheses() {
                Expression::ObjectExpression(_) => true,
                Expression::ArrayExpression(it) => {
                    it.elements.iter().any(|it| it.as_expression().is_some())
                }
                it => is_input(it, list, &seen, DEEPEST),
            })
        };
        body(code, read).unwrap_or(false)
    }

    /// The lines of the ways out of it before its end: returns, and errors that it raises. None: it cannot be read.
    pub(super) fn early_exits(&self) -> Option<Vec<String>> {
        let Code::JavaScript(code) = self else {
            return None;
        };
        body(code, |list, source| {
            let last = list.last().map(|it| it.span().start);
            let early = exits(list).into_iter().filter(|at| Some(*at) != last);
            early
                .map(|at| {
                    let at = usize::try_from(at).unwrap_or(usize::MAX);
                    let start = source.get(..at).and_then(|text| text.rfind('\n'));
                    let line = source.get(start.map_or(BODY_START.len(), |at| at + 1)..);
                    let line = line.and_then(|text| text.lines().next());
                    line.unwrap_or_default().trim().to_owned()
                })
                .collect()
        })
    }
}

/// Reads the code as the body of a function, as n8n does.
fn body<T>(code: &str, look: impl FnOnce(&[Statement<'_>], &str) -> T) -> Option<T> {
    if code.len() > LONGEST {
        return None;
    }
    let source = format!("{BODY_START}{code}\n}}");
    let read = || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, &source, SourceType::script()).parse();
        if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
            return None;
        }
        match parsed.program.body.as_slice() {
            [Statement::FunctionDeclaration(it)] => {
                Some(look(&it.body.as_deref()?.statements, &source))
            }
            _ => None,
        }
    };
    with_stack(&source, read).flatten()
}

/// What a list of statements can come to.
#[derive(Clone, Copy, Default)]
struct Flow {
    /// A return that may give something can be reached.
    gives: bool,
    /// What stands behind it is never reached.
    ends: bool,
}

fn flow(list: &[Statement<'_>], names: &Names) -> Flow {
    let mut whole = Flow::default();
    for it in list {
        let one = statement(it, names);
        whole.gives |= one.gives;
        if one.ends {
            whole.ends = true;
            break;
        }
    }
    whole
}

fn statement(it: &Statement<'_>, names: &Names) -> Flow {
    let of = |it: &Statement<'_>| statement(it, names);
    let passing = |gives: bool| Flow { gives, ends: false };
    match it {
        Statement::ReturnStatement(it) => Flow {
            gives: it.argument.as_ref().is_some_and(|it| {
                let empty = |it: Js| match it {
                    Js::List(items) => items.is_empty(),
                    Js::Nothing => true,
                    // No items: n8n ends with an error.
                    Js::Undefined | Js::Null | Js::Bool(_) | Js::Number(_) | Js::Text(_) => true,
                    Js::Object => false,
                };
                !value(it, names).is_some_and(empty)
            }),
            ends: true,
        },
        Statement::ThrowStatement(_) => Flow {
            gives: false,
            ends: true,
        },
        Statement::BlockStatement(it) => flow(&it.body, names),
        Statement::IfStatement(it) => {
            let other = || it.alternate.as_ref().map(of).unwrap_or_default();
            match truth(&it.test, names) {
                Some(true) => of(&it.consequent),
                Some(false) => other(),
                None => {
                    let (one, other) = (of(&it.consequent), other());
                    Flow {
                        gives: one.gives || other.gives,
                        ends: one.ends && other.ends,
                    }
                }
            }
        }
        Statement::TryStatement(it) => {
            let tried = flow(&it.block.body, names);
            let handler = it.handler.as_ref();
            let caught = handler.map(|it| flow(&it.body.body, names));
            let last = it.finalizer.as_ref().map(|it| flow(&it.body, names));
            let caught = caught.unwrap_or_default();
            passing(tried.gives || caught.gives || last.unwrap_or_default().gives)
        }
        Statement::SwitchStatement(it) => {
            let mut cases = it.cases.iter();
            passing(cases.any(|case| flow(&case.consequent, names).gives))
        }
        Statement::LabeledStatement(it) => passing(of(&it.body).gives),
        Statement::ForStatement(it) => passing(of(&it.body).gives),
        Statement::ForOfStatement(it) => passing(of(&it.body).gives),
        Statement::ForInStatement(it) => passing(of(&it.body).gives),
        // A `break` may lead past what ends its body.
        Statement::DoWhileStatement(it) => passing(of(&it.body).gives),
        Statement::WhileStatement(it) => match truth(&it.test, names) {
            Some(false) => Flow::default(),
            _ => passing(of(&it.body).gives),
        },
        _ => Flow::default(),
    }
}

/// How often each name is declared, and read.
#[derive(Default)]
struct Seen {
    declared: BTreeMap<String, usize>,
    read: BTreeMap<String, usize>,
    /// Names that are set again, or are asked to give elements away.
    shrunk: Vec<String>,
}

impl Seen {
    fn of(list: &[Statement<'_>]) -> Seen {
        let mut seen = Seen::default();
        list.iter().for_each(|it| seen.visit_statement(it));
        seen
    }
}

impl<'a> VisitJs<'a> for Seen {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        *self.declared.entry(it.name.to_string()).or_default() += 1;
    }
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        *self.read.entry(it.name.to_string()).or_default() += 1;
    }
    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(it) = it {
            self.shrunk.push(it.name.to_string());
        } else if let SimpleAssignmentTarget::StaticMemberExpression(it) = it
            && it.property.name == "length"
        {
            self.shrunk.extend(owner(&it.object));
        }
        walk_js::walk_simple_assignment_target(self, it);
    }
    fn visit_assignment_target_property_identifier(
        &mut self,
        it: &AssignmentTargetPropertyIdentifier<'a>,
    ) {
        self.shrunk.push(it.binding.name.to_string());
        walk_js::walk_assignment_target_property_identifier(self, it);
    }
    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if ["splice", "pop", "shift"].contains(&it.property.name.as_str()) {
            self.shrunk.extend(owner(&it.object));
        }
        walk_js::walk_static_member_expression(self, it);
    }
}

/// The name of what is changed: a variable, or what the node got, which a call on `$input` gives.
fn owner(it: &Expression<'_>) -> Option<String> {
    match it.without_parentheses() {
        Expression::Identifier(it) => Some(it.name.to_string()),
        Expression::CallExpression(it) => match it.callee.without_parentheses() {
            Expression::StaticMemberExpression(callee) if is_named(&callee.object, INPUT) => {
                Some(INPUT.to_owned())
            }
            _ => None,
        },
        _ => None,
    }
}

fn declarations<'l, 'a>(
    list: &'l [Statement<'a>],
) -> impl Iterator<Item = (&'l VariableDeclaration<'a>, &'l VariableDeclarator<'a>)> {
    list.iter()
        .filter_map(|it| match it {
            Statement::VariableDeclaration(it) => Some(&**it),
            _ => None,
        })
        .flat_map(|it| it.declarations.iter().map(move |one| (it, one)))
}

/// Variables that stand for one known value all along: declared once, set never again, and a list is read in one place only, so
/// that nobody fills it.
fn known(list: &[Statement<'_>]) -> Names {
    let seen = Seen::of(list);
    let mut names = Names::new();
    for (_, it) in declarations(list) {
        let (BindingPattern::BindingIdentifier(id), Some(init)) = (&it.id, &it.init) else {
            continue;
        };
        let name = id.name.to_string();
        let Some(given) = value(init, &names) else {
            continue;
        };
        let reads = seen.read.get(&name).copied().unwrap_or_default();
        let once = seen.declared.get(&name) == Some(&1) && !seen.shrunk.contains(&name);
        let plain = !matches!(given, Js::List(_) | Js::Nothing | Js::Object);
        if once && (plain || reads <= 1) {
            names.insert(name, given);
        }
    }
    names
}

/// What the node got, or a list made of it that has an element for each.
fn is_input(it: &Expression<'_>, list: &[Statement<'_>], seen: &Seen, left: usize) -> bool {
    // Variables may be made of each other in a circle.
    let Some(left) = left.checked_sub(1) else {
        return false;
    };
    match it.without_parentheses() {
        Expression::Identifier(it) => {
            let name = it.name.as_str();
            !seen.shrunk.iter().any(|shrunk| shrunk == name)
                && is_input_by_name(name, list, seen, left)
        }
        Expression::StaticMemberExpression(it) => {
            is_named(&it.object, INPUT) && it.property.name == "item"
        }
        Expression::CallExpression(it) => match it.callee.without_parentheses() {
            Expression::StaticMemberExpression(callee) => match callee.property.name.as_str() {
                "all" | "first" | "last" => {
                    is_named(&callee.object, INPUT) && it.arguments.is_empty()
                }
                "map" => is_input(&callee.object, list, seen, left),
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}

/// The same of a variable, whatever was done to it since.
fn is_input_by_name(name: &str, list: &[Statement<'_>], seen: &Seen, left: usize) -> bool {
    match seen.declared.get(name) {
        None => matches!(name, "items" | "item"),
        Some(1) => declarations(list).any(|(_, one)| {
            let named = matches!(&one.id, BindingPattern::BindingIdentifier(id) if id.name == name);
            let init = one.init.as_ref();
            named && init.is_some_and(|it| is_input(it, list, seen, left))
        }),
        Some(_) => false,
    }
}

/// Where returns of the body stand, and errors that are raised anywhere in it.
#[derive(Default)]
struct Exits {
    at: Vec<u32>,
    /// Inside of how many functions.
    depth: usize,
}

impl<'a> VisitJs<'a> for Exits {
    fn visit_function_body(&mut self, it: &FunctionBody<'a>) {
        self.depth += 1;
        walk_js::walk_function_body(self, it);
        self.depth -= 1;
    }
    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        if self.depth == 0 {
            self.at.push(it.span.start);
        }
        walk_js::walk_return_statement(self, it);
    }
    fn visit_throw_statement(&mut self, it: &ThrowStatement<'a>) {
        self.at.push(it.span.start);
        walk_js::walk_throw_statement(self, it);
    }
}

fn exits(list: &[Statement<'_>]) -> Vec<u32> {
    let mut found = Exits::default();
    list.iter().for_each(|it| found.visit_statement(it));
    found.at
}

/// By the first statement that is not indented: comments and imports aside, an empty return or an error.
fn python_gives_nothing(code: &str) -> bool {
    let lines = code
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    let mut lines = lines.filter(|line| {
        let trimmed = line.trim();
        !trimmed.is_empty() && !trimmed.starts_with("import ") && !trimmed.starts_with("from ")
    });
    let first = lines.next().unwrap_or_default().trim_end();
    let first = first.trim_end_matches(';').trim_end();
    let plain: String = first.chars().filter(|c| !c.is_whitespace()).collect();
    let raises = first == "raise" || first.starts_with("raise ");
    let returns = [
        "return",
        "return[]",
        "returnNone",
        "returnlist()",
        "return()",
    ];
    raises || returns.contains(&plain.as_str())
}
