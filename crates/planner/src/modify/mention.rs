//! Which nodes a phrase means: by name, by service, by kind ("the webhook", "the prompt", "the request to the rates API").

use crate::compile::rewire::{acts, reads};
use crate::compile::words::{fold, plain, words};
use crate::lexicon::has;
use agentctl_n8n::short_type;
use agentctl_n8n::{Node, Workflow};

const WAIT: &str = r"\b(?:wait(?:ing)?|pause|pausa|delay|warten|wartezeit|wartepause|verzögerung|espera|esperar|attente|attendre|délai)\b";

/// What is written, by nodes that write.
const WRITTEN: (&str, &[&str]) = (
    r"\b(?:saving|storing|writing(?: it| them)?(?: down)?|speichern|schreiben|guardar|escribir|enregistrer|écrire)\b",
    &[
        "googleSheets",
        "microsoftExcel",
        "postgres",
        "mySql",
        "mongoDb",
        "airtable",
        "notion",
        "nocoDb",
    ],
);

pub(super) fn is_wait(text: &str) -> bool {
    has(WAIT, text)
}

/// Words for kinds of nodes, and the type names they mean (a part of the short name).
const KINDS: &[(&str, &[&str])] = &[
    (r"\bwebhook\b", &["webhook"]),
    (
        r"\b(?:form|formular|formulario|formulaire)\b",
        &["formTrigger"],
    ),
    (
        r"\b(?:schedule|timing|trigger time|cron|zeitplan|horario|planification|timer)\b",
        &["scheduleTrigger", "cron", "interval"],
    ),
    (r"\b(?:prompt|agent|system message|assistant)\b", &["agent"]),
    (r"\b(?:memory|gedächtnis|memoria|mémoire)\b", &["memory"]),
    (
        r"\b(?:calculator|taschenrechner|rechner|calculadora|calculatrice)\b",
        &["toolCalculator"],
    ),
    (r"\b(?:model|llm|modell|modelo|modèle)\b", &["lmChat"]),
    (
        r"\b(?:request|http|api call|api|fetch|call|anfrage|abruf|petición|llamada|requête|appel)\b",
        &["httpRequest"],
    ),
    (
        r"\b(?:condition|if|branch|bedingung|condición)\b",
        &["if", "switch", "filter"],
    ),
    (
        r"\b(?:mail(?:s|ing)?|e-mails?|emails?|correo|courriel)\b",
        &[
            "gmail",
            "emailSend",
            "microsoftOutlook",
            "sendGrid",
            "mailgun",
        ],
    ),
    (
        r"\b(?:sheet|spreadsheet|tabelle|tab|hoja|feuille)\b",
        &["googleSheets", "microsoftExcel"],
    ),
    (
        r"\b(?:database|datenbank|base de datos|base de données|sql|query|select|abfrage|consulta)\b",
        &[
            "postgres",
            "mySql",
            "mongoDb",
            "microsoftSql",
            "snowflake",
            "googleBigQuery",
        ],
    ),
    (r"\b(?:code|script|function)\b", &["code", "function"]),
    (r"\b(?:classifier|classification)\b", &["textClassifier"]),
    (r"\b(?:limit|limite|límite|begrenzung)\b", &["limit"]),
    (r"\b(?:feed|rss)\b", &["rssFeedRead", "rssFeedReadTrigger"]),
    (
        r"\b(?:sort(?:ing)?|sortierung|orden(?:ación)?|tri)\b",
        &["sort"],
    ),
    (WAIT, &["wait"]),
    (r"\b(?:filter|filtro|filtre)\b", &["filter"]),
    (
        r"\b(?:loop|schleife|bucle|boucle|batch(?:es)?)\b",
        &["splitInBatches"],
    ),
    (
        r"\b(?:summary|summari[sz]\w*|zusammenfassung|resumen|résumé)\b",
        &["chainSummarization"],
    ),
    (r"\b(?:chat trigger|chat)\b", &["chatTrigger"]),
    (
        r"\b(?:calendar|kalender|calendario|calendrier)\b",
        &["googleCalendar"],
    ),
];

fn short(node: &Node) -> &str {
    short_type(node.node_type())
}

