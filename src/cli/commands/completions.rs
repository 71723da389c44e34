//! `agentctl completions SHELL`: a script for packagers and shells.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::write_bytes;
use clap::Args;

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  agentctl completions bash > /etc/bash_completion.d/agentctl")]
pub struct CompletionsArgs {
    #[arg(value_name = "SHELL")]
    shell: clap_complete::Shell,
}

/// Of the `whole` command line.
pub fn completions(args: &CompletionsArgs, whole: &mut clap::Command) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, whole, "agentctl", &mut script);
    write_bytes(&script)?;
    Ok(Exit::Complete)
}
