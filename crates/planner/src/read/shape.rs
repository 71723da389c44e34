//! Shaping items: lists split up, repeats within a run dropped, order, the first N, sums per group. One clause may say
//! several of them ("no duplicate links, newest first, top 5"). Owns no service and no condition.

use crate::lexicon::{first, has, rx};
use crate::plan::{Does, Measure, Step};
use crate::read::act::{Memory, services_in};
use crate::read::value::{clean_field, field};
use crate::read::when::number;

const TAKE: &str = r"(?:{num}|zwanzig|fifty|hundred)";

/// A clause that only shapes.
pub fn steps(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    if !services_in(mem.m, t).is_empty() || mem.m.one(t, "umc").is_some() {
        return None;
    }
    let shapes = has(
        r"^(?:(?:and|then|only|just|the|nur|die|solo|los|las|les)\s+)*(?:remove|drop|delete|throw (?:out|away)|eliminate|get rid of|de-?dup\w*|entferne?n?|lösche?|elimina|quita|supprime[rz]?|enlève|sort|order|rank|sortier\w*|ordena|trie[rz]?|classe[rz]?|take|keep|limit|pick|use|cut|nimm|behalte|toma|quédate|garde[rz]?|top|first|last|newest|latest|oldest|highest|largest|biggest|most|no duplicates?|split|break|explode|separate|unroll|flatten|teile|zerlege|spalte|separa|divide|sépare|divise|sum|add up|total|count|average|group|aggregate|summier\w*|addier\w*|zähle?|gruppier\w*|suma|cuenta|agrupa|additionne|compte|regroupe|calculate|compute|berechne|calcula|calcule|for (?:each|every)|one item (?:per|for)|{num}\s+(?:newest|latest|biggest|largest|highest|oldest|most))\b",
        t,
    );
    if !shapes {
        return None;
    }
    let out = all(mem, t);
    (!out.is_empty()).then_some(out)
}

/// Everything about shaping that a text says, in the order in which it must happen.
pub fn all(mem: &mut Memory<'_>, t: &str) -> Vec<Step> {
    let mut out = Vec::new();
    let found = [split(mem, t), unique(mem, t), measures(mem, t)];
    for does in found.into_iter().flatten() {
        out.push(mem.step(t, does));
    }
    for does in [order(mem, t), limit(t)].into_iter().flatten() {
        out.push(mem.step(t, does));
    }
    out
}

fn split(mem: &Memory<'_>, t: &str) -> Option<Does> {
    let m = mem.m;
    let by = first(
        r"\b(?:split|break|explode|separate|unroll|flatten|teile|zerlege|spalte|separa|divide|sépare|divise)\w*\s+(?:out |up |apart )?(?:the |das |die |den |el |la |los |le |les |l')?(?:list |array |field |liste |feld |lista |campo )?(?:of |von |de )?(§[kqd]\d+§|[\w-]+)",
        t,
    )
    .or_else(|| first(r"\b(?:for (?:each|every)|one (?:item|row|record|mail|call)? ?(?:per|for each)|für jede\w*|para cada|pour chaque)\s+(?:[\w-]+\s+)?(?:in|of|from|aus|von|de|dans)\s+(?:the |our |its |der |dem )?(?:list |array |field |liste )?(§[kd]\d+§)", t))?;
    let name = m
        .entity(by)
        .map_or_else(|| by.to_owned(), |e| e.value.clone());
    let text = has(
        r"^(?:it|them|this|that|text|document|by|into|up|batch\w*|name|pdf|file)$",
        &name,
    );
    (!text
        && !has(
            r"\b(?:chunks?|batches|pages|characters|zeichen|tokens?)\b",
            t,
        ))
    .then(|| Does::Split {
        field: field(&name),
    })
}

fn unique(mem: &Memory<'_>, t: &str) -> Option<Does> {
    if has(
        r"\b(?:twice|again|ever|already|before|previous\w*|earlier|across|runs?|nochmal|schon|bereits|ya|déjà|last (?:run|time))\b",
        t,
    ) {
        return None;
    }
    let what = r"\b(?:(?:remove|drop|delete|throw (?:out|away)|eliminate|filter out|get rid of|without|no|entferne?n?|lösche?|ohne|keine|elimina\w*|quita|sin|supprime\w*|enlève\w*|sans)\s+(?:any |all |the |die |alle |los |las |les )?(?:duplicated?s?|doppelte\w*|dubletten|duplikate|duplicad[oa]s?|doublons?)|de-?duplicate\w*|de-?dupe\w*)";
    let named = rx(&format!(r"{what}.*?\b(?:by|on|based on|nach|anhand|por|par|sur|same)\s+(?:the |der |dem |el |la |le )?(§[kqd]\d+§|[\w-]+)"))
        .captures(t)
        .and_then(|c| c.get(1).map(|x| mem.m.entity(x.as_str()).map_or_else(|| x.as_str().to_owned(), |e| e.value.clone())));
    let c = rx(&format!(r"{what}(?:\s+(?:the )?([\w-]+))?")).captures(t)?;
    let noun = c.get(1).map(|x| x.as_str().to_lowercase()).filter(|n| !has(r"^(?:items?|entries|rows?|records?|ones|results?|articles?|orders?|leads?|contacts?|by|on|based|from|in|and|then|einträge|artikel|zeilen|them|list)$", n));
    let key = named.or_else(|| noun.map(|n| n.strip_suffix('s').map_or(n.clone(), str::to_owned)));
    Some(Does::Unique {
        by: key.iter().map(|k| field(k)).collect(),
    })
}

