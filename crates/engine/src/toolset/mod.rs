//! What a pack brings besides its texts: tools, the resources that they read and change, and what a run must remember for their
//! guards. The engine keeps the order of a call, approvals, budgets and the journal; a toolset keeps what its tools mean.

mod call;
mod content;
mod error;
mod none;
mod resource;

pub use call::{
    Act, Answer, Arguments, Change, Cx, Fault, Head, Keep, Parsed, Performed, Plan, Planning, Read,
    Recorder, Reserved, Settling, Touches, Wanted,
};
pub use content::{
    Outcome, PAGE_BYTES, Page, backend_failure, error_content, is_unreachable, page, text_page,
};
pub use error::{BackendError, BackendErrorKind, BackendResult};
pub use none::NoResources;
pub use resource::{
    ByPerson, ClientWords, Difference, Document, Forgotten, Found, PlaceWords, Resources, keyed,
};

pub use crate::store::{ResourceId, ResourceMark};

use crate::guards::Memory;
use crate::store::Event;
use crate::store::event::Weighed;
use agentctl_base::BoxFuture;
use serde_json::{Map, Value};

/// What an interrupted call leaves outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// In what it was interrupted: "a test".
    pub during: &'static str,
    /// The same by name: "a test of …".
    pub named: String,
    /// All that it left, as the subject of a sentence.
    pub left: &'static str,
    /// That by name: "its copy …".
    pub left_named: String,
}

pub trait Toolset: Send + Sync {
    /// What its tools work on, for messages: `embedded`.
    fn backend(&self) -> &str;
    /// Every tool.
    fn tools(&self) -> &[Head];
    /// Whether a tool can do something here; one that cannot is not offered to an agent, and says so when it is called all the same.
    fn serves(&self, _tool: &str) -> bool {
        true
    }
    /// The call of one of its tools. Unknown keys and wrong types are refused with the reason.
    fn parse(&self, tool: &str, args: Map<String, Value>) -> Result<Parsed, String>;
    /// A new run's memory; None: its guards need none.
    fn memory(&self) -> Option<Box<dyn Memory>> {
        None
    }
    /// What its tools read and change; None: nothing that the engine could take back.
    fn resources(&self) -> Option<&dyn Resources> {
        None
    }
    /// These of its tools in the order in which they fit a need of a step with this task, the best first, what another one requires before
    /// that one. None: its tools are not weighed, and a role that may use them is shown them all.
    fn weighed(&self, _need: &str, _task: &str, _tools: &[&str]) -> Option<Vec<Weighed>> {
        None
    }
    /// The way out of a refusal by one of its own guards, for the model; None: it is not one of them.
    fn hint(&self, _rule: &str) -> Option<&'static str> {
        None
    }
    /// A change whose intent (a `ToolIntent` event) is in the journal and whose result is not: what is there now says whether it
    /// happened; nothing is repeated on a guess.
    fn settle<'a>(
        &'a self,
        cx: &'a mut Cx<'_>,
        intent: &'a Event,
    ) -> BoxFuture<'a, Result<Settling, Fault>>;
    /// After the result of a settled change is in the journal.
    fn settled<'a>(
        &'a self,
        _intent: &'a Event,
        _change: &'a crate::store::event::Change,
        _now: jiff::Timestamp,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(std::future::ready(Ok(())))
    }
    /// What the intent would leave outside if it were interrupted; None: nothing that has to be taken away.
    fn leaves(&self, _intent: &Event) -> Option<Leftover> {
        None
    }
    /// What stands in every line of a journal whose intent leaves something: other journals need not be read whole. None: nothing is
    /// ever left.
    fn leaves_sign(&self) -> Option<&'static str> {
        None
    }
    /// Takes away what an interrupted call of an earlier run left outside.
    fn clear<'a>(&'a self, _intent: &'a Event) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
