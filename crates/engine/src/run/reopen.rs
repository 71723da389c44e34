//! How an activation gets hold of a run: the project's lock, the journal folded, the driver made of both.

use super::{
    Answering, Budgets, Effects, Observer, Resume, RunContext, RunError,
    active::{active_run, archive_active, is_session},
    budget::Hours,
    driver::Driver,
    fold::{Folded, Taking},
    limits::Limits,
    recorder::RunRecorder,
};
use crate::{
    store::{Holder, Journal, Loaded, Project, ProjectLock, Record, RunPaths, StoreError},
    toolset::Resources,
    view::RunView,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) fn lock_for(cx: &RunContext<'_>, run_id: Option<&str>) -> Result<ProjectLock, RunError> {
    take_lock(cx.project, cx.gateway.resources(), cx.effects, run_id)
}

fn holder(effects: &dyn Effects, run_id: Option<&str>) -> Holder {
    Holder {
        pid: effects.pid(),
        run_id: run_id.map(str::to_owned),
        since: effects.now().to_string(),
        host: None,
    }
}

/// The project's turn in which something may be changed. It is higher than that of the run's last activation also where an older
/// lock file came back (with a backup), and is kept before anything is done in it.
pub(super) fn turn(
    project: &Project,
    lock: &mut ProjectLock,
    effects: &dyn Effects,
    view: &RunView,
) -> Result<u64, StoreError> {
    let after = view.order.map_or(1, |order| order.saturating_add(1));
    let turn = lock.turn().unwrap_or(1).max(after);
    let run_id = Some(view.run_id.as_str()).filter(|id| !id.is_empty());
    lock.number(&project.lock_file(), turn, &holder(effects, run_id))?;
    Ok(turn)
}

/// How long lies between two looks at a lock that somebody has.
const LOCK_AGAIN: Duration = Duration::from_millis(50);

/// Waits for whoever works in the project now, but not longer than `wait`.
pub(super) async fn wait_for_lock(
    project: &Project,
    resources: &dyn Resources,
    effects: &dyn Effects,
    run_id: Option<&str>,
    wait: Duration,
) -> Result<ProjectLock, RunError> {
    let deadline = tokio::time::Instant::now() + wait;
    loop {
        match take_lock(project, resources, effects, run_id) {
            Err(RunError::Store(StoreError::Locked { .. }))
                if tokio::time::Instant::now() < deadline =>
            {
                tokio::time::sleep(LOCK_AGAIN).await;
            }
            other => return other,
        }
    }
}

/// Takes the project's lock at once, or says who has it.
pub(super) fn take_lock(
    project: &Project,
    resources: &dyn Resources,
    effects: &dyn Effects,
    run_id: Option<&str>,
) -> Result<ProjectLock, RunError> {
    let lock = project.lock(&holder(effects, run_id))?;
    let tidied = resources.tidy();
    tidied.map_err(|error| RunError::unavailable(error, ToString::to_string))?;
    Ok(lock)
}

pub(super) type Reopened<'a> = (ProjectLock, Driver<'a>, &'a Project);

pub(super) fn reopen<'a>(
    cx: RunContext<'a>,
    run: Option<&str>,
    resume: Resume,
) -> Result<Reopened<'a>, RunError> {
    let mut lock = lock_for(&cx, run)?;
    let run_id = match run {
        Some(given) => cx.project.find_run(given)?,
        None => active_run(cx.project)?,
    };
    let (project, effects) = (cx.project, cx.effects);
    let mut driver = take_up(cx, run_id, resume)?;
    driver.recorder.order = Some(turn(project, &mut lock, effects, &driver.recorder.view)?);
    Ok((lock, driver, project))
}

