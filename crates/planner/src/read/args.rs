//! Arguments of an action: recipients, channels, containers, titles, dates, fields. Each rule looks for one role; none
//! decides which step it belongs to.

use crate::lexicon::{ServiceEntry, first, has, rx};
use crate::plan::{Arg, Role, Val};
use crate::read::act::Memory;
use crate::read::named;
use crate::read::text::Masked;
use crate::read::value::{
    arg, clean_field, field, field_args, fields_in, list, lit, relative_date, template,
};

/// `csv`, `xlsx`, `json`, `pdf`, `html`, `text`, `zip` when a file of that kind is meant.
pub fn file_format(text: &str) -> Option<String> {
    const FORMATS: [(&str, &str); 6] = [
        (r"\bcsv\b", "csv"),
        (
            r"\b(?:excel(?:[- ]?(?:file|datei|sheet))|xlsx|excel attachment|fichier excel|archivo excel)\b|\bas (?:an )?excel\b|\bals excel\b",
            "xlsx",
        ),
        (
            r"\bas (?:a )?json\b|\bjson[- ]?(?:file|datei)\b|\bals json\b",
            "json",
        ),
        (r"\bas (?:a )?pdf\b|\bals pdf\b", "pdf"),
        (r"\bas (?:an )?html file\b", "html"),
        (r"\bas (?:a )?(?:text file|txt)\b|\bals textdatei\b", "text"),
    ];
    FORMATS
        .iter()
        .find(|(p, _)| has(p, text))
        .map(|(_, f)| (*f).to_owned())
}

/// A file is to be written, not only mentioned.
pub fn makes_file(text: &str) -> bool {
    has(
        r"\b(?:as|als|como|en|in|into|to|to a|comme)\s+(?:an?\s+|ein\w*\s+|un\w?\s+)?(?:\w+\s+)?(?:csv|xlsx|excel|json|pdf|html file|text file|txt|§f\d+§)|csv[- ](?:attachment|anhang|file|datei)|\.(?:csv|xlsx|json)\b|(?:csv|excel|json) attached|adjunto csv|pièce jointe csv",
        text,
    ) || has(r"\b(?:as|als)\s+§f\d+§", text)
}

/// The wished name of the file.
pub fn file_name(m: &Masked, text: &str) -> Option<Val> {
    m.all(text, "f").first().map(|e| template(&e.value))
}

/// "one mail per owner", "each salesperson gets one": what the groups are.
pub fn group_by(m: &Masked, text: &str) -> Option<Val> {
    let t = m.open(text);
    if !has(
        r"\b(?:one|a single|un seul|un solo|un único|une seule|eine einzige|einen einzigen|nur eine|genau eine|only one)\b",
        &t,
    ) {
        return None;
    }
    let who = first(
        r"\b(?:per|for each|to each|to every|each|jede[mnr]?|pro|para cada|a cada|por|chaque|à chaque|par)\s+(?:of the\s+|einzelnen\s+)?([\w-]+)",
        &t,
    )?;
    if has(
        r"^(?:item|row|invoice|rechnung|order|day|week|month|ticket|mail|event|entry|run|tag|woche)$",
        who,
    ) {
        return None;
    }
    let owner = has(
        r"propri[eé]ta|inhaber|owner|verantwortlich|responsable|commercial|sales ?rep|account manager",
        &t,
    );
    Some(field(if owner { "owner" } else { who }))
}

