//! Workflows of the connected n8n as sources of a check; read, never written.

use super::args::QaArgs;
use crate::cli::args::ModelOptions;
use crate::cli::catalog_file;
use crate::cli::connection::{backend_of, connected, tell_of_closed, unavailable};
use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::report::second_opinion;
use crate::cli::runtime;
use crate::cli::session::Session;
use crate::cli::settings;
use agentctl_n8n::validate::There;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::{
    Backend, BackendErrorKind, BackendName, BackendResult, ListQuery, Stored, list_all,
};
use agentctl_n8n_tools::sync;
use agentctl_n8n_tools::there::there;
use agentctl_qa::source::Source;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::path::{Path, PathBuf};

/// So many are asked for at a time.
const AT_ONCE: usize = 4;

pub fn is_asked(args: &QaArgs) -> bool {
    args.all || args.tag.is_some() || !args.workflow.is_empty()
}

/// Files are judged by the node facts of an n8n where one is named (`--backend`, or `[n8n]` of the settings).
pub fn facts(project: &Path, out: &Output) -> Result<(), CliError> {
    let config = settings::of_project(project, out)?;
    let named = out.backend.or(config.backend);
    if matches!(
        named,
        None | Some(BackendName::Auto | BackendName::Embedded)
    ) {
        return Ok(());
    }
    let backend = match backend_of(project, out, &config) {
        Ok((_, backend)) => backend,
        Err(error) if out.backend.is_some() => return Err(error),
        // A file can be checked without it, as in CI without a key.
        Err(error) => {
            out.note(&format!(
                "warning: the n8n of agentctl.toml cannot be asked, so files are judged by the project's own node facts: {error}"
            ));
            return Ok(());
        }
    };
    catalog_file::of_n8n(project, backend.place(), out)?.warn(out);
    Ok(())
}

/// Each as a text of its own; its path is `n8n/ID`.
pub fn sources(project: &Path, args: &QaArgs, out: &Output) -> Result<Vec<Source>, CliError> {
    let session = Session::open(project, &ModelOptions::offline(), out)?;
    let backend = connected(&session)?;
    let n8n = session.n8n()?;
    let facts = catalog_file::of_n8n(project, backend.place(), out)?;
    facts.warn(out);
    if args.all || args.tag.is_some() {
        tell_of_closed(backend, out);
    }
    let catalog = facts.catalog;
    let held = runtime::block_on(async {
        let held = held(backend, args).await;
        // Those named stand first. Of a whole n8n it would take long.
        for stored in held.iter().flatten().take(args.workflow.len()) {
            if let Some(word) = n8n.servers_word(&stored.id).await {
                let mut told = format!("{}: ", plain(stored.workflow.name()));
                second_opinion(&word, &mut told);
                out.note(told.trim_end());
            }
        }
        if let (Some(tag), Ok([])) = (&args.tag, held.as_deref()) {
            out.note(&format!("no workflow of the n8n has the tag {tag:?}"));
        }
        let there = match &held {
            Ok(held) => {
                let workflows: Vec<&Workflow> =
                    held.iter().map(|stored| &stored.workflow).collect();
                there(backend, &workflows, catalog).await
            }
            Err(_) => Ok((There::default(), Vec::new())),
        };
        backend.close().await;
        held.and_then(|held| Ok((held, there?)))
    })?;
    let (held, (there, not_told)) = held.map_err(unavailable)?;
    for note in &not_told {
        out.note(note);
    }
    let source = |stored: &Stored| Source {
        found: there.findings(&stored.id.0, &stored.workflow, catalog),
        ..Source::held(
            PathBuf::from("n8n").join(&stored.id.0),
            sync::file(stored, true, None),
        )
    };
    Ok(held.iter().map(source).collect())
}

async fn held(backend: &dyn Backend, args: &QaArgs) -> BackendResult<Vec<Stored>> {
    let mut ids: Vec<WorkflowId> = Vec::new();
    for named in &args.workflow {
        ids.push(backend.resolve(named).await?);
    }
    if args.all || args.tag.is_some() {
        let query = match &args.tag {
            Some(tag) => ListQuery::tagged(tag),
            None => ListQuery::default(),
        };
        ids.extend(
            list_all(backend, &query)
                .await?
                .workflows
                .into_iter()
                .map(|listed| listed.id),
        );
    }
    let named = args.workflow.len();
    let one = |(index, id): (usize, WorkflowId)| async move {
        match backend.get(&id).await {
            // Listed a moment ago, and gone since.
            Err(e) if e.kind == BackendErrorKind::NotFound && index >= named => Ok(None),
            other => other.map(Some),
        }
    };
    let found: Vec<Option<Stored>> = stream::iter(ids.into_iter().enumerate())
        .map(one)
        .buffered(AT_ONCE)
        .try_collect()
        .await?;
    Ok(found.into_iter().flatten().collect())
}
