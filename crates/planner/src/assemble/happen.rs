//! What of the events that a trigger fires on is meant (`knowledge/events.tsv`): many a trigger tells of all that happens to a
//! thing, where the request speaks of one event.

use super::{Reading, lit};
use crate::chart::Item;
use crate::clause::Clause;
use crate::lex::{Class, Lexicon, Table};
use crate::plan::{Cmp, Cond, Does, Step, Trigger, Val};
use serde_json::Value;

pub(super) const EVENTS: Table = Table {
    file: "events.tsv",
    text: include_str!("../../knowledge/events.tsv"),
    columns: 5,
};

/// In place of a value: the name that the event says something came to.
const ARRIVED: &str = "<to>";
/// In place of a field: such an event cannot be told from the others.
const UNKNOWN: &str = "?";

impl Reading<'_> {
    /// "Moved to Done", "into the list 'In review'": the name of the place that something came to.
    fn arrival(&self, clause: &Clause) -> Option<String> {
        let item = |at: usize| self.chart.item(at);
        let names = |at: &usize| {
            (item(*at).capital || item(*at).literal()) && item(*at).service().is_none()
        };
        let into = (clause.from..clause.to)
            .rev()
            .find(|at| item(*at).is("prep"))?;
        let first = (into + 1..clause.to)
            .find(|at| names(at) || !item(*at).is("det") && item(*at).noun().is_none())
            .filter(|at| names(at))?;
        let last = (first..clause.to).take_while(|at| names(at)).last()?;
        let words: Vec<String> = (first..=last).map(|at| self.name(at)).collect();
        Some(words.join(" "))
    }

    /// The test that lets only the event pass that was said.
    pub(super) fn meant_event(&mut self) -> Option<Step> {
        let Some(Trigger::Service { service, .. }) = self.plan.triggers.first() else {
            return None;
        };
        let short = agentctl_n8n::short_type(service.node_types.first()?).to_owned();
        let clause = self.clause_at(self.starts_at?).clone();
        let arrived = self.arrival(&clause);
        let (row, word) = {
            let said: Vec<String> = self
                .items(&clause)
                .iter()
                .flat_map(|i| i.text.split(|c: char| !c.is_alphanumeric()))
                .map(str::to_lowercase)
                .collect();
            let holds =
                |cell: &str| cell == "*" || cell.split('|').any(|w| said.iter().any(|s| s == w));
            let mut rows = EVENTS.rows().filter(|row| row.at(0) == short);
            let row = rows.find(|row| {
                let told = row.at(4) != ARRIVED || arrived.is_some();
                told && holds(row.at(1)) && holds(row.at(2))
            })?;
            let word = said.iter().find(|s| row.at(2).split('|').any(|w| w == *s));
            (row, word.cloned().unwrap_or_default())
        };
        if row.at(3) == UNKNOWN {
            let happened = self.said(&clause);
            self.plan.unread.push(happened);
            return None;
        }
        let (value, word) = match arrived.filter(|_| row.at(4) == ARRIVED) {
            Some(name) => (Value::String(name.clone()), name),
            None => (serde_json::from_str(row.at(4)).ok()?, word),
        };
        let (op, right) = match value {
            Value::Bool(true) => (Cmp::IsTrue, lit(true)),
            other => (Cmp::Eq, lit(other)),
        };
        let left = Val::Expr {
            code: format!("$json.{}", row.at(3)),
        };
        let condition = Cond::Compare { left, op, right };
        let mut step = self.simple(&clause, Does::Filter { condition });
        step.name = Some(format!("Only {word}"));
        Some(step)
    }

    /// "When an invoice is paid in Xero", where the service is asked again and again: only what is in that state goes on.
    pub(super) fn polled_state(&mut self) -> Option<Step> {
        let Some(Trigger::Poll { step, .. }) = self.plan.triggers.first() else {
            return None;
        };
        let clause = self
            .clauses
            .iter()
            .find(|c| self.said(c) == step.said)?
            .clone();
        let lexicon = Lexicon::of(self.chart.language);
        let state_of = |item: &Item| {
            let senses = lexicon.senses(&item.text);
            let state = senses
                .iter()
                .find(|s| s.class == Class::Adjective && s.kind() == "state");
            state.map(|s| (s.concept.clone(), item.text.clone()))
        };
        let (state, word) = self.items(&clause).iter().find_map(state_of)?;
        let Some(Trigger::Poll { step, .. }) = self.plan.triggers.first_mut() else {
            return None;
        };
        match crate::states::settle_poll(step, &state) {
            Ok(condition) => {
                let condition = condition?;
                Some(self.simple(&clause, Does::Filter { condition }))
            }
            Err(()) => {
                self.plan.unread.push(word);
                None
            }
        }
    }
}
