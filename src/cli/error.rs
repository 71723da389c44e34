//! What a command can end with: an exit code, one message, hints. Printed once, at the edge.

use agentctl_engine::run::Cause;
#[cfg(feature = "full")]
use agentctl_mcp::McpConfigError;

/// Every exit code there is (docs/exit-codes.md). A new ending gets a code here or it does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Complete = 0,
    /// `qa`: findings at or above the threshold; else: failed for a reason outside agentctl.
    Failed = 1,
    /// What was typed, or a broken agent, flow, policy or config file.
    Usage = 2,
    Blocked = 3,
    Waiting = 4,
    Refused = 5,
    Model = 6,
    Backend = 7,
    Budget = 8,
    /// Built, but not all that was asked for.
    Draft = 9,
    /// A bug in agentctl.
    Internal = 70,
    HungUp = 129,
    Interrupted = 130,
    Quit = 131,
    Terminated = 143,
}

impl Exit {
    pub fn code(self) -> u8 {
        self as u8
    }
    /// The exit of a code that the run's own table gave; a number outside the table is a bug.
    pub fn from_code(code: u8) -> Exit {
        use Exit as E;
        [
            E::Complete,
            E::Failed,
            E::Usage,
            E::Blocked,
            E::Waiting,
            E::Refused,
            E::Model,
            E::Backend,
            E::Budget,
            E::Draft,
            E::HungUp,
            E::Interrupted,
            E::Quit,
            E::Terminated,
        ]
        .into_iter()
        .find(|e| e.code() == code)
        .unwrap_or(E::Internal)
    }
}

impl From<Cause> for Exit {
    fn from(cause: Cause) -> Self {
        Exit::from_code(cause.exit_code())
    }
}

/// A command that failed: what, on what, what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    pub exit: Exit,
    pub message: String,
    pub hints: Vec<String>,
}

/// What a person types for what an agent calls: hints of a backend name tools, which are no commands.
const TYPED: [(&str, &str); 2] = [
    ("`list_workflows`", "`agentctl workflows list`"),
    ("`list_versions`", "`agentctl log --workflow ID`"),
];

fn typed(hint: String) -> String {
    let say = |hint: String, (tool, command): (&str, &str)| hint.replace(tool, command);
    addressed(
        TYPED.into_iter().fold(hint, say),
        env!("CARGO_PKG_REPOSITORY"),
    )
}

/// A page of the documentation by its address, where the program knows one: who installed a package has no folder `docs`.
fn addressed(hint: String, repository: &str) -> String {
    match repository.is_empty() {
        true => hint,
        false => { hint.split_inclusive([' ', '(']) }
            .map(
                |word| match word.starts_with("docs/") && word.contains(".md") {
                    true => format!("{repository}/blob/main/{word}"),
                    // A folder of the user's may be called so.
                    false => word.to_owned(),
                },
            )
            .collect(),
    }
}

#[cfg(test)]
#[test]
fn a_page_is_named_by_its_address_once_there_is_one() {
    let hint = || "a case is described in docs/testing.md".to_owned();
    assert_eq!(addressed(hint(), ""), hint());
    assert_eq!(
        addressed(hint(), "https://x.test/a"),
        "a case is described in https://x.test/a/blob/main/docs/testing.md"
    );
    let own = "agentctl qa docs/flows checks them all";
    assert_eq!(addressed(own.to_owned(), "https://x.test/a"), own);
}

impl CliError {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        CliError {
            exit,
            message: message.into(),
            hints: Vec::new(),
        }
    }
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(typed(hint.into()));
        self
    }
    /// What no command can do without.
    pub fn of_handles(why: String) -> Self {
        Self::failed(why).hint("raise the limit for this shell: ulimit -n 1024")
    }
    #[cfg(feature = "full")]
    /// `.mcp.json` could not be read: a mistake in it, or the machine's fault.
    pub fn of_servers(error: &McpConfigError) -> Self {
        match error.is_machine() {
            true => Self::failed(error.to_string()),
            false => Self::usage(error.to_string()),
        }
    }
    /// Reading or writing a file failed; the path is part of every such message.
    pub fn io(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::failed(format!("cannot {doing} {}: {error}", path.display()))
    }
}

impl std::fmt::Display for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for CliError {}
