//! What a person does with the connected n8n by hand: look at its workflows, executions and accounts, publish a workflow or take it out
//! of service. Publishing is a run in the journal, asked for like a push that goes live.

use crate::cli::args::ModelOptions;
use crate::cli::by_user::{self, Unmade};
use crate::cli::connection::{connected, tell_of_closed, unavailable};
use crate::cli::error::{CliError, Exit};
use crate::cli::layout;
use crate::cli::observer::Terminal;
use crate::cli::output::Output;
use crate::cli::plain::plain;
use crate::cli::progress::Progress;
use crate::cli::runtime;
use crate::cli::session::Session;
use agentctl_base::counted::counted;
use agentctl_engine::gateway::ByUser;
use agentctl_engine::run::{self, Answering};
use agentctl_n8n_tools::backend::{ExecutionQuery, ListQuery, list_all};
use agentctl_n8n_tools::tools::Published;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// Workflows of the connected n8n: list them, publish one, take one out of service
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  agentctl workflows list --active\n  agentctl workflows activate orders\n  agentctl workflows deactivate 7Hq2 --yes"
)]
pub enum WorkflowsCommand {
    /// All of them, by name
    #[command(after_help = "Example:\n  agentctl workflows list --tag sales --output-format json")]
    List {
        /// Only those with this tag
        #[arg(long, value_name = "TAG")]
        tag: Option<String>,
        /// Only those that are active
        #[arg(long)]
        active: bool,
    },
    /// Publish a workflow, so that its trigger fires
    #[command(after_help = "Example:\n  agentctl workflows activate orders --yes")]
    Activate(PublishArgs),
    /// Take a workflow out of service
    #[command(after_help = "Example:\n  agentctl workflows deactivate orders")]
    Deactivate(PublishArgs),
}

#[derive(Debug, Args)]
pub struct PublishArgs {
    /// The workflow, by id or name
    #[arg(value_name = "WORKFLOW")]
    workflow: String,
    /// Do it without asking; needed where nobody can be asked
    #[arg(long)]
    yes: bool,
}

/// Executions of the connected n8n
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Example:\n  agentctl executions list orders --status error\n\n`agentctl analyze --workflow ID --executions 20` says why they failed."
)]
pub enum ExecutionsCommand {
    /// All of them, or those of one workflow, newest first
    #[command(
        after_help = "Examples:\n  agentctl executions list\n  agentctl executions list orders --status error --limit 5"
    )]
    List(ExecutionsArgs),
}

#[derive(Debug, Args)]
pub struct ExecutionsArgs {
    /// Only those of this workflow, by id or name
    #[arg(value_name = "WORKFLOW")]
    workflow: Option<String>,
    /// Only those that stand so
    #[arg(long, value_name = "STATUS", value_parser = ["success", "error", "waiting", "running", "canceled", "crashed"])]
    status: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u16).range(1..=100))]
    limit: u16,
}

/// Credentials of the connected n8n: names, types and ids, never what they hold
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl credentials list --type slackApi")]
pub enum CredentialsCommand {
    /// All of them, or those of one type
    #[command(
        after_help = "Examples:\n  agentctl credentials list\n  agentctl credentials list --type slackApi"
    )]
    List(CredentialsArgs),
}

#[derive(Debug, Args)]
pub struct CredentialsArgs {
    /// Only those of this type
    #[arg(long = "type", value_name = "CREDENTIAL")]
    credential_type: Option<String>,
}

pub fn workflows(root: &Path, command: &WorkflowsCommand, out: &Output) -> Result<Exit, CliError> {
    match command {
        WorkflowsCommand::List { tag, active } => list(root, tag.as_deref(), *active, out),
        WorkflowsCommand::Activate(args) => publish(root, args, true, out),
        WorkflowsCommand::Deactivate(args) => publish(root, args, false, out),
    }
}

fn list(root: &Path, tag: Option<&str>, active: bool, out: &Output) -> Result<Exit, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = connected(&session)?;
    let query = ListQuery {
        tag: tag.map(str::to_owned),
        active: active.then_some(true),
        ..ListQuery::default()
    };
    tell_of_closed(backend, out);
    let listing = runtime::block_on(list_all(backend, &query))?.map_err(unavailable)?;
    let mut found = listing.workflows;
    found.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.id.0.cmp(&b.id.0)));
    out.answer(
        Exit::Complete,
        || match found.is_empty() {
            true => "no workflows\n".to_owned(),
            false => layout::words(found.iter().map(|one| {
                let state = if one.active { "active" } else { "inactive" };
                let nodes = counted(one.node_count, "node");
                [plain(&one.id.0), plain(&one.name), state.to_owned(), nodes]
            })),
        },
        || json!({"workflows": found}),
    )
}

