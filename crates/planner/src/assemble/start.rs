//! What starts the workflow: a rhythm, an event of a service, a form, a call, a chat, a person.

use super::{Reading, arg, lit};
use crate::clause::{Clause, Intro, Phrase, is_backdrop};
use crate::lexicon::ServiceEntry;
use crate::plan::{Cond, Role, ScheduleRule, Service, Trigger, WebhookAuth};
use crate::spot::Kind;
use crate::time::{DayCheck, TimeMeaning};

/// Frames of verbs that tell of an event.
pub(super) const EVENTS: &[&str] = &[
    "HAPPEN", "RECEIVE", "SUBMIT", "SIGNUP", "ORDER", "PAY", "FAIL", "EXPIRE", "SUCCEED",
];

/// A time of this cost describes a thing, or reads words that were read already.
const DESCRIBES: u32 = 2;

/// A clause that tells of the event of a service; `told` where it says that something happens, or is new.
pub(super) struct Event {
    pub(super) told: bool,
    pub(super) at: usize,
    pub(super) service: &'static ServiceEntry,
}

/// Gives a rule that runs at 9:00, which is where none is said, or at a part of the day (`free`), another time of day.
fn set_clock(rule: &mut ScheduleRule, at: u32, past: u32, free: bool) {
    const NOON: u32 = 12;
    if let ScheduleRule::Days { hour, minute, .. }
    | ScheduleRule::Weeks { hour, minute, .. }
    | ScheduleRule::Months { hour, minute, .. } = rule
        && (free || (*hour, *minute) == (9, 0))
    {
        // "At 7 every evening".
        let later = free && *hour > NOON && at < NOON;
        (*hour, *minute) = (if later { at + NOON } else { at }, past);
    }
}

/// What a verb of an event says in English, by its frame.
fn done(frame: &str) -> &'static str {
    const DONE: &[(&str, &str)] = &[
        ("PAY", "paid"),
        ("CHARGE", "paid"),
        ("FAIL", "failed"),
        ("SUCCEED", "succeeded"),
        ("UPDATE", "updated"),
        ("MOVE", "moved"),
        ("DELETE", "deleted"),
        ("SUBMIT", "submitted"),
        ("RECEIVE", "received"),
        ("ORDER", "order created"),
        ("CREATE", "created"),
        ("STORE", "added"),
        ("UPLOAD", "uploaded"),
        ("HAPPEN", "new"),
        ("SIGNUP", "new subscriber created"),
        ("EXPIRE", "expired"),
        ("REFUND", "refunded"),
        ("PUBLISH", "published"),
        ("MERGE", "merged"),
    ];
    let row = DONE.iter().find(|(f, _)| *f == frame);
    row.map_or("", |(_, said)| *said)
}

