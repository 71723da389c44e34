//! What drops, keeps, sorts or answers: filters, duplicates, replies to a caller.

use super::*;

/// "ignore an alert if the same alertname was handled in the last 30 minutes (Redis key with TTL 1800)".
pub(super) fn recently_handled(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    let opened = m.open(t);
    let c = rx(r"\b(?:same|dieselbe\w*|gleiche\w*|mism[oa]|même)\s+([\w-]+).{0,40}\b(?:in|within|innerhalb|en|dans)\s+(?:the |der |les |los |las )?(?:last|past|letzten|últim[oa]s|derni\w+)\s+(.+)").captures(&opened)?;
    let key = clean_field(c.get(1)?.as_str());
    let window = first(r"\bTTL\s*(?:of\s*|=\s*)?(\d+)", &opened)
        .and_then(|n| n.parse().ok())
        .or_else(|| when::duration(c.get(2)?.as_str()))?;
    let store = m
        .all(t, "s")
        .iter()
        .find_map(|e| e.service.filter(|s| s.is("kv")));
    let Some(store) = store else {
        return Some(vec![mem.step(
            t,
            Does::Dedupe {
                key: field(&key),
                window_seconds: Some(window),
            },
        )]);
    };
    let named_key = || arg(Role::Field("key".into()), field(&key));
    let lookup = mem.step(
        t,
        Does::Service {
            service: service_of(store, &store.label),
            verb: crate::plan::Verb::Get,
            object: Some("key".into()),
            args: vec![named_key()],
            once: false,
        },
    );
    let not_in = mem.step(
        t,
        Does::NotIn {
            lookup: Box::new(lookup),
            key: field(&key),
        },
    );
    let set = mem.step(
        t,
        Does::Service {
            service: service_of(store, &store.label),
            verb: crate::plan::Verb::Set,
            object: Some("key".into()),
            args: vec![
                named_key(),
                arg(Role::Field("value".into()), field(&key)),
                arg(Role::Field("ttl".into()), lit(window)),
            ],
            once: false,
        },
    );
    Some(vec![not_in, set])
}

