//! Undo: workflows as they were before the run, unless somebody has worked on them since.

use crate::support::{Seen, Shop, block_on, built, calls, good, request, says};
use agentctl_base::{model::ModelAnswer, question::Outcome};
use agentctl_engine::run::{
    AllRuns, By, Compare, Counted, RunError, Undo, UndoReport, UndoneHow, changes, compare, status,
    undo, undo_to,
};
use agentctl_engine::store::Event;
use serde_json::json;
use std::{fs, path::PathBuf};

fn take_back(
    shop: &mut Shop,
    what: Undo,
    force: bool,
) -> Result<Vec<(String, UndoneHow)>, RunError> {
    let report = block_on(undo(shop.context(None), what, force))?;
    Ok(report
        .resources
        .into_iter()
        .map(|w| (w.resource.id, w.what))
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
    let id = built(&report).workflow.unwrap().id;
    assert_eq!(
        take_back(&mut shop, Undo::Run(None), false).unwrap(),
        [(id.clone(), UndoneHow::Removed)]
    );
    assert_eq!(shop.workflows(), []);
    // It was kept before it went, and the journal says so.
    let tail: Vec<_> = shop.journal().into_iter().rev().take(3).collect();
    assert!(matches!(&tail[1], Event::Undone { resource, .. } if resource.id == id));
    assert!(matches!(&tail[2], Event::SnapshotTaken { resource, .. } if resource.id == id));
    let status = agentctl_engine::run::status(&shop.project, &shop.pack).unwrap();
    assert_eq!(
        (status.outcome, built(&status).workflow),
        (Outcome::Complete, None)
    );
    assert_eq!(
        take_back(&mut shop, Undo::Resource(id.clone()), false).unwrap(),
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
        Undo::Resource("workflows/orders.json".into()),
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
    shop.cancel = agentctl_engine::run::Cancel::default();
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
        matches!(take_back(&mut shop, Undo::Resource("w".into()), false), Err(RunError::Usage(m)) if m.contains("no run"))
    );
}

fn back_to(shop: &mut Shop, what: Undo, to: u32) -> UndoReport {
    block_on(undo_to(shop.context(None), what, Some(to), false)).unwrap()
}

fn how(report: &UndoReport) -> Vec<UndoneHow> {
    report.resources.iter().map(|w| w.what).collect()
}

fn orders(shop: &Shop) -> PathBuf {
    shop.dir.path().join("workflows/orders.json")
}

/// Who made the changes of the newest run, by number.
fn made(shop: &Shop) -> Vec<(u32, &'static str)> {
    let run = shop.project.run_ids().unwrap().pop().unwrap();
    let made = changes(&shop.project, &run).unwrap();
    made.iter()
        .map(|m| match m.by {
            By::Tool { .. } => (m.number, "tool"),
            By::Undo => (m.number, "undo"),
            By::Outside => (m.number, "outside"),
        })
        .collect()
}

#[test]
fn any_change_is_taken_back_and_brought_again() {
    let mut shop = Shop::new(good);
    let whole = built(&shop.start(request("orders")).unwrap())
        .workflow
        .unwrap();
    let left = fs::read_to_string(orders(&shop)).unwrap();

    let report = back_to(&mut shop, Undo::Run(None), 1);
    assert_eq!(
        (how(&report), report.redo),
        (vec![UndoneHow::PutBack], Some(2))
    );
    assert!(
        report.resources[0]
            .difference
            .diff
            .contains("-        \"note\": \"mended\"")
    );
    let created = fs::read_to_string(orders(&shop)).unwrap();
    assert!(!created.contains("mended"));
    // The run's workflow is the one that is there now.
    let now = built(&status(&shop.project, &shop.pack).unwrap())
        .workflow
        .unwrap();
    assert_ne!(now.graph_hash, whole.graph_hash);

    let report = back_to(&mut shop, Undo::Run(None), 2);
    assert_eq!(
        (how(&report), report.redo),
        (vec![UndoneHow::PutBack], Some(3))
    );
    assert_eq!(fs::read_to_string(orders(&shop)).unwrap(), left);
    let now = built(&status(&shop.project, &shop.pack).unwrap())
        .workflow
        .unwrap();
    assert_eq!(now.graph_hash, whole.graph_hash);

    let report = back_to(&mut shop, Undo::Run(None), 0);
    assert_eq!(
        (how(&report), report.redo),
        (vec![UndoneHow::Removed], Some(4))
    );
    let report = back_to(&mut shop, Undo::Run(None), 4);
    assert_eq!(how(&report), [UndoneHow::Restored]);
    assert_eq!(fs::read_to_string(orders(&shop)).unwrap(), left);
    assert_eq!(
        made(&shop),
        [
            (1, "tool"),
            (2, "tool"),
            (3, "undo"),
            (4, "undo"),
            (5, "undo"),
            (6, "undo")
        ]
    );
    let beyond = block_on(undo_to(shop.context(None), Undo::Run(None), Some(7), false));
    assert!(matches!(beyond, Err(RunError::Usage(m)) if m.contains("changes 1 to 6")));
}

#[test]
fn what_somebody_did_is_kept_as_a_change_of_its_own() {
    let mut shop = Shop::new(good);
    shop.start(request("orders")).unwrap();
    let edited = fs::read_to_string(orders(&shop))
        .unwrap()
        .replace("mended", "by hand");
    fs::write(orders(&shop), &edited).unwrap();
    take_back(&mut shop, Undo::Run(None), true).unwrap();
    assert_eq!(
        made(&shop),
        [(1, "tool"), (2, "tool"), (3, "outside"), (4, "undo")]
    );
    let report = back_to(&mut shop, Undo::Run(None), 3);
    assert_eq!(how(&report), [UndoneHow::Restored]);
    assert_eq!(fs::read_to_string(orders(&shop)).unwrap(), edited);
}

/// Two runs: one creates and mends `orders`, the other changes it.
fn two_runs() -> (Shop, String) {
    let mut first = Shop::new(good);
    first.start(request("orders")).unwrap();
    let path = first.dir.path().join("workflows/orders.json");
    let between = fs::read_to_string(path).unwrap();
    let mut shop = Shop::at(first.dir, changing);
    shop.effects = Counted::from(1_900_000_000);
    shop.start(request("change orders")).unwrap();
    (shop, between)
}

#[test]
fn a_workflow_goes_back_over_all_runs() {
    let (mut shop, between) = two_runs();
    let left = fs::read_to_string(orders(&shop)).unwrap();
    let of_orders = || Undo::Resource("orders".into());
    let report = block_on(undo(shop.context(None), of_orders(), false)).unwrap();
    assert_eq!(fs::read_to_string(orders(&shop)).unwrap(), between);
    assert_eq!(
        (report.resources[0].to, report.run_id),
        (2, shop.project.run_ids().unwrap()[1].clone())
    );
    back_to(&mut shop, of_orders(), 1);
    assert!(
        !fs::read_to_string(orders(&shop))
            .unwrap()
            .contains("mended")
    );
    assert_eq!(
        how(&back_to(&mut shop, of_orders(), 0)),
        [UndoneHow::Removed]
    );
    assert_eq!(
        how(&back_to(&mut shop, of_orders(), 3)),
        [UndoneHow::Restored]
    );
    assert_eq!(fs::read_to_string(orders(&shop)).unwrap(), left);
    let resources = shop.gateway.resources();
    let runs = AllRuns::look(&shop.project).unwrap();
    let history = runs.changes(resources, "workflows/orders.json");
    assert_eq!(block_on(history).unwrap().1.len(), 7);
}

#[test]
fn a_run_that_another_one_built_upon_is_refused_by_name() {
    let (mut shop, _) = two_runs();
    let runs = shop.project.run_ids().unwrap();
    let error = take_back(&mut shop, Undo::Run(Some(runs[0].clone())), false).unwrap_err();
    assert_eq!(error.exit_code(), 5);
    assert!(error.to_string().contains(&runs[1]), "{error}");
    assert!(error.hint().unwrap().contains(&format!("undo {}", runs[1])));
}

#[test]
fn a_change_whose_result_was_never_journaled_is_found_and_taken_back() {
    let mut shop = Shop::new(good);
    shop.start(request("orders")).unwrap();
    let run = shop.project.run_ids().unwrap().pop().unwrap();
    let path = shop.project.run(&run).unwrap().journal();
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    // Killed after the update was written, before its result was.
    let begun = lines
        .iter()
        .rposition(|l| l.contains("tool_intent") && l.contains("update_workflow"))
        .unwrap();
    lines.truncate(begun + 1);
    fs::write(&path, lines.concat()).unwrap();
    shop.without_summary();
    let report = back_to(&mut shop, Undo::Run(Some(run)), 1);
    assert_eq!(how(&report), [UndoneHow::PutBack]);
    assert!(
        !fs::read_to_string(orders(&shop))
            .unwrap()
            .contains("mended")
    );
    assert_eq!(made(&shop), [(1, "tool"), (2, "tool"), (3, "undo")]);
}

#[test]
fn a_damaged_snapshot_is_never_put_back() {
    let (mut shop, between) = two_runs();
    let run = shop.project.run_ids().unwrap().pop().unwrap();
    let folder = shop.project.run(&run).unwrap().snapshots();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("mended", "damaged")).unwrap();
    }
    // The backend's own version is whole.
    take_back(&mut shop, Undo::Run(None), false).unwrap();
    assert_eq!(fs::read_to_string(orders(&shop)).unwrap(), between);

    let (mut shop, _) = two_runs();
    let run = shop.project.run_ids().unwrap().pop().unwrap();
    let left = fs::read_to_string(orders(&shop)).unwrap();
    fs::remove_dir_all(shop.project.run(&run).unwrap().snapshots()).unwrap();
    fs::remove_dir_all(shop.dir.path().join("memory/versions")).unwrap();
    let error = take_back(&mut shop, Undo::Run(None), false).unwrap_err();
    assert!(error.to_string().contains("no undamaged copy"), "{error}");
    assert_eq!(fs::read_to_string(orders(&shop)).unwrap(), left);
}

