//! Two things that start the same flow ("every night or when POST /sync is called", "a new row in Airtable, or a Typeform
//! response"): each half is read as a trigger of its own. Also the rhythm in which a service's own trigger polls.

use super::event::EVENT_WORDS;
use super::*;

const OR: &str =
    r"(?:or else|or|oder|o bien|o|ou bien|ou|as well as|sowie|and also|and additionally|plus)";
/// How a second trigger begins behind an "or".
const OPENS: &str = r"(?:{if}|every|each|on (?:each|every|a|an|new)|upon|by hand|by (?:a|an|another)|manually|on demand|called|triggered|via|through|from (?:a|an|another)|POST|GET|an? (?:new )?|{new}|jede\w*|alle|täglich|stündlich|von hand|manuell|bei|cada|a mano|manualmente|chaque|tous|toutes|à la main|manuellement|(?:in|on|bei|en|dans)\s+(?:the |our |my )?§s\d+§\s+(?:an?|the|ein\w*|der|die|das|un|una|une|el|la|le))\b";

/// Says by itself when to start.
fn starts(m: &Masked, text: &str) -> bool {
    let open = m.open(text);
    let service = services_in(m, &open)
        .iter()
        .any(|e| e.service.is_some_and(|s| !s.triggers.is_empty()));
    !when::schedules(&open).is_empty()
        || has(WEBHOOK, &open)
        || has(r"\b{manual}\b", &open)
        || has(
            r"\bby hand\b|\bcalled (?:by|from) (?:an)?other\b|\bvon hand\b",
            &open,
        )
        || service && (has(EVENT_WORDS, &open) || has(r"^{if}\b", &open))
        || has(
            r"\b{form}\b.{0,30}\b(?:submitted|filled|sent|abgeschickt|ausgefüllt|enviado|rempli)",
            &open,
        )
}

/// Where the second trigger begins: the clause, and the place in it.
fn second(m: &Masked, clauses: &[Clause]) -> Option<(usize, usize)> {
    let within = rx(&format!(r",?\s+{OR}\s+(?:also\s+|else\s+)?({OPENS})"));
    let leads = rx(&format!(r"^{OR}\s+(?:also\s+)?"));
    for (i, c) in clauses.iter().enumerate().take(3) {
        if i > 0
            && let Some(f) = leads.find(&c.text)
            && starts(m, c.text.get(f.end()..).unwrap_or_default())
        {
            return Some((i, 0));
        }
        for caps in within.captures_iter(&c.text) {
            let (Some(whole), Some(opener)) = (caps.get(0), caps.get(1)) else {
                continue;
            };
            let head = c.text.get(..whole.start()).unwrap_or_default();
            let tail = c.text.get(opener.start()..).unwrap_or_default();
            let (event, _) = event::split_event(tail);
            let here = starts(m, head) || clauses.iter().take(i).any(|b| starts(m, &b.text));
            if here && starts(m, &event) {
                return Some((i, whole.start()));
            }
        }
    }
    None
}

/// "a contact is created in HubSpot or in Pipedrive": the same event of two services.
fn same_event(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>) -> Option<Found> {
    let m = mem.m;
    let text = clauses.first()?.text.clone();
    let caps = rx(&format!(
        r"(§s\d+§)\s+{OR}\s+(?:(?:in|from|on|bei|aus|von|en|de|dans|sur)\s+)?(?:our |my |the )?(§s\d+§)"
    ))
    .captures(&text)?;
    let (whole, one, two) = (
        caps.get(0)?.range(),
        caps.get(1)?.as_str(),
        caps.get(2)?.as_str(),
    );
    let both = [one, two].iter().all(|mark| {
        m.entity(mark)
            .and_then(|e| e.service)
            .is_some_and(|s| !s.triggers.is_empty())
    });
    if !both
        || !has(r"^(?:{if}|{new}|on|upon|for|bei|each|every|an?)\b", &text)
        || !when::schedules(&m.open(&text)).is_empty()
    {
        return None;
    }
    let with = |mark: &str| {
        let mut said = text.clone();
        said.replace_range(whole.clone(), mark);
        said
    };
    let mut trial = clauses.clone();
    if let Some(c) = trial.first_mut() {
        c.text = with(one);
    }
    let mut first = super::find_one(mem, &mut trial);
    let mut other = vec![Clause {
        text: event::split_event(&with(two)).0,
        join: Join::Start,
        sentence: 0,
    }];
    let mut second = super::find_one(mem, &mut other);
    if first.guessed || second.guessed {
        return None;
    }
    first.triggers.append(&mut second.triggers);
    *clauses = trial;
    Some(first)
}

