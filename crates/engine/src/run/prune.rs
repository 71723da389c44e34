//! Taking away runs that nothing needs any more: their journals and snapshots, the results that they left, and the versions of
//! resources that only they made. What is kept can still be taken back. First it is worked out what would go, then, by the user's
//! word and with the project's lock, it is worked out again and goes.

use super::{
    Effects, RunError,
    active::active_run,
    earlier_states::failed,
    inspect,
    reopen::take_lock,
    told::{self, OneOf},
};
use crate::{
    store::{Project, StoreError},
    toolset::{Forgotten, Resources},
};
use agentctl_host::files::{Found, read_own};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

/// What may go; each limits it further.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneTerms {
    /// Only runs whose last record is older.
    pub before: Option<Timestamp>,
    /// Not the newest ones, so many.
    pub keep: usize,
}

/// What goes, or went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pruned {
    /// Oldest first.
    pub runs: Vec<String>,
    /// Files of results, by their names.
    pub results: Vec<String>,
    /// Versions of resources.
    pub versions: u64,
    /// Whole texts of large resources, from which versions and snapshots say how they differ.
    pub texts: u64,
    pub bytes: u64,
    /// How many runs stay, and why.
    pub kept: BTreeMap<Kept, u64>,
}

/// Why a run stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// By the terms.
    Recent,
    Active,
    /// It can go on.
    Unfinished,
    /// A resource is as it left it.
    LastChange,
    /// It has the only snapshot of a state to which a run that stays can be taken back.
    Needed,
    /// Not this user's.
    Foreign,
    /// It cannot be read, or lost records.
    Damaged,
}

/// A state of a resource: its id and revision.
type State = (String, String);

fn states(run: &OneOf) -> impl Iterator<Item = State> {
    let changes = run.told.changes.iter().map(|changed| &changed.change);
    changes.flat_map(|change| {
        let state = |revision: &Option<String>| Some((change.id().to_owned(), revision.clone()?));
        [state(&change.before), state(&change.after)]
            .into_iter()
            .flatten()
    })
}

fn snapshots(run: &OneOf) -> impl Iterator<Item = State> {
    let taken = run.told.snapshots.iter();
    taken.map(|taken| (taken.resource.id.clone(), taken.revision.clone()))
}

/// The runs, and why each stays; None: it may go.
struct Sorted {
    runs: Vec<(OneOf, Option<Kept>)>,
    kept: BTreeMap<Kept, u64>,
}

fn sorted(project: &Project, terms: PruneTerms) -> Result<Sorted, RunError> {
    let active = active_run(project).ok();
    let all = told::all(project)?;
    let recent = all.len().saturating_sub(terms.keep);
    let mut kept: BTreeMap<Kept, u64> = BTreeMap::new();
    let mut runs = Vec::with_capacity(all.len());
    for (at, run) in all.into_iter().enumerate() {
        let Ok(run) = run else {
            *kept.entry(Kept::Damaged).or_default() += 1;
            continue;
        };
        let is_old = match (terms.before, run.told.updated_at.parse::<Timestamp>()) {
            (None, _) => true,
            (Some(before), Ok(updated)) => updated < before,
            (Some(_), Err(_)) => false,
        };
        let why = match &run {
            run if run.foreign.is_some() => Some(Kept::Foreign),
            run if run.short.is_some() => Some(Kept::Damaged),
            run if active.as_deref() == Some(run.run_id.as_str()) => Some(Kept::Active),
            run if !run.told.over => Some(Kept::Unfinished),
            _ if at >= recent || !is_old => Some(Kept::Recent),
            _ => None,
        };
        runs.push((run, why));
    }
    keep_last_changes(&mut runs);
    keep_needed(&mut runs);
    for why in runs.iter().filter_map(|(_, why)| *why) {
        *kept.entry(why).or_default() += 1;
    }
    Ok(Sorted { runs, kept })
}

/// Each resource's last change stays: from it `undo` takes it back, and losses may count from it.
fn keep_last_changes(runs: &mut [(OneOf, Option<Kept>)]) {
    let of = runs.iter().flat_map(|(run, _)| run.own().changes.iter());
    let ids: BTreeSet<String> = of.map(|changed| changed.change.id().to_owned()).collect();
    for id in ids {
        let told = runs.iter().map(|(run, _)| run);
        let last = inspect::made(&id, told).pop().map(|made| made.run_id);
        for (run, why) in runs.iter_mut() {
            if why.is_none() && Some(&run.run_id) == last.as_ref() {
                *why = Some(Kept::LastChange);
            }
        }
    }
}

