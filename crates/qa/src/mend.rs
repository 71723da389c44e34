//! `qa --fix`: the sure fixes of a file, applied and written back so that only what changed differs.

use super::document::workflows;
use super::place::Place;
use super::rewrite::rewrite;
use super::rules;
use super::source::{Fault, Source};
use agentctl_base::{line_diff, secrets};
use agentctl_host::files::write_atomic;
use agentctl_n8n::autofix::{self, Rules};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::finding::Finding;
use agentctl_n8n::validate::validate;
use agentctl_n8n::workflow::Workflow;
use serde_json::{Map, Value};
use uuid::Uuid;

/// What is done with sure fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FixMode {
    #[default]
    Off,
    /// Only the diff.
    Show,
    Write,
}

/// Lines of unchanged text around each change of the diff.
const CONTEXT: usize = 3;

/// What was fixed in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Mended {
    /// The findings that are gone.
    pub fixed: Vec<Finding>,
    /// Unified diff of the file, secrets hidden.
    pub diff: String,
    /// False when the diff was only asked for.
    pub written: bool,
}

/// None when there is nothing to fix; else what was done, the document and its text afterwards.
pub(super) fn mend(
    source: &Source,
    text: &str,
    document: &Value,
    catalog: &Catalog,
    wanted: &dyn Fn(&Finding) -> bool,
    mode: FixMode,
) -> Result<Option<(Mended, Value, String)>, Fault> {
    let mut after = document.clone();
    let mut fixed = Vec::new();
    for (prefix, old) in workflows(document) {
        // What is no workflow has findings, but nothing that a fix could be applied to.
        let Ok(before) = Workflow::from_value(old.clone()) else {
            continue;
        };
        let rules = Rules {
            check: &|workflow| validate(workflow, catalog),
            wanted,
            allowed: &|_| true,
        };
        let result = autofix::fix(&before, &rules, &mut || Uuid::new_v4().to_string());
        if result.fixed.is_empty() {
            continue;
        }
        if let Some(slot) = after.pointer_mut(&prefix) {
            *slot = carried(old, &before.to_value(), &result.workflow.to_value());
        }
        fixed.extend(result.fixed);
    }
    if fixed.is_empty() || after == *document {
        return Ok(None);
    }
    let written = rewrite(text, document, &after);
    if mode == FixMode::Write {
        write_atomic(&source.path, written.as_bytes()).map_err(|error| {
            let message = format!("could not be fixed: {error}");
            Fault::new(rules::UNWRITABLE, message, Place::START)
        })?;
    }
    let mended = Mended {
        fixed,
        diff: diff(&source.shown(), text, &written),
        written: mode == FixMode::Write,
    };
    Ok(Some((mended, after, written)))
}

fn diff(name: &str, before: &str, after: &str) -> String {
    let diff = line_diff::unified(before, after, CONTEXT, Some((name, name)));
    secrets::mask(&diff).into_owned()
}

/// The difference between `before` and `after`, applied to `old`: our reading of the workflow, `before`, may have left out
/// things that the file says.
fn carried(old: &Value, before: &Value, after: &Value) -> Value {
    if before == after {
        return old.clone();
    }
    match (old, before, after) {
        (Value::Object(old), Value::Object(before), Value::Object(after)) => {
            let stays = |key: &&String| after.contains_key(*key) || !before.contains_key(*key);
            let mut map: Map<String, Value> = old
                .keys()
                .filter(stays)
                .filter_map(|k| Some((k.clone(), old.get(k)?.clone())))
                .collect();
            for (key, new) in after {
                match (old.get(key), before.get(key)) {
                    (_, Some(was)) if was == new => {}
                    (Some(here), Some(was)) => {
                        map.insert(key.clone(), carried(here, was, new));
                    }
                    _ => {
                        map.insert(key.clone(), new.clone());
                    }
                }
            }
            Value::Object(map)
        }
        (Value::Array(old), Value::Array(before), Value::Array(after))
            if old.len() == before.len() && before.len() == after.len() =>
        {
            let three = old.iter().zip(before).zip(after);
            Value::Array(three.map(|((o, b), a)| carried(o, b, a)).collect())
        }
        _ => after.clone(),
    }
}
