//! The answer to who called the workflow.

use super::{Reading, arg, field, figure, on};
use crate::clause::Clause;
use crate::plan::{Arg, Does, Role, Step, Trigger, Val, Verb};

impl Reading<'_> {
    /// "always 200", "else 422 with a text": the answer to a caller, said by its status alone.
    pub(super) fn status(&mut self, clause: &Clause) -> Option<Step> {
        const STATUSES: &[u16] = &[
            200, 201, 202, 204, 400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503,
        ];
        let called = self
            .plan
            .triggers
            .iter()
            .any(|t| matches!(t, Trigger::Webhook { .. }));
        if !called || clause.verb.is_some() || !self.services_of(clause).is_empty() {
            return None;
        }
        let numbers = clause
            .phrases()
            .filter(|p| p.compared.is_none())
            .flat_map(|p| p.numbers.iter());
        let mut bare = numbers.filter_map(|n| self.raw(*n).parse::<u16>().ok());
        let status = bare.find(|n| STATUSES.contains(n))?;
        let (body, as_text) = self.answered(clause);
        Some(self.simple(
            clause,
            Does::Respond {
                status,
                body,
                as_text,
            },
        ))
    }

    /// What a clause answers with: the members of a JSON object that it quotes, else the quoted text.
    pub(super) fn answered(&self, clause: &Clause) -> (Vec<Arg>, Option<Val>) {
        let quoted = clause
            .phrases()
            .filter(|p| p.service.is_none())
            .flat_map(|p| &p.names)
            .map(|n| self.name(*n));
        for text in quoted {
            if let Some(members) = super::content::members(&text) {
                return (members, None);
            }
        }
        // "respond with ok": a word that says yes is the answer itself.
        let yes = |p: &&crate::clause::Phrase| {
            p.prep == "with" && self.kind(p) == "approve" && p.modifiers.is_empty()
        };
        let said = clause.phrases().find(yes).and_then(|p| p.head);
        let said = said.map(|at| super::lit(self.raw(at)));
        (Vec::new(), self.quote(clause).or(said))
    }

    /// The answer to who started the workflow.
    pub(super) fn answer(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let webhook = self
            .plan
            .triggers
            .iter()
            .any(|t| matches!(t, Trigger::Webhook { .. }));
        if webhook && self.services_of(clause).is_empty() {
            let status = clause
                .phrases()
                .flat_map(|p| p.numbers.iter())
                .find_map(|n| figure(self.raw(*n)))
                .filter(|n| (100.0..600.0).contains(n));
            let (mut body, as_text) = self.answered(clause);
            if body.is_empty() && as_text.is_none() {
                let named = self.fields(i).into_iter();
                body = named
                    .map(|f| arg(Role::Field(f.clone()), field(&f)))
                    .collect();
            }
            return vec![self.simple(
                clause,
                Does::Respond {
                    status: status.map_or(200, |n| n as u16),
                    body,
                    as_text,
                },
            )];
        }
        // What another workflow is given back is what the last step holds.
        let inner = |t: &Trigger| matches!(t, Trigger::SubWorkflow { .. });
        if self.plan.triggers.iter().any(inner) && self.services_of(clause).is_empty() {
            let named = self.fields(i).into_iter();
            let fields: Vec<Arg> = named
                .map(|f| arg(Role::Field(f.clone()), field(&f)))
                .collect();
            return match fields.is_empty() {
                true => Vec::new(),
                false => vec![self.simple(clause, Does::SetFields { fields })],
            };
        }
        let named = self
            .acts_on(clause, frame)
            .or_else(|| self.trigger_service());
        let Some(service) = named else {
            return Vec::new();
        };
        if service.is_any(&["sheet", "db", "base", "kv"]) {
            return self.store(i, clause, "STORE");
        }
        let mut args = self.containers(clause, service);
        args.extend(self.text_of(i));
        vec![self.simple(
            clause,
            on(service, Verb::Reply, Some("message".into()), args),
        )]
    }
}
