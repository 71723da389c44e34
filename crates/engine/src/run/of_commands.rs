//! The runs that commands began, looked at without reading those of conversations, of which there may be as many as messages were ever
//! sent. Fails closed: what another user wrote, what cannot be read, and what does not say whose it is, is none of them.

use super::told::{self, OneOf};
use super::{RunError, run_id};
use crate::store::Project;
use agentctl_base::question::Outcome;

/// So many runs are looked at together.
const AT_ONCE: usize = 128;

/// A run that a command began.
#[derive(Debug, Clone, PartialEq)]
pub struct OfCommand {
    pub run_id: String,
    /// The pack's name.
    pub pack: String,
    /// The flow of the pack that runs; None: its entry.
    pub flow: Option<String>,
    /// UTC, RFC 3339: of the last record.
    pub updated_at: String,
    pub request: String,
    /// None: running now, or killed.
    pub outcome: Option<Outcome>,
    /// Nothing goes on with it.
    pub over: bool,
    /// An undo took back all that it changed.
    pub taken_back: bool,
}

impl OfCommand {
    fn of(run: OneOf) -> Option<OfCommand> {
        let told = run.told;
        let named = told.means.as_ref().and_then(|means| means.pack.as_deref());
        let flow = named.and_then(|named| named.split_once('/'));
        let is_own = run.foreign.is_none() && run.short.is_none();
        (is_own && told.of_command).then_some(OfCommand {
            run_id: run.run_id,
            flow: flow.map(|(_, flow)| flow.to_owned()),
            pack: told.pack,
            updated_at: told.updated_at,
            request: told.request,
            outcome: told.outcome,
            over: told.over,
            taken_back: told.taken_back,
        })
    }
}

/// Those among them that are `wanted`, the one that began last first, `most` at the most; behind the run `after`, where one is named. The
/// second is whether there are more.
pub fn of_commands(
    project: &Project,
    after: Option<&str>,
    most: usize,
    wanted: &dyn Fn(&OfCommand) -> bool,
) -> Result<(Vec<OfCommand>, bool), RunError> {
    let is_asked_for = |id: &str| !run_id::is_of_turn(id) && after.is_none_or(|after| id < after);
    let mut ids = project.run_ids_of(&is_asked_for)?;
    let mut found = Vec::new();
    while found.len() <= most && !ids.is_empty() {
        let some = ids.split_off(ids.len().saturating_sub(AT_ONCE));
        let looked = told::of_ids(project, some)?.into_iter().rev();
        let own = looked.filter_map(|run| OfCommand::of(run.ok()?));
        found.extend(own.filter(|run| wanted(run)));
    }
    let more = found.len() > most;
    found.truncate(most);
    Ok((found, more))
}

/// The run of exactly this name; None: there is none, or no command of this user's began it.
pub fn of_command(project: &Project, run_id: &str) -> Result<Option<OfCommand>, RunError> {
    let journal = match project.run(run_id) {
        Ok(paths) if !run_id::is_of_turn(run_id) => paths.journal(),
        _ => return Ok(None),
    };
    if std::fs::symlink_metadata(journal).is_err() {
        return Ok(None);
    }
    match told::one(project, run_id) {
        Ok(run) => Ok(OfCommand::of(run)),
        Err(e) if e.is_of_one_journal() => Ok(None),
        Err(e) => Err(e.into()),
    }
}
