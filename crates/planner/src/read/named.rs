//! Values that the user names by their kind: "table 5512", "the queue alerts", "in der Postgres-Tabelle sessions", "board
//! 778899", and the condition on the records that are meant ("whose expires_at is before now"). Grammar only: which
//! parameter takes them is the compiler's.

use crate::lexicon::{ServiceEntry, first, has, rx};
use crate::plan::{Arg, Cmp, Cond, Role, Val};
use crate::read::cond;
use crate::read::text::{Masked, settled};
use crate::read::value::{arg, lit};
use agentctl_base::lazy_regex::Captures;

/// Canonical kind, its words in all languages, and whether a plain word may be its name (else only an identifier, a
/// capitalised name or a quoted one).
const KINDS: [(&str, &str, bool); 44] = [
    ("table", "table|tabelle|tabla|data table", true),
    ("list", "list|liste|lista|mailing list|audience", true),
    ("board", "board|tablero", true),
    ("project", "project|projekt|proyecto|projet", true),
    (
        "database",
        "database|db|datenbank|base de datos|base de données",
        true,
    ),
    ("base", "base", false),
    ("collection", "collection|sammlung|colección", true),
    ("bucket", "bucket", true),
    ("queue", "queue|warteschlange|cola|file d'attente", true),
    ("topic", "topic|thema|tema|tópico|sujet", true),
    ("exchange", "exchange", true),
    ("index", "index|índice", true),
    ("stream", "stream|room", true),
    ("workspace", "workspace|arbeitsbereich", true),
    ("space", "space|bereich|espacio", false),
    ("team", "team|equipo|équipe", false),
    ("site", "site", false),
    (
        "folder",
        "folder|ordner|carpeta|dossier|directory|verzeichnis",
        false,
    ),
    ("calendar", "calendar|kalender|calendario|calendrier", false),
    ("document", "doc|document|dokument|documento", false),
    (
        "sheet",
        "spreadsheet|google sheet|sheet|workbook|arbeitsmappe|hoja|feuille",
        false,
    ),
    (
        "tab",
        "tab|worksheet|tabellenblatt|reiter|pestaña|onglet",
        true,
    ),
    ("job", "job", true),
    ("function", "function|funktion|función|fonction", true),
    ("repository", "repo|repository|repositorio|dépôt", true),
    ("service", "service", false),
    ("item", "item|element", false),
    ("task", "task|aufgabe|tarea|tâche", false),
    ("issue", "issue|vorgang", false),
    ("ticket", "ticket", false),
    ("card", "card|karte|tarjeta|carte", false),
    ("page", "page|seite|página", false),
    ("record", "record|row|zeile|datensatz|fila|ligne", false),
    ("pipeline", "pipeline", false),
    ("form", "form|formular|formulario|formulaire", false),
    ("campaign", "campaign|kampagne|campaña|campagne", false),
    ("section", "section|abschnitt|sección", false),
    ("tag", "tag|label", false),
    ("device", "device|gerät|dispositivo|appareil", false),
    ("zone", "zone", false),
    ("mailbox", "mailbox|postfach|buzón", false),
    ("user", "user|benutzer|usuario|utilisateur", false),
    ("order", "order|bestellung|pedido|commande", false),
    ("key", "key|schlüssel|clave", false),
];

pub const NO_NAME: &str = r"^(?:and|und|y|et|e|or|in|im|of|to|for|für|with|mit|con|avec|is|on|auf|the|a|an|that|which|named|called|namens|manager|from|aus|von|if|when|as|id|ids|where|whose|wo|deren|by|per|at|it|then|dann|into|onto|via|using|so|en|de|del|la|el|le|les|des|du|dans|pour|para|por|que|are|has|have|der|die|das|den|dem|ein|eine|einen|un|una|une|all|alle|each|every|new|same|post|send|add|name|names|title|only|but|not|now|saying|due|since|list|lists|api|node|row|rows|entry|entries|url|data|over|after|before|about|whenever|bei|wenn|if|gets|will|should|be|titled|says|items?|files?|keep|called:?|y|con)$";

