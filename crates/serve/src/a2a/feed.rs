//! What of a journal is told of a task as it goes: the same to a stream and to those that are pushed to.

use super::chain::{self, GoesOn};
use super::task::{self, REPLY, Seen};
use crate::problem::Problem;
use crate::runs::Found;
use crate::server::Server;
use agentctl_a2a::{Artifact, ArtifactUpdate, Status, StatusUpdate, StreamResponse, TaskState};
use agentctl_engine::run::Reply;
use agentctl_engine::store::{Event, Record};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub struct Feed {
    server: Arc<Server>,
    found: Found,
    /// The id of the task; another one than the run's where it goes on with one.
    task: String,
    /// As it was told last.
    state: TaskState,
    /// Messages that were told.
    said: usize,
    /// The record that was read last.
    read_to: u64,
    /// The record after which it may be at its end, or wait.
    rests: Option<u64>,
}

/// How a task stands when all that was read is told.
pub enum Standing {
    /// It goes on.
    Goes,
    /// Its journal has more by now.
    More,
    /// It is at its end, or waits for somebody.
    Rests(Box<Seen>),
    /// It waited for a message that has come, so it goes on with this run: how the one before left it is not told any more.
    WentOn(Box<Found>),
}

impl Feed {
    /// From the first record on.
    pub fn new(server: &Arc<Server>, found: Found) -> Feed {
        Feed {
            server: Arc::clone(server),
            task: found.run.clone(),
            found,
            state: TaskState::Submitted,
            said: 0,
            read_to: 0,
            rests: None,
        }
    }

    /// From where a task was seen on.
    pub fn after(server: &Arc<Server>, found: Found, seen: &Seen) -> Feed {
        Feed {
            task: seen.task.id.clone(),
            state: seen.task.status.state,
            said: seen.said,
            read_to: seen.last,
            ..Feed::new(server, found)
        }
    }

    pub fn read_to(&self) -> u64 {
        self.read_to
    }

    /// What the next record tells.
    pub async fn record(&mut self, record: &Record) -> Result<Option<StreamResponse>, Problem> {
        self.read_to = record.seq;
        if matches!(record.event, Event::ActivationStarted { .. }) {
            self.rests = None;
        }
        if let Event::RunStarted { input, .. } = &record.event
            && let Some(goes_on) = GoesOn::of(input)
        {
            self.task = goes_on.task;
        }
        Ok(match &record.event {
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
                let (found, said) = (&self.found, std::slice::from_ref(&reply));
                let attached = self.server.attached_to(&found.pack, &found.key, said);
                let attached = attached.await?;
                Some(self.artifact(task::chunk(&reply, &attached), append))
            }
            Event::ActivationStarted { .. }
            | Event::StepStarted { .. }
            | Event::FlowDecided { .. }
                if self.state != TaskState::Working =>
            {
                Some(self.works(record, None))
            }
            Event::ToolIntent { call, .. } => Some(self.works(record, Some(&call.name))),
            Event::RunEnded { .. } | Event::ActivationEnded { .. } => {
                self.rests = Some(record.seq);
                None
            }
            _ => None,
        })
    }

    /// Asked when all that was read is told; `told`: up to this record how it stands was told before.
    pub async fn standing(&mut self, told: u64) -> Result<Standing, Problem> {
        if self.rests.is_none_or(|at| at <= told) {
            return Ok(Standing::Goes);
        }
        let seen = task::look(&self.server, &self.found).await?;
        if seen.last > self.read_to {
            return Ok(Standing::More);
        }
        if let Some(later) = chain::later(&self.server, &self.found, &seen).await? {
            return Ok(Standing::WentOn(Box::new(later)));
        }
        let state = seen.task.status.state;
        match state.is_terminal() || state.is_interrupted() {
            true => Ok(Standing::Rests(Box::new(seen))),
            false => Ok(Standing::Goes),
        }
    }

    /// What it gave and how it stands.
    pub fn rests(&mut self, seen: Seen) -> Vec<StreamResponse> {
        self.state = seen.task.status.state;
        let given = seen.task.artifacts.into_iter();
        let given = given.filter(|artifact| artifact.artifact_id != REPLY);
        let mut events: Vec<StreamResponse> = given.map(|a| self.artifact(a, false)).collect();
        events.push(self.status(seen.task.status, None));
        events
    }

    /// It is worked on; `tool`: with this one.
    fn works(&mut self, record: &Record, tool: Option<&str>) -> StreamResponse {
        self.state = TaskState::Working;
        let metadata = tool.map(|tool| Map::from_iter([("tool".to_owned(), json!(tool))]));
        let status = Status {
            state: TaskState::Working,
            message: None,
            timestamp: record.at.clone(),
        };
        self.status(status, metadata)
    }

    fn artifact(&self, artifact: Artifact, append: bool) -> StreamResponse {
        let last_chunk = artifact.artifact_id != REPLY;
        StreamResponse::ArtifactUpdate(ArtifactUpdate {
            task_id: self.task.clone(),
            context_id: self.found.key.conversation.clone(),
            artifact,
            append,
            last_chunk,
        })
    }

    fn status(&self, status: Status, metadata: Option<Map<String, Value>>) -> StreamResponse {
        StreamResponse::StatusUpdate(StatusUpdate {
            task_id: self.task.clone(),
            context_id: self.found.key.conversation.clone(),
            status,
            metadata,
        })
    }
}
