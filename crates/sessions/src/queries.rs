//! The queries, one text for both stores: SQLite takes `$1` as Postgres does. What differs is handed in by [`Store`]'s maker: how a
//! transaction that writes begins.

use crate::schema::{Schema, bring, migrator};
use crate::synced::Synced;
use crate::{
    Begun, Erased, Finish, Finished, Foreign, Marks, Message, NewMessage, Role, Scope, Session,
    SessionError, SessionKey, Summary,
};
use serde_json::{Map, Value};
use sqlx::migrate::{Migrate, Migrator};
use sqlx::{
    ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Pool, Row as _, Transaction,
    Type,
};

const SESSION: &str = "SELECT id, pack, tenant, user_id, conversation, state, version, last_run, open_run, first_seq, next_seq, \
     created, updated, mark FROM agentctl_sessions WHERE id = $1";
const INSERT: &str = "INSERT INTO agentctl_sessions (id, pack, tenant, user_id, conversation, state, version, last_run, open_run, \
     first_seq, next_seq, created, updated, mark) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
     ON CONFLICT DO NOTHING RETURNING version";
const UPDATE: &str = "UPDATE agentctl_sessions SET state = $1, version = $2, last_run = $3, open_run = $4, first_seq = $5, \
     next_seq = $6, updated = $7, mark = $8 WHERE id = $9 AND version = $10 RETURNING version";
const MESSAGES: &str = "SELECT seq, role, text, data, attachment, run, at, mark FROM agentctl_messages \
     WHERE session = $1 AND seq >= $2 ORDER BY seq DESC LIMIT $3";
const ADD: &str = "INSERT INTO agentctl_messages (session, seq, role, text, data, attachment, run, at, mark) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const REMARK: &str = "UPDATE agentctl_messages SET mark = $1 WHERE session = $2 AND seq = $3";
const CLEAR: &str = "DELETE FROM agentctl_messages WHERE session = $1";
const RUN: &str = "INSERT INTO agentctl_session_runs (session, run, at) VALUES ($1, $2, $3) \
     ON CONFLICT (session, run) DO UPDATE SET at = $3";
const RUNS: &str = "SELECT run FROM agentctl_session_runs WHERE session = $1 ORDER BY at, run";
const FORGET_RUNS: &str = "DELETE FROM agentctl_session_runs WHERE session = $1";
const FORGET_REQUESTS: &str = "DELETE FROM agentctl_requests WHERE run = $1";
const FORGET_PUSHES: &str = "DELETE FROM agentctl_pushes WHERE run = $1";
const FORGET: &str = "DELETE FROM agentctl_sessions WHERE id = $1";
const LIST_ALL: &str = "SELECT id, pack, tenant, user_id, conversation, version, open_run, first_seq, next_seq, created, updated \
     FROM agentctl_sessions ORDER BY updated DESC, id LIMIT $1";
const LIST_OF: &str = "SELECT id, pack, tenant, user_id, conversation, version, open_run, first_seq, next_seq, created, updated \
     FROM agentctl_sessions WHERE tenant = $2 AND user_id = $3 ORDER BY updated DESC, id LIMIT $1";

/// Connections and what rows are marked with.
pub(crate) struct Store<D: Database> {
    pub pool: Pool<D>,
    /// For transactions that write; the same where they do not stop each other.
    pub writers: Pool<D>,
    pub marks: Marks,
    /// What messages call it: a path, or an address without user and password.
    pub place: String,
    /// Begins a transaction that will write.
    pub begin: &'static str,
    /// What makes a commit last; None: the commit does.
    pub synced: Option<Synced>,
}

/// The migrations that were made, by their numbers.
const MIGRATED: &str = "agentctl_migrations";

/// The store's tables as this version of agentctl wants them.
fn migrations() -> Migrator {
    let all = [
        ("sessions", include_str!("../sql/0001_sessions.sql")),
        ("requests", include_str!("../sql/0002_requests.sql")),
        ("pushes", include_str!("../sql/0003_pushes.sql")),
    ];
    migrator(MIGRATED, &all)
}

