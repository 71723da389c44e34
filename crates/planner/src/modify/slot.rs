//! New values of what is there: a channel, a tab, an address, a text, a bound, a time. What a value is says where it can stand, so a
//! channel's name is never put where a sheet's stands, and never into a part of something; where two places fit, it is asked.

use super::{named, order, value, wire, words};
use crate::chart::{Chart, Item, chart};
use crate::compile::existing::Patch;
use crate::compile::schedule;
use crate::compile::words::fold;
use crate::lex::Table;
use crate::plan::ScheduleRule;
use crate::spot::Kind;
use crate::time::{TimeMeaning, TimeSpan, spans};
use agentctl_n8n::Workflow;
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::LazyLock;

/// What goes or is switched must be named by more than a word of its name: orders that go are no step.
const STEP: usize = 3;

/// What says that something changes, and not what.
const BARE: [&str; 6] = ["bare", "filler", "instead", "better", "pronoun", "correct"];

/// Whether a noun means a part of a node, whatever the node is.
pub(super) fn is_part(concept: &str) -> bool {
    slots().iter().any(|slot| slot.concepts.contains(&concept))
}

/// What became of a clause.
pub(super) enum Read {
    /// It sets nothing that is there; others may read it.
    Other,
    Done,
    /// Several nodes have such a place: the value, and the nodes.
    Which(String, Vec<String>),
}

/// A kind of place.
struct Slot {
    literals: Vec<&'static str>,
    /// With the short type of the only node that has it so, if there is one.
    paths: Vec<(Option<&'static str>, &'static str)>,
    concepts: Vec<&'static str>,
    /// Nouns that mean it only where the clause names no part.
    loose: Vec<&'static str>,
}

pub(super) const SLOTS: Table = Table {
    file: "slots.tsv",
    text: include_str!("../../knowledge/slots.tsv"),
    columns: 5,
};

fn slots() -> &'static [Slot] {
    static ALL: LazyLock<Vec<Slot>> = LazyLock::new(|| {
        let slots = SLOTS.rows().filter_map(|cells| match cells.as_slice() {
            [_, literals, paths, concepts, loose, ..] => Some(Slot {
                literals: literals.split_whitespace().collect(),
                paths: paths
                    .split('|')
                    .map(|path| match path.split_once(':') {
                        Some((node, path)) => (Some(node), path),
                        None => (None, path),
                    })
                    .collect(),
                concepts: concepts.split('|').collect(),
                loose: loose.split('|').collect(),
            }),
            _ => None,
        });
        slots.collect()
    });
    &ALL
}

impl Slot {
    /// Whether it is meant only by its noun ("the sender"), and then nothing else is.
    fn is_alone(&self) -> bool {
        self.loose.contains(&"!")
    }
}

fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Channel => "channel",
        Kind::Quote => "quote",
        Kind::Mail => "mail",
        Kind::Phone => "phone",
        Kind::Url => "url",
        Kind::Number => "number",
        _ => "",
    }
}

