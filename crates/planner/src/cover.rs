//! The coverage guard: every concrete thing that the request names (quoted texts, channels, people, addresses, ids, paths,
//! amounts, services) must stand somewhere in the workflow that was built. It reads both and changes neither; a thing that
//! was used in another form (a time as cron, an amount as a number, `Done` as an id of its column) counts as used.

mod figures;
mod traces;

#[cfg(test)]
#[path = "cover_tests.rs"]
mod cover_tests;

use super::lexicon::{has, rx};
use super::read::text::{Entity, Kind, Masked};
use super::read::times;
use agentctl_base::question::Question;
use agentctl_n8n::Workflow;
use traces::Traces;

/// How much is lost with a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// A service or a destination: a whole part of the request.
    Part,
    /// A name, an id, a figure.
    Value,
}

/// A thing the request names that the workflow does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    pub said: String,
    pub weight: Weight,
}

/// What the request names and none of these workflows (the built one, for a change the one before too) holds.
pub fn unused(request: &str, workflows: &[&Workflow]) -> Vec<Unused> {
    let m = Masked::of(request);
    let traces = Traces::of(workflows);
    let mut found: Vec<Unused> = Vec::new();
    for (mark, entity) in marks(&m) {
        if passing(&m, &mark) || traces.holds(entity) {
            continue;
        }
        let weight = match entity.kind {
            Kind::Service | Kind::Channel | Kind::Person | Kind::Mail | Kind::Phone => Weight::Part,
            _ => Weight::Value,
        };
        push(&mut found, entity.full.trim(), weight);
    }
    for figure in figures::figures(&m) {
        if !traces.counts(&figure) {
            push(&mut found, &figure.said, Weight::Value);
        }
    }
    found.sort_by_key(|u| u.weight);
    found
}

/// What one clause of a change request names and the change left out: a thing that stands in neither workflow, a figure that
/// stands in no node that the change touched.
pub fn lost(clause: &str, before: &Workflow, after: &Workflow) -> Vec<Unused> {
    let m = Masked::of(clause);
    let whole = Traces::of(&[before, after]);
    let touched = [only_changed(before, after), only_changed(after, before)];
    let changed = Traces::of(&touched.each_ref());
    let mut found = Vec::new();
    for (mark, entity) in marks(&m) {
        if !passing(&m, &mark) && !whole.holds(entity) {
            push(&mut found, entity.full.trim(), Weight::Part);
        }
    }
    for figure in figures::figures(&m) {
        if !changed.counts(&figure) {
            push(&mut found, &figure.said, Weight::Value);
        }
    }
    for (before, parts) in figures::clocks(&m) {
        let lost = parts.iter().find(|part| !changed.counts(part));
        if let Some(lost) = lost.filter(|_| !not_meant(&before)) {
            push(&mut found, &lost.said, Weight::Value);
        }
    }
    found
}

/// The nodes of a workflow that the other one does not hold as they are.
fn only_changed(workflow: &Workflow, other: &Workflow) -> Workflow {
    let mut changed = workflow.clone();
    changed
        .nodes
        .retain(|node| other.node_by_name(node.name()) != Some(node));
    changed
}

fn push(found: &mut Vec<Unused>, said: &str, weight: Weight) {
    let known = found.iter().any(|u| u.said.eq_ignore_ascii_case(said));
    if !known && !said.is_empty() {
        found.push(Unused {
            said: said.to_owned(),
            weight,
        });
    }
}

/// The marks of the text in order, those inside parentheses too.
fn marks(m: &Masked) -> Vec<(String, &Entity)> {
    let open = m.open(&m.open(&m.text));
    rx(r"§[a-z]\d+§")
        .find_iter(&open)
        .filter_map(|f| Some((f.as_str().to_owned(), m.entity(f.as_str())?)))
        .filter(|(_, e)| concrete(e))
        .collect()
}

