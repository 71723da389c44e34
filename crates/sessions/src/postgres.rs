//! Sessions in a Postgres, whose address the user gives by a variable of the environment.

use crate::queries::Store;
use crate::rates;
use crate::schema::Schema;
use crate::tellers;
use crate::waiting::{self, Held, Turn};
use crate::{
    Begun, Erased, Finish, Finished, MOST_WAITING, Marks, Message, Scope, Session, SessionError,
    SessionKey, Sessions, Summary,
};
use agentctl_base::BoxFuture;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, PgConnection, PgPool, Postgres};
use std::time::{Duration, Instant};

/// A store in a database.
pub struct PostgresSessions {
    pub(crate) store: Store<Postgres>,
    options: PgConnectOptions,
}

impl PostgresSessions {
    /// Connects, and makes the tables where there are none.
    ///
    /// Errors: [`SessionError::Unreachable`], which names host and database and never user or password;
    /// [`SessionError::Older`], [`SessionError::Newer`]; [`SessionError::NotOurs`].
    pub async fn open(url: &str) -> Result<PostgresSessions, SessionError> {
        PostgresSessions::open_as(url, Schema::Refused).await
    }

    /// The same, and what is done with tables of an older agentctl.
    pub async fn open_as(url: &str, schema: Schema) -> Result<PostgresSessions, SessionError> {
        let (options, place) = self::options(url)?;
        let pool = pool(options.clone());
        let store = Store {
            writers: pool.clone(),
            pool,
            marks: Marks::Trusted,
            place,
            begin: "BEGIN",
            synced: None,
        };
        store.migrate(schema).await?;
        let counted = (rates::MIGRATED, &rates::migrations());
        store.bring(counted, schema).await?;
        let telling = (tellers::MIGRATED, &tellers::migrations());
        store.bring(telling, schema).await?;
        Ok(PostgresSessions { store, options })
    }

    /// Advisory locks belong to a connection, which nobody else may use meanwhile: one of its own.
    async fn take(&self, key: &SessionKey, wait: Duration) -> Result<Turn, SessionError> {
        let until = Instant::now() + wait;
        let lock = lock_number(key);
        let connection = self.options.connect().await;
        let mut connection = connection.map_err(|e| self.store.unreachable(e))?;
        if self.held(&mut connection, lock, 0).await? {
            return Ok(Turn::new(Held::Connection(Box::new(connection))));
        }
        let mut waits = false;
        for place in 1..=MOST_WAITING {
            let place = i32::try_from(place).unwrap_or(i32::MAX);
            if self.held(&mut connection, lock, place).await? {
                waits = true;
                break;
            }
        }
        if !waits {
            return Err(SessionError::Queue);
        }
        for attempt in 0.. {
            if self.held(&mut connection, lock, 0).await? {
                // The place where it waited is free again; the turn itself stays this connection's.
                self.let_go(&mut connection, lock).await?;
                return Ok(Turn::new(Held::Connection(Box::new(connection))));
            }
            if Instant::now() >= until {
                break;
            }
            tokio::time::sleep(waiting::pause(attempt)).await;
        }
        Err(SessionError::Busy {
            seconds: wait.as_secs(),
        })
    }

    /// Ends the connection that has the session's turn.
    async fn end_holder(&self, key: &SessionKey) -> Result<bool, SessionError> {
        let ended: Vec<bool> = sqlx::query_scalar(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 \
             AND classid::bigint = $1 AND objid::bigint = 0 \
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        )
        .bind(i64::from(lock_number(key).cast_unsigned()))
        .fetch_all(&self.store.pool)
        .await
        .map_err(|e| self.store.unreachable(e))?;
        Ok(ended.contains(&true))
    }

    async fn take_one(
        &self,
        client: &str,
        per_minute: u32,
    ) -> Result<Result<(), u64>, SessionError> {
        let spent = rates::spend(&self.store.pool, client, per_minute).await;
        spent.map_err(|e| self.store.unreachable(e))
    }

    async fn held(
        &self,
        connection: &mut PgConnection,
        lock: i32,
        place: i32,
    ) -> Result<bool, SessionError> {
        let asked = sqlx::query_scalar("SELECT pg_try_advisory_lock($1, $2)")
            .bind(lock)
            .bind(place)
            .fetch_one(connection)
            .await;
        asked.map_err(|e| self.store.unreachable(e))
    }

    async fn let_go(&self, connection: &mut PgConnection, lock: i32) -> Result<(), SessionError> {
        let asked = sqlx::query(
            "SELECT pg_advisory_unlock(classid::int, objid::int) FROM pg_locks \
             WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND classid::bigint = $1 AND objid::bigint <> 0",
        )
        .bind(i64::from(lock.cast_unsigned()))
        .fetch_all(connection)
        .await;
        asked.map(drop).map_err(|e| self.store.unreachable(e))
    }
}

/// How a database is reached, and what messages call it. A connection that broke without a word is noticed by the database within half
/// a minute: what its process held there is then free.
pub(crate) fn options(url: &str) -> Result<(PgConnectOptions, String), SessionError> {
    let options: PgConnectOptions = url.parse().map_err(|_| SessionError::Unreachable {
        place: "the database".to_owned(),
        why: "its address is none of Postgres: postgres://user:password@host:5432/database"
            .to_owned(),
    })?;
    let place = format!(
        "postgres://{}:{}/{}",
        options.get_host(),
        options.get_port(),
        options.get_database().unwrap_or_default()
    );
    let alive = [
        ("tcp_keepalives_idle", "10"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "3"),
    ];
    Ok((options.application_name("agentctl").options(alive), place))
}

pub(crate) fn pool(options: PgConnectOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(8)
        .acquire_timeout(Duration::from_secs(5))
        .connect_lazy_with(options)
}

/// 32 bits of the key's hash. Two sessions with the same bits wait for each other, and are not mixed up.
fn lock_number(key: &SessionKey) -> i32 {
    let hash = Sha256::digest(key.id().as_bytes());
    let mut bytes = [0u8; 4];
    bytes
        .iter_mut()
        .zip(hash.iter())
        .for_each(|(to, from)| *to = *from);
    i32::from_be_bytes(bytes)
}

crate::queries::sessions_by_queries!(PostgresSessions);
crate::pushes::pushes_by_queries!(PostgresSessions);
