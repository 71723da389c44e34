//! What was tried between two checks, and what came of it: by the findings' ids, never by words.

use super::evidence::Evidence;
use super::facts::{Change, Check, Facts, Found};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Every error that was open is gone, and none is new.
    Cleared,
    /// Some are gone, none is new.
    Helped,
    /// The same findings are there again.
    Missed,
    /// New errors came: a regression.
    Worse,
    /// Nothing was changed at all.
    Nothing,
}

/// One round of repair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attempt {
    /// In words: the tools that changed something.
    pub what: String,
    pub effect: Effect,
    pub why: String,
    /// Names or ids of the nodes that were changed.
    pub touched: Vec<String>,
    pub fixed: Vec<String>,
    pub still: Vec<String>,
    pub new: Vec<String>,
    pub evidence: Evidence,
}

/// The rounds between the checks of a run, in order.
pub(super) fn of(facts: &Facts) -> Vec<Attempt> {
    facts
        .checks
        .windows(2)
        .filter_map(|pair| match pair {
            [before, after] if !before.errors.is_empty() => Some(attempt(facts, before, after)),
            _ => None,
        })
        .collect()
}

fn attempt(facts: &Facts, before: &Check, after: &Check) -> Attempt {
    let ids =
        |check: &Check| -> BTreeSet<String> { check.errors.iter().map(|f| f.id.clone()).collect() };
    let (was, is) = (ids(before), ids(after));
    let list = |set: BTreeSet<&String>| set.into_iter().cloned().collect::<Vec<_>>();
    let fixed = list(was.difference(&is).collect());
    let still = list(was.intersection(&is).collect());
    let new = list(is.difference(&was).collect());
    let between = |event: u64| event > before.event && event < after.event;
    let changes: Vec<&Change> = facts.changes.iter().filter(|c| between(c.event)).collect();
    let mut touched: Vec<String> = changes.iter().flat_map(|c| touched(c)).collect();
    touched.sort();
    touched.dedup();
    let effect = match (
        changes.is_empty(),
        new.is_empty(),
        still.is_empty(),
        fixed.is_empty(),
    ) {
        (true, ..) => Effect::Nothing,
        (_, false, ..) => Effect::Worse,
        (_, _, true, _) => Effect::Cleared,
        (_, _, _, false) => Effect::Helped,
        _ => Effect::Missed,
    };
    let open: Vec<&Found> = before
        .errors
        .iter()
        .filter(|f| still.contains(&f.id))
        .collect();
    let mut events: Vec<u64> = vec![before.event];
    events.extend(changes.iter().map(|c| c.event));
    let stopped: Vec<_> = facts.stopped.iter().filter(|s| between(s.event)).collect();
    events.extend(stopped.iter().map(|s| s.event));
    let failed: Vec<_> = facts
        .failed
        .iter()
        .filter(|(at, ..)| between(*at))
        .collect();
    events.extend(failed.iter().map(|(at, ..)| *at));
    events.push(after.event);
    events.sort_unstable();
    let why = match effect {
        Effect::Nothing => match (stopped.first(), failed.first()) {
            (Some(s), _) => format!(
                "the program refused {} by the rule {}: {}",
                s.what, s.rule, s.reason
            ),
            (None, Some((_, tool, error))) => format!("{tool} failed: {error}"),
            (None, None) => untried(&open),
        },
        Effect::Cleared => "the findings are gone".to_owned(),
        Effect::Helped => format!("{} gone, {} left", fixed.len(), still.len()),
        Effect::Missed => missed(&open, &touched),
        Effect::Worse => {
            let codes: BTreeSet<&str> = after
                .errors
                .iter()
                .filter(|f| new.contains(&f.id))
                .map(|f| f.code.as_str())
                .collect();
            let codes: Vec<&str> = codes.into_iter().collect();
            format!("the change brought {} new: {}", new.len(), codes.join(", "))
        }
    };
    let tools: Vec<&str> = changes.iter().map(|c| c.tool.as_str()).collect();
    let mut findings: Vec<String> = still.iter().chain(&new).cloned().collect();
    if findings.is_empty() {
        findings.clone_from(&fixed);
    }
    Attempt {
        what: if tools.is_empty() {
            "no change".to_owned()
        } else {
            tools.join(", ")
        },
        effect,
        why,
        touched,
        fixed,
        still,
        new,
        evidence: Evidence {
            events,
            findings,
            ..Evidence::default()
        },
    }
}

/// Why nothing was tried.
fn untried(open: &[&Found]) -> String {
    match open
        .iter()
        .find(|f| f.confidence.as_deref() == Some("likely"))
    {
        Some(found) => format!(
            "the checker's fix for {} ({}) is likely, not certain, and nobody took it",
            found.code,
            found.fix_title.as_deref().unwrap_or("no title")
        ),
        None => match open.first() {
            Some(found) => format!("no fix is known for {}", found.code),
            None => "nothing was left to change".to_owned(),
        },
    }
}

fn missed(open: &[&Found], touched: &[String]) -> String {
    let on = |found: &Found| {
        [&found.node, &found.node_id]
            .into_iter()
            .flatten()
            .any(|name| touched.contains(name))
    };
    match open.iter().find(|f| on(f)) {
        Some(found) => format!(
            "{} was changed, but not what {} is about: the same finding is there again",
            found.node.as_deref().unwrap_or("the node"),
            found.code
        ),
        None => format!(
            "{} was changed; the findings are on other nodes",
            if touched.is_empty() {
                "something else".to_owned()
            } else {
                touched.join(", ")
            }
        ),
    }
}

/// Names or ids of the nodes that a change names.
pub(super) fn touched(change: &Change) -> Vec<String> {
    let ops = change.args.get("ops").and_then(Value::as_array);
    ops.into_iter()
        .flatten()
        .flat_map(|op| {
            ["node", "from", "to"]
                .into_iter()
                .filter_map(|key| op.get(key))
        })
        .filter_map(|node| node.as_str().or_else(|| node.get("name")?.as_str()))
        .map(str::to_owned)
        .collect()
}
