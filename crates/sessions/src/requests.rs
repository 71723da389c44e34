//! Requests that may be sent again. Which one it is, its sender says; what was answered is kept for a day, and what was begun is found
//! by its run, so that nothing is done twice, whenever the process that did it was killed.

use crate::queries::Store;
use crate::{SessionError, SessionKey};
use serde::{Deserialize, Serialize};
use sqlx::migrate::Migrate;
use sqlx::{ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Transaction, Type};

/// So long an answer is kept, in milliseconds.
pub const KEPT_FOR: i64 = 24 * 60 * 60 * 1000;

const TABLE: &str = "agentctl_requests";
const OLD: &str = "DELETE FROM agentctl_requests WHERE at < $1";
const FIND: &str = "SELECT body, run, answer, at, mark FROM agentctl_requests WHERE id = $1";
const PUT: &str = "INSERT INTO agentctl_requests (id, body, run, answer, at, mark) VALUES ($1, $2, $3, $4, $5, $6) \
     ON CONFLICT (id) DO UPDATE SET body = $2, run = $3, answer = $4, at = $5, mark = $6";
const FORGET: &str = "DELETE FROM agentctl_requests WHERE id = $1";
const OF_RUN: &str = "SELECT s.id, s.pack, s.tenant, s.user_id, s.conversation FROM agentctl_session_runs r \
     JOIN agentctl_sessions s ON s.id = r.session WHERE r.run = $1";
const OF_ID: &str =
    "SELECT id, pack, tenant, user_id, conversation FROM agentctl_sessions WHERE id = $1";

/// An answer as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    pub status: u16,
    pub content_type: String,
    pub body: String,
    pub run: Option<String>,
    pub session: Option<String>,
}

/// What is known of a request that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// Nothing: it is noted now.
    New,
    /// Another body came under the same name.
    Other,
    /// It was taken before and has no answer. The run, where one was begun for it.
    Begun(Option<String>),
    Answered(Answered),
}

/// A request that came before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// A hash of what was asked.
    pub body: String,
    pub run: Option<String>,
    /// None: it is not answered yet.
    pub answered: Option<Answered>,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    pub id: String,
    pub body: String,
    pub run: Option<String>,
    pub answer: Option<String>,
    pub at: i64,
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
    pub async fn claim(&self, id: &str, body: &str, now: i64) -> Result<Claimed, SessionError> {
        let mut tx = self.writing().await?;
        let old = sqlx::query(OLD).bind(now.saturating_sub(KEPT_FOR));
        self.run_one(&mut tx, old).await?;
        let claimed = match self.request(&mut tx, id).await? {
            None => {
                let row = Row {
                    id: id.to_owned(),
                    body: body.to_owned(),
                    run: None,
                    answer: None,
                    at: now,
                };
                self.put(&mut tx, &row).await?;
                Claimed::New
            }
            Some(row) if row.body != body => Claimed::Other,
            Some(row) => match &row.answer {
                None => Claimed::Begun(row.run),
                Some(answer) => Claimed::Answered(
                    serde_json::from_str(answer)
                        .map_err(|e| self.damaged(TABLE, id, e.to_string()))?,
                ),
            },
        };
        self.commit(tx).await?;
        Ok(claimed)
    }

    /// What is known of a request; None: none came under this name.
    pub async fn asked(&self, id: &str) -> Result<Option<Asked>, SessionError> {
        let mut tx = self.pool.begin().await.map_err(|e| self.unreachable(e))?;
        let row = self.request(&mut tx, id).await?;
        let Some(row) = row else { return Ok(None) };
        let answered = row.answer.as_deref().map(serde_json::from_str::<Answered>);
        let answered = answered
            .transpose()
            .map_err(|e| self.damaged(TABLE, id, e.to_string()))?;
        let of_answer = answered.as_ref().and_then(|answered| answered.run.clone());
        Ok(Some(Asked {
            body: row.body,
            run: row.run.or(of_answer),
            answered,
        }))
    }

    pub async fn answered(&self, id: &str, answered: &Answered) -> Result<(), SessionError> {
        let mut tx = self.writing().await?;
        if let Some(mut row) = self.request(&mut tx, id).await? {
            let text = serde_json::to_string(answered)
                .map_err(|e| self.damaged(TABLE, id, e.to_string()))?;
            row.answer = Some(text);
            self.put(&mut tx, &row).await?;
        }
        self.commit(tx).await
    }

    pub async fn unclaim(&self, id: &str) -> Result<(), SessionError> {
        let mut tx = self.writing().await?;
        self.run_one(&mut tx, sqlx::query(FORGET).bind(id.to_owned()))
            .await?;
        self.commit(tx).await
    }

    pub async fn goes_on_with(&self, id: &str, run: &str) -> Result<(), SessionError> {
        let mut tx = self.writing().await?;
        self.began(&mut tx, id, run).await?;
        self.commit(tx).await
    }

    /// Notes the run of a request, together with what else the transaction writes.
    pub(crate) async fn began(
        &self,
        tx: &mut Transaction<'static, D>,
        id: &str,
        run: &str,
    ) -> Result<(), SessionError> {
        if let Some(mut row) = self.request(tx, id).await? {
            row.run = Some(run.to_owned());
            self.put(tx, &row).await?;
        }
        Ok(())
    }

    pub async fn of_run(&self, run: &str) -> Result<Option<SessionKey>, SessionError> {
        self.key_by(OF_RUN, run).await
    }

    pub async fn of_id(&self, id: &str) -> Result<Option<SessionKey>, SessionError> {
        self.key_by(OF_ID, id).await
    }

    async fn key_by(
        &self,
        query: &'static str,
        by: &str,
    ) -> Result<Option<SessionKey>, SessionError> {
        let found = sqlx::query(query).bind(by.to_owned());
        let found = found.fetch_optional(&self.pool).await;
        let row = found.map_err(|e| self.unreachable(e))?;
        row.map(|row| self.key_of(&row, by)).transpose()
    }

    /// A row that this user's agentctl wrote; another one is none, and is written over.
    async fn request(
        &self,
        tx: &mut Transaction<'static, D>,
        id: &str,
    ) -> Result<Option<Row>, SessionError> {
        let found = sqlx::query(FIND).bind(id.to_owned());
        let found = found.fetch_optional(&mut **tx).await;
        let Some(found) = found.map_err(|e| self.unreachable(e))? else {
            return Ok(None);
        };
        let row = Row {
            id: id.to_owned(),
            body: self.get(&found, "body", TABLE, id)?,
            run: self.get(&found, "run", TABLE, id)?,
            answer: self.get(&found, "answer", TABLE, id)?,
            at: self.get(&found, "at", TABLE, id)?,
        };
        let mark: Option<String> = self.get(&found, "mark", TABLE, id)?;
        let foreign = self.marks.judge_request(&row, mark.as_deref());
        Ok(foreign.is_none().then_some(row))
    }

    async fn put(&self, tx: &mut Transaction<'static, D>, row: &Row) -> Result<(), SessionError> {
        let query = sqlx::query(PUT)
            .bind(row.id.clone())
            .bind(row.body.clone())
            .bind(row.run.clone())
            .bind(row.answer.clone())
            .bind(row.at)
            .bind(self.marks.request(row));
        self.run_one(tx, query).await
    }
}
