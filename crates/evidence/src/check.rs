//! What becomes of a claim: who says the same, who says otherwise, and the verdict by fixed rules. Supported: a second independent
//! source says every value of it, or the same sentence in its words. Contradicted: at least two independent sources agree on
//! something else, and nobody else says it. All else is unverified.

use crate::corpus::Corpus;
use crate::likeness::{Context, contexts};
use crate::statement::Statement;
use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Supported,
    Contradicted,
    Unverified,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Supported => "supported",
            Verdict::Contradicted => "contradicted",
            Verdict::Unverified => "unverified",
        }
    }
}

/// A sentence that a verdict rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// `DOC#NUMBER`.
    pub id: String,
    pub doc: String,
    pub title: String,
    pub source: String,
    /// Word for word.
    pub quote: String,
    /// `claims` it, says the `same`, says `otherwise`, or comes `near` it: says a part of it.
    pub says: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub verdict: Verdict,
    pub sources: Vec<Source>,
    /// What the verdict rests on, in words.
    pub why: String,
}

/// Sentences of at least two publishers that agree on something else.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Against {
    pub sentences: Vec<usize>,
    pub about: &'static str,
}

/// A claim while it is checked.
pub(crate) struct Claim {
    pub statement: Statement,
    /// The sentences that it is taken from.
    pub origin: Vec<usize>,
    /// Their documents and publishers.
    pub documents: BTreeSet<usize>,
    pub publishers: BTreeSet<usize>,
    /// Of each segment.
    contexts: Vec<Context>,
}

impl Claim {
    pub fn context(&self, token: usize) -> &Context {
        static NONE: Context = Context { near: Vec::new() };
        self.contexts
            .get(self.statement.segment(token))
            .unwrap_or(&NONE)
    }
}

/// Sentences quoted for and against, at most.
const QUOTED: usize = 4;

impl Corpus {
    /// Checks a claim that was taken from these sentences (`DOC#NUMBER`). None: none of them is there, so it has no source.
    pub fn check(&self, text: &str, cited: &[String]) -> Option<Checked> {
        let claim = self.claim(text, cited)?;
        Some(match self.against(&claim) {
            Some(against) => self.contradicted(&claim, &against),
            None => self.supported_or_not(&claim),
        })
    }

    /// Checks a claim that is in no sentence here. Nobody who says it is a source, so it is contradicted or unverified; what one says
    /// otherwise, or of a part of it, is quoted. None: nobody here says anything of it.
    pub fn held(&self, text: &str) -> Option<Checked> {
        let claim = self.taken(text, Vec::new());
        let against = self.against(&claim);
        if let Some(against) = against.filter(|against| self.is_of_one(&claim, against)) {
            return Some(self.contradicted(&claim, &against));
        }
        let mut others = self.twice(&claim);
        others.otherwise.extend(self.rival_values(&claim));
        let says = match others.otherwise.is_empty() {
            true => "near",
            false => "otherwise",
        };
        let why = match others.otherwise.is_empty() && !others.same.is_empty() {
            true => "it names no source; documents here that say the same are quoted",
            false => "no document here says it; what comes nearest is quoted",
        };
        let quoted = [others.otherwise, others.same, others.near];
        let quoted = quoted.into_iter().find(|some| !some.is_empty())?;
        let mut sources = self.sources(&quoted, says);
        sources.truncate(QUOTED);
        Some(Checked {
            verdict: Verdict::Unverified,
            sources,
            why: why.to_owned(),
        })
    }

    /// Whether a claim says itself of what it is: it names something that is named there too, and the year where that is of one. Of
    /// a claim that stands in a document the document tells it.
    fn is_of_one(&self, claim: &Claim, against: &Against) -> bool {
        let placed = || {
            let all = against.sentences.iter();
            all.filter_map(|at| self.placed.get(*at))
        };
        let docs: BTreeSet<usize> = placed().map(|placed| placed.doc).collect();
        let there = self.names_of(&docs);
        let mut names = claim.statement.names.iter();
        let dated = |of: &Statement| of.values.iter().any(|value| value.year().is_some());
        names.any(|name| there.iter().any(|other| other.may_be(name)))
            && (dated(&claim.statement) || !placed().all(|placed| dated(&placed.statement)))
    }