/// A run that stays is taken back by snapshots: its own, or that of another run where it has none.
fn keep_needed(runs: &mut [(OneOf, Option<Kept>)]) {
    let mut needed = BTreeSet::new();
    let mut had = BTreeSet::new();
    for (run, _) in runs.iter().filter(|(_, why)| why.is_some()) {
        needed.extend(states(run));
        had.extend(snapshots(run));
    }
    loop {
        let only = |run: &OneOf| snapshots(run).any(|s| needed.contains(&s) && !had.contains(&s));
        // The newest of those that have it.
        let next = runs.iter_mut().rev();
        let Some((run, why)) = next
            .into_iter()
            .find(|(run, why)| why.is_none() && only(run))
        else {
            return;
        };
        // What it came from it has itself; nobody asked for what it left.
        *why = Some(Kept::Needed);
        had.extend(snapshots(run));
    }
}

/// What would go, and what would stay. Nothing is changed.
pub async fn prunable(
    project: &Project,
    resources: &dyn Resources,
    terms: PruneTerms,
) -> Result<Pruned, RunError> {
    Prune::of(project, terms)?
        .carried_out(project, resources, false)
        .await
}

/// Takes away what may go.
pub async fn prune(
    project: &Project,
    resources: &dyn Resources,
    effects: &dyn Effects,
    terms: PruneTerms,
) -> Result<Pruned, RunError> {
    let _lock = take_lock(project, resources, effects, None)?;
    project.refuse_links(None)?;
    Prune::of(project, terms)?
        .carried_out(project, resources, true)
        .await
}

struct Prune {
    gone: Vec<String>,
    /// States that only runs which go knew, by resource.
    versions: BTreeMap<String, Vec<String>>,
    kept: BTreeMap<Kept, u64>,
}

impl Prune {
    fn of(project: &Project, terms: PruneTerms) -> Result<Prune, RunError> {
        let Sorted { runs, kept } = sorted(project, terms)?;
        let (stay, go): (Vec<_>, Vec<_>) = runs.into_iter().partition(|(_, why)| why.is_some());
        let needed: BTreeSet<State> = stay.iter().flat_map(|(run, _)| states(run)).collect();
        let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (id, revision) in go.iter().flat_map(|(run, _)| states(run)) {
            let of_it = versions.entry(id.clone()).or_default();
            if !needed.contains(&(id, revision.clone())) && !of_it.contains(&revision) {
                of_it.push(revision);
            }
        }
        Ok(Prune {
            gone: go.into_iter().map(|(run, _)| run.run_id).collect(),
            versions,
            kept,
        })
    }

    async fn carried_out(
        self,
        project: &Project,
        resources: &dyn Resources,
        really: bool,
    ) -> Result<Pruned, RunError> {
        let mut pruned = Pruned {
            kept: self.kept,
            ..Pruned::default()
        };
        let mut go = BTreeSet::new();
        for (id, revisions) in &self.versions {
            let forgotten = resources.forget(id, revisions, really).await;
            let Forgotten { files, bytes } = forgotten.map_err(|e| failed(resources, e))?;
            pruned.versions += files.len() as u64;
            pruned.bytes += bytes;
            go.extend(files.iter().map(|file| project.root().join(file)));
        }
        for (path, bytes) in results(project, &self.gone)? {
            if really {
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
            let name = path.file_name().unwrap_or_default();
            pruned.results.push(name.to_string_lossy().into_owned());
            pruned.bytes += bytes;
        }
        for run_id in &self.gone {
            let paths = project.run(run_id)?;
            project.refuse_links(Some(&paths))?;
            pruned.bytes +=
                bytes_below(paths.dir()).map_err(StoreError::io("read", paths.dir()))?;
            if really {
                project.remove_run(run_id)?;
            }
            go.insert(paths.dir().to_owned());
        }
        if really {
            project.finish_removals()?;
        }
        // What no version and no snapshot that stays says its difference from.
        for (path, bytes) in project.texts().unused(&go)? {
            if really {
                fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
            pruned.texts += 1;
            pruned.bytes += bytes;
        }
        pruned.runs = self.gone;
        Ok(pruned)
    }
}

/// The results that tell of one of these runs, with their bytes.
fn results(project: &Project, gone: &[String]) -> Result<Vec<(PathBuf, u64)>, StoreError> {
    let mut results = Vec::new();
    for path in files_in(&project.agent_results())? {
        let found = read_own(&path, MAX_RESULT).map_err(StoreError::io("read", &path))?;
        let Found::Bytes(bytes) = found else { continue };
        let told: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let of = told.get("run_id").and_then(Value::as_str);
        if of.is_some_and(|of| gone.iter().any(|run_id| run_id == of)) {
            results.push((path, bytes.len() as u64));
        }
    }
    Ok(results)
}

/// Larger ones are left.
const MAX_RESULT: u64 = 64 * 1024 * 1024;

fn files_in(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::io("list", dir)(e)),
    };
    let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(StoreError::io("list", dir))?;
    paths.sort();
    Ok(paths)
}

/// Of all files below a folder; no link is followed.
fn bytes_below(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let found = entry.metadata()?;
        bytes += match found.is_dir() {
            true => bytes_below(&entry.path())?,
            false => found.len(),
        };
    }
    Ok(bytes)
}