fn singular(text: &str) -> String {
    let t = clean_field(text);
    let t = t.to_lowercase();
    t.strip_suffix("ies").map_or_else(
        || {
            t.strip_suffix('s')
                .filter(|s| !s.ends_with(['s', 'u', 'i']))
                .map_or_else(|| t.clone(), str::to_owned)
        },
        |s| format!("{s}y"),
    )
}

fn measures(mem: &Memory<'_>, t: &str) -> Option<Does> {
    let m = mem.m;
    let plain = m.open(t);
    let c = rx(r"\b(sum|total|add up|adds? together|count|number of|average|mean|avg|minimum|maximum|summiere?|summe|addiere?|zähle?|anzahl|durchschnitt\w*|mittelwert|suma[rs]?|total de|cuenta|número de|promedio|media|additionne\w*|somme|compte|nombre de|moyenne)\b\s*(?:up |of |der |des |von |de |d')?(?:the |die |den |das |los |las |el |la |les |le )?(.{2,30}?)\s+(?:per|by|for each|for every|grouped by|in each|pro|je|nach|por|par|para cada|pour chaque)\s+(?:the )?(§[kqd]\d+§|[\w-]+)").captures(&plain)?;
    let what = c.get(2)?.as_str();
    if has(r"\b(?:and|then|to|in|send|post)\b", what) {
        return None;
    }
    let word = c.get(1)?.as_str().to_lowercase();
    let op = if has(
        r"^(?:count|number|zähl|anzahl|cuenta|número|compte|nombre)",
        &word,
    ) {
        "count"
    } else if has(
        r"^(?:average|mean|avg|durchschnitt|mittel|promedio|media|moyenne)",
        &word,
    ) {
        "average"
    } else if word == "minimum" {
        "min"
    } else if word == "maximum" {
        "max"
    } else {
        "sum"
    };
    let said = |text: &str| {
        m.one(text, "kqd")
            .map_or_else(|| singular(&m.plain(text)), |e| e.value.clone())
    };
    let name = if op == "count" {
        "id".to_owned()
    } else {
        said(what)
    };
    let by = said(c.get(3)?.as_str());
    if has(
        r"^(?:{second}|{minute}|{hour}|e-?mail|mail|post|hand|run|it|them)$",
        &by,
    ) {
        return None;
    }
    Some(Does::Summarize {
        measures: vec![Measure {
            op: op.to_owned(),
            of: field(&name),
        }],
        by: vec![field(&by)],
    })
}

/// What a superlative orders by, and whether it descends.
fn superlative(word: &str) -> Option<(&'static str, bool)> {
    const ALL: [(&str, &str, bool); 6] = [
        (
            r"^(?:newest|latest|most recent|neueste\w*|aktuellste\w*|más (?:nuev|recient)\w+|últim[oa]s|plus récent\w*|derni\w+)$",
            "date",
            true,
        ),
        (
            r"^(?:oldest|earliest|älteste\w*|más antigu\w+|plus ancien\w*)$",
            "date",
            false,
        ),
        (
            r"^(?:biggest|largest|most expensive|highest|größte\w*|teuerste\w*|höchste\w*|más (?:grandes|car[oa]s|alt[oa]s)|mayores|plus (?:grand|gros|cher|élevé)\w*)$",
            "amount",
            true,
        ),
        (
            r"^(?:smallest|cheapest|lowest|kleinste\w*|billigste\w*|günstigste\w*|niedrigste\w*|más (?:pequeñ|barat|baj)\w+|menores|moins chers?|plus (?:petit|bas)\w*)$",
            "amount",
            false,
        ),
        (
            r"^(?:best|top[- ]rated|highest[- ]rated|most popular|beste\w*|mejores|meilleur\w*)$",
            "score",
            true,
        ),
        (
            r"^(?:worst|lowest[- ]rated|schlechteste\w*|peores|pires?)$",
            "score",
            false,
        ),
    ];
    ALL.iter()
        .find(|(p, _, _)| has(p, word))
        .map(|(_, by, down)| (*by, *down))
}

