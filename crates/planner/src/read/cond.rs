//! Conditions: "with 200 employees or more", "older than 4 hours", "status is SUSPENDED", "mails from x@y", "anything but a 200".

use crate::lexicon::{first, has, rx};
use crate::plan::{Cmp, Cond, Val};
use crate::read::text::Masked;
use crate::read::value::{clean_field, field, lit, operator};
use crate::read::when::{amount, duration};

const LESS: &str = r"(?:less than|below|under|fewer than|lower than|smaller than|falls below|drops below|dips below|weniger als|unter|kleiner als|menos de|menor que|menor de|inferior a|por debajo de|moins de|inférieur à|en dessous de|<)";
const MORE: &str = r"(?:more than|over|above|greater than|higher than|larger than|bigger than|exceed(?:s|ing)?|mehr als|über|größer als|höher als|más de|mayor que|mayor de|superior a|por encima de|plus de|supérieur à|au-dessus de|beyond|>)";
const LEAST: &str = r"(?:at least|no less than|minimum(?: of)?|mindestens|wenigstens|ab|al menos|como mínimo|au moins|à partir de|>=|≥)";
const MOST: &str = r"(?:at most|up to|no more than|not more than|maximum(?: of)?|max\.?|höchstens|bis zu|bis|maximal|como máximo|hasta|a lo sumo|au plus|jusqu'à|<=|≤)";
const FIGURE: &str = r"((?:[$€£]\s?)?\d[\d.,']*(?:\s?k\b)?)";

/// The condition in a piece of text, if there is one that we can read.
pub fn condition(m: &Masked, text: &str) -> Option<Cond> {
    let t = opened(text);
    let t = rx(r"[,\s]+(?:whatever|regardless of|no matter|egal (?:welche\w*|wie|aus)|unabhängig v\w+|independientemente de|sin importar|quel(?:le)? que soit)\b.*$").replace(&t, "").into_owned();
    if let Some(read) = crate::read::compare::read(m, &t) {
        return Some(read);
    }
    for (pattern, all) in [
        (r"\s+(?:or|oder|ou|o)\s+(?:if\s+)?", false),
        (r"\s*,?\s+(?:and|und|y|et|but)\s+(?:if\s+)?", true),
    ] {
        let parts: Vec<&str> = rx_split(pattern, &t);
        if parts.len() > 1 {
            let read: Vec<Option<Cond>> = parts.iter().map(|p| single(m, p)).collect();
            if read.iter().all(Option::is_some) {
                let of: Vec<Cond> = read.into_iter().flatten().collect();
                return Some(if all {
                    Cond::All { of }
                } else {
                    Cond::Any { of }
                });
            }
        }
    }
    single(m, &t)
}

/// What compares with a time or adds up, without any sign.
pub fn timed(m: &Masked, text: &str) -> Option<Cond> {
    sums(m, text).or_else(|| age(text))
}

fn rx_split<'t>(pattern: &str, text: &'t str) -> Vec<&'t str> {
    let re = rx(pattern);
    let mut parts = Vec::new();
    let mut from = 0;
    for found in re.find_iter(text) {
        parts.push(text.get(from..found.start()).unwrap_or_default());
        from = found.end();
    }
    parts.push(text.get(from..).unwrap_or_default());
    parts
}

/// Without the word that opens it.
fn opened(text: &str) -> String {
    rx(r"^(?:(?:and|und|y|et|but|then)\s+)?(?:(?:check|checks|see|prüfe|comprueba|vérifie)\s+)?(?:only\s+|nur\s+|solo\s+|seulement\s+)?(?:{if}|with|for|in case of|bei|mit|con|avec|unless|except|whose|where|those|that|which)\s+")
        .replace(text.trim(), "")
        .trim_matches([' ', ',', ':', '.'])
        .to_owned()
}

fn compare(left: Val, op: Cmp, right: Val) -> Option<Cond> {
    Some(Cond::Compare { left, op, right })
}

fn single(m: &Masked, text: &str) -> Option<Cond> {
    let t = text.trim();
    sums(m, t)
        .or_else(|| reached(t))
        .or_else(|| age(t))
        .or_else(|| figures(m, t))
        .or_else(|| sender(m, t))
        .or_else(|| dates(m, t))
        .or_else(|| presence(m, t))
        .or_else(|| words(m, t))
}

