//! Comparisons, read by a small grammar: wording becomes a sign ("at least" ≥, "is one of" ⊂), and/or/except join atoms, an
//! atom without a subject takes the one before it ("exceeds 80 or falls below 5", "is DE, AT or CH"). Knows no service.

use crate::lexicon::{has, rx};
use crate::plan::{Cmp, Cond, Val};
use crate::read::cond;
use crate::read::text::Masked;
use crate::read::value::{clean_field, field, lit};
use crate::read::when::{amount, duration};
use serde_json::Value;

const NUM: &str =
    r"[$€£]?\s?-?\d[\d.,']*(?:\s?k\b)?(?:\s?(?:[$€£%°]|eur\b|euros?\b|usd\b|chf\b|gbp\b))?";

/// Wordings and the sign that stands for them; longer wordings first.
const SIGNS: &[(&str, &str)] = &[
    // no comparison
    (
        r"[,\s]*\b(?:whatever|regardless of|no matter|egal (?:welche\w*|wie|aus)|unabhängig v\w+|independientemente de|sin importar|quel(?:le)? que soit)\b.*$",
        "",
    ),
    // ranges
    (
        r"\b(?:(?:lies|falls|liegt|ranges?) )?(?:between|zwischen|entre)\s+(NUM)\s*(?:and|und|y|et|to|bis|-|–)\s*(NUM)",
        " ∈ $1‥$2 ",
    ),
    (
        r"\b(?:from|von|desde|de)\s+(NUM)\s*(?:to|up to|until|bis|hasta|a|à)\s+(NUM)",
        " ∈ $1‥$2 ",
    ),
    (
        r"\b(?:is|are|in|ist|es|est|of|range)\s+(NUM)\s*(?:to|bis|-|–|\.\.)\s*(NUM)",
        " ∈ $1‥$2 ",
    ),
    // or equal
    (
        r"\b(?:greater|more|higher|larger|bigger) than or equal(?:s)?(?: to)?\b|\bat or (?:above|over)\b|\b(?:größer|höher)(?: als)? oder gleich\b|\bmayor o igual (?:que|a)\b|\bsupérieur\w* ou égale?s? à\b|>=|=>|≥",
        " ≥ ",
    ),
    (
        r"\b(?:less|lower|smaller|fewer) than or equal(?:s)?(?: to)?\b|\bat or (?:below|under)\b|\b(?:kleiner|weniger)(?: als)? oder gleich\b|\bmenor o igual (?:que|a)\b|\binférieur\w* ou égale?s? à\b|<=|=<|≤",
        " ≤ ",
    ),
    (
        r"(NUM)((?:\s+[\w§]+)?)\s*(?:,\s*)?(?:or|oder|o|ou|and|und)\s+(?:more|above|higher|over|greater|upwards?|older|up|later|mehr|höher|darüber|más|superior|mayor|plus|davantage)\b(?: than that)?",
        " ≥ $1$2 ",
    ),
    (
        r"(NUM)((?:\s+[\w§]+)?)\s*(?:,\s*)?(?:or|oder|o|ou|and|und)\s+(?:less|below|lower|fewer|under|smaller|weniger|darunter|menos|inferior|menor|moins)\b",
        " ≤ $1$2 ",
    ),
    (
        r"\b(?:at least|no(?:t)? (?:less|fewer|lower) than|not (?:below|under)|a minimum of|minimum of|minimum|mindestens|wenigstens|nicht (?:weniger|unter) als|al menos|como mínimo|por lo menos|au moins|au minimum)\b",
        " ≥ ",
    ),
    (
        r"\b(?:at most|no(?:t)? (?:more|greater|higher) than|not (?:over|above|exceeding)|(?:does not|doesn't) exceed|up to|a maximum of|maximum of|max\.?|maximal|höchstens|bis zu|nicht (?:mehr|über) als|como máximo|a lo sumo|no más de|hasta|au plus|au maximum|jusqu'à)\b",
        " ≤ ",
    ),
    // dates
    (
        r"\b(?:is |are |was |has |ist |sind |liegt |lies |falls |lie |está |es |est )?(?:already )?(?:in the past|passed|overdue|expired|past due|überfällig|abgelaufen|in der vergangenheit|en el pasado|vencid[oa]s?|dans le passé|expirée?s?|échue?s?)\b(?: ist| sind| liegt)?",
        " < now ",
    ),
    (
        r"\b(?:is |are |ist |liegt |lies |está |es |est )?(?:in the future|in der zukunft|en el futuro|dans le futur)\b(?: ist| liegt)?",
        " > now ",
    ),
    (
        r"\b(?:is |are |ist |liegt |lies |falls |fällt |expires |ends |starts |läuft |vence |expire )?(?:(?:due )?(?:with)?in the (?:next|coming)|(?:with)?in less than|in den (?:nächsten|kommenden)|innerhalb der nächsten|en los próximos|en las próximas|dentro de los próximos|dans les prochain\w+)\s+",
        " ⇥ ",
    ),
    (
        r"\b(?:is |are |ist |liegt |lies |es |est )?(?:before|earlier than|prior to|vor|vor dem|antes de|antes del|avant|avant le)\s+(today|now|tomorrow|yesterday|heute|morgen|gestern|jetzt|hoy|mañana|aujourd'hui|demain|hier|\d{4}-\d\d-\d\d)",
        " < $1",
    ),
    (
        r"\b(?:is |are |ist |liegt |lies |es |est )?(?:after|later than|nach|nach dem|después de|después del|après|après le)\s+(today|now|tomorrow|yesterday|heute|morgen|gestern|jetzt|hoy|mañana|aujourd'hui|demain|hier|\d{4}-\d\d-\d\d)",
        " > $1",
    ),
    // more, less
    (
        r"\b(?:(?:is|are|was|has|have|goes|climbs|rises|gets|liegt|ist|steigt|es|está|est|sube|monte|passe)\s+)?(?:(?:strictly )?(?:more|greater|higher|larger|bigger) than|exceed(?:s|ed|ing)?|mehr als|größer als|höher als|oberhalb(?: von)?|übersteigt|überschreitet|mayor(?:es)? (?:que|de|a)|superior(?:es)? a|supera(?:n)?|excede|plus grand\w* que|supérieure?s? à|dépasse(?:nt)?|excède)\s",
        " > ",
    ),
    (
        r"\b(?:(?:is|are|was|has|have|goes|climbs|rises|gets|liegt|ist|steigt|es|está|est|sube|monte|passe)\s+)?(?:over|above|beyond|in excess of|über|más de|por encima de|plus de|au-dessus de|au dessus de)\s+(NUM|§[nd]\d+§|(?:the|its|their|dem|den|seinem|ihrem|la|el|son|sa)\s)",
        " > $1",
    ),
    (
        r"\b(?:(?:is|are|was|has|have|goes|drops|falls|dips|gets|liegt|ist|fällt|sinkt|es|está|est|baja|cae|descend|tombe|passe)\s+)?(?:(?:strictly )?(?:less|lower|smaller|fewer) than|weniger als|kleiner als|niedriger als|unterhalb(?: von)?|unterschreitet|menor(?:es)? (?:que|de|a)|inferior(?:es)? a|plus petit\w* que|inférieure?s? à)\s",
        " < ",
    ),
    (
        r"\b(?:(?:is|are|was|has|have|goes|drops|falls|dips|gets|liegt|ist|fällt|sinkt|es|está|est|baja|cae|descend|tombe|passe)\s+)?(?:below|under|beneath|unter|menos de|por debajo de|bajo|moins de|en dessous de|au-dessous de|sous)\s+(NUM|§[nd]\d+§|(?:the|its|their|dem|den|seinem|ihrem|la|el|son|sa)\s)",
        " < $1",
    ),
    (r"(?:^|\s)>\s*", " > "),
    (r"(?:^|\s)<\s*", " < "),
    // text
    (
        r"\b(?:does not|doesn't|do not|don't|not|enthält (?:nicht|kein\w*))\s+(?:contains?|containing|includes?|mentions?)\b|\benthält (?:nicht|kein\w*)|\bno contienen?\b|\bne contient pas\b|\bwithout the words?\b",
        " ∌ ",
    ),
    (
        r"\b(?:contains?|containing|includes?|including|mentions?|mentioning|has the words?|with the words?|enthält|enthalten|beinhaltet|contienen?|contenga|incluye|menciona|contient|contenant|mentionne)\b(?: the (?:word|text|phrase)s?| das wort| den text| la palabra| le mot)?",
        " ∋ ",
    ),
    (
        r"\b(?:starts?|starting|begins?|beginning|beginnt|anfängt|fängt|startet|empieza|comienza|commence)\s+(?:with|mit|por|con|par|avec)\b|\bmit (§q\d+§) (?:beginnt|anfängt|startet)\b",
        " ⊢ $1",
    ),
    (
        r"\b(?:ends?|ending|endet|termina|acaba|finit|se termine)\s+(?:with|in|on|mit|auf|en|con|por|par)\b|\b(?:mit|auf) (§q\d+§) endet\b",
        " ⊣ $1",
    ),
    (
        r"\b(?:match(?:es)?|matching)\s+(?:the )?(?:pattern|regex|regexp|regular expression|expression)\b",
        " ~ ",
    ),
    // there or not
    (
        r"\b(?:is|are|was|ist|sind|war|está|están|es|est|sont)\s+(?:not|nicht|no|pas)\s+(?:empty|blank|missing|null|leer|vacío|vacía|vide)s?\b|\bn'est pas vide\b|\bno (?:está|es) (?:vacío|vacía)\b|\bnicht leer(?: ist)?\b|\bnot empty\b|\bnon[- ]empty\b|\bno vacíos?\b",
        " ∃ ",
    ),
    (
        r"\b(?:is|are|was|ist|sind|war|está|están|est|sont)?\s*\b(?:not|nicht|no|pas)\s+(?:set|filled(?: in)?|given|present|provided|available|gesetzt|ausgefüllt|angegeben|vorhanden|informado|renseignée?)\b(?: ist| sind)?|\bn'est pas (?:renseignée?|défini)\b",
        " ∅ ",
    ),
    (
        r"\b(?:is|are|was|ist|sind|war|está|están|est|sont)?\s*\b(?:empty|missing|blank|null|leer|vacíos?|vacías?|vides?|manquante?s?)\b(?: ist| sind)?|\b(?:fehlt|fehlen|falta|faltan|manque|manquent)\b",
        " ∅ ",
    ),
    (
        r"\b(?:is|are|was|ist|sind|war|está|están|est|sont)\s+(?:set|filled(?: in)?|given|present|provided|gesetzt|ausgefüllt|angegeben|vorhanden|informado|renseignée?|définie?)\b|\b(?:gesetzt|ausgefüllt|angegeben|vorhanden) ist\b",
        " ∃ ",
    ),
    // equality
    (
        r"\b(?:is|are|was|ist|sind|es|son|est|sont)?\s*\b(?:neither|weder)\b|\b(?:is|are|was|ist|sind|es|son|est|sont)\s+(?:not|nicht|pas)\s+(?:one of|any of|in|among|eine?r? (?:von|der)|uno de|parmi)\b|\bis none of\b|\bno está en\b",
        " ⊄ ",
    ),
    (
        r"\b(?:is|are|was|equals?|ist|sind|es|son|est|sont)?\s*\b(?:one of|any of|either|among|in the list|einer? (?:von|der)|entweder|uno de|una de|alguno de|l'un de|l'une de|parmi)\b|\b(?:is|are) in\b",
        " ⊂ ",
    ),
    (
        r"\b(?:is|are|was|were)\s+(?:not|no longer)(?: equal to| the same as)?\b|\b(?:isn't|aren't|wasn't)\b|\b(?:ist|sind|war)\s+(?:nicht|kein\w*)\b|\bno (?:es|son|está|sea)\b|\bn'est pas\b|\bne sont pas\b|\b(?:not equal(?:s)?(?: to)?|(?:does not|doesn't) equal|differs? from|different from|other than|anything (?:but|other than)|ungleich|distinto de|diferente (?:de|a)|différente?s? de|autre que)\b|!==?|<>|≠",
        " ≠ ",
    ),
    (
        r"\b(?:is|are|was|were|ist|sind|es|son|est|sont)?\s*\b(?:exactly|equal to|equals?|the same as|identical to|gleich|genau|igual a|égale?s? à)\b|\b(?:changes?|changed|switches|switched|moves|moved|turns|turned|set|wechselt|geändert|cambia|passe)\s+(?:to|into|auf|zu|a|à)\b|={1,3}",
        " = ",
    ),
    (
        r"\b(?:is|are|was|were|becomes?|ist|sind|lautet|lauten|heißt|hat den status|es|son|sea|está|están|est|sont)\b(?:\s+(?:still|now|noch|jetzt|aún|encore))?",
        " = ",
    ),
];

