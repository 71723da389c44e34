//! What starts the workflow: a schedule, a webhook, a form, a chat, an event of a service, a hand. Takes the words of the
//! trigger out of the clauses, so that the rest can be read as actions.

use crate::model::offline::lexicon::{self, ServiceEntry, first, has, rx};
use crate::model::offline::plan::{
    Arg, Cmp, Cond, Does, FormField, Role, ScheduleRule, Service, Step, Trigger, WebhookAuth,
};
use crate::model::offline::read::act::{Memory, services_in};
use crate::model::offline::read::clause::{Clause, Join};
use crate::model::offline::read::cond;
use crate::model::offline::read::text::{Entity, Masked};
use crate::model::offline::read::value::{arg, field, fields_in, lit};
use crate::model::offline::read::when;

/// The trigger and what its own words already demand (only pushes to main, only failed pipelines).
#[derive(Debug, Default)]
pub struct Found {
    pub triggers: Vec<Trigger>,
    pub first_steps: Vec<Step>,
    /// No words of the request said when to start.
    pub guessed: bool,
}

const WEBHOOK: &str = r"\b(?:web ?hooks?|api endpoint|rest endpoint|http endpoint|endpoint|posts? to (?:the )?(?:path )?§h|callback url|incoming http|http(?:s)? request comes in|punto de entrada)\b|\b(?:POST|GET|PUT|PATCH|DELETE)s? (?:to |on |request to )?(?:path |the path )?§h";

pub fn find(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>) -> Found {
    let m = mem.m;
    let mut found = Found::default();
    take_schedules(clauses, &mut found);
    let whole = m.open(
        &clauses
            .iter()
            .map(|c| c.text.as_str())
            .collect::<Vec<_>>()
            .join(" . "),
    );
    if has(r"\bmcp[- ]server\b", &whole) {
        found.triggers.push(Trigger::McpServer {
            tools: Vec::new(),
            auth: auth_of(&whole),
            path: None,
        });
        return found;
    }
    if !found.triggers.is_empty() {
        return found;
    }
    let opening = clauses.first().map(|c| m.open(&c.text)).unwrap_or_default();
    if has(
        r"\b(?:any|another|a|the|this|my|our|other|some|one of (?:my|our)) (?:n8n )?workflows? (?:fails?|errors?|crash\w*|breaks?)\b|\bworkflow (?:error|failure)s?\b|\bwenn ein (?:anderer )?workflow (?:fehlschlägt|scheitert)|\b(?:un|otro) (?:workflow|flujo) fall\w+|\bun workflow échoue",
        &whole,
    ) {
        found.triggers.push(Trigger::Error);
        drop_clause(clauses, r"\bworkflow");
        return found;
    }
    let manual = has(r"\b{manual}\b", &whole);
    let called = has(
        r"\b(?:another|other|any|a parent|the parent|a main|the main) workflows? calls?\b|\b(?:called|triggered|invoked|started|run|usable|reusable) (?:by|from|as a?) ?(?:another|other|a different|any|sub-?)\s*-?(?:n8n )?workflows?\b|\bas a sub-?workflow\b|\bvon einem anderen workflow\b|\bdesde otro (?:workflow|flujo)\b",
        &whole,
    );
    if manual || called {
        if manual {
            found.triggers.push(Trigger::Manual);
        }
        if called {
            let inputs = first(r"\bwith (?:the )?(?:inputs?|parameters?)\s+([^.]+)|\bcalls? (?:it|this) with\s+([^.,]+)", &whole)
                .map(crate::model::offline::read::value::list)
                .unwrap_or_default();
            let inputs = inputs.iter().map(|i| m.plain(i)).collect();
            found.triggers.push(Trigger::SubWorkflow { inputs });
        }
        for c in clauses.iter_mut() {
            let t = rx(r"^(?:[\w -]{0,30},\s*)?(?:it(?:'s| is)?\s+)?(?:{manual})(?:\s+(?:or|oder|o|ou)\s+called (?:by|from) another workflow)?\s*[:,]?\s*").replace(&c.text, "").into_owned();
            c.text = t;
        }
        clauses.retain(|c| {
            c.text.chars().any(char::is_alphanumeric)
                && !has(r"^(?:{if}\s+(?:it(?:'s| is)?\s+|this (?:is\s+)?)?)?(?:called|triggered|invoked|started) (?:by|from)|^{if} (?:another|other|any|a parent|the parent|a main|the main) workflows? calls?\b", &c.text)
        });
        return found;
    }
    if has(WEBHOOK, &whole)
        && !has(
            r"\b(?:call|hit|send (?:it )?to|notify|ping) (?:a|the|our|this) webhook\b",
            &whole,
        )
    {
        webhook(mem, clauses, &whole, &mut found);
        return found;
    }
    if let Some(done) = form(mem, clauses, &whole, &mut found.first_steps) {
        found.triggers.push(done);
        return found;
    }
    if chat(mem, clauses, &whole, &mut found) {
        return found;
    }
    if service_event(mem, clauses, &mut found) {
        return found;
    }
    if standing_order(mem, clauses, &mut found) {
        return found;
    }
    found.guessed = true;
    found.triggers.push(Trigger::Manual);
    found
}

/// "Save Gmail attachments to Drive", "forward my Outlook mails to …": meant for every mail that comes.
fn standing_order(mem: &mut Memory<'_>, clauses: &mut [Clause], found: &mut Found) -> bool {
    let m = mem.m;
    let Some(text) = clauses.first().map(|c| c.text.clone()) else {
        return false;
    };
    let order = rx(r"^(?:automatically\s+|automatisch\s+)?(?:save|store|upload|forward|archive|back ?up|copy|speicher\w*|guarda|enregistre|sauvegarde)\s+((?:all\s+|my\s+|the\s+|our\s+|incoming\s+)*(?:(§s\d+§)\s+)?(?:e?-?mail\s+)?(?:attachments?|mails?|e-?mails|messages|anhänge|adjuntos|pièces jointes)(?:\s+(?:from|in|of|aus|de)\s+(?:my\s+|our\s+)?(§s\d+§))?)");
    let Some(caps) = order.captures(clause_lead(&text)) else {
        return false;
    };
    let (Some(event), Some(mark)) = (caps.get(1), caps.get(2).or(caps.get(3))) else {
        return false;
    };
    let Some(e) = m.entity(mark.as_str()) else {
        return false;
    };
    let Some(entry) = e.service.filter(|s| s.is("mail") && !s.triggers.is_empty()) else {
        return false;
    };
    push_event(mem, found, entry, Some(e), event.as_str(), &text);
    if let Some(c) = clauses.first_mut() {
        c.text = tidy(&text.replacen(mark.as_str(), "", 1));
    }
    true
}

