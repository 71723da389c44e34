//! From clauses to a plan: what starts the workflow, what is done, under which conditions and in which order. A clause that
//! says nothing that it can build adds nothing; the account of the finished workflow says so.

mod act;
mod agent;
mod approval;
mod called;
mod carry;
mod condition;
mod content;
mod data;
mod dated;
mod day;
mod defined;
mod detail;
mod fetch;
mod flow;
mod form;
mod gate;
mod greet;
mod happen;
mod inbound;
mod leftover;
mod lookup;
mod lost;
mod measure;
mod named;
mod pick;
mod remind;
mod repeat;
mod reply;
mod source;
mod standing;
mod start;
mod tell;
mod think;
mod timing;
mod title;
mod unasked;
mod upsert;

pub(crate) use gate::spoken_of;

use crate::chart::{Chart, Item, chart};
use crate::clause::{Clause, Phrase, clauses, preface};
use crate::lexicon::{self, ServiceEntry};
use crate::plan::{Arg, Does, Plan, Role, Service, Step, Val, Verb};
use crate::time::{DayCheck, spans};
use serde_json::{Value, json};

#[cfg(test)]
pub(crate) fn tables() -> Vec<&'static crate::lex::Table> {
    let mut tables = gate::tables();
    tables.extend(greet::TABLES.iter().map(|(_, table)| table));
    tables.extend([
        &content::CONTENT,
        &crate::account::ANSWERS_FOR,
        &happen::EVENTS,
        &source::BRINGS,
        &measure::VALUES,
        &title::WORDS,
        &crate::states::STATES,
        &crate::compile::INSTANTS,
        &crate::compile::SAID_IN,
        &crate::compile::SIGNALS,
    ]);
    tables
}

/// Reads a request: a plan, what must be asked first, or why it is refused.
pub fn read(request: &str, language: &str) -> crate::read::Reading {
    let chart = chart(request, language);
    let times = spans(request, language);
    let preface = preface(request, &chart, &times);
    let mut clauses = clauses(&chart, &times);
    clauses.retain(|c| !preface.holds(chart.item(c.from)));
    let defined = defined::taken(request, &chart, &mut clauses);
    let mut reading = Reading::new(request, &chart, clauses);
    reading.start();
    reading.agent();
    reading.flow();
    reading.leftover();
    if let Some(defined) = &defined {
        reading.works_in(defined);
    }
    let mut steps = std::mem::take(&mut reading.plan.steps);
    let unshown = crate::states::settle(&mut steps, &|state| reading.as_written(state));
    reading.plan.steps = steps;
    let lost = reading.lost();
    let stated = reading.stated_by(&unshown);
    let unasked = reading.unasked();
    reading
        .plan
        .unread
        .extend(lost.into_iter().chain(stated).chain(unasked));
    reading.plan.name = reading.title(&preface);
    reading.judged()
}

/// A request while it is read.
pub(crate) struct Reading<'a> {
    text: &'a str,
    chart: &'a Chart,
    clauses: Vec<Clause>,
    /// Clauses that have been used for something already.
    used: Vec<bool>,
    plan: Plan,
    steps: u32,
    /// Services in the order in which they were last named.
    services: Vec<&'static ServiceEntry>,
    /// What "it" and "them" stand for.
    topic: Topic,
    /// The containers that were written to, with the keys of their services.
    containers: Vec<(String, Arg)>,
    /// The containers that were read, with the keys of their services.
    read_from: Vec<(String, Arg)>,
    /// A source that was spoken of and not read yet, with its containers.
    source: Option<(&'static ServiceEntry, Vec<Arg>)>,
    /// The assistant that the request is for, and the clause that speaks of it.
    assistant: Option<Step>,
    agent_at: usize,
    /// The clause that tells what starts the workflow.
    starts_at: Option<usize>,
    /// What must hold on the day of a schedule.
    day: Option<DayCheck>,
    /// Clauses that ask for something and changed nothing of the plan.
    traceless: Vec<usize>,
}

