//! A sentence as it is compared: its words by what they mean, the segments they stand in, its values and names.

use crate::names::{Name, names};
use crate::text::{Kind, Token, tokens};
use crate::values::{Value, values};
use crate::words::{
    denies, denies_deed, is_light, is_preposition, is_small, is_tentative, phrases, sense, sides,
    stance, takes_sides,
};
use std::collections::BTreeSet;

/// A word that says what the sentence is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Term {
    pub sense: String,
    pub stem: String,
    pub at: usize,
    pub segment: usize,
    /// What stands before it denies it.
    pub denied: bool,
    /// It is what is denied: of `no variety was lost` that it was lost, and not the variety.
    pub carries: bool,
}

/// Content words that a denial reaches, and one that is the subject itself.
const REACH: usize = 2;
const REACH_OF_SUBJECT: usize = 3;
/// A phrase has its second word at most so many words behind its first.
const APART: usize = 4;
/// So many words apart a role stands by its name.
const NEIGHBOURS: usize = 8;

/// Whether a word says what was done: a past or a participle.
fn is_past(word: &Token) -> bool {
    word.fold.ends_with("ed") || crate::words::is_irregular(&word.fold)
}

/// Whether a denial is what the sentence speaks of: of such a one it is told what was not done, whatever stands between.
fn is_subject(word: &str) -> bool {
    matches!(word, "nobody" | "none" | "nothing" | "neither")
}

/// Behind such a word something else begins than what is denied.
fn is_joint(word: &str) -> bool {
    matches!(
        word,
        "in" | "at"
            | "of"
            | "on"
            | "for"
            | "to"
            | "from"
            | "by"
            | "with"
            | "during"
            | "after"
            | "before"
            | "since"
            | "and"
            | "under"
            | "into"
            | "over"
            | "until"
            | "because"
            | "as"
    )
}

#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub text: String,
    pub tokens: Vec<Token>,
    /// Of each token.
    segments: Vec<usize>,
    pub terms: Vec<Term>,
    pub values: Vec<Value>,
    pub names: Vec<Name>,
    /// Where values begin that are denied: `is not 148 kilometres`.
    denied: BTreeSet<usize>,
}

impl Statement {
    pub fn of(text: &str) -> Statement {
        let tokens = tokens(text);
        let values = values(&tokens);
        let segments = segments(&tokens, &values);
        let mut statement = Statement {
            text: text.to_owned(),
            names: names(&tokens, &values),
            terms: Vec::new(),
            denied: BTreeSet::new(),
            tokens,
            segments,
            values,
        };
        (statement.terms, statement.denied) = statement.terms();
        statement
    }

    /// Whether it is this value that is denied.
    pub fn denies(&self, value: &Value) -> bool {
        self.denied.contains(&value.from)
    }

    pub fn segment(&self, token: usize) -> usize {
        self.segments.get(token).copied().unwrap_or_default()
    }

    /// Whether the part around a token says what is planned or possible.
    pub fn is_tentative(&self, token: usize) -> bool {
        let segment = self.segment(token);
        let valued = |at: usize| self.values.iter().any(|v| (v.from..v.to).contains(&at));
        let here = self
            .tokens
            .iter()
            .enumerate()
            .filter(|(at, _)| self.segment(*at) == segment && !valued(*at));
        let words: Vec<&str> = here.map(|(_, token)| token.fold.as_str()).collect();
        words.iter().enumerate().any(|(at, word)| {
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let next = words.get(at + 1);
            // What nobody could do was not done.
            let denied = before.into_iter().chain(next).any(|word| denies(word));
            let could = matches!(*word, "can" | "could") && denied;
            is_tentative(word) && !could
                || before.is_some_and(|last| matches!(*last, "was" | "were")) && *word == "to"
        })
    }

    /// Whether any of its words is of what is planned, feared or possible.
    pub fn is_tentative_at_all(&self) -> bool {
        self.terms.iter().any(|term| self.is_tentative(term.at))
    }

