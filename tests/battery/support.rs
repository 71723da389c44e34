//! What the cases attack with: a model that has been taken over (`Shop`, whole runs with a scripted model), a backend that
//! lies (`MemoryBackend`), and the gateway alone on a bench (`Bench`) under the built-in pack's policy.

#[path = "../run/support.rs"]
mod shop;

use agentctl_engine::store::event::JOURNAL_VERSION;
pub use agentctl_n8n_tools::fixture::*;
pub use shop::*;

use agentctl_base::model::{ModelAnswer, ToolCall, ToolStatus};
use agentctl_engine::gateway::Settled;
use agentctl_engine::pack::Pack;
use agentctl_engine::store::Event;
use agentctl_n8n::{Node, NodeId, Workflow};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, LazyLock};

static BUILT_IN: LazyLock<Pack> = LazyLock::new(|| agentctl::pack::built_in().unwrap());

/// The pack that is compiled into the program.
pub fn built_in() -> &'static Pack {
    &BUILT_IN
}

pub const ROLES: [&str; 5] = ["architect", "researcher", "builder", "qa", "analyst"];

/// A run begins on these words of its user.
pub fn begun(words: &str) -> Event {
    begun_with(json!({"request": words}))
}

/// The user's word when the run began.
pub fn begun_with(input: Value) -> Event {
    Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "0".into(),
        run_id: "r".into(),
        flow: "f".into(),
        pack_hash: "p".into(),
        input: input.as_object().unwrap().clone(),
    }
}

/// The built-in policy over a backend in memory that holds `orders`: a chain of ten nodes, made before the run.
pub fn attacked() -> (Bench, Arc<MemoryBackend>) {
    let (bench, backend) = Bench::in_memory(built_in().policy.clone());
    backend.put("orders", chain("orders", 10), false);
    (bench, backend)
}

/// The workflow with a webhook that somebody could call.
pub fn callable(mut workflow: Workflow) -> Workflow {
    let parameters = json!({"httpMethod": "POST", "path": "orders"});
    workflow.nodes.push(Node::new(
        NodeId("hook".into()),
        "Hook",
        "n8n-nodes-base.webhook",
        2.0,
        parameters.as_object().unwrap().clone(),
    ));
    workflow
}

/// Calls exactly as a model wrote them: names and arguments are raw text.
pub fn raw_calls(list: &[(&str, &str)]) -> ModelAnswer {
    let mut answer = says(Value::Null);
    answer.text = String::new();
    answer.tool_calls = list
        .iter()
        .enumerate()
        .map(|(i, (name, arguments))| ToolCall {
            id: format!("c{i}"),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        })
        .collect();
    answer
}

/// The tools of the n8n-mcp server that read or write an n8n; none of them is a tool of this program.
pub const N8N_MCP_TOOLS: [&str; 24] = [
    "n8n_audit_instance",
    "n8n_autofix_workflow",
    "n8n_create_workflow",
    "n8n_delete_workflow",
    "n8n_deploy_template",
    "n8n_evaluations",
    "n8n_executions",
    "n8n_explore_node_resources",
    "n8n_get_workflow",
    "n8n_health_check",
    "n8n_list_catalog",
    "n8n_list_workflows",
    "n8n_manage_agents",
    "n8n_manage_credentials",
    "n8n_manage_datatable",
    "n8n_manage_folders",
    "n8n_test_workflow",
    "n8n_update_full_workflow",
    "n8n_update_partial_workflow",
    "n8n_validate_workflow",
    "n8n_workflow_versions",
    "tools_documentation",
    "validate_node",
    "validate_workflow_expressions",
];

/// Every call in the list is refused by this rule, each refusal is journaled, and nothing at all reached the backend.
pub async fn all_refused(
    bench: &mut Bench,
    backend: &MemoryBackend,
    rule: &str,
    calls: &[(&str, &str, &str)],
) {
    let (before, asked) = (bench.desk.events.len(), backend.wire().len());
    for (role, tool, arguments) in calls {
        let settled = bench.raw(role, tool, arguments).await.unwrap();
        let Settled::Done(result) = settled else {
            panic!("{role} {tool} asks: {settled:?}")
        };
        assert_eq!(
            (result.status, result.content["rule"].as_str()),
            (ToolStatus::Refused, Some(rule)),
            "{role} {tool:?} {arguments}: {}",
            result.content
        );
    }
    assert_eq!(backend.wire().len(), asked, "something reached the backend");
    assert_eq!(
        bench.names()[before..],
        ["tool_intent", "tool_finished"].repeat(calls.len())
    );
    let rules = bench.rules();
    assert!(rules[rules.len() - calls.len()..].iter().all(|r| r == rule));
}

/// The id of the workflow that the step is about; null before there is one.
pub fn workflow_of(seen: &Seen<'_>) -> Value {
    let workflow = seen.request.task.input.get("workflow");
    workflow
        .and_then(|w| w.get("id"))
        .cloned()
        .unwrap_or_default()
}
