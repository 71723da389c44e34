//! One clause as steps: its frame says what is done, its phrases say to what.

use super::{Reading, acting, arg, field, figure, lit, on, service};
use crate::clause::{Clause, Phrase};
use crate::lex::Class;
use crate::lexicon::ServiceEntry;
use crate::plan::{Arg, Cond, Does, Measure, Role, Step, Trigger, Val, Verb};
use crate::spot::Kind;

/// Names of file formats, by the concepts and words that say them.
const FORMATS: &[(&str, &str)] = &[
    ("csv", "csv"),
    ("pdf", "pdf"),
    ("json", "json"),
    ("excel", "xlsx"),
    ("xlsx", "xlsx"),
    ("html", "html"),
];

impl Reading<'_> {
    /// The steps of a clause; none where it says nothing that is done.
    pub(super) fn act(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        for found in self.services_of(clause) {
            if !found.actions.is_empty() {
                self.mention(found);
            }
        }
        if self.tells_source(clause) || self.tells_of_people(clause) {
            return Vec::new();
        }
        if self.asks_leave(clause) {
            return self.approved(clause, "APPROVE");
        }
        if let Some(answer) = self.status(clause) {
            return vec![answer];
        }
        let thought = self.thought(i, clause);
        if !thought.is_empty() {
            return thought;
        }
        let frames: Vec<String> = match &clause.verb {
            Some(verb) => verb.sense.says.clone(),
            None => self
                .nominal(clause)
                .into_iter()
                .map(str::to_owned)
                .collect(),
        };
        let mut steps = Vec::new();
        for frame in &frames {
            steps = self.frame_of_each(i, clause, frame);
            if !steps.is_empty() {
                break;
            }
        }
        if steps.is_empty() && clause.verb.is_some() {
            steps = self
                .nominal(clause)
                .into_iter()
                .find_map(|f| Some(self.frame(i, clause, f)).filter(|s| !s.is_empty()))
                .unwrap_or_default();
        }
        let steps = self.picked(clause, steps);
        if let Some(object) = clause
            .after
            .iter()
            .chain(&clause.before)
            .find(|p| matches!(self.kind(p), "record" | "person" | "file" | "text"))
        {
            self.topic.object = Some(self.concept(object).to_owned());
        }
        steps
    }

    /// "My supplier announces …": what people do, not what is asked for.
    fn tells_of_people(&self, clause: &Clause) -> bool {
        let Some(verb) = clause.verb.as_ref().filter(|v| !v.passive) else {
            return false;
        };
        let does = matches!(verb.sense.form.as_str(), "third" | "past")
            && ["NOTIFY", "SEND", "CREATE", "STORE", "PAY", "CHARGE"]
                .iter()
                .any(|f| verb.frame() == *f);
        let person = clause.before.last().is_some_and(|p| {
            let system = p.service.is_some_and(|s| !s.is("llm") && !s.speaks());
            self.kind(p) == "person" || system && p.prep.is_empty()
        });
        let aims = clause.after.iter().any(|p| p.service.is_some())
            || clause.phrases().any(|p| {
                p.literal(self.chart, Kind::Channel).is_some()
                    || p.literal(self.chart, Kind::Mail).is_some()
            });
        does && person && !aims
    }

    /// "Our MySQL table products has the columns …": a source that a later clause reads.
    fn tells_source(&mut self, clause: &Clause) -> bool {
        let still = clause
            .verb
            .as_ref()
            .is_some_and(|v| matches!(v.frame(), "STATE" | "NAME"));
        let subject = clause.before.iter().find_map(|p| p.service).or_else(|| {
            clause
                .verb
                .as_ref()
                .and(clause.after.iter().find_map(|p| p.service))
        });
        let Some(service) = subject.filter(|s| still && s.is_any(&["db", "sheet", "base", "kv"]))
        else {
            return false;
        };
        self.source = Some((service, self.containers(clause, service)));
        true
    }

    /// The frame that a clause without a verb calls up: by where it aims and by its nouns.
    fn nominal(&self, clause: &Clause) -> Vec<&'static str> {
        let has = |kind: Kind| {
            clause
                .phrases()
                .any(|p| p.literal(self.chart, kind).is_some())
        };
        let named = self.services_of(clause);
        let tagged = |tag: &str| named.iter().any(|s| s.is(tag));
        let url = has(Kind::Url);
        if self.method(clause).is_some() && url {
            return vec!["CALL"];
        }
        let code = clause.phrases().flat_map(|p| p.names.iter()).any(|n| {
            self.raw(*n).starts_with('`') || self.raw(*n).to_uppercase().starts_with("SELECT ")
        });
        if code && named.iter().any(|s| !s.actions.is_empty()) {
            return vec!["RUN"];
        }
        if self.workflow_of(clause).is_some() {
            return vec!["CALL"];
        }
        if clause
            .phrases()
            .any(|p| self.approves(p) && p.prep.is_empty())
        {
            return vec!["APPROVE"];
        }
        if has(Kind::Channel)
            || has(Kind::Mail)
            || has(Kind::Phone)
            || has(Kind::Handle)
            || tagged("chat")
            || tagged("mail")
            || tagged("sms")
        {
            return vec!["NOTIFY"];
        }
        let mailed = (clause.arrow || clause.colon)
            && named.iter().all(|s| s.actions.is_empty())
            && clause.phrases().any(|p| {
                self.concept(p) == "email" && matches!(p.prep.as_str(), "" | "by" | "via")
            });
        if mailed {
            return vec!["MAIL"];
        }
        let quoted = clause.arrow
            && named.is_empty()
            && clause
                .phrases()
                .all(|p| p.literal(self.chart, Kind::Quote).is_some());
        if quoted && clause.phrases().next().is_some() && self.talks() {
            return vec!["REPLY"];
        }
        let first = self.steps == 0
            && !clause.arrow
            && matches!(
                self.plan.triggers.first(),
                Some(Trigger::Schedule { .. } | Trigger::Manual)
            );
        if first && ["sheet", "db", "base"].iter().any(|t| tagged(t)) {
            return vec!["GET"];
        }
        if named.iter().any(|s| !s.actions.is_empty()) {
            let state = |p: &Phrase| {
                p.states.iter().any(|s| {
                    self.chart
                        .item(*s)
                        .sense(Class::Adjective)
                        .is_some_and(|a| a.kind() == "state")
                })
            };
            let fetched = !clause.arrow && clause.phrases().any(|p| p.prep == "from" || state(p));
            return if fetched { vec!["GET"] } else { vec!["STORE"] };
        }
        if url { vec!["GET"] } else { Vec::new() }
    }

    /// The frame, once for each service that a clause writes to: "create a folder in Drive and a task in Todoist".
    fn frame_of_each(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let mut steps = Vec::new();
        for part in self.shared(clause, frame) {
            for step in self.frame(i, &part, frame) {
                let collects = matches!(step.does, Does::Aggregate { .. });
                if !(collects && steps.iter().any(|s: &Step| s.does == step.does)) {
                    steps.push(step);
                }
            }
        }
        steps
    }

    /// A clause as one for each service that it writes to: each has the phrases up to its own, or from its own on where it
    /// stands first.
    fn shared(&self, clause: &Clause, frame: &str) -> Vec<Clause> {
        let writes = [
            "SEND", "NOTIFY", "MAIL", "STORE", "CREATE", "UPLOAD", "DRAFT", "ARCHIVE", "PUBLISH",
        ];
        let target = |p: &Phrase| {
            let reads = matches!(
                p.prep.as_str(),
                "from" | "of" | "with" | "via" | "by" | "over"
            );
            let acts = |s: &ServiceEntry| !s.actions.is_empty() && !s.is("llm");
            (!reads).then_some(p.service).flatten().filter(|s| acts(s))
        };
        let mut places: Vec<(usize, &str)> = Vec::new();
        for (n, phrase) in clause.after.iter().enumerate() {
            if let Some(service) = target(phrase)
                && places.iter().all(|(_, key)| *key != service.key)
            {
                places.push((n, &service.key));
            }
        }
        let joined = self.items(clause).iter().any(|i| i.is("and") || i.stops());
        if places.len() < 2 || !joined || !writes.contains(&frame) {
            return vec![clause.clone()];
        }
        let first = places.first().map_or(0, |(n, _)| *n);
        let made = |p: &Phrase| {
            p.service.is_none()
                && matches!(self.kind(p), "record" | "message" | "file" | "container")
        };
        let leads = !crate::cut::before(&clause.after, first).iter().any(made)
            && crate::cut::from(&clause.after, first + 1).iter().any(made);
        let mut parts = Vec::new();
        let mut from = 0;
        for (k, (at, _)) in places.iter().enumerate() {
            let next = places.get(k + 1).map_or(clause.after.len(), |(n, _)| *n);
            let to = match leads {
                true => next,
                // What follows a service up to the next thing that is made says more about it.
                false if k + 1 == places.len() => clause.after.len(),
                false => {
                    let rest = crate::cut::between(&clause.after, at + 1, next);
                    let more = rest.iter().take_while(|p| !made(p) && target(p).is_none());
                    at + 1 + more.count()
                }
            };
            let begin = if leads && k > 0 { *at } else { from };
            parts.push(Clause {
                after: crate::cut::between(&clause.after, begin, to).to_vec(),
                ..clause.clone()
            });
            from = to;
        }
        parts
    }

    fn frame(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        match frame {
            "SEND" | "NOTIFY" | "MAIL" | "SAY" | "KNOW" | "RECEIVE" | "GO" => {
                self.notify(i, clause, frame)
            }
            "WANT" => self.wanted(i, clause),
            "PUBLISH" => self.on_service(i, clause, frame, Verb::Publish),
            "REPLY" | "ANSWER" => self.answer(i, clause, frame),
            "STORE" | "ARCHIVE" | "SYNC" | "EXPORT" => self.store(i, clause, frame),
            "CREATE" | "DRAFT" => self.create(i, clause, frame),
            "UPDATE" => self.on_service(i, clause, frame, Verb::Update),
            "UPSERT" => self.on_service(i, clause, frame, Verb::Upsert),
            "DELETE" => self.on_service(i, clause, frame, Verb::Delete),
            "MOVE" | "RENAME" => self.on_service(i, clause, frame, Verb::Move),
            "COPY" => self.on_service(i, clause, frame, Verb::Create),
            "UPLOAD" => self.store(i, clause, frame),
            "DOWNLOAD" => self.downloaded(i, clause, frame),
            "GET" if self.is_given(clause) => self.notify(i, clause, frame),
            "GET" | "SEARCH" | "CHECK" | "ENRICH" => self.fetch(i, clause, frame),
            "CALL" | "RUN" => self.call(i, clause, frame),
            "CHARGE" | "REFUND" => self.on_service(i, clause, frame, Verb::Create),
            "FILTER" => self.filter(clause),
            "SUM" | "COUNT" | "AVERAGE" => self.measured(clause, frame),
            "SORT" => self.sorted(clause),
            "LIMIT" => self.limited(clause),
            "DEDUPE" => vec![self.simple(
                clause,
                Does::Unique {
                    by: self.keys(clause),
                },
            )],
            "AGGREGATE" | "MERGE" => vec![self.simple(
                clause,
                Does::Aggregate {
                    format: "list".into(),
                    group_by: None,
                },
            )],
            "WAIT" => self.waited(clause),
            "APPROVE" | "ASK" => self.approved(clause, frame),
            "CONVERT" => self.converted(clause),
            "SUMMARIZE" | "CLASSIFY" | "EXTRACT" | "TRANSLATE" | "ANALYZE" | "WRITE" => {
                self.think(i, clause, frame)
            }
            "TRANSCRIBE" => vec![self.simple(clause, Does::Transcribe { provider: None })],
            _ => Vec::new(),
        }
    }

    /// "Everyone else gets a mail", "the customer gets …": somebody is given a message.
    fn is_given(&self, clause: &Clause) -> bool {
        let subject = clause.intro == crate::clause::Intro::Else
            || clause.before.iter().any(|p| self.kind(p) == "person");
        let message = clause
            .after
            .iter()
            .any(|p| self.kind(p) == "message" || p.service.is_some_and(|s| s.speaks()));
        subject && message
    }

    fn simple(&mut self, clause: &Clause, does: Does) -> Step {
        let said = self.said(clause);
        self.step(&said, does)
    }

    /// A message to people: through a chat, by mail, as a text message.
    fn notify(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let Some(service) = self
            .acts_on(clause, frame)
            .or_else(|| self.to_people(clause))
        else {
            return Vec::new();
        };
        let sends = service.is_any(&[
            "chat",
            "mail",
            "sms",
            "queue",
            "incident",
            "social",
            "newsletter",
        ]);
        if !sends && !service.actions.iter().any(|a| a.ends_with("emailSend")) {
            return self.store(i, clause, "STORE");
        }
        let mut steps = self.told_of(clause, service);
        steps.extend(self.file_for(clause));
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
        args.extend(self.text_of(i));
        args.extend(
            self.details(clause)
                .into_iter()
                .filter(|a| matches!(a.role, Role::Title | Role::Priority)),
        );
        if !steps.is_empty() || clause.phrases().any(|p| self.concept(p) == "attachment") {
            args.push(arg(Role::Attachment, lit("data")));
        }
        let many = self.topic.many;
        if many && steps.is_empty() {
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

    /// "post the open Jira bugs to …": what is told of lies in another service, and is read from there first; not where that
    /// service started the workflow.
    fn told_of(&mut self, clause: &Clause, to: &ServiceEntry) -> Vec<Step> {
        let started = |s: &ServiceEntry| {
            self.plan.triggers.iter().any(|t| match t {
                Trigger::Service { service, .. } => service.node_types == s.triggers,
                _ => false,
            })
        };
        let from = clause.phrases().find(|p| {
            matches!(p.prep.as_str(), "" | "of" | "from")
                && matches!(
                    self.kind(p),
                    "record" | "event" | "message" | "person" | "file"
                )
                && p.service.is_some_and(|s| {
                    let speaks = s.is_any(&["chat", "mail", "sms", "llm"]);
                    s.key != to.key && !s.actions.is_empty() && !speaks && !started(s)
                })
        });
        let Some((phrase, service)) = from.and_then(|p| Some((p.clone(), p.service?))) else {
            return Vec::new();
        };
        self.topic.many = true;
        let object = Some(self.concept(&phrase).to_owned());
        let args = Vec::new();
        let read = self.simple(clause, on(service, Verb::GetMany, object, args));
        let alone = Clause {
            verb: None,
            before: Vec::new(),
            after: vec![phrase],
            ..clause.clone()
        };
        let narrowed = self.condition(&alone);
        let filter = narrowed.map(|condition| self.simple(clause, Does::Filter { condition }));
        std::iter::once(read).chain(filter).collect()
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
    fn wanted(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        let frame = self.nominal(clause).first().copied().unwrap_or("");
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

    /// A file that a clause asks for ("as a CSV"): the step that makes it.
    fn file_for(&mut self, clause: &Clause) -> Vec<Step> {
        let said = |p: &Phrase| {
            let words = self.words(p).to_lowercase();
            FORMATS
                .iter()
                .find(|(w, _)| words.split([' ', '-']).any(|x| x == *w))
                .map(|(_, f)| *f)
        };
        let format = clause
            .after
            .iter()
            .filter(|p| matches!(p.prep.as_str(), "as" | "" | "in" | "into" | "to" | "with"))
            .find_map(said);
        let Some(format) = format.filter(|_| !self.topic.file) else {
            return Vec::new();
        };
        self.topic.file = true;
        self.topic.many = false;
        vec![self.simple(
            clause,
            Does::ToFile {
                format: format.into(),
                file_name: None,
            },
        )]
    }

    /// "always 200", "else 422 with a text": the answer to a caller, said by its status alone.
    fn status(&mut self, clause: &Clause) -> Option<Step> {
        const STATUSES: &[u16] = &[
            200, 201, 202, 204, 400, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503,
        ];
        let called = self
            .plan
            .triggers
            .iter()
            .any(|t| matches!(t, Trigger::Webhook { .. }));
        if !called || clause.verb.is_some() || !self.services_of(clause).is_empty() {
            return None;
        }
        let numbers = clause
            .phrases()
            .filter(|p| p.compared.is_none())
            .flat_map(|p| p.numbers.iter());
        let mut bare = numbers.filter_map(|n| self.raw(*n).parse::<u16>().ok());
        let status = bare.find(|n| STATUSES.contains(n))?;
        let (body, as_text) = self.answered(clause);
        Some(self.simple(
            clause,
            Does::Respond {
                status,
                body,
                as_text,
            },
        ))
    }

    /// What a clause answers with: the members of a JSON object that it quotes, else the quoted text.
    fn answered(&self, clause: &Clause) -> (Vec<Arg>, Option<Val>) {
        let quoted = clause
            .phrases()
            .filter(|p| p.service.is_none())
            .flat_map(|p| &p.names)
            .map(|n| self.name(*n));
        for text in quoted {
            if let Some(members) = super::content::members(&text) {
                return (members, None);
            }
        }
        (Vec::new(), self.quote(clause))
    }

    /// The answer to who started the workflow.
    fn answer(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let webhook = self
            .plan
            .triggers
            .iter()
            .any(|t| matches!(t, Trigger::Webhook { .. }));
        if webhook && self.services_of(clause).is_empty() {
            let status = clause
                .phrases()
                .flat_map(|p| p.numbers.iter())
                .find_map(|n| figure(self.raw(*n)))
                .filter(|n| (100.0..600.0).contains(n));
            let (mut body, as_text) = self.answered(clause);
            if body.is_empty() && as_text.is_none() {
                let named = self.fields(i).into_iter();
                body = named
                    .map(|f| arg(Role::Field(f.clone()), field(&f)))
                    .collect();
            }
            return vec![self.simple(
                clause,
                Does::Respond {
                    status: status.map_or(200, |n| n as u16),
                    body,
                    as_text,
                },
            )];
        }
        let named = self
            .acts_on(clause, frame)
            .or_else(|| self.trigger_service());
        let Some(service) = named else {
            return Vec::new();
        };
        if service.is_any(&["sheet", "db", "base", "kv"]) {
            return self.store(i, clause, "STORE");
        }
        let mut args = self.containers(clause, service);
        args.extend(self.text_of(i));
        vec![self.simple(
            clause,
            on(service, Verb::Reply, Some("message".into()), args),
        )]
    }

    /// The service of the trigger, where it can act too.
    pub(super) fn trigger_service(&self) -> Option<&'static ServiceEntry> {
        let types = self.plan.triggers.iter().find_map(|t| match t {
            Trigger::Service { service, .. } => Some(&service.node_types),
            _ => None,
        })?;
        crate::lexicon::services()
            .iter()
            .find(|s| !s.actions.is_empty() && s.triggers == *types)
    }

    /// A row, a record, a file put somewhere.
    fn store(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let Some(service) = self.acts_on(clause, frame) else {
            return Vec::new();
        };
        if service.speaks() && !clause.phrases().any(|p| self.concept(p) == "draft") {
            return self.notify(i, clause, frame);
        }
        let mut steps = Vec::new();
        let verb = if service.is("files") {
            steps = self.file_for(clause);
            Verb::Upload
        } else if service.is("sheet") {
            Verb::Append
        } else if service.is("db") {
            Verb::Insert
        } else if service.is("kv") {
            Verb::Set
        } else {
            Verb::Create
        };
        let made = self.written(i, clause, service, verb);
        steps.push(made);
        steps
    }

    fn create(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let file = clause.after.iter().any(|p| {
            FORMATS
                .iter()
                .any(|(w, _)| self.words(p).to_lowercase().split(' ').any(|x| x == *w))
        });
        if file && self.services_of(clause).is_empty() {
            return self.file_for(clause);
        }
        let Some(service) = self.acts_on(clause, frame) else {
            return Vec::new();
        };
        if service.is_any(&["sheet", "db", "files"]) {
            return self.store(i, clause, frame);
        }
        let draft = frame == "DRAFT" || clause.phrases().any(|p| self.concept(p) == "draft");
        let verb = if draft { Verb::Draft } else { Verb::Create };
        vec![self.written(i, clause, service, verb)]
    }

    /// A step that writes something to a service.
    fn written(
        &mut self,
        i: usize,
        clause: &Clause,
        service: &'static ServiceEntry,
        verb: Verb,
    ) -> Step {
        let mut args = self.containers(clause, service);
        if !args.iter().any(|a| a.role == Role::Container)
            && let Some((_, last)) = self
                .containers
                .iter()
                .rev()
                .find(|(key, _)| *key == service.key)
        {
            args.push(last.clone());
        }
        if let Some(container) = args.iter().find(|a| a.role == Role::Container) {
            self.containers
                .push((service.key.clone(), container.clone()));
        }
        args.extend(self.details(clause));
        for name in self.fields(i) {
            args.push(arg(Role::Field(name.clone()), field(&name)));
        }
        let object = self.object(clause, service);
        self.mention(service);
        self.simple(clause, on(service, verb, object, args))
    }

    /// What a clause acts on: the first record, message, file or person that it names.
    fn object(&self, clause: &Clause, service: &ServiceEntry) -> Option<String> {
        if service.is("sheet") || service.is("db") {
            return Some("row".into());
        }
        let fits = |p: &&Phrase| {
            matches!(
                self.kind(p),
                "record" | "message" | "file" | "person" | "text" | "event"
            ) && p.prep != "with"
        };
        let own = clause
            .after
            .iter()
            .chain(&clause.before)
            .find(fits)
            .map(|p| self.concept(p).to_owned());
        own.or_else(|| self.topic.object.clone())
    }

    fn on_service(&mut self, i: usize, clause: &Clause, frame: &str, verb: Verb) -> Vec<Step> {
        let latest = || {
            let kept = |s: &&&'static ServiceEntry| !s.speaks();
            let last = self
                .services
                .iter()
                .rev()
                .find(kept)
                .or(self.services.last());
            last.copied().filter(|_| {
                clause.phrases().any(|p| {
                    p.pronoun.is_some() || self.kind(p) == "record" || self.concept(p) == "status"
                })
            })
        };
        let Some(service) = self.acts_on(clause, frame).or_else(latest) else {
            return Vec::new();
        };
        vec![self.written(i, clause, service, verb)]
    }

    /// A file is fetched: from what the clause names, else from the files that were spoken of.
    fn downloaded(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let steps = self.on_service(i, clause, frame, Verb::Download);
        let files = self.latest("files").filter(|_| steps.is_empty());
        let Some(service) = files else {
            return steps;
        };
        vec![self.written(i, clause, service, Verb::Download)]
    }

    /// Reads from a service or an address; what narrows it down becomes a filter after it.
    fn fetch(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        if clause
            .phrases()
            .any(|p| p.literal(self.chart, Kind::Url).is_some())
            && self
                .services_of(clause)
                .iter()
                .all(|s| s.actions.is_empty())
        {
            return self.call(i, clause, frame);
        }
        let spoken = self
            .source
            .clone()
            .filter(|_| self.services_of(clause).is_empty());
        let Some(service) = spoken
            .as_ref()
            .map(|(s, _)| *s)
            .or_else(|| self.acts_on(clause, frame))
        else {
            return Vec::new();
        };
        let mut args = self.containers(clause, service);
        if let Some((_, more)) = spoken {
            args.extend(more);
            self.source = None;
        }
        let query = clause
            .phrases()
            .find_map(|p| p.literal(self.chart, Kind::Quote))
            .filter(|q| q.text.to_lowercase().starts_with("select"));
        let verb = match (&query, frame) {
            (Some(q), _) => {
                args.retain(|a| !matches!(a.role, Role::Part | Role::Container | Role::Named(_)));
                args.push(arg(Role::Query, lit(q.text.clone())));
                Verb::Query
            }
            (None, "SEARCH") if service.is("social") => Verb::Search,
            _ => Verb::GetMany,
        };
        let object = self.object(clause, service);
        self.mention(service);
        self.topic.many = true;
        let mut steps = vec![self.simple(clause, on(service, verb, object, args))];
        let others: Vec<_> = self
            .services_of(clause)
            .into_iter()
            .filter(|s| s.key != service.key && !s.actions.is_empty() && !s.speaks())
            .collect();
        for other in others {
            let of = clause
                .after
                .iter()
                .position(|p| p.service.is_some_and(|s| s.key == other.key));
            let object = of
                .and_then(|at| {
                    crate::cut::before(&clause.after, at + 1)
                        .iter()
                        .rev()
                        .find(|p| self.kind(p) == "record")
                })
                .map(|p| self.concept(p).to_owned());
            self.mention(other);
            steps.push(self.simple(clause, on(other, Verb::GetMany, object, Vec::new())));
        }
        let narrowed = Clause {
            verb: None,
            ..clause.clone()
        };
        if query.is_none()
            && let Some(condition) = self.condition(&narrowed)
        {
            steps.push(self.simple(clause, Does::Filter { condition }));
        }
        steps
    }

    /// A call of an address, of another workflow, of a command.
    fn call(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let url = clause
            .phrases()
            .find_map(|p| p.literal(self.chart, Kind::Url))
            .map(|u| self.text.get(u.from..u.to).unwrap_or("").to_owned());
        if let Some(url) = url {
            let method = self.method(clause).unwrap_or_else(|| "GET".to_owned());
            let json = clause.phrases().flat_map(|p| p.names.iter()).find_map(|n| {
                serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(self.raw(*n))
                    .ok()
            });
            let body = if method == "GET" {
                Vec::new()
            } else if let Some(json) = json {
                json.into_iter()
                    .map(|(k, v)| arg(Role::Field(k), lit(v)))
                    .collect()
            } else {
                self.fields(i)
                    .iter()
                    .map(|f| arg(Role::Field(f.clone()), field(f)))
                    .collect()
            };
            self.topic.many = true;
            return vec![self.simple(
                clause,
                Does::Http {
                    method,
                    url,
                    query: Vec::new(),
                    body,
                    auth: None,
                    save_as_file: false,
                    never_fail: false,
                    rate_per_second: None,
                },
            )];
        }
        if let Some(reference) = self.workflow_of(clause) {
            let inputs = self.inputs_of(i);
            return vec![self.simple(
                clause,
                Does::CallWorkflow {
                    reference,
                    inputs,
                    wait: true,
                },
            )];
        }
        let Some(service) = self.acts_on(clause, frame) else {
            return Vec::new();
        };
        let mut args = self.containers(clause, service);
        if let Some(quote) = clause
            .phrases()
            .find_map(|p| p.literal(self.chart, Kind::Quote))
        {
            let role = if service.is("db") {
                Role::Query
            } else {
                Role::Command
            };
            args.retain(|a| !matches!(a.role, Role::Part | Role::Container | Role::Named(_)));
            args.push(arg(role, lit(quote.text.clone())));
        }
        let verb = if service.is("db") {
            Verb::Query
        } else if service.is("sms") {
            Verb::Call
        } else {
            Verb::Run
        };
        let object = self.object(clause, service);
        vec![self.simple(clause, on(service, verb, object, args))]
    }

    /// "Ignore …", "keep only …".
    fn filter(&mut self, clause: &Clause) -> Vec<Step> {
        let keeps = clause.verb.as_ref().is_some_and(|v| v.calls("STORE"));
        let alone = Clause {
            verb: None,
            ..clause.clone()
        };
        let Some(condition) = self.condition(&alone) else {
            return Vec::new();
        };
        let condition = if keeps {
            condition
        } else {
            Cond::Not {
                of: Box::new(condition),
            }
        };
        vec![self.simple(clause, Does::Filter { condition })]
    }

    fn measured(&mut self, clause: &Clause, frame: &str) -> Vec<Step> {
        let op = match frame {
            "SUM" => "sum",
            "COUNT" => "count",
            _ => "average",
        };
        let by: Vec<Val> = clause
            .after
            .iter()
            .filter(|p| matches!(p.prep.as_str(), "per" | "by"))
            .map(|p| field(&self.words(p)))
            .collect();
        let of = clause
            .after
            .iter()
            .find(|p| p.prep.is_empty() || p.prep == "of")
            .map(|p| self.words(p))
            .filter(|w| !w.is_empty());
        let Some(of) = of else {
            return Vec::new();
        };
        self.topic.many = !by.is_empty();
        vec![self.simple(
            clause,
            Does::Summarize {
                measures: vec![Measure {
                    op: op.into(),
                    of: field(&of),
                }],
                by,
            },
        )]
    }

    fn sorted(&mut self, clause: &Clause) -> Vec<Step> {
        let by = clause
            .after
            .iter()
            .find(|p| p.prep == "by")
            .map(|p| self.words(p));
        let descending = ["descending", "highest", "newest", "largest", "latest"]
            .iter()
            .any(|w| self.said(clause).to_lowercase().contains(w));
        by.into_iter()
            .map(|by| {
                self.simple(
                    clause,
                    Does::Sort {
                        by: field(&by),
                        descending,
                    },
                )
            })
            .collect()
    }

    fn limited(&mut self, clause: &Clause) -> Vec<Step> {
        let n = clause
            .phrases()
            .flat_map(|p| p.numbers.iter())
            .find_map(|n| figure(self.raw(*n)));
        n.into_iter()
            .map(|n| self.simple(clause, Does::LimitTo { n: n as u32 }))
            .collect()
    }

    fn keys(&self, clause: &Clause) -> Vec<Val> {
        clause
            .after
            .iter()
            .filter(|p| matches!(p.prep.as_str(), "by" | "on"))
            .map(|p| field(&self.field_name(p)))
            .collect()
    }

    fn converted(&mut self, clause: &Clause) -> Vec<Step> {
        self.file_for(clause)
    }
}
