//! What of a long text is a request: people paste mails and minutes around the one sentence that asks for something. The sentences
//! that ask are read, with those that belong to them; the rest is set aside and named, in groups, as not read.

use crate::chart::{Chart, Item, chart};
use crate::clause::{Clause, Phrase, clauses};
use crate::spot::Kind;
use crate::time::{TimeMeaning, TimeSpan, spans};
use agentctl_base::counted::counted;
use std::ops::Range;

/// A shorter text is read as it stands: people write requests of a page.
const SHORTEST: usize = 4_000;
/// Of a text of prose at most one sentence of so many asks for something; more of them make a specification.
const RARE: usize = 4;
/// How many letters of its first sentence name a group.
const NAMED_BY: usize = 60;
/// With more groups, those behind the last are one.
const MOST_GROUPS: usize = 16;

/// A long text, parted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prose {
    /// What asks for something, in bytes, in order; empty where nothing does.
    pub asked: Vec<Range<usize>>,
    /// The rest: each run of sentences by the words that it begins with, and how many there are.
    pub left: Vec<String>,
}

impl Prose {
    /// The sentences that ask, as a text of their own.
    pub fn request(&self, text: &str) -> String {
        let mut out = String::new();
        for part in self.asked.iter().filter_map(|part| text.get(part.clone())) {
            let said = part.trim();
            out.push_str(said);
            // A line without a full stop stays a line.
            out.push(match said.ends_with(['.', '!', '?', '\u{2026}']) {
                true => ' ',
                false => '\n',
            });
        }
        out.trim_end().to_owned()
    }

    /// The same text with spaces for what was set aside: each word stands where it stood.
    pub fn blanked(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for part in &self.asked {
            out.extend(std::iter::repeat_n(' ', part.start - out.len()));
            out.push_str(text.get(part.clone()).unwrap_or(""));
        }
        out
    }
}

/// A sentence, or a line.
struct Sentence<'a> {
    at: Range<usize>,
    items: &'a [Item],
}

/// Parts a text; None: it is short, asks for something often enough, or is a list.
pub(crate) fn prose(text: &str, language: &str) -> Option<Prose> {
    if text.len() < SHORTEST {
        return None;
    }
    let chart = chart(text, language);
    let sentences = sentences(&chart, text.len());
    let times = spans(text, language);
    let clauses = clauses(&chart, &times);
    let orders = clauses.iter().filter(|clause| is_order(&chart, clause));
    let orders: Vec<usize> = orders.map(|clause| chart.item(clause.from).from).collect();
    let asks = |s: &Sentence<'_>| {
        let within = |from: &usize| s.at.contains(from);
        names_a_place(s) && orders.iter().any(within)
    };
    let asks: Vec<bool> = sentences.iter().map(asks).collect();
    let asking = asks.iter().filter(|asks| **asks).count();
    if asking * RARE > sentences.len() || listed(text) * RARE > sentences.len() {
        return None;
    }
    // "Sort them by price." names no place, and is a step where it stands behind one.
    let ordered = |s: &Sentence<'_>| orders.iter().any(|from| s.at.contains(from));
    let mut belong: Vec<bool> = Vec::with_capacity(sentences.len());
    for (at, (sentence, asks_itself)) in sentences.iter().zip(&asks).enumerate() {
        let leads = starts(sentence, &times) && asks.get(at + 1) == Some(&true);
        let behind = belong.last() == Some(&true);
        let follows = behind && (goes_on(sentence) || ordered(sentence));
        belong.push(*asks_itself || leads || follows);
    }
    let mut parted = Prose::default();
    let mut group: Vec<&Sentence<'_>> = Vec::new();
    let mut groups = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        if belong.get(at) == Some(&true) {
            parted.asked.push(sentence.at.clone());
            groups.push(std::mem::take(&mut group));
        } else {
            let gap = group.last().map(|last| last.at.end..sentence.at.start);
            let paragraph = gap.and_then(|gap| text.get(gap)).unwrap_or("");
            if paragraph.matches('\n').count() > 1 && groups.len() < MOST_GROUPS {
                groups.push(std::mem::take(&mut group));
            }
            group.push(sentence);
        }
    }
    groups.push(group);
    parted.left = groups
        .iter()
        .filter_map(|group| named(group, text))
        .collect();
    Some(parted)
}

