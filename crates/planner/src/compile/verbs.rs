//! The user's own verb against a node's operations: "trigger the job", "push onto the list", "archive the card". A table of
//! verb families in four languages; what is in no family meets an operation of the same word. Scores only.

use super::super::plan::Verb;
use super::words::plain;
use agentctl_n8n::catalog::PropertyOption;

/// (forms in all languages, first words of operations best first, for reading steps).
const FAMILIES: &[(&[&str], &[&str], bool)] = &[
    (
        &[
            "set up", "schedule", "book", "open", "raise", "plane", "lege", "anlegen", "buche",
            "agenda", "reserva", "programa", "planifie", "réserve", "ouvre", "abre",
        ],
        &["create", "add", "open", "schedule", "new"],
        false,
    ),
    (
        &[
            "trigger",
            "run",
            "start",
            "launch",
            "execute",
            "kick",
            "fire",
            "invoke",
            "dispatch",
            "starte",
            "starten",
            "löse",
            "führe",
            "ausführen",
            "ejecuta",
            "lanza",
            "inicia",
            "lance",
            "exécute",
            "démarre",
            "déclenche",
            "rebuild",
            "deploy",
            "turn",
            "switch",
            "call",
        ],
        &[
            "trigger", "run", "start", "execute", "invoke", "dispatch", "build", "launch", "call",
            "make",
        ],
        false,
    ),
    (
        &[
            "push", "enqueue", "queue", "put", "lpush", "rpush", "schiebe", "stelle", "encola",
            "empile", "pousse",
        ],
        &["push", "enqueue", "send"],
        false,
    ),
    (
        &[
            "publish",
            "veröffentliche",
            "publica",
            "publie",
            "broadcast",
        ],
        &["publish", "post", "send"],
        false,
    ),
    (
        &["archive", "archiviere", "archivieren", "archiva"],
        &["archive"],
        false,
    ),
    (&["unarchive"], &["unarchive"], false),
    (
        &[
            "close",
            "resolve",
            "complete",
            "finish",
            "schließe",
            "erledige",
            "cierra",
            "completa",
            "ferme",
            "clôture",
            "termine",
        ],
        &["close", "resolve", "complete", "done", "finish"],
        false,
    ),
    (&["reopen"], &["reopen"], false),
    (
        &["move", "verschiebe", "mueve", "déplace"],
        &["move"],
        false,
    ),
    (
        &[
            "copy",
            "duplicate",
            "clone",
            "kopiere",
            "copia",
            "copie",
            "duplique",
        ],
        &["copy", "duplicate", "clone"],
        false,
    ),
    (
        &["rename", "umbenennen", "renombra", "renomme"],
        &["rename", "move", "update"],
        false,
    ),
    (
        &[
            "increment",
            "increase",
            "erhöhe",
            "incrementa",
            "incrémente",
            "bump",
        ],
        &["incr", "increment", "increase"],
        false,
    ),
    (
        &["cancel", "storniere", "cancela", "annule"],
        &["cancel", "delete"],
        false,
    ),
    (&["invite", "lade", "invita"], &["invite", "create"], false),
    (
        &["tag", "label", "etiqueta", "étiquette", "verschlagworte"],
        &["tag", "add", "addtag", "apply", "label"],
        false,
    ),
    (
        &["assign", "weise", "asigna", "assigne"],
        &["assign", "update", "edit"],
        false,
    ),
    (
        &[
            "reply", "answer", "respond", "antworte", "responde", "réponds",
        ],
        &["reply", "respond", "answer"],
        false,
    ),
    (
        &["share", "teile", "comparte", "partage"],
        &["share"],
        false,
    ),
    (
        &[
            "lock",
            "unlock",
            "pause",
            "resume",
            "skip",
            "play",
            "stop",
            "mute",
            "star",
            "unstar",
            "follow",
            "unfollow",
            "like",
            "retweet",
            "approve",
            "reject",
            "verify",
            "validate",
            "void",
            "refund",
            "acknowledge",
            "snooze",
            "block",
            "unblock",
            "enable",
            "disable",
            "activate",
            "deactivate",
            "restore",
            "watch",
            "unwatch",
            "ban",
            "kick",
            "purge",
            "clear",
            "merge",
            "shorten",
            "translate",
            "convert",
            "encrypt",
            "enrich",
            "identify",
            "subscribe",
            "unsubscribe",
            "transfer",
            "sync",
            "refresh",
            "submit",
            "sign",
            "compress",
            "resize",
            "scan",
            "track",
            "log",
        ],
        &[],
        false,
    ),
    (
        &["count", "zähle", "cuenta", "compte"],
        &["count", "getall", "get", "search"],
        true,
    ),
    (
        &[
            "search",
            "suche",
            "busca",
            "cherche",
            "find",
            "finde",
            "look up",
            "lookup",
            "encuentra",
            "trouve",
        ],
        &["search", "find", "lookup", "query", "getall", "get"],
        true,
    ),
    (
        &["download", "lade", "descarga", "télécharge"],
        &["download", "get", "export"],
        true,
    ),
    (
        &[
            "peek",
            "pop",
            "read",
            "export",
            "validate",
            "translate",
            "analyze",
            "analyse",
            "detect",
            "scan",
            "enrich",
            "verify",
            "screenshot",
        ],
        &[],
        true,
    ),
];

