//! What can be typed about the development n8n.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum N8nCommand {
    /// Install n8n from npm (once, some minutes and 2.5 GB), start it on the loopback interface and make its keys
    #[command(
        after_help = "Examples:\n  agentctl n8n up\n  agentctl n8n up --port 5690 --write-mcp\n  source .agentctl/n8n/env && agentctl doctor\n\nNeeds npm. n8n's data and keys stay in .agentctl/n8n/ of the project, which git passes over; the installation is shared\nby your projects. Run again, it says where n8n is. Exit code 1: not installed or no port; 7: n8n does not start."
    )]
    Up(N8nUpArgs),
    /// Stop it; its data stays for the next start
    #[command(after_help = "Examples:\n  agentctl n8n down\n  agentctl n8n down --delete")]
    Down {
        /// Forget its workflows, executions and keys
        #[arg(long)]
        delete: bool,
        #[command(flatten)]
        folder: N8nFolder,
    },
    /// Whether it runs, where, and as which process
    #[command(
        after_help = "Example:\n  agentctl n8n status --output-format json\n\nExit code 0: it runs and answers; 7: it does not."
    )]
    Status {
        #[command(flatten)]
        folder: N8nFolder,
    },
}

#[derive(Debug, Args)]
pub struct N8nFolder {
    /// Where its data lies; default: .agentctl/n8n of the project
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct N8nUpArgs {
    /// The port; n8n also uses the one after it. Default: that of last time, else the first free from 5678 on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..65535))]
    pub port: Option<u16>,
    /// How long n8n may take to be ready, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 180)]
    pub wait: u64,
    /// Add its MCP servers to .mcp.json, by the names of variables and never with a key
    #[arg(long)]
    pub write_mcp: bool,
    /// Where n8n is installed; default: agentctl's folder in your cache
    #[arg(long, value_name = "DIR", env = "AGENTCTL_CACHE", hide_env = true)]
    pub cache: Option<PathBuf>,
    #[command(flatten)]
    pub folder: N8nFolder,
}
