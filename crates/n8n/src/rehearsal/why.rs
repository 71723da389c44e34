//! Why a node is only simulated.

use serde::Serialize;

/// Why a node is only simulated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", content = "what", rename_all = "snake_case")]
pub enum Why {
    /// It would reach something outside of n8n: the operation.
    Acts(String),
    /// It has, or asks for, an account of this type.
    Account(String),
    /// It would ask this host, which the user did not list.
    Host(String),
    /// Code or an expression, in this parameter, that does more than work on data: what it does.
    Code { at: String, uses: String },
    /// This parameter has a value with which the node is not known to be harmless.
    Parameter(String),
    /// It would ask a language model, which costs money.
    AsksModel,
    /// It would stop until a time or an answer.
    Waits,
    /// Nobody can say what it does.
    Unknown,
    /// A credential of this type is not connected, or not on this n8n.
    NoCredential(String),
    /// A sub-node of it may not run, for this reason.
    Through(String),
    /// The test says what it hands on.
    Given,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Acts(what) => write!(f, "it would reach outside of n8n ({what})"),
            Why::Account(kind) => write!(f, "it would use an account ({kind})"),
            Why::Host(host) => write!(
                f,
                "it would ask {host}, which is not on your list of hosts for tests (--test-host {host})"
            ),
            Why::Code { at, uses } if matches!(at.as_str(), "jsCode" | "functionCode") => {
                write!(f, "its code is more than work on data: it {uses}")
            }
            Why::Code { at, uses } => {
                write!(
                    f,
                    "an expression in {at:?} is more than work on data: it {uses}"
                )
            }
            Why::Parameter(at) => {
                write!(f, "with its value of {at:?} it is not known to be harmless")
            }
            Why::AsksModel => f.write_str("it would ask a language model, which costs money"),
            Why::Waits => f.write_str("it would wait"),
            Why::Unknown => f.write_str("what it does outside is not known"),
            Why::NoCredential(kind) => write!(f, "its credential ({kind}) is not connected"),
            Why::Given => f.write_str("the test says what it hands on"),
            Why::Through(sub) => write!(f, "its sub-node {sub:?} may not run in a test"),
        }
    }
}
