//! Finds node types by the words people use: labels, aliases, resources, operations, synonyms; forgives typos.
//! Owns scoring. Deterministic: the same query on the same facts gives the same list.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::synonyms::{SUPERSEDED, SYNONYMS};
use super::wire::TypeEntry;
use crate::workflow::short_type;

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
    "that", "some", "at", "com",
];
/// Say that a start is meant.
const STARTING: &[&str] = &[
    "trigger",
    "triggers",
    "triggered",
    "when",
    "whenever",
    "listen",
    "watch",
    "starts",
];

const BASE: &str = "n8n-nodes-base.";
const LANGCHAIN: &str = "@n8n/n8n-nodes-langchain.";
/// A hit below this says too little.
const LOWEST: f64 = 20.0;

/// The words of every type, ready to be matched.
pub struct Index {
    documents: Vec<Document>,
}

struct Document {
    node_type: String,
    label: String,
    is_trigger: bool,
    /// A trigger whose service has an action node too.
    has_action: bool,
    /// Added to every score: what nobody should choose first is below zero.
    bias: f64,
    /// The label's words that tell something.
    title: Vec<String>,
    /// The same glued together: "rocket chat" is "rocketchat".
    glued: String,
    /// The type name's words that tell something.
    name: Vec<String>,
    glued_name: String,
    aliases: Vec<(Vec<String>, String)>,
    doings: HashSet<String>,
    categories: HashSet<String>,
}

/// The words of a query with what each is worth.
struct Query<'a> {
    words: Vec<&'a str>,
    weights: Vec<f64>,
    total: f64,
    wants_trigger: bool,
}

impl Index {
    pub fn new(types: &[TypeEntry]) -> Self {
        let names: HashSet<&str> = types.iter().map(|entry| entry.name.as_str()).collect();
        let has_action = |entry: &TypeEntry| {
            let action = entry.name.strip_suffix("Trigger");
            action.is_some_and(|name| names.contains(name))
        };
        Index {
            documents: types
                .iter()
                .map(|entry| Document::new(entry, has_action(entry)))
                .collect(),
        }
    }

    pub fn search(&self, query: &str, limit: usize) -> Vec<SearchHit> {
        let all = words(query);
        let Some(query_words) = self.query(&all) else {
            return Vec::new();
        };
        let meant = meant_by_synonym(&query_words);
        let mut hits: Vec<(f64, &Document, String)> = self
            .documents
            .iter()
            .filter_map(|document| {
                let (score, why) = if document.node_type == query.trim() {
                    (120.0, "the full type name".to_owned())
                } else {
                    let synonym = meant.get(document.node_type.as_str());
                    document.best(&query_words, synonym)?
                };
                let score = score + document.bias + document.start_bias(&query_words);
                (score >= LOWEST).then_some((score, document, why))
            })
            .collect();
        hits.sort_by(|(a, x, _), (b, y, _)| {
            b.total_cmp(a)
                .then_with(|| x.label.len().cmp(&y.label.len()))
                .then_with(|| x.node_type.cmp(&y.node_type))
        });
        hits.into_iter()
            .take(limit)
            .map(|(score, document, why)| SearchHit {
                node_type: document.node_type.clone(),
                label: document.label.clone(),
                score: score.clamp(0.0, 100.0).round() as u8,
                why,
                is_trigger: document.is_trigger,
            })
            .collect()
    }

    /// None for a query without words.
    fn query<'a>(&self, all: &'a [String]) -> Option<Query<'a>> {
        let starting = |w: &&str| STARTING.contains(w);
        let asked: Vec<&str> = all.iter().map(String::as_str).collect();
        let wants_trigger = asked.iter().any(starting)
            || asked.first() == Some(&"new")
            || asked.get(..2) == Some(&["on", "new"]);
        let telling = |w: &&str| !STOP.contains(w) && !starting(w);
        let mut words: Vec<&str> = asked.iter().copied().filter(telling).collect();
        if words.is_empty() {
            words = asked;
        }
        // Rare words count more: "slack" says more than "message".
        let count = self.documents.len() as f64;
        let weights: Vec<f64> = words
            .iter()
            .map(|word| {
                let with = self.documents.iter().filter(|d| d.has(word)).count() as f64;
                (1.0 + count / (1.0 + with)).ln()
            })
            .collect();
        (!words.is_empty()).then(|| Query {
            total: weights.iter().sum(),
            words,
            weights,
            wants_trigger,
        })
    }
}

