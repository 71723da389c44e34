//! A person is asked for a yes or a no: who, by what means, how long an answer may take, and which way an answer leads.

use super::flow::{Kind, Tree};
use super::{Reading, acting, arg, lit};
use crate::chart::What;
use crate::clause::{Clause, Phrase};
use crate::plan::{Does, Role, Step};

impl Reading<'_> {
    /// A person is asked for a yes or a no.
    pub(super) fn approved(&mut self, clause: &Clause, frame: &str) -> Vec<Step> {
        // A confirmation that is sent, and not asked for, tells that all is well.
        let calls = |frames: &[&str]| frames.iter().any(|f| clause.calls(f));
        let from = clause.phrases().any(|p| p.prep == "from");
        let sends =
            calls(&["MAIL", "SEND", "NOTIFY", "REPLY"]) || calls(&["GET", "RECEIVE"]) && !from;
        let sends = sends && !calls(&["ASK", "WAIT", "REQUEST"]);
        let told = |p: &Phrase| sends && p.phrase_says(self.chart, "confirmation");
        let approves = frame == "APPROVE" || clause.phrases().any(|p| self.approves(p) && !told(p));
        let service = self
            .acts_on(clause, "SEND")
            .filter(|s| s.speaks())
            .or_else(|| self.to_people(clause));
        let Some(service) = service.filter(|_| approves) else {
            return Vec::new();
        };
        let mut args = self.containers(clause, service);
        args.extend(self.recipients(clause));
        if args.is_empty() && !service.is("mail") {
            args.extend(self.chat_of_trigger(service));
        }
        if let Some(seconds) = Self::lasts(clause) {
            args.push(arg(Role::TimeRange, lit(seconds)));
        }
        let said = self.said(clause);
        vec![self.step(
            &said,
            Does::Approval {
                service: acting(service),
                args,
                approved: Vec::new(),
                rejected: Vec::new(),
            },
        )]
    }

    /// "Delete them only after my approval": what a clause does waits for a yes.
    pub(super) fn with_leave(&mut self, clause: &Clause, steps: Vec<Step>) -> Vec<Step> {
        let leave = |p: &crate::clause::Phrase| p.prep == "after" && self.approves(p);
        let asks = |s: &Step| matches!(s.does, Does::Approval { .. });
        if steps.is_empty() || steps.iter().any(asks) || !clause.phrases().any(leave) {
            return steps;
        }
        let means = ["chat", "mail", "sms"].iter().find_map(|t| self.latest(t));
        let Some(service) = means.or_else(|| super::service("email")) else {
            return Vec::new();
        };
        let said = self.said(clause);
        let asked = self.step(
            &said,
            Does::Approval {
                service: acting(service),
                args: Vec::new(),
                approved: steps,
                rejected: Vec::new(),
            },
        );
        vec![asked]
    }

    /// Whether a phrase is an approval, or names one before its head: "approval request".
    pub(super) fn approves(&self, phrase: &crate::clause::Phrase) -> bool {
        // A confirmation mail asks for nothing.
        let told = phrase.concept(self.chart) == "email" || phrase.concept(self.chart) == "message";
        let items = phrase
            .head
            .iter()
            .chain(&phrase.modifiers)
            .filter(|_| !told);
        !phrase.negated
            && items
                .filter_map(|n| self.chart.item(*n).noun())
                .any(|n| n.kind() == "approve")
    }

    /// Whether a clause that sends something asks for a yes or a no: an approval request, a request for a sign-off.
    pub(super) fn asks_leave(&self, clause: &Clause) -> bool {
        let sends = clause.verb.as_ref().is_some_and(|v| {
            [
                "SEND", "NOTIFY", "MAIL", "ASK", "GET", "WAIT", "REQUEST", "CALL",
            ]
            .iter()
            .any(|f| v.calls(f))
        });
        // "ask X to approve or decline": what the next clause says is what is asked for.
        let later = self.clauses.iter().find(|c| c.from >= clause.to);
        let decided = later.is_some_and(|n| {
            let purpose = n.intro == crate::clause::Intro::Purpose;
            purpose && n.sentence == clause.sentence && n.calls("APPROVE") && !n.negated()
        });
        let asks = ["ASK", "MAIL", "SEND"].iter().any(|f| clause.calls(f));
        if asks && decided {
            return true;
        }
        sends
            && clause
                .after
                .iter()
                .any(|p| self.approves(p) && !p.phrase_says(self.chart, "confirmation"))
    }

    /// Where the trigger is a chat of the same service: the chat that the message came from.
    fn chat_of_trigger(&self, service: &crate::lexicon::ServiceEntry) -> Option<crate::plan::Arg> {
        let own = self.trigger_service().is_some_and(|s| s.key == service.key);
        own.then(|| {
            arg(
                Role::Recipient,
                crate::plan::Val::Field {
                    name: "chat id".into(),
                    of: Some("trigger".into()),
                },
            )
        })
    }

    /// "Give up after 30 minutes", "at most 24 hours": how long the approval that was just asked for may take.
    pub(super) fn limits(&mut self, tree: &mut Tree, clause: &Clause) -> bool {
        let Some(seconds) = Self::lasts(clause) else {
            return false;
        };
        let bare = clause
            .phrases()
            .all(|p| p.service.is_none() && p.names.is_empty());
        let Some(step) = tree.asking().filter(|_| bare) else {
            return false;
        };
        let Does::Approval { args, .. } = &mut step.does else {
            return false;
        };
        if args.iter().any(|a| a.role == Role::TimeRange) {
            return false;
        }
        args.push(arg(Role::TimeRange, lit(seconds)));
        true
    }

    /// A clause that tells what is done on a yes or a no, without the verb that only says which.
    pub(super) fn outcome(&self, clause: &Clause) -> Clause {
        let says = clause
            .verb
            .as_ref()
            .is_some_and(|v| v.calls("APPROVE") || v.calls("EXPIRE"));
        if !says
            || clause
                .verb
                .as_ref()
                .is_some_and(|v| v.frame() == "NOTIFY" && clause.phrases().count() > 1)
        {
            return clause.clone();
        }
        Clause {
            verb: None,
            before: Vec::new(),
            after: clause.phrases().cloned().collect(),
            ..clause.clone()
        }
    }

    /// "The boss gets a mail in which she can approve": the message that was just sent is the one that asks.
    pub(super) fn asked_by(&mut self, tree: &mut Tree, i: usize, step: &mut Step) {
        let Does::Approval { service, args, .. } = &mut step.does else {
            return;
        };
        let aimed =
            |a: &crate::plan::Arg| matches!(a.role, Role::To | Role::Channel | Role::Recipient);
        if args.iter().any(aimed) {
            return;
        }
        let sentence = self.clause_at(i).sentence;
        let said: Vec<String> = crate::cut::before(&self.clauses, i)
            .iter()
            .filter(|c| c.sentence == sentence)
            .map(|c| self.said(c))
            .collect();
        let here = tree.here();
        let asks = here.last().is_some_and(|s| {
            said.contains(&s.said)
                && matches!(&s.does, Does::Service { verb: crate::plan::Verb::Send, args, .. } if args.iter().any(aimed))
        });
        if !asks {
            return;
        }
        if let Some(Step {
            does:
                Does::Service {
                    service: by,
                    args: to,
                    ..
                },
            ..
        }) = here.pop()
        {
            *service = by;
            args.extend(to);
        }
    }

    /// Whether a clause speaks of the outcome of an approval: a yes; a no, or no answer in time.
    pub(super) fn decides(&self, clause: &Clause) -> Option<bool> {
        let lexicon = crate::lex::Lexicon::of(self.chart.language);
        let items = self.items(clause);
        let says = |concepts: &[&str]| {
            items.iter().take(5).any(|i| match &i.what {
                What::Word(s) => concepts.contains(&s.concept.as_str()),
                _ => concepts.contains(&i.text.as_str()),
            })
        };
        let begins = |class: &str| items.iter().take(2).any(|i| lexicon.can_be(&i.text, class));
        let verb = |frame: &str| {
            items.iter().take(5).any(|i| {
                i.verb()
                    .is_some_and(|v| v.says.first().is_some_and(|f| f == frame))
            })
        };
        // "After approval …", "on your OK …".
        let after = items.first().is_some_and(|i| i.is("prep"))
            && items
                .iter()
                .take(3)
                .any(|i| i.noun().is_some_and(|n| n.kind() == "approve"));
        let denied = items.iter().take(5).any(|i| i.is("neg"));
        let approves = verb("APPROVE")
            || items
                .iter()
                .take(2)
                .any(|i| i.verb().is_some_and(|v| v.calls("APPROVE")));
        let rejects = items
            .iter()
            .take(3)
            .any(|i| i.verb().is_some_and(|v| v.calls("REJECT")));
        if rejects
            || says(&["rejected", "reject", "decline", "deny", "refuse"])
            || begins("nay")
            || verb("EXPIRE")
            || denied && (verb("REPLY") || verb("NOTIFY") || approves || says(&["approved"]))
        {
            Some(false)
        } else if after || approves || says(&["approved", "ok"]) || begins("yes") {
            Some(true)
        } else {
            None
        }
    }
}

impl Tree {
    /// The approval that was asked for last, before its ways are told.
    fn asking(&mut self) -> Option<&mut Step> {
        let open = self.open.last_mut()?;
        match &mut open.kind {
            Kind::Approval(step) if open.first.is_empty() && open.second.is_empty() => Some(step),
            _ => None,
        }
    }
}
