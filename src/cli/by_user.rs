//! Changes that a command of the user's makes on the connected n8n (`push`, `test`, `workflows activate`): each a run of its own.

use super::error::{CliError, Exit};
use super::progress::plain_long;
use super::session::{self, Session};
use agentctl_base::model::ToolStatus;
use agentctl_engine::gateway::ByUser;
use agentctl_engine::run::{self, Answering, Asker, Observer, Serving, SessionTerms};
use agentctl_engine::store::Record;
use agentctl_n8n_tools::guards::STALE;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a change waits for a build that has the project.
const LOCK_WAIT: Duration = Duration::from_secs(10);

struct Silent;

impl Observer for Silent {
    fn event(&mut self, _: &Record) {}
}

pub fn serving(session: Session) -> Arc<Serving> {
    Arc::new(Serving {
        project: session.project,
        pack: session.pack,
        gateway: session.gateway,
        effects: Box::new(session.effects),
        observer: Mutex::new(Box::new(Silent)),
        terms: SessionTerms {
            role: run::USER.to_owned(),
            lender: None,
            only: None,
            scope: None,
        },
        lock_wait: LOCK_WAIT,
    })
}

/// What was done.
#[derive(Debug)]
pub struct Done {
    pub run_id: String,
    /// What the call returned.
    pub content: Value,
    /// Why an answer that was given did not count.
    pub notes: Vec<String>,
}

/// How often a change is looked at again because somebody else changed the workflow meanwhile.
pub const AGAIN: usize = 3;

/// Why a change was not made.
#[derive(Debug)]
pub struct Unmade {
    pub error: CliError,
    /// What it was judged on is no more: who looks again may make it.
    pub stale: bool,
}

impl From<CliError> for Unmade {
    fn from(error: CliError) -> Self {
        Unmade {
            error,
            stale: false,
        }
    }
}

impl Unmade {
    pub fn told(self) -> CliError {
        self.error
    }
}

/// Makes the change.
pub async fn make(
    serving: &Arc<Serving>,
    own: &ByUser<'_>,
    answering: &Answering,
    asker: Option<&mut (dyn Asker + '_)>,
) -> Result<Done, Unmade> {
    let done = run::by_user(Arc::clone(serving), own, answering, asker).await;
    let done = done.map_err(|error| session::run_error(&error))?;
    let content = done.result.content;
    let text = |key: &str| plain_long(content.get(key).and_then(Value::as_str).unwrap_or_default());
    match done.result.status {
        ToolStatus::Ok => Ok(Done {
            run_id: done.run_id,
            content,
            notes: done.notes,
        }),
        ToolStatus::Refused => {
            let rule = text("rule");
            let error = CliError::new(
                Exit::Refused,
                format!("refused ({rule}): {}", text("error")),
            );
            let stale = rule == STALE;
            let error = match rule.strip_prefix("guard.").filter(|_| !stale) {
                Some(guard) => error.hint((own.allowing)(guard)),
                None => error,
            };
            Err(Unmade { error, stale })
        }
        _ => {
            let why = format!("{}; run {} tells what happened", text("error"), done.run_id);
            let hint = text("hint");
            let error = CliError::failed(why);
            Err(Unmade::from(if hint.is_empty() {
                error
            } else {
                error.hint(hint)
            }))
        }
    }
}
