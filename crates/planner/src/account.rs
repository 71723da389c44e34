//! What of a request a workflow does: each word that carries meaning is found in the workflow (a service as a node, a verb as an
//! operation, a condition as a test, a noun as a field or a resource), needs nothing there, or is not understood. It reads the
//! finished workflow, so it judges whoever wrote it.

#[cfg(test)]
mod account_tests;
mod assumed;
mod evidence;
mod frames;
mod local;
mod part;
mod unsound;

use crate::chart::{Chart, Item, What, chart};
use crate::clause::clauses;
use crate::compile::{Compiled, Made};
use crate::cover::{self, Unused};
use crate::lex::{Class, Lexicon};
use crate::plan::Plan;
use crate::time::{TimeSpan, spans};
use agentctl_kit::language::languages;
use agentctl_n8n::Workflow;
use evidence::Evidence;
use serde::{Deserialize, Serialize};
use std::ops::Range;

pub use assumed::assumptions;
#[cfg(test)]
pub(crate) use evidence::ANSWERS_FOR;
pub(crate) use frames::asks_for_a_step;
pub(crate) use unsound::all_texts;

/// What became of a word of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Fate {
    /// It stands in the workflow; how it was found there.
    Built { by: String },
    /// It needs nothing in the workflow; why.
    Context { why: String },
    /// Nothing in the workflow answers to it.
    Missing,
}

/// A word, or a literal thing, of the request. `from` and `to` are byte offsets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    pub from: usize,
    pub to: usize,
    pub fate: Fate,
    /// How much it weighs: a service 4, a value or a condition 3, a verb 2, a noun 1.
    pub weight: u32,
    /// Whether it stands in a table or is a literal thing; false: nobody told the planner what it means.
    pub known: bool,
}

/// A request held against a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// False: there are no tables of the words of the request's language, so nothing can be said of it, and the rest is empty.
    pub judged: bool,
    /// The words that carry meaning, in order.
    pub words: Vec<Word>,
    /// How many parts (clauses) the request has, and how many of them are whole.
    pub parts: usize,
    pub built: usize,
    /// The phrases that were not understood, as they stand in the request.
    pub missing: Vec<String>,
}

impl Account {
    /// Of a request whose language is not known.
    pub(crate) fn unjudged() -> Self {
        Account {
            judged: false,
            words: Vec::new(),
            parts: 0,
            built: 0,
            missing: Vec::new(),
        }
    }

    /// What reading left out of a plan, and compiling of a workflow, is not built.
    pub(crate) fn without_gaps(
        mut self,
        (request, language): (&str, &str),
        unread: &[String],
        built: &Compiled,
    ) -> Self {
        self.leaves_out(unread);
        self.leaves_out(&built.gaps);
        self.leaves_out(&unsound::unsound(request, language, built));
        self
    }

    /// Takes in whole parts that are known to be left out, each in place of the phrases in it.
    pub(crate) fn leaves_out(&mut self, parts: &[String]) {
        for part in parts {
            let inside = |phrase: &String| part.contains(phrase.as_str());
            let judged = self.missing.iter().any(inside);
            self.missing.retain(|phrase| !inside(phrase));
            self.missing.push(part.clone());
            match judged {
                true => {}
                false if self.built > 0 => self.built -= 1,
                false => self.parts += 1,
            }
        }
    }

    /// Takes in what of the request was not read: each group is a part that is not built.
    pub(crate) fn sets_aside(&mut self, groups: Vec<String>) {
        self.parts += groups.len();
        self.missing.extend(groups);
    }

    /// Takes in the account of something else that was asked for.
    pub(crate) fn add(&mut self, other: Account) {
        self.judged |= other.judged;
        self.parts += other.parts;
        self.built += other.built;
        for phrase in other.missing {
            if !self.missing.contains(&phrase) {
                self.missing.push(phrase);
            }
        }
    }