const BEST: &str = r"(newest|latest|most recent|oldest|earliest|biggest|largest|most expensive|highest(?:[- ]rated)?|smallest|cheapest|lowest(?:[- ]rated)?|best|top[- ]rated|most popular|worst|neueste\w*|aktuellste\w*|älteste\w*|größte\w*|teuerste\w*|höchste\w*|kleinste\w*|günstigste\w*|niedrigste\w*|beste\w*|más (?:nuev|recient|antigu|grande|car|alt|pequeñ|barat|baj)\w+|mayores|menores|mejores|plus (?:récent|ancien|grand|gros|cher|petit|élevé)\w*|meilleur\w*)";

fn order(mem: &Memory<'_>, t: &str) -> Option<Does> {
    let m = mem.m;
    let down = has(
        r"\b(?:desc\w*|absteigend|highest|newest|latest|largest|biggest|most|descendente|décroissant\w*|neueste\w*|größte\w*|höchste\w*|mayor\w*|top)\b",
        t,
    );
    if let Some(by) = first(
        r"\b(?:sort|order by|rank|sorted|ordered|ranked|order (?:it|them|all) by|sortier\w*|ordena\w*|trie\w*|classe\w*)\s+(?:(?:it|them|all|the \w+|die \w+|sie|los|las|les \w+|nach)\s+)?(?:(?:in )?(?:descending|ascending|absteigend|aufsteigend|descendente|ascendente)(?: order)?\s+)?(?:by|nach|por|par|on)?\s*(?:the |dem |der |el |la |le )?(§[kqd]\d+§|[\w-]+(?:\s(?:date|time|total|score|amount|at))?)",
        t,
    ) {
        let name = m
            .entity(by)
            .map_or_else(|| by.to_owned(), |e| e.value.clone());
        let name = match superlative(&name) {
            Some((by, _)) => by.to_owned(),
            None => name,
        };
        return Some(Does::Sort {
            by: field(&name),
            descending: down,
        });
    }
    let text = rx(r"\s+").replace_all(t, " ").into_owned();
    let firsts = rx(&format!(
        r"\b(?:the |die |los |las |les )?{BEST}(?:\s+([\w-]+))?\s+(?:first|zuerst|primero|d'abord|en premier)\b"
    ));
    let few = rx(&format!(
        r"\b{TAKE}\s+{BEST}(?:\s+([\w-]+))?|\b{BEST}\s+{TAKE}\b"
    ));
    let top_by = first(
        r"\btop\s+\w+\b.{0,30}?\b(?:by|nach|por|par)\s+(?:the )?(§[kqd]\d+§|[\w-]+)",
        &text,
    );
    if let Some(by) = top_by {
        let name = m
            .entity(by)
            .map_or_else(|| by.to_owned(), |e| e.value.clone());
        return Some(Does::Sort {
            by: field(&name),
            descending: true,
        });
    }
    let caps = firsts.captures(&text).or_else(|| few.captures(&text))?;
    let word = caps.get(1).or(caps.get(3))?.as_str();
    let (by, descending) = superlative(word)?;
    // "the highest score first": the noun is the field
    let noun = caps.get(2).map(|n| n.as_str()).filter(|n| {
        firsts.is_match(&text)
            && !has(
                r"^(?:ones?|items?|orders?|entries|articles?|posts?|one|first)$",
                n,
            )
    });
    Some(Does::Sort {
        by: field(noun.unwrap_or(by)),
        descending,
    })
}

fn limit(t: &str) -> Option<Does> {
    let pattern = format!(
        r"\b(?:top|first|(?:the )?(?:first|newest|latest|last)|erste\w*|primer[oa]?s?|premi[eè]re?s?)\s+({TAKE})\b|\b({TAKE})\s+(?:first|primer[oa]s|premi[eè]re?s?|{BEST})\b|\b(?:limit\w*|cut|restrict|begrenz\w*|limita|limite)\s+(?:it|them|the \w+|auf|a|à)?\s*(?:to|auf|a|à)?\s*({TAKE})\b|\b(?:keep|take|use|nimm|behalte|toma|garde)\s+(?:only |just |at most |nur |höchstens |solo |seulement )?(?:the )?({TAKE})\s+(?:items?|entries|articles?|results?|rows?|einträge|resultados|résultats|ones|of them)\b"
    );
    let c = rx(&pattern).captures(t)?;
    // behind the superlative's own group
    let said = [1, 2, 4, 5]
        .into_iter()
        .find_map(|i| c.get(i))
        .map(|x| x.as_str())?;
    if has(r"^(?:a|an|other|second|ein\w*|une?|one)$", said) {
        return None;
    }
    let after = t.get(c.get(0)?.end()..).unwrap_or_default();
    if has(
        r"^\s*(?:{second}|{minute}|{hour}|{day}|{week}|{month}|words|characters|wörter|palabras|mots|%)\b",
        after,
    ) {
        return None;
    }
    let n = number(said)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small positive figure"
    )]
    (1.0..=10_000.0)
        .contains(&n)
        .then_some(Does::LimitTo { n: n as u32 })
}
