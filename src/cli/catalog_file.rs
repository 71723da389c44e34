//! The catalog that a project works with: its own file, when `agentctl catalog sync` made one, in front of the compiled-in facts.

use super::error::CliError;
use super::folder_trust;
use super::output::Output;
use crate::trust::MAX_CATALOG;
use agentctl_engine::pack::Use;
use agentctl_host::files::read_given;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n_tools::backend::Backend;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// Beside `agentctl.toml`: meant to be committed, so that everybody checks against the same n8n.
pub const FILE: &str = "n8n-catalog.bin";

/// No list of node types, as n8n has it, is larger.
pub const MAX_LIST: u64 = 512 * 1024 * 1024;

const ASK_RELEASE: Duration = Duration::from_secs(5);

pub fn path(project: &Path) -> PathBuf {
    project.join(FILE)
}

/// Read once a process: every command works in one project. A file that does not count is not read.
pub fn of(project: &Path, out: &Output) -> Result<&'static Catalog, CliError> {
    static OWN: OnceLock<Catalog> = OnceLock::new();
    if let Some(known) = OWN.get() {
        return Ok(known);
    }
    let counts = folder_trust::in_force(project, out)?.catalog();
    if counts.map_err(folder_trust::refused)? == Use::BuiltIn {
        return Ok(Catalog::embedded());
    }
    let file = path(project);
    let own = read(&file)?.over(Catalog::embedded());
    Ok(OWN.get_or_init(|| own))
}

/// True for one of a project, false for the compiled-in facts alone.
pub fn is_own(catalog: &'static Catalog) -> bool {
    !std::ptr::eq(catalog, Catalog::embedded())
}

/// The warning for a project whose node facts are of another release than the n8n it works on; None: they fit, or the n8n does
/// not tell.
pub fn of_another_n8n(catalog: &Catalog, release: Option<&str>) -> Option<String> {
    let release = release?;
    let known = catalog.source().n8n_version.as_deref();
    (known != Some(release)).then(|| {
        format!(
            "the node facts are those of {}, the connected n8n is {release}: `agentctl catalog sync` takes over its own",
            known.map_or_else(|| "an n8n of unknown release".to_owned(), |v| format!("n8n {v}"))
        )
    })
}

/// The same, with the release asked for; an n8n that does not answer soon is no reason to wait.
pub async fn warning(catalog: &Catalog, backend: &dyn Backend) -> Option<String> {
    let release = tokio::time::timeout(ASK_RELEASE, backend.release()).await;
    of_another_n8n(catalog, release.ok().flatten().as_deref())
}

/// A catalog file that `catalog build` or `catalog sync` wrote.
pub fn read(file: &Path) -> Result<Catalog, CliError> {
    let bytes = read_given(file, MAX_CATALOG).map_err(|e| CliError::io("read", file, &e))?;
    Catalog::from_bytes(&bytes).map_err(|e| {
        CliError::usage(format!("{}: {e}", file.display()))
            .hint("make it again with `agentctl catalog sync`, or remove the file to use the compiled-in catalog")
    })
}
