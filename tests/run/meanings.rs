//! What a field means is said in the flow: with other names the same claims are checked, the same scope holds, and the report is the same.

use crate::support::{FLOW, Seen, Shop, built, calls, good, request, says};
use agentctl_base::{model::ModelAnswer, question::Outcome};
use agentctl_engine::{
    flow,
    store::{Event, StateFile},
};
use serde_json::{Value, json};

/// The workshop's flow with `thing`, `verdict` and `area` for its fields.
fn renamed() -> String {
    FLOW.replace("workflow", "thing")
        .replace("report: thing", "report: workflow")
        .replace("qa_report", "verdict")
        .replace("report: verdict", "report: qa_report")
        .replace("edit_scope", "area")
}

/// Claims another count than was counted, and edits outside of the scope.
fn careless(seen: &Seen<'_>) -> ModelAnswer {
    let thing = seen.request.task.input.get("thing");
    let id = thing.map_or(&Value::Null, |thing| &thing["id"]);
    match (seen.task(), seen.results().len()) {
        ("make", 1) => {
            let (_, _, made) = seen.results()[0];
            says(json!({"thing": {"id": made["id"], "node_count": 99}}))
        }
        ("look", 0) => calls(&[("validate_workflow", json!({"workflow_id": id}))]),
        ("look", _) if seen.cycle() == 1 && seen.told().is_empty() => {
            says(json!({"verdict": {"status": "fail", "error_count": 7}, "area": ["Tell"]}))
        }
        ("look", _) if seen.cycle() == 1 => {
            says(json!({"verdict": {"status": "fail"}, "area": ["Tell"]}))
        }
        ("look", _) => says(json!({"verdict": {"status": "pass"}, "area": []})),
        ("fix", 0) => calls(&[("get_workflow", json!({"workflow_id": id}))]),
        ("fix", 1) => calls(&[(
            "update_workflow",
            json!({"workflow_id": id, "ops": [
                {"op": "set_parameter", "node": "Start", "pointer": "/note", "value": "outside"}
            ]}),
        )]),
        ("fix", _) => says(json!({"fixes_tried": [{"change": "none"}]})),
        _ => good(seen),
    }
}

#[test]
fn fields_of_other_names_that_mean_the_same_are_checked_guarded_and_reported_the_same() {
    let mut shop = Shop::new(careless);
    shop.pack.flow = flow::load(&renamed(), "flow.yaml", flow::Known::default()).unwrap();
    let report = shop.start(request("orders please")).unwrap();
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    let refused: Vec<Value> = shop
        .journal()
        .iter()
        .filter_map(|event| match event {
            Event::PatchRefused { field, rule, .. } => Some(json!([field, rule])),
            Event::ToolFinished { result, .. } => Some(result.content.get("rule")?.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(
        refused,
        [
            json!(["verdict", "claims.verdict"]),
            json!("guard.edit_scope")
        ]
    );
    let made = built(&report);
    let (workflow, qa) = (made.workflow.unwrap(), made.qa_report.unwrap());
    assert_eq!((workflow.name.as_str(), workflow.node_count), ("Orders", 2));
    assert_eq!(
        (qa.status.as_str(), qa.error_count, qa.cycle),
        ("pass", 0, 2)
    );
    let json = serde_json::to_value(&report).unwrap();
    let keys: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "run_id",
            "stage",
            "outcome",
            "message",
            "workflow",
            "qa_report",
            "questions",
            "errors",
            "usage",
            "exit_code"
        ]
    );
    let StateFile::Good(state) = StateFile::read(&shop.project.state_file()).unwrap() else {
        panic!()
    };
    assert_eq!(
        state.state["thing"],
        json!({"id": workflow.id, "name": "Orders", "node_count": 2, "graph_hash": workflow.graph_hash})
    );
    for field in ["thing", "verdict"] {
        assert!(shop.project.result_file(field, &workflow.id).is_file());
    }
}