/// "net + VAT = total": the difference must vanish.
fn sums(m: &Masked, t: &str) -> Option<Cond> {
    let plain = m.plain(t);
    let c = rx(r"^(?:the\s+)?([\w ]{1,30}?)\s*(\+|-|\*|×|\b(?:plus|minus|times)\b)\s*(?:the\s+)?([\w ]{1,30}?)\s*(?:==?|\b(?:equals?|is equal to|is|matches|ergibt|gleich|da|es igual a|égale)\b)\s*(?:the\s+)?([\w ]{1,30})$").captures(&plain)?;
    let part = |i: usize| c.get(i).map(|x| operand(x.as_str()));
    let sign = operator(c.get(2)?.as_str());
    let code = format!("Math.abs({} {sign} {} - {})", part(1)?, part(3)?, part(4)?);
    compare(Val::Expr { code }, Cmp::Lt, lit(0.01))
}

/// A field of the item, or of a model's output, as a number.
fn operand(name: &str) -> String {
    let name = clean_field(name);
    if name.parse::<f64>().is_ok() {
        return name;
    }
    let key: String = name
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join("_");
    let plain = name.replace('"', "");
    if plain == key {
        format!("Number(($json.output ?? $json)[\"{key}\"])")
    } else {
        format!(
            "Number(($json.output ?? $json)[\"{plain}\"] ?? ($json.output ?? $json)[\"{key}\"])"
        )
    }
}

fn age(t: &str) -> Option<Cond> {
    let older = has(
        r"\b(?:older than|älter als|más antigu\w+ (?:de|que)|plus (?:vieux|ancien\w*) (?:de|que)|more than [^,]+ (?:ago|old)|overdue|überfällig|for more than|seit mehr als|(?:with(?:out|no)|no|not?|sin|sans|ohne)\b.{0,40}\b(?:for|since|in|within|depuis|desde|desde hace|seit)\s+(?:the last |more than |over |mehr als )?{num}\s)",
        t,
    );
    let newer = has(
        r"\b(?:newer than|younger than|jünger als|within the (?:last|past)|(?:in|from|of) the (?:last|past)|less than [^,]+ (?:ago|old)|en los últimos|dans les derni\w+|in den letzten)\b",
        t,
    );
    if !older && !newer {
        return None;
    }
    let seconds = duration(t)?;
    let name = if has(r"activit|aktivit|actividad", t) {
        "last activity date"
    } else if has(
        r"\b(?:updated|changed|touched|modified|geändert|aktualisiert)\b",
        t,
    ) {
        "updated at"
    } else if has(r"\b(?:overdue|due|fällig|überfällig|vencid\w*)\b", t) {
        "due date"
    } else {
        "created at"
    };
    Some(Cond::Age {
        field: field(name),
        older,
        seconds,
    })
}

/// A page that does not answer as it should.
fn reached(t: &str) -> Option<Cond> {
    has(
        r"^(?:(?:it|the (?:site|page|website|server|url|service|api)|they|die seite|sie|er|el sitio|la página|le site)\s+)?(?:is|are|ist|está|est)\s+(?:down|offline|unreachable|not (?:reachable|available|up|ok)|unavailable|nicht erreichbar|caíd[oa]|en panne|hors ligne)$|^(?:it )?(?:does not|doesn't) (?:respond|answer)$",
        t,
    )
    .then(|| Cond::Compare {
        left: field("status code"),
        op: Cmp::Ne,
        right: lit(200),
    })
}

/// What is measured when only a unit is given.
pub fn measured(unit: &str) -> Option<&'static str> {
    const UNITS: [(&str, &str); 8] = [
        (
            r"^(?:eur|euros?|€|usd|dollars?|\$|gbp|pounds?|£|chf)$",
            "amount",
        ),
        (
            r"^(?:°c?|degrees?|grad|grados|degrés|celsius|fahrenheit)$",
            "temperature",
        ),
        (r"^(?:days?|tage?n?|días?|jours?)$", "days"),
        (r"^(?:stars?|sterne?n?|estrellas?|étoiles?)$", "rating"),
        (
            r"^(?:%|percent|prozent|por ciento|pour cent)$",
            "percentage",
        ),
        (r"^(?:ms|milliseconds?)$", "response time"),
        (r"^(?:points?|punkte?n?|puntos)$", "score"),
        (r"^(?:units?|pieces?|stück|unidades|pcs)$", "quantity"),
    ];
    UNITS.iter().find(|(p, _)| has(p, unit)).map(|(_, n)| *n)
}

