//! `agentctl pull ID|--all`: workflows of the connected n8n as files that git can keep.

use super::diff::text as diff_text;
use crate::cli::args::ModelOptions;
use crate::cli::connection::{connected, unavailable};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::runtime;
use crate::cli::session::Session;
use agentctl_base::counted::counted;
use agentctl_engine::toolset::Difference;
use agentctl_host::files::write_atomic;
use agentctl_n8n::WorkflowId;
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n_tools::backend::{Backend, BackendErrorKind, ListQuery, Stored, list_all, slug};
use agentctl_n8n_tools::resources::difference;
use agentctl_n8n_tools::sync::{self, Local};
use agentctl_qa::source;
use clap::Args;
use console::style;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where the files of workflows are, below the project.
const FOLDER: &str = "workflows";

/// Write workflows of the connected n8n as files that git can keep
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl pull Xk2fTq0sOmW9aLcD\n  agentctl pull \"Order intake\" workflows/orders.json\n  agentctl pull --all\n\nThe file is what n8n imports, without what belongs to that n8n alone. Pinned data stays out unless --pinned is given; static data always does. --all writes each workflow into the file of workflows/ that follows it, else into one named after it. Exit code 5: a file has changes that were not pushed; 7: n8n is not there."
)]
pub struct PullArgs {
    /// The workflow: its id, or the name that only it has
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub id: Option<String>,
    /// Where it goes; default: workflows/ of the project, named after the workflow
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Every workflow of the n8n that is not archived
    #[arg(long, conflicts_with_all = ["id", "file"])]
    pub all: bool,
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

/// What became of one workflow.
struct Pulled {
    file: PathBuf,
    stored: Stored,
    what: &'static str,
    difference: Difference,
}

pub fn pull(root: &Path, args: &PullArgs, out: &Output) -> Result<Exit, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = connected(&session)?;
    let Some(id) = &args.id else {
        return all(root, backend, args, out);
    };
    let stored = runtime::block_on(async {
        let id = backend.resolve(id).await?;
        let stored = backend.get(&id).await;
        backend.close().await;
        stored
    })?
    .map_err(unavailable)?;
    let file = match &args.file {
        Some(file) => file.clone(),
        None => root
            .join(FOLDER)
            .join(format!("{}.json", slug(stored.workflow.name()))),
    };
    let pulled = one(file, stored, args, out)?;
    out.answer(Exit::Complete, || pulled.told(), || pulled.json())
}

