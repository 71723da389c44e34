//! `create_list`, `edit_list`, `delete_list`: planned, judged, done and read back in one way.

use super::{On, ToDo, object, texts, typed};
use crate::guards::{self, KIND, Losses};
use crate::resources::{lines, mark};
use crate::store::{List, Store, slug};
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_engine::guards::SnapshotMark;
use agentctl_engine::redact::Redactor;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::store::event::{Change as Changed, MutationExpectation};
use agentctl_engine::toolset::{
    Act, BackendError, Change, Cx, Fault, Head, Keep, Outcome, Performed, Plan, Planning, Reserved,
    ResourceId, Touches,
};
use agentctl_engine::vocabulary::Capability;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::future::ready;
use std::sync::Arc;

pub const CREATES: Capability = Capability::named("create-lists");
pub const EDITS: Capability = Capability::named("edit-lists");
pub const DELETES: Capability = Capability::named("delete-lists");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateList {
    name: String,
    items: Vec<NewItem>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewItem {
    text: String,
    owner: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditList {
    list_id: String,
    ops: Vec<Op>,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Op {
    Add {
        text: String,
        owner: Option<String>,
    },
    Set {
        item: String,
        text: Option<String>,
        owner: Option<String>,
        done: Option<bool>,
    },
    Remove {
        item: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeleteList {
    list_id: String,
}

pub fn heads() -> Vec<Head> {
    let head = |name, capability, description, schema| Head {
        changes: true,
        destructive: true,
        ..Head::new(name, capability, description, schema)
    };
    let whole = |head| Head {
        makes_or_deletes: true,
        ..head
    };
    vec![
        whole(head("create_list", CREATES, "Make a list.", || {
            let items = json!({"type": "array", "items": {"type": "object"}});
            let name = json!({"type": "string"});
            let properties = [("name".to_owned(), name), ("items".to_owned(), items)];
            object(properties.into_iter().collect(), &["name", "items"])
        })),
        head("edit_list", EDITS, "Add, set or remove items.", || {
            let ops = json!({"type": "array", "items": {"type": "object"}});
            let id = json!({"type": "string"});
            let properties = [("list_id".to_owned(), id), ("ops".to_owned(), ops)];
            object(properties.into_iter().collect(), &["list_id", "ops"])
        }),
        whole(head("delete_list", DELETES, "Delete a list.", || {
            texts(&["list_id"])
        })),
    ]
}

pub fn parse(
    store: &Arc<Store>,
    tool: &str,
    args: Map<String, Value>,
) -> Result<Box<dyn Change>, String> {
    match tool {
        "create_list" => Ok(Box::new(typed::<CreateList>(store, args)?)),
        "edit_list" => Ok(Box::new(typed::<EditList>(store, args)?)),
        "delete_list" => Ok(Box::new(typed::<DeleteList>(store, args)?)),
        _ => Err(format!("there is no tool {tool:?}")),
    }
}

/// What a change answers.
pub fn told(id: &str, now: Option<&List>, change: &Changed) -> Value {
    json!({
        "id": id,
        "name": now.map(|list| &list.name),
        "file": now.map(|_| Store::file(id)),
        "item_count": change.size,
        "revision": change.after,
        "changed": true,
        "snapshot": change.snapshot,
    })
}

/// A list becomes another one; None on a side: there is none.
struct Write {
    store: Arc<Store>,
    id: String,
    before: Option<List>,
    after: Option<List>,
}

impl Act for Write {
    fn touches(&self) -> Touches {
        match (&self.before, &self.after) {
            (None, _) => Touches::New,
            (Some(list), Some(_)) => Touches::Existing(mark(&self.id, list)),
            (Some(list), None) => Touches::Deleted(mark(&self.id, list)),
        }
    }
    fn rewrites(&self) -> bool {
        self.before.is_some() && self.after.is_some()
    }
    fn diff(&self, redactor: &Redactor) -> Option<String> {
        let (before, after) = (self.before.as_ref(), self.after.as_ref());
        before.map(|before| lines(redactor, Some(before), after).join("\n"))
    }
    fn keep(&self) -> Option<Keep> {
        self.before.as_ref().map(|list| Keep {
            mark: mark(&self.id, list),
            text: list.text(),
        })
    }
    fn perform<'a>(&'a mut self, snapshot: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        let written = self.store.put(&self.id, self.after.as_ref());
        Box::pin(ready(self.read_back(written.err(), snapshot)))
    }
}

impl Write {
    /// It counts when what is there is what was meant.
    fn read_back(&self, error: Option<BackendError>, snapshot: Option<&SnapshotRef>) -> Performed {
        let now = match self.store.find(&self.id) {
            Ok(now) => now,
            Err(error) => return (Ok(Outcome::Unread(error)), None),
        };
        if let Some(error) = error.filter(|_| now == self.before) {
            return (Err(error), None);
        }
        let change = Changed {
            resource: ResourceId::new(KIND, &self.id),
            before: self.before.as_ref().map(List::revision),
            after: now.as_ref().map(List::revision),
            size: now.as_ref().map_or(0, |list| list.items.len()),
            snapshot: snapshot.map(|taken| taken.file.clone()),
        };
        let told = told(&self.id, now.as_ref(), &change);
        let outcome = match now == self.after {
            true => Outcome::Ok(told),
            false => Outcome::failed("the list reads back otherwise", "verify", "read it again"),
        };
        (Ok(outcome), Some(change))
    }

    /// With the guards' decisions.
    fn planned(self, redactor: &Redactor, decisions: Vec<Decision>, exact: &Value) -> Planning {
        let expect = MutationExpectation {
            resource: Some(ResourceId::new(KIND, &self.id)),
            before: self.before.as_ref().map(List::revision),
            after: self.after.as_ref().map(List::revision),
            diff: self.diff(redactor),
            more: Map::new(),
        };
        let verb = if self.after.is_some() {
            "write"
        } else {
            "delete"
        };
        let what = format!("{verb} the list {:?}", self.id);
        let subject = json!({"call": exact, "list": self.id, "revision": expect.before});
        let reserved = decisions.into_iter();
        let reserved = reserved.map(|d| Reserved::new(d, || (what.clone(), subject.clone())));
        Ok(Ok(Plan {
            reserved: reserved.collect(),
            expect: Some(expect),
            ..Plan::unguarded(Box::new(self))
        }))
    }
}

/// A snapshot of this run, or the list as it is.
fn base(cx: &mut Cx<'_>, taken: Option<SnapshotMark>, now: &List) -> Result<List, Fault> {
    let Some(taken) = taken else {
        return Ok(now.clone());
    };
    let text = cx.recorder.load_snapshot(&taken.file)?;
    List::parse(&text).ok_or_else(|| Fault::Kept(format!("{} holds no list", taken.file)))
}

/// None: no fix cycle.
fn scoped(
    cx: &mut Cx<'_>,
    id: &str,
    now: &List,
    after: Option<&List>,
) -> Result<Option<Decision>, Fault> {
    let taken = cx.guards.scope_base(id).cloned();
    let base = base(cx, taken, now)?;
    let scope = cx.guards.scope();
    Ok(scope.map(|scope| guards::items(scope, &base, after)))
}

impl On<CreateList> {
    fn planned(&self, cx: &mut Cx<'_>, exact: &Value) -> Planning {
        let mut list = List {
            name: self.args.name.clone(),
            items: Vec::new(),
        };
        for item in &self.args.items {
            list.add(&item.text, item.owner.as_deref());
        }
        let id = slug(&list.name);
        if let Ok(_there) = ToDo::current(&self.store, &id)? {
            let error = format!("there is a list {id:?} already");
            return Ok(Err(Outcome::failed(error, "exists", "take another name")));
        }
        let mends = cx.guards.scope().is_some();
        let decision = match mends {
            true => guards::items(&[], &list, None),
            false => agentctl_engine::guards::rules::allow(guards::ITEMS),
        };
        let write = Write {
            store: Arc::clone(&self.store),
            id,
            before: None,
            after: Some(list),
        };
        write.planned(cx.redactor, vec![decision], exact)
    }
}

impl On<EditList> {
    fn planned(&self, cx: &mut Cx<'_>, exact: &Value) -> Planning {
        let id = &self.args.list_id;
        let before = match ToDo::current(&self.store, id)? {
            Ok(list) => list,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let after = match edited(&before, &self.args.ops) {
            Ok(after) => after,
            Err(why) => return Ok(Err(Outcome::failed(why, "arguments", "name an item"))),
        };
        if after == before {
            let content = json!({"id": id, "revision": before.revision(), "changed": false});
            return Ok(Err(Outcome::Ok(content)));
        }
        let mut decisions = vec![guards::stale(&before.revision(), cx.guards.log().seen(id))];
        decisions.extend(scoped(cx, id, &before, Some(&after))?);
        let memory = cx.memory::<Losses>();
        let taken = memory
            .and_then(|memory| memory.base(cx.guards.log(), id))
            .cloned();
        decisions.push(guards::loss(&base(cx, taken, &before)?, &after));
        let write = Write {
            store: Arc::clone(&self.store),
            id: id.clone(),
            before: Some(before),
            after: Some(after),
        };
        write.planned(cx.redactor, decisions, exact)
    }
}

impl On<DeleteList> {
    fn planned(&self, cx: &mut Cx<'_>, exact: &Value) -> Planning {
        let id = &self.args.list_id;
        let before = match ToDo::current(&self.store, id)? {
            Ok(list) => list,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let revision = before.revision();
        let log = cx.guards.log();
        let mut decisions = vec![
            guards::stale(&revision, log.seen(id)),
            guards::owner(log.owns(id, &revision), &before.name),
        ];
        decisions.extend(scoped(cx, id, &before, None)?);
        let write = Write {
            store: Arc::clone(&self.store),
            id: id.clone(),
            before: Some(before),
            after: None,
        };
        write.planned(cx.redactor, decisions, exact)
    }
}

macro_rules! changes {
    ($($args:ty),*) => {$(
        impl Change for On<$args> {
            fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
                Box::pin(ready(self.planned(cx, exact)))
            }
        }
    )*};
}
changes!(CreateList, EditList, DeleteList);

fn edited(before: &List, ops: &[Op]) -> Result<List, String> {
    let mut list = before.clone();
    for op in ops {
        let at = |item: &str| {
            let named = list.item(item).map(|found| found.id.clone());
            let at = list
                .items
                .iter()
                .position(|i| Some(&i.id) == named.as_ref());
            at.ok_or_else(|| format!("there is no item {item:?}"))
        };
        match op {
            Op::Add { text, owner } => list.add(text, owner.as_deref()),
            Op::Remove { item } => {
                let at = at(item)?;
                list.items.remove(at);
            }
            Op::Set {
                item,
                text,
                owner,
                done,
            } => {
                let at = at(item)?;
                let item = &mut list.items[at];
                if let Some(text) = text {
                    item.text.clone_from(text);
                }
                if owner.is_some() {
                    item.owner.clone_from(owner);
                }
                item.done = done.unwrap_or(item.done);
            }
        }
    }
    Ok(list)
}