fn figures(m: &Masked, t: &str) -> Option<Cond> {
    let plain = m.plain(t);
    let t = plain.as_str();
    // "anything but a 200", "other than 200", "is not 200"
    if let Some(n) = first(
        r"\b(?:anything but|everything but|other than|not|isn't|is not|nicht|kein\w*|no sea|different from|distinto de|autre que|!=|≠|<>)\s+(?:a |an |ein\w* )?(?:(?:http )?(?:status|code)\s+)*(\d{3})\b",
        t,
    ) {
        return compare(field("status code"), Cmp::Ne, lit(n.parse::<i64>().ok()?));
    }
    if let Some(c) = rx(&format!(
        r"^(.*?)\b(?:between|zwischen|entre)\s+{FIGURE}\s*(?:and|und|y|et|-|–)\s*{FIGURE}"
    ))
    .captures(t)
    {
        let subject = subject_of(c.get(1)?.as_str());
        let name = if subject.is_empty() {
            "value".to_owned()
        } else {
            subject
        };
        return Some(Cond::All {
            of: vec![
                compare(
                    field(&name),
                    Cmp::Ge,
                    number_value(amount(c.get(2)?.as_str())?),
                )?,
                compare(
                    field(&name),
                    Cmp::Le,
                    number_value(amount(c.get(3)?.as_str())?),
                )?,
            ],
        });
    }
    let forms: [(String, Cmp); 8] = [
        (
            format!(
                r"^(.*?)\b?{FIGURE}\s*([^\d\s,]*)\s*(?:[\w]+ )?(?:or|oder|o|ou|and|und)\s+(?:more|above|higher|over|greater|mehr|höher|más|plus)\b"
            ),
            Cmp::Ge,
        ),
        (
            format!(
                r"^(.*?)\b?{FIGURE}\s*([^\d\s,]*)\s*(?:[\w]+ )?(?:or|oder|o|ou|and|und)\s+(?:less|below|lower|fewer|under|weniger|menos|moins)\b"
            ),
            Cmp::Le,
        ),
        (format!(r"^(.*?){LEAST}\s+{FIGURE}\s*([^\d\s,]*)"), Cmp::Ge),
        (format!(r"^(.*?){MOST}\s+{FIGURE}\s*([^\d\s,]*)"), Cmp::Le),
        (format!(r"^(.*?){MORE}\s*{FIGURE}\s*([^\d\s,]*)"), Cmp::Gt),
        (format!(r"^(.*?){LESS}\s*{FIGURE}\s*([^\d\s,]*)"), Cmp::Lt),
        (format!(r"^(.*?){FIGURE}\+\s*([^\d\s,]*)"), Cmp::Ge),
        (
            format!(
                r"^(.*?)\b(?:is|are|equals?|=+|ist|es|est|reports?|returns?|shows?|of|gleich|igual a)\s+(?:exactly\s+)?{FIGURE}\s*([^\d\s,]*)$"
            ),
            Cmp::Eq,
        ),
    ];
    for (pattern, op) in forms {
        let re = rx(&pattern);
        let Some(caps) = re.captures(t) else { continue };
        let number = amount(caps.get(2)?.as_str())?;
        let unit = caps
            .get(3)
            .map_or("", |u| {
                u.as_str().trim_matches([',', '.', ';', ':', ')', '('])
            })
            .to_lowercase();
        let subject = subject_of(caps.get(1).map_or("", |s| s.as_str()));
        let name = if !subject.is_empty() && subject.chars().any(char::is_alphabetic) {
            subject
        } else if let Some(name) = measured(&unit).or(has("[$€£]", t).then_some("amount")) {
            name.to_owned()
        } else if unit.is_empty() || has(r"^(?:or|and|in|on|the|oder|und|es|to|per|at)$", &unit) {
            "value".to_owned()
        } else {
            unit
        };
        return compare(field(&name), op, number_value(number));
    }
    None
}

fn number_value(n: f64) -> Val {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within range"
    )]
    if n.fract() == 0.0 && n.abs() < 1e15 {
        lit(n as i64)
    } else {
        lit(n)
    }
}

/// "the order total is" → "order total".
fn subject_of(text: &str) -> String {
    let t = rx(r"\b(?:is|are|was|has|have|had|goes|drops|falls|rises|gets|with|ist|sind|liegt|hat|beträgt|es|está|tiene|est|a|the|costs?|reports?|if|for|only|anything|everything|something|orders?|those|ones|all|any|alles|todo lo que|tout|of|an|it|they|lasts?|that|which|wer|who|mehr|every|each|target)\b")
        .replace_all(text, " ")
        .into_owned();
    let name = clean_field(&t);
    if name.split_whitespace().count() > 4 {
        String::new()
    } else {
        name
    }
}

