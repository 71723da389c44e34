//! What can be typed after `agentctl qa`, in the whole program and in the checker alone.

use crate::cli::args::{FailOn, page_file};
use clap::Args;
use std::path::PathBuf;

#[cfg_attr(
    feature = "full",
    doc = "Check workflow files, or the workflows of the connected n8n"
)]
#[cfg_attr(not(feature = "full"), doc = "Check workflow files")]
#[derive(Debug, Args)]
#[cfg_attr(
    feature = "full",
    command(
        after_help = "Examples:\n  agentctl qa workflows/\n  agentctl qa --output-format json --fail-on warning flow.json\n  cat flow.json | agentctl qa -\n  agentctl qa --fix workflows/\n  agentctl qa --baseline qa-baseline.json --write-baseline workflows/\n  agentctl qa --changed-since origin/main --report github --report sarif=qa.sarif .\n  agentctl qa --all --report junit=qa.xml\n  agentctl qa --html qa.html workflows/\n  agentctl qa --explain agentctl/unknown-reference\n\nWaivers stand in agentctl.toml ([[qa.waiver]]: code or id, path, node, reason, expires).\nExit code 0: nothing at or above the threshold; 1: findings; 2: usage."
    )
)]
#[cfg_attr(
    not(feature = "full"),
    command(
        after_help = "Examples:\n  agentctl qa workflows/\n  agentctl qa --output-format json --fail-on warning flow.json\n  cat flow.json | agentctl qa -\n  agentctl qa --fix workflows/\n  agentctl qa --baseline qa-baseline.json --write-baseline workflows/\n  agentctl qa --changed-since origin/main --report github --report sarif=qa.sarif .\n  agentctl qa --report junit=qa.xml workflows/\n  agentctl qa --html qa.html workflows/\n  agentctl qa --explain agentctl/unknown-reference\n\nWaivers stand in agentctl.toml ([[qa.waiver]]: code or id, path, node, reason, expires).\nExit code 0: nothing at or above the threshold; 1: findings; 2: usage."
    )
)]
pub struct QaArgs {
    /// Workflow files or folders (`-`: stdin)
    #[cfg_attr(feature = "full", arg(value_name = "PATH", required_unless_present_any = ["explain", "workflow", "all", "tag"]))]
    #[cfg_attr(
        not(feature = "full"),
        arg(value_name = "PATH", required_unless_present = "explain")
    )]
    pub paths: Vec<PathBuf>,
    #[cfg(feature = "full")]
    /// A workflow of the connected n8n, by id or name, instead of files; n8n is only read
    #[arg(long, value_name = "ID", conflicts_with_all = ["paths", "fix", "changed_since", "staged"])]
    pub workflow: Vec<String>,
    #[cfg(feature = "full")]
    /// All workflows of the connected n8n
    #[arg(long, conflicts_with_all = ["paths", "fix", "changed_since", "staged", "workflow", "tag"])]
    pub all: bool,
    #[cfg(feature = "full")]
    /// The workflows of the connected n8n that have this tag
    #[arg(long, value_name = "TAG", conflicts_with_all = ["paths", "fix", "changed_since", "staged", "workflow"])]
    pub tag: Option<String>,
    /// Print what a code means, with examples and the fix, and check nothing
    #[arg(long, value_name = "CODE", exclusive = true)]
    pub explain: Option<String>,
    /// The lowest severity that fails the check
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub fail_on: FailOn,
    /// Only these codes, or families of codes (`n8n/`)
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Not these codes, or families of codes
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Write a report for CI: `sarif=FILE`, `junit=FILE`, or `github` for annotations
    #[arg(long = "report", value_name = "KIND[=FILE]", value_parser = report)]
    pub reports: Vec<Report>,
    /// Write a page for people: totals, and all findings in a table to sort and filter
    #[arg(long, value_name = "FILE", value_parser = page_file)]
    pub html: Option<PathBuf>,
    /// Known findings, which do not fail the check
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Make what is found now the baseline
    #[arg(long, requires = "baseline", conflicts_with = "fix")]
    pub write_baseline: bool,
    /// Apply the fixes that are sure, and show the diff
    #[arg(long)]
    pub fix: bool,
    /// With --fix: show the diff and change nothing
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
    /// Only files that differ from where the branch left this git revision
    #[arg(long, value_name = "REV")]
    pub changed_since: Option<String>,
    /// Only what the next commit would add or change, as it is staged, whatever stands in the folder beside it
    #[arg(long, conflicts_with_all = ["changed_since", "fix"])]
    pub staged: bool,
}

/// A form in which CI reads the findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    Sarif(PathBuf),
    Junit(PathBuf),
    Github,
}

impl QaArgs {
    /// Something is written that needs all findings together.
    pub fn needs_all(&self) -> bool {
        !self.reports.is_empty() || self.html.is_some()
    }
}

fn report(text: &str) -> Result<Report, String> {
    match text.split_once('=') {
        Some(("sarif", file)) if !file.is_empty() => Ok(Report::Sarif(file.into())),
        Some(("junit", file)) if !file.is_empty() => Ok(Report::Junit(file.into())),
        None if text == "github" => Ok(Report::Github),
        _ => Err("write sarif=FILE, junit=FILE or github".to_owned()),
    }
}
