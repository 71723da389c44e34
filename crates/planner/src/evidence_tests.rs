use super::evidence::{repair, tell, unmended};
use serde_json::{Map, Value, json};

fn input(request: &str, findings: Value) -> Map<String, Value> {
    let input = json!({"request": request, "evidence": {"execution": "7", "findings": findings}});
    input.as_object().unwrap().clone()
}

fn finding(severity: &str, fix: Value) -> Value {
    json!({"id": "a", "code": "run/error", "severity": severity, "node": "Call", "message": "failed when it ran: Invalid URL", "fix": fix})
}

fn fix() -> Value {
    json!({"confidence": "likely", "title": "begin the address with https://",
        "ops": [{"op": "set_parameter", "node": "n1", "pointer": "/url", "value": "https://example.com"}]})
}

#[test]
fn a_request_to_repair_takes_the_change_that_the_execution_points_at() {
    for request in [
        "fix: it fails",
        "Repair the workflow",
        "Bitte repariere den Workflow",
        "fix it",
    ] {
        let found = repair(&input(request, json!([finding("error", fix())]))).unwrap();
        assert_eq!(json!(found.ops), fix()["ops"], "{request}");
        assert_eq!(
            found.notes,
            ["Call: begin the address with https://, because it failed when it ran: Invalid URL"]
        );
    }
}

#[test]
fn other_requests_and_other_findings_change_nothing() {
    assert_eq!(
        repair(&input(
            "change the channel to #ops",
            json!([finding("error", fix())])
        )),
        None
    );
    assert_eq!(
        repair(&input("fix: it fails", json!([finding("warning", fix())]))),
        None
    );
    assert_eq!(repair(&input("fix: it fails", Value::Null)), None);
    let open = input("fix: it fails", json!([finding("error", Value::Null)]));
    assert_eq!(repair(&open), None);
    let said = unmended(&open).unwrap();
    assert!(
        said.starts_with(
            "in the last failed execution 7 the node \"Call\" failed when it ran: Invalid URL;"
        ),
        "{said}"
    );
    // Who is asked what to change reads it there.
    let asked = |topic: &str| -> String {
        let question = json!({"id": topic, "topic": topic, "text": "What?"});
        let mut questions = vec![serde_json::from_value(question).unwrap()];
        tell(&open, &mut questions);
        questions[0].text.clone()
    };
    assert_eq!(asked("change"), said);
    assert_eq!(asked("channel"), "What?");
}
