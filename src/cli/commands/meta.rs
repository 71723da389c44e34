//! `completions` and `man`: what packagers need.

use crate::cli::args::Cli;
use crate::cli::error::{CliError, Exit};
use clap::CommandFactory;
use std::path::Path;

pub fn completions(shell: clap_complete::Shell) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "agentctl", &mut script);
    crate::cli::output::write_bytes(&script)?;
    Ok(Exit::Complete)
}

/// One page on stdout, or with `dir` a page for each command.
pub fn man(dir: Option<&Path>) -> Result<Exit, CliError> {
    match dir {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command())
                .render(&mut page)
                .map_err(|e| CliError::failed(format!("cannot render the manual page: {e}")))?;
            crate::cli::output::write_bytes(&page)?;
        }
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|e| CliError::io("make the folder", dir, &e))?;
            clap_mangen::generate_to(Cli::command(), dir)
                .map_err(|e| CliError::io("write the manual pages to", dir, &e))?;
        }
    }
    Ok(Exit::Complete)
}
