//! The command line of a program that only checks files: feature `qa` without `full`. The command is the full program's own; what
//! differs stands here. It knows no trust, so nothing that a project could override counts, but for its waivers.

mod args;
mod catalog_file;
#[path = "../cli/commands"]
mod commands {
    pub mod qa;
}
#[path = "../cli/error.rs"]
mod error;
#[path = "../cli/fit.rs"]
mod fit;
#[path = "../cli/output.rs"]
mod output;
#[path = "../cli/plain.rs"]
mod plain;
mod settings;
#[path = "../cli/signals.rs"]
mod signals;
#[path = "../cli/streams.rs"]
mod streams;

use args::Global;
use clap::{Parser, Subcommand};
use commands::qa::{QaArgs, qa};
use error::CliError;
use output::Output;
use std::ffi::OsString;

/// Check n8n workflow files: agentctl built with its checker alone, without models, runs, servers and a connected n8n.
#[derive(Debug, Parser)]
#[command(
    name = "agentctl",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Examples:\n  agentctl qa workflows/\n  agentctl qa --changed-since origin/main --report github .\n\nThis program was built with the feature `qa` alone. All other commands are in the one that\n`cargo install --path .` builds.\nExit codes: 0 complete, 1 findings or failed, 2 usage, 70 internal error."
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Qa(QaArgs),
}

/// Runs one command; the exit code is what the process ends with.
pub fn main(args: Vec<OsString>) -> u8 {
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error, &args).code(),
    };
    let out = Output::new(&cli.global);
    let Command::Qa(args) = &cli.command;
    let ended = ready().and_then(|()| qa(&cli.global.project, args, &out));
    let exit = output::finish(&out, ended);
    agentctl_host::family::end_all();
    exit.code()
}

/// What every command needs of the machine.
fn ready() -> Result<(), CliError> {
    agentctl_host::machine::handles().map_err(CliError::of_handles)?;
    signals::listen()
}
