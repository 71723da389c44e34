//! `learnings …`: keeping `docs/learning/` small, right and indexed.

use crate::analysis::used_in;
use crate::cli::args::FailOn;
use crate::cli::error::{CliError, Exit};
use crate::cli::learning_args::{LearningsAddArgs, LearningsCommand};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::project;
use agentctl_base::untrusted;
use agentctl_engine::store::{Project, StoreError};
use agentctl_knowledge::{
    ENTRIES, FOLDER, INDEX, Imported, KnowledgeError, Learning, Learnings, Level, NewLearning,
    Query, Remark, Use, Uses, tokens,
};
use console::style;
use serde_json::{Value, json};
use std::path::Path;

pub fn learnings(root: &Path, command: &LearningsCommand, out: &Output) -> Result<Exit, CliError> {
    use LearningsCommand as C;
    let project = project::open(root)?;
    let learnings = Learnings::new(project.root());
    match command {
        C::Add(args) => add(&learnings, args, out),
        C::Edit { id, set } => edit(&learnings, id, set, out),
        C::Show { ids } => show(&project, &learnings, ids, out),
        C::Search {
            words,
            limit,
            retired,
        } => search(&project, &learnings, (words, *limit, *retired), out),
        C::Index { check: true } => stale(&learnings, out),
        C::Index { check: false } => index(&learnings, out),
        C::Check { fix, fail_on } => check(&project, &learnings, (*fix, *fail_on), out),
        C::Stats => stats(&project, &learnings, out),
        C::Import { file } => import(&learnings, file, out),
        C::Retire { id, reason } => {
            let entry = learnings.retire(id, reason).map_err(|e| told(&e))?;
            changed("retired", &entry, out)
        }
    }
}

/// How a failure of the learnings is told.
pub fn told(error: &KnowledgeError) -> CliError {
    let exit = match error {
        KnowledgeError::Invalid(_) | KnowledgeError::NotFound { .. } => Exit::Usage,
        _ => Exit::Failed,
    };
    let told = CliError::new(exit, error.to_string());
    match error {
        KnowledgeError::NotFound { .. } => told.hint("agentctl learnings search WORDS lists ids"),
        _ => told,
    }
}

fn uses(project: &Project) -> Result<Uses, CliError> {
    let failed = |e: StoreError| CliError::failed(e.to_string());
    let mut uses = Uses::default();
    for run in project.run_ids().map_err(failed)? {
        let path = project.run(&run).map_err(failed)?.journal();
        let bytes = std::fs::read(&path).map_err(|e| failed(StoreError::io("read", path)(e)))?;
        let (ids, outcome) = used_in(&String::from_utf8_lossy(&bytes));
        uses.add(&ids, outcome);
    }
    Ok(uses)
}

/// Today, in the user's time zone.
pub fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

fn add(learnings: &Learnings, args: &LearningsAddArgs, out: &Output) -> Result<Exit, CliError> {
    let id = learnings
        .add(NewLearning {
            title: args.title.clone(),
            date: args.date.clone().unwrap_or_else(today),
            workflow: args.workflow.clone(),
            node_types: args.nodes.clone(),
            finding_codes: args.codes.clone(),
            tags: args.tags.clone(),
            problem: args.problem.clone(),
            cause: args.cause.clone(),
            solution: args.solution.clone(),
            evidence: args.evidence.clone(),
            fix: args.fix.clone(),
        })
        .map_err(|e| told(&e))?;
    out.answer(
        Exit::Complete,
        || format!("{id}: {}\n", plain(&args.title)),
        || json!({"id": id, "file": format!("{FOLDER}/{ENTRIES}")}),
    )
}

fn edit(learnings: &Learnings, id: &str, set: &[String], out: &Output) -> Result<Exit, CliError> {
    let mut fields = Vec::new();
    for pair in set {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(CliError::usage(format!("{pair:?} sets nothing"))
                .hint("write FIELD=VALUE, e.g. --set cause=\"the tab is a locator\""));
        };
        fields.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let entry = learnings.edit(id, &fields).map_err(|e| told(&e))?;
    changed("changed", &entry, out)
}

fn changed(what: &str, entry: &Learning, out: &Output) -> Result<Exit, CliError> {
    out.answer(
        Exit::Complete,
        || format!("{what} {}: {}\n", entry.id, plain(&entry.title)),
        || json!({"id": entry.id, "text": entry.render()}),
    )
}

fn helped(of: Use) -> String {
    match of.read {
        0 => "read by no run yet".to_owned(),
        n => format!(
            "read by {n} {}: {} passed, {} blocked",
            if n == 1 { "run" } else { "runs" },
            of.passed,
            of.blocked
        ),
    }
}