/// Arguments of a reading step.
pub fn for_reading(mem: &mut Memory<'_>, text: &str, entry: &ServiceEntry) -> Vec<Arg> {
    let mut out = containers(mem, text, entry);
    let m = mem.m;
    if let Some(range) = time_range(text).filter(|_| !entry.is("sheet") && !entry.is("db")) {
        out.push(arg(Role::TimeRange, lit(range)));
    }
    if let Some(n) = first(
        r"\b(?:top|first|last|latest|newest|next|letzten|ersten|últimos|primeros|derniers|premiers|up to|limit)\s+(\d+)\b(?:\s+(?:\w+))?",
        text,
    ) && !has(
        &format!(r"\b{n}\s+(?:{{second}}|{{minute}}|{{hour}}|{{day}}|{{week}}|{{month}})\b"),
        text,
    ) {
        out.push(arg(Role::Limit, lit(n.parse::<u32>().unwrap_or(10))));
    } else if has(
        r"\b(?:the next|the latest|the newest|the last|the first|nächsten?|the oldest|el último|el siguiente|le dernier|a random|one)\s+(?:\w+\s+)?(?:entry|row|item|record|page|post|order|mail|email|ticket|issue|eintrag|zeile)\b",
        text,
    ) {
        out.push(arg(Role::Limit, lit(1)));
    }
    if let Some(status) = status_word(m, text) {
        out.push(arg(Role::Status, lit(status)));
    } else if entry.key == "jira"
        && has(
            r"\b(?:resolved|finished|completed|done|closed|erledigt\w*|abgeschlossen\w*|gelöst\w*|resuelt\w+|cerrad\w+|terminad\w+|résolue?s?|terminée?s?|clos\w*)\b",
            text,
        )
    {
        out.push(arg(Role::Status, lit("resolved")));
    }
    if entry.is("mail")
        && let Some(from) = m.after(
            r"\b(?:from|by|von|de|par)\s+(?:(?:anyone|anybody|someone|everyone|everybody|people|addresses|senders|jemandem|allen|cualquiera|alguien|quelqu'un)\s+)?(?:(?:at|with|bei|mit|en|chez|de)\s+)?(§[am]\d+§)",
            text,
        )
    {
        out.push(arg(Role::From, lit(from.full.clone())));
    }
    if let Some(q) = m.after(r"\b(?:search|searches|suche|busca|cherche|for|nach|matching|containing|mentioning|about)\b.{0,60}?(§[qk]\d+§)", text).filter(|_| has(r"\b(?:search|find|such|busca|cherche|mention|contain|match)", text)) {
        out.push(arg(Role::Query, lit(q.value.clone())));
    }
    if let Some(code) = m.one(text, "k") {
        out.push(arg(Role::Query, lit(code.value.clone())));
    }
    for (role, key) in [
        ("organi[sz]ation|org", "organization"),
        ("owner", "owner"),
        ("city|for the city of|stadt|ciudad|ville", "city"),
        ("subreddit", "subreddit"),
        ("jql", "jql"),
        ("site", "site"),
    ] {
        if let Some(word) = first(
            &format!(r"\b(?:{role})\s+(?:named |called |of )?([\w§.-]+)"),
            text,
        ) && !has(r"^(?:and|in|of|to|the|on|und)$", word)
        {
            out.push(arg(Role::Field(key.into()), lit(m.plain(word))));
        }
    }
    if let Some(word) = m.after(
        r"\b(?:label(?:l?ed)?|tag(?:ged)?|etiqueta\w*|libellé|mit (?:dem )?label)\s+(§q\d+§)",
        text,
    ) {
        out.push(arg(Role::Label, lit(word.value.clone())));
    }
    if let Some(url) = m.one(text, "u").filter(|_| entry.key == "rssFeedRead") {
        out.push(arg(Role::Url, lit(url.value.clone())));
    }
    if let Some(city) = first(
        r"\b(?:weather|forecast|wetter|tiempo|météo)\b.{0,14}?\b(?:for|in|of|für|von|en|de|à|pour)\s+((?-i:[A-ZÄÖÜÉ][\wäöüéèñ-]+(?:\s[A-Z][\wäöü-]+)?))",
        &m.plain(text),
    ) {
        out.push(arg(Role::Field("city".into()), lit(city)));
    }
    if entry.is("issue")
        && !out.iter().any(|a| a.role == Role::Container)
        && let Some(repo) = first(
            r"(?:^|\s)([\w-]+/[\w.-]+)\b",
            &rx(r"§[a-z]\d+§").replace_all(text, "§"),
        )
    {
        out.push(arg(Role::Container, lit(repo)));
    }
    if entry.key == "reddit"
        && let Some(name) = first(r"\br/(\w+)", text).or(first(r"§s\d+§\s+([a-z]\w{2,})", text))
        && !has(r"^(?:posts?|and|to|for|in|of|with|from|every)$", name)
    {
        out.push(arg(Role::Field("subreddit".into()), lit(name)));
    }
    if let Some(file) = m.all(&named::near(m, text, entry), "h").first() {
        out.push(arg(Role::Path, lit(file.value.clone())));
    }
    let columns = fields_in(m, text);
    if columns.len() > 1 {
        for name in columns {
            out.push(arg(Role::Field(name.clone()), field(&name)));
        }
    }
    if entry.is("chat")
        && let Some(channel) = m.one(&named::near(m, text, entry), "c")
    {
        out.push(arg(Role::Channel, lit(channel.value.clone())));
    }
    named::complete(m, text, entry, &mut out, false);
    out
}

/// A state that the wanted things are in.
pub fn status_word(m: &Masked, text: &str) -> Option<String> {
    if let Some(c) = rx(r"\b(?:status|state|stage|estado|statut|zustand)\s+(?:is\s+|=\s*|of\s+|ist\s+|es\s+|est\s+)?(?:set to\s+)?([\w§-]+)").captures(text) {
        let word = c.get(1).map_or("", |x| x.as_str());
        if !has(r"^(?:and|from|in|of|to|the|is|und|code|changes?|switches)$", word) {
            return Some(m.entity(word).map_or_else(|| word.to_owned(), |e| e.value.clone()));
        }
    }
    const STATES: [(&str, &str); 9] = [
        (
            r"\b(?:unpaid|unbezahlte\w*|impagad\w+|impayé\w*|outstanding|ausstehende\w*)\b",
            "unpaid",
        ),
        (
            r"\b(?:overdue|überfällige\w*|vencid\w+|en retard)\b",
            "overdue",
        ),
        (
            r"\b(?:open|offene\w*|abiert\w+|ouvert\w*|unresolved|pending)\b",
            "open",
        ),
        (
            r"\b(?:closed|geschlossene\w*|cerrad\w+|fermé\w*)\b",
            "closed",
        ),
        (
            r"\b(?:unread|ungelesene\w*|no leíd\w+|non lus?)\b",
            "unread",
        ),
        (r"\b(?:active|aktive\w*|activ[oa]s?\b|actifs?)\b", "active"),
        (r"\b(?:suspended|gesperrte\w*)\b", "suspended"),
        (r"\b(?:unassigned|nicht zugewiesene\w*)\b", "unassigned"),
        (
            r"\b(?:failed|fehlgeschlagene\w*|fallid\w+|échoué\w*)\b",
            "failed",
        ),
    ];
    let t = rx(r"\b(?:is|are|was|were)\s+(?:still\s+)?\w+")
        .replace_all(text, "")
        .into_owned();
    STATES
        .iter()
        .find(|(p, _)| has(p, &t))
        .map(|(_, s)| (*s).to_owned())
}

