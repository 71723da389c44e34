//! What is done whenever there is something to do it with: services that are asked again and again, and orders about all that
//! comes ("turn each starred mail into a task").

use super::start::{EVENTS, Event};
use super::{Reading, on};
use crate::clause::{Clause, Intro, Phrase};
use crate::lexicon::ServiceEntry;
use crate::plan::{ScheduleRule, Trigger, Verb};

impl Reading<'_> {
    /// A service without a trigger of its own is asked every few minutes.
    pub(super) fn polled(&mut self) {
        const EVERY: u32 = 5;
        let new = |c: &Clause| {
            let ordered = c.verb.as_ref().is_some_and(|v| v.sense.form == "base");
            let fresh = |p: &Phrase| p.states.iter().any(|s| self.is_fresh(*s));
            let asked = |p: &Phrase| {
                let place = matches!(p.prep.as_str(), "" | "in" | "on" | "from" | "of");
                place && p.service.is_some_and(|s| s.triggers.is_empty())
            };
            !ordered && c.phrases().any(asked) && c.phrases().any(fresh)
        };
        let told = |c: &&Clause| {
            new(c)
                || c.intro == Intro::When
                || c.verb
                    .as_ref()
                    .is_some_and(|v| EVENTS.contains(&v.frame()) && !v.negated)
        };
        let found = self
            .clauses
            .iter()
            .enumerate()
            .filter(|(_, c)| told(c))
            .find_map(|(i, c)| {
                let service = c.phrases().find_map(|p| p.service)?;
                let asked = !service.is("llm") && !service.is("vector") && !service.is("chat");
                (asked && service.triggers.is_empty() && !service.actions.is_empty())
                    .then_some((i, service))
            });
        let Some((i, service)) = found else {
            return;
        };
        let clause = self.clause_at(i).clone();
        let said = self.said(&clause);
        let object = self.happens_to(&clause);
        let args = self.containers(&clause, service);
        if object.as_deref().is_none_or(|o| o == "person") {
            // "when someone subscribes": what is asked for again and again, nobody says.
            self.plan.unread.push(said.clone());
        }
        let step = self.step(&said, on(service, Verb::GetMany, object, args));
        self.mention(service);
        self.set_used(i, true);
        self.plan.triggers.push(Trigger::Poll {
            every: ScheduleRule::Minutes { n: EVERY },
            step: Box::new(step),
        });
    }

    /// "upload the attachments of mails from … to Drive", "save every photo sent on Telegram": an order about each of what comes to
    /// a service, where nothing else starts the workflow.
    pub(super) fn standing(&self) -> Option<Event> {
        let first = self.clauses.first()?;
        let ordered = first.intro == Intro::None
            && first.before.is_empty()
            && first
                .verb
                .as_ref()
                .is_some_and(|v| v.sense.form == "base" && !v.negated);
        let untimed = self.clauses.iter().all(|c| c.times.is_empty());
        if !ordered || !untimed {
            return None;
        }
        let phrases: Vec<&Phrase> = first.phrases().collect();
        let (n, came) = phrases
            .iter()
            .enumerate()
            .find(|(_, p)| self.comes_again(p))?;
        let place = |p: &&&Phrase| matches!(p.prep.as_str(), "from" | "in" | "on" | "of");
        let brings = |p: &Phrase| p.service.filter(|s| !s.triggers.is_empty() && !s.is("llm"));
        let mailed = || {
            let mail = self.concept(came) == "email" && came.service.is_none();
            mail.then(|| self.mailbox()).flatten()
        };
        let next = phrases.get(n + 1).filter(place);
        let service = brings(came)
            .or_else(|| next.and_then(|p| brings(p)))
            .or_else(mailed)
            .filter(|s| !s.triggers.is_empty())?;
        let goes = |p: &&Phrase| self.addresses(p) || self.acts_elsewhere(p, service);
        let rest = crate::cut::from(&phrases, n + 1).iter().copied();
        let later = self.clauses.iter().skip(1).flat_map(Clause::phrases);
        rest.chain(later).any(|p| goes(&p)).then_some(Event {
            told: false,
            at: 0,
            service,
        })
    }

    /// Messages, and each one of other things, that come again and again.
    fn comes_again(&self, phrase: &Phrase) -> bool {
        let each = phrase
            .quantity
            .is_some_and(|q| self.chart.item(q).tells("each"));
        let many = phrase.noun(self.chart).is_some_and(|n| n.form == "many");
        let mail = self.kind(phrase) == "message" && many;
        let thing = matches!(self.kind(phrase), "record" | "event" | "message" | "file");
        mail || each && thing
    }

    /// A clause up to where what came goes to: "… mails from X to the OneDrive folder Y" watches no folder.
    pub(super) fn up_to_its_target(&self, clause: &Clause, of: &ServiceEntry) -> Clause {
        let mut own = clause.clone();
        let goes = |p: &Phrase| {
            matches!(p.prep.as_str(), "to" | "into" | "onto") && self.acts_elsewhere(p, of)
        };
        if let Some(at) = own.after.iter().position(goes).filter(|at| *at > 0) {
            own.after.truncate(at);
        }
        own
    }

    fn acts_elsewhere(&self, phrase: &Phrase, than: &ServiceEntry) -> bool {
        let other = |s: &ServiceEntry| !s.actions.is_empty() && s.key != than.key;
        phrase.service.is_some_and(other)
    }
}
