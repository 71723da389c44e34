//! The file: a list of requests, each with what a right answer must hold. An unknown key, a broken expression or a node that is not
//! there is an error with its line, since an expectation that is passed over would be counted as met.

use crate::expect::Expect;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

/// What a right answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A new workflow.
    Build,
    /// `existing`, changed.
    Modify,
    /// Questions: the request leaves out what nobody can guess.
    Clarify,
    /// A no with its reason, or something harmless in its place.
    Refuse,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Build => "build",
            Kind::Modify => "modify",
            Kind::Clarify => "clarify",
            Kind::Refuse => "refuse",
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Typed")]
pub struct Request {
    pub id: String,
    pub kind: Kind,
    pub request: String,
    pub difficulty: Option<String>,
    pub lang: Option<String>,
    pub domain: Option<String>,
    pub author: Option<String>,
    /// The workflow that is to be changed.
    pub existing: Option<Value>,
    pub(crate) expect: Expect,
}

/// As it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    id: String,
    kind: Kind,
    request: String,
    difficulty: Option<String>,
    lang: Option<String>,
    domain: Option<String>,
    author: Option<String>,
    existing: Option<Value>,
    expect: Expect,
}

impl TryFrom<Typed> for Request {
    type Error = String;
    fn try_from(typed: Typed) -> Result<Self, String> {
        let id = typed.id.clone();
        let wrong = |why: String| Err(format!("request {id:?}, which ends here: {why}"));
        let fits_a_file = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if id.is_empty() || id.starts_with('.') || !id.chars().all(fits_a_file) {
            return wrong("an id has letters, digits, `.`, `_` and `-`".to_owned());
        }
        if typed.request.trim().is_empty() {
            return wrong("it says nothing".to_owned());
        }
        let names = typed.existing.as_ref().map(node_names);
        let expect = &typed.expect;
        if typed.kind == Kind::Modify && names.is_none() {
            return wrong("a change needs the workflow that is changed, as `existing`".to_owned());
        }
        if typed.kind == Kind::Refuse && expect.refuse.is_none() {
            return wrong("`expect.refuse` must say what is accepted".to_owned());
        }
        let named = expect.untouched_nodes.iter();
        let named = named
            .chain(&expect.untouched_params)
            .chain(&expect.removed_nodes);
        let names = names.unwrap_or_default();
        if let Some(gone) = named.into_iter().find(|n| !names.contains(n.as_str())) {
            return wrong(format!("`existing` has no node {gone:?}"));
        }
        Ok(Request {
            id: typed.id,
            kind: typed.kind,
            request: typed.request,
            difficulty: typed.difficulty,
            lang: typed.lang,
            domain: typed.domain,
            author: typed.author,
            existing: typed.existing,
            expect: typed.expect,
        })
    }
}

fn node_names(workflow: &Value) -> BTreeSet<&str> {
    let nodes = workflow.get("nodes").and_then(Value::as_array);
    let names = nodes.into_iter().flatten().filter_map(|n| n.get("name"));
    names.filter_map(Value::as_str).collect()
}

/// Why a file cannot be used, and on which line of it (from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    pub line: usize,
    pub column: usize,
    pub why: String,
}

impl FileError {
    fn of(error: &serde_json::Error) -> FileError {
        let (line, column) = (error.line(), error.column());
        let place = format!(" at line {line} column {column}");
        let why = error.to_string();
        FileError {
            line,
            column,
            why: why.strip_suffix(&place).unwrap_or(&why).to_owned(),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.why)
    }
}

/// A list, or `{"requests": […]}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "T: Deserialize<'de> + Named")]
struct Whole<T> {
    requests: Each<T>,
}

/// The requests of a file, in its order.
pub fn read(text: &str) -> Result<Vec<Request>, FileError> {
    list_of(text)
}

/// The same requests in other words: a list of `{id, of, request}`, each with the expectations of the request that `of` names among
/// `originals`.
pub fn reworded(text: &str, originals: &[Request]) -> Result<Vec<Request>, FileError> {
    let said: Vec<Reworded> = list_of(text)?;
    let said = said.into_iter().map(|again| {
        let original = originals.iter().find(|o| o.id == again.of);
        let original = original.ok_or_else(|| FileError {
            line: line_of(text, &again.id),
            column: 1,
            why: format!(
                "request {:?}: the originals have no request {:?}",
                again.id, again.of
            ),
        })?;
        Ok(Request {
            id: again.id,
            request: again.request,
            author: again.author,
            lang: again.lang.or_else(|| original.lang.clone()),
            ..original.clone()
        })
    });
    said.collect()
}

/// Where an id stands.
fn line_of(text: &str, id: &str) -> usize {
    let quoted = format!("\"{id}\"");
    let mut lines = text.lines().enumerate();
    let found = lines.find(|(_, line)| line.contains(&quoted));
    found.map_or(1, |(at, _)| at + 1)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reworded {
    id: String,
    of: String,
    request: String,
    author: Option<String>,
    lang: Option<String>,
}

trait Named {
    fn id(&self) -> &str;
}
impl Named for Request {
    fn id(&self) -> &str {
        &self.id
    }
}
impl Named for Reworded {
    fn id(&self) -> &str {
        &self.id
    }
}

/// Requests of which no two have one id.
struct Each<T>(Vec<T>);

impl<'de, T: Deserialize<'de> + Named> Deserialize<'de> for Each<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(EachReader(PhantomData))
    }
}

struct EachReader<T>(PhantomData<T>);
impl<'de, T: Deserialize<'de> + Named> Visitor<'de> for EachReader<T> {
    type Value = Each<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of requests")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all: Vec<T> = Vec::new();
        let mut ids = BTreeSet::new();
        while let Some(one) = list.next_element::<T>()? {
            if !ids.insert(one.id().to_owned()) {
                let why = format!("two requests have the id {:?}", one.id());
                return Err(A::Error::custom(why));
            }
            all.push(one);
        }
        Ok(Each(all))
    }
}

fn list_of<'de, T: Deserialize<'de> + Named>(text: &'de str) -> Result<Vec<T>, FileError> {
    let read = if text.trim_start().starts_with('{') {
        serde_json::from_str::<Whole<T>>(text).map(|whole| whole.requests)
    } else {
        serde_json::from_str::<Each<T>>(text)
    };
    match read {
        Ok(Each(all)) if all.is_empty() => Err(FileError {
            line: 1,
            column: 1,
            why: "it holds no request".to_owned(),
        }),
        Ok(Each(all)) => Ok(all),
        Err(error) => Err(FileError::of(&error)),
    }
}
