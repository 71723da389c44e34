//! Clauses that ask for something and left no trace in the plan: what they say is not understood, whatever else of the
//! workflow answers for their words.

use super::Reading;
use super::flow::Tree;
use crate::account::asks_for_a_step;
use crate::clause::{Clause, Intro};
use crate::plan::{Plan, Val};

/// All that a clause can change while the flow is read.
pub(super) struct Traces {
    tree: Tree,
    plan: Plan,
    field: Option<Val>,
    labels: usize,
}

impl Traces {
    /// Whether nothing has changed since.
    pub fn are(&self, now: &Reading<'_>, tree: &Tree) -> bool {
        self.tree == *tree
            && self.plan == now.plan
            && self.field == now.topic.field
            && self.labels == now.topic.labels.len()
    }
}

impl Reading<'_> {
    pub(super) fn traces(&self, tree: &Tree) -> Traces {
        Traces {
            tree: tree.clone(),
            plan: self.plan.clone(),
            field: self.topic.field.clone(),
            labels: self.topic.labels.len(),
        }
    }

    /// Whether a clause wants a step, or a condition, of its own: what tells of people, what is said not to happen and what
    /// only names again what starts the workflow wants none.
    pub(super) fn asks_for_something(&self, i: usize, clause: &Clause) -> bool {
        let Some(verb) = &clause.verb else {
            return false;
        };
        let told = |c: &Clause| matches!(c.intro, Intro::When | Intro::Relative | Intro::Because);
        let within = i.checked_sub(1).is_some_and(|b| {
            let before = self.clause_at(b);
            before.sentence == clause.sentence && told(before)
        });
        let asks = match clause.intro {
            Intro::If | Intro::Unless => true,
            Intro::None | Intro::Purpose | Intro::Else | Intro::Until => {
                !within && asks_for_a_step(&verb.sense) && !self.tells_of_people(clause)
            }
            Intro::When | Intro::Relative | Intro::Because => false,
        };
        let own =
            !matches!(verb.sense.form.as_str(), "past") || verb.passive || verb.at == clause.from;
        // "pushes to other branches must not show up": what is to be left out.
        let left_out = verb.negated
            && clause.intro == Intro::None
            && verb.calls("HAPPEN")
            && clause.before.iter().any(|p| p.head.is_some());
        left_out || asks && own && !verb.negated && !self.wants_only(clause)
    }

    /// "I want an automation that …", "set up a workflow": what is asked of the reader, no step of the workflow.
    fn wants_only(&self, clause: &Clause) -> bool {
        let bare = |p: &crate::clause::Phrase| {
            p.names.is_empty() && p.service.is_none() && matches!(self.kind(p), "" | "context")
        };
        self.says(clause, "workflow") && clause.phrases().all(|p| p.names.is_empty())
            || clause.calls("CREATE") && clause.phrases().all(bare)
    }

    /// The clauses without a trace that nothing read later used either, as they stand in the request.
    pub(super) fn lost(&self) -> Vec<String> {
        let open = self.traceless.iter().filter(|i| !self.is_used(**i));
        let said = open.map(|i| self.said(self.clause_at(*i)));
        let said = said.chain(self.start_unknown());
        said.filter(|s| !s.is_empty()).collect()
    }

    /// The first clause, where nothing starts the workflow and it is no order: what happens there was not understood.
    fn start_unknown(&self) -> Option<String> {
        let first = self
            .clauses
            .first()
            .filter(|_| self.plan.triggers.is_empty())?;
        let orders = |v: &crate::clause::Use| v.sense.form == "base" || self.chart.language != "en";
        let ordered = first.before.is_empty() && first.verb.as_ref().is_some_and(orders);
        let wished = first.calls("WANT");
        (!ordered && !wished || first.intro == Intro::When).then(|| self.said(first))
    }
}