/// "last 7 days", "next week", "today".
pub fn time_range(text: &str) -> Option<String> {
    let m = first(
        r"\b((?:(?:the )?(?:last|past|previous|next|coming|upcoming)\s+(?:\d+\s+|{num}\s+)?(?:{hour}|{day}|{week}|{month}|{quarter}|{year}))|(?:(?:der |die )?(?:letzte[nr]?|vergangene[nr]?|nächste[nr]?|kommende[nr]?)\s+(?:\d+\s+)?(?:{hour}|{day}|{week}|{month}))|(?:(?:los |las )?(?:últim[oa]s?|próxim[oa]s?)\s+(?:\d+\s+)?(?:{hour}|{day}|{week}|{month}))|(?:(?:les |des )?(?:\d+\s+)?(?:derni\w+|prochain\w*)\s+(?:\d+\s+)?(?:{hour}|{day}|{week}|{month}))|yesterday(?:'s)?|today(?:'s)?|tomorrow(?:'s)?|this (?:week|month)|gestern|heute|heutige[nr]?|morgen|diese woche|ayer|hoy|hier|aujourd'hui|current (?:week|month|day))\b",
        text,
    )?;
    Some(m.to_lowercase())
}

/// Arguments of a writing step.
pub fn for_action(mem: &mut Memory<'_>, text: &str, entry: &ServiceEntry, verb: &str) -> Vec<Arg> {
    let m = mem.m;
    let mut out = Vec::new();
    let talks = entry.is("mail") || entry.is("chat") || entry.is("sms");
    if talks {
        out.extend(recipients(mem, text, entry));
        out.extend(message(mem, text, entry));
    } else {
        out.extend(containers(mem, text, entry));
        if !entry.is("sheet") && !entry.is("db") {
            let places: Vec<Val> = out.iter().map(|a| a.value.clone()).collect();
            out.extend(
                titles(m, text)
                    .into_iter()
                    // "into the folder 'CVs'" names the place, not the file
                    .filter(|a| !(entry.is("files") && places.contains(&a.value))),
            );
        }
        out.extend(properties(m, text));
        if let Some(said) = m.after(
            r"\b(?:saying|with (?:the )?(?:text|comment|note|body|description|message)|reading|comment|note|mit (?:dem )?(?:text|kommentar|hinweis)|kommentar|notiz|que diga|con el (?:texto|comentario)|comentario|avec le (?:texte|commentaire)|commentaire)\s*:?\s*(§q\d+§)",
            text,
        ) {
            let value = template(&said.value);
            out.retain(|a| !(a.role == Role::Title && a.value == value));
            out.push(arg(Role::Text, value));
        }
        if let Some(minutes) = first(
            r"\b(?:for|lasting|of|für|dauer|durante|de|pendant|durée)\s+(\d+)[ -]*(?:minutes?|mins?|minuten|minutos)\b",
            text,
        ) && has(
            r"\b(?:meeting|event|call|webinar|termin|besprechung|reunión|réunion|evento|appointment)\b",
            text,
        ) && let Ok(n) = minutes.parse::<u32>()
        {
            out.push(arg(Role::Field("duration".into()), lit(n)));
        }
        let given = given_as(m, text);
        let mut names: Vec<String> = fields_in(m, text);
        names.retain(|name| !has(GIVEN_AS, name));
        if names.is_empty()
            && given.is_empty()
            && (entry.is("queue") || entry.is("db") || entry.is("sheet") || entry.is("base"))
            && let Some(what) = handed(m, text)
        {
            names = what;
        }
        if !given.is_empty() {
            out.retain(|a| !given.iter().any(|g| g.role == a.role));
        }
        out.extend(given);
        out.extend(field_args(&names));
        if let Some(code) = m.one(text, "k") {
            out.push(arg(Role::Query, lit(code.value.clone())));
        }
        if entry.is("files") {
            if let Some(path) = m.all(text, "h").first() {
                out.push(arg(Role::Path, lit(path.value.clone())));
            }
            if let Some(name) = file_name(m, text) {
                out.push(arg(Role::FileName, name));
            }
        }
        if entry.key == "ssh"
            && let Some(path) = m.all(text, "hk").first()
        {
            let role = if verb == "run" {
                Role::Command
            } else {
                Role::Path
            };
            out.push(arg(role, lit(path.value.clone())));
        }
    }
    if let Some(name) = m
        .after(r"\b(?:template|vorlage|plantilla|modèle)\s+(?:named |called |id )?(§[qdk]\d+§)", text)
        .map(|e| e.value.clone())
        .or_else(|| first(r"\b(?:template|vorlage|plantilla|modèle)\s+(?:named |called |id )?([\w-]*[\d_-][\w-]*)", text).map(str::to_owned))
    {
        out.push(arg(Role::Template, lit(name)));
    }
    let ends = matches!(verb, "delete" | "update" | "move");
    named::complete(m, text, entry, &mut out, ends);
    out
}

