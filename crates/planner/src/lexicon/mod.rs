//! The words of a request: services, verbs, nouns, keywords in English, German, Spanish and French. Tables are data
//! (`*.tsv`); this module loads them once and compiles the patterns that use them. It knows no request and no plan.

use agentctl_base::lazy_regex::Pattern;
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex},
};

/// A service that people name, with the node names that stand for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceEntry {
    pub key: String,
    pub label: String,
    /// Full node types, best first; empty when only a trigger exists.
    pub actions: Vec<String>,
    pub triggers: Vec<String>,
    pub tags: Vec<String>,
    pub aliases: Vec<Alias>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    pub text: String,
    /// An ordinary word: only a capitalised use names the service.
    pub capitalised: bool,
}

impl ServiceEntry {
    pub fn is(&self, tag: &str) -> bool {
        self.tags.iter().any(|t| t == tag)
    }
    /// Whether it has one of the tags.
    pub fn is_any(&self, tags: &[&str]) -> bool {
        tags.iter().any(|t| self.is(t))
    }
    /// Whether a node of it, acting or starting, is of this type.
    pub(crate) fn has_node(&self, node_type: &str) -> bool {
        let mut all = self.actions.iter().chain(&self.triggers);
        all.any(|own| own == node_type)
    }
    /// Whether it carries messages to people: a chat, mail, text messages.
    pub fn speaks(&self) -> bool {
        self.is_any(&["chat", "mail", "sms"])
    }
}

/// What a word does as a verb.
#[derive(Debug, Clone, PartialEq)]
pub struct VerbEntry {
    pub verb: String,
    pub object: Option<String>,
    pub service: Option<String>,
    /// `action`, `read`, `neutral`.
    pub role: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NounEntry {
    pub canonical: String,
    pub service: Option<String>,
}

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
        .map(|l| l.split('\t').collect())
}

fn opt(text: &str) -> Option<String> {
    (!text.is_empty() && text != "-").then(|| text.to_owned())
}

fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', '|'])
        .map(str::trim)
        .filter(|s| !s.is_empty())
}

fn node_type(name: &str) -> String {
    match name.strip_prefix("lc:") {
        Some(rest) => format!("@n8n/n8n-nodes-langchain.{rest}"),
        None => format!("n8n-nodes-base.{name}"),
    }
}

static SERVICES: LazyLock<Vec<ServiceEntry>> = LazyLock::new(|| {
    rows(include_str!("services.tsv"))
        .filter_map(|r| match r.as_slice() {
            [key, label, actions, triggers, tags, aliases, ..] => {
                let tags: Vec<String> = list(tags).map(str::to_owned).collect();
                let wordy = tags.iter().any(|t| t == "word");
                Some(ServiceEntry {
                    key: (*key).to_owned(),
                    label: (*label).to_owned(),
                    actions: list(actions).map(node_type).collect(),
                    triggers: list(triggers).map(node_type).collect(),
                    aliases: aliases
                        .split('|')
                        .filter(|a| !a.is_empty())
                        .map(|a| Alias {
                            text: a.trim_start_matches('^').to_owned(),
                            capitalised: a.starts_with('^') || wordy && !a.contains(' '),
                        })
                        .collect(),
                    tags,
                })
            }
            _ => None,
        })
        .collect()
});

static VERBS: LazyLock<HashMap<String, VerbEntry>> = LazyLock::new(|| {
    let mut map = HashMap::new();
    for r in rows(include_str!("verbs.tsv")) {
        if let [verb, object, service, role, forms, ..] = r.as_slice() {
            for form in forms.split_whitespace() {
                map.entry(form.to_owned()).or_insert_with(|| VerbEntry {
                    verb: (*verb).to_owned(),
                    object: opt(object),
                    service: opt(service),
                    role: (*role).to_owned(),
                });
            }
        }
    }
    map
});

static NOUNS: LazyLock<HashMap<String, NounEntry>> = LazyLock::new(|| {
    let mut map = HashMap::new();
    for r in rows(include_str!("nouns.tsv")) {
        if let [canonical, forms, service, ..] = r.as_slice() {
            for form in forms.split_whitespace() {
                map.entry(form.to_owned()).or_insert_with(|| NounEntry {
                    canonical: (*canonical).to_owned(),
                    service: opt(service),
                });
            }
        }
    }
    map
});

static TYPOS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    rows(include_str!("typos.tsv"))
        .filter_map(|r| match r.as_slice() {
            [wrong, right, ..] => Some((*wrong, *right)),
            _ => None,
        })
        .collect()
});

static WORDS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    rows(include_str!("words.tsv"))
        .filter_map(|r| match r.as_slice() {
            [name, alternatives, ..] => Some((*name, *alternatives)),
            _ => None,
        })
        .collect()
});

pub fn services() -> &'static [ServiceEntry] {
    &SERVICES
}

