//! Conversations that outlive a run. A session belongs to a pack, a tenant, a user and a conversation; it keeps the fields that
//! the pack's flow marks for a session, and the messages. Both are read at the start of a turn and written once at its end, by
//! compare-and-set and idempotent by run, so that a turn that was killed and resumed is written once.
//!
//! Where they are kept is SQLite or Postgres, by the same queries (`queries.rs`). One turn of a session is under way at a time,
//! over all processes: the lock goes with the process that holds it.
//!
//! Beside them, in a Postgres, stand the journals of runs, where a server has several replicas ([`PostgresJournals`]).
//!
//! A row of a file that came with a folder is not believed: rows carry marks of the user's key ([`marks`]).

pub mod error;
mod journals;
pub mod key;
pub mod marks;
pub mod n8n_history;
pub mod postgres;
mod pushes;
mod queries;
mod rates;
mod requests;
mod runs;
mod schema;
pub mod session;
pub mod sqlite;
mod synced;
mod tellers;
mod waiting;

use agentctl_base::BoxFuture;
use std::time::Duration;

pub use error::SessionError;
pub use journals::PostgresJournals;
pub use key::{Scope, SessionKey};
pub use marks::{Foreign, Marks};
pub use postgres::PostgresSessions;
pub use pushes::{Push, Pushes};
pub use requests::{Answered, Asked, Claimed, KEPT_FOR};
pub use runs::{RunOf, RunsOf, Tenants};
pub use schema::Schema;
pub use session::{Begun, Erased, Finish, Finished, Message, NewMessage, Role, Session, Summary};
pub use sqlite::SqliteSessions;
pub use tellers::{Take, Tellers};
pub use waiting::Turn;

/// So many turns of one session wait for the one that is under way; the next one is refused.
pub const MOST_WAITING: u32 = 8;

/// Where sessions are kept. Nothing is read or written without the whole key, except by [`Sessions::list`] with a scope.
pub trait Sessions: Pushes + Tellers + Send + Sync {
    /// The session's one turn, held until it is dropped; waits while another process or task has it.
    ///
    /// Errors: [`SessionError::Busy`] after `wait`; [`SessionError::Queue`] at once where [`MOST_WAITING`] wait already.
    fn turn<'a>(
        &'a self,
        key: &'a SessionKey,
        wait: Duration,
    ) -> BoxFuture<'a, Result<Turn, SessionError>>;

    /// Takes the session's turn from a process that is known to do nothing any more: it hangs, or cannot reach what the others share. True:
    /// somebody had it. What that process writes later is refused by the session's version.
    fn wrest<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool, SessionError>>;

    /// The session as it stands; of one that was never written, an empty one with version 0.
    fn load<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Session, SessionError>>;

    /// Its last `most` messages, oldest first.
    fn messages<'a>(
        &'a self,
        key: &'a SessionKey,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<Message>, SessionError>>;

    /// Notes that a turn's run has begun, so that a later turn finds it when this one is killed. Milliseconds since 1970.
    ///
    /// Errors: [`SessionError::Changed`] when the session is no longer as `read` says; [`SessionError::Foreign`].
    fn begin<'a>(
        &'a self,
        read: &'a Session,
        run: &'a str,
        now: i64,
    ) -> BoxFuture<'a, Result<Begun, SessionError>> {
        self.begin_for(read, run, None, now)
    }

    /// The same for a request that was claimed: the run is noted with it.
    fn begin_for<'a>(
        &'a self,
        read: &'a Session,
        run: &'a str,
        request: Option<&'a str>,
        now: i64,
    ) -> BoxFuture<'a, Result<Begun, SessionError>>;

    /// Writes what a turn leaves. The same run a second time changes nothing.
    ///
    /// Errors: [`SessionError::Changed`], [`SessionError::Foreign`].
    fn finish<'a>(
        &'a self,
        key: &'a SessionKey,
        turn: &'a Finish,
    ) -> BoxFuture<'a, Result<Finished, SessionError>>;

    /// Makes a foreign session the user's: every row of it gets the user's mark.
    fn adopt<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Session, SessionError>>;

    /// Erases the session: state, messages, and the list of its runs, which it gives back.
    fn erase<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Erased, SessionError>>;

    /// The sessions of a scope, the one that was used last first.
    fn list<'a>(
        &'a self,
        scope: &'a Scope,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<Summary>, SessionError>>;

    /// The conversation whose turn this run was. Whose it is, is for the asker to look at.
    fn of_run<'a>(
        &'a self,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<SessionKey>, SessionError>>;

    /// The runs of a pack's conversations, the one that was written last first.
    fn runs<'a>(
        &'a self,
        of: &'a RunsOf,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<RunOf>, SessionError>>;

    /// The conversation of this id. Whose it is, is for the asker to look at.
    fn of_id<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SessionKey>, SessionError>>;

    /// Notes a request before anything is done for it, or tells what became of it. `id`: a hash of who sent it and what the sender
    /// calls it; `body`: of what was asked. Those that are older than [`KEPT_FOR`] are forgotten.
    fn claim<'a>(
        &'a self,
        id: &'a str,
        body: &'a str,
        now: i64,
    ) -> BoxFuture<'a, Result<Claimed, SessionError>>;

    /// What is known of a request, by the id that it would be claimed with; None: none came.
    fn asked<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Asked>, SessionError>>;

    /// Notes the run that a claimed request goes on with, before it does: sent again, that is where it is looked for.
    fn goes_on_with<'a>(
        &'a self,
        request: &'a str,
        run: &'a str,
    ) -> BoxFuture<'a, Result<(), SessionError>>;

    /// Keeps what was answered to a claimed request.
    fn answered<'a>(
        &'a self,
        id: &'a str,
        answered: &'a Answered,
    ) -> BoxFuture<'a, Result<(), SessionError>>;

    /// Forgets a claimed request for which nothing was done.
    fn unclaim<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), SessionError>>;

    /// Takes one of the requests that a client may make in a minute, counted over all servers that share the store. Inner error: in so many
    /// seconds there is one again. A store on one machine counts nothing: its one server does that for itself.
    fn spend<'a>(
        &'a self,
        client: &'a str,
        per_minute: u32,
    ) -> BoxFuture<'a, Result<Result<(), u64>, SessionError>>;
}
