//! A task's events as they come: first the task, then what the journal gets, in its order, to each reader the same. A stream closes
//! when the task is at its end or waits for somebody.

use super::task::{self, REPLY, Seen};
use crate::answer::{Answer, Events};
use crate::files::places;
use crate::router::named;
use crate::runs::Found;
use crate::server::Server;
use agentctl_a2a::{ArtifactUpdate, Status, StatusUpdate, StreamResponse, TaskState};
use agentctl_engine::run::Reply;
use agentctl_engine::store::{Event, Record, Tail};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// So long nothing comes before a connection is shown to be alive, and the journal is looked at again.
const QUIET: Duration = Duration::from_secs(15);

/// How a binding writes an event.
pub type Wrap = Box<dyn Fn(Value) -> Value + Send + Sync>;

/// `waits`: a task that waits for somebody is told on when it goes on; else the stream ends with it.
pub fn open(server: &Arc<Server>, found: Found, seen: Seen, waits: bool, wrap: Wrap) -> Answer {
    let (events, answer) = Events::answer();
    let answer = named(answer, Some(&found.run), Some(&found.key.id()));
    let teller = Teller {
        server: Arc::clone(server),
        found,
        events,
        wrap,
        state: seen.task.status.state,
        said: seen.said,
    };
    tokio::spawn(teller.tell(seen, waits));
    answer
}

struct Teller {
    server: Arc<Server>,
    found: Found,
    events: Events,
    wrap: Wrap,
    /// As it was told last.
    state: TaskState,
    /// Messages that were told.
    said: usize,
}

/// A stream is over: its reader has gone, or there is nothing more to tell.
struct Over;

impl Teller {
    async fn tell(mut self, seen: Seen, waits: bool) {
        let last = seen.last;
        let first = StreamResponse::Task(Box::new(seen.task));
        let told = self.send(&first).await;
        let stays = !self.state.is_terminal() && (waits || !self.state.is_interrupted());
        let Ok(paths) = self.found.pack.project.run(&self.found.run) else {
            return;
        };
        if told.is_err() || !stays {
            return;
        }
        let mut tail = Tail::new(&paths.journal());
        loop {
            // Asked for before the journal is read, so that nothing comes in between unseen.
            let live = self.server.live.of(&self.found.run);
            let mut begun = self.server.live.begun();
            begun.mark_unchanged();
            let (records, read) = tail.more();
            for record in records.iter().filter(|record| record.seq > last) {
                if self.record(record).await.is_err() {
                    return;
                }
            }
            if read.is_err() {
                return;
            }
            let more = async {
                match live {
                    Some(mut live) => drop(live.changed().await),
                    None => drop(begun.changed().await),
                }
            };
            tokio::select! {
                () = more => {}
                () = self.events.gone() => return,
                () = tokio::time::sleep(QUIET) => {
                    if !self.events.heartbeat().await {
                        return;
                    }
                }
            }
        }
    }

    async fn record(&mut self, record: &Record) -> Result<(), Over> {
        match &record.event {
            Event::Said {
                text,
                data,
                attachment,
                ..
            } => {
                let reply = Reply {
                    text: text.clone(),
                    data: data.clone(),
                    attachment: attachment.clone(),
                };
                let append = self.said > 0;
                self.said += 1;
                let attached = places(std::slice::from_ref(&reply));
                let found = &self.found;
                let attached = self.server.attached(&found.pack, &found.key, &attached);
                let attached = attached.await.map_err(|_| Over)?;
                self.artifact(task::chunk(&reply, &attached), append).await
            }
            Event::ActivationStarted { .. }
            | Event::StepStarted { .. }
            | Event::FlowDecided { .. }
                if self.state != TaskState::Working =>
            {
                self.works(record, None).await
            }
            Event::ToolIntent { call, .. } => self.works(record, Some(&call.name)).await,
            Event::RunEnded { .. } | Event::ActivationEnded { .. } => self.stands().await,
            _ => Ok(()),
        }
    }

    /// It is worked on; `tool`: with this one.
    async fn works(&mut self, record: &Record, tool: Option<&str>) -> Result<(), Over> {
        self.state = TaskState::Working;
        let metadata = tool.map(|tool| Map::from_iter([("tool".to_owned(), json!(tool))]));
        let status = Status {
            state: TaskState::Working,
            message: None,
            timestamp: record.at.clone(),
        };
        self.status(status, metadata).await
    }

    /// It may be at its end, or wait: then what it gave and how it stands are told, and nothing after that.
    async fn stands(&mut self) -> Result<(), Over> {
        let Ok(seen) = task::look(&self.server, &self.found).await else {
            return Err(Over);
        };
        let state = seen.task.status.state;
        if !state.is_terminal() && !state.is_interrupted() {
            return Ok(());
        }
        let given = seen.task.artifacts.into_iter();
        for artifact in given.filter(|artifact| artifact.artifact_id != REPLY) {
            self.artifact(artifact, false).await?;
        }
        self.status(seen.task.status, None).await?;
        Err(Over)
    }

    async fn artifact(&self, artifact: agentctl_a2a::Artifact, append: bool) -> Result<(), Over> {
        let last_chunk = artifact.artifact_id != REPLY;
        let update = StreamResponse::ArtifactUpdate(ArtifactUpdate {
            task_id: self.found.run.clone(),
            context_id: self.found.key.conversation.clone(),
            artifact,
            append,
            last_chunk,
        });
        self.send(&update).await
    }

    async fn status(
        &self,
        status: Status,
        metadata: Option<Map<String, Value>>,
    ) -> Result<(), Over> {
        let update = StreamResponse::StatusUpdate(StatusUpdate {
            task_id: self.found.run.clone(),
            context_id: self.found.key.conversation.clone(),
            status,
            metadata,
        });
        self.send(&update).await
    }

    async fn send(&self, event: &StreamResponse) -> Result<(), Over> {
        let Ok(value) = serde_json::to_value(event) else {
            return Err(Over);
        };
        let text = (self.wrap)(value).to_string();
        match self.events.send(None, None, &text).await {
            true => Ok(()),
            false => Err(Over),
        }
    }
}