/// The condition in a text without its opening word; none when no comparison can be made out.
pub fn read(m: &Masked, text: &str) -> Option<Cond> {
    let nested = has(
        r"(?:^|\b(?:and|or|und|oder|y|o|et|ou)\s+|&&\s*|\|\|\s*)§r\d+§",
        text,
    );
    let text = if nested {
        text.to_owned()
    } else {
        m.open(text)
    };
    if let Some(c) = rx(r"^(.+?)[,\s]+(?:except|unless|but not|außer|es sei denn|excepto|salvo|sauf)(?:\s+(?:if|when|for|wenn|bei|für|si|cuando|para|pour|quand))?\s+(.+)$").captures(&text) {
        let left = read(m, c.get(1)?.as_str())?;
        let but = c.get(2)?.as_str();
        let right = read(m, but).or_else(|| bare_after(m, &left, but))?;
        return Some(Cond::All { of: vec![left, Cond::Not { of: Box::new(right) }] });
    }
    let signed = sign(&text);
    if let Some(found) = joined(m, &atoms(&signed)) {
        return Some(found);
    }
    // German ends on its verb: "Land DE oder AT ist"
    let c = rx(r"^((?:der |die |das |ein |eine )?\S+)\s+((?:nicht )?.+?)\s+(ist|sind|lautet)$")
        .captures(&text)?;
    let turned = format!(
        "{} {} {}",
        c.get(1)?.as_str(),
        c.get(3)?.as_str(),
        c.get(2)?.as_str()
    );
    joined(m, &atoms(&sign(&turned)))
}

