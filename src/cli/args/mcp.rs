//! What can be typed about MCP servers.

use crate::cli::serve_args::McpServeArgs;
use clap::{Subcommand, ValueEnum};

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
