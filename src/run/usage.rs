//! What a run used, told apart by agent, phase, model and tool; folded from its journal. Reading only.

use super::{RunError, RunUsage, active::active_run, inspect};
use agentctl_engine::{
    flow::{Flow, StepKind},
    pack::Pack,
    store::{Event, Project, Record},
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageReport {
    pub run_id: String,
    pub total: RunUsage,
    /// Attempts of calls that failed for now and were made again.
    pub retries: u64,
    pub agents: IndexMap<String, RunUsage>,
    /// By the stage in which it was used.
    pub phases: IndexMap<String, RunUsage>,
    pub models: IndexMap<String, RunUsage>,
    pub tools: IndexMap<String, ToolUsage>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUsage {
    pub calls: u64,
    /// Of these, answered with anything but `ok`.
    pub not_ok: u64,
    /// Tokens that the results put into a conversation, by their length (four bytes each).
    pub result_tokens: u64,
}

/// Of the named run; None: of the active one.
pub fn usage(project: &Project, pack: &Pack, run: Option<&str>) -> Result<UsageReport, RunError> {
    let run_id = match run {
        Some(given) => project.find_run(given)?,
        None => active_run(project)?,
    };
    let loaded = inspect::read(project, &run_id)?;
    Ok(fold(run_id, &pack.flow, &loaded.records))
}

pub(super) fn fold(run_id: String, flow: &Flow, records: &[Record]) -> UsageReport {
    let mut report = UsageReport {
        run_id,
        ..UsageReport::default()
    };
    let mut phase = flow.first_stage().to_owned();
    let mut model = String::new();
    for record in records {
        match &record.event {
            Event::StageChanged { to, .. } => phase.clone_from(to),
            Event::ModelAsked { model: asked, .. } => model.clone_from(asked),
            Event::ModelRetried { .. } => report.retries += 1,
            Event::ModelAnswered { step, answer, .. } => {
                let agent = match flow.step_at(step).map(|s| &s.kind) {
                    Some(StepKind::Agent(spec)) => spec.agent.clone(),
                    // The flow was changed since.
                    _ => step.clone(),
                };
                let used = &answer.usage;
                report.total.add_answer(used);
                report.agents.entry(agent).or_default().add_answer(used);
                let of_phase = report.phases.entry(phase.clone()).or_default();
                of_phase.add_answer(used);
                let of_model = report.models.entry(model.clone()).or_default();
                of_model.add_answer(used);
            }
            Event::ToolFinished { role, result, .. } => {
                let tool = report.tools.entry(result.name.clone()).or_default();
                tool.calls += 1;
                tool.not_ok += u64::from(result.status != agentctl_base::model::ToolStatus::Ok);
                let bytes = result.content.to_string().len() as u64;
                tool.result_tokens += bytes.div_ceil(4);
                report.total.tool_calls += 1;
                report.agents.entry(role.clone()).or_default().tool_calls += 1;
                let of_phase = report.phases.entry(phase.clone()).or_default();
                of_phase.tool_calls += 1;
            }
            _ => {}
        }
    }
    report
}
