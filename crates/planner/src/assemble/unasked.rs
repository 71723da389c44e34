//! Steps that nobody asked for, though words of the request led to them: taken out, and what they were read from is not understood.

use super::Reading;
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
        let steps = std::mem::take(&mut self.plan.steps).into_iter().enumerate();
        let (out, kept): (Vec<_>, Vec<_>) = steps.partition(|(at, step)| {
            blind && *at == 0 && deletes_anything(step) || !made && sells(step)
        });
        self.plan.steps = kept.into_iter().map(|(_, step)| step).collect();
        out.into_iter().map(|(_, step)| step.said).collect()
    }

    /// Whether no record is at hand at the start: behind a rhythm or a person.
    fn starts_blind(&self) -> bool {
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
