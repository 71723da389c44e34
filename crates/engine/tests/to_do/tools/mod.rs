//! The tools: one file for those that read, one file for those that change. What a change has to pass stands in `guards`.

mod changes;
mod reads;

pub use reads::{CHECKS, READ_LIST};

use crate::guards::{self, KIND, Losses};
use crate::store::{List, Store};
use agentctl_base::BoxFuture;
use agentctl_engine::guards::Memory;
use agentctl_engine::store::Event;
use agentctl_engine::store::event::Change as Changed;
use agentctl_engine::toolset::{
    BackendErrorKind, Cx, Fault, Head, Outcome, Parsed, ResourceId, Resources, Settling, Toolset,
    backend_failure,
};
use agentctl_engine::vocabulary::{Capability, Does};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// In the order in which people are told of them.
pub const CAPABILITIES: [(Capability, Does); 5] = [
    (reads::READS, Does::Read),
    (CHECKS, Does::Read),
    (changes::CREATES, Does::Change),
    (changes::EDITS, Does::Change),
    (changes::DELETES, Does::Change),
];

/// What policies, packs and clients are told of the tools.
pub fn heads() -> Vec<Head> {
    let mut heads = reads::heads();
    heads.extend(changes::heads());
    heads
}

static HEADS: LazyLock<Vec<Head>> = LazyLock::new(heads);

/// A call with its arguments typed, and what it works on.
struct On<A> {
    store: Arc<Store>,
    args: A,
}

/// Unknown keys and wrong types are refused.
fn typed<A: DeserializeOwned>(
    store: &Arc<Store>,
    args: Map<String, Value>,
) -> Result<On<A>, String> {
    let args = serde_json::from_value(Value::Object(args)).map_err(|e| e.to_string())?;
    let store = Arc::clone(store);
    Ok(On { store, args })
}

/// The schema of arguments that are all texts.
fn texts(required: &[&str]) -> Value {
    let properties = required
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "string"})));
    object(properties.collect(), required)
}

fn object(properties: Map<String, Value>, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

pub struct ToDo(Arc<Store>);

impl ToDo {
    pub fn new(project: &Path) -> ToDo {
        ToDo(Arc::new(Store::new(project)))
    }

    /// The list that a change is about. An inner Err is the call's result.
    fn current(store: &Store, id: &str) -> Result<Result<List, Outcome>, Fault> {
        match store.get(id) {
            Ok(list) => Ok(Ok(list)),
            Err(error) if error.kind == BackendErrorKind::Unavailable => Err(Fault::Backend {
                backend: "files".to_owned(),
                error,
            }),
            Err(error) => Ok(Err(Outcome::Failed(backend_failure(&error)))),
        }
    }

    /// What is there now says whether it happened.
    fn settled(&self, cx: &Cx<'_>, intent: &Event) -> Settling {
        let unknown = |why: &str| Settling::Unknown(why.to_owned());
        let Event::ToolIntent {
            expect: Some(expect),
            ..
        } = intent
        else {
            return unknown("the journal does not say what the call was about");
        };
        let Some(id) = expect.id() else {
            return unknown("the journal does not say which list the call was about");
        };
        let Ok(found) = self.0.find(id) else {
            return unknown("the list cannot be read");
        };
        let now = found.as_ref().map(List::revision);
        if now == expect.before {
            return Settling::NotDone;
        }
        if now != expect.after {
            return unknown("the list is neither as before nor as planned");
        }
        let snapshot = cx.guards.log().snapshots(id).last();
        let change = Changed {
            resource: ResourceId::new(KIND, id),
            before: expect.before.clone(),
            after: now,
            size: found.as_ref().map_or(0, |list| list.items.len()),
            snapshot: snapshot
                .filter(|_| expect.before.is_some())
                .map(|mark| mark.file.clone()),
        };
        let content = changes::told(id, found.as_ref(), &change);
        Settling::Done { content, change }
    }
}

impl Toolset for ToDo {
    fn backend(&self) -> &str {
        "files"
    }
    fn tools(&self) -> &[Head] {
        &HEADS
    }
    fn parse(&self, tool: &str, args: Map<String, Value>) -> Result<Parsed, String> {
        match reads::parse(&self.0, tool, &args) {
            Some(read) => read.map(Parsed::Read),
            None => changes::parse(&self.0, tool, args).map(Parsed::Change),
        }
    }
    fn memory(&self) -> Option<Box<dyn Memory>> {
        Some(Box::new(Losses::default()))
    }
    fn resources(&self) -> Option<&dyn Resources> {
        Some(self.0.as_ref())
    }
    fn hint(&self, rule: &str) -> Option<&'static str> {
        guards::hint(rule)
    }
    fn settle<'a>(
        &'a self,
        cx: &'a mut Cx<'_>,
        intent: &'a Event,
    ) -> BoxFuture<'a, Result<Settling, Fault>> {
        let settled = self.settled(cx, intent);
        Box::pin(std::future::ready(Ok(settled)))
    }
}
