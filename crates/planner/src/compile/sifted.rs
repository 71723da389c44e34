//! Qualifiers of a source ("unread", "from anyone @x.com", "today's", "this week") into the node's own filters, where the
//! catalog has a place for them. What the node cannot filter is left to a filter step.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val};
use super::draft::Draft;
use super::facts::{Facts, shown};
use agentctl_n8n::catalog::{Property, PropertyKind};

/// Parameters that take the earliest time of what is read, the surest first.
const SINCE: &[&str] = &[
    "createdAtMin",
    "created_at_min",
    "createdAfter",
    "created_after",
    "receivedAfter",
    "after",
    "since",
    "startDate",
    "start_date",
    "dateFrom",
    "date_from",
    "updatedAtMin",
    "modifiedAfter",
];

impl Draft<'_> {
    pub(super) fn sift(&self, facts: &Facts, said: &[Arg], params: &mut Map<String, Value>) {
        let operation = params
            .get("operation")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !matches!(operation, "getAll" | "getMany" | "search" | "list") {
            return;
        }
        let text = |role: &Role| {
            said.iter()
                .find(|a| a.role == *role)
                .and_then(|a| match &a.value {
                    Val::Lit { value } => value.as_str().map(str::to_owned),
                    _ => None,
                })
        };
        if text(&Role::Status).as_deref() == Some("unread") {
            put(facts, params, &["readStatus"], &json!("unread"));
        }
        if let Some(from) = text(&Role::From) {
            put(facts, params, &["sender"], &json!(from));
        }
        let timed = Value::Object(params.clone()).to_string().contains("$now");
        if !timed && let Some(start) = text(&Role::TimeRange).and_then(|r| start_of(&r)) {
            put(facts, params, SINCE, &json!(format!("={{{{ {start} }}}}")));
        }
    }
}

/// Into the first of these names that a collection of the node holds and nobody has set.
fn put(facts: &Facts, params: &mut Map<String, Value>, names: &[&str], value: &Value) {
    let collections: Vec<Property> = shown(facts, params)
        .into_iter()
        .filter(|p| p.kind == PropertyKind::Collection)
        .cloned()
        .collect();
    for name in names {
        for collection in &collections {
            let held = facts
                .children(collection, params)
                .iter()
                .any(|c| c.name == *name);
            if !held {
                continue;
            }
            let slot = params
                .entry(collection.name.clone())
                .or_insert_with(|| json!({}));
            if let Some(map) = slot.as_object_mut() {
                map.entry((*name).to_owned())
                    .or_insert_with(|| value.clone());
            }
            return;
        }
    }
}

/// The moment at which a range in words begins.
pub(super) fn start_of(range: &str) -> Option<String> {
    let r = range.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|w| r.contains(w));
    if any(&[
        "tomorrow", "next", "coming", "nächste", "kommende", "próxim", "prochain", "morgen",
    ]) {
        return None;
    }
    let count = r
        .split_whitespace()
        .find_map(|w| w.parse::<u32>().ok())
        .unwrap_or(1);
    let unit = [
        (["hour", "stunde", "hora", "heure"], "hours"),
        (["week", "woche", "semana", "semaine"], "weeks"),
        (["month", "monat", "mes", "mois"], "months"),
        (["year", "jahr", "año", "an"], "years"),
        (["day", "tag", "día", "jour"], "days"),
    ]
    .iter()
    .find(|(words, _)| any(words))
    .map(|(_, u)| *u);
    if any(&["yesterday", "gestern", "ayer"]) || r == "hier" {
        return Some("$now.minus({ days: 1 }).startOf('day').toISO()".to_owned());
    }
    if any(&["today", "heut", "hoy", "aujourd"]) {
        return Some("$now.startOf('day').toISO()".to_owned());
    }
    if any(&["this", "current", "diese"]) {
        let unit = unit?.trim_end_matches('s');
        return Some(format!("$now.startOf('{unit}').toISO()"));
    }
    Some(format!("$now.minus({{ {}: {count} }}).toISO()", unit?))
}
