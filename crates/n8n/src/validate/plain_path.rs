//! The expressions that people write most, read without a parser: `$json.a.b`, `$('Node').item.json["a b"]`, and calls without
//! arguments on the way. Says the same as the parser, or nothing; a test holds the two together.

use super::script::{NodeReference, Script};

/// Whether the code is one of them.
pub(crate) fn is_plain_path(code: &str) -> bool {
    script(code).is_some()
}

/// What the parser would find in the code; None: it is not as plain as that.
pub(super) fn script(code: &str) -> Option<Script> {
    let code = code.trim_matches([' ', '\n', '\t']);
    if let Some(path) = code.strip_prefix("$json") {
        return steps(path).map(|_| Script::default());
    }
    let named = code.strip_prefix("$(")?;
    let (node, rest) = text(named)?;
    let first = steps(rest.strip_prefix(')')?)?;
    Some(Script {
        returns: None,
        references: vec![NodeReference {
            node: node.to_owned(),
            property: match first {
                Some(Step::Member(name)) => Some(name.to_owned()),
                _ => None,
            },
            caught: false,
        }],
        ..Script::default()
    })
}

enum Step<'a> {
    /// `.name` or `["name"]`
    Member(&'a str),
    /// `[0]`
    Index,
    /// `()`
    Call,
}

/// The first of the steps, if all the text is steps and has any.
fn steps(mut text: &str) -> Option<Option<Step<'_>>> {
    let mut first = None;
    while !text.is_empty() {
        let (step, rest) = step(text)?;
        first.get_or_insert(step);
        text = rest;
    }
    Some(first)
}

fn step(path: &str) -> Option<(Step<'_>, &str)> {
    if let Some(rest) = path.strip_prefix("()") {
        return Some((Step::Call, rest));
    }
    if let Some(rest) = path.strip_prefix('.') {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, rest) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        let starts_well = !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty();
        return starts_well.then_some((Step::Member(name), rest));
    }
    let inside = path.strip_prefix('[')?;
    if let Some((name, rest)) = text(inside) {
        return Some((Step::Member(name), rest.strip_prefix(']')?));
    }
    let (index, rest) = inside.split_once(']')?;
    // With a leading zero it would be an octal number, which is an error.
    let is_index = index == "0"
        || !index.starts_with('0')
            && index.len() < 10
            && !index.is_empty()
            && index.bytes().all(|b| b.is_ascii_digit());
    is_index.then_some((Step::Index, rest))
}

/// A quoted text that means itself, and what follows it.
fn text(literal: &str) -> Option<(&str, &str)> {
    let quote = literal.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (text, rest) = literal.get(1..)?.split_once(quote)?;
    let is_plain = !text.contains(['\\', '\n', '\r']);
    is_plain.then_some((text, rest))
}

#[cfg(test)]
#[path = "plain_path_tests.rs"]
mod plain_path_tests;
