//! One clause into steps: which verb on which service, with which arguments. Special actions (wait, HTTP, files, models)
//! are read in `special`; conditions and order are not decided here.

use crate::lexicon::{self, ServiceEntry, VerbEntry, first, has, rx};
use crate::plan::{Arg, Does, Role, Service, Step, Val, Verb};
use crate::read::args;
use crate::read::clause::strip_lead;
use crate::read::text::{Entity, Masked};
use crate::read::value::lit;

mod meant;
mod owner;
mod words;

pub use meant::host_of;
use meant::*;
use owner::owner_of;
use words::*;
pub use words::{object_in, source_and_target, verb_in};

/// What the reader knows while it goes through the request.
pub struct Memory<'a> {
    pub m: &'a Masked,
    pub language: &'a str,
    next: u32,
    /// The service of the trigger, when it is one.
    pub trigger: Option<&'static ServiceEntry>,
    /// Services read from so far, with the step that read them.
    pub read: Vec<(&'static ServiceEntry, String)>,
    /// Services used so far, last one last.
    pub used: Vec<&'static ServiceEntry>,
    /// Channels and containers named so far: "the same sheet".
    pub last_container: Option<Val>,
    /// The last mail address or channel named.
    pub last_target: Option<Arg>,
    pub notes: Vec<String>,
    /// Steps that may fail without stopping the rest.
    pub lenient: Vec<String>,
    /// A webhook started it: "answer with …" means its caller.
    pub answers_caller: bool,
    /// Fields that the data is known to have (form, webhook body, extraction).
    pub fields: Vec<String>,
    /// The column that names a row of the table read last.
    pub key: Option<String>,
    /// What the trigger is about: lead, order, ticket.
    pub topic: Option<String>,
    /// A choice in the form: its label and options.
    pub choices: Option<(String, Vec<String>)>,
    /// What a bot's command names behind it, and where it stands in the message.
    pub ordered: Option<(String, String)>,
    /// The kind of file that starts the flow: csv, xlsx.
    pub incoming_file: Option<String>,
    /// Tables and sheets named so far.
    places: Vec<(&'static ServiceEntry, Vec<Arg>)>,
}

impl<'a> Memory<'a> {
    pub const fn new(m: &'a Masked, language: &'a str) -> Self {
        Self {
            m,
            language,
            next: 1,
            trigger: None,
            read: Vec::new(),
            used: Vec::new(),
            last_container: None,
            last_target: None,
            notes: Vec::new(),
            lenient: Vec::new(),
            answers_caller: false,
            fields: Vec::new(),
            key: None,
            topic: None,
            choices: None,
            ordered: None,
            incoming_file: None,
            places: Vec::new(),
        }
    }

    /// "record it in Postgres" after "the Postgres table invoices": the same table.
    fn remember_place(&mut self, entry: &'static ServiceEntry, arguments: &mut Vec<Arg>) {
        if !(entry.is("db") || entry.is("sheet") || entry.is("base")) {
            return;
        }
        let place: Vec<Arg> = arguments
            .iter()
            .filter(|a| matches!(a.role, Role::Container | Role::Part))
            .cloned()
            .collect();
        if place.is_empty() {
            if let Some((_, known)) = self.places.iter().rev().find(|(e, _)| e.key == entry.key) {
                arguments.extend(known.iter().cloned());
            }
        } else {
            self.places.push((entry, place));
        }
    }

    pub fn step(&mut self, said: &str, does: Does) -> Step {
        let id = format!("s{}", self.next);
        self.next += 1;
        Step {
            id,
            said: self.m.plain(said),
            does,
            name: None,
        }
    }
}

pub fn service_of(entry: &ServiceEntry, said: &str) -> Service {
    Service {
        said: said.to_owned(),
        node_types: entry.actions.clone(),
    }
}

/// A service by its key, under the table's label.
pub fn named(key: &str) -> Service {
    lexicon::service(key).map_or_else(Service::default, |e| service_of(e, &e.label))
}

/// Services of the clause that are acted on or read from (no models, no agent tools).
pub fn services_in<'m>(m: &'m Masked, text: &str) -> Vec<&'m Entity> {
    m.all(text, "s")
        .into_iter()
        .filter(|e| {
            e.service
                .is_some_and(|s| !s.is("llm") && !s.is("tool") && !s.is("vector"))
        })
        .collect()
}

