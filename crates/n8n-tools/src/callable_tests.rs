use super::Callable;
use crate::backend::{BackendAbilities, BackendErrorKind};
use crate::fixture::{Lie, MemoryBackend};
use agentctl_n8n::{Node, NodeId, Workflow};
use agentctl_tools::{NotRun, Ran, Which, Workflows};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

fn workflow(name: &str, nodes: &[(&str, &str, Value)]) -> Workflow {
    let mut workflow = Workflow::empty(name);
    for (id, node_type, parameters) in nodes {
        let parameters = parameters.as_object().cloned().unwrap();
        let mut node = Node::new(NodeId((*id).into()), *id, *node_type, 2.0, parameters);
        node.set("webhookId", "9c1d".into());
        workflow.nodes.push(node);
    }
    workflow
}

fn hook() -> (&'static str, &'static str, Value) {
    (
        "Hook",
        "n8n-nodes-base.webhook",
        json!({"httpMethod": "POST", "path": "count"}),
    )
}

/// Three that are tagged (one of them not published), and one that is not.
fn n8n() -> Arc<MemoryBackend> {
    let backend = Arc::new(MemoryBackend::new());
    let note = (
        "Note",
        "n8n-nodes-base.stickyNote",
        json!({"content": "Counts tickets."}),
    );
    backend.put("w1", workflow("Count tickets", &[hook(), note]), true);
    let fields =
        json!({"formFields": {"values": [{"fieldLabel": "Title"}, {"fieldLabel": "Text"}]}});
    backend.put(
        "w2",
        workflow(
            "Take an order",
            &[("Form", "n8n-nodes-base.formTrigger", fields)],
        ),
        true,
    );
    backend.put("w3", workflow("Sleeps", &[hook()]), false);
    backend.put("w4", workflow("Private", &[hook()]), true);
    for id in ["w1", "w2", "w3"] {
        backend.tag(id, &["agent-tool"]);
    }
    backend
}

fn which(workflow: &str, tag: Option<&str>) -> Which {
    Which {
        workflow: workflow.into(),
        tag: tag.map(str::to_owned),
        node: None,
        wait: Duration::from_secs(1),
    }
}

async fn run(backend: &Arc<MemoryBackend>, which: &Which) -> Result<Ran, NotRun> {
    Callable(Arc::clone(backend) as _)
        .run(which, Map::new())
        .await
}

fn refused(ran: Result<Ran, NotRun>) -> String {
    match ran {
        Err(NotRun::Not { why }) => why,
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn the_published_workflows_of_a_tag_are_listed_with_what_they_take() {
    let listed = Callable(n8n() as _).listed("agent-tool").await.unwrap();
    let either = json!({"type": ["string", "number", "boolean"]});
    assert_eq!(
        listed,
        [
            json!({"id": "w1", "name": "Count tickets", "description": "Counts tickets.", "parameters": {"type": "object"}, "nodes": ["Hook"]}),
            json!({"id": "w2", "name": "Take an order", "description": "", "parameters": {"type": "object", "additionalProperties": false, "properties": {"Title": either, "Text": either}}, "nodes": ["Form"]}),
        ]
    );
}

#[tokio::test]
async fn a_workflow_is_called_by_id_or_name_and_its_execution_is_the_evidence() {
    let backend = n8n();
    for name in ["w1", "Count tickets"] {
        let ran = run(&backend, &which(name, Some("agent-tool"))).await;
        let wanted = Ran {
            workflow: "w1".into(),
            execution: "1".into(),
            status: "success".into(),
            answer: json!({"ok": true}),
            left_behind: None,
        };
        assert_eq!(ran, Ok(wanted));
    }
}

#[tokio::test]
async fn what_is_not_published_not_tagged_or_not_there_is_not_called() {
    let backend = n8n();
    let tag = Some("agent-tool");
    assert_eq!(
        refused(run(&backend, &which("w4", tag)).await),
        "there is no workflow \"w4\" with that tag"
    );
    assert_eq!(
        refused(run(&backend, &which("Sleeps", tag)).await),
        "the workflow \"Sleeps\" is not published"
    );
    assert_eq!(
        refused(run(&backend, &which("None", None)).await),
        "there is no workflow \"None\""
    );
    backend.put("w5", workflow("Private", &[hook()]), true);
    assert_eq!(
        refused(run(&backend, &which("Private", None)).await),
        "several workflows are named \"Private\""
    );
    backend.put(
        "w6",
        workflow(
            "Two",
            &[
                hook(),
                ("Other", "n8n-nodes-base.webhook", json!({"path": "other"})),
            ],
        ),
        true,
    );
    assert_eq!(
        refused(run(&backend, &which("w6", None)).await),
        "\"Two\" has several triggers: the tool's file names one as node"
    );
    assert!(
        !backend
            .wire()
            .iter()
            .any(|line| line.starts_with("trigger")),
        "{:?}",
        backend.wire()
    );
}

#[tokio::test]
async fn a_call_whose_answer_is_lost_is_not_one_that_was_not_made() {
    let backend = n8n();
    backend.next("trigger", Lie::Fails(BackendErrorKind::Unavailable));
    assert!(matches!(
        run(&backend, &which("w1", None)).await,
        Err(NotRun::Lost { .. })
    ));
    backend.next("trigger", Lie::Fails(BackendErrorKind::Rejected));
    assert!(matches!(
        run(&backend, &which("w1", None)).await,
        Err(NotRun::Not { .. })
    ));
}

#[test]
fn files_execute_nothing() {
    let can = BackendAbilities::default();
    let why = Callable(Arc::new(MemoryBackend::that_can(can)) as _).lacks();
    assert!(why.is_some_and(|why| why.contains("executes no workflows")));
}
