//! What is shown of a run by itself, kept beside a long journal (`store::checkpoint`), so that the journal need not be folded again to
//! show the same. It is shown for the pack and by the agentctl that it was made with; any other makes it anew.

use super::{Cause, Reply, RunReport, Taken, UnusedAnswer, exit_code, projection};
use crate::{
    flow::RunLog,
    pack::Pack,
    store::{Checked, Foreign, Loaded, Project, SnapshotRef},
    view::{RunUsage, RunView},
};
use agentctl_base::canonical::sha256_hex;
use agentctl_base::question::{Outcome, Question};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What is shown, and what is held against the disk each time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Shown {
    /// Of the pack and the program.
    made_with: String,
    #[serde(with = "Whole")]
    pub report: RunReport,
    pub snapshots: Vec<SnapshotRef>,
}

/// A report with all its parts, also those that are not part of the JSON.
#[derive(Serialize, Deserialize)]
#[serde(remote = "RunReport")]
struct Whole {
    run_id: String,
    stage: String,
    outcome: Outcome,
    message: String,
    taken_back: bool,
    redo: Option<u32>,
    made: Map<String, Value>,
    questions: Vec<Question>,
    messages: Vec<Reply>,
    output: Option<Value>,
    errors: Vec<Value>,
    usage: RunUsage,
    #[serde(default)]
    taken: Vec<Taken>,
    /// Of an activation, not of the run.
    #[serde(skip)]
    unused_answers: Vec<UnusedAnswer>,
    lost: Map<String, Value>,
    policy_loosened: Vec<String>,
    foreign: Option<Foreign>,
    damage: Vec<String>,
    grants: Vec<Value>,
    overrides: Vec<String>,
    exit_code: u8,
    request: String,
    state: Map<String, Value>,
    sections: Map<String, Value>,
    cause: Option<Value>,
}

/// What is shown of the run, from its folded journal. What is lost of its records is not known yet.
pub(super) fn of(pack: &Pack, view: &RunView, log: &RunLog) -> Shown {
    // A run without an end is running now or was killed; both are "not finished".
    let outcome = projection::outcome_of(view).unwrap_or(Outcome::Interrupted);
    let (code, message) = match &view.ended {
        Some(ended) => (ended.exit_code, ended.message.clone()),
        None => {
            let why = view.stopped_for().unwrap_or_default();
            (exit_code(outcome, Some(Cause::Interrupt)), why.to_owned())
        }
    };
    Shown {
        made_with: made_with(pack),
        report: projection::report(pack, view, log, outcome, code, message),
        snapshots: view.snapshots.clone(),
    }
}

/// What was kept of the run for this pack, with its journal; None: nothing that still fits.
pub(super) fn kept(
    project: &Project,
    pack: &Pack,
    run_id: &str,
) -> Option<(Shown, Loaded, Checked)> {
    let (loaded, journal, told) = project.reported(run_id)?;
    let shown: Shown = serde_json::from_value(told).ok()?;
    let fits = shown.made_with == made_with(pack) && shown.report.run_id == run_id;
    fits.then_some((shown, loaded, journal))
}

/// Keeps it. `loaded`: the journal as it was read; None: as it was written. What cannot be kept costs time, and nothing else.
pub(super) fn keep(project: &Project, shown: &Shown, loaded: Option<&Loaded>, journal: Checked) {
    if let Ok(told) = serde_json::to_value(shown) {
        project.keep_report(&shown.report.run_id, journal, loaded, &told);
    }
}

fn made_with(pack: &Pack) -> String {
    let orchestrator = pack.orchestrator.as_ref().map_or("", |of| &of.text);
    let parts = [
        env!("CARGO_PKG_VERSION"),
        &pack.hash,
        &pack.flow_file,
        orchestrator,
    ];
    sha256_hex(parts.join("\n").as_bytes())
}
