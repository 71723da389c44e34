//! What is looked up before it is decided: "if the e-mail is already in the sheet", "unknown customers", files that are opened.

use super::repeat::reads;
use super::{Reading, field, on};
use crate::clause::{Clause, Intro, Phrase};
use crate::plan::{Arg, Cmp, Cond, Does, Role, Step, Val, Verb};

/// Kinds of services that keep things which can be looked up.
const STORES: &[&str] = &[
    "sheet", "db", "base", "kv", "crm", "task", "issue", "ticket",
];

/// Formats of files by the concepts and words that say them.
const FORMATS: &[(&str, &str)] = &[
    ("csv", "csv"),
    ("pdf", "pdf"),
    ("json", "json"),
    ("xlsx", "xlsx"),
    ("xls", "xls"),
    ("excel", "xlsx"),
    ("xml", "xml"),
    ("html", "html"),
    ("zip", "zip"),
    ("ics", "ics"),
];

/// A look into a store, and whether what is wanted must be there.
pub(super) struct Look {
    pub step: Step,
    pub key: Val,
    pub there: bool,
}

impl Reading<'_> {
    /// The look into a store that a condition asks for: it says that something is, or is not, in it.
    pub(super) fn looked_up(&mut self, clause: &Clause) -> Option<Look> {
        let still = clause.verb.as_ref().is_none_or(|v| {
            matches!(v.frame(), "STATE" | "EXIST" | "SEARCH" | "CHECK") || v.passive
        });
        let plain = clause
            .phrases()
            .all(|p| p.compared.is_none() && p.numbers.is_empty());
        if !still || !plain {
            return None;
        }
        let place = |p: &&Phrase| !p.prep.is_empty() && p.prep != "from";
        let named = clause.phrases().filter(place).find_map(|p| p.service);
        let kept = clause.phrases().filter(place).any(|p| {
            matches!(
                self.concept(p),
                "spreadsheet" | "table" | "database" | "tab" | "list" | "row"
            )
        });
        let service = named.or_else(|| {
            kept.then(|| STORES.iter().find_map(|t| self.latest(t)))
                .flatten()
        })?;
        if service.actions.is_empty() || !service.is_any(STORES) {
            return None;
        }
        let subject = clause.phrases().find(|p| {
            p.prep.is_empty()
                && p.service.is_none()
                && p.pronoun.is_none()
                && p.head.is_some()
                && self.kind(p) != "container"
        });
        let name = subject.map_or_else(|| "id".to_owned(), |p| self.words(p));
        let key = field(&name);
        let args: Vec<Arg> = self
            .containers(clause, service)
            .into_iter()
            .chain([super::arg(Role::Field(name), key.clone())])
            .collect();
        self.mention(service);
        let object = (service.is("sheet") || service.is("db")).then(|| "row".to_owned());
        let said = self.said(clause);
        let step = self.step(
            &said,
            on(
                service,
                Verb::GetMany,
                object.or_else(|| self.topic.object.clone()),
                args,
            ),
        );
        let there = self.denies(clause) == (clause.intro == Intro::Unless);
        Some(Look { step, key, there })
    }

    /// "If it exists", "is it not found": whether the look before found something.
    pub(super) fn found(&self, before: Option<&Step>, clause: &Clause) -> Option<Cond> {
        let read = before.filter(|s| reads(s))?;
        let verb = clause.verb.as_ref();
        let exists = verb.is_some_and(|v| v.calls("EXIST") || v.calls("SEARCH") && v.passive);
        let state = clause.phrases().find_map(|p| {
            p.states.iter().find_map(|s| {
                let state = self.chart.item(*s).sense(crate::lex::Class::Adjective)?;
                matches!(state.concept.as_str(), "missing" | "present" | "existing")
                    .then_some(state.concept == "missing")
            })
        });
        let bare = clause.phrases().all(|p| {
            p.compared.is_none()
                && p.numbers.is_empty()
                && p.names.is_empty()
                && p.service.is_none()
        });
        if !bare || !exists && (state.is_none() || clause.phrases().all(|p| p.pronoun.is_none())) {
            return None;
        }
        let absent = (state == Some(true)) != self.denies(clause);
        let key = match &read.does {
            Does::Service { args, .. } => args.iter().find_map(|a| match (&a.role, &a.value) {
                (Role::Field(name), Val::Field { .. }) => Some(name.clone()),
                _ => None,
            }),
            _ => None,
        };
        Some(Cond::Compare {
            left: field(key.as_deref().unwrap_or("id")),
            op: if absent { Cmp::Missing } else { Cmp::Exists },
            right: super::lit(true),
        })
    }

    /// "Parse it", "extract the rows": a file that came, or was fetched, is opened.
    pub(super) fn opened(&mut self, clause: &Clause) -> Vec<Step> {
        let said = |text: &str| {
            text.to_lowercase()
                .split(|c: char| !c.is_alphanumeric())
                .find_map(|w| FORMATS.iter().find(|(f, _)| *f == w))
                .map(|(_, f)| *f)
        };
        let own = self.said(clause);
        let filed = self.chart.items.iter().any(|i| {
            i.noun().is_some_and(|n| n.kind() == "file")
                || i.shape() == Some(crate::spot::Kind::File)
        });
        let format = said(&own).or_else(|| filed.then(|| said(self.text)).flatten());
        format
            .into_iter()
            .map(|format| {
                self.topic.many = format != "pdf";
                self.step(
                    &own,
                    Does::FromFile {
                        format: format.into(),
                        options: Vec::new(),
                    },
                )
            })
            .collect()
    }
}

impl Look {
    pub(super) fn condition(&self) -> Cond {
        Cond::Compare {
            left: self.key.clone(),
            op: if self.there {
                Cmp::Exists
            } else {
                Cmp::Missing
            },
            right: super::lit(true),
        }
    }
}