/// "any country except DE": the exception compares the same field.
fn bare_after(m: &Masked, left: &Cond, text: &str) -> Option<Cond> {
    match left {
        // "contains AI or LLM but not X": the same comparison with another word
        Cond::Any { of } | Cond::All { of } => bare_after(m, of.first()?, text),
        Cond::Compare {
            left,
            op: op @ (Cmp::Contains | Cmp::StartsWith | Cmp::EndsWith),
            ..
        } => Some(Cond::Compare {
            left: left.clone(),
            op: *op,
            right: word_value(m, text)?,
        }),
        Cond::Compare { left, .. } => Some(Cond::Compare {
            left: left.clone(),
            op: Cmp::Eq,
            right: word_value(m, text)?,
        }),
        _ => None,
    }
}

fn sign(text: &str) -> String {
    let mut t = text.replace('\n', " ");
    t = rx(r"\b(is|are|was|were|has|have|had|does|do|did)n['’]t\b")
        .replace_all(&t, "$1 not")
        .into_owned();
    // how long it must hold is no part of the comparison
    t = rx(r"(\d[\d.,]*\S*)\s+(?:for|during|seit|durante|pendant)\s+(?:at least |more than )?\d+\s*(?:{second}|{minute}|{hour})\s*$")
        .replace(&t, "$1")
        .into_owned();
    t = rx(r"\blabel(?:l?ed)\s+(?:as\s+)?(§q\d+§|[\w-]+)")
        .replace_all(&t, "label is $1")
        .into_owned();
    t = rx(r"\b(?:must|has to|have to|needs? to|should|shall|muss|müssen|deben?|doit|doivent)\s+(not |nicht |no |pas )?(?:be|ser|être|sein)\b").replace_all(&t, "is $1").into_owned();
    t = rx(r"\b(?:must|has to|have to|needs? to|should|shall|muss|müssen|deben?|doit|doivent)\s+")
        .replace_all(&t, "")
        .into_owned();
    for (pattern, sign) in SIGNS {
        // a country code is no verb
        let pattern = pattern
            .replace("NUM", NUM)
            .replace("|es|", "|(?-i:es)|")
            .replace("|est|", "|(?-i:est)|");
        t = rx(&pattern).replace_all(&t, *sign).into_owned();
    }
    // a copula before a sign says nothing more
    t = rx(r"\b(?:is|are|was|has|have|had|ist|sind|hat|haben|liegt|beträgt|es|está|tiene|est|a|costs?)\s+([∈≥≤><⇥∋∌⊢⊣∅∃⊂⊄≠])").replace_all(&t, "$1").into_owned();
    // a second equality before a stronger sign: "= ≥ 5"
    t = rx(r"=\s*([∈≥≤><⇥∋∌⊢⊣~∅∃⊂⊄≠])")
        .replace_all(&t, "$1")
        .into_owned();
    rx(r"\s+").replace_all(t.trim(), " ").into_owned()
}

