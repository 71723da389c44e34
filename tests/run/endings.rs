//! How runs end, and what is then on disk and in the report.

use crate::support::{Shop, block_on, built, calls, creation, good, request, says};
use agentctl_base::{model::ToolStatus, question::Outcome};
use agentctl_engine::run::{Cause, LimitOverrides, Resume, RunError, RunOptions, advance, cancel};
use agentctl_engine::store::{Event, Holder, ProjectLock, StateFile, StoreError};
use agentctl_host::files::FileError;
use serde_json::json;

#[test]
fn a_good_run_is_complete_and_its_report_is_what_the_journal_says() {
    let mut shop = Shop::new(good);
    let report = shop.start(request("orders please")).unwrap();
    let workflow = built(&report).workflow.unwrap();
    assert_eq!(
        (
            report.outcome,
            report.exit_code,
            report.stage.as_str(),
            report.message.as_str()
        ),
        (Outcome::Complete, 0, "done", "made Orders")
    );
    assert_eq!((workflow.name.as_str(), workflow.node_count), ("Orders", 2));
    assert_eq!(
        workflow.file.as_deref(),
        Some(format!("workflows/{}.json", workflow.id).as_str())
    );
    assert_eq!(
        shop.workflows(),
        [(format!("{}.json", workflow.id), workflow.graph_hash.clone())]
    );
    let qa = built(&report).qa_report.unwrap();
    assert_eq!(
        (qa.status.as_str(), qa.error_count, qa.cycle, qa.executed),
        ("pass", 0, 2, false)
    );
    assert_eq!(report.usage.model_calls as usize, shop.asked_count());
    assert_eq!(
        report.usage.cost_usd,
        Some(0.125 * shop.asked_count() as f64)
    );
    assert_eq!(shop.watched.events, shop.journal());
    // The projection says the same, in short.
    let StateFile::Good(state) = StateFile::read(&shop.project.state_file()).unwrap() else {
        panic!()
    };
    assert_eq!(
        (state.outcome, state.stage.as_str()),
        (Some(Outcome::Complete), "done")
    );
    assert_eq!(
        state.state["workflow"],
        json!({"id": workflow.id, "name": "Orders", "node_count": 2, "graph_hash": workflow.graph_hash})
    );
    assert!(shop.project.result_file("workflow", &workflow.id).is_file());
    assert!(
        shop.project
            .result_file("qa_report", &workflow.id)
            .is_file()
    );
    assert_eq!(
        agentctl_engine::run::status(&shop.project, &shop.pack).unwrap(),
        report
    );
}

#[test]
fn three_failed_cycles_block_the_run() {
    let mut shop = Shop::new(|seen| match (seen.task(), seen.results().len()) {
        ("look", 1) => says(json!({"qa_report": {"status": "fail"}, "edit_scope": ["Tell"]})),
        ("fix", _) => says(json!({"fixes_tried": [{"change": "none"}]})),
        _ => good(seen),
    });
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(
        (report.outcome, report.exit_code, report.stage.as_str()),
        (Outcome::Blocked, 3, "stuck")
    );
    assert_eq!(report.message, "still failing after 3 cycles");
    assert_eq!(report.state["fixes_tried"].as_array().unwrap().len(), 3);
    assert!(
        shop.project
            .result_file("post_mortem", &report.run_id)
            .is_file()
    );
}

#[test]
fn a_refused_request_ends_with_its_reason() {
    let mut shop = Shop::new(|_| {
        says(json!({"plan": {"name": "x", "refusal": "it would delete everything"}}))
    });
    let report = shop.start(request("delete all")).unwrap();
    assert_eq!(
        (report.outcome, report.exit_code, report.message.as_str()),
        (Outcome::Refused, 5, "it would delete everything")
    );
    assert_eq!(shop.workflows(), []);
}

#[test]
fn claims_without_calls_and_fields_of_others_are_told_and_then_fail_the_step() {
    let mut shop = Shop::new(|seen| match seen.task() {
        "make" => says(json!({"workflow": {"id": "dreamt"}, "plan": {"name": "mine now"}})),
        _ => good(seen),
    });
    let report = shop.start(request("orders")).unwrap();
    assert_eq!((report.outcome, report.exit_code), (Outcome::Failed, 1));
    let asked = shop.asked.lock().unwrap();
    let told = crate::support::Seen {
        request: asked.last().unwrap(),
    };
    let told = told.told();
    assert_eq!(told.len(), 2, "two repairs");
    assert!(
        told[0].contains("workflow: no workflow was created or changed in this run"),
        "{}",
        told[0]
    );
    assert!(
        told[0].contains("plan: this step writes workflow and nothing else"),
        "{}",
        told[0]
    );
    let refused = shop
        .journal()
        .into_iter()
        .filter(|e| matches!(e, Event::PatchRefused { .. }))
        .count();
    assert!(refused >= 4, "{refused}");
    assert_eq!(report.errors.len(), 1);
}

