//! What an earlier run of this project left on the n8n when it was killed in the middle of a test: found in its journal, taken
//! away before the next run begins. Only what those journals name is touched.

use super::Observer;
use crate::{
    gateway::Gateway,
    model::ToolStatus,
    n8n::WorkflowId,
    store::{Event, Project, Record, event::Rehearsing},
};
use std::io::BufRead as _;

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
        let Some((workflow, left)) = open_test(project, run_id) else {
            continue;
        };
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

/// The test that the journal ends in, if it does.
fn open_test(project: &Project, run_id: &str) -> Option<(WorkflowId, Rehearsing)> {
    let paths = project.run(run_id).ok()?;
    let file = std::fs::File::open(paths.journal()).ok()?;
    let mut open = None;
    for line in std::io::BufReader::new(file).lines() {
        let line = line.ok()?;
        if !line.contains("\"tool_intent\"") && !line.contains("\"tool_finished\"") {
            continue;
        }
        match serde_json::from_str::<Record>(&line).ok()?.event {
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
    open.map(|(_, workflow, left)| (workflow, left))
}
