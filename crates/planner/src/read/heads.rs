//! Branch heads without "if": "Rating 1 or 2: …", "Urgency high → …", "From 70 points: …", "Not there: …". Each becomes a
//! conditional sentence, as far as it can be read as a comparison. Knows wordings, no service.

use crate::lexicon::{has, rx};
use crate::read::act::verb_in;
use crate::read::text::Masked;
use crate::read::value::{clean_field, list};
use agentctl_base::lazy_regex::Captures;

/// Fields that hold a state; a value may stand right behind them.
const STATES: &str = "status|state|stage|severity|urgency|priority|type|kind|category|country|currency|language|plan|tier|source|label|level|region|department|team|size|gender|result|verdict|schweregrad|dringlichkeit|priorität|land|währung|sprache|typ|kategorie|abteilung|stufe|ergebnis|estado|urgencia|prioridad|país|moneda|idioma|tipo|categoría|resultado|statut|état|urgence|priorité|pays|devise|langue|catégorie|résultat";
/// Fields that hold a figure.
const FIGURES: &str = "score|rating|points?|amount|total|price|quantity|stock|temperature|confidence|nps|budget|value|age|count|punkte|punktzahl|bewertung|betrag|summe|preis|menge|bestand|temperatur|alter|puntuación|importe|precio|cantidad|temperatura|montant|prix|quantité|note";
const LESS: &str = "below|under|less than|fewer than|lower than|unter|weniger als|kleiner als|menos de|por debajo de|moins de|en dessous de";
const MORE: &str = "above|over|more than|higher than|greater than|exceeding|über|mehr als|größer als|más de|por encima de|plus de|au-dessus de";
const LEAST: &str =
    "from|at least|starting at|ab|mindestens|a partir de|desde|al menos|à partir de|dès|au moins";
const MOST: &str = "up to|at most|until|bis zu|bis|höchstens|hasta|como máximo|jusqu'à|au plus";
const NUM: &str = r"[$€£]?\s?\d[\d.,']*\s?[%€$]?";
const OR: &str = r"(?:\s*(?:,|/)\s*|\s+(?:or|and|oder|und|o|y|ou|et)\s+)";

/// The masked text with the heads of its branches as conditions.
pub fn plain(m: &Masked, text: &str) -> String {
    text.split('\n')
        .map(|line| {
            if line.matches('→').count() > 1 || has(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s", line) {
                line.to_owned()
            } else {
                running(m, line)
            }
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Heads in running text: a sentence's first words, up to a colon or an arrow.
fn running(m: &Masked, line: &str) -> String {
    let mut found = false;
    rx(r"(^|[.;!]\s+)([^.;:!→]{2,60}?)(:\s+|\s*→\s*)")
        .replace_all(line, |c: &Captures<'_>| {
            let part = |i: usize| c.get(i).map_or("", |x| x.as_str());
            let whole = part(0).to_owned();
            let behind = c.get(0).map_or("", |x| line.get(x.end()..).unwrap_or(""));
            if has(r"^(?:an? |the |status |http |code )*[1-5]\d\d\b", behind) {
                return whole;
            }
            match spoken(m, part(2)) {
                Some(said) => {
                    let negative = said == MISSING;
                    let text = match (negative, found) {
                        (true, true) => format!("{}Otherwise, ", part(1)),
                        _ => format!("{}If {said}, ", part(1)),
                    };
                    found |= said == THERE;
                    text
                }
                None => whole,
            }
        })
        .into_owned()
}

const THERE: &str = "it exists";
const MISSING: &str = "it does not exist";

/// The head as a comparison in plain words; none when it is no terse head.
pub fn spoken(m: &Masked, head: &str) -> Option<String> {
    let head = head.trim().trim_end_matches([',', ':']).trim();
    if head.contains("§s")
        || head.contains("§u")
        || head.contains("§c")
        || head.split_whitespace().count() > 8
        || has(
            r"^(?:{if}|{else}|{always}|{every}|{then}|then|for|on|at|in|with|um|am|im|bei|step|part|teil)\s",
            head,
        ) && !has(&format!(r"^(?:{LEAST}|{MOST})\s+{NUM}"), head)
        || verb_in(head).is_some_and(|(v, at)| {
            v.role == "action"
                && at == 0
                && !has(
                    &format!(r"^(?:{STATES}|{FIGURES})\b|^(?:{LEAST}|{MOST})\s+{NUM}"),
                    head,
                )
        })
    {
        return None;
    }
    let parts: Vec<&str> = split_on(r",?\s+(?:and|und|y|et|but|aber)\s+", head);
    let said: Option<Vec<String>> = parts.iter().map(|p| one(m, p)).collect();
    match said {
        Some(said) if said.len() > 1 && !said.iter().any(|s| s == THERE || s == MISSING) => {
            Some(said.join(" and "))
        }
        _ => one(m, head),
    }
}

/// A captured group without the spaces around it.
fn group<'c>(c: &Captures<'c>, i: usize) -> &'c str {
    c.get(i).map_or("", |x| x.as_str().trim())
}