fn drop_clause(clauses: &mut Vec<Clause>, pattern: &str) {
    if let Some(i) = clauses.iter().position(|c| has(pattern, &c.text)) {
        clauses.remove(i);
    }
}

/// Takes every schedule phrase out of the clauses.
fn take_schedules(clauses: &mut Vec<Clause>, found: &mut Found) {
    let mut rules: Vec<ScheduleRule> = Vec::new();
    let mut loose: Vec<ScheduleRule> = Vec::new();
    for c in clauses.iter_mut() {
        if has(
            r"\b(?:at most|no more than|max(?:imum)?|per second|rate limit)\b",
            &c.text,
        ) {
            continue;
        }
        let times = when::schedules(&c.text);
        for t in times.iter().rev() {
            // "the weekly report" says how often only if nothing else does.
            let word = c.text.get(t.span.clone()).unwrap_or_default();
            let adjective = !t.exact && has(r"^(?:daily|weekly|monthly|hourly|quarterly|yearly|annually|nightly)$", word.trim())
                && c.text.get(t.span.end..).is_some_and(|s| has(r"^\s+[a-z]", s) && !has(r"^\s+(?:and|at|on|get|fetch|check|send|run|post|pull|read|take|export|sync)\b", s));
            if adjective {
                loose.extend(t.rules.clone());
                continue;
            }
            rules.splice(0..0, t.rules.iter().cloned());
            let mut text = c.text.clone();
            text.replace_range(t.span.clone(), " ");
            c.text = tidy(&text);
        }
    }
    if rules.is_empty() {
        rules = loose;
    }
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
    if !rules.is_empty() {
        let mut unique: Vec<ScheduleRule> = Vec::new();
        for r in rules {
            if !unique.contains(&r) {
                unique.push(r);
            }
        }
        found.triggers.push(Trigger::Schedule { rules: unique });
    }
}

/// Spaces and punctuation left behind by a cut.
pub fn tidy(text: &str) -> String {
    let t = rx(r"\s+").replace_all(text, " ").into_owned();
    let t = rx(r"\s+([,.:;])").replace_all(&t, "$1").into_owned();
    t.trim_matches([' ', ',', ':', '-', '–', '.']).to_owned()
}

pub fn auth_of(text: &str) -> Option<WebhookAuth> {
    if has(r"\bbearer\b", text) {
        Some(WebhookAuth::Bearer)
    } else if has(r"\bjwt\b", text) {
        Some(WebhookAuth::Jwt)
    } else if has(r"\bbasic[- ]?auth\w*|\buser(?:name)? and password\b", text) {
        Some(WebhookAuth::Basic)
    } else if has(
        r"\b(?:header[- ](?:key|auth\w*|token)|api[- ]?key|x-api-key|secret header|key in (?:the|a) header|header.{0,20}(?:key|token|secret))\b",
        text,
    ) {
        Some(WebhookAuth::Header)
    } else {
        None
    }
}

fn webhook(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, whole: &str, found: &mut Found) {
    let m = mem.m;
    let at = clauses
        .iter()
        .position(|c| has(WEBHOOK, &m.open(&c.text)))
        .unwrap_or(0);
    mem.answers_caller = true;
    let Some(clause) = clauses.get(at).cloned() else {
        return;
    };
    let text = m.open(&clause.text);
    let method = first(r"\b((?-i:POST|GET|PUT|PATCH|DELETE))s?\b", &text)
        .map_or_else(|| "POST".to_owned(), str::to_uppercase);
    let path = m
        .after(
            r"(?:path|webhook|endpoint|to|on|at|url|POST|GET|PUT|PATCH|DELETE)\s*:?\s*(§h\d+§)",
            &text,
        )
        .map(|e| e.value.clone())
        .or_else(|| {
            first(
                r"\b(?:path|pfad|ruta|chemin)\s*:?\s+([\w/-]+)",
                &m.plain(&text),
            )
            .map(str::to_owned)
        })
        .or_else(|| m.one(&text, "h").map(|e| e.value.clone()));
    let fields = body_fields(m, &clause.text);
    let fields = if fields.is_empty() {
        body_fields(m, &text)
    } else {
        fields
    };
    mem.fields.clone_from(&fields);
    found.triggers.push(Trigger::Webhook {
        method,
        path,
        fields,
        auth: auth_of(whole),
    });
    let (event, done) = split_event(&clause.text);
    // What stands behind "that …" is an action.
    let rest = done.clone().or_else(|| {
        first(
            r"(?:,\s*|\s)(?:that|which|der|die|das|que|qui)\s+(.+)$",
            &clause.text,
        )
        .map(str::to_owned)
    });
    let opens = has(r"^(?:(?:and|hey|hi|please),?\s+)?{if}\b", &clause.text);
    mem.topic = mem.topic.take().or_else(|| object_of(&m.plain(&event)));
    if opens && let Some(condition) = event_condition(m, &m.open(&event)) {
        let step = mem.step(&event, Does::Filter { condition });
        found.first_steps.push(step);
    }
    if let Some(c) = clauses.get_mut(at) {
        match rest {
            Some(r)
                if lexicon::verb(
                    r.split_whitespace()
                        .next()
                        .unwrap_or_default()
                        .to_lowercase()
                        .as_str(),
                )
                .is_some() =>
            {
                c.text = r
            }
            _ => {
                c.text.clear();
            }
        }
    }
    // "Build a webhook", "Incident helper:" before it say nothing more.
    for c in clauses.iter_mut().take(at) {
        if services_in(m, &c.text).is_empty() && !has(r"\bwait\b", &c.text) {
            c.text.clear();
        }
    }
    if let Some(next) = clauses.get_mut(at + 1)
        && (has(WEBHOOK, &m.open(&next.text)) || has(r"^(?-i:POST|GET|PUT)\b", &next.text))
    {
        if let Some(Trigger::Webhook {
            method,
            path,
            fields,
            ..
        }) = found.triggers.last_mut()
        {
            let text = m.open(&next.text);
            if let Some(v) = first(r"\b((?-i:POST|GET|PUT|PATCH|DELETE))\b", &text) {
                *method = v.to_uppercase();
            }
            if path.is_none() {
                *path = m.one(&text, "h").map(|e| e.value.clone()).or_else(|| {
                    first(r"\bpath\s*:?\s+([\w/-]+)", &m.plain(&text)).map(str::to_owned)
                });
            }
            if fields.is_empty() {
                *fields = body_fields(m, &text);
                mem.fields.clone_from(fields);
            }
        }
        let rest = first(
            r"(?:,\s*|\s)(?:that|which|der|die|que|qui)\s+(.+)$",
            &next.text,
        )
        .map(str::to_owned);
        next.text = rest.unwrap_or_default();
    }
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric) && !has(r"\b(?:callers?|clients?|requests?) (?:must )?(?:authenticate|are authenticated|need)|^(?:secured|protected) (?:by|with)", &c.text));
}