impl<D> Store<D>
where
    D: Database,
    D::Connection: Migrate,
    D::Arguments: IntoArguments<D>,
    for<'c> &'c mut D::Connection: Executor<'c, Database = D>,
    for<'a> i64: Type<D> + Encode<'a, D> + Decode<'a, D>,
    for<'a> String: Type<D> + Encode<'a, D> + Decode<'a, D>,
    for<'a> Option<String>: Type<D> + Encode<'a, D> + Decode<'a, D>,
    for<'a> &'a str: ColumnIndex<D::Row>,
{
    /// Makes the tables that are missing. Errors: [`SessionError::Older`], [`SessionError::Newer`], [`SessionError::NotOurs`].
    pub async fn migrate(&self, schema: Schema) -> Result<(), SessionError> {
        self.bring((MIGRATED, &migrations()), schema).await
    }

    /// Makes the tables of `migrator`, whose migrations are noted in `table`, as far as they are missing.
    pub async fn bring(
        &self,
        (table, migrator): (&str, &Migrator),
        schema: Schema,
    ) -> Result<(), SessionError> {
        let mut connection = self.pool.acquire().await.map_err(|e| self.unreachable(e))?;
        let unreachable = |e| self.unreachable(e);
        let place = (self.place.as_str(), &unreachable as _);
        bring((table, migrator), &mut *connection, schema, place).await
    }

    pub async fn load(&self, key: &SessionKey) -> Result<Session, SessionError> {
        let mut tx = self.pool.begin().await.map_err(|e| self.unreachable(e))?;
        let session = self.session(&mut tx, key).await?;
        Ok(session.unwrap_or_else(|| Session::new(key)))
    }

    pub async fn messages(
        &self,
        key: &SessionKey,
        most: u32,
    ) -> Result<Vec<Message>, SessionError> {
        let mut tx = self.pool.begin().await.map_err(|e| self.unreachable(e))?;
        let Some(session) = self.session(&mut tx, key).await? else {
            return Ok(Vec::new());
        };
        let messages = self.last(&mut tx, &session, i64::from(most)).await?;
        let wanted = session.message_count().min(i64::from(most));
        match i64::try_from(messages.len()) == Ok(wanted) {
            true => Ok(messages),
            false => Err(SessionError::Foreign {
                id: session.id,
                foreign: Foreign::Incomplete,
            }),
        }
    }

    pub async fn begin(
        &self,
        read: &Session,
        run: &str,
        request: Option<&str>,
        now: i64,
    ) -> Result<Begun, SessionError> {
        let mut tx = self.writing().await?;
        let found = self.own(&mut tx, &read.key).await?;
        expect(read.version, found.version)?;
        let mut next = found.clone();
        next.open_run = Some(run.to_owned());
        self.write(&mut tx, &found, &mut next, now).await?;
        self.note_run(&mut tx, &next.id, run, now).await?;
        if let Some(request) = request {
            self.began(&mut tx, request, run).await?;
            self.attach(&mut tx, request, run).await?;
        }
        self.commit(tx).await?;
        Ok(Begun {
            version: next.version,
        })
    }

    pub async fn finish(&self, key: &SessionKey, turn: &Finish) -> Result<Finished, SessionError> {
        let mut tx = self.writing().await?;
        let found = self.own(&mut tx, key).await?;
        if turn.run.is_some() && found.last_run == turn.run {
            return Ok(Finished::Before(found.version));
        }
        expect(turn.version, found.version)?;
        let mut next = found.clone();
        next.state = turn.state.clone();
        if let Some(run) = &turn.run {
            next.last_run = Some(run.clone());
        }
        next.open_run.clone_from(&turn.open_run);
        if turn.clear {
            self.run_one(&mut tx, sqlx::query(CLEAR).bind(next.id.clone()))
                .await?;
            next.first_seq = next.next_seq;
        }
        let first = next.next_seq;
        next.next_seq += i64::try_from(turn.add.len()).unwrap_or(i64::MAX);
        self.write(&mut tx, &found, &mut next, turn.now).await?;
        for (seq, said) in (first..).zip(&turn.add) {
            let message = Message {
                seq,
                run: turn.run.clone(),
                said: said.clone(),
                foreign: None,
            };
            self.add(&mut tx, &next.id, &message).await?;
        }
        if let Some(run) = &turn.run {
            self.note_run(&mut tx, &next.id, run, turn.now).await?;
        }
        self.commit(tx).await?;
        Ok(Finished::Now(next.version))
    }

    pub async fn adopt(&self, key: &SessionKey) -> Result<Session, SessionError> {
        let mut tx = self.writing().await?;
        let Some(found) = self.session(&mut tx, key).await? else {
            return Err(SessionError::Unknown { id: key.id() });
        };
        let messages = self.last(&mut tx, &found, i64::MAX).await?;
        let mut next = found.clone();
        // Of messages with a gap before them only those after the gap can be told to be a conversation.
        next.next_seq = messages
            .last()
            .map_or(found.next_seq, |m| m.seq.saturating_add(1));
        next.first_seq = next.next_seq;
        for message in messages.iter().rev() {
            if message.seq.saturating_add(1) != next.first_seq {
                break;
            }
            next.first_seq = message.seq;
            let mark = sqlx::query(REMARK)
                .bind(self.marks.message(&next.id, message))
                .bind(next.id.clone())
                .bind(message.seq);
            self.run_one(&mut tx, mark).await?;
        }
        self.write(&mut tx, &found, &mut next, found.updated)
            .await?;
        self.commit(tx).await?;
        next.foreign = None;
        Ok(next)
    }

    pub async fn erase(&self, key: &SessionKey) -> Result<Erased, SessionError> {
        let mut tx = self.writing().await?;
        let Some(found) = self.session(&mut tx, key).await? else {
            return Err(SessionError::Unknown { id: key.id() });
        };
        let runs = sqlx::query(RUNS)
            .bind(found.id.clone())
            .fetch_all(&mut *tx)
            .await
            .map_err(|e| self.unreachable(e))?;
        let runs = runs
            .iter()
            .map(|row| self.get(row, "run", "agentctl_session_runs", &found.id));
        let runs = runs.collect::<Result<Vec<String>, _>>()?;
        for run in &runs {
            // What was answered holds what was said.
            for statement in [FORGET_REQUESTS, FORGET_PUSHES] {
                self.run_one(&mut tx, sqlx::query(statement).bind(run.clone()))
                    .await?;
            }
        }
        for statement in [CLEAR, FORGET_RUNS, FORGET] {
            self.run_one(&mut tx, sqlx::query(statement).bind(found.id.clone()))
                .await?;
        }
        self.commit(tx).await?;
        Ok(Erased {
            messages: found.message_count(),
            runs,
        })
    }

    pub async fn list(&self, scope: &Scope, most: u32) -> Result<Vec<Summary>, SessionError> {
        let most = i64::from(most);
        let query = match scope {
            Scope::Operator => sqlx::query(LIST_ALL).bind(most),
            Scope::Of { tenant, user } => sqlx::query(LIST_OF)
                .bind(most)
                .bind(tenant.clone())
                .bind(user.clone()),
        };
        let rows = query
            .fetch_all(&self.pool)
            .await
            .map_err(|e| self.unreachable(e))?;
        rows.iter().map(|row| self.summary(row)).collect()
    }

    pub(crate) async fn writing(&self) -> Result<Transaction<'static, D>, SessionError> {
        let begun = self.writers.begin_with(self.begin).await;
        begun.map_err(|e| self.unreachable(e))
    }

    pub(crate) async fn commit(&self, tx: Transaction<'static, D>) -> Result<(), SessionError> {
        tx.commit().await.map_err(|e| self.unreachable(e))?;
        match &self.synced {
            Some(synced) => synced.commit().await,
            None => Ok(()),
        }
    }

    pub(crate) async fn run_one(
        &self,
        tx: &mut Transaction<'static, D>,
        query: sqlx::query::Query<'_, D, D::Arguments>,
    ) -> Result<(), SessionError> {
        let done = query.execute(&mut **tx).await;
        done.map(drop).map_err(|e| self.unreachable(e))
    }

    /// The session that may be written: this user's, or a new one.
    async fn own(
        &self,
        tx: &mut Transaction<'static, D>,
        key: &SessionKey,
    ) -> Result<Session, SessionError> {
        match self.session(tx, key).await? {
            None => Ok(Session::new(key)),
            Some(Session {
                foreign: Some(foreign),
                id,
                ..
            }) => Err(SessionError::Foreign { id, foreign }),
            Some(session) => Ok(session),
        }
    }

    async fn session(
        &self,
        tx: &mut Transaction<'static, D>,
        key: &SessionKey,
    ) -> Result<Option<Session>, SessionError> {
        let row = sqlx::query(SESSION)
            .bind(key.id())
            .fetch_optional(&mut **tx)
            .await
            .map_err(|e| self.unreachable(e))?;
        let Some(row) = row else { return Ok(None) };
        let table = "agentctl_sessions";
        let id: String = self.get(&row, "id", table, "")?;
        let found = self.key_of(&row, &id)?;
        if found != *key {
            return Err(self.damaged(table, &id, "its id is that of another session".to_owned()));
        }
        let state: String = self.get(&row, "state", table, &id)?;
        let state: Map<String, Value> = serde_json::from_str(&state)
            .map_err(|e| self.damaged(table, &id, format!("its state is no JSON object: {e}")))?;
        let mut session = Session {
            key: found,
            state,
            version: self.get(&row, "version", table, &id)?,
            last_run: self.get(&row, "last_run", table, &id)?,
            open_run: self.get(&row, "open_run", table, &id)?,
            first_seq: self.get(&row, "first_seq", table, &id)?,
            next_seq: self.get(&row, "next_seq", table, &id)?,
            created: self.get(&row, "created", table, &id)?,
            updated: self.get(&row, "updated", table, &id)?,
            id,
            foreign: None,
        };
        let mark: Option<String> = self.get(&row, "mark", table, &session.id)?;
        session.foreign = self.marks.judge_session(&session, mark.as_deref());
        Ok(Some(session))
    }

    /// Oldest first.
    async fn last(
        &self,
        tx: &mut Transaction<'static, D>,
        session: &Session,
        most: i64,
    ) -> Result<Vec<Message>, SessionError> {
        let rows = sqlx::query(MESSAGES)
            .bind(session.id.clone())
            .bind(session.first_seq)
            .bind(most)
            .fetch_all(&mut **tx)
            .await
            .map_err(|e| self.unreachable(e))?;
        let messages = rows.iter().rev().map(|row| self.message(row, &session.id));
        messages.collect()
    }

    fn message(&self, row: &D::Row, session: &str) -> Result<Message, SessionError> {
        let table = "agentctl_messages";
        let seq: i64 = self.get(row, "seq", table, session)?;
        let name = format!("{session}/{seq}");
        let role: String = self.get(row, "role", table, &name)?;
        let role = Role::of(&role)
            .ok_or_else(|| self.damaged(table, &name, format!("no role is called {role:?}")))?;
        let data: Option<String> = self.get(row, "data", table, &name)?;
        let data = data.map(|data| serde_json::from_str(&data)).transpose();
        let data =
            data.map_err(|e| self.damaged(table, &name, format!("its data is no JSON: {e}")))?;
        let mut message = Message {
            seq,
            run: self.get(row, "run", table, &name)?,
            said: NewMessage {
                role,
                text: self.get(row, "text", table, &name)?,
                data,
                attachment: self.get(row, "attachment", table, &name)?,
                at: self.get(row, "at", table, &name)?,
            },
            foreign: None,
        };
        let mark: Option<String> = self.get(row, "mark", table, &name)?;
        message.foreign = self.marks.judge_message(session, &message, mark.as_deref());
        Ok(message)
    }

    /// Writes `next` over `found`, which is what stands there; it gets its version and time here.
    async fn write(
        &self,
        tx: &mut Transaction<'static, D>,
        found: &Session,
        next: &mut Session,
        now: i64,
    ) -> Result<(), SessionError> {
        next.version = found.version + 1;
        next.updated = now;
        if found.version == 0 {
            next.created = now;
        }
        let state = Value::Object(next.state.clone()).to_string();
        let mark = self.marks.session(next);
        let query = match found.version {
            0 => sqlx::query(INSERT)
                .bind(next.id.clone())
                .bind(next.key.pack.clone())
                .bind(next.key.tenant.clone())
                .bind(next.key.user.clone())
                .bind(next.key.conversation.clone())
                .bind(state)
                .bind(next.version)
                .bind(next.last_run.clone())
                .bind(next.open_run.clone())
                .bind(next.first_seq)
                .bind(next.next_seq)
                .bind(next.created)
                .bind(next.updated)
                .bind(mark),
            version => sqlx::query(UPDATE)
                .bind(state)
                .bind(next.version)
                .bind(next.last_run.clone())
                .bind(next.open_run.clone())
                .bind(next.first_seq)
                .bind(next.next_seq)
                .bind(next.updated)
                .bind(mark)
                .bind(next.id.clone())
                .bind(version),
        };
        let written = query.fetch_optional(&mut **tx).await;
        match written.map_err(|e| self.unreachable(e))? {
            Some(_) => Ok(()),
            // Another connection was faster, between our reading and our writing.
            None => Err(SessionError::Changed {
                expected: found.version,
                found: found.version + 1,
            }),
        }
    }

    async fn add(
        &self,
        tx: &mut Transaction<'static, D>,
        session: &str,
        message: &Message,
    ) -> Result<(), SessionError> {
        let query = sqlx::query(ADD)
            .bind(session.to_owned())
            .bind(message.seq)
            .bind(message.said.role.name().to_owned())
            .bind(message.said.text.clone())
            .bind(message.said.data.as_ref().map(Value::to_string))
            .bind(message.said.attachment.clone())
            .bind(message.run.clone())
            .bind(message.said.at)
            .bind(self.marks.message(session, message));
        self.run_one(tx, query).await
    }

    async fn note_run(
        &self,
        tx: &mut Transaction<'static, D>,
        session: &str,
        run: &str,
        now: i64,
    ) -> Result<(), SessionError> {
        let query = sqlx::query(RUN)
            .bind(session.to_owned())
            .bind(run.to_owned())
            .bind(now);
        self.run_one(tx, query).await
    }

    fn summary(&self, row: &D::Row) -> Result<Summary, SessionError> {
        let table = "agentctl_sessions";
        let id: String = self.get(row, "id", table, "")?;
        let first: i64 = self.get(row, "first_seq", table, &id)?;
        let next: i64 = self.get(row, "next_seq", table, &id)?;
        Ok(Summary {
            key: self.key_of(row, &id)?,
            messages: next.saturating_sub(first),
            version: self.get(row, "version", table, &id)?,
            open_run: self.get(row, "open_run", table, &id)?,
            created: self.get(row, "created", table, &id)?,
            updated: self.get(row, "updated", table, &id)?,
            id,
        })
    }

    pub(crate) fn key_of(&self, row: &D::Row, id: &str) -> Result<SessionKey, SessionError> {
        let get = |column| self.get(row, column, "agentctl_sessions", id);
        Ok(SessionKey {
            pack: get("pack")?,
            tenant: get("tenant")?,
            user: get("user_id")?,
            conversation: get("conversation")?,
        })
    }

    pub(crate) fn get<T>(
        &self,
        row: &D::Row,
        column: &'static str,
        table: &'static str,
        name: &str,
    ) -> Result<T, SessionError>
    where
        T: for<'r> Decode<'r, D> + Type<D>,
    {
        row.try_get(column)
            .map_err(|e| self.damaged(table, name, e.to_string()))
    }

    pub(crate) fn damaged(&self, table: &'static str, row: &str, why: String) -> SessionError {
        SessionError::Damaged {
            place: self.place.clone(),
            table,
            row: row.to_owned(),
            why,
        }
    }

    pub fn unreachable(&self, e: sqlx::Error) -> SessionError {
        if is_machines(&e) {
            return SessionError::File {
                path: self.place.clone().into(),
                why: e.to_string(),
            };
        }
        SessionError::Unreachable {
            place: self.place.clone(),
            why: e.to_string(),
        }
    }
}

