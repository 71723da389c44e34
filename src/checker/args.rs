//! Options of every command, as far as the checker has a use for them.

#[path = "../cli/choices.rs"]
mod choices;

pub use choices::{Color, FailOn, OutputFormat, page_file};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The project folder: its agentctl.toml may hold waivers
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = ".",
        env = "AGENTCTL_PROJECT",
        hide_env = true
    )]
    pub project: PathBuf,
    /// How the answer is written to stdout; remarks always go to stderr
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// No remarks on stderr, only errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}