/// Words for signs, where another rule reads words.
fn unsigned(text: &str) -> String {
    text.replace('≥', "at least")
        .replace('≤', "at most")
        .replace('>', "more than")
        .replace('<', "less than")
        .replace('=', "is")
        .replace('≠', "is not")
}

struct Atom {
    /// Joined to the one before by "or".
    or: bool,
    text: String,
}

fn atoms(text: &str) -> Vec<Atom> {
    let cut = rx(
        r"\s*,\s*(?:(or|oder|o|u|ou)\s+|(?:and|und|y|e|et)\s+)?|\s+(or|oder|o|u|ou|nor|noch)\s+|\s+(?:and|und|y|e|et|&&|as well as|sowie|but|aber)\s+|\s*(\|\|)\s*|\s*&&\s*",
    );
    let mut out = Vec::new();
    let mut from = 0;
    let mut or = false;
    for c in cut.captures_iter(text) {
        let Some(whole) = c.get(0) else { continue };
        let part = text.get(from..whole.start()).unwrap_or_default().trim();
        if !part.is_empty() {
            out.push(Atom {
                or,
                text: part.to_owned(),
            });
        }
        from = whole.end();
        or = c.get(1).or(c.get(2)).or(c.get(3)).is_some();
    }
    let part = text.get(from..).unwrap_or_default().trim();
    if !part.is_empty() {
        out.push(Atom {
            or,
            text: part.to_owned(),
        });
    }
    out
}

