//! Work for a model that is told, not ordered: "an LLM returns name and score as JSON", "ChatGPT daraus … schreiben lassen",
//! "an agent answers it". Each becomes an order ("let an LLM extract name and score"). Knows wordings, no service.

use crate::lexicon::{has, rx};
use crate::read::text::Masked;
use agentctl_base::lazy_regex::Captures;

const MODEL: &str = r"§s\d+§|(?:chat-?gpt|gpt-?\d?[\w.-]*\w|claude|gemini|mistral|llm|ai(?: model)?|ki|ia|language model|sprachmodell|modelo(?: de lenguaje)?|modèle(?: de langage)?)";
const ARTICLE: &str = r"(?:an?|the|our|ein(?:e[mnr]?)?|das|die|dem|un|une|el|la|le)\s+";
/// Hands back values: they are extracted when they are listed.
const GIVES: &str = "returns?|liefert|gives(?: back| us)?|delivers?|outputs?|produces?|determines?|ermittelt|bestimmt|vergibt|devuelve|entrega|renvoie|donne|fournit|retourne|assigns?|estimates?|picks out|pulls out";
/// Verbs of a model, and the order that stands for them.
const WORKS: &[(&str, &str)] = &[
    ("extracts|extrahiert|extrae|extrait", "extract"),
    (
        "writes|schreibt|verfasst|formuliert|erstellt|escribe|redacta|rédige|écrit|drafts|composes|generates|erzeugt",
        "write",
    ),
    ("summari[sz]es|fasst|resume|résume", "summarize"),
    ("translates|übersetzt|traduce|traduit", "translate"),
    (
        "classifies|categori[sz]es|klassifiziert|kategorisiert|clasifica|classe",
        "classify",
    ),
    ("rates|scores|bewertet|evaluates|evalúa|évalue", "score"),
    ("decides|entscheidet|decide|décide", "decide"),
];

/// The masked text with its models and agents given orders.
pub fn plain(m: &Masked, text: &str) -> String {
    let text = had_done(m, text);
    let text = told(m, &text);
    let text = agents(&text);
    rx(r"[,;]?\s+(?:(?:and|und|y|et)\s+)?(?:the|der|el|le)\s+(?:webhook|endpoint|api)\s+(?:then\s+)?(?:returns?|answers?(?: with)?|responds?(?: with)?|antwortet(?: mit)?|liefert|responde(?: con)?|devuelve|renvoie|répond(?: avec)?)\s+(§b\d+§)")
        .replace_all(&text, ", then respond with $1")
        .into_owned()
}

fn is_model(m: &Masked, said: &str) -> bool {
    !said.starts_with('§')
        || m.entity(said)
            .and_then(|e| e.service)
            .is_some_and(|s| s.is("llm"))
}

/// "ChatGPT daraus kurze Release Notes schreiben lassen", "von einer KI zusammenfassen lassen".
fn had_done(m: &Masked, text: &str) -> String {
    const DONE: &[(&str, &str)] = &[
        (
            r"schreiben|verfassen|erstellen|formulieren|generieren|erzeugen|entwerfen|texten",
            "write",
        ),
        (r"zusammenfassen", "summarize"),
        (r"übersetzen", "translate"),
        (r"extrahieren|auslesen|herausziehen", "extract"),
        (
            r"klassifizieren|kategorisieren|einordnen|einteilen",
            "classify",
        ),
        (r"bewerten|einschätzen", "score"),
    ];
    let verbs = DONE.iter().map(|(w, _)| *w).collect::<Vec<_>>().join("|");
    rx(&format!(
        r"(^|[\s,:;(])(?:(?:von|mit|durch|per|über)\s+)?(?:{ARTICLE})?({MODEL})\s+(?:(?:daraus|damit|dazu|davon|hieraus)\s+)?([^.;:,]{{0,90}}?)\s*\b({verbs})\s+(?:lassen|lässt|lasse)\b"
    ))
    .replace_all(text, |c: &Captures<'_>| {
        let part = |i: usize| c.get(i).map_or("", |x| x.as_str());
        if !is_model(m, part(2)) {
            return part(0).to_owned();
        }
        let verb = DONE.iter().find(|(w, _)| has(&format!("^(?:{w})$"), part(4))).map_or("write", |(_, v)| v);
        format!("{}let {} {verb} {}", part(1), part(2), part(3)).trim_end().to_owned()
    })
    .into_owned()
}