fn split_on<'t>(pattern: &str, text: &'t str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for f in rx(pattern).find_iter(text) {
        parts.push(text.get(from..f.start()).unwrap_or_default().trim());
        from = f.end();
    }
    parts.push(text.get(from..).unwrap_or_default().trim());
    parts
}

fn one(m: &Masked, head: &str) -> Option<String> {
    let plain = m.plain(head);
    let known = known(m);
    counted(m, &plain, &known)
        .or_else(|| stated(m, head, &plain, &known))
        .or_else(|| there(m, &plain))
        .or_else(|| paired(m, &plain))
}

/// The names of fields that the request lists in braces or parentheses, and those written with underscores.
fn known(m: &Masked) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for e in &m.entities {
        let listed =
            matches!(e.kind.letter(), 'b') || e.kind.letter() == 'r' && e.value.contains(',');
        if listed {
            names.extend(
                list(&e.value)
                    .iter()
                    .map(|n| clean_field(n.split([':', '=', '(']).next().unwrap_or_default()))
                    .filter(|n| !n.is_empty() && n.split_whitespace().count() <= 3),
            );
        } else if e.kind.letter() == 'd' && !e.value.contains('.') {
            names.push(e.value.clone());
        }
    }
    names.retain(|n| {
        n.chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '))
    });
    names
}

/// A field that a head can speak of without saying "is".
fn is_name(name: &str, known: &[String]) -> bool {
    let name = name.trim();
    has(
        &format!(r"^(?:[\w-]+\s+){{0,2}}(?:{STATES}|{FIGURES})$"),
        name,
    ) || known.iter().any(|k| k.eq_ignore_ascii_case(name))
}

