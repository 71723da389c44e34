//! A workflow that only other workflows call, called by a workflow made for this one call: a webhook with an address of its own hands what
//! came to the workflow that is meant, and answers with its items. Whatever becomes of the call, the helper is removed again.

use super::{TOLD, not, refused};
use crate::backend::{Backend, BackendErrorKind, ExecutionQuery, Stored, TriggerCall, Triggered};
use agentctl_n8n::{Workflow, WorkflowId, trigger_points};
use agentctl_tools::{NotRun, Ran};
use serde_json::{Map, Value, json};
use std::time::Duration;

const CALLED: &str = "n8n-nodes-base.executeWorkflowTrigger";
/// How the names of helpers begin.
pub(super) const HELPER: &str = "agentctl-call";
const CALL: &str = "Call";
/// How many executions of the workflow are looked at for the one that is new.
const NEWEST: usize = 20;

/// What a workflow takes that others call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub node: String,
    /// Name and n8n's type of each declared input; None: it takes whatever it is given.
    pub inputs: Option<Vec<(String, String)>>,
}

/// The trigger by which other workflows call this one; None: it has none, or several.
pub(super) fn entry(workflow: &Workflow) -> Option<Entry> {
    let mut called =
        (workflow.nodes.iter()).filter(|node| !node.disabled() && node.node_type() == CALLED);
    let (node, None) = (called.next()?, called.next()) else {
        return None;
    };
    let parameter = |key: &str| node.parameters().and_then(|all| all.get(key));
    let source = parameter("inputSource").and_then(Value::as_str);
    let inputs = match source {
        // The first version of the node declares nothing.
        None if node.type_version().is_some_and(|version| version < 1.1) => None,
        Some("passthrough") => None,
        Some("jsonExample") => parameter("jsonExample").and_then(of_example),
        _ => Some(declared(parameter("workflowInputs"))),
    };
    Some(Entry {
        node: node.name().to_owned(),
        inputs,
    })
}

