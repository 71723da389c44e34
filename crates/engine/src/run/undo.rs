//! Taking back what was done to resources: each is put back as it was before the run, or after one of its changes. An undo is
//! a change like any other: snapshotted, journaled and numbered, so that it can be taken back too.
//! A user's command, never a model's: it asks no policy, but it refuses to overwrite what somebody did since.

use super::{
    Resume, RunContext, RunError,
    compare::within,
    driver::{Driver, gateway_error},
    earlier_states::{Believe, Copy, EarlierStates, failed},
    history::{self, Made, state_hash},
    inspect,
    reopen::{Reopened, reopen},
    told::{self, Looked},
};
use crate::gateway::CallContext;
use crate::toolset::Recorder;
use crate::{
    store::{Event, Project, SnapshotRef, event::Change},
    toolset::{ByPerson, Difference, Document, Found, ResourceId, ResourceMark, keyed},
    view::By,
};
use agentctl_base::question::Outcome;
use agentctl_base::shell;
use serde::{Deserialize, Serialize};

/// What to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undo {
    /// Everything that the run changed; None: the active run.
    Run(Option<String>),
    /// What the last run that changed this resource (an id, or what its store takes for one) did to it.
    Resource(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndoReport {
    /// The run whose journal tells of it.
    pub run_id: String,
    pub resources: Vec<Undone>,
    /// `undo RUN --to` this takes the undo itself back; None: nothing was changed, or nothing kept would be the same.
    pub redo: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Undone {
    #[serde(flatten, with = "keyed")]
    pub resource: ResourceId,
    pub what: UndoneHow,
    /// The change after which it is again; 0: before the first. A number of the run, or with `Undo::Resource` of the resource.
    pub to: u32,
    /// The resource as it was right before this undo: a way back.
    pub snapshot: Option<String>,
    /// What this undo changed.
    #[serde(flatten)]
    pub difference: Difference,
    /// The document as it would be, of an undo that is only planned; None: there would be none.
    #[serde(skip)]
    pub planned: Option<Document>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoneHow {
    PutBack,
    /// It did not exist then.
    Removed,
    /// It was there then, and had been deleted.
    Restored,
    /// It was as wanted already.
    Unchanged,
}

/// What one resource needs; worked out for all of them before any is touched.
pub(super) struct Plan {
    pub id: String,
    pub now: Option<Found>,
    /// The document to put back; None: remove.
    pub target: Option<Copy>,
    pub to: u32,
    /// The same in the run's own numbers, when it has one.
    to_of_run: Option<u32>,
    /// Its revision as its last change left it.
    left: Option<String>,
}

/// How far, and over what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndoTerms {
    /// The changes after this number are taken back (a later number brings them again); None: all.
    pub to: Option<u32>,
    /// Also what somebody did since.
    pub force: bool,
    /// Also where a resource is published, so that it is live at once; else a person is asked, and where nobody is, it is refused.
    pub allow_publish: bool,
    /// Only say what would be taken back: nothing is changed, nobody is asked.
    pub plan: bool,
}

/// Takes back all changes of a run, or of a resource's last run.
pub async fn undo(cx: RunContext<'_>, what: Undo, force: bool) -> Result<UndoReport, RunError> {
    undo_to(cx, what, None, force).await
}

/// Takes back the changes after number `to`; None: all.
pub async fn undo_to(
    cx: RunContext<'_>,
    what: Undo,
    to: Option<u32>,
    force: bool,
) -> Result<UndoReport, RunError> {
    let terms = UndoTerms {
        to,
        force,
        allow_publish: false,
        plan: false,
    };
    undo_by(cx, what, terms).await
}

/// Takes back what the terms say. Refused, before anything is changed, when a resource is no longer what the run left, when a
/// snapshot is not what was taken, or when a resource is published and nobody allowed it.
pub async fn undo_by(
    cx: RunContext<'_>,
    what: Undo,
    terms: UndoTerms,
) -> Result<UndoReport, RunError> {
    let UndoTerms { to, force, .. } = terms;
    let (run, named) = match what {
        Undo::Run(run) => (run, None),
        Undo::Resource(named) => {
            let resources = cx.gateway.resources();
            let id = inspect::resolved(resources, &named).await;
            let (runs, uncounted) = countable(cx.project, resources.kind(), &id, force)?;
            for (run_id, why) in uncounted {
                let note = format!("the changes of run {run_id} are not counted: {why}");
                cx.observer.note(&note);
            }
            let made = inspect::changes_told_by(&runs, resources, &id)?;
            let run = made.last().map(|m| m.run_id.clone());
            (run, Some(id))
        }
    };
    let resume = Resume {
        allow_other_pack: true,
        ..Resume::default()
    };
    let (_lock, mut driver, project): Reopened<'_> = reopen(cx, run.as_deref(), resume)?;
    driver.settle_begun().await?;
    let plans = driver
        .plan_undo(project, named.as_deref(), to, force)
        .await?;
    if terms.plan {
        return Ok(driver.undo_planned(&plans));
    }
    let allowed = match terms.allow_publish {
        true => Vec::new(),
        false => driver.ask_published(&plans)?,
    };
    let before = driver.recorder.view.activation_outcome;
    driver.activate("undo", None)?;
    for event in allowed {
        driver.record(event, false)?;
    }
    let run_id = driver.recorder.view.run_id.clone();
    let mut resources = Vec::with_capacity(plans.len());
    for plan in plans {
        resources.push(driver.carry_out(project, plan).await?);
    }
    // An unfinished run cannot go on from a resource that was taken away from under it.
    if driver.recorder.view.ended.is_none() {
        driver.end(Outcome::Cancelled, "its changes were undone".into())?;
    }
    let outcome = match &driver.recorder.view.ended {
        Some(ended) => ended.outcome,
        None => before.unwrap_or(Outcome::Cancelled),
    };
    driver.record(
        Event::ActivationEnded {
            activation: driver.recorder.view.activation,
            outcome,
            reason: None,
        },
        true,
    )?;
    driver.project(project, "its changes were undone")?;
    let made = history::of_run(&run_id, &driver.recorder.view.changes);
    let redo = redo(&made, &resources);
    Ok(UndoReport {
        run_id,
        resources,
        redo,
    })
}

/// Runs that cannot be read, and why.
type Unread = Vec<(String, String)>;

/// All runs, those that changed the resource by the bytes of their journals: what is kept beside them says too little where something
/// is written. With them the runs of this user's that cannot be read, and why; there are none without `force`.
fn countable(
    project: &Project,
    kind: &str,
    id: &str,
    force: bool,
) -> Result<(Vec<Looked>, Unread), RunError> {
    let runs = told::sure_of(project, id)?;
    let uncounted = inspect::unreadable_of(project, &runs);
    match uncounted.first().filter(|_| !force) {
        Some((_, why)) => Err(uncounted_changes(kind, id, uncounted.len(), why)),
        None => Ok((runs, uncounted)),
    }
}

/// Without the journal of every run nobody can say which change of a resource was which.
fn uncounted_changes(kind: &str, named: &str, runs: usize, why: &str) -> RunError {
    let of = match runs {
        1 => "of one run".to_owned(),
        runs => format!("of {runs} runs"),
    };
    RunError::Refused {
        message: format!(
            "the changes of the {kind} {named:?} cannot be counted, because the journal {of} cannot be read: {why}"
        ),
        hint: "`agentctl undo RUN` takes back a run whose journal can be read; `--force` counts without the others".into(),
    }
}

/// The state before the undo that ends this history, if it is one state.
fn redo(made: &[Made], resources: &[Undone]) -> Option<u32> {
    let changed = resources
        .iter()
        .filter(|w| w.snapshot.is_some() || w.what == UndoneHow::Restored);
    let mut undos = made.iter().rev();
    let mut first = None;
    for _ in changed {
        let last = undos.next().filter(|m| m.by == By::Undo)?;
        first = Some(last.number);
    }
    first.map(|number| number.saturating_sub(1))
}

impl Driver<'_> {
    /// A change that a killed process had begun is taken back like the others, when it was made.
    async fn settle_begun(&mut self) -> Result<(), RunError> {
        let begun = self.recorder.view.unsettled();
        if begun.is_empty() {
            return Ok(());
        }
        let outcome = self.recorder.view.activation_outcome;
        self.activate("settle", None)?;
        for intent in &begun {
            let Event::ToolIntent { step, role, .. } = intent else {
                continue;
            };
            let mut cx = CallContext {
                role,
                step,
                offered: None,
                can_ask: false,
                bound: None,
                guards: &mut self.guards,
                recorder: &mut self.recorder,
            };
            let settled = self.gateway.settle(&mut cx, intent).await;
            self.recorder.sound()?;
            settled.map_err(gateway_error)?;
        }
        self.record(
            Event::ActivationEnded {
                activation: self.recorder.view.activation,
                outcome: outcome.unwrap_or(Outcome::Interrupted),
                reason: None,
            },
            true,
        )
    }

    async fn plan_undo(
        &mut self,
        project: &Project,
        named: Option<&str>,
        to: Option<u32>,
        force: bool,
    ) -> Result<Vec<Plan>, RunError> {
        let run_id = &self.recorder.view.run_id;
        let of_run = history::of_run(run_id, &self.recorder.view.changes);
        let resources = self.resources;
        let states = EarlierStates {
            project,
            resources,
            believe: Believe::Own,
        };
        let last = |made: &[Made]| made.last().map_or(0, |m| m.number);
        let (made, to, ids) = match named {
            Some(id) => {
                let (runs, _) = countable(project, resources.kind(), id, force)?;
                let made = inspect::changes_told_by(&runs, resources, id)?;
                let what = format!("{} {id:?}", resources.kind());
                let to = within(to, history::before_last_run(&made), last(&made), &what)?;
                (made, to, vec![id.to_owned()])
            }
            None => {
                if of_run.is_empty() {
                    return Err(RunError::Usage(format!(
                        "run {run_id} changed no {}",
                        resources.kind()
                    )));
                }
                let to = within(to, 0, last(&of_run), &format!("run {run_id}"))?;
                let ids = history::changed(&of_run);
                (of_run.clone(), to, ids)
            }
        };
        let mut plans = Vec::with_capacity(ids.len());
        // The last change is taken back first.
        for id in ids.into_iter().rev() {
            let of_it = history::only(&made, &id);
            // Nothing was done to it since, so nothing is taken back.
            if named.is_none() && last(&of_it) <= to {
                continue;
            }
            let now = states.now(&id).await?;
            let hash = now.as_ref().map(|now| now.document.revision.as_str());
            let left = of_it.last().and_then(|m| m.change.after.as_deref());
            if hash != left && hash != state_hash(&of_it, to) && !force {
                return Err(changed_since(project, resources.kind(), run_id, &id));
            }
            let target = states.document(&id, &of_it, to, now.as_ref()).await?;
            if let Some(why) = target.as_ref().and_then(|copy| copy.instead.as_deref()) {
                self.recorder.observer.note(&format!(
                    "{why}; another copy with the same graph is put back instead"
                ));
            }
            let in_run = history::only(&of_run, &id);
            let wanted = target.as_ref().map(|copy| copy.document.revision.as_str());
            plans.push(Plan {
                to_of_run: match named {
                    None => Some(to),
                    Some(_) => state_number(&in_run, wanted),
                },
                left: left.map(str::to_owned),
                id,
                now,
                target,
                to,
            });
        }
        Ok(plans)
    }

    async fn carry_out(&mut self, project: &Project, plan: Plan) -> Result<Undone, RunError> {
        let resources = self.resources;
        let states = EarlierStates {
            project,
            resources,
            believe: Believe::Own,
        };
        let (what, now, wanted) = plan.how();
        let mut kept = None;
        if let Some(now) = plan.now.as_ref().filter(|_| what != UndoneHow::Unchanged) {
            kept = Some(self.keep(&plan.id, &now.document)?.file);
        }
        let to_snapshot = match &plan.target {
            None => String::new(),
            Some(copy) => self.in_this_run(&plan.id, copy)?,
        };
        let mut id = plan.id.clone();
        let written = match (what, wanted) {
            (UndoneHow::PutBack, Some(document)) => {
                let written = resources.put_back(&plan.id, document, true).await;
                written.map(|_| ())
            }
            (UndoneHow::Restored, Some(document)) => {
                let restored = resources.put_back(&plan.id, document, false).await;
                restored.map(|under| id = under)
            }
            (UndoneHow::Removed, _) => resources.remove(&plan.id).await,
            _ => Ok(()),
        };
        // What counts is what is there now, whatever the write said.
        let found = states.now(&id).await?;
        let after = found.as_ref().map(|now| now.document.revision.clone());
        let meant = wanted.map(|wanted| wanted.revision.clone());
        if after != meant {
            written.map_err(|e| failed(&*resources, e))?;
            return Err(RunError::Refused {
                message: format!(
                    "the {} {:?} reads back with another graph than was put back",
                    resources.kind(),
                    plan.id
                ),
                hint: "look at it; the snapshots of the run hold both states".into(),
            });
        }
        let resource = ResourceId::new(resources.kind(), id);
        let change = Change {
            resource: resource.clone(),
            // An undo that was killed before it was journaled did it already.
            before: match what {
                UndoneHow::Unchanged => plan.left.clone(),
                _ => plan.now.as_ref().map(|now| now.document.revision.clone()),
            },
            after,
            size: found.as_ref().map_or(0, |now| now.document.size),
            snapshot: kept.clone(),
        };
        let nothing_new = what == UndoneHow::Unchanged && change.before == change.after;
        self.record(
            Event::Undone {
                resource: resource.clone(),
                to_snapshot,
                to: plan.to_of_run,
                change: Some(change).filter(|_| !nothing_new),
            },
            true,
        )?;
        // What the user puts back is what the user wants.
        if let Some(found) = &found {
            resources
                .accept(found, ByPerson::Undone, self.recorder.now())
                .map_err(gateway_error)?;
        }
        let redactor = self.gateway.redactor();
        Ok(Undone {
            what,
            to: plan.to,
            snapshot: kept,
            difference: resources.difference(redactor, now, wanted),
            planned: None,
            resource,
        })
    }

    /// Keeps a document in this run's folder, and journals it.
    fn keep(&mut self, id: &str, document: &Document) -> Result<SnapshotRef, RunError> {
        let text = self.resources.text(document);
        let of = ResourceMark {
            resource: ResourceId::new(self.resources.kind(), id),
            revision: document.revision.clone(),
            size: document.size,
        };
        let mark = self.recorder.snapshot(&of, &text)?;
        self.record(mark.clone().into(), true)?;
        Ok(mark)
    }

    /// The snapshot of this run that holds the document; one from elsewhere is copied here.
    fn in_this_run(&mut self, id: &str, copy: &Copy) -> Result<String, RunError> {
        match &copy.snapshot {
            Some((run_id, file)) if *run_id == self.recorder.view.run_id => Ok(file.clone()),
            _ => Ok(self.keep(id, &copy.document)?.file),
        }
    }
}

/// The latest state of a resource with this revision, by the numbers of its changes; 0 also when it is that of before them.
fn state_number(changes: &[Made], hash: Option<&str>) -> Option<u32> {
    let after = changes.iter().rev();
    let mut after = after.filter(|m| m.change.after.as_deref() == hash);
    match (after.next(), changes.first()) {
        (Some(made), _) => Some(made.number),
        (None, Some(first)) if first.change.before.as_deref() == hash => Some(0),
        (None, _) => None,
    }
}

/// Who changed the resource since the run, as far as the journals tell.
fn changed_since(project: &Project, kind: &str, run_id: &str, id: &str) -> RunError {
    let runs = match inspect::readable(project) {
        Ok(runs) => runs,
        Err(e) => return e,
    };
    let made = inspect::made(id, &runs);
    let (who, first) = match made.last() {
        Some(last) if last.run_id != run_id => (
            format!(
                "run {} changed the {kind} {id:?} after run {run_id}",
                last.run_id
            ),
            format!("`agentctl undo {}` takes that back first", last.run_id),
        ),
        _ => (
            format!("the {kind} {id:?} was changed since run {run_id} left it"),
            format!(
                "`agentctl diff --{kind} {}` shows how it differs from before the run",
                shell::word(id)
            ),
        ),
    };
    RunError::Refused {
        message: who,
        hint: format!(
            "{first}; `agentctl undo --force` puts it back anyway, and keeps a snapshot of it as it is"
        ),
    }
}
