//! Looking at runs without changing anything: no lock, no healing, no write.

use super::{
    RunError, RunReport,
    active::{active_among, active_run, is_own},
    fold::Folding,
    history::{self, Made},
    projection,
    shown::{self, Shown},
    together,
    told::{self, Looked, OneOf},
};
use crate::{
    pack::Pack,
    store::{Event, Foreign, Loaded, Means, Project, Record, SnapshotRef, StoreError},
    toolset::{Document, Resources},
    view::{RunView, SessionOf},
};
use agentctl_base::question::Outcome;
use serde::{Deserialize, Serialize};

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
    /// An undo took back all that it changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken_back: bool,
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
    if let Some(told) = told::same(project, &run_id) {
        return Ok(told.means);
    }
    let mut means = None;
    let (loaded, _) = project.read_run_each(&run_id, &mut |record, _| {
        if let Event::ActivationStarted { means: said, .. } = &record.event {
            means = said.as_deref().cloned().or(means.take());
        }
    })?;
    own(&run_id, loaded)?;
    Ok(means)
}

/// The conversation whose turn a run is; None: it is no turn.
pub fn conversation(project: &Project, run: &str) -> Result<Option<String>, RunError> {
    let mut found = None;
    project.read_run_each(&project.find_run(run)?, &mut |record, _| {
        if let Event::SessionLoaded { conversation, .. } = &record.event {
            found = Some(conversation.clone());
        }
    })?;
    Ok(found)
}

/// All runs, oldest first.
pub fn list(project: &Project) -> Result<Vec<RunSummary>, RunError> {
    newest(project, usize::MAX)
}

/// The newest so many, oldest first; no journal of an older one is read.
pub fn newest(project: &Project, most: usize) -> Result<Vec<RunSummary>, RunError> {
    let mut older = project.run_ids()?;
    let ids = older.split_off(older.len().saturating_sub(most));
    let runs = told::of_ids(project, ids)?;
    let of_flows = runs.iter().rev().filter_map(|run| match run {
        Ok(one) if one.told.session.is_some() => None,
        Ok(one) => Some(one.run_id.clone()),
        Err((run_id, _)) => Some(run_id.clone()),
    });
    let active = active_among(project, of_flows.chain(older.into_iter().rev())).ok();
    let is_active = |run_id: &str| active.as_deref() == Some(run_id);
    Ok(runs
        .into_iter()
        .map(|run| match run {
            Ok(OneOf {
                run_id,
                told,
                foreign,
                ..
            }) => RunSummary {
                active: is_active(&run_id),
                run_id,
                started_at: told.started_at,
                updated_at: told.updated_at,
                request: told.request,
                session: told.session,
                outcome: told.outcome,
                resources: told.resources,
                taken_back: told.taken_back,
                foreign,
                broken: None,
            },
            Err((run_id, e)) => RunSummary {
                active: is_active(&run_id),
                run_id,
                started_at: String::new(),
                updated_at: String::new(),
                request: String::new(),
                session: None,
                outcome: None,
                resources: Vec::new(),
                taken_back: false,
                foreign: None,
                broken: Some(e.to_string()),
            },
        })
        .collect())
}

/// The report of the active run, as its journal stands now.
pub fn status(project: &Project, pack: &Pack) -> Result<RunReport, RunError> {
    report(project, pack, &active_run(project)?)
}

/// A run's report. One that was kept of a long journal is taken when no byte of the journal is another.
pub fn report(project: &Project, pack: &Pack, run: &str) -> Result<RunReport, RunError> {
    let run_id = project.find_run(run)?;
    match shown::kept(project, pack, &run_id) {
        Some((kept, loaded, _)) => as_it_is(project, kept, &loaded),
        None => folded(project, pack, &run_id, &mut |_| ()),
    }
}

