//! `agentctl completions SHELL`: the script that has a shell ask agentctl what can be typed next.

use crate::cli::completing;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::write_bytes;
use clap::Args;

/// Print a shell completion script: it also completes run ids, workflow files, finding codes, packs and node types
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  source <(agentctl completions bash)\n  agentctl completions fish > ~/.config/fish/completions/agentctl.fish\n\nThe first stands in ~/.bashrc, or with zsh in ~/.zshrc. The script asks the agentctl in your PATH; print it anew after an update."
)]
pub struct CompletionsArgs {
    #[arg(value_name = "SHELL")]
    shell: clap_complete::Shell,
}

pub fn completions(args: &CompletionsArgs) -> Result<Exit, CliError> {
    let shell = args.shell.to_string();
    let script = completing::script(&shell)
        .map_err(|e| CliError::failed(format!("cannot write the script for {shell}: {e}")))?;
    let script = script.ok_or_else(|| CliError::usage(format!("no script for {shell}")))?;
    write_bytes(&script)?;
    Ok(Exit::Complete)
}
