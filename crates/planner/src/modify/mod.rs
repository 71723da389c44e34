//! Change requests on a workflow that exists: request → edit operations that touch only what is asked.
//! Nodes named as untouchable never appear in an operation; ids, names and credentials stay. Pure and deterministic.

mod brain;
mod branch;
mod diff;
mod failing;
mod hold;
mod insert;
mod mention;
mod phrase;
mod recipient;
mod refuse;
mod request;
mod sieve;
mod spot;
mod value;

#[cfg(test)]
mod asked_tests;
#[cfg(test)]
mod modify_tests;

pub(super) use diff::changed_node;

use super::compile::existing::Patch;
use super::cover;
use super::lexicon::rx;
use super::plan::{Plan, Refusal, Todo};
use super::read::{ReadContext, read};
use agentctl_base::question::Question;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{EditOp, Workflow};

/// What a change request becomes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Modification {
    /// Empty when nothing was understood; then `questions` says what is missing.
    pub ops: Vec<EditOp>,
    pub questions: Vec<Question>,
    pub refusal: Option<Refusal>,
    pub todo: Vec<Todo>,
    pub notes: Vec<String>,
    /// The clauses that changed nothing, because no reader understood them.
    pub unread: Vec<String>,
    /// The language of the request.
    pub language: String,
}

/// Reads a change request against a workflow.
pub fn modify(existing: &Workflow, request: &str, catalog: &Catalog) -> Modification {
    let language = read(request, &ReadContext::default()).plan.language;
    if let Some(refusal) = refuse::wipe(request, &language) {
        return Modification {
            refusal: Some(refusal),
            language,
            ..Modification::default()
        };
    }
    let plan = Plan {
        name: existing.name().to_owned(),
        language: language.clone(),
        ..Plan::default()
    };
    let asked = phrase::read_request(request);
    let (kept, kept_parts) = protected(existing, &asked.protected);
    let mut patch = Patch::on(existing, &plan, catalog);
    let mut unread = Vec::new();
    let mut renames = Vec::new();
    for clause in &asked.changes {
        let done = value::rename(existing, clause, &mut renames)
            || READERS
                .iter()
                .any(|reader| attempt(*reader, &mut patch, clause, &kept));
        if !done {
            unread.push(clause.clone());
        }
    }
    let (workflow, todo, mut notes) = patch.finish();
    let mut ops = diff::between(existing, &workflow);
    ops.extend(renames);
    // the last word on what must not change: parameters, names and settings of protected nodes
    ops.retain(|op| {
        let touched = diff::changed_node(op);
        let part = |name: &str| {
            let EditOp::SetParameter { pointer, .. } = op else {
                return false;
            };
            let key = pointer.trim_start_matches('/').split('/').next();
            kept_parts
                .iter()
                .any(|(node, slots)| node == name && key.is_some_and(|key| slots.contains(&key)))
        };
        // how often a step is tried is no part of what it does: only a clause that names the step sets it
        let tries = matches!(op, EditOp::SetNodeSettings { .. });
        let allowed =
            tries || touched.is_none_or(|name| !kept.iter().any(|k| k == name) && !part(name));
        if !allowed && let Some(name) = touched {
            notes.push(format!("{name} stays as it is, as asked"));
        }
        allowed
    });
    let questions = if ops.is_empty() || !unread.is_empty() {
        ask(&unread, request, &language, !ops.is_empty())
    } else {
        Vec::new()
    };
    Modification {
        ops,
        questions,
        refusal: None,
        todo,
        notes,
        unread,
        language,
    }
}

type Part = (String, &'static [&'static str]);

/// What must stay: whole nodes, and parts of messages ("the text of the mail").
fn protected(existing: &Workflow, clauses: &[String]) -> (Vec<String>, Vec<Part>) {
    let (mut nodes, mut parts) = (Vec::new(), Vec::new());
    let pieces = clauses.iter().flat_map(|clause| {
        rx(r"\s*(?:,|;|/|\b(?:and|or|nor|und|oder|y|o|et|ou)\b)\s*")
            .split(clause)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    for piece in pieces {
        let meant = mention::all(existing, &piece);
        match value::message_part(&piece) {
            Some(slots) => parts.extend(meant.into_iter().map(|node| (node, slots))),
            None => nodes.extend(meant),
        }
    }
    // a whole node that two pieces name together: "the data sent to the CRM"
    for clause in clauses.iter().filter(|c| value::message_part(c).is_none()) {
        nodes.extend(mention::all(existing, clause));
    }
    (nodes, parts)
}

/// One way to read a clause; true when it changed the workflow by it.
type Reader = fn(&mut Patch<'_>, &str, &[String]) -> bool;

/// From the most particular to the most general.
const READERS: &[Reader] = &[
    brain::change,
    sieve::pass,
    hold::approval,
    hold::decided,
    hold::batches,
    spot::at_the_end,
    insert::removal,
    insert::tool,
    failing::failing,
    branch::also_required,
    branch::only_when,
    recipient::added,
    request::method,
    request::part,
    branch::sorted_out,
    value::switched,
    value::labelled,
    value::timed,
    value::waited,
    value::limited,
    value::exchanged,
    value::set,
    insert::service_swap,
    branch::conditional,
    spot::placed,
    spot::prepared,
    spot::appended,
];

/// Lets a reader try. What it did counts only when everything that the clause names is in it; otherwise it is taken back.
fn attempt(reader: Reader, patch: &mut Patch<'_>, clause: &str, kept: &[String]) -> bool {
    let mut trial = patch.clone();
    if !reader(&mut trial, clause, kept) || trial.workflow() == patch.workflow() {
        return false;
    }
    let said = trial.notes().get(patch.notes().len()..).unwrap_or_default();
    let lost = cover::lost(clause, patch.workflow(), trial.workflow());
    let told = |thing: &cover::Unused| said.iter().any(|note| note.contains(&thing.said));
    if !lost.iter().all(told) {
        return false;
    }
    *patch = trial;
    true
}

fn ask(unread: &[String], request: &str, language: &str, some: bool) -> Vec<Question> {
    let what = if unread.is_empty() {
        request.trim().to_owned()
    } else {
        unread.join("; ")
    };
    let text = match language {
        "de" => format!(
            "Was genau soll sich ändern? Nicht verstanden: «{what}» (welcher Schritt, welcher neue Wert?)"
        ),
        "es" => format!(
            "¿Qué debe cambiar exactamente? No se entendió: «{what}» (¿qué paso, qué valor nuevo?)"
        ),
        "fr" => format!(
            "Que faut-il changer exactement ? Pas compris : « {what} » (quelle étape, quelle nouvelle valeur ?)"
        ),
        _ => format!(
            "What exactly should change? Not understood: \"{what}\" (which step, which new value?)"
        ),
    };
    let question =
        serde_json::json!({"id": "change", "topic": "change", "text": text, "required": !some});
    serde_json::from_value(question).into_iter().collect()
}
