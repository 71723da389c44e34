//! `report RUN --html FILE`: a run as one page that needs no network. What stands in it comes from the journal, where secrets are hidden
//! already, and from the states of the workflows, in which they are hidden here.

mod checked;
mod page;

use super::runs::{not_yours, tell_damage};
use crate::analysis::{self, Moment};
use crate::cli::args::{ModelOptions, page_file};
use crate::cli::commands::learnings::today;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::session::{self, Session};
use crate::cli::{catalog_file, runtime};
use agentctl_base::BoxFuture;
use agentctl_engine::gateway::Gateway;
use agentctl_engine::pack::Pack;
use agentctl_engine::redact::Redactor;
use agentctl_engine::run::{self, By, Compare, Compared, RunError, RunReport, UsageReport};
use agentctl_engine::store::Project;
use agentctl_engine::toolset::Document;
use agentctl_engine::view::RunView;
use agentctl_host::files::write_atomic;
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::validate;
use agentctl_serve::{Reports, ServedPack};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Write a run as a page: request, questions, phases, pictures before and after, findings, refusals, cost
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl report --html run.html\n  agentctl report 019a… --html run.html\n\nThe page is one file: it loads nothing, sends nothing, and its policy (CSP) allows neither. What looks like a secret is hidden in it."
)]
pub struct ReportArgs {
    /// The run; default: the active one
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// The file to write
    #[arg(long, value_name = "FILE", value_parser = page_file)]
    html: PathBuf,
}

/// All that the page tells.
pub struct Told {
    pub report: RunReport,
    pub view: RunView,
    pub moments: Vec<Moment>,
    pub usage: UsageReport,
    /// The workflows that the run changed, or why they cannot be read.
    pub changed: Result<Vec<Compared>, String>,
    pub catalog: &'static Catalog,
    /// The runs that worked on calls of it.
    pub linked: Vec<ToldOf>,
}

/// A run that worked on a call.
pub struct ToldOf {
    pub run_id: String,
    pub pack: String,
    /// Err: why no more is told of it.
    pub told: Result<Box<Told>, String>,
}

pub fn report(root: &Path, args: &ReportArgs, out: &Output) -> Result<Exit, CliError> {
    let session = Session::reopen(root, args.run.as_deref(), &ModelOptions::offline(), out)?;
    let run_id = run::run_named(&session.project, args.run.as_deref())
        .map_err(|e| session::run_error(&e))?;
    let catalog = catalog_file::of(root, out).unwrap_or_else(|_| Catalog::embedded());
    let told = runtime::block_on(told(
        (&session.project, &session.pack, &session.gateway),
        &run_id,
        catalog,
    ))?
    .map_err(|e| session::run_error(&e))?;
    let told = Told {
        linked: linked(root, &session.project, &told.view, catalog, out),
        ..told
    };
    if let Some(foreign) = &told.report.foreign {
        out.note(&not_yours(&told.report.run_id, foreign));
    }
    tell_damage(&told.report, out);
    if let Err(why) = &told.changed {
        out.note(&format!("without pictures: {}", plain_long(why)));
    }
    let text = page::page(&told, &out.redactor());
    write_atomic(&args.html, text.as_bytes()).map_err(|e| CliError::failed(e.to_string()))?;
    let file = args.html.display().to_string();
    out.answer(
        Exit::Complete,
        || format!("run {run_id}: {}\n", plain_long(&file)),
        || json!({"run_id": run_id, "file": file}),
    )
}

/// Each with its own pack and what its tools work on.
fn linked(
    root: &Path,
    project: &Project,
    of: &RunView,
    catalog: &'static Catalog,
    out: &Output,
) -> Vec<ToldOf> {
    let told_of = |run_id: &str| {
        let session = Session::reopen(root, Some(run_id), &ModelOptions::offline(), out)?;
        let of = (&session.project, &session.pack, &session.gateway);
        runtime::block_on(told(of, run_id, catalog))?.map_err(|e| session::run_error(&e))
    };
    let all = run::linked(project, of).into_iter();
    let told = all.map(|one| ToldOf {
        told: one
            .view
            .and_then(|_| told_of(&one.link.run_id).map_err(|e| e.message))
            .map(Box::new),
        run_id: one.link.run_id,
        pack: one.link.pack,
    });
    told.collect()
}

/// Reads all that the page tells of a run.
async fn told(
    (project, pack, gateway): (&Project, &Pack, &Gateway),
    run_id: &str,
    catalog: &'static Catalog,
) -> Result<Told, RunError> {
    let usage = run::usage(project, pack, Some(run_id))?;
    let mut records = Vec::new();
    let report = run::show(project, pack, run_id, &mut |record| {
        records.push(record.clone());
    })?;
    // What an undo left is no work of the run's.
    let made = run::changes(project, run_id)?;
    let own = made
        .iter()
        .rev()
        .find(|made| matches!(made.by, By::Tool { .. }));
    let what = Compare::Run {
        run: Some(run_id.to_owned()),
        from: None,
        to: own.map(|made| made.number),
    };
    // An n8n that cannot be reached does not keep the rest from being told.
    let changed = run::compare(project, gateway.resources(), gateway.redactor(), what).await;
    Ok(Told {
        moments: analysis::analyze(&records, &pack.flow, &today()).timeline,
        view: RunView::of(&records),
        report,
        usage,
        changed: changed.map_err(|e| e.to_string()),
        catalog,
        linked: Vec::new(),
    })
}

/// Runs' pages for `agentctl serve`.
pub struct Pages {
    pub catalog: &'static Catalog,
    pub redactor: Arc<Redactor>,
}

impl Reports for Pages {
    fn page<'a>(
        &'a self,
        served: &'a ServedPack,
        pack: &'a Pack,
        run: &'a str,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let of = (&*served.project, pack, &served.gateway);
            let told = told(of, run, self.catalog).await;
            let told = told.map_err(|e| e.to_string())?;
            // Their packs need not be served.
            let linked = run::linked(&served.project, &told.view).into_iter();
            let linked = linked.map(|one| ToldOf {
                told: Err(format!("agentctl report {} tells of it", one.link.run_id)),
                run_id: one.link.run_id,
                pack: one.link.pack,
            });
            let told = Told {
                linked: linked.collect(),
                ..told
            };
            Ok(page::page(&told, &self.redactor))
        })
    }
}

/// A state of a workflow as it may be drawn, with what is wrong with it; None: it is no workflow.
fn drawable(
    document: &Document,
    catalog: &Catalog,
    redactor: &Redactor,
) -> Option<(Workflow, Vec<agentctl_n8n::Finding>)> {
    let findings = validate::validate_value(&document.content, catalog);
    let hidden = redactor.strings(document.content.clone());
    let findings = findings.into_iter();
    let findings = findings.map(|f| f.rewritten(|text| redactor.text(text)));
    let findings = findings.collect();
    Some((Workflow::from_value(hidden).ok()?, findings))
}