/// Whether this machine's disk failed, or is full: SQLite's codes 10 and 13, which may have more behind them in higher bits. Codes of
/// Postgres have five characters.
fn is_machines(e: &sqlx::Error) -> bool {
    let code = e.as_database_error().and_then(|e| e.code());
    let code = code.filter(|code| code.len() < 5);
    code.and_then(|code| code.parse::<u32>().ok())
        .is_some_and(|code| matches!(code & 0xff, 10 | 13))
}

fn expect(expected: i64, found: i64) -> Result<(), SessionError> {
    match expected == found {
        true => Ok(()),
        false => Err(SessionError::Changed { expected, found }),
    }
}

/// The trait by a store's queries and its own ways to take a turn and to count requests.
macro_rules! sessions_by_queries {
    ($store:ty) => {
        impl Sessions for $store {
            fn turn<'a>(
                &'a self,
                key: &'a SessionKey,
                wait: Duration,
            ) -> BoxFuture<'a, Result<Turn, SessionError>> {
                Box::pin(self.take(key, wait))
            }

            fn wrest<'a>(
                &'a self,
                key: &'a SessionKey,
            ) -> BoxFuture<'a, Result<bool, SessionError>> {
                Box::pin(self.end_holder(key))
            }

            fn spend<'a>(
                &'a self,
                client: &'a str,
                per_minute: u32,
            ) -> BoxFuture<'a, Result<Result<(), u64>, SessionError>> {
                Box::pin(self.take_one(client, per_minute))
            }

            fn load<'a>(
                &'a self,
                key: &'a SessionKey,
            ) -> BoxFuture<'a, Result<Session, SessionError>> {
                Box::pin(self.store.load(key))
            }

            fn messages<'a>(
                &'a self,
                key: &'a SessionKey,
                most: u32,
            ) -> BoxFuture<'a, Result<Vec<Message>, SessionError>> {
                Box::pin(self.store.messages(key, most))
            }

            fn begin_for<'a>(
                &'a self,
                read: &'a Session,
                run: &'a str,
                request: Option<&'a str>,
                now: i64,
            ) -> BoxFuture<'a, Result<Begun, SessionError>> {
                Box::pin(self.store.begin(read, run, request, now))
            }

            fn of_run<'a>(
                &'a self,
                run: &'a str,
            ) -> BoxFuture<'a, Result<Option<SessionKey>, SessionError>> {
                Box::pin(self.store.of_run(run))
            }

            fn runs<'a>(
                &'a self,
                of: &'a $crate::RunsOf,
                most: u32,
            ) -> BoxFuture<'a, Result<Vec<$crate::RunOf>, SessionError>> {
                Box::pin(self.store.runs(of, most))
            }

            fn asked<'a>(
                &'a self,
                id: &'a str,
            ) -> BoxFuture<'a, Result<Option<$crate::Asked>, SessionError>> {
                Box::pin(self.store.asked(id))
            }

            fn of_id<'a>(
                &'a self,
                id: &'a str,
            ) -> BoxFuture<'a, Result<Option<SessionKey>, SessionError>> {
                Box::pin(self.store.of_id(id))
            }

            fn claim<'a>(
                &'a self,
                id: &'a str,
                body: &'a str,
                now: i64,
            ) -> BoxFuture<'a, Result<$crate::Claimed, SessionError>> {
                Box::pin(self.store.claim(id, body, now))
            }

            fn answered<'a>(
                &'a self,
                id: &'a str,
                answered: &'a $crate::Answered,
            ) -> BoxFuture<'a, Result<(), SessionError>> {
                Box::pin(self.store.answered(id, answered))
            }

            fn goes_on_with<'a>(
                &'a self,
                request: &'a str,
                run: &'a str,
            ) -> BoxFuture<'a, Result<(), SessionError>> {
                Box::pin(self.store.goes_on_with(request, run))
            }

            fn unclaim<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), SessionError>> {
                Box::pin(self.store.unclaim(id))
            }

            fn finish<'a>(
                &'a self,
                key: &'a SessionKey,
                turn: &'a Finish,
            ) -> BoxFuture<'a, Result<Finished, SessionError>> {
                Box::pin(self.store.finish(key, turn))
            }

            fn adopt<'a>(
                &'a self,
                key: &'a SessionKey,
            ) -> BoxFuture<'a, Result<Session, SessionError>> {
                Box::pin(self.store.adopt(key))
            }

            fn erase<'a>(
                &'a self,
                key: &'a SessionKey,
            ) -> BoxFuture<'a, Result<Erased, SessionError>> {
                Box::pin(self.store.erase(key))
            }

            fn list<'a>(
                &'a self,
                scope: &'a Scope,
                most: u32,
            ) -> BoxFuture<'a, Result<Vec<Summary>, SessionError>> {
                Box::pin(self.store.list(scope, most))
            }
        }
    };
}
pub(crate) use sessions_by_queries;
