//! `agentctl learnings add`: a new entry.

use super::told::{today, told};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use agentctl_knowledge::{ENTRIES, FOLDER, Learnings, NewLearning};
use clap::Args;
use serde_json::json;

/// Add an entry; the same lesson twice is kept once
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  agentctl learnings add \"Sheet tabs are locators\" --problem \"sheetName is reported as empty\" \\\n    --cause \"it is a resource locator\" --solution \"set mode and value\" --node n8n-nodes-base.googleSheets --code n8n/parameter --tag locator"
)]
pub struct LearningsAddArgs {
    #[arg(value_name = "TITLE")]
    pub title: String,
    /// What one sees
    #[arg(long, value_name = "TEXT")]
    pub problem: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub cause: String,
    /// What to do
    #[arg(long, value_name = "TEXT")]
    pub solution: String,
    /// Where it was seen: run and event, finding id, documentation
    #[arg(long, value_name = "TEXT", default_value = "written by hand")]
    pub evidence: String,
    /// The workflow it was seen in
    #[arg(long, value_name = "ID")]
    pub workflow: Option<String>,
    /// Full node type, e.g. n8n-nodes-base.slack
    #[arg(long = "node", value_name = "TYPE", value_delimiter = ',')]
    pub nodes: Vec<String>,
    /// Finding code, e.g. n8n/parameter
    #[arg(long = "code", value_name = "CODE", value_delimiter = ',')]
    pub codes: Vec<String>,
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    pub tags: Vec<String>,
    /// `checker` (the checker's likely fix is right), or edit operations as JSON
    #[arg(long, value_name = "FIX")]
    pub fix: Option<String>,
    /// YYYY-MM-DD; default: today
    #[arg(long, value_name = "DATE")]
    pub date: Option<String>,
}

pub fn add(learnings: &Learnings, args: &LearningsAddArgs, out: &Output) -> Result<Exit, CliError> {
    let id = learnings
        .add(NewLearning {
            title: args.title.clone(),
            date: args.date.clone().unwrap_or_else(today),
            workflow: args.workflow.clone(),
            node_types: args.nodes.clone(),
            finding_codes: args.codes.clone(),
            tags: args.tags.clone(),
            problem: args.problem.clone(),
            cause: args.cause.clone(),
            solution: args.solution.clone(),
            evidence: args.evidence.clone(),
            fix: args.fix.clone(),
        })
        .map_err(|e| told(&e))?;
    out.answer(
        Exit::Complete,
        || format!("{id}: {}\n", plain(&args.title)),
        || json!({"id": id, "file": format!("{FOLDER}/{ENTRIES}")}),
    )
}
