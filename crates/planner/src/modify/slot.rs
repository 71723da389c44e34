//! New values of what is there: a channel, a tab, an address, a text, a bound, a time. What a value is says where it can stand, so a
//! channel's name is never put where a sheet's stands, and never into a part of something; where two places fit, it is asked.

mod answer;
mod bound;
mod step;
mod table;
mod timing;

use super::{named, value, words};
use crate::chart::{Chart, Item, chart};
use crate::compile::existing::Patch;
use crate::compile::words::fold;
use crate::spot::Kind;
use agentctl_n8n::Workflow;
use serde_json::Value;
use std::ops::Range;
use table::{Place, name_of, places};

pub(super) use bound::bounds;
#[cfg(test)]
pub(super) use table::SLOTS;
pub(crate) use table::{is_astray, is_open, is_unsaid};
pub(super) use table::{is_part, misplaced};
pub(super) use timing::clock_of;

/// What says that something changes, and not what.
const BARE: [&str; 6] = ["bare", "filler", "instead", "better", "pronoun", "correct"];

/// What became of a clause.
pub(super) enum Read {
    /// It sets nothing that is there; others may read it.
    Other,
    Done,
    /// Several nodes have such a place: the value, and the nodes.
    Which(String, Vec<String>),
}

/// A value that the clause names.
struct Said<'t> {
    kind: Kind,
    text: &'t str,
    place: Range<usize>,
    /// The nodes that hold it already, or are called so.
    at: Vec<String>,
    /// It is what something else comes in the place of.
    old: bool,
}

/// A clause with what was found in it.
struct Clause<'t> {
    text: &'t str,
    language: &'t str,
    chart: Chart,
}

impl Clause<'_> {
    fn has(&self, class: &str) -> bool {
        words::has(self.text, self.language, class)
    }
    fn also(&self) -> bool {
        // "Too low" is no "too".
        let remarks = self.places(&["remark"]);
        let remarked = |item: &Item| {
            remarks
                .iter()
                .any(|place| place.start <= item.from && item.to <= place.end)
        };
        let mut items = self.chart.items.iter();
        self.has("more") || items.any(|i| i.is("also") && !remarked(i))
    }
    fn places(&self, classes: &[&str]) -> Vec<Range<usize>> {
        let places = |class: &&str| words::places(self.text, self.language, class);
        classes.iter().flat_map(places).collect()
    }
    /// Whether it says nothing besides these places, but that it is a change.
    fn is_bare(&self, mut taken: Vec<Range<usize>>) -> bool {
        taken.extend(self.places(&BARE));
        words::words(self.text).iter().all(|(word, _)| {
            taken
                .iter()
                .any(|place| place.start <= word.start && word.end <= place.end)
        })
    }
    /// Whether it says nothing besides these places, but which part of a node has them: "the channel is now #ops".
    fn names_part(&self, mut taken: Vec<Range<usize>>) -> bool {
        const SMALL: [&str; 11] = [
            "auxiliary",
            "be",
            "now",
            "article",
            "definite",
            "to",
            "group",
            "goes",
            "new",
            "raise",
            "exchange",
        ];
        taken.extend(self.places(&SMALL));
        let parts = self.chart.items.iter().filter(|item| {
            let noun = item.noun().is_some_and(|noun| is_part(&noun.concept));
            noun || item.stops()
        });
        taken.extend(parts.map(|item| item.from..item.to));
        self.is_bare(taken)
    }
    fn concepts(&self) -> Vec<&str> {
        let nouns = self.chart.items.iter().filter_map(Item::noun);
        nouns.map(|noun| noun.concept.as_str()).collect()
    }
}

type Reader = fn(&mut Patch<'_>, &Clause<'_>, &[String]) -> Read;

/// Whether a clause wants something beside what there is.
pub(super) fn adds(text: &str, language: &str) -> bool {
    let clause = Clause {
        text,
        language,
        chart: chart(text, language),
    };
    clause.also() && !clause.has("instead")
}

/// Whether a value that is no expression stands no more where it stood, nor as a part of what stands there now.
pub(super) fn overwrites(before: &Workflow, after: &Workflow) -> bool {
    before.nodes.iter().any(|was| {
        let now = after.nodes.iter().find(|now| now.id() == was.id());
        let pair = was.parameters().zip(now.and_then(|now| now.parameters()));
        pair.is_some_and(|(was, now)| was.iter().any(|(key, value)| !stays(value, now.get(key))))
    })
}

fn stays(was: &Value, now: Option<&Value>) -> bool {
    match (was, now) {
        (Value::String(was), _) if was.is_empty() || was.starts_with('=') => true,
        (Value::String(was), Some(Value::String(now))) => now.contains(was.as_str()),
        (Value::Object(was), Some(Value::Object(now))) => {
            was.iter().all(|(key, value)| stays(value, now.get(key)))
        }
        (Value::Array(was), Some(Value::Array(now))) => was
            .iter()
            .all(|value| now.iter().any(|n| stays(value, Some(n)))),
        (was, now) => Some(was) == now,
    }
}