pub(super) fn sifting(mem: &mut Memory<'_>, t: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    if let Some(done) = recently_handled(mem, t).or_else(|| crate::read::shape::steps(mem, t)) {
        return Some(done);
    }
    // Never twice.
    if has(
        r"\b(?:never|not|no|nie|nicht|nunca|jamais|don't|do not|without|keine?|sin|sans)\b.{0,40}\b(?:twice|doppelt|zweimal|dos veces|deux fois|duplicates?|duplikate|duplicad\w+|doublons?|repeat(?:ed)?|again)\b|\b(?:de-?dup\w*|only once|nur einmal|una sola vez|une seule fois|only (?:the )?new ones|skip (?:the )?(?:ones|those|items) (?:we|that|already))\b",
        t,
    ) && services_in(m, t).is_empty()
    {
        let by = first(
            r"\b(?:de-?dup\w*|duplicates?|duplikate|duplicad\w+|doublons?)\b.{0,20}?\b(?:by|on|nach|anhand|über|por|par)\s+(?:the\s+|der\s+|die\s+)?([\w-]+)",
            t,
        );
        if let Some(by) = by {
            return Some(vec![mem.step(
                t,
                Does::Dedupe {
                    key: field(by),
                    window_seconds: None,
                },
            )]);
        }
        let what = first(
            r"\b(?:same|dieselbe\w*|denselben|gleiche\w*|mism[oa]|même)\s+([\w-]+)",
            t,
        )
        .unwrap_or("item");
        let key = field(&format!("{what} id"));
        return Some(vec![mem.step(
            t,
            Does::Dedupe {
                key,
                window_seconds: None,
            },
        )]);
    }
    // Already in a store.
    if has(
        r"^(?:{filterout}|keep only|only keep|behalte nur|nur)\b.*\b(?:already|schon|bereits|ya|déjà|exist\w*|in (?:the )?)\b",
        t,
    ) && let Some(e) = services_in(m, t).first().copied()
        && has(
            r"\b(?:that|which|who|everyone|everybody|anyone|if|die|que|qui|all|alle)\b",
            t,
        )
        && !has(r"^(?:keep only|only keep)", t)
    {
        let key = first(r"^(?:{filterout})\s+(?:all\s+|any\s+|the\s+|everyone|everybody|anyone)?\s*([\w -]*?)\s*(?:that|which|who|if|die|que|qui)\b", t).map(clean_field).unwrap_or_default();
        let key = if key.is_empty() || has(r"^(?:contacts?|people|leads?|customers?|users?)$", &key)
        {
            "email".to_owned()
        } else {
            key.trim_end_matches('s').to_owned()
        };
        let lookup = read_step(mem, t, e);
        return Some(vec![mem.step(
            t,
            Does::NotIn {
                lookup: Box::new(lookup),
                key: field(&key),
            },
        )]);
    }
    if let Some(tail) = first(r"^(?:{filterout})\s+(.+)$", t)
        && services_in(m, t).is_empty()
        && let Some(c) = cond::condition(m, &relative(tail))
    {
        return Some(vec![mem.step(
            t,
            Does::Filter {
                condition: Cond::Not { of: Box::new(c) },
            },
        )]);
    }
    if let Some(tail) = first(
        r"^(?:keep only|only keep|only take|filter (?:for|by|on|to)|filter|behalte nur|nur|filtere(?: nach)?|quédate solo con|filtra|garde uniquement|ne garde que|only)\s+(.+)$",
        t,
    ) && services_in(m, t).is_empty()
        && let Some(c) = cond::condition(m, &relative(tail))
    {
        return Some(vec![mem.step(t, Does::Filter { condition: c })]);
    }
    if has(r"^(?:sort|order|sortier\w*|ordena|trie)\b", t) {
        let by = first(r"\b(?:by|nach|por|par)\s+(?:the\s+)?([\w -]+?)(?:\s+(?:descending|ascending|desc|asc|absteigend|aufsteigend|highest first|newest first|.*first))?$", t).unwrap_or("date");
        return Some(vec![mem.step(t, Does::Sort { by: field(by), descending: has(r"\b(?:desc\w*|absteigend|highest|newest|latest|largest|descendente|décroissant)\b", t) })]);
    }
    if let Some(n) = first(
        r"^(?:take|keep|only|limit (?:it |them )?to|nimm|toma|garde|pick)\s+(?:only\s+|just\s+)?(?:the\s+)?(?:top|first|newest|latest|best|ersten|primer\w*|premi\w*)\s+(\d+)",
        t,
    ) {
        return Some(vec![mem.step(
            t,
            Does::LimitTo {
                n: n.parse().unwrap_or(10),
            },
        )]);
    }
    if let Some(step) = arithmetic(mem, t).or_else(|| assigned(mem, t)) {
        return Some(vec![step]);
    }
    if has(
        r"^(?:calculate|compute|add up|sum up|berechne\w*|calcula\w*|calcule\w*|count|work out)\b",
        t,
    ) {
        let fields = fields_in(m, t);
        if !fields.is_empty() {
            return Some(vec![
                mem.step(
                    t,
                    Does::SetFields {
                        fields: fields
                            .iter()
                            .map(|n| arg(Role::Field(n.clone()), field(n)))
                            .collect(),
                    },
                ),
            ]);
        }
    }
    None
}