/// "the subject as title": the one is in the data, the other what it becomes. Words that name a part of what is made; "as JSON" and
/// "status as done" are none.
const GIVEN_AS: &str = r"^(?:(?:the|its|their|his|her|das|den|die|der|dem|el|la|los|las|su|le|les|son|sa|l')\s*)?([\w'’ -]{2,40}?)(?: (?:from|of|in|aus|von|de|du)(?: the| our| its| der| dem| la| el| le)? [\w]+)? (?:as|als|como|comme) (?:(?:the|its|an?|der|die|das|den|el|la|le|su|un) )?((?:card |task |issue |page |ticket |deal |event |contact |file |lead )?(?:title|summary|subject|headline|name|description|content|body|text|notes?|comment|message)|(?:first|last|full|company) ?name|e-?mail(?: address)?|phone(?: number)?|amount|price|quantity|company|address|due date|deadline|start(?: date)?|end(?: date)?|category|key|url|link|reference|external id|titel|betreff|zusammenfassung|beschreibung|inhalt|título|resumen|descripción|contenido|asunto|titre|résumé|contenu|objet)$";

/// "with the subject as title and the text as description".
fn given_as(m: &Masked, text: &str) -> Vec<Arg> {
    let Some(tail) = first(
        r"\b(?:with|using|taking|mit|con|avec|usando|en utilisant)\s+(.+ (?:as|als|como|comme) .+)$",
        text,
    ) else {
        return Vec::new();
    };
    let parts = rx(r"\s*,\s*(?:and |und |y |et )?|\s+(?:and|und|y|et)\s+").replace_all(tail, "\n");
    let pair = |part: &str| {
        let part = m.plain(part);
        let pattern = rx(GIVEN_AS);
        let found = pattern.captures(part.trim())?;
        let (source, target) = (found.get(1)?.as_str(), found.get(2)?.as_str());
        let role = match has(
            r"\b(?:title|summary|subject|headline|titel|betreff|título|asunto|titre|objet)$",
            target,
        ) {
            true => Role::Title,
            false => Role::Field(target.to_owned()),
        };
        Some(arg(role, field(source.trim())))
    };
    let given: Vec<Arg> = parts.lines().filter_map(pair).collect();
    // Beside such a pair: what keeps its name.
    let kept = parts.lines().filter_map(|part| {
        first(r"^(?:the |its |das |den |die |el |la |le )?([\w-]+(?: [\w-]+)?) (?:from|of|in|aus|von|de|du) (?:the |our |dem |der |la |el |le )?(?:payload|body|webhook|form|request|data|event|row|item|formular|anfrage|formulario|formulaire)$", part)
    });
    let kept = kept.map(|name| arg(Role::Field(name.to_owned()), field(name)));
    match given.is_empty() {
        true => given,
        false => kept.chain(given.iter().cloned()).collect(),
    }
}

/// Who or where: addresses, channels, people, phones, chat ids.
pub fn recipients(mem: &mut Memory<'_>, text: &str, entry: &ServiceEntry) -> Vec<Arg> {
    let m = mem.m;
    let mut out = Vec::new();
    if entry.is("mail") {
        let addresses: Vec<String> = m.all(text, "m").iter().map(|e| e.value.clone()).collect();
        if !addresses.is_empty() {
            out.push(arg(Role::To, lit(addresses.join(", "))));
        }
    }
    if entry.is("chat") {
        for e in m.all(text, "c") {
            out.push(arg(Role::Channel, lit(e.value.clone())));
        }
        for e in m.all(text, "a") {
            out.push(arg(Role::Recipient, lit(e.value.clone())));
        }
        for e in m.all(text, "np") {
            out.push(arg(Role::Recipient, lit(e.value.clone())));
        }
        if out.is_empty()
            && let Some(id) = first(r"\bchat(?:[- ]?id)?\s*:?\s*(-?\d{4,})\b", text)
                .or(first(r"§s\d+§\s+(?:chat\s+)?(-?\d{5,})\b", text))
        {
            out.push(arg(Role::Recipient, lit(id)));
        }
        if out.is_empty()
            && let Some(id) = first(r"\bchat(?:\s*-?id)?\s+(-?\d{3,})\b", text)
        {
            out.push(arg(Role::Recipient, lit(id)));
        }
        if out.is_empty()
            && let Some(name) = m.after(r"\b(?:channel|kanal|canal|chat|group|gruppe|grupo|room|space)\s+(?:named |called |id )?(§[qdn]\d+§)", text).map(|e| e.value.clone()).or_else(|| first(r"\b(?:channel|kanal|canal)\s+(?:named |called )?([a-z0-9_-]{2,})\b", text).filter(|w| !has(r"^(?:and|on|in|of|for|to|with|when|if|about|a|the|named)$", w)).map(str::to_owned))
        {
            out.push(arg(Role::Channel, lit(name)));
        }
    }
    if entry.is("sms") {
        for e in m.all(text, "pn") {
            out.push(arg(Role::Recipient, lit(e.value.clone())));
        }
    }
    if out.is_empty() {
        if has(
            r"\b(?:same|that|gleiche\w*|selben|mism[oa]|même)\s+(?:chat|channel|person|kanal|canal|conversation|thread)\b|\bback to (?:the )?(?:chat|user|sender)\b",
            text,
        ) {
            out.push(arg(
                if entry.is("chat") {
                    Role::Recipient
                } else {
                    Role::To
                },
                Val::Field {
                    name: "chat id".into(),
                    of: Some("trigger".into()),
                },
            ));
        } else if entry.is("chat") && mem.trigger.is_some_and(|t| t.key == entry.key) {
            out.push(arg(
                Role::Recipient,
                Val::Field {
                    name: if entry.key == "whatsApp" {
                        "from"
                    } else {
                        "chat id"
                    }
                    .into(),
                    of: Some("trigger".into()),
                },
            ));
        } else if let Some(who) = person(m, text) {
            let what = if entry.is("mail") {
                "email"
            } else if entry.is("sms") || entry.key == "whatsApp" {
                "phone"
            } else {
                "user"
            };
            out.push(arg(
                if entry.is("mail") {
                    Role::To
                } else {
                    Role::Recipient
                },
                Val::Field {
                    name: format!("{who} {what}").trim().to_owned(),
                    of: None,
                },
            ));
        } else if let Some(last) = mem.last_target.clone().filter(|a| {
            matches!(a.role, Role::Channel)
                && entry.is("chat")
                && has(r"\b(?:same|there|again|too)\b", text)
        }) {
            out.push(last);
        }
    }
    if let Some(first) = out.first() {
        mem.last_target = Some(first.clone());
    }
    out
}

