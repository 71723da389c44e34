//! Journals of runs in a Postgres, for all replicas of a server: what the engine calls a ledger. Each call is one statement. Times are
//! the database's own, so that no replica's clock is believed; and a late write is refused by the run's row, whatever the time is.

use crate::schema::{Schema, bring, migrator};
use crate::{SessionError, postgres};
use agentctl_base::canonical::sha256_hex;
use agentctl_engine::store::{Entry, Fetched, Last, Lease, Ledger, LedgerError};
use sqlx::migrate::Migrator;
use sqlx::{PgPool, Row as _};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

const TABLE: &str = "agentctl_journal_migrations";

const BEGIN: &str = "INSERT INTO agentctl_journals (run, seq, hash, fence, owner, expires, gone) \
     VALUES ($1, 0, repeat('0', 64), 1, $2, clock_timestamp() + make_interval(secs => $3), FALSE) \
     ON CONFLICT (run) DO UPDATE SET fence = agentctl_journals.fence + 1, owner = $2, \
     expires = clock_timestamp() + make_interval(secs => $3) WHERE agentctl_journals.seq = 0 AND NOT agentctl_journals.gone \
     AND (agentctl_journals.owner IS NULL OR agentctl_journals.expires < clock_timestamp()) RETURNING fence";
const TAKE: &str = "UPDATE agentctl_journals SET fence = fence + 1, owner = $2, \
     expires = clock_timestamp() + make_interval(secs => $3) WHERE run = $1 AND seq > 0 AND NOT gone \
     AND (owner IS NULL OR expires < clock_timestamp()) RETURNING fence";
const STANDS: &str = "SELECT seq, gone, owner, \
     extract(epoch FROM expires - clock_timestamp())::float8 AS left FROM agentctl_journals WHERE run = $1";
const RENEW: &str = "UPDATE agentctl_journals AS j SET expires = clock_timestamp() + make_interval(secs => $3) \
     FROM unnest($1::text[], $2::bigint[]) AS h (run, fence) WHERE j.run = h.run AND j.fence = h.fence AND j.owner IS NOT NULL";
const LEAVE: &str = "UPDATE agentctl_journals SET owner = NULL WHERE run = $1 AND fence = $2";
const FETCH: &str = "SELECT seq, line FROM agentctl_journal_lines WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT $3";
/// The row of the run is changed first, and only as it must be; so of two writers one waits and then finds another row. Each line is
/// on the database's disk when it is told of: one that were not would be lost with a database that is killed, and the folder's file,
/// which has it then, would say otherwise.
const APPEND: &str = "WITH mode AS (SELECT set_config('synchronous_commit', 'on', TRUE)), \
     head AS (UPDATE agentctl_journals SET seq = $5, hash = $6, expires = greatest(expires, clock_timestamp()) \
     FROM mode WHERE run = $1 AND fence = $2 AND seq = $3 AND hash = $4 AND NOT gone RETURNING run) \
     INSERT INTO agentctl_journal_lines (run, seq, line) \
     SELECT head.run, new.seq, new.line FROM head, unnest($7::bigint[], $8::text[]) AS new (seq, line)";
const KEEP: &str = "INSERT INTO agentctl_journal_kept (run, name, sha256, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
const KEPT: &str = "SELECT sha256, bytes FROM agentctl_journal_kept WHERE run = $1 AND name = $2";
const NAMES: &str = "SELECT name FROM agentctl_journal_kept WHERE run = $1 ORDER BY name";
const RUNS: &str =
    "SELECT run, seq, hash FROM agentctl_journals WHERE seq > 0 AND NOT gone ORDER BY run";
const REMOVE: &str = "WITH head AS (UPDATE agentctl_journals SET gone = TRUE, seq = 0, hash = '', owner = NULL, fence = fence + 1 \
     WHERE run = $1 AND NOT gone AND (owner IS NULL OR expires < clock_timestamp()) RETURNING run), \
     lines AS (DELETE FROM agentctl_journal_lines USING head WHERE agentctl_journal_lines.run = head.run), \
     kept AS (DELETE FROM agentctl_journal_kept USING head WHERE agentctl_journal_kept.run = head.run) SELECT run FROM head";
const REMOVED: &str = "SELECT run FROM agentctl_journals WHERE gone ORDER BY run";
const ABANDONED: &str = "SELECT run FROM agentctl_journals WHERE owner IS NOT NULL AND seq > 0 AND expires < clock_timestamp() ORDER BY expires DESC";
const STOP: &str = "UPDATE agentctl_journals SET stop = fence WHERE run = $1 AND NOT gone AND owner IS NOT NULL \
     AND expires > clock_timestamp() RETURNING run";