/// A place in a node that holds a value now.
struct Place {
    node: String,
    path: &'static str,
    holds: Vec<String>,
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
    let literals = literals(&clause, patch.workflow());
    if literals.iter().all(|said| !said.at.is_empty()) {
        match switched(patch, &clause, kept) {
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
        let readers: [Reader; 4] = [bound, waited, timed, worded];
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

/// The places of a workflow that can hold such a literal; `concepts`: of a quoted text only what one of these nouns means, by a part's
/// name before a node's ("the subject of the mail").
fn places(
    workflow: &Workflow,
    kind: Kind,
    concepts: Option<&[&str]>,
    kept: &[String],
) -> Vec<Place> {
    let strict: fn(&Slot) -> &[&'static str] = |slot| &slot.concepts;
    let alone: fn(&Slot) -> &[&'static str] = |slot| match slot.is_alone() {
        true => &slot.concepts,
        false => &[],
    };
    let own = concepts.map(|c| places_by(workflow, kind, Some((c, alone)), kept));
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        return own;
    }
    let found = places_by(workflow, kind, concepts.map(|c| (c, strict)), kept);
    match concepts.filter(|_| found.is_empty()) {
        Some(concepts) => places_by(workflow, kind, Some((concepts, |slot| &slot.loose)), kept),
        None => found,
    }
}

/// Nouns, and which of them mean a slot.
type Nouns<'c> = (&'c [&'c str], fn(&Slot) -> &[&'static str]);

fn places_by(
    workflow: &Workflow,
    kind: Kind,
    nouns: Option<Nouns<'_>>,
    kept: &[String],
) -> Vec<Place> {
    let mut found = Vec::new();
    for node in workflow
        .nodes
        .iter()
        .filter(|n| !kept.iter().any(|k| k == n.name()))
    {
        let short = agentctl_n8n::short_type(node.node_type());
        for slot in slots()
            .iter()
            .filter(|s| s.literals.contains(&name_of(kind)))
        {
            if let Some((nouns, of)) = nouns
                && (kind == Kind::Quote || slot.is_alone() || of(slot).is_empty())
                && !of(slot).iter().any(|c| nouns.contains(c))
            {
                continue;
            }
            for (only, path) in &slot.paths {
                let holds = node.parameters().and_then(|p| p.get(*path)).map(held);
                if let Some(holds) =
                    holds.filter(|h| !h.is_empty() && only.is_none_or(|t| t == short))
                {
                    found.push(Place {
                        node: node.name().to_owned(),
                        path,
                        holds,
                    });
                }
            }
        }
    }
    found
}

/// Whether an address was written that is none: each new value of a place for addresses (`slots.tsv`: literals `mail` and `url` alone)
/// is one, an expression or a hole to be filled.
pub(super) fn misplaced(before: &Workflow, after: &Workflow) -> bool {
    let is_address = |text: &str, kind: &str| {
        let sign = if kind == "mail" { '@' } else { '.' };
        text.contains(sign) || text.starts_with(['=', '<', '/'])
    };
    after.nodes.iter().any(|node| {
        // What a new node holds is the assembler's.
        let Some(was) = before.node(&node.id()).and_then(|n| n.parameters()) else {
            return false;
        };
        let slots = slots()
            .iter()
            .filter_map(|slot| match slot.literals.as_slice() {
                [kind @ ("mail" | "url")] => Some((kind, &slot.paths)),
                _ => None,
            });
        slots.into_iter().any(|(kind, paths)| {
            paths.iter().any(|(_, path)| {
                let value = |p: &serde_json::Map<String, Value>| p.get(*path).map(held);
                let now = node.parameters().and_then(value).unwrap_or_default();
                let was = value(was).unwrap_or_default();
                now != was && !now.iter().all(|text| is_address(text, kind))
            })
        })
    })
}

/// Whether a place of a node (its short type, a parameter) holds an address of mail and is for telephone numbers alone.
pub(crate) fn is_astray(node: &str, parameter: &str, value: &Value) -> bool {
    let phones = slots().iter().filter(|slot| slot.literals == ["phone"]);
    let mut places = phones.flat_map(|slot| &slot.paths);
    let is_place = places.any(|(of, path)| *path == parameter && of.is_none_or(|of| of == node));
    let is_mail = |text: &String| match text.strip_prefix('=') {
        Some(read) => reads_mail(read),
        None => text.contains('@') && !text.starts_with('<'),
    };
    is_place && held(value).iter().any(is_mail)
}

/// `<Event ID>`: a value that is still to be filled in.
pub(crate) fn is_open(text: &str) -> bool {
    text.starts_with('<') && text.ends_with('>')
}

/// Whether a parameter that holds what is said or written (`slots.tsv`: what a noun means by "text") is still to be filled in; `fileContent` is such a one,
/// too.
pub(crate) fn is_unsaid(parameter: &str, value: &Value) -> bool {
    let name = parameter.to_lowercase();
    let texts = slots()
        .iter()
        .filter(|slot| slot.concepts.contains(&"text"));
    let mut places = texts.flat_map(|slot| &slot.paths);
    places.any(|(_, path)| name.ends_with(path)) && held(value).iter().any(|text| is_open(text))
}

/// Whether an expression gives a field that holds an address of mail, by its name.
fn reads_mail(expression: &str) -> bool {
    let inner = expression
        .trim()
        .trim_start_matches("{{")
        .trim_end_matches("}}");
    let name = inner.trim().trim_end_matches(['\'', '"', ']']);
    let name = name.rsplit(['.', '\'', '"', '[']).next().unwrap_or(name);
    name.to_lowercase().contains("mail")
}

/// What a place holds: a text, or a locator's value and the name that is shown for it.
fn held(value: &Value) -> Vec<String> {
    let texts = match value {
        Value::Object(map) if map.contains_key("__rl") => {
            vec![map.get("value"), map.get("cachedResultName")]
        }
        other => vec![Some(other)],
    };
    let texts = texts.into_iter().flatten().filter_map(Value::as_str);
    texts.filter(|t| !t.is_empty()).map(str::to_owned).collect()
}

fn put(patch: &mut Patch<'_>, clause: &Clause<'_>, literals: &[Said<'_>], kept: &[String]) -> Read {
    let new: Vec<&Said> = literals
        .iter()
        .filter(|said| said.at.is_empty() && !said.old)
        .collect();
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

/// "above 250", "150, not 100": the number that a condition compares with.
fn bound(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    let times = spans(clause.text, clause.language);
    // "36 hours" of a field that counts hours, "a limit of 5 days" are no times.
    let all: Vec<String> = bounds(patch.workflow(), kept)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let compared = compared_words(patch.workflow(), &all, clause.text);
    let is_bound = clause.has("bound") && of_type(patch.workflow(), "wait", kept).is_empty();
    let in_time = |item: &Item| {
        times.iter().any(|t| {
            let counted = compared.iter().any(|c| t.from <= c.start && c.end <= t.to);
            let whole = t.cost < 2 && t.from <= item.from && item.to <= t.to;
            whole && !counted && !is_bound
        })
    };
    let numbers: Vec<(usize, f64)> = (0..)
        .zip(&clause.chart.items)
        .filter(|(_, item)| item.shape() == Some(Kind::Number) && !in_time(item))
        .filter_map(|(at, item)| Some((at, item.text.replace(',', "").parse().ok()?)))
        .collect();
    let bounds = bounds(patch.workflow(), kept);
    let is_old = |n: f64| bounds.iter().any(|(_, bound)| *bound == n);
    let new: Vec<&(usize, f64)> = numbers.iter().filter(|(_, n)| !is_old(*n)).collect();
    let [(at, number)] = new.as_slice() else {
        return Read::Other;
    };
    let old: Vec<f64> = numbers
        .iter()
        .map(|(_, n)| *n)
        .filter(|n| is_old(*n))
        .collect();
    let before = at.checked_sub(1).and_then(|i| clause.chart.items.get(i));
    let signed =
        |item: &Item, sign: char| item.shape() == Some(Kind::Sign) && item.text.starts_with(sign);
    let upward = before.filter(|i| !i.tells("or")).and_then(|i| {
        match (
            i.is("more") || signed(i, '>'),
            i.is("less") || signed(i, '<'),
        ) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    });
    let compared = upward.is_some();
    let figures: Vec<Range<usize>> = numbers
        .iter()
        .filter_map(|(at, _)| clause.chart.items.get(*at))
        .map(|item| item.from..item.to)
        .collect();
    let mut fitting: Vec<String> = bounds
        .iter()
        .filter(|(_, bound)| old.is_empty() || old.contains(bound))
        .map(|(node, _)| node.clone())
        .collect();
    let meant = named::best(patch.workflow(), clause.text, &clause.chart, &fitting, 1);
    if fitting.len() > 1 && !meant.is_empty() {
        fitting = meant;
    }
    // "Raise the limit to 300", "the number of signups should be 25": the bound is named, and nothing else is.
    let named = || {
        let mut known = clause.places(&["bound", "raise", "be", "now", "unit"]);
        known.extend(clause.places(&BARE));
        known.extend(compared_words(patch.workflow(), &fitting, clause.text));
        if clause.has("bound") {
            known.extend(words_behind(patch.workflow(), &fitting, clause.text));
        }
        let also = known.len();
        known.extend(figures.iter().cloned());
        also > 0
            && !named::says_more(
                patch.workflow(),
                &fitting,
                clause.text,
                clause.language,
                known,
            )
    };
    if old.is_empty() && !compared && !clause.is_bare(figures.clone()) && !named() {
        return Read::Other;
    }
    // "Under 18" where more than 18 is asked for is another question.
    if let (Some(upward), [node]) = (upward, fitting.as_slice())
        && asks_upward(patch.workflow(), node).is_some_and(|asks| asks != upward)
    {
        return Read::Other;
    }
    match fitting.as_slice() {
        [] => Read::Other,
        [node] => match value::set_condition(patch, node, &number.to_string()) {
            true => Read::Done,
            false => Read::Other,
        },
        _ => Read::Which(number.to_string(), fitting),
    }
}

/// Where a text has words of the names of what these nodes lead to: "the approval limit".
fn words_behind(workflow: &Workflow, nodes: &[String], text: &str) -> Vec<Range<usize>> {
    let edges = workflow.edges();
    let behind = edges.filter(|(from, ..)| nodes.iter().any(|name| name == from));
    let names: Vec<String> = behind
        .flat_map(|(_, _, _, link)| words::words(&link.node))
        .map(|(_, word)| word)
        .collect();
    let said = words::words(text).into_iter();
    let own = said.filter(|(_, word)| names.iter().any(|name| named::alike(name, word)));
    own.map(|(place, _)| place).collect()
}

/// Where a text has words of what these nodes compare.
fn compared_words(workflow: &Workflow, nodes: &[String], text: &str) -> Vec<Range<usize>> {
    let mut fields: Vec<String> = Vec::new();
    for node in nodes.iter().filter_map(|name| workflow.node_by_name(name)) {
        let list = node
            .parameters()
            .and_then(|p| p.get("conditions")?.get("conditions"));
        let lefts = list.and_then(Value::as_array).into_iter().flatten();
        let lefts = lefts.filter_map(|c| c.get("leftValue")?.as_str());
        fields.extend(lefts.flat_map(words::words).map(|(_, word)| word));
    }
    let said = words::words(text).into_iter();
    let own = said.filter(|(_, word)| fields.iter().any(|field| named::alike(field, word)));
    own.map(|(place, _)| place).collect()
}

/// "No, Austria", "rather: order": the one text that a condition compares with.
fn worded(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    const MOST: usize = 2;
    let signs = clause.places(&BARE);
    let is_sign = |item: &&Item| {
        signs
            .iter()
            .any(|place| place.start <= item.from && item.to <= place.end)
    };
    let items = clause.chart.items.iter().filter(|item| !item.stops());
    let said: Vec<&Item> = items.filter(|item| !is_sign(item)).collect();
    let is_name = |item: &&Item| {
        item.capital && item.service().is_none() && matches!(item.shape(), None | Some(Kind::Word))
    };
    let corrects = clause.has("correct") || clause.has("better");
    let (Some(first), Some(last)) = (said.first(), said.last()) else {
        return Read::Other;
    };
    if !corrects || said.len() > MOST || !said.iter().all(is_name) {
        return Read::Other;
    }
    let new = clause.text.get(first.from..last.to).unwrap_or_default();
    let texts = |node: &agentctl_n8n::Node| {
        let list = node.parameters()?.get("conditions")?.get("conditions")?;
        let [only] = list.as_array()?.as_slice() else {
            return None;
        };
        let held = only.get("rightValue")?.as_str()?;
        (!held.is_empty() && held.parse::<f64>().is_err()).then(|| node.name().to_owned())
    };
    let found: Vec<String> = patch.workflow().nodes.iter().filter_map(texts).collect();
    let [name] = found.as_slice() else {
        return Read::Other;
    };
    if kept.contains(name) {
        return Read::Other;
    }
    edit(patch, name, |params| {
        let value = params.get_mut("conditions");
        let value = value.and_then(|c| c.pointer_mut("/conditions/0/rightValue"));
        if let Some(value) = value {
            *value = json!(new);
        }
    })
}

/// Whether the one condition of a node asks for more than its number; None: it asks for neither more nor less.
fn asks_upward(workflow: &Workflow, node: &str) -> Option<bool> {
    let list = workflow.node_by_name(node)?.parameters()?;
    let list = list.get("conditions")?.get("conditions")?.as_array()?;
    let [only] = list.as_slice() else { return None };
    match only.get("operator")?.get("operation")?.as_str()? {
        "gt" | "gte" => Some(true),
        "lt" | "lte" => Some(false),
        _ => None,
    }
}

/// The nodes that compare with one number, and the number.
fn bounds(workflow: &Workflow, kept: &[String]) -> Vec<(String, f64)> {
    let nodes = workflow
        .nodes
        .iter()
        .filter(|n| !kept.iter().any(|k| k == n.name()));
    let bounds = nodes.filter_map(|node| {
        let list = node
            .parameters()?
            .get("conditions")?
            .get("conditions")?
            .as_array()?;
        let numbers = list.iter().filter_map(|c| c.get("rightValue"));
        let numbers = numbers.filter_map(|v| v.as_f64().or_else(|| v.as_str()?.parse().ok()));
        match numbers.collect::<Vec<_>>().as_slice() {
            [one] => Some((node.name().to_owned(), *one)),
            _ => None,
        }
    });
    bounds.collect()
}

/// The times of a clause that are not the old ones: what stands right behind "instead of" is one. None are new where something else stands there.
fn new_times(clause: &Clause<'_>) -> Vec<TimeSpan> {
    let mut times = spans(clause.text, clause.language);
    times.retain(|time| time.cost < 2);
    // "06:00 -> 05:30": the second is the new one.
    if let [old, new] = times.as_slice() {
        let between = clause.text.get(old.to..new.from).unwrap_or_default().trim();
        if ["->", "→", "=>", "-->"].contains(&between) {
            times.remove(0);
        }
    }
    for of in words::places(clause.text, clause.language, "of") {
        let behind = clause.text.get(of.end..).unwrap_or_default();
        // "At 9, not 8": a number alone is the old time.
        let last = behind.trim().rsplit(' ').next().unwrap_or_default();
        let number = !last.is_empty() && last.chars().all(|c| c.is_ascii_digit());
        match times.iter().position(|time| time.from >= of.end) {
            Some(old) => drop(times.remove(old)),
            None if number => {}
            None => return Vec::new(),
        }
    }
    times
}

fn of_type(workflow: &Workflow, short: &str, kept: &[String]) -> Vec<String> {
    let nodes = workflow
        .nodes
        .iter()
        .filter(|n| agentctl_n8n::short_type(n.node_type()) == short);
    let names = nodes.map(|n| n.name().to_owned());
    names.filter(|n| !kept.contains(n)).collect()
}

/// "wait two minutes": the one wait that there is.
fn waited(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    let waits = clause
        .chart
        .items
        .iter()
        .filter_map(Item::verb)
        .any(|v| v.calls("WAIT"));
    let times = new_times(clause);
    let better = clause.has("better") && clause.chart.items.iter().all(|i| i.verb().is_none());
    let better = better || clause.is_bare(times.iter().map(|time| time.from..time.to).collect());
    let (
        true,
        [
            TimeSpan {
                means: TimeMeaning::Duration { seconds },
                ..
            },
        ],
    ) = (waits || better, times.as_slice())
    else {
        return Read::Other;
    };
    let nodes = of_type(patch.workflow(), "wait", kept);
    let [name] = nodes.as_slice() else {
        return match nodes.is_empty() {
            true => Read::Other,
            false => Read::Which(clause.text.to_owned(), nodes),
        };
    };
    let (amount, unit) = value::as_said(*seconds, clause.text);
    edit(patch, name, |params| {
        params.insert("amount".into(), json!(amount));
        params.insert("unit".into(), json!(unit));
    })
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

/// "at 7:30", "weekdays only", "every hour": the one schedule that there is.
fn timed(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    // "Subject: Weekly revenue" says a text; "the time: 7:30" does not.
    let head = clause.text.split_once(": ").map_or("", |(head, _)| head);
    let items = chart(head, clause.language).items;
    if { items.iter().filter_map(Item::noun) }.any(|noun| is_part(&noun.concept)) {
        return Read::Other;
    }
    let names_a_service = clause.chart.items.iter().any(|i| i.service().is_some());
    let waits = clause
        .chart
        .items
        .iter()
        .filter_map(Item::verb)
        .any(|v| v.calls("WAIT"));
    let nodes = of_type(patch.workflow(), "scheduleTrigger", kept);
    let ([name], false, false) = (nodes.as_slice(), names_a_service, waits) else {
        return Read::Other;
    };
    let before = patch
        .workflow()
        .node_by_name(name)
        .and_then(|n| n.parameters()?.get("rule").cloned());
    let clock = before.as_ref().and_then(clock_of);
    let times = new_times(clause);
    let rules = match times.as_slice() {
        [
            TimeSpan {
                means: TimeMeaning::AtTime { hour, minute },
                ..
            },
        ] => {
            return at(patch, name, before, *hour, *minute);
        }
        [
            TimeSpan {
                means:
                    TimeMeaning::Window {
                        weekdays,
                        from: None,
                        not: false,
                        ..
                    },
                ..
            },
        ] if !weekdays.is_empty() => {
            let Some((hour, minute)) = clock else {
                return Read::Other;
            };
            vec![ScheduleRule::Weeks {
                n: 1,
                weekdays: weekdays.clone(),
                hour,
                minute,
            }]
        }
        [
            TimeSpan {
                means: TimeMeaning::Schedule { rules, only: None },
                from,
                to,
                ..
            },
        ] => {
            let said = clause.text.get(*from..*to).unwrap_or_default();
            rules
                .iter()
                .map(|rule| with_clock(rule, said, clock))
                .collect()
        }
        _ => return Read::Other,
    };
    edit(patch, name, |params| {
        params.insert("rule".into(), schedule::rule(&rules));
    })
}

/// Where no time of day is said (the reader takes 9:00 then), the one that there is stays.
fn with_clock(rule: &ScheduleRule, said: &str, clock: Option<(u32, u32)>) -> ScheduleRule {
    let mut rule = rule.clone();
    if let ScheduleRule::Days { hour, minute, .. }
    | ScheduleRule::Weeks { hour, minute, .. }
    | ScheduleRule::Months { hour, minute, .. } = &mut rule
        && (*hour, *minute) == (9, 0)
        && !said.contains('9')
        && let Some((old_hour, old_minute)) = clock
    {
        (*hour, *minute) = (old_hour, old_minute);
    }
    rule
}

/// The time of day at which a rule fires, where it fires once a day at most.
pub(super) fn clock_of(rule: &Value) -> Option<(u32, u32)> {
    let [one] = rule.get("interval")?.as_array()?.as_slice() else {
        return None;
    };
    if let Some((minute, hour, _)) = one.get("expression").and_then(Value::as_str).and_then(cron) {
        return Some((hour, minute));
    }
    let field = one.get("field").and_then(Value::as_str).unwrap_or("days");
    let number = |key: &str| u32::try_from(one.get(key).and_then(Value::as_u64).unwrap_or(0)).ok();
    let clock = number("triggerAtHour").zip(number("triggerAtMinute"));
    clock.filter(|_| ["days", "weeks", "months"].contains(&field))
}

/// Minute, hour and the days of a cron expression that fires once on each.
fn cron(expression: &str) -> Option<(u32, u32, String)> {
    let mut parts = expression.split_whitespace();
    let (minute, hour) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let days: Vec<&str> = parts.collect();
    (days.len() == 3).then(|| (minute, hour, days.join(" ")))
}

/// Another time of day, on the days that are set.
fn at(patch: &mut Patch<'_>, name: &str, rule: Option<Value>, hour: u32, minute: u32) -> Read {
    let Some(mut rule) = rule.filter(|rule| clock_of(rule).is_some()) else {
        return Read::Other;
    };
    if let Some(one) = rule
        .pointer_mut("/interval/0")
        .and_then(Value::as_object_mut)
    {
        match one.get("expression").and_then(Value::as_str).and_then(cron) {
            Some((_, _, days)) => {
                let expression = format!("{minute} {hour} {days}");
                one.insert("expression".into(), json!(expression));
            }
            None => {
                one.insert("triggerAtHour".into(), json!(hour));
                one.insert("triggerAtMinute".into(), json!(minute));
            }
        }
    }
    edit(patch, name, |params| {
        params.insert("rule".into(), rule);
    })
}

/// A step that goes, or stays and does nothing for now.
fn switched(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    let (off, on) = (clause.has("off"), clause.has("on"));
    let gone = clause.has("gone") || clause.has("stop");
    if !off && !on && !gone {
        return Read::Other;
    }
    // Of several steps others read.
    if clause.chart.items.iter().any(|i| i.is("and") || i.is("or")) {
        return Read::Other;
    }
    let counts = |i: &Item| matches!(i.shape(), Some(Kind::Number | Kind::Clock));
    let numbered = order::numbered(patch.workflow(), clause.text, clause.language);
    let is_nth = |i: &Item| {
        numbered
            .as_ref()
            .is_some_and(|(_, place)| place.start == i.from)
    };
    if clause.chart.items.iter().any(|i| counts(i) && !is_nth(i))
        || !spans(clause.text, clause.language).is_empty()
    {
        return Read::Other;
    }
    // What is done no more is a step; orders that go are none.
    let least = if gone && !clause.has("stop") { STEP } else { 1 };
    let mut meant = named::meant(patch.workflow(), clause.text, clause.language, least);
    meant.retain(|name| !kept.contains(name));
    // "And on again": the one that is off.
    if meant.is_empty() && on {
        let nodes = patch.workflow().nodes.iter();
        let is_off = |node: &&agentctl_n8n::Node| node.map().get("disabled") == Some(&json!(true));
        let disabled: Vec<String> = nodes.filter(is_off).map(|n| n.name().to_owned()).collect();
        meant.extend(<[String; 1]>::try_from(disabled).into_iter().flatten());
    }
    let mut known = clause.places(&["off", "on", "gone"]);
    known.extend(numbered.into_iter().map(|(_, place)| place));
    // "Stop telling sales": what is done no more is no more said of it.
    if clause.has("stop") {
        known.extend(clause.places(&["stop"]));
        let verbs = clause
            .chart
            .items
            .iter()
            .filter(|item| item.verb().is_some());
        known.extend(verbs.map(|item| item.from..item.to));
    }
    let whole = meant
        .iter()
        .any(|name| wire::names(patch.workflow(), clause.text, name));
    if meant.is_empty()
        || !whole
            && named::says_more(
                patch.workflow(),
                &meant,
                clause.text,
                clause.language,
                known,
            )
    {
        return Read::Other;
    }
    let [name] = meant.as_slice() else {
        return Read::Which(clause.text.to_owned(), meant);
    };
    if off || on {
        let Some(node) = patch.workflow_mut().node_by_name_mut(name) else {
            return Read::Other;
        };
        node.set("disabled", Value::Bool(off));
        return Read::Done;
    }
    patch.remove(name);
    Read::Done
}
