//! An assistant: a model with tools, a memory and what it knows, as the clauses around it say.

use super::{Reading, acting, arg, field};
use crate::clause::{Clause, Intro};
use crate::lexicon::ServiceEntry;
use crate::plan::{Does, Knowledge, Memory, Role, Step, Tool, Trigger, Verb};
use crate::spot::Kind;

/// Frames of what an assistant may do with a service.
const USES: &[&str] = &[
    "GET", "SEARCH", "CHECK", "CREATE", "STORE", "UPDATE", "CALL", "DRAFT", "USE", "ANSWER", "RUN",
    "WRITE",
];

impl Reading<'_> {
    /// Whether the request is for an assistant with tools: it speaks of one, and lets it use something.
    pub(super) fn agent(&mut self) -> bool {
        let speaks = |c: &Clause| {
            c.phrases().any(|p| {
                self.concept(p) == "agent" && !self.words(p).to_lowercase().contains("user")
            })
        };
        let Some(at) = self.clauses.iter().position(speaks) else {
            return false;
        };
        let asks = |c: &Clause| {
            c.verb
                .as_ref()
                .is_some_and(|v| matches!(v.frame(), "CLASSIFY" | "EXTRACT" | "TRANSLATE"))
        };
        if self.clauses[at..].iter().take(2).any(asks) {
            return false;
        }
        let chat = matches!(self.plan.triggers.as_slice(), [] | [Trigger::Chat { .. }]);
        if self.plan.triggers.is_empty() {
            let public = self.chart.items.iter().any(|i| i.text == "public")
                && !self.text.to_lowercase().contains("not open to the public");
            self.plan.triggers.push(Trigger::Chat { public });
        }
        let mut tools = Vec::new();
        let mut memory = None;
        let mut knowledge = Vec::new();
        let mut provider = None;
        let mut said: Vec<String> = Vec::new();
        let last_sentence = self.clauses.last().map_or(0, |c| c.sentence);
        for i in at..self.clauses.len() {
            let clause = self.clauses[i].clone();
            let subject = clause
                .before
                .iter()
                .any(|p| p.pronoun.is_some() || matches!(self.kind(p), "ai" | "person"));
            let own = clause.sentence == self.clauses[at].sentence
                || subject
                || clause.before.is_empty() && clause.intro == Intro::None
                || self.names_tool(&clause);
            let after = clause.intro == Intro::When
                || self.follows(&clause) && clause.sentence == last_sentence;
            if !own || after && i > at {
                continue;
            }
            provider = provider.or_else(|| self.model(&clause));
            if let Some(found) = self.memory(&clause) {
                memory = Some(found);
                self.used[i] = true;
                said.push(self.said(&clause));
                continue;
            }
            if let Some(store) = clause
                .phrases()
                .find_map(|p| p.service)
                .filter(|s| s.is("vector"))
            {
                let collection = clause
                    .phrases()
                    .flat_map(|p| p.names.iter())
                    .next()
                    .map(|n| self.name(*n));
                knowledge.push(Knowledge {
                    store: acting(store),
                    collection,
                    embeddings: None,
                });
                self.used[i] = true;
                said.push(self.said(&clause));
                continue;
            }
            let made = self.tools(i, &clause);
            if !made.is_empty() || i == at || chat && clause.verb.is_some() {
                said.push(self.said(&clause));
                self.used[i] = true;
            }
            tools.extend(made);
        }
        let instructions = said.join(". ");
        let step = self.step(
            &instructions.clone(),
            Does::Agent {
                provider,
                instructions,
                input: None,
                tools,
                memory,
                knowledge,
                output_fields: Vec::new(),
            },
        );
        self.assistant = Some(step);
        self.agent_at = at;
        true
    }

    fn names_tool(&self, clause: &Clause) -> bool {
        clause.phrases().any(|p| self.concept(p) == "tool")
    }

    /// "After each answer …", "finally …": what comes behind the assistant.
    fn follows(&self, clause: &Clause) -> bool {
        let items = self.chart.items.get(clause.from..clause.to).unwrap_or(&[]);
        let first = items.iter().take(2).any(|i| i.is("then"));
        let after = clause.before.iter().any(|p| p.prep == "after");
        first || after
    }

    fn model(&self, clause: &Clause) -> Option<String> {
        clause
            .phrases()
            .find_map(|p| p.service)
            .filter(|s| s.is("llm"))
            .map(|s| s.key.clone())
    }

    /// "remembers the last 12 messages", "memory: Redis".
    fn memory(&self, clause: &Clause) -> Option<Memory> {
        let told = clause.calls("MEMORY") || clause.phrases().any(|p| self.concept(p) == "memory");
        if !told {
            return None;
        }
        let window = clause
            .phrases()
            .flat_map(|p| p.numbers.iter())
            .find_map(|n| super::figure(self.raw(*n)));
        let near = clause.phrases().find_map(|p| p.service).or_else(|| {
            let next = self
                .clauses
                .iter()
                .find(|c| c.from >= clause.to && c.line == clause.line)?;
            next.phrases().find_map(|p| p.service)
        });
        let store = near
            .filter(|s| s.is("db") || s.is("kv"))
            .map_or_else(|| "simple".to_owned(), |s| s.key.clone());
        Some(Memory {
            store,
            window: window.map(|n| n as u32),
            session: None,
        })
    }

    /// The tools that a clause lets the assistant use.
    fn tools(&mut self, i: usize, clause: &Clause) -> Vec<Tool> {
        if clause.negated() {
            return Vec::new();
        }
        let purpose = self.said(clause);
        let url = clause
            .phrases()
            .find_map(|p| p.literal(self.chart, Kind::Url))
            .and_then(|u| self.text.get(u.from..u.to))
            .map(str::to_owned);
        if let Some(url) = url {
            let method = self.method(clause).unwrap_or_else(|| "GET".to_owned());
            let inputs = holes(&url);
            let does = Does::Http {
                method,
                url,
                query: Vec::new(),
                body: Vec::new(),
                auth: None,
                save_as_file: false,
                never_fail: false,
                rate_per_second: None,
            };
            return vec![self.tool(&purpose, does, inputs)];
        }
        let workflow = clause
            .phrases()
            .find(|p| self.concept(p) == "workflow" && !p.names.is_empty())
            .and_then(|p| p.names.first())
            .map(|n| self.name(*n));
        if let Some(reference) = workflow {
            let inputs = self.fields(i);
            let given = inputs
                .iter()
                .map(|f| arg(Role::Field(f.clone()), field(f)))
                .collect();
            return vec![self.tool(
                &purpose,
                Does::CallWorkflow {
                    reference,
                    inputs: given,
                    wait: true,
                },
                inputs,
            )];
        }
        let frame = clause.verb.as_ref().map_or("", |v| v.frame()).to_owned();
        let uses = frame.is_empty()
            || USES.contains(&frame.as_str())
            || clause
                .verb
                .as_ref()
                .is_some_and(|v| v.sense.says.iter().any(|f| USES.contains(&f.as_str())));
        if !uses {
            return Vec::new();
        }
        let services: Vec<&'static ServiceEntry> = self
            .services_of(clause)
            .into_iter()
            .filter(|s| !s.actions.is_empty() && !s.is("llm") && !s.is("vector"))
            .collect();
        services
            .into_iter()
            .map(|service| {
                if service.is("tool") {
                    return Tool {
                        name: None,
                        purpose: purpose.clone(),
                        step: None,
                        builtin: Some(service.key.clone()),
                        inputs: Vec::new(),
                        approval: None,
                    };
                }
                let writes = matches!(frame.as_str(), "CREATE" | "STORE" | "UPDATE" | "DRAFT")
                    && !self.only_reads(clause);
                let verb = match frame.as_str() {
                    "DRAFT" => Verb::Draft,
                    "UPDATE" => Verb::Update,
                    _ if writes && service.is("sheet") => Verb::Append,
                    _ if writes => Verb::Create,
                    _ => Verb::GetMany,
                };
                let args = self.containers(clause, service);
                let object = clause
                    .phrases()
                    .find(|p| matches!(self.kind(p), "record" | "event" | "person" | "message"))
                    .map(|p| self.concept(p).to_owned());
                let object = object.or_else(|| {
                    (service.is("sheet") || service.is("db")).then(|| "row".to_owned())
                });
                self.tool(
                    &purpose,
                    Does::Service {
                        service: acting(service),
                        verb,
                        object,
                        args,
                        once: false,
                    },
                    Vec::new(),
                )
            })
            .collect()
    }

    fn only_reads(&self, clause: &Clause) -> bool {
        self.chart
            .items
            .get(clause.from..clause.to)
            .unwrap_or(&[])
            .iter()
            .any(|i| i.is("only"))
    }

    fn tool(&mut self, purpose: &str, does: Does, inputs: Vec<String>) -> Tool {
        let step: Step = self.step(purpose, does);
        Tool {
            name: None,
            purpose: purpose.to_owned(),
            step: Some(Box::new(step)),
            builtin: None,
            inputs,
            approval: None,
        }
    }

    /// The answer of the assistant back to where the message came from.
    pub(super) fn answer_back(&mut self) -> Option<Step> {
        let service = self.trigger_acts()?;
        if !["chat", "mail", "sms"].iter().any(|t| service.is(t)) {
            return None;
        }
        let args = vec![arg(Role::Text, field("output"))];
        Some(self.step(
            "answer",
            Does::Service {
                service: acting(service),
                verb: Verb::Reply,
                object: Some("message".into()),
                args,
                once: false,
            },
        ))
    }
}

/// The names of the places to be filled in an address.
fn holes(url: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = url;
    while let Some(open) = rest.find(['{', '<']) {
        let Some(close) = rest[open..].find(['}', '>']) else {
            break;
        };
        found.push(rest[open + 1..open + close].to_owned());
        rest = &rest[open + close + 1..];
    }
    found
}
