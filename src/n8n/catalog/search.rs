//! Finds node types by the words people use: labels, aliases, resources, operations, synonyms; forgives typos.
//! Owns scoring. Deterministic: the same query on the same facts gives the same list.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::synonyms::{SUPERSEDED, SYNONYMS};
use super::wire::TypeEntry;

/// A node type that a query may mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    pub node_type: String,
    pub label: String,
    /// 0 to 100.
    pub score: u8,
    /// What matched, e.g. `label "Slack"`.
    pub why: String,
    pub is_trigger: bool,
}

/// Say nothing about the node.
const STOP: &[&str] = &[
    "a", "an", "the", "to", "from", "in", "into", "on", "of", "for", "with", "and", "or", "my",
    "our", "by", "via", "using", "use", "node", "nodes", "n8n", "please", "is", "it", "this",
    "that", "some",
];
/// Say that a start is meant.
const STARTING: &[&str] = &[
    "trigger", "triggers", "when", "whenever", "listen", "watch", "starts", "start", "new",
];

const BASE: &str = "n8n-nodes-base.";
const LANGCHAIN: &str = "@n8n/n8n-nodes-langchain.";

pub fn search(types: &[TypeEntry], query: &str, limit: usize) -> Vec<SearchHit> {
    let words: Vec<String> = tokens(query);
    let asked: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|w| !STOP.contains(w))
        .collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let wants_trigger = asked.iter().any(|w| STARTING.contains(w));
    let subject: Vec<&str> = asked
        .iter()
        .copied()
        .filter(|w| !STARTING.contains(w))
        .collect();
    let subject = if subject.is_empty() { asked } else { subject };
    let documents: Vec<Document> = types.iter().map(Document::new).collect();
    let weights = weights(&documents, &subject);
    let meant = meant_by_synonym(&words);
    let full_name = query.trim();
    let mut hits: Vec<(f64, SearchHit)> = types
        .iter()
        .zip(&documents)
        .filter_map(|(entry, document)| {
            let (mut score, why) = if entry.name == full_name {
                (100.0, "the full type name".to_owned())
            } else {
                best(document, &subject, &weights, meant.get(entry.name.as_str()))?
            };
            if entry.trigger == wants_trigger {
                score += 2.0;
            } else if wants_trigger {
                score -= 6.0;
            } else {
                score -= 4.0;
            }
            if entry.hidden || SUPERSEDED.contains(&entry.name.as_str()) {
                score -= 15.0;
            }
            if entry.sub_node {
                score -= 3.0;
            }
            if !entry.name.starts_with(BASE) && !entry.name.starts_with(LANGCHAIN) {
                score -= 5.0;
            }
            (score >= 20.0).then(|| {
                let hit = SearchHit {
                    node_type: entry.name.clone(),
                    label: entry.label.clone(),
                    score: score.clamp(0.0, 100.0).round() as u8,
                    why,
                    is_trigger: entry.trigger,
                };
                (score, hit)
            })
        })
        .collect();
    hits.sort_by(|(a, x), (b, y)| {
        b.total_cmp(a)
            .then_with(|| x.label.len().cmp(&y.label.len()))
            .then_with(|| x.node_type.cmp(&y.node_type))
    });
    hits.into_iter().take(limit).map(|(_, hit)| hit).collect()
}

/// The words of one type.
struct Document {
    label: String,
    name: Vec<String>,
    title: Vec<String>,
    aliases: Vec<(Vec<String>, String)>,
    doings: HashSet<String>,
    categories: HashSet<String>,
}

impl Document {
    fn new(entry: &TypeEntry) -> Self {
        let short = entry.name.rsplit('.').next().unwrap_or(&entry.name);
        let all = |list: &[String]| list.iter().flat_map(|text| tokens(text)).collect();
        Document {
            label: entry.label.clone(),
            name: tokens(short),
            title: tokens(&entry.label),
            aliases: entry
                .aliases
                .iter()
                .map(|alias| (tokens(alias), alias.clone()))
                .collect(),
            doings: all(&entry.words),
            categories: all(&entry.categories),
        }
    }

    fn has(&self, word: &str) -> bool {
        let stem = stem(word);
        let hit = |w: &String| self::stem(w) == stem;
        self.title.iter().any(hit)
            || self.name.iter().any(hit)
            || self.aliases.iter().any(|(ws, _)| ws.iter().any(hit))
            || self.doings.iter().any(hit)
    }
}

/// Rare words count more: "slack" says more than "message".
fn weights(documents: &[Document], words: &[&str]) -> Vec<f64> {
    let all = documents.len() as f64;
    words
        .iter()
        .map(|word| {
            let with = documents.iter().filter(|d| d.has(word)).count() as f64;
            (1.0 + all / (1.0 + with)).ln()
        })
        .collect()
}

