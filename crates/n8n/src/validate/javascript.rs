//! JavaScript as n8n runs it: the code of a `{{ }}` part and the body of a Code node, parsed, with the nodes that it names.
//! Owns the parser and its limits; knows nothing of workflows. Never runs anything.

use super::script::{NodeReference, Problem, Script};
use super::{field_reads, returns};
use oxc_allocator::Allocator;
use oxc_ast::ast::{
    Argument, BindingIdentifier, CallExpression, ComputedMemberExpression,
    ExportDefaultDeclaration, ExportNamedDeclaration, Expression, ImportDeclaration, Program,
    Statement, StaticMemberExpression, TryStatement, VariableDeclarationKind,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::SourceType;
use std::collections::HashMap;

/// The parser recurses, and every nesting costs a character that is no letter: so much stack is enough for any source.
const STACK_PER_MARK: usize = 16 * 1024;
const MARKS_ON_OWN_STACK: usize = 48;
/// A longer source is taken as right: nobody wrote it by hand, and it could ask for more stack than there is.
const MOST_MARKS: usize = 50_000;

pub(crate) const BODY_START: &str = "async function body() {";
const BODY_END: &str = "\n}";

/// What a source is, and what is read in it besides what is read in any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Expression,
    Body,
    BodyWithFieldReads,
}

#[derive(Default)]
pub(super) struct JavaScript {
    allocator: Allocator,
}

impl JavaScript {
    /// The code between `{{` and `}}`: n8n reads it as a strict program whose first statement must be an expression.
    pub(super) fn expression(&mut self, code: &str) -> Script {
        super::plain_path::script(code).unwrap_or_else(|| self.parsed_expression(code))
    }

    pub(super) fn parsed_expression(&mut self, code: &str) -> Script {
        let unescaped = code.replacen("\\}}", "}}", 1); // as n8n does: once
        let code = unescaped.as_str();
        let (mut source, prefix) = if code.trim_start().starts_with('{') {
            (format!("({code})"), 1)
        } else {
            (code.to_owned(), 0)
        };
        let script = self.parsed(&source, prefix, Asked::Expression);
        let misplaced = script.problem.as_ref();
        let Some(word) = misplaced.and_then(|p| word_for_comma(&source, p, prefix)) else {
            return script;
        };
        // n8n's parser takes a word between two arguments for the comma that is missing there.
        source.replace_range(word, ",");
        let repaired = self.parsed(&source, prefix, Asked::Expression);
        if repaired.problem.is_none() {
            return repaired;
        }
        script
    }

    /// The code of a Code node: n8n puts it into an async function of a script, so `await` and `return` are fine.
    pub(super) fn body(&mut self, code: &str) -> Script {
        self.parsed_body(code, Asked::Body)
    }

    /// The same, with the fields that it reads of items.
    pub(super) fn body_with_field_reads(&mut self, code: &str) -> Script {
        self.parsed_body(code, Asked::BodyWithFieldReads)
    }

    fn parsed_body(&mut self, code: &str, asked: Asked) -> Script {
        let source = format!("{BODY_START}{code}{BODY_END}");
        self.parsed(&source, BODY_START.len(), asked)
    }

    fn parsed(&mut self, source: &str, prefix: usize, asked: Asked) -> Script {
        self.allocator.reset();
        let allocator = &self.allocator;
        let kind = match asked {
            Asked::Expression => SourceType::mjs(),
            Asked::Body | Asked::BodyWithFieldReads => SourceType::script(),
        };
        let read = || {
            let options = ParseOptions {
                parse_regular_expression: true,
                enable_ident_hashes: false,
                ..ParseOptions::default()
            };
            let parsed = Parser::new(allocator, source, kind)
                .with_options(options)
                .parse();
            let mut script = script(&parsed, source, asked);
            if let Some(problem) = &mut script.problem {
                problem.at = problem.at.saturating_sub(prefix);
            }
            script
        };
        with_stack(source, read).unwrap_or_default()
    }
}

/// Does what recurses over the source with as much stack as that takes. None: the source is too long for it.
pub(crate) fn with_stack<T>(source: &str, read: impl FnOnce() -> T) -> Option<T> {
    let marks = source.bytes().filter(|b| !b.is_ascii_alphanumeric());
    let marks = marks.count();
    if marks > MOST_MARKS {
        return None;
    }
    Some(if marks <= MARKS_ON_OWN_STACK {
        read()
    } else {
        stacker::grow(marks * STACK_PER_MARK, read)
    })
}

