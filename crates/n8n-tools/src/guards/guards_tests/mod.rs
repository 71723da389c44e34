//! The guards as pure functions: cases by name, and what must hold for every sequence of edits.

mod scope;
mod sequences;
mod wipe;

use super::*;
use crate::fixture;
use agentctl_n8n::catalog::Begins;
use agentctl_n8n::edit::{EditOp, apply};
use agentctl_n8n::{Node, NodeId, Workflow};
use serde_json::{Map, Value, json};

/// Every node can be a start.
const ANY: Starts<'static> = &|_| Start::Known(Begins::ByItself);

/// What is lost of a base that is a whole workflow.
fn loss(base: &Workflow, after: &Workflow, starts: Starts<'_>) -> Loss {
    super::loss(&Outline::of(base, starts), after, starts)
}

fn wipe(base: &Workflow, after: &Workflow, starts: Starts<'_>) -> Decision {
    super::wipe(&loss(base, after, starts), "it started from")
}

fn chain(count: usize) -> Workflow {
    fixture::chain("Chain", count)
}

fn ops(value: Value) -> Vec<EditOp> {
    serde_json::from_value(value).unwrap()
}

fn edited(workflow: &Workflow, list: Value) -> Workflow {
    let mut n = 0;
    apply(workflow, &ops(list), &mut || {
        n += 1;
        format!("new-{n}")
    })
    .unwrap()
}

fn reason(decision: &Decision) -> &str {
    match decision {
        Decision::Allow { .. } => "",
        Decision::Ask { reason, .. } | Decision::Deny { reason, .. } => reason,
    }
}

fn add(name: &str) -> Value {
    json!({"op": "add_node", "node": {"name": name, "type": "test.any"}})
}

#[test]
fn credentials_stay_or_are_asked() {
    let bind = |node: &str, kind: &str, id: &str| json!({"op": "set_credential", "node": node, "credential_type": kind, "id": id, "name": "n"});
    let before = edited(&chain(3), json!([bind("id-0", "slackApi", "1")]));
    for (list, allowed) in [
        (
            json!([{"op": "set_parameter", "node": "id-0", "pointer": "/x", "value": 2}]),
            true,
        ),
        (json!([bind("id-0", "slackApi", "1")]), true),
        (json!([{"op": "remove_node", "node": "id-0"}]), true),
        (json!([bind("id-0", "slackApi", "2")]), false),
        (json!([bind("id-0", "notionApi", "1")]), false),
        (json!([bind("id-1", "slackApi", "1")]), false),
        (json!([add("New"), bind("New", "slackApi", "1")]), true),
        (json!([add("New"), bind("New", "slackApi", "9")]), false),
    ] {
        let after = edited(&before, list.clone());
        let decision = credentials(Some(&before), &after);
        assert_eq!(
            decision == allow(CREDENTIALS),
            allowed,
            "{list}: {decision:?}"
        );
    }
    let bound = edited(&chain(1), json!([bind("id-0", "slackApi", "1")]));
    assert_eq!(
        reason(&credentials(None, &bound)),
        "the credentials of \"Node 0\" (new) would change"
    );
    assert_eq!(credentials(None, &chain(2)), allow(CREDENTIALS));
}

#[test]
fn stale_publish_and_owner() {
    assert_eq!(stale("h1", Some("h1"), None), allow(STALE));
    assert_eq!(stale("h1", None, Some("h1")), allow(STALE));
    for (seen, expected) in [(None, None), (Some("h0"), None), (Some("h1"), Some("h0"))] {
        assert!(matches!(stale("h1", seen, expected), Decision::Deny { .. }));
    }
    assert_eq!(publish(false, false, "w"), allow(PUBLISH));
    assert!(matches!(publish(true, false, "w"), Decision::Ask { .. }));
    assert_eq!(owner(true, "w"), allow(OWNER));
    assert!(matches!(owner(false, "w"), Decision::Ask { .. }));
}
