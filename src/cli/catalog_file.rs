//! The catalog that a project works with: its own file, when `agentctl catalog sync` made one, in front of the compiled-in facts;
//! on a connected n8n of another release the facts of that one, or what both have.

use super::error::CliError;
use super::folder_trust;
use super::output::Output;
use super::runtime::block_on;
use crate::trust::{CATALOG, MAX_CATALOG};
use agentctl_engine::pack::Use;
use agentctl_host::files::{read_given, write_atomic};
use agentctl_host::home::variable;
use agentctl_n8n::catalog::build::build_for;
use agentctl_n8n::catalog::{Catalog, same_line};
use agentctl_n8n_tools::backend::release_at;
use agentctl_n8n_tools::server::{Cache, published};
use std::path::{Path, PathBuf};
use std::sync::{Once, OnceLock};
use std::time::Duration;

/// No list of node types, as n8n has it, is larger.
pub const MAX_LIST: u64 = 512 * 1024 * 1024;

const ASK_RELEASE: Duration = Duration::from_secs(5);

pub fn path(project: &Path) -> PathBuf {
    project.join(CATALOG)
}

/// Read once a process: every command works in one project. A file that does not count is not read.
pub fn of(project: &Path, out: &Output) -> Result<&'static Catalog, CliError> {
    static OWN: OnceLock<Catalog> = OnceLock::new();
    if let Some(settled) = OF_N8N.get() {
        return Ok(settled.catalog);
    }
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

/// The facts to work by on a connected n8n.
#[derive(Debug, Clone)]
pub struct NodeFacts {
    pub catalog: &'static Catalog,
    /// The project's, of whichever release: what they have and `catalog` has not, that n8n is known to lack.
    pub own: &'static Catalog,
    /// Where they are not those of that n8n's release: whose they are, and what to do. Said to the user and to every agent.
    pub unsure: Option<String>,
}

/// Those that were settled for the n8n of this process.
static OF_N8N: OnceLock<NodeFacts> = OnceLock::new();

/// The facts for the n8n at this address (None: files, which are of no release). Its own where the project or the user's cache
/// folder has them, else the project's without what its release lacks. From then on they are what `of` gives.
pub fn of_n8n(project: &Path, place: Option<&str>, out: &Output) -> Result<NodeFacts, CliError> {
    let own = of(project, out)?;
    let sure = |catalog| NodeFacts {
        catalog,
        own,
        unsure: None,
    };
    let Some(place) = place else {
        return Ok(sure(own));
    };
    if let Some(known) = OF_N8N.get() {
        return Ok(known.clone());
    }
    let asked = async { tokio::time::timeout(ASK_RELEASE, release_at(place)).await };
    // An n8n that does not answer soon is no reason to wait.
    let release = block_on(asked)?.ok().flatten();
    let facts = match release.as_deref() {
        Some(release) if own.source().n8n_version.as_deref() == Some(release) => sure(own),
        Some(release) => match of_release(release, own) {
            Some(catalog) => sure(catalog),
            None => NodeFacts {
                catalog: without_what_it_lacks(project, own, release)?,
                own,
                unsure: Some(of_another(own, release)),
            },
        },
        // One that was taken over from an n8n was taken over from this one, as far as anybody knows.
        None if is_own(own) => sure(own),
        None => NodeFacts {
            catalog: own,
            own,
            unsure: Some(format!(
                "the node facts are those of {}, and the connected n8n does not tell its release: `agentctl catalog sync --n8n-version VERSION` takes over those of one",
                name_of(own)
            )),
        },
    };
    Ok(OF_N8N.get_or_init(|| facts).clone())
}

impl NodeFacts {
    /// Says on stderr, once, that they are not of the connected n8n's release.
    pub fn warn(&self, out: &Output) {
        static SAID: Once = Once::new();
        let Some(unsure) = &self.unsure else { return };
        SAID.call_once(|| {
            out.note(&format!("warning: {unsure}"));
        });
    }
}

fn name_of(catalog: &Catalog) -> String {
    let version = catalog.source().n8n_version.as_deref();
    version.map_or_else(
        || "an n8n of unknown release".to_owned(),
        |version| format!("n8n {version}"),
    )
}

fn of_another(own: &Catalog, release: &str) -> String {
    format!(
        "the node facts are those of {}, the connected n8n is {release}: versions that it lacks are left out by a table, its own nodes were not asked; `agentctl catalog sync` takes them over",
        name_of(own)
    )
}

/// The project's facts, less what the release lacks by the table. Made once a process, so it may stay.
fn without_what_it_lacks(
    project: &Path,
    own: &'static Catalog,
    release: &str,
) -> Result<&'static Catalog, CliError> {
    let version = own.source().n8n_version.as_deref();
    if version.is_some_and(|version| same_line(version, release)) {
        return Ok(own);
    }
    let base: &Catalog = Box::leak(Box::new(Catalog::embedded_for(release)));
    if !is_own(own) {
        return Ok(base);
    }
    let own = read(&path(project))?.narrowed(release).over(base);
    Ok(Box::leak(Box::new(own)))
}

/// Where the facts of releases are kept for all projects of a user, made from n8n's own packages.
pub fn cache() -> Option<PathBuf> {
    match variable("AGENTCTL_CACHE").filter(|dir| !dir.is_empty()) {
        Some(dir) => std::path::absolute(dir).ok(),
        None => agentctl_host::cache::of_user(variable),
    }
}

fn kept(cache: &Path, release: &str) -> PathBuf {
    cache.join("catalogs").join(format!("n8n-{release}.bin"))
}

/// The kept facts of a release, before those of the project, which may know packages of others. A file that is none is passed
/// over: it is made again by the next `catalog sync`.
fn of_release(release: &str, own: &'static Catalog) -> Option<&'static Catalog> {
    if !published::is_release(release) {
        return None;
    }
    let known = read(&kept(&cache()?, release)).ok()?;
    let whose = known.source().n8n_version.as_deref() == Some(release);
    whose.then(|| &*Box::leak(Box::new(known.over(own))))
}

/// Keeps the facts of a release in the user's cache folder.
pub fn keep(cache: &Path, release: &str, facts: &[u8]) -> Result<(), CliError> {
    let file = kept(cache, release);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|e| CliError::io("make", folder, &e))?;
    }
    write_atomic(&file, facts).map_err(|e| CliError::failed(e.to_string()))
}

/// Keeps those of an installed n8n, unless they are kept already.
pub fn keep_installed(cache: &Cache, release: &str) -> Result<(), CliError> {
    if kept(cache.root(), release).is_file() {
        return Ok(());
    }
    let Some(files) = published::of_installation(cache, release) else {
        return Ok(());
    };
    let made = build_for(&files, Some(release)).map_err(|e| CliError::failed(e.to_string()))?;
    keep(cache.root(), release, &made)
}

/// A catalog file that `catalog build` or `catalog sync` wrote.
pub fn read(file: &Path) -> Result<Catalog, CliError> {
    let bytes = read_given(file, MAX_CATALOG).map_err(|e| CliError::io("read", file, &e))?;
    Catalog::from_bytes(&bytes).map_err(|e| {
        CliError::usage(format!("{}: {e}", file.display()))
            .hint("make it again with `agentctl catalog sync`, or remove the file to use the compiled-in catalog")
    })
}
