//! What can be typed: the command tree. Only parsing; what it means is in `commands/`.

mod model;
mod n8n;

pub use model::{LimitOptions, ModelNames, ModelOptions, ModelsArgs};
pub use n8n::{N8nCommand, N8nFolder, N8nUpArgs};

use super::learning_args::{AnalyzeArgs, LearningsCommand};
use super::serve_args::McpServeArgs;
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
    /// Check workflow files
    #[command(
        after_help = "Examples:\n  agentctl qa workflows/\n  agentctl qa --output-format json --fail-on warning flow.json\n  cat flow.json | agentctl qa -\n  agentctl qa --fix workflows/\n  agentctl qa --baseline qa-baseline.json --write-baseline workflows/\n  agentctl qa --changed-since origin/main --report github --report sarif=qa.sarif .\n  agentctl qa --explain agentctl/unknown-reference\n\nWaivers stand in agentctl.toml ([[qa.waiver]]: code or id, path, node, reason, expires).\nExit code 0: nothing at or above the threshold; 1: findings; 2: usage."
    )]
    Qa(QaArgs),
    /// Why a run went as it did, and what can be learned from it; reads only
    #[command(
        after_help = "Examples:\n  agentctl analyze\n  agentctl analyze 019a… --accept-learnings\n  agentctl analyze --since 30d\n  agentctl analyze --workflow orders --executions 20"
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

/// How questions are answered.
#[derive(Debug, Args)]
pub struct AnswerOptions {
    /// Take every recommendation; a required question without one still stops the run
    #[arg(long, short)]
    pub yes: bool,
    /// Answers given ahead: a JSON object, question id or topic → answer (`-`: stdin)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Never ask on the terminal: stop with exit code 4 instead
    #[arg(long)]
    pub no_input: bool,
}

