//! `agentctl pull ID`: a workflow of the connected n8n as a file that git can keep.

use super::diff::text as diff_text;
use crate::cli::args::ModelOptions;
use crate::cli::connection::{connected, unavailable};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::runtime;
use crate::cli::session::Session;
use agentctl_host::files::write_atomic;
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n_tools::backend::slug;
use agentctl_n8n_tools::resources::difference;
use agentctl_n8n_tools::sync::{self, Local};
use agentctl_qa::source;
use clap::Args;
use console::style;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Write a workflow of the connected n8n as a file that git can keep
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl pull Xk2fTq0sOmW9aLcD\n  agentctl pull \"Order intake\" workflows/orders.json\n\nThe file is what n8n imports, without what belongs to that n8n alone. Pinned data stays out unless --pinned is given; static data always does. Exit code 5: the file has changes that were not pushed; 7: n8n is not there."
)]
pub struct PullArgs {
    /// The workflow: its id, or the name that only it has
    #[arg(value_name = "ID")]
    pub id: String,
    /// Where it goes; default: workflows/ of the project, named after the workflow
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// With the data that is pinned in n8n's editor
    #[arg(long)]
    pub pinned: bool,
    /// Over a file that has other changes or follows another workflow
    #[arg(long)]
    pub force: bool,
    /// Show what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

pub fn pull(root: &Path, args: &PullArgs, out: &Output) -> Result<Exit, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = connected(&session)?;
    let stored = runtime::block_on(async {
        let id = backend.resolve(&args.id).await?;
        let stored = backend.get(&id).await;
        backend.close().await;
        stored
    })?
    .map_err(unavailable)?;
    let file = match &args.file {
        Some(file) => file.clone(),
        None => root
            .join("workflows")
            .join(format!("{}.json", slug(stored.workflow.name()))),
    };
    let before = read(&file)?;
    if let Some(local) = before.as_ref().filter(|_| !args.force) {
        let refused = |what: String| {
            CliError::new(Exit::Refused, format!("{}: {what}", file.display()))
                .hint("another file: name it after the id; over this one: --force")
        };
        match &local.id {
            Some(id) if *id != stored.id => {
                return Err(refused(format!(
                    "it follows the workflow `{id}`, not `{}`",
                    stored.id
                )));
            }
            _ => {}
        }
        let same = graph_hash(&local.workflow) == stored.graph_hash;
        if !same && local.is_changed() != Some(false) {
            return Err(refused(
                "it was changed and not pushed; a pull would lose that".to_owned(),
            ));
        }
    }
    let text = sync::file(&stored, args.pinned);
    let after = Local::read(serde_json::from_str(&text).unwrap_or_default()).map_err(|e| {
        CliError::new(
            Exit::Internal,
            format!("what was pulled is no workflow: {e}"),
        )
    })?;
    let difference = difference(
        &out.redactor(),
        before.as_ref().map(|b| &b.workflow),
        Some(&after.workflow),
    );
    let unchanged = agentctl_host::files::read_regular(&file, text.len() as u64)
        .is_ok_and(|now| now == text.as_bytes());
    if !unchanged && !args.dry_run {
        write_atomic(&file, text.as_bytes()).map_err(|e| CliError::failed(e.to_string()))?;
    }
    let what = match (unchanged, args.dry_run, before.is_some()) {
        (true, _, _) => "unchanged",
        (_, true, true) => "would be updated",
        (_, true, false) => "would be written",
        (_, false, true) => "updated",
        (_, false, false) => "written",
    };
    out.answer(
        Exit::Complete,
        || {
            let diff = if before.is_some() { diff_text(&difference) } else { String::new() };
            let nodes = stored.workflow.nodes.len();
            format!("{diff}{}: {what} ({}, {nodes} nodes, `{}`)\n", style(file.display()).bold(), plain(stored.workflow.name()), stored.id)
        },
        || json!({"file": file.display().to_string(), "id": stored.id, "name": stored.workflow.name(), "graph_hash": stored.graph_hash, "what": what, "diff": difference.diff}),
    )
}

/// The file as it is; None when there is none.
pub(super) fn read(file: &Path) -> Result<Option<Local>, CliError> {
    if !file.exists() {
        return Ok(None);
    }
    let named = source::Source::named(file);
    let fault = |fault: source::Fault| {
        CliError::usage(format!("{}: {}", file.display(), fault.message))
            .hint("agentctl qa says more")
    };
    let text = source::read(&named).map_err(fault)?;
    let value = source::parse(&text).map_err(fault)?;
    Local::read(value).map(Some).map_err(|e| {
        CliError::usage(format!("{}: {e}", file.display())).hint("agentctl qa says more")
    })
}