/// Whether a name stands in a text, and not within a longer word or number: "Part 2" is not meant by "Part 21".
fn stands_in(text: &str, name: &str) -> bool {
    let joins = |a: Option<char>, b: Option<char>| {
        a.is_some_and(char::is_alphanumeric) && b.is_some_and(char::is_alphanumeric)
    };
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let behind = text.get(at + name.len()..).and_then(|t| t.chars().next());
        !joins(before, name.chars().next()) && !joins(name.chars().next_back(), behind)
    })
}

/// Whether a phrase says what kind of node this is.
pub(super) fn is_kind(node: &Node, phrase: &str) -> bool {
    let (written, stores) = WRITTEN;
    let writes = stores.contains(&short(node)) && acts(node) && !reads(node);
    writes && has(written, phrase)
        || KINDS.iter().any(|(pattern, types)| {
            let is = types.iter().any(|t| {
                short(node) == *t
                    || (matches!(*t, "memory" | "lmChat") && short(node).starts_with(t))
            });
            is && has(pattern, phrase)
        })
}

/// How sure a phrase means a node, 0 to 1; a little more where it names it.
fn score(node: &Node, phrase: &str) -> f64 {
    let said = fold(phrase);
    let name = fold(node.name());
    if name.len() > 2 && stands_in(&said, &name) {
        // of two names, one in the other, the longer one is meant
        return 1.0 + name.len() as f64 / 1_000_000.0;
    }
    let mut best: f64 = 0.0;
    // the service's own name: "Zendesk", "Google Sheets"
    let service = plain(
        short(node)
            .trim_end_matches("Trigger")
            .trim_end_matches("Tool"),
    );
    let service: Vec<&String> = service
        .iter()
        .filter(|w| {
            !matches!(
                w.as_str(),
                "lm" | "chat" | "tool" | "send" | "google" | "microsoft"
            )
        })
        .collect();
    let said_words = plain(phrase);
    let all = !service.is_empty()
        && service
            .iter()
            .all(|w| w.len() > 2 && said_words.contains(w));
    if all {
        best = 0.9;
    }
    if is_kind(node, phrase) {
        best = best.max(0.7);
    }
    // words of the node's name
    let name_words = words(node.name());
    let phrase_words = words(phrase);
    let hits = name_words
        .iter()
        .filter(|w| w.len() > 2 && phrase_words.contains(w))
        .count();
    if !name_words.is_empty() && hits > 0 {
        best = best.max(0.75 * hits as f64 / name_words.len() as f64);
    }
    best
}

/// All nodes that a phrase means.
pub(super) fn all(workflow: &Workflow, phrase: &str) -> Vec<String> {
    workflow
        .nodes
        .iter()
        .filter(|n| score(n, phrase) >= 0.6)
        .map(|n| n.name().to_owned())
        .collect()
}

/// The one node that a phrase means best.
pub(super) fn one(workflow: &Workflow, phrase: &str, not: &[String]) -> Option<String> {
    let mut best: Option<(&Node, f64)> = None;
    for node in workflow
        .nodes
        .iter()
        .filter(|n| !not.iter().any(|k| k == n.name()) && !n.is_sticky())
    {
        let s = score(node, phrase);
        if s >= 0.5 && s > best.map_or(0.0, |b| b.1) {
            best = Some((node, s));
        }
    }
    best.map(|(n, _)| n.name().to_owned())
}

pub(super) fn of_type(workflow: &Workflow, part: &str) -> Vec<String> {
    workflow
        .nodes
        .iter()
        .filter(|n| {
            short(n) == part
                || (part.ends_with('*') && short(n).starts_with(part.trim_end_matches('*')))
        })
        .map(|n| n.name().to_owned())
        .collect()
}

/// The last action nodes of the main flow, where a step "at the end" goes.
pub(super) fn ends(workflow: &Workflow) -> Vec<String> {
    let feeds = |name: &str| {
        workflow
            .edges()
            .any(|(from, kind, _, _)| from == name && kind == "main")
    };
    let fed = |name: &str| {
        workflow
            .edges()
            .any(|(_, kind, _, link)| link.node == name && kind == "main")
    };
    workflow
        .nodes
        .iter()
        .filter(|n| !n.is_sticky() && !feeds(n.name()) && fed(n.name()))
        .map(|n| n.name().to_owned())
        .collect()
}