fn show(
    project: &Project,
    learnings: &Learnings,
    ids: &[String],
    out: &Output,
) -> Result<Exit, CliError> {
    let (plans, ids): (Vec<String>, Vec<String>) = ids
        .iter()
        .map(|id| id.to_uppercase())
        .partition(|id| id.starts_with("P-"));
    let (found, mut missing) = learnings.read(&ids).map_err(|e| told(&e))?;
    let mut patterns = Vec::new();
    for id in plans {
        match learnings.pattern_text(&id).map_err(|e| told(&e))? {
            Some(text) => patterns.push((id, text)),
            None => missing.push(id),
        }
    }
    if let Some(id) = missing.first() {
        return Err(told(&KnowledgeError::NotFound {
            what: "learning",
            name: id.clone(),
            known: Vec::new(),
        }));
    }
    let uses = uses(project)?;
    out.answer(
        Exit::Complete,
        || {
            let entries = found.iter().map(|e| (&e.id, e.render()));
            let patterns = patterns.iter().map(|(id, text)| (id, text.clone()));
            entries
                .chain(patterns)
                .map(|(id, text)| {
                    let text = untrusted::text(text.trim_end()).into_owned();
                    format!("{text}\n({})\n\n", helped(uses.of(id)))
                })
                .collect()
        },
        || {
            let entries = found.iter().map(|e| json!({"id": e.id, "title": e.title, "text": e.render(), "used": uses.of(&e.id)}));
            let patterns = patterns.iter().map(|(id, text)| json!({"id": id, "text": text, "used": uses.of(id)}));
            json!({"learnings": entries.chain(patterns).collect::<Vec<_>>()})
        },
    )
}

fn search(
    project: &Project,
    learnings: &Learnings,
    (words, limit, retired): (&[String], usize, bool),
    out: &Output,
) -> Result<Exit, CliError> {
    let mut query = Query::parse(&words.join(" "));
    query.retired = retired;
    let found = learnings.search(&query, limit).map_err(|e| told(&e))?;
    let uses = uses(project)?;
    out.answer(
        Exit::Complete,
        || match found.is_empty() {
            true => "nothing fits; agentctl learnings index shows the groups\n".to_owned(),
            false => found
                .iter()
                .map(|line| {
                    let of = uses.of(&line.id);
                    let helped = match of.read {
                        0 => String::new(),
                        n => format!("  ({} of {n} runs passed)", of.passed),
                    };
                    format!("{} {}{helped}\n", style(&line.id).bold(), plain_long(&line.text))
                })
                .collect(),
        },
        || json!({"learnings": found.iter().map(|l| json!({"id": l.id, "line": l.text, "used": uses.of(&l.id)})).collect::<Vec<_>>()}),
    )
}

fn index(learnings: &Learnings, out: &Output) -> Result<Exit, CliError> {
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

fn stale(learnings: &Learnings, out: &Output) -> Result<Exit, CliError> {
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

fn check(
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

fn stats(project: &Project, learnings: &Learnings, out: &Output) -> Result<Exit, CliError> {
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
                "{active} active entries, {} retired\n{INDEX}: {first} tokens (what an agent reads first), {} pages\n{ENTRIES}: {whole} tokens\n{} runs\n",
                entries.len() - active,
                index.pages.len(),
                uses.runs,
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
            text.push_str(&format!("{} active entries were read by no run\n", unread.count()));
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

/// No file of learnings is larger.
const MAX_IMPORT: u64 = 64 * 1024 * 1024;

fn import(learnings: &Learnings, file: &Path, out: &Output) -> Result<Exit, CliError> {
    let bytes = agentctl_host::files::read_given(file, MAX_IMPORT)
        .map_err(|e| CliError::io("read", file, &e))?;
    let source = String::from_utf8(bytes).map_err(|e| {
        CliError::failed(format!(
            "{} is not UTF-8 text: byte {} is none",
            file.display(),
            e.utf8_error().valid_up_to()
        ))
    })?;
    let name = file
        .file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let done = learnings
        .import(&source, &name, &today())
        .map_err(|e| told(&e))?;
    out.answer(
        Exit::Complete,
        || imported(file, &done),
        || imported_json(&done),
    )
}

fn imported(file: &Path, done: &Imported) -> String {
    let (known, new): (Vec<_>, Vec<_>) = done.entries.iter().partition(|e| e.known);
    let mut text = format!(
        "{} entries imported, {} were there already\n",
        new.len(),
        known.len()
    );
    for entry in new {
        let was = entry
            .was
            .as_deref()
            .map(|was| format!(" (was {was})"))
            .unwrap_or_default();
        text.push_str(&format!("{}{was}: {}\n", entry.id, plain(&entry.title)));
    }
    if !done.unread.is_empty() {
        text.push_str(&format!("\n{} places to look at:\n", done.unread.len()));
    }
    for (line, what) in &done.unread {
        text.push_str(&format!("{}:{line}: {}\n", file.display(), plain(what)));
    }
    text
}

fn imported_json(done: &Imported) -> Value {
    let unread: Vec<Value> = done
        .unread
        .iter()
        .map(|(line, what)| json!({"line": line, "what": what}))
        .collect();
    json!({"entries": done.entries, "unread": unread})
}
