//! One clause into steps: which verb on which service, with which arguments. Special actions (wait, HTTP, files, models)
//! are read in `special`; conditions and order are not decided here.

use crate::model::offline::lexicon::{self, ServiceEntry, VerbEntry, first, has, rx};
use crate::model::offline::plan::{Arg, Does, Role, Service, Step, Val, Verb};
use crate::model::offline::read::args;
use crate::model::offline::read::clause::strip_lead;
use crate::model::offline::read::text::{Entity, Masked};
use crate::model::offline::read::value::lit;

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
    /// A webhook started it: "answer with …" means its caller.
    pub answers_caller: bool,
    /// Fields that the data is known to have (form, webhook body, extraction).
    pub fields: Vec<String>,
    /// The column that names a row of the table read last.
    pub key: Option<String>,
    /// What the trigger is about: lead, order, ticket.
    pub topic: Option<String>,
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
            answers_caller: false,
            fields: Vec::new(),
            key: None,
            topic: None,
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

/// The verb that leads the clause: the first one; for German the one at the end.
pub fn verb_in(text: &str) -> Option<(&'static VerbEntry, usize)> {
    let t = strip_lead(text);
    let words: Vec<String> = t
        .split_whitespace()
        .map(|w| {
            w.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '§')
                .to_lowercase()
        })
        .collect();
    let mut fallback = None;
    // German: the verb stands at the end ("… an X gemailt werden").
    if lexicon::verb(words.first().map_or("", String::as_str)).is_none() && words.iter().any(|w| has(r"^(?:der|die|das|den|dem|und|ein|eine[nrms]?|im|am|an|auf|aus|mit|von|nach|zum|zur|ins|als|bei)$", w)) {
        let at = words.iter().enumerate().rev().take(3).find(|(_, w)| lexicon::verb(w).is_some_and(|v| v.role != "neutral") && has(r"(?:en|t)$", w));
        if let Some((i, w)) = at && let Some(v) = lexicon::verb(w) {
            return Some((v, i));
        }
    }
    // "lade … hoch": the verb's other half stands at the end.
    if words.last().is_some_and(|w| w == "hoch")
        && let Some(i) = words.iter().position(|w| has("^(?:lade|lad|lädt|laden)$", w))
        && let Some(v) = lexicon::verb("upload")
    {
        return Some((v, i));
    }
    for (i, w) in words.iter().enumerate() {
        let Some(v) = lexicon::verb(w) else { continue };
        let before = i
            .checked_sub(1)
            .and_then(|j| words.get(j))
            .map(String::as_str)
            .unwrap_or_default();
        // "the post", "a mail", "every order": a noun.
        let as_noun = lexicon::noun(w).is_some()
            && i > 0
            && (has(
                r"^(?:a|an|the|each|every|one|single|new|this|that|their|our|my|your|his|her|per|by|via|eine?\w*|der|die|das|den|jede\w*|un|una|el|la|los|las|le|les|cada|chaque|html|csv|urgent|same|summary|thank-you|welcome|open|of|in|as)$",
                before,
            ) || before.starts_with('§'));
        if as_noun {
            continue;
        }
        let next = words.get(i + 1).map(String::as_str).unwrap_or_default();
        // "gets added", "have it sent": the next verb is the real one.
        if matches!(w.as_str(), "get" | "gets")
            && has(r"^\w+(?:ed|en|t)$", next)
            && lexicon::verb(next).is_some()
        {
            continue;
        }
        if v.role == "neutral" {
            fallback = fallback.or(Some((v, i)));
            continue;
        }
        if i == 0 || !has(r"^(?:as|per|via|by|of)$", before) {
            return Some((v, i));
        }
    }
    fallback
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