/// "set the total to price times quantity": a field of its own, worked out from two values. A sign within a word is part of that word ("follow-up"), and what is set has a name.
fn arithmetic(mem: &mut Memory<'_>, t: &str) -> Option<Step> {
    let plain = mem.m.plain(t);
    let c = rx(r"^(?:(set|setze|pon)|calculate|compute|work out|determine|berechne\w*|calcul[ae]\w*)\s+(?:(?:the\s+|a\s+|den\s+|die\s+|das\s+|el\s+|la\s+|le\s+)?([\w ]{1,30}?)\s*(?:\bto be\b|\bto\b|\bas\b|\bauf\b|\bals\b|\bcomo\b|\bcomme\b|\bfrom\b|=)\s*)?(?:the\s+|le\s+|el\s+|la\s+)?([\w.]+(?: [\w.]+){0,2}?)\s*(\s[-/]\s|\s?\+\s?|\*|×|\b(?:plus|minus|times|multiplied by|divided by|mal|geteilt durch|más|menos|por|entre|fois|moins|divisé par)\b)\s*(?:the\s+|le\s+|el\s+|la\s+)?([\w.]+(?: [\w.]+){0,2})$").captures(&plain)?;
    let part = |at: usize| c.get(at).map_or("", |g| g.as_str());
    let named = clean_field(part(2));
    if named.is_empty() && c.get(1).is_some() {
        return None;
    }
    let value = math(part(3), part(4), part(5))?;
    let name = if named.is_empty() { "result" } else { &named };
    let fields = vec![arg(Role::Field(name.to_owned()), value)];
    Some(mem.step(t, Does::SetFields { fields }))
}

/// "set the status to follow-up and the source to web", "add a field tier with the value gold": fields of the data at hand.
/// Where a service was named before, "set the status" may mean its record: only what is called a field is taken then.
fn assigned(mem: &mut Memory<'_>, t: &str) -> Option<Step> {
    const FIELD: &str = r"(?:field|property|attribute|feld|campo|champ)";
    const NAME: &str = r"([\w-]+(?: [\w-]+){0,2}?)";
    if has(
        r"\b(?:in|into|to|on|im|ins|zu|nach|en|a|al|dans|à|au)\s+(?:the\s+|das\s+|el\s+|la\s+|le\s+)?§s",
        t,
    ) {
        return None;
    }
    let plain = mem.m.plain(t);
    let added = format!(
        r"^(?:add|append|include|create|define|füge|ergänze|añade|agrega|ajoute)\s+(?:an?\s+|the\s+|ein\s+|das\s+|une?\s+|le\s+|el\s+)?(?:new\s+|constant\s+|neues\s+|nuevo\s+|nouveau\s+)?{FIELD}\s+(?:called\s+|named\s+|namens\s+|llamado\s+|nommé\s+|appelé\s+)?[\x22']?{NAME}[\x22']?\s*(?:=|:|\bset to\b|\bequal to\b|\b(?:with|of|mit|con|avec)\b(?:\s+(?:the|a|dem|el|la))?(?:\s+(?:value|wert|valor|valeur)(?:\s+of)?)?)\s*(.+?)(?:\s+hinzu)?$"
    );
    if let Some(c) = rx(&added).captures(&plain) {
        let fields = vec![given(c.get(1)?.as_str(), c.get(2)?.as_str())?];
        return Some(mem.step(t, Does::SetFields { fields }));
    }
    if !services_in(mem.m, t).is_empty() {
        return None;
    }
    let said = rx(r"^(?:sets?|assigns?|setze|pon|establece|asigna|mets|définis)\s+(.+)$");
    let tail = said.captures(&plain)?.get(1)?.as_str().to_owned();
    let own = mem.used.is_empty() && mem.trigger.is_none();
    if !own && !has(&format!(r"^(?:the\s+|das\s+|el\s+|le\s+)?{FIELD}\b"), &tail) {
        return None;
    }
    let pair = format!(
        r"^(?:and\s+|und\s+|y\s+|et\s+)?(?:the\s+|its\s+|an?\s+|den\s+|die\s+|das\s+|el\s+|la\s+|le\s+)?(?:{FIELD}\s+)?[\x22']?{NAME}[\x22']?\s*(?:=|:|\b(?:to be|to|as|auf|als|a|en|como|à|comme)\b)\s*(.+)$"
    );
    let read = |part: &str| {
        let c = rx(&pair).captures(part)?;
        given(c.get(1)?.as_str(), c.get(2)?.as_str())
    };
    let several = rx(r"\s*(?:,\s*(?:(?:and|und|y|et)\s)?|\s(?:and|und|y|et)\s)\s*");
    let fields: Option<Vec<Arg>> = several.split(&tail).map(read).collect();
    let fields = fields.or_else(|| read(&tail).map(|only| vec![only]))?;
    Some(mem.step(t, Does::SetFields { fields }))
}

