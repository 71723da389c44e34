//! Which of the servers that share a store tells a receiver of a run's events: one at a time, so that nobody is told twice. It has the
//! receiver for some seconds and takes it anew before they are over; one that died has it no longer then, by the database's clock.

use crate::schema::migrator;
use crate::{PostgresSessions, SessionError, SqliteSessions};
use agentctl_base::BoxFuture;
use sqlx::migrate::Migrator;

/// The migrations that were made, by their numbers.
pub(crate) const MIGRATED: &str = "agentctl_tellers_migrations";

const TAKE: &str = "INSERT INTO agentctl_tellers AS t (push, teller, until) VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3)) \
     ON CONFLICT (push) DO UPDATE SET teller = $2, until = clock_timestamp() + make_interval(secs => $3) \
     WHERE $4 OR t.teller = $2 OR t.until < clock_timestamp() RETURNING true";
const LEAVE: &str = "DELETE FROM agentctl_tellers WHERE push = $1 AND teller = $2";
/// With what was left by those that died.
const LEAVE_ALL: &str = "DELETE FROM agentctl_tellers WHERE teller = $1 OR until < clock_timestamp() - interval '1 day'";
const ELSEWHERE: &str =
    "SELECT push FROM agentctl_tellers WHERE teller <> $1 AND until >= clock_timestamp()";

pub(crate) fn migrations() -> Migrator {
    let all = [("tellers", include_str!("../sql/tellers/0001_tellers.sql"))];
    migrator(MIGRATED, &all)
}

/// For whom a process takes a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Where nobody else has it.
    Free,
    /// From whoever has it: what is told has changed.
    Over,
}

/// Who tells what. `by`: a name that no other process has. A store on one machine has one server, which always may.
pub trait Tellers: Send + Sync {
    /// Takes a receiver for so many seconds from now, or keeps it. False: another process has it.
    fn take_push<'a>(
        &'a self,
        push: &'a str,
        by: &'a str,
        seconds: u32,
        take: Take,
    ) -> BoxFuture<'a, Result<bool, SessionError>>;

    /// Leaves a receiver to whoever wants it; None: all that the process has.
    fn leave_push<'a>(
        &'a self,
        push: Option<&'a str>,
        by: &'a str,
    ) -> BoxFuture<'a, Result<(), SessionError>>;

    /// The receivers that others have now.
    fn told_elsewhere<'a>(
        &'a self,
        by: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, SessionError>>;
}

impl Tellers for PostgresSessions {
    fn take_push<'a>(
        &'a self,
        push: &'a str,
        by: &'a str,
        seconds: u32,
        take: Take,
    ) -> BoxFuture<'a, Result<bool, SessionError>> {
        Box::pin(async move {
            let taken = sqlx::query_scalar::<_, bool>(TAKE).bind(push).bind(by);
            let taken = taken.bind(f64::from(seconds)).bind(take == Take::Over);
            let taken = taken.fetch_optional(&self.store.pool).await;
            Ok(taken.map_err(|e| self.store.unreachable(e))?.is_some())
        })
    }

    fn leave_push<'a>(
        &'a self,
        push: Option<&'a str>,
        by: &'a str,
    ) -> BoxFuture<'a, Result<(), SessionError>> {
        let left = match push {
            Some(push) => sqlx::query(LEAVE).bind(push).bind(by),
            None => sqlx::query(LEAVE_ALL).bind(by),
        };
        Box::pin(async move {
            let left = left.execute(&self.store.pool).await;
            left.map(drop).map_err(|e| self.store.unreachable(e))
        })
    }

    fn told_elsewhere<'a>(
        &'a self,
        by: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, SessionError>> {
        Box::pin(async move {
            let told = sqlx::query_scalar(ELSEWHERE).bind(by);
            let told = told.fetch_all(&self.store.pool).await;
            told.map_err(|e| self.store.unreachable(e))
        })
    }
}

impl Tellers for SqliteSessions {
    fn take_push<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: u32,
        _: Take,
    ) -> BoxFuture<'a, Result<bool, SessionError>> {
        Box::pin(std::future::ready(Ok(true)))
    }

    fn leave_push<'a>(
        &'a self,
        _: Option<&'a str>,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), SessionError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn told_elsewhere<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, SessionError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}
