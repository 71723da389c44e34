//! What a test on an n8n leaves there when agentctl is killed in the middle of it (kill -9): the next run takes it away, and
//! nothing else.

use crate::support::{Seen, Shop, calls, creation, request, says};
use agentctl_base::{model::ModelAnswer, question::Outcome};
use agentctl_engine::{policy::Policy, store::Event};
use agentctl_knowledge::{Knowledge, Skill};
use agentctl_n8n::{Node, NodeId, Workflow, catalog::Catalog};
use agentctl_n8n_tools::backend::BackendErrorKind;
use agentctl_n8n_tools::fixture::{Lie, MemoryBackend};
use agentctl_n8n_tools::noted::{Noted, Rehearsing};
use serde_json::json;
use std::{fs, sync::Arc};

const POLICY: &str = "
roles:
  thinker: [read-skills]
  maker: [get-workflow, create-workflow]
  checker: [get-workflow, validate-final, trigger-workflow]
limits: {max_turns: 12, max_model_calls: 60}
";

/// Makes a workflow and tries it out.
fn tester(seen: &Seen<'_>) -> ModelAnswer {
    let results = seen.results();
    match (seen.task(), results.last()) {
        ("think", _) => says(json!({"plan": {"name": "Orders"}})),
        ("make", None) => {
            let name = &seen.request.task.input["plan"]["name"];
            let mut made = creation(name.as_str().unwrap());
            made["nodes"][0]["type"] = json!("n8n-nodes-base.scheduleTrigger");
            calls(&[("create_workflow", made)])
        }
        ("make", Some((_, _, content))) => says(json!({"workflow": {"id": content["id"]}})),
        ("look", None) => {
            let of = json!({"workflow_id": seen.request.task.input["workflow"]["id"]});
            calls(&[("validate_workflow", of.clone()), ("rehearse_workflow", of)])
        }
        ("look", Some(_)) => says(json!({"qa_report": {"status": "pass"}, "edit_scope": []})),
        (task, last) => panic!("{task}: {last:?}"),
    }
}

fn shop() -> (Shop, Arc<MemoryBackend>) {
    let mut shop = Shop::new(tester);
    let backend = Arc::new(MemoryBackend::new());
    backend.runs_by(|_, _| json!({"status": "success", "data": {"resultData": {"runData": {}}}}));
    shop.gateway = agentctl_n8n_tools::fixture::gateway_on(
        Policy::load(POLICY, "policy.yaml", agentctl_n8n_tools::vocabulary::n8n()).unwrap(),
        backend.clone(),
        Knowledge::new(shop.dir.path(), Vec::<Skill>::new()),
        Catalog::embedded(),
    );
    let tools = &mut shop.pack.agents["checker"].tools;
    tools.push("rehearse_workflow".into());
    (shop, backend)
}

/// A run that was killed when its test had begun: the journal ends in the test's intent. Gives what that says of the copy.
fn killed_in_its_test(shop: &mut Shop) -> (String, Rehearsing) {
    let run = shop.start(request("orders")).unwrap().run_id;
    let events = shop.journal_of(&run);
    let (at, left) = events
        .iter()
        .enumerate()
        .find_map(|(at, event)| match event {
            Event::ToolIntent {
                expect: Some(expect),
                ..
            } => Some((at, Noted::in_expectation(expect).rehearsal?)),
            _ => None,
        })
        .unwrap();
    let journal = shop.project.run(&run).unwrap().journal();
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(&journal, lines[..=at].concat()).unwrap();
    shop.without_summary();
    (run, left)
}

/// A workflow of this name that starts at a webhook of this path.
fn starting_at(name: &str, path: &str) -> Workflow {
    let mut workflow = Workflow::empty(name);
    let parameters = json!({"path": path}).as_object().unwrap().clone();
    workflow.nodes.push(Node::new(
        NodeId("n1".into()),
        "Start",
        "n8n-nodes-base.webhook",
        2.0,
        parameters,
    ));
    workflow
}

/// What may lie on the n8n then: the copy (with its tag, or killed before that was set), and three workflows that are not this
/// test's: one of the very same name, a copy of somebody else's test, and the user's own.
fn leave(backend: &MemoryBackend, left: &Rehearsing, tagged: bool, active: bool) {
    let (path, _) = left.copy.split_once(':').unwrap();
    backend.put("copy", starting_at(&left.copy, path), active);
    if tagged {
        backend.tag("copy", &["agentctl-rehearsal"]);
    }
    backend.put("same-name", starting_at(&left.copy, "mine"), active);
    let other = "agentctl-rehearsal-other: Orders";
    backend.put(
        "others",
        starting_at(other, "agentctl-rehearsal-other"),
        active,
    );
    backend.tag("others", &["agentctl-rehearsal"]);
    backend.put("own", starting_at("Mine", "own"), active);
}

#[test]
fn the_next_run_takes_the_copy_away_and_nothing_else() {
    for (tagged, active) in [(false, false), (true, false), (true, true)] {
        let (mut shop, backend) = shop();
        let (run, left) = killed_in_its_test(&mut shop);
        leave(&backend, &left, tagged, active);
        let writes = backend.writes().len();
        shop.start(request("other orders")).unwrap();
        let removed =
            format!("run {run} was interrupted during a test; what it put on the n8n is removed");
        assert!(
            shop.watched.notes.contains(&removed),
            "{:?}",
            shop.watched.notes
        );
        // Before the run itself does anything.
        let writes = backend.writes().split_off(writes);
        assert_eq!(writes[..2], ["set_active copy", "delete copy"]);
        assert_eq!(backend.ids(), ["orders", "others", "own", "same-name"]);
        for kept in ["others", "own", "same-name"] {
            assert!(
                !writes.iter().any(|w| w.ends_with(&format!(" {kept}"))),
                "{writes:?}"
            );
        }
    }
}

#[test]
fn a_copy_that_cannot_be_removed_is_named_and_tried_again() {
    let (mut shop, backend) = shop();
    let (_, left) = killed_in_its_test(&mut shop);
    leave(&backend, &left, true, true);
    backend.next("delete", Lie::Fails(BackendErrorKind::Rejected));
    shop.start(request("other orders")).unwrap();
    let told = shop.watched.notes.join("\n");
    assert!(
        told.contains(&format!("its copy {:?} could not be removed", left.copy)),
        "{told}"
    );
    assert!(backend.ids().contains(&"copy".to_owned()));
    shop.start(request("more orders")).unwrap();
    assert!(!backend.ids().contains(&"copy".to_owned()));
}

#[test]
fn a_resumed_run_takes_its_copy_away_and_tests_again() {
    let (mut shop, backend) = shop();
    let (run, left) = killed_in_its_test(&mut shop);
    leave(&backend, &left, true, true);
    let again = shop.resume(Some(&run)).unwrap();
    assert_eq!(again.outcome, Outcome::Complete);
    assert_eq!(backend.ids(), ["orders", "others", "own", "same-name"]);
    let tests = shop.journal_of(&run);
    let tests = tests.iter().filter(|event| {
        matches!(event, Event::ToolIntent { expect: Some(expect), .. } if Noted::in_expectation(expect).rehearsal.is_some())
    });
    assert_eq!(tests.count(), 2);
}