    /// Whether something is denied in the part around a token.
    pub fn is_denied(&self, token: usize) -> bool {
        let segment = self.segment(token);
        let without = self
            .tokens
            .iter()
            .enumerate()
            .any(|(at, t)| t.fold == "without" && self.segment(at) == segment);
        without
            || self
                .terms
                .iter()
                .any(|term| term.segment == segment && term.denied)
    }

    /// What was done, by the participle or the past behind which a name stands with its preposition: `built in NAME`.
    pub fn deed_before(&self, token: usize) -> Option<String> {
        let before = self.tokens.get(..token)?.iter().rev().skip(1);
        let word = before
            .take_while(|t| t.kind == Kind::Word)
            .find(|t| !is_small(&t.fold))?;
        is_past(word).then(|| sense(&word.stem))
    }

    /// Whether something was done before a token in its part: `he gave it to the museum in NAME`.
    pub fn is_behind_deed(&self, token: usize) -> bool {
        self.deeds(token).any(|term| term.at < token)
    }

    /// What was done in the part around a token: the pasts and participles there.
    pub fn deeds(&self, token: usize) -> impl Iterator<Item = &Term> {
        let segment = self.segment(token);
        let here = self
            .terms
            .iter()
            .filter(move |term| term.segment == segment);
        here.filter(|term| self.tokens.get(term.at).is_some_and(is_past))
    }

    /// What was done, anywhere in it.
    pub fn all_deeds(&self) -> impl Iterator<Item = &Term> {
        let past = |term: &&Term| self.tokens.get(term.at).is_some_and(is_past);
        self.terms.iter().filter(past)
    }

    /// Whether it says of nobody or nothing what others may say of somebody.
    pub fn is_of_nobody(&self) -> bool {
        let mut words = self.tokens.iter().zip(self.tokens.iter().skip(1));
        words.any(|(word, next)| {
            is_subject(&word.fold)
                || denies(&word.fold) && matches!(next.fold.as_str(), "one" | "a")
        })
    }

    /// Whether a word tells what was done or happened: a past, or something that is counted.
    pub fn is_deed(&self, term: &Term) -> bool {
        let past = self.tokens.get(term.at).is_some_and(is_past);
        // `voted for` is one, too.
        let stance = term.stem.contains(' ') || matches!(term.stem.as_str(), "against" | "favour");
        past || stance || self.values.iter().any(|value| value.to == term.at + 1)
    }

    /// Whether a word of this sense stands a few words from a token.
    pub fn has_near(&self, token: usize, sense: &str) -> bool {
        let mut terms = self.terms.iter();
        terms.any(|term| term.at.abs_diff(token) <= NEIGHBOURS && term.sense == sense)
    }

    /// The word before a token, in lower case; empty: there is none.
    pub fn word_before(&self, token: usize) -> &str {
        let before = token.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.map_or("", |token| token.fold.as_str())
    }

    /// Whether `of the` and what it is part of stands at a token.
    pub fn is_part_behind(&self, token: usize) -> bool {
        self.fold(token) == "of"
            && matches!(
                self.fold(token + 1),
                "the" | "it" | "them" | "these" | "its"
            )
    }

    /// Whether a token belongs to a value that is compared as such.
    pub fn is_measured(&self, token: usize) -> bool {
        let mut values = self.values.iter();
        values.any(|value| !value.apart && (value.from..value.to).contains(&token))
    }

    /// Whether a word says what is done or was: a past, a participle, `is`.
    pub fn is_verb(&self, token: usize) -> bool {
        let copula = matches!(
            self.fold(token),
            "is" | "was" | "were" | "are" | "has" | "had" | "have" | "ist" | "war" | "wurde"
        );
        copula || self.tokens.get(token).is_some_and(is_past)
    }