/// A run's report; `each` sees its records go by.
pub fn show(
    project: &Project,
    pack: &Pack,
    run: &str,
    each: &mut dyn FnMut(&Record),
) -> Result<RunReport, RunError> {
    let run_id = project.find_run(run)?;
    let Some((kept, _, journal)) = shown::kept(project, pack, &run_id) else {
        return folded(project, pack, &run_id, each);
    };
    let (loaded, checked) = project.read_run_each(&run_id, &mut |record, _| each(record))?;
    match checked.is_some_and(|checked| checked.is_same(&journal)) {
        true => as_it_is(project, kept, &loaded),
        // Somebody went on with the run in between.
        false => report(project, pack, &run_id),
    }
}

/// The same from the journal alone; what it comes to is kept.
fn folded(
    project: &Project,
    pack: &Pack,
    run_id: &str,
    each: &mut dyn FnMut(&Record),
) -> Result<RunReport, RunError> {
    let mut folding = Folding::of(&pack.flow);
    let (loaded, checked) = project.read_run_each(run_id, &mut |record, _| {
        folding.take(record);
        each(record);
    })?;
    let (log, view) = folding.looked()?;
    let shown = shown::of(pack, &view, &log);
    let lost = damage(project, run_id, &shown.snapshots, &loaded)?;
    if let Some(journal) = checked {
        // What a run tells among others is believed unread, so it must be whole; what is shown of it is held against the disk again.
        if lost.is_empty() && project.checked(run_id).as_ref() != Some(&journal) {
            told::keep(project, &view, Some(journal.clone()));
        }
        if journal.is_long() && projection::outcome_of(&view).is_some() {
            shown::keep(project, &shown, Some(&loaded), journal);
        }
    }
    Ok(with(shown.report, lost, &loaded))
}

/// With what is lost of the run's records by now.
fn as_it_is(project: &Project, shown: Shown, loaded: &Loaded) -> Result<RunReport, RunError> {
    let lost = damage(project, &shown.report.run_id, &shown.snapshots, loaded)?;
    Ok(with(shown.report, lost, loaded))
}

fn with(mut report: RunReport, lost: Vec<String>, loaded: &Loaded) -> RunReport {
    report.damage = lost;
    report.foreign.clone_from(&loaded.foreign);
    report
}

/// Checks a run's chain, that nothing is missing at its end, and its snapshots. `parse`: what a snapshot's text holds, as
/// [`Resources::parse`] tells it.
pub fn verify(
    project: &Project,
    parse: &dyn Fn(&str) -> Option<Document>,
    run: &str,
) -> Result<Verified, RunError> {
    let run_id = project.find_run(run)?;
    let mut view = RunView::default();
    let (loaded, checked) = project.verify_run(&run_id, &mut |record, _| view.apply(record))?;
    let (records, head) = loaded.head();
    let another = |taken: &SnapshotRef, text: &str| {
        let document = parse(text);
        document.is_none_or(|document| document.revision != taken.revision)
    };
    let verified = Verified {
        shorter_than_state: match project.lost_end(&run_id, &loaded)? {
            Some(StoreError::Short { promised, .. }) => Some(promised),
            _ => None,
        },
        damaged_snapshots: damaged_snapshots(project, &run_id, &view.snapshots, &another)?,
        run_id: run_id.clone(),
        records,
        head: head.to_owned(),
        torn_bytes: loaded.torn.as_ref().map(|t| t.bytes),
        foreign: loaded.foreign,
        unknown: loaded.unknown,
    };
    if verified.is_whole() {
        told::keep(project, &view, checked);
    }
    Ok(verified)
}

/// The same for several runs, as many at a time as there are cores; in the order in which they are given.
pub fn verify_all(
    project: &Project,
    parse: &(dyn Fn(&str) -> Option<Document> + Sync),
    runs: &[String],
) -> Vec<Result<Verified, RunError>> {
    together::for_each(runs, |run| verify(project, parse, run))
}

