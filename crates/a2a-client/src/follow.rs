//! A task until it rests: it is at its end, or waits for somebody. By its events where the agent streams, else by asking again;
//! what counts in the end is the task as the agent tells it when it is asked for it.

use crate::client::{Client, Reply};
use crate::error::Error;
use crate::events::Events;
use agentctl_a2a::{Configuration, Kind, SendMessage, StreamResponse, Task, TaskState};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// Waited before a task is asked for again, and twice as long each further time.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// A stream that breaks off is taken up so often; after that the task is asked for.
const TAKEN_UP: u32 = 3;

/// Takes what is told of a task as it goes.
pub type Told<'t> = &'t mut (dyn FnMut(&StreamResponse) + Send);

impl Client {
    /// Sends a message and waits until its task rests.
    ///
    /// # Errors
    /// As for [`Client::send`]; late when the task does not rest until then, and it is not cancelled by that.
    pub async fn converse(
        &self,
        message: &SendMessage,
        until: Instant,
        told: Told<'_>,
    ) -> Result<Reply, Error> {
        if self.streams {
            let events = within(until, self.stream(message)).await?;
            return self.follow(Some(events), None, until, told).await;
        }
        let mut at_once = message.clone();
        let configuration = at_once
            .configuration
            .get_or_insert_with(Configuration::default);
        configuration.return_immediately = Some(true);
        match within(until, self.send(&at_once)).await? {
            Reply::Task(task) => {
                told(&StreamResponse::Task(task.clone()));
                self.rest(*task, until).await.map(of_task)
            }
            message => Ok(message),
        }
    }

    /// Waits until a task rests that is under way already.
    ///
    /// # Errors
    /// As for [`Client::get`]; late when the task does not rest until then.
    pub async fn watch(&self, id: &str, until: Instant, told: Told<'_>) -> Result<Task, Error> {
        let task = within(until, self.get(id, None)).await?;
        if rests(task.status.state) {
            return Ok(task);
        }
        if !self.streams {
            return self.rest(task, until).await;
        }
        match self.follow(None, Some(task.id), until, told).await? {
            Reply::Task(task) => Ok(*task),
            Reply::Message(_) => Err(Error::Unreadable(
                "a task was watched, and a message came".to_owned(),
            )),
        }
    }

    /// Asks for a task again and again until it rests.
    ///
    /// # Errors
    /// As for [`Client::watch`].
    pub async fn rest(&self, mut task: Task, until: Instant) -> Result<Task, Error> {
        let mut wait = FIRST_WAIT;
        while !rests(task.status.state) {
            if Instant::now() + wait > until {
                return Err(late());
            }
            sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
            task = self.stands(&task.id, until).await?;
        }
        Ok(task)
    }

    /// A task as it stands. Asking changes nothing: where no answer comes, it is asked again.
    async fn stands(&self, id: &str, until: Instant) -> Result<Task, Error> {
        let mut wait = FIRST_WAIT;
        loop {
            match within(until, self.get(id, None)).await {
                Err(error) if is_passing(&error) && Instant::now() + wait <= until => {
                    sleep(wait).await;
                    wait = LONGEST_WAIT.min(wait * 2);
                }
                done => return done,
            }
        }
    }

    async fn follow(
        &self,
        mut events: Option<Events>,
        mut id: Option<String>,
        until: Instant,
        told: Told<'_>,
    ) -> Result<Reply, Error> {
        let mut taken_up = 0;
        let mut wait = FIRST_WAIT;
        loop {
            let next = match &mut events {
                Some(events) => within(until, events.next()).await,
                None => Ok(None),
            };
            match next {
                Ok(Some(StreamResponse::Message(message))) => {
                    return Ok(Reply::Message(Box::new(message)));
                }
                Ok(Some(event)) => {
                    let (task, state) = match &event {
                        StreamResponse::Task(task) => (&task.id, Some(task.status.state)),
                        StreamResponse::StatusUpdate(update) => {
                            (&update.task_id, Some(update.status.state))
                        }
                        StreamResponse::ArtifactUpdate(update) => (&update.task_id, None),
                        StreamResponse::Message(_) => continue,
                    };
                    let known = id.get_or_insert_with(|| task.clone());
                    if known != task {
                        return Err(Error::Unreadable(
                            "the stream tells of another task".to_owned(),
                        ));
                    }
                    told(&event);
                    if state.is_some_and(rests) {
                        let task = self.stands(known, until).await?;
                        return self.rest(task, until).await.map(of_task);
                    }
                }
                Err(error @ (Error::Unreadable(_) | Error::Fault(_))) => return Err(error),
                Err(Error::Lost { why, late: true }) if Instant::now() >= until => {
                    return Err(Error::Lost { why, late: true });
                }
                Ok(None) | Err(_) => {
                    let Some(id) = &id else {
                        return Err(Error::Lost {
                            why: "the stream ended before it named a task".to_owned(),
                            late: false,
                        });
                    };
                    let task = self.stands(id, until).await?;
                    if rests(task.status.state) {
                        return Ok(of_task(task));
                    }
                    // Nobody is made busy by an agent that closes each of its streams.
                    if taken_up == TAKEN_UP {
                        return self.rest(task, until).await.map(of_task);
                    }
                    if taken_up > 0 {
                        within(until, async {
                            sleep(wait).await;
                            Ok(())
                        })
                        .await?;
                        wait *= 2;
                    }
                    taken_up += 1;
                    events = match within(until, self.subscribe(id)).await {
                        Ok(events) => Some(events),
                        // It came to its end meanwhile, or cannot be subscribed to: it is asked for.
                        Err(Error::Fault(fault)) if fault.kind == Kind::UnsupportedOperation => {
                            return self.rest(task, until).await.map(of_task);
                        }
                        Err(error) if is_passing(&error) => None,
                        Err(error) => return Err(error),
                    };
                }
            }
        }
    }
}

fn of_task(task: Task) -> Reply {
    Reply::Task(Box::new(task))
}

fn rests(state: TaskState) -> bool {
    state.is_terminal() || state.is_interrupted()
}

/// Whether a question that changes nothing may be answered when it is asked again.
fn is_passing(error: &Error) -> bool {
    error.may_pass() || matches!(error, Error::Lost { .. })
}

fn late() -> Error {
    Error::Lost {
        why: "the task did not come to its end in time".to_owned(),
        late: true,
    }
}

async fn within<T>(
    until: Instant,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::select! {
        biased;
        done = work => done,
        () = sleep_until(until) => Err(late()),
    }
}
