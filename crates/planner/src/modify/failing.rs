//! Retries, and what happens when a step fails.

use serde_json::{Value, json};

use super::insert::steps_of;
use super::{mention, words};
use crate::compile::existing::Patch;
use crate::compile::rewire::{acts, reads};
use crate::lexicon::{has, rx};
use crate::read::when;
use agentctl_n8n::Node;

/// What n8n takes: tries, and milliseconds between them.
const MAX_TRIES: u32 = 5;
const MAX_WAIT_MS: u64 = 5_000;

const RETRY: &str = r"\b(?:retry|retries|retried|try again|tries|attempts|wiederhol\w*|versuch\w*|reintent\w*|intentos|réessay\w*|tentatives?)\b";
const FAILS: &str = r"(?:fails?|failed|failure|errors?|goes wrong|breaks|fehlschlägt|fehlgeschlagen|fehler|schiefgeht|scheitert|fall[ae]n?|échou\w*|erreur)";
const IF: &str = r"(?:if|when|whenever|in case|should|wenn|falls|sobald|si|quand|lorsque|cuando)";

pub(super) fn failing(patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let retry = has(RETRY, clause);
    let fails = has(&format!(r"\b{FAILS}\b"), clause);
    if !retry && !fails {
        return false;
    }
    let nodes = meant(patch, clause, kept);
    if nodes.is_empty() {
        return false;
    }
    let retried = retry && retries(patch, clause, &nodes);
    let then = fails && on_failure(patch, clause, &nodes);
    retried || then
}

/// Whether a phrase says that something fails.
pub(super) fn says_failure(phrase: &str) -> bool {
    has(&format!(r"\b{FAILS}\b"), phrase)
}

/// "Add an error notification to Slack #ops": what is sent says by its name when.
pub(super) fn noticed(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let named = words::places(clause, language, "notice").into_iter().next();
    let Some(named) = named.filter(|_| words::has(clause, language, "more")) else {
        return false;
    };
    let to = clause.get(named.end..).unwrap_or_default();
    let end = words::places(to, language, "more").first().map(|p| p.start);
    let to = to.get(..end.unwrap_or(to.len())).unwrap_or_default().trim();
    let steps = steps_of(&format!("send a message {to}"));
    let nodes = can_fail(patch);
    if to.is_empty() || steps.is_empty() || nodes.is_empty() {
        return false;
    }
    patch.on_error(&nodes, &steps);
    true
}

/// The nodes that speak with something outside.
fn can_fail(patch: &Patch<'_>) -> Vec<String> {
    let nodes = patch.workflow().nodes.iter();
    let failing = nodes.filter(|n| fails_outside(n));
    failing.map(|n| n.name().to_owned()).collect()
}

/// The nodes that are spoken of; every one that can fail when the clause names none ("if anything fails").
fn meant(patch: &Patch<'_>, clause: &str, kept: &[String]) -> Vec<String> {
    // a node that stays as it is may still be tried again when the request names it: that is no part of what it does
    let can_fail = can_fail(patch);
    let subjects = [
        r"\b(?:retry|retries (?:of|for)|wiederhole?|reintenta|réessaye[rz]?)\s+(.+?)(?:\s+(?:up to|at most|max\w*|bis|hasta|jusqu\S*|\d|once|twice|three|two|four|five|if|when|on|with|mit|con|avec)\b|,|$)".to_owned(),
        r"^\W*(.+?)\s+(?:should|must|shall|gets?|has|have|may|soll\w*|bekomm\w*|erhält|debe\w*|tendrá|doit|aura)\b.*\b(?:retr|tries|attempts|versuch|wiederhol|intentos|tentatives)".to_owned(),
        format!(r"\b{IF}\s+(.+?)\s+(?:(?:still|ever|again|also|then|auch|trotzdem|dann|encore|aún)\s+)*(?:ever\s+)?{FAILS}\b"),
    ];
    let generic = r"^(?:it|they|this|that|any|anything|something|everything|all|es|er|sie|das|alles|etwas|algo|todo|tout|quelque chose|(?:any|an?|one|all|every|each|the whole|ein\w*|alle|una?|une|cualquier|chaque)?\s*(?:outside\s+|api\s+|external\s+)?(?:steps?|nodes?|calls?|requests?|workflow|run|schritte?|aufrufe?|pasos?|étapes?|there is an?|there's an?|es einen)?)$";
    let mut spoken = false;
    for pattern in &subjects {
        let Some(said) = rx(pattern).captures(clause).and_then(|c| c.get(1)) else {
            continue;
        };
        let said = said.as_str().trim();
        if has(generic, said) {
            continue;
        }
        spoken = true;
        let named: Vec<String> = mention::all(patch.workflow(), said)
            .into_iter()
            .filter(|n| can_fail.contains(n))
            .collect();
        if !named.is_empty() {
            return named;
        }
        if let Some(one) =
            mention::one(patch.workflow(), said, &[]).filter(|n| can_fail.contains(n))
        {
            return vec![one];
        }
    }
    // somebody is meant, and it is not clear who: better asked than done everywhere
    if spoken {
        return Vec::new();
    }
    can_fail.into_iter().filter(|n| !kept.contains(n)).collect()
}

