//! What can be typed: the command tree. Only parsing; what it means is in `commands/`.

mod catalog;
mod follow;
mod mcp;
mod model;
mod n8n;
mod pack;
mod qa;
mod run;
mod trust;

pub use catalog::{CatalogCommand, CatalogDiffArgs, CatalogSyncArgs};
pub use follow::{PullArgs, PushArgs};
pub use mcp::{McpCommand, McpSet};
pub use model::{LimitOptions, ModelNames, ModelOptions, ModelsArgs};
pub use n8n::{N8nCommand, N8nFolder, N8nUpArgs};
pub use pack::{AgentsCommand, FlowCommand, PolicyCommand, SkillsCommand};
pub use qa::{FailOn, QaArgs, Report};
pub use run::{
    AcceptArgs, AnswerArgs, AnswerOptions, ApprovalsCommand, BuildArgs, DiffArgs, LogArgs,
    ResumeArgs, RunsCommand, UndoArgs,
};

pub use trust::TrustArgs;

use super::learning_args::{AnalyzeArgs, LearningsCommand};
use agentctl_n8n_tools::backend::BackendName;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Build, check and repair n8n workflows with agents whose rules the program enforces.
#[derive(Debug, Parser)]
#[command(
    name = "agentctl",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Examples:\n  agentctl build \"Every day at 9:00 post the open Jira bugs to Slack #dev\"\n  agentctl qa workflows/\n  agentctl resume\n\nWith no key, no n8n and no network it works on the offline model and the embedded n8n backend.\nExit codes: 0 complete, 1 findings or failed, 2 usage, 3 blocked, 4 waiting for an answer, 5 refused,\n6 model, 7 n8n or MCP, 8 budget, 70 internal error, 130/143 interrupted (state saved)."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The project folder: holds workflows/, memory/ and your own agents/ and skills/
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = ".",
        env = "AGENTCTL_PROJECT",
        hide_env = true
    )]
    pub project: PathBuf,
    /// How the answer is written to stdout; progress and questions always go to stderr
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// No progress on stderr, only errors and questions
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Let the project's agents/policy.yaml allow more than the built-in policy; the run's journal and report say what
    #[arg(long, global = true)]
    pub allow_loose_policy: bool,
    /// Let everything in the project folder count for this command, without keeping it (see `agentctl trust`)
    #[arg(long, global = true)]
    pub trust_once: bool,
    #[arg(
        long,
        global = true,
        value_name = "BACKEND",
        hide_possible_values = true,
        help = "Where workflows live: auto (an n8n server enabled in .mcp.json, else files), embedded (files), n8n-mcp, instance-mcp, rest"
    )]
    pub backend: Option<BackendArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackendArg {
    Auto,
    Embedded,
    N8nMcp,
    InstanceMcp,
    Rest,
}

