//! A task and its events as people read them, and the exit code that a task comes to.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::remote::Remote;
use agentctl_a2a::{Content, Message, Part, StreamResponse, Task, TaskState};
use agentctl_a2a_client::Reply;
use agentctl_base::shell;
use agentctl_base::untrusted;
use serde::Serialize;
use serde_json::{Value, json};

/// Tells events as they come.
pub struct Shown<'o> {
    out: &'o Output,
    /// The task that was named.
    task: Option<String>,
}

impl<'o> Shown<'o> {
    pub fn new(out: &'o Output) -> Shown<'o> {
        Shown { out, task: None }
    }

    pub fn event(&mut self, event: &StreamResponse) {
        let line = json!({"type": "event", "event": harmless(event)});
        // Nobody reads it any more: the task is waited for all the same, and the answer says so.
        let _gone = self.out.stream(&line);
        let (id, state, metadata) = match event {
            StreamResponse::Task(task) => (&task.id, task.status.state, None),
            StreamResponse::StatusUpdate(update) => (
                &update.task_id,
                update.status.state,
                update.metadata.as_ref(),
            ),
            _ => return,
        };
        if self.task.is_none() {
            self.task = Some(id.clone());
        }
        if self.out.verbose {
            let tool = metadata.and_then(|map| map.get("tool")?.as_str());
            let tool = tool.map(|tool| format!(", {}", plain(tool)));
            let tool = tool.unwrap_or_default();
            self.out
                .note(&format!("task {}: {}{tool}", plain(id), word(state)));
        }
    }

    /// An exchange that broke off says which task goes on without us.
    pub fn or_task(
        &self,
        ended: Result<Reply, CliError>,
        remote: &Remote,
    ) -> Result<Reply, CliError> {
        ended.map_err(|error| match &self.task {
            Some(task) => error.hint(format!(
                "agentctl a2a watch {} {}",
                shell::word(&remote.name),
                shell::word(task)
            )),
            None => error,
        })
    }
}

/// The state in a word.
pub fn word(state: TaskState) -> &'static str {
    match state {
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::InputRequired => "waits for an answer",
        TaskState::AuthRequired => "waits for an approval",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "cancelled",
        TaskState::Rejected => "rejected",
    }
}

fn exit(state: TaskState) -> Exit {
    match state {
        TaskState::Submitted | TaskState::Working | TaskState::Completed => Exit::Complete,
        TaskState::InputRequired | TaskState::AuthRequired => Exit::Waiting,
        TaskState::Failed | TaskState::Canceled => Exit::Failed,
        TaskState::Rejected => Exit::Refused,
    }
}

/// What the agent said, as JSON that steers nothing.
pub fn harmless(of: &impl Serialize) -> Value {
    untrusted::value(serde_json::to_value(of).unwrap_or_default())
}

/// `looked`: the command only looks, or only begins a task; how the task stands is no failure of it.
pub fn finish(remote: &Remote, reply: Reply, looked: bool, out: &Output) -> Result<Exit, CliError> {
    let task = match reply {
        Reply::Message(message) => {
            return out.answer(
                Exit::Complete,
                || said(&message),
                || json!({"agent": remote.name, "message": harmless(&message)}),
            );
        }
        Reply::Task(task) => task,
    };
    let state = task.status.state;
    let code = match looked {
        true => Exit::Complete,
        false => exit(state),
    };
    if out.is_text() {
        let (id, context) = (plain(&task.id), plain(&task.context_id));
        out.note(&format!("task {id} of {context}: {}", word(state)));
        match state {
            TaskState::InputRequired => out.note(&format!(
                "answer it: agentctl a2a send {} --task {} TEXT",
                shell::word(&remote.name),
                shell::word(&task.id)
            )),
            TaskState::AuthRequired => out.note(
                "no message approves it: whoever may approve there does, in a way of the agent's own",
            ),
            _ => {}
        }
    }
    out.answer(
        code,
        || text(&task),
        || json!({"agent": remote.name, "task": harmless(&*task)}),
    )
}

/// What a task gave, or what it waits for.
fn text(task: &Task) -> String {
    let mut text = String::new();
    let status = task.status.message.as_ref();
    if task.status.state != TaskState::Completed
        && let Some(message) = status
    {
        text.push_str(&said(message));
    }
    for artifact in &task.artifacts {
        for part in &artifact.parts {
            text.push_str(&line(part));
        }
    }
    match (text.is_empty(), status) {
        (true, Some(message)) => said(message),
        _ => text,
    }
}

fn said(message: &Message) -> String {
    message.parts.iter().map(line).collect()
}

fn line(part: &Part) -> String {
    let text = match &part.content {
        Content::Text(text) => untrusted::text(text).into_owned(),
        Content::Data(value) => format!("{:#}", untrusted::value(value.clone())),
        Content::Url(url) => format!("[a file at {}]", plain_long(url)),
        Content::Raw(bytes) => format!(
            "[a file {}, {} characters of base64]",
            plain(&part.filename),
            bytes.len()
        ),
    };
    format!("{}\n", text.trim_end())
}
