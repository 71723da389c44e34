//! Clauses of a request: a verb with the phrases around it, what introduces it (if, when, otherwise …) and what it belongs to.
//! Verbs, joints and phrases come from the chart; no text is cut before its verbs are known.

mod backdrop;
#[cfg(test)]
mod clause_tests;
mod phrase;
mod preface;
mod segment;

use crate::chart::{Chart, Item};
use crate::lex::Sense;
use crate::time::TimeSpan;

pub(crate) use backdrop::is_backdrop;
pub(crate) use phrase::Phrase;
pub(crate) use preface::{Preface, preface};
pub(crate) use segment::numbers_line;

/// Whether a duration that begins at a byte tells how often something is done: "interval 20 min", "at intervals of 5 minutes",
/// "im Abstand von 15 Minuten".
pub(crate) fn spaces(chart: &Chart, from: usize) -> bool {
    let before = chart.items.iter().rev().filter(|i| i.to <= from);
    let mut told = before.skip_while(|i| i.stops() && i.text == ":" || i.is("prep") || i.is("det"));
    let interval = |i: &Item| i.noun().is_some_and(|n| n.concept == "interval");
    told.next().is_some_and(interval)
}

/// What introduces a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intro {
    None,
    If,
    When,
    Unless,
    Else,
    Until,
    Because,
    /// "who …", "that …", "which …": says more about the phrase before it.
    Relative,
    /// "to send …" after another clause.
    Purpose,
}

/// A verb as it is used.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    /// Its item in the chart.
    pub at: usize,
    pub sense: Sense,
    pub negated: bool,
    pub passive: bool,
}

impl Use {
    pub fn calls(&self, frame: &str) -> bool {
        self.sense.calls(frame)
    }
    /// The likeliest frame.
    pub fn frame(&self) -> &str {
        self.sense.says.first().map_or("", String::as_str)
    }
}

/// A clause. Items are indices into the chart.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    pub intro: Intro,
    /// The verb that counts; support verbs ("want to", "should", "let … know") are left out.
    pub verb: Option<Use>,
    /// Phrases before the verb (its subject, what was put in front), and after it.
    pub before: Vec<Phrase>,
    pub after: Vec<Phrase>,
    pub times: Vec<TimeSpan>,
    pub from: usize,
    pub to: usize,
    /// The sentence, the line and the indentation that it stands in.
    pub sentence: usize,
    pub line: usize,
    /// It begins a sentence, or follows a colon, a dash or an arrow.
    pub fresh: bool,
    /// It follows a colon.
    pub colon: bool,
    /// It follows an arrow.
    pub arrow: bool,
    /// The whole clause is joined to the one before by "or".
    pub or: bool,
}

impl Clause {
    /// A clause that says nothing.
    pub const fn empty() -> Self {
        Clause {
            intro: Intro::None,
            verb: None,
            before: Vec::new(),
            after: Vec::new(),
            times: Vec::new(),
            from: 0,
            to: 0,
            sentence: 0,
            line: 0,
            fresh: false,
            colon: false,
            arrow: false,
            or: false,
        }
    }

    pub fn phrases(&self) -> impl Iterator<Item = &Phrase> {
        self.before.iter().chain(&self.after)
    }
    pub fn calls(&self, frame: &str) -> bool {
        self.verb.as_ref().is_some_and(|v| v.calls(frame))
    }
    pub fn negated(&self) -> bool {
        self.verb.as_ref().is_some_and(|v| v.negated)
    }
    /// The words of the clause, as they stand in the request.
    pub fn said<'t>(&self, text: &'t str, chart: &Chart) -> &'t str {
        let items = chart.items.get(self.from..self.to).unwrap_or(&[]);
        let range = items
            .first()
            .map(|i| i.from)
            .zip(items.last().map(|i| i.to));
        range
            .and_then(|(from, to)| text.get(from..to))
            .unwrap_or("")
            .trim()
    }
}

/// The clauses of a request, in order; `times` are the times that it names.
pub(crate) fn clauses(chart: &Chart, times: &[TimeSpan]) -> Vec<Clause> {
    segment::segments(chart, times)
        .into_iter()
        .map(|s| s.clause(chart, times))
        .collect()
}