/// Reads a clause and does what it says.
pub(super) fn read(patch: &mut Patch<'_>, text: &str, language: &str, kept: &[String]) -> Read {
    let clause = Clause {
        text,
        language,
        chart: chart(text, language),
    };
    // "Orders under 100 go to #small" is a way of its own.
    let compares = |i: &Item| i.is("more") || i.is("less");
    let conditional = clause
        .chart
        .items
        .iter()
        .any(|i| i.is("if") || i.is("unless") || i.is("else"));
    if clause.has("before") || conditional {
        return Read::Other;
    }
    match answer::answered(patch, &clause, kept) {
        Read::Other => {}
        done => return done,
    }
    let literals = literals(&clause, patch.workflow());
    if literals.iter().all(|said| !said.at.is_empty()) {
        match step::switched(patch, &clause, kept) {
            Read::Other => {}
            done => return done,
        }
    }
    if clause.also() || (!literals.is_empty() && clause.chart.items.iter().any(compares)) {
        return Read::Other;
    }
    if literals.iter().any(|said| said.at.is_empty() && !said.old) {
        return put(patch, &clause, &literals, kept);
    }
    if literals.is_empty() {
        let readers: [Reader; 4] = [bound::bound, timing::waited, timing::timed, bound::worded];
        for reader in readers {
            match reader(patch, &clause, kept) {
                Read::Other => {}
                done => return done,
            }
        }
    }
    Read::Other
}

/// The literals of a clause, each with where it stands already.
fn literals<'t>(clause: &Clause<'t>, workflow: &Workflow) -> Vec<Said<'t>> {
    let mut found = Vec::new();
    for item in &clause.chart.items {
        let Some(kind) = item.shape().filter(|kind| !name_of(*kind).is_empty()) else {
            continue;
        };
        let before = clause.text.get(..item.from).unwrap_or_default().trim_end();
        if kind == Kind::Number && !is_of_group(before, clause.language) {
            continue;
        }
        let text = clause.text.get(item.from..item.to).unwrap_or_default();
        let text = unquoted(text);
        let held = places(workflow, kind, None, &[]);
        let held = held
            .into_iter()
            .filter(|p| p.holds.iter().any(|v| same(v, text)));
        let mut at: Vec<String> = held.map(|place| place.node).collect();
        at.extend(
            workflow
                .nodes
                .iter()
                .map(|n| n.name().to_owned())
                .filter(|n| fold(n) == fold(text)),
        );
        // What stands right behind "instead of".
        let between = |of: &Range<usize>| {
            clause
                .text
                .get(of.end..item.from)
                .is_some_and(|t| words::words(t).len() < 3)
        };
        let old = words::places(clause.text, clause.language, "of")
            .iter()
            .any(between);
        found.push(Said {
            kind,
            text,
            place: item.from..item.to,
            at,
            old,
        });
    }
    found
}

/// "Chat 42", "the chat is 42", "a new chat, 42": whether the number behind this is that of a group.
fn is_of_group(before: &str, language: &str) -> bool {
    const BETWEEN: [&str; 7] = ["be", "to", "now", "article", "auxiliary", "goes", "step"];
    let groups = words::places(before, language, "group")
        .into_iter()
        .map(|group| group.end);
    // "The telegram is 42 now".
    let items = chart(before, language).items;
    let services = items
        .iter()
        .filter(|item| item.service().is_some_and(|s| s.is("chat")));
    let ends = groups.chain(services.map(|item| item.to));
    let Some(end) = ends.max() else {
        return false;
    };
    let between = before.get(end..).unwrap_or_default();
    let known: Vec<Range<usize>> = { BETWEEN.iter() }
        .flat_map(|class| words::places(between, language, class))
        .collect();
    let said = words::words(between);
    said.iter().all(|(word, _)| {
        known
            .iter()
            .any(|place| place.start <= word.start && word.end <= place.end)
    })
}

fn unquoted(text: &str) -> &str {
    let marks = ['\'', '"', '`', '“', '”', '„', '«', '»', '‘', '’'];
    text.trim().trim_matches(marks).trim()
}

fn same(a: &str, b: &str) -> bool {
    fold(a.trim_start_matches('#')) == fold(b.trim_start_matches('#'))
}

