//! What can be typed about a pack: its agents, skills, flow and policy.

use clap::Subcommand;
use std::path::PathBuf;

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
        /// What the run knows: a JSON object with `request`, `answers`, `calls`, `grants`
        #[arg(long, value_name = "FILE")]
        facts: Option<PathBuf>,
    },
}