/// What was last spoken of.
#[derive(Debug, Clone, Default)]
struct Topic {
    /// The concept of the last object ("order", "invoice").
    object: Option<String>,
    /// The field that a condition compared last.
    field: Option<Val>,
    /// A file was made, or came.
    file: bool,
    /// Many items go through.
    many: bool,
    /// The labels that a classification gives.
    labels: Vec<String>,
    /// The step in which a model wrote last.
    wrote: Option<String>,
}

impl<'a> Reading<'a> {
    fn new(text: &'a str, chart: &'a Chart, clauses: Vec<Clause>) -> Self {
        let plan = Plan {
            language: chart.language.to_owned(),
            ..Plan::default()
        };
        Reading {
            text,
            chart,
            used: vec![false; clauses.len()],
            clauses,
            plan,
            steps: 0,
            services: Vec::new(),
            topic: Topic::default(),
            containers: Vec::new(),
            read_from: Vec::new(),
            source: None,
            assistant: None,
            agent_at: 0,
            starts_at: None,
            day: None,
            traceless: Vec::new(),
        }
    }

    fn step(&mut self, said: &str, does: Does) -> Step {
        self.steps += 1;
        let id = format!("s{}", self.steps);
        if matches!(does, Does::Llm { .. }) {
            self.topic.wrote = Some(id.clone());
        }
        Step {
            id,
            said: said.to_owned(),
            does,
            name: None,
        }
    }

    /// The clause at a place; an empty one behind the last.
    fn clause_at(&self, at: usize) -> &Clause {
        static BEHIND: Clause = Clause::empty();
        self.clauses.get(at).unwrap_or(&BEHIND)
    }

    /// Whether the clause at a place has been used; there is nothing to use behind the last.
    fn is_used(&self, at: usize) -> bool {
        self.used.get(at).copied().unwrap_or(true)
    }

    /// Says whether the clause at a place has been used.
    fn set_used(&mut self, at: usize, used: bool) {
        if let Some(known) = self.used.get_mut(at) {
            *known = used;
        }
    }

    fn said(&self, clause: &Clause) -> String {
        clause.said(self.text, self.chart).to_owned()
    }

