//! `agentctl catalog diff A B`: what changed for the node types that the user's workflows use.

use crate::cli::catalog_file;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use agentctl_base::counted::counted;
use agentctl_n8n::catalog::{Catalog, Change, changes};
use clap::Args;
use console::style;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// What changed between two catalogs for the node types that your workflows use
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl catalog diff embedded project\n  agentctl catalog diff old.bin new.bin --workflows workflows/"
)]
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

/// The compiled-in catalog, by name.
const EMBEDDED: &str = "embedded";
/// The project's own, by name.
const PROJECT: &str = "project";

pub fn diff(project: &Path, args: &CatalogDiffArgs, out: &Output) -> Result<Exit, CliError> {
    let (old, new) = (
        named(project, &args.old, out)?,
        named(project, &args.new, out)?,
    );
    let folders = if args.workflows.is_empty() {
        Cow::Owned(vec![project.join("workflows")])
    } else {
        Cow::Borrowed(&args.workflows)
    };
    let (used, files) = used_in(&folders)?;
    if used.is_empty() {
        return Err(CliError::usage("no workflow files to take node types from")
            .hint("name files or folders with --workflows; default: workflows/ of the project"));
    }
    let found = changes(&old, &new, &used);
    let breaking = found.iter().filter(|c| c.what.breaks()).count();
    out.answer(
        Exit::Complete,
        || text(&found, files, used.len()),
        || json!({"old": args.old, "new": args.new, "workflows": files, "types_and_versions": used.len(), "breaking": breaking, "changes": found}),
    )
}

enum Named {
    Shared(&'static Catalog),
    Own(Box<Catalog>),
}

impl std::ops::Deref for Named {
    type Target = Catalog;
    fn deref(&self) -> &Catalog {
        match self {
            Named::Shared(catalog) => catalog,
            Named::Own(catalog) => catalog,
        }
    }
}

fn named(project: &Path, name: &str, out: &Output) -> Result<Named, CliError> {
    match name {
        EMBEDDED => Ok(Named::Shared(Catalog::embedded())),
        PROJECT => catalog_file::of(project, out).map(Named::Shared),
        file => Ok(Named::Own(Box::new(catalog_file::read(Path::new(file))?))),
    }
}

type Used = Vec<(String, Option<f64>)>;

/// Every type and version once, and how many files they are from.
fn used_in(paths: &[PathBuf]) -> Result<(Used, usize), CliError> {
    let (mut used, mut files) = (Used::new(), 0);
    for path in paths {
        for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
            let entry = entry
                .map_err(|e| CliError::usage(format!("cannot read {}: {e}", path.display())))?;
            if !entry.file_type().is_file() || entry.path().extension().is_none_or(|e| e != "json")
            {
                continue;
            }
            let bytes =
                agentctl_host::files::read_regular(entry.path(), agentctl_qa::source::MAX_BYTES)
                    .map_err(|e| CliError::io("read", entry.path(), &e))?;
            // A file that is no workflow says nothing here; `qa` names it.
            let Ok(document) = serde_json::from_slice::<Value>(&bytes) else {
                continue;
            };
            let nodes = document.get("nodes").and_then(Value::as_array);
            files += usize::from(nodes.is_some());
            for node in nodes.into_iter().flatten() {
                let Some(node_type) = node.get("type").and_then(Value::as_str) else {
                    continue;
                };
                let one = (
                    node_type.to_owned(),
                    node.get("typeVersion").and_then(Value::as_f64),
                );
                if !used.contains(&one) {
                    used.push(one);
                }
            }
        }
    }
    used.sort_by(|a, b| {
        a.0.cmp(&b.0)
            .then_with(|| a.1.unwrap_or(0.0).total_cmp(&b.1.unwrap_or(0.0)))
    });
    Ok((used, files))
}

fn text(found: &[Change], files: usize, used: usize) -> String {
    let mut out = String::new();
    let mut last = "";
    for change in found {
        if change.node_type != last {
            last = &change.node_type;
            out.push_str(&format!("{}\n", style(last).bold()));
        }
        let mark = if change.what.breaks() {
            style("!").red()
        } else {
            style("+").green()
        };
        let version = change.version.map_or(String::new(), |v| format!(" v{v}"));
        let values = match (change.before.as_str(), change.after.as_str()) {
            ("", "") => String::new(),
            ("", after) => format!(": {after}"),
            (before, "") => format!(": {before}"),
            (before, after) => format!(": {before} → {after}"),
        };
        out.push_str(&format!(
            "  {mark}{version} {} {}{values}\n",
            change.what.words(),
            change.place
        ));
    }
    let breaking = found.iter().filter(|c| c.what.breaks()).count();
    out.push_str(&format!(
        "{} with {}: {}, {breaking} of them may break a workflow\n",
        counted(files, "workflow"),
        counted(used, "type-version pair"),
        counted(found.len(), "change")
    ));
    out
}