const FROM: &str = r"\b(?:from|of|out of|in|inside|aus|von|laut|im|de|desde|del|en|dans|depuis|within)\s+(?:the |our |my |a |an |der |dem |unserem |la |el |los |las |nuestra |nuestro |notre |le )?(?:\w+ ){0,2}?";
const INTO: &str = r"\b(?:to|into|in|on|onto|via|through|using|over|with|by|at|an|nach|ins|im|in den|in die|in das|zu|zum|über|per|auf|a|al|en|por|à|au|dans|sur|par|against|for)\s+(?:the |our |my |a |an |same |der |die |das |den |dem |unser\w* |mein\w* |la |el |los |las |mi |nuestr\w+ |notre |mon |ma |le )?(?:\w+ ){0,2}?";

/// How a service stands in the clause: read from, or written to.
pub fn source_and_target<'m>(
    m: &'m Masked,
    text: &str,
) -> (Option<&'m Entity>, Option<&'m Entity>) {
    let mut found = services_in(m, text);
    // "send an SMS via Twilio" names one service twice.
    let mut keys: Vec<&str> = Vec::new();
    found.reverse();
    found.retain(|e| {
        let key = e.service.map_or("", |s| s.key.as_str());
        let fresh = !keys.contains(&key);
        keys.push(key);
        fresh
    });
    found.reverse();
    let mark_of = |e: &Entity| {
        m.entities
            .iter()
            .position(|x| std::ptr::eq(x, e))
            .map(|i| format!("§s{i}§"))
            .unwrap_or_default()
    };
    let talks = |e: &&Entity| {
        e.service
            .is_some_and(|s| s.is("mail") || s.is("chat") || s.is("sms"))
    };
    let keeps = |e: &&Entity| {
        e.service.is_some_and(|s| {
            !s.actions.is_empty() && !s.is("mail") && !s.is("chat") && !s.is("sms")
        })
    };
    if let (Some(to), Some(from)) = (
        found.iter().find(|e| talks(e)),
        found.iter().find(|e| keeps(e)),
    ) && found.len() == 2
        && has(
            r"^(?:send|mail|email|post|text|call|message|schick\w*|sende|envía|manda|envoie)\b",
            strip_lead(text),
        )
        && (has(
            &format!(
                r"\b(?:in|from|of|aus|von|en|de|dans)\s+(?:\w+ ){{0,3}}?{}",
                mark_of(from)
            ),
            text,
        ) || has(&format!(r"{}\s+[a-zäöü]{{3,}}", mark_of(from)), text))
        && !has(
            &format!(
                r"\b(?:to|into|an|nach|a|à)\s+(?:\w+ ){{0,2}}?{}",
                mark_of(from)
            ),
            text,
        )
    {
        return (Some(*from), Some(*to));
    }
    // "post the open Jira bugs to Slack", "guarda los pedidos de Shopify en …": what is moved stands before where it goes.
    if let [a, b] = found.as_slice()
        && verb_in(text).is_some_and(|(v, _)| {
            matches!(
                v.verb.as_str(),
                "send" | "mail" | "post" | "save" | "add" | "append" | "insert" | "import" | "upload" | "tweet"
            )
        })
        && has(&format!(r"{INTO}{}", mark_of(b)), text)
        && !has(&format!(r"\b(?:to|into|in|on|via|using|with|by|nach|ins|an|über|per|sur|dans)\s+(?:\w+ ){{0,3}}?{}", mark_of(a)), text)
        && (has(&format!(r"\b(?:de|del|aus|von|from|of)\s+(?:\w+ ){{0,2}}?{}", mark_of(a)), text)
            || has(&format!(r"{}(?:\s|-)+§?[\p{{L}}]{{3,}}", mark_of(a)), text)
            || has(&format!(r"\b[\p{{L}}]{{3,}}s {}", mark_of(a)), text))
    {
        return (Some(*a), Some(*b));
    }
    let mut source = None;
    let mut target = None;
    for e in &found {
        let mark = mark_of(e);
        let into = has(&format!("{INTO}{mark}"), text);
        let each = has(
            &format!(
                r"\b(?:for|für|para|pour)\s+(?:each|every|all|jede\w*|alle|cada|chaque|tous)\s+(?:\w+\s+){{1,3}}(?:in|from|of|aus|de|en|dans)\s+(?:the |our |my )?(?:\w+ )?{mark}"
            ),
            text,
        );
        let from = each
            || has(
                &format!(
                    r"\b(?:from|out of|aus|von|laut|desde|depuis|of)\s+(?:\w+ ){{0,3}}?{mark}"
                ),
                text,
            )
            || has(
                &format!(
                    "^(?:get |fetch |take |pull |collect |copy |sync |export |send |move )?(?:new|all|every|each|the|my|our|open|recent|latest|neue\\w*|alle)\\s+(?:\\w+ ){{0,2}}{mark}"
                ),
                strip_lead(text),
            ) && found.len() > 1;
        if from && source.is_none() {
            source = Some(*e);
        } else if into || target.is_none() {
            target = Some(*e);
        }
    }
    if found.len() == 1 && target.is_none() && source.is_some() {
        return (source, None);
    }
    (source, target)
}

