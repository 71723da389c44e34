//! The first cause of a run that did not pass: the finding from which the rest follows, or what stopped the run.

use super::evidence::{Claim, Evidence};
use super::facts::{Facts, Found, GOES_ON};
use agentctl_base::counted::counted;
use agentctl_base::question::Outcome;
use agentctl_knowledge::quoted;
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The finding was in the workflow before the run touched it.
    Inherited,
    /// The run built it in.
    Built,
    /// A repair brought it.
    Regression,
    Budget,
    /// A rule, or the request itself.
    Refused,
    Unanswered,
    /// Not all of the request is in what was made.
    Partial,
    /// A step, a model or a tool failed.
    Failed,
    Interrupted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    pub kind: Kind,
    pub summary: String,
    /// For a finding: its code, node and node type.
    pub code: Option<String>,
    pub node: Option<String>,
    pub node_type: Option<String>,
    pub evidence: Evidence,
}

/// A node type that was used though nobody looked it up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    pub node_type: String,
    /// Where it was first used.
    pub event: u64,
}

pub(super) fn gaps(facts: &Facts) -> Vec<Gap> {
    facts
        .used
        .iter()
        .filter(|(kind, _)| !facts.looked_up.contains(*kind))
        .map(|(kind, event)| Gap {
            node_type: kind.clone(),
            event: *event,
        })
        .collect()
}

fn plain(kind: Kind, summary: String, events: Vec<u64>) -> Cause {
    Cause {
        kind,
        summary,
        code: None,
        node: None,
        node_type: None,
        evidence: Evidence {
            events,
            findings: Vec::new(),
            ..Evidence::default()
        },
    }
}

/// What a run that is not at its end rests at: the user's answer, the call that came to nothing before it was killed, or nothing.
fn unfinished(facts: &Facts) -> Cause {
    if let Some(waiting) = waiting(facts) {
        return waiting;
    }
    let stopped = facts.in_vain.as_ref().filter(|_| facts.ended.is_none());
    if let Some(call) = stopped {
        let (kind, how) = match call.refused {
            true => (Kind::Refused, "was refused"),
            false => (Kind::Failed, "failed"),
        };
        let summary = format!(
            "it stopped where {} {how}: {}",
            call.tool,
            quoted(&call.error)
        );
        return plain(kind, summary, vec![call.event]);
    }
    let (at, summary) = match &facts.ended {
        Some((at, _, message)) => (*at, format!("it was interrupted: {message}")),
        None => (
            facts.last_event,
            format!("it is not at its end, interrupted or still at work: {GOES_ON}"),
        ),
    };
    plain(Kind::Interrupted, summary, vec![at])
}

fn waiting(facts: &Facts) -> Option<Cause> {
    let open: Vec<_> = facts.open_questions().collect();
    let texts: Vec<&str> = open.iter().map(|(_, q)| q.text.as_str()).collect();
    (!open.is_empty()).then(|| {
        plain(
            Kind::Unanswered,
            format!("it waits for an answer: {}", texts.join(" · ")),
            open.iter().map(|(event, _)| *event).collect(),
        )
    })
}

/// The first cause; None for a run that passed.
pub(super) fn root(facts: &Facts) -> Option<Cause> {
    let Some((end, outcome, message)) = facts.ended.as_ref() else {
        return Some(unfinished(facts));
    };
    match outcome {
        Outcome::Complete | Outcome::Cancelled => None,
        Outcome::Draft | Outcome::Partial => Some(plain(
            Kind::Partial,
            format!("not all of the request is in what was made: {message}"),
            vec![*end],
        )),
        Outcome::Blocked => Some(first_finding(facts).unwrap_or_else(|| {
            plain(
                Kind::Failed,
                format!("no check found an error: {message}"),
                vec![*end],
            )
        })),
        Outcome::Budget => {
            let most = facts.asked_models.iter().max_by_key(|(_, count)| **count);
            let most = most.map(|(step, count)| {
                format!("; most went to {step}: {}", counted(count, "model call"))
            });
            Some(plain(
                Kind::Budget,
                format!("a budget was spent: {message}{}", most.unwrap_or_default()),
                vec![*end],
            ))
        }
        Outcome::Refused => {
            let mut events: Vec<u64> = facts.stopped.last().map(|s| s.event).into_iter().collect();
            events.push(*end);
            Some(plain(Kind::Refused, format!("refused: {message}"), events))
        }
        Outcome::Waiting | Outcome::Interrupted => Some(unfinished(facts)),
        Outcome::Failed => {
            let last = facts.step_failures.last();
            let events = last.map(|(at, ..)| *at).into_iter().chain([*end]).collect();
            let step = last.map(|(_, step, error)| format!("{step}: {error}"));
            let text = step.unwrap_or_else(|| message.clone());
            Some(plain(Kind::Failed, text, events))
        }
    }
}