fn body_fields(m: &Masked, text: &str) -> Vec<String> {
    fields_in(m, text)
}

const FORM_KINDS: [(&str, &str); 9] = [
    (r"e-?mail|correo|courriel", "email"),
    (
        r"\b(?:date|datum|von|bis|from|to|until|fecha|desde|hasta|tag|day|birthday|geburtstag|start|end|du|au)\b",
        "date",
    ),
    (
        r"amount|betrag|number of|anzahl|quantity|menge|qty|importe|cantidad|montant|price|preis|age|days|tage|total|budget",
        "number",
    ),
    (
        r"message|mensaje|nachricht|comment|reason|grund|motivo|description|beschreibung|purpose|details|feedback|motif|notes?",
        "textarea",
    ),
    (
        r"\b(?:file|datei|cv|resume|lebenslauf|attachment|upload|photo|receipt|beleg|archivo|document|invoice|pdf)\b",
        "file",
    ),
    (
        r"dropdown|auswahl|select|choice|one of|department|abteilung",
        "dropdown",
    ),
    (
        r"checkbox|consent|einwilligung|agree|newsletter\?",
        "checkbox",
    ),
    (r"password|passwort", "password"),
    (r".", "text"),
];

/// A form of our own: the fields decide the kinds of input.
fn form(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, whole: &str, first_steps: &mut Vec<Step>) -> Option<Trigger> {
    let m = mem.m;
    let at = clauses.iter().position(|c| {
        let t = m.open(&c.text);
        has(r"\b{form}s?\b|-formular\b|\bformular", &t)
            && !services_in(m, &c.text).iter().any(|e| {
                e.service
                    .is_some_and(|s| !s.triggers.is_empty() && has(r"form|survey", &s.key))
            })
    })?;
    let _ = whole;
    let clause = clauses.get(at)?.clone();
    let t = clause.text.clone();
    if has(r"\b(?:fill|fills|filled)\b.{0,20}\bpdf\b", &t) {
        return None;
    }
    let listed = rx(r"\s+(?:is|are|gets?|wird|ist|es|est)\s+(?:submitted|filled|sent|received|completed|abgeschickt|ausgefüllt|gesendet|enviado|rellenado|soumis|envoyé|rempli)\b.*$").replace(&t, "").into_owned();
    let names = fields_in(m, &listed);
    let names = if names.is_empty() {
        clauses
            .get(at + 1)
            .filter(|c| c.join == Join::Colon)
            .map(|c| crate::model::offline::read::value::field_list(m, &c.text))
            .unwrap_or_default()
    } else {
        names
    };
    let from_next = fields_in(m, &listed).is_empty() && !names.is_empty();
    let fields = names
        .iter()
        .map(|label| {
            let options: Vec<String> = first(r"\(([^()]*[/|][^()]*)\)", label)
                .map(|o| o.split(['/', '|']).map(|s| s.trim().to_owned()).collect())
                .unwrap_or_default();
            let plain = rx(r"\s*\([^()]*\)").replace(label, "").trim().to_owned();
            let kind = if options.is_empty() {
                FORM_KINDS
                    .iter()
                    .find(|(p, _)| has(p, label))
                    .map_or("text", |(_, k)| k)
            } else {
                "dropdown"
            };
            FormField {
                label: capital(&plain),
                kind: kind.to_owned(),
                options,
                required: !has("optional", label),
            }
        })
        .collect();
    mem.fields = names.clone();
    if has(r"^{if}\b", &t) && let Some(condition) = embedded(m, &t) {
        let step = mem.step(&t, Does::Filter { condition });
        first_steps.push(step);
    }
    mem.topic = object_of(&m.plain(&t));
    let mut fields: Vec<FormField> = fields;
    if fields.is_empty()
        && has(
            r"\b(?:upload\w*|pdfs?|files?|cvs?|resumes?|hochgeladen\w*|hochladen|subid\w*|fichiers?|photos?|images?)\b",
            &m.open(&t),
        )
    {
        fields.push(FormField {
            label: "File".into(),
            kind: "file".into(),
            options: Vec::new(),
            required: true,
        });
    }
    let title = title_of(m, &t);
    // Keep what else the clause says ("…, create the contact" was cut already).
    let rest = first(
        r"\b(?:and|→|then|,)\s+(.+)$",
        &rx(r"^.*?(?:{form})").replace(&t, ""),
    )
    .map(str::to_owned);
    if let Some(c) = clauses.get_mut(at) {
        let leads = lexicon::verb(
            clause_lead(&t)
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_lowercase()
                .as_str(),
        )
        .is_some_and(|v| v.verb != "create" && v.verb != "add")
            && fields_in(m, &t).is_empty();
        let without = leads.then(|| tidy(&rx(r"(?:,?\s*(?:that (?:are|is) |which (?:are|is) )?(?:uploaded|submitted|sent|received|coming in|entered|filled in)?\s*(?:via|through|by|with|in|from|over|über|mit|por|con|par|via)\s+(?:a|an|the|our|ein\w*|das|un|el|le)\s+(?:n8n[- ])?(?:web )?{form})").replace(&t, "")));
        c.text = without
            .or(rest.filter(|r| {
                lexicon::verb(r.split_whitespace().next().unwrap_or_default())
                    .is_some_and(|v| v.role == "action")
            }))
            .unwrap_or_default();
    }
    if from_next && let Some(c) = clauses.get_mut(at + 1) {
        c.text.clear();
    }
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
    Some(Trigger::Form { title, fields })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| {
        c.to_uppercase().collect::<String>() + chars.as_str()
    })
}