/// Each on its own: what cannot be written over is told, and the others are written.
fn all(
    root: &Path,
    backend: &dyn Backend,
    args: &PullArgs,
    out: &Output,
) -> Result<Exit, CliError> {
    let held = runtime::block_on(async {
        let mut held = Vec::new();
        for listed in list_all(backend, &ListQuery::default()).await?.workflows {
            match backend.get(&listed.id).await {
                Ok(stored) => held.push(stored),
                // Taken away since it was listed.
                Err(error) if error.kind == BackendErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        backend.close().await;
        Ok(held)
    })?
    .map_err(unavailable)?;
    let folder = root.join(FOLDER);
    let mut files = Files::of(&folder)?;
    let mut ended = Vec::with_capacity(held.len());
    let mut exit = Exit::Complete;
    for stored in held {
        let file = files.place(&folder, &stored);
        let pulled = one(file.clone(), stored, args, out);
        if let (Err(error), Exit::Complete) = (&pulled, exit) {
            exit = error.exit;
        }
        ended.push((file, pulled));
    }
    out.answer(
        exit,
        || {
            let mut text = String::new();
            for (file, pulled) in &ended {
                match pulled {
                    Ok(pulled) => text.push_str(&pulled.told()),
                    Err(error) => {
                        text.push_str(&format!("not pulled: {}\n", error.message));
                        let file = file.display();
                        text.push_str(&format!("  hint: push {file}, or --force over it\n"));
                    }
                }
            }
            text.push_str(&format!("{}\n", counted(ended.len(), "workflow")));
            text
        },
        || {
            let files = ended.iter().map(|(file, pulled)| match pulled {
                Ok(pulled) => pulled.json(),
                Err(error) => json!({"file": file.display().to_string(), "what": "not pulled",
                    "error": error.message, "exit_code": error.exit.code()}),
            });
            json!({"files": files.collect::<Vec<_>>()})
        },
    )
}

/// Where the workflows of a folder are: by the workflow that each file follows, and the files that are taken.
struct Files {
    follows: BTreeMap<WorkflowId, PathBuf>,
    taken: BTreeSet<PathBuf>,
}

impl Files {
    fn of(folder: &Path) -> Result<Self, CliError> {
        let mut files = Files {
            follows: BTreeMap::new(),
            taken: BTreeSet::new(),
        };
        if !folder.exists() {
            return Ok(files);
        }
        let found =
            source::collect(&[folder.to_owned()]).map_err(|e| CliError::usage(e.to_string()))?;
        for source in found {
            // A file that is no workflow is nobody's, and stays as it is.
            if let Ok(Some(Local { id: Some(id), .. })) = read(&source.path) {
                files
                    .follows
                    .entry(id)
                    .or_insert_with(|| source.path.clone());
            }
            files.taken.insert(source.path);
        }
        Ok(files)
    }

    /// The file that follows the workflow, else a new one named after it, with its id where that name is taken.
    fn place(&mut self, folder: &Path, stored: &Stored) -> PathBuf {
        if let Some(file) = self.follows.get(&stored.id) {
            return file.clone();
        }
        let named = slug(stored.workflow.name());
        let plain = folder.join(format!("{named}.json"));
        let file = match self.taken.contains(&plain) {
            false => plain,
            true => folder.join(format!("{named}-{}.json", stored.id)),
        };
        self.taken.insert(file.clone());
        file
    }
}

fn one(file: PathBuf, stored: Stored, args: &PullArgs, out: &Output) -> Result<Pulled, CliError> {
    let before = read(&file)?;
    if let Some(local) = before.as_ref().filter(|_| !args.force) {
        let refused = |what: String| {
            CliError::new(Exit::Refused, format!("{}: {what}", file.display()))
                .hint("another file: name it after the id; over this one: --force")
        };
        match &local.id {
            Some(id) if *id != stored.id => {
                return Err(refused(format!(
                    "it follows the workflow `{id}`, not `{}`",
                    stored.id
                )));
            }
            _ => {}
        }
        let same = graph_hash(&local.workflow) == stored.graph_hash;
        if !same && local.is_changed() != Some(false) {
            return Err(refused(
                "it was changed and not pushed; a pull would lose that".to_owned(),
            ));
        }
    }
    let text = sync::file(&stored, args.pinned, before.as_ref());
    let after = Local::read(serde_json::from_str(&text).unwrap_or_default()).map_err(|e| {
        CliError::new(
            Exit::Internal,
            format!("what was pulled is no workflow: {e}"),
        )
    })?;
    let mut difference = difference(
        &out.redactor(),
        before.as_ref().map(|b| &b.workflow),
        Some(&after.workflow),
    );
    let unchanged = agentctl_host::files::read_regular(&file, text.len() as u64)
        .is_ok_and(|now| now == text.as_bytes());
    if !unchanged && !args.dry_run {
        write_atomic(&file, text.as_bytes()).map_err(|e| CliError::failed(e.to_string()))?;
    }
    let what = match (unchanged, args.dry_run, before.is_some()) {
        (true, _, _) => "unchanged",
        (_, true, true) => "would be updated",
        (_, true, false) => "would be written",
        (_, false, true) => "updated",
        (_, false, false) => "written",
    };
    if before.is_none() {
        // A new file is no difference to look at.
        difference.lines.clear();
    }
    Ok(Pulled {
        file,
        stored,
        what,
        difference,
    })
}

impl Pulled {
    fn told(&self) -> String {
        let diff = match self.difference.lines.is_empty() {
            true => String::new(),
            false => diff_text(&self.difference),
        };
        let (stored, what) = (&self.stored, self.what);
        let nodes = stored.workflow.nodes.len();
        let name = plain(stored.workflow.name());
        let file = style(self.file.display()).bold();
        format!(
            "{diff}{file}: {what} ({name}, {}, `{}`)\n",
            counted(nodes, "node"),
            stored.id
        )
    }

    fn json(&self) -> Value {
        let stored = &self.stored;
        json!({"file": self.file.display().to_string(), "id": stored.id, "name": stored.workflow.name(), "graph_hash": stored.graph_hash, "what": self.what, "diff": self.difference.diff})
    }
}

/// The file as it is; None when there is none.
pub(super) fn read(file: &Path) -> Result<Option<Local>, CliError> {
    if !file.exists() {
        return Ok(None);
    }
    let named = source::Source::named(file);
    let fault = |fault: source::Fault| {
        CliError::usage(format!("{}: {}", file.display(), fault.message))
            .hint("agentctl qa says more")
    };
    let text = source::read(&named).map_err(fault)?;
    let value = source::parse(&text).map_err(fault)?;
    Local::read(value).map(Some).map_err(|e| {
        CliError::usage(format!("{}: {e}", file.display())).hint("agentctl qa says more")
    })
}
