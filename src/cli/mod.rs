//! The command line: parse, call, render. No rule of the domain lives here, and it is the only place that prints.

pub mod args;
mod ask;
mod catalog_file;
mod choose;
mod commands;
mod error;
#[cfg(test)]
mod events_tests;
mod learning_args;
mod output;
mod progress;
mod project;
mod report;
mod serve_args;
mod session;
mod settings;
mod story;
#[cfg(test)]
mod story_tests;
mod traces;
mod trusting;
mod waiting;
mod watcher;

use args::{Cli, Command};
use clap::Parser;
use error::{CliError, Exit};
use output::Output;
use std::ffi::OsString;

/// Runs one command; the exit code is what the process ends with. Err is a bug or a lost stderr.
pub fn main(args: Vec<OsString>) -> anyhow::Result<u8> {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, the rest is usage.
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Complete
            };
            if error.use_stderr() {
                // It repeats what was typed, which may have been pasted from anywhere.
                let text = error.render();
                let text = if console::colors_enabled_stderr() {
                    text.ansi().to_string()
                } else {
                    text.to_string()
                };
                eprint!("{}", output::plainly(&text));
            } else {
                match error.print() {
                    // Whoever reads it has seen enough.
                    Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => {}
                    printed => printed?,
                }
            }
            return Ok(exit.code());
        }
    };
    let mut out = Output::new(&cli.global);
    out.no_input = match &cli.command {
        Command::Build(args) => args.answers.no_input,
        Command::Resume(args) => args.answers.no_input,
        _ => false,
    };
    let ended = dispatch(&cli, &out);
    Ok(match ended {
        Ok(exit) => exit.code(),
        Err(error) => {
            out.error(&error);
            error.exit.code()
        }
    })
}

fn dispatch(cli: &Cli, out: &Output) -> Result<Exit, CliError> {
    let project = cli.global.project.as_path();
    match &cli.command {
        Command::Init(args) => commands::init::init(project, args, out),
        Command::Catalog(command) => commands::catalog::catalog(project, command, out),
        Command::Pull(args) => commands::follow::pull(project, args, out),
        Command::Push(args) => commands::follow::push(project, args, out),
        Command::Qa(args) => commands::qa::qa(project, args, out),
        Command::Completions { shell } => commands::meta::completions(*shell),
        Command::Man { dir } => commands::meta::man(dir.as_deref()),
        Command::Build(args) => commands::build::build(project, args, out),
        Command::Resume(args) => commands::build::resume(project, args, out),
        Command::Answer(args) => commands::build::answer(project, args, out),
        Command::Status => commands::runs::status(project, out),
        Command::Runs(command) => commands::runs::runs(project, command, out),
        Command::Approvals(command) => commands::approvals::approvals(project, command, out),
        Command::Accept(args) => commands::accept::accept(project, args, out),
        Command::Undo(args) => commands::undo::undo(project, args, out),
        Command::Diff(args) => commands::diff::diff(project, args, out),
        Command::Log(args) => commands::log::log(project, args, out),
        Command::Agents(command) => commands::pack::agents(project, command, out),
        Command::Skills(command) => commands::pack::skills(project, command, out),
        Command::Flow(command) => commands::flow::flow(project, command, out),
        Command::Policy(command) => commands::policy::policy(project, command, out),
        Command::Analyze(args) => commands::analyze::analyze(project, args, out),
        Command::Learnings(command) => commands::learnings::learnings(project, command, out),
        Command::Usage { run } => commands::usage::usage(project, run.as_deref(), out),
        Command::Models(args) => commands::models::models(project, args, out),
        Command::Mcp(command) => commands::mcp::mcp(project, command, out),
        Command::N8n(command) => commands::n8n::n8n(project, command, out),
        Command::Trust(args) => commands::trust::trust(project, args, out),
        Command::Doctor => commands::doctor::doctor(project, out),
    }
}
