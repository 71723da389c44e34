//! Which run is meant when none is named, and what happens to the one that was active when another becomes it. Sessions of other
//! agents and turns of conversations are never the active run.

use super::{Observer, RunError};
use crate::store::{Event, Loaded, Project, RunState, StateFile};
use agentctl_base::question::Outcome;
use serde_json::Value;
use std::io::{BufRead as _, Read as _};

/// What stands as the flow in the first record of a session's journal.
pub(super) const SESSION_FLOW: &str = "session";

/// Among a run's input: the kept conversation that it is a turn of.
pub(super) const CONVERSATION: &str = "conversation";

/// In run_state.json: that this user's agentctl made the run the active one. The rest of the file is believed for nothing.
pub(super) const ACTIVE_MARK: &str = "mark";
/// The first record holds the request, which has a limit of its own.
const MAX_FIRST: u64 = 4 << 20;

/// What the first record of a journal says of the run.
struct Begun {
    /// It is a session of another agent's tool calls, or a turn of a conversation.
    session: bool,
    /// This user's agentctl began it.
    own: bool,
}

/// None: it cannot be read; who opens the journal says why.
fn begun(project: &Project, run_id: &str) -> Option<Begun> {
    let path = project.run(run_id).ok()?.journal();
    let is_file = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    // A pipe in its place would be waited for.
    let file = is_file.then(|| std::fs::File::open(&path).ok()).flatten()?;
    let mut first = Vec::new();
    std::io::BufReader::new(file)
        .take(MAX_FIRST)
        .read_until(b'\n', &mut first)
        .ok()?;
    let loaded = Loaded::judged(&path, &first, &project.marks(run_id)).ok()?;
    let event = &loaded.records.first()?.event;
    Some(Begun {
        session: matches!(event, Event::RunStarted { flow, input, .. }
            if flow == SESSION_FLOW || input.contains_key(CONVERSATION)),
        own: loaded.foreign.is_none(),
    })
}

/// Whether the run is a session of another agent's tool calls, or a turn of a conversation. A journal that cannot be read is none.
pub(super) fn is_session(project: &Project, run_id: &str) -> bool {
    begun(project, run_id).is_some_and(|begun| begun.session)
}

/// The run that is meant when none is named: the one of run_state.json when this user's agentctl wrote that, else the newest that
/// it began. Only where it began none, another's is meant: to look at, for nothing else is done with it. Sessions are named, or
/// not meant. A run whose journal is lost or broken is meant like any other, so that its error is told and no older run is taken
/// for it.
pub(super) fn active_run(project: &Project) -> Result<String, RunError> {
    active_among(project, project.run_ids()?.into_iter().rev())
}

/// The same where the ids are known already, the newest first; those of sessions may be left out.
pub(super) fn active_among(
    project: &Project,
    ids: impl Iterator<Item = String>,
) -> Result<String, RunError> {
    let Newest { own, unclear, any } = newest_runs(project, ids);
    let named = match StateFile::read(&project.state_file())? {
        StateFile::Good(state) => {
            Some(state).filter(|state| own.is_none() || is_marked(project, state))
        }
        _ => None,
    };
    if let Some(state) = named {
        // A run that was killed before it wrote its first summary is newer than what the summary knows.
        return Ok(match own.or(any) {
            Some(newest) if newest > state.run_id && !has_state(project, &newest) => newest,
            _ => state.run_id,
        });
    }
    // Without a summary nobody can tell that the lost run is not the one that is meant.
    let newest = match own {
        Some(own) => unclear.or(Some(own)),
        None => any,
    };
    newest.ok_or_else(|| {
        RunError::Usage(
            "this project has no active run yet; `agentctl build` starts one (a push, a test or an MCP session is meant only when it is named, see `agentctl runs list`)".into(),
        )
    })
}

fn is_marked(project: &Project, state: &RunState) -> bool {
    let mark = state.more.get(ACTIVE_MARK).and_then(Value::as_str);
    mark.is_some_and(|mark| project.marks(&state.run_id).is_active(mark))
}

/// Whether this user's agentctl began the run, as far as that can be told of one whose journal cannot be read: by its first record, or
/// by a mark on a summary or on what it told. What somebody planted has none, and stands in nobody's way. Without a key nobody can
/// tell.
pub(super) fn is_own(project: &Project, run_id: &str) -> bool {
    if !project.marks(run_id).has_key()
        || begun(project, run_id).is_some_and(|begun| begun.own)
        || project.told_before(run_id).is_some()
    {
        return true;
    }
    let archived = project.run(run_id).map(|paths| paths.archived_state());
    let files = [Some(project.state_file()), archived.ok()];
    files.into_iter().flatten().any(|file| {
        matches!(StateFile::read(&file), Ok(StateFile::Good(state))
            if state.run_id == run_id && is_marked(project, &state))
    })
}

/// The newest runs of a flow.
#[derive(Default)]
struct Newest {
    /// This user's.
    own: Option<String>,
    /// One that is newer than that, cannot be read, and may be anybody's.
    unclear: Option<String>,
    /// Anybody's, as far as it was looked for.
    any: Option<String>,
}

/// Each run is looked at once, since there may be many.
fn newest_runs(project: &Project, ids: impl Iterator<Item = String>) -> Newest {
    let mut newest = Newest::default();
    for run_id in ids {
        let begun = begun(project, &run_id);
        let own = match &begun {
            Some(begun) if begun.session => continue,
            Some(begun) => begun.own,
            None if was_session(project, &run_id) => continue,
            None => is_own(project, &run_id),
        };
        if own {
            newest.own = Some(run_id);
            break;
        }
        // One that only a summary names, and nothing else, is nobody's.
        let is_there = || {
            let paths = project.run(&run_id);
            paths.is_ok_and(|paths| paths.dir().is_dir())
        };
        if begun.is_none() && is_there() {
            newest.unclear.get_or_insert_with(|| run_id.clone());
        }
        newest.any.get_or_insert(run_id);
    }
    newest
}

/// The same of one whose journal cannot be read, by what it told before.
fn was_session(project: &Project, run_id: &str) -> bool {
    let told = project.told_before(run_id);
    told.is_some_and(|told| told.get("session").is_some_and(|of| !of.is_null()))
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
    // A link in its place is not followed: whoever made the folder could point it anywhere.
    if !std::fs::symlink_metadata(paths.dir()).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    StateFile::write_on(project.disk().as_ref(), &paths.archived_state(), &state)?;
    let unfinished = match state.outcome {
        None => Some("was not finished"),
        Some(Outcome::Waiting) => Some("waits for an answer"),
        Some(Outcome::Interrupted) => Some("was interrupted"),
        Some(Outcome::Budget) => Some("had spent its budget"),
        Some(_) => None,
    };
    if let Some(how) = unfinished {
        let next = match is_marked(project, &state) {
            true => format!("`agentctl resume {}` goes on with it", state.run_id),
            false => format!("`agentctl runs show {}` tells whose it is", state.run_id),
        };
        observer.note(&format!("run {} {how}; it is kept, {next}", state.run_id));
    }
    Ok(())
}
