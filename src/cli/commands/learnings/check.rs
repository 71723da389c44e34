//! `agentctl learnings check|stats|index`: whether the entries are right, small and indexed.

use super::told::{helped, told, uses};
use crate::cli::args::FailOn;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use agentctl_base::counted::counted;
use agentctl_base::untrusted;
use agentctl_engine::store::Project;
use agentctl_knowledge::{ENTRIES, FOLDER, INDEX, Learning, Learnings, Level, Remark, Use, tokens};
use console::style;
use serde_json::json;

pub fn check(
    project: &Project,
    learnings: &Learnings,
    (fix, fail_on): (bool, FailOn),
    out: &Output,
) -> Result<Exit, CliError> {
    let fixed = match fix {
        true => learnings.fix().map_err(|e| told(&e))?,
        false => Vec::new(),
    };
    let remarks = learnings.check(&uses(project)?).map_err(|e| told(&e))?;
    let threshold = match fail_on {
        FailOn::Error => Some(Level::Error),
        FailOn::Warning => Some(Level::Warning),
        FailOn::Never => None,
    };
    let fails = |remark: &Remark| threshold.is_some_and(|t| remark.level >= t);
    let exit = if remarks.iter().any(fails) {
        Exit::Failed
    } else {
        Exit::Complete
    };
    out.answer(
        exit,
        || {
            let mut text: String = fixed.iter().map(|id| format!("mended {id}\n")).collect();
            for remark in &remarks {
                let level = match remark.level {
                    Level::Error => style("error").red(),
                    Level::Warning => style("warning").yellow(),
                    Level::Info => style("info").dim(),
                };
                let id = remark
                    .id
                    .as_deref()
                    .map(|id| format!("{id}: "))
                    .unwrap_or_default();
                let fixable = if remark.fixable && !fix {
                    " (--fix mends it)"
                } else {
                    ""
                };
                text.push_str(&format!(
                    "{FOLDER}/{}:{}: {level} {}: {id}{}{fixable}\n",
                    remark.file,
                    remark.line,
                    remark.rule,
                    plain(&remark.message)
                ));
            }
            if remarks.is_empty() {
                text.push_str("nothing to mend\n");
            }
            text
        },
        || json!({"remarks": remarks, "fixed": fixed}),
    )
}

pub fn stats(project: &Project, learnings: &Learnings, out: &Output) -> Result<Exit, CliError> {
    let (entries, _) = learnings.all().map_err(|e| told(&e))?;
    let index = learnings.index().map_err(|e| told(&e))?;
    let uses = uses(project)?;
    let active = entries.iter().filter(|e| e.is_active()).count();
    let whole = tokens(&learnings.text().map_err(|e| told(&e))?);
    let first = tokens(&index.first);
    let mut used: Vec<(&Learning, Use)> = entries
        .iter()
        .map(|e| (e, uses.of(&e.id)))
        .filter(|(_, of)| of.read > 0)
        .collect();
    used.sort_by_key(|(_, of)| std::cmp::Reverse((of.passed, of.read)));
    let patterns = learnings.patterns().map_err(|e| told(&e))?;
    let plans = patterns.iter().filter(|p| p.is_plan()).count();
    out.answer(
        Exit::Complete,
        || {
            let mut text = format!(
                "{}, {} retired\n{INDEX}: {first} tokens (what an agent reads first), {}\n{ENTRIES}: {whole} tokens\n{}\n",
                counted(active, "active entry"),
                entries.len() - active,
                counted(index.pages.len(), "page"),
                counted(uses.runs, "run"),
            );
            for (entry, of) in &used {
                text.push_str(&format!("{} {}: {}\n", entry.id, plain(&entry.title), helped(*of)));
            }
            if !patterns.is_empty() {
                text.push_str(&format!("{} patterns, {plans} of them plans\n", patterns.len()));
            }
            for pattern in patterns.iter().filter(|p| uses.of(&p.id).read > 0) {
                text.push_str(&format!("{} {}: {}\n", pattern.id, plain(&pattern.title), helped(uses.of(&pattern.id))));
            }
            let unread = entries.iter().filter(|e| e.is_active() && uses.of(&e.id).read == 0);
            text.push_str(&format!("read by no run: {}\n", counted(unread.count(), "active entry")));
            text
        },
        || {
            json!({
                "active": active, "retired": entries.len() - active, "runs": uses.runs,
                "index_tokens": first, "pages": index.pages.len(), "entries_tokens": whole,
                "used": used.iter().map(|(e, of)| json!({"id": e.id, "title": e.title, "used": of})).collect::<Vec<_>>(),
                "patterns": patterns.iter().map(|p| json!({"id": p.id, "title": p.title, "plan": p.is_plan(), "used": uses.of(&p.id)})).collect::<Vec<_>>(),
            })
        },
    )
}

pub fn index(learnings: &Learnings, out: &Output) -> Result<Exit, CliError> {
    let written = learnings.write_index().map_err(|e| told(&e))?;
    let index = learnings.index().map_err(|e| told(&e))?;
    out.note(&match written.as_slice() {
        [] => "the index was up to date".to_owned(),
        [one] => format!("written: {FOLDER}/{one}"),
        files => format!("written: {} files below {FOLDER}/", files.len()),
    });
    out.answer(
        Exit::Complete,
        || untrusted::text(&index.first).into_owned(),
        || json!({"index": index.first, "tokens": tokens(&index.first), "pages": index.pages.len(), "written": written}),
    )
}

pub fn stale(learnings: &Learnings, out: &Output) -> Result<Exit, CliError> {
    let stale = learnings.stale().map_err(|e| told(&e))?;
    let exit = if stale.is_empty() {
        Exit::Complete
    } else {
        Exit::Failed
    };
    out.answer(
        exit,
        || match stale.is_empty() {
            true => "the index is up to date\n".to_owned(),
            false => stale
                .iter()
                .map(|(file, what)| format!("{FOLDER}/{file} {what}\n"))
                .chain(["run agentctl learnings index\n".to_owned()])
                .collect(),
        },
        || json!({"stale": stale.iter().map(|(file, what)| json!({"file": format!("{FOLDER}/{file}"), "what": what})).collect::<Vec<_>>()}),
    )
}