/// The object of the clause: the noun next to the service or behind the verb.
pub fn object_in(text: &str, service: Option<&ServiceEntry>, mark: &str) -> Option<String> {
    let words: Vec<String> = strip_lead(text)
        .split_whitespace()
        .map(|w| {
            w.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '§' && c != '\'')
                .to_lowercase()
        })
        .collect();
    let noun_at = |i: usize| {
        let w = words.get(i)?;
        let two = words.get(i + 1).map(|n| format!("{w}-{n}"));
        two.and_then(|t| lexicon::noun(&t).map(|n| n.canonical.clone()))
            .or_else(|| lexicon::noun(w).map(|n| n.canonical.clone()))
    };
    if let Some(as_what) = first(
        r"\bas (?:an? )?(?:internal |private |public )?(note|comment|task)\b",
        text,
    ) {
        return Some(as_what.to_lowercase());
    }
    let verb_at = verb_in(text).map_or(0, |(_, i)| i);
    let stop = |w: &str| {
        has(
            r"^(?:to|in|into|from|on|with|for|via|aus|in|im|mit|en|de|desde|dans|avec|whose|who|that|which|as|of)$",
            w,
        )
    };
    for i in verb_at + 1..words.len() {
        if words.get(i).is_some_and(|w| stop(w)) {
            break;
        }
        if let Some(n) = noun_at(i) {
            return Some(n);
        }
    }
    if !mark.is_empty()
        && let Some(at) = words.iter().position(|w| w.starts_with(mark))
    {
        for i in at + 1..at + 3 {
            if words
                .get(i)
                .is_some_and(|w| has(r"^(?:to|in|into|for|with|from|and|who|by|per|via|on|#|§)", w))
            {
                break;
            }
            if let Some(n) = noun_at(i).filter(|n| {
                !matches!(
                    n.as_str(),
                    "project" | "list" | "channel" | "folder" | "repository"
                )
            }) {
                return Some(n);
            }
        }
    }
    let _ = service;
    None
}

/// The object that a service's plain verb means when none is said.
fn usual_object(entry: &ServiceEntry) -> Option<&'static str> {
    const USUAL: [(&str, &str); 15] = [
        ("chat", "message"),
        ("mail", "message"),
        ("sms", "sms"),
        ("sheet", "row"),
        ("db", "row"),
        ("base", "record"),
        ("files", "file"),
        ("task", "task"),
        ("issue", "issue"),
        ("ticket", "ticket"),
        ("crm", "contact"),
        ("newsletter", "member"),
        ("calendar", "event"),
        ("cms", "post"),
        ("social", "post"),
    ];
    USUAL.iter().find(|(tag, _)| entry.is(tag)).map(|(_, o)| *o)
}

