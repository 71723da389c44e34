//! `agentctl mcp serve`: our tools for somebody else's agent, over stdio or HTTP on the loopback interface.

use super::client_config::{ConfigFor, config};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::{Output, write_bytes};
use crate::cli::progress::{Progress, plain_long};
use crate::cli::runtime;
use crate::cli::streams;
use crate::cli::tool_sessions::{self, Wanted};
use agentctl_base::canonical::sha256_hex;
use agentctl_engine::run::Observer;
use agentctl_engine::store::Record;
use agentctl_mcp::serve::{Token, http, stream};
use clap::Args;
use std::path::Path;

/// Serve agentctl's own tools to another agent, as one role and behind the same guards
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl mcp serve --role builder\n  agentctl mcp serve --role builder --workflow orders --scope \"Post to Slack\"\n  agentctl mcp serve --role qa --http 127.0.0.1:8137\n  agentctl mcp serve --role builder --print-config claude\n\nOver stdio a client starts it; it ends with its client (exit code 0). Over HTTP it listens on the loopback interface only and wants a bearer token: the one in AGENTCTL_MCP_TOKEN, else a new one that it prints once to stderr.\nEach session is a run of its own: `agentctl runs list`, `agentctl runs show RUN`, `agentctl undo RUN`."
)]
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

/// Where the token is read from; on a command line every process of the machine could read it.
pub(super) const TOKEN_VARIABLE: &str = "AGENTCTL_MCP_TOKEN";

pub fn serve(root: &Path, args: &McpServeArgs, out: &Output) -> Result<Exit, CliError> {
    let wanted = Wanted {
        role: &args.role,
        workflow: args.workflow.as_deref(),
        scope: &args.scope,
    };
    let (session, terms) = tool_sessions::settle(root, &wanted, out)?;
    let cancel = session.cancel.clone();
    if let Some(client) = args.print_config {
        write_bytes(config(client, root, args)?.as_bytes())?;
        return Ok(Exit::Complete);
    }
    let token = match args.http {
        Some(_) => Some(token()?),
        None => None,
    };
    let role = terms.role.clone();
    let hosts = tool_sessions::hosts(session, terms, Box::new(Log(Progress::log(out))));
    let stop = async {
        cancel.requested().await;
    };
    let ended = match (args.http, token) {
        (Some(address), Some((token, generated))) => runtime::block_on_until(&cancel, async {
            let listener = tokio::net::TcpListener::bind(address).await?;
            let address = listener.local_addr()?;
            // Asked for, so not muted: without them nobody can connect.
            out.say(&format!(
                "serving as {role} on http://{address}{}",
                http::PATH
            ));
            match generated {
                Some(text) => streams::tell(&format!("bearer token (shown once): {text}\n")),
                None => out.say(&format!("bearer token: as in {TOKEN_VARIABLE}")),
            }
            http::serve(listener, hosts, token, http::HttpLimits::default(), stop).await
        }),
        _ => runtime::block_on_until(&cancel, async {
            out.note(&format!("serving as {role} on stdin and stdout"));
            #[expect(
                clippy::disallowed_methods,
                reason = "answers to a client, by a task that holds no lock"
            )]
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            stream::serve(hosts, input, output, stop).await
        }),
    }?;
    ended.map_err(|error| CliError::failed(format!("serving ended: {error}")))?;
    Ok(cancel.cause().map_or(Exit::Complete, Exit::from))
}

/// The token from the environment, or a new one with its text.
fn token() -> Result<(Token, Option<String>), CliError> {
    match std::env::var(TOKEN_VARIABLE) {
        Ok(text) => Token::new(&text)
            .map(|token| (token, None))
            .map_err(|why| CliError::usage(format!("{TOKEN_VARIABLE}: {why}"))),
        Err(std::env::VarError::NotPresent) => {
            // Three times 122 random bits, for 256.
            let random: Vec<u8> = (0..3)
                .flat_map(|_| *uuid::Uuid::new_v4().as_bytes())
                .collect();
            let text = sha256_hex(&random);
            let token =
                Token::new(&text).map_err(|why| CliError::new(Exit::Internal, why.to_string()))?;
            Ok((token, Some(text)))
        }
        Err(_) => Err(CliError::usage(format!("{TOKEN_VARIABLE} is not text"))),
    }
}

/// What the sessions do, line by line on stderr.
struct Log(Progress);

impl Observer for Log {
    fn event(&mut self, record: &Record) {
        self.0.record(record);
    }
    fn note(&mut self, text: &str) {
        self.0.line(&plain_long(text));
    }
}
