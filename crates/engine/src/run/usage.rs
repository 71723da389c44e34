//! What a run used, told apart by agent, phase, model and tool. Reading only.

use super::{RunError, RunUsage, UsedByLinked, active::active_run, linked, view};
use crate::{
    flow::{Flow, Step},
    pack::Pack,
    store::Project,
    view::{Returned, RunView, Use},
};
use agentctl_base::model::ToolStatus;
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
    /// What the runs used that worked on calls of this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<UsedByLinked>,
    /// With them; None: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<RunUsage>,
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
    let view = view(project, &run_id)?;
    let report = of(&pack.flow, &view);
    let used = linked(project, &view).into_iter().filter_map(|one| {
        Some(UsedByLinked {
            run_id: one.link.run_id,
            pack: one.link.pack,
            total: one.view.ok()?.usage,
        })
    });
    let linked: Vec<UsedByLinked> = used.collect();
    let all = linked
        .iter()
        .fold(report.total, |all, one| all.plus(&one.total));
    Ok(UsageReport {
        run_id,
        together: (!linked.is_empty()).then_some(all),
        linked,
        ..report
    })
}

pub(super) fn of(flow: &Flow, view: &RunView) -> UsageReport {
    let mut report = UsageReport {
        run_id: view.run_id.clone(),
        total: view.usage,
        retries: view.retries,
        ..UsageReport::default()
    };
    for used in view.uses() {
        let agent = match &used {
            Use::Model(call, _) => {
                let agent = flow.step_at(&call.step).and_then(Step::agent);
                // Without one the flow was changed since.
                agent.unwrap_or(&call.step).to_owned()
            }
            Use::Tool(call, _) => call.role.clone(),
        };
        used.add_to(report.agents.entry(agent).or_default());
        let phase = used.stage().unwrap_or(flow.first_stage());
        used.add_to(report.phases.entry(phase.to_owned()).or_default());
        match used {
            Use::Model(call, _) => {
                used.add_to(report.models.entry(call.model.clone()).or_default());
            }
            Use::Tool(_, Returned { result, .. }) => {
                let tool = report.tools.entry(result.name.clone()).or_default();
                tool.calls += 1;
                tool.not_ok += u64::from(result.status != ToolStatus::Ok);
                let bytes = result.content.to_string().len() as u64;
                tool.result_tokens += bytes.div_ceil(4);
            }
        }
    }
    report
}
