//! What a change of a list has to pass, as pure functions of the list before and after, and what a run remembers for it.

use crate::store::{Item, List};
use crate::tools::READ_LIST;
use agentctl_base::decision::Decision;
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::guards::rules::{allow, ask, deny};
use agentctl_engine::guards::{Memory, ResourceLog, SnapshotMark, approved_rules};
use agentctl_engine::store::Event;
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;

/// What the resources of this toolset are called.
pub const KIND: &str = "list";

/// The list is what this run last read.
pub const STALE: &str = "guard.stale";
/// Losing more than half of the items is for the user to allow.
pub const LOSS: &str = "guard.loss";
/// In a fix cycle only the items that the check named change.
pub const ITEMS: &str = "guard.items";
/// A list that this run did not make is deleted only with the user's word.
pub const OWNER: &str = "guard.owner";

/// The entry of a scope that lets items be added.
pub const NEW: &str = "new";

pub fn hint(rule: &str) -> Option<&'static str> {
    Some(match rule {
        STALE => "call read_list, and plan again on what is there now",
        LOSS => "set items to done instead of removing them",
        ITEMS => "change the items in scope only; if the fix needs another one, say which",
        OWNER => "leave the list; only one made in this run may be deleted freely",
        "guard.list" => "say what you would change in the other list",
        _ => return None,
    })
}

pub fn stale(now: &str, seen: Option<&str>) -> Decision {
    match seen {
        Some(seen) if seen == now => allow(STALE),
        Some(_) => deny(STALE, "somebody changed the list since this run read it"),
        None => deny(STALE, "this run has not read the list yet"),
    }
}

pub fn owner(ours: bool, name: &str) -> Decision {
    match ours {
        true => allow(OWNER),
        false => ask(OWNER, format!("this run did not make the list {name:?}")),
    }
}

/// `base`: the list from which losses are counted.
pub fn loss(base: &List, after: &List) -> Decision {
    let kept = |item: &&Item| after.items.iter().any(|other| other.id == item.id);
    let (all, kept) = (base.items.len(), base.items.iter().filter(kept).count());
    match (all - kept) * 2 > all {
        true => ask(LOSS, format!("{} of {all} items would be lost", all - kept)),
        false => allow(LOSS),
    }
}

/// `base`: the list as it was when the scope was given. `after` None: it is deleted.
pub fn items(scope: &[String], base: &List, after: Option<&List>) -> Decision {
    let Some(after) = after else {
        return deny(ITEMS, "the list would be deleted, and it is being mended");
    };
    let named = |item: &Item| scope.iter().any(|s| *s == item.id || *s == item.text);
    let outside = |item: &&Item| !named(item) && !after.items.contains(item);
    let is_new = |item: &&Item| !base.items.iter().any(|old| old.id == item.id);
    let mut wrong: Vec<&str> = base
        .items
        .iter()
        .filter(outside)
        .map(|i| i.id.as_str())
        .collect();
    if !scope.iter().any(|entry| entry == NEW) {
        wrong.extend(after.items.iter().filter(is_new).map(|i| i.id.as_str()));
    }
    match wrong.is_empty() && base.name == after.name {
        true => allow(ITEMS),
        false => deny(ITEMS, format!("outside of the scope: {}", wrong.join(", "))),
    }
}

/// Losses add up over the edits of a run, until the user allows one: from then on they are counted anew.
#[derive(Default)]
pub struct Losses {
    /// An index into the list's snapshots.
    counted_from: BTreeMap<String, usize>,
    open: Option<Decision>,
}

impl Losses {
    /// The snapshot that losses are counted from; None: the list as it is now.
    pub fn base<'l>(&self, log: &'l ResourceLog, id: &str) -> Option<&'l SnapshotMark> {
        let from = self.counted_from.get(id).copied().unwrap_or(0);
        log.snapshots(id).get(from)
    }
}

impl Memory for Losses {
    fn observe(&mut self, event: &Event, log: &ResourceLog) {
        match event {
            Event::ToolIntent { decision, .. } => self.open = Some(decision.clone()),
            Event::ToolFinished { change, .. } => {
                let decision = self.open.take();
                if let (Some(change), Some(decision)) = (change, decision)
                    && approved_rules(&decision).any(|rule| rule == LOSS)
                {
                    let id = change.id();
                    self.counted_from
                        .insert(id.to_owned(), log.snapshots(id).len());
                }
            }
            _ => {}
        }
    }
    fn seen(&self, result: &ToolResult) -> Option<(String, String)> {
        let text = |key: &str| Some(result.content.get(key).and_then(Value::as_str)?.to_owned());
        let read = result.name == READ_LIST && result.status == ToolStatus::Ok;
        read.then(|| Some((text("id")?, text("revision")?)))
            .flatten()
    }
    fn words(&self) -> Vec<&'static str> {
        vec![KIND]
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
