//! What an earlier run of this project left outside when it was killed in the middle of a call: found in its journal, taken away
//! before the next run begins. Only what those journals name is touched.

use super::Observer;
use crate::gateway::Gateway;
use crate::store::{Event, Journal, Project};
use crate::toolset::is_unreachable;
use std::{io::BufRead as _, path::Path};

/// So many earlier runs are looked at, the newest first.
const RUNS: usize = 5;

pub(super) async fn clear(
    project: &Project,
    gateway: &Gateway,
    but: &str,
    observer: &mut dyn Observer,
) {
    let signs = gateway.leaves_signs();
    if signs.is_empty() {
        return;
    }
    let runs = project.run_ids().unwrap_or_default();
    for run_id in runs.iter().rev().filter(|id| *id != but).take(RUNS) {
        let Some((intent, own)) = open_intent(project, run_id, &signs) else {
            continue;
        };
        let Some(left) = gateway.leaves(&intent) else {
            continue;
        };
        if !own {
            observer.note(&format!(
                "run {run_id} says that it was interrupted during {}; your agentctl did not write it, so nothing is removed (`agentctl runs adopt {run_id}` makes it yours)",
                left.named
            ));
            continue;
        }
        // A place that cannot be reached is the run's own business; this must not stop it.
        observer.note(&match gateway.clear(&intent).await {
            Ok(()) => format!(
                "run {run_id} was interrupted during {}; {} is removed",
                left.during, left.left
            ),
            Err(error) => format!(
                "run {run_id} was interrupted during {}; {} could not be removed: {error}",
                left.during, left.left_named
            ),
        });
    }
}

/// The intent that the journal ends in, if it does, and whether the journal is this user's: a forged one could name what is nobody's
/// leftover.
fn open_intent(project: &Project, run_id: &str, signs: &[&str]) -> Option<(Event, bool)> {
    let path = project.run(run_id).ok()?.journal();
    if !has_sign(&path, signs) {
        return None;
    }
    let loaded = Journal::read_for(&path, &project.marks(run_id)).ok()?;
    let own = loaded.foreign.is_none();
    let mut open = None;
    for record in loaded.records {
        match record.event {
            Event::ToolIntent {
                expect: Some(_), ..
            } => open = Some(record.event),
            Event::ToolFinished { result, .. } => {
                // What went away in the middle could not take anything back.
                let gone = is_unreachable(&result);
                open = open.filter(|intent| gone || !is_call(intent, &result.call_id));
            }
            _ => {}
        }
    }
    open.map(|intent| (intent, own))
}

fn is_call(intent: &Event, call_id: &str) -> bool {
    matches!(intent, Event::ToolIntent { call, .. } if call.id == call_id)
}

/// Whether some line may tell of something left: most journals need not be read whole.
fn has_sign(path: &Path, signs: &[&str]) -> bool {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let Some(file) = is_file.then(|| std::fs::File::open(path).ok()).flatten() else {
        return false;
    };
    let holds = |line: &[u8]| {
        let mut all = signs.iter();
        all.any(|sign| memchr::memmem::find(line, sign.as_bytes()).is_some())
    };
    let mut lines = std::io::BufReader::new(file).split(b'\n');
    lines.any(|line| line.is_ok_and(|line| holds(&line)))
}
