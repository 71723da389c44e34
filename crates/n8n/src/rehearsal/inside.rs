//! Which nodes only work on items, by facts that are compiled in: a list of types with their versions and what their parameters
//! must be (`inside.tsv`), held against the compiled-in catalog. A project's own catalog is never asked: it could say that a
//! command is a calculation.

use super::plain;
use crate::Node;
use crate::catalog::{Catalog, NodeDescription, Property};
use crate::workflow::short_type;
use serde_json::{Map, Value};
use std::sync::LazyLock;

const TABLE: &str = include_str!("inside.tsv");
const PACKAGE: &str = "n8n-nodes-base.";

/// One type of the list.
pub(super) struct Row {
    pub name: &'static str,
    pub versions: Vec<f64>,
    pub needs: Vec<Need>,
    /// Hash of the parameters and choices that somebody has looked at.
    #[cfg_attr(not(test), expect(dead_code, reason = "compared by a test"))]
    pub seen: &'static str,
}

/// What a parameter must be.
pub(super) enum Need {
    /// One of these texts, and not computed.
    OneOf(&'static str, Vec<&'static str>),
    /// Code that only works on data.
    Code(&'static str),
    /// Not computed.
    Literal(&'static str),
    /// A status of an answer that sends nobody elsewhere; below a collection.
    Answer(&'static str, &'static str),
}

/// Why a node does not count as working on items only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotInside {
    /// Its type and version are not on the list.
    Unlisted,
    /// This parameter is not what it must be, or is not known.
    Parameter(String),
    /// Code, or an expression, in this parameter does more than work on data: what it uses.
    Code(String, String),
}

/// None: a line of the table cannot be read, so its type is not on the list; a test says so before.
fn row(line: &'static str) -> Option<Row> {
    let mut cells = line.split('\t');
    let (name, versions) = (cells.next()?, cells.next()?);
    let versions: Option<Vec<f64>> = versions.split(',').map(|v| v.parse().ok()).collect();
    let needs: Option<Vec<Need>> = cells
        .next()?
        .split(';')
        .filter(|need| !need.is_empty())
        .map(|need| match need.split_once('=') {
            Some((name, values)) => Some(Need::OneOf(name, values.split(',').collect())),
            None => match need.split_once(':')? {
                (name, "code") => Some(Need::Code(name)),
                (name, "literal") => Some(Need::Literal(name)),
                (path, "answer") => {
                    let (collection, name) = path.split_once('.')?;
                    Some(Need::Answer(collection, name))
                }
                _ => None,
            },
        })
        .collect();
    Some(Row {
        name,
        versions: versions?,
        needs: needs?,
        seen: cells.next()?,
    })
}

pub(super) static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(row).collect()
});

/// Whether the node only works on items: `Ok`, or why not.
pub(super) fn inside(node: &Node) -> Result<(), NotInside> {
    let (Some(name), Some(version)) = (node.node_type().strip_prefix(PACKAGE), node.type_version())
    else {
        return Err(NotInside::Unlisted);
    };
    let row = ROWS.iter().find(|row| row.name == name);
    let row = row.filter(|row| row.versions.contains(&version));
    let known = Catalog::embedded()
        .lookup(node.node_type(), Some(version))
        .known();
    let (Some(row), Some(description)) = (row, known) else {
        return Err(NotInside::Unlisted);
    };
    let none = Map::new();
    let given = match node.map().get("parameters") {
        None => &none,
        Some(Value::Object(given)) => given,
        Some(_) => return Err(NotInside::Parameter("parameters".to_owned())),
    };
    row.needs
        .iter()
        .try_for_each(|need| fulfilled(need, given, &description))?;
    let code: Vec<&str> = row.needs.iter().filter_map(Need::code).collect();
    known_keys(given, &description.properties)?;
    for (key, value) in given {
        if !code.contains(&key.as_str()) {
            data(key, value)?;
        }
    }
    Ok(())
}

impl Need {
    fn code(&self) -> Option<&'static str> {
        match self {
            Need::Code(name) => Some(name),
            _ => None,
        }
    }
}