const SIGN: &str = r"([∈≥≤><⇥∋∌⊢⊣~∅∃⊂⊄≠=])";

/// What an atom says: subject, sign, value.
struct Said {
    or: bool,
    subject: String,
    sign: char,
    values: Vec<String>,
    /// Read by another rule (an age, a sender).
    ready: Option<Cond>,
}

fn joined(m: &Masked, atoms: &[Atom]) -> Option<Cond> {
    let mut said: Vec<Said> = Vec::new();
    let mut waiting: Vec<String> = Vec::new();
    for a in atoms {
        let text = rx(r"^(?:if|when|it|that|who|which|whose|also|auch|wenn|si|either|both)\s+")
            .replace(&a.text, "")
            .into_owned();
        if let Some(inner) = rx(r"^(§r\d+§)$")
            .captures(&a.text)
            .and_then(|c| m.entity(c.get(1)?.as_str())?.inner.clone())
        {
            let ready = read(m, &inner)?;
            said.push(Said {
                or: a.or && !said.is_empty(),
                subject: String::new(),
                sign: '=',
                values: Vec::new(),
                ready: Some(ready),
            });
            continue;
        }
        if let Some(ready) = cond::timed(m, &unsigned(&a.text)) {
            said.push(Said {
                or: a.or && !said.is_empty(),
                subject: String::new(),
                sign: '=',
                values: Vec::new(),
                ready: Some(ready),
            });
            continue;
        }
        let Some(c) = rx(&format!("^(.*?)\\s*{SIGN}\\s*(.*)$")).captures(&text) else {
            // a bare value belongs to the comparison before it; names before a sign share it
            match said.last_mut() {
                Some(last)
                    if last.ready.is_none()
                        && matches!(last.sign, '=' | '≠' | '∋' | '∌' | '⊢' | '⊣' | '⊂' | '⊄')
                        && short(&text) =>
                {
                    last.values.push(text);
                    if a.or && last.sign == '=' {
                        last.sign = '⊂';
                    }
                }
                None if atoms.len() > 1 && short(&text) => waiting.push(text),
                _ => return None,
            }
            continue;
        };
        let sign = c.get(2)?.as_str().chars().next()?;
        let mut subject = c.get(1)?.as_str().trim().to_owned();
        let mut value = c.get(3)?.as_str().trim().to_owned();
        // German puts the value before the sign's word: "Status offen = "
        if value.is_empty() && !matches!(sign, '∅' | '∃') {
            let (a, b) = subject.rsplit_once(' ')?;
            (subject, value) = (a.to_owned(), b.to_owned());
        }
        // "a missing name": the subject stands behind
        if subject.is_empty() && matches!(sign, '∅' | '∃') && !value.is_empty() {
            subject = std::mem::take(&mut value);
        }
        let name = subject_name(m, &subject);
        let name = match name {
            Some(name) if !name.is_empty() => name,
            Some(_) => said.last().map(|s| s.subject.clone()).unwrap_or_default(),
            None => return None,
        };
        for other in std::mem::take(&mut waiting) {
            let other = subject_name(m, &other).filter(|n| !n.is_empty())?;
            said.push(Said {
                or: a.or,
                subject: other,
                sign,
                values: vec![value.clone()],
                ready: None,
            });
        }
        said.push(Said {
            or: a.or && !said.is_empty(),
            subject: name,
            sign,
            values: vec![value],
            ready: None,
        });
    }
    if said.is_empty() || !waiting.is_empty() {
        return None;
    }
    // "and" binds before "or"
    let mut any: Vec<Vec<Cond>> = vec![Vec::new()];
    for s in &said {
        let cond = s.cond(m)?;
        if s.or {
            any.push(Vec::new());
        }
        if let Some(group) = any.last_mut() {
            match cond {
                Cond::All { of } if said.len() > 1 => group.extend(of),
                other => group.push(other),
            }
        }
    }
    let mut groups: Vec<Cond> = any
        .into_iter()
        .filter(|g| !g.is_empty())
        .map(|mut g| {
            if g.len() == 1 {
                g.pop().unwrap_or(Cond::All { of: Vec::new() })
            } else {
                Cond::All { of: g }
            }
        })
        .collect();
    let one = if groups.len() == 1 {
        groups.pop()?
    } else {
        Cond::Any { of: groups }
    };
    Some(spread(one))
}

