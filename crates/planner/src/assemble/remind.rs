//! Reminders: what somebody is to be reminded of is the text of the message.

use super::{Reading, arg, lit};
use crate::clause::{Clause, Intro, Phrase};
use crate::plan::{Does, Role, Step};
use crate::spot::Kind;

impl Reading<'_> {
    /// "Remind me to water the plants by Telegram": a message that says "Water the plants". Nothing where it is not said of what,
    /// or by what means.
    pub(super) fn reminded(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        if !clause.calls("REMIND") {
            return Vec::new();
        }
        let next = self.clause_at(i + 1).clone();
        let goes_on = next.intro == Intro::Purpose && next.sentence == clause.sentence;
        let mut told = clause.clone();
        if goes_on {
            told.to = next.to;
            told.times.extend(next.times.iter().cloned());
            let means = next.after.iter().filter(|p| self.carries(p));
            told.after.extend(means.cloned());
        }
        let Some(text) = self.reminder(&told) else {
            return Vec::new();
        };
        let mut steps = self.notify(i, &told, "NOTIFY");
        if let Some(Step {
            does: Does::Service { args, .. },
            ..
        }) = steps.last_mut()
        {
            args.retain(|a| a.role != Role::Text);
            args.push(arg(Role::Text, lit(text)));
            self.set_used(i + 1, goes_on || self.is_used(i + 1));
        }
        steps
    }

    /// Whether a phrase says by what means, or to which address.
    fn carries(&self, phrase: &Phrase) -> bool {
        let kinds = [Kind::Channel, Kind::Mail, Kind::Phone, Kind::Handle];
        phrase.service.is_some_and(|s| s.speaks())
            || kinds
                .iter()
                .any(|k| phrase.literal(self.chart, *k).is_some())
    }

    /// The words of what is to be done, up to the first that says when, or by what means.
    fn reminder(&self, told: &Clause) -> Option<String> {
        let verb = told.verb.as_ref()?.at;
        let item = |at: usize| self.chart.item(at);
        let does = |at: &usize| {
            let next = item(at + 1);
            item(*at).text == "to" && !next.is("det") && !next.literal() && next.service().is_none()
        };
        let begin = item((verb + 1..told.to).find(does)? + 1).from;
        let end = item(told.to.checked_sub(1)?).to;
        let means = told.after.iter().filter(|p| self.carries(p)).map(|p| {
            let before = p.from.checked_sub(1).map(item);
            let led = before.filter(|item| item.is("prep"));
            led.unwrap_or_else(|| item(p.from)).from
        });
        let times = told.times.iter().map(|t| t.from);
        let ends = means.chain(times).filter(|at| *at > begin);
        let end = ends.min().unwrap_or(end).min(end);
        let said = self.text.get(begin..end)?;
        let said = said.trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')');
        let mut letters = said.chars();
        let first = letters.next()?;
        Some(first.to_uppercase().chain(letters).collect())
    }
}
