//! Looking at runs without changing anything: no lock, no healing, no write.

use super::{
    Cause, RunError, RunReport,
    active::{active_run, is_own},
    exit_code,
    fold::look,
    history::{self, Made},
    projection,
};
use crate::{
    pack::Pack,
    store::{Foreign, Loaded, Means, Project, Record, SnapshotRef, Snapshots, StoreError},
    toolset::{Document, Resources},
    view::{RunView, SessionOf},
};
use agentctl_base::question::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line of `runs list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    pub run_id: String,
    /// UTC, RFC 3339. Empty when the journal cannot be read.
    pub started_at: String,
    pub updated_at: String,
    pub request: String,
    /// Whose tool calls the run holds; None: a run of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionOf>,
    /// None: running now, or killed.
    pub outcome: Option<Outcome>,
    pub resources: Vec<String>,
    pub active: bool,
    /// From where on the run is not this user's, and why; None: it is. Such a run is shown and not acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
    /// Why the journal cannot be read; such a run is listed, not hidden.
    pub broken: Option<String>,
}

/// What `runs verify` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    pub run_id: String,
    pub records: u64,
    pub head: String,
    /// Bytes of a torn last line; the next `resume` cuts them off.
    pub torn_bytes: Option<usize>,
    /// From where on the records are not this user's, and why; None: they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
    /// Records of a newer agentctl.
    pub unknown: usize,
    /// run_state.json was made from a journal up to this record, which is not there (any more): the end was cut off.
    pub shorter_than_state: Option<u64>,
    /// Snapshots that are missing, or are not what was taken.
    pub damaged_snapshots: Vec<String>,
}

impl Verified {
    /// Nothing is missing, and no snapshot is another than was taken.
    pub fn is_whole(&self) -> bool {
        self.shorter_than_state.is_none() && self.damaged_snapshots.is_empty()
    }
}

/// The limits and models of a run (None: the active one), as they were last said; None: they never were. A foreign run's word
/// is not taken: it is refused.
pub fn means(project: &Project, run: Option<&str>) -> Result<Option<Means>, RunError> {
    let run_id = match run {
        Some(given) => project.find_run(given)?,
        None => active_run(project)?,
    };
    let records = own(&run_id, read(project, &run_id)?)?.records;
    Ok(RunView::of(&records).means)
}

/// All runs, oldest first.
pub fn list(project: &Project) -> Result<Vec<RunSummary>, RunError> {
    let active = active_run(project).ok();
    let ids = project.run_ids()?;
    let mut runs = Vec::with_capacity(ids.len());
    for run_id in ids {
        let loaded = match read(project, &run_id) {
            Ok(loaded) => loaded,
            Err(e) if e.is_of_one_journal() => {
                runs.push(RunSummary {
                    active: active.as_deref() == Some(run_id.as_str()),
                    run_id,
                    started_at: String::new(),
                    updated_at: String::new(),
                    request: String::new(),
                    session: None,
                    outcome: None,
                    resources: Vec::new(),
                    foreign: None,
                    broken: Some(e.to_string()),
                });
                continue;
            }
            Err(e) => return Err(e.into()),
        };
        let view = RunView::of(&loaded.records);
        let at = |record: Option<&Record>| record.map(|r| r.at.clone()).unwrap_or_default();
        runs.push(RunSummary {
            active: active.as_deref() == Some(run_id.as_str()),
            run_id,
            started_at: at(loaded.records.first()),
            updated_at: at(loaded.records.last()),
            request: view
                .input
                .get("request")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            session: view.session.clone(),
            outcome: projection::outcome_of(&view),
            resources: view
                .changed_resources()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            foreign: loaded.foreign,
            broken: None,
        });
    }
    Ok(runs)
}

/// The report of the active run, as its journal stands now.
pub fn status(project: &Project, pack: &Pack) -> Result<RunReport, RunError> {
    let run_id = active_run(project)?;
    Ok(show(project, pack, &run_id)?.0)
}

/// A run's report and its records.
pub fn show(
    project: &Project,
    pack: &Pack,
    run: &str,
) -> Result<(RunReport, Vec<Record>), RunError> {
    let run_id = project.find_run(run)?;
    let loaded = read(project, &run_id)?;
    let (log, view) = look(&pack.flow, &loaded)?;
    // A run without an end is running now or was killed; both are "not finished".
    let outcome = projection::outcome_of(&view).unwrap_or(Outcome::Interrupted);
    let (code, message) = match &view.ended {
        Some(ended) => (ended.exit_code, ended.message.clone()),
        None => (exit_code(outcome, Some(Cause::Interrupt)), String::new()),
    };
    let mut report = projection::report(pack, &view, &log, outcome, code, message);
    report.damage = damage(project, &view, &loaded)?;
    report.foreign = loaded.foreign;
    Ok((report, loaded.records))
}

/// Checks a run's chain, that nothing is missing at its end, and its snapshots. `parse`: what a snapshot's text holds, as
/// [`Resources::parse`] tells it.
pub fn verify(
    project: &Project,
    parse: &dyn Fn(&str) -> Option<Document>,
    run: &str,
) -> Result<Verified, RunError> {
    let run_id = project.find_run(run)?;
    let loaded = read(project, &run_id)?;
    let (records, head) = loaded.head();
    let view = RunView::of(&loaded.records);
    let another = |taken: &SnapshotRef, text: &str| {
        let document = parse(text);
        document.is_none_or(|document| document.revision != taken.revision)
    };
    Ok(Verified {
        shorter_than_state: match project.lost_end(&run_id, &loaded)? {
            Some(StoreError::Short { promised, .. }) => Some(promised),
            _ => None,
        },
        damaged_snapshots: damaged_snapshots(project, &view, &another)?,
        run_id,
        records,
        head: head.to_owned(),
        torn_bytes: loaded.torn.as_ref().map(|t| t.bytes),
        foreign: loaded.foreign,
        unknown: loaded.unknown,
    })
}

/// The snapshots that are missing, or are not what was taken: to the byte, or by what else is `another`.
fn damaged_snapshots(
    project: &Project,
    view: &RunView,
    another: &dyn Fn(&SnapshotRef, &str) -> bool,
) -> Result<Vec<String>, StoreError> {
    let snapshots = Snapshots::new(project.run(&view.run_id)?.snapshots());
    let damaged = |taken: &&SnapshotRef| {
        let text = match taken.sha256.as_deref() {
            None => snapshots.read(&taken.file), // of before the journal said it
            sha256 => snapshots.read_taken(&taken.file, sha256),
        };
        text.map_or(true, |text| another(taken, &text))
    };
    let damaged = view.snapshots.iter().filter(damaged);
    Ok(damaged.map(|taken| taken.file.clone()).collect())
}

/// What is lost of a run whose journal can be read, in words; empty: nothing.
fn damage(project: &Project, view: &RunView, loaded: &Loaded) -> Result<Vec<String>, StoreError> {
    let mut lost: Vec<String> = Vec::new();
    lost.extend(
        project
            .lost_end(&view.run_id, loaded)?
            .map(|e| e.to_string()),
    );
    for file in damaged_snapshots(project, view, &|_, _| false)? {
        lost.push(format!(
            "the snapshot {file} of run {} is missing or not the one that was taken",
            view.run_id
        ));
    }
    Ok(lost)
}

/// The full id of the run that is meant; None: the active one.
pub fn run_named(project: &Project, run: Option<&str>) -> Result<String, RunError> {
    match run {
        Some(given) => Ok(project.find_run(given)?),
        None => active_run(project),
    }
}

/// The numbered changes of a run, whoever wrote it.
pub fn changes(project: &Project, run_id: &str) -> Result<Vec<Made>, RunError> {
    Ok(history::of_run(run_id, &read(project, run_id)?.records))
}

/// The numbered changes of a resource over all runs; `named` is an id, or what its store takes for one.
pub async fn resource_changes(
    project: &Project,
    resources: &dyn Resources,
    named: &str,
) -> Result<(String, Vec<Made>), RunError> {
    // One that is gone is still known by its id.
    let id = resources.resolve(named).await;
    let id = id.unwrap_or_else(|_| named.to_owned());
    let runs = readable(project)?;
    let records = runs
        .iter()
        .map(|(run, records)| (run.as_str(), records.as_slice()));
    let made = history::of_resource(&id, records);
    if made.is_empty() {
        let not_yours = match foreign_runs(project)?.as_slice() {
            [] => String::new(),
            runs => format!(
                "; not counted, because your agentctl did not write them: {}",
                runs.join(", ")
            ),
        };
        return Err(RunError::Usage(format!(
            "no run of this project changed a {} {id:?}{not_yours}",
            resources.kind()
        )));
    }
    Ok((id, made))
}

/// The runs of which some record is not this user's.
fn foreign_runs(project: &Project) -> Result<Vec<String>, RunError> {
    let mut runs = project.run_ids()?;
    runs.retain(|run_id| read(project, run_id).is_ok_and(|loaded| loaded.foreign.is_some()));
    Ok(runs)
}

/// The runs of this user's whose journals cannot be read as they stand, and why: what they changed is not among the changes of a
/// resource. What others left there never is.
pub fn unreadable(project: &Project) -> Result<Vec<(String, String)>, RunError> {
    let mut runs = Vec::new();
    for run_id in project.run_ids()? {
        match read(project, &run_id) {
            Err(e) if e.is_of_one_journal() => {
                if is_own(project, &run_id) {
                    runs.push((run_id, e.to_string()));
                }
            }
            Err(e) => return Err(e.into()),
            Ok(loaded) if loaded.foreign.is_some() => {}
            Ok(loaded) => {
                let short = project.lost_end(&run_id, &loaded)?;
                runs.extend(short.map(|e| (run_id, e.to_string())));
            }
        }
    }
    Ok(runs)
}

/// This user's records of all runs whose journals can be read, oldest run first. What others wrote is believed for nothing that
/// is done.
pub(super) fn readable(project: &Project) -> Result<Vec<(String, Vec<Record>)>, RunError> {
    let mut runs = Vec::new();
    for run_id in project.run_ids()? {
        match read(project, &run_id) {
            Ok(loaded) => runs.push((run_id, loaded.own().to_vec())),
            Err(e) if e.is_of_one_journal() => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(runs)
}

/// A run's journal as it stands, and whose it is.
pub fn read(project: &Project, run_id: &str) -> Result<Loaded, StoreError> {
    project.read_run(run_id)
}

/// The same, refused when it is not this user's to its end.
pub fn own(run_id: &str, loaded: Loaded) -> Result<Loaded, StoreError> {
    match loaded.foreign {
        None => Ok(loaded),
        Some(foreign) => Err(StoreError::Foreign {
            run_id: run_id.to_owned(),
            foreign,
        }),
    }
}
