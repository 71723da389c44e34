//! Functions over documents: search, reading one, and checking claims against all of them.

use super::Answered;
use super::documents::Documents;
use crate::web;
use agentctl_evidence::{Checked, Corpus, Verdict};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Results of a search, unless the call says how many; and at most.
const USUAL: u64 = 12;
const MOST: u64 = 60;
/// Claims of one call, at most.
const MAX_CLAIMS: usize = 120;
/// Sentences that a question puts in order, at most.
const RANKED: usize = 1000;
/// Sentences that are looked at for who says a claim that names no source.
const SEARCHED: usize = 12;
/// Why a claim has no verdict where none was wanted.
const NOT_CHECKED: &str = "it was not held against other sources";
/// Why a claim is refused.
const NOT_SAID: &str = "its own source does not say it";

pub(super) fn search(args: &Map<String, Value>, documents: &Documents) -> Answered {
    let query = args
        .get("query")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let limit = args
        .get("limit")
        .and_then(Value::as_u64)
        .unwrap_or(USUAL)
        .clamp(1, MOST);
    let limit = usize::try_from(limit).unwrap_or_default();
    let found = documents.corpus.search(query, limit);
    let results: Vec<Value> = found.iter().map(web::told).collect();
    let ids: Vec<&str> = found.iter().map(|passage| passage.id.as_str()).collect();
    let mut answer = Map::new();
    answer.insert("results".into(), results.into());
    answer.insert("ids".into(), ids.into());
    if !documents.unread.is_empty() {
        answer.insert("unread".into(), documents.unread().into());
    }
    Ok(answer.into())
}

pub(super) fn read(args: &Map<String, Value>, documents: &Documents) -> Answered {
    let doc = args.get("doc").and_then(Value::as_str).unwrap_or_default();
    let all = documents.corpus.documents();
    let named = |doc: &str| all.iter().find(|document| document.doc == doc);
    // A file is named without its ending, where no other one has its name.
    let found = named(doc).or_else(|| named(doc.rsplit_once('.')?.0));
    let Some(document) = found else {
        if let Some((_, why)) = documents.unread.iter().find(|(file, _)| file == doc) {
            return Err((
                format!("{doc} was not read: {why}"),
                "say that it cannot be read",
            ));
        }
        return Err((
            format!("there is no document {doc:?}"),
            "search first, and take a doc of the results",
        ));
    };
    Ok(
        json!({"doc": document.doc, "title": document.title, "source": document.source, "date": document.date, "text": document.text}),
    )
}