fn title_of(m: &Masked, text: &str) -> String {
    if let Some(e) = m.after(
        r"{form}\s+(?:called |named |titled |namens )?(§q\d+§)",
        text,
    ) {
        return e.value.clone();
    }
    let plain = m.plain(&rx(r"§[rb]\d+§").replace_all(text, ""));
    let name = first(r"((?:[\w-]+\s+){0,2}[\w-]*(?:form\b|formular\b|formulario(?: de \w+)?|formulaire(?: de \w+)?))", &plain).unwrap_or("Form");
    let name =
        rx(r"^(?:.*\b(?:the|a|an|our|das|ein|el|un|le|as|als|out|fills|rellene|ausfüllt|in)\s+)")
            .replace(name, "")
            .into_owned();
    capital(if name.is_empty() { "Form" } else { &name })
}

/// Chat assistants and bots.
fn chat(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, whole: &str, found: &mut Found) -> bool {
    let m = mem.m;
    if let Some(at) = clauses.iter().position(|c| has(r"^{if}\b.*\bchat (?:message|nachricht)|^{if}\b.*\b(?:mensaje de(?:l)? chat|message de chat|chat-nachricht)", &c.text) && services_in(m, &c.text).is_empty()) {
        let text = clauses.get(at).map(|c| c.text.clone()).unwrap_or_default();
        let (_, rest) = split_event(&text);
        if let Some(c) = clauses.get_mut(at) {
            c.text = rest.unwrap_or_default();
        }
        clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
        found.triggers.push(Trigger::Chat { public: false });
        return true;
    }
    let bot = clauses.iter().position(|c| has(r"\b(?:chat ?bot|bot|chat assistant|chat agent|chat widget|chat with (?:our|your|my)|assistant|asistente|assistent|chatbot|chat trigger|chat interface|live chat|website chat)\b", &m.open(&c.text)));
    let Some(at) = bot else { return false };
    let Some(text) = clauses.get(at).map(|c| m.open(&c.text)) else {
        return false;
    };
    let host = services_in(m, &text)
        .into_iter()
        .chain(services_in(m, whole))
        .find(|e| {
            e.service
                .is_some_and(|s| s.is("chat") && !s.triggers.is_empty())
                && has(&format!(r"(?:{}[\s-]*(?:chat)?bot|(?:bot|assistant|agent|chatbot|asistente|assistent) (?:for|on|in|inside|via|über|en|auf|sur|dans) (?:our |my )?{}|(?:messages?|questions?|nachrichten|mensajes|preguntas|fragen)\b[^.]{{0,20}} (?:in|on|via|from|über|en|por|sur) {}|{}\s+assistant|{}\s+(?:agent|chat))",
                        regex_mark(m, e),
                        regex_mark(m, e),
                        regex_mark(m, e),
                        regex_mark(m, e),
                        regex_mark(m, e)
                    ),
                    whole,
                )
        });
    if let Some(e) = host
        && let Some(entry) = e.service
    {
        mem.trigger = Some(entry);
        found
            .triggers
            .push(event_trigger(m, entry, e, "message", &text));
        if let Some(c) = clauses.get_mut(at) {
            c.text = if has(r"\bbot$", c.text.trim()) {
                String::new()
            } else {
                c.text.clone()
            };
        }
        clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
        return true;
    }
    if !has(
        r"\b(?:chat|chatbot|assistant|asistente|assistent|bot)\b",
        &text,
    ) {
        return false;
    }
    found.triggers.push(Trigger::Chat { public: has(r"\b(?:public|öffentlich\w*|website|web site|customers?|visitors?|kunden|clientes|público|homepage)\b", whole) });
    true
}

fn regex_mark(m: &Masked, e: &Entity) -> String {
    m.entities
        .iter()
        .position(|x| std::ptr::eq(x, e))
        .map(|i| format!("§s{i}§"))
        .unwrap_or_default()
}

fn event_trigger(
    m: &Masked,
    entry: &'static ServiceEntry,
    e: &Entity,
    event: &str,
    text: &str,
) -> Trigger {
    Trigger::Service {
        service: Service {
            said: e.value.clone(),
            node_types: entry.triggers.clone(),
        },
        event: m.plain(event),
        object: lexicon::noun(event)
            .map(|n| n.canonical.clone())
            .or_else(|| object_of(text)),
        args: filters(m, text, entry),
    }
}

fn object_of(text: &str) -> Option<String> {
    text.split_whitespace()
        .map(|w| {
            w.trim_matches(|c: char| !c.is_alphanumeric() && c != '-')
                .to_lowercase()
        })
        .find_map(|w| lexicon::noun(&w).map(|n| n.canonical.clone()))
}

