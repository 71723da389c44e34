//! `match`: the entry of a data file whose words fit what was collected best, or none: BM25 over descriptions and keywords.

use crate::fields::Kind;
use crate::task::{KitError, Scene, Task};
use crate::words::folds;
use serde_json::{Value, json};

/// A keyword counts so much more than a word of a description.
const KEYWORD: f64 = 3.0;
const NAME: f64 = 3.0;
/// The score of the best must reach this, and be so much more than the next one's.
const THRESHOLD: f64 = 1.6;
const MARGIN: f64 = 1.15;
/// BM25: how soon more of the same says nothing new, and how much a long text counts less.
const K: f64 = 1.2;
const B: f64 = 0.3;

/// What is chosen among: its words with their weights.
struct Entry<'a> {
    id: &'a str,
    /// Each term is one word or several.
    terms: Vec<(Vec<String>, f64)>,
}

pub(super) fn team(task: Task<'_>) -> Result<Value, KitError> {
    let scene = Scene::new(task);
    let data = task
        .data("among")
        .or_else(|| task.data("teams"))
        .and_then(Value::as_array)
        .ok_or_else(|| task.lacks("`among` must name a data file that is a list"))?;
    let entries: Vec<Entry<'_>> = data.iter().filter_map(entry).collect();
    let scores = scores(&entries, &said(&scene));
    let mut ranked: Vec<(f64, &str)> = scores
        .into_iter()
        .zip(entries.iter().map(|e| e.id))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best = ranked.first().copied().unwrap_or((0.0, ""));
    let next = ranked.get(1).map_or(0.0, |(score, _)| *score);
    let sure = best.0 >= THRESHOLD && best.0 >= next * MARGIN;
    let listed: Vec<String> = ranked
        .iter()
        .map(|(score, id)| format!("{id} {score:.2}"))
        .collect();
    let id = if sure {
        Value::from(best.1)
    } else {
        Value::Null
    };
    let confidence = (best.0 / (best.0 + next + 1.0) * 100.0).round() / 100.0;
    let answer = json!({
        "team_id": id,
        "confidence": confidence,
        "reasoning": format!("offline: {}", listed.join(", ")),
    });
    Ok(task.answered(answer.as_object().cloned().unwrap_or_default()))
}

fn entry(data: &Value) -> Option<Entry<'_>> {
    let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or("");
    let small = |w: &String| crate::language::is_small(w) || w.chars().count() < 3;
    let mut terms: Vec<(Vec<String>, f64)> = Vec::new();
    let mut add = |term: Vec<String>, weight: f64| {
        if !term.is_empty() && !terms.iter().any(|(t, _)| *t == term) {
            terms.push((term, weight));
        }
    };
    let keywords = data.get("keywords").and_then(Value::as_array);
    for keyword in keywords.into_iter().flatten().filter_map(Value::as_str) {
        add(folds(keyword), KEYWORD);
    }
    add(folds(text("name")), NAME);
    for word in folds(text("description")) {
        if !small(&word) {
            add(vec![word], 1.0);
        }
    }
    Some(Entry {
        id: data.get("id")?.as_str()?,
        terms,
    })
}

/// The words of what was collected, with how much they count: what is described most, names not at all.
fn said(scene: &Scene<'_>) -> Vec<(Vec<String>, f64)> {
    let free = crate::fields::free(&scene.fields);
    let texts = scene.fields.iter().enumerate().filter_map(|(at, field)| {
        let value = scene.collected.get(&field.name)?.as_str()?;
        let weight = match (field.kind, Some(at) == free) {
            (Kind::Text, true) => 1.0,
            (Kind::Text, false) if !field.is_short() => 0.4,
            _ => return None,
        };
        Some((folds(value), weight))
    });
    texts.collect()
}

fn scores(entries: &[Entry<'_>], said: &[(Vec<String>, f64)]) -> Vec<f64> {
    let count = |entry: &Entry<'_>| entry.terms.len() as f64;
    let average = entries.iter().map(count).sum::<f64>() / (entries.len().max(1) as f64);
    let found: Vec<Vec<(usize, f64)>> = entries
        .iter()
        .map(|entry| {
            let terms = entry.terms.iter().enumerate();
            terms
                .map(|(at, (term, _))| {
                    (
                        at,
                        said.iter().map(|(w, weight)| often(term, w) * weight).sum(),
                    )
                })
                .filter(|(_, often): &(usize, f64)| *often > 0.0)
                .collect()
        })
        .collect();
    entries
        .iter()
        .zip(&found)
        .map(|(entry, hits)| {
            let length = 1.0 - B + B * count(entry) / average.max(1.0);
            hits.iter()
                .filter_map(|(at, often)| Some((entry.terms.get(*at)?, *often)))
                .map(|((term, weight), often)| {
                    let rare = rarity(entries, term);
                    weight * rare * often * (K + 1.0) / (often + K * length)
                })
                .sum()
        })
        .collect()
}

/// The inverse of how many entries have a term.
fn rarity(entries: &[Entry<'_>], term: &[String]) -> f64 {
    let has = |e: &&Entry<'_>| {
        e.terms.iter().any(|(t, _)| {
            t.len() == term.len() && t.iter().zip(term).all(|(a, b)| stem(a, b) || a == b)
        })
    };
    let with = entries.iter().filter(has).count() as f64;
    let all = entries.len() as f64;
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// How often a term stands in a text.
fn often(term: &[String], words: &[String]) -> f64 {
    let at = |from: usize| {
        let here = crate::cut::between(words, from, from + term.len());
        here.len() == term.len() && here.iter().zip(term).all(|(w, t)| alike(w, t))
    };
    (0..words.len()).filter(|from| at(*from)).count() as f64
}

/// Whether a word of a text is a term but for its ending, or a compound with it, as in German.
fn alike(word: &str, term: &str) -> bool {
    // What stands last in a compound says what it is; what stands first must be longer to say anything.
    const LAST: usize = 5;
    const FIRST: usize = 6;
    if word == term {
        return true;
    }
    let letters = term.chars().count();
    let ends = letters >= LAST && {
        let bare = PLURALS.iter().find_map(|e| word.strip_suffix(e));
        word.ends_with(term) || bare.is_some_and(|b| b.ends_with(term))
    };
    ends || letters >= FIRST && word.starts_with(term) || stem(word, term)
}

/// Endings of plurals, which a short word may have too.
const PLURALS: [&str; 6] = ["s", "es", "n", "en", "e", "x"];
/// Other endings, of the four languages, in the order of nothing.
const ENDINGS: &str = include_str!("../../words/endings.txt");

/// Whether two words have the same beginning and differ by endings.
fn stem(a: &str, b: &str) -> bool {
    const SHORTEST: usize = 3;
    const STEM: usize = 5;
    let begins: usize = a
        .chars()
        .zip(b.chars())
        .take_while(|(x, y)| x == y)
        .map(|(x, _)| x.len_utf8())
        .sum();
    let (left, right) = (crate::cut::rest(a, begins), crate::cut::rest(b, begins));
    let plural = |one: &str, other: &str| one.is_empty() && PLURALS.contains(&other);
    if begins >= SHORTEST && (plural(left, right) || plural(right, left)) {
        return true;
    }
    // The stem may end before the first letter that differs: "automat|e", "automat|ion".
    (STEM..=begins).rev().any(|at| {
        let ends = |word: &str| {
            word.get(at..)
                .is_some_and(|end| end.is_empty() || ENDINGS.lines().any(|e| e == end))
        };
        a.is_char_boundary(at) && ends(a) && ends(b)
    })
}
