//! An assistant: a model with tools, a memory and what it knows, as the clauses around it say.

use super::{Reading, acting, arg, field, on};
use crate::clause::{Clause, Intro};
use crate::lexicon::ServiceEntry;
use crate::plan::{Does, Knowledge, Memory, Role, Service, Step, Tool, Trigger, Verb};
use crate::spot::Kind;

/// Frames of what an assistant may do with a service.
const USES: &[&str] = &[
    "GET", "SEARCH", "CHECK", "CREATE", "STORE", "UPDATE", "CALL", "DRAFT", "USE", "ANSWER", "RUN",
    "WRITE",
];

/// Frames of what a model does in one go, without tools.
const THINKS: &[&str] = &["CLASSIFY", "EXTRACT", "TRANSLATE", "SUMMARIZE", "ANALYZE"];

/// An assistant while its clauses are read.
#[derive(Default)]
struct Assistant {
    provider: Option<String>,
    tools: Vec<Tool>,
    memory: Option<Memory>,
    knowledge: Vec<Knowledge>,
    said: Vec<String>,
}

/// Whether the subject of a clause is a person or a message, so that it does not speak of the assistant.
fn next_person(reading: &Reading, clause: &Clause) -> bool {
    clause
        .before
        .iter()
        .any(|p| matches!(reading.kind(p), "person" | "message" | "text"))
}