/// What the trigger itself can filter on.
fn filters(m: &Masked, text: &str, entry: &ServiceEntry) -> Vec<Arg> {
    let mut out = Vec::new();
    let plain = m.plain(text);
    if let Some(repo) = first(
        r"\b(?:repo|repository|repositorio|dépôt)\s+([\w.-]+/[\w.-]+)",
        &plain,
    )
    .or(first(r"\b([\w-]+/[\w.-]+)\s+(?:repo|repository)\b", &plain))
    .or(first(r"\b(?:github|gitlab)\s+([\w-]+/[\w.-]+)", &plain))
    .or(first(r"\b(?:in|on|to|of|for)\s+([\w-]+/[\w-]+)\b", &plain).filter(|_| entry.is("issue")))
    {
        out.push(arg(Role::Container, lit(repo.trim_end_matches('.'))));
    } else if let Some(repo) = first(r"\b(?:repo|repository)\s+([\w.-]+)", &plain) {
        out.push(arg(Role::Container, lit(repo)));
    }
    if let Some(branch) = first(r"\b(?:to|on|auf|a|sur|into)\s+(?:the\s+|branch\s+)*(main|master|develop|production|staging|release[\w/.-]*)\b", &plain).or(first(r"\bbranch\s+([\w/.-]+)", &plain)) {
        out.push(arg(Role::Branch, lit(branch)));
    }
    if let Some(label) = m.after(r"\b(?:label(?:l?ed)?(?: with| as)?|tagged(?: with| as)?|label|etiqueta\w*(?: como)?|gelabelt als|markiert als|libellé\w*)\s+(§q\d+§)", text) {
        out.push(arg(Role::Label, lit(label.value.clone())));
    } else if let Some(label) = first(r"\b(?:label(?:l?ed)?|tagged)\s+(?:with\s+|as\s+)?([\w-]+)", &plain).filter(|w| !has(r"^(?:and|in|with|as|is|to|in)$", w)) {
        out.push(arg(Role::Label, lit(label)));
    }
    if let Some(name) = m.after(r"\b(?:folder|ordner|carpeta|dossier|sheet|spreadsheet|base|database|datenbank|board|list|liste|lista|project|table|form|calendar|kalender|tab|mailbox|workspace|audience)\s+(?:named |called |namens )?(§[qd]\d+§)", text).or_else(|| m.after(r"§s\d+§\s+(§q\d+§)", text)) {
        out.push(arg(Role::Container, lit(name.value.clone())));
    } else if let Some(u) = m.one(text, "u") {
        out.push(arg(if entry.key == "rssFeedRead" { Role::Url } else { Role::Container }, lit(u.value.clone())));
    } else if let Some(h) = m.one(text, "h") {
        out.push(arg(Role::Path, lit(h.value.clone())));
    } else if let Some(c) = m.one(text, "c").filter(|_| entry.is("chat")) {
        out.push(arg(Role::Channel, lit(c.value.clone())));
    }
    if let Some(t) = m
        .after(r"\b(?:table|tabelle|tabla)\s+(§[dq]\d+§)", text)
        .map(|e| e.value.clone())
        .or_else(|| first(r"\btable\s+([a-z_]\w+)", &plain).map(str::to_owned))
    {
        out.push(arg(Role::Part, lit(t)));
    }
    if has(
        r"\b(?:with|has|have|having|containing|mit|con|avec)\s+(?:an?\s+|pdf\s+|ein\w*\s+)?(?:pdf\s+)?(?:attachments?|anhang|anhänge\w*|adjuntos?|pièces? jointes?)\b|\bpdf attachments?\b|\battachments?\b",
        &m.open(text),
    ) {
        out.push(arg(Role::Attachment, lit(true)));
    }
    if let Some(e) = m.after(r"\b(?:from|von|de)\s+(§m\d+§)", text) {
        out.push(arg(Role::From, lit(e.value.clone())));
    }
    if let Some(s) = m.after(
        r"\b(?:subject|betreff|asunto|objet)\b.{0,30}?(§q\d+§)",
        text,
    ) {
        out.push(arg(Role::Subject, lit(s.value.clone())));
    }
    out
}

const EVENT_WORDS: &str = r"\b(?:{new}|comes? in|come in|arrives?|arrive|received?|receive|incoming|gets?|is|are|was|has been|have been|lands?|created|submitted|submits?|uploaded|added|adds|updated|changes?|changed|placed|paid|booked|books|booking|cancel\w*|starred?|star|react\w*|joins?|subscribes?|unsubscribes?|signs? up|posted|posts|mentions?|mentioned|published|opened|opens|closed|closes|merged|pushed|push|pushes|labell?ed|switches|moves?|fails?|failed|ends up|happens|detected|completed?|occurs?|stars?|wins?|won|exceeds?|llegue\w*|gets? (?:new|a)|verschoben|fills?|rellen\w+|llega\w*|recib\w+|entra\w*|crea(?:n|do)?|eintrifft|eingeht|kommt|ankommt|erstellt|ankomm\w+|reinkommt|hochgeladen|angelegt|arriv\w+|reçoi\w+|créé\w*|incoming|eingehende\w*|every|each)\b";