/// "delete rows older than 90 days from table t": the node's own deletion cannot compare dates.
fn delete_sql(entry: &ServiceEntry, arguments: &[Arg], text: &str) -> Option<String> {
    if !matches!(
        entry.key.as_str(),
        "postgres" | "mySql" | "timescaleDb" | "crateDb" | "snowflake" | "questDb"
    ) || !has(
        r"\b(?:older than|älter als|más antigu\w+ (?:de|que)|plus (?:vieux|ancien\w*) (?:de|que))\b",
        text,
    ) {
        return None;
    }
    let days = crate::model::offline::read::when::duration(text)? / 86_400;
    let table = arguments
        .iter()
        .find(|a| a.role == Role::Part)
        .and_then(|a| match &a.value {
            Val::Lit { value } => value.as_str(),
            _ => None,
        })?;
    Some(if entry.key == "mySql" {
        format!("DELETE FROM {table} WHERE created_at < NOW() - INTERVAL {days} DAY")
    } else {
        format!("DELETE FROM {table} WHERE created_at < NOW() - INTERVAL '{days} days'")
    })
}

/// A noun of the request that can be an object of this kind of service: a tweet is no object of a database.
fn suits(entry: &ServiceEntry, object: &str) -> bool {
    if entry.is("sheet") || entry.is("db") {
        object == "row"
    } else if entry.is("base") {
        matches!(object, "record" | "page" | "comment" | "user")
    } else if entry.is("files") {
        matches!(object, "file")
    } else if entry.is("cms") {
        matches!(object, "post" | "page" | "comment" | "user" | "product")
    } else if entry.is("crm") {
        !matches!(
            object,
            "customer"
                | "user"
                | "subscriber"
                | "member"
                | "list"
                | "folder"
                | "channel"
                | "board"
                | "order"
                | "row"
        )
    } else if entry.is("calendar") {
        matches!(object, "event" | "calendar")
    } else {
        // "add it to the list": a container, unless it is what gets made.
        !matches!(object, "list" | "folder" | "channel" | "board")
    }
}

