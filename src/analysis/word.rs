//! What an agent wrote about the cause. A sentence stays only when it names evidence that the journal has.

use super::facts::Facts;
use crate::knowledge::quoted;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Word {
    pub agent: String,
    pub event: u64,
    /// Kept only with evidence; None: dropped.
    pub summary: Option<String>,
    pub evidence: Vec<String>,
    /// Sentences without evidence, which are left out.
    pub dropped: usize,
}

pub(super) fn of(facts: &Facts) -> Option<Word> {
    let (event, agent, patch) = facts.word.as_ref()?;
    let cause = patch.get("root_cause")?;
    let ids: BTreeSet<&str> = facts
        .checks
        .iter()
        .flat_map(|check| check.errors.iter().map(|f| f.id.as_str()))
        .collect();
    let given: Vec<&str> = cause
        .get("evidence")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let (evidence, dropped): (Vec<&str>, Vec<&str>) = given
        .into_iter()
        .partition(|text| is_grounded(text, &ids, facts.last_event));
    let summary = cause.get("summary").and_then(Value::as_str);
    let kept = summary.filter(|_| !evidence.is_empty());
    Some(Word {
        agent: agent.clone(),
        event: *event,
        summary: kept.map(|text| quoted(text).into_owned()),
        evidence: evidence
            .into_iter()
            .map(|text| quoted(text).into_owned())
            .collect(),
        dropped: dropped.len() + usize::from(summary.is_some() && kept.is_none()),
    })
}

/// It names a finding of a check (whole, or its first eight characters and more), or an event that there is.
fn is_grounded(text: &str, ids: &BTreeSet<&str>, last: u64) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '/' | '_')))
        .filter(|word| !word.is_empty());
    let finding = words.clone().any(|word| {
        ids.iter()
            .any(|id| *id == word || (word.len() >= 8 && id.starts_with(word)))
    });
    let event = words.any(|word| word == "event" || word == "events")
        && lower
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|n| n.parse::<u64>().ok())
            .any(|n| (1..=last).contains(&n));
    finding || event
}