impl From<BackendArg> for BackendName {
    fn from(typed: BackendArg) -> Self {
        match typed {
            BackendArg::Auto => BackendName::Auto,
            BackendArg::Embedded => BackendName::Embedded,
            BackendArg::N8nMcp => BackendName::N8nMcp,
            BackendArg::InstanceMcp => BackendName::InstanceMcp,
            BackendArg::Rest => BackendName::Rest,
        }
    }
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Set up a project folder: workflows/, memory/, .gitignore, .mcp.json.example
    #[command(after_help = "Example:\n  agentctl init my-automations")]
    Init(InitArgs),
    /// Build a workflow from a request, or change an existing one with --workflow
    #[command(
        after_help = "Examples:\n  agentctl build \"When a webhook receives an order over 100 EUR, post it to Slack #sales\"\n  agentctl build --workflow workflows/orders.json \"post to #orders instead of #sales\"\n  agentctl build --yes --output-format json \"Every Monday at 8 mail the open Xero invoices to ap@example.com\"\n  agentctl build --answers answers.json \"Tell me when a build fails\"\n\nWithout a terminal, unanswered questions end the run with exit code 4; go on with\n`agentctl answer RUN ID=VALUE` or `agentctl resume --answers FILE`."
    )]
    Build(BuildArgs),
    /// Go on with a run that was interrupted or waits for answers
    #[command(
        after_help = "Examples:\n  agentctl resume\n  agentctl resume 019a… --answers answers.json"
    )]
    Resume(ResumeArgs),
    /// Answer the questions of a waiting run, and go on with it
    #[command(
        after_help = "Examples:\n  agentctl answer 019a… channel=#sales\n  agentctl answer 019a… --answers answers.json"
    )]
    Answer(AnswerArgs),
    /// What the active run is doing, or how it ended
    #[command(after_help = "Example:\n  agentctl status --output-format json")]
    Status,
    /// List, show and verify runs
    #[command(subcommand, after_help = "Example:\n  agentctl runs list")]
    Runs(RunsCommand),
    /// Look at the calls that wait for your word
    #[command(
        subcommand,
        after_help = "Example:\n  agentctl approvals show --reveal"
    )]
    Approvals(ApprovalsCommand),
    /// What a run used: tokens, cache hits and cost by agent, phase, model and tool
    #[command(
        after_help = "Examples:\n  agentctl usage\n  agentctl usage 019a… --output-format json"
    )]
    Usage {
        /// The run; default: the active one
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Which model plays which agent, what it costs, and whether it answers
    #[command(
        after_help = "Examples:\n  agentctl models\n  agentctl models --no-call --model anthropic::claude-sonnet-4-5\n\nModels are set in agentctl.toml: [models] opus, sonnet, haiku, default; [models.agents]; [providers.NAME].\nKeys come from the environment or a command, never from a file. Each model is asked one short question.\nExit code 6: one does not answer."
    )]
    Models(ModelsArgs),
    /// Take back what a run changed, all of it or down to one of its changes
    #[command(
        after_help = "Examples:\n  agentctl undo\n  agentctl undo 20261121-1009 --to 2\n  agentctl undo --workflow orders\n  agentctl undo --workflow orders --to 0\n\nChanges are numbered from 1; `agentctl log RUN` and `agentctl log --workflow ID` show the numbers. State N is what change N\nleft, 0 is what was there before the first. An undo is a change too: `--to` a later number brings back what was undone."
    )]
    Undo(UndoArgs),
    /// Say that a workflow is as you want it: what agents take away is counted from there
    #[command(
        after_help = "Examples:\n  agentctl accept orders\n  agentctl accept orders --yes\n\nAgents may take away at most half of the nodes of the last state that you accepted, over all runs and sessions; more is asked.\nShows what was lost since, and asks. Without a terminal: --yes."
    )]
    Accept(AcceptArgs),
    /// Show what changed between two states of a workflow, or between two files
    #[command(
        after_help = "Examples:\n  agentctl diff\n  agentctl diff 20261121-1009 --from 1 --to 2\n  agentctl diff --workflow orders\n  agentctl diff old.json new.json\n\nNumbers are those of `agentctl log`: state N is what change N left, 0 is what was there before the first."
    )]
    Diff(DiffArgs),
    /// Read a run's journal as a story: who did what, when, by which rule, at what cost
    #[command(
        after_help = "Examples:\n  agentctl log\n  agentctl log 20261121-1009 --since 40\n  agentctl log --follow\n  agentctl log --workflow orders\n\nWith --follow it ends when the run ends, waits for an answer, or is found dead."
    )]
    Log(LogArgs),
    /// The agents of the pack
    #[command(subcommand, after_help = "Example:\n  agentctl agents list")]
    Agents(AgentsCommand),
    /// The skills that agents can load
    #[command(subcommand, after_help = "Example:\n  agentctl skills list")]
    Skills(SkillsCommand),
    /// Check or draw the flow
    #[command(subcommand, after_help = "Example:\n  agentctl flow graph > flow.mmd")]
    Flow(FlowCommand),
    /// Show the permission matrix, or explain one decision
    #[command(
        subcommand,
        after_help = "Example:\n  agentctl policy check builder update_workflow"
    )]
    Policy(PolicyCommand),
    /// Look up n8n's node types; no n8n needed
    #[command(
        subcommand,
        after_help = "Example:\n  agentctl catalog show n8n-nodes-base.slack --resource message --operation post"
    )]
    Catalog(CatalogCommand),
    /// Write a workflow of the connected n8n as a file that git can keep
    #[command(
        after_help = "Examples:\n  agentctl pull Xk2fTq0sOmW9aLcD\n  agentctl pull \"Order intake\" workflows/orders.json\n\nThe file is what n8n imports, without what belongs to that n8n alone. Pinned data stays out unless --pinned is given; static\ndata always does. Exit code 5: the file has changes that were not pushed; 7: n8n is not there."
    )]
    Pull(PullArgs),
    /// Send a workflow file to the connected n8n: update the workflow that it follows, or create one
    #[command(
        after_help = "Examples:\n  agentctl push workflows/orders.json --dry-run\n  agentctl push workflows/orders.json\n  agentctl push workflows/orders.json --allow publish\n\nShows the diff. Refused (exit code 5): the workflow was changed on n8n since the file was pulled (--force), most of its nodes\nwould go (--allow wipe), it is active and the change goes live (--allow publish), credentials change (--allow credentials).\nEach push is a run: `agentctl undo RUN` takes it back."
    )]
    Push(PushArgs),
    /// Check workflow files, or the workflows of the connected n8n
    #[command(
        after_help = "Examples:\n  agentctl qa workflows/\n  agentctl qa --output-format json --fail-on warning flow.json\n  cat flow.json | agentctl qa -\n  agentctl qa --fix workflows/\n  agentctl qa --baseline qa-baseline.json --write-baseline workflows/\n  agentctl qa --changed-since origin/main --report github --report sarif=qa.sarif .\n  agentctl qa --all --report junit=qa.xml\n  agentctl qa --explain agentctl/unknown-reference\n\nWaivers stand in agentctl.toml ([[qa.waiver]]: code or id, path, node, reason, expires).\nExit code 0: nothing at or above the threshold; 1: findings; 2: usage."
    )]
    Qa(QaArgs),
    /// Why a run went as it did, and what can be learned from it; reads only
    #[command(
        after_help = "Examples:\n  agentctl analyze\n  agentctl analyze 019a… --accept-learnings\n  agentctl analyze --since 30d\n  agentctl analyze --workflow orders --executions 20\n  agentctl analyze --explain --model provider::model"
    )]
    Analyze(AnalyzeArgs),
    /// What runs taught: add, find, check and index entries of docs/learning/
    #[command(
        subcommand,
        after_help = "Example:\n  agentctl learnings search code:n8n/parameter"
    )]
    Learnings(LearningsCommand),
    /// The MCP servers of .mcp.json: what they are, their tools, calls by hand
    #[command(subcommand, after_help = "Example:\n  agentctl mcp list")]
    Mcp(McpCommand),
    /// A throw-away n8n of your own to develop against: install, start, stop
    #[command(
        subcommand,
        after_help = "Example:\n  agentctl n8n up && source .agentctl/n8n/env"
    )]
    N8n(N8nCommand),
    /// Say that what a project folder overrides may count: its servers, agents, flow, policy, skills, catalog and settings
    #[command(
        after_help = "Examples:\n  agentctl trust --show\n  agentctl trust\n  agentctl trust ~/projects/shop --yes\n  agentctl trust --revoke\n\nA folder that was never trusted works restricted: files instead of a live n8n, the built-in agents, flow, policy, skills and\ncatalog, no server started, no variable filled in. What you approve is kept in your home by the folder's real path and a hash of\neach item; one that changes is asked about again. For CI: AGENTCTL_TRUST=HASH, as --show prints it. Exit code 5: an item cannot\nbe trusted."
    )]
    Trust(TrustArgs),
    /// Check this machine and this project: what works, what does not, what to do
    #[command(after_help = "Example:\n  agentctl doctor")]
    Doctor,
    /// Print a shell completion script
    #[command(
        after_help = "Example:\n  agentctl completions bash > /etc/bash_completion.d/agentctl"
    )]
    Completions {
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page for each command
    #[command(
        after_help = "Examples:\n  agentctl man | man -l -\n  agentctl man --dir share/man/man1"
    )]
    Man {
        /// Write agentctl.1, agentctl-build.1, … into this folder
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder to set up (made when it is not there); default: the project folder
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
