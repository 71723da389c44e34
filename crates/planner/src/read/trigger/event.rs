//! Triggers that come from a service: what happened, where, and under which condition.

use super::*;

pub(super) fn regex_mark(m: &Masked, e: &Entity) -> String {
    m.entities
        .iter()
        .position(|x| std::ptr::eq(x, e))
        .map(|i| format!("§s{i}§"))
        .unwrap_or_default()
}

pub(super) fn event_trigger(
    m: &Masked,
    entry: &'static ServiceEntry,
    e: &Entity,
    event: &str,
    text: &str,
) -> Trigger {
    Trigger::Service {
        service: Service {
            said: e.value.clone(),
            node_types: entry.triggers.clone(),
        },
        event: m.plain(event),
        object: lexicon::noun(event)
            .map(|n| n.canonical.clone())
            .or_else(|| object_of(text)),
        args: filters(m, text, entry),
    }
}

pub(super) fn object_of(text: &str) -> Option<String> {
    text.split_whitespace()
        .map(|w| {
            w.trim_matches(|c: char| !c.is_alphanumeric() && c != '-')
                .to_lowercase()
        })
        .find_map(|w| lexicon::noun(&w).map(|n| n.canonical.clone()))
}

/// What the trigger itself can filter on.
pub(super) fn filters(m: &Masked, text: &str, entry: &ServiceEntry) -> Vec<Arg> {
    let mut out = Vec::new();
    let plain = m.plain(text);
    if let Some(repo) = first(
        r"\b(?:repo|repository|repositorio|dépôt)\s+([\w.-]+/[\w.-]+)",
        &plain,
    )
    .or(first(r"\b([\w-]+/[\w.-]+)\s+(?:repo|repository)\b", &plain))
    .or(first(r"\b(?:github|gitlab)\s+([\w-]+/[\w.-]+)", &plain))
    .or(first(r"\b(?:in|on|to|of|for)\s+([\w-]+/[\w-]+)\b", &plain).filter(|_| entry.is("issue")))
    {
        out.push(arg(Role::Container, lit(repo.trim_end_matches('.'))));
    } else if let Some(repo) = first(r"\b(?:repo|repository)\s+([\w.-]+)", &plain) {
        out.push(arg(Role::Container, lit(repo)));
    }
    if let Some(branch) = first(r"\b(?:to|on|auf|a|sur|into)\s+(?:the\s+|branch\s+)*(main|master|develop|production|staging|release[\w/.-]*)\b", &plain).or(first(r"\bbranch\s+([\w/.-]+)", &plain)) {
        out.push(arg(Role::Branch, lit(branch)));
    }
    if let Some(label) = m.after(r"\b(?:label(?:l?ed)?(?: with| as)?|tagged(?: with| as)?|label|etiqueta\w*(?: como)?|gelabelt als|markiert als|libellé\w*)\s+(§q\d+§)", text) {
        out.push(arg(Role::Label, lit(label.value.clone())));
    } else if let Some(label) = first(r"\b(?:label(?:l?ed)?|tagged)\s+(?:with\s+|as\s+)?([\w-]+)", &plain).filter(|w| !has(r"^(?:and|in|with|as|is|to|in)$", w)) {
        out.push(arg(Role::Label, lit(label)));
    }
    if let Some(name) = m.after(r"\b(?:folder|ordner|carpeta|dossier|sheet|spreadsheet|base|database|datenbank|board|list|liste|lista|project|table|form|calendar|kalender|tab|mailbox|workspace|audience)\s+(?:named |called |namens )?(§[qd]\d+§)", text).or_else(|| m.after(r"§s\d+§\s+(§q\d+§)", text)) {
        out.push(arg(Role::Container, lit(name.value.clone())));
    } else if let Some(u) = m.one(text, "u") {
        out.push(arg(if entry.key == "rssFeedRead" { Role::Url } else { Role::Container }, lit(u.value.clone())));
    } else if let Some(h) = m.one(text, "h") {
        out.push(arg(Role::Path, lit(h.value.clone())));
    } else if let Some(c) = m.one(text, "c").filter(|_| entry.is("chat")) {
        out.push(arg(Role::Channel, lit(c.value.clone())));
    }
    if let Some(t) = m
        .after(r"\b(?:table|tabelle|tabla)\s+(§[dq]\d+§)", text)
        .map(|e| e.value.clone())
        .or_else(|| first(r"\btable\s+([a-z_]\w+)", &plain).map(str::to_owned))
    {
        out.push(arg(Role::Part, lit(t)));
    }
    if has(
        r"\b(?:with|has|have|having|containing|mit|con|avec)\s+(?:an?\s+|pdf\s+|ein\w*\s+)?(?:pdf\s+)?(?:attachments?|anhang|anhänge\w*|adjuntos?|pièces? jointes?)\b|\bpdf attachments?\b|\battachments?\b",
        &m.open(text),
    ) {
        out.push(arg(Role::Attachment, lit(true)));
    }
    if let Some(e) = m.after(r"\b(?:from|von|de)\s+(§m\d+§)", text) {
        out.push(arg(Role::From, lit(e.value.clone())));
    }
    if let Some(s) = m.after(
        r"\b(?:subject|betreff|asunto|objet|subject line|title|titel)\b.{0,30}?(§q\d+§)",
        text,
    )
    .or_else(|| {
        m.after(
            r"(§q\d+§)\s+(?:(?:is|appears|ist|steht|aparece|figure|are)\s+)?(?:in|im|en|dans)\s+(?:the |dem |der |el |l')?(?:subject|betreff|asunto|objet|subject line|title|titel)",
            text,
        )
    }) {
        out.push(arg(Role::Subject, lit(s.value.clone())));
    }
    out.extend(signal::things(m, text));
    out
}

