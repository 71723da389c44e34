//! The parts of a request: its clauses, how many of them are whole, and the phrases that were not understood.

use super::{Fate, Word};
use crate::chart::{Chart, Item};
use crate::clause::{Clause, Intro, Phrase, is_backdrop, preface};
use crate::lex::Class;
use crate::spot::Kind;
use crate::time::TimeSpan;
use std::collections::{HashMap, HashSet};

/// The number of the part that each item belongs to: parts end at marks, and at "and", "then", "if" where a verb follows.
fn parts(chart: &Chart) -> Vec<usize> {
    let mut part = 0;
    let mut verbs = 0;
    let mut of = Vec::with_capacity(chart.items.len());
    for (i, item) in chart.items.iter().enumerate() {
        let joins = ["and", "then", "if", "when", "else", "or", "because"]
            .iter()
            .any(|c| item.is(c));
        let ends = item.stops() || joins;
        if ends
            && verbs > 0
            && (item.shape() == Some(Kind::End)
                || verb_follows(crate::cut::from(&chart.items, i + 1)))
        {
            part += 1;
            verbs = 0;
        }
        if item.shape() == Some(Kind::End) && verbs == 0 && of.last() == Some(&part) {
            part += 1;
        }
        verbs += usize::from(item.verb().is_some());
        of.push(part);
    }
    of
}

/// Whether a verb comes before the next end.
fn verb_follows(rest: &[Item]) -> bool {
    rest.iter()
        .take_while(|i| !i.stops())
        .any(|i| i.verb().is_some())
}

/// How many parts carry meaning, and how many of them are whole.
pub(super) fn counted(chart: &Chart, words: &[(usize, Word)]) -> (usize, usize) {
    let of = parts(chart);
    let mut whole: HashMap<usize, bool> = HashMap::new();
    for (i, word) in words {
        if matches!(word.fate, Fate::Context { .. }) {
            continue;
        }
        if let Some(part) = of.get(*i) {
            let whole = whole.entry(*part).or_insert(true);
            *whole &= word.fate != Fate::Missing;
        }
    }
    (whole.len(), whole.values().filter(|w| **w).count())
}

