//! `agentctl flow check|graph`.

use crate::cli::args::FlowCommand;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::session;
use crate::cli::trusting;
use agentctl_engine::flow;
use serde_json::json;
use std::path::Path;

pub fn flow(root: &Path, command: &FlowCommand, out: &Output) -> Result<Exit, CliError> {
    if matches!(command, FlowCommand::Check) {
        trusting::needs_pack(root, out)?;
    }
    let pack = session::load_pack(root, out)?;
    match command {
        FlowCommand::Check => {
            let steps = pack.flow.all_steps().len();
            out.answer(
                Exit::Complete,
                || format!("flow {}: {steps} steps, stages {} (or {}), no mistakes\n", pack.flow.name, pack.flow.stages.join(" → "), pack.flow.blocked_stage),
                || json!({"flow": pack.flow.name, "steps": steps, "stages": pack.flow.stages, "warnings": pack.warnings}),
            )
        }
        FlowCommand::Graph => {
            let graph = flow::mermaid(&pack.flow);
            out.answer(
                Exit::Complete,
                || graph.clone(),
                || json!({"mermaid": graph}),
            )
        }
    }
}
