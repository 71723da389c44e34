//! `agentctl man`: the manual pages, for packagers.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::write_bytes;
use clap::Args;
use std::path::PathBuf;

/// Print the manual page, or write one page for each command
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  agentctl man | man -l -\n  agentctl man --dir share/man/man1")]
pub struct ManArgs {
    /// Write agentctl.1, agentctl-build.1, … into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// One page on stdout, or with `dir` a page for each command of the `whole` command line.
pub fn man(args: &ManArgs, whole: clap::Command) -> Result<Exit, CliError> {
    match &args.dir {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(whole)
                .render(&mut page)
                .map_err(|e| CliError::failed(format!("cannot render the manual page: {e}")))?;
            write_bytes(&page)?;
        }
        Some(dir) => {
            std::fs::create_dir_all(dir).map_err(|e| CliError::io("make the folder", dir, &e))?;
            clap_mangen::generate_to(whole, dir)
                .map_err(|e| CliError::io("write the manual pages to", dir, &e))?;
        }
    }
    Ok(Exit::Complete)
}