pub(super) fn check(args: &Map<String, Value>, documents: &Documents) -> Answered {
    let claims = args
        .get("claims")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    if claims.len() > MAX_CLAIMS {
        return Err((
            format!("{} claims are more than {MAX_CLAIMS}", claims.len()),
            "check them in several calls",
        ));
    }
    let corpus = &documents.corpus;
    let verdicts = args.get("verdicts").and_then(Value::as_bool) != Some(false);
    let (mut checked, mut unfounded, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let mut founded = Vec::new();
    // What stands in `checked`, with its verdict.
    let mut told: Vec<(&str, Checked)> = Vec::new();
    for claim in claims {
        let text = |key: &str| claim.get(key).and_then(Value::as_str).unwrap_or_default();
        let sources = sources(corpus, claim);
        match corpus.check(text("text"), &sources) {
            Some(_) if !corpus.says(text("text"), &sources) => {
                refused.push(json!({"id": text("id"), "why": NOT_SAID, "sources": sources}));
            }
            Some(mut found) => {
                founded.push(claim);
                if !verdicts {
                    found.verdict = Verdict::Unverified;
                    found.why = NOT_CHECKED.to_owned();
                    found.sources.retain(|source| source.says == "claims");
                }
                if !repeats(corpus, text("text"), &sources, &found, &told) {
                    told.push((text("text"), found.clone()));
                    checked.push(verdict(text("id"), text("text"), &found));
                }
            }
            // Somebody's own claim, which no document says: what they say instead.
            None => match (verdicts && names_none(claim))
                .then(|| corpus.held(text("text")))
                .flatten()
            {
                Some(held) => checked.push(verdict(text("id"), text("text"), &held)),
                None => unfounded.push(Value::from(text("id"))),
            },
        }
    }
    let rivals = verdicts.then(|| rivals(corpus, &founded));
    for (id, quote) in rivals.into_iter().flatten() {
        if let Some(found) = corpus.check(&quote, std::slice::from_ref(&id))
            && found.verdict == Verdict::Contradicted
        {
            checked.push(verdict(&id, &quote, &found));
        }
    }
    let question = args.get("question").and_then(Value::as_str);
    if let Some(question) = question.filter(|question| !question.trim().is_empty()) {
        by_question(&mut checked, corpus, question);
    }
    Ok(json!({"checked": checked, "without_source": unfounded, "refused": refused}))
}

/// Puts first what answers the question best, and says in `fit` how well, of 1: as a search for it finds the claim's own sentences.
fn by_question(checked: &mut [Value], corpus: &Corpus, question: &str) {
    let found = corpus.search(question, RANKED);
    let best = found.first().map_or(0.0, |passage| passage.score);
    let scores: BTreeMap<&str, f64> = found
        .iter()
        .map(|passage| (passage.id.as_str(), passage.score))
        .collect();
    let fit = |claim: &Value| {
        let sources = claim.get("sources").and_then(Value::as_array);
        let own = sources.into_iter().flatten().filter(|source| {
            let says = source.get("says").and_then(Value::as_str);
            matches!(says, Some("claims" | "same"))
        });
        let ids = own.filter_map(|source| source.get("id")?.as_str());
        let scores = ids.filter_map(|id| scores.get(id));
        scores.copied().fold(0.0, f64::max) / best.max(f64::MIN_POSITIVE)
    };
    for claim in checked.iter_mut() {
        let fit = (fit(claim) * 100.0).round() / 100.0;
        if let Value::Object(map) = claim {
            map.insert("fit".into(), fit.into());
        }
    }
    let fit = |claim: &Value| claim.get("fit").and_then(Value::as_f64).unwrap_or_default();
    checked.sort_by(|a, b| fit(b).total_cmp(&fit(a)));
}

/// What others say otherwise of the things that the claims are about, and no claim says yet: ids and sentences.
fn rivals(corpus: &Corpus, claims: &[&Value]) -> BTreeMap<String, String> {
    let (mut found, mut known) = (BTreeMap::new(), BTreeSet::new());
    for claim in claims {
        let sources = sources(corpus, claim);
        let text = claim
            .get("text")
            .and_then(Value::as_str)
            .unwrap_or_default();
        for id in corpus.rivals(text, &sources) {
            if let Some(quote) = corpus.quote(&id) {
                found.insert(id, quote);
            }
        }
        known.extend(sources);
    }
    found.retain(|id, _| !known.contains(id));
    found
}

/// Whether a claim names no sentence that it is taken from.
fn names_none(claim: &Value) -> bool {
    let named = claim.get("sources").and_then(Value::as_array);
    named.is_none_or(Vec::is_empty)
}

/// The sentences that a claim is taken from. One that names none is taken from where it is said.
fn sources(corpus: &Corpus, claim: &Value) -> Vec<String> {
    let named = claim.get("sources").and_then(Value::as_array);
    let named: Vec<String> = named
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    if !named.is_empty() {
        return named;
    }
    let text = claim
        .get("text")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let found = corpus.search(text, SEARCHED).into_iter();
    let mut ids = found.map(|passage| passage.id);
    let said = ids.find(|id| corpus.says(text, std::slice::from_ref(id)));
    said.into_iter().collect()
}

/// Whether a claim only says again what another one says, that quotes it already.
fn repeats(
    corpus: &Corpus,
    text: &str,
    sources: &[String],
    found: &Checked,
    told: &[(&str, Checked)],
) -> bool {
    let quotes = |other: &Checked| {
        sources
            .iter()
            .all(|id| other.sources.iter().any(|source| source.id == *id))
    };
    found.verdict == Verdict::Supported
        && told.iter().any(|(other, checked)| {
            checked.verdict == Verdict::Supported
                && quotes(checked)
                && !corpus.says_more(text, other)
        })
}

fn verdict(id: &str, text: &str, checked: &Checked) -> Value {
    let sources = checked.sources.iter().map(|source| {
        let mut told = json!({"id": source.id, "doc": source.doc, "title": source.title, "source": source.source, "quote": source.quote, "says": source.says});
        if let (Some(address), Value::Object(map)) = (web::address(&source.doc), &mut told) {
            map.insert("url".into(), address.into());
        }
        told
    });
    json!({"id": id, "text": text, "verdict": checked.verdict.name(), "why": checked.why, "sources": sources.collect::<Vec<_>>()})
}