const STOPS: &str = "SELECT j.run FROM agentctl_journals AS j, unnest($1::text[], $2::bigint[]) AS h (run, fence) \
     WHERE j.run = h.run AND j.fence = h.fence AND j.stop = j.fence ORDER BY j.run";
const ID: &str = "SELECT id FROM agentctl_journal_store";

/// Lines that are fetched at once.
const LINES: i64 = 1000;
/// No answer is waited for longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Leases of this process, by run.
type Held = Arc<Mutex<HashMap<String, i64>>>;

/// Journals in a database. The work is done by a thread of its own: who writes a journal waits for it as for a disk.
pub struct PostgresJournals {
    pool: PgPool,
    place: String,
    id: String,
    /// What others are told of who has a lease.
    owner: String,
    lease: Duration,
    held: Held,
    works: Handle,
    /// Dropped, the thread ends.
    _ends: oneshot::Sender<()>,
}

impl fmt::Debug for PostgresJournals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresJournals({})", self.place)
    }
}

fn migrations() -> Migrator {
    let all = [
        (
            "journals",
            include_str!("../sql/journals/0001_journals.sql"),
        ),
        ("stop", include_str!("../sql/journals/0002_stop.sql")),
    ];
    migrator(TABLE, &all)
}

impl PostgresJournals {
    /// Connects, and makes the tables where there are none. `lease`: how long a replica may be unheard of before another takes its runs.
    ///
    /// Errors: [`SessionError::Unreachable`], which names host and database and never user or password; [`SessionError::Older`],
    /// [`SessionError::Newer`], [`SessionError::NotOurs`].
    pub fn open(url: &str, lease: Duration, schema: Schema) -> Result<Self, SessionError> {
        let (options, place) = postgres::options(url)?;
        let none = |why: String| SessionError::Unreachable {
            place: place.clone(),
            why,
        };
        let (ends, ended) = oneshot::channel();
        let (ready, made) = mpsc::sync_channel(1);
        let work = move || {
            let built = Builder::new_current_thread().enable_all().build();
            let runtime = match built {
                Ok(runtime) => runtime,
                Err(e) => return drop(ready.send(Err(e.to_string()))),
            };
            if ready.send(Ok(runtime.handle().clone())).is_ok() {
                let _ = runtime.block_on(ended);
            }
        };
        let started = std::thread::Builder::new().name("journals".to_owned());
        started.spawn(work).map_err(|e| none(e.to_string()))?;
        let works = made
            .recv()
            .map_err(|e| none(e.to_string()))?
            .map_err(none)?;
        let pool = {
            let _inside = works.enter();
            postgres::pool(options)
        };
        let (ask, told) = (pool.clone(), place.clone());
        let opened = wait(&works, PATIENCE * 6, async move {
            ready_made(&ask, &told, schema).await
        });
        let id = opened.map_err(none)??;
        let journals = PostgresJournals {
            pool,
            id,
            owner: owner(),
            lease,
            held: Held::default(),
            works,
            _ends: ends,
            place,
        };
        journals.renew();
        Ok(journals)
    }

    /// Renews what is held, three times in each lease, for as long as the thread works.
    fn renew(&self) {
        let (pool, held, lease) = (self.pool.clone(), Arc::clone(&self.held), self.lease);
        self.works.spawn(async move {
            loop {
                tokio::time::sleep(lease / 3).await;
                let (runs, fences) = leases(&held);
                if runs.is_empty() {
                    continue;
                }
                let renewed = sqlx::query(RENEW)
                    .bind(runs)
                    .bind(fences)
                    .bind(lease.as_secs_f64())
                    .execute(&pool);
                // One that could not be renewed now is tried again; where it has run out by then, its writes are refused.
                let _ = tokio::time::timeout(PATIENCE, renewed).await;
            }
        });
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, i64>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn away(&self, why: String) -> LedgerError {
        LedgerError::Away {
            place: self.place.clone(),
            why,
        }
    }

    fn ask<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, sqlx::Error>> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let done = wait(&self.works, PATIENCE, work).map_err(|why| self.away(why))?;
        done.map_err(|e| self.away(e.to_string()))
    }

    fn names_of(&self, query: &'static str, run: Option<&str>) -> Result<Vec<String>, LedgerError> {
        let (pool, run) = (self.pool.clone(), run.map(str::to_owned));
        self.ask(async move {
            let query = sqlx::query_scalar(query);
            match run {
                Some(run) => query.bind(run).fetch_all(&pool).await,
                None => query.fetch_all(&pool).await,
            }
        })
    }

    fn stands(&self, run: &str) -> Result<Option<Stands>, LedgerError> {
        let (pool, name) = (self.pool.clone(), run.to_owned());
        self.ask(async move {
            let row = sqlx::query(STANDS).bind(name).fetch_optional(&pool).await?;
            let Some(row) = row else { return Ok(None) };
            Ok(Some(Stands {
                seq: row.try_get("seq")?,
                gone: row.try_get("gone")?,
                owner: row.try_get("owner")?,
                left: row.try_get("left")?,
            }))
        })
    }
}