/// The person of the data at hand: "the customer", "der Person", "al contacto", "mándale".
fn person(m: &Masked, text: &str) -> Option<String> {
    let t = m.open(text);
    if let Some(who) = first(
        r"\b(?:to |an |a |à |al |der |dem |den |die |das |the |la |le |el |each |jede\w* |chaque |cada |their |that |this |every )\s*(?:\w+ )?({person})(?:'s|s)?\b",
        &t,
    ) {
        return Some(who.to_lowercase());
    }
    if has(
        r"\b(?:me|mir|mich|myself|my (?:inbox|mail|email|phone|number|gmail))\b|\benvíame|\bmándame|\bavísame|envoie-moi",
        &t,
    ) {
        return None;
    }
    has(r"\b(?:them|him|her|ihm|ihr|ihnen|ihn|le|lui|leur)\b|\b\w+(?:ale|ele|ales)\b|\bthank|\bwelcome", &t).then(String::new)
}

/// Subject and text of a message.
fn message(mem: &Memory<'_>, text: &str, entry: &ServiceEntry) -> Vec<Arg> {
    let m = mem.m;
    let mut out = Vec::new();
    let mut used = None;
    if let Some(e) = m.after(r"\b(?:subject|betreff|asunto|objet|sujet|title|titled)\s*(?:line\s*)?(?:is\s*|:\s*|of\s*)?(§q\d+§)", text) {
        out.push(arg(Role::Subject, template(&e.value)));
        used = Some(e.value.clone());
    }
    let quoted = m.all(text, "q").into_iter().find(|e| {
        Some(&e.value) != used.as_ref()
            && !has(
                r"\b(?:channel|kanal|canal|template|vorlage|sheet|folder|label)\b",
                text,
            )
    });
    if let Some(e) = quoted {
        out.push(arg(Role::Text, template(&e.value)));
        return out;
    }
    if let Some(code) = first(
        r"\b(?:the |a )?(?:discount |coupon |promo |voucher )?(?:code|coupon|gutschein\w*|código|cupón)\s+([A-Z0-9]{4,})\b",
        text,
    ) {
        out.push(arg(Role::Text, lit(code)));
        return out;
    }
    if let Some(task) = first(
        r"\b(?:remind\w*|erinner\w*|recuérd\w*|recordar\w*|rappelle\w*)\b.*?\s(?:to|that|daran,?|que|de)\s+((?-i:[a-zäöü]).+)$",
        &m.plain(text),
    ) {
        out.push(arg(Role::Text, lit(task)));
        return out;
    }
    if let Some(content) = content(m, text) {
        let parts = content;
        let value = if parts.len() == 1 {
            field(parts.first().map_or("", String::as_str))
        } else {
            let mut holes = Vec::new();
            for (i, p) in parts.iter().enumerate() {
                if i > 0 {
                    holes.push(lit("\n"));
                }
                holes.push(lit(format!("{p}: ")));
                holes.push(field(p));
            }
            Val::Template { parts: holes }
        };
        out.push(arg(Role::Text, value));
    }
    let _ = entry;
    out
}

