//! One clause as steps: its frame says what is done, its phrases say to what.

use super::{Reading, arg, field, on};
use crate::clause::{Clause, Intro, Phrase, is_backdrop};
use crate::lex::Class;
use crate::lexicon::ServiceEntry;
use crate::plan::{Arg, Does, Role, Step, Trigger, Val, Verb};
use crate::spot::Kind;

impl Reading<'_> {
    /// The steps of a clause; none where it says nothing that is done.
    pub(super) fn act(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        for found in self.services_of(clause) {
            if !found.actions.is_empty() {
                self.mention(found);
            }
        }
        if self.only_tells_which(clause) {
            let said = self.said(clause);
            self.plan.unread.push(said);
            return Vec::new();
        }
        if let Some(done) = self.done_with(clause) {
            if let Some(own) = self.clauses.get_mut(i) {
                own.clone_from(&done);
            }
            return self.act(i, &done);
        }
        let next = self.clause_at(i + 1);
        // "ask GPT to classify …": the next clause says what it is asked.
        if next.intro == Intro::Purpose && clause.calls("ASK") && self.models(clause) {
            self.set_used(i, true);
            return Vec::new();
        }
        let reminded = self.reminded(i, clause);
        if !reminded.is_empty() {
            return reminded;
        }
        let next = self.clause_at(i + 1);
        let heads = next.colon && next.verb.is_some() && self.is_head(clause);
        if heads || self.tells_source(clause) || self.tells_of_people(clause) {
            return Vec::new();
        }
        let started = !self.plan.triggers.is_empty();
        if started && is_backdrop(self.chart, &self.clauses, clause) {
            self.set_used(i, true);
            return Vec::new();
        }
        if self.asks_leave(clause) {
            return self.approved(clause, "APPROVE");
        }
        if let Some(answer) = self.status(clause) {
            return vec![answer];
        }
        let url = clause
            .phrases()
            .any(|p| p.literal(self.chart, Kind::Url).is_some());
        let aimed = self.is_sent_to_address(clause) && self.acts_on_none(clause);
        if url && (self.method(clause).is_some() || aimed) && !clause.negated() {
            return self.call(i, clause, "CALL");
        }
        if let Some((read, rest)) = self.fetched_from(clause) {
            if let Some(own) = self.clauses.get_mut(i) {
                own.clone_from(&rest);
            }
            let mut steps = vec![read];
            steps.extend(self.act(i, &rest));
            return steps;
        }
        if self.runs(clause) {
            return self.command(i, clause);
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
        // What only reads sends nothing.
        let reads = [
            "GET", "SEARCH", "CHECK", "DELETE", "DOWNLOAD", "EXTRACT", "COMPARE",
        ]
        .iter()
        .any(|f| clause.verb.as_ref().is_some_and(|v| v.frame() == *f));
        // What is to be left out, or let pass, is not acted on.
        let sifts = clause.verb.as_ref().is_some_and(|v| v.frame() == "FILTER");
        if steps.is_empty() && clause.verb.is_some() && !sifts {
            steps = self
                .nominal(clause)
                .into_iter()
                .filter(|f| !reads || !matches!(*f, "NOTIFY" | "MAIL" | "REPLY"))
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

    /// "only rows changed since last run": which of them are meant, and nothing that is done.
    fn only_tells_which(&self, clause: &Clause) -> bool {
        let led = self.chart.item(clause.from).is("only");
        let past = |v: &crate::clause::Use| v.sense.form == "past" && !v.passive && !v.negated;
        led && !clause.before.is_empty() && clause.verb.as_ref().is_some_and(past)
    }

    /// "each mail gets its attachment uploaded to …": what is done with what stands before the participle.
    fn done_with(&self, clause: &Clause) -> Option<Clause> {
        let gets = clause
            .verb
            .as_ref()
            .filter(|v| v.sense.concept == "get" && !v.negated)?;
        let theme = clause.after.first().filter(|p| p.prep.is_empty())?;
        let does = |at: &usize| {
            let verb = self.chart.item(*at).verb();
            let other = |v: &&crate::lex::Sense| v.concept != gets.sense.concept;
            verb.filter(other)
                .is_some_and(|v| v.form == "past" && crate::account::asks_for_a_step(v))
        };
        let at = (theme.from..theme.to).find(does)?;
        let sense = self.chart.item(at).verb()?.clone();
        let own = !clause.before.is_empty() && theme.head? < at;
        let verb = Some(crate::clause::Use {
            at,
            sense,
            ..gets.clone()
        });
        own.then(|| Clause {
            verb,
            ..clause.clone()
        })
    }

    /// "Disk check via SSH: `df -h`": a command in quotation marks and a service that runs commands.
    fn runs(&self, clause: &Clause) -> bool {
        let code = |p: &Phrase| p.names.iter().any(|n| self.raw(*n).starts_with('`'));
        let shell = |s: &ServiceEntry| s.actions.iter().any(|t| is_shell(t));
        let named = self.services_of(clause).into_iter().any(shell);
        named && clause.phrases().any(code) && !clause.negated()
    }

    fn command(&mut self, i: usize, clause: &Clause) -> Vec<Step> {
        self.topic.field = Some(field("stdout"));
        self.call(i, clause, "RUN")
    }

    /// "My supplier announces …": what people do, not what is asked for.
    pub(super) fn tells_of_people(&self, clause: &Clause) -> bool {
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

    /// Whether a clause names no service that something is done with.
    fn acts_on_none(&self, clause: &Clause) -> bool {
        let services = self.services_of(clause);
        services.iter().all(|s| s.actions.is_empty() || s.is("llm"))
    }

    /// The frame that a clause without a verb calls up: by where it aims and by its nouns.
    pub(super) fn nominal(&self, clause: &Clause) -> Vec<&'static str> {
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
        let told = clause.arrow || clause.colon || clause.intro == crate::clause::Intro::Else;
        let to_person = |p: &Phrase| p.prep == "to" && self.kind(p) == "person";
        if told
            && named.is_empty()
            && clause.phrases().any(|p| self.kind(p) == "message")
            && clause.phrases().any(to_person)
        {
            return vec!["NOTIFY"];
        }
        let mailed = (clause.arrow || clause.colon)
            && named.iter().all(|s| s.actions.is_empty())
            && clause.phrases().any(|p| {
                self.concept(p) == "email"
                    && !p.listed
                    && matches!(p.prep.as_str(), "" | "by" | "via")
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
        let starter = self.plan.triggers.first();
        let blind = starter.is_some_and(Trigger::brings_nothing);
        let first = self.steps == 0 && !clause.arrow && blind;
        let at = self.clauses.iter().position(|c| c.from == clause.from);
        let source = at.is_some_and(|i| self.labelled_as(i, "source"));
        let leads = at.is_some_and(|i| self.clause_at(i + 1).arrow);
        let acts = named.iter().any(|s| !s.actions.is_empty());
        let stored = ["sheet", "db", "base"].iter().any(|t| tagged(t));
        if first && (stored || leads && acts) || source && acts {
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
            let taken = |p: &Phrase| {
                let acts = p
                    .service
                    .is_some_and(|s| !s.actions.is_empty() && !s.speaks());
                p.prep == "from" || p.prep == "of" && acts
            };
            let added = |p: &Phrase| {
                let one = p.noun(self.chart).is_some_and(|n| n.form == "one");
                let new = p.states.iter().any(|s| self.is_fresh(*s));
                one && new && self.kind(p) == "record" && p.prep.is_empty()
            };
            let added = !self.plan.triggers.iter().all(Trigger::brings_nothing)
                && clause.phrases().any(added);
            let fetched = !added && !clause.arrow && clause.phrases().any(|p| taken(p) || state(p));
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
        // What brings the event is not written to by the clause that tells of it.
        let own = self.starts_at.map(|at| self.clause_at(at).from) == Some(clause.from);
        let brings = self.trigger_service().filter(|_| own);
        let target = |p: &Phrase| {
            let reads = matches!(
                p.prep.as_str(),
                "from" | "of" | "with" | "via" | "by" | "over"
            );
            let acts = |s: &ServiceEntry| {
                !s.actions.is_empty() && !s.is("llm") && brings.is_none_or(|b| b.key != s.key)
            };
            (!reads).then_some(p.service).flatten().filter(|s| acts(s))
        };
        let mut places: Vec<(usize, &str)> = Vec::new();
        for (n, phrase) in clause.after.iter().enumerate() {
            if let Some(service) = target(phrase).map(|s| self.concrete(s))
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

    pub(super) fn frame(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        match frame {
            "HAPPEN" | "GO" | "STATE" if self.must_arise(clause) => self.arisen(i, clause),
            "SEND" | "NOTIFY" | "MAIL" | "SAY" | "KNOW" | "RECEIVE" | "GO" => {
                self.notify(i, clause, frame)
            }
            "WANT" => self.wanted(i, clause),
            "PUBLISH" => self.on_service(i, clause, frame, Verb::Publish),
            "REPLY" | "ANSWER" => self.answer(i, clause, frame),
            "EXPORT" | "ARCHIVE" if self.exports(clause) => self.exported(i, clause),
            "EXPORT" | "SYNC" if let Some(at) = self.taken_out(clause) => {
                self.take_out(i, clause, at)
            }
            "STORE" | "WRITE" if self.fills_column(clause) => {
                self.on_service(i, clause, frame, Verb::Update)
            }
            "STORE" | "WRITE" | "UPDATE" if let Some(service) = self.handed_back(clause) => {
                self.give_back(i, clause, service)
            }
            "MOVE" | "COPY" if let Some(source) = self.moved_from(clause) => {
                self.move_over(i, clause, frame, source)
            }
            "MOVE" | "COPY" | "GET" | "CONVERT" if let Some(at) = self.carried(clause) => {
                self.carry(i, clause, at)
            }
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
            "GET" if self.is_recorded(clause) || self.lists_into(clause) => {
                self.store(i, clause, "STORE")
            }
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
            "SPLIT" => self.parted(clause),
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

    pub(super) fn simple(&mut self, clause: &Clause, does: Does) -> Step {
        let said = self.said(clause);
        self.step(&said, does)
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
    pub(super) fn store(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let Some(service) = self.acts_on(clause, frame) else {
            return Vec::new();
        };
        if service.speaks() && !clause.phrases().any(|p| self.concept(p) == "draft") {
            return self.notify(i, clause, frame);
        }
        let mut steps = self.told_of(clause, service);
        let verb = if service.is("files") {
            steps.extend(self.file_for(clause));
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

    /// "split the orders": one item for each of the list that a field holds.
    fn parted(&mut self, clause: &Clause) -> Vec<Step> {
        let list = |p: &&Phrase| {
            let many = p.noun(self.chart).is_some_and(|n| n.form == "many");
            p.prep.is_empty() && p.service.is_none() && many && !p.listed
        };
        let Some(name) = clause.after.iter().find(list).map(|p| self.field_name(p)) else {
            return Vec::new();
        };
        vec![self.simple(
            clause,
            Does::Split {
                field: field(&name),
            },
        )]
    }

    /// "write the summary back to the page": the service of what started the workflow, where a clause names no other and is about
    /// the very thing that it came with.
    fn handed_back(&self, clause: &Clause) -> Option<&'static ServiceEntry> {
        let came = self.concept_of_trigger()?;
        let place = |p: &Phrase| {
            let there = matches!(p.prep.as_str(), "to" | "into" | "in" | "on" | "");
            there && self.concept(p) == came && p.states.is_empty()
        };
        let named = clause.phrases().any(|p| p.service.is_some());
        let service = self.trigger_service().filter(|_| !named)?;
        clause.after.iter().any(place).then_some(service)
    }

    /// What the trigger's service brings ("page", "deal").
    fn concept_of_trigger(&self) -> Option<&str> {
        self.plan.triggers.iter().find_map(|t| match t {
            Trigger::Service { object, .. } => object.as_deref(),
            _ => None,
        })
    }

    /// The thing that came is changed: by what the clause gives it, or by what a model just wrote.
    fn give_back(
        &mut self,
        i: usize,
        clause: &Clause,
        service: &'static ServiceEntry,
    ) -> Vec<Step> {
        let mut step = self.written(i, clause, service, Verb::Update);
        let wrote = self.topic.wrote.clone();
        if let (Does::Service { args, .. }, Some(of)) = (&mut step.does, wrote) {
            let came = self.concept_of_trigger().unwrap_or_default().to_owned();
            let given = clause.after.iter().find(|p| {
                let gives = matches!(p.prep.as_str(), "" | "with") && p.service.is_none();
                gives && p.head.is_some() && self.concept(p) != came
            });
            let Some(name) = given.map(|p| self.field_name(p)) else {
                // "write it back to the deal": into which field, nobody says.
                let said = self.said(clause);
                self.plan.unread.push(said);
                return vec![step];
            };
            args.retain(|a| !matches!(&a.role, Role::Field(f) if *f == name));
            let value = Val::Field {
                name: "text".into(),
                of: Some(of),
            };
            args.push(arg(Role::Field(name), value));
        }
        vec![step]
    }

    /// "write the result into column 'score' of that row": a column of what was read before.
    fn fills_column(&self, clause: &Clause) -> bool {
        let into = |p: &Phrase| matches!(p.prep.as_str(), "in" | "into" | "to" | "on");
        let column = clause
            .after
            .iter()
            .any(|p| self.concept(p) == "column" && into(p));
        let row = clause
            .after
            .iter()
            .any(|p| matches!(self.concept(p), "row" | "entry") && (into(p) || p.prep == "of"));
        let known = self
            .services
            .iter()
            .any(|s| s.is_any(&["sheet", "db", "base"]));
        column && row && known
    }

    pub(super) fn create(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let file = clause.after.iter().any(|p| {
            super::data::FORMATS
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
    pub(super) fn written(
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
        let named = |a: &Arg| matches!(a.role, Role::Container | Role::Part);
        if matches!(verb, Verb::Update | Verb::Delete) && !args.iter().any(named) {
            // What is changed lies where it was read.
            for role in [Role::Container, Role::Part] {
                let own = |(key, a): &&(String, Arg)| *key == service.key && a.role == role;
                let last = self.read_from.iter().rev().find(own);
                args.extend(last.map(|(_, a)| a.clone()));
            }
        }
        if let Some(container) = args.iter().find(|a| a.role == Role::Container) {
            self.containers
                .push((service.key.clone(), container.clone()));
        }
        args.extend(self.details(clause));
        for name in self.fields(i) {
            args.push(arg(Role::Field(name.clone()), field(&name)));
        }
        if verb == Verb::Update && service.is_any(&["sheet", "db", "base"]) {
            args.extend(self.matched_by(clause));
        }
        if service.is_any(&["sheet", "db", "base"]) {
            // In a table a status is a column like others.
            for one in &mut args {
                let column = match one.role {
                    Role::Status => self.column_of(clause, "status"),
                    Role::Priority => self.column_of(clause, "priority"),
                    _ => continue,
                };
                one.role = Role::Field(column);
            }
            let given = |a: &Arg| matches!(a.value, Val::Lit { .. });
            let set: Vec<Role> = args
                .iter()
                .filter(|a| given(a))
                .map(|a| a.role.clone())
                .collect();
            args.retain(|a| given(a) || !set.contains(&a.role));
        }
        let object = self.object(clause, service);
        self.mention(service);
        self.simple(clause, on(service, verb, object, args))
    }

    /// The column of a concept, as a clause writes it: "estado".
    fn column_of(&self, clause: &Clause, concept: &str) -> String {
        let said = clause.phrases().find(|p| self.concept(p) == concept);
        let said = said.and_then(|p| p.head).map(|at| self.raw(at));
        let foreign = said.filter(|s| !s.to_lowercase().starts_with(concept));
        foreign.unwrap_or(concept).to_owned()
    }

    /// What a clause acts on: the first record, message, file or person that it names.
    pub(super) fn object(&self, clause: &Clause, service: &ServiceEntry) -> Option<String> {
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

    pub(super) fn on_service(
        &mut self,
        i: usize,
        clause: &Clause,
        frame: &str,
        verb: Verb,
    ) -> Vec<Step> {
        let latest = || {
            let kept = |s: &&&'static ServiceEntry| !s.speaks();
            // A status, or a column, is that of a row.
            let columns = clause
                .phrases()
                .any(|p| matches!(self.concept(p), "column" | "row" | "status"));
            let rows = |s: &&&'static ServiceEntry| columns && s.is_any(&["sheet", "base", "db"]);
            let last = self
                .services
                .iter()
                .rev()
                .find(rows)
                .or_else(|| self.services.iter().rev().find(kept))
                .or(self.services.last());
            last.copied().filter(|_| {
                self.has_clitic(clause)
                    || clause.phrases().any(|p| {
                        p.pronoun.is_some()
                            || self.kind(p) == "record"
                            || self.concept(p) == "status"
                    })
            })
        };
        let Some(service) = self.acts_on(clause, frame).or_else(latest) else {
            return Vec::new();
        };
        let mut steps = Vec::new();
        // What is deleted, or changed, by a test is read and tested first.
        let bare = Clause {
            verb: None,
            ..clause.clone()
        };
        if matches!(verb, Verb::Delete | Verb::Update)
            && let Some(condition) = self.measured_by(&bare)
        {
            let args = self.containers(clause, service);
            let object = self.object(clause, service);
            steps.push(self.simple(clause, on(service, Verb::GetMany, object, args)));
            steps.push(self.simple(clause, Does::Filter { condition }));
        }
        if verb == Verb::Delete && steps.is_empty() {
            steps.extend(self.doomed(clause, service));
        }
        // Rows go from the last to the first, so that none moves before its turn.
        if verb == Verb::Delete && service.is("sheet") && !steps.is_empty() {
            let by = super::field("row_number");
            let descending = true;
            steps.push(self.simple(clause, Does::Sort { by, descending }));
        }
        steps.push(self.written(i, clause, service, verb));
        steps
    }

    /// "delete all cards in list Done": what lies in a place is read first, so that nothing else is deleted.
    fn doomed(&mut self, clause: &Clause, service: &'static ServiceEntry) -> Option<Step> {
        let many = |p: &Phrase| {
            let noun = p.noun(self.chart).is_some_and(|n| n.form == "many");
            noun && matches!(self.kind(p), "record" | "message" | "file" | "event")
        };
        let args = self.containers(clause, service);
        let kept =
            args.iter().any(|a| a.role == Role::Container) && !service.is_any(&["sheet", "db"]);
        if !kept || !clause.phrases().any(many) {
            return None;
        }
        let object = self.object(clause, service);
        self.topic.many = true;
        Some(self.simple(clause, on(service, Verb::GetMany, object, args)))
    }
}

/// Whether nodes of a type run commands.
fn is_shell(node_type: &str) -> bool {
    node_type.ends_with(".ssh") || node_type.ends_with(".executeCommand")
}