/// A list that stands alone reads best as several comparisons.
fn spread(cond: Cond) -> Cond {
    match cond {
        Cond::Compare {
            left,
            op: Cmp::OneOf,
            right: Val::Lit {
                value: Value::Array(values),
            },
        } if values.len() <= 6 => Cond::Any {
            of: values
                .into_iter()
                .map(|v| Cond::Compare {
                    left: left.clone(),
                    op: Cmp::Eq,
                    right: Val::Lit { value: v },
                })
                .collect(),
        },
        other => other,
    }
}

fn short(text: &str) -> bool {
    !text.is_empty() && text.split_whitespace().count() <= 3
}

/// The field that is compared; empty when only a pronoun stands there, none when a whole sentence does.
fn subject_name(m: &Masked, text: &str) -> Option<String> {
    let text = rx(r"\s+(?:from|in|of|on|von|aus|de|en|dans)\s+(?:the |our |my )?§s\d+§.*$")
        .replace(text, "")
        .into_owned();
    let plain = m.plain(&text);
    let t = rx(
        r"^(?:.*\b(?:whose|where|with|deren|dessen|wo|cuyo|cuya|cuyos|dont|avec|con|mit|bei)\s+)",
    )
    .replace(&plain, "")
    .into_owned();
    let t = rx(r"\b(?:is|are|was|has|have|had|the|a|an|its|their|his|her|value of|field|column|spalte|feld|campo|columna|champ|colonne|only|if|for|any|every|each|all|it|they|that|this|which|who|there|der|die|das|den|dem|ein|eine|einer|ist|sind|nur|wert von|el|la|los|las|un|una|le|les|des|du|de la|sea|goes|gets|it's|es gibt|anything|everything|something|those|ones|alles|todo lo que|tout|worth|costing)\b|['’]s\b|\b(?:l|d|s|qu)['’]").replace_all(&t, " ").into_owned();
    let t = clean_field(&t);
    let t = rx(r"\s+(?:of|von|de|über)$").replace(&t, "").into_owned();
    let t = rx(r"\s+(?:of|from|in|von|de|du|des)\s+(?:order|ticket|lead|item|row|customer|message|mail|request|body|payload|webhook|data|items?)$").replace(&t, "").into_owned();
    (t.split_whitespace().count() <= 4
        && !has(
            r"\b(?:send|post|create|notify|add|write|save|should|must|will|please|whatever)\b",
            &t,
        ))
    .then_some(t)
}

fn date_like(subject: &str) -> bool {
    has(
        r"(?:date|datum|fecha|deadline|_at|_on|until|expir\w*|created|updated|due|fällig\w*|frist|ablauf\w*|vencim\w*|échéance|\bstart|\bend|birthday|renewal)\b",
        subject,
    )
}

fn number_of(text: &str) -> Option<(f64, String)> {
    let c = rx(
        &r"^(?:als\s+|que\s+|the\s+)?(NUM)\s*(?:-?\s*([\w%°€$£]+))?(?:\s+\w+)?$"
            .replace("NUM", NUM),
    )
    .captures(text)?;
    let negative = has(r"^[$€£]?\s?-", text);
    let n = amount(c.get(1)?.as_str())?;
    Some((
        if negative { -n } else { n },
        c.get(2).map_or("", |u| u.as_str()).to_lowercase(),
    ))
}