/// What a message is to tell: "who pushed and what the commit message was" → who pushed, commit message.
fn content(m: &Masked, text: &str) -> Option<Vec<String>> {
    let masked = rx(r"§r\d+§").replace_all(text, "").into_owned();
    let masked = rx(r"\s+(?:to|from|out of|aus|de|del|in|into|on|via|an|ins|im|nach|en|a|à|through|over|by|per|auf|with|mit|con|avec)\s+(?:the |our |my |dem |den |die |la |el |le )?(?:\w+ )?§.*$").replace(&masked, "").into_owned();
    let unmarked = m.plain(&rx(r"§r\d+§").replace_all(text, ""));
    let t = m.plain(&masked);
    if has(r"\btemplate\b|\bvorlage\b|\bplantilla\b|\bmodèle\b", &t) {
        return None;
    }
    if let Some(list) = Some(fields_in(m, text)).filter(|l| !l.is_empty()) {
        return Some(list);
    }
    let asked = rx(
        r"\b((?:who|what|which|when|how (?:many|much)|wer|was|wann|wie viele?|welche\w*|quién|qué|cuándo|cuánt\w+|qui|quoi|combien)\b.+)$",
    );
    if let Some(c) = asked.captures(&unmarked) {
        let parts: Vec<String> = list(c.get(1)?.as_str())
            .iter()
            .map(|p| {
                let p = rx(r"\b(?:was|were|is|are|the|did|has|had|have|ist|war|fue|es|est)\b")
                    .replace_all(p, " ")
                    .into_owned();
                let p = rx(r"^\s*(?:what|which|welche\w*|was|qué|quel\w*)\s+")
                    .replace(p.trim(), "")
                    .into_owned();
                clean_field(&p)
            })
            .filter(|p| !p.is_empty())
            .collect();
        return (!parts.is_empty()).then_some(parts);
    }
    let with = first(
        r"\b(?:with|including|mit|con|avec|inklusive|containing)\s+(?:the\s+|its\s+|all\s+)?([^→]+)$",
        &t,
    );
    let Some(with) = with else {
        return told(&t);
    };
    if has(
        r"\b(?:attach|csv|pdf|button|one|priority|urgency)\b|https?://|@",
        with,
    ) {
        return None;
    }
    let parts: Vec<String> = list(with)
        .iter()
        .map(|p| clean_field(p))
        .filter(|p| !p.is_empty() && p.split_whitespace().count() <= 5)
        .collect();
    // "with the contacts from the CRM": what is sent, not a field of it.
    let things = parts.len() == 1
        && parts.iter().all(|p| {
            p.split_whitespace()
                .last()
                .is_some_and(|w| crate::lexicon::noun(&w.to_lowercase()).is_some())
        })
        && m.all(text, "s").len() > usize::from(m.one(text, "m").is_none());
    (!parts.is_empty() && !things).then_some(parts)
}

/// A word that stands for what is at hand or for a person, and names no field.
const PRONOUN: &str = r"^(?:me|us|you|him|her|mir|uns|dir|ihm|ihr|ihn|es|sie|dies|alles|nos|nous|vous|moi|lo|eso|esto|todo|ça|cela|tout)$";

/// "push the order id onto the list", "write name and amount into the table": the fields that are handed over.
fn handed(m: &Masked, text: &str) -> Option<Vec<String>> {
    let t = m.plain(text);
    let what = first(
        r"^(?:{then}\s+|{and}\s+|please\s+|bitte\s+)*(?:push|append|add|write|put|save|store|insert|record|log|send|publish|enqueue|schreibe?|speichere?|trage?|sende|füge|guarda|escribe|añade|inserta|envía|publica|enregistre|écris|ajoute|insère|envoie|publie)\s+(?:the |its |their |den |die |das |el |la |los |las |le |les |l')?([\p{L}][\p{L}\d_', -]{1,80}?)\s+(?:onto|to|into|in|on|as|nach|ins|auf|en|a|al|à|dans|sur|au)\s",
        &t,
    )?;
    let parts: Vec<String> = list(what).iter().map(|p| clean_field(p)).collect();
    let generic = r"\b(?:rows?|lines?|records?|entry|entries|documents?|items?|points?|messages?|result|results|data|everything|all|one|it|them|that|this|body|payload|event|file|files|new|each|every|zeilen?|eintrag|datensatz|filas?|lignes?|registros?|mensaje|nachricht|contacts?|leads?|orders?|customers?|answers?|submissions?|responses?|payments?|invoices?|pages?|list|summary|report|articles?|tickets?|tasks?|person|user|users|email to|mails?|emails?|form|posts?|products?|event|events|deals?)$|^(?:a|an|eine?n?|un|una|une)\b|\b(?:from|of|where|whose|with)\b";
    (!parts.is_empty()
        && parts.iter().all(|p| {
            !p.is_empty()
                && p.split_whitespace().count() <= 3
                && !has(PRONOUN, p)
                && (!has(generic, p)
                    || parts.len() > 1 && !has(r"\b(?:rows?|lines?|it|them|all|everything)$", p))
        }))
    .then_some(parts)
}

/// "post the amount and the reason", "send its title": the fields that are told.
fn told(t: &str) -> Option<Vec<String>> {
    if let Some(name) = first(
        r"^(?:post|posts|send|sends|share|tell|report|poste|sende|schicke?|publica|envía|manda|envoie|publie)\s+(?:me |us |them |mir |uns )?(?:the|its|their|das|el|le)\s+([\w-]+(?: [\w-]+)?)\s+(?:field|feld|campo|champ)\b",
        t,
    ) {
        return Some(vec![clean_field(name)]);
    }
    let what = first(
        r"^(?:{then}\s+|{and}\s+|please\s+|bitte\s+)*(?:post|posts|send|sends|share|tell|report|message|mail|e-mail|email|poste|sende|schicke?|melde|publica|envía|manda|comparte|envoie|publie|poste)\s+(?:me |us |them |mir |uns )?(?:the |its |their |den |die |das |el |la |los |las |le |les |l')?([\p{L}][\p{L}\d_' -]{1,80})$",
        t,
    )?;
    let parts: Vec<String> = list(what).iter().map(|p| clean_field(p)).collect();
    let generic = r"\b(?:team|teams|everyone|everybody|people|channel|kollegen|equipo|équipe|colleagues|message|messages|notification|summary|digest|list|lists|result|results|report|file|it|them|everything|all|one|reminder|alert|mail|email|e-mail|update|text message|note|info\w*|details|data|answer|draft|copy|overview|table|nachricht|zusammenfassung|übersicht|liste|bericht|ergebnis\w*|mensaje|resumen|lista|informe|aviso|correo|résumé|liste|rapport|message|récapitulatif|body|new|daily|weekly|html|csv|pdf|excel|attachment|invoice|welcome|thank\w*|line|if|when|that|who|which|is|are|to|on|of)\b";
    (!parts.is_empty()
        && parts.iter().all(|p| {
            !p.is_empty()
                && p.split_whitespace().count() <= 3
                && !has(generic, p)
                && !has(PRONOUN, p)
        }))
    .then_some(parts)
}

