//! The lines of a hand-written entry as its fields, by the names that people give them.

use super::entry::{Learning, Status};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Date,
    Workflow,
    NodeTypes,
    Codes,
    Tags,
    Problem,
    Cause,
    Solution,
    Evidence,
    Fix,
    Status,
    Notes,
}

/// The field that people mean by a name.
pub(super) fn meant(name: &str) -> Option<Field> {
    let name = name
        .trim_matches(['*', '_', '`', ' '])
        .to_lowercase()
        .replace('_', " ");
    Some(match name.as_str() {
        "date" | "when" | "seen on" => Field::Date,
        "workflow" | "workflow id" => Field::Workflow,
        "node" | "nodes" | "node type" | "node types" => Field::NodeTypes,
        "code" | "codes" | "finding" | "finding code" | "finding codes" | "error code" => {
            Field::Codes
        }
        "tag" | "tags" | "category" | "categories" | "labels" | "keywords" => Field::Tags,
        "problem" | "issue" | "symptom" | "symptoms" | "what happened" | "error" | "context"
        | "fehler" | "problema" | "problème" => Field::Problem,
        "cause" | "root cause" | "why" | "reason" | "ursache" | "grund" | "causa" => Field::Cause,
        "solution" | "fix" | "resolution" | "what to do" | "lesson" | "learning" | "answer"
        | "workaround" | "lösung" | "abhilfe" | "solución" => Field::Solution,
        "evidence" | "source" | "sources" | "seen in" | "proof" => Field::Evidence,
        "status" | "state" => Field::Status,
        "notes" | "note" => Field::Notes,
        _ => return None,
    })
}

/// `**Problem:** text`, `- Cause: text`, `solution: text` → the name as it stands, whether it is emphasised, and the text.
fn labelled(line: &str) -> Option<(&str, bool, &str)> {
    let bare = line
        .trim_start()
        .trim_start_matches(['-', '+', '•', ' ', '>']);
    let bare = bare.strip_prefix("* ").unwrap_or(bare);
    let (name, text) = bare.split_once(':')?;
    let strong = name.starts_with("**") || name.starts_with("__");
    let name = name.trim_matches(['*', '_', '`', ' ']);
    let short = (1..=24).contains(&name.chars().count());
    let text = text.trim_start_matches(['*', '_']).trim();
    short.then_some((name, strong, text))
}

pub(super) fn read_body(entry: &mut Learning, within: Option<Field>, body: &[(usize, &str)]) {
    let mut field = within;
    let mut fenced = false;
    for (_, line) in body {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        } else if let Some((name, strong, text)) = labelled(line).filter(|_| !fenced) {
            match meant(name) {
                // Our own form: `fix` holds what the builder can do.
                Some(Field::Solution) if name == "fix" && entry.set("fix", text).is_ok() => {
                    field = Some(Field::Fix);
                    continue;
                }
                Some(found) => {
                    field = Some(found);
                    if !text.is_empty() && text != "-" {
                        put(entry, found, text);
                    }
                    continue;
                }
                None if strong => field = Some(Field::Notes),
                None => {}
            }
        }
        put(entry, field.unwrap_or(Field::Notes), line.trim_end());
    }
}

/// Adds a line to a field; what does not fit the field goes to the notes.
pub(super) fn put(entry: &mut Learning, field: Field, line: &str) {
    let join = |old: &str| {
        if old.is_empty() {
            line.trim_start().to_owned()
        } else {
            format!("{old}\n{line}")
        }
    };
    let listed = |old: &[String]| format!("{}, {line}", old.join(", "));
    let fits = match field {
        Field::Problem => {
            entry.problem = join(&entry.problem);
            true
        }
        Field::Cause => {
            entry.cause = join(&entry.cause);
            true
        }
        Field::Solution => {
            entry.solution = join(&entry.solution);
            true
        }
        Field::Evidence => {
            entry.evidence = join(&entry.evidence);
            true
        }
        _ if line.trim().is_empty() => field != Field::Notes,
        Field::Date => match entry.date {
            None => {
                entry.set("date", line.trim()).is_ok() || {
                    entry.date = None;
                    false
                }
            }
            Some(_) => false,
        },
        Field::Workflow if entry.workflow.is_none() => entry.set("workflow", line).is_ok(),
        Field::NodeTypes => entry
            .set("node types", &listed(&entry.node_types.clone()))
            .is_ok(),
        Field::Codes => entry
            .set("finding codes", &listed(&entry.finding_codes.clone()))
            .is_ok(),
        Field::Tags => entry.set("tags", &listed(&entry.tags.clone())).is_ok(),
        Field::Status => {
            let fits = entry.set("status", &line.to_lowercase()).is_ok();
            if !fits {
                entry.status = Status::Active;
            }
            fits
        }
        Field::Workflow | Field::Fix | Field::Notes => false,
    };
    if !fits {
        let line = match field {
            Field::Date => format!("date: {line}"),
            Field::Status => format!("status: {line}"),
            _ => line.to_owned(),
        };
        entry.notes = Some(match entry.notes.take() {
            Some(notes) => format!("{notes}\n{line}"),
            None => line,
        });
    }
}
