//! What an agent wrote about the cause. A sentence stays only when it names evidence that the journal has, and none that it
//! does not have.

use super::evidence::{Evidence, Known};
use super::facts::Facts;
use agentctl_knowledge::quoted;
use serde::Serialize;
use serde_json::Value;

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
    let written = facts.word.as_ref()?;
    let cause = &written.cause;
    let known = facts.known();
    let given: Vec<&str> = cause
        .get("evidence")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let (evidence, dropped): (Vec<&str>, Vec<&str>) = given
        .into_iter()
        .partition(|text| Named::of(text, &known).is_grounded());
    let summary = cause.get("summary").and_then(Value::as_str);
    let kept = summary.filter(|text| !evidence.is_empty() && !Named::of(text, &known).made_up);
    Some(Word {
        agent: written.agent.clone(),
        event: written.event,
        summary: kept.map(|text| quoted(text).into_owned()),
        evidence: evidence
            .into_iter()
            .map(|text| quoted(text).into_owned())
            .collect(),
        dropped: dropped.len() + usize::from(summary.is_some() && kept.is_none()),
    })
}

/// What a sentence names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// What of it there is.
    pub evidence: Evidence,
    /// It names something that there is not.
    pub made_up: bool,
}

impl Named {
    pub fn is_grounded(&self) -> bool {
        !self.made_up && self.evidence != Evidence::default()
    }

    /// `event 12`, `events 12, 13 and 15`, `execution 41`, `finding 77ab…`, or a finding's id alone (its first eight characters
    /// and more).
    pub fn of(text: &str, known: &Known) -> Named {
        let lower = text.to_lowercase();
        let words = lower
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '/' | '_')))
            .filter(|word| !word.is_empty());
        let mut named = Named::default();
        let mut list = "";
        for word in words {
            match word.trim_end_matches('s') {
                "event" | "execution" | "finding" => {
                    list = word.trim_end_matches('s');
                    continue;
                }
                "and" | "to" => continue,
                _ => {}
            }
            let is_id = word.chars().any(|c| c.is_ascii_digit());
            match list {
                "event" if word.parse::<u64>().is_ok() => named.event(word.parse().ok(), known),
                "execution" if is_id => named.execution(word, known),
                "finding" if is_id || known.findings.contains(word) => {
                    named.finding(word, 4, known)
                }
                _ => {
                    list = "";
                    let looks = word.len() >= 8 && is_id && is_hex(word);
                    if looks || known.findings.contains(word) {
                        named.finding(word, 8, known);
                    }
                }
            }
        }
        named
    }

    pub fn event(&mut self, event: Option<u64>, known: &Known) {
        match event.filter(|event| (1..=known.last_event).contains(event)) {
            Some(event) => self.evidence.events.push(event),
            None => self.made_up = true,
        }
    }

    pub fn execution(&mut self, id: &str, known: &Known) {
        match known.executions.contains(id) {
            true => self.evidence.executions.push(id.to_owned()),
            false => self.made_up = true,
        }
    }

    /// The id, or at least so many characters of its beginning.
    pub fn finding(&mut self, id: &str, least: usize, known: &Known) {
        let begins =
            |whole: &&String| whole.as_str() == id || (id.len() >= least && whole.starts_with(id));
        match known.findings.iter().find(begins) {
            Some(whole) => self.evidence.findings.push(whole.clone()),
            None => self.made_up = true,
        }
    }
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_hexdigit())
}