fn fulfilled(
    need: &Need,
    given: &Map<String, Value>,
    description: &NodeDescription,
) -> Result<(), NotInside> {
    let wrong = |name: &str| Err(NotInside::Parameter(name.to_owned()));
    match need {
        Need::OneOf(name, values) => match given.get(*name) {
            Some(Value::String(text)) if values.contains(&text.as_str()) => Ok(()),
            Some(_) => wrong(name),
            // Every default that it may have.
            None => {
                let defaults = description.properties.named(name);
                let mut defaults = defaults.map(|(_, property)| &property.default);
                match defaults.all(|default| default.as_str().is_some_and(|d| values.contains(&d)))
                {
                    true => Ok(()),
                    false => wrong(name),
                }
            }
        },
        Need::Code(name) => match given.get(*name) {
            None => Ok(()),
            Some(Value::String(text)) if is_expression(text) => wrong(name),
            Some(Value::String(text)) => {
                let code = plain::code(text).map(|_| ());
                code.map_err(|what| NotInside::Code((*name).to_owned(), what))
            }
            Some(_) => wrong(name),
        },
        Need::Literal(name) => match given.get(*name) {
            Some(Value::String(text)) if is_expression(text) => wrong(name),
            _ => Ok(()),
        },
        Need::Answer(collection, name) => {
            match given.get(*collection).map(|options| options.get(*name)) {
                None | Some(None) => Ok(()),
                Some(Some(code)) if stays(code) => Ok(()),
                Some(Some(_)) => wrong(name),
            }
        }
    }
}

/// The node as it runs in a test: with its code in which fields by computed names are looked at first. None: as it is.
pub(super) fn looked_at(node: &Node) -> Option<Node> {
    let name = node.node_type().strip_prefix(PACKAGE)?;
    let row = ROWS.iter().find(|row| row.name == name)?;
    let parameter = row.needs.iter().find_map(Need::code)?;
    let mut parameters = node.parameters()?.clone();
    let code = parameters.get_mut(parameter)?;
    let guarded = plain::code(code.as_str()?).ok().flatten()?;
    *code = Value::String(guarded);
    let mut looked_at = node.clone();
    looked_at.set("parameters", Value::Object(parameters));
    Some(looked_at)
}

/// A status that no caller follows elsewhere.
pub(super) fn stays(code: &Value) -> bool {
    code.as_u64()
        .is_some_and(|code| (200..300).contains(&code) || (400..600).contains(&code))
}

/// Parameters, and what stands in its collections of options, that the compiled-in catalog does not know might do anything.
fn known_keys(given: &Map<String, Value>, properties: &[Property]) -> Result<(), NotInside> {
    for (key, value) in given {
        let mut named = properties.iter().filter(|p| p.name == *key).peekable();
        if named.peek().is_none() {
            return Err(NotInside::Parameter(key.clone()));
        }
        let options: Vec<&Property> = named.filter(|p| !p.children().is_empty()).collect();
        if let (false, Value::Object(set)) = (options.is_empty(), value) {
            let known = |name: &String| {
                let mut children = options.iter().flat_map(|p| p.children());
                children.any(|child| child.name == *name)
            };
            if let Some(strange) = set.keys().find(|name| !known(name)) {
                return Err(NotInside::Parameter(format!("{key}.{strange}")));
            }
        }
    }
    Ok(())
}

/// Every text with `{{ }}` in it, whether or not it begins with `=`: some nodes evaluate both.
pub(super) fn data(key: &str, value: &Value) -> Result<(), NotInside> {
    match value {
        Value::String(text) => {
            plain::text(text).map_err(|what| NotInside::Code(key.to_owned(), what))
        }
        Value::Array(list) => list.iter().try_for_each(|value| data(key, value)),
        Value::Object(map) => map.iter().try_for_each(|(inner, value)| {
            // A condition by a pattern, or a key found by one: n8n's own process searches, for as long as the pattern likes.
            let searches = match inner.as_str() {
                "operation" => value.as_str().is_some_and(|operation| {
                    matches!(operation, "regex" | "notRegex") || is_expression(operation)
                }),
                "searchRegex" => true,
                _ => false,
            };
            if is_expression(inner) || searches {
                return Err(NotInside::Parameter(key.to_owned()));
            }
            data(key, value)
        }),
        _ => Ok(()),
    }
}

/// A text that n8n evaluates: its value is not known before it runs.
pub(super) fn is_expression(text: &str) -> bool {
    text.starts_with('=')
}

/// What the node is of the base package, without it; another package's may have the same short name.
pub(super) fn base(node: &Node) -> Option<&str> {
    let name = node.node_type().strip_prefix(PACKAGE)?;
    (short_type(node.node_type()) == name).then_some(name)
}

#[cfg(test)]
#[path = "inside_tests.rs"]
mod inside_tests;
