//! What a session holds, and what a turn leaves in it.

use crate::{Foreign, SessionKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Role> {
        [Role::User, Role::Assistant]
            .into_iter()
            .find(|role| role.name() == name)
    }
}

/// A message that is to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMessage {
    pub role: Role,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<String>,
    /// Milliseconds since 1970, UTC.
    pub at: i64,
}

/// A message that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Counts up within a session, over clearing too.
    pub seq: i64,
    /// The run that wrote it; None: it was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(flatten)]
    pub said: NewMessage,
    /// Why it is not believed to be what this user's agentctl wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
}

/// A session as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Session {
    pub id: String,
    #[serde(flatten)]
    pub key: SessionKey,
    pub state: Map<String, Value>,
    /// 0: never written.
    pub version: i64,
    pub last_run: Option<String>,
    /// Of a turn that has begun and not ended.
    pub open_run: Option<String>,
    pub first_seq: i64,
    pub next_seq: i64,
    pub created: i64,
    pub updated: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
}

impl Session {
    /// One that was never written.
    pub fn new(key: &SessionKey) -> Session {
        Session {
            id: key.id(),
            key: key.clone(),
            state: Map::new(),
            version: 0,
            last_run: None,
            open_run: None,
            first_seq: 1,
            next_seq: 1,
            created: 0,
            updated: 0,
            foreign: None,
        }
    }

    /// How many messages stand.
    pub fn message_count(&self) -> i64 {
        self.next_seq - self.first_seq
    }
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub id: String,
    #[serde(flatten)]
    pub key: SessionKey,
    pub messages: i64,
    pub version: i64,
    pub open_run: Option<String>,
    pub created: i64,
    pub updated: i64,
}

/// A turn that is noted in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// What [`Finish::version`] has to be.
    pub version: i64,
}

/// What a turn leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finish {
    /// None: not a turn's, but an import or a person's clearing.
    pub run: Option<String>,
    /// The turn that is still to be gone on with, which this one was no part of; None: no turn is open any more.
    pub open_run: Option<String>,
    /// The version that the turn's state was made from.
    pub version: i64,
    pub state: Map<String, Value>,
    /// The messages that stood before are erased first.
    pub clear: bool,
    pub add: Vec<NewMessage>,
    /// Milliseconds since 1970, UTC.
    pub now: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// Written now; the session's version since.
    Now(i64),
    /// This run had been written before; nothing was changed.
    Before(i64),
}

/// What was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Erased {
    pub messages: i64,
    /// The session's runs, whose journals the store does not hold.
    pub runs: Vec<String>,
}
