//! What can be typed to keep workflows of an n8n in files.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct PullArgs {
    /// The workflow: its id, or the name that only it has
    #[arg(value_name = "ID")]
    pub id: String,
    /// Where it goes; default: workflows/ of the project, named after the workflow
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// With the data that is pinned in n8n's editor
    #[arg(long)]
    pub pinned: bool,
    /// Over a file that has other changes or follows another workflow
    #[arg(long)]
    pub force: bool,
    /// Show what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct PushArgs {
    /// The workflow file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The workflow to update; default: the one that the file follows, else a new one
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// Over what was changed on n8n since the file was pulled
    #[arg(long)]
    pub force: bool,
    /// Allow what a guard would ask: wipe, publish, credentials
    #[arg(long, value_name = "GUARD", value_parser = ["wipe", "publish", "credentials"])]
    pub allow: Vec<String>,
    /// Show the diff, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}