    /// Whether a deed was done to what stands before it: `was sold`.
    pub fn is_passive(&self, deed: &Term) -> bool {
        self.is_copula_before(deed.at)
    }

    /// Whether a token is part of a name.
    pub fn is_named(&self, token: usize) -> bool {
        self.names
            .iter()
            .any(|name| (name.from..name.to).contains(&token))
    }

    /// Whether it speaks of what the sentence before it named.
    pub fn points_back(&self) -> bool {
        let first = self.tokens.iter().take(4).map(|token| token.fold.as_str());
        let mut pointing = first.filter(|word| {
            matches!(
                *word,
                "it" | "its"
                    | "they"
                    | "them"
                    | "their"
                    | "this"
                    | "these"
                    | "those"
                    | "he"
                    | "she"
                    | "each"
                    | "both"
            )
        });
        let first = self.tokens.first().map(|token| token.fold.as_str());
        pointing.next().is_some() || first == Some("that")
    }

    /// The year that a value is of: the nearest in its segment, else the only one of the sentence.
    pub fn year_of(&self, value: &Value) -> Option<i32> {
        if let Some(year) = value.year() {
            return Some(year);
        }
        let segment = self.segment(value.from);
        let dated = || self.values.iter().filter_map(|v| Some((v, v.year()?)));
        let near = dated().filter(|(v, _)| self.segment(v.from) == segment);
        let distance = |v: &Value| v.from.max(value.from) - v.from.min(value.from);
        if let Some((_, year)) = near.min_by_key(|(v, _)| distance(v)) {
            return Some(year);
        }
        let mut years = dated().map(|(_, year)| year);
        let first = years.next()?;
        years.all(|year| year == first).then_some(first)
    }

    /// Whether a value is said to be of the year before: `251,000 in the previous year`.
    pub fn is_of_year_before(&self, value: &Value) -> bool {
        let segment = self.segment(value.from);
        let dated = self
            .values
            .iter()
            .any(|v| v.year().is_some() && self.segment(v.from) == segment);
        let behind: Vec<&str> = self
            .tokens
            .iter()
            .skip(value.to)
            .take(5)
            .map(|t| t.fold.as_str())
            .collect();
        let before = behind.windows(2).any(|pair| {
            matches!(
                pair,
                ["year", "before" | "earlier"]
                    | ["previous" | "preceding", "year"]
                    | ["last", "year"]
            )
        });
        before && !dated
    }

    /// `a million more than in 2021`: whether it is more, and the year.
    pub fn more_than_in(&self) -> Option<(bool, i32)> {
        self.values.iter().find_map(|value| {
            let at = value.from.checked_sub(3)?;
            let words = [self.fold(at), self.fold(at + 1), self.fold(at + 2)];
            let more = match words {
                ["more" | "higher", "than", "in"] => true,
                ["less" | "fewer" | "lower", "than", "in"] => false,
                _ => return None,
            };
            Some((more, value.year()?))
        })
    }

