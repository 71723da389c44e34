//! What starts the workflow: a schedule, a webhook, a form, a chat, an event of a service, a hand. Takes the words of the
//! trigger out of the clauses, so that the rest can be read as actions.

use crate::lexicon::{self, ServiceEntry, first, has, rx};
use crate::plan::{
    Arg, Cmp, Cond, Does, FormField, Role, ScheduleRule, Service, Step, Trigger, WebhookAuth,
};
use crate::read::act::{Memory, services_in};
use crate::read::clause::{Clause, Join};
use crate::read::cond;
use crate::read::signal;
use crate::read::text::{Entity, Masked};
use crate::read::value::{arg, field, fields_in, lit};
use crate::read::when;

mod dated;
mod entry;
mod event;
mod mention;
mod several;

pub use entry::auth_of;
use entry::*;
use event::*;

/// The trigger and what its own words already demand (only pushes to main, only failed pipelines).
#[derive(Debug, Default)]
pub struct Found {
    pub triggers: Vec<Trigger>,
    pub first_steps: Vec<Step>,
    /// No words of the request said when to start.
    pub guessed: bool,
}

pub fn find(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>) -> Found {
    let whole: Vec<String> = clauses
        .iter()
        .take(2)
        .map(|c| mem.m.open(&c.text))
        .collect();
    let mut found = match several::find(mem, clauses) {
        Some(found) => found,
        None => match dated::find(mem, clauses) {
            Some(found) => found,
            None => find_one(mem, clauses),
        },
    };
    several::rhythm(&whole.join(" "), &mut found);
    if matches!(
        found.triggers.as_slice(),
        [Trigger::Webhook { .. } | Trigger::Form { .. } | Trigger::Service { .. }]
    ) {
        let plain = mem.m.plain(&whole.join(" "));
        mem.incoming_file = first(
            r"\b(csv|xlsx|xls|excel|json|xml|pdf|ics|ods)[\s-]*(?:files?|datei(?:en)?|attachments?|anh[aä]ng\w*|uploads?|export|documents?|dokument\w*)\b|\b(?:archivos?|fichiers?|adjuntos?)\s+(csv|xlsx|excel|json|xml|pdf)\b|\*?\.(csv|xlsx|xml|pdf)\b",
            &plain,
        )
        .or_else(|| {
            first(r"\b(?:receives?|accepts?|takes?|gets?|empfängt|recibe|reçoit)\s+(?:an?|ein\w*|un\w?)\s+(pdf|csv|xlsx|xml)\b", &plain)
        })
        .map(str::to_lowercase)
        .map(|f| if matches!(f.as_str(), "excel" | "xls") { "xlsx".to_owned() } else { f });
        if mem.incoming_file.as_deref().is_some_and(|f| f != "json")
            && let [Trigger::Webhook { file, .. }] = found.triggers.as_mut_slice()
        {
            *file = true;
        }
    }
    found
}