pub fn executions(
    root: &Path,
    command: &ExecutionsCommand,
    out: &Output,
) -> Result<Exit, CliError> {
    let ExecutionsCommand::List(args) = command;
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = connected(&session)?;
    tell_of_closed(backend, out);
    let found = runtime::block_on(async {
        let workflow = match &args.workflow {
            Some(named) => Some(backend.resolve(named).await?),
            None => None,
        };
        let query = ExecutionQuery {
            workflow,
            status: args.status.clone(),
            limit: usize::from(args.limit),
        };
        let found = backend.executions(&query).await?;
        // A word that may be an id is taken for one; that there is no such workflow is told, and not that it never ran.
        if let (true, Some(id)) = (found.is_empty(), &query.workflow) {
            backend.get(id).await?;
        }
        Ok(found)
    })?
    .map_err(unavailable)?;
    out.answer(
        Exit::Complete,
        || match found.is_empty() {
            true => "no executions\n".to_owned(),
            false => layout::words(found.iter().map(|one| {
                let at = one.started_at.as_deref().unwrap_or("-");
                [&one.id, &one.status, at, &one.workflow_id.0].map(plain)
            })),
        },
        || json!({"executions": found}),
    )
}

pub fn credentials(
    root: &Path,
    command: &CredentialsCommand,
    out: &Output,
) -> Result<Exit, CliError> {
    let CredentialsCommand::List(args) = command;
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = connected(&session)?;
    if !backend.can().credentials {
        return Err(CliError::failed(format!(
            "the {} backend cannot list credentials",
            backend.name()
        ))
        .hint("use --backend rest, with N8N_API_URL and N8N_API_KEY"));
    }
    let mut found = runtime::block_on(backend.credentials())?.map_err(unavailable)?;
    let is_meant = |of: &String| args.credential_type.as_ref().is_none_or(|t| t == of);
    found.retain(|one| is_meant(&one.credential_type));
    found.sort();
    out.answer(
        Exit::Complete,
        || match found.is_empty() {
            true => "no credentials\n".to_owned(),
            false => layout::words(
                found
                    .iter()
                    .map(|one| [&one.id, &one.credential_type, &one.name].map(|cell| plain(cell))),
            ),
        },
        || json!({"credentials": found}),
    )
}

/// Said where a change is looked at again.
pub(super) const MEANWHILE: &str =
    "the workflow was changed on n8n meanwhile; looking at it as it is now";

fn publish(root: &Path, args: &PublishArgs, active: bool, out: &Output) -> Result<Exit, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    connected(&session)?;
    let cancel = session.cancel.clone();
    let n8n = Arc::clone(session.n8n()?);
    let published = Published {
        workflow_id: args.workflow.clone(),
        active,
    };
    let serving = by_user::serving(session);
    let answers = ["approve-publish", "approve-owner"];
    let answers = answers.map(|topic| (topic.to_owned(), json!("approve")));
    let answering = Answering {
        answers: match args.yes {
            true => answers.into_iter().collect(),
            false => serde_json::Map::new(),
        },
        yes: false,
    };
    let command = if active {
        "workflows activate"
    } else {
        "workflows deactivate"
    };
    let (name, arguments) = (published.name(), published.arguments());
    let change = published.on(&n8n);
    let own = ByUser {
        command,
        name,
        arguments,
        change: change.as_ref(),
        allowing: &|_| "--yes does it without asking".to_owned(),
    };
    let progress = Arc::new(Progress::new(out));
    let mut person = Terminal::new(&progress);
    let done = runtime::block_on_until(&cancel, async {
        let mut again = 0..by_user::AGAIN;
        let done = loop {
            let asker = out.can_ask().then_some(&mut person as &mut dyn run::Asker);
            match by_user::make(&serving, &own, &answering, asker).await {
                // What is there now is read, shown and asked about.
                Err(unmade) if unmade.stale && again.next().is_some() => {
                    out.note(MEANWHILE);
                }
                done => break done.map_err(Unmade::told),
            }
        };
        n8n.backend().close().await;
        done
    })
    .flatten()?;
    progress.finish();
    out.answer(
        Exit::Complete,
        || {
            let state = if active { "active" } else { "inactive" };
            format!("{}: {state}\n", plain(&args.workflow))
        },
        || json!({"workflow": done.content, "active": active, "run": done.run_id}),
    )
}
