//! What is read, downloaded and called: services, addresses, other workflows, commands.

use super::{Reading, arg, field, lit, on};
use crate::clause::Clause;
use crate::plan::{Does, Role, Step, Verb};
use crate::spot::Kind;

impl Reading<'_> {
    /// Reads from a service or an address; what narrows it down becomes a filter after it.
    pub(super) fn fetch(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
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

    /// A file is fetched: from what the clause names, else from the files that were spoken of.
    pub(super) fn downloaded(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
        let steps = self.on_service(i, clause, frame, Verb::Download);
        let files = self.latest("files").filter(|_| steps.is_empty());
        let Some(service) = files else {
            return steps;
        };
        vec![self.written(i, clause, service, Verb::Download)]
    }

    /// A call of an address, of another workflow, of a command.
    pub(super) fn call(&mut self, i: usize, clause: &Clause, frame: &str) -> Vec<Step> {
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
}