#[test]
fn a_tool_of_another_role_is_refused_and_the_run_goes_on() {
    let mut shop = Shop::new(|seen| match (seen.task(), seen.results().len()) {
        ("think", 0) => calls(&[
            ("create_workflow", creation("Sneaky")),
            ("no_such_tool", json!({})),
        ]),
        _ => good(seen),
    });
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
    let statuses: Vec<ToolStatus> = shop
        .journal()
        .into_iter()
        .filter_map(|e| match e {
            Event::ToolFinished { step, result, .. } if step == "think" => Some(result.status),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [ToolStatus::Refused, ToolStatus::Refused]);
    assert_eq!(shop.workflows().len(), 1);
}

#[test]
fn a_model_that_fails_leaves_a_run_that_resumes() {
    let mut shop = Shop::new(good).failing_at(3, good);
    let error = shop.start(request("orders")).unwrap_err();
    assert!(
        matches!(error, RunError::Model(_)) && error.exit_code() == 6,
        "{error}"
    );
    let asked = shop.asked_count();
    let report = shop.resume(None).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
    // Two answers were paid before the failure and are not asked for again.
    let undisturbed = {
        let mut other = Shop::new(good);
        other.start(request("orders")).unwrap();
        other.asked_count()
    };
    assert_eq!(shop.asked_count() - asked, undisturbed - 2);
}

#[test]
fn a_stop_saves_and_a_resume_finishes() {
    for cause in [Cause::Interrupt, Cause::Terminate] {
        for at in 1..9 {
            let mut shop = Shop::new(good).stopped_at(at, good);
            if cause == Cause::Terminate {
                shop.cancel.request(cause);
            }
            let report = shop.start(request("orders")).unwrap();
            let code = if cause == Cause::Interrupt { 130 } else { 143 };
            assert_eq!(
                (report.outcome, report.exit_code),
                (Outcome::Interrupted, code),
                "at {at}"
            );
            let answered = if cause == Cause::Interrupt { at } else { 0 };
            assert_eq!(
                report.usage.model_calls as usize, answered,
                "the answer that was there is kept"
            );
            shop.cancel = agentctl_engine::run::Cancel::default();
            let report = shop.resume(None).unwrap();
            assert_eq!(
                (report.outcome, shop.workflows().len()),
                (Outcome::Complete, 1),
                "at {at}"
            );
        }
    }
}

#[test]
fn a_spent_budget_stops_before_the_next_call() {
    let mut shop = Shop::new(good);
    let limits = LimitOverrides {
        max_model_calls: Some(2),
        ..LimitOverrides::default()
    };
    let report = shop
        .start(RunOptions {
            limits: limits.into(),
            ..request("orders")
        })
        .unwrap();
    assert_eq!(
        (report.outcome, report.exit_code, shop.asked_count()),
        (Outcome::Budget, 8, 2)
    );
    // Going on is no way around it; saying so is.
    let report = shop.resume(None).unwrap();
    assert_eq!((report.outcome, shop.asked_count()), (Outcome::Budget, 2));
    let raised = LimitOverrides {
        max_model_calls: Some(20),
        ..LimitOverrides::default()
    };
    let report = shop.resume_with(raised).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
}

#[test]
fn a_second_run_is_refused_while_one_works_here() {
    let mut shop = Shop::new(good);
    let holder = Holder {
        pid: 77,
        run_id: Some("r0".into()),
        since: "2027-01-15T08:00:00Z".into(),
        host: None,
    };
    let held = ProjectLock::take(&shop.project.lock_file(), &holder).unwrap();
    let error = shop.start(request("orders")).unwrap_err();
    assert!(
        matches!(&error, RunError::Store(StoreError::Locked { holder: Some(h) }) if *h == holder)
    );
    assert!(error.to_string().contains("process 77 (run r0)"), "{error}");
    assert_eq!(shop.project.run_ids().unwrap(), Vec::<String>::new());
    drop(held);
    shop.start(request("orders")).unwrap();
}

#[test]
fn a_run_that_was_left_open_is_archived_and_can_still_be_finished() {
    let mut shop = Shop::new(good).stopped_at(3, good);
    let first = shop.start(request("one")).unwrap().run_id;
    shop.cancel = agentctl_engine::run::Cancel::default();
    let second = shop.start(request("two")).unwrap();
    assert!(
        shop.watched
            .notes
            .iter()
            .any(|n| n.contains(&first) && n.contains("was interrupted")),
        "{:?}",
        shop.watched.notes
    );
    assert!(shop.project.run(&first).unwrap().archived_state().is_file());
    let report = shop.resume(Some(&first)).unwrap();
    assert_eq!(
        (report.outcome, report.run_id.as_str()),
        (Outcome::Complete, first.as_str())
    );
    let runs = agentctl_engine::run::list(&shop.project).unwrap();
    let lines: Vec<_> = runs
        .iter()
        .map(|r| (r.run_id.as_str(), r.request.as_str(), r.outcome, r.active))
        .collect();
    assert_eq!(
        lines,
        [
            (first.as_str(), "one", Some(Outcome::Complete), true),
            (
                second.run_id.as_str(),
                "two",
                Some(Outcome::Complete),
                false
            ),
        ]
    );
    assert_eq!(shop.workflows().len(), 2);
}

#[test]
fn another_pack_is_not_resumed_unless_asked_for() {
    let mut shop = Shop::new(good).stopped_at(2, good);
    shop.start(request("orders")).unwrap();
    shop.cancel = agentctl_engine::run::Cancel::default();
    shop.pack.hash = "pack-2".into();
    let error = shop.resume(None).unwrap_err();
    assert!(
        matches!(&error, RunError::Usage(m) if m.contains("changed since run")),
        "{error}"
    );
    let resume = Resume {
        allow_other_pack: true,
        ..Resume::default()
    };
    let report = block_on(advance(shop.context(None), None, resume)).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
}

#[test]
fn a_cancelled_run_is_over() {
    let mut shop = Shop::new(good).stopped_at(2, good);
    shop.start(request("orders")).unwrap();
    shop.cancel = agentctl_engine::run::Cancel::default();
    let report = cancel(shop.context(None), None).unwrap();
    assert_eq!((report.outcome, report.exit_code), (Outcome::Cancelled, 0));
    assert!(matches!(
        cancel(shop.context(None), None),
        Err(RunError::Usage(_))
    ));
    let again = shop.resume(None).unwrap();
    assert_eq!(again.outcome, Outcome::Cancelled);
}

#[test]
fn a_state_file_that_somebody_edited_is_made_again() {
    let mut shop = Shop::new(good).stopped_at(4, good);
    let run = shop.start(request("orders")).unwrap().run_id;
    shop.cancel = agentctl_engine::run::Cancel::default();
    std::fs::write(
        shop.project.state_file(),
        format!("{{\"run_id\": \"{run}\", \"stage\": \"done\"}}"),
    )
    .unwrap();
    let report = shop.resume(None).unwrap();
    assert_eq!((report.outcome, report.run_id), (Outcome::Complete, run));
    assert!(
        shop.watched
            .notes
            .iter()
            .any(|n| n.contains("run_state.json.corrupt-"))
    );
}

#[test]
fn a_blocked_run_stays_blocked() {
    let script = |seen: &crate::support::Seen<'_>| match (seen.task(), seen.results().len()) {
        ("look", 1) => says(json!({"qa_report": {"status": "fail"}, "edit_scope": ["Tell"]})),
        ("fix", _) => says(json!({"fixes_tried": []})),
        _ => good(seen),
    };
    let mut shop = Shop::new(script);
    let report = shop.start(request("orders")).unwrap();
    let (asked, events) = (shop.asked_count(), shop.journal());
    assert_eq!(shop.resume(None).unwrap(), report);
    assert_eq!((shop.asked_count(), shop.journal()), (asked, events));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    for place in [
        "memory",
        "memory/agentctl.lock",
        "memory/runs",
        "memory/agent_results",
    ] {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("mine");
        std::fs::write(&target, "precious").unwrap();
        let mut shop = Shop::new(good);
        let link = shop.dir.path().join(place);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        let to = if place.ends_with("lock") {
            target.clone()
        } else {
            outside.path().to_owned()
        };
        std::os::unix::fs::symlink(to, link).unwrap();
        let error = shop.start(request("orders")).unwrap_err();
        assert!(
            matches!(
                &error,
                RunError::Store(StoreError::File(FileError::Linked { .. }))
            ),
            "{place}: {error}"
        );
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_secret_in_a_models_answer_is_in_no_file() {
    let secret = format!("xox{}-{}", "b", "123456789012-abcdefghijklmnopqrstuvwx");
    let said = secret.clone();
    let mut shop = Shop::new(move |seen| match (seen.task(), seen.results().len()) {
        ("think", 0) => {
            let mut answer = calls(&[("load_skill", json!({"name": said}))]);
            answer.text = format!("I will use {said}.");
            answer
        }
        _ => good(seen),
    });
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
    let answered = shop
        .journal()
        .iter()
        .filter(|e| matches!(e, Event::ModelAnswered { answer, .. } if !answer.text.is_empty()))
        .count();
    assert!(answered >= 1);
    for file in walkdir::WalkDir::new(shop.dir.path()) {
        let file = file.unwrap();
        if file.file_type().is_file() {
            let text = std::fs::read_to_string(file.path()).unwrap_or_default();
            assert!(!text.contains(&secret), "{}", file.path().display());
        }
    }
}