fn sender(m: &Masked, t: &str) -> Option<Cond> {
    let from = m.after(r"\b(?:from|by|sent by|von|de parte de|de)\s+(§m\d+§)", t);
    if let Some(e) = from {
        return compare(
            field("from"),
            if has(r"\bnot from\b", t) {
                Cmp::NotContains
            } else {
                Cmp::Contains
            },
            lit(e.value.clone()),
        );
    }
    let domain = first(r"\b(?:from|von|de)\s+(?:the domain\s+|domain\s+)?@?([\w-]+\.(?:com|org|net|de|io|eu|dev|es|fr|co))\b", &m.plain(t))?.to_owned();
    compare(field("from"), Cmp::Contains, lit(domain))
}

fn dates(m: &Masked, t: &str) -> Option<Cond> {
    if !has(r"\b(?:today|heute|hoy|aujourd'hui)\b", t) {
        return None;
    }
    let today = |format: &str| Val::Now {
        offset_seconds: 0,
        format: Some(format.into()),
    };
    if has(
        r"\b(?:geburtstag|birthday|cumpleaños|cumple|anniversaire)\b",
        &m.plain(&m.open(t)),
    ) {
        let column = first(
            r"(?:spalte|column|columna|colonne)\s+([\w-]+)",
            &m.plain(&m.open(t)),
        )
        .map_or_else(
            || {
                first(
                    r"\b(geburtstag|birthday|cumpleaños|anniversaire)\b",
                    &m.plain(t),
                )
                .unwrap_or("birthday")
                .to_owned()
            },
            str::to_owned,
        );
        return compare(field(&column), Cmp::Eq, today("MM-dd"));
    }
    let name = first(r"\b((?:due|start|end|delivery|renewal|expiry|expiration|hire|joining)(?: date)?|date|deadline|datum|fällig\w*|fecha|ablauf\w*)\b", t).unwrap_or("date");
    compare(field(name), Cmp::Eq, today("yyyy-MM-dd"))
}

fn presence(m: &Masked, t: &str) -> Option<Cond> {
    let plain = m.plain(t);
    let missing = rx(
        r"^(?:the\s+)?(.+?)\s+(?:is|are|ist|sind|está|est)?\s*(?:empty|missing|blank|not set|not filled|unknown|leer|fehlt|fehlen|nicht (?:gesetzt|ausgefüllt)|vacío|vacía|falta|vide|manquant\w*)$",
    );
    if let Some(c) = missing.captures(&plain) {
        return compare(field(c.get(1)?.as_str()), Cmp::Missing, lit(true));
    }
    if let Some(name) = first(
        r"^(?:missing|no|without|ohne|sin|sans|kein\w*)\s+([\w -]{2,30})$",
        &plain,
    ) {
        return compare(field(name), Cmp::Missing, lit(true));
    }
    let present = rx(
        r"^(?:the\s+)?(.+?)\s+(?:is|are|ist|sind|está|est)\s+(?:filled|present|set|not empty|given|provided|ausgefüllt|vorhanden|gesetzt)$",
    );
    if let Some(c) = present.captures(&plain) {
        let names = crate::read::value::list(c.get(1)?.as_str());
        let mut of: Vec<Cond> = names
            .iter()
            .map(|n| Cond::Compare {
                left: field(n),
                op: Cmp::Exists,
                right: lit(true),
            })
            .collect();
        return if of.len() == 1 {
            of.pop()
        } else {
            Some(Cond::All { of })
        };
    }
    if let Some(name) = first(
        r"^(?:it |they |the \w+ )?(?:has|have|contains?|hat|enthält|tiene|contient)\s+(?:an?\s+|ein\w*\s+|un\w?\s+)?(attachments?|anhang|anhänge|adjuntos?|pièces? jointes?|pdf|image|phone number|email address|e-mail)\b",
        &plain,
    ) {
        return compare(field(name), Cmp::Exists, lit(true));
    }
    None
}

