//! Every text among a node's parameters, with the declared parameter it belongs to.

use super::{path::push, subject::NodeView};
use crate::catalog::{
    NodeDescription, OMITTED_EXPRESSION, OMITTED_TEXT, Property, PropertyGroup, PropertyKind,
};
use crate::workflow::CODE_KEYS;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// A text value. Inside a locator, filter or list of assignments the property is that parameter's.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a, 'p> {
    /// Below the node.
    pub pointer: &'p str,
    /// The key that holds the text.
    pub key: &'a str,
    pub property: Option<&'a Property>,
    pub text: &'a str,
}

impl Leaf<'_, '_> {
    pub(super) fn is_expression(&self) -> bool {
        self.text.starts_with('=') && !self.property.is_some_and(|p| p.no_expression)
    }
    /// Code, SQL, HTML and the like: what stands in it is not n8n's expression syntax alone.
    pub(super) fn editor(&self) -> Option<&str> {
        self.property.and_then(|p| p.type_options.editor.as_deref())
    }
    pub(super) fn is_code(&self) -> bool {
        CODE_KEYS.contains(&self.key)
            || matches!(self.editor(), Some("jsEditor" | "codeNodeEditor"))
    }
}

/// Shows `look` the texts of the parameters that count for the run: shown ones, with defaults. Empty texts hold nothing.
pub(super) fn each<'a>(node: &'a NodeView, look: &mut dyn FnMut(Leaf<'a, '_>)) {
    let description = node.description();
    let mut walk = Walk {
        node,
        description,
        pointer: "/parameters".to_owned(),
        look,
    };
    for (key, value) in node.filled.iter() {
        let property = description.and_then(|d| {
            let mut named = d.properties.named(key);
            let first = named.next()?;
            if named.next().is_none() {
                return Some(first.1);
            }
            let shown = |(at, _): &(usize, &Property)| d.is_shown(*at, &node.filled);
            Some(d.properties.named(key).find(shown).unwrap_or(first).1)
        });
        walk.below(key, value, key, property);
    }
}

struct Walk<'a, 'l> {
    node: &'a NodeView<'a>,
    description: Option<&'a NodeDescription>,
    /// Where the walk is.
    pointer: String,
    look: &'l mut dyn FnMut(Leaf<'a, '_>),
}

impl<'a> Walk<'a, '_> {
    fn level(&mut self, values: &'a Map<String, Value>, group: Option<&'a PropertyGroup>) {
        for (key, value) in values {
            let property = self.property(values, group, key);
            self.below(key, value, key, property);
        }
    }

    /// The parameter of this name that is shown; the first one when none is.
    fn property(
        &self,
        values: &Map<String, Value>,
        group: Option<&'a PropertyGroup>,
        name: &str,
    ) -> Option<&'a Property> {
        let named = || {
            let list = group.into_iter().flat_map(|g| g.named(name));
            list.map(|(_, property)| property)
        };
        let shown = |p: &&Property| {
            let description = self.description;
            description.is_some_and(|d| d.property_visible(p, values, &self.node.filled))
        };
        match named().nth(1) {
            None => named().next(),
            Some(_) => named().find(shown).or_else(|| named().next()),
        }
    }

    /// The value of a member.
    fn below(
        &mut self,
        token: &str,
        value: &'a Value,
        key: &'a str,
        property: Option<&'a Property>,
    ) {
        if matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_)) {
            let back = self.pointer.len();
            push(&mut self.pointer, token);
            self.value(value, key, property);
            self.pointer.truncate(back);
        }
    }

    /// An item of a list.
    fn item(&mut self, i: usize, visit: impl FnOnce(&mut Self)) {
        let back = self.pointer.len();
        let _ = write!(self.pointer, "/{i}"); // writing to a String cannot fail
        visit(self);
        self.pointer.truncate(back);
    }

    fn value(&mut self, value: &'a Value, key: &'a str, property: Option<&'a Property>) {
        match value {
            // The catalog's stand-ins for defaults are not what n8n has there.
            Value::String(text)
                if text.is_empty()
                    || [OMITTED_TEXT, OMITTED_EXPRESSION].contains(&text.as_str()) => {}
            Value::String(text) => (self.look)(Leaf {
                pointer: &self.pointer,
                key,
                property,
                text,
            }),
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.item(i, |walk| walk.value(item, key, property));
                }
            }
            Value::Object(map) => match property {
                Some(p) if p.kind == PropertyKind::Collection => {
                    self.level(map, p.groups.first());
                }
                Some(p) if p.kind == PropertyKind::FixedCollection => self.groups(map, p),
                _ => {
                    for (key, item) in map {
                        self.below(key, item, key, property);
                    }
                }
            },
            _ => {}
        }
    }

    fn groups(&mut self, map: &'a Map<String, Value>, property: &'a Property) {
        for (name, part) in map {
            let group = property.group(name);
            let back = self.pointer.len();
            push(&mut self.pointer, name);
            match part {
                Value::Array(items) => {
                    for (i, item) in items.iter().enumerate() {
                        if let Value::Object(map) = item {
                            self.item(i, |walk| walk.level(map, group));
                        }
                    }
                }
                Value::Object(map) => self.level(map, group),
                _ => {}
            }
            self.pointer.truncate(back);
        }
    }
}
