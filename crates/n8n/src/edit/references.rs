//! References to other nodes by name in expressions and code: `$('A')`, `$node["A"]`, `$node.A`, `$items("A")`, and in Python
//! `_('A')`, `_node["A"]`, `_items("A")`. Found by their syntax (quotes, escapes), so a name that is only text stays as it is.

use crate::workflow::{CODE_KEYS, Node};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

/// One reference: the name it means and the bytes that spell it (with quotes, or with the dot of `$node.A`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub node: String,
    spelling: Range<usize>,
    form: Form,
}

impl Reference {
    /// Where the reference starts in the text, in bytes.
    pub fn offset(&self) -> usize {
        self.spelling.start
    }
    /// Where the name's spelling ends, in bytes: before the closing bracket, if it has one.
    pub fn end(&self) -> usize {
        self.spelling.end
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Quoted(char),
    Dotted,
}

/// Whatever looks like a reference in the text, in order; they may overlap. `python` also counts the `_…` forms.
pub fn references(text: &str, python: bool) -> Vec<Reference> {
    let mut found = Vec::new();
    for (at, sigil) in text.char_indices() {
        if sigil != '$' && !(python && sigil == '_') {
            continue;
        }
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        if before.is_some_and(is_identifier_part) {
            continue;
        }
        let after = at + sigil.len_utf8();
        found.extend(reference_at(text, after));
    }
    found
}

/// The references in order, none inside another. A name may itself look like one (`$("$('A')")`) or begin what ends behind it: of
/// those that overlap the first counts whose name `is_node`.
pub fn apart(text: &str, python: bool, is_node: impl Fn(&str) -> bool) -> Vec<Reference> {
    let mut apart: Vec<Reference> = Vec::new();
    for reference in references(text, python) {
        let begins = reference.spelling.start;
        let inside = apart.last().is_some_and(|last| begins < last.spelling.end);
        if inside || !is_node(&reference.node) {
            continue;
        }
        apart.push(reference);
    }
    apart
}

/// The nodes whose data a node asks for by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    pub nodes: BTreeSet<String>,
    /// A name is computed, or the way to every node is handed on: nobody can say which nodes are meant.
    pub computed: bool,
}

/// What the node's expressions and its code refer to.
pub fn named_by(node: &Node) -> Named {
    fn walk(value: &Value, key: &str, named: &mut Named) {
        match value {
            Value::String(text) => {
                let found = references(text, is_python(key));
                let evaluated = text.starts_with('=') || CODE_KEYS.contains(&key);
                named.computed |= evaluated && any_computed(text, is_python(key), &found);
                named.nodes.extend(found.into_iter().map(|r| r.node));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, key, named)),
            Value::Object(map) => map.iter().for_each(|(key, item)| walk(item, key, named)),
            _ => {}
        }
    }
    let mut named = Named::default();
    for (key, value) in node.parameters().into_iter().flatten() {
        walk(value, key, &mut named);
    }
    named
}

