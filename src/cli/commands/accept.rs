//! `accept`: the user says that a workflow as it is now is what is wanted, so that losses are counted from it.

use crate::cli::args::ModelOptions;
use crate::cli::ask;
use crate::cli::connection::unreached;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::runtime;
use crate::cli::session::Session;
use agentctl_base::counted::counted;
use agentctl_n8n_tools::N8n;
use agentctl_n8n_tools::accepted::NotKept;
use agentctl_n8n_tools::backend::{BackendError, Stored};
use agentctl_n8n_tools::noted::{BaseHow, Counted};
use clap::Args;
use serde_json::json;
use std::path::Path;

/// Say that a workflow is as you want it: what agents take away is counted from there
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl accept orders\n  agentctl accept orders --yes\n\nAgents may take away at most half of the nodes of the last state that you accepted, over all runs and sessions; more is asked.\nShows what was lost since, and asks. Without a terminal: --yes."
)]
pub struct AcceptArgs {
    /// The workflow: its id, or its file
    #[arg(value_name = "WORKFLOW")]
    pub workflow: String,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// Names shown of what was lost.
const MOST_SHOWN: usize = 20;

pub fn accept(root: &Path, args: &AcceptArgs, out: &Output) -> Result<Exit, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let n8n = session.n8n()?;
    let Some(accepted) = n8n.accepted() else {
        return Err(
            CliError::new(Exit::Refused, "there is no folder of yours to keep it in")
                .hint("set AGENTCTL_HOME to a folder outside of the project"),
        );
    };
    let now = runtime::block_on(find(n8n, &args.workflow))?.map_err(|e| backend_error(&e))?;
    let known = accepted.known(&now.id).map_err(|e| not_kept(&e))?;
    let lost = known.as_ref().map(|base| {
        let loss = n8n.loss(&base.outline, &now.workflow);
        let counted = Counted {
            how: base.how,
            since: Some(base.since.clone()),
            lost: loss.lost.len(),
            total: loss.total,
            requested: false,
        };
        (loss.lost, counted)
    });
    if out.is_text() {
        out.note(&told(&now, lost.as_ref()));
    }
    if !args.yes && !confirmed(&now, out)? {
        return Err(
            CliError::new(Exit::Refused, "nothing was accepted").hint("without a terminal: --yes")
        );
    }
    n8n.accept(&now, BaseHow::Accepted, jiff::Timestamp::now())
        .map_err(|e| not_kept(&e))?;
    let nodes = n8n.outline(&now.workflow).total();
    out.answer(
        Exit::Complete,
        || format!("accepted: losses of {} are counted from its {} of now\n", plain(&now.id.0), counted(nodes, "node")),
        || {
            json!({
                "workflow_id": now.id,
                "graph_hash": now.graph_hash,
                "nodes": nodes,
                "lost_before": lost.as_ref().map(|(names, counted)| json!({"nodes": names, "counted": counted})),
            })
        },
    )
}

async fn find(n8n: &N8n, reference: &str) -> Result<Stored, BackendError> {
    let backend = n8n.backend();
    let id = backend.resolve(reference).await?;
    backend.get(&id).await
}

/// What is lost of the state that was accepted last.
fn told(now: &Stored, lost: Option<&(Vec<String>, Counted)>) -> String {
    let name = plain(now.workflow.name());
    match lost {
        None => format!("{name}: agentctl has changed nothing of it yet"),
        Some((names, counted)) if names.is_empty() => {
            format!(
                "{name}: nothing of it is lost, {}",
                plain(&counted.from_when())
            )
        }
        Some((names, counted)) => {
            let shown: Vec<String> = names.iter().take(MOST_SHOWN).map(|n| plain(n)).collect();
            let more = match names.len().saturating_sub(shown.len()) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "{name}: lost {}: {}{more}",
                crate::cli::words::lost(counted),
                shown.join(", ")
            )
        }
    }
}

fn confirmed(now: &Stored, out: &Output) -> Result<bool, CliError> {
    if !out.can_ask() {
        return Ok(false);
    }
    ask::sure(
        format!("Is {:?} as it is now what you want?", now.workflow.name()),
        "yes, count losses from here",
        "no, leave it as it is",
    )
}

fn not_kept(error: &NotKept) -> CliError {
    let exit = match error.machine {
        true => Exit::Failed,
        false => Exit::Refused,
    };
    CliError::new(exit, error.to_string())
}

fn backend_error(error: &BackendError) -> CliError {
    let exit = match error.kind {
        agentctl_n8n_tools::backend::BackendErrorKind::NotFound
        | agentctl_n8n_tools::backend::BackendErrorKind::Rejected => Exit::Usage,
        _ => unreached(error),
    };
    let told = CliError::new(exit, error.to_string());
    match &error.hint {
        Some(hint) => told.hint(hint.clone()),
        None => told,
    }
}