/// The text with all values put back, services left as marks.
fn open(m: &Masked, text: &str) -> String {
    settled(text, |text| {
        // "S3-Bucket docs": the service's name ends in a kind of its own
        let kinds = rx(r"§s\d+§").replace_all(text, |c: &Captures<'_>| {
            let mark = c.get(0).map_or("", |x| x.as_str());
            let kind = m
                .entity(mark)
                .and_then(|e| first(r"[\s-](bucket|queue|topic)$", &e.full).map(str::to_owned));
            match kind {
                Some(kind) if !text.contains(&format!("{mark} {kind}")) => {
                    format!("{mark} {kind}")
                }
                _ => mark.to_owned(),
            }
        });
        rx(r"§[a-rt-z]\d+§")
            .replace_all(&kinds, |c: &Captures<'_>| {
                m.entity(c.get(0).map_or("", |x| x.as_str()))
                    .map(|e| e.full.clone())
                    .unwrap_or_default()
            })
            .into_owned()
    })
}

fn identifier(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit())
        || word.contains('_')
        || word.chars().skip(1).any(|c| c == '-')
        || word.chars().count() > 3 && word.chars().all(|c| c.is_ascii_uppercase())
}

/// The stretch of a clause that speaks of one of its services: "… of the Postgres table a | to the Snowflake table b".
pub fn near(m: &Masked, text: &str, entry: &ServiceEntry) -> String {
    let marks: Vec<(usize, usize, &str)> = rx(r"§s\d+§")
        .find_iter(text)
        .filter_map(|f| {
            let key = m.entity(f.as_str())?.service?.key.as_str();
            Some((f.start(), f.end(), key))
        })
        .collect();
    let Some(at) = marks.iter().position(|(_, _, key)| *key == entry.key) else {
        return text.to_owned();
    };
    let others = |range: std::ops::Range<usize>| {
        marks
            .get(range)
            .is_some_and(|l| l.iter().any(|(_, _, k)| *k != entry.key))
    };
    let between = |from: usize, to: usize| -> Option<usize> {
        let gap = text.get(from..to)?;
        let cut = rx(
            r"\s(?:to|into|onto|nach|in (?:die|den|das)|ins|vers|hacia|al?|à|au|→|and|und|y|et|then|dann)\s|[,;]\s",
        )
        .find(gap)
        .or_else(|| rx(r"\s(?:in|on|with|mit|con|avec|en|dans|sur|from|aus|von|de)\s").find_iter(gap).last())?;
        Some(from + cut.start())
    };
    let start = if others(0..at) {
        at.checked_sub(1)
            .and_then(|i| marks.get(i))
            .zip(marks.get(at))
            .and_then(|(before, own)| between(before.1, own.0))
    } else {
        None
    };
    let end = marks
        .iter()
        .skip(at + 1)
        .position(|(_, _, k)| *k != entry.key)
        .and_then(|i| marks.get(at + i).zip(marks.get(at + 1 + i)))
        .and_then(|(own, next)| between(own.1, next.0));
    text.get(start.unwrap_or(0)..end.unwrap_or(text.len()))
        .unwrap_or(text)
        .to_owned()
}

/// What the clause says next to its other services.
pub fn segments_of_others(m: &Masked, text: &str, entry: &ServiceEntry) -> Vec<String> {
    m.all(text, "s")
        .iter()
        .filter_map(|e| e.service)
        .filter(|s| s.key != entry.key)
        .map(|s| near(m, text, s))
        .filter(|n| n != text)
        .map(|n| m.plain(&n))
        .collect()
}

