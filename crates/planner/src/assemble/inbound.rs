//! What comes in from outside without a service of its own: calls over HTTP, calls of other workflows.

use super::Reading;
use crate::clause::{Clause, Intro, Phrase};
use crate::plan::Role;
use crate::spot::Kind;

/// Frames of verbs by which something reaches us.
const REACHES: &[&str] = &[
    "CALL", "SEND", "RECEIVE", "HAPPEN", "PUBLISH", "NOTIFY", "TAKE", "ACCEPT",
];

impl Reading<'_> {
    /// "Our shop sends a POST request to n8n", "whenever a request hits /ping", "a URL that I can call with GET": somebody
    /// outside calls, and no address is called.
    pub(super) fn comes_in(&self, clause: &Clause) -> bool {
        let has = |kind: Kind| {
            clause
                .phrases()
                .any(|p| p.literal(self.chart, kind).is_some())
        };
        let acts = |p: &Phrase| {
            p.service
                .is_some_and(|s| !s.actions.is_empty() && s.key != "httpRequest")
        };
        if has(Kind::Url) || clause.phrases().any(acts) {
            return false;
        }
        let web = clause
            .phrases()
            .any(|p| matches!(self.concept(p), "webhook" | "api" | "link" | "path"));
        let http = self
            .items(clause)
            .iter()
            .any(|i| matches!(i.text.as_str(), "http" | "https"));
        let reached = clause
            .verb
            .as_ref()
            .is_some_and(|v| REACHES.contains(&v.frame()));
        let speaker = |p: &Phrase| p.pronoun.is_some_and(|at| self.speaks(at));
        let others = clause.before.iter().any(|p| !speaker(p));
        let to_us = clause.after.iter().any(speaker);
        let method = self.method(clause).is_some();
        let when = clause.intro == Intro::When;
        let called = method && (reached && others || when || web && clause.calls("CALL"));
        let hit = has(Kind::Path) && reached && (when || others);
        called || hit || reached && others && to_us && (http || web) || self.posted_to(clause)
    }

    /// "the JSON posted to /lead": a place that things are sent to, behind what is sent there.
    fn posted_to(&self, clause: &Clause) -> bool {
        let there = |p: &Phrase| {
            let to = matches!(p.prep.as_str(), "to" | "at");
            to && p.literal(self.chart, Kind::Path).is_some()
        };
        self.done_at(clause, &["SEND", "PUBLISH", "NOTIFY"], there)
    }

    /// "This is a sub-workflow: it gets an order id", "to be called by other workflows with a text".
    pub(super) fn called_from_within(&self, clause: &Clause) -> bool {
        let inner = |p: &Phrase| {
            let said = p.modifiers.iter().chain(&p.head);
            let sub = said.map(|at| self.chart.item(*at)).any(|i| {
                i.text.starts_with("sub") && i.noun().is_some_and(|n| n.concept == "workflow")
            });
            sub && p.names.is_empty() && p.prep.is_empty()
        };
        let still = clause
            .verb
            .as_ref()
            .is_none_or(|v| matches!(v.frame(), "STATE" | "CREATE" | "WANT" | "BE"));
        let by_others = clause.calls("CALL")
            && clause
                .phrases()
                .any(|p| p.prep == "by" && self.concept(p) == "workflow");
        by_others || clause.sentence == 0 && still && clause.phrases().any(inner)
    }

    /// What a workflow that others call is given: in its own clause, or in the next one that says what it gets.
    pub(super) fn given_inputs(&self, i: usize) -> Vec<String> {
        let named = |at: usize| -> Vec<String> {
            let fields = self.inputs_of(at).into_iter().filter_map(|a| match a.role {
                Role::Field(name) => Some(name),
                _ => None,
            });
            fields.collect()
        };
        let own = named(i);
        let next = self.clause_at(i + 1);
        let gets = next.calls("GET") || next.calls("RECEIVE") || next.calls("TAKE");
        let pronoun = next.before.iter().all(|p| p.pronoun.is_some());
        if !own.is_empty() || !gets || !pronoun {
            return own;
        }
        let things = next.after.iter().filter(|p| p.service.is_none());
        things
            .map(|p| self.field_name(p))
            .filter(|n| !n.is_empty())
            .collect()
    }
}
