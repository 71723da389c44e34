//! What a run tells of itself where many runs are looked at: made from its journal, and kept beside it (`store::checkpoint`), so
//! that the journal is not read again. It can be made again at any time.

use super::{RunError, projection, together};
use crate::{
    store::{Checked, Foreign, Means, Project, SnapshotRef, StoreError},
    view::{Changed, RunView, SessionOf},
};
use agentctl_base::question::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a run tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Told {
    /// UTC, RFC 3339: of the first record, and of the last.
    pub started_at: String,
    pub updated_at: String,
    pub request: String,
    pub session: Option<SessionOf>,
    /// The pack's name.
    pub pack: String,
    /// A command began it: it is neither a turn of a conversation nor a session of another agent's calls, and no other run's call is worked
    /// on in it.
    pub of_command: bool,
    /// None: running now, or killed.
    pub outcome: Option<Outcome>,
    /// It has ended: nothing goes on with it.
    pub over: bool,
    /// What it changed and can claim, by id.
    pub resources: Vec<String>,
    /// An undo took back all that it changed.
    pub taken_back: bool,
    pub changes: Vec<Changed>,
    pub snapshots: Vec<SnapshotRef>,
    /// What was said last about limits and models; None: nothing was.
    pub means: Option<Means>,
}

impl Told {
    pub fn of(view: &RunView) -> Told {
        let request = view.input.get("request").and_then(Value::as_str);
        let resources = view.changed_resources().into_iter();
        let pack = view.means.as_ref().and_then(|means| means.pack.as_deref());
        let pack = pack.map_or(view.flow.as_str(), |named| {
            named.split('/').next().unwrap_or_default()
        });
        Told {
            pack: pack.to_owned(),
            // Whose work it is stands before the first activation: earlier nobody can tell.
            of_command: view.activation > 0
                && !view.is_turn
                && view.session.is_none()
                && view.parent().is_none(),
            started_at: view
                .begun
                .as_ref()
                .map(|b| b.at.clone())
                .unwrap_or_default(),
            updated_at: view.at.clone(),
            request: request.unwrap_or_default().to_owned(),
            session: view.session.clone(),
            outcome: projection::outcome_of(view),
            over: view.ended.is_some(),
            resources: resources.map(str::to_owned).collect(),
            taken_back: view.is_taken_back(),
            changes: view.changes.clone(),
            snapshots: view.snapshots.clone(),
            means: view.means.clone(),
        }
    }

    /// The snapshot of this name, as the journal tells of it.
    pub fn snapshot(&self, file: &str) -> Option<&SnapshotRef> {
        self.snapshots.iter().rev().find(|taken| taken.file == file)
    }
}

/// A run among others.
pub(super) struct OneOf {
    pub run_id: String,
    /// By all its records.
    pub told: Told,
    /// By those of this user's only; None: they are all.
    own: Option<Told>,
    pub foreign: Option<Foreign>,
    /// Records that a summary promised and that are not there, as the error that they are.
    pub short: Option<StoreError>,
}

impl OneOf {
    /// What this user's records tell.
    pub fn own(&self) -> &Told {
        self.own.as_ref().unwrap_or(&self.told)
    }
}

/// What a run tells: from what is kept of it, else from its journal, and then that is kept.
pub(super) fn one(project: &Project, run_id: &str) -> Result<OneOf, StoreError> {
    let kept = project.told(run_id);
    match kept.and_then(|told| serde_json::from_value(told).ok()) {
        Some(told) => Ok(whole(run_id, told)),
        None => read(project, run_id),
    }
}

/// The same, and what is kept of it is held against the journal's bytes: for who writes by what is told.
fn sure(project: &Project, run_id: &str) -> Result<OneOf, StoreError> {
    match same(project, run_id) {
        Some(told) => Ok(whole(run_id, told)),
        None => read(project, run_id),
    }
}

/// One that was read whole, and is this user's to its end.
fn whole(run_id: &str, told: Told) -> OneOf {
    OneOf {
        run_id: run_id.to_owned(),
        told,
        own: None,
        foreign: None,
        short: None,
    }
}

fn read(project: &Project, run_id: &str) -> Result<OneOf, StoreError> {
    let (mut view, mut own) = (RunView::default(), None);
    let (loaded, checked) = project.read_run_each(run_id, &mut |record, is_own| {
        if !is_own && own.is_none() {
            own = Some(Told::of(&view));
        }
        view.apply(record);
    })?;
    let short = project.lost_end(run_id, &loaded)?;
    if short.is_none() {
        keep(project, &view, checked);
    }
    // A record that only a newer agentctl can read may be the first foreign one.
    let own = match (own, &loaded.foreign) {
        (None, Some(_)) => Some(Told::of(&view)),
        (own, _) => own,
    };
    Ok(OneOf {
        run_id: run_id.to_owned(),
        told: Told::of(&view),
        own,
        foreign: loaded.foreign,
        short,
    })
}

/// What a run told when its journal was read last, if no byte of that is another since; None: read it.
pub(super) fn same(project: &Project, run_id: &str) -> Option<Told> {
    serde_json::from_value(project.told_to_the_byte(run_id)?).ok()
}

/// A run, or the id of one whose journal cannot be read, and why.
pub(super) type Looked = Result<OneOf, (String, StoreError)>;

/// All runs, oldest first; those whose journals cannot be read with the reason.
pub(super) fn all(project: &Project) -> Result<Vec<Looked>, RunError> {
    of_ids(project, project.run_ids()?)
}

/// The same of these runs alone.
pub(super) fn of_ids(project: &Project, ids: Vec<String>) -> Result<Vec<Looked>, RunError> {
    let told = together::for_each(&ids, |run_id| one(project, run_id));
    let runs = ids.into_iter().zip(told);
    runs.map(|(run_id, told)| looked(run_id, told)).collect()
}

/// The same, those that changed a resource by their journals' bytes.
pub(super) fn sure_of(project: &Project, id: &str) -> Result<Vec<Looked>, RunError> {
    let changed = |run: &Looked| {
        let run = run.as_ref().ok();
        run.is_some_and(|run| run.told.changes.iter().any(|made| made.change.id() == id))
    };
    let mut runs = all(project)?;
    for run in runs.iter_mut().filter(|run| changed(run)) {
        if let Ok(one) = &*run {
            let run_id = one.run_id.clone();
            let told = sure(project, &run_id);
            *run = looked(run_id, told)?;
        }
    }
    Ok(runs)
}

fn looked(run_id: String, told: Result<OneOf, StoreError>) -> Result<Looked, RunError> {
    match told {
        Ok(run) => Ok(Ok(run)),
        Err(e) if e.is_of_one_journal() => Ok(Err((run_id, e))),
        Err(e) => Err(e.into()),
    }
}

/// Keeps what the run tells, unless somebody works on it or something of it must be checked again.
pub(super) fn keep(project: &Project, view: &RunView, checked: Option<Checked>) {
    if let Some(checked) = checked.filter(|_| projection::outcome_of(view).is_some())
        && let Ok(told) = serde_json::to_value(Told::of(view))
    {
        project.keep_told(&view.run_id, checked, &told);
    }
}
