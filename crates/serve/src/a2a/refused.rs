//! What a request of this protocol is refused with: a fault of the protocol, and what HTTP adds to it.

use crate::problem::Problem;
use agentctl_a2a::{Fault, Kind};
use hyper::StatusCode;

#[derive(Debug)]
pub struct Refused {
    pub fault: Fault,
    /// Seconds.
    pub retry_after: Option<u64>,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Refused {
        Refused {
            fault,
            retry_after: None,
        }
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        let kind = match problem.status {
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Kind::InvalidParams,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Kind::ContentTypeNotSupported,
            StatusCode::CONFLICT => Kind::UnsupportedOperation,
            StatusCode::INTERNAL_SERVER_ERROR | StatusCode::BAD_GATEWAY => Kind::Internal,
            other => Kind::Http(other.as_u16()),
        };
        let message = match &problem.hint {
            Some(hint) => format!("{}; {hint}", problem.detail),
            None => problem.detail.clone(),
        };
        let mut fault = Fault::new(kind, message);
        let fields = problem.errors.iter();
        fault.fields = fields
            .map(|field| (field.field.clone(), field.message.clone()))
            .collect();
        Refused {
            fault,
            retry_after: problem.retry_after,
        }
    }
}
