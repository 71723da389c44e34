//! `agentctl push FILE`: a workflow file sent to the connected n8n, through the gateway and as a run.

use super::diff::text as diff_text;
use super::pull::read;
use crate::cli::args::ModelOptions;
use crate::cli::by_user;
use crate::cli::connection::{connected, unavailable};
use crate::cli::error::{CliError, Exit};
use crate::cli::observer::Terminal;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::runtime;
use crate::cli::session::Session;
use agentctl_engine::gateway::ByUser;
use agentctl_engine::run::{self, Answering};
use agentctl_engine::toolset::Difference;
use agentctl_host::files::write_atomic;
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::{
    Backend, BackendError, BackendErrorKind, ListQuery, Stored, list_all,
};
use agentctl_n8n_tools::resources::difference;
use agentctl_n8n_tools::sync::{self, Freshness, Local};
use agentctl_n8n_tools::tools::Push;
use clap::Args;
use console::style;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Send a workflow file to the connected n8n: update the workflow that it follows, or create one
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl push workflows/orders.json --dry-run\n  agentctl push workflows/orders.json\n  agentctl push workflows/orders.json --allow publish\n\nShows the diff. Refused (exit code 5): the workflow was changed on n8n since the file was pulled (--force), most of its nodes would go (--allow wipe), it is active and the change goes live (--allow publish), credentials change (--allow credentials).\nEach push is a run: `agentctl undo RUN` takes it back."
)]
pub struct PushArgs {
    /// The workflow file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The workflow to update; default: the one that the file follows, else a new one
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Over what was changed on n8n since the file was pulled
    #[arg(long)]
    pub force: bool,
    /// Allow what a guard would ask: wipe, publish, credentials
    #[arg(long, value_name = "GUARD", value_parser = ["wipe", "publish", "credentials"])]
    pub allow: Vec<String>,
    /// Show the diff, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What a push is going to do.
struct Plan {
    now: Option<Stored>,
    after: Workflow,
}

/// What a push came to.
pub struct Pushed {
    /// `created`, `updated`, `unchanged`, or what it would be.
    pub what: &'static str,
    pub id: Option<WorkflowId>,
    /// The run that made it; None: nothing was changed.
    pub run: Option<String>,
    difference: Difference,
}

pub fn push(root: &Path, args: &PushArgs, out: &Output) -> Result<Exit, CliError> {
    let pushed = pushed(root, args, out)?;
    answer(out, args, &pushed)
}

/// The push itself, without its answer.
pub fn pushed(root: &Path, args: &PushArgs, out: &Output) -> Result<Pushed, CliError> {
    let local = read(&args.file)?
        .ok_or_else(|| CliError::usage(format!("{} is not there", args.file.display())))?;
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = connected(&session)?;
    let id = args
        .id
        .clone()
        .or_else(|| local.id.as_ref().map(|id| id.0.clone()));
    let now = runtime::block_on(find(backend, id.as_deref(), &local))?.map_err(unavailable)?;
    if let Some(now) = now.as_ref().filter(|_| !args.force) {
        fresh(&local, now, args)?;
    }
    let after = sync::pushed(&local.workflow, now.as_ref().map(|now| &now.workflow));
    let plan = Plan { now, after };
    let before = plan.now.as_ref().map(|now| &now.workflow);
    let difference = difference(&out.redactor(), before, Some(&plan.after));
    let same = before == Some(&plan.after);
    if args.dry_run || same {
        let what = match (same, before.is_some()) {
            (true, _) => "unchanged",
            (_, true) => "would be updated",
            (_, false) => "would be created",
        };
        let stamped = if same && !args.dry_run {
            plan.now.as_ref()
        } else {
            None
        };
        if let Some(now) = stamped {
            follow(&args.file, &local, now)?;
        }
        return Ok(Pushed {
            what,
            id: plan.now.map(|now| now.id),
            run: None,
            difference,
        });
    }
    if out.is_text() {
        // Before anything is asked or done.
        out.note(&diff_text(&difference));
    }
    let cancel = session.cancel.clone();
    let pushed = carry_out(session, args, plan, out)?;
    for note in &pushed.1 {
        out.note(note);
    }
    let (run_id, stored, created) = pushed.0;
    follow(&args.file, &local, &stored)?;
    drop(cancel);
    Ok(Pushed {
        what: if created { "created" } else { "updated" },
        id: Some(stored.id),
        run: Some(run_id),
        difference,
    })
}

/// The workflow that the file is pushed over. A new one that is there already under this name and with this graph (a push that was killed
/// before it could write its id down) is that one.
async fn find(
    backend: &dyn Backend,
    id: Option<&str>,
    local: &Local,
) -> Result<Option<Stored>, BackendError> {
    if let Some(id) = id {
        let id = backend.resolve(id).await?;
        return backend
            .get(&id)
            .await
            .map(Some)
            .map_err(|error| match error.kind {
                BackendErrorKind::NotFound => {
                    error.with_hint("take `id` out of the file to create a new workflow")
                }
                _ => error,
            });
    }
    let hash = graph_hash(&sync::pushed(&local.workflow, None));
    let named = list_all(backend, &ListQuery::named(local.workflow.name())).await?;
    match named
        .workflows
        .iter()
        .find(|listed| listed.graph_hash == hash)
    {
        Some(listed) => backend.get(&listed.id).await.map(Some),
        None => Ok(None),
    }
}

/// Refuses to lose what somebody did on the n8n since the file was pulled.
fn fresh(local: &Local, now: &Stored, args: &PushArgs) -> Result<(), CliError> {
    let why = match sync::freshness(local.base.as_ref(), now) {
        Freshness::Same => return Ok(()),
        // What is the same cannot be lost.
        _ if graph_hash(&local.workflow) == now.graph_hash => return Ok(()),
        Freshness::Changed => format!(
            "the workflow `{}` was changed on n8n since {} was pulled",
            now.id,
            args.file.display()
        ),
        Freshness::Unknown => format!(
            "{} does not say which state of the workflow `{}` it was made from",
            args.file.display(),
            now.id
        ),
    };
    Err(CliError::new(Exit::Refused, why)
        .hint(format!(
            "agentctl pull {} OTHER-FILE shows what is there now",
            now.id
        ))
        .hint("agentctl push --force overwrites it; `agentctl undo RUN` brings it back"))
}

/// Through the gateway, as a run; what is on the n8n afterwards, and whether it is new.
#[expect(clippy::type_complexity, reason = "one caller")]
fn carry_out(
    session: Session,
    args: &PushArgs,
    plan: Plan,
    out: &Output,
) -> Result<((String, Stored, bool), Vec<String>), CliError> {
    let answers: Map<String, Value> = args
        .allow
        .iter()
        .map(|what| (format!("approve-{what}"), json!("approve")))
        .collect();
    let answering = Answering {
        answers,
        yes: false,
    };
    let progress = Arc::new(Progress::new(out));
    let n8n = Arc::clone(session.n8n()?);
    let push = Push {
        file: args.file.display().to_string(),
        over: plan
            .now
            .as_ref()
            .map(|now| (now.id.clone(), now.graph_hash.clone())),
        after: plan.after,
    };
    let cancel = session.cancel.clone();
    let serving = by_user::serving(session);
    let arguments = push.arguments();
    let change = push.clone().on(&n8n);
    let own = ByUser {
        command: "push",
        name: Push::NAME,
        arguments,
        change: change.as_ref(),
        allowing: &|guard| format!("look at the diff; to allow it: --allow {guard}"),
    };
    let mut person = Terminal::new(&progress);
    let asker = out.can_ask().then_some(&mut person as &mut dyn run::Asker);
    let done = runtime::block_on_until(&cancel, async {
        let pushed = by_user::make(&serving, &own, &answering, asker).await?;
        let backend = n8n.backend();
        let id = pushed.content.get("id").and_then(Value::as_str);
        let id = WorkflowId(id.unwrap_or_default().to_owned());
        let stored = backend.get(&id).await.map_err(unavailable)?;
        backend.close().await;
        Ok(((pushed.run_id, stored, push.over.is_none()), pushed.notes))
    })?;
    progress.finish();
    done
}

/// The file follows what is on the n8n now.
fn follow(file: &Path, local: &Local, stored: &Stored) -> Result<(), CliError> {
    if local.id.as_ref() == Some(&stored.id) && local.base.as_ref() == Some(&sync::Base::of(stored))
    {
        return Ok(());
    }
    let text = sync::followed(&local.workflow, stored);
    write_atomic(file, text.as_bytes()).map_err(|e| {
        CliError::failed(e.to_string()).hint(format!(
            "n8n has the workflow as `{}`; agentctl pull writes its file",
            stored.id
        ))
    })
}

fn answer(out: &Output, args: &PushArgs, pushed: &Pushed) -> Result<Exit, CliError> {
    let Pushed {
        what,
        id,
        run,
        difference,
    } = pushed;
    let file: PathBuf = args.file.clone();
    out.answer(
        Exit::Complete,
        || {
            // Of a push that was made it stands above already.
            let mut text = if run.is_none() { diff_text(difference) } else { String::new() };
            let id = id.as_ref().map(|id| format!(" `{id}`")).unwrap_or_default();
            text.push_str(&format!("{}: {what}{id}\n", style(file.display()).bold()));
            if let Some(run) = run {
                text.push_str(&format!("take it back with: agentctl undo {run}\n"));
            }
            text
        },
        || json!({"file": file.display().to_string(), "id": id, "what": what, "run": run, "diff": difference.diff}),
    )
}
