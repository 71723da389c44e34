//! Undo: workflows as they were before the run, unless somebody has worked on them since.

use crate::support::{Seen, Shop, block_on, calls, good, request, says};
use agentctl::{
    model::ModelAnswer,
    run::{Counted, RunError, Undo, UndoneHow, undo},
    store::{Event, Outcome},
};
use serde_json::json;
use std::fs;

fn take_back(
    shop: &mut Shop,
    what: Undo,
    force: bool,
) -> Result<Vec<(String, UndoneHow)>, RunError> {
    let report = block_on(undo(shop.context(None), what, force))?;
    Ok(report
        .workflows
        .into_iter()
        .map(|w| (w.workflow_id, w.what))
        .collect())
}

/// Changes the workflow `orders` that is there already.
fn changing(seen: &Seen<'_>) -> ModelAnswer {
    let results = seen.results();
    match (seen.task(), results.len()) {
        ("make", 0) => calls(&[("get_workflow", json!({"workflow_id": "orders"}))]),
        ("make", 1) => calls(&[(
            "update_workflow",
            json!({"workflow_id": "orders", "ops": [
                {"op": "set_parameter", "node": "Tell", "pointer": "/note", "value": "changed by a run"}
            ]}),
        )]),
        ("make", _) => says(json!({"workflow": {"id": "orders"}})),
        ("look", 1) => says(json!({"qa_report": {"status": "pass"}, "edit_scope": []})),
        _ => good(seen),
    }
}

#[test]
fn a_workflow_that_the_run_created_is_removed() {
    let mut shop = Shop::new(good);
    let report = shop.start(request("orders")).unwrap();
    let id = report.workflow.unwrap().id;
    assert_eq!(
        take_back(&mut shop, Undo::Run(None), false).unwrap(),
        [(id.clone(), UndoneHow::Removed)]
    );
    assert_eq!(shop.workflows(), []);
    // It was kept before it went, and the journal says so.
    let tail: Vec<_> = shop.journal().into_iter().rev().take(3).collect();
    assert!(matches!(&tail[1], Event::Undone { workflow_id, .. } if *workflow_id == id));
    assert!(matches!(&tail[2], Event::SnapshotTaken { workflow_id, .. } if *workflow_id == id));
    let status = agentctl::run::status(&shop.project, &shop.pack).unwrap();
    assert_eq!((status.outcome, status.workflow), (Outcome::Complete, None));
    assert_eq!(
        take_back(&mut shop, Undo::Workflow(id.clone()), false).unwrap(),
        [(id, UndoneHow::Unchanged)]
    );
}

#[test]
fn a_changed_workflow_is_put_back_to_the_byte() {
    let mut first = Shop::new(good);
    first.start(request("orders")).unwrap();
    let path = first.dir.path().join("workflows/orders.json");
    let before = fs::read_to_string(&path).unwrap();
    let mut shop = Shop::at(first.dir, changing);
    shop.effects = Counted::from(1_900_000_000);
    let report = shop.start(request("change orders")).unwrap();
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_ne!(fs::read_to_string(&path).unwrap(), before);
    let done = take_back(
        &mut shop,
        Undo::Workflow("workflows/orders.json".into()),
        false,
    )
    .unwrap();
    assert_eq!(done, [("orders".to_owned(), UndoneHow::PutBack)]);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
}

#[test]
fn what_somebody_did_since_is_not_overwritten_unless_forced() {
    let mut shop = Shop::new(good);
    shop.start(request("orders")).unwrap();
    let path = shop.dir.path().join("workflows/orders.json");
    let edited = fs::read_to_string(&path)
        .unwrap()
        .replace("mended", "edited by hand");
    fs::write(&path, &edited).unwrap();
    let events = shop.journal().len();
    let error = take_back(&mut shop, Undo::Run(None), false).unwrap_err();
    assert!(
        matches!(&error, RunError::Refused { .. }) && error.exit_code() == 5,
        "{error}"
    );
    assert_eq!(
        (fs::read_to_string(&path).unwrap(), shop.journal().len()),
        (edited, events)
    );
    let done = take_back(&mut shop, Undo::Run(None), true).unwrap();
    assert_eq!(done, [("orders".to_owned(), UndoneHow::Removed)]);
}

#[test]
fn an_unfinished_run_is_over_when_it_is_undone() {
    let mut shop = Shop::new(good).stopped_at(5, good);
    shop.start(request("orders")).unwrap();
    shop.cancel = agentctl::run::Cancel::default();
    take_back(&mut shop, Undo::Run(None), false).unwrap();
    assert_eq!(shop.resume(None).unwrap().outcome, Outcome::Cancelled);
    assert_eq!(shop.workflows(), []);
}

#[test]
fn there_must_be_something_to_undo() {
    let mut shop = Shop::new(|_| says(json!({"plan": {"name": "x", "refusal": "no"}})));
    assert!(matches!(
        take_back(&mut shop, Undo::Run(None), false),
        Err(RunError::Usage(_))
    ));
    shop.start(request("x")).unwrap();
    assert!(
        matches!(take_back(&mut shop, Undo::Run(None), false), Err(RunError::Usage(m)) if m.contains("changed no workflow"))
    );
    assert!(
        matches!(take_back(&mut shop, Undo::Workflow("w".into()), false), Err(RunError::Usage(m)) if m.contains("no run"))
    );
}
