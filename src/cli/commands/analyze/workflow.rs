//! What became of a workflow beside its runs (versions, executions), and what a model makes of an analysis. Reads only.

use super::records;
use crate::analysis::{self, Analysis, Changed, Execution, Explained, History, Told};
use crate::cli::args::ModelOptions;
use crate::cli::connection::unreached;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::runtime;
use crate::cli::session::Session;
use agentctl_base::counted::counted;
use agentctl_base::model::{AgentTask, Message, ModelRequest};
use agentctl_base::untrusted;
use agentctl_engine::agent::{Contract, system_prompt, task_message};
use agentctl_engine::run::Models as _;
use agentctl_engine::store::Project;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::{
    Backend, BackendError, BackendErrorKind, ExecutionQuery, VersionHead,
};
use serde_json::{Map, Value, json};
use std::path::Path;

/// So many versions are compared, the newest ones.
const VERSIONS: usize = 20;
/// So many executions are read at most.
const EXECUTIONS: usize = 200;

/// The history of a workflow, as backend and journals tell it.
pub fn outside(
    root: &Path,
    project: &Project,
    workflow: &str,
    executions: Option<usize>,
    out: &Output,
) -> Result<History, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let mut told = runtime::block_on(read(&session, workflow, executions))??;
    told.changes = changes(project, &told.workflow, &mut told.unread)?;
    Ok(analysis::history(told))
}

async fn read(session: &Session, named: &str, executions: Option<usize>) -> Result<Told, CliError> {
    let backend = session.n8n()?.backend();
    let id = backend.resolve(named).await.map_err(told)?;
    let mut told_of = Told {
        workflow: id.to_string(),
        ..Told::default()
    };
    match backend.get(&id).await {
        Ok(stored) => told_of.now = Some(stored.workflow),
        Err(error) => told_of.unread.push(passed("the workflow now", error)?),
    }
    if backend.can().versions {
        match versions(backend, &id, &mut told_of.unread).await {
            Ok(list) => told_of.versions = Some(list),
            Err(error) => told_of.unread.push(passed("versions", error)?),
        }
    } else {
        let name = backend.name();
        told_of
            .unread
            .push(format!("the {name} backend keeps no versions"));
    }
    if let Some(most) = executions {
        if backend.can().execute {
            let clean = |text: &str| session.gateway.clean_text(text);
            match last(
                backend,
                &id,
                most.min(EXECUTIONS),
                &clean,
                &mut told_of.unread,
            )
            .await
            {
                Ok(list) => told_of.executions = Some(list),
                Err(error) => told_of.unread.push(passed("executions", error)?),
            }
        } else {
            told_of.unread.push(format!(
                "the {} backend executes nothing, so there are no executions to read; connect a live n8n for them",
                backend.name()
            ));
        }
    }
    Ok(told_of)
}

async fn versions(
    backend: &dyn Backend,
    id: &WorkflowId,
    unread: &mut Vec<String>,
) -> Result<Vec<(VersionHead, Option<Workflow>)>, BackendError> {
    let heads = backend.versions(id).await?;
    if heads.len() > VERSIONS {
        unread.push(format!(
            "not compared: {}",
            counted(heads.len() - VERSIONS, "older version")
        ));
    }
    let mut list = Vec::new();
    for head in heads.into_iter().take(VERSIONS) {
        let document = backend.version(id, &head.id).await.ok();
        list.push((head, document));
    }
    Ok(list)
}

/// One after the other, so that only one execution's data is in memory.
async fn last(
    backend: &dyn Backend,
    id: &WorkflowId,
    most: usize,
    clean: &(dyn Fn(&str) -> String + Sync),
    unread: &mut Vec<String>,
) -> Result<Vec<Execution>, BackendError> {
    let mut list = Vec::new();
    for head in backend.executions(&ExecutionQuery::of(id, most)).await? {
        let whole = match backend.execution(&head.id).await {
            Ok(whole) => whole,
            Err(error) if error.kind == BackendErrorKind::Unavailable => return Err(error),
            Err(error) => {
                unread.push(format!("execution {}: {}", head.id, clean(&error.message)));
                Value::Null
            }
        };
        list.push(Execution::of(&head, &whole, &|text| clean(text)));
    }
    Ok(list)
}

/// What is not there is told and passed over; a backend that cannot be reached ends it.
fn passed(what: &str, error: BackendError) -> Result<String, CliError> {
    match error.kind {
        BackendErrorKind::Unavailable => Err(told(error)),
        _ => Ok(format!("{what}: {}", error.message)),
    }
}