pub(super) const EVENT_WORDS: &str = r"\b(?:{new}|comes? in|come in|arrives?|arrive|received?|receive|incoming|gets?|is|are|was|has been|have been|lands?|created|submitted|submits?|uploaded|added|adds|updated|changes?|changed|placed|paid|booked|books|booking|cancel\w*|starred?|star|react\w*|joins?|subscribes?|unsubscribes?|signs? up|posted|posts|mentions?|mentioned|published|opened|opens|closed|closes|merged|pushed|push|pushes|labell?ed|switches|moves?|fails?|failed|ends up|happens|detected|completed?|occurs?|stars?|wins?|won|exceeds?|llegue\w*|gets? (?:new|a)|verschoben|fills?|rellen\w+|llega\w*|recib\w+|entra\w*|crea(?:n|do)?|eintrifft|eingeht|kommt|ankommt|erstellt|ankomm\w+|reinkommt|hochgeladen|angelegt|arriv\w+|reçoi\w+|créé\w*|incoming|eingehende\w*|every|each)\b";

/// Something happens in a service.
pub(super) fn service_event(
    mem: &mut Memory<'_>,
    clauses: &mut Vec<Clause>,
    found: &mut Found,
) -> bool {
    let m = mem.m;
    // "WooCommerce: as soon as an order …": the service stands before the colon.
    for i in 0..clauses.len() {
        let (Some(c), next) = (clauses.get(i).cloned(), clauses.get(i + 1).cloned()) else {
            continue;
        };
        if has(r"^§s\d+§$", c.text.trim())
            && let Some(next) = next
            && next.join == Join::Colon
        {
            if let Some(n) = clauses.get_mut(i + 1) {
                n.text = format!("{} ({})", next.text, c.text.trim());
                n.join = c.join;
            }
            clauses.remove(i);
            break;
        }
    }
    let candidates: Vec<usize> = (0..clauses.len()).collect();
    for i in candidates {
        let Some(c) = clauses.get(i).cloned() else {
            continue;
        };
        let text = c.text.clone();
        // "Alert me on Pushover when the price from CoinGecko is above 100": the event stands behind the action.
        if i == 0
            && let Some(caps) = rx(r"^(.+?)[,\s]+({if}|once)\s+(.+)$").captures(&text)
            && let (Some(action), Some(event)) = (caps.get(1), caps.get(3))
            && crate::read::act::verb_in(action.as_str()).is_some()
            && (has(EVENT_WORDS, event.as_str())
                || has(
                    r"[,\s](?:whenever|every time|each time|as soon as|sobald|immer wenn|jedes mal,? wenn|cada vez que|en cuanto|chaque fois que?|dès que?)\s",
                    &text,
                ))
            && let Some(e) = services_in(m, event.as_str()).first().copied()
            && let Some(entry) = e.service
        {
            let (event, action) = (event.as_str().to_owned(), action.as_str().to_owned());
            push_event(mem, found, entry, Some(e), &event, &text);
            if let Some(slot) = clauses.get_mut(i) {
                slot.text = action;
            }
            return true;
        }
        let opens = has(
            r"^(?:(?:and|hey|hi|please),?\s+)?(?:(?:automatically|immer)\s+)?(?:{if}|on|upon|for (?:each|every|all|any)|each|every|after|bei|nach|jede\w*|für jede\w*|por cada|cada|para cada|pour chaque|à chaque|chaque|anything|{new}|incoming|eingehende\w*|al)\b",
            &text,
        );
        let services = services_in(m, &text);
        let event_noun = has(EVENT_WORDS, &text);
        let arrow_next = clauses.get(i + 1).is_some_and(|n| {
            n.join == Join::Arrow || n.join == Join::Colon && !has_action(&c.text)
        });
        let watches = has(
            r"^(?:watch|watches|monitor|monitors|listen|listens|keep an eye|überwache?|beobachte?|höre?|lausche?|vigila|supervisa|escucha|surveille|observe|écoute\w*)\b",
            clause_lead(&text),
        );
        let opens = opens || watches;
        let triggerable = services
            .iter()
            .find(|e| e.service.is_some_and(|s| !s.triggers.is_empty()))
            .copied()
            .or(services.first().copied());
        let mail = services.is_empty()
            && has(r"\b(?:mail|e-mail|email|correo|courriel)s?\b", &text)
            && (opens && event_noun
                || has(
                    r"\b(?:i get|i receive|arrives?|comes? in|incoming|eingehend)",
                    &text,
                ));
        let somebody = i == 0
            && c.join == Join::Start
            && !has_action(&text)
            && has(
                r"\b(?:customers?|people|users?|clients?|someone|everyone|visitors?|kunden|leute|nutzer|mitarbeiter|clientes|usuarios|personas|utilisateurs|we|i)\b.*\b(?:sends?|writes?|submits?|uploads?|posts?|orders?|books?|gets?|receives?|schick\w*|schreib\w*|senden|env[ií]an|escriben|suben|envoient|écrivent)\b",
                &text,
            )
            && services
                .iter()
                .any(|e| e.service.is_some_and(|s| !s.triggers.is_empty()));
        let queue = i == 0
            && c.join == Join::Start
            && services.iter().any(|e| {
                e.service
                    .is_some_and(|s| s.is("queue") && !s.triggers.is_empty())
            })
            && (arrow_next
                || has(
                    r"^(?:reads?|listens?|consumes?|subscribes?|receives?|takes?|process|lies|höre?|lausche?|horche?|konsumier\w*|abonnier\w*|empfange?|verarbeite|lee|escucha\w*|consume\w*|suscr[ií]b\w*|recibe|procesa|lis|écoute\w*|consomme\w*|abonne\w*|reçois|traite)\b",
                    clause_lead(&text),
                ));
        let somebody = somebody
            || queue
            || i == 0
                && c.join == Join::Start
                && !has_action(&text)
                && clauses.get(1).is_some_and(|n| n.join == Join::Arrow)
                && services
                    .iter()
                    .any(|e| e.service.is_some_and(|s| !s.triggers.is_empty()));
        // "Typeform survey. …", "Calendly booking: …": such a service can do nothing but start.
        let somebody = somebody
            || i == 0
                && c.join == Join::Start
                && !has_action(&text)
                && text.split_whitespace().count() <= 8
                && services.iter().all(|e| {
                    e.service
                        .is_some_and(|s| s.actions.is_empty() && !s.triggers.is_empty())
                })
                && !services.is_empty();
        let by_if = somebody
            || has(r"^(?:(?:and|hey|hi|please),?\s+)?{if}\b", &text)
                && services
                    .iter()
                    .any(|e| e.service.is_some_and(|s| !s.triggers.is_empty()));
        let is_event = (somebody
            || opens && (watches || by_if || event_noun || c.join == Join::Start && arrow_next)
            || c.join == Join::Start && i == 0 && event_noun && (arrow_next || !has_action(&text)))
            && (triggerable.is_some() || mail);
        if is_event {
            let (event_text, rest) = split_event(&text);
            let services = services_in(m, &event_text);
            let chosen = services
                .iter()
                .find(|e| e.service.is_some_and(|s| !s.triggers.is_empty()))
                .copied()
                .or(services.first().copied());
            let entry = chosen
                .and_then(|e| e.service)
                .or_else(|| mail.then(|| lexicon::service("email")).flatten());
            let Some(entry) = entry else { continue };
            push_event(mem, found, entry, chosen, &event_text, &c.text);
            if let Some(slot) = clauses.get_mut(i) {
                slot.text = rest.unwrap_or_default();
                slot.join = Join::Start;
            }
            clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
            return true;
        }
        // "Create a Zendesk ticket for each failed Stripe payment": the event stands behind the action.
        if i == 0
            && let Some(caps) = rx(r"^(.+?§s\d+§.*?|.+?)\s+(?:for|bei|für|para|por|pour|à)\s+(?:{each}|jede\w*)\s+((?:[\w-]+\s+){0,2}?§s\d+§\s+[\w-]+(?:\s+.*)?|(?:[\w-]+\s+){1,3}?(?:in|from|on|aus|von|en|de|dans)\s+(?:the |our |my |unser\w* )?§s\d+§.*)$").captures(&text)
            && let (Some(action), Some(event)) = (caps.get(1), caps.get(2))
            && crate::read::act::verb_in(action.as_str()).is_some_and(|(v, _)| v.role == "action")
            && let Some(e) = services_in(m, event.as_str()).first().copied()
            && let Some(entry) = e.service
            && !entry.triggers.is_empty()
            && !services_in(m, action.as_str()).iter().any(|s| s.service.is_some_and(|s| s.key == entry.key))
        {
            let (event, action) = (event.as_str().to_owned(), action.as_str().to_owned());
            push_event(mem, found, entry, Some(e), &event, &text);
            if let Some(slot) = clauses.get_mut(i) {
                slot.text = action;
            }
            return true;
        }
        // "add every new Mailchimp subscriber to the sheet": the event is the object of the action.
        let inside = rx(
            r"\b(?:{each}\s+)?{new}\s+((?:[\w-]+\s+){0,2}?§s\d+§(?:\s+(?:§q\d+§|[\w-]+))?|(?:[\w-]+\s+){1,3}?(?:in|from|on|of|aus|von|en|de|dans)\s+(?:the |our |my |unser\w* |mein\w* )?(?:\w+ )?§s\d+§(?:\s+§q\d+§)?)|\b(?:{each}|incoming)\s+(§s\d+§\s+[\w-]+)",
        );
        if let Some(caps) = inside.captures(&text)
            && let Some(whole) = caps.get(0)
            && let Some(e) = services_in(m, whole.as_str()).first().copied()
            && let Some(entry) = e.service
            && (!entry.triggers.is_empty() || services.len() > 1)
        {
            let event = whole.as_str().to_owned();
            push_event(mem, found, entry, Some(e), &event, &text);
            let mark = regex_mark(m, e);
            if let Some(slot) = clauses.get_mut(i) {
                slot.text = tidy(&text.replacen(&mark, "", 1));
            }
            return true;
        }
    }
    false
}