    /// And the values that are denied.
    fn terms(&self) -> (Vec<Term>, BTreeSet<usize>) {
        let mut terms: Vec<Term> = Vec::new();
        let mut values = BTreeSet::new();
        // Content words that a denial still reaches, and the segment that it stands in.
        let mut denial: Option<(usize, usize)> = None;
        // The first of the words that the last denial reaches, and whether a deed is among them.
        let (mut reached, mut has_deed) = (0, false);
        for (at, token) in self.tokens.iter().enumerate() {
            let segment = self.segment(at);
            let named = self.is_named(at);
            let over = |(left, of): (usize, usize)| {
                let joint = is_joint(&token.fold);
                // `nobody was hurt in the storm`: there was a storm.
                left == 0 || of != segment || (left < REACH || has_deed) && joint
            };
            if named || denial.is_some_and(over) {
                denial = None;
            }
            let value = self.values.iter().any(|value| value.from == at);
            if value && (denial.is_some() || self.is_denied_behind_joint(at)) {
                values.insert(at);
            }
            if token.kind != Kind::Word {
                continue;
            }
            if denies(&token.fold) && !self.is_limit(at) {
                // `of 40 samples none contained any`: it is the samples that none was.
                if is_subject(&token.fold) && self.fold(0) == "of" {
                    let whole = terms.iter_mut().filter(|term| term.segment == segment);
                    whole.for_each(|term| (term.denied, term.carries) = (true, true));
                }
                let nobody = is_subject(&token.fold) || self.fold(at + 1) == "one";
                // `the storm hurt nobody`: nothing is told of nobody behind it.
                let behind = self
                    .tokens
                    .get(at + 1)
                    .is_none_or(|next| next.kind != Kind::Word)
                    || is_joint(self.fold(at + 1));
                if nobody && behind {
                    let deed = terms.last_mut().filter(|deed| deed.at + 1 == at);
                    let deed = deed.filter(|deed| self.tokens.get(deed.at).is_some_and(is_past));
                    deed.into_iter()
                        .for_each(|deed| (deed.denied, deed.carries) = (true, true));
                }
                let reach = if nobody { REACH_OF_SUBJECT } else { REACH };
                denial = Some((reach, segment));
                (reached, has_deed) = (terms.len(), false);
                continue;
            }
            let valued = self
                .values
                .iter()
                .any(|v| (v.from..v.to).contains(&at) && !v.dimension().starts_with("count"));
            if let Some(both) = self.stance_at(at, terms.last()) {
                terms.push(both);
                continue;
            }
            let phrase = self.phrase_at(at);
            let small = is_small(&token.fold) || self.is_mere_preposition(at);
            if phrase.is_none() && (valued || small || token.fold.len() < 2) {
                continue;
            }
            let stem = phrase.unwrap_or_else(|| token.stem.clone());
            terms.push(Term {
                sense: sense(&stem),
                stem,
                at,
                segment,
                denied: denial.is_some(),
                carries: denial.is_some(),
            });
            if let Some((left, _)) = &mut denial {
                *left -= 1;
                has_deed |= is_past(token);
                // `no house was lost`, `no accident was severe`; but `no fine was imposed` denies the fine.
                let said_of = is_past(token) || self.is_copula_before(at);
                if said_of && !is_light(&token.stem) {
                    let before = terms.len() - 1;
                    let nouns = terms.get_mut(reached..before).unwrap_or_default();
                    nouns.iter_mut().for_each(|noun| noun.carries = false);
                }
            }
        }
        (terms, values)
    }

    /// `pressed against the coast`: that is on no side of anything, unlike `the vote was against it`.
    fn is_mere_preposition(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else {
            return false;
        };
        let segment = self.segment(at);
        let mut before = self.tokens.iter().enumerate().take(at).rev();
        is_preposition(&token.fold)
            && !sides(&token.stem).is_empty()
            && !self.is_copula_before(at)
            && !before
                .by_ref()
                .take_while(|(before, _)| self.segment(*before) == segment)
                .take(NEIGHBOURS)
                .any(|(_, token)| takes_sides(&token.fold))
    }

    /// What a denied deed is done to or where, the next word that tells something: of `does not stop at the museum` the museum. None: no
    /// deed is denied, or nothing stands behind it.
    pub fn object_of(&self, denied: &Term) -> Option<&Term> {
        let before = self.tokens.get(..denied.at)?.iter().rev();
        let denial = before
            .take_while(|token| is_small(&token.fold))
            .find(|token| denies(&token.fold))?;
        let mut behind = self.terms.iter().filter(|term| term.at > denied.at);
        behind
            .next()
            .filter(|term| denies_deed(&denial.fold) && term.segment == denied.segment)
    }

