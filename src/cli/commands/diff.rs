//! `diff`: what changed between two states of a workflow, or between two files. Secrets hidden, nothing written.

use super::runs::all_runs;
use crate::cli::args::ModelOptions;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{colour_diff, plain, plain_long};
use crate::cli::runtime;
use crate::cli::session::{self, Session};
use crate::cli::words::{STATE, in_words};
use agentctl_base::shell;
use agentctl_engine::redact::Redactor;
use agentctl_engine::run::{self, Compare, Compared, Side};
use agentctl_engine::toolset::Difference;
use agentctl_n8n::Workflow;
use agentctl_n8n_tools::resources::difference;
use clap::Args;
use console::style;
use serde_json::{Value, json};
use std::path::Path;

/// Show what changed between two states of a workflow, or between two files
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl diff\n  agentctl diff 20261121-1009 --from 1 --to 2\n  agentctl diff --workflow orders\n  agentctl diff old.json new.json\n\nNumbers are those of `agentctl log`: state N is what change N left, 0 is what was there before the first."
)]
pub struct DiffArgs {
    /// A run (default: the active one): from what it started from to what it left; or two files
    #[arg(value_name = "RUN|FILE FILE", num_args = 0..=2)]
    pub what: Vec<String>,
    /// A workflow: from before the last run that changed it to how it is now
    #[arg(long, value_name = "ID|FILE", conflicts_with = "what")]
    pub workflow: Option<String>,
    /// From the state that change N left; 0: from before the first
    #[arg(long, value_name = "N")]
    pub from: Option<u32>,
    /// To the state that change N left
    #[arg(long, value_name = "N")]
    pub to: Option<u32>,
}

/// Larger files are no workflows.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

pub fn diff(root: &Path, args: &DiffArgs, out: &Output) -> Result<Exit, CliError> {
    if let [old, new] = args.what.as_slice() {
        return files(old, new, args, out);
    }
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let runs;
    let what = match &args.workflow {
        Some(named) => {
            runs = all_runs(&session.project, out)?;
            Compare::Resource {
                runs: &runs,
                named: named.clone(),
                from: args.from,
                to: args.to,
            }
        }
        None => Compare::Run {
            run: args.what.first().cloned(),
            from: args.from,
            to: args.to,
        },
    };
    let is_file = |named: &String| Path::new(named).is_file();
    let compared = runtime::block_on(run::compare(
        &session.project,
        session.gateway.resources(),
        session.gateway.redactor(),
        what,
    ))?;
    let compared = compared.map_err(|e| {
        let told = session::run_error(&e);
        match args.what.first() {
            Some(named) if is_file(named) => told.hint(format!(
                "{named} is a file: name a second one, or agentctl diff --workflow {}",
                shell::word(named)
            )),
            _ => told,
        }
    })?;
    out.answer(
        Exit::Complete,
        || {
            if compared.is_empty() {
                return "the run changed no workflow\n".to_owned();
            }
            compared.iter().map(told).collect()
        },
        || json!({"diffs": compared.iter().map(listed).collect::<Vec<_>>()}),
    )
}

fn files(old: &str, new: &str, args: &DiffArgs, out: &Output) -> Result<Exit, CliError> {
    if args.from.is_some() || args.to.is_some() {
        return Err(CliError::usage(
            "--from and --to number the changes of a run or a workflow; two files have none",
        ));
    }
    let (before, after) = (read(old)?, read(new)?);
    let redactor = Redactor::from_variables(std::env::vars());
    let difference = difference(&redactor, Some(&before), Some(&after));
    out.answer(
        Exit::Complete,
        || {
            if difference.is_empty() {
                return "no difference\n".to_owned();
            }
            head(&plain_long(old), &plain_long(new)) + &text(&difference)
        },
        || {
            let mut one = json!(difference);
            if let Value::Object(map) = &mut one {
                map.insert("from".into(), json!({"file": old}));
                map.insert("to".into(), json!({"file": new}));
            }
            json!({"diffs": [one]})
        },
    )
}

fn read(file: &str) -> Result<Workflow, CliError> {
    let path = Path::new(file);
    let found = std::fs::metadata(path)
        .map_err(|e| CliError::usage(format!("cannot read {}: {e}", plain_long(file))))?;
    if !found.is_file() || found.len() > MAX_BYTES {
        return Err(CliError::usage(format!(
            "{} is no workflow file",
            plain_long(file)
        )));
    }
    let text = agentctl_host::files::read_given_text(path, MAX_BYTES)
        .map_err(|e| CliError::io("read", path, &e))?;
    let shown = plain_long(file);
    let value: Value = serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(&text))
        .map_err(|e| {
            let (line, column) = (e.line(), e.column());
            CliError::usage(format!("{shown}:{line}:{column}: not valid JSON: {e}"))
        })?;
    Workflow::from_value(value).map_err(|e| CliError::usage(format!("{shown} is no workflow: {e}")))
}

/// Two states of a workflow, as a program reads them.
fn listed(compared: &Compared) -> Value {
    let mut listed = json!(compared);
    for (key, side) in [("from", &compared.from), ("to", &compared.to)] {
        if let Some(place) = listed.get_mut(key) {
            *place = in_words(side, STATE);
        }
    }
    listed
}

fn told(compared: &Compared) -> String {
    let id = plain(&compared.resource.id);
    if compared.difference.is_empty() {
        return format!(
            "{id}: no difference between {} and {}\n",
            side(&compared.from),
            side(&compared.to)
        );
    }
    let name = |at: &Side| format!("{id}, {}", side(at));
    head(&name(&compared.from), &name(&compared.to)) + &text(&compared.difference)
}

fn head(old: &str, new: &str) -> String {
    format!(
        "{}\n{}\n",
        style(format!("--- {old}")).bold(),
        style(format!("+++ {new}")).bold()
    )
}

fn side(at: &Side) -> String {
    let when = match at.change {
        None => "now".to_owned(),
        Some(0) => "before the first change".to_owned(),
        Some(number) => format!("after change {number}"),
    };
    match at.revision {
        Some(_) => when,
        None => format!("{when} (there was none)"),
    }
}

/// What changed, one line each; then the documents' lines.
pub fn text(difference: &Difference) -> String {
    // The lines of a diff are made for stderr; here they go to stdout, with its colours.
    console::set_colors_enabled_stderr(console::colors_enabled());
    let mut text = String::new();
    for line in &difference.lines {
        let line = plain_long(line);
        text.push_str(&match line.chars().next() {
            Some('+') => format!("{}\n", style(line).green()),
            Some('-') => format!("{}\n", style(line).red()),
            _ => format!("{}\n", style(line).yellow()),
        });
    }
    let lines: String = difference
        .diff
        .lines()
        .skip_while(|l| l.starts_with("--- ") || l.starts_with("+++ "))
        .map(|l| format!("{l}\n"))
        .collect();
    if !lines.is_empty() {
        text.push('\n');
        text.push_str(&colour_diff(&lines));
    }
    text
}