/// Whether the text is what n8n takes for an object written in JavaScript: in parentheses it parses as a script, and one of
/// its statements is an object literal.
pub(super) fn is_object_literal(text: &str) -> bool {
    let source = format!("({text})");
    let read = || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, &source, SourceType::script()).parse();
        let is_object = |statement: &Statement| match statement {
            Statement::ExpressionStatement(it) => matches!(
                it.expression.without_parentheses(),
                Expression::ObjectExpression(_)
            ),
            _ => false,
        };
        !parsed.panicked
            && parsed.diagnostics.errors().next().is_none()
            && parsed.program.body.iter().any(is_object)
    };
    with_stack(&source, read).unwrap_or(true)
}

fn script(parsed: &ParserReturn, source: &str, asked: Asked) -> Script {
    let is_expression = asked == Asked::Expression;
    let error = parsed
        .diagnostics
        .errors()
        .find(|e| !(is_expression && tolerated(&e.message)));
    let mut problem = error.map(|error| Problem {
        message: error.message.to_string(),
        at: error
            .labels
            .first()
            .map_or(source.len(), |l| usize::try_from(l.offset()).unwrap_or(0)),
    });
    if parsed.panicked && problem.is_none() {
        return Script::default(); // tolerated by n8n, but nothing to read here
    }
    if problem.is_none() && is_expression {
        problem = not_an_expression(&parsed.program);
    }
    let is_body = problem.is_none() && !is_expression;
    let returns = is_body.then(|| returns::of(&parsed.program)).flatten();
    let mut reader = Reader::default();
    if problem.is_none() {
        reader.visit_program(&parsed.program);
        problem = reader.wrong.take();
    }
    let field_reads = match is_body && asked == Asked::BodyWithFieldReads {
        true => field_reads::of(&parsed.program),
        false => Vec::new(),
    };
    Script {
        problem,
        references: if reader.dollar_is_bound {
            Vec::new()
        } else {
            reader.references
        },
        calls_from_ai: reader.calls_from_ai,
        returns,
        field_reads,
    }
}

/// The word that stands where a comma between two arguments is missing, if that is the problem.
fn word_for_comma(
    source: &str,
    problem: &Problem,
    prefix: usize,
) -> Option<std::ops::Range<usize>> {
    let from = problem.at + prefix;
    let missing = problem.message.contains("Expected `,` or `)`");
    let rest = source.get(from..).filter(|_| missing)?;
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
    (length > 0).then_some(from..from + length)
}

/// What n8n's own parser of expressions lets pass: it reads on after these.
fn tolerated(message: &str) -> bool {
    message.contains("octal") || message.contains("Octal")
}

fn not_an_expression(program: &Program) -> Option<Problem> {
    if !program.directives.is_empty() {
        return None; // a text alone
    }
    let message = match program.body.first() {
        Some(Statement::ExpressionStatement(_)) => return None,
        None => "there is nothing to evaluate",
        Some(_) => "a statement stands where an expression belongs",
    };
    Some(Problem {
        message: message.to_owned(),
        at: 0,
    })
}

#[derive(Default)]
struct Reader {
    references: Vec<NodeReference>,
    calls_from_ai: bool,
    /// The code gives `$` a meaning of its own (as with cheerio or jQuery).
    dollar_is_bound: bool,
    tries: usize,
    /// What the parser leaves to later stages of a compiler.
    wrong: Option<Problem>,
}

impl Reader {
    /// The node that the expression stands for, if it is spelled out.
    fn node(object: &Expression) -> Option<String> {
        match object.get_inner_expression() {
            Expression::CallExpression(call) => Self::called(call),
            Expression::ComputedMemberExpression(member) => {
                let is_node = is_identifier(&member.object, "$node");
                is_node.then(|| text(&member.expression)).flatten()
            }
            Expression::StaticMemberExpression(member) => {
                let is_node = is_identifier(&member.object, "$node");
                is_node.then(|| member.property.name.to_string())
            }
            _ => None,
        }
    }

    fn called(call: &CallExpression) -> Option<String> {
        if !is_identifier(&call.callee, "$") && !is_identifier(&call.callee, "$items") {
            return None;
        }
        call.arguments
            .first()
            .and_then(Argument::as_expression)
            .and_then(text)
    }