pub(super) fn clause_lead(text: &str) -> &str {
    crate::read::clause::strip_lead(text)
}

pub(super) fn has_action(text: &str) -> bool {
    let text = crate::read::clause::strip_lead(text);
    // "push to main", "signup on the site": a noun of an event, no order
    if has(
        r"^(?:push(?:es)?|merge|commit|release|star|fork|comment|payment|order|booking|signup|sign-up|mention|message|release|deploy|build|lead|call|ticket)s?\s+(?:to|in|on|from|by|into|at|of|with|→|§)",
        text,
    ) {
        return false;
    }
    let first_word = text
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_lowercase();
    let second = text
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_lowercase();
    lexicon::verb(&first_word).is_some()
        && (lexicon::noun(&first_word).is_none()
            || has(
                r"^(?:a|an|the|me|us|every|each|all|any|new|my|our|incoming|to|out)$",
                &second,
            ))
}

/// "If I star a mail in Gmail I want a page …", "New tickets should be classified …": event and action in one clause.
pub(super) fn split_event(text: &str) -> (String, Option<String>) {
    for pattern in [
        r"^(.+?)\s+((?:i want|i'd like|i would like|we want|please|then|quiero|je veux|möchte ich|will ich|sollst? du|soll(?:en)?)\s+.+)$",
        r"^(.+?)\s+((?:should|shall|must|need to|needs to|have to|has to|sollen|soll|müssen|deben|debe|doivent|doit|gets? \w+ed|go to|goes to)\s+(?:be\s+)?.+)$",
    ] {
        if let Some(c) = rx(pattern).captures(text)
            && let (Some(a), Some(b)) = (c.get(1), c.get(2))
            && a.as_str().contains('§')
            // "if an issue gets deleted": told of the event
            && !(has(r"^{if}\b", text) && has(r"^gets?\b", b.as_str()))
        {
            return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
        }
    }
    // "Bei jeder neuen Bewerbung in Workable eine Aufgabe in Asana anlegen": a phrase without a verb ends behind its service.
    if let Some(c) = rx(r"^((?:bei|nach|für jede\w*|pour chaque|à chaque|para cada|por cada|con cada|tras cada|al recibir)\b.*?§s\d+§(?:\s*(?:§[qr]\d+§|(?:-?(?:store|shop|repo|repository|board|list|kanal|liste|konto|postfach))\b))*)\s+(.+)$").captures(text)
        && let (Some(a), Some(b)) = (c.get(1), c.get(2))
        && crate::read::act::verb_in(b.as_str()).is_some()
    {
        return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
    }
    // "let Claude review it", "transcribe the audio": work for a model starts here.
    if let Some(c) = rx(r"^(.+?§s\d+§.*?)\s+((?:let|have)\s+(?:§s\d+§|an? |the |ai\b|gpt|chatgpt|claude).+|(?:transcribe|translate|summari[sz]e|classify|extract|analy[sz]e|categori[sz]e)\s+(?:the|it|them|its|each|this|their)\b.+)$").captures(text)
        && let (Some(a), Some(b)) = (c.get(1), c.get(2))
    {
        return (a.as_str().to_owned(), Some(b.as_str().to_owned()));
    }
    // An imperative after the event without a comma: "For each new order in our Shopify store append a row to …".
    if has(r"^(?:wenn|falls|sobald|immer wenn|jedes mal)\b", text) {
        return (text.to_owned(), None);
    }
    let words: Vec<(usize, &str)> = rx(r"\S+")
        .find_iter(text)
        .map(|f| (f.start(), f.as_str()))
        .map(|(s, w)| (s, text.get(s..s + w.len()).unwrap_or_default()))
        .collect();
    let mut seen_service = false;
    for (i, (start, word)) in words.iter().enumerate() {
        seen_service |= word.contains("§s")
            || word.contains("§h")
            || has(r"^(?:web-?hook|form|formular|endpoint)$", word);
        let lower = word
            .trim_matches(|c: char| !c.is_alphanumeric() && c != '-')
            .to_lowercase();
        let prev = i
            .checked_sub(1)
            .and_then(|j| words.get(j))
            .map_or("", |w| w.1);
        let next = words.get(i + 1).map_or("", |w| w.1);
        if i > 2
            && seen_service
            && (lexicon::verb(&lower).is_some_and(|v| v.role != "neutral")
                || lexicon::verb(&lower).is_some()
                    && next.starts_with(|c: char| c.is_ascii_digit()))
            && has(
                r"^(?:\d+|a|an|the|it|them|me|us|§\S*|to|in|eine?\w*|den|die|das|un|una|el|la|le|les|him|her|all|my|our|every|new)$",
                next,
            )
            && !has(
                r"^(?:the|a|an|to|is|are|was|i|we|someone|customer|user|they|of|and|or|who|that|gets|been|new|every|each)$",
                prev,
            )
            && !prev.ends_with(':')
            // "a new Telegram message in chat 7": a noun behind its service
            && !(prev.starts_with('§')
                && lexicon::noun(&lower).is_some()
                && has(r"^(?:in|to|from|on|at|by|en|auf|aus)$", next))
            // "a deal changes to won": told of the event, not asked for.
            && !(lower.ends_with('s') && has(r"^{if}\b", text))
        {
            return (
                text.get(..*start).unwrap_or_default().trim().to_owned(),
                text.get(*start..).map(str::to_owned),
            );
        }
    }
    (text.to_owned(), None)
}

