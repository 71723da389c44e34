//! What a specification says before its numbered steps: headings, and sentences that tell what it is for. Neither is a step.

use crate::chart::{Chart, Item};
use crate::time::{TimeMeaning, TimeSpan};
use std::collections::HashSet;
use std::ops::Range;

/// The parts of a request, in bytes, that ask for nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Preface {
    /// What the first heading says.
    pub title: Option<Range<usize>>,
    pub parts: Vec<Range<usize>>,
}

impl Preface {
    /// Whether an item stands in it.
    pub fn holds(&self, item: &Item) -> bool {
        let within = |part: &Range<usize>| part.start <= item.from && item.to <= part.end;
        self.parts.iter().any(within)
    }
}

/// Reads it; empty without a heading, and where fewer than two numbered lines ask for something.
pub(crate) fn preface(text: &str, chart: &Chart, times: &[TimeSpan]) -> Preface {
    /// With fewer, a list may be one of names, or of cases.
    const FEWEST_STEPS: usize = 2;
    let lines = lines(text);
    let asks = |line: &&Range<usize>| {
        let mut items = chart.items.iter().filter(|i| inside(i, line));
        items.any(|i| i.verb().is_some() || i.service().is_some())
    };
    let numbered = || lines.iter().filter(|line| is_numbered(said(text, line)));
    let Some(first) = numbered()
        .next()
        .filter(|_| numbered().filter(asks).count() >= FEWEST_STEPS)
    else {
        return Preface::default();
    };
    // Where the list does not say what starts the workflow, what stands before it may.
    let starts = |line: &&Range<usize>| {
        let mut items = chart.items.iter().filter(|i| inside(i, line));
        items.any(|i| begins(i, times))
    };
    if numbered().find(starts).is_none() {
        return Preface::default();
    }
    let headings = lines.iter().enumerate().filter(|(n, line)| {
        let next = lines.get(n + 1).map_or("", |next| said(text, next));
        is_heading(said(text, line), next)
    });
    let headings: Vec<Range<usize>> = headings.map(|(_, line)| line.clone()).collect();
    if headings.is_empty() {
        return Preface::default();
    }
    let before = chart.items.iter().filter(|i| i.from < first.start);
    let sentences = before.collect::<Vec<_>>();
    // What stands in a section of its own, before the one of the steps, is no step where the steps name its services again.
    let steps = headings.iter().rev().find(|line| line.end <= first.start);
    let named: HashSet<&str> = numbered()
        .flat_map(|line| chart.items.iter().filter(|i| inside(i, line)))
        .filter_map(|i| Some(i.service()?.key.as_str()))
        .collect();
    let again = |i: &Item| {
        let apart = steps.is_some_and(|heading| i.to <= heading.start);
        apart && i.service().is_some_and(|s| named.contains(s.key.as_str()))
    };
    let goals = sentences
        .split(|i| i.shape() == Some(crate::spot::Kind::End))
        .filter(|sentence| tells_a_goal(sentence, times, &again))
        .filter_map(|sentence| Some(sentence.first()?.from..sentence.last()?.to));
    Preface {
        title: headings.first().cloned(),
        parts: headings.iter().cloned().chain(goals).collect(),
    }
}

/// The lines of a text that hold something.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut from = 0;
    let mut found = Vec::new();
    for line in text.split_inclusive('\n') {
        found.push(from..from + line.trim_end().len());
        from += line.len();
    }
    found
}

fn said<'t>(text: &'t str, line: &Range<usize>) -> &'t str {
    text.get(line.clone()).unwrap_or("").trim()
}

fn inside(item: &Item, line: &Range<usize>) -> bool {
    line.start <= item.from && item.to <= line.end
}

/// "1. …", "2) …".
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(['.', ')'])
}

/// "# …", "**…**", or a line that is underlined.
fn is_heading(line: &str, next: &str) -> bool {
    let marked = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    let bold = line.len() > 4 && line.starts_with("**") && line.ends_with("**");
    marked || bold || is_rule(line) || !line.is_empty() && is_rule(next)
}

fn is_rule(line: &str) -> bool {
    let of = |mark: char| line.len() > 2 && line.chars().all(|c| c == mark);
    of('=') || of('-')
}

/// Whether an item tells of what starts a workflow.
fn begins(item: &Item, times: &[TimeSpan]) -> bool {
    /// Frames of verbs that do.
    const EVENTS: [&str; 5] = ["HAPPEN", "RECEIVE", "SUBMIT", "SIGNUP", "FAIL"];
    let timed = times.iter().any(|t| {
        let rhythm = matches!(
            t.means,
            TimeMeaning::Schedule { .. } | TimeMeaning::AtTime { .. }
        );
        rhythm && t.from <= item.from && item.to <= t.to
    });
    let event = item
        .verb()
        .is_some_and(|v| EVENTS.iter().any(|f| v.calls(f)));
    let named = item
        .noun()
        .is_some_and(|n| matches!(n.concept.as_str(), "trigger" | "webhook"));
    timed || event || named || item.is("when")
}

/// Whether a sentence before the steps names nothing that a workflow could hold but for services that the steps name `again`, and no
/// event or condition.
fn tells_a_goal(sentence: &[&Item], times: &[TimeSpan], again: &dyn Fn(&Item) -> bool) -> bool {
    let timed = |i: &Item| times.iter().any(|t| t.from <= i.from && i.to <= t.to);
    let binds = |i: &Item| {
        let joint = ["if", "unless", "only", "else"].iter().any(|c| i.is(c));
        let figure = i.shape() == Some(crate::spot::Kind::Number);
        let named = i.literal() || i.service().is_some() && !again(i);
        // "I need a form", "an assistant for our team": what it is to be.
        let made = i.noun().is_some_and(|n| {
            matches!(n.kind(), "web" | "ai")
                || matches!(
                    n.concept.as_str(),
                    "form" | "submission" | "conversation" | "bot"
                )
        });
        joint || begins(i, times) || figure || named || made || timed(i)
    };
    !sentence.is_empty() && !sentence.iter().any(|i| binds(i))
}
