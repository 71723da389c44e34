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

    /// The letters that are written out, and whether a word may go on after them.
    fn stem(&self) -> Option<(&str, bool)> {
        match self {
            Pattern::Is(of) => Some((of, false)),
            Pattern::Begins(of) => Some((of, true)),
            Pattern::Ends(_) => None,
        }
    }

    /// The word as it was meant, where one slip of the fingers lies between.
    fn meant(&self, word: &str) -> Option<String> {
        let (stem, goes_on) = self.stem()?;
        let letters = stem.chars().count();
        let same = |part: &str| {
            let swapped = letters >= 3 && sorted(part) == sorted(stem);
            let slips = match letters {
                0..=4 => 0,
                5..=6 => 1,
                _ => 2,
            };
            part.chars().next() == stem.chars().next()
                && (strsim::osa_distance(part, stem) <= slips
                    || swapped && strsim::osa_distance(part, stem) == 1)
        };
        if !goes_on {
            return same(word).then(|| stem.to_owned());
        }
        let ends = [letters.saturating_sub(1), letters, letters + 1];
        let cuts = ends.iter().filter_map(|n| {
            let at = word.char_indices().map(|(at, _)| at).nth(*n);
            word.split_at_checked(at.unwrap_or(word.len()))
        });
        let mut fitting = cuts.filter(|(part, _)| letters >= 5 && same(part));
        fitting.next().map(|(_, rest)| format!("{stem}{rest}"))
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

    /// The text with words of these concepts put right that were mistyped; None: none was.
    pub fn mended(&self, text: &str, concepts: &[&str]) -> Option<String> {
        fn single(concept: &Concept) -> impl Iterator<Item = &Pattern> {
            let alone = concept.patterns.iter().filter(|phrase| phrase.len() == 1);
            alone.flatten()
        }
        let named = |concept: &&Concept| concepts.contains(&concept.name.as_str());
        let is_known = |word: &str| self.0.iter().flat_map(single).any(|p| p.fits(word));
        let meant = |word: &str| {
            let mut patterns = self.0.iter().filter(named).flat_map(single);
            patterns.find_map(|pattern| pattern.meant(word))
        };
        let mut mended = String::new();
        let mut from = 0;
        for word in Text::new(text).words.iter().filter(|w| !is_known(&w.fold)) {
            if let Some(meant) = meant(&word.fold) {
                mended.push_str(text.get(from..word.from)?);
                mended.push_str(&meant);
                from = word.to;
            }
        }
        mended.push_str(text.get(from..)?);
        (mended != text).then_some(mended)
    }

    /// How often a concept is named.
    pub fn count(&self, text: &str, concept: &str) -> usize {
        let hits = self.hits(text);
        hits.iter().filter(|hit| hit.concept == concept).count()
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

fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}
