//! What can be typed about checking workflows.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    Warning,
    Never,
}

#[derive(Debug, Args)]
pub struct QaArgs {
    /// Workflow files or folders (`-`: stdin)
    #[arg(value_name = "PATH", required_unless_present_any = ["explain", "workflow", "all", "tag"])]
    pub paths: Vec<PathBuf>,
    /// A workflow of the connected n8n, by id or name, instead of files; n8n is only read
    #[arg(long, value_name = "ID", conflicts_with_all = ["paths", "fix", "changed_since"])]
    pub workflow: Vec<String>,
    /// All workflows of the connected n8n
    #[arg(long, conflicts_with_all = ["paths", "fix", "changed_since", "workflow", "tag"])]
    pub all: bool,
    /// The workflows of the connected n8n that have this tag
    #[arg(long, value_name = "TAG", conflicts_with_all = ["paths", "fix", "changed_since", "workflow"])]
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
}

/// A form in which CI reads the findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    Sarif(PathBuf),
    Junit(PathBuf),
    Github,
}

fn report(text: &str) -> Result<Report, String> {
    match text.split_once('=') {
        Some(("sarif", file)) if !file.is_empty() => Ok(Report::Sarif(file.into())),
        Some(("junit", file)) if !file.is_empty() => Ok(Report::Junit(file.into())),
        None if text == "github" => Ok(Report::Github),
        _ => Err("write sarif=FILE, junit=FILE or github".to_owned()),
    }
}
