//! What is read, downloaded and called: services, addresses, other workflows, commands.

use super::{Reading, arg, field, lit, on};
use crate::clause::{Clause, Phrase};
use crate::plan::{Does, Role, Step, Val, Verb};
use crate::spot::Kind;

impl Reading<'_> {
    /// Reads from a service or an address; what narrows it down becomes a filter after it.
    pub(super) fn fetch(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        if let Some(read) = self.feed(clause) {
            // What is asked for again and again is handled once, where only new entries are meant.
            let new = |p: &Phrase| p.states.iter().any(|s| self.is_fresh(*s));
            let once = self.clauses.iter().flat_map(Clause::phrases).any(new);
            let key = field("link");
            let unseen = Does::Dedupe {
                key,
                window_seconds: None,
            };
            let unseen = once.then(|| self.simple(clause, unseen));
            return std::iter::once(read).chain(unseen).collect();
        }
        if self.reads_event(clause) {
            return Vec::new();
        }
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
        if let Some(file) = self.file_of_machine(clause) {
            return vec![file];
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
        if !args.iter().any(|a| a.role == Role::Container) {
            args.extend(self.read_subject(clause, service));
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
        args.extend(self.sought_by(clause, frame, service));
        let object = self
            .listed_object(clause)
            .or_else(|| self.object(clause, service));
        self.mention(service);
        if let Some(id) = self.by_given_id(clause).filter(|_| verb == Verb::GetMany) {
            args.push(id);
            return vec![self.simple(clause, on(service, Verb::Get, object, args))];
        }
        self.topic.many = true;
        for place in args
            .iter()
            .filter(|a| matches!(a.role, Role::Container | Role::Part))
        {
            self.read_from.push((service.key.clone(), place.clone()));
        }
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
        let unseen = self.unseen(clause, &narrowed).filter(|_| query.is_none());
        if query.is_none()
            && let Some(condition) = self.condition(&narrowed)
        {
            steps.push(self.simple(clause, Does::Filter { condition }));
        }
        steps.extend(unseen);
        steps
    }

    /// "Every morning post the new contacts": what a schedule reads again and again goes on once. A time that the clause
    /// says tells what is new instead.
    pub(super) fn unseen(&mut self, clause: &Clause, of: &Clause) -> Option<Step> {
        use crate::plan::Trigger;
        use crate::time::TimeMeaning;
        let scheduled = |t: &Trigger| matches!(t, Trigger::Schedule { .. });
        let ranged = |t: &crate::time::TimeSpan| {
            !matches!(
                t.means,
                TimeMeaning::Schedule { .. }
                    | TimeMeaning::AtTime { .. }
                    | TimeMeaning::Zone { .. }
            )
        };
        let new = |p: &Phrase| {
            let state = |s: &usize| {
                let sense = self.chart.item(*s).sense(crate::lex::Class::Adjective);
                sense.is_some_and(|a| a.kind() == "new")
            };
            let many = matches!(
                self.kind(p),
                "record" | "person" | "event" | "message" | "file"
            );
            let several = p.noun(self.chart).is_some_and(|n| n.form == "many");
            many && several && p.states.iter().any(state)
        };
        let asked = self.plan.triggers.iter().all(scheduled)
            && !clause.times.iter().any(ranged)
            && of.phrases().any(new);
        asked.then(|| {
            let key = field("id");
            let window_seconds = None;
            self.simple(
                clause,
                Does::Dedupe {
                    key,
                    window_seconds,
                },
            )
        })
    }

    /// "Post the weather from https://…", "if the price from https://… falls": what lies at an address is fetched first; the clause without
    /// the address.
    pub(super) fn fetched_from(&mut self, clause: &Clause) -> Option<(Step, Clause)> {
        let there = |p: &Phrase| {
            let url = p.literal(self.chart, Kind::Url).is_some();
            url && p.prep == "from" && p.service.is_none()
        };
        let asked = ["GET", "CALL", "DOWNLOAD", "CHECK", "SEARCH"];
        if asked.iter().any(|f| clause.calls(f)) || self.feed_named(clause) {
            return None;
        }
        let phrase = clause.phrases().find(|p| there(p))?.clone();
        let url = phrase.literal(self.chart, Kind::Url)?;
        let url = self.text.get(url.from..url.to)?.to_owned();
        let mut rest = clause.clone();
        rest.before.retain(|p| p.from != phrase.from);
        rest.after.retain(|p| p.from != phrase.from);
        let does = Does::Http {
            method: "GET".to_owned(),
            url,
            query: Vec::new(),
            body: Vec::new(),
            auth: None,
            save_as_file: false,
            never_fail: false,
            rate_per_second: None,
        };
        Some((self.simple(clause, does), rest))
    }

    fn feed_named(&self, clause: &Clause) -> bool {
        clause.phrases().any(|p| {
            let news = matches!(self.concept(p), "news" | "feed");
            news || p.service.is_some_and(|s| s.key == "rssFeedRead")
        })
    }

    /// "look up the customer by email", "check whether it is there": by what a person is found among customers.
    fn sought_by(
        &self,
        clause: &Clause,
        frame: &str,
        service: &crate::lexicon::ServiceEntry,
    ) -> Option<crate::plan::Arg> {
        if !service.is("crm") || !matches!(frame, "SEARCH" | "CHECK" | "GET") {
            return None;
        }
        let given = clause
            .phrases()
            .any(|p| p.literal(self.chart, Kind::Mail).is_some());
        let by = |p: &&Phrase| {
            let one = p.noun(self.chart).is_some_and(|n| n.form == "one");
            p.prep == "by" && one && p.names.is_empty() && p.service.is_none()
        };
        let exists = |i: &crate::chart::Item| i.verb().is_some_and(|v| v.calls("EXIST"));
        let key = clause.phrases().find(by).map(|p| self.field_name(p));
        let asks = self.items(clause).iter().any(exists);
        let key = key.or_else(|| asks.then(|| "email".to_owned()))?;
        (!given).then(|| arg(Role::MatchOn, field(&key)))
    }

    /// "Orders is read from the Google Sheet": the name of what keeps rows, as the subject of what is done with it.
    fn read_subject(
        &self,
        clause: &Clause,
        service: &crate::lexicon::ServiceEntry,
    ) -> Option<crate::plan::Arg> {
        let subject = clause.before.last()?;
        let head = subject.head(self.chart)?;
        let bare = subject.modifiers.is_empty()
            && subject.service.is_none()
            && subject.prep.is_empty()
            && head.capital
            && !self.chart.item(subject.from).is("det");
        let kept = service.is("sheet");
        let name = subject.head.filter(|_| bare && kept)?;
        Some(arg(Role::Container, lit(self.raw(name))))
    }

    /// "get that customer", where a customer's id came with the call.
    fn by_given_id(&self, clause: &Clause) -> Option<crate::plan::Arg> {
        use crate::plan::Trigger;
        let given = self.plan.triggers.iter().flat_map(|t| match t {
            Trigger::SubWorkflow { inputs } => inputs.as_slice(),
            Trigger::Webhook { fields, .. } => fields.as_slice(),
            _ => &[],
        });
        let plain = |text: &str| -> String {
            let letters = text.chars().filter(|c| c.is_alphanumeric());
            letters.collect::<String>().to_lowercase()
        };
        let thing = clause.after.iter().find(|p| {
            let one = p.noun(self.chart).is_some_and(|n| n.form == "one");
            one && p.prep.is_empty() && p.quantity.is_none() && p.names.is_empty()
        })?;
        let id = format!("{}id", plain(&self.words(thing)));
        let name = given.into_iter().find(|g| plain(g) == id)?;
        Some(arg(Role::Id, field(name)))
    }

    /// "list all repositories of …": containers, where they themselves are what is read.
    fn listed_object(&self, clause: &Clause) -> Option<String> {
        let first = clause.after.first()?;
        let many = first.noun(self.chart).is_some_and(|n| n.form == "many");
        let bare = first.prep.is_empty() && first.names.is_empty() && first.service.is_none();
        let kept = matches!(
            self.concept(first),
            "repository" | "list" | "board" | "calendar" | "project" | "label"
        );
        (many && bare && kept).then(|| self.concept(first).to_owned())
    }

    /// "fetch /tmp/backup.sql.gz": a file by its path, from the machine that was last worked on.
    fn file_of_machine(&mut self, clause: &Clause) -> Option<Step> {
        let path = clause
            .phrases()
            .find_map(|p| p.literal(self.chart, Kind::Path))?;
        let path = self.text.get(path.from..path.to)?.to_owned();
        let machine = |s: &&'static crate::lexicon::ServiceEntry| {
            s.actions
                .iter()
                .any(|t| t.ends_with(".ssh") || t.ends_with(".ftp"))
        };
        let named = self.services_of(clause).into_iter().find(machine);
        let bare = self.services_of(clause).is_empty();
        let last = || {
            self.services
                .iter()
                .rev()
                .copied()
                .find(machine)
                .filter(|_| bare)
        };
        let service = named.or_else(last)?;
        self.mention(service);
        self.topic.file = true;
        let args = vec![arg(Role::Named("path".into()), lit(path))];
        let does = on(service, Verb::Download, Some("file".into()), args);
        Some(self.simple(clause, does))
    }

    /// "An AI reads each new mail": what started the workflow, which a model looks at.
    fn reads_event(&self, clause: &Clause) -> bool {
        let model = clause.before.iter().any(|p| self.concept(p) == "model");
        let started = self.trigger_service();
        let own =
            |s: &&'static crate::lexicon::ServiceEntry| started.is_some_and(|t| t.key == s.key);
        model && self.services_of(clause).iter().any(own)
    }

    /// "the feed https://…", "our blog's RSS feed": read as one.
    fn feed(&mut self, clause: &Clause) -> Option<Step> {
        let url = |p: &Phrase| p.literal(self.chart, Kind::Url);
        let feed = |p: &Phrase| p.service.is_some_and(|s| s.key == "rssFeedRead");
        let named = |p: &Phrase| feed(p) || self.concept(p) == "news" && url(p).is_some();
        let found = clause.phrases().find_map(url);
        // What starts the workflow by itself is not read once more.
        let rhythm = |t: &crate::plan::Trigger| matches!(t, crate::plan::Trigger::Schedule { .. });
        let other = |p: &Phrase| p.service.is_some() && !feed(p);
        let timed = self.plan.triggers.iter().all(rhythm) && !clause.phrases().any(other);
        if found.is_none() && !timed || !clause.phrases().any(named) {
            return None;
        }
        let url = found.and_then(|url| self.text.get(url.from..url.to));
        let service = super::service("rssFeedRead")?;
        self.mention(service);
        self.topic.many = true;
        let args = url
            .map(|url| arg(Role::Url, lit(url)))
            .into_iter()
            .collect();
        self.topic.object = Some("news".into());
        Some(self.simple(
            clause,
            on(service, Verb::GetMany, Some("news".into()), args),
        ))
    }

    /// A file is fetched: from what the clause names, else from the files that were spoken of.
    pub(super) fn downloaded(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let attached = clause.phrases().any(|p| self.concept(p) == "attachment");
        let mailed = self.trigger_service().is_some_and(|s| s.is("mail"));
        if attached && mailed && self.services_of(clause).is_empty() {
            // The trigger brings the attachments itself.
            for trigger in &mut self.plan.triggers {
                if let crate::plan::Trigger::Service { args, .. } = trigger
                    && !args.iter().any(|a| a.role == Role::Attachment)
                {
                    args.push(arg(Role::Attachment, lit(true)));
                }
            }
            self.topic.file = true;
            return Vec::new();
        }
        let steps = self.on_service(i, clause, frame, Verb::Download);
        let files = self.latest("files").filter(|_| steps.is_empty());
        let Some(service) = files else {
            return steps;
        };
        vec![self.written(i, clause, service, Verb::Download)]
    }

    /// How a call proves who makes it, where its sentence says that it does.
    fn authentication(&self, clause: &Clause) -> Option<String> {
        const KINDS: &[&str] = &[
            "basic", "bearer", "oauth", "oauth2", "digest", "query", "header",
        ];
        let near = self
            .clauses
            .iter()
            .filter(|c| c.sentence == clause.sentence);
        let items: Vec<&crate::chart::Item> = near.flat_map(|c| self.items(c)).collect();
        let told = items.iter().any(|i| {
            matches!(i.text.as_str(), "auth" | "bearer" | "oauth" | "oauth2")
                || i.noun().is_some_and(|n| n.concept == "password")
        });
        if !told {
            return None;
        }
        let kind = items.iter().find(|i| KINDS.contains(&i.text.as_str()));
        Some(kind.map_or("header", |i| i.text.as_str()).to_owned())
    }

    /// "send each one to https://…": what is given away there is posted.
    pub(super) fn is_sent_to_address(&self, clause: &Clause) -> bool {
        let given = [
            "SEND", "NOTIFY", "STORE", "PUBLISH", "EXPORT", "SYNC", "FORWARD",
        ];
        let to = |p: &Phrase| {
            matches!(p.prep.as_str(), "to" | "into" | "at")
                && p.literal(self.chart, Kind::Url).is_some()
        };
        given.iter().any(|f| clause.calls(f)) && clause.after.iter().any(to)
    }

    /// A call of an address, of another workflow, of a command.
    pub(super) fn call(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let url = clause
            .phrases()
            .find_map(|p| p.literal(self.chart, Kind::Url))
            .map(|u| self.text.get(u.from..u.to).unwrap_or("").to_owned());
        if let Some(url) = url {
            let json = clause.phrases().flat_map(|p| p.names.iter()).find_map(|n| {
                serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(self.raw(*n))
                    .ok()
            });
            let sent = self.is_sent_to_address(clause);
            let method = match json.is_some() || sent {
                true => "POST",
                false => "GET",
            };
            let method = self.method(clause).unwrap_or_else(|| method.to_owned());
            let body = if method == "GET" {
                Vec::new()
            } else if let Some(json) = json {
                json.into_iter()
                    .map(|(k, v)| arg(Role::Field(k), lit(v)))
                    .collect()
            } else {
                let named = self.fields(i);
                match named.is_empty() && sent {
                    true => vec![arg(
                        Role::Body,
                        Val::Expr {
                            code: "$json".to_owned(),
                        },
                    )],
                    false => named
                        .iter()
                        .map(|f| arg(Role::Field(f.clone()), field(f)))
                        .collect(),
                }
            };
            self.topic.many = true;
            let auth = self.authentication(clause);
            return vec![self.simple(
                clause,
                Does::Http {
                    method,
                    url,
                    query: Vec::new(),
                    body,
                    auth,
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
        let shell = |kind: Kind| kind == Kind::Path && !service.is("db");
        if let Some(quote) = clause.phrases().find_map(|p| {
            let path = || {
                p.literal(self.chart, Kind::Path)
                    .filter(|_| shell(Kind::Path))
            };
            p.literal(self.chart, Kind::Quote).or_else(path)
        }) {
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
}