/// The verb of a service's own terms.
fn service_verb(entry: &ServiceEntry, verb: &str, text: &str) -> Verb {
    let upsert = has(
        r"\b(?:create or update|update or create|add or update|upsert|crea o actualiza\w*|crear o actualizar|anlegen oder aktualisieren|erstelle(?:n)? oder aktualisiere?n?|crée ou met\w* à jour|créer ou mettre à jour)\b",
        text,
    );
    if upsert {
        return Verb::Upsert;
    }
    let verb = if matches!(verb, "process" | "run" | "reply" | "call")
        && !entry.is("db")
        && !entry.is("sms")
        && entry.key != "ssh"
        && !(verb == "reply" && (entry.is("mail") || entry.is("ticket")))
    {
        "add"
    } else {
        verb
    };
    let writes = matches!(
        verb,
        "create"
            | "add"
            | "append"
            | "save"
            | "insert"
            | "post"
            | "send"
            | "import"
            | "upsert"
            | "mail"
            | "publish"
            | "upload"
    );
    match verb {
        "draft" => Verb::Create,
        "get" | "download" if entry.is("files") => {
            if has(r"\b(?:list|all|every|alle|todos|tous)\b", text) {
                Verb::GetMany
            } else {
                Verb::Download
            }
        }
        "get" | "download" => {
            if has(
                r"\b(?:search|searches|suche|suchen|busca|buscar|cherche|find|finde)\b",
                text,
            ) && !entry.is("db")
            {
                Verb::Search
            } else if has(
                r"^(?:\W*)(?:get|fetch|look up|lookup|read|find)\s+(?:the|a|an|that|one)\s+(?:\w+\s+){0,2}(?:by|with id|for this|for that)\b",
                text,
            ) {
                Verb::Get
            } else {
                Verb::GetMany
            }
        }
        "update" | "move" if entry.is("files") && verb == "move" => Verb::Move,
        "update" | "move" => Verb::Update,
        "delete" => Verb::Delete,
        "call" if entry.is("sms") => Verb::Call,
        "reply" if entry.is("mail") || entry.is("ticket") => Verb::Reply,
        "run" if entry.is("db") => Verb::Query,
        "run" => Verb::Run,
        "tweet" => Verb::Create,
        _ if entry.is("mail") || entry.is("sms") => Verb::Send,
        _ if entry.is("chat") => {
            if writes || verb == "reply" {
                Verb::Send
            } else {
                Verb::Post
            }
        }
        _ if entry.is("sheet") && writes => Verb::Append,
        _ if entry.is("db") && writes => Verb::Insert,
        _ if entry.is("files") && writes => Verb::Upload,
        "publish" if entry.is("cms") => Verb::Publish,
        _ if entry.is("queue") => Verb::Send,
        _ if writes => Verb::Create,
        _ => Verb::Create,
    }
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
            && let Some(filter) = crate::model::offline::read::special::read_filter(
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
        // "fetch the resulting /tmp/x": from where the command ran.
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
    if verb.verb == "import"
        && source.is_none()
        && target.is_some_and(|t| {
            t.service
                .is_some_and(|e| matches!(e.key.as_str(), "github" | "gitlab"))
        })
        && services_in(m, text).len() < 2
        && has(r"\bworkflows?\b", text)
    {
        let step = mem.step(
            text,
            Does::Service {
                service: named("n8n"),
                verb: Verb::GetMany,
                object: Some("workflow".into()),
                args: Vec::new(),
                once: false,
            },
        );
        steps.push(step);
    }
    if verb.role == "read" && verb.verb == "get" && target.is_none() {
        if steps.is_empty()
            && source.is_none()
            && let Some(entry) = noun_service(text)
            && !is_trigger(mem, entry)
        {
            let object = object_in(text, Some(entry), "");
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
        let object = object_in(text, Some(entry), "");
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
        .or_else(|| implied(mem, text, verb));
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
            let object = object_in(text, None, "");
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
        if let Some(filter) = crate::model::offline::read::special::read_filter(mem, text) {
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
        object_in(text, Some(entry), &mark)
            .filter(|o| suits(entry, o))
            .or_else(|| object_in(text, Some(entry), ""))
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

/// A name that no node stands for: "post it to Mastodon". Not in German, where every noun is capitalised.
fn unknown_service(mem: &Memory<'_>, text: &str) -> Option<String> {
    if mem.language == "de" {
        return None;
    }
    let plain = mem.m.plain(&rx(r"§[a-z]\d+§").replace_all(text, " "));
    let said = first(
        r"\b(?:to|into|on|in|from|via|using|with|en|a|sur|dans|vers|desde)\s+(?:our |the |my |nuestro |notre )?((?-i:[A-Z])[\w.-]{2,}(?:\s(?-i:[A-Z])\w+)?)",
        &plain,
    )?;
    (!has(r"^(?:csv|pdf|json|api|sql|llm|html|excel|utc|eur|usd|english|german|spanish|french|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|inbox|done|i)\b", said)).then(|| said.to_owned())
}

/// Tweets live on X, pull requests on GitHub.
fn noun_service(text: &str) -> Option<&'static ServiceEntry> {
    let words: Vec<String> = text
        .split_whitespace()
        .map(|w| {
            w.trim_matches(|c: char| !c.is_alphanumeric() && c != '-')
                .to_lowercase()
        })
        .collect();
    words.iter().enumerate().find_map(|(i, w)| {
        let two = words.get(i + 1).map(|n| format!("{w}-{n}"));
        two.and_then(|t| lexicon::noun(&t))
            .or_else(|| lexicon::noun(w))
            .and_then(|n| n.service.as_deref())
            .and_then(lexicon::service)
    })
}

/// "write the result into column 'score' of that row": back into the table that was read.
fn write_back(mem: &mut Memory<'_>, text: &str, verb: &VerbEntry) -> Option<Step> {
    let m = mem.m;
    if verb.role != "action"
        || !has(
            r"\b(?:column|columns|spalte|columna|colonne|field|feld|campo)\b",
            text,
        )
        || !has(
            r"\b(?:that|the same|this|its|same|each|dieser|derselben|jeweiligen|esa|misma|cette|même|back)\b",
            text,
        )
    {
        return None;
    }
    let (entry, _) = mem
        .read
        .iter()
        .rev()
        .find(|(e, _)| e.is("sheet") || e.is("base") || e.is("db"))?
        .clone();
    let column = m
        .after(
            r"\b(?:column|spalte|columna|colonne|field|feld|campo)\s+(§[qd]\d+§)",
            text,
        )
        .map(|e| e.value.clone())
        .or_else(|| {
            first(r"\b(?:column|spalte|columna|colonne)\s+([\w-]+)", text).map(str::to_owned)
        })?;
    let mut arguments = vec![Arg {
        role: Role::Field(column.clone()),
        value: crate::model::offline::read::value::field(&column),
    }];
    if let Some(key) = &mem.key {
        arguments.push(Arg {
            role: Role::MatchOn,
            value: lit(key.clone()),
        });
    }
    mem.used.push(entry);
    Some(mem.step(
        text,
        Does::Service {
            service: service_of(entry, &entry.label),
            verb: Verb::Update,
            object: Some("row".into()),
            args: arguments,
            once: false,
        },
    ))
}

/// A mail is meant although no mail service is named.
fn mail_like(m: &Masked, text: &str, verb: &VerbEntry) -> bool {
    (verb.service.as_deref() == Some("email")
        || matches!(
            verb.verb.as_str(),
            "send" | "post" | "mail" | "call" | "reply" | "add" | "draft"
        ))
        && (m.one(text, "m").is_some()
            || verb.service.as_deref() == Some("email")
            || has(
                r"\b(?:by|via|per|por|par|an?|thank-you|reminder|confirmation|one|einen?|eine|un|eine kurze)\s+(?:\w+\s+)?(?:e-?mails?|mails?|correo|courriel)\b|\be-?mail\b.*\bto\b|\bto\b.*\binbox\b",
                text,
            ))
}

/// The service that a verb or an address implies.
fn implied(mem: &Memory<'_>, text: &str, verb: &VerbEntry) -> Option<&'static ServiceEntry> {
    let m = mem.m;
    if mail_like(m, text, verb) {
        return lexicon::service("email");
    }
    if verb.verb == "call" || has(r"\b(?:sms|text message)\b", text) {
        return (m.one(text, "p").is_some() || has(r"\b(?:phone|handy|number)\b", text))
            .then(|| lexicon::service("twilio"))
            .flatten();
    }
    let channel = m.one(text, "ca").is_some();
    if channel {
        return mem
            .used
            .iter()
            .rev()
            .find(|e| e.is("chat"))
            .copied()
            .or_else(|| lexicon::service("slack"));
    }
    if has(
        r"\b(?:same|that|the|dieselbe|gleiche[ns]?|misma?|même)\s+(?:sheet|spreadsheet|table|base|database|list|channel|folder|tabelle|liste|hoja|feuille|chat|project|board)\b",
        text,
    ) {
        return mem.used.iter().rev().find(|e| !e.is("mail")).copied();
    }
    if verb.verb == "move" {
        return mem
            .read
            .iter()
            .rev()
            .map(|(e, _)| *e)
            .find(|e| e.is("files"))
            .or_else(|| mem.used.iter().rev().copied().find(|e| e.is("files")));
    }
    if let Some(key) = m.one(text, "u").and_then(|e| host_of(&e.value)) {
        return lexicon::service(key);
    }
    // "update the page", "add an internal comment": where such a thing was last seen.
    if matches!(
        verb.verb.as_str(),
        "update" | "add" | "delete" | "create" | "post" | "save"
    ) && let Some(noun) = first(
        r"\b(row|rows|page|record|entry|ticket|issue|contact|deal|lead|order|card|task|event|comment|note|zeile|eintrag|karte|fila|ligne|notiz)\b",
        text,
    ) {
        let noun = noun.to_lowercase();
        let fits = |e: &ServiceEntry| match noun.as_str() {
            "row" | "rows" | "zeile" | "fila" | "ligne" => e.is("sheet") || e.is("db"),
            "page" | "record" | "entry" | "eintrag" => e.is("base") || e.is("sheet"),
            "ticket" => e.is("ticket") || e.is("issue"),
            "issue" => e.is("issue"),
            "contact" | "deal" | "lead" => e.is("crm"),
            "order" => e.is("shop"),
            "comment" | "note" | "notiz" => {
                e.is("ticket") || e.is("issue") || e.is("crm") || e.is("task")
            }
            "card" | "task" | "karte" => e.is("task"),
            "event" => e.is("calendar"),
            _ => false,
        };
        let seen = mem
            .read
            .iter()
            .rev()
            .map(|(e, _)| *e)
            .chain(mem.trigger)
            .chain(mem.used.iter().rev().copied())
            .find(|e| fits(e) && !e.actions.is_empty());
        if matches!(verb.verb.as_str(), "update" | "delete")
            || matches!(noun.as_str(), "comment" | "note" | "notiz")
        {
            if seen.is_some() {
                return seen;
            }
        }
    }
    if matches!(
        verb.verb.as_str(),
        "publish" | "update" | "delete" | "move" | "reply" | "create" | "add" | "append"
    ) {
        return mem
            .used
            .iter()
            .rev()
            .copied()
            .chain(mem.read.iter().rev().map(|(e, _)| *e))
            .find(|e| match verb.verb.as_str() {
                "publish" => e.is("cms") || e.is("social"),
                "append" => e.is("sheet"),
                "create" | "add" => false,
                _ => !e.is("mail") && !e.is("chat"),
            })
            .filter(|_| {
                !(matches!(verb.verb.as_str(), "delete" | "move")
                    && mem.trigger.is_some_and(|t| !t.actions.is_empty()))
            })
            .or_else(|| {
                mem.trigger.filter(|t| {
                    matches!(verb.verb.as_str(), "delete" | "move" | "update")
                        && !t.actions.is_empty()
                })
            })
            .or_else(|| (verb.verb == "reply").then_some(mem.trigger).flatten());
    }
    if let Some(key) = m.one(text, "u").and_then(|e| host_of(&e.value)) {
        return lexicon::service(key);
    }
    if verb.verb == "append" {
        return lexicon::service("sheet");
    }
    if mem
        .trigger
        .is_some_and(|t| t.is("chat") && !t.actions.is_empty())
        && matches!(verb.verb.as_str(), "send" | "post" | "reply")
        && !has(r"\be-?mail\b|\bmail\b", text)
    {
        return mem.trigger;
    }
    if matches!(verb.verb.as_str(), "send" | "post" | "mail")
        && has(r"\b(?:mail|e-mail|email|correo|courriel)\b", text)
    {
        return lexicon::service("email");
    }
    None
}

/// The service that a link belongs to.
pub fn host_of(url: &str) -> Option<&'static str> {
    const HOSTS: [(&str, &str); 8] = [
        ("docs.google.com/spreadsheets", "googleSheets"),
        ("docs.google.com/document", "googleDocs"),
        ("drive.google.com", "googleDrive"),
        ("notion.so", "notion"),
        ("airtable.com", "airtable"),
        ("trello.com", "trello"),
        ("sharepoint.com", "microsoftSharePoint"),
        ("github.com", "github"),
    ];
    HOSTS
        .iter()
        .find(|(host, _)| url.contains(host))
        .map(|(_, key)| *key)
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
                value: crate::model::offline::read::value::field("email"),
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
    let Some(target) = services_in(m, text).last().copied() else {
        if m.one(text, "m").is_some() {
            let args = args::for_action(
                mem,
                text,
                lexicon::service("email").unwrap_or(&lexicon::services()[0]),
                "send",
            );
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
        .or_else(|| object_in(text, Some(entry), ""));
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
    let behind = object_in(text, Some(entry), &mark);
    let object = near
        .filter(|o| suits(entry, o) && !matches!(o.as_str(), "email" | "message") || entry.is("mail"))
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

/// The first word behind a name such as "template".
pub fn word_after<'t>(names: &str, text: &'t str) -> Option<&'t str> {
    first(
        &format!(r"\b(?:{names})\s+(?:named |called |namens |id |with id |is |: )?([\w.§<>-]+)"),
        text,
    )
}

/// True when the text has this mark kind behind a preposition.
pub fn stands_behind(words: &str, mark: &str, text: &str) -> bool {
    rx(&format!(r"\b(?:{words})\s+{mark}")).is_match(text)
}
