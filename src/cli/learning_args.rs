//! What can be typed after `learnings` and `analyze`.

use super::args::{FailOn, ModelOptions};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum LearningsCommand {
    /// Add an entry; the same lesson twice is kept once
    #[command(
        after_help = "Example:\n  agentctl learnings add \"Sheet tabs are locators\" --problem \"sheetName is reported as empty\" \\\n    --cause \"it is a resource locator\" --solution \"set mode and value\" --node n8n-nodes-base.googleSheets --code n8n/parameter --tag locator"
    )]
    Add(Box<LearningsAddArgs>),
    /// Change fields of an entry
    #[command(
        after_help = "Example:\n  agentctl learnings edit L-003 --set solution=\"take values from the schema\" --set tags=slack,labels"
    )]
    Edit {
        #[arg(value_name = "ID")]
        id: String,
        /// title, date, workflow, node types, finding codes, tags, problem, cause, solution, evidence, fix, status or notes
        #[arg(long, value_name = "FIELD=VALUE", required = true)]
        set: Vec<String>,
    },
    /// Entries and patterns by id, with how often they helped
    #[command(after_help = "Example:\n  agentctl learnings show L-001 L-004 P-002")]
    Show {
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
    },
    /// Find entries by words, tag:NAME, code:CODE or node:TYPE
    #[command(
        after_help = "Examples:\n  agentctl learnings search resource locator\n  agentctl learnings search code:n8n/parameter node:slack"
    )]
    Search {
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Retired entries too
        #[arg(long)]
        retired: bool,
    },
    /// Print the index and write its files anew
    #[command(
        after_help = "Examples:\n  agentctl learnings index\n  agentctl learnings index --check\n\nExit code of --check: 0 the index is what LEARNINGS.md makes of it, 1 it is stale."
    )]
    Index {
        /// Write nothing; fail when the index is stale
        #[arg(long)]
        check: bool,
    },
    /// Find broken forms, copies, contradictions, dead links, long and unread entries
    #[command(
        after_help = "Examples:\n  agentctl learnings check\n  agentctl learnings check --fix\n\nExit code 0: nothing at or above the threshold; 1: something is."
    )]
    Check {
        /// Mend what needs no judgement: missing status, date and evidence, exact copies, the index
        #[arg(long)]
        fix: bool,
        /// The lowest level that fails the check
        #[arg(long, value_name = "LEVEL", default_value = "error")]
        fail_on: FailOn,
    },
    /// How many entries, what an agent reads first, and which entries helped
    #[command(after_help = "Example:\n  agentctl learnings stats")]
    Stats,
    /// Take over a hand-written file (`## L-042: …`, `### [date] title` and others)
    #[command(
        after_help = "Example:\n  agentctl learnings import notes/LEARNINGS.md\n\nThe source stays as it is. What has no field goes to the entry's notes; what could not be read is listed."
    )]
    Import {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Take an entry out of the index; it stays readable by its id
    #[command(
        after_help = "Example:\n  agentctl learnings retire L-006 --reason \"fixed in n8n 2.40\""
    )]
    Retire {
        #[arg(value_name = "ID")]
        id: String,
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

#[derive(Debug, Args)]
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

#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// The run; default: the newest
    #[arg(value_name = "RUN", conflicts_with_all = ["workflow", "since"])]
    pub run: Option<String>,
    /// This workflow: its versions, its changes, and the newest run that changed it
    #[arg(long, value_name = "ID", conflicts_with = "since")]
    pub workflow: Option<String>,
    /// Its last executions as well (200 at most), where the backend executes
    #[arg(long, value_name = "N", requires = "workflow")]
    pub executions: Option<usize>,
    /// All runs since then together: 30d, 12h, 2w or YYYY-MM-DD
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Write the proposed learnings, and name them at the patterns that they belong to
    #[arg(long, conflicts_with = "since")]
    pub accept_learnings: bool,
    /// One call of a model on top: claims that name no event, finding or execution of the journal are left out
    #[arg(long, conflicts_with = "since")]
    pub explain: bool,
    #[command(flatten)]
    pub model: ModelOptions,
}
