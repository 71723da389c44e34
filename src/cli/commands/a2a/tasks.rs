//! `agentctl a2a send`, `get`, `watch` and `cancel`.

use super::told::{Shown, finish};
use super::{Target, Time};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::remote::{self, Remote};
use crate::cli::{runtime, session};
use agentctl_a2a::{Configuration, Message, Part, Role, SendMessage, StreamResponse};
use agentctl_a2a_client::{Client, Error, Reply};
use clap::Args;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// Send a message, and wait until its task is at its end or waits for somebody
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl a2a send desk \"How long is the heating network of Norrfeld?\"\n  agentctl a2a send desk --task 20260102-030405-0123456789 yes\n\nExit code 0: completed, or begun with --no-wait; 1: failed; 4: it waits for an answer or an approval; 5: refused; 7: nobody answers."
)]
pub struct SendArgs {
    #[command(flatten)]
    target: Target,
    /// What to say (`-`: stdin)
    #[arg(value_name = "TEXT", required_unless_present = "data")]
    text: Option<String>,
    /// A JSON value that goes along, or alone
    #[arg(long, value_name = "JSON")]
    data: Option<String>,
    /// The task that the message answers
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// The conversation that the message belongs to
    #[arg(long, value_name = "CONTEXT")]
    context: Option<String>,
    /// The message's own id: the same again is the same message; default: a new one
    #[arg(long, value_name = "ID")]
    message_id: Option<String>,
    /// End as soon as the task has begun
    #[arg(long)]
    no_wait: bool,
    #[command(flatten)]
    time: Time,
}

impl SendArgs {
    fn message(&self) -> Result<SendMessage, CliError> {
        let text = match self.text.as_deref() {
            Some("-") => Some(session::read_stdin()?),
            other => other.map(str::to_owned),
        };
        let data = self.data.as_deref().map(|text| {
            serde_json::from_str::<Value>(text)
                .map_err(|e| CliError::usage(format!("--data is no JSON: {e}")))
        });
        let parts = text.map(Part::text).into_iter();
        let parts = parts.chain(data.transpose()?.map(Part::data)).collect();
        let id = self.message_id.clone();
        let id = id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let mut message = Message::new(id, Role::User, parts);
        message.task_id.clone_from(&self.task);
        message.context_id.clone_from(&self.context);
        Ok(SendMessage {
            message,
            configuration: None,
            tenant: None,
        })
    }
}

impl Time {
    fn until(&self) -> Instant {
        Instant::now() + Duration::from_secs(self.timeout)
    }
}

async fn connected(remote: &Remote) -> Result<Client, Error> {
    remote.agent.connect(remote.pin.as_ref()).await
}

/// What a command of one exchange ends with.
fn done<T>(work: impl Future<Output = Result<T, Error>>, name: &str) -> Result<T, CliError> {
    runtime::block_on(work)?.map_err(|e| remote::failed(&e, name))
}

pub fn send(root: &Path, args: &SendArgs, out: &Output) -> Result<Exit, CliError> {
    let mut message = args.message()?;
    let remote = args.target.find(root, out)?;
    let mut shown = Shown::new(out);
    if args.no_wait {
        message.configuration = Some(Configuration {
            return_immediately: Some(true),
            ..Configuration::default()
        });
        let work = async { connected(&remote).await?.send(&message).await };
        return finish(&remote, done(work, &remote.name)?, true, out);
    }
    let until = args.time.until();
    let work = async {
        let client = connected(&remote).await?;
        let mut told = |event: &StreamResponse| shown.event(event);
        client.converse(&message, until, &mut told).await
    };
    let ended = done(work, &remote.name);
    finish(&remote, shown.or_task(ended, &remote)?, false, out)
}

pub fn get(remote: &Remote, task: &str, out: &Output) -> Result<Exit, CliError> {
    let work = async { connected(remote).await?.get(task, None).await };
    let task = done(work, &remote.name)?;
    finish(remote, Reply::Task(Box::new(task)), true, out)
}

pub fn watch(remote: &Remote, task: &str, time: &Time, out: &Output) -> Result<Exit, CliError> {
    let mut shown = Shown::new(out);
    let until = time.until();
    let work = async {
        let client = connected(remote).await?;
        let mut told = |event: &StreamResponse| shown.event(event);
        client.watch(task, until, &mut told).await
    };
    let task = done(work, &remote.name)?;
    finish(remote, Reply::Task(Box::new(task)), false, out)
}

pub fn cancel(remote: &Remote, task: &str, out: &Output) -> Result<Exit, CliError> {
    let work = async { connected(remote).await?.cancel(task).await };
    let task = done(work, &remote.name)?;
    out.answer(
        Exit::Complete,
        || {
            let id = crate::cli::progress::plain(&task.id);
            format!("task {id}: {}\n", super::told::word(task.status.state))
        },
        || json!({"agent": remote.name, "task": super::told::harmless(&task)}),
    )
}