/// Of the findings that are left, the one that was there first; of several, the one that a node cannot be without.
fn first_finding(facts: &Facts) -> Option<Cause> {
    let rank = |found: &Found| {
        let seen = facts
            .first_seen(&found.id)
            .map_or(u64::MAX, |check| check.event);
        // What a node is comes before what is set on it.
        let about = match found.code.as_str() {
            "n8n/structure" => 0,
            "n8n/unknown-type" => 1,
            "n8n/unknown-version" => 2,
            _ => 3,
        };
        (seen, about)
    };
    let found = facts.left().iter().min_by_key(|f| rank(f))?;
    let first = facts.first_seen(&found.id)?;
    let last = facts.checks.last()?;
    let made = [&found.node, &found.node_id]
        .into_iter()
        .flatten()
        .any(|name| facts.made.contains(name));
    // A change between the check before and the first check that has it.
    let check_before = facts.checks.iter().rev().find(|c| c.event < first.event);
    let by_repair = check_before.and_then(|before| {
        facts
            .changes
            .iter()
            .rev()
            .find(|c| c.event > before.event && c.event < first.event)
    });
    let (kind, origin, change) = match (by_repair, made) {
        (Some(change), _) => (
            Kind::Regression,
            format!("it came with the repair of event {}", change.event),
            Some(change.event),
        ),
        (None, true) => {
            let change = facts.changes.iter().find(|c| c.event < first.event);
            (
                Kind::Built,
                "this run built it so".to_owned(),
                change.map(|c| c.event),
            )
        }
        (None, false) => (
            Kind::Inherited,
            "it was in the workflow before this run".to_owned(),
            None,
        ),
    };
    let rounds = facts
        .checks
        .iter()
        .filter(|c| c.errors.iter().any(|f| f.id == found.id))
        .count();
    let node = found.node.clone();
    let node_type = facts.type_of(found).map(str::to_owned);
    let on = match (&node, &node_type) {
        (Some(node), Some(kind)) => format!(" on {node:?} ({kind})"),
        (Some(node), None) => format!(" on {node:?}"),
        _ => String::new(),
    };
    let mut events: Vec<u64> = change
        .into_iter()
        .chain([first.event, last.event])
        .collect();
    events.dedup();
    Some(Cause {
        kind,
        summary: format!(
            "{}{on} stayed through {}; {origin}: {}",
            found.code,
            counted(rounds, "check"),
            quoted(&found.message)
        ),
        code: Some(found.code.clone()),
        node,
        node_type,
        evidence: Evidence {
            events,
            findings: vec![found.id.clone()],
            ..Evidence::default()
        },
    })
}

/// Findings that are left and follow from the first one: the same node, or a repair of it.
pub(super) fn followed(facts: &Facts, root: Option<&Cause>) -> Vec<Claim> {
    let Some(root) = root.filter(|root| root.code.is_some()) else {
        return Vec::new();
    };
    let first = root.evidence.findings.first();
    facts
        .left()
        .iter()
        .filter(|f| Some(&f.id) != first)
        .filter_map(|f| {
            let seen = facts.first_seen(&f.id)?;
            let repair = facts.changes.iter().rev().find(|c| {
                c.event < seen.event && !c.created && facts.checks.iter().any(|k| k.event < c.event)
            });
            let text = if f.node.is_some() && f.node == root.node {
                format!("{} is on the same node", f.code)
            } else {
                let repair =
                    repair.filter(|_| facts.checks.first().map(|c| c.event) != Some(seen.event))?;
                format!("{} came with the repair of event {}", f.code, repair.event)
            };
            Some(Claim {
                text,
                evidence: Evidence {
                    events: vec![seen.event],
                    findings: vec![f.id.clone()],
                    ..Evidence::default()
                },
            })
        })
        .collect()
}

/// What would have stopped it at the earliest point.
pub(super) fn prevention(facts: &Facts, root: Option<&Cause>) -> Vec<Claim> {
    let Some(root) = root else {
        return Vec::new();
    };
    let claim = |text: String| Claim {
        text,
        evidence: root.evidence.clone(),
    };
    let mut claims = Vec::new();
    let found = root
        .evidence
        .findings
        .first()
        .and_then(|id| facts.left().iter().find(|f| f.id == *id));
    match root.kind {
        Kind::Inherited => claims.push(claim(
            "check the workflow before changing it: agentctl qa FILE shows this finding before a run is spent on it".to_owned(),
        )),
        Kind::Built | Kind::Regression => {
            if let Some(kind) = root.node_type.as_ref().filter(|k| !facts.looked_up.contains(*k)) {
                claims.push(claim(format!(
                    "look the node up before it is used: no get_node or search_nodes of this run shows {kind}"
                )));
            }
            if root.kind == Kind::Regression {
                claims.push(claim("roll the repair back when its check shows a new error, and try another one".to_owned()));
            }
        }
        Kind::Budget => claims.push(claim("a higher limit in agents/policy.yaml, or a narrower request".to_owned())),
        Kind::Refused => claims.push(claim("ask for what the rule allows; the report names the rule".to_owned())),
        Kind::Unanswered => claims.push(claim(format!("answer it: agentctl answer {} ID=VALUE", facts.run_id))),
        Kind::Partial => claims.push(claim(format!(
            "say what was not understood in other words, or use a model: agentctl runs show {}",
            facts.run_id
        ))),
        Kind::Failed => {}
        Kind::Interrupted => claims.push(claim(format!("go on with it: agentctl resume {}", facts.run_id))),
    }
    if let Some(found) = found {
        let title = found.fix_title.as_deref().unwrap_or("its fix");
        match found.confidence.as_deref() {
            Some("likely") => claims.push(claim(format!(
                "an accepted learning that the checker's fix ({title}) is right for {}: the builder then takes it",
                found.code
            ))),
            None => claims.push(claim(format!(
                "a learning that says how to clear {}: nobody in this run knew",
                found.code
            ))),
            Some(_) => {}
        }
    }
    let rules: BTreeSet<&str> = facts.stopped.iter().map(|s| s.rule.as_str()).collect();
    if root.kind != Kind::Refused && rules.len() == 1 && facts.stopped.len() >= 3 {
        let rule = rules.into_iter().next().unwrap_or_default();
        claims.push(Claim {
            text: format!(
                "the same rule ({rule}) stopped {} calls: it belongs into the agent's task",
                facts.stopped.len()
            ),
            evidence: Evidence {
                events: facts.stopped.iter().map(|s| s.event).collect(),
                findings: Vec::new(),
                ..Evidence::default()
            },
        });
    }
    claims
}