/// The sentences of a text that hold a word.
fn sentences(chart: &Chart, length: usize) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, item) in chart.items.iter().enumerate() {
        let ends = item.shape() == Some(Kind::End);
        if !ends && at + 1 < chart.items.len() {
            continue;
        }
        let items = crate::cut::between(&chart.items, from, if ends { at } else { at + 1 });
        if let Some(first) = items.first().filter(|_| items.iter().any(|i| !i.stops())) {
            let to = item.to.min(length);
            found.push(Sentence {
                at: first.from..to,
                items,
            });
        }
        from = at + 1;
    }
    found
}

/// Whether a sentence names a thing that a workflow can hold: a service that acts, or an address given word for word.
fn names_a_place(sentence: &Sentence<'_>) -> bool {
    sentence.items.iter().any(|i| {
        let service = i.service().is_some_and(|s| !s.actions.is_empty());
        let place = matches!(
            i.shape(),
            Some(Kind::Channel | Kind::Mail | Kind::Url | Kind::Path | Kind::Phone)
        );
        service || place
    })
}

/// Whether a clause is a command, or says what must be: "post it", "please send", "should be posted". What somebody does or did is
/// told.
fn is_order(chart: &Chart, clause: &Clause) -> bool {
    let Some(verb) = clause.verb.as_ref().filter(|v| !v.negated) else {
        return false;
    };
    let subject = |p: &Phrase| p.prep.is_empty() && (p.head.is_some() || p.pronoun.is_some());
    let command = verb.sense.form == "base" && !clause.before.iter().any(subject);
    let wished = (clause.from..verb.at).any(|at| {
        let item = chart.item(at);
        let wants = item.verb().is_some_and(|v| v.calls("WANT"));
        item.tells("must") || item.is("please") || wants
    });
    crate::account::asks_for_a_step(&verb.sense) && (command || wished)
}

/// Whether a sentence tells what starts a workflow: an event ("when …"), a webhook, a form, or a rhythm and nothing else.
fn starts(sentence: &Sentence<'_>, times: &[TimeSpan]) -> bool {
    let first = sentence.items.first();
    let event = first.is_some_and(|i| i.is("when") || i.is("if"));
    let called = sentence.items.iter().any(|i| {
        let noun = i.noun();
        let path = i.shape() == Some(Kind::Path);
        path || noun.is_some_and(|n| n.concept == "webhook" || n.concept == "form")
    });
    let rhythm = |i: &Item| {
        let means = |t: &&TimeSpan| t.from <= i.from && i.to <= t.to;
        let time = times.iter().find(means).map(|t| &t.means);
        let starts = matches!(
            time,
            Some(TimeMeaning::Schedule { .. } | TimeMeaning::AtTime { .. })
        );
        starts || i.stops()
    };
    let only_when = sentence.items.iter().all(rhythm);
    event || called || only_when
}

/// Whether a sentence goes on with the one before it: "If …", "Otherwise …", "Then …", "Only …".
fn goes_on(sentence: &Sentence<'_>) -> bool {
    let joints = ["if", "else", "then", "only", "unless", "and"];
    let first = sentence.items.first();
    first.is_some_and(|i| joints.iter().any(|joint| i.is(joint)))
}

/// How many lines are points of a list.
fn listed(text: &str) -> usize {
    let point = |line: &&str| {
        let line = line.trim_start();
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = number.len() < line.len() && number.starts_with(['.', ')']);
        numbered || line.starts_with(['-', '*', '#', '\u{2022}'])
    };
    text.lines().filter(point).count()
}

/// What a group of sentences is called.
fn named(group: &[&Sentence<'_>], text: &str) -> Option<String> {
    let first = text.get(group.first()?.at.clone())?;
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let head: String = line.chars().take(NAMED_BY).collect();
    let cut = head.len() < line.len();
    Some(match group.len() {
        1 if !cut => line.trim_end_matches('.').to_owned(),
        1 => format!("{head}…"),
        many => format!(
            "{}… ({})",
            head.trim_end().trim_end_matches('.'),
            counted(many, "sentence")
        ),
    })
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod prose_tests;