/// Holes and lists of fields describe data; a cron expression becomes a trigger.
fn concrete(e: &Entity) -> bool {
    !matches!(e.kind, Kind::Hole | Kind::Braces | Kind::Parens)
        && !times::is_cron(&e.value)
        && e.value.chars().any(char::is_alphanumeric)
}

/// Named only to say that it is not meant, where something comes from, or what the workflow is called.
fn passing(m: &Masked, mark: &str) -> bool {
    let open = m.open(&m.open(&m.text));
    let Some((before, after)) = open.split_once(mark) else {
        return false;
    };
    let before = before
        .rsplit(['.', ';', '\n', '!', '?'])
        .next()
        .unwrap_or(before);
    let before = rx(r"§[a-z]\d+§").replace_all(before, "x").into_owned();
    not_meant(&before)
        || has(
            r"\b(?:call(?:ed)? (?:it|the workflow)|name (?:it|the workflow)|workflow (?:called|named|name)|title[d]? (?:it|the workflow)|nenn\w* (?:ihn|es|den workflow)|llám\w+|nomme\w*(?:-le)?)\s*:?\s*$",
            &before,
        )
        || after.starts_with("'s API") && has(r"\b(?:like|such as|wie|como|comme)\s*$", &before)
        || has(
            r"\b(?:like|similar to|such as|instead of|wie|ähnlich wie|como|comme)\s+$",
            &before,
        )
}

/// Whether what stands before a thing says that it is not meant.
fn not_meant(before: &str) -> bool {
    has(
        r"(?:\b(?:not|never|no|don't|without|instead of|rather than|except|unlike|nicht|kein\w*|nie|ohne|statt|anstatt|außer|sin|en vez de|en lugar de|salvo|sans|au lieu de|pas(?: de)?|sauf)\s+(?:(?:use|using|to|in|on|at|via|with|from|the|a|an|our|my|über|mit|in|um|der|die|das|den|un|una|el|la|las|à|le|les)\s+){0,3})$",
        before,
    )
}

/// The note at the end of a run; none when all was used.
pub fn note(unused: &[Unused], language: &str) -> Option<String> {
    if unused.is_empty() {
        return None;
    }
    let what = said(unused);
    Some(match language {
        "de" => format!(
            "nicht verwendet: {what} – bitte prüfen und in den passenden Schritt eintragen, oder mit `build --workflow` sagen, wohin es gehört"
        ),
        "es" => format!(
            "sin usar: {what}; compruébalo y ponlo en el paso que toca, o di con `build --workflow` dónde va"
        ),
        "fr" => format!(
            "non utilisé : {what} ; vérifiez et inscrivez-le dans l'étape voulue, ou dites avec `build --workflow` où il va"
        ),
        _ => format!(
            "not used: {what}; check it and set it in the step it belongs to, or say with `build --workflow` where it goes"
        ),
    })
}

fn said(unused: &[Unused]) -> String {
    unused
        .iter()
        .map(|u| u.said.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Asked when a whole service or a destination was not used; it need not be answered.
pub fn question(unused: &[Unused], language: &str) -> Option<Question> {
    let parts: Vec<Unused> = unused
        .iter()
        .filter(|u| u.weight == Weight::Part)
        .cloned()
        .collect();
    if parts.is_empty() {
        return None;
    }
    let what = said(&parts);
    let text = match language {
        "de" => {
            format!(
                "Kein Schritt verwendet {what}. Was soll damit geschehen, und an welcher Stelle?"
            )
        }
        "es" => format!("Ningún paso usa {what}. ¿Qué debe hacerse con ello y en qué momento?"),
        "fr" => {
            format!("Aucune étape n'utilise {what}. Que faut-il en faire, et à quel moment ?")
        }
        _ => format!("No step uses {what}. What should happen with it, and at which point?"),
    };
    Some(Question {
        required: false,
        ..Question::open("unused", text)
    })
}