/// Two triggers, and the clauses that are left; nothing when the request has one.
pub(super) fn find(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>) -> Option<Found> {
    if let Some(found) = same_event(mem, clauses) {
        return Some(found);
    }
    let m = mem.m;
    let (at, place) = second(m, clauses)?;
    let mut tail = clauses.clone();
    let mut head = tail.clone();
    head.truncate(at + 1);
    tail.drain(..at);
    if let Some(c) = head.last_mut() {
        c.text = tidy(c.text.get(..place).unwrap_or_default());
    }
    if let Some(c) = tail.first_mut() {
        let rest = rx(&format!(r"^\s*,?\s*{OR}\s+(?:also\s+|else\s+)?"))
            .replace(c.text.get(place..).unwrap_or_default(), "")
            .into_owned();
        let opened = has(&format!(r"^{OPENS}"), &rest) && !has(r"^an?\b|^{new}\b", &rest);
        c.text = if opened || has(r"^(?-i:POST|GET)\b", &rest) {
            rest
        } else {
            format!("when {rest}")
        };
        c.join = Join::Start;
    }
    head.retain(|c| c.text.chars().any(char::is_alphanumeric));
    for c in &mut head {
        c.text = rx(r"\b(?:either|entweder|soit)\b\s*")
            .replace(&c.text, "")
            .into_owned();
    }
    let mut one = super::find_one(mem, &mut head);
    let topic = mem.topic.take();
    let mut two = super::find_one(mem, &mut tail);
    if one.guessed || two.guessed {
        return None;
    }
    mem.topic = topic.or(mem.topic.take());
    // "Start this": what is left of the words about starting.
    head.retain(|c| {
        !has(
            r"^(?:(?:please\s+)?(?:start|run|trigger|execute|launch|begin|starte\w*|führe|lanza|ejecuta|inicia|lance|exécute|démarre)\b.{0,30}|it|this|the workflow|that|should|soll\w*|der workflow|el flujo|le workflow)$",
            c.text.trim(),
        )
    });
    head.append(&mut tail);
    *clauses = head;
    for t in two.triggers.drain(..) {
        if !one.triggers.contains(&t) {
            one.triggers.push(t);
        }
    }
    one.first_steps.append(&mut two.first_steps);
    Some(one)
}

/// "New mails in Outlook (poll every 5 minutes)": the trigger's own rhythm.
pub(super) fn rhythm(whole: &str, found: &mut Found) {
    let [Trigger::Service { args, .. }] = found.triggers.as_mut_slice() else {
        return;
    };
    if args
        .iter()
        .any(|a| matches!(&a.role, Role::Field(f) if f == "poll minutes"))
    {
        return;
    }
    let Some(near) = first(
        r"\b(?:poll\w*|check\w*|abfrag\w*|prüf\w*|abruf\w*|revis\w*|consult\w*|vérifi\w*|interrog\w*)\b([^.]{0,40})",
        whole,
    ) else {
        return;
    };
    let minutes = match when::schedules(near)
        .first()
        .map(|s| s.rules.clone())
        .as_deref()
    {
        Some([ScheduleRule::Minutes { n }]) => *n,
        Some([ScheduleRule::Hours { n, minute: 0 }]) => n * 60,
        _ => return,
    };
    args.push(arg(Role::Field("poll minutes".into()), lit(minutes)));
}

/// Words of a clause that looks into a place for what is new: such a place is watched.
pub(super) fn looks_for_news(m: &Masked, clauses: &[Clause]) -> bool {
    clauses.iter().take(2).any(|c| {
        let text = clause_lead(&c.text);
        let watches = has(
            r"^(?:watch|monitor|überwache?|beobachte?|vigila|surveille|observe)\b",
            text,
        );
        has(
            r"^(?:check|watch|monitor|look|scan|prüfe?|überwache?|kontrolliere?|schau\w*|sieh|revisa|comprueba|vigila|mira|vérifie|surveille|regarde)\b",
            text,
        ) && (watches || has(
            r"\b(?:for|auf|nach|por|si|ob|if|pour|de)\s+(?:(?:there (?:are|is)|hay|any|some|es|a)\s+)*(?:{new}|incoming|unread|neue\w*|eingehende\w*|nuev\w+|nouve\w+)\b",
            text,
        )) && services_in(m, text).iter().any(|e| {
            e.service.is_some_and(|s| s.is("mail") && (polls(s) || s.actions.is_empty()))
        })
    })
}

fn polls(entry: &ServiceEntry) -> bool {
    use agentctl_n8n::catalog::{Catalog, NodeKind, TriggerKind};
    entry.triggers.iter().any(|t| {
        Catalog::embedded()
            .lookup(t, None)
            .known()
            .is_some_and(|d| d.kind == NodeKind::Trigger(TriggerKind::Poll))
    })
}
