//! What tools read and change, as far as the engine must know it: that it has an id, a state with a name, a size, and a document
//! that can be kept, compared and put back. What the document means is the toolset's.

use super::BackendResult;
use crate::redact::Redactor;
use agentctl_base::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which thing outside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceId {
    /// What it is: `workflow`. One word, as the toolset calls it.
    pub kind: String,
    /// Its id among those of its kind.
    pub id: String,
}

/// A state of a resource, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceMark {
    pub resource: ResourceId,
    /// Two states with the same revision mean the same.
    pub revision: String,
    /// In parts, whatever the toolset counts.
    pub size: usize,
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
    /// Every change, in the toolset's own shape; null: none.
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

/// Why a person's own act made a resource what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByPerson {
    /// It was put there by a command of the user's.
    Pushed,
    /// It was put back.
    Undone,
}

/// The resources of a toolset, for what the engine does with them by itself: undo, compare, take over, verify. A model's calls never
/// come here.
pub trait Resources: Send + Sync {
    /// `workflow`.
    fn kind(&self) -> &str;
    /// What keeps them, for messages: `embedded`.
    fn store(&self) -> &str;
    /// The address of what keeps them; None: the project's own files. A run belongs to one place.
    fn place(&self) -> Option<&str>;
    /// The place that a run began on, by its input.
    fn place_of<'i>(&self, input: &'i Map<String, Value>) -> Option<&'i str>;
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
    /// None on a side: there is no such resource.
    fn difference(
        &self,
        redactor: &Redactor,
        before: Option<&Document>,
        after: Option<&Document>,
    ) -> Difference;
    /// A person made it what it is: later losses count from this state. Err: why that could not be kept.
    fn accept(&self, at: &Found, by: ByPerson, now: jiff::Timestamp) -> Result<(), String>;
}
