//! Sessions in a file of the project, `memory/agentctl.db`.

use crate::queries::Store;
use crate::schema::Schema;
use crate::synced::Synced;
use crate::waiting::{self, Held, Turn};
use crate::{
    Begun, Erased, Finish, Finished, MOST_WAITING, Marks, Message, Scope, Session, SessionError,
    SessionKey, Sessions, Summary,
};
use agentctl_base::BoxFuture;
use agentctl_host::files;
use fs2::FileExt as _;
use sqlx::Sqlite;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// So long may another process take to make or look at the tables.
const OPENING: Duration = Duration::from_secs(10);

/// Connections of one process that read.
const READERS: u32 = 4;
/// So long does a write of this process wait for those before it. Longer than a turn lasts, so that what ends a wait is the turn's limit.
const IN_LINE: Duration = Duration::from_secs(120);

/// A store in one file. Durable when a call returns: with `synchronous = NORMAL` the database is whole after a power loss, and what was
/// committed is synced by [`Synced`], together with what others committed meanwhile.
pub struct SqliteSessions {
    store: Store<Sqlite>,
    /// Where the turns' locks are.
    locks: PathBuf,
}

impl SqliteSessions {
    /// Opens the store in `memory`, or makes it. `marks` are those of the user and the project.
    ///
    /// Errors: [`SessionError::Newer`]; [`SessionError::NotOurs`] for a file with tables, triggers or views that agentctl did not
    /// make, a link, or what is no SQLite file; [`SessionError::Unreachable`]; [`SessionError::File`].
    pub async fn open(memory: &Path, marks: Marks) -> Result<SqliteSessions, SessionError> {
        let path = memory.join("agentctl.db");
        let locks = memory.join("sessions");
        files::create_dir(&locks).map_err(|e| file_error(&locks, &e))?;
        regular(&path)?;
        // Two processes that make the tables at once: the second waits.
        let making = lock_file(&locks.join("open.lock"))?;
        if !wait_for(&making, &locks, OPENING).await? {
            return Err(SessionError::Unreachable {
                place: path.display().to_string(),
                why: format!(
                    "another process has been opening it for {} s",
                    OPENING.as_secs()
                ),
            });
        }
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(Duration::from_secs(10))
            .pragma("trusted_schema", "OFF")
            .pragma("cell_size_check", "ON");
        let pool = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_lazy_with(options.clone());
        // SQLite lets one write at a time, and has the others look again and again, each with a connection that nobody else gets
        // meanwhile. In one process they stand in line instead: first come, first served.
        let writers = SqlitePoolOptions::new()
            .max_connections(1)
            .acquire_timeout(IN_LINE)
            .connect_lazy_with(options);
        let store = Store {
            pool,
            writers,
            marks,
            place: path.display().to_string(),
            begin: "BEGIN IMMEDIATE",
            synced: Some(Synced::new(&path)),
        };
        only_tables(&store).await?;
        // Of one folder's own agentctl; no other works with it.
        store.migrate(Schema::Migrated).await?;
        Ok(SqliteSessions { store, locks })
    }

    /// A lock of this machine goes with its process; from one that lives nothing is taken.
    async fn end_holder(&self, _: &SessionKey) -> Result<bool, SessionError> {
        Ok(false)
    }

    async fn take_one(&self, _: &str, _: u32) -> Result<Result<(), u64>, SessionError> {
        Ok(Ok(()))
    }

    async fn take(&self, key: &SessionKey, wait: Duration) -> Result<Turn, SessionError> {
        let id = key.id();
        let turn = lock_file(&self.locks.join(format!("{id}.lock")))?;
        if held(&turn, &self.locks)? {
            return Ok(Turn::new(Held::File(turn)));
        }
        let mut place = None;
        for n in 1..=MOST_WAITING {
            let file = lock_file(&self.locks.join(format!("{id}.wait{n}")))?;
            if held(&file, &self.locks)? {
                place = Some(file);
                break;
            }
        }
        let Some(_place) = place else {
            return Err(SessionError::Queue);
        };
        match wait_for(&turn, &self.locks, wait).await? {
            true => Ok(Turn::new(Held::File(turn))),
            false => Err(SessionError::Busy {
                seconds: wait.as_secs(),
            }),
        }
    }
}

/// Whether the lock was had within this time.
async fn wait_for(file: &File, locks: &Path, wait: Duration) -> Result<bool, SessionError> {
    let until = Instant::now() + wait;
    for attempt in 0.. {
        if held(file, locks)? {
            return Ok(true);
        }
        if Instant::now() >= until {
            break;
        }
        tokio::time::sleep(waiting::pause(attempt)).await;
    }
    Ok(false)
}

fn held(file: &File, locks: &Path) -> Result<bool, SessionError> {
    match file.try_lock_exclusive() {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == fs2::lock_contended_error().kind() => Ok(false),
        Err(e) => Err(file_error(locks, &e)),
    }
}

/// A file that came with a folder may run statements of its own at each of ours: by triggers, and by views in a table's place.
async fn only_tables(store: &Store<Sqlite>) -> Result<(), SessionError> {
    let odd = sqlx::query_scalar::<_, String>(
        "SELECT type || ' ' || name FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR name NOT LIKE 'agentctl_%' \
         AND name NOT LIKE 'sqlite_%' LIMIT 1",
    );
    let odd = odd.fetch_optional(&store.pool).await;
    let not_ours = |why| SessionError::NotOurs {
        place: store.place.clone(),
        why,
    };
    match odd {
        Ok(None) => Ok(()),
        Ok(Some(odd)) => Err(not_ours(format!("it holds the {odd}"))),
        Err(sqlx::Error::Database(e)) if matches!(e.code().as_deref(), Some("26" | "11")) => {
            Err(not_ours(e.message().to_owned()))
        }
        Err(e) => Err(store.unreachable(e)),
    }
}

/// The store's file is a plain one of its own, or none yet.
fn regular(path: &Path) -> Result<(), SessionError> {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::symlink_metadata(&name) {
            Ok(found) if found.is_file() => {}
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Ok(_) => {
                return Err(SessionError::NotOurs {
                    place: PathBuf::from(name).display().to_string(),
                    why: "it is no plain file".to_owned(),
                });
            }
            Err(e) => return Err(file_error(Path::new(&name), &e)),
        }
    }
    Ok(())
}

fn lock_file(path: &Path) -> Result<File, SessionError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|e| file_error(path, &e))
}

fn file_error(path: &Path, e: &dyn std::fmt::Display) -> SessionError {
    SessionError::File {
        path: path.to_owned(),
        why: e.to_string(),
    }
}

crate::queries::sessions_by_queries!(SqliteSessions);
crate::pushes::pushes_by_queries!(SqliteSessions);
