//! The runs of conversations, listed over all of a pack's: what another agent's client asks for.

use crate::queries::Store;
use crate::{SessionError, SessionKey};
use sqlx::migrate::Migrate;
use sqlx::{ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Type};

const LIST: &str = "SELECT r.run, r.at, s.id, s.pack, s.tenant, s.user_id, s.conversation FROM agentctl_session_runs r \
     JOIN agentctl_sessions s ON s.id = r.session WHERE s.pack = $1 \
     AND ($2 = '*' OR s.tenant = $2 OR ($3 <> '' AND substr(s.tenant, 1, length($3)) = $3)) \
     AND ($4 = '' OR s.conversation = $4) AND (r.at < $5 OR (r.at = $5 AND r.run < $6)) ORDER BY r.at DESC, r.run DESC LIMIT $7";
const TABLE: &str = "agentctl_session_runs";

/// Whose conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tenants {
    One(String),
    /// This one, and those whose names begin with it and a colon.
    Below(String),
    All,
}

/// Which runs are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunsOf {
    pub pack: String,
    pub tenants: Tenants,
    /// Of conversations of this name only.
    pub conversation: Option<String>,
    /// Those that come after this one in the list: when it was written, and the run. None: from the first.
    pub after: Option<(i64, String)>,
}

/// A run and the conversation that it is a turn of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOf {
    pub run: String,
    /// When its turn was last written, in milliseconds since 1970, UTC.
    pub at: i64,
    pub key: SessionKey,
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
    pub async fn runs(&self, of: &RunsOf, most: u32) -> Result<Vec<RunOf>, SessionError> {
        let (one, below) = match &of.tenants {
            Tenants::One(tenant) => (tenant.clone(), String::new()),
            Tenants::Below(tenant) => (tenant.clone(), format!("{tenant}:")),
            Tenants::All => ("*".to_owned(), String::new()),
        };
        let (at, run) = of.after.clone().unwrap_or((i64::MAX, String::new()));
        let found = sqlx::query(LIST)
            .bind(of.pack.clone())
            .bind(one)
            .bind(below)
            .bind(of.conversation.clone().unwrap_or_default())
            .bind(at)
            .bind(run)
            .bind(i64::from(most))
            .fetch_all(&self.pool)
            .await
            .map_err(|e| self.unreachable(e))?;
        let rows = found.iter().map(|row| {
            Ok(RunOf {
                run: self.get(row, "run", TABLE, &of.pack)?,
                at: self.get(row, "at", TABLE, &of.pack)?,
                key: self.key_of(row, &of.pack)?,
            })
        });
        rows.collect()
    }
}