#[test]
fn two_states_are_compared_by_their_numbers() {
    let (shop, _) = two_runs();
    let lines = |what: Compare| -> Vec<String> {
        let compared = block_on(compare(
            &shop.project,
            shop.gateway.resources(),
            shop.gateway.redactor(),
            what,
        ))
        .unwrap();
        compared
            .iter()
            .map(|c| {
                c.difference
                    .lines
                    .iter()
                    .map(|line| format!("{line}\n"))
                    .collect()
            })
            .collect()
    };
    let changed = "~ \"Tell\" note: \"mended\" → \"changed by a run\"\n";
    let run = |from, to| Compare::Run {
        run: None,
        from,
        to,
    };
    assert_eq!(lines(run(None, None)), [changed]);
    assert_eq!(lines(run(Some(1), None)), [""]);
    let runs = AllRuns::look(&shop.project).unwrap();
    let workflow = |from, to| Compare::Resource {
        runs: &runs,
        named: "orders".into(),
        from,
        to,
    };
    assert_eq!(lines(workflow(None, None)), [changed]);
    assert_eq!(
        lines(workflow(Some(1), Some(2))),
        ["~ \"Tell\" note: \"mended\"\n"]
    );
    let first = Some(shop.project.run_ids().unwrap()[0].clone());
    let created = lines(Compare::Run {
        run: first,
        from: None,
        to: Some(1),
    });
    assert!(
        created[0].contains("+ node \"Start\"\n+ node \"Tell\"\n"),
        "{created:?}"
    );
    let resources = shop.gateway.resources();
    let beyond = compare(
        &shop.project,
        resources,
        shop.gateway.redactor(),
        run(None, Some(9)),
    );
    assert!(matches!(block_on(beyond), Err(RunError::Usage(_))));
}