/// A field and the value it is given: what is quoted as it stands, a number, yes or no, now, another field ("the total"), or a few words.
fn given(name: &str, said: &str) -> Option<Arg> {
    let said = said.trim();
    let sum = || {
        let c = rx(r"^([\w.]+(?: [\w.]+){0,2}?)\s*(\s[-/]\s|\s?\+\s?|\*|×|\b(?:plus|minus|times|mal|más|menos|fois|moins)\b)\s*([\w.]+(?: [\w.]+){0,2})$").captures(said)?;
        math(c.get(1)?.as_str(), c.get(2)?.as_str(), c.get(3)?.as_str())
    };
    let quoted = rx(r"^[\x22'“„«](.*)[\x22'”“»]$")
        .captures(said)
        .and_then(|c| Some(template(c.get(1)?.as_str())));
    let bare = || match said.to_lowercase().as_str() {
        "true" | "yes" | "wahr" | "verdadero" | "vrai" => Some(lit(true)),
        "false" | "no" | "falsch" | "falso" | "faux" => Some(lit(false)),
        "now" | "the current time" | "the current date" | "today" | "jetzt" | "heute" | "ahora"
        | "hoy" | "maintenant" | "aujourd'hui" => Some(Val::Now {
            offset_seconds: 0,
            format: None,
        }),
        _ => None,
    };
    let number = || said.parse::<serde_json::Number>().ok().map(lit);
    let other = || {
        first(
            r"^(?:the|its|their|den|die|das|dem|el|la|le)\s+([\w-]+(?: [\w-]+){0,3})$",
            said,
        )
        .map(field)
    };
    let words = || {
        (said.split_whitespace().count() <= 4
            && !has(
                r"^(?:it|them|this|that|be|es|ihn|lo|cela)\b|\b(?:and|und|or|oder|if|when|wenn)\b",
                said,
            ))
        .then(|| lit(said))
    };
    let value = quoted
        .or_else(bare)
        .or_else(number)
        .or_else(sum)
        .or_else(other)
        .or_else(words)?;
    let name = clean_field(name);
    (!name.is_empty()).then(|| arg(Role::Field(name), value))
}

/// Two numbers or fields, and what stands between them.
fn math(left: &str, sign: &str, right: &str) -> Option<Val> {
    Some(Val::Math {
        left: Box::new(amount(left)?),
        sign: operator(sign.trim()),
        right: Box::new(amount(right)?),
    })
}

/// A number, or the field of that name.
fn amount(said: &str) -> Option<Val> {
    let said = clean_field(said);
    match said.parse::<serde_json::Number>() {
        Ok(number) => Some(lit(number)),
        Err(_) => (!said.is_empty()).then(|| field(&said)),
    }
}

/// "those that are paid" → "are paid".
pub(super) fn relative(text: &str) -> String {
    rx(r"^(?:the|those|ones|all|any|items?|rows?|entries|orders?|tickets?|leads?|contacts?|\w+s)?\s*(?:that|which|who|whose|where|if|with|die|deren|que|cuyo|qui|dont)\s+(?:(?:are|is|have|has|an?|the)\s+)?").replace(text, "").into_owned()
}

/// "respond with the order id": the one field that is answered.
fn answered_field(text: &str) -> Option<String> {
    first(
        r"\s(?:with|mit|con|avec)\s+(?:only\s+|just\s+)?(?:the|its|their|der|die|das|el|la|le)\s+((?:\w+\s+){0,2}(?:id|ids|number|e-?mail|name|status|total|price|amount|count|date|url|link))$",
        text,
    )
    .map(str::to_owned)
}