/// Something happens in a service.
fn service_event(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, found: &mut Found) -> bool {
    let m = mem.m;
    // "WooCommerce: as soon as an order …": the service stands before the colon.
    for i in 0..clauses.len() {
        let (Some(c), next) = (clauses.get(i).cloned(), clauses.get(i + 1).cloned()) else {
            continue;
        };
        if has(r"^§s\d+§$", c.text.trim())
            && let Some(next) = next
            && next.join == Join::Colon
        {
            if let Some(n) = clauses.get_mut(i + 1) {
                n.text = format!("{} ({})", next.text, c.text.trim());
            }
            clauses.remove(i);
            break;
        }
    }
    let candidates: Vec<usize> = (0..clauses.len()).collect();
    for i in candidates {
        let Some(c) = clauses.get(i).cloned() else {
            continue;
        };
        let text = c.text.clone();
        // "Alert me on Pushover when the price from CoinGecko is above 100": the event stands behind the action.
        if i == 0
            && let Some(caps) = rx(r"^(.+?)[,\s]+({if}|once)\s+(.+)$").captures(&text)
            && let (Some(action), Some(event)) = (caps.get(1), caps.get(3))
            && crate::model::offline::read::act::verb_in(action.as_str()).is_some()
            && has(EVENT_WORDS, event.as_str())
            && let Some(e) = services_in(m, event.as_str()).first().copied()
            && let Some(entry) = e.service
        {
            let (event, action) = (event.as_str().to_owned(), action.as_str().to_owned());
            push_event(mem, found, entry, Some(e), &event, &text);
            if let Some(slot) = clauses.get_mut(i) {
                slot.text = action;
            }
            return true;
        }
        let opens = has(
            r"^(?:(?:and|hey|hi|please),?\s+)?(?:(?:automatically|immer)\s+)?(?:{if}|on|upon|for (?:each|every|all|any)|each|every|after|bei|nach|jede\w*|für jede\w*|por cada|cada|para cada|pour chaque|à chaque|chaque|anything|{new}|incoming|eingehende\w*|al)\b",
            &text,
        );
        let services = services_in(m, &text);
        let event_noun = has(EVENT_WORDS, &text);
        let arrow_next = clauses.get(i + 1).is_some_and(|n| {
            n.join == Join::Arrow || n.join == Join::Colon && !has_action(&c.text)
        });
        let watches = has(
            r"^(?:watch|watches|monitor|monitors|listen|listens|keep an eye|überwache|beobachte|vigila|supervisa|surveille|observe)\b",
            clause_lead(&text),
        );
        let opens = opens || watches;
        let triggerable = services
            .iter()
            .find(|e| e.service.is_some_and(|s| !s.triggers.is_empty()))
            .copied()
            .or(services.first().copied());
        let mail = services.is_empty()
            && has(r"\b(?:mail|e-mail|email|correo|courriel)s?\b", &text)
            && (opens && event_noun
                || has(
                    r"\b(?:i get|i receive|arrives?|comes? in|incoming|eingehend)",
                    &text,
                ));
        let somebody = i == 0
            && c.join == Join::Start
            && !has_action(&text)
            && has(
                r"\b(?:customers?|people|users?|clients?|someone|everyone|visitors?|kunden|leute|nutzer|mitarbeiter|clientes|usuarios|personas|utilisateurs|we|i)\b.*\b(?:sends?|writes?|submits?|uploads?|posts?|orders?|books?|gets?|receives?|schick\w*|schreib\w*|senden|env[ií]an|escriben|suben|envoient|écrivent)\b",
                &text,
            )
            && services
                .iter()
                .any(|e| e.service.is_some_and(|s| !s.triggers.is_empty()));
        let by_if = somebody
            || has(r"^(?:(?:and|hey|hi|please),?\s+)?{if}\b", &text)
                && services
                    .iter()
                    .any(|e| e.service.is_some_and(|s| !s.triggers.is_empty()));
        let is_event = (somebody
            || opens && (watches || by_if || event_noun || c.join == Join::Start && arrow_next)
            || c.join == Join::Start && i == 0 && event_noun && (arrow_next || !has_action(&text)))
            && (triggerable.is_some() || mail);
        if is_event {
            let (event_text, rest) = split_event(&text);
            let services = services_in(m, &event_text);
            let chosen = services
                .iter()
                .find(|e| e.service.is_some_and(|s| !s.triggers.is_empty()))
                .copied()
                .or(services.first().copied());
            let entry = chosen
                .and_then(|e| e.service)
                .or_else(|| mail.then(|| lexicon::service("email")).flatten());
            let Some(entry) = entry else { continue };
            push_event(mem, found, entry, chosen, &event_text, &c.text);
            if let Some(slot) = clauses.get_mut(i) {
                slot.text = rest.unwrap_or_default();
                slot.join = Join::Start;
            }
            clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
            return true;
        }
        // "add every new Mailchimp subscriber to the sheet": the event is the object of the action.
        let inside = rx(
            r"\b(?:{each}\s+)?{new}\s+((?:[\w-]+\s+){0,2}?§s\d+§(?:\s+(?:§q\d+§|[\w-]+))?|(?:[\w-]+\s+){1,3}?(?:in|from|on|of|aus|von|en|de|dans)\s+(?:the |our |my |unser\w* |mein\w* )?(?:\w+ )?§s\d+§(?:\s+§q\d+§)?)|\b(?:{each}|incoming)\s+(§s\d+§\s+[\w-]+)",
        );
        if let Some(caps) = inside.captures(&text)
            && let Some(whole) = caps.get(0)
            && let Some(e) = services_in(m, whole.as_str()).first().copied()
            && let Some(entry) = e.service
            && (!entry.triggers.is_empty() || services.len() > 1)
        {
            let event = whole.as_str().to_owned();
            push_event(mem, found, entry, Some(e), &event, &text);
            let mark = regex_mark(m, e);
            if let Some(slot) = clauses.get_mut(i) {
                slot.text = tidy(&text.replacen(&mark, "", 1));
            }
            return true;
        }
    }
    false
}

fn clause_lead(text: &str) -> &str {
    crate::model::offline::read::clause::strip_lead(text)
}

fn has_action(text: &str) -> bool {
    let text = crate::model::offline::read::clause::strip_lead(text);
    let first_word = text
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let second = text
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_lowercase();
    lexicon::verb(&first_word).is_some()
        && (lexicon::noun(&first_word).is_none()
            || has(
                r"^(?:a|an|the|me|us|every|each|all|any|new|my|our|incoming|to|out)$",
                &second,
            ))
}

/// "If I star a mail in Gmail I want a page …", "New tickets should be classified …": event and action in one clause.
fn split_event(text: &str) -> (String, Option<String>) {
    for pattern in [
        r"^(.+?)\s+((?:i want|i'd like|i would like|we want|please|then|quiero|je veux|möchte ich|will ich|sollst? du|soll(?:en)?)\s+.+)$",
        r"^(.+?)\s+((?:should|shall|must|need to|needs to|have to|has to|sollen|soll|müssen|deben|debe|doivent|doit|get|gets|go to|goes to)\s+(?:be\s+)?.+)$",
    ] {
        if let Some(c) = rx(pattern).captures(text)
            && let (Some(a), Some(b)) = (c.get(1), c.get(2))
            && a.as_str().contains('§')
        {
            return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
        }
    }
    // "Bei jeder neuen Bewerbung in Workable eine Aufgabe in Asana anlegen": a phrase without a verb ends behind its service.
    if let Some(c) = rx(r"^((?:bei|nach|für jede\w*|pour chaque|à chaque|para cada|por cada|con cada|tras cada|al recibir)\b.*?§s\d+§(?:\s*(?:§[qr]\d+§|(?:-?(?:store|shop|repo|repository|board|list|kanal|liste|konto|postfach))\b))*)\s+(.+)$").captures(text)
        && let (Some(a), Some(b)) = (c.get(1), c.get(2))
        && crate::model::offline::read::act::verb_in(b.as_str()).is_some()
    {
        return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
    }
    // "let Claude review it", "transcribe the audio": work for a model starts here.
    if let Some(c) = rx(r"^(.+?§s\d+§.*?)\s+((?:let|have)\s+(?:§s\d+§|an? |the |ai\b|gpt|chatgpt|claude).+|(?:transcribe|translate|summari[sz]e|classify|extract|analy[sz]e|categori[sz]e)\s+(?:the|it|them|its|each|this|their)\b.+)$").captures(text)
        && let (Some(a), Some(b)) = (c.get(1), c.get(2))
    {
        return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
    }
    // An imperative after the event without a comma: "For each new order in our Shopify store append a row to …".
    if has(r"^(?:wenn|falls|sobald|immer wenn|jedes mal)\b", text) {
        return (text.to_owned(), None);
    }
    let words: Vec<(usize, &str)> = rx(r"\S+")
        .find_iter(text)
        .map(|f| (f.start(), f.as_str()))
        .map(|(s, w)| (s, text.get(s..s + w.len()).unwrap_or_default()))
        .collect();
    let mut seen_service = false;
    for (i, (start, word)) in words.iter().enumerate() {
        seen_service |= word.contains("§s") || word.contains("§h") || has(r"^(?:web-?hook|form|formular|endpoint)$", word);
        let lower = word
            .trim_matches(|c: char| !c.is_alphanumeric() && c != '-')
            .to_lowercase();
        let prev = i
            .checked_sub(1)
            .and_then(|j| words.get(j))
            .map_or("", |w| w.1);
        let next = words.get(i + 1).map_or("", |w| w.1);
        if i > 2
            && seen_service
            && (lexicon::verb(&lower).is_some_and(|v| v.role != "neutral")
                || lexicon::verb(&lower).is_some()
                    && next.starts_with(|c: char| c.is_ascii_digit()))
            && has(
                r"^(?:\d+|a|an|the|it|them|me|us|§\S*|to|in|eine?\w*|den|die|das|un|una|el|la|le|les|him|her|all|my|our|every|new)$",
                next,
            )
            && !has(
                r"^(?:the|a|an|to|is|are|was|i|we|someone|customer|user|they|of|and|or|who|that|gets|been|new|every|each)$",
                prev,
            )
            && !prev.ends_with(':')
            // "a deal changes to won": told of the event, not asked for.
            && !(lower.ends_with('s') && has(r"^{if}\b", text))
        {
            return (
                text.get(..*start).unwrap_or_default().trim().to_owned(),
                text.get(*start..).map(str::to_owned),
            );
        }
    }
    (text.to_owned(), None)
}

