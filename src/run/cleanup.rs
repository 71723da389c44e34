//! What an earlier run of this project left on the n8n when it was killed in the middle of a test: found in its journal, taken
//! away before the next run begins. Only what those journals name is touched.

use super::Observer;
use agentctl_engine::gateway::Gateway;
use agentctl_base::model::ToolStatus;
use agentctl_engine::store::{Event, Journal, Project, event::Rehearsing};
use agentctl_n8n::WorkflowId;
use std::{io::BufRead as _, path::Path};

/// So many earlier runs are looked at, the newest first.
const RUNS: usize = 5;

pub(super) async fn clear(
    project: &Project,
    gateway: &Gateway,
    but: &str,
    observer: &mut dyn Observer,
) {
    if !gateway.backend().can().execute {
        return;
    }
    let runs = project.run_ids().unwrap_or_default();
    for run_id in runs.iter().rev().filter(|id| *id != but).take(RUNS) {
        let Some((workflow, left, own)) = open_test(project, run_id) else {
            continue;
        };
        if !own {
            observer.note(&format!(
                "run {run_id} says that it was interrupted during a test of {:?}; your agentctl did not write it, so nothing is removed (`agentctl runs adopt {run_id}` makes it yours)",
                left.copy
            ));
            continue;
        }
        // An n8n that cannot be reached is the run's own business; this must not stop it.
        observer.note(&match gateway.clear_rehearsal(&workflow, &left).await {
            Ok(()) => format!("run {run_id} was interrupted during a test; what it put on the n8n is removed"),
            Err(error) => format!(
                "run {run_id} was interrupted during a test; its copy {:?} could not be removed: {error}",
                left.copy
            ),
        });
    }
}

/// The test that the journal ends in, if it does, and whether the journal is this user's: a forged one could name a workflow that
/// is nobody's leftover.
fn open_test(project: &Project, run_id: &str) -> Option<(WorkflowId, Rehearsing, bool)> {
    let path = project.run(run_id).ok()?.journal();
    if !has_test(&path) {
        return None;
    }
    let loaded = Journal::read_for(&path, &project.marks(run_id)).ok()?;
    let own = loaded.foreign.is_none();
    let mut open = None;
    for record in loaded.records {
        match record.event {
            Event::ToolIntent {
                expect: Some(expect),
                call,
                ..
            } => {
                open = expect
                    .rehearsal
                    .zip(expect.workflow_id)
                    .map(|(left, id)| (call.id, WorkflowId(id), left));
            }
            Event::ToolFinished { result, .. } => {
                // A backend that went away in the middle could not take anything back.
                let gone = result.status == ToolStatus::Failed
                    && result.content.get("rule").and_then(|r| r.as_str())
                        == Some("backend.unavailable");
                open = open.filter(|(call, ..)| gone || *call != result.call_id);
            }
            _ => {}
        }
    }
    open.map(|(_, workflow, left)| (workflow, left, own))
}

/// Whether some line may tell of a test: most journals need not be read whole.
fn has_test(path: &Path) -> bool {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    let Some(file) = std::fs::File::open(path).ok().filter(|_| is_file) else {
        return false;
    };
    let mut lines = std::io::BufReader::new(file).split(b'\n');
    lines.any(|line| line.is_ok_and(|line| memchr::memmem::find(&line, b"\"rehearsal\"").is_some()))
}
