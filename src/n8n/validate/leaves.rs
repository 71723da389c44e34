//! Every text among a node's parameters, with the declared parameter it belongs to.

use super::{path::joined, subject::NodeView};
use crate::n8n::catalog::{OMITTED_EXPRESSION, OMITTED_TEXT, Property, PropertyKind};
use serde_json::{Map, Value};

/// A text value. Inside a locator, filter or list of assignments the property is that parameter's.
pub(super) struct Leaf<'a> {
    /// Below the node.
    pub pointer: String,
    /// The key that holds the text.
    pub key: &'a str,
    pub property: Option<&'a Property>,
    pub text: &'a str,
}

impl Leaf<'_> {
    pub(super) fn is_expression(&self) -> bool {
        self.text.starts_with('=') && !self.property.is_some_and(|p| p.no_expression)
    }
    /// Code, SQL, HTML and the like: what stands in it is not n8n's expression syntax alone.
    pub(super) fn editor(&self) -> Option<&str> {
        self.property.and_then(|p| p.type_options.editor.as_deref())
    }
    pub(super) fn is_code(&self) -> bool {
        const CODE_KEYS: [&str; 4] = ["jsCode", "pythonCode", "functionCode", "code"];
        CODE_KEYS.contains(&self.key)
            || matches!(self.editor(), Some("jsEditor" | "codeNodeEditor"))
    }
}

/// The texts of the parameters that count for the run: shown ones, with defaults.
pub(super) fn leaves<'a>(node: &'a NodeView) -> Vec<Leaf<'a>> {
    let walk = Walk { node };
    let mut found = Vec::new();
    let properties = node.description().map_or(&[][..], |d| &d.properties);
    walk.level(&node.filled, properties, "/parameters", &mut found);
    found
}

struct Walk<'a> {
    node: &'a NodeView<'a>,
}

impl<'a> Walk<'a> {
    fn level(
        &self,
        values: &'a Map<String, Value>,
        properties: &'a [Property],
        pointer: &str,
        found: &mut Vec<Leaf<'a>>,
    ) {
        for (key, value) in values {
            let property = self.property(values, properties, key);
            self.below(value, key, property, joined(pointer, key), found);
        }
    }

    /// The parameter of this name that is shown; the first one when none is.
    fn property(
        &self,
        values: &Map<String, Value>,
        properties: &'a [Property],
        name: &str,
    ) -> Option<&'a Property> {
        let named = || properties.iter().filter(|p| p.name == name);
        let shown = |p: &&Property| {
            let description = self.node.description();
            description.is_some_and(|d| d.property_visible(p, values, &self.node.filled))
        };
        match named().nth(1) {
            None => named().next(),
            Some(_) => named().find(shown).or_else(|| named().next()),
        }
    }

    fn below(
        &self,
        value: &'a Value,
        key: &'a str,
        property: Option<&'a Property>,
        pointer: String,
        found: &mut Vec<Leaf<'a>>,
    ) {
        match value {
            // The catalog's stand-ins for defaults are not what n8n has there.
            Value::String(text) if [OMITTED_TEXT, OMITTED_EXPRESSION].contains(&text.as_str()) => {}
            Value::String(text) => found.push(Leaf {
                pointer,
                key,
                property,
                text,
            }),
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.below(item, key, property, format!("{pointer}/{i}"), found);
                }
            }
            Value::Object(map) => match property {
                Some(p) if p.kind == PropertyKind::Collection => {
                    self.level(map, p.children(), &pointer, found);
                }
                Some(p) if p.kind == PropertyKind::FixedCollection => {
                    self.groups(map, p, &pointer, found);
                }
                _ => {
                    for (key, item) in map {
                        self.below(item, key, property, joined(&pointer, key), found);
                    }
                }
            },
            _ => {}
        }
    }

    fn groups(
        &self,
        map: &'a Map<String, Value>,
        property: &'a Property,
        pointer: &str,
        found: &mut Vec<Leaf<'a>>,
    ) {
        for (name, part) in map {
            let values = property.group(name).map_or(&[][..], |g| &g.values);
            let place = joined(pointer, name);
            match part {
                Value::Array(items) => {
                    for (i, item) in items.iter().enumerate() {
                        if let Value::Object(map) = item {
                            self.level(map, values, &format!("{place}/{i}"), found);
                        }
                    }
                }
                Value::Object(map) => self.level(map, values, &place, found),
                _ => {}
            }
        }
    }
}