    /// Whether each word is answered for.
    pub fn complete(&self) -> bool {
        self.missing.is_empty()
    }
    /// The weight of what is answered for, in hundredths of all weight that needs an answer.
    pub fn percent(&self) -> u32 {
        let needs = |w: &&Word| !matches!(w.fate, Fate::Context { .. });
        let all: u32 = self.words.iter().filter(needs).map(|w| w.weight).sum();
        let missing = |w: &&Word| w.fate == Fate::Missing;
        let lost: u32 = self.words.iter().filter(missing).map(|w| w.weight).sum();
        ((all - lost) * 100).checked_div(all).unwrap_or(0)
    }
}

const SERVICE: u32 = 4;
const VALUE: u32 = 3;
const CONDITION: u32 = 3;
const PREDICATE: u32 = 2;
const NOUN: u32 = 1;

/// Whether there are tables of the words of a language: without them nothing can be said of a request in it.
pub fn judges(language: &str) -> bool {
    languages().any(|known| known == language)
}

/// Holds a request against the workflows that answer it (the built one; for a change the one before too).
pub fn account(request: &str, language: &str, workflows: &[&Workflow]) -> Account {
    account_but(request, language, workflows, &But::default())
}

/// The account of what the planner itself built: what its plan left unread, and what could not be told when it was compiled, is
/// missing.
pub fn account_of_plan(request: &str, plan: &Plan, built: &Compiled) -> Account {
    let but = But {
        made: &built.made,
        ..But::default()
    };
    let account = account_but(request, &plan.language, &[&built.workflow], &but);
    account.without_gaps((request, &plan.language), &plan.unread, built)
}

/// What else is known of a request that is held against workflows.
#[derive(Debug, Clone, Default)]
pub(crate) struct But<'a> {
    /// A part of the text (bytes) that was asked about and answered: what was missing there is said elsewhere in the text.
    pub answered: Range<usize>,
    /// It asks for a change that was made, so its verbs, and the words of changes (bytes), say what was to be done to the
    /// workflow and stand in neither version of it.
    pub change: Option<Vec<Range<usize>>>,
    /// Which nodes were made of which part of the request.
    pub made: &'a [Made],
}

impl But<'_> {
    /// Whether an item says what is to be changed, and how.
    fn tells_change(&self, item: &Item) -> bool {
        let within = |r: &Range<usize>| r.start <= item.from && item.to <= r.end;
        let told = |spoken: &Vec<Range<usize>>| {
            item.verb().is_some() || !item.literal() && spoken.iter().any(within)
        };
        self.change.as_ref().is_some_and(told)
    }
}

/// The same, with what else is known.
pub(crate) fn account_but(
    request: &str,
    language: &str,
    workflows: &[&Workflow],
    but: &But<'_>,
) -> Account {
    if !judges(language) {
        return Account::unjudged();
    }
    let chart = chart(request, language);
    let evidence = Evidence::of(workflows, request, by_hand(&chart));
    let unused = cover::unused(request, workflows);
    let times = spans(request, language);
    let clauses = clauses(&chart, &times);
    let context = part::background(request, &chart, &times, &clauses);
    let event = part::event(&chart, &clauses);
    let names = part::names(&clauses);
    let local = local::Local::of(request, workflows, but);
    let mut words = Vec::new();
    for (i, item) in chart.items.iter().enumerate() {
        let timed = times
            .iter()
            .find(|t| item.from >= t.from && item.to <= t.to);
        if crate::clause::numbers_line(&chart, i) {
            continue;
        }
        let judged = match timed {
            Some(time) if item.stops() || item.from != first_of(&chart, time) => None,
            Some(time) if crate::clause::spaces(&chart, time.from) => {
                Some((VALUE, found(evidence.rhythm())))
            }
            Some(time) => Some((VALUE, found(evidence.time(&time.means)))),
            None if names.contains(&i) && item.verb().is_some() => {
                let named = evidence.word(&item.text, chart.language);
                Some((VALUE, found(named)))
            }
            None if names_a_container(&chart, i) => {
                let named = evidence.names(&item.text).then(|| "value".to_owned());
                Some((VALUE, found(named)))
            }
            None => judged(&chart, i, item, &evidence, &unused).map(|(weight, fate)| {
                match names.contains(&i) {
                    true => (weight, local.narrowed(&chart, i, fate)),
                    false => (weight, fate),
                }
            }),
        };
        let Some((weight, fate)) = judged else {
            continue;
        };
        let fate = match fate {
            Fate::Missing if event.told.contains(&i) || event.brings(item) => {
                found(evidence.starts())
            }
            other => other,
        };
        let fate = match context.get(&i) {
            Some(why) if fate == Fate::Missing => Fate::Context { why: why.clone() },
            None if fate == Fate::Missing && but.answered.contains(&item.from) => {
                self::context("was asked about, and answered")
            }
            None if fate == Fate::Missing && but.tells_change(item) => {
                self::context("says what to change")
            }
            _ => fate,
        };
        words.push((
            i,
            Word {
                from: item.from,
                to: item.to,
                fate,
                weight,
                known: !matches!(item.what, What::Unknown),
            },
        ));
    }
    for open in &evidence.open {
        part::left_open(request, open, &mut words);
    }
    let (parts, built) = part::counted(&chart, &words);
    let missing = part::phrases(request, &chart, &words);
    Account {
        judged: true,
        words: words.into_iter().map(|(_, w)| w).collect(),
        parts,
        built,
        missing,
    }
}