const ONE_FOR_ALL: &str = r"\b(?:one (?:single )?(?:mail|e-mail|email|message|list|report|digest|summary|file|post)|(?:a )?single (?:mail|e-mail|email|message|list|report|digest|summary|post)|as (?:a|one) (?:\w+ )?(?:list|table|digest|summary|report)|in (?:one|a single)|als eine \w+|in einer (?:einzigen )?(?:mail|nachricht|liste)|(?:eine einzige|als (?:liste|tabelle|übersicht))|un (?:solo|único) (?:correo|mensaje|informe)|(?:en|como) una (?:sola )?(?:lista|tabla)|un seul (?:e-?mail|message|mail)|(?:sous forme de|en une seule) (?:liste|tableau)|html[- ]table|not one (?:mail|message|e-mail)|(?:nicht|keine?) eine? \w+ pro|summary|digest|overview|übersicht|zusammenfassung|resumen|récapitulatif|the totals?|list of|csv|excel|xlsx|report)\b";

/// Steps for a clause that acts on services.
pub fn service_steps(mem: &mut Memory<'_>, text: &str) -> Vec<Step> {
    let m = mem.m;
    let opened = m.open(text);
    let Some((verb, _)) = verb_in(text).or_else(|| verb_in(&opened)) else {
        return sentence_without_verb(mem, text);
    };
    let (mut source, mut target) = source_and_target(m, text);
    let talks = |e: &Entity| {
        e.service
            .is_some_and(|s| s.is("mail") || s.is("chat") || s.is("sms"))
    };
    let tells =
        matches!(verb.verb.as_str(), "send" | "mail" | "post") && m.one(text, "m").is_some();
    // "mail the open Jira issues to a@b.io": the service is what is told about.
    if let (None, Some(t)) = (source, target)
        && tells
        && !talks(t)
        && t.service
            .is_some_and(|s| !s.is("newsletter") && !s.is("queue"))
    {
        source = target;
        target = None;
    }
    if let (Some(s), None) = (source, target)
        && verb.role == "action"
        && verb.verb != "import"
        && !(tells && !talks(s))
        && (talks(s) || !mail_like(m, text, verb))
    {
        // "create a task from the mail in Todoist" names no source service; "archive it in Drive" neither.
        target = Some(s);
        source = None;
    }
    let mut steps = Vec::new();
    // "send me the weather from https://…": the page is fetched first.
    if source.is_none()
        && verb.role == "action"
        && let Some(url) = m.after(
            r"\b(?:from|of|at|von|aus|de|depuis|desde)\s+(?:the (?:api|url|page|site)\s+)?(§u\d+§)",
            text,
        )
        && host_of(&url.value).is_none()
    {
        steps.push(mem.step(
            text,
            Does::Http {
                method: "GET".into(),
                url: url.value.clone(),
                query: Vec::new(),
                body: Vec::new(),
                auth: None,
                save_as_file: verb.verb == "upload",
                never_fail: false,
                rate_per_second: None,
            },
        ));
    }
    if let Some(src) = source
        && let Some(entry) = src.service
        && !is_trigger(mem, entry)
        && !mem.read.iter().any(|(e, _)| e.key == entry.key)
        && (target.is_some() || verb.role == "read" || mail_like(m, text, verb))
    {
        steps.push(read_step(mem, text, src));
        if target.is_some()
            && verb.role == "action"
            && let Some(filter) = crate::read::special::read_filter(
                mem,
                &rx(r"\s+(?:to|into|in|on|via|an|nach|a|en|sur|dans)\s+(?:the |our |my )?(?:channel )?(?:§[sc]\d+§\s*)(?:(?:to|into|in|on|via|an|nach|a|en|sur|dans)?\s*(?:channel )?§[sc]\d+§)*\s*$").replace(text, ""),
            )
        {
            steps.push(filter);
        }
    }
    if verb.role == "read"
        && source.is_none()
        && target.is_none()
        && m.one(text, "h").is_some()
        && let Some(entry) = mem
            .used
            .iter()
            .rev()
            .find(|e| e.key == "ssh" || e.key == "ftp")
            .copied()
    {
        // "fetch the resulting /var/x.gz": from where the command ran.
        let arguments = args::for_reading(mem, text, entry);
        let step = mem.step(
            text,
            Does::Service {
                service: service_of(entry, &entry.label),
                verb: Verb::Download,
                object: Some("file".into()),
                args: arguments,
                once: false,
            },
        );
        steps.push(step);
        return steps;
    }
    if verb.role == "read" && verb.verb == "get" && target.is_none() {
        if steps.is_empty()
            && source.is_none()
            && let Some(entry) = noun_service(text)
            && !is_trigger(mem, entry)
        {
            let object = object_in(text, "");
            let arguments = args::for_reading(mem, text, entry);
            let step = mem.step(
                text,
                Does::Service {
                    service: service_of(entry, &entry.label),
                    verb: if has(r"\b(?:search|mention\w*|containing|about)\b", text) {
                        Verb::Search
                    } else {
                        Verb::GetMany
                    },
                    object,
                    args: arguments,
                    once: false,
                },
            );
            mem.read.push((entry, step.id.clone()));
            return vec![step];
        }
        if steps.is_empty()
            && let Some(src) = source
            && src.service.is_some_and(|e| !is_trigger(mem, e))
        {
            steps.push(read_step(mem, text, src));
        }
        return steps;
    }
    if verb.role == "read"
        && let Some(t) = target
        && (source.is_none() || !has(INTO, text))
    {
        steps.push(read_step(mem, text, t));
        return steps;
    }
    if verb.role == "read"
        && source.is_none()
        && target.is_none()
        && steps.is_empty()
        && let Some(entry) = noun_service(text)
        && !is_trigger(mem, entry)
    {
        let object = object_in(text, "");
        let arguments = args::for_reading(mem, text, entry);
        let id = mem.step(
            text,
            Does::Service {
                service: service_of(entry, &entry.label),
                verb: Verb::GetMany,
                object,
                args: arguments,
                once: false,
            },
        );
        mem.read.push((entry, id.id.clone()));
        return vec![id];
    }
    if let Some(step) = write_back(mem, text, verb) {
        steps.push(step);
        return steps;
    }
    let file = args::file_format(&m.plain(&opened));
    let target_entry = target.and_then(|t| t.service);
    let entry = target_entry
        .or_else(|| {
            verb.service
                .as_deref()
                .and_then(lexicon::service)
                .filter(|s| s.key != "email")
        })
        .or_else(|| implied(mem, text, verb))
        .or_else(|| owner_of(mem, text, verb));
    let Some(entry) = entry else {
        if let Some(said) = unknown_service(mem, text) {
            let plain = lexicon::service("http")
                .map(|http| args::for_action(mem, text, http, &verb.verb))
                .unwrap_or_default();
            let v = if verb.role == "read" {
                Verb::GetMany
            } else {
                Verb::Create
            };
            let object = object_in(text, "");
            steps.push(mem.step(
                text,
                Does::Service {
                    service: Service {
                        said,
                        node_types: Vec::new(),
                    },
                    verb: v,
                    object,
                    args: plain,
                    once: false,
                },
            ));
        }
        return steps;
    };
    let said = target.map_or_else(|| entry.label.clone(), |t| t.value.clone());
    let mark = target
        .and_then(|t| m.entities.iter().position(|x| std::ptr::eq(x, t)))
        .map(|i| format!("§s{i}§"))
        .unwrap_or_default();
    let many = !mem.read.is_empty() || mem.trigger.is_none();
    let takes_text = entry.is("mail") || entry.is("chat") || entry.is("sms");
    // "post the open bugs to #dev", "… and mail them to a@b.io": one message with all of them.
    let read_here = steps.iter().any(|s| {
        matches!(&s.does, Does::Service { verb: Verb::GetMany, args, .. }
            if !args.iter().any(|a| a.role == Role::Limit && a.value == lit(1)))
    });
    let them = mem.trigger.is_none()
        && !mem.read.is_empty()
        && m.one(text, "mc").is_some()
        && has(
            r"^\S+\s+(?:them|these|those|the list|the results?|sie|diese|die liste|les|la liste|los|las)\b|^(?:envíal[oa]s|mándal[oa]s|publícal[oa]s|envoie-les)\b",
            strip_lead(text),
        );
    let apart = has(
        r"\b(?:each|every|individually|separate\w*|one by one|per|jede\w*|einzeln\w*|cada|chaque|pro)\b",
        text,
    );
    let listed = takes_text && (read_here || them) && !apart;
    let once = has(ONE_FOR_ALL, &opened) && many || listed;
    if once && takes_text && file.is_none() && !steps_are_one(mem, text) {
        let format = if has(
            r"\bhtml[- ]?(?:table|tabelle)|\btable\b|\btabelle\b|\btabla\b|\btableau\b",
            &opened,
        ) {
            "html_table"
        } else {
            "list"
        };
        steps.push(mem.step(
            text,
            Does::Aggregate {
                format: format.into(),
                group_by: args::group_by(m, text),
            },
        ));
    } else if let Some(group) = args::group_by(m, text).filter(|_| takes_text) {
        steps.push(mem.step(
            text,
            Does::Aggregate {
                format: "list".into(),
                group_by: Some(group),
            },
        ));
    }
    if let Some(format) = &file
        && (takes_text || entry.is("files"))
        && args::makes_file(&opened)
    {
        steps.push(mem.step(
            text,
            Does::ToFile {
                format: format.clone(),
                file_name: args::file_name(m, text),
            },
        ));
    }
    // "export all contacts from HubSpot to the sheet": read there, written here.
    let moved = verb.role == "read" && source.is_some() && target.is_some();
    let said_verb = if moved { "add" } else { verb.verb.as_str() };
    let mut v = service_verb(entry, said_verb, &opened);
    // "archive all cards in list Done": they are found first.
    let archives = has(r"\barchiv\w*\b", text)
        && (entry.is("task") || entry.is("issue") || entry.is("ticket") || entry.is("crm"));
    if archives {
        v = Verb::Update;
    }
    if matches!(v, Verb::Update | Verb::Delete | Verb::Move)
        && !is_trigger(mem, entry)
        && !mem.read.iter().any(|(e, _)| e.key == entry.key)
        && !entry.is("db")
        && has(
            r"\b(?:all|every|each|alle\w*|todos|todas|tous|toutes|any)\b",
            text,
        )
        && let Some(t) = target
    {
        steps.push(read_step(mem, text, t));
        if let Some(filter) = crate::read::special::read_filter(mem, text) {
            steps.push(filter);
        }
    }
    let mut object = if v == Verb::Call && entry.is("sms") {
        Some("call".to_owned())
    } else if (entry.is("chat") || entry.is("mail") || entry.is("sms"))
        && verb.verb != "draft"
        && !has(r"\bdrafts?\b|\bentwurf\b|\bborrador\b|\bbrouillon\b", text)
    {
        usual_object(entry).map(str::to_owned)
    } else {
        object_in(text, &mark)
            .filter(|o| suits(entry, o))
            .or_else(|| object_in(text, ""))
            .filter(|o| suits(entry, o) || verb.verb == "create" && matches!(o.as_str(), "list" | "folder" | "channel" | "board") && has(r"^(?:create|make|open|erstelle|crea|crée)\w*\s+(?:a|an|eine?\w*|un|una|une)\s", strip_lead(text)))
            .or_else(|| {
                verb.object
                    .clone()
                    .filter(|o| target_entry.is_none() && suits(entry, o))
            })
            .or_else(|| usual_object(entry).map(str::to_owned))
    };
    if entry.key == "twitter" {
        object = Some("tweet".into());
    }
    // "add the person to Brevo": its address book, no message.
    let listed = entry.is("mail")
        && matches!(
            verb.verb.as_str(),
            "add" | "save" | "create" | "upsert" | "import"
        )
        && entry.key != "email"
        && !has(
            r"\b(?:mails?|e-?mails?|messages?|drafts?|nachricht|correo|courriel|entwurf|borrador|brouillon)\b",
            text,
        );
    if listed {
        v = if v == Verb::Upsert { v } else { Verb::Create };
        object = Some("contact".into());
    }
    let mut arguments = args::for_action(mem, text, entry, &verb.verb);
    mem.remember_place(entry, &mut arguments);
    if has(r"\bdrafts?\b|\bentwurf\b|\bborrador\b|\bbrouillon\b", text) && v != Verb::Publish {
        v = Verb::Create;
        if entry.is("mail") {
            object = Some("draft".into());
        } else if entry.is("cms") && has(r"\bdrafts?\b", text) {
            object = Some("post".into());
            arguments.push(Arg {
                role: Role::Status,
                value: lit("draft"),
            });
        } else if !arguments.iter().any(|a| a.role == Role::Status) {
            arguments.push(Arg {
                role: Role::Status,
                value: lit("draft"),
            });
        }
    }
    if verb.verb == "publish"
        && entry.is("cms")
        && has(r"\bthe (?:post|article|draft|entry|beitrag)\b|\bit\b", text)
        && mem.used.iter().any(|e| e.key == entry.key)
    {
        v = Verb::Update;
        arguments.push(Arg {
            role: Role::Status,
            value: lit("publish"),
        });
    }
    if file.is_some() && takes_text && args::makes_file(&opened) {
        arguments.push(Arg {
            role: Role::Attachment,
            value: lit("data"),
        });
    }
    if entry.is("crm")
        && has(
            r"\b(?:it|them|him|her|ihn|sie|es|diesen|lo|la|los|le|les)\b",
            text,
        )
        && object.as_deref() == Some("contact")
        && let Some(topic) = mem
            .topic
            .as_deref()
            .filter(|t| matches!(*t, "lead" | "deal" | "company" | "opportunity"))
        && !mem.m.plain(text).to_lowercase().contains("contact")
    {
        object = Some(topic.to_owned());
    }
    if entry.is("issue") && object.as_deref() == Some("ticket") {
        object = Some("issue".into());
    }
    if entry.is("ticket") && object.as_deref() == Some("issue") {
        object = Some("ticket".into());
    }
    if matches!(entry.key.as_str(), "github" | "gitlab")
        && matches!(verb.verb.as_str(), "import" | "save" | "upload")
    {
        object = Some("file".into());
    }
    if entry.is("db")
        && v == Verb::Delete
        && let Some(sql) = delete_sql(entry, &arguments, text)
    {
        v = Verb::Query;
        arguments = vec![Arg {
            role: Role::Query,
            value: lit(sql),
        }];
    }
    // "to LinkedIn and Twitter": the same for each.
    let others: Vec<&Entity> = if mark.is_empty() {
        Vec::new()
    } else {
        let tail = first(
            &format!(
                r"{mark}((?:\s*(?:,|and|und|y|et|&|\+|plus|as well as|sowie)\s*(?:to |on |in |a |en |sur )?§s\d+§)+)"
            ),
            text,
        );
        tail.map(|t| services_in(m, t)).unwrap_or_default()
    };
    mem.used.push(entry);
    for other in others {
        if let Some(e) = other.service.filter(|e| !e.actions.is_empty()) {
            let more = mem.step(
                text,
                Does::Service {
                    service: service_of(e, &other.value),
                    verb: v,
                    object: object
                        .clone()
                        .filter(|o| suits(e, o))
                        .or_else(|| usual_object(e).map(str::to_owned)),
                    args: arguments.clone(),
                    once,
                },
            );
            steps.push(more);
            mem.used.push(e);
        }
    }
    let service = service_of(entry, &said);
    steps.push(mem.step(
        text,
        Does::Service {
            service,
            verb: v,
            object,
            args: arguments,
            once,
        },
    ));
    steps
}