/// The runs that are held, and the numbers of their leases.
fn leases(held: &Held) -> (Vec<String>, Vec<i64>) {
    let held = held.lock().unwrap_or_else(PoisonError::into_inner);
    held.iter()
        .map(|(run, fence)| (run.clone(), *fence))
        .unzip()
}

/// How a run's row stands.
struct Stands {
    seq: i64,
    gone: bool,
    owner: Option<String>,
    left: f64,
}

impl Stands {
    /// Who has the run.
    fn held(&self, run: &str) -> Option<LedgerError> {
        let by = self.owner.as_ref().filter(|_| self.left > 0.0)?;
        Some(LedgerError::Held {
            run: run.to_owned(),
            by: by.clone(),
            seconds: Duration::try_from_secs_f64(self.left.ceil()).map_or(1, |left| left.as_secs()),
        })
    }
}

/// The answer of a future that another thread carries through. Err: there was none in time.
fn wait<T: Send + 'static>(
    works: &Handle,
    patience: Duration,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, String> {
    let (done, waits) = mpsc::sync_channel(1);
    works.spawn(async move {
        let _ = done.send(tokio::time::timeout(patience, work).await);
    });
    match waits.recv() {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(_)) => Err(format!("no answer within {} s", patience.as_secs())),
        Err(_) => Err("the thread that asks it has ended".to_owned()),
    }
}

/// Brings the tables to this version, and reads the store's id.
async fn ready_made(pool: &PgPool, place: &str, schema: Schema) -> Result<String, SessionError> {
    let unreachable = |e: sqlx::Error| SessionError::Unreachable {
        place: place.to_owned(),
        why: e.to_string(),
    };
    let mut connection = pool.acquire().await.map_err(unreachable)?;
    let all = migrations();
    let told = (
        place,
        &unreachable as &(dyn Fn(sqlx::Error) -> SessionError + Sync),
    );
    bring((TABLE, &all), &mut *connection, schema, told).await?;
    let id = sqlx::query_scalar(ID).fetch_one(&mut *connection).await;
    id.map_err(unreachable)
}

fn owner() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match host.trim() {
        "" => format!("process {}", std::process::id()),
        host => format!("process {} on {host}", std::process::id()),
    }
}

