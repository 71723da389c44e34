//! The command line: parse, call, render. No rule of the domain lives here, and it is the only place that prints.

mod activation;
mod args;
mod ask;
mod attended;
mod bar;
mod by_user;
mod cases;
mod catalog_file;
mod choices;
mod choose;
mod commands;
mod completing;
mod connection;
mod conversations;
mod course;
mod declared;
mod error;
#[cfg(test)]
mod events_tests;
mod fit;
mod folder_trust;
mod given;
mod guessed;
mod journals;
mod layout;
mod look;
mod model_choice;
mod nearby;
mod observer;
mod other_packs;
mod output;
mod plain;
mod progress;
mod project;
mod questions;
mod reading;
mod remote;
mod report;
mod runtime;
mod serving;
mod session;
mod settings;
mod signals;
mod spinner;
mod streams;
mod timeline;
#[cfg(test)]
mod timeline_tests;
mod tool_sessions;
mod traces;
mod words;
#[cfg(test)]
mod words_tests;

use args::Global;
use clap::{CommandFactory, Parser};
use commands::Command;
use error::{CliError, Exit};
use output::Output;
use std::ffi::OsString;

/// Build, check and repair n8n workflows with agents whose rules the program enforces.
#[derive(Debug, Parser)]
#[command(
    name = "agentctl",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Examples:\n  agentctl build \"Every day at 9:00 post the open Jira bugs to Slack #dev\"\n  agentctl qa workflows/\n  agentctl resume\n\nWith no key, no n8n and no network it works on the offline model and the embedded n8n backend.\nExit codes: 0 complete, 1 findings or failed, 2 usage, 3 blocked, 4 waiting for an answer, 5 refused, 6 model, 7 n8n or MCP, 8 budget, 9 draft (not all of the request is in it), 70 internal error, 129/130/131/143 ended by a signal (state saved)."
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Runs one command; the exit code is what the process ends with.
pub fn main(args: Vec<OsString>) -> u8 {
    if let Some(form) = reading::asked(&args) {
        return reading::answer(form).code();
    }
    match completing::answer(&args) {
        Ok(true) => return Exit::Complete.code(),
        Ok(false) => {}
        Err(error) => return output::usage(&error, &args).code(),
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => {
            let error = guessed::explained(error, &args, Cli::command());
            return output::usage(&error, &args).code();
        }
    };
    let mut out = Output::new(&cli.global);
    out.no_input = cli.command.no_input();
    agentctl_mcp::tell_of_starts(out.of_starts());
    let ended = ready().and_then(|()| cli.command.run(&cli.global.project, Cli::command, &out));
    let exit = output::finish(&out, ended);
    agentctl_host::family::end_all();
    exit.code()
}

/// What every command needs of the machine.
fn ready() -> Result<(), CliError> {
    agentctl_host::machine::handles().map_err(CliError::of_handles)?;
    signals::listen()
}