/// How well an operation fits the verb that was said, 0 to about 1.2; 0 when the verb says nothing about it.
pub(super) fn said_score(verb: Verb, option: &PropertyOption, said: &str) -> f64 {
    let value = plain(option.value.as_str().unwrap_or(""));
    let label = plain(&option.label);
    let (Some(head), first_label) = (value.first(), label.first()) else {
        return 0.0;
    };
    let reading = matches!(
        verb,
        Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download
    );
    let spoken = spoken(said);
    let heard = flat(said);
    let mut best: f64 = 0.0;
    for (forms, operations, reads) in FAMILIES {
        if *reads != reading {
            continue;
        }
        for form in *forms {
            if !spoken.iter().any(|s| {
                s == form || s.strip_suffix('s') == Some(form) || s.strip_suffix("es") == Some(form)
            }) {
                continue;
            }
            let at = if operations.is_empty() {
                (head == form || first_label.is_some_and(|l| l == form)).then_some(0)
            } else {
                operations.iter().position(|o| {
                    head == o || first_label.is_some_and(|l| l == o) || value.concat() == **o
                })
            };
            if let Some(place) = at {
                // `triggerParams` and `createComment` say more than was said
                let surplus = value
                    .iter()
                    .skip(1)
                    .filter(|w| *w != "all" && !flat(w).iter().all(|w| heard.contains(w)))
                    .count() as f64;
                best = best.max(1.16 - 0.03 * place as f64 - 0.3 * surplus);
            }
        }
    }
    best
}

/// The words that stand where a verb stands: first, after "and", "then", a comma, "to", or last (German).
fn spoken(said: &str) -> Vec<String> {
    let lower = said.to_lowercase();
    let tokens: Vec<String> = lower
        .split_whitespace()
        .map(|w| w.trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
        .collect();
    let raw: Vec<&str> = lower.split_whitespace().collect();
    let mut out = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let before = i.checked_sub(1);
        let opens = before.is_none_or(|b| {
            raw.get(b)
                .is_some_and(|w| w.ends_with([',', ':', ';', '.']))
                || tokens.get(b).is_some_and(|w| {
                    matches!(
                        w.as_str(),
                        "" | "and"
                            | "then"
                            | "und"
                            | "dann"
                            | "y"
                            | "luego"
                            | "et"
                            | "puis"
                            | "please"
                            | "bitte"
                            | "to"
                            | "also"
                            | "zu"
                    )
                })
        });
        if !opens {
            continue;
        }
        out.push(token.clone());
        if let Some(next) = tokens.get(i + 1) {
            out.push(format!("{token} {next}"));
        }
    }
    out
}

/// The share of an operation's own words (its verb left out) that the request says: "rows" in `getAllRows`.
pub(super) fn told(option: &PropertyOption, said: &str) -> f64 {
    let own: Vec<String> = flat(&format!(
        "{} {}",
        option.value.as_str().unwrap_or(""),
        option.label
    ))
    .into_iter()
    .filter(|w| {
        !matches!(
            w.as_str(),
            "get"
                | "all"
                | "many"
                | "create"
                | "add"
                | "update"
                | "delete"
                | "send"
                | "set"
                | "or"
                | "make"
                | "by"
                | "from"
                | "post"
                | "list"
                | "remove"
                | "upload"
                | "new"
                | "message"
        )
    })
    .collect();
    let said = flat(said);
    if own.is_empty() {
        return 0.0;
    }
    own.iter().filter(|w| said.contains(w)).count() as f64 / own.len() as f64
}

/// Plain words without a plural s; no synonyms: a comment is no body here.
fn flat(text: &str) -> Vec<String> {
    plain(text)
        .into_iter()
        .map(|w| w.strip_suffix('s').map(str::to_owned).unwrap_or(w))
        .collect()
}

/// What the request forbids or does not say: no deletion unasked, no sending of a draft.
pub(super) fn forbidden(verb: Verb, option: &PropertyOption, said: &str) -> f64 {
    let value = plain(option.value.as_str().unwrap_or(""));
    let head = value.first().map_or("", String::as_str);
    let said_words = plain(said);
    let says = |list: &[&str]| {
        said_words
            .iter()
            .any(|w| list.iter().any(|l| w.starts_with(l)))
    };
    let destroys = matches!(
        head,
        "delete"
            | "purge"
            | "remove"
            | "clear"
            | "drop"
            | "empty"
            | "trash"
            | "truncate"
            | "erase"
            | "wipe"
            | "destroy"
            | "kick"
            | "ban"
    );
    if destroys
        && !matches!(verb, Verb::Delete | Verb::Remove)
        && !says(&[
            "delet", "remov", "purg", "clear", "drop", "trash", "empt", "wip", "eras", "loesch",
            "entfern", "elimin", "borra", "supprim", "vide", "cancel", "kick", "ban", "unsub",
        ])
    {
        return -3.0;
    }
    let sends = matches!(head, "send" | "reply" | "publish");
    if sends && says(&["draft", "entwurf", "borrador", "brouillon"]) && !says(&["publish"]) {
        return -3.0;
    }
    // "look the customer up by e-mail": by no id
    let by_value = said_words.windows(2).any(|w| {
        matches!(w, [by, what] if matches!(by.as_str(), "by" | "per" | "por" | "par" | "nach")
            && matches!(what.as_str(), "email" | "mail" | "name" | "title" | "phone" | "correo" | "nombre" | "titel" | "nom"))
    });
    if by_value && matches!(verb, Verb::Get) && matches!(head, "search" | "find" | "lookup") {
        return 0.15;
    }
    if by_value && matches!(verb, Verb::Get) && value.concat() == "getall" {
        return 0.1;
    }
    0.0
}
