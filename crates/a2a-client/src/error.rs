//! What an exchange with another agent can end with, and whether a task may have been made all the same.

use agentctl_a2a::{Fault, Kind, NotSigned};

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Nothing was sent: it may not go there.
    #[error("{0}")]
    Forbidden(String),
    /// Nothing was sent: nobody is there.
    #[error("{0}")]
    Unreachable(String),
    /// It was sent, and no whole answer came.
    #[error("{why}")]
    Lost { why: String, late: bool },
    /// An answer came that is not one of the protocol.
    #[error("{0}")]
    Unreadable(String),
    /// The agent refused.
    #[error("the agent refused: {}", .0.message)]
    Fault(Fault),
    /// Its card is not the one that the user approved, or none was approved.
    #[error("{0}")]
    Unapproved(String),
    /// Its card is not signed by the keys that it has to be signed by.
    #[error("{0}")]
    Unsigned(NotSigned),
}

impl Error {
    /// Whether it is certain that no task was made and nothing was said, so that the same message may be sent again.
    pub fn is_unmade(&self) -> bool {
        match self {
            Error::Forbidden(_)
            | Error::Unreachable(_)
            | Error::Unapproved(_)
            | Error::Unsigned(_) => true,
            Error::Lost { .. } | Error::Unreadable(_) => false,
            Error::Fault(fault) => match fault.kind {
                Kind::Internal | Kind::InvalidAgentResponse => false,
                Kind::Http(status) => status < 500 || status == 503,
                _ => true,
            },
        }
    }

    /// Whether the same message may come through later.
    pub fn may_pass(&self) -> bool {
        match self {
            Error::Unreachable(_) => true,
            Error::Fault(fault) => matches!(fault.kind, Kind::Http(429 | 503)),
            _ => false,
        }
    }

    pub(crate) fn of(error: &reqwest::Error) -> Error {
        if error.is_connect() || error.is_builder() {
            return Error::Unreachable("the agent's server cannot be reached".to_owned());
        }
        let late = error.is_timeout();
        let why = match late {
            true => "no answer came in time",
            false => "the connection was cut before an answer came",
        };
        Error::Lost {
            why: why.to_owned(),
            late,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_made_a_task_is_not_sent_again() {
        let fault = |kind| Error::Fault(Fault::new(kind, ""));
        for unmade in [
            Error::Unreachable(String::new()),
            fault(Kind::Http(429)),
            fault(Kind::Http(503)),
            fault(Kind::InvalidParams),
        ] {
            assert!(unmade.is_unmade(), "{unmade:?}");
        }
        let lost = Error::Lost {
            why: String::new(),
            late: true,
        };
        for made in [lost, fault(Kind::Internal), fault(Kind::Http(502))] {
            assert!(!made.is_unmade() && !made.may_pass(), "{made:?}");
        }
        assert!(!fault(Kind::InvalidParams).may_pass());
    }
}