/// Three runs change one workflow, each with a clock that is behind the one before by years; the first is taken up in between.
#[test]
fn a_clock_that_goes_back_changes_no_order() {
    let mut shop = Shop::new(good);
    shop.start(request("orders")).unwrap();
    let first = shop.project.run_ids().unwrap().pop().unwrap();
    let made = fs::read_to_string(orders(&shop)).unwrap();
    let mut shop = Shop::at(shop.dir, changing);
    shop.effects = Counted::from(1_000_000_000);
    shop.start(request("orders")).unwrap();
    let second = shop.project.run_ids().unwrap().pop().unwrap();
    assert!(second > first);
    // The first run's changes are taken back and brought again, between those of the second and of the third.
    shop.effects = Counted::from(900_000_000);
    let what = || Undo::Run(Some(first.clone()));
    block_on(undo_to(shop.context(None), what(), Some(0), true)).unwrap();
    shop.effects = Counted::from(800_000_000);
    block_on(undo_to(shop.context(None), what(), Some(2), true)).unwrap();
    assert_eq!(fs::read_to_string(orders(&shop)).unwrap(), made);
    let mut shop = Shop::at(shop.dir, changing);
    shop.effects = Counted::from(1_000);
    shop.start(request("orders")).unwrap();
    let third = shop.project.run_ids().unwrap().pop().unwrap();

    let resources = shop.gateway.resources();
    let runs = AllRuns::look(&shop.project).unwrap();
    let (_, told) = block_on(runs.changes(resources, "orders")).unwrap();
    let runs: Vec<&str> = told.iter().map(|made| made.run_id.as_str()).collect();
    let (a, b, c) = (first.as_str(), second.as_str(), third.as_str());
    assert_eq!(runs, [a, a, b, a, a, c]);
    assert!(told.iter().all(|made| made.by != By::Outside), "{told:?}");
    // The last run that changed it is the one that was made last.
    let what = Undo::Resource("orders".into());
    let done = block_on(undo(shop.context(None), what, false)).unwrap();
    assert_eq!((done.run_id, done.resources[0].to), (third, 5));
    assert_eq!(fs::read_to_string(orders(&shop)).unwrap(), made);
    // The lock's file does not know the turns any more: they are counted on from the journals.
    fs::remove_file(shop.project.lock_file()).unwrap();
    block_on(undo_to(
        shop.context(None),
        Undo::Run(Some(second.clone())),
        Some(0),
        true,
    ))
    .unwrap();
    let resources = shop.gateway.resources();
    let runs = AllRuns::look(&shop.project).unwrap();
    let (_, told) = block_on(runs.changes(resources, "orders")).unwrap();
    let last = told.last().unwrap();
    assert_eq!((&last.run_id, &last.by), (&second, &By::Undo));
}