/// Whether the request says that a person starts the workflow.
fn by_hand(chart: &Chart) -> bool {
    chart.items.iter().any(|i| {
        let runs = i.verb().is_some_and(|v| v.calls("RUN"));
        runs || i.tells("manual")
            || matches!(i.text.as_str(), "manual" | "button" | "click" | "demand")
    })
}

/// Where the first word of a time begins: the whole time counts as one word.
fn first_of(chart: &Chart, time: &TimeSpan) -> usize {
    let inside = chart
        .items
        .iter()
        .find(|i| i.from >= time.from && !i.stops());
    inside.map_or(time.from, |i| i.from)
}

fn built(by: impl Into<String>) -> Fate {
    Fate::Built { by: by.into() }
}

fn found(by: Option<String>) -> Fate {
    by.map_or(Fate::Missing, built)
}

fn context(why: &str) -> Fate {
    Fate::Context {
        why: why.to_owned(),
    }
}

/// The weight and the fate of an item; none where it carries no meaning of its own.
fn judged(
    chart: &Chart,
    at: usize,
    item: &Item,
    evidence: &Evidence,
    unused: &[Unused],
) -> Option<(u32, Fate)> {
    match &item.what {
        What::Service(service) => Some((SERVICE, found(evidence.service(service, &item.text)))),
        What::Shape(_) if item.literal() => {
            let lost = unused
                .iter()
                .any(|u| u.said.contains(&item.text) || item.text.contains(&u.said.to_lowercase()));
            let lost = lost || !evidence.holds(item);
            Some((VALUE, if lost { Fate::Missing } else { built("value") }))
        }
        What::Shape(crate::spot::Kind::Number) => {
            let figures = |said: &str| -> Vec<String> {
                let parts = said.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
                parts.map(str::to_owned).collect()
            };
            let own = figures(&item.text);
            let lost = unused.iter().any(|u| {
                let of = figures(&u.said);
                own.iter().any(|n| !n.is_empty() && of.contains(n))
            });
            let shown = evidence.figure(&item.text);
            Some((VALUE, found(shown.filter(|_| !lost))))
        }
        What::Shape(_) => None,
        What::Unknown => {
            let named = evidence.word(&item.text, chart.language);
            Some((NOUN, found(named)))
        }
        What::Word(sense) => match sense.class {
            Class::Function => condition(sense, item, chart, evidence),
            Class::Verb => {
                let negated = part::negated(chart, at);
                Some((PREDICATE, frames::verb(sense, negated, evidence)))
            }
            Class::Noun => noun(sense, item, chart, evidence),
            Class::Adjective if stands_for_a_state(chart, at) => {
                let by = evidence.state(&sense.concept, &item.text, chart.language);
                Some((VALUE, found(by)))
            }
            Class::Adjective => adjective(sense, item, chart, evidence),
        },
    }
}

/// What it says of a thing is a condition on it, as a noun behind it is the thing's: "an email whose subject …".
const WHOSE: &str = "whose";