fn told(error: BackendError) -> CliError {
    let exit = match error.kind {
        BackendErrorKind::Unavailable => unreached(&error),
        BackendErrorKind::Rejected => Exit::Usage,
        _ => Exit::Failed,
    };
    let told = CliError::new(exit, error.message);
    match error.hint {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

/// What the runs changed in it; one journal at a time is in memory.
fn changes(
    project: &Project,
    workflow: &str,
    unread: &mut Vec<String>,
) -> Result<Vec<Changed>, CliError> {
    let mut all = Vec::new();
    for run in project
        .run_ids()
        .map_err(|e| CliError::failed(e.to_string()))?
    {
        match records(project, &run) {
            Ok(records) => all.extend(analysis::changes(&run, workflow, &records)),
            Err(error) => unread.push(format!("run {run}: {error}")),
        }
    }
    Ok(all)
}

/// A workflow that no run has changed.
pub fn only_lived(lived: &History, out: &Output) -> Result<Exit, CliError> {
    if lived.changes.is_empty()
        && lived.versions.as_ref().is_none_or(Vec::is_empty)
        && lived.executions.as_ref().is_none_or(Vec::is_empty)
    {
        let hint = lived.unread.first().map_or_else(
            || "agentctl runs list shows what each run changed".to_owned(),
            Clone::clone,
        );
        return Err(CliError::usage(format!(
            "no run changed {:?}, and it has neither versions nor executions",
            lived.workflow
        ))
        .hint(hint));
    }
    out.answer(
        Exit::Complete,
        || {
            let page = analysis::history_markdown(lived) + "\nNo run of this project changed it.\n";
            untrusted::text(&page).into_owned()
        },
        || json!({"history": lived}),
    )
}

const TASK: &str = "Explain this run from `analysis`, which was made from the journal. One claim each for the first cause, what followed \
from it, why each attempt failed, and what would have prevented it. Every claim names the events (numbers), findings or executions (ids) \
that show it; a claim without, or with one that is not there, is dropped by the program. Say less rather than guess.";

/// What the model makes of the analysis: one call, no tools. What it writes is kept only as far as it stands on evidence.
pub fn explain(
    root: &Path,
    model: &ModelOptions,
    analysis: &Analysis,
    lived: Option<&History>,
    out: &Output,
) -> Result<Explained, CliError> {
    let session = Session::open(root, model, out)?;
    // The agent that learns is the one that may propose learnings.
    let agent = session
        .pack
        .agents
        .values()
        .find(|agent| agent.tools.iter().any(|tool| tool == "write_learning"))
        .ok_or_else(|| {
            CliError::usage("no agent of the pack may write learnings, so none explains")
        })?;
    let unavailable =
        |e: agentctl_base::model::ModelError| CliError::new(Exit::Model, e.to_string());
    let chosen = session
        .models
        .for_agent(&agent.name, agent.tier)
        .map_err(unavailable)?;
    if chosen.name == "offline" {
        return Err(
            CliError::usage("the offline model adds nothing to an analysis")
                .hint("name one: agentctl analyze --explain --model provider::model"),
        );
    }
    let mut input = Map::new();
    input.insert(
        "analysis".into(),
        Value::Object(analysis::material(analysis)),
    );
    if let Some(lived) = lived {
        input.insert("history".into(), json!(lived));
    }
    let task = AgentTask {
        agent: agent.name.clone(),
        step: "analyze".to_owned(),
        task: "explain".to_owned(),
        instructions: TASK.to_owned(),
        input,
    };
    let schema = analysis::contract();
    let request = ModelRequest {
        model: chosen.name.clone(),
        system: system_prompt(&agent.prompt, &[], session.pack.policy.vocabulary(), false),
        messages: vec![Message::User {
            text: task_message(&task, &schema),
        }],
        task_at: 0,
        task,
        tools: Vec::new(),
        output_schema: schema.clone(),
        shortened: vec![],
    };
    let answer = runtime::block_on(chosen.model.call(&request, &|_| {}))?.map_err(unavailable)?;
    let usage = &answer.usage;
    out.note(&format!(
        "{}: {} tokens in, {} out",
        chosen.name, usage.input_tokens, usage.output_tokens
    ));
    let text = session.gateway.clean_text(&answer.text);
    let contract =
        Contract::compile(&schema).map_err(|e| CliError::new(Exit::Internal, e.to_string()))?;
    // An answer in another form has no claim that could be kept.
    let read = contract.read(&text).map_err(|why| {
        let what = format!(
            "{} did not answer in the form that was asked for",
            chosen.name
        );
        CliError::new(Exit::Model, format!("{what}: {}", plain(&why.join("; "))))
    })?;
    if let Some(tape) = &session.tape {
        tape.finish(true)
            .map_err(|e| CliError::usage(e.to_string()))?;
    }
    Ok(analysis::kept(
        &read,
        &analysis.known,
        &agent.name,
        &chosen.name,
    ))
}
