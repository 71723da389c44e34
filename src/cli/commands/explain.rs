//! `agentctl explain REQUEST`: what the offline planner makes of each word of a request. Builds nothing.

use super::build;
use crate::cli::catalog_file;
use crate::cli::error::{CliError, Exit};
use crate::cli::layout::words;
use crate::cli::output::Output;
use crate::cli::progress::plain;
use agentctl_base::counted::counted;
use agentctl_planner::account::Fate;
use agentctl_planner::explain::{Explanation, Said, explanation};
use clap::Args;
use console::style;
use serde_json::json;
use std::path::Path;

/// Show what the offline planner makes of each word of a request; builds nothing
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl explain \"When a webhook receives an order over 100 EUR, post it to Slack #sales\"\n  agentctl explain --output-format json - < request.txt\n\nEach word that carries meaning is built (which node answers for it), context (it needs no node, and why) or not understood.\nAn answer to a question of the build is no part of it; `agentctl build --explain` shows the same of a workflow that was built."
)]
pub struct ExplainArgs {
    /// What would be built, in plain words (`-`: read it from stdin)
    #[arg(value_name = "REQUEST")]
    pub request: String,
}

pub fn explain(root: &Path, args: &ExplainArgs, out: &Output) -> Result<Exit, CliError> {
    let request = build::request(&args.request)?;
    let explained = explanation(&request, None, catalog_file::of(root, out)?);
    out.answer(Exit::Complete, || text(&explained), || json!(explained))
}

/// The words with their fates, then how the clauses are read.
pub fn text(explained: &Explanation) -> String {
    if !explained.judged {
        return format!(
            "the words of this language ({}) are not known: nothing can be said of single words\n",
            explained.language
        );
    }
    let mut out = words(explained.words.iter().map(row));
    out.push_str(&format!(
        "\n{} of {} built, {} % of the words' weight explained\n",
        explained.built,
        counted(explained.parts, "part"),
        explained.percent
    ));
    if !explained.clauses.is_empty() {
        out.push_str("\nread as:\n");
    }
    for clause in &explained.clauses {
        out.push_str(&format!("  {}\n", plain(clause.trim())));
    }
    out
}

fn row(word: &Said) -> [String; 3] {
    let (fate, by) = match &word.fate {
        Fate::Built { by } => ("built".to_owned(), by.as_str()),
        Fate::Context { why } => (style("context").dim().to_string(), why.as_str()),
        Fate::Missing => (style("not understood").yellow().to_string(), ""),
    };
    [plain(&word.said), fate, plain(by)]
}