/// The phrases not understood: neighbouring missing words as one, with what stands between them in the same part.
pub(super) fn phrases(request: &str, chart: &Chart, words: &[(usize, Word)]) -> Vec<String> {
    let of = parts(chart);
    let mut spans: Vec<(usize, usize, usize)> = Vec::new();
    let mut last_good = false;
    for (i, word) in words {
        match word.fate {
            Fate::Missing => {
                let part = of.get(*i).copied().unwrap_or(0);
                match spans.last_mut() {
                    Some((_, to, of)) if *of == part && !last_good => *to = word.to,
                    _ => spans.push((word.from, word.to, part)),
                }
                last_good = false;
            }
            Fate::Built { .. } => last_good = true,
            Fate::Context { .. } => {}
        }
    }
    let said = spans
        .iter()
        .filter_map(|(from, to, _)| request.get(*from..*to));
    let mut phrases: Vec<String> = Vec::new();
    for phrase in said {
        let phrase = phrase.split_whitespace().collect::<Vec<_>>().join(" ");
        if !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    phrases
}

/// A condition that was not understood: what it says is missing, whatever else of the workflow answers for its words.
pub(super) fn left_open(request: &str, said: &str, words: &mut [(usize, Word)]) {
    let Some(from) = request.find(said).filter(|_| !said.is_empty()) else {
        return;
    };
    let within = |w: &&mut (usize, Word)| w.1.from >= from && w.1.to <= from + said.len();
    for (_, word) in words.iter_mut().filter(within) {
        if !matches!(word.fate, Fate::Context { .. }) {
            word.fate = Fate::Missing;
        }
    }
}

/// Whether a negation stands before a verb, in its part.
pub(super) fn negated(chart: &Chart, at: usize) -> bool {
    let before = crate::cut::before(&chart.items, at)
        .iter()
        .rev()
        .take_while(|i| !i.stops() && i.verb().is_none());
    before.take(3).any(|i| i.is("neg"))
}

/// The items of headings, and of sentences that tell about the person, or what it is for, and ask for nothing; with the reason.
pub(super) fn background(
    request: &str,
    chart: &Chart,
    times: &[TimeSpan],
    clauses: &[Clause],
) -> HashMap<usize, String> {
    let preface = preface(request, chart, times);
    let items = chart.items.iter().enumerate();
    let mut found: HashMap<usize, String> = items
        .filter(|(_, item)| preface.holds(item))
        .map(|(i, _)| (i, "says what it is for".to_owned()))
        .collect();
    let mut start = 0;
    for end in 0..=chart.items.len() {
        let ends = chart
            .items
            .get(end)
            .is_none_or(|i| i.shape() == Some(Kind::End));
        if !ends {
            continue;
        }
        let sentence = crate::cut::between(&chart.items, start, end);
        if tells(sentence) {
            found.extend((start..end).map(|i| (i, "tells about the person".to_owned())));
        }
        start = end + 1;
    }
    let later = |from: usize| {
        let mut after = clauses.iter().filter(|c| c.from > from);
        after.any(|c| c.intro == Intro::When || !c.times.is_empty())
    };
    for clause in clauses.iter().filter(|c| is_backdrop(chart, clauses, c)) {
        if later(clause.from) {
            let why = "tells how things are";
            found.extend((clause.from..clause.to).map(|i| (i, why.to_owned())));
        }
    }
    found
}

/// A sentence with a first person, only verbs of being and having, and no literal thing.
fn tells(sentence: &[Item]) -> bool {
    let mut verbs = sentence.iter().filter_map(Item::verb).peekable();
    if verbs.peek().is_none() {
        return false;
    }
    let person = sentence
        .iter()
        .any(|i| i.is("pronoun") || i.is("det") || i.is("filler"));
    let asks = sentence.iter().any(|i| {
        i.literal()
            || ["if", "when", "only", "unless", "else"]
                .iter()
                .any(|c| i.is(c))
    });
    let still = verbs.all(|v| {
        v.says
            .iter()
            .any(|f| f == "STATE" || f == "KNOW" || f == "DO")
    });
    person && still && !asks && !sentence.iter().any(|i| i.service().is_some())
}

/// Frames of verbs that tell of an event.
const EVENTS: &[&str] = &[
    "HAPPEN", "RECEIVE", "SUBMIT", "SIGNUP", "ORDER", "PAY", "FAIL", "EXPIRE", "SEND", "CREATE",
    "DELETE", "UPDATE", "MOVE", "UPLOAD", "PUBLISH",
];

/// What a request says of the event that starts the workflow.
#[derive(Debug, Default)]
pub(super) struct Event {
    /// The items that a trigger of any kind answers for: the verb of its clause, and the subject before it.
    pub told: HashSet<usize>,
    /// The concepts of what the event brings.
    brought: HashSet<String>,
}

impl Event {
    /// Whether an item names again what the event brings.
    pub fn brings(&self, item: &Item) -> bool {
        item.noun()
            .is_some_and(|n| self.brought.contains(&n.concept))
    }
}

/// The words that are names of things ("in list Done"), where their clauses use them so.
pub(super) fn names(clauses: &[Clause]) -> HashSet<usize> {
    let phrases = clauses.iter().flat_map(|c| c.phrases());
    phrases.flat_map(|p| &p.names).copied().collect()
}

/// Reads the clauses that tell when the workflow starts: "when a card is moved …".
pub(super) fn event(chart: &Chart, clauses: &[Clause]) -> Event {
    let mut event = Event::default();
    // "each new item": what is new is what came.
    let fresh = |p: &&Phrase| {
        let new = |at: &usize| {
            chart
                .item(*at)
                .sense(Class::Adjective)
                .is_some_and(|a| a.kind() == "new")
        };
        let each = |at: &usize| at.checked_sub(1).is_some_and(|b| chart.item(b).is("quant"));
        let bare = p.names.is_empty() && p.service.is_none();
        bare && p.states.iter().any(new) && p.states.iter().any(each)
    };
    let phrases = clauses.iter().flat_map(|c| c.phrases());
    event
        .told
        .extend(phrases.filter(fresh).filter_map(|p| p.head));
    for clause in clauses {
        let Some(verb) = &clause.verb else {
            continue;
        };
        // In some languages one word says "if" and "when": at the beginning, with the verb of an event, it is the latter.
        let begins = clause.fresh && clause.sentence == 0 && EVENTS.iter().any(|f| verb.calls(f));
        if clause.intro != Intro::When && !(clause.intro == Intro::If && begins) {
            continue;
        }
        event.told.insert(clause.from);
        event.told.insert(verb.at);
        let helpers = (clause.from..verb.at).filter(|i| chart.item(*i).verb().is_some());
        event.told.extend(helpers);
        let subject = clause
            .before
            .iter()
            .find(|p| p.names.is_empty() && p.compared.is_none());
        // "a webhook receives a signup": what comes is what starts it.
        let comes = clause
            .after
            .iter()
            .find(|p| p.names.is_empty() && p.compared.is_none() && p.prep.is_empty())
            .filter(|_| verb.calls("RECEIVE"));
        for head in [subject, comes]
            .into_iter()
            .flatten()
            .filter_map(|p| p.head)
        {
            event.told.insert(head);
            event
                .brought
                .extend(chart.item(head).noun().map(|n| n.concept.clone()));
        }
    }
    event
}
