//! Which run is meant when none is named, and what happens to the one that was active when another becomes it. Sessions of other
//! agents are never the active run.

use super::{Observer, RunError};
use crate::store::{Event, Outcome, Project, Record, StateFile, StoreError, write_atomic};
use std::io::BufRead as _;

/// What stands as the flow in the first record of a session's journal.
pub(super) const SESSION_FLOW: &str = "session";

/// Whether the run is a session of another agent's tool calls. A journal that cannot be read is none; who opens it says why.
pub(super) fn is_session(project: &Project, run_id: &str) -> bool {
    let Ok(Ok(file)) = project
        .run(run_id)
        .map(|paths| std::fs::File::open(paths.journal()))
    else {
        return false;
    };
    let mut first = String::new();
    if std::io::BufReader::new(file).read_line(&mut first).is_err() {
        return false;
    }
    serde_json::from_str::<Record>(&first).is_ok_and(
        |record| matches!(record.event, Event::RunStarted { flow, .. } if flow == SESSION_FLOW),
    )
}

/// The run that is meant when none is named: the one of run_state.json, or (when that file cannot be believed) the newest.
/// Sessions are named, or not meant.
pub(super) fn active_run(project: &Project) -> Result<String, RunError> {
    if let StateFile::Good(state) = StateFile::read(&project.state_file())?
        && project.find_run(&state.run_id).is_ok()
    {
        // A run that was killed before it wrote its first summary is newer than what the summary knows.
        let newest = newest_run(project)?;
        return Ok(match newest {
            Some(newest) if newest > state.run_id && !has_state(project, &newest) => newest,
            _ => state.run_id,
        });
    }
    newest_run(project)?.ok_or_else(|| {
        RunError::Usage(
            "this project has no run yet; `agentctl build` starts one (an MCP session is meant only when it is named, see `agentctl runs list`)".into(),
        )
    })
}

fn newest_run(project: &Project) -> Result<Option<String>, RunError> {
    let mut runs = project.run_ids()?.into_iter().rev();
    Ok(runs.find(|run_id| !is_session(project, run_id)))
}

/// Whether the run ever wrote a summary of itself (then it was archived when another became the active one).
fn has_state(project: &Project, run_id: &str) -> bool {
    project
        .run(run_id)
        .is_ok_and(|paths| paths.archived_state().is_file())
}

/// Keeps the summary of the run that was active until now, in its own folder.
pub(super) fn archive_active(
    project: &Project,
    next: &str,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let StateFile::Good(state) = StateFile::read(&project.state_file())? else {
        return Ok(());
    };
    if state.run_id == next {
        return Ok(());
    }
    let Ok(paths) = project.run(&state.run_id) else {
        return Ok(());
    };
    if !paths.dir().is_dir() {
        return Ok(());
    }
    let bytes = std::fs::read(project.state_file())
        .map_err(StoreError::io("read", project.state_file()))?;
    write_atomic(&paths.archived_state(), &bytes)?;
    let unfinished = match state.outcome {
        None => Some("was not finished"),
        Some(Outcome::Waiting) => Some("waits for an answer"),
        Some(Outcome::Interrupted) => Some("was interrupted"),
        Some(Outcome::Budget) => Some("had spent its budget"),
        Some(_) => None,
    };
    if let Some(how) = unfinished {
        observer.note(&format!(
            "run {id} {how}; it is kept, `agentctl resume {id}` goes on with it",
            id = state.run_id
        ));
    }
    Ok(())
}