impl Query<'_> {
    /// How much of the query's worth a run of its words carries.
    fn share(&self, from: usize, count: usize) -> f64 {
        let sum: f64 = self.weights.iter().skip(from).take(count).sum();
        sum / self.total.max(f64::MIN_POSITIVE)
    }

    /// The share of the phrase if its words stand together in the query, in order.
    fn share_of(&self, phrase: &[String]) -> Option<f64> {
        if phrase.is_empty() {
            return None;
        }
        let at = self
            .words
            .windows(phrase.len())
            .position(|window| window.iter().zip(phrase).all(|(w, p)| stem(w) == stem(p)))?;
        Some(self.share(at, phrase.len()))
    }

    /// The same for a name whose words may be glued or parted: `rocketchat`, `rocket chat`.
    fn share_of_glued(&self, glued: &str) -> Option<f64> {
        (1..=3).find_map(|count| {
            let at = self
                .words
                .windows(count)
                .position(|window| stem(&window.concat()) == stem(glued))?;
            Some(self.share(at, count))
        })
    }
}

impl Document {
    fn new(entry: &TypeEntry, has_action: bool) -> Self {
        let short = short_type(&entry.name);
        let all = |list: &[String]| list.iter().flat_map(|text| words(text)).collect();
        let telling = |list: Vec<String>| {
            let idle = |w: &String| STOP.contains(&w.as_str()) || (entry.trigger && w == "trigger");
            if list.iter().all(idle) {
                return list;
            }
            list.into_iter().filter(|w| !idle(w)).collect()
        };
        let title: Vec<String> = telling(words(&entry.label));
        let name: Vec<String> = telling(type_words(short));
        let mut bias = 0.0;
        if entry.hidden || SUPERSEDED.contains(&entry.name.as_str()) {
            bias -= 15.0;
        }
        if entry.sub_node {
            bias -= 3.0;
        }
        if !entry.name.starts_with(BASE) && !entry.name.starts_with(LANGCHAIN) {
            bias -= 5.0;
        }
        Document {
            node_type: entry.name.clone(),
            label: entry.label.clone(),
            is_trigger: entry.trigger,
            has_action,
            bias,
            glued: title.concat(),
            title,
            glued_name: name.concat(),
            name,
            aliases: entry
                .aliases
                .iter()
                .map(|alias| (telling(words(alias)), alias.clone()))
                .collect(),
            doings: all(&entry.words),
            categories: all(&entry.categories),
        }
    }

    fn start_bias(&self, query: &Query<'_>) -> f64 {
        match (self.is_trigger, query.wants_trigger) {
            (true, true) => 4.0,
            (false, true) => -12.0,
            (true, false) if self.has_action => -9.0,
            (true, false) if self.node_type.ends_with("Trigger") => -5.0,
            (_, false) => 0.0,
        }
    }

    fn has(&self, word: &str) -> bool {
        let stem = stem(word);
        let hit = |w: &String| self::stem(w) == stem;
        self.title.iter().any(hit)
            || self.name.iter().any(hit)
            || self.glued == word
            || self.aliases.iter().any(|(ws, _)| ws.iter().any(hit))
            || self.doings.iter().any(hit)
    }

