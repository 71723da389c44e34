//! `agentctl flow check|graph`.

use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust;
use crate::cli::output::Output;
use crate::cli::session;
use agentctl_base::counted::counted;
use agentctl_engine::flow;
use clap::Subcommand;
use serde_json::json;
use std::path::Path;

/// Check or draw the flow
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl flow graph > flow.mmd")]
pub enum FlowCommand {
    /// Check the flow file; every mistake with file and line
    #[command(after_help = "Example:\n  agentctl flow check")]
    Check,
    /// Draw the flow as a Mermaid diagram
    #[command(after_help = "Example:\n  agentctl flow graph > flow.mmd")]
    Graph,
}

fn stages(flow: &flow::Flow) -> String {
    let forward = flow.stages.join(" → ");
    match &flow.blocked_stage {
        _ if forward.is_empty() => String::new(),
        None => format!(", stages {forward}"),
        Some(blocked) => format!(", stages {forward} (or {blocked})"),
    }
}

pub fn flow(root: &Path, command: &FlowCommand, out: &Output) -> Result<Exit, CliError> {
    if matches!(command, FlowCommand::Check) {
        folder_trust::needs_pack(root, out)?;
    }
    let pack = session::load_pack(root, out)?;
    match command {
        FlowCommand::Check => {
            let steps = pack.flow.steps_of_all().len();
            out.answer(
                Exit::Complete,
                || format!("flow {}: {}{}, no mistakes\n", pack.flow.name, counted(steps, "step"), stages(&pack.flow)),
                || json!({"flow": pack.flow.name, "steps": steps, "stages": pack.flow.stages, "warnings": pack.warnings}),
            )
        }
        FlowCommand::Graph => {
            let graph = flow::mermaid(&pack.flow);
            out.document(|| graph.clone(), || json!({"mermaid": graph}))
        }
    }
}