#[derive(Debug, Args)]
pub struct BuildArgs {
    /// What to build or to change, in plain words (`-`: read it from stdin)
    #[arg(value_name = "REQUEST")]
    pub request: String,
    /// The workflow to change: a file, or the id of a workflow in the project
    #[arg(long, short, value_name = "FILE|ID")]
    pub workflow: Option<String>,
    #[command(flatten)]
    pub answers: AnswerOptions,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run; default: the active one
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Go on although agents, flow or policy changed since the run began
    #[arg(long)]
    pub allow_pack_change: bool,
    #[command(flatten)]
    pub answers: AnswerOptions,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The run that waits
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Answers, each as ID=VALUE or TOPIC=VALUE
    #[arg(value_name = "ID=VALUE")]
    pub pairs: Vec<String>,
    /// More answers from a JSON file (`-`: stdin)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// All runs of the project, newest first
    #[command(after_help = "Example:\n  agentctl runs list")]
    List,
    /// One run: what was asked, what happened, how it ended
    #[command(after_help = "Example:\n  agentctl runs show 019a…")]
    Show {
        #[arg(value_name = "RUN")]
        run: String,
    },
    /// Check the hash chain of a journal (all runs when none is named)
    #[command(after_help = "Example:\n  agentctl runs verify")]
    Verify {
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The run whose changes are taken back; default: the active run
    #[arg(value_name = "RUN", conflicts_with = "workflow")]
    pub run: Option<String>,
    /// Take back what the last run did to this workflow, instead of a whole run
    #[arg(long, value_name = "ID|FILE")]
    pub workflow: Option<String>,
    /// Put it as change N left it (0: as before the first change); default: as before the run
    #[arg(long, value_name = "N")]
    pub to: Option<u32>,
    /// Also when the workflow was changed since by somebody else
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// A run (default: the active one): from what it started from to what it left; or two files
    #[arg(value_name = "RUN|FILE FILE", num_args = 0..=2)]
    pub what: Vec<String>,
    /// A workflow: from before the last run that changed it to how it is now
    #[arg(long, value_name = "ID|FILE", conflicts_with = "what")]
    pub workflow: Option<String>,
    /// From the state that change N left; 0: from before the first
    #[arg(long, value_name = "N")]
    pub from: Option<u32>,
    /// To the state that change N left
    #[arg(long, value_name = "N")]
    pub to: Option<u32>,
}

#[derive(Debug, Args)]
pub struct LogArgs {
    /// The run; default: the active one
    #[arg(value_name = "RUN", conflicts_with = "workflow")]
    pub run: Option<String>,
    /// The numbered changes of this workflow over all runs, instead of a run
    #[arg(long, value_name = "ID|FILE", conflicts_with_all = ["follow", "since"])]
    pub workflow: Option<String>,
    /// Go on with what comes, until the run ends or stops
    #[arg(long, short)]
    pub follow: bool,
    /// Only records from this number on
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub since: u64,
}

#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// The agents: role, model tier, tools, skills
    #[command(after_help = "Example:\n  agentctl agents list")]
    List,
    /// One agent with its prompt and the tools it may use
    #[command(after_help = "Example:\n  agentctl agents show builder")]
    Show {
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Check agents, flow, policy and skills; every mistake with file and line
    #[command(after_help = "Example:\n  agentctl agents check --project .")]
    Check,
}

#[derive(Debug, Subcommand)]
pub enum SkillsCommand {
    /// The skills, where they come from and who has them
    #[command(after_help = "Example:\n  agentctl skills list")]
    List,
    /// A skill's text, or one of its files
    #[command(after_help = "Example:\n  agentctl skills show n8n-expression-syntax")]
    Show {
        #[arg(value_name = "NAME")]
        name: String,
        /// A file inside the skill's folder
        #[arg(value_name = "FILE")]
        file: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum FlowCommand {
    /// Check the flow file; every mistake with file and line
    #[command(after_help = "Example:\n  agentctl flow check")]
    Check,
    /// Draw the flow as a Mermaid diagram
    #[command(after_help = "Example:\n  agentctl flow graph > flow.mmd")]
    Graph,
}

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// The permission matrix and the limits in force
    #[command(after_help = "Example:\n  agentctl policy show")]
    Show,
    /// What would be decided for a call, and by which rule
    #[command(
        after_help = "Example:\n  agentctl policy check qa delete_workflow '{\"workflow_id\":\"orders\"}'"
    )]
    Check {
        #[arg(value_name = "ROLE")]
        role: String,
        #[arg(value_name = "TOOL")]
        tool: String,
        /// The call's arguments as a JSON object
        #[arg(value_name = "ARGS-JSON")]
        args: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// The servers of .mcp.json, started or not; none is started for this
    #[command(after_help = "Example:\n  agentctl mcp list")]
    List,
    /// Serve agentctl's own tools to another agent, as one role and behind the same guards
    #[command(
        after_help = "Examples:\n  agentctl mcp serve --role builder\n  agentctl mcp serve --role builder --workflow orders --scope \"Post to Slack\"\n  agentctl mcp serve --role qa --http 127.0.0.1:8137\n  agentctl mcp serve --role builder --print-config claude\n\nOver stdio a client starts it; it ends with its client (exit code 0). Over HTTP it listens on the loopback\ninterface only and wants a bearer token: the one in AGENTCTL_MCP_TOKEN, else a new one that it prints once to stderr.\nEach session is a run of its own: `agentctl runs list`, `agentctl runs show RUN`, `agentctl undo RUN`."
    )]
    Serve(McpServeArgs),
    /// Start a server and show its tools: approved, new, or changed since they were approved
    #[command(after_help = "Example:\n  agentctl mcp tools context7")]
    Tools {
        #[arg(value_name = "SERVER")]
        server: String,
    },
    /// Call a tool yourself: no agent, no policy, but the same limits; secrets are hidden
    #[command(
        after_help = "Examples:\n  agentctl mcp call n8n-mcp search_nodes '{\"query\":\"slack\"}'\n  agentctl mcp call n8n-mcp n8n_health_check"
    )]
    Call {
        #[arg(value_name = "SERVER")]
        server: String,
        #[arg(value_name = "TOOL")]
        tool: String,
        /// The arguments as a JSON object (`-`: stdin); default: none
        #[arg(value_name = "JSON")]
        arguments: Option<String>,
    },
    /// Approve a server's tools as they are described now; agents can call no other
    #[command(
        after_help = "Examples:\n  agentctl mcp approve context7\n  agentctl mcp approve context7 get-library-docs\n\nWhat is approved is shown. A tool whose description or schema changes later needs approval again."
    )]
    Approve {
        #[arg(value_name = "SERVER")]
        server: String,
        /// Only this tool; default: all of them
        #[arg(value_name = "TOOL")]
        tool: Option<String>,
    },
    /// Switch a server on in .mcp.json
    #[command(after_help = "Example:\n  agentctl mcp enable github")]
    Enable {
        #[arg(value_name = "SERVER")]
        server: String,
    },
    /// Switch a server off in .mcp.json; it stays in the file
    #[command(after_help = "Example:\n  agentctl mcp disable github")]
    Disable {
        #[arg(value_name = "SERVER")]
        server: String,
    },
    /// Switch between the servers of n8n only and all servers
    #[command(after_help = "Example:\n  agentctl mcp switch minimal")]
    Switch {
        #[arg(value_name = "WHICH")]
        to: McpSet,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum McpSet {
    /// The servers of n8n; all others are switched off
    Minimal,
    /// All servers of the file
    Full,
}

#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// Find node types by name, operation or synonym
    #[command(after_help = "Example:\n  agentctl catalog search \"append google sheet\"")]
    Search {
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
    },
    /// A node type: its operations, or the parameters of one operation
    #[command(
        after_help = "Examples:\n  agentctl catalog show slack\n  agentctl catalog show n8n-nodes-base.slack --resource message --operation post"
    )]
    Show {
        #[arg(value_name = "TYPE")]
        node_type: String,
        #[arg(long, value_name = "N")]
        version: Option<f64>,
        #[arg(long, value_name = "RESOURCE")]
        resource: Option<String>,
        #[arg(long, value_name = "OPERATION")]
        operation: Option<String>,
    },
    /// Take the node types of your own n8n, community nodes included, into this project's catalog
    #[command(
        after_help = "Examples:\n  agentctl catalog sync https://n8n.example.com\n  agentctl catalog sync nodes.json credentials.json --n8n-version 2.39.4\n\nWrites n8n-catalog.bin into the project. A package that it knows is its alone; other types stay those that agentctl brings."
    )]
    Sync(CatalogSyncArgs),
    /// What changed between two catalogs for the node types that your workflows use
    #[command(
        after_help = "Examples:\n  agentctl catalog diff embedded project\n  agentctl catalog diff old.bin new.bin --workflows workflows/"
    )]
    Diff(CatalogDiffArgs),
    /// Make a catalog file from n8n's published node descriptions
    #[command(
        after_help = "Example:\n  npm pack n8n-nodes-base@2.39.2 && tar xzf n8n-nodes-base-2.39.2.tgz\n  agentctl catalog build package/dist/types/nodes.json -o catalog.bin"
    )]
    Build {
        /// `dist/types/nodes.json` of a package, or a running n8n's `types/nodes.json`
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Where the catalog goes
        #[arg(long, short, value_name = "OUT")]
        output: PathBuf,
        /// The n8n release that the descriptions belong to, e.g. 2.39.4
        #[arg(long, value_name = "VERSION")]
        n8n_version: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct CatalogSyncArgs {
    /// An n8n's address, or files: its `types/nodes.json`, a community package's (after its package.json), `credentials.json`
    #[arg(value_name = "URL|FILE", required = true)]
    pub sources: Vec<String>,
    /// The n8n release, e.g. 2.39.4
    #[arg(long, value_name = "VERSION")]
    pub n8n_version: Option<String>,
    /// The environment variable that holds a header to send, e.g. `Cookie: n8n-auth=…`
    #[arg(long, value_name = "VAR")]
    pub auth_env: Option<String>,
}

#[derive(Debug, Args)]
pub struct CatalogDiffArgs {
    /// The catalog before: a file, `embedded` (compiled in) or `project`
    #[arg(value_name = "A")]
    pub old: String,
    /// The catalog after
    #[arg(value_name = "B")]
    pub new: String,
    /// Workflow files or folders; default: workflows/ of the project
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub workflows: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    Warning,
    Never,
}

#[derive(Debug, Args)]
pub struct QaArgs {
    /// Workflow files or folders (`-`: stdin)
    #[arg(value_name = "PATH", required_unless_present = "explain")]
    pub paths: Vec<PathBuf>,
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