pub(super) fn push_event(
    mem: &mut Memory<'_>,
    found: &mut Found,
    entry: &'static ServiceEntry,
    e: Option<&Entity>,
    event: &str,
    said: &str,
) {
    let m = mem.m;
    mem.trigger = Some(entry);
    mem.topic = object_of(&m.plain(&rx(r"§s\d+§").replace_all(&m.open(event), " ")));
    let words = m.plain(
        &rx(r"^(?:{if}|for (?:each|every|all|any)|on (?:each|every)|bei jede\w*)\s+")
            .replace(event, ""),
    );
    let opened = m.open(event);
    if entry.triggers.is_empty() {
        let step = match e {
            Some(e) => crate::read::act::read_step(mem, event, e),
            None => mem.step(event, Does::Nothing),
        };
        found.triggers.push(Trigger::Poll {
            every: ScheduleRule::Minutes { n: 15 },
            step: Box::new(step),
        });
        let key = mem.step(
            event,
            Does::Dedupe {
                key: field("id"),
                window_seconds: None,
            },
        );
        found.first_steps.push(key);
    } else {
        found.triggers.push(Trigger::Service {
            service: Service {
                said: e.map_or_else(|| entry.label.clone(), |e| e.value.clone()),
                node_types: entry.triggers.clone(),
            },
            event: words,
            object: object_of(&m.plain(&rx(r"§s\d+§").replace_all(&opened, " "))),
            args: filters(m, event, entry),
        });
    }
    if let Some(condition) = host_action(entry, &m.plain(&opened)) {
        let step = mem.step(said, Does::Filter { condition });
        found.first_steps.push(step);
    }
    if let Some(condition) = event_condition(m, &opened, Some(entry)) {
        let step = mem.step(said, Does::Filter { condition });
        found.first_steps.push(step);
    }
}