/// Whether a place that takes a node's name holds something else than a literal, or the function itself is passed on.
fn any_computed(text: &str, python: bool, found: &[Reference]) -> bool {
    text.char_indices().any(|(at, sigil)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        if !(sigil == '$' || python && sigil == '_') || before.is_some_and(is_identifier_part) {
            return false;
        }
        let rest = text.get(at + sigil.len_utf8()..).unwrap_or_default();
        let length = rest.find(|c| !is_identifier_part(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(length);
        let tail = tail.trim_start();
        let takes_a_name = match word {
            "" if sigil == '_' => tail.starts_with('('),
            "" => {
                tail.is_empty()
                    || tail.starts_with(['(', ';', ',', ')', ']', '}', '=', '.', '?', '['])
            }
            "node" => true,
            "items" => {
                let inside = tail.strip_prefix('(').map(str::trim_start);
                !inside.is_some_and(|inside| inside.starts_with(')'))
            }
            _ => false,
        };
        // A literal stands right behind the bracket; a plain name begins with the dot.
        let bracket = text.len() - tail.len();
        let inside = tail.get(1..).unwrap_or_default();
        let literal = text.len() - inside.trim_start().len();
        let named = |r: &Reference| r.offset() == bracket || r.offset() == literal;
        takes_a_name && !found.iter().any(named)
    })
}

/// The text with every reference to `old` meaning `new`; None when there is none. `is_node` says which other names there are.
pub fn rename(
    text: &str,
    python: bool,
    (old, new): (&str, &str),
    is_node: impl Fn(&str) -> bool,
) -> Option<String> {
    let mut renamed = String::with_capacity(text.len());
    let mut done = 0;
    for reference in apart(text, python, |name| name == old || is_node(name)) {
        if reference.node != old {
            continue;
        }
        renamed.push_str(text.get(done..reference.spelling.start)?);
        match reference.form {
            Form::Quoted(quote) => renamed.push_str(&quoted(new, quote)),
            Form::Dotted if is_identifier(new) => {
                renamed.push('.');
                renamed.push_str(new);
            }
            Form::Dotted => {
                renamed.push('[');
                renamed.push_str(&quoted(new, '"'));
                renamed.push(']');
            }
        }
        done = reference.spelling.end;
    }
    if done == 0 {
        return None;
    }
    renamed.push_str(text.get(done..)?);
    Some(renamed)
}

/// Rewrites every text among the node's parameters.
pub fn rename_in_node(node: &mut Node, names: (&str, &str), is_node: &dyn Fn(&str) -> bool) {
    if let Some(parameters) = node.map_mut().get_mut("parameters") {
        rename_in_value(parameters, "", names, is_node);
    }
}

/// `key` is the parameter's own key: Python code is known by it.
fn rename_in_value(
    value: &mut Value,
    key: &str,
    names: (&str, &str),
    is_node: &dyn Fn(&str) -> bool,
) {
    match value {
        Value::String(text) => {
            if let Some(renamed) = rename(text, is_python(key), names, is_node) {
                *text = renamed;
            }
        }
        Value::Array(items) => {
            for item in items {
                rename_in_value(item, key, names, is_node);
            }
        }
        Value::Object(map) => {
            for (key, item) in map.iter_mut() {
                rename_in_value(item, key, names, is_node);
            }
        }
        _ => {}
    }
}

/// Whether the parameter of this name holds Python.
pub fn is_python(parameter: &str) -> bool {
    parameter == "pythonCode"
}

/// The reference whose sigil ends at `at`, if one follows.
fn reference_at(text: &str, at: usize) -> Option<Reference> {
    let rest = text.get(at..)?;
    if let Some(tail) = rest.strip_prefix('(') {
        return quoted_reference(text, text.len() - tail.len(), &[')']);
    }
    if let Some(tail) = rest.strip_prefix("items") {
        let tail = tail.trim_start().strip_prefix('(')?;
        return quoted_reference(text, text.len() - tail.len(), &[')', ',']);
    }
    let tail = rest.strip_prefix("node")?;
    if let Some(inside) = tail.trim_start().strip_prefix('[') {
        return quoted_reference(text, text.len() - inside.len(), &[']']);
    }
    let name = tail.strip_prefix('.')?;
    let length = name.find(|c| !is_identifier_part(c)).unwrap_or(name.len());
    let name = name.get(..length).filter(|name| is_identifier(name))?;
    let start = text.len() - tail.len();
    Some(Reference {
        node: name.to_owned(),
        spelling: start..start + 1 + length,
        form: Form::Dotted,
    })
}

/// A string literal after white space from `from`, then white space and one of `closers`.
fn quoted_reference(text: &str, from: usize, closers: &[char]) -> Option<Reference> {
    let tail = text.get(from..)?;
    let start = from + (tail.len() - tail.trim_start().len());
    let (node, quote, length) = string_literal(text.get(start..)?)?;
    let end = start + length;
    let closed = text.get(end..)?.trim_start().starts_with(closers);
    closed.then_some(Reference {
        node,
        spelling: start..end,
        form: Form::Quoted(quote),
    })
}

/// The value, the quote and the byte length of the JavaScript string literal that the text starts with.
fn string_literal(text: &str) -> Option<(String, char, usize)> {
    let mut chars = text.char_indices();
    let (_, quote) = chars
        .next()
        .filter(|(_, c)| matches!(c, '\'' | '"' | '`'))?;
    let mut value = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return Some((value, quote, at + c.len_utf8())),
            '\n' if quote != '`' => return None,
            '$' if quote == '`' && text.get(at + 1..)?.starts_with('{') => return None,
            '\\' => value.extend(escaped(&mut chars)?),
            c => value.push(c),
        }
    }
    None
}

/// What follows a backslash; None inside when it stands for nothing (a line continuation).
fn escaped(chars: &mut std::str::CharIndices) -> Option<Option<char>> {
    let (_, c) = chars.next()?;
    Some(match c {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'v' => Some('\u{b}'),
        '0' => Some('\0'),
        '\n' => None,
        'x' => Some(code_point(chars.as_str().get(..2)?, chars)?),
        'u' if chars.as_str().starts_with('{') => {
            let digits = chars.as_str().get(1..)?.split('}').next()?.to_owned();
            chars.nth(digits.len() + 1)?;
            Some(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?)
        }
        'u' => Some(code_point(chars.as_str().get(..4)?, chars)?),
        other => Some(other),
    })
}

fn code_point(digits: &str, chars: &mut std::str::CharIndices) -> Option<char> {
    let value = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    chars.nth(digits.len() - 1)?;
    Some(value)
}

fn quoted(name: &str, quote: char) -> String {
    let mut literal = String::with_capacity(name.len() + 2);
    literal.push(quote);
    for c in name.chars() {
        match c {
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\\' => literal.push_str("\\\\"),
            c if c == quote || (quote == '`' && c == '$') => {
                literal.push('\\');
                literal.push(c);
            }
            c => literal.push(c),
        }
    }
    literal.push(quote);
    literal
}

fn is_identifier_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn is_identifier(name: &str) -> bool {
    name.chars().all(is_identifier_part) && name.chars().next().is_some_and(|c| !c.is_numeric())
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod references_tests;