fn declared(inputs: Option<&Value>) -> Vec<(String, String)> {
    let values = inputs.and_then(|inputs| inputs.get("values")?.as_array());
    let text = |field: &Value, key: &str| {
        let text = field.get(key).and_then(Value::as_str).unwrap_or_default();
        text.to_owned()
    };
    (values.into_iter().flatten())
        .map(|field| (text(field, "name"), text(field, "type")))
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

fn of_example(example: &Value) -> Option<Vec<(String, String)>> {
    let read: Value = serde_json::from_str(example.as_str()?).ok()?;
    let kind = |value: &Value| match value {
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Null => "any",
    };
    let fields = read.as_object()?.iter();
    Some(
        fields
            .map(|(name, value)| (name.clone(), kind(value).to_owned()))
            .collect(),
    )
}

impl Entry {
    /// What a call is given, as a JSON Schema. n8n takes null for an input that is left out, so none is required.
    pub fn parameters(&self) -> Value {
        let Some(inputs) = &self.inputs else {
            return json!({"type": "object"});
        };
        let of = |(name, kind): &(String, String)| {
            let schema = match kind.as_str() {
                "string" | "number" | "boolean" | "array" | "object" => json!({"type": kind}),
                _ if kind.is_empty() => json!({"type": "string"}),
                _ => json!({}),
            };
            (name.chars().take(TOLD).collect(), schema)
        };
        let properties: Map<String, Value> = inputs.iter().map(of).collect();
        json!({"type": "object", "additionalProperties": false, "properties": properties})
    }
}

/// Calls the workflow once and waits for its end. Evidence is the execution of the workflow itself, not of its helper.
pub(super) async fn call(
    backend: &dyn Backend,
    called: &Stored,
    payload: Map<String, Value>,
    wait: Duration,
) -> Result<Ran, NotRun> {
    let can = backend.can();
    if !can.activate {
        let why = format!(
            "{:?} is called by other workflows only, and the {} backend publishes none that could",
            called.workflow.name(),
            backend.name()
        );
        return Err(refused(why));
    }
    let newest = newest(backend, &called.id).await?;
    let helper = helper(&called.id);
    let reserved = backend.reserve(helper.name()).await.map_err(not)?;
    let made = backend
        .create(reserved.as_ref(), &helper)
        .await
        .map_err(not)?;
    let came = by_helper(backend, &made.id, &helper, payload, wait).await;
    let told = match came {
        Ok(triggered) => told(backend, called, newest, triggered).await,
        Err(why) => Err(why),
    };
    let gone = removed(backend, &made.id).await;
    match (told, gone) {
        (Ok(mut ran), Err(error)) => {
            ran.left_behind = Some(format!(
                "the workflow {:?} that made the call could not be removed: {error}; delete it in n8n",
                helper.name()
            ));
            Ok(ran)
        }
        (told, _) => told,
    }
}

async fn by_helper(
    backend: &dyn Backend,
    id: &WorkflowId,
    helper: &Workflow,
    payload: Map<String, Value>,
    wait: Duration,
) -> Result<Triggered, NotRun> {
    backend.set_active(id, true).await.map_err(not)?;
    let Some(point) = trigger_points(helper).pop() else {
        return Err(refused(
            "the workflow that makes the call has no trigger".into(),
        ));
    };
    let mut call = TriggerCall::new(point, payload);
    call.wait = wait;
    match backend.trigger(id, &call).await {
        Ok(triggered) => Ok(triggered),
        Err(error) if error.kind == BackendErrorKind::Unavailable => Err(NotRun::Lost {
            why: error.to_string(),
        }),
        Err(error) => Err(not(error)),
    }
}

/// n8n stops no execution of a workflow that is deleted, so it is taken out of service first.
async fn removed(
    backend: &dyn Backend,
    id: &WorkflowId,
) -> Result<(), crate::backend::BackendError> {
    let _inactive = backend.set_active(id, false).await;
    backend.delete(id).await
}

/// The number of the last execution of the workflow before the call.
async fn newest(backend: &dyn Backend, id: &WorkflowId) -> Result<u64, NotRun> {
    let query = ExecutionQuery::of(id, NEWEST);
    let heads = backend.executions(&query).await.map_err(not)?;
    let numbers = heads.iter().filter_map(|head| head.id.parse().ok());
    Ok(numbers.max().unwrap_or(0))
}

async fn told(
    backend: &dyn Backend,
    called: &Stored,
    newest: u64,
    triggered: Triggered,
) -> Result<Ran, NotRun> {
    let name = called.workflow.name();
    let lost = |why: String| Err(NotRun::Lost { why });
    let Some(parent) = triggered.execution else {
        return lost(format!("no execution was found after the call of {name:?}"));
    };
    let own = match backend.execution(&parent.id).await {
        Ok(whole) => of_call(&whole),
        Err(error) => return lost(error.to_string()),
    };
    let execution = match own {
        Some(id) => id,
        // A release that does not say it: the one that is new, where there is one only.
        None => {
            let query = ExecutionQuery::of(&called.id, NEWEST);
            let heads = match backend.executions(&query).await {
                Ok(heads) => heads,
                Err(error) => return lost(error.to_string()),
            };
            let number = |id: &str| id.parse::<u64>().is_ok_and(|number| number > newest);
            let mut new = heads.into_iter().filter(|head| number(&head.id));
            match (new.next(), new.next()) {
                (Some(one), None) => one.id,
                _ => return lost(format!("no execution of {name:?} was found after the call")),
            }
        }
    };
    Ok(Ran {
        workflow: called.id.0.clone(),
        execution,
        status: parent.status,
        answer: triggered.answer.unwrap_or_default(),
        left_behind: None,
    })
}

/// The execution that the helper's call started, as n8n notes it there.
fn of_call(parent: &Value) -> Option<String> {
    let run = parent
        .pointer("/data/resultData/runData")?
        .get(CALL)?
        .get(0)?;
    let id = run.pointer("/metadata/subExecution/executionId")?;
    match id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn helper(called: &WorkflowId) -> Workflow {
    let mark = uuid::Uuid::new_v4().simple().to_string();
    let node = |id: &str, name: &str, kind: &str, version: f64, x: i64, parameters: Value| json!({"id": id, "name": name, "type": format!("n8n-nodes-base.{kind}"), "typeVersion": version, "position": [x, 0], "parameters": parameters});
    let mut hook = node(
        "hook",
        "Webhook",
        "webhook",
        2.0,
        0,
        json!({"httpMethod": "POST", "path": format!("{HELPER}-{mark}"), "responseMode": "lastNode", "responseData": "allEntries", "options": {}}),
    );
    if let Some(hook) = hook.as_object_mut() {
        hook.insert("webhookId".into(), format!("{HELPER}-{mark}").into());
    }
    let nodes = json!([
        hook,
        node(
            "given",
            "Given",
            "set",
            3.4,
            200,
            json!({"mode": "raw", "jsonOutput": "={{ $json.body }}", "options": {}})
        ),
        node(
            "call",
            CALL,
            "executeWorkflow",
            1.1,
            400,
            json!({"source": "database", "workflowId": {"__rl": true, "mode": "id", "value": called}, "mode": "once", "options": {"waitForSubWorkflow": true}}),
        ),
    ]);
    let to = |name: &str| json!({"main": [[{"node": name, "type": "main", "index": 0}]]});
    let whole = json!({
        "name": format!("{HELPER} {mark}"),
        "nodes": nodes,
        "connections": {"Webhook": to("Given"), "Given": to(CALL)},
        // Without its own execution the one that it started is not found.
        "settings": {"executionOrder": "v1", "saveDataSuccessExecution": "all", "saveDataErrorExecution": "all"},
    });
    Workflow::from_value(whole).unwrap_or_else(|_| Workflow::empty(HELPER))
}

#[cfg(test)]
#[path = "sub_workflow_tests.rs"]
mod sub_workflow_tests;