    fn best(
        &self,
        query: &Query<'_>,
        synonym: Option<&(f64, &'static str)>,
    ) -> Option<(f64, String)> {
        let mut best: Option<(f64, String)> = None;
        let mut offer = |score: f64, why: String| {
            if best.as_ref().is_none_or(|(s, _)| score > *s) {
                best = Some((score, why));
            }
        };
        let named = [
            query.share_of(&self.title),
            query.share_of_glued(&self.glued),
            query.share_of_glued(&self.glued_name),
            self.share_unordered(query),
        ];
        if let Some(share) = named.into_iter().flatten().max_by(f64::total_cmp) {
            offer(70.0 + 30.0 * share, format!("label \"{}\"", self.label));
        }
        if let Some((score, phrase)) = synonym {
            offer(*score, format!("\"{phrase}\" means {}", self.label));
        }
        for (alias, text) in &self.aliases {
            if let Some(share) = query.share_of(alias) {
                offer(50.0 + 30.0 * share, format!("alias \"{text}\""));
            }
        }
        let mut sum = 0.0;
        let mut matched = Vec::new();
        for (word, weight) in query.words.iter().zip(&query.weights) {
            let share = self.word_share(word);
            if share > 0.0 {
                matched.push(*word);
            }
            sum += share * weight;
        }
        if !matched.is_empty() {
            let covered = self
                .title
                .iter()
                .filter(|t| query.words.iter().any(|w| stem(w) == stem(t)))
                .count() as f64
                / self.title.len().max(1) as f64;
            offer(
                74.0 * sum / query.total.max(f64::MIN_POSITIVE) + 8.0 * covered,
                format!("matches {}", matched.join(", ")),
            );
        }
        best
    }

    /// All words of a longer label, in any order: "chat model openai".
    fn share_unordered(&self, query: &Query<'_>) -> Option<f64> {
        if self.title.len() < 2 {
            return None;
        }
        let mut share = 0.0;
        for part in &self.title {
            let at = query.words.iter().position(|w| stem(w) == stem(part))?;
            share += query.share(at, 1);
        }
        Some(share * 0.97)
    }

    /// How well one word of the query fits, 0 to 1.
    fn word_share(&self, word: &str) -> f64 {
        let wanted = stem(word);
        let exact = |list: &[String]| list.iter().any(|w| stem(w) == wanted);
        if exact(&self.title) || exact(&self.name) || self.glued == word || self.glued_name == word
        {
            return 1.0;
        }
        if self.aliases.iter().any(|(words, _)| exact(words)) {
            return 0.8;
        }
        let named = || self.title.iter().chain(&self.name);
        if word.len() >= 3 && named().any(|w| w.starts_with(word)) {
            return 0.75;
        }
        if named().any(|w| near(w, word)) || near(&self.glued, word) {
            return 0.7;
        }
        if self.doings.iter().any(|w| stem(w) == wanted) {
            return 0.5;
        }
        if self.categories.iter().any(|w| stem(w) == wanted) {
            return 0.35;
        }
        0.0
    }
}

/// Types named by a phrase of the synonym table within the query: score and phrase.
fn meant_by_synonym(query: &Query<'_>) -> HashMap<String, (f64, &'static str)> {
    let mut meant: HashMap<String, (f64, &'static str)> = HashMap::new();
    for (phrase, targets) in SYNONYMS {
        let parts: Vec<String> = phrase
            .split(' ')
            .filter(|part| !STOP.contains(part))
            .map(str::to_owned)
            .collect();
        let Some(share) = query.share_of(&parts) else {
            continue;
        };
        for (rank, target) in targets.iter().enumerate() {
            let name = match target.strip_prefix('@') {
                Some(name) => format!("{LANGCHAIN}{name}"),
                None => format!("{BASE}{target}"),
            };
            let score = 64.0 + 32.0 * share + parts.len() as f64 - 3.0 * rank as f64;
            let slot = meant.entry(name).or_insert((0.0, phrase));
            if score > slot.0 {
                *slot = (score, phrase);
            }
        }
    }
    meant
}

/// The types, without their package, that the words name by a phrase of the synonym table.
pub fn meant_types(words: &[String]) -> HashSet<&'static str> {
    let here = |phrase: &str| {
        let parts: Vec<&str> = phrase.split(' ').collect();
        let same = |window: &[String]| window.iter().zip(&parts).all(|(w, p)| stem(w) == stem(p));
        words.windows(parts.len()).any(same)
    };
    let meant = SYNONYMS.iter().filter(|(phrase, _)| here(phrase));
    meant
        .flat_map(|(_, targets)| *targets)
        .map(|target| target.trim_start_matches('@'))
        .collect()
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

/// Plural and singular are one word.
fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(one) if one.len() >= 3 && !one.ends_with(['s', 'u', 'i']) => one,
        _ => word,
    }
}

/// Lower-case words of letters and digits.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The words of a type name: `googleSheets` has two, `awsS3` too.
pub fn type_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            after_lower = false;
            words.push(String::new());
            continue;
        }
        match words.last_mut() {
            Some(word) if !(c.is_uppercase() && after_lower) => word.extend(c.to_lowercase()),
            _ => words.push(c.to_lowercase().collect()),
        }
        after_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