fn words(m: &Masked, t: &str) -> Option<Cond> {
    let plain = m.plain(t);
    // contains / starts with / ends with a quoted value or a word
    let texty = rx(
        r"^(.*?)\b(?:(doesn't contain|does not contain|not containing|enthält nicht|no contiene)|(contains?|containing|includes?|mentions?|mentioning|enthält|enthalten|contiene|menciona|contient|has the word|with the word)|(starts? with|starting with|begins? with|beginnt mit|empieza por|commence par)|(ends? with|ending (?:with|in)|endet (?:mit|auf)|termina en|finit par))\s+(?:the word |das wort )?(.+)$",
    );
    if let Some(c) = texty.captures(t) {
        let op = if c.get(2).is_some() {
            Cmp::NotContains
        } else if c.get(3).is_some() {
            Cmp::Contains
        } else if c.get(4).is_some() {
            Cmp::StartsWith
        } else {
            Cmp::EndsWith
        };
        let subject = subject_of(&m.plain(c.get(1)?.as_str()));
        let subject = if has(
            r"^(?:mail|email|message|text|it|ticket|nachricht)?$",
            &subject,
        ) {
            "text".to_owned()
        } else {
            subject
        };
        let right = c.get(6)?.as_str();
        let values: Vec<String> = {
            let quoted: Vec<String> = m
                .all(right, "qdcf")
                .iter()
                .map(|e| e.value.clone())
                .collect();
            if quoted.is_empty() {
                vec![m.plain(right)]
            } else {
                quoted
            }
        };
        let mut of: Vec<Cond> = values
            .into_iter()
            .map(|v| Cond::Compare {
                left: field(&subject),
                op,
                right: lit(v),
            })
            .collect();
        return if of.len() == 1 {
            of.pop()
        } else {
            Some(Cond::Any { of })
        };
    }
    // subject is (not) value
    let is = rx(
        r"^(.*?)\s*(?:\b(?:is|are|equals?|ist|sind|lautet|es|está|est|sont|was|has status|becomes)\b|==?|:)\s+(?:(not|nicht|no|pas|never)\s+)?(?:still\s+|noch\s+|todavía\s+|encore\s+|aún\s+|already\s+|set to\s+|equal to\s+)?(.+)$",
    );
    if let Some(c) = is.captures(t) {
        let subject = clean_field(&m.plain(c.get(1)?.as_str()));
        let raw = c.get(3)?.as_str();
        let negated = c.get(2).is_some();
        if let Some(e) = m.one(raw, "qmdcn") {
            return compare(
                field(&subject),
                if negated { Cmp::Ne } else { Cmp::Eq },
                lit(e.value.clone()),
            );
        }
        let value = m.plain(raw);
        if value.split_whitespace().count() <= 2
            && !subject.is_empty()
            && subject.split_whitespace().count() <= 4
        {
            if has(r"^(?:true|yes|wahr|verdadero|vrai)$", &value) {
                return compare(field(&subject), Cmp::IsTrue, lit(true));
            }
            if has(r"^(?:false|falsch|falso|faux)$", &value) {
                return compare(field(&subject), Cmp::IsFalse, lit(true));
            }
            let named = has(
                r"\b(?:status|state|stage|type|priority|country|category|phase|severity|level|label|plan|role|branch|sentiment|language|estado|priorität|land|kategorie|stufe|typ|tipo|prioridad|statut|priorité|pays)\b",
                &subject,
            );
            let name = if named {
                subject
            } else if has(
                r"^(?:negative|positive|neutral|negativ|positiv)\w*$",
                &value,
            ) {
                "sentiment".to_owned()
            } else {
                "status".to_owned()
            };
            return compare(
                field(&name),
                if negated { Cmp::Ne } else { Cmp::Eq },
                lit(value),
            );
        }
    }
    // "status Idea", "priority urgent", "sentiment negative"
    if let Some(c) = rx(r"^(?:the\s+)?(status|state|stage|priority|priorität|severity|sentiment|country|language|type|category|estado|prioridad|statut)\s+(?:of\s+)?(\S+)$").captures(t) {
        let value = c.get(2)?.as_str();
        let value = m.one(value, "qd").map_or_else(|| m.plain(value), |e| e.value.clone());
        return compare(field(c.get(1)?.as_str()), Cmp::Eq, lit(value));
    }
    if has(
        r"^(?:the\s+)?(?:negative|negativ\w*|négati\w*)(?:\s+(?:ones?|tweets?|reviews?|mentions?|messages?|feedback|comments?|sentiment|\w+))?$",
        &plain,
    ) {
        return compare(field("sentiment"), Cmp::Eq, lit("negative"));
    }
    if has(r"^(?:the\s+)?(?:positive|positiv\w*)(?:\s+\w+)?$", &plain) {
        return compare(field("sentiment"), Cmp::Eq, lit("positive"));
    }
    None
}

#[cfg(test)]
#[path = "cond_tests.rs"]
mod cond_tests;