fn steps_are_one(mem: &Memory<'_>, text: &str) -> bool {
    // A model's answer is one text already.
    let _ = text;
    mem.notes.iter().any(|n| n == "one item")
}

fn is_trigger(mem: &Memory<'_>, entry: &ServiceEntry) -> bool {
    mem.trigger.is_some_and(|t| t.key == entry.key)
}

/// "Negative ones also into Slack #x": the target says what to do.
fn sentence_without_verb(mem: &mut Memory<'_>, text: &str) -> Vec<Step> {
    let m = mem.m;
    if services_in(m, text).is_empty()
        && m.one(text, "m").is_none()
        && has(r"\b(?:e-?mail|mail|correo|courriel)\b", text)
    {
        let Some(entry) = lexicon::service("email") else {
            return Vec::new();
        };
        let mut args = args::for_action(mem, text, entry, "send");
        if !args.iter().any(|a| a.role == Role::To) {
            args.push(Arg {
                role: Role::To,
                value: crate::read::value::field("email"),
            });
        }
        return vec![mem.step(
            text,
            Does::Service {
                service: named("email"),
                verb: Verb::Send,
                object: Some("message".into()),
                args,
                once: false,
            },
        )];
    }
    if services_in(m, text).is_empty() && m.one(text, "ca").is_some() {
        let entry = mem
            .used
            .iter()
            .rev()
            .find(|e| e.is("chat"))
            .copied()
            .or_else(|| lexicon::service("slack"));
        if let Some(entry) = entry {
            let args = args::for_action(mem, text, entry, "send");
            return vec![mem.step(
                text,
                Does::Service {
                    service: service_of(entry, &entry.label),
                    verb: Verb::Send,
                    object: Some("message".into()),
                    args,
                    once: false,
                },
            )];
        }
    }
    // "the number of new Stripe customers …, as one e-mail to a@b.io"
    if let Some(source) = services_in(m, text).into_iter().find(|e| {
        e.service.is_some_and(|s| {
            !s.is("mail")
                && !s.is("chat")
                && !s.is("sms")
                && !s.actions.is_empty()
                && !is_trigger(mem, s)
        })
    }) && m.one(text, "m").is_some()
        && let Some(entry) = lexicon::service("email")
    {
        let read = read_step(mem, text, source);
        let all = mem.step(
            text,
            Does::Aggregate {
                format: "list".into(),
                group_by: None,
            },
        );
        let args = args::for_action(mem, text, entry, "send");
        let mail = mem.step(
            text,
            Does::Service {
                service: named("email"),
                verb: Verb::Send,
                object: Some("message".into()),
                args,
                once: true,
            },
        );
        return vec![read, all, mail];
    }
    let Some(target) = services_in(m, text).last().copied() else {
        if m.one(text, "m").is_some()
            && let Some(entry) = lexicon::service("email")
        {
            let args = args::for_action(mem, text, entry, "send");
            return vec![mem.step(
                text,
                Does::Service {
                    service: named("email"),
                    verb: Verb::Send,
                    object: Some("message".into()),
                    args,
                    once: false,
                },
            )];
        }
        return Vec::new();
    };
    let Some(entry) = target.service else {
        return Vec::new();
    };
    let verb = service_verb(entry, "add", text);
    let arguments = args::for_action(mem, text, entry, "add");
    let object = usual_object(entry)
        .map(str::to_owned)
        .or_else(|| object_in(text, ""));
    mem.used.push(entry);
    vec![mem.step(
        text,
        Does::Service {
            service: service_of(entry, &target.value),
            verb,
            object,
            args: arguments,
            once: false,
        },
    )]
}

