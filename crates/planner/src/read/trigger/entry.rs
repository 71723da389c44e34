//! Triggers that the workflow offers itself: webhooks, forms, chats.

use super::event::{clause_lead, embedded, event_condition};
use super::*;
use crate::lexicon::capital;
use agentctl_base::lazy_regex::Captures;

pub(super) const WEBHOOK: &str = r"\b(?:web ?hooks?|api endpoint|rest endpoint|http endpoint|endpoint|posts? to (?:the )?(?:path )?§h|callback url|incoming http|http(?:s)? request comes in|punto de entrada)\b|\b(?:POST|GET|PUT|PATCH|DELETE)s? (?:to |on |request to )?(?:path |the path )?§h";

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

pub(super) fn webhook(
    mem: &mut Memory<'_>,
    clauses: &mut Vec<Clause>,
    whole: &str,
    found: &mut Found,
) {
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
        .or_else(|| m.one(&text, "h").map(|e| e.value.clone()))
        .or_else(|| {
            first(
                r"\bwebhook\s+(?:named |called |path )?([a-z0-9]+(?:-[a-z0-9]+)+)\b",
                &text,
            )
            .map(str::to_owned)
        });
    // "/greet?name=Ana": the path, and what the query holds
    let (path, asked) = match path.as_deref().and_then(|p| p.split_once('?')) {
        Some((head, query)) => (
            Some(head.to_owned()),
            query
                .split('&')
                .filter_map(|pair| pair.split('=').next())
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
        ),
        None => (path, Vec::new()),
    };
    let fields = body_fields(m, &clause.text);
    let fields = if !asked.is_empty() {
        asked
    } else if fields.is_empty() {
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
        file: false,
    });
    // The method in front of the path is no verb.
    let said = rx(r"\b(?-i:POST|GET|PUT|PATCH|DELETE)\s+(§h\d+§)").replace(
        &clause.text,
        |c: &Captures<'_>| {
            c.get(1)
                .map_or_else(String::new, |path| path.as_str().to_owned())
        },
    );
    let (event, done) = split_event(&said);
    let opens = has(r"^(?:(?:and|hey|hi|please),?\s+)?{if}\b", &clause.text);
    mem.topic = mem.topic.take().or_else(|| object_of(&m.plain(&event)));
    if opens
        && let Some(condition) =
            event_condition(m, &m.open(&event), None).or_else(|| and_holds(m, &event))
    {
        let step = mem.step(&event, Does::Filter { condition });
        found.first_steps.push(step);
    }
    // What stands behind "that …" is an action.
    let rest = done
        .as_deref()
        .or(first(
            r"(?:,\s*|\s)(?:that|which|der|die|das|que|qui)\s+(.+)$",
            &clause.text,
        ))
        .or(first(
            r"§h\d+§(?:\?\S*)?\s+(?:(?:must|should|shall|has to|needs to|will|muss|soll|debe|doit)\s+)?((?:returns?|answers?|responds?|gives?|delivers?|reply|replies|antworte\w*|liefer\w*|responde\w*|devolver|devuelv\w*|répond\w*|renvo\w*)\s.+)$",
            &clause.text,
        ))
        .or(first(
            r"§h\d+§(?:\?\S+)?(?:\s+§[rb]\d+§)?\s+((?:looks?|gets?|fetches|reads?|finds?|creates?|adds?|inserts?|saves?|stores?|sends?|posts?|runs?|starts?|calls?|writes?|searches|queries|deletes?|updates?)\s.+)$",
            &clause.text,
        ))
        .map(|r| clause_lead(r).to_owned());
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
    // "Build a webhook" before it say nothing more.
    for c in clauses.iter_mut().take(at) {
        if services_in(m, &c.text).is_empty() && !has(r"\bwait\b", &c.text) {
            c.text.clear();
        }
    }
    if let Some(next) = clauses.get_mut(at + 1)
        && !has(
            r"^(?:let|lass|have|ask)\b|\b(?:the|der|el|le) (?:webhook|endpoint) (?:returns?|answers?|responds?|antwortet|responde|renvoie)\b",
            &next.text,
        )
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
        .or(first(
            r"§h\d+§(?:\?\S*)?\s+(?:(?:must|should|shall|has to|needs to|will|muss|soll|debe|doit)\s+)?((?:returns?|answers?|responds?|gives?|delivers?|reply|replies|antworte\w*|liefer\w*|responde\w*|devolver|devuelv\w*|répond\w*|renvo\w*)\s.+)$",
            &next.text,
        ))
        .map(str::to_owned);
        next.text = rest.unwrap_or_default();
    }
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric) && !has(r"\b(?:callers?|clients?|requests?) (?:must )?(?:authenticate|are authenticated|need)|^(?:secured|protected) (?:by|with)", &c.text));
}

pub(super) fn body_fields(m: &Masked, text: &str) -> Vec<String> {
    fields_in(m, text)
}

