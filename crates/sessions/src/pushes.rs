//! Who is told of a run's events: a row for each receiver, with how far it was told. The events themselves are the journal's; a row
//! says from which record on they are still to be told, so that a server that was killed goes on there.

use crate::SessionError;
use crate::queries::Store;
use crate::requests::KEPT_FOR;
use agentctl_base::BoxFuture;
use serde::Serialize;
use sqlx::migrate::Migrate;
use sqlx::{ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Transaction, Type};

const TABLE: &str = "agentctl_pushes";
const OLD: &str = "DELETE FROM agentctl_pushes WHERE at < $1 AND (ended = 1 OR run IS NULL)";
const PUT: &str = "INSERT INTO agentctl_pushes (id, run, request, name, target, told, tries, ended, at, mark) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO UPDATE SET run = $2, request = $3, name = $4, target = $5, \
     told = $6, tries = $7, ended = $8, at = $9, mark = $10";
/// Where it goes to is the fence: each time it is sealed it is another text, and who tells by an older one writes nothing any more.
const TOLD: &str = "UPDATE agentctl_pushes SET told = $2, tries = $3, ended = $4, at = $5, mark = $6 \
     WHERE id = $1 AND target = $7 RETURNING id";
const OF_RUN: &str = "SELECT id, run, request, name, target, told, tries, ended, at, mark FROM agentctl_pushes WHERE run = $1 \
     ORDER BY name, id";
const OF_REQUEST: &str = "SELECT id, run, request, name, target, told, tries, ended, at, mark FROM agentctl_pushes \
     WHERE request = $1 AND run IS NULL ORDER BY id";
const OPEN: &str = "SELECT id, run, request, name, target, told, tries, ended, at, mark FROM agentctl_pushes \
     WHERE ended = 0 AND run IS NOT NULL ORDER BY at, id LIMIT $1";
const FORGET: &str = "DELETE FROM agentctl_pushes WHERE id = $1";

/// A receiver of a run's events. What has ended is kept for a day ([`KEPT_FOR`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Push {
    pub id: String,
    /// None: none was begun yet for the request.
    pub run: Option<String>,
    /// The request (as it was claimed) that it came with.
    pub request: Option<String>,
    /// What its client calls it.
    pub name: String,
    /// Where to and how, as the server wrote it: it alone can read it.
    pub target: String,
    /// The number of the last record of the journal that the receiver has taken all of.
    pub told: i64,
    /// How often what comes next was tried.
    pub tries: i64,
    /// There is nothing more to tell.
    pub ended: bool,
    /// Of the last change, in milliseconds since 1970, UTC.
    pub at: i64,
}

/// The outbox of a store.
pub trait Pushes: Send + Sync {
    /// Keeps a receiver, over what is kept under its id.
    fn put_push<'a>(&'a self, push: &'a Push) -> BoxFuture<'a, Result<(), SessionError>>;

    /// Notes how far it was told. False: it is not kept any more, or something else is to be told in its place.
    fn told_push<'a>(&'a self, push: &'a Push) -> BoxFuture<'a, Result<bool, SessionError>>;

    /// The receivers of a run that this user's agentctl kept, by name.
    fn pushes_of<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Vec<Push>, SessionError>>;

    /// Those of any run to which something may still be told, at most so many.
    fn open_pushes(&self, most: u32) -> BoxFuture<'_, Result<Vec<Push>, SessionError>>;

    /// Notes the run that a request came to with the receivers that came with it, and gives them.
    fn attach_pushes<'a>(
        &'a self,
        request: &'a str,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Vec<Push>, SessionError>>;

