//! What a call means, typed: unknown keys and wrong types do not pass. The doc comments say what a field is for; the schemas
//! that models see are in `schema.rs`, and a test holds the two together.

use agentctl_knowledge::NewLearning;
use agentctl_n8n::fit::Wanted;
use agentctl_n8n::workflow::{Connections, number};
use agentctl_n8n::{EditOp, Node, NodeId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub const DEFAULT_LIMIT: usize = 20;
/// Node types that a search gives when no limit is asked for: the right one is among the first, or the words were wrong.
pub const DEFAULT_HITS: usize = 6;
pub const MAX_LIMIT: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListWorkflows {
    /// Only those whose name or node types hold all these words.
    #[serde(default)]
    pub query: Option<String>,
    /// Score each workflow against this, best first.
    #[serde(default)]
    pub wanted: Option<Wanted>,
    #[serde(default)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    Summary,
    #[default]
    Full,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetWorkflow {
    pub workflow_id: String,
    #[serde(default)]
    pub view: View,
    #[serde(default)]
    pub cursor: Option<String>,
}

/// A node of a new workflow: the keys that n8n's editor writes, and no others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CreatedNode {
    #[serde(default)]
    pub id: Option<String>,
    pub name: String,
    #[serde(rename = "type")]
    pub node_type: String,
    #[serde(default)]
    pub type_version: Option<f64>,
    #[serde(default)]
    pub position: Option<[f64; 2]>,
    #[serde(default)]
    pub parameters: Map<String, Value>,
    #[serde(default)]
    pub credentials: Option<Map<String, Value>>,
    #[serde(default)]
    pub disabled: Option<bool>,
    #[serde(default)]
    pub notes: Option<String>,
    #[serde(default)]
    pub notes_in_flow: Option<bool>,
    #[serde(default)]
    pub on_error: Option<String>,
    #[serde(default)]
    pub retry_on_fail: Option<bool>,
    #[serde(default)]
    pub max_tries: Option<u32>,
    #[serde(default)]
    pub wait_between_tries: Option<u32>,
    #[serde(default)]
    pub execute_once: Option<bool>,
    #[serde(default)]
    pub always_output_data: Option<bool>,
    #[serde(default)]
    pub webhook_id: Option<String>,
}

impl CreatedNode {
    /// The node as n8n keeps it. `id` is used when the node brings none.
    pub fn into_node(self, id: impl FnOnce() -> String) -> Node {
        let id = self.id.filter(|id| !id.is_empty()).unwrap_or_else(id);
        let mut node = Node::new(
            NodeId(id),
            self.name,
            self.node_type,
            self.type_version.unwrap_or(1.0),
            self.parameters,
        );
        match self.position {
            Some([x, y]) => node.set_position(x, y),
            None => {
                node.map_mut().shift_remove("position");
            }
        }
        if self.type_version.is_none() {
            node.map_mut().shift_remove("typeVersion");
        }
        let rest = [
            ("credentials", self.credentials.map(Value::Object)),
            ("disabled", self.disabled.map(Value::Bool)),
            ("notes", self.notes.map(Value::String)),
            ("notesInFlow", self.notes_in_flow.map(Value::Bool)),
            ("onError", self.on_error.map(Value::String)),
            ("retryOnFail", self.retry_on_fail.map(Value::Bool)),
            ("maxTries", self.max_tries.map(f64::from).map(number)),
            (
                "waitBetweenTries",
                self.wait_between_tries.map(f64::from).map(number),
            ),
            ("executeOnce", self.execute_once.map(Value::Bool)),
            ("alwaysOutputData", self.always_output_data.map(Value::Bool)),
            ("webhookId", self.webhook_id.map(Value::String)),
        ];
        for (key, value) in rest {
            if let Some(value) = value {
                node.set(key, value);
            }
        }
        node
    }
}

/// Either `nodes` (with `connections` and `settings`), or `ops` on an empty workflow.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateWorkflow {
    pub name: String,
    #[serde(default)]
    pub nodes: Option<Vec<CreatedNode>>,
    #[serde(default)]
    pub connections: Option<Connections>,
    #[serde(default)]
    pub settings: Option<Map<String, Value>>,
    #[serde(default)]
    pub ops: Option<Vec<EditOp>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateWorkflow {
    pub workflow_id: String,
    pub ops: Vec<EditOp>,
    /// The graph hash that the caller planned on.
    #[serde(default)]
    pub expect_hash: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutofixWorkflow {
    pub workflow_id: String,
    /// Only these findings; all that have a certain fix when absent.
    #[serde(default)]
    pub finding_ids: Option<Vec<String>>,
    #[serde(default)]
    pub expect_hash: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteWorkflow {
    pub workflow_id: String,
    #[serde(default)]
    pub expect_hash: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckWorkflow {
    pub workflow_id: String,
    /// Check the workflow as it would be after these; nothing is written.
    #[serde(default)]
    pub ops: Vec<EditOp>,
    #[serde(default)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidateWorkflow {
    pub workflow_id: String,
    #[serde(default)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RehearseWorkflow {
    pub workflow_id: String,
    /// The trigger to start from; None: the one from which most nodes are reached.
    #[serde(default)]
    pub start: Option<String>,
    /// The trigger's item; empty: made from what the workflow reads.
    #[serde(default)]
    pub payload: Map<String, Value>,
    /// Names of nodes that may act on the outside world; the user is asked.
    #[serde(default)]
    pub let_act: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollbackWorkflow {
    pub workflow_id: String,
    /// The snapshot's file, as results name it.
    #[serde(default)]
    pub snapshot: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowRef {
    pub workflow_id: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriggerWorkflow {
    pub workflow_id: String,
    /// The trigger node's name; it may be left out when there is only one that can be called.
    #[serde(default)]
    pub node: Option<String>,
    /// What is sent to it.
    #[serde(default)]
    pub payload: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListExecutions {
    #[serde(default)]
    pub workflow_id: Option<String>,
    /// Only those that ended so: success, error, waiting, …
    #[serde(default)]
    pub status: Option<String>,
    #[serde(default)]
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetExecution {
    pub execution_id: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchNodes {
    pub query: String,
    #[serde(default)]
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetNode {
    pub node_type: String,
    #[serde(default)]
    pub version: Option<f64>,
    #[serde(default)]
    pub resource: Option<String>,
    #[serde(default)]
    pub operation: Option<String>,
    /// Only this one, with all choices and parts.
    #[serde(default)]
    pub parameter: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchTemplates {
    pub query: String,
    /// Score each template against this, best first.
    #[serde(default)]
    pub wanted: Option<Wanted>,
    #[serde(default)]
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetTemplate {
    pub template_id: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadSkill {
    pub name: String,
    #[serde(default)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadSkillFile {
    pub skill: String,
    pub path: String,
    #[serde(default)]
    pub cursor: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchLearnings {
    pub query: String,
    /// Only what was learned about one of their codes; their messages rank it.
    #[serde(default)]
    pub findings: Vec<SeenFinding>,
    /// The patterns that are plans for this request, instead of entries.
    #[serde(default)]
    pub plan_for: Option<PlanFor>,
    #[serde(default)]
    pub limit: Option<usize>,
}

/// A request as far as patterns are chosen by it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFor {
    pub request: String,
    /// The node types that it needs, as far as they are known.
    #[serde(default)]
    pub node_types: Vec<String>,
}

/// A finding as far as a search needs it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenFinding {
    pub code: String,
    #[serde(default)]
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadLearning {
    pub ids: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteLearning {
    pub title: String,
    /// What one sees.
    pub problem: String,
    pub cause: String,
    pub solution: String,
    pub evidence: String,
    #[serde(default)]
    pub workflow_id: Option<String>,
    #[serde(default)]
    pub node_types: Vec<String>,
    #[serde(default)]
    pub finding_codes: Vec<String>,
    #[serde(default)]
    pub tags: Vec<String>,
    /// `checker`, or edit operations as JSON: how the builder can clear the finding.
    #[serde(default)]
    pub fix: Option<String>,
}

impl WriteLearning {
    /// Without the date: the caller has the clock.
    pub fn into_entry(self) -> NewLearning {
        NewLearning {
            title: self.title,
            date: String::new(),
            workflow: self.workflow_id,
            node_types: self.node_types,
            finding_codes: self.finding_codes,
            tags: self.tags,
            problem: self.problem,
            cause: self.cause,
            solution: self.solution,
            evidence: self.evidence,
            fix: self.fix,
        }
    }
}
