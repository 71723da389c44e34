//! `agentctl catalog`: n8n's node types, without an n8n.

mod diff;
mod sync;

use crate::cli::catalog_file;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use agentctl_base::shell;
use agentctl_n8n::catalog::{self, Catalog, Lookup, NodeDescription};
use clap::Subcommand;
use console::style;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Look up n8n's node types; no n8n needed
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Example:\n  agentctl catalog show n8n-nodes-base.slack --resource message --operation post"
)]
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
    Sync(sync::CatalogSyncArgs),
    Diff(diff::CatalogDiffArgs),
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

pub fn catalog(project: &Path, command: &CatalogCommand, out: &Output) -> Result<Exit, CliError> {
    match command {
        CatalogCommand::Search { words, limit } => search(
            catalog_file::of(project, out)?,
            &words.join(" "),
            *limit,
            out,
        ),
        CatalogCommand::Show {
            node_type,
            version,
            resource,
            operation,
        } => {
            let node = find(catalog_file::of(project, out)?, node_type, *version)?;
            match (resource, operation) {
                (None, None) => show(&node, out),
                _ => recipe(&node, resource.as_deref(), operation.as_deref(), out),
            }
        }
        CatalogCommand::Sync(args) => sync::sync(project, args, out),
        CatalogCommand::Diff(args) => diff::diff(project, args, out),
        CatalogCommand::Build {
            files,
            output,
            n8n_version,
        } => build(files, output, n8n_version.as_deref(), out),
    }
}

fn search(catalog: &Catalog, query: &str, limit: usize, out: &Output) -> Result<Exit, CliError> {
    let hits = catalog.search(query, limit);
    out.answer(
        Exit::Complete,
        || {
            if hits.is_empty() {
                return format!("no node type matches {query:?}; an HTTP Request node (n8n-nodes-base.httpRequest) reaches any web API\n");
            }
            hits.iter()
                .map(|h| {
                    let trigger = if h.is_trigger { " trigger" } else { "" };
                    format!("{:>3}  {}  {}{}  {}\n", h.score, style(&h.node_type).bold(), h.label, style(trigger).cyan(), style(&h.why).dim())
                })
                .collect()
        },
        || json!({"query": query, "hits": hits}),
    )
}

/// The type as typed: its full name, its name without the package, or its label.
fn find(
    catalog: &Catalog,
    typed: &str,
    version: Option<f64>,
) -> Result<Arc<NodeDescription>, CliError> {
    let candidates = [
        typed.to_owned(),
        format!("n8n-nodes-base.{typed}"),
        format!("@n8n/n8n-nodes-langchain.{typed}"),
    ];
    for candidate in &candidates {
        match catalog.lookup(candidate, version) {
            Lookup::Known(node) => return Ok(node),
            Lookup::UnknownVersion { known, default } => {
                let known: Vec<String> = known.iter().map(f64::to_string).collect();
                let asked = version.map_or_else(String::new, |v| v.to_string());
                return Err(
                    CliError::usage(format!("{candidate} has no version {asked}"))
                        .hint(format!("it has {} (default {default})", known.join(", "))),
                );
            }
            Lookup::UnknownType => {}
        }
    }
    let near = catalog.search(typed, 3);
    let error = CliError::usage(format!("the catalog has no node type {typed:?}"));
    Err(match near.as_slice() {
        [] => error.hint("agentctl catalog search WORDS finds types by what they do"),
        hits => error.hint(format!(
            "did you mean {}?",
            hits.iter()
                .map(|h| h.node_type.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        )),
    })
}

fn show(node: &NodeDescription, out: &Output) -> Result<Exit, CliError> {
    let operations = node.operations();
    out.answer(
        Exit::Complete,
        || {
            let versions: Vec<String> = node.versions.iter().map(f64::to_string).collect();
            let mut text = format!(
                "{} ({})\nversions {} (default {}, shown {})\n",
                style(&node.label).bold(),
                node.node_type,
                versions.join(", "),
                node.default_version,
                node.version
            );
            if operations.is_empty() {
                text.push_str(&format!("\n{}\n", node.recipe(None, None)));
                return text;
            }
            text.push_str("\noperations:\n");
            for (resource, list) in &operations {
                let names: Vec<&str> = list.iter().map(|(value, _)| value.as_str()).collect();
                let line = format!("{}: {}", resource.as_deref().unwrap_or("-"), names.join(", "));
                text.push_str(&format!("  {line}\n"));
            }
            if let Some((resource, list)) = operations.first() {
                let resource = resource.as_deref().map(|r| format!(" --resource {}", shell::word(r))).unwrap_or_default();
                let operation = list.first().map(|(o, _)| format!(" --operation {}", shell::word(o))).unwrap_or_default();
                text.push_str(&format!("\nnext: agentctl catalog show {}{resource}{operation}\n", node.node_type));
            }
            text
        },
        || json!({"node_type": node.node_type, "label": node.label, "version": node.version, "default_version": node.default_version, "versions": node.versions, "operations": operations, "recipe": node.recipe(None, None)}),
    )
}

fn recipe(
    node: &NodeDescription,
    resource: Option<&str>,
    operation: Option<&str>,
    out: &Output,
) -> Result<Exit, CliError> {
    let operations = node.operations();
    let known = operations.iter().any(|(r, list)| {
        resource.is_none_or(|wanted| r.as_deref() == Some(wanted))
            && operation.is_none_or(|wanted| list.iter().any(|(value, _)| value == wanted))
    });
    if !known {
        let all: Vec<String> = operations
            .iter()
            .map(|(r, list)| {
                format!(
                    "{}: {}",
                    r.as_deref().unwrap_or("-"),
                    list.iter()
                        .map(|(v, _)| v.as_str())
                        .collect::<Vec<_>>()
                        .join(" ")
                )
            })
            .collect();
        return Err(CliError::usage(format!(
            "{} has no such resource and operation",
            node.node_type
        ))
        .hint(format!("it has {}", all.join("; "))));
    }
    let recipe = node.recipe(resource, operation);
    out.answer(Exit::Complete, || recipe.to_string(), || json!(recipe))
}

fn build(
    files: &[PathBuf],
    output: &Path,
    n8n_version: Option<&str>,
    out: &Output,
) -> Result<Exit, CliError> {
    let mut inputs = Vec::with_capacity(files.len());
    for file in files {
        let bytes = agentctl_host::files::read_given(file, catalog_file::MAX_LIST)
            .map_err(|e| CliError::io("read", file, &e))?;
        inputs.push((file.display().to_string(), bytes));
    }
    let bytes = catalog::build::build_for(&inputs, n8n_version)
        .map_err(|e| CliError::failed(e.to_string()))?;
    let made = Catalog::from_bytes(&bytes).map_err(|e| {
        CliError::new(
            Exit::Internal,
            format!("the catalog that was built cannot be read back: {e}"),
        )
    })?;
    agentctl_host::files::write_atomic(output, &bytes)
        .map_err(|e| CliError::failed(e.to_string()))?;
    let source = made.source();
    out.answer(
        Exit::Complete,
        || {
            format!(
                "{}: {} node types, {} type-version pairs, {} bytes, sha-256 of the facts {}\n",
                output.display(),
                source.types,
                source.type_versions,
                bytes.len(),
                source.sha256
            )
        },
        || json!({"file": output.display().to_string(), "bytes": bytes.len(), "source": source}),
    )
}
