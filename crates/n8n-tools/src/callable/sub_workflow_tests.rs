use super::{CALLED, Entry, HELPER, entry, helper};
use crate::backend::BackendAbilities;
use crate::callable::Callable;
use crate::fixture::{Lie, MemoryBackend};
use agentctl_n8n::{Node, NodeId, Workflow, WorkflowId, trigger_points};
use agentctl_tools::{NotRun, Ran, Which, Workflows};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

fn called(version: f64, parameters: Value) -> Workflow {
    let parameters = parameters.as_object().cloned().unwrap();
    let mut workflow = Workflow::empty("Count tickets");
    let node = Node::new(NodeId("s".into()), "Start", CALLED, version, parameters);
    workflow.nodes.push(node);
    workflow
}

fn inputs() -> Value {
    json!({"workflowInputs": {"values": [{"name": "project"}, {"name": "limit", "type": "number"}, {"name": "more", "type": "any"}]}})
}

#[test]
fn its_declared_inputs_are_its_parameters() {
    let text = json!({"type": "string"});
    let declared = entry(&called(1.1, inputs())).unwrap();
    assert_eq!(
        declared.parameters(),
        json!({"type": "object", "additionalProperties": false, "properties": {"project": text, "limit": {"type": "number"}, "more": {}}})
    );
    let example =
        json!({"inputSource": "jsonExample", "jsonExample": "{\"a\": 1, \"b\": [\"x\"]}"});
    assert_eq!(
        entry(&called(1.1, example)).unwrap().parameters(),
        json!({"type": "object", "additionalProperties": false, "properties": {"a": {"type": "number"}, "b": {"type": "array"}}})
    );
    for (version, anything) in [
        (1.1, json!({"inputSource": "passthrough"})),
        (1.0, json!({})),
    ] {
        let all = Entry {
            node: "Start".into(),
            inputs: None,
        };
        assert_eq!(entry(&called(version, anything)), Some(all));
    }
    let mut two = called(1.1, inputs());
    two.nodes.extend(called(1.1, inputs()).nodes);
    assert_eq!(entry(&two), None);
    assert_eq!(entry(&Workflow::empty("None")), None);
}

#[test]
fn a_helper_hands_on_what_came_and_no_two_have_the_same_address() {
    let id = WorkflowId("w5".into());
    let [one, two] =
        [helper(&id), helper(&id)].map(|helper| trigger_points(&helper).pop().unwrap());
    assert_ne!(one.path, two.path);
    assert!(one.path.starts_with(HELPER), "{}", one.path);
    let call = helper(&id);
    let call = call.node_by_name("Call").unwrap().parameters().unwrap();
    assert_eq!(call["workflowId"]["value"], "w5");
}

fn n8n(parent: Value) -> Arc<MemoryBackend> {
    let backend = Arc::new(MemoryBackend::new());
    backend.put("w5", called(1.1, inputs()), true);
    backend.tag("w5", &["agent-tool"]);
    backend.runs_by(move |_, _| parent.clone());
    backend
}

fn ended(status: &str, metadata: &Value) -> Value {
    json!({"status": status, "data": {"resultData": {"runData": {"Call": [{"metadata": metadata}]}}}})
}

async fn run(backend: &Arc<MemoryBackend>) -> Result<Ran, NotRun> {
    let which = Which {
        workflow: "Count tickets".into(),
        tag: Some("agent-tool".into()),
        node: None,
        wait: Duration::from_secs(1),
    };
    let payload = Map::from_iter([("project".to_owned(), json!("NH"))]);
    Callable(Arc::clone(backend) as _)
        .run(&which, payload)
        .await
}

/// What of helpers is left, and how often one was called.
fn after(backend: &MemoryBackend) -> (usize, usize) {
    let calls = backend.wire();
    (
        backend.ids().len() - 1,
        calls
            .iter()
            .filter(|line| line.starts_with("trigger"))
            .count(),
    )
}

#[tokio::test]
async fn its_own_execution_is_the_evidence_and_the_helper_is_gone_afterwards() {
    let known = json!({"subExecution": {"executionId": "77", "workflowId": "w5"}});
    let backend = n8n(ended("success", &known));
    let ran = run(&backend).await.unwrap();
    assert_eq!(
        (ran.workflow, ran.execution, ran.status, ran.left_behind),
        ("w5".into(), "77".into(), "success".into(), None)
    );
    assert_eq!(after(&backend), (0, 1));

    let failed = n8n(ended("error", &known));
    assert_eq!(run(&failed).await.unwrap().status, "error");
    assert_eq!(after(&failed), (0, 1));
}

#[tokio::test]
async fn without_an_execution_of_its_own_nothing_is_known() {
    let backend = n8n(ended("success", &json!({})));
    assert!(matches!(run(&backend).await, Err(NotRun::Lost { .. })));
    assert_eq!(after(&backend), (0, 1));
}

#[tokio::test]
async fn a_helper_that_cannot_be_removed_is_told() {
    let known = json!({"subExecution": {"executionId": 77}});
    let backend = n8n(ended("success", &known));
    backend.next(
        "delete",
        Lie::Fails(crate::backend::BackendErrorKind::Rejected),
    );
    let told = run(&backend).await.unwrap().left_behind.unwrap();
    assert!(
        told.contains(HELPER) && told.contains("delete it in n8n"),
        "{told}"
    );
}

#[tokio::test]
async fn it_is_listed_with_its_inputs_and_where_nothing_can_be_published_it_is_not_called() {
    let backend = n8n(json!({}));
    let listed = Callable(Arc::clone(&backend) as _)
        .listed("agent-tool")
        .await
        .unwrap();
    assert_eq!(
        listed[0]["parameters"]["properties"]["limit"],
        json!({"type": "number"})
    );
    assert_eq!(listed[0]["nodes"], json!(["Start"]));

    let can = BackendAbilities {
        execute: true,
        ..BackendAbilities::default()
    };
    let files = Arc::new(MemoryBackend::that_can(can));
    files.put("w5", called(1.1, inputs()), true);
    files.tag("w5", &["agent-tool"]);
    let Err(NotRun::Not { why }) = run(&files).await else {
        panic!("it was called");
    };
    assert!(why.contains("called by other workflows only"), "{why}");
    assert_eq!(after(&files), (0, 0));
}