/// GitHub sends one event for all that happens to a pull request or an issue, and says in it what happened.
fn host_action(entry: &ServiceEntry, event: &str) -> Option<Cond> {
    let about = has(r"\b(?:pull[- ]?requests?|prs?|issues?|tickets?)\b", event)
        && !has(
            r"\b(?:comment\w*|kommentar\w*|comentario\w*|commentaire\w*)\b",
            event,
        );
    if entry.key != "github" || !about {
        return None;
    }
    let equals = |name: &str, value: &str| Cond::Compare {
        left: field(name),
        op: Cmp::Eq,
        right: lit(value),
    };
    let merged = has(r"\b(?:merged|gemergt|fusionn\w*|fusionad\w*)\b", event);
    if merged {
        let merged = Cond::Compare {
            left: field("merged"),
            op: Cmp::IsTrue,
            right: lit(true),
        };
        return Some(Cond::All {
            of: vec![equals("action", "closed"), merged],
        });
    }
    const ACTIONS: [(&str, &str); 5] = [
        (r"\b(?:reopened|reopens|wieder geöffnet)\b", "reopened"),
        (
            r"\b(?:closed|closes|geschlossen|cerrad\w*|fermé\w*)\b",
            "closed",
        ),
        (r"\b(?:labell?ed|gets? (?:a|the) label)\b", "labeled"),
        (
            r"\b(?:assigned|zugewiesen|asignad\w*|assigné\w*)\b",
            "assigned",
        ),
        (
            r"\b(?:opened|opens|open|new|created|creates|filed|neu\w*|geöffnet|erstellt|nuev\w*|abiert\w*|abre|nouv\w*|ouvert\w*)\b",
            "opened",
        ),
    ];
    let said = ACTIONS.iter().find(|(words, _)| has(words, event))?;
    Some(equals("action", said.1))
}