    fn against(&self, claim: &Claim) -> Option<Against> {
        self.other_values(claim)
            .or_else(|| self.other_names(claim))
            .or_else(|| self.other_polarity(claim))
            .or_else(|| self.other_order(claim))
    }

    /// Sentences that speak of the same thing as a claim and say otherwise, one source alone or many; by their ids.
    pub fn rivals(&self, text: &str, cited: &[String]) -> Vec<String> {
        let Some(claim) = self.claim(text, cited) else {
            return Vec::new();
        };
        let mut rivals = self.rival_values(&claim);
        rivals.extend(self.rival_names(&claim));
        rivals.extend(self.rival_courses(&claim));
        rivals.sort_unstable();
        rivals.dedup();
        rivals
            .into_iter()
            .filter_map(|at| Some(self.passage(at, 0.0)?.id))
            .collect()
    }

    pub(crate) fn claim(&self, text: &str, cited: &[String]) -> Option<Claim> {
        let origin: Vec<usize> = cited.iter().filter_map(|id| self.at(id)).collect();
        (!origin.is_empty()).then(|| self.taken(text, origin))
    }

    /// A claim that was taken from these sentences; none: from nowhere here.
    fn taken(&self, text: &str, origin: Vec<usize>) -> Claim {
        let first = origin.first().and_then(|at| self.placed.get(*at));
        let placed = || origin.iter().filter_map(|at| self.placed.get(*at));
        let statement = Statement::of(text);
        let title = first.and_then(|first| self.titles.get(first.doc));
        let title = title.map_or(&[][..], Vec::as_slice);
        let before = origin.first().and_then(|at| self.before(*at));
        Claim {
            contexts: contexts(&statement, title, before),
            statement,
            documents: placed().map(|placed| placed.doc).collect(),
            publishers: placed().map(|placed| self.publisher(placed)).collect(),
            origin,
        }
    }

    fn contradicted(&self, claim: &Claim, against: &Against) -> Checked {
        let mut sources = self.sources(&claim.origin, "claims");
        sources.extend(
            self.sources(&against.sentences, "otherwise")
                .into_iter()
                .take(QUOTED),
        );
        Checked {
            verdict: Verdict::Contradicted,
            sources,
            why: format!("independent sources agree on another {}", against.about),
        }
    }

    fn supported_or_not(&self, claim: &Claim) -> Checked {
        let found = self.twice(claim);
        let mut sources = self.sources(&claim.origin, "claims");
        let mut add = |sentences: &[usize], says: &'static str| {
            sources.extend(self.sources(sentences, says).into_iter().take(QUOTED));
        };
        let (verdict, why) = if !found.same.is_empty() {
            add(&found.same, "same");
            (
                Verdict::Supported,
                "a second independent source says the same",
            )
        } else if !found.otherwise.is_empty() {
            add(&found.otherwise, "otherwise");
            (Verdict::Unverified, "another source says the opposite")
        } else if !found.near.is_empty() {
            add(&found.near, "near");
            (
                Verdict::Unverified,
                "no other source was found to say all of it",
            )
        } else if claim.publishers.len() > 1 {
            (
                Verdict::Unverified,
                "its sources do not say all of it twice",
            )
        } else {
            (Verdict::Unverified, "one source alone says it")
        };
        Checked {
            verdict,
            sources,
            why: why.to_owned(),
        }
    }

    fn sources(&self, sentences: &[usize], says: &'static str) -> Vec<Source> {
        let mut seen = BTreeSet::new();
        let new = sentences
            .iter()
            .filter(|at| self.placed.get(**at).is_some_and(|p| seen.insert(p.doc)));
        let passages = new.filter_map(|at| self.passage(*at, 0.0));
        passages
            .map(|p| Source {
                id: p.id,
                doc: p.doc,
                title: p.title,
                source: p.source,
                quote: p.quote,
                says,
            })
            .collect()
    }
}
