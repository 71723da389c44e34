//! What can be learned from a run: only what would help another workflow, without values of this one. A proposal is data until
//! the user accepts it, and stays data after.

use super::attempts::{Attempt, Effect, touched};
use super::cause::Cause;
use super::evidence::Evidence;
use super::facts::{Facts, Found};
use super::word;
use agentctl_knowledge::{Learning, NewLearning, appended, next_id, parse};
use agentctl_n8n::validate::rule;
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// `analysis`, or the agent that proposed it.
    pub by: String,
    pub title: String,
    pub date: String,
    pub node_types: Vec<String>,
    pub finding_codes: Vec<String>,
    pub tags: Vec<String>,
    pub problem: String,
    pub cause: String,
    pub solution: String,
    pub fix: Option<String>,
    pub seen: String,
    pub evidence: Evidence,
}

impl Proposal {
    pub fn entry(&self) -> NewLearning {
        NewLearning {
            title: self.title.clone(),
            date: self.date.clone(),
            workflow: None,
            node_types: self.node_types.clone(),
            finding_codes: self.finding_codes.clone(),
            tags: self.tags.clone(),
            problem: self.problem.clone(),
            cause: self.cause.clone(),
            solution: self.solution.clone(),
            evidence: self.seen.clone(),
            fix: self.fix.clone(),
        }
    }
}

fn short(node_type: &str) -> &str {
    node_type.rsplit('.').next().unwrap_or(node_type)
}

pub(super) fn of(
    facts: &Facts,
    root: Option<&Cause>,
    attempts: &[Attempt],
    date: &str,
) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    // What blocked, and could have been cleared by a fix that the checker knows but does not dare.
    if let Some(found) = root.and_then(|root| {
        let id = root.evidence.findings.first()?;
        facts.left().iter().find(|f| f.id == *id)
    }) && found.confidence.as_deref() == Some("likely")
        && let Some(kind) = facts.type_of(found)
    {
        let mut proposal = about(facts, found, kind, date);
        proposal.title = format!(
            "{} on {}: the checker's likely fix is right",
            found.code,
            short(kind)
        );
        proposal.cause = "the checker has one likely fix, and nobody takes it without being told that it is right".to_owned();
        proposal.solution = "apply the fix that the finding carries".to_owned();
        proposal.fix = Some("checker".to_owned());
        if let Some(root) = root {
            proposal.prove(facts, root.evidence.clone());
        }
        proposals.push(proposal);
    }
    // What a repair of this run cleared, though the checker knew no certain fix. A repair that a learning named teaches nothing new.
    if !facts.read.iter().any(|id| id.starts_with("L-")) {
        for attempt in attempts {
            proposals.extend(cleared(facts, attempt, date));
        }
    }
    proposals.extend(by_agent(facts, date));
    let mut kept: Vec<Proposal> = Vec::new();
    for proposal in proposals {
        let same = |k: &Proposal| {
            k.finding_codes == proposal.finding_codes && k.node_types == proposal.node_types
        };
        if !kept.iter().any(same) {
            kept.push(proposal);
        }
    }
    kept
}

impl Proposal {
    fn prove(&mut self, facts: &Facts, evidence: Evidence) {
        let events: Vec<String> = evidence.events.iter().map(u64::to_string).collect();
        self.seen = format!(
            "run {}, events {}, finding {}",
            facts.run_id,
            events.join(", "),
            evidence.findings.join(", ")
        );
        self.evidence = evidence;
    }
}

/// The frame of a proposal: the rule's own reason, never the message of this workflow.
fn about(facts: &Facts, found: &Found, kind: &str, date: &str) -> Proposal {
    let reason = rule(&found.code).map_or("a check fails", |rule| rule.reason);
    let tail = found.code.rsplit('/').next().unwrap_or(&found.code);
    let mut proposal = Proposal {
        by: "analysis".to_owned(),
        title: format!("{} on {}", found.code, short(kind)),
        date: date.to_owned(),
        node_types: vec![kind.to_owned()],
        finding_codes: vec![found.code.clone()],
        tags: vec![short(kind).to_lowercase(), tail.to_lowercase()],
        problem: format!("{} on {}: {reason}", found.code, short(kind)),
        cause: String::new(),
        solution: String::new(),
        fix: None,
        seen: String::new(),
        evidence: Evidence::default(),
    };
    let evidence = Evidence {
        events: facts
            .first_seen(&found.id)
            .map(|c| c.event)
            .into_iter()
            .collect(),
        findings: vec![found.id.clone()],
        ..Evidence::default()
    };
    proposal.prove(facts, evidence);
    proposal
}

