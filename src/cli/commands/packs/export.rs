//! `agentctl packs export`: a pack as workflows of n8n, in a folder.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::session;
use agentctl_host::files::write_atomic;
use agentctl_n8n_tools::export::workflows;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Target {
    N8n,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Its name
    #[arg(value_name = "PACK")]
    pack: String,
    /// What it becomes
    #[arg(long, value_enum, default_value = "n8n")]
    to: Target,
    /// The folder for the workflows; files of the same names in it are written anew
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn export(root: &Path, args: &ExportArgs, out: &Output) -> Result<Exit, CliError> {
    let Target::N8n = args.to;
    let pack = session::named_pack(root, &args.pack, out)?;
    let exported = workflows(&pack).map_err(|e| CliError::usage(e.to_string()))?;
    let shown = args.dir.display();
    std::fs::create_dir_all(&args.dir).map_err(|e| CliError::io("make", &args.dir, &e))?;
    let mut files = Vec::new();
    for one in &exported {
        let path = args.dir.join(&one.file);
        let text = serde_json::to_string_pretty(&one.workflow)
            .map_err(|e| CliError::failed(e.to_string()))?;
        write_atomic(&path, (text + "\n").as_bytes())
            .map_err(|e| CliError::failed(e.to_string()))?;
        files.push(path.display().to_string());
    }
    out.answer(
        Exit::Complete,
        || {
            let lines: String = files.iter().map(|file| format!("{file}\n")).collect();
            format!("{lines}next: agentctl qa {shown}/*.json; import them into n8n in this order, choose the credentials there, and set INTEGRATION_URL and ASSISTANT_MODEL for it\n")
        },
        || json!({"pack": args.pack, "files": files}),
    )
}