const FIGURED: &str = r"(?:over|above|more than|at least|below|under|less than|greater than|higher than|lower than|exceed\w*|über|mehr als|unter|mindestens|más de|mayor (?:de|que|a)|menos de|superior a|inferior a|plus de|moins de|supérieure? à|inférieure? à|>=?|<=?)";

/// A condition that the event's clause carries with it: "… with a rating below 3", "… and the budget is over 100",
/// "… an order over 100 EUR", "… whose country is Germany", "… with severity critical or high".
pub(super) fn embedded(m: &Masked, event: &str) -> Option<Cond> {
    let figured = rx(&format!(
        r"\b(?:with|having|has|have|and|whose|where|mit|con|avec|und|dont|cuyo|cuya)\s+(?:an?\s+|the\s+|its\s+|their\s+|ein\w*\s+|der\s+|die\s+|das\s+|un\w?\s+|el\s+|la\s+|le\s+)?(?:column\s+|field\s+)?([\p{{L}}][\p{{L}}\d_ -]{{1,28}}?)\s+(?:is\s+|are\s+|of\s+|von\s+|ist\s+|es\s+|est\s+|de\s+)?({FIGURED}\s*[$€£]?\s?\d[\d.,]*)"
    ));
    if let Some(c) = figured.captures(event)
        && let (Some(name), Some(tail)) = (c.get(1), c.get(2))
        && let Some(Cond::Compare { op, right, .. }) = cond::condition(m, tail.as_str())
    {
        return Some(Cond::Compare {
            left: field(name.as_str()),
            op,
            right,
        });
    }
    if let Some(tail) = first(
        &format!(r"({FIGURED}\s+[$€£]?\s?\d[\d.,]*\s?(?:k\b)?)"),
        event,
    ) && let Some(Cond::Compare { op, right, .. }) = cond::condition(m, tail)
        && has(
            &format!(
                r"\b(?:order|payment|invoice|deal|charge|donation|purchase|sale|refund|bestellung|zahlung|rechnung|spende|pedido|pago|factura|commande|paiement|facture|expense|transaction|subscription|opportunity)\w*\s+(?:(?:is|are|of|worth|von|de|ist|es|est|in)\s+)?{FIGURED}"
            ),
            &m.plain(&rx(r"§s\d+§").replace_all(event, "")),
        )
    {
        return Some(Cond::Compare {
            left: field("amount"),
            op,
            right,
        });
    }
    const STATES: &str = "status|state|severity|priority|type|category|country|language|plan|source|label|severität|priorität|land|typ|estado|prioridad|país|tipo|statut|priorité|pays";
    if let Some(c) = rx(&format!(r"\b(?:with|mit|con|avec)\s+(?:an?\s+|the\s+)?({STATES})\s+(?:of\s+)?(§q\d+§|[\w-]+)(?:\s+(?:or|oder|o|ou)\s+(§q\d+§|[\w-]+))?")).captures(event)
        && let (Some(name), Some(one)) = (c.get(1), c.get(2))
        && !has(r"^(?:and|in|is|und)$", one.as_str())
    {
        let value = |w: &str| m.entity(w).map_or_else(|| w.to_owned(), |e| e.value.clone());
        let is = |w: &str| Cond::Compare {
            left: field(name.as_str()),
            op: Cmp::Eq,
            right: lit(value(w)),
        };
        return Some(match c.get(3) {
            Some(two) => Cond::Any {
                of: vec![is(one.as_str()), is(two.as_str())],
            },
            None => is(one.as_str()),
        });
    }
    // "… and the email is empty", "… whose country is Germany"
    let tail = first(
        r"\b(?:whose|where|cuyo|cuya|dont|deren|dessen)\s+((?:the\s+|el\s+|la\s+|le\s+)?.+)$|\band\s+((?:the|its|their)\s+[\w -]{2,30}?\s+(?:is|are|has|contains|equals|starts|ends)\s.+)$|\b((?:(?:the\s+)?(?:subject|title|body|text|name|betreff|asunto|objet)\s+(?:line\s+)?)?(?:contains?|containing|enthält|contiene|contient)\s+§q\d+§)",
        event,
    )?;
    let found = cond::condition(m, tail)?;
    match &found {
        Cond::Compare {
            op: Cmp::IsTrue, ..
        } => None,
        // "whose country is Germany": the word before "is" is the field, whatever it is called.
        Cond::Compare {
            left: crate::plan::Val::Field { name, .. },
            op: op @ (Cmp::Eq | Cmp::Ne),
            right,
        } if name == "status" => {
            let said = first(
                r"^(?:the\s+|its\s+|their\s+)?([\w -]{2,30}?)\s+(?:is|are|equals)\b",
                tail,
            )
            .unwrap_or("status");
            Some(Cond::Compare {
                left: field(said),
                op: *op,
                right: right.clone(),
            })
        }
        _ => Some(found),
    }
}

