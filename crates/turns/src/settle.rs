//! Turns that did not come to their end: by a limit of time, or with the process that took them.

use super::{Host, TurnError, TurnReply, is_over, keep, options, own};
use agentctl_base::question::Outcome;
use agentctl_engine::run::{Observer, RunError, RunReport, Turn};
use agentctl_engine::store::{LedgerError, StoreError};
use agentctl_sessions::{Finish, Session, SessionError, SessionKey};
use serde_json::{Map, Value};

/// What became of a turn that an earlier process left without an end.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// The conversation has none, or its turn waits for an answer.
    Nothing,
    /// Another process takes a turn of the conversation now.
    UnderWay,
    /// It is at its end; whose reply it is was not there to be told.
    Ended(Box<TurnReply>),
}

/// Settles the conversation's turn that has no end: `finish` goes on with it, else it is cancelled, and what it did stays.
pub async fn settle(
    host: &Host<'_>,
    key: &SessionKey,
    finish: bool,
    observer: &mut dyn Observer,
) -> Result<Settled, TurnError> {
    let _held = match host.sessions.turn(key, host.wait).await {
        Ok(held) => held,
        Err(SessionError::Busy { .. } | SessionError::Queue) => return Ok(Settled::UnderWay),
        Err(e) => return Err(e.into()),
    };
    let session = own(host.sessions.load(key).await?)?;
    let Some(run) = session.open_run.clone() else {
        return Ok(Settled::Nothing);
    };
    let before = match host.reopen(&run, observer).await {
        Ok(Some(before)) => before,
        Ok(None) => return Ok(Settled::Nothing),
        Err(RunError::Store(StoreError::Ledger(LedgerError::Held { .. }))) => {
            return Ok(Settled::UnderWay);
        }
        Err(e) => return Err(e.into()),
    };
    if before.question().is_some() && !before.has_ended() {
        return Ok(Settled::Nothing);
    }
    let input = before.input().clone();
    let was_over = before.has_ended();
    let (report, left) = match finish || was_over {
        true => before.drive().await?,
        false => before.give_up("the server ended before the turn did")?,
    };
    match finish || was_over {
        true if is_over(&report) => {
            keep(host, key, session.version, &input, &report, &left).await?;
        }
        true => {}
        false => keep_nothing(host, &session, &report).await?,
    }
    let reply = TurnReply::of(host.pack, &session.id, &report, &left, &[]);
    Ok(Settled::Ended(Box::new(reply)))
}

/// Ends a turn that was interrupted. What it did stays and is told in the reply; the conversation is as it was before.
pub async fn stop(
    host: &Host<'_>,
    key: &SessionKey,
    run: &str,
    why: &str,
    observer: &mut dyn Observer,
) -> Result<Option<TurnReply>, TurnError> {
    let _held = host.sessions.turn(key, host.wait).await?;
    let session = own(host.sessions.load(key).await?)?;
    let Some(before) = host.reopen(run, observer).await? else {
        return Ok(None);
    };
    let (report, left) = before.give_up(why)?;
    if session.open_run.as_deref() == Some(run) {
        keep_nothing(host, &session, &report).await?;
    }
    let reply = TurnReply::of(host.pack, &session.id, &report, &left, &[]);
    Ok(Some(reply))
}

/// Takes back what a conversation waits for since its turn `after`: a turn of its own, which takes no step and is cancelled. What was
/// said stays, the fields begin anew. None: the conversation has gone on meanwhile, so nothing was done.
pub async fn withdraw(
    host: &Host<'_>,
    key: &SessionKey,
    after: &str,
    input: Map<String, Value>,
    why: &str,
    observer: &mut dyn Observer,
) -> Result<Option<RunReport>, TurnError> {
    let _held = host.sessions.turn(key, host.wait).await?;
    let session = own(host.sessions.load(key).await?)?;
    if session.open_run.is_some() || session.last_run.as_deref() != Some(after) {
        return Ok(None);
    }
    let given = options(host, &session, Map::new(), &[], input);
    let begun = Turn::begin(host.context(observer), given)?;
    let report = begun.conclude(Outcome::Cancelled, why)?;
    let finish = Finish {
        state: Map::new(),
        ..nothing_of(host, &session, &report)
    };
    host.sessions.finish(key, &finish).await?;
    Ok(Some(report))
}

/// The turn is no longer open; fields and messages stay as they were.
async fn keep_nothing(
    host: &Host<'_>,
    session: &Session,
    report: &RunReport,
) -> Result<(), SessionError> {
    let finish = nothing_of(host, session, report);
    host.sessions.finish(&session.key, &finish).await.map(drop)
}

fn nothing_of(host: &Host<'_>, session: &Session, report: &RunReport) -> Finish {
    Finish {
        run: Some(report.run_id.clone()),
        version: session.version,
        state: session.state.clone(),
        open_run: None,
        clear: false,
        add: Vec::new(),
        now: host.now(),
    }
}