fn find_one(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>) -> Found {
    let m = mem.m;
    let mut found = Found::default();
    take_schedules(m, clauses, &mut found);
    let whole = m.open(
        &clauses
            .iter()
            .map(|c| c.text.as_str())
            .collect::<Vec<_>>()
            .join(" . "),
    );
    if has(r"\bmcp[- ]server\b", &whole) && !super::agent::mcp_client(&whole) {
        found.triggers.push(Trigger::McpServer {
            tools: Vec::new(),
            auth: auth_of(&whole),
            path: None,
        });
        return found;
    }
    if !found.triggers.is_empty() {
        polled(mem, clauses, &whole, &mut found);
        return found;
    }
    if signal::early(mem, clauses, &mut found) {
        return found;
    }
    if has(
        r"\b(?:any|another|a|the|this|my|our|other|some|one of (?:my|our)) (?:n8n )?workflows? (?:fails?|errors?|crash\w*|breaks?)\b|\bworkflow (?:error|failure)s?\b|\bwenn (?:ein(?:er)?|irgendein) (?:\w+ ){0,2}workflows? (?:fehlschlägt|scheitert|abstürzt|abbricht|crasht)|\b(?:un|otro|alguno|uno|algún|cualquier) (?:de (?:mis|nuestros|los) )?(?:workflows?|flujos?) (?:fall|falle)\w*|\b(?:un|l'un) (?:de (?:mes|nos) |des )?workflows? (?:échoue|plante)|\b(?:un|otro) (?:workflow|flujo) fall\w+|\bun workflow échoue",
        &whole,
    ) {
        found.triggers.push(Trigger::Error);
        drop_clause(clauses, r"\bworkflow");
        return found;
    }
    let manual = has(r"\b{manual}\b", &whole);
    let called = has(
        r"\b(?:another|other|any|a parent|the parent|a main|the main) workflows? calls?\b|\b(?:called|triggered|invoked|started|run|usable|reusable) (?:by|from|as a?) ?(?:another|other|a different|any|sub-?)\s*-?(?:n8n )?workflows?\b|\bas a sub-?workflow\b|\bvon einem anderen workflow\b|\bdesde otro (?:workflow|flujo)\b",
        &whole,
    );
    if manual || called {
        if manual {
            found.triggers.push(Trigger::Manual);
        }
        if called {
            let inputs = first(r"\bwith (?:the )?(?:inputs?|parameters?)\s+([^.]+)|\bcalls? (?:it|this) with\s+([^.,]+)", &whole)
                .map(crate::read::value::list)
                .unwrap_or_default();
            let inputs = inputs.iter().map(|i| m.plain(i)).collect();
            found.triggers.push(Trigger::SubWorkflow { inputs });
        }
        for c in clauses.iter_mut() {
            let t = rx(r"^(?:[\w -]{0,30},\s*)?(?:it(?:'s| is)?\s+)?(?:{manual})(?:\s+(?:or|oder|o|ou)\s+called (?:by|from) another workflow)?\s*[:,]?\s*").replace(&c.text, "").into_owned();
            c.text = t;
        }
        clauses.retain(|c| {
            c.text.chars().any(char::is_alphanumeric)
                && !has(r"^(?:{if}\s+(?:it(?:'s| is)?\s+|this (?:is\s+)?)?)?(?:called|triggered|invoked|started) (?:by|from)|^{if} (?:another|other|any|a parent|the parent|a main|the main) workflows? calls?\b", &c.text)
        });
        return found;
    }
    if has(WEBHOOK, &whole)
        && !has(
            r"\b(?:call|hit|send (?:it )?to|notify|ping) (?:a|the|our|this) webhook\b",
            &whole,
        )
    {
        webhook(mem, clauses, &whole, &mut found);
        return found;
    }
    if let Some(done) = form(mem, clauses, &whole, &mut found.first_steps) {
        found.triggers.push(done);
        return found;
    }
    if chat(mem, clauses, &whole, &mut found) {
        return found;
    }
    if service_event(mem, clauses, &mut found) {
        return found;
    }
    if standing_order(mem, clauses, &mut found) {
        return found;
    }
    found.guessed = true;
    found.triggers.push(Trigger::Manual);
    found
}

/// "Save Gmail attachments to Drive", "forward my Outlook mails to …": meant for every mail that comes.
fn standing_order(mem: &mut Memory<'_>, clauses: &mut [Clause], found: &mut Found) -> bool {
    let m = mem.m;
    let Some(text) = clauses.first().map(|c| c.text.clone()) else {
        return false;
    };
    let order = rx(
        r"^(?:automatically\s+|automatisch\s+)?(?:save|store|upload|forward|archive|back ?up|copy|speicher\w*|guarda|enregistre|sauvegarde)\s+((?:all\s+|my\s+|the\s+|our\s+|incoming\s+)*(?:(§s\d+§)\s+)?(?:e?-?mail\s+)?(?:attachments?|mails?|e-?mails|messages|anhänge|adjuntos|pièces jointes)(?:\s+(?:from|in|of|aus|de)\s+(?:my\s+|our\s+)?(§s\d+§))?)",
    );
    let Some(caps) = order.captures(clause_lead(&text)) else {
        return false;
    };
    let (Some(event), Some(mark)) = (caps.get(1), caps.get(2).or(caps.get(3))) else {
        return false;
    };
    let Some(e) = m.entity(mark.as_str()) else {
        return false;
    };
    let Some(entry) = e.service.filter(|s| s.is("mail") && !s.triggers.is_empty()) else {
        return false;
    };
    push_event(mem, found, entry, Some(e), event.as_str(), &text);
    if let Some(c) = clauses.first_mut() {
        c.text = tidy(&text.replacen(mark.as_str(), "", 1));
    }
    true
}