/// A finding that one change on its own node cleared.
fn cleared(facts: &Facts, attempt: &Attempt, date: &str) -> Option<Proposal> {
    if !matches!(attempt.effect, Effect::Cleared | Effect::Helped) {
        return None;
    }
    let [id] = attempt.fixed.as_slice() else {
        return None;
    };
    let found = facts.first_seen(id)?.errors.iter().find(|f| f.id == *id)?;
    if found.confidence.as_deref() == Some("sure") {
        return None;
    }
    let changes: Vec<_> = facts
        .changes
        .iter()
        .filter(|c| attempt.evidence.events.contains(&c.event))
        .collect();
    let [change] = changes.as_slice() else {
        return None;
    };
    let own =
        |name: &String| Some(name) == found.node.as_ref() || Some(name) == found.node_id.as_ref();
    let names = touched(change);
    if names.is_empty() || !names.iter().all(own) {
        return None;
    }
    let kind = facts.type_of(found)?;
    let ops = change.args.get("ops")?.as_array()?;
    let places: Vec<&str> = ops
        .iter()
        .map(|op| {
            op.get("pointer")
                .or_else(|| op.get("op"))
                .and_then(Value::as_str)
        })
        .collect::<Option<_>>()?;
    let mut proposal = about(facts, found, kind, date);
    proposal.title = format!(
        "{} on {}: change {}",
        found.code,
        short(kind),
        places.join(", ")
    );
    proposal.cause = format!(
        "{} is not as the node's description wants it",
        places.join(", ")
    );
    proposal.solution = format!(
        "set {} as the schema of the node's operation says",
        places.join(", ")
    );
    proposal.fix = general(ops);
    proposal.prove(
        facts,
        Evidence {
            events: attempt.evidence.events.clone(),
            findings: vec![found.id.clone()],
            ..Evidence::default()
        },
    );
    Some(proposal)
}

/// The operations without the node, when every value in them is one that any workflow may have: a switch, a number, a name of an option.
fn general(ops: &[Value]) -> Option<String> {
    let mut kept = Vec::new();
    for op in ops {
        let mut op = op.as_object()?.clone();
        op.shift_remove("node")?;
        let plain = op.iter().all(|(key, value)| match value {
            Value::Bool(_) | Value::Number(_) => true,
            Value::String(text) if key == "value" => {
                text.len() <= 32 && text.chars().all(|c| c.is_ascii_alphanumeric())
            }
            Value::String(_) => matches!(key.as_str(), "op" | "pointer"),
            _ => false,
        });
        if !plain {
            return None;
        }
        kept.push(Value::Object(op));
    }
    (!kept.is_empty()).then(|| Value::Array(kept).to_string())
}

/// What an agent proposed in the run, when its evidence is there. It cannot name a repair that is then made by itself.
fn by_agent(facts: &Facts, date: &str) -> Vec<Proposal> {
    let Some(written) = &facts.word else {
        return Vec::new();
    };
    if word::of(facts).is_none_or(|word| word.evidence.is_empty()) {
        return Vec::new();
    }
    (written.learnings.iter())
        .filter_map(|item| {
            let text = |key: &str| Some(item.get(key)?.as_str()?.to_owned());
            let texts = |key: &str| -> Vec<String> {
                let list = item
                    .get(key)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                list.filter_map(Value::as_str).map(str::to_owned).collect()
            };
            let codes = texts("finding_codes");
            let findings = facts
                .left()
                .iter()
                .filter(|f| codes.contains(&f.code))
                .map(|f| f.id.clone())
                .collect();
            let mut proposal = Proposal {
                by: written.agent.clone(),
                title: text("title")?,
                date: date.to_owned(),
                node_types: texts("node_types"),
                finding_codes: codes,
                tags: texts("tags"),
                problem: text("problem")?,
                cause: text("cause").unwrap_or_else(|| "not known".to_owned()),
                solution: text("solution")?,
                fix: None,
                seen: String::new(),
                evidence: Evidence::default(),
            };
            proposal.prove(
                facts,
                Evidence {
                    events: vec![written.event],
                    findings,
                    ..Evidence::default()
                },
            );
            Some(proposal)
        })
        .collect()
}

/// LEARNINGS.md as it would be with the proposals, and the ids that they would have.
pub fn grown(text: &str, proposals: &[Proposal]) -> (String, Vec<Learning>) {
    let known = parse(text).0;
    let mut grown = text.to_owned();
    let mut added: Vec<Learning> = Vec::new();
    for proposal in proposals {
        let id = next_id(known.iter().chain(&added));
        let Ok(entry) = proposal.entry().into_entry(id) else {
            continue;
        };
        if !known.iter().chain(&added).any(|k| k.same_lesson(&entry)) {
            grown = appended(&grown, [&entry]);
            added.push(entry);
        }
    }
    (grown, added)
}

/// PATTERNS.md with the entries named at the patterns whose shape has one of their nodes.
pub fn patterns_with(text: &str, entries: &[Learning]) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut nodes: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with("## ") {
            nodes.clear();
        }
        if let Some(shape) = line.strip_prefix("- shape:") {
            nodes = shape
                .split(|c: char| !c.is_alphanumeric())
                .map(str::to_lowercase)
                .collect();
        }
        let Some(named) = line.strip_prefix("- learnings:") else {
            out.push(line.to_owned());
            continue;
        };
        let mut ids: Vec<&str> = named
            .split(',')
            .map(str::trim)
            .filter(|id| !matches!(*id, "" | "-"))
            .collect();
        for entry in entries {
            let in_shape = |kind: &String| nodes.contains(&short(kind).to_lowercase());
            if entry.node_types.iter().any(in_shape) && !ids.contains(&entry.id.as_str()) {
                ids.push(&entry.id);
            }
        }
        let ids = if ids.is_empty() {
            "-".to_owned()
        } else {
            ids.join(", ")
        };
        out.push(format!("- learnings: {ids}"));
    }
    let mut text = out.join("\n");
    text.push('\n');
    text
}
