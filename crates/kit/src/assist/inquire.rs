//! Skills of a team that researches a question: `plan_calls` says which agents it concerns, `analyse` searches and takes sentences with
//! their sources as claims, `hand_over` gives what the step reads to one tool, and `choose` names the claims that come first. What
//! words belong to which agent is the pack's.

use super::lexicon::Lexicon;
use super::{Done, Next};
use crate::task::{KitError, Task};
use serde_json::{Map, Value, json};

/// A sentence that scores less than this part of the best one is about something else.
const LEAST: f64 = 0.3;
/// A claim that answers the question less well than this part of the first one's is not chosen.
const CHOSEN: f64 = 0.6;
/// Calls of one search, at most: the whole question, and its parts.
const MAX_SEARCHES: usize = 4;

fn number(entry: &Map<String, Value>, key: &str, otherwise: u64) -> usize {
    let number = entry.get(key).and_then(Value::as_u64).unwrap_or(otherwise);
    usize::try_from(number).unwrap_or_default()
}

fn text<'a>(task: Task<'a>, key: &'a str) -> Result<&'a str, KitError> {
    let found = task.reads(key).and_then(Value::as_str);
    found.ok_or_else(|| task.lacks(format!("it reads no {key}")))
}

/// `{types}`: all of `among`, those whose words the question has first.
pub(super) fn plan(task: Task<'_>) -> Result<Next, KitError> {
    let question = text(task, "question")?;
    let lexicon = Lexicon::of(task.offline.get("concepts"));
    let among: Vec<&str> = super::delegate::texts(task.entry()?.get("among"));
    let mut types = among;
    types.sort_by_key(|t| std::cmp::Reverse(lexicon.count(question, t)));
    let questions: Map<String, Value> = types
        .iter()
        .map(|t| ((*t).to_owned(), question.into()))
        .collect();
    let answer = Map::from_iter([
        ("types".to_owned(), json!(types)),
        ("questions".to_owned(), Value::Object(questions)),
    ]);
    Ok(Next::Answer(task.answered(answer)))
}

/// The whole question, and each of its parts where it has several.
fn queries(question: &str) -> Vec<String> {
    let mut queries = vec![question.to_owned()];
    let parts = question
        .split(['?', ';', ','])
        .flat_map(|part| part.split(" and "));
    let parts: Vec<&str> = parts
        .map(str::trim)
        .filter(|part| part.split_whitespace().count() >= 2)
        .collect();
    if parts.len() > 1 {
        queries.extend(parts.into_iter().map(str::to_owned));
    }
    queries.truncate(MAX_SEARCHES);
    queries
}

/// Searches by the question and its parts, then `{claims: [{id, text, sources}]}`: the sentences that fit best and are no other agent's.
/// Searches that fail give no claims; why they did the flow tells.
pub(super) fn analyse(task: Task<'_>, done: &[Done]) -> Result<Next, KitError> {
    let entry = task.entry()?;
    let tool = entry.get("tool").and_then(Value::as_str);
    let tool = tool.ok_or_else(|| task.lacks("`tool` names what searches"))?;
    let queries = queries(text(task, "question")?);
    if let Some(query) = queries.get(done.len()) {
        let args = json!({"query": query, "limit": number(entry, "limit", 30)});
        return Ok(Next::Call {
            tool: tool.to_owned(),
            args,
        });
    }
    let lexicon = Lexicon::of(task.offline.get("concepts"));
    let among: Vec<&str> = super::delegate::texts(entry.get("among"));
    let own = task
        .reads("domain")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let most = number(entry, "most", 12);
    let mut claims: Vec<Value> = Vec::new();
    let mut taken: Vec<&str> = Vec::new();
    for made in done {
        let results = made
            .content
            .get("results")
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let best = results
            .first()
            .and_then(|r| r.get("score")?.as_f64())
            .unwrap_or_default();
        let good = results
            .iter()
            .filter(|r| r.get("score").and_then(Value::as_f64).unwrap_or_default() >= LEAST * best);
        for result in good.take(most) {
            let of = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
            let (id, quote) = (of("id"), of("quote"));
            if !taken.contains(&id) && is_own(quote, own, &among, &lexicon) {
                taken.push(id);
                claims.push(json!({"id": id, "text": quote, "sources": [id]}));
            }
        }
    }
    let answer = Map::from_iter([("claims".to_owned(), Value::Array(claims))]);
    Ok(Next::Answer(task.answered(answer)))
}

/// A sentence is left to another agent only where it has that one's words and none of the own.
fn is_own(quote: &str, own: &str, among: &[&str], lexicon: &Lexicon) -> bool {
    let others = among.iter().filter(|other| **other != own);
    lexicon.count(quote, own) > 0
        || !others
            .into_iter()
            .any(|other| lexicon.count(quote, other) > 0)
}

/// Calls `tool` with what the step reads under `gives`, then answers `answer` as it is written.
pub(super) fn hand_over(task: Task<'_>, done: &[Done]) -> Result<Next, KitError> {
    let entry = task.entry()?;
    let of = |key: &str| {
        let text = entry.get(key).and_then(Value::as_str);
        text.ok_or_else(|| task.lacks(format!("`{key}` is missing in offline.yaml")))
    };
    let (tool, gives) = (of("tool")?, of("gives")?);
    match done.last() {
        None => {
            let given = task.reads(gives).cloned().unwrap_or_default();
            Ok(Next::Call {
                tool: tool.to_owned(),
                args: json!({gives: given}),
            })
        }
        Some(made) if made.ok => Ok(Next::Answer(
            entry.get("answer").cloned().unwrap_or_default(),
        )),
        Some(_) => Err(task.lacks(format!("{tool} gave no result"))),
    }
}

/// `{chosen: [ids]}`: the first `most` of what the step reads as `claims` that have the verdict `verdict`; where they say how well they
/// answer the question (`fit`, of 1), no others than those that do it about as well as the first one.
pub(super) fn choose(task: Task<'_>) -> Result<Next, KitError> {
    let entry = task.entry()?;
    let wanted = entry
        .get("verdict")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let claims = task.reads("claims").and_then(Value::as_array);
    let has = |claim: &&Value| claim.get("verdict").and_then(Value::as_str) == Some(wanted);
    let claims: Vec<&Value> = claims.into_iter().flatten().filter(has).collect();
    let fit = |claim: &Value| claim.get("fit").and_then(Value::as_f64);
    let best = claims.first().and_then(|claim| fit(claim));
    let fits = |claim: &&Value| match (fit(claim), best) {
        (Some(fit), Some(best)) => fit >= CHOSEN * best,
        _ => true,
    };
    let ids = claims
        .into_iter()
        .filter(fits)
        .filter_map(|claim| claim.get("id").cloned());
    let chosen: Vec<Value> = ids.take(number(entry, "most", 3)).collect();
    Ok(Next::Answer(task.answered(Map::from_iter([(
        "chosen".to_owned(),
        chosen.into(),
    )]))))
}