/// (kind, name) pairs of the text, in the order of the kinds.
pub fn names(m: &Masked, text: &str) -> Vec<(&'static str, String)> {
    let t = open(m, text);
    let mut out: Vec<(&'static str, String)> = Vec::new();
    for (kind, forms, loose) in KINDS {
        let behind = rx(&format!(
            r#"(?:^|[\s(,\[-])(?:{forms})\s+(?:(?:in |im |de |en |dans )?§s\d+§,?\s+)?(?:named |called |namens |llamad[oa] |appelée? |with (?:the )?id |mit (?:der )?id |id |nr\.? |no\.? |number |: )?(?P<name>"[^"]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|‘[^’]+’|'[^']+'|`[^`]+`|[\p{{L}}\d][\p{{L}}\d_./-]*)(?P<more>(?:\s(?-i:[A-ZÄÖÜ]\w+|\d+))*)"#
        ));
        let mut found = None;
        for caps in behind.captures_iter(&t) {
            let Some(name) = caps.name("name") else {
                continue;
            };
            let raw = name.as_str();
            let quoted = raw.starts_with(['"', '“', '„', '«', '‘', '\'', '`']);
            let bare = raw
                .trim_matches(|c| "\"“”„«»‘’'`".contains(c))
                .trim()
                .trim_end_matches(['.', '/', '-']);
            if bare.is_empty() || !quoted && has(NO_NAME, bare) {
                continue;
            }
            let capital = bare.chars().next().is_some_and(char::is_uppercase);
            if !(quoted || identifier(bare) || capital || loose) {
                continue;
            }
            let more = caps.name("more").map_or("", |x| x.as_str());
            let value = if capital && !quoted && !identifier(bare) {
                format!("{bare}{more}")
            } else {
                bare.to_owned()
            };
            found = Some(value);
            break;
        }
        // "the orders queue"
        if found.is_none() && loose {
            found = first(
                &format!(r"\b(?:the|our|my)\s+([\w-]{{3,}})\s+(?:{forms})\b"),
                &t,
            )
            .filter(|w| {
                !has(NO_NAME, w)
                    && !has(r"^(?:right|following|given|google|other|next|last|first|main|whole|data|rate|redis|sql|database|message|price|reading|work|search|kafka|private|public|correct|matching)$", w)
            })
            .map(str::to_owned);
        }
        if let Some(value) = found
            && !out.iter().any(|(k, _)| *k == kind)
        {
            out.push((kind, value));
        }
    }
    // "in acme/web"
    if let Some(c) =
        rx(r"(?:^|\s)(?-i:([A-Za-z][\w.-]*)/([A-Za-z][\w.-]*\w))(?:[\s,.;:]|$)").captures(&t)
        && let (Some(owner), Some(repository)) = (c.get(1), c.get(2))
    {
        out.retain(|(k, _)| *k != "repository" && *k != "project");
        out.push(("owner", owner.as_str().to_owned()));
        out.push(("repository", repository.as_str().to_owned()));
    }
    // "sensor.living_room"
    if let Some(entity) = first(
        r"\b((?:sensor|binary_sensor|light|switch|climate|cover|lock|fan|person|scene|script|input_\w+|media_player|device_tracker|weather)\.\w+)\b",
        &t,
    ) {
        out.push(("entity", entity.to_owned()));
    }
    out
}

/// "whose expires_at is before now", "where status = expired".
pub fn wheres(m: &Masked, text: &str) -> Vec<Arg> {
    let Some(tail) = first(
        r"\b((?:whose|where|deren|dessen|bei denen|cuy[oa]s?|donde|dont|où|wo)\s.+)$",
        text,
    )
    .or_else(|| {
        first(
            r"\b((?:with|mit|con|avec)\s+§?\w+§?\s*(?:=|is|equals|gleich)\s.+)$",
            text,
        )
    })
    .or_else(|| {
        first(
            r"\b((?:older|älter|plus vieux|más antigu\w+)\s+(?:than|als|que|de)\s.+)$",
            text,
        )
    }) else {
        return Vec::new();
    };
    let tail = rx(r"^(?:whose|where|deren|dessen|bei denen|cuy[oa]s?|donde|dont|où|wo)\s+(?:the |die |der |das |el |la |le )?")
        .replace(tail, "")
        .into_owned();
    if let Some(c) = rx(r"^(§[a-z]\d+§|[\w.-]+)\s+(?:\w+\s+){0,2}?(?:before now|in the past|in der vergangenheit|en el pasado|dans le passé|before today|abgelaufen|has passed|have passed|older than now|vor heute|antes de (?:hoy|ahora)|avant aujourd'hui)(?:\s+(?:ist|liegt|sind))?\b").captures(&tail)
        && let Some(column) = c.get(1)
    {
        let column = m.plain(column.as_str());
        return vec![arg(
            Role::Where { column, op: Cmp::Lt },
            Val::Now {
                offset_seconds: 0,
                format: None,
            },
        )];
    }
    cond::condition(m, &tail)
        .map(|c| flat(&c))
        .unwrap_or_default()
}

fn flat(condition: &Cond) -> Vec<Arg> {
    match condition {
        Cond::All { of } => of.iter().flat_map(flat).collect(),
        Cond::Compare {
            left: Val::Field { name, .. },
            op,
            right,
        } if name.split_whitespace().count() <= 3 => vec![arg(
            Role::Where {
                column: name.split_whitespace().collect::<Vec<_>>().join("_"),
                op: *op,
            },
            right.clone(),
        )],
        Cond::Age {
            field: Val::Field { name, .. },
            older,
            seconds,
        } => vec![arg(
            Role::Where {
                column: if name.is_empty() {
                    "created_at".into()
                } else {
                    name.split_whitespace().collect::<Vec<_>>().join("_")
                },
                op: if *older { Cmp::Lt } else { Cmp::Gt },
            },
            Val::Now {
                offset_seconds: i64::try_from(*seconds).map_or(0, |s| -s),
                format: None,
            },
        )],
        _ => Vec::new(),
    }
}

/// Adds what is named and not yet among the arguments. `ends`: the step changes or deletes the records that a condition
/// picks.
pub fn complete(m: &Masked, text: &str, entry: &ServiceEntry, out: &mut Vec<Arg>, ends: bool) {
    let near = near(m, text, entry);
    let mut found = names(m, &near);
    if found.is_empty() && m.one(&near, "hu").is_none() {
        let others = if entry.is("db") {
            Vec::new()
        } else {
            segments_of_others(m, text, entry)
        };
        found = names(m, text);
        found.retain(|(_, name)| !others.iter().any(|o| o.contains(name.as_str())));
    }
    // "the Google Sheet Orders"
    if entry.is("sheet")
        && !found.iter().any(|(k, _)| *k == "sheet")
        && let Some(name) = first(
            r#"§s\d+§\s+(?:sheet |file |spreadsheet |tabelle |datei |named |called |llamad[oa] )?((?-i:"[^"]+"|[A-ZÄÖÜ][\p{L}\d_-]*(?:\s(?:[A-ZÄÖÜ]\w+|\d+))*))"#,
            &open(m, text),
        )
        && !has(NO_NAME, name)
    {
        found.insert(0, ("sheet", name.trim_matches('"').to_owned()));
    }
    let talks = entry.is("mail") || entry.is("chat") || entry.is("sms");
    for (kind, value) in found {
        if talks && !matches!(kind, "stream" | "team" | "topic") {
            continue;
        }
        let part = matches!(kind, "table" | "tab")
            || kind == "collection" && entry.is("db")
            || kind == "section";
        let whole = matches!(
            kind,
            "base"
                | "database"
                | "sheet"
                | "project"
                | "board"
                | "bucket"
                | "calendar"
                | "workspace"
        ) || kind == "list" && entry.is("newsletter");
        let role = if part { Role::Part } else { Role::Container };
        // a name that was cut at a hyphen or a blank
        for a in out.iter_mut() {
            if matches!(a.role, Role::Container | Role::Part)
                && let Val::Lit { value: old } = &a.value
                && let Some(old) = old.as_str()
                && old != value
                && value.starts_with(old)
            {
                a.value = lit(value.clone());
            }
        }
        let known = out.iter().any(|a| {
            a.value == lit(value.clone()) && matches!(a.role, Role::Container | Role::Part)
        });
        if (part || whole) && !known && !talks && !out.iter().any(|a| a.role == role) {
            out.push(arg(role, lit(value.clone())));
        }
        if !out
            .iter()
            .any(|a| matches!(&a.role, Role::Named(k) if k == kind))
        {
            out.push(arg(Role::Named(kind.into()), lit(value)));
        }
    }
    if ends && !talks {
        out.extend(wheres(m, text));
    }
}

#[cfg(test)]
#[path = "named_tests.rs"]
mod named_tests;