    /// The text of an item as it stands in the request.
    fn raw(&self, at: usize) -> &'a str {
        let item = self.chart.items.get(at);
        item.and_then(|i| self.text.get(i.from..i.to)).unwrap_or("")
    }

    fn words(&self, phrase: &Phrase) -> String {
        phrase.words(self.chart, self.text)
    }

    /// The items of a clause.
    fn items(&self, clause: &Clause) -> &'a [Item] {
        let items = self.chart.items.get(clause.from..clause.to);
        items.unwrap_or(&[])
    }

    /// The column and the value of a state as the request writes them: "con estado pendiente".
    fn as_written(&self, state: &str) -> (String, String) {
        let noun = |i: &&Item| i.noun().is_some_and(|n| n.concept == "status");
        let said = |i: &Item| self.text.get(i.from..i.to).map(str::to_owned);
        let column = self.chart.items.iter().find(noun).and_then(said);
        let tells = |i: &&Item| {
            let sense = i.sense(crate::lex::Class::Adjective);
            sense.is_some_and(|s| s.concept == state)
        };
        let value = self.chart.items.iter().find(tells).and_then(|i| {
            let known = crate::lex::Lexicon::of(self.chart.language);
            let stem = |end: &&str| {
                i.text
                    .strip_suffix(*end)
                    .filter(|s| !known.senses(s).is_empty())
            };
            // German adjectives are declined before their nouns.
            let ends: &[&str] = match self.chart.language {
                "de" => &["en", "er", "es", "em", "e"],
                _ => &[],
            };
            match ends.iter().find(|e| stem(e).is_some()) {
                Some(end) => i.text.strip_suffix(end).map(str::to_owned),
                None => said(i),
            }
        });
        (
            column.map_or_else(|| "status".to_owned(), |c| c.to_lowercase()),
            value.unwrap_or_else(|| state.to_owned()),
        )
    }

    /// The words of the request that say one of these states.
    fn stated_by(&self, states: &[String]) -> Vec<String> {
        let says = |item: &&Item| {
            let sense = item.sense(crate::lex::Class::Adjective);
            sense.is_some_and(|s| states.contains(&s.concept))
        };
        let items = self.chart.items.iter().filter(says);
        let words = items.filter_map(|i| self.text.get(i.from..i.to));
        words.map(str::to_owned).collect()
    }

    /// Whether a noun of a clause has a concept.
    fn says(&self, clause: &Clause, concept: &str) -> bool {
        self.items(clause)
            .iter()
            .any(|i| i.noun().is_some_and(|n| n.concept == concept))
    }

    fn concept(&self, phrase: &Phrase) -> &'a str {
        phrase.concept(self.chart)
    }

    fn kind(&self, phrase: &Phrase) -> &'a str {
        phrase.kind(self.chart)
    }

    /// Remembers a service as the last one that was named.
    fn mention(&mut self, service: &'static ServiceEntry) {
        self.services.retain(|s| s.key != service.key);
        self.services.push(service);
    }

    /// The service that was last named of those with a tag; else one that is named anywhere in the request.
    fn latest(&self, tag: &str) -> Option<&'static ServiceEntry> {
        let usable = |s: &&&'static ServiceEntry| {
            s.is(tag) && !s.actions.is_empty() && s.key != tag && s.key != "email"
        };
        let last = self.services.iter().rev().find(usable);
        last.copied().or_else(|| {
            let named = self.chart.items.iter().filter_map(Item::service);
            let mut fits = named.filter(|s| usable(&s));
            let first = fits.next()?;
            fits.all(|s| s.key == first.key).then_some(first)
        })
    }

    /// Where mail comes in: the mail service that was named, else any mailbox.
    fn mailbox(&self) -> Option<&'static ServiceEntry> {
        self.latest("mail").or_else(|| service("imap"))
    }
}

/// A service as a plan names it, for steps.
fn acting(service: &ServiceEntry) -> Service {
    Service {
        said: service.label.clone(),
        node_types: service.actions.clone(),
    }
}

/// A step that does something with a service, once per item.
fn on(service: &ServiceEntry, verb: Verb, object: Option<String>, args: Vec<Arg>) -> Does {
    Does::Service {
        service: acting(service),
        verb,
        object,
        args,
        once: false,
    }
}

fn service(key: &str) -> Option<&'static ServiceEntry> {
    lexicon::service(key)
}

fn lit(value: impl Into<Value>) -> Val {
    Val::Lit {
        value: value.into(),
    }
}

fn field(name: &str) -> Val {
    Val::Field {
        name: name.to_owned(),
        of: None,
    }
}

fn arg(role: Role, value: Val) -> Arg {
    Arg { role, value }
}

/// The number that a figure says: separators, `k` and `m` read, money and per cent left out.
pub(crate) fn figure(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    let digits: String = lower
        .chars()
        .filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-'))
        .collect();
    let tail = digits.rsplit(['.', ',']).next().map_or(0, str::len);
    let grouped = digits.contains(',') && tail == 3
        || digits.matches('.').count() == 1 && tail == 3 && !digits.contains(',');
    let plain = if grouped {
        digits.replace([',', '.'], "")
    } else {
        digits.replace(',', ".")
    };
    let value: f64 = plain.parse().ok()?;
    let times = match lower.trim_end_matches(|c: char| !c.is_alphanumeric()) {
        t if t.ends_with('k') => 1_000.0,
        t if t.ends_with('m') && !t.ends_with("mm") => 1_000_000.0,
        _ => 1.0,
    };
    Some(value * times)
}

/// A number as JSON, whole where it is whole.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        json!(value as i64)
    } else {
        json!(value)
    }
}
