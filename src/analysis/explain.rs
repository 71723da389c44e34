//! What a model writes on top of an analysis. It gets what the journal shows, and each of its claims must name events, findings
//! or executions; a claim that names none, or one that there is not, is dropped here, whatever the model says of it.

use super::word::Named;
use super::{Analysis, Claim, Known};
use agentctl_knowledge::quoted;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// So many moments of a long run are given, the last ones.
const MOMENTS: usize = 200;
/// Longer texts are cut, in characters.
const LONG: usize = 600;
const MOST_CLAIMS: usize = 20;

/// What is left of what a model wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    pub agent: String,
    pub model: String,
    pub claims: Vec<Claim>,
    /// Claims without evidence, or with made-up evidence.
    pub dropped: usize,
}

/// The form of the answer.
pub fn contract() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object", "required": ["claims"], "additionalProperties": false,
        "properties": {"claims": {"type": "array", "maxItems": MOST_CLAIMS, "items": {
            "type": "object", "required": ["text"], "additionalProperties": false,
            "properties": {
                "text": {"type": "string", "minLength": 1, "description": "one sentence"},
                "events": {"type": "array", "items": {"type": "integer"}, "description": "numbers of the run's events that show it"},
                "findings": texts, "executions": texts,
            },
        }}},
    })
}

/// What a model gets to see: the analysis, without what would only cost.
pub fn material(analysis: &Analysis) -> Map<String, Value> {
    let mut shown = match serde_json::to_value(analysis) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    for key in ["cost", "proposals", "word"] {
        shown.shift_remove(key);
    }
    if let Some(Value::Array(timeline)) = shown.get_mut("timeline") {
        let early = timeline.len().saturating_sub(MOMENTS);
        timeline.drain(..early);
    }
    shown.values_mut().for_each(cut);
    shown
}

fn cut(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().count() > LONG => {
            *text = text.chars().take(LONG).chain(['…']).collect();
        }
        Value::Array(list) => list.iter_mut().for_each(cut),
        Value::Object(map) => map.values_mut().for_each(cut),
        _ => {}
    }
}

/// The claims that stand on evidence. `answer` is what the model wrote, in the form of [`contract`] or not.
pub fn kept(answer: &Value, known: &Known, agent: &str, model: &str) -> Explained {
    let mut explained = Explained {
        agent: agent.to_owned(),
        model: model.to_owned(),
        claims: Vec::new(),
        dropped: 0,
    };
    let claims = answer.get("claims").and_then(Value::as_array);
    for given in claims.into_iter().flatten() {
        match claim(given, known).filter(|_| explained.claims.len() < MOST_CLAIMS) {
            Some(claim) => explained.claims.push(claim),
            None => explained.dropped += 1,
        }
    }
    explained
}

fn claim(given: &Value, known: &Known) -> Option<Claim> {
    let text = given.get("text").and_then(Value::as_str)?.trim();
    let list = |key: &str| {
        let list = given.get(key).and_then(Value::as_array);
        list.map(Vec::as_slice).unwrap_or_default()
    };
    // What the sentence itself names counts too, and must be there as well.
    let mut named = Named::of(text, known);
    for event in list("events") {
        named.event(event.as_u64(), known);
    }
    for id in list("findings") {
        named.finding(&id.as_str()?.to_lowercase(), 8, known);
    }
    for id in list("executions") {
        named.execution(id.as_str()?, known);
    }
    if text.is_empty() || !named.is_grounded() {
        return None;
    }
    let mut evidence = named.evidence;
    evidence.events.sort_unstable();
    evidence.events.dedup();
    for ids in [&mut evidence.findings, &mut evidence.executions] {
        ids.sort();
        ids.dedup();
    }
    let text: String = text.chars().take(LONG).collect();
    Some(Claim {
        text: quoted(&text).into_owned(),
        evidence,
    })
}
