//! Steps that nobody asked for, though words of the request led to them: taken out, and what they were read from is not understood.

use super::Reading;
use crate::clause::{Clause, Intro};
use crate::lexicon;
use crate::plan::{Does, Role, Step, Trigger, Verb};

/// Verbs by which something comes about in a shop.
const MAKES: &[&str] = &[
    "CHARGE", "PAY", "REFUND", "CREATE", "DRAFT", "COPY", "UPSERT", "SYNC",
];

impl Reading<'_> {
    /// Takes them out; gives what they were read from.
    pub(super) fn unasked(&mut self) -> Vec<String> {
        let blind = self.starts_blind();
        let made = self.makes_something();
        let mut steps = std::mem::take(&mut self.plan.steps);
        steps.retain(|step| !self.tells_of_the_start(step) && !self.is_of_the_event(step));
        let steps = steps.into_iter().enumerate();
        let (out, kept): (Vec<_>, Vec<_>) = steps.partition(|(at, step)| {
            blind && *at == 0 && (deletes_anything(step) || changes_nothing(step))
                || !made && sells(step)
                || self.deletes_for_a_part(step)
        });
        self.plan.steps = kept.into_iter().map(|(_, step)| step).collect();
        out.into_iter().map(|(_, step)| step.said).collect()
    }

    /// Whether a step on the service that starts the workflow was read from a clause that orders nothing: it tells what starts it
    /// ("a subscriber unsubscribes → …"), or of which service ("our shop is WooCommerce").
    fn tells_of_the_start(&self, step: &Step) -> bool {
        let Does::Service { service, verb, .. } = &step.does else {
            return false;
        };
        let own = self
            .trigger_service()
            .is_some_and(|s| s.actions == service.node_types);
        let changes = matches!(
            verb,
            Verb::Create | Verb::Update | Verb::Delete | Verb::Upsert
        );
        if !own || !changes {
            return false;
        }
        self.clause_of(step).is_some_and(|(i, c)| match &c.verb {
            Some(verb) => verb.sense.form == "third" && Some(i) == self.starts_at,
            None => self.items(c).iter().any(|item| item.is("aux")),
        })
    }

    /// The clause that a step was read from.
    fn clause_of(&self, step: &Step) -> Option<(usize, &Clause)> {
        let mut clauses = self.clauses.iter().enumerate();
        clauses.find(|(_, c)| !step.said.is_empty() && self.said(c) == step.said)
    }

    /// "When by the form (fields: name, e-mail) a request comes in, …": a message that was read from what tells of the event.
    fn is_of_the_event(&self, step: &Step) -> bool {
        let sends = matches!(
            step.does,
            Does::Service {
                verb: Verb::Send,
                ..
            }
        );
        let mut clauses = self.clauses.windows(2);
        let comes = |c: &Clause| c.verb.as_ref().is_some_and(|v| v.frame() == "HAPPEN");
        sends
            && !self.plan.triggers.is_empty()
            && clauses.any(|pair| match pair {
                [event, rest] => {
                    let told = matches!(event.intro, Intro::When | Intro::If);
                    let begins = event.sentence == 0 && event.verb.is_none();
                    let own = rest.sentence == 0 && comes(rest) && rest.intro == Intro::None;
                    told && begins && own && self.said(rest) == step.said
                }
                _ => false,
            })
    }

    /// "remove the contact's marketing flag": what is deleted is a field, and the record would go.
    fn deletes_for_a_part(&self, step: &Step) -> bool {
        let Does::Service {
            service,
            verb: Verb::Delete,
            ..
        } = &step.does
        else {
            return false;
        };
        let rows = service.node_types.first().is_some_and(|node| {
            lexicon::acting(|t| t == node).any(|s| s.is_any(&["sheet", "db", "base", "kv"]))
        });
        let of_a_record = |c: &Clause| {
            let theme = c
                .after
                .iter()
                .find(|p| p.prep.is_empty() && p.head.is_some());
            theme.is_some_and(|p| {
                let owner = |m: &usize| {
                    let noun = self.chart.item(*m).noun();
                    noun.is_some_and(|n| matches!(n.kind(), "record" | "person"))
                };
                self.kind(p) == "field" && p.modifiers.iter().any(owner)
            })
        };
        !rows && self.clause_of(step).is_some_and(|(_, c)| of_a_record(c))
    }

    /// Whether no record is at hand at the start: behind a rhythm or a person.
    pub(super) fn starts_blind(&self) -> bool {
        self.plan.triggers.iter().all(Trigger::brings_nothing)
    }

    fn makes_something(&self) -> bool {
        let mut verbs = self.clauses.iter().filter_map(|c| c.verb.as_ref());
        verbs.any(|v| !v.negated && MAKES.iter().any(|f| v.calls(f)))
    }
}

/// Whether a step deletes, and nothing says what.
fn deletes_anything(step: &Step) -> bool {
    let Does::Service {
        verb: Verb::Delete,
        args,
        ..
    } = &step.does
    else {
        return false;
    };
    let mut roles = args.iter().map(|a| &a.role);
    !roles.any(|r| matches!(r, Role::Id | Role::Query | Role::Url | Role::Named(_)))
}

/// Whether a step changes a record, and nothing says which or how.
fn changes_nothing(step: &Step) -> bool {
    let Does::Service {
        verb: Verb::Update,
        args,
        ..
    } = &step.does
    else {
        return false;
    };
    args.is_empty()
}

/// Whether a step makes something in a shop.
fn sells(step: &Step) -> bool {
    let Does::Service {
        service,
        verb: Verb::Create,
        ..
    } = &step.does
    else {
        return false;
    };
    let node = service.node_types.first();
    node.is_some_and(|node| lexicon::acting(|t| t == node).any(|s| s.is("shop")))
}