/// Sheets, bases, projects, buckets, tables: those said next to the service, else any of the clause.
fn containers(mem: &mut Memory<'_>, text: &str, entry: &ServiceEntry) -> Vec<Arg> {
    let near = named::near(mem.m, text, entry);
    if near != text {
        let found = containers_in(mem, &near, entry);
        if !found.is_empty() || mem.m.one(&near, "hu").is_some() {
            return found;
        }
        // What stands next to another service is that one's.
        let others = named::segments_of_others(mem.m, text, entry);
        let last = mem.last_container.clone();
        let mut found = containers_in(mem, text, entry);
        let before = found.len();
        let keeps = entry.is("db");
        found.retain(|a| match &a.value {
            Val::Lit { value } => {
                keeps
                    || !value
                        .as_str()
                        .is_some_and(|v| others.iter().any(|o| o.contains(v)))
            }
            _ => true,
        });
        if found.len() < before {
            mem.last_container = last;
        }
        return found;
    }
    containers_in(mem, text, entry)
}

fn containers_in(mem: &mut Memory<'_>, text: &str, entry: &ServiceEntry) -> Vec<Arg> {
    let m = mem.m;
    let mut out = Vec::new();
    const NAMES: &str = r"sheet|spreadsheet|db|workbook|base|database|datenbank|board|project|projekt|proyecto|projet|list|liste|lista|audience|collection|bucket|folder|ordner|carpeta|dossier|calendar|kalender|calendario|calendrier|space|workspace|team|site|repo|repository|mailbox|queue|topic|index|stream|group|drive|library|vault|property|account|dataset|key|data table|tabelle|hoja|feuille|document|doc|notebook|page";
    let part = |word: &str| {
        m.entity(word)
            .map_or_else(|| word.to_owned(), |e| e.value.clone())
    };
    if let Some(e) = m.one(text, "u").filter(|_| entry.is("sheet") || entry.is("base") || entry.is("files") || entry.key == "googleDocs") {
        out.push(arg(Role::Container, lit(e.value.clone())));
    } else if let Some(e) = m.after(&format!(r"\b(?:{NAMES})s?\s+(?:named |called |namens |id |llamad[oa] |appelée? |: )?(§[qdfn]\d+§)"), text) {
        out.push(arg(Role::Container, lit(e.value.clone())));
    } else if let Some(e) = m.after(r"§s\d+§[\w-]*\s*(?:called |named |namens |llamad[oa] |appelée? )?(§q\d+§)", text).filter(|_| !entry.is("task") && !entry.is("crm")) {
        out.push(arg(Role::Container, lit(e.value.clone())));
    } else if let Some(e) = m.after(r"\b(?:in|into|to|from|called|named|aus|ins|en|a|dans)\s+(§q\d+§)", text).filter(|_| !has(r"\b(?:tab|worksheet|column|spalte|columna)\b", text) && !entry.is("task") && !entry.is("crm")) {
        out.push(arg(Role::Container, lit(e.value.clone())));
    } else if let Some(word) = first(r"\b(?:project|projekt|proyecto|projet|bucket|collection|queue|topic|index|dataset|audience|board|repo|repository|key|team|space|base|group)\s+(?:named |called |key )?([A-Za-z0-9][\w./-]*)", text)
        .or(first(r"\b(?:folder|ordner|carpeta|dossier|calendar|kalender|label|list|liste|lista|sheet)\s+(?:named |called )?((?-i:[A-ZÄÖÜ])[\w-]+)", text))
        .or(first(r"§s\d+§(?:[ -]?bucket)?\s+([a-z0-9]+(?:-[a-z0-9]+)+)\b", text))
        && !has(named::NO_NAME, word)
    {
        out.push(arg(Role::Container, lit(part(word))));
    }
    if let Some(word) = first(
        r"\b(?:tab|worksheet|table|tabelle|tabellenblatt|tabla|pestaña|onglet|reiter|sheet tab|blatt)\s+(?:named |called |namens )?(§[qdf]\d+§|[A-Za-z_][\w]*(?:-\w+)*|\d{2,})",
        text,
    ) && !has(
        r"^(?:and|in|of|to|for|with|is|on|the|a|that|by|crm|row|from|if|as|so|per|named|called)$",
        word,
    ) {
        out.push(arg(Role::Part, lit(part(word))));
    } else if entry.is("db")
        && let Some(e) = m.one(&rx(r"§[rb]\d+§").replace_all(text, ""), "d")
        && !out.iter().any(|a| a.value == lit(e.value.clone()))
    {
        out.push(arg(Role::Part, lit(e.value.clone())));
    }
    if out.is_empty()
        && has(r"\b(?:same|that|gleiche\w*|selbe\w*|mism[oa]|même)\b", text)
        && let Some(last) = &mem.last_container
    {
        out.push(arg(Role::Container, last.clone()));
    }
    if let Some(a) = out.iter().find(|a| a.role == Role::Container) {
        mem.last_container = Some(a.value.clone());
    }
    out
}

