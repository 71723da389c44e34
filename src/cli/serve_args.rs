//! What can be typed after `mcp serve`. Only parsing.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct McpServeArgs {
    /// The role whose tools are served (`agentctl agents list`)
    #[arg(long, value_name = "ROLE")]
    pub role: String,
    /// Only this workflow may be changed, none created or deleted
    #[arg(long, value_name = "ID")]
    pub workflow: Option<String>,
    /// Only these nodes may be changed, by id or name; of the one workflow that has them all, unless --workflow says which
    #[arg(long, value_name = "NODE", num_args = 1..)]
    pub scope: Vec<String>,
    /// Listen for HTTP on this loopback address instead of stdio; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0", value_parser = loopback)]
    pub http: Option<std::net::SocketAddr>,
    /// Print what to paste into a client's configuration, and serve nothing
    #[arg(long, value_name = "CLIENT", num_args = 0..=1, default_missing_value = "claude")]
    pub print_config: Option<ConfigFor>,
}

/// A client whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigFor {
    /// Claude Code: a command to run
    Claude,
    /// Codex: a part of config.toml
    Codex,
    /// goose: a part of config.yaml
    Goose,
}

fn loopback(text: &str) -> Result<std::net::SocketAddr, String> {
    let numeric = text.replacen("localhost:", "127.0.0.1:", 1);
    let address: std::net::SocketAddr = numeric
        .parse()
        .map_err(|_| "write ADDRESS:PORT, for example 127.0.0.1:8137".to_owned())?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err("only a loopback address is listened on, for example 127.0.0.1".to_owned())
    }
}