/// "an LLM returns name and score as JSON" → "let an LLM extract name and score".
fn told(m: &Masked, text: &str) -> String {
    let works = WORKS.iter().map(|(w, _)| *w).collect::<Vec<_>>().join("|");
    let pattern = rx(&format!(
        r"(?P<before>^|[.;:,\n]\s*|\S\s+)(?P<join>(?:and|und|then|dann|danach|y|et|puis|luego)\s+)?(?P<article>{ARTICLE})?(?P<model>{MODEL})(?:\s+(?:model|modell|node))?\s+(?:daraus\s+|then\s+|dann\s+)?(?P<verb>{GIVES}|{works})\b(?P<rest>[^.;\n→]*)"
    ));
    let mut out = String::new();
    let mut from = 0;
    while let Some(c) = pattern.captures_at(text, from) {
        let name = |n: &str| c.name(n).map_or("", |x| x.as_str());
        let Some(whole) = c.get(0) else { break };
        let start = whole.start() + name("before").len();
        let ahead = text.get(..start).unwrap_or_default();
        let ordered = has(
            r"\b(?:let|have|ask|use|using|by|via|with|from|that|which|when|if|once|lass|mit|von|durch|per|wenn|sobald|deja|con|cuando|si|avec|par|quand|laisse|the|new|answer|what|after)\s+$",
            ahead,
        );
        if ordered || !is_model(m, name("model")) {
            out.push_str(text.get(from..whole.end()).unwrap_or_default());
            from = whole.end();
            continue;
        }
        let rest = listed(m, name("rest"));
        let verb = WORKS
            .iter()
            .find(|(w, _)| has(&format!("^(?:{w})$"), name("verb")))
            .map_or_else(
                || if is_list(&rest) { "extract" } else { "write" },
                |(_, v)| *v,
            );
        out.push_str(
            text.get(from..start)
                .unwrap_or_default()
                .trim_end_matches(' '),
        );
        if !out.is_empty() && !out.ends_with('\n') {
            let open = out.ends_with(['.', ';', ':', ',', '→']);
            out.push_str(if open { " " } else { ", " });
        }
        out.push_str(&format!(
            "let {}{} {verb}{rest}",
            name("article").to_lowercase(),
            name("model")
        ));
        from = whole.end();
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The values that are handed back, without their form and their ranges.
fn listed(m: &Masked, rest: &str) -> String {
    let t = rx(r"\s*\b(?:as|als|en|in|au format|como|im)\s+(?:(?:a|an|ein|un|valid|strict|gültiges)\s+)?(?:structured\s+|strukturierte[ns]?\s+)?(?:json(?:[- ]\w+)?|output|ausgabe|object|format json)\b|\s+\b(?:from|between|zwischen|von|de|entre)\s+\d+\s*(?:to|and|bis|und|a|y|à|et|-)\s*\d+|\s+\(?\d+\s*[-–]\s*\d+\)?")
        .replace_all(rest, "")
        .into_owned();
    rx(r"\s*§r\d+§")
        .replace_all(&t, |c: &Captures<'_>| {
            let mark = c.get(0).map_or("", |x| x.as_str());
            let range = m.entity(mark.trim()).is_some_and(|e| {
                has(
                    r"^\s*(?:from\s+|von\s+|de\s+)?\d+\s*(?:to|bis|-|–|a|à|\.\.)\s*\d+\s*$",
                    &e.value,
                )
            });
            if range {
                String::new()
            } else {
                mark.to_owned()
            }
        })
        .into_owned()
}

fn is_list(rest: &str) -> bool {
    rest.contains("§b")
        || rest.contains(',')
        || rest.contains("§r")
        || has(r"\s(?:and|und|y|et)\s", rest)
        || rest.split_whitespace().count() <= 2
}

/// "an agent answers it" → "let an agent answer it".
fn agents(text: &str) -> String {
    rx(r"(^|[.;:,\n]\s*|\S\s+)((?:(?:and|und|then|dann|y|et)\s+)?)\b((?:an?|ein|un)\s+(?:(?:ai|ki|ia|llm)[- ])?agente?)\s+(returns?|answers?|antwortet|beantwortet|replies|responds?|writes|looks|researches|decides|recherchiert|entscheidet|responde|contesta|devuelve|répond|renvoie|liefert|checks|drafts|handles)\b")
        .replace_all(text, |c: &Captures<'_>| {
            let part = |i: usize| c.get(i).map_or("", |x| x.as_str());
            let before = part(1).trim_end();
            if has(r"^(?:let|have|ask|that|which|if|when|with)$", before) {
                return part(0).to_owned();
            }
            let verb = match part(4).to_lowercase().as_str() {
                "returns" | "return" | "liefert" | "devuelve" | "renvoie" => "return",
                "answers" | "answer" | "antwortet" | "beantwortet" | "replies" | "responds" | "respond" | "responde" | "contesta" | "répond" => "answer",
                "writes" => "write",
                "looks" => "look",
                "researches" | "recherchiert" => "research",
                "decides" | "entscheidet" => "decide",
                "checks" => "check",
                "drafts" => "draft",
                _ => "handle",
            };
            let lead = match before {
                "" => String::new(),
                b if b.ends_with(['.', ';', ':', ',']) => format!("{b} "),
                b => format!("{b}, "),
            };
            let lead = if part(1).ends_with('\n') { part(1).to_owned() } else { lead };
            format!("{lead}let {} {verb}", part(3).to_lowercase())
        })
        .into_owned()
}

#[cfg(test)]
#[path = "phrasing_tests.rs"]
mod phrasing_tests;