/// Types named by a phrase of the synonym table within the query: score and phrase.
fn meant_by_synonym(words: &[String]) -> HashMap<String, (f64, &'static str)> {
    let mut meant: HashMap<String, (f64, &'static str)> = HashMap::new();
    for (phrase, targets) in SYNONYMS {
        let parts: Vec<&str> = phrase.split(' ').collect();
        let found = words
            .windows(parts.len())
            .any(|window| window.iter().zip(&parts).all(|(word, part)| word == part));
        if !found {
            continue;
        }
        let share = parts.len() as f64 / words.len().max(1) as f64;
        for (rank, target) in targets.iter().enumerate() {
            let name = match target.strip_prefix('@') {
                Some(name) => format!("{LANGCHAIN}{name}"),
                None => format!("{BASE}{target}"),
            };
            let score = 76.0 + 18.0 * share + parts.len() as f64 - 3.0 * rank as f64;
            let slot = meant.entry(name).or_insert((0.0, phrase));
            if score > slot.0 {
                *slot = (score, phrase);
            }
        }
    }
    meant
}

fn best(
    document: &Document,
    words: &[&str],
    weights: &[f64],
    synonym: Option<&(f64, &'static str)>,
) -> Option<(f64, String)> {
    let mut best: Option<(f64, String)> = None;
    let mut offer = |score: f64, why: String| {
        if best.as_ref().is_none_or(|(s, _)| score > *s) {
            best = Some((score, why));
        }
    };
    let label = || format!("label \"{}\"", document.label);
    let joined = words.concat();
    if joined == document.title.concat() || joined == document.name.concat() {
        offer(98.0, label());
    } else if contains(words, &document.title) {
        let share = document.title.len() as f64 / words.len() as f64;
        offer(72.0 + 22.0 * share, label());
    }
    if let Some((score, phrase)) = synonym {
        offer(*score, format!("\"{phrase}\" means {}", document.label));
    }
    for (alias, text) in &document.aliases {
        if !alias.is_empty() && contains(words, alias) {
            let share = alias.len() as f64 / words.len() as f64;
            offer(58.0 + 22.0 * share, format!("alias \"{text}\""));
        }
    }
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let mut matched = Vec::new();
    for (word, weight) in words.iter().zip(weights) {
        let share = word_share(document, word);
        if share > 0.0 {
            matched.push(*word);
        }
        sum += share * weight;
    }
    if !matched.is_empty() && total > 0.0 {
        let covered = document
            .title
            .iter()
            .filter(|t| words.iter().any(|w| stem(w) == stem(t)))
            .count() as f64
            / document.title.len().max(1) as f64;
        offer(
            74.0 * sum / total + 8.0 * covered,
            format!("matches {}", matched.join(", ")),
        );
    }
    best
}

/// How well one word of the query fits, 0 to 1.
fn word_share(document: &Document, word: &str) -> f64 {
    let wanted = stem(word);
    let exact = |list: &[String]| list.iter().any(|w| stem(w) == wanted);
    if exact(&document.title) || exact(&document.name) {
        return 1.0;
    }
    if document.aliases.iter().any(|(words, _)| exact(words)) {
        return 0.8;
    }
    let named = || document.title.iter().chain(&document.name);
    if word.len() >= 3 && named().any(|w| w.starts_with(word)) {
        return 0.75;
    }
    let title = document.title.concat();
    if word.len() >= 4 && (title == word || document.name.concat() == word) {
        return 1.0;
    }
    if named().any(|w| near(w, word)) || near(&title, word) {
        return 0.7;
    }
    if document.doings.iter().any(|w| stem(w) == wanted) {
        return 0.5;
    }
    if document.categories.iter().any(|w| stem(w) == wanted) {
        return 0.35;
    }
    0.0
}

/// A typo apart: one in a word of four to seven letters, two in a longer one.
fn near(a: &str, b: &str) -> bool {
    let length = a.chars().count().min(b.chars().count());
    let allowed = match length {
        0..4 => return false,
        4..8 => 1,
        _ => 2,
    };
    a.chars().next() == b.chars().next() && strsim::osa_distance(a, b) <= allowed
}

/// The phrase stands in the words, in order and together.
fn contains(words: &[&str], phrase: &[String]) -> bool {
    !phrase.is_empty()
        && words.len() >= phrase.len()
        && words.windows(phrase.len()).any(|window| {
            window
                .iter()
                .zip(phrase)
                .all(|(word, part)| stem(word) == stem(part))
        })
}

/// Plural and singular are one word.
fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(one) if one.len() >= 3 && !one.ends_with(['s', 'u', 'i']) => one,
        _ => word,
    }
}

/// Lower-case words; a capital inside a word starts a new one (`googleSheets`), a digit does not.
fn tokens(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut last_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            last_lower = false;
            continue;
        }
        if c.is_uppercase() && last_lower && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        last_lower = c.is_lowercase();
        word.extend(c.to_lowercase());
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
