//! Errors of the server, each as one `application/problem+json` (RFC 9457): what happened, to what, what to do next.

use crate::answer::{Answer, whole};
use agentctl_base::counted::counted;
use agentctl_engine::pack::Fault;
use agentctl_engine::run::RunError;
use agentctl_engine::store::{LedgerError, StoreError};
use agentctl_sessions::SessionError;
use agentctl_turns::TurnError;
use hyper::StatusCode;
use hyper::header::{ALLOW, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use serde_json::{Map, Value, json};
use std::ops::{Deref, DerefMut};

/// In a box: most requests have none.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem(Box<Told>);

#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub status: StatusCode,
    pub detail: String,
    pub hint: Option<String>,
    /// Each field that is wrong.
    pub errors: Vec<Fault>,
    /// Further members: what was done, for one.
    pub more: Map<String, Value>,
    /// Seconds.
    pub retry_after: Option<u64>,
    pub challenges: Vec<&'static str>,
    /// The methods that would be taken.
    pub allow: Option<&'static str>,
}

impl Deref for Problem {
    type Target = Told;
    fn deref(&self) -> &Told {
        &self.0
    }
}

impl DerefMut for Problem {
    fn deref_mut(&mut self) -> &mut Told {
        &mut self.0
    }
}

impl Problem {
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Problem {
        Problem(Box::new(Told {
            status,
            detail: detail.into(),
            hint: None,
            errors: Vec::new(),
            more: Map::new(),
            retry_after: None,
            challenges: Vec::new(),
            allow: None,
        }))
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn retry(mut self, seconds: u64) -> Problem {
        self.retry_after = Some(seconds);
        self
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Problem {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    pub fn bad(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, detail)
    }

    /// What is not there, and what is not the caller's: nobody can tell one from the other.
    pub fn not_found(what: &str) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, format!("there is no {what}"))
    }

    pub fn fields(errors: Vec<Fault>) -> Problem {
        let count = errors.len();
        let mut problem = Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!(
                "{} of the body {} not fit",
                counted(count, "field"),
                if count == 1 { "does" } else { "do" }
            ),
        );
        problem.errors = errors;
        problem
    }

    pub fn text(&self) -> String {
        let mut body = json!({
            "type": format!("urn:agentctl:problem:{}", kind_of(self.status)),
            "title": self.status.canonical_reason().unwrap_or_default(),
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        if let Value::Object(map) = &mut body {
            if let Some(hint) = &self.hint {
                map.insert("hint".into(), hint.clone().into());
            }
            if !self.errors.is_empty() {
                map.insert("errors".into(), json!(self.errors));
            }
            map.extend(self.more.clone());
        }
        body.to_string()
    }

    /// The same as an OpenAI client looks for it: such a client shows its user `error.message` and nothing else.
    pub fn as_error(&self) -> Value {
        let faults = self.errors.iter();
        let faults = faults.map(|fault| format!("{} {}", fault.field, fault.message));
        let told = std::iter::once(self.detail.clone());
        let told: Vec<String> = told.chain(faults).chain(self.hint.clone()).collect();
        let told = told.join("; ");
        let kind = match self.status.is_server_error() {
            true => "server_error",
            false => "invalid_request_error",
        };
        json!({"message": told, "type": kind, "param": null, "code": kind_of(self.status)})
    }

    pub fn answer(&self) -> Answer {
        let mut answer = whole(self.status, "application/problem+json", self.text());
        let headers = answer.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(methods) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(methods));
        }
        for challenge in &self.challenges {
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        answer
    }
}

/// The last part of a problem's type: the status in words.
fn kind_of(status: StatusCode) -> String {
    let words = status.canonical_reason().unwrap_or("other");
    words.to_lowercase().replace(' ', "-")
}

impl From<TurnError> for Problem {
    fn from(error: TurnError) -> Problem {
        let said = error.to_string();
        match error {
            TurnError::Session(error) => of_session(&error, said),
            TurnError::Run(error) => of_run(&error, said),
            TurnError::NotOpen(_) => Problem::new(StatusCode::CONFLICT, said)
                .hint("GET /runs/{id} tells how it stands; a message for no run in particular begins a new one"),
            TurnError::TooLong(_) => {
                Problem::new(StatusCode::PAYLOAD_TOO_LARGE, said).hint("send it in parts")
            }
        }
    }
}

impl From<SessionError> for Problem {
    fn from(error: SessionError) -> Problem {
        of_session(&error, error.to_string())
    }
}

fn of_session(error: &SessionError, said: String) -> Problem {
    use SessionError as E;
    let (status, retry) = match error {
        E::Queue | E::Busy { .. } => (StatusCode::TOO_MANY_REQUESTS, Some(2)),
        E::Changed { .. } => (StatusCode::CONFLICT, None),
        E::Unreachable { .. } => (StatusCode::SERVICE_UNAVAILABLE, Some(5)),
        E::Unknown { .. } => (StatusCode::NOT_FOUND, None),
        E::Foreign { .. } => (StatusCode::CONFLICT, None),
        E::Older { .. }
        | E::Newer { .. }
        | E::NotOurs { .. }
        | E::File { .. }
        | E::Damaged { .. }
        | E::History(_) => (StatusCode::INTERNAL_SERVER_ERROR, None),
    };
    let problem = Problem::new(status, said);
    match retry {
        Some(seconds) => problem.retry(seconds),
        None => problem,
    }
}

/// What could not be read or written of a run.
pub fn of_store(error: &StoreError) -> Problem {
    let said = error.to_string();
    match error {
        StoreError::Ledger(error) => of_ledger(error, said),
        _ => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, said),
    }
}

/// What is away now, or another replica's, may be asked for again.
fn of_ledger(error: &LedgerError, said: String) -> Problem {
    use LedgerError as E;
    match error {
        E::Away { .. } | E::Held { .. } | E::Lost { .. } => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            said,
        )
        .retry(5)
        .hint("nothing that was answered is lost; send it again, and it goes on where it stopped"),
        E::Gone { .. } => Problem::new(StatusCode::NOT_FOUND, said),
        E::OnlyHere { .. } | E::Exists { .. } => Problem::new(StatusCode::CONFLICT, said),
        E::Split { .. } | E::Damaged { .. } => {
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, said)
        }
    }
}

fn of_run(error: &RunError, said: String) -> Problem {
    if let RunError::Store(StoreError::Ledger(error)) = error {
        return of_ledger(error, said);
    }
    let status = match error {
        RunError::Backend { .. } | RunError::Model(_) => StatusCode::BAD_GATEWAY,
        RunError::Refused { .. } | RunError::Store(StoreError::Foreign { .. }) => {
            StatusCode::FORBIDDEN
        }
        RunError::Store(StoreError::NoSuchRun { .. } | StoreError::BadId { .. }) => {
            StatusCode::NOT_FOUND
        }
        RunError::Usage(_) => StatusCode::CONFLICT,
        RunError::Store(_)
        | RunError::Pack(_)
        | RunError::Machine { .. }
        | RunError::Stuck { .. }
        | RunError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let problem = Problem::new(status, said);
    match error.hint() {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}
