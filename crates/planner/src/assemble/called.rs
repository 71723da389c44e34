//! Other workflows that are called, with what they are given; and who may use this one.

use super::{Reading, arg, field};
use crate::clause::{Clause, Phrase};
use crate::plan::{Arg, Cmp, Cond, Does, Role, Step, Trigger, Val};

impl Reading<'_> {
    /// The workflow that a clause names.
    pub(super) fn workflow_of(&self, clause: &Clause) -> Option<String> {
        let phrase = clause
            .phrases()
            .find(|p| self.concept(p) == "workflow" && !p.names.is_empty())?;
        phrase.names.first().map(|n| self.name(*n))
    }

    /// "inputs tenant_id + slug", "with title and body": what a workflow is given.
    pub(super) fn inputs_of(&self, i: usize) -> Vec<Arg> {
        let clause = self.clause_at(i);
        let told = |p: &Phrase| {
            p.head.iter().chain(&p.modifiers).any(|n| {
                self.chart
                    .item(*n)
                    .noun()
                    .is_some_and(|n| n.concept == "input")
            })
        };
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        let mut names: Vec<String> = Vec::new();
        if let Some(at) = phrases.iter().position(|p| told(p)) {
            for (n, phrase) in crate::cut::from(&phrases, at).iter().enumerate() {
                if n > 0 && !phrase.listed && !phrase.aside {
                    break;
                }
                let named = phrase.names.first().map(|n| self.name(*n));
                let words = || {
                    let own = phrase.modifiers.iter().chain(&phrase.head);
                    let own = own.filter(|n| {
                        !self
                            .chart
                            .item(**n)
                            .noun()
                            .is_some_and(|n| n.concept == "input")
                    });
                    own.map(|n| self.raw(*n)).collect::<Vec<_>>().join(" ")
                };
                let name = named.unwrap_or_else(words);
                if !name.is_empty() && !names.contains(&name) {
                    names.push(name);
                }
            }
        } else {
            names = self.fields(i);
        }
        names
            .iter()
            .map(|f| arg(Role::Field(f.clone()), field(f)))
            .collect()
    }

    /// "/status", before an arrow: a command that is written to a bot.
    pub(super) fn commanded(&self, clause: &Clause) -> Option<Cond> {
        let command = clause
            .phrases()
            .next()?
            .literal(self.chart, crate::spot::Kind::Path)?;
        self.talks().then(|| Cond::Compare {
            left: Val::Field {
                name: "text".into(),
                of: Some("trigger".into()),
            },
            op: Cmp::StartsWith,
            right: super::lit(self.text.get(command.from..command.to).unwrap_or("")),
        })
    }

    /// Whether what starts the workflow is a message that people write.
    pub(super) fn talks(&self) -> bool {
        self.trigger_service()
            .is_some_and(|s| s.is("chat") || s.is("sms"))
            || matches!(self.plan.triggers.first(), Some(Trigger::Chat { .. }))
    }

    /// "Only for chat id 4455", "nobody but user 4455": a filter for who may use the workflow.
    pub(super) fn allowed(&mut self) -> Option<Step> {
        if !self.talks() {
            return None;
        }
        for i in 0..self.clauses.len() {
            let clause = self.clause_at(i);
            let items = self.items(clause);
            let strict = items
                .iter()
                .any(|i| i.is("only") || i.is("neg") || i.is("unless"));
            let aims = ["SEND", "NOTIFY", "MAIL", "STORE", "REPLY"]
                .iter()
                .any(|f| clause.verb.as_ref().is_some_and(|v| v.frame() == *f));
            if !strict || aims {
                continue;
            }
            let found = clause.phrases().find_map(|p| {
                let at = p.numbers.first().or(p.names.first())?;
                let raw = self.raw(*at);
                let id = raw.len() > 4
                    && raw
                        .trim_start_matches('-')
                        .chars()
                        .all(|c| c.is_ascii_digit());
                id.then(|| {
                    (
                        self.concept(p) == "conversation"
                            || self.words(p).to_lowercase().contains("chat"),
                        raw.to_owned(),
                    )
                })
            });
            let Some((chat, id)) = found else {
                continue;
            };
            let name = if chat { "chat id" } else { "user id" };
            let said = self.said(&clause.clone());
            self.set_used(i, true);
            return Some(self.step(
                &said,
                Does::Filter {
                    condition: Cond::Compare {
                        left: Val::Field {
                            name: name.into(),
                            of: Some("trigger".into()),
                        },
                        op: Cmp::Eq,
                        right: super::lit(id),
                    },
                },
            ));
        }
        None
    }
}