/// A function word that says when something happens.
fn condition(
    sense: &crate::lex::Sense,
    item: &Item,
    chart: &Chart,
    evidence: &Evidence,
) -> Option<(u32, Fate)> {
    // A word that means both "if" and "when" may tell of what starts the workflow.
    let when = || {
        let senses = Lexicon::of(chart.language).senses(&item.text);
        let both = senses.iter().any(|s| s.is("when"));
        both.then(|| evidence.starts()).flatten()
    };
    // "retry 3 times if it fails".
    let fails = || {
        let behind = chart.items.iter().skip_while(|i| i.from <= item.from);
        let mut clause = behind.take_while(|i| !i.stops());
        clause.any(|i| i.verb().is_some_and(|v| v.calls("FAIL")))
    };
    let retried = || evidence.shows("text=retryOnFail").filter(|_| fails());
    let fate = match sense.concept.as_str() {
        "if" => found(evidence.choice().or_else(when).or_else(retried)),
        "unless" | "only" => found(evidence.choice()),
        "pronoun" if item.text == WHOSE => found(evidence.choice()),
        "else" => found(
            evidence
                .branches()
                .or_else(|| evidence.answers("otherwise")),
        ),
        "more" | "less" => found(evidence.bound()),
        "newest" | "oldest" | "highest" | "lowest" => found(evidence.answers("ordered")),
        "top" => found(evidence.answers("few")),
        "each" | "until" => context("how items go through"),
        _ => return None,
    };
    Some((CONDITION, fate))
}

fn noun(
    sense: &crate::lex::Sense,
    item: &Item,
    chart: &Chart,
    evidence: &Evidence,
) -> Option<(u32, Fate)> {
    // "someone", "people": whoever it is.
    if sense.kind() == "context"
        || matches!(sense.concept.as_str(), "person" | "time")
        || item.text == "field"
    {
        return None;
    }
    let by = evidence
        .concept(&sense.concept)
        .or_else(|| evidence.word(&item.text, chart.language))
        .or_else(|| evidence.kind(sense.kind(), &sense.concept));
    let as_verb = || {
        let senses = Lexicon::of(chart.language).senses(&item.text);
        let verbs = senses
            .iter()
            .filter(|s| s.class == Class::Verb && !s.says.is_empty());
        let mut fates = verbs.map(|s| frames::verb(s, false, evidence));
        fates.find(|f| matches!(f, Fate::Built { .. }))
    };
    let fate = found(by);
    let fate = if fate == Fate::Missing {
        as_verb().unwrap_or(fate)
    } else {
        fate
    };
    Some((NOUN, fate))
}

/// "the collection logs", "en la lista Pendiente": a word between the noun of what holds things and the end of the phrase is its
/// name, whatever else it means.
fn names_a_container(chart: &Chart, at: usize) -> bool {
    let item = chart.item(at);
    let may_name = match &item.what {
        What::Unknown => true,
        What::Word(sense) => match sense.class {
            Class::Noun => true,
            Class::Verb => sense.form != "base",
            Class::Adjective => item.text.len() > 1,
            Class::Function => false,
        },
        _ => false,
    };
    let before = at.checked_sub(1).map(|i| chart.item(i));
    let holds = before.and_then(Item::noun);
    let holds = holds.is_some_and(|n| n.kind() == "container" && n.form == "one");
    let ends = chart.items.get(at + 1).is_none_or(|next| {
        let function = |s: &crate::lex::Sense| s.class == Class::Function;
        next.stops() || matches!(&next.what, What::Word(sense) if function(sense))
    });
    may_name && holds && ends
}

/// "records with status Ready": right behind the name of a state, a word is its value, whatever else it means.
fn stands_for_a_state(chart: &Chart, at: usize) -> bool {
    let before = at.checked_sub(1).map(|i| chart.item(i));
    let noun = before.and_then(|item| item.noun());
    noun.is_some_and(|n| matches!(n.concept.as_str(), "status" | "priority" | "label"))
}

fn adjective(
    sense: &crate::lex::Sense,
    item: &Item,
    chart: &Chart,
    evidence: &Evidence,
) -> Option<(u32, Fate)> {
    let by = match sense.kind() {
        "filler" => return None,
        "new" => evidence.fresh(),
        _ => evidence.state(&sense.concept, &item.text, chart.language),
    };
    Some((CONDITION, found(by)))
}