pub(super) const FORM_KINDS: [(&str, &str); 9] = [
    (r"e-?mail|correo|courriel", "email"),
    (
        r"\b(?:date|datum|von|bis|from|to|until|fecha|desde|hasta|tag|day|birthday|geburtstag|start|end|du|au)\b",
        "date",
    ),
    (
        r"amount|betrag|number of|anzahl|quantity|menge|qty|importe|cantidad|montant|price|preis|\bage\b|\bdays\b|\btage\b|total|budget|rating|bewertung|puntuación|note sur",
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

/// "is called and the email is not empty": what must hold besides.
fn and_holds(m: &Masked, event: &str) -> Option<Cond> {
    let tail = first(
        r"\b(?:called|hit|triggered|invoked|received|arrives|comes in|aufgerufen|kommt|llega|arrive)\s+(?:and|und|y|et)\s+(.+)$",
        event,
    )?;
    cond::condition(m, tail)
}

/// A form of our own: the fields decide the kinds of input.
pub(super) fn form(
    mem: &mut Memory<'_>,
    clauses: &mut Vec<Clause>,
    whole: &str,
    first_steps: &mut Vec<Step>,
) -> Option<Trigger> {
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
    let listed = rx(r"\s+(?:is|are|gets?|wird|ist|es|est)\s+(?:submitted|filled|sent|received|completed|abgeschickt|ausgefüllt|gesendet|enviado|rellenado|soumis|envoyé|rempli)\b(.*)$")
        .replace(&t, |c: &Captures<'_>| {
            let rest = c.get(1).map_or("", |rest| rest.as_str());
            // "is submitted with name, email and age": what it holds is said behind it.
            if has(r"^\s*(?:with|mit|con|avec|§r)", rest) { rest.to_owned() } else { String::new() }
        })
        .into_owned();
    let names = fields_in(m, &listed);
    let names = if names.is_empty() {
        clauses
            .get(at + 1)
            .filter(|c| c.join == Join::Colon)
            .map(|c| crate::read::value::field_list(m, &c.text))
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
            let (label, options) = match label.split_once(':') {
                Some((name, choices)) if choices.contains('/') || choices.contains('|') => (
                    name.trim(),
                    choices
                        .split(['/', '|'])
                        .map(|s| s.trim().to_owned())
                        .filter(|s| !s.is_empty())
                        .collect(),
                ),
                _ => (label.as_str(), options),
            };
            // "topic dropdown A/B/C", "size select S/M/L"
            let inline = rx(r"^(.+?)\s+(?:as\s+)?(?:an?\s+)?(?:dropdown|select|choice|auswahl|radio|desplegable|liste déroulante)(?:\s+(?:of|with|from|aus|mit|con|avec))?\s+([^/|]+(?:[/|][^/|]+)+)$").captures(label);
            let (label, options) = match inline.as_ref().and_then(|c| Some((c.get(1)?.as_str(), c.get(2)?.as_str()))) {
                Some((name, choices)) if options.is_empty() => (
                    name,
                    choices
                        .split(['/', '|'])
                        .map(|s| s.trim().to_owned())
                        .filter(|s| !s.is_empty())
                        .collect(),
                ),
                _ => (label, options),
            };
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
    if has(r"^{if}\b", &t)
        && let Some(condition) = embedded(m, &t)
    {
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
    mem.choices = fields
        .iter()
        .find(|f| f.options.len() > 1)
        .map(|f| (f.label.clone(), f.options.clone()));
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
                let listed = r
                    .split_whitespace()
                    .next()
                    .is_some_and(|w| names.iter().any(|n| n.eq_ignore_ascii_case(w)));
                !listed
                    && lexicon::verb(r.split_whitespace().next().unwrap_or_default())
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

pub(super) fn title_of(m: &Masked, text: &str) -> String {
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
pub(super) fn chat(
    mem: &mut Memory<'_>,
    clauses: &mut Vec<Clause>,
    whole: &str,
    found: &mut Found,
) -> bool {
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
    if super::mention::mentioned(mem, clauses, whole, found) {
        return true;
    }
    let bot = clauses.iter().position(|c| has(r"\b(?:chat ?bot|bot|chat assistant|chat agent|chat widget|chat with (?:our|your|my)|assistant|asistente|assistent|chatbot|chat trigger|chat interface|live chat|website chat|(?:n8n|internal|plain|simple|hosted|own|interner|internen|chat) chat|chat (?:with|where|in which|mit|bei dem|in dem|wo|con|donde|en el que|avec|où|dans lequel)\b.{0,60}\b(?:agent\w*|llm|ai|ki|ia|claude|gpt|model\w*|modell\w*))\b", &m.open(&c.text)));
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
                && has(&format!(r"(?:{}[\s-]*(?:chat)?bot|(?:bot|assistant|agent|chatbot|asistente|assistent) (?:for|on|in|inside|via|über|en|auf|sur|dans|de) (?:our |my )?{}|(?:messages?|questions?|nachrichten|mensajes|preguntas|fragen)\b[^.]{{0,20}} (?:in|on|via|from|über|en|por|sur) {}|{}\s+assistant|{}\s+(?:agent|chat))",
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
