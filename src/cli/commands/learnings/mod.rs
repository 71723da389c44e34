//! `learnings …`: keeping `docs/learning/` small, right and indexed.

mod add;
mod check;
mod import;
mod told;

pub use told::{today, told};

use crate::cli::args::FailOn;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::project;
use agentctl_base::counted::counted;
use agentctl_base::untrusted;
use agentctl_engine::store::Project;
use agentctl_knowledge::{KnowledgeError, Learning, Learnings, Query};
use clap::Subcommand;
use console::style;
use serde_json::json;
use std::path::{Path, PathBuf};
use told::{helped, uses};

/// What runs taught: add, find, check and index entries of docs/learning/
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl learnings search code:n8n/parameter")]
pub enum LearningsCommand {
    Add(Box<add::LearningsAddArgs>),
    /// Change fields of an entry
    #[command(
        after_help = "Example:\n  agentctl learnings edit L-003 --set solution=\"take values from the schema\" --set tags=slack,labels"
    )]
    Edit {
        #[arg(value_name = "ENTRY")]
        id: String,
        /// title, date, workflow, node types, finding codes, tags, problem, cause, solution, evidence, fix, status or notes
        #[arg(long, value_name = "FIELD=VALUE", required = true)]
        set: Vec<String>,
    },
    /// Entries and patterns by id, with how often they helped
    #[command(after_help = "Example:\n  agentctl learnings show L-001 L-004 P-002")]
    Show {
        #[arg(value_name = "ENTRY", required = true)]
        ids: Vec<String>,
    },
    /// Find entries by words, tag:NAME, code:CODE or node:TYPE
    #[command(
        after_help = "Examples:\n  agentctl learnings search resource locator\n  agentctl learnings search code:n8n/parameter node:slack"
    )]
    Search {
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Retired entries too
        #[arg(long)]
        retired: bool,
    },
    /// Print the index and write its files anew
    #[command(
        after_help = "Examples:\n  agentctl learnings index\n  agentctl learnings index --check\n\nExit code of --check: 0 the index is what LEARNINGS.md makes of it, 1 it is stale."
    )]
    Index {
        /// Write nothing; fail when the index is stale
        #[arg(long)]
        check: bool,
    },
    /// Find broken forms, copies, contradictions, dead links, long and unread entries
    #[command(
        after_help = "Examples:\n  agentctl learnings check\n  agentctl learnings check --fix\n\nExit code 0: nothing at or above the threshold; 1: something is."
    )]
    Check {
        /// Mend what needs no judgement: missing status, date and evidence, exact copies, the index
        #[arg(long)]
        fix: bool,
        /// The lowest level that fails the check
        #[arg(long, value_name = "LEVEL", default_value = "error")]
        fail_on: FailOn,
    },
    /// How many entries, what an agent reads first, and which entries helped
    #[command(after_help = "Example:\n  agentctl learnings stats")]
    Stats,
    /// Take over a hand-written file (`## L-042: …`, `### [date] title` and others)
    #[command(
        after_help = "Example:\n  agentctl learnings import notes/LEARNINGS.md\n\nThe source stays as it is. What has no field goes to the entry's notes; what could not be read is listed."
    )]
    Import {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Take an entry out of the index; it stays readable by its id
    #[command(
        after_help = "Example:\n  agentctl learnings retire L-006 --reason \"fixed in n8n 2.40\""
    )]
    Retire {
        #[arg(value_name = "ENTRY")]
        id: String,
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

pub fn learnings(root: &Path, command: &LearningsCommand, out: &Output) -> Result<Exit, CliError> {
    use LearningsCommand as C;
    let project = project::open_here(root)?;
    let learnings = Learnings::new(project.root());
    match command {
        C::Add(args) => add::add(&learnings, args, out),
        C::Edit { id, set } => edit(&learnings, id, set, out),
        C::Show { ids } => show(&project, &learnings, ids, out),
        C::Search {
            words,
            limit,
            retired,
        } => search(&project, &learnings, (words, *limit, *retired), out),
        C::Index { check: true } => check::stale(&learnings, out),
        C::Index { check: false } => check::index(&learnings, out),
        C::Check { fix, fail_on } => check::check(&project, &learnings, (*fix, *fail_on), out),
        C::Stats => check::stats(&project, &learnings, out),
        C::Import { file } => import::import(&learnings, file, out),
        C::Retire { id, reason } => {
            let entry = learnings.retire(id, reason).map_err(|e| told(&e))?;
            changed("retired", &entry, out)
        }
    }
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
                        n => format!("  ({} of {} passed)", of.passed, counted(n, "run")),
                    };
                    format!("{} {}{helped}\n", style(&line.id).bold(), plain_long(&line.text))
                })
                .collect(),
        },
        || json!({"learnings": found.iter().map(|l| json!({"id": l.id, "line": l.text, "used": uses.of(&l.id)})).collect::<Vec<_>>()}),
    )
}