/// Reading from a service.
pub fn read_step(mem: &mut Memory<'_>, text: &str, source: &Entity) -> Step {
    let m = mem.m;
    let Some(entry) = source.service else {
        return mem.step(text, Does::Nothing);
    };
    let mark = m
        .entities
        .iter()
        .position(|x| std::ptr::eq(x, source))
        .map(|i| format!("§s{i}§"))
        .unwrap_or_default();
    let verb_word = verb_in(text).map_or("get", |(v, _)| v.verb.as_str());
    let mut verb = service_verb(
        entry,
        if verb_word == "download" {
            "download"
        } else {
            "get"
        },
        text,
    );
    if verb == Verb::Download && m.one(text, "fh").is_none() {
        verb = Verb::GetMany;
    }
    let near = first(
        &format!(r"\b([\p{{L}}-]+)\s+(?:(?:from|of|in|aus|von|de|del|dans|en)\s+(?:the |our |my |der |dem |unser\w* |el |la |le )?)?{mark}"),
        text,
    )
    .and_then(|w| lexicon::noun(&w.to_lowercase()))
    .map(|n| n.canonical.clone());
    let behind = object_in(text, &mark);
    let object = near
        .filter(|o| {
            suits(entry, o) && !matches!(o.as_str(), "email" | "message") || entry.is("mail")
        })
        .or(behind)
        .filter(|o| suits(entry, o))
        .or_else(|| usual_object(entry).map(str::to_owned));
    let mut arguments = args::for_reading(mem, text, entry);
    mem.remember_place(entry, &mut arguments);
    if let Some(key) = m.after(r"\b(?:column|spalte|columna|colonne)\s+(§[qd]\d+§)", text) {
        mem.key = Some(key.value.clone());
    }
    let step = mem.step(
        text,
        Does::Service {
            service: service_of(entry, &source.value),
            verb,
            object,
            args: arguments,
            once: false,
        },
    );
    mem.read.push((entry, step.id.clone()));
    step
}
