//! Change requests on a workflow that exists: request → edit operations that touch only what is asked.
//! Nodes named as untouchable never appear in an operation; ids, names and credentials stay. Pure and deterministic.

mod brain;
mod diff;
mod insert;
mod mention;
mod phrase;
mod refuse;
mod sieve;
mod value;

#[cfg(test)]
mod modify_tests;

use super::compile::existing::Patch;
use super::plan::{Plan, Refusal, Todo};
use super::read::{ReadContext, read};
use crate::n8n::catalog::Catalog;
use crate::n8n::{EditOp, Workflow};
use crate::store::event::Question;

/// What a change request becomes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Modification {
    /// Empty when nothing was understood; then `questions` says what is missing.
    pub ops: Vec<EditOp>,
    pub questions: Vec<Question>,
    pub refusal: Option<Refusal>,
    pub todo: Vec<Todo>,
    pub notes: Vec<String>,
}

/// Reads a change request against a workflow.
pub fn modify(existing: &Workflow, request: &str, catalog: &Catalog) -> Modification {
    let language = read(request, &ReadContext::default()).plan.language;
    if let Some(refusal) = refuse::wipe(request, &language) {
        return Modification {
            refusal: Some(refusal),
            ..Modification::default()
        };
    }
    let plan = Plan {
        name: existing.name().to_owned(),
        language: language.clone(),
        ..Plan::default()
    };
    let asked = phrase::read_request(request);
    let kept: Vec<String> = asked
        .protected
        .iter()
        .flat_map(|clause| mention::all(existing, clause))
        .collect();
    let mut patch = Patch::on(existing, &plan, catalog);
    let mut unread = Vec::new();
    let mut renames = Vec::new();
    for clause in &asked.changes {
        let done = value::rename(existing, clause, &mut renames)
            || brain::change(&mut patch, clause, &kept)
            || sieve::pass(&mut patch, clause, &kept)
            || insert::first(&mut patch, clause, &kept)
            || value::apply(&mut patch, clause, &kept)
            || insert::apply(&mut patch, clause, &kept);
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
        let allowed = touched.is_none_or(|name| !kept.iter().any(|k| k == name));
        if !allowed && let Some(name) = touched {
            notes.push(format!("{name} stays as it is, as asked"));
        }
        allowed
    });
    // half of a change is never passed over in silence
    if !ops.is_empty() {
        notes.extend(unread.iter().map(|part| left_out(part, &language)));
    }
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
    }
}

fn left_out(part: &str, language: &str) -> String {
    match language {
        "de" => format!("nicht geändert, weil nicht verstanden: «{part}»"),
        "es" => format!("no se cambió porque no se entendió: «{part}»"),
        "fr" => format!("pas changé, car pas compris : « {part} »"),
        _ => format!("not changed, because it was not understood: \"{part}\""),
    }
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
