//! What the words of a text mean, by the pack's own list: a concept, and the words and phrases that name it in any language.

use crate::words::{Text, fold};
use serde_json::Value;

/// A concept and the patterns of words that name it.
#[derive(Debug, Clone)]
struct Concept {
    name: String,
    patterns: Vec<Vec<Pattern>>,
}

#[derive(Debug, Clone)]
enum Pattern {
    Is(String),
    Begins(String),
    Ends(String),
}

impl Pattern {
    fn of(word: &str) -> Pattern {
        let folded = fold(word.trim_matches('*'));
        match (word.starts_with('*'), word.ends_with('*')) {
            (true, _) => Pattern::Ends(folded),
            (_, true) => Pattern::Begins(folded),
            _ => Pattern::Is(folded),
        }
    }

    fn fits(&self, word: &str) -> bool {
        match self {
            Pattern::Is(of) => word == of,
            Pattern::Begins(of) => word.starts_with(of.as_str()),
            Pattern::Ends(of) => word.ends_with(of.as_str()),
        }
    }
}

/// Where a concept stands in a text, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub concept: String,
    pub from: usize,
    pub to: usize,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Lexicon(Vec<Concept>);

impl Lexicon {
    /// `{concept: [word or phrase, …]}`; a `*` stands for any beginning or ending.
    pub fn of(written: Option<&Value>) -> Lexicon {
        let map = written.and_then(Value::as_object);
        let concepts = map.into_iter().flatten().map(|(name, phrases)| {
            let phrases = phrases.as_array().into_iter().flatten();
            let phrases = phrases.filter_map(Value::as_str);
            Concept {
                name: name.clone(),
                patterns: phrases
                    .map(|p| p.split_whitespace().map(Pattern::of).collect())
                    .collect(),
            }
        });
        Lexicon(concepts.collect())
    }

    /// Every place where a concept is named, in the order of the text; of one concept the longest at a place.
    pub fn hits(&self, text: &str) -> Vec<Hit> {
        let read = Text::new(text);
        let words: Vec<&str> = read.words.iter().map(|w| w.fold.as_str()).collect();
        let mut hits = Vec::new();
        for at in 0..words.len() {
            let rest = words.get(at..).unwrap_or_default();
            for concept in &self.0 {
                let fitting = concept.patterns.iter().filter(|p| {
                    !p.is_empty()
                        && p.len() <= rest.len()
                        && p.iter().zip(rest).all(|(p, w)| p.fits(w))
                });
                if let Some(longest) = fitting.map(Vec::len).max() {
                    hits.push(Hit {
                        concept: concept.name.clone(),
                        from: at,
                        to: at + longest,
                    });
                }
            }
        }
        hits
    }

    pub fn has(&self, text: &str, concept: &str) -> bool {
        self.hits(text).iter().any(|hit| hit.concept == concept)
    }

    /// The first value that is named, in the order of the list.
    pub fn first(&self, text: &str) -> Option<String> {
        let all: Vec<&str> = self.0.iter().map(|concept| concept.name.as_str()).collect();
        self.first_of(text, &all)
    }

    /// The same of these values alone.
    pub fn first_of(&self, text: &str, values: &[&str]) -> Option<String> {
        let hits = self.hits(text);
        let known = self
            .0
            .iter()
            .filter(|concept| values.contains(&concept.name.as_str()));
        let mut named = known.filter(|c| hits.iter().any(|hit| hit.concept == c.name));
        named.next().map(|concept| concept.name.clone())
    }
}
