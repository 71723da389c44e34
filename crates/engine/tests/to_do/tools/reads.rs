//! `list_lists`, `read_list`, `check_list`.

use super::{On, object, texts, typed};
use crate::store::{Item, List, Store};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_engine::vocabulary::Capability;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::future::ready;
use std::sync::Arc;

pub const READS: Capability = Capability::named("read-lists");
pub const CHECKS: Capability = Capability::named("check-lists");

/// What a run has read by it counts as seen.
pub const READ_LIST: &str = "read_list";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListLists {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadList {
    list_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckList {
    list_id: String,
}

pub fn heads() -> Vec<Head> {
    vec![
        Head::new("list_lists", READS, "The ids of all lists.", || {
            object(Map::new(), &[])
        }),
        Head::new(READ_LIST, READS, "Read a list.", || texts(&["list_id"])),
        Head::new("check_list", CHECKS, "Find items that nobody does.", || {
            texts(&["list_id"])
        }),
    ]
}

/// None: no tool of this file.
pub fn parse(
    store: &Arc<Store>,
    tool: &str,
    args: &Map<String, Value>,
) -> Option<Result<Box<dyn Read>, String>> {
    fn boxed<A>(on: On<A>) -> Box<dyn Read>
    where
        On<A>: Read + 'static,
    {
        Box::new(on)
    }
    let args = args.clone();
    Some(match tool {
        "list_lists" => typed::<ListLists>(store, args).map(boxed),
        READ_LIST => typed::<ReadList>(store, args).map(boxed),
        "check_list" => typed::<CheckList>(store, args).map(boxed),
        _ => return None,
    })
}

impl Read for On<ListLists> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let ListLists {} = self.args;
        let ids = self
            .store
            .ids()
            .map(|ids| Outcome::Ok(json!({"lists": ids})));
        Box::pin(ready(ids))
    }
}

impl Read for On<ReadList> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let id = &self.args.list_id;
        let told = |list: List| {
            Outcome::Ok(json!({
                "id": id, "name": list.name, "items": list.items, "revision": list.revision(),
            }))
        };
        Box::pin(ready(self.store.get(id).map(told)))
    }
}

impl Read for On<CheckList> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let id = &self.args.list_id;
        let told = |list: List| {
            let nobodys = |item: &&Item| item.owner.is_none();
            let finding = |item: &Item| {
                json!({
                    "id": format!("no-owner-{}", item.id), "code": "item.no_owner",
                    "severity": "error", "item": item.id,
                    "message": format!("nobody does {:?}", item.text),
                })
            };
            let findings: Vec<Value> = list.items.iter().filter(nobodys).map(finding).collect();
            Outcome::Ok(json!({
                "id": id, "revision": list.revision(), "items": list.items,
                "error_count": findings.len(), "findings": findings,
            }))
        };
        Box::pin(ready(self.store.get(id).map(told)))
    }
}
