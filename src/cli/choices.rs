//! What can be chosen wherever something is checked and shown.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people
    Text,
    /// One JSON object (or array) at the end
    Json,
    /// One JSON object a line as things happen; the first is `init`, the last `result` (also: jsonl)
    #[value(alias = "jsonl")]
    StreamJson,
}

/// What `stream-json` tells of what happens.
#[cfg(feature = "full")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Events {
    /// What a person sees of it: what is said, the tools at work, what changed, questions, the end
    User,
    /// Everything
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    Warning,
    Never,
}

/// The file of a page: stdout is the command's own answer.
pub fn page_file(typed: &str) -> Result<std::path::PathBuf, String> {
    match typed {
        "" | "-" => Err("a page is written to a file: name one".to_owned()),
        file => Ok(std::path::PathBuf::from(file)),
    }
}