impl Reading<'_> {
    /// Whether the request is for an assistant with tools: it speaks of one, and lets it use something.
    pub(super) fn agent(&mut self) -> bool {
        let Some(at) = self.assistant_at() else {
            return false;
        };
        self.listens(at);
        let mut made = Assistant::default();
        let mut inside = true;
        let mut closed = None;
        let mut over = false;
        for i in at..self.clauses.len() {
            let clause = self.clause_at(i).clone();
            let next = i > at && clause.sentence != self.clause_at(i - 1).sentence;
            if i > at && self.follows(&clause) {
                over = true;
                if clause.intro == Intro::When {
                    self.set_used(i, true);
                }
            }
            let own = !over && closed != Some(clause.sentence) && self.owns(&clause, inside, next);
            if !own && matches!(clause.intro, Intro::If | Intro::When | Intro::Unless) {
                closed = Some(clause.sentence);
            }
            inside = own || i == at;
            if inside {
                self.equip(i, &clause, &mut made);
                self.set_used(i, true);
            }
        }
        let instructions = made.said.join(". ");
        let step = self.step(
            &instructions.clone(),
            Does::Agent {
                provider: made.provider,
                instructions,
                input: None,
                tools: made.tools,
                memory: made.memory,
                knowledge: made.knowledge,
                output_fields: Vec::new(),
            },
        );
        self.assistant = Some(step);
        self.agent_at = at;
        true
    }

    /// The clause that speaks of an assistant. A model alone is one only where it is given tools, a memory or knowledge, or
    /// is to answer people; a bot alone is none.
    fn assistant_at(&self) -> Option<usize> {
        let of = |c: &Clause, concept: &str| {
            c.phrases().any(|p| {
                self.concept(p) == concept
                    && p.modifiers.iter().all(|m| {
                        let item = self.chart.item(*m);
                        item.noun().is_none_or(|n| n.kind() != "person")
                    })
            })
        };
        let equipped = self.clauses.iter().any(|c| {
            ["tool", "memory", "knowledge"].iter().any(|n| of(c, n))
                || c.calls("MEMORY")
                || c.phrases()
                    .any(|p| p.service.is_some_and(|s| s.is("vector") || s.is("tool")))
        });
        let (at, word) = self.clauses.iter().enumerate().find_map(|(i, c)| {
            let bot = || (equipped && of(c, "bot")).then_some("bot");
            let said = ["agent", "model"].into_iter().find(|n| of(c, n));
            Some(i).zip(said.or_else(bot))
        })?;
        let near = || {
            let sentence = self.clause_at(at).sentence;
            crate::cut::from(&self.clauses, at)
                .iter()
                .take_while(move |c| c.sentence == sentence)
        };
        let thinks = near().any(|c| c.verb.as_ref().is_some_and(|v| THINKS.contains(&v.frame())));
        let answers = near().any(|c| c.calls("REPLY") || c.calls("ANSWER"));
        let fits = equipped || word == "agent" && !thinks || word == "model" && answers && !thinks;
        fits.then_some(at)
    }

    /// An assistant that people write to: by the chat service, or the chat, that is named up to where it is spoken of.
    pub(super) fn addressed(&mut self) {
        let bot = |c: &Clause| {
            let named = c.phrases().any(|p| {
                let words = p.head.iter().chain(&p.modifiers);
                words
                    .filter_map(|n| self.chart.item(*n).noun())
                    .any(|n| n.concept == "bot")
            });
            let on = c
                .phrases()
                .filter_map(|p| p.service)
                .any(|s| (s.is("chat") || s.is("sms")) && !s.triggers.is_empty());
            let told = c
                .verb
                .as_ref()
                .is_none_or(|v| matches!(v.frame(), "WANT" | "STATE" | "CREATE"));
            named && on && told
        };
        if let Some(at) = self.clauses.iter().position(bot) {
            self.listens(at);
            self.set_used(at, true);
            return;
        }
        let Some(at) = self.assistant_at() else {
            return;
        };
        let told = crate::cut::before(&self.clauses, at + 1).iter().any(|c| {
            let chat = c.phrases().any(|p| {
                p.service
                    .is_some_and(|s| (s.is("chat") || s.is("sms")) && !s.triggers.is_empty())
            });
            let plain = c.phrases().any(|p| {
                let first = p.head.iter().chain(&p.modifiers);
                first
                    .filter_map(|n| self.chart.item(*n).noun())
                    .any(|n| n.concept == "conversation")
            });
            chat || plain && c.phrases().all(|p| p.service.is_none())
        });
        if told {
            self.listens(at);
        }
    }

    /// What brings the messages where no other trigger is named: the chat service that people write on, else a chat.
    fn listens(&mut self, at: usize) {
        if !self.plan.triggers.is_empty() {
            return;
        }
        let talks = |s: &&'static ServiceEntry| s.speaks() && !s.triggers.is_empty();
        let found = self
            .clauses
            .iter()
            .enumerate()
            .take(at + 1)
            .find_map(|(i, c)| {
                let service = c.phrases().filter_map(|p| p.service).find(talks)?;
                Some((i, service))
            });
        if let Some((i, service)) = found {
            if i < at {
                self.set_used(i, true);
            }
            self.mention(service);
            self.plan.triggers.push(Trigger::Service {
                service: Service {
                    said: service.label.clone(),
                    node_types: service.triggers.clone(),
                },
                event: "message".into(),
                object: Some("message".into()),
                args: Vec::new(),
            });
            return;
        }
        let public = self.clauses.iter().any(|c| {
            let open = (c.from..c.to).any(|i| {
                self.chart
                    .item(i)
                    .sense(crate::lex::Class::Adjective)
                    .is_some_and(|a| a.concept == "public")
            });
            open && !c.negated()
        });
        self.plan.triggers.push(Trigger::Chat { public });
    }

    /// Whether a clause says more about the assistant: it is its subject, it names its parts, or it goes on with what did.
    fn owns(&self, clause: &Clause, inside: bool, next: bool) -> bool {
        let subject = clause
            .before
            .iter()
            .any(|p| p.pronoun.is_some() || matches!(self.concept(p), "agent" | "model" | "bot"));
        let part = clause.phrases().any(|p| {
            matches!(
                self.concept(p),
                "tool" | "memory" | "knowledge" | "prompt" | "model" | "agent"
            ) || p
                .service
                .is_some_and(|s| s.is("llm") || s.is("vector") || s.is("tool"))
        });
        let aims = matches!(
            clause.verb.as_ref().map_or("", |v| v.frame()),
            "SEND" | "NOTIFY" | "MAIL" | "STORE" | "PUBLISH" | "REPLY" | "UPDATE" | "CREATE"
        );
        match clause.intro {
            Intro::If | Intro::When | Intro::Unless => subject && !next_person(self, clause),
            Intro::Else => inside && subject,
            _ if subject || part => true,
            _ if next => inside && !aims && clause.verb.is_some() || inside && clause.negated(),
            _ => inside,
        }
    }

    /// Takes what a clause says of the assistant: model, memory, knowledge, tools, rules.
    fn equip(&mut self, i: usize, clause: &Clause, made: &mut Assistant) {
        if let Some(model) = self.model(clause) {
            made.provider = made.provider.take().or(Some(model));
        }
        let said = self.said(clause);
        if let Some(found) = self.memory(clause) {
            made.memory = Some(found);
            made.said.push(said);
            return;
        }
        let store = clause
            .phrases()
            .find_map(|p| p.service)
            .filter(|s| s.is("vector"));
        if let Some(store) = store {
            let collection = clause
                .phrases()
                .flat_map(|p| p.names.iter())
                .next()
                .map(|n| self.name(*n));
            made.knowledge.push(Knowledge {
                store: acting(store),
                collection,
                embeddings: None,
            });
            made.said.push(said);
            return;
        }
        let asked = clause.calls("APPROVE") || clause.phrases().any(|p| self.approves(p));
        let asked = if asked && !made.tools.is_empty() {
            self.approved(clause, "APPROVE").pop()
        } else {
            None
        };
        if let (Some(step), Some(tool)) = (asked, made.tools.last_mut()) {
            tool.approval = Some(Box::new(step));
            made.said.push(said);
            return;
        }
        let tools = self.tools(i, clause);
        made.tools.extend(tools);
        made.said.push(said);
    }

    /// "After each answer …", "finally …": what comes behind the assistant.
    fn follows(&self, clause: &Clause) -> bool {
        let items = self.items(clause);
        let first = items.iter().take(2).any(|i| i.is("then"));
        let after = clause.before.iter().any(|p| p.prep == "after");
        let answered = clause.intro == Intro::When
            && (clause.calls("REPLY") || clause.phrases().any(|p| self.concept(p) == "answer"));
        first || after || answered
    }

    fn model(&self, clause: &Clause) -> Option<String> {
        let phrase = clause
            .phrases()
            .find(|p| p.service.is_some_and(|s| s.is("llm")))?;
        let key = phrase.service.map(|s| s.key.clone())?;
        let named = phrase
            .names
            .first()
            .map(|n| self.name(*n))
            .filter(|n| n.chars().any(|c| c.is_ascii_digit()));
        Some(named.map_or(key.clone(), |n| format!("{key}:{n}")))
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
        let items = self.items(clause);
        let key = items.windows(3).find_map(|w| {
            let (first, others) = w.split_first()?;
            let each =
                first.is("quant") && first.text != "all" || first.text == "per" || first.is("each");
            each.then(|| others.iter().find_map(|i| i.noun()))
                .flatten()
                .map(|n| n.concept.clone())
        });
        let session = key.and_then(|k| match k.as_str() {
            "phone" | "key" => Some(field("from")),
            "conversation" | "place" | "group" => Some(field("chat id")),
            "user" | "person" | "customer" | "contact" => Some(field("user id")),
            _ => None,
        });
        Some(Memory {
            store,
            window: window.map(|n| n as u32),
            session,
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
        if let Some(reference) = self.workflow_of(clause) {
            let given = self.inputs_of(i);
            let inputs = given
                .iter()
                .filter_map(|a| match &a.role {
                    Role::Field(name) => Some(name.clone()),
                    _ => None,
                })
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
                let drafts = clause.phrases().any(|p| self.concept(p) == "draft");
                let verb = match frame.as_str() {
                    _ if writes && drafts => Verb::Draft,
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
                self.tool(&purpose, on(service, verb, object, args), Vec::new())
            })
            .collect()
    }

    fn only_reads(&self, clause: &Clause) -> bool {
        self.items(clause).iter().any(|i| i.is("only"))
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
        let service = self.trigger_service()?;
        if !service.speaks() {
            return None;
        }
        let args = vec![arg(Role::Text, field("output"))];
        Some(self.step(
            "answer",
            on(service, Verb::Reply, Some("message".into()), args),
        ))
    }
}

/// The names of the places to be filled in an address.
fn holes(url: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = url;
    while let Some(open) = rest.find(['{', '<']) {
        let Some(close) = crate::cut::rest(rest, open).find(['}', '>']) else {
            break;
        };
        found.push(crate::cut::text(rest, open + 1, open + close).to_owned());
        rest = crate::cut::rest(rest, open + close + 1);
    }
    found
}
