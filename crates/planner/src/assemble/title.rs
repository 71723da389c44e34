//! A short name for the workflow: what it is about and where it goes ("Orders over 100 EUR to Slack and Google Sheets"); the
//! label that stands before the request, where one does.

use super::Reading;
use crate::clause::{Clause, Intro, Phrase, Preface};
use crate::lex::Table;
use crate::lexicon::{self, capital};
use crate::plan::{Does, Service, Step, Trigger, Verb};

pub(super) const WORDS: Table = Table {
    file: "names.tsv",
    text: include_str!("../../knowledge/names.tsv"),
    columns: 5,
};
/// The most services that a name lists.
const MOST_TARGETS: usize = 3;
/// The longest label, in words.
const LONGEST_LABEL: usize = 6;

/// A word of names in a language.
fn word(of: &str, language: &str) -> &'static str {
    let row = WORDS.rows().find(|cells| cells.at(0) == of);
    let column = ["en", "de", "es", "fr"].iter().position(|l| *l == language);
    row.map_or("", |cells| cells.at(1 + column.unwrap_or(0)))
}

impl Reading<'_> {
    /// The name, if the request has a heading or a label, or something to be named after and somewhere to go.
    pub(super) fn title(&self, preface: &Preface) -> String {
        self.heading(preface)
            .or_else(|| self.label_before())
            .or_else(|| self.about_to())
            .or_else(|| self.called_at())
            .unwrap_or_default()
    }

    /// "# Order intake" above the steps.
    fn heading(&self, preface: &Preface) -> Option<String> {
        let said = self.text.get(preface.title.clone()?)?;
        let name = said.trim_matches(['#', '*', '=', '-', ' ']);
        let short = name.split_whitespace().count() <= LONGEST_LABEL;
        (short && !name.is_empty()).then(|| capital(name))
    }

    /// "Invoice archive: when a mail comes in …".
    fn label_before(&self) -> Option<String> {
        let [label, next, ..] = self.clauses.as_slice() else {
            return None;
        };
        let plain = label.verb.is_none()
            && label.intro == Intro::None
            && label.times.is_empty()
            && label.phrases().all(|p| {
                p.service.is_none() && p.names.is_empty() && p.numbers.is_empty() && !p.aside
            });
        let said = self.said(label);
        let short = said.split_whitespace().count() <= LONGEST_LABEL;
        let leads = next.colon && (next.verb.is_some() || next.intro != Intro::None);
        let name = said.trim_end_matches(':').trim();
        (plain && short && leads && !name.is_empty()).then(|| capital(name))
    }

    /// "Webhook orders": where it is called.
    fn called_at(&self) -> Option<String> {
        let Trigger::Webhook {
            path: Some(path), ..
        } = self.plan.triggers.first()?
        else {
            return None;
        };
        let path = path.trim_matches('/');
        (!path.is_empty()).then(|| format!("Webhook {path}"))
    }

    fn about_to(&self) -> Option<String> {
        let mut targets = Vec::new();
        collect(&self.plan.steps, &mut targets);
        targets.truncate(MOST_TARGETS);
        let what = self.subject()?;
        let list = match targets.as_slice() {
            [] => return None,
            [only] => only.clone(),
            [rest @ .., last] => {
                let and = word("and", &self.plan.language);
                format!("{} {and} {last}", rest.join(", "))
            }
        };
        let to = word("to", &self.plan.language);
        Some(capital(&format!("{what} {to} {list}")))
    }

    /// What it is about.
    fn subject(&self) -> Option<String> {
        match self.plan.triggers.first()? {
            Trigger::Service {
                service, object, ..
            } => {
                let noun = self.said_noun(self.clauses.iter(), object.as_deref()?)?;
                Some(format!("{} {noun}", label(service)))
            }
            Trigger::Webhook { .. } => self.received(),
            Trigger::Form { title, .. } => Some(title.clone()),
            Trigger::Poll { step, .. } => self.of_read(step),
            Trigger::Schedule { .. } | Trigger::Manual | Trigger::SubWorkflow { .. } => {
                self.plan.steps.iter().find_map(|s| self.of_read(s))
            }
            Trigger::Error => Some(word("errors", &self.plan.language).to_owned()),
            Trigger::Chat { .. } | Trigger::McpServer { .. } => None,
        }
    }

    /// "orders over 100 EUR": the record that the first clauses tell of, with what it is compared with.
    fn received(&self) -> Option<String> {
        let mut phrases = self.clauses.iter().take(2).flat_map(Clause::phrases);
        let record = phrases.find(|p| self.kind(p) == "record" && p.service.is_none())?;
        let noun = self.plural(self.raw(record.head?));
        let limit = phrases.next().filter(|p| p.compared.is_some());
        let limit = limit.and_then(|p| {
            let (from, to) = (self.chart.item(p.from).from, self.chart.item(p.to - 1).to);
            self.text.get(from..to)
        });
        Some(limit.map_or_else(|| noun.clone(), |l| format!("{noun} {l}")))
    }

    /// "Open Jira bugs", "HubSpot contacts": the words of the step that reads.
    fn of_read(&self, step: &Step) -> Option<String> {
        match &step.does {
            Does::Service {
                service,
                verb: Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download,
                object,
                ..
            } => {
                let own = || self.clauses.iter().filter(|c| self.said(c) == step.said);
                let noun = object.as_deref().and_then(|o| self.said_noun(own(), o));
                let state = own().flat_map(Clause::phrases).find_map(|p| {
                    let about = |c: &str| self.concept(p) == c;
                    let at = p
                        .states
                        .first()
                        .filter(|_| object.as_deref().is_some_and(about))?;
                    Some(format!("{} ", self.raw(*at).to_lowercase()))
                });
                let state = state.filter(|_| matches!(self.plan.language.as_str(), "en" | "de"));
                Some(match noun {
                    Some(noun) => {
                        format!("{}{} {noun}", state.unwrap_or_default(), label(service))
                    }
                    None => label(service),
                })
            }
            Does::Http { url, .. } => {
                let host = url.split("://").nth(1)?;
                let host = host.split(['/', '?', '#', ':']).next()?;
                Some(host.trim_start_matches("www.").to_owned())
            }
            _ => None,
        }
    }

    /// The noun of a concept as the request has it.
    fn said_noun<'c>(
        &self,
        clauses: impl Iterator<Item = &'c Clause>,
        concept: &str,
    ) -> Option<String> {
        let about = |p: &&Phrase| self.concept(p) == concept;
        let phrase = clauses.flat_map(Clause::phrases).find(about);
        match phrase.and_then(|p| p.head) {
            Some(head) => Some(self.plural(self.raw(head))),
            None => (self.plan.language == "en").then(|| self.plural(concept)),
        }
    }

    /// English nouns of a name stand in the plural, German ones with a capital letter.
    fn plural(&self, word: &str) -> String {
        match self.plan.language.as_str() {
            "en" => plural_of(&word.to_lowercase()),
            "de" => capital(word),
            _ => word.to_lowercase(),
        }
    }
}

fn plural_of(word: &str) -> String {
    let before_y = word
        .strip_suffix('y')
        .filter(|w| !w.ends_with(['a', 'e', 'i', 'o', 'u']));
    match before_y {
        _ if word.ends_with('s') => word.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if ["x", "ch", "sh"].iter().any(|e| word.ends_with(e)) => format!("{word}es"),
        None => format!("{word}s"),
    }
}

fn label(service: &Service) -> String {
    let entry = lexicon::services().iter().find(|e| {
        !service.node_types.is_empty()
            && (e.actions == service.node_types || e.triggers == service.node_types)
    });
    entry.map_or_else(|| service.said.trim().to_owned(), |e| e.label.clone())
}

/// Where data goes: services that are written to or talk, each once.
fn collect(steps: &[Step], out: &mut Vec<String>) {
    for step in steps {
        if let Does::Service { service, verb, .. } = &step.does
            && !matches!(
                verb,
                Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download
            )
        {
            let name = label(service);
            if !name.is_empty() && !out.contains(&name) {
                out.push(name);
            }
        }
        for way in step.ways() {
            collect(way, out);
        }
    }
}