    fn forget_push<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), SessionError>>;
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
    pub async fn put_push(&self, push: &Push) -> Result<(), SessionError> {
        let mut tx = self.writing().await?;
        let old = sqlx::query(OLD).bind(push.at.saturating_sub(KEPT_FOR));
        self.run_one(&mut tx, old).await?;
        self.write_push(&mut tx, push).await?;
        self.commit(tx).await
    }

    pub async fn told_push(&self, push: &Push) -> Result<bool, SessionError> {
        let mut tx = self.writing().await?;
        let query = sqlx::query(TOLD)
            .bind(push.id.clone())
            .bind(push.told)
            .bind(push.tries)
            .bind(i64::from(push.ended))
            .bind(push.at)
            .bind(self.marks.push(push))
            .bind(push.target.clone());
        let kept = query.fetch_optional(&mut *tx).await;
        let kept = kept.map_err(|e| self.unreachable(e))?.is_some();
        self.commit(tx).await?;
        Ok(kept)
    }

    pub async fn pushes_of(&self, run: &str) -> Result<Vec<Push>, SessionError> {
        let found = sqlx::query(OF_RUN).bind(run.to_owned());
        let found = found.fetch_all(&self.pool).await;
        self.believed(&found.map_err(|e| self.unreachable(e))?)
    }

    pub async fn open_pushes(&self, most: u32) -> Result<Vec<Push>, SessionError> {
        let found = sqlx::query(OPEN).bind(i64::from(most));
        let found = found.fetch_all(&self.pool).await;
        self.believed(&found.map_err(|e| self.unreachable(e))?)
    }

    pub async fn attach_pushes(&self, request: &str, run: &str) -> Result<Vec<Push>, SessionError> {
        let mut tx = self.writing().await?;
        let attached = self.attach(&mut tx, request, run).await?;
        self.commit(tx).await?;
        Ok(attached)
    }

    pub async fn forget_push(&self, id: &str) -> Result<(), SessionError> {
        let mut tx = self.writing().await?;
        self.run_one(&mut tx, sqlx::query(FORGET).bind(id.to_owned()))
            .await?;
        self.commit(tx).await
    }

    /// The same within what else the transaction writes.
    pub(crate) async fn attach(
        &self,
        tx: &mut Transaction<'static, D>,
        request: &str,
        run: &str,
    ) -> Result<Vec<Push>, SessionError> {
        let found = sqlx::query(OF_REQUEST).bind(request.to_owned());
        let found = found.fetch_all(&mut **tx).await;
        let mut found = self.believed(&found.map_err(|e| self.unreachable(e))?)?;
        for push in &mut found {
            push.run = Some(run.to_owned());
            self.write_push(tx, push).await?;
        }
        Ok(found)
    }

    async fn write_push(
        &self,
        tx: &mut Transaction<'static, D>,
        push: &Push,
    ) -> Result<(), SessionError> {
        let query = sqlx::query(PUT)
            .bind(push.id.clone())
            .bind(push.run.clone())
            .bind(push.request.clone())
            .bind(push.name.clone())
            .bind(push.target.clone())
            .bind(push.told)
            .bind(push.tries)
            .bind(i64::from(push.ended))
            .bind(push.at)
            .bind(self.marks.push(push));
        self.run_one(tx, query).await
    }

    /// The rows that this user's agentctl wrote; a folder from elsewhere names nobody who is told anything.
    fn believed(&self, rows: &[D::Row]) -> Result<Vec<Push>, SessionError> {
        let mut all = Vec::new();
        for row in rows {
            let id: String = self.get(row, "id", TABLE, "")?;
            let ended: i64 = self.get(row, "ended", TABLE, &id)?;
            let push = Push {
                run: self.get(row, "run", TABLE, &id)?,
                request: self.get(row, "request", TABLE, &id)?,
                name: self.get(row, "name", TABLE, &id)?,
                target: self.get(row, "target", TABLE, &id)?,
                told: self.get(row, "told", TABLE, &id)?,
                tries: self.get(row, "tries", TABLE, &id)?,
                ended: ended != 0,
                at: self.get(row, "at", TABLE, &id)?,
                id,
            };
            let mark: Option<String> = self.get(row, "mark", TABLE, &push.id)?;
            if self.marks.judge_push(&push, mark.as_deref()).is_none() {
                all.push(push);
            }
        }
        Ok(all)
    }
}

/// The trait by a store's queries.
macro_rules! pushes_by_queries {
    ($store:ty) => {
        impl $crate::Pushes for $store {
            fn put_push<'a>(
                &'a self,
                push: &'a $crate::Push,
            ) -> BoxFuture<'a, Result<(), SessionError>> {
                Box::pin(self.store.put_push(push))
            }

            fn told_push<'a>(
                &'a self,
                push: &'a $crate::Push,
            ) -> BoxFuture<'a, Result<bool, SessionError>> {
                Box::pin(self.store.told_push(push))
            }

            fn pushes_of<'a>(
                &'a self,
                run: &'a str,
            ) -> BoxFuture<'a, Result<Vec<$crate::Push>, SessionError>> {
                Box::pin(self.store.pushes_of(run))
            }

            fn open_pushes(
                &self,
                most: u32,
            ) -> BoxFuture<'_, Result<Vec<$crate::Push>, SessionError>> {
                Box::pin(self.store.open_pushes(most))
            }

            fn attach_pushes<'a>(
                &'a self,
                request: &'a str,
                run: &'a str,
            ) -> BoxFuture<'a, Result<Vec<$crate::Push>, SessionError>> {
                Box::pin(self.store.attach_pushes(request, run))
            }

            fn forget_push<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), SessionError>> {
                Box::pin(self.store.forget_push(id))
            }
        }
    };
}
pub(crate) use pushes_by_queries;
