//! A task that goes on for several turns: of a pack that says when it waits for the next message (`channels.a2a.waits`), such a message is
//! a turn of its own in the conversation, and still the same task. Which run goes on with which stands in its journal; nothing is kept besides.

use super::task::{self, Seen};
use crate::problem::{Problem, of_store};
use crate::runs::Found;
use crate::server::{ServedPack, Server};
use agentctl_engine::run::Cancel;
use agentctl_engine::store::Event;
use agentctl_sessions::{RunOf, RunsOf, SessionKey};
use agentctl_turns as turns;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// What a turn's input says of the task that it goes on with.
pub const GOES_ON: &str = "goes_on";
/// So many turns of a conversation are looked at.
const TURNS: u32 = 200;

/// The task that a run goes on with, and the run before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoesOn {
    pub task: String,
    pub after: String,
}

impl GoesOn {
    pub fn of(input: &Map<String, Value>) -> Option<GoesOn> {
        let said = input.get(GOES_ON)?;
        let of = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(GoesOn {
            task: of("task")?,
            after: of("after")?,
        })
    }

    pub fn told(&self) -> Value {
        json!({"task": self.task, "after": self.after})
    }
}

/// The run that goes on with this task last.
pub async fn last(server: &Server, found: Found) -> Result<Found, Problem> {
    let latest = latest(server, &found, &found.run).await?;
    Ok(latest.unwrap_or(found))
}

/// The last run of a task after this one; None: there is none.
async fn latest(server: &Server, found: &Found, task: &str) -> Result<Option<Found>, Problem> {
    for row in after(server, found).await? {
        let later = Found {
            run: row.run,
            ..found.clone()
        };
        if of_run(&later)?.is_some_and(|goes_on| goes_on.task == task) {
            return Ok(Some(later));
        }
    }
    Ok(None)
}

/// The run that a task goes on with, where a message came since this one was to wait for it; None: none of the task's did.
pub async fn later(server: &Server, found: &Found, seen: &Seen) -> Result<Option<Found>, Problem> {
    match seen.is_overtaken {
        true => latest(server, found, &seen.task.id).await,
        false => Ok(None),
    }
}

/// A task as it stands now. A message that comes between finding its last run and looking at that one is a turn of it, too.
pub async fn now(server: &Server, mut found: Found) -> Result<(Found, Seen), Problem> {
    loop {
        let seen = task::look(server, &found).await?;
        match later(server, &found, &seen).await? {
            Some(later) => found = later,
            None => return Ok((found, seen)),
        }
    }
}

/// The turns of its conversation that came after a run, the last one first.
async fn after(server: &Server, found: &Found) -> Result<Vec<RunOf>, Problem> {
    let of = RunsOf {
        pack: found.key.pack.clone(),
        tenants: agentctl_sessions::Tenants::All,
        conversation: Some(found.key.conversation.clone()),
        after: None,
    };
    let rows = server.sessions.runs(&of, TURNS).await?;
    let own = rows.into_iter().filter(|row| row.key == found.key);
    Ok(own.take_while(|row| row.run != found.run).collect())
}

/// What a run goes on with; None: it begins a task.
pub fn of_run(found: &Found) -> Result<Option<GoesOn>, Problem> {
    let first = found.pack.project.first_record(&found.run);
    let first = first.map_err(|e| of_store(&e))?;
    Ok(match first.map(|record| record.event) {
        Some(Event::RunStarted { input, .. }) => GoesOn::of(&input),
        _ => None,
    })
}

/// What a message for this conversation goes on with: its last turn's task, where that waits for a message.
pub async fn waiting(
    server: &Server,
    pack: &Arc<ServedPack>,
    key: &SessionKey,
) -> Result<Option<GoesOn>, Problem> {
    if !pack.pack.manifest.channels.a2a.may_wait() {
        return Ok(None);
    }
    let session = server.sessions.load(key).await?;
    let Some(run) = session.last_run.filter(|_| session.open_run.is_none()) else {
        return Ok(None);
    };
    let found = Found {
        run,
        key: key.clone(),
        pack: Arc::clone(pack),
    };
    let seen = task::look(server, &found).await?;
    Ok(going_on(&found, &seen))
}

/// Cancels a task that waits for a message: a turn of its conversation that goes on with it, takes no step and is cancelled.
pub async fn withdraw(
    server: &Server,
    found: &Found,
    seen: &Seen,
    why: &str,
) -> Result<(), Problem> {
    let Some(goes_on) = going_on(found, seen) else {
        return Ok(());
    };
    let input = Map::from_iter([(GOES_ON.to_owned(), goes_on.told())]);
    let fresh = Cancel::default();
    let host = server.host(&found.pack, &fresh);
    let mut watch = server.watching(&fresh, &found.key);
    let done = turns::withdraw(&host, &found.key, &found.run, input, why, &mut watch).await;
    Ok(done.map(drop)?)
}

/// What the next message of a task goes on with; None: it waits for none.
pub fn going_on(found: &Found, seen: &Seen) -> Option<GoesOn> {
    seen.waits_for_a_message.then(|| GoesOn {
        task: seen.task.id.clone(),
        after: found.run.clone(),
    })
}
