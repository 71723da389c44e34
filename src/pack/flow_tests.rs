//! The built-in pack's flow: it loads, and its runs take the ways that its comments promise.

use agentctl_base::question::Outcome;
use agentctl_engine::flow::fixture::*;
use agentctl_engine::flow::{self, Flow, RunLog, mermaid, next};
use agentctl_engine::store::event::Event;
use serde_json::{Map, Value, json};

fn flow() -> Flow {
    let dir = tempfile::tempdir().unwrap();
    let pack = super::load(dir.path(), &super::LoadOptions::all())
        .unwrap_or_else(|errors| panic!("{errors}"));
    pack.flow.clone()
}

/// How a scripted run differs from the plain one.
#[derive(Default, Clone)]
struct Case {
    refusal: bool,
    questions: Value,
    existing: Value,
    options: Value,
    recommended: Value,
    /// Errors of each cycle: (id, has a known fix). After the last one: none.
    errors: Vec<Vec<(&'static str, bool)>>,
    /// Errors that the test of each cycle shows: (id, has a known fix). Beyond them nothing is executed.
    test_errors: Vec<Vec<(&'static str, bool)>>,
    /// What the request asks for, and what QA says of it cycle by cycle; of those after the last one the same.
    steps: Vec<&'static str>,
    coverage: Vec<Value>,
    analyst_fails: bool,
    /// Ids of learnings about the findings.
    learned: Vec<&'static str>,
}

fn play(case: &Case, path: &str, task: &str, input: &Map<String, Value>) -> Play {
    let cycle = path
        .split(['[', ']'])
        .nth(1)
        .and_then(|n| n.parse::<usize>().ok())
        .unwrap_or(1);
    match task {
        "get_workflow" => Play {
            calls: vec![(
                "get_workflow",
                json!({"id": input["workflow_id"], "nodes": [{"name": "Node"}]}),
                None,
            )],
            ..Play::default()
        },
        "list_workflows" => Play {
            calls: vec![("list_workflows", json!({"workflows": listed(case)}), None)],
            ..Play::default()
        },
        "note_todo" => Play {
            calls: vec![("note_todo", json!({"todo": 0, "changed": false}), None)],
            ..Play::default()
        },
        "search_nodes" => Play {
            calls: vec![(
                "search_nodes",
                json!({"nodes": [{"node_type": "n8n-nodes-base.webhook"}]}),
                None,
            )],
            ..Play::default()
        },
        "get_node" => Play {
            calls: vec![(
                "get_node",
                json!({"node_type": input["node_type"], "recipe": "r"}),
                None,
            )],
            ..Play::default()
        },
        "validate_workflow" => {
            let errors = case.errors.get(cycle - 1).cloned().unwrap_or_default();
            Play {
                calls: vec![("validate_workflow", validated(&errors), None)],
                ..Play::default()
            }
        }
        "search_learnings" => Play {
            calls: vec![(
                "search_learnings",
                json!({"index": "i", "learnings": case.learned.iter().map(|id| json!({"id": id, "line": "l"})).collect::<Vec<_>>()}),
                None,
            )],
            ..Play::default()
        },
        "read_learning" => Play {
            calls: vec![(
                "read_learning",
                json!({"learnings": input["ids"].as_array().unwrap().iter().map(|id| json!({"id": id, "body": "b"})).collect::<Vec<_>>()}),
                None,
            )],
            ..Play::default()
        },
        "clarify" | "refine" => {
            let mut requirements = json!({"goal": "g", "questions": [], "steps": case.steps});
            if task == "clarify" && !case.questions.is_null() {
                requirements["questions"] = case.questions.clone();
            }
            if case.refusal {
                requirements["refusal"] = json!({"reason": "unsafe", "alternatives": []});
            }
            say(json!({"requirements": requirements, "research_request": {"for": task}}))
        }
        "research" => say(json!({"research_findings": {
            "existing": listed(case), "nodes": [{"type": "n8n-nodes-base.webhook"}]}})),
        "decide" if case.options.is_null() => say(
            json!({"decision": {"choice": "build"}, "decision_options": [{"choice": "build", "what": "w"}]}),
        ),
        "decide" => say(json!({"decision": case.recommended, "decision_options": case.options})),
        "blueprint" => say(json!({"blueprint": {"name": "b"}})),
        "build" => Play {
            calls: vec![(
                "create_workflow",
                json!({"id": "w"}),
                Some(change("w", None, "h1")),
            )],
            output: json!({"workflow": {"id": "w", "name": "W"}}),
            error: None,
        },
        "validate" => {
            let found = case
                .errors
                .get(cycle - 1)
                .is_some_and(|errors| !errors.is_empty());
            let rows = case.coverage.get(cycle - 1).or(case.coverage.last());
            let rows = rows.cloned().unwrap_or_else(|| json!([]));
            let changes = rows
                .as_array()
                .unwrap()
                .iter()
                .any(|row| row.get("change").is_some());
            let fails = found || changes;
            say(
                json!({"qa_report": {"status": if fails { "fail" } else { "pass" }}, "coverage": rows,
                "edit_scope": if fails { json!(["Node"]) } else { json!([]) }}),
            )
        }
        "research_fix" => say(json!({"research_findings": {"guidance": ["set x"]}})),
        "fix" => Play {
            calls: vec![(
                "update_workflow",
                json!({}),
                Some(change("w", Some("h1"), "h2")),
            )],
            output: json!({"workflow": {"id": "w"}, "fixes_tried": [{"change": format!("cycle {cycle}")}]}),
            error: None,
        },
        "test" => tested(case.test_errors.get(cycle - 1)),
        "list_executions" => Play {
            calls: vec![("list_executions", json!({"executions": []}), None)],
            ..Play::default()
        },
        "post_mortem" if case.analyst_fails => Play {
            error: Some("no answer"),
            ..Play::default()
        },
        "post_mortem" => {
            say(json!({"root_cause": {"summary": "s", "evidence": []}, "proposed_learnings": []}))
        }
        other => panic!("no play for {other}"),
    }
}

fn listed(case: &Case) -> Value {
    match case.existing.is_null() {
        true => json!([]),
        false => case.existing.clone(),
    }
}

/// What a real run showed; None: there was none.
fn tested(errors: Option<&Vec<(&'static str, bool)>>) -> Play {
    let Some(errors) = errors else {
        return say(
            json!({"qa_report": {"executed": false, "not_executed": "no"}, "findings": [], "edit_scope": []}),
        );
    };
    let findings = validated(errors)["findings"].clone();
    let status = if errors.is_empty() { "pass" } else { "fail" };
    let content = json!({"executed": true, "execution": {"id": "7"}, "test_status": status, "findings": findings});
    Play {
        output: json!({"qa_report": {"executed": true, "execution": {"id": "7"}, "test_status": status},
            "findings": findings, "edit_scope": if errors.is_empty() { json!([]) } else { json!(["Node"]) }}),
        calls: vec![("rehearse_workflow", content, None)],
        error: None,
    }
}

#[test]
fn what_a_real_run_shows_goes_through_the_same_cycles() {
    let case = Case {
        test_errors: vec![vec![("r", true)], vec![("r", true), ("s", false)], vec![]],
        ..Case::default()
    };
    let done = run(&case, json!({"request": "r", "executes": true}), &nobody);
    let message = "checked and executed".to_owned();
    assert_eq!(done.end, Some((Outcome::Complete, message)));
    let compared: Vec<Value> = done
        .events
        .iter()
        .filter_map(|e| match e {
            Event::StatePatched { step, patch, .. } if step.ends_with("/compared") => {
                let report = &patch["qa_report"];
                Some(json!([
                    report["status"],
                    report["error_count"],
                    report["compared"],
                    report["unknown"]
                ]))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        compared,
        [
            json!(["fail", 1, {"fixed": [], "still": [], "new": []}, []]),
            json!(["fail", 2, {"fixed": [], "still": ["r"], "new": ["s"]}, ["s"]]),
            json!(["pass", 0, {"fixed": ["r", "s"], "still": [], "new": []}, []]),
        ]
    );
    assert_eq!(
        stages(&done.events),
        [
            "research", "decision", "build", "validate", "test", "complete"
        ]
    );
    let ways = [
        "qa_loop[1]/fix",
        "qa_loop[2]/research_fix",
        "qa_loop[2]/fix",
    ];
    for way in ways {
        assert!(paths(&done.events).contains(&way), "{way}");
    }
    // Three tests that fail block the run, as three checks do; one whose fault is outside does not fail.
    let case = Case {
        test_errors: vec![vec![("r", true)]; 3],
        ..Case::default()
    };
    let blocked = run(&case, json!({"request": "r", "executes": true}), &nobody);
    assert_eq!(
        blocked.end.map(|(outcome, _)| outcome),
        Some(Outcome::Blocked)
    );
}

fn run(case: &Case, input: Value, answer: &dyn Fn(&str) -> Option<Value>) -> Run {
    let flow = flow();
    drive(
        &flow,
        &[started(input)],
        &|p, t, i| play(case, p, t, i),
        answer,
        500,
    )
}

fn nobody(_: &str) -> Option<Value> {
    None
}

fn state(run: &Run) -> Map<String, Value> {
    RunLog::fold(&flow(), &run.events).unwrap().state().clone()
}

#[test]
fn a_plain_request_is_built_and_checked() {
    let run = run(
        &Case::default(),
        json!({"request": "r", "workflow": null}),
        &nobody,
    );
    assert_eq!(
        run.end,
        Some((Outcome::Complete, "checked; not executed".into()))
    );
    assert_eq!(
        paths(&run.events),
        [
            "learned",
            "clarify",
            "questions",
            "listed",
            "research",
            "recipes",
            "recipes[1]/recipe",
            "blueprint",
            "build",
            "qa_loop[1]/final",
            "qa_loop[1]/look",
            "qa_loop[1]/validate"
        ]
    );
    assert_eq!(
        stages(&run.events),
        [
            "research", "decision", "build", "validate", "test", "complete"
        ]
    );
    let state = state(&run);
    assert_eq!(
        state["workflow"],
        json!({"id": "w", "name": "W", "node_count": 3, "graph_hash": "h1", "credentials": []})
    );
    assert_eq!(state["qa_report"]["executed"], json!(false));
    assert_eq!(state["qa_report"]["cycle"], json!(1));
}

#[test]
fn an_unsafe_request_is_refused_with_its_reason() {
    let case = Case {
        refusal: true,
        ..Case::default()
    };
    let run = run(&case, json!({"request": "r"}), &nobody);
    assert_eq!(run.end, Some((Outcome::Refused, "unsafe".into())));
    assert_eq!(paths(&run.events), ["learned", "clarify"]);
}

#[test]
fn a_required_question_waits_and_its_answer_refines_the_requirements() {
    let case = Case {
        questions: json!([
            {"id": "q1", "topic": "channel", "text": "Where?", "required": true},
            {"id": "q2", "topic": "time", "text": "When?", "required": false, "recommended": "08:00"}]),
        ..Case::default()
    };
    let waiting = run(&case, json!({"request": "r"}), &nobody);
    assert_eq!(waiting.end, Some((Outcome::Waiting, String::new())));
    // Days later, in another process: only the required one is asked again.
    let flow = flow();
    let answer = |id: &str| (id == "q1").then(|| json!("#sales"));
    let done = drive(
        &flow,
        &waiting.events,
        &|p, t, i| play(&case, p, t, i),
        &answer,
        500,
    );
    assert_eq!(done.end.as_ref().map(|(o, _)| *o), Some(Outcome::Complete));
    assert!(paths(&done.events).contains(&"refine"));
    let log = RunLog::fold(&flow, &done.events).unwrap();
    assert_eq!(log.output("questions"), Some(&json!({"q1": "#sales"})));
    let asked = done
        .events
        .iter()
        .filter(|e| matches!(e, Event::QuestionAsked { question, .. } if question.id == "q2"));
    assert_eq!(asked.count(), 1);
}

#[test]
fn the_user_chooses_between_changing_and_building_with_scores_in_sight() {
    let modify =
        json!({"choice": "modify", "workflow_id": "old", "fit_score": 80, "what": "add one node"});
    let case = Case {
        existing: json!([{"id": "old", "name": "Old", "fit_score": 80}]),
        options: json!([modify, {"choice": "build", "what": "five nodes"}]),
        recommended: modify.clone(),
        ..Case::default()
    };
    let waiting = run(&case, json!({"request": "r"}), &nobody);
    let log = RunLog::fold(&flow(), &waiting.events).unwrap();
    let question = log.question("decision").unwrap();
    assert_eq!(question.recommended, Some(json!("modify:old")));
    let options: Vec<_> = question
        .options
        .iter()
        .map(|o| (o.value.clone(), o.fit_score))
        .collect();
    assert_eq!(
        options,
        [(json!("modify:old"), Some(80)), (json!("build"), None)]
    );
    assert!(flow::check_answer(question, &json!("build")).is_ok());
    assert!(flow::check_answer(question, &json!("modify:other")).is_err());

    let build = run(&case, json!({"request": "r"}), &|_| Some(json!("build")));
    assert_eq!(state(&build)["decision"]["choice"], json!("build"));
    assert_eq!(state(&build)["decision"]["workflow_id"], json!(null));
    let changed = run(&case, json!({"request": "r"}), &|_| {
        Some(json!("modify:old"))
    });
    assert_eq!(state(&changed)["decision"]["workflow_id"], json!("old"));
    assert_eq!(state(&changed)["decision"]["decided_by"], json!("user"));
    // Who names the workflow has decided already.
    let case = Case {
        options: json!([modify]),
        ..case
    };
    let named = run(&case, json!({"request": "r", "workflow": "old"}), &nobody);
    assert_eq!(named.end.map(|(o, _)| o), Some(Outcome::Complete));
    assert_eq!(paths(&named.events).first(), Some(&"existing"));
}

#[test]
fn a_known_fix_goes_straight_to_the_builder_and_a_stubborn_finding_to_the_researcher() {
    let case = Case {
        errors: vec![
            vec![("a", true), ("b", true)],
            vec![("b", true), ("c", true)],
        ],
        ..Case::default()
    };
    let run = run(&case, json!({"request": "r"}), &nobody);
    assert_eq!(run.end.as_ref().map(|(o, _)| *o), Some(Outcome::Complete));
    let loop_paths: Vec<&str> = paths(&run.events)
        .into_iter()
        .filter(|p| p.starts_with("qa_loop"))
        .collect();
    assert_eq!(
        loop_paths,
        [
            "qa_loop[1]/final",
            "qa_loop[1]/look",
            "qa_loop[1]/validate",
            "qa_loop[1]/known",
            "qa_loop[1]/fix",
            "qa_loop[2]/final",
            "qa_loop[2]/look",
            "qa_loop[2]/validate",
            "qa_loop[2]/known",
            "qa_loop[2]/research_fix",
            "qa_loop[2]/fix",
            "qa_loop[3]/final",
            "qa_loop[3]/look",
            "qa_loop[3]/validate"
        ]
    );
    let compared: Vec<&Value> = run
        .events
        .iter()
        .filter_map(|e| match e {
            Event::StatePatched { step, patch, .. } if step.ends_with("/compared") => {
                Some(&patch["qa_report"]["compared"])
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        compared,
        [
            &json!({"fixed": [], "still": [], "new": []}),
            &json!({"fixed": ["a"], "new": ["c"], "still": ["b"]}),
            &json!({"fixed": ["b", "c"], "new": [], "still": []}),
        ]
    );
    assert_eq!(
        state(&run)["fixes_tried"],
        json!([{"change": "cycle 1"}, {"change": "cycle 2"}])
    );
    assert_eq!(
        stages(&run.events),
        [
            "research", "decision", "build", "validate", "test", "complete"
        ]
    );
}

#[test]
fn an_unknown_finding_is_researched_at_once() {
    let case = Case {
        errors: vec![vec![("a", false)]],
        ..Case::default()
    };
    let run = run(&case, json!({"request": "r"}), &nobody);
    assert!(paths(&run.events).contains(&"qa_loop[1]/research_fix"));
}

#[test]
fn what_was_learned_about_a_finding_is_read_and_offered_to_the_builder() {
    let case = Case {
        errors: vec![vec![("a", true)]],
        learned: vec!["L-004"],
        ..Case::default()
    };
    let run = run(&case, json!({"request": "r"}), &nobody);
    let flow = flow();
    let known = run
        .events
        .iter()
        .position(|e| matches!(e, Event::StepStarted { step } if step == "qa_loop[1]/known_fixes"))
        .unwrap();
    assert!(paths(&run.events[known..]).contains(&"qa_loop[1]/fix"));
    let before: Vec<Event> = run
        .events
        .iter()
        .take_while(|e| !matches!(e, Event::StepStarted { step } if step == "qa_loop[1]/fix"))
        .cloned()
        .collect();
    let log = RunLog::fold(&flow, &before).unwrap();
    let Ok(flow::Action::Agent(step)) = next(&flow, &log).map(|mut action| {
        // The flow's own decisions stand before the step.
        let mut log = log.clone();
        while let flow::Action::Record(event) = action {
            log.apply(&flow, &event).unwrap();
            action = next(&flow, &log).unwrap();
        }
        action
    }) else {
        panic!("no agent step follows")
    };
    assert_eq!(step.path, "qa_loop[1]/fix");
    assert_eq!(
        step.input["learnings"],
        json!([{"id": "L-004", "body": "b"}])
    );
}

#[test]
fn three_failed_cycles_block_the_run_and_the_analyst_is_heard() {
    let case = Case {
        errors: vec![vec![("a", true)]; 3],
        ..Case::default()
    };
    let blocked = run(&case, json!({"request": "r"}), &nobody);
    let message = "QA did not pass in 3 cycles; 1 error(s) are left".to_owned();
    assert_eq!(blocked.end, Some((Outcome::Blocked, message.clone())));
    assert_eq!(stages(&blocked.events).last(), Some(&"blocked"));
    assert_eq!(
        paths(&blocked.events)
            .iter()
            .filter(|p| p.ends_with("/fix"))
            .count(),
        2
    );
    assert_eq!(paths(&blocked.events).last(), Some(&"qa_loop/post_mortem"));
    // An analyst who fails does not turn "blocked" into "failed".
    let case = Case {
        analyst_fails: true,
        ..case
    };
    let blocked = run(&case, json!({"request": "r"}), &nobody);
    assert_eq!(blocked.end, Some((Outcome::Blocked, message)));
    assert_eq!(
        state(&blocked)["errors"],
        json!([{"step": "qa_loop/post_mortem", "error": "no answer"}])
    );
}

#[test]
fn a_failing_step_ends_the_run_and_names_itself() {
    let flow = flow();
    let fail = |path: &str, task: &str, input: &Map<String, Value>| match task {
        "search_learnings" => play(&Case::default(), path, task, input),
        _ => Play {
            error: Some("no JSON"),
            ..Play::default()
        },
    };
    let run = drive(
        &flow,
        &[started(json!({"request": "r"}))],
        &fail,
        &nobody,
        500,
    );
    assert_eq!(
        run.end,
        Some((Outcome::Failed, "step clarify failed: no JSON".into()))
    );
}

/// Cutting the journal anywhere and going on gives the same journal: nothing is decided anew, nothing is merged twice.
#[test]
fn a_run_cut_off_anywhere_goes_on_to_the_same_end() {
    let modify = json!({"choice": "modify", "workflow_id": "old", "fit_score": 80});
    let case = Case {
        questions: json!([{"id": "q1", "topic": "channel", "text": "Where?", "required": true}]),
        existing: json!([{"id": "old", "name": "Old", "fit_score": 80}]),
        options: json!([modify, {"choice": "build"}]),
        recommended: modify.clone(),
        errors: vec![vec![("a", true), ("b", false)], vec![("b", false)]],
        ..Case::default()
    };
    let flow = flow();
    let script = |p: &str, t: &str, i: &Map<String, Value>| play(&case, p, t, i);
    let answer = |id: &str| {
        Some(if id == "q1" {
            json!("x")
        } else {
            json!("build")
        })
    };
    let whole = drive(
        &flow,
        &[started(json!({"request": "r"}))],
        &script,
        &answer,
        500,
    );
    assert_eq!(whole.end.as_ref().map(|(o, _)| *o), Some(Outcome::Complete));
    let final_log = RunLog::fold(&flow, &whole.events).unwrap();
    for cut in 1..whole.events.len() {
        let again = drive(&flow, &whole.events[..cut], &script, &answer, 500);
        assert_eq!(
            again.end,
            whole.end,
            "cut after {cut}: {:?}",
            whole.events[cut - 1]
        );
        let questions = |events: &[Event]| {
            events
                .iter()
                .filter(|e| matches!(e, Event::QuestionAsked { .. }))
                .count()
        };
        // A question may be put a second time when its answer was lost; everything else is the same, event by event.
        if questions(&again.events) == questions(&whole.events) {
            assert_eq!(again.events, whole.events, "cut after {cut}");
        }
        assert_eq!(
            RunLog::fold(&flow, &again.events).unwrap().state(),
            final_log.state()
        );
    }
}

#[test]
fn next_has_an_answer_for_every_prefix_of_a_journal() {
    let case = Case {
        errors: vec![vec![("a", false)]; 3],
        ..Case::default()
    };
    let blocked = run(&case, json!({"request": "r"}), &nobody);
    let flow = flow();
    for cut in 0..=blocked.events.len() {
        let log = RunLog::fold(&flow, &blocked.events[..cut]).unwrap();
        let action = next(&flow, &log).unwrap_or_else(|e| panic!("after {cut}: {e}"));
        assert_eq!(
            next(&flow, &log).unwrap(),
            action,
            "next must be deterministic"
        );
    }
}

#[test]
fn claims_without_a_call_are_refused() {
    let flow = flow();
    let log = RunLog::fold(&flow, [&started(json!({}))]).unwrap();
    let claims = |path: &str, output: Value| -> Vec<String> {
        flow::verify_output(&flow, &log, path, &output)
            .unwrap()
            .into_iter()
            .map(|c| c.message)
            .collect()
    };
    let report = json!({"qa_report": {"status": "pass"}, "coverage": [], "edit_scope": []});
    assert!(claims("qa_loop[1]/validate", report)[0].contains("the final check found errors"));
    assert!(claims("build", json!({"workflow": {"id": "w"}}))[0].contains("nothing was created"));
    assert!(
        claims(
            "qa_loop[1]/test",
            json!({"qa_report": {"executed": true}, "findings": []})
        )[0]
        .contains("executed is claimed")
    );
    assert_eq!(
        claims(
            "qa_loop[1]/test",
            json!({"qa_report": {"executed": false}, "findings": []})
        ),
        Vec::<String>::new()
    );
}

/// Two requirements, of which the second is not there: with a change it goes back to the builder, without one the run is a part.
#[test]
fn what_is_not_covered_is_built_or_named() {
    let there = json!({"requirement": 1, "nodes": ["Node"]});
    let lacks = |change: Option<&str>| {
        let mut row = json!({"requirement": 2, "nodes": [], "missing": "a fax"});
        if let Some(change) = change {
            row["change"] = json!(change);
        }
        row
    };
    let steps = vec!["post it", "fax it"];
    let case = Case {
        steps: steps.clone(),
        coverage: vec![
            json!([there, lacks(Some("add a node that faxes"))]),
            json!([there, {"requirement": 2, "nodes": ["$workflow"]}]),
        ],
        ..Case::default()
    };
    let built = run(&case, json!({"request": "r"}), &nobody);
    assert_eq!(built.end.as_ref().map(|(o, _)| *o), Some(Outcome::Complete));
    // It says the change, so nobody has to look for one.
    assert!(paths(&built.events).contains(&"qa_loop[1]/fix"));
    assert!(!paths(&built.events).contains(&"qa_loop[1]/research_fix"));

    let case = Case {
        steps,
        coverage: vec![json!([there, lacks(None)])],
        ..case
    };
    let part = run(&case, json!({"request": "r"}), &nobody);
    let message = "built 1 of 2 requirements; not there: 'a fax'".to_owned();
    assert_eq!(part.end, Some((Outcome::Partial, message)));
    let report = &state(&part)["qa_report"];
    assert_eq!(
        json!([report["not_covered"], report["findings"]]),
        json!([
            [{"requirement": "fax it", "missing": "a fax"}],
            [{"id": "qa-covers-2", "code": "qa/not-covered", "severity": "warning", "node": null,
              "message": "asked for and not there: a fax", "change": null}],
        ])
    );
}

#[test]
fn a_table_that_leaves_out_or_invents_is_refused() {
    let flow = flow();
    let case = Case {
        steps: vec!["post it", "fax it"],
        coverage: vec![
            json!([{"requirement": 1, "nodes": ["Node"]}, {"requirement": 2, "nodes": ["$workflow"]}]),
        ],
        ..Case::default()
    };
    let whole = run(&case, json!({"request": "r"}), &nobody);
    let until: Vec<Event> = whole
        .events
        .iter()
        .take_while(
            |e| !matches!(e, Event::StepFinished { step, .. } if step == "qa_loop[1]/validate"),
        )
        .cloned()
        .collect();
    let log = RunLog::fold(&flow, &until).unwrap();
    let said = |coverage: Value| -> Vec<String> {
        let answer =
            json!({"qa_report": {"status": "pass"}, "coverage": coverage, "edit_scope": []});
        let refused = flow::verify_output(&flow, &log, "qa_loop[1]/validate", &answer).unwrap();
        refused.into_iter().map(|claim| claim.message).collect()
    };
    let first = json!({"requirement": 1, "nodes": ["Node"]});
    assert_eq!(
        said(json!([first, {"requirement": 2, "nodes": ["Node"]}])),
        Vec::<String>::new()
    );
    assert!(said(json!([first]))[0].contains("one row for each"));
    assert!(said(json!([first, first]))[0].contains("one row for each"));
    assert!(
        said(json!([first, {"requirement": 3, "nodes": ["Node"]}]))[0].contains("one row for each")
    );
    assert!(
        said(json!([first, {"requirement": 2, "nodes": ["Fax"]}]))[0].contains("does not have")
    );
    assert!(said(json!([first, {"requirement": 2, "nodes": []}]))[0].contains("never both"));
    let changes = json!({"requirement": 2, "nodes": [], "missing": "m", "change": "c"});
    assert!(said(json!([first, changes]))[0].contains("status cannot be pass"));
}

#[test]
fn the_graph_names_every_step() {
    let flow = flow();
    let chart = mermaid(&flow);
    assert!(chart.starts_with("flowchart TD\n"));
    for step in flow.all_steps() {
        assert!(chart.contains(&step.id), "{}", step.id);
    }
    let opens = chart
        .lines()
        .filter(|l| l.trim_start().starts_with("subgraph"))
        .count();
    let ends = chart.lines().filter(|l| l.trim() == "end").count();
    assert_eq!(opens, ends);
}
