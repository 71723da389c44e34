//! The words of one language: verbs with the frames that they call up, nouns with their concepts, adjectives and function
//! words, read from `knowledge/lang/<language>/*.tsv` (the function words from the kit). Owns inflection (by table) and the spelling of a typo.

mod inflect;
#[cfg(test)]
mod lex_tests;
mod tables;

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

pub use tables::BadRow;
pub(crate) use tables::{Cells, Table, by_language, rows};

/// What kind of word a sense is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    Verb,
    Noun,
    Adjective,
    Function,
}

/// One meaning of a written form.
#[derive(Debug, Clone, PartialEq)]
pub struct Sense {
    pub class: Class,
    /// A verb's lemma, a noun's or an adjective's concept, a function word's class.
    pub concept: String,
    /// A verb's frames, likeliest first; a noun's or an adjective's kind alone.
    pub says: Vec<String>,
    /// Which form it is: `base`, `third`, `past`, `ing`, `one`, `many`; empty where the table lists it.
    pub form: String,
    /// The row that says so, as `en/verbs.tsv:12`.
    pub row: String,
}

impl Sense {
    /// Whether it is a function word of a class, or says so besides ("no" of a noun says `neg`).
    pub fn is(&self, class: &str) -> bool {
        self.class == Class::Function
            && (self.concept == class || class == "neg" && self.tells(class))
    }
    /// Whether a function word says more of itself: which preposition it is, that a bound is included, that it comes last.
    pub fn tells(&self, more: &str) -> bool {
        self.class == Class::Function && self.says.iter().any(|s| s == more)
    }
    /// The kind of a noun or an adjective.
    pub fn kind(&self) -> &str {
        match self.class {
            Class::Noun | Class::Adjective => self.says.first().map_or("", String::as_str),
            Class::Verb | Class::Function => "",
        }
    }
    pub fn calls(&self, frame: &str) -> bool {
        self.class == Class::Verb && self.says.iter().any(|f| f == frame)
    }
}

/// The words of a language.
#[derive(Debug, Default)]
pub struct Lexicon {
    pub language: &'static str,
    /// Senses by written form, a form of several words with single spaces.
    senses: HashMap<String, Vec<Sense>>,
    /// The most words that a form begun by this word has.
    longest: HashMap<String, usize>,
    /// Forms of one word by their first letter, each first without its accents.
    initials: HashMap<char, Vec<(String, String)>>,
}

impl Lexicon {
    /// The lexicon of a language; English where there is none. Each is read when it is first asked for.
    pub fn of(language: &str) -> &'static Lexicon {
        static ALL: LazyLock<Vec<OnceLock<Lexicon>>> =
            LazyLock::new(|| tables::LANGUAGES.iter().map(|_| OnceLock::new()).collect());
        let at = tables::LANGUAGES
            .iter()
            .position(|l| l.name == language)
            .unwrap_or(0);
        match (ALL.get(at), tables::LANGUAGES.get(at)) {
            (Some(slot), Some(tables)) => {
                slot.get_or_init(|| tables::lexicon(tables).unwrap_or_default())
            }
            _ => {
                static NONE: LazyLock<Lexicon> = LazyLock::new(Lexicon::default);
                &NONE
            }
        }
    }

    /// The senses of a written form, in lower case.
    pub fn senses(&self, form: &str) -> &[Sense] {
        self.senses.get(form).map_or(&[], Vec::as_slice)
    }

    /// Whether a written form can be a function word of a class.
    pub fn can_be(&self, form: &str, class: &str) -> bool {
        self.senses(form).iter().any(|s| s.is(class))
    }

    /// The most words of a form that begins with this word.
    pub fn reach(&self, word: &str) -> usize {
        self.longest.get(word).copied().unwrap_or(1)
    }

    /// The form that a word of at least five letters misses by one letter, or by its accents; of several the first in order.
    pub fn spelled(&self, word: &str) -> Option<&str> {
        const SHORTEST: usize = 5;
        let length = word.chars().count();
        if length < SHORTEST || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let plain = unaccented(word);
        let begins: String = plain.chars().take(2).collect();
        let bucket = self.initials.get(&plain.chars().next()?)?;
        let mut best: Option<(usize, &str)> = None;
        for (bare, form) in bucket {
            if bare.len().abs_diff(plain.len()) > 1 {
                continue;
            }
            // Inflected languages have neighbours for most words: there a typo keeps the beginning.
            if self.language != "en" && !bare.starts_with(&begins) {
                continue;
            }
            let far = if *bare == plain {
                0
            } else {
                strsim::osa_distance(bare, &plain)
            };
            if far <= 1 && best.is_none_or(|b| (far, form.as_str()) < b) {
                best = Some((far, form));
            }
        }
        best.map(|(_, form)| form)
    }

    /// Sorts the forms by their first letters, for [`Lexicon::spelled`].
    fn index(&mut self) {
        const SHORTEST: usize = 5;
        for form in self.senses.keys() {
            let plain = unaccented(form);
            if !form.contains(' ')
                && plain.chars().count() >= SHORTEST
                && let Some(first) = plain.chars().next()
            {
                self.initials
                    .entry(first)
                    .or_default()
                    .push((plain, form.clone()));
            }
        }
    }

    fn add(&mut self, form: &str, sense: Sense) {
        let words = form.split(' ').count();
        if let Some(first) = form.split(' ').next() {
            let longest = self.longest.entry(first.to_owned()).or_insert(1);
            *longest = (*longest).max(words);
        }
        let known = self.senses.entry(form.to_owned()).or_default();
        match known
            .iter_mut()
            .find(|s| s.class == sense.class && s.concept == sense.concept)
        {
            Some(same) => {
                for frame in sense.says {
                    if !same.says.contains(&frame) {
                        same.says.push(frame);
                    }
                }
            }
            None => known.push(sense),
        }
    }

    /// Every sense of the language.
    #[cfg(test)]
    pub fn all(&self) -> impl Iterator<Item = &Sense> {
        self.senses.values().flatten()
    }
}

/// A word without the accents of its letters, as people type it in a hurry.
fn unaccented(word: &str) -> String {
    word.nfd().filter(|c| !is_combining_mark(*c)).collect()
}
