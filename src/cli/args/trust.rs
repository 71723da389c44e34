//! `agentctl trust`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct TrustArgs {
    /// The folder; default: the project folder
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Only show what would come into force, and the hash for AGENTCTL_TRUST
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    pub show: bool,
    /// Forget what was approved of the folder: it is restricted again
    #[arg(long, conflicts_with = "yes")]
    pub revoke: bool,
    /// Do not ask, on a terminal either
    #[arg(long)]
    pub yes: bool,
}
