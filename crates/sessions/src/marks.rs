//! Marks of the user's key on the rows of a store that lies in a project: such a file can come with a folder from elsewhere, with
//! a conversation in it that nobody had. A store that the user reaches by an address of their own (Postgres) needs none.

use crate::requests::Row;
use crate::{Message, Push, Session};
use agentctl_base::canonical::canonical;
use agentctl_host::key::Key;
use serde::{Deserialize, Serialize};
use std::{fmt, path::Path};

const SESSION: &str = "session";
const MESSAGE: &str = "session message";
const REQUEST: &str = "session request";
const PUSH: &str = "session push";

/// Makes and judges the marks of one store.
#[derive(Debug, Clone)]
pub enum Marks {
    /// Who can write into the store is somebody whom the user trusts.
    Trusted,
    /// Of this user, in the project at this real path. Without a key every row is foreign.
    Of { key: Option<Key>, place: Vec<u8> },
}

/// Why a row is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Foreign {
    /// No mark.
    Unmarked,
    /// A mark that is not of this key, folder and content.
    AnotherMark,
    /// There is no key here that a mark could be compared with.
    NoKey,
    /// Messages that the session counts are missing.
    Incomplete,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Foreign::Unmarked => "it carries no mark: somebody wrote it by hand, or an agentctl without a folder of its own",
            Foreign::AnotherMark => "it was written by another user or in another folder, or changed by hand",
            Foreign::NoKey => "no key of yours is known; set AGENTCTL_HOME to a folder of your own, outside of the project",
            Foreign::Incomplete => "messages that it counts are missing",
        })
    }
}

impl Marks {
    /// Of this user in the project at `place`, its real path.
    pub fn of(key: Option<Key>, place: &Path) -> Marks {
        Marks::Of {
            key,
            place: place.as_os_str().as_encoded_bytes().to_vec(),
        }
    }

    pub(crate) fn session(&self, session: &Session) -> Option<String> {
        self.mark(SESSION, &of_session(session))
    }

    pub(crate) fn message(&self, session: &str, message: &Message) -> Option<String> {
        self.mark(MESSAGE, &of_message(session, message))
    }

    pub(crate) fn judge_session(&self, session: &Session, mark: Option<&str>) -> Option<Foreign> {
        self.judge(SESSION, || of_session(session), mark)
    }

    pub(crate) fn judge_message(
        &self,
        session: &str,
        message: &Message,
        mark: Option<&str>,
    ) -> Option<Foreign> {
        self.judge(MESSAGE, || of_message(session, message), mark)
    }

    pub(crate) fn request(&self, row: &Row) -> Option<String> {
        self.mark(REQUEST, &canonical(&serde_json::json!(row)))
    }

    pub(crate) fn judge_request(&self, row: &Row, mark: Option<&str>) -> Option<Foreign> {
        self.judge(REQUEST, || canonical(&serde_json::json!(row)), mark)
    }

    pub(crate) fn push(&self, push: &Push) -> Option<String> {
        self.mark(PUSH, &canonical(&serde_json::json!(push)))
    }

    pub(crate) fn judge_push(&self, push: &Push, mark: Option<&str>) -> Option<Foreign> {
        self.judge(PUSH, || canonical(&serde_json::json!(push)), mark)
    }

    fn mark(&self, purpose: &str, content: &str) -> Option<String> {
        match self {
            Marks::Trusted | Marks::Of { key: None, .. } => None,
            Marks::Of {
                key: Some(key),
                place,
            } => Some(key.mac(purpose, &[place, content.as_bytes()])),
        }
    }

    fn judge(
        &self,
        purpose: &str,
        content: impl Fn() -> String,
        mark: Option<&str>,
    ) -> Option<Foreign> {
        match (self, mark) {
            (Marks::Trusted, _) => None,
            (Marks::Of { key: None, .. }, _) => Some(Foreign::NoKey),
            (Marks::Of { .. }, None) => Some(Foreign::Unmarked),
            (
                Marks::Of {
                    key: Some(key),
                    place,
                },
                Some(mark),
            ) => {
                let made = key.made(purpose, &[place, content().as_bytes()], mark);
                (!made).then_some(Foreign::AnotherMark)
            }
        }
    }
}

/// Everything of the row but the mark itself.
fn of_session(s: &Session) -> String {
    canonical(&serde_json::json!({
        "id": s.id, "key": s.key, "state": s.state, "version": s.version, "last_run": s.last_run, "open_run": s.open_run,
        "first_seq": s.first_seq, "next_seq": s.next_seq, "created": s.created, "updated": s.updated,
    }))
}

fn of_message(session: &str, m: &Message) -> String {
    canonical(&serde_json::json!({
        "session": session, "seq": m.seq, "run": m.run, "role": m.said.role, "text": m.said.text, "data": m.said.data,
        "attachment": m.said.attachment, "at": m.said.at,
    }))
}
