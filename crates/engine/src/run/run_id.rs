//! The names of runs: they sort as the runs began, whatever the clock says.

use super::{Effects, RunError};
use crate::store::Project;
use agentctl_base::canonical::sha256_hex;

/// Sorts by time; the tail keeps two runs of one second apart. A new run always sorts behind all others, also when the clock
/// was set back: then it takes the second after the newest one's.
pub(super) fn new(effects: &dyn Effects, project: &Project) -> Result<String, RunError> {
    const FORM: &str = "%Y%m%d-%H%M%S";
    let tail = sha256_hex(effects.new_id().as_bytes());
    let tail = tail.get(..6).unwrap_or_default();
    let now = effects.now().strftime(FORM).to_string();
    let is_newer = |id: &str| id.get(..now.len()).is_some_and(|time| time >= now.as_str());
    let newest = project.run_ids_of(&is_newer)?.pop();
    let newest = newest.as_deref().and_then(|id| id.get(..now.len()));
    let time = match newest {
        Some(newest) if newest >= now.as_str() => jiff::civil::DateTime::strptime(FORM, newest)
            .ok()
            .and_then(|at| at.checked_add(jiff::Span::new().seconds(1)).ok())
            .map_or(now, |at| at.strftime(FORM).to_string()),
        _ => now,
    };
    Ok(format!("{time}-{tail}"))
}

/// How many characters stand behind the second in the name of a turn.
const OF_TURN: usize = 10;

/// Whether this is the name of a turn, as far as names tell.
pub(super) fn is_of_turn(run: &str) -> bool {
    run.rsplit('-').next().map(str::len) == Some(OF_TURN)
}

/// The name of a turn of a conversation: of its time to the microsecond, and of chance. The other runs are not looked at, since there may
/// be as many of them as messages were ever sent; which turn of a conversation came first, the conversation knows.
pub(super) fn of_turn(effects: &dyn Effects) -> String {
    let tail = sha256_hex(effects.new_id().as_bytes());
    let tail = tail.get(..4).unwrap_or_default();
    format!("{}{tail}", effects.now().strftime("%Y%m%d-%H%M%S-%6f"))
}
