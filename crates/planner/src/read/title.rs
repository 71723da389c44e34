//! A short name for the workflow: what it is about and where it goes ("Orders over 100 EUR to Slack and Google Sheets").
//! Reads the plan and the request's own nouns; falls back to nothing when the plan says too little.

use crate::lexicon::{self, capital, first, has, rx};
use crate::plan::{Does, Plan, Service, Step, Trigger, Verb};
use crate::read::act::verb_in;
use crate::read::clause::strip_lead;

/// The name, if the plan has something to be named after and somewhere to go.
pub fn title(plan: &Plan, request: &str) -> Option<String> {
    let mut targets = Vec::new();
    collect(&plan.steps, &mut targets);
    targets.truncate(3);
    let what = subject(plan, request)?;
    if targets.is_empty() {
        return None;
    }
    let (to, and) = match plan.language.as_str() {
        "de" => ("an", "und"),
        "es" => ("a", "y"),
        "fr" => ("vers", "et"),
        _ => ("to", "and"),
    };
    let list = match targets.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} {and} {last}", rest.join(", ")),
        [only] => only.clone(),
        _ => return None,
    };
    Some(capital(&format!("{what} {to} {list}")))
}

fn label(service: &Service) -> String {
    let entry = lexicon::services().iter().find(|e| {
        !service.node_types.is_empty()
            && (e.actions == service.node_types || e.triggers == service.node_types)
    });
    let said = service.said.trim();
    let named = said.chars().next().is_some_and(char::is_uppercase);
    match entry {
        Some(e) if e.is("mail") && e.key == "email" => "e-mail".to_owned(),
        // "Jira" says as much as "Jira Software".
        Some(e) if e.label == format!("{said}s") => e.label.clone(),
        Some(e)
            if !(named && e.label.len() > said.len() && e.label.starts_with(said))
                || said.is_empty() =>
        {
            e.label.clone()
        }
        _ => said.to_owned(),
    }
}

/// Where data goes: services that are written to or talk, each once.
fn collect(steps: &[Step], out: &mut Vec<String>) {
    for s in steps {
        match &s.does {
            Does::Service { service, verb, .. }
                if !matches!(
                    verb,
                    Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download
                ) =>
            {
                let name = label(service);
                if !name.is_empty() && !out.contains(&name) {
                    out.push(name);
                }
            }
            Does::If {
                then, otherwise, ..
            } => {
                collect(then, out);
                collect(otherwise, out);
            }
            Does::Loop { body, after, .. } => {
                collect(body, out);
                collect(after, out);
            }
            Does::Switch { cases, .. } => cases.iter().for_each(|c| collect(&c.steps, out)),
            Does::Approval {
                approved, rejected, ..
            } => {
                collect(approved, out);
                collect(rejected, out);
            }
            _ => {}
        }
    }
}

/// What it is about.
fn subject(plan: &Plan, request: &str) -> Option<String> {
    match plan.triggers.first()? {
        Trigger::Service {
            service,
            object,
            event,
            ..
        } => {
            let noun = said_noun(event, object.as_deref()?, &plan.language)?;
            Some(format!("{} {noun}", label(service)))
        }
        Trigger::Webhook { .. } => {
            let head = request.split([',', '.', '\n']).next().unwrap_or_default();
            let limit = r"(?:\s+(?:over|above|below|under|more than|less than|at least|über|unter|ab|de más de|de menos de|de plus de|de moins de)\s+[$€£]?\d[\d.,]*(?:\s?(?:eur|euros?|usd|dollars?|gbp|chf|€|\$))?)?";
            let found = first(
                &format!(
                    r"\b(?:receives?|gets?|empfängt|erhält|bekommt|reciba|recibe|reçoit|with|of|for)\s+(?:an?\s+|the\s+|new\s+|eine?\w*\s+|una?\s+|une?\s+)*([\p{{L}}-]+{limit})(?:$|\s)"
                ),
                head,
            )?;
            let word = found
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_lowercase();
            lexicon::noun(&word)?;
            let rest = found.get(word.len()..).unwrap_or_default();
            let rest = first(&format!(r"^({limit})"), rest).unwrap_or_default();
            Some(format!("{}{rest}", plural(&word, &plan.language)))
        }
        Trigger::Form { title, .. } => Some(title.clone()),
        Trigger::Poll { step, .. } => of_read(step, plan),
        Trigger::Schedule { .. } | Trigger::Manual | Trigger::SubWorkflow { .. } => {
            plan.steps.iter().find_map(|s| of_read(s, plan))
        }
        Trigger::Error => Some(match plan.language.as_str() {
            "de" => "Fehler".to_owned(),
            "es" => "Errores".to_owned(),
            "fr" => "Erreurs".to_owned(),
            _ => "Workflow errors".to_owned(),
        }),
        _ => None,
    }
}

/// "Open Jira bugs", "HubSpot contacts": the words of the step that reads.
fn of_read(step: &Step, plan: &Plan) -> Option<String> {
    match &step.does {
        Does::Service {
            service,
            verb: Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download,
            object,
            ..
        } => {
            let noun = object
                .as_deref()
                .and_then(|o| said_noun(&step.said, o, &plan.language));
            let state = first(
                r"\b(open|unread|overdue|unpaid|failed|new|yesterday's|today's|offene\w*|ungelesene\w*|neue\w*|überfällige\w*|abiert\w+|nuev[oa]s|ouvert\w*|nouve\w+)\b",
                &step.said,
            )
            .filter(|_| matches!(plan.language.as_str(), "en" | "de"))
            .map(|s| format!("{} ", s.to_lowercase()))
            .unwrap_or_default();
            Some(match noun {
                Some(noun) => format!("{state}{} {noun}", label(service)),
                None => label(service),
            })
        }
        Does::Http { url, .. } => first(r"^https?://(?:www\.)?([^/?#:]+)", url).map(str::to_owned),
        _ => None,
    }
}

/// The noun as the request has it.
fn said_noun(text: &str, object: &str, language: &str) -> Option<String> {
    let said = strip_lead(text);
    let skip = verb_in(said).filter(|(_, i)| *i == 0).map_or(0, |_| 1);
    let word = said
        .split_whitespace()
        .skip(skip)
        .map(|w| w.trim_matches(|c: char| !c.is_alphanumeric() && c != '-'))
        .find(|w| lexicon::noun(&w.to_lowercase()).is_some_and(|n| n.canonical == object));
    let word = word.map_or_else(
        || {
            if language == "en" {
                object.to_owned()
            } else {
                String::new()
            }
        },
        |w| {
            if language == "de" {
                w.to_owned()
            } else {
                w.to_lowercase()
            }
        },
    );
    (!word.is_empty()).then(|| plural(&word, language))
}

/// English nouns of a name stand in the plural.
fn plural(word: &str, language: &str) -> String {
    if language != "en" {
        return capital_if_german(word, language);
    }
    if has(r"s$", word) {
        word.to_owned()
    } else if has(r"[^aeiou]y$", word) {
        rx(r"y$").replace(word, "ies").into_owned()
    } else if has(r"(?:x|ch|sh)$", word) {
        format!("{word}es")
    } else {
        format!("{word}s")
    }
}

fn capital_if_german(word: &str, language: &str) -> String {
    if language == "de" {
        capital(word)
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod title_tests;