/// "respond with ok": a word that callers are commonly answered with, said without quotes.
fn answered_word(text: &str) -> Option<&str> {
    first(
        r"\s(?:with|mit|con|avec)\s+(?:just\s+|an?\s+|einem\s+)?(ok|okay|pong|done|thanks|danke|gracias|merci|hello|received|accepted|success)$",
        text,
    )
}

/// `{"ok": true}`: JSON with its values is answered as it stands.
fn written_out(m: &Masked, text: &str) -> Option<Vec<Arg>> {
    m.all(text, "b").into_iter().find_map(|e| {
        let json = format!("{{{}}}", e.value);
        let map: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&json).ok()?;
        let flat = map.values().all(|v| !v.is_object() && !v.is_array());
        (flat && !map.is_empty()).then(|| {
            map.into_iter()
                .map(|(name, value)| {
                    let value = value.as_str().map_or_else(|| lit(value.clone()), template);
                    arg(Role::Field(name), value)
                })
                .collect()
        })
    })
}

/// A reply to the webhook's caller.
pub fn respond(mem: &mut Memory<'_>, text: &str) -> Option<Vec<Step>> {
    let m = mem.m;
    let t = strip_lead(text).to_owned();
    if !has(
        r"^(?:answers?|responds?|reply|replies|returns?|antworte\w*|gib\b|responde|devuelve|réponds|renvoie|send back|the (?:response|answer)|die antwort)\b",
        &t,
    ) || !services_in(m, &t).is_empty()
        || m.one(&t, "m").is_some()
    {
        return None;
    }
    let status = first(r"\b([1-5]\d\d)\b", &t)
        .and_then(|s| s.parse().ok())
        .unwrap_or(200);
    let mut named = fields_in(m, &t);
    if named.is_empty() {
        named.extend(answered_field(&t));
    }
    let body = written_out(m, &t).unwrap_or_else(|| {
        let fields = named.iter();
        fields
            .map(|n| arg(Role::Field(n.clone()), field(n)))
            .collect()
    });
    let as_text: Option<Val> = m
        .one(&t, "q")
        .map(|e| template(&e.value))
        .or_else(|| answered_word(&t).map(template))
        .filter(|_| body.is_empty());
    Some(vec![mem.step(
        &t,
        Does::Respond {
            status,
            body,
            as_text,
        },
    )])
}

/// A condition after a read: "all users whose status is SUSPENDED", "who has birthday today", "without activity for 30 days".
pub fn read_filter(mem: &mut Memory<'_>, text: &str) -> Option<Step> {
    let m = mem.m;
    let tail = first(r"\b((?:whose|where|wer|quién|qui a|deren|cuyo|cuya|dont)\s.+)$", text)
        .or(first(r"\b((?:older|newer|more|less|overdue|älter|jünger)\s+than\s.+)$", text))
                .or(first(r"\b((?:from|of|in|within)\s+the (?:last|past)\s+.+)$", text))
        .or(first(
            r"\b((?:without|with no|sans|sin|ohne)\s.+)$", text))
        .or(first(r"\b((?:that|which|who) (?:are|is|have|has|was|were|cost|costs|report|reports)\s.+)$", text))
        .or(first(r"\b(with (?:a |an )?[\w ]+ (?:of |is )?(?:over|above|below|under|more than|less than|at least|at most|greater than)\s.+)$", text))
        .or(first(r"\b((?:over|above|below|under|more than|less than|at least)\s+[$€£]?\s?\d.*)$", text))?;
    let condition = cond::condition(m, tail)?;
    if let Cond::Compare {
        left: Val::Field { name, .. },
        op: Cmp::IsTrue,
        ..
    } = &condition
        && name.split_whitespace().count() > 4
    {
        return None;
    }
    Some(mem.step(text, Does::Filter { condition }))
}

/// An answer to the caller, where there is one.
pub fn respond_if_webhook(mem: &mut Memory<'_>, text: &str) -> Option<Vec<Step>> {
    if mem.answers_caller {
        respond(mem, text)
    } else {
        None
    }
}
