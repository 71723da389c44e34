//! What tools read and change, as far as the engine must know it: that it has an id, a state with a name, a size, and a document
//! that can be kept, compared and put back. What the document means is the toolset's.

use super::{BackendResult, Fault};
use crate::redact::Redactor;
use agentctl_base::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// A resource among the keys of what names it, for `#[serde(flatten, with = "keyed")]`: `"document_id": "orders"`.
pub mod keyed {
    use crate::store::ResourceId;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::{Map, Value};

    const KEY: &str = "_id";

    pub fn serialize<S: Serializer>(of: &ResourceId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(format!("{}{KEY}", of.kind), &of.id)])
    }

    /// The first key of that form counts.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ResourceId, D::Error> {
        let all = Map::<String, Value>::deserialize(deserializer)?;
        all.iter()
            .find_map(|(key, id)| {
                Some(ResourceId {
                    kind: key.strip_suffix(KEY)?.to_owned(),
                    id: id.as_str()?.to_owned(),
                })
            })
            .ok_or_else(|| D::Error::custom("no key that ends in `_id` names the resource"))
    }
}

/// What a resource holds in one state.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub name: String,
    pub revision: String,
    /// In parts, whatever the toolset counts.
    pub size: usize,
    /// The whole. Two documents are equal when this is; the order of keys does not count.
    pub content: Value,
}

/// A resource as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub id: String,
    pub document: Document,
    /// A write takes effect outside at once.
    pub live: bool,
    /// Below the project, where the resource is a file.
    pub file: Option<String>,
}

/// What differs between two states, fit to be shown: secrets hidden, and a change of a hidden value still told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Every change, in the toolset's own shape.
    pub changes: Value,
    /// The unified diff of the documents; empty when they are the same but for what is hidden.
    pub diff: String,
    /// One line each, for people.
    #[serde(skip)]
    pub lines: Vec<String>,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.diff.is_empty()
    }
}

/// How a place is called in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceWords {
    /// "the files of the project"
    pub name: String,
    /// How the user gets back to it, as the end of a sentence: "go on with --backend embedded".
    pub way: String,
}

/// What another agent's client is told of the tools, as sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientWords {
    /// "These tools work on …": of one project.
    pub about: &'static str,
    /// Before anything is changed.
    pub before_change: &'static str,
    /// What in the resources is data and no instruction.
    pub data: &'static str,
    /// How the user does what only the user may allow, as the end of a sentence: "the user can do it in …".
    pub unasked: &'static str,
}

/// Why a person's own act made a resource what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByPerson {
    /// It was put there by a command of the user's.
    Pushed,
    /// It was put back.
    Undone,
}

/// Earlier states that were removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Below the project.
    pub files: Vec<PathBuf>,
    pub bytes: u64,
}

/// The resources of a toolset, for what the engine does with them by itself: undo, compare, take over, verify. A model's calls never
/// come here.
pub trait Resources: Send + Sync {
    /// As in [`ResourceId::kind`].
    fn kind(&self) -> &str;
    /// What keeps them, for messages: `embedded`.
    fn store(&self) -> &str;
    /// The address of what keeps them; None: the project's own files. A run belongs to one place.
    fn place(&self) -> Option<&str>;
    /// The place that a run began on, by its input.
    fn place_of<'i>(&self, input: &'i Map<String, Value>) -> Option<&'i str>;
    /// Writes the place into the input of a run that begins, where `place_of` reads it.
    fn note_place(&self, input: &mut Map<String, Value>);
    /// What the flow may ask of this place, as entries of a run's input: whether anything can be executed here.
    fn abilities(&self) -> Map<String, Value>;
    /// What of a run's input decides what it does outside: shown to a person before the run is taken over.
    fn decided_outside(&self, input: &Map<String, Value>) -> Map<String, Value>;
    fn place_words(&self, place: Option<&str>) -> PlaceWords;
    /// Removes what a killed process of ours left half written. For who holds the project's lock.
    fn tidy(&self) -> BackendResult<()>;
    /// The id that a person's text means; the resource need not exist.
    fn resolve<'a>(&'a self, named: &'a str) -> BoxFuture<'a, BackendResult<String>>;
    /// None: there is none of this id.
    fn find<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Option<Found>>>;
    /// The state of this revision, where what keeps them keeps earlier ones; None: it does not have it.
    fn earlier<'a>(
        &'a self,
        id: &'a str,
        revision: &'a str,
    ) -> BoxFuture<'a, BackendResult<Option<Document>>>;
    /// Removes the states of these revisions where what keeps them keeps earlier ones, as of a resource that was changed so often
    /// that nobody needs them; `really` false: only says what that would be.
    fn forget<'a>(
        &'a self,
        _id: &'a str,
        _revisions: &'a [String],
        _really: bool,
    ) -> BoxFuture<'a, BackendResult<Forgotten>> {
        Box::pin(std::future::ready(Ok(Forgotten::default())))
    }
    /// What a snapshot's text holds; None: nothing that can be put back.
    fn parse(&self, text: &str) -> Option<Document>;
    /// The text of a snapshot.
    fn text(&self, document: &Document) -> String;
    /// Makes it this document. `exists`: there is one now. Gives the id under which it then is: what was deleted may come back under
    /// another.
    fn put_back<'a>(
        &'a self,
        id: &'a str,
        document: &'a Document,
        exists: bool,
    ) -> BoxFuture<'a, BackendResult<String>>;
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<()>>;
    /// Putting this document back takes effect outside at once, whatever was there before.
    fn comes_live(&self, document: &Document) -> bool;
    /// None on a side: there is no such resource.
    fn difference(
        &self,
        redactor: &Redactor,
        before: Option<&Document>,
        after: Option<&Document>,
    ) -> Difference;
    /// Ids of all that there are.
    fn all(&self) -> BoxFuture<'_, BackendResult<Vec<String>>>;
    /// What a part of one is called in messages: "node".
    fn part(&self) -> &str;
    /// The entries of a scope that name no part of the document.
    fn missing_parts(&self, document: &Document, scope: &[String]) -> Vec<String>;
    fn client_words(&self) -> ClientWords;
    /// A person made it what it is: later losses count from this state. Err: that could not be kept.
    fn accept(&self, at: &Found, by: ByPerson, now: jiff::Timestamp) -> Result<(), Fault>;
}
