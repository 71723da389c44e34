//! The chat memory of n8n's own Postgres Chat Memory node, read and written, so that an assistant that moves keeps its memory:
//! a table `(id serial, session_id varchar(255), message jsonb)` with `message.type` and `message.content`.

use crate::{Message, NewMessage, PostgresSessions, Role, SessionError};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

/// The table's name where the node's user chose none.
pub const TABLE: &str = "n8n_chat_histories";

/// More messages than this of one session are not read.
const MOST: i64 = 100_000;

/// What an import found.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Oldest first. n8n keeps no times: `at` is the time of the import.
    pub messages: Vec<NewMessage>,
    /// Rows that are neither a person's nor the assistant's words (system and tool messages): their ids.
    pub left_out: Vec<i64>,
}

impl PostgresSessions {
    /// The messages of n8n's session `n8n_session`. Milliseconds since 1970.
    ///
    /// Errors: a table of another shape or name; no rows; a database that cannot be reached.
    pub async fn read_n8n_history(
        &self,
        table: &str,
        n8n_session: &str,
        now: i64,
    ) -> Result<History, SessionError> {
        let table = quoted(table)?;
        let rows: Vec<(i64, String)> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT id::bigint, message::text FROM {table} WHERE session_id = $1 ORDER BY id LIMIT $2"
        )))
        .bind(n8n_session)
        .bind(MOST)
        .fetch_all(&self.store.pool)
        .await
        .map_err(|e| self.store.unreachable(e))?;
        if rows.is_empty() {
            return Err(SessionError::History(format!(
                "table {table} has no message of session {n8n_session:?}"
            )));
        }
        let mut history = History {
            messages: Vec::new(),
            left_out: Vec::new(),
        };
        for (id, text) in rows {
            match message(&table, id, &text)? {
                Some((role, text)) => history.messages.push(NewMessage {
                    role,
                    text,
                    data: None,
                    attachment: None,
                    at: now,
                }),
                None => history.left_out.push(id),
            }
        }
        Ok(history)
    }

    /// Writes the messages as n8n's session `n8n_session`, all or none; makes the table where it is missing.
    ///
    /// Errors: there are rows of that session already; a table of another shape; a database that cannot be reached.
    pub async fn write_n8n_history(
        &self,
        table: &str,
        n8n_session: &str,
        messages: &[Message],
    ) -> Result<(), SessionError> {
        let table = quoted(table)?;
        let failed = |e| self.store.unreachable(e);
        let mut tx = self.store.pool.begin().await.map_err(failed)?;
        sqlx::query(AssertSqlSafe(format!(
            "CREATE TABLE IF NOT EXISTS {table} (id SERIAL PRIMARY KEY, session_id VARCHAR(255) NOT NULL, message JSONB NOT NULL)"
        )))
        .execute(&mut *tx)
        .await
        .map_err(failed)?;
        let there: i64 = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT count(*) FROM {table} WHERE session_id = $1"
        )))
        .bind(n8n_session)
        .fetch_one(&mut *tx)
        .await
        .map_err(failed)?;
        if there > 0 {
            return Err(SessionError::History(format!(
                "table {table} has {there} messages of session {n8n_session:?} already; nothing was written. Choose another \
                 session's name, or delete them there"
            )));
        }
        for message in messages {
            sqlx::query(AssertSqlSafe(format!(
                "INSERT INTO {table} (session_id, message) VALUES ($1, $2::jsonb)"
            )))
            .bind(n8n_session)
            .bind(stored(message).to_string())
            .execute(&mut *tx)
            .await
            .map_err(failed)?;
        }
        tx.commit().await.map_err(failed)
    }
}

/// Whose words a row holds; None: nobody's.
fn message(table: &str, id: i64, text: &str) -> Result<Option<(Role, String)>, SessionError> {
    let odd = |why: &str| {
        SessionError::History(format!(
            "row {id} of table {table} is no message of n8n's chat memory: {why}; nothing was imported"
        ))
    };
    let row: Value = serde_json::from_str(text).map_err(|e| odd(&e.to_string()))?;
    // Older versions of n8n wrapped what was said once more.
    let said = row
        .get("data")
        .filter(|data| data.is_object())
        .unwrap_or(&row);
    let role = match row.get("type").and_then(Value::as_str) {
        Some("human") => Role::User,
        Some("ai") => Role::Assistant,
        Some(_) => return Ok(None),
        None => return Err(odd("it has no type")),
    };
    match said.get("content") {
        Some(Value::String(text)) => Ok(Some((role, text.clone()))),
        // Parts of a message: the texts among them.
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|p| p.get("text")?.as_str());
            Ok(Some((role, texts.collect::<Vec<_>>().join("\n"))))
        }
        _ => Err(odd("it has no content")),
    }
}

fn stored(message: &Message) -> Value {
    let text = &message.said.text;
    match message.said.role {
        Role::User => {
            json!({"type": "human", "content": text, "additional_kwargs": {}, "response_metadata": {}})
        }
        Role::Assistant => {
            json!({"type": "ai", "content": text, "tool_calls": [], "invalid_tool_calls": [],
            "additional_kwargs": {}, "response_metadata": {}})
        }
    }
}

/// A table's name, perhaps with its schema's, as it may stand in a statement.
fn quoted(table: &str) -> Result<String, SessionError> {
    let plain = |part: &str| {
        !part.is_empty()
            && part.len() <= 63
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let parts: Vec<&str> = table.split('.').collect();
    if parts.len() > 2 || !parts.iter().all(|part| plain(part)) {
        return Err(SessionError::History(format!(
            "{table:?} is no name of a table: letters, digits and _, at most 63, and perhaps the schema and a dot before it"
        )));
    }
    let parts: Vec<String> = parts.iter().map(|part| format!("\"{part}\"")).collect();
    Ok(parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_n8n_are_read_in_each_of_their_shapes() {
        let read = |text| message("t", 1, text).unwrap();
        let plain =
            r#"{"type":"human","content":"hello","additional_kwargs":{},"response_metadata":{}}"#;
        assert_eq!(read(plain), Some((Role::User, "hello".into())));
        let wrapped = r#"{"type":"ai","data":{"content":"hi"}}"#;
        assert_eq!(read(wrapped), Some((Role::Assistant, "hi".into())));
        let parts = r#"{"type":"ai","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}"#;
        assert_eq!(read(parts), Some((Role::Assistant, "a\nb".into())));
        assert_eq!(read(r#"{"type":"tool","content":"x"}"#), None);
        assert!(
            message("t", 7, r#"{"content":"x"}"#)
                .unwrap_err()
                .to_string()
                .contains("row 7")
        );
    }

    #[test]
    fn a_tables_name_is_no_statement() {
        assert_eq!(
            quoted("n8n_chat_histories").unwrap(),
            "\"n8n_chat_histories\""
        );
        assert_eq!(quoted("memory.chat").unwrap(), "\"memory\".\"chat\"");
        for odd in ["", "a b", "a;drop", "a\"b", "a.b.c", "ä"] {
            assert!(quoted(odd).is_err(), "{odd}");
        }
    }
}