/// "Rating 1 or 2", "score 0 to 6", "70+ points", "from 70 points", "below 40".
fn counted(m: &Masked, t: &str, known: &[String]) -> Option<String> {
    if !has(r"\d", t) {
        return None;
    }
    let t = rx(r"^(?:an?|the|der|die|das|ein\w*|el|la|le|les|un|une)\s+")
        .replace(t, "")
        .into_owned();
    if let Some(c) = rx(&format!(r"^([\p{{L}}_][\p{{L}}\d_ -]{{1,28}}?)\s+(?:of\s+|von\s+|de\s+)?({NUM})\s*(?:to|bis|-|–|until|through|a|à)\s*({NUM})$")).captures(&t)
        && is_name(group(&c, 1), known)
    {
        return Some(format!("{} is between {} and {}", group(&c, 1), group(&c, 2), group(&c, 3)));
    }
    if let Some(c) = rx(&format!(r"^([\p{{L}}_][\p{{L}}\d_ -]{{1,28}}?)\s+(?:of\s+|von\s+|de\s+)?({NUM})(?:\+|\s+(?:or|and|oder|und|o|y|ou|et)\s+(?:more|above|higher|up|mehr|höher|darüber|más|plus))$")).captures(&t)
        && is_name(group(&c, 1), known)
    {
        return Some(format!("{} is at least {}", group(&c, 1), group(&c, 2)));
    }
    if let Some(c) = rx(&format!(r"^([\p{{L}}_][\p{{L}}\d_ -]{{1,28}}?)\s+(?:of\s+|von\s+|de\s+)?({NUM})\s+(?:or|and|oder|und|o|y|ou|et)\s+(?:less|below|lower|fewer|weniger|darunter|menos|moins)$")).captures(&t)
        && is_name(group(&c, 1), known)
    {
        return Some(format!("{} is at most {}", group(&c, 1), group(&c, 2)));
    }
    if let Some(c) = rx(&format!(
        r"^([\p{{L}}_][\p{{L}}\d_ -]{{1,28}}?)\s+((?:{NUM}{OR})*{NUM})$"
    ))
    .captures(&t)
        && is_name(group(&c, 1), known)
    {
        let values = split_on(OR, group(&c, 2));
        let name = group(&c, 1);
        return Some(format!("{name} is {}", values.join(" or ")));
    }
    for (words, sign) in [
        (LEAST, "at least"),
        (MOST, "at most"),
        (MORE, "more than"),
        (LESS, "less than"),
    ] {
        if let Some(c) = rx(&format!(r"^(?:{words})\s+({NUM})\s*([\p{{L}}]+)?(?:\s+(?:up|upwards|on|aufwärts|and (?:up|above|more)))?$")).captures(&t) {
            let name = measured(m, c.get(2).map_or("", |u| u.as_str()))?;
            return Some(format!("{name} is {sign} {}", group(&c, 1)));
        }
    }
    if let Some(c) = rx(&format!(
        r"^({NUM})\s*(?:to|bis|-|–|a|à)\s*({NUM})\s*([\p{{L}}]+)?$"
    ))
    .captures(&t)
    {
        let name = measured(m, c.get(3).map_or("", |u| u.as_str()))?;
        return Some(format!(
            "{name} is between {} and {}",
            group(&c, 1),
            group(&c, 2)
        ));
    }
    None
}

/// What a bare figure is about: the figure that the request speaks of.
fn measured(m: &Masked, unit: &str) -> Option<String> {
    let whole = m.plain(&m.text);
    let points = unit.is_empty()
        || has(
            r"^(?:points?|punkte?n?|puntos|pts?|%|percent|prozent)$",
            unit,
        );
    if !points {
        return Some(
            crate::read::cond::measured(&unit.to_lowercase())
                .unwrap_or(unit)
                .to_owned(),
        );
    }
    rx(&format!(r"(?:^|[\s,{{(])(\w*_?(?:{FIGURES}))\b"))
        .captures(&whole)
        .and_then(|c| c.get(1).map(|x| x.as_str().to_lowercase()))
        .or_else(|| (!unit.is_empty()).then(|| "score".to_owned()))
}

