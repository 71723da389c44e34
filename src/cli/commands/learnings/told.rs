//! What all commands of the learnings need to tell their answers: failures, today's date, and which runs an entry helped.

use crate::analysis::used_in;
use crate::cli::error::{CliError, Exit};
use agentctl_base::counted::counted;
use agentctl_engine::store::{Project, StoreError};
use agentctl_host::files::{Found, read_own};
use agentctl_knowledge::{KnowledgeError, Use, Uses};

/// How a failure of the learnings is told.
pub fn told(error: &KnowledgeError) -> CliError {
    let exit = match error {
        KnowledgeError::Invalid(_) | KnowledgeError::NotFound { .. } => Exit::Usage,
        _ => Exit::Failed,
    };
    let told = CliError::new(exit, error.to_string());
    match error {
        KnowledgeError::NotFound { .. } => told.hint("agentctl learnings search WORDS lists ids"),
        _ => told,
    }
}

/// Which entries the runs of a project read, and how those runs ended.
pub fn uses(project: &Project) -> Result<Uses, CliError> {
    let failed = |e: StoreError| CliError::failed(e.to_string());
    let mut uses = Uses::default();
    for run in project.run_ids().map_err(failed)? {
        let path = project.run(&run).map_err(failed)?.journal();
        let read = read_own(&path, u64::MAX - 1);
        let Found::Bytes(bytes) = read.map_err(|e| failed(StoreError::io("read", path)(e)))? else {
            // Lost: `runs verify` tells of it.
            continue;
        };
        let (ids, outcome) = used_in(&bytes);
        uses.add(&ids, outcome);
    }
    Ok(uses)
}

/// Today, in the user's time zone.
pub fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

/// How often an entry helped, in words.
pub fn helped(of: Use) -> String {
    match of.read {
        0 => "read by no run yet".to_owned(),
        n => format!(
            "read by {}: {} passed, {} blocked",
            counted(n, "run"),
            of.passed,
            of.blocked
        ),
    }
}