/// Folds the run's journal into a driver. Whoever calls it holds the project, or the conversation that the run is a turn of.
pub(super) fn take_up<'a>(
    cx: RunContext<'a>,
    run_id: String,
    resume: Resume,
) -> Result<Driver<'a>, RunError> {
    let paths = cx.project.run(&run_id)?;
    cx.project.refuse_links(Some(&paths))?;
    // One that this user's agentctl did not write ends here: nothing of it is believed, and nothing of the project is touched.
    let mut taking = Taking::up(&cx.pack.flow, cx.gateway);
    let each = &mut |record: &Record, _| taking.take(record);
    let (journal, loaded) = cx.project.open_run(&run_id, each)?;
    // A session is never the active run: the one that is stays so.
    if !is_session(cx.project, &run_id) {
        archive_active(cx.project, &run_id, cx.observer)?;
    }
    tell_what_was_healed(&loaded, cx.observer);
    if loaded.head().0 == 0 {
        return Err(RunError::Usage(format!(
            "run {run_id} was killed before it began; start it again"
        )));
    }
    let (folded, at) = taking.folded()?;
    let view = &folded.1;
    if view.pack_hash != cx.pack.hash && !resume.allow_other_pack {
        return Err(RunError::Usage(format!(
            "the agents, the flow or the policy changed since run {run_id} began; put them back, or resume with --allow-pack-change"
        )));
    }
    same_place(cx.gateway.resources(), &run_id, &view.input)?;
    let said_now = resume.answering.answers.clone();
    let answering = as_begun(&view.input, resume.answering);
    let limits = match &view.means {
        Some(kept) => resume.limits.over(&kept.limits),
        None => resume.limits,
    };
    let worked = folded.1.worked.clone();
    let mut driver = driver(cx, (paths, journal, None), folded, answering, limits);
    driver.said_now = said_now;
    driver.recorder.at = at;
    driver.worked_ms = worked.total();
    driver.worked_ms_of = worked.of_steps();
    Ok(driver)
}

/// A run goes on where it began: its ids mean nothing anywhere else, and what is missing there would be made again.
fn same_place(
    resources: &dyn Resources,
    run_id: &str,
    input: &Map<String, Value>,
) -> Result<(), RunError> {
    let (began, now) = (resources.place_of(input), resources.place());
    if began == now {
        return Ok(());
    }
    let (began, now) = (resources.place_words(began), resources.place_words(now));
    Err(RunError::Usage(format!(
        "run {run_id} works on {}, and this command on {}; {}",
        began.name, now.name, began.way
    )))
}

/// What was said when the run began still holds; what is said now comes before it.
fn as_begun(input: &Map<String, Value>, now: Answering) -> Answering {
    let mut answers = match input.get("answers") {
        Some(Value::Object(begun)) => begun.clone(),
        _ => Map::new(),
    };
    answers.extend(now.answers);
    Answering {
        answers,
        yes: now.yes || input.get("yes") == Some(&Value::Bool(true)),
    }
}

/// The driver of a run that is folded this far.
pub(super) fn driver<'a>(
    cx: RunContext<'a>,
    (paths, journal, order): (RunPaths, Journal, Option<u64>),
    (log, view, guards): Folded,
    answering: Answering,
    limits: Budgets,
) -> Driver<'a> {
    Driver {
        pack: cx.pack,
        gateway: cx.gateway,
        resources: cx.gateway.resources(),
        models: cx.models,
        cancel: cx.cancel,
        asker: cx.asker,
        answering,
        said_now: Map::new(),
        heard: None,
        limits: Limits::of(cx.pack.policy.limits()).lowered(&limits.run),
        budgets: limits,
        hours: Hours::default(),
        reserved: BTreeMap::new(),
        guards,
        started_ms: cx.effects.elapsed_ms(),
        worked_ms: 0,
        worked_ms_of: BTreeMap::new(),
        retries: 0,
        recorder: RunRecorder {
            journal,
            flow: &cx.pack.flow,
            log,
            view,
            project: cx.project,
            snapshots: cx.project.snapshots(&paths),
            redactor: cx.gateway.redactor(),
            effects: cx.effects,
            observer: cx.observer,
            at: String::new(),
            order,
            broken: None,
        },
    }
}

/// A session of another agent's is driven by no flow; a turn of a conversation is gone on with by the conversation.
pub(super) fn refuse_session(driver: &Driver<'_>) -> Result<(), RunError> {
    let view = &driver.recorder.view;
    if let Some(session) = driver.recorder.log.session() {
        return Err(RunError::Usage(format!(
            "run {} is a turn of the conversation {}; send the message again, and it goes on",
            view.run_id, session.id
        )));
    }
    match &view.session {
        None => Ok(()),
        Some(of) => Err(RunError::Usage(format!(
            "run {id} is an MCP session (of {:?}), which no flow drives; `agentctl runs show {id}` tells what it did, `agentctl undo {id}` takes it back",
            of.client,
            id = view.run_id,
        ))),
    }
}

fn tell_what_was_healed(loaded: &Loaded, observer: &mut dyn Observer) {
    if let Some(torn) = &loaded.torn {
        let kept = torn
            .kept_as
            .as_ref()
            .map(|p| p.display().to_string())
            .unwrap_or_default();
        observer.note(&format!(
            "the journal's last line was torn by a crash; its {} bytes were cut off and kept as {kept}",
            torn.bytes
        ));
    }
    if loaded.unknown > 0 {
        observer.note(&format!(
            "{} records were written by a newer agentctl and are skipped",
            loaded.unknown
        ));
    }
}