/// What the new thing is called.
fn titles(m: &Masked, text: &str) -> Vec<Arg> {
    let named = m
        .after(r"\b(?:called|named|titled|title|with (?:the )?(?:title|name|subject)|namens|mit (?:dem )?(?:titel|namen)|llamad[oa]|con (?:el )?(?:título|nombre)|appelée?|intitulée?|avec (?:le )?titre)\s*:?\s*(§[ql]\d+§)", text)
        .or_else(|| m.after(r"\b(?:task|todo|to-do|card|deal|ticket|issue|bug|event|aufgabe|karte|tarea|tâche|note|reminder|page|incident|lead|opportunity|post|document|doc|meeting|webinar|folder|campaign|product|company|contact|release|branch|invoice|item|record|story|epic|milestone|article|video|playlist|survey|besprechung|termin|meeting|reunión|réunion|evento|événement|ordner|carpeta|dossier|contact)\s*:?\s*(§q\d+§)", text));
    named
        .map(|e| arg(Role::Title, template(&e.value)))
        .into_iter()
        .collect()
}

/// Due dates, priorities, stages, labels and "set the x to y".
fn properties(m: &Masked, text: &str) -> Vec<Arg> {
    let mut out = Vec::new();
    if let Some(tail) = first(
        r"\b(?:due(?: date| on| in)?|deadline|fällig(?:keit)?(?: am| in)?|fecha (?:límite|de vencimiento)|échéance)\b\s*(.+)$",
        text,
    ) && let Some(when) = relative_date(tail).or_else(|| relative_date(text))
    {
        out.push(arg(Role::Due, when));
    }
    let value_of = |word: &str| {
        m.entity(word)
            .map_or_else(|| word.to_owned(), |e| e.value.clone())
    };
    if let Some(n) = first(r"\bpriority\s+(?:of\s+|level\s+)?(\d)\b|\bp(\d)\b|\bpriorität\s+(\d)|\bprioridad\s+(\d)", text) {
        out.push(arg(Role::Priority, lit(n.parse::<u32>().unwrap_or(1))));
    } else if let Some(word) = first(r"\b(?:priority|priorität|prioridad|priorité)\s+(?:to\s+|of\s+|=\s*|auf\s+|a\s+|à\s+|is\s+)?([\w§]+)", text).or(first(r"\b(urgent|high|low|medium|normal|highest|hohe[rnm]?|niedrige\w*|alta|baja|haute|basse)[- ](?:priority|priorität|prioridad|priorité)", text))
        && !has(r"^(?:and|in|to|for|task|queue)$", word)
    {
        out.push(arg(Role::Priority, lit(value_of(word))));
    }
    for (names, role) in [
        ("stage|phase|etapa|étape", Role::Stage),
        ("label|tag|etiqueta|labels|tags", Role::Label),
        ("status|state|estado|statut", Role::Status),
        (
            "assignee|assigned to|assign(?:ed)? (?:it )?to|zugewiesen an|asignad[oa] a|assigné à",
            Role::Field("assignee".into()),
        ),
        (
            "urgency|dringlichkeit|urgencia",
            Role::Field("urgency".into()),
        ),
        ("severity|schweregrad", Role::Field("severity".into())),
        ("type|issue type", Role::Field("type".into())),
        ("amount|value|betrag", Role::Field("amount".into())),
    ] {
        if let Some(word) = first(
            &format!(
                r"\b(?:{names})\s+(?:to\s+|back to\s+|of\s+|=\s*|auf\s+|a\s+|à\s+|is\s+|:\s*)?([\w§.@-]+)"
            ),
            text,
        ) && !has(
            r"^(?:and|in|to|for|of|the|is|on|with|und|from|field|email|e-mail)$",
            word,
        ) && !text.contains(&format!("priority {word}"))
        {
            out.push(arg(role, lit(value_of(word))));
        }
    }
    // "set the entry back to Idea", "set the field x to y"
    if let Some(c) = rx(r"\b(?:set|change|update|mark|setze|ändere|markiere|cambia|marca|marque|mets|passe)\b.*?\b(?:back to|to|as|auf|als|a|como|à|en|comme)\s+(§q\d+§|[\w-]+)\s*$").captures(text)
        && !out.iter().any(|a| matches!(a.role, Role::Status | Role::Priority | Role::Stage))
        && let Some(word) = c.get(1).map(|x| x.as_str())
        && !has(r"^(?:it|them|him|her|the|§s\d+§)$", word)
    {
        let named = first(r"\b(?:set|change|update|setze|ändere|cambia)\s+(?:the\s+|its\s+|den\s+|die\s+|das\s+|el\s+|la\s+)?([\w-]+(?: [\w-]+)?)\s+(?:field |of .{1,30} )?(?:to|auf|a|à)\s", text);
        match named.filter(|n| !has(r"\b(?:entry|page|task|ticket|order|row|record|it|item|issue|deal|status|eintrag|card|back)\b", n)) {
            Some(name) => out.push(arg(Role::Field(clean_field(name)), lit(value_of(word)))),
            None => out.push(arg(Role::Status, lit(value_of(word)))),
        }
    }
    out
}