fn push_event(
    mem: &mut Memory<'_>,
    found: &mut Found,
    entry: &'static ServiceEntry,
    e: Option<&Entity>,
    event: &str,
    said: &str,
) {
    let m = mem.m;
    mem.trigger = Some(entry);
    mem.topic = object_of(&m.plain(&rx(r"§s\d+§").replace_all(&m.open(event), " ")));
    let words = m.plain(
        &rx(r"^(?:{if}|for (?:each|every|all|any)|on (?:each|every)|bei jede\w*)\s+")
            .replace(event, ""),
    );
    let opened = m.open(event);
    if entry.triggers.is_empty() {
        let step = match e {
            Some(e) => crate::model::offline::read::act::read_step(mem, event, e),
            None => mem.step(event, Does::Nothing),
        };
        found.triggers.push(Trigger::Poll {
            every: ScheduleRule::Minutes { n: 15 },
            step: Box::new(step),
        });
        let key = mem.step(
            event,
            Does::Dedupe {
                key: field("id"),
                window_seconds: None,
            },
        );
        found.first_steps.push(key);
    } else {
        found.triggers.push(Trigger::Service {
            service: Service {
                said: e.map_or_else(|| entry.label.clone(), |e| e.value.clone()),
                node_types: entry.triggers.clone(),
            },
            event: words,
            object: object_of(&m.plain(&rx(r"§s\d+§").replace_all(&opened, " "))),
            args: filters(m, event, entry),
        });
    }
    if let Some(condition) = event_condition(m, &opened) {
        let step = mem.step(said, Does::Filter { condition });
        found.first_steps.push(step);
    }
}

/// What the event's words ask beyond the event: a branch, a state, a sender, a figure.
const FIGURED: &str = r"(?:over|above|more than|at least|below|under|less than|greater than|higher than|lower than|exceed\w*|über|mehr als|unter|mindestens|más de|mayor (?:de|que|a)|menos de|superior a|inferior a|plus de|moins de|supérieure? à|inférieure? à|>=?|<=?)";

/// A condition that the event's clause carries with it: "… with a rating below 3", "… and the budget is over 100",
/// "… an order over 100 EUR", "… whose country is Germany", "… with severity critical or high".
fn embedded(m: &Masked, event: &str) -> Option<Cond> {
    let figured = rx(&format!(
        r"\b(?:with|having|has|have|and|whose|where|mit|con|avec|und|dont|cuyo|cuya)\s+(?:an?\s+|the\s+|its\s+|their\s+|ein\w*\s+|der\s+|die\s+|das\s+|un\w?\s+|el\s+|la\s+|le\s+)?(?:column\s+|field\s+)?([\p{{L}}][\p{{L}}\d_ -]{{1,28}}?)\s+(?:is\s+|are\s+|of\s+|von\s+|ist\s+|es\s+|est\s+|de\s+)?({FIGURED}\s*[$€£]?\s?\d[\d.,]*)"
    ));
    if let Some(c) = figured.captures(event)
        && let (Some(name), Some(tail)) = (c.get(1), c.get(2))
        && let Some(Cond::Compare { op, right, .. }) = cond::condition(m, tail.as_str())
    {
        return Some(Cond::Compare {
            left: field(name.as_str()),
            op,
            right,
        });
    }
    if let Some(tail) = first(&format!(r"({FIGURED}\s+[$€£]?\s?\d[\d.,]*\s?(?:k\b)?)"), event)
        && let Some(Cond::Compare { op, right, .. }) = cond::condition(m, tail)
        && has(
            &format!(r"\b(?:order|payment|invoice|deal|charge|donation|purchase|sale|refund|bestellung|zahlung|rechnung|spende|pedido|pago|factura|commande|paiement|facture|expense|transaction|subscription|opportunity)\w*\s+(?:(?:is|are|of|worth|von|de|ist|es|est|in)\s+)?{FIGURED}"),
            &m.plain(&rx(r"§s\d+§").replace_all(event, "")),
        )
    {
        return Some(Cond::Compare {
            left: field("amount"),
            op,
            right,
        });
    }
    const STATES: &str = "status|state|severity|priority|type|category|country|language|plan|source|label|severität|priorität|land|typ|estado|prioridad|país|tipo|statut|priorité|pays";
    if let Some(c) = rx(&format!(r"\b(?:with|mit|con|avec)\s+(?:an?\s+|the\s+)?({STATES})\s+(?:of\s+)?(§q\d+§|[\w-]+)(?:\s+(?:or|oder|o|ou)\s+(§q\d+§|[\w-]+))?")).captures(event)
        && let (Some(name), Some(one)) = (c.get(1), c.get(2))
        && !has(r"^(?:and|in|is|und)$", one.as_str())
    {
        let value = |w: &str| m.entity(w).map_or_else(|| w.to_owned(), |e| e.value.clone());
        let is = |w: &str| Cond::Compare {
            left: field(name.as_str()),
            op: Cmp::Eq,
            right: lit(value(w)),
        };
        return Some(match c.get(3) {
            Some(two) => Cond::Any {
                of: vec![is(one.as_str()), is(two.as_str())],
            },
            None => is(one.as_str()),
        });
    }
    // "… and the email is empty", "… whose country is Germany"
    let tail = first(
        r"\b(?:whose|where|cuyo|cuya|dont|deren|dessen)\s+((?:the\s+|el\s+|la\s+|le\s+)?.+)$|\band\s+((?:the|its|their)\s+[\w -]{2,30}?\s+(?:is|are|has|contains|equals|starts|ends)\s.+)$|\b((?:(?:the\s+)?(?:subject|title|body|text|name|betreff|asunto|objet)\s+(?:line\s+)?)?(?:contains?|containing|enthält|contiene|contient)\s+§q\d+§)",
        event,
    )?;
    let found = cond::condition(m, tail)?;
    match &found {
        Cond::Compare {
            op: Cmp::IsTrue, ..
        } => None,
        // "whose country is Germany": the word before "is" is the field, whatever it is called.
        Cond::Compare { left: crate::model::offline::plan::Val::Field { name, .. }, op: op @ (Cmp::Eq | Cmp::Ne), right } if name == "status" => {
            let said = first(r"^(?:the\s+|its\s+|their\s+)?([\w -]{2,30}?)\s+(?:is|are|equals)\b", tail).unwrap_or("status");
            Some(Cond::Compare { left: field(said), op: *op, right: right.clone() })
        }
        _ => Some(found),
    }
}