/// "Poll the mailbox every 5 minutes for new mails": the service's own trigger polls, no schedule is needed.
fn polled(mem: &mut Memory<'_>, clauses: &mut Vec<Clause>, whole: &str, found: &mut Found) {
    let minutes = match found.triggers.as_slice() {
        [Trigger::Schedule { rules }] => match rules.as_slice() {
            [ScheduleRule::Minutes { n }] => *n,
            [ScheduleRule::Hours { n, minute: 0 }] => n * 60,
            _ => return,
        },
        _ => return,
    };
    let looks = several::looks_for_news(mem.m, clauses);
    if !has(r"\b(?:poll(?:s|ing|ed)?|polle)\b", whole) && !looks {
        return;
    }
    let mut trial = clauses.clone();
    for c in &mut trial {
        if looks {
            c.text = rx(r"^(?:check|look|scan|prüfe?|kontrolliere?|schau\w*|sieh|revisa|comprueba|mira|vérifie|regarde)\b").replace(clause_lead(&c.text), "watch").into_owned();
        }
        c.text = tidy(&rx(r"\(?\b(?:by )?poll(?:s|ing|ed)?\b\)?").replace(&c.text, "watch"));
    }
    let mut event = Found::default();
    if !service_event(mem, &mut trial, &mut event) {
        return;
    }
    if let [Trigger::Service { args, .. }] = event.triggers.as_mut_slice() {
        args.push(arg(Role::Field("poll minutes".into()), lit(minutes)));
        trial.retain(|c| !has(r"^(?:watch|it)$", c.text.trim()));
        *clauses = trial;
        *found = event;
    }
}

fn drop_clause(clauses: &mut Vec<Clause>, pattern: &str) {
    if let Some(i) = clauses.iter().position(|c| has(pattern, &c.text)) {
        clauses.remove(i);
    }
}

/// Takes every schedule phrase out of the clauses.
fn take_schedules(m: &Masked, clauses: &mut Vec<Clause>, found: &mut Found) {
    let mut rules: Vec<ScheduleRule> = Vec::new();
    let mut loose: Vec<ScheduleRule> = Vec::new();
    for c in clauses.iter_mut() {
        if has(
            r"\b(?:at most|no more than|max(?:imum)?|per second|rate limit)\b",
            &c.text,
        ) {
            continue;
        }
        // "cron `20 3 * * 6`": as it is.
        if let Some(caps) =
            rx(r"(?:\bcron(?:[- ]?(?:job|expression|schedule))?\b:?\s*)?(§[kq](\d+)§)")
                .captures(&c.text)
            && let (Some(whole), Some(mark)) = (caps.get(0), caps.get(1))
            && let Some(e) = m
                .entity(mark.as_str())
                .filter(|e| has(r"^\s*(?:[\d*/,-]+\s+){4,5}[\w*/,#-]+\s*$", &e.value))
        {
            rules.push(ScheduleRule::Cron {
                expression: e.value.trim().to_owned(),
            });
            let mut text = c.text.clone();
            text.replace_range(whole.start()..whole.end(), " ");
            c.text = tidy(&text);
            continue;
        }
        let times = when::schedules(&c.text);
        for t in times.iter().rev() {
            // "the weekly report" says how often only if nothing else does.
            let word = c.text.get(t.span.clone()).unwrap_or_default();
            let adjective = !t.exact && has(r"^(?:daily|weekly|monthly|hourly|quarterly|yearly|annually|nightly)$", word.trim())
                && c.text.get(t.span.end..).is_some_and(|s| has(r"^\s+[a-z]", s) && !has(r"^\s+(?:and|at|on|get|fetch|check|send|run|post|pull|read|take|export|sync)\b", s));
            if adjective {
                loose.extend(t.rules.clone());
                continue;
            }
            rules.splice(0..0, t.rules.iter().cloned());
            let mut text = c.text.clone();
            text.replace_range(t.span.clone(), " ");
            c.text = tidy(&text);
        }
    }
    if rules.is_empty() {
        rules = loose;
    }
    clauses.retain(|c| c.text.chars().any(char::is_alphanumeric));
    if !rules.is_empty() {
        let mut unique: Vec<ScheduleRule> = Vec::new();
        for r in rules {
            if !unique.contains(&r) {
                unique.push(r);
            }
        }
        found.triggers.push(Trigger::Schedule { rules: unique });
    }
}

/// Spaces and punctuation left behind by a cut.
pub fn tidy(text: &str) -> String {
    let t = rx(r"\s+").replace_all(text, " ").into_owned();
    let t = rx(r"\s+([,.:;])").replace_all(&t, "$1").into_owned();
    t.trim_matches([' ', ',', ':', '-', '–', '.']).to_owned()
}
