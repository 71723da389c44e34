//! YAML read into a tree that remembers where every key and value stands, so that one pass over a file can report all of its
//! mistakes with line and column. Owns nothing else: what the keys mean is decided by the reader of the tree. No IO.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;
use std::fmt;

/// A place in a file; lines and columns count from 1. Zero means that the place is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: u64,
    pub column: u64,
}

/// One mistake in a pack's file. Printed as `file:line:column: message`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub file: String,
    pub place: Place,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.place.line > 0 {
            write!(f, ":{}:{}", self.place.line, self.place.column)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Collects the problems of one file.
#[derive(Debug)]
pub struct Problems {
    file: String,
    found: Vec<Problem>,
}

impl Problems {
    pub fn new(file: &str) -> Self {
        Problems {
            file: file.to_owned(),
            found: Vec::new(),
        }
    }
    pub fn add(&mut self, place: Place, message: impl Into<String>) {
        self.found.push(Problem {
            file: self.file.clone(),
            place,
            message: message.into(),
        });
    }
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
    /// In the order of the file, without repetitions.
    pub fn into_sorted(mut self) -> Vec<Problem> {
        self.found.sort();
        self.found.dedup();
        self.found
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub place: Place,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_place: Place,
    pub value: Node,
}

impl Node {
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(b) => Some(b),
            _ => None,
        }
    }
    pub fn as_u64(&self) -> Option<u64> {
        match &self.kind {
            Kind::Number(n) => n.as_u64(),
            _ => None,
        }
    }
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }
    pub fn as_map(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }
    /// The list behind a key; empty where there is none.
    pub fn items(&self, key: &str) -> &[Node] {
        self.get(key).and_then(Node::as_list).unwrap_or_default()
    }
    /// The entries of the map behind a key; empty where there is none.
    pub fn entries(&self, key: &str) -> &[Entry] {
        self.get(key).and_then(Node::as_map).unwrap_or_default()
    }
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?
            .iter()
            .find(|e| e.key == key)
            .map(|e| &e.value)
    }
    /// What a message calls this node.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }
    pub fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Number(n) => Value::Number(n.clone()),
            Kind::Text(s) => Value::String(s.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Kind::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|e| (e.key.clone(), e.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

/// Reads one document. A syntax error is the only mistake that stops the reading of a file.
pub fn read(text: &str, file: &str) -> Result<Node, Problem> {
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options) {
        Ok(spanned) => Ok(node(spanned)),
        Err(error) => {
            let place = error.location().map_or(Place::default(), |l| Place {
                line: l.line(),
                column: l.column(),
            });
            Err(Problem {
                file: file.to_owned(),
                place,
                message: format!("cannot read the YAML: {}", error.without_snippet()),
            })
        }
    }
}

/// Reads one document as a value of a type; what does not fit it is told with its place. As strict as `read`.
pub fn typed<T: serde::de::DeserializeOwned>(text: &str, file: &str) -> Result<T, Problem> {
    read(text, file)?;
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| Problem {
        file: file.to_owned(),
        place: error.location().map_or(Place::default(), |at| Place {
            line: at.line(),
            column: at.column(),
        }),
        message: error.without_snippet().to_string(),
    })
}

fn place_of<T>(spanned: &Spanned<T>) -> Place {
    Place {
        line: spanned.referenced.line(),
        column: spanned.referenced.column(),
    }
}

fn node(spanned: Spanned<Raw>) -> Node {
    let place = place_of(&spanned);
    let kind = match spanned.value {
        Raw::Null => Kind::Null,
        Raw::Bool(b) => Kind::Bool(b),
        Raw::Number(n) => Kind::Number(n),
        Raw::Text(s) => Kind::Text(s),
        Raw::List(items) => Kind::List(items.into_iter().map(node).collect()),
        Raw::Map(entries) => Kind::Map(
            entries
                .into_iter()
                .map(|(key, value)| Entry {
                    key_place: place_of(&key),
                    key: key.value,
                    value: node(value),
                })
                .collect(),
        ),
    };
    Node { place, kind }
}

enum Raw {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }
    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }
    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Raw, E> {
        Ok(Raw::Number(v.into()))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Raw, E> {
        Ok(Raw::Number(v.into()))
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Raw, E> {
        Number::from_f64(v)
            .map(Raw::Number)
            .ok_or_else(|| E::custom("a number must be finite"))
    }
    fn visit_str<E>(self, v: &str) -> Result<Raw, E> {
        Ok(Raw::Text(v.to_owned()))
    }
    fn visit_string<E>(self, v: String) -> Result<Raw, E> {
        Ok(Raw::Text(v))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_value_knows_its_place() {
        let node = read(
            "a: 1\nb:\n  - x\n  - {c: true, d: null, e: 1.5}\n",
            "f.yaml",
        )
        .unwrap();
        let b = &node.as_map().unwrap()[1];
        assert_eq!(
            (b.key.as_str(), b.key_place),
            ("b", Place { line: 2, column: 1 })
        );
        let items = b.value.as_list().unwrap();
        assert_eq!(items[0].place, Place { line: 3, column: 5 });
        assert_eq!(
            items[1].get("c").unwrap().place,
            Place { line: 4, column: 9 }
        );
        assert_eq!(
            node.to_json(),
            serde_json::json!({"a": 1, "b": ["x", {"c": true, "d": null, "e": 1.5}]})
        );
    }

    #[test]
    fn plain_yes_and_no_stay_text() {
        let node = read("a: yes\nb: \"true\"\nc: |\n  1\n", "f.yaml").unwrap();
        assert_eq!(
            node.to_json(),
            serde_json::json!({"a": "yes", "b": "true", "c": "1\n"})
        );
    }

    #[test]
    fn a_syntax_error_has_file_line_and_column() {
        let problem = read("a: 1\nb: [1, 2\n", "f.yaml").unwrap_err();
        assert!(problem.to_string().starts_with("f.yaml:"), "{problem}");
        assert!(problem.place.line >= 2, "{problem}");
        let twice = read("a: 1\na: 2\n", "f.yaml").unwrap_err();
        assert_eq!(twice.place.line, 2, "{twice}");
    }
}