fn event_condition(m: &Masked, event: &str) -> Option<Cond> {
    let mut all = Vec::new();
    let plain = m.plain(event);
    if let Some(c) = embedded(m, event) {
        return Some(c);
    }
    let cmp = |name: &str, op: Cmp, v: &str| Cond::Compare {
        left: field(name),
        op,
        right: lit(v),
    };
    if has(r"\b(?:push|pushes|commit|commits|merge)\b", &plain)
        && let Some(branch) = first(r"\b(?:to|on|auf|a|sur|into)\s+(?:the\s+|branch\s+)*(main|master|develop|production|staging|release[\w/.-]*)\b", &plain).or(first(r"\bbranch\s+([\w/.-]+)", &plain))
    {
        all.push(Cond::Compare { left: field("ref"), op: Cmp::Eq, right: lit(format!("refs/heads/{branch}")) });
    } else if let Some(state) = first(r"\b(?:switch(?:es|ed)?|chang(?:es|ed)?|moves?|moved|goes|set|turns|wechselt|geändert|pasa|cambia|passe|transitions?)\s+(?:its status\s+|status\s+)?(?:to|into|in|auf|zu|a|à|en)\s+(?:the\s+)?(?:status|stage|state|status|estado)?\s*[\x22'„“]?([\w -]+?)[\x22'”“]?(?:$|,| in | on | \()", &plain)
        .or(first(r"\b(?:ends up|ended up|ends|ended|finishes|finished)\s+(?:as\s+|with\s+|in\s+|with status\s+)?(\w+)", &plain))
        .or(first(r"\bwith (?:the )?(?:status|state|stage)\s+[\x22']?(\w+)", &plain))
        .or(first(r"\b(?:pipeline|build|job|deployment|deploy|workflow run|payment|charge|run|check)s?\s+(fail(?:s|ed)?|succeed(?:s|ed)?)\b", &plain).map(|w| if has("^fail", w) { "failed" } else { "success" }))
        .or(first(r"\bdeals?\s+(?:is|are|was|gets?)\s+(?:marked\s+(?:as\s+)?)?(won|lost)\b", &plain))
        .or(first(r"\b(failed|successful|cancelled|canceled|urgent|high[- ]priority)\s+(?:\w+\s+)?(?:pipeline|build|job|deployment|ticket|order|run)s?\b", &plain))
    {
        let name = if has(r"\bstage\b|\bdeal\b", &plain) { "stage" } else if has(r"urgent|priority", state) { "priority" } else { "status" };
        all.push(cmp(name, Cmp::Eq, rx(r"[- ]priority").replace(state.trim(), "").as_ref()));
    }
    if let Some(tail) = first(
        r"\b((?:over|above|more than|at least|below|under|less than|greater than|exceed\w*|über|mehr als|unter|más de|plus de|mindestens)\s+[$€£]?\s?\d[^,]*)",
        event,
    ) && let Some(c) = cond::condition(m, tail)
    {
        all.push(c);
    }
    if all.is_empty()
        && has(r"\d", &rx(r"§[a-z]\d+§").replace_all(event, ""))
        && has(
            r"\b(?:is|are|es|est|ist|drops?|falls?|goes|exceeds?|below|above|over|under|more than|less than|menor|mayor|más de|menos de|unter|über|at least|more than|occurs?)\b",
            event,
        )
        && let Some(c) = cond::condition(m, event)
        && !matches!(
            &c,
            Cond::Compare {
                op: Cmp::IsTrue,
                ..
            }
        )
    {
        all.push(c);
    }
    if let Some(e) = m.after(r"\b(?:from|von|de)\s+(§m\d+§)", event) {
        all.push(Cond::Compare {
            left: field("from"),
            op: Cmp::Contains,
            right: lit(e.value.clone()),
        });
    }
    if let Some(tail) = first(
        r"\b(?:whose|where|if its?|mit|deren|dessen|cuyo)\s+(.+)$",
        event,
    ) && all.is_empty()
        && let Some(c) = cond::condition(m, tail)
    {
        all.push(c);
    }
    if let Some(tail) = first(r"\b((?:the )?(?:subject|title|text|body|message|name|betreff|asunto)\s+(?:contains?|containing|includes?|starts? with|enthält|contiene)\s+.+)$", event)
        .or(first(r"\b(containing\s+§q\d+§)", event))
        && let Some(c) = cond::condition(m, tail)
    {
        all.push(c);
    }
    match all.len() {
        0 => None,
        1 => all.pop(),
        _ => Some(Cond::All { of: all }),
    }
}