fn figure(n: f64) -> Val {
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

fn moment(text: &str) -> Option<Val> {
    let now = |days: i64, format: Option<&str>| Val::Now {
        offset_seconds: days * 86_400,
        format: format.map(str::to_owned),
    };
    let day = Some("yyyy-MM-dd");
    if has(r"^(?:the\s+)?(?:today|heute|hoy|aujourd'hui)$", text) {
        Some(now(0, day))
    } else if has(r"^(?:tomorrow|morgen|mañana|demain)$", text) {
        Some(now(1, day))
    } else if has(r"^(?:yesterday|gestern|ayer|hier)$", text) {
        Some(now(-1, day))
    } else if has(r"^(?:now|jetzt|ahora|maintenant)$", text) {
        Some(now(0, None))
    } else {
        None
    }
}

/// A word or a quoted value.
fn word_value(m: &Masked, text: &str) -> Option<Val> {
    let t = rx(r"^(?:the\s+value\s+|a\s+|an\s+|the\s+|auf\s+|als\s+|still\s+|not\s+)")
        .replace(text.trim(), "")
        .into_owned();
    let t = t.trim_matches([' ', ',', '.', ':', ';', '?', '!', '(', ')']);
    if let Some(e) = m.one(t, "qkmdcnuha") {
        return Some(lit(e.value.clone()));
    }
    if has(r"^(?:true|yes|wahr|ja|verdadero|sí|vrai|oui)$", t) {
        return Some(lit(true));
    }
    if has(r"^(?:false|falsch|nein|falso|faux|non)$", t) {
        return Some(lit(false));
    }
    if let Some(when) = moment(t) {
        return Some(when);
    }
    let plain = m.plain(t);
    if let Some((n, unit)) = number_of(&plain)
        && (unit.is_empty() || plain.split_whitespace().count() <= 2)
    {
        return Some(figure(n));
    }
    (short(&plain)
        && !has(
            r"\b(?:to|in|into|on|send|post|create|notify|then|nach|an|el|la|le)\b",
            &plain,
        ))
    .then(|| lit(plain))
}

impl Said {
    fn cond(&self, m: &Masked) -> Option<Cond> {
        if let Some(ready) = &self.ready {
            return Some(ready.clone());
        }
        let value = self.values.first().map(String::as_str).unwrap_or_default();
        let plain = m.plain(value);
        let measured = |unit: &str| crate::read::cond::measured(unit).map(str::to_owned);
        let compare = |name: &str, op: Cmp, right: Val| {
            Some(Cond::Compare {
                left: field(name),
                op,
                right,
            })
        };
        let subject = self.subject.as_str();
        match self.sign {
            '∅' | '∃' if !subject.is_empty() && plain.is_empty() => compare(
                subject,
                if self.sign == '∅' {
                    Cmp::Missing
                } else {
                    Cmp::Exists
                },
                lit(true),
            ),
            '∈' => {
                let (a, b) = plain.split_once('‥')?;
                let (low, unit) = number_of(a.trim())?;
                let (high, second) = number_of(b.trim())?;
                let unit = if second.is_empty() { unit } else { second };
                let name = named(subject, &plain, &unit, measured)?;
                Some(Cond::All {
                    of: vec![
                        compare(&name, Cmp::Ge, figure(low))?,
                        compare(&name, Cmp::Le, figure(high))?,
                    ],
                })
            }
            '⇥' => {
                let seconds = i64::try_from(duration(&plain)?).ok()?;
                let name = if subject.is_empty() {
                    "due date"
                } else {
                    subject
                };
                let at = |offset_seconds: i64| Val::Now {
                    offset_seconds,
                    format: None,
                };
                Some(Cond::All {
                    of: vec![
                        compare(name, Cmp::Ge, at(0))?,
                        compare(name, Cmp::Le, at(seconds))?,
                    ],
                })
            }
            '>' | '<' | '≥' | '≤' => {
                let op = match self.sign {
                    '>' => Cmp::Gt,
                    '<' => Cmp::Lt,
                    '≥' => Cmp::Ge,
                    _ => Cmp::Le,
                };
                if let Some(when) = moment(&plain)
                    .or_else(|| has(r"^\d{4}-\d\d-\d\d$", &plain).then(|| lit(plain.clone())))
                {
                    return compare(
                        if subject.is_empty() {
                            "due date"
                        } else {
                            subject
                        },
                        op,
                        when,
                    );
                }
                if let Some((n, unit)) = number_of(&plain) {
                    if date_like(subject) && duration(&plain).is_some() {
                        return None;
                    }
                    let name = named(subject, &plain, &unit, measured)?;
                    return compare(&name, op, figure(n));
                }
                if subject.is_empty() {
                    return None;
                }
                if let Some(e) = m
                    .one(value, "dkq")
                    .filter(|e| e.value.parse::<f64>().is_err())
                {
                    return compare(subject, op, field(&e.value));
                }
                // two fields: "stock < reorder level"
                let other = subject_name(m, value)?;
                (!other.is_empty() && short(&other))
                    .then(|| compare(subject, op, field(&other)))
                    .flatten()
            }
            '=' | '≠' | '⊂' | '⊄' if !subject.is_empty() => {
                if has(r"^(?:ago|older|newer|due|overdue)\b", &plain) {
                    return None;
                }
                let values: Vec<Val> = self
                    .values
                    .iter()
                    .map(|v| word_value(m, v))
                    .collect::<Option<_>>()?;
                let state = values
                    .iter()
                    .all(|v| matches!(v, Val::Lit { value: Value::String(s) } if has(STATE, s)));
                let subject = if state
                    && !has(
                        r"\b(?:status|state|stage|phase|estado|statut|zustand|stufe|type|category|result|outcome|decision|label|\w+_status)\b",
                        subject,
                    )
                    && !subject.contains('_')
                    && has(r"^[a-zäöüßáéíóúñàèêç ]+$", subject)
                {
                    "status"
                } else {
                    subject
                };
                let negated = matches!(self.sign, '≠' | '⊄');
                if let [one] = values.as_slice() {
                    return match one {
                        Val::Lit {
                            value: Value::Bool(b),
                        } => compare(
                            subject,
                            if *b == negated {
                                Cmp::IsFalse
                            } else {
                                Cmp::IsTrue
                            },
                            lit(true),
                        ),
                        other => compare(
                            subject,
                            if negated { Cmp::Ne } else { Cmp::Eq },
                            other.clone(),
                        ),
                    };
                }
                let list: Vec<Value> = values
                    .into_iter()
                    .map(|v| match v {
                        Val::Lit { value } => Some(value),
                        _ => None,
                    })
                    .collect::<Option<_>>()?;
                if negated {
                    return Some(Cond::All {
                        of: list
                            .into_iter()
                            .map(|v| Cond::Compare {
                                left: field(subject),
                                op: Cmp::Ne,
                                right: Val::Lit { value: v },
                            })
                            .collect(),
                    });
                }
                compare(subject, Cmp::OneOf, lit(Value::Array(list)))
            }
            '∋' | '∌' | '⊢' | '⊣' | '~' => {
                let op = match self.sign {
                    '∋' => Cmp::Contains,
                    '∌' => Cmp::NotContains,
                    '⊢' => Cmp::StartsWith,
                    '⊣' => Cmp::EndsWith,
                    _ => Cmp::Matches,
                };
                let name = if subject.is_empty()
                    || !plain.contains('@')
                        && has(
                            r"^(?:mail|email|message|text|ticket|nachricht|mensaje|correo)$",
                            subject,
                        ) {
                    "text"
                } else {
                    subject
                };
                let mut of = Vec::new();
                for v in &self.values {
                    let right = word_value(m, v)?;
                    let right = match right {
                        Val::Lit {
                            value: Value::Number(n),
                        } => lit(n.to_string()),
                        other => other,
                    };
                    of.push(compare(name, op, right)?);
                }
                if of.len() == 1 {
                    of.pop()
                } else if op == Cmp::NotContains {
                    Some(Cond::All { of })
                } else {
                    Some(Cond::Any { of })
                }
            }
            _ => None,
        }
    }
}

/// Words that say in which state a thing is.
const STATE: &str = r"^(?:open|closed|paid|unpaid|active|inactive|done|finished|completed?|pending|cancell?ed|approved|rejected|won|lost|resolved|shipped|delivered|failed|running|stopped|published|archived|offen|geschlossen|bezahlt|unbezahlt|aktiv|inaktiv|erledigt|fertig|abgeschlossen|storniert|gewonnen|verloren|abiert[oa]|cerrad[oa]|pagad[oa]|activ[oa]|pendiente|ouverte?|fermée?|payée?|active?|terminée?)$";

/// The name of what is measured: the subject, else what the unit measures.
fn named(
    subject: &str,
    plain: &str,
    unit: &str,
    measured: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let money = has(r"[$€£]", plain) || measured(unit).as_deref() == Some("amount");
    let things = has(
        r"^(?:new |paid |open )?(?:orders?|invoices?|deals?|payments?|purchases?|expenses?|bestellungen?|rechnungen?|pedidos?|facturas?|commandes?|factures?)$",
        subject,
    );
    if !subject.is_empty() && !(money && things) {
        return Some(subject.to_owned());
    }
    if money {
        return Some("amount".to_owned());
    }
    measured(unit)
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod compare_tests;
