//! The whole gateway over the embedded backend, story by story.

mod accounts;
mod approvals;
mod drafting;
mod naming;
mod noting;
mod parts;
mod permission;
mod reading;
mod rehearsing;
mod repeating;
mod settling;
mod writing;

use crate::fixture::{Bench, N8nBench as _, chain, set, two_nodes};
use crate::guards;
use crate::tools::*;
use agentctl_base::decision::Decision;
use agentctl_base::model::{ToolCall, ToolResult, ToolStatus};
use agentctl_base::question::AnsweredBy;
use agentctl_engine::gateway::Settled;
use agentctl_engine::guards::rules;
use agentctl_engine::policy::Policy;
use agentctl_engine::store::Event;
use agentctl_engine::store::event::MutationExpectation;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const POLICY: &str = "
roles:
  writer: [list-workflows, get-workflow, create-workflow, update-workflow, autofix-workflow, rollback-workflow, delete-workflow, validate-draft, draft-workflow, qa-workflows, node-schema]
  checker: [get-workflow, validate-final, activate-workflow, trigger-workflow, read-executions, read-versions]
  reader: [search-nodes, search-templates, read-skills, read-learnings, write-learnings]
rules:
  - id: going-live
    effect: ask
    tools: [activate_workflow, trigger_workflow]
    reason: it would act on real accounts
    match: [{role: checker, tool: trigger_workflow, args: {}}]
    not_match: [{role: checker, tool: deactivate_workflow, args: {}}]
limits: {max_tool_calls: 40, max_identical_calls: 3}
";

fn bench() -> Bench {
    Bench::embedded(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap())
}
