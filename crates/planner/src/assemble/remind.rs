//! Reminders: what somebody is to be reminded of is the text of the message.

use super::{Reading, arg, field, lit, on};
use crate::clause::{Clause, Intro, Phrase};
use crate::lexicon::ServiceEntry;
use crate::plan::{Cmp, Cond, Does, Role, Step, Val, Verb};
use crate::spot::Kind;
use crate::time::TimeMeaning;

impl Reading<'_> {
    /// "Remind me to water the plants by Telegram": a message that says "Water the plants". Nothing where it is not said of what,
    /// or by what means.
    pub(super) fn reminded(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        if !clause.calls("REMIND") {
            return Vec::new();
        }
        let due = self.due_ahead(i, clause);
        if !due.is_empty() {
            return due;
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

    /// "Remind me three days before any task in the Notion database Plans is due": what lies there is read, and what is due on that
    /// day is told of.
    fn due_ahead(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        const DAY: u64 = 86_400;
        let ahead = clause.times.iter().find_map(|t| match t.means {
            TimeMeaning::Duration { seconds } => Some(seconds),
            _ => None,
        });
        let keeps =
            |s: &&'static ServiceEntry| !s.speaks() && !s.is("llm") && !s.actions.is_empty();
        let store = clause.phrases().filter_map(|p| p.service).find(keeps);
        let mut items = self.items(clause).iter();
        let due = items.any(|i| i.verb().is_some_and(|v| v.calls("EXPIRE")));
        let before = clause.phrases().any(|p| p.prep == "before");
        let days = ahead.filter(|seconds| seconds % DAY == 0);
        let (Some(ahead), Some(store), true) = (days, store, due && before) else {
            return Vec::new();
        };
        let Ok(offset_seconds) = i64::try_from(ahead) else {
            return Vec::new();
        };
        let mut told = clause.clone();
        told.after
            .retain(|p| p.prep != "before" && p.service.is_none_or(|s| s.speaks()));
        let args = self.containers(clause, store);
        let object = self.object(clause, store);
        let date = self.date_column().unwrap_or_else(|| "due date".to_owned());
        let condition = Cond::Compare {
            left: field(&date),
            op: Cmp::StartsWith,
            right: Val::Now {
                offset_seconds,
                format: Some("yyyy-MM-dd".to_owned()),
            },
        };
        let read = self.simple(clause, on(store, Verb::GetMany, object, args));
        let test = self.simple(clause, Does::Filter { condition });
        let told = self.notify(i, &told, "NOTIFY");
        if told.is_empty() {
            return Vec::new();
        }
        [read, test].into_iter().chain(told).collect()
    }

    /// "Property name is 'Due date'": the column that a clause of its own names.
    fn date_column(&mut self) -> Option<String> {
        let names = |c: &Clause| {
            let label = |p: &Phrase| {
                let words = self.words(p).to_lowercase();
                matches!(self.concept(p), "column" | "name") || words.starts_with("property")
            };
            c.verb.is_none() && c.phrases().any(label)
        };
        let quote = |c: &Clause| {
            let mut phrases = c.phrases();
            let of = phrases.find(|p| p.literal(self.chart, Kind::Quote).is_some())?;
            Some(self.name(*of.names.first()?))
        };
        let mut clauses = self.clauses.iter().enumerate();
        let (at, name) =
            clauses.find_map(|(i, c)| names(c).then(|| Some((i, quote(c)?))).flatten())?;
        self.set_used(at, true);
        Some(name)
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