/// "Urgency high", "country DE or AT", "duplicate_of filled", "no duplicate".
fn stated(m: &Masked, head: &str, t: &str, known: &[String]) -> Option<String> {
    let t = rx(r"^(?:the|der|die|das|el|la|le)\s+")
        .replace(t, "")
        .into_owned();
    if let Some(c) = rx(r"^([\p{L}_][\p{L}\d_ -]{1,28}?)\s+(?:is\s+|ist\s+|wurde\s+|está\s+|est\s+)?(not\s+|nicht\s+|no\s+|pas\s+)?(filled(?: in)?|set|given|provided|empty|missing|blank|ausgefüllt|gesetzt|angegeben|leer|fehlt|vacío|vacía|falta|vide|manquante?)$").captures(&t) {
        let name = c.get(1)?.as_str();
        if !is_name(name, known) {
            return None;
        }
        let empty = has(r"^(?:empty|missing|blank|leer|fehlt|vac|falta|vide|manq)", c.get(3)?.as_str());
        let not = c.get(2).is_some();
        return Some(format!("{name} is {}", if empty == not { "not empty" } else { "empty" }));
    }
    if let Some(c) = rx(r"^(?:no|kein\w*|without|ohne|sin|sans|aucune?)\s+([\w-]+)$").captures(&t) {
        let said = c.get(1)?.as_str().to_lowercase();
        let name = known.iter().find(|k| k.to_lowercase().starts_with(&said))?;
        return Some(format!("{name} is empty"));
    }
    let value = r"(?:§[qk]\d+§|[\p{L}\d_-]+)";
    let c = rx(&format!(r"^(?:the\s+|der\s+|die\s+|das\s+|el\s+|la\s+|le\s+)?(§d\d+§|[\p{{L}}_][\p{{L}}\d_ -]{{1,28}}?)\s*(?:=+\s*|\s(?:is\s+|ist\s+|es\s+|est\s+)?)({value}(?:{OR}{value})*)$"))
        .captures(head)?;
    let name = m.plain(c.get(1)?.as_str());
    if !is_name(&name, known)
        || has(
            r"\b(?:is|ist|es|est|above|below|over|under|at|unter|über)$",
            &name,
        )
    {
        return None;
    }
    let values = split_on(OR, c.get(2)?.as_str());
    if values.iter().any(|v| {
        has(
            r"^(?:the|to|and|or|is|not|changes?|rules?|only|check|field|column)$",
            v,
        )
    }) {
        return None;
    }
    Some(format!("{name} is {}", values.join(" or ")))
}

/// "Contact is there", "found", "not found": what was looked up.
fn there(m: &Masked, t: &str) -> Option<String> {
    let looks = has(
        r"\b(?:search\w*|look\w*|find\w*|check\w*|quer\w+|such\w*|prüf\w*|nachschlag\w*|busca\w*|comprueba|cherche\w*|vérifie\w*|exists?|existiert|existe|match\w*)\b",
        &m.plain(&m.text),
    );
    if !looks {
        return None;
    }
    let subject = r"(?:(?:the |a |an |der |die |das |ein\w* |el |la |le |un |une )?[\p{L}-]+\s+)?(?:(?:is|was|are|ist|wurde|wird|es|está|est)\s+)?(?:(?:already|schon|bereits|ya|déjà)\s+)?";
    let state = r"(?:there|found|known|present|exists?|existing|gefunden|vorhanden|existiert|bekannt|da|encontrad[oa]|existe|trouvée?|(?:a )?match|(?:ein )?treffer|a hit)";
    if has(
        &format!(
            r"^{subject}(?:not|nicht|no|pas|n't|doesn't|does not|isn't)\s+(?:yet\s+)?{state}(?:\s+yet)?$|^(?:no|kein|keine|ningún|aucun)\s+(?:\w+\s+)?(?:match|hit|treffer|result\w*|ergebnis\w*|record|contact|row|entry|coincidencia|résultat)(?:\s+found)?$|^(?:new|neu|nuevo|nouveau|unknown|unbekannt)$"
        ),
        t,
    ) {
        return Some(MISSING.to_owned());
    }
    has(&format!(r"^{subject}{state}$"), t).then(|| THERE.to_owned())
}

/// "Deliverable → …", "Undeliverable → …": a state and its opposite.
fn paired(m: &Masked, t: &str) -> Option<String> {
    let word = t.trim().to_lowercase();
    if word.contains(' ') || word.len() < 4 || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    let text = m.text.to_lowercase();
    let head = |w: &str| {
        has(
            &format!(r"(?:^|[.;,:]\s+|\n\s*(?:[-*•]\s+)?){w}\s*(?:→|:\s)"),
            &text,
        )
    };
    let opposite = ["un", "in", "im", "non", "not ", "nicht ", "no "]
        .iter()
        .any(|p| {
            head(&regex::escape(&format!("{p}{word}")))
                || word
                    .strip_prefix(p)
                    .is_some_and(|rest| rest.len() > 3 && head(&regex::escape(rest)))
        });
    opposite.then(|| format!("status is {word}"))
}

#[cfg(test)]
#[path = "heads_tests.rs"]
mod heads_tests;
