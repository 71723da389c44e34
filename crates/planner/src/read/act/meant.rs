//! What a clause means without naming it: the service behind a link, an address, a noun, "it".

use super::*;

/// "delete rows older than 90 days from table t": the node's own deletion cannot compare dates.
pub(super) fn delete_sql(entry: &ServiceEntry, arguments: &[Arg], text: &str) -> Option<String> {
    if !matches!(
        entry.key.as_str(),
        "postgres" | "mySql" | "timescaleDb" | "crateDb" | "snowflake" | "questDb"
    ) || !has(
        r"\b(?:older than|älter als|más antigu\w+ (?:de|que)|plus (?:vieux|ancien\w*) (?:de|que))\b",
        text,
    ) {
        return None;
    }
    let days = crate::read::when::duration(text)? / 86_400;
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

/// "write the result into column 'score' of that row": back into the table that was read.
pub(super) fn write_back(mem: &mut Memory<'_>, text: &str, verb: &VerbEntry) -> Option<Step> {
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
        value: crate::read::value::field(&column),
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
pub(super) fn mail_like(m: &Masked, text: &str, verb: &VerbEntry) -> bool {
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
pub(super) fn implied(
    mem: &Memory<'_>,
    text: &str,
    verb: &VerbEntry,
) -> Option<&'static ServiceEntry> {
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
    // "otherwise create it": in the service that was looked into.
    if matches!(verb.verb.as_str(), "create" | "add")
        && has(
            r"^\w+\s+(?:it|them|one|him|her|ihn|sie|es|einen|lo|la|le|un nouveau)\b",
            strip_lead(text),
        )
        && text.split_whitespace().count() <= 4
        && let Some(last) = mem
            .used
            .iter()
            .rev()
            .copied()
            .chain(mem.read.iter().rev().map(|(e, _)| *e))
            .find(|e| {
                e.is("crm")
                    || e.is("ticket")
                    || e.is("task")
                    || e.is("issue")
                    || e.is("newsletter")
                    || e.is("base")
            })
    {
        return Some(last);
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
        if (matches!(verb.verb.as_str(), "update" | "delete")
            || matches!(noun.as_str(), "comment" | "note" | "notiz"))
            && seen.is_some()
        {
            return seen;
        }
    }
    // "set sent to true", "mark them as done": the rows that were read, not what was told of them.
    if verb.verb == "update"
        && has(
            r"^(?:set|mark|flag|update|setze?n?|markiere?n?|marca\w*|pon|marque\w*|mets)\b",
            strip_lead(text),
        )
        && mem.used.last().is_some_and(|e| {
            e.is("queue") || e.is("chat") || e.is("mail") || e.is("sms") || e.is("files")
        })
        && let Some((rows, _)) = mem
            .read
            .iter()
            .rev()
            .find(|(e, _)| e.is("db") || e.is("sheet") || e.is("base"))
    {
        return Some(rows);
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
