//! Code that only works on data, decided by its syntax tree: it is run in a test when it consists of nothing but the kinds of
//! node and the names that are listed here, so that nothing but plain data and its own functions is ever called. What is not
//! listed is not run, whatever it does. Must never decide by how the text looks.

mod bound;
mod calls;
mod check;
mod fields;
mod looked;
mod names;
mod patterns;

use crate::validate::with_stack;
use bound::Bound;
use check::Check;
use oxc_allocator::Allocator;
use oxc_ast::ast::{Program, Statement};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

/// What code is for; an expression is run by n8n's own process, so it gets no loops and no calls of its own functions by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Code,
    Expression,
}

/// Why it is not run: what it uses, as the end of "its code …".
pub(super) type Plain = Result<(), String>;

const BODY_START: &str = "async function body() {";
const BODY_END: &str = "\n}";
/// Longer code was written by no hand.
const LONGEST: usize = 200_000;

pub(super) use looked::SAYS;

/// The body of a Code node, which n8n puts into a function. What it gives is the code that may be run in its place, where fields with
/// computed names are looked at first; None: as it is.
pub(super) fn code(code: &str) -> Result<Option<String>, String> {
    let body = (BODY_START.len(), BODY_START.len() + code.len());
    let source = format!("{BODY_START}{code}{BODY_END}");
    read(code, &source, SourceType::script(), |program| {
        let places = looked_at(program)?;
        if places.is_empty() {
            return Ok(None);
        }
        let guarded = looked::guarded(&source, body, places);
        guarded
            .map(Some)
            .ok_or_else(|| "is too long to be looked at".to_owned())
    })
}

/// The fields that it reads or sets by computed names; an error: it is more than work on data.
fn looked_at(program: &Program<'_>) -> Result<Vec<looked::Looked>, String> {
    match program.body.as_slice() {
        // Anything more has broken out of the function.
        [Statement::FunctionDeclaration(function)] => {
            let body = function.body.as_deref();
            let body = body.ok_or_else(not_read)?;
            let bound = Bound::of(program);
            let check = Check::of(Kind::Code, &bound);
            check.statements(&body.statements)?;
            check.whole()?;
            let looked = check.looked.take();
            // As the engine reads names: an escape in one hides nothing.
            let taken = looked::NAMES.iter().find(|name| bound.has(name));
            match taken.filter(|_| !looked.is_empty()) {
                Some(name) => Err(format!("has a name of its test, `{name}`")),
                None => Ok(looked),
            }
        }
        _ => Err("ends the function that it stands in".to_owned()),
    }
}

/// What stands between `{{` and `}}`.
fn expression(code: &str) -> Plain {
    let source = match code.trim_start().starts_with('{') {
        true => format!("({code})"),
        false => code.to_owned(),
    };
    read(code, &source, SourceType::mjs(), |program| {
        match (program.directives.as_slice(), program.body.as_slice()) {
            // A text alone.
            ([_], []) => Ok(()),
            ([], [Statement::ExpressionStatement(it)]) => {
                Check::of(Kind::Expression, &Bound::of(program)).expression(&it.expression)
            }
            _ => Err("is more than one expression".to_owned()),
        }
    })
}

/// Every `{{ }}` of a parameter's text. n8n cuts texts in two ways, which differ at backslashes alone; some nodes evaluate a
/// text that does not begin with `=` too.
pub(super) fn text(text: &str) -> Plain {
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((inside, after)) = behind.split_once("}}") else {
            return Err("has `{{` without `}}`".to_owned());
        };
        if before.ends_with('\\') || inside.ends_with('\\') {
            return Err("has a backslash before its braces".to_owned());
        }
        expression(inside)?;
        rest = after;
    }
    Ok(())
}

fn not_read() -> String {
    "cannot be read as JavaScript".to_owned()
}

/// Parses, and has the tree looked at; `code` is what was given, `source` what is parsed.
fn read<T>(
    code: &str,
    source: &str,
    kind: SourceType,
    look: impl FnOnce(&Program<'_>) -> Result<T, String>,
) -> Result<T, String> {
    if code.len() > LONGEST {
        return Err("is too long to be read".to_owned());
    }
    // Old comments of HTML pages, line ends that are no characters of a line, and marks that nobody sees: engines and parsers differ.
    let strange = |c: char| match c {
        '\t' | '\n' | '\r' => false,
        '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{180e}' => true,
        c => c.is_control(),
    };
    if code.contains("<!--") || code.contains("-->") || code.contains(strange) {
        return Err("holds a mark that is read differently by different programs".to_owned());
    }
    let looked = with_stack(source, || {
        let allocator = Allocator::default();
        let options = ParseOptions {
            parse_regular_expression: true,
            enable_ident_hashes: false,
            ..ParseOptions::default()
        };
        let parsed = Parser::new(&allocator, source, kind)
            .with_options(options)
            .parse();
        if parsed.panicked || parsed.diagnostics.errors().next().is_some() {
            return Err(not_read());
        }
        if parsed.program.hashbang.is_some() {
            return Err(not_read());
        }
        look(&parsed.program)
    });
    looked.unwrap_or_else(|| Err("is too long to be read".to_owned()))
}

#[cfg(test)]
#[path = "../plain_tests.rs"]
mod plain_tests;