    fn misplaced(&mut self, what: &str, at: u32) {
        let message = format!("`{what}` works in modules only; a node's code is a function");
        self.wrong(message, at);
    }

    fn wrong(&mut self, message: String, at: u32) {
        self.wrong.get_or_insert_with(|| Problem {
            message,
            at: usize::try_from(at).unwrap_or(0),
        });
    }

    fn add(&mut self, node: String, property: Option<String>) {
        self.references.push(NodeReference {
            node,
            property,
            caught: self.tries > 0,
        });
    }

    /// Names that one list of statements declares with `let`, `const` or `class` besides another declaration.
    fn declarations(&mut self, statements: &[Statement]) {
        let mut names: HashMap<&str, bool> = HashMap::new();
        for statement in statements {
            let (found, lexical) = match statement {
                Statement::VariableDeclaration(declaration) => {
                    let lexical = declaration.kind != VariableDeclarationKind::Var;
                    let names = declaration.declarations.iter();
                    let simple = names.filter_map(|d| d.id.get_binding_identifier());
                    (
                        simple
                            .map(|i| (i.name.as_str(), i.span.start))
                            .collect::<Vec<_>>(),
                        lexical,
                    )
                }
                Statement::ClassDeclaration(class) => (
                    class
                        .id
                        .iter()
                        .map(|i| (i.name.as_str(), i.span.start))
                        .collect(),
                    true,
                ),
                Statement::FunctionDeclaration(function) => (
                    function
                        .id
                        .iter()
                        .map(|i| (i.name.as_str(), i.span.start))
                        .collect(),
                    false,
                ),
                _ => continue,
            };
            for (name, at) in found {
                let before = names.get(name).copied();
                if before == Some(true) || (before.is_some() && lexical) {
                    self.wrong(format!("`{name}` is declared twice"), at);
                }
                names.insert(name, lexical);
            }
        }
    }
}

fn is_identifier(expression: &Expression, name: &str) -> bool {
    matches!(expression.get_inner_expression(), Expression::Identifier(i) if i.name == name)
}

/// A text that is written out.
fn text(expression: &Expression) -> Option<String> {
    match expression.get_inner_expression() {
        Expression::StringLiteral(literal) => Some(literal.value.to_string()),
        Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
            let cooked = template
                .quasis
                .first()
                .and_then(|q| q.value.cooked.as_ref());
            cooked.map(ToString::to_string)
        }
        _ => None,
    }
}

impl<'a> VisitJs<'a> for Reader {
    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        match Self::node(&it.object) {
            Some(node) => self.add(node, Some(it.property.name.to_string())),
            None if is_identifier(&it.object, "$node") => {
                self.add(it.property.name.to_string(), None);
            }
            None => walk_js::walk_static_member_expression(self, it),
        }
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        match Self::node(&it.object) {
            Some(node) => {
                self.add(node, text(&it.expression));
                self.visit_expression(&it.expression);
            }
            None if is_identifier(&it.object, "$node") => match text(&it.expression) {
                Some(node) => self.add(node, None),
                None => walk_js::walk_computed_member_expression(self, it),
            },
            None => walk_js::walk_computed_member_expression(self, it),
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Some(node) = Self::called(it) {
            return self.add(node, None);
        }
        const FROM_AI: [&str; 3] = ["$fromAI", "$fromAi", "$fromai"];
        if FROM_AI.iter().any(|name| is_identifier(&it.callee, name)) {
            self.calls_from_ai = true;
        }
        walk_js::walk_call_expression(self, it);
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        let handled = usize::from(it.handler.is_some());
        self.tries += handled;
        self.visit_block_statement(&it.block);
        self.tries -= handled;
        if let Some(handler) = &it.handler {
            self.visit_catch_clause(handler);
        }
        if let Some(finalizer) = &it.finalizer {
            self.visit_block_statement(finalizer);
        }
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.misplaced("import", it.span.start);
    }
    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.misplaced("export", it.span.start);
    }
    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.misplaced("export", it.span.start);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.dollar_is_bound |= it.name == "$";
    }

    fn visit_statements(&mut self, it: &oxc_allocator::ArenaVec<'a, Statement<'a>>) {
        self.declarations(it);
        walk_js::walk_statements(self, it);
    }
}

#[cfg(test)]
#[path = "javascript_tests.rs"]
mod javascript_tests;