impl Reading<'_> {
    /// Finds all triggers and marks the clauses that say no more than that.
    pub(super) fn start(&mut self) {
        self.rhythm();
        if self.plan.triggers.is_empty() && self.by_person() {
            self.plan.triggers.push(Trigger::Manual);
        }
        if self.plan.triggers.is_empty() {
            self.called();
        }
        if self.plan.triggers.is_empty() {
            self.addressed();
        }
        if self.plan.triggers.is_empty() {
            let event = self.likeliest();
            if !event.as_ref().is_some_and(|e| e.told) {
                self.spoken();
            }
            if self.plan.triggers.is_empty()
                && let Some(event) = event
            {
                self.event(&event);
            }
        }
        if self.plan.triggers.is_empty() {
            self.at_a_time();
        }
        if self.plan.triggers.is_empty() {
            self.polled();
        }
        if self.plan.triggers.is_empty()
            && let Some(event) = self.standing()
        {
            self.event(&event);
        }
    }

    /// "I start it myself": a clause of its own says that a person does.
    fn by_person(&mut self) -> bool {
        let speaker = |p: &Phrase| {
            p.pronoun
                .is_some_and(|at| self.chart.item(at).tells("speaker"))
        };
        let plain = |p: &Phrase| {
            p.service.is_none()
                && (p.head.is_none() || self.concept(p) == "workflow" || p.prep == "to")
        };
        let starts =
            |c: &Clause| c.calls("RUN") && c.phrases().any(speaker) && c.phrases().all(plain);
        let by_hand = |i: &usize| {
            self.announced(*i)
                && self
                    .items(self.clause_at(*i))
                    .iter()
                    .any(|t| t.tells("manual") || t.text == "manual")
        };
        let announced = || (0..self.clauses.len()).find(by_hand);
        let found = self.clauses.iter().position(starts).or_else(announced);
        if let Some(at) = found {
            self.set_used(at, true);
        }
        found.is_some()
    }

    /// Schedules, wherever they are said; a time of day said apart belongs to the schedule.
    fn rhythm(&mut self) {
        let mut rules = Vec::new();
        let mut free = true;
        for (i, clause) in self.clauses.iter().enumerate() {
            for time in clause.times.iter().filter(|t| t.cost < DESCRIBES) {
                match &time.means {
                    TimeMeaning::Schedule { rules: more, only } => {
                        self.day = only.or(self.day);
                        let said = self.text.get(time.from..time.to).unwrap_or("");
                        free &= !said.contains(|c: char| c.is_ascii_digit());
                        for rule in more {
                            if !rules.contains(rule) {
                                rules.push(rule.clone());
                            }
                        }
                        if clause.verb.is_none()
                            && clause.phrases().all(|p| {
                                self.kind(p) == "context"
                                    || p.names.is_empty() && p.service.is_none() && p.head.is_none()
                            })
                            && let Some(used) = self.used.get_mut(i)
                        {
                            *used = true;
                        }
                    }
                    TimeMeaning::Zone { name } => self.plan.timezone = Some(name.clone()),
                    _ => {}
                }
            }
        }
        if let Some((hour, minute)) = self.clock_apart() {
            rules
                .iter_mut()
                .for_each(|rule| set_clock(rule, hour, minute, free));
        }
        // n8n counts the days of a month from its first alone: the last one is looked for among those that it may be.
        let last = |rule: &ScheduleRule| matches!(rule, ScheduleRule::Months { day: 0, .. });
        if self.day.is_none() && !rules.is_empty() && rules.iter().all(last) {
            self.day = Some(DayCheck::LastDay);
        }
        match rules.is_empty() {
            true => self.at_intervals(),
            false => self.plan.triggers.push(Trigger::Schedule { rules }),
        }
    }

    /// The time of day that is said apart from a schedule; none where several are.
    fn clock_apart(&self) -> Option<(u32, u32)> {
        let times = self.clauses.iter().flat_map(|c| &c.times);
        // "by one" is no time of day.
        let figures = |t: &crate::time::TimeSpan| {
            let said = self.text.get(t.from..t.to).unwrap_or("");
            said.contains(|c: char| c.is_ascii_digit())
        };
        let mut clocks: Vec<(u32, u32)> = times
            .filter(|t| t.cost < DESCRIBES && figures(t))
            .filter_map(|t| match t.means {
                TimeMeaning::AtTime { hour, minute } => Some((hour, minute)),
                _ => None,
            })
            .collect();
        clocks.dedup();
        match clocks.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// "interval 20 min": how often it runs. Attempts, and batches, have intervals of their own.
    fn at_intervals(&mut self) {
        let own = |c: &&Clause| {
            let tries = c.calls("RETRY") || c.calls("TRY") || self.says(c, "attempt");
            !tries && self.batch(c).is_none()
        };
        let spans = self.clauses.iter().filter(own).flat_map(|c| &c.times);
        let mut lasting = spans.filter_map(|t| match t.means {
            TimeMeaning::Duration { seconds } => Some((t.from, seconds)),
            _ => None,
        });
        let spaced = |(from, _): &(usize, u64)| crate::clause::spaces(self.chart, *from);
        let found = lasting.find(spaced).map(|(_, seconds)| seconds);
        // "keep an eye on the table at intervals of 5 min": the trigger of the service asks by itself.
        if found.is_some() && self.clauses.iter().any(|c| self.is_watched(c)) {
            return;
        }
        let rule = match found {
            Some(s) if s >= 3600 && s % 3600 == 0 => ScheduleRule::Hours {
                n: u32::try_from(s / 3600).unwrap_or(1),
                minute: 0,
            },
            Some(s) if s >= 60 => ScheduleRule::Minutes {
                n: u32::try_from(s / 60).unwrap_or(1),
            },
            _ => return,
        };
        self.plan
            .triggers
            .push(Trigger::Schedule { rules: vec![rule] });
    }

    /// "Once the day is over, at 9:30 pm": a time of day and nothing else that starts it means every day.
    fn at_a_time(&mut self) {
        if let Some((hour, minute)) = self.clock_apart() {
            let rules = vec![ScheduleRule::Days { n: 1, hour, minute }];
            self.plan.triggers.push(Trigger::Schedule { rules });
        }
    }

    /// A webhook, an endpoint, a form, a chat, another workflow, an error of any workflow.
    fn called(&mut self) {
        for i in 0..self.clauses.len() {
            let clause = self.clause_at(i);
            let says = |concept: &str| self.says(clause, concept);
            let shapes = |kind: Kind| {
                clause
                    .phrases()
                    .any(|p| p.literal(self.chart, kind).is_some())
            };
            let method = self.method(clause);
            let fails = clause.calls("FAIL") && (says("workflow") || self.own_workflow(clause));
            let of_all = self.errors_of_workflows(clause);
            if fails || of_all || says("error") && says("workflow") && clause.verb.is_none() {
                self.plan.triggers.push(Trigger::Error);
                self.set_used(i, true);
                return;
            }
            let service = clause
                .phrases()
                .find_map(|p| p.service)
                .filter(|s| !s.triggers.is_empty());
            let path = shapes(Kind::Path);
            let other = clause.intro == Intro::When && clause.calls("CALL") && says("workflow");
            if service.is_none() && !path && (other || self.called_from_within(clause)) {
                let inputs = self.given_inputs(i);
                let given = !inputs.is_empty() && self.inputs_of(i).is_empty();
                self.plan.triggers.push(Trigger::SubWorkflow { inputs });
                self.set_used(i, true);
                if given {
                    self.set_used(i + 1, true);
                }
                return;
            }
            let called = method.is_some() && path || self.comes_in(clause);
            let brings = service.is_none() || self.by_webhook(clause);
            if brings && says("webhook") || called {
                let trigger = self.webhook(i, method);
                self.starts_at = Some(i);
                self.plan.triggers.push(trigger);
                let spent = self.only_starts(i) || self.comes_in(self.clause_at(i));
                self.set_used(i, spent && !self.leads_on(i));
                return;
            }
            let form = says("form") || says("submission");
            if form && service.is_none_or(|s| matches!(s.key.as_str(), "form" | "n8n")) {
                let trigger = self.form(i);
                self.starts_at = Some(i);
                self.plan.triggers.push(trigger);
                self.set_used(i, self.only_starts(i) && !self.leads_on(i));
                return;
            }
        }
    }

    /// "Store every webhook message in …": what comes by a webhook is what is worked on.
    fn by_webhook(&self, clause: &Clause) -> bool {
        let brought = |p: &Phrase| {
            let of = |at: &usize| {
                let noun = self.chart.item(*at).noun();
                noun.is_some_and(|n| n.concept == "webhook")
            };
            let object = p.prep.is_empty() && p.service.is_none() && p.names.is_empty();
            object && (p.quantity.is_some() || !p.states.is_empty()) && p.modifiers.iter().any(of)
        };
        clause.intro == Intro::None && clause.after.iter().any(brought)
    }

    /// "webhook to Discord", "form to the sheet Leads": what starts it and where that goes, without a verb.
    fn leads_on(&self, i: usize) -> bool {
        let clause = self.clause_at(i);
        let target = |p: &Phrase| {
            let goes = matches!(p.prep.as_str(), "to" | "into");
            goes && p.service.is_some_and(|s| !s.actions.is_empty())
        };
        let only = self.clauses.iter().all(|c| c.verb.is_none());
        let plain = clause.intro == Intro::None && only;
        plain && clause.after.iter().any(target)
    }

    /// "the errors of all flows": what any workflow fails with.
    fn errors_of_workflows(&self, clause: &Clause) -> bool {
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        phrases.windows(2).any(|pair| match pair {
            [error, of] => {
                let failed = error.states.iter().any(|s| self.is_fresh(*s));
                (self.concept(error) == "error" || failed && error.service.is_none())
                    && self.concept(of) == "workflow"
                    && matches!(of.prep.as_str(), "of" | "in" | "from")
            }
            _ => false,
        })
    }

    /// "one of them", "an automation of mine": a workflow that was spoken of.
    fn own_workflow(&self, clause: &Clause) -> bool {
        let pronoun = clause.before.iter().any(|p| p.pronoun.is_some());
        let told = self
            .chart
            .items
            .iter()
            .any(|i| i.noun().is_some_and(|n| n.concept == "workflow"));
        pronoun && told && clause.phrases().all(|p| p.service.is_none())
    }

    /// Whether a clause says nothing but what starts the workflow.
    fn only_starts(&self, i: usize) -> bool {
        let clause = self.clause_at(i);
        let verb = clause.verb.as_ref().map_or("", |v| v.frame());
        let replies = verb == "ANSWER" && clause.after.iter().any(|p| p.prep == "with");
        clause.intro == Intro::When
            || verb.is_empty()
            || EVENTS.contains(&verb)
            || !replies
                && matches!(
                    verb,
                    "CREATE" | "CALL" | "WANT" | "STATE" | "USE" | "ANSWER" | "GET"
                )
    }

    /// The method of a call: a word of a clause in capitals.
    pub(super) fn method(&self, clause: &Clause) -> Option<String> {
        let words = (clause.from..clause.to).map(|i| self.raw(i));
        words
            .into_iter()
            .find(|w| matches!(*w, "GET" | "POST" | "PUT" | "PATCH" | "DELETE"))
            .map(str::to_owned)
    }

    fn webhook(&self, i: usize, method: Option<String>) -> Trigger {
        let near = || crate::cut::from(&self.clauses, i).iter().take(3);
        let path = near().flat_map(Clause::phrases).find_map(|p| {
            let literal = p.literal(self.chart, Kind::Path);
            let said = literal.map(|l| self.text.get(l.from..l.to).unwrap_or("").to_owned());
            let named = p
                .noun(self.chart)
                .is_some_and(|n| n.concept == "path" || n.concept == "webhook");
            said.or_else(|| {
                named
                    .then(|| p.names.first().map(|n| self.name(*n)))
                    .flatten()
            })
        });
        let method = method.or_else(|| near().find_map(|c| self.method(c)));
        let method = method.unwrap_or_else(|| "POST".to_owned());
        let words = |w: &str| self.chart.items.iter().any(|i| i.text == w);
        let auth = if words("basic") {
            Some(WebhookAuth::Basic)
        } else if words("bearer") {
            Some(WebhookAuth::Bearer)
        } else if words("jwt") {
            Some(WebhookAuth::Jwt)
        } else if words("header") && (words("auth") || words("key") || words("authentication")) {
            Some(WebhookAuth::Header)
        } else {
            None
        };
        let path = path.map(|p| p.split('?').next().unwrap_or(&p).to_owned());
        Trigger::Webhook {
            method,
            path,
            fields: self.listed(i),
            auth,
            file: false,
        }
    }

    /// The clause that most likely tells of the event of a service.
    fn likeliest(&self) -> Option<Event> {
        let mut best: Option<(i32, Event)> = None;
        let later = |c: &Clause| {
            let mut after = self.clauses.iter().filter(|o| o.from >= c.to);
            after.any(|o| o.intro == Intro::When)
        };
        for (i, clause) in self.clauses.iter().enumerate() {
            // "We use Calendly for bookings. When …": what happens is told later.
            if later(clause) && is_backdrop(self.chart, &self.clauses, clause) {
                continue;
            }
            let fresh = |p: &Phrase| p.states.iter().any(|s| self.is_fresh(*s));
            let new = clause.phrases().any(fresh);
            let verb = clause.verb.as_ref();
            let wished = self.must_arise(clause);
            let told = verb.is_some_and(|v| EVENTS.contains(&v.frame()) && !v.negated && !wished)
                || clause.intro == Intro::When
                || clause.intro == Intro::If && i < 2
                || self.written_to(clause, i);
            let told = told || self.is_watched(clause) || self.comes_to(clause);
            let told = told || self.reported(i, clause);
            let nominal = verb.is_none() && clause.fresh && i < 2;
            let mails = clause
                .phrases()
                .any(|p| matches!(self.concept(p), "email" | "inbox"));
            let of = |p: &Phrase| p.service.filter(|s| !s.triggers.is_empty());
            let named = clause
                .phrases()
                .find_map(|p| of(p).filter(|_| fresh(p)))
                .or_else(|| {
                    // "for each new order in WooCommerce".
                    let phrases: Vec<&Phrase> = clause.phrases().collect();
                    phrases.windows(2).find_map(|pair| match pair {
                        [p, place]
                            if fresh(p)
                                && matches!(place.prep.as_str(), "in" | "on" | "from" | "of") =>
                        {
                            of(place)
                        }
                        _ => None,
                    })
                })
                .or_else(|| clause.phrases().find_map(of));
            let named = self.comes_from(clause, named);
            let near = self
                .clauses
                .get(i + 1)
                .filter(|_| told)
                .into_iter()
                .flat_map(|c| c.before.iter())
                .find_map(|p| p.service);
            let before = i
                .checked_sub(1)
                .and_then(|b| self.clauses.get(b))
                .filter(|b| b.verb.is_none())
                .into_iter()
                .flat_map(|c| c.after.iter())
                .find_map(|p| p.service);
            let mailed = || mails.then(|| self.mailbox()).flatten();
            let feed = || {
                let address = |p: &Phrase| {
                    let url = p.literal(self.chart, Kind::Url);
                    url.is_some_and(|u| {
                        ["feed", "rss", "atom", ".xml"]
                            .iter()
                            .any(|w| u.text.contains(w))
                    })
                };
                clause
                    .phrases()
                    .any(|p| matches!(self.concept(p), "news" | "feed") || new && address(p))
                    .then(|| super::service("rssFeedRead"))
                    .flatten()
            };
            let earlier = || {
                let spoken = crate::cut::before(&self.clauses, i)
                    .iter()
                    .rev()
                    .flat_map(|c| c.phrases().filter_map(|p| p.service));
                spoken
                    .into_iter()
                    .find(|s| !s.triggers.is_empty() && !s.speaks())
            };
            let told_elsewhere = || told.then(earlier).flatten();
            let Some(service) = named
                .or(near)
                .or(before)
                .or_else(feed)
                .or_else(mailed)
                .or_else(told_elsewhere)
                .filter(|s| !s.triggers.is_empty())
            else {
                continue;
            };
            let mut points = 0;
            points += if told { 4 } else { 0 };
            points += if new { 3 } else { 0 };
            points += if nominal { 2 } else { 0 };
            points += i32::from(clause.phrases().any(|p| {
                self.kind(p) == "record" || self.kind(p) == "message" || self.kind(p) == "file"
            })) * 2;
            points += i32::from(named.is_some()) * 2;
            let leads = self
                .clauses
                .get(i + 1)
                .is_some_and(|n| n.arrow && n.line == clause.line);
            let only = named.is_some_and(|s| s.actions.is_empty());
            // An order tells of no event, but for a new thing of a service: "add new HubSpot contacts to …".
            let ordered = |v: &crate::clause::Use| {
                v.sense.form == "base" && !v.passive && !v.calls("HAPPEN") && !v.calls("RECEIVE")
            };
            let order = clause.intro == Intro::None
                && clause.before.is_empty()
                && verb.is_some_and(ordered)
                && !self.announced(i);
            let source = |p: &Phrase| {
                fresh(p) && !self.is_target(p) && (p.service.is_some() || self.kind(p) == "message")
            };
            let sent = verb.is_none()
                && clause
                    .phrases()
                    .any(|p| p.prep == "to" && self.addresses(p))
                && !self.announced(i);
            let asked = clause.phrases().any(|p| {
                fresh(p)
                    && p.service
                        .is_some_and(|s| s.triggers.is_empty() && !s.actions.is_empty())
            }) || {
                let phrases: Vec<&Phrase> = clause.phrases().collect();
                phrases.windows(2).any(|pair| match pair {
                    [p, place] => {
                        fresh(p)
                            && matches!(place.prep.as_str(), "in" | "on" | "from" | "of")
                            && place
                                .service
                                .is_some_and(|s| s.triggers.is_empty() && !s.actions.is_empty())
                    }
                    _ => false,
                })
            };
            // A service without a trigger is asked again and again.
            if asked {
                continue;
            }
            let brought = clause.phrases().any(source);
            let elsewhere =
                clause.phrases().any(fresh) && clause.phrases().any(|p| p.prep == "from");
            if sent && !new && !told
                || order
                    && !(brought
                        || elsewhere
                        || only
                        || self.is_watched(clause)
                        || self.written_to(clause, i))
            {
                continue;
            }
            // What nobody says to happen is no event: "a summary is posted to …".
            let acts = verb.is_some_and(|v| {
                let frame = v.frame();
                ["NOTIFY", "SEND", "MAIL", "STORE", "CREATE", "INCLUDE"].contains(&frame)
            });
            if acts && named.is_some() && !(told || new || only || leads || self.announced(i)) {
                continue;
            }
            points += i32::from(leads && verb.is_none()) * 4;
            points += i32::from(self.announced(i)) * 12;
            points -= i32::from(clause.arrow) * 6;
            points -= i32::try_from(i / 2).unwrap_or(6).min(6);
            // a service that can do nothing else is there for its events
            points += i32::from(named.is_some_and(|s| s.actions.is_empty())) * 6;
            let ends = verb.is_some_and(|v| v.calls("STOP"));
            points -= i32::from(ends) * 6;
            if points > 0 && best.as_ref().is_none_or(|(most, _)| points > *most) {
                let only = named.is_some_and(|s| s.actions.is_empty());
                let told = told || new || only || self.announced(i);
                best = Some((
                    points,
                    Event {
                        told,
                        at: i,
                        service,
                    },
                ));
            }
        }
        best.map(|(_, event)| event)
    }

    /// "Watch the Airtable table Leads", "listen to the queue": what happens in a place is waited for.
    pub(super) fn is_watched(&self, clause: &Clause) -> bool {
        let waits = clause.verb.as_ref().is_some_and(|v| {
            matches!(v.sense.concept.as_str(), "monitor" | "listen") && !v.negated
        });
        waits
            && clause
                .phrases()
                .any(|p| p.service.is_some_and(|s| !s.triggers.is_empty()))
    }

    /// "all texts received on Twilio": what comes to a service starts it.
    fn comes_to(&self, clause: &Clause) -> bool {
        let there = |p: &Phrase| {
            let on = matches!(p.prep.as_str(), "on" | "in" | "via" | "by" | "through");
            on && p.service.is_some_and(|s| !s.triggers.is_empty())
        };
        self.done_at(clause, &["RECEIVE"], there)
    }

    /// Whether a participle of one of these frames stands between a thing and such a place.
    pub(super) fn done_at(
        &self,
        clause: &Clause,
        frames: &[&str],
        place: impl Fn(&Phrase) -> bool,
    ) -> bool {
        let done = |at: usize| {
            let verb = self.chart.item(at).verb();
            verb.is_some_and(|v| v.form == "past" && frames.iter().any(|f| v.calls(f)))
        };
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        phrases.windows(2).any(|pair| match pair {
            [what, at] => place(at) && (what.from..at.from).any(done),
            _ => false,
        })
    }

    /// "An issue was created in Jira: …": a first statement of what was done to something, before what follows from it.
    fn reported(&self, i: usize, clause: &Clause) -> bool {
        let done = clause
            .verb
            .as_ref()
            .is_some_and(|v| v.passive && !v.negated);
        let must = self.items(clause).iter().any(|t| t.tells("must"));
        let next = self.clause_at(i + 1);
        i == 0 && done && !must && !clause.before.is_empty() && (next.colon || next.arrow)
    }

    /// "Trigger: …": a label says that a clause tells what starts the workflow.
    fn announced(&self, i: usize) -> bool {
        self.labelled_as(i, "trigger")
    }

    /// Whether a label of a concept stands before a clause, or before its colon.
    pub(super) fn labelled_as(&self, i: usize, concept: &str) -> bool {
        let clause = self.clause_at(i);
        let label = |p: &Phrase| self.concept(p) == concept && p.service.is_none();
        let own = clause.phrases().next().is_some_and(label)
            && clause.phrases().nth(1).is_some_and(|p| p.aside);
        let before = i.checked_sub(1).map(|b| self.clause_at(b));
        let head = before.is_some_and(|b| {
            b.verb.is_none() && b.phrases().count() == 1 && b.phrases().all(label)
        });
        own || clause.colon && head
    }

    /// "a new order", "a failed payment": a word of a phrase that tells of an event.
    pub(super) fn is_fresh(&self, at: usize) -> bool {
        let item = self.chart.item(at);
        let new = item
            .sense(crate::lex::Class::Adjective)
            .is_some_and(|a| a.kind() == "new");
        new || item
            .verb()
            .is_some_and(|v| v.form == "past" && ["FAIL", "EXPIRE"].iter().any(|f| v.calls(f)))
    }

    /// "Customers write to us on WhatsApp", "a Telegram bot": what people send to a service of messages starts it.
    fn written_to(&self, clause: &Clause, i: usize) -> bool {
        let chat = |p: &Phrase| p.service.is_some_and(|s| s.is("chat") || s.is("sms"));
        let to_us = clause
            .after
            .iter()
            .any(|p| p.prep == "to" && p.pronoun.is_some_and(|at| self.speaks(at)));
        let by_people = clause.before.iter().any(|p| self.kind(p) == "person");
        let bot = clause
            .phrases()
            .any(|p| chat(p) && matches!(self.concept(p), "agent" | "bot"));
        i < 3 && clause.phrases().any(chat) && (to_us && by_people || bot)
    }

    /// A pronoun of the one who asks: "us", "me".
    pub(super) fn speaks(&self, at: usize) -> bool {
        let item = self.chart.item(at);
        item.tells("speaker") || item.tells("us")
    }

    /// The event of a service that a clause tells of.
    fn event(&mut self, event: &Event) {
        let (i, service) = (event.at, event.service);
        self.starts_at = Some(i);
        let clause = self.up_to_its_target(self.clause_at(i), service);
        let written = self.written_to(&clause, i);
        let object = match written {
            true => Some("message".to_owned()),
            false => self.happens_to(&clause),
        };
        let told = self.goes_on(i);
        let mut args: Vec<_> = self.containers(&clause, service);
        for more in &told {
            args.extend(self.containers(more, service));
        }
        for phrase in clause
            .phrases()
            .chain(told.iter().flat_map(Clause::phrases))
        {
            let tagged = phrase.states.iter().any(|s| {
                let verb = self.chart.item(*s).verb();
                verb.is_some_and(|v| v.concept == "tag")
            });
            if (tagged || self.concept(phrase) == "label")
                && let Some(name) = phrase.names.first()
            {
                args.push(arg(Role::Label, lit(self.name(*name))));
            }
            if self.concept(phrase) == "attachment" {
                args.push(arg(Role::Attachment, lit(true)));
            }
            if self.concept(phrase) == "news" || service.key == "rssFeedRead" {
                let url = phrase
                    .literal(self.chart, Kind::Url)
                    .and_then(|u| self.text.get(u.from..u.to));
                args.extend(url.map(|u| arg(Role::Url, lit(u))));
            }
            if phrase.prep == "from"
                && let Some(mail) = phrase.literal(self.chart, Kind::Mail)
            {
                args.push(arg(Role::From, lit(mail.text.clone())));
            }
        }
        for phrase in clause
            .phrases()
            .chain(told.iter().flat_map(Clause::phrases))
        {
            args.extend(self.watched(phrase));
        }
        self.topic.object.clone_from(&object);
        self.mention(service);
        self.plan.triggers.push(Trigger::Service {
            service: Service {
                said: service.label.clone(),
                node_types: service.triggers.clone(),
            },
            event: match written {
                true => "message".to_owned(),
                false => self.happening(&clause, &told),
            },
            object,
            args,
        });
        for more in 0..told.len() {
            self.set_used(i + 1 + more, true);
        }
        let tells = |v: &crate::clause::Use| {
            EVENTS.contains(&v.frame())
                || v.sense.form == "past" && clause.after.is_empty()
                || v.calls("PAY")
        };
        let must = self.items(&clause).iter().any(|t| t.tells("must"));
        // "New rows of the sheet are posted to Slack": what is done with it elsewhere is no event.
        let elsewhere = clause.after.iter().any(|p| {
            self.addresses(p)
                || p.service
                    .is_some_and(|s| s.key != service.key && !s.actions.is_empty())
        });
        let done = |v: &crate::clause::Use| {
            i == 0 && v.passive && !must && !elsewhere && !clause.before.is_empty()
        };
        // "If a message contains 'urgent'": what starts it is also tested.
        let tested = clause.intro == Intro::If && self.contained(&clause).is_some();
        let spent = self.is_watched(&clause)
            || !matches!(clause.intro, Intro::None | Intro::Purpose) && !tested
            || !tested && clause.verb.as_ref().is_none_or(|v| tells(v) || done(v));
        self.set_used(i, spent);
    }

    /// What the event of a clause happens to: a thing before a person; a payment and an order by their verbs.
    pub(super) fn happens_to(&self, clause: &Clause) -> Option<String> {
        let of = |kinds: &[&str]| {
            let mut phrases = clause.phrases();
            phrases
                .find(|p| kinds.contains(&self.kind(p)))
                .map(|p| self.concept(p).to_owned())
        };
        let by_verb = || match clause.verb.as_ref().map(crate::clause::Use::frame) {
            Some("PAY" | "CHARGE") => Some("payment".to_owned()),
            Some("ORDER") => Some("order".to_owned()),
            _ => None,
        };
        of(&["record", "message", "file", "text"])
            .or_else(by_verb)
            .or_else(|| of(&["event", "person"]))
    }

    /// A thing with a name that a trigger listens to: a topic, a queue, a folder, a form.
    fn watched(&self, phrase: &Phrase) -> Option<crate::plan::Arg> {
        const THINGS: &[&str] = &[
            "topic",
            "queue",
            "group",
            "workspace",
            "repository",
            "owner",
            "folder",
            "board",
            "list",
            "channel",
            "calendar",
            "project",
            "database",
            "table",
            "sheet",
            "form",
            "path",
            "team",
            "site",
            "base",
            "space",
            "exchange",
            "survey",
            "subscription",
            "field",
        ];
        let name = phrase.names.first()?;
        let said = phrase.modifiers.iter().chain(&phrase.head);
        let kind = said
            .filter_map(|at| self.chart.items.get(*at))
            .find_map(|item| {
                let concept = item.noun().map_or("", |n| n.concept.as_str());
                let fits = |t: &&&str| item.text.as_str() == **t || concept == **t;
                THINGS.iter().find(fits)
            })?;
        Some(arg(Role::Field((*kind).to_owned()), lit(self.name(*name))))
    }

    /// Clauses without an act of their own that say more about a heading, up to its arrow.
    fn goes_on(&self, i: usize) -> Vec<Clause> {
        let clause = self.clause_at(i);
        let rest = self.clauses.get(i + 1..).unwrap_or(&[]);
        let arrow = rest.iter().position(|c| c.arrow && c.line == clause.line);
        let heading = clause.verb.is_none() && clause.intro == Intro::None;
        let Some(end) = arrow.filter(|_| heading) else {
            return Vec::new();
        };
        let same = |c: &&Clause| c.sentence == clause.sentence;
        crate::cut::before(rest, end)
            .iter()
            .take_while(same)
            .cloned()
            .collect()
    }

    /// The words of an event, as the triggers of services name them: English, by concepts and frames.
    fn happening(&self, clause: &Clause, told: &[Clause]) -> String {
        let last = told.last().map_or(clause.to, |c| c.to);
        let times: Vec<_> = clause
            .times
            .iter()
            .chain(told.iter().flat_map(|c| &c.times))
            .collect();
        let items = (clause.from..last).filter_map(|i| Some((i, self.chart.items.get(i)?)));
        let items = items.filter(|(_, item)| {
            !times.iter().any(|t| item.from >= t.from && item.to <= t.to)
                && item.service().is_none()
        });
        let paid = clause
            .verb
            .as_ref()
            .is_some_and(|v| matches!(v.frame(), "PAY" | "CHARGE"));
        if paid {
            return format!("{} succeeded", self.happens_to(clause).unwrap_or_default());
        }
        if self.chart.language == "en" {
            let function = crate::lex::Class::Function;
            let tells = items.filter(|(_, item)| item.sense(function).is_none() && !item.stops());
            let said: Vec<&str> = tells.map(|(i, _)| self.raw(i)).collect();
            return said.join(" ");
        }
        let word = |(i, item): (usize, &crate::chart::Item)| {
            if let Some(verb) = item.verb() {
                let frames: Vec<&str> = verb.says.iter().map(String::as_str).collect();
                return match frames.as_slice() {
                    // What is called off is changed, or gone.
                    ["UPDATE", "DELETE"] => "updated cancelled".to_owned(),
                    frames => done(frames.first().copied().unwrap_or_default()).to_owned(),
                };
            }
            let known = item.noun().or(item.sense(crate::lex::Class::Adjective));
            match known {
                Some(sense) => sense.concept.clone(),
                None if item.service().is_none()
                    && !item.stops()
                    && item.sense(crate::lex::Class::Function).is_none() =>
                {
                    self.raw(i).to_owned()
                }
                None => String::new(),
            }
        };
        let words: Vec<String> = items.map(word).filter(|w| !w.is_empty()).collect();
        words.join(" ")
    }

    /// "An order over 100 euros comes in": what must hold of what starts the workflow.
    pub(super) fn starts_if(&mut self) -> Option<(usize, Cond)> {
        let i = self.starts_at?;
        let clause = Clause {
            verb: None,
            ..self.clause_at(i).clone()
        };
        // What the trigger itself looks for is no test after it.
        let label = clause.phrases().any(|p| {
            matches!(self.concept(p), "label" | "folder" | "list" | "board")
                && p.literal(self.chart, Kind::Quote).is_some()
        });
        let bound = clause.phrases().any(|p| p.compared.is_some());
        if label && !bound {
            return None;
        }
        let found = self.measured_by(&clause)?;
        Some((i, found))
    }

    /// A chat, or a person who starts it by hand.
    fn spoken(&mut self) {
        for i in 0..self.clauses.len() {
            let clause = self.clause_at(i);
            let chat = clause.phrases().any(|p| {
                self.concept(p) == "conversation" || self.words(p).to_lowercase().contains("chat")
            });
            let thinks = |p: &Phrase| p.service.is_none_or(|s| s.is("llm"));
            if chat && clause.phrases().all(thinks) {
                let public = self.chart.items.iter().any(|i| i.text == "public");
                self.plan.triggers.push(Trigger::Chat { public });
                return;
            }
        }
        let manual = ["manual", "on demand", "button", "click"];
        if self
            .chart
            .items
            .iter()
            .any(|i| manual.contains(&i.text.as_str()) || i.tells("manual"))
            || self.text.to_lowercase().contains("on demand")
        {
            self.plan.triggers.push(Trigger::Manual);
        }
    }

    /// The field names that are listed in a clause or right after it: those in brackets, after a colon, after "with".
    pub(super) fn listed(&self, i: usize) -> Vec<String> {
        let mut fields = Vec::new();
        let clause = self.clause_at(i);
        let mut take = |phrases: &[Phrase]| {
            let start = phrases
                .iter()
                .position(|p| p.aside || p.prep == "with" && (phrases.len() > 1));
            for phrase in phrases.iter().skip(start.unwrap_or(usize::MAX)) {
                let place = matches!(self.concept(phrase), "path" | "webhook" | "data");
                if place {
                    continue;
                }
                if phrase.aside || phrase.listed || phrase.prep == "with" {
                    fields.push(self.field_name(phrase));
                } else {
                    break;
                }
            }
        };
        take(&clause.after);
        if fields.is_empty()
            && let Some(next) = self
                .clauses
                .get(i + 1)
                .filter(|n| n.verb.is_none() && (n.colon || n.sentence == clause.sentence))
        {
            let with = next.after.iter().position(|p| p.prep == "with");
            let begun = next.after.iter().skip(with.unwrap_or(0));
            fields.extend(begun.map(|p| self.field_name(p)));
        }
        fields.retain(|f| {
            let method = matches!(f.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE");
            !f.is_empty() && !method
        });
        fields
    }

    /// A phrase as the name of a field.
    pub(super) fn field_name(&self, phrase: &Phrase) -> String {
        if self.plan.triggers.contains(&Trigger::Error) && self.concept(phrase) == "error" {
            return "error message".to_owned();
        }
        match phrase.names.first() {
            Some(name) if phrase.head.is_none() => self.name(*name),
            _ => self.without_column(phrase),
        }
    }

    /// "columns name, email": the word for columns is no part of the first one's name.
    fn without_column(&self, phrase: &Phrase) -> String {
        let column = |at: &usize| {
            let noun = self.chart.item(*at).noun();
            noun.is_some_and(|n| n.concept == "column" && n.form == "many")
        };
        let kept = phrase.modifiers.iter().filter(|at| !column(at)).copied();
        let kept: Vec<usize> = kept.collect();
        let said = self.words(&Phrase {
            modifiers: kept,
            ..phrase.clone()
        });
        // "les colonnes nom": where the word for columns is the head, what is behind it is the name.
        let mut all = phrase.modifiers.iter().chain(&phrase.head);
        let lead = all.find(|at| column(at));
        let rest = lead.and_then(|at| said.strip_prefix(self.chart.item(*at).text.as_str()));
        match rest.map(str::trim) {
            Some(rest) if !rest.is_empty() => rest.to_owned(),
            _ => said,
        }
    }
}
