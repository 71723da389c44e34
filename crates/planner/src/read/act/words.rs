//! Which verb, which object, which service is source and which is target: the grammar of one clause.

use super::*;

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
        && let Some(i) = words
            .iter()
            .position(|w| has("^(?:lade|lad|lädt|laden)$", w))
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

pub(super) const INTO: &str = r"\b(?:to|into|in|on|onto|via|through|using|over|with|by|at|an|nach|ins|im|in den|in die|in das|zu|zum|über|per|auf|a|al|en|por|à|au|dans|sur|par|against|for)\s+(?:the |our |my |a |an |same |der |die |das |den |dem |unser\w* |mein\w* |la |el |los |las |mi |nuestr\w+ |notre |mon |ma |le )?(?:\w+ ){0,2}?";

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
            r"^(?:send|mail|email|post|text|call|message|schick\w*|sende|envía|manda|envoie|poste|publie|publica|share|teile)\b",
            strip_lead(text),
        )
        && (has(
            &format!(
                r"\b(?:in|from|of|aus|von|en|de|dans)\s+(?:\w+ ){{0,3}}?{}",
                mark_of(from)
            ),
            text,
        ) || has(&format!(r"{}\s+[a-zäöü]{{3,}}", mark_of(from)), text)
            || first(&format!(r"([\w-]+)\s+{}", mark_of(from)), text)
                .is_some_and(|w| lexicon::noun(&w.to_lowercase()).is_some()))
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
    // "back up the Postgres table t to SFTP /x": what goes, and where to.
    if let [one, two] = found.as_slice()
        && has(
            r"^(?:back(?: it)?[ -]?up|backup|sync\w*|copy|export|import|move|transfer|push|mirror|replicate|load|save|archive|upload|write|migrate|send|exportiere?n?|kopiere?n?|sichere?n?|übertrage?n?|copia|exporta|sincroniza|copie|exporte|synchronise)\b",
            strip_lead(text),
        )
        && has(
            &format!(
                r"\b(?:to|into|nach|zu|a|en|vers|dans|in|auf)\s+(?:the |our |my |den |die |das |el |la )?(?:\w+ ){{0,2}}?{}",
                mark_of(two)
            ),
            text,
        )
        && !has(
            &format!(
                r"\b(?:to|into|nach|in|via|with|per|mit|using)\s+(?:the |our |my )?(?:\w+ ){{0,2}}?{}",
                mark_of(one)
            ),
            text,
        )
    {
        return (Some(*one), Some(*two));
    }
    // "post the open Jira bugs to Slack", "guarda los pedidos de Shopify en …": what is moved stands before where it goes.
    if let [a, b] = found.as_slice()
        && verb_in(text).is_some_and(|(v, _)| {
            matches!(
                v.verb.as_str(),
                "send"
                    | "mail"
                    | "post"
                    | "save"
                    | "add"
                    | "append"
                    | "insert"
                    | "import"
                    | "upload"
                    | "tweet"
            )
        })
        && has(&format!(r"{INTO}{}", mark_of(b)), text)
        && !has(
            &format!(
                r"\b(?:to|into|in|on|via|using|with|by|nach|ins|an|über|per|sur|dans)\s+(?:\w+ ){{0,3}}?{}",
                mark_of(a)
            ),
            text,
        )
        && (has(
            &format!(
                r"\b(?:de|del|aus|von|from|of)\s+(?:\w+ ){{0,2}}?{}",
                mark_of(a)
            ),
            text,
        ) || has(&format!(r"{}(?:\s|-)+§?[\p{{L}}]{{3,}}", mark_of(a)), text)
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
pub fn object_in(text: &str, mark: &str) -> Option<String> {
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
            if words.get(i).is_some_and(|w| {
                has(
                    r"^(?:to|in|into|for|with|from|and|who|by|per|via|on|#|§)",
                    w,
                )
            }) {
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
    None
}

/// The object that a service's plain verb means when none is said.
pub(super) fn usual_object(entry: &ServiceEntry) -> Option<&'static str> {
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

/// A noun of the request that can be an object of this kind of service: a tweet is no object of a database.
pub(super) fn suits(entry: &ServiceEntry, object: &str) -> bool {
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
            "email"
                | "message"
                | "customer"
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
pub(super) fn service_verb(entry: &ServiceEntry, verb: &str, text: &str) -> Verb {
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

/// A name that no node stands for: "post it to Mastodon". Not in German, where every noun is capitalised.
pub(super) fn unknown_service(mem: &Memory<'_>, text: &str) -> Option<String> {
    if mem.language == "de" {
        return None;
    }
    let plain = mem.m.plain(&rx(r"§[a-z]\d+§").replace_all(text, " "));
    let said = first(
        r"\b(?:to|into|on|in|from|via|using|with|en|a|sur|dans|vers|desde)\s+(?:our |the |my |nuestro |notre )?((?-i:[A-Z])[\w.-]{2,}(?:\s(?-i:[A-Z])\w+)?)",
        &plain,
    )?;
    (!has(r"^(?:csv|pdf|json|api|sql|llm|html|excel|utc|eur|usd|english|german|spanish|french|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october|november|december|inbox|done|liste|lista|tabelle|tabla|ordner|carpeta|dossier|spalte|kanal|canal|projekt|proyecto|board|table|list|folder|channel|sheet|column|database|queue|topic|i)\b", said)).then(|| said.to_owned())
}

/// Tweets live on X, pull requests on GitHub.
pub(super) fn noun_service(text: &str) -> Option<&'static ServiceEntry> {
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
