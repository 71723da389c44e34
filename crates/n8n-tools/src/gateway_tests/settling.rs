//! A process killed between the intent of a change and its result.

use super::*;
use crate::backend::BackendAbilities;
use crate::fixture::{Lie, MemoryBackend};
use agentctl_engine::store::ResourceId;
use std::sync::Arc;

/// The bench as a killed process leaves it: after the intent (and perhaps the write), before the result.
async fn killed(b: &mut Bench, tool: &str, args: Value, written: bool) -> Event {
    let id = args["workflow_id"].as_str().map(str::to_owned);
    let before = id.as_deref().and_then(|id| b.file(id));
    b.ok("writer", tool, args).await;
    let (finished, _) = b.desk.events.pop().unwrap();
    assert!(matches!(finished, Event::ToolFinished { .. }));
    let (intent, _) = b.desk.events.last().unwrap().clone();
    if !written {
        let Event::ToolIntent {
            expect: Some(expect),
            ..
        } = &intent
        else {
            panic!()
        };
        let file = b
            .dir
            .path()
            .join(format!("workflows/{}.json", expect.id().unwrap()));
        match before {
            Some(workflow) => std::fs::write(file, workflow.to_text()).unwrap(),
            None => std::fs::remove_file(file).unwrap(),
        }
    }
    b.refold();
    intent
}

#[tokio::test]
async fn an_interrupted_change_is_found_again_or_made_once() {
    for written in [true, false] {
        let mut b = bench().with_file("old", 4, false);
        let create = two_nodes("New One");
        let intent = killed(&mut b, "create_workflow", create.clone(), written).await;
        let settled = b.settle("writer", &intent).await;
        assert_eq!(settled.is_some(), written);
        if let Some(result) = settled {
            assert_eq!(result.status, ToolStatus::Ok);
            assert_eq!(result.content["id"], "new-one");
        } else {
            b.ok("writer", "create_workflow", create).await;
        }
        assert!(b.guards.log().made("new-one"));
        assert_eq!(b.files(), 2, "no duplicate file");

        b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
            .await;
        let update = set("old", "id-1", json!(9));
        let intent = killed(&mut b, "update_workflow", update.clone(), written).await;
        let settled = b.settle("writer", &intent).await;
        assert_eq!(settled.is_some(), written);
        match settled {
            Some(result) => assert_eq!(result.content["settled"], true),
            None => {
                b.ok("writer", "update_workflow", update).await;
            }
        }
        assert_eq!(
            b.file("old").unwrap().nodes[1].parameters().unwrap()["x"],
            9
        );
        // Either way the run goes on from there.
        b.ok("writer", "update_workflow", set("old", "id-1", json!(10)))
            .await;

        let delete = json!({"workflow_id": "new-one"});
        let intent = killed(&mut b, "delete_workflow", delete, written).await;
        assert_eq!(b.settle("writer", &intent).await.is_some(), written);
    }
}

#[tokio::test]
async fn an_interrupted_change_that_somebody_else_overwrote_is_unknown() {
    let mut b = bench().with_file("old", 4, false);
    b.ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    let intent = killed(
        &mut b,
        "update_workflow",
        set("old", "id-1", json!(9)),
        true,
    )
    .await;
    let other = chain("old", 3);
    std::fs::write(b.dir.path().join("workflows/old.json"), other.to_text()).unwrap();
    let result = b.settle("writer", &intent).await.unwrap();
    assert_eq!(result.status, ToolStatus::Unknown);
    assert_eq!(result.content["rule"], "settle");
    assert_eq!(
        b.refused("writer", "update_workflow", set("old", "id-1", json!(9)))
            .await,
        guards::STALE
    );
    assert_eq!(b.file("old").unwrap(), other);
}

#[test]
fn a_settlement_is_judged_by_hashes() {
    let expect = |before: Option<&str>, after: Option<&str>| MutationExpectation {
        resource: Some(ResourceId::new("workflow", "w")),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        ..MutationExpectation::default()
    };
    for (before, after, found, want) in [
        (Some("a"), Some("b"), Some("a"), Settlement::NotDone),
        (Some("a"), Some("b"), Some("b"), Settlement::Done),
        (Some("a"), Some("b"), Some("c"), Settlement::Unknown),
        (Some("a"), Some("b"), None, Settlement::Unknown),
        (Some("a"), Some("a"), Some("a"), Settlement::NotDone),
        (None, Some("b"), None, Settlement::NotDone),
        (None, Some("b"), Some("b"), Settlement::Done),
        (None, Some("b"), Some("c"), Settlement::Unknown),
        (Some("a"), None, Some("a"), Settlement::NotDone),
        (Some("a"), None, None, Settlement::Done),
        (Some("a"), None, Some("c"), Settlement::Unknown),
    ] {
        assert_eq!(
            judge(&expect(before, after), found),
            want,
            "{before:?} {after:?} {found:?}"
        );
    }
}

/// A backend that chooses ids, as a running n8n does, in the middle of creating.
async fn creating(fault: Option<Lie>) -> (Bench, Arc<MemoryBackend>, ToolResult, Event) {
    let abilities = BackendAbilities {
        activate: true,
        execute: true,
        ..BackendAbilities::default()
    };
    let backend = Arc::new(MemoryBackend::that_can(abilities));
    backend.put("other", chain("New One", 2), false);
    if let Some(fault) = fault {
        backend.next("create", fault);
    }
    let given = backend.clone();
    let mut b = Bench::with(
        Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap(),
        move |_| given,
    );
    let result = b
        .call("writer", "create_workflow", two_nodes("New One"))
        .await;
    let mut intents = b.desk.events.iter().map(|(event, _)| event).rev();
    let intent = intents.find(|event| matches!(event, Event::ToolIntent { .. }));
    let intent = intent.cloned().unwrap();
    (b, backend, result, intent)
}

#[tokio::test(start_paused = true)]
async fn a_workflow_whose_creation_was_not_answered_is_found_by_its_nodes() {
    let (b, backend, result, _) = creating(Some(Lie::DiesAfter)).await;
    assert_eq!(result.status, ToolStatus::Ok);
    assert_eq!(result.content["id"], "made2");
    assert_eq!(backend.ids(), ["made2", "other"]);
    assert!(b.guards.log().made("made2"));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_creation_is_settled_without_a_chosen_id() {
    // It happened: found, and not made again.
    let (mut b, backend, _, intent) = creating(None).await;
    b.desk.events.pop();
    b.refold();
    let settled = b.settle("writer", &intent).await.unwrap();
    assert_eq!(settled.status, ToolStatus::Ok);
    assert_eq!(settled.content["id"], "made2");
    assert!(b.guards.log().made("made2"));
    // Somebody changed it meanwhile: nothing is guessed.
    let mut changed = backend.held("made2").unwrap();
    changed.nodes[0].set("disabled", json!(true));
    backend.put("made2", changed, false);
    let settled = b.settle("writer", &intent).await.unwrap();
    assert_eq!(settled.status, ToolStatus::Unknown);
    // It did not happen: a workflow of the same name is somebody else's, before it and after.
    let (mut b, backend, _, intent) = creating(Some(Lie::ClaimsSuccess)).await;
    b.desk.events.pop();
    b.refold();
    backend.put("later", chain("New One", 2), false);
    assert_eq!(b.settle("writer", &intent).await, None);
}