    fn is_copula_before(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |at| self.fold(at));
        matches!(before, "is" | "was" | "were" | "are" | "been")
    }

    /// What the word here and one a little behind it say together: `lost their lives`.
    fn phrase_at(&self, at: usize) -> Option<String> {
        let first = &self.tokens.get(at)?.stem;
        let behind = || {
            self.tokens
                .iter()
                .skip(at + 1)
                .take(APART)
                .take_while(|t| t.kind == Kind::Word)
        };
        let mut phrases = phrases().iter().filter(|(word, _, _)| word == first);
        let (_, _, says) = phrases.find(|(_, second, _)| behind().any(|t| t.fold == *second))?;
        Some(says.clone())
    }

    /// `voted for the bridge`: what the verb before is together with the word here. What is for it tells of a thing named elsewhere.
    fn stance_at(&self, at: usize, last: Option<&Term>) -> Option<Term> {
        // `voted eleven to two for`: the score may stand between.
        let scored = |last: &&Term| {
            let between = self.tokens.get(last.at + 1..at).unwrap_or_default();
            let score = |t: &Token| {
                crate::values::written(t).is_some() || matches!(t.fold.as_str(), "to" | "by")
            };
            between.len() <= 4 && between.iter().all(score)
        };
        let verb = last.filter(scored)?;
        let both = stance(&verb.stem, self.fold(at))?;
        let points = matches!(self.fold(at + 1), "it" | "them" | "this" | "that");
        (!points).then(|| Term {
            sense: both.clone(),
            stem: both,
            at,
            ..verb.clone()
        })
    }

    /// `not in 1987`: nothing but a joint stands between the denial and the value.
    fn is_denied_behind_joint(&self, value: usize) -> bool {
        let before = value.checked_sub(1).filter(|at| is_joint(self.fold(*at)));
        let denial = before.and_then(|at| at.checked_sub(1));
        denial.is_some_and(|at| denies(self.fold(at)) && !is_subject(self.fold(at)))
    }

    /// The word at a place, in lower case; empty: there is none.
    fn fold(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.fold.as_str())
    }

    /// `no less than`, `not only`, `and not of`: no deed is denied.
    fn is_limit(&self, at: usize) -> bool {
        let next = self.fold(at + 1);
        let before = at.checked_sub(1).map_or("", |at| self.fold(at));
        let at_all = next == "at" && self.fold(at + 2) == "all";
        // `without a single death`; what is without something else only says which it is.
        let single = next == "any" || self.fold(at + 2) == "single";
        if self.fold(at) == "without" && !single {
            return true;
        }
        matches!(next, "less" | "fewer" | "more" | "only" | "just" | "doubt")
            || !is_subject(self.fold(at))
                && !at_all
                && (is_joint(next) || before == "and" || before == "but")
    }
}

/// Parts of a sentence: between marks, and at `and` where values stand on both sides.
fn segments(tokens: &[Token], values: &[Value]) -> Vec<usize> {
    let has_value = |from: usize, to: usize| {
        values
            .iter()
            .any(|v| (from..to).contains(&v.from) && !v.apart)
    };
    let inside = |at: usize| values.iter().any(|v| v.from < at && at < v.to);
    let is_mark =
        |token: &Token| matches!(token.fold.as_str(), "," | ";" | ":" | "(" | ")" | "–" | "—");
    let splits = |token: &Token| {
        matches!(
            token.fold.as_str(),
            "while" | "whereas" | "but" | "although" | "though" | "because" | "which" | "who"
        )
    };
    let mut segment = 0;
    let mut begun = 0;
    let mut out = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let ends = if inside(at) {
            false
        } else if token.fold == "and" {
            let to = tokens
                .iter()
                .enumerate()
                .skip(at)
                .find(|(_, t)| is_mark(t))
                .map_or(tokens.len(), |(to, _)| to);
            has_value(begun, at) && has_value(at, to)
        } else {
            is_mark(token) || splits(token)
        };
        if ends {
            segment += 1;
            begun = at;
        }
        out.push(segment);
    }
    out
}
