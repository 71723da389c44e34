//! Waits: for so long, until a date of the data, so long after the event; and two sources that are compared.

use super::flow::Tree;
use super::repeat::reads;
use super::{Reading, field};
use crate::clause::{Clause, Phrase};
use crate::plan::{Does, Step, Trigger, Val};

impl Reading<'_> {
    /// "Wait 2 hours", "wait until starts_at".
    pub(super) fn waited(&mut self, clause: &Clause) -> Vec<Step> {
        let until = clause.after.iter().find(|p| {
            p.prep == "until"
                && (!p.names.is_empty() || self.kind(p) == "date" || self.kind(p) == "field")
        });
        let does = match until {
            Some(phrase) => Some(Does::WaitUntil {
                at: self.dated(phrase),
                offset_seconds: 0,
            }),
            None => Self::lasts(clause).map(|seconds| Does::Wait { seconds }),
        };
        let said = self.said(clause);
        does.into_iter()
            .map(|does| self.step(&said, does))
            .collect()
    }

    fn dated(&self, phrase: &Phrase) -> Val {
        let named = phrase.names.first().map(|n| self.name(*n));
        field(&named.unwrap_or_else(|| self.words(phrase)))
    }

    /// "Ten days after an order was fulfilled": the wait that stands between the event and the first step.
    pub(super) fn delayed(&mut self) -> Option<Step> {
        let event = self.plan.triggers.iter().find_map(|t| match t {
            Trigger::Service { event, .. } => Some(event.clone()),
            _ => None,
        })?;
        let clause = self.clauses.iter().find(|c| self.said(c) == event)?.clone();
        let seconds = Self::lasts(&clause)?;
        let after = clause
            .before
            .iter()
            .chain(&clause.after)
            .any(|p| p.prep == "after");
        let said = self.said(&clause);
        after.then(|| self.step(&said, Does::Wait { seconds }))
    }

    /// "Compare both by SKU": the two sources that were read last, joined; what is kept is said by what follows.
    pub(super) fn compares(&mut self, tree: &mut Tree, i: usize, clause: &Clause) -> bool {
        if !(clause.calls("COMPARE") || clause.calls("MERGE")) || clause.negated() {
            return false;
        }
        let steps = tree.here();
        let [.., left, right] = steps.as_slice() else {
            return false;
        };
        if !reads(left) || !reads(right) {
            return false;
        }
        let on = clause
            .after
            .iter()
            .find(|p| {
                matches!(
                    p.prep.as_str(),
                    "by" | "on" | "via" | "over" | "using" | "through" | "per"
                )
            })
            .map(|p| {
                let named = p.names.first().map(|n| self.name(*n));
                named.unwrap_or_else(|| self.words(p))
            });
        let later: Vec<&Clause> = crate::cut::from(&self.clauses, i).iter().take(4).collect();
        let lacks = later.iter().any(|c| {
            let stores = c.phrases().any(|p| p.service.is_some() || p.prep == "in");
            stores
                && self.denies(c)
                && c.verb
                    .as_ref()
                    .is_none_or(|v| matches!(v.frame(), "STATE" | "EXIST" | "STORE"))
        });
        let keep = if lacks {
            "left_only"
        } else if clause.calls("MERGE") {
            "both"
        } else {
            "all"
        };
        let on = on
            .filter(|w| !w.is_empty())
            .unwrap_or_else(|| "id".to_owned());
        let said = self.said(clause);
        let right = tree.here().pop();
        let left = tree.here().pop();
        let step = self.step(
            &said,
            Does::Join {
                left: left.into_iter().collect(),
                right: right.into_iter().collect(),
                on,
                keep: keep.into(),
            },
        );
        tree.here().push(step);
        self.topic.many = true;
        true
    }
}