/// The snapshots that are missing, or are not what was taken: to the byte, or by what else is `another`.
fn damaged_snapshots(
    project: &Project,
    run_id: &str,
    taken: &[SnapshotRef],
    another: &dyn Fn(&SnapshotRef, &str) -> bool,
) -> Result<Vec<String>, StoreError> {
    let snapshots = project.snapshots(&project.run(run_id)?);
    let damaged = |taken: &&SnapshotRef| {
        let text = match taken.sha256.as_deref() {
            None => snapshots.read(&taken.file), // of before the journal said it
            sha256 => snapshots.read_taken(&taken.file, sha256),
        };
        text.map_or(true, |text| another(taken, &text))
    };
    let damaged = taken.iter().filter(damaged);
    Ok(damaged.map(|taken| taken.file.clone()).collect())
}

/// What is lost of a run whose journal can be read, in words; empty: nothing.
fn damage(
    project: &Project,
    run_id: &str,
    taken: &[SnapshotRef],
    loaded: &Loaded,
) -> Result<Vec<String>, StoreError> {
    let mut lost: Vec<String> = Vec::new();
    lost.extend(project.lost_end(run_id, loaded)?.map(|e| e.to_string()));
    for file in damaged_snapshots(project, run_id, taken, &|_, _| false)? {
        lost.push(format!(
            "the snapshot {file} of run {run_id} is missing or not the one that was taken"
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
    let run = told::one(project, run_id)?;
    Ok(history::of_run(run_id, &run.told.changes))
}

/// What all runs of a project tell of themselves, looked at once.
pub struct AllRuns(Vec<Looked>);

impl AllRuns {
    pub fn look(project: &Project) -> Result<AllRuns, RunError> {
        Ok(AllRuns(told::all(project)?))
    }

    /// The runs of this user's whose journals cannot be read as they stand, and why: what they changed is not among the changes of
    /// a resource. What others left there never is.
    pub fn unreadable(&self, project: &Project) -> Vec<(String, String)> {
        unreadable_of(project, &self.0)
    }

    /// The numbered changes of a resource over all of them; `named` is an id, or what its store takes for one.
    pub async fn changes(
        &self,
        resources: &dyn Resources,
        named: &str,
    ) -> Result<(String, Vec<Made>), RunError> {
        let id = resolved(resources, named).await;
        let made = changes_told_by(&self.0, resources, &id)?;
        Ok((id, made))
    }
}

/// One that is gone is still known by its id.
pub(super) async fn resolved(resources: &dyn Resources, named: &str) -> String {
    let id = resources.resolve(named).await;
    id.unwrap_or_else(|_| named.to_owned())
}

/// The numbered changes of the resource of this id, as these runs tell of them.
pub(super) fn changes_told_by(
    runs: &[Looked],
    resources: &dyn Resources,
    id: &str,
) -> Result<Vec<Made>, RunError> {
    let runs = || runs.iter().flatten();
    let made = made(id, runs());
    if made.is_empty() {
        let foreign = runs().filter(|run| run.foreign.is_some());
        let foreign: Vec<&str> = foreign.map(|run| run.run_id.as_str()).collect();
        let not_yours = match foreign.as_slice() {
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
    Ok(made)
}

/// The changes of a resource that this user's records tell of.
pub(super) fn made<'r>(id: &str, runs: impl IntoIterator<Item = &'r OneOf>) -> Vec<Made> {
    let told = runs.into_iter();
    history::of_resource(
        id,
        told.map(|run| (run.run_id.as_str(), run.own().changes.as_slice())),
    )
}

/// The runs of this user's among these whose journals cannot be read as they stand, and why.
pub(super) fn unreadable_of(project: &Project, runs: &[Looked]) -> Vec<(String, String)> {
    let why = |run: &Looked| match run {
        Err((run_id, e)) if is_own(project, run_id) => Some((run_id.clone(), e.to_string())),
        Ok(run) if run.foreign.is_none() => {
            let why = run.short.as_ref()?.to_string();
            Some((run.run_id.clone(), why))
        }
        Ok(_) | Err(_) => None,
    };
    runs.iter().filter_map(why).collect()
}

/// The runs whose journals can be read, oldest first.
pub(super) fn readable(project: &Project) -> Result<Vec<OneOf>, RunError> {
    Ok(told::all(project)?.into_iter().flatten().collect())
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