fn number(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

impl Ledger for PostgresJournals {
    fn id(&self) -> &str {
        &self.id
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn lease(&self) -> Duration {
        self.lease
    }

    fn runs(&self) -> Result<Vec<(String, Last)>, LedgerError> {
        let pool = self.pool.clone();
        let rows: Vec<(String, i64, String)> =
            self.ask(async move { sqlx::query_as(RUNS).fetch_all(&pool).await })?;
        let last = |seq: i64, hash| Last {
            seq: u64::try_from(seq).unwrap_or_default(),
            hash,
        };
        Ok(rows
            .into_iter()
            .map(|(run, seq, hash)| (run, last(seq, hash)))
            .collect())
    }

    fn fetch(&self, run: &str, after: u64) -> Result<Fetched, LedgerError> {
        let (pool, name) = (self.pool.clone(), run.to_owned());
        let rows: Vec<(i64, String)> = self.ask(async move {
            let query = sqlx::query_as(FETCH).bind(name).bind(number(after));
            query.bind(LINES).fetch_all(&pool).await
        })?;
        if rows.is_empty() && self.stands(run)?.is_some_and(|row| row.gone) {
            return Err(LedgerError::Gone {
                run: run.to_owned(),
            });
        }
        Ok(Fetched {
            more: number(rows.len() as u64) == LINES,
            lines: rows.into_iter().map(|(_, line)| line).collect(),
        })
    }

    fn take(&self, run: &str, begins: bool) -> Result<Lease, LedgerError> {
        let (pool, name, owner) = (self.pool.clone(), run.to_owned(), self.owner.clone());
        let lease = self.lease.as_secs_f64();
        let fence: Option<i64> = self.ask(async move {
            let query = sqlx::query_scalar(if begins { BEGIN } else { TAKE });
            let query = query.bind(name).bind(owner).bind(lease);
            query.fetch_optional(&pool).await
        })?;
        let (name, place) = (run.to_owned(), self.place.clone());
        if let Some(fence) = fence {
            self.held().insert(name.clone(), fence);
            return Ok(Lease { run: name, fence });
        }
        let Some(row) = self.stands(run)? else {
            return Err(LedgerError::OnlyHere { run: name, place });
        };
        if row.gone {
            return Err(LedgerError::Gone { run: name });
        }
        Err(match row.held(run) {
            _ if begins && row.seq > 0 => LedgerError::Exists { run: name, place },
            Some(held) => held,
            None if row.seq == 0 => LedgerError::OnlyHere { run: name, place },
            // It was left in this very moment.
            None => LedgerError::Held {
                run: name,
                by: "another agentctl".to_owned(),
                seconds: 1,
            },
        })
    }

    fn holder(&self, run: &str) -> Result<Option<LedgerError>, LedgerError> {
        Ok(self.stands(run)?.and_then(|row| row.held(run)))
    }

    fn leave(&self, lease: &Lease) {
        self.abandon(lease);
        let (pool, lease) = (self.pool.clone(), lease.clone());
        // One that cannot be left now runs out.
        let _ = self.ask(async move {
            let query = sqlx::query(LEAVE).bind(lease.run).bind(lease.fence);
            query.execute(&pool).await
        });
    }

    fn abandon(&self, lease: &Lease) {
        let mut held = self.held();
        if held.get(&lease.run) == Some(&lease.fence) {
            held.remove(&lease.run);
        }
    }

    fn append(&self, lease: &Lease, entries: &[Entry]) -> Result<(), LedgerError> {
        let lost = || LedgerError::Lost {
            run: lease.run.clone(),
        };
        let (pool, held) = (self.pool.clone(), lease.clone());
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return Ok(());
        };
        let (before, prev) = (number(first.seq - 1), first.prev.clone());
        let (seq, hash) = (number(last.seq), last.hash.clone());
        let seqs: Vec<i64> = entries.iter().map(|entry| number(entry.seq)).collect();
        let lines: Vec<String> = entries.iter().map(|entry| entry.line.clone()).collect();
        let appended = self.ask(async move {
            let query = sqlx::query(APPEND).bind(held.run).bind(held.fence);
            let query = query.bind(before).bind(prev).bind(seq).bind(hash);
            query.bind(seqs).bind(lines).execute(&pool).await
        })?;
        match appended.rows_affected() == entries.len() as u64 {
            true => Ok(()),
            false => Err(lost()),
        }
    }

    fn keep(&self, run: &str, name: &str, bytes: &[u8]) -> Result<(), LedgerError> {
        let (pool, run, name) = (self.pool.clone(), run.to_owned(), name.to_owned());
        let (sha256, bytes) = (sha256_hex(bytes), bytes.to_vec());
        let kept = self.ask(async move {
            let query = sqlx::query(KEEP).bind(run).bind(name);
            query.bind(sha256).bind(bytes).execute(&pool).await
        });
        kept.map(drop)
    }

    fn kept(&self, run: &str, name: &str) -> Result<Option<Vec<u8>>, LedgerError> {
        let (pool, of, what) = (self.pool.clone(), run.to_owned(), name.to_owned());
        let row: Option<(String, Vec<u8>)> = self.ask(async move {
            let query = sqlx::query_as(KEPT).bind(of).bind(what);
            query.fetch_optional(&pool).await
        })?;
        let Some((sha256, bytes)) = row else {
            return Ok(None);
        };
        match sha256_hex(&bytes) == sha256 {
            true => Ok(Some(bytes)),
            false => Err(LedgerError::Damaged {
                place: self.place.clone(),
                run: run.to_owned(),
                why: format!("{name} is not what was kept"),
            }),
        }
    }

    fn names(&self, run: &str) -> Result<Vec<String>, LedgerError> {
        self.names_of(NAMES, Some(run))
    }

    fn remove(&self, run: &str) -> Result<bool, LedgerError> {
        if !self.names_of(REMOVE, Some(run))?.is_empty() {
            return Ok(true);
        }
        let Some(row) = self.stands(run)?.filter(|row| !row.gone) else {
            return Ok(false);
        };
        // Whoever had it may have left it between the two questions.
        Err(row.held(run).unwrap_or_else(|| LedgerError::Held {
            run: run.to_owned(),
            by: row.owner.unwrap_or_else(|| "another agentctl".to_owned()),
            seconds: 1,
        }))
    }

    fn removed(&self) -> Result<Vec<String>, LedgerError> {
        self.names_of(REMOVED, None)
    }

    fn abandoned(&self) -> Result<Vec<String>, LedgerError> {
        self.names_of(ABANDONED, None)
    }

    fn stop(&self, run: &str) -> Result<bool, LedgerError> {
        Ok(!self.names_of(STOP, Some(run))?.is_empty())
    }

    fn stops(&self) -> Result<Vec<String>, LedgerError> {
        let (runs, fences) = leases(&self.held);
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let pool = self.pool.clone();
        self.ask(async move {
            let query = sqlx::query_scalar(STOPS).bind(runs).bind(fences);
            query.fetch_all(&pool).await
        })
    }
}