/// A node that speaks with something outside.
fn fails_outside(node: &Node) -> bool {
    acts(node) || reads(node)
}

fn retries(patch: &mut Patch<'_>, clause: &str, nodes: &[String]) -> bool {
    let counted = r"(?:times|x|mal|veces|fois|tries|attempts|retries|versuche\w*|wiederholungen|intentos|reintentos|tentatives)";
    let tries = [
        format!(r"\b(\d+|\w+)\s*(?:more\s+)?{counted}\b"),
        r"\b(?:up to|at most|max\w*|bis zu|höchstens|hasta|jusqu'à)\s+(\d+)\b".to_owned(),
    ]
    .iter()
    .find_map(|pattern| {
        let said = rx(pattern)
            .captures(clause)?
            .get(1)?
            .as_str()
            .to_lowercase();
        when::number(&said).filter(|n| *n >= 1.0).map(|n| n as u32)
    })
    .or_else(|| has(r"\b(?:twice|zweimal|dos veces|deux fois)\b", clause).then_some(2))
    .unwrap_or(3);
    let time = r"(\d+(?:[.,]\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|sekunden?|segundos?|secondes?|minutes?|minuten|minutos?))";
    let between = [
        format!(r"\b{time}\b\s*(?:in between|between|apart|pause|wait|delay|break|abstand|dazwischen|zwischen|entre|d'intervalle|d'attente|de espera|de pausa)"),
        format!(r"\b(?:pause|wait\w*|delay|break|abstand|every|each|alle|pausa|cada|toutes les|attendre|espera\w*)\s+(?:of\s+|von\s+|de\s+)?{time}\b"),
    ]
    .iter()
    .find_map(|pattern| Some(rx(pattern).captures(clause)?.get(1)?.as_str().to_owned()));
    let wait = between.as_deref().and_then(milliseconds);
    if tries > MAX_TRIES {
        patch.note(format!(
            "n8n tries a step {MAX_TRIES} times at most: {MAX_TRIES} was set and not {tries} times"
        ));
    }
    if let (Some(ms), Some(said)) = (wait, &between)
        && ms > MAX_WAIT_MS
    {
        patch.note(format!(
            "n8n waits {} seconds at most between two tries: that was set and not {said}",
            MAX_WAIT_MS / 1000
        ));
    }
    for name in nodes {
        if let Some(node) = patch.workflow_mut().node_by_name_mut(name) {
            node.set("retryOnFail", Value::Bool(true));
            node.set("maxTries", json!(tries.clamp(2, MAX_TRIES)));
            if let Some(ms) = wait {
                node.set("waitBetweenTries", json!(ms.min(MAX_WAIT_MS)));
            }
        }
    }
    true
}

fn milliseconds(said: &str) -> Option<u64> {
    let c = rx(r"^(\d+)\s*(?:ms|milliseconds?)$").captures(said);
    match c.and_then(|c| c.get(1)?.as_str().parse::<u64>().ok()) {
        Some(ms) => Some(ms),
        None => when::duration(said).map(|s| s * 1000),
    }
}

/// "If it fails, tell #ops", "tell #ops if it fails", "go on when it fails".
fn on_failure(patch: &mut Patch<'_>, clause: &str, nodes: &[String]) -> bool {
    let then = rx(&format!(r"\b{FAILS}\b[^,:;]*[,:;]\s*(.+)$"))
        .captures(clause)
        .and_then(|c| c.get(1))
        .map(|m| m.as_str().to_owned())
        .or_else(|| {
            rx(&format!(r"^(.+?)\s+{IF}\b.*\b{FAILS}\b"))
                .captures(clause)
                .and_then(|c| c.get(1))
                .map(|m| m.as_str().to_owned())
        });
    if has(
        r"\b(?:continue|go on|carry on|keep going|weiterlaufen|weitermachen|continua\w*|seguir|sigue|continue\w*)\b",
        then.as_deref().unwrap_or(clause),
    ) {
        for name in nodes {
            if let Some(node) = patch.workflow_mut().node_by_name_mut(name) {
                node.set("onError", json!("continueRegularOutput"));
            }
        }
        return true;
    }
    let Some(then) = then.filter(|t| !has(RETRY, t)) else {
        return false;
    };
    let steps = steps_of(&then);
    if steps.is_empty() {
        return false;
    }
    patch.on_error(nodes, &steps);
    true
}
