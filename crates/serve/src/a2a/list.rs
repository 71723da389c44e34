//! `ListTasks`: the client's own tasks of an agent, those that were written last first, page by page.

use super::refused::Refused;
use super::task::{self, Seen};
use crate::ask::Ask;
use crate::clients::May;
use crate::problem::Problem;
use crate::runs::Found;
use crate::server::{ServedPack, Server};
use agentctl_a2a::{Fault, ListTasks, Task, TaskList, TaskState};
use agentctl_sessions::{RunOf, RunsOf};
use jiff::Timestamp;
use std::collections::HashSet;
use std::sync::Arc;

const PAGE: i64 = 50;
const MOST: i64 = 100;
/// So many rows are read at once.
const ROWS: u32 = 500;
/// So many of the newest tasks are looked at for a state or a time, which their journals alone tell.
const LOOKED_AT: usize = 1000;

/// Which tasks are wanted, beside whose.
struct Wanted {
    size: usize,
    status: Option<TaskState>,
    since: Option<Timestamp>,
    history: Option<usize>,
    artifacts: bool,
}

impl Wanted {
    fn of(request: &ListTasks) -> Result<Wanted, Fault> {
        let size = request.page_size.unwrap_or(PAGE);
        if !(1..=MOST).contains(&size) {
            return Err(Fault::field(
                "pageSize",
                format!("is 1 to {MOST}, not {size}"),
            ));
        }
        let since = request.status_timestamp_after.as_ref();
        let since = since.map(|text| text.parse()).transpose();
        Ok(Wanted {
            size: usize::try_from(size).unwrap_or(1),
            status: request.status,
            since: since.map_err(|_| {
                Fault::field(
                    "statusTimestampAfter",
                    "is a time like 2026-01-31T12:00:00Z",
                )
            })?,
            history: task::history_length(request.history_length)?,
            artifacts: request.include_artifacts == Some(true),
        })
    }

    fn filters(&self) -> bool {
        self.status.is_some() || self.since.is_some()
    }

    fn takes(&self, task: &Task) -> bool {
        let at = task.status.timestamp.parse::<Timestamp>().ok();
        self.status.is_none_or(|status| task.status.state == status)
            && self
                .since
                .is_none_or(|since| at.is_some_and(|at| at >= since))
    }

    fn shown(&self, mut seen: Seen) -> Task {
        seen.keep_history(self.history);
        if !self.artifacts {
            seen.task.artifacts.clear();
        }
        seen.task
    }
}

pub async fn list(
    server: &Server,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    request: &ListTasks,
) -> Result<TaskList, Refused> {
    ask.may(May::Read)?;
    let wanted = Wanted::of(request)?;
    let token = request.page_token.as_deref().filter(|t| !t.is_empty());
    let after = token.map(position).transpose()?;
    let rows = rows(server, ask, pack, request.context_id.as_deref()).await?;
    let (mut total, mut tasks, mut next) = (0, Vec::new(), None);
    let mut looked_at = 0;
    // Of a pack that waits for messages several turns may be one task: the last of them tells how it stands.
    let mut seen_before: HashSet<String> = HashSet::new();
    let many = pack.pack.manifest.channels.a2a.may_wait();
    for row in rows {
        let is_after = after.as_ref().is_none_or(|after| is_behind(&row, after));
        let reads = many || wanted.filters() || (is_after && tasks.len() < wanted.size);
        let seen = match reads && looked_at < LOOKED_AT {
            true => {
                looked_at += 1;
                // What cannot be read any more is no task.
                match task::look(server, &found(pack, &row)).await {
                    Ok(seen) if many && !seen_before.insert(seen.task.id.clone()) => continue,
                    Ok(seen) if wanted.takes(&seen.task) => Some(seen),
                    _ => continue,
                }
            }
            false if many || wanted.filters() => break,
            false => None,
        };
        total += 1;
        match seen.filter(|_| is_after) {
            Some(seen) if tasks.len() < wanted.size => {
                tasks.push((row, wanted.shown(seen)));
            }
            _ if is_after && next.is_none() => next = tasks.last().map(|(row, _)| token_of(row)),
            _ => {}
        }
    }
    let mut tasks: Vec<Task> = tasks.into_iter().map(|(_, task)| task).collect();
    // Two that were written in the same moment stand as their states came.
    tasks.sort_by(|a, b| b.status.timestamp.cmp(&a.status.timestamp));
    Ok(TaskList {
        page_size: i64::try_from(tasks.len()).unwrap_or(MOST),
        tasks,
        next_page_token: next.unwrap_or_default(),
        total_size: total,
    })
}

fn found(pack: &Arc<ServedPack>, row: &RunOf) -> Found {
    Found {
        run: row.run.clone(),
        key: row.key.clone(),
        pack: Arc::clone(pack),
    }
}

/// The client's own runs of the pack, those that were written last first.
async fn rows(
    server: &Server,
    ask: &Ask,
    pack: &ServedPack,
    context: Option<&str>,
) -> Result<Vec<RunOf>, Refused> {
    let mut of = RunsOf {
        pack: pack.pack.manifest.name.clone(),
        tenants: ask.client.sees(),
        conversation: context.filter(|c| !c.is_empty()).map(str::to_owned),
        after: None,
    };
    let mut all = Vec::new();
    loop {
        let rows = server.sessions.runs(&of, ROWS).await;
        let rows = rows.map_err(Problem::from)?;
        let Some(last) = rows.last() else {
            return Ok(all);
        };
        of.after = Some((last.at, last.run.clone()));
        all.extend(
            rows.into_iter()
                .filter(|row| ask.client.owns(&row.key.tenant)),
        );
    }
}

fn is_behind(row: &RunOf, (at, run): &(i64, String)) -> bool {
    (row.at, &row.run) < (*at, run)
}

fn token_of(row: &RunOf) -> String {
    format!("{}.{}", row.at, row.run)
}

fn position(token: &str) -> Result<(i64, String), Fault> {
    let parts = token.split_once('.');
    let position = parts.and_then(|(at, run)| Some((at.parse().ok()?, run.to_owned())));
    position.ok_or_else(|| Fault::field("pageToken", "is none that this server gave"))
}