/// The services one of whose acting nodes is such a type.
pub(crate) fn acting(is: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static ServiceEntry> {
    services()
        .iter()
        .filter(move |s| s.actions.iter().any(|t| is(t)))
}

pub fn service(key: &str) -> Option<&'static ServiceEntry> {
    SERVICES.iter().find(|s| s.key == key)
}

/// A verb form, also with pronouns hung on (`envíalas`, `mándamelo`, `envoie-moi`).
pub fn verb(word: &str) -> Option<&'static VerbEntry> {
    if let Some(found) = VERBS.get(word) {
        return Some(found);
    }
    if let Some((stem, "moi" | "le" | "la" | "les" | "lui" | "leur" | "nous" | "toi")) =
        word.split_once('-')
    {
        return VERBS.get(stem);
    }
    const PRONOUNS: [&str; 16] = [
        "noslo", "melos", "melas", "selos", "selas", "melo", "mela", "selo", "sela", "los", "las",
        "les", "nos", "lo", "la", "le",
    ];
    PRONOUNS
        .iter()
        .chain(["me"].iter())
        .filter_map(|p| word.strip_suffix(p))
        .filter(|stem| stem.chars().count() >= 4 && stem.chars().any(|c| "áéíóú".contains(c)))
        .find_map(|stem| {
            let folded: String = stem
                .chars()
                .map(|c| match c {
                    'á' => 'a',
                    'é' => 'e',
                    'í' => 'i',
                    'ó' => 'o',
                    'ú' => 'u',
                    other => other,
                })
                .collect();
            VERBS.get(stem).or_else(|| VERBS.get(&folded))
        })
}

/// A noun, also in the German dative plural (`Kontakten`).
pub fn noun(word: &str) -> Option<&'static NounEntry> {
    NOUNS.get(word).or_else(|| {
        word.strip_suffix('n')
            .filter(|stem| stem.chars().count() >= 6 && stem.ends_with('e'))
            .and_then(|stem| NOUNS.get(stem))
    })
}

pub fn typo(word: &str) -> Option<&'static str> {
    TYPOS.get(word).copied()
}

/// Puts the word lists into a pattern: `{if}` becomes the alternatives of `if` in all languages.
pub fn expand(pattern: &str) -> String {
    let mut out = pattern.to_owned();
    for (name, alternatives) in WORDS.iter() {
        let hole = format!("{{{name}}}");
        if out.contains(&hole) {
            out = out.replace(&hole, &format!("(?:{alternatives})"));
        }
    }
    out
}

/// A pattern with its word lists put in, kept for the next use.
pub fn rx(pattern: &str) -> Arc<Pattern> {
    static CACHE: LazyLock<Mutex<HashMap<String, Arc<Pattern>>>> =
        LazyLock::new(|| Mutex::new(HashMap::new()));
    let mut cache = match CACHE.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    };
    if let Some(found) = cache.get(pattern) {
        return found.clone();
    }
    let made = Arc::new(Pattern::new(&expand(pattern)));
    cache.insert(pattern.to_owned(), made.clone());
    made
}

/// The IANA zone of a zone that is named in words after a clock time or as such (`UTC`, `Berlin time`).
pub fn timezone(text: &str) -> Option<String> {
    rows(include_str!("timezones.tsv")).find_map(|r| match r.as_slice() {
        [words, zone, ..] => has(
            &format!(r"(?:\d|\buhr|\b[ap]m|\(|,|\bin|\bzone|\b)\s*\b(?:{words})\b"),
            // Short zone names are words in other languages ("et", "est", "pt"): only after a figure.
            &if words.contains("|et")
                || words.contains("|est")
                || words.contains("|pt")
                || words.contains("|ist")
            {
                shortened(text)
            } else {
                text.to_owned()
            },
        )
        .then(|| (*zone).to_owned()),
        _ => None,
    })
}

/// First letter upper case.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(c) => c.to_uppercase().collect::<String>() + chars.as_str(),
        None => String::new(),
    }
}

/// Upper-case zone names keep, the same letters in lower case do not count.
fn shortened(text: &str) -> String {
    text.split_whitespace()
        .filter(|w| {
            let letters = w.trim_matches(|c: char| !c.is_alphanumeric());
            letters.chars().count() > 4
                || letters.chars().all(|c| c.is_uppercase() || c.is_numeric())
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// True if the pattern occurs.
pub fn has(pattern: &str, text: &str) -> bool {
    rx(pattern).is_match(text)
}

/// The first group of the first match (or the whole match when the pattern has no group).
pub fn first<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    let caps = rx(pattern).captures(text)?;
    let found = (1..caps.groups())
        .find_map(|i| caps.get(i))
        .or(caps.get(0))?;
    Some(found.as_str())
}

#[cfg(test)]
#[path = "lexicon_tests.rs"]
mod lexicon_tests;
