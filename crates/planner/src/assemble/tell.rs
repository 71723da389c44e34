//! Messages to people and to other systems: by what means, to whom, what they say, and what they tell of.

use super::flow::Tree;
use super::{Reading, acting, arg, lit, on, service};
use crate::clause::{Clause, Phrase};
use crate::lexicon::ServiceEntry;
use crate::plan::{Does, Role, Step, Trigger, Val, Verb};
use crate::spot::Kind;

/// Whether a service carries something to people or to other systems.
fn sends(service: &ServiceEntry) -> bool {
    let means = [
        "chat",
        "mail",
        "sms",
        "queue",
        "incident",
        "social",
        "newsletter",
    ];
    service.is_any(&means) || service.actions.iter().any(|a| a.ends_with("emailSend"))
}

impl Reading<'_> {
    /// "email it", "mail each new file": what is sent is the file that started the workflow.
    fn hands_file(&self, clause: &Clause) -> bool {
        let polled = self.plan.triggers.iter().any(|t| match t {
            Trigger::Poll { step, .. } => match &step.does {
                Does::Service { service, .. } => {
                    let node = service.node_types.first();
                    node.is_some_and(|n| crate::lexicon::acting(|t| t == n).any(|s| s.is("files")))
                }
                _ => false,
            },
            _ => false,
        });
        let files = polled || self.trigger_service().is_some_and(|s| s.is("files"));
        let came = |p: &Phrase| {
            let file = p.pronoun.is_some() || self.kind(p) == "file";
            p.prep.is_empty() && p.service.is_none() && file
        };
        files && (clause.after.iter().any(came) || self.has_clitic(clause))
    }

    /// "l'envoyer", "le déplacer": an article before a verb stands for a thing.
    pub(super) fn has_clitic(&self, clause: &Clause) -> bool {
        let verb = clause.verb.as_ref().filter(|v| v.sense.form == "base");
        let before = verb.and_then(|v| v.at.checked_sub(1));
        let article = |at: usize| self.chart.item(at).is("det") && at >= clause.from;
        self.chart.language == "fr" && before.is_some_and(article)
    }

    /// "Everyone else gets a mail", "the customer gets …", "#sales should get a post": somebody is given a message.
    pub(super) fn is_given(&self, clause: &Clause) -> bool {
        let subject = clause.intro == crate::clause::Intro::Else
            || clause.before.iter().any(|p| {
                let place = p.service.is_some_and(ServiceEntry::speaks) || self.addresses(p);
                let people = self.kind(p) == "person" || self.concept(p) == "team";
                people || p.prep.is_empty() && place
            })
            || clause.before.is_empty() && self.goes_on_about_somebody(clause);
        let message = clause
            .after
            .iter()
            .any(|p| self.kind(p) == "message" || p.service.is_some_and(|s| s.speaks()));
        subject && message
    }

    /// "A row should show up in the sheet": what has to be there is to be made.
    pub(super) fn must_arise(&self, clause: &Clause) -> bool {
        let must = self.items(clause).iter().any(|i| i.tells("must"));
        let target = |p: &Phrase| {
            matches!(p.prep.as_str(), "in" | "on" | "to" | "into" | "at")
                && (p.service.is_some() || self.literal_place(p))
        };
        // "Slack #sales should receive a message": who has to be told stands first.
        let told = |p: &Phrase| {
            p.prep.is_empty() && (self.addresses(p) || p.service.is_some_and(ServiceEntry::speaks))
        };
        must && (clause.phrases().any(target) || clause.before.iter().any(told))
    }

    fn literal_place(&self, phrase: &Phrase) -> bool {
        matches!(self.kind(phrase), "container" | "place") && !phrase.names.is_empty()
            || phrase.literal(self.chart, Kind::Channel).is_some()
    }

    /// What has to be somewhere, put there: a message, or a record.
    pub(super) fn arisen(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        self.store(i, clause, "STORE")
    }

    /// "Whoever registers is added to … and gets a mail": the subject of the clause before it is somebody.
    fn goes_on_about_somebody(&self, clause: &Clause) -> bool {
        let before = self.clauses.iter().rev().find(|c| c.to <= clause.from);
        before
            .filter(|b| b.sentence == clause.sentence)
            .is_some_and(|b| {
                b.before.iter().any(|p| {
                    let speaker = p.pronoun.is_some_and(|at| self.speaks(at));
                    (self.kind(p) == "person" || p.pronoun.is_some()) && !speaker
                })
            })
    }

    /// "Parcels for Germany get a row in …": a thing that is given a record is no request to read it.
    pub(super) fn is_recorded(&self, clause: &Clause) -> bool {
        let subject = clause.before.last().is_some_and(|p| {
            p.pronoun.is_none() && !matches!(self.kind(p), "" | "context" | "ai" | "person")
        });
        let record = clause.after.first().is_some_and(|p| {
            p.prep.is_empty()
                && p.quantity.is_none()
                && matches!(
                    self.concept(p),
                    "row" | "card" | "task" | "page" | "ticket" | "issue"
                )
        });
        let from = clause.after.iter().any(|p| p.prep == "from");
        subject && record && !from
    }

    /// "List the failed Stripe charges in Google Sheets": what one service has goes into another that keeps rows.
    pub(super) fn lists_into(&self, clause: &Clause) -> bool {
        let into = |p: &&Phrase| {
            let keeps = |s: &ServiceEntry| s.is_any(&["sheet", "base", "db"]);
            matches!(p.prep.as_str(), "in" | "into" | "to" | "on") && p.service.is_some_and(keeps)
        };
        let Some(target) = clause.after.iter().find(into).and_then(|p| p.service) else {
            return false;
        };
        clause.after.iter().any(|p| {
            let other = |s: &ServiceEntry| s.key != target.key && !s.actions.is_empty();
            let has = p.prep.is_empty() && !p.listed || matches!(p.prep.as_str(), "of" | "from");
            has && p.service.is_some_and(|s| other(s) && !s.is("llm"))
        })
    }

    /// A message to people: through a chat, by mail, as a text message.
    pub(super) fn notify(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let Some(service) = self.means_of(clause, frame) else {
            return Vec::new();
        };
        if !sends(service) {
            return self.store(i, clause, "STORE");
        }
        let mut steps = self.told_of(clause, service);
        let read = steps.len();
        steps.extend(self.file_for(clause));
        let filed = steps.len() > read;
        let mut args = self.containers(clause, service);
        args.extend(self.recipients(clause));
        let direct = args
            .iter()
            .any(|a| matches!(a.role, Role::Channel | Role::Recipient));
        if !service.is("mail") && direct {
            args.retain(|a| a.role != Role::To);
        }
        if !service.is("mail")
            && !direct
            && let Some(phrase) = clause.phrases().find(|p| {
                p.service.is_some_and(|s| s.key == service.key) || self.concept(p) == "conversation"
            })
            && let Some(at) = phrase.numbers.first().or(phrase.names.first())
        {
            args.push(arg(Role::Channel, lit(self.raw(*at))));
        }
        if service.is("mail") && !args.iter().any(|a| a.role == Role::To) {
            args.extend(self.own_address(clause));
        }
        if let Some((subject, text)) = self.greeting(clause)
            && service.is("mail")
        {
            args.push(arg(Role::Subject, lit(subject)));
            if text.is_some() && !args.iter().any(|a| a.role == Role::To) {
                args.extend(self.greeted());
            }
        }
        let wish = self.only_wished(clause);
        self.plan.unread.extend(wish);
        match self.said_outright(clause) {
            Some(said) => {
                args.retain(|a| !matches!(&a.role, Role::Named(_)));
                args.push(arg(Role::Text, lit(said)));
            }
            None => args.extend(self.text_of(i).or_else(|| self.theme(clause))),
        }
        args.extend(
            self.details(clause)
                .into_iter()
                .filter(|a| matches!(a.role, Role::Title | Role::Priority | Role::Text)),
        );
        let handed = service.is("mail") && self.hands_file(clause);
        if filed || handed || clause.phrases().any(|p| self.concept(p) == "attachment") {
            args.push(arg(Role::Attachment, lit("data")));
        }
        // Who is written to by an address of each item is written to for each; so is who "for each order" tells something.
        let counted = |p: &Phrase| p.quantity.is_some() && self.kind(p) == "message";
        let single =
            clause.phrases().any(counted) || self.items(clause).iter().any(|i| i.is("only"));
        let own = args
            .iter()
            .any(|a| a.role == Role::To && matches!(a.value, Val::Field { .. }));
        let each = clause.before.iter().any(|p| {
            let one = p.noun(self.chart).is_some_and(|n| n.form == "one");
            p.quantity.is_some_and(|q| self.chart.item(q).tells("each")) && one
        });
        let own = own && !single && self.chart.language == "en";
        // "post our new stuff on LinkedIn": what is new is published by itself.
        let fresh = |p: &Phrase| p.prep.is_empty() && p.states.iter().any(|s| self.is_fresh(*s));
        let published = service.is("social") && !single && clause.after.iter().any(fresh);
        // What is forwarded goes on as it came, one by one.
        let forwarded = clause.calls("FORWARD") && !single;
        let many = self.topic.many && !own && !each && !published && !forwarded;
        let sum = match many {
            true => self.figures(clause, &mut args),
            false => Vec::new(),
        };
        let many = many && sum.is_empty();
        steps.extend(sum);
        if many && !filed {
            steps.push(self.simple(
                clause,
                Does::Aggregate {
                    format: "list".into(),
                    group_by: None,
                },
            ));
            self.topic.many = false;
        }
        self.mention(service);
        let verb = if service.is("incident") {
            Verb::Create
        } else {
            Verb::Send
        };
        let object = if service.is("sms") { "sms" } else { "message" };
        steps.push(self.simple(
            clause,
            Does::Service {
                service: acting(service),
                verb,
                object: Some(object.into()),
                args,
                once: many,
            },
        ));
        steps
    }

    /// What a message about many tells of them as one figure: how many there are, in its text; their total, by steps before it.
    fn figures(&mut self, clause: &Clause, args: &mut Vec<crate::plan::Arg>) -> Vec<Step> {
        if self.quote(clause).is_some() {
            return Vec::new();
        }
        if let Some(what) = self.counts(clause) {
            let length = Val::Expr {
                code: "$input.first().json.data.length".to_owned(),
            };
            let parts = vec![lit(format!("{what}: ")), length];
            args.retain(|a| a.role != Role::Text);
            args.push(arg(Role::Text, Val::Template { parts }));
        }
        self.totalled(clause)
    }

    /// "mail the customer asking for a review": what a message is to ask for, where nobody says its words.
    fn only_wished(&self, clause: &Clause) -> Option<String> {
        if self.quote(clause).is_some() {
            return None;
        }
        let verb = clause.verb.as_ref()?.at;
        let asks = |at: &usize| {
            let wish = self.chart.item(*at).verb();
            wish.is_some_and(|v| v.form == "ing" && (v.calls("ASK") || v.calls("WANT")))
        };
        let from = (verb + 1..clause.to).find(asks)?;
        let (first, last) = (self.chart.item(from), self.chart.item(clause.to - 1));
        self.text.get(first.from..last.to).map(str::to_owned)
    }

    /// "its stdout into #infra", "post the number": what a message without a text tells, where it is a figure, a text or a field.
    fn theme(&self, clause: &Clause) -> Option<crate::plan::Arg> {
        let fits = |p: &&Phrase| {
            let own = matches!(self.kind(p), "number" | "money" | "field" | "date");
            let output = p.head.iter().chain(&p.modifiers).any(|at| {
                let noun = self.chart.item(*at).noun();
                noun.is_some_and(|n| n.concept == "output")
            });
            (own || output) && p.prep.is_empty() && p.service.is_none() && p.names.is_empty()
        };
        let plain = |p: &&Phrase| p.numbers.is_empty() && p.compared.is_none();
        let told = clause
            .after
            .iter()
            .chain(&clause.before)
            .filter(plain)
            .find(fits)?;
        let output = |at: &&usize| {
            let noun = self.chart.item(**at).noun();
            noun.is_some_and(|n| n.concept == "output")
        };
        let printed = told.head.iter().chain(&told.modifiers).find(output);
        let name = printed.map_or_else(|| self.field_name(told), |at| self.raw(*at).to_owned());
        Some(arg(
            Role::Text,
            crate::plan::Val::Template {
                parts: vec![super::field(&name)],
            },
        ))
    }

    /// By what a clause tells people something: a service that sends, else what its addresses imply; a service that is only told
    /// of is none.
    pub(super) fn means_of(&self, clause: &Clause, frame: &str) -> Option<&'static ServiceEntry> {
        let aims = |p: &&Phrase| !matches!(p.prep.as_str(), "from" | "of");
        // "forward every Twilio message to me@acme.example": an address says by what means, and what came is no means.
        let to_mail = clause
            .phrases()
            .any(|p| p.prep == "to" && p.literal(self.chart, Kind::Mail).is_some());
        let mails = |s: &ServiceEntry| {
            s.is("mail") || s.is("newsletter") || s.actions.iter().any(|a| a.ends_with("emailSend"))
        };
        let came = self.trigger_service();
        let reaches =
            |s: &ServiceEntry| !to_mail || mails(s) || came.is_none_or(|c| c.key != s.key);
        let by = clause
            .phrases()
            .filter(aims)
            .filter_map(|p| p.service)
            .find(|s| sends(s) && !s.actions.is_empty() && reaches(s));
        let addressed = clause.phrases().any(|p| {
            [Kind::Channel, Kind::Mail, Kind::Phone, Kind::Handle]
                .iter()
                .any(|k| p.literal(self.chart, *k).is_some())
        });
        let implied = || {
            (addressed || frame == "MAIL")
                .then(|| self.implied(clause, frame))
                .flatten()
        };
        let named = || self.acts_on(clause, frame);
        // "send everybody in the sheet a mail": what is given is a mail, wherever the people are kept.
        let given =
            |p: &Phrase| self.concept(p) == "email" && p.prep.is_empty() && p.names.is_empty();
        let mailed = || {
            let sent = frame == "SEND" && clause.after.iter().any(given);
            sent.then(|| self.implied(clause, "MAIL")).flatten()
        };
        by.map(|s| self.concrete(s))
            .or_else(implied)
            .or_else(mailed)
            .or_else(named)
            .or_else(|| self.to_people(clause))
    }

    /// "Send the list somewhere. Slack #team": a clause that only says where gives the message before it its address.
    pub(super) fn readdressed(&mut self, tree: &mut Tree, clause: &Clause) -> bool {
        let address = |p: &Phrase| {
            let kinds = [Kind::Channel, Kind::Mail, Kind::Phone, Kind::Handle];
            let named = kinds.iter().any(|k| p.literal(self.chart, *k).is_some());
            p.head.is_none() && (named || p.service.is_some_and(|s| s.speaks()))
        };
        let bare = clause.verb.is_none() && !clause.arrow && !clause.colon;
        if !bare || clause.phrases().next().is_none() || !clause.phrases().all(address) {
            return false;
        }
        let Some(service) = self.means_of(clause, "NOTIFY") else {
            return false;
        };
        let mut given = self.containers(clause, service);
        given.extend(self.recipients(clause));
        let Some(Step {
            does:
                Does::Service {
                    service: by,
                    verb: Verb::Send,
                    args,
                    ..
                },
            ..
        }) = tree.here().last_mut()
        else {
            return false;
        };
        let aimed = args.iter().any(|a| match a.role {
            Role::Channel | Role::Recipient => true,
            Role::To => matches!(a.value, Val::Lit { .. }),
            _ => false,
        });
        if aimed {
            return false;
        }
        args.retain(|a| a.role != Role::To);
        args.extend(given);
        *by = acting(service);
        self.mention(service);
        true
    }

    /// "The card belongs in list 5f1c", "it should go to #alerts": a later statement says where what was written last belongs.
    pub(super) fn placed(&mut self, tree: &mut Tree, clause: &Clause) -> bool {
        let puts = clause
            .verb
            .as_ref()
            .is_some_and(|v| matches!(v.frame(), "STORE" | "GO" | "SEND" | "NOTIFY") && !v.negated);
        let [subject] = clause.before.as_slice() else {
            return false;
        };
        let Some(Step {
            does:
                Does::Service {
                    service: by,
                    object,
                    verb,
                    ..
                },
            ..
        }) = tree.here().last()
        else {
            return false;
        };
        let speaker = subject.pronoun.is_some_and(|at| self.speaks(at));
        let concept = self.concept(subject);
        let same = subject.pronoun.is_some() && !speaker
            || object.as_deref() == Some(concept)
            || *verb == Verb::Send && self.kind(subject) == "message";
        let bare = subject.prep.is_empty()
            && subject.service.is_none()
            && subject.names.is_empty()
            && subject.quantity.is_none()
            && subject.states.is_empty();
        let kept = crate::lexicon::services()
            .iter()
            .find(|s| !s.actions.is_empty() && s.actions == by.node_types);
        let Some(kept) = kept.filter(|_| puts && same && bare && concept != "data") else {
            return false;
        };
        let place = |p: &Phrase| {
            let named = !p.names.is_empty() || !p.numbers.is_empty();
            let own = p.service.is_none_or(|s| self.concrete(s).key == kept.key);
            let place = matches!(self.kind(p), "container" | "place" | "field");
            own && named && (place || self.addresses(p) || p.service.is_some())
        };
        if clause.after.is_empty() || !clause.after.iter().all(place) {
            return false;
        }
        let mut given = self.containers(clause, kept);
        given.extend(self.recipients(clause));
        let Some(Step {
            does: Does::Service { args, .. },
            ..
        }) = tree.here().last_mut()
        else {
            return false;
        };
        // A second place of the same kind is another one.
        let taken = |a: &crate::plan::Arg| {
            args.iter()
                .any(|b| b.role == a.role && matches!(b.value, Val::Lit { .. }))
        };
        if given.is_empty() || given.iter().any(taken) {
            return false;
        }
        args.retain(|a| !given.iter().any(|g| g.role == a.role));
        args.extend(given);
        true
    }

    /// "post the open Jira bugs to …": what is told of lies in another service, and is read from there first; not where that
    /// service started the workflow.
    pub(super) fn told_of(&mut self, clause: &Clause, to: &ServiceEntry) -> Vec<Step> {
        let started = |s: &ServiceEntry| {
            self.plan.triggers.iter().any(|t| match t {
                Trigger::Service { service, .. } => service.node_types == s.triggers,
                _ => false,
            })
        };
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        let told = |p: &Phrase| {
            matches!(
                self.kind(p),
                "record" | "event" | "message" | "person" | "file"
            )
        };
        let from = phrases.iter().enumerate().find_map(|(n, p)| {
            let service = p.service?;
            // "everybody in the Google Sheet Members": people are kept somewhere.
            let kept = || {
                let before = n.checked_sub(1).and_then(|b| phrases.get(b));
                before.filter(|_| self.plan.triggers.iter().all(Trigger::brings_nothing))
            };
            let of = matches!(p.prep.as_str(), "of" | "from")
                || p.prep == "in" && self.counts(clause).is_some()
                || p.prep == "in"
                    && to.is("mail")
                    && kept().is_some_and(|b| self.kind(b) == "person");
            let other = service.key != to.key && !service.actions.is_empty() && !service.is("llm");
            if !other || started(service) || p.listed || !(of || p.prep.is_empty()) {
                return None;
            }
            // The thing is said with the service, or right before it.
            let before = || {
                crate::cut::before(&phrases, n)
                    .iter()
                    .rev()
                    .find(|b| told(b))
            };
            let thing = match told(p) {
                true => !service.speaks() || of,
                false => of && before().is_some(),
            };
            let of = if told(p) { *p } else { before()? };
            thing.then(|| (of.clone(), (*p).clone(), service))
        });
        let Some((phrase, source, service)) = from else {
            return Vec::new();
        };
        self.topic.many = true;
        let row = service.is("sheet") || service.is("db");
        let thing = self.concept(&phrase);
        let object = Some(if row { "row" } else { thing }.to_owned());
        let own = Clause {
            before: Vec::new(),
            after: vec![source],
            ..clause.clone()
        };
        let args = self.containers(&own, service);
        self.mention(service);
        let read = self.simple(clause, on(service, Verb::GetMany, object, args));
        let alone = Clause {
            verb: None,
            before: Vec::new(),
            after: vec![phrase],
            ..clause.clone()
        };
        let unseen = self.unseen(clause, &alone);
        let narrowed = self.condition(&alone);
        let filter = narrowed.map(|condition| self.simple(clause, Does::Filter { condition }));
        std::iter::once(read).chain(filter).chain(unseen).collect()
    }

    /// "tell the customer", "let me know": by the means that the request names, else by mail.
    pub(super) fn to_people(&self, clause: &Clause) -> Option<&'static ServiceEntry> {
        let person = clause
            .phrases()
            .any(|p| self.kind(p) == "person" || p.pronoun.is_some());
        let latest = || ["chat", "mail", "sms"].iter().find_map(|t| self.latest(t));
        if !person {
            None
        } else {
            latest().or_else(|| service("email"))
        }
    }

    /// "I want an email to …", "I need a row in …".
    pub(super) fn wanted(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        let frame = self.nominal(clause).first().copied().unwrap_or("");
        // "I'd like a Trello card for each message": one record of a service is made, whatever it is made of.
        let made = clause.after.first().is_some_and(|p| {
            let one = self.chart.item(p.from).tells("one") && p.prep.is_empty();
            let kept = p
                .service
                .is_some_and(|s| !s.actions.is_empty() && !s.speaks());
            one && kept && self.kind(p) == "record"
        });
        if made && !self.plan.triggers.is_empty() {
            return self.create(i, clause, "CREATE");
        }
        let mails = clause
            .after
            .iter()
            .any(|p| self.concept(p) == "email" || self.kind(p) == "message");
        if mails {
            self.notify(i, clause, "MAIL")
        } else if frame.is_empty() {
            Vec::new()
        } else {
            self.frame(i, clause, frame)
        }
    }
}