/// What the event's words ask beyond the event: a branch, a state, a sender, a figure.
pub(super) fn event_condition(
    m: &Masked,
    event: &str,
    entry: Option<&ServiceEntry>,
) -> Option<Cond> {
    let mut all = Vec::new();
    let plain = m.plain(event);
    if let Some(c) = embedded(m, event) {
        return Some(c);
    }
    let cmp = |name: &str, op: Cmp, v: &str| Cond::Compare {
        left: field(name),
        op,
        right: lit(v),
    };
    if has(r"\b(?:push|pushes|commit|commits|merge)\b", &plain)
        && let Some(branch) = first(r"\b(?:to|on|auf|a|sur|into)\s+(?:the\s+|branch\s+)*(main|master|develop|production|staging|release[\w/.-]*)\b", &plain).or(first(r"\bbranch\s+([\w/.-]+)", &plain))
    {
        all.push(Cond::Compare { left: field("ref"), op: Cmp::Eq, right: lit(format!("refs/heads/{branch}")) });
    } else if let Some(state) = first(r"\b(?:switch(?:es|ed)?|chang(?:es|ed)?|moves?|moved|goes|set|turns|wechselt|geändert|pasa|cambia|passe|transitions?)\s+(?:its status\s+|status\s+)?(?:to|into|in|auf|zu|a|à|en)\s+(?:the\s+)?(?:status|stage|state|status|estado)?\s*[\x22'„“]?([\w -]+?)[\x22'”“]?(?:$|,| in | on | \()", &plain)
        .or(first(r"\b(?:gets|has|receives|reaches|bekommt|hat|erreicht|recibe|reçoit)\s+(?:the\s+|den\s+)?(?:status|stage|state|estado|statut)\s+[\x22']?(\w+)", &plain))
        .or(first(r"\b(?:ends up|ended up|ends|ended|finishes|finished)\s+(?:as\s+|with\s+|in\s+|with status\s+)?(\w+)", &plain))
        .or(first(r"\bwith (?:the )?(?:status|state|stage)\s+[\x22']?(\w+)", &plain))
        .or(first(r"\b(?:pipeline|build|job|deployment|deploy|workflow run|payment|charge|run|check)s?\s+(fail(?:s|ed)?|succeed(?:s|ed)?)\b", &plain).map(|w| if has("^fail", w) { "failed" } else { "success" }))
        .or(first(r"\b(failed|successful|cancelled|canceled|urgent|high[- ]priority)\s+(?:\w+\s+)?(?:pipeline|build|job|deployment|ticket|order|run)s?\b", &plain))
        .or(first(r"\b(?:is|are|was|gets|wird|ist|es|est)\s+(?:marked (?:as )?)?(won|lost|approved|rejected|gewonnen|verloren|ganado|perdido)\b", &plain).map(|w| if has("^(?:won|gew|gan)", w) { "won" } else if has("^(?:lost|verl|perd)", w) { "lost" } else { w }))
        .filter(|state| !entry.is_some_and(|e| signal::says_state(e, state.trim())) && !has(r"^(?:created|new|opened|received|submitted|added|placed|deleted|updated)$", state.trim()))
    {
        let name = if has(r"^(?:won|lost)$", state.trim()) { "status" } else if has(r"\bstage\b|\bdeal\b", &plain) { "stage" } else if has(r"urgent|priority", state) { "priority" } else { "status" };
        all.push(cmp(name, Cmp::Eq, rx(r"[- ]priority").replace(state.trim(), "").as_ref()));
    }
    if let Some(tail) = first(
        r"\b((?:over|above|more than|at least|below|under|less than|greater than|exceed\w*|über|mehr als|unter|más de|plus de|mindestens)\s+[$€£]?\s?\d[^,]*)",
        event,
    ) && let Some(c) = cond::condition(m, tail)
    {
        all.push(c);
    }
    if all.is_empty()
        && has(r"\d", &rx(r"§[a-z]\d+§").replace_all(event, ""))
        && has(
            r"\b(?:is|are|es|est|ist|drops?|falls?|goes|exceeds?|below|above|over|under|more than|less than|menor|mayor|más de|menos de|unter|über|at least|more than|occurs?)\b",
            event,
        )
        && let Some(c) = cond::condition(m, event)
        && matches!(
            &c,
            Cond::Compare {
                op: Cmp::Gt | Cmp::Ge | Cmp::Lt | Cmp::Le,
                ..
            } | Cond::All { .. }
        )
    {
        all.push(c);
    }
    if let Some(c) = rx(r"\b(?:with|containing|mit|con|avec)\s+(?:the (?:word|text) |dem wort |la palabra |le mot )?(§q\d+§)\s+(?:in|im|en|dans)\s+(?:the |its |their |der |dem |el |la |su |l'|le |leur )?(subject|title|body|text|name|betreff|titel|asunto|título|cuerpo|objet|titre|corps)\b").captures(event)
        && let (Some(mark), Some(name)) = (c.get(1), c.get(2))
        && let Some(e) = m.entity(mark.as_str())
    {
        let name = match name.as_str().to_lowercase().as_str() {
            "betreff" | "asunto" | "objet" => "subject",
            "titel" | "título" | "titre" => "title",
            "cuerpo" | "corps" => "body",
            _ => name.as_str(),
        };
        all.push(Cond::Compare {
            left: field(name),
            op: Cmp::Contains,
            right: lit(e.value.clone()),
        });
    }
    if let Some(e) = m.after(r"\b(?:from|von|de)\s+(§m\d+§)", event) {
        all.push(Cond::Compare {
            left: field("from"),
            op: Cmp::Contains,
            right: lit(e.value.clone()),
        });
    }
    if let Some(tail) = first(
        r"\b(?:whose|where|if its?|mit|deren|dessen|cuyo)\s+(.+)$",
        event,
    ) && all.is_empty()
        && let Some(c) = cond::condition(m, tail)
    {
        all.push(c);
    }
    if let Some(tail) = first(r"\b((?:the )?(?:subject|title|text|body|message|name|betreff|asunto)\s+(?:contains?|containing|includes?|starts? with|enthält|contiene)\s+.+)$", event)
        .or(first(r"\b(containing\s+§q\d+§)", event))
        && let Some(c) = cond::condition(m, tail)
    {
        all.push(c);
    }
    match all.len() {
        0 => None,
        1 => all.pop(),
        _ => Some(Cond::All { of: all }),
    }
}