fn put(patch: &mut Patch<'_>, clause: &Clause<'_>, literals: &[Said<'_>], kept: &[String]) -> Read {
    let new: Vec<&Said> = literals
        .iter()
        .filter(|said| said.at.is_empty() && !said.old)
        .collect();
    if let Some(read) = part_of_text(patch, literals, kept) {
        return read;
    }
    for one in &new {
        match put_one(patch, clause, one, literals, kept) {
            Read::Done => {}
            other => return other,
        }
    }
    match new.is_empty() {
        true => Read::Other,
        false => Read::Done,
    }
}

/// "Write 'Order' instead of 'New order' there": a part of the one text that has it outside of its expressions; None: it is no such
/// exchange.
fn part_of_text(patch: &mut Patch<'_>, literals: &[Said<'_>], kept: &[String]) -> Option<Read> {
    let quotes = literals.iter().all(|said| said.kind == Kind::Quote);
    let (old, new): (Vec<_>, Vec<_>) = literals.iter().partition(|said| said.old);
    let ([old], [new]) = (old.as_slice(), new.as_slice()) else {
        return None;
    };
    if !quotes || !old.at.is_empty() || !new.at.is_empty() {
        return None;
    }
    let plainly = |text: &str| {
        let outside = text.split("}}").filter_map(|part| part.split("{{").next());
        outside
            .map(|part| part.matches(old.text).count())
            .sum::<usize>()
    };
    let found = places(patch.workflow(), Kind::Quote, None, kept);
    let mut holding = found.into_iter().filter_map(|place| {
        let [text] = place.holds.as_slice() else {
            return None;
        };
        let outside = plainly(text);
        let whole = outside > 0 && outside == text.matches(old.text).count();
        let text = whole.then(|| text.replace(old.text, new.text))?;
        Some((place.node, place.path, text))
    });
    let (node, path, text) = holding.next()?;
    let alone = holding.next().is_none();
    (alone && value::put(patch, &node, path, &text)).then_some(Read::Done)
}

fn put_one(
    patch: &mut Patch<'_>,
    clause: &Clause<'_>,
    new: &Said<'_>,
    literals: &[Said<'_>],
    kept: &[String],
) -> Read {
    let known: Vec<&Said> = literals.iter().filter(|said| !said.at.is_empty()).collect();
    let concepts = clause.concepts();
    let mut fitting = places(patch.workflow(), new.kind, Some(concepts.as_slice()), kept);
    // "in #sales … it should say 'Hello'": the text of what posts there.
    let says = !known.is_empty() || clause.has("says");
    if fitting.is_empty() && new.kind == Kind::Quote && says {
        fitting = places(patch.workflow(), new.kind, Some(&["text"]), kept);
    }
    for said in &known {
        fitting.retain(|place| said.at.contains(&place.node));
    }
    let nodes: Vec<String> = fitting.iter().map(|p| p.node.clone()).collect();
    let mut meant = named::best(patch.workflow(), clause.text, &clause.chart, &nodes, 1);
    // "The message of the mail": of several the one behind "of".
    if meant.len() > 1
        && let Some(of) = clause
            .places(&["owner"])
            .into_iter()
            .max_by_key(|of| of.end)
        && let Some(owner) = clause.text.get(of.end..)
    {
        let owner = owner
            .split([',', '«', '"', '\'', '“', '„'])
            .next()
            .unwrap_or(owner);
        let items = chart(owner, clause.language);
        let owners = named::best(patch.workflow(), owner, &items, &meant, 1);
        if owners.len() == 1 {
            meant = owners;
        }
    }
    if fitting.len() > 1 && !meant.is_empty() {
        fitting.retain(|place| meant.contains(&place.node));
    }
    let is_change = clause.has("instead")
        || clause.has("now")
        || clause.has("be")
        || !known.is_empty()
        || !meant.is_empty()
        || clause.names_part(vec![new.place.clone()])
        || (fitting.len() == 1 && clause.has("pronoun") && !clause.has("then"))
        || fitting.iter().any(|p| {
            p.holds
                .iter()
                .any(|v| new.kind == Kind::Url && host(v) == host(new.text))
        });
    if !is_change {
        return Read::Other;
    }
    // What it should take the place of is nowhere.
    let lost = literals.iter().any(|said| said.old && said.at.is_empty());
    // What it should take the place of names the places: each one that holds it.
    let holds_old = |place: &Place| {
        let mut old = literals.iter().filter(|said| said.old);
        old.any(|said| place.holds.iter().any(|value| same(value, said.text)))
    };
    match fitting.as_slice() {
        [] => Read::Other,
        [place] if !lost => match value::put(patch, &place.node, place.path, new.text) {
            true => Read::Done,
            false => Read::Other,
        },
        several if !lost && several.iter().all(holds_old) => {
            let put = |place: &Place| value::put(patch, &place.node, place.path, new.text);
            match several.iter().all(put) {
                true => Read::Done,
                false => Read::Other,
            }
        }
        several => {
            let nodes = several.iter().map(|p| p.node.clone()).collect();
            Read::Which(new.text.to_owned(), nodes)
        }
    }
}

fn host(url: &str) -> Option<&str> {
    url.split("://").nth(1)?.split('/').next()
}

fn of_type(workflow: &Workflow, short: &str, kept: &[String]) -> Vec<String> {
    let nodes = workflow
        .nodes
        .iter()
        .filter(|n| agentctl_n8n::short_type(n.node_type()) == short);
    let names = nodes.map(|n| n.name().to_owned());
    names.filter(|n| !kept.contains(n)).collect()
}

fn edit(
    patch: &mut Patch<'_>,
    name: &str,
    change: impl FnOnce(&mut serde_json::Map<String, Value>),
) -> Read {
    let Some(node) = patch.workflow_mut().node_by_name_mut(name) else {
        return Read::Other;
    };
    node.edit_parameters(change);
    Read::Done
}
