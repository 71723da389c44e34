//! What can be typed about the catalog of node types.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// Find node types by name, operation or synonym
    #[command(after_help = "Example:\n  agentctl catalog search \"append google sheet\"")]
    Search {
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
    },
    /// A node type: its operations, or the parameters of one operation
    #[command(
        after_help = "Examples:\n  agentctl catalog show slack\n  agentctl catalog show n8n-nodes-base.slack --resource message --operation post"
    )]
    Show {
        #[arg(value_name = "TYPE")]
        node_type: String,
        #[arg(long, value_name = "N")]
        version: Option<f64>,
        #[arg(long, value_name = "RESOURCE")]
        resource: Option<String>,
        #[arg(long, value_name = "OPERATION")]
        operation: Option<String>,
    },
    /// Take the node types of your own n8n, community nodes included, into this project's catalog
    #[command(
        after_help = "Examples:\n  agentctl catalog sync https://n8n.example.com\n  agentctl catalog sync nodes.json credentials.json --n8n-version 2.39.4\n\nWrites n8n-catalog.bin into the project. A package that it knows is its alone; other types stay those that agentctl brings."
    )]
    Sync(CatalogSyncArgs),
    /// What changed between two catalogs for the node types that your workflows use
    #[command(
        after_help = "Examples:\n  agentctl catalog diff embedded project\n  agentctl catalog diff old.bin new.bin --workflows workflows/"
    )]
    Diff(CatalogDiffArgs),
    /// Make a catalog file from n8n's published node descriptions
    #[command(
        after_help = "Example:\n  npm pack n8n-nodes-base@2.39.2 && tar xzf n8n-nodes-base-2.39.2.tgz\n  agentctl catalog build package/dist/types/nodes.json -o catalog.bin"
    )]
    Build {
        /// `dist/types/nodes.json` of a package, or a running n8n's `types/nodes.json`
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Where the catalog goes
        #[arg(long, short, value_name = "OUT")]
        output: PathBuf,
        /// The n8n release that the descriptions belong to, e.g. 2.39.4
        #[arg(long, value_name = "VERSION")]
        n8n_version: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct CatalogSyncArgs {
    /// An n8n's address, or files: its `types/nodes.json`, a community package's (after its package.json), `credentials.json`
    #[arg(value_name = "URL|FILE", required = true)]
    pub sources: Vec<String>,
    /// The n8n release, e.g. 2.39.4
    #[arg(long, value_name = "VERSION")]
    pub n8n_version: Option<String>,
    /// The environment variable that holds a header to send, e.g. `Cookie: n8n-auth=…`
    #[arg(long, value_name = "VAR")]
    pub auth_env: Option<String>,
}

#[derive(Debug, Args)]
pub struct CatalogDiffArgs {
    /// The catalog before: a file, `embedded` (compiled in) or `project`
    #[arg(value_name = "A")]
    pub old: String,
    /// The catalog after
    #[arg(value_name = "B")]
    pub new: String,
    /// Workflow files or folders; default: workflows/ of the project
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub workflows: Vec<PathBuf>,
}
