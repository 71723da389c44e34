use crate::capability as can;
use crate::vocabulary;
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::flow::{Flow, Known, load};
use agentctl_engine::run::{Evidence, settle_claims};
use agentctl_engine::store::ResourceId;
use agentctl_engine::store::{Event, event::Change};
use agentctl_engine::testkit::view;
use agentctl_engine::view::RunView;
use agentctl_engine::vocabulary::Capability;
use serde_json::{Value, json};

/// The fields that claims are made in.
fn flow() -> Flow {
    let text = "
name: t
stages: [one]
blocked: stuck
fields:
  workflow: {kind: object, writers: [builder], fact: resource}
  qa_report: {kind: object, writers: [qa], fact: check}
steps:
  - id: first
    gate: 'true'
    otherwise: {end: {outcome: failed, message: \"'no'\"}}
";
    let known = Known {
        vocabulary: Some(vocabulary::n8n()),
        ..Known::default()
    };
    load(text, "flow.yaml", known).unwrap()
}

fn finished(step: &str, id: &str, tool: &str, content: Value, change: Option<Change>) -> Event {
    Event::ToolFinished {
        step: step.into(),
        role: "maker".into(),
        result: ToolResult {
            call_id: id.into(),
            name: tool.into(),
            status: ToolStatus::Ok,
            content,
        }
        .into(),
        change,
    }
}

fn change(id: &str, before: Option<&str>, after: Option<&str>) -> Change {
    Change {
        resource: ResourceId::new("workflow", id),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        size: 3,
        snapshot: None,
    }
}

fn capability(tool: &str) -> Option<Capability> {
    match tool {
        "check" => Some(can::VALIDATE_FINAL),
        "fire" => Some(can::TRIGGER_WORKFLOW),
        _ => None,
    }
}

fn settle(view: &RunView, state: Value, patch: Value) -> (Value, Vec<String>) {
    let (Value::Object(state), Value::Object(mut patch)) = (state, patch) else {
        panic!()
    };
    let flow = flow();
    let evidence = Evidence {
        flow: &flow,
        vocabulary: vocabulary::n8n(),
        view,
        trace: view.trace("s"),
        state: &state,
        capability_of: &capability,
    };
    let refusals = settle_claims(&mut patch, &evidence);
    let told = refusals
        .iter()
        .map(|r| format!("{}: {}", r.field, r.message))
        .collect();
    (Value::Object(patch), told)
}

#[test]
fn a_workflow_claim_is_filled_from_the_last_change() {
    let made = view(&[
        finished(
            "s",
            "1",
            "make",
            json!({"name": "Orders"}),
            Some(change("w", None, Some("h1"))),
        ),
        finished(
            "s",
            "2",
            "edit",
            json!({}),
            Some(change("w", Some("h1"), Some("h2"))),
        ),
    ]);
    let (patch, told) = settle(
        &made,
        json!({}),
        json!({"workflow": {"name": "lie", "graph_hash": "x", "note": "kept"}}),
    );
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(
        patch,
        json!({"workflow": {"name": "Orders", "graph_hash": "h2", "note": "kept", "id": "w", "node_count": 3}})
    );
}

#[test]
fn a_workflow_that_the_run_did_not_make_cannot_be_claimed() {
    let claim = json!({"workflow": {"id": "w"}});
    let (_, told) = settle(&view(&[]), json!({}), claim.clone());
    assert_eq!(
        told,
        [
            "workflow: no workflow was created or changed in this run: make the call first, then report it"
        ]
    );
    let other = view(&[finished(
        "s",
        "1",
        "make",
        json!({}),
        Some(change("v", None, Some("h"))),
    )]);
    let (_, told) = settle(&other, json!({}), claim.clone());
    assert_eq!(
        told,
        ["workflow: this run did not create or change the workflow \"w\"; it changed v"]
    );
    let gone = view(&[finished(
        "s",
        "1",
        "drop",
        json!({}),
        Some(change("w", Some("h"), None)),
    )]);
    let (_, told) = settle(&gone, json!({}), claim);
    assert_eq!(
        told,
        ["workflow: the workflow \"w\" was deleted in this run"]
    );
}

#[test]
fn counts_are_those_of_the_last_validation_of_the_step() {
    let checked = view(&[
        finished(
            "s",
            "1",
            "check",
            json!({"error_count": 4, "warning_count": 0}),
            None,
        ),
        finished(
            "s",
            "2",
            "check",
            json!({"error_count": 1, "warning_count": 2}),
            None,
        ),
    ]);
    let (patch, told) = settle(
        &checked,
        json!({}),
        json!({"qa_report": {"status": "fail", "error_count": 1}}),
    );
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(
        patch,
        json!({"qa_report": {"status": "fail", "error_count": 1, "warning_count": 2}})
    );

    let (_, told) = settle(
        &checked,
        json!({}),
        json!({"qa_report": {"status": "pass", "error_count": 0, "executed": true}}),
    );
    assert_eq!(
        told,
        [
            "qa_report: error_count is 0, but the last validation counted 1",
            "qa_report: status is \"pass\", but the last validation found errors",
            "qa_report: executed is claimed, but no call that runs the workflow succeeded in this step",
        ]
    );
}

#[test]
fn without_a_validation_only_what_stands_may_be_said_again() {
    let none = view(&[]);
    let claim = json!({"qa_report": {"status": "pass", "error_count": 0, "executed": false}});
    let (_, told) = settle(&none, json!({}), claim.clone());
    assert_eq!(told.len(), 2, "{told:?}");
    let stands = json!({"qa_report": {"status": "pass", "error_count": 0}});
    let (patch, told) = settle(&none, stands, claim.clone());
    assert_eq!((patch, told), (claim, vec![]));

    let claim = json!({"qa_report": {"executed": true}});
    let unseen = view(&[finished("s", "1", "fire", json!({"executed": true}), None)]);
    let (_, told) = settle(&unseen, json!({}), claim.clone());
    assert_eq!(
        told.len(),
        1,
        "an execution without an id is none: {told:?}"
    );
    let run =
        json!({"execution": {"id": "7"}, "test_status": "fail", "ran": ["A"], "simulated": ["B"]});
    let fired = view(&[finished("s", "1", "fire", run, None)]);
    let (patch, told) = settle(&fired, json!({}), claim);
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(
        patch,
        json!({"qa_report": {"executed": true, "execution": {"id": "7"}, "ran": ["A"], "simulated": ["B"], "inconclusive_because": null, "no_case": null}})
    );
    let claim =
        json!({"qa_report": {"executed": true, "execution": {"id": "8"}, "test_status": "pass"}});
    let (_, told) = settle(&fired, json!({}), claim);
    assert_eq!(
        told,
        [
            "qa_report: execution names \"8\", but the last run was the execution \"7\"",
            "qa_report: test_status is \"pass\", but the last run says \"fail\"",
        ]
    );
    // Nor may it be called anything else than what it is.
    let claim = json!({"qa_report": {"executed": true, "test_status": "inconclusive"}});
    let (_, told) = settle(&fired, json!({}), claim);
    let wanted = "qa_report: test_status is \"inconclusive\", but the last run says \"fail\"";
    assert_eq!(told, [wanted]);
}
